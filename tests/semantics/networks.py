"""Networks with the same numbers on every device."""

import torch


def sequential(device: str, *layers: torch.nn.Module) -> torch.nn.Module:
    """The layers one after another, on the device, with parameters that a seed of their own decides."""
    generator = torch.Generator().manual_seed(1)
    model = torch.nn.Sequential(*layers)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator))
    return model.to(device)

"""Ways to lay a CPU tensor out on a device. What needs computing happens before the move: no program."""

import torch


def copied(tensor: torch.Tensor, device: str) -> torch.Tensor:
    return tensor.clone().to(device)


def transposed(tensor: torch.Tensor, device: str) -> torch.Tensor:
    if tensor.ndim < 2:
        return copied(tensor, device)
    return tensor.mT.clone(memory_format=torch.contiguous_format).to(device).mT


def strided(tensor: torch.Tensor, device: str) -> torch.Tensor:
    """Every other element of a larger tensor, from its second on."""
    if tensor.ndim == 0:
        return copied(tensor, device)
    base = tensor.new_zeros((*tensor.shape[:-1], 2 * tensor.shape[-1] + 1))
    base[..., 1::2] = tensor
    return base.to(device)[..., 1::2]


def expanded(tensor: torch.Tensor, device: str) -> torch.Tensor:
    """The first row in place of all."""
    if tensor.ndim < 2:
        return copied(tensor, device)
    return copied(tensor[:1], device).expand_as(tensor)


# What an out= may look like, given the result that it is for.


def alike(result: torch.Tensor, device: str) -> torch.Tensor:
    return torch.ones_like(result).to(device)


def empty(result: torch.Tensor, device: str) -> torch.Tensor:
    return result.new_empty(0).to(device)


def wrong_size(result: torch.Tensor, device: str) -> torch.Tensor:
    return result.new_ones(*result.shape, 2).to(device)


def wider(result: torch.Tensor, device: str) -> torch.Tensor:
    return torch.ones_like(result, dtype=torch.float64).to(device)


def backwards(result: torch.Tensor, device: str) -> torch.Tensor:
    """Of the result's shape, with its dimensions laid out in reverse."""
    return result.new_ones(result.shape[::-1]).to(device).permute(tuple(reversed(range(result.ndim))))

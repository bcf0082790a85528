"""module.to: a parameter stays the same object wherever its values go, as between PyTorch's own devices."""

import torch
from torch import nn


def test_tied_weights_stay_tied(device) -> None:
    model = nn.Sequential(nn.Linear(3, 3), nn.Linear(3, 3))
    model[1].weight = model[0].weight
    model.to(device)
    assert model[1].weight is model[0].weight
    assert model[0].weight.device.type == device


def test_an_optimizer_follows_its_parameters(device) -> None:
    model = nn.Linear(3, 2)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    before = model.weight.detach().clone()
    model.to(device)
    model(torch.ones(1, 3, device=device)).sum().backward()
    optimizer.step()
    torch.testing.assert_close(model.weight.detach().cpu(), before - 0.1)


def test_data_of_another_device(device) -> None:
    parameter = nn.Parameter(torch.ones(2))
    parameter.data = torch.full((3,), 2.0, device=device)
    assert parameter.device.type == device
    parameter.sum().backward()
    assert parameter.grad.tolist() == [1.0, 1.0, 1.0]
    parameter.data, parameter.grad = parameter.data.cpu(), None
    assert parameter.tolist() == [2.0, 2.0, 2.0]


def test_cat_of_the_empty_vector_that_fits_everywhere(device) -> None:
    """How caches of models start; the dimension is one of the other tensors."""
    pieces = [torch.tensor([], device=device), torch.ones(2, 3, 4, device=device)]
    assert torch.cat(pieces, dim=-2).shape == (2, 3, 4)

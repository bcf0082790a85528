import pytest
import torch

from tests.device import DEVICE


@pytest.fixture
def device() -> str:
    return DEVICE


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)

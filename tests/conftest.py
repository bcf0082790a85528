from tests.device import DEVICE  # before torch: it sets the environment

import pytest
import torch


@pytest.fixture
def device() -> str:
    return DEVICE


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)

import os

import pytest
import torch

from tests.device import DEVICE


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--slow", action="store_true", help="run random tests for much longer, on programs of their own")


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--slow"):  # read where tests are made, before there is a fixture
        os.environ["TORCHTPU_TEST_SLOW"] = "1"


@pytest.fixture
def device() -> str:
    return DEVICE


@pytest.fixture(autouse=True)
def seeded() -> None:
    torch.manual_seed(0)

"""torch.autocast("tpu"): the policy of every op is the one that CUDA has."""

import pytest
import torch
import torch.nn.functional as F

from tests.compare import assert_same
from tests.device import DEVICE, ON_TPU

pytestmark = pytest.mark.skipif(not ON_TPU, reason="about autocast on the device")


def test_every_op_that_cuda_casts_is_cast() -> None:
    ours, cudas = (
        set(torch._C._dispatch_get_registrations_for_dispatch_key(key))
        for key in ("AutocastPrivateUse1", "AutocastCUDA")
    )
    of_cuda_alone = {"aten::cudnn_convolution", "aten::cudnn_convolution_transpose"}
    assert cudas - ours == of_cuda_alone, "ops that CUDA casts and tpu does not"
    assert {name for name in ours - cudas if name.startswith("aten::")} == set(), "ops that tpu casts and CUDA does not"


def _like(device: str, dtype: torch.dtype, *shape: int) -> torch.Tensor:
    return torch.rand(shape, device=device, dtype=dtype)


LOWER = {
    "mm": lambda x: x @ x,
    "bmm": lambda x: torch.bmm(x[None], x[None]),
    "addmm": lambda x: torch.addmm(x, x, x),
    "linear": lambda x: F.linear(x, x, x[0]),
    "conv2d": lambda x: F.conv2d(x[None, None], x[None, None, :2, :2]),
    "sdpa": lambda x: F.scaled_dot_product_attention(x[None, None], x[None, None], x[None, None]),
}
FLOAT32 = {
    "softmax": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(0),
    "layer_norm": lambda x: F.layer_norm(x, (4,)),
    "exp": torch.exp,
    "log": lambda x: (x + 1).log(),
    "sum": lambda x: x.sum(),
    "pow": lambda x: x**2,
    "mse_loss": lambda x: F.mse_loss(x, x),
    "nll_loss": lambda x: F.nll_loss(x, torch.zeros(4, dtype=torch.int64, device=x.device)),
    "cumsum": lambda x: x.cumsum(0),
}
KEPT = {"relu": torch.relu, "add": lambda x: x + x, "max": lambda x: x.amax(), "gelu": F.gelu}


@pytest.mark.parametrize("name", LOWER)
def test_lower_precision(name) -> None:
    with torch.autocast("tpu", torch.bfloat16):
        assert LOWER[name](_like(DEVICE, torch.float32, 4, 4)).dtype == torch.bfloat16
    assert LOWER[name](_like(DEVICE, torch.float32, 4, 4)).dtype == torch.float32


@pytest.mark.parametrize("name", FLOAT32)
def test_float32(name) -> None:
    with torch.autocast("tpu", torch.bfloat16):
        assert FLOAT32[name](_like(DEVICE, torch.bfloat16, 4, 4)).dtype == torch.float32


@pytest.mark.parametrize("name", KEPT)
def test_kept(name) -> None:
    with torch.autocast("tpu", torch.bfloat16):
        for dtype in (torch.bfloat16, torch.float32):
            assert KEPT[name](_like(DEVICE, dtype, 4, 4)).dtype == dtype


def test_promote_to_the_widest() -> None:
    x, y = _like(DEVICE, torch.bfloat16, 4), _like(DEVICE, torch.float32, 4)
    with torch.autocast("tpu", torch.bfloat16):
        assert torch.addcmul(x, x, y).dtype == torch.cat([x, y]).dtype == torch.float32
        assert torch.addcmul(x, x, x).dtype == torch.bfloat16


def test_nothing_outside_the_context() -> None:
    assert not torch.is_autocast_enabled("tpu")
    with torch.autocast("tpu", enabled=False):
        assert (_like(DEVICE, torch.float32, 4, 4) @ _like(DEVICE, torch.float32, 4, 4)).dtype == torch.float32
    with torch.autocast("tpu"):
        assert torch.get_autocast_dtype("tpu") in torch.tpu.get_amp_supported_dtype()


def test_training_step() -> None:
    """Weights stay float32; the weight's cast is made once; the loss agrees with the CPU's to bfloat16's precision."""
    losses = []
    for device in (DEVICE, "cpu"):
        torch.manual_seed(0)
        model = torch.nn.Sequential(torch.nn.Linear(8, 16), torch.nn.ReLU(), torch.nn.Linear(16, 1)).to(device)
        x = torch.linspace(-1, 1, 64).reshape(8, 8).to(device)
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for _ in range(3):
            with torch.autocast(device, torch.bfloat16):
                loss = F.mse_loss(model(x), torch.ones(8, 1, device=device))
            loss.backward()
            optimizer.step()
            optimizer.zero_grad()
        assert loss.dtype == torch.float32 and model[0].weight.dtype == torch.float32
        losses.append(loss)
    assert_same(losses[0], losses[1], rtol=0.05, atol=0.01)

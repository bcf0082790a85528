"""torch.linalg and torch.fft as people use them: composites of the device's ops, their gradients and their errors."""

import pytest
import torch

from tests.compare import assert_same, assert_same_error
from tests.device import no_fallback

MATRIX = torch.tensor([[4.0, 1.0, -2.0], [1.0, 5.0, 0.5], [-2.0, 0.5, 6.0]])
TALL = torch.linspace(-1, 2, 30).square().mul(3).sin().reshape(2, 5, 3)

CALLS = {
    "cholesky": lambda m, t: torch.linalg.cholesky(m),
    "cholesky_solve": lambda m, t: torch.cholesky_solve(t.mT, torch.linalg.cholesky(m)),
    "cholesky_inverse": lambda m, t: torch.cholesky_inverse(torch.linalg.cholesky(m)),
    "cond": lambda m, t: torch.linalg.cond(m),
    "det": lambda m, t: torch.linalg.det(m),
    "det of a transposed matrix": lambda m, t: torch.linalg.det((m @ m.tril()).mT),
    "eigvalsh": lambda m, t: torch.linalg.eigvalsh(m),
    "inv": lambda m, t: torch.linalg.inv(m),
    "logdet": lambda m, t: torch.logdet(m),
    "lstsq": lambda m, t: torch.linalg.lstsq(t, t[..., :2]).solution,
    "lu_solve": lambda m, t: torch.linalg.lu_solve(*torch.linalg.lu_factor(m), t.mT),
    "matrix_exp": lambda m, t: torch.linalg.matrix_exp(m / 4),
    "matrix_norm": lambda m, t: torch.linalg.matrix_norm(t, "nuc"),
    "matrix_power": lambda m, t: torch.linalg.matrix_power(m, -3),
    "matrix_rank": lambda m, t: torch.linalg.matrix_rank(t),
    "multi_dot": lambda m, t: torch.linalg.multi_dot([t[0], m, t[1].mT]),
    "norm": lambda m, t: torch.linalg.norm(m, 2),
    "pinv": lambda m, t: torch.linalg.pinv(t),
    "pinv, hermitian": lambda m, t: torch.linalg.pinv(m, hermitian=True),
    "qr": lambda m, t: torch.linalg.qr(t).R.abs(),
    "slogdet": lambda m, t: torch.linalg.slogdet(m).logabsdet,
    "solve": lambda m, t: torch.linalg.solve(m, t.mT),
    "solve, from the right": lambda m, t: torch.linalg.solve(m, t, left=False),
    "solve_triangular": lambda m, t: torch.linalg.solve_triangular(m.tril(), t.mT, upper=False),
    "svdvals": lambda m, t: torch.linalg.svdvals(t),
    "tensorinv": lambda m, t: torch.linalg.tensorinv(m.reshape(3, 3, 1), ind=1),
    "tensorsolve": lambda m, t: torch.linalg.tensorsolve(m, t[0, 0]),
    "vander": lambda m, t: torch.linalg.vander(t[0, 0]),
    "vecdot": lambda m, t: torch.linalg.vecdot(m, m),
    "fftn": lambda m, t: torch.view_as_real(torch.fft.fftn(t)).square(),
    "hfft": lambda m, t: torch.fft.hfft(torch.fft.ihfft(t, norm="ortho"), n=4),
    "irfft2": lambda m, t: torch.fft.irfft2(torch.fft.rfft2(t, norm="forward"), s=(5, 3)),
    "fftshift": lambda m, t: torch.fft.ifftshift(torch.fft.fftshift(t), dim=1),
    "stft": lambda m, t: torch.stft(t.flatten(), 8, window=t.new_ones(8), return_complex=True).abs(),
    "istft": lambda m, t: torch.istft(torch.fft.rfft(t.flatten().unfold(0, 8, 2)).mT, 8, 2, window=t.new_ones(8)),
}


@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients(device, name) -> None:
    with no_fallback():
        ours, theirs = (_with_gradients(CALLS[name], where) for where in (device, "cpu"))
    assert_same(ours, theirs, strides=False, rtol=1e-7, atol=1e-7)


def _with_gradients(function, device: str) -> list:
    leaves = [tensor.double().to(device).requires_grad_() for tensor in (MATRIX, TALL)]
    result = function(*leaves)
    if not result.requires_grad:
        return [result]
    weights = torch.linspace(1, 2, result.numel()).reshape(result.shape).to(device)
    gradients = torch.autograd.grad((result * weights).sum(), leaves, create_graph=True, allow_unused=True)
    used = [(leaf, gradient) for leaf, gradient in zip(leaves, gradients) if gradient is not None and gradient.requires_grad]
    total = sum((gradient * gradient).sum() for _, gradient in used)
    second = torch.autograd.grad(total, [leaf for leaf, _ in used], allow_unused=True) if used else []
    return [result, *gradients, *second]


@pytest.mark.parametrize(
    "call",
    [
        lambda d: torch.linalg.cholesky(-MATRIX.to(d)),
        lambda d: torch.linalg.cholesky_ex(torch.stack([MATRIX, -MATRIX]).to(d), check_errors=True),
        lambda d: torch.linalg.inv(torch.zeros(2, 3, 3, device=d)),
        lambda d: torch.linalg.solve(torch.zeros(3, 3, device=d), torch.ones(3, device=d)),
        lambda d: torch.linalg.eigh(torch.full((3, 3), torch.nan, device=d)),
        lambda d: torch.linalg.svd(torch.full((3, 3), torch.nan, device=d)),
        lambda d: torch.linalg.eig(torch.full((3, 3), torch.nan, device=d)),
        lambda d: torch.linalg.svd(MATRIX.to(d), driver="gesvd"),
        lambda d: torch.linalg.lu_factor(MATRIX.to(d), pivot=False),
        lambda d: torch.linalg.lstsq(MATRIX.to(d), MATRIX.to(d), driver="gelsx"),
        lambda d: torch.linalg.qr(MATRIX.to(d), "half"),
        lambda d: torch.linalg.det(torch.ones(2, 3, device=d)),
        lambda d: torch.fft.fft(torch.ones(3, device=d), 0),
    ],
)
def test_errors(device, call) -> None:
    call_good = torch.linalg.cholesky(MATRIX.to(device))  # a program is there already
    assert call_good.device.type == device
    assert_same_error(device, call)


def test_info_says_which_minor_is_not_positive(device) -> None:
    matrices = torch.stack([MATRIX, MATRIX - 5 * torch.eye(3), -MATRIX])
    assert_same(torch.linalg.cholesky_ex(matrices.to(device)).info, torch.linalg.cholesky_ex(matrices).info)


def test_pivots_of_an_indefinite_matrix(device) -> None:
    """Blocks of one row and of two, each with interchanges."""
    torch.manual_seed(0)
    for dtype in (torch.float64, torch.complex128):
        half = torch.randn(3, 9, 9, dtype=dtype)
        for hermitian, matrix in ((True, half + half.mH), (False, half + half.mT)):
            matrix.diagonal(0, -2, -1).mul_(0.1)
            expected = torch.linalg.ldl_factor(matrix, hermitian=hermitian)
            factors = torch.linalg.ldl_factor(matrix.to(device), hermitian=hermitian)
            assert (expected.pivots < 0).any() and (expected.pivots > 0).any()
            assert_same(tuple(factors), tuple(expected), rtol=1e-8, atol=1e-8)
            solution = torch.linalg.ldl_solve(*factors, half.to(device), hermitian=hermitian)
            assert_same(matrix @ solution.cpu(), half, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("dims", [(0,), (1,), (2,), (0, 1), (2, 0), (0, 1, 2), (2, 1, 0)])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_layouts_of_transforms(device, dims, norm) -> None:
    """The strides too: the transformed dimensions are innermost."""
    x = torch.linspace(-1, 1, 2 * 5 * 6).reshape(2, 5, 6).sin()
    for transform in (torch.fft.rfftn, torch.fft.fftn, torch.fft.ifftn, torch.fft.irfftn):
        for tensor in (x, x.mT.contiguous().mT):
            ours = transform(tensor.to(device), dim=dims, norm=norm)
            assert_same(ours, transform(tensor, dim=dims, norm=norm), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("size", [0.001, 0.1, 1.0])
def test_matrix_exp_of_bfloat16(device, size) -> None:
    """PyTorch's CPU has no number for it that means anything: what its float32 kernel gives, rounded, is the reference."""
    torch.manual_seed(0)
    matrix = (torch.randn(2, 4, 4) * size).bfloat16()
    assert_same(torch.linalg.matrix_exp(matrix.to(device)), torch.linalg.matrix_exp(matrix.float()).bfloat16())

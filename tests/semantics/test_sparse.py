"""Sparse COO tensors behave as on the CPU. What they hold is compared as dense tensors: in which order entries stand that are not
coalesced, and whether zeros are among them, is nobody's to know."""

import copy
import io
import pickle
import re
from collections.abc import Callable
from pathlib import Path

import hypothesis
import pytest
import torch
import torchgen
import yaml
from hypothesis import strategies as st
from torch import nn

import torchtpu  # noqa: F401

INDICES = [[0, 1, 1, 2, 0], [2, 0, 0, 1, 2]]
VALUES = [1.0, 2.0, -3.0, 4.0, 5.5]
DTYPES = [torch.float32, torch.float64, torch.bfloat16, torch.int64, torch.int32, torch.uint8, torch.complex64, torch.bool]
ROOT = Path(__file__).parents[2]


def sparse(device: str, dtype: torch.dtype = torch.float32, rows: tuple[int, ...] = ()) -> torch.Tensor:
    """3 x 4 (x rows), where two positions have two entries."""
    values = torch.tensor(VALUES).abs() if dtype is torch.uint8 else torch.tensor(VALUES)
    values = values.reshape(-1, *[1 for _ in rows]).expand(-1, *rows).to(dtype)
    return torch.sparse_coo_tensor(torch.tensor(INDICES, device=device), values.to(device), (3, 4, *rows))


def other(device: str, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    values = torch.tensor([7, 8], dtype=dtype, device=device)
    return torch.sparse_coo_tensor(torch.tensor([[0, 2], [2, 3]], device=device), values, (3, 4))


def dense(device: str, *sizes: int) -> torch.Tensor:
    count = torch.Size(sizes).numel()
    return (torch.arange(count, dtype=torch.float32, device=device) - 3).reshape(sizes)


def plain(result: object) -> object:
    if isinstance(result, tuple | list):
        return [plain(x) for x in result]
    if not isinstance(result, torch.Tensor):
        return result if isinstance(result, int | float) else str(result)
    result = result.detach()
    if not result.is_sparse:
        return result.cpu()
    return [result.sparse_dim(), result.dense_dim(), result.cpu().to_dense()]


def same(function: Callable[[str], object]) -> None:
    want, got = plain(function("cpu")), plain(function("tpu"))
    compare(got, want)


def compare(got: object, want: object) -> None:
    if isinstance(want, list):
        assert isinstance(got, list) and len(got) == len(want)
        for one, expected in zip(got, want, strict=True):
            compare(one, expected)
    elif isinstance(want, torch.Tensor):
        torch.testing.assert_close(got, want, equal_nan=True)
    else:
        assert got == want


# -- construction


@pytest.mark.parametrize("dtype", DTYPES)
def test_entries_at_one_position_are_summed(dtype: torch.dtype) -> None:
    same(lambda d: [sparse(d, dtype).to_dense(), sparse(d, dtype).coalesce()])
    coalesced = sparse("tpu", dtype).coalesce()
    torch.testing.assert_close(coalesced.indices().cpu(), sparse("cpu", dtype).coalesce().indices())
    torch.testing.assert_close(coalesced.values().cpu(), sparse("cpu", dtype).coalesce().values())
    assert coalesced.is_coalesced() and coalesced._nnz() == 3


def test_what_it_is_made_of() -> None:
    same(lambda d: [f(sparse(d)) for f in (torch.Tensor._indices, torch.Tensor._values, torch.Tensor._nnz)])
    same(lambda d: [sparse(d, rows=(2,)).sparse_dim(), sparse(d, rows=(2,)).dense_dim(), sparse(d).layout, sparse(d).is_coalesced()])
    assert sparse("tpu").device.type == "tpu" and sparse("tpu")._values().device.type == "tpu"
    assert "layout=torch.sparse_coo" in repr(sparse("tpu")) and "tpu:0" in repr(sparse("tpu"))


MAKERS: dict[str, Callable[[str], object]] = {
    "lists": lambda d: torch.sparse_coo_tensor([[0, 1], [1, 0]], [1.0, 2.0], (2, 2), device=d),
    "size from indices": lambda d: torch.sparse_coo_tensor(torch.tensor(INDICES, device=d), torch.tensor(VALUES, device=d)),
    "checked": lambda d: torch.sparse_coo_tensor(sparse(d)._indices(), sparse(d)._values(), (3, 4), check_invariants=True),
    "empty": lambda d: torch.empty(3, 4, layout=torch.sparse_coo, device=d),
    "zeros": lambda d: torch.zeros(3, 4, layout=torch.sparse_coo, device=d),
    "zeros_like": lambda d: torch.zeros_like(sparse(d)),
    "moved": lambda d: sparse("cpu").to(d),
    "converted": lambda d: sparse(d).to(torch.float64),
    "to_sparse": lambda d: dense(d, 3, 4).to_sparse(),
    "to_sparse of rows": lambda d: dense(d, 3, 4).to_sparse(1),
    "clone": lambda d: sparse(d).clone(),
    "detach": lambda d: sparse(d).detach(),
    "copy_": lambda d: other(d).copy_(sparse(d)),
    "copy_ from the host": lambda d: other(d).copy_(sparse("cpu")),
    "zero_": lambda d: sparse(d).zero_(),
    "sparse_resize_": lambda d: sparse(d).sparse_resize_((5, 5), 2, 0),
    "sparse_resize_and_clear_": lambda d: sparse(d).sparse_resize_and_clear_((5, 5), 1, 1),
    "resize_as_sparse_": lambda d: sparse(d).resize_as_sparse_(other(d)),
    "_coalesced_": lambda d: other(d)._coalesced_(True),
}


@pytest.mark.parametrize("name", MAKERS)
def test_makers(name: str) -> None:
    same(MAKERS[name])


def test_serialization() -> None:
    def saved(device: str) -> torch.Tensor:
        file = io.BytesIO()
        torch.save(sparse(device), file)
        file.seek(0)
        loaded = torch.load(file)
        assert loaded.device.type == device
        return loaded

    same(saved)
    same(lambda d: [pickle.loads(pickle.dumps(sparse(d))), copy.deepcopy(sparse(d))])


# -- arithmetic

OPS: dict[str, Callable[[str], object]] = {
    "sparse + sparse": lambda d: sparse(d) + other(d),
    "coalesced sum": lambda d: sparse(d).coalesce() + other(d).coalesce(),
    "sparse - alpha * sparse": lambda d: torch.sub(sparse(d), other(d), alpha=2),
    "dense + sparse": lambda d: dense(d, 3, 4) + sparse(d),
    "dense + sparse of another type": lambda d: dense(d, 3, 4) + sparse(d, torch.float64),
    "dense + rows": lambda d: dense(d, 3, 4, 2) + sparse(d, rows=(2,)),
    "dense.add_(sparse)": lambda d: dense(d, 3, 4).add_(sparse(d), alpha=-2),
    "dense.t().add_(sparse)": lambda d: dense(d, 4, 3).t().add_(sparse(d)),
    "sparse.add_(sparse)": lambda d: sparse(d).add_(other(d)),
    "numbers": lambda d: [sparse(d) * 2, sparse(d) / 2, sparse(d) // 2, -sparse(d), sparse(d) ** 2],
    "in place": lambda d: [sparse(d).mul_(2), sparse(d).div_(2), sparse(d).neg_()],
    "sparse * 0-d": lambda d: sparse(d) * torch.tensor(3.0, device=d),
    "sparse * dense": lambda d: [sparse(d) * dense(d, 3, 4), dense(d, 3, 4) * sparse(d), sparse(d) * dense(d, 4)],
    "sparse * sparse": lambda d: [sparse(d) * other(d), sparse(d).coalesce() * other(d).coalesce()],
    "sparse * nothing": lambda d: sparse(d) * torch.zeros(3, 4, layout=torch.sparse_coo, device=d),
    "sums": lambda d: [sparse(d).sum(), sparse(d).sum(1), torch.sparse.sum(sparse(d), 0)],
    "norms": lambda d: [sparse(d).norm(), torch.norm(sparse(d), 3)],
    "masks": lambda d: [dense(d, 3, 4).sparse_mask(other(d)), sparse(d).coalesce().sparse_mask(other(d).coalesce())],
    "mask of nothing": lambda d: torch.zeros(3, 4, layout=torch.sparse_coo, device=d).sparse_mask(other(d)),
    "elementwise": lambda d: [f(sparse(d)) for f in (torch.abs, torch.sin, torch.sqrt, torch.relu, torch.isnan, torch.any)],
    "mm": lambda d: [sparse(d) @ dense(d, 4, 2), torch.sparse.mm(sparse(d), dense(d, 2, 4).t()), sparse(d).mv(dense(d, 4))],
    "mm of bfloat16": lambda d: sparse(d, torch.bfloat16) @ dense(d, 4, 2).bfloat16(),
    "mm out": lambda d: torch.mm(sparse(d), dense(d, 4, 2), out=dense(d, 3, 2)),
    "addmm": lambda d: torch.addmm(dense(d, 3, 2), sparse(d), dense(d, 4, 2), beta=0.5, alpha=2),
    "addmm of a row": lambda d: torch.sparse.addmm(dense(d, 2), sparse(d), dense(d, 4, 2)),
    "addmm_": lambda d: dense(d, 3, 2).addmm_(sparse(d), dense(d, 4, 2)),
    "addmm without self": lambda d: torch.addmm(dense(d, 3, 2) * torch.nan, sparse(d), dense(d, 4, 2), beta=0),
    "bmm": lambda d: torch.bmm(torch.stack([sparse(d), other(d)]), dense(d, 2, 4, 2)),
    "index_select": lambda d: [sparse(d).index_select(i, torch.tensor([2, 0, 2, -1], device=d)) for i in (0, 1)],
    "index_select of rows": lambda d: sparse(d, rows=(3,)).index_select(2, torch.tensor([2, 0], device=d)),
    "index_select of nothing": lambda d: sparse(d).index_select(0, torch.tensor([], dtype=torch.int64, device=d)),
    "select": lambda d: [sparse(d).select(0, 1), sparse(d).coalesce()[1], sparse(d)[0, 2]],
    "shapes": lambda d: [sparse(d).t(), sparse(d).transpose_(0, 1), sparse(d).unsqueeze(0), sparse(d).narrow_copy(1, 1, 2)],
    "cat": lambda d: [torch.cat([sparse(d), other(d)], i) for i in (0, 1)],
}


@pytest.mark.parametrize("name", OPS)
def test_arithmetic(name: str) -> None:
    same(OPS[name])


@hypothesis.settings(max_examples=8, deadline=None)
@hypothesis.given(st.integers(0, 2**31), st.sampled_from([(7,), (5, 3), (2, 3, 4)]))
def test_random_entries(seed: int, sizes: tuple[int, ...]) -> None:
    def results(device: str) -> list[torch.Tensor]:
        generator = torch.Generator().manual_seed(seed)
        tensors = []
        for _ in range(2):
            indices = torch.stack([torch.randint(n, (12,), generator=generator) for n in sizes])
            values = torch.randn(12, generator=generator)
            tensors.append(torch.sparse_coo_tensor(indices, values, sizes).to(device))
        a, b = tensors
        return [a.coalesce(), a + b, a * b, a.sparse_mask(b), a.index_select(0, b._indices()[0]), a.sum(0).to_dense()]

    same(results)


# -- gradients

GRADIENTS: dict[str, tuple[Callable[..., torch.Tensor], list[Callable[[str], torch.Tensor]]]] = {
    "to_dense": (lambda x: x.to_dense() ** 2, [sparse]),
    "coalesce": (lambda x: x.coalesce().values() ** 2, [sparse]),
    "constructor": (
        lambda v: torch.sparse_coo_tensor(torch.tensor(INDICES, device=v.device), v, (3, 4)).to_dense() ** 2,
        [lambda d: dense(d, 5)],
    ),
    "sparse + sparse": (lambda x, y: (x + y).to_dense() ** 2, [sparse, other]),
    "dense + sparse": (lambda x, y: (x + y) ** 2, [lambda d: dense(d, 3, 4), sparse]),
    "sparse * dense": (lambda x, y: (x * y).to_dense(), [sparse, lambda d: dense(d, 3, 4)]),
    "sparse * sparse": (lambda x, y: (x * y).to_dense(), [lambda d: sparse(d).coalesce(), lambda d: other(d).coalesce()]),
    "mm": (lambda x, y: torch.sparse.mm(x, y) ** 2, [sparse, lambda d: dense(d, 4, 2)]),
    "addmm": (
        lambda a, x, y: torch.sparse.addmm(a, x, y) ** 2,
        [lambda d: dense(d, 3, 2), sparse, lambda d: dense(d, 4, 2)],
    ),
    "sum": (lambda x: torch.sparse.sum(x, 0).to_dense() ** 2, [sparse]),
    "sum of all": (lambda x: torch.sparse.sum(x) ** 2, [sparse]),
    "sum of rows": (lambda x: torch.sparse.sum(x, (0, 2)).to_dense() ** 2, [lambda d: sparse(d, rows=(2,))]),
    "mask": (lambda x: x.sparse_mask(other(x.device.type).coalesce()).to_dense() ** 2, [lambda d: dense(d, 3, 4)]),
    "gather": (
        lambda x: torch.gather(x, 1, torch.tensor([[0, 0], [1, 2], [3, 3]], device=x.device), sparse_grad=True) ** 2,
        [lambda d: dense(d, 3, 4)],
    ),
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_gradients(name: str) -> None:
    function, makers = GRADIENTS[name]

    def gradients(device: str) -> list[torch.Tensor | None]:
        leaves = [make(device).requires_grad_() for make in makers]
        function(*leaves).sum().backward()
        return [leaf.grad for leaf in leaves]

    same(gradients)


def embedded(device: str, kind: type = nn.Embedding, **options: object) -> nn.Module:
    module = kind(10, 4, **options)
    module.weight.data = torch.arange(40.0).view(10, 4) / 10
    return module.to(device)


def test_gradients_accumulate() -> None:
    def twice(device: str) -> torch.Tensor:
        module = embedded(device, sparse=True)
        for i in range(2):
            (module(torch.tensor([1, 3, 3, i], device=device)) ** 2).sum().backward()
        assert module.weight.grad.is_sparse
        return module.weight.grad

    same(twice)


@pytest.mark.parametrize("mode", ["sum", "mean"])
def test_embedding_bag(mode: str) -> None:
    def gradient(device: str) -> torch.Tensor:
        module = embedded(device, nn.EmbeddingBag, sparse=True, mode=mode)
        bags = module(torch.tensor([1, 3, 3, 2], device=device), torch.tensor([0, 2], device=device))
        (bags**2).sum().backward()
        assert module.weight.grad.is_sparse
        return module.weight.grad

    same(gradient)


@pytest.mark.parametrize(
    "optimizer",
    [
        lambda p: torch.optim.SGD(p, 0.1),
        lambda p: torch.optim.SGD(p, 0.1, momentum=0.9),
        lambda p: torch.optim.SparseAdam(list(p), 0.1),
        lambda p: torch.optim.Adagrad(p, 0.1),
    ],
    ids=["sgd", "momentum", "sparse_adam", "adagrad"],
)
def test_optimizers(optimizer: Callable[..., torch.optim.Optimizer]) -> None:
    def trained(device: str) -> torch.Tensor:
        module = embedded(device, sparse=True)
        steps = optimizer(module.parameters())
        for i in range(3):
            steps.zero_grad()
            (module(torch.tensor([1, 3, 3, i], device=device)) ** 2).sum().backward()
            steps.step()
        return module.weight

    same(trained)


# -- errors


@pytest.mark.parametrize(
    "wrong",
    [
        lambda d: torch.sparse_coo_tensor(sparse(d)._indices(), sparse(d)._values(), (2, 2), check_invariants=True),
        lambda d: torch.sparse_coo_tensor(torch.tensor(INDICES, device=d), torch.tensor(VALUES[:3], device=d), (3, 4)),
        lambda d: sparse(d).values(),
        lambda d: sparse(d) + torch.zeros(3, 5, layout=torch.sparse_coo, device=d),
        lambda d: torch.ones(1, 4, device=d) + sparse(d),
        lambda d: torch.ones(3, 4, dtype=torch.int64, device=d).add_(sparse(d)),
        lambda d: sparse(d) @ dense(d, 2, 2),
        lambda d: sparse(d).index_select(0, torch.tensor([5], device=d)),
        lambda d: other(d).copy_(dense(d, 3, 4)),
    ],
)
def test_errors_are_those_of_the_cpu(wrong: Callable[[str], object]) -> None:
    with pytest.raises(Exception) as expected:  # noqa: PT011 - whatever the CPU raises
        wrong("cpu")
    with pytest.raises(expected.type):
        wrong("tpu")


def test_an_op_without_kernel_says_so() -> None:
    with pytest.raises(NotImplementedError, match=r"no kernel for sparse tensors on tpu; call \.to_dense\(\)"):
        torch.cos(sparse("tpu"))


def test_compressed_tensors_are_refused() -> None:
    """One can be moved there, since `to` moves its parts without asking; nothing works on it."""
    host = torch.eye(2).to_sparse_csr()
    for make in (
        lambda: sparse("tpu").to_sparse_csr(),
        lambda: dense("tpu", 2, 2).to_sparse_bsr((2, 2)),
        lambda: host.to("tpu").to_dense(),
        lambda: torch.empty(2, 2, layout=torch.sparse_csr, device="tpu"),
    ):
        with pytest.raises(NotImplementedError, match="no compressed sparse tensors"):
            make()


def test_every_shared_kernel_is_used() -> None:
    functions = yaml.safe_load((Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml").read_text())
    shared = set()
    for function in functions:
        kernels = {k.strip(): v for keys, v in function.get("dispatch", {}).items() for k in keys.split(",")}
        if "SparseCPU" in kernels and kernels["SparseCPU"] == kernels.get("SparseCUDA"):
            shared.add(function["func"].split("(")[0])
    listed = (ROOT / "csrc/aten/sparse/shared.cpp").read_text().split("kShared[] = {")[1].split("};")[0]
    own = {"sparse_mask", "_sparse_mask_projection", *(f"_to_sparse_{x}" for x in ("csr", "csc", "bsr", "bsc"))}
    assert set(re.findall(r'"([^"]+)"', listed)) == shared - own

"""autograd itself: functions of one's own, numerical checks of gradients, forward mode, anomalies, the graph."""

import warnings

import pytest
import torch
import torch.nn.functional as F
from torch.autograd import forward_ad, gradcheck, gradgradcheck, graph
from torch.autograd.function import once_differentiable

from tests.compare import assert_same, assert_same_error, outcome


def leaf(device: str, shape: tuple[int, ...] = (2, 3), dtype: torch.dtype = torch.float32) -> torch.Tensor:
    """Numbers that lie apart from each other and from zero, so that nothing is at a kink."""
    count = torch.Size(shape).numel()
    values = torch.linspace(-1, 1.07, count, dtype=torch.float64)[torch.arange(count) * 5 % count if count % 5 else ...]
    return values.reshape(shape).to(device, dtype).requires_grad_()


def gram(x: torch.Tensor) -> torch.Tensor:
    """Symmetric, and well away from singular."""
    return x @ x.t() + torch.eye(2, dtype=x.dtype, device=x.device)


# Numerical checks in float64: a function and the shapes that it takes.
CHECKED = {
    "elementwise": (lambda x, y: x.tanh() * y.exp() / (y * y + 1), [(2, 3), (2, 3)]),
    "broadcast": (lambda x, y: x * y - y.sigmoid(), [(2, 3), (3,)]),
    "views": (lambda x: x.t()[1:].reshape(-1).unfold(0, 2, 1) * x.diagonal().sum(), [(2, 3)]),
    "written view": (lambda x: (lambda y: (y[1:].mul_(3), y * y)[1])(x.clone()), [(2, 3)]),
    "matmul": (torch.matmul, [(2, 3), (3, 2)]),
    "softmax": (lambda x: F.log_softmax(x, -1) * F.softmax(x, 0), [(2, 3)]),
    "layer_norm": (lambda x, w: F.layer_norm(x, (3,), w), [(2, 3), (3,)]),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), [(4, 2)]),
    "conv1d": (lambda x, w: F.conv1d(x, w, padding=1), [(1, 2, 4), (2, 2, 3)]),
    "pooling": (lambda x: F.max_pool1d(x, 2) + F.avg_pool1d(x, 2), [(1, 2, 4)]),
    "indexing": (lambda x: x[torch.tensor([1, 0, 1], device=x.device)] * x[x > 0].sum(), [(2, 3)]),
    "scatter": (lambda x, y: x.scatter_add(1, torch.ones_like(x, dtype=torch.int64), y), [(2, 3), (2, 3)]),
    "sort": (lambda x: x.sort(1)[0].cumsum(1) * x.amax(1, keepdim=True), [(2, 3)]),
    "products": (lambda x: x.prod(1) + x.cumprod(1).sum(1) + x.norm(dim=1), [(2, 3)]),
    "solve": (lambda x, y: torch.linalg.solve(gram(x), y), [(2, 3), (2,)]),
    "logdet": (lambda x: torch.logdet(gram(x)), [(2, 3)]),
    "attention": (lambda q, k: F.scaled_dot_product_attention(q, k, k), [(1, 1, 2, 3), (1, 1, 2, 3)]),
    "complex": (lambda x, y: torch.view_as_real(torch.complex(x, y).exp().conj() * 1j), [(2, 3), (2, 3)]),
    "cdist": (torch.cdist, [(2, 3), (4, 2, 3)]),
}


ONCE_DIFFERENTIABLE = ("attention", "cdist")  # so they are on the CPU
@pytest.mark.parametrize("name", CHECKED)
def test_gradients_are_those_of_differences(device, name) -> None:
    """First and second derivatives against finite differences, of which the device computes both sides."""
    function, shapes = CHECKED[name]
    arguments = [leaf(device, shape, torch.float64) for shape in shapes]
    assert gradcheck(function, arguments, fast_mode=True)
    assert name in ONCE_DIFFERENTIABLE or gradgradcheck(function, arguments, fast_mode=True)


@pytest.mark.parametrize("name", ["matmul", "elementwise"])
def test_every_way_to_check_gradients(device, name) -> None:
    """In full, in forward mode, and batched, which goes through vmap."""
    function, shapes = CHECKED[name]
    arguments = [leaf(device, shape, torch.float64) for shape in shapes]
    every_way = dict.fromkeys(("check_forward_ad", "check_batched_grad", "check_batched_forward_grad"), True)
    assert gradcheck(function, arguments, **every_way)
    assert gradgradcheck(function, arguments, check_fwd_over_rev=True)


def test_a_wrong_gradient_is_found(device) -> None:
    class Wrong(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 3

    assert not gradcheck(Wrong.apply, [leaf(device, dtype=torch.float64)], raise_exception=False)


# Functions of one's own


class Scaled(torch.autograd.Function):
    """x * x * factor, with what a function can have: saved tensors, jvp, vmap."""

    @staticmethod
    def forward(x, factor):
        return x * x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        x, ctx.factor = inputs
        ctx.save_for_backward(x)
        ctx.save_for_forward(x)

    @staticmethod
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        return gradient * x * 2 * ctx.factor, None

    @staticmethod
    def jvp(ctx, tangent, _):
        (x,) = ctx.saved_tensors
        return tangent * x * 2 * ctx.factor

    @staticmethod
    def vmap(info, in_dims, x, factor):
        return Scaled.apply(x, factor), in_dims[0]


def test_function(device) -> None:
    def run(device: str) -> list:
        x = leaf(device)
        y = Scaled.apply(x, 3.0)
        (first,) = torch.autograd.grad(y.sin().sum(), x, create_graph=True)
        return [
            y,
            first,
            *torch.autograd.grad(first.sum(), x),
            torch.func.vmap(torch.func.grad(lambda row: Scaled.apply(row, 3.0).sum()))(x.detach()),
            *torch.func.jvp(lambda t: Scaled.apply(t, 3.0), (x.detach(),), (torch.ones_like(x),)),
        ]

    assert_same(run(device), run("cpu"))


def test_a_function_with_everything(device) -> None:
    """Two outputs, one without a gradient, an argument that is written, needs_input_grad, undefined gradients."""

    class Both(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, work):
            ctx.set_materialize_grads(False)
            ctx.mark_dirty(work)
            ctx.save_for_backward(x, y)
            rank = x.argsort(dim=1)
            ctx.mark_non_differentiable(rank)
            return x * y, work.add_(1), rank

        @staticmethod
        @once_differentiable
        def backward(ctx, product, written, rank):
            x, y = ctx.saved_tensors
            assert rank is None and product is not None
            return (
                product * y if ctx.needs_input_grad[0] else None,
                product * x if ctx.needs_input_grad[1] else None,
                written,
            )

    def run(device: str) -> list:
        x, y, work = leaf(device), leaf(device).detach(), leaf(device) * 1
        out, written, rank = Both.apply(x, y, work)
        assert written is work and not rank.requires_grad
        out.square().sum().backward()
        return [out, work, rank, x.grad, y.grad]

    assert_same(run(device), run("cpu"))


def test_errors_of_functions(device) -> None:
    class Few(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient, gradient

    class Shaped(Few):
        @staticmethod
        def backward(ctx, gradient):
            return gradient[:1, :2]

    class Once(Few):
        @staticmethod
        @once_differentiable
        def backward(ctx, gradient):
            return gradient * 2

    def once(device: str) -> None:
        x = leaf(device)
        (first,) = torch.autograd.grad(Once.apply(x).square().sum(), x, create_graph=True)
        first.sum().backward()

    for wrong in (
        lambda d: Few.apply(leaf(d)).sum().backward(),
        lambda d: Shaped.apply(leaf(d)).sum().backward(),
        once,
        lambda d: leaf(d).exp().backward(),
        lambda d: leaf(d).detach().sum().backward(),
        lambda d: (lambda y: (y.backward(), y.backward()))(leaf(d).exp().sum()),
        lambda d: torch.autograd.grad(leaf(d).sum(), leaf(d)),
        lambda d: leaf(d).sum().backward(torch.ones(2, device=d)),
    ):
        assert_same_error(device, wrong)


# Forward mode


FORWARD = {
    "elementwise": lambda x: x.sin() * x.exp() + x.clamp(-0.5, 0.5),
    "matmul": lambda x: x @ x.t(),
    "reductions": lambda x: x.sum(0) * x.amax(0) + x.var(0) + x.logsumexp(0),
    "views": lambda x: x.t()[1:].reshape(-1) * 2,
    "in place": lambda x: x.clone().mul_(x).add_(1),
    "written view": lambda x: (lambda y: (y[0].mul_(x[1]), y)[1])(x.clone()),
    "indexing": lambda x: x[[1, 0]].gather(1, torch.zeros(2, 1, dtype=torch.int64, device=x.device)),
    "softmax": lambda x: F.softmax(x, 1),
    "layer_norm": lambda x: F.layer_norm(x, (3,)),
    "copy of another dtype": lambda x: x.to(torch.float64).abs().sqrt(),
    "NaN times False": lambda x: x.sqrt().nan_to_num(),
    "to the CPU and back": lambda x: x.cpu().mul(2).to(x.device),
}


@pytest.mark.parametrize("name", FORWARD)
def test_dual_numbers(device, name) -> None:
    def run(device: str) -> list:
        x = leaf(device).detach()
        with forward_ad.dual_level():
            out = forward_ad.unpack_dual(FORWARD[name](forward_ad.make_dual(x, torch.ones_like(x) * 0.5)))
            return [out.primal.clone(), out.tangent.clone()]

    assert_same(run(device), run("cpu"))


def test_forward_over_reverse(device) -> None:
    def run(device: str) -> list:
        x = leaf(device)
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, torch.ones_like(x))
            (gradient,) = torch.autograd.grad((dual.sin() * dual).sum(), dual, create_graph=True)
            return [part.clone() for part in forward_ad.unpack_dual(gradient)]

    assert_same(run(device), run("cpu"))


def test_errors_of_dual_numbers(device) -> None:
    def tangent(shape: tuple[int, ...], dtype: torch.dtype = torch.float32):
        def run(device: str) -> None:
            with forward_ad.dual_level():
                forward_ad.make_dual(leaf(device).detach(), torch.ones(shape, dtype=dtype, device=device))

        return run

    for wrong in (tangent((3, 2)), lambda d: forward_ad.make_dual(leaf(d), leaf(d))):
        assert_same_error(device, wrong)


# Anomalies


def test_anomaly_mode(device) -> None:
    """It names the function whose gradient is NaN, and where that was called forward."""

    def run(device: str) -> None:
        x = torch.zeros(2, device=device, requires_grad=True)
        with torch.autograd.detect_anomaly():
            (x.sqrt() * 0).sum().backward()

    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        failure = assert_same_error(device, run)
    assert "returned nan" in failure.message
    forward_calls = [str(warning.message) for warning in caught if "Traceback of forward call" in str(warning.message)]
    assert len(forward_calls) == 2 and all("x.sqrt()" in text for text in forward_calls)


def test_anomaly_mode_may_ignore_nan(device) -> None:
    def run(device: str) -> torch.Tensor:
        x = torch.zeros(2, device=device, requires_grad=True)
        with warnings.catch_warnings(), torch.autograd.set_detect_anomaly(True, check_nan=False):
            warnings.simplefilter("ignore")
            (x.sqrt() * 0).sum().backward()
        return x.grad

    assert_same(run(device), run("cpu"))


# The graph


def test_the_graph_has_the_same_nodes(device) -> None:
    """Ops are recorded under the CPU's names, in its structure: tools that read a graph see the one they know."""

    def names(node) -> list:
        return [node.name(), [names(below) for below, _ in node.next_functions if below is not None]]

    def run(device: str):
        x, w, b = leaf(device), leaf(device, (3, 3)), leaf(device, (3,))
        y = F.layer_norm(F.gelu(F.linear(x, w, b)), (3,)).softmax(-1)[:, 1:]
        z = F.cross_entropy(y, torch.tensor([0, 1], device=device)) + (x * w[0]).clone().relu_().mean()
        return names(z.grad_fn)

    assert run(device) == run("cpu")


def test_graph_utilities(device) -> None:
    def run(device: str) -> list:
        x, y = leaf(device), leaf(device)
        out = (x.sin() * y).exp()
        kept = torch.autograd.grad(out.sum(), [x, y], retain_graph=True)
        batched = torch.autograd.grad(
            out, x, torch.eye(6, device=device).reshape(6, 2, 3), retain_graph=True, is_grads_batched=True
        )
        unused = torch.autograd.grad(out.sum(), [x, leaf(device)], retain_graph=True, allow_unused=True)
        zeros = torch.autograd.grad(out.sum(), [x, leaf(device)], retain_graph=True, materialize_grads=True)
        torch.autograd.backward([out, out * 2], [torch.ones_like(out), torch.ones_like(out)], inputs=[y])
        return [*kept, *batched, *unused, *zeros, x.grad, y.grad]

    assert_same(run(device), run("cpu"))


def test_versions(device) -> None:
    def run(device: str) -> list:
        x = leaf(device) * 1
        y = x.exp()
        graph.increment_version(y)
        changed = x._version, y._version
        with torch.no_grad():
            x.zero_()
        return [*changed, x._version, outcome(lambda: y.sum().backward()).message.split("is at version")[-1]]

    assert run(device) == run("cpu")


def test_gradients_of_views_and_detached_parts(device) -> None:
    def run(device: str) -> list:
        x = leaf(device)
        y = x * 2
        y[0].detach().mul_(5)  # changes what is saved below, and no gradient
        y[:, 1] = x[:, 0]
        z = y.view(3, 2).t()
        z.sin().sum().backward()
        return [y, x.grad]

    assert_same(run(device), run("cpu"))


def test_gradients_between_devices(device) -> None:
    """A graph over the CPU and the device: each part runs where its tensors are, on threads of their own."""

    def run(device: str) -> list:
        x = leaf("cpu")
        y = x.exp().to(device).sin().cpu().to(device, torch.float64)
        (y.cpu() * x).sum().backward()
        return [y, x.grad]

    assert_same(run(device), run("cpu"))


def test_gradient_layout_and_dtype(device) -> None:
    """A gradient takes the strides of its parameter, and is added to in place where it is there already."""

    def run(device: str) -> list:
        w = leaf(device).detach().t().requires_grad_()
        w.square().sum().backward()
        first, strides = w.grad, w.grad.stride()
        w.sum().backward()
        return [w.grad is first, list(strides), w.grad]

    assert_same(run(device), run("cpu"))

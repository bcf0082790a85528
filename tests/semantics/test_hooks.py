"""Hooks on tensors, modules and saved tensors, and gradient checkpointing, which is made of them."""

import contextlib

import pytest
import torch
import torch.nn.functional as F
from torch.autograd import graph
from torch.utils.checkpoint import (
    CheckpointPolicy,
    checkpoint,
    checkpoint_sequential,
    create_selective_checkpoint_contexts,
)

from tests.compare import assert_same, assert_same_error
from tests.device import DEVICE
from tests.semantics.networks import sequential


def leaf(device: str) -> torch.Tensor:
    return torch.linspace(-1, 1, 6).reshape(2, 3).to(device).requires_grad_()


def network(device: str) -> torch.nn.Module:
    return sequential(device, torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 3))


def gradients(model: torch.nn.Module, *tensors: torch.Tensor) -> list:
    return [parameter.grad for parameter in model.parameters()] + [tensor.grad for tensor in tensors]


# Saved tensors


@pytest.mark.parametrize("pin_memory", [False, True])
def test_save_on_cpu(device, pin_memory) -> None:
    """What is saved waits on the host; pinning it is asked of the device, which answers with ordinary memory."""

    def run(device: str, pin_memory: bool) -> list:
        x, model = leaf(device), network(device)
        with graph.save_on_cpu(pin_memory, device_type=device):
            out = model(x).exp()
        (out * out.detach().t().sum()).sum().backward()
        return gradients(model, x)

    assert_same(run(device, pin_memory), run("cpu", False))


def test_save_on_cpu_frees_the_device(device) -> None:
    x = leaf(device)
    with graph.save_on_cpu():
        y = x.exp()
    on_host = y.grad_fn._raw_saved_result.data if hasattr(y.grad_fn._raw_saved_result, "data") else None
    assert on_host is None or on_host[0].type == device and on_host[1].device.type == "cpu"
    y.sum().backward()
    assert_same(x.grad, leaf("cpu").exp())


def test_packing(device) -> None:
    """Every saved tensor goes through the hooks, views and half-precision ones as they are."""

    def run(device: str) -> list:
        seen = []

        def pack(tensor: torch.Tensor) -> tuple:
            seen.append((tuple(tensor.shape), tensor.stride(), str(tensor.dtype), tensor.device.type == device))
            return tensor.device, tensor.dtype, tensor.detach().cpu().double()

        def unpack(packed: tuple) -> torch.Tensor:
            where, dtype, tensor = packed
            return tensor.to(where, dtype)

        x, model = leaf(device), network(device)
        with graph.saved_tensors_hooks(pack, unpack):
            out = model(x)[:, 1:].t().bfloat16().sigmoid() @ x[:, 0].bfloat16()
        out.float().square().sum().backward()
        assert all(here for *_, here in seen)
        return [gradients(model, x), len(seen), [list(shape + strides) for shape, strides, *_ in seen]]

    assert_same(run(device), run("cpu"), rtol=2e-2, atol=1e-2)


def test_nested_and_disabled_packing(device) -> None:
    def run(device: str) -> list:
        x, order = leaf(device), []

        def hooks(name: float, factor: float):
            def pack(tensor: torch.Tensor) -> torch.Tensor:
                order.append(name)
                return tensor * factor

            return graph.saved_tensors_hooks(pack, lambda tensor: tensor)

        with hooks(1.0, 2), hooks(2.0, 3):  # the inner one is in force
            y = x.square()
        y.sum().backward()
        return [order, x.grad]

    assert_same(run(device), run("cpu"))

    def disabled(device: str) -> None:
        with graph.disable_saved_tensors_hooks("not here"), graph.save_on_cpu():
            leaf(device).exp()

    assert_same_error(device, disabled)


def test_a_packed_tensor_must_not_be_written(device) -> None:
    def run(device: str) -> None:
        with graph.saved_tensors_hooks(lambda tensor: tensor.mul_(2), lambda tensor: tensor):
            leaf(device).exp()

    assert_same_error(device, run)


def test_mutation_of_saved_tensors_may_be_allowed(device) -> None:
    def run(device: str) -> torch.Tensor:
        with graph.allow_mutation_on_saved_tensors():
            x = leaf(device)
            y = x.clone()
            z = y.sin()
            y.mul_(3)
            z.sum().backward()
        return x.grad

    assert_same(run(device), run("cpu"))


# Checkpointing


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("preserve", [True, False])
def test_checkpoint(device, reentrant, preserve) -> None:
    def run(device: str) -> list:
        x, model, calls = leaf(device), network(device), []

        def block(t: torch.Tensor, scale: float) -> torch.Tensor:
            calls.append(1)
            return model(t) * scale

        out = checkpoint(block, x, 0.5, use_reentrant=reentrant, preserve_rng_state=preserve)
        out.square().sum().backward()
        return [out, len(calls), gradients(model, x)]

    assert_same(run(device), run("cpu"))


@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("p", [0.2, 0.5])
def test_checkpoint_of_dropout(device, reentrant, p) -> None:
    """The same masks again, in every layer, and afterwards the generator is where it was without a checkpoint."""

    def run(checkpointed: bool) -> tuple[torch.Tensor, ...]:
        torch.manual_seed(3)
        x = torch.ones(8, 16, device=device, requires_grad=True)

        def block(t: torch.Tensor) -> torch.Tensor:
            return F.dropout(F.dropout(t * 2, p) + torch.rand_like(t), p)

        out = checkpoint(block, x, use_reentrant=reentrant) if checkpointed else block(x)
        between = torch.rand(4, device=device)
        out.square().sum().backward()
        return out.detach().cpu(), x.grad.cpu(), between.cpu(), torch.rand(4, device=device).cpu(), torch.rand(4)

    assert_same(run(True), run(False))


@pytest.mark.parametrize("reentrant", [True, False])
def test_checkpoint_without_the_state_draws_others(device, reentrant) -> None:
    x = torch.ones(64, device=device, requires_grad=True)
    y = checkpoint(lambda t: F.dropout(t) * t, x, use_reentrant=reentrant, preserve_rng_state=False)
    y.sum().backward()
    assert not torch.equal((x.grad == 0).cpu(), (y == 0).cpu())


def test_checkpoint_under_autocast(device) -> None:
    """It computes again in the dtype of the first time, although autocast is off by then."""

    def run(device: str) -> list:
        x, model, seen = leaf(device), network(device), []

        def block(t: torch.Tensor) -> torch.Tensor:
            out = model(t)
            seen.append(out.dtype == torch.bfloat16)
            return out

        with torch.autocast(device, torch.bfloat16):
            out = checkpoint(block, x, use_reentrant=False)
        out.float().sum().backward()
        return [seen, gradients(model, x)]

    assert_same(run(device), run("cpu"), rtol=2e-2, atol=1e-2)


def test_checkpoint_of_segments(device) -> None:
    def run(device: str) -> list:
        x, model = leaf(device), network(device)
        checkpoint_sequential(model, 2, x, use_reentrant=False).exp().sum().backward()
        return gradients(model, x)

    assert_same(run(device), run("cpu"))


def test_nested_checkpoints(device) -> None:
    def run(device: str) -> list:
        x, model = leaf(device), network(device)

        def outer(t: torch.Tensor) -> torch.Tensor:
            return checkpoint(model, t, use_reentrant=False).sin()

        checkpoint(outer, x, use_reentrant=False).sum().backward()
        return gradients(model, x)

    assert_same(run(device), run("cpu"))


def test_selective_checkpoint(device) -> None:
    """A dispatch mode decides what is kept: matrix products are, so that they are computed once."""

    def run(device: str) -> list:
        x, model, decided = leaf(device), network(device), []

        def policy(context, op, *args, **kwargs) -> CheckpointPolicy:
            keep = op in (torch.ops.aten.addmm.default, torch.ops.aten.mm.default)
            decided.append((keep, context.is_recompute))
            return CheckpointPolicy.MUST_SAVE if keep else CheckpointPolicy.PREFER_RECOMPUTE

        def contexts():
            return create_selective_checkpoint_contexts(policy)

        checkpoint(lambda t: model(t).sin(), x, use_reentrant=False, context_fn=contexts).sum().backward()
        return [sum(keep for keep, again in decided if not again), gradients(model, x)]

    assert_same(run(device), run("cpu"))


def test_checkpoint_that_differs_the_second_time(device) -> None:
    def run(device: str) -> None:
        calls = []

        def block(t: torch.Tensor) -> torch.Tensor:
            calls.append(1)
            return t.sin() if len(calls) == 1 else t[:1].sin()

        checkpoint(block, leaf(device), use_reentrant=False).sum().backward()

    with pytest.raises(torch.utils.checkpoint.CheckpointError):
        run(device)
    with pytest.raises(torch.utils.checkpoint.CheckpointError):
        run("cpu")


# Modules


def test_module_hooks(device) -> None:
    """Which hooks run, in what order, what they see, and that what they return takes the place of it."""

    def run(device: str) -> list:
        x, model, seen = leaf(device), network(device), []

        def note(name: str, change: float = 1.0):
            def hook(module, *values):
                tensors = [value[0] if isinstance(value, tuple) else value for value in values]
                seen.append((name, [tensor.clone() for tensor in tensors if isinstance(tensor, torch.Tensor)]))
                last = values[-1]
                return tuple(t * change for t in last) if isinstance(last, tuple) else last * change

            return hook

        first, last = model[0], model[2]
        first.register_forward_pre_hook(note("forward pre", 2.0))
        first.register_forward_hook(note("forward"))
        first.register_forward_hook(note("forward first", 0.5), prepend=True)
        last.register_full_backward_pre_hook(note("backward pre", 3.0))
        first.register_full_backward_hook(lambda module, grads_in, grads_out: note("backward", 0.1)(module, grads_in))
        removed = last.register_forward_hook(note("removed"))
        removed.remove()
        last.register_forward_hook(
            lambda module, args, kwargs, out: seen.append(("keywords", [out * 1])), with_kwargs=True, always_call=True
        )
        model(x).sum().backward()
        return [len(seen), [values for _, values in seen], gradients(model, x)], [name for name, _ in seen]

    (ours, our_order), (theirs, their_order) = run(device), run("cpu")
    assert our_order == their_order
    assert_same(ours, theirs)


def test_global_module_hooks(device) -> None:
    def run(device: str) -> list:
        seen, model = [], network(device)
        with contextlib.ExitStack() as stack:
            for handle in (
                torch.nn.modules.module.register_module_forward_hook(lambda module, args, out: seen.append(out.sum())),
                torch.nn.modules.module.register_module_full_backward_hook(
                    lambda module, grads_in, grads_out: seen.append(grads_out[0].sum())
                ),
            ):
                stack.callback(handle.remove)
            model(leaf(device)).square().sum().backward()
        return seen

    assert_same(run(device), run("cpu"))


def test_state_dict_hooks(device) -> None:
    def run(device: str) -> dict:
        model = network(device)
        model.register_state_dict_post_hook(
            lambda module, state, prefix, metadata: state.update({key: value * 2 for key, value in state.items()})
        )
        other = network(device)
        other.register_load_state_dict_pre_hook(lambda module, state, *rest: state.update({"2.bias": state["0.bias"]}))
        other.load_state_dict(model.state_dict())
        return dict(other.state_dict())

    assert_same(run(device), run("cpu"))


# Tensors


def test_tensor_hooks(device) -> None:
    def run(device: str) -> list:
        x, seen = leaf(device), []
        y = x.sin()
        y.retain_grad()
        y.register_hook(lambda gradient: seen.append(gradient.clone()))  # returns None: changes nothing
        y.register_hook(lambda gradient: gradient * 2)
        removed = y.register_hook(lambda gradient: gradient * 100)
        removed.remove()
        x.register_hook(lambda gradient: gradient.clamp(max=0.5))
        (y * y).sum().backward()
        return [seen, x.grad, y.grad]

    assert_same(run(device), run("cpu"))


def test_post_accumulate_hooks(device) -> None:
    """An optimizer in the backward pass: every parameter is stepped and its gradient freed as soon as it is there."""

    def run(device: str) -> list:
        model, order = network(device), []
        optimizers = {p: torch.optim.SGD([p], lr=0.1, momentum=0.9) for p in model.parameters()}
        indices = {p: index for index, p in enumerate(model.parameters())}

        def step(parameter: torch.Tensor) -> None:
            order.append(indices[parameter])
            optimizers[parameter].step()
            optimizers[parameter].zero_grad()

        for parameter in model.parameters():
            parameter.register_post_accumulate_grad_hook(step)
        for _ in range(2):
            model(leaf(device)).square().sum().backward()
        assert all(parameter.grad is None for parameter in model.parameters())
        return [sorted(order), *model.parameters()]

    assert_same(run(device), run("cpu"))


@pytest.mark.parametrize("mode", ["all", "any"])
def test_hook_of_several_gradients(device, mode) -> None:
    def run(device: str) -> list:
        x, y, seen = leaf(device), leaf(device), []
        graph.register_multi_grad_hook((x, y), lambda gradients: seen.append(gradients), mode=mode)
        (x.sin().sum() + y.cos().sum()).backward()
        # Either may be first where any of them will do.
        return [len(seen), seen if mode == "all" else []]

    assert_same(run(device), run("cpu"))


def test_hooks_of_nodes(device) -> None:
    def run(device: str) -> list:
        x, seen = leaf(device), []
        y = x.exp()
        y.grad_fn.register_prehook(lambda grads: (grads[0] * 2,))
        y.grad_fn.register_hook(lambda grads_in, grads_out: seen.extend([*grads_in, *grads_out]))
        edge = graph.get_gradient_edge(y)
        z = y.sin().sum()
        through = torch.autograd.grad(z, edge, retain_graph=True)
        z.backward()
        return [seen, x.grad, *through]

    assert_same(run(device), run("cpu"))


def test_an_error_in_a_hook_reaches_the_caller(device) -> None:
    """And the engine goes on: the next backward is right."""

    def run(device: str) -> None:
        def hook(gradient: torch.Tensor) -> None:
            raise ValueError(f"gradient of {gradient.sum().item():.0f}")

        x = leaf(device)
        x.register_hook(hook)
        x.sum().backward()

    assert_same_error(device, run)
    assert_same_error(device, lambda d: (lambda x: x.register_hook(lambda g: g[:1]) and x.sum().backward())(leaf(d)))
    x = leaf(device)
    x.exp().sum().backward()
    assert_same(x.grad, leaf("cpu").exp())


def test_a_hook_differentiates(device) -> None:
    """Backward within backward, on the thread that autograd gives the device."""

    def run(device: str) -> list:
        x, inner = leaf(device), []

        def hook(gradient: torch.Tensor) -> torch.Tensor:
            with torch.enable_grad():
                y = leaf(device)
                (y.exp() * gradient).sum().backward()
            inner.append(y.grad)
            return y.grad

        y = x.sin()
        y.register_hook(hook)
        y.square().sum().backward()
        return [inner, x.grad]

    assert_same(run(device), run("cpu"))


def test_hooks_run_on_the_device(device) -> None:
    """What is made in a hook without saying where belongs to the device that the caller chose."""
    seen = []
    x = leaf(device)
    x.register_hook(lambda gradient: seen.append((gradient.device, torch.ones(1, device=DEVICE).device)))
    x.sum().backward()
    assert seen == [(x.device, x.device)]

"""The miss path: a call that no cached program serves is traced and lowered here, once (design section 1, step 4).

The extension calls `trace` and `second_look`; both run below autograd, with the caller's modes off.
"""

import sys
import warnings
from typing import Any

import torch
from torchtpu.miss.jax_setup import claim, tracing  # first: it decides where JAX runs

import jax  # noqa: E402  isort:skip

from torchtpu.miss import meta, narrowed, words
from torchtpu.miss.call import Call, parse
from torchtpu.miss.errors import LoweringError
from torchtpu.miss.lower import compile_options, to_artifact
from torchtpu.miss.program import Layout, NeedsResize, Program, _contiguous_strides

_PRECISIONS = {"highest": "highest", "high": "high", "medium": "default"}


def trace(request: dict[str, Any]) -> dict[str, Any]:
    """Makes the program of a call: see csrc/python/miss_bridge.cpp for the request and the reply."""
    try:
        with torch._C.DisableTorchFunction():
            return _answer(parse(request))
    except narrowed.OutsideDtypes as outside:
        return {"cpu": str(outside)}
    finally:
        request["args"].clear()
        request["uses"].clear()


def _answer(call: Call) -> dict[str, Any]:
    claim(call.platform)
    narrowed.check(call)
    promised = _meta(call)
    if promised and promised.resized:
        return {"resizes": [(use, sizes, strides) for use, (sizes, strides) in promised.resized.items()]}
    precision = call.entry.precision
    if precision == "torch":
        precision = _PRECISIONS[torch.get_float32_matmul_precision()]
    with tracing(precision):
        return _lower(call, promised)


def second_look(overload: str, entry: str, args: list[Any]) -> None:
    """Runs a call on the CPU, whose exception is what the user is to see."""
    with torch._C.DisableTorchFunction():
        meta.look_at_cpu(overload, entry, args)


def _meta(call: Call) -> meta.Meta | None:
    if call.entry.meta != "jax":
        try:
            return meta.run(call)
        except meta.NoMeta:
            pass
    meta.ask_the_cpu(call)
    return None


def _lower(call: Call, promised: meta.Meta | None) -> dict[str, Any]:
    try:
        return _trace(Program(call, promised))
    except NeedsResize as resize:
        return {"resizes": [(use, s, _contiguous_strides(s)) for use, s in resize.sizes.items()]}
    except (NotImplementedError, narrowed.OutsideDtypes):
        raise
    except LoweringError:
        # A result that is not the promised one is a dtype that only the kernel refuses, or else a fault of ours.
        meta.look_at_cpu(call.overload, call.entry.name, call.args)
        raise
    except Exception as error:
        # Some arguments only kernels refuse, and meta has none.
        meta.look_at_cpu(call.overload, call.entry.name, call.args)
        raise LoweringError(call, f"it raised {type(error).__name__}: {error}") from error


def _trace(program: Program) -> dict[str, Any]:
    storages, has_words = program.storages, program.num_words > 0
    traced, layout = _trace_with(program, storages, has_words)
    used = _used_inputs(traced)
    if not all(used):
        # What the program does not read is not passed: an output that is written as a whole, words of an offset.
        has_words = has_words and used[0]
        storages = [storage for storage, needed in zip(storages, used[program.num_words > 0 :]) if needed]
        traced, layout = _trace_with(program, storages, has_words)
    call = program.call
    return {
        "origin": _origin(),
        "stablehlo": to_artifact(traced, call.platform, call.stablehlo_version),
        "options": compile_options(call.portable),
        "has_words": has_words,
        "seeded": call.entry.rng,
        "data_sizes": call.entry.data_sizes,
        "numbers": list(program.formats.items()),
        "operands": [(storage, storage in layout.stored) for storage in storages],
        "outputs": layout.outputs,
        "results": layout.results,
        "copies": layout.copies,
    }


def _origin() -> str:
    """file:line of the caller's Python; empty on threads that run none, such as those of backward."""
    frame = sys._getframe()
    while frame and frame.f_globals.get("__name__", "").split(".")[0] in ("torch", "torchtpu"):
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame else ""


def _trace_with(program: Program, storages: list[int], has_words: bool) -> tuple[Any, Layout]:
    layout = Layout()
    specs = [words.spec(program.num_words)] if has_words else []
    specs += [program.spec(storage) for storage in storages]

    def fn(*arrays):
        given = list(arrays)
        operand_words = given.pop(0) if has_words else None
        layout.__init__()  # JAX may trace more than once
        return program.function(layout, operand_words, dict(zip(storages, given)))

    first = jax.jit(fn, keep_unused=True).trace(*specs)
    donated = [has_words + i for i, storage in enumerate(storages) if storage in layout.stored]
    if not donated:
        return first, layout
    return jax.jit(fn, keep_unused=True, donate_argnums=donated).trace(*specs), layout


def _used_inputs(traced: Any) -> list[bool]:
    jaxpr = traced.jaxpr.jaxpr
    read = {id(atom) for equation in jaxpr.eqns for atom in equation.invars} | {id(atom) for atom in jaxpr.outvars}
    return [id(variable) in read for variable in jaxpr.invars]

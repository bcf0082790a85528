"""Random view operations for hypothesis: what PyTorch allows on a tensor of a given shape."""

from collections.abc import Callable

import torch
from hypothesis import strategies as st

View = Callable[[torch.Tensor], torch.Tensor]

# Few shapes, so that programs repeat and compiling stays affordable.
SHAPES = ((8,), (4, 6), (2, 3, 4), (6, 1, 4), ())


def _select(draw, t):
    dim = draw(st.integers(-t.ndim, t.ndim - 1))
    index = draw(st.integers(-t.shape[dim], t.shape[dim] - 1))
    return lambda x: x.select(dim, index)


def _slice(draw, t):
    dim = draw(st.integers(0, t.ndim - 1))
    start, stop, step = draw(st.integers(0, t.shape[dim])), draw(st.integers(0, t.shape[dim])), draw(st.integers(1, 3))
    return lambda x: x[(slice(None),) * dim + (slice(start, stop, step),)]


def _transpose(draw, t):
    first, second = draw(st.integers(0, t.ndim - 1)), draw(st.integers(0, t.ndim - 1))
    return lambda x: x.transpose(first, second)


def _permute(draw, t):
    order = draw(st.permutations(range(t.ndim)))
    return lambda x: x.permute(order)


def _movedim(draw, t):
    source, target = draw(st.integers(0, t.ndim - 1)), draw(st.integers(0, t.ndim - 1))
    return lambda x: x.movedim(source, target)


def _unsqueeze(draw, t):
    dim = draw(st.integers(0, t.ndim))
    return lambda x: x.unsqueeze(dim)


def _squeeze(draw, t):
    return lambda x: x.squeeze()


def _expand(draw, t):
    sizes = [draw(st.sampled_from([1, 3])) if size == 1 else -1 for size in t.shape]
    return lambda x: x.expand(2, *sizes)


def _flatten(draw, t):
    return lambda x: x.view(-1)


def _unflatten(draw, t):
    divisor = draw(st.sampled_from([d for d in (1, 2, 3, 4) if t.numel() % d == 0]))
    return lambda x: x.view(divisor, t.numel() // divisor)


def _as_strided(draw, t):
    room = t.untyped_storage().nbytes() // t.element_size()
    sizes = draw(st.sampled_from([(2,), (2, 2), (3, 2)]))
    strides = tuple(draw(st.integers(0, 3)) for _ in sizes)
    reach = sum((size - 1) * stride for size, stride in zip(sizes, strides))
    offset = draw(st.integers(0, max(room - reach - 1, 0)))
    return lambda x: x.as_strided(sizes, strides, offset)


def _diagonal(draw, t):
    offset = draw(st.integers(-1, 1))
    return lambda x: x.diagonal(offset, 0, 1)


def _unfold(draw, t):
    dim = draw(st.integers(0, t.ndim - 1))
    size, step = draw(st.integers(1, t.shape[dim])), draw(st.integers(1, 2))
    return lambda x: x.unfold(dim, size, step)


def _chunk(draw, t):
    dim = draw(st.integers(0, t.ndim - 1))
    return lambda x: x.chunk(2, dim)[-1]


def _narrower_dtype(draw, t):
    return lambda x: x.view(torch.int16)


def _other_dtype(draw, t):
    return lambda x: x.view(torch.int32)


def _complex_parts(draw, t):
    return lambda x: torch.view_as_real(x)


def _any(t: torch.Tensor) -> bool:
    return True


def _has_dims(t: torch.Tensor) -> bool:
    return t.ndim > 0


def _has_rows(t: torch.Tensor) -> bool:
    return t.ndim > 0 and t.numel() > 0


# (what draws it, where it applies)
_VIEWS = (
    (_select, _has_rows),
    (_slice, _has_rows),
    (_transpose, _has_dims),
    (_permute, _has_dims),
    (_movedim, _has_dims),
    (_unsqueeze, lambda t: t.ndim < 4),
    (_squeeze, _any),
    (_expand, lambda t: t.ndim < 4),
    (_flatten, lambda t: t.is_contiguous()),
    (_unflatten, lambda t: t.is_contiguous() and t.numel() > 0),
    (_as_strided, lambda t: t.untyped_storage().nbytes() // t.element_size() >= 8 and t.ndim > 0),
    (_diagonal, lambda t: t.ndim >= 2),
    (_unfold, _has_rows),
    (_chunk, _has_rows),
    (_narrower_dtype, lambda t: t.dtype in (torch.float32, torch.complex32) and t.is_contiguous() and t.ndim > 0 and t.shape[-1] > 1 and t.numel() > 0),
    (_other_dtype, lambda t: t.dtype in (torch.float32, torch.complex32)),
    (_complex_parts, lambda t: t.is_complex() and not t.is_conj()),
)


_BITS = (_narrower_dtype, _other_dtype)


def draw_view(draw, tensor: torch.Tensor, *, bits: bool = True) -> View:
    """A view operation that applies to `tensor`, with its arguments chosen. bits: also ones that show how numbers are held."""
    applicable = [make for make, applies in _VIEWS if applies(tensor) and (bits or make not in _BITS)]
    make = draw(st.sampled_from(applicable))
    return make(draw, tensor)

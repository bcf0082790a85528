"""What is determined of results that are not: the signs of vectors, a basis of a space, the order of eigenvalues.

For an entry with `tests: {check: invariants}` the tests compare what its function here makes of (results, *arguments).
"""

import dataclasses
from collections.abc import Callable
from typing import Any

import torch

from tests.ops.calls import Call


@dataclasses.dataclass(frozen=True)
class Determined:
    """`op` as a function that returns what is determined of its results."""

    entry: str
    op: Callable

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return of(self.entry, self.op(*args, **kwargs), *args, **kwargs)


def of(entry: str, results: Any, *args: Any, **kwargs: Any) -> Any:
    return _FUNCTIONS[entry](results, *args, **kwargs)


def determined(entry: str, call: Call) -> Call:
    return dataclasses.replace(call, op=Determined(entry, call.op))


def _strides(results: Any) -> list[tuple[int, ...]]:
    return [result.stride() for result in results if result.numel()]


def _gram(columns: torch.Tensor) -> torch.Tensor:
    return columns.mH @ columns


def _eigh(results: Any, *args: Any, **kwargs: Any) -> Any:
    values, vectors = results
    if vectors.ndim < 2:
        return values, vectors
    return values, (vectors * values.unsqueeze(-2)) @ vectors.mH, _gram(vectors), _strides(results)


def _svd(results: Any, *args: Any, **kwargs: Any) -> Any:
    U, S, Vh = results
    if U.ndim < 2:
        return U, S, Vh
    k = S.shape[-1]
    return S, (U[..., :k] * S.unsqueeze(-2)) @ Vh[..., :k, :], _gram(U), _gram(Vh.mH), _strides(results)


def _sums(values: torch.Tensor) -> list[torch.Tensor]:
    """The sums of their powers, which determine them up to their order."""
    return [values.sum(-1), (values * values).sum(-1), (values * values * values).sum(-1)]


def _eig(results: Any, matrix: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    values, vectors = results
    return _sums(values), matrix.to(vectors.dtype) @ vectors - vectors * values.unsqueeze(-2), _strides(results)


def _eigvals(results: torch.Tensor, *args: Any, **kwargs: Any) -> Any:
    return _sums(results)


def _qr(results: Any, *args: Any, **kwargs: Any) -> Any:
    Q, R = results
    return (_gram(R), R.tril(-1), _strides(results), *([] if Q.ndim < 2 else [Q @ R, _gram(Q)]))


def _geqrf(results: Any, *args: Any, **kwargs: Any) -> Any:
    reflectors, tau = results
    R = reflectors.triu()[..., : tau.shape[-1], :]
    Q = torch.linalg.householder_product(reflectors[..., : tau.shape[-1]], tau)
    return _gram(R), Q @ R, _strides(results)


def _lstsq(results: Any, *args: Any, **kwargs: Any) -> Any:
    """All of them but their strides: the CPU's solution is a part of a copy of the right-hand side."""
    return results


_FUNCTIONS = {
    "_linalg_eigh": _eigh,
    "_linalg_eigvals": _eigvals,
    "_linalg_svd": _svd,
    "geqrf": _geqrf,
    "linalg_eig": _eig,
    "linalg_eigvals": _eigvals,
    "linalg_lstsq": _lstsq,
    "linalg_qr": _qr,
}

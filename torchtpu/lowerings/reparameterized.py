"""How numbers drawn from gamma and beta distributions move with the parameters: -(d cdf / d alpha) / density.

torch has approximations for it, chosen by region, and so do we; see Figurnov, Mohamed and Mnih, 2018. Where torch
computes in float64 to survive a cancellation, the terms that cancel are left out.
"""

import math

import jax.numpy as jnp
from jax import Array

from torchtpu.lowerings.gamma import digamma
from torchtpu.lowerings.incomplete_gamma import deviation
from torchtpu.lowerings.opmath import opmath
from torchtpu.lowerings.promotion import where
from torchtpu.lowerings.series import polynomial

# Powers of u = log(x / alpha) by row, of v = log(alpha) by column, above and below.
_GAMMA = (
    ((0.16009398, -0.094634809, 0.025146376, -0.0030648343), (1.0, 0.32668115, 0.10406089, 0.0014179084)),
    ((0.53487893, 0.1298071, 0.065735949, -0.0015649758), (0.16639465, 0.020070113, -0.0035938915, -0.00058392623)),
    (
        (0.040121004, -0.0065914022, -0.0026286047, -0.0013441777),
        (0.017050642, -0.0021309326, 0.00085092367, -1.5247877e-07),
    ),
)
# Powers of u, of a and of b, above and below.
_BETA = (
    (
        (
            (1.003668233, -0.01061107488, -0.0657888334, 0.01201642863),
            (0.6336835991, -0.3557432599, 0.05486251648, -0.001465281033),
            (-0.03276231906, 0.004474107445, 0.002429354597, -0.0001557569013),
        ),
        (
            (0.221950385, -0.3187676331, 0.01799915743, 0.01074823814),
            (-0.2951249643, 0.06219954479, 0.01535556598, 0.001550077057),
            (0.02155310298, 0.004170831599, 0.001292462449, 6.976601077e-05),
        ),
        (
            (-0.05980841433, 0.008441916499, 0.01085618172, 0.002319392565),
            (0.02911413504, 0.01400243777, -0.002721828457, 0.000751041181),
            (0.005900514878, -0.001936558688, -9.495446725e-06, 5.385558597e-05),
        ),
    ),
    (
        (
            (1.0, -0.02924021934, -0.04438342661, 0.007285809825),
            (0.6357567472, -0.3473456711, 0.05454656494, -0.002407477521),
            (-0.03301322327, 0.004845219414, 0.00231480583, -0.0002307248149),
        ),
        (
            (0.5925320577, -0.1757678135, 0.01505928619, 0.000564515273),
            (0.1014815858, -0.06589186703, 0.01272886114, -0.0007316646956),
            (-0.007258481865, 0.001096195486, 0.0003934994223, -4.12701925e-05),
        ),
        (
            (0.06469649321, -0.0236701437, 0.002902096474, -5.896963079e-05),
            (0.001925008108, -0.002869809258, 0.0008000589141, -6.063713228e-05),
            (-0.0003477407336, 6.959756487e-05, 1.097287507e-05, -1.650964693e-06),
        ),
    ),
)


def standard_gamma_grad(self: Array, output: Array) -> Array:
    alpha, x = jnp.broadcast_arrays(opmath(self), opmath(output))
    value = where(alpha > 8, _gamma_large(alpha, x), _gamma_middle(alpha, x))
    return where(x < 0.8, _gamma_small(alpha, x), value).astype(self.dtype)


def _gamma_small(alpha: Array, x: Array) -> Array:
    """A Taylor series in x. With digamma(1 + alpha) in place of digamma(alpha), nothing of size 1 / alpha^2 cancels."""
    factor = jnp.log(x) - digamma(1 + alpha)
    numerator, total = jnp.ones_like(x), factor / alpha
    for i in range(1, 6):
        numerator = numerator * (-x / i)
        total = total + numerator * (factor / (alpha + i) + i / (alpha * (alpha + i) * (alpha + i)))
    return _or_zero(-x * jnp.exp(x) * total)


def _gamma_large(alpha: Array, x: Array) -> Array:
    """Rice's saddle point expansion."""
    above = 1440 * alpha * alpha + 6 * x * (53 - 120 * x) - 65 * x * x / alpha + alpha * (107 + 3600 * x)
    square = alpha * alpha
    near = (1 + 24 * alpha * (1 + 12 * alpha)) / square * (above / square) / 1244160
    root, missing = jnp.sqrt(8 * alpha), alpha - x
    power = (alpha * deviation(alpha, x)) ** -1.5
    terms = root / missing + where(x < alpha, -power, power)
    first = jnp.log(x / alpha) * terms - jnp.sqrt(2 / alpha) * (alpha + x) / (missing * missing)
    far = -(1 + 1 / (12 * alpha) * (1 + 1 / (24 * alpha))) * x * first / root
    return where((0.9 * alpha <= x) & (x <= 1.1 * alpha), near, far)


def _gamma_middle(alpha: Array, x: Array) -> Array:
    """A rational approximation to the logarithm."""
    u, v = jnp.log(x / alpha), jnp.log(alpha)
    above, below = (
        polynomial([polynomial([row[side][k] for row in reversed(_GAMMA)], u) for k in reversed(range(4))], v)
        for side in (0, 1)
    )
    return jnp.exp(above / below)


def dirichlet_grad(x: Array, alpha: Array, total: Array) -> Array:
    """Of a beta distribution of alpha and total - alpha, divided by 1 - x."""
    dtype = x.dtype
    x, alpha, total = jnp.broadcast_arrays(opmath(x), opmath(alpha), opmath(total))
    beta = total - alpha
    boundary = total * x * (1 - x)
    value = where((alpha > 6) & (beta > 6), _beta_large(x, alpha, beta), _beta_middle(x, alpha, total))
    value = where((x >= 0.5) & (boundary < 0.75), -_beta_small(1 - x, beta, alpha), value)
    return where((x <= 0.5) & (boundary < 2.5), _alpha_small(x, alpha, beta), value).astype(dtype)


def _alpha_small(x: Array, alpha: Array, beta: Array) -> Array:
    """A Taylor series in x, without what cancels for a small alpha: see _gamma_small."""
    factor = digamma(1 + alpha) - digamma(alpha + beta) - jnp.log(x)
    numerator, series = jnp.ones_like(x), factor / alpha
    for i in range(1, 11):
        numerator = numerator * ((i - beta) * x / i)
        series = series + numerator / (alpha + i) * (factor - i / (alpha * (alpha + i)))
    return _or_zero(x * (1 - x) ** -beta * series)


def _beta_small(x: Array, alpha: Array, beta: Array) -> Array:
    """The derivative with respect to beta, by a Taylor series in x."""
    factor = digamma(alpha + beta) - digamma(beta)
    numerator, products, slopes, series = jnp.ones_like(x), jnp.ones_like(x), jnp.zeros_like(x), factor / alpha
    for i in range(1, 9):
        numerator = numerator * (-x / i)
        slopes = slopes * (beta - i) + products
        products = products * (beta - i)
        series = series + numerator / (alpha + i) * (slopes + factor * products)
    return _or_zero(-((1 - x) ** (1 - beta)) * series)


def _beta_large(x: Array, alpha: Array, beta: Array) -> Array:
    """Rice's saddle point expansion; a polynomial around the mean, where it is singular."""
    total = alpha + beta
    mean = alpha / total
    deviates = x - mean
    spread = jnp.sqrt(alpha * beta / (total + 1)) / total
    part, rest = alpha / beta, 1 - x
    coefficients = [
        8 * rest * (135 - 11 / beta),
        (453 - 455 * x) / beta + 1620 * rest,
        3 * (59 - 90 * x) / beta + 540,
        (43 + 320 * x) / beta + 540 * x,
        47 * x / beta,
    ]
    scale = (12 + 1 / alpha) * (12 + 1 / beta) / (12 + 1 / total) * (beta / total) ** 3 / (part * alpha)
    near = scale * polynomial(coefficients, part) / (12960 * rest)
    stirling = _stirling(alpha) * _stirling(beta) / _stirling(total)
    first = -(2 * part * rest + rest + x / part) * mean * (1 - mean)
    first = first / (jnp.sqrt(2 * part * total) * total * deviates * deviates)
    second = -0.5 * jnp.log(x / mean)
    third = jnp.sqrt(8 * alpha * beta / total) / (total * deviates)
    fourth = (alpha * deviation(mean, x) + beta * deviation(1 - mean, rest)) ** -1.5
    terms = first + second * (third + where(deviates < 0, fourth, -fourth))
    far = -stirling * x / jnp.sqrt(2 * alpha * beta / total) * terms
    return where(jnp.abs(deviates) <= 0.1 * spread, near, far)


def _stirling(x: Array) -> Array:
    return 1 + 1 / (12 * x) + 1 / (288 * x * x)


def _beta_middle(x: Array, alpha: Array, total: Array) -> Array:
    """A rational correction of an analytic approximation."""
    u = jnp.log(x)
    a = jnp.log(alpha) - u
    b = jnp.log(total) - a
    above, below = (
        polynomial([polynomial([polynomial(c[::-1], b) for c in reversed(by_a)], a) for by_a in reversed(side)], u)
        for side in _BETA
    )
    return above / below * x * (digamma(total) - digamma(alpha)) / (total - alpha)


def _or_zero(value: Array) -> Array:
    return where(jnp.isnan(value), 0, value)

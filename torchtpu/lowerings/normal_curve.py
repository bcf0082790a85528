"""The integral of the normal curve, in forms that keep their digits where erf and erfc have none left."""

import math

import jax.numpy as jnp
from jax import Array, lax

from torchtpu.lowerings.promotion import where
from torchtpu.lowerings.series import ratio

# Cody's rational approximations (1969): to erf(x) / x up to 15/32, and to exp(x^2) erfc(x) up to 4 and beyond.
_ERF = (
    1.85777706184603153e-1,
    3.16112374387056560e0,
    1.13864154151050156e2,
    3.77485237685302021e2,
    3.20937758913846947e3,
)
_ERF_BELOW = (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3)
_MIDDLE = (
    2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1, 2.98635138197400131e2,
    8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3, 1.23033935479799725e3,
)  # fmt: skip
_MIDDLE_BELOW = (
    1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
    3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3,
)  # fmt: skip
_FAR = (
    1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
    1.60837851487422766e-2, 6.58749161529837803e-4,
)  # fmt: skip
_FAR_BELOW = (
    1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1, 6.05183413124413191e-2,
    2.33520497626869185e-3,
)  # fmt: skip

# Cephes' approximations to the inverse: around 1/2, and with z = sqrt(-2 log y) from 2 to 8 and beyond.
_CENTRE = (
    -5.99633501014107895267e1, 9.80010754185999661536e1, -5.66762857469070293439e1, 1.39312609387279679503e1,
    -1.23916583867381258016e0,
)  # fmt: skip
_CENTRE_BELOW = (
    1.0, 1.95448858338141759834e0, 4.67627912898881538453e0, 8.63602421390890590575e1, -2.25462687854119370527e2,
    2.00260212380060660359e2, -8.20372256168333339912e1, 1.59056225126211695515e1, -1.18331621121330003142e0,
)  # fmt: skip
_TAIL = (
    4.05544892305962419923e0, 3.15251094599893866154e1, 5.71628192246421288162e1, 4.40805073893200834700e1,
    1.46849561928858024014e1, 2.18663306850790267539e0, -1.40256079171354495875e-1, -3.50424626827848203418e-2,
    -8.57456785154685413611e-4,
)  # fmt: skip
_TAIL_BELOW = (
    1.0, 1.57799883256466749731e1, 4.53907635128879210584e1, 4.13172038254672030440e1, 1.50425385692907503408e1,
    2.50464946208309415979e0, -1.42182922854787788574e-1, -3.80806407691578277194e-2, -9.33259480895457427372e-4,
)  # fmt: skip
_FAR_TAIL = (
    3.23774891776946035970e0, 6.91522889068984211695e0, 3.93881025292474443415e0, 1.33303460815807542389e0,
    2.01485389549179081538e-1, 1.23716634817820021358e-2, 3.01581553508235416007e-4, 2.65806974686737550832e-6,
    6.23974539184983293730e-9,
)  # fmt: skip
_FAR_TAIL_BELOW = (
    1.0, 6.02427039364742014255e0, 3.67983563856160859403e0, 1.37702099489081330271e0, 2.16236993594496635890e-1,
    1.34204006088543189037e-2, 3.28014464682127739104e-4, 2.89247864745380683936e-6, 6.79019408009981274425e-9,
)  # fmt: skip


def erfcx(self: Array) -> Array:
    """exp(x^2) erfc(x)."""
    x = jnp.abs(self)
    square = x * x
    near = jnp.exp(square) * (1 - x * ratio(_ERF, _ERF_BELOW, square))
    inverse = where(x > 4, 1 / square, 1)
    far = (1 / math.sqrt(math.pi) - inverse * ratio(_FAR, _FAR_BELOW, inverse)) / x
    positive = where(x <= 0.46875, near, where(x <= 4, ratio(_MIDDLE, _MIDDLE_BELOW, jnp.minimum(x, 4)), far))
    return where(self < 0, 2 * jnp.exp(square) - positive, positive)


def log_ndtr(self: Array) -> Array:
    """The logarithm of the share of a normal distribution that is below x."""
    x = self * math.sqrt(0.5)
    # The result is negative where x is not: whatever is large there is not looked at.
    below = jnp.log(erfcx(jnp.maximum(-x, 0)) / 2) - x * x
    return where(self < -1, below, jnp.log1p(-lax.erfc(x) / 2))


def ndtri(self: Array) -> Array:
    """The number below which the share `self` of a normal distribution is."""
    small = math.exp(-2)
    above = self > 1 - small
    share = where(above, 1 - self, self)
    shifted = share - 0.5
    square = shifted * shifted
    centre = math.sqrt(2 * math.pi) * (shifted + shifted * (square * ratio(_CENTRE, _CENTRE_BELOW, square)))
    root = jnp.sqrt(-2 * jnp.log(where(share > 0, share, 0.5)))
    z = 1 / root
    far = z * where(root < 8, ratio(_TAIL, _TAIL_BELOW, z), ratio(_FAR_TAIL, _FAR_TAIL_BELOW, z))
    tail = root - jnp.log(root) / root - far
    value = where(share > small, centre, where(above, tail, -tail))
    value = where(self == 0, -jnp.inf, where(self == 1, jnp.inf, value))
    return where((self >= 0) & (self <= 1), value, jnp.nan)

r"""What the sampling error of a covariance rests on: squares of products that are bought, or what is supposed of tails.

*Squares of products* are bought so that the sampling error is known.

With p and q the numbers in their half ranges and m and k their means, the sampling variance of a covariance c is, over n, that of
:math:`(p-m)(q-k)`: less c² it is the mean of

.. math:: (p-m)^2(q-k)^2 = p^2q^2 - 2k\,p^2q - 2m\,pq^2 + k^2p^2 + m^2q^2 + 4mk\,pq - 2mk^2p - 2m^2k\,q + m^2k^2,

and of these three sums are not among the moments of two numbers: of :math:`p^2q^2, p^2q` and :math:`pq^2`. They are bought with equal noise in
their own units, beside the joint vector.

*Where they count.* With σ the standard deviation of what was bought about, half of σ is added, as for a variance
(:mod:`dpnb.statistics.variance_powers`), where σ is at most half of what would be supposed without (:func:`~dpnb.statistics.pair_spread.likely_products`);
otherwise that is supposed. The choice depends on the noise, not on what it hides.

*How much is paid for them* follows the number of rows n, public or as named (``about=``), else taken to be 2,000: below n ε = 5,000 the noise on the covariance
is what makes its interval wide, and nothing is bought; from 10,000 on it is a fifth of ε, and 10,000/(n ε) from 50,000 on, never less than a fiftieth.
In ρ, where noise grows with the root of what is bought beside it, a seventh suffices, from n√(2ρ) = 1,000 on. So at n ε = 10,000 two unrelated skewed
columns (beta laws, c .56) have intervals 1.08 times as wide as who knew how products vary would need at the same noise, where they had 1.27,
and 1.02 at 100,000. Rows of one person are alike, and no confidence interval follows: nothing is bought. Nor where ``tails=`` says what to suppose.

*What is supposed of the tails* of two columns where nothing is bought. With u and v the columns in their standard deviations the sampling variance of r is, in large samples,
:math:`E[(uv - r(u^2+v^2)/2)^2]/n`, and that of the covariance :math:`(E[u^2v^2] - r^2)/n`; of bivariate normal columns these are
:math:`(1-r^2)^2/n` and :math:`(1+r^2)/n`, and of columns without a connection 1/n both. How much larger they may be is an assumption, named
beside the interval. *Skewed columns*: one whose mean lies near a bound for its spread is skewed, and its products vary more. With c the
standard deviation over the distance from the mean to the nearer bound, a gamma column of these has a fourth moment of :math:`3+6c^2`, and
:math:`1+2c^2` is the product with an independent square whose variance grows with it. So a covariance is supposed to vary by
:math:`(1+2c^2)+r^2(1+4c^2)`, in both standard deviations, where that is more and no other tails= is asked; c is at most 1, and 0 for a column
of two values. Skewed by a log-normal law (c .75, r .66, unequal variances) the ratio is 2.6, and 95 % intervals covered 89 %
without this, 94 % with it. Of 229 pairs of columns in the built-in studies the ratios are 1.02 and 1.00 at the median, at most 1.65 and 1.38 for
95 % of them, and 3.7 and 5.2 for the worst (earnings in two years). With 1.5 an interval of 95 % covers at least 93.5 % up to a ratio of
1.69; beyond that it does not, and ``tails=4`` is there to be said. Fourth moments that would replace the assumption for a correlation
cost more than they save: nine further sums, whose noise at n ε = 10,000 exceeds what they measure.

*What an assumption costs.* Supposing T where the ratio is R makes an interval :math:`\sqrt{T/R}` times too wide where noise counts for nothing, and
leaves it at 93.5 % as long as R is at most 1.127 T. So normal columns have 1.22, and skewed ones whose products vary no more than theirs
:math:`\sqrt{1+2c^2}`: 1.27 at c .56. To be within 1.25 for R = 1, T may be 1.56 at most, and a ratio of 2.6, as the log-normal columns have, would
not be covered. So a covariance buys the squares of the products themselves where noise does not hide them (:mod:`dpnb.statistics.pair_spread`); where it does,
it is most of what makes the interval wide, and the assumption makes it 1.2 times too wide at most.

References
----------
Cramér, *Mathematical Methods of Statistics* (1946), 27.7, for the variance of a covariance.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

from dpnb.errors import OptionError
from dpnb.inference import NoiseSum
from dpnb.inference.elementwise import Number, choose, greater, lesser, root
from dpnb.inference.spread import MARGIN, UPPER
from dpnb.statistics._base import Centred, Pricing, Setting, Square, powered
from dpnb.statistics.noise import Summand, additive, unit_losses
from dpnb.statistics.released import Parts
from dpnb.trusted.aggregate.algebra import Mul
from dpnb.trusted.query.plan import Share

if TYPE_CHECKING:
    from dpnb.statistics.pair import Moments

NAMES = ("xxyy", "xxy", "xyy")
NOTE = "by the squares of products as released, and half a standard deviation of their noise, where that is clear"
_BITS = 12
_ROWS = 2000
_FEW, _SOME, _ENOUGH = Fraction(5000), Fraction(10_000), Fraction(10_000)
_FEW_RHO, _SOME_RHO, _ENOUGH_RHO = Fraction(1000), Fraction(2500), Fraction(1000)
_MOST, _MOST_RHO, _LEAST = Fraction(1, 5), Fraction(1, 7), Fraction(1, 50)
_CLEAR, _HIDDEN = 0.5, 0.25


def product_share(setting: Setting, share: Share) -> Fraction:
    """Return the part of the loss that squares of products are bought with; it is continuous, and what is left grows with the loss."""
    if setting.options["method"] != "joint" or setting.clustered or _told(setting):
        return Fraction(0)
    rows = _rows(setting)
    if share.kind == "epsilon":
        reach, few, some, enough, most = rows * share.amount, _FEW, _SOME, _ENOUGH, _MOST
    else:
        reach, enough, most = 2 * rows**2 * share.amount, _ENOUGH_RHO**2, _MOST_RHO
        few, some = _FEW_RHO**2, _SOME_RHO**2
    grown = min(Fraction(1), max(Fraction(0), (reach - few) / (some - few)))
    return min(most * grown, max(_LEAST, enough / reach))


def _told(setting: Setting) -> bool:
    """Tell whether nothing is left to buy: what to suppose was said, or every square is 1."""
    binary = setting.number().binary and setting.second().binary
    return binary or tails_of(setting.options["tails"]) != TAILS


def _rows(setting: Setting) -> int:
    if setting.public_n is not None:
        return setting.public_n
    return max(int(setting.options["about"] or _ROWS) // setting.cells, 1)


def _squares(x: Centred, y: Centred) -> dict[str, tuple[Square, float]]:
    """Return each product on a grid of its own, and how much of the box one of its steps is."""
    (low, a), (high, b) = ((side.coarse(_BITS), side) for side in (x, y))
    bits = [int(one.unit / side.unit).bit_length() - 1 for one, side in ((low, a), (high, b))]
    p, q, h, g = Mul(low.code, low.code), Mul(high.code, high.code), low.half, high.half
    made = {
        "xxyy": (Mul(p, q), h**2 * g**2, 2, 2),
        "xxy": (Mul(p, high.code), h**2 * g, 2, 1),
        "xyy": (Mul(low.code, q), h * g**2, 1, 2),
    }
    found = {}
    for name, (code, top, i, j) in made.items():
        square = powered(code, top, i * bits[0] + j * bits[1])
        found[name] = square, square.scale / (float(x.half) ** i * float(y.half) ** j)
    return found


_WORDS = {
    "xxyy": "squares of products",
    "xxy": "squares of the first by the second",
    "xyy": "the first by squares of the second",
}


def price_beside(setting: Setting, share: Share, sides: tuple[Centred, Centred], pricing: Pricing) -> Pricing:
    """Add squares of products, with noise that is equal in their own units, to the price of the moments."""
    found = {name: one for name, (one, _) in _squares(*sides).items()}
    requests = [setting.total(one.code) for one in found.values()]
    power = 1 if share.kind == "epsilon" else 2
    alone = unit_losses(setting, share.kind, requests)
    worth = [size / one.top**power for size, one in zip(alone, found.values(), strict=True)]
    parts = [
        Summand(name, request, f"{setting.subject}: {_WORDS[name]}, for the spread", one / sum(worth))
        for name, request, one in zip(found, requests, worth, strict=True)
    ]
    bought = additive(setting, share, parts)
    return Pricing(pricing.parts + bought.parts, pricing.rows + bought.rows)


@dataclass(frozen=True)
class Products:
    """Noised sums of products in the unit of the box, and the laws of their errors; of one cell, or of many as arrays."""

    sums: Mapping[str, Number]
    noise: Mapping[str, NoiseSum]

    @classmethod
    def of(cls, x: Centred, y: Centred, parts: Parts) -> Products | None:
        """Read the released parts; nothing where none were bought."""
        if "xxyy" not in parts:
            return None
        units = {name: unit for name, (_, unit) in _squares(x, y).items()}
        return cls(
            {name: parts[name].values * unit for name, unit in units.items()},
            {name: parts[name].noise.scaled(unit) for name, unit in units.items()},
        )

    def likely(self, moments: Moments, candidate: Number, supposed: Number) -> Number:
        """Return the likely variance of ``(p - m)(q - k)`` at a candidate covariance; what is supposed where noise hides it."""
        noise = root(self._noise(moments)) / moments.rows
        found = greater(self._mean(moments) - candidate**2, 0.0) + MARGIN * noise
        return choose(noise <= _CLEAR * supposed, found, supposed)

    def _mean(self, moments: Moments) -> Number:
        """The mean of ``(p - m)² (q - k)²``."""
        (m, k), one = moments.means, self.sums
        total = one["xxyy"] - 2 * k * one["xxy"] - 2 * m * one["xyy"]
        total = total + k**2 * moments.ss + m**2 * moments.tt + 4 * m * k * moments.st
        return total / moments.rows - 3 * m**2 * k**2

    def _noise(self, moments: Moments) -> Number:
        """Variance of the noise on the sum of these."""
        m, k = moments.means
        own, law = self.noise, moments.noise
        return (
            own["xxyy"].total_variance
            + 4 * (k**2 * own["xxy"].total_variance + m**2 * own["xyy"].total_variance)
            + k**4 * law["xx"].total_variance
            + m**4 * law["yy"].total_variance
            + 16 * m**2 * k**2 * law["xy"].total_variance
        )


TAILS = Fraction(3, 2)
"""How much larger than that of bivariate normal columns a sampling variance may be, unless said otherwise."""
_MOST_TAILS = 1000


def tails_of(asked: object) -> float:
    """Return tails= as it was asked, checked.

    Raises
    ------
    OptionError
        When it is no number from 1 on.
    """
    if (
        isinstance(asked, bool)
        or not isinstance(asked, int | float | Fraction)
        or not 1 <= asked <= _MOST_TAILS
    ):
        raise OptionError(
            f"tails= says how much larger than that of normal columns the sampling variance may be: a number from 1 to {_MOST_TAILS:,}."
        )
    return float(asked)


def lean(mean: Number, variance: Number, *, binary: Number) -> Number:
    """Return c² of a column in units of half its range: its variance over the squared distance of its mean to the nearer bound, at most 1."""
    return lesser(variance / greater((1 - abs(mean)) ** 2, 1e-12), 1.0) * (1.0 - binary)


def hides(noise: Number, variance: Number) -> Number:
    """Return whether the noise on a variance is more than a quarter of it."""
    return noise > _HIDDEN * variance


def upper_spread(variance: Number, noise: Number, mean: Number, margin: float = UPPER) -> Number:
    """Return the largest variance in units of half a range that the noise on it and the bounds leave likely."""
    return lesser(greater(variance, 0.0) + margin * noise, 1 - mean * mean)


def product_bound(means: Sequence[Number], spreads: Sequence[Number], covariance: Number) -> Number:
    """Return the largest variance of ``(p-m)(q-k)`` that the bounds and two variances allow."""
    (m, k), (a, b) = means, spreads
    return greater(lesser((1 + abs(m)) ** 2 * b, (1 + abs(k)) ** 2 * a) - covariance**2, 0.0)


def likely_products(both: Number, covariance: Number, tails: float, leans: Number) -> Number:
    """Return how much products of two columns are supposed to vary.

    Parameters
    ----------
    both : float or array
        The product of their variances.
    covariance : float or array
    tails : float
        How many times as much as those of normal columns.
    leans : float or array
        c² of the more skewed of the two; it counts where no other tails are asked.
    """
    normal = tails * (both + covariance**2)
    if tails != TAILS:
        return normal
    return greater(normal, both * (1 + 2 * leans) + covariance**2 * (1 + 4 * leans))


def fishers_note(tails: float) -> str:
    """Say what the confidence interval of a correlation supposes."""
    if tails == 1:
        return "Fisher's z with noise: assumes roughly bivariate normal columns"
    return f"Fisher's z with noise: assumes a sampling variance of at most {tails:g} times that of normal columns (tails=)"


def products_note(tails: float) -> str:
    """Say what the confidence interval of a covariance supposes."""
    skewed = ", or of gamma columns as near to a bound" if tails == TAILS else ""
    return f"assumes products of at most {tails:g} times the variance of normal columns' (tails=){skewed}, and of what the bounds allow"

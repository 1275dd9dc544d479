"""The mean of a cell as a ratio of released integers, and the exact test behind its intervals.

For a candidate mean ``m`` (in centred grid units) the residual ``S̃ - m ñ`` has no signal left but the noise, whose law is
known exactly, plus sampling error of variance ``n σ²``. A candidate is inside an interval where that test does not reject
it (Fieller's construction), so that coverage holds down to a handful of rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Literal

import numpy as np

from dpnb.errors import Unavailable
from dpnb.inference import NoiseSum, accepted, student_inflation
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import (
    Floats,
    Number,
    Truth,
    around,
    choose,
    greater,
    inside,
    lesser,
    raised,
    root,
)
from dpnb.inference.spread import likely_variance
from dpnb.statistics._base import Centred, Pricing, Setting
from dpnb.statistics.noise import Summand, additive, count_of
from dpnb.statistics.released import Parts, ReleasedParts
from dpnb.statistics.result import Pair
from dpnb.statistics.variance_powers import SpreadCentre
from dpnb.trusted.aggregate.algebra import Add, FloorDiv, Key, Lit
from dpnb.trusted.query.plan import Share

Form = Literal["public", "pair", "tally"]
Spread = Literal["known", "bought", "bound", "declined", "clustered"]

COUNT_SHARE = Fraction(2, 5)
"""Of the loss of sum and count: the least error of a mean that may lie anywhere in the bounds, where noise on the count counts a third."""
_PRIVATE_SHARE = Fraction(3, 16)
"""Of what the count leaves: a mean of a private number is no more than 1.1 times as noisy as from two halves of the loss without a spread."""
_SPREAD_SHARES = {
    "epsilon": (Fraction(9, 100), Fraction(2, 5)),
    "rho": (Fraction(17, 100), Fraction(1, 4)),
}
"""At least and at most, of a public number of rows."""

DECLINED = 'The spread was declined (ci=False), so sampling error is unknown. Ask with ci=True, or spread="bound" for free.'


CLUSTERED = (
    "One person may have several rows here, and rows of one person are alike, so an error computed from rows would be too small: "
    'no confidence interval. Use .interval(kind="privacy").'
)


EXACT_TESTS = {"privacy": "exact test of the noise", "confidence": "exact test of noise and sampling"}
"""How the intervals of a ratio are made."""
NO_SAMPLING = {"declined": DECLINED, "clustered": CLUSTERED}
"""Why the sampling error is unknown, by what is known of the spread."""


def spread_of(setting: Setting) -> Spread:
    """Return where the spread comes from: a two-valued column needs none; people with several rows have none."""
    if setting.clustered:
        return "clustered"
    if setting.number().binary:
        return "known"
    if not setting.options.get("ci", True):
        return "declined"
    return "bound" if setting.options.get("spread", "bought") == "bound" else "bought"


def form_of(setting: Setting, kind: str) -> Form:
    """Return what is released: a sum with a public count, a sum and a count, or the two tallies of a 0/1 column."""
    if setting.public_n is not None:
        return "public"
    return "tally" if setting.number().binary and not setting.free_count(kind) else "pair"


def price_ratio(setting: Setting, share: Share) -> Pricing:
    """Price the parts of a mean in every cell.

    A centred sum, a count where the number of rows is private, and a second moment where the spread is bought
    (:func:`spread_share`). A two-valued column in several cells releases its two tallies, one histogram.
    """
    number = setting.number()
    centred, form, words = number.centred(), form_of(setting, share.kind), setting.subject
    if form == "tally":
        return _price_tally(setting, share, centred, words)
    paid = Fraction(0) if form == "public" or setting.free_count(share.kind) else COUNT_SHARE
    bought = spread_of(setting) == "bought"
    for_square = spread_share(setting, share) if bought else Fraction(0)
    total = setting.total(centred.code)
    parts = [Summand("sum", total, f"sum of {words}, centred", (1 - paid) * (1 - for_square))]
    if bought:
        square = setting.total(centred.square().code)
        parts.append(
            Summand("square", square, f"squares of {words}, for its spread", (1 - paid) * for_square)
        )
    if form != "public":
        parts.append(count_of(setting, f"rows with a known {words}"))
    return additive(setting, share, parts)


def spread_share(setting: Setting, share: Share) -> Fraction:
    """Return the part of the loss that the second moment is bought with.

    A loss of 90 k/n, or of ρ = (64 k/n)², leaves the spread a mean absolute error of a tenth of the variance where the standard deviation is a
    sixth of the range, k being the rows of a person; a narrower column has an interval that is wider, by an upper bound of the spread. It is at
    most two fifths of ε or a quarter of ρ, and at least what makes the mean no more than a tenth noisier than it would be without.
    What is bought of either never falls where the loss grows: an answer serves whoever asks less later. Of a private number of rows, which
    no price may know, it is three sixteenths, or goes by the number that was named with the question (``about=``), the same in each cell.
    """
    rows, named = setting.public_n, setting.options.get("about")
    if rows is None and named is not None:
        rows = max(int(named) // setting.cells, 1)
    if rows is None:
        return _PRIVATE_SHARE
    enough = Fraction(setting.unit.max_rows, rows) * (90 if share.kind == "epsilon" else 64)
    reach = enough / share.amount if share.kind == "epsilon" else enough**2 / share.amount
    least, most = _SPREAD_SHARES[share.kind]
    return max(least, min(most, reach))


def _price_tally(setting: Setting, share: Share, centred: Centred, words: str) -> Pricing:
    """Price zeros and ones of a two-valued column as one histogram over twice the cells."""
    place = FloorDiv(Add(centred.code, Lit(1)), 2)
    doubled = replace(setting, keys=(*setting.keys, Key(place, 2)))
    return additive(doubled, share, [count_of(doubled, f"tallies of {words} (0 and 1)", "tally")])


@dataclass(frozen=True)
class Ratio:
    """The mean of one cell, from noised integers; or of many cells, where totals, sizes and laws are arrays.

    Parameters
    ----------
    total, size : float, or array
        Noised centred sum and noised (or public) number of rows.
    sum_noise, size_noise : NoiseSum
        Their errors; for tallies, the error of one tally (then ``tally`` is true and they are dependent).
    tally : bool
        Whether sum and size are difference and sum of two tallies with independent errors.
    half : int
        Half of the range in grid units.
    second : float or None
        Released mean square times rows, in squared grid units.
    second_noise : NoiseSum
        Its error.
    spread : str
        ``"known"``, ``"bought"``, ``"bound"``, ``"declined"`` or ``"clustered"``.
    place : int
        From where the squares are measured, in centred grid units.
    """

    total: Number
    size: Number
    sum_noise: NoiseSum
    size_noise: NoiseSum
    tally: bool
    half: float
    second: Number
    second_noise: NoiseSum
    spread: Spread
    place: int = 0

    @property
    def no_sampling(self) -> str:
        """Why sampling error is unknown; empty where it is known."""
        return NO_SAMPLING.get(self.spread, "")

    @cached_property
    def rows(self) -> Number:
        """The number of rows, at least one."""
        return greater(self.size, 1.0)

    @cached_property
    def raw(self) -> Number:
        """Sum over size, before it is moved into the bounds."""
        return self.total / self.rows

    @cached_property
    def mean(self) -> Number:
        """The estimate in centred grid units, inside the bounds."""
        return inside(self.raw, -self.half, self.half)

    def residual_noise(self, mean: Number) -> NoiseSum:
        """Return the law of ``S̃ - mean · ñ`` when ``mean`` is the exact mean."""
        if self.tally:
            return self.sum_noise.scaled(1 - mean) + self.sum_noise.scaled(1 + mean)
        if self.public:
            return self.sum_noise
        return self.sum_noise + self.size_noise.scaled(mean)

    @cached_property
    def public(self) -> bool:
        """Whether the number of rows is free of noise."""
        return not (self.tally or self.size_noise.scales or self.size_noise.many or self.size_noise.variance)

    @cached_property
    def noise_variance(self) -> Number:
        """Variance of the mean from the mechanism, in squared grid units."""
        return self.residual_noise(self.mean).total_variance / self.rows**2

    @cached_property
    def _moment_spread(self) -> tuple[Number, Number]:
        """Variance of one row from the second moment, and whether it is clear of its noise."""
        assert self.second is not None
        ceiling = greater(self.half**2 - self.mean**2, 0.0)
        from_here = self.mean - self.place
        estimate = self.second / self.rows - from_here**2
        noise = (
            self.second_noise.total_variance / self.rows**2 + 4 * from_here**2 * self.noise_variance
        ) ** 0.5
        likely, clear = likely_variance(estimate, noise)
        return lesser(likely, ceiling), clear

    def row_variance(self, mean: Number = None) -> Number:
        """Return the variance of one row, at a candidate mean where the spread depends on it."""
        if self.no_sampling:
            return None
        if self.spread == "bought":
            return self._moment_spread[0]
        if mean is None:
            mean = self.total / (self.rows + 4) if self.spread == "known" else self.mean
        return greater(self.half**2 - mean**2, 0.0)

    @cached_property
    def sampling_variance(self) -> Number:
        """Variance of the mean from sampling, in squared grid units."""
        variance = self.row_variance()
        return None if variance is None else variance / self.rows

    @property
    def raised(self) -> dict[str, Truth]:
        """Every warning that a mean can have, and whether it is up."""
        found = {"arm too small": self.small, "clamped": abs(self.raw) > self.half}
        if self.spread == "bought":
            found["spread unclear"] = choose(self._moment_spread[1], False, True)
        return found

    @property
    def small(self) -> Number:
        """Whether the size is not clearly above zero: intervals are then the whole domain."""
        return self.size < 3 * self.size_noise_sd

    @property
    def flags(self) -> tuple[str, ...]:
        """Warnings from released numbers."""
        return raised(self.raised)

    @property
    def size_noise_sd(self) -> Number:
        """Standard deviation of the noise on the number of rows."""
        return (self.sum_noise + self.sum_noise).sd if self.tally else self.size_noise.sd

    def p_value(self, mean: Number, level: float, *, sampling: bool) -> Number:
        """Return the p-value of a candidate mean, with or without sampling error."""
        return self._law(mean, level, sampling=sampling).tail(abs(self.mean - mean) * self.rows)

    def _law(self, mean: Number, level: float, *, sampling: bool) -> NoiseSum:
        law = self.residual_noise(mean)
        if not sampling:
            return law
        variance = self.row_variance(mean)
        if variance is None:
            raise Unavailable(self.no_sampling)
        return law.plus_normal(self.rows * variance * student_inflation(self.rows, level))

    def interval(self, level: float, *, sampling: bool) -> Pair:
        """Return the means that the test accepts, in centred grid units."""
        if sampling and self.no_sampling:
            raise Unavailable(self.no_sampling)
        if self.public and not (sampling and self.spread in {"known", "bound"}):
            reach = self._law(self.mean, level, sampling=sampling).radius(1 - level) / self.size
            return around(self.mean, reach, -self.half, self.half)
        sd = root(self._law(self.mean, level, sampling=sampling).total_variance) / self.rows

        def test(ratio: Ratio, mean: Number) -> Number:
            return ratio.p_value(mean, level, sampling=sampling)

        return accepted(test, self, self.mean, -self.half, self.half, level, sd=sd, lost=self.small)


def ratio(setting: Setting, parts: Parts, around: SpreadCentre | None = None) -> Ratio:
    """Return the ratios of all cells at once, arrays of the shape of the parts; their squares from the middle, or from a place of their own."""
    centred, spread = setting.number().centred(), spread_of(setting)
    square = (centred if around is None else around.powers).square()
    none = NoiseSum()
    total, size = centred_totals(setting, {name: part.values for name, part in parts.items()})
    tally = "tally" in parts
    first = parts["tally" if tally else "sum"].noise
    size_noise = first if tally else parts["count"].noise if "count" in parts else none
    second = parts.get("square")
    return Ratio(
        total,
        size,
        first,
        size_noise,
        tally,
        float(centred.half),
        None if second is None else second.values * square.scale,
        none if second is None else second.noise.scaled(square.scale),
        spread,
        0 if around is None else around.place,
    )


def centred_totals(setting: Setting, values: dict[str, Floats]) -> tuple[Floats, Floats]:
    """Return centred sum and number of rows for every cell; arrays may have leading axes."""
    if "tally" in values:
        pairs = values["tally"].reshape((*values["tally"].shape[:-1], -1, 2))
        return pairs[..., 1] - pairs[..., 0], pairs[..., 0] + pairs[..., 1]
    total = values["sum"]
    if "count" in values:
        return total, values["count"]
    return total, np.full(total.shape, float(setting.public_n or 1))


def redrawn_means(setting: Setting, parts: ReleasedParts, count: int, rng: DrawGenerator) -> Floats:
    """Return plausible exact means of every cell, shape ``(count, cells)``, in the unit of the column."""
    used = {name: part for name, part in parts.items() if name in {"sum", "count", "tally"}}
    values = {name: part.values - part.noise_draws(count, rng) for name, part in used.items()}
    centred = setting.number().centred()
    seen = centred_totals(setting, {name: part.values for name, part in used.items()})
    mean = means_inside(centred_totals(setting, values), seen, centred.half)
    return np.asarray(float(centred.centre) + float(centred.unit) * mean)


def means_inside(drawn: tuple[Number, Number], seen: tuple[Number, Number], half: float) -> Floats:
    """Return plausible means from draws of sums and sizes, within the bounds.

    A sum beyond the bounds is moved to them before noise is taken away, as intervals do: else all draws would be the bound.
    """
    (total, size), (found, rows) = drawn, seen
    most = half * np.maximum(rows, 0.0)
    total = total + np.clip(found, -most, most) - found
    return np.asarray(np.clip(total / np.maximum(size, 1.0), -half, half))


def mean_noise_sd(setting: Setting, pricing: Pricing, n: float, mean: float = 0.0) -> NoiseSum:
    """Return the law of the error of one cell's mean, for a planned size and centred mean."""
    noise = pricing.noise
    if "tally" in noise:
        law = noise["tally"].scaled(1 - mean) + noise["tally"].scaled(1 + mean)
    else:
        law = noise["sum"] + (noise["count"].scaled(mean) if "count" in noise else NoiseSum())
    return law.scaled(float(setting.number().centred().unit) / n)

r"""Variance and standard deviation of a bounded number (divisor n).

Released: centred sum, second moment, and a count where it is private. With ``W(v) = Q̃ - ñ v - (S̃² - V_S)/ñ`` a candidate
variance leaves only noise behind: to first order :math:`Z_Q + (m^2-v)Z_n - 2mZ_S`, and the second order is added as a
variance. Where a centre c is declared for a skewed column, powers are measured from there (:mod:`dpnb.statistics.variance_powers`), and m is
the mean as seen from c. Sampling error is that of :math:`(x-m)^2`, whose variance :math:`μ_4-v^2` third and fourth moments buy
(:mod:`dpnb.statistics.variance_powers`); with ``spread="bound"`` it is the largest that the bounds allow, free, and conservative. A 0/1 column needs
its mean alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from dpnb.inference import NoiseSum, student_inflation
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import (
    Floats,
    Number,
    Truth,
    choose,
    drawn_inside,
    greater,
    inside,
    lesser,
    root,
)
from dpnb.statistics._base import Options, Pricing, Readers, Setting, Target
from dpnb.statistics.declaration import Statistic, Summary, bought_or_bound
from dpnb.statistics.noise import Summand, additive, count_of
from dpnb.statistics.ratio import (
    Ratio,
    centred_totals,
    form_of,
    price_ratio,
    ratio,
    spread_of,
)
from dpnb.statistics.released import Parts, ReleasedParts
from dpnb.statistics.result import Cell, Pair
from dpnb.statistics.variance_powers import NOTE, Tails, spread_centre, tail_share, tail_summands
from dpnb.trusted.query.plan import Share

_SECOND_ORDER = 5.0
_COUNT_SHARE = Fraction(3, 10)


@dataclass(frozen=True)
class VarianceCell(Cell):
    """The variance of one cell, or its root, in the unit of the answer."""

    ratio: Ratio
    unit: float
    root: bool
    tails: Tails | None = None

    @property
    def _tallied(self) -> bool:
        return self.ratio.second is None

    @property
    def _raw(self) -> Number:
        if self._tallied:
            return self.ratio.half**2 - self.ratio.mean**2
        ratio = self.ratio
        square = ((ratio.total - ratio.place * ratio.rows) ** 2 - ratio.sum_noise.total_variance) / ratio.rows
        return (ratio.second - square) / ratio.rows

    @property
    def _mean(self) -> Number:
        """The mean from where the powers are measured."""
        return self.ratio.mean - self.ratio.place

    @property
    def _ceiling(self) -> float:
        return self.ratio.half**2

    @property
    def _variance(self) -> Number:
        return inside(self._raw, 0.0, self._ceiling)

    def _shown(self, variance: Number) -> Number:
        real = greater(variance, 0.0) * self.unit**2
        return root(real) if self.root else real

    def _delta(self, variance_of_variance: Number) -> Number:
        real = variance_of_variance * self.unit**4
        return real / (4 * greater(self._variance * self.unit**2, 1e-300)) if self.root else real

    @property
    def value(self) -> Number:
        """The estimate; zero where the noise made it negative."""
        return self._shown(self._variance)

    @property
    def noise_variance(self) -> Number:
        """Variance from the mechanism, to first order."""
        return self._delta(self._law(self._variance).total_variance / self.ratio.rows**2)

    def _row_bound(self, variance: Number) -> Number:
        reach = (self.ratio.half + abs(self.ratio.mean)) ** 2
        most = greater(variance * (reach - variance), 0.0)
        return most if self.tails is None else lesser(most, self._likely)

    @property
    def _likely(self) -> Number:
        """Variance of ``(x - m)²`` from the moments bought."""
        assert self.tails is not None
        ratio = self.ratio
        return self.tails.spread(self._mean, ratio.second, ratio.second_noise, ratio.rows, self._variance)

    @property
    def sampling_variance(self) -> Number:
        """Variance from sampling: from the moments bought, at most that which the bounds allow."""
        if self.ratio.no_sampling:
            return None
        return self._delta(self._row_bound(self._variance) / self.ratio.rows)

    @property
    def n(self) -> Number:
        """Rows behind the estimate, as released."""
        return greater(self.ratio.size, 0.0)

    @property
    def raised(self) -> dict[str, Truth]:
        """Every warning that a variance can have, and whether it is up."""
        found = {"arm too small": self.ratio.raised["arm too small"]}
        return found if self._tallied else {**found, "nonpositive": self._raw <= 0}

    def _law(self, variance: Number) -> NoiseSum:
        if self._tallied:
            return self.ratio.residual_noise(self.ratio.mean).scaled(2 * abs(self.ratio.mean))
        mean, noise = self._mean, self.ratio.sum_noise
        law = self.ratio.second_noise + noise.scaled(2 * mean)
        if not self.ratio.public:
            law = law + self.ratio.size_noise.scaled(mean**2 - variance)
        return law.plus_normal(_SECOND_ORDER * (noise.total_variance / self.ratio.rows) ** 2)

    def _p_value(self, variance: Number, level: float, *, sampling: bool) -> Number:
        law = self._law(variance)
        if sampling:
            bound = self._row_bound(variance) * student_inflation(self.ratio.rows, level)
            law = law.plus_normal(self.ratio.rows * bound)
        return law.tail(abs(self._variance - variance) * self.ratio.rows)

    def _interval(self, level: float, *, sampling: bool) -> Pair:
        if self._tallied:
            return self._folded(*self.ratio.interval(level, sampling=sampling))

        about = self._law(self._variance).total_variance / self.ratio.rows
        about = about + self._row_bound(self._variance) if sampling else about
        sd = root(about / self.ratio.rows)
        low, high = self._inverted(
            self._variance, 0.0, self._ceiling, level, sampling=sampling, sd=sd, lost=self.ratio.small
        )
        return self._shown(low), self._shown(high)

    def _folded(self, low: Number, high: Number) -> Pair:
        """Return the variances of a two-valued number whose mean lies between two limits."""
        nearest = choose((low <= 0) & (high >= 0), 0.0, lesser(abs(low), abs(high)))
        furthest = greater(abs(low), abs(high))
        square = self.ratio.half**2
        return self._shown(square - furthest**2), self._shown(square - nearest**2)

    @property
    def no_population(self) -> str:
        """Why sampling error is unknown; empty where it is known."""
        return self.ratio.no_sampling


class Variance(Statistic):
    """The variance of a bounded number."""

    name: ClassVar[str] = "variance"
    title: ClassVar[str] = "variance"
    target: ClassVar[Target] = "number"
    defaults: ClassVar[Options] = {"ci": True, "spread": "bought"}
    readers: ClassVar[Readers] = {"spread": bought_or_bound}
    smooth: ClassVar[bool] = True
    reference: ClassVar[str] = "Honaker's A.2 with its moments released; Bun & Steinke 2016"
    root: ClassVar[bool] = False

    def domain(self, setting: Setting) -> Pair:
        """From zero to a quarter of the squared width of the bounds (its root)."""
        half = float(setting.number().highest - setting.number().lowest) / 2
        return 0.0, half if self.root else half**2

    def price(self, setting: Setting, share: Share) -> Pricing:
        """Centred sum and second moment at equal shares, the count, and the moments that the sampling error needs."""
        number = setting.number()
        if number.binary:
            return price_ratio(setting, share)
        words, around, form = setting.subject, spread_centre(setting), form_of(setting, share.kind)
        free = form == "public" or setting.free_count(share.kind)
        paid = 1 - (Fraction(0) if free else _COUNT_SHARE)
        bought = tail_share(setting, share) if spread_of(setting) == "bought" else Fraction(0)
        both, squares = paid * (1 - bought), around.square_share(setting, share.kind)
        total, square = around.requests(setting)
        parts = [
            Summand("sum", total, f"sum of {words}, centred", both * (1 - squares)),
            Summand("square", square, f"squares of {words}, {around.words}", both * squares),
            *(tail_summands(setting, around.powers, paid * bought) if bought else ()),
            *(() if form == "public" else (count_of(setting, f"rows with a known {words}"),)),
        ]
        return additive(setting, share, parts)

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:
        """The radius of the noise at a mid-sized variance, for a public or assumed size."""
        size, noise = setting.size(n), pricing.noise
        if size is None:
            return None
        centred, around = setting.number().centred(), spread_centre(setting)
        if "square" not in noise:
            law = noise.get("tally", noise.get("sum", NoiseSum()))
        else:
            carried = float(around.carried) if around.declared else centred.half
            if setting.place is not None and not around.place:
                carried = 2 * setting.place
            law = noise["square"].scaled(around.powers.square().scale) + noise["sum"].scaled(carried)
        return float(law.radius(0.05)) * float(centred.unit) ** 2 / size

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """± in squared units, or as a function of n."""
        return "± depends on the variance itself" if self.root else super().accuracy(setting, pricing, n)

    def entries(self, setting: Setting, parts: Parts) -> VarianceCell:
        """Return the variances (or their roots) of all cells at once."""
        unit, around = float(setting.number().centred().unit), spread_centre(setting)
        return VarianceCell(ratio(setting, parts, around), unit, self.root, Tails.of(around.powers, parts))

    def redraw(self, setting: Setting, parts: ReleasedParts, count: int, rng: DrawGenerator) -> Floats:
        """Plausible exact variances, or their roots; either end of the domain where the size is not clear, as intervals are all of it."""
        centred = setting.number().centred()
        around = spread_centre(setting)
        top = float(centred.half) ** 2

        def read(values: Mapping[str, Floats]) -> Floats:
            total, size = centred_totals(setting, dict(values))
            rows, bought = np.maximum(size, 1.0), "square" in values
            moment = values["square"] * around.powers.square().scale / rows if bought else top
            return np.asarray(moment - (total / rows - (around.place if bought else 0)) ** 2)

        seen = read({name: part.values for name, part in parts.items()})
        drawn = read({name: part.values - part.noise_draws(count, rng) for name, part in parts.items()})
        found = drawn_inside(drawn, seen, 0.0, top)
        found = np.where(
            ratio(setting, parts).small, rng.of("unclear").choice((0.0, top), found.shape), found
        )
        variance = found * float(centred.unit) ** 2
        return np.asarray(np.sqrt(variance) if self.root else variance)

    def notes(self, setting: Setting, parts: Parts) -> dict[str, str]:  # noqa: ARG002
        """A test of the noise, and of sampling by what was bought about the tails."""
        bound = "conservative: the largest fourth moment that the bounds allow"
        return {
            "privacy": "exact test of the noise, to second order",
            "confidence": NOTE if "fourth" in parts else bound,
        }


class StandardDeviation(Variance):
    """The standard deviation of a bounded number."""

    name: ClassVar[str] = "std"
    title: ClassVar[str] = "standard deviation"
    summary: ClassVar[Summary] = "stdev"
    root: ClassVar[bool] = True
    half_width = Statistic.half_width

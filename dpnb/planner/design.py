"""A question whose accuracy can be foretold, from public facts alone.

A *design* answers "what would the card say": the question is priced as it would be charged, and the statistic concludes from the integers
that a typical study would release, without noise. Two designs: from assumed facts (spread, share, effect), where size and loss may vary;
and from a released answer, for every statistic, where the loss may vary. Nothing here sees a row or spends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import Any, Protocol

import numpy as np

from dpnb.errors import PlanError, Unavailable
from dpnb.planner.check import CheckedQuestion
from dpnb.statistics import Setting
from dpnb.statistics.result import Result
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release, ReleasedPart


@dataclass(frozen=True, slots=True)
class Accuracy:
    """What a card would say.

    Parameters
    ----------
    n : int or None
        Rows behind the answer (behind each cell of several).
    privacy : float
        Half-width of the interval for what the noise hides; the widest of several cells.
    confidence : float or None
        Half-width of the interval about the population, where one is meant.
    standard_error : float or None
        Sampling and noise together; the largest of several cells.
    n_eff : ndarray or None
        As accurate as this many rows without noise, for every cell.
    level : float
        Of the intervals.
    reason : str
        Why there is no interval about the population.
    """

    n: int | None
    privacy: float
    confidence: float | None
    standard_error: float | None
    n_eff: np.ndarray | None
    level: float = 0.95
    reason: str = ""

    def half_width(self, kind: str) -> float:
        """Return the half-width of a kind."""
        if kind == "privacy":
            return self.privacy
        if self.confidence is None:
            raise Unavailable(f'{self.reason} Plan it with kind="privacy".'.strip())
        return self.confidence

    def chance(self, effect: float) -> float:
        """Return the power: how probable it is that the confidence interval leaves out the null value, at this true effect."""
        reach, error = self.half_width("confidence"), self.standard_error
        if error is None or error <= 0:
            return float(abs(effect) > reach)
        normal = NormalDist()
        # an interval that the domain cuts short still tests no better than its standard error allows
        reach = max(reach, normal.inv_cdf(0.5 + self.level / 2) * error)
        return normal.cdf((abs(effect) - reach) / error) + normal.cdf((-abs(effect) - reach) / error)


def accuracy_of(result: Result, n: int | None, level: float) -> Accuracy:
    """Read a result that no noise has touched yet."""
    privacy, reason = _widest(result.interval(level, "privacy").half_width), ""
    confidence = error = None
    try:
        confidence = _widest(result.interval(level, "confidence").half_width)
        error = None if result.standard_error is None else _widest(result.standard_error)
    except Unavailable as missing:
        reason = str(missing)
    sizes = result.n_eff
    effective = None if sizes is None else np.asarray(sizes, dtype=float)
    return Accuracy(n, privacy, confidence, error, effective, level, reason)


def worst(found: Sequence[Accuracy]) -> Accuracy:
    """Return an accuracy that none of several falls short of."""
    sizes = [one.n_eff for one in found if one.n_eff is not None]
    return replace(
        found[0],
        privacy=max(one.privacy for one in found),
        confidence=_most([one.confidence for one in found]),
        standard_error=_most([one.standard_error for one in found]),
        n_eff=np.min(np.stack(sizes), axis=0) if len(sizes) == len(found) else None,
    )


def _most(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return max(known) if len(known) == len(values) else None


def _widest(values: Any) -> float:
    return float(np.max(np.asarray(values, dtype=float)))


class Design(Protocol):
    """A question whose accuracy can be foretold."""

    @property
    def fixed(self) -> bool:
        """Whether the size cannot vary."""

    def accuracy(self, share: Share, n: int | None, level: float) -> Accuracy:
        """Return the accuracy at a loss and a size."""


@dataclass(frozen=True, slots=True)
class Facts:
    """What a planner assumes of the data.

    Parameters
    ----------
    means : tuple of float
        The mean in each arm; one for a mean.
    sd : float
        The spread within an arm; of a two-valued column it follows from the mean.
    """

    means: tuple[float, ...]
    sd: float


@dataclass(frozen=True, slots=True)
class FromFacts:
    """A count, a mean or a difference of means of a planned study.

    Parameters
    ----------
    checked : CheckedQuestion
        The question.
    assumed : tuple of Facts
        What the data may be like, each of which is planned for; none for a count.
    """

    checked: CheckedQuestion
    assumed: tuple[Facts, ...]

    def __post_init__(self) -> None:
        if not self.checked.kind.plannable:
            raise PlanError(
                f"dpnb.power plans counts, means, proportions and differences before any release, not {self.checked.text}. "
                "Release it once: dpnb.power(released, …) then plans it from what was released."
            )

    @property
    def fixed(self) -> bool:
        """A study of any size may be planned."""
        return False

    def accuracy(self, share: Share, n: int | None, level: float) -> Accuracy:
        """Return the accuracy of a typical study of `n` rows (in each cell); the worst of what is assumed."""
        setting = self._sized(n)
        pricing = self.checked.kind.price(setting, share)
        found = []
        for facts in self.assumed or (None,):
            parts = tuple(self._typical(part, setting, n, facts) for part in pricing.parts)
            found.append(accuracy_of(self.checked.kind.conclude(setting, (_release(parts),)), n, level))
        return worst(found)

    def _sized(self, n: int | None) -> Setting:
        setting = self.checked.setting
        rows = setting.unit.rows
        if n is None or rows is None:
            return setting
        size = n if setting.public_n is not None else max(rows, n * self._cells)
        return replace(setting, unit=replace(setting.unit, rows=size))

    @property
    def _cells(self) -> int:
        return max(self.checked.setting.cells // len(self.assumed[0].means if self.assumed else (0,)), 1)

    def _typical(
        self, part: Measurement, setting: Setting, n: int | None, facts: Facts | None
    ) -> ReleasedPart:
        if facts is None:
            middle = n if n is not None else (setting.unit.rows or 10**6) // 2
            values: tuple[int, ...] = (middle,) * part.cells
        elif n is None:
            raise PlanError("How many rows? Give n=1000, or a within= or effect= to find it.")
        else:
            values = _typical_values(part.name, setting, facts, n) * self._cells
        return ReleasedPart(part.name, part.mechanism.record, values, part.name)


def _typical_values(name: str, setting: Setting, facts: Facts, n: int) -> tuple[int, ...]:
    """Return what a study without noise and without sampling error would release, arm by arm."""
    centred = setting.number().centred()
    unit, centre, size = float(centred.unit), float(centred.centre), n / len(facts.means)
    found: list[float] = []
    for mean in facts.means:
        code = (mean - centre) / unit
        if name == "tally":
            share = (code / centred.half + 1) / 2
            found += [size * (1 - share), size * share]
        elif name == "square":
            found.append(size * ((facts.sd / unit) ** 2 + code**2) / centred.square().scale)
        else:
            found.append({"sum": size * code, "count": size}[name])
    return tuple(round(value) for value in found)


def _release(parts: tuple[ReleasedPart, ...]) -> Release:
    """Return a record that looks like a release and was never one."""
    return Release("planned", "", "", "", parts, PrivacyLoss.zero(Measure.PURE))


@dataclass(frozen=True, slots=True)
class FromRelease:
    """A released answer of any statistic, or what is read from it, as it would have been at another loss.

    The released integers stay what they are; their noise is another one.

    Parameters
    ----------
    checked : CheckedQuestion
        The question that was released.
    releases : tuple of Release
        Its releases; the one that was paid most for is used.
    conclude : callable
        What is concluded from a release: the answer, or a reading.
    """

    checked: CheckedQuestion
    releases: tuple[Release, ...]
    conclude: Callable[[Sequence[Release]], Result]

    @property
    def fixed(self) -> bool:
        """The size is the dataset's own."""
        return True

    def accuracy(self, share: Share, n: int | None, level: float) -> Accuracy:
        """Return the accuracy that the released integers would have."""
        best = max(self.releases, key=lambda release: (release.loss.amount, release.id))
        pricing = self.checked.price(share)
        parts = tuple(
            ReleasedPart(part.name, part.mechanism.record, best.part(part.name).values, part.name)
            for part in pricing.parts
        )
        return accuracy_of(self.conclude((_release(parts),)), n, level)

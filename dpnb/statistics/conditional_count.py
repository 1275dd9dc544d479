"""A count that is shown because its noised value passed a threshold: its interval is that of the noise given that it passed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

from dpnb.errors import Unavailable
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.statistics.count import NO_POPULATION
from dpnb.statistics.outcome import Pair

_FEWEST = 1


@dataclass(frozen=True, slots=True)
class ShownCount:
    """One value that passed: its noised count, and the law of the noise given that it passed."""

    value: float
    law: DiscreteLaplaceLaw
    threshold: int
    most: float

    sampling_variance: ClassVar[float | None] = None
    n: ClassVar[float | None] = None
    n_eff: ClassVar[float | None] = None
    raised: ClassVar[Mapping[str, Any]] = {}

    @property
    def noise_variance(self) -> float:
        """Variance of the noise, before the threshold."""
        return self.law.variance_float

    def privacy(self, level: float) -> Pair:
        """Return the exact counts that the noise cannot reject, given that the count was shown."""
        low, high = conditional_limits(self.law, self.threshold, int(self.value), 1 - level)
        return min(low, self.most), min(high, self.most)

    def confidence(self, level: float) -> Pair:  # noqa: ARG002 - one protocol for all cells
        """Refuse: no population is meant."""
        raise Unavailable(NO_POPULATION)


@lru_cache(maxsize=4096)
def conditional_limits(law: DiscreteLaplaceLaw, threshold: int, seen: int, alpha: float) -> Pair:
    """Return the counts c for which neither P(c + Z ≥ seen) nor P(c + Z ≤ seen), given c + Z ≥ threshold, is at most α/2.

    Parameters
    ----------
    law : DiscreteLaplaceLaw
        Law of the noise Z.
    threshold, seen : int
        The threshold, and a noised count that passed it.
    alpha : float
        One minus the level.
    """

    def shown(count: int) -> float:
        return float(law.sf(threshold - 1 - count))

    def not_too_small(count: int) -> bool:
        return float(law.sf(seen - 1 - count)) > alpha / 2 * shown(count)

    def not_too_large(count: int) -> bool:
        return shown(count) - float(law.sf(seen - count)) > alpha / 2 * shown(count)

    reach = law.tail_radius(alpha / 4) + 1
    low = _first(not_too_small, _FEWEST, max(seen + reach, _FEWEST))
    high = _first(lambda count: not not_too_large(count), _FEWEST, max(seen + reach, _FEWEST) + 1) - 1
    return float(low), float(max(high, low))


def _first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """Return the first integer from ``low`` on at which a rising condition holds, ``high`` where none below does."""
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle + 1, high)
    return low

"""Privacy-loss distributions on a grid: a privacy profile becomes a dominating pair, and pairs compose by convolution.

Every rounding goes to the safe side: the dots of the profile are connected by chords, which lie above it; losses that are too low to
matter are rounded up, those that are too high become infinite. What floating point adds is about 10⁻¹². These are displays and
calibration inside one non-adaptive event. **No ledger uses them.**

References
----------
Zhu, Dong and Wang (2022), "Optimal Accounting of Differential Privacy via Characteristic Function", Theorem 10.
Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022), "Connect the Dots: Tighter Discrete Approximations of Privacy Loss Distributions".
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

_CELLS = 1 << 14
_NEGLIGIBLE = 1e-12

Profile = Callable[["np.ndarray"], "np.ndarray"]
"""δ at each of an array of ε ≥ 0, of a pair that is as far from its other direction."""


@dataclass(frozen=True, slots=True)
class LossDistribution:
    """A dominating pair as masses of the privacy loss on a grid ``step · (first + i)``, and a mass at infinity."""

    step: float
    first: int
    masses: np.ndarray
    infinite: float

    def __add__(self, other: LossDistribution) -> LossDistribution:
        masses = _convolved(self.masses, other.masses).clip(0.0)
        infinite = 1 - (1 - self.infinite) * (1 - other.infinite)
        return LossDistribution(self.step, self.first + other.first, masses, infinite).trimmed()

    def trimmed(self) -> LossDistribution:
        """Return a shorter one that dominates it: low losses are rounded up, the highest to infinity."""
        import numpy as np

        below, above = np.cumsum(self.masses), np.cumsum(self.masses[::-1])
        start = int(np.searchsorted(below, _NEGLIGIBLE))
        cut = int(np.searchsorted(above, _NEGLIGIBLE))
        kept = self.masses[start : self.masses.size - cut].copy()
        if start:
            kept[0] += below[start - 1]
        lost = float(above[cut - 1]) if cut else 0.0
        return LossDistribution(self.step, self.first + start, kept, min(self.infinite + lost, 1.0))

    def times(self, k: int) -> LossDistribution:
        """Return the k-fold composition."""
        total: LossDistribution | None = None
        square = self
        while k:
            if k & 1:
                total = square if total is None else total + square
            k >>= 1
            square = square + square if k else square
        assert total is not None
        return total

    def delta(self, epsilon: float) -> float:
        """Return the δ at an ε."""
        import numpy as np

        loss = self.step * (self.first + np.arange(self.masses.size))
        over = loss > epsilon
        return float(self.infinite - self.masses[over] @ np.expm1(epsilon - loss[over]))

    def epsilon(self, delta: float) -> float:
        """Return the least ε ≥ 0 at a δ; infinite where more than δ is at infinity.

        Between two losses of the grid δ falls as M - e^ε E, by sums over the losses above, so that the crossing is found at once.
        """
        import numpy as np

        start = max(0, 1 - self.first)  # losses above 0
        masses = np.append(self.masses[start:], 0.0)
        above, weighed = np.cumsum(masses[::-1])[::-1] + self.infinite, _weighed(masses, self.step)
        if above[0] - np.exp(-self.step * (self.first + start)) * weighed[0] <= delta:
            return 0.0
        if self.infinite > delta:
            return float("inf")
        place = int(np.argmax(above - weighed <= delta))
        loss = self.step * (self.first + start + place)
        return float(loss + np.log((above[place] - delta) / weighed[place]))


def _convolved(one: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Return the convolution, by Fourier transforms; scipy.signal has it too, and takes a second to be imported."""
    import numpy as np
    from scipy.fft import irfft, next_fast_len, rfft

    length = one.size + other.size - 1
    size = next_fast_len(length, real=True)
    return np.asarray(irfft(rfft(one, size) * rfft(other, size), size)[:length])


def _weighed(masses: np.ndarray, step: float) -> np.ndarray:
    """Return Σ m_j e^(-step (j - i)) over j ≥ i for each i, block by block so that nothing overflows."""
    import numpy as np

    found, carried = np.empty(masses.size), 0.0
    block = min(masses.size, max(1, int(300 / step)))
    growth = np.exp(step * np.arange(block))
    for end in range(masses.size, 0, -block):
        part = slice(max(end - block, 0), end)
        size = part.stop - part.start
        sums = np.cumsum((masses[part] / growth[:size])[::-1])[::-1] + carried * np.exp(-step * size)
        found[part] = sums * growth[:size]
        carried = float(found[part.start])
    return found


def reach_of(profile: Profile) -> float:
    """Return an ε at which a profile is negligible."""
    import numpy as np

    high = 1.0
    while float(profile(np.array([high]))[0]) > _NEGLIGIBLE:
        high *= 1.25
    return high


def dominating(profile: Profile) -> LossDistribution:
    """Connect the dots of a profile: masses on a grid such that their profile passes through every dot.

    Parameters
    ----------
    profile : callable
        δ at each of an array of ε ≥ 0; convex in e^ε. The same bound must hold in both directions, as it does under change-one.
    """
    import numpy as np

    reach = reach_of(profile)
    step = reach / _CELLS
    count = ceil(reach / step)
    loss = step * np.arange(count + 1)
    curve = profile(loss)
    # slopes of δ as a function of e^ε, on the right of 1; the left half follows from the symmetry of the pair
    rises = np.append(np.diff(curve) / np.expm1(step), 0.0)  # slopes times e^loss, so that nothing overflows
    right = rises[1:] - np.exp(step) * rises[:-1]
    left = (right * np.exp(-loss[1:]))[::-1]
    middle = max(1.0 - float(curve[-1]) - float(right.sum()) - float(left.sum()), 0.0)
    masses = np.concatenate([left, [middle], right]).clip(0.0)
    return LossDistribution(step, -count, masses, float(curve[-1])).trimmed()

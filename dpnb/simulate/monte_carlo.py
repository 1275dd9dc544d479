"""The Monte Carlo interval as a method of simulation: fresh noise and sampling error, drawn around each released answer.

It is the published Algorithm 2, fed with a release's own noise and standard error: quantiles of |simulated - released|. The
intervals of a release invert an exact test instead; this one is there to be compared.

References
----------
D'Orazio, Honaker and King (2015), "Differential Privacy for Social Science Inference", Algorithm 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from dpnb.errors import OptionError
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.planner.check import CheckedQuestion
from dpnb.simulate.intervals import PerRelease, per_release
from dpnb.statistics import conclude
from dpnb.trusted.releases import Release


def monte_carlo(draws: int = 400) -> PerRelease:
    """Return the method for ``coverage(..., intervals=[monte_carlo()])``.

    Parameters
    ----------
    draws : int
        Simulated errors for each release, at least 20.
    """
    if draws < 20:
        raise OptionError("draws must be at least 20.")

    def interval(
        checked: CheckedQuestion, release: Release, level: float, rng: np.random.Generator
    ) -> tuple[Any, Any]:
        result = conclude(checked, [release])
        chance = DrawGenerator((f"{rng.integers(2**62):x}",))
        drawn = result.draws(draws, chance, "confidence")
        centre = np.asarray(result.value, dtype=float)
        radius = np.quantile(np.abs(drawn - centre), level, axis=0)
        return centre - radius, centre + radius

    return per_release("monte carlo", "population", interval)

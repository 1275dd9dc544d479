"""Simulation: what intervals and errors would be over many studies, at any loss. Arrays only, never a protected handle.

::

    from dpnb import simulate

    found = simulate.coverage("mean", simulate.beta(2, 5), n=500, losses={"epsilon": [0.1, 1]}, reps=1000)
    found.table()
    found.plot()
    found.code()

A simulated study is drawn from a *population*, becomes integers on its declared grid, is priced by :func:`dpnb.planner.price`,
noised by the mechanisms' simulators, and concluded by the statistics' own code: what is simulated is what is released. Noise
here comes from a seeded generator, so nothing in this package protects anybody.

What a new statistic has to do to be simulated:

- *Nothing.* Without more, every study is released and concluded by itself (``release_part``, then ``conclude``).
- *Where it gives* ``entries(setting, parts)`` *and not* ``conclude``, it is fast: the fields of the cell are then arrays of shape
  (losses, studies, cells), and its formulas are written with :mod:`dpnb.inference.elementwise`. Additive mechanisms and quantiles on grids of at most 4,096 steps are then simulated all at once.
- *To be judged* it needs what is true: a line in :data:`dpnb.simulate.exact.TRUTHS`, or ``truth=`` and ``parameter=`` in the call.
- *Another interval* is an object with ``name``, ``about`` and ``__call__(studies, level)``; or :func:`per_release` of a function
  of one release.

A plain function of arrays, ``my_interval(values, epsilon, rng)``, has its coverage too: :mod:`dpnb.simulate.plain`. A fixed dataset is :func:`study`: then only the noise is drawn again.
"""

from __future__ import annotations

from dpnb.simulate.bootstrap import BootstrapStudy, CoverageRow, bootstrap_coverage, bootstrap_stream
from dpnb.simulate.coverage import coverage, draw_studies, stream
from dpnb.simulate.declared import arms, pair, shaped, with_missing
from dpnb.simulate.intervals import METHODS, Method, monte_carlo, per_release
from dpnb.simulate.plain import PlainCoverage
from dpnb.simulate.populations import (
    Population,
    bernoulli,
    beta,
    drawn,
    lognormal,
    normal,
    population,
    resampled,
    study,
    with_outliers,
)
from dpnb.simulate.rates import RateResult, density_rates
from dpnb.simulate.regression import RegressionStudy, regression_coverage
from dpnb.simulate.result import CoverageResult
from dpnb.simulate.sweep import SweepResult, sweep
from dpnb.simulate.tally import wilson
from dpnb.simulate.watching import Seen, Watched, watch

__all__ = [
    "METHODS",
    "BootstrapStudy",
    "CoverageResult",
    "CoverageRow",
    "Method",
    "PlainCoverage",
    "Population",
    "RateResult",
    "RegressionStudy",
    "Seen",
    "SweepResult",
    "Watched",
    "arms",
    "bernoulli",
    "beta",
    "bootstrap_coverage",
    "bootstrap_stream",
    "coverage",
    "density_rates",
    "draw_studies",
    "drawn",
    "lognormal",
    "monte_carlo",
    "normal",
    "pair",
    "per_release",
    "population",
    "regression_coverage",
    "resampled",
    "shaped",
    "stream",
    "study",
    "sweep",
    "watch",
    "wilson",
    "with_missing",
    "with_outliers",
]

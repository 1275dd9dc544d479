r"""Floating point: which count was it, 0 or 1? The low-order bits of a float Laplace answer mostly say it for certain.

numpy makes Laplace noise of a uniform number u on the grid of multiples of 2⁻⁵³, as :math:`b\ln 2u` or :math:`-b\ln(2-2u)`.
For an answer y and a candidate c there may be no u on that grid that gives y: then the count was not c. The attack tries the
few u near :math:`e^{-|y-c|/b}/2`. Integers with discrete noise have no such holes.

References
----------
Mironov (2012), "On Significance of the Least Significant Bits for Differential Privacy".
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.audit.attacks.publications import Bench, Publication, private, shown
from dpnb.audit.attacks.result import AttackResult, AttackRow, fair
from dpnb.audit.sampling import Floats
from dpnb.errors import OptionError
from dpnb.inference.law import law_of
from dpnb.inference.simulated_release import add_noise
from dpnb.risk.float_laplace import FINEST_UNIFORM, Sampler, float_laplace, possible
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.trusted.privacy.loss import rational


def certain_origin(answers: ArrayLike, scale: float = 1.0, sampler: Sampler = "numpy") -> Floats:
    """Return for each answer 0 or 1 where only that count can have made it, and NaN where both can.

    Parameters
    ----------
    answers : array_like of float
        ``count + rng.laplace(0, scale)`` with a count of 0 or 1.
    scale : float
        A power of two, so that scaling is exact.
    sampler : {"numpy", "exponential"}
        How the noise was made; see :func:`float_laplace`.

    Examples
    --------
    >>> drawn = np.random.default_rng(1).laplace(1, 1, 500)
    >>> told = certain_origin(drawn)
    >>> bool((told[~np.isnan(told)] == 1).all()), bool((told == 1).mean() > 0.75)
    (True, True)
    """
    if not (scale > 0 and math.frexp(scale)[0] == 0.5):
        raise OptionError("scale is a power of two (1, 2, 4, …), so that scaling rounds nothing.")
    zero, one = (possible(answers, count, scale, sampler) for count in (0.0, 1.0))
    return np.where(zero & ~one, 0.0, np.where(one & ~zero, 1.0, np.nan))


def floating_point(
    *, scale: float = 1.0, sampler: Sampler = "numpy", reps: int = 4_000, rng: int | np.random.Generator = 0
) -> AttackResult:
    """Tell a count of 0 from a count of 1 by one answer at ε = 1/scale, in floats and in integers.

    Parameters
    ----------
    scale : float
        A power of two.
    sampler : {"numpy", "exponential"}
        How the float noise is made; see :func:`float_laplace`.
    reps : int
        Answers for each count.
    rng : int or Generator

    Returns
    -------
    AttackResult
        Success is the right count. *Certain* rows count only what was told for certain; a private answer never is.
    """
    generator = np.random.default_rng(rng)
    counts = np.repeat([0.0, 1.0], reps)
    signs = generator.random(reps) < 0.5
    drawn = np.concatenate(
        [float_laplace(_uniform(generator, reps), count, scale, sampler, above=signs) for count in (0.0, 1.0)]
    )
    told = certain_origin(drawn, scale, sampler)
    likelier = _threshold(drawn)
    whole = DiscreteLaplace.calibrate(1, 1 / Fraction(rational(scale)))
    integers = add_noise(whole, counts.astype(np.int64), generator)
    bound = fair(1 / scale)
    rows = (
        _row("floats, certain", told == counts, 0.0, 0.0),
        _row("floats", np.where(np.isnan(told), likelier, told) == counts, 0.5, bound),
        _row("integers, certain", _holes(integers, law_of(whole).pmf) == counts, 0.0, 0.0),
        _row("integers", _threshold(integers) == counts, 0.5, bound),
    )
    return AttackResult(
        "Floating point",
        f"whether a count was 0 or 1, from one answer at ε {1 / scale:g}",
        "noise",
        rows,
        "a coin; nothing is certain",
    )


def _uniform(generator: np.random.Generator, size: int) -> Floats:
    return np.maximum(generator.random(size), FINEST_UNIFORM)


def _threshold(answers: Floats | NDArray[np.int64]) -> Floats:
    return np.asarray(np.where(answers > 0.5, 1.0, 0.0))


def _holes(answers: NDArray[np.int64], pmf: Callable[[NDArray[np.int64]], Floats]) -> Floats:
    """As :func:`certain_origin` for integers: no probability is zero, so nothing is told."""
    zero, one = pmf(answers) > 0, pmf(answers - 1) > 0
    return np.where(zero & ~one, 0.0, np.where(one & ~zero, 1.0, np.nan))


def _row(setting: str, hits: NDArray[np.bool_], baseline: float, bound: float) -> AttackRow:
    share = float(hits.mean())
    return AttackRow(setting, share, math.sqrt(share * (1 - share) / hits.size), baseline, bound)


def on_floating_point(rng: int | Sequence[int]) -> Bench:
    """Tell a count of 0 from a count of 1."""
    generator, reps = np.random.default_rng(rng), 2_000
    epsilons = tuple(2.0**power for power in range(-4, 4))
    known = [floating_point(scale=1 / e, reps=reps, rng=generator) for e in epsilons]
    counts = np.repeat([0, 1], reps)
    coins = generator.permutation(counts)
    return Bench(
        "floating point",
        "Whether a count among 100 people was 0 or 1, from one answer.",
        "a coin",
        "one answer",
        epsilons,
        0.5,
        (
            shown("raw", "The count is exact.", counts.copy() == counts, 0.5),
            shown("rounded", "The count is rounded to fives: always 0.", coins == counts, 0.5),
            shown("suppressed", "Counts under 5 are not shown.", coins == counts, 0.5),
            shown(
                "resampled",
                "The count is that of a bootstrap resample.",
                (generator.binomial(100, counts / 100) > 0) == counts,
                0.5,
            ),
            Publication(
                "floats",
                "noise in floats at ε",
                "Laplace noise in floating point: low-order bits rule out the other count.",
                tuple(result["floats"] for result in known),
                fair,
            ),
            private([r["integers"] for r in known], "The count carries discrete Laplace noise.", fair),
        ),
    )

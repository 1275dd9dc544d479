"""What each interval of the coverage lab costs: as it was published, and as it can be proved; and one resample as a partition.

The published bootstrap is charged as one Gaussian release. That is not what it costs: a resample holds some rows twice or more.
What it costs lies between an ε that is attained and an ε that is proved, both computed, at one δ.
"""

from __future__ import annotations

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpnb.errors import LossError
from dpnb.exhibits.laws import composed_mixture_epsilon
from dpnb.risk.bootstrap import claimed_mu, inflation_for, multiplicities, resampling_epsilon
from dpnb.risk.curves import gaussian_epsilon
from dpnb.widgets.coverage_setup import BOOTSTRAP, Setup
from dpnb.widgets.registry import Facts

#: At this δ the ε of a bootstrap are compared, as in the print.
DELTA = 1e-6
#: The published coverages, of 95 % intervals of a mean age, k = 50, n = 500, ρ = 0.5 (section 8).
PRINTED = {"unbiased": 0.801, "conservative": 0.971, "most conservative": 1.0}
#: What was found of a loss, a size and a number of resamples.
Costs = dict[tuple[float, int, int], Facts]
_SHOWN = 24
_TIMES = 8
_SLOW = 100


def place_of(setup: Setup) -> tuple[float, int, int]:
    """Return what a price depends on."""
    return setup.loss, setup.n, setup.k


def published(rho: float) -> float:
    """Return the ε at δ that one Gaussian release of this ρ has: what the bootstrap is charged in print."""
    return float(gaussian_epsilon(Fraction(claimed_mu(rho)), Fraction(1, 10**6)))


@lru_cache(maxsize=64)
def proved(rho: float, k: int, n: int, factor: float) -> float | None:
    """Return the ε that is proved for k resamples; nothing where it is too large to be computed."""
    try:
        return resampling_epsilon(DELTA, rho, k, n, factor)
    except LossError:
        return None


@lru_cache(maxsize=64)
def attained(rho: float, k: int, n: int, factor: float) -> float | None:
    """Return an ε that k resamples are known to reach; nothing where the search takes long."""
    if k > _SLOW:
        return None
    odds: NDArray[np.float64] = np.array(multiplicities(n), dtype=np.float64)
    shifts = np.arange(odds.size) * claimed_mu(rho) / math.sqrt(k) / factor
    return float(composed_mixture_epsilon(odds, np.asarray(shifts, dtype=np.float64), k, DELTA))


def inflation(setup: Setup, k: int) -> float:
    """Return the factor on the published noise: 1, or what keeps the promise of one release of this ρ."""
    if not setup.repaired:
        return 1.0
    try:
        return inflation_for(published(setup.loss), DELTA, setup.loss, k, setup.n)
    except LossError as error:
        raise LossError(f"No noise that keeps this promise is known for k = {k}. {error}") from None


def charges(setup: Setup, k: int) -> Facts:
    """Return what the bootstrap is charged in print, and what it costs, in one sentence too."""
    said, factor = published(setup.loss), inflation(setup, k)
    least, most = attained(setup.loss, k, setup.n, factor), proved(setup.loss, k, setup.n, factor)
    claim = f"ρ {setup.loss:g} (ε {said:.2f})"
    if most is None:
        true = "above what can be computed"
    elif setup.repaired:
        true = f"ε {min(most, said):.2f}, proved"
    elif least is None:
        true = f"up to ε {most:.2f}"
    else:
        true = f"ε {least:.2f} to {most:.2f}"
    return {
        "published": claim,
        "true": true,
        "said": said,
        "attained": least,
        "proved": most,
        "factor": factor,
    }


def words(setup: Setup, k: int, found: Facts) -> str:
    """Return the sentence below the picture."""
    if setup.repaired:
        return (
            f"With {found['factor']:.3g} × the published noise, {k} resamples keep the promise of ρ {setup.loss:g}: "
            f"ε {found['said']:.2f} at δ 10⁻⁶."
        )
    reaches = "" if found["attained"] is None else f" ε {found['attained']:.2f} is reached,"
    proof = "no ε is known" if found["proved"] is None else f"ε {found['proved']:.2f} is proved"
    return (
        f"Published as ρ {setup.loss:g}, ε {found['said']:.2f} at δ 10⁻⁶. It costs more with {k} resamples:"
        f"{reaches} {proof}."
    )


def printed(setup: Setup, name: str) -> float | None:
    """Return the share in print, where this is the setup of the print."""
    same = setup.population == "publication" and (setup.n, setup.k, setup.loss) == (500, 50, 0.5)
    fits = same and setup.kind == "rho" and setup.level == 0.95 and not setup.repaired
    return PRINTED[name] if fits and name in PRINTED else None


def compared(setup: Setup) -> str:
    """Return whose rows stand in print and whose here; empty where this is not the setup of the print."""
    if not any(printed(setup, name) for name in PRINTED):
        return ""
    return (
        "In print: adults of California in 2000, 1,000 or so studies of rows that are not handed out. Here: rows drawn from "
        "the census's published age groups of the same people, each group spread evenly."
    )


def partition(setup: Setup) -> Facts:
    """Return how a few resamples part the rows: how many rows each holds 0, 1, 2, … times, and how often one row is held.

    The resamples are drawn for the picture, from the seed; those of the studies come from the same law.
    """
    rng = np.random.default_rng((setup.seed, 4, setup.n))
    many = min(setup.k, _SHOWN)
    drawn = rng.multinomial(setup.n, np.full(setup.n, 1 / setup.n), size=many)
    counts = [np.bincount(np.minimum(one, _TIMES - 1), minlength=_TIMES).tolist() for one in drawn]
    odds = [*multiplicities(setup.n), *[0.0] * _TIMES]
    expected = [setup.n * odd for odd in [*odds[: _TIMES - 1], sum(odds[_TIMES - 1 :])]]
    return {"n": setup.n, "k": setup.k, "counts": counts, "expected": expected, "you": drawn[:, 0].tolist()}


def paid(setup: Setup, name: str, found: Facts | None) -> list[str]:
    """Return what an interval is charged in print, and what it costs."""
    own = f"{setup.symbol} {setup.loss:g}"
    if name not in BOOTSTRAP:
        return [own, own]
    return [own, "…"] if found is None else [found["published"], found["true"]]

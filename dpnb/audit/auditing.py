r"""``audit``: what two neighbouring datasets betray, exactly where the law can be written down, by sampling elsewhere.

*Exact.* A mechanism of :mod:`dpnb.trusted.mechanisms`, or a callable that returns a mapping from output to probability, is
enumerated. *Sampled.* Any other callable is run: an event is chosen on one set of runs; on fresh runs, with Clopper-Pearson
limits p̲ and q̄ at level α/2 each,

.. math:: ε ≥ \ln\frac{p̲ - δ}{q̄} \quad\text{with probability at least } 1 - α.

An audit refutes and never proves: at 200,000 runs and α = 10⁻⁶ no bound exceeds 9.5. With ``expected=`` it is two-sided, for grading:
too much noise, another shape or another centre fail too. Handles are refused; there is no argument through which protected data could
come.

References
----------
.. [1] Ding, Wang, Wang, Zhang and Kifer (2018), "Detecting Violations of Differential Privacy".
.. [2] Clopper and Pearson (1934).
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.audit.declared import declared_pair, declared_runner
from dpnb.audit.events import Event, Test
from dpnb.audit.experiment import Claim, Experiment, Promise
from dpnb.audit.noise_fit import Law
from dpnb.audit.sampling import Mechanism, Neighbours, Runs, runs_of, takes, vectorised
from dpnb.audit.verdict import Side, Verdict
from dpnb.errors import OptionError, PlanError
from dpnb.risk.divergence import Evidence, Pair, pair_of_laws

_VECTORISED, _LOOPED = 200_000, 20_000


def audit(  # noqa: PLR0913 - two datasets and a mechanism; the rest are keywords with defaults
    mechanism: object,
    neighbours: Sequence[object],
    claim: Promise = None,
    *,
    delta: float = 0.0,
    method: Literal["auto", "exact", "sample"] = "auto",
    expected: Callable[[Any], Law] | None = None,
    trials: int | None = None,
    seconds: float | None = None,
    alpha: float = 1e-6,
    rng: int | np.random.Generator = 0,
    events: Mapping[str, Callable[[Any], ArrayLike]] | None = None,
    name: str | None = None,
    names: Sequence[str] | None = None,
) -> Verdict:
    """Audit a mechanism on two neighbouring datasets. With an expected law, the audit also finds too much noise.

    Parameters
    ----------
    mechanism : callable or dpnb mechanism
        ``mechanism(data)``, with ``rng=`` if it takes one, and with ``size=`` if it can return many outputs at once (one row
        for each). A mechanism that takes ``rng`` and returns one number is run on arrays if that gives the same answers; otherwise it is
        called once for each run, and a warning says how many seconds that takes. If it returns a mapping from output to probability, the law is
        enumerated instead.
    neighbours : pair
        Two datasets that are neighbours by the claim, in the form that the mechanism takes. The audit cannot check that they are.
    claim : number or PrivacyLoss, optional
        ε, or a loss. A ρ is compared with the exact ρ; when sampling, with the ε that it implies at δ = 0.001.
    delta : float
        The δ that the claim allows in addition to ε. ``verdict.least_delta`` is the smallest δ at which the claimed ε holds here.
    method : {"auto", "exact", "sample"}
        Enumerate if possible; always enumerate; or always sample.
    expected : callable, optional
        ``expected(data)`` is the law that the answer should have: ``lambda data: scipy.stats.laplace(sum(data), 2)``, or anything with a
        ``cdf`` (and a ``pmf``, if it is of whole numbers). Then ``verdict.fits`` states for each neighbour whether the noise is too small, too large, off centre
        or of another shape, and ``verdict.passes`` is the grade.
    trials : int, optional
        Runs on each neighbour, twice. The default is 200,000, or 20,000 for a mechanism that is called once for each run.
    seconds : float, optional
        For a mechanism that is called once for each run: as many trials as fit in this time, at least 1,000.
    alpha : float
        The probability that the bound is wrong, and that correct noise does not fit `expected`.
    rng : int or numpy Generator
    events : mapping of str to callable, optional
        Your own events: a description, and a test of an array of outputs (one row for each run). They replace the built-in ones.
    name : str, optional
        The name of the mechanism.
    names : pair of str, optional
        The names of the neighbours.

    Returns
    -------
    Verdict

    Raises
    ------
    PlanError, OptionError
        If the neighbours are not a pair, an option is out of range, or the mechanism fails on both.

    Examples
    --------
    >>> def noisy_count(data, size, rng):  # a student's: the scale should be 2
    ...     return sum(data) + rng.laplace(0, 1, size)
    >>> audit(noisy_count, ([1, 1, 0], [1, 1, 1]), claim=0.5).breaks
    True
    >>> from scipy import stats
    >>> def cautious(data, rng):  # too private: the scale should be 2
    ...     return sum(data) + rng.laplace(0, 4)
    >>> graded = audit(
    ...     cautious, ([1, 1, 0], [1, 1, 1]), 0.5, expected=lambda data: stats.laplace(sum(data), 2)
    ... )
    >>> graded.breaks, graded.passes
    (False, False)
    """
    pair = _two(neighbours, "neighbours")
    _check(alpha, delta, trials, seconds)
    words = tuple(map(str, _two(names, "names"))) if names is not None else described(*pair)
    title = (
        name
        or getattr(getattr(mechanism, "card", None), "name", None)
        or getattr(mechanism, "__name__", "mechanism")
    )
    promise = Claim.read(claim, delta)
    if method not in {"auto", "exact", "sample"}:
        raise OptionError(f'method is "auto", "exact" or "sample", not {method!r}.')
    laws = None if method == "sample" or expected is not None else _laws(mechanism, pair)
    if laws is not None:
        return _exact(laws, promise, str(title), words)
    if method == "exact":
        raise PlanError(
            "This law cannot be enumerated. Return a mapping from output to probability, or use method='sample'."
        )
    runner = declared_runner(mechanism) or mechanism
    if not callable(runner):
        raise PlanError("A mechanism is a callable that takes the data, or one of dpnb.trusted.mechanisms.")
    own = [Event(text, _on_outputs(test)) for text, test in (events or {}).items()]
    expects = () if expected is None else tuple(_expected(expected, data) for data in pair)
    chance = np.random.default_rng(rng)
    runner, count, note = _planned(runner, pair, trials, seconds, chance)
    experiment = Experiment(runner, pair, words, count, alpha, own, expects, str(title), note)
    return experiment.verdict(promise.sampled(), chance)


def _planned(
    runner: Mechanism,
    pair: Neighbours,
    trials: int | None,
    seconds: float | None,
    rng: np.random.Generator,
) -> tuple[Mechanism, int, str]:
    """Return what to run, how often on each neighbour, and what to say of it."""
    if "size" in takes(runner):
        return runner, trials or _VECTORISED, ""
    many = vectorised(runner, pair, rng)
    if many is not None:
        return many, trials or _VECTORISED, "run on arrays of draws, with the results of single runs"
    one = seconds_of_one(runner, pair, rng)
    count = trials or (_LOOPED if seconds is None else min(_LOOPED, trials_within(seconds, one)))
    warn_of(count, one)
    return runner, count, ""


def _expected(law_of: Callable[[Any], Law], data: object) -> Law:
    if not callable(law_of):
        raise PlanError(
            "expected= is a function from the data to a law: lambda data: stats.laplace(sum(data), 2)."
        )
    return law_of(data)


def _two(values: Sequence[object] | None, what: str) -> Neighbours:
    try:
        first, second = values  # type: ignore[misc]
    except (TypeError, ValueError):
        raise PlanError(f"{what} is a pair: {what}=(one, other).") from None
    return first, second


def _check(alpha: float, delta: float, trials: int | None, seconds: float | None) -> None:
    if not 0 < alpha < 0.5:
        raise OptionError(f"alpha is a small probability, above 0 and below 0.5, not {alpha}.")
    if not 0 <= delta < 1:
        raise OptionError(f"delta is from 0 to below 1, not {delta}.")
    if trials is not None and trials < 100:
        raise OptionError(f"trials is at least 100, not {trials}.")
    if seconds is not None and not seconds > 0:
        raise OptionError(f"seconds is a positive time, not {seconds}.")


def _laws(mechanism: object, pair: Neighbours) -> Pair | None:
    declared = declared_pair(mechanism, *pair)
    if declared is not None:
        return declared
    if not callable(mechanism) or takes(mechanism):
        return None
    try:
        first = mechanism(pair[0])
        second = mechanism(pair[1]) if isinstance(first, Mapping) else None
    except Exception:  # noqa: BLE001 - a mechanism that fails is sampled, and its failures are outputs
        return None
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        return pair_of_laws(first, second)
    return None


def _exact(laws: Pair, claim: Claim, title: str, words: tuple[str, ...]) -> Verdict:
    if claim.symbol == "ρ" and not claim.delta:
        found = laws.concentrated()
    elif claim.symbol == "ρ":
        claim = claim.sampled()
        found = laws.approximate(claim.delta)
    else:
        found = laws.approximate(claim.delta) if claim.delta else laws.pure()
    likely, unlikely = _sides(found, words)
    return Verdict(
        title,
        found.loss,
        claim.amount,
        claim.symbol,
        claim.delta,
        True,
        found.event,
        likely,
        unlikely,
        note=claim.note,
        least_delta=laws.delta(claim.amount) if claim.symbol == "ε" and claim.amount is not None else None,
    )


def _sides(found: Evidence, words: tuple[str, ...]) -> tuple[Side, Side]:
    sides = [
        Side(text, None, share, share) for text, share in zip(words, (found.first, found.second), strict=True)
    ]
    return (sides[1], sides[0]) if found.swapped else (sides[0], sides[1])


def _on_outputs(test: Callable[[Any], ArrayLike]) -> Test:
    def on_runs(runs: Runs) -> NDArray[np.bool_]:
        values = runs.values[:, 0] if runs.values.shape[1] == 1 else runs.values
        return np.asarray(test(values), dtype=bool) & ~runs.raised

    return on_runs


_SHORT = 60


def described(first: object, second: object) -> tuple[str, str]:
    """Describe two datasets.

    Examples
    --------
    >>> described([0] * 1000, [0] * 999 + [1])
    ('1,000 rows; row 999 is 0', '1,000 rows; row 999 is 1')
    >>> described([1, 2], [1, 2, 3])
    ('[1, 2]', '[1, 2, 3]')
    """
    whole = tuple(_flat(data) for data in (first, second))
    if max(map(len, whole)) <= _SHORT:
        return whole[0], whole[1]
    one, two = _rows(first), _rows(second)
    if one is None or two is None or one.shape != two.shape:
        return _sized(first, one), _sized(second, two)
    unequal = (one != two) & ~((one != one) & (two != two))  # noqa: PLR0124 - NaN is not itself
    places = np.flatnonzero(unequal.reshape(len(one), -1).any(axis=1))
    if len(places) != 1:
        return _sized(first, one), _sized(second, two)
    at = int(places[0])
    return tuple(f"{len(one):,} rows; row {at} is {_cut(_flat(rows[at]))}" for rows in (one, two))  # type: ignore[return-value]


def _cut(text: str) -> str:
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"


def _flat(data: object) -> str:
    if isinstance(data, np.ndarray):
        data = data.tolist() if data.size <= 64 else data
    return " ".join(str(data).split())


def _rows(data: object) -> NDArray[Any] | None:
    """The data as an array of rows; a tuple of arrays is columns."""
    try:
        found = np.column_stack(data) if isinstance(data, tuple) else np.asarray(data)
    except ValueError:
        return None
    return found if found.ndim >= 1 and found.dtype.kind in "biufUS" else None


def _sized(data: object, rows: NDArray[Any] | None) -> str:
    return f"{len(rows):,} rows" if rows is not None else _cut(_flat(data))


_SLOW = 3.0
_FEWEST = 1_000
_TRIED = 20


class SlowAudit(UserWarning):
    """Warns that an audit will take seconds, because its mechanism returns one answer for each call."""


def seconds_of_one(mechanism: Mechanism, pair: Neighbours, rng: np.random.Generator) -> float:
    """Return how long one call takes, measured on a few."""
    start = time.perf_counter()
    for data in pair:
        runs_of(mechanism, data, _TRIED, rng)
    return (time.perf_counter() - start) / (2 * _TRIED)


def trials_within(seconds: float, one: float) -> int:
    """Return the runs of each neighbour, half of them for the choice of events, that fit in a time."""
    return max(_FEWEST, int(seconds / (4 * one)))


def warn_of(trials: int, one: float) -> None:
    """Say how long it will take, if that is longer than a person waits without asking."""
    total = 4 * trials * one
    if total > _SLOW:
        warnings.warn(
            f"This audit calls your function {4 * trials:,} times, about {total:.0f} s. Faster: let it take size= and return that many "
            "answers at once, or draw its noise from rng= without conditions on it. Shorter: seconds=5, or fewer trials.",
            SlowAudit,
            stacklevel=4,
        )

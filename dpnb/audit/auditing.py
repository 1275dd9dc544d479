r"""``audit``: what two neighbouring datasets betray, exactly where the law can be written down, by sampling elsewhere.

*Exact.* A mechanism of :mod:`dpnb.trusted.mechanisms`, or a callable that returns a mapping from output to probability, is
enumerated. *Sampled.* Any other callable is run: an event is chosen on one set of runs; on fresh runs, with Clopper-Pearson
limits p̲ and q̄ at level α/2 each,

.. math:: ε ≥ \ln\frac{p̲ - δ}{q̄} \quad\text{with probability at least } 1 - α.

An audit refutes and never proves: at 200,000 runs and α = 10⁻⁶ no bound exceeds 9.5. Handles are refused; there is no
argument through which protected data could come.

References
----------
.. [1] Ding, Wang, Wang, Zhang and Kifer (2018), "Detecting Violations of Differential Privacy".
.. [2] Clopper and Pearson (1934).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from dpnb.audit.declared import declared_pair, declared_runner
from dpnb.audit.events import Event, best_event, lower_bound
from dpnb.audit.neighbours import described
from dpnb.audit.sampling import Runs, clopper_pearson, runs_of, tabulate, takes
from dpnb.audit.verdict import Side, Verdict
from dpnb.errors import OptionError, PlanError
from dpnb.risk.divergence import Found, Pair, pair_of_laws
from dpnb.trusted.privacy.accountant import epsilon_of
from dpnb.trusted.privacy.loss import PrivacyLoss, rational
from dpnb.trusted.privacy.measure import Measure

_VECTORISED, _LOOPED = 200_000, 20_000
_DELTA = "0.001"


def audit(  # noqa: PLR0913 - two datasets and a mechanism; the rest are keywords with defaults
    mechanism: Any,
    neighbours: Sequence[Any],
    claim: Any = None,
    *,
    delta: float = 0.0,
    method: Literal["auto", "exact", "sample"] = "auto",
    trials: int | None = None,
    alpha: float = 1e-6,
    rng: int | np.random.Generator = 0,
    events: Mapping[str, Callable[..., Any]] | None = None,
    name: str | None = None,
    names: Sequence[str] | None = None,
) -> Verdict:
    """Audit a mechanism on two neighbouring datasets.

    Parameters
    ----------
    mechanism : callable or dpnb mechanism
        ``mechanism(data)``, with ``rng=`` if it takes it, and with ``size=`` if it can make many outputs at once (one row
        for each). If it returns a mapping from output to probability, the law is enumerated instead.
    neighbours : pair
        Two datasets that the claim calls neighbours, as the mechanism takes them. Only the caller knows whether they are.
    claim : number or PrivacyLoss, optional
        ε, or a loss. A ρ is compared with the exact ρ, or when sampling with the ε that it implies at δ = 0.001.
    delta : float
        The δ that the claim allows beside ε.
    method : {"auto", "exact", "sample"}
        Enumerate where possible; insist on it; or run even what could be enumerated.
    trials : int, optional
        Runs of each neighbour, twice. Default 200,000, or 20,000 for a mechanism that must be called once a run.
    alpha : float
        Probability that the bound is wrong.
    rng : int or numpy Generator
    events : mapping of str to callable, optional
        Your own events: words, and a test of an array of outputs (one row for each run). They replace the ready-made ones.
    name : str, optional
        What the mechanism is called.
    names : pair of str, optional
        What the neighbours are called.

    Returns
    -------
    Verdict

    Raises
    ------
    PlanError, OptionError
        When the neighbours are not a pair, an option is out of range, or the mechanism fails on both.

    Examples
    --------
    >>> def noisy_count(data, size, rng):  # a student's: the scale should be 2
    ...     return sum(data) + rng.laplace(0, 1, size)
    >>> audit(noisy_count, ([1, 1, 0], [1, 1, 1]), claim=0.5).breaks
    True
    """
    pair = _two(neighbours, "neighbours")
    _check(alpha, delta, trials)
    words = tuple(map(str, _two(names, "names"))) if names is not None else described(*pair)
    title = (
        name
        or getattr(getattr(mechanism, "card", None), "name", None)
        or getattr(mechanism, "__name__", "mechanism")
    )
    promise = _Claim.read(claim, delta)
    if method not in {"auto", "exact", "sample"}:
        raise OptionError(f'method is "auto", "exact" or "sample", not {method!r}.')
    laws = None if method == "sample" else _laws(mechanism, pair)
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
    count = trials or (_VECTORISED if "size" in takes(runner) else _LOOPED)
    return _sampled(
        runner, pair, promise.sampled(), count, alpha, np.random.default_rng(rng), own, str(title), words
    )


class _Claim:
    """A claim, in the measure in which it will be checked."""

    __slots__ = ("amount", "delta", "note", "symbol")

    def __init__(self, amount: float | None, symbol: str, delta: float, note: str = "") -> None:
        self.amount, self.symbol, self.delta, self.note = amount, symbol, delta, note

    @classmethod
    def read(cls, claim: Any, delta: float) -> _Claim:
        if not isinstance(claim, PrivacyLoss):
            return cls(None if claim is None else float(rational(claim, name="claim")), "ε", delta)
        if claim.measure is Measure.PURE:
            return cls(float(claim.amount), "ε", delta)
        return cls(float(claim.amount), "ρ", delta + float(claim.delta))

    def sampled(self) -> _Claim:
        """The claim as an ε: runs bound no ρ."""
        if self.symbol == "ε" or self.amount is None:
            return self
        epsilon = float(epsilon_of(self.amount, _DELTA))
        note = f"ρ {self.amount:g} implies ε {epsilon:.4g} at δ = {_DELTA}"
        return _Claim(epsilon, "ε", self.delta + float(_DELTA), note)


def _two(values: Sequence[Any] | None, what: str) -> tuple[Any, Any]:
    try:
        first, second = values  # type: ignore[misc]
    except (TypeError, ValueError):
        raise PlanError(f"{what} is a pair: {what}=(one, other).") from None
    return first, second


def _check(alpha: float, delta: float, trials: int | None) -> None:
    if not 0 < alpha < 0.5:
        raise OptionError(f"alpha is a small probability, above 0 and below 0.5, not {alpha}.")
    if not 0 <= delta < 1:
        raise OptionError(f"delta is from 0 to below 1, not {delta}.")
    if trials is not None and trials < 100:
        raise OptionError(f"trials is at least 100, not {trials}.")


def _laws(mechanism: Any, pair: tuple[Any, Any]) -> Pair | None:
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


def _exact(laws: Pair, claim: _Claim, title: str, words: tuple[str, ...]) -> Verdict:
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
    )


def _sides(found: Found, words: tuple[str, ...]) -> tuple[Side, Side]:
    sides = [
        Side(text, None, share, share) for text, share in zip(words, (found.first, found.second), strict=True)
    ]
    return (sides[1], sides[0]) if found.swapped else (sides[0], sides[1])


def _on_outputs(test: Callable[..., Any]) -> Callable[[Runs], Any]:
    def on_runs(runs: Runs) -> Any:
        values = runs.values[:, 0] if runs.values.shape[1] == 1 else runs.values
        return np.asarray(test(values), dtype=bool) & ~runs.raised

    return on_runs


def _sampled(  # noqa: PLR0913, PLR0917 - the whole audit is these facts
    runner: Callable[..., Any],
    pair: tuple[Any, Any],
    claim: _Claim,
    trials: int,
    alpha: float,
    rng: np.random.Generator,
    own: list[Event],
    title: str,
    words: tuple[str, ...],
) -> Verdict:
    outputs = [runs_of(runner, data, 2 * trials, rng) for data in pair]
    one, two = tabulate(*outputs)
    event, swapped = best_event(_part(one, 0, trials), _part(two, 0, trials), alpha, claim.delta, own)
    fresh = [_part(runs, trials, 2 * trials) for runs in (one, two)]
    if swapped:
        fresh, words = fresh[::-1], words[::-1]
    hits, others = (int(event.test(runs).sum()) for runs in fresh)
    bound = float(lower_bound(np.array(hits), np.array(others), trials, alpha, claim.delta))
    low, high = clopper_pearson(hits, trials, alpha / 2)[0], clopper_pearson(others, trials, alpha / 2)[1]
    return Verdict(
        title,
        bound,
        claim.amount,
        claim.symbol,
        claim.delta,
        False,
        event.words,
        Side(words[0], hits, hits / trials, float(low)),
        Side(words[1], others, others / trials, float(high)),
        trials,
        alpha,
        claim.note,
    )


def _part(runs: Runs, start: int, stop: int) -> Runs:
    return Runs(runs.values[start:stop], runs.raised[start:stop], runs.names)

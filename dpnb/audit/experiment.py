"""An audit by runs: events are chosen on one half of the runs and counted on the other, noise is held against its law there too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from dpnb.audit.events import Event, Gain, best_events, least_delta, lower_bound
from dpnb.audit.noise_fit import Law, NoiseFit, fit_noise
from dpnb.audit.sampling import Mechanism, Neighbours, Runs, clopper_pearson, runs_of, tabulate, takes
from dpnb.audit.verdict import Side, Verdict
from dpnb.errors import PlanError
from dpnb.trusted.privacy.accountant import epsilon_of
from dpnb.trusted.privacy.loss import PrivacyLoss, rational
from dpnb.trusted.privacy.measure import Measure

_TWICE, _DIFFERENT = 1_000, 20


@dataclass(frozen=True, slots=True)
class Experiment:
    """A mechanism to run on two neighbours.

    Parameters
    ----------
    mechanism : callable
    pair : tuple
        The two datasets.
    words : pair of str
        What they are called.
    trials : int
        Runs of each, for the choice of events and once more for the test.
    alpha : float
        Probability that a bound is wrong, and that right noise does not fit.
    own : sequence of Event
        Events of the caller's own.
    laws : sequence
        The law expected on each, or nothing.
    title, note : str
    """

    mechanism: Mechanism
    pair: Neighbours
    words: tuple[str, ...]
    trials: int
    alpha: float
    own: Sequence[Event]
    laws: Sequence[Law]
    title: str
    note: str = ""

    def verdict(self, claim: Claim, rng: np.random.Generator) -> Verdict:
        """Run, choose, test."""
        one, two = tabulate(*(runs_of(self.mechanism, data, 2 * self.trials, rng) for data in self.pair))
        chosen = best_events(
            _part(one, 0, self.trials), _part(two, 0, self.trials), self._gains(claim), self.own
        )
        fresh = [_part(runs, self.trials, 2 * self.trials) for runs in (one, two)]
        event, swapped = chosen[0]
        hits, others = _counts(event, fresh, swapped=swapped)
        fits = tuple(self._fit(runs, law, rng) for runs, law in zip(fresh, self.laws, strict=False))
        words = self.words[::-1] if swapped else self.words
        low = clopper_pearson(hits, self.trials, self.alpha / 2)[0]
        high = clopper_pearson(others, self.trials, self.alpha / 2)[1]
        return Verdict(
            self.title,
            float(lower_bound(np.array(hits), np.array(others), self.trials, self.alpha, claim.delta)),
            claim.amount,
            claim.symbol,
            claim.delta,
            False,
            event.words,
            Side(words[0], hits, hits / self.trials, float(low)),
            Side(words[1], others, others / self.trials, float(high)),
            self.trials,
            self.alpha,
            "; ".join(filter(None, (claim.note, self.note))),
            self._least_delta(claim, chosen[1:], fresh),
            fits[::-1] if swapped else fits,
            self._repeats(rng),
        )

    def _gains(self, claim: Claim) -> list[Gain]:
        gains: list[Gain] = [
            lambda hits, others: lower_bound(hits, others, self.trials, self.alpha, claim.delta)
        ]
        if claim.amount is None:
            return gains
        epsilon = claim.amount
        return [
            *gains,
            lambda hits, others: least_delta(hits, others, self.trials, self.alpha, epsilon),
        ]

    def _least_delta(
        self, claim: Claim, chosen: Sequence[tuple[Event, bool]], fresh: Sequence[Runs]
    ) -> float | None:
        if claim.amount is None:
            return None
        hits, others = _counts(chosen[0][0], fresh, swapped=chosen[0][1])
        return float(least_delta(np.array(hits), np.array(others), self.trials, self.alpha, claim.amount))

    def _repeats(self, rng: np.random.Generator) -> bool:
        """Whether two calls give the same many different answers: its seed is fixed."""
        if "size" not in takes(self.mechanism):
            return False
        one, two = (runs_of(self.mechanism, self.pair[0], _TWICE, rng) for _ in range(2))
        try:
            return len(np.unique(one)) > _DIFFERENT and np.array_equal(one, two)
        except TypeError:
            return False

    def _fit(self, runs: Runs, law: Law, rng: np.random.Generator) -> NoiseFit:
        if runs.names or runs.values.shape[1] != 1:
            raise PlanError("expected= is the law of one number; this mechanism returns something else.")
        return fit_noise(runs.values[:, 0], law, self.alpha / len(self.laws), rng)


def _counts(event: Event, fresh: Sequence[Runs], *, swapped: bool) -> tuple[int, int]:
    one, two = (int(event.test(runs).sum()) for runs in fresh)
    return (two, one) if swapped else (one, two)


def _part(runs: Runs, start: int, stop: int) -> Runs:
    return Runs(runs.values[start:stop], runs.raised[start:stop], runs.names)


_DELTA = "0.001"
Promise = PrivacyLoss | Fraction | str | float | None
"""A loss, an ε, or nothing."""


@dataclass(frozen=True, slots=True)
class Claim:
    """What a mechanism claims: an ε or a ρ (or nothing), and a δ."""

    amount: float | None
    symbol: str
    delta: float
    note: str = ""

    @classmethod
    def read(cls, claim: Promise, delta: float) -> Claim:
        """Return a claim given as a number, a loss or nothing."""
        if not isinstance(claim, PrivacyLoss):
            return cls(None if claim is None else float(rational(claim, name="claim")), "ε", delta)
        if claim.measure is Measure.PURE:
            return cls(float(claim.amount), "ε", delta)
        return cls(float(claim.amount), "ρ", delta + float(claim.delta))

    def sampled(self) -> Claim:
        """Return the claim as an ε: runs bound no ρ."""
        if self.symbol == "ε" or self.amount is None:
            return self
        epsilon = float(epsilon_of(self.amount, _DELTA))
        note = f"ρ {self.amount:g} implies ε {epsilon:.4g} at δ = {_DELTA}"
        return Claim(epsilon, "ε", self.delta + float(_DELTA), note)

"""Wrong versions of audits and exhibits, and two of rule 29 that had none: permute-and-flip at ε²/8, content-hash subsets.

An audit that accuses the innocent or excuses the guilty is worse than none, so it has mutants of its own.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
from scipy import stats

from dpnb.audit import audit, events, experiment, fit_noise, noise_fit
from dpnb.exhibits import defects
from dpnb.risk import divergence, float_laplace
from dpnb.trusted.aggregate.algebra import Col, Key, Lit, Total
from dpnb.trusted.measurements import Measurement, selections
from dpnb.trusted.mechanisms import PermuteAndFlip
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from tests.contracts.derived_loss import loss
from tests.mutants.table import Mutant, replaced

HALF = Fraction(1, 2)


def a_pick_is_charged_its_rho(_: Any) -> None:
    """The enumerated ρ of two neighbours is at most what a pick between two values is charged."""
    mechanism = PermuteAndFlip(HALF, 2)
    code = Column.category("c", [0, 1])
    schema = Schema("d", "D", (code,), PrivacyUnit("add-remove"), Budget.from_toml({"rho": 100}))
    asked = Measurement("pick", Total(Lit(1), None, (Key(Col("c"), 2),)), mechanism, 1)
    verdict = audit(mechanism, ([3, 0], [3, 1]), loss((asked,), schema).total)
    assert verdict.symbol == "ρ"
    assert not verdict.breaks


def a_changed_row_stays_in_its_subset(_: Any) -> None:
    """The corrected partition moves one answer."""
    assert defects.CONTENT_HASH.measure().corrected.kept


def by_content(_: Any) -> Any:
    return defects._by_content


def noise(data: Any, size: int, rng: np.random.Generator) -> Any:
    """A mechanism that ignores its data."""
    return rng.normal(0, 1, size)


def few_are_accused(alpha: float) -> Any:
    """Equal laws: at level α at most a share α of the audits (and three standard errors) find a loss."""

    def check(_: Any) -> None:
        found = [audit(noise, (0, 1), 0, trials=150, alpha=alpha, rng=seed).breaks for seed in range(60)]
        assert np.mean(found) <= alpha + 3 * np.sqrt(alpha * (1 - alpha) / 60)

    return check


def chosen_on_the_same_runs(real: Any) -> Any:
    """The first half of the runs both chooses and tests."""
    return lambda runs, start, stop: real(runs, 0, stop - start)


def plain_shares(_: Any) -> Any:
    """Shares instead of confidence limits."""

    def shares(hits: Any, trials: int, alpha: float) -> Any:
        found = np.asarray(hits, dtype=float) / trials
        return found, np.maximum(found, 1 / trials)

    return shares


def one_way_only(_: Any) -> None:
    """A loss that shows in one direction alone is found whichever dataset is named first."""
    law = lambda x: {"a": 0.9, "b": 0.1} if x else {"a": 0.99, "b": 0.01}
    losses = [audit(law, pair, 1, delta=0.05).loss for pair in ((1, 0), (0, 1))]
    assert losses[0] == losses[1] > 1


def forwards(real: Any) -> Any:
    """Only P against Q."""

    def approximate(pair: Any, delta: float) -> Any:
        loss = divergence._least_epsilon(pair.first, pair.second, delta)
        return divergence.Evidence(loss, "", 0.5, 0.5)

    return approximate


def impossible_is_infinite(_: Any) -> None:
    """An outcome that only one dataset has is an infinite loss."""
    assert audit(lambda x: {"a": 0.9, "b": 0.1} if x else {"a": 1.0}, (1, 0), 5).breaks


def impossible_left_out(_: Any) -> Any:
    """Outcomes of probability zero are skipped."""

    def pure(pair: Any) -> Any:
        able = np.isfinite(pair.first) & np.isfinite(pair.second)
        return divergence.Evidence(float(np.abs(pair.first - pair.second)[able].max()), "", 0.5, 0.5)

    return pure


def every_count_is_possible_for_itself(_: Any) -> None:
    """No float answer is called impossible for the count that made it."""
    for count in (0.0, 1.0):
        drawn = np.random.default_rng(3).laplace(count, 1, 2_000)
        assert float_laplace.possible(drawn, count).all()


def too_much_noise_is_seen(_: Any) -> None:
    """Noise of 1.25 times the scale does not fit."""
    drawn = np.random.default_rng(1).laplace(0, 2.5, 2_000)
    assert noise_fit.fit_noise(drawn, stats.laplace(0, 2)).scale < 1e-6


def whole_numbers_fit_their_law(_: Any) -> None:
    """Right draws of a law of whole numbers are not accused."""
    law = stats.dlaplace(0.5)
    assert fit_noise(law.rvs(2_000, random_state=2), law).passes


def nearer_end(_: Any) -> Any:
    """The distance from the nearer end of [0, 1] instead of its logarithm: bounded, where noise is not."""
    return lambda uniform: 2 * np.minimum(uniform, 1 - uniform) + 0.5


def upper_ends(_: Any) -> Any:
    """F of each draw, also at its jumps."""
    return lambda values, law, rng: np.clip(law.cdf(values), 1e-300, 1 - 2**-53)


MUTANTS = {
    "permute-and-flip at epsilon squared / 8": Mutant(
        "Bounded range claimed for permute-and-flip: its ρ is charged a fourth.",
        replaced(selections, "PrivacyEvent", lambda real: lambda _, amount: real("exponential", amount)),
        a_pick_is_charged_its_rho,
    ),
    "a content-hash partition": Mutant(
        "A changed row changes two subsets.",
        replaced(defects, "_by_place", by_content),
        a_changed_row_stays_in_its_subset,
    ),
    "an audit that tests on the runs that chose": Mutant(
        "The best of hundreds of events looks good by chance.",
        replaced(experiment, "_part", chosen_on_the_same_runs),
        few_are_accused(0.2),
    ),
    "an audit without confidence limits": Mutant(
        "Shares are taken for probabilities.",
        replaced(events, "clopper_pearson", plain_shares),
        few_are_accused(0.05),
    ),
    "a grade that takes F at its jumps": Mutant(
        "Whole numbers are held against a law without jumps, and right answers fail.",
        replaced(noise_fit, "_uniform", upper_ends),
        whole_numbers_fit_their_law,
    ),
    "a grade that sees bounded distances": Mutant(
        "The gamma test is fed with something that is not exponential.",
        replaced(noise_fit, "_distance", nearer_end),
        too_much_noise_is_seen,
    ),
    "an audit of one direction": Mutant(
        "A loss of the second dataset against the first is not seen.",
        replaced(divergence.Pair, "approximate", forwards),
        one_way_only,
    ),
    "an audit that skips impossible outcomes": Mutant(
        "What one dataset cannot do is not compared.",
        replaced(divergence.Pair, "pure", impossible_left_out),
        impossible_is_infinite,
    ),
    "a float attack that tries one number": Mutant(
        "Rounding of the exponential is not allowed for, and true counts are ruled out.",
        lambda patch: patch.setattr(float_laplace, "_NEAR", 0),
        every_count_is_possible_for_itself,
    ),
}

"""Wrong versions of the mechanisms that place, choose and locate: rates, rounding and scores that break the claim."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any

from dpnb.trusted.measurements import selections
from dpnb.trusted.measurements.facts import Facts
from dpnb.trusted.mechanisms import KSExponential, corridor, ks_exponential, located_sums
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.mechanisms import test_ks_exponential as placing
from tests.mutants.table import Mutant, replaced
from tests.statistics import test_choice as choices
from tests.statistics import test_ks_density as densities
from tests.statistics import test_robust_mean as means


def placements_keep_the_claim(_: Any) -> None:
    """No pair of tiny neighbours costs a placement more than ε."""
    assert placing.worst(KSExponential(Fraction(2), 4, (1, 1, 1)), 4, "change-one") <= 2 * (1 + 1e-12)


def below(real: Any) -> Any:
    """A little less than e^-x."""

    def exp_above(exponent: Fraction) -> tuple[int, int]:
        mantissa, power = real(exponent)
        return mantissa - (mantissa >> 20), power

    return exp_above


def checks_keep_the_claim(_: Any) -> None:
    """A check by groups is within its claim although a change touches two groups."""
    mechanism = KSExponential(Fraction(1), 3, (1, 1), 2, Fraction(1, 2))
    assert densities.check_loss.__wrapped__(mechanism, (5, 0, 0, 0), (4, 0, 1, 0)) <= 1 / 2


def choices_keep_the_claim(_: Any) -> None:
    """A change of a row that lifts one candidate and lowers another is within the claim."""
    loss, item = choices.worst("complementary", "change one row")
    assert loss <= float(item.loss.amount) * (1 + 1e-12)


def located_sums_keep_the_claim(_: Any) -> None:
    """Sums in any private range are within their event under change-one."""
    loss, recorded = means.worst_sums("plain", "change one row")
    assert loss <= recorded


def of_a_row_that_comes(real: Any) -> Any:
    """A changed row is derived as one that comes."""

    def overlapping(request: Any, mechanism: Any, facts: Facts) -> Any:
        return real(request, mechanism, replace(facts, unit=PrivacyUnit("add-remove")))

    return overlapping


MUTANTS = {
    "a sum of values that were not moved": Mutant(
        "Values beyond the private range are summed as they are, with noise as wide as the range.",
        replaced(
            located_sums.PrivateRange,
            "centred",
            lambda _: lambda chosen, values: 2 * (values - chosen.low) - (chosen.high - chosen.low),
        ),
        located_sums_keep_the_claim,
    ),
    "noise on a located sum half a range wide": Mutant(
        "The noise on the sum is calibrated to half of what a row can add.",
        replaced(
            located_sums.LocatedSums,
            "scales",
            lambda real: (
                lambda mechanism, chosen: (real(mechanism, chosen)[0] / 2, *real(mechanism, chosen)[1:])
            ),
        ),
        located_sums_keep_the_claim,
    ),
    "scores that are taken to move alike": Mutant(
        "The sensitivity of a choice under change-one is taken for that of a row that comes or goes.",
        replaced(selections, "_overlapping", of_a_row_that_comes),
        choices_keep_the_claim,
    ),
    "a placement at e to the epsilon u": Mutant(
        "The half of e^(εu/2) forgotten in the Kolmogorov-Smirnov mechanism.",
        replaced(KSExponential, "rate", lambda _: property(lambda m: m.epsilon / (m.points * m.factor))),
        placements_keep_the_claim,
    ),
    "a check for one group": Mutant(
        "The noise on the distance of a placement forgets that a change touches two groups.",
        replaced(KSExponential, "check_scale", lambda _: property(lambda m: m.points / m.check)),
        checks_keep_the_claim,
    ),
    "a placement whose rate forgets the factor": Mutant(
        "Each of two groups spends the whole ε.",
        replaced(KSExponential, "rate", lambda _: property(lambda m: m.epsilon / (2 * m.points))),
        lambda _: placing.test_a_change_of_group_costs_nearly_the_claim_and_no_more(),
    ),
    "tables rounded down": Mutant(
        "Entries below the sum that they bound: backward probabilities exceed one and far paths are never drawn.",
        replaced(corridor, "_ABOVE", lambda _: 1 - 2.0**-40),
        lambda _: placing.check_columns(*placing.CORRIDORS[1]),
    ),
    "ceilings rounded down": Mutant(
        "A proposal's odds exceed one, so that the law is not the declared one.",
        replaced(ks_exponential, "_exp_above", below),
        lambda _: placing.test_many_rings_are_used_and_ceilings_bound_their_rings(),
    ),
}

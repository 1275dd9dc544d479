"""Wrong thresholds: enumeration over neighbours finds a value that shows more often than was paid for."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from dpnb.inference import selection_law
from dpnb.trusted.mechanisms import Thresholding
from dpnb.trusted.mechanisms.thresholding import tally
from tests.mechanisms.test_thresholded_sums import (
    test_what_a_unit_moves_is_what_is_charged,
)
from tests.mechanisms.test_thresholded_sums import (
    test_what_is_shown_fits_the_law_and_misfits_a_wrong_scale as a_label_fits,
)
from tests.mechanisms.test_thresholding import (
    test_a_changed_unit_attains_its_delta,
    test_no_neighbour_exceeds_the_price,
    test_nothing_below_the_threshold_is_shown_and_keys_are_in_their_own_order,
    worst,
)
from tests.mutants.table import Mutant, Patch, replaced
from tests.statistics import test_frequent


def within_the_asked(rows: int, *, changed: bool = False) -> Callable[[Any], None]:
    """Asked for (1, 0.01), the whole law of the output is within (1, 0.01) of every neighbour's."""

    def check(_: Any) -> None:
        mechanism = selection_law.calibrated_threshold(
            Fraction(1), Fraction(1, 100), rows, rows * (1 + changed)
        )
        assert worst(mechanism, Fraction(1), rows, changed=changed) <= 0.01

    return check


def calibrated(change: Callable[[Thresholding], Thresholding]) -> Patch:
    """Change what calibration returns."""

    def make(real: Any) -> Any:
        return lambda *args, **kwargs: change(real(*args, **kwargs))

    return replaced(selection_law, "calibrated_threshold", make)


def one_less(found: Thresholding) -> Thresholding:
    """Show counts from one row below the threshold on."""
    return Thresholding(found.scale, found.threshold - 1, found.rows)


def narrower(found: Thresholding) -> Thresholding:
    """Draw noise of nine tenths of the scale."""
    return Thresholding(found.scale * Fraction(9, 10), found.threshold, found.rows)


def one_row(real: Any) -> Any:
    """Price a unit of several rows as a single row."""
    return lambda epsilon, delta, rows, unit: real(epsilon, delta, 1, Fraction(unit, rows))


def only_spread_rows(_: Any) -> Any:
    """Believe that a unit's rows always fall on different values."""
    return property(lambda found: 1 - (1 - found._tail(found.threshold - 1)) ** found.rows)


def as_seen(real: Any) -> Any:
    """Write what is shown in the order of the counts, which is that of the data."""

    def shown(found: Thresholding, exact: Any, draw: Any) -> Any:
        pairs = real(found, exact, draw)
        values, counts = tally(exact)
        order = sorted(range(0, len(pairs), 2), key=lambda at: counts[values.index((pairs[at],))])
        return tuple(number for at in order for number in pairs[at : at + 2])

    return shown


def plain_interval(real: Any) -> Any:
    """Give a count that was shown because it was large the interval of any count."""
    return lambda law, threshold, seen, alpha: (seen - law.tail_radius(alpha), seen + law.tail_radius(alpha))


def covers(_: Any) -> None:
    """Counts below the threshold are inside the intervals that they get when they are shown."""
    test_frequent.test_intervals_cover_given_that_the_count_was_shown(15, 0.05)


def in_order(_: Any) -> None:
    """Values are in their own order."""
    test_nothing_below_the_threshold_is_shown_and_keys_are_in_their_own_order()


def three_rows(_: Any) -> None:
    """A unit of three rows is enumerated."""
    test_no_neighbour_exceeds_the_price(Fraction(3), "0.0005", 3, changed=False)


MUTANTS = {
    "threshold: one less": Mutant(
        "Shows counts from τ - 1 on: what one person alone has shows with more than the δ that was paid.",
        calibrated(one_less),
        within_the_asked(1),
    ),
    "threshold: scale × 0.9": Mutant(
        "Draws less noise than ε pays for.",
        calibrated(narrower),
        within_the_asked(1),
    ),
    "threshold: δ halved": Mutant(
        "Believes a value shows half as often as it does.",
        replaced(Thresholding, "delta", lambda real: property(lambda found: real.fget(found) / 2)),
        within_the_asked(1),
    ),
    "threshold: change-one as one step": Mutant(
        "Prices a changed unit as an added one.",
        replaced(
            selection_law,
            "calibrated_threshold",
            lambda real: lambda epsilon, delta, rows, _: real(epsilon, delta, rows, rows),
        ),
        within_the_asked(1, changed=True),
    ),
    "threshold: nine tenths of δ under change-one": Mutant(
        "Believes that what a changed unit alone has is shown less often than it is.",
        replaced(
            Thresholding,
            "delta",
            lambda real: property(lambda found: real.fget(found) * Fraction(9, 10)),
        ),
        lambda _: test_a_changed_unit_attains_its_delta(Fraction(1), "0.01", 1),
    ),
    "threshold: units priced as rows": Mutant(
        "Prices a unit of two rows as one row.",
        replaced(selection_law, "calibrated_threshold", one_row),
        within_the_asked(2),
    ),
    "threshold: rows of a unit always spread": Mutant(
        "Forgets that all rows of a unit can fall on one value, which then shows more often.",
        replaced(Thresholding, "delta", only_spread_rows),
        three_rows,
    ),
    "threshold: order of the data": Mutant(
        "Writes the values in the order of their exact counts.",
        replaced(Thresholding, "shown", as_seen),
        in_order,
    ),
    "sums of labels: priced as counts alone": Mutant(
        "Forgets what a row adds to the sums that are released beside the counts.",
        replaced(
            Thresholding,
            "epsilon",
            lambda real: (
                lambda found, tops=(), *, changed: real(
                    Thresholding(found.scale, found.threshold, found.rows), changed=changed
                )
            ),
        ),
        lambda _: test_what_a_unit_moves_is_what_is_charged(1, changed=False),
    ),
    "sums of labels: scale × 0.9": Mutant(
        "Draws less noise than ε pays for.",
        replaced(
            Thresholding,
            "shown",
            lambda real: (
                lambda found, exact, draw: real(
                    found, exact, lambda scale, many: draw(scale * Fraction(9, 10), many)
                )
            ),
        ),
        lambda _: a_label_fits("exact"),
    ),
    "threshold: the interval of any count": Mutant(
        "Forgets that a count is shown because its noise was large.",
        replaced(test_frequent, "conditional_limits", plain_interval),
        covers,
    ),
}

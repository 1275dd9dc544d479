"""Thresholded counts and sums: the exact price by enumeration over neighbours, and the law of what is shown."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import numpy as np
import pytest

from dpnb.datasets.exact_answers import answer
from dpnb.errors import LossError, PlanError
from dpnb.inference.law import DiscreteLaplaceLaw, law_of
from dpnb.inference.seeded_bits import SeededBits
from dpnb.inference.simulated_release import release_part
from dpnb.trusted.aggregate.algebra import Col, LabelSums
from dpnb.trusted.aggregate.reference import LabelTally
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import DiscreteLaplace, ThresholdedSums
from dpnb.trusted.mechanisms.mechanism_record import read_mechanism
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.loss import PrivacyLoss, bounded_above
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from tests.contracts.derived_loss import loss
from tests.contracts.law import FITS, MISFITS, fit
from tests.contracts.mechanism import Audited, Drawn, TightContract

ONE = Fraction(1)
Row = tuple[int | None, int | None]
ROWS: tuple[Row, ...] = ((0, 0), (0, 2), (1, 1), (1, 2), (None, 2), (0, None))
"""A label of two, and a number from 0 to 2; either may be missing."""
MECHANISMS = [
    ThresholdedSums(ONE, 4, 1, (Fraction(2),)),
    ThresholdedSums(Fraction(3, 2), 5, 1, (Fraction(1, 2),)),
]


class TestThresholdedSums(TightContract):
    """The contract of every mechanism."""

    def mechanism(self):
        """Scale 2, threshold 20, two sums."""
        return ThresholdedSums(Fraction(2), 20, 1, (Fraction(5), Fraction(7, 2)))

    def audited(self):
        """A row that adds 1 to a sum."""
        mechanism = ThresholdedSums(Fraction(4), 6, 1, (Fraction(4),))
        return Audited(mechanism, ([(6, 3)], [(5, 2)]), PrivacyLoss.pure(Fraction(1, 2)))

    def dearer(self):
        """Both scales a tenth too small."""
        return ThresholdedSums(Fraction(40, 11), 6, 1, (Fraction(40, 11),))

    def drawn(self):
        """Labels about the threshold, each with a sum."""
        exact = LabelTally(((0,), (1,), (3,), (4,), (5,)), (1, 2, 4, 5, 6), ((2, 0, 7, 1, 3),))
        return {"thresholded sums": Drawn(ThresholdedSums(ONE, 5, 2, (Fraction(3),)), exact, 400)}


def asked(rows: tuple[Row, ...]) -> LabelTally:
    """What an engine answers."""
    table = {"t": [label for label, _ in rows], "x": [x for _, x in rows]}
    (found,) = answer(table, [LabelSums((Col("t"),), (Col("x"),))])
    assert isinstance(found, LabelTally)
    return found


@cache
def _window(scale: Fraction, reach: int) -> np.ndarray:
    """A discrete Laplace law from -reach to reach, the ends standing for all beyond."""
    law = law_of(DiscreteLaplace(scale))
    inner = np.asarray(law.pmf(np.arange(-reach + 1, reach)), dtype=float)
    tail = float(law.sf(reach - 1))
    return np.array([tail, *inner, tail])


def label_law(mechanism: ThresholdedSums, count: int, total: int) -> np.ndarray:
    """Hidden; or a noised count from the threshold on, with a noised sum: both ends of each stand for all beyond."""
    counts, reach = 14, 14
    if count == 0:
        return np.array([1.0] + [0.0] * (counts * (2 * reach + 1)))
    noise = DiscreteLaplaceLaw(mechanism.scale)
    shown = np.arange(mechanism.threshold, mechanism.threshold + counts - 1)
    tops = [*noise.pmf(shown - count), float(noise.sf(mechanism.threshold + counts - 2 - count))]
    sums = np.zeros(2 * reach + 1)
    law = law_of(DiscreteLaplace(mechanism.sums[0]))
    places = np.arange(-reach, reach + 1)
    sums[1:-1] = law.pmf(places[1:-1] - total)
    sums[0], sums[-1] = float(law.cdf(-reach - total)), float(law.sf(reach - 1 - total))
    hidden = float(noise.cdf(mechanism.threshold - 1 - count))
    return np.concatenate([[hidden], np.multiply.outer(tops, sums).ravel()])


@cache
def output_law(mechanism: ThresholdedSums, tally: LabelTally) -> np.ndarray:
    """The law of the whole output over two labels: they are independent."""
    found = {label[0]: (n, s) for label, n, s in zip(tally.labels, tally.counts, tally.sums[0], strict=True)}
    laws = [label_law(mechanism, *found.get(label, (0, 0))) for label in (0, 1)]
    return np.multiply.outer(*laws).ravel()


def excess(one: np.ndarray, two: np.ndarray, epsilon: float) -> float:
    """The smallest δ for which two laws are within (ε, δ), both ways."""
    return max(float(np.maximum(a - math.exp(epsilon) * b, 0).sum()) for a, b in ((one, two), (two, one)))


def neighbours(most: int, *, changed: bool) -> Iterator[tuple[tuple[Row, ...], tuple[Row, ...]]]:
    """All pairs of tables of up to `most` rows, one row more or another row."""
    for size in range(most):
        for base in itertools.combinations_with_replacement(ROWS, size):
            if changed:
                yield from (((*base, a), (*base, b)) for a, b in itertools.combinations(ROWS, 2))
            else:
                yield from ((base, (*base, a)) for a in ROWS)


@pytest.mark.parametrize("changed", [False, True], ids=["add-remove", "change-one"])
@pytest.mark.parametrize("mechanism", MECHANISMS, ids=["mostly counts", "mostly sums"])
def test_no_neighbour_exceeds_the_price(mechanism: ThresholdedSums, changed: bool) -> None:
    """Enumerated on every table of one to three rows, the whole law of counts and sums is within (ε, δ) of each neighbour's."""
    epsilon = float(mechanism.epsilon((2,), changed=changed))
    laws = {
        (asked(one), asked(two)): None
        for one, two in neighbours(3, changed=changed)
        if asked(one) != asked(two)
    }
    assert len(laws) > 20
    worst = max(excess(output_law(mechanism, one), output_law(mechanism, two), epsilon) for one, two in laws)
    assert worst <= float(mechanism.delta) * (1 + 1e-9)
    assert worst == pytest.approx(float(mechanism.delta), rel=1e-6)  # what only one row has attains it


def unit_moves(rows: int, *, changed: bool) -> Iterator[tuple[tuple[Row, ...], tuple[Row, ...]]]:
    """Pairs of tables that differ in a unit of up to so many rows, beside two rows of each label."""
    base = ((0, 1), (1, 1)) * 2
    units = [held for size in range(rows + 1) for held in itertools.combinations_with_replacement(ROWS, size)]
    pairs = itertools.combinations(units, 2) if changed else (((), unit) for unit in units)
    return (((*base, *one), (*base, *two)) for one, two in pairs)


@pytest.mark.parametrize("changed", [False, True], ids=["add-remove", "change-one"])
@pytest.mark.parametrize("rows", [1, 2, 3])
def test_what_a_unit_moves_is_what_is_charged(rows: int, changed: bool) -> None:
    """Over all units of one to three rows, the largest sum of moves over scales is the ε that the curator derives."""
    mechanism = ThresholdedSums(Fraction(3), rows + 9, 1, (Fraction(5, 3),))
    found = Fraction(0)
    for one, two in unit_moves(rows, changed=changed):
        moved = Counter[tuple[str, int]]()
        for sign, tally in ((1, asked(one)), (-1, asked(two))):
            for (label,), n, s in zip(tally.labels, tally.counts, tally.sums[0], strict=True):
                moved["n", label] += sign * n
                moved["s", label] += sign * s
        found = max(
            found,
            sum(
                (
                    abs(move) / (mechanism.scale if kind == "n" else mechanism.sums[0])
                    for (kind, _), move in moved.items()
                ),
                Fraction(0),
            ),
        )
    unit = (
        PrivacyUnit("change-one", "who", rows, units=9) if changed else PrivacyUnit("add-remove", "who", rows)
    )
    if rows == 1:
        unit = PrivacyUnit("change-one", rows=9) if changed else PrivacyUnit("add-remove")
    where = Schema(
        "d", "D", (Column.category("t", [0, 1]), Column.integer("x", 0, 2)), unit, Budget.from_toml({"epsilon": 9, "delta": "1e-2"})
    )  # fmt: skip
    (event,) = loss([Measurement("f", LabelSums((Col("t"),), (Col("x"),)), mechanism, 1)], where).events
    assert event.amount == found
    stated = ThresholdedSums(mechanism.scale, mechanism.threshold, rows, mechanism.sums)
    assert event.delta == bounded_above(stated.delta)


@pytest.mark.parametrize("draw", ["exact", "simulated"])
def test_what_is_shown_fits_the_law_and_misfits_a_wrong_scale(draw: str) -> None:
    """Noised counts and sums far above the threshold carry the declared noise, not one of 0.9 or 1.1 times its scale."""
    mechanism, many = ThresholdedSums(Fraction(3), 50, 1, (Fraction(4), Fraction(7))), 9_000
    exact = LabelTally(
        tuple((place, 1) for place in range(many)), (5000,) * many, ((10,) * many, (-3,) * many)
    )
    found = np.array(
        [
            mechanism.noised(exact, SeededBits(seed))
            if draw == "exact"
            else release_part(mechanism, exact, np.random.default_rng(seed))
            for seed in range(6)
        ]
    ).reshape(-1, 5)
    assert len(found) == 6 * many
    assert found[:many, 0].tolist() == list(range(many))
    for column, centre, scale in ((2, 5000, 3), (3, 10, 4), (4, -3, 7)):
        drawn = found[:, column] - centre
        assert fit(drawn, law_of(DiscreteLaplace(Fraction(scale)))) > FITS
        for factor in ("0.9", "1.1"):
            assert fit(drawn, law_of(DiscreteLaplace(Fraction(factor) * scale))) < MISFITS


def test_which_labels_are_shown_depends_on_their_counts_alone() -> None:
    """Whatever the sums are, the same labels are shown with the same counts for the same bits, and nothing of a hidden one is written."""
    mechanism = ThresholdedSums(Fraction(2), 12, 1, (Fraction(5),))
    labels, counts = ((1, 7), (2, 0), (2, 9), (4, 4)), (30, 1, 12, 40)
    one, two = (
        mechanism.noised(LabelTally(labels, counts, (sums,)), SeededBits(3))
        for sums in ((0,) * 4, (10**9,) * 4)
    )
    kept = [row[:3] for row in np.array(one).reshape(-1, 4).tolist()]
    assert kept == [row[:3] for row in np.array(two).reshape(-1, 4).tolist()]
    assert [2, 0] not in [row[:2] for row in kept]
    assert kept == sorted(kept)


def test_what_is_no_mechanism_is_refused() -> None:
    """Strictly: one form, positive exact scales, one to eight sums, a threshold above the rows."""
    made = ThresholdedSums(Fraction(2), 20, 3, (Fraction(5, 2), Fraction(7)))
    for sums in ((), (ONE,) * 9):
        with pytest.raises(PlanError):
            ThresholdedSums(ONE, 9, 1, sums)
    for wrong in (Fraction(0), Fraction(-1)):
        with pytest.raises(LossError):
            ThresholdedSums(ONE, 9, 1, (wrong,))
    with pytest.raises(PlanError):
        ThresholdedSums(ONE, 9, 1, (Fraction(2**50),))
    with pytest.raises(PlanError):
        ThresholdedSums(ONE, 3, 3, (ONE,))
    with pytest.raises(PlanError):
        read_mechanism({**made.to_json(), "mechanism": "thresholding"})

"""Thresholding: the exact price by enumeration over neighbours, the law of what is shown, and no trace of the rows' order."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
import pytest

from dpnb.audit import audit
from dpnb.errors import LossError, PlanError
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.inference.seeded_bits import SeededBits
from dpnb.inference.selection_law import calibrated_threshold
from dpnb.inference.simulated_release import release_part
from dpnb.trusted.mechanisms.thresholding import MOST_SHOWN, Thresholding
from dpnb.trusted.privacy.loss import PrivacyLoss
from tests.contracts.law import FITS, MISFITS, fit
from tests.contracts.mechanism import Audited, Drawn, TightContract

HALF = Fraction(1, 2)
Counts = tuple[int, ...]
CASES = [(Fraction(1), "0.01", 1), (HALF, "0.02", 1), (Fraction(2), "0.001", 2), (Fraction(3), "0.0005", 3)]


class TestThresholding(TightContract):
    """The contract of every mechanism."""

    def mechanism(self):
        """Scale 2, threshold 20."""
        return Thresholding(Fraction(2), 20)

    def audited(self):
        """A row that leaves the larger of two values, far from the threshold."""
        return Audited(Thresholding(Fraction(2), 6), ([9, 6], [8, 6]), PrivacyLoss.pure(HALF))

    def dearer(self):
        """A scale a tenth too small."""
        return Thresholding(Fraction(20, 11), 6)

    def drawn(self):
        """Counts about the threshold."""
        counts = (np.array([0, 1, 3, 4, 5]), np.array([1, 2, 4, 5, 6]))
        return {"thresholding": Drawn(Thresholding(Fraction(1), 5, 2), [counts], 400)}

    def test_what_one_person_alone_holds_shows_with_delta_and_no_more(self):
        """Beside the δ of a threshold nothing speaks against ε; beside nine tenths of it, the shown value does."""
        mechanism = Thresholding(Fraction(2), 6)
        delta = float(mechanism.delta)
        neighbours = ([9, 1], [9, 0])
        assert not audit(mechanism, neighbours, 0.5, delta=delta * (1 + 1e-9)).breaks
        assert audit(mechanism, neighbours, 0.5, delta=0.9 * delta).breaks
        assert audit(mechanism, neighbours, 0.5).loss == float("inf")


def law_of(mechanism: Thresholding, count: int, reach: int) -> np.ndarray:
    """Probabilities of one value: hidden, then each noised count from the threshold on; beyond `reach` together."""
    if count == 0:
        return np.array([1.0] + [0.0] * (reach + 1))
    noise = DiscreteLaplaceLaw(mechanism.scale)
    shown = np.arange(mechanism.threshold, mechanism.threshold + reach)
    last = float(noise.sf(mechanism.threshold + reach - 1 - count))
    return np.array([float(noise.cdf(mechanism.threshold - 1 - count)), *noise.pmf(shown - count), last])


def output_law(mechanism: Thresholding, counts: Counts, reach: int) -> np.ndarray:
    """The law of the whole output: values are independent."""
    law = np.ones(1)
    for count in counts:
        law = np.multiply.outer(law, law_of(mechanism, count, reach)).ravel()
    return law


def excess(one: np.ndarray, two: np.ndarray, epsilon: float) -> float:
    """The smallest δ for which two laws are within (ε, δ), both ways."""
    factor = math.exp(epsilon)
    return max(float(np.maximum(a - factor * b, 0).sum()) for a, b in ((one, two), (two, one)))


def added(rows: int, values: int) -> Iterator[Counts]:
    """How one unit's rows may fall on the values."""
    return (held for held in itertools.product(range(rows + 1), repeat=values) if 0 < sum(held) <= rows)


def worst(mechanism: Thresholding, epsilon: Fraction, rows: int, *, changed: bool) -> float:
    """The largest δ over neighbours: values that many rows have, that few have, and that nobody else has."""
    values = 2 if rows < 3 else 3
    bases = [tuple(base) for base in itertools.product((0, 1, mechanism.threshold), repeat=values)]
    reach, found = (60 if values == 2 else 24), 0.0
    for base in bases if rows < 3 else bases[:6]:
        units = list(added(rows, values))
        tables = [tuple(map(sum, zip(base, unit, strict=True))) for unit in units]
        laws = [output_law(mechanism, table, reach) for table in tables]
        near = (
            itertools.combinations(laws, 2)
            if changed
            else ((output_law(mechanism, base, reach), law) for law in laws)
        )
        found = max([found, *(excess(one, two, float(epsilon)) for one, two in near)])
    return found


@pytest.mark.parametrize("changed", [False, True], ids=["add-remove", "change-one"])
@pytest.mark.parametrize(("epsilon", "delta", "rows"), CASES)
def test_no_neighbour_exceeds_the_price(epsilon: Fraction, delta: str, rows: int, changed: bool) -> None:
    """Enumerated, the whole law of the output is within (ε, δ) of every neighbour's."""
    mechanism = calibrated_threshold(epsilon, Fraction(delta), rows, rows * (1 + changed))
    assert mechanism.epsilon(changed=changed) == epsilon
    claimed = mechanism.delta
    assert worst(mechanism, epsilon, rows, changed=changed) <= float(claimed) * (1 + 1e-9) <= float(delta)


@pytest.mark.parametrize(("epsilon", "delta", "rows"), CASES)
def test_the_price_is_attained_and_one_step_less_costs_more_than_asked(
    epsilon: Fraction, delta: str, rows: int
) -> None:
    """Under add-remove δ is exact, and the threshold is the smallest that keeps it: one less would cost more."""
    mechanism = calibrated_threshold(epsilon, Fraction(delta), rows, rows)
    assert worst(mechanism, epsilon, rows, changed=False) == pytest.approx(float(mechanism.delta), rel=1e-6)
    less = Thresholding(mechanism.scale, mechanism.threshold - 1, rows)
    assert worst(less, epsilon, rows, changed=False) > float(delta)


@pytest.mark.parametrize("rows", [1, 2, 3, 5, 8])
@pytest.mark.parametrize("scale", [Fraction(1, 2), Fraction(3), Fraction(40)])
def test_the_worst_allocation_is_the_worst_of_all(scale: Fraction, rows: int) -> None:
    """Over every way to spread a unit's rows on values of its own, none shows something more often than δ says."""
    mechanism = Thresholding(scale, rows + 9, rows)
    tail = [
        0.0,
        *(
            float(DiscreteLaplaceLaw(mechanism.scale).sf(mechanism.threshold - 1 - c))
            for c in range(1, rows + 1)
        ),
    ]

    def partitions(left: int, most: int) -> Iterator[tuple[int, ...]]:
        yield ()
        for part in range(min(left, most), 0, -1):
            yield from ((part, *rest) for rest in partitions(left - part, part))

    shown = max(1 - math.prod(1 - tail[c] for c in parts) for parts in partitions(rows, rows))
    claimed = float(mechanism.delta)
    assert shown <= claimed * (1 + 1e-9)
    assert claimed == pytest.approx(shown, rel=1e-9)


@pytest.mark.parametrize("changed", [False, True])
@pytest.mark.parametrize("rows", [1, 20, 1000])
@pytest.mark.parametrize("epsilon", ["0.000001", "1", "250", "1414", "1000000"])
def test_any_loss_is_priced_at_once(epsilon: str, rows: int, changed: bool) -> None:
    """From the smallest ε to the largest, for units of a thousand rows, both prices are kept; none searches for ever."""
    start = time.process_time()
    for delta in ("0.4", "1e-8", "1e-15"):
        mechanism = calibrated_threshold(Fraction(epsilon), Fraction(delta), rows, rows * (1 + changed))
        assert 0 < mechanism.delta <= Fraction(delta)
        assert mechanism.epsilon(changed=changed) <= Fraction(epsilon)
        assert mechanism.threshold > rows
    assert time.process_time() - start < 3


def test_change_one_costs_twice_the_epsilon_and_the_delta_of_one_step() -> None:
    """One changed unit leaves and enters: (2ε, δ), δ being what one unit alone shows."""
    mechanism = Thresholding(Fraction(2), 30)
    step = float(mechanism.delta)
    assert mechanism.epsilon(changed=True) == 2 * mechanism.epsilon(changed=False) == 1
    calibrated = [calibrated_threshold(HALF, Fraction(1, 10**6), 1, unit) for unit in (1, 2)]
    assert [one.scale for one in calibrated] == [2, 4]
    assert all(0.6e-6 < one.delta <= 1e-6 for one in calibrated)
    assert step == pytest.approx(math.exp(-29 / 2) / (1 + math.exp(-1 / 2)), rel=1e-12)


@pytest.mark.parametrize(("epsilon", "delta", "rows"), CASES[:3])
def test_a_changed_unit_attains_its_delta(epsilon: Fraction, delta: str, rows: int) -> None:
    """Under change-one too the price is the worst neighbour's, exactly: what only the unit has, and the other unit does not."""
    mechanism = calibrated_threshold(epsilon, Fraction(delta), rows, 2 * rows)
    found = max(worst(mechanism, epsilon, rows, changed=changed) for changed in (False, True))
    assert found == pytest.approx(float(mechanism.delta), rel=1e-6)


@pytest.mark.parametrize("threshold", [2, 3, 4, 6])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(2), Fraction(8)], ids=str)
def test_a_changed_row_costs_no_more_where_thresholds_are_low(scale: Fraction, threshold: int) -> None:
    """The whole law of the output on tiny neighbours, also where more is shown than hidden: the price covers it."""
    mechanism = Thresholding(scale, threshold)
    epsilon = mechanism.epsilon(changed=True)
    bases = itertools.product(range(4), repeat=2)
    for base in bases:
        one, two = ((base[0] + a, base[1] + b) for a, b in ((1, 0), (0, 1)))
        laws = [output_law(mechanism, counts, 60) for counts in (one, two)]
        assert excess(*laws, float(epsilon)) <= float(mechanism.delta) * (1 + 1e-9) + 1e-15


def test_delta_is_rounded_up_and_precise_far_out() -> None:
    """The price is never below the real tail, and within 10⁻³⁰ of it where floats would be zero or one."""
    for threshold in (20, 200, 1500):
        delta = Thresholding(Fraction(1), threshold).delta
        exact = -(threshold - 1) - math.log1p(math.exp(-1))
        assert math.log(delta.numerator) - math.log(delta.denominator) >= exact - 1e-12
        if threshold == 20:
            assert math.log(delta.numerator) - math.log(delta.denominator) == pytest.approx(exact, abs=1e-12)


@pytest.mark.parametrize("draw", ["exact", "simulated"])
def test_what_is_shown_fits_the_law_and_misfits_a_wrong_scale(draw: str) -> None:
    """Noised counts far above the threshold carry the declared noise, not one of 0.9 or 1.1 times its scale."""
    mechanism, many = Thresholding(Fraction(3), 50), 60_000
    exact = [(np.arange(many), np.full(many, 5000))]
    found = (
        mechanism.noised(exact, SeededBits(5))
        if draw == "exact"
        else release_part(mechanism, exact, np.random.default_rng(5))
    )
    assert len(found) == 2 * MOST_SHOWN
    few = [(np.arange(9_000), np.full(9_000, 5000))]
    noise = []
    for seed in range(6):
        shown = (
            mechanism.noised(few, SeededBits(seed))
            if draw == "exact"
            else release_part(mechanism, few, np.random.default_rng(seed))
        )
        noise.append(np.array(shown[1::2]) - 5000)
    drawn = np.concatenate(noise)
    assert fit(drawn, DiscreteLaplaceLaw(mechanism.scale)) > FITS
    for factor in ("0.9", "1.1"):
        assert fit(drawn, DiscreteLaplaceLaw(Fraction(factor) * 3)) < MISFITS


def test_a_rare_value_is_shown_as_seldom_as_stated() -> None:
    """Single rows are shown with the tail probability that δ charges."""
    mechanism, values = Thresholding(Fraction(2), 8), 40_000
    exact = [(np.arange(values), np.ones(values, dtype=np.int64))]
    shown = sum(len(mechanism.noised(exact, SeededBits(seed))) // 2 for seed in range(5))
    expected = 5 * values * float(mechanism.delta)
    assert abs(shown - expected) < 5 * math.sqrt(expected)


def test_nothing_below_the_threshold_is_shown_and_keys_are_in_their_own_order() -> None:
    """Whatever order the engine's tally has, the released pairs rise by value, and every count passed."""
    mechanism = Thresholding(Fraction(2), 12)
    values, counts = np.array([9, 2, 7, 4, 1]), np.array([30, 1, 12, 500, 3])
    for seed in range(40):
        one = mechanism.noised([(values, counts)], SeededBits(seed))
        other = np.random.default_rng(seed).permutation(5)
        assert one[::2] == tuple(sorted(one[::2]))
        assert min(one[1::2]) >= 12
        assert set(mechanism.noised([(values[other], counts[other])], SeededBits(seed))[::2]) == set(one[::2])


def test_an_empty_table_shows_nothing() -> None:
    """No value, no pair."""
    nothing = [(np.array([], dtype=np.int64), np.array([], dtype=np.int64))]
    assert Thresholding(Fraction(1), 5).noised(nothing, SeededBits(1)) == ()


def test_too_many_values_are_cut_by_their_noised_counts() -> None:
    """Of more than ten thousand the largest noised counts stay, still in the order of values: a function of the output."""
    mechanism, many = Thresholding(Fraction(1), 5), MOST_SHOWN + 500
    shown = mechanism.noised([(np.arange(many), np.arange(many) + 1000)], SeededBits(2))
    assert len(shown) == 2 * MOST_SHOWN
    assert list(shown[::2]) == sorted(shown[::2])
    assert min(shown[::2]) > 400


def test_what_cannot_be_promised_is_refused() -> None:
    """A threshold within one person's reach, δ of 0 or 1, no loss, and endless units are errors before any charge."""
    with pytest.raises(PlanError, match="above the number of rows"):
        Thresholding(Fraction(1), 3, 3)
    with pytest.raises(PlanError, match="1 to 1,000"):
        Thresholding(Fraction(1), 5000, 2000)
    for epsilon, delta in ((1, 0), (1, 1), (0, "0.1"), (-1, "0.1")):
        with pytest.raises(LossError):
            calibrated_threshold(Fraction(epsilon), Fraction(delta), 1, 1)
    with pytest.raises(PlanError, match="2\\^48"):
        calibrated_threshold(Fraction(1, 2**50), HALF / 4, 1, 1)

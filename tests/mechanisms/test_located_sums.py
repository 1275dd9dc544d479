"""Sums in a private range: selections and noise have their declared laws, integers keep their bounds, and refusals."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from scipy import stats

from dpnb.errors import LossError, PlanError
from dpnb.inference.law import DiscreteLaplaceLaw
from dpnb.inference.seeded_bits import SeededBits
from dpnb.inference.selection_law import probabilities, selection
from dpnb.trusted.aggregate.algebra import Col, ValueCounts
from dpnb.trusted.canonical import canonical
from dpnb.trusted.measurements import Facts, selections
from dpnb.trusted.mechanisms import LocatedSums, QuantileSelection
from dpnb.trusted.mechanisms.located_sums import PrivateRange, radii
from dpnb.trusted.mechanisms.mechanism_record import read_mechanism
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.law import FITS, MISFITS, fit
from tests.contracts.mechanism import Audited, Drawn, MechanismContract

HALF = Fraction(1, 2)


def made(steps, epsilon=Fraction(1), widen=0, scales=(3, 5, 7, 2)):
    scales = [None if scale is None else Fraction(scale) for scale in scales]
    return LocatedSums(
        QuantileSelection(epsilon, HALF, 0, steps),
        QuantileSelection(epsilon, Fraction(1), -1, len(radii(steps)) - 1),
        widen,
        *scales,
    )


def tally(*values):
    found, counts = np.unique(np.array(values, dtype=np.int64), return_counts=True)
    return found, counts


class TestLocatedSums(MechanismContract):
    def mechanism(self):
        return made(100)

    def audited(self):
        mechanism = LocatedSums(
            QuantileSelection(Fraction(4), HALF, 0, 4),
            QuantileSelection(Fraction(1), Fraction(1), 0, len(radii(4)) - 1),
            1,
            *[Fraction(10**6)] * 3,
        )
        median = (tally(0, 1, 1, 4), tally(1, 1, 4, 4))
        return Audited(mechanism, median, PrivacyLoss.pure(5), runs=1_000)

    def drawn(self):
        middle = QuantileSelection(Fraction(1), HALF, 0, 5)
        radius = QuantileSelection(Fraction(1), Fraction(1), -1, 4)
        mechanism = LocatedSums(middle, radius, 1, *map(Fraction, (2, 3, 4, 5)))
        return {"sums in a private range": Drawn(mechanism, [tally(0, 0, 0, 2, 3, 3, 3, 3, 5, 5)] * 300)}

    @pytest.mark.parametrize("counted", [None, Fraction(5)])
    def test_its_record_has_a_noise_of_the_count_or_none(self, counted):
        mechanism = made(64, scales=(9, 9, 9, counted))
        assert read_mechanism(json.loads(canonical(mechanism.to_json()))) == mechanism


def test_radii_are_half_octaves_that_cover_the_grid():
    """1, 2, 3, 4, 6, 8, …; the last is at least the grid, and there are two for each doubling."""
    assert radii(20) == (1, 2, 3, 4, 6, 8, 12, 16, 24)
    for steps in (1, 2, 3, 5, 2**60):
        sizes = radii(steps)
        assert sizes[-1] >= steps
        assert all(1 < b / a <= 2 for a, b in pairwise(sizes))
        assert len(sizes) <= 2 * steps.bit_length() + 2


RANGES = [
    PrivateRange(0, 1),
    PrivateRange(3, 10),
    PrivateRange(0, 2**20),
    PrivateRange(5, 2**20 + 6),
    PrivateRange(17, 2**60),
    PrivateRange(2**59, 2**60),
]


@pytest.mark.parametrize("chosen", RANGES, ids=str)
def test_rows_keep_the_bounds_that_their_noise_assumes(chosen):
    """Whatever the value, |y| ≤ half and y² ≤ top; both are reached; a unit of y is what it says, and ends are moved, not lost."""
    rng = np.random.default_rng(1)
    values = np.concatenate(
        [
            [0, chosen.low, chosen.high, max(chosen.low - 1, 0), 2**60],
            rng.integers(0, 2**60, 200),
            rng.integers(chosen.low, chosen.high + 1, 500),
        ]
    ).astype(np.int64)
    found = chosen.centred(values)
    squares = chosen.squares(found)
    assert chosen.half <= 2**20
    assert chosen.top <= 2**20
    assert np.abs(found).max() == chosen.half
    assert squares.min() >= 0
    assert squares.max() == chosen.top
    middle = Fraction(chosen.low + chosen.high, 2)
    for value, y in zip(values.tolist(), found.tolist(), strict=True):
        moved = min(max(value, chosen.low), chosen.high)
        assert abs(middle + y * chosen.unit - moved) <= chosen.unit / 2
    scale = 4**chosen.square_shift
    assert np.max(np.abs(np.sqrt(squares * float(scale)) - np.abs(found))) <= 2.0**chosen.square_shift
    assert chosen.outside(values).tolist() == [
        int(not chosen.low <= v <= chosen.high) for v in values.tolist()
    ]


def test_sums_are_exact():
    """S, Q, K and n by hand."""
    mechanism, chosen = made(100), PrivateRange(10, 20)
    assert mechanism.sums(tally(0, 12, 12, 15, 20, 99), chosen) == (
        -10 - 6 - 6 + 0 + 10 + 10,
        3 * 100 + 72,
        2,
        6,
    )
    assert mechanism.sums(tally(), chosen) == (0, 0, 0, 0)


def test_noise_has_its_scale_in_the_units_of_the_range(monkeypatch):
    """Where only one range is possible, S, Q, K and n less their exact values fit their scales and misfit 0.9 and 1.1 of them."""
    mechanism = made(1)
    monkeypatch.setattr(QuantileSelection, "release", lambda *_: 0)
    found = np.array(mechanism.noised([tally(0, 0, 1)] * 30_000, SeededBits(5))).reshape(-1, 6)
    assert set(map(tuple, found[:, :2].tolist())) == {(0, 1)}
    for column, (value, scale) in enumerate(zip((-1, 3, 0, 3), (3, 5, 7, 2), strict=True), start=2):
        noise = found[:, column] - value
        assert fit(noise, DiscreteLaplaceLaw(Fraction(scale))) > FITS
        for factor in (Fraction(9, 10), Fraction(11, 10)):
            assert fit(noise, DiscreteLaplaceLaw(scale * factor)) < MISFITS


def test_scales_grow_with_the_range():
    """The noise on S is half ranges wide, that on Q as wide as the largest square; K and n keep theirs."""
    mechanism = made(100)
    assert mechanism.scales(PrivateRange(10, 20)) == (30, 500, 7, 2)
    assert made(100, scales=(3, 5, 7, None)).scales(PrivateRange(0, 100)) == (300, 5 * 100**2, 7)


def test_choices_have_their_declared_law():
    """Middle and radius come out as the two exponential mechanisms say, the second given the first; with ε halved they do not."""
    mechanism, values, bits = made(3, Fraction(4)), tally(0, 0, 3, 3, 3, 2), SeededBits(6)
    size, seen = len(radii(3)), {}
    for _ in range(6000):
        low, high, *_rest = mechanism.release(values, bits)
        seen[low, high] = seen.get((low, high), 0) + 1

    def expected(of):
        law = {}
        for place, chance in enumerate(probabilities(of, values)):
            chosen = of.range_of(place // size, place % size)
            law[chosen.low, chosen.high] = law.get((chosen.low, chosen.high), 0.0) + float(chance)
        return law

    def judged(law):
        names = [name for name, p in law.items() if 6000 * p > 5]
        counts = [seen.get(name, 0) for name in names]
        rest = 6000 - sum(counts)
        wanted = [6000 * law[name] for name in names]
        return stats.chisquare(
            [*counts, rest], [*wanted, max(6000 - sum(wanted), rest, 1e-9)], sum_check=False
        ).pvalue

    assert math.isclose(sum(expected(mechanism).values()), 1)
    assert judged(expected(mechanism)) > FITS
    assert judged(expected(made(3, Fraction(2)))) < FITS


def test_a_range_is_near_the_data_in_a_huge_grid():
    """5,000 rows near one million of a trillion are found, and the range is a few times as wide as they are."""
    rng = np.random.default_rng(7)
    values = np.unique(rng.normal(10**6, 1000, 5000).astype(np.int64), return_counts=True)
    steps = 10**12
    mechanism = LocatedSums(
        selection(HALF, HALF, steps, 1),
        selection(HALF, Fraction(1), len(radii(steps)) - 1, 1, 0.01),
        3,
        *[Fraction(10)] * 4,
    )
    low, high, total, _, outside, rows = mechanism.release(values, SeededBits(8))
    assert low < 10**6 < high
    assert 3000 < high - low < 40_000
    chosen = PrivateRange(low, high)
    mean = (low + high) / 2 + float(chosen.unit) * total / rows
    assert abs(mean - 10**6) < 200
    assert abs(outside) < 200


EMPTY = [tally(), tally(0), tally(100), tally(*[100] * 50), tally(0, 100)]


@pytest.mark.parametrize("counts", EMPTY, ids=["none", "one", "highest", "constant", "two"])
def test_no_counts_make_it_fail(counts):
    """Nothing, one value and constants give six integers in the same places."""
    found = made(100, widen=3).release(counts, SeededBits(9))
    assert len(found) == 6
    assert 0 <= found[0] < found[1] <= 100
    assert all(type(value) is int for value in found)


def test_the_cost_of_the_sums_does_not_depend_on_the_range():
    """ε of a row that enters, and of one that changes, from the relative scales alone."""
    entering = Fraction(1, 3) + Fraction(1, 5) + Fraction(1, 7) + Fraction(1, 2)
    changing = Fraction(2, 3) + Fraction(1, 5) + Fraction(1, 7)
    for unit, mechanism, cost in (
        (PrivacyUnit("add-remove"), made(100), entering),
        (PrivacyUnit("change-one", rows=5), replace(made(100), count_scale=None), changing),
    ):
        facts = Facts(unit, Measure.PURE, {"x": (0, 100)}, frozenset())
        cells, (*_, sums) = selections.located_events(ValueCounts(Col("x")), mechanism, facts)
        assert cells == mechanism.width
        assert sums.amount == cost


def test_wrong_parameters_are_refused():
    """No scale, a float, too wide a noise, too many steps, radii of another grid and a negative widening."""
    for scales in ((0, 5, 7, 2), (3, 5, 7, -1)):
        with pytest.raises(LossError):
            made(100, scales=scales)
    with pytest.raises(PlanError, match="2\\^48"):
        made(100, scales=(2**30, 5, 7, 2))
    with pytest.raises(PlanError, match="2\\^60"):
        made(2**61)
    with pytest.raises(PlanError):
        made(100, widen=-1)
    with pytest.raises(PlanError):
        LocatedSums(selection(HALF, HALF, 100, 1), selection(HALF, HALF, 3, 1), 0, *[Fraction(1)] * 3)

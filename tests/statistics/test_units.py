"""People with several rows, for every registered statistic: the loss of a whole person is the one that is charged.

Neighbours are brute-forced: a person holds any few rows of a small set that reaches every bound, and is added to nothing, or
replaced by any other. What is released of a table is additive over its rows, or counts of values; the loss of a pair is computed
from the exact answers and the mechanisms that pricing chose.
"""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpnb.datasets.exact_answers import answer
from dpnb.datasets.preparation import prepare
from dpnb.errors import DpnbError, LossError, Unavailable
from dpnb.estimate import Estimate
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.seeded_bits import SeededBits
from dpnb.inference.selection_law import placements, probabilities
from dpnb.planner import PricedQuestion
from dpnb.trusted.aggregate.reference import Table
from dpnb.trusted.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    KSExponential,
    LocatedSums,
    PermuteAndFlip,
    QuantileSelection,
)
from dpnb.trusted.mechanisms.ks_exponential import distance
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.questions import SAMPLES, TABLES, UNITS, asked, released, schema
from tests.mechanisms.enumeration import gap, log_law
from tests.statistics.test_selection import loss_between

CASES = [(name, place) for name, samples in SAMPLES.items() for place in range(len(samples))]
PEOPLE = {
    "added or removed": lambda most: PrivacyUnit("add-remove", unit="who", max_rows=most),
    "changed": lambda most: PrivacyUnit("change-one", unit="who", max_rows=most, units=2),
}
ROWS = [
    *itertools.product((0.0, 50.0, 100.0), (0.0, 10.0), (0, 1), ("u", "w")),
    (51.0, 5.0, 0, "v"),
    (np.nan, np.nan, None, None),
]
FEW = [ROWS[i] for i in (0, 3, 10, 20, 23, 24, 25)]
_ADDITIVE = (DiscreteLaplace, DiscreteGaussian)


def people(rows: list[Any], most: int) -> list[tuple[Any, ...]]:
    """What one person can hold."""
    return [held for size in range(most + 1) for held in itertools.combinations_with_replacement(rows, size)]


@cache
def table_of(unit: PrivacyUnit, held: tuple[Any, ...]) -> Table:
    """The prepared table that one person alone is in; it is the same whatever is asked of it."""
    columns = list(zip(*held, strict=True)) if held else [(), (), (), ()]
    raw = {
        name: np.array(values, dtype=object if name in "bg" else float)
        for name, values in zip("xybg", columns, strict=True)
    }
    raw["who"] = np.array(["one"] * len(held), dtype=object)
    return prepare(raw, schema(unit))


def exact(item: PricedQuestion, unit: PrivacyUnit, held: tuple[Any, ...]) -> list[Any]:
    """The exact answers behind every part, for a table that this person alone is in."""
    return answer(table_of(unit, held), [part.request for part in item.parts])


def additive_losses(item: PricedQuestion, answers: list[list[Any]], pairs: Any) -> np.ndarray:
    """The loss of the additive parts of each pair of tables."""
    first, second = (np.array([pair[side] for pair in pairs]) for side in (0, 1))
    total = np.zeros(len(first))
    for place, part in enumerate(item.parts):
        table = np.array([found[place] for found in answers], dtype=float)
        change = np.abs(table[first] - table[second])
        mechanism = part.mechanism
        if isinstance(mechanism, DiscreteLaplace):
            total += change.sum(axis=1) / float(mechanism.scale)
        else:
            assert isinstance(mechanism, DiscreteGaussian)
            total += (change**2).sum(axis=1) / (2 * float(mechanism.variance))
    return total


def part_loss(mechanism: Any, one: Any, two: Any) -> float:
    """The exact loss of one part between two tables: the log-ratio of its whole law."""
    if isinstance(mechanism, DiscreteLaplace):
        return sum(abs(a - b) for a, b in zip(one, two, strict=True)) / float(mechanism.scale)
    if isinstance(mechanism, PermuteAndFlip):
        return loss_between(mechanism, tuple(one), tuple(two))
    if isinstance(mechanism, QuantileSelection):
        laws = [[log_law_of(mechanism, cell) for cell in found] for found in (one, two)]
        return sum(gap(a, b) for a, b in zip(*laws, strict=True))
    if isinstance(mechanism, LocatedSums):
        return sum(located_loss(mechanism, a, b) for a, b in zip(one, two, strict=True))
    assert isinstance(mechanism, KSExponential)
    size = len(mechanism.places)
    cells = [np.reshape(found, (-1, size)).tolist() for found in (one, two)]
    return sum(placement_loss(mechanism, a, b) for a, b in zip(*cells, strict=True))


Tally = tuple[tuple[int, ...], tuple[int, ...]]


@cache
def located(mechanism: LocatedSums, tally: Tally) -> tuple[np.ndarray, np.ndarray]:
    """Log-law of middle and radius, and the four exact sums in units of their noise in the range of each."""
    counts = tuple(np.array(part, dtype=np.int64) for part in tally)
    logs = np.array([log_fraction(p) for p in probabilities(mechanism, counts)])
    sums = []
    for middle in range(mechanism.steps + 1):
        for place in range(mechanism.radius.steps + 1):
            chosen = mechanism.range_of(middle, place)
            pairs = zip(mechanism.sums(counts, chosen), mechanism.scales(chosen), strict=False)
            sums.append([value / float(scale) for value, scale in pairs])
    return logs, np.array(sums)


def log_fraction(p: Fraction) -> float:
    """The logarithm of a probability, however small."""
    return math.log(p.numerator) - math.log(p.denominator)


def located_loss(mechanism: LocatedSums, one: Any, two: Any) -> float:
    """The loss of range and sums together, over every range."""
    if one.values.tolist() == two.values.tolist() and one.counts.tolist() == two.counts.tolist():
        return 0.0
    laws = [
        located(mechanism, (tuple(cell.values.tolist()), tuple(cell.counts.tolist()))) for cell in (one, two)
    ]
    return float((np.abs(laws[0][0] - laws[1][0]) + np.abs(laws[0][1] - laws[1][1]).sum(axis=1)).max())


def placement_loss(mechanism: KSExponential, one: list[int], two: list[int]) -> float:
    """The loss of a placement and of its noised distance together, over every placement."""
    moved = np.abs(np.log(probabilities(mechanism, one)) - np.log(probabilities(mechanism, two)))
    if mechanism.check:
        for place, steps in enumerate(placements(mechanism.points, len(mechanism.places))):
            apart = [distance(list(itertools.accumulate(counts)), steps) for counts in (one, two)]
            moved[place] += abs(apart[0] - apart[1]) / float(mechanism.check_scale)
    return float(moved.max())


def log_law_of(mechanism: QuantileSelection, tally: Any) -> np.ndarray:
    """Log-probability of every grid point for one tally of values."""
    return log_law(mechanism, tuple(np.repeat(tally.values, tally.counts).tolist()))


def worst(item: PricedQuestion, unit: PrivacyUnit) -> float:
    """The largest loss over every person that is added, or replaced by another."""
    additive = all(isinstance(part.mechanism, _ADDITIVE) for part in item.parts)
    held = people(ROWS if additive and unit.max_rows == 2 else FEW, unit.max_rows)
    if not additive:
        held = held[:: max(1, len(held) // 12)]
    answers = [exact(item, unit, one) for one in held]
    pairs = [(0, i) for i in range(1, len(held))]
    if unit.adjacency == "change-one":
        pairs = list(itertools.combinations(range(len(held)), 2))
    if additive:
        return float(additive_losses(item, answers, pairs).max())
    if len(pairs) > 30:
        pairs = pairs[:: len(pairs) // 30]
    return max(
        sum(
            part_loss(part.mechanism, answers[a][place], answers[b][place])
            for place, part in enumerate(item.parts)
        )
        for a, b in pairs
    )


def enumerable(item: PricedQuestion) -> bool:
    """Whether every law can be written down: a small synthetic sample can, a large one cannot."""
    sizes = [
        (part.mechanism.points, len(part.mechanism.places))
        for part in item.parts
        if isinstance(part.mechanism, KSExponential)
    ]
    return all(points <= 10 and cells <= 6 for points, cells in sizes)


@pytest.mark.parametrize("whom", PEOPLE)
@pytest.mark.parametrize(("most", "kind"), [(2, "epsilon"), (2, "rho"), (3, "epsilon")])
@pytest.mark.parametrize(("statistic", "place"), CASES)
def test_no_person_of_several_rows_costs_more_than_is_charged(
    statistic: str, place: int, most: int, whom: str, kind: str
) -> None:
    """Over people of up to two or three rows the realised loss is at most the loss that the ledger would record."""
    unit = PEOPLE[whom](most)
    where = schema(unit, kind)
    try:
        item = asked(SAMPLES[statistic][place], statistic, where, kind, 1)
    except LossError:
        pytest.skip(
            "this measure does not hold the statistic; thresholding is enumerated in tests/mechanisms"
        )
    if not enumerable(item):
        pytest.skip("its law has too many outcomes to write down; the smaller sample has the same rule")
    selected = any(not isinstance(part.mechanism, _ADDITIVE) for part in item.parts)
    claimed = float(item.loss.amount)
    if selected and kind == "rho":
        if any(isinstance(part.mechanism, DiscreteGaussian) for part in item.parts):
            pytest.skip("a Gaussian beside a selection has no ε to enumerate; in ε the same bounds are tried")
        claimed = sum(float(event.amount) for event in item.events)
    assert worst(item, unit) <= claimed * (1 + 1e-9)


def readings_of(estimate: Estimate) -> list[Estimate]:
    """The estimate, and what is read from it without arguments."""
    found = [estimate]
    assert estimate.measurement is not None
    for name in estimate.measurement.checked.readings:
        try:
            read = getattr(estimate, name)()
        except (TypeError, DpnbError):
            continue
        if isinstance(read, Estimate):
            found.append(read)
    return found


@pytest.mark.parametrize(("statistic", "place"), CASES)
def test_rows_of_one_person_give_no_confidence_interval(statistic: str, place: int) -> None:
    """With up to three rows a person no answer, and nothing read from one, has an interval or draws about a population."""
    measure = "approx" if statistic == "frequent_values" else "epsilon"
    where = schema(UNITS["units of three rows"], measure)
    item = asked(SAMPLES[statistic][place], statistic, where, measure, 5)
    estimate = released(item, TABLES["two rows"], where, SeededBits(5))
    for one in readings_of(estimate):
        with pytest.raises(Unavailable) as reason:
            one.interval(0.95, "confidence")
        assert len(str(reason.value)) > 20, one.text
        assert one.standard_error is one.n_eff is None, one.text
        with pytest.raises(Unavailable):
            one.outcome.draws(9, DrawGenerator(("a",)), "confidence")  # type: ignore[union-attr]

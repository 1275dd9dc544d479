"""Wrong sensitivities and scales: brute force over tiny neighbouring tables finds a pair that costs more than was paid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from dpnb.datasets import preparation
from dpnb.datasets.exact_answers import ints_of
from dpnb.planner.question import Question
from dpnb.statistics import noise, quantile
from dpnb.statistics._base import Setting
from dpnb.statistics.noise import amount, with_amount
from dpnb.trusted.aggregate import algebra
from dpnb.trusted.aggregate.reference import Ints
from dpnb.trusted.measurements import selections
from dpnb.trusted.measurements.facts import Facts
from dpnb.trusted.measurements.sums import ENTER, SWITCH, WITHIN
from dpnb.trusted.mechanisms import QuantileFlip, QuantileSelection
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.statistic import priced, realised_loss, schema, worst_loss
from tests.fuzz.wrong import kinds_without
from tests.mechanisms.enumeration import worst
from tests.mechanisms.test_audit import two_rows_gone
from tests.mutants.table import Mutant, Patch, replaced, together
from tests.statistics.test_sensitivity import (
    FEW,
    ROWS,
    UNITS,
    G,
    X,
    _question,
    test_public_size_needs_no_count,
)

ROW, UNIT = UNITS["change one row"], UNITS["add or remove one unit of two rows"]
ADDED = UNITS["add or remove one row"]
ROOT_TWO = Fraction(141_421_356, 10**8)
SELECTS = {"epsilon": QuantileFlip, "rho": QuantileSelection}
ROUNDED = 1e-12  # logarithms of probabilities that are floats


def costs_at_most_one(name: str, unit: PrivacyUnit, kind: str = "epsilon") -> Callable[[Any], None]:
    """Asked for a loss of 1, a question costs no tiny neighbours more than 1 under the noise that pricing chose."""

    def check(_: Any) -> None:
        found = priced(_question(name), schema(unit, measure=kind), kind=kind)
        assert worst_loss(found, unit, ROWS if unit.max_rows == 1 else FEW) <= 1

    return check


def noise_times(factor: Fraction) -> Patch:
    """Take less noise than a share pays for."""

    def make(real: Any) -> Any:
        return lambda *asked: [(with_amount(one, amount(one) * factor), costs) for one, costs in real(*asked)]

    return replaced(noise, "split", make)


def rows_taken_as(rows: Any) -> Patch:
    """Derive what a unit moves as if it held another number of rows."""
    return replaced(Facts, "rows", lambda _: property(lambda self: rows))


def in_one_cell(real: Any) -> Any:
    """Choose noise as if there were no groups."""

    def moves_of(frame: Any, facts: Facts) -> Any:
        parts = (replace(part, request=replace(part.request, keys=())) for part in frame.parts)
        return real(replace(frame, parts=tuple(parts)), facts)

    return moves_of


def ends_of_the_first(kind: Any) -> Patch:
    """Of a sum or a difference, take the range of its first side."""
    return lambda monkeypatch: monkeypatch.setitem(algebra._ENDS, kind, lambda node, first, second: first)


ONE_GROUP = replaced(
    selections,
    "score",
    lambda real: lambda q, request, facts: real(q, replace(request, keys=()), facts),
)
HALF_A_UNIT = replaced(selections, "score", lambda real: lambda *asked: real(*asked) / 2)


def grouped_quantiles(unit: PrivacyUnit, kind: str) -> list[Any]:
    """What selects quantiles of x in groups and their limits, at a loss where some pair of neighbours comes near the claim."""
    levels = (Fraction(1, 20), Fraction(1, 4), Fraction(1, 2), Fraction(19, 20))
    question = Question("tiny", "quantile", X, None, (G,), (("ci", True), ("q", levels)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantile, "by_tree", lambda _: False)  # on so few steps a tree would be narrower
        item = priced(question, schema(unit, measure=kind, missing_b=0), kind=kind, amount=40)
    found = [part.mechanism for part in item.parts]
    assert {type(one) for one in found} == {SELECTS[kind]}
    return found


def a_change_of_group_is_paid(kind: str) -> Callable[[Any], None]:
    """A row that leaves one group and enters another costs what both selections lose: at most ε, which a flip attains."""

    def check(_: Any) -> None:
        for one in grouped_quantiles(ROW, kind):
            assert 2 * worst(one, 4, "add-remove") <= float(one.epsilon) * (1 + ROUNDED)

    return check


def two_rows_of_a_unit_are_paid(kind: str) -> Callable[[Any], None]:
    """A unit that takes its two rows out of one group costs at most ε, which a flip attains."""

    def check(_: Any) -> None:
        for one in grouped_quantiles(UNIT, kind):
            assert two_rows_gone(one) <= float(one.epsilon) * (1 + ROUNDED)

    return check


def raw_rows_keep_the_claim(_: Any) -> None:
    """Whatever a raw row holds, prepared and summed it moves the answer by no more than was paid for."""
    where = schema(ADDED)
    question = priced(Question("tiny", "sum", X), where)
    for value in (-1e300, -1.0, 0.0, 10.49, 12.0, 14.4, 99.0, 1e18, np.inf, -np.inf, np.nan):
        raw = {"x": np.array([value]), "b": np.array([1.0]), "g": np.array(["u"], dtype=object)}
        table = preparation.prepare(raw, where)
        row = tuple(table.columns[name].tolist()[0] for name in ("x", "b", "g"))
        assert realised_loss(question, (), (row,)) <= 1


def missing_is_missing(_: Any) -> None:
    """NaN, NULL and text that is no number are missing on the grid; infinities are at its ends."""
    column = schema(ADDED)["x"]
    found = preparation.quantise(np.array([np.nan, 12.0, np.inf, -np.inf]), column).tolist()
    assert found == [None, 2, 4, 0]
    assert preparation.quantise(np.array([None, "n/a", "12"], dtype=object), column).tolist() == [
        None,
        None,
        2,
    ]


def unclamped(real: Any) -> Any:
    """Leave the clamp to the answer: each row enters as it is."""

    def grid_codes(x: Any, column: Any) -> Ints:
        found = real(x, column)
        free = np.floor((np.clip(x, -1e15, 1e15) - float(column.lower)) / float(column.step) + 0.5)
        return Ints(np.where(found.known, free, 0.0).astype(np.int64), found.known)

    return grid_codes


def nan_as_a_number(real: Any) -> Any:
    """Take NaN for the lowest value."""
    return lambda x, column: real(np.nan_to_num(x, nan=float(column.lower), posinf=1e9, neginf=-1e9), column)


def rounded_by_half_to_even(real: Any) -> Any:
    """Round as an engine would: .5 to the even neighbour."""

    def grid_codes(x: Any, column: Any) -> Ints:
        found = real(x, column)
        with np.errstate(all="ignore"):
            codes = np.rint((np.nan_to_num(x) - float(column.lower)) / float(column.step))
        return Ints(np.clip(codes, 0, column.steps).astype(np.int64), found.known)

    return grid_codes


def halves_go_up(_: Any) -> None:
    """floor(t + ½), spelled out: .5 goes up on every step."""
    found = preparation.quantise(np.array([10.5, 11.5, 12.5]), schema(ADDED)["x"])
    assert found.tolist() == [1, 2, 3]


def one_choice_of_rows(_: Any) -> None:
    """The rows that a unit keeps are the same for every question, in whatever order the rows come."""
    units, codes = ["a"] * 12 + ["b"] * 3, ints_of([*range(12), 0, 0, None])
    first = preparation.ranked(units, [codes], b"key") < 2
    assert first.tolist() == (preparation.ranked(units, [codes], b"key") < 2).tolist()
    assert first.sum() == 4
    back = preparation.ranked(units[::-1], [ints_of(codes.tolist()[::-1])], b"key") < 2
    assert sorted(codes.values[first]) == sorted(codes.values[::-1][back])


def random_choice(real: Any) -> Any:
    """Choose a unit's rows anew for each question."""
    fresh = np.random.default_rng(5)
    return lambda units, columns, key: real(units, columns, fresh.bytes(8))


def unbounded_units(real: Any) -> Any:
    """Keep all rows of a unit."""
    return lambda units, columns, key: np.minimum(real(units, columns, key), 0)


MUTANTS = {
    "Laplace scale x 0.9": Mutant(
        "Nine tenths of the noise that the loss needs.",
        noise_times(Fraction(9, 10)),
        costs_at_most_one("sum", ROW),
    ),
    "Gaussian sigma x 0.9": Mutant(
        "Nine tenths of the standard deviation that the loss needs.",
        noise_times(Fraction(81, 100)),
        costs_at_most_one("sum", ROW, "rho"),
    ),
    "the 2 of 2rho lost": Mutant(
        "σ² = Δ²/4ρ.", noise_times(Fraction(1, 2)), costs_at_most_one("histogram", ROW, "rho")
    ),
    "add-remove sensitivity under change-one": Mutant(
        "The move from one cell to another is dropped: a histogram costs twice what is paid.",
        kinds_without(SWITCH),
        costs_at_most_one("histogram", ROW),
    ),
    "add-remove sensitivity under change-one, rho": Mutant(
        "The same with Gaussian noise.",
        kinds_without(SWITCH),
        costs_at_most_one("count by group", ROW, "rho"),
    ),
    "a row never enters or leaves a filter": Mutant(
        "Under change-one a filtered sum is priced by its range, as if membership were public.",
        kinds_without(ENTER),
        costs_at_most_one("filtered sum", ROW),
    ),
    "a row never changes inside its cell": Mutant(
        "A centred sum is priced by half of its range.",
        kinds_without(WITHIN),
        lambda _: test_public_size_needs_no_count(),
    ),
    "root k instead of k for a unit, L1": Mutant(
        "A unit of two rows is priced as √2 rows.",
        rows_taken_as(ROOT_TWO),
        costs_at_most_one("sum", UNIT),
    ),
    "k instead of k squared for a unit, rho": Mutant(
        "L2 √k instead of k: two rows in one cell add up.",
        rows_taken_as(ROOT_TWO),
        costs_at_most_one("sum", UNIT, "rho"),
    ),
    "factor k dropped, L1": Mutant(
        "A unit of two rows is priced as one row.",
        rows_taken_as(1),
        costs_at_most_one("mean by group", UNIT),
    ),
    "factor k dropped, rho": Mutant(
        "A unit of two rows is priced as one row.",
        rows_taken_as(1),
        costs_at_most_one("filtered count", UNIT, "rho"),
    ),
    "a free count with no room in several cells": Mutant(
        "The one-cell formula (count free beside the sum) used in groups.",
        together(
            replaced(noise, "moves_of", in_one_cell),
            replaced(Setting, "free_count", lambda _: lambda setting, kind: True),
        ),
        costs_at_most_one("mean by group", ROW),
    ),
    "a sum at the range of its codes": Mutant(
        "The constant that is added to a code moves nobody, though a row that comes adds it.",
        ends_of_the_first(algebra.Add),
        costs_at_most_one("sum", ADDED),
    ),
    "factor 2 dropped for grouped quantiles": Mutant(
        "Under change-one a row can change two groups.", ONE_GROUP, a_change_of_group_is_paid("epsilon")
    ),
    "factor 2 dropped for grouped quantiles, rho": Mutant(
        "Under change-one a row can change two groups.", ONE_GROUP, a_change_of_group_is_paid("rho")
    ),
    "factor k dropped for quantiles of units": Mutant(
        "A unit's two rows move a rank by two.", HALF_A_UNIT, two_rows_of_a_unit_are_paid("epsilon")
    ),
    "factor k dropped for quantiles of units, rho": Mutant(
        "A unit's two rows move a rank by two.", HALF_A_UNIT, two_rows_of_a_unit_are_paid("rho")
    ),
    "clamp after instead of before": Mutant(
        "Rows enter the sum unclamped.",
        replaced(preparation, "_grid_codes", unclamped),
        raw_rows_keep_the_claim,
    ),
    "NaN not mapped to missing": Mutant(
        "NaN becomes a number.", replaced(preparation, "_grid_codes", nan_as_a_number), missing_is_missing
    ),
    "an engine's own rounding": Mutant(
        "Halves go to the even step.",
        replaced(preparation, "_grid_codes", rounded_by_half_to_even),
        halves_go_up,
    ),
    "unit bounding by random choice per query": Mutant(
        "Two questions see different rows of a unit: together more than k.",
        replaced(preparation, "ranked", random_choice),
        one_choice_of_rows,
    ),
    "units not bounded": Mutant(
        "A unit keeps all its rows.", replaced(preparation, "ranked", unbounded_units), one_choice_of_rows
    ),
}

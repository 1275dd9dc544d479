"""What every statistic must satisfy: its claimed loss is never exceeded by any tiny neighbour, and is nearly reached.

The loss of a pair of neighbouring tables is computed from the exact aggregates and the noise that pricing chose, in
rationals: the L1 change over the scale, summed over parts, or the squared L2 change over twice the variance.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any

from dpnb.datasets.exact_answers import answer
from dpnb.planner import Ask, Item, PricedQuestion, Question, price
from dpnb.trusted.mechanisms import DiscreteLaplace, QuantileSelection
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.conversion import laplace_rho
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema

COLUMNS = ("x", "b", "g")
Row = tuple[int | None, int | None, int | None]
Rows = tuple[Row, ...]
Totals = tuple[tuple[int, ...], ...]


def schema(unit: PrivacyUnit, *, measure: str = "epsilon", missing_b: Any = "drop", steps: int = 4) -> Schema:
    """A tiny dataset: x on a grid of a few steps, b two-valued, g with three groups."""
    columns = (
        Column.integer("x", 10, 10 + steps),
        Column.category("b", [0, 1], missing=missing_b),
        Column.category("g", ["u", "v", "w"]),
    )
    return Schema("tiny", "Tiny", columns, unit, Budget.from_toml({measure: 1000}))


def priced(question: Question, where: Schema, *, kind: str = "epsilon", amount: Any = 1) -> PricedQuestion:
    """The one question of a batch, priced."""
    return price((Item(question),), Ask.make(**{kind: amount}), where).items[0]


def rows_of(steps: int, *, missing: bool, groups: bool = True) -> list[Row]:
    """Every possible prepared row of the tiny dataset (end points, middle, and missing)."""
    xs: list[int | None] = [0, 1, steps // 2, steps]
    bs: list[int | None] = [0, 1]
    gs: list[int | None] = [0, 1, None] if groups else [0]
    if missing:
        xs, bs = [*xs, None], [*bs, None]
    return list(itertools.product(xs, bs, gs))


def units_of(rows: Sequence[Row], most: int) -> Iterator[Rows]:
    """What one privacy unit can hold: every multiset of up to ``most`` rows."""
    for size in range(most + 1):
        yield from itertools.combinations_with_replacement(rows, size)


def totals(question: PricedQuestion, table: Rows) -> Totals:
    """The exact integers behind every additive part."""
    columns = {name: [row[i] for row in table] for i, name in enumerate(COLUMNS)}
    found = answer(columns, [part.request for part in question.parts])
    return tuple(tuple(int(v) for v in part) for part in found)


def gaps(one: Totals, two: Totals) -> Totals:
    """How far each exact integer is from its neighbour's."""
    return tuple(tuple(abs(x - y) for x, y in zip(a, b, strict=True)) for a, b in zip(one, two, strict=True))


def loss_of(question: PricedQuestion, moved: Totals) -> Fraction:
    """The exact loss of neighbours whose integers differ by so much, under the noise that pricing chose."""
    cost = Fraction(0)
    for part, steps in zip(question.parts, moved, strict=True):
        mechanism = part.mechanism
        assert not isinstance(mechanism, QuantileSelection)
        if isinstance(mechanism, DiscreteLaplace):
            cost += Fraction(sum(steps)) / mechanism.scale
        else:
            cost += Fraction(sum(step * step for step in steps)) / (2 * mechanism.variance)
    return cost


def rho_of(question: PricedQuestion, moved: Totals) -> Fraction:
    """The ρ of such neighbours under Laplace noise: the divergence of every entry, at the order that is worst for all."""
    cost = Fraction(0)
    for part, steps in zip(question.parts, moved, strict=True):
        assert isinstance(part.mechanism, DiscreteLaplace)
        scale = part.mechanism.scale
        cost += sum(laplace_rho(Fraction(step), scale) for step in steps)
    return cost


def realised_loss(question: PricedQuestion, one: Rows, two: Rows) -> Fraction:
    """The exact loss of this pair of tables under the noise that pricing chose."""
    return loss_of(question, gaps(totals(question, one), totals(question, two)))


def worst_loss(
    question: PricedQuestion,
    unit: PrivacyUnit,
    rows: Sequence[Row],
    realised: Callable[[PricedQuestion, Totals], Fraction] = loss_of,
) -> Fraction:
    """The largest loss over all neighbours: one unit added to nothing, or replaced by another.

    Each table is answered once, and each distance that two of them have is priced once: a pair costs by its distance alone.
    """
    held = list(units_of(rows, unit.max_rows))
    if unit.unit == "row" and unit.adjacency != "add-remove":
        held = [one for one in held if len(one) == 1]
    answers = {totals(question, one) for one in held}
    if unit.adjacency == "add-remove":
        nothing = totals(question, ())
        moved = {gaps(nothing, one) for one in answers}
    else:
        moved = {gaps(one, two) for one, two in itertools.combinations(answers, 2)}
    return max((realised(question, one) for one in moved), default=Fraction(0))

"""Texts that nobody listed, in questions: comparisons with a label that is named, and groups of labels that are named.

A label is several whole numbers (:mod:`dpnb.trusted.schema.free_text`). Labels in a question are constants that the analyst
knows: typed, or shown by ``.frequent_values()``; both are public.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpnb.datasets.cell_text import text_of
from dpnb.errors import PlanError, SchemaError
from dpnb.planner.expression import Const, Expr, Ref, show
from dpnb.statistics._base import Axis
from dpnb.trusted.aggregate.algebra import And, Case, Cmp, Col, IntExpr, Key, Lit, Or, Pred
from dpnb.trusted.schema import Column, Schema

Codes = tuple[int, ...]


def text_column(expr: Expr | None, schema: Schema) -> Column | None:
    """Return the column of texts that an expression is; nothing for any other expression."""
    if isinstance(expr, Ref) and schema[expr.column].text is not None:
        return schema[expr.column]
    return None


def words_of(column: Column) -> tuple[IntExpr, ...]:
    """Return the whole numbers of a label."""
    return tuple(Col(part) for part in column.parts)


def no_number(column: Column, schema: Schema) -> SchemaError:
    """Return the refusal of arithmetic on texts."""
    spoken = show(Ref(column.name), schema.name)
    return SchemaError(
        f'{column.name} holds texts: ask {spoken}.frequent_values(), or compare it with a label, {spoken} == "…".'
    )


def no_list(column: Column, schema: Schema) -> PlanError:
    """Return the refusal of a group key without labels."""
    spoken = show(Ref(column.name), schema.name)
    return PlanError(
        f"{column.name} holds texts that nobody listed, so its groups are not known. Ask shown = {spoken}.frequent_values() "
        f"first, then group by what it showed: {schema.name}.groupby({spoken}.among(shown))."
    )


def label_of(column: Column, constant: Const) -> str:
    """Return the label that a constant is read as, as a cell is.

    Raises
    ------
    SchemaError
        If no cell can be that label.
    """
    assert column.text is not None
    label = column.text.label_of(text_of(constant.value))
    if label is None:
        raise SchemaError(
            f"{column.name} is declared {column.describe()}, of declared characters: no cell is {constant.value!r}."
        )
    return label


def equals(column: Column, constant: Const) -> Pred:
    """Return the condition that a label is a constant."""
    return _equal(words_of(column), _codes(column, label_of(column, constant)))


def among(expr: Expr, values: Sequence[Const], schema: Schema) -> tuple[Key, Axis]:
    """Return the group key of some named labels, in their given order.

    Raises
    ------
    PlanError, SchemaError
        If it is no column of texts, or a label is named twice, or cannot be one.
    """
    column = text_column(expr, schema)
    if column is None:
        raise PlanError("among() names labels of a text; other columns have declared values: group by them.")
    labels = [label_of(column, value) for value in values]
    if not labels or len(set(labels)) < len(labels):
        raise PlanError("among() needs labels, each of them once.")
    places = sorted((_codes(column, label), place) for place, label in enumerate(labels))
    key = Key(_place(words_of(column), places), len(labels))
    return key, Axis(column.name, column.label or column.name, tuple(labels))


def _codes(column: Column, label: str) -> Codes:
    assert column.text is not None
    return column.text.codes_of(label)


def _place(words: Sequence[IntExpr], places: Sequence[tuple[Codes, int]]) -> IntExpr:
    """Return the place of a label, -1 for one that is not named, by halving: depth is logarithmic."""
    if len(places) == 1:
        ((codes, place),) = places
        return Case(_equal(words, codes), Lit(place), Lit(-1))
    middle = len(places) // 2
    lower, upper = _place(words, places[:middle]), _place(words, places[middle:])
    return Case(_less(words, places[middle][0]), lower, upper)


def _equal(words: Sequence[IntExpr], codes: Codes) -> Pred:
    first, *rest = (Cmp("==", word, Lit(code)) for word, code in zip(words, codes, strict=True))
    found: Pred = first
    for one in rest:
        found = And(found, one)
    return found


def _less(words: Sequence[IntExpr], codes: Codes) -> Pred:
    """Return the condition that a label comes before another in the order of their codes."""
    here: Pred = Cmp("<", words[0], Lit(codes[0]))
    if len(words) == 1:
        return here
    return Or(here, And(Cmp("==", words[0], Lit(codes[0])), _less(words[1:], codes[1:])))

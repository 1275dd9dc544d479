"""Statistics to publish, and how near each will be: from a declaration alone, before any curator has opened the file.

The handle here belongs to no session: its questions are checked and priced, and nobody could answer them. Where accuracy depends on how
many rows there are, it is told for a number that the owner knows from elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, cast

from dpnb.cards.markup import clean
from dpnb.client.handles import Dataset, Opened
from dpnb.errors import DpnbError, PlanError
from dpnb.estimate import Estimate, Origin, PendingQuestion
from dpnb.owner.statistics_file import read_statistic
from dpnb.planner.check import check
from dpnb.planner.expression import Between, BoolOp, Compare, Const, Expr, Invert, IsIn, Ref
from dpnb.planner.question import Question
from dpnb.synthetic.tables import PairTables
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.schema import Schema
from dpnb.widgets.curve import Curve, Kind, by_rank, curve_of
from dpnb.widgets.questions import GOALS, subject, two_valued
from dpnb.widgets.registry import Facts

_EVERY = 3
_MOST = 120


class DeclaredDataset(Dataset):
    """A declared dataset that nobody has opened: what can be asked of it, and no answer."""

    __slots__ = ()

    @classmethod
    def of(cls, schema: Schema) -> DeclaredDataset:
        """Return the handle of a declaration."""
        return cls(cast("Any", None), Opened("", schema, "", schema.mode, ()))

    def _asked(self, question: Question) -> Estimate:
        return Estimate.leaf(PendingQuestion(question, check(question, self.schema), origin=Origin()))


def kind_of_budget(schema: Schema) -> Kind:
    """Return the loss that a declared budget counts: ε, or ρ."""
    return "epsilon" if schema.budget.measure is Measure.PURE else "rho"


def offered(schema: Schema) -> dict[str, tuple[str, str]]:
    """Return the statistics to pick from: by name, how each is said and how it is typed."""
    found = {"number_of_rows": ("how many rows there are", f"{schema.name}.count()")}
    for column in schema.columns:
        spoken, label = subject(schema.name, column.name), column.label or column.name
        for goal in GOALS.values():
            by = next(
                (one.name for one in schema.columns if two_valued(one) and one.name != column.name), None
            )
            if goal.fits(column) and (by is not None or not goal.compares):
                name, _, text = goal.line(spoken, column.name, by if goal.compares else None).partition(" = ")
                words = f"{label}: {goal.short}" + (f" by {by}" if goal.compares else "")
                found[name] = (words, text)
    return dict(list(found.items())[:_MOST])


class Catalogue:
    """The statistics of a declaration with their projected accuracy; each curve is priced once."""

    def __init__(self) -> None:
        self._known: dict[tuple[object, ...], Facts | None] = {}

    def entries(self, schema: Schema, rows: int, typed: dict[str, str]) -> list[Facts]:
        """Return what can be picked, and what was typed by hand, as strict JSON.

        Parameters
        ----------
        schema : Schema
        rows : int
            To plan with, where their number is private.
        typed : dict of str to str
            Further statistics by name, as an owner typed them.
        """
        found = [self._entry(schema, rows, name, *one) for name, one in offered(schema).items()]
        by_hand = [self._entry(schema, rows, name, text, text) for name, text in typed.items()]
        return [one for one in found if one is not None and not one["problem"]] + [
            one for one in by_hand if one is not None
        ]

    def _entry(self, schema: Schema, rows: int, name: str, words: str, text: str) -> Facts | None:
        key = (schema.version, schema.budget.measure, schema.name, rows, name, words, text)
        if key not in self._known:
            self._known[key] = _described(schema, rows, name, words, text)
        return self._known[key]


def _described(schema: Schema, rows: int, name: str, words: str, text: str) -> Facts | None:
    about = {
        "name": name,
        "words": clean(words),
        "text": text,
        "curve": None,
        "span": None,
        "unit": "",
        "problem": "",
    }
    try:
        question = question_in(schema, text)
    except DpnbError as error:
        return {**about, "problem": clean(str(error))}
    if question.checked.public_value is not None:
        return None  # it is public already: there is nothing to release
    try:
        curve = curve_of(question, kind_of_budget(schema), _each(question, rows, schema), every=_EVERY)
    except PlanError as error:
        return {**about, "problem": clean(str(error))}
    ranked = by_rank(question)
    return {
        **about,
        "curve": curve.to_json(),
        "span": _span(question, rows, ranked),
        "unit": "rows of rank" if ranked else "",
    }


def question_in(schema: Schema, text: str) -> PendingQuestion:
    """Return the one question that a text asks of a declared dataset.

    Raises
    ------
    DpnbError
        Where it asks none.
    """
    asked = read_statistic(text, DeclaredDataset.of(schema))
    if isinstance(asked, PairTables):
        raise PlanError("Synthetic rows are planned by: dpnb admin release --plan.")
    assert asked.measurement is not None
    return asked.measurement


def _each(question: PendingQuestion, rows: int, schema: Schema) -> int:
    """The rows behind one cell of an answer: all groups equal, and values spread evenly over what is declared."""
    asked = question.question
    groups = math.prod(len(axis.keys) for axis in (question.checked.axes or ())[: len(asked.by)])
    part = 1.0 if asked.where is None else share_of(asked.where, schema)
    return max(int(rows * part / groups), 1)


def _span(question: PendingQuestion, rows: int, ranked: bool) -> float:  # noqa: FBT001 - of which the ± is a part
    """The whole of which a ± is a part: the public range of an answer, or the rows that are planned with."""
    low, high = question.checked.domain
    wide = float(high) - float(low)
    return float(rows) if ranked or not 0 < wide < float("inf") else wide


def widths(
    schema: Schema, texts: dict[str, str], loss: dict[str, float], rows: int
) -> Iterator[tuple[str, float]]:
    """Yield the projected 95 % half-width of each statistic at its own loss."""
    for name, text in texts.items():
        question = question_in(schema, text)
        found = curve_of(question, kind_of_budget(schema), _each(question, rows, schema))
        yield name, Curve.width_at(found, loss[name])


_UNKNOWN = 0.5
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}


def share_of(where: Expr, schema: Schema) -> float:
    """Return the share of rows that satisfy a filter: columns independent, values even; half, where nothing says more.

    Examples
    --------
    >>> from dpnb.trusted.schema.owner import load
    >>> columns = {"sex": {"type": "category", "values": ["f", "m"]}}
    >>> facts = {"dataset": {"name": "people", "adjacency": "add-remove"}, "budget": {"epsilon": 1}}
    >>> share_of(Compare("==", Ref("sex"), Const("m")), load({**facts, "columns": columns}).schema)
    0.5
    """
    match where:
        case BoolOp(sign, left, right):
            one, two = share_of(left, schema), share_of(right, schema)
            return one * two if sign == "and" else one + two - one * two
        case Invert(operand):
            return 1 - share_of(operand, schema)
        case Compare(sign, Const() as constant, Ref() as column):
            return share_of(Compare(_TURNED.get(sign, sign), column, constant), schema)
        case Compare(sign, Ref(name), Const(value)):
            return _compared(sign, name, value, schema)
        case IsIn(Ref(name), values):
            return min(sum(_compared("==", name, one.value, schema) for one in values), 1.0)
        case Between(Ref(name), low, high):
            parts = [_compared(sign, name, end.value, schema) for sign, end in ((">=", low), ("<=", high))]
            return max(sum(parts) - 1, 0.0)
        case _:
            return _UNKNOWN


def _compared(sign: str, name: str, value: object, schema: Schema) -> float:
    """The share of a column's declared values on one side of a constant."""
    column = schema[name]
    try:
        below = column.code_of(value) / column.size
    except (DpnbError, TypeError, ValueError):
        return _UNKNOWN
    one = (2 if column.halved else 1) / column.size
    part = {
        "==": one,
        "!=": 1 - one,
        "<": below,
        "<=": below + one,
        ">": 1 - below - one,
        ">=": 1 - below,
    }[sign]
    return min(max(part, 0.0), 1.0)

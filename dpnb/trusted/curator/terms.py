"""The terms on which a dataset is attached, and what it means to tighten or to loosen them.

The first attach pins the terms in the ledger. A later attach may make the promise stronger (less budget, narrower
bounds, fewer columns, a stricter mode); what makes it weaker, or merely different, is *looser* and needs the owner's
recorded act. When in doubt a change counts as looser.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from dpnb.trusted.canonical import JsonObject, Record, canonical
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.loss import parse_exact
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.records import one_of
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.dataset import SEEN_ON_DATA

_STRICTNESS = ("teaching", "guard-rail", "enforced")


@dataclass(frozen=True, slots=True)
class Terms:
    """What an owner promised about a dataset.

    Parameters
    ----------
    dataset : str
        The name under which the ledger knows the dataset.
    pool : str
        The budget that it pays from; :meth:`of` names a private one unless the schema joins datasets.
    unit : PrivacyUnit
    budget : Budget
    mode : str
        ``"teaching"``, ``"guard-rail"`` or ``"enforced"``.
    columns : mapping of str to mapping
        Each column's pinned facts, as the schema writes them exactly.
    public : bool
        Whether the owner declares the data public or synthetic.
    seen : bool
        Whether the owner chose the bounds after a look at the data.
    """

    dataset: str
    pool: str
    unit: PrivacyUnit
    budget: Budget
    mode: str
    columns: Mapping[str, JsonObject] = field(hash=False)
    public: bool = False
    seen: bool = False

    def __post_init__(self) -> None:
        one_of("mode", self.mode, _STRICTNESS)
        if self.mode == "teaching" and not self.public:
            raise OwnerError(f'{self.dataset}: mode = "teaching" needs public = true.')

    @classmethod
    def of(cls, schema: Schema, dataset: str | None = None) -> Terms:
        """Take the terms of a schema; `dataset` is the name in the ledger where it is not the schema's."""
        name = schema.name if dataset is None else dataset
        columns = {column.name: column.pricing() for column in schema.columns}
        pool = f"dataset:{name}" if schema.pool is None else f"pool:{schema.pool}"
        mode, seen = schema.mode.value, schema.bounds == SEEN_ON_DATA
        return cls(name, pool, schema.unit, schema.budget, mode, columns, schema.public, seen)

    def to_json(self) -> Record:
        """Write the terms exactly."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        columns = {name: dict(facts) for name, facts in self.columns.items()}
        return plain | {
            "unit": self.unit.to_json(),
            "budget": self.budget.to_json(),
            "columns": columns,
        }

    @classmethod
    def from_json(cls, record: JsonObject) -> Terms:
        """Read what :meth:`to_json` wrote."""
        unit, budget = PrivacyUnit.from_json(record["unit"]), Budget.from_json(record["budget"])
        return cls(**{**record, "unit": unit, "budget": budget})


@dataclass(frozen=True, slots=True)
class Change:
    """One pinned term that is now written differently."""

    term: str
    pinned: str
    now: str
    looser: bool

    def __str__(self) -> str:
        if self.pinned == _declared(None):
            return f"{self.term} was pinned as not declared (one that was renamed has the name of the first charge)"
        return f"{self.term} was pinned as {self.pinned} and is now {self.now}"

    def to_json(self) -> Record:
        """Write the change with both values."""
        return {"term": self.term, "pinned": self.pinned, "now": self.now, "looser": self.looser}


def taught(*terms: Terms) -> bool:
    """Tell whether these are terms of TEACHING data, which pin nothing: bounds, steps and budgets change from cell to cell."""
    return all(one.mode == "teaching" for one in terms)


def compare(old: Terms, new: Terms) -> tuple[Change, ...]:
    """List what differs between pinned and new terms.

    Examples
    --------
    >>> unit, budgets = PrivacyUnit("add-remove"), [Budget.from_toml({"epsilon": e}) for e in (4, 2)]
    >>> old, new = (Terms("people", "dataset:people", unit, b, "enforced", {}) for b in budgets)
    >>> [(str(change), change.looser) for change in compare(old, new)]
    [('budget was pinned as ε 4 and is now ε 2', False)]
    """
    return tuple(_changes(old, new))


def _changes(old: Terms, new: Terms) -> Iterator[Change]:
    if old.pool != new.pool:
        yield Change("pool", old.pool, new.pool, looser=True)
    yield from budget_change(old.budget, new.budget)
    if old.mode != new.mode:
        yield Change(
            "mode", old.mode, new.mode, looser=_STRICTNESS.index(new.mode) < _STRICTNESS.index(old.mode)
        )
    if old.public != new.public:
        yield Change("public", _word(old.public), _word(new.public), looser=new.public)
    if old.seen != new.seen:
        yield Change("choice of bounds", _sight(old.seen), _sight(new.seen), looser=old.seen)
    before, after = ({**one.to_json(), "type": None, "unit_type": one.type} for one in (old.unit, new.unit))
    for term, was in before.items():
        # of integers who was one unit stays one, and what is no integer names nobody: tighter
        if was != after[term]:
            yield Change(term, _word(was), _word(after[term]), looser=(was, after[term]) != (None, "integer"))
    for name in sorted({*old.columns, *new.columns}):
        yield from _column_changes(name, old.columns.get(name), new.columns.get(name))


def budget_change(old: Budget, new: Budget) -> Iterator[Change]:
    """Yield the change of a budget, if there is one; another measure is always looser."""
    if old.cap != new.cap:
        looser = old.measure is not new.measure or not new.cap.fits_in(old.cap)
        yield Change("budget", old.label, new.label, looser=looser)


def _column_changes(name: str, old: JsonObject | None, new: JsonObject | None) -> Iterator[Change]:
    if old is None or new is None:
        yield Change(f"column {name}", _declared(old), _declared(new), looser=old is None)
        return
    for fact in sorted({*old, *new}):
        before, after = old.get(fact), new.get(fact)
        if canonical(before) != canonical(after):  # in Python 1 == True: typed texts tell them apart
            looser = not _narrower(fact, before, after)
            yield Change(f"{name}: {fact}", _word(before), _word(after), looser=looser)


def _narrower(fact: str, before: Any, after: Any) -> bool:
    if before is None or after is None:
        return False
    match fact:
        case "lower":
            return parse_exact(after) >= parse_exact(before)
        case "upper":
            return parse_exact(after) <= parse_exact(before)
        case "step":
            return Fraction(parse_exact(after) / parse_exact(before)).denominator == 1
        case "values":
            typed = [(type(value), value) for value in before]
            return all((type(value), value) in typed for value in after)
    return False


def _declared(column: JsonObject | None) -> str:
    return "not declared" if column is None else "declared"


def _sight(seen: bool) -> str:  # noqa: FBT001 - a fact of the terms
    return "made after a look at the data" if seen else "made without a look at the data"


def _word(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "none" if value is None else str(value)

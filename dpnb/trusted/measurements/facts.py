r"""What the schema says of a request: which values are possible, who can be missing, and whose membership is private.

*Ranges* come from interval arithmetic over the algebra (:func:`dpnb.trusted.aggregate.algebra.bounds`), from the codes that each column can hold.

*Missing.* A column can be missing where its owner declared that missing values leave. NULL propagates through arithmetic, so that an
expression can be missing only if a column below it can; ``Known(…)`` never is, and an expression whose ``Known`` is a top-level condition of
the filter is not missing in any row that is kept.

*Private membership.* Under change-one the number of rows is public, and so is who takes part if every row does. A row can come or go without
changing that number only where there is a filter, a value that can be missing (for a request that leaves such rows out), or a key that can be
missing or lie outside its cells. Two requests with the same filter and the same exclusions keep the same rows; keys of one code and of
different sizes do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from dpnb.trusted.aggregate import algebra
from dpnb.trusted.aggregate.cap import RANK, rows_kept
from dpnb.trusted.errors import PlanError
from dpnb.trusted.mechanisms import AnyMechanism
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Schema


@dataclass(frozen=True, slots=True)
class Measurement:
    """One vector that leaves: what is asked exactly, and the mechanism that protects it.

    Parameters
    ----------
    name : str
        What the vector is called, for example ``"sum"``.
    request : Request
        The exact integers that are asked.
    mechanism : AnyMechanism
        One of :data:`dpnb.trusted.mechanisms.MECHANISMS`, with its exact parameters.
    cells : int
        How many integers are released.
    """

    name: str
    request: algebra.Request
    mechanism: AnyMechanism
    cells: int


Excluded = tuple[algebra.Node | algebra.Key, ...]  # what can leave a row out


class Membership(NamedTuple):
    """Which rows a request keeps; requests of equal membership keep the same rows, and who is among them is private for all or for none.

    Attributes
    ----------
    where : Pred or None
        The filter.
    excluded : tuple
        What else can leave a row out.
    private : bool
        Whether a row can come or go without changing the number of rows that is public.
    """

    where: algebra.Pred | None
    excluded: Excluded
    private: bool


Priced = tuple[int, tuple[PrivacyEvent, ...]]  # how many integers a measurement makes, and its events


def code_ranges(schema: Schema) -> dict[str, algebra.Range]:
    """Return the codes that each declared column can hold in the prepared copy, and the ranks that a unit's rows can have."""
    ranks = {RANK: (0, schema.unit.max_rows - 1)} if schema.unit.max_rows > 1 else {}
    return {part: (0, column.size - 1) for part, column in schema.parts.items()} | ranks


def capped(unit: PrivacyUnit, *wheres: algebra.Pred | None) -> PrivacyUnit:
    """Return a unit with as many rows as the widest of some filters keeps of it.

    Raises
    ------
    PlanError
        For a cap below one row, or above the declared one.
    """
    caps = [unit.max_rows if kept is None else kept for kept in map(rows_kept, wheres)]
    if not all(1 <= kept <= unit.max_rows for kept in caps):
        raise PlanError(
            f"A question keeps 1 to {unit.max_rows:,} rows of each {unit.unit}, as max_rows_per_unit declares."
        )
    return unit if max(caps) == unit.max_rows else replace(unit, max_rows=max(caps))


@dataclass(frozen=True, slots=True)
class Facts:
    """The public facts from which every sensitivity follows.

    Parameters
    ----------
    unit : PrivacyUnit
        Whom the loss protects.
    measure : Measure
        In which it is counted.
    ranges : dict
        Codes that each column can hold.
    nullable : frozenset of str
        Columns that can be missing.
    """

    unit: PrivacyUnit
    measure: Measure
    ranges: dict[str, algebra.Range]
    nullable: frozenset[str]
    ends: algebra.Bounds = field(init=False, repr=False, compare=False)
    """The range of each expression that was looked at."""
    _kept: dict[int, _Kept] = field(default_factory=dict, repr=False, compare=False)
    _left: dict[int, tuple[algebra.Request, Excluded]] = field(
        default_factory=dict, repr=False, compare=False
    )
    """What was derived for each filter and each request, by the id of the object, which is kept here so that the id stays its own."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "ends", algebra.Bounds(self.ranges, self.nullable))

    @classmethod
    def of(cls, schema: Schema) -> Facts:
        """Return the facts of a schema."""
        missing = frozenset(part for part, column in schema.parts.items() if column.drops)
        return cls(schema.unit, schema.budget.measure, code_ranges(schema), missing)

    @property
    def rows(self) -> int:
        """Most rows of one privacy unit."""
        return self.unit.max_rows

    @property
    def changed(self) -> bool:
        """Whether neighbours change a unit, rather than have one more."""
        return self.unit.adjacency == "change-one"

    def capped(self, *wheres: algebra.Pred | None) -> Facts:
        """Return the facts of the rows that some filters keep: a person has at most as many as the widest of them."""
        unit = capped(self.unit, *wheres)
        return self if unit is self.unit else replace(self, unit=unit)

    def range_of(self, value: algebra.IntExpr, where: algebra.Pred | None) -> algebra.Range:
        """Return what a value adds to a sum: its range, and 0 where it can be missing."""
        low, high = self.ends(value)
        return (min(low, 0), max(high, 0)) if self.missing(value, where) else (low, high)

    def missing(self, node: algebra.Node, where: algebra.Pred | None) -> bool:
        """Tell whether an expression can be missing in a row that a filter keeps."""
        return self.ends.of(node).nullable and self._rows(where).missing(node)

    def _rows(self, where: algebra.Pred | None) -> _Kept:
        found = self._kept.get(id(where))
        if found is None:
            found = self._kept[id(where)] = _Kept(self.nullable, where, algebra.conjuncts(where))
        return found

    def partial(self, key: algebra.Key, where: algebra.Pred | None) -> bool:
        """Tell whether a row can be in none of a key's cells."""
        low, high = self.ends.of(key.code).taken
        return low < 0 or high >= key.size or self.missing(key.code, where)

    def excluded(self, request: algebra.Request) -> Excluded:
        """Return what else than the filter can leave a row out: of a key also its size, for a shorter one leaves out more."""
        found = self._left.get(id(request))
        if found is None:
            found = self._left[id(request)] = (request, self._leaving(request))
        return found[1]

    def membership(self, request: algebra.Request) -> Membership:
        """Return which rows a request keeps."""
        return Membership(request.where, self.excluded(request), self.private(request))

    def _leaving(self, request: algebra.Request) -> Excluded:
        if isinstance(request, algebra.CrossMoments | algebra.LabelSums):
            return tuple(
                value for value in algebra.expressions(request) if self.missing(value, request.where)
            )
        out: Excluded = tuple(key for key in request.keys if self.partial(key, request.where))
        if isinstance(request, algebra.ValueCounts) and self.missing(request.value, request.where):
            return (*out, request.value)
        return out

    def private(self, request: algebra.Request) -> bool:
        """Tell whether a row can come or go without changing the number of rows that is public."""
        return not self.unit.by_row or bool(self._rows(request.where).conditions or self.excluded(request))


def refuse(words: str) -> PlanError:
    """Return the refusal of a measurement that is of no kind, or out of its range."""
    return PlanError(f"This measurement cannot be priced: {words}.")


def same_cells(measurement: Measurement, derived: int) -> None:
    """Refuse a measurement that says another number of released integers than its request makes."""
    if measurement.cells != derived:
        raise refuse(f"it makes {derived:,} numbers, not {measurement.cells:,}")


@dataclass(slots=True)
class _Kept:
    """What is known of the rows that a filter keeps; a node that stands in many places is the same object, and is looked at once."""

    nullable: frozenset[str]
    where: algebra.Pred | None
    conditions: tuple[algebra.Pred, ...]
    known: Sequence[algebra.IntExpr] = field(init=False)
    found: dict[int, tuple[algebra.Node, bool]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.known = [part.a for part in self.conditions if isinstance(part, algebra.Known)]

    def missing(self, node: algebra.Node) -> bool:
        """Tell whether a node can be missing in them."""
        found = self.found.get(id(node))
        if found is None:
            found = self.found[id(node)] = (node, self._find(node))
        return found[1]

    def _find(self, node: algebra.Node) -> bool:
        if isinstance(node, algebra.Lit | algebra.Known | algebra.TrueP) or any(
            node is one or node == one for one in self.known
        ):
            return False
        if isinstance(node, algebra.Col):
            return node.name in self.nullable
        for child in algebra.children(node):  # noqa: SIM110 - a generator is one more frame of the interpreter for each level
            if self.missing(child):
                return True
        return False

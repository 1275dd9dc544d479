"""Column expressions as data: a small, total language over the declared columns of a dataset.

An expression holds names and constants, never values of rows. Its JSON form is canonical and typed: ``1``, ``1.0``,
``True`` and ``"1"`` are four different constants, text is kept unchanged, and two expressions have the same form only if
they are the same expression. That form is part of the key under which answers are stored, so it may never change.
"""

from __future__ import annotations

import datetime as dt
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Integral, Rational, Real
from typing import Any, ClassVar

import numpy as np

from dpnb.datasets.cell_text import text_of
from dpnb.errors import PlanError

MAX_DEPTH = 64
MAX_NODES = 4000
MAX_LIST = 1000
MAX_EDGES = MAX_LIST + 1
"""A thousand bins have one edge more."""
MAX_TEXT = 1000
MAX_DIGITS = 400
_LONGEST, _LARGEST = 10**MAX_DIGITS, int(sys.float_info.max)
_TOO_LONG = f"A number in a column expression is limited to {MAX_DIGITS} digits."
_RATIO = re.compile(r"-?[0-9]+(?:/[0-9]+)?", re.ASCII)
"""How :func:`encode_value` writes a rational: never with an exponent, which could ask for a number of a billion digits."""

Plain = int | Fraction | bool | str


def plain(value: object) -> Plain:
    """Return a constant as an exact Python value; a float is read as its decimal repr.

    Raises
    ------
    PlanError
        If the value is not a finite number, a boolean, text or a date.
    """
    if isinstance(value, bool) or type(value).__name__ in {"bool_", "bool"}:
        return bool(value)
    if isinstance(value, str):
        if len(value) > MAX_TEXT:
            raise PlanError(f"A text constant is limited to {MAX_TEXT} characters.")
        return str(value)
    if isinstance(value, dt.date | np.datetime64) and (moment := text_of(value)) is not None:
        return moment
    if isinstance(value, Integral):
        return _shown(_short(int(value)))
    if isinstance(value, Rational):
        return _shown(Fraction(_short(int(value.numerator)), _short(int(value.denominator))))
    if isinstance(value, Decimal):
        return _shown(_finite(value))
    if isinstance(value, Real):
        return _finite(Decimal(repr(float(value))))
    raise PlanError(f"A constant must be a number, a boolean, text or a date, not {type(value).__name__}.")


def _finite(value: Decimal) -> Fraction:
    if not value.is_finite():
        raise PlanError("A constant must be finite; nan and inf have no place in a column expression.")
    if (value and not -MAX_DIGITS < value.adjusted() < MAX_DIGITS) or len(
        value.as_tuple().digits
    ) > MAX_DIGITS:
        raise PlanError(_TOO_LONG)
    return Fraction(value)


def _short(value: int) -> int:
    if abs(value) >= _LONGEST:
        raise PlanError(_TOO_LONG)
    return value


def _shown(value: int | Fraction) -> int | Fraction:
    """Return a number that a float can show."""
    if not -_LARGEST <= value <= _LARGEST:
        raise PlanError(
            "A number in a column expression is limited to 1.7e308, the largest that can be shown."
        )
    return value


def encode_value(value: Plain) -> list[str]:
    """Return the typed JSON form of a constant, for example ``["int", "1"]``."""
    if isinstance(value, bool):
        return ["bool", "true" if value else "false"]
    if isinstance(value, int):
        return ["int", str(value)]
    if isinstance(value, Fraction):
        return ["frac", str(value)]
    return ["text", value]


def decode_value(tag: object, text: object) -> Plain:
    """Return the constant that :func:`encode_value` wrote; refuse every other spelling."""
    if isinstance(text, str):
        value: Plain | None = None
        try:
            if tag == "bool" and text in {"true", "false"}:
                value = text == "true"
            elif tag == "int" and len(text) <= MAX_TEXT:
                value = plain(int(text))
            elif tag == "frac" and len(text) <= MAX_TEXT and _RATIO.fullmatch(text):
                value = plain(Fraction(text))
            elif tag == "text":
                value = plain(text)
        except (ValueError, ZeroDivisionError):
            value = None
        if value is not None and encode_value(value) == [tag, text]:
            return value
    raise PlanError("A constant in this plan is not in canonical form.")


def show_value(value: Plain) -> str:
    """Return a constant as a person would type it."""
    if isinstance(value, Fraction):
        return repr(float(value)) if Fraction(repr(float(value))) == value else str(value)
    return repr(value)


class Expr:
    """Base of all column expressions."""

    op: ClassVar[str] = ""
    __slots__ = ()

    def children(self) -> tuple[Expr, ...]:
        """Return the sub-expressions, in order."""
        values = [getattr(self, name) for name in type(self).__match_args__]  # type: ignore[attr-defined]
        return tuple([value for value in values if isinstance(value, Expr)])

    def columns(self) -> tuple[str, ...]:
        """Return the names of the columns that are read, sorted; a part that occurs twice is walked through once."""
        names, seen, left = set[str](), set[int](), [self]
        while left:
            node = left.pop()
            if id(node) not in seen:
                seen.add(id(node))
                left += node.children()
                if isinstance(node, Ref):
                    names.add(node.column)
        return tuple(sorted(names))


@dataclass(frozen=True, slots=True)
class Ref(Expr):
    """A declared column."""

    op: ClassVar[str] = "ref"
    column: str


@dataclass(frozen=True, slots=True, eq=False)
class Const(Expr):
    """A typed constant; ``Const(1)``, ``Const(1.0)`` and ``Const(True)`` are different."""

    op: ClassVar[str] = "const"
    value: Any

    def __post_init__(self) -> None:
        kept = self.value
        object.__setattr__(self, "value", plain(kept))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Const) and encode_value(self.value) == encode_value(other.value)

    def __hash__(self) -> int:
        return hash(tuple(encode_value(self.value)))

    @property
    def number(self) -> Fraction:
        """The constant as a rational; text has none."""
        if isinstance(self.value, str):
            raise PlanError("A number is needed here, not text.")
        return Fraction(self.value)


@dataclass(frozen=True, slots=True)
class BinOp(Expr):
    """Arithmetic: ``+ - * / //``; the divisor is a non-zero constant."""

    op: ClassVar[str] = "arith"
    sign: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Neg(Expr):
    """The negative."""

    op: ClassVar[str] = "neg"
    operand: Expr


@dataclass(frozen=True, slots=True)
class Compare(Expr):
    """A comparison: ``== != < <= > >=``; unknown where either side is missing."""

    op: ClassVar[str] = "compare"
    sign: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class BoolOp(Expr):
    """Kleene ``and`` / ``or``."""

    op: ClassVar[str] = "bool"
    sign: str
    left: Expr
    right: Expr


@dataclass(frozen=True, slots=True)
class Invert(Expr):
    """Kleene ``not``."""

    op: ClassVar[str] = "not"
    operand: Expr


def _constants(values: Iterable[object], most: int = MAX_LIST) -> tuple[Const, ...]:
    made = tuple(value if isinstance(value, Const) else Const(value) for value in values)
    if len(made) > most:
        raise PlanError(f"A list in a column expression is limited to {most} constants.")
    return made


@dataclass(frozen=True, slots=True)
class IsIn(Expr):
    """Membership in a list of constants."""

    op: ClassVar[str] = "isin"
    operand: Expr
    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _constants(self.values))


@dataclass(frozen=True, slots=True)
class Ranged(Expr):
    """An operand with a constant lower and upper end."""

    operand: Expr
    low: Any
    high: Any

    def __post_init__(self) -> None:
        low, high = _constants((self.low, self.high))
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def children(self) -> tuple[Expr, ...]:
        """Return the operand."""
        return (self.operand,)


class Between(Ranged):
    """``low <= operand <= high``, both ends included."""

    op: ClassVar[str] = "between"
    __slots__ = ()


class ClipTo(Ranged):
    """The operand moved into ``[low, high]``, on its own grid."""

    op: ClassVar[str] = "clip"
    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Where(Expr):
    """One value where the condition holds, another where it does not; missing where it is unknown."""

    op: ClassVar[str] = "where"
    condition: Expr
    then: Expr
    other: Expr


@dataclass(frozen=True, slots=True)
class Bin(Expr):
    """The half-open interval between public edges that the operand falls in; the last one is closed."""

    op: ClassVar[str] = "bin"
    operand: Expr
    edges: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "edges", _constants(self.edges, MAX_EDGES))


@dataclass(frozen=True, slots=True)
class Among(Expr):
    """Which of some named labels a text is; any other is in no group."""

    op: ClassVar[str] = "among"
    operand: Expr
    values: tuple[Any, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", _constants(self.values))


@dataclass(frozen=True, slots=True)
class IsMissing(Expr):
    """True where the operand is missing; never unknown."""

    op: ClassVar[str] = "missing"
    operand: Expr


@dataclass(frozen=True, slots=True)
class Part(Expr):
    """The year, month, weekday or hour of a date; missing where it is."""

    op: ClassVar[str] = "part"
    word: str
    operand: Expr


@dataclass(frozen=True, slots=True)
class PerUnit(Expr):
    """True for so many rows of each unit, the same for every question; never unknown."""

    op: ClassVar[str] = "per-unit"
    rows: Expr

    @property
    def most(self) -> int:
        """How many rows, where that is a whole number."""
        return int(self.rows.number) if isinstance(self.rows, Const) else 0


_STRICT = (Ref, Const, BinOp, Neg, Compare, Invert, IsIn, Ranged, Part)
"""What is missing exactly where one of its columns is."""


def presence(expr: Expr) -> Expr:
    """Return the condition that an expression has a value: of one column, where nothing else decides, that the column has one."""
    names, left = expr.columns(), [expr]
    while left and isinstance(left[-1], _STRICT):
        left += left.pop().children()
    return Invert(IsMissing(expr if left or len(names) != 1 else Ref(names[0])))


def surely(condition: Expr) -> Expr | None:
    """Return what is asked by a condition that is false where it would be unknown; None where it is not written so."""
    if not isinstance(condition, BoolOp) or condition.sign != "and":
        return None
    return condition.right if condition.left == presence(condition.right) else None


def cap_of(where: Expr | None) -> tuple[PerUnit | None, Expr | None]:
    """Return the cap on rows per unit with which a filter begins, and the rest of the filter."""
    if isinstance(where, PerUnit):
        return where, None
    if isinstance(where, BoolOp) and where.sign == "and":
        cap, rest = cap_of(where.left)
        if cap is not None:
            return cap, where.right if rest is None else BoolOp("and", rest, where.right)
    return None, where


_KINDS: dict[str, type[Expr]] = {
    kind.op: kind
    for kind in (
        Ref,
        Const,
        BinOp,
        Neg,
        Compare,
        BoolOp,
        Invert,
        IsIn,
        Between,
        ClipTo,
        Where,
        Bin,
        IsMissing,
        Part,
        PerUnit,
        Among,
    )
}
_PARTS: dict[str, tuple[str, ...]] = {op: kind.__match_args__ for op, kind in _KINDS.items()}  # type: ignore[attr-defined]
_SIGNS: dict[str, tuple[str, ...]] = {
    "arith": ("+", "-", "*", "/", "//"),
    "compare": ("==", "!=", "<", "<=", ">", ">="),
    "bool": ("and", "or"),
    "part": ("year", "month", "weekday", "hour"),
}


def to_json(expr: Expr) -> list[Any]:
    """Return the canonical JSON form: ``[op, argument, …]`` with typed constants.

    Raises
    ------
    PlanError
        If the expression is deeper or larger than the limits of a plan.
    """
    count = 0

    def encode(node: object, depth: int) -> Any:
        nonlocal count
        count += 1
        if depth > MAX_DEPTH or count > MAX_NODES:
            raise PlanError(f"A column expression is limited to depth {MAX_DEPTH} and {MAX_NODES} nodes.")
        if isinstance(node, Const):
            return ["const", *encode_value(node.value)]
        if isinstance(node, Expr):
            return [node.op, *[encode(getattr(node, name), depth + 1) for name in _PARTS[node.op]]]
        if isinstance(node, tuple):
            return [encode(value, depth + 1) for value in node]
        return node

    return list(encode(expr, 0))


def from_json(record: object) -> Expr:
    """Return the expression of a canonical JSON form; strict in shape, size and types."""
    count = 0

    def decode(node: object, depth: int) -> Expr:
        nonlocal count
        count += 1
        if depth > MAX_DEPTH or count > MAX_NODES:
            raise PlanError(f"A column expression is limited to depth {MAX_DEPTH} and {MAX_NODES} nodes.")
        if not isinstance(node, list) or not node or not isinstance(node[0], str) or node[0] not in _KINDS:
            raise PlanError("A column expression in this plan is not in canonical form.")
        op, args = node[0], node[1:]
        if op == "const":
            if len(args) != 2:
                raise PlanError("A constant in this plan is not in canonical form.")
            return Const(decode_value(*args))
        return _build(op, args, lambda part: decode(part, depth + 1))

    return decode(record, 0)


def _build(op: str, args: list[Any], decode: Any) -> Expr:
    kind = _KINDS[op]
    names = _PARTS[op]
    if len(args) != len(names):
        raise PlanError("A column expression in this plan is not in canonical form.")
    made: dict[str, Any] = {}
    for name, arg in zip(names, args, strict=True):
        if name == "column":
            if not isinstance(arg, str):
                raise PlanError("A column name in this plan is not text.")
            made[name] = arg
        elif name in {"sign", "word"}:
            if arg not in _SIGNS[op]:
                raise PlanError("An operator in this plan is unknown.")
            made[name] = arg
        elif name in {"values", "edges"}:
            if not isinstance(arg, list) or len(arg) > (MAX_EDGES if name == "edges" else MAX_LIST):
                raise PlanError("A list in this plan is not in canonical form.")
            made[name] = tuple(_const(decode(part)) for part in arg)
        elif name in {"low", "high"}:
            made[name] = _const(decode(arg))
        else:
            made[name] = decode(arg)
    return kind(**made)


def _const(node: Expr) -> Const:
    if not isinstance(node, Const):
        raise PlanError("A list in this plan holds something other than constants.")
    return node


def show(expr: Expr, dataset: str, source: str | None = None) -> str:
    """Return the expression as a person would type it, for example ``(hiv.age > 30)``; what it says is what is meant.

    Parameters
    ----------
    expr : Expr
    dataset : str
        What columns are taken from; empty for their names alone.
    source : str, optional
        What the first of them is taken from, where that is a selection or a grouping: ``(hiv[hiv.got == 1].age * 2)``.
    """
    if isinstance(expr, Ref):
        return _taken(expr.column, source or typed(dataset))
    if isinstance(expr, Const):
        return show_value(expr.value)
    inner = _shown_children(expr, dataset, source)
    if isinstance(expr, PerUnit):
        return f"per_unit({inner[0]})"
    if isinstance(expr, BinOp | Compare):
        return f"({inner[0]} {expr.sign} {inner[1]})"
    if isinstance(expr, BoolOp):
        return f"({inner[0]} {'&' if expr.sign == 'and' else '|'} {inner[1]})"
    if isinstance(expr, Neg | Invert):
        return f"{'-' if isinstance(expr, Neg) else '~'}{inner[0]}"
    subject = as_subject(inner[0])
    if isinstance(expr, Ranged):
        return f"{subject}.{expr.op}({show_value(expr.low.value)}, {show_value(expr.high.value)})"
    if isinstance(expr, IsIn | Bin | Among):
        listed = expr.edges if isinstance(expr, Bin) else expr.values
        return f"{subject}.{expr.op}([{', '.join(show_value(v.value) for v in listed)}])"
    if isinstance(expr, Where):
        return f"{subject}.where({inner[1]}, {inner[2]})"
    return f"{subject}.{expr.word if isinstance(expr, Part) else 'is_missing()'}"


def typed(dataset: str) -> str:
    """Return what a dataset is called where a question is typed: ``my_survey`` of ``my-survey``, which would be a difference."""
    return re.sub(r"\W", "_", dataset)


def _taken(column: str, source: str) -> str:
    if not source:
        return column
    return f"{source}.{column}" if column.isidentifier() else f"{source}[{column!r}]"


def _shown_children(expr: Expr, dataset: str, source: str | None) -> list[str]:
    """Return the texts of what an expression is made of, in the order in which they are typed."""
    shown = []
    children = (expr.then, expr.condition, expr.other) if isinstance(expr, Where) else expr.children()
    for child in children:
        shown.append(show(child, dataset, source))
        source = None if source is None or child.columns() else source
    return shown


def as_subject(shown: str) -> str:
    """Return an expression's text so that a method can be called on it: a sign before it would otherwise be the answer's."""
    return f"({shown})" if shown.startswith(("-", "~")) else shown

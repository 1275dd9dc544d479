"""What a charge measured, in the curator's own words: read from the recorded measurements, never from what the asker calls them.

A column stands for its code: the place of a value on the schema's grid, or among its categories. What is long is cut with …;
the record holds all of it.
"""

from __future__ import annotations

from fractions import Fraction

from dpnb.trusted.aggregate.algebra import (
    Add,
    And,
    Case,
    Clip,
    Cmp,
    Col,
    CrossMoments,
    FloorDiv,
    Key,
    Known,
    LabelSums,
    Lit,
    Mul,
    Node,
    Not,
    Or,
    Request,
    Sub,
    Total,
    TrueP,
    conjuncts,
)
from dpnb.trusted.measurements import Measurement

_DEEPEST, _LONGEST, _MOST_KEYS, _MOST_DIGITS = 6, 160, 4, 12
_BETWEEN: dict[type, str] = {Add: "+", Sub: "-", Mul: "*", And: "and", Or: "or"}


def worded(part: Measurement) -> str:
    """Return one measurement in words: the aggregate, its filter, its cells, the mechanism and its noise.

    Examples
    --------
    >>> from dpnb.trusted.mechanisms import DiscreteLaplace
    >>> request = Total(Col("age"), Cmp("<", Col("age"), Lit(18)), (Key(Col("site"), 5),))
    >>> worded(Measurement("sum", request, DiscreteLaplace(Fraction(7, 2)), 5))
    'sum of age where age < 18 for each of 5 cells of site: discrete-laplace (scale 7/2)'
    """
    return f"{_request(part.request, part.cells)}: {_mechanism(part)}"


def _request(request: Request, cells: int) -> str:
    if isinstance(request, CrossMoments):
        values = _listed([_shown(value) for value in request.values if not isinstance(value, Lit)])
        moved = "" if request.shrink is None else ", rows moved into a ball"
        return f"{len(request.pairs):,} sums of products of {values}{_where(request)}{moved}"
    if isinstance(request, LabelSums):
        sums = "" if not request.values else f", and {len(request.values)} sums for each,"
        return f"values of {_shown(request.label[0])} and on{sums}{_where(request)}"
    keys = "" if not request.keys else f" for each of {cells:,} cells of {_keys(request.keys)}"
    return f"{_aggregate(request)}{_where(request)}{keys}"


def _aggregate(request: Request) -> str:
    if isinstance(request, Total) and request.value == Lit(1):
        return "number of rows"
    assert not isinstance(request, CrossMoments | LabelSums)
    return f"{'sum' if isinstance(request, Total) else 'values'} of {_shown(request.value)}"


def _where(request: Request) -> str:
    parts = conjuncts(request.where)
    return f" where {_cut(' and '.join(map(_shown, parts)))}" if parts else ""


def _keys(keys: tuple[Key, ...]) -> str:
    return _listed([_shown(key.code) for key in keys])


def _listed(texts: list[str]) -> str:
    more = len(texts) - _MOST_KEYS
    return ", ".join(texts[:_MOST_KEYS]) + (f" and {more} more" if more > 0 else "")


def _mechanism(part: Measurement) -> str:
    record = dict(part.mechanism.to_json())
    name = record.pop("mechanism")
    said = ", ".join(f"{field.replace('_', ' ')} {_number(text)}" for field, text in record.items())
    return f"{name} ({_cut(said)})"


def _number(text: str) -> str:
    """Return a parameter as it is recorded, or its first six digits where that is long."""
    if len(text) <= _MOST_DIGITS:
        return text
    try:
        return f"about {float(Fraction(text)):.6g}"
    except (ValueError, OverflowError):
        return _cut(text)


def _shown(node: Node) -> str:
    """Return a formula without the brackets around all of it."""
    text = _text(node, _DEEPEST)
    whole = type(node) in _BETWEEN or isinstance(node, Cmp | FloorDiv)
    return _cut(text[1:-1] if whole else text)


def _text(node: Node, deep: int) -> str:
    """Return a node as a formula, with … where it is nested deeper."""
    if not deep:
        return "…"
    match node:
        case Col(name):
            return name if name.isidentifier() else f"[{name}]"
        case Lit(value):
            return str(value)
        case Add(a, b) | Sub(a, b) | Mul(a, b) | And(a, b) | Or(a, b):
            return f"({_text(a, deep - 1)} {_BETWEEN[type(node)]} {_text(b, deep - 1)})"
        case Cmp(op, a, b):
            return f"({_text(a, deep - 1)} {op} {_text(b, deep - 1)})"
        case FloorDiv(a, k):
            return f"({_text(a, deep - 1)} // {k})"
        case _:
            return _function(node, deep)


def _function(node: Node, deep: int) -> str:
    match node:
        case Clip(a, lo, hi):
            return f"clip({_text(a, deep - 1)}, {lo}, {hi})"
        case Case(cond, then, other):
            return f"if({_text(cond, deep - 1)}, {_text(then, deep - 1)}, {_text(other, deep - 1)})"
        case Not(a):
            return f"not {_text(a, deep - 1)}"
        case Known(a):
            return f"known({_text(a, deep - 1)})"
        case _:
            assert isinstance(node, TrueP)
            return "true"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"

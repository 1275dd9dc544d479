"""The share of rows that a filter leaves, if every declared value were as frequent as any other: for a picture, from public facts alone."""

from __future__ import annotations

from dpnb.errors import DpnbError
from dpnb.planner.expression import Between, BoolOp, Compare, Const, Expr, Invert, IsIn, Ref
from dpnb.trusted.schema import Schema

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

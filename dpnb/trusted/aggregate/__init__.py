"""Exact questions: what an engine is asked, and what the answer means, spelled out in numpy.

This room holds a small integer algebra (:mod:`dpnb.trusted.aggregate.algebra`), its meaning
(:mod:`dpnb.trusted.aggregate.reference`: simulation's evaluator and every engine's oracle), and the one way in which a raw
table becomes integers on its declared grid (:mod:`dpnb.trusted.aggregate.preparation`). It refuses floats after the
quantiser, division by anything but a positive constant, and any result that depends on the order of rows.
The meaning of a node never changes: a released number depends on it.
"""

from dpnb.trusted.aggregate.algebra import (
    Add,
    And,
    Case,
    Clip,
    Cmp,
    Col,
    CrossMoments,
    FloorDiv,
    IntExpr,
    Key,
    Known,
    LabelSums,
    Lit,
    Mul,
    Not,
    Or,
    Pred,
    Request,
    Shrink,
    Sub,
    Total,
    TrueP,
    ValueCounts,
    bounds,
    columns_of,
    substitute,
)
from dpnb.trusted.aggregate.reference import Answer, Ints, LabelTally, Table, Tally, answer

__all__ = [
    "Add",
    "And",
    "Answer",
    "Case",
    "Clip",
    "Cmp",
    "Col",
    "CrossMoments",
    "FloorDiv",
    "IntExpr",
    "Ints",
    "Key",
    "Known",
    "LabelSums",
    "LabelTally",
    "Lit",
    "Mul",
    "Not",
    "Or",
    "Pred",
    "Request",
    "Shrink",
    "Sub",
    "Table",
    "Tally",
    "Total",
    "TrueP",
    "ValueCounts",
    "answer",
    "bounds",
    "columns_of",
    "substitute",
]

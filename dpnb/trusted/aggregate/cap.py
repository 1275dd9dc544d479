"""How many rows of a unit a question keeps: a condition on each row's rank among the rows of its unit.

The prepared copy ranks the rows of a unit once, 0 first, by the keyed hash that bounds them
(:mod:`dpnb.trusted.aggregate.preparation`). So ``rank < k`` keeps at most k rows of each, the rows of a smaller cap are among
those of a larger one, and a cap is a filter like others: questions of different caps keep different rows. A rank is a
function of its own unit's rows; whatever else is asked of it is priced as any column is.
"""

from __future__ import annotations

from typing import Final

from dpnb.trusted.aggregate.algebra import Cmp, Col, Lit, Pred, conjuncts
from dpnb.trusted.records import RESERVED

RANK: Final = f"{RESERVED}rank"
"""The column of ranks, where units have several rows."""


def cap(rows: int) -> Pred:
    """Return the condition that keeps so many rows of each unit."""
    return Cmp("<", Col(RANK), Lit(rows))


def rows_kept(where: Pred | None) -> int | None:
    """Return how many rows of a unit a filter keeps at most, where it says so by a cap."""
    return min(
        (
            part.b.value
            for part in conjuncts(where)
            if isinstance(part, Cmp) and part.op == "<" and part.a == Col(RANK) and isinstance(part.b, Lit)
        ),
        default=None,
    )

"""How long a question is when it is written out, in steps, and what that counts beside the work of its measurements.

What an expression is written out to has a limit: a list of values is a comparison for each of them, so that lists within
lists multiply.
"""

from __future__ import annotations

from fractions import Fraction

from dpnb.errors import PlanError
from dpnb.planner.expression import Among, Between, Bin, Expr, IsIn, Part
from dpnb.planner.question import Option, Question
from dpnb.trusted.query.limits import MOST_WORK, too_much

MOST_STEPS = 20_000
"""Steps of one question, written out."""
STEP = 10
"""Units of one step, which is compiled, checked and rendered: some 30 µs."""
WITHIN = 4_000
"""Units of finding what one question must pay to be `within` an accuracy: it is priced some twenty times."""


def limited_work(units: int) -> int:
    """Return what a batch asks for, or refuse it.

    Raises
    ------
    PlanError
        Before any charge.
    """
    if units > MOST_WORK:
        raise too_much()
    return units


def limited_steps(question: Question) -> int:
    """Return how long a question is when it is written out, in steps, or refuse it.

    Raises
    ------
    PlanError
        Before any charge.
    """
    known: dict[int, int] = {}
    asked = (question.target, question.where, question.other, *question.by, *question.others)
    listed = sum(_listed(name, value) for name, value in question.options)
    steps = listed + sum(_steps(expr, known) for expr in asked if expr is not None)
    if steps > MOST_STEPS:
        raise PlanError(
            f"This question is more than {MOST_STEPS:,} steps long when its lists are written out: "
            "use fewer values or edges, and no isin, between or bin within another."
        )
    return steps


def _listed(name: str, value: Option) -> int:
    """Return how many values an option stands for: a number of bins is written out as their edges."""
    if isinstance(value, tuple):
        return len(value)
    return (
        int(value) if name == "bins" and isinstance(value, int | Fraction) and 0 < value <= MOST_STEPS else 0
    )


def _steps(expr: Expr, known: dict[int, int]) -> int:
    """Return how long an expression is when it is written out; one that stands in many places is counted once for each."""
    if id(expr) not in known:
        below = sum(_steps(child, known) for child in expr.children()) + 3
        known[id(expr)] = below * _copies(expr)
    return known[id(expr)]


_PART = 8
"""A month is computed from four copies of the day, and the arithmetic between them is as much again."""


def _copies(expr: Expr) -> int:
    if isinstance(expr, IsIn):
        return max(len(expr.values), 1)
    if isinstance(expr, Bin):
        return max(len(expr.edges), 1)
    if isinstance(expr, Among):
        return max(len(expr.values), 1)
    if isinstance(expr, Part):
        return _PART
    return 2 if isinstance(expr, Between) else 1

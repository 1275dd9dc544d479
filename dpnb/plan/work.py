"""How much work a batch is, from public facts: what a message may ask the curator to do has a limit, told before the charge.

One unit is one noised number: about 3 µs of processor and 130 bytes until it is stored and sent. A batch of the limit takes the
curator some seconds where it asks for numbers, and one to two minutes where it asks for selections, which draw one exact
integer after another; the time that a scan takes grows with the rows, which are nobody's to know, and is not counted.

What an expression is written out to has a limit too: a list of values is a comparison for each of them, so that lists within
lists multiply.
"""

from __future__ import annotations

from fractions import Fraction

from dpnb.errors import PlanError
from dpnb.plan.expression import Between, Bin, Expr, IsIn
from dpnb.plan.question import Option, QueryPlan
from dpnb.statistics import PricedPart
from dpnb.trusted.aggregate.algebra import CrossMoments
from dpnb.trusted.mechanisms import (
    KSExponential,
    LocatedSums,
    PermuteAndFlip,
    QuantileSelection,
    Thresholding,
)
from dpnb.trusted.mechanisms.thresholding import MOST_SHOWN

MOST_WORK = 2_000_000
"""Units in a batch."""
MOST_STEPS = 20_000
"""Steps of one question, written out."""
STEP = 10
"""Units of one step, which is compiled, checked and rendered: some 30 µs."""
WITHIN = 4_000
"""Units of finding what one question must pay to be `within` an accuracy: it is priced some twenty times."""
_PART, _SELECTION, _LOCATED, _PAIR = 200, 9, 15, 50
_CANDIDATES, _PLACED = 100, 60


def work_of(part: PricedPart) -> int:
    """Return the units of one released vector.

    A selected value counts as nine numbers, a located sum as fifteen, a product of two columns as fifty, a hundred candidates of
    a pick as one, a cell in which a synthetic sample is placed as sixty (its tables are made in some milliseconds, for each group),
    frequent values as the ten thousand that may be shown, and every vector two hundred on top: it is priced, and it is a query.
    """
    return _PART + max(part.cells, _own(part))


def _own(part: PricedPart) -> int:
    mechanism, request = part.mechanism, part.request
    if isinstance(mechanism, QuantileSelection):
        return _SELECTION * part.cells
    if isinstance(mechanism, LocatedSums):
        return _LOCATED * (part.cells // mechanism.width)
    if isinstance(mechanism, PermuteAndFlip):
        return part.cells * mechanism.size // _CANDIDATES
    if isinstance(mechanism, KSExponential):
        return (_PLACED + mechanism.points // _CANDIDATES) * part.cells
    if isinstance(mechanism, Thresholding):
        return MOST_SHOWN
    return _PAIR * len(request.pairs) if isinstance(request, CrossMoments) else 0


def limited_work(units: int) -> int:
    """Return what a batch asks for, or refuse it.

    Raises
    ------
    PlanError
        Before any charge.
    """
    if units > MOST_WORK:
        raise PlanError(
            f"This cell asks for more than {MOST_WORK:,} numbers at once (a quantile counts as 9, a robust mean as 15, "
            f"a question of within= as {WITHIN:,}): "
            "ask fewer questions, groups or levels in one cell. Nothing was spent."
        )
    return units


def limited_steps(question: QueryPlan) -> int:
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


def _copies(expr: Expr) -> int:
    if isinstance(expr, IsIn):
        return max(len(expr.values), 1)
    if isinstance(expr, Bin):
        return max(len(expr.edges), 1)
    return 2 if isinstance(expr, Between) else 1

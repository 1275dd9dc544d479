"""What a measurement may name, how large its numbers may be, and how much work a plan is: held against the public schema before anything is priced.

An engine that overflowed would fail on some tables and not on their neighbours: whether it did would be an exact answer. So every
step of every expression is bounded from the declared ranges alone, on any row.

One unit of work is one noised number: about 3 µs of processor and 130 bytes until it is stored and sent. A batch of the limit takes the
curator some seconds where it asks for numbers, and one to two minutes where it asks for selections, which draw one exact
integer after another; the time that a scan takes grows with the rows, which are nobody's to know, and is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields, is_dataclass
from fractions import Fraction
from typing import Any

from dpnb.trusted.aggregate import algebra
from dpnb.trusted.errors import PlanError
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import AdditiveMechanism

MOST_CELLS = 200_000
"""Cells of one request."""
MOST_VALUES = 33
"""Columns of a matrix, the constant one among them."""
MOST_WORDS = 33
"""Integers of a label, and values that are summed for each."""
MOST_LIMITS = 1_000
"""Limits by which a row is moved into a ball: each is a comparison on each row."""
LARGEST = 2**62
"""How large any step of an expression may be, on any row: a sum over fewer than 2^64 rows is then below 2^126, which every engine holds."""
MOST_BITS = 256
"""How long numerator and denominator of a noise amount may be."""


def refuse_unbounded(parts: Sequence[Measurement], ends: algebra.Bounds) -> None:
    """Refuse measurements that name what is not declared, or have numbers beyond their limits.

    A request that several of them ask is looked at once.

    Parameters
    ----------
    parts : sequence of Measurement
    ends : Bounds
        The ranges of expressions, from those that are declared of columns.

    Raises
    ------
    PlanError
        Before any charge, from the schema alone.
    """
    for request in {id(part.request): part.request for part in parts}.values():
        _refuse_cells(request)
        _refuse_wide(request, ends)
    if any(length > MOST_BITS for part in parts for length in _lengths(part.mechanism)):
        raise PlanError(f"An amount of noise has more than {MOST_BITS} bits: ask a loss of fewer digits.")


def _refuse_wide(request: algebra.Request, ends: algebra.Bounds) -> None:
    """Refuse a request of which any step, on any row, could leave 62 bits, or that names what is not declared."""
    try:
        wide = any(ends.of(node).reach > LARGEST for node in _evaluated(request))
    except KeyError:
        raise PlanError(
            "This plan names a column that the schema does not declare. Open the dataset again."
        ) from None
    if wide:
        raise PlanError(
            "A step of this expression has too wide a range to be computed exactly; use wider steps or clip it."
        )
    if isinstance(request, algebra.CrossMoments) and request.shrink is not None:
        if len(request.shrink.limits) > MOST_LIMITS:
            raise PlanError(f"Rows are moved into a ball by at most {MOST_LIMITS:,} limits.")
        if max(map(abs, request.shrink.limits)) > LARGEST:
            raise PlanError("A limit by which rows are moved into a ball has more than 62 bits.")
        for value, half in zip(request.values, request.shrink.halves, strict=True):
            if half and max(map(abs, ends(value))) > half:
                raise PlanError("A value leaves the half range by which its row is measured.")


def _refuse_cells(request: algebra.Request) -> None:
    if isinstance(request, algebra.CrossMoments):
        if len(request.values) > MOST_VALUES:
            raise PlanError(f"A matrix of moments has at most {MOST_VALUES - 1} columns.")
        return
    if isinstance(request, algebra.LabelSums):
        if max(len(request.label), len(request.values)) > MOST_WORDS:
            raise PlanError(f"A label has at most {MOST_WORDS} integers, and as many sums.")
        return
    if algebra.cells_of(request.keys) > MOST_CELLS:
        raise PlanError(f"A question has at most {MOST_CELLS:,} cells. Use fewer keys or wider bins.")


def _evaluated(request: algebra.Request) -> Iterator[algebra.Node]:
    """Give what an engine evaluates on each row."""
    yield from algebra.roots(request)
    if isinstance(request, algebra.CrossMoments):
        yield from (algebra.Mul(request.values[i], request.values[j]) for i, j in request.pairs)


def _lengths(mechanism: Any) -> Iterator[int]:
    """Give how many bits each number of a mechanism has, above and below."""
    for field in fields(mechanism):
        value = getattr(mechanism, field.name)
        if is_dataclass(value):
            yield from _lengths(value)
        for number in value if isinstance(value, tuple) else (value,):
            if type(number) is int or type(number) is Fraction:
                yield max(abs(number.numerator).bit_length(), number.denominator.bit_length())


# ---------------------------------------------------------------- work

MOST_WORK = 2_000_000  # units in a batch
_PART, _PAIR, _NODES, _STEPS = 200, 50, 10, 4


def work_of(part: Measurement) -> int:
    """Return the units of one released vector.

    A number counts as one, or as what its mechanism says; a product of two columns as fifty, and every vector two hundred on top:
    it is priced, and it is a query.
    """
    own = part.mechanism.work(part.cells)
    if isinstance(part.request, algebra.CrossMoments) and isinstance(part.mechanism, AdditiveMechanism):
        own = _PAIR * len(part.request.pairs)
    return _PART + max(part.cells, own)


def limited(parts: Iterable[Measurement], units: int = 0) -> int:
    """Return how much work some measurements are, added to what was counted before, or refuse them.

    Ten nodes of an expression are one unit for each vector that asks it: they are looked at again for each. An engine plans a
    request once, and walks from each node to all below it: four steps of that are a unit.

    Raises
    ------
    PlanError
        Before any charge.
    """
    sizes: dict[int, tuple[algebra.Request, int]] = {}  # a request that is kept keeps its id
    for part in parts:
        if id(part.request) not in sizes:
            lengths = [algebra.length(root) for root in algebra.roots(part.request)]
            sizes[id(part.request)] = part.request, sum(nodes for nodes, _, _ in lengths)
            units += sum(above for _, above, _ in lengths) // _STEPS
        units += work_of(part) + sizes[id(part.request)][1] // _NODES
        if units > MOST_WORK:
            raise too_much()
    return units


def too_much() -> PlanError:
    """Return the refusal of a batch that is too much work."""
    return PlanError(
        f"This cell asks for more than {MOST_WORK:,} numbers at once (a quantile counts as 9, a robust mean as 15, "
        "a question of within= as 4,000): "
        "ask fewer questions, groups or levels in one cell. Nothing was spent."
    )

"""How much work a plan is, from public facts: what a message may ask the curator to do has a limit, told before the charge.

One unit is one noised number: about 3 µs of processor and 130 bytes until it is stored and sent. A batch of the limit takes the
curator some seconds where it asks for numbers, and one to two minutes where it asks for selections, which draw one exact
integer after another; the time that a scan takes grows with the rows, which are nobody's to know, and is not counted.
"""

from __future__ import annotations

from collections.abc import Iterable

from dpnb.trusted.aggregate.algebra import CrossMoments, Request, length, roots
from dpnb.trusted.errors import PlanError
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import AdditiveMechanism

MOST_WORK = 2_000_000
"""Units in a batch."""
_PART, _PAIR, _NODES, _STEPS = 200, 50, 10, 4


def work_of(part: Measurement) -> int:
    """Return the units of one released vector.

    A number counts as one, or as what its mechanism says; a product of two columns as fifty, and every vector two hundred on top:
    it is priced, and it is a query.
    """
    own = part.mechanism.work(part.cells)
    if isinstance(part.request, CrossMoments) and isinstance(part.mechanism, AdditiveMechanism):
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
    sizes: dict[int, tuple[Request, int]] = {}  # a request that is kept keeps its id
    for part in parts:
        if id(part.request) not in sizes:
            lengths = [length(root) for root in roots(part.request)]
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

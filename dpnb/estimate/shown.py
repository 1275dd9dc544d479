"""What is shown in place of a number that would mislead: the declared label of a choice, or that there is no value.

A choice (``mode``, ``top_k``, ``choose``) is stored as a number, its place in the declaration where the declared values are no
numbers. Whatever shows an answer asks here for words first; ``.value`` and arithmetic keep the number. Labels are public texts of a
schema or a question; nothing but these, and the flags of released entries, is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnb.estimate.evaluate import frozen
from dpnb.estimate.operations import Take
from dpnb.inference.digits import dated, percent

if TYPE_CHECKING:
    from dpnb.estimate.node import Node

UNDEFINED = "undefined"


def labels(estimate: Node) -> tuple[Any, ...]:
    """Return the declared values behind a choice, row-major; empty for other answers."""
    outcome, places = _source(estimate)
    found = getattr(outcome, "labels", None)
    return tuple(found[place] for place in places) if found else ()


def estimand(estimate: Node) -> str:
    """Return what is estimated where values are held to bounds, of arithmetic what each of its questions estimates; else nothing."""
    if estimate.op is not None:
        return "; ".join(dict.fromkeys(said for leaf in estimate.leaves() if (said := _estimand(leaf))))
    leaf = estimate.args[0]
    said = _estimand(leaf.root)
    return said if leaf.root is leaf or not said else f"read from the {said}"


def at_bounds(leaf: Any) -> str:
    """Say how many rows lie at or beyond each bound, where that was bought beside one answer; else nothing."""
    read = (
        getattr(leaf.checked, "readings", {}).get("held_share") if leaf.released and not leaf.shape else None
    )
    if read is None:
        return ""
    low, _, high = read(leaf.checked.setting).conclude(leaf.releases).value
    return f"about {percent(low, 1)} of rows lie at or below the lower bound, {percent(high, 1)} at or above the upper one"


def _estimand(leaf: Any) -> str:
    return getattr(leaf.outcome, "estimand", "") or getattr(leaf.checked, "estimand", "")


def names(estimate: Node) -> tuple[Any, ...]:
    """Return the labels of a choice where they say more than its numbers; else empty."""
    found = labels(estimate)
    values = np.ravel(estimate.value).tolist() if found else ()
    told = all(_is(label, value) for label, value in zip(found, values, strict=True))
    return () if told else found


def undefined(estimate: Node) -> tuple[bool, ...]:
    """Return which entries carry the flag *undefined* themselves; empty where none does."""
    return flagged(estimate, UNDEFINED)


def flagged(estimate: Node, flag: str) -> tuple[bool, ...]:
    """Return which entries carry a flag themselves; empty where none does."""
    outcome, places = _source(estimate)
    flags = getattr(outcome, "cell_flags", None) or ()
    raised = tuple(place < len(flags) and flag in flags[place] for place in places) if flags else ()
    return raised if any(raised) else ()


def words(estimate: Node) -> tuple[str | None, ...]:
    """Return what to show for each entry, None where it is the number; empty where every entry is its number."""
    found = names(estimate)
    if found:
        return tuple(printable(label) for label in found)
    return tuple(UNDEFINED if lost else None for lost in undefined(estimate))


def whole(estimate: Node, numbers: Any) -> Any:
    """Return numbers of rows as whole numbers; what a combination made real, and every other answer, as they are."""
    outcome, _ = _source(estimate)
    if outcome is None:
        return numbers
    question, found = estimate.leaves()[0], np.asarray(numbers)
    counted = outcome is question.outcome and getattr(
        getattr(question.checked, "kind", None), "counts", False
    )
    if not counted or not np.isfinite(found).all() or (found != np.rint(found)).any():
        return numbers
    return frozen(found.astype(np.int64)) if found.ndim else int(found)


def calendar(estimate: Node) -> str | None:
    """Return the step that an answer in dates counts; None for numbers."""
    return getattr(_source(estimate)[0], "calendar", None)


def dates(estimate: Node) -> tuple[str, ...]:
    """Return the entries of an answer in dates as ISO text; empty for numbers."""
    step = calendar(estimate)
    return () if step is None else tuple(dated(value, step) for value in np.ravel(estimate.value).tolist())


def printable(label: Any) -> str:
    """Return a label as text of one line: no control characters and no marks that change its direction."""
    return "".join(c if c.isprintable() else " " * c.isspace() for c in str(label))


def _is(label: Any, value: float) -> bool:
    return isinstance(label, int | float | Fraction) and float(label) == value


def _source(estimate: Node) -> tuple[Any, Sequence[int]]:
    """The outcome that an answer, or an answer that was indexed, comes from, and its places there."""
    taken = []
    while isinstance(estimate.op, Take):
        taken.append(estimate.op)
        estimate = estimate.args[0]
    if estimate.op is not None or estimate.outcome is None:
        return None, ()
    places = np.arange(estimate.size).reshape(estimate.shape)
    for op in reversed(taken):
        places = op.apply([places], 0)
    return estimate.outcome, np.ravel(places).tolist()

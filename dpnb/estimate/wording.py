"""How an estimate is written: its question as it was typed, and what is shown in place of a number that would mislead.

An expression is cut where it would grow long. A choice (``mode``, ``top_k``, ``choose``) is stored as a number, its place in the
declaration where the declared values are no numbers. Whatever shows an answer asks here for words first; ``.value`` and arithmetic keep
the number. Labels are public texts of a schema or a question; nothing but these, and the flags of released entries, is read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from itertools import product, zip_longest
from typing import Any

import numpy as np

from dpnb.estimate.evaluate import Expression, frozen, is_node
from dpnb.estimate.operations import SYMBOLS, Join, Operation, Reduce, Round, Take
from dpnb.estimate.pending_question import PendingQuestion
from dpnb.inference.digits import dated, number, percent
from dpnb.planner.expression import Compare, Const, Expr, Ref
from dpnb.statistics import BY_NAME
from dpnb.statistics._base import Axis
from dpnb.statistics.result import Result
from dpnb.trusted.releases import Release

UNDEFINED = "undefined"


def labels(estimate: Expression) -> tuple[Any, ...]:
    """Return the declared values behind a choice, row-major; empty for other answers."""
    outcome, places = _source(estimate)
    found = getattr(outcome, "labels", None)
    return tuple(found[place] for place in places) if found else ()


def estimand(estimate: Expression) -> str:
    """Return what is estimated where values are clamped to bounds, of arithmetic what each of its questions estimates; else nothing."""
    if estimate.op is not None:
        return "; ".join(dict.fromkeys(said for leaf in estimate.leaves() if (said := _estimand(leaf))))
    leaf = estimate.args[0]
    said = _estimand(leaf.root)
    return said if leaf.root is leaf or not said else f"read from the {said}"


def at_bounds(leaf: PendingQuestion) -> str:
    """Say how many rows lie at or beyond each bound, where that was bought beside one answer; else nothing."""
    read = (
        getattr(leaf.checked, "readings", {}).get("held_share") if leaf.released and not leaf.shape else None
    )
    if read is None:
        return ""
    low, _, high = read(leaf.checked.setting).conclude(leaf.releases).value
    return f"about {percent(low, 1)} of rows lie at or below the lower bound, {percent(high, 1)} at or above the upper one"


def _estimand(leaf: PendingQuestion) -> str:
    return getattr(leaf.outcome, "estimand", "") or getattr(leaf.checked, "estimand", "")


def names(estimate: Expression) -> tuple[Any, ...]:
    """Return the labels of a choice where they say more than its numbers; else empty."""
    found = labels(estimate)
    values = np.ravel(estimate.value).tolist() if found else ()
    told = all(_is(label, value) for label, value in zip(found, values, strict=True))
    return () if told else found


def undefined(estimate: Expression) -> tuple[bool, ...]:
    """Return which entries carry the flag *undefined* themselves; empty where none does."""
    return flagged(estimate, UNDEFINED)


def flagged(estimate: Expression, flag: str) -> tuple[bool, ...]:
    """Return which entries carry a flag themselves; empty where none does."""
    outcome, places = _source(estimate)
    flags = getattr(outcome, "cell_flags", None) or ()
    raised = tuple(place < len(flags) and flag in flags[place] for place in places) if flags else ()
    return raised if any(raised) else ()


def words(estimate: Expression) -> tuple[str | None, ...]:
    """Return what to show for each entry, None where it is the number; empty where every entry is its number."""
    found = names(estimate)
    if found:
        return tuple(printable(label) for label in found)
    return tuple(UNDEFINED if lost else None for lost in undefined(estimate))


def whole(estimate: Expression, numbers: object) -> Any:
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


def calendar(estimate: Expression) -> str | None:
    """Return the step that an answer in dates counts; None for numbers."""
    return getattr(_source(estimate)[0], "calendar", None)


def dates(estimate: Expression) -> tuple[str, ...]:
    """Return the entries of an answer in dates as ISO text; empty for numbers."""
    step = calendar(estimate)
    return () if step is None else tuple(dated(value, step) for value in np.ravel(estimate.value).tolist())


def printable(label: object) -> str:
    """Return a label as text of one line: no control characters and no marks that change its direction."""
    return "".join(c if c.isprintable() else " " * c.isspace() for c in str(label))


def _is(label: object, value: float) -> bool:
    return isinstance(label, int | float | Fraction) and float(label) == value


def _source(estimate: Expression) -> tuple[Result | None, Sequence[int]]:
    """The outcome that an answer, or an answer that was indexed, comes from, and its places there."""
    taken = []
    while isinstance(estimate.op, Take):
        taken.append(estimate.op)
        estimate = estimate.args[0]
    outcome = estimate.outcome
    if outcome is None:
        return None, ()
    if not taken:
        return outcome, range(estimate.size)
    places = np.arange(estimate.size).reshape(estimate.shape)
    for op in reversed(taken):
        places = op.apply([places], 0)
    return outcome, np.ravel(places).tolist()


def computed(estimate: Expression) -> str:
    """Say how a number was computed from answers; of two means subtracted, also what asks their difference as one question."""
    asked = [_whole_of(arg) for arg in estimate.args] if estimate.op is np.subtract else [None]
    if any(leaf is None or leaf.checked.kind is not BY_NAME["mean"] for leaf in asked):
        return "arithmetic on released numbers"
    first, second = (leaf for leaf in asked if leaf is not None)
    said = "two means subtracted, with the noise of both"
    grouped = first.question == second.question
    keys = first.question.by if grouped else _filtered(first, second)
    if len(keys) != 1 or not _two_valued(keys[0], first.dataset):
        return said
    where = first.question.where if grouped else None
    whole = replace(first.question, statistic="difference", by=keys, where=where)
    shared = ", unless one cell asks both" if grouped else ""
    return f"{said}; {whole.text} asks the difference as one question, with noise of its own{shared}"


def _whole_of(arg: object) -> PendingQuestion | None:
    """The question that a number is an answer of, or one entry of the answer of."""
    while is_node(arg) and isinstance(arg.op, Take):
        arg = arg.args[0]
    return arg.measurement if is_node(arg) else None


def _filtered(first: PendingQuestion, second: PendingQuestion) -> tuple[Expr, ...]:
    """The column that two questions are filtered by, each on one value, and that alone tells them apart; else empty."""
    if replace(first.question, where=None) != replace(second.question, where=None):
        return ()
    match first.question.where, second.question.where:
        case Compare("==", left, Const()), Compare("==", right, Const()) if left == right:
            return (left,)
    return ()


def _two_valued(key: Expr, dataset: Any) -> bool:
    """Whether a key is a column with two declared values, between which a difference can be asked."""
    declared = None if dataset is None or not isinstance(key, Ref) else dataset.schema[key.column]
    return declared is not None and declared.values is not None and len(declared.values) == 2


_DEEP = 6
_MANY, _LINES, _WIDE = 20, 60, 100
_SUMS = {np.add, np.subtract}


def not_kept(count: int) -> str:
    """Say what became of questions that a cell built and that no name held at its end."""
    who = "1 question had" if count == 1 else f"{count:,} questions had"
    return f"{who} no name when the cell ended: not released, nothing spent. To keep each one of a loop: out.append(…)"


def text(estimate: Expression, deep: int = _DEEP) -> str:
    """The expression as Python, for example ``(hiv.got.mean() * 2) ** 0.5``."""
    if estimate.op is None:
        return str(estimate.args[0].text)
    if deep == 0:
        return "…"
    if isinstance(estimate.op, Take):
        return f"{_written(estimate.args[0], deep)}[{_places(estimate, estimate.op)}]"
    if estimate.op in SYMBOLS:
        left, right = (_written(arg, deep, estimate.op) for arg in estimate.args)
        return f"{left} {SYMBOLS[estimate.op]} {right}"
    if estimate.op is np.negative:
        return f"-{_written(estimate.args[0], deep)}"
    name = estimate.op.what if isinstance(estimate.op, Reduce) else _name(estimate.op)
    arguments = [_written(arg, deep, np.add) for arg in estimate.args[:3]]
    arguments += ["…"] * (len(estimate.args) > 3)
    if isinstance(estimate.op, Round) and estimate.op.decimals:
        arguments.append(str(estimate.op.decimals))
    return f"{name}({', '.join(arguments)})"


def _name(op: np.ufunc | Operation) -> str:
    if isinstance(op, Join):
        return "stack" if op.new else "concatenate"
    name = op.name if isinstance(op, Operation) else op.__name__
    return "abs" if name == "absolute" else str(name)


def _written(arg: object, deep: int, within: object = None) -> str:
    """One argument, in brackets where the reading would change."""
    if not is_node(arg):
        return f"{arg:g}" if isinstance(arg, float | int) else "array"
    inner = text(arg, deep - 1)
    bare = arg.op not in SYMBOLS or (within in _SUMS and arg.op is not np.power)
    return inner if bare else f"({inner})"


def _places(estimate: Expression, op: Take) -> str:
    """The index, by key where the axis has keys."""
    shown = []
    axes = estimate.args[0].axes or (None,) * len(op.places)
    for place, axis in zip(op.places, axes, strict=False):
        if isinstance(place, int):
            shown.append(repr(axis.keys[place]) if axis is not None else str(place))
        elif isinstance(place, slice):
            ends = ("" if end is None else str(end) for end in (place.start, place.stop))
            shown.append(":".join(ends))
        else:
            shown.append("[…]")
    return ", ".join(shown)


def told(
    point: Any, words: Sequence[str | None] = (), axes: Sequence[Axis] = (), *, lines: bool = False
) -> str:
    """Values with their keys, in the declared order: ``north: 3; south: 5``. What is left out is counted.

    Parameters
    ----------
    point : number or array
    words : sequence of str or None
        What is shown in place of each number; empty where nothing is.
    axes : sequence of Axis
        Their keys; an axis of ranks has none, and its picks stand side by side.
    lines : bool
        Write a line for each value where one line would be long.
    """
    texts = [number(x) if word is None else word for x, word in zip_longest(np.ravel(point).tolist(), words)]
    if np.ndim(point) == 0:
        return texts[0]
    parts, between = _keyed(texts, axes)
    if lines and (len(parts) > _MANY or sum(map(len, parts)) + 2 * len(parts) > _WIDE):
        more = len(parts) - _LINES
        return "\n".join(
            [*parts[:_LINES], *([f"… and {more:,} more: .table() has them all"] if more > 0 else [])]
        )
    more = len(parts) - _MANY
    written = between.join([*parts[:_MANY], *([f"… and {more:,} more"] if more > 0 else [])])
    return written if axes else f"[{written}]"


def _keyed(texts: list[str], axes: Sequence[Axis]) -> tuple[list[str], str]:
    """Each text behind its keys, or the picks of each key; and what stands between two of them."""
    picked = bool(axes) and _ranked(axes[-1])
    ranks = len(axes[-1].keys) if picked else 1
    keys = list(product(*(axis.keys for axis in (axes[:-1] if picked else axes))))
    picks = [", ".join(texts[start : start + ranks]) for start in range(0, len(texts), ranks)]
    if len(keys) != len(picks) or not keys[0]:
        return picks, ", "
    found = [f"{' · '.join(map(printable, key))}: {pick}" for key, pick in zip(keys, picks, strict=True)]
    return found, "; "


def _ranked(axis: Axis) -> bool:
    """Whether an axis is that of several picks, best first."""
    return axis.name == "rank" and tuple(axis.keys) == tuple(range(1, len(axis.keys) + 1))


def stored(releases: Sequence[Release]) -> str:
    """Say that an answer is from the store, and of how many it is put together; empty where something was paid for it now, or nothing."""
    if not releases or not all(release.stored for release in releases):
        return ""
    answers = len({release.id for release in releases})
    return "stored" if answers == 1 else f"stored · combined from {answers} answers"

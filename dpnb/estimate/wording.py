"""How an expression is written out: as it was typed, cut where it would grow long. It shows questions, never data."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnb.estimate.evaluate import is_node
from dpnb.estimate.operations import SYMBOLS, Join, Operation, Reduce, Round, Take
from dpnb.estimate.shown import printable
from dpnb.inference.digits import number

if TYPE_CHECKING:
    from dpnb.estimate.node import Node

_DEEP = 6
_MANY, _ENDS = 20, 3
_SUMS = {np.add, np.subtract}


def not_kept(count: int) -> str:
    """Say what became of questions that a cell built and that no name held at its end."""
    who = "1 question had" if count == 1 else f"{count:,} questions had"
    return f"{who} no name when the cell ended: not released, nothing spent. To keep each one of a loop: out.append(…)"


def text(estimate: Node, deep: int = _DEEP) -> str:
    """The expression as Python, for example ``(hiv.got.mean() * 2) ** 0.5``."""
    if estimate.op is None:
        return str(estimate.args[0].text)
    if deep == 0:
        return "…"
    if isinstance(estimate.op, Take):
        return f"{_written(estimate.args[0], deep)}[{_places(estimate)}]"
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


def _name(op: Any) -> str:
    if isinstance(op, Join):
        return "stack" if op.new else "concatenate"
    name = op.name if isinstance(op, Operation) else op.__name__
    return "abs" if name == "absolute" else str(name)


def _written(arg: Any, deep: int, within: Any = None) -> str:
    """One argument, in brackets where the reading would change."""
    if not is_node(arg):
        return f"{arg:g}" if isinstance(arg, float | int) else "array"
    inner = text(arg, deep - 1)
    bare = arg.op not in SYMBOLS or (within in _SUMS and arg.op is not np.power)
    return inner if bare else f"({inner})"


def _places(estimate: Node) -> str:
    """The index, by key where the axis has keys."""
    shown = []
    axes = estimate.args[0].axes or (None,) * len(estimate.op.places)
    for place, axis in zip(estimate.op.places, axes, strict=False):
        if isinstance(place, int):
            shown.append(repr(axis.keys[place]) if axis is not None else str(place))
        elif isinstance(place, slice):
            ends = ("" if end is None else str(end) for end in (place.start, place.stop))
            shown.append(":".join(ends))
        else:
            shown.append("[…]")
    return ", ".join(shown)


def value(point: Any) -> str:
    """A point value, or the ends of a long vector."""
    if np.ndim(point) == 0:
        return number(point)
    shown: Any = {"float_kind": number, "int_kind": number}
    return np.array2string(
        np.asarray(point), formatter=shown, threshold=_MANY, edgeitems=_ENDS, separator=", "
    )


def told(point: Any, words: Sequence[str | None]) -> str:
    """A point value, with words in place of some of its numbers."""
    texts = [
        number(x) if word is None else word for x, word in zip(np.ravel(point).tolist(), words, strict=True)
    ]
    if np.ndim(point) == 0:
        return texts[0]
    shown = np.array(texts, dtype=object).reshape(np.shape(point))
    written: Any = {"object": str}
    return np.array2string(shown, formatter=written, threshold=_MANY, edgeitems=_ENDS, separator=", ")


def named(names: Sequence[str], axes: Sequence[Any]) -> str:
    """Labels as a list: ``Aa``, several picks ``Aa, Bb``, one for each key ``x: Aa, y: Bb``, or several picks for each key."""
    picked = bool(axes) and _ranked(axes[-1])
    ranks = len(axes[-1].keys) if picked else 1
    keys = list(product(*(axis.keys for axis in (axes[:-1] if picked else axes))))
    picks = [", ".join(names[start : start + ranks]) for start in range(0, len(names), ranks)]
    if len(keys) == len(picks) and keys[0]:
        picks = [f"{' · '.join(map(printable, key))}: {pick}" for key, pick in zip(keys, picks, strict=True)]
    if len(picks) > _MANY:
        picks = [*picks[:_ENDS], "…", *picks[-_ENDS:]]
    return ("; " if ranks > 1 else ", ").join(picks)


def _ranked(axis: Any) -> bool:
    """Whether an axis is that of several picks, best first."""
    return axis.name == "rank" and tuple(axis.keys) == tuple(range(1, len(axis.keys) + 1))

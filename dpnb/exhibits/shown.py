"""The neighbours of an exhibit as a person sees them, and the event that tells them apart.

Rows are the exhibit's own two datasets, cut to a few; the event's frequencies come from running the published procedure on
both, or from its law. Nothing here decides anything: it draws what the exhibit holds.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.exhibits.exhibit import Exhibit
from dpnb.risk.float_laplace import possible

_MOST = 8
_ANSWERS = 1_000
_SEED = 1

Rows = list[tuple[str, str, bool]]
Frequencies = tuple[str, int, int]
"""An event, and of a thousand answers each, how many show it under A and under B."""

_COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "difference-of-means": "arm · outcome",
        "zero-noise-error": "arm · outcome",
        "matching": "score · arm",
        "box-sensitivity": "one row, column by column",
    }
)


def neighbour_rows(exhibit: Exhibit) -> dict[str, Any] | None:
    """Return a few rows of both neighbours side by side, and how many were left out; None where both are one dataset.

    Parameters
    ----------
    exhibit : Exhibit
    """
    first, second = (_texts(data) for data in exhibit.neighbours)
    size = max(len(first), len(second))
    rows = [
        (one, two, one != two) for one, two in zip(_filled(first, size), _filled(second, size), strict=True)
    ]
    if not any(differs for _, _, differs in rows):
        return None
    kept = _kept([differs for _, _, differs in rows])
    left = [differs for place, (_, _, differs) in enumerate(rows) if place not in kept]
    return {
        "columns": _COLUMNS.get(exhibit.name, ""),
        "rows": [list(rows[place]) for place in kept],
        "same": left.count(False),
        "different": left.count(True),
    }


def _kept(differs: list[bool]) -> list[int]:
    """The places of at most eight rows: those that differ, up to six, and the first others."""
    different = [place for place, one in enumerate(differs) if one][: _MOST - 2]
    same = [place for place, one in enumerate(differs) if not one][: _MOST - len(different)]
    return sorted(different + same)


def _filled(rows: list[str], size: int) -> list[str]:
    return rows + [""] * (size - len(rows))


def _texts(data: Any) -> list[str]:
    if isinstance(data, tuple):
        return [" · ".join(_text(part) for part in row) for row in zip(*data, strict=True)]
    return [_text(value) for value in data]


def _text(value: Any) -> str:
    return "NaN" if math.isnan(value) else f"{float(value):.4g}"


def _is(told: float) -> Callable[[Any], NDArray[np.bool_]]:
    return lambda answers: np.asarray(answers) == told


_EVENTS: Mapping[str, tuple[str, Callable[[Any], NDArray[np.bool_]]]] = MappingProxyType(
    {
        "resized-bootstrap": ("the answer is above 0", lambda answers: np.asarray(answers) > 0),
        "nan-through-the-clamp": ("the answer is NaN", np.isnan),
        "float-laplace": ("no draw gives this answer for a count of 0", lambda a: ~possible(a, 0.0)),
        "zero-noise-error": ("the answer is exactly 0", _is(0.0)),
        "matching": ("the answer is 2", lambda answers: np.asarray(answers, dtype=float) == 2),
        "trimmed-regression": ("the answer is exactly 1", _is(1.0)),
        "zero-sensitivity": ("the answer is exactly -3", _is(-3.0)),
    }
)


def frequencies(exhibit: Exhibit) -> Frequencies | None:
    """Return the event that tells the neighbours apart and how often it is seen; None where there is no single one.

    Parameters
    ----------
    exhibit : Exhibit
    """
    if exhibit.name not in _EVENTS or exhibit.flawed is None:
        return None
    event, holds = _EVENTS[exhibit.name]
    first, second = (_share(exhibit.flawed, data, holds) for data in exhibit.neighbours)
    return event, round(_ANSWERS * first), round(_ANSWERS * second)


def _share(flawed: Callable[..., Any], data: Any, holds: Callable[[Any], NDArray[np.bool_]]) -> float:
    if len(inspect.signature(flawed).parameters) == 1:  # it writes its law down, and is not drawn from
        law = flawed(data)
        return float(np.array(list(law.values())) @ holds(np.array(list(law))))
    return float(np.mean(holds(flawed(data, _ANSWERS, np.random.default_rng(_SEED)))))

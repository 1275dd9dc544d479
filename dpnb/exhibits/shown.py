"""The neighbours of an exhibit as a person sees them, and the event that tells them apart.

Rows are the exhibit's own two datasets, cut to a few; the event's frequencies come from running the published procedure on
both, or from its law. Nothing here decides anything: it draws what the exhibit holds.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.exhibits.exhibit import Exhibit

_MOST = 8
_ANSWERS = 1_000
_SEED = 1

Rows = list[tuple[str, str, bool]]
Frequencies = tuple[str, int, int]
"""An event, and of a thousand answers each, how many show it under A and under B."""


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
        "columns": exhibit.columns,
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


def frequencies(exhibit: Exhibit) -> Frequencies | None:
    """Return the event that tells the neighbours apart and how often it is seen; None where there is no single one.

    Parameters
    ----------
    exhibit : Exhibit
    """
    if exhibit.event is None or exhibit.flawed is None:
        return None
    event, holds = exhibit.event
    first, second = (_share(exhibit.flawed, data, holds) for data in exhibit.neighbours)
    return event, round(_ANSWERS * first), round(_ANSWERS * second)


def _share(flawed: Callable[..., Any], data: Any, holds: Callable[[Any], NDArray[np.bool_]]) -> float:
    if len(inspect.signature(flawed).parameters) == 1:  # it writes its law down, and is not drawn from
        law = flawed(data)
        return float(np.array(list(law.values())) @ holds(np.array(list(law))))
    return float(np.mean(holds(flawed(data, _ANSWERS, np.random.default_rng(_SEED)))))

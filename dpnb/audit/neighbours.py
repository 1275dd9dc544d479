"""Two neighbouring datasets in words: how large they are, and in which row they differ."""

from __future__ import annotations

from typing import Any

import numpy as np

_SHORT = 60


def described(first: Any, second: Any) -> tuple[str, str]:
    """Describe two datasets.

    Examples
    --------
    >>> described([0] * 1000, [0] * 999 + [1])
    ('1,000 rows; row 999 is 0', '1,000 rows; row 999 is 1')
    >>> described([1, 2], [1, 2, 3])
    ('[1, 2]', '[1, 2, 3]')
    """
    whole = tuple(_flat(data) for data in (first, second))
    if max(map(len, whole)) <= _SHORT:
        return whole[0], whole[1]
    one, two = _rows(first), _rows(second)
    if one is None or two is None or one.shape != two.shape:
        return _sized(first, one), _sized(second, two)
    unequal = (one != two) & ~((one != one) & (two != two))  # noqa: PLR0124 - NaN is not itself
    places = np.flatnonzero(unequal.reshape(len(one), -1).any(axis=1))
    if len(places) != 1:
        return _sized(first, one), _sized(second, two)
    at = int(places[0])
    return tuple(f"{len(one):,} rows; row {at} is {_cut(_flat(rows[at]))}" for rows in (one, two))  # type: ignore[return-value]


def _cut(text: str) -> str:
    return text if len(text) <= _SHORT else text[: _SHORT - 1] + "…"


def _flat(data: Any) -> str:
    if isinstance(data, np.ndarray):
        data = data.tolist() if data.size <= 64 else data
    return " ".join(str(data).split())


def _rows(data: Any) -> np.ndarray[Any, Any] | None:
    """The data as an array of rows; a tuple of arrays is columns."""
    try:
        found = np.column_stack(data) if isinstance(data, tuple) else np.asarray(data)
    except ValueError:
        return None
    return found if found.ndim >= 1 and found.dtype.kind in "biufUS" else None


def _sized(data: Any, rows: np.ndarray[Any, Any] | None) -> str:
    return f"{len(rows):,} rows" if rows is not None else _cut(_flat(data))

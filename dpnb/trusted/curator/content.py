"""What content is known by: files by their bytes, frames by their cells, tables elsewhere by which table they are.

A file is known by the bytes that were read, each part of a folder by its own, so that it is known again under another name, at
another path and whichever of its columns are declared. A frame is known by a digest of its cells in their order. Rows that are
saved again in another container, order or selection of columns are new content: the limits say so.

**What may be guessed.** To refuse known content says that these bytes are somebody's. A frame of which fewer than 2^48 tables
could be made, or of which every column is a constant or a run, can be guessed by trying: it leaves no mark. Of files and frames
alike five refusals end the openings of whoever tries (:mod:`dpnb.trusted.curator.known_content`).
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import re
from collections.abc import Mapping
from datetime import date
from itertools import takewhile
from pathlib import Path
from typing import Any

import numpy as np

from dpnb.trusted.errors import OwnerError
from dpnb.trusted.files.named_file import NamedFile
from dpnb.trusted.schema.cell import number_of

_LEAST_BITS = 48
"""Fewer tables than two to this power could be guessed one by one: at one attach a millisecond they take 8,900 years."""

_COUNTED = 2**14
"""Rows of which distinct cells are counted: most columns show there that they have many."""

_DAY = "[0-9]{4}-[0-9]{2}-[0-9]{2}"

_EXACT = 2.0**53
"""Whole numbers up to here are binary64."""

Columns = Mapping[str, np.ndarray]


class WrongSize(OwnerError):
    """The data have another size than their schema declares."""


def digest(*facts: Any) -> str:
    """Return what facts about content are known by."""
    return hashlib.blake2b(repr(facts).encode("utf-8", "surrogatepass"), digest_size=32).hexdigest()


def places_of(file: NamedFile) -> tuple[str, ...]:
    """Return what the paths of an open file are known by: as it was named and as links lead, a folder's with those of its parts."""
    paths = {path for one in (file, *file.parts) for path in _paths(one.path)}
    return tuple(sorted(digest("path", path) for path in paths))


def _paths(path: Path) -> tuple[str, str]:
    return str(path.absolute()), str(path.resolve())


def frame_digest(columns: Columns) -> str:
    """Return what a frame is known by: its columns' names and cells, whatever types its numbers have."""
    whole = hashlib.blake2b(digest_size=32)
    for name in sorted(columns):
        values = np.asarray(columns[name])
        whole.update(json.dumps([name, len(values)]).encode())
        if values.dtype == object:
            whole.update(json.dumps([_text(value) for value in values]).encode())
        else:
            numbers = _canonical(values)
            whole.update(numbers.dtype.str.encode() + np.ascontiguousarray(numbers).tobytes())
    return whole.hexdigest()


def _text(value: Any) -> str | None:
    return None if value is None or value != value else str(value)  # noqa: PLR0124 - NaN is no text


def _canonical(values: np.ndarray) -> np.ndarray:
    """Numbers as binary64 with one zero and one NaN, where each is one exactly; as they are otherwise."""
    if values.dtype.kind not in "biuf" or values.dtype.itemsize > np.dtype(np.float64).itemsize:
        return values
    if values.dtype.kind in "iu" and len(values) and max(-float(values.min()), float(values.max())) > _EXACT:
        return values
    numbers = values.astype(np.float64) + 0.0
    numbers[np.isnan(numbers)] = np.nan
    return numbers


def may_be_guessed(columns: Columns) -> bool:
    """Say whether a frame can be guessed: every column is a constant or a run, or fewer than 2^48 tables have these cells.

    Rows are counted as a multiset, so n rows of K possible kinds make C(n + K - 1, n) tables: n + 1 for a column of two
    kinds of cells, whose exact count would be found in n + 1 guesses. K is the product of the kinds of cells that each
    column has.

    Examples
    --------
    >>> may_be_guessed({"sick": np.arange(10**6) % 2})
    True
    >>> may_be_guessed(
    ...     {"name": np.array([f"p{n}" for n in range(50)], dtype=object), "sick": np.arange(50) % 2}
    ... )
    False
    """
    arrays = [np.asarray(column) for column in columns.values()]
    if all(map(_foreseen, arrays)):
        return True
    rows = len(arrays[0])
    cells = math.prod(len(set(map(_text, array[:_COUNTED].tolist()))) for array in arrays)
    fewer = min(rows, cells - 1)
    return fewer < _LEAST_BITS and math.comb(rows + cells - 1, fewer) < 2**_LEAST_BITS


def _foreseen(column: np.ndarray) -> bool:
    """Say whether a column is a constant, or a run of consecutive whole numbers or days, each as often as the others."""
    whole = _whole_numbers(column)
    if whole is None:
        return len(set(map(_text, column.tolist()))) <= 1
    values, counts = np.unique(whole, return_counts=True)
    run = len(values) and values[-1] - values[0] + 1 == len(values) and counts.min() == counts.max()
    return len(values) <= 1 or bool(run)


def _whole_numbers(column: np.ndarray) -> np.ndarray | None:
    """The known cells of a column of whole numbers, or of days by their numbers; None of any other column."""
    if column.dtype == object:
        known = [text for text in map(_text, column.tolist()) if text is not None]
        read = _day if known and re.fullmatch(_DAY, known[0]) else number_of
        places = list(takewhile(lambda place: place is not None, map(read, known)))
        if len(places) < len(known):
            return None
        column = np.array(places, dtype=np.float64)
    if column.dtype.kind not in "biuf":
        return None
    numbers = column[~np.isnan(column)] if column.dtype.kind == "f" else column + 0  # a truth is 0 or 1
    return numbers if bool(np.all(np.isfinite(numbers) & (numbers == np.floor(numbers)))) else None


def _day(text: str) -> float | None:
    with contextlib.suppress(ValueError):
        return float(date.fromisoformat(text).toordinal()) if re.fullmatch(_DAY, text) else None
    return None

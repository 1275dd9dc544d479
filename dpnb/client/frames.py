"""Handing over rows that this kernel already holds: pandas, polars and Arrow frames, or a mapping of arrays.

Only the declared columns (and the unit column) are written, as plain arrays in a 0600 file inside the home, which the curator
reads once and deletes. Nothing is pickled.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dpnb.errors import OwnerError
from dpnb.schema import Schema
from dpnb.wire.codec import raw
from dpnb.wire.messages import HandOver
from dpnb.wire.places import Home

_LONGEST_TEXT = 1024


def is_frame(value: object) -> bool:
    """Say whether a value is a frame of rows: pandas, polars, Arrow, or a mapping of columns."""
    root = type(value).__module__.partition(".")[0]
    return root in {"pandas", "polars", "pyarrow"} or isinstance(value, Mapping)


def hand_over(frame: Any, schema: Schema, home: Home) -> HandOver:
    """Write the declared columns of a frame where the curator finds them.

    Raises
    ------
    OwnerError
        When a declared column is not in the frame.
    """
    names = list(schema.names)
    if schema.unit_column is not None and schema.unit_column not in names:
        names.append(schema.unit_column)
    arrays: dict[str, np.ndarray] = {"names": np.array(names, dtype=np.str_)}
    for place, name in enumerate(names):
        values, missing = _plain(_column(frame, name, schema))
        arrays[f"v{place}"] = values
        if missing is not None:
            arrays[f"m{place}"] = missing
    path = home.make().hand_over / f"{secrets.token_hex(16)}.npz"
    _write(path, arrays)
    return HandOver(file=path.name, schema=raw(schema.to_json()))


def _write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def _column(frame: Any, name: str, schema: Schema) -> np.ndarray:
    try:
        column = frame[name]
    except (KeyError, ValueError, TypeError, LookupError):
        column = None
    except Exception as error:
        if type(error).__name__ != "ColumnNotFoundError":
            raise
        column = None
    if column is None:
        raise OwnerError(f"The frame has no column {name!r}, which the schema of {schema.name} declares.")
    for call in (_from_arrow, _from_pandas, _from_polars):
        found = call(column)
        if found is not None:
            return found
    if isinstance(column, np.ma.MaskedArray):
        cells = np.ma.getdata(column).astype(object)
        cells[np.ma.getmaskarray(column)] = None
        return cells
    return column if isinstance(column, np.ndarray) else np.array([*column, None], dtype=object)[:-1]


def _from_arrow(column: Any) -> np.ndarray | None:
    if type(column).__module__.partition(".")[0] != "pyarrow":
        return None
    if column.null_count:
        return np.array([*column.to_pylist(), None], dtype=object)[:-1]
    return np.asarray(
        column.to_numpy() if hasattr(column, "num_chunks") else column.to_numpy(zero_copy_only=False)
    )


def _from_pandas(column: Any) -> np.ndarray | None:
    if type(column).__module__.partition(".")[0] != "pandas":
        return None
    if column.dtype.kind in "iufb" and isinstance(column.dtype, np.dtype):
        return np.asarray(column)
    return np.asarray(column.astype(object).where(column.notna(), None), dtype=object)


def _from_polars(column: Any) -> np.ndarray | None:
    if type(column).__module__.partition(".")[0] != "polars":
        return None
    return (
        np.asarray(column.to_numpy())
        if column.null_count() == 0
        else np.array(column.to_list(), dtype=object)
    )


def _plain(values: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return an array without objects, and where it is missing when that needs saying.

    The array's type alone decides, never its cells: one text among booleans must not change what the others become.
    """
    if values.dtype.kind in "iufbU":
        return values, None
    if values.dtype.kind != "O":
        return values.astype(np.str_), None
    missing = np.array([_is_missing(value) for value in values], dtype=bool)
    texts = ["" if gone else _text(value) for value, gone in zip(values, missing, strict=True)]
    return np.array(texts, dtype=np.str_), missing


def _text(value: object) -> str:
    """Write one object by itself: what one row holds never decides how another row is read."""
    if isinstance(value, bool | np.bool_):
        return str(int(value))
    if isinstance(value, int | np.integer) and abs(int(value)) < 2**63:
        return str(int(value))
    if isinstance(value, float | np.floating | Decimal | Fraction):
        number = float(value)
        return str(int(number)) if abs(number) < 2**53 and number.is_integer() else repr(number)
    return str(value)[:_LONGEST_TEXT]


def _is_missing(value: object) -> bool:
    if value is None or type(value).__name__ in {"NAType", "NaTType"}:
        return True
    return isinstance(value, float | np.floating) and bool(np.isnan(value))

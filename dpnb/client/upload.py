"""Handing over rows that this kernel already holds: pandas, polars and Arrow frames, or a mapping of arrays.

Only the declared columns (and the unit column) are written, each cell read by itself (:mod:`dpnb.datasets.containers`),
as plain arrays in a 0600 file inside the home, which the curator reads once and deletes. Nothing is pickled.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from dpnb.datasets.containers import plain_column, use_of
from dpnb.errors import OwnerError
from dpnb.trusted.aggregate.arrays import Use
from dpnb.trusted.schema import Schema
from dpnb.trusted.wire.codec import raw
from dpnb.trusted.wire.messages import HandOver
from dpnb.trusted.wire.places import Home

_SHORT = 2**16
"""Bytes of a column up to which it stands in one array with others of its type."""


_FRAMES = {("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "Table"), ("pyarrow", "RecordBatch")}
_AS_FRAME = {
    "collect_schema": "Add .collect() to it",
    "to_frame": "Add .to_frame() to it",
    "to_pylist": 'Write pyarrow.table({"x": column})',
    "toPandas": "Add .toPandas() to it",
    "read_all": "Add .read_all() to it",
    "df": "Add .df() to it",
    "to_table": "Add .to_table() to it",
    "to_pandas": "Add .to_pandas() to it",
    "compute": "Add .compute() to it",
}
"""What makes a frame of something, by what tells its kind; the first that it has."""
_NO_FRAME = (
    'A frame is a DataFrame of pandas or polars, an Arrow table, or a dictionary of columns: {"x": [1, 2]}'
)


def is_frame(value: object) -> bool:
    """Say whether a value is a frame of rows: of pandas, polars or Arrow, or a mapping of columns."""
    kinds = {(kind.__module__.partition(".")[0], kind.__name__) for kind in type(value).__mro__}
    return bool(kinds & _FRAMES) or isinstance(value, Mapping)


def no_frame(value: object) -> OwnerError:
    """Say what a value is that is no frame, and what makes one of it."""
    kind = type(value)
    names = {name for one in kind.__mro__ for name in vars(one)}
    fix = next((fix for word, fix in _AS_FRAME.items() if word in names), _NO_FRAME)
    if "GroupBy" in kind.__name__:
        fix = "Hand over the frame that it groups, and group the dataset: ds.groupby(…)"
    return OwnerError(f"dpnb.open takes a study's name, a file or a frame, not {kind.__name__}. {fix}.")


def declared_columns(frame: object, schema: Schema, table: str = "") -> dict[str, np.ndarray]:
    """Return the declared columns of a frame, and the unit column, as plain arrays; of one of the tables beside it by its name.

    Raises
    ------
    OwnerError
        When a declared column is not in the frame, or holds what is no column of numbers, texts or dates.
    """
    uses: dict[str, Use] = {column.name: use_of(column) for column in schema.rows_of(table).columns}
    if schema.unit_column is not None:
        uses[schema.unit_column] = "unit"
    return {name: plain_column(_column(frame, name, schema, table), name, use) for name, use in uses.items()}


def tables_beside(schema: Schema, tables: object) -> Mapping[str, Any]:
    """Return the frames of the tables of which a schema prepares columns, each once and no other.

    Raises
    ------
    OwnerError
        With what to write.
    """
    given = {} if tables is None else tables
    if not isinstance(given, Mapping) or not all(map(is_frame, given.values())):
        other = (
            next((one for one in given.values() if not is_frame(one)), None)
            if isinstance(given, Mapping)
            else None
        )
        told = "" if other is None else f" {no_frame(other)}"
        raise OwnerError(f'tables= names the other frames: tables={{"visits": visits}}.{told}')
    wanted = ", ".join(f'"{name}": {name}' for name in schema.sources)
    if set(given) != set(schema.sources):
        hint = (
            f"write tables={{{wanted}}}"
            if wanted
            else "leave tables= out, or add [source.NAME] and [prepare]"
        )
        named = ", ".join(schema.sources) or "no other table"
        raise OwnerError(f"{schema.name} declares {named} beside its own rows: {hint}.")
    return given


def hand_over(
    frame: object, schema: Schema, home: Home, tables: Mapping[str, object] = MappingProxyType({})
) -> HandOver:
    """Write the declared columns of a frame, and of those beside it, where the curator finds them.

    Raises
    ------
    OwnerError
        As :func:`declared_columns`.
    """
    arrays: dict[str, np.ndarray] = {"tables": np.array(["", *tables], dtype=np.str_)}
    for at, (name, one) in enumerate({"": frame, **tables}.items()):
        arrays |= _arrays(at, declared_columns(one, schema, name))
    path = home.make().hand_over / f"{secrets.token_hex(16)}.npz"
    _write(path, arrays)
    return HandOver(file=path.name, schema=raw(schema.to_json()))


def _arrays(table: int, columns: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Columns as arrays that hold no objects, each named by its table and its place; short numbers of one type as one array.

    An array in a file costs a tenth of a millisecond on either side, however short it is.
    """
    arrays: dict[str, np.ndarray] = {f"{table}.names": np.array(list(columns), dtype=np.str_)}
    stacked: dict[str, list[int]] = {}
    listed = list(columns.values())
    for place, plain in enumerate(listed):
        at = f"{table}.{place}"
        if plain.dtype == object:
            arrays[f"{at}.b"], arrays[f"{at}.l"] = _bytes_of(plain.tolist())
        elif plain.nbytes <= _SHORT:
            stacked.setdefault(f"{plain.dtype.str}.{len(plain)}", []).append(place)
        else:
            arrays[f"{at}.v"] = plain
    for kind, places in stacked.items():
        arrays[f"{table}.{kind}.places"] = np.array(places)
        arrays[f"{table}.{kind}.stack"] = np.stack([listed[place] for place in places])
    return arrays


def _bytes_of(texts: Sequence[str | None]) -> tuple[np.ndarray, np.ndarray]:
    """Texts as UTF-8 bytes in a row, and the length of each; -1 where one is missing."""
    encoded = [None if text is None else text.encode() for text in texts]
    lengths = np.array([-1 if text is None else len(text) for text in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(text for text in encoded if text), dtype=np.uint8), lengths


def _write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def _column(frame: Any, name: str, schema: Schema, table: str) -> Any:
    try:
        return frame[name]
    except (KeyError, ValueError, TypeError, LookupError):
        pass
    except Exception as error:
        if type(error).__name__ != "ColumnNotFoundError":
            raise
    which = f"The frame {table!r}" if table else "The frame"
    raise OwnerError(f"{which} has no column {name!r}, which the schema of {schema.name} declares.")

"""Handing over rows that this kernel already holds: pandas, polars and Arrow frames, or a mapping of arrays.

Only the declared columns (and the unit column) are written, each cell read by itself (:mod:`dpnb.trusted.aggregate.containers`),
as plain arrays in a 0600 file inside the home, which the curator reads once and deletes. Nothing is pickled.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dpnb.errors import OwnerError
from dpnb.trusted.aggregate.containers import Use, plain_column
from dpnb.trusted.schema import Schema
from dpnb.trusted.wire.codec import raw
from dpnb.trusted.wire.messages import HandOver
from dpnb.trusted.wire.places import Home


def is_frame(value: object) -> bool:
    """Say whether a value is a frame of rows: pandas, polars, Arrow, or a mapping of columns."""
    root = type(value).__module__.partition(".")[0]
    return root in {"pandas", "polars", "pyarrow"} or isinstance(value, Mapping)


def declared_columns(frame: Any, schema: Schema) -> dict[str, np.ndarray]:
    """Return the declared columns of a frame, and the unit column, as plain arrays.

    Raises
    ------
    OwnerError
        When a declared column is not in the frame, or holds what is no column of numbers, texts or dates.
    """
    if schema.sources:
        raise OwnerError(
            f"{schema.name} is prepared of several tables ({', '.join(schema.sources)}): open its declaration, not a frame."
        )
    uses: dict[str, Use] = {
        c.name: "grid" if c.type in ("integer", "number") else "category" for c in schema.rows_of().columns
    }
    if schema.unit_column is not None:
        uses[schema.unit_column] = "unit"
    return {name: plain_column(_column(frame, name, schema), name, use) for name, use in uses.items()}


def hand_over(frame: Any, schema: Schema, home: Home) -> HandOver:
    """Write the declared columns of a frame where the curator finds them.

    Raises
    ------
    OwnerError
        As :func:`declared_columns`.
    """
    columns = declared_columns(frame, schema)
    arrays: dict[str, np.ndarray] = {"names": np.array(list(columns), dtype=np.str_)}
    for place, plain in enumerate(columns.values()):
        if plain.dtype == object:
            arrays[f"b{place}"], arrays[f"l{place}"] = _bytes_of(plain.tolist())
        else:
            arrays[f"v{place}"] = plain
    path = home.make().hand_over / f"{secrets.token_hex(16)}.npz"
    _write(path, arrays)
    return HandOver(file=path.name, schema=raw(schema.to_json()))


def _bytes_of(texts: Sequence[str | None]) -> tuple[np.ndarray, np.ndarray]:
    """Texts as UTF-8 bytes in a row, and the length of each; -1 where one is missing."""
    encoded = [None if text is None else text.encode() for text in texts]
    lengths = np.array([-1 if text is None else len(text) for text in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(text for text in encoded if text), dtype=np.uint8), lengths


def _write(path: Path, arrays: Mapping[str, np.ndarray]) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def _column(frame: Any, name: str, schema: Schema) -> Any:
    try:
        return frame[name]
    except (KeyError, ValueError, TypeError, LookupError):
        pass
    except Exception as error:
        if type(error).__name__ != "ColumnNotFoundError":
            raise
    raise OwnerError(f"The frame has no column {name!r}, which the schema of {schema.name} declares.")

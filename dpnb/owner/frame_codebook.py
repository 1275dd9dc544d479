"""What a frame says of its columns beside its rows: a codebook, where a person or a program put one there.

A frame of pandas has it in its ``attrs``, under the names that pyreadstat gives these facts (``column_names_to_labels``,
``variable_value_labels``, ``missing_ranges``, ``variable_measure``). An Arrow table and a Parquet or Feather file have it in the metadata of
their schema: pandas writes its ``attrs`` there, and a field may have a ``label``, ``description`` or ``comment`` of its own. What has
another form is left out. The levels of a categorical column are values that somebody observed: they are never read.
"""

from __future__ import annotations

import contextlib
import json
import math
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from dpnb.trusted.files.named_file import NamedFile, format_of

_ATTRS = b"PANDAS_ATTRS"
_LABELS = (b"comment", b"description", b"label")
"""What the metadata of a field call its label; the last that it has is taken."""
_STORED: Mapping[str, str] = {
    "u?int": "BIGINT",
    "float|double|half|decimal": "DOUBLE",
    "bool": "BOOLEAN",
    "datetime|timestamp": "TIMESTAMP",
    "date": "DATE",
    "str|large_str|utf8|cat|dictionary|enum": "VARCHAR",
}
"""How the types of pandas, polars and Arrow begin that say what a column holds; the first that fits."""


def fields_of_frame(frame: Any) -> list[tuple[str, str]]:
    """List the columns of a frame, or of an Arrow schema, as drafting takes them; Python's own objects have no type."""
    if isinstance(frame, Mapping):
        kinds = [(name, getattr(column, "dtype", "object")) for name, column in frame.items()]
    elif (schema := _arrow_schema(frame)) is not None:
        kinds = list(zip(schema.names, schema.types, strict=True))
    else:
        kinds = list(zip(frame.columns, frame.dtypes, strict=True))
    return [(str(name), _stored(str(kind))) for name, kind in kinds]


def _stored(kind: str) -> str:
    fits = (stored for begins, stored in _STORED.items() if re.match(begins, kind, re.IGNORECASE))
    return next(fits, "unknown")


def _arrow_schema(frame: Any) -> Any:
    schema = getattr(frame, "schema", frame)
    return schema if hasattr(schema, "metadata") else None


def said_of(frame: Any) -> SimpleNamespace:
    """Read what a frame, or an Arrow schema, says beside its rows, as pyreadstat says it of a file."""
    schema = _arrow_schema(frame)
    labels: dict[str, str] = {}
    if schema is None:
        return _said(fields_of_frame(frame), getattr(frame, "attrs", None), labels)
    for field in schema:
        for text in filter(None, map((field.metadata or {}).get, _LABELS)):
            labels[field.name] = text.decode(errors="replace")
    attrs = _json((schema.metadata or {}).get(_ATTRS, b""))
    return _said(fields_of_frame(schema), attrs, labels)


def said_of_stored(path: Path) -> SimpleNamespace | None:
    """Read what the schema of a Parquet or Feather file says; nothing where pyarrow is not installed or cannot read it."""
    with (
        contextlib.suppress(ImportError, OSError, ValueError),
        NamedFile.open(path) as file,
        file.reader() as held,
    ):
        if format_of(path) == "parquet":
            from pyarrow import parquet

            return said_of(parquet.read_schema(held))
        from pyarrow import ipc

        return said_of(ipc.open_file(held).schema)
    return None


def _said(fields: list[tuple[str, str]], attrs: object, labels: Mapping[str, str]) -> SimpleNamespace:
    numbers = {name: stored in ("BIGINT", "DOUBLE") for name, stored in fields}
    found: Mapping[str, Any] = attrs if isinstance(attrs, Mapping) else {}

    def each(fact: str, read: Callable[[Any, bool], Any]) -> dict[str, Any]:
        """One fact of each column that has it, where it can be read."""
        table = found.get(fact)
        held = table if isinstance(table, Mapping) else {}
        return {name: value for name in numbers if (value := read(held.get(name), numbers[name]))}

    return SimpleNamespace(
        column_names=list(numbers),
        readstat_variable_types={name: "double" if numbers[name] else "string" for name in numbers},
        column_names_to_labels={**each("column_names_to_labels", _word), **labels},
        variable_value_labels=each("variable_value_labels", _value_labels),
        missing_ranges=each("missing_ranges", _ranges),
        variable_measure=each("variable_measure", _word),
    )


def _word(text: Any, _: bool) -> str:  # noqa: FBT001 - one of three that read a fact
    return text if isinstance(text, str) else ""


def _value_labels(labels: Any, numbers: bool) -> dict[Any, str]:  # noqa: FBT001
    """Labelled codes; JSON writes each as a text."""
    items = labels.items() if isinstance(labels, Mapping) else ()
    read = [(_code(code, numbers), text) for code, text in items]
    return {code: text for code, text in read if code is not None and isinstance(text, str)}


def _ranges(ranges: Any, numbers: bool) -> list[dict[str, Any]]:  # noqa: FBT001
    listed = [one for one in ranges if isinstance(one, Mapping)] if isinstance(ranges, list | tuple) else []
    read = [{end: _code(one.get(end), numbers) for end in ("lo", "hi")} for one in listed]
    return [ends for ends in read if None not in ends.values()]


def _code(code: Any, numbers: bool) -> Any:  # noqa: FBT001
    """A code as its column has it: a number or a text; None for what is neither."""
    with contextlib.suppress(ValueError, TypeError, OverflowError):
        if not numbers:
            return code if isinstance(code, str) else None
        number = float(code)
        return number if math.isfinite(number) else None
    return None


def _json(text: bytes) -> Any:
    with contextlib.suppress(ValueError):
        return json.loads(text)
    return None

"""Rows as a kernel hands them over: of a frame, a list or arrays of any kind the declared columns, as plain arrays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dpnb.client.upload import declared_columns
from dpnb.trusted.curator import engines
from dpnb.trusted.files.named_file import NamedFile, NamedFiles, Tables
from dpnb.trusted.schema import Schema


def handed(source: Any, schema: Schema) -> Any:
    """Return what a curator is given of a source: a file as it is, anything else as plain arrays."""
    if isinstance(source, NamedFile | NamedFiles | str | Path):
        return source
    if isinstance(source, Tables):
        others = {name: declared_columns(one, schema, name) for name, one in source.others.items()}
        return Tables(declared_columns(source.own, schema), others)
    return declared_columns(source, schema)


def prepare(source: Any, schema: Schema, path: Path, **options: Any) -> Any:
    """Prepare a copy of what was handed over."""
    return engines.prepare(handed(source, schema), schema, path, **options)

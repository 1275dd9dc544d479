"""What ``dpnb.open`` was given: the message that names it to the curator, and how a kernel reads the same rows where they are public."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, cast

from dpnb.client.upload import declared_columns, hand_over, is_frame, no_frame, tables_beside
from dpnb.datasets import find, names
from dpnb.errors import OwnerError
from dpnb.teach.public_rows import Columns, read_file, with_tables
from dpnb.trusted.files.named_file import EVERY, every, format_of
from dpnb.trusted.privacy.unit import Adjacency
from dpnb.trusted.schema import Mode, Schema
from dpnb.trusted.schema.owner import OwnedDataset, beside, load
from dpnb.trusted.wire.codec import raw
from dpnb.trusted.wire.messages import FileSource, Source, StudySource
from dpnb.trusted.wire.places import Home

_LONGEST_NAME, _LONGEST_PART = 4096, 255
_ADJACENCIES = ("change-one", "add-remove")


@dataclass(frozen=True, slots=True)
class NamedSource:
    """A source as the curator is told it, and as a kernel reads it if it turns out to be TEACHING data."""

    source: Source
    read: Callable[[], Columns]


def name_source(
    what: object, schema: object, adjacency: str | None, home: Home, tables: object = None
) -> NamedSource:
    """Read the arguments of ``dpnb.open``; rows that the kernel holds are handed over in this home.

    Raises
    ------
    OwnerError
        For anything that names no study, file or frame; for an adjacency of data that are not TEACHING data.
    """
    if is_frame(what):
        return _frame(what, schema, adjacency, home, tables)
    if tables is not None:
        raise OwnerError(
            "tables= goes with a frame. The other tables of a file are named in its declaration: [source.visits] with file = …"
        )
    text = _text(what, schema)
    if isinstance(what, str) and schema is None and not names_a_file(text):
        return _study(text, adjacency, home)
    return _file(Path(text).expanduser(), schema, adjacency)


def _text(what: object, schema: object) -> str:
    if not isinstance(what, str | os.PathLike):
        raise no_frame(what)
    text = os.fspath(what)
    if not isinstance(text, str) or "://" in text:
        raise OwnerError(
            "dpnb.open takes a file on this machine: download it first. A table of a server is opened by its declaration, "
            '"visits.dpnb.toml".'
        )
    if not text or _too_long(text) or not text.isprintable():
        what = f"A text of {len(text)} characters" if text else "An empty text"
        raise OwnerError(
            f'{what} is neither a study nor a file here. For example: dpnb.open("hiv"), dpnb.open("people.csv").'
        )
    if not isinstance(schema, str | os.PathLike | Mapping | Schema | None):
        raise OwnerError(f'schema= takes a file such as "people.dpnb.toml", not {type(schema).__name__}.')
    return text


def _frame(frame: Any, schema: Any, adjacency: str | None, home: Home, tables: object) -> NamedSource:
    if schema is None:
        raise OwnerError('A frame needs a schema: dpnb.open(frame, schema="people.dpnb.toml").')
    declared = load(schema).schema
    return _handed_over(frame, declared, adjacency, home, tables_beside(declared, tables))


def _study(name: str, adjacency: str | None, home: Home) -> NamedSource:
    if adjacency is None:
        return NamedSource(StudySource(name=name), lambda: find(name).load())
    study = find(name)
    return _handed_over(study.load(), study.schema, adjacency, home)


def _handed_over(
    frame: Any,
    schema: Schema,
    adjacency: str | None,
    home: Home,
    tables: Mapping[str, Any] = MappingProxyType({}),
) -> NamedSource:
    """Hand over rows that the kernel holds; it keeps public ones as they are now."""
    kept: dict[str, Any] = {}
    if schema.public or adjacency is not None:
        kept = _copied(frame, schema)
        tables = {name: _copied(one, schema, name) for name, one in tables.items()}
    if adjacency is not None:
        schema = _under(schema, adjacency, kept)
    given = hand_over(kept or frame, schema, home, tables)
    return NamedSource(given, lambda: with_tables(kept, tables))


def _copied(frame: object, schema: Schema, table: str = "") -> dict[str, Any]:
    return {name: column.copy() for name, column in declared_columns(frame, schema, table).items()}


def _under(schema: Schema, adjacency: str, columns: Columns) -> Schema:
    """Return a schema of TEACHING data under another neighbouring relation."""
    if adjacency not in _ADJACENCIES:
        raise OwnerError(f'adjacency= is "change-one" or "add-remove", not {adjacency!r}.')
    if schema.mode is not Mode.TEACHING:
        raise OwnerError(
            f"{schema.name} is not TEACHING data: its owner declares the adjacency in the schema, for everybody."
        )
    unit, public = schema.unit, adjacency == "change-one"
    cells = columns[schema.names[0] if unit.by_row else unit.unit]
    size = len(cells) if unit.by_row else len(set(cells.tolist()) - {None})
    rows, units = (size if public and unit.by_row == by_row else None for by_row in (True, False))
    return replace(schema, unit=replace(unit, adjacency=cast("Adjacency", adjacency), rows=rows, units=units))


def _file(what: Path, schema: Any, adjacency: str | None) -> NamedSource:
    _refuse_no_table(what)
    path = str(what.absolute())
    if adjacency is not None:
        owned = _alone(_owned(what, schema))
        schema = replace(owned.schema, unit=_under(owned.schema, adjacency, read_file(owned)).unit)
        text, dialect = raw(schema.to_json()), raw(asdict(owned.dialect))
        return NamedSource(
            FileSource(path=str(owned.source), schema=text, dialect=dialect), lambda: read_file(owned)
        )
    if schema is None:
        found = FileSource(path=path)
    elif isinstance(schema, Mapping | Schema):
        owned = _alone(load(schema, source=path))
        found = FileSource(path=path, schema=raw(owned.schema.to_json()), dialect=raw(asdict(owned.dialect)))
    else:
        found = FileSource(path=path, schema_path=str(Path(schema).expanduser().absolute()))
    return NamedSource(found, lambda: read_file(_owned(what, schema)))


def _owned(what: Path, schema: Any) -> OwnedDataset:
    """Return the declaration of a file and where its rows are, as the curator finds them."""
    path = what.absolute()
    if schema is None:
        return load(path) if path.suffix.lower() == ".toml" else load(beside(path), source=path)
    return load(schema, source=path)


def _alone(owned: OwnedDataset) -> OwnedDataset:
    """Refuse a second file where the curator is told the terms and one path: it reads the others by their declaration alone."""
    if owned.others:
        names = ", ".join(f'"{name}": {name}' for name in owned.others)
        raise OwnerError(
            f"{owned.schema.name} is of several files: write its declaration into a file, and open that as it stands, "
            f'dpnb.open("{owned.schema.name}.dpnb.toml"); or read all into frames, dpnb.open(frame, schema=…, tables={{{names}}}).'
        )
    return owned


def _too_long(text: str) -> bool:
    """Tell whether a text, or a part of it between slashes, is longer than a file's name can be."""
    parts = text.encode(errors="replace").split(os.sep.encode())
    return len(text) > _LONGEST_NAME or any(len(part) > _LONGEST_PART for part in parts)


def names_a_file(text: str) -> bool:
    """Tell whether a text names a file rather than a study."""
    if _too_long(text):
        return False
    path = Path(text)
    named = os.sep in text or bool(path.suffix) or path.is_file()
    return named or (path.is_dir() and text not in names())


def _refuse_no_table(path: Path) -> None:
    if path.is_dir() and not any(path.glob(EVERY)):
        raise OwnerError(
            f"{path} is a folder without Parquet files: name one file of rows, such as people.csv, or a folder of Parquet files."
        )
    if path.suffix.lower() != ".toml":
        format_of(every(path))

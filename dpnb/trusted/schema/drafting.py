"""Drafting an owner's schema from names and storage types, and from nothing else.

A bound, a level or a count that was read from the data would publish it, so those stay TODO, and a schema with a
TODO left in does not open. Dictionary, ENUM and categorical levels are values that somebody observed: never read.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Sequence
from pathlib import Path

from dpnb.trusted.errors import OwnerError
from dpnb.trusted.schema.named_file import NamedFile
from dpnb.trusted.schema.owner import format_of

Fields = Sequence[tuple[str, str]]

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.-]+")
_LONGEST_HEADER = 2**20
_INTEGERS = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT")
_STORED = {
    **dict.fromkeys((*_INTEGERS, *("U" + name for name in _INTEGERS)), "integer"),
    **dict.fromkeys(("FLOAT", "DOUBLE", "REAL", "DECIMAL"), "number"),
    **dict.fromkeys(("VARCHAR", "ENUM"), "category"),
    "BOOLEAN": "boolean",
}

_HEAD = """\
# Drafted by `dpnb init {file}` from column names and storage types alone: no value was looked at.
# Replace every TODO by what is known WITHOUT looking at the data (a codebook, a law, common sense).
# Until then dpnb.open refuses this file. Remove the columns that nobody will ask about.

[dataset]
name = {name}
title = "TODO: what these data are"
source = {source}
adjacency = "TODO: change-one (the number of rows is public: add rows = …) or add-remove (it is private)"
unit = "TODO: row (one row = one person), or the column that says whose row it is, with max_rows_per_unit = …"
mode = "guard-rail"

[budget]
epsilon = "TODO: the whole loss that these data may ever pay, for example 4"
"""
_BOUNDS = 'lower = "TODO"\nupper = "TODO"\n'
_VALUES = 'values = "TODO: a list, for example [0, 1]; anything else counts as missing"\n'
_KIND_LINES = {
    "integer": 'type = "integer"\n' + _BOUNDS,
    "number": 'type = "number"\n' + _BOUNDS,
    "category": 'type = "category"\n' + _VALUES,
    "boolean": 'type = "category"\nvalues = [false, true]\n',
    "unknown": (
        'type = "TODO: integer, number or category"\n'
        + _BOUNDS
        + '# values = ["a", "b"]             # a category has values in place of lower and upper\n'
    ),
}


def draft(path: str | Path, fields: Fields | None = None) -> str:
    """Draft the schema of a data file.

    Parameters
    ----------
    path : path
        The data file. Of a CSV only the header line is read.
    fields : sequence of (name, storage type), optional
        The columns of a file whose header is not text, as its engine names them (``("age", "INTEGER")``).

    Returns
    -------
    str
        The text of ``people.dpnb.toml``, with a TODO wherever only a person can know.

    Raises
    ------
    OwnerError
        When the file is missing or empty, or its first line is no header.
    """
    path = Path(path)
    if fields is None:
        fields = [(name, "unknown") for name in header(path)]
    name = _NOT_IN_NAMES.sub("_", path.stem).strip("_.-")[:64] or "data"
    if not name[0].isalpha():
        name = f"data_{name}"[:64]
    text = _HEAD.format(file=path.name, name=_quoted(name), source=_quoted(path.name))
    return text + "".join(_section(column, kind) for column, kind in _checked(fields, path.name))


def header(path: Path) -> list[str]:
    """Read the column names of a CSV: its first line, and nothing below it.

    Raises
    ------
    OwnerError
        When there is no such line, or it holds numbers, hence data.
    """
    if format_of(path) != "csv":
        raise OwnerError(f"{path.name} has no header line: pass its columns' names and types")
    try:
        with (
            NamedFile.open(path) as file,
            io.TextIOWrapper(file.reader(), encoding="utf-8-sig", newline="") as lines,
        ):
            first = lines.readline(_LONGEST_HEADER)
    except UnicodeDecodeError:
        raise OwnerError(f"{path.name} is not UTF-8 text: save it as UTF-8") from None
    except OSError as fault:
        raise OwnerError(f"{path} cannot be read: {fault.strerror}") from None
    if not first.strip():
        raise OwnerError(
            f"{path.name} is empty, or starts with an empty line: it needs a header line of names"
        )
    delimiter = max(",;\t|", key=first.count)
    return [name.strip() for name in next(csv.reader([first], delimiter=delimiter))]


def _checked(fields: Fields, file: str) -> Fields:
    names = [name for name, _ in fields]
    if any(_is_number(name) for name in names):
        raise OwnerError(
            f"the first line of {file} holds numbers: give the file a header line of column names"
        )
    for place, name in enumerate(names, start=1):
        if not name or not name.isprintable() or len(name) > 128:
            raise OwnerError(f"column {place} of {file} has no usable name: name it in the header line")
    if len(set(names)) != len(names):
        raise OwnerError(f"{file} names a column twice: rename one in the header line")
    return fields


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _section(name: str, stored: str) -> str:
    key = name if _BARE.match(name) else _quoted(name)
    kind = _STORED.get(stored.split("(", maxsplit=1)[0].upper(), "unknown")
    return f"\n[columns.{key}]\nlabel = {_quoted(name)}\n{_KIND_LINES[kind]}"


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

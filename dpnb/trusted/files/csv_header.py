"""The first row of a CSV file, and which of its lines are rows: by the text of each line alone, as its owner declares."""

from __future__ import annotations

import csv
import itertools
from collections.abc import Iterable, Iterator

from dpnb.trusted.errors import OwnerError
from dpnb.trusted.files.dialect import Dialect
from dpnb.trusted.files.named_file import NamedFile
from dpnb.trusted.files.text_file import DELIMITERS, TextFile

LONGEST_ROW = 2_000_000
"""Bytes of a row, at most: what an engine takes."""


def _is_header(line: str, delimiter: str, dialect: Dialect) -> bool:
    fields = next(parsed([line], delimiter, dialect), [])
    return any(map(str.strip, fields)) and dialect.is_row(fields)


def csv_header(file: NamedFile) -> tuple[list[str], str]:
    """The column names and the delimiter of a CSV file, from its first line alone; a column without a name cannot be declared.

    Where lines are left out it is the first line that is none of them, whichever delimiter they are read with.
    """
    name, skip, text = file.path.name, file.dialect.skip, TextFile.of(file)
    above: list[str] = []
    with text.lines() as lines:
        first = lines.readline(LONGEST_ROW)  # what is no text further below is named by the scan of all rows
        while (
            skip
            and first
            and not all(_is_header(first, mark, file.dialect) for mark in text.delimiter or DELIMITERS)
        ):
            above.append(first)
            first = lines.readline(LONGEST_ROW)
    if any("\udc80" <= letter <= "\udcff" for letter in "".join([*above, first])):
        raise text.not_of(len(above) + 1 + bool(text.before))
    delimiter = text.between_fields(first)
    names = [cell.strip() for cell in next(rows_of([*above, first], delimiter, file.dialect), [])]
    if not any(names):
        raise OwnerError(f'"{name}" has no column names in its first line.')
    if len(set(filter(None, names))) < len(list(filter(None, names))):
        raise OwnerError(f'"{name}" names a column twice in its first line: rename one of them.')
    return names, delimiter


def parsed(
    lines: Iterable[str], delimiter: str, dialect: Dialect, *, strict: bool = False
) -> Iterator[list[str]]:
    """The fields of each line."""
    csv.field_size_limit(LONGEST_ROW)
    return csv.reader(lines, delimiter=delimiter, quoting=dialect.csv_quoting, strict=strict)


def rows_of(
    lines: Iterable[str], delimiter: str, dialect: Dialect, *, strict: bool = False
) -> Iterator[list[str]]:
    """The fields of the header and of each row; where lines are left out, empty ones may stand before the header too."""
    rows = filter(dialect.is_row, parsed(lines, delimiter, dialect, strict=strict))
    return itertools.dropwhile(lambda row: not any(map(str.strip, row)), rows) if dialect.skip else rows

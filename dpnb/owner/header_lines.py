"""The lines of a CSV file that are no rows of anybody: its header, a title above it, a total below it.

Of a file that begins as it should, the header line alone is read. Nothing here decides what is left out: the draft writes a rule
that an owner can read, ``skip = ["Report 2024"]``, and a line is then left out by its own text, wherever it stands.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
from collections import deque
from collections.abc import Iterable
from pathlib import Path

from dpnb.errors import OwnerError
from dpnb.trusted.files.csv_header import csv_header
from dpnb.trusted.files.dialect import Dialect
from dpnb.trusted.files.named_file import NamedFile, format_of
from dpnb.trusted.files.text_file import DELIMITERS, TextFile

TOTALS = (
    *("total", "totals", "grand total", "all", "sum", "summe", "gesamt", "insgesamt"),
    *("totale", "suma", "total général", "totaux", "ensemble"),
    *("source", "sources", "note", "notes", "quelle", "quellen", "hinweis", "anmerkung"),
)
"""How a line begins that is usually no person: nothing but these words is looked for."""

GUESSED_ENCODING = "cp1252"
"""Of a header that is not UTF-8: what Windows writes in Western Europe and America."""
NOT_GUESSED = {chr(0xDC00 + byte) for byte in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}
"""Bytes that no letter of that encoding has, as Python marks them."""

_LONGEST = 2**20
_ABOVE = 10
_TAIL = 2**16


def header(path: Path, skip: Iterable[str] = ()) -> list[str]:
    """Read the column names of a CSV file: its first line, and nothing below it. A column without a name is an empty text.

    Parameters
    ----------
    path : Path
    skip : iterable of str
        The first fields of lines that are no rows, as :func:`titles` finds them.

    Raises
    ------
    OwnerError
        When there is no such line, or the file is no CSV.
    """
    if format_of(path) != "csv":
        raise OwnerError(f"{path.name} has no header line: pass its columns' names and types")
    try:
        with NamedFile.open(
            path, Dialect.from_toml({**written_as(path), "skip": tuple(skip)}, path.name)
        ) as file:
            return csv_header(file)[0]
    except (OSError, csv.Error) as fault:
        raise OwnerError(f"{path} cannot be read: {getattr(fault, 'strerror', fault)}") from None


def written_as(path: Path) -> dict[str, str]:
    """Return what ``[source]`` must say of a text: the ``delimiter`` of a ``.txt``, a guessed ``encoding`` where its header is not UTF-8.

    Raises
    ------
    OwnerError
        When the file cannot be read.
    """
    with NamedFile.open(path) as file:
        text = TextFile.of(file)
        lines = _first(text, "surrogateescape")
        end = next((place for place, line in enumerate(lines, 1) if len(_cells(line)) > 1), len(lines))
        found = {}
        if any("\udc80" <= letter <= "\udcff" for letter in "".join(lines[:end])):
            found["encoding"] = GUESSED_ENCODING
            if set("".join(lines[:end])) & NOT_GUESSED:
                raise text.not_of(1)
        if text.inner.lower().endswith(".txt"):
            found["delimiter"] = max(DELIMITERS, key="".join(lines[end - 1 : end]).count)
        return found


def titles(path: Path, table: str | None = None) -> tuple[str, ...]:
    """Find the lines above the header of a CSV file or an Excel sheet: where the first line has one field that is filled, and one below it is a header.

    A header has two names or more, and no number.

    Returns
    -------
    tuple of str
        The filled field of each line above the header; nothing where the first line is the header.

    Raises
    ------
    OwnerError
        When the file cannot be read.
    """
    if format_of(path) == "excel":
        from dpnb.trusted.curator.engines.table_file import texts_of

        with NamedFile.open(path) as file:
            first = itertools.islice(texts_of(file, table), _ABOVE)
            return _titles_of([[cell for cell in row if cell] for row in first])
    above: list[str] = []
    with NamedFile.open(path, Dialect.from_toml(written_as(path), path.name)) as file:
        text = TextFile.of(file)
        for line in _first(text, "replace"):
            delimiter = text.delimiter or max(DELIMITERS, key=line.count)
            if len(cells := _filled(line, delimiter)) > 1:
                found = [cell for title in above for cell in _filled(title, delimiter)]
                return () if any(map(is_number, cells)) else tuple(dict.fromkeys(found))
            above.append(line)
    return ()


def _titles_of(rows: Iterable[list[str]]) -> tuple[str, ...]:
    above: list[str] = []
    for cells in rows:
        if len(cells) > 1:
            return () if any(map(is_number, cells)) else tuple(dict.fromkeys(above))
        above += cells
    return ()


def total_below(path: Path, table: str | None = None, skip: Iterable[str] = ()) -> str | None:
    """Return how the last line of a CSV file or an Excel sheet begins, where it begins as a total or a note does. For the owner's eyes alone.

    Parameters
    ----------
    path : Path
    table : str, optional
        The sheet.
    skip : iterable of str
        How lines begin that are left out already.
    """
    skipped = Dialect(skip=tuple(skip))
    if format_of(path) == "excel":
        from dpnb.trusted.curator.engines.table_file import texts_of

        with NamedFile.open(path, skipped) as file:
            last = deque(texts_of(file, table), maxlen=1)
        cells = [cell for row in last for cell in row if cell]
    else:
        lines = [_cells(line) for line in _end_of(path).splitlines()]
        cells = next((one for one in reversed(lines) if one and skipped.is_row(one)), [])
    begins = next(iter(cells), "")
    return begins if begins_as_total(begins) else None


def begins_as_total(text: str) -> bool:
    """Whether a cell is a word for a total or a note, or such a word and what follows its colon."""
    return text.partition(":")[0].strip(" .").casefold() in TOTALS


def leave_out(begins: str, skip: Iterable[str] = ()) -> str:
    """Say what to write so that lines that begin so are no rows, beside what is left out already."""
    quoted = json.dumps(begins, ensure_ascii=False)
    return f"add {quoted} to skip under [source]" if [*skip] else f"write skip = [{quoted}] under [source]"


def _end_of(path: Path) -> str:
    """The end of a text file, of which the first line may be cut."""
    with NamedFile.open(path, Dialect.from_toml(written_as(path), path.name)) as file:
        text, end = TextFile.of(file), b""
        if text.as_it_stands:
            with file.reader() as rows:
                rows.seek(-min(_TAIL, file.size), os.SEEK_END)
                end = rows.read()
        else:
            for block in text.blocks():
                end = (end + block)[-_TAIL:]
    return end.decode(errors="replace")


def is_number(text: str) -> bool:
    """Whether a text is a number, as Python reads one."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _first(text: TextFile, errors: str) -> list[str]:
    with text.lines(errors) as lines:
        return list(itertools.islice(iter(lambda: lines.readline(_LONGEST), ""), _ABOVE))


def _cells(line: str) -> list[str]:
    return _filled(line, max(DELIMITERS, key=line.count))


def _filled(line: str, delimiter: str) -> list[str]:
    fields = next(csv.reader([line], delimiter=delimiter), [])
    return [field.strip() for field in fields if field.strip()]

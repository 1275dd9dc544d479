"""Rows in JSON lines, in a spreadsheet or in the file of a statistics package: each cell by itself, through the library that reads it.

What a file declares of a column (numbers, texts, the format of a date) decides how its cells are taken, and otherwise each cell's own
kind; no type that a library finds for a column decides anything. The libraries are asked for nothing but cells: dates are counted here,
so that one that no calendar has is missing by itself, and stops nobody else's.
"""

from __future__ import annotations

import codecs
import contextlib
import datetime as dt
import itertools
import json
import math
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpnb.trusted.aggregate.arrays import Cells, Use
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.files.csv_header import LONGEST_ROW
from dpnb.trusted.files.dialect import UTF_8
from dpnb.trusted.files.named_file import NamedFile, format_of
from dpnb.trusted.files.text_file import ENCODED, refuse_bomb
from dpnb.trusted.schema.cell import LARGEST_WHOLE, number_text, plain_text

_CELLS = 1 << 24
"""Cells that are held together, at most."""
_LINES = 1000
"""Lines of JSON whose names a draft lists."""
_DAY, _SECOND, _MILLISECOND = 86_400_000_000, 1_000_000, 1_000
_SPSS, _1960 = (int(np.datetime64(day, "us").astype(np.int64)) for day in ("1582-10-14", "1960-01-01"))
_SAS_DATES = (
    r"(DATE|DAY|DOWNAME|JUL(DAY|IAN)|MON(NAME|TH|YY)|QTRR?|WEEK(DAT[EX]|DAY|[UVW])|WORDDAT[EX]|YEAR|NLDATE[A-Z]*|[BE]8601DA"
    r"|(DDMMYY|MMDDYY|MMYY|YYMMDD|YYMM|YYQR?)[BCDNPS]?|YYMON)[0-9.]*"
)
_SAS_MOMENTS = (
    r"(DATE(TIME|AMPM)|MDYAMPM|DT(DATE|MONYY|WKDATX|YEAR|YYQC)|NLDATM[A-Z]*|[BE]8601(D[NTXZ]|LX))[0-9.]*"
)
_MOMENTS: dict[str, tuple[tuple[str, int, int], ...]] = {
    "spss": ((r"([AEJS]?DATE|DATETIME|YMDHMS|MOYR|QYR|WKYR)[0-9.]*", _SPSS, _SECOND),),
    "stata": ((r"%-?t?d.*", _1960, _DAY), (r"%-?t[cC].*", _1960, _MILLISECOND)),
    "sas": ((_SAS_DATES, _1960, _DAY), (_SAS_MOMENTS, _1960, _SECOND)),
}
"""How each package calls the formats of dates, from which day it counts, and how many microseconds make one of its steps."""
_FIRST, _LAST = (
    int(np.datetime64(day, "us").astype(np.int64)) for day in ("0001-01-01", "9999-12-31T23:59:59.999999")
)
_READERS = {"spss": "read_sav", "stata": "read_dta", "sas": "read_sas7bdat"}


@dataclass(frozen=True, slots=True)
class TableFile:
    """The columns of a file, and a way to its cells.

    Parameters
    ----------
    kinds : mapping of str to str
        Each column's type in SQL, as the file declares it.
    blocks : callable
        Given columns' names, each with that in the file, it yields their cells for the next rows: numbers, moments, or texts and None.
    further : bool
        Whether a row may have columns that are not listed, since each names its own.
    """

    kinds: Mapping[str, str]
    blocks: Callable[[Mapping[str, str]], Iterator[dict[str, Cells]]]
    further: bool = False


def table_of(file: NamedFile, table: str | None, uses: Mapping[str, Use] = MappingProxyType({})) -> TableFile:
    """Read what a file says of its columns, whose cells are taken as they are used.

    Raises
    ------
    OwnerError
        When the library for it is missing, or the file is damaged, encrypted, or holds several tables and none is named.
    """
    kind = format_of(file.path)
    if kind == "json":
        return TableFile(_names_of(file), partial(_blocks_of_lines, file, uses), further=True)
    return _sheet(file, table, uses) if kind == "excel" else _statistics(file, kind)


def library(name: str, file: NamedFile) -> Any:
    """Import the library that reads a file.

    Raises
    ------
    OwnerError
        When it is not installed.
    """
    try:
        return import_module(name)
    except ImportError:
        package = name.partition(".")[0].replace("_", "-")
        raise OwnerError(
            f'"{file.path.name}" is read by {package}, which is not installed: run pip install "dpnb[files]" where the curator runs.'
        ) from None


def _objects(cells: Sequence[str | None]) -> Cells:
    array = np.empty(len(cells), dtype=object)
    array[:] = cells
    return array


def _damaged(file: NamedFile, more: str = "") -> OwnerError:
    return OwnerError(f'"{file.path.name}" is damaged, or not what its ending says{more}.')


@contextlib.contextmanager
def _or_damaged(file: NamedFile) -> Iterator[None]:
    """Whatever a reader of workbooks makes of a cell is the damage of its file: a panic in Rust is no Exception, and it may quote a cell."""
    try:
        yield
    except (OwnerError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except BaseException:  # noqa: BLE001 - pyo3's PanicException has no name to import
        raise _damaged(file, ": save it again as .xlsx") from None


# JSON lines ------------------------------------------------------------------------------------------------------


def _number(word: str) -> str | None:
    return None if word == "NaN" else word


class _Number(str):
    """A number with a point, as the text that it is written as."""

    __slots__ = ()


_JSON = json.JSONDecoder(parse_int=str, parse_float=_Number, parse_constant=_number)
"""A number keeps its own text, every digit of it."""


def _records(file: NamedFile) -> Iterator[dict[str, Any]]:
    """The object on each line; a line that holds nothing is no row."""
    with file.reader() as lines:
        if lines.peek(3).startswith(codecs.BOM_UTF8):
            lines.read(3)
        for place in itertools.count(1):
            line = lines.readline(LONGEST_ROW + 1)
            if not line:
                return
            if len(line) > LONGEST_ROW:
                raise OwnerError(
                    f'"{file.path.name}", line {place} is longer than {LONGEST_ROW:,} bytes: shorten it.'
                )
            if not line.strip():
                continue
            try:
                record = _JSON.decode(line.decode())
            except (ValueError, RecursionError):
                record = None
            if not isinstance(record, dict):
                raise OwnerError(
                    f'"{file.path.name}", line {place} is no JSON object in UTF-8: write each row as one object on a line of its own.'
                )
            yield record


def _names_of(file: NamedFile) -> dict[str, str]:
    names = (name for record in itertools.islice(_records(file), _LINES) for name in record)
    return dict.fromkeys(names, "VARCHAR")


def _blocks_of_lines(
    file: NamedFile, uses: Mapping[str, Use], wanted: Mapping[str, str]
) -> Iterator[dict[str, Cells]]:
    records = _records(file)
    while held := list(itertools.islice(records, 1 + _CELLS // (16 * len(wanted)))):
        yield {
            name: _objects([_member(record.get(header), uses.get(name)) for record in held])
            for name, header in wanted.items()
        }


def _member(cell: object, use: Use | None) -> str | None:
    """A member's text; a list or an object is no cell."""
    if isinstance(cell, _Number):
        return _pointed(str(cell), use)
    if isinstance(cell, str):
        return plain_text(cell)
    return str(int(cell)) if isinstance(cell, bool) else None


# Spreadsheets ----------------------------------------------------------------------------------------------------


def sheets(file: NamedFile) -> tuple[Any, list[str]]:
    """Open a workbook, and list its sheets.

    Raises
    ------
    OwnerError
        When it is encrypted, damaged, or unpacks to far more than it is.
    """
    calamine = library("python_calamine", file)
    with file.reader() as book:
        if book.peek(4).startswith(b"\xd0\xcf\x11\xe0"):
            raise OwnerError(
                f'"{file.path.name}" is encrypted, or of an older Excel: save it as .xlsx without a password.'
            )
        with _or_damaged(file):
            with zipfile.ZipFile(book) as archive:
                refuse_bomb(file, sum(member.file_size for member in archive.infolist()))
            book.seek(0)
            opened = calamine.CalamineWorkbook.from_filelike(book)
    kinds = [one for one in opened.sheets_metadata if one.typ == calamine.SheetTypeEnum.WorkSheet]
    return opened, [one.name for one in kinds]


def texts_of(file: NamedFile, table: str | None) -> Iterator[list[str]]:
    """Yield the rows of a sheet that are not empty, without the blanks around each text."""
    for row in _rows_of(_named_sheet(file, table), file):
        yield [(_text(cell) or "").strip() for cell in row]


def _named_sheet(file: NamedFile, table: str | None) -> Any:
    opened, names = sheets(file)
    if table not in names and (table is not None or len(names) != 1):
        raise OwnerError(
            f'"{file.path.name}" has the sheets {", ".join(names)}: name one with table = "…" in [dataset], or draft one: dpnb init "{file.path.name}" --table "{names[0] if names else "…"}".'
        )
    with _or_damaged(file):
        return opened.get_sheet_by_name(table or names[0])


def _sheet(file: NamedFile, table: str | None, uses: Mapping[str, Use]) -> TableFile:
    sheet = _named_sheet(file, table)
    header = ["" if text is None else text.strip() for text in map(_text, next(_rows_of(sheet, file), []))]
    named = [name for name in header if name]
    if not named:
        raise OwnerError(f'"{file.path.name}" has no column names in its first row.')
    if len(set(named)) < len(named):
        raise OwnerError(f'"{file.path.name}" names a column twice in its first row: rename one of them.')

    def blocks(wanted: Mapping[str, str]) -> Iterator[dict[str, Cells]]:
        wide, below = len(header), itertools.islice(_rows_of(sheet, file), 1, None)
        rows = 1 + _CELLS // (16 * wide)
        while held := [*itertools.chain.from_iterable(itertools.islice(below, rows))]:
            yield {
                name: _cells(held[header.index(called) :: wide], uses.get(name))
                for name, called in wanted.items()
            }

    return TableFile(dict.fromkeys(named, "VARCHAR"), blocks)


def _rows_of(sheet: Any, file: NamedFile) -> Iterator[list[Any]]:
    """The header and the rows: what holds nothing is no row, nor is what its owner leaves out."""
    dialect = file.dialect
    with _or_damaged(file):
        for row in sheet.iter_rows():
            if (any(row) or row.count("") < len(row)) and (
                not dialect.skip or dialect.is_row([_text(cell) or "" for cell in row])
            ):
                yield row


def _pointed(number: str, use: Use | None) -> str:
    """The text of a number: with a comma where the column's texts have one, so that it is that number and no thousand of it."""
    return number.replace(".", ",") if use == "comma" else number


def _cells(column: Sequence[Any], use: Use | None) -> Cells:
    """Numbers where each cell is one or empty, else texts. Of equal cells, which have equal texts, the text is written once."""
    filled = [math.nan if cell == "" else cell for cell in column]
    if use not in ("unit", "comma") and {*map(type, filled)} == {float}:
        return np.array(filled)
    texts = {cell: _text(cell, use) for cell in {*column}}
    return _objects([*map(texts.__getitem__, column)])


def _text(cell: object, use: Use | None = None) -> str | None:
    """A cell's own text; a time of day is none, and a moment at midnight is its day.

    A number of 2^53 or more names no unit: Excel, which keeps fifteen digits, may have merged two.
    """
    if isinstance(cell, str):
        return plain_text(cell)
    if isinstance(cell, bool):
        return str(int(cell))
    if isinstance(cell, float | int):
        text = None if use == "unit" and abs(cell) >= LARGEST_WHOLE else number_text(float(cell))
        return text and _pointed(text, use)
    if isinstance(cell, dt.datetime):
        return cell.isoformat(" ").removesuffix(" 00:00:00")
    return cell.isoformat() if isinstance(cell, dt.date) else None


# Statistics packages ---------------------------------------------------------------------------------------------


def about(file: NamedFile) -> Any:
    """What a file of a statistics package says of itself: its names, labels, formats, codes for missing.

    Raises
    ------
    OwnerError
        When it is damaged, or the library for it is missing.
    """
    return _read(file, metadataonly=True, user_missing=True)[1]


def _read(file: NamedFile, **options: Any) -> tuple[dict[str, list[Any]], Any]:
    pyreadstat = library("pyreadstat", file)
    encoding = None if file.dialect.encoding == UTF_8 else file.dialect.encoding
    read = getattr(pyreadstat, _READERS[format_of(file.path)])
    place = file.place or str(file.path.resolve())
    faults = (pyreadstat.ReadstatError, pyreadstat.PyreadstatError, UnicodeError, ValueError, LookupError)
    try:
        found: tuple[dict[str, list[Any]], Any] = read(
            place, encoding=encoding, output_format="dict", disable_datetime_conversion=True, **options
        )
    except faults as fault:
        if "encoding" in str(fault) or "byte sequence" in str(fault) or isinstance(fault, UnicodeError):
            raise OwnerError(
                f'"{file.path.name}" holds letters that are not of its encoding: {ENCODED}.'
            ) from None
        raise _damaged(file, ": save it again") from None
    return found


def _statistics(file: NamedFile, kind: str) -> TableFile:
    said = about(file)
    if len({*said.column_names}) < len(said.column_names):
        raise OwnerError(f'"{file.path.name}" names a column twice: rename one of them.')
    texts = {name for name, held in said.readstat_variable_types.items() if held == "string"}
    moments = {
        name: found
        for name, written in said.original_variable_types.items()
        if name not in texts and (found := _counted_from(written, kind))
    }
    kinds = {
        name: "VARCHAR" if name in texts else "TIMESTAMP" if name in moments else "DOUBLE"
        for name in said.column_names
    }

    def blocks(wanted: Mapping[str, str]) -> Iterator[dict[str, Cells]]:
        names = [*{*wanted.values()}]
        most, first = 1 + _CELLS // len(wanted), 0
        while True:
            cells, _ = _read(file, usecols=names, row_offset=first, row_limit=most)
            yield {name: _column(cells[at], kinds[at], moments.get(at)) for name, at in wanted.items()}
            if len(cells[names[0]]) < most:
                return
            first += most

    return TableFile(kinds, blocks)


def _counted_from(written: str | None, kind: str) -> tuple[int, int] | None:
    """The day that a date's format counts from, and its step in microseconds; None for any other format."""
    for pattern, first, step in _MOMENTS[kind]:
        if re.fullmatch(pattern, written or "", re.IGNORECASE if kind != "stata" else 0):
            return first, step
    return None


def _column(cells: Sequence[Any], kind: str, moment: tuple[int, int] | None) -> Cells:
    if kind == "VARCHAR":
        return _objects(cells)
    numbers = np.array(cells, dtype=np.float64)
    return numbers if moment is None else _moments(numbers, *moment)


def _moments(numbers: NDArray[np.float64], first: int, step: int) -> NDArray[np.datetime64]:
    """Moments, each from its own number; outside the years 1 to 9999 it is missing."""
    with np.errstate(invalid="ignore", over="ignore"):
        micro = np.rint(numbers * step)
        known = (micro >= _FIRST - first) & (micro <= _LAST - first)
    found = np.where(known, micro, 0).astype(np.int64) + first
    moments = found.astype("datetime64[us]")
    moments[~known] = np.datetime64("NaT")
    return moments

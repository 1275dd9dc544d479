"""Whether each row of a CSV file can be read by itself: one linear scan of its bytes, before anything is read.

A quote that opens in one row and closes in another, a line that ends in two ways, a row of another length: each would let
what one row holds decide where other rows begin. The scan finds the first such place and refuses the file with its line
number, in every column, declared or not. It proves of a file that passes: outside of quotes every line end ends a row,
every row has the header's number of fields (an empty line is no row, or one missing cell in a file of one column), and
(but under ``quoting = "across lines"``) no line end is inside of quotes.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn

import numpy as np
from numpy.typing import NDArray

from dpnb.trusted.errors import OwnerError
from dpnb.trusted.files.csv_header import LONGEST_ROW, parsed, rows_of
from dpnb.trusted.files.dialect import Dialect
from dpnb.trusted.files.text_file import ENCODED

_BLOCK = 1 << 19
"""Bytes whose marks are found together: few enough that they stay in a processor's cache."""
_MARK = b"\xef\xbb\xbf"
_LF, _CR, _QUOTE = 10, 13, 34

Places = NDArray[np.int64]


def check_rows(
    file: BinaryIO, name: str, delimiter: str, width: int, dialect: Dialect, line: int = 1
) -> None:
    """Scan a whole file, whose first line has the number ``line``.

    Raises
    ------
    OwnerError
        At the first place where a row cannot be read by itself, with the number of its line.
    """
    scan = _Scan(name, ord(delimiter), width, dialect, line)
    rest = file.read(len(_MARK)).removeprefix(_MARK)
    while block := file.read(_BLOCK):
        rest = scan.rows(rest + block)
        if len(rest) > LONGEST_ROW:
            scan.refuse(0, rest, *_LONG)
    if rest:
        scan.rows(rest, last=True)


@dataclass(slots=True)
class _Scan:
    """What was seen of a file so far."""

    name: str
    delimiter: int
    width: int
    dialect: Dialect
    line: int = 1
    crlf: bool | None = None

    def rows(self, data: bytes, *, last: bool = False) -> bytes:
        """Check the whole rows of a block and return what is left of it."""
        found = _Marks.of(data, self.delimiter, quotes=self.dialect.quoting != "none")
        size = len(data) if last else found.end(self.dialect)
        block = data[:size]
        if block:
            self._check(block, found.until(size))
            self.line += _lines(block)
        return data[size:]

    def _check(self, block: bytes, marks: _Marks) -> None:
        self._check_text(block)
        if self.dialect.quoting != "none":
            self._check_quotes(block, marks)
        ends = self._line_ends(block, marks)
        self._check_widths(block, marks, ends)

    def _check_text(self, block: bytes) -> None:
        try:
            block.decode()
        except UnicodeDecodeError as error:
            self.refuse(error.start, block, "is not UTF-8 text", ENCODED)

    def _check_quotes(self, block: bytes, marks: _Marks) -> None:
        """A quote opens where a field begins, or doubles the one before it; it closes where a field ends."""
        letters, quotes = np.frombuffer(block, np.uint8), marks.quotes
        opening, closing = quotes[::2], quotes[1::2]
        before = np.where(opening > 0, letters[opening - 1], _LF)
        after = np.where(closing + 1 < len(letters), letters[np.minimum(closing + 1, len(letters) - 1)], _LF)
        borders = [self.delimiter, _LF, _CR, _QUOTE]
        wrong = np.sort(
            np.concatenate([opening[~np.isin(before, borders)], closing[~np.isin(after, borders)]])
        )
        inside = marks.broken if self.dialect.quoting == "rows" else marks.broken[:0]
        if len(inside) and (not len(wrong) or inside[0] < wrong[0]):
            self.refuse(int(inside[0]), block, "ends inside a quoted field", _ACROSS)
        if len(wrong):
            self.refuse(int(wrong[0]), block, "has a quote inside of a field that is not quoted", _STRAY)
        if len(quotes) % 2:
            self.refuse(int(quotes[-1]), block, "opens a quote that nothing closes", _STRAY)

    def _line_ends(self, block: bytes, marks: _Marks) -> Places:
        """Where rows end; refuses two kinds of line ends, and a carriage return by itself."""
        letters, breaks, returns = np.frombuffer(block, np.uint8), marks.breaks, marks.returns
        alone = returns[letters[np.minimum(returns + 1, len(letters) - 1)] != _LF]
        if self.dialect.line_ends == "any":
            return np.sort(np.concatenate([breaks, alone]))
        paired = (letters[breaks - 1] == _CR) & (breaks > 0)
        if self.crlf is None and len(breaks):
            self.crlf = bool(paired[0])
        other = (breaks - paired)[paired != self.crlf] if len(breaks) else breaks
        wrong = np.sort(np.concatenate([alone, other]))
        if len(wrong):
            self.refuse(int(wrong[0]), block, "ends in another way than the first line", _ENDS)
        return breaks

    def _check_widths(self, block: bytes, marks: _Marks, ends: Places) -> None:
        if not len(ends) or ends[-1] != len(block) - 1:
            ends = np.append(ends, len(block))
        starts = np.concatenate([[0], ends[:-1] + 1])
        lengths = ends - starts
        if int(lengths.max()) > LONGEST_ROW:
            self.refuse(int(starts[lengths.argmax()]), block, *_LONG)
        if self.dialect.ragged:
            return
        fields = np.diff(np.searchsorted(marks.delimiters, ends), prepend=0) + 1
        for place in np.flatnonzero((fields != self.width) & ~_empty(block, starts, lengths)):
            start, end = int(starts[place]), int(ends[place])
            line = block[start:end].decode()
            if self.dialect.is_row(next(parsed([line], chr(self.delimiter), self.dialect), [])):
                words = f"has another number of fields than the header, which has {self.width}"
                self.refuse(start, block, words, _RAGGED)

    def refuse(self, place: int, block: bytes, words: str, fix: str) -> NoReturn:
        """Refuse the file, naming the line."""
        line = self.line + _lines(block[:place])
        raise OwnerError(f'"{self.name}", line {line} {words}: {fix}.')


_LONG = (f"is longer than {LONGEST_ROW:,} bytes", "shorten it, or split the column")
_ACROSS = 'take line ends out of the texts, or write quoting = "across lines" in [source]'
_STRAY = 'write such a field in quotes with its own quotes doubled, or correct delimiter = "…" or write quoting = "none" in [source]'
_ENDS = 'save the file with one kind of line end, or write line_ends = "any" in [source]'
_RAGGED = 'correct it, or write under [source] skip = ["its first field"] if it is no row but a title or a total, or ragged = true'


@dataclass(frozen=True, slots=True)
class _Marks:
    """Where a block has quotes, and, outside of them, delimiters and line ends; ``broken`` are line ends inside."""

    quotes: Places
    delimiters: Places
    breaks: Places
    returns: Places
    broken: Places
    size: int

    @classmethod
    def of(cls, data: bytes, delimiter: int, *, quotes: bool) -> _Marks:
        letters = np.frombuffer(data, np.uint8)
        quoted = np.flatnonzero(letters == _QUOTE) if quotes else np.zeros(0, dtype=np.int64)
        found = [np.flatnonzero(letters == letter) for letter in (delimiter, _LF, _CR)]
        if not len(quoted):
            return cls(quoted, found[0], found[1], found[2], quoted, len(data))
        inside = [_inside(quoted, places) for places in found]
        broken = np.sort(np.concatenate([found[1][inside[1]], found[2][inside[2]]]))
        kept = [places[~within] for places, within in zip(found, inside, strict=True)]
        return cls(quoted, kept[0], kept[1], kept[2], broken, len(data))

    def end(self, dialect: Dialect) -> int:
        """Where the last whole row ends; a carriage return at the very end may be half of a line end."""
        ends = [self.breaks]
        if dialect.line_ends == "any":
            ends.append(self.returns[self.returns < self.size - 1])
        if dialect.quoting == "rows":
            ends.append(self.broken)
        return max((int(places[-1]) + 1 for places in ends if len(places)), default=0)

    def until(self, size: int) -> _Marks:
        marks = (self.quotes, self.delimiters, self.breaks, self.returns, self.broken)
        quotes, delimiters, breaks, returns, broken = (one[: np.searchsorted(one, size)] for one in marks)
        return _Marks(quotes, delimiters, breaks, returns, broken, size)


def _inside(quotes: Places, places: Places) -> NDArray[np.bool_]:
    """Which places have an odd number of quotes before them."""
    opened = np.bincount(np.searchsorted(places, quotes), minlength=len(places) + 1)[:-1]
    return (np.cumsum(opened, dtype=np.uint8) & 1).astype(bool)


def _empty(block: bytes, starts: Places, lengths: Places) -> NDArray[np.bool_]:
    """Which lines hold nothing: they are no rows where there are several columns."""
    padded = np.frombuffer(block + b"\n", np.uint8)
    empty: NDArray[np.bool_] = (lengths == 0) | ((lengths == 1) & (padded[starts] == _CR))
    return empty


def _lines(block: bytes) -> int:
    """How many line ends a block has, as an editor counts them."""
    return block.count(b"\n") + (block.count(b"\r") - block.count(b"\r\n") if b"\r" in block else 0)


def write_plainly(file: BinaryIO, delimiter: str, width: int, dialect: Dialect, into: Path) -> None:
    """Write a checked file once more, with one kind of line end and every row as long as the header."""
    with (
        io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as lines,
        into.open("x", encoding="utf-8", newline="") as plain,
    ):
        into.chmod(0o600)
        writer = csv.writer(plain, delimiter=delimiter, quoting=csv.QUOTE_ALL, lineterminator="\n")
        for row in rows_of(lines, delimiter, dialect, strict=True):
            if row or width == 1:
                writer.writerow([*row, *[""] * (width - len(row))][:width])

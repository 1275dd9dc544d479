"""How the rows of a CSV file are written: what its owner declares in ``[source]``, strict where nothing is declared.

Where a row of text ends decides how every row below it is read. So the default takes only files in which each line is one
row whatever it holds; a file that is written otherwise says so, and then exactly that is read.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dpnb.trusted.errors import OwnerError
from dpnb.trusted.records import known

_WORDS = {"quoting": ("rows", "none", "across lines"), "line_ends": ("one", "any")}
_KEYS = ("quoting", "line_ends", "ragged", "skip", "delimiter", "encoding")
UTF_8 = "utf-8"
_ENCODINGS = re.compile(
    r"ascii|utf-(8|16|32)(-[bl]e)?|cp[0-9]+|iso8859-[0-9]+|mac-[a-z]+|koi8-[rtu]|gbk|gb18030|gb2312|big5|shift_jis|euc_(jp|kr)"
)
"""Encodings in which no byte of a line changes what the bytes of another mean, as Python calls them; ISO-2022 and UTF-7 are none."""


@dataclass(frozen=True, slots=True)
class Dialect:
    """What a CSV file may hold.

    Attributes
    ----------
    quoting : {"rows", "none", "across lines"}
        ``"rows"``: quotes stand around whole fields, doubled inside, and no line ends within them. ``"none"``: a quote is
        a letter like others. ``"across lines"``: as ``"rows"``, but a quoted field may hold line ends, so that the owner
        vouches for the program that wrote the quotes.
    line_ends : {"one", "any"}
        ``"one"``: all lines end alike (LF or CR LF). ``"any"``: LF, CR LF and CR each end a line.
    ragged : bool
        Whether a row may hold fewer fields than the header (the rest is missing) or more (the rest is left out).
    skip : tuple of str
        A line whose first field that is not blank is one of these texts is no row: a title, a total. The line's own text alone
        decides, wherever it stands.
    delimiter : str
        What stands between two fields; nothing where the file's header or ending says it.
    encoding : str
        In which its text is written, as Python calls it.
    headers : tuple of (str, str)
        Declared names with the names that the file's header gives their columns, where these are others.
    """

    quoting: str = "rows"
    line_ends: str = "one"
    ragged: bool = False
    skip: tuple[str, ...] = ()
    delimiter: str = ""
    encoding: str = UTF_8
    headers: tuple[tuple[str, str], ...] = ()

    @classmethod
    def from_toml(cls, facts: Mapping[str, Any], where: str) -> Dialect:
        """Read ``[source]``; anything unknown is refused.

        Examples
        --------
        >>> Dialect.from_toml({"quoting": "none"}, "people.dpnb.toml, [source]").quoting
        'none'
        """
        known(facts, _KEYS, where)
        skip = facts.get("skip", ())
        if not isinstance(skip, list | tuple) or not all(
            isinstance(one, str) and one.strip() for one in skip
        ):
            raise OwnerError(f'{where}: skip is a list of texts: write skip = ["Total"]')
        for key, value in facts.items():
            if key == "ragged" and not isinstance(value, bool):
                raise OwnerError(f"{where}: ragged must be true or false, not {value!r}")
            if key in _WORDS and value not in _WORDS[key]:
                listed = ", ".join(f'"{word}"' for word in _WORDS[key])
                raise OwnerError(f"{where}: {key} = {value!r}: write one of {listed}")
        if not _is_delimiter(facts.get("delimiter", "")):
            raise OwnerError(
                f'{where}: delimiter = {facts["delimiter"]!r}: write one mark, such as ";" or "\\t", no letter, digit or quote'
            )
        encoding = _encoding(facts.get("encoding", UTF_8), where)
        return cls(**{**facts, "skip": tuple(one.strip() for one in skip), "encoding": encoding})

    @property
    def plain(self) -> bool:
        """Whether an engine reads such a file as it stands."""
        return not self.ragged and self.line_ends == "one" and not self.skip

    def is_row(self, fields: Sequence[str]) -> bool:
        """Whether a line of these fields is a row, or the header."""
        return not self.skip or next(filter(None, map(str.strip, fields)), None) not in self.skip

    @property
    def quote(self) -> str:
        """The quoting character, or nothing."""
        return "" if self.quoting == "none" else '"'

    @property
    def csv_quoting(self) -> Literal[0, 3]:
        """The same in the words of Python's csv module."""
        return csv.QUOTE_NONE if self.quoting == "none" else csv.QUOTE_MINIMAL


def _is_delimiter(value: object) -> bool:
    return value == "" or (isinstance(value, str) and re.fullmatch(r'(?![\w"])[\t -~]', value) is not None)


def _encoding(value: object, where: str) -> str:
    """An encoding's name as Python calls it."""
    try:
        name = codecs.lookup(value).name.removesuffix("-sig") if isinstance(value, str) else ""
    except (LookupError, ValueError):
        name = ""
    if not _ENCODINGS.fullmatch(name):
        raise OwnerError(
            f'{where}: encoding = {value!r}: write "utf-8", "utf-16", "cp1252" (Windows) or "latin-1", for example'
        )
    return name


STRICT = Dialect()
"""What is taken where nothing is declared."""

"""What would read the cells that a declaration does not read: keys to add, tried on a sample of those cells.

Cells are the owner's alone: they are shown on a terminal, never in a notebook or a pipe. A key is tried as the reader of declarations
itself takes it, and a cell is read by the definition of reading, so that nothing here knows what a key means. How many cells of the
whole column it leaves unread is counted afterwards (:meth:`Remedy.counted`).
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from dpnb.cards.markup import clean
from dpnb.datasets.preparation import read
from dpnb.errors import OwnerError
from dpnb.owner.header_lines import begins_as_total, is_number
from dpnb.owner.unknown_codes import as_codes, looks_coded
from dpnb.owner.unknown_codes import told as codes_told
from dpnb.trusted.canonical import canonical
from dpnb.trusted.schema import Column, nearest
from dpnb.trusted.schema.owner import load

FIXED: Final = ("format", "decimal", "thousands", "trim")
"""The keys that ``dpnb check --fix`` writes: how cells are written, never what they may be."""
MOST_CELLS: Final = 1_000
"""Different cells of a sample."""
_ENOUGH = 0.5
_SHOWN = 3
_WORD: Final = re.compile(r"[^\W\d_]{3}")
"""What a misspelt word has: three letters in a row."""

_SEVERAL: Final = re.compile(r"\d\D+\d")
"""What a date has, and a code for unknown has not: several numbers."""

_FORMS: Final = {
    "%m/%d/%Y": "month/day/year",
    "%d/%m/%Y": "day/month/year",
    "%d.%m.%Y": "day.month.year",
    "%d-%m-%Y": "day-month-year",
    "%m-%d-%Y": "month-day-year",
    "%Y/%m/%d": "year/month/day",
    "%Y.%m.%d": "year.month.day",
    "%Y%m%d": "year, month and day",
    "%d/%m/%y": "day/month/year",
    "%m/%d/%y": "month/day/year",
    "%d.%m.%y": "day.month.year",
    **dict.fromkeys(("%d-%b-%Y", "%d %b %Y", "%d%b%Y", "%d-%b-%y"), "day, month and year"),
    **dict.fromkeys(("%d %B %Y", "%d. %B %Y"), "day, month and year"),
    **dict.fromkeys(("%b %d, %Y", "%B %d, %Y"), "month, day and year"),
    **dict.fromkeys(("%m/%d/%Y %I:%M %p", "%m/%d/%Y %I:%M:%S %p"), "month/day/year"),
    **dict.fromkeys(("%d/%m/%Y %I:%M %p", "%d/%m/%Y %I:%M:%S %p"), "day/month/year"),
    "%Y/%m/%d %I:%M %p": "year/month/day",
    "%Y-%m-%d %I:%M %p": "year-month-day",
}
_MARKS: Final = {
    ",": "commas",
    ".": "points",
    " ": "blanks",
    "'": "apostrophes",
    "\u00a0": "blanks",
    "\u202f": "blanks",
}
_DATES = [{"format": form} for form in _FORMS]
_NUMBERS = [
    {"decimal": ","},
    *({"thousands": mark} for mark in (",", " ", "'", "\u00a0", "\u202f")),
    *({"decimal": ",", "thousands": mark} for mark in (".", " ", "'", "\u00a0", "\u202f")),
]
_SIGNS = ("$", "€", "£", "%")
_AMOUNTS: Final[Sequence[Mapping[str, Any]]] = [
    *_NUMBERS,
    *({**keys, "strip": sign} for sign in _SIGNS for keys in ({}, *_NUMBERS)),
    *({**keys, "percent": True} for keys in ({}, {"decimal": ","})),
    *({**keys, "parentheses": True} for keys in ({}, *_NUMBERS, {"thousands": ",", "strip": "$"})),
]
_ANSWERS = (
    "Yes No",
    "yes no",
    "Y N",
    "y n",
    "Ja Nein",
    "ja nein",
    "J N",
    "j n",
    "Oui Non",
    "oui non",
    "O N",
    "o n",
)
_TRUTHS = [{"true": [yes], "false": [no]} for yes, no in map(str.split, _ANSWERS)]
"""Words for yes and no in the languages of headers."""
_TRIED: Final[Mapping[str, Sequence[Mapping[str, Any]]]] = {
    **dict.fromkeys(("integer", "number"), _AMOUNTS),
    **dict.fromkeys(("date", "datetime"), _DATES),
    "category": ({"trim": True}, {"case": "any"}, {"trim": True, "case": "any"}, *_TRUTHS),
}
_DATASET = {
    "dataset": {"name": "data", "source": "data.csv", "adjacency": "add-remove"},
    "budget": {"epsilon": 1},
}


@dataclass(frozen=True, slots=True)
class Remedy:
    """What would read the unread cells of a column, and which cells may be codes.

    Parameters
    ----------
    keys : tuple of mapping
        What to write. Several are as good as each other, and read the cells differently: only the owner knows which is right.
    cells : tuple of (str, int)
        The most frequent unread cells that it reads, or all where it reads none, and how often each stands in the column.
        For the owner's eyes alone.
    codes : tuple of (str, int)
        Cells beyond the bounds that look like codes for *unknown*, likewise.
    facts : mapping
        The column's declaration.
    unread : int or None
        The cells of the whole column that are not read then; None until they are counted.
    """

    keys: tuple[Mapping[str, Any], ...]
    cells: tuple[tuple[str, int], ...] = ()
    codes: tuple[tuple[str, int], ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    unread: int | None = None

    @property
    def fixable(self) -> bool:
        """Whether it may be written without the owner's choice."""
        return len(self.keys) == 1 and set(self.keys[0]) <= set(FIXED)

    def columns(self, name: str) -> list[Column]:
        """Return the column as it would be with each of the keys."""
        return [_with_keys(name, self.facts, keys) for keys in self.keys]

    def counted(self, unread: Sequence[int], now: int) -> Remedy:
        """Return the keys that leave the fewest cells of the whole column unread, as they were counted for each; none where that is no fewer than now."""
        least = min(unread, default=now)
        if least >= now:
            return replace(self, keys=())
        kept = (keys for keys, count in zip(self.keys, unread, strict=True) if count == least)
        return replace(self, keys=tuple(kept), unread=least)

    def words(self, *, shown: bool) -> str:
        """Say what to write, and on the owner's terminal one cell, or some where nothing reads them; nothing where nothing is unread."""
        if not self.keys:
            return self._not_read() if shown and self.cells else ""
        first = f"{_quoted(self.cells[0][0])} " if shown else ""
        if len(self.keys) == 1:
            seems = f"{first}looks like {_taken_for(self.keys[0])}: " if shown else ""
            return f"{seems}write {told(self.keys[0])}"
        either = ", or ".join(f"{told(keys)} ({_taken_for(keys)})" for keys in self.keys)
        return f"{first}can be read in {len(self.keys)} ways: write the one that is right, {either}"

    def coded(self, *, shown: bool) -> str:
        """Say which cells beyond the bounds may mean unknown; nothing where none looks so."""
        unread = [] if self.keys or self.facts.get("type") == "category" else self.cells
        known = [*self.facts.get("missing_codes", ()), *(cell for cell, _ in unread if shown)]
        return codes_told(self.codes, known, shown=shown) if self.codes else ""

    def _not_read(self) -> str:
        """Show cells that nothing reads, and say what each of them may be."""
        listed = ", ".join(f"{_quoted(cell)} ({count:,})" for cell, count in self.cells)
        category = self.facts.get("type") == "category"
        meant = {cell: _meant(cell, self._values) for cell, _ in self.cells} if category else {}
        spelt = "; ".join(
            f"{_quoted(cell)} seems to be {_quoted(one)}, misspelt" for cell, one in meant.items() if one
        )
        others = [cell for cell, _ in self.cells if not meant.get(cell)]
        said = [f"not read are for instance {listed}."]
        if spelt:
            said.append(f"{spelt}: correct that in the file.")
        if others and category:
            said.append(self._to_add)
        if category:  # of numbers among its values' codes, most are values
            others = [cell for cell in others if looks_coded(cell) or not is_number(cell)]
        elif self.facts.get("type") in ("date", "datetime"):
            others = [cell for cell in others if looks_coded(cell) or not _SEVERAL.search(cell)]
        if others and not self.codes:
            said.append(
                f"If they mean unknown, write {as_codes(others, self.facts.get('missing_codes', ()))}."
            )
        return " ".join(said)

    @property
    def _to_add(self) -> str:
        """Say where a cell of a category belongs if it means a value: yes and no can have several spellings."""
        if "true" in self.facts:
            return "If one means yes or no, add it to true or false."
        by_word = {value.casefold(): value for value in self._values}
        for yes, no in (answers.casefold().split() for answers in _ANSWERS):
            if {yes, no} == set(by_word):
                lists = f"true = [{_quoted(by_word[yes])}, …] and false = [{_quoted(by_word[no])}, …]"
                return f"If one also means yes or no, list all spellings in place of values: {lists}."
        return "If one is a value of its own, and you know that without the data, add it to values."

    @property
    def _values(self) -> list[str]:
        """The texts that are declared as values of a category."""
        listed = (self.facts.get(key, ()) for key in ("values", "true", "false"))
        return [value for values in listed for value in values if isinstance(value, str)]


def remedy(
    name: str,
    facts: Mapping[str, Any],
    cells: Sequence[tuple[str, int]],
    others: Sequence[tuple[str, int]] = (),
    beyond: Sequence[tuple[str, int]] = (),
) -> Remedy:
    """Find what reads most of some unread cells.

    Parameters
    ----------
    name : str
        The column.
    facts : mapping
        Its declaration.
    cells : sequence of (str, int)
        Different unread cells, the most frequent first, and how often each stands in the column.
    others : sequence of (str, int)
        Cells that are read now, likewise: what reads less of both is no remedy.
    beyond : sequence of (str, int)
        Cells beyond the bounds, likewise: some may be codes.

    Returns
    -------
    Remedy
        Without keys where nothing reads half of them.
    """
    best, found = 0.0, dict[tuple[object, ...], Mapping[str, Any]]()
    # A declared value in other letters is no code for unknown, however few they are.
    enough = 0 if facts.get("type") == "category" else _ENOUGH
    for keys, column in _candidates(name, facts):
        now, before = ([_read_as(cell, column) for cell, _ in some] for some in (cells, others))
        share, kept = _share(cells, now), _share(others, before)
        gained = share * _size(cells) - (1 - kept) * _size(others)
        if share >= enough and gained > best:
            best, found = gained, {}
        if gained == best > 0:
            found.setdefault((*now, *before), keys)
    first = next(iter(found), (object(),) * len(cells))  # where something is read, such cells are shown
    pairs = zip(cells, first, strict=False)
    shown = [cell for cell, value in pairs if value is not None and not begins_as_total(cell[0])]
    declared = _with_keys(name, facts, {}) if beyond else None
    codes = [cell for cell in beyond if declared and looks_coded(declared.cell_text(cell[0]))]
    return Remedy(tuple(found.values()), tuple(shown[:_SHOWN]), tuple(codes), facts)


def _read_as(cell: str, column: Column) -> object:
    """Return what a cell is read as: a value of a category, else the text of a number or a date; None where it is not read."""
    code = read(cell, column)
    return code if code is None or column.values is not None else column.cell_text(cell)


def _size(cells: Sequence[tuple[str, int]]) -> int:
    return sum(count for _, count in cells)


def _share(cells: Sequence[tuple[str, int]], found: Sequence[object]) -> float:
    """Return the share of some cells that are read, each as often as it stands in the column."""
    known = sum(count for (_, count), one in zip(cells, found, strict=True) if one is not None)
    return known / (_size(cells) or 1) if cells else 1.0


def _candidates(name: str, facts: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], Column]]:
    """Yield keys that a column does not have, each with the column as it would be; what the reader of declarations refuses is left out."""
    for keys in _TRIED.get(str(facts.get("type")), ()):
        if not set(keys) & set(facts):
            try:
                yield keys, _with_keys(name, facts, keys)
            except OwnerError:
                continue


def _with_keys(name: str, facts: Mapping[str, Any], keys: Mapping[str, Any]) -> Column:
    """Return the column as its declaration would have it with some keys more."""
    plain = {key: value for key, value in facts.items() if key not in ("missing", "header")}
    return load({**_DATASET, "columns": {name: {**plain, **keys}}}).schema[name]


def _meant(cell: str, values: Sequence[Any]) -> str | None:
    """Return the declared value that a cell seems to misspell; short cells and numbers are codes rather."""
    return (
        nearest(cell, [value for value in values if isinstance(value, str)]) if _WORD.search(cell) else None
    )


def _quoted(cell: str) -> str:
    return canonical(clean(cell))


def nothing_written(unread: int, remedies: Collection[Remedy]) -> str:
    """Say why ``--fix`` wrote nothing, of so many unread cells."""
    if not unread:
        codes = " Codes for unknown are yours to write." if any(one.codes for one in remedies) else ""
        return f"Nothing was written: every cell that is not empty is read as it is declared.{codes}"
    if any(one.keys for one in remedies):
        return (
            f"Nothing was written: --fix writes {_listed(FIXED, 'and')} alone, and only where no other way reads as many cells. "
            "What is named above is for you to write into the declaration."
        )
    return f"Nothing was written: no {_listed(FIXED, 'or')} reads what is not read."


def _listed(words: Sequence[str], last: str) -> str:
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def told(keys: Mapping[str, Any]) -> str:
    """Return keys as a declaration writes them."""
    return " and ".join(f"{key} = {canonical(value)}" for key, value in keys.items())


def _taken_for(keys: Mapping[str, Any]) -> str:
    if "format" in keys:
        return _FORMS[keys["format"]]
    if "true" in keys:
        return "yes or no"
    if "trim" in keys or "case" in keys:
        return (
            "a declared value with blanks around it"
            if "case" not in keys
            else "a declared value in another case"
        )
    comma = "a decimal comma" if "decimal" in keys else ""
    groups = f"{_MARKS[keys['thousands']]} between thousands" if "thousands" in keys else ""
    sign = f"the sign {keys['strip']}" if "strip" in keys else ""
    sign += ", so that 12 % is 12" if sign.endswith("%") else ""
    hundredth = "the sign %, so that 12 % is 0.12" if "percent" in keys else ""
    below = "parentheses if it is negative" if "parentheses" in keys else ""
    return f"a number with {_listed([*filter(None, (comma, groups, sign, hundredth, below))], 'and')}"


def write_keys(path: Path, keys: Mapping[tuple[str, ...], Mapping[str, Any]]) -> None:
    """Write keys under sections of a declaration, marked as seen on the data; every other line stays as it is.

    Parameters
    ----------
    path : Path
    keys : mapping of section to keys
        A section as the parts of its name: ``("columns", "visit")``.

    Raises
    ------
    OwnerError
        When a section is not written under a line of its own; nothing is written then.
    """
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for section, added in keys.items():
        place = next((at for at, line in enumerate(lines, 1) if _begins(line, section)), None)
        if place is None:
            raise OwnerError(
                f"{path.name} has no line [{'.'.join(section)}]: write {told(added)} there by hand"
            )
        lines[place:place] = [
            f"{told({key: value})}  # seen on data: dpnb check --fix\n" for key, value in added.items()
        ]
    text = "".join(lines)
    tomllib.loads(text)
    path.write_text(text, encoding="utf-8")


def _begins(line: str, section: tuple[str, ...]) -> bool:
    if not line.lstrip().startswith("["):
        return False
    try:
        found: Any = tomllib.loads(line)
    except tomllib.TOMLDecodeError:
        return False
    for part in section:
        found = found.get(part) if isinstance(found, dict) else None
    return bool(found == {})

"""Drafting an owner's schema from names and storage types, and from nothing else.

A bound, a level or a count that was read from the data would publish it: what no word of a name tells stays TODO, and
a schema with a TODO left in does not open. Dictionary, ENUM and categorical levels are values that somebody observed: never read.
"""

from __future__ import annotations

import itertools
import json
import re
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from dpnb.errors import OwnerError
from dpnb.owner.codebook import Entry, codebook, entries
from dpnb.owner.column_guess import UNDRAFTED, Guess, guess
from dpnb.owner.frame_codebook import fields_of_frame, said_of
from dpnb.owner.header_lines import header, is_number, titles, written_as
from dpnb.trusted.files.named_file import EVERY, every, format_of, stem_of
from dpnb.trusted.records import LONGEST_NAME, RESERVED, nearest

Fields = Sequence[tuple[str, str]]

_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]+")

_HEAD = """\
# Drafted by `dpnb init {file}` from column names and storage types alone: no value was looked at.
# Replace every TODO by what is known WITHOUT looking at the data (a codebook, a law, common sense), and correct
# what was guessed from a name. Until no TODO is left, dpnb.open refuses this file. Remove what nobody will ask about.

[dataset]
name = {name}
title = {title}
source = {source}
adjacency = "add-remove"        # the number of rows is private; where it is public: "change-one", and rows = …
{unit}
mode = "guard-rail"

[budget]
epsilon = "TODO: the whole loss that these data may ever pay, for example 4"
{delta}"""
DRAFTED_DELTA = "1e-6"
_DELTA = f'delta = "{DRAFTED_DELTA}"                  # the largest probability that a value of one person alone is shown\n'
_UNIT = 'unit = "TODO: row (one row = one person){persons}"'
_JOINED = """\
unit = {on}{guessed}
max_rows_per_unit = 1           # of one person in {file}; the rest are left out\
"""
_GUESSED = "                 # judging by its name, the column in every file that identifies the person"
_NOT_GUESSED = '"TODO: the column in every file that identifies the person"'
_TABLE = """
# Rows of {file}: joined by the person, and by nothing else. Declare what [prepare] makes of them with the columns above.
[source.{table}]
file = {file_quoted}
on = {on}
"""
_PREPARE = """
# One line for each column that is made of a person's rows: name = {{ count, sum, mean, any or latest, and its bounds }}.
[prepare]
"""
_MOST = '"TODO: the most {table} of one person, for example 20; more count as that many"'
_VALUES = 'values = "TODO: a list, for example [0, 1]; anything else counts as missing"\n'
_TRIM = "trim = true                     # blanks around a cell do not count\n"
_YES_OR_NO = 'values = "TODO"                 # as the file writes them: ["No", "Yes"], ["nein", "ja"], ["non", "oui"] or [false, true]\n'
_DATES = "bounds = \"TODO: the first and the last day, for example ['2020-01-01', '2024-12-31']\"\n"
_MOMENTS = (
    "bounds = \"TODO: the first and the last hour, for example ['2020-01-01 00:00', '2024-12-31 23:00']\"\n"
)
_TEXT = (
    'type = "text"                    # no list of values: only those that many rows have are shown\n'
    'length = 32                      # the most characters of one; a longer one counts as missing (beyond = "cut": it is cut)\n'
    'characters = ["ascii"]           # or "latin", "letters", "digits", " -"; another one counts as missing, or is left out\n'
    'case = "lower"                   # TEA and tea are one; "keep": they are two\n'
)
_UNKNOWN = (
    'type = "TODO: integer, number, category, text, date or datetime"\n'
    'lower = "TODO"                  # a category has values = [0, 1] in their place, a date bounds = […]\n'
    'upper = "TODO"\n'
)
_WEIGHS = "# weights_fixed = true          # for survey weights that depend on nobody else's row (raked weights do)\n"
_PERSON = (
    "\n# {name} is left out: its name suggests that it identifies people. If people have several rows, write above\n"
    "# unit = {quoted} and max_rows_per_unit = the most rows that one person can have.\n"
)
_IDENTIFIES = "\n# {name} is left out: its name suggests that it identifies somebody or something.\n"
_NAMELESS = "\n# Column {place} has no name{why}: it is left out. To use it, name it in the header line.\n"
_INDEX = "\n# {name} is left out: it is an index that pandas wrote.\n"
_TITLES = """
# The lines above the header are not rows. A line whose first field is one of these texts is left out, wherever it stands.
[source]
skip = [{listed}]
"""
_LATER = (
    "\n# Nobody can ask about the columns below. To declare one, take its # away and write its type, or draft again with\n"
    "# dpnb init {file} --columns {example}      (--all: every column)\n"
)
_MOST_DECISIONS = 8
"""So many TODO are drafted, at most, where nobody says which columns are wanted."""
_WORDS_OF_A_NAME = 32
"""Characters of a name that is proposed for a longer one."""
_WORDS_OF_A_LABEL = 5
"""What has more words is a question rather than a name."""


@dataclass(frozen=True, slots=True)
class DraftedColumn:
    """A column of a file, as it is proposed.

    Parameters
    ----------
    name : str
        As a declaration can call it.
    header : str
        As the file calls it.
    seems : Guess
    told : bool
        Whether its name says what it holds.
    """

    name: str
    header: str
    seems: Guess
    told: bool = True

    @property
    def key(self) -> str:
        """Its name as TOML writes it."""
        return self.name if _BARE.match(self.name) else _quoted(self.name)

    @property
    def label(self) -> str:
        """Its header on one line."""
        return " ".join(self.header.split())


@dataclass(frozen=True, slots=True)
class Beside:
    """Another table of the same people, of which columns are to be prepared."""

    path: Path
    fields: Fields

    @property
    def table(self) -> str:
        """Its name in the declaration."""
        return _NOT_IN_NAMES.sub("_", stem_of(self.path)).strip("_") or "other"


def draft(  # noqa: PLR0913 - a file; the rest are keywords with defaults
    path: str | Path,
    fields: Fields | None = None,
    *,
    beside: Sequence[Beside] = (),
    on: str | None = None,
    source: str | None = None,
    skip: Iterable[str] = (),
    columns: Sequence[str] | None = None,
    whole: bool = False,
    book: Mapping[str, Entry] | None = None,
) -> str:
    """Draft the schema of a data file, and of tables beside it.

    Parameters
    ----------
    path : path
        The data file. Of a CSV only the header line is read.
    fields : sequence of (name, storage type), optional
        The columns of a file whose header is not text, as its engine names them (``("age", "INTEGER")``).
    beside : sequence of Beside
        Tables with rows of the same people.
    on : str, optional
        The column that every one of the files has, and that says whose row it is; by default the one whose name says so.
    source : str, optional
        Where the rows are, if not in a file: ``path`` is then the table's name.
    skip : iterable of str
        How lines begin that are no rows, as :func:`~dpnb.owner.header_lines.titles` finds them.
    columns : sequence of str, optional
        The columns that will be asked about. By default those whose names say what they hold, as long as no more than eight TODO arise.
    whole : bool
        Whether every column is drafted.
    book : mapping of str to Entry, optional
        What is said of the columns beside the rows; by default what the file says.

    Returns
    -------
    str
        The text of ``people.dpnb.toml``, with a TODO wherever only a person can know.

    Raises
    ------
    OwnerError
        When the file is missing or empty, or its first line is no header; when a file lacks the column that they are joined by.

    Examples
    --------
    >>> print(draft("people.parquet", [("age", "INTEGER")]).partition("[columns")[2])
    .age]
    label = "age"
    type = "integer"
    lower = 0
    upper = 120
    <BLANKLINE>
    """
    path = Path(path)
    if fields is None:
        fields = fields_of(path)
        skip = titles(path)
    _refuse_names([name for name, _ in fields], path.name)
    if book is None:
        book = {} if source else codebook(path)
    found = [_by_label(one, book, dict(fields)) for one in proposed(fields)]
    guesses = [(one.name, one.seems) for one in found]
    on, unit = _joined_by(path, guesses, beside, on)
    found = [one for one in found if not beside or one.name != on]
    sections = {one.name: _with(book, one, _section(one)) for one in found}
    asked = _wanted(found, columns, path.name) if columns else _affordable(found, sections, unit, whole=whole)
    if columns:
        sections |= {
            one.name: _with(book, one, _section(replace(one, seems=_asked(one.seems))))
            for one in found
            if one.name in asked
        }
    text = _HEAD.format(
        file=_written(path),
        name=_quoted(named_from(path)),
        title=_quoted(stem_of(path)),
        source=_quoted(source or _written(path)),
        unit=unit,
        delta=_delta({one.seems.kind for one in found if one.name in asked}),
    )
    if book:
        text = text.replace(
            " and storage types alone", ", storage types and the codebook beside the rows alone", 1
        )
    skip, written = list(skip), "" if source else _written_as(path)
    if skip:
        text += _TITLES.format(listed=", ".join(map(_quoted, skip)))
    elif written:
        text += "\n[source]\n"
    text += written
    text += "".join(
        _NAMELESS.format(place=place, why=", as an index that pandas wrote" if place == 1 else "")
        for place, (name, _) in enumerate(fields, 1)
        if not name
    )
    text += "".join(text for name, text in sections.items() if name in asked or "[columns." not in text)
    text += _later(
        [one for one in found if one.name not in asked and "[columns." in sections[one.name]], path
    )
    return text + "".join(_tables(beside, on, {name for name, _ in guesses}))


def draft_frame(
    frame: object, name: str = "people", columns: Sequence[str] | None = None, *, whole: bool = False
) -> str:
    """Draft the declaration of a frame in memory, from the names and types of its columns and what it says of them.

    Parameters
    ----------
    frame : frame
        Of pandas, polars or Arrow, or a mapping of columns. No cell is looked at, and no level of a category.
    name : str
        What the dataset is to be called.
    columns : sequence of str, optional
        The columns that will be asked about, as :func:`draft` takes them.
    whole : bool
        Whether every column is drafted.

    Returns
    -------
    str
        A declaration, with a TODO wherever only a person can know. It names no source: ``dpnb.open(frame, schema=…)``.

    Examples
    --------
    >>> print(draft_frame({"age": [41, 7]}).partition("[columns")[2])
    .age]
    label = "age"
    type = "integer"
    lower = 0
    upper = 120
    <BLANKLINE>
    """
    text = draft(
        name, fields_of_frame(frame), source=name, columns=columns, whole=whole, book=entries(said_of(frame))
    )
    for file_s, frame_s in (
        (r"^source = .*\n", ""),
        (r"`dpnb init .*`", "draft_frame"),
        (r"^# dpnb init .*", "# draft_frame(frame, columns=[…])      (whole=True: every column)"),
    ):
        text = re.sub(file_s, frame_s, text, count=1, flags=re.MULTILINE)
    return text


def proposed(fields: Fields) -> list[DraftedColumn]:
    """Give each column that has a name one that a declaration can hold, and no two names that differ only in case."""
    found, taken = [], {name.casefold() for name, _ in fields if _usable(name)}
    seen: set[str] = set()
    for written, stored in fields:
        name = written
        if written and (not _usable(written) or written.casefold() in seen):
            name = _other_name(written, taken)
            taken.add(name.casefold())
        if written:
            seen.add(name.casefold())
            known = written if _usable(written) else ""
            found.append(DraftedColumn(name, written, guess(known, stored), guess(known).kind != "unknown"))
    return found


def _by_label(one: DraftedColumn, book: Mapping[str, Entry], stored: Mapping[str, str]) -> DraftedColumn:
    """A column whose name tells nothing is what its short label in the codebook says."""
    label = book[one.header].label if one.header in book else ""
    if one.told or not 0 < len(label.split()) <= _WORDS_OF_A_LABEL or guess(label).kind == "unknown":
        return one
    return replace(one, seems=guess(label, stored[one.header]), told=True)


def _usable(name: str) -> bool:
    return 0 < len(name) <= LONGEST_NAME and name.isprintable() and not name.startswith(RESERVED)


def _other_name(header: str, taken: set[str]) -> str:
    """Propose a name: the first words of a long one, with a number where another column has it."""
    words = _NOT_IN_NAMES.sub("_", header.lower()).strip("_").split("_")
    name = words[0][:_WORDS_OF_A_NAME]
    for word in words[1:]:
        if len(name) + 1 + len(word) > _WORDS_OF_A_NAME:
            break
        name += f"_{word}"
    numbered = (f"{name or 'column'}_{place}" for place in itertools.count(2))
    return name if name and name not in taken else next(one for one in numbered if one not in taken)


def _wanted(found: Sequence[DraftedColumn], columns: Sequence[str], file: str) -> set[str]:
    """Return the names of the columns that were asked for, by either of their names."""
    names = {one.header: one.name for one in found} | {one.name: one.name for one in found}
    for column in columns:
        if column not in names:
            close = nearest(column, names)
            hint = f"did you mean {close}?" if close else f"its columns: {', '.join(list(names)[:8])}"
            raise OwnerError(f"{file} has no column {column}: {hint}")
    return {names[column] for column in columns}


def _affordable(
    found: Sequence[DraftedColumn], sections: Mapping[str, str], unit: str, *, whole: bool
) -> set[str]:
    """Choose what is drafted: what costs no decision, then what a name tells, then the rest, until there are enough decisions."""
    left = 10**9 if whole else _MOST_DECISIONS - decisions(unit) - 1
    asked = set()
    for one in sorted(found, key=lambda one: (decisions(sections[one.name]) > 0, not one.told)):
        cost = decisions(sections[one.name])
        if "[columns." in sections[one.name] and cost <= left:
            asked.add(one.name)
            left -= cost
    return asked


def decisions(text: str) -> int:
    """Count what only a person can fill in."""
    return text.count('"TODO')


def _asked(seems: Guess) -> Guess:
    """What is drafted of a column that is asked for, whatever its name suggests."""
    return Guess("unknown") if seems.kind in UNDRAFTED else seems


def _later(left_out: Sequence[DraftedColumn], path: Path) -> str:
    if not left_out:
        return ""
    example = ",".join(shlex.quote(one.name) for one in left_out[:2])
    told = "".join(f"# [columns.{one.key}]{_header_of(one, '  # ')}\n" for one in left_out)
    return _LATER.format(file=_written(path), example=example) + told


def _header_of(one: DraftedColumn, before: str = "") -> str:
    return f"{before}header = {_quoted(one.header)}" if one.header != one.name else ""


def _delta(kinds: set[str]) -> str:
    """Give the δ that texts are paid with, from the beginning, since a budget with charges gains none; to be uncommented where none is known yet."""
    if "text" in kinds:
        return _DELTA
    return f"# {_DELTA}" if "unknown" in kinds else ""


def _joined_by(
    path: Path, guesses: Sequence[tuple[str, Guess]], beside: Sequence[Beside], on: str | None
) -> tuple[str | None, str]:
    """Return the column that tables are joined by, where it is said or told by its name, and what is written of the unit."""
    persons = [name for name, seems in guesses if seems.kind == "person"]
    if not beside:
        if on is not None:
            raise OwnerError("--on names the column that two files are joined by: add --with visits.csv")
        return None, _UNIT.format(
            persons=_quoted(f", or the column that identifies the person: {_or(persons)}")[1:-1]
        )
    held = {path.name: [name for name, _ in guesses]}
    held |= {one.path.name: [name for name, _ in one.fields] for one in beside}
    if on is not None and (without := [file for file, names in held.items() if on not in names]):
        raise OwnerError(f"{without[0]} has no column {on}: tables are joined by one that each of them has")
    common = [name for name in persons if all(name in names for names in held.values())]
    found = on or (common[0] if len(common) == 1 else None)
    written = _NOT_GUESSED if found is None else _quoted(found)
    return found, _JOINED.format(on=written, guessed="" if on or not found else _GUESSED, file=path.name)


def _tables(beside: Sequence[Beside], on: str | None, taken: set[str]) -> Iterator[str]:
    """Give the sections of other tables, and of what is prepared of them: a count, and a line to uncomment for each other column."""
    lines = []
    for one in beside:
        written = _NOT_GUESSED if on is None else _quoted(on)
        file = _written(one.path)
        yield _TABLE.format(file=file, table=one.table, file_quoted=_quoted(file), on=written)
        yield _written_as(one.path)
        found = [one for one in proposed(one.fields) if one.name != on]
        guesses = [(one.name, _prepared(one.seems)) for one in found]
        for column, (_, seems) in zip(found, guesses, strict=True):
            yield _section(replace(column, seems=seems), f"source.{one.table}.columns")
        made = one.table if one.table not in taken else f"{one.table}_count"
        lines.append(f'{made} = {{ count = "{one.table}", upper = {_MOST.format(table=one.table)} }}\n')
        dates = [name for name, seems in guesses if seems.kind in ("date", "datetime")]
        lines += [line for name, seems in guesses for line in _line(one.table, name, seems, dates, taken)]
    if beside:
        yield _PREPARE.format() + "".join(lines)


def _prepared(seems: Guess) -> Guess:
    """Return a guess of cells that something is taken of: of a text nothing is, of listed values something can be."""
    return Guess("category") if seems.kind == "text" else seems


def _line(table: str, name: str, seems: Guess, dates: Sequence[str], taken: set[str]) -> Iterator[str]:
    """Give a line of preparation that fits a column, to be uncommented."""
    key = name if _BARE.match(name) and name not in taken else _quoted(f"{table} {name}")
    of = _quoted(f"{table}.{name}")
    if seems.kind in ("integer", "number"):
        yield f"# {key} = {{ sum = {of}, upper = … }}\n"
    elif seems.kind in ("category", "boolean") and dates:
        yield f"# {key} = {{ latest = {of}, by = {_quoted(dates[0])} }}\n"
    elif seems.kind == "category":
        yield f'# {key} = {{ any = {of}, is = "…" }}\n'
    elif seems.kind == "boolean":
        yield f"# {key} = {{ any = {of} }}\n"


def fields_of(path: str | Path, table: str | None = None) -> list[tuple[str, str]]:
    """Read the names and storage types of a data file's columns; of a CSV the header line alone, which has no types.

    Raises
    ------
    OwnerError
        As :func:`draft`.
    """
    path = every(Path(path))
    if format_of(path) != "csv":
        from dpnb.trusted.owner.header import fields

        found = fields(path, table, titles(path, table) if format_of(path) == "excel" else ())
    else:
        found = [(name, "unknown") for name in header(path, titles(path))]
    _refuse_names([name for name, _ in found], path.name)
    return found


def named_from(path: Path) -> str:
    """Return the name of a dataset, made of its file's."""
    stem = _NOT_IN_NAMES.sub("_", stem_of(path)).strip("_")[:64] or "data"
    return stem if stem[0].isalpha() else f"data_{stem}"[:64]


def _written(path: Path) -> str:
    """What a declaration beside a file, or a folder of files, says of where it is."""
    return "/".join(path.parts[-2:]) if path.name == EVERY else path.name


def _written_as(path: Path) -> str:
    """Give the lines that say how a text file is written."""
    found = written_as(path) if format_of(path) == "csv" and path.is_file() else {}
    notes = {"encoding": "  # a guess: the header is not UTF-8. Correct it if a name below looks wrong"}
    return "".join(f"{key} = {_quoted(value)}{notes.get(key, '')}\n" for key, value in found.items())


def _or(names: Sequence[str]) -> str:
    return " or ".join(names[:3]) if names else "its name"


def _refuse_names(names: Sequence[str], file: str) -> None:
    if any(is_number(name) for name in names):
        raise OwnerError(
            f"the first line of {file} holds numbers: give the file a header line of column names"
        )
    named = [name for name in names if name]
    if len(set(named)) != len(named):
        raise OwnerError(f"{file} names a column twice: rename one in the header line")


def _section(one: DraftedColumn, columns: str = "columns") -> str:
    """Draft a column; one that identifies somebody, or is an index, is named in a comment alone."""
    name, seems = one.name, one.seems
    if seems.kind in UNDRAFTED:
        told = {"person": _PERSON, "identifier": _IDENTIFIES, "index": _INDEX}[seems.kind]
        return told.format(name=one.label, quoted=_quoted(name)) if columns == "columns" else ""
    weighs = columns == "columns" and seems.kind == "number" and name.lower().endswith(("weight", "weights"))
    renamed = f"{_why_renamed(one)}{_header_of(one)}\n" if one.header != name else ""
    return f"\n[{columns}.{one.key}]\n{renamed}label = {_quoted(one.label)}\n{_declared(seems)}{_WEIGHS if weighs else ''}"


def _with(book: Mapping[str, Entry], one: DraftedColumn, section: str) -> str:
    """A section with what the file's codebook says of its column."""
    return book[one.header].told(section) if one.header in book else section


def _why_renamed(one: DraftedColumn) -> str:
    if len(one.header) > LONGEST_NAME:
        why = f"its name in the file has {len(one.header)} characters, and a name here has {LONGEST_NAME} at most"
    else:
        why = "its name in the file cannot be used here, or differs from another one only in case"
    return f"# The name is a proposal: {why}.\n"


def _declared(seems: Guess) -> str:
    if seems.kind in ("integer", "number"):
        return f'type = "{seems.kind}"\n{_bound("lower", seems.lower)}{_bound("upper", seems.upper)}'
    if seems.kind == "text":
        return _TEXT
    if seems.kind in ("date", "datetime"):
        return f'type = "{seems.kind}"\n{_DATES if seems.kind == "date" else _MOMENTS}'
    if seems.kind == "category":
        return 'type = "category"\n' + _VALUES + _TRIM
    if seems.kind == "boolean":
        return 'type = "category"\n' + ("values = [false, true]\n" if seems.stored else _YES_OR_NO + _TRIM)
    return _UNKNOWN


def _bound(word: str, value: int | None) -> str:
    return f"{word} = {value}\n" if value is not None else f'{word} = "TODO"\n'


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)

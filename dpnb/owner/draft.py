"""Drafting an owner's schema from names and storage types, and from nothing else.

A bound, a level or a count that was read from the data would publish it: what no word of a name tells stays TODO, and
a schema with a TODO left in does not open. Dictionary, ENUM and categorical levels are values that somebody observed: never read.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from dpnb.owner.column_guess import Guess, guess
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.files.named_file import EVERY, NamedFile, every, format_of

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
_DATES = "bounds = \"TODO: the first and the last day, for example ['2020-01-01', '2024-12-31']\"\n"
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


@dataclass(frozen=True, slots=True)
class Beside:
    """Another table of the same people, of which columns are to be prepared."""

    path: Path
    fields: Fields

    @property
    def table(self) -> str:
        """Its name in the declaration."""
        return _NOT_IN_NAMES.sub("_", stem_of(self.path)).strip("_") or "other"


def draft(
    path: str | Path,
    fields: Fields | None = None,
    *,
    beside: Sequence[Beside] = (),
    on: str | None = None,
    source: str | None = None,
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
        fields = [(name, "unknown") for name in header(path)]
    _refuse_names([name for name, _ in fields], path.name)
    guesses = [(name, guess(name, stored)) for name, stored in fields]
    on, unit = _joined_by(path, guesses, beside, on)
    text = _HEAD.format(
        file=_written(path),
        name=_quoted(named_from(path)),
        title=_quoted(stem_of(path)),
        source=_quoted(source or _written(path)),
        unit=unit,
        delta=_delta({seems.kind for _, seems in guesses}),
    )
    text += "".join(_section(name, seems) for name, seems in guesses if not beside or name != on)
    return text + "".join(_tables(beside, on, {name for name, _ in guesses}))


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
        guesses = [(name, _prepared(guess(name, stored))) for name, stored in one.fields if name != on]
        for name, seems in guesses:
            yield _section(name, seems, f"source.{one.table}.columns")
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

        found = fields(path, table)
    else:
        found = [(name, "unknown") for name in header(path)]
    _refuse_names([name for name, _ in found], path.name)
    return found


def named_from(path: Path) -> str:
    """Return the name of a dataset, made of its file's."""
    stem = _NOT_IN_NAMES.sub("_", stem_of(path)).strip("_")[:64] or "data"
    return stem if stem[0].isalpha() else f"data_{stem}"[:64]


def stem_of(path: Path) -> str:
    """Return what a file is called, without its ending; a folder of files by its own name."""
    return path.parent.name if path.name == EVERY else path.stem


def _written(path: Path) -> str:
    """What a declaration beside a file, or a folder of files, says of where it is."""
    return "/".join(path.parts[-2:]) if path.name == EVERY else path.name


def _or(names: Sequence[str]) -> str:
    return " or ".join(names[:3]) if names else "its name"


def _refuse_names(names: Sequence[str], file: str) -> None:
    if any(_is_number(name) for name in names):
        raise OwnerError(
            f"the first line of {file} holds numbers: give the file a header line of column names"
        )
    for place, name in enumerate(names, start=1):
        if not name or not name.isprintable() or len(name) > 128:
            raise OwnerError(f"column {place} of {file} has no usable name: name it in the header line")
    if len(set(names)) != len(names):
        raise OwnerError(f"{file} names a column twice: rename one in the header line")


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _section(name: str, seems: Guess, columns: str = "columns") -> str:
    if seems.kind == "person":
        return _PERSON.format(name=name, quoted=_quoted(name)) if columns == "columns" else ""
    key = name if _BARE.match(name) else _quoted(name)
    weighs = columns == "columns" and seems.kind == "number" and name.lower().endswith(("weight", "weights"))
    return f"\n[{columns}.{key}]\nlabel = {_quoted(name)}\n{_declared(seems)}{_WEIGHS if weighs else ''}"


def _declared(seems: Guess) -> str:
    if seems.kind in ("integer", "number"):
        return f'type = "{seems.kind}"\n{_bound("lower", seems.lower)}{_bound("upper", seems.upper)}'
    if seems.kind == "text":
        return _TEXT
    if seems.kind in ("date", "datetime"):
        return f'type = "{seems.kind}"\n{_DATES}'
    if seems.kind == "category":
        return 'type = "category"\n' + _VALUES
    return 'type = "category"\nvalues = [false, true]\n' if seems.kind == "boolean" else _UNKNOWN


def _bound(word: str, value: int | None) -> str:
    return f"{word} = {value}\n" if value is not None else f'{word} = "TODO"\n'


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_LONGEST = 2**20


def header(path: Path) -> list[str]:
    """Read the column names of a CSV: its first line, and nothing below it.

    Raises
    ------
    OwnerError
        When there is no such line, or the file is no CSV.
    """
    if format_of(path) != "csv":
        raise OwnerError(f"{path.name} has no header line: pass its columns' names and types")
    try:
        with (
            NamedFile.open(path) as file,
            io.TextIOWrapper(file.reader(), encoding="utf-8-sig", newline="") as lines,
        ):
            first = lines.readline(_LONGEST)
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

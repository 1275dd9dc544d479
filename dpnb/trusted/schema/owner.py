"""An owner's own data: reading ``people.dpnb.toml`` into a schema and the place of the rows.

It reads declarations, never rows. It refuses what it does not know, what is still TODO and what would publish a
private size; each refusal names the line to write. The keys below are a contract with the people who typed them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from dpnb.trusted.errors import OwnerError
from dpnb.trusted.files.dialect import STRICT, Dialect
from dpnb.trusted.files.named_file import EVERY, STATISTICS, Format, every, format_of, read_toml, stem_of
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.records import Section, known, needed, one_of, within
from dpnb.trusted.schema import Column, Mode, Schema
from dpnb.trusted.schema.cell_rules import KEYS
from dpnb.trusted.schema.column import WRITTEN
from dpnb.trusted.schema.lake_table import LakeTable, is_lake
from dpnb.trusted.schema.prepare_section import read_lines
from dpnb.trusted.schema.server_table import ServerTable, is_server
from dpnb.trusted.schema.unit_summary import UnitSummary

SUFFIX = ".dpnb.toml"

_SECTIONS, _OPTIONAL = ("dataset", "budget", "columns"), ("source", "prepare")
_TABLE = ("file", "on", "columns")
_TEXTS = ("title", "description", "source_note", "licence", "citation")
_SIZES = ("rows", "units", "max_rows_per_unit")
_NAMES = ("name", "source", "table", "adjacency", "unit", "unit_type", "mode", "public", "pool", "bounds")
_DATASET = (*_NAMES, *_SIZES, *_TEXTS)
_BUDGET = ("epsilon", "rho", "delta")
_WORDS = WRITTEN | {
    **dict.fromkeys(("integer", "number"), ("lower", "upper", "step", "typical", "weights_fixed")),
    **dict.fromkeys(("date", "datetime"), ("bounds", "step")),
}
_COLUMN = {
    kind: ("type", "label", "missing", *words, *KEYS[kind], "header") for kind, words in _WORDS.items()
}
_DATES = 'bounds = ["2020-01-01", "2024-12-31"], two dates known without looking at the data'
_BOUNDS = {word: f"{word} = a bound known without looking at the data" for word in ("lower", "upper")}
_NEEDED = {
    **dict.fromkeys(("integer", "number"), _BOUNDS),
    "category": {"values": "values = [0, 1], every value known without looking at the data"},
    **{kind: {"bounds": _DATES} for kind in ("date", "datetime")},
    "text": {"length": "length = 32, the most characters of a label"},
}
"""What a column of each type must say, and what to write where it does not."""
_KINDS = {str: "text", bool: "true or false", int: "a whole number"}


@dataclass(frozen=True, slots=True)
class OwnedDataset:
    """An owner's declaration: the public schema, and where the rows are.

    Attributes
    ----------
    schema : Schema
        What everybody may know.
    source : Path or None
        The file that holds the rows; None when they are handed over as a frame.
    table : str or None
        The table in a DuckDB file; None means its only one.
    toml : Path or None
        The file that this was read from.
    dialect : Dialect
        How the rows of a CSV file are written (``[source]``).
    others : dict of str to (Path, Dialect)
        The files of other tables, and how they are written (``[source.NAME]``).
    server : ServerTable, LakeTable or None
        The table in a database server, or of Spark, that holds the rows, instead of a file.

    Raises
    ------
    OwnerError
        When a table's header calls the unit's column otherwise: the terms pin the unit by its name alone, so the same rows
        with another header would be charged for another unit, and nobody would see it.
    """

    schema: Schema
    source: Path | None = None
    table: str | None = None
    toml: Path | None = None
    dialect: Dialect = STRICT
    others: Mapping[str, tuple[Path, Dialect]] = field(default_factory=dict)
    server: ServerTable | LakeTable | None = None

    def __post_init__(self) -> None:
        for dialect in (self.dialect, *(written for _, written in self.others.values())):
            header = dict(dialect.headers).get(unit := self.schema.unit_column or "")
            if header not in (None, unit):
                raise OwnerError(
                    f'{self.schema.name}: {unit} names the unit, so header = "{header}" does not go with it: rename the column '
                    f'in the file, or write unit = "{header}"'
                )

    @property
    def format(self) -> Format | None:
        """How the source is stored, by its suffix."""
        return None if self.source is None else format_of(self.source)


def beside(data: str | Path) -> Path:
    """Find the declaration beside a data file: ``people.dpnb.toml`` for ``people.csv``.

    Raises
    ------
    OwnerError
        When there is none; the message names the command that drafts it.
    """
    path = every(Path(data))
    whole = path.parent if path.name == EVERY else path
    if not whole.name:
        raise OwnerError(
            f"{whole} is a folder without a name of its own. Name it from outside, or name a CSV or Parquet file."
        )
    found = declaration_of(path)
    if not found.is_file():
        if not whole.exists():
            raise OwnerError(f"There is no file {whole.name}.")
        raise OwnerError(
            f"{whole.name} has no schema beside it ({found.name}). Draft one: dpnb init {whole.name}"
        )
    return found


def declaration_of(data: Path) -> Path:
    """Name the declaration of a data file: ``people.dpnb.toml`` for ``people.csv.gz``; of a folder of files it is beside the folder."""
    return (data.parent if data.name == EVERY else data).with_name(stem_of(data) + SUFFIX)


def load(where: str | Path | Section | Schema, *, source: str | Path | None = None) -> OwnedDataset:
    """Read an owner's declaration.

    Parameters
    ----------
    where : path, mapping or Schema
        ``people.dpnb.toml``, the same content as nested dictionaries, or a schema made in Python.
    source : path, optional
        The data file, when it is not the one that the declaration names.

    Returns
    -------
    OwnedDataset
        The schema and the place of the rows. Whether the file exists and fits is checked when the dataset is opened.

    Raises
    ------
    OwnerError
        For anything that is unknown, missing, mistyped, contradictory or still TODO.

    Examples
    --------
    >>> owned = load(
    ...     {
    ...         "dataset": {"name": "people", "source": "people.csv", "adjacency": "add-remove"},
    ...         "budget": {"epsilon": 4},
    ...         "columns": {"age": {"type": "integer", "lower": 0, "upper": 100}},
    ...     }
    ... )
    >>> owned.schema["age"].describe(), owned.format
    ('integer 0 to 100', 'csv')
    """
    if isinstance(where, Schema):
        return OwnedDataset(where, _place(source, None))
    if isinstance(where, Mapping):
        return _read(where, "the schema", None, source)
    path = Path(where)
    if not os.path.lexists(path):
        raise OwnerError(
            f"there is no schema {path}. Draft one: dpnb init {path.name.removesuffix(SUFFIX).removesuffix('.toml')}.csv"
        )
    return _read(read_toml(path), path.name, path, source)


def _read(content: Section, file: str, path: Path | None, source: str | Path | None) -> OwnedDataset:
    _refuse_todo(content, file)
    known(content, (*_SECTIONS, *_OPTIONAL), file, "section")
    sections = {name: _section(content, name, file) for name in _SECTIONS}
    where = f"{file}, [dataset]"
    facts = sections["dataset"]
    known(facts, _DATASET, where)
    _check_types(facts, where)
    source_section = _section(content, "source", file) if "source" in content else {}
    tables = {name: table for name, table in source_section.items() if isinstance(table, Mapping)}
    with within(where):
        schema = _schema(sections, facts, tables, content.get("prepare"), file)
    folder = None if path is None else path.parent
    written = {key: value for key, value in source_section.items() if key not in tables}
    place = _place(source, None)
    server: ServerTable | LakeTable | None = None
    if place is None and is_server(facts.get("source")):
        server = ServerTable.of(facts["source"], facts.get("table"), written, file)
    elif place is None and is_lake(facts.get("source")):
        server = LakeTable.of(facts["source"], facts.get("table"), written, file)
    elif place is None:
        place = _place(facts.get("source"), folder)
    others = {
        name: _other(table, folder, f"{file}, [source.{name}]")
        for name, table in tables.items()
        # a frame's other tables are handed over with it
        if place or server or "file" in table
    }
    dialect = STRICT if server else _dialect(written, place, f"{file}, [source]")
    dialect = replace(dialect, headers=_headers(sections["columns"], place, file))
    return OwnedDataset(schema, place, facts.get("table"), path, dialect, others, server)


def _dialect(written: Section, place: Path | None, where: str) -> Dialect:
    if not written:
        return STRICT
    kept = {"csv": set(written), "excel": {"skip"}, **{kind: {"encoding"} for kind in STATISTICS}}
    if place is None or set(written) - kept.get(format_of(place), set()):
        raise OwnerError(f"{where} says how a text file is written: remove it, or name a .csv or .txt file")
    return Dialect.from_toml(written, where)


def _headers(columns: Section, place: Path | None, where: str) -> tuple[tuple[str, str], ...]:
    """The declared names of columns that a file's header calls otherwise, each with that name."""
    found = {name: facts["header"] for name, facts in columns.items() if "header" in facts}
    if found and place is None:
        raise OwnerError(f"{where}: header goes with files: rename the column where the rows are")
    return tuple(found.items())


def _other(table: Section, folder: Path | None, where: str) -> tuple[Path, Dialect]:
    """Where another table's rows are, and how they are written."""
    file = needed(table, "file", where, 'file = "visits.csv"')
    place = _place(file, folder) if isinstance(file, str | Path) else None
    if place is None or format_of(place) == "duckdb":
        raise OwnerError(f'{where}: file must be a CSV or Parquet file: write file = "visits.csv"')
    dialect = _dialect({key: value for key, value in table.items() if key not in _TABLE}, place, where)
    return place, replace(dialect, headers=_headers(table.get("columns", {}), place, where))


def _cells_of(table: Section, unit: str, where: str) -> dict[str, Column]:
    """The columns of another table's cells; a table is joined by the unit alone.

    By another column a row could meet the rows of many people, and one person's row would change what is asked of others.
    """
    on = needed(table, "on", where, f'on = "{unit}"')
    if unit == "row" or on != unit:
        named = 'unit = "person" under [dataset], and on = "person"' if unit == "row" else f'on = "{unit}"'
        raise OwnerError(
            f"{where}: on = {on!r}: tables are joined only by the unit, because a row that is joined in another way "
            f"could match many people's rows: write {named}"
        )
    columns = needed(
        table, "columns", where, f"[{where.partition('[')[2].rstrip(']')}.columns.NAME] for each column"
    )
    return {column.name: column for column in _columns(columns, where.partition(",")[0])}


def _schema(
    sections: Mapping[str, Section], facts: Section, tables: Mapping[str, Section], prepare: object, file: str
) -> Schema:
    where = f"{file}, [dataset]"
    one_of("mode", mode := facts.get("mode", "guard-rail"), [str(mode) for mode in Mode])
    columns: tuple[Column, ...] = tuple(_columns(sections["columns"], file))
    lines: tuple[UnitSummary, ...] = ()
    if prepare is not None or tables:
        columns, lines = _prepared(columns, facts.get("unit", "row"), tables, prepare, file)
    name = needed(facts, "name", where, 'name = "people"')
    return Schema(
        name=name,
        title=facts.get("title", name),
        columns=columns,
        unit=_unit(facts, sections["columns"], where, one_row=any(not line.source for line in lines)),
        budget=_budget(sections["budget"], f"{file}, [budget]"),
        mode=Mode(mode),
        public=facts.get("public", False),
        pool=facts.get("pool"),
        bounds=facts.get("bounds", "public"),
        prepared=lines,
        **{word: facts[word] for word in _TEXTS if word in facts and word != "title"},
    )


def _prepared(
    columns: tuple[Column, ...], unit: str, tables: Mapping[str, Section], prepare: object, file: str
) -> tuple[tuple[Column, ...], tuple[UnitSummary, ...]]:
    """The columns that can be asked, where some are prepared: of a dataset's own rows all, else they stand beside its own."""
    cells = {name: _cells_of(table, unit, f"{file}, [source.{name}]") for name, table in tables.items()}
    own = {column.name: column for column in columns}
    lines, made = read_lines(prepare or {}, {"": own, **cells}, f"{file}, [prepare]")
    for name in set(tables) - {line.source for line in lines}:
        raise OwnerError(
            f'{file}: no line of [prepare] takes anything of [source.{name}]: write {name} = {{ count = "{name}", upper = 20 }}'
        )
    return (made if any(not line.source for line in lines) else (*columns, *made)), lines


# Sections ----------------------------------------------------------------------------------------------------


def _unit(facts: Section, columns: Section, where: str, *, one_row: bool) -> PrivacyUnit:
    adjacency = needed(
        facts,
        "adjacency",
        where,
        'adjacency = "change-one" (the number of people is public) or "add-remove" (it is private)',
    )
    unit = facts.get("unit", "row")
    if unit != "row" and unit.casefold() in ("row", "rows"):
        raise OwnerError(f'{where}: unit = "{unit}": did you mean unit = "row"?')
    most, rows, units = facts.get("max_rows_per_unit", 1), facts.get("rows"), facts.get("units")
    # a column that names a unit and can be asked too has a section
    declared = "" if unit == "row" else columns.get(unit, {}).get("type")
    kind = facts.get("unit_type", declared if declared in ("integer", "text") else None)
    try:
        made = PrivacyUnit(adjacency, unit, most, rows, units, kind)
    except OwnerError as fault:
        raise OwnerError(f"{where}: {fault}") from None
    if unit != "row" and not one_row and "max_rows_per_unit" not in facts:
        raise OwnerError(
            f'{where}: unit = "{unit}" needs max_rows_per_unit = 3 '
            "(the most rows of one unit that are used; the rest are left out)"
        )
    return made


def _budget(facts: Section, where: str) -> Budget:
    known(facts, _BUDGET, where)
    with within(where):
        return Budget.from_toml(facts)


def _columns(facts: Section, file: str) -> Iterator[Column]:
    if not facts:
        raise OwnerError(f"{file}: no [columns.NAME] section: declare at least one column")
    for name, column in facts.items():
        where = f"{file}, [columns.{name}]"
        if not isinstance(column, Mapping):
            raise OwnerError(f"{where}: declare a column as a section of its own, with type = …")
        with within(where, name):
            made = _column(name, column, where)
        yield made


def _column(name: str, facts: Section, where: str) -> Column:
    kind = needed(facts, "type", where, 'type = "integer", "number", "category", "text" or "date"')
    one_of("type", kind, tuple(_COLUMN))
    _fitting(facts, kind, where)
    for word, fix in _NEEDED[kind].items():
        if not (word == "values" and "true" in facts):
            needed(facts, word, where, fix)
    if not isinstance(facts.get("header", ""), str):
        raise OwnerError(f'{where}: header is a text: write header = "the column\'s name in the file"')
    given = {word: value for word, value in facts.items() if word not in ("type", "header")}
    if "bounds" in given:
        given["lower"], given["upper"] = _dates(given.pop("bounds"), where)
    if not isinstance(given.get("characters", ""), list | tuple | str):
        raise OwnerError(f'{where}: characters is a list: write characters = ["letters", "digits", " -"]')
    return Column.declared(name, kind, **given)


def _dates(bounds: object, where: str) -> tuple[Any, Any]:
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        raise OwnerError(f"{where}: bounds must be two dates: write {_DATES}")
    return bounds[0], bounds[1]


# Strictness --------------------------------------------------------------------------------------------------


def _refuse_todo(content: Section, file: str) -> None:
    todo = list(_todos(content, ""))
    if todo:
        listed = ", ".join(todo[:4]) + (", …" if len(todo) > 4 else "")
        raise OwnerError(
            f"{file} still holds TODO at {listed}. Write what is known without looking at the data"
        )


def _todos(content: object, path: str) -> Iterator[str]:
    if isinstance(content, str) and content.lstrip().startswith("TODO"):
        yield path
    elif isinstance(content, Mapping):
        for key, value in content.items():
            yield from _todos(value, f"{path}.{key}" if path else str(key))
    elif isinstance(content, list | tuple):
        for value in content:
            yield from _todos(value, path)


def _fitting(facts: Section, kind: str, where: str) -> None:
    """Refuse keys that another type of column has, and then those that none has."""
    everywhere = {word for words in _COLUMN.values() for word in words}
    for key in facts:
        if key in everywhere and key not in _COLUMN[kind]:
            raise OwnerError(
                f'{where}: {key} does not go with type = "{kind}": remove it, or change the type'
            )
    known(facts, _COLUMN[kind], where)


def _section(content: Section, name: str, file: str) -> Section:
    section = content.get(name)
    if section is None:
        raise OwnerError(f"{file}: the section [{name if name != 'columns' else 'columns.NAME'}] is missing")
    if not isinstance(section, Mapping):
        raise OwnerError(f"{file}: {name} must be a section: write [{name}]")
    return section


def _check_types(facts: Section, where: str) -> None:
    for key, value in facts.items():
        wanted = int if key in _SIZES else bool if key == "public" else str
        fits = isinstance(value, wanted) and not (wanted is int and isinstance(value, bool))
        if not fits and not (key == "source" and isinstance(value, Path)):
            raise OwnerError(f"{where}: {key} must be {_KINDS[wanted]}, not {value!r}")


def _place(source: object, folder: Path | None) -> Path | None:
    if source is None:
        return None
    if "://" in str(source):
        raise OwnerError(
            "source must be a file on this machine (download it first), a table of a PostgreSQL server or what Spark reads: "
            'write source = "postgresql://host/database?table=visits" or "spark:s3a://lake/visits"'
        )
    place = every((folder or Path()) / Path(cast("str | Path", source)).expanduser())
    format_of(place)
    return place

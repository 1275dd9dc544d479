"""The prepared copy: an owner's table as integers on declared grids, written once, in a file that only its owner reads.

The SQL here is :mod:`dpnb.datasets.preparation` over again and equals it bit for bit: a cell is read by itself (its
number or its canonical text, by the column's public type), then ``floor(t + ½)`` in binary64 and the clamp, or the place
in the declared list. A unit's rows are bounded once, before any question. The copy holds codes and, where units have
several rows, each row's rank among those of its unit: nothing that tells one row from another by anything else, so that no
question can cut rows into parts by it. A prepared copy is never changed.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from dpnb.trusted.aggregate.arrays import Use, declared_otherwise, inexact, unreadable, written_otherwise
from dpnb.trusted.aggregate.cap import RANK
from dpnb.trusted.aggregate.preparation import declared_texts, grid_constants
from dpnb.trusted.curator.content import WrongSize
from dpnb.trusted.curator.engines.cell_sql import (
    canonical_sql,
    has_moments,
    has_point,
    is_integer,
    label_sql,
    literal,
    moment_sql,
    number_sql,
    readable,
    unit_sql,
    word_sql,
)
from dpnb.trusted.curator.engines.list_sql import (
    MOST_ALONE,
    ListOfColumns,
    alike,
    cells_of,
    constants,
    selected,
)
from dpnb.trusted.curator.engines.per_unit_sql import filled, grouped, joined
from dpnb.trusted.curator.engines.raw_table import RawTable, open_source, place_of, quoted
from dpnb.trusted.curator.engines.ruled_sql import ruled
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.files.dialect import STRICT, Dialect
from dpnb.trusted.files.named_file import NamedFile, NamedFiles, Tables, held
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.schema.cell import QUANTISER_VERSION, number_of


def prepare(
    source: Any,
    schema: Schema,
    into: str | Path,
    *,
    table: str | None = None,
    key: bytes = b"",
    dialect: Dialect = STRICT,
) -> Path:
    """Write the prepared copy of a source.

    Parameters
    ----------
    source : path, mapping of arrays, or an Arrow, pandas or polars table
    schema : Schema
    into : path
        The file to write (replaced when it exists), with mode 0600.
    table : str, optional
        The table's name in a DuckDB file.
    dialect : Dialect
        How a CSV file given by its path is written; an open file knows its own.
    key : bytes
        The curator's secret for this dataset, by which a unit's rows are ranked.

    Returns
    -------
    Path
        The written file.

    Raises
    ------
    OwnerError
        When the source does not hold what the schema declares. Nothing is written then.
    WrongSize
        When it has another number of rows or units than the schema declares.
    """
    _refuse_names(schema)
    into = Path(into)
    into.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(prefix=".preparing-", dir=into.parent) as workshop:
        draft = Path(workshop) / "copy.duckdb"
        config: dict[str, Any] = {
            "temp_directory": str(Path(workshop) / "spill"),
            "pandas_analyze_sample": "0",
            "force_compression": "uncompressed",  # codes are narrow: packed they take longer to write, and each time they are read
        }
        with held(source, dialect) as named, duckdb.connect(str(draft), config=config) as connection:
            tables = open_tables(connection, named, schema, table, Path(workshop))
            _write(connection, tables, schema, key, named)
            connection.execute(f"CREATE TABLE about AS SELECT {QUANTISER_VERSION:d} AS quantiser")
            _check_sizes(connection, schema)
        draft.chmod(0o600)
        draft.replace(into)
    return into


def open_tables(
    connection: duckdb.DuckDBPyConnection, source: Any, schema: Schema, table: str | None, workshop: Path
) -> dict[str, RawTable]:
    """Open a dataset's own rows and the tables of which columns are prepared, by name, and nothing else from then on."""
    own, others = (source.own, source.others) if isinstance(source, Tables) else (source, {})
    if set(others) != set(schema.sources):
        raise OwnerError(
            f"{schema.name} is prepared of the tables {', '.join(schema.sources)}: open its declaration, "
            "in which [source.NAME] says file = …, or pass frames with tables="
        )
    tables = {"": open_source(connection, own, table, workshop=workshop, uses=uses_of(schema.rows_of()))}
    for name, file in others.items():
        folder = workshop / f"table-{len(tables)}"
        folder.mkdir(mode=0o700)
        uses = uses_of(schema.rows_of(name))
        tables[name] = open_source(connection, file, workshop=folder, uses=uses, view=folder.name)
    shut(connection, [own, *others.values()], tables.values())
    return tables


@contextlib.contextmanager
def _whole(source: Any) -> Iterator[None]:
    """Tell the owner of a row that cannot be read, without quoting it."""
    try:
        yield
    except duckdb.Error as error:
        name = f'"{source.path.name}"' if isinstance(source, NamedFile) else "A table"
        raise OwnerError(f"{name} cannot be read to its end: a row is damaged or not UTF-8 text.") from error


def uses_of(schema: Schema) -> dict[str, Use]:
    """The columns that are read, and for what: what names a unit must be exact, whatever else it is."""
    uses: dict[str, Use] = {
        c.name: "comma" if c.cells.of_texts else "grid" if c.type in ("integer", "number") else "category"
        for c in schema.columns
    }
    return uses if schema.unit_column is None else uses | {schema.unit_column: "unit"}


def answered(
    source: NamedFile | NamedFiles,
    schema: Schema,
    table: str | None,
    questions: Callable[[Mapping[str, RawTable]], Iterable[str]],
) -> list[list[tuple[Any, ...]]]:
    """Answer questions about an owner's tables, each in rows: for the owner's eyes, and not private.

    Raises
    ------
    OwnerError
        When the file does not hold the declared columns, or cannot be read to its end.
    """
    with tempfile.TemporaryDirectory() as workshop, duckdb.connect() as connection:
        connection.execute(f"SET temp_directory = {literal(workshop)}")
        tables = open_tables(connection, source, schema, table, Path(workshop))
        with _whole(source):
            return [connection.execute(query).fetchall() for query in questions(tables)]


def shut(connection: duckdb.DuckDBPyConnection, sources: Iterable[Any], tables: Iterable[RawTable]) -> None:
    """Let the connection reach its own files and the owner's: nothing else, and no extension."""
    for name in ("autoinstall_known_extensions", "autoload_known_extensions"):
        connection.execute(f"SET {name} = false")
    files = [source for source in sources if isinstance(source, NamedFile)]
    if files:
        allowed = {
            *(place_of(part) for file in files for part in file.parts),
            *(place for raw in tables for place in raw.files),
        }
        connection.execute(f"SET allowed_paths = [{', '.join(map(literal, allowed))}]")
        connection.execute("SET enable_external_access = false")


def smallest_type(size: int) -> str:
    """The narrowest signed SQL type for codes 0 to ``size - 1``."""
    for name, top in (("TINYINT", 2**7), ("SMALLINT", 2**15), ("INTEGER", 2**31)):
        if size <= top:
            return name
    return "BIGINT"


def _refuse_names(schema: Schema) -> None:
    for one in (schema, *map(schema.rows_of, ("", *schema.sources))):
        seen: dict[str, str] = {}
        for column in one.columns:
            other = seen.setdefault(column.name.lower(), column.name)
            if other != column.name:
                raise OwnerError(
                    f'"{other}" and "{column.name}" differ only in case: rename one of them in the data.'
                )


def _write(
    connection: duckdb.DuckDBPyConnection,
    tables: Mapping[str, RawTable],
    schema: Schema,
    key: bytes,
    source: Any,
) -> None:
    _declare_categories(connection, schema)
    with _whole(source):
        query = prepared_sql(tables, schema, key, alone=_alone(connection, tables[""], schema))
        connection.execute(f"CREATE TABLE prepared AS {query}")
    _drop_categories(connection, schema)
    held = {part: column.size for part, column in schema.parts.items()} | _ranks(schema)
    sizes = {"name": np.array(list(held), dtype=object), "size": np.array(list(held.values()))}
    connection.register("declared_sizes", sizes)
    connection.execute("CREATE TABLE sizes AS SELECT CAST(name AS VARCHAR) AS name, size FROM declared_sizes")
    connection.unregister("declared_sizes")


def _alone(connection: duckdb.DuckDBPyConnection, raw: RawTable, schema: Schema) -> bool:
    """Whether no unit has two rows, where it may keep only one: then none is to be chosen."""
    if schema.unit_column is None or schema.prepares_own or schema.unit.max_rows > 1:
        return False
    unit = _unit_of({"": raw}, schema)(raw)
    return not _one(connection, f"SELECT count({unit}) - count(DISTINCT {unit}) FROM {raw.sql}")


def prepared_sql(tables: Mapping[str, RawTable], schema: Schema, key: bytes, *, alone: bool = False) -> str:
    """The SELECT that turns raw relations, the dataset's own under no name, into codes and ranks.

    Each unit is ``alone`` in its row, where that is known. Rows without units keep their order; of others it means nothing.
    """
    types, unit = _types_of_categories(schema), _unit_of(tables, schema)
    if schema.unit_column is None:
        return _coded_sql(tables[""], schema, types)
    coded = {name: _coded_sql(raw, schema.rows_of(name), types, unit) for name, raw in tables.items()}
    rows = _one_relation(coded, schema) if schema.prepared else coded[""]
    kept = rows if schema.prepares_own else _bounded(rows, schema, key, alone=alone)
    return f"SELECT {', '.join(quoted(name) for name in (*schema.parts, *_ranks(schema)))} FROM ({kept})"


def _one_relation(coded: Mapping[str, str], schema: Schema) -> str:
    """The SELECT of rows with what is prepared for their units: of their own rows, of other tables, or of both."""
    lines = {source: [line for line in schema.prepared if line.source == source] for source in coded}
    tables = {
        source: grouped(rows, lines[source], schema) if lines[source] else rows
        for source, rows in coded.items()
    }
    made = {line.name for line in schema.prepared}
    cells = ", ".join(
        filled(column, smallest_type(column.size)) if column.name in made else quoted(part)
        for part, column in schema.parts.items()
    )
    own = tables.pop("")
    return (
        f'SELECT {cells}, "##unit" FROM ({joined(own, [(sql, lines[name]) for name, sql in tables.items()])})'
    )


def _coded_sql(
    raw: RawTable,
    schema: Schema,
    types: Mapping[tuple[str, ...], str],
    unit: Callable[[RawTable], str] | None = None,
) -> str:
    """The SELECT of a raw relation's rows as codes, beside whose each row is."""
    relation, found, whose = ruled(
        raw.sql,
        [_raw_column(raw, column) for column in schema.columns],
        schema.columns,
        unit(raw) if unit else None,
    )
    early = types if len(schema.columns) <= MOST_ALONE else {}
    lists = alike(
        found,
        partial(_read, schema.columns, early),
        [smallest_type(column.size) for column in schema.columns],
    )
    placed = ", ".join(_placed(schema, one) for one in lists)
    coded = ", ".join(
        _coded(column, cell, None if early else types.get(_texts(column)))
        for column, cell in zip(schema.columns, cells_of(lists), strict=True)
    )
    beside = ', "##unit"' if unit else ""
    units = f', {whose} AS "##unit"' if unit else ""
    return (
        f"SELECT {coded}{beside} FROM (SELECT {placed}{beside} FROM "
        f"(SELECT {selected(lists)}{units} FROM {relation}))"
    )


def _unit_of(tables: Mapping[str, RawTable], schema: Schema) -> Callable[[RawTable], str]:
    """What says whose a row is, in every table alike; the integer itself where each holds integers, which are grouped far faster.

    A column whose type names nobody, or may have merged units already, is refused: a type is no row.
    """
    if schema.unit_column is None:
        return lambda _: "NULL"
    name = schema.unit_column
    kinds = {raw.column(name)[1] for raw in tables.values()}
    for kind in kinds:
        _refuse_unreadable(name, kind)
        if kind == "FLOAT":
            raise inexact(name, "floats of 32 bits")
    if all(map(is_integer, kinds)):
        wide = "HUGEINT" if "UBIGINT" in kinds else "BIGINT"
        return lambda raw: f"CAST({raw.column(name)[0]} AS {wide})"
    return lambda raw: unit_sql(*raw.column(name), schema.unit.type)


def _ranks(schema: Schema) -> dict[str, int]:
    """How many ranks the rows of a unit have, where they have several."""
    return {RANK: schema.unit.max_rows} if schema.unit.max_rows > 1 else {}


def _bounded(rows: str, schema: Schema, key: bytes, *, alone: bool) -> str:
    """Keep each unit's first rows by the keyed hash; rows without a unit are dropped."""
    if alone:
        return f'SELECT * FROM ({rows}) WHERE "##unit" IS NOT NULL'
    cells = ", ".join(f"coalesce(CAST({quoted(name)} AS VARCHAR), '~')" for name in sorted(schema.parts))
    told = f'SELECT *, concat_ws(\',\', {cells}) AS "##row" FROM ({rows}) WHERE "##unit" IS NOT NULL'
    numbered = f'SELECT *, row_number() OVER (PARTITION BY "##unit", "##row") AS "##duplicate" FROM ({told})'
    hashed = (
        f'SELECT *, md5(\'{key.hex()}|\' || "##unit" || \'|\' || "##row" || \'|\' || "##duplicate") AS "##hash" '
        f"FROM ({numbered})"
    )
    return (
        f'SELECT *, row_number() OVER (PARTITION BY "##unit" ORDER BY "##hash") - 1 AS {quoted(RANK)} FROM ({hashed}) '
        f"QUALIFY {quoted(RANK)} < {schema.unit.max_rows}"
    )


def _refuse_unreadable(name: str, kind: str) -> None:
    if not readable(kind):
        raise unreadable(name, kind)


def _raw_column(raw: RawTable, column: Column) -> tuple[str, str]:
    """A declared column's SQL name and type, if it can be read as what it is declared."""
    sql, kind = raw.column(column.name)
    _refuse_unreadable(column.name, kind)
    if column.type in ("integer", "number") and has_moments(kind):
        raise declared_otherwise(column.name, column.type, kind, "date")
    if has_point(kind) and column.cells.of_texts:
        raise written_otherwise(column.name, kind)
    return sql, kind


def _read(
    columns: Sequence[Column], types: Mapping[tuple[str, ...], str], place: int, sql: str, kind: str
) -> str:
    """A cell as what its column is declared: a label, a canonical text, or a binary64; of a type that is given a text's code."""
    column = columns[place]
    if column.text is not None:
        return label_sql(sql, kind, column.text)
    if column.type == "category":
        text, category = canonical_sql(sql, kind), types.get(_texts(column))
        if category is None:
            return text
        if kind != "VARCHAR":
            return _code_of(column, text, category)
        as_it_stands = _code_of(column, sql, category)
        if all(number_of(value) is None for value in _texts(column)):
            return as_it_stands  # a text that is no number has one way to be written: its own
        return f"coalesce({as_it_stands}, {_code_of(column, text, category)})"
    return number_sql(sql, kind) if column.calendar is None else moment_sql(sql, kind, column.calendar)


def _placed(schema: Schema, one: ListOfColumns) -> str:
    """The code of each cell of a grid, cast where it is within and clamped where it is not; a text stays one, as its list is its column's own."""
    if _holds_texts(schema, one):
        return one.name
    lower, step, steps = _grids(schema, one)
    kind = smallest_type(schema.columns[one.places[0]].size)

    def code(x: str, n: str) -> str:
        place, last = f"floor(({x} - {lower}[{n}]) / {step}[{n}] + {double(0.5)})", f"{steps}[{n}]"
        return (
            f"CASE WHEN {place} BETWEEN {double(0.0)} AND {last} THEN CAST({place} AS {kind}) "
            f"WHEN {place} < {double(0.0)} THEN 0::{kind} WHEN NOT isnan({place}) THEN CAST({last} AS {kind}) END"
        )

    return f"{one.mapped(code)} AS {one.name}"


def _coded(column: Column, cell: str, category: str | None) -> str:
    """A column's code in the narrowest type, missing ones filled in as declared; of a text its whole numbers."""
    if column.text is not None:
        words = (word_sql(cell, place, column.text) for place in range(column.text.words))
        filled = (
            word if code is None else f"coalesce({word}, {code})"
            for word, code in zip(words, column.missing_words, strict=True)
        )
        return ", ".join(f"{word} AS {quoted(part)}" for word, part in zip(filled, column.parts, strict=True))
    if column.type != "category" and column.missing_code is None:
        return f"{cell} AS {quoted(column.name)}"
    code = cell if category is None else _code_of(column, cell, category)
    known = code if column.missing_code is None else f"coalesce({code}, {column.missing_code})"
    return f"CAST({known} AS {smallest_type(column.size)}) AS {quoted(column.name)}"


def _code_of(column: Column, text: str, category: str) -> str:
    """The code of a text of a declared list, which holds canonical texts: such a text is read as it stands."""
    place, codes = f"enum_code(TRY_CAST({text} AS {category}))", list(declared_texts(column).values())
    return place if codes == list(range(len(codes))) else f"list_extract({codes}, {place} + 1)"


def _holds_texts(schema: Schema, one: ListOfColumns) -> bool:
    return schema.columns[one.places[0]].type in ("category", "text")


def _grids(schema: Schema, one: ListOfColumns) -> tuple[str, str, str]:
    """The lower ends, steps and numbers of steps of the columns of one list."""
    lower, step, steps = zip(*(grid_constants(schema.columns[place]) for place in one.places), strict=True)
    return constants(lower), constants(step), constants(map(float, steps))


def _declare_categories(connection: duckdb.DuckDBPyConnection, schema: Schema) -> None:
    for values, name in _types_of_categories(schema).items():
        texts = np.empty(len(values), dtype=object)
        texts[:] = values
        connection.register("declared_values", {"value": texts, "place": np.arange(len(values))})
        connection.execute(f"CREATE TYPE {name} AS ENUM (SELECT value FROM declared_values ORDER BY place)")
        connection.unregister("declared_values")


def _drop_categories(connection: duckdb.DuckDBPyConnection, schema: Schema) -> None:
    for name in _types_of_categories(schema).values():
        connection.execute(f"DROP TYPE {name}")


def _types_of_categories(schema: Schema) -> dict[tuple[str, ...], str]:
    """The name of the type of each list of declared texts: many columns of a survey share one."""
    columns = (column for source in ("", *schema.sources) for column in schema.rows_of(source).columns)
    declared = dict.fromkeys(_texts(column) for column in columns if column.type == "category")
    return {values: f"declared_{number}" for number, values in enumerate(declared)}


def _texts(column: Column) -> tuple[str, ...]:
    return tuple(declared_texts(column)) if column.type == "category" else ()


def double(value: float) -> str:
    """A binary64 constant in SQL, exactly."""
    return f"CAST('{value!r}' AS DOUBLE)"


def _check_sizes(connection: duckdb.DuckDBPyConnection, schema: Schema) -> None:
    """Refuse a file that does not have the declared public size, without saying which size it has."""
    sizes = {"rows": (schema.unit.rows, "count(*)"), "units": (schema.unit.units, _one_each(schema))}
    for word, (declared, count) in sizes.items():
        if declared is not None and _one(connection, f"SELECT {count} FROM prepared") != declared:
            raise WrongSize(
                f"The schema declares {word} = {declared}, and the data have another number of {word}: correct one of "
                f'them, or write adjacency = "add-remove", under which the number of {word} is private. '
                "After five wrong sizes the dataset is frozen until its owner loosens it."
            )


def _one_each(schema: Schema) -> str:
    """Count units: each has one row, or one that is its first."""
    return f"count(*) FILTER ({quoted(RANK)} = 0)" if _ranks(schema) else "count(*)"


def _one(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    rows = connection.execute(sql).fetchall()  # to its end: an unfinished result blocks what comes next
    return int(rows[0][0]) if rows else 0


def spill_directory(path: Path) -> Path:
    """Where an engine over this copy may spill: beside it, readable by its owner alone."""
    spill = path.parent / f".{path.name}.spill"
    spill.mkdir(mode=0o700, exist_ok=True)
    spill.chmod(0o700)
    return spill

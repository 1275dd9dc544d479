"""The prepared copy: an owner's table as integers on declared grids, written once, in a file that only its owner reads.

The SQL here is :mod:`dpnb.trusted.aggregate.preparation` over again and equals it bit for bit: a cell is read by itself (its
number or its canonical text, by the column's public type), then ``floor(t + ½)`` in binary64 and the clamp, or the place
in the declared list. A unit's rows are bounded once, before any question. The copy holds codes and a permanent ordinal
(of the row, or a keyed hash where sizes or units are private), nothing else; a prepared copy is never changed.
"""

from __future__ import annotations

import contextlib
import hashlib
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from dpnb.trusted.aggregate.containers import Use
from dpnb.trusted.aggregate.preparation import declared_texts, grid_constants
from dpnb.trusted.canonical import canonical
from dpnb.trusted.curator.content import Content, WrongSize
from dpnb.trusted.curator.engines.cell_sql import (
    canonical_sql,
    has_moments,
    is_float,
    is_text,
    literal,
    moment_sql,
    number_sql,
    one_way_sql,
    readable,
    text_sql,
)
from dpnb.trusted.curator.engines.raw_table import RawTable, open_source, place_of, quoted
from dpnb.trusted.curator.engines.recognition import recognise
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.schema.cell import LARGEST_WHOLE, QUANTISER_VERSION
from dpnb.trusted.schema.dialect import STRICT, Dialect
from dpnb.trusted.schema.named_file import NamedFile, held

RESERVED = "##"
"""How every name of our own inside SQL begins."""

ORDINAL = "##ordinal"
"""The column that random partitions are cut by."""

_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class Prepared:
    """A finished copy. ``fingerprint`` identifies its codes, ``content`` its cells; neither ever leaves the curator."""

    path: Path
    fingerprint: str
    content: Content


def prepare(
    source: Any,
    schema: Schema,
    into: str | Path,
    *,
    table: str | None = None,
    key: bytes = b"",
    dialect: Dialect = STRICT,
    marking: bytes = b"",
) -> Prepared:
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
        The curator's secret for this dataset: ranks a unit's rows, and hides positions where sizes are private.
    marking : bytes
        The curator's secret under which content is recognised: one for all datasets.

    Returns
    -------
    Prepared

    Raises
    ------
    OwnerError
        When the source does not hold what the schema declares. Nothing is written then.
    WrongSize
        When it has another number of rows or units than the schema declares; it holds what the content is known by.
    """
    _refuse_names(schema)
    into = Path(into)
    into.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with tempfile.TemporaryDirectory(prefix=".preparing-", dir=into.parent) as workshop:
        draft = Path(workshop) / "copy.duckdb"
        config: dict[str, Any] = {
            "temp_directory": str(Path(workshop) / "spill"),
            "pandas_analyze_sample": "0",
        }
        with held(source, dialect) as named, duckdb.connect(str(draft), config=config) as connection:
            raw = open_source(connection, named, table, workshop=Path(workshop), uses=uses_of(schema))
            shut(connection, named, raw)
            _check_unit(connection, raw, schema)
            _write(connection, raw, schema, key, named)
            content = _recognised(connection, raw, schema, marking, named)
            _describe(connection, content)
            _check_sizes(connection, schema, content)
            fingerprint = _fingerprint(connection, schema)
        draft.chmod(0o600)
        draft.replace(into)
    return Prepared(into, fingerprint, content)


def _recognised(
    connection: duckdb.DuckDBPyConnection, raw: RawTable, schema: Schema, marking: bytes, source: Any
) -> Content:
    with _whole(source):
        return recognise(connection, raw, schema, marking)


def _describe(connection: duckdb.DuckDBPyConnection, content: Content) -> None:
    """Write into the copy which quantiser made it, and what its content is known by."""
    connection.execute("CREATE TABLE about (quantiser INTEGER, content VARCHAR)")
    connection.execute("INSERT INTO about VALUES (?, ?)", [QUANTISER_VERSION, canonical(content.to_json())])


@contextlib.contextmanager
def _whole(source: Any) -> Iterator[None]:
    """Tell the owner of a row that cannot be read, without quoting it."""
    try:
        yield
    except duckdb.Error as error:
        name = f'"{source.path.name}"' if isinstance(source, NamedFile) else "The table"
        raise OwnerError(f"{name} cannot be read to its end: a row is damaged or not UTF-8 text.") from error


def uses_of(schema: Schema) -> dict[str, Use]:
    """The columns that are read, and for what: what names a unit must be exact, whatever else it is."""
    uses: dict[str, Use] = {
        c.name: "grid" if c.type in ("integer", "number") else "category" for c in schema.columns
    }
    return uses if schema.unit_column is None else uses | {schema.unit_column: "unit"}


def shut(connection: duckdb.DuckDBPyConnection, source: Any, raw: RawTable) -> None:
    """Let the connection reach its own files and the owner's one: nothing else, and no extension."""
    for name in ("autoinstall_known_extensions", "autoload_known_extensions"):
        connection.execute(f"SET {name} = false")
    if isinstance(source, NamedFile):
        places = ", ".join(literal(place) for place in {place_of(source), *raw.files})
        connection.execute(f"SET allowed_paths = [{places}]")
        connection.execute("SET enable_external_access = false")


def file_fingerprint(path: str | Path) -> str:
    """The SHA-256 of a file's bytes: whether a source changed since it was prepared. Never leaves the curator."""
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def smallest_type(size: int) -> str:
    """The narrowest signed SQL type for codes 0 to ``size - 1``."""
    for name, top in (("TINYINT", 2**7), ("SMALLINT", 2**15), ("INTEGER", 2**31)):
        if size <= top:
            return name
    return "BIGINT"


def _refuse_names(schema: Schema) -> None:
    seen: dict[str, str] = {}
    for column in schema.columns:
        if column.name.startswith(RESERVED):
            raise OwnerError(
                f'"{column.name}" begins with {RESERVED}, which is reserved: rename it in the data.'
            )
        other = seen.setdefault(column.name.lower(), column.name)
        if other != column.name:
            raise OwnerError(
                f'"{other}" and "{column.name}" differ only in case: rename one of them in the data.'
            )


def _write(
    connection: duckdb.DuckDBPyConnection, raw: RawTable, schema: Schema, key: bytes, source: Any
) -> None:
    _declare_categories(connection, schema)
    query = prepared_sql(raw, schema, key)
    with _whole(source):
        connection.execute(f"CREATE TABLE prepared AS {query}")
    _drop_categories(connection, schema)
    connection.execute("CREATE TABLE sizes (name VARCHAR, size BIGINT)")
    connection.executemany("INSERT INTO sizes VALUES (?, ?)", [(c.name, c.size) for c in schema.columns])


def prepared_sql(raw: RawTable, schema: Schema, key: bytes) -> str:
    """The SELECT that turns a raw relation into codes with an ordinal."""
    parts = [
        _Quantiser.of(place, column, *raw.column(column.name)) for place, column in enumerate(schema.columns)
    ]
    by_unit = schema.unit.unit != "row"
    unit = text_sql(*raw.column(schema.unit.unit)) if by_unit else "NULL"
    read = ", ".join(f"{part.read} AS r{part.place}" for part in parts)
    rounded = ", ".join(f"{part.rounded} AS t{part.place}" for part in parts)
    coded = ", ".join(f"{part.coded} AS {quoted(part.column.name)}" for part in parts)
    names = ", ".join(quoted(part.column.name) for part in parts)
    rows = (
        f'SELECT {coded}, "##place", "##unit" FROM (SELECT *, {rounded} FROM '
        f'(SELECT {read}, row_number() OVER () - 1 AS "##place", {unit} AS "##unit" FROM {raw.sql}))'
    )
    ordinal = _ordinal(schema, key)
    if not by_unit:
        return f"SELECT {names}, {ordinal} AS {quoted(ORDINAL)} FROM ({rows})"
    return f"SELECT {names}, {ordinal} AS {quoted(ORDINAL)} FROM ({_bounded(rows, schema, key)})"


def _ordinal(schema: Schema, key: bytes) -> str:
    """The row's place where sizes are public; else 60 bits of a keyed hash of the place, or of the unit."""
    if schema.unit.unit == "row" and schema.unit.adjacency == "change-one":
        return '"##place"'
    whose = '"##place"' if schema.unit.unit == "row" else '"##unit"'
    return f"CAST('0x' || substr(md5('{key.hex()}|ordinal|' || {whose}), 1, 15) AS BIGINT)"


def _bounded(rows: str, schema: Schema, key: bytes) -> str:
    """Keep each unit's first rows by the keyed hash; rows without a unit are dropped."""
    cells = ", ".join(f"coalesce(CAST({quoted(name)} AS VARCHAR), '~')" for name in sorted(schema.names))
    told = f'SELECT *, concat_ws(\',\', {cells}) AS "##row" FROM ({rows}) WHERE "##unit" IS NOT NULL'
    numbered = (
        'SELECT *, row_number() OVER (PARTITION BY "##unit", "##row" ORDER BY "##place") AS "##duplicate" '
        f"FROM ({told})"
    )
    hashed = (
        f'SELECT *, md5(\'{key.hex()}|\' || "##unit" || \'|\' || "##row" || \'|\' || "##duplicate") AS "##hash" '
        f"FROM ({numbered})"
    )
    return (
        f'SELECT * FROM ({hashed}) QUALIFY row_number() OVER (PARTITION BY "##unit" ORDER BY "##hash") '
        f'<= {schema.unit.max_rows} ORDER BY "##place"'
    )


def _check_unit(connection: duckdb.DuckDBPyConnection, raw: RawTable, schema: Schema) -> None:
    """Refuse unit ids that their container may have merged already, or that write one number in two ways."""
    name = schema.unit.unit
    if name == "row":
        return
    sql, kind = raw.column(name)
    _refuse_unreadable(name, kind)
    large = f"SELECT count(*) FROM {raw.sql} WHERE abs({sql}) >= {LARGEST_WHOLE} AND NOT isnan({sql})"
    if kind == "FLOAT" or (is_float(kind) and _one(connection, large)):
        raise OwnerError(
            f'The numbers of the unit column "{name}" are beyond what a {kind} carries exactly: '
            "convert the column to text where the numbers are still whole."
        )
    if not is_text(kind):
        return
    text = f"CAST({sql} AS VARCHAR)"
    apart, one = text_sql(text, "VARCHAR"), one_way_sql(text)
    if _one(connection, f"SELECT count(DISTINCT {apart}) - count(DISTINCT {one}) FROM {raw.sql}"):
        raise OwnerError(
            f'The unit column "{name}" writes one number in two ways (such as 7 and 07): write each unit in one way, '
            "or, where they are different units, put a letter in front of all."
        )


def _refuse_unreadable(name: str, kind: str) -> None:
    if not readable(kind):
        raise OwnerError(
            f'"{name}" holds {kind}, not numbers, texts or dates: '
            "convert it first, or remove the column from the schema."
        )


@dataclass(frozen=True, slots=True)
class _Quantiser:
    """One column's way through the three nested SELECTs: read, rounded, coded."""

    place: int
    column: Column
    read: str
    rounded: str
    coded: str

    @classmethod
    def of(cls, place: int, column: Column, sql: str, kind: str) -> _Quantiser:
        _refuse_unreadable(column.name, kind)
        make = cls._category if column.type == "category" else cls._grid
        read, rounded, code = make(place, column, sql, kind)
        missing = "NULL" if column.missing_code is None else str(column.missing_code)
        coded = f"CAST(coalesce({code}, {missing}) AS {smallest_type(column.size)})"
        return cls(place, column, read, rounded, coded)

    @staticmethod
    def _grid(place: int, column: Column, sql: str, kind: str) -> tuple[str, str, str]:
        if column.calendar is None and has_moments(kind):
            raise OwnerError(
                f'"{column.name}" is declared {column.type}, but the data hold {kind}: '
                'convert it first, or declare it type = "date".'
            )
        lower, step, steps = grid_constants(column)
        rounded = f"floor((r{place} - {double(lower)}) / {double(step)} + {double(0.5)})"
        code = (
            f"CASE WHEN r{place} IS NULL OR isnan(r{place}) THEN NULL WHEN t{place} <= {double(0.0)} THEN 0 "
            f"WHEN t{place} >= {double(float(steps))} THEN {steps} ELSE TRY_CAST(t{place} AS BIGINT) END"
        )
        read = number_sql(sql, kind) if column.calendar is None else moment_sql(sql, kind, column.calendar)
        return read, rounded, code

    @staticmethod
    def _category(place: int, column: Column, sql: str, kind: str) -> tuple[str, str, str]:  # noqa: ARG004
        return canonical_sql(sql, kind), "NULL", f"enum_code(TRY_CAST(r{place} AS declared_{place}))"


def _declare_categories(connection: duckdb.DuckDBPyConnection, schema: Schema) -> None:
    for place, column in _categories(schema):
        values = declared_texts(column)
        texts = np.empty(len(values), dtype=object)
        texts[:] = values
        connection.register("declared_values", {"value": texts, "place": np.arange(len(values))})
        connection.execute(
            f"CREATE TYPE declared_{place} AS ENUM (SELECT value FROM declared_values ORDER BY place)"
        )
        connection.unregister("declared_values")


def _drop_categories(connection: duckdb.DuckDBPyConnection, schema: Schema) -> None:
    for place, _ in _categories(schema):
        connection.execute(f"DROP TYPE declared_{place}")


def _categories(schema: Schema) -> list[tuple[int, Column]]:
    return [(place, column) for place, column in enumerate(schema.columns) if column.type == "category"]


def double(value: float) -> str:
    """A binary64 constant in SQL, exactly."""
    return f"CAST('{value!r}' AS DOUBLE)"


def _check_sizes(connection: duckdb.DuckDBPyConnection, schema: Schema, content: Content) -> None:
    """Refuse a file that does not have the declared public size, without saying which size it has."""
    sizes = {
        "rows": (schema.unit.rows, "count(*)"),
        "units": (schema.unit.units, f"count(DISTINCT {quoted(ORDINAL)})"),
    }
    for word, (declared, count) in sizes.items():
        if declared is not None and _one(connection, f"SELECT {count} FROM prepared") != declared:
            raise WrongSize(
                f"The schema declares {word} = {declared}, and the data have another number of {word}: correct one of "
                f'them, or write adjacency = "add-remove", under which the number of {word} is private. '
                "After five wrong sizes the dataset is frozen until its owner's word.",
                content,
            )


def _one(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    rows = connection.execute(sql).fetchall()  # to its end: an unfinished result blocks what comes next
    return int(rows[0][0]) if rows else 0


def _fingerprint(connection: duckdb.DuckDBPyConnection, schema: Schema) -> str:
    """SHA-256 over the codes in row order, column names included."""
    digest = hashlib.sha256("\0".join(schema.names).encode())
    for column in schema.columns:
        name = quoted(column.name)
        cursor = connection.execute(f"SELECT coalesce(CAST({name} AS BIGINT), -1) AS code FROM prepared")
        digest.update(b"\0column\0")
        _each_chunk(cursor, digest.update)
    return digest.hexdigest()


def _each_chunk(cursor: duckdb.DuckDBPyConnection, take: Callable[[bytes], None]) -> None:
    codes = cursor.fetchnumpy()["code"]
    array = np.ascontiguousarray(codes, dtype="<i8")
    for start in range(0, len(array), _CHUNK):
        take(array[start : start + _CHUNK].tobytes())


def spill_directory(path: Path) -> Path:
    """Where an engine over this copy may spill: beside it, readable by its owner alone."""
    spill = path.parent / f".{path.name}.spill"
    spill.mkdir(mode=0o700, exist_ok=True)
    spill.chmod(0o700)
    return spill

"""The prepared copy: an owner's table as integers on declared grids, written once, in a file that only its owner reads.

The SQL here is :mod:`dpnb.aggregate.preparation` over again and equals it bit for bit: ``floor(t + ½)`` in binary64,
then clamp; text is matched as text, numbers as numbers; what does not parse is missing. A unit's rows are bounded once,
before any question. The copy holds codes and a permanent ordinal (of the row, or a keyed hash where sizes or units are
private), nothing else; a prepared copy is never changed.
"""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

from dpnb.aggregate.preparation import category_numbers, grid_constants, truth_texts
from dpnb.curator.engines.sources import RawTable, literal, open_source, place_of, quoted
from dpnb.datasets.named_file import NamedFile, held
from dpnb.errors import OwnerError
from dpnb.schema import Column, Schema
from dpnb.schema.cell import BLANK, NUMBER

RESERVED = "##"
"""How every name of our own inside SQL begins."""

ORDINAL = "##ordinal"
"""The column that random partitions are cut by."""

_INTEGERS = {"TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"}
_FLOATS = {"FLOAT", "DOUBLE"}
_LARGEST_CATEGORY = 10**15
_CHUNK = 1 << 18


@dataclass(frozen=True, slots=True)
class Prepared:
    """A finished copy. ``fingerprint`` identifies its content and never leaves the curator."""

    path: Path
    fingerprint: str


def prepare(
    source: Any, schema: Schema, into: str | Path, *, table: str | None = None, key: bytes = b""
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
    key : bytes
        The curator's secret for this dataset: ranks a unit's rows, and hides positions where sizes are private.

    Returns
    -------
    Prepared

    Raises
    ------
    OwnerError
        When the source does not hold what the schema declares. Nothing is written then.
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
        with held(source) as named, duckdb.connect(str(draft), config=config) as connection:
            raw = open_source(connection, named, table)
            _shut(connection, named)
            _write(connection, raw, schema, key, named)
            _check_sizes(connection, schema)
            fingerprint = _fingerprint(connection, schema)
        draft.chmod(0o600)
        draft.replace(into)
    return Prepared(into, fingerprint)


def _shut(connection: duckdb.DuckDBPyConnection, source: Any) -> None:
    """Let the connection reach its own files and the owner's one: nothing else, and no extension."""
    for name in ("autoinstall_known_extensions", "autoload_known_extensions"):
        connection.execute(f"SET {name} = false")
    if isinstance(source, NamedFile):
        connection.execute(f"SET allowed_paths = [{literal(place_of(source))}]")
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
    try:
        connection.execute(f"CREATE TABLE prepared AS {query}")
    except duckdb.Error as error:
        name = f'"{source.path.name}"' if isinstance(source, NamedFile) else "The table"
        raise OwnerError(f"{name} cannot be read to its end: a row is damaged or not UTF-8 text.") from error
    _drop_categories(connection, schema)
    connection.execute("CREATE TABLE sizes (name VARCHAR, size BIGINT)")
    connection.executemany("INSERT INTO sizes VALUES (?, ?)", [(c.name, c.size) for c in schema.columns])


def prepared_sql(raw: RawTable, schema: Schema, key: bytes) -> str:
    """The SELECT that turns a raw relation into codes with an ordinal."""
    parts = [
        _Quantiser.of(place, column, *raw.column(column.name)) for place, column in enumerate(schema.columns)
    ]
    by_unit = schema.unit.unit != "row"
    unit = _unit_text(schema.unit.unit, *raw.column(schema.unit.unit)) if by_unit else "NULL"
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
    cells = ", ".join(f"coalesce(CAST({quoted(column.name)} AS VARCHAR), '~')" for column in schema.columns)
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


def _unit_text(name: str, sql: str, kind: str) -> str:
    if kind in _FLOATS:
        x = f"CAST({sql} AS DOUBLE)"
        whole = f"{x} = floor({x}) AND abs({x}) < {2**53}"
        return (
            f"CASE WHEN isnan({x}) THEN NULL WHEN {whole} THEN CAST(TRY_CAST({x} AS BIGINT) AS VARCHAR) "
            f"ELSE CAST({x} AS VARCHAR) END"
        )
    if "[" in kind or kind.startswith(("STRUCT", "MAP", "UNION")):
        raise OwnerError(f'The unit column "{name}" holds nested values: name a column of numbers or texts.')
    return f"CAST({sql} AS VARCHAR)"


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
        make = cls._category if column.type == "category" else cls._grid
        read, rounded, code = make(place, column, sql, kind)
        missing = "NULL" if column.missing_code is None else str(column.missing_code)
        coded = f"CAST(coalesce({code}, {missing}) AS {smallest_type(column.size)})"
        return cls(place, column, read, rounded, coded)

    @staticmethod
    def _grid(place: int, column: Column, sql: str, kind: str) -> tuple[str, str, str]:
        lower, step, steps = grid_constants(column)
        read = _number(column, sql, kind)
        rounded = f"floor((r{place} - {double(lower)}) / {double(step)} + {double(0.5)})"
        code = (
            f"CASE WHEN r{place} IS NULL OR isnan(r{place}) THEN NULL WHEN t{place} <= {double(0.0)} THEN 0 "
            f"WHEN t{place} >= {double(float(steps))} THEN {steps} ELSE TRY_CAST(t{place} AS BIGINT) END"
        )
        return read, rounded, code

    @staticmethod
    def _category(place: int, column: Column, sql: str, kind: str) -> tuple[str, str, str]:
        values = column.values or ()
        if isinstance(values[0], str):
            if _is_text(kind):
                return f"CAST({sql} AS VARCHAR)", "NULL", _place_of(place, f"r{place}")
            numbers = ", ".join("NULL" if n is None else double(n) for n in category_numbers(column))
            read = _number(column, sql, kind)
            place_in_list = f"nullif(list_position([{numbers}]::DOUBLE[], r{place}), 0) - 1"
            return (
                read,
                "NULL",
                f"CASE WHEN r{place} IS NULL OR isnan(r{place}) THEN NULL ELSE {place_in_list} END",
            )
        read = _number(column, sql, kind)
        whole = f"r{place} = floor(r{place}) AND abs(r{place}) <= {_LARGEST_CATEGORY}"
        rounded = f"CASE WHEN {whole} THEN CAST(TRY_CAST(r{place} AS BIGINT) AS VARCHAR) END"
        return read, rounded, _place_of(place, f"t{place}")


def _place_of(place: int, text: str) -> str:
    return f"enum_code(TRY_CAST({text} AS declared_{place}))"


def _declare_categories(connection: duckdb.DuckDBPyConnection, schema: Schema) -> None:
    for place, column in _categories(schema):
        values = [v if isinstance(v, str) else str(int(v)) for v in column.values or ()]
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


def _is_text(kind: str) -> bool:
    return kind == "VARCHAR" or kind.startswith("ENUM")


def _number(column: Column, sql: str, kind: str) -> str:
    """A raw column as binary64."""
    if kind in _INTEGERS or kind in _FLOATS:
        return f"CAST({sql} AS DOUBLE)"
    if kind == "BOOLEAN":
        return f"CAST(CAST({sql} AS INTEGER) AS DOUBLE)"
    if kind.startswith("DECIMAL") or kind in {"HUGEINT", "UHUGEINT"}:
        return f"CAST(CAST({sql} AS VARCHAR) AS DOUBLE)"
    if kind == '"NULL"':
        return "CAST(NULL AS DOUBLE)"
    if not _is_text(kind):
        raise OwnerError(
            f'"{column.name}" is declared {column.type}, but the data hold {kind}: '
            "convert it to numbers or text first, or remove the column from the schema."
        )
    text = f"trim(CAST({sql} AS VARCHAR), {_blank_sql()})"
    number = f"CASE WHEN regexp_full_match({text}, {literal(NUMBER)}) THEN TRY_CAST({text} AS DOUBLE) END"
    if not truth_texts(column):
        return number
    return f"CASE lower({text}) WHEN 'true' THEN 1.0::DOUBLE WHEN 'false' THEN 0.0::DOUBLE ELSE {number} END"


def _blank_sql() -> str:
    return "(" + " || ".join(f"chr({ord(blank)})" for blank in BLANK) + ")"


def _check_sizes(connection: duckdb.DuckDBPyConnection, schema: Schema) -> None:
    """Refuse a file that does not have the declared public size, without saying which size it has."""
    rows, units = schema.unit.rows, schema.unit.units
    if rows is not None and _one(connection, "SELECT count(*) FROM prepared") != rows:
        raise OwnerError(
            f"The schema declares rows = {rows}, and the data have another number of rows: correct one of them, or "
            'write adjacency = "add-remove", under which the number of rows is private.'
        )
    if (
        units is not None
        and _one(connection, f"SELECT count(DISTINCT {quoted(ORDINAL)}) FROM prepared") != units
    ):
        raise OwnerError(
            f"The schema declares units = {units}, and the data have another number of units: correct one of them, "
            'or write adjacency = "add-remove", under which the number of units is private.'
        )


def _one(connection: duckdb.DuckDBPyConnection, sql: str) -> int:
    row = connection.execute(sql).fetchone()
    return 0 if row is None else int(row[0])


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

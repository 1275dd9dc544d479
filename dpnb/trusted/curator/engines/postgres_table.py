"""A table of a PostgreSQL server as an owner's source: what it is known by, and its declared cells as their own texts.

The server writes each cell as :func:`dpnb.datasets.cell_text.text_of` has it, type by type; what a text means is decided where
it is for every other source. Expressions look at one cell, and none of them can raise on one.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpnb.trusted.aggregate.arrays import declared_otherwise, inexact, unreadable, written_otherwise
from dpnb.trusted.curator.content import digest
from dpnb.trusted.curator.engines.postgres_session import connect, told
from dpnb.trusted.curator.engines.raw_table import no_column, quoted, read_names, refuse_changed
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.files.named_file import FetchedRows
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.server_table import ServerTable

if TYPE_CHECKING:
    from psycopg import Connection

LONGEST_NAME = 63
"""Bytes of a name; PostgreSQL cuts what is longer, silently."""

INTEGERS, FLOATS = {"int2", "int4", "int8"}, {"float4", "float8"}
TEXTS, MOMENTS = {"text", "varchar", "bpchar", "name", "citext", "uuid"}, {"date", "timestamp", "timestamptz"}
_TABLES = {"r": "a table", "p": "a table", "m": "a materialized view"}


@dataclass(frozen=True, slots=True)
class Cells:
    """One column of the server's table: its own name there, its type, and whether the type is an enumeration."""

    name: str
    kind: str
    shown: str
    listed: bool
    place: int

    @property
    def is_text(self) -> bool:
        """Whether it holds texts."""
        return self.listed or self.kind in TEXTS


@dataclass(frozen=True, slots=True)
class Seen:
    """A table as one snapshot shows it.

    Parameters
    ----------
    sql : str
        The table's name in SQL.
    identity : str
        Which table of which server it is, whatever it holds.
    columns : tuple of Cells
        The declared ones, in the order of :func:`read_names`.
    """

    sql: str
    identity: str
    columns: tuple[Cells, ...]


def identified(table: ServerTable, schema: Schema) -> tuple[str, str]:
    """Look a table over: which table it is, and what its rows are now known by.

    A row is known by its place and the transaction that wrote it, which is quicker to read than what it holds; where the
    owner declares a version, that is taken, and no row is looked at.
    """
    with connect(table) as connection, told(table):
        seen = look(connection, table, schema)
        return seen.identity, _version(connection, table, seen)


def fetch(table: ServerTable, schema: Schema, version: str, into: Path) -> FetchedRows:
    """Write the declared cells into a private file, from one snapshot, if it is the one that was looked at.

    Raises
    ------
    OwnerError
        When the table was changed meanwhile, lacks a column, or holds a type that cannot be read.
    """
    into.touch(mode=0o600, exist_ok=False)
    try:
        with connect(table) as connection, told(table):
            seen = look(connection, table, schema)
            refuse_changed(table.table, _version(connection, table, seen), version)
            _write(connection, seen, into)
        return FetchedRows(into, FetchedRows.open(into).descriptor, names=read_names(schema))
    except BaseException:
        into.unlink(missing_ok=True)
        raise


def _write(connection: Connection[Any], seen: Seen, into: Path) -> None:
    """The rows in the order in which the table holds them, one reader from its first block."""
    connection.execute("SET LOCAL max_parallel_workers_per_gather = 0")
    cells = ", ".join(("1", *(text_sql(quoted(column.name), column) for column in seen.columns)))
    query = f"COPY (SELECT {cells} FROM {seen.sql}) TO STDOUT (FORMAT csv)"
    with into.open("wb") as file, connection.cursor() as cursor, cursor.copy(query) as rows:
        for block in rows:
            file.write(block)


def look(connection: Connection[Any], table: ServerTable, schema: Schema) -> Seen:
    """Find a table and its declared columns.

    Raises
    ------
    OwnerError
        When there is none, it is no table, or a column is missing or of a type that cannot be read.
    """
    path = ".".join(quoted(_cut(name)) for name in table.names)
    own = len(table.names) == 1
    found = connection.execute(
        "SELECT c.oid::bigint, c.relkind, n.nspname, c.relname, (SELECT system_identifier FROM pg_control_system()), "
        "(SELECT oid::bigint FROM pg_database WHERE datname = current_database()), "
        "EXISTS (WITH RECURSIVE parts AS (SELECT c.oid UNION SELECT i.inhrelid FROM pg_inherits i JOIN parts ON i.inhparent = parts.oid) "
        "SELECT FROM parts JOIN pg_class p ON p.oid = parts.oid WHERE p.relkind = 'f') FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
        "WHERE c.relname = %s AND n.nspname = " + ("'public'" if own else "%s"),
        [_cut(name) for name in reversed(table.names)],
    ).fetchone()
    if found is None:
        where = "in the schema public" if own else "there"
        raise OwnerError(f"{table.table}: the database has no such table {where}. Check table=… in source.")
    oid, kind, space, name, system, database, elsewhere = found
    if kind not in _TABLES or elsewhere:
        raise OwnerError(
            f"{table.table} is not a table of this server, and its rows may come from anywhere. Write them into one: "
            f"CREATE MATERIALIZED VIEW {quoted(_cut(table.names[-1]) + '_rows')} AS SELECT * FROM {path} (then name it in source)."
        )
    columns = _columns(connection, table, oid, schema)
    identity = digest("postgresql", system, database, oid)
    return Seen(f"{quoted(space)}.{quoted(name)}", identity, columns)


def _columns(connection: Connection[Any], table: ServerTable, oid: int, schema: Schema) -> tuple[Cells, ...]:
    rows = connection.execute(
        "SELECT a.attname, coalesce(b.typname, t.typname), format_type(a.atttypid, a.atttypmod), "
        "coalesce(b.typtype, t.typtype) = 'e', a.attnum, has_column_privilege(a.attrelid, a.attnum, 'SELECT') "
        "FROM pg_attribute a JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type b ON b.oid = t.typbasetype AND t.typtype = 'd' "
        "WHERE a.attrelid = %s::bigint::oid AND a.attnum > 0 AND NOT a.attisdropped",
        [oid],
    ).fetchall()
    there = {row[0]: row for row in rows}
    wanted, units = read_names(schema), schema.unit_column
    if len({_cut(name) for name in wanted}) < len(wanted):
        raise OwnerError(
            f"{table.table}: two declared names are one in their first {LONGEST_NAME} bytes, where PostgreSQL cuts a name: "
            "rename one of the columns."
        )
    found = []
    for name in wanted:
        row = there.get(_cut(name))
        if row is None:
            raise no_column(name)
        *facts, readable = row
        if not readable:
            raise OwnerError(f'The role may not read "{name}": GRANT SELECT ON {table.table} to it.')
        cells = Cells(*facts)
        _refuse(schema, name, cells, unit=name == units)
        found.append(cells)
    return tuple(found)


def _refuse(schema: Schema, name: str, cells: Cells, *, unit: bool) -> None:
    """Refuse a column that cannot be read as what it is declared."""
    column = next((column for column in schema.rows_of().columns if column.name == name), None)
    if not cells.is_text and cells.kind not in INTEGERS | FLOATS | MOMENTS | {"numeric", "bool"}:
        raise unreadable(name, cells.shown)
    fit = "date" if cells.kind in MOMENTS else "number"
    other = {"date": ("integer", "number"), "number": ("text",) if cells.kind in FLOATS else ()}[fit]
    if column is not None and column.type in other:
        raise declared_otherwise(name, column.type, cells.shown, fit)
    if column is not None and column.cells.of_texts and cells.kind in FLOATS | {"numeric"}:
        raise written_otherwise(name, cells.shown)
    if unit and cells.kind in FLOATS:
        raise inexact(name, cells.shown)


def text_sql(sql: str, cells: Cells) -> str:
    """A cell's own text: :func:`dpnb.datasets.cell_text.text_of`; an empty text is missing where it is read.

    Of a binary64 it is a text of the same number, which may have a digit more: no unit and no label is made of one.
    """
    if cells.kind == "bool":
        return f"CASE WHEN {sql} THEN '1' WHEN NOT {sql} THEN '0' END"
    if cells.kind in FLOATS:
        number = f"{sql}::float8"
        return f"CASE {number} WHEN 'NaN' THEN NULL ELSE {number}::text END"
    if cells.kind == "numeric":
        text = f"trim_scale({sql})::text"
        return f"CASE {text} WHEN 'NaN' THEN NULL WHEN 'Infinity' THEN 'inf' WHEN '-Infinity' THEN '-inf' ELSE {text} END"
    if cells.kind == "date":
        return f"CASE WHEN {_in_years(sql)} THEN {sql}::text END"
    if cells.kind in MOMENTS:
        moment = sql if cells.kind == "timestamp" else f"({sql} AT TIME ZONE 'UTC')"
        return f"CASE WHEN {_in_years(moment)} THEN regexp_replace({moment}::text, ' 00:00:00$', '') END"
    return f"{sql}::text"


def _in_years(sql: str) -> str:
    return f"{sql} >= '0001-01-01' AND {sql} < '10000-01-01'"


def _version(connection: Connection[Any], table: ServerTable, seen: Seen) -> str:
    places = [(column.name, column.kind, column.place) for column in seen.columns]
    if table.version is not None:
        return digest(seen.identity, "declared", table.version, places)
    row = connection.execute(
        "SELECT count(*), coalesce(sum(hashtextextended(concat(tableoid, ctid, xmin), 0)::numeric), 0)::text "
        f"FROM {seen.sql}"
    ).fetchone()
    return digest(seen.identity, "rows", *(row or ()), places)


def _cut(name: str) -> str:
    """A name as the server has it: cut after 63 bytes, never inside of a letter."""
    return name.encode()[:LONGEST_NAME].decode(errors="ignore")

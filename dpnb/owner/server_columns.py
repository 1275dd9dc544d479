"""Names and types of the columns of a PostgreSQL table, from the server's catalogue: no row is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final
from urllib.parse import quote

from dpnb.trusted.curator.engines.postgres_session import connect, told
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.schema.server_table import ServerTable

_STORED: Final[Mapping[str, str]] = {
    "bool": "BOOLEAN",
    "date": "DATE",
    **dict.fromkeys(("int2", "int4", "int8"), "BIGINT"),
    **dict.fromkeys(("float4", "float8", "numeric"), "DOUBLE"),
    **dict.fromkeys(("text", "varchar", "bpchar", "name", "citext", "uuid"), "VARCHAR"),
    **dict.fromkeys(("timestamp", "timestamptz"), "TIMESTAMP"),
}
"""The server's own names of types, by those that a file's engine has for the same."""

_COLUMNS = (
    "SELECT a.attname, CASE coalesce(b.typtype, t.typtype) WHEN 'e' THEN 'text' ELSE coalesce(b.typname, t.typname) END "
    "FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace "
    "JOIN pg_type t ON t.oid = a.atttypid LEFT JOIN pg_type b ON b.oid = t.typbasetype AND t.typtype = 'd' "
    "WHERE n.nspname = %s AND c.relname = %s AND a.attnum > 0 AND NOT a.attisdropped ORDER BY a.attnum"
)


def server_fields(table: ServerTable) -> list[tuple[str, str]]:
    """List the columns of a server's table as (name, storage type); of an enumeration no value is read.

    Raises
    ------
    OwnerError
        When the server is not reached, does not let this user in, or has no such table.
    """
    space, name = table.names if len(table.names) > 1 else ("public", table.table)
    with connect(table) as connection, told(table):
        found = connection.execute(_COLUMNS, [space, name]).fetchall()
    if not found:
        raise OwnerError(
            f"{table.table}: the database has no such table in the schema {space}. Check table=…"
        )
    return [(column, _STORED.get(kind, kind)) for column, kind in found]


def address(table: ServerTable) -> str:
    """Write where a table is, as a declaration has it: who logs in stands in none.

    Examples
    --------
    >>> address(ServerTable("postgresql://db.example/clinic", "visits"))
    'postgresql://db.example/clinic?table=visits'
    """
    return f"{table.uri}{'&' if '?' in table.uri else '?'}table={quote(table.table)}"

"""A session of a PostgreSQL server: opened with the credentials that the driver finds, and what went wrong told without them.

What a server says of a login may hold a host, a role or a database; never a password. Nothing of its text is passed on:
each fault is one of a few sentences that name the fix.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, cast

from dpnb.trusted.errors import OwnerError
from dpnb.trusted.schema.server_table import ServerTable

if TYPE_CHECKING:
    from psycopg import Connection

OLDEST = 130000
"""The oldest server, in PostgreSQL's own count: its ``trim_scale`` and 64-bit hashes are used."""

_SETTINGS = {
    "search_path": "pg_catalog",
    "timezone": "UTC",
    "datestyle": "ISO, YMD",
    "extra_float_digits": "1",
    "row_security": "off",
    "synchronize_seqscans": "off",
    "standard_conforming_strings": "on",
    "statement_timeout": "0",
    "lock_timeout": "0",
    "idle_in_transaction_session_timeout": "0",
    "client_min_messages": "error",
}
"""What a role's or a database's own settings may not change: how a cell is written, and whether a row is left out silently."""
_LOCKED_OUT = ("password", "authentication failed", "pg_hba.conf", "not permitted to log in")
_NO_LOGIN = (
    "{}: the server did not let this user in. Put the role's password into ~/.pgpass, a service file "
    "or PGPASSWORD where the curator starts (never into the declaration), and check the role's name (PGUSER)."
)


class LoginRefused(OwnerError):
    """The server does not let the curator in any more, for instance because a password was changed: its owner must act."""


def connect(table: ServerTable, *, writes: bool = False) -> Connection[Any]:
    """Open a session in which each transaction sees one snapshot, and writes nothing unless it ``writes``.

    Raises
    ------
    OwnerError
        When the driver is not installed, the server is not reached, or it does not let this user in.
    """
    psycopg = driver()
    waits = {} if "connect_timeout" in table.uri else {"connect_timeout": 10}
    try:
        connection = psycopg.connect(
            table.uri, application_name="dpnb", client_encoding="UTF8", prepare_threshold=None, **waits
        )
    except (psycopg.Error, UnicodeError, ValueError) as error:
        said = str(error)
        refused = any(words in said for words in _LOCKED_OUT)
        raise (
            LoginRefused(_NO_LOGIN.format(table.table)) if refused else OwnerError(_refused(table, said))
        ) from None
    try:
        _settled(connection, table)
        connection.isolation_level = psycopg.IsolationLevel.REPEATABLE_READ
        connection.read_only = not writes
    except BaseException:
        connection.close()
        raise
    return cast("Connection[Any]", connection)


def _settled(connection: Any, table: ServerTable) -> None:
    if connection.info.server_version < OLDEST:
        raise OwnerError(
            f"{table.table}: the server is older than PostgreSQL 13: move the table to a newer one."
        )
    with told(table):
        connection.execute("".join(f"SET {name} = '{value}';" for name, value in _SETTINGS.items()))
        connection.commit()


@contextlib.contextmanager
def told(table: ServerTable) -> Iterator[None]:
    """Tell the owner what a server refuses, without a word of its own: that may quote a cell.

    Raises
    ------
    OwnerError
        When a statement fails.
    """
    psycopg = driver()
    try:
        yield
    except psycopg.errors.InsufficientPrivilege:
        raise OwnerError(
            f"{table.table}: the role may not do this: GRANT it SELECT on the table, and give it a schema for prepared copies "
            "(CREATE SCHEMA dpnb AUTHORIZATION the_role), or write copy = false in [source]."
        ) from None
    except psycopg.OperationalError:
        raise OwnerError(
            f"{table.table}: the server ended the connection. Nothing was spent: open it again."
        ) from None
    except psycopg.Error as error:
        raise OwnerError(
            f"{table.table}: the server could not read the table (SQLSTATE {error.sqlstate}). Nothing was spent: "
            "see the server's log, or open it again where the table was being changed."
        ) from None


def driver() -> Any:
    """Import the driver, or say how to install it."""
    try:
        import psycopg
    except ImportError:
        raise OwnerError("A PostgreSQL table needs its driver: pip install 'dpnb[postgres]'.") from None
    return psycopg


def _refused(table: ServerTable, said: str) -> str:
    """Why no session was opened; the driver's text is looked at, and not quoted."""
    if "does not exist" in said:
        return f"{table.table}: the server has no such database or role. Check source = … and PGUSER."
    if "invalid" in said or "definition of service" in said:
        return f"{table.table}: the address cannot be used. Check source = … and PGSERVICE."
    return (
        f"{table.table}: the server was not reached. Check source = …, PGHOST and PGPORT, and that it runs."
    )

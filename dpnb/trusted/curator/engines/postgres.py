"""PostgreSQL: batches over a prepared copy in the server, in a table of the curator's own.

The rows are read once through the one reading that every source has (:mod:`~dpnb.trusted.curator.engines.preparing`), and the codes
are written into the server. What stays on this side is a note of a few hundred bytes: where the copy is, how its columns are
called there, and what its content is known by. Each batch sees one snapshot, in a transaction that can write nothing. A
connection that is lost is opened again, and the batch is run again: integers of a copy are the same.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from dpnb.trusted.aggregate.algebra import Request
from dpnb.trusted.aggregate.reference import Answer
from dpnb.trusted.curator.engines.cell_sql import literal
from dpnb.trusted.curator.engines.copy_note import NotedEngine, noted
from dpnb.trusted.curator.engines.postgres_session import LoginRefused, connect, driver, told
from dpnb.trusted.curator.engines.postgres_table import look
from dpnb.trusted.curator.engines.postgres_view import MOST_ROWS, relation
from dpnb.trusted.curator.engines.preparing import smallest_type
from dpnb.trusted.curator.engines.raw_table import quoted
from dpnb.trusted.curator.engines.sql_dialect import SqlDialect
from dpnb.trusted.errors import ChargedError, CuratorGone, OwnerError
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.server_table import ServerTable

SPACE = "dpnb"
"""The schema in the owner's database that holds prepared copies."""

_MOST_COLUMNS = 1600

DIALECT = SqlDialect(
    quotient="/",
    wide="NUMERIC",
    text="TEXT",
    barrier=" OFFSET 0",
    alias=" AS t",
    by_all='GROUP BY "##cell", "##value" ORDER BY "##cell", "##value"',
    most_columns=_MOST_COLUMNS,
)
"""PostgreSQL's words: a quotient of integers is whole, a sum of 64-bit integers is NUMERIC by itself, a sub-SELECT has a name."""

_WAITS = (0.0, 0.2, 0.5, 1.0, 2.0, 4.0)
"""Seconds before each further attempt to reach a server that was lost: it may be starting anew."""

_KINDS = {"TINYINT": "SMALLINT"}


def write_copy(draft: Path, table: ServerTable, schema: Schema, note: Path) -> None:
    """Write a prepared copy into the server, where its owner allows one, and a note of it beside where the copy would be.

    Parameters
    ----------
    draft : path
        What :func:`~dpnb.trusted.curator.engines.preparing.prepare` wrote.
    table : ServerTable
        Whose database is written to.
    schema : Schema
    note : path

    Raises
    ------
    OwnerError
        When the role may not write there, or what is declared cannot be read without a copy. Nothing is left in the server then.
    """
    with noted(draft, note) as (rows, facts), tempfile.TemporaryDirectory(dir=draft.parent) as aside:
        sizes = facts["sizes"]
        # the widest first: none is moved apart to be aligned
        names = sorted(sizes, key=lambda name: -sizes[name])
        if len(names) >= _MOST_COLUMNS:
            raise OwnerError(
                f"{table.table}: a server's table has at most {_MOST_COLUMNS} columns: declare fewer."
            )
        facts |= {"server": asdict(table), "copy": None}
        if table.copy:
            copy, codes = f"copy_{secrets.token_hex(12)}", Path(aside) / "codes.csv"
            chosen = ", ".join(quoted(name) for name in names)
            rows.execute(
                f"COPY (SELECT {chosen} FROM prepared) TO {literal(str(codes))} (FORMAT csv, HEADER false, NULL '~')"
            )
            codes.chmod(0o600)
            facts |= {"relation": f"{SPACE}.{copy}", "copy": copy}
            with connect(table, writes=True) as connection, told(table):
                kinds = [smallest_type(sizes[name]) for name in names]
                facts["number"] = _written(connection, facts["relation"], kinds, codes)
        else:
            names, facts["rows"] = list(schema.names), MOST_ROWS
            with connect(table) as connection, told(table):
                facts["relation"] = relation(table, schema, look(connection, table, schema))
        facts["names"] = {name: f"c{place}" for place, name in enumerate(names)}


def _written(connection: Any, name: str, kinds: Sequence[str], codes: Path) -> int:
    """Make the table in one transaction, for this role's eyes alone; return how the server numbers what it holds."""
    if connection.execute("SELECT 1 FROM pg_namespace WHERE nspname = %s", [SPACE]).fetchone() is None:
        connection.execute(f"CREATE SCHEMA {SPACE}")
        connection.commit()
    columns = ", ".join(f"c{place} {_KINDS.get(kind, kind)}" for place, kind in enumerate(kinds))
    connection.execute(f"CREATE TABLE {name} ({columns})")
    connection.execute(f"REVOKE ALL ON {name} FROM PUBLIC")
    with (
        codes.open("rb") as file,
        connection.cursor() as cursor,
        cursor.copy(f"COPY {name} FROM STDIN (FORMAT csv, FREEZE, NULL '~')") as into,
    ):
        while block := file.read(1 << 20):
            into.write(block)
    connection.commit()
    connection.autocommit = True
    connection.execute(f"ANALYZE {name}")
    return _number(connection, name) or 0


def _number(connection: Any, name: str) -> int | None:
    """How the server numbers the file of a table: another one where rows were put in place of others."""
    found = connection.execute("SELECT pg_relation_filenode(to_regclass(%s))", [name]).fetchone()
    return None if found is None or found[0] is None else int(found[0])


def drop_copy(note: Path) -> None:
    """Delete a copy in the server, and its note; a server that is not reached keeps integers that nobody reads."""
    with contextlib.suppress(OSError, ValueError, KeyError, TypeError, OwnerError):
        facts = json.loads(note.read_bytes())
        if facts["copy"] is None:
            raise KeyError  # there is none
        table = ServerTable(**facts["server"])
        with connect(table, writes=True) as connection, told(table):
            connection.execute(f"DROP TABLE IF EXISTS {SPACE}.{quoted(facts['copy'])}")
    note.unlink(missing_ok=True)


class PostgresEngine(NotedEngine):
    """Answers batches over a prepared copy in a PostgreSQL server, or over the server's table as codes."""

    words = DIALECT
    removed = (
        "The prepared copy was removed from the server, or its table no longer fits. Open the dataset again."
    )

    def __init__(self, note: Path) -> None:
        self._session: Any = None
        self._errors = driver().errors
        super().__init__(note)
        self._open()

    def _open(self) -> None:
        """Open a session, and see that the copy is what was written; a table that is asked as it is may change."""
        facts = self._read()
        self._keeps = facts["copy"] is not None
        self._session = connect(ServerTable(**facts["server"]))
        if self._keeps and _number(self._session, facts["relation"]) != facts["number"]:
            self._gone()
        self._relation = facts["relation"]
        self._session.rollback()

    def answer(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer a batch exactly, in the order of the requests; a lost server is waited for, and asked again.

        Raises
        ------
        CuratorGone
            When the server is not reached, or the copy is not there any more.
        ChargedError
            When it does not let the curator in any more: waiting does not help, and the owner must act.
        """
        for wait in _WAITS:
            time.sleep(wait)
            try:
                return super().answer(requests)
            except LoginRefused as fault:
                raise ChargedError(
                    f"{fault.message} What was charged is answered without a second charge, once the owner has done that."
                ) from fault
            except (self._errors.OperationalError, self._errors.InterfaceError, OwnerError):
                continue
        raise CuratorGone(
            "The database server was not reached. Nothing is lost: run the cell again when it runs, and what was charged is "
            "answered without a second charge."
        )

    @contextlib.contextmanager
    def _one_batch(self) -> Iterator[None]:
        """One read-only transaction: the first statement takes the snapshot of all."""
        if self._session is None or self._session.closed:
            self._open()
        try:
            with self._session.transaction():
                yield
        except (
            self._errors.ProgrammingError
        ) as error:  # no such table, column or right: never a matter of cells
            self._gone(error)
        except (self._errors.OperationalError, self._errors.InterfaceError):
            self.close()
            raise

    def _columns(self, sql: str) -> Mapping[str, Any]:
        cursor = self._session.execute(sql, binary=True)
        rows = cursor.fetchall()
        cells = zip(*rows, strict=True) if rows else ((),) * len(cursor.description)
        return {column.name: _array(found) for column, found in zip(cursor.description, cells, strict=True)}

    def _rows_of(self, sql: str) -> list[Any]:
        rows: list[Any] = self._session.execute(sql, binary=True).fetchall()
        return rows

    def close(self) -> None:
        """End the session. A closed engine opens another one for the next batch."""
        if self._session is not None:
            self._session.close()


def _array(column: Sequence[Any]) -> Any:
    """A column of integers with those masked that are NULL; texts as they are."""
    if any(isinstance(value, str) for value in column):
        found = np.empty(len(column), dtype=object)
        found[:] = column
        return found
    missing = [value is None for value in column]
    values = np.array([0 if value is None else value for value in column], dtype=np.int64)
    return np.ma.masked_array(values, mask=missing)


open_copy = PostgresEngine

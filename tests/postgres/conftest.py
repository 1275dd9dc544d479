"""One server for all tests of this folder, and a database with a role of its own for each test."""

from __future__ import annotations

import itertools
import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.postgres import server as servers

_numbers = itertools.count(1)
PASSWORD = "s3cret-Paßwort"


@pytest.fixture(scope="session")
def server() -> Iterator[servers.Server]:
    """Start a server. Where continuous integration runs, a missing one is a failure, not a skip."""
    if not servers.available():
        say = pytest.fail if os.environ.get("CI") else pytest.skip
        say("no PostgreSQL server: apt-get install postgresql")
    # its socket's path has to be short
    with (
        tempfile.TemporaryDirectory(prefix="pg-", ignore_cleanup_errors=True) as folder,
        servers.running(Path(folder)) as found,
    ):
        yield found


@dataclass(slots=True)
class Place:
    """A database, and the role that the curator has in it."""

    server: servers.Server
    database: str
    role: str

    @property
    def uri(self) -> str:
        """Where it is, without who logs in."""
        return f"postgresql:///{self.database}?host={self.server.folder}"

    def run(self, *statements: str) -> list[Any]:
        """Run statements as the superuser; the rows of the last one."""
        with self.server.admin(self.database) as connection:
            rows: list[Any] = []
            for statement in statements:
                cursor = connection.execute(statement)
                rows = cursor.fetchall() if cursor.description else []
            return rows


@pytest.fixture
def place(server, monkeypatch) -> Iterator[Place]:
    """A database of this test's own; the role reads `public`, makes schemas, and logs in by the environment."""
    number = next(_numbers)
    made = Place(server, f"base{number}", f"curator{number}")
    with server.admin() as connection:
        connection.execute(f"CREATE ROLE {made.role} LOGIN PASSWORD '{PASSWORD}'")
        connection.execute(f"CREATE DATABASE {made.database} TEMPLATE template0")
        connection.execute(f"GRANT CREATE ON DATABASE {made.database} TO {made.role}")
    made.run(f"ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO {made.role}")
    monkeypatch.setenv("PGUSER", made.role)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    yield made
    with server.admin() as connection:
        connection.execute(f"DROP DATABASE {made.database} WITH (FORCE)")

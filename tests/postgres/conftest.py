"""One server and one database for all tests of this folder, emptied before each."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.postgres import server as servers

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


@pytest.fixture(scope="session")
def clinic(server) -> Place:
    """A database, and the role that the curator has in it: it reads tables and may make schemas."""
    with server.admin() as connection:
        connection.execute(f"CREATE ROLE curator LOGIN PASSWORD '{PASSWORD}'")
        connection.execute("CREATE DATABASE clinic")
    made = Place(server, "clinic", "curator")
    made.run("ALTER DEFAULT PRIVILEGES GRANT SELECT ON TABLES TO curator")
    return made


@pytest.fixture
def place(clinic, monkeypatch) -> Place:
    """The database, emptied, and the role as it was; who logs in stands in the environment."""
    clinic.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'curator'",
        "DROP SCHEMA IF EXISTS dpnb, evil, public CASCADE",
        "DROP FOREIGN DATA WRAPPER IF EXISTS nowhere CASCADE",
        "CREATE SCHEMA public",
        "GRANT USAGE ON SCHEMA public TO PUBLIC",
        "GRANT CREATE ON DATABASE clinic TO curator",
        "ALTER ROLE curator RESET ALL",
    )
    monkeypatch.setenv("PGUSER", clinic.role)
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    return clinic

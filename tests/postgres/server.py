"""A real PostgreSQL server for a run of tests: made in a new folder, reached by its socket alone, run by a user without rights.

`python -m tests.postgres.server` says which programs are used.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg

MOST_MEMORY = 4_000_000
"""Kilobytes of address space of a process of the server."""
FOUND = ("/usr/lib/postgresql", "/usr/local/pgsql", "/opt/homebrew/opt/postgresql")


def program(name: str) -> str | None:
    """Find a program of the server, in PATH or where distributions put it; the newest first."""
    places = sorted((place for root in FOUND for place in Path(root).glob(f"**/bin/{name}")), reverse=True)
    return shutil.which(name) or (str(places[0]) if places else None)


def available() -> bool:
    """Tell whether a server can be started here."""
    return all(map(program, ("initdb", "pg_ctl")))


@dataclass(slots=True)
class Server:
    """A running server: its folder, and who runs it."""

    folder: Path
    user: str | None

    def run(self, name: str, *words: str) -> None:
        """Run one of its programs, as the user that runs the server."""
        # a statement that a planner writes out without end fails in the test, and takes nothing from others
        command = ["sh", "-c", f'ulimit -v {MOST_MEMORY}; exec "$@"', "sh", str(program(name)), *words]
        if self.user is not None:
            command = ["setpriv", f"--reuid={self.user}", "--regid=65534", "--clear-groups", *command]
        subprocess.run(command, check=True, capture_output=True, cwd="/")

    def make(self) -> None:
        """Make the server's files; a role logs in with its password, the superuser by its socket."""
        self.run(
            "initdb", "-D", f"{self.folder}/data", "-A", "trust", "-U", "postgres", "--locale=C", "-E", "UTF8"
        )
        (self.folder / "data" / "pg_hba.conf").write_text(
            "local all postgres trust\nlocal all all scram-sha-256\n", encoding="utf-8"
        )

    def start(self) -> None:
        """Start it, and wait until it listens."""
        options = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c fsync=off -c max_connections=40"
        self.run(
            "pg_ctl", "-D", f"{self.folder}/data", "-w", "-l", f"{self.folder}/log", "-o", options, "start"
        )

    def stop(self) -> None:
        """Stop it at once, as a machine that is switched off."""
        self.run("pg_ctl", "-D", f"{self.folder}/data", "-w", "-m", "immediate", "stop")

    def admin(self, database: str = "postgres") -> psycopg.Connection[Any]:
        """Connect as the superuser, outside of transactions."""
        return psycopg.connect(host=str(self.folder), user="postgres", dbname=database, autocommit=True)


@contextlib.contextmanager
def running(folder: Path) -> Iterator[Server]:
    """Run a server in a new folder."""
    user = None
    if os.getuid() == 0:  # the server refuses to run as root
        user = "nobody"
        os.chown(folder, pwd.getpwnam(user).pw_uid, -1)
    server = Server(folder, user)
    server.make()
    server.start()
    try:
        yield server
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            server.stop()


if __name__ == "__main__":
    print(program("initdb"), program("pg_ctl"))

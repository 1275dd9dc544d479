"""A migration and the record that it ran are one transaction, and published tables never change."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from dpnb.errors import OwnerError
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.migrations import MIGRATIONS, Migration, migrate

GOLDEN = Path(__file__).parents[1] / "golden" / "ledger"
NEXT = Migration(len(MIGRATIONS) + 1, "notes", ("CREATE TABLE notes (x TEXT) STRICT",))
BROKEN = Migration(NEXT.number, "broken", (*NEXT.statements, "CREATE TABLE notes (x TEXT) STRICT"))


def now():
    return "2026-01-01T00:00:00+00:00"


def tables(database):
    return {row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def records(database):
    query = "SELECT body FROM entries WHERE kind = 'migration' ORDER BY entry"
    return [json.loads(row[0])["name"] for row in database.execute(query)]


@pytest.fixture
def database():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    yield connection
    connection.close()


@pytest.mark.parametrize("version", [migration.number for migration in MIGRATIONS])
def test_the_tables_of_each_version_are_those_of_its_golden_schema(database, version):
    migrate(database, now, MIGRATIONS[:version])
    query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name"
    golden = (GOLDEN / f"schema-v{version}.sql").read_text().rstrip(";\n").split(";\n")
    assert [row[0] for row in database.execute(query)] == golden


def test_migrations_are_numbered_without_a_gap():
    assert [migration.number for migration in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))


def test_a_migration_runs_once(database):
    assert migrate(database, now) == len(MIGRATIONS)
    assert migrate(database, now) == 0
    assert records(database) == [migration.name for migration in MIGRATIONS]


def test_a_later_migration_is_applied_to_an_older_ledger_and_recorded_in_its_chain(tmp_path):
    Ledger(tmp_path / "ledger").close()
    database = sqlite3.connect(tmp_path / "ledger", isolation_level=None)
    assert migrate(database, now, (*MIGRATIONS, NEXT)) == 1
    assert "notes" in tables(database)
    assert records(database)[-1] == "notes"
    database.close()


def test_a_migration_that_fails_halfway_leaves_neither_effect_nor_record(database):
    migrate(database, now)
    before = (tables(database), records(database))
    with pytest.raises(sqlite3.OperationalError):
        migrate(database, now, (*MIGRATIONS, BROKEN))
    assert (tables(database), records(database)) == before
    assert migrate(database, now, (*MIGRATIONS, NEXT)) == 1


def test_a_ledger_from_a_newer_dpnb_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "ledger"
    Ledger(path).close()
    database = sqlite3.connect(path, isolation_level=None)
    migrate(database, now, (*MIGRATIONS, NEXT))
    database.close()
    before = path.read_bytes()
    with pytest.raises(OwnerError, match="newer dpnb"):
        Ledger(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("letters", [b"dpnb", b"dpn1"])
def test_a_ledger_from_before_the_first_release_is_refused_in_one_sentence_and_left_alone(tmp_path, letters):
    """An earlier format has another application id: nothing of it is read, not even its journal is touched."""
    path = tmp_path / "ledger.sqlite3"
    earlier = sqlite3.connect(path, isolation_level=None)
    earlier.execute(f"PRAGMA application_id = {int.from_bytes(letters):d}")
    earlier.execute("PRAGMA user_version = 1")
    earlier.execute("PRAGMA journal_mode = WAL")
    earlier.execute("CREATE TABLE entries (entry INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT")
    earlier.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    earlier.execute("INSERT INTO entries VALUES (1, 'what was spent')")
    path.chmod(0o640)
    before = {file.name: (file.read_bytes(), file.stat().st_mode) for file in tmp_path.iterdir()}
    assert len(before["ledger.sqlite3-wal"][0]) > 0
    with pytest.raises(OwnerError, match=r"choose another DPNB_HOME.*Nothing was changed"):
        Ledger(path)
    assert {file.name: (file.read_bytes(), file.stat().st_mode) for file in tmp_path.iterdir()} == before
    earlier.close()


def test_two_processes_that_migrate_at_once_apply_each_step_once(tmp_path):
    path = tmp_path / "ledger"
    Ledger(path).close()
    one, two = (sqlite3.connect(path, isolation_level=None) for _ in range(2))
    steps = (*MIGRATIONS, NEXT)
    assert migrate(one, now, steps) + migrate(two, now, steps) == 1
    one.close()
    two.close()

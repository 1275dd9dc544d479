"""A ledger's tables are made once, with the entry that says so, and never change; other ledgers are refused."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from dpnb.errors import OwnerError
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.ledger_tables import make_tables

GOLDEN = Path(__file__).parents[1] / "golden" / "ledger"
NOW = "2026-01-01T00:00:00+00:00"


@pytest.fixture
def database():
    connection = sqlite3.connect(":memory:", isolation_level=None)
    yield connection
    connection.close()


def test_the_tables_are_those_of_the_golden_schema(database):
    make_tables(database, NOW)
    query = "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type, name"
    golden = (GOLDEN / "schema-v1.sql").read_text().rstrip(";\n").split(";\n")
    assert [row[0] for row in database.execute(query)] == golden


def test_the_first_entry_of_a_ledger_says_that_its_tables_were_made(database):
    make_tables(database, NOW)
    query = "SELECT entry, time, kind, body FROM entries"
    ((entry, time, kind, body),) = database.execute(query).fetchall()
    assert (entry, time, kind, json.loads(body)) == (
        1,
        NOW,
        "migration",
        {"name": "the ledger", "number": 1},
    )
    assert database.execute("PRAGMA user_version").fetchone() == (1,)
    assert not database.in_transaction


def test_a_ledger_from_a_newer_dpnb_is_refused_and_left_alone(tmp_path):
    path = tmp_path / "ledger"
    Ledger(path).close()
    database = sqlite3.connect(path, isolation_level=None)
    database.execute("PRAGMA user_version = 2")
    database.close()
    before = path.read_bytes()
    with pytest.raises(OwnerError, match="newer dpnb"):
        Ledger(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("letters", [b"dpnb", b"dpn1", b"dpnL", b"dpnM"])
def test_a_ledger_from_before_the_first_release_is_refused_in_one_sentence_and_left_alone(tmp_path, letters):
    """An earlier format has another application id: nothing of it is read, not even its journal is touched.

    The last of them knew protected rows by sums of cells: opened, they would open as TEACHING.
    """
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

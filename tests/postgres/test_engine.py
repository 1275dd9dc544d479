"""PostgreSQL keeps the engine's contract, and its sessions keep still, come back, and leave nothing."""

from __future__ import annotations

import json
import tempfile
import threading
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import psycopg
import pytest

from dpnb.datasets.exact_answers import answer
from dpnb.trusted.aggregate.algebra import Cmp, Col, CrossMoments, Key, Lit, Total, ValueCounts
from dpnb.trusted.curator.engines.postgres import _WAITS, PostgresEngine, drop_copy, write_copy
from dpnb.trusted.errors import ChargedError, CuratorGone
from dpnb.trusted.schema.server_table import ServerTable
from tests.contracts.engine import EngineContract, as_lists, many
from tests.contracts.expressions import SIZES
from tests.contracts.handed import prepare
from tests.curator.engines.test_depth import SHAPES, swapped
from tests.curator.engines.test_duckdb import BATCH, FAR_APART, schema_of
from tests.postgres.conftest import PASSWORD


@contextmanager
def engine_over(columns, uri):
    """A prepared copy of these codes in a server, and an engine over it that asks statements, as of a long table."""
    arrays = {n: np.array([np.nan if v is None else v for v in c], dtype=float) for n, c in columns.items()}
    with tempfile.TemporaryDirectory() as folder:
        note = Path(folder) / "copy.server"
        copy = prepare(arrays, schema_of(SIZES), Path(folder) / "copy.duckdb")
        write_copy(copy, ServerTable(uri, "rows"), schema_of(SIZES), note)
        with PostgresEngine(note) as engine:
            engine._short = False
            yield engine
        drop_copy(note)


class TestPostgresEngine(EngineContract):
    """A copy in PostgreSQL, asked through the dialect."""

    @pytest.fixture(scope="class", autouse=True)
    @classmethod
    def served(cls, server):
        """One database for the whole contract, reached as its superuser."""
        cls.uri = f"postgresql://postgres@/postgres?host={server.folder}"

    @classmethod
    def open_engine(cls, columns):
        """An engine over a fresh copy."""
        return engine_over(columns, cls.uri)


@pytest.fixture
def engine(place):
    """An engine over a large table, as the curator's role."""
    with engine_over(many(), place.uri) as made:
        yield made


def test_the_copy_is_the_roles_alone(place, engine):
    """Nobody else may read it, and the note names no password."""
    rows = place.run(
        "SELECT relacl::text, pg_get_userbyid(relowner) FROM pg_class WHERE relname LIKE 'copy_%'"
    )
    assert rows == [(f"{{{place.role}=arwdDxt/{place.role}}}", place.role)]
    assert PASSWORD not in engine._note.read_text()
    assert "password" not in engine._note.read_text().lower()


def test_a_session_writes_nothing(engine):
    """A statement that would write is refused by the server."""
    with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
        engine._session.execute(f"DELETE FROM {engine._relation}")
    engine._session.rollback()


def test_a_batch_sees_one_snapshot(place, engine):
    """What is written between two statements of a batch is not seen by the second."""
    batch = [Total(Lit(1)), CrossMoments((Lit(1), Lit(1)), ((0, 1),))]
    engine._keeps = False  # as of a copy that may change
    ask, copy = engine._rows_of, engine._relation

    def late(sql):
        place.run(f"INSERT INTO {copy} SELECT * FROM {copy} LIMIT 100")
        return ask(sql)

    engine._rows_of = late
    assert engine.answer(batch) == [(3000,), (3000,)]
    engine._rows_of = ask
    assert engine.answer(batch) == [(3100,), (3100,)]


def test_a_lost_connection_is_opened_again(place, engine):
    """The server ends the session in the middle of a batch: the batch is run again, whole."""
    before, ask, lost = engine.answer(BATCH), engine._columns, []

    def cut(sql):
        if not lost:
            lost.append(
                place.run(
                    f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{place.role}'"
                )
            )
        return ask(sql)

    engine._columns = cut
    assert engine.answer(BATCH) == before
    assert lost


@pytest.mark.slow
def test_a_server_that_starts_anew_is_waited_for(place, engine):
    """Switched off between two batches and started by somebody else: the second batch is answered."""
    before = engine.answer(FAR_APART)
    place.server.stop()
    later = threading.Timer(0.8, place.server.start)
    later.start()
    try:
        assert engine.answer(FAR_APART) == before
    finally:
        later.join()


@pytest.mark.parametrize(
    ("closed", "opened"),
    [("PASSWORD 'another'", f"PASSWORD '{PASSWORD}'"), ("NOLOGIN", "LOGIN")],
)
def test_a_password_that_is_changed_meanwhile_is_told_as_such(place, engine, closed, opened):
    """Seen: "The database server was not reached", after eight seconds of waiting, whatever the owner had to do."""
    before = engine.answer(BATCH)
    place.run(
        f"ALTER ROLE {place.role} {closed}",
        f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '{place.role}'",
    )
    try:
        with pytest.raises(
            ChargedError, match=r"did not let this user in.*answered without a second charge"
        ) as told:
            engine.answer(BATCH)
        assert PASSWORD not in str(told.value)
    finally:
        place.run(f"ALTER ROLE {place.role} {opened}")
    assert engine.answer(BATCH) == before


def test_a_server_that_stays_away_is_told(place, engine, monkeypatch):
    """Nothing is answered, and the words say that nothing is lost."""
    monkeypatch.setattr("dpnb.trusted.curator.engines.postgres._WAITS", (0.0, 0.0))
    place.server.stop()
    try:
        with pytest.raises(CuratorGone, match="Nothing is lost"):
            engine.answer(BATCH)
    finally:
        place.server.start()
    assert engine.answer(BATCH) == answer(many(), BATCH)
    assert sum(_WAITS) > 5


@pytest.mark.parametrize("act", ["DROP TABLE {}", "TRUNCATE {}"])
def test_a_copy_that_was_taken_away_is_told(place, engine, act):
    """Dropped by an administrator, or emptied: the note goes too, so that the next opening prepares the rows again."""
    place.run(act.format(engine._relation))
    engine._session.close()
    with pytest.raises(CuratorGone, match="removed from the server"):
        engine.answer(BATCH)
    assert not engine._note.exists()


def test_more_pairs_than_a_select_has_columns(engine):
    """A matrix of two thousand pairs is answered in several statements."""
    values = (Lit(1), Col("age"), Col("g"), Col("flag"))
    pairs = tuple((i % 4, j % 4) for i in range(45) for j in range(45))
    requests = [CrossMoments(values, tuple(dict.fromkeys(pairs)))]
    engine._dialect = type(engine._dialect)(**{**_fields(engine._dialect), "most_columns": 3})
    assert engine.answer(requests) == answer(many(), requests)


def _fields(dialect):
    return {name: getattr(dialect, name) for name in dialect.__slots__}


def test_deep_expressions_are_planned_in_their_own_length(engine):
    """Conditions within conditions, negations, clips and floors: no inner column is written out wherever it is mentioned."""
    values = [swapped(shape) for shape in SHAPES.values()]
    batch = [CrossMoments((Lit(1), value, Col("g")), ((0, 1), (1, 2))) for value in values]
    batch += [Total(Lit(1), Cmp("<", value, Lit(3)), (Key(Col("flag"), 2),)) for value in values]
    assert engine.answer(batch) == answer(many(), batch)


def test_an_empty_copy_is_answered(place):
    """Groups and counts of no rows are zeros."""
    batch = [
        *BATCH,
        *FAR_APART,
        ValueCounts(Col("wide")),
        ValueCounts(Col("wide"), None, (Key(Col("g"), 7),)),
    ]
    columns = {name: [] for name in SIZES}
    with engine_over(columns, place.uri) as empty:
        assert as_lists(empty.answer(batch)) == as_lists(answer(columns, batch))


def test_a_dropped_copy_leaves_nothing(place):
    """Neither a table nor a note."""
    with engine_over({name: [0, 1] for name in SIZES}, place.uri) as engine:
        note, copy = engine._note, json.loads(engine._note.read_text())["copy"]
        assert place.run(f"SELECT to_regclass('dpnb.{copy}') IS NOT NULL") == [(True,)]
    assert not note.exists()
    assert place.run(f"SELECT to_regclass('dpnb.{copy}') IS NOT NULL") == [(False,)]

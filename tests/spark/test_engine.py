"""What happens to a batch when Spark, its copy or its caller goes away; and how quiet all of it is."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from dpnb.trusted.aggregate.algebra import Lit, Total
from dpnb.trusted.curator.engines import spark_session
from dpnb.trusted.curator.engines.spark import SparkEngine, drop_copy, write_copy
from dpnb.trusted.errors import CuratorGone, OwnerError
from tests.contracts.engine import many
from tests.curator.engines.test_duckdb import BATCH
from tests.spark.over import engine_over, prepared

COUNT = [Total(Lit(1))]


def process_id():
    """Return the number of Spark's own process."""
    return int(spark_session._java().ProcessHandle.current().pid())


@pytest.fixture
def engine():
    """An engine over a large table."""
    with engine_over(many()) as made:
        yield made


def test_the_copy_is_the_curators_alone(engine):
    """Nobody else may read the codes or the note, and both go when the copy is dropped."""
    facts = json.loads(engine._note.read_text())
    folder = Path(facts["relation"].removeprefix("file://"))
    assert folder.parent == engine._note.parent
    assert (folder.stat().st_mode & 0o777, engine._note.stat().st_mode & 0o777) == (0o700, 0o600)
    drop_copy(engine._note)
    assert not folder.exists()
    assert not engine._note.exists()


def test_a_copy_may_lie_where_executors_reach_it(tmp_path, monkeypatch):
    """`spark.dpnb.copies` names a folder: the copy is moved there, answered from there and deleted there."""
    shared = tmp_path / "shared"
    monkeypatch.setattr(spark_session, "shared_folder", shared.as_uri)
    note = tmp_path / "copy.spark"
    write_copy(prepared(many(), tmp_path), None, None, note)
    (copy,) = shared.iterdir()
    assert json.loads(note.read_text())["relation"] == copy.as_uri()
    assert not list(tmp_path.glob(".copy.spark.*"))
    with SparkEngine(note) as engine:
        assert engine.answer(COUNT) == [(3000,)]
    drop_copy(note)
    assert not list(shared.iterdir())


def test_a_copy_that_was_removed_is_told(engine):
    """The note goes too, so that the next opening prepares the rows again; other faults are not taken for it."""
    shutil.rmtree(engine._place.removeprefix("file://"))
    with pytest.raises(CuratorGone, match="Open the dataset again"):
        engine.answer(BATCH)
    assert not engine._note.exists()
    with pytest.raises(CuratorGone, match="Open the dataset again"):
        SparkEngine(engine._note)


@pytest.mark.soak
def test_a_context_that_ends_in_mid_batch_is_started_anew(engine):
    """Stopped between two statements, whoever did it: the batch is run again, whole."""
    before, real, ended = engine.answer(BATCH), engine._columns, []

    def cut(sql):
        if not ended:
            ended.append(engine._spark.sparkContext.stop())
        return real(sql)

    engine._columns = cut
    assert engine.answer(BATCH) == before
    assert ended


def test_a_spark_that_is_killed_in_mid_batch_is_started_anew(engine):
    """Its process ends while a statement runs: another one is started, and the batch is run again."""
    before, real, killed = engine.answer(BATCH), engine._columns, []

    def cut(sql):
        if not killed:
            process = process_id()
            killed.append(process)
            threading.Timer(0.2, os.kill, (process, signal.SIGKILL)).start()
            return real("SELECT sum(a.id * b.id) AS s0 FROM range(1000000) a, range(1000000) b")
        return real(sql)

    engine._columns = cut
    assert engine.answer(BATCH) == before
    assert process_id() != killed[0]


@pytest.mark.parametrize(
    ("hide", "words"), [("pyspark", r'pip install "dpnb\[spark\]"'), ("java", "needs Java 17")]
)
def test_what_is_missing_is_named(hide, words, monkeypatch, tmp_path):
    """Without pyspark or Java the owner reads what to install."""
    if hide == "pyspark":
        monkeypatch.setitem(sys.modules, "pyspark", None)
    else:
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.delenv("JAVA_HOME", raising=False)
    with pytest.raises(OwnerError, match=words):
        spark_session._started()


def test_a_curator_imports_spark_only_for_spark():
    """Neither the engine's package nor the service brings it."""
    code = "import sys, dpnb.trusted.curator.service, dpnb.trusted.curator.engines; assert 'pyspark' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_nothing_is_shown_and_nothing_listens():
    """No page of jobs, no progress on a terminal."""
    context = spark_session.session().sparkContext
    assert context.uiWebUrl is None
    assert context.getConf().get("spark.ui.showConsoleProgress") == "false"

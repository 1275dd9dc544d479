"""The tour on Spark: one line is another, and every integer that is asked of the data is the same."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import dpnb
from dpnb.client.session import Session
from dpnb.client.transport import InMemory
from dpnb.datasets import find
from dpnb.errors import CuratorError
from dpnb.notebook import load
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.wire.messages import Again, Attach, FileSource
from dpnb.trusted.wire.places import Home
from tests.contracts.engine import as_lists
from tests.notebook.conftest import shell  # noqa: F401 - a fixture

TOUR = Path(__file__).parents[2] / "notebooks" / "00-tour.ipynb"
OPENING, REFUSED = 'dpnb.open("hiv", mode="guard-rail")', "%%dp epsilon=100"
DECLARATION = """
[dataset]
name = "hiv"
source = "{source}"
adjacency = "change-one"
rows = 4820

[budget]
epsilon = 4

[columns]
got = {{ type = "category", values = [0, 1] }}
any = {{ type = "category", values = [0, 1] }}
distvct = {{ type = "number", lower = 0, upper = 6, step = 0.01 }}
age = {{ type = "integer", lower = 0, upper = 100 }}
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A folder of Parquet with the rows of the study, and the one file in it."""
    folder = tmp_path_factory.mktemp("hiv") / "rows"
    folder.mkdir()
    columns = {name: pa.array(column, from_pandas=True) for name, column in find("hiv").load().items()}
    pq.write_table(pa.table(columns), folder / "part-0.parquet")
    return folder


class Asked:
    """A curator of a home in this process, and every batch that its engines answered."""

    def __init__(self, home):
        self.service = Curator.opened(Config(Home(home)))
        self.batches = []
        self.session = Session(lambda: InMemory(lambda body: self.service.answer(body, "ann")))
        self.fails = 0
        shelf = self.service._copies
        real = shelf._engine

        def opened(path):
            engine = real(path)
            ask = engine.answer

            def answer(requests):
                if self.fails:
                    self.fails -= 1
                    raise ConnectionResetError("the engine went away")
                found = ask(requests)
                self.batches.append((requests, as_lists(found)))
                return found

            engine.answer = answer
            return engine

        shelf._engine = opened

    def close(self):
        """End it."""
        self.session.close()
        self.service.close()


@pytest.fixture
def curator(tmp_path):
    """Open a curator of a home of its own."""
    made = []

    def start(name):
        made.append(Asked(tmp_path / name))
        return made[-1]

    yield start
    for one in made:
        one.close()


def declared(tmp_path, source, more=""):
    """A declaration that names this source."""
    path = tmp_path / "hiv.dpnb.toml"
    path.write_text(DECLARATION.format(source=source) + more)
    return path


def cells():
    """The tour's code."""
    found = json.loads(TOUR.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == "code"]


def toured(shell, asked, declaration, monkeypatch):  # noqa: F811 - the fixture's value
    """Run the tour with its first line changed; what the engine was asked and answered."""
    monkeypatch.chdir(declaration.parent)
    monkeypatch.setattr("dpnb.client.sessions.plain", lambda: asked.session)
    load(shell)
    for text in cells():
        if text.startswith(REFUSED):
            with pytest.raises(Exception, match="Nothing was spent"):
                shell.cell(text)
        else:
            shell.cell(text.replace(OPENING, f'dpnb.open("{declaration.name}")'))
    return asked.batches


def test_the_tour_asks_the_same_and_is_answered_the_same(shell, curator, data, tmp_path, monkeypatch):  # noqa: F811
    """Every cell runs; DuckDB on the file and Spark on the folder give equal integers to equal batches."""
    first = toured(shell, curator("duckdb"), declared(tmp_path, f"{data}/part-0.parquet"), monkeypatch)
    second = toured(shell, curator("spark"), declared(tmp_path, f"spark:{data}"), monkeypatch)
    assert len(first) >= 3
    assert second == first


@pytest.fixture
def attached(curator, data, tmp_path):
    """The dataset on Spark, opened."""
    asked = curator("spark")
    path = declared(tmp_path, f"spark:{data}")
    return asked, asked.session.attach(FileSource(path=str(path)))


def test_an_engine_that_goes_away_in_mid_batch_costs_nothing_more(attached):
    """The charge is on disk when the engine fails: running the line again completes it, and it is charged once."""
    asked, hiv = attached
    asked.fails = 1
    mean = hiv.got.mean()
    with pytest.raises(CuratorError):
        dpnb.release([mean], epsilon=1)
    dpnb.release([mean], epsilon=1)
    assert mean.value is not None
    assert hiv.budget.spent.amount == 1


def test_a_curator_started_anew_opens_the_copy_again(attached, curator):
    """The same handle, the same budget, and the table is not read a second time."""
    asked, hiv = attached
    home = asked.service._home
    asked.close()
    notes = {path: path.stat().st_mtime_ns for path in home.prepared.glob("*.spark")}
    again = Asked(home.root)
    try:
        reply = again.service.reply(Attach(source=Again(handle=hiv.handle), mode=None), "ann")
        assert reply.handle == hiv.handle
        assert {path: path.stat().st_mtime_ns for path in home.prepared.glob("*.spark")} == notes
        assert len(notes) == 1
    finally:
        again.close()


def test_a_detached_dataset_leaves_nothing(attached):
    """Neither the note nor the Parquet."""
    asked, hiv = attached
    asked.session.detach(hiv, remove=True)
    assert list(asked.service._home.prepared.iterdir()) == []

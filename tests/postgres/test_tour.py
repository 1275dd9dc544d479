"""The tour on PostgreSQL: one line is another, and every integer that is asked of the data is the same."""

from __future__ import annotations

import contextlib
import json
from pathlib import Path

import numpy as np
import pytest

from dpnb.datasets import find
from dpnb.notebook import load
from tests.notebook.conftest import shell  # noqa: F401 - a fixture
from tests.postgres.test_attach import PostgresHome

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


def cells():
    """The tour's code."""
    found = json.loads(TOUR.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in found if cell["cell_type"] == "code"]


def toured(shell, home, folder, source, monkeypatch):  # noqa: F811 - the fixture's value
    """Run the tour with its first line changed; what the engine was asked and answered."""
    folder.mkdir()
    (folder / "hiv.dpnb.toml").write_text(DECLARATION.format(source=source))
    desk = PostgresHome(home)
    with contextlib.closing(desk.service):
        monkeypatch.chdir(folder)
        monkeypatch.setattr("dpnb.client.sessions.plain", lambda: desk.session)
        load(shell)
        for text in cells():
            if text.startswith(REFUSED):
                with pytest.raises(Exception, match="Nothing was spent"):
                    shell.cell(text)
            else:
                shell.cell(text.replace(OPENING, 'dpnb.open("hiv.dpnb.toml")'))
        desk.session.close()
    return desk.batches


def test_the_tour_asks_the_same_and_is_answered_the_same(shell, place, tmp_path, monkeypatch):  # noqa: F811
    """Every cell runs; DuckDB on a file and PostgreSQL on its table give equal integers to equal batches."""
    columns = {name: np.asarray(column, dtype=float) for name, column in find("hiv").load().items()}
    names = list(columns)
    rows = [
        [None if np.isnan(cell) else cell for cell in row]
        for row in zip(*map(np.ndarray.tolist, columns.values()), strict=True)
    ]
    listed = ", ".join(f'"{name}" double precision' for name in names)
    place.run(f"CREATE TABLE hiv ({listed})")
    with (
        place.server.admin(place.database) as connection,
        connection.cursor() as cursor,
        cursor.copy("COPY hiv FROM STDIN") as into,
    ):
        for row in rows:
            into.write_row(row)
    text = [",".join("" if cell is None else repr(cell) for cell in row) for row in rows]
    file = tmp_path / "hiv.csv"
    file.write_text("\n".join([",".join(names), *text]) + "\n")
    first = toured(shell, tmp_path / "one", tmp_path / "file", str(file), monkeypatch)
    second = toured(shell, tmp_path / "two", tmp_path / "server", f"{place.uri}&table=hiv", monkeypatch)
    assert len(first) >= 3
    assert repr(second) == repr(first)

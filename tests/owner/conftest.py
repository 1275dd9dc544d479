"""A small file of an owner's own, with its declaration, in a home of its own."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

from dpnb.__main__ import main
from dpnb.client import api

SCHEMA = """
[dataset]
name = "people"
title = "A small town"
source = "people.csv"
adjacency = "add-remove"
unit = "who"
max_rows_per_unit = 2

[budget]
epsilon = 4

[columns.age]
type = "integer"
lower = 0
upper = 100

[columns.sex]
type = "category"
values = ["f", "m"]
"""


def write_people(folder):
    """Two hundred rows of 180 people; some cells are what owners find in their files."""
    rng = np.random.default_rng(20)
    rows = [[place % 180, rng.integers(18, 90), "fm"[place % 2]] for place in range(200)]
    rows[3][1], rows[4][1], rows[5][1] = 140, "", "old"
    rows[6][2], rows[7][0] = "x", ""
    rows += [[1, 30, "f"]] * 2  # one person has four rows
    lines = ["who,age,sex", *(",".join(map(str, row)) for row in rows)]
    (folder / "people.csv").write_text("\n".join(lines) + "\n")
    (folder / "people.dpnb.toml").write_text(SCHEMA)


@pytest.fixture(autouse=True)
def _outside_notebooks(monkeypatch):
    """Leave no trace of kernels that other tests of this process started or imported."""
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    for name in ("JPY_PARENT_PID", "JPY_SESSION_NAME"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def folder(tmp_path, dpnb_home):
    """A folder with a file and its declaration, and a home of its own."""
    write_people(tmp_path)
    yield tmp_path
    api.close()


@pytest.fixture
def admin(folder, capsys):
    """Run ``dpnb admin …`` and return its status and what it said; with ``as_json`` the facts."""

    def run(*words, as_json=False):
        capsys.readouterr()
        status = main(["admin", *map(str, words), *(["--json"] if as_json else [])])
        said = capsys.readouterr()
        return (status, json.loads(said.out)) if as_json else (status, said.out + said.err)

    return run

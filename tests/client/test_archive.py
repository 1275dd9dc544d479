"""A study in one file: what goes in comes out, nothing unreleased goes in, and a damaged copy is noticed."""

from __future__ import annotations

import csv
import io
import json
import random
import zipfile

import numpy as np
import pytest

import dpnb
from dpnb.errors import OptionError, PlanError
from dpnb.estimate import Host, provide
from dpnb.trusted.schema import Schema


@pytest.fixture
def released(data):
    """Two released answers by name."""
    found = {"mean": data.x.mean(), "bins": data.x.histogram(bins=5)}
    dpnb.release(found, epsilon=2)
    return found


def test_an_archive_holds_results_schema_ledger_versions_and_methods(tmp_path, session, data, released):
    """All of it is read back as it was, and every digit of every number."""
    path = tmp_path / "study.zip"
    written = dpnb.archive(path, released)
    read = dpnb.archive.read(path)
    assert read == written or repr(read) == repr(written)
    assert read.results["mean"]["value"] == released["mean"].value
    assert list(read.tables["bins"]["value"]) == np.ravel(released["bins"].value).tolist()
    assert read.tables["bins"].keys == ("x",)
    assert Schema.from_json(read.schemas["small"]) == data.schema
    assert read.ledger == json.loads(json.dumps(session.ledger(data)))
    assert read.versions["dpnb"] == dpnb.__version__
    assert "discrete Laplace" in read.methods
    assert read.cells == ()
    assert repr(read) == "<archive study.zip: 2 results about small, 2 ledger rows>"


def test_an_archive_is_plain_files_that_need_no_dpnb(tmp_path, released):
    """A referee opens report.html and tables/001.csv with what there is."""
    dpnb.archive(tmp_path / "study.zip", released)
    with zipfile.ZipFile(tmp_path / "study.zip") as packed:
        (row,) = csv.DictReader(io.StringIO(packed.read("tables/001.csv").decode()))
        assert float(row["value"]) == released["mean"].value
        assert packed.read("report.html").startswith(b"<!doctype html>")


def test_a_notebook_archives_what_it_calls_by_name_and_its_cells(tmp_path, released):
    """Without items: the released answers that have a name; what is pending stays out."""

    class Notebook(Host):
        def names(self):
            return {**released, "later": pending}

        def cells(self):
            return ("import dpnb", "%%dp epsilon=2\nmean = data.x.mean()")

    pending = released["mean"].leaves()[0].dataset.x.sum()
    provide(Notebook())
    try:
        found = dpnb.archive(tmp_path / "study.zip")
        assert "bins" in dpnb.report(to=tmp_path / "study.md").path.read_text()
    finally:
        provide(None)
    assert set(found.results) == {"mean", "bins"}
    assert found.cells[1].startswith("%%dp")


def test_what_cannot_be_archived_says_what_to_type(tmp_path, data, released):
    """Nothing named in a script, another ending, a pending question: no file is left behind."""
    with pytest.raises(PlanError, match="Name what to archive"):
        dpnb.archive(tmp_path / "study.zip")
    with pytest.raises(OptionError, match=r'dpnb\.archive\("study\.zip"\)'):
        dpnb.archive(tmp_path / "study.tar", released)
    with pytest.raises(PlanError, match="not released"):
        dpnb.archive(tmp_path / "study.zip", {"sum": data.x.sum()})
    assert not list(tmp_path.glob("study*"))


def outcome(path):
    """What reading comes to: the results, or the refusal's text."""
    try:
        found = dpnb.archive.read(path)
    except OptionError as refused:
        return str(refused)
    return found.results, found.ledger, found.schemas, found.methods


def test_a_damaged_or_foreign_archive_is_refused(tmp_path, released):
    """A bit that is flipped anywhere either leaves the study as it was or is told; other files are told too."""
    path = tmp_path / "study.zip"
    dpnb.archive(path, released)
    whole, content, rng = outcome(path), path.read_bytes(), random.Random(5)
    damaged = "This file is not an archive of dpnb, or it is damaged."
    told = 0
    for _ in range(80):
        place = rng.randrange(len(content))
        broken = bytearray(content)
        broken[place] ^= 1 << rng.randrange(8)
        path.write_bytes(broken)
        found = outcome(path)
        assert found in (whole, damaged) or "larger than" in found
        told += found == damaged
    assert told > 40
    path.write_bytes(b"not a zip")
    with pytest.raises(OptionError, match="not an archive of dpnb"):
        dpnb.archive.read(path)
    with pytest.raises(OptionError, match="no such archive"):
        dpnb.archive.read(tmp_path / "other.zip")


def test_a_changed_result_is_noticed_and_a_huge_one_is_not_read(tmp_path, released, monkeypatch):
    """Results that are replaced without their digest, and an archive beyond the limit."""
    path = tmp_path / "study.zip"
    dpnb.archive(path, released)
    with zipfile.ZipFile(path) as packed:
        files = {name: packed.read(name) for name in packed.namelist()}
    files["results.json"] = files["results.json"].replace(b"mean", b"mode")
    with zipfile.ZipFile(path, "w") as packed:
        for name, content in files.items():
            packed.writestr(name, content)
    with pytest.raises(OptionError, match="damaged"):
        dpnb.archive.read(path)
    monkeypatch.setattr("dpnb.client.archive._LARGEST", 1000)
    with pytest.raises(OptionError, match="larger than"):
        dpnb.archive.read(path)

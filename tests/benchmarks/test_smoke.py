"""Every benchmark runs, on so few rows that its figures say nothing."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks import (
    bench_class,
    bench_engine,
    bench_prepared,
    bench_roundtrip,
    bench_scale,
)
from tests.benchmarks.peers import page, timing, worker

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", sorted(path.stem for path in HERE.glob("bench_*.py")))
def test_a_benchmark_finds_what_it_measures(name):
    """A benchmark imports what it calls: a name that is gone is found here, not in the night that it was meant to run."""
    assert importlib.import_module(f"tests.benchmarks.{name}").__doc__


def test_the_engines_are_timed(monkeypatch):
    """A batch, and a preparation of people's rows: each way of it."""
    for module in (bench_engine, bench_prepared):
        monkeypatch.setattr(module, "REPEATS", 1)
        assert all(np.all(np.greater(took, 0)) for took in module.measure(500).values())


def test_what_a_class_waits_for_is_timed():
    """A wide table; the others of these run with `make test` as they are."""
    assert bench_class.attaching(40, 10, rounds=1).ratio > 0


def test_a_release_is_taken_apart(dpnb_home):
    """Every part of a fresh mean is called, and the curator takes no less than what it is made of."""
    ((_, each),) = bench_roundtrip.parts(200, 2, ["mean"])
    assert min(each.values()) > 0
    inside = (
        "read the plan and price it",
        "charge, synced",
        "exact integers",
        "store, synced, and raise the mark",
    )
    assert sum(each[part] for part in inside) <= each["the curator"]


def test_a_file_is_written_opened_and_asked_beside_exact_duckdb(dpnb_home, tmp_path, monkeypatch):
    """All that is measured at a hundred million rows, of a thousand, and the tables that are made of it."""
    monkeypatch.setattr(bench_scale, "LINES", tmp_path / "lines.jsonl")
    bench_scale.rows_of(1_000, tmp_path, 1)
    lines = bench_scale.latest()
    asked = {line["question"] for line in lines if line["what"] == "ask"}
    assert asked == {*bench_scale.ASKED, "the seven"}
    assert len(bench_scale.table_of_rows(lines)) == 3
    assert len(bench_scale.table_of_questions(lines)) == 2 + len(asked)


@pytest.mark.parametrize("name", sorted({*bench_scale.CURVES} - {"groups", "questions"}))
def test_each_cost_is_measured_where_it_is_smallest(tmp_path, monkeypatch, name):
    """What a change of the service or the ledger breaks in a curve is seen before a quiet machine is at hand."""
    monkeypatch.setattr(bench_scale, "LINES", tmp_path / "lines.jsonl")
    monkeypatch.setattr(bench_scale, "SECONDS", 0.5)
    _, costs = next(bench_scale.CURVES[name](tmp_path))
    assert costs
    assert all(cost > 0 for cost in costs.values())


def test_an_exponent_is_that_of_the_upper_half():
    """A cost of a + b n² grows with n²."""
    assert bench_scale.exponent([(n, 5 + n * n) for n in (1, 10, 100, 1_000, 10_000)]) == pytest.approx(
        2, abs=0.01
    )


def test_dpnb_is_timed_and_compared_as_its_peers_are(dpnb_home, tmp_path, monkeypatch):
    """Errors, times and the page, of dpnb alone and of 120 rows; what is not measured anew stands as it is on file."""
    monkeypatch.setattr(timing, "PATIENCE", 0.0)
    for name, lines in (
        ("accuracy", worker.lines("ours", "change-one", 120, 10.0, 2)),
        ("timing", ({"rows": 120, "load": 0.0, **line} for line in timing.lines("ours", 120))),
    ):
        told = [{"library": "dpnb", **line} for line in lines]
        assert not any("fails" in line for line in told)
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in told))
    page.write(tmp_path, tmp_path / "benchmarks")
    assert "| the seven |" in (tmp_path / "benchmarks.md").read_text()
    for name in ("accuracy", "timing"):
        (tmp_path / f"{name}.jsonl").unlink()
    page.write(tmp_path, tmp_path / "benchmarks")
    text = (tmp_path / "benchmarks.md").read_text()
    assert "| the seven |" in text
    assert "n 120, ε 10" in text

"""The benchmark of PostgreSQL runs, on a table that is no measure of anything."""

from __future__ import annotations

from tests.benchmarks import bench_postgres


def test_the_benchmark_runs(server, monkeypatch):
    """Every way is timed, on a server of its own."""
    assert server
    monkeypatch.setattr(bench_postgres, "REPEATS", 1)
    assert all(value > 0 for value in bench_postgres.measure(500).values())

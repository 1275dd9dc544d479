"""A release of one cell on 10,000 rows, over a real curator process: everything but the engine takes at most 15 ms (median).

Run ``pytest tests/benchmarks/bench_roundtrip.py -s`` to read the figures.
"""

from __future__ import annotations

import statistics
import time

import pytest

import dpnb
from dpnb.client.priced_batch import batch_of
from dpnb.datasets import census, census_schema
from dpnb.estimate import PendingQuestion
from dpnb.planner.price import price
from dpnb.planner.request import Ask
from dpnb.trusted.curator.engines import DuckDBEngine
from tests.contracts.handed import prepare

ROWS, ROUNDS = 10_000, 60


def median_ms(work, rounds=ROUNDS):
    """The median of some timed calls, in milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append((time.perf_counter() - start) * 1e3)
    return statistics.median(times)


@pytest.mark.slow
def test_the_round_trip_costs_little_beside_the_engine(tmp_path):
    """Client, wire, service, ledger and noise together: at most 15 ms over the engine's own time; pricing at most 5 ms."""
    table, schema = census(ROWS, 1), census_schema(ROWS)
    data = dpnb.open(table, schema=schema, quiet=True)
    session = data.session
    numbers = [column.name for column in data.schema.columns if column.numeric][:3]
    kinds = [column.name for column in data.schema.columns if column.values is not None]
    questions = [data[numbers[0]].mean(), data[numbers[1]].mean(), data.groupby(kinds[0]).count()]
    ask = Ask.make(epsilon="0.001", fresh=True)

    def anew():
        return [
            PendingQuestion(q.measurement.question, q.measurement.checked, dataset=data) for q in questions
        ]

    release = median_ms(lambda: session.release(anew(), ask))
    batch = batch_of(anew(), ask)
    stored = Ask.make(epsilon="0.0005")
    free = median_ms(lambda: session.release(anew(), stored))
    requests = [part.request for item in batch.priced.items for part in item.parts]
    prepare(table, data.schema, tmp_path / "copy.duckdb", key=b"k")
    engine = DuckDBEngine(tmp_path / "copy.duckdb")
    scan = median_ms(lambda: engine.answer(requests))
    engine.close()
    pricing = median_ms(lambda: price(batch.plan, data.schema))
    ping = median_ms(data.budget.state)
    print(
        f"\nrelease {release:.1f} ms, engine {scan:.1f} ms, over it {release - scan:.1f} ms; "
        f"stored {free:.1f} ms; pricing {pricing:.2f} ms; budget read {ping:.1f} ms"
    )
    assert release - scan <= 15
    assert pricing <= 5

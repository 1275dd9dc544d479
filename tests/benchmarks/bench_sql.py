"""How long a SELECT takes to become questions: the 51 queries that are answered, in milliseconds of processor.

Run it with ``python -m tests.benchmarks.bench_sql``. No data are opened. At most 10 ms in the median is what is wanted.
"""

from __future__ import annotations

import statistics
import time

from dpnb.client.sql import statements, translate
from tests.sql.tables import PARAMETERS, handles
from tests.sql.verdicts import SAME


def measure(rounds: int = 5) -> list[float]:
    """Return the milliseconds of each translation, the first of all left out."""
    tables, took = handles(), []
    for text in ("SELECT COUNT(*) FROM people", *list(SAME.values()) * rounds):
        started = time.process_time()
        translate(statements(text)[0], tables, PARAMETERS)
        took.append(1000 * (time.process_time() - started))
    return took[1:]


if __name__ == "__main__":
    found = measure()
    print(f"median {statistics.median(found):.1f} ms, slowest {max(found):.1f} ms")

"""What one question takes end to end, beside exact DuckDB and Polars on raw floats: ``python -m tests.benchmarks.bench_questions 10000``.

Fresh releases through the curator's process and its synced ledger, each paid for, in turn with the exact engines: the table, the
questions and the engines are those of ``make bench``, with fifty groups.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile

from tests.benchmarks.measuring import load, milliseconds
from tests.benchmarks.peers.study import STATISTICS, study
from tests.benchmarks.peers.worker import joined

SEVEN = "the seven"
GROUPS = 50


def asked(peer, statistic):
    """Ask one statistic, or the seven."""
    return joined(peer, 1.0) if statistic == SEVEN else peer.ask(statistic, 1.0)


def measure(rows, repeats, chosen=()):
    """Milliseconds of every repeat of each statistic by each of the three, in turn."""
    from tests.benchmarks.peers import exact_duckdb, exact_polars, ours

    table = study(rows, regions=GROUPS)
    peers = {
        "dpnb": ours.Peer(table, "change-one"),
        "DuckDB": exact_duckdb.Peer(table, ""),
        "Polars": exact_polars.Peer(table, ""),
    }
    names = [name for name in (*STATISTICS, SEVEN) if not chosen or name in chosen]
    found = {(name, who): [] for name in names for who in peers}
    for turn in range(repeats + 1):
        for name in names:
            for who, peer in peers.items():
                took = milliseconds(lambda peer=peer, name=name: asked(peer, name))
                if turn:
                    found[name, who].append(took)
    return found


def table_of(found):
    """A line for each statistic: fastest and median of each, and the ratio of the fastest to the better exact engine."""
    yield f"{'':14} {'dpnb':>16} {'DuckDB':>16} {'Polars':>16}   ratio"
    for name in dict.fromkeys(name for name, _ in found):
        each = [found[name, who] for who in ("dpnb", "DuckDB", "Polars")]
        best = [min(times) for times in each]
        cells = " ".join(f"{min(times):7.2f} /{statistics.median(times):7.2f}" for times in each)
        yield f"{name:14} {cells}   {best[0] / min(best[1:]):.2f}"


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rows", type=lambda text: int(float(text)), nargs="?", default=10_000)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--only", nargs="+", default=())
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["DPNB_HOME"] = home
        print(f"rows {given.rows:,}, {load()}; ms, fastest / median")
        for line in table_of(measure(given.rows, given.repeats, given.only)):
            print(line, flush=True)


if __name__ == "__main__":
    main()

"""What one question takes end to end, beside exact DuckDB and Polars on raw floats: ``python -m tests.benchmarks.bench_questions 10000``.

Fresh releases through the curator's process and its synced ledger, each paid for, in turn with the exact engines: the table, the
questions and the engines are those of ``make bench``, with fifty groups. ``--parts`` takes a fresh mean apart instead.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import statistics
import tempfile
import time
from pathlib import Path

import pytest

from tests.benchmarks.peers.study import HIGH, STATISTICS, study
from tests.benchmarks.peers.worker import joined

SEVEN = "the seven"
GROUPS = 50


def timed(work):
    """Milliseconds that some work takes."""
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3


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
                took = timed(lambda peer=peer, name=name: asked(peer, name))
                if turn:
                    found[name, who].append(took)
    return found


def parts(rows, repeats):
    """The parts of a fresh mean: what each takes in kernel and curator, and the wire between them; clock and processor of this thread.

    Kernel and curator are one process here. The wire is a request that asks nothing, at a curator in a process of its own: both
    ends of it on the clock, the kernel's end on the processor.
    """
    from dpnb.client.upload import hand_over
    from dpnb.planner.request import Ask
    from dpnb.trusted.wire.places import Home
    from tests.benchmarks.peers.ours import declared

    home, table = Home(Path(os.environ["DPNB_HOME"])), study(rows, regions=GROUPS)
    with in_one_process(home) as (here, took):
        data = here.attach(hand_over(table, declared(table, "change-one"), home))
        took.clear()
        for turn in range(repeats):  # another question each time: nothing is known of it
            asked = data.x.clip(0, HIGH - turn % (HIGH // 2)).mean()
            noted(took, "a fresh mean", here.release, [asked], Ask.make(epsilon="1", fresh=True))
        for _ in range(repeats):
            noted(took, "the same again", here.release, [data.x.mean()], Ask.make(epsilon="1", fresh=True))
    wire(Home(home.root / "wire"), took, repeats)
    order = ("a fresh mean", "the same again", "the wire", "  plan", "    of that: price", "  conclude")
    for label in (*order, *(label for label in took if label not in order)):
        clock, processor = (statistics.median(times) for times in zip(*took[label], strict=True))
        yield f"{label:36} {processor:7.2f} {clock:7.2f}"


@contextlib.contextmanager
def in_one_process(home):
    """Give a session whose curator is in this process, and what each part of what it asks takes: pairs of clock and processor, by its name."""
    from dpnb.client import priced_batch, session
    from dpnb.client.transport import InMemory
    from dpnb.trusted.curator import release, service
    from dpnb.trusted.curator.config import Config
    from dpnb.trusted.curator.engines import DuckDBEngine
    from dpnb.trusted.curator.ledger import Ledger

    took = {}

    def noting(patch, where, name, label):
        real = getattr(where, name)
        patch.setattr(where, name, lambda *given, **named: noted(took, label, real, *given, **named))

    curator = service.Curator.opened(Config(home))
    with pytest.MonkeyPatch.context() as patch:
        for where, name, label in (
            (session, "batch_of", "  plan"),
            (priced_batch, "price", "    of that: price"),
            (session, "_fill", "  conclude"),
            (curator, "answer", "the curator"),
            (curator, "_wanted", "  read the plan and price it"),
            (release, "looked_up", "  look for stored answers"),
            (Ledger, "charge", "  charge, synced"),
            (DuckDBEngine, "answer", "  exact integers"),
            (release, "_released", "  noise and its record, of each part"),
            (Ledger, "store", "  store, synced, and raise the mark"),
        ):
            noting(patch, where, name, label)
        yield session.Session(lambda: InMemory(lambda body: curator.answer(body, "ann"))), took
    curator.close()


def noted(took, label, work, *given, **named):
    """Do some work, and note milliseconds of the clock and of this thread's processor."""
    start, before = time.perf_counter(), time.thread_time()
    try:
        return work(*given, **named)
    finally:
        spent = time.perf_counter() - start, time.thread_time() - before
        took.setdefault(label, []).append(tuple(1e3 * seconds for seconds in spent))


def wire(home, took, repeats):
    """Ask a curator in a process of its own for nothing."""
    from dpnb.client import launch
    from dpnb.trusted.wire.codec import encode
    from dpnb.trusted.wire.messages import Hello

    line = launch.connect(home)
    line.send(encode(Hello()))
    for _ in range(repeats):
        noted(took, "the wire", line.send, encode(Hello()))
    line.close()


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
    parser.add_argument("--parts", action="store_true")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        os.environ["DPNB_HOME"] = home
        print(
            f"rows {given.rows:,}, load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores; ms, fastest / median"
        )
        if given.parts:
            print(f"{'medians':36} {'of processor':>7} {'of the clock':>7}")
            print("\n".join(parts(given.rows, 20 * given.repeats)))
            return
        for line in table_of(measure(given.rows, given.repeats, given.only)):
            print(line, flush=True)


if __name__ == "__main__":
    main()

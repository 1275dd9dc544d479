"""What a release costs a service, over TLS with owner's tokens: ``python -m tests.benchmarks.bench_service --analysts 200 --seconds 60``.

Analysts are processes of their own (:mod:`tests.benchmarks.analysts`), each with a connection and a life-line. Processor time is
the service's own, as the system counts it; rates and waits are of the clock. With ``--caps`` the caps of tokens, principals,
groups and the dataset are reached on the way, and the ledger is added up by itself: nothing is overspent by one unit.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import trustme

from dpnb.client.priced_batch import batch_of
from dpnb.planner.request import Ask
from tests.serving.conftest import CONFIG, ROOT, Running, write_people

PLANS = 100
EACH = "0.001"
"""What a release costs."""


@dataclass(frozen=True, slots=True)
class Rate:
    """What was measured.

    Parameters
    ----------
    seconds : float
        Of the clock, from the first answer to the last.
    processor : float
        Seconds of the service's processor time.
    waits : list of float
        Seconds that each release took its analyst.
    refused : dict
        How many were refused, by code.
    """

    seconds: float
    processor: float
    waits: list[float]
    refused: dict[str, int]

    @property
    def rate(self) -> float:
        """Releases in a second."""
        return len(self.waits) / self.seconds

    def __str__(self) -> str:
        ends = statistics.quantiles(self.waits, n=20)
        refused = f"; refused {self.refused}" if self.refused else ""
        return (
            f"{len(self.waits)} releases in {self.seconds:.1f} s: {self.rate:.0f}/s, "
            f"{1000 * self.processor / len(self.waits):.2f} ms of processor each; an analyst waits {1000 * ends[9]:.0f} ms, "
            f"one in twenty more than {1000 * ends[18]:.0f} ms{refused}"
        )


def processor(pid: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def service(folder: Path, rows: int, budget: str, each: str = "", more: str = "") -> Running:
    """Start a service on so many rows, whose answers wait for no bucket."""
    authority = trustme.CA()
    host = authority.issue_cert("localhost", "127.0.0.1")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    host.private_key_pem.write_to_path(folder / "host.key")
    host.cert_chain_pems[0].write_to_path(folder / "host.pem")
    write_people(folder, rows)
    schema = folder / "people.dpnb.toml"
    schema.write_text(schema.read_text().replace("epsilon = 3", f"epsilon = {budget}"))
    (folder / "curator.toml").write_text(CONFIG.format(port=0, each=each, more=more))
    return Running(folder).start()


def composed(running: Running) -> list[tuple[str, str]]:
    """Return the digest and the plan of questions as a kernel sends them, each measured afresh."""
    with pytest.MonkeyPatch.context() as patch:
        session = running.session(running.token("composer"), patch)
        people = session.open_served("people")
        asked = [
            batch_of([people.age.clip(0, 1 + turn).sum()], Ask.make(epsilon=EACH, fresh=True))
            for turn in range(PLANS)
        ]
        session.close()
    return [(one.digest, one.text) for one in asked]


@contextlib.contextmanager
def at_work(running: Running, tokens: Sequence[str], seconds: float, processes: int) -> Iterator[list[Any]]:
    """Begin with analysts that are ready; the list fills with what each process saw when the block ends."""
    plans, started, seen = composed(running), [], list[Any]()
    for number in range(processes):
        job = running.folder / f"job-{number}.json"
        facts = {"url": running.url, "authority": str(running.folder / "ca.pem"), "dataset": "people"}
        facts |= {"tokens": list(tokens[number::processes]), "plans": plans, "seconds": seconds}
        job.write_text(json.dumps(facts))
        started.append(
            subprocess.Popen(
                [sys.executable, "-m", "tests.benchmarks.analysts", str(job)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                cwd=ROOT,
                text=True,
            )
        )
    for one in started:
        assert one.stdout.readline() == "ready\n"
    for one in started:
        one.stdin.write("go\n")
        one.stdin.flush()
    yield seen
    seen += [json.loads(one.communicate()[0]) for one in started]


def rate(running: Running, tokens: Sequence[str], seconds: float, processes: int = 1) -> Rate:
    """Let analysts release sums, one after another each, for so many seconds."""
    with at_work(running, tokens, seconds, processes) as seen:
        used = processor(running.process.pid)
    used = processor(running.process.pid) - used
    ends = [end for one in seen for end in one["ends"]]
    refused: Counter[str] = sum((Counter(one["refused"]) for one in seen), Counter())
    waits = [wait for one in seen for wait in one["waits"]]
    return Rate(max(ends) - min(ends), used, waits, dict(refused))


def measured(analysts: int, seconds: float, rows: int = 100_000, processes: int = 1) -> Rate:
    """Measure a service of its own."""
    with tempfile.TemporaryDirectory() as folder:
        running = service(Path(folder), rows, "1000000")
        try:
            tokens = [running.token(f"a{place}") for place in range(analysts)]
            return rate(running, tokens, seconds, processes)
        finally:
            running.kill()


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analysts", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--processes", type=int, default=1, help="of analysts")
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    found = measured(options.analysts, options.seconds, options.rows, options.processes)
    print(f"{options.analysts} analysts: {found}")


if __name__ == "__main__":
    main()

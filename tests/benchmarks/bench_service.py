"""What a release costs a service, over TLS with owner's tokens: ``python tests/benchmarks/bench_service.py --analysts 8 --seconds 20``.

Processor time is the service's own, as the system counts it, so that a busy machine changes it little; rates and waits are of the clock.
"""

from __future__ import annotations

import argparse
import os
import statistics
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path

import pytest
import trustme

from dpnb.planner.request import Ask
from tests.serving.conftest import CONFIG, Running, write_people

BUDGET = "epsilon = 1000000"


@dataclass(frozen=True, slots=True)
class Rate:
    """What was measured.

    Parameters
    ----------
    releases : int
    seconds : float
        Of the clock.
    processor : float
        Seconds of the service's processor time.
    waits : list of float
        Seconds that each release took its analyst.
    """

    releases: int
    seconds: float
    processor: float
    waits: list[float]

    def __str__(self) -> str:
        ends = statistics.quantiles(self.waits, n=20)
        return (
            f"{self.releases} releases in {self.seconds:.1f} s: {self.releases / self.seconds:.0f}/s, "
            f"{1000 * self.processor / self.releases:.1f} ms of processor each; an analyst waits {1000 * ends[9]:.0f} ms, one in twenty "
            f"more than {1000 * ends[18]:.0f} ms"
        )


def processor(pid: int) -> float:
    """Return the seconds of processor time that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def service(folder: Path, rows: int) -> Running:
    """Start a service on so many rows, whose answers wait for no bucket."""
    authority = trustme.CA()
    host = authority.issue_cert("localhost", "127.0.0.1")
    authority.cert_pem.write_to_path(folder / "ca.pem")
    host.private_key_pem.write_to_path(folder / "host.key")
    host.cert_chain_pems[0].write_to_path(folder / "host.pem")
    write_people(folder, rows)
    schema = folder / "people.dpnb.toml"
    schema.write_text(schema.read_text().replace("epsilon = 3", BUDGET))
    (folder / "curator.toml").write_text(CONFIG.format(port=0, each="", more=""))
    return Running(folder).start()


def measured(analysts: int, seconds: float, rows: int = 100_000) -> Rate:
    """Let analysts release sums that nobody released before, one after another each, for so many seconds."""
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        running = service(Path(folder), rows)
        try:
            sessions = [running.session(running.token(f"a{place}"), patch) for place in range(analysts)]
            opened = [session.open_served("people") for session in sessions]
            waits: list[float] = []
            begin = threading.Barrier(analysts + 1)

            def spend(place: int) -> None:
                begin.wait()
                end = time.monotonic() + seconds
                for turn in range(10**6):
                    if (before := time.monotonic()) > end:
                        return
                    question = opened[place].age.clip(0, 1 + turn % 100).sum()
                    ask = Ask.make(epsilon="0.001", fresh=True)
                    sessions[place].release([question], ask)
                    waits.append(time.monotonic() - before)

            threads = [threading.Thread(target=spend, args=(place,)) for place in range(analysts)]
            for thread in threads:
                thread.start()
            begin.wait()
            start, used = time.monotonic(), processor(running.process.pid)
            for thread in threads:
                thread.join()
            return Rate(len(waits), time.monotonic() - start, processor(running.process.pid) - used, waits)
        finally:
            for session in running.sessions:
                session.close()
            running.kill()


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analysts", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--rows", type=int, default=100_000)
    options = parser.parse_args()
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{options.analysts} analysts: {measured(options.analysts, options.seconds, options.rows)}")


if __name__ == "__main__":
    main()

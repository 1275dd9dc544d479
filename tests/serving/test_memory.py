"""A service that is asked for half an hour holds no more memory at its end than when it was warm."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np
import pytest

from tests.benchmarks.bench_service import at_work, running

MINUTES = float(os.environ.get("DPNB_SOAK_MINUTES", "30"))
EVERY = 5.0
MIB = 2**20


def resident(pid):
    """The bytes that a process holds in memory."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("VmRSS")).split()[1])


@pytest.mark.soak
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from /proc")
def test_memory_is_flat_while_analysts_ask():
    """From a third of the time on it grows by less than 3 %, whatever was charged, stored and told meanwhile."""
    with running(20_000) as made:
        tokens = [made.token(f"a{place}") for place in range(20)]
        with at_work(made, tokens, 60 * MINUTES, 1) as seen:
            begin, points = time.monotonic(), []
            while (now := time.monotonic() - begin) < 60 * MINUTES:
                points.append((now / 60, resident(made.process.pid) / MIB))
                time.sleep(EVERY)
        answered = sum(len(one["waits"]) for one in seen)
    minutes, sizes = np.array(points[len(points) // 3 :]).T
    slope = float(np.polyfit(minutes, sizes, 1)[0])
    print(f"{answered} releases; {sizes[0]:.1f} MiB, then {slope:+.3f} MiB a minute")
    assert answered > 100
    assert slope * (minutes[-1] - minutes[0]) < 0.03 * sizes[0]

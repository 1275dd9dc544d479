"""How long `import dpnb` takes beside what it cannot avoid."""

from __future__ import annotations

import statistics
import subprocess
import sys

import pytest

pytestmark = pytest.mark.alone


def seconds(module: str) -> float:
    """Return the median time of importing a module in a new interpreter, over five runs."""
    program = f"import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"
    runs = [
        subprocess.run([sys.executable, "-c", program], capture_output=True, check=True) for _ in range(5)
    ]
    return statistics.median(float(run.stdout) for run in runs)


def test_import_costs_at_most_numpy_and_a_little():
    """`import dpnb` takes at most numpy's own import and 0.15 s."""
    ours, numpy = seconds("dpnb"), seconds("numpy")
    print(f"import dpnb {ours:.3f} s, import numpy {numpy:.3f} s")
    assert ours <= numpy + 0.15

"""Where the project lies, how a step is told, and what a step that failed raises."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path
from typing import Iterator

ROOT = Path(__file__).resolve().parents[2]


class Failure(Exception):
    """A step did not succeed; the message says what to do."""


@contextlib.contextmanager
def step(name: str) -> Iterator[None]:
    """Print a step's name when it starts, and its seconds when it ends."""
    print("== " + name, flush=True)
    start = time.monotonic()
    try:
        yield
    except BaseException:
        print("== FAILED after {:.1f} s: {}".format(time.monotonic() - start, name), flush=True)
        raise
    print("   {:.1f} s: {}".format(time.monotonic() - start, name), flush=True)

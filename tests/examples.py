"""How much of a dear test an ordinary run does: examples of a property, and cases that take turns by the day."""

from __future__ import annotations

import itertools
import os
import re
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

ORDINARY = 30
"""What an ordinary run draws for each property test."""
LONG = 2_000
"""What `make soak` draws, anew each time."""


def examples(ordinary: int) -> int:
    """Return `ordinary` in an ordinary run, and as many times more in a longer one as that asks for."""
    return ordinary * settings().max_examples // ORDINARY


def rotation() -> int:
    """Return the seed of samples that rotate: DPNB_ROTATION, which `make test` prints, or the number of this day."""
    return int(os.environ.get("DPNB_ROTATION") or time.time() // 86_400)


def listed() -> dict[str, int]:
    """Return the days of each test in the table of expensive ones, by its name without its case."""
    days, file = {}, ""
    for line in Path(__file__).with_name("turns.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("tests/"):
            file = line
        elif found := re.fullmatch(r"  (\d+) (\S+)", line):
            days[f"{file}::{found[2]}"] = int(found[1])
    return days


EXPENSIVE = listed()


def waiting(items: list[pytest.Item], day: int | None) -> list[pytest.Item]:
    """Return the cases of ``turns(n, *names, of=…)`` that do not have their turn on this day, or all of them on none.

    Of the cases alike in the named parameters each nth has it; on the next day others do, and after n days all did. The tests
    of one file that are of the same family (``of``) take turns together, as if they were the cases of one test.
    Groups begin at different places, so that each day sees every value of what varies; which they are depends on no other file.
    A test of the table of expensive ones runs once in its days, and the next of as many days in the table a day before it.
    """
    groups: dict[tuple[str, int, object], list[pytest.Item]] = defaultdict(list)
    places, left = places_of(EXPENSIVE), []
    for item in items:
        mark, name = item.get_closest_marker("turns"), item.nodeid.split("[")[0]
        if mark is not None:
            alike = tuple(repr(item.callspec.params[name]) for name in mark.args[1:])  # type: ignore[attr-defined]
            groups[family(item, mark), mark.args[0], alike].append(item)
        elif name in places:
            if day is None or (places[name] + day) % EXPENSIVE[name]:
                left.append(item)
            places[name] += 1  # the next case
    begun: Counter[str] = Counter()
    for (name, turns, _alike), group in groups.items():
        first = zlib.crc32(name.encode()) + begun[name]
        begun[name] += 1
        left += [
            item
            for place, item in enumerate(group)
            if day is None or (place + first + day) % min(turns, len(group))
        ]
    return left


def places_of(table: dict[str, int]) -> dict[str, int]:
    """Number the tests of the table that have as many days, in its order."""
    numbers: dict[int, Iterator[int]] = defaultdict(itertools.count)
    return {name: next(numbers[days]) for name, days in table.items()}


def family(item: pytest.Item, mark: pytest.Mark) -> str:
    """Name whose turns an item takes: its family's in its file, or those of the cases of its own test."""
    return f"{item.nodeid.split('::')[0]} {mark.kwargs['of']}" if mark.kwargs else item.nodeid.split("[")[0]

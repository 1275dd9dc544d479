"""How much of a dear test an ordinary run does: examples of a property, and cases that take turns by the day."""

from __future__ import annotations

import os
import time
from collections import defaultdict

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


def waiting(items: list[pytest.Item], day: int | None) -> list[pytest.Item]:
    """Return the cases of ``turns(n, *names)`` that do not have their turn on this day, or all of them on none.

    Of the cases alike in the named parameters each nth has it; on the next day others do, and after n days all did.
    Groups begin at different places, so that each day sees every value of what varies.
    """
    groups: dict[tuple[str, int, object], list[pytest.Item]] = defaultdict(list)
    for item in items:
        mark = item.get_closest_marker("turns")
        if mark is not None:
            parameters = item.callspec.params  # type: ignore[attr-defined]
            alike = tuple(repr(parameters[name]) for name in mark.args[1:])
            groups[item.nodeid.split("[")[0], mark.args[0], alike].append(item)
    return [
        item
        for number, ((_test, turns, _alike), group) in enumerate(groups.items())
        for place, item in enumerate(group)
        if day is None or (place + number + day) % min(turns, len(group))
    ]

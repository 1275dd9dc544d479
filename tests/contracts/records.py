"""Records one leaf away from one that dpnb writes: equal to it for Python, another thing in JSON."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any


def twins(record: Any) -> Iterator[Any]:
    """Every record in which one leaf is another value that looks the same: 1.0, true or "1" for 1, 1 for "1", 1 for true."""
    for path, leaf in leaves(record):
        for other in alike(leaf):
            made = copy.deepcopy(record)
            at = made
            for step in path[:-1]:
                at = at[step]
            at[path[-1]] = other
            yield made


def leaves(record: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """The leaves of a record with their places; a short list of digits is one too."""
    items = (
        record.items() if isinstance(record, dict) else enumerate(record) if isinstance(record, list) else ()
    )
    for key, value in items:
        yield (*path, key), value
        yield from leaves(value, (*path, key))


def alike(leaf: Any) -> Iterator[Any]:
    """What could be taken for a leaf."""
    match leaf:
        case bool():
            yield from (int(leaf), str(leaf))
        case int():
            yield from (float(leaf), str(leaf), *([bool(leaf)] if leaf in (0, 1) else []))
        case str() if leaf.isdigit():
            yield from (int(leaf), float(leaf), *([True] if leaf == "1" else []))
        case [str(one), str(other)] if len(one) == len(other) == 1:
            yield one + other

"""How much is tried in an ordinary run, and how much more in a longer one: examples of a property, and cases of one fact."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import settings

ORDINARY = 30
"""What an ordinary run draws for each property test, the same each time."""
LONG = 2_000
"""What `make soak` draws, anew each time."""


def examples(ordinary: int) -> int:
    """Return `ordinary` in an ordinary run, and as many times more in a longer one as that asks for."""
    return ordinary * settings().max_examples // ORDINARY


def mostly_long(cases: Iterable[Any], *ordinary: Any) -> list[Any]:
    """Return the cases of one fact, of which these are tried in every run and the others in a long one."""
    cases = list(cases)
    unknown = [case for case in ordinary if case not in cases]
    if unknown:
        raise ValueError(f"no such cases: {unknown}")
    return [
        case
        if case in ordinary
        else pytest.param(*(case if isinstance(case, tuple) else (case,)), marks=pytest.mark.soak)
        for case in cases
    ]

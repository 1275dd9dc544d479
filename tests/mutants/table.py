"""What a mutant is: a wrong version of one thing, and a check that passes the right version and fails this one.

Checks are those of the other tests, called here; a few exist nowhere else and are in :mod:`tests.mutants.checks`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Patch = Callable[[Any], None]
Check = Callable[[Any], None]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A wrong version.

    Parameters
    ----------
    wrong : str
        What it does wrongly, and what that breaks, in one sentence.
    break_it : callable
        ``break_it(monkeypatch)`` puts the wrong version in place.
    check : callable
        ``check(folder)`` passes for the right version and fails for the wrong one; ``folder`` is empty and its own.
    """

    wrong: str
    break_it: Patch
    check: Check


def replaced(owner: Any, name: str, make: Callable[[Any], Any]) -> Patch:
    """Put ``make(what is there)`` in the place of an attribute."""

    def break_it(monkeypatch: Any) -> None:
        monkeypatch.setattr(owner, name, make(owner.__dict__[name]))

    return break_it


def together(*patches: Patch) -> Patch:
    """Several replacements at once."""

    def break_it(monkeypatch: Any) -> None:
        for patch in patches:
            patch(monkeypatch)

    return break_it

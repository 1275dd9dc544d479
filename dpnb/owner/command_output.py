"""What a command prints: a text for a person, and the same facts for a program (``--json``)."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dpnb.errors import OwnerError

_KERNEL = ("JPY_PARENT_PID", "JPY_SESSION_NAME")
"""What Jupyter puts into the environment of a kernel, and a kernel into that of what it starts."""


@dataclass(frozen=True, slots=True)
class Output:
    """What a command prints.

    Parameters
    ----------
    text : str
        For a person.
    facts : mapping
        For a program: plain JSON values.
    """

    text: str
    facts: Mapping[str, Any] = field(default_factory=dict)

    def shown(self, *, as_json: bool) -> str:
        """Return what is printed."""
        return json.dumps(self.facts, ensure_ascii=False, indent=2) if as_json else self.text


def confirmed(act: str, *, yes: bool) -> None:
    """Ask once, at the terminal, before what cannot be taken back.

    Raises
    ------
    OwnerError
        When the answer is not yes, or where nobody can be asked.
    """
    if yes:
        return
    if not sys.stdin.isatty():
        raise OwnerError(f"{act} Add --yes where nobody can be asked. Nothing was done.")
    print(f"{act} Type yes to go on: ", end="", file=sys.stderr, flush=True)
    if sys.stdin.readline().strip().lower() != "yes":
        raise OwnerError("Nothing was done.")


def in_notebook() -> bool:
    """Whether this is a kernel, or a process that one started."""
    return "ipykernel" in sys.modules or any(name in os.environ for name in _KERNEL)


def for_owner_alone() -> bool:
    """Whether what is printed goes to a terminal, and no notebook keeps it."""
    return sys.stdout.isatty() and not in_notebook()


def refuse_notebook(*, known: bool) -> None:
    """Refuse to print what is not private anywhere but on a terminal, or, where `known`, into an owner's own pipe.

    Raises
    ------
    OwnerError
        In a kernel, or in a process that one started: a notebook keeps and passes on what is printed.
    """
    if in_notebook():
        raise OwnerError(
            "This is not private, and a notebook would keep it: run dpnb check in a terminal of your own."
        )
    if not known and not sys.stdout.isatty():
        raise OwnerError(
            "This report is not private, and its output is not a terminal: add --not-private if only you will read it."
        )

"""What a mutant is: a wrong version of one thing, and a check that passes the right version and fails this one.

Checks are those of the other tests, called here; a few exist nowhere else and are in :mod:`tests.mutants.checks`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

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


STUMBLES = (TypeError, AttributeError, NameError, ImportError)
"""What a wrong version raises that no longer fits the code: it was never tried."""


class NotCaught(Exception):
    """A wrong version was not caught: nothing failed, or something else did."""


class Watched:
    """A monkeypatch whose functions note where they stumble, also where somebody else takes the exception away."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch, self.stumbles = patch, list[BaseException]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._patch, name)

    def setattr(self, owner: Any, name: str, wrong: Any, **given: Any) -> None:
        """Put a wrong version in place, watched if it is a function, a method or a property."""
        if isinstance(wrong, staticmethod | classmethod):
            wrong = type(wrong)(self._noting(wrong.__func__))
        elif isinstance(wrong, property) and wrong.fget is not None:
            wrong = property(self._noting(wrong.fget))
        elif inspect.isfunction(wrong):
            wrong = self._noting(wrong)
        self._patch.setattr(owner, name, wrong, **given)

    def _noting(self, wrong: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(wrong)
        def noting(*values: Any, **named: Any) -> Any:
            try:
                return wrong(*values, **named)
            except STUMBLES as stumble:
                self.stumbles.append(stumble)
                raise

        return noting


def catch(mutant: Mutant, right: Path, wrong: Path) -> None:
    """Hold a check against both versions, in a folder each: it passes the right one, and fails the wrong one for the wrong one's reason.

    Raises
    ------
    NotCaught
        The wrong version passes, cannot be put in place, or fails as no wrong answer does: it does not fit the code any more.
    """
    mutant.check(right)
    with pytest.MonkeyPatch.context() as patch:
        watched = Watched(patch)
        try:
            mutant.break_it(watched)
        except (Exception, pytest.fail.Exception) as error:
            raise NotCaught(f"it cannot be put in place: {named(error)}") from error
        try:
            mutant.check(wrong)
        except (AssertionError, pytest.fail.Exception) as failure:
            for stumble in [*watched.stumbles, *behind(failure)]:
                raise NotCaught(f"it stumbles: {named(stumble)}") from stumble
            return
        except Exception as error:
            raise NotCaught(f"it fails for another reason: {named(error)}") from error
    raise NotCaught("its check passes")


def behind(failure: BaseException) -> Iterator[BaseException]:
    """Find the stumbles that led to a failure."""
    before = failure.__cause__ or failure.__context__
    if before is not None:
        if isinstance(before, STUMBLES):
            yield before
        yield from behind(before)


def named(error: BaseException) -> str:
    """Name an exception with what it says."""
    return f"{type(error).__name__}: {error}"

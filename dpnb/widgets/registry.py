"""The one table of interactions: a line each, from which ``dpnb.widgets``, ``%dp``, the closed kinds and the tests follow.

An interaction has one name: ``seesaw`` is the file ``dpnb/widgets/kinds/seesaw.py``, its class ``Seesaw``, ``%dp seesaw``, the kind in its
state, and the folder ``labextension/src/widgets/seesaw``.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeGuard

from dpnb.errors import DpnbError, OptionError, PlanError

if TYPE_CHECKING:
    from dpnb.widgets._base import Interaction

Facts = dict[str, Any]
"""What a page is told, or a part of it: strict JSON."""
Names = Mapping[str, Any]
"""What is known by name: the user's variables, or a record that somebody else wrote."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One interaction.

    Parameters
    ----------
    name : str
        Its name everywhere.
    call : str
        What it is called in ``dpnb.widgets``, where that is a longer word.
    line : bool
        Whether ``%dp NAME`` shows it.
    """

    name: str
    call: str = ""
    line: bool = True

    @property
    def public(self) -> str:
        """Its name in ``dpnb.widgets``."""
        return self.call or self.name

    def load(self) -> type[Interaction]:
        """Import its class."""
        found: type[Interaction] = getattr(
            importlib.import_module(f"dpnb.widgets.kinds.{self.name}"), self.name.capitalize()
        )
        return found


INTERACTIONS = (
    Entry("attach"),
    Entry("attack", call="attack_bench"),
    Entry("budget", line=False),
    Entry("clamp"),
    Entry("compare"),
    Entry("coverage", call="coverage_lab"),
    Entry("deposit"),
    Entry("exhibits"),
    Entry("guide"),
    Entry("lecture"),
    Entry("noises"),
    Entry("odds"),
    Entry("panel"),
    Entry("person", call="drag_person"),
    Entry("plan"),
    Entry("remeasure"),
    Entry("seesaw"),
    Entry("sentence", line=False),
    Entry("stored"),
    Entry("synthetic"),
    Entry("wall"),
)
"""In the order of their names; ``%dp budget`` is a command of its own, which prints the card, and a sentence is code."""


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a finite number, and no truth value."""
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)


def a_loss(epsilon: Any) -> float:
    """Return an ε that was given.

    Raises
    ------
    PlanError
        If it is no number above 0.
    """
    try:
        found = math.nan if isinstance(epsilon, bool | str) else float(epsilon)
    except (TypeError, ValueError, OverflowError):
        found = math.nan
    if not 0 < found < math.inf:
        raise PlanError("epsilon is a number above 0. Write for example epsilon=1.")
    return found


def a_whole(name: str, value: object, low: int, high: int) -> int:
    """Return a whole number that was given.

    Raises
    ------
    PlanError
        If it is none, or lies outside of its range.
    """
    if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
        raise PlanError(f"{name} is a whole number from {low:,} to {high:,}.")
    return value


def value_of(names: Names, text: str, example: str) -> Any:
    """Return what a line says in the user's names.

    Raises
    ------
    OptionError
        When the text is missing, is no Python, or names what there is not.
    """
    if not text:
        raise OptionError(f"This needs a question: {example}")
    return _evaluated(names, text, text, example)


def arguments_of(names: Names, text: str, example: str) -> Facts:
    """Return what a line such as ``x=ill, rng=2`` gives by name, read in the user's names; see :func:`value_of`."""
    found: Facts = _evaluated({**names, "_called": dict}, f"_called({text})", text, example)
    return found


def _evaluated(names: Names, code: str, text: str, example: str) -> Any:
    try:
        return eval(code, dict(names))  # noqa: S307  the user's own line
    except DpnbError:
        raise
    except SyntaxError:
        raise OptionError(f"{text} is not a Python expression. For example: {example}") from None
    except Exception as error:  # noqa: BLE001  whatever the line raises is told as what it is
        raise OptionError(f"{type(error).__name__} in {text}: {error}") from None

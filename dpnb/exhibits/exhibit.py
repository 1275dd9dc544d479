"""What an exhibit is: a published claim, two explicit neighbours, the number that breaks it, and the correction beside it.

A frozen value. Nothing in it is a mechanism that a plan could name: `flawed` and `corrected` run on arrays, for audits.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from dpnb.cards.markup import Markup
from dpnb.inference.digits import loss_figure

Floats = NDArray[np.float64]
Sense = Literal["at most", "at least", "exactly"]
Theme = Literal[
    "resampling", "composition", "sensitivity", "noise set by the data", "floating point", "accuracy"
]
THEMES: tuple[Theme, ...] = get_args(Theme)
"""What goes wrong, in a word."""
Lines = tuple[float, float, float | None]
"""Claimed, actual, and corrected where the correction has a number there; what is actual may be infinite."""
Mechanism = Callable[..., Any]
"""Of a dataset, a number of answers and a generator: so many answers. Or of a dataset alone: the law of the answer."""
Test = Callable[[Any], NDArray[np.bool_]]
"""Which of some answers show an event."""
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Finding:
    """A claimed value and the actual one.

    Parameters
    ----------
    claimed, actual : float
        In `unit`; the actual value may be infinite.
    unit : str
        ``"ε"``, ``"ρ"``, ``"coverage"``, …
    sense : {"at most", "at least", "exactly"}
        How the claim is meant.
    tolerance : float
        What simulation or rounding may add.
    """

    claimed: float
    actual: float
    unit: str
    sense: Sense = "at most"
    tolerance: float = _ROUNDING

    @property
    def kept(self) -> bool:
        """Whether the claim is true."""
        over = self.actual - self.claimed
        if self.sense == "at most":
            return bool(over <= self.tolerance)
        if self.sense == "at least":
            return bool(over >= -self.tolerance)
        return bool(abs(over) <= self.tolerance)

    @property
    def text(self) -> str:
        """``ε: claimed at most 0.5, actual 1``."""
        return f"{self.unit}: claimed {self.sense} {loss_figure(self.claimed)}, actual {loss_figure(self.actual)}"


@dataclass(frozen=True, slots=True)
class Numbers:
    """What was computed, never quoted: the flawed procedure and its correction under the same attack.

    Parameters
    ----------
    broken, corrected : Finding
    exact : bool
        Whether both come from written-down laws; otherwise they were simulated with a fixed seed.
    how : str
        The event or computation behind them.
    more : tuple of (str, str)
        Further computed figures.
    """

    broken: Finding
    corrected: Finding
    exact: bool
    how: str
    more: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class Lever:
    """One number of an exhibit that can be dragged: everything else of the exhibit stays as it is.

    A hand stops at the settings alone, so that every number that is read was computed; a line between two of them only leads the eye.
    Where an exhibit stands on its lever, the lines are its numbers; a test compares.

    Parameters
    ----------
    label : str
        What is moved.
    unit : str
        What the lines are measured in.
    values : tuple of float
        The settings, rising.
    at : float
        Where the exhibit itself stands.
    says : str
        What moving it teaches, in a sentence.
    lines : callable
        Claimed, actual and corrected at a setting.
    """

    label: str
    unit: str
    values: tuple[float, ...]
    at: float
    says: str
    lines: Callable[[float], Lines]

    def drawn(self) -> tuple[Lines, ...]:
        """Compute the lines at every setting, once in a session."""
        return _drawn(self.lines, self.values)


def evenly(low: float, high: float, step: float) -> tuple[float, ...]:
    """Return evenly spaced settings of a lever, both ends among them."""
    return tuple(round(low + i * step, 6) for i in range(round((high - low) / step) + 1))


@dataclass(frozen=True, slots=True, repr=False)
class Exhibit:
    """A published procedure that does not keep its promise.

    Parameters
    ----------
    name : str
        Key, for :func:`dpnb.exhibits.find`.
    title : str
    source : str
        Who published it, and where in it.
    claim : str
        The promise, in its author's terms.
    why : str
        What is wrong with it.
    correction : str
        What to do, and where dpnb does it.
    cost : str
        What the correction costs in accuracy, or saves.
    neighbours : pair
        Two datasets that the claim calls neighbours.
    worlds : pair of str
        What they are.
    measure : callable
        Computes the numbers; a second or less.
    flawed, corrected : callable or None
        Both on arrays, as :func:`dpnb.audit.audit` takes them; None where the claim is not about one release.
    claimed : float
        The ε that an audit of `flawed` compares with.
    kept : float
        The ε that an audit of `corrected` compares with.
    delta : float
        The δ beside both.
    events : mapping or None
        Events for the audit, if the built-in ones do not show the break.
    sampled : bool
        Whether running it can show the break.
    theme : str
        What goes wrong, in a word: one of :data:`THEMES`.
    cell : str
        What to type instead; it runs after ``hiv = dpnb.open("hiv")``, and a test runs them all.
    columns : str
        What the columns of the neighbours are, where that is not plain.
    event : (str, callable) or None
        In words, and as a test of answers: what tells the neighbours apart, where it is a single one.
    lever : Lever or None
        The number that a reader can drag, if one helps. A NaN, a matched pair and a tie have none: their answers are drawn instead.
    picture : callable or None
        Draws a still picture of its own, with its text alternative.
    """

    name: str
    title: str
    source: str
    claim: str
    why: str
    correction: str
    cost: str
    neighbours: tuple[Any, Any]
    worlds: tuple[str, str]
    measure: Callable[[], Numbers]
    flawed: Mechanism | None = None
    corrected: Mechanism | None = None
    claimed: float = math.nan
    kept: float = math.nan
    delta: float = 0.0
    events: Mapping[str, Test] | None = None
    sampled: bool = True
    theme: Theme = field(kw_only=True)
    cell: str = field(kw_only=True)
    columns: str = ""
    event: tuple[str, Test] | None = None
    lever: Lever | None = None
    picture: Callable[[], Markup] | None = None

    def numbers(self) -> Numbers:
        """Compute the numbers, once in a session."""
        return _computed(self.measure)

    @property
    def text(self) -> str:
        """The exhibit for a terminal."""
        return "\n".join([self.title, *(_wrapped(name, said) for name, said in self.rows()), *self._typed()])

    def _typed(self) -> list[str]:
        head, *others = self.cell.splitlines()
        return [f"  {'type':<11} {head}", *(f"{'':<14}{line}".rstrip() for line in others)]

    def rows(self) -> list[tuple[str, str]]:
        """The texts of the exhibit, each with its heading."""
        found = self.numbers()
        how = "computed from the laws" if found.exact else "simulated"
        return [
            ("claim", f"{self.claim} ({self.source})"),
            ("neighbours", f"A: {self.worlds[0]}"),
            ("", f"B: {self.worlds[1]}"),
            ("break", f"{found.broken.text} ({found.how}; {how})"),
            ("", self.why),
            ("repair", self.correction),
            ("corrected", found.corrected.text),
            ("its price", self.cost),
            *found.more,
        ]

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: object) -> dict[str, object]:
        from dpnb.exhibits.card import exhibit_card

        return exhibit_card(self).bundle()


def _wrapped(name: str, said: str) -> str:
    """One heading and its text, for a terminal of a hundred columns."""
    head = f"  {name:<11} "
    return textwrap.fill(said, 100, initial_indent=head, subsequent_indent=" " * 14, break_long_words=False)


@lru_cache(maxsize=64)
def _computed(measure: Callable[[], Numbers]) -> Numbers:
    return measure()


@lru_cache(maxsize=64)
def _drawn(lines: Callable[[float], Lines], values: tuple[float, ...]) -> tuple[Lines, ...]:
    return tuple(lines(value) for value in values)

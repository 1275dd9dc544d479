"""What an exhibit is: a published claim, two explicit neighbours, the number that breaks it, and the correction beside it.

A frozen value. Nothing in it is a mechanism that a plan could name: `flawed` and `corrected` run on arrays, for audits.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from dpnb.inference.digits import loss_figure

Sense = Literal["at most", "at least", "exactly"]
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim, and what is actual.

    Parameters
    ----------
    claimed, actual : float
        In `unit`; what is actual may be infinite.
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
        """Whether the claim holds."""
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
        Events for the audit, where the ready-made ones do not see the break.
    sampled : bool
        Whether running it can show the break.
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
    flawed: Callable[..., Any] | None = None
    corrected: Callable[..., Any] | None = None
    claimed: float = math.nan
    kept: float = math.nan
    delta: float = 0.0
    events: Mapping[str, Callable[..., Any]] | None = None
    sampled: bool = True

    def numbers(self) -> Numbers:
        """Compute the numbers, once in a session."""
        return _computed(self.measure)

    @property
    def text(self) -> str:
        """The exhibit for a terminal."""
        return "\n".join([self.title, *(_wrapped(name, said) for name, said in self.rows()), *self._typed()])

    def _typed(self) -> list[str]:
        from dpnb.exhibits.taught import cell_of

        head, *others = cell_of(self.name).splitlines()
        return [f"  {'type':<11} {head}", *(f"{'':<14}{line}".rstrip() for line in others)]

    def rows(self) -> list[tuple[str, str]]:
        """Everything that is said, a heading and a text each."""
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

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        from dpnb.exhibits.card import exhibit_card

        return exhibit_card(self).bundle()


def _wrapped(name: str, said: str) -> str:
    """One heading and its text, for a terminal of a hundred columns."""
    head = f"  {name:<11} "
    return textwrap.fill(said, 100, initial_indent=head, subsequent_indent=" " * 14, break_long_words=False)


@lru_cache(maxsize=64)
def _computed(measure: Callable[[], Numbers]) -> Numbers:
    return measure()

"""The attack bench: what an attack recovers from each way to publish, beside guessing and beside what ε lets through.

The people are simulated by the attacks themselves: no array comes in. Every share was computed by the attack before a hand
moves; between two computed losses the front end draws a straight line, and says so.
"""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from dpnb.audit.attacks.benches import BENCHES, bench
from dpnb.audit.attacks.publications import Bench, Publication
from dpnb.cards.card import Card
from dpnb.errors import PlanError
from dpnb.widgets._base import Interaction
from dpnb.widgets.wording import still

__all__ = ["AttackBench"]

_FINE = 49


class AttackBench(Interaction):
    """One attack against several publications.

    Parameters
    ----------
    attack : str
        Which one lies on the bench first: differencing, averaging, reconstruction, linkage, membership or floating point.
    epsilon : number
        Where ε stands at first.
    """

    module: ClassVar[str] = "attack"

    def __init__(self, attack: str = "reconstruction", *, epsilon: float = 1.0) -> None:
        name = str(attack).strip().lower().replace("-", " ").replace("_", " ")
        if name not in BENCHES:
            raise PlanError(f"No attack is called {attack!r}. There are: {', '.join(BENCHES)}.")
        if not (math.isfinite(float(epsilon)) and epsilon > 0):
            raise PlanError("epsilon is a number above 0. Write for example epsilon=1.")
        self._attack, self._epsilon = name, float(epsilon)
        self._run: dict[str, dict[str, Any]] = {}
        self._benches: dict[str, Bench] = {}
        super().__init__()

    def run(self) -> AttackBench:
        """Compute every attack now, for a page without a kernel."""
        for name in BENCHES:
            self._lay(name)
        self.refresh()
        return self

    def describe(self) -> dict[str, Any]:
        """State the shares recovered by the attacks that were asked for; see :class:`Interaction`."""
        self._lay(self._name())
        return {
            "attacks": list(BENCHES),
            "attack": self._attack,
            "epsilon": self._epsilon,
            "run": dict(self._run),
            "problem": "",
        }

    def card(self) -> Card:
        """Draw the table of all publications at one ε; see :class:`Interaction`."""
        found, epsilon = self._benches[self._name()], self._nearest()
        rows = []
        for one in found.publications:
            row = one.rows[found.epsilons.index(epsilon) if len(one.rows) > 1 else 0]
            bound = "–" if one.bound is None else _percent(one.bound(epsilon))
            rows.append((one.label, _percent(row.recovered), _percent(found.baseline), bound))
        notes = [f"Guessing: {found.guess}. ε pays for {found.loss}.", _fall(found)]
        head = ("published", "recovered", "guessing", f"at most, ε {epsilon:g}")
        title = f"Attack bench: {found.name}"
        return still("attack", title, found.goal, head, rows, self.facts, notes=notes)

    def _name(self) -> str:
        name = self.chosen.get("attack", self._attack)
        return name if name in BENCHES else self._attack

    def _nearest(self) -> float:
        epsilons = self._benches[self._name()].epsilons
        asked = self.chosen.get("epsilon", self._epsilon)
        there = isinstance(asked, int | float) and 0 < asked < float("inf")
        return min(epsilons, key=lambda e: abs(np.log(e / (asked if there else self._epsilon))))

    def _lay(self, name: str) -> None:
        if name not in self._run:
            self._benches[name] = bench(name)
            self._run[name] = _record(self._benches[name])


def _record(found: Bench) -> dict[str, Any]:
    fine = np.geomspace(found.epsilons[0], found.epsilons[-1], _FINE)
    return {
        "goal": found.goal,
        "guess": found.guess,
        "loss": found.loss,
        "epsilons": list(found.epsilons),
        "baseline": _round(found.baseline),
        "publications": [_publication(one, found, fine) for one in found.publications],
    }


def _publication(one: Publication, found: Bench, fine: np.ndarray[Any, Any]) -> dict[str, Any]:
    several = len(one.rows) > 1
    return {
        "key": one.key,
        "label": one.label,
        "note": one.note,
        "recovered": [_round(row.recovered) for row in one.rows],
        "error": [_round(row.error) for row in one.rows],
        "bound": None if one.bound is None else [_round(one.bound(float(e))) for e in fine],
        "falls": found.falls(one.key) if several else None,
    }


def _round(share: float) -> float:
    return 0.0 if math.isnan(share) else round(share, 5)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _fall(found: Bench) -> str:
    epsilon = found.falls("dp")
    if epsilon is None:
        return f"Even at ε {found.epsilons[0]:g} the attack is more than five points above guessing."
    return f"Up to ε {epsilon:g} the attack stays within five points of guessing."

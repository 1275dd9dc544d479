"""What ε means for one person: prior to posterior, a thousand people, and the same answer in two worlds."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import ClassVar

from dpnb.cards.card import Card
from dpnb.errors import LossError
from dpnb.inference.digits import percent
from dpnb.inference.law import DiscreteLaplaceLaw, law_of
from dpnb.risk.odds import at_most, odds_sentence, posterior, posterior_table
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.widgets._base import Interaction
from dpnb.widgets.registry import Facts
from dpnb.widgets.still_picture import bars, still

_PEOPLE = 1000
_CHANCE = 0.05
_LARGEST = 0.01


class Odds(Interaction):
    """What ε does to a belief about one person.

    Parameters
    ----------
    prior : number
        The prior belief, strictly between 0 and 1.
    epsilon : number
        The initial ε.
    delta : number
        From 0 to 0.01. Above 0, the bound is for evidence that arises by chance in 5 % of all cases.

    Examples
    --------
    >>> dpnb.widgets.odds(0.1, epsilon=0.5)  # doctest: +SKIP
    """

    module: ClassVar[str] = "odds"
    example: ClassVar[str] = "0.1"
    otherwise: ClassVar[object] = 0.1

    def __init__(self, prior: float = 0.1, *, epsilon: float = 1.0, delta: float = 0.0) -> None:
        posterior(prior, epsilon, delta, _CHANCE)  # refuses what is no belief and no loss
        if delta > _LARGEST:
            raise LossError(
                f"delta is at most {_LARGEST} here: a larger one protects nobody. Write delta=1e-6."
            )
        self._prior, self._epsilon, self._delta = float(prior), float(epsilon), float(delta)
        super().__init__()

    def describe(self) -> Facts:
        """State the belief and the noise of a count at ε = 1; see :class:`Interaction`."""
        return {
            "prior": self._prior,
            "epsilon": self._epsilon,
            "delta": self._delta,
            "chance": _CHANCE,
            "people": _PEOPLE,
            "law": scaled_law(DiscreteLaplace.calibrate(1, Fraction(1))),
            "problem": "",
        }

    def card(self) -> Card:
        """Draw the table of beliefs; see :class:`Interaction`."""
        prior = self.held("prior", self._prior, 0.01, 0.99)
        epsilon = self.held("epsilon", self._epsilon, 0.01, 10)
        delta = self.held("delta", self._delta, 0, _LARGEST)
        table = posterior_table()
        rows = [
            (name, *(at_most(value) for value in line))
            for name, line in zip(table.index, table.cells, strict=True)
        ]
        notes = [f"ε {epsilon:g}: {odds_sentence(prior, epsilon, _PEOPLE)}"]
        if delta > 0:
            bound = at_most(posterior(prior, epsilon, delta, _CHANCE))
            notes.append(
                f"With δ {delta:g} the last bound is {bound}, for evidence that chance alone gives 5 % of the time; "
                f"about 1 answer in {math.floor(1 / delta):,} may tell everything."
            )
        chances = [(loss, float(posterior(prior, loss))) for loss in (0.1, 0.5, 1, 2, 5)]
        drawn = [(f"ε {loss:g}", chance, f"{percent(prior)} → {at_most(chance)}") for loss, chance in chances]
        picture = bars("belief after the release, at most", drawn)
        about = "belief after the release, at most"
        head = ("belief before", *table.columns)
        return still(
            "odds", "What ε means for one person", about, head, rows, self.facts, notes=notes, picture=picture
        )


def scaled_law(mechanism: object) -> Facts:
    """Return the law of an additive mechanism as the browser takes it."""
    law = law_of(mechanism)
    scale = float(law.scale) if isinstance(law, DiscreteLaplaceLaw) else float(law.variance) ** 0.5
    return {"kind": law.kind, "scale": scale}

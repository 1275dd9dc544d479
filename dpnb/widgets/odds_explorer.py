"""What ε means for one person: prior to posterior, a thousand people, and the same answer in two worlds."""

from __future__ import annotations

from fractions import Fraction
from typing import Any, ClassVar

from dpnb.cards.card import Card
from dpnb.mechanisms import DiscreteLaplace
from dpnb.privacy.risk import odds_sentence, posterior, posterior_table
from dpnb.widgets._base import Interaction
from dpnb.widgets.wording import still

__all__ = ["Odds"]

_PEOPLE = 1000


class Odds(Interaction):
    """What ε does to a belief about one person.

    Parameters
    ----------
    prior : number
        The belief before, strictly between 0 and 1.
    epsilon : number
        Where the handle stands at first.

    Examples
    --------
    >>> dpnb.widgets.odds(0.1, epsilon=0.5)  # doctest: +SKIP
    """

    module: ClassVar[str] = "odds"

    def __init__(self, prior: float = 0.1, *, epsilon: float = 1.0) -> None:
        posterior(prior, epsilon)  # refuses what is no belief and no loss
        self._prior, self._epsilon = float(prior), float(epsilon)
        super().__init__()

    def describe(self) -> dict[str, Any]:
        """State the belief and the noise of a count at ε = 1; see :class:`Interaction`."""
        return {
            "prior": self._prior,
            "epsilon": self._epsilon,
            "people": _PEOPLE,
            "law": scaled_law(DiscreteLaplace.calibrate(1, Fraction(1))),
            "problem": "",
        }

    def card(self) -> Card:
        """Draw the table of beliefs; see :class:`Interaction`."""
        table = posterior_table()
        rows = [
            (name, *(f"{100 * value:.1f} %" for value in line))
            for name, line in zip(table.index, table.cells, strict=True)
        ]
        prior = float(self.chosen.get("prior", self._prior))
        epsilon = float(self.chosen.get("epsilon", self._epsilon))
        said = odds_sentence(prior, epsilon, _PEOPLE)
        about = "belief after the release, at most"
        return still(
            "odds",
            "What ε means for one person",
            about,
            ("belief before", *table.columns),
            rows,
            self.facts,
            notes=[f"ε {epsilon:g}: {said}"],
        )


def scaled_law(mechanism: Any) -> dict[str, Any]:
    """Return the law of an additive mechanism as the browser takes it."""
    law = mechanism.law
    scale = float(law.scale) if law.kind == "discrete-laplace" else float(law.variance) ** 0.5
    return {"kind": law.kind, "scale": scale}

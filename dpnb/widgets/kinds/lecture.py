"""The lecture view: one question, one ε, and forty studies of which one counts how many hold the truth. For a projector.

Its studies are those of the coverage lab, at many losses with the same random numbers; nothing protected is read, and nothing is spent.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

from dpnb.cards.card import Card
from dpnb.widgets.coverage_run import DRAWN
from dpnb.widgets.coverage_setup import Setup
from dpnb.widgets.kinds.coverage import Coverage
from dpnb.widgets.registry import Facts
from dpnb.widgets.scenes import DECLARED

_SHOWN = ("confidence", "privacy")
_DECLARING = {"skew", "outliers", "share", "effect"}
_LONGEST = 80


class Lecture(Coverage):
    """What ε does to an interval, and how many of forty studies hold the truth.

    Parameters
    ----------
    statistic : str or Estimate
        A statistic of made-up people, or an estimate, released or not: its question, size and bounds are then simulated, never its rows.
    population : str, Population or array, optional
        As :func:`dpnb.widgets.coverage_lab` takes it.
    title : str, optional
        What stands above the picture, at most 80 characters; the question's own words by default.
    n : int, optional
        People of a study; 200 by default, or those of the estimate.
    epsilon : number, optional
        Where the handle stands at first; 0.3 by default, or the loss of the estimate.
    **more
        ``rho=``, ``reps=``, ``rng=``, ``level=`` and the declared population's numbers, as the lab takes them.

    Examples
    --------
    >>> dpnb.widgets.lecture("proportion", share=0.34, title="How many students cheat?")  # doctest: +SKIP
    """

    module: ClassVar[str] = "lecture"

    def __init__(
        self, statistic: Any = "proportion", population: Any = None, *, title: str | None = None, **more: Any
    ) -> None:
        self._words = None if title is None else str(title)[:_LONGEST]
        if isinstance(statistic, str):
            more.setdefault("n", 200)
            if "rho" not in more:
                more.setdefault("epsilon", 0.3)
            if population is None and _DECLARING & set(more):
                population = DECLARED
        super().__init__(statistic, population, methods=_SHOWN, **more)
        self._tell()

    def _begin(self, setup: Setup) -> None:
        super()._begin(replace(setup, computed=_SHOWN))

    def _follow(self) -> None:
        """Bring the forty that the page wants, and more studies where it wants them."""
        self._simulate_shared()
        self._tell()

    def card(self) -> Card:
        """Draw the table of a hundred studies; see :class:`Interaction`."""
        return self._still(super().describe())

    def describe(self) -> Facts:
        """State the question, where the handle stands, and the studies; see :class:`Interaction`."""
        if self._shared is None:
            self._simulate_shared()
        assert self._shared is not None
        if self._shared[1].studies < DRAWN:
            self._shared[1].step()
        setup, studies = self._setup, self._shared[1].to_json(self._page())
        inside, shape = self._inputs.asked(setup).inside, self._inputs.shape(setup)
        return {
            "question": self._title() if self._words is None else self._words,
            "n": setup.n,
            "kind": setup.kind,
            "loss": setup.loss,
            "level": setup.level,
            "percent": inside and self._inputs.kind(setup) == "share",
            "bounds": [shape["low"], shape["high"]] if shape is not None and inside else None,
            "shared": {"of": self._draws, **studies},
            "problem": "",
        }

"""Several questions against ε in one picture: what one loss would buy of each, and what it lets others believe.

The ± are drawn as parts of their public ranges, since their units differ, and told in their own. Each question is asked alone.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

from dpnb.cards.card import Card
from dpnb.cards.markup import Markup, clean
from dpnb.errors import PlanError
from dpnb.inference.digits import number, rounded
from dpnb.risk.odds import at_most, posterior
from dpnb.statistics._base import SOME_ROWS
from dpnb.widgets._base import Interaction
from dpnb.widgets.accuracy import RANK, planned_size
from dpnb.widgets.curve import Curve, Curves, Kind, by_rank, kind_of, left_of, question_of
from dpnb.widgets.host_questions import text_of
from dpnb.widgets.registry import Facts, Names
from dpnb.widgets.still_picture import lines, still

_MOST = 6
_SHOWN = (0.1, 0.25, 0.5, 1.0, 2.0, 4.0)


class Compare(Interaction):
    """How accurate several questions are at each loss.

    Parameters
    ----------
    questions : sequence of Estimate, or mapping of str to Estimate
        Up to six questions of one dataset, released or not.
    epsilon : number, optional
        The initial ε.

    Examples
    --------
    >>> dpnb.widgets.compare([hiv.got.mean(), hiv.age.median()])  # doctest: +SKIP
    """

    module: ClassVar[str] = "compare"
    example: ClassVar[str] = "[hiv.got.mean(), hiv.age.median()]"
    follows: ClassVar[bool] = True

    def __init__(self, questions: object, *, epsilon: float | None = None) -> None:
        named = (
            questions.items() if isinstance(questions, Mapping) else [("", one) for one in _listed(questions)]
        )
        self._questions = [(str(name), question_of(one)) for name, one in named]
        if not 1 <= len(self._questions) <= _MOST:
            raise PlanError(
                f"This compares 1 to {_MOST} questions: dpnb.widgets.compare([hiv.got.mean(), hiv.age.mean()])."
            )
        if len({one.dataset.handle for _, one in self._questions}) > 1:
            raise PlanError(
                "These questions are of two datasets, whose losses do not compare: ask one dataset."
            )
        self._start, self._curves = epsilon, Curves()
        self._known = [(planned_size(one, None), by_rank(one)) for _, one in self._questions]
        super().__init__()

    def describe(self) -> Facts:
        """Price every question; see :class:`Interaction`."""
        first = self._questions[0][1]
        kind, left = kind_of(first), left_of(first)
        return {
            "dataset": first.dataset.name,
            "kind": kind,
            "symbol": "ε" if kind == "epsilon" else "ρ",
            "questions": [self._about(place, kind) for place in range(len(self._questions))],
            "left": left,
            "start": min(left / 2 or 1.0, 1.0) if self._start is None else float(self._start),
            "problem": "",
        }

    def _about(self, place: int, kind: Kind) -> Facts:
        (name, question), (size, ranks) = self._questions[place], self._known[place]
        curve, setting = self._curves.of(question, kind, size), question.checked.setting
        low, high = question.checked.kind.domain(setting)
        span = float(setting.at_most or SOME_ROWS) if ranks else float(high - low)
        return {
            "name": clean(name or text_of(question)),
            "unit": RANK if ranks else "rows" if question.checked.kind.counts else "",
            "given": "" if size is None else f"for {size:,}",
            "curve": curve.to_json(),
            "span": span if math.isfinite(span) and span > 0 else curve.width[0],
        }

    def card(self) -> Card:
        """Draw the table of what is compared; see :class:`Interaction`."""
        facts = self.facts
        symbol = facts["symbol"]
        rows = [
            [f"{symbol} {loss:g}", *(_cell(one, loss) for one in facts["questions"]), _odds(symbol, loss)]
            for loss in _SHOWN
        ]
        head = ["loss", *(one["name"] for one in facts["questions"]), "a 10 % guess becomes at most"]
        notes = [
            f"Each is asked alone: together they cost the sum. {symbol} {number(facts['left'])} is left in {facts['dataset']}.",
            "± of the 95 % privacy interval, and its part of the public range.",
        ]
        return still(
            "compare",
            "How accurate each question would be",
            facts["dataset"],
            head,
            rows,
            facts,
            notes=notes,
            picture=self._picture(),
        )

    def _picture(self) -> Markup:
        """Draw the ± of each question, as a part of its public range, along the losses."""
        drawn = [
            (one["name"], one["curve"]["loss"], [width / one["span"] for width in one["curve"]["width"]])
            for one in self.facts["questions"]
        ]
        return lines("± as a part of the public range", drawn, self.facts["symbol"])


def _listed(questions: object) -> list[object]:
    return list(questions) if isinstance(questions, list | tuple) else [questions]


def _cell(one: Names, loss: float) -> str:
    width = Curve(tuple(one["curve"]["loss"]), tuple(one["curve"]["width"])).width_at(loss)
    told = " ".join(filter(None, ["±", rounded(width), one["unit"]]))
    part = float(f"{100 * min(width / one['span'], 1.0):.2g}")
    return f"{told} ({number(part)} %)"


def _odds(symbol: str, loss: float) -> str:
    return at_most(posterior(0.1, loss)) if symbol == "ε" else "–"

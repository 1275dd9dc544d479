"""What an attack achieved: the share recovered at each setting, beside guessing and beside what ε allows."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpnb.cards.card import Card, frame
from dpnb.cards.markup import el
from dpnb.errors import OptionError
from dpnb.inference.digits import percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXACT = math.inf
"""The ε of answers without noise."""
_ACCENT, _INK, _SOFT = "#0a6480", "#1c1d21", "#5b5e66"


@dataclass(frozen=True, slots=True)
class AttackRow:
    """One setting of the defence.

    Parameters
    ----------
    setting : str
        In words: an ε, a noise, a number of answers.
    recovered : float
        Share of the secret that the attack got right.
    error : float
        Standard error of that share.
    baseline : float
        Share that guessing without the answers gets right.
    bound : float or None
        The largest share that any attack can expect under the ε of this setting; None where there is no ε.
    """

    setting: str
    recovered: float
    error: float
    baseline: float
    bound: float | None = None

    @property
    def gain(self) -> float:
        """The gain over guessing."""
        return self.recovered - self.baseline


@dataclass(frozen=True, slots=True, repr=False)
class AttackResult:
    """An attack's success over several settings.

    Parameters
    ----------
    attack : str
        Its name.
    goal : str
        What it recovers, and from what, in one sentence.
    varied : str
        What differs between rows: ``"ε"``, ``"noise"``, ``"answers"``.
    rows : tuple of AttackRow
    guess : str
        What guessing means here.

    Examples
    --------
    >>> from dpnb.audit.attacks import reconstruction
    >>> import numpy as np
    >>> found = reconstruction(np.arange(32) % 2, queries=128, sd=(0.5,), rng=1)
    >>> found.rows[0].recovered
    1.0
    """

    attack: str
    goal: str
    varied: str
    rows: tuple[AttackRow, ...]
    guess: str

    @property
    def recovered(self) -> NDArray[np.float64]:
        """The shares recovered, one for each row."""
        return np.array([row.recovered for row in self.rows])

    @property
    def baseline(self) -> float:
        """The largest guessing baseline of all rows."""
        return max(row.baseline for row in self.rows)

    def __getitem__(self, setting: str) -> AttackRow:
        for row in self.rows:
            if row.setting == setting:
                return row
        raise OptionError(
            f"unknown setting {setting!r}; known: {', '.join(row.setting for row in self.rows)}."
        )

    @property
    def text(self) -> str:
        """The result for a terminal."""
        lines = [self._head(), *(self._cells(row) for row in self.rows)]
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        body = ["  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)) for line in lines]
        return "\n".join([f"{self.attack}: {self.goal}", *body, f"guessing: {self.guess}"])

    def _head(self) -> list[str]:
        head = [self.varied, "recovered", "± se", "guessing"]
        return [*head, "at most"] if self._bounded else head

    @property
    def _bounded(self) -> bool:
        return any(row.bound is not None for row in self.rows)

    def _cells(self, row: AttackRow) -> list[str]:
        cells = [row.setting, percent(row.recovered, 1), f"{100 * row.error:.1f}", percent(row.baseline, 1)]
        return [*cells, "–" if row.bound is None else percent(row.bound, 1)] if self._bounded else cells

    def table(self) -> Card:
        """Return the rows as a card: HTML, text and JSON."""
        head = el("tr", *(el("th", name, scope="col", class_="num") for name in self._head()))
        body = [el("tr", *(el("td", cell, class_="num") for cell in self._cells(row))) for row in self.rows]
        html = frame(
            el("div", el("h3", self.attack), class_="head"),
            el("p", self.goal),
            el("table", el("thead", head), el("tbody", *body), class_="slim"),
            el("p", f"Guessing: {self.guess}", class_="soft"),
        )
        return Card(html, self.text, self.to_json(), "attack")

    def to_json(self) -> dict[str, object]:
        """The facts in JSON's own types."""
        return {
            "format": 1,
            "attack": self.attack,
            "goal": self.goal,
            "varied": self.varied,
            "guess": self.guess,
            "rows": [
                {
                    "setting": row.setting,
                    "recovered": row.recovered,
                    "error": row.error,
                    "baseline": row.baseline,
                    "bound": row.bound,
                }
                for row in self.rows
            ],
        }

    def plot(self) -> Figure:
        """Return a matplotlib figure: recovered shares, the guessing baseline and the bound on one axis."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(6.4, 3.2), layout="constrained")
        axes = figure.add_subplot()
        at = np.arange(len(self.rows))
        axes.bar(at, 100 * self.recovered, width=0.62, color=_ACCENT, label="recovered")
        axes.step(
            np.append(at - 0.5, at[-1] + 0.5),
            100 * np.array([row.baseline for row in (*self.rows, self.rows[-1])]),
            where="post",
            color=_INK,
            linestyle="--",
            linewidth=1.3,
            label="guessing",
        )
        bounds = [math.nan if row.bound is None else 100 * row.bound for row in self.rows]
        if self._bounded:
            axes.plot(
                at, bounds, "_", color=_INK, markersize=22, markeredgewidth=1.6, label="most that ε allows"
            )
        axes.set_xticks(at, [row.setting for row in self.rows])
        axes.set_ylim(0, 104)
        axes.set_xlabel(self.varied, color=_SOFT)
        axes.set_ylabel("share, %", color=_SOFT)
        axes.spines[["top", "right"]].set_visible(False)
        figure.legend(loc="outside upper left", ncols=3, frameon=False, fontsize=9)
        return figure

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **options: object) -> dict[str, object]:
        return self.table()._repr_mimebundle_(**options)


def made(
    setting: str, hits: NDArray[np.bool_] | NDArray[np.float64], baseline: float, bound: float | None = None
) -> AttackRow:
    """Return a row from successes: an array whose first axis is independent repetitions."""
    each = np.asarray(hits, dtype=float).reshape(len(hits), -1).mean(axis=1)
    spread = float(each.std(ddof=1) / math.sqrt(each.size)) if each.size > 1 else math.nan
    return AttackRow(setting, float(each.mean()), spread, baseline, bound)


def fair(epsilon: float) -> float:
    """The largest share of right guesses of a fair bit: e^ε/(1 + e^ε)."""
    return 1 / (1 + math.exp(-epsilon))


def epsilon_label(epsilon: float) -> str:
    """Write an ε; an infinite one is an exact answer."""
    return "exact" if math.isinf(epsilon) else f"{epsilon:g}"


def epsilons_of(epsilons: Sequence[float]) -> list[float]:
    """Read losses, each positive; ``inf`` means no noise."""
    found = [float(epsilon) for epsilon in epsilons]
    if not found or any(not epsilon > 0 for epsilon in found):
        raise OptionError('epsilons are positive numbers; float("inf") stands for exact answers.')
    return found

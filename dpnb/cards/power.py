"""The card of a plan: the size, the loss, the accuracy they buy, and what other losses would buy."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import numpy as np

from dpnb.cards.card import Card, Record, frame
from dpnb.cards.markup import el
from dpnb.estimate.table import aligned
from dpnb.planner.design import Accuracy
from dpnb.planner.power import Goal
from dpnb.trusted.query.plan import Share

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SYMBOLS = {"epsilon": "ε", "rho": "ρ"}


class _Plan(Protocol):
    """What the card writes down: what is planned and what was assumed; rows and loss; which of them was found, and what they buy."""

    @property
    def text(self) -> str: ...
    @property
    def assumed(self) -> str: ...
    @property
    def n(self) -> int | None: ...
    @property
    def share(self) -> Share: ...
    @property
    def found(self) -> str: ...
    @property
    def accuracy(self) -> Accuracy: ...
    @property
    def goal(self) -> Goal: ...

    def table(self) -> list[tuple[float, Accuracy]]: ...


def power_card(plan: _Plan) -> Card:
    """Draw a plan.

    Parameters
    ----------
    plan : PowerPlan
        From :func:`dpnb.power`.
    """
    symbol = _SYMBOLS[plan.share.kind]
    head, lines = _headline(plan, symbol), _lines(plan)
    columns = [symbol, "± noise alone", "± with sampling", "as accurate as"]
    rows = [_row(loss, found) for loss, found in plan.table()]
    text = "\n".join(
        [
            plan.text + (f", {plan.assumed}" if plan.assumed else ""),
            f"  {head}",
            *(f"  {line}" for line in lines),
        ]
    )
    text += "".join(f"\n    {row}" for row in aligned([columns, *rows], left=True))
    body = [el("tr", *(el("td", cell) for cell in row)) for row in rows]
    html = frame(
        el("div", el("h3", plan.text), el("p", plan.assumed) if plan.assumed else None, class_="head"),
        el("p", head, class_="strong"),
        *(el("p", line) for line in lines),
        el("table", el("thead", el("tr", *(el("th", name) for name in columns))), el("tbody", *body)),
    )
    return Card(html, text, _record(plan), "power")


def power_figure(plan: _Plan, losses: np.ndarray, sizes: np.ndarray) -> Figure:
    """Return a figure of the effective size against the loss, the plan's own loss marked.

    Parameters
    ----------
    plan : PowerPlan
        What is planned.
    losses : ndarray, shape (points,)
        Losses, rising.
    sizes : ndarray, shape (points,) or (points, cells)
        Effective sizes at each.
    """
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 3.6), layout="constrained")
    axes = figure.add_subplot()
    axes.plot(losses, sizes, color="#0a6480", linewidth=1.4)
    axes.axvline(float(plan.share.amount), color="#1c1d21", linewidth=0.9, linestyle=":")
    if plan.n is not None:
        axes.axhline(plan.n, color="#5b5e66", linewidth=0.9)
        axes.annotate(
            f"n = {plan.n:,}", (losses[0], plan.n), xytext=(2, -11), textcoords="offset points", fontsize=9
        )
    axes.set_xscale("log")
    axes.set_ylim(bottom=0)
    axes.set_xlabel(_SYMBOLS[plan.share.kind])
    axes.set_ylabel("as accurate as so many rows")
    axes.set_title(plan.text, fontsize=10)
    return figure


def _headline(plan: _Plan, symbol: str) -> str:
    size = "" if plan.n is None else f"n = {plan.n:,}"
    loss = f"{symbol} {float(plan.share.amount):.4g}"
    marked = {"n": (f"{size} is enough", loss), "loss": (size, f"{loss} is enough")}.get(
        plan.found, (size, loss)
    )
    goal = f", for {plan.goal}" if plan.goal.wanted else ""
    return " · ".join(part for part in (*marked, f"{100 * plan.goal.level:g} %") if part) + goal


def _lines(plan: _Plan) -> list[str]:
    found = plan.accuracy
    lines = [f"± {found.privacy:.3g} from the noise alone"]
    if found.confidence is not None:
        lines.append(f"± {found.confidence:.3g} with sampling")
    if found.n_eff is not None:
        lines.append(
            f"as accurate as {_sizes(found.n_eff)}"
            + ("" if plan.n is None else f" of {plan.n:,} rows without noise")
        )
    if plan.goal.effect is not None and found.confidence is not None:
        lines.append(
            f"an effect of {plan.goal.effect:g} is detected with probability {found.chance(plan.goal.effect):.2f}"
        )
    return lines


def _sizes(sizes: np.ndarray) -> str:
    low, high = float(np.min(sizes)), float(np.max(sizes))
    return f"{low:,.0f}" if round(low) == round(high) else f"{low:,.0f} to {high:,.0f}"


def _row(loss: float, found: Accuracy) -> list[str]:
    wide = "–" if found.confidence is None else f"{found.confidence:.3g}"
    return [f"{loss:.4g}", f"{found.privacy:.3g}", wide, "–" if found.n_eff is None else _sizes(found.n_eff)]


def _record(plan: _Plan) -> Record:
    def facts(found: Accuracy) -> Record:
        sizes = None if found.n_eff is None else np.ravel(found.n_eff).tolist()
        return {"privacy": found.privacy, "confidence": found.confidence, "n_eff": sizes}

    return {
        "format": 1,
        "text": plan.text,
        "assumed": plan.assumed,
        "n": plan.n,
        plan.share.kind: str(plan.share.amount),
        "found": plan.found,
        "level": plan.goal.level,
        "within": plan.goal.within,
        "effect": plan.goal.effect,
        "power": None
        if plan.goal.effect is None or plan.accuracy.confidence is None
        else plan.accuracy.chance(plan.goal.effect),
        "accuracy": facts(plan.accuracy),
        "table": [[loss, facts(found)] for loss, found in plan.table()],
    }

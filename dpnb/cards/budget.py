"""The budget as a bar: what was spent before, what this act costs, and the room that is left."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from dpnb.cards.card import Card, Record, frame, heading
from dpnb.cards.markup import Markup, el
from dpnb.planner.schema_words import cap_words, mode_badge
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.schema import Schema


class State(Protocol):
    """One consistent reading of a budget."""

    @property
    def cap(self) -> PrivacyLoss: ...  # noqa: D102
    @property
    def whose(self) -> str: ...  # noqa: D102
    @property
    def spent(self) -> PrivacyLoss: ...  # noqa: D102
    @property
    def left(self) -> PrivacyLoss: ...  # noqa: D102
    @property
    def personal(self) -> PrivacyLoss | None: ...  # noqa: D102
    @property
    def mine(self) -> PrivacyLoss: ...  # noqa: D102


class View(Protocol):
    """Reads a budget whenever it is asked."""

    def state(self) -> State: ...  # noqa: D102


class Handle(Protocol):
    """What cards read of the dataset that was asked."""

    @property
    def schema(self) -> Schema: ...  # noqa: D102


def used_share(loss: PrivacyLoss, cap: PrivacyLoss) -> float:
    """Return which part of a cap a loss takes, from 0 to 1; with δ, the larger of both parts."""
    pairs = (loss.amount, cap.amount), (loss.delta, cap.delta)
    return min(max((float(part / whole) for part, whole in pairs if whole), default=0.0), 1.0)


def words(left: PrivacyLoss, cap: PrivacyLoss, whose: str = "") -> str:
    """Say what is left: ``ε 3 of 4 left``, and of which cap where it is not the dataset's budget."""
    whole = str(cap).removeprefix(f"{cap.measure.symbol} ")
    return f"{left.brief('down')} of {whole} left{cap_words(whose)}"


def own_cap(now: State) -> str:
    """Say what is spent of somebody's own cap, unless that is the one of which the least is left, or there is none."""
    if now.personal is None or (now.whose and now.personal == now.cap):
        return ""
    return f"your own cap: {now.mine} of {now.personal} spent"


def _shares(left: PrivacyLoss, cap: PrivacyLoss, now: PrivacyLoss | None) -> tuple[float, float]:
    """The part spent before and the part of this act."""
    this = 0.0 if now is None else used_share(now, cap)
    spent = used_share(cap - left, cap)
    return min(spent, 1 - this if now is not None else 1.0), this


def bar(
    left: PrivacyLoss, cap: PrivacyLoss, now: PrivacyLoss | None = None, *, what: str = "this release"
) -> Markup:
    """Draw the bar; ``left`` is what was left before ``now``.

    Parameters
    ----------
    left, cap : PrivacyLoss
    now : PrivacyLoss, optional
        What this act costs.
    what : str
        What the act is called.
    """
    before, this = _shares(left, cap, now)
    said = words(left if now is None else left - now, cap)
    return el("div", _svg(before, this, said if now is None else f"{what} {now}; {said}"), class_="bar")


def _svg(before: float, this: float, said: str) -> Markup:
    def block(start: float, width: float, name: str) -> Markup | None:
        if width <= 0:
            return None
        return el(
            "rect", x=f"{100 * start:.2f}%", width=f"{100 * width:.2f}%", y="0", height="8", class_=name
        )

    return el(
        "svg",
        el("title", "budget"),
        el("desc", said),
        el("rect", x="0", y="0", width="100%", height="8", class_="room"),
        block(0, before, "used"),
        block(before, max(this, 0.004) if this else 0, "pv"),
        height="8",
        role="img",
        aria_label=f"budget: {said}",
    )


def text_bar(left: PrivacyLoss, cap: PrivacyLoss, now: PrivacyLoss | None = None, width: int = 30) -> str:
    """Draw the bar with characters: spent before, this act, left."""
    before, this = _shares(left, cap, now)
    first = round(before * width)
    second = max(round(this * width), 1) if this else 0
    first = min(first, width - second)
    return "█" * first + "▒" * second + "░" * (width - first - second)


def state_of(budget: State | View) -> State:
    """Return one consistent reading of a budget: a state itself, or what its view reads now."""
    read: Callable[[], State] | None = getattr(budget, "state", None)
    return cast("State", budget) if read is None else read()


def budget_card(schema: Schema, budget: State | View) -> Card:
    """Return what is spent and what is left of a dataset's budget.

    Parameters
    ----------
    schema : Schema
    budget : BudgetView or BudgetState
        Has ``cap``, ``whose``, ``spent``, ``left``, ``personal`` and ``mine``.
    """
    now = state_of(budget)
    line = f"spent {now.spent} of {now.cap} · {now.left.brief('down')} left{cap_words(now.whose)}"
    own = own_cap(now)
    if not own and now.mine.amount < now.spent.amount:
        own = f"of this, {now.mine} by you"
    html = frame(
        heading(f"Budget of {schema.name}", mode_badge(schema.mode), "badge"),
        bar(now.left, now.cap),
        el("p", line, class_="soft"),
        el("p", own, class_="soft") if own else None,
    )
    text = f"{schema.name}: {line}\n{text_bar(now.left, now.cap)}" + (f"\n{own}" if own else "")
    record: Record = {
        "format": 1,
        "dataset": schema.name,
        "cap": now.cap.to_json(),
        "whose": now.whose,
        "spent": now.spent.to_json(),
        "left": now.left.to_json(),
        "mine": now.mine.to_json(),
        "personal": None if now.personal is None else now.personal.to_json(),
    }
    return Card(html, text, record, "budget")

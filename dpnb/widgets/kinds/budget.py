"""The living budget bar of a dataset: a block for each release, and a ghost for a plan; it reads the ledger and never charges it.

A plan that does not fit is shown with the remedies: the largest loss that fits, an answer that is stored, one statistic less. Each is
a split of the cell's loss that its magic line can say, over the same body, and fits in what is left. The split board computes the same
while a hand moves (``widgets/plan/remedies.ts``, one set of golden cases). Running the cell is a person's act. A remedy that there is
not says why.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from dpnb.cards.card import Card
from dpnb.client.handles import Dataset
from dpnb.client.plan_view import PlanView
from dpnb.errors import PlanError
from dpnb.widgets._base import Interaction
from dpnb.widgets.arithmetic import cost_of, covers, largest_loss, line_weights
from dpnb.widgets.plan_facts import as_it_stands, planned_line
from dpnb.widgets.registry import Facts, Names
from dpnb.widgets.snapshot import dataset_record, listed, now
from dpnb.widgets.still_picture import bars, still, when

_CLOSE = 1e-9
_DELTA = "what is left of the budget's δ is less than this plan needs"
_LABELS = {"less": "Ask less", "stored": "Use a stored answer", "drop": "Leave a statistic out"}


class Budget(Interaction):
    """The budget of a dataset as a bar: a block for each release, and a ghost for a plan.

    Parameters
    ----------
    subject : Dataset or PlanView
        A dataset, or a plan on one: ``dpnb.plan({...}, epsilon=1)``.
    body : str, optional
        The cell of the plan, without its magic line.
    verb : str
        What its magic line says first: ``"sql"`` where the body is SQL.
    """

    module: ClassVar[str] = "budget"
    follows: ClassVar[bool] = True

    def __init__(self, subject: object, *, body: str | None = None, verb: str = "") -> None:
        if not isinstance(subject, Dataset | PlanView):
            raise PlanError(
                f"This takes a dataset or a plan, not {type(subject).__name__}. For example dpnb.widgets.budget(hiv)."
            )
        self._body, self._verb = body, verb
        self._plan = subject if isinstance(subject, PlanView) else None
        self._dataset = subject.dataset if isinstance(subject, PlanView) else subject
        super().__init__()

    def describe(self) -> Facts:
        """Read the ledger; see :class:`Interaction`."""
        plan = self._replanned()
        facts = {"at": now(), "dataset": dataset_record(self._dataset), "problem": ""}
        if plan is None:
            return {**facts, "plan": 0.0, "planned": "", "events": [], "ways": []}
        paid = [item for item, stored in zip(plan.items, plan.stored, strict=True) if not stored]
        return {
            **facts,
            "plan": float(plan.cost.amount),
            "planned": "This plan" if self._body is None else "This cell",
            "events": listed(event for item in paid for event in item.events),
            "ways": ways_out(plan, self._body, self._verb),
        }

    def _replanned(self) -> PlanView | None:
        """The plan as it stands now: what is stored and left may have changed; what was released of it stays as it was."""
        view = self._plan
        if view is None or any(one.answered for one in view.measurements):
            return view
        return as_it_stands(view)

    def card(self) -> Card:
        """Draw the charges as a table, and the remedies; see :class:`Interaction`."""
        one = self.facts["dataset"]
        rows = [
            (", ".join(row["questions"]) or row["kind"], row["paid"]) for row in one["ledger"] if row["paid"]
        ]
        about = f"{one['words']}, at {when(self.facts['at'])}"
        notes = [_said(way) for way in self.facts["ways"]]
        title = f"Budget of {one['name']}"
        picture = bars("spent of the budget", [(one["name"], one["used"], f"{one['used']:.0%} spent")])
        head = ("question", "paid")
        return still("budget", title, about, head, rows, self.facts, notes=notes, picture=picture)


def _said(way: dict[str, str]) -> str:
    line = way["cell"].partition("\n")[0]
    return f"{way['label']}: {way['why']}" + (f" ({line})" if line else "")


def ways_out(view: PlanView, body: str | None = None, verb: str = "") -> list[Names]:
    """Return the three remedies for a plan that exceeds the budget, and none for one that fits.

    Parameters
    ----------
    view : PlanView
        The plan, as it stands now.
    body : str, optional
        The cell that asked it, without its magic line; by default one line for each question.
    verb : str
        What its magic line says first.

    Returns
    -------
    list of dict
        As :func:`ways` returns them.
    """
    if view.fits:
        return []
    if view.cost.delta > view.left.delta:
        return [_none(kind, _DELTA) for kind in _LABELS]
    facts = planned_line(view, body, verb=verb)
    return ways(facts, [facts["loss"] * share for share in facts["shares"]])


def ways(facts: Names, losses: Sequence[float]) -> list[Names]:
    """Return the three ways out of a split that does not fit.

    Parameters
    ----------
    facts : mapping
        The plan, as :func:`~dpnb.widgets.plan_facts.planned_line` tells it.
    losses : sequence of float
        What each question that shares the line's loss is given now.

    Returns
    -------
    list of dict
        ``kind``, the ``label`` of a button, ``why`` in a sentence, the ``losses`` and the ``cell`` that asks for them; both
        empty where there is no such way.
    """
    asked = written_of(facts, losses).losses
    return [_less(facts, asked), _stored(facts, asked), _drop(facts, asked)]


def _none(kind: str, why: str) -> Names:
    return {"kind": kind, "label": _LABELS[kind], "why": why, "losses": [], "cell": ""}


def _way(facts: Names, kind: str, label: str, why: str, losses: Sequence[float]) -> Names:
    cell = cell_of(facts, written_of(facts, losses))
    return {"kind": kind, "label": label, "why": why, "losses": list(losses), "cell": cell}


def _asks(facts: Names, losses: Sequence[float]) -> bool:
    """Whether a split fits as the magic line says it."""
    return fits(facts, written_of(facts, losses).losses)


def _less(facts: Names, losses: Sequence[float]) -> Names:
    whole, most = math.fsum(losses), _largest(facts, losses)
    found = [loss * most / whole for loss in losses] if most else []
    if not any(found) or not _asks(facts, found):
        return _none("less", "the budget cannot pay for any of this cell")
    own = math.fsum(one["own"] for one in facts["questions"] if one["state"] == "own")
    total = written_of(facts, found).total + own
    why = f"the most that fits, split as planned{_source(facts, total, found)}"
    return _way(facts, "less", f"Ask {facts['symbol']} {total:.3g}", why, found)


def _source(facts: Names, total: float, losses: Sequence[float]) -> str:
    """Say where a loss comes from that is larger than what is left."""
    if total <= facts["left"] * (1 + _CLOSE) and facts["symbol"] == facts["paid"]["symbol"]:
        return ""
    asked, every = written_of(facts, losses).losses, zip(split_of(facts), losses, strict=True)
    names = [
        one["name"]
        for (one, _), loss in zip(every, asked, strict=True)
        if loss and (held := held_of(one)) and covers(held, loss)
    ]
    free = f"; {_listed(names)} {'is' if len(names) == 1 else 'are'} stored and free" if names else ""
    return f"{free}: {_cost(facts, losses)}"


def _largest(facts: Names, losses: Sequence[float]) -> float:
    """The largest loss, at these shares and at most what is asked, that fits."""
    split, whole = split_of(facts), math.fsum(losses)
    if not whole:
        return 0.0
    shares, held = [loss / whole for loss in losses], [held_of(one) for one in split]
    room = facts["left"] - charge_of(facts, [0.0 for _ in losses])
    return largest_loss(shares, held, [one["rate"] for one in split], facts["paid"]["power"], room, whole)


def _stored(facts: Names, losses: Sequence[float]) -> Names:
    split = split_of(facts)
    held = {
        place: amount
        for place, one in enumerate(split)
        if (amount := held_of(one)) and losses[place] and not covers(amount, losses[place])
    }
    if not held:
        return _none("stored", "none of these questions has a stored answer that would cost less")
    if _fixed(facts, losses):
        return _none("stored", facts["pinned"])
    found = [held.get(place, loss) for place, loss in enumerate(losses)]
    if not _asks(facts, found):
        return _none("stored", "the questions that are not stored still cost too much")
    words = f" ({split[min(held)]['held']['words']})" if len(held) == 1 else ""
    label = f"Use the stored {_listed([split[place]['name'] for place in held])}"
    return _way(facts, "stored", label, f"as released before{words}: {_cost(facts, found)}", found)


def _drop(facts: Names, losses: Sequence[float]) -> Names:
    split, power = split_of(facts), facts["paid"]["power"]
    costs = [cost_of(loss, held_of(one), one["rate"], power) for one, loss in zip(split, losses, strict=True)]
    paying = sorted((place for place, cost in enumerate(costs) if cost > 0), key=costs.__getitem__)
    if sum(loss > 0 for loss in losses) + sum(one["state"] == "own" for one in facts["questions"]) < 2:
        return _none("drop", "this plan asks one question alone")
    if _fixed(facts, losses):
        return _none("drop", facts["pinned"])
    for dropped in _candidates(paying):
        found = _without(losses, dropped)
        if any(found) and _asks(facts, found):
            label = f"Leave out {_listed([split[place]['name'] for place in sorted(dropped)])}"
            return _way(facts, "drop", label, f"the rest keeps its ±: {_cost(facts, found)}", found)
    return _none("drop", "even one question alone costs too much")


def _fixed(facts: Names, losses: Sequence[float]) -> bool:
    """Whether the shares cannot be written on the magic line, and there is more than one."""
    return bool(facts["pinned"]) and len(losses) > 1


def _candidates(paying: Sequence[int]) -> Iterable[Sequence[int]]:
    """What to leave out: the cheapest question that is enough, else the dearest ones together."""
    yield from ([place] for place in paying)
    for many in range(2, len(paying) + 1):
        yield paying[-many:]


def _without(losses: Sequence[float], places: Iterable[int]) -> list[float]:
    left_out = set(places)
    return [0.0 if place in left_out else loss for place, loss in enumerate(losses)]


def _cost(facts: Names, losses: Sequence[float]) -> str:
    cost = charge_of(facts, written_of(facts, losses).losses)
    return f"the cell costs {facts['paid']['symbol']} {cost:.4g}" if cost else "the cell is free"


def _listed(names: Sequence[str]) -> str:
    """Some names as the label of a button, which names three at most."""
    return " and ".join(names if len(names) <= 3 else [", ".join(names[:2]), f"{len(names) - 2} more"])


@dataclass(frozen=True, slots=True)
class Written:
    """What the magic line asks: a loss, weights, and the losses that these give to the questions that share it."""

    total: float
    weights: tuple[float, ...]
    losses: tuple[float, ...]


def split_of(facts: Names) -> list[Names]:
    """Return the questions that share the line's loss."""
    return [one for one in facts["questions"] if one["state"] == "split"]


def held_of(one: Names) -> float | None:
    """Return the largest loss that the stored answer of a question covers, if there is one."""
    return None if one["held"] is None else float(one["held"]["amount"])


def _own(facts: Names) -> list[Names]:
    return [one for one in facts["questions"] if one["state"] == "own"]


def written_of(facts: Names, losses: Sequence[float]) -> Written:
    """Round a split to what the magic line can say."""
    total = float(f"{math.fsum(losses):.3g}")
    if facts["pinned"]:
        whole = math.fsum(facts["shares"])
        return Written(total, tuple(1 for _ in losses), tuple(total * s / whole for s in facts["shares"]))
    weights = line_weights(losses, [held_of(one) for one in split_of(facts)], total)
    whole = sum(weights)
    return Written(total, tuple(weights), tuple(total * w / whole if whole else 0.0 for w in weights))


def charge_of(facts: Names, losses: Sequence[float]) -> float:
    """Return what a cell with these losses is charged, in the budget's measure."""
    power = facts["paid"]["power"]
    own = math.fsum(
        cost_of(one["own"], held_of(one), one["rate"], power) for one in _own(facts) if not one["stored"]
    )
    pairs = zip(split_of(facts), losses, strict=True)
    return own + math.fsum(cost_of(loss, held_of(one), one["rate"], power) for one, loss in pairs)


def fits(facts: Names, losses: Sequence[float]) -> bool:
    """Return whether a cell with these losses is charged at most what is left."""
    return charge_of(facts, losses) <= facts["left"] * (1 + _CLOSE)


def cell_of(facts: Names, written: Written) -> str:
    """Return the cell that releases a plan as it is written: the loss and the weights on the magic line, the body untouched."""
    split, own = split_of(facts), math.fsum(one["own"] for one in _own(facts))
    said = ",".join(f"{one['name']}:{weight}" for one, weight in zip(split, written.weights, strict=True))
    equal = len(set(written.weights)) < 2
    parts = [
        "%%dp",
        facts["verb"],
        f"{facts['kind']}={written.total + own:.3g}" if split or own else "",
        "" if equal or facts["pinned"] else f"weights={said}",
        facts["rest"],
    ]
    return " ".join(part for part in parts if part) + f"\n{facts['body']}"

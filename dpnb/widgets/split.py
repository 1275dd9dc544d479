"""A split of a plan's loss as the magic line says it: the loss in three digits, whole weights, and what such a cell is charged.

Pure functions of a plan's facts (:func:`~dpnb.widgets.planned_line.planned_line`). The browser computes the same while a hand
moves (``widgets/plan/model.ts``); what is charged is computed exactly elsewhere. The body of a cell is never changed.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpnb.widgets.arithmetic import cost_of, line_weights

Facts = Mapping[str, Any]
_CLOSE = 1e-9


@dataclass(frozen=True, slots=True)
class Written:
    """What the magic line asks: a loss, weights, and the losses that these give to the questions that share it."""

    total: float
    weights: tuple[float, ...]
    losses: tuple[float, ...]


def split_of(facts: Facts) -> list[Mapping[str, Any]]:
    """Return the questions that share the line's loss."""
    return [one for one in facts["questions"] if one["state"] == "split"]


def held_of(one: Mapping[str, Any]) -> float | None:
    """Return the largest loss that the stored answer of a question covers, if there is one."""
    return None if one["held"] is None else float(one["held"]["amount"])


def _own(facts: Facts) -> list[Mapping[str, Any]]:
    return [one for one in facts["questions"] if one["state"] == "own"]


def written_of(facts: Facts, losses: Sequence[float]) -> Written:
    """Round a split to what the magic line can say."""
    total = float(f"{math.fsum(losses):.3g}")
    if facts["pinned"]:
        whole = math.fsum(facts["shares"])
        return Written(total, tuple(1 for _ in losses), tuple(total * s / whole for s in facts["shares"]))
    weights = line_weights(losses, [held_of(one) for one in split_of(facts)], total)
    whole = sum(weights)
    return Written(total, tuple(weights), tuple(total * w / whole if whole else 0.0 for w in weights))


def charge_of(facts: Facts, losses: Sequence[float]) -> float:
    """Return what a cell with these losses is charged, in the budget's measure."""
    power = facts["paid"]["power"]
    own = math.fsum(
        cost_of(one["own"], held_of(one), one["rate"], power) for one in _own(facts) if not one["stored"]
    )
    pairs = zip(split_of(facts), losses, strict=True)
    return own + math.fsum(cost_of(loss, held_of(one), one["rate"], power) for one, loss in pairs)


def fits(facts: Facts, losses: Sequence[float]) -> bool:
    """Return whether a cell with these losses is charged at most what is left."""
    return charge_of(facts, losses) <= facts["left"] * (1 + _CLOSE)


def cell_of(facts: Facts, written: Written) -> str:
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

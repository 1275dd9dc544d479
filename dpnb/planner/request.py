"""What a cell asks for: questions with their shares, and the loss or the accuracy that is wanted.

Losses are exact rationals. They cross the wire as text, never as binary floats.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpnb.errors import LossError, PlanError
from dpnb.planner.question import QueryPlan
from dpnb.trusted.canonical import canonical
from dpnb.trusted.privacy.loss import exact_text, parse_exact, positive

MAX_ITEMS = 1000
_KINDS = ("epsilon", "rho", "within")


@dataclass(frozen=True, slots=True)
class Ask:
    """How much a batch may cost, or how accurate each of its answers should be.

    Parameters
    ----------
    epsilon, rho : Fraction, optional
        The loss of the whole batch: pure ε, or ρ of zero-concentrated differential privacy.
    within : Fraction, optional
        Half-width of the 95 % privacy interval wanted for each question, in that question's unit.
    fresh : bool
        Pay again even for questions that are stored.
    assume_n : int, optional
        A size to plan with where the true size is private. It changes previews and ``within``, never the data.
    """

    epsilon: Fraction | None = None
    rho: Fraction | None = None
    within: Fraction | None = None
    fresh: bool = False
    assume_n: int | None = None

    def __post_init__(self) -> None:
        given = [kind for kind in _KINDS if getattr(self, kind) is not None]
        if len(given) > 1:
            raise LossError(f"Ask for one of epsilon=, rho= or within=, not {' and '.join(given)}.")

    @classmethod
    def make(
        cls,
        epsilon: Any = None,
        rho: Any = None,
        within: Any = None,
        fresh: bool = False,  # noqa: FBT001, FBT002 - a user's option, passed on by name
        assume_n: Any = None,
    ) -> Ask:
        """Read what a person typed: numbers or decimal text, a float as its decimal repr."""
        given = {
            name: positive(value, name=name)
            for name, value in (("epsilon", epsilon), ("rho", rho), ("within", within))
            if value is not None
        }
        return cls(**given, fresh=bool(fresh), assume_n=None if assume_n is None else _size(assume_n))

    @property
    def kind(self) -> str | None:
        """Return ``"epsilon"``, ``"rho"``, ``"within"`` or nothing."""
        return next((kind for kind in _KINDS if getattr(self, kind) is not None), None)

    def to_json(self) -> dict[str, Any]:
        """Return the record that crosses the wire."""
        shown = {kind: getattr(self, kind) for kind in _KINDS}
        texts = {kind: None if value is None else exact_text(value) for kind, value in shown.items()}
        return {**texts, "fresh": self.fresh, "assume_n": self.assume_n}

    @classmethod
    def from_json(cls, record: object) -> Ask:
        """Return the request of :meth:`to_json`; anything else is refused."""
        if not isinstance(record, dict) or set(record) != {*_KINDS, "fresh", "assume_n"}:
            raise PlanError("The request in this plan is not in canonical form.")
        values = {kind: None if record[kind] is None else _exact(record[kind], kind) for kind in _KINDS}
        size = record["assume_n"]
        if not isinstance(record["fresh"], bool) or not (
            size is None or (type(size) is int and 0 < size < 2**62)
        ):
            raise PlanError("The request in this plan is not in canonical form.")
        return cls(**values, fresh=record["fresh"], assume_n=size)


def _size(value: Any) -> int:
    """Return a planned size: a whole number of people."""
    try:
        size = positive(value, name="assume_n")
    except LossError:
        size = Fraction(1, 2)
    if size.denominator != 1:
        raise PlanError("assume_n is a whole number of people above 0. Write for example assume_n=1000.")
    return int(size)


def _exact(text: object, name: str) -> Fraction:
    if not isinstance(text, str):
        raise PlanError("A loss crosses the wire as exact text.")
    return positive(parse_exact(text), name=name)


@dataclass(frozen=True, slots=True)
class Item:
    """One question of a batch, with its weight in the split or a loss of its own."""

    question: QueryPlan
    weight: Fraction = Fraction(1)
    spend: Fraction | None = None

    def to_json(self) -> dict[str, Any]:
        """Return the record that crosses the wire."""
        return {
            "question": self.question.to_json(),
            "weight": exact_text(self.weight),
            "spend": None if self.spend is None else exact_text(self.spend),
        }

    @classmethod
    def from_json(cls, record: object) -> Item:
        """Return the item of :meth:`to_json`; anything else is refused."""
        if not isinstance(record, dict) or set(record) != {"question", "weight", "spend"}:
            raise PlanError("An item of this plan is not in canonical form.")
        spend = record["spend"]
        return cls(
            QueryPlan.from_json(record["question"]),
            _exact(record["weight"], "weight"),
            None if spend is None else _exact(spend, "spend"),
        )


@dataclass(frozen=True, slots=True)
class BatchPlan:
    """All questions of one cell against one dataset, and what is asked for them."""

    dataset: str
    schema_version: str
    items: tuple[Item, ...]
    ask: Ask

    def __post_init__(self) -> None:
        if len(self.items) > MAX_ITEMS:
            raise PlanError(f"A cell holds at most {MAX_ITEMS} questions; this one has {len(self.items)}.")
        if any(item.question.dataset != self.dataset for item in self.items):
            raise PlanError("A batch asks one dataset; these questions name another.")

    def to_json(self) -> dict[str, Any]:
        """Return the record that crosses the wire."""
        return {
            "dataset": self.dataset,
            "schema_version": self.schema_version,
            "items": [item.to_json() for item in self.items],
            "ask": self.ask.to_json(),
        }

    @classmethod
    def from_json(cls, record: object) -> BatchPlan:
        """Return the batch of :meth:`to_json`; anything else is refused."""
        if not isinstance(record, dict) or set(record) != {"dataset", "schema_version", "items", "ask"}:
            raise PlanError("This plan is not in canonical form.")
        items = record["items"]
        if not isinstance(items, list) or len(items) > MAX_ITEMS:
            raise PlanError(f"A cell holds at most {MAX_ITEMS} questions.")
        if not isinstance(record["dataset"], str) or not isinstance(record["schema_version"], str):
            raise PlanError("This plan is not in canonical form.")
        made = tuple(Item.from_json(item) for item in items)
        return cls(record["dataset"], record["schema_version"], made, Ask.from_json(record["ask"]))

    def digest(self) -> str:
        """Return the SHA-256 of the canonical text, in hexadecimal: a request id is bound to it."""
        return hashlib.sha256(canonical(self.to_json()).encode()).hexdigest()

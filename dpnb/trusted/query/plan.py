"""A plan: the questions of one cell against one dataset, each with its measurements and their noise, and the loss that is expected.

It is what crosses the wire. It has no field for a sensitivity, a factor of rows, or a column's range: these follow from the schema.
Texts and share of a question are what the kernel says of it; they are recorded beside it, and no loss follows from them.

A bundle is what is stored together and looked up by itself: a kernel sends one measurement as each, so that a count that three
statistics want is one bundle with three texts. Bundles of one group are priced at the worst move of one person through all of them;
which are grouped is the kernel's choice, since the loss of groups adds whatever they hold.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, Literal

from dpnb.trusted.aggregate.request_record import Reader
from dpnb.trusted.canonical import Record, is_record
from dpnb.trusted.errors import PlanError
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.privacy.loss import PrivacyLoss, exact_text, parse_exact, positive
from dpnb.trusted.query.plan_record import read_parts, written

MOST_QUESTIONS = 1000
"""Of a cell."""
MOST_MEASURED = 4_000
"""What a plan may buy for them."""
MOST_WRITTEN_OUT = 1_000_000
"""Nodes of all expressions of a plan, written out."""
_PLAN = {"dataset": str, "schema_version": str, "questions": list, "again": list, "loss": dict}
_BUNDLE = {"texts": list, "share": dict, "group": int, "plan": dict}
_SHARE = {"kind": str, "share": str}
LONGEST_TEXT = 2_000
"""Letters of what a person would type for a question; a kernel cuts what is longer."""
EVERYTHING = ("all",)
"""What is measured again where nothing counts as stored."""
_MOST_AGAIN = 1_000
_DRAW = re.compile("[0-9a-f]{32}")


@dataclass(frozen=True, slots=True)
class Share:
    """The loss of one question as it was asked: ``kind`` is ``"epsilon"`` or ``"rho"``."""

    kind: Literal["epsilon", "rho"]
    amount: Fraction

    def to_json(self) -> dict[str, str]:
        """Return the share as plain JSON."""
        return {"kind": self.kind, "share": exact_text(self.amount)}

    @classmethod
    def from_json(cls, record: object) -> Share:
        """Read what :meth:`to_json` wrote; anything else is refused."""
        if not is_record(record, _SHARE) or record["kind"] not in ("epsilon", "rho"):
            raise _refusal()
        return cls(record["kind"], positive(parse_exact(record["share"]), name="share"))


@dataclass(frozen=True, slots=True)
class Bundle:
    """Measurements that are stored together, and what the kernel says of them.

    Parameters
    ----------
    texts : tuple of str
        The questions that it answers, as a person would type them: at least one.
    share : Share
        The share of its cell's loss, as it was asked.
    group : int
        With which others it is priced: the first bundle has 0, each new group the next number.
    parts : tuple of Measurement
        What leaves, and the noise that protects it.
    plan : dict
        The record of the parts; written, where it is not at hand.
    """

    texts: tuple[str, ...]
    share: Share
    group: int
    parts: tuple[Measurement, ...]
    plan: Record = field(default_factory=dict, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not self.plan:
            object.__setattr__(self, "plan", written(self.parts))

    def to_json(self) -> Record:
        """Return the record that crosses the wire."""
        return {
            "texts": list(self.texts),
            "share": self.share.to_json(),
            "group": self.group,
            "plan": self.plan,
        }

    @classmethod
    def from_json(cls, record: object, reader: Reader | None = None) -> Bundle:
        """Read what :meth:`to_json` wrote; anything else is refused. A reader is that of the other bundles of its plan."""
        if not is_record(record, _BUNDLE):
            raise _refusal()
        texts, plan = record["texts"], record["plan"]
        if not 0 < len(texts) <= MOST_QUESTIONS or not all(map(_is_text, texts)):
            raise _refusal()
        share = Share.from_json(record["share"])
        return cls(tuple(texts), share, record["group"], read_parts(plan, reader), plan)


@dataclass(frozen=True, slots=True)
class Plan:
    """The questions of a cell.

    Parameters
    ----------
    dataset, schema_version : str
        What is asked, by the schema that the plan was made with.
    questions : tuple of Bundle
        No two that measure the same.
    again : tuple of str
        What is measured again though it is stored: the draws that the asker holds, sorted, or :data:`EVERYTHING`.
    loss : PrivacyLoss
        What all questions together are expected to cost where nothing is stored.
    """

    dataset: str
    schema_version: str
    questions: tuple[Bundle, ...]
    again: tuple[str, ...]
    loss: PrivacyLoss

    def __post_init__(self) -> None:
        if len(self.questions) > MOST_MEASURED:
            raise _too_many(len(self.questions))
        groups = 0
        for question in self.questions:
            if not 0 <= question.group <= groups:
                raise _refusal()
            groups = max(groups, question.group + 1)

    def to_json(self) -> Record:
        """Return the record that crosses the wire."""
        return {
            "dataset": self.dataset,
            "schema_version": self.schema_version,
            "questions": [question.to_json() for question in self.questions],
            "again": list(self.again),
            "loss": self.loss.to_json(),
        }

    @classmethod
    def from_json(cls, record: object) -> Plan:
        """Read what :meth:`to_json` wrote; anything else is refused."""
        if not is_record(record, _PLAN) or not _is_again(record["again"]):
            raise _refusal()
        if len(record["questions"]) > MOST_MEASURED:
            raise _too_many(len(record["questions"]))
        return cls(
            record["dataset"],
            record["schema_version"],
            tuple(_in_turn(record["questions"])),
            tuple(record["again"]),
            PrivacyLoss.from_json(record["loss"]),
        )


def _is_again(draws: list[Any]) -> bool:
    """Whether a list names draws, sorted and each once, or everything."""
    if draws == list(EVERYTHING):
        return True
    if len(draws) > _MOST_AGAIN:
        return False
    known = all(isinstance(draw, str) and _DRAW.fullmatch(draw) for draw in draws)
    return known and draws == sorted(set(draws))


def _is_text(text: object) -> bool:
    return isinstance(text, str) and text.isprintable() and len(text) <= LONGEST_TEXT


def _in_turn(records: Sequence[object]) -> Iterator[Bundle]:
    """Read questions one after another, as long as they are not too much together."""
    reader = Reader()
    for record in records:
        yield Bundle.from_json(record, reader)
        if reader.steps > MOST_WRITTEN_OUT:
            raise PlanError(
                f"A cell has more than {MOST_WRITTEN_OUT:,} steps when it is written out: ask fewer questions at once."
            )


def digest_of(text: str) -> str:
    """Return the SHA-256 of a plan's canonical text, in hexadecimal: a request id is bound to it."""
    return hashlib.sha256(text.encode()).hexdigest()


def _too_many(questions: int) -> PlanError:
    return PlanError(
        f"A cell measures at most {MOST_MEASURED:,} things; this one would measure {questions:,}: split it."
    )


def _refusal() -> PlanError:
    return PlanError("This plan is not in canonical form.")

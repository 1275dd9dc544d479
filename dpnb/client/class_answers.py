"""The answers of a class to one question, as a service tells them to an instructor: of each charge its receipt, asked for once.

It reads the ledger's entries and the receipts that a token may read, and spends nothing.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from dpnb.client.priced_batch import answers, batch_of
from dpnb.errors import DpnbError, PlanError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.planner.request import Ask
from dpnb.statistics import conclude
from dpnb.trusted.canonical import Record
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.releases import Release
from dpnb.trusted.wire.codec import exact_json

_A_LOOK = 40
"""Receipts that one look asks for at most: the rest comes with the next."""


class ClassAnswers:
    """The answers to a question, whoever asked it, as far as the token of this session may read them.

    Parameters
    ----------
    asked : Estimate
        A question of a dataset that is open; it stays pending.

    Raises
    ------
    PlanError
        Where it is not one pending question.
    """

    def __init__(self, asked: Estimate) -> None:
        question = asked.measurement
        if question is None or question.released or question.dataset is None:
            raise PlanError(
                "To show the answers of a class, pass one pending question: wall(people.age.mean())."
            )
        self._dataset: Any = question.dataset
        self._question = question
        pure = self._dataset.schema.budget.measure is Measure.PURE
        ask = Ask.make(epsilon="0.01") if pure else Ask.make(rho="0.01")
        alone = PendingQuestion(question.question, question.checked, dataset=self._dataset)
        self._priced = batch_of([alone], ask).priced
        self._known: dict[int, tuple[str, Estimate] | None] = {}

    @property
    def text(self) -> str:
        """The question, as it is typed."""
        return self._question.text

    def look(self) -> list[tuple[str, Estimate]]:
        """Return who was answered what so far, the oldest first; a few more receipts are asked for with each look."""
        rows = self._dataset.session.ledger_rows(self._dataset)
        new = [
            row
            for row in rows
            if row["kind"] == "charge" and row["answered"] and row["entry"] not in self._known
        ]
        for row in new[:_A_LOOK]:
            self._known[row["entry"]] = self._read(row)
        return [found for _, found in sorted(self._known.items()) if found is not None]

    def _read(self, row: Record) -> tuple[str, Estimate] | None:
        """Return the answer of one charge to this question; None where it has none, or may not be read."""
        with suppress(DpnbError):
            told = exact_json(self._dataset.session.receipt(self._dataset, row["entry"]).signed)
            by_name = {one.measured: one for one in map(Release.from_json, told["releases"])}
            if all(name in by_name for name in self._priced.measured):
                return str(row["principal"]), self._answer([by_name[name] for name in self._priced.measured])
        return None

    def _answer(self, releases: list[Release]) -> Estimate:
        (found,) = answers(self._priced, releases)
        assert found is not None
        checked = self._question.checked
        made = PendingQuestion(self._question.question, checked, dataset=self._dataset)
        made.fill((found,), conclude(checked, (found,)))
        return Estimate.leaf(made)

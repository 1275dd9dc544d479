"""What every engine promises: exact answers, in the order of the requests, whatever the data are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from dpnb.trusted.aggregate.algebra import Request
from dpnb.trusted.aggregate.reference import Answer


class Engine(Protocol):
    """Answers exact integer questions about one prepared copy."""

    def answer(self, requests: Sequence[Request]) -> list[Answer]:
        """Answer a batch: the same integers as :func:`dpnb.datasets.exact_answers.answer`."""
        ...

    def close(self) -> None:
        """Let go of the prepared copy."""
        ...

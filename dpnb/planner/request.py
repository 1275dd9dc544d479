"""What a cell asks for: questions with their shares, and the loss or the accuracy that is wanted.

Losses are exact rationals. A request stays in the kernel: what crosses the wire is the plan that is made of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpnb.errors import LossError, PlanError
from dpnb.planner.question import Question
from dpnb.trusted.privacy.loss import positive

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
        A size to plan with where the true size is private: of all groups of a question together. It changes previews and ``within``,
        never the data.
    """

    epsilon: Fraction | None = None
    rho: Fraction | None = None
    within: Fraction | None = None
    fresh: bool = False
    assume_n: int | None = None

    def __post_init__(self) -> None:
        given = [kind for kind in _KINDS if getattr(self, kind) is not None]
        if len(given) > 1:
            raise LossError(f"Give one of epsilon=, rho= or within=, not {' and '.join(given)}.")

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
    def as_epsilon(self) -> float | None:
        """The ε of the whole batch; of ρ the ε at which Laplace noise is as large; None where neither is given."""
        if self.epsilon is not None:
            return float(self.epsilon)
        return None if self.rho is None else math.sqrt(2 * float(self.rho))

    @property
    def kind(self) -> str | None:
        """Return ``"epsilon"``, ``"rho"``, ``"within"`` or nothing."""
        return next((kind for kind in _KINDS if getattr(self, kind) is not None), None)


def _size(value: Any) -> int:
    """Return a planned size: a whole number of people."""
    try:
        size = positive(value, name="assume_n")
    except LossError:
        size = Fraction(1, 2)
    if size.denominator != 1:
        raise PlanError("assume_n is a whole number of people above 0. Write for example assume_n=1000.")
    return int(size)


@dataclass(frozen=True, slots=True)
class Item:
    """One question of a batch, with its weight in the split or a loss of its own."""

    question: Question
    weight: Fraction = Fraction(1)
    spend: Fraction | None = None

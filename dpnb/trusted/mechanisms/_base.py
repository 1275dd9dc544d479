"""What a mechanism is: one object that states its loss, its law, its exact sampler, its simulator and its proof.

Refuses plug-ins: the closed tuple in ``dpnb.trusted.mechanisms`` is all there is, because code that could alter what the curator
computes would be a hole in the guarantee.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from numbers import Rational
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from dpnb.trusted.errors import LossError, PlanError
from dpnb.trusted.noise.bits import BitSource
from dpnb.trusted.noise.exact import WIDE_SCALE
from dpnb.trusted.noise.law import Law

Counts = tuple[NDArray[np.int64], NDArray[np.int64]]
"""A multiset of grid indices: distinct values in rising order, and how often each occurs."""


@dataclass(frozen=True, slots=True)
class Card:
    """What a reader should know of a mechanism.

    Parameters
    ----------
    name : str
        The field's name.
    summary : str
        One paragraph.
    assumptions : tuple of str
        What the guarantee rests on.
    reference : str
        Where the proof is.
    status : str
        ``"proven"``; exhibits live elsewhere.
    """

    name: str
    summary: str
    assumptions: tuple[str, ...]
    reference: str
    status: str = "proven"


class Mechanism(Protocol):
    """What every mechanism declares."""

    name: ClassVar[str]
    event: ClassVar[str]
    card: ClassVar[Card]

    @property
    def shape(self) -> tuple[str, ...]:
        """What is released apart from how much noise there is: whoever asks the same shape can be given the answer."""
        ...

    @property
    def record(self) -> dict[str, str]:
        """What a released part says of its randomness: the law of additive noise, or the mechanism of a selection."""
        ...

    def noised(self, exact: Any, bits: BitSource) -> tuple[int, ...]:
        """Make the private integers of a whole part from what the engine answers to its request."""
        ...

    def simulated(self, exact: Any, rng: np.random.Generator) -> tuple[int, ...]:
        """As :meth:`noised`, with a seeded generator: for simulations on arrays, never for protected data."""
        ...

    def to_json(self) -> dict[str, str]:
        """The mechanism and its exact parameters."""
        ...


class AdditiveMechanism(Mechanism, Protocol):
    """A mechanism that adds independent integer noise of one law to each entry of an integer vector."""

    @property
    def law(self) -> Law:
        """The law of the noise of one entry."""
        ...

    def release(self, exact: Sequence[int], bits: BitSource) -> tuple[int, ...]:
        """Add fresh exact noise in unbounded integers."""
        ...

    def simulate(self, values: NDArray[Any], rng: np.random.Generator) -> NDArray[Any]:
        """Add simulated noise to an array; for arrays, never for protected data."""
        ...


class Additive:
    """What additive noise has in common: a released part is the exact vector with fresh noise, and its record is the law."""

    __slots__ = ()

    @property
    def shape(self: AdditiveMechanism) -> tuple[str, ...]:
        """What is released apart from how much noise there is: whoever asks the same shape can be given the answer."""
        return ("additive",)

    @property
    def record(self: AdditiveMechanism) -> dict[str, str]:
        """The law of the noise, which a released part carries."""
        return self.law.to_json()

    def noised(self: AdditiveMechanism, exact: Sequence[int], bits: BitSource) -> tuple[int, ...]:
        """A released part: every exact integer with fresh noise."""
        return self.release(exact, bits)

    def simulated(self: AdditiveMechanism, exact: Sequence[int], rng: np.random.Generator) -> tuple[int, ...]:
        """As :meth:`noised`, in a simulation."""
        return tuple(self.simulate(np.asarray(exact, dtype=np.int64), rng).tolist())


class SelectionMechanism(Mechanism, Protocol):
    """A mechanism that picks one index of a public grid, by a multiset of grid indices."""

    def release(self, counts: Counts, bits: BitSource) -> int:
        """Pick an index exactly in law."""
        ...

    def simulate(self, counts: Counts, rng: np.random.Generator, reps: int) -> NDArray[np.int64]:
        """Pick `reps` indices for a simulation."""
        ...


def is_exact(value: object) -> bool:
    """Whether a number is an integer or a fraction, which floats only pretend to be."""
    return isinstance(value, Rational)


def positive(value: Fraction | int, name: str) -> Fraction:
    """Return `value` as a Fraction, refusing zero, negative and inexact numbers."""
    if not is_exact(value):
        raise LossError(f"{name} must be exact: write it as a decimal string or a Fraction, not as a float.")
    exact = Fraction(value)
    if exact <= 0:
        raise LossError(
            f"{name} must be positive. A question that needs no noise is answered from the schema."
        )
    return exact


def bounded_scale(squared: Fraction) -> None:
    """Refuse noise wider than 2⁴⁸ grid steps; `squared` is the square of the scale."""
    if squared > WIDE_SCALE**2:
        raise PlanError(
            "This loss needs noise wider than 2^48 grid steps. Ask for more epsilon, or declare a coarser step.",
            limit="2^48",
        )


def add(exact: Sequence[int], noise: NDArray[Any]) -> tuple[int, ...]:
    """Add in unbounded integers: nothing saturates, nothing wraps."""
    return tuple(int(value) + draw for value, draw in zip(exact, noise.tolist(), strict=True))

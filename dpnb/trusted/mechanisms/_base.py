"""What a mechanism is: one object that states its shape, its exact sampler, its proof, and what a reader should know of it.

Refuses plug-ins: the closed tuple in ``dpnb.trusted.mechanisms`` is all there is, because code that could alter what the curator
computes would be a hole in the guarantee. What its noise or choice is like and how it is simulated stands outside
(:mod:`dpnb.inference.law`, :mod:`dpnb.inference.selection_law`, :mod:`dpnb.inference.simulated_release`).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import fields
from fractions import Fraction
from numbers import Rational
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dpnb.trusted.errors import LossError, PlanError
from dpnb.trusted.noise.bits import BitSource
from dpnb.trusted.noise.exact import WIDE_SCALE

Counts = tuple[NDArray[np.int64], NDArray[np.int64]]
"""A multiset of grid indices: distinct values in rising order, and how often each occurs."""

_RATIO = re.compile(r"-?[0-9]{1,1000}(/[0-9]{1,1000})?", re.ASCII)


class Mechanism:
    """What every mechanism declares: a frozen dataclass of exact parameters, with an exact sampler.

    Attributes
    ----------
    name, title, phrase : str
        The permanent name, in records; the field's name; what a sentence calls it ("Mechanisms: …").
    drawn : str
        What was drawn, a phrase with its parameters in braces; :func:`dpnb.inference.law.drawn_words` fills it in.
    summary, reference : str
        What it does, in two or three sentences, and where the proof is.
    shaped : tuple of str
        The parameters that say what is released, and not how much noise there is.
    """

    __slots__ = ()

    name: ClassVar[str]
    title: ClassVar[str]
    phrase: ClassVar[str]
    drawn: ClassVar[str]
    summary: ClassVar[str]
    reference: ClassVar[str]
    shaped: ClassVar[tuple[str, ...]] = ()

    @property
    def shape(self) -> tuple[str, ...]:
        """What is released apart from how much noise there is: whoever asks the same shape can be given the answer."""
        return (self.name, *(str(getattr(self, word)) for word in self.shaped))

    def work(self, cells: int) -> int:  # noqa: ARG002 - noise is no work beside the numbers themselves
        """How much work a vector of so many released numbers is, in units of one noised number."""
        return 0

    @property
    def record(self) -> dict[str, str]:
        """What a released part says of its randomness: the law of additive noise, or the mechanism of a selection."""
        return self.to_json()

    def release(self, exact: Any, bits: BitSource) -> Any:
        """Choose, or add fresh noise in unbounded integers, exactly in law."""
        raise NotImplementedError

    def noised(self, exact: Any, bits: BitSource) -> tuple[int, ...]:
        """Make the private integers of a whole part from what the engine answers to its request."""
        return tuple(self.release(exact, bits))

    def to_json(self) -> dict[str, str]:
        """Write the mechanism and its exact parameters, all as texts; :mod:`.mechanism_record` reads them."""
        found = {"mechanism": self.name}
        for field in fields(self):  # type: ignore[arg-type]
            value = getattr(self, field.name)
            if isinstance(value, Mechanism):
                found |= {f"{field.name} {key}": text for key, text in value.to_json().items()}
            else:
                found[field.name] = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
        return found


class AdditiveMechanism(Mechanism):
    """A mechanism that adds independent integer noise of one law to each entry of an integer vector."""

    __slots__ = ()

    @property
    def shape(self) -> tuple[str, ...]:
        """Every integer with some noise: whoever asks that can be given the answer."""
        return ("additive",)

    @property
    def record(self) -> dict[str, str]:
        """The law of the noise, by its permanent name and its parameter."""
        parameters = self.to_json()
        return {"kind": parameters.pop("mechanism"), **parameters}


def ratio(text: str) -> Fraction:
    """Read an exact number as records write it, ``"3/2"``; anything else, an exponent above all, is a ValueError.

    ``Fraction("1e999999999")`` is a number of a billion digits: it is not begun.
    """
    if _RATIO.fullmatch(text) is None:
        raise ValueError("not an exact number as records write them")
    return Fraction(text)


def above_zero(value: Fraction | int, name: str) -> Fraction:
    """Return `value` as a Fraction, refusing zero, negative and inexact numbers."""
    if not isinstance(value, Rational):
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


def add(exact: Sequence[int], noise: NDArray[np.int64] | NDArray[np.object_]) -> tuple[int, ...]:
    """Add in unbounded integers: nothing saturates, nothing wraps."""
    return tuple(int(value) + draw for value, draw in zip(exact, noise.tolist(), strict=True))

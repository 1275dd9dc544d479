"""What a reader should know of each mechanism: its name, what it does, what its guarantee rests on, and where the proof is.

The one home of a mechanism's words: cards, the methods paragraph, deposits and the reference read them here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpnb.inference.digits import number
from dpnb.trusted.mechanisms import (
    AnyMechanism,
    DiscreteGaussian,
    DiscreteLaplace,
    KSExponential,
    LocatedSums,
    PermuteAndFlip,
    QuantileSelection,
    ThresholdedSums,
    Thresholding,
)
from dpnb.trusted.privacy.event import Kind
from dpnb.trusted.privacy.loss import brief

Record = Mapping[str, Any]
"""The law of a released part: the mechanism's permanent name and its exact parameters."""


@dataclass(frozen=True, slots=True)
class MechanismCard:
    """What a reader should know of a mechanism.

    Parameters
    ----------
    event : str
        As which kind of event it is charged (:mod:`dpnb.trusted.privacy.event`).
    name : str
        The field's name.
    words : str
        What a sentence calls it: "Mechanisms: …".
    drawn : callable
        What was drawn, in a phrase with the parameters of a record.
    summary : str
        One paragraph.
    assumptions : tuple of str
        What the guarantee rests on.
    reference : str
        Where the proof is.
    status : str
        ``"proven"``; exhibits live elsewhere.
    """

    event: Kind
    name: str
    words: str
    drawn: Callable[[Record], str]
    summary: str
    assumptions: tuple[str, ...]
    reference: str
    status: str = "proven"


def _laplace(law: Record) -> str:
    return f"discrete Laplace noise, scale {_brief(law['scale'])} grid steps"


def _gaussian(law: Record) -> str:
    return f"discrete Gaussian noise, sd {number(math.sqrt(Fraction(law['variance'])))} grid steps"


def _quantile(law: Record) -> str:
    return f"exponential mechanism at ε {_brief(law['epsilon'])}"


def _placed(law: Record) -> str:
    return f"{_quantile(law)}, {int(law['points']):,} points"


def _picked(law: Record) -> str:
    return f"permute-and-flip at ε {_brief(law['epsilon'])} a pick"


def _located(_: Record) -> str:
    return "two selections and discrete Laplace noise in the range that they chose"


def _threshold(law: Record) -> str:
    return f"threshold of {int(law['threshold']):,} rows, discrete Laplace noise, scale {_brief(law['scale'])} rows"


def _threshold_and_sums(law: Record) -> str:
    return f"{_threshold(law)} and {', '.join(map(_brief, law['sums'].split()))} grid steps"


def _brief(exact: str) -> str:
    return brief(Fraction(exact))


MECHANISM_CARDS: dict[type[AnyMechanism], MechanismCard] = {
    DiscreteLaplace: MechanismCard(
        event="laplace",
        name="Discrete Laplace mechanism",
        words="discrete Laplace",
        drawn=_laplace,
        summary=(
            "Adds two-sided geometric noise to an exact integer. The probability of a noise value falls by the same factor "
            "with every grid step, so one person's contribution can change no answer's probability by more than e^ε."
        ),
        assumptions=(
            "every entry is an integer on a public grid",
            "the L1 sensitivity is computed from the integer map",
            "the random words are independent and uniform",
        ),
        reference="Ghosh, Roughgarden, Sundararajan 2009; exact sampling: Canonne, Kamath, Steinke 2020",
    ),
    DiscreteGaussian: MechanismCard(
        event="gaussian",
        name="Discrete Gaussian mechanism",
        words="discrete Gaussian",
        drawn=_gaussian,
        summary=(
            "Adds bell-shaped integer noise to an exact integer. Its tails are as thin as those of the normal law, which makes "
            "it the better choice when many numbers are released together; its loss is counted in ρ."
        ),
        assumptions=(
            "every entry is an integer on a public grid",
            "the L2 sensitivity is computed from the integer map",
            "the random words are independent and uniform",
        ),
        reference="Canonne, Kamath, Steinke 2020, theorem 4 and proposition 5",
    ),
    QuantileSelection: MechanismCard(
        event="exponential",
        name="Exponential mechanism for a quantile",
        words="the exponential mechanism for quantiles",
        drawn=_quantile,
        summary=(
            "Picks one point of a public grid. Every point is possible; a point becomes less likely by the factor e^(-ε/2) with "
            "each person by which its rank misses the target, and the target's own value more likely by the rows around it. Weights are exact integers, so nothing is lost to rounding "
            "that was not subtracted from ε before."
        ),
        assumptions=(
            "values are indices of a public grid",
            "a privacy unit changes the scores of all cells together by at most the declared factor",
            "the random words are independent and uniform",
        ),
        reference="McSherry, Talwar 2007; Smith 2011; rounding: proof in the docstring, audited by enumeration",
    ),
    PermuteAndFlip: MechanismCard(
        event="pure",
        name="Permute-and-flip",
        words="permute-and-flip",
        drawn=_picked,
        summary=(
            "Picks one of a list of declared values by its count. The values are visited in random order, and each is taken "
            "with probability e^(-ε·gap/factor), where gap is how many rows it has fewer than the most frequent one. Every "
            "coin is exact, so nothing is lost to rounding. Never less accurate than the exponential mechanism."
        ),
        assumptions=(
            "candidates are declared values, not observed ones",
            "neighbours differ by at most the declared number of single-row steps in the counts",
            "the random words are independent and uniform",
        ),
        reference="McKenna, Sheldon 2020; Ding et al. 2021; proof in the docstring, audited by enumeration",
    ),
    KSExponential: MechanismCard(
        event="exponential",
        name="Kolmogorov-Smirnov exponential mechanism",
        words="the exponential mechanism for the Kolmogorov-Smirnov distance",
        drawn=_placed,
        summary=(
            "Places a fixed number of points into public cells. Every placement is possible; it becomes less likely by the factor "
            "e^(-ε/2) with each row by which its distribution function misses that of the data, at its worst cell edge. "
            "The draw is exact: candidate paths are accepted with exact integer arithmetic."
        ),
        assumptions=(
            "cells, their weights and the number of points are public",
            "a privacy unit changes the score by at most the declared factor",
            "the random words are independent and uniform",
        ),
        reference="Wasserman, Zhou 2010; McSherry, Talwar 2007; exact sampler: proof in the docstring, checked by enumeration",
    ),
    LocatedSums: MechanismCard(
        event="pure",
        name="Sums in a private range",
        words="discrete Laplace in a range that two selections chose",
        drawn=_located,
        summary=(
            "Chooses a middle and a radius by two exponential mechanisms, moves every value into that range, and releases sum, squares, "
            "the number of rows moved and the number of rows with discrete Laplace noise as wide as the range. The mean of moved values "
            "differs from the mean by what was cut off, which the number of moved rows makes visible."
        ),
        assumptions=(
            "values are indices of a public grid",
            "a privacy unit acts as often as the factors of both selections say",
            "the random words are independent and uniform",
        ),
        reference="Karwa, Vadhan 2018 (idea); Smith 2011; adaptive composition: proof in the docstring, audited on all tiny neighbours",
    ),
    Thresholding: MechanismCard(
        event="approximate",
        name="Thresholded counts",
        words="discrete Laplace with a threshold",
        drawn=_threshold,
        summary=(
            "Counts the values that occur, adds two-sided geometric noise to each count, and shows a value only if its noised "
            "count reaches a threshold. A value that one person alone holds is shown with probability δ at most."
        ),
        assumptions=(
            "one privacy unit holds at most the declared number of rows",
            "keys are written in their own order, not in that of the rows",
            "the random words are independent and uniform",
        ),
        reference="Korolova, Kenthapadi, Mishra, Ntoulas 2009; Wilson et al. 2020; proof in the docstring",
    ),
    ThresholdedSums: MechanismCard(
        event="approximate",
        name="Thresholded counts and sums",
        words="discrete Laplace with a threshold on counts",
        drawn=_threshold_and_sums,
        summary=(
            "Counts the values that occur, adds two-sided geometric noise to each count, and shows a value only if its noised "
            "count reaches a threshold. Of a value that is shown it releases noised sums over its rows as well."
        ),
        assumptions=(
            "one privacy unit holds at most the declared number of rows",
            "each row's numbers are within their public range",
            "the random words are independent and uniform",
        ),
        reference="Wilson et al. 2020; proof in the docstring",
    ),
}
"""One for each mechanism of the closed registry."""

_BY_NAME = {mechanism.name: card for mechanism, card in MECHANISM_CARDS.items()}


def card_of(law: Record) -> MechanismCard | None:
    """Return the card of the mechanism that a record names; None for one that this version does not know."""
    return _BY_NAME.get(str(law.get("mechanism") or law.get("kind")))

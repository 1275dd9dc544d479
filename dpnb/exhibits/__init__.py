"""Exhibits: published procedures that are not private as claimed, each with the number that breaks it and its correction.

They run in the kernel, on arrays. No plan can name one, the curator cannot import them, and nothing here is a mechanism of
:mod:`dpnb.trusted.mechanisms`. Every figure is computed when it is shown. ``notebooks/replication`` recomputes what the papers print.
"""

from __future__ import annotations

from dpnb.cards.card import Card
from dpnb.errors import OptionError
from dpnb.exhibits.arms import DIFFERENCE, MATCHING, QUANTILE, WINSORIZED, ZERO_NOISE
from dpnb.exhibits.composing import ADVANCED, AVERAGED, PRODUCT
from dpnb.exhibits.defects import CONTENT_HASH, FLOAT_SUM, ZERO_BOUND
from dpnb.exhibits.exhibit import Exhibit, Finding, Numbers
from dpnb.exhibits.inputs import CHANGE_ONE, FLOAT_LAPLACE, NAN_CLAMP, RECORDS_TO_CHANGE
from dpnb.exhibits.intervals import LAPLACE_CRITICAL, RULE_2996
from dpnb.exhibits.regression import BOX_SENSITIVITY, TRIMMED
from dpnb.exhibits.resampling import AMPLIFICATION, FREE_BOOTSTRAP, RESIZED_BOOTSTRAP, SAME_UTILITY

__all__ = ["EXHIBITS", "Exhibit", "Finding", "Numbers", "find", "overview"]

EXHIBITS: tuple[Exhibit, ...] = (
    RESIZED_BOOTSTRAP,
    FREE_BOOTSTRAP,
    SAME_UTILITY,
    AMPLIFICATION,
    ADVANCED,
    AVERAGED,
    PRODUCT,
    NAN_CLAMP,
    CHANGE_ONE,
    FLOAT_LAPLACE,
    RECORDS_TO_CHANGE,
    DIFFERENCE,
    ZERO_NOISE,
    WINSORIZED,
    QUANTILE,
    MATCHING,
    RULE_2996,
    LAPLACE_CRITICAL,
    TRIMMED,
    BOX_SENSITIVITY,
    ZERO_BOUND,
    FLOAT_SUM,
    CONTENT_HASH,
)
"""All of them, in the order in which they teach."""


def overview() -> Card:
    """Return all of them in one table: the promise, what was found, and what the correction keeps."""
    from dpnb.exhibits.card import overview_card

    return overview_card(EXHIBITS)


def find(name: str) -> Exhibit:
    """Return the exhibit of that name.

    Raises
    ------
    OptionError
        When there is none; the message lists the names.

    Examples
    --------
    >>> find("product-of-epsilons").numbers().broken.kept
    False
    """
    for exhibit in EXHIBITS:
        if exhibit.name == name:
            return exhibit
    raise OptionError(f"unknown exhibit {name!r}. Known: {', '.join(exhibit.name for exhibit in EXHIBITS)}.")

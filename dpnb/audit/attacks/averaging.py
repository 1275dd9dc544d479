"""Averaging: ask the same question again and again, and the noise goes away.

k fresh answers at ε each spend kε; their average is √k times as accurate. Two things stop it: a store that gives the same
answer again, and a cap on the sum of the losses.

References
----------
Dwork, McSherry, Nissim and Smith (2006), "Calibrating Noise to Sensitivity in Private Data Analysis".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpnb.audit.attacks.publications import Bench, Publication, grid, private, shown
from dpnb.audit.attacks.result import AttackResult, AttackRow, made
from dpnb.errors import OptionError
from dpnb.inference.law import law_of
from dpnb.inference.simulated_release import add_noise
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.trusted.privacy.loss import positive

Defence = Literal["none", "store", "cap"]
_BLOCK = 2_000_000
_PEOPLE, _ASKS = 1_000, 1_000


def averaging(
    count: int,
    *,
    epsilon: str | float | Fraction = "0.1",
    asks: Sequence[int] = (1, 10, 100, 1_000, 10_000),
    defence: Defence = "none",
    reps: int = 400,
    rng: int | np.random.Generator = 0,
) -> AttackResult:
    """Recover an exact count from many noisy answers to one question.

    Parameters
    ----------
    count : int
        The secret; it only marks the guesses.
    epsilon : number
        Loss of one answer; with ``defence="cap"`` the loss of all together.
    asks : sequence of int
        How often the question is asked.
    defence : {"none", "store", "cap"}
        Fresh noise for ever; the first answer again and again; or equal shares of a fixed total loss.
    reps : int
    rng : int or Generator

    Returns
    -------
    AttackResult
        Success is the exact count; guessing is the best guess from one answer.

    Examples
    --------
    >>> averaging(310, asks=(10_000,), reps=50).rows[0].recovered > 0.95
    True
    """
    if defence not in {"none", "store", "cap"}:
        raise OptionError(f'defence is "none", "store" or "cap", not {defence!r}.')
    if not asks or min(asks) < 1 or reps < 2:
        raise OptionError("asks are whole numbers of at least 1, and reps is at least 2.")
    loss, generator = positive(epsilon), np.random.default_rng(rng)
    alone = float(law_of(DiscreteLaplace.calibrate(1, loss)).pmf(0))
    rows = []
    for number in asks:
        each = loss / number if defence == "cap" else loss
        drawn = 1 if defence == "store" else number
        spent = loss if defence in {"cap", "store"} else loss * number
        guesses = np.rint(_means(count, each, drawn, reps, generator))
        rows.append(made(f"{number:,} (ε {float(spent):g})", guesses == count, alone))
    return AttackResult(
        "Averaging",
        f"an exact count from repeated answers ({_WORDS[defence]})",
        "answers",
        tuple(rows),
        "one answer, taken as it is",
    )


_WORDS = {
    "none": "fresh noise each time, no cap",
    "store": "the stored answer is given again",
    "cap": "the total loss is fixed and split",
}


def _means(
    count: int, each: Fraction, number: int, reps: int, generator: np.random.Generator
) -> NDArray[np.float64]:
    mechanism, total = DiscreteLaplace.calibrate(1, each), np.zeros(reps)
    left = number
    while left:
        block = min(left, max(_BLOCK // reps, 1))
        total += add_noise(mechanism, np.full((reps, block), count), generator).sum(axis=1)
        left -= block
    return np.asarray(total / number)


def count_bound(epsilon: float) -> float:
    r"""The largest share of right guesses of a count, if all counts from 0 to n are equally likely: :math:`1/\sum_{k=0}^n e^{-kε}`.

    :math:`P(y \mid c) \ge e^{-ε|c-c'|} P(y \mid c')`, so that each answer's best guess has at most that share of its
    probability; the sum is smallest at the ends.
    """
    return math.expm1(-epsilon) / math.expm1(-epsilon * (_PEOPLE + 1))


def on_averaging(rng: int | Sequence[int]) -> Bench:
    """Ask for one count a thousand times."""
    generator, reps, base = np.random.default_rng(rng), 200, 1 / (_PEOPLE + 1)
    counts = generator.integers(0, _PEOPLE + 1, 2_000)
    epsilons = grid(0.01, 10, 10)

    def noisy(defence: Defence) -> tuple[AttackRow, ...]:
        return tuple(
            averaging(500, epsilon=e, asks=(_ASKS,), defence=defence, reps=reps, rng=generator).rows[0]
            for e in epsilons
        )

    drawn = generator.binomial(_PEOPLE * _ASKS, counts / _PEOPLE) / _ASKS
    return Bench(
        "averaging",
        f"An exact count among {_PEOPLE:,} people, from {_ASKS:,} answers to one question.",
        "any count from 0 to 1,000",
        "each answer, or all of them together",
        epsilons,
        base,
        (
            shown("raw", "The count is exact.", counts.copy() == counts, base),
            shown("rounded", "The count is rounded to tens.", np.rint(counts / 10) * 10 == counts, base),
            shown(
                "suppressed",
                "Counts under 10 are not shown.",
                np.where(counts < 10, 5, counts) == counts,
                base,
            ),
            shown(
                "resampled", "Each answer counts a new bootstrap resample.", np.rint(drawn) == counts, base
            ),
            Publication(
                "fresh",
                "fresh noise, no cap",
                f"Each of {_ASKS:,} answers pays ε: together {_ASKS:,} ε.",
                noisy("none"),
                lambda epsilon: count_bound(epsilon * _ASKS),
            ),
            private(noisy("cap"), f"{_ASKS:,} answers share one ε.", count_bound),
        ),
    )

"""Averaging: ask the same question again and again, and the noise goes away.

k fresh answers at ε each spend kε; their average is √k times as accurate. Two things stop it: a store that gives the same
answer again, and a cap on the sum of the losses.

References
----------
Dwork, McSherry, Nissim and Smith (2006), "Calibrating Noise to Sensitivity in Private Data Analysis".
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpnb.audit.attacks.result import AttackResult, made
from dpnb.errors import OptionError
from dpnb.inference.law import law_of
from dpnb.inference.simulated_release import add_noise
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.trusted.privacy.loss import positive

_BLOCK = 2_000_000


def averaging(
    count: int,
    *,
    epsilon: str | float | Fraction = "0.1",
    asks: Sequence[int] = (1, 10, 100, 1_000, 10_000),
    defence: Literal["none", "store", "cap"] = "none",
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

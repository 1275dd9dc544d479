r"""Reconstruction: random subset counts with too little noise give away nearly every row.

The attacker knows which rows each question was about, and their noisy counts; it fits the bits by least absolute deviations
over :math:`[0, 1]^n` (a linear programme) or by least squares, and rounds. Noise well below √n does not help; a private
total ε does, whatever the attacker computes.

References
----------
Dinur and Nissim (2003), "Revealing Information while Preserving Privacy"; Dwork, McSherry and Talwar (2007).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.audit.attacks.publications import FEWEST, Bench, grid, lifted, private, shown
from dpnb.audit.attacks.result import AttackResult, epsilon_label, epsilons_of, fair, made
from dpnb.audit.sampling import Floats
from dpnb.errors import OptionError, PlanError

Method = Literal["lp", "least-squares"]


def reconstruct(asked: ArrayLike, answers: ArrayLike, method: Method = "lp") -> NDArray[np.int64]:
    """Return the bits that fit noisy subset counts best, from nothing but questions and answers.

    Parameters
    ----------
    asked : array_like of 0 and 1, shape (questions, people)
        Which people each question counts.
    answers : array_like, shape (questions,)
    method : {"lp", "least-squares"}
        Least absolute deviations over the unit cube, or least squares (faster, a little weaker).

    Returns
    -------
    ndarray of 0 and 1, shape (people,)

    Examples
    --------
    >>> reconstruct([[1, 1], [1, 0], [0, 1]], [1.1, 0.9, 0.2]).tolist()
    [1, 0]
    """
    matrix, seen = np.asarray(asked, dtype=float), np.asarray(answers, dtype=float)
    if matrix.ndim != 2 or seen.shape != (len(matrix),):
        raise OptionError(
            "asked is a table of questions by people, and there is one answer for each question."
        )
    if method not in {"lp", "least-squares"}:
        raise OptionError(f'method is "lp" or "least-squares", not {method!r}.')
    fit = _least_absolute(matrix, seen) if method == "lp" else np.linalg.lstsq(matrix, seen, rcond=None)[0]
    return np.asarray(fit > 0.5, dtype=np.int64)


def _least_absolute(matrix: Floats, seen: Floats) -> Floats:
    from scipy.optimize import linprog
    from scipy.sparse import csr_matrix, hstack, identity, vstack

    questions, people = matrix.shape
    body, slack = csr_matrix(matrix), identity(questions, format="csr")
    above, below = hstack([body, -slack]), hstack([-body, -slack])
    solved = linprog(
        np.concatenate([np.zeros(people), np.ones(questions)]),
        A_ub=vstack([above, below], format="csr"),
        b_ub=np.concatenate([seen, -seen]),
        bounds=[(0, 1)] * people + [(0, None)] * questions,
        method="highs",
    )
    return np.asarray(solved.x[:people])


def reconstruction(
    secret: ArrayLike,
    *,
    queries: int = 256,
    sd: Sequence[float] | None = None,
    epsilons: Sequence[float] | None = None,
    method: Method = "lp",
    reps: int = 3,
    rng: int | np.random.Generator = 0,
) -> AttackResult:
    """Reconstruct a column of bits from noisy counts of random subsets.

    Parameters
    ----------
    secret : array_like of 0 and 1, shape (people,)
        It answers the questions and marks the result; the attack sees neither it nor the noise.
    queries : int
        Number of subset counts.
    sd : sequence of float, optional
        Standard deviations of ad-hoc Gaussian noise, one row each. Default 0.5, 2, 4, 8, 16, 32.
    epsilons : sequence of float, optional
        Instead of `sd`: total pure losses, split equally over all answers; ``inf`` answers exactly.
    method : {"lp", "least-squares"}
    reps : int
    rng : int or Generator

    Returns
    -------
    AttackResult
        With ε, beside the most that any attack gets right of a fair bit, e^ε/(1 + e^ε).

    Examples
    --------
    >>> bits = np.random.default_rng(2).integers(0, 2, 64)
    >>> reconstruction(bits, sd=(0.5,), reps=1).rows[0].recovered
    1.0
    """
    bits = np.asarray(secret).ravel()
    if bits.size < 2 or not np.isin(bits, (0, 1)).all():
        raise OptionError("secret is a column of zeros and ones, at least two of them.")
    if (sd is not None and epsilons is not None) or queries < 1 or reps < 1:
        raise OptionError("give sd= or epsilons=, not both; queries and reps are at least 1.")
    generator = np.random.default_rng(rng)
    settings = _settings(sd, epsilons, queries)
    baseline = float(max(bits.mean(), 1 - bits.mean()))
    rows = []
    for label, spread, gaussian, bound in settings:
        hits = [_right(bits, queries, spread, method, generator, gaussian=gaussian) for _ in range(reps)]
        rows.append(made(label, np.array(hits), baseline, None if bound is None else max(bound, baseline)))
    return AttackResult(
        "Reconstruction",
        f"{bits.size} bits from {queries} noisy counts of random subsets",
        "noise sd" if epsilons is None else "ε in total",
        tuple(rows),
        "the commoner bit for everyone",
    )


def _settings(
    sd: Sequence[float] | None, epsilons: Sequence[float] | None, queries: int
) -> list[tuple[str, float, bool, float | None]]:
    if epsilons is None:
        return [(f"{s:g}", float(s), True, None) for s in (sd or (0.5, 2, 4, 8, 16, 32))]
    return [
        (
            epsilon_label(e),
            0.0 if math.isinf(e) else math.sqrt(2) * queries / e,
            False,
            None if math.isinf(e) else fair(e),
        )
        for e in epsilons_of(epsilons)
    ]


def _right(
    bits: NDArray[np.int64],
    queries: int,
    spread: float,
    method: Method,
    generator: np.random.Generator,
    *,
    gaussian: bool,
) -> NDArray[np.bool_]:
    asked = generator.integers(0, 2, (queries, bits.size))
    draw = generator.normal if gaussian else generator.laplace
    noise = draw(0, spread if gaussian else spread / math.sqrt(2), queries)
    return np.asarray(reconstruct(asked, asked @ bits + noise, method) == bits)


_MOST_BITS = 128


def on_reconstruction(rng: int | Sequence[int], secret: ArrayLike | None = None) -> Bench:
    """Reconstruct everyone's bit from counts of random subsets.

    Parameters
    ----------
    rng : int or sequence of int
    secret : array_like of 0 and 1, optional
        Your own people, at most 128.
    """
    generator, reps = np.random.default_rng(rng), 12
    bits: NDArray[np.int64] = generator.permutation(np.arange(48) % 2) if secret is None else _bits(secret)
    people, queries = bits.size, 3 * bits.size
    epsilons = grid(0.1, 1_000, 10)
    known = reconstruction(
        bits, queries=queries, epsilons=epsilons, method="least-squares", reps=reps, rng=generator
    )
    publish: dict[str, Callable[[NDArray[np.int64]], NDArray[np.int64] | Floats]] = {
        "raw": lambda asked: asked @ bits,
        "rounded": lambda asked: np.rint(asked @ bits / 5) * 5,
        "suppressed": lambda asked: np.where(asked @ bits < 10, np.nan, asked @ bits),
        "resampled": lambda asked: (
            asked @ (bits * np.bincount(generator.integers(0, people, people), minlength=people))
        ),
    }
    notes = (
        "Each count is exact.",
        "Each count is rounded to fives.",
        "Counts under 10 are not shown.",
        "All counts are of one bootstrap resample.",
    )

    def right(name: str) -> NDArray[np.bool_]:
        hits = []
        for _ in range(reps):
            asked = generator.integers(0, 2, (queries, people))
            seen = publish[name](asked)
            there = np.isfinite(seen)
            hits.append(reconstruct(asked[there], seen[there], "least-squares") == bits)
        return np.array(hits)

    bound = fair if secret is None else lifted(known.baseline)
    without = [
        shown(name, note, right(name), known.baseline) for name, note in zip(publish, notes, strict=True)
    ]
    return Bench(
        "reconstruction",
        f"{people} people's yes or no, from {queries} counts of random subsets.",
        known.guess,
        "all answers together",
        epsilons,
        known.baseline,
        (*without, private(known.rows, f"{queries} answers share one ε.", bound)),
    )


def _bits(secret: ArrayLike) -> NDArray[np.int64]:
    found = np.asarray(secret)
    if found.ndim != 1 or not FEWEST <= found.size <= _MOST_BITS or not np.isin(found, (0, 1)).all():
        raise PlanError(f"secret= is a list of 0 and 1, of {FEWEST} to {_MOST_BITS} people.")
    return found.astype(np.int64)

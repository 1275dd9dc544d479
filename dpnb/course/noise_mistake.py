"""The likely mistake behind noise that fails: the most particular explanation that fits what was seen."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from dpnb.audit.noise_fit import scale_p_value
from dpnb.course.noise_law import Floats, NoiseLaw, best_family
from dpnb.course.result import Mistake


@dataclass(frozen=True, slots=True)
class NoiseSample:
    """The noise that a student's function made, beside what it should be.

    Parameters
    ----------
    first, second : ndarray, shape (draws, numbers)
        Outputs of two equal calls.
    expected : ndarray, shape (numbers,)
        The answer without noise.
    law : NoiseLaw
    epsilon : float or None
    sensitivity : float
    failed : frozenset of str
        Names of the parts that failed.
    mistakes : mapping of str to number
        Scales that usual mistakes give.
    answers : mapping of str to number or array
        Answers without noise that usual mistakes give.
    """

    first: Floats
    second: Floats
    expected: Floats
    law: NoiseLaw
    epsilon: float | None
    sensitivity: float
    failed: frozenset[str]
    mistakes: Mapping[str, float] = field(default_factory=dict)
    answers: Mapping[str, ArrayLike] = field(default_factory=dict)

    @property
    def noise(self) -> Floats:
        """Outputs less the answer without noise."""
        return self.first - self.expected

    @property
    def ratio(self) -> float:
        """How many times as large as it should be the noise is."""
        return self.law.ratio(self.noise)


def mistake_of(seen: NoiseSample) -> Mistake:
    """Return the first explanation that fits."""
    for explain in _EXPLANATIONS:
        found = explain(seen)
        if found is not None:
            return found
    return _unknown(seen)


def _no_noise(seen: NoiseSample) -> Mistake | None:
    if np.abs(seen.noise).max() > 1e-9 * seen.law.scale:
        return None
    return Mistake(
        "no noise",
        "The answer has no noise at all.",
        f"Add {seen.law.words} to the answer before you return it.",
    )


def _seed_fixed(seen: NoiseSample) -> Mistake | None:
    if not np.array_equal(seen.first, seen.second):
        return None
    return Mistake(
        "seed fixed",
        "Two equal calls give the same noise: it comes from a seed, so anybody can draw it again and remove it.",
        "Draw from the rng that you are given, and from no generator of your own.",
    )


def _one_draw(seen: NoiseSample) -> Mistake | None:
    if len(seen.first) < 2 or np.ptp(seen.first, axis=0).max() > 0:
        return None
    return Mistake(
        "one draw for all",
        "All draws of one call are the same number.",
        "Pass size on to the generator: rng.laplace(0, scale, size).",
    )


def _shared_noise(seen: NoiseSample) -> Mistake | None:
    if seen.noise.shape[1] < 2 or np.ptp(seen.noise, axis=1).max() > 1e-6 * seen.law.scale:
        return None
    return Mistake(
        "same noise in every cell",
        "Every cell of a draw has the same noise: a difference of two cells is exact.",
        "Draw one noise for each cell: size=(draws, cells).",
    )


def _bare_cell(seen: NoiseSample) -> Mistake | None:
    bare = np.flatnonzero(np.ptp(seen.first, axis=0) <= 1e-9 * seen.law.scale)
    if not bare.size:
        return None
    return Mistake(
        "a cell without noise",
        f"Number {bare[0] + 1} of the {seen.expected.size} is given without noise.",
        "Add noise to every number that one person can move.",
    )


def _common_noise(seen: NoiseSample) -> Mistake | None:
    """Two cells whose difference or sum is exact; or draws that come again."""
    small = 1e-6 * seen.law.scale
    for one, other in combinations(range(seen.expected.size), 2):
        for sign, words in ((1, "their difference"), (-1, "their sum")):
            if np.ptp(seen.noise[:, one] - sign * seen.noise[:, other]) <= small:
                return Mistake(
                    "noise shared by cells",
                    f"Numbers {one + 1} and {other + 1} have the same noise: {words} is exact, whatever ε is.",
                    "Draw one noise for each cell: size=(draws, cells).",
                )
    if "own" not in seen.failed:
        return None
    return Mistake(
        "noise is not independent",
        "The noise of one cell or draw says something about that of another.",
        "Draw all noise at once: one number for each draw and each cell.",
    )


def _clamped_after(seen: NoiseSample) -> Mistake | None:
    if seen.law.name == "geometric":
        return None
    for column in seen.first.T:
        edge = max(np.mean(column == column.min()), np.mean(column == column.max()))
        if 0.002 < edge < 1 and np.unique(column).size > 20:
            return Mistake(
                "noise clamped afterwards",
                "Many outputs are exactly at one limit: the noisy answer is clamped after the noise was added.",
                "Clamp each row's value before you sum, add noise last, and return the noisy answer as it is.",
            )
    return None


def _rounded(seen: NoiseSample) -> Mistake | None:
    if seen.law.name == "geometric" or not np.array_equal(seen.first, np.round(seen.first)):
        return None
    return Mistake(
        "rounded",
        "The outputs are whole numbers, which changes the shape of the noise.",
        "Return the noisy number as it is; round when you print.",
    )


def _off_centre(seen: NoiseSample) -> Mistake | None:
    middle = np.median(seen.noise, axis=0)
    spread = np.median(np.abs(seen.noise - middle), axis=0) + 1e-300
    off = np.abs(middle) / (spread / math.sqrt(len(seen.noise)))
    if off.max() < 9:
        return None
    at = int(off.argmax())
    for name, wrong in seen.answers.items():
        away = np.abs(np.median(seen.first, axis=0) - np.asarray(wrong, dtype=float))
        if np.all(away <= 5 * spread / math.sqrt(len(seen.noise)) + 1e-9):
            return Mistake(name, f"The answer before the noise is another one: {name}.", _BENEATH)
    return Mistake(
        "wrong answer beneath",
        f"The outputs are centred on {np.median(seen.first[:, at]):.6g}; the answer that the exercise asks for is "
        f"{seen.expected[at]:.6g}.",
        _BENEATH,
    )


_BENEATH = "Look at what you compute before the noise: are values clamped to the bounds first, and is noise centred on 0?"
_FAMILIES = {"laplace": "Laplace", "geometric": "Laplace", "gaussian": "Gaussian"}


def _wrong_family(seen: NoiseSample) -> Mistake | None:
    found = best_family(seen.noise)
    if "shape" not in seen.failed or found == _FAMILIES[seen.law.name]:
        return None
    if found == "averaged":
        return _averaged(seen)
    return Mistake(
        f"{found} for {_FAMILIES[seen.law.name]}",
        f"The noise looks {found}; it should be {_FAMILIES[seen.law.name]}.",
        f"Draw {seen.law.words}: "
        + ("rng.normal(0, σ, size)." if seen.law.name == "gaussian" else "rng.laplace(0, scale, size)."),
    )


def _averaged(seen: NoiseSample) -> Mistake | None:
    if seen.ratio > 0.95:
        return None
    return Mistake(
        "budget exceeded",
        "The noise looks like that of a mean of answers, each of which spent all of ε: together they spend more.",
        f"Answer once, with {seen.law.words}; or give each of k answers ε / k.",
    )


def _scales(seen: NoiseSample) -> list[tuple[float, str]]:
    """Ratios of the noise to what it should be that usual mistakes give, the most particular first: (ratio, what was mistaken)."""
    moved = seen.sensitivity
    found = [(scale / seen.law.scale, name) for name, scale in seen.mistakes.items()]
    if moved != 1:
        found.append((1 / moved, "wrong sensitivity"))
    if seen.law.name == "gaussian":
        root = moved / seen.law.scale  # √(2ρ)
        found += [
            (root**2, "ρ inverted"),
            (1 / root, "the root forgotten"),
            (root, "ρ left out"),
            (seen.law.scale, "variance for standard deviation"),
        ]
        found += [(moved, "L1 sensitivity for L2")] if moved != 1 else []
        return [
            *found,
            (math.sqrt(2), "the 2 under the root is missing"),
            (0.5, "half the noise"),
            (2.0, "twice the noise"),
        ]
    last: list[tuple[float, str]] = []
    if seen.epsilon is not None:
        found += [(seen.epsilon**2, "ε inverted")]
        last = [(seen.epsilon, "ε left out")]
    if moved != 1:
        found.append((1 / moved**2, "sensitivity inverted"))
    return [
        *found,
        (0.5, "half the noise"),
        (2.0, "twice the noise"),
        (math.sqrt(2), "scale mistaken for standard deviation"),
        (math.sqrt(0.5), "standard deviation mistaken for scale"),
        *last,
    ]


def _next_step(seen: NoiseSample, name: str) -> str:
    """What to do about a mistaken scale."""
    first = {
        "ε inverted": "Divide by ε: a smaller ε needs more noise. ",
        "wrong sensitivity": f"How far can one person move this answer? By {seen.sensitivity:.6g}, not by 1. ",
        "sensitivity inverted": "Multiply by the sensitivity, divide by ε. ",
        "half the noise": "Is a factor of 2 missing in the sensitivity? ",
        "twice the noise": "Is the sensitivity counted twice? Too much noise is private, and wastes data. ",
        "L1 sensitivity for L2": "Gaussian noise needs the root of the sum of squared moves. ",
        "scale mistaken for standard deviation": "The standard deviation of Laplace noise is √2 times its scale. ",
    }.get(name, "")
    if seen.law.name == "gaussian":
        return f"{first}The standard deviation here is Δ / √(2ρ); it comes to {seen.law.scale:.4g}."
    return f"{first}The scale here is sensitivity / ε; it comes to {seen.law.scale:.4g}."


_LIKELY = 1e-3
"""The p-value below which a mistake is not the one that was made."""


def _fit(seen: NoiseSample, ratio: float) -> float:
    """The p-value of the noise if it were so many times as large as it should be."""
    law = NoiseLaw(seen.law.name, seen.law.scale * ratio)
    uniforms = law.uniforms(seen.noise, np.random.default_rng(0))
    return scale_p_value(law.exponentials(seen.noise, uniforms))


def _wrong_scale(seen: NoiseSample) -> Mistake | None:
    if "scale" not in seen.failed:
        return None
    said = f"The noise is {seen.ratio:.3g} times as large as it should be"
    usual = [(_fit(seen, ratio), ratio, name) for ratio, name in _scales(seen) if ratio > 0]
    best = max(usual, key=lambda one: one[0])  # of equal ones, the first
    if best[0] >= _LIKELY and not _uneven(seen):
        same = [name for _, ratio, name in usual if math.isclose(ratio, best[1], rel_tol=1e-6)]
        return Mistake(best[2], f"{said}: {', or '.join(same)}.", _next_step(seen, best[2]))
    if _uneven(seen):
        return Mistake(
            "cells with unequal noise",
            "Some numbers have more noise than others; all should have the same.",
            f"Use {seen.law.words} for every number.",
        )
    name = "less noise than it should be" if seen.ratio < 1 else "more noise than it should be"
    return Mistake(name, f"{said}.", f"Use {seen.law.words}.")


def _uneven(seen: NoiseSample) -> bool:
    """Whether cells differ in the size of their noise by more than chance."""
    each = np.array([seen.law.ratio(cell) for cell in seen.noise.T])
    return bool(each.size > 1 and np.ptp(each) > 8 * each.mean() / math.sqrt(len(seen.noise)))


def _gives_away(seen: NoiseSample) -> Mistake | None:
    if "privacy" not in seen.failed:
        return None
    return Mistake(
        "more is given away",
        "Two neighbouring datasets can be told apart better than ε allows.",
        "Does anything but the noise depend on the rows, such as bounds, a size or an error? It must not.",
    )


def _unknown(seen: NoiseSample) -> Mistake:
    parts = ", ".join(sorted(seen.failed))
    return Mistake(
        "another law",
        f"The noise does not follow the law ({parts}).",
        f"Use {seen.law.words}, and nothing else.",
    )


_EXPLANATIONS: tuple[Callable[[NoiseSample], Mistake | None], ...] = (
    _no_noise,
    _seed_fixed,
    _one_draw,
    _shared_noise,
    _bare_cell,
    _clamped_after,
    _common_noise,
    _rounded,
    _off_centre,
    _wrong_family,
    _wrong_scale,
    _gives_away,
)

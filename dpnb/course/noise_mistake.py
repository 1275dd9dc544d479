"""The likely mistake behind noise that fails: the most particular explanation that fits what was seen."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

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
    """

    first: Floats
    second: Floats
    expected: Floats
    law: NoiseLaw
    epsilon: float | None
    sensitivity: float
    failed: frozenset[str]

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
        "Two equal calls give the same noise: the seed is fixed inside the function, so anybody can remove the noise.",
        "Draw from the rng that you are given, and make no generator with a seed inside the function.",
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
    return Mistake(
        "wrong answer beneath",
        f"The outputs are centred on {np.median(seen.first[:, at]):.6g}; the answer that the exercise asks for is "
        f"{seen.expected[at]:.6g}.",
        "Look at what you compute before the noise: are values clamped to the bounds first, and is noise centred on 0?",
    )


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


def _scales(seen: NoiseSample) -> list[tuple[float, str, str]]:
    """Ratios of the noise to what it should be that a usual mistake gives: (ratio, name, what to do)."""
    step = f"The scale here is sensitivity / ε; it comes to {seen.law.scale:.4g}."
    if seen.law.name == "gaussian":
        step = f"The standard deviation here is Δ / √(2ρ); it comes to {seen.law.scale:.4g}."
    found = []
    if seen.epsilon is not None:
        found.append((seen.epsilon**2, "ε inverted", "Divide by ε: a smaller ε needs more noise. " + step))
    if seen.sensitivity != 1:
        found.append(
            (
                1 / seen.sensitivity,
                "wrong sensitivity",
                f"How far can one person move this answer? By {seen.sensitivity:.6g}, not by 1. " + step,
            )
        )
        found.append(
            (
                1 / seen.sensitivity**2,
                "sensitivity inverted",
                "Multiply by the sensitivity, divide by ε. " + step,
            )
        )
    return [
        *found,
        (0.5, "half the noise", "Is a factor of 2 missing in the sensitivity? " + step),
        (
            2.0,
            "twice the noise",
            "Is the sensitivity counted twice? Too much noise is private, and wastes data. " + step,
        ),
        (0.8, "noise × 0.8", step),
        (1.25, "noise × 1.25", step),
        (
            math.sqrt(2),
            "scale mistaken for standard deviation",
            "The standard deviation of Laplace noise is √2 times its scale. " + step,
        ),
        (math.sqrt(0.5), "standard deviation mistaken for scale", step),
    ]


def _wrong_scale(seen: NoiseSample) -> Mistake | None:
    if "scale" not in seen.failed:
        return None
    close = [
        (abs(math.log(seen.ratio / ratio)), name, step) for ratio, name, step in _scales(seen) if ratio > 0
    ]
    distance, name, step = min(close)
    said = f"The noise is {seen.ratio:.3g} times as large as it should be"
    if distance < 0.07:
        return Mistake(name, f"{said}: {name}.", step)
    return Mistake("wrong scale", f"{said}.", f"Use {seen.law.words}.")


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
    _clamped_after,
    _rounded,
    _off_centre,
    _wrong_family,
    _wrong_scale,
    _gives_away,
)

"""Losses that others published with, for ticks beside an ε: a reference, not advice.

Each entry names whom its ε protects, since an ε a day is not an ε for ever. Only what its publisher stated is listed.

References
----------
.. [1] Desfontaines, "A list of real-world uses of differential privacy".
.. [2] Bavadekar et al. (2020), arXiv:2009.01265.
.. [3] Bavadekar et al. (2021), arXiv:2107.01179 (with δ = 1e-5).
.. [4] Hod and Canetti (2024), arXiv:2405.00267.
.. [5] Apple, "Differential Privacy Overview".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Deployment:
    """One published ε: who, for what, and whom it protects."""

    epsilon: float
    who: str
    what: str
    protects: str


REGISTER = (
    Deployment(1.68, "Google", "symptom search trends", "one person's searches of one day"),
    Deployment(2.0, "Apple", "which health data are kept", "one device and day, noised on the device"),
    Deployment(2.19, "Google", "vaccination search trends", "one person's searches of one day, δ 1e-5"),
    Deployment(4.0, "Apple", "emoji in use", "one device and day, noised on the device"),
    Deployment(9.98, "Israel's Ministry of Health", "births of 2014", "one mother and newborn"),
)


def to_json() -> list[dict[str, Any]]:
    """Return the register as the browser takes it."""
    return [{"epsilon": one.epsilon, "words": f"{one.who}, {one.what}: {one.protects}"} for one in REGISTER]

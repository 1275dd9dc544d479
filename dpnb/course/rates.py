"""How often each check errs: measured on simulated students by the tests, written to ``rates.json``, and told with each result.

``python -m tests.course.rates`` measures and writes; a test holds the file to what a seeded share of the runs finds today.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True, slots=True)
class Rates:
    """The measured errors of one check.

    Parameters
    ----------
    check : str
    students : int
        Correct students that were simulated.
    failed : int
        How many of them failed.
    wrong : int
        Students of each wrong answer.
    missed : mapping of str to int
        Wrong answers, and how many students passed with each.
    """

    check: str
    students: int = 0
    failed: int = 0
    wrong: int = 0
    missed: Mapping[str, int] | None = None

    def sentence(self, level: float) -> str:
        """Say how often a correct answer fails and the worst miss."""
        certain = "never" if level == 0 else f"at most {level * 10_000:.3g} in 10,000 times"
        if not self.missed:
            return f"A correct answer fails {certain}."
        worst = max(self.missed, key=lambda name: self.missed[name])  # type: ignore[index]
        count = self.missed[worst]
        told = (
            f"the worst miss is {worst}, {count:,} of {self.wrong:,}"
            if count
            else f"of {self.wrong:,} students with each listed wrong answer none passed"
        )
        return f"A correct answer fails {certain} ({self.failed} of {self.students:,} simulated); {told}."


@cache
def _table() -> dict[str, Any]:
    found = files("dpnb.course").joinpath("rates.json")
    return dict(json.loads(found.read_text(encoding="utf-8")))


def rates_of(check: str) -> Rates:
    """Return the measured rates of a check; empty where there is nothing random to measure."""
    found = _table().get(check)
    return Rates(check) if found is None else Rates(check, **found)


def names() -> tuple[str, ...]:
    """Return the checks whose rates were measured."""
    return tuple(_table())

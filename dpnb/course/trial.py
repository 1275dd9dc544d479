"""The frame of every check of a student's function: its title, its signature, its chance, one clock, and trouble as a result.

A check says what is drawn and how that is judged; a function that fails, or needs more than 15 s of processor, is not judged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from dpnb.cards.markup import Markup
from dpnb.course.picture import message
from dpnb.course.result import CheckResult, Mistake, Part
from dpnb.course.student_function import Clock, Floats, StudentFunction, Trouble

LEVEL = 1e-4
"""The probability that a correct answer fails a check, at most; its parts share it."""
DRAWS, LOOPED = 8_000, 4_000
"""Draws of a mechanism in each of two calls; and of one that is called once for each draw."""
_LOOP = (
    "The function was called once for each draw, and so fewer draws were looked at. With size=None as an argument, "
    "passed on to the generator, all are made at once."
)
Drawn = TypeVar("Drawn")


@dataclass(frozen=True, slots=True)
class Trial:
    """One function of a student's, as one check tries it.

    Parameters
    ----------
    check : str
        The check's name, under which its rates of error stand.
    title : str
        What is checked.
    called : StudentFunction
    chance : Generator
    clock : Clock
        It starts with the trial.
    notes : tuple of str
        Warnings that fail nothing.
    """

    check: str
    title: str
    called: StudentFunction
    chance: np.random.Generator
    clock: Clock
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        check: str,
        called: StudentFunction,
        rng: int | np.random.Generator | None,
        title: str | None,
        notes: tuple[str, ...] = (),
    ) -> Trial:
        """Begin a trial; without a title, the function's name is it."""
        name = title or getattr(called.call, "__name__", check).replace("_", " ")
        return cls(check, name, called, np.random.default_rng(rng), Clock(), notes)

    @classmethod
    def of_draws(
        cls, check: str, called: StudentFunction, rng: int | np.random.Generator | None, title: str | None
    ) -> Trial:
        """Begin a trial of many draws, with a note where each is a call."""
        return cls.of(check, called, rng, title, () if called.vectorised else (_LOOP,))

    def judged(self, draw: Callable[[], Drawn], judge: Callable[[Drawn], CheckResult]) -> CheckResult:
        """Return what `judge` finds in what `draw` draws within the time limit; trouble is a result by itself."""
        try:
            with self.clock.running():
                drawn = draw()
        except Trouble as trouble:
            told = Mistake(trouble.name, trouble.said, trouble.step)
            part = Part("runs", passed=False, said=trouble.said)
            return self.result((part,), told, message(trouble.name))
        return judge(drawn)

    def result(
        self,
        parts: tuple[Part, ...],
        mistake: Mistake | None,
        picture: Markup,
        facts: Mapping[str, Any] | None = None,
    ) -> CheckResult:
        """Return the result of this trial."""
        return CheckResult(self.check, self.title, parts, mistake, picture, self.notes, facts or {})

    def draws(self, data: Any, neighbour: Any) -> tuple[Floats, Floats, Floats]:
        """Call a mechanism twice on `data`, and for as many draws as both give on its neighbour; shapes (draws, numbers)."""
        count = DRAWS if self.called.vectorised else LOOPED
        first, second = (self.called.draws(data, count, one, self.clock) for one in self.chance.spawn(2))
        return first, second, self.called.draws(neighbour, 2 * count, self.chance.spawn(1)[0], self.clock)

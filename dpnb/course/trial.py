"""The frame of every check of a student's function: its title, its signature, its chance, its process, and trouble as a result.

A check says what is drawn and how that is judged. The function runs in a child process that holds none of the check's answers; one that
fails, or needs more than 15 s of processor, is not judged.
"""

from __future__ import annotations

import inspect
import pickle
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import repeat
from typing import Any, TypeVar

import numpy as np

from dpnb.cards.markup import Markup
from dpnb.course.child import Child, Reply, Work, available
from dpnb.course.noise_law import Floats
from dpnb.course.picture import message
from dpnb.course.result import CheckResult, Mistake, Part
from dpnb.errors import OptionError
from dpnb.trusted import system

Function = Callable[..., Any]
"""What a student wrote."""
Arguments = Mapping[str, Any]
Seed = int | np.random.Generator | None
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
    notes : tuple of str
        Warnings that fail nothing.
    """

    check: str
    title: str
    called: StudentFunction
    chance: np.random.Generator
    notes: tuple[str, ...] = ()
    _children: list[Child | Beside] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        check: str,
        called: StudentFunction,
        rng: Seed,
        title: str | None,
        notes: tuple[str, ...] = (),
    ) -> Trial:
        """Begin a trial; without a title, the function's name is it."""
        name = title or getattr(called.call, "__name__", check).replace("_", " ")
        return cls(check, name, called, chance_of(rng), notes)

    @classmethod
    def of_draws(cls, check: str, called: StudentFunction, rng: Seed, title: str | None) -> Trial:
        """Begin a trial of many draws, with a note where each is a call."""
        return cls.of(check, called, rng, title, () if called.vectorised else (_LOOP,))

    def judged(self, draw: Callable[[], Drawn], judge: Callable[[Drawn], CheckResult]) -> CheckResult:
        """Return what `judge` finds in what `draw` draws; trouble is a result by itself. The processes begin before and end after."""
        try:
            self._begin()
            drawn = draw()
        except Trouble as trouble:
            told = Mistake(trouble.name, trouble.said, trouble.step)
            part = Part("runs", passed=False, said=trouble.said)
            return self.result((part,), told, message(trouble.name))
        finally:
            while self._children:
                self._children.pop().close()
        return judge(drawn)

    def _begin(self) -> None:
        """Fork, before any case is drawn; twice if the function is given its chance: a second process shows a seed of its own."""
        start = Child if available() else Beside
        for _ in range(2 if "rng" in self.called.takes else 1):
            self._children.append(start(worker(self.called)))

    def ask(self, method: str, *arguments: object, place: int = 0) -> Any:
        """Call a method of the student's function in its process, with the clock as the last argument.

        Raises
        ------
        Trouble, OptionError
        """
        child = self._children[place % len(self._children)]
        try:
            reply = child.ask((method, arguments), PATIENCE * Clock().limit)
        except (TypeError, AttributeError, pickle.PicklingError) as error:
            raise OptionError(
                "The function runs in a process of its own: give it arrays, numbers, texts or tables."
            ) from error
        if reply is None:
            raise _ENDED if child.ended else too_slow(PATIENCE * Clock().limit)
        if reply.trouble is not None:
            raise Trouble(*reply.trouble)
        return reply.value

    def result(
        self,
        parts: tuple[Part, ...],
        mistake: Mistake | None,
        picture: Markup,
        facts: Mapping[str, object] | None = None,
    ) -> CheckResult:
        """Return the result of this trial."""
        return CheckResult(self.check, self.title, parts, mistake, picture, self.notes, facts or {})

    def draws(self, data: object, neighbour: object) -> tuple[Floats, Floats, Floats]:
        """Call a mechanism twice on `data`, and for as many draws as both give on its neighbour; shapes (draws, numbers)."""
        count = DRAWS if self.called.vectorised else LOOPED
        one, two = self.chance.spawn(2)
        first = self.ask("draws", data, count, one)
        second = self.ask("draws", data, count, two, place=1)
        return first, second, self.ask("draws", neighbour, 2 * count, self.chance.spawn(1)[0])


def chance_of(rng: Seed) -> np.random.Generator:
    """Return the check's chance: new each time, unless it is given."""
    return np.random.default_rng(rng)


def worker(called: StudentFunction) -> Work:
    """Return what a process does with ``(method, arguments)``: that method of the function, under one clock."""
    clocks: list[Clock] = []

    def work(task: tuple[str, tuple[Any, ...]]) -> Reply:
        clock = clocks[0] if clocks else Clock()
        clocks[:] = [clock]
        try:
            with clock.running():
                return Reply(getattr(called, task[0])(*task[1], clock))
        except Trouble as trouble:
            return Reply(None, (trouble.name, trouble.said, trouble.step))

    return work


class Beside:
    """What takes a child's place on a system that cannot fork: the function runs in this process."""

    ended = False

    def __init__(self, work: Work) -> None:
        self._work = work

    def ask(self, task: object, seconds: float) -> Reply:
        """Return the reply to a task; the clock of the work stops it."""
        del seconds
        reply: Reply = self._work(task)
        return reply

    def close(self) -> None:
        """Leave nothing open."""


LIMIT = 15.0
"""Seconds of processor that all calls of one check may take: a right answer is not wrong because others keep the machine busy."""
PATIENCE = 4
"""How many times as long they may take by the clock."""
_LOOKS = 0.2
"""Seconds between two looks at a call that does not end."""
_OWN = ("epsilon", "size", "rng")


class Trouble(Exception):
    """A student's function that cannot be checked: it fails, is too slow, or returns another shape.

    Parameters
    ----------
    name, said, step : str
        As in a mistake.
    """

    def __init__(self, name: str, said: str, step: str) -> None:
        super().__init__(said)
        self.name, self.said, self.step = name, said, step


_ENDED = Trouble(
    "it ends Python",
    "The function ended the process in which it ran.",
    "Leave out exit() and quit(); if it needs much memory, make smaller arrays.",
)


@dataclass(frozen=True, slots=True)
class StudentFunction:
    """A function of data, and of ``epsilon``, ``size`` and ``rng`` if it takes them.

    Parameters
    ----------
    call : callable
    takes : frozenset of str
        Which of ``epsilon``, ``size`` and ``rng`` it takes.
    given : mapping
        Further arguments, by name.
    """

    call: Function
    takes: frozenset[str]
    given: Arguments

    @classmethod
    def of(
        cls, call: object, epsilon: float | None = None, arguments: Arguments | None = None
    ) -> StudentFunction:
        """Look at a signature; an argument that nobody gives is refused with the template."""
        given = dict(arguments or {})
        names, needed = _signature(_callable(call), given)
        if needed - {"epsilon", "size", "rng"}:
            missing = ", ".join(sorted(needed - {"epsilon", "size", "rng"}))
            raise OptionError(
                f"The function also needs {missing}. Write def f(data, epsilon, size=None, rng=None), or give "
                f"arguments={{...}} to the check."
            )
        if "epsilon" in names and epsilon is not None and "epsilon" not in given:
            given["epsilon"] = epsilon
        return cls(_callable(call), frozenset(names & set(_OWN)), given)

    @classmethod
    def alone(cls, call: object) -> StudentFunction:
        """Take a function of data alone, with as many arguments as it has."""
        return cls(_callable(call), frozenset(), {})

    @property
    def vectorised(self) -> bool:
        """Whether it makes many draws in one call."""
        return "size" in self.takes

    def draws(self, data: object, count: int, rng: np.random.Generator, clock: Clock) -> Floats:
        """Return `count` outputs on some data, shape ``(count, numbers)``."""
        given = dict(self.given) | ({"rng": rng} if "rng" in self.takes else {})
        if self.vectorised:
            return _table(self.with_given(given | {"size": count}).on((data,)), count)
        return self.with_given(given).of_each(repeat(data, count), clock)

    def with_given(self, given: Arguments) -> StudentFunction:
        """Return it with other further arguments."""
        return StudentFunction(self.call, self.takes, given)

    def of_each(self, inputs: Iterable[object], clock: Clock) -> Floats:
        """Return one output for each of some inputs, shape ``(inputs, numbers)``."""
        outputs = []
        for data in inputs:
            clock.look()
            outputs.append(self.on((data,)))
        return _table(outputs, len(outputs))

    def answers(self, inputs: Iterable[tuple[object, ...]], words: str, clock: Clock) -> list[Any]:
        """Return what it answers to each tuple of arguments; a function that returns nothing is trouble."""
        found = []
        for seen in inputs:
            clock.look()
            answer = self.on(seen, words)
            if answer is None:
                raise _NO_RETURN
            lazy = isinstance(answer, Iterator) or type(answer) in _VIEWS
            found.append(list(answer) if lazy else answer)
        return found

    def on(self, seen: tuple[object, ...], words: str = "three rows") -> Any:
        """Return what it answers on some arguments; what it raises is trouble, to be tried on such `words`."""
        try:
            return self.call(*seen, **self.given)
        except Trouble:
            raise
        except (Exception, SystemExit) as error:
            raise _failing(error, words) from error


class Clock:
    """What is left of the time limit, for the thread that makes the calls."""

    __slots__ = ("_used", "_waited", "limit")

    def __init__(self, limit: float = LIMIT) -> None:
        self.limit = limit
        self._used, self._waited = time.thread_time(), time.monotonic()

    def look(self) -> None:
        """Raise Trouble when time is over."""
        if time.thread_time() - self._used > self.limit:
            raise too_slow(self.limit)
        if time.monotonic() - self._waited > PATIENCE * self.limit:
            raise too_slow(PATIENCE * self.limit)

    @contextmanager
    def running(self) -> Iterator[None]:
        """End a call that does not end by itself, where the system lets us (in the main thread of Linux and macOS)."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        with system.looking(self.look, _LOOKS):
            yield


def too_slow(seconds: float) -> Trouble:
    """Return what to say of a function that takes too long."""
    return Trouble(
        "too slow",
        f"The function was still running after {seconds:g} s.",
        "Look for a loop that does not end; else make all draws at once: rng.laplace(0, scale, size).",
    )


def _callable(call: object) -> Function:
    if not callable(call):
        raise OptionError("Give the function itself, without parentheses: noisy_count, not noisy_count(…).")
    return call


def _failing(error: BaseException, on: str) -> Trouble:
    """Return what to say of a function that raises; of one that is still the exercise's own line, that it is to be written."""
    if isinstance(error, NotImplementedError):
        return Trouble(
            "not written yet",
            "The answer is not written yet.",
            "Write it in the cell of the exercise, delete the line that raises, and run that cell and this one.",
        )
    return Trouble(
        "it fails",
        f"The function fails: {type(error).__name__}: {str(error).rstrip('.')}.",
        f"Call it yourself on {on} first, and read the last line of what Python says.",
    )


def _signature(call: Function, given: Arguments) -> tuple[set[str], set[str]]:
    """The names that a function takes after its data, and those of them that it needs and nobody gives."""
    try:
        parameters = list(inspect.signature(call).parameters.values())
    except (TypeError, ValueError):
        return set(), set()
    after = [one for one in parameters[1:] if one.kind not in {one.VAR_POSITIONAL, one.VAR_KEYWORD}]
    needed = {one.name for one in after if one.default is one.empty}
    return {one.name for one in after}, needed - set(given)


_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_NO_RETURN = Trouble(
    "no return",
    "The function returns nothing.",
    "End it with `return`, and what you computed; printing it is not enough.",
)


def _table(outputs: object, count: int) -> Floats:
    if outputs is None or (isinstance(outputs, list) and any(one is None for one in outputs)):
        raise _NO_RETURN
    if type(outputs) in _VIEWS:
        outputs = list(outputs)  # type: ignore[call-overload]
    try:
        found = np.asarray(outputs, dtype=np.float64)
    except (TypeError, ValueError):
        raise Trouble(
            "no number",
            "The function returns something that is not a number.",
            "Return the number; do not print it, and do not forget `return`.",
        ) from None
    if found.shape[:1] != (count,):
        raise Trouble(
            "one draw only",
            f"Asked for size={count:,} draws, the function returns shape {found.shape}.",
            "Pass size on to the generator: rng.laplace(0, scale, size).",
        )
    if not np.isfinite(found).all():
        raise Trouble(
            "undefined",
            "Some outputs are undefined (NaN) or infinite.",
            "Look for a division by zero, or for a function without `return`.",
        )
    return found.reshape(count, -1)

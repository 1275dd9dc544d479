"""``check.attack``: an attack that a student wrote, run on simulated secrets; finding too little fails, and so does finding what is not there.

Each case draws a secret and what an attacker sees of it. Two exact binomial tests share the level 10⁻⁴: too few secrets found, and
too many where nothing is to be found, as by a function that looks at something else than what it is given.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from dpnb.course.picture import levels
from dpnb.course.result import CheckResult, Mistake, Part
from dpnb.course.trial import LEVEL, Function, Seed, StudentFunction, Trial, Trouble
from dpnb.errors import OptionError

_BLOCK, _FEWEST, _SECONDS = 20, 40, 4.0
"""Cases that are sent at once; and what a slow attack is judged on: as many as it has guessed after so many seconds, but so many."""
Case = Callable[[np.random.Generator], tuple[Any, Any]]


def attack(  # noqa: PLR0913 - a function and its cases; the rest are keywords with defaults
    function: Function,
    case: Case,
    *,
    least: float,
    goal: float = 1.0,
    nothing: Case | None = None,
    most: float = 0.0,
    cases: int = 400,
    step: str = "Look at what you have not used yet of what you are given.",
    rng: Seed = None,
    title: str | None = None,
) -> CheckResult:
    """Check an attack that a student wrote.

    Parameters
    ----------
    function : callable
        ``function(seen)`` returns a guess of the secret; of a tuple each part is an argument.
    case : callable
        ``case(rng)`` draws ``(seen, secret)``: the teacher's.
    least : float
        The share of the cases in which a right attack finds the secret, at least.
    goal : float
        Where the secret is a list: the share of it that counts as found.
    nothing : callable, optional
        ``nothing(rng)`` draws a case in which the secret does not show.
    most : float
        The share of those cases in which a right attack is right, by chance, at most.
    cases : int
        How many of each kind; fewer, at the same level, for an attack that needs seconds.
    step : str
        What to do next where the attack finds too little.
    rng : int or Generator, optional
        The check's chance; by default new each time.
    title : str, optional

    Returns
    -------
    CheckResult

    Examples
    --------
    >>> def case(rng):
    ...     secret = rng.integers(0, 2)
    ...     return secret + rng.normal(0, 0.2, 9), secret
    >>> attack(lambda answers: answers.mean() > 0.5, case, least=0.99, rng=1).passed
    True
    >>> attack(lambda answers: 1, case, least=0.99, rng=1).mistake.name
    'always the same guess'
    """
    if not (0 < least <= 1 and 0 < goal <= 1 and 0 <= most < 1):
        raise OptionError("least, goal and most are shares: least=0.95.")
    trial = Trial.of("attack", StudentFunction.alone(function), rng, title)

    def draw() -> tuple[_Guesses, _Guesses | None]:
        return _tried(trial, case, cases), None if nothing is None else _tried(trial, nothing, cases)

    def judge(drawn: tuple[_Guesses, _Guesses | None]) -> CheckResult:
        found, idle = drawn
        parts = _parts(found, idle, goal, least, most)
        rows = [("found by you", found.hits(goal) / len(found.guesses)), ("can be found", least)]
        if idle is not None:
            rows.append(("where nothing is to be found", idle.hits(goal) / len(idle.guesses)))
        facts = {"cases": len(found.guesses), "found": rows[0][1]}
        return trial.result(parts, _mistake(parts, found, goal, least, step), levels(rows), facts)

    return trial.judged(draw, judge)


@dataclass(frozen=True, slots=True)
class _Guesses:
    """Guesses and secrets, one row a case."""

    guesses: np.ndarray
    secrets: np.ndarray

    @property
    def right(self) -> np.ndarray:
        """The share of each secret that was guessed."""
        return np.asarray((self.guesses == self.secrets).mean(axis=1))

    def hits(self, goal: float) -> int:
        """In how many cases enough of it was."""
        return int((self.right >= goal - 1e-12).sum())

    @property
    def by_chance(self) -> float | None:
        """The share that is right when each guess is held to the secret of the next case; None where all secrets are one."""
        other = np.roll(self.secrets, 1, axis=0)
        return None if np.array_equal(other, self.secrets) else float((self.guesses == other).mean())


def _tried(trial: Trial, case: Case, cases: int) -> _Guesses:
    """Draw the cases here, and let the function guess in its process: what it is not given it does not hold."""
    guesses: list[np.ndarray] = []
    secrets: list[np.ndarray] = []
    begun = time.monotonic()
    while len(guesses) < cases and (len(guesses) < _FEWEST or time.monotonic() - begun < _SECONDS):
        drawn = [case(trial.chance) for _ in range(min(_BLOCK, cases - len(guesses)))]
        seen = [one if isinstance(one, tuple) else (one,) for one, _ in drawn]
        wanted = [np.atleast_1d(np.asarray(secret)) for _, secret in drawn]
        given = trial.ask("answers", seen, "one case")
        guesses += [_guess(one, secret) for one, secret in zip(given, wanted, strict=True)]
        secrets += wanted
    return _Guesses(np.array(guesses), np.array(secrets))


def _guess(given: object, wanted: np.ndarray) -> np.ndarray:
    guess = np.atleast_1d(np.asarray(given))
    if guess.shape != wanted.shape:
        raise Trouble(
            "wrong shape",
            f"The function returns shape {guess.shape}; the secret has shape {wanted.shape}.",
            "Return one guess for each thing that is secret.",
        )
    return guess


def _parts(
    found: _Guesses, idle: _Guesses | None, goal: float, least: float, most: float
) -> tuple[Part, ...]:
    hits, cases = found.hits(goal), len(found.guesses)
    enough = float(stats.binom.cdf(hits, cases, least)) >= LEVEL / 2
    said = f"the secret is found in {100 * hits / cases:.3g} % of {cases:,} cases; {100 * least:.3g} % can be"
    parts = [Part("finds", enough, said, LEVEL / 2)]
    if idle is not None:
        hits, cases = idle.hits(goal), len(idle.guesses)
        few = float(stats.binom.sf(hits - 1, cases, most)) >= LEVEL / 2
        said = f"{100 * hits / cases:.3g} % right where nothing is to be found; chance gives at most {100 * most:.3g} %"
        parts.append(Part("honest", few, said, LEVEL / 2))
    return tuple(parts)


def _mistake(
    parts: tuple[Part, ...], found: _Guesses, goal: float, least: float, step: str
) -> Mistake | None:
    failed = {part.name for part in parts if not part.passed}
    if "finds" in failed:
        return _too_little(found, goal, least, step)
    if "honest" in failed:
        return Mistake(
            "finds what is not there",
            "The attack also finds secrets where there are none.",
            "Use what the function is given, and nothing else; report a secret only if it is certain.",
        )
    return None


def _too_little(found: _Guesses, goal: float, least: float, step: str) -> Mistake:
    right, share = float(found.right.mean()), found.hits(goal) / len(found.guesses)
    if len(np.unique(found.guesses, axis=0)) == 1:
        return Mistake(
            "always the same guess",
            "The guess is the same, whatever is seen.",
            "Let the guess follow what the function is given.",
        )
    chance = found.by_chance
    if right < 0.25 and chance is not None and chance > right + 0.2:
        return Mistake(
            "turned round",
            "The guess is nearly always the opposite of the secret.",
            "Reverse a comparison or a sign.",
        )
    if chance is not None and right <= chance + 0.05:
        return Mistake(
            "no better than chance",
            f"{100 * right:.3g} % is right, which guessing without a look gives as well.",
            "Write down what one secret does to what you see, and invert that.",
        )
    return Mistake(
        "too weak",
        f"The attack finds the secret in {100 * share:.3g} % of the cases; {100 * least:.3g} % can be found.",
        step,
    )

"""What a check found: passed or not, the likely mistake, the next step, one picture, and how often the check errs."""

from __future__ import annotations

import builtins
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files

from dpnb.cards.card import Card, frame
from dpnb.cards.markup import Markup, el
from dpnb.trusted.canonical import Record


@dataclass(frozen=True, slots=True)
class Part:
    """One test of a check.

    Parameters
    ----------
    name : str
        What is tested.
    passed : bool
    said : str
        The finding in words.
    level : float
        The probability that a correct answer fails here, at most.
    """

    name: str
    passed: bool
    said: str
    level: float = 0.0


@dataclass(frozen=True, slots=True)
class Mistake:
    """A likely mistake and what to do next.

    Parameters
    ----------
    name : str
        A short name: *half the noise*.
    said : str
        The mistake in a sentence.
    step : str
        The next step in a sentence.
    """

    name: str
    said: str
    step: str


class NotYet(AssertionError):
    """An answer that does not pass yet: a notebook draws what is wrong and the next step, and none of the check's own lines."""

    def _render_traceback_(self) -> list[str]:
        return str(self).splitlines()[:2]


@dataclass(frozen=True, slots=True, repr=False)
class CheckResult:
    """What a check found about one answer.

    Parameters
    ----------
    check : str
        The check's name, under which its rates of error stand.
    title : str
        What was checked.
    parts : tuple of Part
    mistake : Mistake or None
        None when every part passed.
    picture : Markup
        One SVG.
    notes : tuple of str
        Warnings that fail nothing.
    facts : mapping
        Figures, in JSON's own types.
    """

    check: str
    title: str
    parts: tuple[Part, ...]
    mistake: Mistake | None
    picture: Markup
    notes: tuple[str, ...] = ()
    facts: Mapping[str, object] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every part passed."""
        return all(part.passed for part in self.parts)

    @property
    def rates(self) -> Rates:
        """How often this kind of check errs, as measured."""
        return rates_of(self.check)

    @property
    def false_fail(self) -> float:
        """The probability that a correct answer fails, at most: the levels of the parts together."""
        return sum(part.level for part in self.parts)

    def must_pass(self) -> CheckResult:
        """Return this result, or show it and raise with its text: what a hidden test of nbgrader calls.

        Raises
        ------
        AssertionError
        """
        if not self.passed:
            show = getattr(builtins, "display", None)  # where a notebook is: IPython puts it there
            if show is not None:
                show(self)
            raise NotYet(self.text)
        return self

    @property
    def headline(self) -> str:
        """The finding in one sentence."""
        if self.mistake is None:
            return f"{self.title}: passed"
        return f"{self.title}: not yet. {self.mistake.said}"

    @property
    def text(self) -> str:
        """The result for a terminal."""
        lines = [self.headline]
        lines += [f"Next: {self.mistake.step}"] if self.mistake else []
        lines += [f"  {'✓' if part.passed else '✗'} {part.name}: {part.said}" for part in self.parts]
        lines += [f"  note: {note}" for note in self.notes]
        return "\n".join([*lines, f"  {self.short_certainty}"])

    @property
    def short_certainty(self) -> str:
        """What a student needs to know of the check's errors, in one line."""
        if self.parts[0].name == "runs":
            return self.certainty
        if self.false_fail == 0:
            return "A right answer never fails this check."
        return f"A right answer fails this check at most {self.false_fail * 10_000:.3g} in 10,000 times."

    @property
    def certainty(self) -> str:
        """How often the check errs, in a sentence; of a function that does not run, that this is all."""
        if self.parts[0].name == "runs":
            return "Nothing else was checked yet."
        return self.rates.sentence(self.false_fail)

    def to_json(self) -> dict[str, object]:
        """The facts in JSON's own types."""
        return {
            "format": 1,
            "check": self.check,
            "title": self.title,
            "passed": self.passed,
            "mistake": self.mistake.name if self.mistake else None,
            "next": self.mistake.step if self.mistake else None,
            "parts": [
                {"name": one.name, "passed": one.passed, "said": one.said, "level": one.level}
                for one in self.parts
            ],
            "notes": list(self.notes),
            "false_fail": self.false_fail,
            **self.facts,
        }

    def __bool__(self) -> bool:
        return self.passed

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: object) -> dict[str, object]:
        return self.card().bundle()

    def card(self) -> Card:
        """Return the result as a card."""
        mark = "passed" if self.passed else "not yet"
        told = self.mistake
        html = frame(
            el("div", el("h3", self.title), el("span", mark, class_="badge"), class_="head"),
            el("p", el("strong", told.said, class_="flag")) if told else None,
            el("p", f"Next: {told.step}") if told else None,
            self.picture,
            el("table", *map(_row, self.parts), class_="slim"),
            *(el("p", note) for note in self.notes),
            el("details", el("summary", self.short_certainty), el("p", self.certainty)),
        )
        return Card(html, self.text, self.to_json(), "check")


def _row(part: Part) -> Markup:
    mark = "✓" if part.passed else "✗"
    return el("tr", el("th", f"{mark} {part.name}", scope="row", class_="keep"), el("td", part.said))


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
def _table() -> Record:
    found = files("dpnb.course").joinpath("rates.json")
    return dict(json.loads(found.read_text(encoding="utf-8")))


def rates_of(check: str) -> Rates:
    """Return the measured rates of a check; empty where there is nothing random to measure."""
    found = _table().get(check)
    return Rates(check) if found is None else Rates(check, **found)


def names() -> tuple[str, ...]:
    """Return the checks whose rates were measured."""
    return tuple(_table())

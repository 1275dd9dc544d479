"""A sentence whose numbers drag: move one, and what the sentence says of it follows, in words and in a picture.

Everything that it can say is worked out in Python when it is made, for every stop of every number. So it drags without a kernel, and
the page computes nothing.
"""

from __future__ import annotations

import inspect
import itertools
import math
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from dpnb.cards.card import Card
from dpnb.cards.markup import Markup, clean
from dpnb.errors import OptionError
from dpnb.inference.digits import number
from dpnb.widgets._base import Interaction
from dpnb.widgets.registry import Facts
from dpnb.widgets.still_picture import bars, still

_MOST = 2000
_SHOWN, _SHOWN_EACH, _WIDE = 5, 3, 50
_SIGNS = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}
_TENTHS = (1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8)
_FORM = 'Write for example sentence("At ε = {epsilon} it is off by {off:.2g}.", epsilon=(0.1, 0.5, 4), off=lambda epsilon: 1 / epsilon).'


@dataclass(frozen=True, slots=True)
class Stops:
    """What one number of a sentence can be, and where it stands at first."""

    values: tuple[float, ...]
    start: int

    @classmethod
    def of(cls, given: Any) -> Stops:
        """Read ``(low, start, high)``, ten stops to a power of ten; or the stops themselves, of which the middle one is first."""
        numbers = list(given)
        if not numbers or not all(math.isfinite(float(one)) for one in numbers):
            raise OptionError(f"A number to drag has finite stops, not {given!r}. {_FORM}")
        if not isinstance(given, tuple):
            return cls(tuple(numbers), len(numbers) // 2)
        if len(numbers) != 3 or not numbers[0] <= numbers[1] <= numbers[2]:
            raise OptionError(f"A number to drag is (low, start, high), not {given!r}. {_FORM}")
        low, start, high = numbers
        found = sorted({low, start, high, *_between(low, high, whole=all(map(_is_whole, numbers)))})
        return cls(tuple(found), found.index(start))


def _is_whole(value: object) -> bool:
    return isinstance(value, int)


def _between(low: float, high: float, *, whole: bool) -> list[float]:
    """Round numbers between two ends: by powers of ten where both are above 0, else at equal steps."""
    if low <= 0:
        step = (high - low) / 20
        return [round(low + i * step) if whole else round(low + i * step, 12) for i in range(1, 20)]
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    found = [float(f"{part}e{power}") for power in powers for part in _TENTHS]
    if whole:
        return [int(one) for one in found if low < one < high and one.is_integer()]
    return [one for one in found if low < one < high]


class Sentence(Interaction):
    """A sentence with numbers that can be dragged.

    Parameters
    ----------
    text : str
        The sentence, with names in braces; a format may follow a name: ``{share:.0%}``.
    picture : str, optional
        The name of the value to draw, against the number that was moved last.
    label : str, optional
        The label of the picture, with its unit.
    **parts : tuple, sequence or callable
        The value of each name. ``(low, start, high)`` can be dragged, with ten stops for each power of ten; whole numbers stay whole. A list
        is dragged through its own numbers. A function of dragged numbers, by their names, is computed for all of them in advance.

    Raises
    ------
    OptionError
        For a name without a value, for more than 2,000 cases together, or for a picture of something that is not a number.

    Examples
    --------
    >>> from dpnb import widgets
    >>> print(
    ...     widgets.sentence(
    ...         "At ε = {epsilon} a count is off by {off:.2g} people.",
    ...         epsilon=[0.1, 0.5, 2],
    ...         off=lambda epsilon: 1 / epsilon,
    ...     )
    ... )
    At ε = 0.5 a count is off by 2 people.
    <BLANKLINE>
      what else it says
      At ε = 0.1 a count is off by 10 people.
      At ε = 2 a count is off by 0.5 people.
    """

    module: ClassVar[str] = "sentence"

    def __init__(self, text: str, *, picture: str | None = None, label: str = "", **parts: Any) -> None:
        self._fields = [(words, name, form) for words, name, form, _ in string.Formatter().parse(str(text))]
        named = {name for _, name, _ in self._fields if name is not None}
        unknown = (named | ({picture} if picture else set())) - set(parts)
        if unknown:
            raise OptionError(f"{', '.join(sorted(unknown))} has no value. {_FORM}")
        self._functions = {name: part for name, part in parts.items() if callable(part)}
        self._numbers = {name: Stops.of(part) for name, part in parts.items() if not callable(part)}
        if not self._numbers or set(self._numbers) - named:
            raise OptionError(f"The sentence needs every number that can be dragged, at least one. {_FORM}")
        if math.prod(len(one.values) for one in self._numbers.values()) > _MOST:
            raise OptionError(f"This sentence has more than {_MOST:,} cases: give its numbers fewer stops.")
        self._picture, self._label = picture, label
        super().__init__()

    def describe(self) -> Facts:
        """Work out every case; see :class:`Interaction`."""
        cases = [dict(zip(self._numbers, case, strict=True)) for case in self._cases()]
        told = {
            name: [_called(function, case) for case in cases] for name, function in self._functions.items()
        }
        drawn = self._picture
        return {
            "pieces": list(self._pieces()),
            "numbers": [
                {
                    "name": _SIGNS.get(name, name.replace("_", " ")),
                    "values": [_written(one, self._form(name)) for one in stops.values],
                    "start": stops.start,
                }
                for name, stops in self._numbers.items()
            ],
            "told": [[_written(one, self._form(name)) for one in values] for name, values in told.items()],
            "picture": None if drawn is None else self._drawn(told.get(drawn, ["nan"])),
            "problem": "",
        }

    def _drawn(self, told: Sequence[Any]) -> Facts:
        """The heights of a curve from 0 to 1, by powers of ten where it spans many; and what both ends of its axis say."""
        name, values = str(self._picture), [float(one) for one in told]
        if not all(map(math.isfinite, values)):
            raise OptionError(f"A picture shows finite numbers that a function returns, and {name} is none.")
        low, high = min(values), max(values)
        powers = low > 0 and high > _WIDE * low
        at = math.log if powers else float
        low = low if powers else min(low, 0.0)
        heights = [(at(one) - at(low)) / ((at(high) - at(low)) or 1.0) for one in values]
        ends = [_written(one, _short(self._form(name))) for one in (low, high)]
        return {"heights": heights, "ends": ends, "label": clean(self._label or name)}

    def _cases(self) -> list[tuple[float, ...]]:
        return list(itertools.product(*(one.values for one in self._numbers.values())))

    def _form(self, name: str) -> str:
        return next((form or "" for _, one, form in self._fields if one == name), "")

    def _pieces(self) -> Any:
        places = {
            **{name: ("number", place) for place, name in enumerate(self._numbers)},
            **{name: ("told", place) for place, name in enumerate(self._functions)},
        }
        for words, name, _ in self._fields:
            if words:
                yield {"kind": "words", "words": clean(words), "which": 0}
            if name is not None:
                kind, which = places[name]
                yield {"kind": kind, "words": "", "which": which}

    def _at(self) -> list[int]:
        """The current numbers: as they were dragged, if they were."""
        stops = list(self._numbers.values())
        held = self.chosen.get("at")
        if not isinstance(held, list) or len(held) != len(stops):
            return [one.start for one in stops]
        return [
            min(max(int(at), 0), len(one.values) - 1)
            if isinstance(at, int | float) and math.isfinite(at)
            else one.start
            for at, one in zip(held, stops, strict=True)
        ]

    def says(self, at: Sequence[int]) -> str:
        """Return the sentence at some stops, one for each number."""
        case = 0
        for place, stops in zip(at, self._numbers.values(), strict=True):
            case = case * len(stops.values) + place
        words = {
            "words": lambda piece: piece["words"],
            "number": lambda piece: self.facts["numbers"][piece["which"]]["values"][at[piece["which"]]],
            "told": lambda piece: self.facts["told"][piece["which"]][case],
        }
        return "".join(words[piece["kind"]](piece) for piece in self.facts["pieces"])

    def card(self) -> Card:
        """Write the sentence as it is now, and at a few other stops; see :class:`Interaction`."""
        at = self._at()
        others = [
            [*at[:place], stop, *at[place + 1 :]]
            for place, stops in enumerate(self._numbers.values())
            for stop in _spread(len(stops.values), _SHOWN if len(at) == 1 else _SHOWN_EACH)
            if stop != at[place]
        ]
        rows = [[self.says(one)] for one in others]
        return still(
            "sentence", self.says(at), "", ["what else it says"], rows, self.facts, picture=self._stops(at)
        )

    def _stops(self, at: Sequence[int]) -> Markup:
        """Draw where each number stands among its stops."""
        drawn = [
            (name, place / max(len(stops.values) - 1, 1), self.facts["numbers"][i]["values"][place])
            for i, ((name, stops), place) in enumerate(zip(self._numbers.items(), at, strict=True))
        ]
        return bars("where the numbers stand", drawn)


def _spread(count: int, shown: int) -> list[int]:
    """A few places of so many, both ends among them."""
    few = min(count, shown)
    return sorted({round(i * (count - 1) / max(few - 1, 1)) for i in range(few)})


def _called(function: Callable[..., Any], case: Mapping[str, float]) -> Any:
    taken = [name for name in inspect.signature(function).parameters if name in case]
    return function(**{name: case[name] for name in taken})


def _short(form: str) -> str:
    """How the end of an axis is written: two digits."""
    return ".2g%" if form.endswith("%") else ".2g"


def _written(value: Any, form: str) -> str:
    if isinstance(value, str):
        return clean(value)
    if form.endswith("%"):
        return f"{_written(100 * value, form[:-1] if 'g' in form else form[:-1] + 'f')} %"
    if form.endswith("g"):
        return number(float(f"{value:{form}}"))  # as many digits, and no power of ten
    return f"{value:{form}}" if form else number(float(value))

"""What a statistic declares: its name and spelling, what it is of, what is known of its accuracy before a release, and how it concludes.

Everything that another room wants to know of a statistic is asked of the statistic; no other file asks for one by its name. A new
one is a file with a class, one line of the registry, and a test.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Literal, cast

from dpnb.errors import OptionError
from dpnb.inference import NoiseSum
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats
from dpnb.statistics._base import Axis, Options, Pricing, Readers, Setting, Target, width_words
from dpnb.statistics.released import Parts, ReleasedParts, combine
from dpnb.statistics.result import Cell, ReadingFunction, Result, one_by_one
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release

Place = Literal["before", "keys", "listed", "labelled"]
Summary = Literal["mean", "medn", "mode", "vald", "invd", "min", "max", "stdev", "other"]
"""The types of a ``sumStat`` in DDI Codebook 2.5."""


@dataclass(frozen=True, slots=True)
class Spelling:
    """How a question is typed.

    Parameters
    ----------
    columns : str
        Where its columns stand: ``"before"`` (``hiv.age.mean()``), as ``"keys"`` (``hiv.crosstab("any", "got")``), ``"listed"``
        (``hiv.moments("age", "got")``) or ``"labelled"`` (``hiv.choose({"young": …})``).
    bare : tuple of str
        Options that are typed as their value alone, in front of those with a name.
    renamed : tuple of (str, str)
        Options that are typed under another name.
    """

    columns: Place = "before"
    bare: tuple[str, ...] = ()
    renamed: tuple[tuple[str, str], ...] = ()


def bought_or_bound(given: object) -> Any:
    """Read where a spread comes from."""
    if given not in {"bought", "bound"}:
        raise OptionError('spread= is "bought" (paid, tight) or "bound" (free, wide).')
    return given


def asked_rows(given: object) -> Any:
    """Read how many rows are expected."""
    if given is not None and (isinstance(given, bool) or given not in range(1, 2**40)):
        raise OptionError("about= is a number of rows that you expect, for example about=1000.")
    return given


class Statistic:
    """What a statistic declares. Instances are stateless; one file each.

    Attributes
    ----------
    name, title, reference, status : str
        How it is registered, said, and proved.
    target : str
        What it is of.
    defaults : mapping
        Its options; one whose default is True or False is a flag.
    readers : mapping of str to callable
        What checks an option that is no flag, and returns it exactly; an option without one may be anything.
    spelling : Spelling
        How it is typed.
    examples : tuple of mapping
        Options that are worth trying, for a statistic that has some: tests ask each of them.
    arms : bool
        Whether the last key is two arms that it compares.
    counts : bool
        Whether each entry is a number of rows.
    summary : str
        Its type as a ``sumStat`` of a variable in DDI Codebook 2.5; ``"other"`` where DDI has none.
    grows : bool
        Whether it grows with the number of rows: it then describes a dataset, and no parameter of a population is meant.
    apart : bool
        Whether the noises of its entries are independent.
    plannable : bool
        Whether its accuracy in a study that does not exist yet follows from assumed means and spreads alone.
    smooth : bool
        True if interval ends vary smoothly with ε, so that a picture may interpolate them between two losses. Measured: interpolated
        ends are off by .2 to 1 % of a width half of the time; those of a selection, a tree or a correlation jump by a third or more.
    by_rank : bool
        Whether the answer goes by the order of values alone: bounds then change nothing inside them.
    of_bounds : bool
        Whether it tells how many values lie at or beyond the bounds.
    beside : bool
        Whether it takes a second number that it does not need.
    of_dates : bool
        Whether it may be asked of dates: it adds no values.
    no_draws : str
        Why nothing can be drawn from its answer; empty where ``redraw`` draws.
    readings : mapping
        What the release can be read as beside the answer, free.
    """

    name: ClassVar[str]
    title: ClassVar[str]
    target: ClassVar[Target]
    reference: ClassVar[str]
    status: ClassVar[str] = "proven"
    defaults: ClassVar[Options] = MappingProxyType({})
    readers: ClassVar[Readers] = MappingProxyType({})
    spelling: ClassVar[Spelling] = Spelling()
    examples: ClassVar[tuple[Mapping[str, bool | int | str | Fraction | tuple[Any, ...]], ...]] = ()
    arms: ClassVar[bool] = False
    counts: ClassVar[bool] = False
    summary: ClassVar[Summary] = "other"
    grows: ClassVar[bool] = False
    apart: ClassVar[bool] = False
    plannable: ClassVar[bool] = False
    smooth: ClassVar[bool] = False
    by_rank: ClassVar[bool] = False
    of_bounds: ClassVar[bool] = False
    beside: ClassVar[bool] = False
    of_dates: ClassVar[bool] = False
    no_draws: ClassVar[str] = ""
    readings: ClassVar[Mapping[str, ReadingFunction]] = MappingProxyType({})

    def said(self, options: Options) -> str:  # noqa: ARG002
        """Return what it is called in a sentence about what it estimates."""
        return self.title

    def summaries(self, options: Options) -> tuple[Summary, ...]:  # noqa: ARG002
        """Return the ``summary`` of each number of one group, or of all numbers where they have the same."""
        return (self.summary,)

    def option(self, name: str, given: object) -> Any:
        """Return an option as it was given, exactly.

        Raises
        ------
        OptionError
            If it may not be that.
        """
        if isinstance(self.defaults[name], bool) and not isinstance(given, bool):
            raise OptionError(f"{name}= is True or False.")
        return self.readers[name](given) if name in self.readers else given

    def extra_axes(self, setting: Setting) -> tuple[Axis, ...]:  # noqa: ARG002
        """Return the axes that the statistic adds behind the group axes; what the options may not be is refused here."""
        return ()

    def readings_of(self, setting: Setting) -> Mapping[str, ReadingFunction]:  # noqa: ARG002
        """Return what the release of a question can be read as, where options decide."""
        return self.readings

    def domain(self, setting: Setting) -> tuple[float, float]:
        """Return the public range of the answer."""
        raise NotImplementedError

    def public_value(self, setting: Setting) -> float | None:  # noqa: ARG002
        """Return the answer where the schema alone gives it."""
        return None

    def price(self, setting: Setting, share: Share) -> Pricing:
        """Return mechanisms whose loss is at most the share, itemised."""
        raise NotImplementedError

    def half_width(self, setting: Setting, pricing: Pricing, n: float | None) -> float | None:  # noqa: ARG002
        """Return the 95 % privacy half-width from public facts; nothing where it depends on a private size, or on the data."""
        return None

    @property
    def foretold(self) -> bool:
        """Whether its half-width follows from public facts and a number of rows."""
        return type(self).half_width is not Statistic.half_width

    def rank_radius(self, setting: Setting, pricing: Pricing) -> float | None:  # noqa: ARG002
        """Return the 95 % radius of the answer's rank, in rows, where the noise moves the rank and not the value."""
        return None

    def entry_noise(self, setting: Setting, pricing: Pricing, n: float | None) -> NoiseSum | None:  # noqa: ARG002
        """Return the law of the noise of one entry for `n` rows, the widest where it depends on the answer.

        Nothing where the law is not written down: it is then taken as normal, since of symmetric noises of one 95 % radius that
        are at least as peaked, the normal one has the widest sums.
        """
        return None

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """Return the expected accuracy in words, from public facts: ± in the unit of the answer, or as a function of n."""
        low, high = self.domain(setting)

        def width(known: Setting, size: float | None) -> float | None:
            found = self.half_width(known, pricing, size)
            return found if found is None or n is not None else min(found, (high - low) / 2)

        return width_words(setting, width, n, arms=self.arms)

    def combined(self, releases: Sequence[Release]) -> Parts:
        """Return the noised integers of one release, or of several of the same question together."""
        return combine(releases)

    def entries(self, setting: Setting, parts: Parts) -> Cell:
        """Return all entries at once, arrays of the shape of the parts, which may be a release or many simulated studies."""
        raise NotImplementedError

    def redraw(self, setting: Setting, parts: ReleasedParts, count: int, rng: DrawGenerator) -> Floats:
        """Return plausible exact answers, shape ``(count, entries)``."""
        raise NotImplementedError

    def notes(self, setting: Setting, parts: Parts) -> dict[str, str]:  # noqa: ARG002
        """Return how each kind of interval is made."""
        return {}

    def conclude(self, setting: Setting, releases: Sequence[Release]) -> Result:
        """Return what the released integers say of every entry."""
        parts = self.combined(releases)
        return Result.of(
            one_by_one(self.entries(setting, parts)),
            setting.shape,
            self.domain(setting),
            None if self.no_draws else partial(self.redraw, setting, cast("ReleasedParts", parts)),
            self.no_draws,
            notes=self.notes(setting, parts),
        )

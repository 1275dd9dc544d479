"""Contingency tables: joint counts over declared keys in one release, and what can be read from them, free.

Released: one vector of counts, a cell for each combination of declared values; its price is that of a histogram with as many
bins. Read from it: the totals of fewer keys, the shares of the whole table or within rows or columns, chi-square tests, logistic regressions of one key on others, and
the association of two. Rows with a missing or an undeclared value fall in no cell, and nothing is released about them. A table of thousands of cells over few
rows is mostly noise: the plan says how much on each cell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import ClassVar

import numpy as np

from dpnb.errors import OptionError, PlanError
from dpnb.inference.digits import rounded
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats
from dpnb.statistics._base import Axis, Options, Pricing, Setting
from dpnb.statistics.association import cramers_v, spearman
from dpnb.statistics.count import LinearCell
from dpnb.statistics.declaration import Spelling
from dpnb.statistics.histogram import Histogram
from dpnb.statistics.logistic import log_odds
from dpnb.statistics.released import Part, combine
from dpnb.statistics.result import Read, ReadingFunction, Result
from dpnb.statistics.shares import public_total, several, shares_result
from dpnb.trusted.releases import Release


def margin(setting: Setting, *names: str) -> Read:
    """Return the counts by fewer keys: the table added up over the others.

    Parameters
    ----------
    *names : str
        The keys to keep.
    """
    kept = _places(setting, names)
    if not kept or len(kept) == len(setting.axes):
        listed = ", ".join(f'"{axis.name}"' for axis in setting.axes)
        raise OptionError(f"margin() keeps some of {listed}, not all and not none.")
    axes = tuple(setting.axes[place] for place in kept)
    shape = tuple(len(axis.keys) for axis in axes)

    def conclude(releases: Sequence[Release]) -> Result:
        return _margin_result(setting, combine(releases)["count"], kept, shape)

    return Read(f".margin({_quoted(axes)})", shape, axes, conclude)


def proportions(
    setting: Setting, *, within: str | Sequence[str] | None = None, simultaneous: bool = False
) -> Read:
    """Return the shares of the cells, each with its intervals.

    Parameters
    ----------
    within : str or list of str, optional
        The keys inside whose values the shares add up to one; ``"rows"`` and ``"columns"`` of a table of two keys. Without it
        all cells of the table add up to one.
    simultaneous : bool
        Whether the level of the intervals holds for all shares at once (Bonferroni), not for each alone.
    """
    places = _places(
        setting, () if within is None else (within,) if isinstance(within, str) else tuple(within)
    )
    return _proportions(setting, places, simultaneous=simultaneous, said=within is not None)


def proportions_by_value(setting: Setting, *, simultaneous: bool = False) -> Read:
    """Return the shares of the declared values, within each group; each with its intervals.

    Parameters
    ----------
    simultaneous : bool
        Whether the level of the intervals holds for all shares at once (Bonferroni), not for each alone.
    """
    return _proportions(setting, tuple(range(len(setting.axes) - 1)), simultaneous=simultaneous, said=False)


def _proportions(setting: Setting, within: tuple[int, ...], *, simultaneous: bool, said: bool) -> Read:
    if not isinstance(simultaneous, bool):
        raise OptionError("simultaneous= is True or False.")
    shape = setting.shape
    if len(within) == len(shape):
        raise OptionError("Shares within every key at once are all 1: leave at least one key out of within=.")
    keys = _quoted([setting.axes[place] for place in within])
    options = [f"within={keys if len(within) == 1 else f'[{keys}]'}"] if said and within else []
    options += ["simultaneous=True"] if simultaneous else []

    def conclude(releases: Sequence[Release]) -> Result:
        return shares_result(setting, combine(releases)["count"], shape, within, simultaneous=simultaneous)

    return Read(f".proportions({', '.join(options)})", shape, setting.axes, conclude)


def _quoted(axes: Sequence[Axis]) -> str:
    return ", ".join(f'"{axis.name}"' for axis in axes)


def _places(setting: Setting, names: Sequence[str]) -> tuple[int, ...]:
    """Return the places of some keys, by name; ``"rows"`` and ``"columns"`` are the first and second of two."""
    known = [axis.name for axis in setting.axes]
    spoken = {"rows": 0, "columns": 1} if len(known) == 2 else {}
    found = []
    for name in names:
        place = known.index(name) if name in known else spoken.get(name)
        if place is None:
            raise OptionError(f"This table has no key {name!r}. Its keys: {', '.join(known)}.")
        found.append(place)
    return tuple(sorted(set(found)))


def _margin_result(setting: Setting, part: Part, kept: tuple[int, ...], shape: tuple[int, ...]) -> Result:
    gone = tuple(axis for axis in range(len(setting.shape)) if axis not in kept)
    summed = part.values.size // int(np.prod(shape))
    noise = several(part.noise, summed)
    high = public_total(setting)
    domain = (0.0, np.inf if high is None else high)

    def added(values: Floats) -> Floats:
        table = values.reshape(*values.shape[:-1], *setting.shape)
        lead = values.ndim - 1
        return np.asarray(table.sum(axis=tuple(a + lead for a in gone)).reshape(*values.shape[:-1], -1))

    cell = LinearCell(added(part.values), 1.0, noise, None, *domain)

    def redraw(count: int, rng: DrawGenerator) -> Floats:
        return added(part.values - part.noise_draws(count, rng))

    return Result.of(
        [cell], shape, domain, redraw, notes={"privacy": f"law of the sum of {summed} noise terms"}
    )


READINGS: MappingProxyType[str, ReadingFunction] = MappingProxyType(
    {
        "margin": margin,
        "proportions": proportions,
        "independence_test": None,
        "goodness_of_fit_test": None,
        "logistic": None,
        "log_odds": log_odds,
        "spearman": spearman,
        "cramers_v": cramers_v,
    }
)


class Crosstab(Histogram):
    """Joint counts of two or more declared keys."""

    name: ClassVar[str] = "crosstab"
    title: ClassVar[str] = "contingency table"
    spelling: ClassVar[Spelling] = Spelling("keys")
    defaults: ClassVar[Options] = {}
    reference: ClassVar[str] = (
        "Dwork, McSherry, Nissim & Smith 2006; Gaboardi et al. 2016; Kifer & Rogers 2017"
    )
    readings: ClassVar[Mapping[str, ReadingFunction]] = READINGS

    def extra_axes(self, setting: Setting) -> tuple[Axis, ...]:
        """No further axis; a table of one key is refused."""
        if len(setting.keys) < 2:
            raise PlanError('A contingency table needs two keys, for example .crosstab("other column").')
        return ()

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:
        """± in rows for each cell."""
        return f"± {rounded(self.half_width(setting, pricing, n) or 0.0)} rows in each of {setting.cells:,} cells"


class ValueCount(Histogram):
    """Counts of the declared values of a category or small integer."""

    name: ClassVar[str] = "value_counts"
    title: ClassVar[str] = "value counts"
    defaults: ClassVar[Options] = {}
    readings: ClassVar[Mapping[str, ReadingFunction]] = MappingProxyType(
        {"proportions": proportions_by_value, "goodness_of_fit_test": None, "homogeneity_test": None}
    )

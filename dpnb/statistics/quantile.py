"""Quantiles by permute-and-flip over the public grid, or by the exponential mechanism where the budget is counted in ρ.

A selection: the released number is a grid point, and the noise moves its *rank*, not its value. Asked with ``ci=True`` it
buys two more selections, a lower and an upper limit at ranks that are further out by a proven bound on the rank error, and,
where the number of rows is public or named, by the sampling error of an order statistic too. Where a tree of counts is forecast to be
narrower, limits and several quantiles are read off one instead (:mod:`~dpnb.statistics.quantile_tree`), and the point stays a
selection where that is forecast to be nearer and the limits stay narrow: each is paid by a part of the loss that public facts choose
(:func:`for_points`, :func:`portion_for_points`).

References
----------
McSherry & Talwar 2007; Smith 2011; Drechsler, Globus-Harris, McMillan, Sarathy & Smith 2022 (the pair of limits).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np

from dpnb.errors import OptionError, PlanError, Unavailable
from dpnb.inference import selection_law
from dpnb.inference.digits import given, percent, rounded
from dpnb.inference.elementwise import Floats, Number, Truth, greater, lesser
from dpnb.inference.largest_epsilon import exponential_epsilon
from dpnb.inference.spread import normal_quantile
from dpnb.statistics._base import Axis, Options, PriceRow, Pricing, Readers, Setting, Target, check_levels
from dpnb.statistics.declaration import Spelling, Statistic, Summary, asked_rows
from dpnb.statistics.quantile_tree import (
    PublicFacts,
    TreeQuantiles,
    expected_rows,
    forecast,
    is_selected,
    is_tree,
    loss_of_limits,
    sampled_rows,
    tree_quantiles,
    tree_ranks,
    tree_setting,
)
from dpnb.statistics.released import Parts, SimulatedPart, best, mechanism_of
from dpnb.statistics.result import Cell, Pair, Result
from dpnb.statistics.tree import Tree
from dpnb.trusted.aggregate.algebra import Lit, Sub, ValueCounts
from dpnb.trusted.measurements import Measurement, selections
from dpnb.trusted.mechanisms import QuantileFlip, QuantileSelection
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release

LEVEL = 0.95
MOST = 1000
UNCLEAR, PAST = "rank unclear", "past the rows"
_SAMPLING_ALPHA = 0.04
_SELECTION_BETA = 0.005
_NARROW = Fraction(1, 10)
"""Of the rows on either side: limits of a tree that leave more of them open are not widened for a nearer point."""
_USELESS = Fraction(2, 5)
"""Of the rows: limits of a tree that leave more of them open say next to nothing, and lose little to a nearer point."""
_ROOT_MEAN_SQUARE = 2 * math.sqrt(2)
NO_DRAWS = "A quantile is a selection: its noise moves the rank, not the value, so no interval is carried through arithmetic."


@dataclass(frozen=True, slots=True)
class QuantileCell(Cell):
    """One selected grid point, with the limits that were bought; or many, as arrays.

    Parameters
    ----------
    value : float
    limits : (float, float), optional
    rank : float or array
        By how many rows its rank may miss the target (95 %).
    population : bool
        Whether the limits hold the population's quantile too.
    ranks : float or array
        How many rows a group of average size has to the farther side of the target.
    tail : float or array
        The share of rows on the nearer side.
    noun : str
        What is counted: people where a row is a person.
    """

    value: Number
    limits: Pair | None
    rank: Number
    population: bool
    ranks: Number = math.inf
    tail: Number = 0.5
    noun: str = "rows"

    noise_variance: ClassVar[float] = math.nan

    @property
    def raised(self) -> dict[str, Truth]:
        """Whether the rank may be wrong by more rows than there are, on either side or on the nearer one alone."""
        past = self.rank >= self.ranks * self.tail / (1 - self.tail)
        return {UNCLEAR: self.rank >= self.ranks, PAST: past & (self.rank < self.ranks)}

    @property
    def _of_few(self) -> str:
        """What to think of it where no number of rows is public: none is released with a point alone."""
        if np.isfinite(self.ranks).all():
            return ""
        fewest = math.ceil(float(np.max(self.rank / self.tail)))
        return (
            f". How many rows there are is not released with it: with fewer than about {fewest:,} rows it is mostly noise, "
            "since past the last row every value to the bound has the same rank"
        )

    @property
    def no_population(self) -> str:
        """The limits hold the population's quantile where sampling error in ranks is known."""
        if self.population or self.limits is None:
            return ""
        return (
            "How many people there are, in all or in each group, is private here, so sampling error in ranks is unknown: the limits are a "
            'privacy interval. Use .interval(kind="privacy"), or ask again with about= as many people as you expect.'
        )

    def _interval(self, level: float, *, sampling: bool) -> Pair:  # noqa: ARG002 - one form for all cells
        """Return the bought limits: they hold the quantile, conservatively."""
        if self.limits is None:
            rows = self.ranks / (1 - self.tail)
            share, reach = float(np.max(self.rank / rows)), float(np.max(self.rank))
            raise Unavailable(
                f"{near(reach, share, self.noun)} (95 %). No interval was bought: ask .quantile(..., ci=True){self._of_few}."
            )
        if level > LEVEL:
            raise Unavailable("The limits of this quantile were bought at 95 %.")
        return self.limits


def near(reach: float, share: float, noun: str) -> str:
    """Say by how many ranks an answer may be off: as a percentage of those who count, where their number is public.

    Examples
    --------
    >>> near(165.8, 0.0344, "people"), near(165.8, 0.0, "rows")
    ('Right to ± 3.4 % of people', 'Right to ± 165.8 rows')
    """
    return (
        f"Right to ± {percent(share, 1 + (share < 0.01) - (share >= 0.1))} of {noun}"
        if share
        else f"Right to ± {rounded(reach)} {noun}"
    )


def exact_levels(given: object) -> Any:
    """Read one level, or several."""
    levels = given if isinstance(given, tuple) else (given,)
    if any(isinstance(level, bool | str) or level is None for level in levels):
        raise OptionError("q= is a number between 0 and 1, or a list of them.")
    exact = tuple(Fraction(level) for level in levels)
    return exact if isinstance(given, tuple) else exact[0]


def _asked(options: Options) -> tuple[Any, ...]:
    """Return the levels that were asked, of one alone too."""
    asked = options["q"]
    return asked if isinstance(asked, tuple) else (asked,)


class Quantile(Statistic):
    """Quantiles of a bounded number."""

    name: ClassVar[str] = "quantile"
    title: ClassVar[str] = "quantile"
    summary: ClassVar[Summary] = "medn"
    target: ClassVar[Target] = "number"
    of_dates: ClassVar[bool] = True
    by_rank: ClassVar[bool] = True
    no_draws: ClassVar[str] = NO_DRAWS
    defaults: ClassVar[Options] = {"q": Fraction(1, 2), "ci": False, "about": None}
    readers: ClassVar[Readers] = {"q": exact_levels, "about": asked_rows}
    spelling: ClassVar[Spelling] = Spelling(bare=("q",))
    reference: ClassVar[str] = "McSherry & Talwar 2007; Cesar & Rogers 2021 (bounded range)"

    def _levels(self, setting: Setting) -> tuple[Fraction, ...]:
        found = tuple(Fraction(level) for level in _asked(setting.options))
        if len(found) > MOST:
            raise PlanError(
                f"One question takes at most {MOST:,} quantile levels; this one has {len(found):,}."
            )
        check_levels(found)
        return found

    def extra_axes(self, setting: Setting) -> tuple[Axis, ...]:
        """The levels, where several are asked."""
        levels = self._levels(setting)
        if not isinstance(setting.options["q"], tuple):
            return ()
        return (Axis("quantile", "quantile", tuple(float(q) for q in levels)),)

    def summaries(self, options: Options) -> tuple[Summary, ...]:
        """The median's, where one of the levels is it."""
        return tuple(self.summary if level == Fraction(1, 2) else "other" for level in _asked(options))

    def said(self, options: Options) -> str:
        """The median, or quantiles by their levels."""
        levels = _asked(options)
        if levels == (Fraction(1, 2),):
            return "median"
        return ", ".join(given(float(level)) for level in levels) + f" quantile{'s' * (len(levels) > 1)}"

    def domain(self, setting: Setting) -> Pair:
        """The declared bounds."""
        return setting.number().bounds

    def price(self, setting: Setting, share: Share) -> Pricing:
        """One selection a level, three where limits are bought (half of the loss for the point); or a tree, perhaps beside points."""
        number = setting.number()
        if number.low == number.high:
            raise PlanError("A quantile of a single possible value is that value: nothing to release.")
        facts = PublicFacts.of(setting, share.kind, self._levels(setting), limits=bool(setting.options["ci"]))
        if not by_tree(facts):
            return self._selections(setting, share, limits=facts.limits)
        tree, points = tree_setting(setting), portion_for_points(facts, share, expected_rows(setting))
        assert tree is not None
        if not points:
            return Tree().price(tree, share)
        chosen = self._selections(setting, Share(share.kind, share.amount * points), limits=False)
        read = Tree().price(tree, Share(share.kind, share.amount * (1 - points)))
        return Pricing(read.parts + chosen.parts, chosen.rows + read.rows)

    def _selections(self, setting: Setting, share: Share, *, limits: bool) -> Pricing:
        levels, number = self._levels(setting), setting.number()
        steps = number.high - number.low
        request = _request(setting)
        shares = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)) if limits else (Fraction(1),)
        parts, rows = [], []
        for place, q in enumerate(levels):
            factor = score_factor(setting, request, q)
            for portion, side in zip(shares, ("point", "lower", "upper"), strict=False):
                epsilon = selection_epsilon(share, portion / len(levels))
                offset = self._offset(setting, epsilon, q, side, steps, factor)
                mechanism = selecting(setting.facts.measure)(epsilon, q, offset, steps, factor)
                parts.append(Measurement(f"{place}:{side}", request, mechanism, setting.cells))
                rows.append(_row(setting, q, side, mechanism, epsilon))
        return Pricing(tuple(parts), tuple(rows))

    def _offset(
        self, setting: Setting, epsilon: Fraction, q: Fraction, side: str, steps: int, factor: Fraction
    ) -> int:
        if side == "point":
            return 0
        bare = selecting(setting.facts.measure)(epsilon, q, 0, steps, factor)
        reach = selection_law.rank_radius(bare, _SELECTION_BETA)
        rows = sampled_rows(setting)
        if rows is not None:
            z = normal_quantile(1 - _SAMPLING_ALPHA / 2)
            reach += z * math.sqrt(float(q * (1 - q)) * rows) + 1
        return (-1 if side == "lower" else 1) * math.ceil(reach)

    def rank_radius(self, setting: Setting, pricing: Pricing) -> float:
        """The proven rank error, of several levels the largest."""
        points = [
            selection_law.rank_radius(part.mechanism, 0.05)
            for part in pricing.parts
            if _is_point(part.name) and isinstance(part.mechanism, QuantileSelection)
        ]
        if points:
            return float(max(points))
        tree = tree_setting(setting)
        assert tree is not None
        return tree_ranks(tree, pricing, self._levels(setting))

    def accuracy(self, setting: Setting, pricing: Pricing, n: float | None) -> str:  # noqa: ARG002
        """The proven rank error, and whether there are as many rows."""
        found = self.rank_radius(setting, pricing)
        levels = self._levels(setting)
        ranks = min(_ranks(setting, q) for q in levels)
        share = max(found * float(max(q, 1 - q)) / _ranks(setting, q) for q in levels)
        much = f", more than {'a group of average size has' if setting.cells > 1 else 'there are'}"
        how = _how([part.name for part in pricing.parts])
        return f"{near(found, share, _noun(setting)).lower()}{how}{much * (found >= ranks)}"

    def entries(self, setting: Setting, parts: Parts) -> QuantileCell | TreeQuantiles:
        """Return the quantiles of all cells at once, levels side by side in each cell."""
        if is_tree(parts):
            tree: Number = tree_setting(setting)
            selected = self._selected(setting, parts) if any(map(is_selected, parts)) else None
            most = _most(setting, self._levels(setting))
            return TreeQuantiles(tree, parts, self._levels(setting), most, selected)  # type: ignore[arg-type]
        return self._selected(setting, parts)

    def _selected(self, setting: Setting, parts: Parts) -> QuantileCell:
        """Return what was selected: the points, and limits where they were selected too."""
        number, levels = setting.number(), len(self._levels(setting))

        def side(name: str) -> Floats:
            found = np.stack([parts[f"{place}:{name}"].values for place in range(levels)], axis=-1)
            return float(number.lowest) + float(number.step) * found.reshape((*found.shape[:-2], -1))

        point = side("point")
        limits = _around(point, side("lower"), side("upper")) if "0:lower" in parts else None
        cells = point.shape[-1] // levels
        chosen: list[Any] = [parts[f"{place}:point"] for place in range(levels)]
        missed = np.stack([part.radii for part in chosen], axis=-1)
        ranks = np.tile([_ranks(setting, q) for q in self._levels(setting)], cells)
        tails = np.tile([float(min(q, 1 - q)) for q in self._levels(setting)], cells)
        noun = _noun(setting)
        ranked = np.tile(missed, cells)[:, None, :], sampled_rows(setting) is not None, ranks, tails, noun
        return QuantileCell(point, limits, *ranked)

    def combined(self, releases: Sequence[Release]) -> Mapping[str, SimulatedPart]:
        """Return the selected steps of the best paid release: selections cannot be averaged."""
        return {
            part.name: SimulatedPart(
                part.name,
                np.array([[part.values]], dtype=float),
                (),
                (selection_law.rank_radius(mechanism_of(part.law, QuantileSelection), 1 - LEVEL),),
            )
            for part in best(releases).parts
            if is_selected(part.name)
        }

    def notes(self, setting: Setting, parts: Parts) -> dict[str, str]:  # noqa: ARG002
        """Limits are selections too; for how many rows they allow for sampling, where that was named."""
        said, rows = "two selections further out, conservative", sampled_rows(setting)
        up_to = "" if rows in {None, setting.unit.rows} else f", of at most {rows:,} people"
        return {"privacy": said, "confidence": said + up_to}

    def conclude(self, setting: Setting, releases: Sequence[Release]) -> Result:
        """Return the selected values of the best paid release, or the quantiles of the trees; those of dates are dates."""
        parts = [part.name for part in best(releases).parts]
        if is_tree(parts):
            trees = [one for one in releases if is_tree(part.name for part in one.parts)]
            levels = self._levels(setting)
            selected = (
                self._selected(setting, self.combined(releases)) if any(map(is_selected, parts)) else None
            )
            return tree_quantiles(setting, trees, levels, _most(setting, levels), selected)
        return replace(super().conclude(setting, releases), calendar=setting.number().calendar)


def _how(names: Sequence[str]) -> str:
    """Say what of a quantile is read off a tree."""
    points = any(map(_is_point, names))
    return f", {'limits ' * points}read off a tree of counts" if is_tree(names) else ""


def _noun(setting: Setting) -> str:
    return "people" if setting.unit.by_row else "rows"


def _is_point(name: str) -> bool:
    return name.endswith(":point")


def by_tree(facts: PublicFacts) -> bool:
    """Tell whether a tree is forecast to leave fewer ranks open than selections; one point without limits is always selected."""
    alone = len(facts.levels) == 1 and not facts.limits
    return not alone and forecast(facts) < _ranks_of_selections(facts)


@lru_cache(maxsize=256)
def for_points(facts: PublicFacts) -> Fraction:
    """Return which part of the loss selects the points beside a tree that gives their limits; 0 where the tree gives both.

    Of the parts up to a half that are forecast to beat both, points at least twice as near as a tree of the whole loss has them and limits no
    wider than those of selections, it is the one that makes the product of these forecasts least: a point one percent nearer is worth limits
    one percent wider.
    """
    if not facts.limits:
        return Fraction(0)
    limits, most = forecast(facts), _ranks_of_selections(facts)
    far = forecast(replace(facts, limits=False)) / 2
    found, least = Fraction(0), math.inf
    for points in (Fraction(i, 64) for i in range(1, 33)):
        wide = limits / float(1 - points) ** (1.0 if facts.kind == "epsilon" else 0.5)
        off = _typical_error(facts, points)
        if wide <= most and off <= far and wide * off < least:
            found, least = points, wide * off
    return found


def portion_for_points(facts: PublicFacts, share: Share, rows: int) -> Fraction:
    """Return which part of a loss selects the points, of a question about so many rows.

    None where limits of the rest of the loss would leave more than a tenth of the rows open on either side: half of too little would make
    them useless. There no part is a compromise: of 1,000 rows at ε 0.1 under add-remove a selection by less than a fifth of it misses by more
    than the tree's own point, and by more than a quarter leaves limits twice as wide. Where limits are useless already, since the tree of the
    whole loss leaves two fifths of the rows open, they can hardly grow, and half of the loss selects a point that is three times as near.
    So a tree that is held beside points may have had less than one of a smaller loss without; it serves for what it cost.

    Parameters
    ----------
    facts : PublicFacts
    share : Share
        The loss.
    rows : int
        How many rows a group has, or is expected to have.
    """
    points = for_points(facts)
    if not points:
        return points
    if share.amount * (1 - points) >= loss_of_limits(facts, float(rows * _NARROW)):
        return points
    return Fraction(1, 2) if share.amount < loss_of_limits(facts, float(rows * _USELESS)) else Fraction(0)


def _typical_error(facts: PublicFacts, portion: Fraction) -> float:
    """Return by how many ranks points are off, in the root mean square, that a portion of the loss selects."""
    return _ROOT_MEAN_SQUARE / float(_selection(facts, portion).inner)


def _selection(facts: PublicFacts, portion: Fraction) -> QuantileSelection:
    question = facts.question
    factor = max(score_factor(question, _request(question), q) for q in facts.levels)
    epsilon = selection_epsilon(facts.share, portion / len(facts.levels))
    return selecting(facts.measure)(epsilon, facts.levels[0], 0, facts.steps, factor)


def _ranks_of_selections(facts: PublicFacts) -> float:
    """Return the ranks that selections leave open: the proven bound on limits, else the typical error of a point."""
    if facts.limits:
        return selection_law.rank_radius(_selection(facts, Fraction(1, 4)), _SELECTION_BETA)
    return _typical_error(facts, Fraction(1))


def _ranks(setting: Setting, q: Fraction) -> float:
    """Return how far a rank can be off in a group of average size; infinite where no number of rows is public."""
    rows = setting.unit.rows
    return math.inf if rows is None else float(max(q, 1 - q)) * rows / setting.cells


def _most(setting: Setting, levels: Sequence[Fraction]) -> dict[str, list[float]]:
    """Return how far ranks can be off before each flag is raised."""
    far = [_ranks(setting, q) for q in levels]
    near = [most * float(min(q, 1 - q) / max(q, 1 - q)) for q, most in zip(levels, far, strict=True)]
    return {UNCLEAR: far, PAST: near}


def _around(point: Number, one: Number, other: Number) -> Pair:
    """Return the bought limits, the point among them."""
    return lesser(lesser(one, other), point), greater(greater(one, other), point)


def _request(setting: Setting) -> ValueCounts:
    """Return the counts of all values."""
    number = setting.number()
    return ValueCounts(Sub(number.code, Lit(number.low)), setting.where, setting.keys)


def score_factor(setting: Setting, request: ValueCounts, q: Fraction) -> Fraction:
    """Return by how much one person moves the scores of a quantile in all cells together."""
    return setting.unit.max_rows * selections.score(q, request, setting.facts)


def selecting(measure: Measure) -> type[QuantileSelection]:
    """Return what selects: permute-and-flip where ε is counted; in ρ the exponential mechanism costs a quarter of it, by its bounded range."""
    return QuantileFlip if measure is Measure.PURE else QuantileSelection


def selection_epsilon(share: Share, portion: Fraction) -> Fraction:
    """Return the ε of one selection: a portion of ε, or the ε whose bounded-range ρ, at most ε²/8, is a portion of ρ."""
    part = share.amount * portion
    return part if share.kind == "epsilon" else exponential_epsilon(part)


def _row(
    setting: Setting, q: Fraction, side: str, mechanism: QuantileSelection, epsilon: Fraction
) -> PriceRow:
    name = f"{float(q):g} quantile of {setting.subject}" + ("" if side == "point" else f", {side} limit")
    reach = rounded(selection_law.rank_radius(mechanism, 0.05))
    return PriceRow(
        name,
        "permute-and-flip" if isinstance(mechanism, QuantileFlip) else "exponential mechanism",
        f"one person moves a rank by at most {rounded(float(mechanism.factor / setting.unit.max_rows))}"
        + (f", times {setting.unit.max_rows}" if setting.clustered else ""),
        f"rank error at most {reach} (95 %)",
        f"ε {rounded(float(epsilon))}",
    )

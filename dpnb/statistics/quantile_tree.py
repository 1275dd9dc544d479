r"""Quantiles read off a tree of counts, where its forecast is narrower than that of selections.

Limits around a quantile are two more selections each, far enough out for a bound on their rank errors to hold; several quantiles share the loss.
A tree with a leaf for each value (:mod:`dpnb.statistics.tree`) is paid once, however many quantiles are read, and its error law is known and
inverted (:mod:`dpnb.statistics.tree_location`): it has both intervals at every level.

*The choice* is made from public facts alone, and is the same for every loss of a kind, so that what was bought serves whoever asks less of it
later. With limits, compared is by how many ranks the noise may move them at 95 %: of selections the proven bound
:math:`\frac{2}{ε'}(\ln|grid| + \ln\frac1β)`, ε′ being the share of one; of the tree the critical value times the largest standard deviation
of :math:`P(J) - qN` over all leaves. Several quantiles without limits are compared by their typical error: ranks that a selection misses by
fall off like :math:`e^{-ε'r/2}` where values lie densely, :math:`2\sqrt2/ε'` in the root mean square; of the tree that standard deviation. Both
are of the order of 1/ε, or 1/√ρ, and what sampling adds is the same for both. One quantile without limits is always a selection.

A tree is far from a point: to have it near, a part of the loss may select it as if no limits were asked, and the rest buys the tree
(:func:`dpnb.statistics.quantile.portion_for_points`). Of few rows at a small loss the tree has all of it: half of too little would make the
limits useless; of so few that they are useless anyway the point has half. How many rows there are is public, named with the question (``about=``), or taken to be a thousand. Both are priced by
their own rules, and their losses add.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import ClassVar

import numpy as np

from dpnb.inference.elementwise import Floats, Number, Truth, Truths
from dpnb.inference.ratio_interval import critical
from dpnb.inference.tree import ConsistentTree, level_sizes
from dpnb.statistics._base import Numeric, Pricing, Setting
from dpnb.statistics.leaves import MOST_LEVELS
from dpnb.statistics.ratio import CLUSTERED
from dpnb.statistics.released import Part, SimulatedPart, Source
from dpnb.statistics.result import Cell, Pair, Result
from dpnb.statistics.tree import Tree, priced_structure
from dpnb.statistics.tree_fit import Fitted, fitted, fitted_from, level_name
from dpnb.statistics.tree_location import quantile_results, quantiles_of, rank_sizes, remaining
from dpnb.statistics.tree_shares import SLACK
from dpnb.trusted.aggregate.algebra import Col, Key, Known, Lit
from dpnb.trusted.measurements import Facts
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.query.plan import Share
from dpnb.trusted.releases import Release

MOST_NODES = 50_000
"""A tree of more nodes, over all groups, is not asked without being told: noise and storage of as many numbers take a curator a sixth of a second."""
EXPECTED_ROWS = 1_000
"""How many rows are taken to stand behind a question where their number is private and none is named: no price may know it."""
_REFERENCE = {"epsilon": Fraction(1), "rho": Fraction(1, 8)}
_ALPHA = 0.05


def is_tree(names: Iterable[str]) -> bool:
    """Tell by the names of its parts whether a release is a tree."""
    return level_name(1) in names


def is_selected(name: str) -> bool:
    """Tell by the name of a part whether it was selected: the number of a quantile, and what of it."""
    return ":" in name


def tree_setting(setting: Setting) -> Setting | None:
    """Return the question of a tree with a leaf for each value; nothing where it would be too large."""
    grid = setting.number().high - setting.number().low + 1
    levels = (grid - 1).bit_length()
    if not 1 <= levels <= MOST_LEVELS or setting.cells * sum(level_sizes(grid)) > MOST_NODES:
        return None
    return replace(setting, options={"levels": levels})


def tree_ranks(setting: Setting, pricing: Pricing, levels: Sequence[Fraction]) -> float:
    """Return by how many ranks the noise of a tree may move a quantile, at 95 %: of several, and of all values, the most."""
    structure, laplace = priced_structure(setting, pricing)
    return max(_open(structure, float(q), critical(_ALPHA, laplace=laplace)) for q in levels)


def _open(structure: ConsistentTree, q: float, reach: float) -> float:
    """Return how many ranks a quantile may be off, at the leaf where that is the most."""
    law, root = structure.prefixes(np.arange(structure.leaves + 1)), structure.root_variance
    worst = float((law.variances - 2 * q * law.slope * root + q * q * root).max())
    return reach * math.sqrt(max(worst, 0.0)) + SLACK


@dataclass(frozen=True, slots=True)
class PublicFacts:
    """What the forecast of a tree goes by.

    Parameters
    ----------
    unit : PrivacyUnit
    private : bool
        Whether the number of rows is private.
    cells : tuple of int
        Sizes of the group keys.
    steps : int
        Of the number's grid.
    kind : str
        In what the loss is asked.
    levels : tuple of Fraction
        The quantiles.
    limits : bool
        Whether limits are asked.
    measure : Measure
        In what the budget is counted.
    """

    unit: PrivacyUnit
    private: bool
    cells: tuple[int, ...]
    steps: int
    kind: str
    levels: tuple[Fraction, ...]
    limits: bool
    measure: Measure = Measure.PURE

    @classmethod
    def of(cls, setting: Setting, kind: str, levels: tuple[Fraction, ...], *, limits: bool) -> PublicFacts:
        """Read the facts of a question."""
        number, cells = setting.number(), tuple(key.size for key in setting.keys)
        steps, measure = number.high - number.low, setting.facts.measure
        return cls(setting.unit, setting.private, cells, steps, kind, levels, limits, measure)

    @property
    def share(self) -> Share:
        """The loss at which the choice is made."""
        return Share(self.kind, _REFERENCE[self.kind])  # type: ignore[arg-type]

    @property
    def question(self) -> Setting:
        """A question with these facts."""
        code = Col("x")
        number = Numeric(code, Fraction(0), Fraction(1), 0, self.steps, nullable=False)
        return Setting(
            self.unit,
            number,
            Known(code) if self.private else None,
            tuple(Key(Lit(0), one) for one in self.cells),
            (),
            self.private,
            facts=Facts(self.unit, self.measure, {code.name: (0, self.steps)}, frozenset()),
        )


def expected_rows(setting: Setting) -> int:
    """Return the rows of a group: its part of a public number or of one named with the question, else of a thousand, or of all if there are fewer."""
    public, named = setting.unit.rows, setting.options.get("about")
    unknown = min(EXPECTED_ROWS, public or EXPECTED_ROWS)
    rows = public if public is not None and not setting.private else named or unknown
    return max(int(rows) // setting.cells, 1)


def sampled_rows(setting: Setting) -> int | None:
    """Return for how many rows of a cell selected limits allow for sampling: a public number of them, or a group's part of the number that was named.

    Nothing where neither is known, or one person has several rows. A group may have all rows of the table, and limits that allowed for that
    would be as wide for a hundred groups as for one; how many it has is private.
    """
    if setting.clustered:
        return None
    if setting.cells == 1 and setting.unit.rows is not None:
        return setting.unit.rows
    named = setting.options.get("about")
    return None if named is None else max(int(named) // setting.cells, 1)


def loss_of_limits(facts: PublicFacts, ranks: float) -> Fraction:
    """Return the loss at which a tree of it leaves so many ranks open, in three digits."""
    times = forecast(facts) / ranks
    amount = float(facts.share.amount) * (times if facts.kind == "epsilon" else times**2)
    return Fraction(f"{amount:.2e}")


@lru_cache(maxsize=256)
def forecast(facts: PublicFacts) -> float:
    """Return the ranks that a tree leaves open: at 95 % where limits are asked, else its largest standard deviation."""
    tree = tree_setting(facts.question)
    if tree is None:
        return math.inf
    structure, laplace = priced_structure(tree, Tree().price(tree, facts.share))
    reach = critical(_ALPHA, laplace=laplace) if facts.limits else 1.0
    return max(_open(structure, float(q), reach) for q in facts.levels)


def tree_quantiles(
    setting: Setting,
    releases: Sequence[Release],
    levels: tuple[Fraction, ...],
    most: Mapping[str, Sequence[float]],
    selected: Cell | None = None,
) -> Result:
    """Return the quantiles of released trees, with a flag at those whose rank may be off by as many rows as it says.

    Points that were selected beside them take the place of those read off the trees, and raise their own flags.
    """
    tree = tree_setting(setting)
    assert tree is not None
    found = fitted(tree, [_of_tree(one) for one in releases])
    points = None if selected is None else np.reshape(selected.value, (-1, len(levels)))
    result = quantile_results(found, levels, points)
    raised_by = unclear(found, levels, most) if selected is None else selected.raised
    up = {flag: np.ravel(where) for flag, where in raised_by.items()}
    flags = result.cell_flags or ((),) * result.values.size
    raised = tuple(
        (*one, *(flag for flag, where in up.items() if where[at % len(where)]))
        for at, one in enumerate(flags)
    )
    return replace(result, shape=setting.shape, calendar=setting.number().calendar, cell_flags=raised)


def _of_tree(release: Release) -> Release:
    """Return a release without what was selected beside its tree."""
    return replace(release, parts=tuple(part for part in release.parts if not is_selected(part.name)))


def unclear(
    found: Fitted, levels: Sequence[Fraction], most: Mapping[str, Sequence[float]]
) -> dict[str, Truths]:
    """Tell for each quantile which flag is raised, as its rank may be off by so many rows: the first of them alone."""
    reach, raised = found.critical(_ALPHA), np.zeros(len(levels), dtype=bool)
    off, up = np.array([_open(found.structure, float(q), reach) for q in levels]), {}
    for flag, ranks in most.items():
        up[flag] = (off >= np.array(ranks)) & ~raised
        raised = raised | up[flag]
    return up


@dataclass(frozen=True)
class TreeQuantiles(Cell):
    """Quantiles of the trees of many studies at several losses, as arrays of shape (losses, studies, entries).

    Parameters
    ----------
    setting : Setting
        The question of the tree.
    parts : mapping of str to SimulatedPart
    levels : tuple of Fraction
    most : mapping of str to sequence of float
        By flag, how many ranks each quantile can be off before it is raised.
    selected : Cell, optional
        Points that were selected beside the trees, and take the place of those read off them.
    """

    setting: Setting
    parts: Mapping[str, SimulatedPart]
    levels: tuple[Fraction, ...]
    most: Mapping[str, Sequence[float]]
    selected: Cell | None = None

    noise_variance: ClassVar[float] = math.nan

    @cached_property
    def _found(self) -> list[Fitted]:
        """The consistent trees at each loss."""
        levels = {name: one for name, one in self.parts.items() if not is_selected(name)}
        losses = next(iter(levels.values())).values.shape[0]
        return [
            fitted_from(self.setting, {name: _at(one, place) for name, one in levels.items()})
            for place in range(losses)
        ]

    @cached_property
    def _values(self) -> list[Floats]:
        if self.selected is not None:
            points = self.selected.value
            return list(points.reshape((*points.shape[:-1], -1, len(self.levels))))
        return [quantiles_of(found, self.levels)(found.counts) for found in self._found]

    @property
    def value(self) -> Number:
        """The quantiles."""
        return np.stack([_flat(values) for values in self._values])

    def _each(self, figure: Callable[[Fitted, Floats], Number]) -> Number:
        """Return a figure of every entry at every loss."""
        pairs = zip(self._found, self._values, strict=True)
        return np.stack(
            [_flat(np.broadcast_to(figure(found, values), values.shape)) for found, values in pairs]
        )

    @property
    def n(self) -> Number:
        """Rows behind each quantile."""
        return self._each(lambda found, _: np.maximum(found.sizes, 0.0)[..., None])

    @property
    def n_eff(self) -> Number:
        """Rows without noise whose ranks would be as near; of a selection not known."""
        if self.setting.clustered or self.selected is not None:
            return None
        return self._each(lambda found, values: rank_sizes(found, values, [float(q) for q in self.levels]))

    @property
    def raised(self) -> dict[str, Truth]:
        """Groups that are too small, and ranks that may be off by as many rows as there are."""
        return {
            "arm too small": self._each(lambda found, _: found.small[..., None]),
            **(self.selected.raised if self.selected is not None else self._unclear),
        }

    @property
    def _unclear(self) -> dict[str, Truth]:
        return {
            flag: self._each(lambda found, _, flag=flag: unclear(found, self.levels, self.most)[flag])  # type: ignore[misc]
            for flag in self.most
        }

    @property
    def no_population(self) -> str:
        """Rows of one person are alike."""
        return CLUSTERED if self.setting.clustered else ""

    def _interval(self, level: float, *, sampling: bool) -> Pair:
        """Return the values that the noise, and sampling, do not rule out."""
        kind = "confidence" if sampling else "privacy"
        found = [
            [remaining(one, float(q), level, kind, values[..., at]) for at, q in enumerate(self.levels)]
            for one, values in zip(self._found, self._values, strict=True)
        ]
        low, high = (
            np.stack([_flat(np.stack([pair[i] for pair in pairs], axis=-1)) for pairs in found])
            for i in (0, 1)
        )
        return low, high


def _at(part: SimulatedPart, place: int) -> Part:
    sources = (Source("", 1.0, part.laws[place]),) if part.laws else ()
    return Part(part.name, part.values[place], sources)


def _flat(values: Floats) -> Floats:
    """Levels side by side in each cell."""
    return np.asarray(values.reshape((*values.shape[:-2], -1)))

"""Several answers at once: intervals that hold all of them, and p-values for all that were tested. Free.

One interval in twenty misses at 95 %, so that of twenty answers one is expected to. *Simultaneous* intervals all hold at once in 95 % of
studies; *adjusted* p-values are below .05 for any true null in at most 5 %.

``bonferroni``
    Each answer at level :math:`1 - α/m`. Holds however the answers go together.
``holm``
    The same for p-values, step by step: never larger than Bonferroni's. It has no intervals.
``joint``
    Each answer at level :math:`1 - a`, with the largest :math:`a` at which draws of all errors together lie inside all intervals in
    :math:`1 - α` of them; the p-value of an answer is how often the smallest p-value of all is at most as small. For all pairs of groups this is
    Tukey's method, and for all groups against one Dunnett's. Answers of one release share its noise, which the draws know
    (:func:`dpnb.estimate.draws.joint`); it is never wider than Bonferroni's.

An interval of many answers is each one's own interval at a higher level, so that it knows the noise; where draws do not resolve that level,
this says so. Nothing here looks at a row.

References
----------
Holm (1979); Tukey, *The problem of multiple comparisons* (1953); Westfall & Young, *Resampling-based multiple testing* (1993), for the
smallest p-value; Šidák (1967), for independence as the worst case.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from dpnb.errors import OptionError, PlanError, Unavailable
from dpnb.estimate import draws
from dpnb.estimate.hypothesis import holm
from dpnb.estimate.table import Table, Tabular
from dpnb.inference.digits import given
from dpnb.inference.interval import KINDS, Kind

if TYPE_CHECKING:
    from dpnb.estimate.estimate import Estimate

Method = Literal["joint", "bonferroni", "holm"]
METHODS: tuple[Method, ...] = ("joint", "bonferroni", "holm")
MOST = 2_000
_NO_HOLM = 'Holm\'s method adjusts p-values and has no intervals. Use method="joint" or method="bonferroni".'


class Together(Tabular):
    """Several answers, and what is said of all of them at once; pending until they are released.

    Parameters
    ----------
    estimates : mapping of str to Estimate
        The answers by name; of a table of answers every entry counts.
    names : tuple of str, optional
        What to call the entries; by default the name of their answer and their keys.
    """

    def __init__(self, estimates: Mapping[str, Estimate], names: tuple[str, ...] | None = None) -> None:
        self.estimates = dict(estimates)
        self._names = names
        self._drawn: dict[Kind, np.ndarray] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The name of each entry."""
        return self._names or tuple(
            f"{name}{'[' + ', '.join(map(str, key)) + ']' if key else ''}"
            for name, estimate in self.estimates.items()
            for key in _entries(estimate)
        )

    @property
    def pending(self) -> bool:
        """Whether an answer is not released yet."""
        return any(estimate.pending for estimate in self.estimates.values())

    @property
    def value(self) -> np.ndarray:
        """All entries, one after the other."""
        return self._row([estimate.value for estimate in self.estimates.values()])

    def intervals(self, level: float = 0.95, *, kind: Kind | None = None, method: Method = "joint") -> Table:
        """Return intervals that hold all answers at once.

        Parameters
        ----------
        level : float
            How often all of them hold.
        kind : {"confidence", "privacy"}, optional
            About the population, or about this dataset. By default the first, if every answer has one.
        method : {"joint", "bonferroni"}
            How the errors go together: as they do, or in any way.

        Returns
        -------
        Table
            ``answer``, ``value``, ``low`` and ``high``.

        Raises
        ------
        Unavailable
            If an answer has no such interval, or none of so high a level.

        Examples
        --------
        >>> dpnb.together([by_region, effect]).intervals(0.95)  # doctest: +SKIP
        """
        _check(method, level)
        if method == "holm":
            raise OptionError(_NO_HOLM)
        chosen = self._kind(kind)
        alpha = self.alpha(level, kind=chosen, method=method)
        ends = [one.interval(1 - alpha, chosen) for one in self.estimates.values()]
        low, high = (self._row([one[end] for one in ends]) for end in (0, 1))
        how = "the joint law of their errors" if method == "joint" else "Bonferroni, whatever their joint law"
        said = f"{chosen} intervals that hold all {self.size} at once at {given(100 * level)} % ({how}); each alone: {_level(alpha)} %"
        columns = {
            "answer": self.names,
            "value": self.value.tolist(),
            "low": low.tolist(),
            "high": high.tolist(),
        }
        return Table(columns, ("answer",), said)

    def tests(self, null: ArrayLike = 0.0, *, kind: Kind | None = None, method: Method = "joint") -> Table:
        """Return the p-value of each answer, alone and adjusted for all that are tested.

        Parameters
        ----------
        null : float, or one for each entry
            The value under the null hypothesis.
        kind : {"confidence", "privacy"}, optional
            About the population, or about this dataset; as in :meth:`intervals`.
        method : {"joint", "bonferroni", "holm"}
            How p-values are adjusted.

        Returns
        -------
        Table
            ``answer``, ``value``, ``p``, ``adjusted``, and ``resolved``: where it is no, p is at most what is shown.

        Examples
        --------
        >>> dpnb.together([by_region, effect]).tests(0, method="holm")  # doctest: +SKIP
        """
        _check(method)
        chosen = self._kind(kind)
        nulls = np.broadcast_to(np.asarray(null, dtype=float), (self.size,))
        found, start = [], 0
        for one in self.estimates.values():
            part = nulls[start : start + one.size].reshape(one.shape)
            found.append(one.test(part, kind=chosen))
            start += one.size
        p = self._row([test.p_value for test in found])
        bounded = self._row([test.bounded for test in found]).astype(bool)
        adjusted = self._adjusted(p, chosen, method)
        columns = {
            "answer": self.names,
            "value": self.value.tolist(),
            "p": p.tolist(),
            "adjusted": adjusted.tolist(),
            "resolved": ["no" if one else "yes" for one in bounded],
        }
        said = f"two-sided {chosen} tests; adjusted for {self.size} together ({method})"
        if bounded.any():
            said += f"; where resolved is no, p is at most {given(float(p[bounded].max()))}"
        return Table(columns, ("answer",), said)

    def alpha(self, level: float = 0.95, *, kind: Kind = "confidence", method: Method = "joint") -> float:
        """Return one less the level at which each answer alone is shown so that all hold at ``level``.

        Raises
        ------
        Unavailable
            Where an answer's draws do not resolve it.
        """
        whole = 1 - level
        found = whole / self.size
        if method == "joint" and self.size > 1:
            smallest = self._smallest(kind)
            spare = math.sqrt(
                whole * (1 - whole) * smallest.size
            )  # draws are few: one standard error to spare
            place = max(math.floor(whole * smallest.size - spare) - 1, 0)
            found = float(np.clip(smallest[place], found, whole))
        for name, one in self.estimates.items():
            if found < draws.least_alpha(one):
                raise Unavailable(
                    f"All {self.size} at once need each at {_level(found)} %, and the draws behind {name} tell at most "
                    f"{_level(draws.least_alpha(one))} %. Take fewer answers together, or a lower level."
                )
        return found

    def table(self, level: float = 0.95) -> Table:
        """Return :meth:`intervals` of a level."""
        return self.intervals(level)

    @property
    def size(self) -> int:
        """The number of entries."""
        return sum(one.size for one in self.estimates.values())

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        if self.pending:
            return f"<pending: {self.size} answers together>"
        return repr(self.intervals())

    def _repr_html_(self) -> str:
        return (
            f"<p>{self.size} answers together, pending</p>"
            if self.pending
            else self.intervals()._repr_html_()
        )

    def _row(self, figures: Iterable[Any]) -> np.ndarray:
        return np.concatenate([np.ravel(np.asarray(one, dtype=float)) for one in figures])

    def _kind(self, kind: Kind | None) -> Kind:
        if kind is not None and kind not in KINDS:
            raise OptionError(f'kind= is "confidence" or "privacy", not {kind!r}.')
        if kind is not None:
            return kind
        usual = {one.interval(0.95).kind for one in self.estimates.values()}
        return "confidence" if usual == {"confidence"} else "privacy"

    def _ranks(self, kind: Kind) -> np.ndarray:
        """Return the two-sided p-value of each draw of each entry in its own law, shape ``(count, entries)``."""
        if kind not in self._drawn:
            try:
                found = draws.joint(list(self.estimates.values()), kind)
            except Unavailable as reason:
                raise Unavailable(f'{reason} Use method="bonferroni", which needs no draws.') from None
            self._drawn[kind] = _two_sided(found)
        return self._drawn[kind]

    def _smallest(self, kind: Kind) -> np.ndarray:
        """Return draws of the smallest p-value of all, sorted."""
        return np.sort(self._ranks(kind).min(axis=1))

    def _adjusted(self, p: np.ndarray, kind: Kind, method: Method) -> np.ndarray:
        if method == "holm":
            return holm(p)
        most = np.asarray(np.minimum(self.size * p, 1.0))
        if method == "bonferroni" or self.size == 1:
            return most
        smallest = self._smallest(kind)
        beyond = np.searchsorted(smallest, p, side="right")
        spare = np.sqrt(beyond * (1 - beyond / smallest.size))
        return np.asarray(np.clip((1 + beyond + spare) / (1 + smallest.size), p, most))


def _two_sided(found: np.ndarray) -> np.ndarray:
    """Return twice the smaller tail of each value in its column, ties included; 0 for undefined draws."""
    count = len(found)
    ordered = np.sort(found, axis=0)
    ranks = np.empty(found.shape)
    for place in range(found.shape[1]):
        column = ordered[:, place]
        below = np.searchsorted(column, found[:, place], side="right")
        above = count - np.searchsorted(column, found[:, place], side="left")
        ranks[:, place] = np.minimum(2 * np.minimum(below, above) / count, 1.0)
    return np.asarray(np.where(np.isnan(found), 0.0, ranks))


def _level(alpha: float) -> str:
    """Write one less alpha in percent, with two digits of alpha."""
    return given(round(100 * (1 - alpha), 1 - math.floor(math.log10(100 * alpha))))


def _check(method: object, level: object = 0.95) -> None:
    if method not in METHODS:
        raise OptionError(f"method= is one of {', '.join(map(repr, METHODS))}, not {method!r}.")
    if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
        raise OptionError(f"A level lies between 0 and 1, such as 0.95; not {level!r}.")


def _entries(estimate: Estimate) -> list[tuple[object, ...]]:
    """Return the key of each entry, as it is read: those of declared values, or places."""
    if not estimate.shape:
        return [()]
    axes: list[Iterable[object]] = [axis.keys for axis in estimate.axes]
    axes = axes or [range(size) for size in estimate.shape]
    return list(itertools.product(*axes))


def _name(answer: Any) -> str:
    return str(getattr(answer, "formula", "") or answer.text)


def together(answers: Mapping[str, Any] | Iterable[Any]) -> Together:
    """Take several answers together: intervals that hold all of them at once, and adjusted p-values. Free.

    Parameters
    ----------
    answers : list or dict of Estimate or Regression
        Of a table of answers, or a regression, every entry counts. A dict names them.

    Returns
    -------
    Together
        With ``intervals(level)`` and ``tests(null)``; pending while an answer is.

    Raises
    ------
    OptionError
        Without an answer, for what is none, or for more than 2,000 entries.

    Examples
    --------
    >>> dpnb.together([by_region, effect]).intervals(0.95)  # doctest: +SKIP
    """
    from dpnb.estimate.node import Node

    if isinstance(answers, Node | Tabular | str) or not isinstance(answers, Iterable):
        answers = [answers]
    listed: list[Any] = list(answers.values() if isinstance(answers, Mapping) else answers)
    found: list[Any] = [
        getattr(one, "coefficients", one) if isinstance(one, Tabular) and not isinstance(one, Node) else one
        for one in listed
    ]
    if not found or not all(isinstance(one, Node) for one in found):
        raise OptionError("dpnb.together takes answers: dpnb.together([first, second]).")
    names = [str(name) for name in answers] if isinstance(answers, Mapping) else list(map(_name, listed))
    named = {
        name if names.count(name) == 1 else f"{name} ({place})": one
        for place, (name, one) in enumerate(zip(names, found, strict=True), 1)
    }
    made = Together(named)
    if made.size > MOST:
        raise OptionError(f"{made.size:,} entries together are too many: at most {MOST:,}.")
    return made


def compare_groups(self: Estimate, *, to: object = None) -> Together:
    """Compare groups with each other: all differences of two, with intervals that hold all of them at once (Tukey). Free.

    Parameters
    ----------
    to : key, optional
        Compare with this group alone (Dunnett): fewer differences, and narrower intervals.

    Returns
    -------
    Together
        With ``intervals(level)`` and ``tests()``, one entry for each difference ``b − a``.

    Raises
    ------
    PlanError
        If these are not the answers of some groups.

    Examples
    --------
    >>> census.groupby("region").income.mean().compare_groups().intervals(0.95)  # doctest: +SKIP
    """
    if len(self.shape) != 1 or not self.axes or self.size < 2:
        raise PlanError(
            "compare_groups() takes the answers of two groups or more along one key: ds.groupby(…).x.mean().compare_groups()."
        )
    keys = self.axes[0].keys
    if to is not None and to not in keys:
        raise OptionError(f"to= is one of the groups: {', '.join(map(str, keys))}.")
    places = range(len(keys))
    first = keys.index(to) if to is not None else 0
    pairs = (
        list(itertools.combinations(places, 2)) if to is None else [(first, j) for j in places if j != first]
    )
    if len(pairs) > MOST:
        raise OptionError(
            f"{len(pairs):,} differences are too many: at most {MOST:,}. Compare with one group: compare_groups(to={keys[0]!r})."
        )
    left, right = (tuple(pair[end] for pair in pairs) for end in (0, 1))
    gaps = self._take((right,)) - self._take((left,))
    return Together({self.text: gaps}, tuple(f"{keys[j]} − {keys[i]}" for i, j in pairs))

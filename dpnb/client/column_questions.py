"""The questions that can be asked of a column: one method each, which builds a question and checks it where it is written.

A method returns a pending estimate; it asks nothing and spends nothing. What a statistic is, releases and costs is said in
``dpnb.statistics``; options that have their default leave no trace, so that the same question has one canonical form. A statistic that
needs no words of its own here is asked as its declaration says.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from fractions import Fraction
from inspect import Parameter, Signature
from typing import Any, Protocol, TypeVar

from dpnb.client.arguments import checked_calls
from dpnb.client.no_data import HoldsNoData
from dpnb.estimate import Estimate
from dpnb.planner.expression import Expr
from dpnb.statistics import STATISTICS, Statistic
from dpnb.statistics.pair_spread import TAILS
from dpnb.trusted.privacy.loss import rational

T = TypeVar("T")
_OF_TWO = ("pair", "weighted")


def with_statistics(kind: type[T]) -> type[T]:
    """Give a class of handles a method for each registered statistic of one column that has no words of its own there."""
    for statistic in STATISTICS:
        of_column = statistic.spelling.columns == "before" and statistic.target != "none"
        if of_column and not hasattr(kind, statistic.name):
            setattr(kind, statistic.name, typed(statistic))
    return kind


def typed(statistic: Statistic) -> Callable[..., Estimate]:
    """Return the method that asks a statistic as it declares: its second column or its arms first, then its options."""
    signature = _signature(statistic)

    def method(*args: Any, **kwargs: Any) -> Estimate:
        given = signature.bind(*args, **kwargs).arguments
        handle = given.pop("self")
        dataset, columns = handle._dataset, {}
        if statistic.target in _OF_TWO:
            columns["other"] = dataset.key(given.pop("other"))
        if statistic.arms:
            columns["by"] = (dataset.key(given.pop("by")),)
        asked = {
            name: value if isinstance(value, str) or not isinstance(value, Iterable) else tuple(value)
            for name, value in given.items()
        }
        options = unlike(**{name: (value, statistic.defaults[name]) for name, value in asked.items()})
        estimate: Estimate = dataset.ask(statistic.name, handle._expr, **columns, **options)
        return estimate

    method.__name__, method.__qualname__ = statistic.name, f"ColumnQuestions.{statistic.name}"
    method.__doc__ = f"Ask the {statistic.title}."
    method.__signature__ = signature  # type: ignore[attr-defined]
    return method


def _signature(statistic: Statistic) -> Signature:
    columns = ["other"] * (statistic.target in _OF_TWO) + ["by"] * statistic.arms
    bare, plain = statistic.spelling.bare, Parameter.POSITIONAL_OR_KEYWORD
    options = [
        Parameter(name, plain if name in bare else Parameter.KEYWORD_ONLY, default=statistic.defaults[name])
        for name in (*bare, *(name for name in statistic.defaults if name not in bare))
    ]
    return Signature([Parameter(name, plain) for name in ("self", *columns)] + options)


class Rows(Protocol):
    """The dataset, with the selection and the groups in which a column is asked."""

    def key(self, key: str | ColumnQuestions) -> Expr:
        """Return another column of these rows as an expression."""

    def ask(
        self,
        statistic: str,
        target: Expr | None,
        by: tuple[Expr, ...] = (),
        *,
        other: Expr | None = None,
        **options: Any,
    ) -> Estimate:
        """Check a question, and return its pending estimate."""


@checked_calls
@with_statistics
class ColumnQuestions(HoldsNoData):
    """The questions of a column handle, which gives its dataset and its expression."""

    __slots__ = ()

    _dataset: Rows
    _expr: Expr

    def _ask(self, statistic: str, **options: Any) -> Estimate:
        return self._dataset.ask(statistic, self._expr, **options)

    def sum(self, *, weights: str | ColumnQuestions | None = None, ci: bool = True) -> Estimate:
        """Ask the sum; with weights, the total of the population that the rows represent.

        Parameters
        ----------
        weights : str or column, optional
            How many people each row represents: a column that the owner declared with ``weights_fixed = true``.
        ci : bool
            With weights, buy the spread that a confidence interval needs.
        """
        options = unlike(ci=(ci, True))
        if weights is not None:
            return self._dataset.ask("weighted_sum", self._expr, other=self._dataset.key(weights), **options)
        return self._ask("sum", **options)

    def mean(
        self,
        *,
        ci: bool = True,
        spread: str = "bought",
        clamped: bool = False,
        about: int | None = None,
        weights: str | ColumnQuestions | None = None,
    ) -> Estimate:
        """Ask the mean; for a condition this is the proportion.

        Parameters
        ----------
        weights : str or column, optional
            The weight of each row: a column that the owner declared with ``weights_fixed = true``.
        ci : bool
            Buy the spread that a confidence interval needs.
        spread : {"bought", "bound"}
            ``"bound"`` uses the widest spread that the bounds allow: free, but wide.
        clamped : bool
            Also count rows at or beyond each bound, with a tenth of the loss: ``.held_share()`` of the answer is then free, and the
            card shows the shares. There is no interval for the mean without bounds: one value could be anywhere.
        about : int, optional
            If the number of rows is private: how many you expect, in all groups together. With more rows, less of the loss goes to
            their spread. It is rounded to a power of two and is part of the question; a wrong number makes intervals wider, never wrong.
        """
        options = unlike(
            ci=(ci, True),
            spread=(spread, "bought"),
            clamped=(clamped, False),
            about=(power_of_two(about), None),
        )
        if weights is not None:
            return self._dataset.ask("weighted_mean", self._expr, other=self._dataset.key(weights), **options)
        return self._ask("mean", **options)

    def robust_mean(self) -> Estimate:
        """Ask the mean if the declared bounds are very wide: first a private range, then the mean of the values moved into it.

        ``.bounds()``, the range, and ``.outside()``, the number of rows moved, are free. The intervals are for the mean
        of the moved values. For incomes, and other columns with a long tail, they seldom contain the plain mean, with or without a flag:
        declare bounds and ask ``.mean()``, or ask ``.median()``.
        """
        return self._ask("robust_mean")

    def variance(self, *, ci: bool = True, spread: str = "bought") -> Estimate:
        """Ask the variance.

        Parameters
        ----------
        ci : bool
            Buy the third and fourth moments that a confidence interval needs.
        spread : {"bought", "bound"}
            ``"bound"`` uses the largest fourth moment that the bounds allow: free, but wide.
        """
        return self._ask("variance", **unlike(ci=(ci, True), spread=(spread, "bought")))

    var = variance

    def std(self, *, ci: bool = True, spread: str = "bought") -> Estimate:
        """Ask the standard deviation; see :meth:`variance`."""
        return self._ask("std", **unlike(ci=(ci, True), spread=(spread, "bought")))

    def quantile(
        self, q: float | Iterable[float] = 0.5, *, ci: bool = False, about: int | None = None
    ) -> Estimate:
        """Ask one quantile, or several.

        Parameters
        ----------
        q : float or list of float
            Between 0 and 1.
        ci : bool
            Buy limits: from a tree of counts if that is forecast to be narrower (the plan shows it), otherwise by two further selections each.
            The point is selected beside the tree, or also read from it if rows and loss are small, as public facts decide.
        about : int, optional
            With ``ci=True``, if the number of rows is private: how many you expect, in all groups together; the default is 1,000. With many
            rows a part of the loss selects the point; with few, all of it buys the limits. It is rounded to a power of two and is part of
            the question; a wrong number makes the answer less accurate, never wrong.
        """
        asked = tuple(q) if isinstance(q, Iterable) else q
        return self._ask("quantile", q=asked, **unlike(ci=(ci, False), about=(power_of_two(about), None)))

    def median(self, *, ci: bool = False, about: int | None = None) -> Estimate:
        """Ask the median; see :meth:`quantile`."""
        return self.quantile(0.5, ci=ci, about=about)

    def histogram(self, bins: int | str | Iterable[Any] | None = None) -> Estimate:
        """Ask counts by bin: a number of equal bins, or public edges; for dates ``"day"``, ``"week"``, ``"month"`` or ``"year"``."""
        if bins is None:
            return self._ask("histogram")
        if isinstance(bins, Iterable) and not isinstance(bins, str):
            return self._ask("histogram", edges=tuple(bins))
        return self._ask("histogram", bins=bins)

    def density(
        self, bins: int | Iterable[float] | None = None, *, method: str = "histogram", **options: Any
    ) -> Estimate:
        """Ask a density by bin.

        Parameters
        ----------
        bins : int or list of float, optional
            A number of equal bins, or public edges; 10 bins by default.
        method : {"histogram", "perturbed", "ks"}
            ``"histogram"`` is unbiased; ``"perturbed"`` clips noised counts at zero and scales them to one; ``"ks"`` uses a
            small synthetic sample (:meth:`ks_density`, with the same options).
        """
        if method == "ks":
            return self._ask("ks_density", **unlike(cells=(bins, None)), **options)
        chosen = {"edges": tuple(bins)} if isinstance(bins, Iterable) else unlike(bins=(bins, None))
        return self._ask("density", **chosen, **unlike(method=(method, "histogram")), **options)

    def tree(self, levels: int | None = None) -> Estimate:
        """Ask counts on every level of a binary tree: any range, the distribution, quantiles and the mean can be read from it, free.

        Parameters
        ----------
        levels : int
            At most 2^levels leaves of equal width; 10 by default. Fewer levels need less noise, more levels are finer.

        Examples
        --------
        >>> t = hiv.age.tree()  # doctest: +SKIP
        >>> t.count(18, 30), t.share(18, 30), t.cdf([18, 30]), t.median(), t.density()  # doctest: +SKIP
        """
        return self._ask("tree", **unlike(levels=(levels, None)))

    def ks_density(self, *, points: int | None = None, cells: int | None = None) -> Estimate:
        """Ask a density from a small synthetic sample, drawn by the exponential mechanism of Wasserman and Zhou.

        Its readings are free: ``.cdf()``, ``.quantile(q)``, ``.median()`` and ``.sample()``.

        Parameters
        ----------
        points : int, optional
            The number of points. The default is as many as the loss can keep near the data, at most n to the power 2/3; 100 if the
            number of rows is private.
        cells : int, optional
            The number of equal public cells; by default n to the power 2/3, at most 256; 100 if the number of rows is private.
        """
        return self._ask("ks_density", **unlike(points=(points, None), cells=(cells, None)))

    def value_counts(self, *, normalize: bool = False) -> Estimate:
        """Ask how many rows have each declared value; with `normalize`, see :meth:`proportions`."""
        return self.proportions() if normalize else self._ask("value_counts")

    def frequent_values(self, *of: str | ColumnQuestions, delta: Any = Fraction(1, 10**8)) -> Estimate:
        """Ask which values many rows have, and how many rows: for texts without a declared list, or too many values to count each.

        With a number, ``shown = clinic.postcode.frequent_values("minutes")``, the same charge releases its sums and means for the values
        shown: ``shown.means()`` and ``shown.sums()``; with several numbers, ``shown.means("minutes")``. Rows in which one of the numbers is missing
        are then not counted. Ask for anything else afterwards, by filter or by groups of the values shown: ``clinic.groupby(clinic.postcode.among(shown)).minutes.median()``.

        Parameters
        ----------
        *of : str or column
            Up to four numbers whose sums and means are released for the values shown.
        delta : float or str
            The probability with which a value that only one person has may be shown; it is paid from the δ of the budget.
        """
        exact = rational(delta, name="delta")
        named = [self._dataset.key(one) for one in of]
        first = named[0] if named else None
        options = unlike(delta=(exact, Fraction(1, 10**8)))
        return self._dataset.ask(
            "frequent_values", self._expr, other=first, others=tuple(named[1:]), **options
        )

    def proportions(self, *, simultaneous: bool = False) -> Estimate:
        """Ask the shares of all declared values, computed from what :meth:`value_counts` releases.

        Parameters
        ----------
        simultaneous : bool
            Whether the level of the intervals is for all shares at once (Bonferroni) instead of for each share.
        """
        counts: Any = self._ask("value_counts")
        shares: Estimate = counts.proportions(simultaneous=simultaneous)
        return shares

    def crosstab(self, *others: str | ColumnQuestions) -> Estimate:
        """Ask how many rows have each combination of declared values of this column and others.

        Parameters
        ----------
        *others : str or column
            The further keys: categories, small integers or bins.
        """
        *more, last = (self._expr, *(self._dataset.key(other) for other in others))
        return self._dataset.ask("crosstab", last, by=tuple(more))

    def difference(self, by: str | ColumnQuestions, *, ci: bool = True, spread: str = "bought") -> Estimate:
        """Ask the mean of the rows in which `by` has its second declared value, minus the mean of those with the first."""
        options = unlike(ci=(ci, True), spread=(spread, "bought"))
        return self._dataset.ask("difference", self._expr, by=(self._dataset.key(by),), **options)

    def covariance(
        self,
        other: str | ColumnQuestions,
        *,
        method: str = "joint",
        tails: Any = TAILS,
        about: int | None = None,
    ) -> Estimate:
        """Ask the covariance (divisor n) with another column, over the rows in which neither is missing.

        Parameters
        ----------
        other : str or column
            The second number.
        method : {"joint", "separate"}
            ``"joint"`` protects five moments and the count as one vector; ``"separate"`` protects them as sums with equal parts of the
            loss, which needs more noise.
        tails : number, default 1.5
            How much more the products may vary than those of normal columns; it widens only the confidence interval. Correlated heavy
            tails, such as earnings in two years, need 6; 1,000 assumes hardly more than the bounds. Unless you set it, the variability of
            products is measured and paid for if rows times ε exceed 5,000.
        about : int, optional
            If the number of rows is private: how many you expect, in all groups together; the default is 2,000. It is rounded to a power of
            two and is part of the question; a wrong number makes intervals wider, never wrong.
        """
        options = unlike(tails=(tails, TAILS), about=(power_of_two(about), None))
        return self._ask_with("covariance", other, method, **options)

    cov = covariance

    def correlation(
        self, other: str | ColumnQuestions, *, method: str = "joint", tails: Any = TAILS
    ) -> Estimate:
        """Ask the Pearson correlation with another column; see :meth:`covariance`. With ``tails=1`` it has Fisher's interval."""
        return self._ask_with("correlation", other, method, **unlike(tails=(tails, TAILS)))

    corr = correlation

    def _ask_with(
        self, statistic: str, other: str | ColumnQuestions, method: str, **options: Any
    ) -> Estimate:
        second, options = self._dataset.key(other), {**unlike(method=(method, "joint")), **options}
        return self._dataset.ask(statistic, self._expr, other=second, **options)

    def mode(self) -> Estimate:
        """Ask the most frequent declared value.

        The answer shows a label or bin, also in ``.labels``. Arithmetic and comparisons use ``.value``, which is a
        number: for labels or bins the position in the declaration, from 0.
        """
        return self._ask("mode")

    def top_k(self, k: int = 3) -> Estimate:
        """Ask the `k` most frequent declared values, best first; see :meth:`mode`."""
        return self._ask("top_k", k=k)


def power_of_two(about: Any) -> Any:
    """Return the power of two next to a number of rows; what is none is refused where options are checked."""
    if isinstance(about, bool) or not isinstance(about, int | float) or not 1 <= about < 2**39:
        return about
    return 2 ** round(math.log2(about))


def unlike(**pairs: tuple[Any, Any]) -> dict[str, Any]:
    """Keep the options that differ from their defaults: the same question has one canonical form."""
    return {name: value for name, (value, default) in pairs.items() if value != default}

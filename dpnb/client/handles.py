"""A protected dataset, as an analyst holds it: its public schema, its budget, and the questions it can be asked.

``ds["x"]`` is always the column; ``ds.x`` is the column where no method has that name. A filter or a grouping gives another
handle on the same dataset. No handle holds a row, a count or a file's content.
"""

from __future__ import annotations

import json
import weakref
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

from dpnb.client.arguments import checked_calls
from dpnb.client.column_questions import ColumnQuestions
from dpnb.client.columns import ColumnHandle, NoColumn, asked, column_of, levels_of, needed_columns
from dpnb.client.no_data import HoldsNoData
from dpnb.client.suggestions import for_dataset
from dpnb.errors import HandleError, OptionError, PlanError, SchemaError
from dpnb.estimate import Estimate, Rehearsal, open_batch, provide_views
from dpnb.estimate.host import Views
from dpnb.planner.compile import condition
from dpnb.planner.expression import BoolOp, Const, Expr, PerUnit, Ref, cap_of, show, typed
from dpnb.planner.question import Question
from dpnb.planner.schema_words import cap_words, mode_badge
from dpnb.statistics.declared_coefficients import Bounds, Priors, refuse_weights, ridge_prior
from dpnb.statistics.formula import parse
from dpnb.statistics.formula_terms import spelling
from dpnb.statistics.robust_errors import CLASSICAL, ROBUST, in_ball, is_robust
from dpnb.teach.public_rows import PublicRows
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.loss import PrivacyLoss, brief
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.schema import Mode, Schema

if TYPE_CHECKING:
    from dpnb.client.session import Session
    from dpnb.estimate.regression_summary import Regression
    from dpnb.synthetic.design import Bins, Relations
    from dpnb.synthetic.synthetic import Synthetic


@dataclass(frozen=True, slots=True)
class Opened:
    """What an attach returned: the handle's id, the public schema, the data version, the mode and the notes."""

    handle: str
    schema: Schema
    data_version: str
    mode: Mode
    notes: tuple[str, ...]


def _views() -> Views:
    from dpnb.cards import views

    return views()


provide_views(_views)


@dataclass(frozen=True, slots=True)
class BudgetState:
    """One consistent reading of a budget.

    Parameters
    ----------
    budget : Budget
        As the owner wrote it, and its cap.
    cap : PrivacyLoss
        Of the caps that hold for you, the one of which the least is left: the promise, your own, or one that a service's owner sets.
    whose : str
        Whose cap that is; empty for the dataset's budget, which everybody shares.
    spent, left : PrivacyLoss
        What was charged under this cap, and what you may still spend.
    personal : PrivacyLoss or None
        Your own cap.
    mine : PrivacyLoss
        What was charged to you.
    """

    budget: Budget
    cap: PrivacyLoss
    whose: str
    spent: PrivacyLoss
    left: PrivacyLoss
    personal: PrivacyLoss | None
    mine: PrivacyLoss


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Remaining(PrivacyLoss):
    """What is left of a cap: a loss that is shown with it, ``ε 3.4 of 4``.

    Parameters
    ----------
    cap : PrivacyLoss
    """

    cap: PrivacyLoss = field(kw_only=True)

    @classmethod
    def of(cls, now: BudgetState) -> Remaining:
        """Return what a reading says is left."""
        return cls(now.left.measure, now.left.amount, now.left.delta, cap=now.cap)

    def __str__(self) -> str:
        cap = self.cap if self.cap.delta else brief(self.cap.amount)
        return f"{self.brief('down')} of {cap}"

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PrivacyLoss) and self.to_json() == other.to_json()

    def __hash__(self) -> int:
        return hash(PrivacyLoss(self.measure, self.amount, self.delta))


@dataclass(frozen=True, slots=True)
class BudgetView:
    """A dataset's budget, read from the ledger at each access."""

    _session: Session
    _handle: str

    @property
    def cap(self) -> PrivacyLoss:
        """The promise, or of the caps on you, your group or your token the one of which less is left."""
        return self.state().cap

    @property
    def spent(self) -> PrivacyLoss:
        """What has been charged under this cap."""
        return self.state().spent

    @property
    def remaining(self) -> Remaining:
        """What is left to you of every cap that holds."""
        return Remaining.of(self.state())

    left = remaining

    @property
    def label(self) -> str:
        """The budget as its owner wrote it."""
        return self.state().budget.label

    def state(self) -> BudgetState:
        """Return one consistent reading."""
        return self._session.budget_state(self._handle)

    def __repr__(self) -> str:
        now = self.state()
        return (
            f"<budget: {now.spent} spent, {now.left.brief('down')} left of {now.cap}{cap_words(now.whose)}>"
        )


@checked_calls
class Dataset(HoldsNoData):
    """A protected dataset, or a selection of its rows or groups. It contains no data.

    Parameters
    ----------
    session : Session
    opened : Opened
        What the curator returned when the dataset was opened.
    where : Expr, optional
        The rows selected.
    by : tuple of Expr
        The group keys.
    root : Dataset, optional
        The whole dataset, if this is a part of it.
    kept : tuple of str
        The columns that ``ds[["x", "y"]]`` names; empty for all.
    """

    __slots__ = ("__weakref__", "_by", "_kept", "_moments", "_opened", "_root", "_session", "_where")

    def __init__(
        self,
        session: Session,
        opened: Opened,
        where: Expr | None = None,
        by: tuple[Expr, ...] = (),
        root: Dataset | None = None,
        kept: tuple[str, ...] = (),
    ) -> None:
        self._kept = kept
        self._session = session
        self._opened = opened
        self._root = self if root is None else root
        self._where = where
        self._by = by
        self._moments: list[weakref.ref[Estimate]] = []

    # what it is ------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The dataset's name."""
        return self._opened.schema.name

    @property
    def schema(self) -> Schema:
        """The public schema."""
        return self._opened.schema

    @property
    def mode(self) -> Mode:
        """``TEACHING``, ``GUARD_RAIL`` or ``ENFORCED``."""
        return self._opened.mode

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks on its card, besides the mode."""
        return self._opened.notes

    @property
    def handle(self) -> str:
        """The opaque id by which the curator knows it."""
        return self._opened.handle

    @property
    def data_version(self) -> str:
        """The random id of this version of the data."""
        return self._opened.data_version

    @property
    def session(self) -> Session:
        """The session that opened it."""
        return self._session

    @property
    def budget(self) -> BudgetView:
        """What is spent and what remains, read from the ledger at each access."""
        return BudgetView(self._session, self._opened.handle)

    def __repr__(self) -> str:
        held = "public or made-up data" if self.mode is Mode.TEACHING else "protected, holds no data"
        return f"<{self._spoken()}: {self.schema.title or self.name}, {mode_badge(self.mode)}; {held}>"

    def _spoken(self) -> str:
        cap, where = cap_of(self._where)
        own = typed(self.name)
        text = own if cap is None else f"{own}.{show(cap, self.name)}"
        if where is not None:
            text += f"[{show(where, self.name)}]"
        if self._by:
            keys = ", ".join(
                json.dumps(k.column, ensure_ascii=False) if isinstance(k, Ref) else show(k, self.name)
                for k in self._by
            )
            text += f".groupby({keys})"
        return text + (f"[{json.dumps(self._kept, ensure_ascii=False)}]" if self._kept else "")

    def _instead(self) -> str:
        column = next((c.name for c in self.schema.columns if c.numeric and c.name.isidentifier()), "x")
        return f"Ask a question: {self.name}.{column}.mean(), {self.name}.count(), {self.name}.groupby(...).count()."

    # columns, rows and groups ----------------------------------------------------------------------------------

    def __getitem__(self, key: object) -> Any:
        """``ds["x"]`` is the column, ``ds[condition]`` the rows where it holds, ``ds[["x", "y"]]`` two columns to ask together."""
        if isinstance(key, str):
            return ColumnHandle(self, self._ref(key))
        if isinstance(key, ColumnHandle):
            return self._selected(key)
        if isinstance(key, list | tuple):
            return self._narrowed(key)
        return self._refuse("indexed by a position")

    def _narrowed(self, names: Sequence[object]) -> Dataset:
        """Return the dataset with its questions about all columns asked of these alone."""
        if not names or isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
            written = json.dumps([name for name in names if isinstance(name, str)] or ["x", "y"])
            raise HandleError(f"Several columns are named in a list: {self._spoken()}[{written}].corr().")
        kept = tuple(dict.fromkeys(self._ref(str(name)).column for name in names))
        return type(self)(self._session, self._opened, self._where, self._by, self._root, kept)

    def __getattr__(self, name: str) -> ColumnHandle:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return ColumnHandle(self, self._ref(name))
        except SchemaError as error:
            raise NoColumn(for_dataset(name, self._spoken()) or error.message) from None

    def _ref(self, name: str) -> Ref:
        """Return a declared column; of the one that says whose rows they are say how to count units."""
        if name == self.schema.unit_column and name not in self.schema:
            count = f"{typed(self.name)}.per_unit(1).count()"
            raise SchemaError(
                f"{name} identifies the unit of each row, so it cannot be asked about. To count units: {count}"
            )
        return Ref(self.schema[name].name)

    def __dir__(self) -> list[str]:
        return sorted({*object.__dir__(self), *(name for name in self.schema.names if name.isidentifier())})

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.schema.names)

    def _selected(self, kept: ColumnHandle) -> Dataset:
        if not kept.is_condition and not isinstance(kept.expression, Ref):
            raise PlanError(f"{kept._spoken()} is not a condition. Write for example {self.name}[x > 1].")
        asked_of = kept.dataset
        if asked_of.handle != self.handle or asked_of._by or asked_of._where not in {None, self._where}:
            raise PlanError("This condition was written for other rows. Write it on the dataset itself.")
        return self._holding(kept)

    def groupby(self, *keys: str | ColumnHandle | Sequence[str | ColumnHandle]) -> Dataset:
        """Return the dataset, grouped by declared keys: columns, small integers or bins."""
        listed: list[Any] = [
            key for given in keys for key in (given if isinstance(given, list | tuple) else [given])
        ]
        if not listed:
            raise PlanError(f"groupby needs a column: {self.name}.groupby({self.schema.names[0]!r}).")
        return self._part(self._where, (*self._by, *(self.key(key) for key in listed)))

    def per_unit(self, rows: int) -> Dataset:
        """Return the dataset with at most this many rows of each person: fewer rows, and less noise for the same loss.

        Parameters
        ----------
        rows : int
            1 to the ``max_rows_per_unit`` that the owner declared. A secret hash selects the rows, once for
            all questions: the rows of a smaller number are among those of a larger one.

        Raises
        ------
        PlanError
            For any other number. Nothing is spent.

        Examples
        --------
        >>> visits.per_unit(1).minutes.mean()  # doctest: +SKIP
        """
        most = self.schema.unit.max_rows
        if rows == most == 1:
            return self
        cap = PerUnit(Const(rows))
        condition(cap, self.schema)
        before, where = cap_of(self._where)
        if before is not None and before.most < rows:
            cap = before
        if cap.most == most:
            return self
        return self._part(cap if where is None else BoolOp("and", cap, where), self._by)

    def _holding(self, kept: ColumnHandle) -> Dataset:
        """Return the rows and groups of this where a condition on its own rows holds."""
        where = kept.expression
        return self._part(where if self._where is None else BoolOp("and", self._where, where), self._by)

    def _part(self, where: Expr | None, by: tuple[Expr, ...]) -> Dataset:
        return type(self)(self._session, self._opened, where, by, self._root, self._kept)

    @property
    def root(self) -> Dataset:
        """The whole dataset."""
        return self._root

    def key(self, key: str | ColumnQuestions) -> Expr:
        """Return a group key as an expression."""
        if isinstance(key, ColumnHandle):
            self.same_rows(key.dataset)
            return key.expression
        if not isinstance(key, str):
            raise PlanError(f"A group key is a column or its name, not {type(key).__name__}.")
        return self._ref(key)

    def same_rows(self, other: Dataset) -> None:
        """Refuse to mix columns of different datasets or selections."""
        if other.handle != self.handle:
            raise PlanError(
                f"{self.name} and {other.name} are different datasets: their rows cannot be combined."
            )
        if other._where not in {None, self._where}:
            raise PlanError(
                f"{other._spoken()} is another selection of rows. Build the expression first, then filter."
            )

    # questions -------------------------------------------------------------------------------------------------

    def count(self) -> Estimate:
        """Ask how many rows there are."""
        return self.ask("count", None)

    def crosstab(self, *keys: str | ColumnHandle) -> Estimate:
        """Ask how many rows have each combination of declared values of two or more columns.

        Parameters
        ----------
        *keys : str or column
            Categories, small integers or bins.
        """
        if not keys:
            raise PlanError(f'crosstab needs two columns: {self.name}.crosstab("…", "…").')
        *more, last = (self.key(key) for key in keys)
        return self.ask("crosstab", last, by=tuple(more))

    def choose(self, candidates: Mapping[str, ColumnHandle]) -> Estimate:
        """Ask which of several public candidates has the largest total: the rows of a condition, or the sum of a number.

        The answer shows the candidate's label, also in ``.labels``. Arithmetic and comparisons use ``.value``, its position
        (from 0, in the order of the labels).

        Parameters
        ----------
        candidates : mapping of str to column
            Labels (numbers become text) and conditions or numbers. Rows in which one of them is missing do not count.

        Examples
        --------
        >>> hiv.choose({"young": hiv.age < 30, "old": hiv.age > 60})  # doctest: +SKIP
        """
        if len(candidates) < 2:
            raise PlanError(
                f'choose takes two labelled candidates at least: {self.name}.choose({{"a": …, "b": …}}).'
            )
        named = {str(label): candidate for label, candidate in candidates.items()}
        if len(named) < len(candidates):
            raise OptionError("Two of these labels read the same. Give each candidate a label of its own.")
        labels = tuple(sorted(named))
        first, *others = (self.key(named[label]) for label in labels)
        return self.ask("choose", first, others=tuple(others), labels=labels)

    @property
    def columns(self) -> tuple[str, ...]:
        """The names of the declared columns, or of those that were selected."""
        return self._kept or self.schema.names

    def corr(self) -> Estimate:
        """Ask the correlation matrix of some columns, from their moments: ``ds[["x", "y"]].corr()``."""
        found: Estimate = self._together("corr").correlation()
        return found

    def cov(self) -> Estimate:
        """Ask the covariance matrix of some columns, from their moments: ``ds[["x", "y"]].cov()``."""
        found: Estimate = self._together("cov").covariance()
        return found

    def _together(self, asked: str) -> Any:
        if len(self._kept) < 2:
            names = [one.name for one in self.schema.columns if one.numeric][:2]
            raise OptionError(
                f"Name at least two columns; more of them cost more: {self.name}[{json.dumps(names or ['x', 'y'])}].{asked}()."
            )
        return self.moments(*self._kept)

    def synthetic(
        self,
        *columns: str | ColumnHandle,
        bins: Bins | None = None,
        relations: Relations = "all",
        tables: int = 20,
        rows: int | None = None,
    ) -> Synthetic:
        """Ask synthetic rows from which inference is valid: one noised two-way table for each pair of columns, and everything else free.

        Parameters
        ----------
        *columns : str or column
            Two to 20: categories, numbers or dates. Rows where one of them is missing do not count.
        bins : mapping of str to int or list, optional
            Of a number how many equal bins (6 by default), or edges over its whole range, none wider than a quarter of it; of dates their edges.
        relations : "all" or list of (str, str)
            The pairs that are measured. An analysis is supported if every pair among its columns was: fewer pairs are less noisy.
        tables : int
            How many tables of rows are drawn; their differences carry the noise into intervals.
        rows : int, optional
            The rows of each; by default twice those of the data, as public or released.

        Returns
        -------
        Synthetic
            Pending; then with ``frames()``, ``combine(f)``, ``mean``, ``share``, ``difference``, ``ols``, ``logistic`` and ``supports``.

        Raises
        ------
        PlanError, OptionError
            For columns that cannot be measured so. At the release also where noise would leave no interval. Nothing is spent.

        Examples
        --------
        >>> data = hiv.synthetic("got", "any", "age")  # doctest: +SKIP
        """
        from dpnb.client.synthetic_plan import synthetic

        return synthetic(self, columns, bins, relations, tables, rows)

    def agg(self, figures: Mapping[str, str | Iterable[str]] | Iterable[str] | str) -> dict[str, Estimate]:
        """Ask several statistics of several columns at once, over all rows or by groups.

        Parameters
        ----------
        figures : mapping of str to str or iterable of str, or names
            For each column the names of its statistics; names without columns are asked of every column of numbers.

        Returns
        -------
        dict of str to Estimate
            Pending; ``age_mean`` and so on.

        Examples
        --------
        >>> asked = hiv.agg({"age": ["mean", "std"], "got": "mean"})  # doctest: +SKIP
        """
        several = isinstance(figures, list | tuple) and all(isinstance(one, str) for one in figures)
        if figures and (several or isinstance(figures, str)):
            figures = {name: figures for name in self._figured() if self._kept or self.schema[name].numeric}
        if not isinstance(figures, Mapping) or not figures:
            raise OptionError(
                'Say which figures of which columns: .agg({"age": ["mean", "std"], "pay": "mean"}), '
                'or figures of every column of numbers: .agg(["mean", "std"]).'
            )
        return {
            f"{column}_{name}": estimate
            for column, names in figures.items()
            for name, estimate in self[column].agg(names).items()
        }

    def _figured(self) -> list[str]:
        """The columns that the rows are not grouped by."""
        keys = {key.column for key in self._by if isinstance(key, Ref)}
        return [name for name in self.columns if name not in keys]

    def describe(self) -> dict[str, Estimate]:
        """Ask for a description of each column: mean, standard deviation and quartiles of numbers, counts of categories.

        Each is a question with its own price: ``%%dp plan`` shows what they cost together and how accurate each would be.

        Returns
        -------
        dict of str to Estimate
            Pending; ``age_mean``, ``age_std``, ``age_quartiles``, ``got_value_counts`` and so on.
        """
        return {
            f"{name}_{asked}": estimate
            for name in self._figured()
            for asked, estimate in self[name].describe().items()
        }

    def pivot_table(
        self,
        values: str,
        index: str | Sequence[str],
        columns: str | Sequence[str] | None = None,
        aggfunc: str = "mean",
    ) -> Estimate:
        """Ask one statistic of a column for each combination of groups; after the release ``.table().wide()`` shows it as a table.

        Parameters
        ----------
        values : str
            The column.
        index, columns : str or sequence of str
            The columns to group by.
        aggfunc : str
            The name of the statistic.

        Examples
        --------
        >>> hiv.pivot_table("got", index="any", columns="hiv2004")  # doctest: +SKIP
        """
        keys = [
            key for given in (index, columns) for key in ([given] if isinstance(given, str) else given or ())
        ]
        if not keys:
            raise OptionError(
                'Say what to group by: .pivot_table(values="pay", index="sex", columns="region").'
            )
        asked: Estimate
        (asked,) = self.groupby(*keys)[values].agg(aggfunc).values()
        return asked

    def moments(
        self, *columns: str | ColumnHandle, radius: float | None = None, products: bool = False
    ) -> Estimate:
        """Ask the cross moments of some columns. They are paid once, and every mean, covariance and regression from them is free.

        Parameters
        ----------
        *columns : str or column
            Numbers or conditions. The answer has them in this order; in another order they are
            another question, with noise and a price of its own. A column that is named twice counts once.
        radius : float, optional
            Move rows that are farther than this from the middle towards it, with each column in units of half its range: less noise, but
            a bias if many rows are outside.
        products : bool
            With a radius, also sum every product of three and four of the moved columns, which ``cov_type="HC1"`` needs.

        Examples
        --------
        >>> zz = hiv.moments("got", "age", "any")  # doctest: +SKIP
        >>> zz.ols("got ~ age + any").summary()  # doctest: +SKIP
        """
        if not columns:
            raise PlanError(f'moments needs columns: {self.name}.moments("…", "…").')
        first, *others = dict.fromkeys(self.key(column) for column in columns)
        return self._noted(
            self.ask("moments", first, others=tuple(others), **dict(_ball(radius, products=products)))
        )

    def ols(
        self,
        formula: str,
        *,
        radius: float | None = None,
        bounds: Bounds | None = None,
        prior: Priors | None = None,
        cov_type: str = CLASSICAL,
        ridge: float | None = None,
        weights: object = None,
    ) -> Regression:
        """Ask the moments of a formula's columns, and fit a least-squares regression to them.

        If you hold released moments of these columns, over the same rows, the regression is computed from them at once, free. If you release
        it, those moments are asked again: free from the store, or again with more ε or ``fresh``. Pending
        moments of exactly these columns are used when they are released. Otherwise the moments of these columns are asked, in the
        order of the schema, and paid; any other regression on the same columns is then free.

        Parameters
        ----------
        formula : str
            For example ``"y ~ x1 + x2"``. A term is a column or an expression of columns: ``x1**2``, ``x2 == 1``, ``x1:x2`` for
            the product, ``x1*x2`` for both and their product, ``C(x2)`` for a 0/1 column for each declared level but the first.
            ``- 1`` removes the intercept. A name that is not one word stands in backticks: ``"Age ~ C(`Saving accounts`)"``.
        radius : float, optional
            See :meth:`moments`.
        bounds : mapping of str to (float, float), optional
            Ranges of coefficients that are known from outside the data: ``bounds={"x1": (0, 5)}``. Intervals are cut
            to them, and say so.
        prior : mapping of str to (float, float), optional
            Mean and standard deviation of a normal prior for coefficients, from outside the data: ``prior={"x1": (2, 1)}``. Intervals
            use it too, and say so.
        cov_type : {"nonrobust", "HC1"}
            ``"HC1"`` gives standard errors that are valid under unequal variances. They also need the products of every two columns, in
            the same matrix: 2 columns of a regression on one term become 5, and 5 columns with four terms become 20. With a radius, all
            products of four of the moved columns are bought instead (126 with four terms), unless the forecast is less noisy without the
            radius: rows then stay where they are. The plan shows the price.
        ridge : float, optional
            A ridge is a prior: every slope has a normal law about 0 with this standard deviation, in its own unit.
        weights : None
            Refused, with what to ask instead.

        Examples
        --------
        >>> fit = hiv.ols("got ~ age + age**2 + any")  # doctest: +SKIP
        >>> fit["any"]  # doctest: +SKIP
        """
        refuse_weights(weights)
        asked, robust = parse(formula, levels_of(self.schema)), is_robust(cov_type)
        prior = ridge_prior(ridge, asked, prior)
        pure = self.schema.budget.measure is Measure.PURE
        four = robust and in_ball(asked, radius, "epsilon" if pure else "rho")
        columns, radius = asked.columns, radius if four or not robust else None
        if robust and not four:
            columns = needed_columns(self, asked)
        moments: Any = self._covering(columns, _ball(radius, products=four))
        if moments is None:
            declared = {name: place for place, name in enumerate(self.schema.names)}
            ordered = sorted(columns, key=lambda term: (declared.get(term, len(declared)), spelling(term)))
            moments = self.moments(*(column_of(self, term) for term in ordered), radius=radius, products=four)
        options: dict[str, Any] = {} if bounds is None else {"bounds": bounds}
        options |= {} if prior is None else {"prior": prior}
        fit: Regression = moments.ols(asked.text, **options, **({"cov_type": ROBUST} if robust else {}))
        return fit

    def classify(self, formula: str, method: str = "auto", *, epsilon: object = None) -> Any:
        """Ask what a classifier needs, and return it: pending until its cell is released, then fitted.

        Parameters
        ----------
        formula : str
            For example ``"married ~ age + educ"``; a response of many values is a condition, ``"(income > 50000) ~ age + educ"``.
        method : {"auto", "naive-bayes", "gaussian", "tree", "forest", "logistic", "discriminant"}
            ``"auto"`` is naive Bayes while rows times ε are below 80,000, then a tree, and its card says so.
        epsilon : number, optional
            What it may cost. Without it, it shares what its cell offers.

        Returns
        -------
        dpnb.models.CategoricalNB or another classifier

        Examples
        --------
        >>> model = people.classify("married ~ age + educ")  # doctest: +SKIP
        >>> model.predict_proba(frame)  # doctest: +SKIP
        """
        return import_module("dpnb.models").classify(self, formula, method, epsilon=epsilon)

    def _covering(self, columns: tuple[str, ...], ball: tuple[tuple[str, Any], ...]) -> Estimate | None:
        """Return moments of these rows: the narrowest that are held and cover the columns, asked again, or pending of just them."""
        wanted = Question(self.name, "moments", None, self._where, self._by, ball)
        found = []
        for held in (reference() for reference in (*self._root._moments, *_rehearsed())):
            if held is None or held.measurement is None:
                continue
            bare = replace(held.measurement.question, target=None, others=())
            if bare != wanted:
                continue
            names = held.measurement.checked.setting.terms
            asked, known = {spelling(one) for one in columns}, set(names)
            exact, covers = asked == known, asked <= known
            if exact if held.pending else covers:
                found.append((held.pending, len(names), -_paid(held), held))
        if not found:
            return None
        pending, _, _, best = min(found, key=lambda one: one[:3])
        return best if pending else self._again(best)

    def _again(self, held: Estimate) -> Estimate:
        """Return the question of a released answer asked again, which can be read as that answer until it is released itself."""
        assert held.measurement is not None
        again = self._root._asked(held.measurement.question)
        if again.measurement is not None:
            again.measurement.borrow(held.measurement)
        return self._noted(again)

    def _noted(self, moments: Estimate) -> Estimate:
        """Remember moments weakly, for regressions that they cover: those of a rehearsal in it alone."""
        kept = _rehearsed() if isinstance(open_batch(), Rehearsal) else self._root._moments
        kept.append(weakref.ref(moments))
        return moments

    def ask(
        self,
        statistic: str,
        target: Expr | None,
        by: tuple[Expr, ...] = (),
        *,
        other: Expr | None = None,
        others: tuple[Expr, ...] = (),
        **options: Any,
    ) -> Estimate:
        """Check a question on the line that asks it, and return its pending estimate."""
        question = Question(
            self.name, statistic, target, self._where, (*self._by, *by), tuple(options.items()), other, others
        )
        return self._root._asked(question)

    def _asked(self, question: Question) -> Estimate:
        """Return the estimate of a question of this whole dataset: pending here, and there already where answers were published."""
        return asked(self, question)


@checked_calls
class TeachingDataset(Dataset):
    """Public or synthetic data, perhaps with a selection of rows and groups: the kernel reads its rows too, to show the truth.

    No handle on protected data has them: what would be read is not there.
    """

    __slots__ = ("_public_rows",)
    _public_rows: PublicRows

    @classmethod
    def with_rows(cls, session: Session, opened: Opened, rows: PublicRows) -> TeachingDataset:
        """Return a handle on a whole dataset; its parts find the rows through it."""
        made = cls(session, opened)
        made._public_rows = rows
        return made

    @property
    def public_rows(self) -> PublicRows:
        """The rows, as the kernel reads them: truth, other draws and laws are computed from them."""
        return cast("TeachingDataset", self.root)._public_rows


def _ball(radius: float | None, *, products: bool) -> tuple[tuple[str, Any], ...]:
    found: tuple[tuple[str, Any], ...] = () if radius is None else (("radius", radius),)
    return (*found, ("products", True)) if products else found


def _rehearsed() -> list[weakref.ref[Estimate]]:
    """Return the moments asked in the rehearsal that is open here, which no running cell may find; of another batch none."""
    here = open_batch()
    return _REHEARSED.setdefault(here, []) if isinstance(here, Rehearsal) else []


_REHEARSED: weakref.WeakKeyDictionary[Rehearsal, list[weakref.ref[Estimate]]] = weakref.WeakKeyDictionary()


def _paid(held: Estimate) -> Fraction:
    """What was paid for an answer that is held, which orders two of the same question; nothing for a pending one."""
    measurement = held.measurement
    answer = None if measurement is None else measurement.held or measurement
    return (
        sum((one.loss.amount for one in answer.releases), Fraction(0))
        if answer and answer.answered
        else Fraction(0)
    )

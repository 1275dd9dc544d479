"""The object that an analyst holds, before and after the release: an immutable expression over measurements.

An :class:`Estimate` is a leaf (one measurement) or a node (an operation on estimates and constants). Arithmetic on
estimates is free and carries its uncertainty. While a leaf is pending, whatever needs a value raises an error that
says what to type; when its measurement is filled, every alias sees the value. It refuses numpy functions that would
drop the uncertainty silently. What may never change: hash and identity, before and after.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from dpnb.errors import OptionError, PlanError, Unavailable
from dpnb.estimate import draws, refusals, wording
from dpnb.estimate.arithmetic import Arithmetic, operand
from dpnb.estimate.batch import open_batch
from dpnb.estimate.evaluate import Operand, is_node, plain
from dpnb.estimate.group_tests import anova
from dpnb.estimate.host import Views, current_host, provided_views, views
from dpnb.estimate.hypothesis import HypothesisTest, z_test
from dpnb.estimate.logistic_regression import logistic
from dpnb.estimate.node import Node
from dpnb.estimate.operations import Take
from dpnb.estimate.pending_question import Amount, Origin, PendingQuestion, distinct, paid_for, unpicklable
from dpnb.estimate.posterior import posterior, shrink
from dpnb.estimate.reading import readable
from dpnb.estimate.regression_summary import ols
from dpnb.estimate.table import Table, Tabular, table_of
from dpnb.estimate.table_tests import goodness_of_fit_test, homogeneity_test, independence_test
from dpnb.estimate.teaching import Taught
from dpnb.estimate.together import compare_groups
from dpnb.inference.elementwise import Number, Truth
from dpnb.inference.interval import KINDS, Interval, Kind, plain_number
from dpnb.planner.check import CheckedQuestion
from dpnb.planner.question import Question
from dpnb.statistics._base import Axis
from dpnb.statistics.result import Result
from dpnb.trusted.canonical import Record
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.releases import Release

if TYPE_CHECKING:
    from matplotlib.axes import Axes

T = TypeVar("T")


class Estimate(Arithmetic, Taught, Tabular):
    """A number that is or will be released. Use it in ordinary Python.

    Leaves are made by :func:`ask`; every other estimate comes from arithmetic.
    """

    __slots__ = ()

    _OTHER_READINGS: ClassVar[Mapping[str, Callable[..., Any]]] = {
        "ols": ols,
        "logistic": logistic,
        "independence_test": independence_test,
        "goodness_of_fit_test": goodness_of_fit_test,
        "homogeneity_test": homogeneity_test,
    }
    """Readings that make something else than an estimate, which a statistic lists by name alone."""

    # ---------------------------------------------------------------- what it is worth

    def interval(self, level: object = 0.95, kind: Kind | None = None) -> Interval:
        """The interval of a level and kind; for a vector, one for each component.

        Parameters
        ----------
        level : float
            Coverage, between 0 and 1.
        kind : {"confidence", "privacy"}, optional
            *confidence*: what sampling and noise hide about the population. *privacy*: what the noise hides about
            this dataset. The default is the confidence interval if there is one, otherwise the privacy interval.

        Returns
        -------
        Interval
            Unpacks as ``low, high``; its ``kind`` says which it is.

        Raises
        ------
        PendingError
            Before the release.
        Unavailable
            If the releases cannot support it; the message gives the reason.
        """
        if kind is not None and kind not in KINDS:
            raise refusals.no_interval(self, kind)
        if isinstance(level, bool) or not isinstance(level, int | float) or not 0 < level < 1:
            raise OptionError(f"A level lies between 0 and 1, such as 0.95; not {level!r}.")
        self._need("`.interval()`")
        return self._remember((float(level), kind), lambda: self._interval(float(level), kind))

    def _interval(self, level: float, kind: Kind | None) -> Interval:
        if kind is None:
            return self._usual(level)
        outcome = self._outcome() if self.op is None else None
        found = draws.interval(self, level, kind) if outcome is None else outcome.interval(level, kind)
        low, high = (wording.whole(self, end) for end in found)
        return replace(found, low=low, high=high, calendar=wording.calendar(self))

    def _usual(self, level: float) -> Interval:
        """The confidence interval where there is one, else the privacy interval; the first reason where there is neither."""
        try:
            return self.interval(level, "confidence")
        except Unavailable as reason:
            with suppress(Unavailable):
                return self.interval(level, "privacy")
            raise reason from None

    def _remember(self, key: object, compute: Callable[[], T]) -> T:
        """Compute once."""
        memo = self._memo
        if memo is None:
            memo = {}
            object.__setattr__(self, "_memo", memo)
        if key not in memo:
            memo[key] = compute()
        found: T = memo[key]
        return found

    def _outcome(self) -> Result:
        found: Result = self.args[0].outcome
        return found

    def test(
        self, null: ArrayLike = 0.0, *, kind: Kind = "confidence", alternative: str = "two-sided"
    ) -> HypothesisTest:
        """Test a null value: the p-value is the largest ``1 - level`` at which the interval still contains it.

        Parameters
        ----------
        null : float, or array of this shape
            The value under the null hypothesis.
        kind : {"confidence", "privacy"}
            About the population, or about this dataset.
        alternative : {"two-sided", "greater", "less"}
            The alternative hypothesis.

        Returns
        -------
        HypothesisTest
            With ``p_value``, ``statistic``, ``rejects(alpha)`` and ``conclusion(alpha)``; pending while this is.

        Examples
        --------
        >>> hiv.got.difference(by="any").test()  # doctest: +SKIP
        """
        return z_test(self, null, kind, alternative)

    compare_groups = compare_groups
    anova = anova
    posterior = posterior
    shrink = shrink

    @property
    def standard_error(self) -> Number:
        """Standard error about the population: sampling and noise together."""
        self._need("`.standard_error`")
        if self.op is None:
            return self._outcome().standard_error
        return self._remember("standard error", lambda: draws.standard_error(self))

    @property
    def estimand(self) -> str:
        """What is estimated, in words: *mean of income clamped to 0–200,000*.

        A number beyond its declared bounds counts as the bound. Empty if nothing is clamped, as for a count.
        """
        return wording.estimand(self)

    @property
    def n(self) -> Number:
        """The number of rows that the estimate is about: public, or released with noise."""
        return self._of_leaf("n")

    @property
    def n_eff(self) -> Number:
        """The number of rows that would give the same accuracy without noise."""
        return self._of_leaf("n_eff")

    @property
    def edges(self) -> Any:
        """The edges of a histogram's bins, public and known before the release: ``plt.stairs(h.value, h.edges)``.

        Of dates they count the steps of the calendar.

        Raises
        ------
        OptionError
            For an answer that has no bins.
        """
        leaf = self.measurement
        counts = leaf is not None and leaf.root is leaf and leaf.checked.kind.counts
        edges = leaf.checked.setting.edges if leaf is not None and counts else ()
        if len(edges) != self.size + 1:
            raise OptionError(
                f"`{self.text}` has no bins. A whole histogram has .edges; other answers have .keys."
            )
        return np.array([float(edge) for edge in edges])

    @property
    def labels(self) -> Any:
        """The declared values behind a choice (``mode``, ``top_k``, ``choose``), in the shape of the answer; else None.

        A choice shows them; if they are not numbers, ``.value`` and arithmetic use their positions, from 0.
        """
        self._need("`.labels`")
        found = wording.labels(self)
        if not found or self.shape == ():
            return found[0] if found else None
        shaped = np.empty(len(found), dtype=object)
        shaped[:] = found
        return shaped.reshape(self.shape)

    def _of_leaf(self, name: str) -> Any:
        """A figure of a leaf, or of places of a leaf."""
        self._need(f"`.{name}`")
        if self.op is None:
            return getattr(self._outcome(), name)
        if isinstance(self.op, Take):
            whole = self.args[0]._of_leaf(name)  # noqa: SLF001 -- another of its kind
            figure = np.asarray(whole)
            return plain(self.op.apply([figure], 0)) if figure.ndim else whole
        raise Unavailable(
            f"A derived estimate has no `.{name}` of its own. Ask `{self.leaves()[0].text}` for it."
        )

    @property
    def flags(self) -> tuple[str, ...]:
        """Warnings, computed only from released numbers."""
        self._need("`.flags`")
        if self.op is None:
            return tuple(self._outcome().flags)
        found = dict.fromkeys(
            flag for m in self.leaves() if m.outcome is not None for flag in m.outcome.flags
        )
        if not np.isfinite(self.value).all():
            found["undefined"] = None
        return tuple(found)

    @property
    def releases(self) -> tuple[Release, ...]:
        """The distinct releases under this estimate."""
        self._need("`.releases`")
        return distinct(release for m in self.leaves() for release in m.releases)

    @property
    def release(self) -> Release:
        """The record of the release: integers, laws, loss, provenance (the newest, if it was measured again)."""
        self._need("`.release`")
        found = self.releases
        if len(self.leaves()) == 1 and found:
            return found[-1]
        if not found:
            raise Unavailable(f"`{self.text}` is public: it was answered from the schema, without a release.")
        raise Unavailable(f"This estimate is built on {len(found)} releases. Use .releases.")

    @property
    def loss(self) -> PrivacyLoss:
        """The cost of all distinct releases under this estimate together."""
        self._need("`.loss`")
        paid, dataset = self.releases, self.leaves()[0].dataset
        measure = Measure.PURE if dataset is None else dataset.schema.budget.measure
        return paid_for(paid) if paid else PrivacyLoss.zero(measure)

    # ---------------------------------------------------------------- what to do with it

    def weight(self, weight: Amount) -> Estimate:
        """Set this question's weight in its cell's split; returns the same estimate."""
        self._base("weight").share(weight=weight)
        return self

    def spend(self, epsilon: Amount | None = None, *, rho: Amount | None = None) -> Estimate:
        """Set exactly what this question spends of its cell's loss; returns the same estimate."""
        if (epsilon is None) == (rho is None):
            raise OptionError("Give one of epsilon= and rho=, for example .spend(epsilon=0.3).")
        amount, name = (epsilon, "epsilon") if rho is None else (rho, "rho")
        self._base("spend").share(spend=amount, spend_as=name)
        return self

    def remeasure(
        self, epsilon: Amount | None = None, *, rho: Amount | None = None, within: Amount | None = None
    ) -> Estimate:
        """Pay more for the same question and combine both answers: a new estimate with a narrower interval.

        Parameters
        ----------
        epsilon, rho, within : number or str
            What to pay now, or the half-width of the privacy interval to reach; exactly one of them.
        """
        asked = {
            name: x for name, x in (("epsilon", epsilon), ("rho", rho), ("within", within)) if x is not None
        }
        if len(asked) != 1:
            raise OptionError("Give one of epsilon=, rho= and within=, for example .remeasure(epsilon=0.5).")
        self._need("`.remeasure()`")
        dataset = self._base("remeasure").dataset
        if dataset is None:
            raise PlanError(
                "This answer was loaded without its dataset. Open the dataset and ask the question again."
            )
        again: Estimate = dataset.session.remeasure(self, **asked)
        return again

    def _base(self, name: str) -> PendingQuestion:
        if self.measurement is None:
            raise PlanError(
                f".{name}() belongs to a question. This is derived from it: use `{self.leaves()[0].text}`.{name}(...)."
            )
        return self.measurement

    def table(self, level: float = 0.95) -> Table:
        """Plain columns: keys, values and both intervals; ``.to_frame()`` gives a DataFrame.

        A choice whose labels are not numbers has a column ``label``; if the noise leaves entries undefined, a column
        ``note`` marks them.
        """
        self._need("`.table()`")
        return table_of(self, level)

    def _plain(self, level: float) -> Record:
        return self.to_dict(level)

    def to_dict(self, level: float = 0.95) -> Record:
        """Everything as plain JSON values; infinite or undefined values become None."""
        self._need("`.to_dict()`")
        intervals: Record = {}
        for kind in KINDS:
            try:
                intervals[kind] = self.interval(level, kind).to_json()
            except Unavailable as reason:
                intervals[kind] = {"unavailable": str(reason)}
        return {
            "question": self.text,
            **({"estimand": said} if (said := self.estimand) else {}),
            "value": plain_number(self.value),
            **({"labels": [_plain_key(label) for label in named]} if (named := wording.names(self)) else {}),
            "keys": [[_plain_key(key) for key in axis.keys] for axis in self.axes],
            "intervals": intervals,
            "flags": list(self.flags),
            "loss": self.loss.to_json(),
            "releases": [release.to_json() for release in self.releases],
        }

    def plot(
        self,
        order: str | None = None,
        *,
        beside: ArrayLike | None = None,
        truth: bool | None = None,
        ax: Axes | None = None,
        title: str | None = None,
        kind: str | None = None,
        **look: Any,
    ) -> Any:
        """Draw values and both intervals with matplotlib, and return the axes.

        Parameters
        ----------
        order : {None, "size", "effect"}
            In the order asked, by the released number of rows, or by the released value.
        beside : array of this shape, optional
            Values to draw beside the estimate; they never change the order.
        truth : bool, optional
            Whether to draw the truth too, for TEACHING data; by default if the dataset was opened with ``truth=True``.
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        title : str, optional
            The title above the picture.
        kind : {None, "points", "bars", "curve"}
            The default depends on the answer: bars for a histogram, a curve for a long answer along a number.
        **look
            matplotlib's own words for the values that are drawn: ``color="0.8"``, ``alpha=0.5``.

        Examples
        --------
        >>> left, right = plt.subplots(ncols=2)[1]  # doctest: +SKIP
        >>> ages.plot(ax=left, title="Ages")  # doctest: +SKIP
        """
        self._need("`.plot()`")
        plot, _ = views()
        return plot(self, order, beside=beside, truth=truth, ax=ax, title=title, kind=kind, **look)

    def explain(self) -> Any:
        """Show how this number was made: mechanism, scale, loss, both intervals."""
        _, explain = views()
        return explain(self)

    # ---------------------------------------------------------------- text

    def __repr__(self) -> str:
        try:
            return self._described()
        except Exception:  # noqa: BLE001 -- debuggers and tracebacks call repr: it never raises
            return "<estimate>"

    def _described(self) -> str:
        if self.pending:
            return f"<pending {self.text}>"
        held = self.estimand if self.op is None else ""
        said = f"{self.text}: {self._told()}" + (f" ({held})" if held else "")
        if self.op is None and self.shape == ():
            for kind in KINDS:
                with suppress(Unavailable):
                    said += f", 95% {kind} interval {self.interval(0.95, kind)}"
        stored = wording.stored(self.releases)
        return f"<{said}, {stored}>" if stored else f"<{said}>"

    def _told(self, *, lines: bool = False) -> str:
        """The value, or what is shown in its place."""
        words = wording.words(self) or wording.dates(self)
        return wording.told(self.value, words, self.axes, lines=lines)

    def __str__(self) -> str:
        try:
            return f"<pending {self.text}>" if self.pending else self._told(lines=True)
        except Exception:  # noqa: BLE001 -- as repr
            return "<estimate>"

    def __format__(self, spec: str) -> str:
        self._need("A format string")
        if not spec:
            return str(self)
        return format(self._one("A format string"), spec)

    def _ipython_display_(self) -> None:
        if not (self.pending and current_host().show_pending(self)):
            raise NotImplementedError

    def _repr_mimebundle_(self, **_: object) -> Record:
        return current_host().bundle(self)

    # ---------------------------------------------------------------- one value

    def _one(self, by: str) -> float:
        if self.shape != ():
            raise refusals.many_values(self)
        self._need(by)
        return self.value  # type: ignore[no-any-return]

    def __float__(self) -> float:
        return float(self._one("`float`"))

    def __int__(self) -> int:
        return int(self._one("`int`"))

    def __complex__(self) -> complex:
        return complex(self._one("`complex`"))

    def __bool__(self) -> bool:
        return bool(self._one("`if`"))

    def __array__(self, dtype: DTypeLike | None = None, copy: object = None) -> np.ndarray:
        self._need("`np.asarray`")
        result = np.array(self.value, dtype=dtype)
        if copy is False and dtype is not None and np.dtype(dtype) != np.float64:
            raise ValueError("the values of an estimate are float64: another dtype needs a copy")
        return result

    def to_numpy(self) -> np.ndarray:
        """The point values as an array."""
        return self.__array__()

    # ---------------------------------------------------------------- equality, order, identity

    __hash__ = object.__hash__

    def __eq__(self, other: object) -> Truth:
        return True if other is self else self._compare(other, operator.eq, "`==`")

    def __ne__(self, other: object) -> Truth:
        return False if other is self else self._compare(other, operator.ne, "`!=`")

    def __lt__(self, other: object) -> Truth:
        return self._compare(other, operator.lt, "`<`")

    def __le__(self, other: object) -> Truth:
        return self._compare(other, operator.le, "`<=`")

    def __gt__(self, other: object) -> Truth:
        return self._compare(other, operator.gt, "`>`")

    def __ge__(self, other: object) -> Truth:
        return self._compare(other, operator.ge, "`>=`")

    def _compare(self, other: object, verdict: Callable[[Any, Any], Any], by: str) -> Truth:
        """Compare point values; a plain bool for scalars."""
        theirs = operand(other)
        if theirs is NotImplemented:
            return NotImplemented
        self._need(by)
        if isinstance(theirs, Estimate):
            theirs._need(by)  # noqa: SLF001 -- another of its kind
            theirs = theirs.value
        found = verdict(self.value, theirs)
        return bool(found) if np.ndim(found) == 0 else found

    def __copy__(self) -> Estimate:
        return self

    def __deepcopy__(self, memo: object) -> Estimate:
        return self

    def __reduce_ex__(self, protocol: object) -> tuple[Any, ...]:
        if self.pending:
            raise unpicklable()
        return rebuild, (flat(self), provided_views())


def ask(
    question: Question, checked: CheckedQuestion, *, dataset: object = None, origin: Origin | None = None
) -> Estimate:
    """The pending estimate of a question. Equal questions of one open batch are one measurement.

    Parameters
    ----------
    question : object
        The plan; hashable, equal for equal questions.
    checked : object
        The checked plan (``text``, ``shape``, ``axes``, ``statistic``).
    dataset : object
        The handle that asks.
    origin : Origin, optional
        Where it was written; the calling line outside dpnb by default.

    Returns
    -------
    Estimate
        A pending leaf.
    """
    where = Origin.here() if origin is None else origin

    def make() -> PendingQuestion:
        return PendingQuestion(question, checked, dataset=dataset, origin=where)

    batch = open_batch()
    if batch is None:
        return Estimate.leaf(make())
    canonical = question.canonical() if hasattr(question, "canonical") else question
    return Estimate.leaf(batch.ask((id(dataset), canonical), make))


def _plain_key(key: object) -> str | float | bool | None:
    return key if isinstance(key, str | int | float | bool | None) else str(key)


# ---------------------------------------------------------------- outside the kernel


def flat(estimate: Estimate) -> list[tuple[Any, ...]]:
    """The graph as a list, arguments before the nodes that use them, the root last."""
    order: list[Node] = []
    numbers: dict[int, int] = {}
    stack: list[tuple[Node, bool]] = [(estimate, False)]
    while stack:
        node, ready = stack.pop()
        if id(node) in numbers:
            continue
        if ready or node.op is None:
            numbers[id(node)] = len(order)
            order.append(node)
            continue
        stack.append((node, True))
        stack.extend((arg, False) for arg in reversed(node.args) if isinstance(arg, Node))
    return [
        (node.op, node.args, None, node._shape, node._axes)  # noqa: SLF001 -- its own kind
        if node.op is None
        else (
            node.op,
            tuple(None if is_node(arg) else arg for arg in node.args),
            tuple(numbers[id(arg)] if is_node(arg) else None for arg in node.args),
            node._shape,  # noqa: SLF001 -- its own kind
            node._axes,  # noqa: SLF001 -- its own kind
        )
        for node in order
    ]


def rebuild(records: list[tuple[Any, ...]], views: Callable[[], Views] | None = None) -> Estimate:
    """The graph of :func:`flat`; reading `views` has loaded what draws it."""
    del views
    built: list[Estimate] = []
    for op, constants, places, shape, axes in records:
        if places is None:
            built.append(_leaf(constants, shape, axes))
            continue
        args = tuple(
            constant if place is None else built[place]
            for constant, place in zip(constants, places, strict=True)
        )
        built.append(Estimate(op, args, shape, axes))
    return built[-1]


def _leaf(args: tuple[Operand, ...], shape: tuple[int, ...] | None, axes: tuple[Axis, ...]) -> Estimate:
    """A question with its readings, or a reading."""
    (view,) = args
    kind = readable(Estimate, view) if view.root is view else Estimate
    return kind(None, args, shape, axes)


def to_json(thing: object) -> Any:
    """``default=`` for :func:`json.dumps`: estimates, releases, intervals, losses, exact numbers, numpy numbers."""
    if isinstance(thing, Estimate | Table):
        return thing.to_dict()
    if isinstance(thing, np.generic):
        return plain_number(thing) if isinstance(thing, np.floating) else thing.item()
    if isinstance(thing, np.ndarray):
        return plain_number(thing) if thing.dtype.kind == "f" else thing.tolist()
    if isinstance(thing, Fraction):
        return str(thing)
    if hasattr(thing, "to_json"):
        return thing.to_json()
    raise TypeError(f"Object of type {type(thing).__name__} is not JSON serializable")

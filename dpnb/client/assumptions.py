"""What is planned: a question of a study that does not exist yet, a pending question, or a released answer; and what is assumed of it.

A planned study is checked against a schema made for it, so that it is priced as a real one. Everything is read from what a person typed
and from public facts.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import isfinite, sqrt
from typing import Any, Literal

import numpy as np

from dpnb.errors import OptionError, PlanError
from dpnb.estimate import Estimate
from dpnb.estimate.reading import Reading
from dpnb.planner.check import CheckedQuestion, check
from dpnb.planner.design import Design, Facts, FromFacts, FromRelease
from dpnb.planner.expression import Compare, Const, Expr, Ref
from dpnb.planner.question import Question
from dpnb.statistics import conclude
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.privacy.unit import Adjacency, PrivacyUnit
from dpnb.trusted.schema import Column, Schema

_KINDS = ("mean", "proportion", "difference", "count")
_ANY_SIZE = 10**6
_OUTWARDS = (0.0, 0.3, 0.5, 0.7, 0.8, 0.9, 0.95, 1.0)
"""How far out of the middle means are planned for, where none is named: parts of what the bounds and the spread allow."""


@dataclass(frozen=True, slots=True)
class Preset:
    """What the question itself brings along."""

    of_rows: bool
    n: int | None
    measure: Measure | None

    @property
    def kind(self) -> Literal["epsilon", "rho"]:
        """The measure in which a loss is looked for."""
        return "epsilon" if self.measure in {None, Measure.PURE} else "rho"


@dataclass(frozen=True, slots=True)
class Assumed:
    """What a person assumes of the data, as typed."""

    sd: object
    share: object
    mean: object
    effect: float | None
    correlation: float | None = None


def design_of(
    what: object,
    bounds: tuple[float, float] | None,
    step: float | None,
    given: Assumed,
    adjacency: Adjacency,
) -> tuple[Design, str, str, Preset]:
    """Return the design, what it is called, what it assumes, and what the question brings along."""
    if isinstance(what, Estimate):
        return _of_estimate(what, given)
    if what not in _KINDS:
        raise OptionError(f"dpnb.power plans {', '.join(_KINDS)}, or takes a question; not {what!r}.")
    if what == "mean" and bounds is None:
        raise OptionError(
            'A mean needs the public bounds of its column: dpnb.power("mean", bounds=(0, 100), sd=15, …).'
        )
    if bounds is not None and np.shape(bounds) != (2,):
        raise OptionError("bounds= is a pair: bounds=(0, 100).")
    if what == "proportion" and bounds is not None:
        raise OptionError('A proportion has no bounds. Plan dpnb.power("mean", bounds=…) instead.')
    checked = planned_question(what, bounds, step, adjacency)
    facts, assumed = _facts(checked, given)
    text = {"count": "count of a condition"}.get(what, what)
    if what == "difference":
        text = (
            "difference of proportions, two equal arms"
            if bounds is None
            else "difference of means, two equal arms"
        )
    return FromFacts(checked, facts), text, assumed, Preset(_of_rows(checked), None, None)


def _of_estimate(estimate: Estimate, given: Assumed) -> tuple[Design, str, str, Preset]:
    if estimate.op is not None:
        raise PlanError("This value is derived. Plan the questions that it is made of.")
    view = estimate.args[0]
    one, reading = view.root, isinstance(view, Reading)
    checked, measure = one.checked, None if one.dataset is None else one.dataset.schema.budget.measure
    if checked.public_value is not None:
        raise PlanError(f"`{view.text}` is public: it is exact, and free.")
    if one.released:
        if any(fact is not None for fact in (given.sd, given.share, given.mean)):
            raise OptionError(
                "A released answer brings its own facts: leave out sd=, mean= and share=, and look at the effect alone."
            )
        said = view.read.conclude if reading else partial(conclude, checked)
        design = FromRelease(checked, tuple(one.releases), said)
        return design, view.text, "from what was released", Preset(_of_rows(checked), None, measure)
    if reading:
        raise PlanError(
            f"`{view.text}` is read from a release. Release it once: dpnb.power(released, …) then plans it. Readings of moments are "
            "planned before: dpnb.power(fit, n=2000, epsilon=1)."
        )
    facts, assumed = _facts(checked, given) if not _of_rows(checked) else ((), "")
    rows = checked.setting.unit.rows
    if checked.question.where is not None or checked.question.by[checked.kind.arms :]:
        rows = None
    return FromFacts(checked, facts), view.text, assumed, Preset(_of_rows(checked), rows, measure)


def _of_rows(checked: CheckedQuestion) -> bool:
    """Whether rows are counted, so that no spread is assumed."""
    return checked.kind.target == "none"


def planned_question(
    what: str, bounds: tuple[float, float] | None, step: float | None, adjacency: Adjacency
) -> CheckedQuestion:
    """Return the question of a study that does not exist yet, checked against a schema made for it."""
    unit = PrivacyUnit(adjacency, rows=_ANY_SIZE if adjacency == "change-one" else None)
    complete: dict[str, Any] = (
        {"missing": 0 if bounds is None else bounds[0]} if adjacency == "change-one" else {}
    )
    column = (
        Column.category("y", [0, 1], **complete)
        if bounds is None
        else Column.number("y", *bounds, step=step, **complete)
    )
    columns = (column, Column.category("arm", [0, 1]))
    schema = Schema("planned", "A planned study", columns, unit, Budget.from_toml({"epsilon": 1000}))
    where: Expr | None = Compare("==", Ref("arm"), Const(1)) if what == "count" else None
    target = None if what == "count" else Ref("y")
    by = (Ref("arm"),) if what == "difference" else ()
    statistic = "mean" if what == "proportion" else what
    return check(Question("planned", statistic, target, where, by), schema)


def pending_matrix(what: object) -> Reading | None:
    """Return what is read from moments that have not been released; nothing for anything else."""
    if not isinstance(what, Estimate) or what.op is not None:
        return None
    view = what.args[0]
    pending = isinstance(view, Reading) and not view.root.released
    return view if pending and view.root.checked.kind.target == "numbers" else None


def _facts(checked: CheckedQuestion, given: Assumed) -> tuple[tuple[Facts, ...], str]:
    """Return what is assumed of the data, each case of it, and say it."""
    if _of_rows(checked):
        return (), ""
    if checked.setting.target is None:
        raise PlanError(f"dpnb.power cannot plan {checked.text} before it is released.")
    target = checked.setting.target
    low, high = float(target.lowest), float(target.highest)
    arms = 2 if checked.kind.arms else 1
    gap = number(given.effect or 0.0, "effect") if arms == 2 else 0.0
    if target.binary:
        if given.sd is not None or given.mean is not None:
            raise OptionError("The spread of a proportion follows from share=: leave out sd= and mean=.")
        return _shares(given.share, arms, gap, low, high)
    if given.share is not None:
        raise OptionError("share= is for proportions. Give the mean and the spread instead: mean= and sd=.")
    return _means(given, arms, gap, low, high)


def _means(given: Assumed, arms: int, gap: float, low: float, high: float) -> tuple[tuple[Facts, ...], str]:
    """Return the means assumed with their spread; where none is named, some from the middle to the farthest that the spread allows.

    Noise on a private number of rows weighs by the distance of the mean from the middle; near the bounds intervals are cut off there.
    """
    widest = (high - low) / 2
    spread = widest if given.sd is None else number(given.sd, "sd")
    if not 0 < spread <= widest:
        raise OptionError(f"sd must lie above 0 and be at most {widest:g}, half of the bounds' width.")
    said = f"sd {spread:g}" + (" (the widest possible)" if given.sd is None else "")
    if given.mean is not None:
        means = _inside(_each(given.mean, arms, gap, "mean"), low, high)
        return (Facts(means, spread),), f"{said}, mean {' and '.join(f'{mean:g}' for mean in means)}"
    middle, reach = (low + high) / 2, sqrt(max(widest**2 - spread**2, 0.0))
    centred = _inside((middle - gap / 2, middle + gap / 2) if arms == 2 else (middle,), low, high)
    top = max(middle + reach, centred[-1], centred[0])
    apart = top - max(centred)
    cases = tuple(Facts(tuple(mean + part * apart for mean in centred), spread) for part in _OUTWARDS)
    return cases, f"{said}, for any mean (or give mean=)"


def _each(value: object, arms: int, gap: float, name: str) -> tuple[float, ...]:
    """Read one number, or one for each arm; the second arm lies the effect above the first."""
    given = value if isinstance(value, tuple | list) else (number(value, name),)
    if isinstance(value, tuple | list) and len(given) != arms:
        raise OptionError(
            f"{name}= is one number, or one for each of two arms: {name}=({'0.3, 0.4' if name == 'share' else '20, 25'})."
        )
    read = tuple(number(part, name) for part in given)
    return read if len(read) == arms else (read[0], read[0] + gap)


def _shares(share: object, arms: int, gap: float, low: float, high: float) -> tuple[tuple[Facts, ...], str]:
    """Return the shares assumed; where none is named, some from the middle, where sampling is widest, to the end, where noise is."""

    def facts(shares: tuple[float, ...]) -> Facts:
        return Facts(_inside(tuple(low + (high - low) * one for one in shares), low, high), (high - low) / 2)

    if share is not None:
        shares = _each(share, arms, gap, "share")
        return (facts(shares),), f"share {' and '.join(f'{one:.3g}' for one in shares)}"
    middle = (0.5 - gap / 2, 0.5 + gap / 2) if arms == 2 else (0.5,)
    cases = tuple(facts(tuple(one - part * min(middle) for one in middle)) for part in _OUTWARDS[:-1])
    return cases, "for any share (or give share=)"


def _inside(means: tuple[float, ...], low: float, high: float) -> tuple[float, ...]:
    if not all(low <= mean <= high for mean in means):
        raise OptionError(
            f"These facts put a mean outside the bounds {low:g} to {high:g}. Name a smaller effect, or another share."
        )
    return means


def number(value: object, name: str) -> float:
    """Read a number that a person typed."""
    if isinstance(value, int | float | np.number) and not isinstance(value, bool) and isfinite(value):
        return float(value)
    raise OptionError(f"{name}= is a number, not {value!r}.")

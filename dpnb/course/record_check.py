"""Checks of records: what was released, what it cost, which interval it supports. They read releases, plans and the ledger.

A number in a variable is the student's to change; a release and its charge are the curator's. Nothing here is random: a right
answer never fails, a wrong one never passes.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Literal

from dpnb.cards.markup import Markup
from dpnb.client.handles import Dataset
from dpnb.client.plan_view import PlanView
from dpnb.course.picture import levels, message, spans
from dpnb.course.result import CheckResult, Mistake, Part
from dpnb.errors import LossError, Unavailable
from dpnb.estimate import Estimate
from dpnb.trusted.privacy.loss import PrivacyLoss, brief, rational
from dpnb.trusted.releases import Release

Kind = Literal["privacy", "confidence"]
Amount = str | float | Fraction
_ASK = "Put %%dp epsilon=… above the cell that asks, run it, and run this check again."


def released(
    estimate: Any,
    *,
    statistic: str | None = None,
    column: str | None = None,
    dataset: str | None = None,
    epsilon: Amount | None = None,
    rho: Amount | None = None,
    at_most: bool = False,
    title: str = "the release",
) -> CheckResult:
    """Check that an estimate was released, as the exercise asks.

    Parameters
    ----------
    estimate : Estimate
        Anything else, such as a number that was typed, does not pass.
    statistic, column, dataset : str, optional
        What it must be of, in the words of its record: ``"mean"``, ``"age"``, ``"incentive33"``. Of an estimate that is
        computed from several releases, one must be so.
    epsilon, rho : number or text, optional
        What its releases must cost together.
    at_most : bool
        Whether they may also cost less.
    title : str

    Returns
    -------
    CheckResult
    """
    found = _records(estimate)
    if isinstance(found, Mistake):
        return _one_part("released", title, "released", found, message(found.name))
    parts = [Part("released", passed=True, said=f"{len(found)} release{'s' if len(found) != 1 else ''}")]
    wrong = [
        _asked(found, statistic, column, dataset, parts),
        _cost(estimate.loss, epsilon, rho, at_most, parts),
    ]
    told = next((one for one in wrong if one), None)
    amounts = [("paid", float(estimate.loss.amount))]
    amounts += [("asked", float(rational(given)))] if (given := epsilon if rho is None else rho) else []
    return CheckResult("released", title, tuple(parts), told, levels(amounts))


def _records(estimate: object) -> tuple[Release, ...] | Mistake:
    if not isinstance(estimate, Estimate):
        kind = type(estimate).__name__
        return Mistake(
            "no release",
            f"This is a {kind}, not an answer of the curator.",
            "Give the estimate itself: out = data.age.mean(), released in a %%dp cell.",
        )
    if estimate.pending:
        return Mistake("not released", f"`{estimate.text}` is asked, and not released yet.", _ASK)
    return estimate.releases


def _asked(
    found: Sequence[Release],
    statistic: str | None,
    column: str | None,
    dataset: str | None,
    parts: list[Part],
) -> Mistake | None:
    """Hold the question of a release to what is asked: one release must agree in all of it."""
    wanted = {"statistic": statistic, "column": column, "dataset": dataset}
    wanted = {name: word for name, word in wanted.items() if word is not None}
    if not wanted:
        return None
    facts = [_facts(release) for release in found]
    best = max(facts or [{}], key=lambda one: sum(word in one.get(name, ()) for name, word in wanted.items()))
    told = None
    for name, word in wanted.items():
        have = ", ".join(best.get(name, ())) or "none"
        right = word in best.get(name, ())
        parts.append(Part(name, right, have if right else f"{have}, where {word} is asked"))
        if not right and told is None:
            told = Mistake(
                f"wrong {name}",
                f"The {name} is {have}; the exercise asks for {word}.",
                f"Ask again with {word}; what was asked before stays paid.",
            )
    return told


def _facts(release: Release) -> Mapping[str, tuple[str, ...]]:
    question = json.loads(release.question)
    return {
        "statistic": (str(question["statistic"]),),
        "column": tuple(dict.fromkeys(_columns(question["target"]))),
        "dataset": (str(question["dataset"]),),
    }


def _columns(node: object) -> Iterable[str]:
    if isinstance(node, list):
        if len(node) == 2 and node[0] == "ref":
            yield str(node[1])
        else:
            for part in node:
                yield from _columns(part)


def _cost(
    paid: PrivacyLoss,
    epsilon: Amount | None,
    rho: Amount | None,
    at_most: bool,  # noqa: FBT001
    parts: list[Part],
) -> Mistake | None:
    if epsilon is not None and rho is not None:
        raise LossError("Give one of epsilon= and rho=.")
    given, name, symbol = (epsilon, "epsilon", "ε") if rho is None else (rho, "rho", "ρ")
    if given is None:
        return None
    wanted = rational(given, name=name)
    right = paid.amount == wanted or (at_most and paid.amount < wanted)
    told = f"{symbol} {brief(paid.amount)} paid"
    parts.append(Part("cost", right, told if right else f"{told}, where {brief(wanted)} is asked"))
    if right:
        return None
    if paid.amount > wanted:
        return _exceeded(paid.amount, wanted, symbol)
    return Mistake(
        "budget not used",
        f"{told}; the exercise asks for {brief(wanted)}.",
        "Less is more private and less exact. Ask again at the stated amount; only the difference in accuracy changes.",
    )


def _exceeded(paid: Fraction, wanted: Fraction, symbol: str) -> Mistake:
    return Mistake(
        "budget exceeded",
        f"{symbol} {brief(paid, 'up')} was paid; the exercise allows {brief(wanted, 'down')}.",
        "Several questions in one cell share its ε; several cells add up. Plan again, with %dp plan, before you ask.",
    )


def spent(what: Any, *, at_most: Amount, at_least: Amount = 0, title: str = "the budget") -> CheckResult:
    """Check what the ledger says was spent.

    Parameters
    ----------
    what : Dataset, Estimate, or several estimates
        A dataset: everything that was ever charged on it. Estimates: the charges under them, each once.
    at_most, at_least : number or text
        In the dataset's own measure.
    title : str

    Returns
    -------
    CheckResult
    """
    high, low = rational(at_most, name="at_most"), rational(at_least, name="at_least")
    paid, symbol = _charged(what)
    if isinstance(paid, Mistake):
        return _one_part("spent", title, "charged", paid, message(paid.name))
    told = None
    if paid > high:
        told = _exceeded(paid, high, symbol)
    elif paid < low:
        told = Mistake(
            "budget not used",
            f"{symbol} {brief(paid)} was spent; the exercise asks for at least {brief(low)}.",
            _ASK,
        )
    said = f"{symbol} {brief(paid)} in the ledger; allowed {brief(high)}"
    part = Part("ledger", told is None, said)
    return CheckResult(
        "spent", title, (part,), told, levels([("spent", float(paid)), ("allowed", float(high))])
    )


def _charged(what: Any) -> tuple[Fraction | Mistake, str]:
    if isinstance(what, Dataset):
        found = what.budget.spent
        return found.amount, found.measure.symbol
    items = (
        [what] if isinstance(what, Estimate) else list(what.values() if isinstance(what, Mapping) else what)
    )
    total, symbol = Fraction(0), "ε"
    seen: set[int] = set()
    for one in items:
        records = _records(one)
        if isinstance(records, Mistake):
            return records, symbol
        symbol = one.loss.measure.symbol
        wanted = {release.entry for release in records} - seen
        seen |= wanted
        total += _of_entries(one, wanted)
    return total, symbol


def _of_entries(estimate: Estimate, wanted: set[int]) -> Fraction:
    """What some ledger entries were charged; an answer that was loaded without its dataset costs what its record says."""
    dataset = estimate.leaves()[0].dataset
    if dataset is None:
        return estimate.loss.amount if wanted else Fraction(0)
    rows = dataset.session.ledger(dataset.root)
    return sum(
        (PrivacyLoss.from_json(row["loss"]).amount for row in rows if row["entry"] in wanted and row["loss"]),
        Fraction(0),
    )


def plan(
    view: object, *, at_most: Amount, questions: int | None = None, title: str = "the plan"
) -> CheckResult:
    """Check a plan before anything is spent.

    Parameters
    ----------
    view : PlanView
        What ``dpnb.plan(…)`` returns.
    at_most : number or text
        What it may cost.
    questions : int, optional
        How many questions it must ask.
    title : str

    Returns
    -------
    CheckResult
    """
    allowed = rational(at_most, name="at_most")
    if not isinstance(view, PlanView):
        wrong = Mistake(
            "no plan",
            f"This is a {type(view).__name__}, not a plan.",
            "Give what dpnb.plan([...], epsilon=...) returns.",
        )
        return _one_part("plan", title, "plan", wrong, message("no plan"))
    cost, symbol, told = view.cost.amount, view.cost.measure.symbol, None
    parts = [Part("cost", cost <= allowed, f"{symbol} {brief(cost)} of {brief(allowed)}")]
    if cost > allowed:
        told = _exceeded(cost, allowed, symbol)
    if questions is not None:
        right = len(view.items) == questions
        parts.append(Part("questions", right, f"{len(view.items)} of {questions}"))
        if not right and told is None:
            told = Mistake(
                "questions missing" if len(view.items) < questions else "too many questions",
                f"The plan asks {len(view.items)} questions; the exercise has {questions}.",
                "Give them all to one plan, so that they share its budget.",
            )
    return CheckResult(
        "plan", title, tuple(parts), told, levels([("cost", float(cost)), ("allowed", float(allowed))])
    )


def interval(
    answer: Any, estimate: Any, *, level: float = 0.95, kind: Kind | None = None, title: str = "the interval"
) -> CheckResult:
    """Check low and high that a student gives against what the releases support.

    Parameters
    ----------
    answer : pair of numbers
    estimate : Estimate
        Released.
    level : float
    kind : {"confidence", "privacy"}, optional
        By default what the estimate gives.
    title : str

    Returns
    -------
    CheckResult
    """
    found = _records(estimate)
    if isinstance(found, Mistake):
        return _one_part("interval", title, "released", found, message(found.name))
    right = _ends(estimate, level, kind)
    try:
        low, high = (float(end) for end in answer)
    except (TypeError, ValueError):
        wrong = Mistake("no interval", "An interval is two numbers.", "Give (low, high).")
        return _one_part("interval", title, "ends", wrong, message("no interval"))
    near = _near((low, high), right)
    told = None if near else _interval_mistake((low, high), right, estimate, level, kind)
    part = Part(
        "ends", near, f"{low:.5g} to {high:.5g}; the releases support {right[0]:.5g} to {right[1]:.5g}"
    )
    return CheckResult(
        "interval", title, (part,), told, spans([("yours", low, high), ("from the releases", *right)])
    )


def _ends(estimate: Estimate, level: float, kind: Kind | None) -> tuple[float, float]:
    low, high = estimate.interval(level, kind)
    return float(low), float(high)


def _near(one: tuple[float, float], other: tuple[float, float]) -> bool:
    """Whether both ends agree within two hundredths of the width: rounding is no mistake."""
    room = 0.02 * (other[1] - other[0]) + 1e-12
    return all(abs(a - b) <= room for a, b in zip(one, other, strict=True))


def _interval_mistake(
    found: tuple[float, float],
    right: tuple[float, float],
    estimate: Estimate,
    level: float,
    kind: Kind | None,
) -> Mistake:
    used: Kind = kind or getattr(estimate.interval(level), "kind", None) or "confidence"
    other: Kind = "confidence" if used == "privacy" else "privacy"
    step = f"Ask the estimate: .interval({level:g}, {used!r})."
    for name, ends in _usual_intervals(estimate, level, used, other):
        if ends is not None and _near(found, ends):
            return Mistake(name, f"This is another interval: {name}.", step)
    middle, half = (right[0] + right[1]) / 2, (right[1] - right[0]) / 2
    if abs((found[0] + found[1]) / 2 - middle) <= 0.04 * half:
        times = (found[1] - found[0]) / (2 * half)
        return Mistake("wrong width", f"The interval is {times:.3g} times as wide as it should be.", step)
    return Mistake("wrong centre", "The interval is not around the released value.", step)


def _usual_intervals(
    estimate: Estimate, level: float, used: Kind, other: Kind
) -> Iterable[tuple[str, tuple[float, float] | None]]:
    asked: list[tuple[str, float, Kind]] = [(f"the {other} interval", level, other)]
    asked += [(f"the level {one:g}", one, used) for one in (0.5, 0.68, 0.9, 0.95, 0.99) if one != level]
    for name, at, kind in asked:
        try:
            yield name, _ends(estimate, at, kind)
        except Unavailable:
            yield name, None


def _one_part(check: str, title: str, name: str, wrong: Mistake, picture: Markup) -> CheckResult:
    return CheckResult(check, title, (Part(name, passed=False, said=wrong.said),), wrong, picture)

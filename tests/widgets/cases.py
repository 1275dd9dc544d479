"""The golden cases of the shared maths: written by Python, met by pytest and by vitest.

``python -m tests.widgets.cases`` writes them; the ordinary tests only compare.
"""

# ruff: noqa: PERF401  a table of cases reads best as appends
from __future__ import annotations

import json
import math
from dataclasses import asdict
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dpnb.cards.plan import derived_words
from dpnb.inference import NoiseSum, digits, effective_size
from dpnb.inference.law import DiscreteGaussianLaw, DiscreteLaplaceLaw
from dpnb.planner.forecast import NORMAL, Forecast, Law, half_widths
from dpnb.risk import odds as risk
from dpnb.simulate import wilson
from dpnb.trusted.privacy.accountant import compose, epsilon_of, rho_for
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import rational
from dpnb.trusted.privacy.measure import Measure
from dpnb.widgets import arithmetic
from dpnb.widgets.curve import Curve
from dpnb.widgets.kinds import budget, person
from dpnb.widgets.kinds.clamp import clamped_errors

FOLDER = Path(__file__).parents[1] / "golden" / "maths"
Case = dict[str, Any]


def case(call: str, args: list[Any], want: Any) -> Case:
    """One case: what is called, with what, and what comes out."""
    return {"call": call, "args": args, "want": want}


def odds() -> list[Case]:
    """Beliefs and tests of membership."""
    found = []
    for epsilon in (0.0, 0.01, 0.1, 0.5, 1.0, 3.0, 10.0):
        for prior in (0.001, 0.1, 0.5, 0.9):
            found.append(case("posterior", [prior, epsilon], risk.posterior(prior, epsilon)))
            args = [prior, epsilon, 0.001, 0.05]
            found.append(case("posterior", args, risk.posterior(*args)))
        for alpha in (0.0, 0.01, 0.2, 0.5, 0.7, 1.0):
            for delta in (0.0, 0.01):
                args = [alpha, epsilon, delta]
                found.append(case("membershipPower", args, risk.membership_power(*args)))
    return found


def coverage() -> list[Case]:
    """Shares with their bands."""
    found = []
    for studies in (1, 40, 1000, 123_456):
        for share in (0.0, 0.5, 0.8, 0.95, 0.999, 1.0):
            held = round(share * studies)
            found.append(case("wilson", [held, studies], [float(end) for end in wilson(held, studies)]))
    return found


def laws() -> list[Case]:
    """Noise on the integers."""
    found = []
    made: list[tuple[str, float, Any]] = []
    for scale in ("1/10", "1", "5/2", "40", "5000"):
        exact = Fraction(scale)
        made += [
            ("discrete-laplace", float(exact), DiscreteLaplaceLaw(exact)),
            ("discrete-gaussian", float(exact), DiscreteGaussianLaw(exact**2)),
        ]
    for kind, scale, law in made:
        name = {"kind": kind, "scale": scale}
        for k in (-40, -3, -1, 0, 1, 2, 7, 100):
            found += [
                case("pmf", [name, k], float(law.pmf(k))),
                case("cdf", [name, k], float(law.cdf(k))),
                case("sf", [name, k], float(law.sf(k))),
            ]
        found += [
            case("quantile", [name, p], float(law.quantile(p))) for p in (0.005, 0.025, 0.3, 0.5, 0.995)
        ]
        found += [case("tailRadius", [name, alpha], law.tail_radius(alpha)) for alpha in (0.5, 0.05, 0.001)]
        found.append(case("variance", [name], law.variance_float))
    return found


def curves() -> list[Case]:
    """A priced curve between its points."""
    steep = Curve((0.01, 0.1, 1.0, 10.0), (30.0, 3.0, 0.3, 0.03))
    level = Curve((0.01, 0.1, 1.0, 10.0), (5.0, 2.0, 2.0, 0.5))
    found = []
    for one in (steep, level):
        for loss in (0.001, 0.01, 0.05, 0.1, 0.33, 2.5, 10.0, 99.0):
            found.append(case("widthAt", [one.to_json(), loss], one.width_at(loss)))
        for width in (0.001, 0.03, 0.07, 1.0, 2.0, 3.0, 99.0):
            found.append(case("lossFor", [one.to_json(), width], one.loss_for(width)))
    return found


def budgets() -> list[Case]:
    """Whole weights, effective sizes and combined half-widths."""
    shares = [0.5, 0.3, 0.2]
    found = []
    for many in (
        [0.5, 0.5],
        [0.5, 0.25, 0.25],
        [0.7, 0.2, 0.1],
        [0.333, 0.667],
        [0.997, 0.002, 0.001],
        shares,
    ):
        found.append(case("wholeWeights", [many], arithmetic.whole_weights(many)))
    for n, sampling, noise in ((1000, 0.25, 0.25), (50, 0.01, 0.0), (0, 1, 1), (5, 0, 0)):
        found.append(case("effectiveSize", [n, sampling, noise], float(effective_size(n, sampling, noise))))
    found += [case("combined", [a, b], arithmetic.combined(a, b)) for a, b in ((1.0, 1.0), (0.5, 3.0))]
    return found


def rho_of(events: list[Any]) -> float:
    """The ρ of some events together, by the accountant."""
    return float(sum((_loss(event, Measure.APPROX_ZCDP) * event[3] for event in events), Fraction(0)))


def _loss(event: Any, measure: Measure) -> Fraction:
    kind, amount, delta, _, *moves = event
    if moves:
        listed_moves = [[(rational(a), rational(b)) for a, b in move] for move in moves[0]]
        return PrivacyEvent.laplace(listed_moves).loss(measure).amount
    return compose([PrivacyEvent(kind, rational(amount), rational(delta))], measure).amount


def added(events: list[Any], delta: float) -> float:
    """The ε of some events by adding: each Gaussian one alone at an equal part of δ, every other at its own ε."""
    gaussian = sum(event[3] for event in events if event[0] == "gaussian")
    total = Fraction(0)
    for kind, amount, _, times, *_ in events:
        alone = epsilon_of(amount, rational(delta) / gaussian) if kind == "gaussian" else rational(amount)
        total += alone * times
    return float(total)


def compared(epsilon: float | None, rho: float | None, events: list[Any], delta: float) -> Any:
    """Some events counted by adding and by zCDP, under one promise; one of ε and ρ may follow from the other at δ."""
    if epsilon is None:
        epsilon = float(epsilon_of(rho or 0.0, delta))
    if rho is None:
        rho = float(rho_for(epsilon, delta))
    sums = {"added": added(events, delta), "rhos": rho_of(events)}
    shares = {"adding": sums["added"] / epsilon, "zcdp": sums["rhos"] / rho}
    even = None if rho >= epsilon else 2 * math.atanh(rho / epsilon)
    return {"epsilon": epsilon, "rho": rho, **sums, **shares, "even": even}


def compositions() -> list[Case]:
    """One promise counted by adding and by zCDP; the conversions are the accountant's."""
    found = []
    for delta in (1e-5, 1e-6, 1e-9):
        for rho in (0.0, 0.0001, 0.0123, 0.5, 3.0):
            found.append(case("epsilonOf", [rho, delta], float(epsilon_of(rho, delta))))
        for epsilon in (0.05, 0.7, 1.0, 4.0, 11.5):
            found.append(case("rhoFor", [epsilon, delta], float(rho_for(epsilon, delta))))
    pure = [["pure", 0.05, 0.0, 30], ["exponential", 0.2, 0.0, 2]]
    mixed = [["gaussian", 0.01, 0.0, 12], ["pure", 0.3, 0.0, 1], ["approximate", 0.5, 1e-8, 2]]
    sums = [
        ["laplace", 0.9, 0.0, 2, [[[50.0, 125.0], [1.0, 2.0]], [[100.0, 125.0]]]],
        ["exponential", 20.0, 0.0, 1],
    ]
    for events in ([], pure, mixed, sums, [["gaussian", 0.25, 0.0, 1]]):
        found.append(case("rhoOf", [events], rho_of(events)))
        assert math.isclose(rho_of(events), sum(map(arithmetic.event_rho, events)), rel_tol=1e-12)
        for delta in (1e-5, 1e-6):
            found.append(case("added", [events, delta], added(events, delta)))
            for promise in ([4.0, None], [None, 0.5], [1.0, 0.0228]):
                found.append(case("compared", [*promise, events, delta], compared(*promise, events, delta)))
    return found


_LAPLACE = [["laplace", 1.0, 0.0, 1, [[[1.0, 2.0], [25.0, 50.0]], [[1.0, 1.0]]]]]
"""The events of a loss of one."""


def lines() -> list[Case]:
    """Magic lines: what a cell is charged, the largest loss that fits, whole weights."""
    third = 0.333333333
    found = [
        case("costOf", [loss, held, rate, power], arithmetic.cost_of(loss, held, rate, power))
        for loss, held, rate, power in (
            (0.5, None, 1, 1),
            (0.5, 0.5, 1, 1),
            (0.5, 0.4, 1, 1),
            (0.5, None, 0.5, 2),
            (0, None, 1, 1),
            (0.5, None, _LAPLACE, 2),
            (3.0, None, [["exponential", 0.5, 0.0, 2], ["pure", 0.25, 0.0, 1]], 2),
            (3.0, 3.0, _LAPLACE, 2),
        )
    ]
    for x in (0.0, -1.0, 0.1, 0.12345, 1.0, 99.99, 1e-6, 0.3, 123456.0):
        found.append(case("floored3", [x], arithmetic.floored3(x)))
    for args in (
        ([0.5, 0.5], [None, None], [1, 1], 1, 0.7, 2.0),
        ([0.5, 0.5], [0.6, None], [1, 1], 1, 0.7, 2.0),
        ([1.0], [None], [0.5], 2, 0.02, 5.0),
        ([0.4, 0.6], [None, None], [_LAPLACE, [["exponential", 1.0, 0.0, 1]]], 2, 0.2, 50.0),
        ([0.2, 0.8], [None, None], [1, 1], 1, 0.0, 1.0),
        ([0.2, 0.8], [None, None], [1, 1], 1, 9.0, 1.0),
    ):
        found.append(case("largestLoss", list(args), arithmetic.largest_loss(*args)))
    for losses, held, total in (
        ([0.3, 0.3, 0.3], [None, None, None], 0.9),
        ([0.5, 0.25, 0.25], [None] * 3, 1.0),
        ([third, 0.5, 0.5], [third, None, None], 1.33),
        ([0.2, 0.0, 0.6], [None] * 3, 0.8),
        ([0.0, 0.0], [None] * 2, 0.0),
        ([0.017, 0.5], [0.017, None], 0.517),
        ([third, third], [third, third], 0.667),
    ):
        found.append(case("lineWeights", [losses, held, total], arithmetic.line_weights(losses, held, total)))
    return found


def _asked(name: str, rate: Any = 1.0, held: float | None = None, own: float = 0.0) -> dict[str, Any]:
    """One question of a plan: it shares the line's loss, or spends by itself."""
    answer = None if held is None else {"amount": held, "words": "± 0.02", "width": 0.02}
    kept = {"stored": False, "held": answer, "nameable": True}
    return {"name": name, "text": name, "state": "own" if own else "split", "own": own, "rate": rate, **kept}


def _plan(left: float, questions: list[dict[str, Any]], **besides: Any) -> dict[str, Any]:
    """A plan's facts, as the magic line needs them."""
    line = {"kind": "epsilon", "symbol": "ε", "paid": {"symbol": "ε", "power": 1}, "left": left}
    cell = {"body": "a = hiv.got.mean()", "verb": "", "rest": "", "pinned": ""}
    shared = [one for one in questions if one["state"] == "split"]
    return {**line, **cell, "shares": [1 / len(shared) for _ in shared], "questions": questions, **besides}


def escapes() -> list[Case]:
    """The ways out of plans that do not fit: nothing stored, all or some stored, pinned shares, a loss of its own, ρ."""
    a, b, c = (_asked(name) for name in "abc")
    rho = {"paid": {"symbol": "ρ", "power": 2}, "rest": "assume_n=40 fresh", "verb": "release"}
    plans = [
        (_plan(1.5, [a, b, c]), [0.6, 0.6, 0.6]),
        (_plan(1.5, [a, b, c]), [1.2, 0.3, 0.1]),
        (_plan(0.2, [a, b, c]), [1.2, 0.3, 0.3]),
        (_plan(0.05, [a, b]), [1.0, 1.0]),
        (_plan(0.0, [a, b]), [1.0, 1.0]),
        (_plan(2.0, [a]), [5.0]),
        (_plan(0.7, [_asked("a", held=0.6), b]), [1.0, 1.0]),
        (_plan(1.5, [_asked("a", held=0.5), b, c]), [0.6, 0.6, 0.6]),
        (_plan(0.0, [_asked("a", held=0.5), _asked("b", held=1 / 3)]), [1.0, 1.0]),
        (_plan(0.5, [_asked("a", held=2.0), b]), [1.0, 1.0]),
        (_plan(0.5, [a, b], pinned="no name"), [1.0, 1.0]),
        (_plan(0.5, [_asked("a", held=0.1), b], pinned="no name"), [1.0, 1.0]),
        (_plan(0.5, [_asked("a", held=0.1)], pinned="weights"), [1.0]),
        (_plan(2.0, [_asked("a", own=1.0), b]), [2.0]),
        (_plan(0.5, [_asked("a", own=1.0), b]), [2.0]),
        (_plan(0.4, [_asked("a", 0.5), _asked("b", 0.125), _asked("c", 0.5)], **rho), [1.0, 1.0, 0.5]),
        (_plan(0.4, [_asked("a", _LAPLACE), b, _asked("c", _LAPLACE)], **rho), [1.0, 1.0, 0.5]),
        (_plan(0.01, [_asked(name) for name in "abcdef"]), [0.3, 0.1, 0.1, 0.002, 0.002, 0.002]),
        (_plan(0.5, [a, b]), [0.0, 1.0]),
        (_plan(0.5, []), []),
    ]
    return [case("ways", [facts, losses], budget.ways(facts, losses)) for facts, losses in plans]


def sums() -> list[Case]:
    """The 95 % radius of a sum of Laplace and normal errors."""
    found = []
    for variance, of in (
        (0.0, []),
        (1.0, []),
        (0.0, [1.0]),
        (0.0, [1.0, 1.0]),
        (0.0, [3.0, 1.0, 0.2]),
        (2.0, [1.0, 0.5]),
        (100.0, [0.1]),
        (1e-6, [2.0]),
        (0.0, [9.0, 5.0, 3.0, 2.0, 1.0, 0.5, 0.2, 0.1, 0.05]),
        (0.3, [5.0, 1.0, 1.0, 0.7]),
    ):
        for alpha in (0.05, 0.5, 0.001):
            want = NoiseSum(variance, tuple(of)).radius(alpha)
            found.append(case("radius", [variance, of, alpha], float(want)))
    return found


def forecasts() -> list[Case]:
    """The ± of derived values, in numbers and in words."""
    laws = [Law(0.0, (0.33381,)), Law(0.2, (0.3, 0.1)), NORMAL, None]
    told = [
        Forecast("sum", points=(((0, (1.0,)), (1, (0.5, 0.25))),)),
        Forecast("sum", points=(((0, (2.0,)),), ((2, (3.0,)),)), each=True),
        Forecast("sum", points=((),)),
        Forecast("one", of=2, reach=((0.001, 0.0, 0.02), (0.1, 0.01, 0.2), (1.0, 0.5, 0.5)), centre=0.5),
        Forecast("many", middle=((0, (0.5,)), (2, (0.5,))), points=(((0, (1.0,)), (2, (1.0,))),)),
        Forecast("many", middle=((0, (0.5,)), (2, (0.5,))), why="no bound: a denominator may be zero"),
        Forecast("sum", points=(((0, (1.0,)),),), given="if all 4,820 people count"),
        Forecast("none", why="known after the release"),
    ]
    names = ["a", "b", "c", "d"]
    found = []
    for one in told:
        for widths in ([0.1, 0.2, 0.03, None], [36.0, 0.001, 0.7, None], [2.0, 2.0, 9.0, None]):
            given = [one.to_json(), [None if law is None else law.to_json() for law in laws], widths]
            if one.kind != "none":
                found.append(case("halfWidths", given, list(half_widths(one, laws, widths))))
            found.append(case("words", [*given, names], derived_words(one, laws, widths, names)))
    return found


def people() -> list[Case]:
    """One person moved: past the bounds, across arms, out of a pair."""
    tables = (
        ([1.0, 4.0, 4.5, 9.0, 12.0], [0, 1, 0, 1, 1], [0.1, 0.12, 0.5, 0.52, 0.9]),
        ([5.0], [0], [0.5]),
        ([0.0, 10.0, 10.0, 10.0], [1, 0, 0, 1], [0.3, 0.26, 0.34, 0.33]),
        ([2.0, 7.0], [1, 1], [0.4, 0.4]),
    )
    found = []
    for values, arms, scores in tables:
        table = {"values": values, "arms": arms, "scores": scores}
        made = person.People(tuple(values), tuple(arms), tuple(scores))
        bounds = {"low": 0.0, "high": 10.0}
        for kind in person.STATISTICS:
            move = person.worst(kind, made, 0.0, 10.0)
            found.append(case("statistic", [kind, table, bounds], person.statistic(kind, made, 0.0, 10.0)))
            found.append(case("worst", [kind, table, bounds], asdict(move)))
    return found


def clamps() -> list[Case]:
    """Bias and noise of clamped means."""
    values = np.random.default_rng(3).lognormal(3.0, 0.8, 200).round(3).tolist()
    found = []
    for low, high in ((0.0, 10.0), (0.0, 60.0), (5.0, 500.0), (20.0, 20.0)):
        errors = zip(("bias", "noise", "rmse"), clamped_errors(values, low, high, 0.01), strict=True)
        found.append(case("errors", [values, low, high, 0.01], dict(errors)))
    return found


def texts() -> list[Case]:
    """Honest digits: equal texts, not close numbers."""
    found = []
    for value in (
        0.0,
        1.0,
        -1.0,
        0.5,
        2.5,
        0.125,
        0.46312,
        0.15,
        1234.5,
        12345.678,
        1e-5,
        0.00012345,
        2817.2,
        999.6,
        -1000.4,
        1e16,
        -0.001,
    ):
        found.append(case("number", [value], digits.number(value)))
        for places in (0, 1, 2, 3):
            found.append(case("number", [value, places], digits.number(value, places)))
    for widths in ([0.0304], [0.5, 12.0], [None, 3.0], [0.0], [], [99.9], [1e-20]):
        found.append(case("decimalsFor", [widths], digits.decimals_for(widths)))
    found += [case("span", [0.4333, 0.4939, 3], digits.span(0.4333, 0.4939, 3))]
    for share in (0.1, 0.15483, 0.9999, 1.0, 0.001, 0.23197, 0.0001, 0.99918, 0.99999, 0.9999999, 1 - 1e-12):
        found.append(case("atMostPercent", [share], risk.at_most(share)))
        found.append(case("atMostPeople", [share, 10_000], risk.at_most_people(share, 10_000)))
    return found


FILES = {
    "odds": odds,
    "coverage": coverage,
    "laws": laws,
    "curve": curves,
    "budget": lambda: budgets() + lines(),
    "forecast": forecasts,
    "noise_sum": sums,
    "composition": compositions,
    "ways": escapes,
    "person": people,
    "clamp": clamps,
    "digits": texts,
}


def written(name: str) -> list[Case]:
    """The cases on file."""
    return json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))


def write() -> None:
    """Write every file."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in FILES.items():
        lines = ",\n".join(json.dumps(one, ensure_ascii=False, allow_nan=False) for one in make())
        (FOLDER / f"{name}.json").write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def close(found: Any, want: Any) -> bool:
    """Whether two results agree: texts and whole numbers exactly, floats to twelve digits."""
    if isinstance(want, dict):
        return set(found) == set(want) and all(close(found[key], want[key]) for key in want)
    if isinstance(want, list):
        return len(found) == len(want) and all(map(close, found, want))
    if isinstance(want, float) and isinstance(found, int | float):
        return math.isclose(found, want, rel_tol=1e-12, abs_tol=1e-15)
    return bool(found == want)


if __name__ == "__main__":
    write()

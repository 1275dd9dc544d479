"""``demo.html``: one file, no kernel, no network, in which dragging ε moves the interval of a real finding.

The page is drawn from what was released of one question, once or several times: noised shares, noised group sizes, their
interval, and the sensitivity that a release's price states. The browser computes with the closed forms of ``noise_sum.js``;
:func:`difference_at` is their Python twin, and a test holds the two together.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from fractions import Fraction
from functools import lru_cache
from html import escape
from importlib.resources import files

from dpnb.cards.explain import posterior
from dpnb.cards.report import policy
from dpnb.errors import PlanError
from dpnb.estimate import Estimate
from dpnb.inference import NoiseSum, effective_size, student_inflation
from dpnb.inference.digits import number, people
from dpnb.risk.odds import at_most
from dpnb.statistics.released import combine
from dpnb.trusted.releases import Release
from dpnb.trusted.schema import Schema

START = 0.5


@dataclass(frozen=True, slots=True)
class Arm:
    """One group as released: noised size, centred mean of the two-valued outcome, and the small-sample factor."""

    n: float
    mean: float
    inflation: float


@dataclass(frozen=True, slots=True)
class Facts:
    """All that the page knows: released numbers and public constants."""

    arms: tuple[Arm, ...]
    difference: float
    released: tuple[float, float]
    sensitivity: float


@dataclass(frozen=True, slots=True)
class Forecast:
    """Half-widths at 95 %, effective size and size, at another ε."""

    privacy: float
    confidence: float
    effective: float
    people: float


def facts_of(effect: Estimate) -> Facts:
    """Return the facts of a released difference of proportions.

    Raises
    ------
    PlanError
        If the estimate is not a released difference of a two-valued column.
    """
    leaf = effect.measurement
    if leaf is None or not leaf.releases or not leaf.checked.kind.arms:
        raise PlanError("The demonstration page draws a released difference of proportions.")
    part = combine(leaf.releases).get("tally")
    if part is None or part.values.size != 4:
        raise PlanError("The demonstration page draws a released difference of proportions.")
    arms = []
    for zeros, ones in part.values.reshape(2, 2):
        n = max(float(zeros + ones), 1.0)
        arms.append(Arm(n, float(min(max((ones - zeros) / n, -1.0), 1.0)), student_inflation(n)))
    low, high = effect.interval(kind="privacy")
    return Facts(tuple(arms), float(effect.value), (low, high), _sensitivity(leaf.releases[0]))


def _sensitivity(release: Release) -> float:
    """Return the L1 sensitivity behind the scale of a release: what it would be at ε 1."""
    return float(Fraction(release.parts[0].law["scale"]) * release.loss.amount)


def _paid(effect: Estimate) -> str:
    """Say what was paid for the centre: one loss, or that of each answer which it combines and their sum."""
    losses = [str(release.loss) for release in effect.releases]
    if len(losses) == 1:
        return losses[0]
    return f"{' + '.join(losses)} ({len(losses)} releases combined, {effect.loss} together)"


def difference_at(facts: Facts, epsilon: float) -> Forecast:
    """Return what the same question would look like at another ε: the twin of the page's own function."""
    scale, noise, sampling, wider = facts.sensitivity / epsilon, NoiseSum(), 0.0, 0.0
    for arm in facts.arms:
        tally = NoiseSum(0.0, (scale,), 0.5)
        noise = noise + (tally.scaled(1 - arm.mean) + tally.scaled(1 + arm.mean)).scaled(0.5 / arm.n)
        variance = 0.25 * (1 - arm.mean**2) / arm.n
        sampling += variance
        wider += variance * arm.inflation
    n = sum(arm.n for arm in facts.arms)
    effective = effective_size(n, sampling, noise.total_variance)
    return Forecast(noise.radius(0.05), noise.plus_normal(wider).radius(0.05), effective, n)


@lru_cache(maxsize=4)
def _file(name: str) -> str:
    return files("dpnb.cards").joinpath(name).read_text(encoding="utf-8")


def demo_page(effect: Estimate, schema: Schema) -> str:
    """Return the whole page.

    Parameters
    ----------
    effect : Estimate
        A released difference of proportions.
    schema : Schema
        Of the study, for its source.
    """
    facts = facts_of(effect)
    first, second = (0.5 + 0.5 * arm.mean for arm in facts.arms)
    found = difference_at(facts, START)
    low, high = (100 * (facts.difference + sign * found.privacy) for sign in (-1, 1))
    interval, accuracy = f"{number(low, 0)} to {number(high, 0)}", people(found.effective, found.people)
    odds = at_most(posterior(0.1, START))
    static = (
        f"ε {START}: {interval} percentage points, {accuracy}; an honest 10 % guess becomes at most {odds}"
    )
    words = {
        "first": f"{100 * first:.0f} %",
        "second": f"{100 * second:.0f} %",
        "static": static,
        "epsilon": f"{START}",
        "position": f"{math.log10(START):.2f}",
        "interval": interval,
        "accuracy": accuracy,
        "odds": odds,
        "paid": _paid(effect),
        "released": " to ".join(number(100 * end, 1) for end in facts.released),
        "centre": f"{100 * facts.difference:.1f}",
        "source": (schema.citation or schema.title).rstrip("."),
    }
    page = _file("demo.html")
    data = {"maths": _file("noise_sum.js"), "facts": json.dumps(asdict(facts)).replace("</", "<\\/")}
    scripts = [_filled(one, data) for one in re.findall("<script>(.*?)</script>", page, re.DOTALL)]
    page = _filled(page, {**data, "policy": str(policy(*scripts))})
    return _filled(page, {name: escape(text) for name, text in words.items()})


def _filled(text: str, words: Mapping[str, str]) -> str:
    """Return a text with words in the places that name them."""
    for name, word in words.items():
        text = text.replace(f"@{name}@", word)
    return text

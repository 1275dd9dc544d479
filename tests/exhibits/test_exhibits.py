"""Each exhibit breaks as it says, and its correction withstands the same attack."""

from __future__ import annotations

import json
import math
import subprocess
import sys

import numpy as np
import pytest

from dpnb.audit import audit
from dpnb.cards.markup import escape
from dpnb.errors import OptionError, PlanError
from dpnb.exhibits import EXHIBITS, Finding, find, overview
from dpnb.exhibits.card import exhibit_card

NAMES = [exhibit.name for exhibit in EXHIBITS]
RUN = [exhibit.name for exhibit in EXHIBITS if exhibit.sampled]


@pytest.fixture(scope="module")
def computed():
    """Every exhibit's numbers, computed once."""
    return {exhibit.name: exhibit.numbers() for exhibit in EXHIBITS}


@pytest.mark.parametrize("name", NAMES)
def test_the_number_breaks_the_claim(name, computed):
    """What is actual is not what was claimed."""
    assert not computed[name].broken.kept, computed[name].broken.text


@pytest.mark.parametrize("name", NAMES)
def test_the_correction_keeps_its_promise_under_the_same_attack(name, computed):
    """The corrected procedure, measured in the same way, keeps what it promises."""
    assert computed[name].corrected.kept, computed[name].corrected.text


@pytest.mark.parametrize("name", RUN)
def test_an_audit_of_the_published_procedure_exceeds_its_claim(name):
    """Running it, without reading it, shows the break: at α = 10⁻⁶ the bound is above the claim."""
    exhibit = find(name)
    verdict = audit(
        exhibit.flawed,
        exhibit.neighbours,
        exhibit.claimed,
        delta=exhibit.delta,
        events=exhibit.events,
        trials=40_000,
    )
    assert verdict.breaks, verdict.text


@pytest.mark.parametrize("name", RUN)
def test_an_audit_of_the_correction_finds_nothing(name):
    """The same audit of the corrected procedure stays at or below its claim."""
    exhibit = find(name)
    verdict = audit(
        exhibit.corrected,
        exhibit.neighbours,
        exhibit.kept,
        delta=exhibit.delta,
        events=exhibit.events,
        trials=20_000,
    )
    assert not verdict.breaks, verdict.text


def test_the_figures_are_those_of_the_theory(computed):
    """Derived independently: each figure agrees with the notes to their digits."""
    found = {name: numbers.broken.actual for name, numbers in computed.items()}
    assert found["resized-bootstrap"] == math.inf
    assert found["free-bootstrap"] == pytest.approx(34.0, abs=0.05)
    assert found["advanced-constant"] == pytest.approx(0.536, abs=0.0005)
    assert found["averaged-laplace"] == pytest.approx(1.23, abs=0.005)
    assert found["product-of-epsilons"] == pytest.approx(1.0, abs=1e-4)
    assert found["difference-of-means"] == pytest.approx(0.998, abs=0.0005)
    assert found["winsorized-noise"] == pytest.approx(1.0, abs=1e-9)
    assert found["quantile-without-epsilon"] == pytest.approx(1.734, abs=0.001)
    assert found["rule-2.996"] == pytest.approx(0.986, abs=0.0006)
    assert found["laplace-critical-value"] == pytest.approx(0.8965, abs=0.0001)
    assert found["records-to-change"] == pytest.approx(0.056, abs=0.0005)
    assert computed["records-to-change"].broken.claimed == pytest.approx(0.028, abs=0.0005)
    assert found["box-sensitivity"] == pytest.approx(161.0, abs=0.05)
    more = {name: dict(numbers.more) for name, numbers in computed.items()}
    assert "0.0952" in more["resized-bootstrap"]["δ of one use"]
    assert "0.1736" in more["resized-bootstrap"]["δ of one use"]
    assert "1.999" in more["quantile-without-epsilon"]["40 values"]
    assert "0.725" in more["advanced-constant"]["theorem"]
    assert "15.7" in more["advanced-constant"]["noise"]
    assert more["averaged-laplace"]["at k = 10"] == "1.52 at ε 0.1, 1.23 at ε 0.5, 1.12 at ε 1"
    assert "0.054" in more["difference-of-means"]["scale of the noise"]
    assert "8.0" in more["trimmed-regression"]["66 sums at (1, 1e-6)"]


def test_the_difference_of_means_breaks_by_its_scale_alone():
    """One person changes arm, both estimates are 0, and the noise is still told apart: δ .054 at ε 0.5."""
    from dpnb.exhibits import arms

    verdict = audit(arms._published_difference, arms._LEAVES, 0.5, delta=0.02, trials=100_000)
    assert verdict.breaks
    assert not audit(arms.DIFFERENCE.corrected, arms._LEAVES, 0.5, trials=50_000).breaks


def test_no_corner_of_a_small_box_is_further_than_the_corrected_bound():
    """Brute force over corners and interior points in four columns: the sums of a row move by at most the formula."""
    from itertools import product

    from dpnb.exhibits.regression import box_bound, upper_triangle

    points = [np.array(p, dtype=float) for p in product((-4, 0, 4), repeat=3)]
    furthest = max(np.linalg.norm(upper_triangle(a) - upper_triangle(b)) for a in points for b in points)
    assert furthest <= box_bound(3) + 1e-9
    corners = [np.array(p, dtype=float) for p in product((-4, 4), repeat=4)]
    furthest = max(np.linalg.norm(upper_triangle(a) - upper_triangle(b)) for a in corners for b in corners)
    assert furthest == pytest.approx(box_bound(4))


def test_at_large_k_the_constant_matters_more():
    """A thousand answers: .544 for a claimed .5; ten answers: nothing is wrong."""
    from dpnb.exhibits.laws import composed_laplace_epsilon

    def share(k):
        return 0.5 / math.sqrt(k * math.log(1e6))

    assert composed_laplace_epsilon(share(1000), 1000, 1e-6, upwards=False, cells=500) == pytest.approx(
        0.544, abs=1e-3
    )
    assert composed_laplace_epsilon(share(10), 10, 1e-6, upwards=True) < 0.5


def test_the_average_of_laplaces_has_the_variance_that_is_stated():
    """Of three draws, by convolution. Exact Gaussian noise is less noisy from k 6.6, 8.1 and 8.9 on, and not from ln(1.25/δ) = 14."""
    from dpnb.exhibits.composing import averaged_variance, gaussian_threshold
    from dpnb.inference.law import DiscreteLaplaceLaw

    one = DiscreteLaplaceLaw(1).pmf(np.arange(-60, 61))
    three, at = np.convolve(np.convolve(one, one), one), np.arange(-180, 181) / 3
    assert averaged_variance(1, "3", 3) == pytest.approx(three @ at**2)
    found = [gaussian_threshold(epsilon, "1e-6") for epsilon in ("0.1", "0.5", "1")]
    assert found == pytest.approx([6.6, 8.1, 8.9], abs=0.05)


def test_a_composition_is_bounded_from_both_sides():
    """One answer: δ(ε') = 1 - e^((ε'-ε)/2); many: the independent library lies between the two bounds."""
    from dpnb.exhibits.laws import composed_laplace_epsilon
    from dpnb.risk.exact import Step, exact_epsilon

    low, high = (composed_laplace_epsilon(1.0, 1, 0.1, upwards=up) for up in (False, True))
    assert low <= 1 + 2 * math.log(0.9) <= high + 1e-9
    low, high = (composed_laplace_epsilon(0.05, 50, 1e-5, upwards=up) for up in (False, True))
    oracle = exact_epsilon([Step("laplace", "0.05", times=50)], "1e-5", grid=1e-5)
    assert low <= oracle <= high + 1e-3
    assert high - low < 1e-3


@pytest.mark.parametrize("name", NAMES)
def test_an_exhibit_is_told_in_text_html_and_json(name):
    """Claim, source, both neighbours, the number, the correction and its price are on the card; JSON is strict."""
    exhibit = find(name)
    card = exhibit_card(exhibit)
    text = " ".join(exhibit.text.split())
    for said in (exhibit.claim, exhibit.why, exhibit.correction, exhibit.cost, *exhibit.worlds):
        assert said in text
    assert max(map(len, exhibit.text.splitlines())) <= 100
    assert escape(exhibit.title) in str(card.html)
    assert "exhibit" in str(card.html)
    record = json.loads(json.dumps(card.json, allow_nan=False))
    assert record["published"]["kept"] is False
    assert record["corrected"]["kept"] is True
    assert "<svg" in str(card.html)


def test_the_overview_names_every_exhibit():
    card = overview()
    assert all(name in card.text and name in str(card.html) for name in NAMES)


def test_names_are_distinct_and_found():
    assert len(set(NAMES)) == len(NAMES) == 23
    with pytest.raises(OptionError, match="resized-bootstrap"):
        find("resized")


def test_a_plan_that_names_an_exhibit_is_refused():
    """The check that kernel and curator share knows no such statistic: refused before any charge."""
    from dpnb.datasets import find as find_study
    from dpnb.planner import Question
    from dpnb.planner import expression as e
    from dpnb.planner.check import check

    for name in NAMES:
        with pytest.raises(PlanError, match="unknown statistic"):
            check(Question("hiv", name, e.Ref("got")), find_study("hiv").schema)


def test_the_curator_never_loads_an_exhibit():
    """Importing the whole curator brings in neither exhibits nor audits nor array-only resampling."""
    program = """
import importlib, pkgutil, sys
import dpnb.trusted.curator
for module in pkgutil.walk_packages(dpnb.trusted.curator.__path__, "dpnb.trusted.curator."):
    if not module.name.endswith("__main__"):
        importlib.import_module(module.name)
print([n for n in sys.modules if n.startswith(("dpnb.exhibits", "dpnb.audit"))])
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("finding", "kept"),
    [
        (Finding(1, 1, "ε"), True),
        (Finding(1, 1.01, "ε"), False),
        (Finding(1, math.inf, "ε"), False),
        (Finding(0.9, 0.89, "coverage", "at least"), False),
        (Finding(0.9, 0.95, "coverage", "at least"), True),
        (Finding(0.95, 0.97, "coverage", "exactly", 0.01), False),
    ],
)
def test_a_promise_is_kept_in_its_own_sense(finding, kept):
    """At most, at least and exactly are three different promises."""
    assert finding.kept is kept

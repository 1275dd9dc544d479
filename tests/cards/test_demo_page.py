"""The page without a kernel: what its script computes is what Python computes, from released numbers alone."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

import dpnb.cards
from dpnb.cards.demo import demo_page, difference_at, facts_of
from dpnb.cards.explain import posterior
from dpnb.errors import PlanError
from dpnb.inference import NoiseSum
from tests.cards import made

SCRIPT = Path(dpnb.cards.__file__).parent / "noise_sum.js"
LOSSES = (0.005, 0.02, 0.1, 0.25, 0.5, 1.0, 3.0, 10.0)
SUMS = (
    (0.0, (3.0,), 0.5),
    (4.0, (), 0.5),
    (2.5, (1.0, 1.0, 4.0), 1.5),
    (0.0, (2.0, 2.0, 2.0, 7.0), 0.0),
    (900.0, (0.2,), 0),
)


@pytest.fixture(scope="module")
def effect():
    """A released difference of proportions."""
    return made.estimate("effect", epsilon="0.25")


def browser_says(program):
    """What the page's own script computes."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("needs node; the browser test computes the same in the page")
    source = SCRIPT.read_text(encoding="utf-8") + f"\nconsole.log(JSON.stringify({program}));"
    done = subprocess.run([node, "-e", source], capture_output=True, text=True, check=True)
    return json.loads(done.stdout)


def page_facts(page):
    """The facts that the page carries."""
    return json.loads(re.search(r"const FACTS = (\{.*?\});", page).group(1))


def test_page_computes_what_python_computes(effect):
    """Half-widths, effective size and odds agree to nine digits at every ε, from the very facts in the page."""
    facts = page_facts(demo_page(effect, made.study()))
    said = browser_says(f"[{','.join(map(str, LOSSES))}].map((e) => differenceAt({json.dumps(facts)}, e))")
    for epsilon, found in zip(LOSSES, said, strict=True):
        twin = difference_at(facts_of(effect), epsilon)
        assert found["privacy"] == pytest.approx(twin.privacy, rel=1e-7)
        assert found["confidence"] == pytest.approx(twin.confidence, rel=1e-7)
        assert found["effective"] == pytest.approx(twin.effective, rel=1e-9)
        assert found["people"] == twin.people


def test_script_has_the_law_of_a_noise_sum():
    """The script's tails and radii are those of inference.NoiseSum."""
    laws = [[variance, list(scales), slack] for variance, scales, slack in SUMS]
    said = browser_says(
        f"{json.dumps(laws)}.map(([v, b, s]) => {{const n = noiseSum(v, b, s); return [n.radius(0.05), n.tail(5)];}})"
    )
    for (variance, scales, slack), (radius, tail) in zip(SUMS, said, strict=True):
        law = NoiseSum(variance, scales, slack)
        assert radius == pytest.approx(law.radius(0.05), rel=1e-7)
        assert tail == pytest.approx(law.tail(5), rel=1e-7)


def test_page_agrees_with_the_release_at_its_own_price(effect):
    """At the ε that was paid, the page's interval is the released one, up to its exact inversion."""
    twin = difference_at(facts_of(effect), 0.25)
    low, high = effect.interval(kind="privacy")
    assert twin.privacy == pytest.approx((high - low) / 2, rel=0.1)
    low, high = effect.interval(kind="confidence")
    assert twin.confidence == pytest.approx((high - low) / 2, rel=0.1)
    assert twin.effective == pytest.approx(effect.n_eff, rel=0.02)


def test_page_scales_noise_by_what_one_person_moves(effect):
    """A changed row leaves one tally and joins another."""
    assert facts_of(effect).sensitivity == 2.0


def test_odds_of_the_page():
    """An honest 10 % guess becomes at most 15.5 % at ε 0.5, in both languages."""
    said = browser_says("posterior(0.1, 0.5)")
    assert said == pytest.approx(posterior(0.1, 0.5), rel=1e-12)
    assert 0.154 < said < 0.155


def test_page_stands_alone_and_reads_without_its_script(effect):
    """No address, no import; the static sentence says interval, people and odds at ε 0.5."""
    assert "<script>alert" not in demo_page(effect, made.study(label=made.EVIL))
    page = demo_page(effect, made.study())
    assert not re.search(r"https?:|@import|src=|<link|@\w+@", page)
    text = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert "people without noise (of 2,817)" in text
    assert "an honest 10 % guess becomes at most 15.5 %" in text


def test_page_says_how_often_its_answer_was_released(effect):
    """The centre of one release names its loss; of two combined both losses and their sum, with the interval of both."""
    alone, both = (
        demo_page(effect, made.study()),
        demo_page(made.combined("effect", epsilon="0.25"), made.study()),
    )
    assert "released at ε 0.25, with" in alone
    assert "released at ε 0.25 + ε 0.25 (2 releases combined, ε 0.5 together), with" in both
    (low, high), (lower, higher) = (page_facts(page)["released"] for page in (both, alone))
    assert lower < low < high < higher
    assert f"drawn in grey: {100 * low:.1f} to {100 * high:.1f}." in both


def test_page_holds_no_other_number_of_people(effect):
    """Sizes on the page are the released, noised ones."""
    facts = page_facts(demo_page(effect, made.study()))
    assert [arm["n"] for arm in facts["arms"]] == [620.0, 2197.0]


def test_page_refuses_another_kind_of_answer():
    """Only a released difference of proportions can be drawn."""
    with pytest.raises(PlanError, match="difference of proportions"):
        demo_page(made.estimate("collected"), made.study())

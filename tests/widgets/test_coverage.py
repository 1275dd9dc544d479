"""The coverage lab is `simulate`, cut into blocks: to the bit, whatever was pressed; in bounded memory; bad input refused."""

from __future__ import annotations

import json
import re
import time
from fractions import Fraction

import numpy as np
import pytest

from dpnb import simulate, widgets
from dpnb.errors import DpnbError
from dpnb.widgets import coverage_run
from dpnb.widgets.scenes import ASKED, SCENES, made

PAIRS = [
    (name, key) for name, one in ASKED.items() for key, scene in SCENES.items() if scene.kind in one.kinds
]


def pressed(lab, **chosen):
    """What the page does: set something, and ask for blocks until nothing is left."""
    pull = lab.chosen.get("pull", 0)
    lab.chosen = {**lab.chosen, **chosen}
    while lab.result.studies < lab.facts["reps"] and not lab.facts["problem"]:
        pull += 1
        lab.chosen = {**lab.chosen, "pull": pull}
        assert lab.facts["pulled"] == pull
    return lab


def numbers(table):
    """A table as text: equal to the bit, not-a-number included."""
    return repr({name: [repr(value) for value in table[name]] for name in table.columns})


def lines(figure):
    """What a figure draws."""
    return [line.get_xydata().tobytes() for axes in figure.axes for line in axes.lines]


def test_lab_simulate_and_figure_agree_to_the_bit():
    """Asked for block by block, in one piece, or by its own line of code: the same numbers and the same figure."""
    lab = pressed(widgets.coverage_lab("mean", "outliers", n=700, epsilon=0.3, reps=2300, rng=5))
    whole = simulate.coverage(
        "mean",
        simulate.with_outliers(simulate.normal(30, 6), 0.02),
        n=700,
        losses=0.3,
        intervals=("privacy", "confidence", "naive", "normal"),
        reps=2300,
        rng=5,
    )
    names: dict = {}
    *imports, call = lab.code().splitlines()
    exec("\n".join(imports), names)
    again = eval(call, names)  # noqa: S307  the lab's own line
    assert numbers(lab.table()) == numbers(whole.table()) == numbers(again.table())
    assert lines(lab.figure()) == lines(whole.plot()) == lines(again.plot())


@pytest.mark.parametrize("view", ["loss", "n"])
def test_sweep_agrees_to_the_bit(view):
    """A sweep of the lab is the call that it shows."""
    lab = pressed(widgets.coverage_lab("proportion", "married", n=100, reps=50), view=view)
    names: dict = {}
    *imports, call = lab.code().splitlines()
    exec("\n".join(imports), names)
    assert numbers(lab.table()) == numbers(eval(call, names).table())  # noqa: S307  the lab's own line
    naive = next(row for row in lab.facts["sweep"]["rows"] if row["name"] == "naive")
    table = lab.table()
    assert naive["coverage"] == [
        share for share, name in zip(table["coverage"], table["interval"], strict=True) if name == "naive"
    ]


def test_monte_carlo_and_hidden_methods_reproduce():
    """What was hidden is not in the code; the Monte Carlo interval is, as the call that makes it."""
    lab = widgets.coverage_lab("mean", "bell", n=60, reps=30, methods=["confidence", "monte carlo"]).run()
    names: dict = {}
    *imports, call = lab.code().splitlines()
    assert "simulate.monte_carlo()" in call
    assert "naive" not in call
    exec("\n".join(imports), names)
    assert numbers(lab.table()) == numbers(eval(call, names).table())  # noqa: S307  the lab's own line


def test_what_is_drawn_is_what_is_counted():
    """The running coverage ends at the counted share; each interval of the stack that misses lies beside what is true."""
    lab = pressed(widgets.coverage_lab("difference", "wages", n=300, reps=1700))
    run = lab.facts["run"]
    for row in run["rows"]:
        assert run["trail"][row["name"]][-1][:2] == [1700, row["coverage"]]
        assert len(run["stack"][row["name"]]) == 40
        for low, high, truth, held in run["stack"][row["name"]]:
            assert held == (low <= truth <= high)
    assert sum(run["releases"]["shares"]) == pytest.approx(1, abs=0.05)
    assert sum(run["scores"]["shares"]) == pytest.approx(1)


def test_watching_changes_nothing():
    """A simulation that is watched has the tallies of one that is not; several losses are refused."""
    stream = simulate.stream("std", simulate.beta(2, 5), n=90, losses=1, reps=1500)
    start = next(stream)
    *_, last = simulate.watch(start)
    *_, plain = start.resume()
    assert numbers(last.result.table()) == numbers(plain.table())
    with pytest.raises(DpnbError, match="sweep over the others"):
        simulate.watch(next(simulate.stream("mean", simulate.beta(2, 5), n=90, losses=[1, 2], reps=10)))


@pytest.mark.parametrize(("statistic", "population"), PAIRS)
def test_everything_offered_can_be_simulated(statistic, population):
    """Each statistic on each population that is offered with it: strict JSON, and a privacy interval that is right."""
    lab = widgets.coverage_lab(statistic, population, n=200, epsilon=1, reps=60).run()
    facts = json.loads(json.dumps(lab.facts, allow_nan=False))
    assert facts["run"]["rows"][0]["coverage"] > 0.8
    assert {"key": population, "label": SCENES[population].label} in facts["populations"]
    assert made(population).code in lab.code()


def test_memory_and_messages_do_not_grow():
    """After 200 blocks the run holds no more than after 20."""
    found = simulate.stream(
        "count", simulate.bernoulli(0.5), n=10, losses=1, reps=200_000, adjacency="add-remove"
    )
    run = coverage_run.StudyRun(next(found))
    sizes = []
    for block in range(150):
        assert run.step()
        if block in (20, 149):
            sizes.append(len(json.dumps(run.to_json())))
    assert sizes[1] < 1.5 * sizes[0] < 100_000
    assert run.found.studies > 100_000


def test_first_paint_and_a_thousand_studies_are_quick():
    """The lab is there at once, and a thousand studies of a mean are simulated in less than a second and a half."""
    widgets.coverage_lab()
    start = time.perf_counter()
    lab = widgets.coverage_lab()
    lab._repr_mimebundle_()
    first = time.perf_counter() - start
    lab.run()
    print(f"first {1000 * first:.0f} ms, 1,000 studies {1000 * (time.perf_counter() - start - first):.0f} ms")
    assert first < 0.15
    assert time.perf_counter() - start < 1.5


def test_still_form_tells_what_was_found():
    """Before a run it tells a hundred studies and says so; after one, the run."""
    lab = widgets.coverage_lab("mean", "skewed", epsilon=0.5)
    assert "100 simulated studies" in lab.card().text
    text = lab.run().card().text
    assert "1,000 simulated studies" in text
    assert "80.4 %" in text


def test_own_numbers_are_simulated():
    """An array with declared bounds is a population; it is offered where it fits and left where it does not."""
    lab = widgets.coverage_lab("mean", np.arange(50), lower=0, upper=60, step=1, n=30, reps=40).run()
    assert lab.facts["populations"][0]["key"] == "own"
    lab.chosen = {"setup": {"statistic": "proportion"}}
    assert lab.setup.population == "half"
    lab.chosen = {"setup": {"statistic": "median"}}
    assert lab.setup.population in {"own", "skewed"}


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"setup": {"n": 5}}, "n is a whole number"),
        ({"setup": {"n": 1e9}}, "n is a whole number"),
        ({"setup": {"loss": float("nan")}}, "the loss is a number"),
        ({"setup": {"loss": 0}}, "the loss is a number"),
        ({"setup": {"reps": 10**9}}, "reps is a whole number"),
        ({"setup": {"code": "x"}}, "A setup has"),
        ({"setup": 3}, "A setup has"),
        ({"shown": []}, "methods= names at least one"),
        ({"shown": ["magic"]}, "methods= names at least one"),
        ({"view": "all"}, "A view is one of"),
        ({"view": "k"}, "calibrated in ρ"),
    ],
)
def test_nonsense_from_the_page_is_refused_in_the_picture(given, words):
    """What cannot be simulated is said; what was simulated stays."""
    lab = widgets.coverage_lab(reps=50).run()
    before = numbers(lab.table())
    lab.chosen = {**given, "pull": 1}
    assert words in lab.facts["problem"]
    assert lab.facts["pulled"] == 1
    assert numbers(lab.table()) == before


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: widgets.coverage_lab("mode"), "statistic is one of"),
        (lambda: widgets.coverage_lab("mean", "people"), "population is one of"),
        (lambda: widgets.coverage_lab("mean", "rare"), "cannot be asked of"),
        (lambda: widgets.coverage_lab(epsilon=1, rho=1), "not both"),
        (lambda: widgets.coverage_lab(epsilon=-1), "the loss is a number"),
        (lambda: widgets.coverage_lab(population=[1, 2, 3]), "Bounds are public"),
        (lambda: widgets.coverage_lab(lower=3), "belong to an array"),
        (lambda: widgets.coverage_lab(methods="magic"), "methods= names"),
        (lambda: widgets.coverage_lab().table(), "Nothing is simulated yet"),
        (lambda: widgets.coverage_lab().run("all"), "A view is one of"),
        (lambda: widgets.coverage_lab(level=Fraction(1)), "level is a number"),
    ],
)
def test_bad_input_names_the_fix(make, words):
    """A clear short error."""
    with pytest.raises(DpnbError, match=words):
        make()


def test_protected_data_is_refused(data):
    """Neither a column nor an estimate is a population."""
    for protected in (data.x, data, data.x.mean()):
        with pytest.raises(DpnbError, match="never a protected"):
            widgets.coverage_lab("mean", protected)


def test_bootstrap_reproduces_and_says_what_it_costs():
    """Each k is the call that is shown; the unbiased interval covers too little; the proved ε is above the published one."""
    lab = widgets.coverage_lab("mean", "skewed", n=200, rho=0.5, reps=60)
    lab.chosen = {"view": "k", "pull": 1}
    assert (lab.facts["studies"], lab.facts["reps"]) == (60, 240)
    lab.run("k")
    names: dict = {}
    *imports, call = lab.code().splitlines()
    exec("\n".join(imports), names)
    rows = eval(call, names)  # noqa: S307  the lab's own line
    assert [row.published for row in rows] == list(lab.table()["published"])
    by_kind = {row["name"]: row["coverage"] for row in lab.facts["sweep"]["rows"]}
    assert by_kind["unbiased"][2] < 0.93 < by_kind["most conservative"][2]
    for note in lab.facts["sweep"]["notes"]:
        claimed, proved = (float(word) for word in re.findall(r"ε ([\d.]+)", note))
        assert claimed < proved
    assert len(lab.figure().axes) == 2
    assert "unbiased" in lab.facts["shown"]
    assert "100" in lab.card().text or "60" in lab.card().text
    with pytest.raises(DpnbError, match="of its own"):
        _ = lab.result

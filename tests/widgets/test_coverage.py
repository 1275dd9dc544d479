"""The coverage lab is `simulate`, cut into blocks: to the bit, whatever was pressed; in bounded memory; bad input refused."""

from __future__ import annotations

import json
import threading
import tomllib
import tracemalloc
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import dpnb
from dpnb import simulate, widgets
from dpnb.client.priced_batch import batch_of
from dpnb.datasets import adult_ages
from dpnb.errors import DpnbError
from dpnb.planner.request import Ask
from dpnb.widgets import coverage_charge, coverage_run, coverage_still
from dpnb.widgets.scenes import ASKED, SCENES, made

BOOT = ["unbiased", "conservative", "most conservative"]
# each statistic on the first population that fits it, and each population with the first statistic that fits
PAIRS = sorted(
    {
        (name, next(key for key, scene in SCENES.items() if scene.kind in one.kinds))
        for name, one in ASKED.items()
    }
    | {
        (next(name for name, one in ASKED.items() if scene.kind in one.kinds), key)
        for key, scene in SCENES.items()
    }
)


def pressed(lab, **chosen):
    """What the page does: set something, and ask for blocks until nothing is left."""
    pull = lab.chosen.get("pull", 0)
    lab.chosen = {**lab.chosen, **chosen}
    while lab.facts["studies"] < lab.facts["reps"] and not lab.facts["problem"]:
        pull += 1
        lab.chosen = {**lab.chosen, "pull": pull}
        assert lab.facts["pulled"] == pull
    return lab


def numbers(table, names=None):
    """A table as text: equal to the bit, not-a-number included."""
    return repr({name: [repr(value) for value in table[name]] for name in names or table.columns})


def lines(figure):
    """What a figure draws."""
    return [line.get_xydata().tobytes() for axes in figure.axes for line in axes.lines]


def ran(lab):
    """Run the lab's own lines; returns their names, and the value of the last where it is an expression."""
    names: dict = {}
    *before, last = (
        part for part in lab.code().replace("\n    ", " ").replace(",\n]", "]").splitlines() if part
    )
    exec("\n".join(before), names)
    try:
        names["last"] = eval(last, names)  # noqa: S307  the lab's own line
    except SyntaxError:
        exec(last, names)
    return names


# ---------------------------------------------------------------- one simulation, three ways


def test_lab_simulate_and_figure_agree_to_the_bit():
    """Asked for block by block, in one piece, or by its own line of code: the same numbers and the same figures."""
    asked = {"n": 700, "epsilon": 0.3, "reps": 2300, "rng": 5}
    lab = pressed(widgets.coverage_lab("mean", "outliers", **asked))
    whole = simulate.coverage(
        "mean",
        simulate.with_outliers(simulate.normal(30, 6), 0.02),
        n=700,
        losses=0.3,
        intervals=("naive", "normal", "confidence", "privacy"),
        reps=2300,
        rng=5,
    )
    again = ran(lab)["last"]
    assert numbers(lab.table()) == numbers(whole.table()) == numbers(again.table())
    assert lines(lab.result.plot()) == lines(whole.plot()) == lines(again.plot())
    assert lines(lab.figure()) == lines(widgets.coverage_lab("mean", "outliers", **asked).run().figure())


def test_figure_draws_what_simulate_says():
    """The figure's stack is the last forty intervals that `simulate.watch` sees, its curve ends at the table's coverage."""
    lab = widgets.coverage_lab(
        "mean", "skewed", n=90, epsilon=0.4, reps=1200, methods=["naive", "privacy"]
    ).run()
    start = next(
        simulate.stream(
            "mean", simulate.beta(2, 5), n=90, losses=0.4, intervals=["naive", "privacy"], reps=1200
        )
    )
    *_, last = simulate.watch(start)
    stack, *_, curve, _ = (axes for axes in lab.figure().axes)
    drawn = [line.get_xdata() for line in stack.lines if len(line.get_xdata()) == 2]
    seen = last.seen["naive"]
    assert len(drawn) == 40
    assert np.array_equal(np.array(drawn), np.c_[seen.low[-40:], seen.high[-40:]])
    ends = [line.get_ydata()[-1] for line in curve.lines[:2]]
    assert ends == list(lab.table()["coverage"])


@pytest.mark.parametrize("view", ["loss", "n"])
def test_sweep_agrees_to_the_bit(view):
    """A sweep of the lab, value after value, is the one call that it shows, without a hidden method; its picture and its figure are its table."""
    shown = ["naive", "confidence", "monte carlo"]
    lab = pressed(
        widgets.coverage_lab("proportion", "census.married", n=100, reps=50, methods=shown), view=view
    )
    table = lab.table()
    assert numbers(table) == numbers(ran(lab)["last"].table())
    assert "simulate.monte_carlo()" in lab.code()
    assert "privacy" not in lab.code()
    naive = next(row for row in lab.facts["sweep"]["rows"] if row["name"] == "naive")
    shares = [
        share for share, name in zip(table["coverage"], table["interval"], strict=True) if name == "naive"
    ]
    assert naive["coverage"] == shares
    assert list(lab.figure().axes[0].lines[0].get_ydata()) == shares


def test_a_per_release_method_draws_the_same_for_a_loss_whatever_stands_beside_it():
    """Monte Carlo at ε 0.5 alone, and among others."""
    asked = {"n": 60, "intervals": [simulate.monte_carlo()], "reps": 20}
    alone = simulate.coverage("mean", simulate.beta(2, 5), losses=0.5, **asked).table()
    among = simulate.coverage("mean", simulate.beta(2, 5), losses=[0.1, 0.5], **asked).table()
    assert alone["width"][0] == among["width"][1]


def test_what_is_drawn_is_what_is_counted():
    """The running coverage ends at the counted share; each interval of the stack that misses lies beside what is true."""
    lab = pressed(widgets.coverage_lab("difference", "census.income-by-sex", n=300, reps=1700))
    run = lab.facts["run"]
    for row in run["rows"]:
        found = run["methods"][row["name"]]
        assert found["trail"][-1] == [1700, row["coverage"], row["low"], row["high"]]
        assert len(found["stack"]) == 40
        assert sum(found["scores"]) == pytest.approx(1)
        assert sum(found["errors"]) + found["zero"] + found["wide"] == pytest.approx(1)
        for low, high, truth, held in found["stack"]:
            assert held == (low <= truth <= high)
    assert sum(run["releases"]["the release"]["shares"]) == pytest.approx(1, abs=0.05)


def test_watching_changes_nothing():
    """A simulation that is watched has the tallies of one that is not; several losses, or several k, are refused."""
    stream = simulate.stream("std", simulate.beta(2, 5), n=90, losses=1, reps=1500)
    start = next(stream)
    *_, last = simulate.watch(start)
    *_, plain = start.resume()
    assert numbers(last.result.table()) == numbers(plain.table())
    with pytest.raises(DpnbError, match="sweep over the others"):
        simulate.watch(next(simulate.stream("mean", simulate.beta(2, 5), n=90, losses=[1, 2], reps=10)))
    with pytest.raises(DpnbError, match="sweep over the others"):
        simulate.watch(simulate.bootstrap_coverage(simulate.beta(2, 5), 1, ks=[10, 20], simulations=5))


@pytest.mark.parametrize(("statistic", "population"), PAIRS)
def test_everything_offered_can_be_simulated(statistic, population):
    """Each statistic and each population that is offered: strict JSON, and a privacy interval that is right."""
    lab = widgets.coverage_lab(statistic, population, n=300, epsilon=1, reps=60).run()
    facts = json.loads(json.dumps(lab.facts, allow_nan=False))
    privacy = next(row for row in facts["run"]["rows"] if row["name"] == "privacy")
    assert privacy["coverage"] > 0.8
    assert population in [one["key"] for one in facts["populations"]]
    assert made(population).code in lab.code()


def test_a_page_and_a_cell_may_ask_at_once():
    """A page pulls blocks from a thread of its own while a cell runs the lab to its end: no study is counted twice or lost."""
    lab = widgets.coverage_lab("mean", "skewed", n=100, reps=30_000, methods=["confidence"])
    page = threading.Thread(target=pressed, args=(lab,))
    page.start()
    lab.run()
    page.join(60)
    assert not page.is_alive()
    whole = widgets.coverage_lab("mean", "skewed", n=100, reps=30_000, methods=["confidence"]).run()
    assert numbers(lab.table()) == numbers(whole.table())


@pytest.mark.parametrize(("view", "steps"), [("studies", 2), ("loss", 2), ("loss", 8), ("n", 8), ("k", 8)])
def test_code_of_a_run_that_was_left_is_what_was_done(view, steps):
    """Paused after some blocks, the lines make the table that is shown: finished values whole, the last one so far."""
    lab = widgets.coverage_lab(
        "mean", "skewed", n=60, rho=0.5, k=20, reps=2500, methods=["naive", "unbiased"]
    )
    pull = 0
    lab.chosen = {"view": view}
    assert "reps=2500" in lab.code()
    assert "simulations=2500" in lab.code()
    while pull < steps:
        pull += 1
        lab.chosen = {"view": view, "pull": pull}
    assert 0 < lab.facts["studies"] < lab.facts["reps"]
    assert lab.facts["code"] == lab.code()
    names = ran(lab)
    parts = [names[key] for key in ("found", "found_so_far") if key in names]
    naive = [row for row in lab.table() if row["interval"] == "naive"]
    again = [row for part in parts for row in part.table()]
    if view == "k":  # the same releases stand beside every k
        naive = [naive[0], naive[-1]]
    columns = ("n", "studies", "coverage", "width")
    assert [[row[name] for name in columns] for row in naive] == [
        [row[name] for name in columns] for row in again
    ]
    found: list = []
    for key in ("resampled", "resampled_so_far"):
        made_ = names.get(key, [])
        found += made_ if isinstance(made_, list) else [made_]
    shown = [row for row in lab.table() if row["interval"] == "unbiased"]
    assert [row["coverage"] for row in shown] == [row.published for one in found for row in one]
    assert [row["studies"] for row in shown] == [row.simulations for one in found for row in one]


def test_arms_are_drawn_each_by_itself():
    """The population of a difference is two shapes, named, each of whole mass; under the slider they lie apart."""
    lab = widgets.coverage_lab("difference", "census.income-by-sex", reps=20)
    parts = lab.facts["shape"]["parts"]
    assert [part["name"] for part in parts] == ["sex 0", "sex 1"]
    assert [sum(part["shares"]) for part in parts] == pytest.approx([1, 1])
    assert parts[0]["shares"] != parts[1]["shares"]
    lab.chosen = {"setup": {"population": "declared", "effect": 0.6}}
    shares = [part["shares"] for part in lab.facts["shape"]["parts"]]
    assert [share[-1] for share in shares] == pytest.approx(
        [lab.setup.share, lab.setup.share + 0.6], abs=1e-6
    )
    lab.chosen = {"setup": {"statistic": "mean", "population": "skewed"}}
    assert [part["name"] for part in lab.facts["shape"]["parts"]] == [""]


# ---------------------------------------------------------------- the bootstrap


def published():
    """The lab as the button *The published table* sets it."""
    return widgets.coverage_lab("mean", "publication", rho=0.5, reps=2000, methods=["confidence", *BOOT])


def test_published_table_is_reproduced_beside_its_price():
    """80.1 / 97.1 / 100 % within simulation error, ours and the print's; beside ε 4.89 in print and the ε it costs."""
    lab = published().run()
    table = {row["interval"]: row for row in lab.table()}
    for name, share in coverage_charge.PRINTED.items():
        row = table[name]
        error = (share * (1 - share) * (1 / 2000 + 1 / 1000)) ** 0.5
        assert row["coverage"] == pytest.approx(share, abs=3 * error + 0.002)
        assert row["published"] == "ρ 0.5 (ε 4.89)"
        assert row["true"] == "ε 5.16 to 6.74"
    assert "California 2000: ages of adults" in lab.facts["question"]
    printed = {one["name"]: one["cells"][3] for one in lab.facts["findings"][0]}
    assert [printed[name].split(" (")[0] for name in BOOT] == ["80.1 %", "97.1 %", "100.0 %"]
    assert "ε 5.16 is reached, ε 6.74 is proved" in lab.card().text
    assert 0.05 < lab.facts["run"]["methods"]["unbiased"]["zero"] < 0.2  # the spike
    row = next(one for one in lab.facts["run"]["rows"] if one["name"] == "unbiased")
    said = coverage_still.beside_print("unbiased", row["held"], row["studies"], 0.801)
    assert f"{100 * row['coverage']:.1f} % here" in said
    assert said in lab.facts["beside"]
    assert lab.facts["beside"][-1].startswith("In print: adults of California")
    assert all(words in lab.card().text for words in lab.facts["beside"])
    assert "more than chance explains" in coverage_still.beside_print("unbiased", 774, 1000, 0.85)


def test_another_setup_is_not_compared_with_print():
    """Of another size nothing is said of the printed table."""
    other = widgets.coverage_lab("mean", "publication", n=400, rho=0.5, reps=20, methods=BOOT).run()
    assert other.facts["beside"] == []
    assert "in print;" not in other.card().text


def test_population_in_print_covers_what_is_printed():
    """The print's population, by the census's groups, is the one that gives 80.1 %; a narrower and a wider one do not."""
    asked = {"n": 500, "rho": 0.5, "ks": [50], "simulations": 8000, "kinds": ["unbiased"]}
    ages = adult_ages()
    populations = {
        "print": ages,
        "narrower": ages[ages < 65],
        "wider": np.r_[ages, np.arange(18).repeat(514)],  # children too
    }
    shares = {
        name: simulate.bootstrap_coverage(rows, 3, bounds=(0, 100), **asked).of(50, "unbiased").published
        for name, rows in populations.items()
    }
    assert shares["print"] == pytest.approx(0.801, abs=0.026)  # the print's own 95 % band, of 1,000 studies
    assert abs(shares["narrower"] - 0.801) > 0.04 < abs(shares["wider"] - 0.801)


def test_what_is_quoted_is_what_the_notebook_of_the_paper_quotes():
    """The printed numbers are those of the paper's row."""
    path = Path(__file__).parents[2] / "notebooks" / "replication" / "papers.toml"
    printed = tomllib.loads(path.read_text(encoding="utf-8"))["bootstrap-inference"]["fig9b"]
    said = [float(word) / 100 for word in printed["cells"].split(" | ")]
    assert said == pytest.approx(list(coverage_charge.PRINTED.values()))


def test_bootstrap_and_release_are_of_the_same_studies():
    """Lab, `simulate.coverage` and `simulate.bootstrap_coverage` agree to the bit, and draw the same rows for one seed."""
    shown = ["confidence", "unbiased", "deconvolved"]
    lab = pressed(widgets.coverage_lab("mean", "publication", n=200, rho=0.2, reps=1100, k=20, methods=shown))
    names = ran(lab)
    table = lab.table()
    assert table["coverage"][0] == names["found"].table()["coverage"][0]
    for place, kind in ((1, "unbiased"), (2, "deconvolved")):
        row = names["resampled"].of(20, kind)
        assert table["corrected"][place] == row.corrected
        if row.published is not None:
            assert (table["coverage"][place], table["width"][place]) == (
                row.published,
                2 * row.published_width,
            )
    exact = {one.reps: one for one in [lab._runs["studies"]]}[1100]
    truth = exact.watches["unbiased"].last.truth[0]
    assert truth == pytest.approx(exact.watches["confidence"].last.truth[0])


def test_sweep_over_k_reproduces_and_says_what_it_costs():
    """Each k is the call that is shown; the unbiased interval covers less and less; the proved ε is above the published one."""
    lab = pressed(widgets.coverage_lab("mean", "skewed", n=200, rho=0.5, reps=60, k=30), view="k")
    assert (lab.facts["studies"], lab.facts["reps"]) == (360, 360)
    assert lab.facts["sweep"]["values"] == [10, 25, 30, 50, 100, 200]
    found = ran(lab)["resampled"]
    table = lab.table()
    shares = {(row["k"], row["interval"]): row["coverage"] for row in table if row["k"] is not None}
    assert shares == {(row.k, row.kind): row.published for row in found}
    for note in lab.facts["sweep"]["notes"]:
        assert note.startswith("Published as ρ 0.5, ε 4.89")
    assert (
        lab._costs[0.5, 200, 50]["said"]
        < lab._costs[0.5, 200, 50]["attained"]
        < lab._costs[0.5, 200, 50]["proved"]
    )
    assert len(lab.figure().axes) == 2
    assert set(BOOT) <= set(lab.facts["shown"])
    assert "200" in lab.card().text


def test_a_sweep_over_the_loss_prices_each():
    """Resampled along ρ: the table and the note of each value name its own charge."""
    lab = widgets.coverage_lab(
        "mean", "bell", n=60, rho=0.1, reps=20, methods=["confidence", "unbiased"]
    ).run("loss")
    rows = [row for row in lab.table() if row["interval"] == "unbiased"]
    for row, note in zip(rows, lab.facts["sweep"]["notes"], strict=True):
        assert row["published"].startswith(f"ρ {row['rho']:g} ")
        assert f"ρ {row['rho']:g}," in note
    assert len({row["true"] for row in rows}) == len(rows) == 9
    found = [row for study in ran(lab)["resampled"] for row in study]
    assert [row["coverage"] for row in rows] == [row.published for row in found]


def test_repaired_noise_keeps_its_promise():
    """With the larger noise the proved ε is not above the published one, and the intervals are wider."""
    asked = {"n": 300, "rho": 0.5, "reps": 100, "methods": ["conservative"]}
    plain, repaired = (
        widgets.coverage_lab("mean", "bell", repaired=way, **asked).run() for way in (False, True)
    )
    assert repaired._costs[0.5, 300, 50]["proved"] <= repaired._costs[0.5, 300, 50]["said"] + 1e-6
    assert repaired.table()["width"][0] > 1.1 * plain.table()["width"][0]
    assert "keep the promise" in repaired.facts["charge"]
    assert numbers(repaired.table(), ["coverage"]) == repr(
        {"coverage": [repr(ran(repaired)["last"].rows[0].published)]}
    )


def test_partition_counts_every_row_once():
    """Each resample parts all rows; the expected columns add to n too; one row is held once on average."""
    found = published().facts["partition"]
    for counts in found["counts"]:
        assert sum(counts) == 500
    assert sum(found["expected"]) == pytest.approx(500)
    assert len(found["you"]) == 24
    assert 0.2 < np.mean(found["you"]) < 2.5


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"epsilon": 1}, "paid in ρ"),
        ({"rho": 1, "statistic": "median"}, "is of a mean"),
    ],
)
def test_bootstrap_that_does_not_fit_says_why(given, words):
    """It is not computed, and the page is told what to change."""
    statistic = given.pop("statistic", "mean")
    lab = widgets.coverage_lab(statistic, reps=20, methods=["confidence", *BOOT], **given).run()
    assert lab.facts["shown"] == ["confidence"]
    assert words in next(one["unfit"] for one in lab.facts["methods"] if one["name"] == "unbiased")


# ---------------------------------------------------------------- from an estimate


@pytest.fixture
def answers(data):
    """Answers of one release, by name."""
    return dpnb.release(questions(data), epsilon=8)


def questions(data):
    """What is asked, by name."""
    return {
        "mean": data.x.mean(),
        "share": data.y.mean(),
        "part": data[data.g == 1].x.mean(),
        "sum": data.x.sum(),
        "count": data[data.g == 1].count(),
        "median": data.x.median(),
        "variance": data.x.variance(),
        "effect": data.x.difference(by="y"),
    }


def alone(question, paid):
    """The laws of a question's parts, were it asked alone at what an answer paid."""
    (release,) = paid.measurement.releases
    (item,) = batch_of([question], Ask.make(epsilon=release.share)).priced.items
    return [dict(part.mechanism.record) for part in item.parts]


@pytest.mark.parametrize("name", ["mean", "share", "part", "sum", "count", "median", "variance", "effect"])
def test_an_estimate_is_simulated_as_it_was_priced(answers, name, data):
    """Started from an estimate the lab has its mechanisms at its scales, touches no row, and spends nothing."""
    entries = len(data.session.ledger(data))
    lab = widgets.coverage_lab(answers[name], reps=60)
    design = lab._runs["studies"].coverage.design
    (item,) = design.items(design.sizes[0])
    paid = [dict(part.law) for part in answers[name].release.parts]
    simulated = [dict(part.mechanism.record) for part in item.parts]
    assert [sorted(law) for law in simulated] == [sorted(law) for law in paid]
    scales = [
        [float(Fraction(law["scale"])) for law in laws if "scale" in law]
        for laws in (simulated, alone(questions(data)[name], answers[name]), paid)
    ]
    if scales[
        0
    ]:  # as if it had been asked alone; what it shares with others may have less noise, and nothing has more
        assert scales[0] == pytest.approx(scales[1], rel=1e-5)
        assert all(lab >= mine for lab, mine in zip(scales[0], scales[2], strict=True))
        assert min(lab / mine for lab, mine in zip(scales[0], scales[2], strict=True)) < 1 + 1e-5
    else:
        assert simulated == paid
    assert lab.facts["question"].startswith(answers[name].measurement.text)
    assert [one["key"] for one in lab.facts["populations"]] == ["declared"]
    lab.run()
    privacy = next(row for row in lab.facts["run"]["rows"] if row["name"] == "privacy")
    if name == "median":  # asked without limits: it has no interval, and says so
        assert "ci=True" in privacy["reason"]
    else:
        assert privacy["coverage"] > 0.8
    assert numbers(lab.table()) == numbers(ran(lab)["last"].table())
    assert len(data.session.ledger(data)) == entries


def test_a_question_that_is_not_paid_yet_is_simulated_at_a_loss_to_choose(data):
    """Pending: ε 0.5, or what is asked; the shape is under sliders, and a slider begins anew."""
    lab = widgets.coverage_lab(data.x.mean(), epsilon=2, reps=40)
    assert (lab.setup.kind, lab.setup.loss) == ("epsilon", 2)
    assert "not paid yet" in lab.facts["from"]
    assert lab.facts["sliders"] == ["skew", "outliers"]
    lab.run()
    lab.chosen = {"setup": {"skew": -0.5, "outliers": 0.1}}
    assert lab.facts["studies"] == 0
    assert "shaped" not in lab.facts["question"]
    assert "10 % outliers" in lab.facts["question"]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda d: [d.x.quantile([0.25, 0.5])], "one number at a time"),
        (lambda d: [d.x.mean() * 2], "computed from others"),
        (lambda d: [(d.x + 1).mean()], "before it summarises"),
        (lambda d: [d.count()], "public"),
        (lambda d: [d.x.mean(), "skewed"], "declared population"),
        (lambda d: ["mean", d.x], "never a protected"),
        (lambda d: ["mean", d], "never a protected"),
        (lambda d: ["mean", d.x.mean()], "never a protected"),
    ],
)
def test_what_cannot_be_simulated_of_an_estimate_says_why(data, make, words):
    """A vector, a derived number, an expression, a public answer, another population, a protected one: each a sentence."""
    with pytest.raises(DpnbError, match=words):
        widgets.coverage_lab(*make(data))


# ---------------------------------------------------------------- size, form and bad input


def reached(lab):
    """What the page does: open, and ask for more while there will be more; returns how many studies there were each time."""
    lab.chosen = {"shared": True}
    seen = [lab.facts["shared"]["studies"]]
    while seen[-1] < lab.facts["shared"]["goal"]:
        lab.chosen = {**lab.chosen, "reached": seen[-1]}
        seen.append(lab.facts["shared"]["studies"])
    return seen


def test_studies_at_many_losses_stream_as_bytes():
    """A first block comes before the rest; what travels then is as small as it is said to be, and no end is in the facts."""
    lab = widgets.coverage_lab("mean", "skewed", n=500, epsilon=0.5)
    messages = []
    lab.send_state = lambda key=None: messages.append(key)
    seen = reached(lab)
    assert seen == [10, 40, 280, 520, 760, 1000]
    assert all({"facts", "arrays"} <= set(one) for one in messages if one and "arrays" in one)
    assert "ends" not in json.dumps(lab.facts["shared"])


def size_of(lab, ending):
    """How many bytes the arrays of a kind have together."""
    return sum(len(value) for name, value in lab.arrays.items() if name.endswith(ending))


def test_ends_of_other_studies_come_when_they_are_asked_for():
    """A page of forty brings the ends and answers of just those studies; other studies begin at the first page again."""
    lab = widgets.coverage_lab("mean", "skewed", n=100, epsilon=0.5, reps=100)
    lab.complete()
    first = dict(lab.arrays)
    lab.chosen = {"shared": True, "page": [0, 2]}
    assert lab.facts["shared"]["first"] == 80
    assert size_of(lab, "/ends") == 4 * 25 * 20 * 2 * 4
    changed = {name for name, value in lab.arrays.items() if value != first[name]}
    assert not any(name.endswith("held") for name in changed)
    assert {"answers", "truths", "confidence/ends"} <= changed
    for strange in ([0, 99], [0, -1], [7, 1], [0], "1", [0, 1.5], None):
        lab.chosen = {"shared": True, "page": strange}
        assert dict(lab.arrays) == first
    lab.chosen = {"shared": True, "page": [0, 1], "setup": {"n": 200}}
    assert lab.facts["shared"]["first"] == 0


def test_a_page_that_asks_for_nothing_gets_nothing():
    """Only a page that was shown the studies so far gets the next block; another setting of the hand brings none."""
    lab = widgets.coverage_lab("mean", "skewed", n=100, epsilon=0.5)
    lab.chosen = {"shared": True}
    lab.chosen = {**lab.chosen, "shown": ["confidence"]}
    lab.chosen = {**lab.chosen, "reached": 5}
    assert lab.facts["shared"]["studies"] == 10


def test_blocks_are_cut_without_a_trace_of_when_they_were_asked_for():
    """Opened twice, or completed for a page without a kernel, the studies are the same to the byte."""
    one, other = (widgets.coverage_lab("median", "skewed", n=60, epsilon=0.5) for _ in range(2))
    reached(one)
    other.complete()
    assert dict(one.arrays) == dict(other.arrays)
    assert one.facts["shared"] == other.facts["shared"]


@pytest.mark.parametrize("n", [250_000, 30_000_000])
def test_a_study_of_any_size_is_simulated(n):
    """Above 20,000 rows studies are drawn as counts: the intervals hold as often as they promise, and the code says how."""
    lab = widgets.coverage_lab("mean", "declared", n=n, epsilon=0.5, reps=300)
    reached(lab)
    found = lab.run().table()
    assert "counted=True" in lab.code()
    row = next(row for row in found.rows if row["interval"] == "confidence")
    assert row["studies"] == 300
    assert row["coverage"] > 0.9
    assert lab.facts["shared"]["studies"] == 300


def test_memory_and_messages_do_not_grow():
    """10⁶ studies asked for: after 150 blocks the run holds no more than after 20, and its message is no longer."""
    found = simulate.stream(
        "count", simulate.bernoulli(0.5), n=10, losses=1, reps=1_000_000, adjacency="add-remove"
    )
    run = coverage_run.StudyRun(next(found))
    sizes, held = [], []
    tracemalloc.start()
    for block in range(150):
        assert run.step()
        if block in (20, 149):
            sizes.append(len(json.dumps(run.to_json())))
            held.append(tracemalloc.get_traced_memory()[0])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert sizes[1] < 1.5 * sizes[0] < 100_000
    assert held[1] < held[0] + 1_000_000
    assert peak < 30_000_000
    assert run.studies > 100_000


def test_memory_of_resamples_does_not_grow():
    """The same for the bootstrap: what one block needs is given back."""
    lab = widgets.coverage_lab(
        "proportion", "half", n=20, rho=0.5, k=10, reps=1_000_000, methods=["unbiased"]
    )
    run, held = lab._runs["studies"], []
    tracemalloc.start()
    for block in range(25):
        assert run.step()
        if block in (5, 24):
            held.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert held[1] < held[0] + 500_000
    assert run.studies == 25_000


def test_still_form_tells_what_was_found():
    """Before a run it tells a hundred studies and says so; after one, the run; its picture has a mark for each interval."""
    lab = widgets.coverage_lab("mean", "skewed", epsilon=0.5)
    assert "100 simulated studies" in lab.card().text
    card = lab.run().card()
    assert "1,000 simulated studies" in card.text
    assert "81.1 %" in card.text
    assert "naive: 189 of 1,000 intervals missed, more than the 50 promised." in card.text
    for mark in ("✕ naive", "✓ confidence"):
        assert mark in card.html


@pytest.mark.parametrize("view", ["studies", "loss", "n", "k"])
def test_every_view_has_a_still_form(view):
    """A picture, a table and the words, also of the bootstrap, before and after a run."""
    lab = widgets.coverage_lab("mean", "bell", rho=0.5, n=100, reps=20, methods=["confidence", *BOOT])
    lab.chosen = {"view": view}
    assert "<svg" in lab.card().html
    card = lab.run(view).card()
    assert "<svg" in card.html
    assert "conservative" in card.text
    assert json.dumps(card.json, allow_nan=False)


def test_own_numbers_are_simulated():
    """An array with declared bounds is a population; it is offered where it fits and left where it does not."""
    lab = widgets.coverage_lab("mean", np.arange(50), lower=0, upper=60, step=1, n=30, reps=40).run()
    assert lab.facts["populations"][0]["key"] == "own"
    lab.chosen = {"setup": {"statistic": "proportion"}}
    assert lab.setup.population == "half"
    lab.chosen = {"setup": {"statistic": "median"}}
    assert lab.setup.population in {"own", "skewed"}


def test_a_population_of_one_value_is_simulated():
    """Nothing varies: every interval holds it, and no picture breaks."""
    lab = widgets.coverage_lab("mean", [7, 7, 7], lower=0, upper=10, step=1, n=30, reps=40, epsilon=5).run()
    assert json.dumps(lab.facts, allow_nan=False)
    assert lab.figure().axes


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"setup": {"n": 5}}, "n is a whole number"),
        ({"setup": {"n": 1e9}}, "n is a whole number"),
        ({"setup": {"n": "many"}}, "n is a whole number"),
        ({"setup": {"loss": float("nan")}}, "the loss is a number"),
        ({"setup": {"loss": 0}}, "the loss is a number"),
        ({"setup": {"loss": "1"}}, "the loss is a number"),
        ({"setup": {"reps": 10**9}}, "reps is a whole number"),
        ({"setup": {"k": 1}}, "k is a whole number"),
        ({"setup": {"skew": 3}}, "skew is a number"),
        ({"setup": {"outliers": -1}}, "outliers is a number"),
        ({"setup": {"repaired": 1}}, "repaired is True or False"),
        ({"setup": {"code": "x"}}, "A setup has"),
        ({"setup": 3}, "A setup has"),
        ({"shown": []}, "methods= names at least one"),
        ({"shown": ["magic"]}, "methods= names at least one"),
        ({"view": "all"}, "A view is one of"),
        ({"view": "k"}, "paid in ρ"),
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
        (lambda: widgets.coverage_lab(colour=3), "unknown option"),
        (lambda: widgets.coverage_lab(methods="magic"), "methods= names"),
        (lambda: widgets.coverage_lab().table(), "Nothing is simulated yet"),
        (lambda: widgets.coverage_lab().figure(), "Nothing is simulated yet"),
        (lambda: widgets.coverage_lab().bootstrap, "Nothing is resampled"),
        (lambda: widgets.coverage_lab().run("all"), "A view is one of"),
        (lambda: widgets.coverage_lab().run("k"), "paid in ρ"),
        (lambda: widgets.coverage_lab(level=Fraction(1)), "level is a number"),
    ],
)
def test_bad_input_names_the_fix(make, words):
    """A clear short error."""
    with pytest.raises(DpnbError, match=words):
        make()

"""The guided analysis and the guides, executed cell by cell from what a reader has: files, a declaration, one budget."""

from __future__ import annotations

import hashlib
import json
from fractions import Fraction
from pathlib import Path

import nbformat
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

import dpnb
from dpnb.__main__ import main
from dpnb.client import api
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.wire.places import Home
from tests.notebook.conftest import Notebook

pytestmark = pytest.mark.slow

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"
PRODUCTS = {"tea": 4.0, "coffee": 6.0, "cake": 9.0, "bread": 3.0, "oat milk": 2.0}


@pytest.fixture
def run(shell, tmp_path, monkeypatch):
    """Run the code of a notebook in a folder of its own, and return the names that it leaves."""
    monkeypatch.chdir(tmp_path)

    def run(name, *, home=None, times=1, change=("", "")):
        if home is not None:
            monkeypatch.setenv("DPNB_HOME", str(tmp_path / home))
        notebook = Notebook(shell, None)
        cells = nbformat.read(NOTEBOOKS / f"{name}.ipynb", as_version=4).cells
        for source in [cell.source for cell in cells if cell.cell_type == "code"] * times:
            notebook(source.replace(*change))
        return shell.user_ns

    return run


def test_the_analysis_runs_within_its_budget_and_packs_its_study(run, tmp_path, capsys):
    """No cell raises; the ledger has charged no more than ε 1 and nothing twice; the archive opens with every result."""
    names = run("02-analysis", times=2)  # Restart and Run All is free
    rows = [row for row in names["cps"].session.ledger_rows(names["cps"]) if row["kind"] == "charge"]
    spent = sum((row["loss"] for row in rows), PrivacyLoss.zero(rows[0]["loss"].measure))
    study = dpnb.archive.read(tmp_path / "analysis.zip")
    api.close()
    assert len(rows) == 3
    assert Fraction(99, 100) < spent.amount <= 1
    assert set(study.results) == {"earnings", "quarters", "schooling", "by_degree", "married", "fit"}
    assert study.tables["fit"]["term"][:3] == ("Intercept", "age", "(age - 40)**2")
    assert sum(cell.startswith("%%dp epsilon=") for cell in study.cells) >= 3
    assert isinstance(names["figure"], Figure)
    assert (tmp_path / "analysis.html").stat().st_size > 10_000
    assert "clamped to declared bounds" in capsys.readouterr().out


def test_hospital_visits_lead_from_two_files_to_answers_from_one_budget(run, capfd):
    """Its figures are near the files' own, a second budget for the visits is refused, and a pool is what it takes."""
    names = run("guides/hospital-visits", home="owner-home")
    people, rows = pd.read_csv("patients.csv"), pd.read_csv("visits.csv")
    held = names["often"].interval(1 - 1e-6, kind="privacy")
    assert held.low <= len(rows) / len(people) <= held.high
    each = rows.minutes.clip(0, 600).groupby(rows.person).sum().reindex(people.person, fill_value=0)
    older = np.minimum(each, 2000)[people.age.to_numpy() > 65].mean()
    held = names["long"].interval(1 - 1e-6, kind="privacy")
    assert held.low <= older <= held.high
    assert "attached before as protected data" in capfd.readouterr().out
    assert str(names["hospital"].budget.spent) == str(names["visits"].budget.spent) == "ε 2"
    api.close()


def test_a_shop_log_leads_from_a_file_to_a_card(run, tmp_path):
    """What many have is shown with its mean, what one customer alone has is nowhere, and three charges stand in the ledger."""
    # of two hundred orders that one customer alone has, none is shown by chance either
    names = run("guides/shop-log", home="shop-home", change=('delta="1e-7"', 'delta="1e-10"'))
    products, towns = names["products"], names["towns"]
    assert set(products.keys) == set(PRODUCTS)
    for name, cost in PRODUCTS.items():
        low, high = products.means()[name].interval(1 - 1e-7, "privacy")
        assert low - 0.2 < cost < high + 0.2  # the mean of what was drawn is that near
        assert products.means()[name].interval(1 - 1e-6, "privacy").width < 4
    assert all(len(town) == 5 and town.startswith("01") for town in towns.keys)
    assert "special order" not in repr(products.to_frame()) + repr(names["quarters"].to_frame())
    api.close()
    with Ledger(Home(tmp_path / "shop-home").ledger) as ledger:
        assert [row.kind for row in ledger.statement("shop")] == ["attach", "charge", "charge", "charge"]
    assert b"special order" not in Home(tmp_path / "shop-home").ledger.read_bytes()


def test_a_weighted_survey_holds_what_is_true(run, capsys):
    """Both intervals of the weighted mean are about its own truth, which the unweighted mean misses by far."""
    names = run("guides/weighted-survey")
    mean, asked, survey = names["mean"], names["asked"], names["survey"]
    weights, income = names["weight"], names["income"]
    exact = float((weights * income).sum() / weights.sum())
    low, high = mean.interval(1 - 1e-7, kind="privacy")
    assert low <= exact <= high
    low, high = asked.interval(0.95, kind="privacy")
    assert not low <= exact <= high
    assert mean.interval().low < mean.value < mean.interval().high
    assert names["regions"].shape == (2,)
    assert survey.budget.remaining.amount == 0
    api.close()
    assert "weights_fixed = true under [columns.income]" in capsys.readouterr().out


def test_a_depositor_goes_from_a_file_to_a_closed_dataset_with_a_published_page(run, tmp_path, capfd):
    """Two charges, the closing and the publication stand in the ledger; the page verifies, and opens without a curator."""
    run("guides/depositor", home="owner-home")
    api.close()
    with Ledger(Home(tmp_path / "owner-home").ledger) as ledger:
        kinds = [row.kind for row in ledger.statement("malawi")]
        assert kinds == ["attach", "charge", "charge", "close", "publish"]
        assert ledger.state("malawi") == "closed"
        assert str(ledger.spent("dataset:malawi")) == "ε 1.7"
    out = tmp_path / "published"
    assert (out / "malawi.html").stat().st_size > 20_000
    assert main(["verify", str(out / "malawi.releases.json"), "--key", str(out / "malawi.pub")]) == 0
    found = dpnb.open(out / "malawi.releases.json")
    low, high = found.got.difference(by="any").interval()
    assert 0.2 < low < high < 0.7  # the study's effect is 0.45
    assert "was not published. Published were: malawi.count()" in capfd.readouterr().out


def test_ten_queries_in_sql_share_a_budget(run, capsys):
    """Each is answered, what two of them need is paid once, and four refusals say what to write and cost nothing."""
    pytest.importorskip("sqlglot")
    names = run("guides/sql")
    rows = [row for row in names["people"].session.ledger_rows(names["people"]) if row["kind"] == "charge"]
    api.close()
    spent = sum((row["loss"] for row in rows), PrivacyLoss.zero(rows[0]["loss"].measure))
    assert len(rows) == 9
    assert 2 < spent.amount < 3
    counted = "\n".join(text for row in rows for text in row["texts"])
    assert counted.count("count()") == len(["school", "bands", "state", "rich", "poor", "busy", "old"])
    assert names["bands"].table().columns["band"] == ("young", "middle", "old")
    assert 30 < names["rate"]["per_hour"].value < 45
    assert 38 < names["old"]["n"].interval(0.95, kind="privacy").width <= 40
    said = capsys.readouterr().out
    assert "Did you mean income? (line 1, column 12)" in said
    assert "then write :m" in said


def test_a_file_for_a_course_ends_in_a_folder_that_the_signed_file_names(run, tmp_path, capfd):
    """One charge and one publication; the folder opens, every interval is its own, and its digest stands in the signed file."""
    names = run("guides/methods-file", home="course-home")
    api.close()
    with Ledger(Home(tmp_path / "course-home").ledger) as ledger:
        assert [row.kind for row in ledger.statement("extract")] == ["attach", "charge", "publish"]
    out = tmp_path / "published"
    sidecar = (out / "people" / "synthetic.json").read_bytes()
    signed = json.loads((out / "extract.releases.json").read_text())
    assert signed["synthetic"] == {"people": hashlib.sha256(sidecar).hexdigest()}
    assert main(["verify", str(out / "extract.releases.json"), "--key", str(out / "extract.pub")]) == 0
    low, high = names["course"].share("married == 1").interval()
    assert high - low > 1.5 * 2 * names["half"]
    assert tuple(names["asked"].share("married == 1").interval()) == (low, high)
    assert "not measured" in capfd.readouterr().out


def test_a_classifier_is_read_from_one_table_and_steps_are_charged_one_by_one(run, capsys):
    """Twenty steps are twenty charges; the models off the table rank as the truth does; the budget of three is kept."""
    names = run("guides/classifier", times=2)  # again is free
    spent = names["people"].budget.spent
    api.close()
    assert "20 charges" in capsys.readouterr().out
    assert Fraction(2) < spent.amount <= 3
    assert len(names["path"]) == 20
    for one in (names["model"], names["logistic"], names["bayes"]):
        assert one.answers == names["model"].answers
    assert names["high"].min() <= 1
    assert np.all(names["low"] <= names["chance"])
    assert np.all(names["chance"] <= names["high"])
    assert names["accuracy"].interval(0.95, "privacy").width < 0.2

"""The notebooks about papers: every printed number has its row in one of their tables, and every difference its reason."""

from __future__ import annotations

import importlib.util
import math
import re
import sys
from pathlib import Path

import matplotlib.pyplot as plt
import nbformat
import numpy as np
import pytest
from scipy import special, stats

from dpnb.client import api
from tests.notebook.conftest import Notebook

FOLDER = Path(__file__).parents[2] / "notebooks" / "replication"


def _helper():
    """Load what the notebooks import as ``papers``."""
    spec = importlib.util.spec_from_file_location("papers", FOLDER / "papers.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules["papers"] = module
    spec.loader.exec_module(module)
    return module


papers = _helper()

#: What was computed by others from the same descriptions: the notebooks' numbers, within four standard errors and 2 %.
NOTED = {
    "bootstrap-inference": {
        "fig2-all": [4.83, 9.43, 14.04, 18.64, 23.25],
        "fig3-bottom": [53.2, 54.0],
        "remark1": [100, 15.7, 1],
        "remark2": [6.6, 8.1, 8.9],
        "eq6": [0.2, 0.8],
        "fig4": [36.77, 36.81, 18.40, 6.13, 1.53, 0.30, 0.05],
        "fig6-noise": [0.085],
        "fig7a-conservative": [8.7],
        "fig7b-50": [77.0, 97.2, 100],
        "fig7b-200": [69.2, 98.4, 100],
        "fig8": [0.813, 0.811, 0.82],
        "fig9b": [80.1, 97.0, 100],
        "fig9a-means": [0.740, 1.103, 1.624],
        "result1-epsilon-1": [34.0, 43.4],
        "result1-epsilon-50": [5.17, 6.75],
        "result1-1": [4.045],
        "result1-50": [1.291],
    },
    "private-ish": {"appears": [0.09521], "variance": [0.999], "ceiling": [0.1736]},
    "statistical-framework": {"power": [1, 1, 1, 1]},
    "illustrated-primer": {
        "count-sds": [15.49, 14.14],
        "count-99": [46.05],
        "sd-errors": [0.0093, 0.0430],
        "sd-worse": [4.6],
        "sd-band": [-0.075, 0.062],
        "correlation-independent-1000": [-0.291, 0.001, 0.278],
        "correlation-independent-10000": [-0.029, 0, 0.029],
        "correlation-opposite-1000": [-1.211, -1.009, -0.843],
        "correlation-opposite-10000": [-1.019, -1.000, -0.982],
        "correlation-outside": [54],
        "records": [90],
    },
    "social-science": {
        "fig4": [0.00437, 0.00709],
        "fig4-more": [62],
        "effective": [758],
        "error-negative": [5.8],
        "error-ratio": [44.4, 44.4],
        "error-half": [0.25],
        "fig5": [1.30, 1.27, 1.28],
        "fig5-mean": [0.984, 0.972, 0.963],
        "fig6": [48.8, 181.8, 367.3, 571.4, 769.2, 947.4, 1230.8, 1428.6, 1698, 1818],
        "alg2-coverage": [94.9],
        "normal-coverage": [94.5],
        "interval-widths": [0.01436, 0.02142],
        "fig13-ratio": [77, 58, 52, 50, 56, 56, 72],
        "fig13-simple": [0.136, 0.084, 0.066, 0.051, 0.069, 0.083, 0.111],
    },
}


def _alternative(figure):
    """Return a figure's text alternative, which says each title, axis and name that is drawn, and a number."""
    said = figure.alternative
    for axes in figure.axes:
        for words in (
            axes.get_title(loc="left"),
            axes.get_xlabel(),
            axes.get_ylabel(),
            *axes.get_legend_handles_labels()[1],
        ):
            assert words in said, words
    assert re.search("[0-9]", said), said
    assert "nan" not in said
    return said


@pytest.fixture
def run(shell, tmp_path, monkeypatch):
    """Run a notebook in an empty folder and return its paper."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DPNB_HOME", str(tmp_path / "home"))

    def run(name, *, long):
        notebook = Notebook(shell, None)
        for cell in nbformat.read(FOLDER / f"{name}.ipynb", as_version=4).cells:
            if cell.cell_type == "code":
                notebook(cell.source if long else cell.source.replace("LONG = True", "LONG = False"))
                told = [_alternative(plt.figure(number)) for number in plt.get_fignums()]
                assert len(told) == len(set(told))
                plt.close("all")
        api.close()
        return shell.user_ns["paper"]

    return run


@pytest.mark.slow
@pytest.mark.parametrize("name", papers.PAPERS)
def test_each_printed_row_is_in_a_table_and_each_difference_has_its_reason(run, name):
    """The rows of ``papers.toml`` and those of the notebook's tables are the same; those that differ are known and explained."""
    paper = run(name, long=False)
    assert sorted(row.key for row in paper.rows) == sorted(papers.read(name))
    assert not paper.table().rows  # every row was shown
    known = {key for key, printed in papers.read(name).items() if printed.differs}
    differing = {row.key for row in paper.rows if row.verdict == "differs"}
    assert differing <= known
    assert {row.key for row in paper.rows if row.key in known} - differing <= {
        row.key for row in paper.rows if any(row.errors)
    }
    assert all(papers.read(name)[key].why for key in known)
    by = {row.key: row for row in paper.rows}
    for key, values in NOTED[name].items():
        for ours, error, value in zip(by[key].ours, by[key].errors, values, strict=True):
            assert abs(ours - value) <= 4 * error + 0.02 * abs(value) + 0.005, (key, ours, value)


@pytest.mark.slow
def test_the_normality_tests_of_figure_3_are_those_of_scipy():
    """Both vectorised statistics equal scipy's on the same samples."""
    cells = nbformat.read(FOLDER / "bootstrap-inference.ipynb", as_version=4).cells
    source = next(cell.source for cell in cells if "def anderson_darling" in cell.source)
    names = {"np": np, "math": math, "special": special}
    exec(source[: source.index("TESTS = ")], names)
    samples = np.random.default_rng(3).laplace(size=(5, 60))
    a2, w = names["anderson_darling"](samples), 1 - names["shapiro_wilk"](samples)
    i = np.arange(1, 61)
    for place, sample in enumerate(samples):
        assert w[place] == pytest.approx(stats.shapiro(sample).statistic, abs=2e-4)
        z = np.sort((sample - sample.mean()) / sample.std(ddof=1))
        direct = -60 - np.mean((2 * i - 1) * (stats.norm.logcdf(z) + stats.norm.logsf(z[::-1])))
        assert a2[place] == pytest.approx(direct)


@pytest.mark.soak
@pytest.mark.parametrize("name", papers.PAPERS)
def test_the_page_has_the_verdicts_of_the_long_notebooks(run, name):
    """What ``docs/reference/papers.md`` says is what comes out, and every row is told."""
    verdicts = {(row.cells[0], row.printed.what): row.verdict for row in run(name, long=True).rows}
    lines = page_rows()[name]
    assert {(where, what): verdict for where, what, _, _, _, verdict in lines} == verdicts


def page_rows():
    """Return the rows of the page, by paper; without the reasons."""
    found, name = {}, ""
    for line in papers.PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            name = line[3:]
            found[name] = []
        elif line.startswith("| ") and "in print | what" not in line:
            cells = [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            cells[1] = cells[1].partition("<br>")[0]
            found[name].append(tuple(cells))
    return found


def test_the_page_lists_every_printed_row():
    """In both directions: each row of ``papers.toml`` with what it quotes, its reason and a verdict that fits, and no other."""
    found = page_rows()
    assert list(found) == list(papers.PAPERS)
    text = papers.PAGE.read_text(encoding="utf-8")
    for name in papers.PAPERS:
        rows = {(where, what, printed): verdict for where, what, printed, _ours, _se, verdict in found[name]}
        assert len(rows) == len(found[name])
        wanted = {
            (one.where, one.what, " · ".join(one.cells) or "–"): "differs"
            if one.differs
            else ("agrees" if one.cells else "derived")
            for one in papers.read(name).values()
        }
        assert rows == wanted
        assert all(one.why in text for one in papers.read(name).values())


@pytest.mark.parametrize(
    ("ours", "error", "verdict"),
    [
        (1.04, 0.0, "agrees"),
        (1.2, 0.0, "differs"),
        (1.06, 0.01, "agrees"),
        (1.2, 0.05, "not enough simulations to tell"),
        (1.0, 0.05, "not enough simulations to tell"),
        (2.0, 0.05, "differs"),
        (math.nan, 0.1, "differs"),
    ],
)
def test_a_verdict_is_a_comparison(ours, error, verdict):
    """Within the rounding of print and three standard errors of ours, if these are no wider than it; NaN never agrees."""
    printed = papers.Printed("Fig 1", "a", ("1.0",))
    assert papers.Row("a", printed, (ours,), (error,)).verdict == verdict
    assert papers.Row("a", papers.Printed("Fig 1", "a"), (ours,), (error,)).verdict == "derived"


def test_few_simulations_do_not_call_a_far_number_agreement():
    """*Seen:* 74.5 beside 80.1 "agrees" in a short table."""
    printed = papers.Printed("Fig 9b", "a", ("80.1",), half=2.0)
    assert papers.Row("a", printed, (74.5,), (3.1,)).verdict == papers.UNTOLD


def test_a_figure_is_shown_with_its_alternative(shell):
    """In the element that pages show, and in the metadata of the picture; a label stands for lines without names."""
    first, second = papers.canvas(1, 2)
    papers.lines(first, [1, 2, 3], {"rising": [1.0, 2.0, 1500.0], "bent": [0.0, 4.0, 1.0]}, marker="")
    first.axhline(0.5, label="level")
    papers.named(first, "n", "error", "Figure 1")
    papers.cdfs(second, {"all": np.arange(101.0)}, 0, 100)
    papers.named(second, "value", legend=None)
    data, beside = shell.display_formatter.format(first.figure)
    said = beside["image/png"]["alt"]
    assert data["text/html"].startswith(f'<img alt="{said}" src="data:image/png;base64,{data["image/png"]}"')
    assert said == (
        "2 panels. Figure 1: error against n. rising: from 1 at 1 to 1,500 at 3. bent: from 0 at 1 to 1 at 3, highest 4 at 2. "
        "level: a line at 0.5. value. all: 5 % below 5, half below 50, 95 % below 95."
    )
    plt.close("all")
    (axes,) = papers.canvas()
    axes.plot([1, 2, 3], [3, 2, 1])
    assert first.figure.get_facecolor() == axes.figure.get_facecolor() == (1, 1, 1, 1)
    assert axes.figure.alternative == "from 3 at 1 to 1 at 3."
    axes.figure.set_label("It falls.")
    assert axes.figure.alternative == "It falls."
    plt.close("all")


def test_a_row_of_another_length_or_a_second_time_is_refused():
    """Each printed number has one of ours beside it, once."""
    paper = papers.Paper("illustrated-primer")
    with pytest.raises(ValueError, match="print has 3 numbers"):
        paper.row("median-all-equal", [1.0])
    paper.row("records", 90)
    with pytest.raises(ValueError, match="already"):
        paper.row("records", 90)
    with pytest.raises(KeyError):
        paper.row("no such row", 1)

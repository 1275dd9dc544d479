"""The code of every page is run as a reader would run it: in one session and one folder, from top to bottom."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.code_blocks import ROOT, blocks, pages

PAGES = pages()


def name(page: Path) -> str:
    """Name a page from the repository's root."""
    return page.relative_to(ROOT).as_posix()


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Give a fresh IPython session in a folder of its own, with figures that are drawn nowhere."""
    import matplotlib as mpl
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    mpl.use("agg")
    yield InteractiveShell.instance(config=Config({"HistoryManager": {"enabled": False}}))
    InteractiveShell.clear_instance()


def run_page(shell, page):
    """Run the blocks of a page and return the names that they leave."""
    for block in blocks(page):
        if block.reason:
            continue
        if block.language == "toml":
            Path(block.file).write_text(block.code, encoding="utf-8")
        elif block.language == "python":
            result = shell.run_cell(block.code)
            assert result.success, f"{block.code}\n{result.error_before_exec or result.error_in_exec!r}"
        else:
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
            done = subprocess.run(
                ["sh", "-ec", block.code],
                env={**os.environ, "PATH": path},
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, f"{block.code}\n{done.stderr}"
    return shell.user_ns


@pytest.mark.parametrize("page", PAGES, ids=name)
def test_the_code_of_a_page_runs_from_top_to_bottom(shell, page):
    """Every block of a page runs, in its order, in one session."""
    run_page(shell, page)


def test_the_first_example_answers_as_the_readme_says(shell):
    """Money helped; the interval holds the estimate."""
    names = run_page(shell, ROOT / "README.md")
    assert 0 < float(names["effect"]) < 1
    assert names["effect"].interval(0.9).low < float(names["effect"])


def test_what_is_counted_of_ones_own_file_is_near_what_is_in_it(shell):
    """The page's own file holds about as many women as men, and the answer says so."""
    names = run_page(shell, ROOT / "docs" / "how-to" / "open-data.md")
    true = int(names["made_up"]["sex"].sum())
    assert abs(names["out"]["n"].value - true) < 200
    assert abs(names["same"]["women"].value - true) < 1000


def test_means_of_frequent_values_are_paid_beside_their_counts(shell):
    """The counts alone pay δ, and each question about a shown value is a charge of its own."""
    (block,) = [one for one in blocks(ROOT / "docs" / "how-to" / "ask.md") if "frequent_values" in one.code]
    assert shell.run_cell(f"import dpnb\n{block.code}").success
    names = shell.user_ns
    counts, mean, spent = names["often"].loss, names["paid"].charged, names["clinic"].budget.spent
    assert names["code"] in names["often"].keys
    assert mean.amount > 0 == mean.delta
    assert spent.delta == counts.delta > 0
    assert spent.amount == counts.amount + mean.amount + names["means"].loss.amount

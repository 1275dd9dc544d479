"""The README's code is run as a reader would run it: in one notebook session, from top to bottom."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    """Return the README's code blocks of one language, in order."""
    return re.findall(rf"^```{language}\n(.*?)^```", README, flags=re.DOTALL | re.MULTILINE)


@pytest.fixture
def shell(tmp_path, monkeypatch):
    """Give a fresh IPython session in a folder that holds the README's own-data example."""
    from IPython.core.interactiveshell import InteractiveShell

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    (tmp_path / "people.dpnb.toml").write_text(blocks("toml")[0])
    with (tmp_path / "people.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["age", "income", "sex"])
        rows.writerows([20 + i % 60, 1_000 * (i % 90), i % 2] for i in range(25_766))
    yield InteractiveShell.instance()
    InteractiveShell.clear_instance()


def test_readme_code_runs_from_top_to_bottom(shell):
    """Every python block of the README runs, and leaves the values that the text says it leaves."""
    for block in blocks("python"):
        result = shell.run_cell(block)
        assert result.success, f"{block}\n{result.error_before_exec or result.error_in_exec!r}"
    names = shell.user_ns
    assert 0 < float(names["effect"]) < 1
    assert names["effect"].interval(0.9).low < float(names["effect"])
    assert abs(names["out"]["n"].value - 12_883) < 200


def test_means_of_frequent_values_are_paid_beside_their_counts(shell):
    """As the README says: the counts alone pay δ, and each question about a shown value is a charge of its own."""
    (block,) = [block for block in blocks("python") if "frequent_values" in block]
    assert shell.run_cell(f"import dpnb\n{block}").success
    names = shell.user_ns
    counts, mean, spent = names["often"].loss, names["paid"].charged, names["clinic"].budget.spent
    assert names["code"] in names["often"].keys
    assert mean.amount > 0 == mean.delta
    assert spent.delta == counts.delta > 0
    assert spent.amount == counts.amount + mean.amount + names["means"].loss.amount

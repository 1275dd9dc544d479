"""The two columns of *From pandas and statsmodels* are run, and numbers that stand in one line are near each other."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from scipy import stats

import dpnb
from dpnb.estimate import Estimate
from tests.docs.code_blocks import ROOT, blocks

PAGE = ROOT / "docs" / "how-to" / "from-pandas.md"
LINE = re.compile(r"^\| `(?P<theirs>.+?)` \| `(?P<ours>.+?)` \|$", re.MULTILINE)
OTHER_NUMBERS = (
    "multipletests",
    "ks_2samp",
    "sort_values",
    "logit.",
    ".sem",
    "stats.t.interval",
    "value_counts(bins",
)
"""Lines whose two sides are no estimate of one number: bins, another test, or what is drawn from both noise and sample."""


def tables() -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """The lines of both tables: questions, and what is read from their answers."""
    asked, read = PAGE.read_text(encoding="utf-8").split("\n## Release\n")
    return LINE.findall(asked), LINE.findall(read)


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The page's session after its questions were released at a large ε, in a home of its own."""
    import statsmodels.formula.api as smf
    from statsmodels.stats.multicomp import pairwise_tukeyhsd
    from statsmodels.stats.multitest import multipletests
    from statsmodels.stats.oneway import anova_oneway

    mpl.use("agg")
    patch = pytest.MonkeyPatch()
    patch.setenv("DPNB_HOME", str(tmp_path_factory.mktemp("home")))
    found: dict[str, Any] = {
        "smf": smf,
        "stats": stats,
        "pairwise_tukeyhsd": pairwise_tukeyhsd,
        "multipletests": multipletests,
        "anova_oneway": anova_oneway,
    }
    exec(blocks(PAGE)[0].code, found)
    questions, _ = tables()
    for _, ours in questions:
        exec(ours, found)
    bound = [ours.partition(" = ")[0] for _, ours in questions]
    dpnb.release({name: found[name] for name in bound}, epsilon=400)
    found["ols"] = smf.ols("pay ~ age + sex", found["df"]).fit()
    found["logit"] = smf.logit("married ~ age", found["df"]).fit(disp=0)
    yield found
    dpnb.client.api.close()
    patch.undo()


def numbers(theirs: Any, ours: Any) -> tuple[np.ndarray, np.ndarray] | None:
    """Both sides of a line as arrays of one shape; nothing where one of them is no such thing."""
    value = ours.value if isinstance(ours, Estimate) else ours
    try:
        left, right = np.asarray(theirs, dtype=float), np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return None
    return (left, right) if left.shape == right.shape else None


def both(names: dict[str, Any], theirs: str, ours: str) -> tuple[Any, Any]:
    """What both sides are; an assignment of the first table was run before its release."""
    return eval(theirs, names), eval(ours.partition(" = ")[0] if " = ds" in ours else ours, names)  # noqa: S307


@pytest.mark.parametrize(("theirs", "ours"), [*tables()[0], *tables()[1]])
def test_both_sides_of_a_line_run_and_say_the_same(names: dict[str, Any], theirs: str, ours: str) -> None:
    """As typed: numbers to 3 % of their size, p-values to .05."""
    left, right = both(names, theirs, ours)
    assert right is not None
    compared = numbers(left, right)
    if compared is not None and not any(word in theirs for word in OTHER_NUMBERS):
        size = float(np.abs(compared[0]).max())
        np.testing.assert_allclose(compared[1], compared[0], rtol=0.03, atol=max(0.05, 0.005 * size))


def test_there_are_thirty_lines_and_most_are_compared(names: dict[str, Any]) -> None:
    """At least thirty, of which at least twenty-five have one number on both sides."""
    lines = [*tables()[0], *tables()[1]]
    assert len(lines) >= 30
    kept = [line for line in lines if not any(word in line[0] for word in OTHER_NUMBERS)]
    assert sum(numbers(*both(names, *line)) is not None for line in kept) >= 25

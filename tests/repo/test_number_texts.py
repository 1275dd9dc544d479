"""Numbers for readers are written in one place, `dpnb.inference.digits`: no file of the answers formats its own."""

from __future__ import annotations

import ast
import re

import pytest

from tests.repo.test_rules import MODULES, PACKAGE, relative

pytestmark = pytest.mark.repo

ROOMS = ("cards", "client", "estimate", "inference", "notebook", "planner", "statistics")
OWN_RULE = re.compile(r"^[<>^+ ]*\d*,?(\.\d+)?g$|^,(\.\d+)f$")
"""Formats that choose digits or thousands. A fixed number of decimals (places in a drawing, seconds) and whole numbers do not."""

REASONS = {
    "dpnb/cards/attach.py": "bounds as the owner declared them",
    "dpnb/cards/power.py": "losses and chances of a plan",
    "dpnb/cards/tracks.py": "places in a drawing",
    "dpnb/client/assumptions.py": "facts as they were given",
    "dpnb/client/power.py": "a loss that is computed with, not shown",
    "dpnb/estimate/draws.py": "a share of draws",
    "dpnb/estimate/wording.py": "an expression as code",
    "dpnb/inference/digits.py": "the rule itself",
    "dpnb/estimate/hypothesis.py": "p-values and test statistics, whose digits are a convention of their own",
    "dpnb/planner/compile.py": "edges as keys",
    "dpnb/planner/power.py": "goals as they were given",
    "dpnb/statistics/_base.py": "numbers of rows",
    "dpnb/statistics/frequent.py": "a δ",
    "dpnb/statistics/leaves.py": "edges as keys",
    "dpnb/statistics/moment_readings.py": "an option as code",
    "dpnb/statistics/pair_spread.py": "an option as it was given",
    "dpnb/statistics/placement.py": "points as code",
    "dpnb/statistics/quantile.py": "a level as it was given",
    "dpnb/estimate/regression_summary.py": "a term as code, a number of rows, and a table in the layout of its field",
    "dpnb/statistics/tree_fit.py": "a level as it was given",
}
"""Files with a format of their own, and what they write with it."""


def own_formats(tree: ast.AST) -> set[str]:
    """The formats in f-strings that choose digits or thousands."""
    return {
        spec.value
        for node in ast.walk(tree)
        if isinstance(node, ast.FormattedValue) and isinstance(node.format_spec, ast.JoinedStr)
        for spec in node.format_spec.values
        if isinstance(spec, ast.Constant) and OWN_RULE.match(spec.value)
    }


def test_numbers_of_answers_are_written_by_one_rule():
    """A file that writes numbers in another way says here what they are; the reasons are all in use."""
    found = {
        relative(path): formats
        for path in MODULES
        if path.relative_to(PACKAGE).parts[0] in ROOMS
        and (formats := own_formats(ast.parse(path.read_text(encoding="utf-8"))))
    }
    assert {name: found[name] for name in found if name not in REASONS} == {}
    assert [name for name in REASONS if name not in found] == []


@pytest.mark.parametrize("planted", ["f'{x:.3g}'", "f'{x:,.0f}'", "f'{x:g}'", "f'{x:>12.4g}'"])
def test_a_planted_format_is_found(planted):
    """Each spelling of a rule of one's own is seen."""
    assert own_formats(ast.parse(planted))


@pytest.mark.parametrize("allowed", ["f'{x:.1f}'", "f'{x:,}'", "f'{x!r}'", "f'{x:<12}'"])
def test_fixed_decimals_and_whole_numbers_are_no_rule(allowed):
    """What chooses no digits is let through."""
    assert not own_formats(ast.parse(allowed))

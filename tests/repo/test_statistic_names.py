"""What a statistic is, it declares: outside its room no file asks for one by its name, and none lists several."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator

import pytest

from dpnb.client.columns import ColumnHandle
from dpnb.client.handles import Dataset
from dpnb.statistics import BY_NAME
from tests.repo.test_rules import MODULES, PACKAGE, relative

pytestmark = pytest.mark.repo

OTHER_MEANINGS = {
    "dpnb/cards/facts.py": "names of parts of a release",
    "dpnb/cards/plan.py": "a forecast that is a sum of noises",
    "dpnb/client/assumptions.py": "what is typed in dpnb.power(what, …): a proportion among it",
    "dpnb/client/sizes.py": "names of parts of a release",
    "dpnb/client/sql/aggregates.py": "what an owner's preparation takes of a person's rows",
    "dpnb/client/sql/refusals.py": "names of functions of DuckDB",
    "dpnb/client/sql/sources.py": "what an owner's preparation takes of a person's rows",
    "dpnb/client/suggestions.py": "words of pandas",
    "dpnb/course/contest.py": "the closed list of what an entry of the contest may ask",
    "dpnb/estimate/arithmetic.py": "functions of numpy that carry draws",
    "dpnb/estimate/operations.py": "a reduction of an array",
    "dpnb/planner/design.py": "names of parts of a release",
    "dpnb/simulate/exact.py": "what is true of simulated rows, where it is defined; any other is given as truth=",
    "dpnb/datasets/preparation.py": "what an owner's preparation takes of a person's rows",
    "dpnb/trusted/curator/engines/per_unit_sql.py": "what an owner's preparation takes of a person's rows",
    "dpnb/trusted/schema/prepare_section.py": "what an owner's preparation takes of a person's rows",
    "dpnb/trusted/schema/unit_summary.py": "what an owner's preparation takes of a person's rows",
    "dpnb/widgets/coverage_estimate.py": "the statistics of the coverage lab, each with the sliders that it has",
    "dpnb/widgets/coverage_setup.py": "a choice of the coverage lab: a proportion among it",
    "dpnb/widgets/kinds/person.py": "what is computed from eight made-up people: never a release",
    "dpnb/notebook/complete.py": "what completion offers first, a display's own short list",
    "dpnb/widgets/scenes.py": "the choices of the coverage lab: a proportion and quartiles among them",
}
"""Files in which such a word is something else, or a display's own short list of what it can draw."""


def names(node: ast.expr) -> set[str]:
    """The names of statistics that an expression writes out."""
    if isinstance(node, ast.Constant):
        return {node.value} & set(BY_NAME) if isinstance(node.value, str) else set()
    listed = node.elts if isinstance(node, ast.Set | ast.Tuple | ast.List) else []
    return {name for one in listed for name in names(one)}


def asking(tree: ast.AST) -> Iterator[str]:
    """Comparisons with a statistic's name, cases of one, and lists or tables of several."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(left, _, others):
                if any(names(one) for one in (left, *others)):
                    yield ast.unparse(node)
            case ast.MatchValue(value):
                yield from (f"case {name}" for name in names(value))
            case ast.Dict(keys):
                found = {name for key in keys if key is not None for name in names(key)}
                yield from [f"a table of {sorted(found)}"] * (len(found) > 1)
            case ast.Set() | ast.Tuple() | ast.List():
                yield from [f"a list of {sorted(names(node))}"] * (len(names(node)) > 1)


def test_no_other_room_asks_for_a_statistic_by_its_name():
    """Whoever adds one adds its file, its test and a line of the registry; the exceptions are all in use."""
    outside = [path for path in MODULES if not path.is_relative_to(PACKAGE / "statistics")]
    found = {relative(path): list(asking(ast.parse(path.read_text()))) for path in outside}
    assert {path: told for path, told in found.items() if told and path not in OTHER_MEANINGS} == {}
    assert [path for path in OTHER_MEANINGS if not found[path]] == []


@pytest.mark.parametrize(
    "code",
    [
        'if question.statistic == "mean": ...',
        'kind.name in {"quantile", "nothing"}',
        '{"sum": 1, "mean": 2}.get(question.statistic, 0)',
        'LISTED = ("count", "sum")',
        'match question.statistic:\n    case "tree": ...',
    ],
)
def test_a_planted_question_is_found(code):
    """Each way to ask by name that there was."""
    assert list(asking(ast.parse(code)))


def test_every_statistic_can_be_typed():
    """As a method of a column, or of a dataset, with each option that is declared; labels stand with what they label."""
    for name, one in BY_NAME.items():
        method = getattr(ColumnHandle if one.spelling.columns == "before" else Dataset, name, None)
        assert method is not None, name
        declared = {dict(one.spelling.renamed).get(option, option) for option in one.defaults}
        labels = {"labels"} if one.spelling.columns == "labelled" else set()
        assert declared - labels <= set(inspect.signature(method).parameters), name

"""Cases that take turns: every group has one each day, all have theirs within n days, and `make soak` runs them all."""

from __future__ import annotations

import ast
import functools
import itertools
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests import examples
from tests.examples import EXPENSIVE, waiting

pytestmark = pytest.mark.repo

ROOT = Path(__file__).parents[2]
NAMES, UNITS = ("mean", "sum", "count"), ("rows", "units", "pairs", "weeks")


def case(name, unit, turns=2):
    """Build what pytest collects of one case."""
    mark = SimpleNamespace(args=(turns, "name"), kwargs={})
    return SimpleNamespace(
        nodeid=f"tests/test_it.py::test_it[{name}-{unit}]",
        callspec=SimpleNamespace(params={"name": name, "unit": unit}),
        get_closest_marker={"turns": mark}.get,
    )


def ran(cases, day):
    """Return name and unit of the cases that have their turn on this day."""
    left_out = {one.nodeid for one in waiting(cases, day)}
    return {tuple(one.callspec.params.values()) for one in cases if one.nodeid not in left_out}


CASES = [case(name, unit) for unit in UNITS for name in NAMES]
EVERY = set(itertools.product(NAMES, UNITS))


@pytest.mark.parametrize("day", range(20_000, 20_005))
def test_each_day_every_group_and_every_value_has_its_cases(day):
    """Half of the units for each name, each unit under some name; on the next day the other half."""
    today = ran(CASES, day)
    assert [sum(name == one for name, _ in today) for one in NAMES] == [2, 2, 2]
    assert {unit for _, unit in today} == set(UNITS)
    assert ran(CASES, day + 1) == EVERY - today


@pytest.mark.parametrize("turns", [2, 3, 4, 9])
def test_after_n_days_all_had_their_turn(turns):
    """A group of fewer cases than days still has one each day."""
    cases = [case(name, unit, turns) for unit in UNITS for name in NAMES]
    days = [ran(cases, day) for day in range(turns)]
    assert set.union(*days) == EVERY
    assert all({name for name, _ in day} == set(NAMES) for day in days)


def member(test, turns=3, file="tests/test_it.py"):
    """Build what pytest collects of a test that is of a family and has no cases."""
    mark = SimpleNamespace(args=(turns,), kwargs={"of": "pictures"})
    return SimpleNamespace(nodeid=f"{file}::test_{test}", get_closest_marker={"turns": mark}.get)


@pytest.mark.parametrize("turns", [2, 3, 5])
def test_tests_of_a_family_take_turns_as_cases_do(turns):
    """Seven tests of one file: each nth runs on a day, all had theirs after n days, and each as often as any other."""
    tests = [member(name, turns) for name in "abcdefg"]
    days = [
        {one.nodeid for one in tests} - {one.nodeid for one in waiting(tests, day)} for day in range(turns)
    ]
    assert set.union(*days) == {one.nodeid for one in tests}
    assert sum(map(len, days)) == len(tests)
    assert min(map(len, days)) >= len(tests) // turns


def test_a_turn_depends_on_no_other_file():
    """What has its turn in a run of everything has it in a run of its own file too: a failure is seen again."""
    others = [member(name, file="tests/test_another.py") for name in "uvwxy"]
    mine = [member(name) for name in "abcdefg"]
    for day in range(4):
        alone = {one.nodeid for one in waiting([*mine, *CASES], day)}
        among = {one.nodeid for one in waiting([*others, *mine, *CASES], day)}
        assert alone == {name for name in among if "another" not in name}


@functools.cache
def defined(path):
    """Name the tests that a file defines, and those of them that say themselves whose turn it is."""
    nodes = [
        node
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef)
    ]
    own = {
        node.name for node in nodes if any("mark.turns" in ast.unparse(one) for one in node.decorator_list)
    }
    return {node.name for node in nodes}, own


def test_the_table_of_expensive_tests_names_what_is_there():
    """Its days are few; hardly one of its tests is gone, which gives nobody a turn, and none has a turn of its own beside."""
    gone, twice = [], []
    contracts = set().union(*(defined(path)[0] for path in (ROOT / "tests/contracts").glob("*.py")))
    for name in EXPENSIVE:
        file, test = ROOT / name.split("::")[0], name.split("::")[-1]
        names, own = defined(file) if file.is_file() else (set(), set())
        gone += [name] if test not in names | contracts else []
        twice += [name] if test in own else []
    assert set(EXPENSIVE.values()) <= {2, 3, 4}
    assert len(gone) <= len(EXPENSIVE) // 50, gone
    assert twice == []


@pytest.mark.parametrize("days", [2, 3, 4])
def test_each_case_of_a_test_of_the_table_runs_once_in_its_days(days, monkeypatch):
    """Without a mark: neighbours of the table on different days, the cases of one test too, also the only one of a file; a long run has all."""
    names = [f"tests/test_{letter}.py::test_it" for letter in "abcdef"]
    monkeypatch.setattr(examples, "EXPENSIVE", dict.fromkeys(names[:4], days))
    cases = [f"{name}[{case}]" for name in names[:3] for case in range(5)] + names[3:]
    tests = [SimpleNamespace(nodeid=name, get_closest_marker={}.get) for name in cases]
    ran = [set(cases) - {one.nodeid for one in waiting(tests, day)} for day in range(days)]
    listed = cases[:16]
    assert [sum(name in day for day in ran) for name in listed] == [1] * 16
    assert all(set(names[4:]) <= day for day in ran)
    assert max(map(len, ran)) - min(map(len, ran)) <= days
    assert len(waiting(tests, None)) == 16
    alone = [SimpleNamespace(nodeid=names[3], get_closest_marker={}.get)]
    assert [names[3] in day for day in ran] == [not waiting(alone, day) for day in range(days)]


def test_a_long_run_leaves_all_to_itself():
    """Without a day every case is a long one, so that `make soak` runs each of them."""
    assert waiting(CASES, None) == sorted(CASES, key=lambda one: NAMES.index(one.callspec.params["name"]))


def test_what_waits_is_marked_as_long(pytestconfig, monkeypatch):
    """The hook of this very run leaves half of the cases to the long run; where that run asks, all of them."""
    hook = pytestconfig.pluginmanager.get_plugin(str(ROOT / "tests/conftest.py"))
    for profile, left in (("ordinary", 6), ("soak", 12)):
        monkeypatch.setattr(hook, "PROFILE", profile)
        marked: list[str] = []
        hook.pytest_collection_modifyitems(
            [SimpleNamespace(**vars(one), add_marker=marked.append) for one in CASES]
        )
        assert marked == ["soak"] * left

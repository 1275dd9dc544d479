"""Cases that take turns: every group has one each day, all have theirs within n days, and `make soak` runs them all."""

from __future__ import annotations

import itertools
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.examples import waiting

pytestmark = pytest.mark.repo

ROOT = Path(__file__).parents[2]
NAMES, UNITS = ("mean", "sum", "count"), ("rows", "units", "pairs", "weeks")


def case(name, unit, turns=2):
    """Build what pytest collects of one case."""
    mark = SimpleNamespace(args=(turns, "name"))
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

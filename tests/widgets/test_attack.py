"""The attack bench: its shares are those of the attacks, and it computes only what is asked for."""

from __future__ import annotations

import inspect

import pytest

from dpnb import widgets
from dpnb.audit.attacks.benches import BENCHES, bench
from dpnb.errors import PlanError
from dpnb.notebook.interactions import COMMANDS


def test_the_picture_shows_what_the_attack_found():
    """Shares, errors and baseline are the attack's own, to five decimals."""
    found, drawn = bench("membership"), widgets.attack_bench("membership").facts["run"]["membership"]
    assert drawn["epsilons"] == list(found.epsilons)
    assert drawn["baseline"] == pytest.approx(found.baseline, abs=1e-5)
    for one in drawn["publications"]:
        told = found[one["key"]]
        assert one["recovered"] == pytest.approx([row.recovered for row in told.rows], abs=1e-5)
        assert (one["bound"] is None) == (told.bound is None)
        if told.bound is not None:
            assert one["bound"][0] == pytest.approx(told.bound(found.epsilons[0]), abs=1e-5)
            assert one["bound"][-1] == pytest.approx(told.bound(found.epsilons[-1]), abs=1e-5)


def test_another_attack_is_computed_when_it_is_chosen():
    """The first paint pays for one attack; what was computed stays."""
    one = widgets.attack_bench("linkage")
    assert set(one.facts["run"]) == {"linkage"}
    one.chosen = {"attack": "floating point", "epsilon": 0.5}
    assert set(one.facts["run"]) == {"linkage", "floating point"}
    assert "ε 0.5" in one.card().text
    one.chosen = {"attack": "hope", "epsilon": "much"}
    assert one.facts["problem"] == ""


def test_a_page_without_a_kernel_can_hold_every_attack():
    """``run()`` computes them all."""
    assert set(widgets.attack_bench().run().facts["run"]) == set(BENCHES)


def test_bench_takes_no_data():
    """There is no parameter for an array or a handle."""
    assert set(inspect.signature(widgets.attack_bench).parameters) == {"attack", "epsilon"}


def test_command_lays_an_attack_on_the_bench():
    """``%dp attack floating-point`` needs no quotes; what is none is answered with the list."""
    assert COMMANDS["attack"]({}, "floating-point").facts["attack"] == "floating point"
    with pytest.raises(PlanError, match="linkage"):
        COMMANDS["attack"]({}, "hope")
    with pytest.raises(PlanError, match="above 0"):
        widgets.attack_bench(epsilon=0)

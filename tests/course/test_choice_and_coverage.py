"""Checks of choices, intervals and attacks that students wrote: right ones pass, wrong ones are named from both sides."""

from __future__ import annotations

import numpy as np
import pytest

from dpnb.errors import LossError, OptionError
from dpnb.teach import check


def test_a_choice_that_is_none_of_them_is_named():
    def places(rows, epsilon, size=None, rng=None):
        return rng.integers(5, 7, size)

    found = check.selection(places, [1], law={0: 0.4, 1: 0.6}, epsilon=0.5, rng=1)
    assert found.mistake.name == "an output that is not a choice"


def test_a_law_must_add_up_and_epsilon_stays_away_from_one():
    with pytest.raises(OptionError, match="add up"):
        check.selection(lambda rows: 1, [1], law={0: 0.4, 1: 0.4}, epsilon=0.5)
    with pytest.raises(LossError, match="inverts"):
        check.selection(lambda rows: 1, [1], law={0: 0.4, 1: 0.6}, epsilon=1)
    with pytest.raises(OptionError, match="level"):
        check.coverage(lambda x: (x, x), lambda rng: 1.0, truth=1, level=95)


def test_an_interval_of_another_shape_is_told():
    assert check.coverage(lambda x: x, lambda rng: 1.0, truth=1, rng=1).mistake.name == "wrong shape"
    assert (
        check.coverage(lambda x: (x + 1, x - 1), lambda rng: 1.0, truth=1, rng=1).mistake.name
        == "ends swapped"
    )
    assert check.coverage(lambda x: np.nan, lambda rng: 1.0, truth=1, rng=1).mistake.name == "undefined"


def secret_or_not(rng):
    secret = rng.integers(0, 2)
    return secret + rng.normal(0, 0.1), secret


def test_an_attack_of_another_shape_is_told():
    told = {
        "no return": lambda seen: print(end=""),
        "wrong shape": lambda seen: [0, 1],
        "it fails": lambda seen: 1 / 0,
    }
    for name, attack in told.items():
        assert check.attack(attack, secret_or_not, least=0.9, rng=1).mistake.name == name


def test_an_attack_is_a_function_and_its_limits_are_shares():
    with pytest.raises(OptionError, match="parentheses"):
        check.attack(1, secret_or_not, least=0.9)
    with pytest.raises(OptionError, match="shares"):
        check.attack(lambda seen: 1, secret_or_not, least=90)

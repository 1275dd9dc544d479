"""A statistic without a method of its own is typed as it declares: the method that is made asks what a written one asks."""

from __future__ import annotations

import inspect
from fractions import Fraction

import pytest

from dpnb.client import column_questions
from dpnb.client.arguments import checked_calls
from dpnb.client.column_questions import ColumnQuestions, typed, with_statistics
from dpnb.errors import OptionError
from dpnb.statistics import BY_NAME, Statistic

ALIKE = {
    "sum": ((), {}),
    "mean": ((), {"spread": "bound"}),
    "variance": ((), {}),
    "quantile": (([0.25, 0.5],), {"ci": True}),
    "top_k": ((2,), {}),
    "covariance": (("y",), {"method": "separate"}),
    "correlation": (("y",), {}),
    "tree": ((), {"levels": 4}),
    "ks_density": ((), {"cells": 5, "points": 7}),
    "frequent_values": ((), {"delta": Fraction(1, 1000)}),
}


@pytest.mark.parametrize("name", ALIKE)
def test_a_made_method_asks_what_the_written_one_asks(data, name):
    """Positional and named options, second columns and arms: the same question, with the same text."""
    args, options = ALIKE[name]
    column = data.g if name == "top_k" else data.x
    made, written = typed(BY_NAME[name])(column, *args, **options), getattr(column, name)(*args, **options)
    assert made.measurement.question == written.measurement.question
    assert made.text == written.text


def test_a_made_method_takes_two_arms(data):
    """What is compared stands first."""
    arms = data.y > 2
    made, written = typed(BY_NAME["difference"])(data.x, arms, ci=False), data.x.difference(arms, ci=False)
    assert made.measurement.question == written.measurement.question
    assert made.text == written.text == "small.x.difference(by=(small.y > 2), ci=False)"


class Spread(Statistic):
    """A statistic that nobody wrote a method for."""

    name, title, target, defaults = "spread", "spread of it", "number", {"k": 3, "fast": False}


def test_a_new_statistic_has_a_method_with_its_options_and_says_what_it_takes(monkeypatch, data):
    """Documentation, signature and refusals follow from the declaration."""
    monkeypatch.setattr(column_questions, "STATISTICS", (*BY_NAME.values(), Spread()))

    @checked_calls
    @with_statistics
    class Questions(ColumnQuestions):
        __slots__ = ("_dataset", "_expr")

        def _spoken(self) -> str:
            return "small.x"

    assert str(inspect.signature(Questions.spread)) == "(self, *, k=3, fast=False)"
    assert Questions.spread.__doc__ == "Ask the spread of it."
    assert Questions.mean is ColumnQuestions.mean
    with pytest.raises(OptionError, match=r"small\.x\.spread\(\).*quick.*k=, fast="):
        Questions().spread(quick=1)

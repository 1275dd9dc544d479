"""Questions as a newcomer may type them: each mistake is one short line that names the fix, and nothing is charged."""

from __future__ import annotations

import math

import numpy as np
import pytest

import dpnb
from dpnb.errors import (
    DpnbError,
    HandleError,
    OptionError,
    OwnerError,
    PendingError,
    PlanError,
    SchemaError,
)
from tests.bad_input.conftest import short

WRONG = {
    # names
    "p.nowhere": (AttributeError, "Its columns: x, y, z, g, big"),
    "p.x.max()": (AttributeError, "p.x.quantile([0.01, 0.99])"),
    "(p.g == 'zz').mean()": (SchemaError, "it has no value 'zz'"),
    "p.groupby()": (PlanError, "groupby needs a column"),
    "p.groupby(3).count()": (PlanError, "not int"),
    # types
    "p.g.mean()": (SchemaError, "value_counts"),
    "(p.g < 'b').mean()": (SchemaError, "without numbers"),
    "(p.x > 'a').mean()": (PlanError, "p.x is a number; 'a' is text. Try p.x > 5."),
    "p.x.difference(by='g')": (PlanError, "exactly two declared values"),
    "p[p.x].count()": (PlanError, "not a condition"),
    "p[3]": (HandleError, "a position"),
    "p['x', 'y']": (HandleError, 'Several columns are named in a list: p[["x", "y"]].corr()'),
    "p[['x', 3]]": (HandleError, 'Several columns are named in a list: p[["x"]].corr()'),
    "p.x[p.x > 3]": (HandleError, "Rows are chosen before the column: p[p.x > 3].x"),
    "p.__setitem__('new', p.x)": (HandleError, "cannot be written to"),
    "p.__delitem__('x')": (HandleError, "cannot be written to"),
    "setattr(p, 'x', 3)": (
        HandleError,
        "p holds no data here, so it cannot be written to. Ask a question: p.x.mean()",
    ),
    "setattr(p, 'new', p.x)": (HandleError, "cannot be written to"),
    "setattr(p.x, 'label', 'X')": (HandleError, "cannot be written to"),
    "delattr(p, 'x')": (HandleError, "cannot be written to"),
    # operators and functions that the column language lacks
    "abs(p.x)": (PlanError, "no abs. Write p.x.where(p.x > 0, -p.x)"),
    "round(p.x, 1)": (PlanError, "no round. Write p.x // 10 * 10"),
    "math.floor(p.x)": (PlanError, "no round"),
    "p.x % 2": (PlanError, "no %. It has + - *"),
    "divmod(7, p.x)": (PlanError, "no %"),
    "p.x ^ p.y": (PlanError, "The square is ** 2"),
    "p.x @ p.y": (PlanError, "Ask .covariance(…)"),
    "2 ** p.x": (PlanError, "a column as exponent"),
    # arguments that a call does not take
    "p.x.std(ddof=1)": (
        OptionError,
        "p.x.std() takes no ddof=: its divisor is the number of rows, as with ddof=0",
    ),
    "p.x.var(ddof=1)": (OptionError, "p.x.var() takes no ddof=: its divisor"),
    "np.std(p.x, ddof=1)": (OptionError, "p.x.std() takes no ddof=: its divisor"),
    "np.histogram(p.x, density=True)": (OptionError, "takes no density=: ask .density()"),
    "p.x.mean(skipna=True)": (OptionError, "the owner's schema says what missing means"),
    "p.x.mean(epsilon=1)": (OptionError, "a loss is given to the cell or to the release"),
    "p.x.mean(cii=False)": (OptionError, "Did you mean ci=?"),
    "p.x.mean(weights=p.y)": (PlanError, "weights_fixed = true"),
    "p.x.sum(weights=p.y)": (PlanError, "weights_fixed = true"),
    "p.x.mean(1)": (
        OptionError,
        "p.x.mean() was given too many values. It takes ci=, spread=, clamped=, about=, weights=.",
    ),
    "p.x.mean(p.y)": (OptionError, "p.x.mean() was given too many values"),
    "p.x.sum(1)": (OptionError, "p.x.sum() was given too many values. It takes weights=, ci=."),
    "p.x.difference()": (OptionError, "p.x.difference() needs by. It takes by, ci=, spread=."),
    "p.x.clip(1)": (OptionError, "p.x.clip() needs high. It takes low, high."),
    "p.x.clip(lower=1, upper=2)": (OptionError, "Did you mean low=?"),
    "p.count('x')": (OptionError, "p.count() takes no values."),
    "p.groupby(by='g')": (OptionError, "name the groups first"),
    "p.groupby('g', as_index=False)": (OptionError, "the keys are its axes"),
    "dpnb.release([p.x.mean()], epsilon=1, delta='1e-6')": (
        OptionError,
        "dpnb.release() takes no delta=: δ belongs to the budget",
    ),
    "dpnb.release([p.x.mean()], eps=1)": (OptionError, "dpnb.release() takes no eps=: write epsilon="),
    "dpnb.release([p.x.mean()], 1)": (
        OptionError,
        "dpnb.release() was given too many values. It takes items, epsilon=",
    ),
    "dpnb.release(epsilon=1)": (OptionError, "dpnb.release() needs items"),
    "dpnb.plan([p.x.mean()], delta=1)": (OptionError, "dpnb.plan() takes no delta=: δ"),
    "dpnb.spend(epsilon=1, delta=1)": (OptionError, "dpnb.spend() takes no delta=: δ"),
    "dpnb.open('hiv', epsilon=1)": (
        OptionError,
        "dpnb.open() takes no epsilon=: the owner's schema declares the budget",
    ),
    "p[0:5]": (HandleError, "a position"),
    # values that cannot be
    "(p.x / 0).mean()": (PlanError, "divide by a constant that is not zero"),
    "(p.x // 0).mean()": (PlanError, "divide by a constant that is not zero"),
    "100 // (p.x - 7)": (PlanError, "non-zero constant"),
    "(p.x / p.y).mean()": (PlanError, "non-zero constant"),
    "1 / p.x": (PlanError, "non-zero constant"),
    "p.x ** 3": (PlanError, "x * x * x"),
    "p.x + float('nan')": (PlanError, "finite"),
    "p.x + float('inf')": (PlanError, "finite"),
    "(p.x > float('nan')).mean()": (PlanError, "finite"),
    "(p.z * p.z * p.z * p.z).sum()": (PlanError, "too wide a range"),
    "sum([p.x] * 200).mean()": (PlanError, "limited to depth"),
    "sum([p.x] * 5000).mean()": (PlanError, "limited to depth"),
    "(p.g == 'z' * 5000).mean()": (PlanError, "limited to 1000 characters"),
    "p.x.isin([]).mean()": (PlanError, "at least one value"),
    "p.x.isin(range(100_000)).mean()": (PlanError, "limited to 1000"),
    "p.x.clip(5, 1).mean()": (PlanError, "no grid point"),
    # options
    "p.x.mean(spread='wide')": (OptionError, "spread="),
    "p.x.quantile(2)": (PlanError, "between 0 and 1"),
    "p.x.quantile(1)": (OptionError, "one person's"),
    "p.x.quantile([0, 0.25, 0.5])": (OptionError, ".quantile([0.01, 0.99])"),
    "p.x.tree().quantile([0.5, 1])": (OptionError, ".quantile([0.01, 0.99])"),
    "p.x.ks_density().quantile(0)": (OptionError, ".quantile([0.01, 0.99])"),
    "p.x.quantile([])": (PlanError, "between 0 and 1"),
    "p.x.quantile('half')": (OptionError, "between 0 and 1"),
    "p.x.histogram(-3)": (PlanError, "1 to 1,000 bins"),
    "p.x.histogram(10**9)": (PlanError, "1 to 1,000 bins"),
    "p.x.histogram(2.5)": (OptionError, "whole number"),
    "p.x.histogram([1, 0])": (PlanError, "increasing order"),
    "p.x.histogram([])": (PlanError, "increasing order"),
    "p.x.histogram('auto')": (OptionError, "bins= is a whole number such as 10"),
    "p.x.histogram(bins='10')": (OptionError, "edges such as [0, 10, 20]"),
    "p.x.density('auto')": (OptionError, "bins= is a whole number such as 10"),
    "p.x.bin(10)": (PlanError, "bin([0, 10, 20]); equal bins: histogram(bins=10)"),
    "p.x.bin('10')": (PlanError, "bin([0, 10, 20])"),
    "p.x.isin(3)": (PlanError, "isin([1, 2])"),
    "p.x.tree(0)": (OptionError, "from 1 to 16"),
    "p.x.tree(2.5)": (OptionError, "from 1 to 16"),
    "p.x.tree().cdf([])": (OptionError, "1 to 100,000"),
    "p.x.tree().count(5, 2)": (OptionError, "above"),
    "p.x.tree().quantile(2)": (OptionError, "between 0 and 1"),
    "p.x.tree().density(levels=40)": (OptionError, "levels of this tree"),
    "p.x.density(method='kernel')": (OptionError, "perturbed"),
    "p.g.density()": (PlanError, "value_counts"),
    "p.x.mean().weight(0)": (PlanError, "above 0"),
    "p.x.mean().spend(epsilon=-1)": (PlanError, "above 0"),
    "p.x.mean().spend(epsilon=1, rho=1)": (OptionError, "one of"),
    # numpy
    "np.log(p.x)": (PlanError, "The column language has no log."),
    "np.sqrt(p.x + 1)": (PlanError, "has no sqrt"),
    "np.power(2, p.x)": (PlanError, "has no power"),
    "np.add.reduce(p.x)": (PlanError, "has no add"),
    "np.array([1, 2]) + p.x": (PlanError, ""),
    # sizes
    "p.groupby('big').x.mean()": (PlanError, "Group by bins"),
    "p.groupby('big', 'big').count()": (PlanError, "Group by bins"),
    "p.groupby('g', 'x', 'x', 'x', 'x', 'x').count()": (PlanError, "cells"),
    # Python's habits
    "p.x > 1 and p.x < 3": (HandleError, "&"),
    "p.x > 1 & p.x < 3": (PlanError, "each comparison its own parentheses"),
    "p[p.x > 1 & p.y].count()": (PlanError, "each comparison its own parentheses"),
    "p.y & p.x > 1": (PlanError, "p.y is not a condition. Compare it: (p.y == 1)."),
    "~p.x > 1": (PlanError, "p.x is not a condition. Compare it: (p.x > 5)."),
    "p.x.mean().max()": (PlanError, "Of the numbers alone: .value.max()"),
    "p.x.mean().T": (PlanError, "Of the numbers alone: .value.T."),
    "p.x.mean().tabel": (PlanError, "Did you mean .table?"),
    "p.groupby('g').x.mean()['z']": (PlanError, "g has no key 'z'. Its keys:"),
    "float(p.x.mean())": (PendingError, "never released"),
    "p.x.mean().remeasure(epsilon=1)": (PendingError, "never released"),
    # batches
    "dpnb.release([], epsilon=1)": (PlanError, "no pending question"),
    "dpnb.release([p.x], epsilon=1)": (PlanError, "Only questions"),
    "dpnb.release([p.x.mean()])": (PlanError, "Say what to spend"),
    "dpnb.release([p.x.mean()], epsilon=1, rho=1)": (PlanError, "one of"),
    "dpnb.release([p.x.mean()], rho=1)": (PlanError, "pure ε budget"),
    "dpnb.release([(p.x * 0).sum()], epsilon=1)": (PlanError, "public constant"),
    "dpnb.release([p.x.quantile(0.5)], epsilon='0.0000005')": (PlanError, "Use a larger loss"),
    "dpnb.release([p[p.x > i / 101].x.mean() for i in range(1001)], epsilon=1)": (PlanError, "1000"),
    "dpnb.plan([p[p.x > 1].x.mean()], within=0.1)": (PlanError, "assume_n=1000"),
    "dpnb.plan([p[p.x > 1].x.mean()], within=0.1, assume_n=-5)": (PlanError, "above 0"),
    "dpnb.plan(3)": (PlanError, "Only questions can be released, not int"),
    "dpnb.release(None, epsilon=1)": (PlanError, "Only questions can be released, not NoneType"),
    "dpnb.open()": (OwnerError, 'Say what to open: dpnb.open("hiv")'),
    "dpnb.report([])": (PlanError, "nothing to report"),
}


def test_every_mistake_is_one_short_line_that_names_the_fix_and_costs_nothing(desk):
    """The table above, one budget: it is untouched at the end, and no message holds a value of a row."""
    names = {"p": desk.people(), "dpnb": dpnb, "np": np, "math": math}
    for text, (kind, words) in WRONG.items():
        with pytest.raises(kind) as told:
            eval(text, names)  # noqa: S307 - the table is written in this file
        assert isinstance(told.value, DpnbError), text
        assert words in short(told.value), text
    assert names["p"].budget.spent.amount == 0


def test_numpy_operators_and_constants_build_the_expressions_of_python(desk):
    """A numpy constant on either side, and the functions that operators stand for, give the same question."""
    p = desk.people()
    two = np.float64(2)
    for left, right in (
        (two < p.x, p.x > two),
        (two * p.x, 2.0 * p.x),
        (two - p.x, 2.0 - p.x),
        (np.int64(2) + p.x, 2 + p.x),
        (np.subtract(p.x, 1), p.x - 1),
        (np.negative(p.x), -p.x),
        (np.power(p.x, 2), p.x**2),
        (np.logical_and(p.x > 1, p.y == 1), (p.x > 1) & (p.y == 1)),
        (np.logical_not(p.x > 1), ~(p.x > 1)),
    ):
        assert left.expression == right.expression


def test_a_margin_says_where_its_test_is(desk):
    """A chi-square test is of a table as it was asked; other missing names stay plain."""
    margin = desk.people().crosstab("y", "g").margin("y")
    with pytest.raises(AttributeError, match=r"value_counts\(\).goodness_of_fit_test"):
        margin.goodness_of_fit_test()
    assert not hasattr(margin, "nowhere")


OVER = {
    "pure": (
        "epsilon = 4",
        {"epsilon": 50},
        "asks for ε 50; 4 is left of 4. Options: %%dp epsilon=4. Nothing was spent.",
    ),
    "zcdp": (
        "rho = 0.5",
        {"rho": 5},
        "asks for ρ 5; 0.5 is left of 0.5. Options: %%dp rho=0.5. Nothing was spent.",
    ),
    "pure question in zcdp": (
        "rho = 0.5",
        {"epsilon": 50},
        "Options: %%dp epsilon=1.44. Nothing was spent.",
    ),
    "approximate": ("epsilon = 1\ndelta = 1e-6", {"rho": 5}, "Options: %%dp rho=0.0"),
}


@pytest.mark.parametrize("measure", OVER)
def test_over_budget_says_asked_left_and_a_loss_that_fits(desk, measure):
    """In every measure: what was asked, what is left, a loss that fits (and does); nothing that would not help."""
    budget, asked, words = OVER[measure]
    p = desk.people(budget=budget)
    items = [p.y.sum(), p[p.x > 1].count()]
    with pytest.raises(dpnb.errors.BudgetError) as told:
        dpnb.release(items, **asked)
    text = short(told.value)
    assert words in text
    assert "stored" not in text
    assert "leave out" not in text
    assert all(item.pending for item in items)
    option, value = text.split("%%dp ")[1].split(" ")[0].removesuffix(".").split("=")
    assert dpnb.release(items, **{option: value}).charged


@pytest.mark.slow
def test_500_questions_are_one_charge(desk):
    """A cell of 500 different questions on the real engine: each has its value, together they cost what was asked."""
    p = desk.people()
    items = [p[p.x > i % 10].z.clip(0, (i + 1) / 600).mean() for i in range(500)]
    report = dpnb.release(items, epsilon=1)
    assert report.charged.amount == 1
    assert not any(item.pending for item in items)


def test_a_million_cells_of_a_group_are_refused_and_ten_thousand_are_answered(desk):
    """10⁶ groups are told to bin; 10,989 declared cells of 60 rows have an answer each."""
    p = desk.people()
    bins = p.big.bin([1001 * place for place in range(1000)])
    table = p.groupby(bins, "x").count()
    dpnb.release([table], epsilon=1)
    assert table.shape == (999, 11)

"""The mode and the draws of the log-linear models."""

import itertools
import math

import numpy as np
import pytest

from dpnb.synthetic import posterior
from dpnb.synthetic.design import Design, Variable
from dpnb.synthetic.effects import Effects, Totals
from dpnb.synthetic.posterior import Problem, cells_of, draws, mode
from dpnb.synthetic.rows import drawn, model_of


def problem_of(table, variance, jeffreys=posterior.JEFFREYS):
    effects = Effects(table.shape, ((0, 1),))
    totals = effects.of_tables({(0, 1): table}, {(0, 1): variance})
    shares = effects.shares(totals, table.sum())
    cells = cells_of(effects, shares, np.random.default_rng(0))
    return Problem(
        effects, cells, totals, float(table.sum()), private=False, jeffreys=jeffreys
    ), effects.log_shares(shares)


TABLE = np.array([[400.0, 250.0, 90.0], [60.0, 150.0, 50.0]])


def test_the_slope_of_the_density_is_its_score():
    problem, start = problem_of(TABLE, 100.0)
    here, step = problem.at(start), 1e-2
    for place in range(len(start)):
        moved = np.zeros(len(start))
        moved[place] = step
        slope = (here.density(start + moved) - here.density(start - moved)) / (2 * step)
        assert slope == pytest.approx(here.score[place], rel=0.02, abs=0.3)


def test_draws_have_the_law_of_a_long_random_walk_on_two_by_three_levels():
    """An independent sampler of the same density: a plain Metropolis walk, 40,000 steps."""
    problem, start = problem_of(TABLE, 900.0)
    at, found = mode(problem, start)
    assert found
    drawn_ = draws(at, 100, np.random.default_rng(3))
    more = np.concatenate([drawn_, *(draws(at, 100, np.random.default_rng(s)) for s in range(4, 12))], axis=1)
    rng = np.random.default_rng(5)
    lower = np.linalg.inv(np.linalg.cholesky(at.information)).T
    here, now, kept = at.theta, at.density(at.theta), []
    for turn in range(40_000):
        new = here + 0.9 * lower @ rng.standard_normal(len(here))
        there = at.density(new)
        if math.log(rng.uniform()) < there - now:
            here, now = new, there
        if turn % 10 == 0:
            kept.append(here)
    walk = np.array(kept[200:]).T
    assert np.allclose(more.mean(axis=1), walk.mean(axis=1), atol=0.25 * walk.std(axis=1).max())
    assert np.allclose(more.std(axis=1) / walk.std(axis=1), 1, atol=0.15)


def test_without_noise_the_mode_is_the_maximum_likelihood_estimate():
    problem, start = problem_of(1000 * TABLE, 0.0, jeffreys=0.0)
    at, found = mode(problem, start)
    assert found
    assert np.allclose(at.p, (TABLE / TABLE.sum()).ravel(), atol=1e-3)


def test_without_information_the_mode_is_that_of_the_prior():
    problem, start = problem_of(TABLE, 1e12, jeffreys=0.0)
    at, found = mode(problem, start)
    assert found
    assert np.allclose(at.theta, 0, atol=0.02)


def test_a_pool_of_rows_stands_for_all_combinations(monkeypatch):
    sizes = (3, 2, 2, 2)
    pairs = tuple(itertools.combinations(range(4), 2))
    effects = Effects(sizes, pairs)
    every = np.array(list(itertools.product(*map(range, sizes))))
    rng = np.random.default_rng(2)
    p = np.exp(effects.of_rows(every) @ rng.normal(0, 0.3, effects.count))
    totals = Totals(
        5000 * (p / p.sum()) @ effects.of_rows(every), np.full(effects.count, 2000.0), 5000.0, 1.0
    )
    shares = effects.shares(totals, 5000.0)
    margins = []
    for most in (10**6, 0):
        monkeypatch.setattr(posterior, "MOST_PRODUCTS", most)
        cells = cells_of(effects, shares, np.random.default_rng(7))
        at, found = mode(Problem(effects, cells, totals, 5000.0, private=False), effects.log_shares(shares))
        assert found
        assert cells.pooled == (most == 0)
        margins.append(np.bincount(cells.rows[:, 0] * 2 + cells.rows[:, 1], at.p, 6))
    assert 0.5 * np.abs(margins[0] - margins[1]).sum() < 0.02


def test_rows_reproduce_the_model_on_pairs_that_were_not_measured():
    """A chain a-b, b-c: the columns a and c are independent given b, and the rows hold them so."""
    variables = tuple(Variable(name, tuple(range(3))) for name in "abc")
    design, rng = Design(variables, ((0, 1), (1, 2))), np.random.default_rng(4)
    tables = {pair: 600 * np.eye(3) + 100 for pair in design.pairs}
    model = model_of(design, tables, dict.fromkeys(design.pairs, 25.0), 2700.0, 20, rng)
    rows = np.concatenate(drawn(model, 5400, rng))
    seen = np.bincount(rows[:, 0] * 3 + rows[:, 2], minlength=9) / len(rows)
    wanted = model.margin(0, 2).ravel()
    sampling = 0.5 * np.sqrt(2 / np.pi * wanted * (1 - wanted) / len(rows)).sum()
    assert 0.5 * np.abs(seen - wanted).sum() <= 3 * sampling


def test_no_model_is_made_of_tables_without_rows():
    design = Design((Variable("a", (0, 1)), Variable("b", (0, 1))), ((0, 1),))
    noise = {(0, 1): np.array([[3.0, -20.0], [11.0, 4.0]])}
    assert not model_of(design, noise, {(0, 1): 100.0}, None, 20, np.random.default_rng(1)).converged


def test_scoring_that_does_not_come_to_rest_gives_no_model(monkeypatch):
    monkeypatch.setattr(posterior, "_STEPS", 1)
    design = Design((Variable("a", (0, 1, 2)), Variable("b", (0, 1))), ((0, 1),))
    table = {(0, 1): np.array([[900.0, 0.0], [30.0, 500.0], [0.0, 700.0]])}
    found = model_of(design, table, {(0, 1): 25.0}, 2130.0, 20, np.random.default_rng(1))
    assert (found.converged, found.cells) == (False, None)

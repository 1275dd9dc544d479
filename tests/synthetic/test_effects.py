"""Tables as one vector of effects."""

import itertools

import numpy as np
import pytest

from dpnb.synthetic.effects import Effects, contrasts

SIZES, PAIRS = (2, 3, 4), ((0, 1), (0, 2), (1, 2))


def tables_of(rows, sizes, pairs):
    found = {}
    for a, b in pairs:
        found[a, b] = np.zeros((sizes[a], sizes[b]))
        np.add.at(found[a, b], (rows[:, a], rows[:, b]), 1)
    return found


@pytest.mark.parametrize("levels", [2, 3, 7])
def test_contrasts_add_up_to_zero_and_are_orthogonal_with_mean_square_one(levels):
    found = contrasts(levels)
    assert np.allclose(found.sum(axis=0), 0)
    assert np.allclose(found.T @ found, levels * np.eye(levels - 1))


def test_tables_without_noise_give_the_totals_of_the_effects_over_rows():
    rng = np.random.default_rng(1)
    rows = np.stack([rng.integers(0, k, 50) for k in SIZES], axis=1)
    effects = Effects(SIZES, PAIRS)
    totals = effects.of_tables(tables_of(rows, SIZES, PAIRS), dict.fromkeys(PAIRS, 4.0))
    assert np.allclose(totals.sums, effects.of_rows(rows).sum(axis=0), atol=1e-3)
    assert totals.rows == pytest.approx(50)


def test_the_variance_of_each_total_is_that_of_a_weighted_mean_worked_out_cell_by_cell():
    """Brute force: the totals are linear in the cells, so unit cells give the weights, and their squares the variance."""
    effects, noise = Effects(SIZES, PAIRS), dict(zip(PAIRS, (1.0, 9.0, 4.0), strict=True))
    empty = {pair: np.zeros((SIZES[pair[0]], SIZES[pair[1]])) for pair in PAIRS}
    variances, rows = np.zeros(effects.count), 0.0
    joint = np.zeros((effects.count, effects.count))
    for pair in PAIRS:
        for place in np.ndindex(empty[pair].shape):
            unit = {**empty, pair: empty[pair].copy()}
            unit[pair][place] = 1.0
            told = effects.of_tables(unit, noise)
            variances += told.sums**2 * noise[pair]
            joint += np.outer(told.sums, told.sums) * noise[pair]
            rows += told.rows**2 * noise[pair]
    totals = effects.of_tables(empty, noise)
    assert np.allclose(totals.variances, variances)
    assert np.allclose(joint, np.diag(variances), atol=1e-9)
    assert totals.rows_variance == pytest.approx(rows)


def test_no_noise_is_less_than_that_of_rounding():
    effects = Effects((2, 2), ((0, 1),))
    assert np.allclose(effects.of_tables({(0, 1): np.ones((2, 2))}, {(0, 1): 0.0}).variances, 4 / 12)


def test_independent_columns_have_no_pair_effects():
    effects, shares = (
        Effects(SIZES, PAIRS),
        [np.array([0.3, 0.7]), np.full(3, 1 / 3), np.array([0.1, 0.2, 0.3, 0.4])],
    )
    theta = effects.log_shares(shares)
    rows = np.array(list(itertools.product(*map(range, SIZES))))
    p = np.exp(effects.of_rows(rows) @ theta)
    wanted = [np.prod([shares[c][level] for c, level in enumerate(row)]) for row in rows]
    assert np.allclose(p / p.sum(), wanted, atol=1e-6)
    assert not theta[effects.mains :].any()

"""What students write wrong: typical mistakes in each array function, each caught by an audit at the claim that the right one keeps.

Those of sparse vector are published, and stand in :data:`dpnb.lessons.WRONG_VERSIONS` with tests of their own.
"""

from __future__ import annotations

import importlib
from itertools import product

import numpy as np
import pytest

from dpnb import lessons
from dpnb.audit import audit
from dpnb.risk.curves import gaussian_epsilon

GRID = np.arange(5)


def twice_the_loss(bit):
    """Randomised response where ε is given to the truth and once more to the lie."""
    return lessons.response_law(bit, 2.0)


def the_whole_loss_in_each_bit(code):
    """Unary encoding whose bits, of which two change, are each given all of ε."""
    bits = [lessons.response_law(int(code == place), 1.0) for place in range(3)]
    return {
        answer: np.prod([law[bit] for law, bit in zip(bits, answer, strict=True)])
        for answer in product((0, 1), repeat=3)
    }


def no_factor_of_two(values):
    """The private median with weights exp(ε u), not exp(ε u / 2)."""
    return lessons.median_law(values, GRID, 2.0)


def blocks_that_share_rows(rows):
    """Sample and aggregate where each row is in three blocks, whose values it moves together."""
    blocks = [np.mean(np.take(rows, [n, n + 1, n + 2], mode="wrap")) for n in range(len(rows))]
    return lessons.median_law(blocks, GRID, 1.0)


WRONG_LAWS = {
    "randomised response": (twice_the_loss, (0, 1)),
    "unary encoding": (the_whole_loss_in_each_bit, (0, 1)),
    "private median": (no_factor_of_two, ([4, 4, 4, 4, 4, 4], [0, 4, 4, 4, 4, 4])),
    "sample and aggregate": (blocks_that_share_rows, ([4, 4, 4, 4, 4, 4], [-9, 4, 4, 4, 4, 4])),
}


@pytest.mark.parametrize("name", WRONG_LAWS)
def test_an_exact_audit_catches_a_wrong_law(name):
    """Each loses more than the ε = 1 that it claims, by enumeration."""
    verdict = audit(*WRONG_LAWS[name], 1)
    assert verdict.exact
    assert verdict.breaks


def test_an_audit_catches_marginals_that_give_each_table_the_whole_loss(monkeypatch):
    """A person is in both tables: with the noise of one table alone the two counts together lose 2 ε."""
    module = importlib.import_module("dpnb.lessons.synthetic")
    right = module.discrete_laplace
    monkeypatch.setattr(module, "discrete_laplace", lambda scale, size, rng: right(scale / 2, size, rng))

    def mechanism(rows, rng):
        found = lessons.noisy_marginals({"a": rows, "b": rows}, {"a": 2, "b": 2}, {"b": "a"}, 1, rng)
        return [found["a"][1], found["b"][1, 1]]

    both = {"both counts are high": lambda counts: np.min(counts, axis=1) >= 2}
    assert audit(mechanism, ([0, 1], [0, 1, 1]), 1, trials=8000, events=both).breaks


DESCENTS = {
    "the noise of one step for all": ("noise_scale", lambda right, rho, steps, clip: right(rho, 1, clip)),
    "rows that move by one clip": ("noise_scale", lambda right, *given: right(*given) / 2),
    "no clip": ("_clipped_sum", lambda right, *given: right(*given[:-1], 1e9)),
}


@pytest.mark.parametrize("name", ["as it is", *DESCENTS])
def test_a_sampled_audit_catches_a_wrong_descent_alone(monkeypatch, name):
    """At the claim that the right descent keeps on the same rows."""
    module = importlib.import_module("dpnb.lessons.gradient_descent")
    x = np.array([[1.0, 0.5], [1.0, -0.5], [1.0, 1.0]])
    pair = np.array([0.0, 1, 9]), np.array([0.0, 1, -9])
    claim = float(gaussian_epsilon(1, 1e-3))

    def mechanism(y, size, rng):
        return lessons.gradient_descent(x, y, 0.5, rng, steps=3, clip=0.5, size=size).coefficients

    if name in DESCENTS:
        part, mistake = DESCENTS[name]
        right = getattr(module, part)
        monkeypatch.setattr(module, part, lambda *given: mistake(right, *given))
    assert audit(mechanism, pair, claim, delta=1e-3).breaks == (name in DESCENTS)

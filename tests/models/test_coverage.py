"""Intervals of predicted probabilities hold what the same model says of the counts without noise, as often as they claim."""

from __future__ import annotations

import numpy as np
import pytest

from dpnb.models import CategoricalNB, DecisionTree, GaussianNB
from dpnb.models.cells import Cells, Side

SIZES = (6, 4, 3)
CODES = np.indices(SIZES).reshape(3, -1).T
SIDES = tuple(Side(f"x{place}", tuple(range(size))) for place, size in enumerate(SIZES))


def exact_counts() -> np.ndarray:
    """Counts of 8,000 made-up rows in 72 cells by class."""
    rng = np.random.default_rng(5)
    x = np.stack([rng.integers(0, size, 8_000) for size in SIZES], axis=1)
    odds = 0.5 * (x[:, 0] - 2.5) - 0.6 * (x[:, 1] - 1.5) + 0.8 * (x[:, 2] == 1) - 0.5
    y = (rng.random(len(x)) < 1 / (1 + np.exp(-odds))).astype(int)
    counts = np.zeros((*SIZES, 2))
    np.add.at(counts, (*x.T, y), 1)
    return counts.reshape(-1, 2)


@pytest.mark.parametrize("epsilon", [0.1, 1, 10])
@pytest.mark.parametrize("make", [CategoricalNB, GaussianNB, DecisionTree])
def test_intervals_of_probabilities_hold(make, epsilon):
    """Over 60 simulated releases and all cells, 95 % intervals hold 88 to 99 %."""
    rng, exact, scale = np.random.default_rng(7), exact_counts(), 2 / epsilon
    held = []
    for _ in range(60):
        noised = exact + np.round(rng.laplace(0, scale, exact.shape))

        def plausible(count, noised=noised):
            return noised - np.round(rng.laplace(0, scale, (count, *exact.shape)))

        cells = Cells(SIDES, (0, 1), CODES, noised, 2 * scale**2, plausible)
        model = make()
        places = ([cells] * 3, [0, 1, 2])
        learned = (
            model._of_tables(*places)
            if make is GaussianNB
            else model._learned(*(places if make is CategoricalNB else places[0][:1]))
        )
        model._found = {**learned, "feature_names_in_": np.array(["x0", "x1", "x2"], dtype=object)}
        _, low, high = model.predict_proba(CODES, interval=0.95)
        found = {"cells": Cells(SIDES, (0, 1), CODES, noised, 2 * scale**2, lambda _: exact[None])}
        if make is CategoricalNB:
            tables, places, alphas = learned["parts"]
            model._found["parts"] = ([found["cells"]] * len(tables), places, alphas)
        elif make is GaussianNB:
            model._found["draw"] = model._of_tables([found["cells"]] * 3, [0, 1, 2])["draw"]
        else:
            model._found["cells"] = found["cells"]
        truth = model._drawn(list(CODES.T), 1)[0]
        held.append((low <= truth) & (truth <= high))
    assert 0.88 <= np.mean(held) <= 0.99

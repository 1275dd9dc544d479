"""A wrong version of each step from noised tables to intervals: coverage on three columns shows it."""

from __future__ import annotations

import dataclasses
import itertools
from functools import partial

import numpy as np
import pytest

from dpnb.synthetic import analysis, combine, effects, posterior, rows
from dpnb.synthetic.combine import Combined
from dpnb.synthetic.design import Design, Variable
from dpnb.synthetic.effects import Effects
from tests.mutants.table import Mutant, catch, replaced

SIZES, PAIRS = (4, 3, 2), ((0, 1), (0, 2), (1, 2))
DESIGN = Design(tuple(Variable(name, tuple(range(k))) for name, k in zip("abc", SIZES, strict=True)), PAIRS)
EVERY = np.array(list(itertools.product(*map(range, SIZES))))
THETA = np.random.default_rng(3).normal(0, 0.3, Effects(SIZES, PAIRS).count)
CHANCES = np.exp(Effects(SIZES, PAIRS).of_rows(EVERY) @ THETA)
CHANCES /= CHANCES.sum()
REPETITIONS = 150


def estimates(levels):
    """Means of all columns, and of products of each two: estimates and their variances, shape ``(6, 2)``."""
    columns = [levels[:, place].astype(float) for place in range(3)]
    products = [columns[a] * columns[b] for a, b in PAIRS]
    return np.array([analysis.mean(one) for one in columns + products])


def coverage(size=2000, sigma=20.0, tables=20):
    """How often combined 95 % intervals of a population hold each of six means."""
    rng, held = np.random.default_rng(1), []
    values = [*EVERY.T.astype(float), *(EVERY[:, a] * EVERY[:, b] for a, b in PAIRS)]
    wanted = np.array([CHANCES @ one for one in values])
    for _ in range(REPETITIONS):
        people = EVERY[rng.choice(len(EVERY), size, p=CHANCES)]
        counts = {}
        for a, b in PAIRS:
            counts[a, b] = np.rint(rng.normal(0, sigma, (SIZES[a], SIZES[b])))
            np.add.at(counts[a, b], (people[:, a], people[:, b]), 1)
        model = rows.model_of(DESIGN, counts, dict.fromkeys(PAIRS, sigma**2), float(size), tables, rng)
        told = np.array([estimates(one) for one in rows.drawn(model, round(rows.TIMES * size), rng)])
        low, high = Combined("", tuple("abcdef"), told[..., 0], told[..., 1], 0.95).interval()
        held.append((low <= wanted) & (wanted <= high))
    return np.mean(held, axis=0)


def holds(_, least=0.925, most=0.98, **setting):
    """Six means are held as often as is said: neither more rarely nor, by intervals that are too wide, always."""
    held = coverage(**setting)
    assert least <= held.mean() <= most, held


def times(factor):
    return lambda real: lambda *given: factor * real(*given)


def totals_with(**changes):
    """Change what the tables say together."""

    def make(real):
        def of_tables(self, *given):
            told = real(self, *given)
            return dataclasses.replace(told, **{name: change(told) for name, change in changes.items()})

        return of_tables

    return make


def first_table_alone(real):
    """Take main effects from the first table of a column, with the variance of all of them."""

    def of_tables(self, tables, variances):
        told = real(self, tables, variances)
        least = {
            pair: one * (1 if place == 0 else 1e6) for place, (pair, one) in enumerate(variances.items())
        }
        return dataclasses.replace(told, sums=real(self, tables, least).sums)

    return of_tables


def without_floor(_):
    """T as it comes out, with the degrees of freedom as they are."""

    def total(self):
        tables = len(self.estimates)
        spread, within = (1 + 1 / tables) * self.between, self.within
        df = np.maximum((tables - 1) * np.maximum(1 - within / spread, 0) ** 2, 2)
        return np.maximum(spread - within, 1e-12), df

    return property(total)


def many_degrees(real):
    """T with its floor, as if it were known without error."""
    return property(lambda self: (real.fget(self)[0], np.full(len(self.within), 1e6)))


def within_kept(_):
    """B holds U, and it is not taken off."""
    return property(lambda self: (2 * self.between + self.within, np.full(len(self.within), 1e6)))


def one_draw(real):
    """One draw of the parameters for all tables."""
    return lambda at, count, rng: np.repeat(real(at, 1, rng), count, axis=1)


def the_mode(_):
    """No draw at all: every table from the mode."""
    return lambda at, count, rng: np.repeat(at.theta[:, None], count, axis=1)


def unwhitened_by_rows(_):
    """The triangle on its other side."""
    return lambda self, place: np.linalg.solve(self.lower, place)


def not_whitened_back(_):
    """Coordinates taken for parameters."""
    return lambda self, place: place / np.sqrt(np.diag(self.lower @ self.lower.T))[:, None] * 0.5


def in_proportion(_):
    """Rows in proportion to the model, without chance: B then holds no U."""

    def drawn(model, length, rng):
        ends = np.cumsum(model.chances, axis=0, dtype=float)
        at = (np.arange(length) + 0.5) / length
        return [
            model.cells.rows[np.minimum(np.searchsorted(one / one[-1], at), len(one) - 1)] for one in ends.T
        ]

    return drawn


FEW = {"tables": 5, "least": 0.96, "most": 0.995}  # of five tables intervals are wide
STEPS = {
    "contrasts half as long": (replaced(effects, "contrasts", times(0.5)), {"sigma": 40.0}),
    "sufficient vector: main effects of one table": (
        replaced(Effects, "of_tables", first_table_alone),
        {"sigma": 60.0},
    ),
    "sufficient vector: noise of half the standard deviation": (
        replaced(Effects, "of_tables", totals_with(variances=lambda told: told.variances / 4)),
        {"sigma": 60.0},
    ),
    "whitening: the other triangle": (
        replaced(posterior.Chains, "unwhiten", unwhitened_by_rows),
        {"sigma": 60.0, "tables": 100},
    ),
    "whitening: not undone": (
        replaced(posterior.Chains, "unwhiten", not_whitened_back),
        {"sigma": 60.0, "tables": 100},
    ),
    "draws: one for all tables": (replaced(posterior, "draws", one_draw), {}),
    "draws: the mode": (replaced(posterior, "draws", the_mode), {"sigma": 60.0}),
    "combining: no floor of T": (replaced(Combined, "_total", without_floor), FEW),
    "combining: no floor of the degrees of freedom": (replaced(combine, "_LEAST_DF", lambda _: 1e-9), FEW),
    "combining: no degrees of freedom": (replaced(Combined, "_total", many_degrees), FEW),
    "combining: U not taken off": (replaced(Combined, "_total", within_kept), {}),
    "rows: a tenth of the data's": (replaced(rows, "TIMES", lambda _: 0.1), {}),
    "rows: in proportion, without chance": (
        replaced(rows, "drawn", in_proportion),
        {"tables": 100, "sigma": 5.0},
    ),
}


@pytest.mark.soak
@pytest.mark.parametrize("name", STEPS)
def test_a_wrong_step_loses_coverage(name, tmp_path):
    """The right version holds what it says, and the wrong one does not."""
    patch, setting = STEPS[name]
    catch(Mutant(name, patch, partial(holds, **setting)), tmp_path, tmp_path)

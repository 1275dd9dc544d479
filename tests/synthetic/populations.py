"""Populations of the fitted family and of none, samples of them, and how often combined intervals hold their shares, means and differences."""

import itertools
from functools import partial

import numpy as np

from dpnb.datasets.study import read_rows
from dpnb.statistics.formula import parse
from dpnb.synthetic import analysis
from dpnb.synthetic.combine import Combined
from dpnb.synthetic.design import Design, Variable
from dpnb.synthetic.effects import Effects
from dpnb.synthetic.rows import drawn, model_of

NAMES, SIZES = "abcdefg", (5, 4, 6, 2, 2, 2, 2)
PAIRS = tuple(itertools.combinations(range(len(SIZES)), 2))
DESIGN = Design(tuple(Variable(name, tuple(range(k))) for name, k in zip(NAMES, SIZES, strict=True)), PAIRS)
EVERY = np.indices(SIZES).reshape(len(SIZES), -1).T
SHARES = ("e == 1", "g == 1", "d == 1", "(e == 1) & (a == 4)", "(f == 1) & (g == 1)", "(b == 3) & (c == 5)")
FITS = (("e ~ a + d + b", analysis.logistic), ("c ~ b", analysis.least_squares))


def population(seed, strength):
    """Chances of all cells; the column g is rare."""
    effects, rng = Effects(SIZES, PAIRS), np.random.default_rng(seed)
    theta = rng.normal(0, 0.5, effects.count)
    theta[effects.mains :] = rng.normal(0, strength, effects.count - effects.mains)
    raised = effects.of_rows(EVERY) @ theta
    p = np.exp(raised - raised.max())
    for column, share in ((6, 0.06), (5, 0.2)):
        seen = np.bincount(EVERY[:, column], p) / p.sum()
        p = p * np.array([1 - share, share])[EVERY[:, column]] / seen[EVERY[:, column]]
    return p / p.sum()


def skewed(seed=23):
    """Chances of all cells under three-way interactions as strong as the pairs, and very uneven levels: no model of pairs has them."""
    rng = np.random.default_rng(seed)
    raised = np.log(population(seed, 0.12))
    for a, b, c in itertools.combinations(range(len(SIZES)), 3):
        bend = rng.normal(0, 0.12, (SIZES[a], SIZES[b], SIZES[c]))
        raised += bend[EVERY[:, a], EVERY[:, b], EVERY[:, c]]
    raised -= 0.4 * EVERY[:, 0] + 0.3 * EVERY[:, 2]
    p = np.exp(raised - raised.max())
    return p / p.sum()


def surveyed():
    """Chances of all cells in a survey of real people: age, schooling, earnings (a fifth has none), black, married, no degree, hispanic."""
    told = read_rows("cps")
    levels = [
        np.searchsorted([22, 28, 35, 45], told["age"], side="right"),
        np.searchsorted([9, 12, 13], told["educ"], side="right"),
        np.searchsorted([1, 5000, 10000, 15000, 20000], told["re75"], side="right"),
        *(told[name] for name in ("black", "marr", "nodegree", "hisp")),
    ]
    at = np.ravel_multi_index([np.asarray(one, dtype=int) for one in levels], SIZES)
    return np.bincount(at, minlength=len(EVERY)) / len(at)


def answers(rows):
    """Fifteen estimates and their variances: six shares, two means, two differences, four log odds less the first, a slope, a three-way cell."""
    columns = {name: rows[:, place] for place, name in enumerate(NAMES)}
    found = [analysis.mean(analysis.evaluated(one, columns)) for one in (*SHARES, "a", "c")]
    for by in ("d == 1", "e == 1"):
        second = analysis.evaluated(by, columns) != 0
        found.append(analysis.difference(analysis.evaluated("c", columns), second))
    for formula, fit in FITS:
        values, variances = fit(parse(formula), columns)
        found += list(zip(values[1:], variances[1:], strict=True))
    found.append(analysis.mean(analysis.evaluated("(d == 1) & (e == 1) & (a >= 3)", columns)))
    return found


def truth(p):
    """The same of the whole population: of 400,000 rows in proportion, whose rounding is far below a standard error."""
    rows = np.repeat(EVERY, np.rint(p * 4e5).astype(int), axis=0)
    return np.array([value for value, _ in answers(rows)])


def coverage(p, size, rho, repetitions, *, adjacency="change-one", seed=0, kinds=(Combined,), pure=False):
    """Return how often 95 % intervals of each kind hold each estimand, one row for each kind, and g; with `pure`, under Laplace noise of the same variance."""
    moved, rng, wanted, held = (
        2 if adjacency == "change-one" else 1,
        np.random.default_rng(seed),
        truth(p),
        [],
    )
    sigma = (len(PAIRS) * moved / 2 / rho) ** 0.5
    noise = partial(rng.laplace, 0, sigma / 2**0.5) if pure else partial(rng.normal, 0, sigma)
    for _ in range(repetitions):
        rows = EVERY[rng.choice(len(p), size if moved == 2 else rng.poisson(size), p=p)]
        tables = {
            (a, b): np.bincount(rows[:, a] * SIZES[b] + rows[:, b], minlength=SIZES[a] * SIZES[b]).reshape(
                SIZES[a], SIZES[b]
            )
            + np.rint(noise((SIZES[a], SIZES[b])))
            for a, b in PAIRS
        }
        public = float(size) if moved == 2 else None
        model = model_of(DESIGN, tables, dict.fromkeys(PAIRS, sigma**2), public, 20, rng)
        told = np.array([answers(one) for one in drawn(model, 2 * round(model.size), rng)])
        names = tuple(map(str, range(told.shape[1])))
        ends = [kind("", names, told[..., 0], told[..., 1], 0.95).interval(0.95) for kind in kinds]
        held.append([(low <= wanted) & (wanted <= high) for low, high in ends])
    return np.mean(held, axis=0), DESIGN.quality(size, sigma)

r"""Logistic regression from a released contingency table: free, by the likelihood of its noised counts.

Rows with equal explaining values :math:`x_g` are one group of the table, with :math:`n_g` rows of which :math:`s_g` have a response
of 1. The coefficients solve :math:`\sum_g (s_g - n_g p_g) x_g = 0`, :math:`p_g = 1/(1 + e^{-x_g'β})`: an equation that is linear
in the counts, so that noise of mean zero moves its left side by nothing on average. Counts enter as they were released, below zero
too; cutting them at zero would bias what many empty cells say together.

The *privacy interval* solves the equation again for tables from which draws of the known noise are taken; the *confidence interval*
is a parametric bootstrap, tables of binomial samples at the fitted probabilities with fresh noise, and the symmetric quantile of
:math:`|β^* - β|`. Where noise of this size could have made the information matrix singular, or the released counts have no
maximum, intervals are unbounded and a flag says so. A key of bins counts at the middle of its bins. Rows with a missing or an
undeclared value are in no cell: what is estimated is about the others.

References
----------
McCullagh & Nelder, *Generalized linear models* (1989), chapter 4; Ferrando, Wang & Sheldon, *Parametric bootstrap for
differentially private confidence intervals* (2022), for the bootstrap.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dpnb.errors import OptionError, Unavailable
from dpnb.inference import effective_size
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats
from dpnb.statistics._base import Axis, Setting
from dpnb.statistics.formula import Formula, parse
from dpnb.statistics.formula_terms import spelling, value
from dpnb.statistics.ratio import CLUSTERED
from dpnb.statistics.regression import (
    ANY_SIZE,
    DRAWS,
    WELL,
    anything,
    around_draws,
    clearance,
    drawn_variances,
)
from dpnb.statistics.regression_readings import Fitted
from dpnb.statistics.released import Part, combine, draws_of
from dpnb.statistics.result import Read, Result
from dpnb.trusted.releases import Release

MOST_CELLS = 5_000
NO_MAXIMUM, UNCLEAR = "no maximum", "information unclear"
NOTES = {
    "privacy": "the regression of tables without drawn noise",
    "confidence": "parametric bootstrap: binomial samples and fresh noise",
}
BIN = re.compile(r"\[(-?[0-9.e+-]+), (-?[0-9.e+-]+)[)\]]")
_STEPS = 60
_AGAIN = 6
_FAR = 20.0
_CLOSE = 1e-9


def log_odds(setting: Setting, formula: str) -> Read:
    """Read the coefficients of a logistic regression of a 0/1 key on other keys of the table: free, one coefficient for the intercept and each term.

    Parameters
    ----------
    formula : str
        For example ``"married ~ age + C(region)"``; a response of text is a condition, ``"(vote == 'yes') ~ age"``.
    """
    design = Design.of(setting, formula)
    terms = design.formula.coefficients

    def conclude(releases: Sequence[Release]) -> Result:
        return LogisticFit(design, combine(releases)["count"], DrawGenerator(draws_of(releases))).result()

    return Read(
        f'.log_odds("{design.formula.text}")', (len(terms),), (Axis("term", "term", terms),), conclude
    )


@dataclass(frozen=True, eq=False)
class Design:
    """Which cells of a table are one group, and what explains it.

    Parameters
    ----------
    formula : Formula
        What is explained by what.
    x : ndarray, shape (groups, terms)
        Explaining values, columns centred and scaled to reach one.
    turn : ndarray, shape (terms, terms)
        Takes coefficients of `x` to the terms' own units.
    ones, noughts : ndarray of float, shape (groups, cells)
        Which cells of a group have a response of 1 and of 0.
    clustered : bool
        Whether one person may have several rows.
    """

    formula: Formula
    x: Floats
    turn: Floats
    ones: Floats
    noughts: Floats
    clustered: bool

    @classmethod
    def of(cls, setting: Setting, text: str) -> Design:
        """Read a formula against the keys of a table."""
        if setting.cells > MOST_CELLS:
            raise OptionError(
                f"A logistic regression reads tables of up to {MOST_CELLS:,} cells; this one has {setting.cells:,}. Use wider bins."
            )
        keys = {axis.name: axis.keys for axis in setting.axes}
        formula = parse(text, lambda name: keys.get(name, ()))
        places = np.indices(setting.shape).reshape(len(setting.shape), -1)
        columns = {
            axis.name: _numbers(axis.keys)[place] for axis, place in zip(setting.axes, places, strict=True)
        }

        def look(name: str) -> Any:
            if name not in columns:
                raise OptionError(f"This table has no key {name!r}. Its keys: {', '.join(columns)}.")
            return columns[name]

        whole = {spelling(name): column for name, column in columns.items()}
        response = _column(formula.response, look, setting.cells, _RESPONSE, whole)
        if set(np.unique(response)) != {0.0, 1.0}:
            raise OptionError(_RESPONSE.format(formula.response))
        found = [_column(term, look, setting.cells, _TERM, whole) for term in formula.terms]
        raw = np.stack([*([np.ones(setting.cells)] if formula.intercept else []), *found], axis=1)
        patterns, group = np.unique(raw, axis=0, return_inverse=True)
        if np.linalg.matrix_rank(patterns) < patterns.shape[1]:
            raise OptionError(
                f"The terms of {text!r} are not different columns over the cells of this table: leave one out."
            )
        x, turn = _scaled(patterns, intercept=formula.intercept)
        member = np.equal.outer(np.arange(len(patterns)), group.ravel()).astype(float)
        return cls(formula, x, turn, member * response, member * (1 - response), setting.clustered)


_RESPONSE = "{0} is not a 0/1 column of this table: write a condition, for example \"({0} == 'yes') ~ age\"."
_TERM = "{0} is not a number: write C({0}) for a column for each of its values, or a condition such as {0} == 'yes'."


def _column(term: str, look: Any, cells: int, words: str, whole: Mapping[str, Any]) -> Floats:
    """Return what a term comes to in each cell; a key that is itself an expression counts as that term."""
    try:
        found = whole[spelling(term)] if spelling(term) in whole else value(term, look)
        return np.broadcast_to(np.asarray(found, dtype=float), (cells,))
    except OptionError:
        raise
    except (TypeError, ValueError):
        raise OptionError(words.format(term)) from None


def _numbers(keys: Sequence[Any]) -> Floats:
    """Return keys as numbers where they are numbers or bins of numbers, otherwise as they are."""
    edges = [BIN.fullmatch(str(key)) for key in keys]
    if all(edges):
        return np.array([(float(one[1]) + float(one[2])) / 2 for one in edges if one is not None])
    if any(isinstance(key, str) for key in keys):
        return np.array(keys, dtype=object)
    return np.array([float(key) for key in keys])


def _scaled(raw: Floats, *, intercept: bool) -> tuple[Floats, Floats]:
    """Return columns that reach from -1 to 1, and the map that takes their coefficients back."""
    low, high = raw.min(axis=0), raw.max(axis=0)
    centre = (low + high) / 2 if intercept else np.zeros(raw.shape[1])
    half = np.maximum(high - low, 0.0) / 2 if intercept else np.abs(raw).max(axis=0)
    if intercept:
        centre[0], half[0] = 0.0, 1.0
    turn = np.diag(1 / half)
    turn[0] -= centre / half if intercept else 0.0
    return (raw - centre) / half, turn


@dataclass(frozen=True, eq=False)
class LogisticFit:
    """A logistic regression on the released counts of a table.

    Parameters
    ----------
    design : Design
        Groups and columns.
    part : Part
        The released counts.
    rng : DrawGenerator
        Belongs to the draws of the release.
    """

    design: Design
    part: Part
    rng: DrawGenerator

    def _grouped(self, counts: Floats) -> tuple[Floats, Floats]:
        """Return rows with a response of 1, and all rows, of each group; leading axes stay."""
        hits = counts @ self.design.ones.T
        return hits, hits + counts @ self.design.noughts.T

    @cached_property
    def _released(self) -> tuple[Floats, Floats]:
        return self._grouped(self.part.values)

    @property
    def size(self) -> float:
        """Rows in the table, as released."""
        return float(self._released[1].sum())

    @cached_property
    def _solution(self) -> tuple[Floats, bool]:
        """The coefficients of the scaled columns, and whether they are a maximum."""
        hits, rows = self._released
        found = solved(self.design.x, hits[None], rows[None], np.zeros((1, self.design.x.shape[1])), _STEPS)[
            0
        ]
        score = self.design.x.T @ (hits - rows * _probabilities(self.design.x, found))
        good = np.isfinite(found).all() and np.abs(self.design.x @ found).max() < _FAR
        if good and np.abs(score).max() <= _CLOSE * max(np.abs(rows).sum(), 1.0):
            return found, True
        ridge = float(np.sqrt(self.part.noise.total_variance * rows.size)) + 1.0
        kept = np.clip(hits, 0.0, np.maximum(rows, 0.0)), np.maximum(rows, 0.0)
        return solved(self.design.x, kept[0][None], kept[1][None], np.zeros_like(found)[None], _STEPS, ridge)[
            0
        ], False

    @cached_property
    def _noise_draws(self) -> Floats:
        return self.part.noise_draws(DRAWS, self.rng)

    @cached_property
    def _clearance(self) -> float:
        """How many times the noise would have to be as large to make the information singular."""
        beta, good = self._solution
        information = _information(self.design.x, self._released[1], beta)
        if not good:
            return 0.0
        return clearance(information, _information(self.design.x, self._grouped(self._noise_draws)[1], beta))

    @property
    def flags(self) -> tuple[str, ...]:
        """Warnings, from released numbers only."""
        if not self._solution[1]:
            return (NO_MAXIMUM,)
        return (UNCLEAR,) if self._clearance < 1 else ("ill-conditioned",) if self._clearance < WELL else ()

    @property
    def lost(self) -> bool:
        """Whether nothing bounds the coefficients."""
        return not self._solution[1] or self._clearance < 1

    def _units(self, betas: Floats) -> Floats:
        return np.asarray(betas @ self.design.turn.T)

    @property
    def coefficients(self) -> Floats:
        """The estimates: log odds per unit of each term."""
        return self._units(self._solution[0])

    def without(self, noise: Floats) -> Floats:
        """Return the coefficients of tables that the noise was taken from, shape ``(count, terms)``."""
        hits, rows = self._grouped(self.part.values - noise)
        start = np.broadcast_to(self._solution[0], (len(noise), self.design.x.shape[1]))
        return self._units(solved(self.design.x, hits, rows, start, _AGAIN))

    @cached_property
    def privacy_deviations(self) -> Floats:
        """How far this dataset's coefficients may lie from the estimates."""
        return np.asarray(self.without(self._noise_draws) - self.coefficients)

    @cached_property
    def _sampling(self) -> Floats:
        """The covariance from sampling, of the coefficients of the scaled columns."""
        rows = np.maximum(self._released[1], 0.0)
        information = _information(self.design.x, rows, self._solution[0])
        tiny = 1e-9 * max(float(np.trace(information)), 1.0)
        return np.asarray(np.linalg.inv(information + tiny * np.eye(len(information))))

    @property
    def sampling(self) -> Floats | None:
        """The covariance of the coefficients from sampling; none where rows are not people."""
        if self.design.clustered:
            return None
        return np.asarray(self.design.turn @ self._sampling @ self.design.turn.T)

    @cached_property
    def deviations(self) -> Floats:
        """Draws of the parametric bootstrap, less the estimates."""
        if self.design.clustered:
            raise Unavailable(CLUSTERED)
        beta = self._solution[0]
        rows = self._released[1]
        chance = _probabilities(self.design.x, beta)
        spread = np.sqrt(np.maximum(rows, 0.0) * chance * (1 - chance))
        normal = self.rng.of("sampling").standard_normal((DRAWS, rows.size))
        hits, more = self._grouped(self._noise_draws)
        start = np.broadcast_to(beta, (DRAWS, beta.size))
        again = solved(self.design.x, rows * chance + spread * normal + hits, rows + more, start, _AGAIN)
        return self._units(again - beta)

    def together(self, kind: str) -> Floats:
        """Return draws of the errors of all coefficients together, shape ``(draws, terms)``."""
        return self.privacy_deviations if kind == "privacy" else self.deviations

    def ends(self, level: float, kind: str) -> tuple[Floats, Floats]:
        """Return both ends of the intervals of all coefficients."""
        spread = self.together(kind)
        if self.lost:
            return anything(spread.shape[1])
        return around_draws(self.coefficients, spread, level)

    def _redraw(self, count: int, rng: DrawGenerator, kind: str) -> Floats:
        """Return plausible coefficients of this dataset, or of the population; where nothing is known, of any size."""
        found = self.without(self.part.noise_draws(count, rng))
        if self.lost:
            return np.asarray(ANY_SIZE * rng.of("sampling").standard_normal(found.shape))
        if kind == "confidence" and not self.design.clustered:
            normal = rng.of("sampling").standard_normal(found.shape)
            found = found + self._units(normal @ np.linalg.cholesky(self._sampling).T)
        return np.asarray(found)

    def result(self) -> Fitted:
        """Return the coefficients with their intervals."""
        noise = drawn_variances(self.privacy_deviations)
        sampling = None if self.sampling is None else np.diagonal(self.sampling)
        sizes = np.full(noise.size, max(self.size, 0.0))
        return Fitted(
            self.coefficients,
            (noise.size,),
            (-math.inf, math.inf),
            self.ends,
            noise,
            sampling=sampling,
            sizes=sizes,
            effective=None if sampling is None else effective_size(sizes, sampling, noise),
            cell_flags=(self.flags,) * noise.size,
            redraw=self._redraw,
            notes=dict(NOTES),
            drawn=True,
            fit=self,
        )


def _probabilities(x: Floats, betas: Floats) -> Floats:
    """Return the chance of a 1 in each group, shape ``(…, groups)``."""
    return np.asarray(1 / (1 + np.exp(-np.clip(betas @ x.T, -2 * _FAR, 2 * _FAR))))


def _information(x: Floats, rows: Floats, betas: Floats) -> Floats:
    chance = _probabilities(x, betas)
    return np.asarray(np.einsum("...g,gi,gj->...ij", rows * chance * (1 - chance), x, x, optimize=True))


def solved(x: Floats, hits: Floats, rows: Floats, start: Floats, steps: int, ridge: float = 0.0) -> Floats:
    """Return the coefficients of many tables at once, by Newton's steps of bounded length.

    Parameters
    ----------
    x : ndarray, shape (groups, terms)
    hits, rows : ndarray, shape (tables, groups)
        Rows with a response of 1, and all; noised, below zero too.
    start : ndarray, shape (tables, terms)
    steps : int
    ridge : float
        What is added to the information, and takes its part of each coefficient from the score.
    """
    betas = np.array(start, dtype=float)
    for _ in range(steps):
        score = (hits - rows * _probabilities(x, betas)) @ x - ridge * betas
        information = _information(x, rows, betas) + ridge * np.eye(x.shape[1])
        move = _step(information, score)
        reach = np.abs(move @ x.T).max(axis=-1, keepdims=True)
        betas = np.clip(betas + move / np.maximum(reach / 2, 1.0), -1e6, 1e6)
        if reach.max() < 1e-12:
            break
    return betas


def _step(information: Floats, score: Floats) -> Floats:
    tiny = 1e-12 * (np.abs(np.trace(information, axis1=-2, axis2=-1))[..., None, None] + 1e-300)
    return np.asarray(np.linalg.solve(information + tiny * np.eye(score.shape[-1]), score[..., None])[..., 0])

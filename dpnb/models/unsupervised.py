"""Models without a response: k-means on a grid of counts, principal components and standard scales off moments."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Self

import numpy as np

from dpnb.client.columns import column_of
from dpnb.errors import OptionError
from dpnb.estimate import Estimate
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats
from dpnb.models.cells import Cells, Side, cells_of, cells_of_rows, read_formula
from dpnb.models.model import Means, Model
from dpnb.statistics.formula_terms import spelling
from dpnb.statistics.moment_matrix import Crossed

_STARTS, _STEPS, _DRAWS = 10, 60, 1_000


def _terms(formula: str) -> tuple[str, ...]:
    """Return the columns of a formula without a response: ``"age + educ"`` or ``"~ age + educ"``."""
    return read_formula(f"_ ~ {formula.strip().removeprefix('~')}")[1]


class Transformer(Model):
    """Base of the models without a response."""

    kind: ClassVar[str] = "transformer"

    def _target(self, y: Any, rows: int) -> Any:
        del y, rows

    def fit_transform(self, x: Any, y: Any = None) -> Floats:
        """Fit to rows of your own, and transform them."""
        del y
        found: Floats = self.fit(x).transform(x)
        return found

    def _rows(self, x: Any, verb: str) -> Floats:
        return np.stack([np.asarray(one, dtype=float) for one in self._columns(x, verb)], axis=1)


def _moments_of(answer: Estimate) -> Crossed:
    if not hasattr(answer, "ols"):
        raise OptionError(f"{answer.text} is no matrix of moments. Ask people.moments(…).")
    answer.value  # noqa: B018 -- raises what a pending estimate raises
    return Crossed.of(answer.leaves()[0].checked.setting, answer.releases)


class StandardScaler(Transformer):
    """Mean and standard deviation of each column. In front of a model of this room it is not needed: columns are scaled by their public bounds."""

    title: ClassVar[str] = "standard scale"

    def _ask(self, means: Means, formula: str) -> Iterable[Estimate]:
        for term in _terms(formula):
            column = column_of(means.people, term)
            yield column.mean(ci=False)
            yield column.std(ci=False)

    def _read(self, answers: tuple[Estimate, ...], formula: str | None) -> dict[str, Any]:
        if hasattr(answers[0], "ols"):
            crossed = _moments_of(answers[0])
            terms = crossed.terms if formula is None else _terms(formula)
            at = [crossed.place(term) - 1 for term in terms]
            centre, spread = crossed.moments
            mean = crossed.centres[at] + crossed.halves[at] * centre[at]
            return self._learned(
                terms, mean, crossed.halves[at] * np.sqrt(np.maximum(np.diag(spread)[at], 0.0))
            )
        if formula is None:
            raise OptionError("Give the columns that these answers are of: .fit(answers, 'age + educ').")
        values = [float(one) for one in answers]
        return self._learned(_terms(formula), np.array(values[::2]), np.array(values[1::2]))

    @staticmethod
    def _learned(terms: Sequence[str], mean: Floats, spread: Floats) -> dict[str, Any]:
        return {
            "terms_": tuple(terms),
            "mean_": mean,
            "var_": spread**2,
            "scale_": np.where(spread > 0, spread, 1.0),
        }

    def _of_rows(self, x: Sequence[np.ndarray], names: Sequence[str], y: Any) -> dict[str, Any]:
        del y
        rows = np.stack([np.asarray(one, dtype=float) for one in x], axis=1)
        return self._learned(names, rows.mean(axis=0), rows.std(axis=0))

    def transform(self, x: Any) -> Floats:
        """Return rows of your own less the means, in standard deviations."""
        return np.asarray((self._rows(x, "transform") - self.mean_) / self.scale_)

    def inverse_transform(self, x: Any) -> Floats:
        """Return scaled rows in their own units."""
        return np.asarray(np.asarray(x, dtype=float) * self.scale_ + self.mean_)


class PCA(Transformer):
    """Principal components off one matrix of moments.

    Parameters
    ----------
    n_components : int, optional
        All by default.
    scale : bool
        Whether columns are in units of half their public range (of rows of your own, of the range that they have), which is also the unit of
        the noise; otherwise in their own.
    """

    title: ClassVar[str] = "principal components"

    def __init__(self, n_components: int | None = None, scale: bool = True) -> None:  # noqa: FBT001, FBT002 -- a parameter by name
        self.n_components = n_components
        self.scale = scale

    def _ask(self, means: Means, formula: str) -> Iterable[Estimate]:
        yield means.people.moments(*(column_of(means.people, term) for term in _terms(formula)))

    def _read(self, answers: tuple[Estimate, ...], formula: str | None) -> dict[str, Any]:
        crossed = _moments_of(answers[0])
        terms = crossed.terms if formula is None else _terms(formula)
        at = np.array([crossed.place(term) - 1 for term in terms])
        unit = np.ones(len(at)) if self.scale else crossed.halves[at]
        means, spread = crossed.moments

        def drawn(count: int) -> Floats:
            noised = crossed.matrix - crossed.noise(count, DrawGenerator(crossed.ids))
            return np.asarray(crossed.of_sums(noised)[1][:, at[:, None], at] * np.outer(unit, unit))

        mean = crossed.centres[at] + crossed.halves[at] * means[at]
        return self._learned(
            terms, mean, crossed.halves[at] / unit, spread[at[:, None], at] * np.outer(unit, unit), drawn
        )

    def _of_rows(self, x: Sequence[np.ndarray], names: Sequence[str], y: Any) -> dict[str, Any]:
        del y
        rows = np.stack([np.asarray(one, dtype=float) for one in x], axis=1)
        half = np.ptp(rows, axis=0) / 2
        unit = np.where(half > 0, half, 1.0) if self.scale else np.ones(rows.shape[1])
        return self._learned(
            names, rows.mean(axis=0), unit, np.atleast_2d(np.cov((rows / unit).T, ddof=0)), None
        )

    def _learned(
        self, terms: Sequence[str], mean: Floats, unit: Floats, spread: Floats, drawn: Any
    ) -> dict[str, Any]:
        values, vectors = _components(spread)
        kept = len(values) if self.n_components is None else int(self.n_components)
        if not 1 <= kept <= len(values):
            raise OptionError(f"n_components is 1 to {len(values)}, the number of columns.")
        return {
            "terms_": tuple(terms),
            "mean_": mean,
            "unit_": unit,
            "components_": vectors[:kept],
            "explained_variance_": values[:kept],
            "explained_variance_ratio_": values[:kept] / max(float(values.sum()), 1e-300),
            "drawn": drawn,
        }

    def transform(self, x: Any) -> Floats:
        """Return the components of rows of your own, shape ``(rows, components)``."""
        return np.asarray((self._rows(x, "transform") - self.mean_) / self.unit_ @ self.components_.T)

    def inverse_transform(self, x: Any) -> Floats:
        """Return the rows that have these components."""
        return np.asarray(np.asarray(x, dtype=float) @ self.components_ * self.unit_ + self.mean_)

    def angles(self, level: float = 0.95) -> Floats:
        """Return by how many degrees each component may lie off that of the dataset without noise, at a level: draws of the known noise.

        Parameters
        ----------
        level : float
        """
        found = self._resolved()
        if found["drawn"] is None:
            return np.zeros(len(found["components_"]))
        kept = found["components_"]
        others = _components(found["drawn"](_DRAWS))[1][:, : len(kept)]
        cosine = np.abs(np.einsum("dkp,kp->dk", others, kept))
        return np.asarray(np.quantile(np.degrees(np.arccos(np.clip(cosine, 0, 1))), level, axis=0))


def _components(spread: Floats) -> tuple[Floats, Floats]:
    """Return variances and components of covariances, the largest first; the largest loading of a component is positive."""
    values, vectors = np.linalg.eigh(spread)
    rows = np.swapaxes(vectors, -1, -2)[..., ::-1, :]
    most = np.take_along_axis(rows, np.abs(rows).argmax(axis=-1)[..., None], axis=-1)
    return np.maximum(values[..., ::-1], 0.0), rows * np.where(most < 0, -1.0, 1.0)


class KMeans(Transformer):
    """k-means on a grid of counts: cells count as their middles, columns in units of their range.

    Parameters
    ----------
    n_clusters : int
    bins : int or mapping, optional
        As of the classifiers; by default as many as n ε/2 cells have room for.
    random_state : int
        Seeds the starts; the data play no part in it.
    """

    title: ClassVar[str] = "k-means"

    def __init__(self, n_clusters: int = 4, bins: Any = None, random_state: int = 0) -> None:
        self.n_clusters = n_clusters
        self.bins = bins
        self.random_state = random_state

    def _ask(self, means: Means, formula: str) -> Iterable[Estimate]:
        yield means.people.crosstab(*means.keys(_terms(formula), self.bins, 1, grid=True))

    def _read(self, answers: tuple[Estimate, ...], formula: str | None) -> dict[str, Any]:
        terms = tuple(axis.name for axis in answers[0].axes) if formula is None else _terms(formula)
        if len(terms) < 2:
            raise OptionError("A grid for k-means has at least two columns.")
        found = cells_of(answers[0], f"({terms[-1]}) ~ {' + '.join(f'({one})' for one in terms[:-1])}")
        last = next(axis for axis in answers[0].axes if spelling(axis.name) == spelling(terms[-1]))
        sides = (*found.sides, Side.of(last.name, last.keys))
        codes = np.column_stack(
            [
                np.repeat(found.codes, len(found.classes), axis=0),
                np.tile(np.arange(len(found.classes)), len(found.codes)),
            ]
        )
        return self._learned(Cells(sides, (1,), codes, found.counts.reshape(-1, 1), found.variance))

    def _of_rows(self, x: Sequence[np.ndarray], names: Sequence[str], y: Any) -> dict[str, Any]:
        del y
        return self._learned(
            cells_of_rows(x, names, np.zeros(len(x[0])), 64 if self.bins is None else self.bins)
        )

    def _learned(self, cells: Cells) -> dict[str, Any]:
        raw = np.stack(
            [side.middles[cells.codes[:, place]] for place, side in enumerate(cells.sides)], axis=1
        )
        ends = np.array(
            [
                [side.edges[0], side.edges[-1]]
                if side.edges is not None
                else [min(side.middles), max(side.middles)]
                for side in cells.sides
            ]
        )
        unit = np.where(ends[:, 1] > ends[:, 0], ends[:, 1] - ends[:, 0], 1.0)
        weights = np.maximum(cells.counts[:, 0], 0.0)
        weights[cells.counts[:, 0] < 2 * np.sqrt(cells.variance)] = 0.0
        if (weights > 0).sum() < self.n_clusters:
            weights = np.maximum(cells.counts[:, 0], 0.0) + 1e-9
        centres = _lloyd(raw / unit, weights, int(self.n_clusters), np.random.default_rng(self.random_state))
        return {
            "terms_": tuple(side.name for side in cells.sides),
            "cluster_centers_": centres * unit,
            "unit_": unit,
        }

    def predict(self, x: Any) -> np.ndarray:
        """Return the nearest centre of rows of your own."""
        return np.asarray(
            _squared(self._rows(x, "predict") / self.unit_, self.cluster_centers_ / self.unit_).argmin(axis=1)
        )

    def fit_predict(self, x: Any, y: Any = None) -> np.ndarray:
        """Fit to rows of your own, and return the nearest centre of each."""
        del y
        return self.fit(x).predict(x)

    def transform(self, x: Any) -> Floats:
        """Return the distances of rows of your own from all centres, in ranges of the columns."""
        return np.sqrt(_squared(self._rows(x, "transform") / self.unit_, self.cluster_centers_ / self.unit_))

    def score(self, x: Any, y: Any = None) -> float:
        """Return minus the mean squared distance of rows of your own from their centres, in ranges of the columns."""
        del y
        return -float((self.transform(x) ** 2).min(axis=1).mean())

    def fit(self, source: Any, y: Any = None, *, epsilon: Any = None) -> Self:  # noqa: D102 -- as of every model
        if self.n_clusters < 1:
            raise OptionError("n_clusters is a whole number of at least 1.")
        return super().fit(source, y, epsilon=epsilon)


def _squared(x: Floats, centres: Floats) -> Floats:
    found = (x**2).sum(axis=1)[:, None] - 2 * x @ centres.T + (centres**2).sum(axis=1)
    return np.asarray(np.maximum(found, 0.0))


def _lloyd(x: Floats, weights: Floats, count: int, rng: np.random.Generator) -> Floats:
    """Return the centres with the least weighted squared distance, of several starts far apart (k-means++)."""
    best, least = x[:count], np.inf
    for _ in range(_STARTS):
        centres = x[[rng.choice(len(x), p=weights / weights.sum())]]
        while len(centres) < count:
            far = weights * _squared(x, centres).min(axis=1)
            far = far if far.sum() > 0 else weights
            centres = np.vstack([centres, x[rng.choice(len(x), p=far / far.sum())]])
        for _ in range(_STEPS):
            near = _squared(x, centres).argmin(axis=1)
            mass = np.bincount(near, weights, count)
            sums = np.stack([np.bincount(near, weights * one, count) for one in x.T], axis=1)
            moved = np.where(mass[:, None] > 0, sums / np.maximum(mass, 1e-300)[:, None], centres)
            if np.allclose(moved, centres):
                break
            centres = moved
        inertia = float((weights * _squared(x, centres).min(axis=1)).sum())
        if inertia < least:
            best, least = centres, inertia
    return best

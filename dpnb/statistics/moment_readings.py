"""What is read from a noised matrix of moments, free: means, covariances and correlations.

A mean is a ratio of two entries, tested exactly (:mod:`dpnb.statistics.ratio`). Intervals of the others push seeded draws of the known noise
through the same formulas: what an exact matrix may have been, seen from the released one. Where the noised number of rows is not clear of its noise the whole range is shown; a covariance matrix that the noise made
indefinite is projected, and says so.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from dpnb.errors import Unavailable
from dpnb.inference import effective_size, student_inflation
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.elementwise import Floats, Truths, around
from dpnb.inference.spread import MARGIN
from dpnb.statistics._base import Axis, Setting
from dpnb.statistics.moment_matrix import DRAWS, Crossed, Matrices, place_of
from dpnb.statistics.pair_spread import (
    TAILS,
    fishers_note,
    hides,
    lean,
    likely_products,
    product_bound,
    products_note,
    tails_of,
    upper_spread,
)
from dpnb.statistics.ratio import CLUSTERED, EXACT_TESTS, Ratio
from dpnb.statistics.result import Read, Result
from dpnb.trusted.releases import Release


def mean(setting: Setting, column: str) -> Read:
    """Read the mean of one column: free.

    Parameters
    ----------
    column : str
        One of the columns of the moments.
    """
    place = place_of(column, setting) - 1

    two_valued = setting.numbers[place].binary

    def conclude(releases: Sequence[Release]) -> Result:
        crossed = Crossed.of(setting, releases)
        half, centre = crossed.halves[place], crossed.centres[place]
        ratio = _ratio(crossed, place + 1, two_valued=two_valued)
        sampling = ratio.sampling_variance

        def ends(level: float, kind: str) -> tuple[Floats, Floats]:
            pair = (-1.0, 1.0) if crossed.small else ratio.interval(level, sampling=kind == "confidence")
            return np.array([centre + half * pair[0]]), np.array([centre + half * pair[1]])

        def redraw(count: int, rng: DrawGenerator, kind: str) -> Floats:
            found = centre + half * crossed.of_sums(crossed.matrix - crossed.noise(count, rng))[0][:, [place]]
            if kind == "confidence" and sampling is not None:
                found = found + half * math.sqrt(sampling) * rng.of("sampling").standard_normal(found.shape)
            return np.asarray(found)

        noise, sizes = np.array([half**2 * ratio.noise_variance]), np.array([max(crossed.size, 0.0)])
        spread = None if sampling is None else np.array([half**2 * sampling])
        return Result(
            np.array([centre + half * ratio.mean]),
            (),
            (float(centre - half), float(centre + half)),
            ends,
            noise,
            sampling=spread,
            sizes=sizes,
            effective=None if spread is None else effective_size(sizes, spread, noise),
            cell_flags=(ratio.flags,),
            redraw=redraw,
            notes=dict(EXACT_TESTS),
        )

    return Read(f".mean({_quoted(column)})", (), (), conclude)


def covariance(setting: Setting, *, tails: object = TAILS) -> Read:
    """Read the matrix of covariances (divisor n): free. Projected to a possible one where the noise made it impossible.

    Parameters
    ----------
    tails : number, default 1.5
        How much more than those of normal columns products may vary; see :mod:`dpnb.statistics.pair_spread`.
    """
    allowed = tails_of(tails)

    def conclude(releases: Sequence[Release]) -> Result:
        crossed = Crossed.of(setting, releases)
        _, covariances = crossed.moments
        projected, moved = _projected(covariances)
        unit = np.outer(crossed.halves, crossed.halves)
        bound = (
            None
            if crossed.clustered
            else (unit**2 * _row_likely(setting, crossed, allowed)).ravel() / crossed.count
        )
        return Drawn(
            crossed,
            (unit * projected).ravel(),
            (unit * crossed.deviations[1]).reshape(DRAWS, -1),
            bound,
            (-float(unit.max()), float(unit.max())),
            (len(unit), len(unit)),
            lambda m: (unit * np.clip(crossed.of_sums(m)[1], -1, 1)).reshape(len(m), -1),
            centre=(unit * covariances).ravel(),
            reach=unit.ravel(),
            flags=("projected",) if moved else (),
            allowance=allowed,
            notes={
                "privacy": "draws of the noise",
                "confidence": products_note(allowed),
            },
        ).result()

    return Read(f".covariance({_said(allowed)})", *_square(setting), conclude)


def correlation(setting: Setting, *, tails: object = TAILS) -> Read:
    """Read the matrix of Pearson correlations: free. 0 and flagged where the noise leaves a variance undefined.

    Parameters
    ----------
    tails : number, default 1.5
        How much larger than that of bivariate normal columns a sampling variance may be; see :mod:`dpnb.statistics.pair_spread`.
    """
    allowed = tails_of(tails)

    def conclude(releases: Sequence[Release]) -> Result:
        crossed = Crossed.of(setting, releases)
        _, covariances = crossed.moments
        found, undefined = _correlations(covariances)
        with np.errstate(all="ignore"):
            drawn, _ = _correlations(covariances + crossed.deviations[1])
        hidden = _hidden(crossed)
        lost = undefined | hidden[:, None] | hidden[None, :]
        np.fill_diagonal(lost, val=False)
        names = np.where(undefined, "undefined", np.where(lost, "spread hidden", ""))
        projected, moved = _projected(found)
        shown = np.where(undefined, 0.0, np.clip(projected if moved else found, -1, 1))
        np.fill_diagonal(shown, 1.0)
        sampling = (
            None if crossed.clustered else _correlation_sampling(setting, crossed, found, allowed).ravel()
        )
        return Drawn(
            crossed,
            shown.ravel(),
            (drawn - found).reshape(DRAWS, -1),
            sampling,
            (-1.0, 1.0),
            found.shape,
            lambda m: _correlations(crossed.of_sums(m)[1])[0].reshape(len(m), -1),
            centre=np.clip(found, -1, 1).ravel(),
            lost=lost.ravel(),
            cell_flags=tuple(map(str, names.ravel())),
            flags=("projected",) if moved else (),
            allowance=allowed,
            notes={
                "privacy": "draws of the noise",
                "confidence": f"{fishers_note(allowed)}; of columns of two values the largest variance allowed",
            },
        ).result()

    return Read(f".correlation({_said(allowed)})", *_square(setting), conclude)


def _said(tails: float) -> str:
    return "" if tails == TAILS else f"tails={tails:g}"


def _square(setting: Setting) -> tuple[tuple[int, int], tuple[Axis, Axis]]:
    keys = setting.names
    return (len(keys), len(keys)), (Axis("row", "column", keys), Axis("column", "and", keys))


def _ratio(crossed: Crossed, place: int, *, two_valued: bool) -> Ratio:
    """Return the mean of a column as the ratio of its sum and the row count, whose noises are independent."""
    return Ratio(
        float(crossed.matrix[0, place]),
        float(crossed.matrix[0, 0]),
        crossed.law(0, place),
        crossed.law(0, 0),
        tally=False,
        half=1.0,
        second=float(crossed.matrix[place, place]),
        second_noise=crossed.law(place, place),
        spread="clustered" if crossed.clustered else "known" if two_valued else "bought",
    )


def _quoted(text: str) -> str:
    return f'"{text}"'


def _symmetric(matrices: Floats) -> Floats:
    lower = np.tril(matrices)
    return np.asarray(lower + np.swapaxes(np.tril(matrices, -1), -1, -2))


def _floor(value: Floats) -> Floats:
    return np.maximum(value, 0.0)


def _projected(matrix: Floats) -> tuple[Floats, bool]:
    """Return the nearest matrix without negative eigenvalues, and whether there were any."""
    values, vectors = np.linalg.eigh(matrix)
    if values[0] >= -1e-12 * max(abs(values[-1]), 1e-300):
        return matrix, False
    return (vectors * _floor(values)) @ vectors.T, True


def _correlations(covariances: Floats) -> tuple[Floats, Truths]:
    """Return correlations, 0 where a variance is not positive, and where that is."""
    spread = np.diagonal(covariances, axis1=-2, axis2=-1)
    good = (spread[..., :, None] > 0) & (spread[..., None, :] > 0)
    root = np.sqrt(_floor(spread))
    product = root[..., :, None] * root[..., None, :]
    found = np.where(good, covariances / np.where(product > 0, product, 1.0), 0.0)
    size = covariances.shape[-1]
    found[..., np.arange(size), np.arange(size)] = 1.0
    return np.clip(found, -1.0, 1.0), ~good


def _correlation_sampling(setting: Setting, crossed: Crossed, found: Floats, tails: float) -> Floats:
    """Variances of correlations from sampling: so many times that of normal columns, and at most for columns of two values."""
    normal = tails * (1 - found**2) ** 2 / max(crossed.count - 3, 1.0)
    spread = np.maximum(np.diagonal(crossed.moments[1]), 1e-12)
    most = np.minimum(_row_bound(crossed) / np.outer(spread, spread), crossed.count) / crossed.count
    two = np.array([number.binary for number in setting.numbers])
    some = two[:, None] | two[None, :]
    np.fill_diagonal(some, val=False)
    return np.asarray(np.where(some, np.maximum(normal, most), normal))


def _spread_noise(crossed: Crossed) -> Floats:
    """The standard deviation of the noise on each variance."""
    places = np.arange(len(crossed.names))
    return np.asarray(crossed.deviations[1][:, places, places].std(axis=0))


def _hidden(crossed: Crossed) -> Truths:
    """Whether the noise hides each variance."""
    return np.asarray(hides(_spread_noise(crossed), np.diagonal(crossed.moments[1])))


def _row_bound(crossed: Crossed) -> Floats:
    """The largest variance of ``(z_j - m_j)(z_k - m_k)`` that the bounds and the noised variances allow."""
    means, covariances = crossed.moments
    up = np.asarray(upper_spread(np.diagonal(covariances), _spread_noise(crossed), means))
    pairs = ((means[:, None], means), (up[:, None], up))
    return np.asarray(product_bound(*pairs, covariances))


def _row_likely(setting: Setting, crossed: Crossed, tails: float) -> Floats:
    """The variance of ``(z_j - m_j)(z_k - m_k)`` that is supposed (:func:`likely_products`), at most the bound."""
    means, covariances = crossed.moments
    spreads = np.asarray(upper_spread(np.diagonal(covariances), _spread_noise(crossed), means, MARGIN))
    leans = lean(means, spreads, binary=np.array([number.binary for number in setting.numbers]))
    both = np.outer(spreads, spreads)
    supposed = likely_products(both, covariances, tails, np.maximum.outer(leans, leans))
    return np.asarray(np.minimum(_row_bound(crossed), supposed))


@dataclass(frozen=True, eq=False)
class Drawn:
    """What is read from a matrix, with intervals that are symmetric quantiles of seeded draws about the released value.

    Parameters
    ----------
    crossed : Crossed
        The matrix.
    values : ndarray, shape (entries,)
        What is shown.
    deviations : ndarray, shape (draws, entries)
        How far the exact values may lie from ``centre``.
    sampling : ndarray, optional
        Variance from sampling; none where rows are not people.
    domain, shape : tuple
        Public range, and shape of the answer.
    exact : callable
        The reading of exact matrices, shape ``(count, entries)``.
    notes : dict
        How each kind of interval was made.
    centre : ndarray, optional
        The middle of the intervals, where it is not what is shown.
    reach : ndarray, optional
        The public range of each entry, either way from 0.
    lost : ndarray of bool, optional
        Entries of which the whole range is shown.
    cell_flags, flags : tuple of str
        Warnings of each entry, and of all.
    allowance : float
        How much larger the variance from sampling is taken than effective sizes take it.
    """

    crossed: Crossed
    values: Floats
    deviations: Floats
    sampling: Floats | None
    domain: tuple[float, float]
    shape: tuple[int, ...]
    exact: Callable[[Matrices], Floats]
    notes: dict[str, str]
    centre: Floats | None = None
    reach: Floats | None = None
    lost: Truths | None = None
    cell_flags: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    allowance: float = 1.0

    @property
    def _range(self) -> tuple[Floats, Floats]:
        if self.reach is not None:
            return -self.reach, self.reach
        return np.full(self.values.shape, self.domain[0]), np.full(self.values.shape, self.domain[1])

    def _spread(self, level: float, kind: str) -> Floats:
        if kind == "privacy":
            return self.deviations
        if self.sampling is None:
            raise Unavailable(CLUSTERED)
        normal = self._normal(self.crossed.generator(), self.deviations.shape)
        inflated = np.sqrt(self.sampling * student_inflation(self.crossed.count, level))
        return np.asarray(self.deviations + inflated * normal)

    def _ends(self, level: float, kind: str) -> tuple[Floats, Floats]:
        low, high = self._range
        whole = np.full(self.values.shape, self.crossed.small) | (False if self.lost is None else self.lost)
        middle = self.values if self.centre is None else self.centre
        radius = np.quantile(np.abs(self._spread(level, kind)), level, axis=0)
        bottom, top = around(middle, radius, low, high)
        return (
            np.where(whole, low, np.minimum(bottom, self.values)),
            np.where(whole, high, np.maximum(top, self.values)),
        )

    def _normal(self, rng: DrawGenerator, shape: tuple[int, ...]) -> Floats:
        """Normal draws for sampling, the same on both sides of a symmetric matrix."""
        found = rng.of("sampling").standard_normal(shape)
        if len(self.shape) == 2:
            found = _symmetric(found.reshape(-1, *self.shape)).reshape(shape)
        return np.asarray(found)

    def _redraw(self, count: int, rng: DrawGenerator, kind: str) -> Floats:
        found = self.exact(self.crossed.matrix - self.crossed.noise(count, rng))
        if kind == "confidence" and self.sampling is not None:
            found = found + np.sqrt(self.sampling) * self._normal(rng, found.shape)
        return np.asarray(found)

    def _effective(self, sizes: Floats, noise: Floats) -> Floats:
        """Rows without noise that would be as accurate: all of them where there is no noise."""
        sampling = np.asarray(self.sampling) / self.allowance
        return np.where(noise > 0, effective_size(sizes, sampling, noise), sizes)

    def result(self) -> Result:
        """Return what an analyst sees."""
        low, high = self._range
        noise = np.minimum(self.deviations.var(axis=0), ((high - low) / 2) ** 2)
        common = (("arm too small",) if self.crossed.small else ()) + self.flags
        listed = self.cell_flags or ("",) * self.values.size
        sizes = np.full(self.values.size, max(self.crossed.size, 0.0))
        return Result(
            np.clip(self.values, low, high),
            self.shape,
            self.domain,
            self._ends,
            noise,
            sampling=self.sampling,
            sizes=sizes,
            effective=None if self.sampling is None else self._effective(sizes, noise),
            cell_flags=tuple((*common, flag) if flag else common for flag in listed),
            redraw=self._redraw,
            notes=self.notes,
            drawn=True,
        )

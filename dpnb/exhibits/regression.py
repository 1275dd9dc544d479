"""Exhibits about regression from noisy sums: trimming by a private radius, and a box whose diagonal was underestimated."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dpnb.exhibits.exhibit import Exhibit, Finding, Floats, Lever, Lines, Mechanism, Numbers
from dpnb.exhibits.intervals import SOCIAL
from dpnb.exhibits.laws import gaussian_mixture_epsilon
from dpnb.risk.curves import analytic_gaussian_sigma, gaussian_epsilon

_RHO, _RADIUS = 0.5, 1.0
_ONE_MU = float(gaussian_epsilon(1, "0.001"))
"""The ε at δ = 0.001 of Gaussian noise with ρ = 0.5."""
_COLUMNS = 10
_TIES = (np.array([0.2, 1.0, 1.0, 1.0, 1.8]), np.array([0.2, 1.0, 1.0, 1.3, 1.8]))


def _trimming_radius(data: Floats, size: int, rng: np.random.Generator) -> Floats:
    """The median norm with Laplace noise scaled by the gap between its neighbours in the data, as published."""
    norms = np.sort(np.asarray(data, dtype=float))
    middle = norms.size // 2
    gap = norms[middle + 1] - norms[middle - 1]
    return np.asarray(norms[middle] + gap * rng.laplace(0, 1 / 0.5, size))


def _frobenius_move(first: Floats, second: Floats) -> float:
    """How far z'z moves when one row goes from one point to another, as a whole matrix."""
    return float(np.linalg.norm(np.outer(first, first) - np.outer(second, second)))


def _clipped_row(x: float) -> Floats:
    """(1, x) with x clipped, not dropped, at a public radius."""
    return np.array([1.0, min(max(x, -_RADIUS), _RADIUS)])


def _noisy_square(data: Floats, size: int, rng: np.random.Generator) -> Floats:
    """Z'Z of clipped rows with Frobenius-isometric Gaussian noise at ρ; the public count is left out."""
    rows = np.array([_clipped_row(x) for x in data])
    square = (rows.T @ rows)[np.triu_indices(2)][1:]
    sd = math.sqrt(2) * (1 + _RADIUS**2) / math.sqrt(2 * _RHO)
    return np.asarray(square + rng.normal(0, 1, (size, 2)) * sd * np.array([math.sqrt(0.5), 1.0]))


WAYS = ("observed", "simple", "trimmed, small", "trimmed, large", "clipped")
"""The sums that a regression is computed from: exact, noised for the whole box, Algorithm 3's two, and dpnb's."""
_BALL, _Z = 4.28, 11


def _correlated(sigma12: float, rows: int, rng: np.random.Generator) -> NDArray[np.float32]:
    """Rows of (Y, X) with unit variances: σ(Y, x1) as given, σ(Y, x2) .15, σ(x1, x2) .1, nothing else."""
    law = np.eye(_COLUMNS)
    for (i, j), value in {(0, 1): sigma12, (0, 2): 0.15, (1, 2): 0.1}.items():
        law[i, j] = law[j, i] = value
    drawn = rng.standard_normal((rows, _COLUMNS), dtype=np.float32)
    return np.asarray(drawn @ np.linalg.cholesky(law).T.astype(np.float32))


def _trimmed(
    z: NDArray[np.float32], factor: float, rng: np.random.Generator
) -> tuple[NDArray[np.float32], Floats, Floats]:
    """Algorithm 3: the rows within a noisy 95 % point of the norm of X, and the small and the large local sensitivities."""
    norms = np.einsum("ij,ij->i", z[:, 2:], z[:, 2:])
    place = int(0.95 * len(z))
    below, at, above = np.sqrt(np.partition(norms, (place - 1, place, place + 1))[place - 1 : place + 2])
    inside = norms <= (at + factor * (above - below) * rng.standard_normal()) ** 2
    kept, norms = z[inside], norms[inside]
    near, far = kept[norms.argmin()], kept[norms.argmax()]
    top, bottom = kept.max(axis=0), kept.min(axis=0)
    up, down = np.outer(top, top) - np.outer(near, near), np.outer(bottom, bottom) - np.outer(far, far)
    small = 2 * np.abs(np.outer(far, far) - np.outer(near, near))
    return kept, small.astype(float), np.ptp([0 * up, up, down], axis=0).astype(float)


def _fit(square: Floats) -> Floats:
    """Coefficients and standard errors of Y on (1, x1, x2, x3), from the sums of (1, Y, X)."""
    use = [0, 2, 3, 4]
    inner, outer = square[np.ix_(use, use)], square[use, 1]
    beta = np.linalg.solve(inner, outer)
    left = (square[1, 1] - beta @ outer) / (square[0, 0] - 4)
    return np.stack([beta, np.sqrt(np.maximum(left * np.diag(np.linalg.inv(inner)), 0))])


def regressions(
    sigma12: float, rng: np.random.Generator, *, rows: int = 50_000, draws: int = 1, epsilon: float = 0.1
) -> Floats:
    """Fit one simulated data set in each of :data:`WAYS`, at δ = 1e-6.

    Parameters
    ----------
    sigma12 : float
        Covariance of Y and x1; unit variances.
    rng : numpy.random.Generator
    rows : int
    draws : int
        Draws of the noise.
    epsilon : float

    Returns
    -------
    ndarray, shape (draws, ways, 2, 4)
        Coefficients and standard errors of (1, x1, x2, x3).

    Notes
    -----
    *Simple* noise takes 32√10 for what a row in (-4, 4) moves, which is too little. The radius of *trimmed* rows has noise scaled by a
    gap between neighbouring rows, and their sums by the nearest and the farthest: neither is private. *Clipped* is.
    """
    factor = math.sqrt(2 * math.log(1.25e6)) / epsilon
    ball = math.sqrt(2) * (1 + _BALL**2) * float(analytic_gaussian_sigma(1, f"{epsilon}", "1e-6"))
    yx = _correlated(sigma12, rows, rng)
    one = np.ones(rows, dtype=np.float32)
    z = np.column_stack([one, yx])
    kept, small, large = _trimmed(z, factor, rng)
    shrink = np.minimum(1, _BALL / np.linalg.norm(yx, axis=1))[:, None]
    flat = np.ones((_Z, _Z))
    ways = (
        (z, 0 * flat),
        (np.clip(z, -4, 4), factor * 32 * math.sqrt(_COLUMNS) * flat),
        (kept, factor * small),
        (kept, factor * large),
        (np.column_stack([one, yx * shrink]), ball * np.where(np.eye(_Z) > 0, 1, math.sqrt(0.5))),
    )
    squares = [((part.T @ part).astype(float), sd) for part, sd in ways]
    noise = np.triu(rng.standard_normal((draws, len(ways), _Z, _Z)))
    noise = noise + np.swapaxes(np.triu(noise, 1), 2, 3)
    return np.array(
        [[_fit(s + sd * e) for (s, sd), e in zip(squares, drawn, strict=True)] for drawn in noise]
    )


def errors_of_slopes(fits: Floats) -> Floats:
    """Return the squared error of each way, summed over the coefficients, against the observed ones: shape (draws, ways)."""
    beta = fits[:, :, 0]
    return np.asarray(((beta - beta[:, :1]) ** 2).sum(axis=2))


def _regression_lines() -> tuple[tuple[str, str], ...]:
    """What the three cost in accuracy, over six data sets at σ12 = .3."""
    rng = np.random.default_rng(2015)
    each = np.concatenate([errors_of_slopes(regressions(0.3, rng, draws=20)) for _ in range(6)]).mean(axis=0)
    small, large, clipped = each[1] / each[2:]
    said = (
        f"n = 50,000 at (0.1, 1e-6): the error of simple noise is {large:.0f} times that of trimming with the large local sensitivity "
        f"({small:.0f} times with the small one), and {clipped:.0f} times that of clipping, which is private"
    )
    return (("accuracy", said),)


def _measure_trimmed() -> Numbers:
    gaps = [float(np.sort(d)[3] - np.sort(d)[1]) for d in _TIES]
    atom = gaps[0] == 0 and gaps[1] > 0
    bound = math.sqrt(2) * (1 + _RADIUS**2)
    grid = [_clipped_row(x) for x in np.linspace(-2, 2, 81)]
    worst = max(_frobenius_move(z, w) for z in grid for w in grid)
    cells = 66
    each = math.sqrt(2 * math.log(1.25e6))
    joint = gaussian_mixture_epsilon(np.array([1.0]), np.array([math.sqrt(cells) / each]), 1e-6)
    return Numbers(
        Finding(0.5, math.inf if atom else 0.5, "ε"),
        Finding(_RHO, worst**2 / (2 * bound**2 / (2 * _RHO)), "ρ"),
        exact=True,
        how="the radius is exactly 1: certain under A, where the gap around the median is 0, and impossible under B",
        more=(
            (
                "noise from the data",
                "all rows equal make the observed range 0, and the sums are printed as they are: δ = 1",
            ),
            ("66 sums at (1, 1e-6)", f"are together ε {joint:.1f} at δ = 1e-6, not 1"),
            *_regression_lines(),
        ),
    )


TRIMMED = Exhibit(
    "trimmed-regression",
    "Trimmed regression",
    f"{SOCIAL}, Algorithm 3",
    "rows beyond a noisy quantile of their norm are dropped, and the sums of the rest are noised by their range: (ε, δ)",
    "Both noises are scaled by the data themselves. Three equal norms make the first one zero, equal rows the second.",
    "Clip (not drop) every row at a public radius r and add Frobenius Gaussian noise for √2(1 + r²): dpnb's regression.",
    "Noise for √2(1 + r²) instead of the whole box: the error of slopes is no larger than that of trimming.",
    _TIES,
    ("norms 0.2, 1, 1, 1, 1.8", "the same, one of the ties moved to 1.3"),
    _measure_trimmed,
    _trimming_radius,
    _noisy_square,
    claimed=0.5,
    kept=_ONE_MU,
    delta=1e-3,
    theme="noise set by the data",
    cell='%%dp epsilon=0.2\nfit = hiv.ols("got ~ tinc + distvct")',
    event=("the answer is exactly 1", lambda answers: np.asarray(answers) == 1.0),
)


def upper_triangle(row: Floats) -> Floats:
    """Return the sums that a row (1, x) adds to: its outer product on and above the diagonal."""
    z = np.append(1.0, row)
    return np.outer(z, z)[np.triu_indices(z.size)]


def _flipped(flips: int, columns: int) -> float:
    row = np.full(columns, 4.0)
    other = row.copy()
    other[:flips] = -4.0
    return float(np.linalg.norm(upper_triangle(row) - upper_triangle(other)))


def box_bound(columns: int) -> float:
    """Return the distance between opposite corners at which the sums of rows in [-4, 4]^k differ most."""
    return math.sqrt(1024 * (columns**2 // 4) + 64 * -(-columns // 2))


def _measure_box() -> Numbers:
    published = 32 * math.sqrt(_COLUMNS)
    worst = max(_flipped(flips, _COLUMNS) for flips in range(_COLUMNS + 1))
    return Numbers(
        Finding(published, worst, "L2 distance"),
        Finding(box_bound(_COLUMNS), worst, "L2 distance"),
        exact=True,
        how="the sums of one row, (4, …, 4) against (4, 4, 4, 4, 4, -4, -4, -4, -4, -4)",
        more=(("as a loss", f"noise for {published:.1f} spends {(worst / published) ** 2:.2f} times its ρ"),),
    )


def _row_sums(scale: float) -> Mechanism:
    def mechanism(data: Sequence[float], size: int, rng: np.random.Generator) -> Floats:
        sums = upper_triangle(np.asarray(data, dtype=float))
        return np.asarray(sums + scale * rng.standard_normal((size, sums.size)))

    return mechanism


_CORNERS = ([4.0] * _COLUMNS, [4.0] * 5 + [-4.0] * 5)


def _corners(k: float) -> Lines:
    """How far the sums of one row move between corners of a box in k columns: the formula, and the furthest."""
    count = int(k)
    worst = max(_flipped(flips, count) for flips in range(count + 1))
    return 32 * math.sqrt(count), worst, box_bound(count)


BOX_SENSITIVITY = Exhibit(
    "box-sensitivity",
    "The sensitivity of Z'Z in a box",
    f"{SOCIAL}, section 5.1",
    "one row in [-4, 4]^k moves the sums of squares and products by at most 32 √k in L2",
    "A row whose signs flip in half of its columns flips every product between the two halves: k²/4 sums move by 32 each.",
    "√(1024⌊k²/4⌋ + 64k/2), or clip rows to a ball of radius r, where √2(1 + r²) is exact: dpnb's regression.",
    "1.6 times the noise at k = 10. Clipping to a ball gives far less.",
    _CORNERS,
    ("a row of ten fours", "five fours and five minus fours"),
    _measure_box,
    _row_sums(32 * math.sqrt(_COLUMNS)),
    _row_sums(box_bound(_COLUMNS)),
    claimed=_ONE_MU,
    kept=_ONE_MU,
    delta=1e-3,
    theme="sensitivity",
    cell='# every column clipped to its public bounds\nzz = hiv.moments("got", "tinc", "distvct")\ndpnb.plan({"zz": zz}, epsilon=0.2)',
    columns="one row, column by column",
    lever=Lever(
        "columns, k",
        "L2 distance",
        tuple(map(float, range(1, 31))),
        10,
        "The formula grows like √k, the truth like k.",
        _corners,
    ),
)

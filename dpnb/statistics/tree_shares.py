r"""Counts and shares of ranges and the distribution function, read off a tree.

Write P(j) for the noised rows before leaf j, N for their number (public, or the consistent root). A candidate share φ is accepted
where :math:`|P - φN|` is within a critical value times the standard deviation of its error, which is known in closed form; for
the population the binomial variance :math:`Nφ(1-φ)` joins it (Wilson's test). A value inside a wide leaf is shared out; its
interval reaches from the lower end for the edge before it to the upper end for the edge behind it.

*Simultaneous bands* use the exact law of the largest error, simulated (:meth:`Fitted.supremum`); for the population the
Dvoretzky-Kiefer-Wolfowitz-Massart bound is added, each at half the error.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from dpnb.errors import Unavailable
from dpnb.inference import effective_size
from dpnb.inference.elementwise import Floats, Integers, Number, around, drawn_inside
from dpnb.inference.ratio_interval import accepted_ratio
from dpnb.inference.spread import normal_quantile
from dpnb.inference.tree import prefix_sums, rising
from dpnb.statistics.count import NO_POPULATION
from dpnb.statistics.leaves import Leaves, Places
from dpnb.statistics.ratio import CLUSTERED
from dpnb.statistics.result import Ends, Kind, Pair, Result
from dpnb.statistics.tree_fit import Fitted

SLACK = 0.5
NOTES = {
    "privacy": "the error law of a consistent tree, inverted",
    "confidence": "the same with sampling error",
}


def _at(prefix: Floats, places: Places) -> Floats:
    before, behind = prefix[..., places.before], prefix[..., places.behind]
    return np.asarray(before + places.share * (behind - before))


def _between(low: Integers, high: Integers, leaves: Leaves) -> Floats:
    """Return the 0/1 weights of the leaves from one edge to another."""
    at = np.arange(leaves.count)
    return ((at >= low) & (at < high)).astype(float)


def sampling_known(found: Fitted) -> None:
    """Refuse a confidence interval where one person may have several rows."""
    if found.setting.clustered:
        raise Unavailable(CLUSTERED)


def small(found: Fitted, entries: int) -> tuple[tuple[str, ...], ...]:
    """Return a warning for every entry of a group whose size is not clear of its noise."""
    raised = [("arm too small",) if flag else () for flag in found.small]
    return tuple(flags for flags in raised for _ in range(entries)) if any(raised) else ()


# ---------------------------------------------------------------- counts


def leaf_counts(found: Fitted, domain: Pair) -> Result:
    """Return the consistent counts of all leaves."""
    values = found.counts.ravel()
    noise = np.tile(found.structure.leaf_variances, found.setting.cells)

    def ends(level: float, kind: Kind) -> tuple[Floats, Floats]:
        if kind == "confidence":
            raise Unavailable(NO_POPULATION)
        return around(values, found.critical(1 - level) * np.sqrt(noise) + SLACK, *domain)

    redraw = found.redraw(lambda counts: counts)
    across = found.leaves.edges(found.leaves.depth)
    shape = found.setting.shape
    return Result(values, shape, domain, ends, noise, redraw=redraw, notes=NOTES, across=across)


def count_result(found: Fitted, ends: tuple[Places, Places], domain: Pair) -> Result:
    """Return how many rows lie between two places, for each group."""
    low, high = ends
    inner = _between(low.behind, high.before, found.leaves)
    outer = _between(low.before, high.behind, found.leaves)
    noise = np.full(found.setting.cells, found.law(outer).total_variance)

    def read(counts: Floats) -> Floats:
        prefix = prefix_sums(counts)
        return np.asarray(_at(prefix, high) - _at(prefix, low))

    def radius(weights: Floats, alpha: float) -> float:
        law = found.law(weights)
        return float(law.radius(alpha)) if law.total_variance > 0 else 0.0

    def bounds(level: float, kind: Kind) -> tuple[Floats, Floats]:
        if kind == "confidence":
            raise Unavailable(NO_POPULATION)
        low, _ = around(found.counts @ inner, radius(inner, 1 - level), *domain)
        _, high = around(found.counts @ outer, radius(outer, 1 - level), *domain)
        return low, high

    values = read(found.counts).ravel()
    return Result(values, (), domain, bounds, noise, redraw=found.redraw(read), notes=NOTES)


# ---------------------------------------------------------------- shares


def _proportions(
    found: Fitted, totals: Floats, low: Integers, high: Integers, level: float, kind: Kind
) -> tuple[Floats, Floats]:
    """Return the accepted shares of rows from one edge to another; arrays over groups and entries."""
    first, last = found.prefixes(low), found.prefixes(high)
    root, alpha = found.structure.root_variance, 1 - level
    variance = last.variances + first.variances - 2 * last.covariances(first)
    covariance = (last.slope - first.slope) * root
    noise, size = found.critical(alpha) ** 2, found.sizes[:, None]
    sampling: Number = 0.0
    if kind == "confidence":
        sampling_known(found)
        sampling = normal_quantile(1 - alpha / 2) ** 2 * np.maximum(size, 0.0)
    spread = (noise * variance, sampling - 2 * noise * covariance, noise * root - sampling)
    lowest, highest = accepted_ratio(totals, size, spread, SLACK, (0.0, 1.0), lost=found.small[:, None])
    every = (low == 0) & (high == found.leaves.count)
    return np.where(every, 1.0, lowest), np.where(every, 1.0, highest)


def _shares(found: Fitted, read: Callable[[Floats], Floats], low: Places, high: Places, ends: Ends) -> Result:
    """Return shares of rows between two places, with what the noise and sampling add to their variance."""
    seen = read(found.counts)
    values = np.clip(seen, 0.0, 1.0)
    entries, size = values.shape[-1], np.maximum(found.sizes, 1.0)[:, None]
    first, last = found.prefixes(low.before), found.prefixes(high.behind)
    root = found.structure.root_variance
    variance = last.variances + first.variances - 2 * last.covariances(first)
    covariance = (last.slope - first.slope) * root
    noise = (np.maximum(variance - 2 * values * covariance + values**2 * root, 0.0) / size**2).ravel()
    alone = not found.setting.clustered
    sampling = (values * (1 - values) / size).ravel()
    sizes = np.repeat(np.maximum(found.sizes, 0.0), entries)
    return Result(
        values.ravel(),
        (),
        (0.0, 1.0),
        ends,
        noise,
        sampling if alone else None,
        sizes,
        effective_size(sizes, sampling, noise) if alone else None,
        small(found, entries),
        found.redraw(lambda counts: np.asarray(drawn_inside(read(counts), seen, 0.0, 1.0))),
        notes=NOTES,
    )


def share_result(found: Fitted, low: Places, high: Places) -> Result:
    """Return which share of the rows lies between places, for each group."""

    def read(counts: Floats) -> Floats:
        prefix = prefix_sums(counts)
        gap = _at(prefix, high) - _at(prefix, low)
        return np.asarray(gap / np.maximum(found.size_of(counts), 1.0)[..., None])

    def ends(level: float, kind: Kind) -> tuple[Floats, Floats]:
        prefix = prefix_sums(found.counts)
        inner = np.maximum(high.before, low.behind)
        some = prefix[..., inner] - prefix[..., low.behind]
        every = prefix[..., high.behind] - prefix[..., low.before]
        lowest, _ = _proportions(found, some, low.behind, inner, level, kind)
        _, highest = _proportions(found, every, low.before, high.behind, level, kind)
        return lowest.ravel(), highest.ravel()

    return _shares(found, read, low, high, ends)


def _curve(found: Fitted, places: Places) -> Callable[[Floats], Floats]:
    def read(counts: Floats) -> Floats:
        curve = rising(prefix_sums(counts))
        return np.asarray(
            np.clip(_at(curve, places) / np.maximum(found.size_of(counts), 1.0)[..., None], 0.0, 1.0)
        )

    return read


def _start(places: Places) -> Places:
    zero = np.zeros(places.before.shape, dtype=np.int64)
    return Places(zero, zero, zero.astype(float))


def cdf_result(found: Fitted, places: Places) -> Result:
    """Return the distribution function at some places, each with an interval of its own."""
    read, start = _curve(found, places), _start(places)

    def ends(level: float, kind: Kind) -> tuple[Floats, Floats]:
        prefix, value = prefix_sums(found.counts), read(found.counts)
        lowest, _ = _proportions(found, prefix[..., places.before], start.before, places.before, level, kind)
        _, highest = _proportions(found, prefix[..., places.behind], start.before, places.behind, level, kind)
        return np.minimum(lowest, value).ravel(), np.maximum(highest, value).ravel()

    return _shares(found, read, start, places, ends)


def band_result(found: Fitted, places: Places) -> Result:
    """Return the distribution function with a band that holds all of it at the stated level."""
    read = _curve(found, places)

    def ends(level: float, kind: Kind) -> tuple[Floats, Floats]:
        if kind == "confidence":
            sampling_known(found)
        radius, fewest = _noise_band(found, level if kind == "privacy" else (1 + level) / 2)
        size = found.sizes[:, None]
        wide = 0.0 if kind == "privacy" else np.sqrt(np.log(4 / (1 - level)) / (2 * fewest))[:, None]
        prefix, unclear = prefix_sums(found.counts), (size <= 0) | found.small[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            low = np.where(unclear, 0.0, (prefix - radius) / size - wide)
            high = np.where(unclear, 1.0, (prefix + radius) / size + wide)
        low[:, -1] = 1.0
        low = np.maximum.accumulate(np.clip(low, 0, 1), axis=-1)[..., places.before]
        high = np.flip(np.minimum.accumulate(np.flip(np.clip(high, 0, 1), -1), axis=-1), -1)[
            ..., places.behind
        ]
        value = read(found.counts)
        return np.minimum(low, value).ravel(), np.maximum(high, value).ravel()

    return _shares(found, read, _start(places), places, ends)


def _noise_band(found: Fitted, level: float) -> tuple[Floats, Floats]:
    """Return the radius of ``P(j) - φN`` at every edge for all φ in [0, 1], and the fewest rows there can be.

    ``|δ_j - φδ_N| ≤ max(|δ_j|, |δ_j - δ_N|)``: both are bounded over all edges at once.
    """
    law = found.prefixes(np.arange(found.leaves.count + 1))
    root = found.structure.root_variance
    below = np.sqrt(law.variances)
    above = np.sqrt(np.maximum(law.variances - 2 * law.slope * root + root, 0.0))

    def largest(errors: Floats) -> Floats:
        prefix = prefix_sums(errors)
        scaled = over(np.abs(prefix), below).max(axis=-1)
        other = over(np.abs(prefix - prefix[..., -1:]), above).max(axis=-1)
        return np.asarray(np.maximum(scaled, other))

    reach = found.supremum(level, largest)
    fewest = np.maximum(found.sizes - reach * found.size_sd, 1.0)
    return reach * np.maximum(below, above), fewest


def over(values: Floats, sd: Floats) -> Floats:
    """Return values in standard deviations; what has no error counts as zero."""
    known = sd > 1e-9
    return np.asarray(np.where(known, values / np.where(known, sd, 1.0), 0.0))

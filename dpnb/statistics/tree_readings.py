r"""What one tree of counts says, free: counts and shares of ranges, the distribution function, mean, median, quantiles, mode, density.

Every reading is a function of the consistent leaves, so readings agree with each other, and draws of the one release correlate
them exactly. What each interval is, and why it covers, is said in :mod:`~dpnb.statistics.tree_shares` and
:mod:`~dpnb.statistics.tree_location`.

*Density.* Noise is smoothed where counts are not clear of it, intervals are those of the bins themselves. A node is split into its halves only where both count more than three standard deviations, or differ by more than three; what is
not split is level. The interval of a bin is that of its share before smoothing, so that it covers whatever the smoothing did.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

import numpy as np

from dpnb.errors import OptionError
from dpnb.inference.digits import given
from dpnb.inference.elementwise import Floats
from dpnb.inference.tree import pair_sums, paired
from dpnb.statistics._base import Axis, Setting, check_levels
from dpnb.statistics.leaves import Places, leaves_of
from dpnb.statistics.result import Kind, Read, Result
from dpnb.statistics.tree_fit import Fitted, fitted
from dpnb.statistics.tree_location import mean_result, mode_result, quantile_results
from dpnb.statistics.tree_shape import (
    check_gini,
    check_share,
    gini_result,
    iqr_result,
    skewness_result,
    trimmed_mean_result,
)
from dpnb.statistics.tree_shares import NOTES, band_result, cdf_result, count_result, share_result
from dpnb.trusted.releases import Release

DENSITY_LEVELS = 6
BANDS = ("pointwise", "simultaneous")
MOST_POINTS = 100_000
SHOWN_POINTS = 12

Asked = int | float | Fraction

# ---------------------------------------------------------------- the readings


def count(setting: Setting, low: Asked | None = None, high: Asked | None = None) -> Read:
    """Read how many rows have a value from `low` to `high`, both included; an end that is left out is open.

    Parameters
    ----------
    low, high : number, optional
        Ends of the range.
    """
    ends, said = _range(setting, low, high)
    return _read(setting, f".count({said})", (), lambda found: count_result(found, ends, setting.row_range))


def share(setting: Setting, low: Asked | None = None, high: Asked | None = None) -> Read:
    """Read which share of the rows has a value from `low` to `high`, both included.

    Parameters
    ----------
    low, high : number, optional
        Ends of the range.
    """
    ends, said = _range(setting, low, high)
    return _read(setting, f".share({said})", (), lambda found: share_result(found, *ends))


def cdf(setting: Setting, points: Asked | Iterable[Asked] | None = None, *, band: str = "pointwise") -> Read:
    """Read the distribution function: the share of rows with a value of at most each point.

    Parameters
    ----------
    points : number or list of numbers, optional
        Where; by default the highest value of every leaf.
    band : {"pointwise", "simultaneous"}
        Whether each interval alone holds its value at the stated level, or all of them together.
    """
    if band not in BANDS:
        raise OptionError('band= is "pointwise" or "simultaneous".')
    leaves = leaves_of(setting)
    given, one = ((), False) if points is None else _numbers(points, "points")
    if points is None:
        edges = np.arange(1, leaves.count + 1)
        places = Places(edges, edges, np.zeros(edges.size))
        ends = leaves.last(edges - 1)
        keys = leaves.axis("").keys if leaves.width == 1 else leaves.said(ends)
    else:
        places, keys = leaves.upto(given), tuple(map(float, given))
        ends = np.array(keys, dtype=float)
    said = [] if points is None else [_shown(given, one=one)]
    said += [] if band == BANDS[0] else [f'band="{band}"']
    axes = () if one else (Axis("at most", "at most", keys),)
    made = cdf_result if band == BANDS[0] else band_result
    across = None if one else ends
    text = f".cdf({', '.join(said)})"
    return _read(setting, text, axes, lambda found: replace(made(found, places), across=across))


def mean(setting: Setting) -> Read:
    """Read the mean: of the middles of the leaves, with half a leaf added to both intervals where leaves are wide."""
    return _read(setting, ".mean()", (), mean_result, located=True)


def quantile(setting: Setting, q: Asked | Iterable[Asked] = 0.5) -> Read:
    """Read a quantile, or several: the lowest value that at least this share of the rows does not exceed.

    Parameters
    ----------
    q : float or list of float
        Between 0 and 1.
    """
    levels, one = _numbers(q, "q")
    check_levels(levels)
    axes = () if one else (Axis("quantile", "quantile", tuple(map(float, levels))),)
    text = f".quantile({_shown(levels, one=one)})"
    return _read(setting, text, axes, lambda found: quantile_results(found, levels), located=True)


def median(setting: Setting) -> Read:
    """Read the median."""
    return _read(
        setting, ".median()", (), lambda found: quantile_results(found, (Fraction(1, 2),)), located=True
    )


def iqr(setting: Setting) -> Read:
    """Read the interquartile range: the third quartile less the first."""
    return _read(setting, ".iqr()", (), iqr_result)


def trimmed_mean(setting: Setting, share: Asked = 0.1) -> Read:
    """Read the mean of the rows that are left when a share of them is left out at either end.

    Parameters
    ----------
    share : float
        At each end; 0.1 by default.
    """
    (cut,), _ = _numbers(share, "share")
    check_share(cut)
    text = f".trimmed_mean({_shown((cut,), one=True)})"
    return _read(setting, text, (), lambda found: trimmed_mean_result(found, cut), located=True)


def skewness(setting: Setting) -> Read:
    """Read the skewness: the third central moment over the standard deviation cubed."""
    return _read(setting, ".skewness()", (), skewness_result)


def gini(setting: Setting) -> Read:
    """Read the Gini coefficient of amounts: 0 where all have the same, 1 where one has all."""
    check_gini(setting.number().lowest)
    return _read(setting, ".gini()", (), gini_result)


def mode(setting: Setting) -> Read:
    """Read the middle of the leaf with the largest count."""
    return _read(setting, ".mode()", (), mode_result, located=True)


def density(setting: Setting, levels: object = None) -> Read:
    """Read the density in bins of equal width: noise is smoothed where counts are not clear of it.

    Parameters
    ----------
    levels : int, optional
        2^levels bins at most; 6 by default, or the levels of the tree if it has fewer.
    """
    leaves = leaves_of(setting)
    most = leaves.depth
    level = min(DENSITY_LEVELS, most) if levels is None else levels
    if isinstance(level, bool) or not isinstance(level, int) or not 1 <= level <= most:
        raise OptionError(f"levels= is a whole number from 1 to {most}, the levels of this tree.")
    text = ".density()" if levels is None else f".density(levels={levels})"
    return _read(
        setting,
        text,
        (leaves.level_axis(level, setting.subject),),
        lambda found: density_result(found, level),
    )


# ---------------------------------------------------------------- arguments


def _read(
    setting: Setting,
    text: str,
    axes: tuple[Axis, ...],
    conclude: Callable[[Fitted], Result],
    *,
    located: bool = False,
) -> Read:
    """Return a reading whose result has the groups of the question before its own axes; `located` where it holds values."""
    along = setting.number().calendar
    whole = (*setting.axes[: len(setting.keys)], *axes)
    shape = tuple(len(axis.keys) for axis in whole)

    def concluded(releases: Sequence[Release]) -> Result:
        return replace(
            conclude(fitted(setting, releases)), shape=shape, along=along, calendar=along if located else None
        )

    return Read(text, shape, whole, concluded)


def _number(value: object, name: str) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | float | Fraction | np.integer | np.floating):
        raise OptionError(f"{name} must be a number, not {value!r}.")
    if not math.isfinite(value):
        raise OptionError(f"{name} must be finite; leave it out for an open end.")
    return Fraction(str(value))


def _numbers(values: object, name: str) -> tuple[tuple[Fraction, ...], bool]:
    """Return some numbers exactly, and whether it was one number instead of a list."""
    if isinstance(values, Iterable) and not isinstance(values, str):
        found = tuple(_number(value, name) for value in values)
        if not 1 <= len(found) <= MOST_POINTS:
            raise OptionError(f"{name} takes a number, or a list of 1 to {MOST_POINTS:,} numbers.")
        return found, False
    return (_number(values, name),), True


def _shown(numbers: tuple[Fraction, ...], *, one: bool) -> str:
    """Return numbers as typed; of a long list a few and a digest, so that different lists have different texts."""
    listed = [str(x) if x.denominator == 1 else repr(float(x)) for x in numbers]
    if one:
        return listed[0]
    if len(listed) <= SHOWN_POINTS:
        return f"[{', '.join(listed)}]"
    digest = hashlib.sha256(" ".join(map(str, numbers)).encode()).hexdigest()[:8]
    return f"[{listed[0]}, {listed[1]}, … {listed[-1]}; {len(listed)} numbers {digest}]"


def _range(setting: Setting, low: Asked | None, high: Asked | None) -> tuple[tuple[Places, Places], str]:
    """Return where a range starts and ends among the leaves, and its text."""
    leaves, number = leaves_of(setting), setting.number()
    first = number.lowest if low is None else _number(low, "low")
    last = number.highest if high is None else _number(high, "high")
    if first > last:
        raise OptionError(
            f"low={given(float(first))} is above high={given(float(last))}: nothing lies between them."
        )
    said = [] if low is None else [_shown((first,), one=True)]
    said += [] if high is None else [("high=" if low is None else "") + _shown((last,), one=True)]
    return (leaves.upto((first,), inclusive=False), leaves.upto((last,))), ", ".join(said)


CLEAR = 3.0


def density_result(found: Fitted, level: int) -> Result:
    """Return the density in the nodes of a level, for each group."""
    leaves = found.leaves
    up = 2 ** (leaves.depth - level)
    edges = np.minimum(np.arange(leaves.sizes[level] + 1) * up, leaves.count)
    step = float(leaves.number.step)
    width = np.diff(np.minimum(edges * leaves.width, leaves.grid)) * step

    def read(counts: Floats) -> Floats:
        mass = np.maximum(_smoothed(found, counts, level), 0.0) * width
        total = mass.sum(axis=-1, keepdims=True)
        even = width / width.sum()
        return np.asarray(np.where(total > 0, mass / np.where(total > 0, total, 1.0), even) / width)

    low = Places(edges[:-1], edges[:-1], np.zeros(width.size))
    high = Places(edges[1:], edges[1:], np.zeros(width.size))
    shares = share_result(found, low, high)
    values = read(found.counts).ravel()
    wide = np.tile(width, found.setting.cells)

    def ends(at: float, kind: Kind) -> tuple[Floats, Floats]:
        lowest, highest = shares.ends(at, kind)
        return np.minimum(lowest / wide, values), np.maximum(highest / wide, values)

    sampling = None if shares.sampling is None else shares.sampling / wide**2
    return Result(
        values,
        (),
        (0.0, float(1 / width.min())),
        ends,
        shares.noise / wide**2,
        sampling,
        shares.sizes,
        shares.effective,
        shares.cell_flags,
        found.redraw(read),
        notes={kind: f"{note}; of the bin before smoothing" for kind, note in NOTES.items()},
        across=leaves.edges(level),
    )


def _smoothed(found: Fitted, counts: Floats, level: int) -> Floats:
    """Return rows per unit of width in the nodes of a level; a node is split only where its halves are clear of noise.

    It is split where both halves count more than three standard deviations, or differ by more than three.
    """
    tree, leaves = found.structure, found.leaves
    nodes, widths = [counts], [leaves.held(np.arange(leaves.count)).astype(float)]
    for _ in range(leaves.depth):
        nodes.insert(0, pair_sums(nodes[0]))
        widths.insert(0, pair_sums(widths[0]))
    value = nodes[0] / widths[0]
    split = np.ones(value.shape, dtype=bool)
    for above in range(level):
        child, wide = nodes[above + 1], widths[above + 1]
        pairs, across = paired(child), paired(wide)
        sd = np.sqrt(paired(tree.node_variances[above + 1]))
        both = (pairs > CLEAR * sd).all(axis=-1) | (across[..., 1] == 0)
        gap = np.abs(pairs[..., 0] * across[..., 1] - pairs[..., 1] * across[..., 0])
        differ = gap > CLEAR * np.sqrt(tree.contrast_variances(above, wide))
        split = split & (both | differ)
        size = child.shape[-1]
        inherited = np.repeat(value, 2, axis=-1)[..., :size]
        split = np.repeat(split, 2, axis=-1)[..., :size]
        value = np.where(split, child / wide, inherited)
    return np.asarray(value / float(leaves.number.step))

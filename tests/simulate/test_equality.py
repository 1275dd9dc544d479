"""A simulated study is a release: the same integers give the same numbers, by arrays and one by one."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpnb import simulate
from dpnb.errors import Unavailable
from dpnb.simulate.studies import ArrayStudies, StackedStudies
from dpnb.statistics import conclude
from dpnb.trusted.schema import Column


def people(rng, shape):
    """Two skewed numbers that go together, a rare event and two arms."""
    x = 100 * rng.beta(2, 5, shape)
    y = np.clip(x + rng.normal(0, 10, shape), 0, 100)
    return {"x": x, "y": y, "b": (rng.random(shape) < 0.3) * 1.0, "arm": rng.integers(0, 2, shape) * 1.0}


def columns(missing):
    """The public columns, with or without a constant for what is missing."""
    return [
        Column.number("x", 0, 100, step=Fraction(1, 10), missing=missing),
        Column.number("y", 0, 100, step=Fraction(1, 10), missing=missing),
        Column.category("b", [0, 1]),
        Column.category("arm", [0, 1]),
    ]


CASES = {
    "mean": ("mean", {}),
    "mean, spread bound": ("mean", {"spread": "bound"}),
    "mean by arm": ("mean", {"by": ["arm"]}),
    "proportion": ("mean", {"column": "b"}),
    "proportion by arm": ("mean", {"column": "b", "by": ["arm"]}),
    "sum": ("sum", {}),
    "count": ("count", {"by": ["arm"]}),
    "histogram": ("histogram", {"bins": 4}),
    "value counts": ("value_counts", {"column": "arm"}),
    "difference": ("difference", {"by": ["arm"]}),
    "difference of proportions": ("difference", {"column": "b", "by": ["arm"]}),
    "variance": ("variance", {}),
    "variance of 0/1": ("variance", {"column": "b"}),
    "standard deviation": ("std", {}),
    "covariance": ("covariance", {"other": "y"}),
    "correlation": ("correlation", {"other": "y"}),
    "correlation by arm": ("correlation", {"other": "y", "by": ["arm"]}),
    "quantiles with limits": ("quantile", {"q": [0.25, 0.5], "ci": True}),
}
STUDIES = [(10, {"epsilon": ["0.05", 1]}), (300, {"epsilon": ["0.3", 10]}), (300, {"rho": ["0.01", "0.5"]})]


def close(one, other, scale=1.0, tolerance=1e-9):
    """Whether numbers agree, not-a-number and infinity included, relative to a scale."""
    one, other = np.ravel(np.asarray(one, dtype=float)), np.ravel(np.asarray(other, dtype=float))
    gap = np.abs(np.subtract(one, other, where=np.isfinite(one), out=np.zeros_like(one)))
    same = (one == other) | (np.isnan(one) & np.isnan(other)) | (np.abs(one) > 1e200)
    return np.all(same | (gap <= tolerance * np.maximum(scale, 1e-300) + 1e-12))


@pytest.mark.parametrize(
    ("adjacency", "missing"), [("change-one", 0), ("change-one", "drop"), ("add-remove", "drop")]
)
@pytest.mark.parametrize(("n", "losses"), STUDIES)
@pytest.mark.parametrize("case", CASES)
def test_arrays_say_what_each_release_says(case, n, losses, adjacency, missing):
    """Estimate, variances, sizes, flags and both intervals at two levels equal those of `conclude` on the same integers."""
    statistic, asked = CASES[case]
    studies, _ = simulate.draw_studies(
        statistic, people, n, losses, 2, 1, columns=columns(missing), adjacency=adjacency, **asked
    )
    for one in studies.kinds if isinstance(studies, StackedStudies) else [studies]:
        assert isinstance(one, ArrayStudies)
    for loss, study in np.ndindex(studies.shape[:2]):
        compare(studies, loss, study)


def compare(studies, loss, study):
    """Assert that one simulated release is concluded alike."""
    at = (loss, study)
    one = conclude(studies.checked, [studies.release(loss, study)])
    for name in ("n", "n_eff", "standard_error", "value"):
        found, theirs = getattr(studies, name), getattr(one, name)
        if theirs is None:  # nor has it at this loss, whatever others have
            assert found is None or np.all(np.isnan(found[at])), name
        else:
            assert close(theirs, found[at], np.abs(found[at])), name
    assert close(np.square(one.noise_sd), studies.noise_variance[at], np.abs(studies.noise_variance[at]))
    flags = studies.flags
    seen = [{name for name, up in flags.items() if up[(*at, e)]} for e in range(studies.shape[2])]
    assert seen == [set(cell) for cell in one.cell_flags]
    for kind in ("privacy", "confidence"):
        for level in (0.95, 0.8):
            try:
                low, high = studies.interval(level, kind)
            except Unavailable:
                with pytest.raises(Unavailable):
                    one.interval(level, kind)
                continue
            theirs = one.interval(level, kind)
            width = (high - low)[at]
            assert close(theirs.low, low[at], width, 1e-5), (kind, level)
            assert close(theirs.high, high[at], width, 1e-5), (kind, level)

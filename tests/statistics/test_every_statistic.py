"""Every registered statistic, on data where there is nothing to see: a flagged release of the same shape, never a crash."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from dpnb.cards import facts
from dpnb.errors import LossError, Unavailable
from dpnb.estimate import Estimate, to_json
from dpnb.statistics import BY_NAME
from dpnb.trusted.noise.bits import SeededBits
from tests.contracts.questions import SAMPLES, TABLES, UNITS, asked, released, schema

CASES = [(name, place) for name, samples in SAMPLES.items() for place in range(len(samples))]
MEASURES = ("epsilon", "rho")


def test_every_registered_statistic_has_sample_questions():
    assert set(SAMPLES) == set(BY_NAME)


def whole(estimate: Estimate) -> None:
    """Read everything that a person can read of an answer."""
    assert np.shape(estimate.value) == estimate.shape
    assert np.isfinite(estimate.value).all() or estimate.flags
    for kind in ("privacy", "confidence"):
        try:
            low, high = estimate.interval(0.95, kind)
        except Unavailable as reason:
            assert len(str(reason)) > 20  # noqa: PT017 -- the reason is what a person reads
            continue
        assert np.all(np.asarray(low) <= np.asarray(high) + 1e-9)
        assert np.shape(low) == np.shape(high) == estimate.shape
    _ = estimate.standard_error, estimate.n, estimate.n_eff, estimate.flags
    json.dumps(estimate.to_dict(), allow_nan=False, default=to_json)
    assert facts.line_of(estimate).question


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("statistic", "place"), CASES)
def test_a_release_has_its_shape_whatever_the_rows(statistic: str, place: int, unit: str, table: str) -> None:
    """No crash, no warning, no NaN without a flag, both intervals or the reason why not; in both measures."""
    sample = SAMPLES[statistic][place]
    priced_in = 0
    for measure in (*MEASURES, "approx"):
        if measure == "approx" and priced_in:
            continue
        where = schema(UNITS[unit], measure)
        try:
            item = asked(sample, statistic, where, measure, "0.5")
        except LossError as error:
            assert "budget" in str(error)  # noqa: PT017 -- a measure that does not fit names the fix
            continue
        priced_in += 1
        estimate = released(item, TABLES[table], where, SeededBits(7))
        assert item.checked.shape in {estimate.shape, None}
        whole(estimate)
    assert priced_in


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("statistic", "place"), CASES)
def test_no_private_number_is_sent_without_noise(statistic: str, place: int, unit: str) -> None:
    """Releases of the same rows differ in every part; a part that does not (a limit beyond all ranks) is the same for other rows."""
    sample: dict[str, Any] = SAMPLES[statistic][place]
    for measure in MEASURES:
        where = schema(UNITS[unit], measure)
        try:
            item = asked(sample, statistic, where, measure, "0.001")
        except LossError:
            continue
        if item.public:
            continue
        seen = [_values(item, table, where) for table in ("two rows", "constant")]
        for part in range(len(item.parts)):
            here, there = ({values[part] for values in found} for found in seen)
            assert len(here) > 1 or here == there


def _values(item: Any, table: str, where: Any) -> list[list[tuple[int, ...]]]:
    """The released integers of every part, in twelve releases of a table."""
    draws = [released(item, TABLES[table], where, SeededBits(seed)) for seed in range(12)]
    return [[part.values for part in draw.releases[0].parts] for draw in draws]

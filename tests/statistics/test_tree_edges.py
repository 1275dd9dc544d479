"""Every reading of trees, densities, tables and moments on data where there is nothing to see: the declared shape, flags, never a crash or a warning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpnb.estimate import Estimate
from dpnb.inference.seeded_bits import SeededBits
from dpnb.planner.expression import Ref
from tests.contracts.questions import TABLES, UNITS, asked, released, schema
from tests.statistics.test_every_statistic import inside, whole

MOMENTS = {"target": Ref("x"), "others": (Ref("b"), Ref("y"))}
SAMPLES: dict[str, tuple[str, dict[str, Any]]] = {
    "a leaf for each value": ("tree", {"target": Ref("x")}),
    "wide leaves by group": ("tree", {"target": Ref("x"), "by": (Ref("g"),), "options": (("levels", 3),)}),
    "two leaves": ("tree", {"target": Ref("x"), "options": (("levels", 1),)}),
    "bins": ("histogram", {"target": Ref("x"), "options": (("bins", 3),)}),
    "a drawn density": ("ks_density", {"target": Ref("x")}),
    "a table": ("crosstab", {"target": Ref("g"), "by": (Ref("b"),)}),
    "moments": ("moments", MOMENTS),
    "moments in a ball": ("moments", {**MOMENTS, "options": (("radius", 1),)}),
}


def readings(estimate: Any) -> list[Estimate]:
    """All readings, with and without arguments."""
    if estimate.measurement.checked.statistic == "histogram":
        return [estimate.rounded(), estimate.density(), estimate.density(method="perturbed")]
    if estimate.measurement.checked.statistic == "crosstab":
        shares = [estimate.proportions(within=one) for one in (None, "rows", "columns")]
        return [*shares, estimate.margin("b")]
    if estimate.measurement.checked.statistic == "ks_density":
        return [estimate.cdf(), estimate.median()]
    if estimate.measurement.checked.statistic == "moments":
        return [estimate.mean("b"), estimate.mean("x"), estimate.covariance(), estimate.correlation()]
    return [
        estimate.count(),
        estimate.count(33, 34),
        estimate.share(high=50),
        estimate.share(0, 100),
        estimate.share(31, 31),
        estimate.cdf(),
        estimate.cdf(31),
        estimate.cdf([-5, 200], band="simultaneous"),
        estimate.mean(),
        estimate.median(),
        estimate.quantile([0.01, 0.5, 0.99]),
        estimate.mode(),
        estimate.density(),
        estimate.density(levels=1),
    ]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("name", SAMPLES)
def test_every_reading_has_its_shape_whatever_the_rows(name: str, table: str, unit: str) -> None:
    """In both measures, with much noise and with hardly any; values stay inside the public range of a reading."""
    statistic, sample = SAMPLES[name]
    for measure, amount in (("epsilon", "0.1"), ("rho", 50)):
        where = schema(UNITS[unit], measure)
        estimate = released(
            asked(sample, statistic, where, measure, amount), TABLES[table], where, SeededBits(9)
        )
        for one in readings(estimate):
            whole(one)
            if statistic == "moments":
                inside(one)
                assert one.flags or measure == "rho", one.text
            low, high = one.outcome.domain  # type: ignore[union-attr]
            if not any(word in one.text for word in ("density", ".count", ".margin")):
                assert np.all((np.asarray(one.value) >= low) & (np.asarray(one.value) <= high)), one.text

"""People with several rows: privacy intervals as always, and no confidence interval computed from rows as if they were people."""

from __future__ import annotations

import numpy as np
import pytest

from dpnb.errors import Unavailable
from dpnb.planner.expression import Ref
from dpnb.planner.question import Question
from dpnb.statistics import conclude
from dpnb.trusted.privacy.unit import PrivacyUnit
from tests.contracts.statistic import priced, schema
from tests.statistics.coverage import release

TABLE = {"x": [0, 4, 2, 1], "b": [0, 1, 1, 0], "g": [0, 1, 2, 0]}


@pytest.mark.parametrize("column", ["x", "b"])
@pytest.mark.parametrize(
    ("statistic", "by"), [("mean", ()), ("difference", ("b",)), ("variance", ()), ("std", ())]
)
def test_rows_of_one_person_are_not_independent(statistic: str, by: tuple[str, ...], column: str) -> None:
    """With up to two rows a person there is a privacy interval, no standard error, and a reason in place of the other."""
    unit = PrivacyUnit("add-remove", unit="who", max_rows=2)
    item = priced(Question("tiny", statistic, Ref(column), None, tuple(map(Ref, by))), schema(unit))
    found = conclude(item.checked, [release(item, TABLE, np.random.default_rng(1))])
    assert np.isfinite(found.interval(0.95, "privacy").width)
    assert found.standard_error is None
    assert found.n_eff is None
    with pytest.raises(Unavailable, match="One person may have several rows"):
        found.interval(0.95, "confidence")


def test_no_spread_is_bought_where_it_cannot_be_used() -> None:
    """Where no confidence interval follows, the whole loss goes to the mean."""
    unit = PrivacyUnit("add-remove", unit="who", max_rows=2)
    item = priced(Question("tiny", "mean", Ref("x")), schema(unit))
    assert [part.name for part in item.parts] == ["sum", "count"]

"""Records and the write-once measurement."""

from __future__ import annotations

import json
from fractions import Fraction

import numpy as np
import pytest

from dpnb.errors import DpnbError, OptionError, PlanError
from dpnb.estimate import Origin, PendingQuestion
from dpnb.inference.interval import Interval
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.releases import Release, ReleasedPart
from tests.estimate.fakes import Checked, FakeOutcome, fill, make_release, pending, released


def test_a_release_survives_json_exactly():
    part = ReleasedPart("sum", {"kind": "discrete-gaussian", "variance": "4/3"}, (2**90, -1), "d0")
    loss = PrivacyLoss.zcdp(Fraction(1, 3))
    release = Release("ab", "q", "hiv", "v", (part,), loss, "1/3", True, "2026-01-01T00:00:00Z", 4, "rho")
    assert Release.from_json(json.loads(json.dumps(release.to_json()))) == release


def test_a_release_with_an_unknown_field_is_refused():
    record = make_release().to_json() | {"row": 3}
    with pytest.raises(PlanError, match="a field is unknown"):
        Release.from_json(record)


@pytest.mark.parametrize("kind", ["", "within", "Rho", 1, None, True])
def test_a_release_whose_share_is_of_no_known_kind_is_refused(kind):
    with pytest.raises(PlanError, match="not a release of this version"):
        Release.from_json(make_release().to_json() | {"share_kind": kind})


def test_releases_are_hashable_by_id_and_give_their_parts_by_name():
    release = make_release(id="ff")
    assert hash(release) == hash("ff")
    assert release.part("sum").values == (12, -3)
    with pytest.raises(KeyError):
        release.part("count")


def test_an_answer_is_written_once():
    estimate = fill(pending())
    measurement = estimate.measurement
    for again in (
        lambda: measurement.fill((), FakeOutcome(1.0)),
        lambda: measurement.submit("id"),
        measurement.withdraw,
    ):
        with pytest.raises(DpnbError, match="written once"):
            again()
    assert estimate.value == 0.7


def test_a_measurement_goes_from_pending_through_submitted_to_released_and_back_before_the_charge():
    measurement = pending().measurement
    assert measurement.state == "pending"
    measurement.submit("r1")
    assert (measurement.state, measurement.request_id) == ("submitted", "r1")
    measurement.withdraw()
    assert (measurement.state, measurement.request_id) == ("pending", None)
    measurement.submit("r2")
    measurement.fill((make_release(),), FakeOutcome(1.0))
    assert (measurement.state, measurement.request_id) == ("released", "r2")


def test_weight_and_spend_return_the_same_object_and_a_conflict_is_an_error():
    estimate = pending()
    assert estimate.weight(2) is estimate
    assert estimate.measurement.weight == 2
    assert estimate.weight("2") is estimate
    with pytest.raises(OptionError, match="two different shares"):
        estimate.weight(3)
    other = pending()
    assert other.spend(epsilon=0.3) is other
    assert (other.measurement.spend, other.measurement.spend_as) == (Fraction(3, 10), "epsilon")
    with pytest.raises(OptionError, match="two different shares"):
        other.weight(1)
    with pytest.raises(OptionError, match="one of epsilon= and rho="):
        pending().spend()


def test_the_share_of_a_released_or_derived_estimate_cannot_be_set():
    with pytest.raises(OptionError, match="is released"):
        released().weight(2)
    with pytest.raises(PlanError, match=r"use `hiv.got.mean\(\)`.weight"):
        (pending() + 1).weight(2)


def test_an_interval_unpacks_and_knows_what_lies_inside():
    interval = Interval(1.0, 3.0, 0.95, "privacy", "note")
    low, high = interval
    assert (low, high, interval.width, interval.half_width) == (1.0, 3.0, 2.0, 1.0)
    assert 2 in interval
    assert 4 not in interval
    assert str(interval) == "[1, 3]"
    vector = Interval(np.array([0.0, 1.0]), np.array([1.0, np.inf]), 0.9, "confidence")
    assert [0.5, 7] in vector
    assert vector.to_json()["high"] == [1.0, None]
    assert vector == Interval(np.array([0.0, 1.0]), np.array([1.0, np.inf]), 0.9, "confidence")
    assert vector != interval


def test_a_measurement_remembers_the_line_outside_dpnb_that_asked():
    estimate = pending()
    assert estimate.measurement.origin.file.endswith("fakes.py")
    assert PendingQuestion("q", Checked("q")).origin.file == __file__
    assert str(Origin("/tmp/x.py", 3, None)) == "in x.py, line 3"
    assert str(Origin("/tmp/x.py", 3, "In[5]")) == "in In[5], line 3"

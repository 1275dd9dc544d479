"""A density by a synthetic sample as it is typed: handles, the whole path through the curator, and its cards."""

from __future__ import annotations

import json

import pytest

import dpnb
from dpnb.errors import LossError
from dpnb.trusted.privacy.loss import PrivacyLoss
from tests.curator import small


def test_it_is_released_by_the_curator(session, data):
    """As typed: a placement inside the public cells, for exactly the loss asked; its readings cost nothing."""
    shape = data.x.ks_density(points=20)
    assert shape.text == "small.x.ks_density(points=20)"
    median = shape.median()
    done = dpnb.release({"shape": shape, "median": median}, epsilon=2)
    assert done.charged == PrivacyLoss.pure(2)
    assert 0 <= median.value <= 10
    assert shape.release.parts[0].law["mechanism"] == "ks-exponential"
    assert "20 points" in str(shape.explain())
    assert json.dumps(shape.to_dict())
    assert "step" in repr(dpnb.plan({"again": data.y.ks_density()}, epsilon=1))
    assert not dpnb.release([data.x.ks_density(points=20)], epsilon=2).charged


def test_a_rho_budget_holds_it(session, dpnb_home):
    """In a ρ ledger a placement is charged ε²/8, and within= says why it cannot plan one."""
    data = small.opened(session, dpnb_home, rho="2")
    done = dpnb.release([data.x.ks_density()], rho="0.5")
    assert 0.49 < done.charged.amount <= 0.5
    with pytest.raises(LossError, match="depends on the data"):
        dpnb.plan([data.x.ks_density()], within="0.1")

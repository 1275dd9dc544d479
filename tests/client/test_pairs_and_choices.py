"""Covariance, correlation, mode and top_k as they are typed: handles, the whole path through the curator, and their cards."""

from __future__ import annotations

import numpy as np
import pytest

import dpnb
from dpnb.errors import PlanError, Unavailable
from dpnb.trusted.privacy.loss import PrivacyLoss
from tests.curator import small


def test_they_read_as_typed(data):
    """A second column is named or written; short names of pandas ask the same questions."""
    assert data.x.covariance("y").text == 'small.x.covariance("y")'
    assert data.x.corr(data.y, method="separate").text == "small.x.correlation(\"y\", method='separate')"
    assert data.x.cov(data.y * 2).text == "small.x.covariance(small.y * 2)"
    assert data[data.x > 3].groupby("g").x.correlation("y").shape == (2,)
    assert data.x.top_k(5).text == "small.x.top_k(5)"
    assert data.x.top_k(5).shape == (5,)
    assert data.groupby("g").x.mode().shape == (2,)


def test_the_default_method_is_not_spelled(data):
    """A question and the same question with its default have one canonical form."""
    one, two = data.x.correlation("y"), data.x.correlation("y", method="joint")
    assert one.measurement.question.canonical() == two.measurement.question.canonical()


def test_rows_of_other_selections_do_not_mix(data):
    """The second column must be of the same rows."""
    with pytest.raises(PlanError, match="another selection"):
        data.x.covariance(data[data.x > 3].y)


def test_they_are_released_by_the_curator(session, data):
    """One batch with all four answers numbers inside their public ranges, for exactly the loss asked."""
    asked = {
        "c": data.x.covariance("y"),
        "r": data.groupby("g").x.correlation("y", method="separate"),
        "m": data.g.mode(),
        "t": data.groupby("g").x.top_k(3),
    }
    done = dpnb.release(asked, epsilon=8)
    assert done.charged == PrivacyLoss.pure(8)
    assert abs(asked["c"].value) <= 2.5
    assert np.all(np.abs(asked["r"].value) <= 1)
    assert asked["m"].value in {0.0, 1.0}
    top = asked["t"].value
    assert top.shape == (2, 3)
    assert all(len(set(row)) == 3 and set(row) <= set(range(11)) for row in top.tolist())
    assert asked["c"].interval(kind="privacy").width > 0
    with pytest.raises(Unavailable, match="value_counts"):
        asked["m"].interval(kind="privacy")
    again = dpnb.release({"m": data.g.mode()}, epsilon=2)
    assert not again.charged


def test_a_large_loss_finds_the_most_frequent_value(session, dpnb_home):
    """With little noise the mode is numpy's, and top_k lists the counts in order."""
    raw = small.rows()
    raw["x"] = np.repeat([7.0, 2.0, 9.0], [20, 13, 7])
    data = small.opened(session, dpnb_home, raw, epsilon=1000)
    mode, top = data.x.mode(), data.x.top_k(3)
    dpnb.release([mode, top], epsilon=400)
    assert mode.value == 7
    assert top.value.tolist() == [7, 2, 9]
    assert (mode.labels, top.labels.tolist(), data.x.mode().text) == (7, [7, 2, 9], "small.x.mode()")
    assert repr(mode) == "<small.x.mode(): 7>"
    mean = data.x.mean()
    dpnb.release([mean], epsilon=1)
    assert mean.labels is None
    assert (mean + 1).labels is None


def test_a_rho_budget_holds_them(session, dpnb_home):
    """In a ρ ledger moments are discrete Gaussians, and choices are pure ε charged ε·tanh(ε/2)."""
    data = small.opened(session, dpnb_home, rho="2")
    r, m = data.x.correlation("g"), data.x.mode()
    done = dpnb.release([r, m], rho="0.5")
    assert done.charged.amount <= 0.5
    assert r.release.parts[0].law["kind"] == "discrete-gaussian"
    assert m.release.parts[0].law["mechanism"] == "permute-and-flip"


@pytest.mark.parametrize("ask", ["covariance", "correlation", "mode", "top_k"])
def test_their_cards_can_be_drawn(session, data, ask):
    """Plan, release and explanation are written for answers with intervals and for choices without."""
    e = getattr(data.groupby("g").x, ask)(*(["y"] if ask.startswith("co") else []))
    assert "small" in repr(dpnb.plan({"e": e}, epsilon=1))
    done = dpnb.release({"e": e}, epsilon=1)
    assert "e" in repr(done)
    assert e.to_dict()
    assert str(e.explain())
    assert done._repr_html_() if hasattr(done, "_repr_html_") else True

"""The lecture view: the studies of the lab, told as one question at one ε."""

from __future__ import annotations

import numpy as np
import pytest

import dpnb
from dpnb import widgets
from dpnb.errors import DpnbError
from dpnb.widgets.coverage_run import DRAWN


def test_a_share_is_told_with_its_truth_and_forty_studies():
    """A declared share is the truth of its studies; the handle stands at ε 0.3 among 200 people."""
    told = widgets.lecture(share=0.34, title="How many students cheat?").facts
    assert (told["question"], told["n"], told["loss"], told["percent"]) == (
        "How many students cheat?",
        200,
        0.3,
        True,
    )
    assert (told["shared"]["parameter"], told["shared"]["studies"]) == (0.34, DRAWN)


def test_the_studies_are_those_of_the_lab():
    """With one seed, the ends of an interval in the lecture are those that the lab draws."""
    shown = widgets.lecture("mean", "skewed", n=100, epsilon=0.5, rng=7)
    lab = widgets.coverage_lab("mean", "skewed", n=100, epsilon=0.5, rng=7, methods=["confidence", "privacy"])
    shown.complete()
    lab.complete()
    at = shown.facts["shared"]["values"].index(
        min(shown.facts["shared"]["values"], key=lambda loss: abs(loss - 1))
    )
    for name in ("confidence", "privacy"):
        one, other = (
            np.frombuffer(made.arrays[f"{name}/ends"], "<f4").reshape(-1, DRAWN, 2)[at]
            for made in (shown, lab)
        )
        np.testing.assert_array_equal(one, other)


def test_a_page_brings_more_studies_and_another_forty():
    """The page asks for what is not here yet, and for the next forty of what is."""
    shown = widgets.lecture(share=0.2, rng=3)
    first = shown.arrays["truths"]
    shown.chosen = {"reached": DRAWN}
    assert shown.facts["shared"]["studies"] > DRAWN
    shown.chosen = {"reached": DRAWN, "page": [shown.facts["shared"]["of"], 1]}
    assert (shown.facts["shared"]["first"], shown.arrays["truths"] == first) == (DRAWN, False)


def test_an_estimate_is_lectured_on_made_up_rows(data):
    """A question brings its words, size, bounds and loss; its rows stay where they are, and nothing is spent."""
    before = data.budget.spent
    told = widgets.lecture(data.x.mean()).facts
    assert "x.mean()" in told["question"]
    assert (told["n"], told["bounds"], told["percent"]) == (40, [0.0, 10.0], False)
    assert data.budget.spent == before


def test_what_no_lab_simulates_no_lecture_shows():
    """The refusals are the lab's."""
    with pytest.raises(DpnbError, match="epsilon= or rho="):
        widgets.lecture(epsilon=1, rho=1)
    with pytest.raises(DpnbError):
        widgets.lecture("mode")


def test_dp_lecture_takes_what_the_lab_takes():
    """`%dp lecture` alone, with a statistic and a population, or with an estimate."""
    from dpnb.widgets.kinds.lecture import Lecture

    assert Lecture.of_line({}, "").facts["percent"] is True
    assert Lecture.of_line({"dpnb": dpnb}, "mean skewed").facts["percent"] is False

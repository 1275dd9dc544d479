"""Every registered statistic as it is typed: the whole path through the curator, in ε and in ρ, and its cards."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import dpnb
from dpnb.client.columns import asked
from dpnb.client.upload import hand_over
from dpnb.planner import Question
from dpnb.trusted.wire.places import Home
from tests.contracts.questions import SAMPLES, UNITS, schema

ROWS = 6
TABLE = {
    "x": np.linspace(0, 100, ROWS),
    "y": np.linspace(10, 0, ROWS),
    "b": np.array([0, 1] * (ROWS // 2), dtype=object),
    "g": np.array(["u", "v", "w"] * (ROWS // 3), dtype=object),
}


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("name", SAMPLES)
def test_it_is_released_by_the_curator(session, dpnb_home, name, kind):
    """For no more than was asked; asked again it is free and the same; its plan, cards and record can be written, and it survives pickling."""
    where = schema(UNITS["change-one"], "approx" if name == "frequent_values" else kind)
    data = session.attach(hand_over(TABLE, where, Home(dpnb_home)))
    for sample in SAMPLES[name][:2]:
        question = Question("small", name, **sample)
        answer = asked(data, question)
        assert answer.text.startswith("small")
        plan = dpnb.plan({"a": answer}, **{kind: 1})
        assert "  a: " in repr(plan)
        done = dpnb.release({"a": answer}, **{kind: 1})
        assert done.charged == plan.cost
        again = asked(data, question)
        assert not dpnb.release({"a": again}, **{kind: 1}).charged
        np.testing.assert_array_equal(again.value, answer.value)
        np.testing.assert_array_equal(pickle.loads(pickle.dumps(answer)).value, answer.value)
        assert answer.to_dict()
        assert str(answer.explain())
        assert "a" in repr(done)

"""z tests are the intervals turned round: dual to them, at their level, and the textbook's where the noise is small."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpnb.errors import OptionError, PendingError, Unavailable
from dpnb.estimate import Estimate
from dpnb.estimate.hypothesis import holm, largest_alpha, p_text
from dpnb.inference.seeded_bits import SeededBits
from dpnb.planner.expression import BinOp
from tests.contracts.questions import UNITS, B, G, X, asked, released, schema
from tests.inference.test_chi_square import seldom

QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "mean": ("mean", {"target": X}),
    "proportion": ("mean", {"target": B}),
    "difference": ("difference", {"target": X, "by": (B,)}),
    "variance": ("variance", {"target": X}),
    "means by group": ("mean", {"target": X, "by": (G,)}),
}


def rows(n: int, rng: np.random.Generator, *, gap: float = 0.0) -> dict[str, list[Any]]:
    """A skewed number, a coin, a number of no use, three groups; the coin may move the number."""
    b = rng.integers(0, 2, n)
    x = np.clip(np.rint(100 * rng.beta(2, 5, n)) + gap * b, 0, 100)
    return {"x": x.tolist(), "y": [1.0] * n, "b": b.tolist(), "g": rng.choice(["u", "v", "w"], n).tolist()}


def answered(
    name: str, n: int = 300, loss: tuple[str, Any] = ("epsilon", 1), seed: int = 1, gap: float = 0.0
) -> Estimate:
    """A released answer of one study."""
    statistic, sample = QUESTIONS[name]
    where = schema(UNITS["add-remove"], loss[0])
    item = asked(sample, statistic, where, *loss)
    return released(item, rows(n, np.random.default_rng(seed), gap=gap), where, SeededBits(seed))


@pytest.mark.parametrize("kind", ["confidence", "privacy"])
@pytest.mark.parametrize("name", QUESTIONS)
def test_a_test_rejects_exactly_what_its_interval_leaves_out(name: str, kind: Any) -> None:
    """For any level the null is rejected if and only if it is outside the interval of that level."""
    found = answered(name)
    near = np.asarray(found.value) + 0.7 * np.asarray(found.interval(0.95, kind).half_width)
    test = found.test(near, kind=kind)
    for alpha in (0.5, 0.3, 0.2, 0.1, 0.05, 0.01, 0.001):
        low, high = found.interval(1 - alpha, kind)
        outside = (near < low) | (near > high)
        assert np.array_equal(np.asarray(test.p_value) <= alpha, outside), alpha


@pytest.mark.parametrize(("name", "null"), [("proportion", 0.5), ("difference", 0.0)])
@pytest.mark.parametrize(
    ("n", "loss"), [(40, ("epsilon", 1)), (300, ("epsilon", "0.1")), (300, ("rho", "0.01"))]
)
def test_a_true_null_is_rejected_as_seldom_as_stated(
    name: str, null: float, n: int, loss: tuple[str, Any]
) -> None:
    """One- and two-sample tests reject at most 5 % and 1 % of true nulls, also where noise exceeds sampling error."""
    studies = [answered(name, n, loss, seed=seed) for seed in range(200)]
    assert seldom(sum(null not in found.interval(0.95) for found in studies), 200, 0.05)
    assert seldom(sum(null not in found.interval(0.99) for found in studies), 200, 0.01)
    tests = [found.test(null) for found in studies[:20]]
    assert [test.rejects() for test in tests] == [null not in found.interval(0.95) for found in studies[:20]]


def test_one_sided_tests_are_as_seldom_wrong() -> None:
    """Both one-sided tests reject at most 5 % of true nulls, and their p-values add up to one."""
    tests = [answered("proportion", 60, seed=seed) for seed in range(60)]
    up = np.array([one.test(0.5, alternative="greater").p_value for one in tests])
    down = np.array([one.test(0.5, alternative="less").p_value for one in tests])
    assert seldom(int((up <= 0.05).sum()), 60, 0.05)
    assert seldom(int((down <= 0.05).sum()), 60, 0.05)
    np.testing.assert_allclose(up + down, 1, atol=1e-3)


def test_a_difference_is_found() -> None:
    """A difference of half a standard deviation is found with near certainty, and its sign is that of the statistic."""
    found = [answered("difference", 400, ("epsilon", 2), seed=seed, gap=8).test() for seed in range(20)]
    assert np.mean([test.rejects() for test in found]) > 0.9
    assert all(test.statistic > 0 for test in found if test.rejects())


def test_without_noise_it_is_the_score_test() -> None:
    """With next to no noise a proportion's p-value is that of the textbook's score test."""
    from statsmodels.stats.proportion import proportions_ztest

    statistic, sample = QUESTIONS["proportion"]
    where = schema(UNITS["add-remove"])
    raw = rows(2000, np.random.default_rng(3))
    test = released(asked(sample, statistic, where, "epsilon", 900), raw, where, SeededBits(1)).test(0.48)
    statistic_, known = proportions_ztest(sum(raw["b"]), 2000, 0.48, prop_var=0.48)
    assert test.p_value == pytest.approx(known, abs=0.03)
    assert test.statistic == pytest.approx(statistic_, abs=0.03)


def test_a_test_of_arithmetic_resolves_what_its_draws_do() -> None:
    """A difference of two groups of one release has a test; its smallest p-value is stated, not zero."""
    found = answered("means by group", 900, ("epsilon", 20))
    far = (found[0] - found[1]).test(60)
    assert far.p_value == 0.0005
    assert "p ≤ 0.0005   (|z| ≥ 3.48)" in repr(far)
    assert "z =" not in repr(far) + far._repr_html_()
    assert far.bounded
    assert far.to_dict()["bounded"] is True
    side = (found[0] - found[1]).test(60, alternative="greater")
    assert "p ≥ 0.99975   (|z| ≥ 3.48)" in repr(side)
    near = (found[0] - found[1]).test(float(found[0] - found[1]))
    assert near.p_value > 0.9
    assert not near.bounded
    assert "(z = " in repr(near)


def test_a_test_written_before_the_release_has_its_value_after() -> None:
    """Pending, it says so; a value asks for the release; filled, it is there."""
    done = answered("difference")
    assert done.measurement is not None
    where = schema(UNITS["add-remove"])
    item = asked(QUESTIONS["difference"][1], "difference", where, "epsilon", 1)
    pending = Estimate.leaf(type(done.measurement)(item.checked.question, item.checked))
    test = pending.test()
    assert repr(test).startswith("<pending z test of ")
    with pytest.raises(PendingError):
        _ = test.p_value
    assert pending.measurement is not None
    pending.measurement.fill(done.releases, done.outcome)
    assert test.p_value == done.test().p_value


def test_what_has_no_interval_has_no_test() -> None:
    """The reason of the interval is the reason of the test; bad arguments name the fix."""
    where = schema(UNITS["add-remove"])
    count = released(
        asked({}, "count", where, "epsilon", 1), rows(50, np.random.default_rng(1)), where, SeededBits(1)
    )
    with pytest.raises(Unavailable, match="describes this dataset"):
        _ = count.test(50).p_value
    assert "describes this dataset" in repr(count.test(50))
    assert 0 < count.test(50, kind="privacy").p_value <= 1
    mean = answered("mean")
    with pytest.raises(OptionError, match="between 0 and 100"):
        _ = mean.test(101).p_value
    for wrong in ({"null": "a"}, {"null": np.inf}, {"null": True}, {"kind": "both"}, {"alternative": "up"}):
        with pytest.raises(OptionError):
            mean.test(**wrong)
    with pytest.raises(OptionError, match="shape"):
        _ = mean.test([1, 2]).p_value
    with pytest.raises(OptionError, match="alpha"):
        mean.test(30).rejects(5)


def test_limits_of_one_level_decide_at_that_level() -> None:
    """Selected limits of a quantile, on a grid too fine for a tree, reject at 5 % what is outside of them, and claim no smaller p-value."""
    where = schema(UNITS["change-one"])
    item = asked(
        {"target": BinOp("*", X, X), "options": (("q", 0.5), ("ci", True))}, "quantile", where, "epsilon", 5
    )
    found = released(item, rows(500, np.random.default_rng(1)), where, SeededBits(1))
    assert found.test(95**2).p_value == 0.05
    assert "p ≤ 0.05   (|z| ≥ 1.96)" in repr(found.test(95**2))
    assert found.test(float(found)).p_value == 1


def test_people_with_several_rows_have_no_test_about_a_population() -> None:
    """Rows of one person are alike; what the noise hides can still be tested."""
    where = schema(UNITS["units of three rows"])
    found = released(
        asked({"target": X}, "mean", where, "epsilon", 1),
        rows(60, np.random.default_rng(1)),
        where,
        SeededBits(1),
    )
    with pytest.raises(Unavailable, match="several rows"):
        _ = found.test(30).p_value
    assert found.test(30, kind="privacy").p_value > 0


def test_several_tests_are_adjusted_as_holm_does() -> None:
    """The adjusted p-values are statsmodels', whatever the order."""
    from statsmodels.stats.multitest import multipletests

    values = np.array([0.04, 0.001, 0.2, 0.03, 0.03])
    np.testing.assert_allclose(holm(values), multipletests(values, method="holm")[1])
    groups = answered("means by group").test(30)
    assert groups.adjusted.shape == (3,)
    assert "of 3 rejected at 5 %" in groups.conclusion()


def test_a_result_reads_as_text_html_and_json() -> None:
    """Every form says test, null, p-value and basis; HTML is escaped."""
    test = answered("difference").test()
    assert "null: " in repr(test)
    assert "<p>" in test._repr_html_()
    assert "&lt;" in (answered("mean") * 2).test(30)._repr_html_() or "<script" not in test._repr_html_()
    record = test.to_dict()
    assert record["p_value"] == test.p_value
    assert record["test"] == "z test"
    assert p_text(1e-12, bounded=True) == "p ≤ 1e-12"
    assert "bounded" in record


def test_a_p_value_is_the_largest_alpha_that_holds() -> None:
    """For an interval of known width the p-value is known; beyond the smallest alpha it is that alpha."""
    assert largest_alpha(lambda alpha: (alpha - 1, 1 - alpha), 0.25) == pytest.approx(0.75, abs=1e-3)
    assert largest_alpha(lambda alpha: (-1.0, 1.0), 3.0, 0.01) == 0.01
    assert largest_alpha(lambda alpha: (-1.0, 1.0), 0.0) == 1.0

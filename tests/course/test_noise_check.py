"""Checks of noise: right answers pass, each listed wrong answer is named, and the picture and the words are there."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from dpnb.audit.noise_fit import scale_p_value, shape_p_value
from dpnb.course.noise_check import cells_p_value
from dpnb.course.noise_law import NoiseLaw, independence_p_value
from dpnb.errors import LossError, OptionError
from dpnb.teach import check
from tests.course.students import COUNT, EPSILON, HISTOGRAM, laplace, noisy


def test_a_right_answer_passes():
    """The seed has a part of its own: draws that are looked at twice are not taken for a fixed one."""
    found = COUNT.check(COUNT.right, 1)
    assert found.mistake is None
    assert found.must_pass() is found
    assert found.false_fail <= 1e-4
    said = {part.name: part.said for part in found.parts}
    assert said["privacy"].startswith("nothing found against the claim")


def test_a_scalar_function_is_looped_and_told_so():
    own = np.random.default_rng(7)  # not the check's: a function that takes none

    def scalar(rows, epsilon):
        return len(rows) + own.laplace(0, 1 / epsilon)

    found = check.mechanism(scalar, range(40), expected=40, epsilon=EPSILON, rng=3)
    assert found.passed
    assert "called once for each draw" in found.notes[0]
    assert COUNT.check(COUNT.right, 1).notes == ()


BROKEN = {
    "it fails": lambda rows, size=None, rng=None: rows.nothing,
    "no number": lambda rows, size=None, rng=None: ["x"] * size,
    "one draw only": lambda rows, size=None, rng=None: 40 + rng.laplace(0, 2),
    "undefined": lambda rows, size=None, rng=None: np.full(size, np.nan),
    "one draw for all": lambda rows, size=None, rng=None: np.full(size, 40 + rng.laplace(0, 2)),
    "rounded": lambda rows, size=None, rng=None: np.round(40 + rng.laplace(0, 2, size)),
    "wrong shape": lambda rows, size=None, rng=None: 40 + rng.laplace(0, 2, (size, 3)),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_function_that_cannot_be_right_is_told_why(name):
    found = check.mechanism(BROKEN[name], range(40), expected=40, epsilon=EPSILON, rng=3)
    assert found.mistake.name == name


def test_cells_with_one_noise_are_named_and_cells_with_their_own_pass():
    answer = np.array([3.0, 5.0, 9.0])

    def own(rows, epsilon, size=None, rng=None):
        return answer + rng.laplace(0, 1 / epsilon, (size, 3))

    def shared(rows, epsilon, size=None, rng=None):
        return answer + rng.laplace(0, 1 / epsilon, (size, 1))

    facts = {"expected": answer, "epsilon": EPSILON, "rng": 4}
    assert check.mechanism(own, [1, 2, 3], **facts).passed
    assert check.mechanism(shared, [1, 2, 3], **facts).mistake.name == "same noise in every cell"


def test_gaussian_noise_is_graded_in_rho():
    def gaussian(rows, size=None, rng=None):
        return len(rows) + rng.normal(0, 1 / np.sqrt(2 * 0.1), size)

    assert check.mechanism(gaussian, range(40), expected=40, rho=0.1, law="gaussian", rng=5).passed
    found = check.mechanism(
        COUNT.right, range(40), expected=40, rho=0.1, law="gaussian", arguments={"epsilon": 0.5}
    )
    assert not found.passed


def test_whole_number_noise_is_graded_exactly():
    """Geometric noise passes under its own law, and its misfit is seen at 25 %."""

    def drawn(rng, size, scale):
        tail = 1 - np.exp(-1 / scale)
        return rng.geometric(tail, size) - rng.geometric(tail, size)

    def right(rows, epsilon, size=None, rng=None):
        return len(rows) + drawn(rng, size, 1 / epsilon)

    def larger(rows, epsilon, size=None, rng=None):
        return len(rows) + drawn(rng, size, 1.25 / epsilon)

    facts = {"expected": 40, "epsilon": EPSILON, "law": "geometric", "rng": 6}
    assert check.mechanism(right, range(40), **facts).passed
    assert check.mechanism(larger, range(40), **facts).mistake.name == "more noise than it should be"


@pytest.mark.parametrize("epsilon", [1, 0.9, 1.2])
def test_nothing_is_graded_near_one(epsilon):
    with pytest.raises(LossError, match="inverts"):
        check.mechanism(COUNT.right, range(40), expected=40, epsilon=epsilon)


@pytest.mark.parametrize("rho", [0.5, 0.45])
def test_nothing_is_graded_where_two_rho_is_near_one(rho):
    """There √(2ρ), 2ρ and their inverses are one number, so that every wrong formula would pass."""
    with pytest.raises(LossError, match="are the same"):
        check.mechanism(COUNT.right, range(40), expected=40, rho=rho, law="gaussian")


def test_mistakes_that_give_the_same_noise_are_told_together():
    """At sensitivity 2 half the noise is the noise of a sensitivity of 1: the more particular one is the name."""
    found = HISTOGRAM.check(HISTOGRAM.wrong["wrong sensitivity"], 1)
    assert found.mistake.name == "wrong sensitivity"
    assert "wrong sensitivity, or half the noise, or ε left out" in found.mistake.said


def test_noise_near_a_usual_mistake_is_not_called_by_its_name():
    """4/3 is not √2: with n - 1 for n = 4 nobody took a scale for a standard deviation."""
    wrong = noisy(len, laplace(lambda e: 4 / 3 / e))
    assert COUNT.check(wrong, 1).mistake.name == "more noise than it should be"


def test_an_exercise_that_is_set_wrongly_is_refused():
    with pytest.raises(OptionError, match="also needs bounds"):
        check.mechanism(lambda rows, bounds: 1, range(40), expected=40, epsilon=EPSILON)
    with pytest.raises(OptionError, match="without parentheses"):
        check.mechanism(40.0, range(40), expected=40, epsilon=EPSILON)
    with pytest.raises(LossError, match="rho"):
        check.mechanism(COUNT.right, range(40), expected=40, rho=0.1)


@pytest.mark.parametrize("law", ["laplace", "gaussian", "geometric"])
def test_levels_are_exact(law):
    """Under the law both p-values are uniform: their own distribution is, and their smallest is not too small."""
    target, rng = NoiseLaw(law, 2.0), np.random.default_rng(8)
    draw = {
        "laplace": lambda: rng.laplace(0, 2, 400),
        "gaussian": lambda: rng.normal(0, 2, 400),
        "geometric": lambda: rng.geometric(1 - np.exp(-0.5), 400) - rng.geometric(1 - np.exp(-0.5), 400),
    }[law]
    gammas, shapes = [], []
    for _ in range(400):
        noise = draw().astype(float)
        uniforms = target.uniforms(noise, rng)
        gammas.append(scale_p_value(target.exponentials(noise, uniforms)))
        shapes.append(shape_p_value(uniforms))
    assert shape_p_value(np.array(gammas)) > 1e-4
    assert shape_p_value(np.array(shapes)) > 1e-4


@pytest.mark.parametrize("cells", [1, 5])
def test_the_tests_of_all_cells_keep_their_level(cells):
    """Of noise as it should be, few p-values are small: of 2,000, those below a tenth are at most binomial's 10⁻⁶ point."""
    rng = np.random.default_rng(9)
    for p_value in (
        independence_p_value,
        lambda u: cells_p_value(-np.log(2 * np.minimum(u, 1 - u))),
    ):
        small = sum(p_value(rng.random((200, cells))) < 0.1 for _ in range(2_000))
        assert small <= binom.isf(1e-6, 2_000, 0.1)


def test_a_notebook_shows_the_picture_and_two_lines(monkeypatch):
    """What does not pass is drawn as its card; the error below it says the mistake and the next step, and no more."""
    shown = []
    monkeypatch.setattr("builtins.display", shown.append, raising=False)
    found = COUNT.check(COUNT.wrong["half the noise"], 1)
    with pytest.raises(AssertionError) as raised:
        found.must_pass()
    assert shown == [found]
    assert raised.value._render_traceback_() == [found.headline, f"Next: {found.mistake.step}"]


def test_a_function_that_does_not_run_is_told_no_rates():
    def unwritten(rows, epsilon, size=None, rng=None):
        raise NotImplementedError

    found = check.mechanism(unwritten, range(40), expected=40, epsilon=EPSILON, rng=3)
    assert found.mistake.name == "not written yet"
    assert found.certainty == "Nothing else was checked yet."


def test_a_student_reads_one_line_of_how_often_a_check_errs_and_can_open_the_rates():
    found = COUNT.check(COUNT.right, 1)
    assert found.text.splitlines()[-1].strip() == "A right answer fails this check at most 1 in 10,000 times."
    html = found._repr_mimebundle_()["text/html"]
    summary, _, folded = html.partition("<details")[2].partition("</summary>")
    assert found.short_certainty in summary
    assert "simulated" in folded
    assert "simulated" not in summary

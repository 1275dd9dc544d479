"""Laws, radii and inverted tests of arrays are those of their entries, one by one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import pytest

from dpnb.inference import NoiseSum, accepted, accepted_interval, effective_size, student_inflation
from dpnb.inference.elementwise import choose, greater, inside, lesser, root, subset

RNG = np.random.default_rng(7)


def laws(count):
    """Laws with a Gaussian part or none, no to eight Laplace parts, some equal, some zero, some far apart."""
    made = []
    while len(made) < count:
        scales = RNG.lognormal(0, 1.5, RNG.integers(0, 8)) * (RNG.random() < 0.9)
        scales = [*scales.tolist(), *scales[:1].tolist()] if RNG.random() < 0.3 else scales.tolist()
        variance = float(RNG.lognormal(0, 3)) * (RNG.random() < 0.7)
        if variance or any(scales):
            made.append(NoiseSum(variance, tuple(scales), 0.5))
    return made


def as_arrays(law, copies=3):
    """The same law, as arrays."""
    return NoiseSum(np.full(copies, law.variance), tuple(np.full(copies, b) for b in law.scales), law.slack)


@pytest.mark.parametrize("law", laws(150), ids=lambda law: f"{law.variance:.2g}+{len(law.scales)}")
def test_tails_and_radii_of_arrays_are_those_of_numbers(law):
    """The array formulas agree with the scalar ones from the centre far into the tail."""
    many = as_arrays(law, 5)
    t = law.slack + law.sd * np.array([-0.1, 0.05, 0.5, 2.0, 9.0])
    assert np.allclose(many.tail(t), [law.tail(float(x)) for x in t], rtol=1e-7, atol=1e-13)
    for alpha in (0.5, 0.05, 0.001):
        assert np.allclose(many.radius(alpha), law.radius(alpha), rtol=1e-9)
        assert law.tail(law.radius(alpha)) == pytest.approx(alpha, rel=1e-6)


def test_a_law_without_noise_has_the_radius_of_its_slack():
    """Entries without any noise stand beside others that have some."""
    found = NoiseSum(np.array([0.0, 1.0]), (), 0.5).radius(0.05)
    assert found == pytest.approx([0.5, 0.5 + 1.959964], abs=1e-6)


@dataclass(frozen=True)
class Line:
    """A ratio's test: total - m · size has Laplace noise that grows with m."""

    total: object
    size: object
    first: object
    second: object

    def p_value(self, m):
        law = NoiseSum(0.0, (self.first, self.second * abs(m)), 0.5).plus_normal(0.1 * self.size)
        return law.tail(abs(self.total - m * self.size))


def test_inverted_tests_of_arrays_are_those_of_numbers():
    """Limits of many cells at once equal each cell's own: bounded, clipped by the domain, and empty ones."""
    total, size = RNG.normal(0, 60, 400), RNG.lognormal(3, 1.5, 400)
    first, second = RNG.lognormal(0, 1.5, (2, 400))
    cell = Line(total, size, first, second)
    low, high = accepted(Line.p_value, cell, total / size, -5.0, 5.0, 0.95)
    kinds = set()
    for i in range(400):
        one = Line(*(float(x[i]) for x in (total, size, first, second)))
        theirs = accepted_interval(one.p_value, one.total / one.size, -5.0, 5.0, 0.05)
        assert (low[i], high[i]) == pytest.approx(theirs, abs=1e-8)
        kinds.add("whole" if theirs == (-5.0, 5.0) else "point" if theirs[0] == theirs[1] else "part")
    assert kinds == {"whole", "part", "point"}


def test_an_entry_does_not_depend_on_its_neighbours():
    """Any part of an array is solved to the same bits as the whole: simulations may be cut into pieces."""
    total, size = RNG.normal(0, 60, 300), RNG.lognormal(3, 1, 300)
    cell = Line(total, size, np.full(300, 2.0), np.full(300, 0.7))
    whole = accepted(Line.p_value, cell, total / size, -5.0, 5.0, 0.9)
    for piece in (slice(0, 7), slice(100, 300)):
        part = accepted(Line.p_value, subset(cell, (300,), piece), (total / size)[piece], -5.0, 5.0, 0.9)
        assert np.array_equal(part[0], whole[0][piece])
        assert np.array_equal(part[1], whole[1][piece])


def test_the_search_survives_a_start_where_every_p_value_is_one():
    """Noise below the grid step leaves p at one for half a step: the search grows out of it."""
    for sd in (1e-6, 1e-3, None):
        one = accepted_interval(
            lambda m: NoiseSum(0.0, (0.01,), 0.5).tail(abs(m) * 100), 0.0, -1.0, 1.0, 0.05, sd=sd
        )
        assert one[1] == pytest.approx((0.5 + 0.01 * math.log(20)) / 100, abs=1e-9)
        many = accepted(
            lambda cell, m: NoiseSum(0.0, (cell[0],), 0.5).tail(abs(m) * 100),
            (np.full(2, 0.01),),
            np.zeros(2),
            -1.0,
            1.0,
            0.95,
            sd=sd,
        )
        assert np.allclose(many[1], one[1], atol=1e-9)


def test_small_functions_take_numbers_and_arrays():
    """Floats stay floats and arrays are taken entry by entry."""
    a, b = np.array([1.0, 5.0]), 3.0
    assert type(lesser(1.0, 2.0)) is float
    assert lesser(a, b).tolist() == [1, 3]
    assert greater(a, b).tolist() == [3, 5]
    assert inside(a, 2.0, 4.0).tolist() == [2, 4]
    assert root(a**2).tolist() == [1, 5]
    assert root(4.0) == 2
    assert choose(a > b, a, b).tolist() == [3, 5]
    assert choose(True, 1.0, 2.0) == 1
    for n, sampling, noise in ((50.0, 2.0, 1.0), (0.0, 2.0, 1.0), (9.0, 0.0, 0.0), (9.0, math.inf, 1.0)):
        many = effective_size(np.array([n]), np.array([sampling]), np.array([noise]))
        assert many[0] == effective_size(n, sampling, noise)
    assert student_inflation(np.array([2.0, 30.0]))[1] == student_inflation(30.0)

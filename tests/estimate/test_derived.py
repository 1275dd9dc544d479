"""What a plan says of derived values: exact for sums, a bound for one number, first order for several, a reason elsewhere."""

from __future__ import annotations

import numpy as np
import pytest

import dpnb
from dpnb.cards.plan import derived_words, plan_card
from dpnb.estimate import Estimate
from dpnb.estimate.derived import forecast, law_of
from dpnb.inference import NoiseSum
from dpnb.planner.forecast import NORMAL, Forecast, Law, half_widths, radius


def told(data, value, **asked):
    """The forecast of one derived value in a plan of the questions under it, and its half-widths."""
    leaves = {f"q{i}": Estimate.leaf(one) for i, one in enumerate(value.leaves())}
    view = dpnb.plan({**leaves, "d": value}, **{"epsilon": 1, "assume_n": 30, **asked})
    look = view.outlook()
    assert look.names == ("d",)
    (found,) = look.forecasts
    halves = (None, None) if found.kind == "none" else half_widths(found, look.laws, look.widths)
    return view, found, halves


def test_a_sum_has_the_radius_of_the_sum_of_the_noises(data):
    """A difference of two counts: the law that intervals are computed with, at the scales that are priced."""
    a, b = data[data.g == 1].count(), data[data.y == 1].count()
    view, found, (_, width) = told(data, a - 2 * b + 5)
    scales = [float(item.parts[0].mechanism.scale) for item in view.items]
    shapes = [
        radius_of / NoiseSum(0.0, (s,)).radius(0.05)
        for radius_of, s in zip(widths(view), scales, strict=True)
    ]
    exact = NoiseSum(0.0, (scales[0] * shapes[0], 2 * scales[1] * shapes[1])).radius(0.05)
    assert found.kind == "sum"
    assert width == pytest.approx(exact, rel=1e-9)


def widths(view):
    """The 95 % radii of a plan's questions."""
    return [item.preview.half_width for item in view.items]


def test_a_planned_sum_covers_what_is_drawn(data):
    """Of 40,000 draws of the priced noise 95 % lie within the planned radius, and a tenth less would not do."""
    a, b = data.x.sum(), data[data.g == 1].count()
    view, _, (_, width) = told(data, a + 3 * b)
    rng = np.random.default_rng(5)
    laws = [item.parts[0].mechanism for item in view.items]
    noise = sum(
        factor * (rng.laplace(0, float(law.scale), 40_000)) for factor, law in zip((1, 3), laws, strict=True)
    )
    inside = (np.abs(noise) <= width).mean()
    assert 0.945 < inside < 0.975
    assert (np.abs(noise) <= 0.9 * width).mean() < 0.947


def test_one_number_s_image_is_bounded_wherever_it_lies(data):
    """No interval of sqrt(m (1 - m)) that a release can give is wider than the bound; near the ends it is nearly that wide."""
    m = data.y.mean()
    _, found, (middle, worst) = told(data, (m * (1 - m)) ** 0.5)
    reach = widths(told(data, m + 0)[0])[0]
    assert found.kind == "one"
    halves = []
    for value in np.linspace(0, 1, 501):
        points = np.clip(np.linspace(value - reach, value + reach, 401), 0, 1)
        image = np.sqrt(points * (1 - points))
        halves.append((image.max() - image.min()) / 2)
    assert max(halves) <= worst * 1.001
    assert max(halves) >= worst * 0.98
    assert halves[250] == pytest.approx(middle, rel=0.02)


def test_several_numbers_are_first_order_in_the_middle_and_at_their_largest(data):
    """Of a product of two shares the slopes are the other share: a half in the middle, at most one."""
    a, b = data.y.mean(), data.g.mean()
    view, found, (middle, worst) = told(data, a * b)
    both = [(0, (1.0,)), (1, (1.0,))]
    whole = radius(both, view.outlook().laws, view.outlook().widths)
    assert found.kind == "many"
    assert worst == pytest.approx(whole, rel=1e-6)
    assert middle == pytest.approx(whole / 2, rel=1e-6)


@pytest.mark.parametrize(
    ("make", "kind", "words"),
    [
        pytest.param(
            lambda d: d.y.mean() / d.g.mean(), "many", "no bound: a denominator may be zero", id="ratio"
        ),
        pytest.param(lambda d: 1 / d.y.mean(), "none", "a denominator may be zero", id="reciprocal"),
        pytest.param(
            lambda d: np.log(d.y.mean()), "none", "not defined over the whole range", id="logarithm"
        ),
        pytest.param(lambda d: d.x.median() + 1, "none", "as that of small.x.quantile(0.5)", id="median"),
        pytest.param(lambda d: d.x.histogram(bins=5).sum(), "sum", "±", id="sum of bins"),
        pytest.param(lambda d: d.x.histogram(bins=5).cumsum(), "sum", "each", id="running sum"),
        pytest.param(lambda d: d.x.mean() - d.x.mean(), "sum", "± 0", id="itself"),
    ],
)
def test_each_kind_is_said_in_words(data, make, kind, words):
    """What can be said is said; what cannot has its reason, and the plan is there all the same."""
    view, found, _ = told(data, make(data))
    assert found.kind == kind
    assert words in plan_card(view).text


def test_a_value_of_released_and_planned_answers_counts_both(data):
    """What was released before lies in its own interval and takes part with that half-width."""
    before = dpnb.release({"m": data.y.mean()}, epsilon=2, assume_n=30)["m"]
    alone, _, (_, one) = told(data, data.g.mean() + 0)
    low, high = before.interval(0.95, "privacy")
    view = dpnb.plan({"g": (g := data.g.mean()), "d": g - before}, epsilon=1, assume_n=30)
    look = view.outlook()
    (found,) = look.forecasts
    _, both = half_widths(found, look.laws, look.widths)
    assert one < both < one + (high - low) / 2
    assert len(alone.items) == 1


def test_a_tighter_noise_gives_a_tighter_forecast(data):
    """Twice the loss halves the half-width of a sum, and the coefficients do not move: the browser keeps them."""

    def value():
        return data[data.g == 1].count() - data[data.y == 1].count()

    _, first, (_, wide) = told(data, value(), epsilon=1)
    _, second, (_, narrow) = told(data, value(), epsilon=2)
    assert first.points == second.points
    assert narrow == pytest.approx(wide / 2, rel=0.1)


def test_a_private_size_is_planned_with_all_rows_and_says_so(data):
    """Without ``assume_n=`` the ± of what is computed from means with missing values is that of all public rows, in words too."""
    value = data.y.mean() - 0.1 * data[data.g == 1].x.mean()
    view, found, (_, width) = told(data, value, assume_n=None)
    _, planned, (_, same) = told(data, value, assume_n=40)
    assert [item.preview.half_width for item in view.items] == [None, None]
    assert found.given == "if 40 people count"
    assert planned.given == ""
    assert width == pytest.approx(same, rel=1e-12)
    words = derived_words(found, view.outlook().laws, view.outlook().widths, [])
    assert words.endswith(", if 40 people count")
    assert words in str(plan_card(view).html)


def test_wider_noise_is_seen_in_derived_values(data):
    """A law with a quarter more noise gives a quarter more of ± to what is computed from it."""
    laws = [Law(0.0, (0.33,)), NORMAL]
    point = ((0, (1.0,)), (1, (0.5,)))
    assert radius(point, laws, [1.25, 1.25]) == pytest.approx(1.25 * radius(point, laws, [1.0, 1.0]))


def test_a_planned_law_has_radius_one(data):
    """Laws are shapes: alone, with coefficient one, a question's ± is its own."""
    view = dpnb.plan([data.x.mean(), data.x.sum(), data.y.mean()], epsilon=1, assume_n=30)
    for item in view.items:
        law = law_of(item, item.checked.price(item.share), 30)
        assert radius(((0, (1.0,)),), [law], [3.0]) == pytest.approx(3.0, rel=1e-9)


def test_nothing_is_planned_of_a_value_without_a_plan(data):
    """An expression over a question that is not in the plan has a reason and no number."""
    found = forecast(data.x.mean() * 2, [])
    assert (found.kind, found.points) == ("none", ())
    assert "small.x.mean()" in derived_words(found, [], [], [])


def test_a_forecast_is_strict_json():
    """What crosses to the browser has no infinity, and no zero where a logarithm is taken."""
    one = Forecast("one", of=0, reach=((0.1, 0.0, 0.2), (1.0, 0.5, 2.0)), centre=0.5)
    assert one.to_json()["reach"] == {"loss": [0.1, 1.0], "middle": [1e-300, 0.5], "worst": [0.2, 2.0]}

"""Truth is what the same question answers without noise; draws and laws are those of the noise that was really added."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dpnb
from dpnb.cards.facts import line_of
from dpnb.cards.released import line_html, line_text
from dpnb.client import matrix_plan
from dpnb.datasets.preparation import prepare
from dpnb.errors import OptionError, Unavailable
from dpnb.inference.simulated_release import add_noise
from dpnb.planner import Question
from dpnb.planner.matrix_forecast import forecast
from dpnb.simulate.studies import released as simulated
from dpnb.statistics import conclude
from dpnb.statistics.regression_readings import coefficients
from dpnb.trusted.mechanisms import DiscreteLaplace
from tests.contracts.questions import SAMPLES, asked
from tests.teach.conftest import declared, toy

RAW = toy()
X, Y, G, T = RAW["x"], RAW["y"], RAW["g"], RAW["t"]


def card(estimate):
    """What a released card says, as HTML."""
    return str(line_html(line_of(estimate)))


def released(estimate, epsilon=2):
    """An estimate, released."""
    dpnb.release([estimate], epsilon=epsilon)
    return estimate


def by(values, keys, of):
    """A figure of each group."""
    return [of(values[keys == key]) for key in sorted(set(keys.tolist()))]


EXPECTED = {
    "count": (lambda d: d.count(), len(X)),
    "filtered count": (lambda d: d[d.x > 40].count(), np.sum(X > 40)),
    "sum": (lambda d: d.x.sum(), X.sum()),
    "mean": (lambda d: d.x.mean(), X.mean()),
    "grouped mean": (lambda d: d.groupby("g").x.mean(), by(X, G, np.mean)),
    "variance": (lambda d: d.x.var(), X.var()),
    "deviation": (lambda d: d.y.std(), Y.std()),
    "median": (lambda d: d.x.median(), np.sort(X)[len(X) // 2 - 1]),
    "quantiles": (lambda d: d.x.quantile([0.1, 0.9]), np.quantile(X, [0.1, 0.9], method="inverted_cdf")),
    "histogram": (lambda d: d.x.histogram(5), np.histogram(X, np.linspace(0, 100, 6))[0]),
    "tallies": (lambda d: d.g.value_counts(), by(G, G, len)),
    "crosstab": (
        lambda d: d.crosstab("g", "t"),
        [[np.sum((g == G) & (t == T)) for t in (0, 1)] for g in "abc"],
    ),
    "difference": (lambda d: d.x.difference(by="t"), X[T == 1].mean() - X[T == 0].mean()),
    "covariance": (lambda d: d.x.covariance("y"), np.cov(X, Y, ddof=0)[0, 1]),
    "correlation": (lambda d: d.x.correlation("y"), np.corrcoef(X, Y)[0, 1]),
    "robust mean": (lambda d: d.x.robust_mean(), X.mean()),
    "mode": (lambda d: d.g.mode(), 0),
    "two most frequent": (lambda d: d.g.top_k(2), [0, 1]),
    "slope": (lambda d: d.ols("y ~ x").estimate, np.polyfit(X, Y, 1)[::-1]),
}


@pytest.mark.parametrize("name", EXPECTED)
def test_the_truth_is_what_numpy_says(data, name):
    """Of the raw rows, whatever noise the release had, for every statistic that has a plain meaning."""
    ask, expected = EXPECTED[name]
    estimate = released(ask(data), 0.5)
    coarse = {"correlation": 1e-3, "slope": 1e-3}.get(name, 1e-9)
    np.testing.assert_allclose(estimate.truth, expected, rtol=coarse)


def test_the_truth_goes_through_arithmetic_and_readings(data):
    """A derived estimate and what is read from a tree have a truth too."""
    a, b, tree = data.x.sum(), data.count(), data.x.tree()
    dpnb.release([a, b, tree], epsilon=3)
    assert (a / b).truth == pytest.approx(X.mean())
    np.testing.assert_allclose(
        released(data.groupby("g").x.mean(), 3).truth - X.mean(), np.subtract(by(X, G, np.mean), X.mean())
    )
    assert tree.median().truth == pytest.approx(np.median(X), abs=1)


def test_what_lies_beyond_the_bounds_is_clamped_in_the_truth_too(session):
    """Truth is of the question that was asked: a teacher shows the cost of a bound with two bounds."""
    del session
    narrow = {**declared()["columns"], "x": {"type": "integer", "lower": 0, "upper": 40}}
    data = dpnb.open(RAW, schema=declared(name="narrow", columns=narrow), quiet=True)
    assert released(data.x.mean()).truth == pytest.approx(np.minimum(X, 40).mean())


def test_values_that_were_shown_have_exact_counts(session):
    """Frequent values: the truth is of the values that the threshold let through."""
    del session
    facts = declared(name="delta", budget={"epsilon": 9, "delta": 1e-6})
    data = dpnb.open(RAW, schema=facts, quiet=True)
    found = released(data.x.frequent_values(), 1.7)
    assert found.size
    np.testing.assert_array_equal(found.truth, [np.sum(float(key) == X) for key in found.keys])
    with pytest.raises(Unavailable, match="depends on the noise, so draws differ"):
        found.redraw(5)


@pytest.mark.parametrize("epsilon", ["1/10", "1"])
def test_draws_follow_the_law_of_the_noise(data, epsilon):
    """Chi-square of 20,000 draws of a count against its law; noise 10 % wider is told apart from it."""
    count = released(data.count(), epsilon)
    draws, law = count.redraw(20_000, 3), count.law
    assert law.probabilities.sum() == pytest.approx(1, abs=1e-9)
    assert law.mean == pytest.approx(len(X))
    assert law.pmf(len(X)) == law.probabilities.max()

    def p_value(drawn):
        edges = np.unique(stats.norm.ppf(np.linspace(0.02, 0.98, 25), law.mean, law.sd).round())
        seen = np.histogram(drawn, [-np.inf, *(edges + 0.5), np.inf])[0]
        below = np.array([law.probabilities[law.support <= edge].sum() for edge in edges])
        return stats.chisquare(seen, np.diff([0, *below, 1]) * len(drawn)).pvalue

    wider = DiscreteLaplace(Fraction(11, 10) / Fraction(epsilon))
    assert p_value(draws) > 1e-4
    assert p_value(add_noise(wider, np.full(20_000, len(X)), np.random.default_rng(8))) < 1e-4


def test_draws_of_a_selection_follow_its_candidates(data):
    """Each candidate is drawn as often as its true score says; the labels stand beside."""
    mode = released(data.g.mode(), "0.02")
    law, draws = mode.law, mode.redraw(20_000, 4)
    assert law.candidates == ("a", "b", "c")
    assert law.pmf("b") == law.probabilities[1]
    assert law.pmf(["c", "z"]).tolist() == [law.probabilities[2], 0]
    assert f"most likely {'abc'[np.argmax(law.probabilities)]}" in repr(law)
    seen = [np.sum(draws == place) for place in law.support]
    assert stats.chisquare(seen, law.probabilities * len(draws)).pvalue > 1e-4
    median = released(data.x.median(), "0.05")
    seen = np.histogram(median.redraw(4_000, 5), [-np.inf, 36.5, 40.5, 43.5, 46.5, 50.5, np.inf])[0]
    places = np.searchsorted([36.5, 40.5, 43.5, 46.5, 50.5], median.law.support)
    chances = np.bincount(places, weights=median.law.probabilities)
    assert stats.chisquare(seen, chances * seen.sum()).pvalue > 1e-4
    assert list(median.law.table().columns["probability"]) == median.law.probabilities.tolist()


def test_a_shared_draw_is_drawn_once(data):
    """Two answers from one noised vector move together, as the releases do: their difference has one noise, not two."""
    mean, spread = data.x.mean(), data.x.var()
    dpnb.release([mean, spread], epsilon=1)
    draws = {part.draw for part in mean.releases[0].parts} & {part.draw for part in spread.releases[0].parts}
    assert draws
    again = mean - mean * 1
    assert np.abs(again.redraw(50, 1)).max() == 0
    both = (mean + spread * 0).redraw(400, 2)
    assert both.std() == pytest.approx(mean.redraw(400, 3).std(), rel=0.3)


def test_draws_have_the_shape_of_the_answer_and_cover_the_truth(data):
    """Intervals around drawn values hold the truth as often as they claim."""
    grouped = released(data.groupby("g").x.mean(), 1)
    drawn = grouped.redraw(300, 7)
    assert drawn.shape == (300, 3)
    half = np.diff(grouped.interval(0.95, "privacy"), axis=0)[0] / 2
    assert (np.abs(drawn - grouped.truth) <= half).mean() > 0.9


@pytest.mark.parametrize("count", [0, -1, 2.5, True, "many", 10**6])
def test_a_count_of_draws_that_is_none_is_refused(data, count):
    """From 1 to 100,000."""
    with pytest.raises(OptionError, match="from 1 to 100,000"):
        released(data.count()).redraw(count)


@pytest.mark.parametrize(
    ("ask", "says"),
    [
        (lambda d: d.x.mean(), "several noised numbers"),
        (lambda d: d.g.value_counts(), "no law that can be listed"),
        (lambda d: d.count() * 2, "one question"),
    ],
)
def test_what_has_no_listed_law_says_what_to_look_at(data, ask, says):
    """Several noised numbers, several answers, arithmetic."""
    with pytest.raises(Unavailable, match=says) as refused:
        _ = released(ask(data)).law
    assert ".redraw(1000)" in str(refused.value)


def test_protected_data_have_no_truth(session):
    """By type: the handle has no rows, and each property says so; nothing is spent by asking."""
    del session
    shown = dpnb.open("incentive33", mode="guard-rail", quiet=True)
    name = next(column.name for column in shown.schema.columns if column.numeric)
    answer = released(shown[name].mean(), 0.1)
    assert not hasattr(type(shown), "public_rows")
    for look in (lambda: answer.truth, lambda: answer.law, lambda: answer.redraw(10)):
        with pytest.raises(Unavailable, match="protected"):
            look()
    assert answer.overlay is None
    mixed = answer + released(dpnb.open("incentive33", quiet=True)[name].mean(), 0.1)
    with pytest.raises(Unavailable, match="protected"):
        _ = mixed.truth


@pytest.mark.parametrize("form", ["csv", "parquet", "toml"])
def test_a_public_file_is_read_by_the_kernel_too(session, tmp_path, form):
    """Texts, missing fields and quotes mean what they mean to the curator."""
    del session
    columns = declared()["columns"]
    path = tmp_path / ("toy.parquet" if form == "parquet" else "toy.csv")
    if form == "parquet":
        pytest.importorskip("pandas").DataFrame(RAW).to_parquet(path)
    else:
        rows = zip(*(RAW[name].tolist() for name in columns), strict=True)
        lines = [";".join(columns), '"";0.5;"a";1', *(";".join(map(str, row)) for row in rows)]
        path.write_text("\n".join(lines))
    facts = declared(name="filed", source=path.name)
    if form == "toml":
        body = ['[dataset]\nname = "filed"\nadjacency = "add-remove"\nmode = "teaching"\npublic = true']
        body += [f'source = "{path.name}"\n[budget]\nepsilon = 100']
        for name, column in columns.items():
            facts_of = "\n".join(
                f"{key} = {str(value).replace(chr(39), chr(34)) if not isinstance(value, str) else repr(value).replace(chr(39), chr(34))}"
                for key, value in column.items()
            )
            body.append(f"[columns.{name}]\n{facts_of}")
        (tmp_path / "filed.dpnb.toml").write_text("\n".join(body))
        data = dpnb.open(tmp_path / "filed.dpnb.toml", quiet=True)
    else:
        data = dpnb.open(path, schema=facts, quiet=True)
    total, tallies = data.x.sum(), data.g.value_counts()
    dpnb.release([total, tallies], epsilon=50)
    assert total.truth == X.sum()
    assert total.truth == pytest.approx(float(total), abs=400)
    np.testing.assert_allclose(tallies.truth, by(G, G, len), atol=1)


def test_a_handle_on_public_data_does_not_call_them_protected(data):
    """What is TEACHING says what its data are."""
    assert repr(data) == "<toy: toy, TEACHING; public or made-up data>"
    assert repr(data.x).endswith("missing rows leave; public or made-up data>")


def test_the_truth_on_a_card_is_the_truth(data):
    """However wide the noise beside it: a share of .544 is not told as 1."""
    shown = dpnb.open(toy(), schema=declared(), quiet=True, truth=True)
    assert shown is data
    shares = [released((shown.x > 3).mean(), amount) for amount in (1e-5, 2e-5, 3e-5)]
    lost = [one for one in shares if one.value in {0, 1}]  # the noise alone decides
    assert lost
    for share in lost:
        line = line_of(share)
        (entry,) = line.entries
        assert "." not in line.answer(entry) + line.span(entry.privacy)
        assert float(line.true(entry)) == pytest.approx(share.truth, rel=0.005)


def test_cards_and_plots_show_the_truth_where_it_was_asked_for(data):
    """Marked as of public data; nothing of it without ``truth=True``."""
    plain = released(data.x.mean(), 5)
    assert "public data" not in card(plain)
    shown = dpnb.open(toy(), schema=declared(), quiet=True, truth=True)
    assert shown is data
    asked = [plain, released(shown.crosstab("g", "t"), 5), released(shown.groupby("g").x.mean(), 5)]
    for one in asked:
        assert "truth (public data)" in card(one)
        assert "truth (public data)" in line_text(line_of(one))
    axes = released(shown.groupby("g").x.mean(), 5).plot()
    assert "truth (public data)" in axes.get_legend_handles_labels()[1]
    curve = released(shown.x.tree(), 5).cdf()
    assert "dotted: the truth (public data)" in card(curve)
    assert "truth (public data)" not in plain.plot(truth=False).get_legend_handles_labels()[1]
    with pytest.raises(OptionError, match="not both"):
        plain.plot(truth=True, beside=3.0)
    dpnb.open(toy(), schema=declared(), quiet=True, truth=False)
    assert plain.overlay is None


ASKED = [(name, place) for name, samples in SAMPLES.items() for place in range(len(samples))]
CONTRACT = {
    "x": {"type": "number", "lower": 0, "upper": 100, "step": 1},
    "y": {"type": "number", "lower": 0, "upper": 10, "step": 1, "weights_fixed": True},
    "b": {"type": "category", "values": [0, 1]},
    "g": {"type": "category", "values": ["u", "v", "w"]},
}
FIGURES = ("value", "noise_sd", "n", "n_eff", "standard_error")


def figures(outcome):
    """Every number that a card shows of an answer: entries in one row, and how many there are."""
    found = {name: getattr(outcome, name) for name in FIGURES}
    for kind in ("privacy", "confidence"):
        try:
            ends = outcome.interval(0.95, kind)
        except Unavailable:
            continue
        found |= {f"{kind} low": ends.low, f"{kind} high": ends.high}
    rows = {name: np.ravel(one) for name, one in found.items() if one is not None}
    return {**rows, "entries": np.array([rows["value"].size]), "flags": np.array([len(outcome.flags)])}


def least_likely(one, other):
    """The smallest p-value of two-sample tests of every figure's first entries, and its figure."""
    found = [(1.0, "")]
    for name in {name for each in (*one, *other) for name in each}:
        first, second = ([each.get(name, np.empty(0)) for each in some] for some in (one, other))
        for entry in range(min(6, *(row.size for row in (*first, *second)))):
            pair = [np.nan_to_num([row[entry] for row in rows]) for rows in (first, second)]
            found.append((float(stats.ks_2samp(*pair, method="asymp").pvalue), f"{name}[{entry}]"))
    return min(found)


@pytest.fixture
def small(session):
    """Sixty rows of the columns of the sample questions, opened; and the rows."""
    del session
    rng, n = np.random.default_rng(4), 60
    rows = {"x": rng.integers(0, 101, n) * 1.0, "y": rng.integers(0, 11, n) * 1.0, "b": rng.integers(0, 2, n)}
    rows["g"] = np.array(["u", "v", "w"], dtype=object)[rng.integers(0, 3, n)]
    facts = declared(name="small", columns=CONTRACT, budget={"epsilon": 100_000, "delta": 1e-2})
    return dpnb.open(rows, schema=facts, quiet=True), rows


@pytest.mark.soak
@pytest.mark.parametrize(("name", "place"), ASKED)
@pytest.mark.parametrize("epsilon", [0.5, 5])
def test_what_is_simulated_is_what_a_curator_releases(small, name, place, epsilon):
    """Each number of 200 simulated releases has the law of 200 real ones, of every statistic; and each answer drawn anew."""
    (data, rows), sample, read = small, SAMPLES[name][place], [conclude]
    if name == "moments":
        read.append(lambda checked, releases: coefficients(checked.setting, "x ~ y").conclude(releases))
    item = asked(sample, name, data.schema, "epsilon", epsilon)
    table, rng = prepare(rows, data.schema), np.random.default_rng(1)
    estimates = [data._asked(Question("small", name, **sample)) for _ in range(200)]
    for one in estimates:
        dpnb.release([one], epsilon=epsilon, fresh=True)
    real = [one.measurement.releases[-1:] for one in estimates]
    made = [[simulated(item, table, rng)] for _ in range(200)]
    for concluded in read:
        found, drawn = ([figures(concluded(item.checked, each)) for each in some] for some in (real, made))
        assert least_likely(found, drawn)[0] > 1e-9, least_likely(found, drawn)
    if item.checked.shape is not None:
        values = [{"value": np.ravel(conclude(item.checked, each).value)} for each in real]
        redrawn = [{"value": np.ravel(one)} for one in estimates[0].redraw(200, 2)]
        assert least_likely(values, redrawn)[0] > 1e-9, least_likely(values, redrawn)


@pytest.mark.soak
@pytest.mark.parametrize("epsilon", [1, 5])
def test_what_is_planned_is_what_a_curator_releases(small, epsilon, monkeypatch):
    """Half-widths that a plan tells, of a mean and of a regression, are the middle ones of real releases.

    A plan of 60 studies is only as good as a middle of 60: here it has 2,000. The share of real half-widths below theirs is then
    one half, but for the chance in both: eight shares stay within five standard errors.
    """
    planned, real = 2000, 400
    monkeypatch.setattr(matrix_plan, "forecast", lambda *given: forecast(*given[:6], planned, *given[7:]))
    (data, rows), facts = small, {}
    for name, of in (("mean", np.mean), ("sd", np.std)):
        facts[name] = [float(of(rows[column])) for column in ("x", "y")]
    tie = float(np.corrcoef(rows["x"], rows["y"])[0, 1])
    mean = dpnb.power(data.x.mean(), n=60, epsilon=epsilon, **{name: one[0] for name, one in facts.items()})
    for kind, half, widths in halves(data.x.mean, mean.accuracy, epsilon, 60):
        np.testing.assert_allclose(half, np.median(widths, axis=0), rtol=0.15, err_msg=kind)

    def slope():
        return data.moments("x", "y").coefficients("x ~ y")

    found = dpnb.power(slope(), n=60, epsilon=epsilon, **facts, correlation=tie).found
    for kind, half, widths in halves(slope, found, epsilon, real):
        below = (widths < half).mean(axis=0)
        assert (abs(below - 0.5) <= 5 * math.sqrt(0.25 / planned + 0.25 / real)).all(), (kind, half, below)


def halves(asking, planned, epsilon, times):
    """Pairs of a planned half-width and real ones, by their kind."""
    real = [asking() for _ in range(times)]
    for one in real:
        dpnb.release([one], epsilon=epsilon, fresh=True)
    for kind in ("privacy", "confidence"):
        widths = np.stack([np.ravel(one.interval(0.95, kind).half_width) for one in real])
        yield kind, np.ravel(getattr(planned, kind)), widths

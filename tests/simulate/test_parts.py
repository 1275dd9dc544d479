"""The parts of a simulation: populations and their parameters, exact answers of many studies, truths, selections, methods."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

from dpnb import simulate
from dpnb.datasets.exact_answers import answer
from dpnb.errors import PlanError, SchemaError, Unavailable
from dpnb.inference.selection_law import probabilities
from dpnb.simulate.exact import TRUTHS, Block, totals
from dpnb.simulate.studies import select, weights
from dpnb.trusted.aggregate.algebra import Cmp, Col, Key, Known, Lit, Mul, Total
from dpnb.trusted.aggregate.reference import Ints, Table
from dpnb.trusted.mechanisms import QuantileFlip, QuantileSelection
from dpnb.trusted.schema import Column

RNG = np.random.default_rng(5)
LAWS = {
    "beta": (simulate.beta(2, 5), stats.beta(2, 5, scale=100)),
    "normal": (simulate.normal(40, 30), None),
    "lognormal": (simulate.lognormal(3, 1, upper=200, step=1), None),
    "bernoulli": (simulate.bernoulli(0.3), stats.bernoulli(0.3)),
    "outliers": (simulate.with_outliers(simulate.beta(2, 5), 0.1), None),
}


def parameter(population, statistic, **asked):
    """The population's parameter that a simulation compares with."""
    found = simulate.stream(statistic, population, 50, 1, "confidence", reps=1, **asked)
    from dpnb.simulate.coverage import Run

    design = next(found).design
    return Run(design, 50).parameter


@pytest.mark.parametrize("name", LAWS)
def test_built_in_laws_draw_what_their_probabilities_say(name):
    """A chi-square test of 200,000 draws on twenty groups of grid points, at a false alarm of 1e-6."""
    law, _ = LAWS[name]
    drawn = law.draw(np.random.default_rng(1), 200, 1000)["x"].values
    groups = np.searchsorted(
        np.linspace(0, 1, 21)[1:-1], np.cumsum(law.probabilities) - law.probabilities / 2
    )
    expected = np.bincount(groups, law.probabilities, 20) * drawn.size
    seen = np.bincount(groups[drawn], minlength=20)
    kept = expected > 5
    assert stats.chi2.sf(((seen - expected)[kept] ** 2 / expected[kept]).sum(), kept.sum()) > 1e-6


@pytest.mark.parametrize("name", ["beta", "bernoulli"])
def test_parameters_of_built_in_laws_are_those_of_the_field(name):
    """On a fine grid mean, variance and quantile agree with the continuous law's."""
    law, theirs = LAWS[name]
    assert parameter(law, "mean")[0] == pytest.approx(theirs.mean(), abs=1e-3)
    assert parameter(law, "variance")[0] == pytest.approx(theirs.var(), abs=0.02)
    if name == "beta":
        assert parameter(law, "quantile", q=0.25)[0] == pytest.approx(theirs.ppf(0.25), abs=0.1)


def test_clipped_laws_have_their_mass_at_the_bounds():
    """What lies beyond a bound counts at the bound."""
    law, _ = LAWS["normal"]
    assert law.probabilities[0] == pytest.approx(stats.norm(40, 30).cdf(0.05))
    assert law.probabilities[-1] == pytest.approx(stats.norm(40, 30).sf(99.95))


def test_an_array_is_resampled_with_all_its_columns_together():
    """Rows stay whole, missing values stay missing, and the parameters are the table's own."""
    table = {"x": np.array([1.0, 5.0, np.nan, 9.0]), "g": np.array(["a", "b", "a", "b"])}
    columns = [Column.number("x", 0, 10, step=1), Column.category("g", ["a", "b"])]
    people = simulate.resampled(table, columns)
    drawn = people.draw(np.random.default_rng(1), 10, 40)
    assert set(zip(drawn["x"].tolist(), drawn["g"].tolist(), strict=True)) == {
        (1, 0),
        (5, 1),
        (None, 0),
        (9, 1),
    }
    assert parameter(people, "mean", by="g").tolist() == [1.0, 7.0]


def test_functions_are_populations():
    """A function draws whole blocks; a wrong shape and a missing column are named."""
    columns = [Column.number("x", 0, 1, step=Fraction(1, 100), missing=0)]
    people = simulate.population(lambda rng, shape: rng.random(shape), columns)
    assert len(people.draw(np.random.default_rng(1), 3, 4)["x"]) == 12
    assert parameter(people, "mean")[0] == pytest.approx(0.5, abs=0.005)
    with pytest.raises(PlanError, match="shape"):
        simulate.drawn(lambda rng, shape: rng.random(3), columns).draw(RNG, 2, 3)
    with pytest.raises(SchemaError, match="'x'"):
        simulate.drawn(lambda rng, shape: {"y": rng.random(shape)}, columns).draw(RNG, 2, 3)
    for bad in (lambda: simulate.bernoulli(1.5), lambda: simulate.with_outliers(simulate.beta(2, 5), 0)):
        with pytest.raises(PlanError, match="between 0 and 1"):
            bad()


REQUESTS = [
    Total(Lit(1)),
    Total(Col("x")),
    Total(Mul(Col("x"), Col("y"))),
    Total(Col("x"), Known(Col("y")), (Key(Col("g"), 3),)),
    Total(Lit(1), Cmp("<", Col("x"), Lit(3)), (Key(Col("g"), 2), Key(Col("y"), 4))),
    Total(Mul(Mul(Col("x"), Lit(2**50)), Lit(2**8))),
    Total(Mul(Col("x"), Lit(2**45)), None, (Key(Col("g"), 3),)),
]


@pytest.mark.parametrize("request_", REQUESTS, ids=str)
@pytest.mark.parametrize("missing", [True, False])
def test_exact_answers_of_many_studies_are_those_of_each(request_, missing):
    """Totals of all studies at once equal the reference evaluator's, study by study, without and with missing values and keys."""
    columns = {
        name: Ints(RNG.integers(0, 5, 60), RNG.random(60) < 0.8 if missing else np.ones(60, dtype=bool))
        for name in "xyg"
    }
    block = Block(Table(columns, 60), 6, 10)
    (found,) = totals(block, [request_])
    theirs = [list(answer(block.study(place), [request_])[0]) for place in range(6)]
    assert found.tolist() == theirs


def test_truths_are_numpys():
    """What is called true of a dataset is what numpy says, group by group."""
    people = simulate.drawn(
        lambda rng, shape: {
            "x": rng.integers(0, 11, shape),
            "y": rng.integers(0, 11, shape),
            "g": rng.integers(0, 2, shape),
        },
        [
            Column.integer("x", 0, 10, missing=0),
            Column.integer("y", 0, 10, missing=0),
            Column.category("g", [0, 1]),
        ],
    )
    wanted = {
        "mean": lambda x, y, g: [x[g == k].mean() for k in (0, 1)],
        "variance": lambda x, y, g: [x[g == k].var() for k in (0, 1)],
        "std": lambda x, y, g: [x[g == k].std() for k in (0, 1)],
        "sum": lambda x, y, g: [x[g == k].sum() for k in (0, 1)],
        "quantile": lambda x, y, g: [np.quantile(x[g == k], 0.3, method="inverted_cdf") for k in (0, 1)],
        "covariance": lambda x, y, g: [np.cov(x[g == k], y[g == k], ddof=0)[0, 1] for k in (0, 1)],
        "correlation": lambda x, y, g: [np.corrcoef(x[g == k], y[g == k])[0, 1] for k in (0, 1)],
        "difference": lambda x, y, g: [x[g == 1].mean() - x[g == 0].mean()],
    }
    assert set(wanted) | {"count", "histogram", "value_counts"} <= set(TRUTHS)
    for name, theirs in wanted.items():
        more = {"other": "y"} if name.startswith("co") else {"q": 0.3} if name == "quantile" else {}
        _, truth = simulate.draw_studies(name, people, 30, 1, 4, 3, by="g", **more)
        from dpnb.simulate.coverage import _DATA

        drawn = people.draw(np.random.default_rng((3, _DATA, 30, 0)), 4, 30)
        for study in range(4):
            rows = slice(30 * study, 30 * study + 30)
            x, y, g = (drawn[column].values[rows].astype(float) for column in "xyg")
            assert truth[study] == pytest.approx(theirs(x, y, g)), name


@pytest.mark.parametrize("offset", [0, 3, -40])
def test_written_out_selections_have_the_mechanisms_law(offset):
    """Weights on a written-out grid are the exact probabilities; 40,000 draws fit them, and not those of ε 10 % larger."""
    mechanism = QuantileSelection(Fraction(2), Fraction(1, 3), offset, 12)
    rows = np.array([2, 2, 3, 5, 7, 7, 11])
    counts = np.bincount(rows, minlength=13)
    values, times = np.unique(rows, return_counts=True)
    exact = np.array([float(p) for p in probabilities(mechanism, (values, times))])
    found = weights(mechanism, counts[None])[0]
    assert found / found.sum() == pytest.approx(exact, rel=1e-9)
    drawn = select(mechanism, np.tile(counts, (40_000, 1)), np.random.default_rng(1))
    assert stats.chisquare(*grouped(drawn, exact)).pvalue > 1e-6
    if offset == 0:
        wrong = QuantileSelection(Fraction(22, 10), Fraction(1, 3), offset, 12)
        other = np.array([float(p) for p in probabilities(wrong, (values, times))])
        assert stats.chisquare(*grouped(drawn, other)).pvalue < 1e-6


@pytest.mark.parametrize("offset", [0, 3, -40])
def test_written_out_flips_have_the_mechanisms_law(offset):
    """40,000 draws of many studies fit the exact probabilities, and not those of ε 10 % larger."""
    rows = np.array([2, 2, 3, 5, 7, 7, 11])
    tally, drawn_from = np.unique(rows, return_counts=True), np.bincount(rows, minlength=13)
    right, wrong = (QuantileFlip(one, Fraction(1, 3), offset, 12) for one in (Fraction(2), Fraction(11, 5)))
    drawn = select(right, np.tile(drawn_from, (40_000, 1)), np.random.default_rng(1))
    assert stats.chisquare(*grouped(drawn, probabilities(right, tally))).pvalue > 1e-6
    if offset == 0:
        assert stats.chisquare(*grouped(drawn, probabilities(wrong, tally))).pvalue < 1e-6


def grouped(drawn, probabilities):
    """Observed and expected counts, rare points together."""
    seen, expected = np.bincount(drawn, minlength=13), probabilities * drawn.size
    rare = expected < 10
    pairs = [(seen[~rare], expected[~rare]), ([seen[rare].sum()], [expected[rare].sum()])]
    observed, wanted = (np.concatenate([pair[i] for pair in pairs if np.sum(pair[1]) > 0]) for i in (0, 1))
    return observed, wanted


def test_a_method_of_ones_own_is_called_for_every_study():
    """A function of one release sees what a curator would have written; Unavailable means no interval."""
    from dpnb.statistics import conclude

    def doubled(checked, release, level, rng):
        found = conclude(checked, [release]).interval(level, "privacy")
        if found.low < 10:
            raise Unavailable("too low")
        return found.low - 5, found.high + 5

    method = simulate.per_release("doubled", "dataset", doubled)
    found = simulate.coverage("mean", simulate.beta(2, 5), 60, [0.3, 3], ["privacy", method], reps=40)
    wide, shipped = found.held("doubled"), found.held("privacy")
    assert 0 < wide.studies[0, 0] < 40
    assert wide.studies[1, 0] == 40
    assert wide.width[1, 0] == pytest.approx(shipped.width[1, 0] + 400, abs=1e-3)
    assert "doubled" in found.plot().get_label()


def test_wilson_bands_are_those_of_statsmodels():
    """The band of a proportion agrees with an independent implementation."""
    from statsmodels.stats.proportion import proportion_confint

    for held, studies in ((0, 10), (95, 100), (1000, 1000)):
        theirs = proportion_confint(held, studies, method="wilson")
        assert [float(end) for end in simulate.wilson(held, studies)] == pytest.approx(theirs, abs=1e-12)

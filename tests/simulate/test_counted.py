"""Studies told by counts of distinct rows: read as the rows they stand for, with the law of rows drawn one by one, of any size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from dpnb import simulate
from dpnb.errors import OptionError
from dpnb.simulate.coverage import Run, designed
from dpnb.simulate.exact import Block, histograms, known, rows_of, totals
from dpnb.trusted.aggregate.reference import Ints, Table

ARMS = simulate.arms(simulate.bernoulli(0.3), simulate.with_missing(simulate.bernoulli(0.6), 0.2))
ASKED = {
    "mean": (simulate.beta(2, 5), {}),
    "quantile": (simulate.beta(2, 5, step=1), {"q": [0.25, 0.5]}),
    "difference": (ARMS, {"by": "arm"}),
    "variance": (simulate.with_missing(simulate.beta(5, 2), 0.3), {}),
}


def run_of(statistic, counted, n=300, reps=200):
    """A run of one question at ε 1."""
    source, more = ASKED[statistic]
    return Run(designed(statistic, source, n, 1, "privacy", reps, 7, counted=counted, **more), n)


def written_out(block):
    """The same studies, row by row."""
    table = block.table
    columns = {
        name: Ints(np.repeat(i.values, table.times), np.repeat(i.known, table.times))
        for name, i in table.columns.items()
    }
    return Block(Table(columns, block.studies * block.n), block.studies, block.n)


@pytest.mark.parametrize("statistic", ASKED)
def test_counts_are_read_as_the_rows_they_stand_for(statistic):
    """Every exact answer, histogram, single study and truth is that of the same rows written out."""
    run = run_of(statistic, counted=True)
    _, block = run.draw(0, 6)
    rows, checked = written_out(block), run.items[0].checked
    for request in (part.request for part in run.items[0].parts):
        if statistic == "quantile":
            steps = run.items[0].parts[0].mechanism.steps
            both = [
                histograms(one, request.value, request.where, request.keys, steps) for one in (block, rows)
            ]
        else:
            both = [totals(one, [request])[0] for one in (block, rows)]
        assert np.array_equal(*both)
    truth = known(checked)
    both = [truth(rows_of(one, checked), checked.setting) for one in (block, rows)]
    assert np.allclose(*both)
    assert block.study(3).times.sum() == block.n


def test_counts_have_the_law_of_rows_drawn_one_by_one():
    """The true means of studies fit between both ways of drawing, and not where one way has a quarter fewer rows."""

    def means(counted, n):
        run = run_of("mean", counted, n)
        return np.concatenate([run.truth(run.draw(place * run.size, 400)[1])[:, 0] for place in range(5)])

    by_rows = means(counted=False, n=300)
    assert stats.ks_2samp(by_rows, means(counted=True, n=300)).pvalue > 1e-3
    spread = [np.var(means(counted=True, n=size)) / np.var(by_rows) for size in (300, 225)]
    assert abs(spread[0] - 1) < 0.15 < spread[1] - 1


def test_a_study_of_ten_million_is_simulated_and_reproduced():
    """Size costs nothing; the code says how it was drawn, and draws it again."""
    found = simulate.coverage("mean", simulate.beta(2, 5), n=10_000_000, losses=0.5, reps=200, counted=True)
    assert 0.9 < found.table().rows[0]["coverage"] <= 1
    assert "counted=True" in found.code()
    again = eval(found.code().splitlines()[-1].split(" = ", 1)[-1], {"simulate": simulate})  # noqa: S307  our own line
    assert again.table().rows == found.table().rows


def test_what_cannot_be_counted_is_refused():
    """A population that only a function knows, a truth of rows, and pairs in which some lack a value."""
    drawn = simulate.drawn(lambda rng, shape: rng.random(shape), lower=0, upper=1, step="1/10")
    lacking = simulate.pair(
        simulate.with_missing(simulate.beta(2, 5), 0.1), simulate.beta(2, 5, name="y"), 0.3
    )
    for source, more in ((drawn, {}), (lacking, {}), (simulate.beta(2, 5), {"truth": lambda columns: 0})):
        with pytest.raises(OptionError, match="counted=True needs a population whose law is known"):
            designed("mean", source, 100, 1, "privacy", 5, 1, counted=True, **more)
    with pytest.raises(OptionError, match="counted= is True or False"):
        designed("mean", simulate.beta(2, 5), 100, 1, "privacy", 5, 1, counted=1)

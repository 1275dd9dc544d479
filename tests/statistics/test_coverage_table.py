"""The table of coverage in the docs: each statistic is simulated, and what falls short is marked."""

from __future__ import annotations

import numpy as np
import pytest

from dpnb.statistics.moment_integers import blocks
from dpnb.statistics.regression_readings import coefficients
from dpnb.trusted.releases import Release, ReleasedPart
from tests.benchmarks.peers.study import study
from tests.examples import mostly_long
from tests.statistics import slopes
from tests.statistics.coverage_table import (
    ADJACENCIES,
    ASKED,
    SLOPE,
    cell,
    fitted,
    measured,
    moved_means,
    page,
    population,
    priced_moments,
    robust_fits,
)
from tests.statistics.test_coverage import enough

PEOPLE = population("heaped")


@pytest.mark.parametrize("name", ASKED)
def test_every_statistic_of_the_table_is_simulated(name):
    """Both losses, an interval each at least, and a share of studies that held."""
    lines = list(measured(name, PEOPLE, ADJACENCIES[1], "rho", 20))
    assert {float(line["loss"]) for line in lines} == {0.005, 0.5}
    assert all(0 <= line["coverage"] <= 1 and 0 < line["judged"] <= 20 for line in lines)


def test_the_populations_are_skewed_and_heaped():
    """The skewed column's mean lies above its median; every second told age ends in 0 or 5."""
    x = population("skewed")["x"]
    assert x.mean() > 1.1 * sorted(x)[len(x) // 2]
    assert (PEOPLE["x"] % 5 == 0).mean() > 0.5


def test_what_is_short_is_bold_and_what_is_unbounded_is_counted():
    """93 % of 10,000 is short, of 100 it is not; a slope's unbounded intervals are told."""
    assert cell({"coverage": 0.93, "judged": 10_000}) == "**93.0**"
    assert cell({"coverage": 0.93, "judged": 100}) == "93.0"
    assert cell({"coverage": 1.0, "judged": 10, "unbounded": 0.5}) == "100.0 (50 % unbounded)"
    assert cell(None) == "–"
    lines = list(fitted(PEOPLE, ADJACENCIES[0], "epsilon", 4))
    told = {"population": "heaped", "adjacency": ADJACENCIES[0], "kind": "epsilon", "statistic": SLOPE}
    text = "\n".join(page([told | line for line in lines]))
    assert "**4 releases**" in text
    assert f"| {SLOPE} | change-one | 4 | 100.0 (" in text


@pytest.mark.parametrize(("kind", "amount"), [("epsilon", 1), ("rho", "0.5"), ("rho", "0.005")])
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_slopes_of_many_releases_are_those_of_each(adjacency, kind, amount):
    """The arrays that the table is simulated with say what a release says, from the same draws: estimate, both half-widths, what is unbounded."""
    item, rng = priced_moments(adjacency, kind, amount), np.random.default_rng(5)
    laws, setting = slopes.laws_of(item), item.checked.setting
    names = {block.entries[0]: block for block in blocks(setting)}
    places = rng.integers(0, len(PEOPLE["x"]), (4, 1000))
    exact = slopes.exact(PEOPLE["y"][places], PEOPLE["x"][places], 0, 100)
    for one in exact + slopes.noise_of(laws, (4,), rng):
        values = {b.name: round((one[e] - b.middle * one[0, 0] / 2) * b.unit) for e, b in names.items()}
        parts = tuple(
            ReleasedPart(p.name, p.mechanism.record, (values[p.name],), f"{p.name} {values[p.name]}")
            for p in item.parts
        )
        release = Release("r", item.key, "simulated", "simulated", parts, item.loss)
        fit = coefficients(setting, "y ~ x").conclude([release]).fit
        mine = slopes.Slopes(fit.crossed.matrix[None], laws)
        assert bool(mine.lost[0]) == fit.lost
        if fit.lost:
            continue
        noise = fit.crossed.noise(slopes.DRAWS, fit.crossed.generator())
        normal = fit.crossed.generator().of("sampling").standard_normal((slopes.DRAWS, 2))
        assert mine.coefficients[0, 1] == pytest.approx(fit.coefficients[1])
        assert mine.residual_variance()[0] == pytest.approx(fit.variance)
        for found, name in zip(mine.radii(noise[None], normal[None]), ("privacy", "confidence"), strict=True):
            low, high = fit.ends(0.95, name)
            assert found[0] == pytest.approx((high - low)[1] / 2, rel=1e-9)


@pytest.mark.parametrize("loss", [("epsilon", 1), ("epsilon", "0.1")])
@pytest.mark.parametrize("seed", mostly_long([7, 101], 7))
@pytest.mark.parametrize("adjacency", ADJACENCIES)
def test_a_slope_holds_of_each_file(adjacency, seed, loss):
    """Of one file of 10,000 rows, that of the benchmarks or another, 95 % of 1,000 privacy intervals hold its slope: no file is worse off."""
    table, rng = study(10_000, seed), np.random.default_rng(3)
    exact = slopes.exact(*(table[name][None].astype(float) for name in "yx"), 0, 100)
    laws = slopes.laws_of(priced_moments(adjacency, *loss, rows=10_000))
    held = 0
    for _ in range(5):
        found = slopes.Slopes(exact + slopes.noise_of(laws, (200,), rng), laws)
        assert not found.lost.any()
        noise = slopes.noise_of(laws, (200, slopes.DRAWS), rng)
        half, _ = found.radii(noise, rng.standard_normal((200, slopes.DRAWS, 2)))
        held += int((abs(found.coefficients[:, 1] - slopes.solved(exact)[1]) <= half).sum())
    assert enough(held, 1000)
    assert held < 980


@pytest.mark.parametrize("made", [moved_means, robust_fits])
def test_what_is_concluded_one_by_one_is_judged_by_its_own_number(made):
    """A robust mean by the mean of the moved values, and a slope with robust errors, of skewed people: both intervals of 100 releases hold."""
    lines = list(made(population("skewed"), ADJACENCIES[1], "rho", 100))
    assert {(float(line["loss"]), line["interval"]) for line in lines} == {
        (loss, name) for loss in (0.005, 0.5) for name in ("privacy", "confidence")
    }
    assert all(enough(round(line["coverage"] * line["judged"]), line["judged"]) for line in lines)


def test_rows_that_are_not_measured_anew_are_kept(tmp_path, monkeypatch):
    """``--only`` measures with as many releases as the file has, or as many as asked; each row says how many it has."""
    from tests.statistics import coverage_table

    arguments = ["", "--docs", str(tmp_path), "--only", "sum"]
    monkeypatch.setattr(coverage_table, "ASKED", {name: ASKED[name] for name in ("sum", "mean")})
    monkeypatch.setattr(coverage_table, "MADE", {})
    monkeypatch.setattr("sys.argv", [*arguments[:3], "--reps", "5"])
    coverage_table.main()
    before = coverage_table.read(tmp_path / "benchmarks" / "coverage.csv")
    monkeypatch.setattr("sys.argv", arguments)
    coverage_table.main()
    after = coverage_table.read(tmp_path / "benchmarks" / "coverage.csv")
    assert [one for one in before if one["statistic"] == "mean"] == [
        one for one in after if one["statistic"] == "mean"
    ]
    assert len(before) == len(after)
    assert "**5 releases**" in (tmp_path / "coverage.md").read_text()
    monkeypatch.setattr("sys.argv", [*arguments, "--reps", "7"])
    coverage_table.main()
    text = (tmp_path / "coverage.md").read_text()
    assert "| sum | change-one | 7 |" in text
    assert "| mean | change-one | 5 |" in text

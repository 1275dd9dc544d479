"""The built-in studies: their rows fit their schemas, and their findings are the published ones."""

from __future__ import annotations

import hashlib
import importlib.util
import subprocess
import sys
import time
from fractions import Fraction

import numpy as np
import pytest

from dpnb.datasets import BUILT_IN, census, census_schema, find, incentive33, names
from dpnb.datasets.trial import SITES, SIZES
from dpnb.errors import OwnerError, SchemaError
from dpnb.trusted.schema import Mode, Schema

EVERY = pytest.mark.parametrize("built_in", BUILT_IN, ids=names())


def is_missing(values):
    return np.array([value is None or value != value for value in values.tolist()])  # noqa: PLR0124 (NaN)


@EVERY
def test_the_rows_have_the_public_number_and_the_declared_columns(built_in):
    columns = built_in.load()
    assert tuple(columns) == built_in.schema.names
    assert {len(values) for values in columns.values()} == {built_in.schema.unit.rows}


@EVERY
def test_every_known_category_value_is_declared(built_in):
    columns = built_in.load()
    for column in built_in.schema.columns:
        if column.values is not None:
            values = columns[column.name]
            assert set(values[~is_missing(values)].tolist()) <= set(column.values), column.name


@EVERY
def test_public_bounds_cut_less_than_one_value_in_fifty(built_in):
    columns = built_in.load()
    for column in built_in.schema.columns:
        if column.values is None:
            known = columns[column.name][~is_missing(columns[column.name])].astype(float)
            lower, upper = (float(bound) for bound in column.bounds)
            assert ((known < lower) | (known > upper)).mean() < 0.02, column.name


@EVERY
def test_a_study_says_what_it_is_where_it_is_from_and_how_to_cite_it(built_in):
    schema = built_in.schema
    assert schema.public
    assert schema.mode is Mode.TEACHING
    assert schema.budget.label == "ε 4"
    assert (schema.unit.adjacency, schema.unit.unit) == ("change-one", "row")
    texts = (schema.title, schema.description, schema.source_note, schema.licence, schema.citation)
    assert all(texts)
    assert all(column.label for column in schema.columns)
    assert Schema.from_json(schema.to_json()) == schema


def test_the_hiv_study_holds_the_published_finding():
    """.697 of 2,894 collected; .789 with any money against .339 without, among 2,834."""
    columns = find("hiv").load()
    got, offered = columns["got"], columns["any"]
    known = ~np.isnan(got)
    assert known.sum() == 2894
    assert got[known].mean() == pytest.approx(0.697, abs=5e-4)
    both = known & ~np.isnan(offered)
    assert both.sum() == 2834
    with_money, without = got[both & (offered == 1)].mean(), got[both & (offered == 0)].mean()
    assert (round(with_money, 3), round(without, 3)) == (0.789, 0.339)
    assert round(with_money - without, 3) == pytest.approx(0.451)


def test_the_hiv_study_holds_the_missing_values_and_the_code_minus_one():
    columns = find("hiv").load()
    missing = {name: int(np.isnan(values).sum()) for name, values in columns.items()}
    assert (missing["got"], missing["any"], missing["age"]) == (1926, 1919, 441)
    assert (columns["hiv2004"] == -1).any()
    assert find("hiv").schema["hiv2004"].values == (-1, 0, 1)
    assert all(column.drops for column in find("hiv").schema.columns)


def test_the_training_trial_and_its_comparison_have_the_same_columns():
    assert find("nsw").schema.columns == find("cps").schema.columns


def test_the_training_trial_holds_the_published_effect():
    """Trained people earned about 1,794 dollars more in 1978."""
    columns = find("nsw").load()
    earned, treated = columns["re78"], columns["treat"] == 1
    assert earned[treated].mean() - earned[~treated].mean() == pytest.approx(1794.3, abs=0.1)


def test_an_unknown_study_names_the_nearest():
    with pytest.raises(SchemaError, match=r"no built-in study 'hvi'\. Did you mean hiv\?"):
        find("hvi")
    with pytest.raises(SchemaError, match="Studies: hiv, nsw"):
        find("zzzzzz")


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("hiv", "0e8c46547d7440c7f65447a10e3aecc0"),
        ("nsw", "20a03d68c9930f233508f711bf4448de"),
        ("cps", "63406ccfc6e966217f0e4fffd9adec9f"),
        ("nhefs", "8946c4a75a71e92b0b227d9e23cb22b6"),
    ],
)
def test_shipped_rows_are_those_of_the_published_files(name, digest):
    """Every value of the declared columns, to the last bit, as the Stata files of causaldata 0.1.5 have it."""
    rows = np.column_stack(list(find(name).load().values()))
    assert hashlib.sha256(rows.astype("<f8").tobytes()).hexdigest()[:32] == digest


def test_a_missing_package_names_the_command_that_installs_it(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(OwnerError, match=r'pip install "dpnb\[studies\]"'):
        find("randhie").load()


def test_reading_every_study_imports_no_data_package():
    program = (
        "import sys; from dpnb.datasets import BUILT_IN; [study.load() for study in BUILT_IN]; "
        "print([m for m in ('pandas', 'statsmodels', 'scipy') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_importing_the_datasets_imports_no_data_package():
    program = (
        "import sys, dpnb.datasets, dpnb.__main__; "
        "print([m for m in ('pandas', 'statsmodels', 'scipy', 'duckdb', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


# Simulated people


def test_a_census_has_any_number_of_rows_and_its_schema_too():
    for rows in (0, 1, 12_345):
        people = census(rows, seed=2)
        assert {len(values) for values in people.values()} == {rows}
    assert census_schema(12_345).unit.rows == 12_345
    assert len(census_schema(5)["state"].values) == 50


def test_the_same_seed_gives_the_same_census_and_another_seed_another():
    one, same, other = census(500, 1), census(500, 1), census(500, 2)
    assert all(np.array_equal(one[name], same[name], equal_nan=name == "income") for name in one)
    assert not np.array_equal(one["age"], other["age"])


def test_a_census_of_a_million_takes_less_than_three_seconds():
    start = time.process_time()
    people = census(10**6)
    assert time.process_time() - start < 3
    assert 0.02 < np.isnan(people["income"]).mean() < 0.04


def test_the_trials_sites_are_log_spaced_from_12_to_6000():
    sizes = np.sort(list(SIZES.values()))
    assert (len(SIZES), sizes[0], sizes[-1]) == (33, 12, 6000)
    ratios = np.diff(np.log(sizes))
    assert ratios == pytest.approx(np.log(500) / 32, abs=0.05)
    assert "Goa" in SITES


def test_the_trials_sites_have_their_sizes_under_every_seed():
    for seed in (0, 1):
        found, counts = np.unique(incentive33(seed)["site"].astype(str), return_counts=True)
        assert dict(zip(found.tolist(), counts.tolist(), strict=True)) == SIZES


def test_the_simulated_trial_says_so_and_resembles_the_real_one():
    trial = find("incentive33")
    assert trial.simulated
    assert "SIMULATED" in trial.schema.description
    people = trial.load()
    effect = people["got"][people["any"] == 1].mean() - people["got"][people["any"] == 0].mean()
    assert effect == pytest.approx(0.43, abs=0.1)


def test_bounds_come_from_outside_the_rows():
    """Of a study's many-valued numbers at most one has its largest value exactly at the declared upper bound."""
    at_the_bound = [
        (built_in.name, column.name)
        for built_in in BUILT_IN
        if not built_in.simulated
        for column in built_in.schema.columns
        if column.values is None and column.steps > 100
        if Fraction(str(np.nanmax(built_in.load()[column.name]))) == column.bounds[1]
    ]
    assert len(at_the_bound) <= 1

"""An owner's TOML: what the issue promises is read exactly; every mistake names the line to write."""

from __future__ import annotations

import copy
from fractions import Fraction
from pathlib import Path

import pytest

from dpnb.datasets import load
from dpnb.errors import OwnerError
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.schema import Column, Mode, Schema
from dpnb.trusted.schema.owner import beside

PROMISED = """
[dataset]
name = "people"
title = "Census sample, one county"
source = "people.csv"            # csv, parquet, a DuckDB file
adjacency = "change-one"         # or "add-remove"
rows = 25766                     # public row count: with change-one and unit = "row" only, and then required
unit = "row"                     # or a column's name, with max_rows_per_unit = 3 (and units = … under change-one)
mode = "guard-rail"              # "teaching" needs public = true

[budget]
epsilon = 4                      # pure; or rho = 0.5; or epsilon and delta together (ρ and δ inside)

[columns.age]
type = "integer"
lower = 0
upper = 100
label = "age in years"

[columns.income]
type = "number"
lower = 0
upper = 200000
step = 1
missing = "drop"                 # or a public constant

[columns.sex]
type = "category"
values = [0, 1]
"""


DATE = {"type": "date", "bounds": ["2020-01-01", "2020-12-31"]}


def content(**changes):
    """Return a small valid declaration; each change is section__key=value, and a value of ... removes the key."""
    base = {
        "dataset": {"name": "people", "source": "people.csv", "adjacency": "add-remove"},
        "budget": {"epsilon": 4},
        "columns": {"age": {"type": "integer", "lower": 0, "upper": 100}},
    }
    base = copy.deepcopy(base)
    for path, value in changes.items():
        *sections, key = path.split("__")
        place = base
        for section in sections:
            place = place.setdefault(section, {})
        if value is ...:
            del place[key]
        else:
            place[key] = value
    return base


def refusal(declaration) -> str:
    with pytest.raises(OwnerError) as refused:
        load(declaration)
    return str(refused.value)


def test_the_promised_file_is_read_exactly(tmp_path):
    file = tmp_path / "people.dpnb.toml"
    file.write_text(PROMISED, encoding="utf-8")
    owned = load(file)
    schema = owned.schema
    assert (schema.name, schema.title, schema.mode) == (
        "people",
        "Census sample, one county",
        Mode.GUARD_RAIL,
    )
    assert (schema.unit.adjacency, schema.unit.unit, schema.unit.rows) == ("change-one", "row", 25_766)
    assert schema.names == ("age", "income", "sex")
    assert (schema["income"].step, schema["income"].steps, schema["age"].label) == (
        1,
        200_000,
        "age in years",
    )
    assert (owned.source, owned.format, owned.toml) == (tmp_path / "people.csv", "csv", file)
    assert owned.schema.unit_column is None
    assert schema.budget.label == "ε 4"


def test_decimals_of_the_file_are_exact(tmp_path):
    file = tmp_path / "a.dpnb.toml"
    text = PROMISED.replace("upper = 200000\nstep = 1\n", "upper = 0.7\nstep = 0.1\n").replace(
        "epsilon = 4 ", "epsilon = 0.1 "
    )
    file.write_text(text, encoding="utf-8")
    schema = load(str(file)).schema
    assert schema["income"].declared_step == Fraction(1, 10)
    assert schema.budget.cap.amount == Fraction(1, 10)


def test_numbers_may_stand_in_quotes():
    """A bound, a step, a budget: as a number or as its text, in a file and in a dict, one schema."""
    plain = {"type": "number", "lower": 0, "upper": 0.7, "step": 0.1}
    quoted = {"type": "number", "lower": "0", "upper": "0.7", "step": "0.1"}
    budgets = {"epsilon": 1, "delta": 1e-6}, {"epsilon": "1", "delta": "1e-6"}
    one, other = (
        load(content(columns__pay=column, budget=budget)).schema
        for column, budget in zip((plain, quoted), budgets, strict=True)
    )
    assert one.to_json() == other.to_json()


@pytest.mark.parametrize(
    ("budget", "measure"),
    [
        ({"epsilon": 4}, Measure.PURE),
        ({"rho": 0.5}, Measure.ZCDP),
        ({"epsilon": 1, "delta": 1e-6}, Measure.APPROX_ZCDP),
    ],
)
def test_a_budget_has_one_of_three_forms(budget, measure):
    assert load(content(budget=budget)).schema.budget.measure is measure


def test_a_unit_column_carries_its_row_limit():
    owned = load(content(dataset__unit="person", dataset__max_rows_per_unit=3))
    assert (owned.schema.unit_column, owned.schema.unit.max_rows, owned.schema.unit.units) == (
        "person",
        3,
        None,
    )
    owned = load(
        content(
            dataset__unit="person",
            dataset__max_rows_per_unit=3,
            dataset__units=50,
            dataset__adjacency="change-one",
        )
    )
    assert (owned.schema.unit.units, owned.schema.unit.rows) == (50, None)


def test_the_type_of_a_unit_is_declared_once():
    """By ``unit_type``, or where the unit can be asked too by its column; else none is declared."""
    one_row = {"dataset__unit": "age", "dataset__max_rows_per_unit": 3}
    for facts, kind in (
        ({"dataset__unit": "person"}, None),
        ({"dataset__unit": "person", "dataset__unit_type": "text"}, "text"),
        ({"dataset__unit": "age"}, "integer"),
        ({"dataset__unit": "sex"}, None),
    ):
        owned = load(content(**one_row | facts))
        assert owned.schema.unit.type == kind
        assert Schema.from_json(owned.schema.to_json()).unit == owned.schema.unit
    texts = load(content(dataset__unit="p", dataset__max_rows_per_unit=3, dataset__unit_type="text")).schema
    assert texts.version != load(content(dataset__unit="p", dataset__max_rows_per_unit=3)).schema.version


def test_a_pool_and_notes_are_kept():
    schema = load(content(dataset__pool="county", dataset__licence="CC0", dataset__description="d")).schema
    assert (schema.pool, schema.licence, schema.description) == ("county", "CC0", "d")


@pytest.mark.parametrize("source", ["people.csv", ...])
def test_public_data_may_be_for_teaching_with_or_without_a_source(source):
    schema = load(content(dataset__mode="teaching", dataset__public=True, dataset__source=source)).schema
    assert (schema.mode, schema.public) == (Mode.TEACHING, True)


@pytest.mark.parametrize(
    ("name", "kind"),
    [("a.csv", "csv"), ("a.parquet", "parquet"), ("A.PQ", "parquet"), ("a.duckdb", "duckdb")],
)
def test_a_source_is_known_by_its_suffix(name, kind):
    assert load(content(dataset__source=name)).format == kind


def test_another_source_takes_the_place_of_the_declared_one_and_none_is_needed_for_a_frame():
    assert load(content(), source="other.parquet").source == Path("other.parquet")
    assert load(content(dataset__source=...)).source is None
    assert load(load(content()).schema, source="b.csv").source == Path("b.csv")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        # unknown keys
        ({"dataset__adjacensy": "x"}, "[dataset]: unknown key adjacensy: did you mean adjacency?"),
        ({"budjet__x": 1}, "unknown section budjet: did you mean budget?"),
        ({"budget__epsilom": 1}, "[budget]: unknown key epsilom: did you mean epsilon?"),
        ({"columns__age__lowr": 1}, "[columns.age]: unknown key lowr: did you mean lower?"),
        ({"columns__age__zzzzz": 1}, "unknown key zzzzz: known: type, label"),
        # missing
        ({"dataset": ...}, "the section [dataset] is missing"),
        ({"budget": ...}, "the section [budget] is missing"),
        ({"columns": ...}, "the section [columns.NAME] is missing"),
        ({"columns": {}}, "declare at least one column"),
        ({"dataset__name": ...}, 'name is missing: write name = "people"'),
        ({"dataset__adjacency": ...}, "adjacency is missing: write adjacency ="),
        ({"budget__epsilon": ...}, "epsilon = 4 (pure)"),
        ({"columns__age__type": ...}, 'type is missing: write type = "integer"'),
        (
            {"columns__age__lower": ...},
            "[columns.age]: lower is missing: write lower = a bound known without looking",
        ),
        ({"columns__age__upper": ...}, "[columns.age]: upper is missing"),
        ({"columns__sex": {"type": "category"}}, "[columns.sex]: values is missing: write values = [0, 1]"),
        # unfinished
        ({"columns__age__lower": "TODO"}, "still holds TODO at columns.age.lower"),
        ({"columns__sex": {"type": "category", "values": ["TODO"]}}, "columns.sex.values"),
        # sizes
        ({"dataset__adjacency": "change-one"}, "makes the number of rows public: write rows = …"),
        ({"dataset__rows": 5}, 'rows is private under "add-remove"'),
        ({"dataset__units": 5}, 'write unit = "person_id"'),
        ({"dataset__max_rows_per_unit": 5}, 'write unit = "person_id"'),
        ({"dataset__unit": "person"}, 'unit = "person" needs max_rows_per_unit = 3'),
        ({"dataset__unit": "rows"}, 'did you mean unit = "row"?'),
        ({"dataset__unit_type": "text"}, "goes with a unit column"),
        (
            {"dataset__unit": "person", "dataset__rows": 9, "dataset__adjacency": "change-one"},
            "write units = … instead",
        ),
        ({"dataset__unit": "p", "dataset__rows": 9}, 'with unit = "p" remove it'),
        (
            {"dataset__unit": "p", "dataset__max_rows_per_unit": 2, "dataset__adjacency": "change-one"},
            "makes the number of units public: write units = …",
        ),
        (
            {"dataset__unit": "p", "dataset__max_rows_per_unit": 2, "dataset__units": 2},
            "units is private under",
        ),
        (
            {"dataset__rows": 0, "dataset__adjacency": "change-one"},
            "rows = 0: write a whole number of at least 1",
        ),
        # bounds
        ({"columns__age__lower": 100}, "[columns.age]: lower = 100 must be below upper = 100"),
        ({"columns__age__upper": float("nan")}, "upper must be a finite number, not 'nan'"),
        ({"columns__age__upper": float("inf")}, "upper must be a finite number, not 'inf'"),
        ({"columns__age__upper": "a hundred"}, "upper must be a finite number, not 'a hundred'"),
        ({"columns__age__upper": True}, "upper must be a number, not True"),
        ({"columns__age__upper": 99.5}, 'for decimals write type = "number"'),
        ({"columns__age__step": 3}, "write upper = 102"),
        ({"columns__age__step": "one"}, "step must be a finite number, not 'one'"),
        ({"columns__age__missing": 101}, "missing = 101 lies outside"),
        ({"columns__age__missing": "average"}, 'missing is "drop" or a number'),
        ({"columns__age": {"type": "date"}}, 'bounds is missing: write bounds = ["2020-01-01"'),
        ({"columns__age": DATE | {"bounds": "2020"}}, "bounds must be two dates: write bounds ="),
        (
            {"columns__age": DATE | {"bounds": ["2020-01-01", "2021-02-29"]}},
            "a bound = '2021-02-29' is not a date",
        ),
        ({"columns__age": DATE | {"bounds": [2020, 2021]}}, 'is not a date: write it as "2021-03-01"'),
        (
            {"columns__age": DATE | {"bounds": ["2020-01-02", "2020-01-02"]}},
            "at least a day before the second",
        ),
        (
            {"columns__age": DATE | {"step": "month", "bounds": ["2020-01-02", "2020-01-31"]}},
            "a month before",
        ),
        ({"columns__age": DATE | {"step": "hour"}}, 'write type = "datetime"'),
        (
            {"columns__age": DATE | {"step": 7}},
            "step = 7 does not go with a date: write one of day, week, month",
        ),
        ({"columns__age": DATE | {"missing": "never"}}, "value = 'never' is not a date"),
        ({"columns__age": DATE | {"missing": "2019-12-31"}}, "missing lies outside date 2020-01-01 to"),
        ({"columns__age": DATE | {"lower": 1}}, 'lower does not go with type = "date"'),
        ({"columns__age__values": [0, 1]}, 'values does not go with type = "integer"'),
        ({"columns__age__type": "category"}, 'lower does not go with type = "category"'),
        ({"columns__age__type": "int"}, "type = 'int': did you mean \"integer\"?"),
        ({"columns__age__type": 7}, 'type = 7: write "integer" or'),
        ({"columns__age": 7}, "declare a column as a section"),
        ({"columns__sex": {"type": "category", "values": [0, 0]}}, "declares value 0 twice"),
        ({"columns__sex": {"type": "category", "values": 3}}, "values must be a list"),
        ({"columns__age__label": 3}, "text"),
        # mode
        ({"dataset__mode": "teaching"}, "needs public = true"),
        ({"dataset__mode": "guardrail"}, 'did you mean "guard-rail"?'),
        ({"dataset__adjacency": "add_remove"}, 'did you mean "add-remove"?'),
        # types and places
        ({"dataset__name": 3}, "name must be text, not 3"),
        ({"dataset__name": "a b"}, "use a letter"),
        ({"dataset__rows": "many"}, "rows must be a whole number, not 'many'"),
        ({"dataset__rows": True}, "rows must be a whole number, not True"),
        ({"dataset__public": "yes"}, "public must be true or false"),
        ({"dataset__source": "a.xls"}, "dpnb reads .csv"),
        ({"dataset__source": "https://x.example/a.csv"}, "a file on this machine"),
        ({"dataset": 3}, "dataset must be a section: write [dataset]"),
        # budget
        ({"budget__epsilon": 0}, "[budget]: epsilon must be above 0"),
        ({"budget__epsilon": float("nan")}, "[budget]: epsilon"),
        ({"budget__epsilon": "four"}, "[budget]: epsilon"),
        ({"budget__rho": 1}, "[budget] needs one of"),
        ({"budget": {"delta": 1e-6}}, "[budget] needs one of"),
    ],
)
def test_every_mistake_names_its_place_and_its_fix(change, text):
    assert text in refusal(content(**change))


def test_dates_are_declared_as_text_or_as_dates_of_toml(tmp_path):
    """The bounds are steps of the calendar, whatever wrote them; the default step of a datetime is the hour."""
    file = tmp_path / "people.dpnb.toml"
    dates = '[columns.visit]\ntype = "date"\nbounds = [2020-01-01, "2024-12-31"]\n'
    dates += '[columns.at]\ntype = "datetime"\nbounds = [2020-01-01T10:30:00Z, "2020-01-02"]\n'
    dates += '[columns.m]\ntype = "date"\nbounds = ["2020-01-17", "2024-12-31"]\nstep = "month"\nmissing = "2021-01-05"\n'
    file.write_text(PROMISED + dates, encoding="utf-8")
    columns = load(file).schema.columns[-3:]
    assert [column.describe() for column in columns] == [
        "date 2020-01-01 to 2024-12-31",
        "datetime 2020-01-01 10:00 to 2020-01-02 00:00",
        "date 2020-01-01 to 2024-12-01 by month",
    ]
    assert [column.missing_code for column in columns] == [None, None, 24]
    assert [Column.from_json(column.to_json()) for column in columns] == list(columns)


def test_a_refusal_names_the_file(tmp_path):
    file = tmp_path / "people.dpnb.toml"
    file.write_text(PROMISED.replace("upper = 100\n", ""), encoding="utf-8")
    assert refusal(file).startswith("people.dpnb.toml, [columns.age]: upper is missing")


@pytest.mark.parametrize(
    ("written", "text"),
    [
        (b"[dataset\n", "is not valid TOML"),
        (b"\xff\xfe", "is not UTF-8"),
        (b"", "[dataset] is missing"),
        (b"[columns.a]\nlower = nan\n", "[dataset] is missing"),
    ],
)
def test_a_file_that_is_no_schema_is_refused(tmp_path, written, text):
    file = tmp_path / "people.dpnb.toml"
    file.write_bytes(written)
    assert text in refusal(file)


def test_a_missing_schema_names_the_command_that_drafts_it(tmp_path):
    assert "dpnb init people.csv" in refusal(tmp_path / "people.dpnb.toml")
    with pytest.raises(OwnerError, match=r"There is no file people\.csv"):
        beside(tmp_path / "people.csv")
    (tmp_path / "people.csv").touch()
    with pytest.raises(OwnerError, match=r"dpnb init people\.csv"):
        beside(tmp_path / "people.csv")
    (tmp_path / "people.dpnb.toml").write_text(PROMISED, encoding="utf-8")
    assert beside(tmp_path / "people.csv") == tmp_path / "people.dpnb.toml"


def test_a_folder_is_no_schema(tmp_path):
    assert "is a folder" in refusal(tmp_path)

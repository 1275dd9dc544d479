"""The schema: columns become integers on exact, even grids; what is not declared is refused with a near match."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpnb.datasets.cell_text import canonical
from dpnb.errors import SchemaError
from dpnb.planner.schema_words import dummy_rows, mode_badge, mode_sentence
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Mode, Schema, nearest

GOLDEN = Path(__file__).parent / "golden" / "schema" / "people.json"


def people(**facts):
    columns = (
        Column.integer("age", 0, 100, label="age in years"),
        Column.number("income", 0, 200_000, step=1, missing=0),
        Column.number("weight", "-0.5", 2.25),
        Column.integer("children", 0, 5),
        Column.category("sex", [0, 1]),
        Column.category("hiv", [-1, 0, 1], missing=0),
        Column.category("town", ["Goa", "Übersee", "1"], label="where"),
        Column.category("member", [False, True]),
    )
    defaults = {
        "name": "people",
        "title": "Census sample, one county",
        "columns": columns,
        "unit": PrivacyUnit("change-one", rows=25_766),
        "budget": Budget.from_toml({"epsilon": 4}),
    }
    return Schema(**(defaults | facts))


numbers = st.fractions(-1000, 1000, max_denominator=1000)
texts = st.text(st.characters(exclude_categories=["C"]), min_size=1, max_size=8)
categories = st.one_of(
    st.lists(st.integers(-50, 50), min_size=2, max_size=8, unique=True),
    st.lists(texts, min_size=2, max_size=8, unique_by=canonical),
    st.just([False, True]),
)


@st.composite
def columns(draw):
    name = draw(texts.filter(str.isprintable))
    label = draw(st.text(max_size=10))
    if draw(st.booleans()):
        values = draw(categories)
        missing = draw(st.sampled_from(["drop", *values]))
        return Column.category(name, values, label=label, missing=missing)
    lower, step = draw(numbers), draw(numbers.filter(lambda number: number > 0))
    upper = lower + step * draw(st.integers(1, 500))
    missing = draw(st.sampled_from(["drop", lower, upper]))
    if lower.denominator == step.denominator == 1:
        return Column.integer(name, lower, upper, step=step, label=label, missing=missing)
    return Column.number(name, lower, upper, step=step, label=label, missing=missing)


# Grids


@given(columns())
def test_every_grid_has_an_even_number_of_steps_and_ends_at_its_bounds(column):
    if column.values is None:
        assert column.steps % 2 == 0
        assert column.value_of(0) == column.lower
        assert column.value_of(column.steps) == column.bounds[1]


@given(columns(), st.data())
def test_the_code_of_a_codes_value_is_that_code(column, data):
    code = data.draw(st.integers(0, column.size - 1))
    assert column.code_of(column.value_of(code)) == code


@given(columns(), numbers)
def test_a_number_gets_the_nearest_code_halves_go_up_and_what_lies_beyond_is_clamped(column, number):
    if column.values is None:
        nearest_code = math.floor((number - column.lower) / column.step + Fraction(1, 2))
        assert column.code_of(number) == min(max(nearest_code, 0), column.steps)


@given(columns())
def test_a_numeric_columns_values_are_lower_plus_step_times_code(column):
    if column.numeric:
        assert all(
            column.value_of(code) == column.lower + column.step * code for code in range(min(column.size, 20))
        )


def test_an_odd_number_of_steps_halves_the_step():
    odd = Column.integer("children", 0, 5)
    assert (odd.step, odd.steps, odd.halved, odd.declared_step) == (Fraction(1, 2), 10, True, 1)
    assert odd.bounds[1] == 5
    assert not Column.integer("age", 0, 100).halved


def test_a_number_without_a_step_has_two_to_the_twenty_steps():
    assert Column.number("x", -1, 3).steps == 2**20


def test_a_float_bound_is_the_decimal_that_it_prints_as():
    assert Column.number("x", 0.1, 0.7, step=0.1).step * 6 == Fraction(6, 10)


def test_infinities_clamp_and_nan_and_text_are_refused_as_constants():
    age = Column.integer("age", 0, 100)
    assert (age.code_of(math.inf), age.code_of(-math.inf)) == (100, 0)
    for value in (math.nan, "41", None, True):
        with pytest.raises(SchemaError):
            age.code_of(value)


def test_a_place_on_the_grid_is_exact_and_not_clamped():
    assert Column.integer("age", 0, 100).position_of(250.5) == Fraction(501, 2)


# Categories


@pytest.mark.parametrize(
    ("values", "lower", "step"),
    [([0, 1], 0, 1), ([-1, 0, 1], -1, 1), ([10, 20, 30], 10, 10), ([False, True], 0, 1)],
)
def test_evenly_spaced_numbers_are_numeric_categories(values, lower, step):
    column = Column.category("x", values)
    assert (column.numeric, column.lower, column.step, column.steps) == (True, lower, step, len(values) - 1)


@pytest.mark.parametrize("values", [["a", "b"], [0, 1, 5], [1, 0], [True, False]])
def test_other_categories_have_no_numbers(values):
    column = Column.category("x", values)
    assert (column.numeric, column.lower) == (False, None)
    with pytest.raises(SchemaError, match="no numeric bounds"):
        column.bounds


def test_a_category_takes_equal_numbers_whatever_their_type_but_no_text():
    sex = Column.category("sex", [0, 1])
    assert sex.code_of(1.0) == sex.code_of(True) == sex.code_of(1) == 1
    with pytest.raises(SchemaError, match=r"sex is declared 0/1: no value '1'\. Did you mean 1\?"):
        sex.code_of("1")


def test_an_unknown_category_value_names_the_nearest():
    with pytest.raises(SchemaError, match=r"no value 'Gao'\. Did you mean 'Goa'\?"):
        people()["town"].code_of("Gao")
    with pytest.raises(SchemaError, match="no value"):
        people()["town"].code_of(["a list"])


# Missing


def test_missing_drops_or_is_a_code():
    schema = people()
    assert schema["age"].drops
    assert schema["age"].missing_code is None
    assert (schema["income"].drops, schema["income"].missing_code) == (False, 0)
    assert schema["hiv"].missing_code == 1


# Refusals


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Column.integer("x", None, 5), "x: lower is missing: write lower ="),
        (lambda: Column.integer("x", 0, None), "x: upper is missing"),
        (lambda: Column.number("x", 0, math.nan), "upper must be a finite number, not 'nan'"),
        (lambda: Column.number("x", -math.inf, 0), "lower must be a finite number, not '-inf'"),
        (lambda: Column.number("x", "zero", 1), "lower must be a finite number, not 'zero'"),
        (lambda: Column.number("x", True, 2), "lower must be a number, not True"),
        (lambda: Column.number("x", 0, 10**16), "within ±10"),
        (lambda: Column.number("x", 0, "1e999"), "within ±10"),
        (lambda: Column.integer("x", 0, 1.5), 'for decimals write type = "number"'),
        (lambda: Column.integer("x", 5, 5), "lower = 5 must be below upper = 5"),
        (lambda: Column.number("x", 5, 1), "lower = 5 must be below upper = 1"),
        (lambda: Column.number("x", 0, 1, step=0), "step must be positive"),
        (
            lambda: Column.integer("x", 0, 10, step=3),
            "step = 3 does not divide the range 0 to 10: write upper = 12",
        ),
        (lambda: Column.number("x", 0, 1, step="1e-13"), "write a larger step"),
        (lambda: Column.number("x", 0, 1, missing="mean"), 'missing is "drop" or a number'),
        (lambda: Column.number("x", 0, 1, missing=2), "missing = 2 lies outside number 0 to 1"),
        (lambda: Column.category("x", [0, 1], missing=2), "no value 2"),
        (lambda: Column.category("x", []), "0 entries"),
        (lambda: Column.category("x", ["one"]), "1 entries"),
        (lambda: Column.category("x", "ab"), "values must be a list"),
        (lambda: Column.category("x", [1, "1"]), "all text, all whole numbers or all true/false"),
        (lambda: Column.category("x", [0.5, 1.5]), 'for decimals write type = "number"'),
        (lambda: Column.category("x", ["a", "b", "a"]), "declares value 'a' twice"),
        (lambda: Column.category("", [0, 1]), "printable text"),
        (lambda: Column.category("a\nb", [0, 1]), "printable text"),
        (lambda: Column.integer("##rank", 0, 2), "reserved"),
        (lambda: Column.integer("x", 0, 1, label=3), "text"),
        (lambda: Column("x", "integer", "", "drop", Fraction(0), Fraction(1), 3), "even number of steps"),
        (lambda: Column.integer("x", 0, 2).value_of(3), "codes 0 to 2"),
    ],
)
def test_a_bad_column_is_refused_with_the_fix(make, text):
    with pytest.raises(SchemaError) as refused:
        make()
    assert text in str(refused.value)


@pytest.mark.parametrize(
    ("facts", "text"),
    [
        ({"name": "1st"}, "use a letter"),
        ({"name": "a/b"}, "use a letter"),
        ({"columns": ()}, "declares 0 columns"),
        ({"columns": (Column.integer("a", 0, 2),) * 2}, "declares column 'a' twice"),
        ({"mode": Mode.TEACHING}, "needs public = true"),
        ({"pool": "no spaces"}, "pool"),
        ({"title": None}, "text"),
    ],
)
def test_a_bad_schema_is_refused_with_the_fix(facts, text):
    with pytest.raises(SchemaError) as refused:
        people(**facts)
    assert text in str(refused.value)


def test_an_unknown_column_names_the_nearest_and_what_it_is():
    schema = people(name="hiv", columns=(Column.category("got", [0, 1]), Column.integer("age", 0, 100)))
    with pytest.raises(SchemaError) as refused:
        schema["gott"]
    assert str(refused.value) == "hiv has no column gott. Did you mean got?"
    with pytest.raises(SchemaError) as refused:
        schema["zzz"]
    assert str(refused.value) == "hiv has no column zzz. Its columns: got, age."


def test_nearest_ignores_case_and_gives_up_on_the_unlike():
    assert nearest("EPSILOM", ["epsilon", "rho"]) == "epsilon"
    assert nearest("xyz", ["epsilon", "rho"]) is None


# Records


@given(st.lists(columns(), min_size=1, max_size=4, unique_by=lambda column: column.name))
def test_a_schema_survives_json_exactly(made):
    schema = people(columns=tuple(made))
    again = Schema.from_json(json.loads(json.dumps(schema.to_json())))
    assert again == schema
    assert again.version == schema.version
    assert [type(v) for c in again.columns for v in c.values or ()] == [
        type(v) for c in schema.columns for v in c.values or ()
    ]


@given(columns(), st.data())
def test_a_column_record_with_a_key_too_many_or_too_few_or_of_another_type_is_refused(column, data):
    record = column.to_json()
    key = data.draw(st.sampled_from(sorted(record)))
    with pytest.raises(SchemaError):
        Column.from_json({name: value for name, value in record.items() if name != key})
    with pytest.raises(SchemaError):
        Column.from_json(record | {"extra": 1})
    with pytest.raises(SchemaError):
        Column.from_json(record | {key: 7})


@pytest.mark.parametrize(
    "change",
    [
        {"format": 2},
        {"mode": "free"},
        {"public": 1},
        {"columns": {}},
        {"columns": [7]},
        {"name": 3},
        {"pool": 3},
        {"surprise": True},
    ],
)
def test_a_schema_record_is_read_strictly(change):
    with pytest.raises(SchemaError):
        Schema.from_json(people().to_json() | change)
    with pytest.raises(SchemaError):
        Schema.from_json([])


def test_the_record_of_a_schema_never_changes():
    assert json.loads(GOLDEN.read_text(encoding="utf-8")) == {
        "schema": people().to_json(),
        "version": people().version,
    }


# Version


@pytest.mark.parametrize(
    "change",
    [
        {"title": "Other"},
        {"name": "other"},
        {"citation": "Somebody"},
        {"public": True},
        {"pool": "county"},
        {"mode": Mode.ENFORCED},
        {"budget": Budget.from_toml({"epsilon": 3})},
        {"columns": tuple(reversed(people().columns))},
        {"columns": tuple(replace(column, label="else") for column in people().columns)},
    ],
)
def test_words_caps_and_order_leave_the_version_alone(change):
    assert people(**change).version == people().version


@pytest.mark.parametrize(
    "change",
    [
        {"budget": Budget.from_toml({"rho": 1})},
        {"unit": PrivacyUnit("change-one", rows=25_767)},
        {"unit": PrivacyUnit("add-remove")},
        {"columns": people().columns[:-1]},
        {"columns": (Column.integer("age", 0, 102), *people().columns[1:])},
        {"columns": (Column.integer("age", 0, 100, missing=0), *people().columns[1:])},
        {"columns": (Column.number("age", 0, 100, step=1), *people().columns[1:])},
        {"columns": (*people().columns[:-1], Column.category("member", [0, 1]))},
    ],
)
def test_whatever_a_price_or_answer_depends_on_changes_the_version(change):
    assert people(**change).version != people().version


# Dummy rows and modes


@given(columns())
def test_dummy_rows_fit_the_schema_and_are_a_function_of_it_alone(column):
    schema = people(columns=(column,))
    rows = dummy_rows(schema, 4)
    assert rows == dummy_rows(people(columns=(column,), title="another", unit=PrivacyUnit("add-remove")), 4)
    for row in rows:
        value = row[column.name]
        if column.values is not None:
            assert value in column.values
        else:
            assert column.position_of(value) == pytest.approx(float(column.code_of(value)))
            assert column.lower <= Fraction(value) + Fraction(1, 10**9)


@pytest.mark.parametrize(("lower", "step"), [(Fraction(1, 401), Fraction(1, 2)), (Fraction(1, 999_983), 1)])
def test_every_value_of_a_dummy_row_is_a_constant_that_a_question_may_hold(lower, step):
    """A value copied from a dummy row into a filter is accepted, also where its binary64 prints with 19 decimals."""
    column = Column.number("x", lower, lower + 4 * step, step=step)
    rows = dummy_rows(people(columns=(column,)), 40)
    assert {column.code_of(row["x"]) for row in rows} == set(range(column.size))


def test_dummy_rows_of_a_halved_integer_are_whole_numbers():
    assert all(isinstance(row["children"], int) for row in dummy_rows(people(), 50))


def test_each_mode_has_a_badge_and_says_what_it_does_not_stop():
    assert [mode_badge(mode) for mode in Mode] == ["TEACHING", "GUARD-RAIL", "ENFORCED"]
    assert "does not stop" in mode_sentence(Mode.GUARD_RAIL)
    assert all(mode_sentence(mode) for mode in Mode)


def test_the_unit_column_is_named_only_where_rows_are_not_people():
    assert people().unit_column is None
    assert people(unit=PrivacyUnit("add-remove", "person", 3)).unit_column == "person"


def test_declared_values_that_are_one_cell_when_read_are_refused():
    """Two texts of one number, a number word, and the empty text, which is missing everywhere."""
    for values in (["1", "01"], ["1.0", "1"], ["true", "1"], ["inf", "1e999"], ["x", "0", "-0.0"]):
        with pytest.raises(SchemaError, match="are one number when data are read"):
            Column.category("c", values)
    with pytest.raises(SchemaError, match="empty text is a missing value"):
        Column.category("c", ["", "a"])
    assert Column.category("c", ["01", "02", "Goa", " Goa", "nan"]).size == 5

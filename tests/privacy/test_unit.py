"""The privacy unit publishes the sizes that its adjacency makes public, and no others."""

from __future__ import annotations

import pytest

from dpnb.errors import OwnerError, SchemaError
from dpnb.planner.schema_words import unit_sentence
from dpnb.trusted.privacy.unit import PrivacyUnit

GOOD = [
    PrivacyUnit("change-one", rows=4820),
    PrivacyUnit("add-remove"),
    PrivacyUnit("add-remove", unit="patient", max_rows=3),
    PrivacyUnit("change-one", unit="patient", max_rows=3, units=200),
    PrivacyUnit("add-remove", unit="patient", type="integer"),
]


@pytest.mark.parametrize("unit", GOOD, ids=unit_sentence)
def test_a_unit_survives_json_and_hashes(unit):
    assert PrivacyUnit.from_json(unit.to_json()) == unit
    assert hash(unit) == hash(PrivacyUnit.from_json(unit.to_json()))


def test_the_row_count_is_public_only_for_change_one_over_rows():
    assert [unit.rows for unit in GOOD] == [4820, None, None, None, None]


def test_the_sentences_say_who_is_hidden():
    assert [unit_sentence(unit) for unit in GOOD] == [
        "one row = one person; what any one person's data say is hidden (4,820 rows: public)",
        "one row = one person; whether any one person is in the data is hidden",
        "one patient = one person, with at most 3 rows; whether any one person is in the data is hidden",
        "one patient = one person, with at most 3 rows; what any one person's data say is hidden (200 units: public)",
        "one patient = one person, with at most 1 row; whether any one person is in the data is hidden",
    ]


@pytest.mark.parametrize(
    ("facts", "fix"),
    [
        ({"adjacency": "change-one"}, "write rows = …, or keep it private"),
        ({"adjacency": "change-one", "rows": 0}, "rows = 0: write a whole number of at least 1"),
        ({"adjacency": "change-one", "rows": True}, "rows = True: write a whole number"),
        ({"adjacency": "change-one", "rows": 10, "units": 10}, "units go with a unit column"),
        ({"adjacency": "change-one", "unit": "p"}, "write units = …, or keep it private"),
        ({"adjacency": "change-one", "unit": "p", "units": 5, "rows": 9}, "write units = … instead"),
        (
            {"adjacency": "add-remove", "rows": 10},
            'rows is private under "add-remove": remove it, or write "change-one"',
        ),
        ({"adjacency": "add-remove", "unit": "p", "rows": 10}, "remove it"),
        ({"adjacency": "add-remove", "unit": "p", "units": 10}, 'units is private under "add-remove"'),
        ({"adjacency": "add-remove", "max_rows": 3}, "unit column"),
        ({"adjacency": "add-remove", "unit": "p", "max_rows": 0}, "whole number of at least 1"),
        ({"adjacency": "add-remove", "unit": "p", "max_rows": 10**6 + 1}, "from 1 to 1000000"),
        ({"adjacency": "add-remove", "unit": ""}, "name of a column"),
        ({"adjacency": "add-remove", "unit": "p", "type": "number"}, 'unit_type is "integer" or "text"'),
        ({"adjacency": "add-remove", "type": "text"}, "goes with a unit column"),
        ({"adjacency": "bounded"}, "change-one"),
    ],
)
def test_a_declaration_that_publishes_a_private_size_or_hides_a_public_one_is_refused(facts, fix):
    with pytest.raises((OwnerError, SchemaError), match=fix):
        PrivacyUnit(**facts)


def test_a_record_with_unknown_fields_is_refused():
    with pytest.raises(OwnerError):
        PrivacyUnit.from_json({**GOOD[0].to_json(), "secret": 1})

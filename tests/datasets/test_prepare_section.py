"""``[prepare]`` and ``[source.NAME]`` as owners type them: what they mean, and what is refused with the line to write."""

from __future__ import annotations

import copy

import pytest

from dpnb.errors import OwnerError
from dpnb.trusted.schema.owner import load

ONE = {
    "dataset": {"name": "log", "source": "log.csv", "adjacency": "add-remove", "unit": "person"},
    "budget": {"epsilon": 4},
    "columns": {
        "day": {"type": "date", "bounds": ["2024-01-01", "2024-12-31"]},
        "cost": {"type": "number", "lower": 0, "upper": 500, "step": "0.01"},
        "change": {"type": "integer", "lower": -9, "upper": 9},
        "ward": {"type": "category", "values": ["a", "b"]},
        "ill": {"type": "category", "values": [0, 1]},
    },
    "prepare": {
        "stays": {"count": "rows", "upper": 20},
        "cost": {"sum": "cost", "upper": 10_000},
        "change": {"mean": "change", "step": "0.1", "label": "mean change"},
        "ward": {"latest": "ward", "by": "day"},
        "ill": {"any": "ill", "missing": 0},
    },
}
TWO = {
    "dataset": {**ONE["dataset"], "source": "people.csv", "max_rows_per_unit": 2},
    "budget": ONE["budget"],
    "columns": {"age": {"type": "integer", "lower": 0, "upper": 110}},
    "source": {"ragged": True, "visits": {"file": "visits.csv", "on": "person", "columns": ONE["columns"]}},
    "prepare": {
        "visits": {"count": "visits", "upper": 20},
        "cost": {"sum": "visits.cost", "upper": 10_000},
        "ward": {"latest": "visits.ward", "by": "visits.day", "missing": "b"},
        "surgery": {"any": "visits.ward", "is": ["b"]},
    },
}


def changed(content, **facts):
    """The content with some lines replaced, or taken away by None; ``visits__on`` names a key of a table."""
    found = copy.deepcopy(content)
    for path, value in facts.items():
        *sections, last = path.split("__")
        place = found
        for section in sections:
            place = place[section]
        if value is None:
            del place[last]
        else:
            place[last] = value
    return found


def test_lines_say_the_columns_that_can_be_asked():
    """Of a dataset's own rows each column is prepared; its grid follows from the cells and from what the line says."""
    schema = load(ONE).schema
    assert [f"{column.name}: {column.describe()}" for column in schema.columns] == [
        "stays: integer 0 to 20",
        "cost: number 0 to 10000 in steps of 0.01",
        "change: number -9 to 9 in steps of 0.1",
        "ward: a/b",
        "ill: 0/1",
    ]
    assert schema["stays"].missing == 0
    assert schema["change"].label == "mean change"
    assert schema.unit.max_rows == 1
    assert [line.take for line in schema.prepared] == ["count", "sum", "mean", "latest", "any"]


def test_columns_of_another_table_stand_beside_the_own_ones(tmp_path):
    """Up to so many rows of each person as are declared, each table read as its section says."""
    owned = load(changed(TWO, source__visits__line_ends="any"), source=tmp_path / "people.csv")
    assert owned.schema.names == ("age", "visits", "cost", "ward", "surgery")
    assert owned.schema.unit.max_rows == 2
    assert owned.schema.rows_of("visits").names == ("day", "cost", "ward")
    assert owned.schema.rows_of().names == ("age",)
    ((place, dialect),) = owned.others.values()
    assert (place.name, dialect.line_ends, owned.dialect.ragged) == ("visits.csv", "any", True)


REFUSED = [
    (ONE, {"dataset__unit": None}, 'write unit = "person" under [dataset]'),
    (ONE, {"dataset__max_rows_per_unit": 3}, "leaves one row of each person: remove max_rows_per_unit"),
    (ONE, {"prepare": {}}, "no line: write for example stays = { count"),
    (ONE, {"prepare__stays": 3}, "a line needs exactly one of count, sum, mean, any, latest"),
    (ONE, {"prepare__stays": {"count": "rows", "sum": "cost"}}, "a line needs exactly one of"),
    (ONE, {"prepare__stays": {"count": "rows"}}, "upper is missing: write upper = 20"),
    (ONE, {"prepare__stays": {"count": "row", "upper": 3}}, "count = 'row': write count = \"rows\""),
    (ONE, {"prepare__stays": {"count": "rows", "uper": 3}}, "stays, count: unknown key uper: did you mean upper?"),
    (ONE, {"prepare__cost": {"sum": "cots", "upper": 9}}, "declares no column 'cots': did you mean cost?"),
    (ONE, {"prepare__cost": {"sum": "cost"}}, "upper is missing: write upper = 10000, the most that one person's cost"),
    (ONE, {"prepare__cost": {"sum": "change", "upper": 9}}, "lower is missing: write lower = -10000"),
    (ONE, {"prepare__cost": {"sum": "ward", "upper": 9}}, "ward holds no numbers to add"),
    (ONE, {"prepare__cost": {"mean": "day"}}, "day holds no numbers to add"),
    (ONE, {"prepare__ward": {"latest": "ward"}}, 'by is missing: write by = "day"'),
    (ONE, {"prepare__ward": {"latest": "ward", "by": "days"}}, "did you mean day?"),
    (ONE, {"prepare__ill": {"any": "ward"}}, 'is is missing: write is = "b", or a list of values'),
    (ONE, {"prepare__ill": {"any": "ward", "is": "c"}}, "'c'"),
    (
        ONE,
        {"columns__cost__step": "0.000001", "prepare__cost": {"sum": "cost", "upper": "0.5", "step": "1/999999999988"}},
        "leaves 62 bits on this grid: write a wider step for cost",
    ),
    (ONE, {"prepare__stays": {"count": "rows", "upper": 20, "missing": 21}}, "missing = 21 lies outside"),
    (TWO, {"source__visits__on": "age"}, "on = 'age': tables are joined only by the unit"),
    (TWO, {"source__visits__on": None}, 'on is missing: write on = "person"'),
    (TWO, {"source__visits__file": None}, 'file is missing: write file = "visits.csv"'),
    (TWO, {"source__visits__file": "visits.duckdb"}, "file must be a CSV or Parquet file"),
    (TWO, {"source__visits__columns": None}, "columns is missing: write [source.visits.columns.NAME]"),
    (TWO, {"source__visits__quotes": "none"}, "unknown key quotes"),
    (TWO, {"prepare__cost": {"sum": "visit.cost", "upper": 9}}, "the dataset declares no column 'visit.cost'"),
    (TWO, {"prepare": None}, "no line: write for example"),
    (
        changed(TWO, prepare={"age": {"latest": "age", "by": "age"}}, dataset__max_rows_per_unit=1),
        {},
        'no line of [prepare] takes anything of [source.visits]: write visits = { count = "visits", upper = 20 }',
    ),
    (TWO, {"prepare__age": {"count": "visits", "upper": 3}}, "declares column"),
]  # fmt: skip


TEXT = {"type": "text", "length": 8}


@pytest.mark.parametrize(
    "line", [{"any": "ward", "is": "a"}, {"latest": "ward", "by": "day"}, {"sum": "ward", "upper": 3}]
)
def test_nothing_is_taken_of_a_text(line):
    """Its values are nobody's list: the fix is to declare them."""
    with pytest.raises(
        OwnerError, match='a text cannot be summarised: declare ward as type = "category", with its values'
    ):
        load(changed(ONE, columns__ward=TEXT, prepare__ward=line), source="people.csv")


def test_rows_are_counted_whatever_their_first_column_is():
    """A text that stands first is left aside; a table of texts alone is refused with what to declare."""
    columns = {"note": TEXT, "cost": TWO["source"]["visits"]["columns"]["cost"]}
    lines = {"visits": {"count": "visits", "upper": 20}}
    schema = load(changed(TWO, source__visits__columns=columns, prepare=lines), source="people.csv").schema
    assert schema.names == ("age", "visits")
    with pytest.raises(OwnerError, match="counted by a column that is not a text: declare one more column"):
        load(changed(TWO, source__visits__columns={"note": TEXT}, prepare=lines), source="people.csv")


@pytest.mark.parametrize(("content", "facts", "words"), REFUSED, ids=[words[:40] for _, _, words in REFUSED])
def test_what_a_declaration_cannot_mean_is_refused_with_the_line_to_write(content, facts, words, tmp_path):
    """Before any row is read."""
    with pytest.raises(OwnerError) as refused:
        load(changed(content, **facts), source=tmp_path / "people.csv")
    assert words in str(refused.value)

"""Texts that nobody listed: what a cell's label is, its code, and that SQL reads every cell as numpy does, each by itself."""

from __future__ import annotations

import itertools
import json
from typing import Any

import duckdb
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpnb.datasets.exact_answers import answer
from dpnb.datasets.preparation import prepare
from dpnb.trusted.aggregate.algebra import Col, LabelSums
from dpnb.trusted.curator.engines.cell_sql import RULES as SQL
from dpnb.trusted.curator.engines.duckdb import DuckDBEngine
from dpnb.trusted.errors import SchemaError
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.schema.free_text import FreeText
from dpnb.trusted.schema.text_rules import LOWER, MEANINGS, UPPER, TextRule
from dpnb.trusted.schema.written_forms import date_rule, number_rule
from tests.contracts.handed import prepare as write
from tests.examples import examples

CELLS = [
    *("Nurse", " nurse ", "NURSE\t", "teacher", "Ärztin", "ÄRZTIN", "ß", "日本", "a" * 12, "a" * 13, "x y" * 8, "ab " * 4),
    *(None, "", "  ", "01234", "1234", "1.0", "1e3", "true", "a'b", "]^-\\[", "e\u0301x", "a\nb", "a\x0bb", "\u202eabc"),
    *("\u00a0x", "\u2003", "İ", "ſ", "K", "*" * 11 + "é", "\U0001f600"),
]  # fmt: skip
DECLARED: tuple[dict[str, Any], ...] = tuple(
    {"characters": characters, "case": case, "trim": trim, "beyond": beyond}
    for characters, case, trim, beyond in itertools.product(
        (("ascii",), ("latin",), ("letters", " -^]\\")),
        ("keep", "lower", "upper"),
        (True, False),
        ("missing", "cut"),
    )
)
FILLED = ({"missing": " None ", "case": "lower"}, {"missing": "a" * 9, "characters": ["letters"]})
"""What is missing has a label, of one whole number and of two."""


def column(**declared: Any) -> Column:
    """Labels of twelve characters."""
    return Column.free_text("t", 12, **declared)


def schema(*columns: Column) -> Schema:
    """Add-remove, of rows."""
    return Schema(
        "d", "D", columns, PrivacyUnit("add-remove"), Budget.from_toml({"epsilon": 1, "delta": "1e-6"})
    )


def labels(of: Column) -> LabelSums:
    """All labels of a column."""
    return LabelSums(tuple(Col(part) for part in of.parts), (Col("x"),))


@pytest.mark.parametrize(
    ("declared", "cell", "label"),
    [
        ({}, " Nurse ", "Nurse"),
        ({"case": "lower"}, "NURSE", "nurse"),
        ({"case": "upper", "characters": ["latin"]}, "ärztin", "ÄRZTIN"),
        ({"trim": False}, " x", " x"),
        ({}, "01234", "01234"),
        ({}, 1234, "1234"),
        ({}, 1.0, "1"),
        ({}, "a" * 13, None),
        ({"beyond": "cut"}, "a" * 13, "a" * 12),
        ({}, "caf\u00e9", None),
        ({"beyond": "cut"}, "caf\u00e9", "caf"),
        ({"beyond": "cut"}, "abcdefghijk lmno", "abcdefghijk"),
        ({"beyond": "cut"}, "日本", None),
        ({}, "  ", None),
        ({}, None, None),
        ({}, b"nurse", None),
        ({"missing": " Unknown "}, None, "Unknown"),
        ({"missing": "Unknown", "case": "lower"}, "a" * 13, "unknown"),
    ],
)
def test_a_cell_has_the_label_that_is_declared(
    declared: dict[str, Any], cell: Any, label: str | None
) -> None:
    """Too long and of other characters is missing or cut; blanks and case are one; a text of digits keeps its zeros."""
    of = column(**declared)
    table = prepare({"t": np.array([cell], dtype=object), "x": [1]}, schema(of, Column.integer("x", 0, 2)))
    (found,) = answer(table, [labels(of)])
    assert of.text is not None
    assert [of.text.told(codes) for codes in found.labels] == ([] if label is None else [label])


RULES = (
    TextRule("trim"),
    TextRule("letters", UPPER, LOWER),
    TextRule("letters", LOWER, UPPER),
    TextRule("only", "abAB -^]\\"),
    TextRule("cut", length=3),
    TextRule("within", "NURSEnurse é]^", length=6),
    date_rule("%m/%d/%Y"),
    date_rule("%d %b %y %I:%M %p"),
    number_rule(",", ".", "", False, False),
    number_rule(".", " ", "€ Fr.", True, True),
)


def test_every_rule_of_a_text_is_in_sql_what_it_is_in_python() -> None:
    """Each rule that SQL knows, by itself, over every cell; an empty text and NULL are missing."""
    assert {rule.kind for rule in RULES} == set(SQL) == set(MEANINGS)
    texts = [cell for cell in CELLS if cell is not None] + [
        "8/27/2014",
        "13/1/2014",
        "1 MAY 69 12:05 am",
        "1.234,5",
        "(€ 1 234.5)",
        "5 % Fr.",
    ]
    with duckdb.connect(config={"pandas_analyze_sample": "0"}) as connection:
        connection.register("cells", {"v": np.array(texts, dtype=object)})
        for rule in RULES:
            rows = connection.execute(f"SELECT {SQL[rule.kind]('v', rule)} FROM cells").fetchall()
            assert [row[0] or "" for row in rows] == [rule.of(text) for text in texts], rule


@pytest.mark.slow
@pytest.mark.parametrize("declared", [*DECLARED, *FILLED], ids=str)
def test_sql_reads_every_cell_as_numpy_does(tmp_path: Any, declared: dict[str, Any]) -> None:
    """The engine's labels, counts and sums are the reference's, on texts that ask for every clause; no cell raises."""
    of = column(**declared)
    where = schema(of, Column.integer("x", 0, 100))
    raw = {"t": np.array(CELLS * 2, dtype=object), "x": np.arange(2 * len(CELLS))}
    write(raw, where, tmp_path / "copy.duckdb")
    with DuckDBEngine(tmp_path / "copy.duckdb") as engine:
        (found,) = engine.answer([labels(of)])
    assert [found] == answer(prepare(raw, where), [labels(of)])
    assert list(found.labels) == sorted(found.labels)


@pytest.mark.slow
@settings(deadline=None, max_examples=examples(20))
@given(cells=st.lists(st.text(max_size=16), max_size=8), declared=st.sampled_from(DECLARED))
def test_sql_reads_any_text_as_numpy_does(
    tmp_path_factory: Any, cells: list[str], declared: dict[str, Any]
) -> None:
    """Whatever a text is."""
    of, path = column(**declared), tmp_path_factory.mktemp("any") / "copy.duckdb"
    where = schema(of, Column.integer("x", 0, 100))
    raw = {"t": np.array([*cells, "a"], dtype=object), "x": np.arange(len(cells) + 1)}
    write(raw, where, path)
    with DuckDBEngine(path) as engine:
        assert engine.answer([labels(of)]) == answer(prepare(raw, where), [labels(of)])


@settings(deadline=None, max_examples=examples(200))
@given(
    texts=st.lists(st.text("ab ä\u00ff~", max_size=14), min_size=2, max_size=2),
    declared=st.sampled_from(DECLARED),
)
def test_two_labels_have_one_code_only_if_they_are_equal(texts: list[str], declared: dict[str, Any]) -> None:
    """The code is injective, ordered as the bytes, and read back; a label of a label is itself."""
    text = FreeText(12, **{**declared, "characters": tuple(declared["characters"])})
    found = [text.label_of(one) for one in texts]
    codes = [None if label is None else text.codes_of(label) for label in found]
    assert (codes[0] == codes[1]) == (found[0] == found[1])
    for label, code in zip(found, codes, strict=True):
        if label is not None and code is not None:
            assert text.told(code) == text.label_of(label) == label
            assert len(label) <= 12
            assert all(0 <= word < 2**56 for word in code)
    if None not in found:
        assert (codes[0] < codes[1]) == (found[0].encode() < found[1].encode())  # type: ignore[operator, union-attr]


def test_a_cells_label_depends_on_no_other_cell() -> None:
    """Alone and among others, a cell has one label."""
    of = column(case="lower", beyond="cut")
    where = schema(of, Column.integer("x", 0, 9))
    alone = [prepare({"t": np.array([cell], dtype=object), "x": [0]}, where) for cell in CELLS]
    together = prepare({"t": np.array(CELLS, dtype=object), "x": [0] * len(CELLS)}, where)
    for part in of.parts:
        assert [one.columns[part].tolist()[0] for one in alone] == together.columns[part].tolist()


def test_the_two_cases_are_pairs_of_single_letters() -> None:
    """Each letter has one other, of as many bytes: a label's length does not depend on its case."""
    assert len(UPPER) == len(LOWER) == len(set(UPPER)) == 26 + 30
    assert [len(letter.encode()) for letter in UPPER] == [len(letter.encode()) for letter in LOWER]
    assert "".join(map(str.upper, LOWER)) == UPPER


@pytest.mark.parametrize(
    ("declared", "words"),
    [
        ({"length": 0}, "length is a whole number"),
        ({"length": True}, "length is a whole number"),
        ({"length": 113}, "write 112 at most"),
        ({"length": 57, "characters": ["latin"]}, "write 56 at most"),
        ({"length": 5, "characters": []}, "characters is a list"),
        ({"length": 5, "characters": ["a\0"]}, "characters are printable"),
        ({"length": 5, "case": "Lower"}, '"lower"'),
        ({"length": 5, "beyond": "drop"}, '"missing" or "cut"'),
        ({"length": 5, "trim": 1}, "true or false"),
        ({"length": 5, "missing": "unknown"}, "missing = 'unknown' is not a label of this column"),
        ({"length": 5, "missing": 0}, "missing = 0 is not a label"),
    ],
)
def test_what_no_label_can_be_is_refused_with_the_line_to_write(declared: dict[str, Any], words: str) -> None:
    """Before any data: the error names the column and the fix."""
    with pytest.raises(SchemaError, match=words):
        Column.free_text("t", **declared)


def test_the_declaration_is_read_back_and_changes_the_version() -> None:
    """The record is exact; every key of it is part of what a price and an answer depend on."""
    of = column(case="lower")
    assert Column.from_json(json.loads(json.dumps(of.to_json()))) == of
    versions = {schema(column(**one)).version for one in DECLARED}
    assert len(versions) == len(DECLARED)
    filled = column(case="lower", missing="None")
    assert Column.from_json(json.loads(json.dumps(filled.to_json()))) == filled
    assert not filled.drops
    with pytest.raises(SchemaError, match="labels as they are read"):
        Column.from_json({**of.to_json(), "missing": {"constant": "None"}})

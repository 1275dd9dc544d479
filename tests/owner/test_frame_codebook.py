"""What a frame says of its columns beside its rows is drafted; what its rows hold, and the levels of a category, never."""

from __future__ import annotations

import tomllib

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import feather
from pyarrow import parquet as pq

import dpnb
from dpnb.__main__ import main
from dpnb.owner.draft import draft_frame

ATTRS = {
    "column_names_to_labels": {"sex": "Sex of\nrespondent", "kin": "Relatives"},
    "variable_value_labels": {
        "sex": {1.0: "Male", 2.0: "Female", 9.0: "Refused"},
        "kin": {0: "None"},
        "town": {"G": "Goa", "P": "Pune"},
    },
    "missing_ranges": {"sex": [{"lo": 9, "hi": 9}], "kin": [{"lo": 97, "hi": 97}]},
    "variable_measure": {"sex": "nominal", "kin": "scale"},
}
"""As pyreadstat's metadata give them."""


def survey(attrs=None):
    """A frame, and what is said of it."""
    frame = pd.DataFrame({"sex": [1.0, 2, 9], "kin": [2, 0, 7], "town": ["G", "P", "G"], "age": [41, 7, 99]})
    frame.attrs = {} if attrs is None else attrs
    return frame


def stored(frame, path):
    """The draft of a frame in a file."""
    frame.to_parquet(path)
    assert main(["init", str(path), "--all"]) == 0
    return path.with_name(f"{path.stem}.dpnb.toml").read_text(encoding="utf-8")


@pytest.mark.parametrize("kept", ["memory", "parquet"])
def test_what_the_attrs_of_a_frame_say_is_drafted(tmp_path, kept):
    """Seen: labels and codes that .sav and .dta had were typed again where the same rows were a frame. JSON makes codes texts."""
    frame = survey(ATTRS)
    text = draft_frame(frame, whole=True) if kept == "memory" else stored(frame, tmp_path / "p.parquet")
    found = tomllib.loads(text)["columns"]
    assert (found["sex"]["label"], found["kin"]["label"]) == ("Sex of respondent", "Relatives")
    assert (found["sex"]["values"], found["sex"]["missing_codes"]) == ([1, 2], [9])
    assert "# 1: Male; 2: Female\n" in text
    assert (found["kin"]["type"], found["kin"]["missing_codes"]) == ("integer", [97])
    assert found["town"]["values"] == ["G", "P"]
    assert "column names, storage types and the codebook beside the rows alone" in text


@pytest.mark.parametrize("kept", ["memory", "parquet", "feather"])
def test_what_a_field_of_arrow_says_of_itself_is_its_label(tmp_path, kept):
    """The words that programs write there: a label, or else a description."""
    fields = [
        pa.field("sex", pa.int64(), metadata={"label": "Sex of respondent", "description": "as told"}),
        pa.field("age", pa.int64(), metadata={"description": "Years"}),
    ]
    table = pa.table({"sex": [1], "age": [2]}, schema=pa.schema(fields))
    if kept == "memory":
        text = draft_frame(table, whole=True)
    else:
        path = tmp_path / f"p.{kept}"
        (pq.write_table if kept == "parquet" else feather.write_feather)(table, str(path))
        assert main(["init", str(path), "--all"]) == 0
        text = (tmp_path / "p.dpnb.toml").read_text(encoding="utf-8")
    found = tomllib.loads(text)["columns"]
    assert (found["sex"]["label"], found["age"]["label"]) == ("Sex of respondent", "Years")


@pytest.mark.parametrize(
    "attrs",
    [
        {
            "column_names_to_labels": ["a", "b"],
            "missing_ranges": {"sex": [9, {"lo": "x", "hi": None}], "age": 3},
        },
        {
            "variable_value_labels": {
                "sex": {"one": "Male", "inf": "Many", "nan": "None", None: "x"},
                "age": [1],
            }
        },
        {"column_names_to_labels": {"sex": 5, "other": "Other"}, "variable_measure": {"sex": []}},
        {"source": "a survey"},
    ],
)
def test_notes_of_another_form_are_left_out(attrs):
    """A frame's attrs are anybody's: whatever they hold, the draft is that of names and types."""
    assert draft_frame(survey(attrs), whole=True) == draft_frame(survey(), whole=True)


def test_no_level_of_a_category_and_no_row_of_a_frame_is_drafted():
    """Levels are values that somebody observed: frames that differ in them and in their rows have one draft."""
    drafts = set()
    for places, ages in ((["Goa", "Pune"], [41, 7]), (["Köln"] * 3, [None, 99, 4])):
        frame = pd.DataFrame(
            {"place": pd.Series(places, dtype="category"), "age": pd.Series(ages, dtype="Int64")}
        )
        drafts |= {draft_frame(one) for one in (frame, pl.from_pandas(frame), pa.table(frame))}
        drafts.add(draft_frame({name: frame[name] for name in frame}))
    (text,) = drafts
    assert tomllib.loads(text)["columns"]["place"]["type"] == "category"
    assert "Goa" not in text


def test_a_filled_in_draft_of_a_frame_opens_it(tmp_path, dpnb_home):
    """It names no source, and how it is drafted again is said in its own words."""
    text = draft_frame(survey(ATTRS), "people", ["sex"])
    assert "dpnb init" not in text
    assert "# draft_frame(frame, columns=[…])" in text
    ready = text.replace('"TODO: the whole loss', "4  # ").replace('"TODO: row', '"row"  # ')
    (tmp_path / "people.toml").write_text(ready, encoding="utf-8")
    people = dpnb.open(survey(), schema=tmp_path / "people.toml", quiet=True)
    assert "Sex of respondent" in repr(people.sex)

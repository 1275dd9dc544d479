"""What an owner declares of the cells of a column: each rule is the same in every container and in SQL, and what an oracle says."""

from __future__ import annotations

import datetime as dt
import math
import random
import tempfile
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest

from dpnb.datasets.cell_text import text_of
from dpnb.datasets.preparation import coded, prepare, read
from dpnb.errors import OwnerError
from dpnb.trusted.curator.engines.preparing import _declare_categories, prepared_sql, uses_of
from dpnb.trusted.curator.engines.raw_table import open_source
from dpnb.trusted.files.dialect import STRICT
from dpnb.trusted.files.named_file import held
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.owner import load
from tests.contracts.handed import handed
from tests.curator.engines.test_row_locality import WRITERS

AGE: dict[str, Any] = {"type": "integer", "lower": 0, "upper": 100}
DAY: dict[str, Any] = {"type": "date", "bounds": ["2020-01-01", "2021-12-31"]}
SEX: dict[str, Any] = {"type": "category", "values": ["Female", "Male"]}
JOB: dict[str, Any] = {"type": "text", "length": 12, "case": "lower"}


def declared(column: dict[str, Any], **keys: Any) -> Schema:
    """A declaration of this one column, as it is read from its file."""
    return load(
        {
            "dataset": {"name": "people", "adjacency": "add-remove"},
            "budget": {"epsilon": 4},
            "columns": {"x": column | keys},
        }
    ).schema


def codes(schema: Schema, raw: Any, folder: Any) -> list[Any]:
    """The codes that the curator's SQL writes of a file or of a frame; of a text the first of its whole numbers."""
    return [row[0] for row in rows(schema, raw, folder)]


def rows(schema: Schema, raw: Any, folder: Any) -> list[tuple[Any, ...]]:
    """The rows of a copy, by the statement that writes it."""
    with (
        tempfile.TemporaryDirectory(dir=folder) as workshop,
        held(raw, STRICT) as named,
        duckdb.connect(config={"pandas_analyze_sample": "0", "threads": "1"}) as engine,
    ):
        _declare_categories(engine, schema)
        source = open_source(engine, handed(named, schema), workshop=Path(workshop), uses=uses_of(schema))
        return engine.execute(prepared_sql({"": source}, schema, b"key")).fetchall()


def everywhere(schema: Schema, cells: list[Any], folder: Any) -> list[Any]:
    """The codes of these cells, which are the same in every container and one by one."""
    (one,) = schema.columns
    wanted = [coded([cell], one)[one.parts[0]].tolist()[0] for cell in cells]
    assert coded(cells, one)[one.parts[0]].tolist() == wanted
    texts = [text_of(cell) or "" for cell in cells]
    objects = pd.DataFrame({"x": pd.Series(cells, dtype=object)})
    frames = [
        {"x": cells},
        objects,
        objects.astype("category"),
        pl.DataFrame({"x": texts}, schema={"x": pl.String}),
    ]
    for frame in [*frames, pd.DataFrame({"x": cells}), pd.DataFrame({"x": texts})]:
        assert codes(schema, frame, folder) == wanted, type(frame)
    for ending, make in WRITERS.items():
        for column in (cells, texts):
            path = folder / f"rows{ending}"
            path.unlink(missing_ok=True)
            make(path, {"x": column, "beside": [1] * len(column)})
            assert codes(schema, path, folder) == wanted, ending
    return wanted


# Missing codes ----------------------------------------------------------------------------------------------------

CODED = (
    (AGE, [999, -99, "refused", "."], [41, 999, "999", " 999.0", 998, -99, "-99", "refused", ".", "", None, 7.0],
     [41, None, None, None, 100, None, None, None, None, None, None, 7]),
    (AGE | {"missing": 0}, [999], [41, 999, "x", None], [41, 0, 0, 0]),
    (AGE | {"type": "number"}, [99.5, "-1e0"], [99.5, "99.50", 99, -1, "-1", 1], [None, None, 1038090, None, None, 10486]),
    (SEX, ["refused", 9], ["Male", "refused", 9, "9.0", "Female", "male"], [1, None, None, None, 0, None]),
    (DAY, ["2020-01-01", 99999999, "9999-12-31"], ["2020-01-02", "2020-01-01", "2020-01-01T00:00", " 2020-01-01 ", "9999-12-31", "9999-12-30", 99999999],
     [1, None, None, None, None, 730, None]),
    (JOB, ["Refused", 0], ["nurse", "REFUSED", " refused ", "0", 0, "00"], [int.from_bytes(b"nurse" + bytes(2)), None, None, None, None, int.from_bytes(b"00" + bytes(5))]),
)  # fmt: skip


@pytest.mark.parametrize(("column", "missing", "cells", "wanted"), CODED, ids=range(len(CODED)))
def test_a_cell_that_is_a_code_is_missing(column, missing, cells, wanted, tmp_path):
    """However the code is written, in whatever the cells come; a cell beside it is what it was."""
    assert everywhere(declared(column, missing_codes=missing), cells, tmp_path) == wanted


def test_codes_for_unknown_are_no_upper_bound(tmp_path):
    """Seen: 999 counted as the upper bound, and a mean of 52.69 was told where 47.87 is right."""
    rng = random.Random(43)
    ages = [rng.choice([999, 999, -99]) if rng.random() < 0.2 else rng.randint(18, 90) for _ in range(400)]
    (tmp_path / "people.csv").write_text("x\n" + "\n".join(map(str, ages)) + "\n")
    found = codes(declared(AGE, missing_codes=[999, -99]), tmp_path / "people.csv", tmp_path)
    right = pd.read_csv(tmp_path / "people.csv", na_values=[999, -99])["x"].mean()
    assert np.mean([code for code in found if code is not None]) == right
    wrong = codes(declared(AGE), tmp_path / "people.csv", tmp_path)
    assert abs(np.mean(wrong) - right) > 1


# Dates ------------------------------------------------------------------------------------------------------------

AT = {"type": "datetime", "bounds": ["1968-01-01", "2068-12-31"], "step": "hour"}
FORMS = (
    ("%m/%d/%Y", ["8/27/2014", "08/27/2014", "27/8/2014", "8/27/14", "2/29/2015", "8/27/2014 23:30-02:00", "8/27/2014 9:05", " 8/7/2014\t"]),
    ("%d.%m.%Y", ["27.8.2014", "27.08.2014 10:30", "27-8-2014", "31.4.2014", "27.8.0000", "1.1.9999"]),
    ("%d/%m/%y", ["27/08/68", "27/08/69", "27/8/00", "1/1/1999"]),
    ("%Y%m%d", ["20140827", 20140827, "2014827", "20141301", "20140827T10:30Z"]),
    ("%d %b %Y", ["27 AUG 2014", "27 aug 2014", "27 August 2014", "1 May 2014 00:15:59.9+02:30", "27  Aug 2014", "27 \u017fep 2014", "27 Sep 2014"]),
    ("%B %d, %Y", ["August 27, 2014", "may 1, 2014", "Mayy 1, 2014", "AUGUST 27,2014"]),
    ("%b%d%Y", ["Aug272014", "May012014", "May12014"]),
    ("%m/%d/%Y %I:%M %p", ["8/27/2014 12:05 AM", "8/27/2014 12:05 pm", "8/27/2014 1:05:30PM", "8/27/2014 13:05 PM", "8/27/2014"]),
    ("%d.%m.%Y %H:%M", ["27.8.2014 9:05", "27.8.2014 24:00", "27.8.2014T09:05:01Z"]),
    ("%Y年%m月%d", ["2014年8月27"]),
    ("%dé%m, %Y", ["27é8, 2014", "27É8, 2014"]),
    ("%Y-%m-%d", ["2014-8-27", "2014-08-27"]),
)  # fmt: skip
ALWAYS = [
    "2014-08-27",
    "2014-08-27 23:30-02:00",
    dt.date(2014, 8, 27),
    dt.datetime(2014, 8, 27, 10, 30),  # noqa: DTZ001
    None,
    "",
    "soon",
    7,
]


def by_python(cell: Any, format: str) -> dt.datetime | None:
    """What Python's own reading of dates says: of the declared form with or without a time of day, else of ISO."""
    if isinstance(cell, dt.date):
        return dt.datetime.combine(cell, dt.time()) if not isinstance(cell, dt.datetime) else cell
    text = str(int(cell) if isinstance(cell, float) else cell).strip()
    date, _, half = format.partition(" %I")
    plain = ["%H:%M", "%H:%M:%S", "%H:%M:%S.%f"]
    halves = ["%I:%M %p", "%I:%M:%S %p", "%I:%M%p", "%I:%M:%S%p"]
    zoned = [*plain, *(f"{clock}%z" for clock in plain)]
    own = date.partition(" %H")[0]
    clocks = {own: halves if half else zoned, "%Y-%m-%d": zoned}
    forms = [f"{day}{mark}{clock}" for day, all_of in clocks.items() for mark in " T" for clock in all_of]
    for form in [*clocks, *forms]:
        try:
            found = dt.datetime.strptime(text, form)  # noqa: DTZ007
        except ValueError:
            continue
        return found if found.tzinfo is None else found.astimezone(dt.UTC).replace(tzinfo=None)
    return None


@pytest.mark.parametrize(("form", "cells"), FORMS, ids=[form for form, _ in FORMS])
def test_a_date_is_read_as_its_form_is_declared(form, cells, tmp_path):
    """In every container the hour that Python's own reading finds; a date that a container holds as such is itself."""
    found = everywhere(declared(AT, format=form), [*cells, *ALWAYS], tmp_path)
    start = dt.datetime(1968, 1, 1)  # noqa: DTZ001
    hours = [by_python(cell, form) for cell in [*cells, *ALWAYS]]
    last = (dt.datetime(2068, 12, 31) - start) // dt.timedelta(hours=1)  # noqa: DTZ001
    wanted = [
        None if hour is None else min(max((hour - start) // dt.timedelta(hours=1), 0), last) for hour in hours
    ]
    # Python reads digits and blanks that no form here does
    strict = {"8/27/14", "2014827", "May12014", "27  Aug 2014", "27.8.0000", "AUGUST 27,2014", "27É8, 2014"}
    wanted = [None if cell in strict else code for cell, code in zip([*cells, *ALWAYS], wanted, strict=True)]
    assert found == wanted


def test_a_month_needs_no_day(tmp_path):
    """Where months are counted, a form may leave the day out."""
    months = DAY | {"step": "month"}
    assert everywhere(declared(months, format="%b %Y"), ["Jan 2020", "FEB 2020", "x"], tmp_path) == [
        0,
        2,
        None,
    ]


def test_drawn_texts_are_dates_where_python_says_so(tmp_path):
    """Ten thousand texts near the form: SQL, the reference and Python's own reading agree on each."""
    rng = random.Random(8)
    for form in ("%m/%d/%Y", "%d.%m.%y", "%d-%b-%Y", "%Y%m%d"):
        days = [dt.date(rng.randint(1000, 9999), rng.randint(1, 12), rng.randint(1, 28)) for _ in range(2500)]
        texts = [
            "".join(
                rng.choice("0123456789/.-a") if rng.random() < 0.1 else letter
                for letter in day.strftime(form)
            )
            for day in days
        ]
        schema = declared(DAY | {"bounds": ["0001-01-01", "9999-12-31"]}, format=form)
        found = codes(schema, {"x": texts}, tmp_path)
        assert found == coded(texts, schema["x"])["x"].tolist()
        oracle = [by_python(text, form) for text in texts]
        assert found == [None if day is None else day.toordinal() - 1 for day in oracle]
        assert 100 < sum(code is not None for code in found) < 2500


# Categories -------------------------------------------------------------------------------------------------------

YES = {"type": "category", "true": ["Yes", "y", 1], "false": ["No", "n", "2"]}
CATEGORIES = (
    (SEX, {}, [" Male", "male", "Male"], [None, None, 1]),
    (SEX, {"trim": True}, [" Male", "Male\t", "male", "Ma le", "\u00a0Male", ""], [1, 1, None, None, None, None]),
    (SEX, {"case": "any"}, ["MALE", "male", " male", "fEMALE"], [1, 1, None, 0]),
    (SEX, {"trim": True, "case": "any", "missing_codes": ["N/A"]}, [" MALE ", "n/a", "other"], [1, None, None]),
    ({"type": "category", "values": [" a", "01"]}, {"trim": True}, ["a", " a ", " 1 ", 1, 1.0, "01"], [0, 0, 1, 1, 1, 1]),
    ({"type": "category", "values": ["\u00c4rztin", "\u03a9"]}, {"case": "any"}, ["\u00e4RZTIN", "\u03a9", "\u03c9"], [0, 1, None]),
    (YES, {}, ["Yes", "yes", "y", 1, "1.0", "No", 2, "n", "0", 0, "true", None], [1, None, 1, 1, 1, 0, 0, 0, None, None, 1, None]),
    (YES, {"case": "any", "trim": True}, [" YES", "Y", "no ", "1", "maybe"], [1, 1, 0, 1, None]),
    (YES | {"values": [True, False], "missing": False}, {"missing_codes": [9]}, ["Yes", "No", 9, "x"], [0, 1, 1, 1]),
    (YES | {"values": [0, 1]}, {}, ["Yes", "No"], [1, 0]),
    ({"type": "category", "true": [1], "false": [0]}, {}, [True, False, "true", 1.0, "0"], [1, 0, 1, 1, 0]),
)  # fmt: skip


@pytest.mark.parametrize(("column", "keys", "cells", "wanted"), CATEGORIES, ids=range(len(CATEGORIES)))
def test_a_category_is_read_as_its_cells_are_written(column, keys, cells, wanted, tmp_path):
    """Seen: " Male" was unread of values = ["Male"]. Blanks and case are left out where it is declared; yes and no are listed."""
    assert everywhere(declared(column, **keys), cells, tmp_path) == wanted


# Numbers ----------------------------------------------------------------------------------------------------------

MONEY = {"type": "number", "lower": -(2**20), "upper": 2**20, "step": "0.25"}
GERMAN = {"decimal": ",", "thousands": "."}
NUMBERS = (
    (GERMAN, {"1.234,5": 1234.5, "1234,5": 1234.5, "-1.000": -1000, "1.23": None, "1,234.5": None, "1.5": None, "1,5": 1.5, "12": 12, 12: 12,
              "1.234.56": None, " 7,25\t": 7.25, ",5": 0.5, "1,": 1, "5e2": 500, "1,5e2": 150, "-inf": -math.inf, "": None, "true": 1, False: 0}),
    ({"thousands": ","}, {"2,39,554": 239554, "239,554": 239554, "2,39,55": None, "23,9554": None, "1,2,345": None, "12,34,567.5": 1234567.5,
                          1234.5: 1234.5, -3: -3, 1e9: 1e9, "1234.5": 1234.5, ",5": None, "1,234,": None}),
    ({"thousands": " ", "decimal": ","}, {"1 234,5": 1234.5, "1\u00a0234": 1234, "1\u202f234\u2009567": 1234567, "1  234": None}),
    ({"thousands": "'"}, {"1'234.5": 1234.5, "1\u2019234": 1234}),
    ({"strip": "\u20ac $ kr Rs. EUR"}, {"$ 5": 5, "-$5": -5, "$-5": -5, "-$-5": None, "5 kr": 5, "Rs.5": 5, "Rs..5": 0.5, "5\u00a0\u20ac": 5, "EUR 5e3": 5000,
                                    "5 eur": None, "$": None, "kr kr 5": None, 7.5: 7.5, "inf": math.inf, "5%": None}),
    ({"strip": "%"}, {"12.5%": 12.5, "12.5 %": 12.5, 0.5: 0.5}),
    ({"percent": True}, {"1250%": 12.5, "-50 %": -0.5, "100": 100, 0.5: 0.5, "5e2%": None, "%": None, "%50": 0.5}),
    ({"parentheses": True}, {"(5)": -5, "( 1200.5 )": -1200.5, "(-5)": None, "(5": None, "5)": None, "5": 5, "-5": -5, "()": None}),
    ({"parentheses": True, "strip": "$", "thousands": ",", "percent": True}, {"($1,200)": -1200, "$(1,200)": -1200, "(50%)": -0.5, "(50)%": -0.5, "$ 5": 5}),
    ({"missing_codes": [-1, "n/a", "1.000,5"], **GERMAN}, {"-1": None, "-1,0": None, "1.000,50": None, "1000,5": None, "n/a": None, "-1,5": -1.5}),
)  # fmt: skip


@pytest.mark.parametrize(("keys", "cells"), NUMBERS, ids=range(len(NUMBERS)))
def test_a_number_is_read_as_its_form_is_declared(keys, cells, tmp_path):
    """In every container that has texts or numbers of its own; what the form does not say is never another number."""
    column = declared(MONEY, **keys)["x"]
    wanted = [None if value is None else column.code_of(value) for value in cells.values()]
    assert everywhere(declared(MONEY, **keys), list(cells), tmp_path) == wanted


def test_drawn_numbers_are_those_that_were_written(tmp_path):
    """Numbers written in each form are read as themselves; texts near them are in SQL what they are in the reference."""
    rng = random.Random(4)
    for keys in (
        {"thousands": ","},
        GERMAN,
        GERMAN | {"strip": "\u20ac Fr.", "parentheses": True, "percent": True},
    ):
        numbers = [rng.randint(-(2**21), 2**21) / 4 for _ in range(1500)]
        marks = str.maketrans(",.", ".,") if "decimal" in keys else {}
        texts = [f"{number:,.2f}".translate(marks) for number in numbers]
        if "strip" in keys:
            texts = [f"\u20ac ({text[1:]})" if text.startswith("-") else f"{text} Fr." for text in texts]
        near = [
            "".join(
                rng.choice("0123456789.,-()% \u20aceF") if rng.random() < 0.1 else letter for letter in text
            )
            for text in texts
        ]
        schema = declared(MONEY, **keys)
        found = codes(schema, {"x": texts + near}, tmp_path)
        assert found[: len(texts)] == [schema["x"].code_of(number) for number in numbers]
        assert found == coded(texts + near, schema["x"])["x"].tolist()
        assert 0 < sum(code is None for code in found) < len(near)


@pytest.mark.parametrize("ending", [".parquet", ".duckdb"])
def test_numbers_with_a_point_of_their_own_refuse_another_decimal(ending, tmp_path):
    """A column that holds floats is told to drop the key; nothing is read as a thousand of it."""
    WRITERS[ending](tmp_path / f"rows{ending}", {"x": [1.234, 5.5], "beside": [1, 1]})
    for raw in (tmp_path / f"rows{ending}", {"x": np.array([1.234, 5.5])}):
        with pytest.raises(OwnerError, match='remove decimal = ","'):
            codes(declared(MONEY, **GERMAN), raw, tmp_path)
    with pytest.raises(OwnerError, match='remove decimal = ","'):
        coded(np.array([1.234]), declared(MONEY, **GERMAN)["x"])


@pytest.mark.parametrize("ending", [".xlsx", ".jsonl"])
def test_a_number_beside_texts_with_a_comma_is_that_number(ending, tmp_path):
    """Seen: a cell that Excel held as the number 1.234 counted as 1234, and 1.5 as missing, where another cell was the text 1.234,5."""
    cells = [1.234, 1.5, "1.234,5", 7, 1e-7, -0.25, "x"]
    schema = declared(MONEY, **GERMAN)
    for column in (cells, [cell for cell in cells if not isinstance(cell, str)]):
        WRITERS[ending](tmp_path / f"rows{ending}", {"x": column, "beside": [1] * len(column)})
        numbers = [1234.5 if cell == "1.234,5" else cell for cell in column]
        wanted = [None if cell == "x" else schema["x"].code_of(cell) for cell in numbers]
        assert codes(schema, tmp_path / f"rows{ending}", tmp_path) == wanted


@pytest.mark.parametrize(
    "number", [1.5, np.float64(1.5), Decimal("1.5"), Fraction(3, 2)], ids=lambda n: type(n).__name__
)
def test_a_number_among_the_objects_of_a_frame_is_that_number_too(number, tmp_path):
    """Seen: 1.234 in a pandas column of objects counted as 1234 under decimal = ","."""
    schema = declared(MONEY, **GERMAN)
    frame = pd.DataFrame({"x": pd.Series([1.234, number, "1.234,5", 7, None], dtype=object)})
    wanted = [*map(schema["x"].code_of, (1.25, 1.5, 1234.5, 7)), None]
    assert codes(schema, frame, tmp_path) == coded(frame["x"], schema["x"])["x"].tolist() == wanted
    assert [read(cell, schema["x"]) for cell in frame["x"]] == wanted


# Refusals ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "keys", "words"),
    [
        (AGE, {"missing": [999, -99]}, r"missing is one value; .* write missing_codes = \[999, -99\]"),
        (SEX, {"missing": ["no", "x"]}, r"missing is one value; .* write missing_codes"),
        (AGE, {"missing_codes": 999}, r"missing_codes is a list: write missing_codes = \[999, -99"),
        (AGE, {"missing_codes": "999"}, "missing_codes is a list"),
        (AGE, {"missing_codes": [999, "999.0"]}, "missing_codes names '999.0', which is one cell with 999"),
        (AGE, {"missing_codes": [True]}, "missing_codes are numbers and texts, not True"),
        (AGE, {"missing_codes": [[1]]}, "missing_codes are numbers and texts"),
        (AGE, {"missing_codes": [" "]}, "an empty cell is missing in any case"),
        (AGE, {"missing_codes": [math.nan]}, "missing_codes"),
        (AGE, {"missing_codes": list(range(1001))}, "at most 1,000"),
        (SEX, {"missing_codes": ["Male"]}, "missing_codes and values both name 'Male'"),
        ({"type": "category", "values": [0, 1]}, {"missing_codes": ["01"]}, "missing_codes and values both name 1"),
        (JOB, {"missing_codes": ["A", "a "]}, "which is one cell with"),
        (DAY, {"format": "MM/DD/YYYY"}, "format = 'MM/DD/YYYY' has no year: write for example format = \"%m/%d/%Y\""),
        (DAY, {"format": "%m/%d/%q"}, "%q is none of %Y, %y, %m, %d, %b, %B"),
        (DAY, {"format": "%m/%d"}, "has no year"),
        (DAY, {"format": "%m/%d/%Y %y"}, "names the year twice"),
        (DAY, {"format": "%m/%Y"}, "has no day: add %d, or write step"),
        (DAY, {"format": "%Y-%d-%m"}, "would be another day: convert the column"),
        (DAY, {"format": "%d/%m/%Y %H"}, "a time of day is written at the end, as one of"),
        (DAY, {"format": "%dth %m %Y"}, "between directives stand marks such as / - . and blanks"),
        (DAY, {"format": 5}, "format is a text"),
        (DAY, {"format": "%m/%d/%Y "}, "a date neither begins nor ends in a blank: leave it out"),
        (DAY, {"format": " %m/%d/%Y"}, "a date neither begins nor ends in a blank: leave it out"),
        (DAY, {"format": "%m/%d/%Y  %H:%M"}, "a date neither begins nor ends in a blank: leave it out"),
        (AGE, {"format": "%Y"}, 'format does not go with type = "integer"'),
        (AGE, {"decimal": ",", "thousands": ","}, 'decimal = "," and thousands = "," are one mark: write decimal = "."'),
        (AGE, {"thousands": "."}, 'decimal = "." and thousands = "." are one mark: write decimal = ","'),
        (AGE, {"decimal": ";"}, "decimal = ';': write"),
        (AGE, {"thousands": 3}, "thousands = 3: write"),
        (AGE, {"strip": "$ 5"}, "'5' can be part of a number"),
        (AGE, {"strip": "$ e"}, "'e' can be part of a number"),
        (AGE, {"strip": "-$"}, "can be part of a number"),
        (AGE, {"strip": "[x"}, "can be part of a number"),
        (AGE, {"strip": ["$"]}, "strip is a text"),
        (AGE, {"percent": 1}, "percent = 1: write true or false"),
        (AGE, {"parentheses": "yes"}, "parentheses = 'yes': write true or false"),
        (SEX, {"trim": 1}, "trim = 1: write true or false"),
        (SEX, {"case": "lower"}, "case = 'lower': write"),
        (SEX, {"values": ["Male", "male"], "case": "any"}, "'Male' and 'male' are one cell under trim or case"),
        (SEX, {"values": ["a", " "], "trim": True}, "' ' is a missing cell under trim or case"),
        (SEX, {"true": ["Male"], "false": ["Female"]}, "true and false go with values = .false, true."),
        (YES, {"false": []}, "true and false are declared together"),
        (YES, {"false": ["no", "y"]}, "false names 'y', which is one cell with 'y' of true: keep one"),
        (YES, {"missing_codes": ["Yes"]}, "'Yes' of missing_codes"),
        (YES, {"true": "Yes"}, 'true is a list: write true = ."Yes", "y", 1'),
    ],
)  # fmt: skip
def test_a_wrong_rule_is_refused_before_anything_is_pinned(column, keys, words):
    """One clear error that names the key, and where it stands."""
    with pytest.raises(OwnerError, match=words) as refused:
        declared(column, **keys)
    assert str(refused.value).startswith("the schema, [columns.x]: ")


# Every rule -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("column", "keys"),
    [
        (AGE, {"missing_codes": [999, "refused"]}),
        (DAY, {"missing_codes": [dt.date(2020, 1, 1), "n/a"]}),
        (DAY, {"missing_codes": ["12/31/2021", "0/0/0000"], "format": "%m/%d/%Y"}),
        (JOB, {"missing_codes": ["refused"]}),
        (SEX, {"trim": True, "case": "any", "missing_codes": ["N/A"]}),
        ({"type": "category", "values": [False, True]}, {"true": ["Yes"], "false": ["No", 2]}),
        (
            MONEY,
            {
                "missing_codes": [1.234, "1.234,5"],
                "strip": "$",
                "percent": True,
                "parentheses": True,
                **GERMAN,
            },
        ),
    ],
)
def test_rules_are_part_of_what_is_declared(column, keys):
    """They are written, read again, change the version, and a column without them is what it always was."""
    with_rules, without = declared(column, **keys), declared(column)
    assert Schema.from_json(with_rules.to_json()) == with_rules
    assert with_rules.version != without.version
    assert not without["x"].cells
    assert set(with_rules["x"].to_json()) - set(without["x"].to_json()) == set(keys)


def test_the_unit_is_read_of_the_raw_cell(tmp_path):
    """A code in a column that names the unit as well is missing where it is asked about, and still names its unit."""
    schema = load(
        {
            "dataset": {"name": "p", "adjacency": "add-remove", "unit": "x", "max_rows_per_unit": 2},
            "budget": {"epsilon": 4},
            "columns": {"x": AGE | {"missing_codes": [99]}},
        }
    ).schema
    (tmp_path / "rows.csv").write_text("x\n1\n99\n99\n99\n")
    assert sorted(codes(schema, tmp_path / "rows.csv", tmp_path), key=str) == [1, None, None]
    table = prepare({"x": [1, 99, 99, 99]}, schema)
    assert sorted(table.columns["x"].tolist(), key=str) == [1, None, None]


def test_many_columns_are_read_by_their_own_rules(tmp_path):
    """More columns than a statement reads one by one: each has codes of its own."""
    columns = {f"x{n}": AGE | {"missing_codes": [n]} for n in range(40)}
    schema = load(
        {"dataset": {"name": "p", "adjacency": "add-remove"}, "budget": {"epsilon": 4}, "columns": columns}
    ).schema
    found = rows(schema, {name: list(range(40)) for name in columns}, tmp_path)
    assert found == [tuple(None if n == row else row for n in range(40)) for row in range(40)]

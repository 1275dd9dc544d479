"""What would read the unread cells: named by check, cells on the owner's terminal alone, and written by --fix where it is no choice."""

from __future__ import annotations

import tomllib

import pandas as pd
import pytest

from dpnb.owner import unread_cells
from dpnb.owner.unread_cells import remedy, write_keys
from dpnb.trusted.schema.owner import load
from tests.owner.test_check import on_a_terminal

HEAD = '[dataset]\nname = "town"\nsource = "town.csv"\nadjacency = "add-remove"\nunit = "row"\n\n[budget]\nepsilon = 4\n'
DATE = 'type = "date"\nbounds = ["2010-01-01", "2019-12-31"]\n'
VISITS = "\n".join(["visit", *(f"{day % 12 + 1}/{day}/2014" for day in range(1, 29)), "soon"]) + "\n"


def town(folder, rows, *columns):
    """A file and its declaration; returns where that is."""
    (folder / "town.csv").write_text(rows, encoding="utf-8")
    path = folder / "town.dpnb.toml"
    path.write_text(
        HEAD + "".join(f"\n[columns.{name}]\n{facts}" for name, facts in columns), encoding="utf-8"
    )
    return path


def test_check_names_the_format_that_reads_the_dates(tmp_path, admin):
    """Seen: "no cell is a date. Check its type" of a column whose type is right."""
    path = town(tmp_path, VISITS, ("visit", DATE))
    status, said, _ = on_a_terminal("check", path)
    assert status == 0
    line = next(line for line in said.splitlines() if "looks like" in line)
    assert 'looks like month/day/year: write format = "%m/%d/%Y"; with it 96.6 % are read.' in line
    assert line.startswith('visit: "')
    status, piped = admin("check", path, "--not-private")
    assert 'visit: write format = "%m/%d/%Y"; with it 96.6 % are read.' in piped
    assert "2014" not in piped
    assert "soon" not in piped
    facts = admin("check", path, "--not-private", as_json=True)[1]
    assert facts["remedies"] == [{"table": "", "column": "visit", "write": [{"format": "%m/%d/%Y"}]}]


def test_fix_writes_the_key_alone_and_marks_it(tmp_path, admin):
    path = town(tmp_path, VISITS, ("visit", DATE + "# my own line\n"))
    before = path.read_text()
    status, said = admin("check", path, "--not-private", "--fix")
    assert status == 0
    assert 'Wrote for visit: format = "%m/%d/%Y"' in said
    added = 'format = "%m/%d/%Y"  # seen on data: dpnb check --fix\n'
    assert path.read_text() == before.replace("[columns.visit]\n", f"[columns.visit]\n{added}")
    assert load(path).schema["visit"].cells.format == "%m/%d/%Y"
    assert admin("check", path, "--not-private", as_json=True)[1]["columns"][0]["unread"] == 1
    again = path.read_text()
    assert "Nothing was written" in admin("check", path, "--not-private", "--fix")[1]
    assert path.read_text() == again


def test_fix_never_chooses_between_two_ways_and_never_writes_values_or_codes(tmp_path, admin):
    """Days up to 12 are months too; other categories and words for unknown are what only a person knows."""
    rows = "visit,sex,age\n" + "".join(
        f"{n % 12 + 1}/{n % 7 + 1}/2014,{'fmx'[n % 3]},refused\n" for n in range(30)
    )
    columns = ("visit", DATE), ("sex", 'type = "category"\nvalues = ["f", "m"]\n')
    path = town(tmp_path, rows, *columns, ("age", 'type = "integer"\nlower = 0\nupper = 100\n'))
    before = path.read_text()
    said = admin("check", path, "--not-private", "--fix")[1]
    assert path.read_text() == before
    assert "can be read in 2 ways: write the one that is right" in said
    assert 'format = "%m/%d/%Y" (month/day/year), or format = "%d/%m/%Y" (day/month/year)' in said
    assert "sex: 33.3 % of the cells are none of the declared values, and count as missing." in said
    assert "refused" not in said
    shown = on_a_terminal("check", path)[1]
    assert (
        'age: not read are for instance "refused" (30). If they mean unknown, write missing_codes = ["refused"].'
        in shown
    )


WHEN = {"type": "date", "bounds": ["2010-01-01", "2019-12-31"]}
SEX = {"type": "category", "values": ["Male", "Female"]}
PAY = {"type": "number", "lower": 0, "upper": 10**7}


@pytest.mark.parametrize(
    ("facts", "cells", "keys"),
    [
        (WHEN, ["27.08.2014", "1.2.2015"], [{"format": "%d.%m.%Y"}]),
        (WHEN, ["27 Aug 2014"], [{"format": "%d %b %Y"}]),
        (WHEN, ["20140827", "20140102"], [{"format": "%Y%m%d"}]),
        (WHEN | {"type": "datetime"}, ["2014/08/27 5:45:00 PM", "2015/01/02 11:02:03 AM"], [{"format": "%Y/%m/%d %I:%M %p"}]),
        (WHEN, ["soon", "later"], []),
        (WHEN | {"format": "%d/%m/%Y"}, ["8/27/2014"], []),
        (PAY, ["3,5", "12,25"], [{"decimal": ","}]),
        (PAY, ["1.234,50", "3,5"], [{"decimal": ",", "thousands": "."}]),
        (PAY, ["1,234", "1,234,567"], [{"thousands": ","}]),
        (PAY, ["1,234", "2,345"], [{"decimal": ","}, {"thousands": ","}]),
        (PAY, ["2,39,554"], [{"thousands": ","}]),
        (PAY, ["12 345", "1 234 567"], [{"thousands": " "}]),
        (PAY, ["$1,234.50"], [{"thousands": ",", "strip": "$"}]),
        (PAY | {"lower": -(10**7)}, ["(1,200,000)", "(30)"], [{"thousands": ",", "parentheses": True}]),
        (PAY, ["12,5 %", "3 %"], [{"decimal": ",", "strip": "%"}, {"decimal": ",", "percent": True}]),
        ({"type": "category", "values": [False, True]}, ["ja", "nein"], [{"true": ["ja"], "false": ["nein"]}]),
        (SEX, [" Male", "Female "], [{"trim": True}]),
        (SEX, ["MALE", "female"], [{"case": "any"}]),
        (SEX, ["other", "unknown"], []),
        ({"type": "text", "length": 3}, ["long text"], []),
    ],
)  # fmt: skip
def test_what_reads_most_is_found_by_the_definition_of_reading(facts, cells, keys):
    assert list(remedy("visit", facts, [(cell, 1) for cell in cells]).keys) == keys


def test_what_reads_fewer_cells_than_now_is_no_remedy(monkeypatch):
    """A form that reads two cells and loses forty: the whole column decides."""
    monkeypatch.setitem(unread_cells._TRIED, "date", [{"format": "%d.%m.%Y"}, {"format": "%m/%d/%Y"}])
    assert len(remedy("when", WHEN, [("8/27/2014", 2)], [("2014-08-27", 40)]).keys) == 1
    monkeypatch.setattr(unread_cells, "_read_as", lambda cell, column: cell if "/" in cell else None)
    assert remedy("when", WHEN, [("8/27/2014", 2)], [("2014-08-27", 40)]).keys == ()


def test_a_decimal_comma_alone_is_none_where_points_stand_between_thousands():
    """1.234 is read as a decimal today: the whole column decides."""
    assert remedy("pay", PAY, [("3,5", 2)], [("1.234", 3), ("17", 5)]).keys == (
        {"decimal": ",", "thousands": "."},
    )
    assert remedy("pay", PAY, [("3,5", 2)], [("0.25", 40), ("1.5", 1)]).keys == ()


def test_fix_writes_no_sign_and_no_case(tmp_path, admin):
    """They are named, and left to the owner."""
    rows = "pay,sex\n" + "$5,MALE\n$7,FEMALE\n" * 5
    pay = 'type = "number"\nlower = 0\nupper = 9\n'
    path = town(tmp_path, rows, ("pay", pay), ("sex", 'type = "category"\nvalues = ["Male", "Female"]\n'))
    before, said = path.read_text(), admin("check", path, "--not-private", "--fix")[1]
    assert path.read_text() == before
    assert 'pay: write strip = "$"; with it 100 % are read.' in said
    assert 'sex: write case = "any"; with it 100 % are read.' in said


def test_several_keys_are_them_and_the_command_that_writes_them_is_named(tmp_path):
    """Seen: "write decimal and thousands; with it 100 % are read", and an owner who typed the lines that --fix writes."""
    rows = "pay;cost;visit\n" + "1.234,5;($1,234.5);8/27/2014\n2.000,0;$2,000.0;9/28/2014\n" * 5
    number = 'type = "number"\nlower = -5000\nupper = 5000\n'
    path = town(tmp_path, rows, ("pay", number), ("cost", number), ("visit", DATE))
    path.write_text(path.read_text() + '[source]\ndelimiter = ";"\n')
    said = on_a_terminal("check", path)[1]
    assert 'write decimal = "," and thousands = "."; with them 100 % are read.' in said
    assert "commas between thousands, the sign $ and parentheses if it is negative: write" in said
    assert said.rstrip().endswith(f"dpnb check {path} --fix writes these lines for pay, visit.")
    path.write_text(
        path.read_text().replace("[columns.pay]\n", '[columns.pay]\ndecimal = ","\nthousands = "."\n')
    )
    assert on_a_terminal("check", path)[1].rstrip().endswith("--fix writes this line for visit.")


def test_two_ways_say_what_each_makes_of_a_cell(tmp_path):
    """Seen: "(… and the sign %), or … (… and the sign %, a hundredth of it); with it 100 % are read" of two ways."""
    path = town(
        tmp_path,
        "share;x\n" + "14,9 %;1\n12,0 %;2\n" * 5,
        ("share", 'type = "number"\nlower = 0\nupper = 100\n'),
    )
    line = next(line for line in on_a_terminal("check", path)[1].splitlines() if "2 ways" in line)
    assert 'strip = "%" (a number with a decimal comma and the sign %, so that 12 % is 12), or' in line
    assert (
        "percent = true (a number with a decimal comma and the sign %, so that 12 % is 0.12); either way, 100 % are read."
        in line
    )


def test_another_spelling_of_yes_is_no_value_of_its_own(tmp_path):
    """Seen: "add it to values" of the y beside Yes, which makes a third answer; and of a column that may not have values."""
    facts = 'type = "category"\nvalues = ["No", "Yes"]\n'
    path = town(tmp_path, "married\nYes\ny\nn\nNo\n", ("married", facts))
    said = on_a_terminal("check", path)[1]
    assert 'list all spellings in place of values: true = ["Yes", …] and false = ["No", …].' in said
    path.write_text(path.read_text().replace('values = ["No", "Yes"]', 'true = ["Yes"]\nfalse = ["No"]'))
    said = on_a_terminal("check", path)[1]
    assert "If one means yes or no, add it to true or false." in said
    assert "add it to values" not in said


def test_a_section_that_has_no_line_of_its_own_is_left_to_its_owner(tmp_path):
    path = tmp_path / "town.dpnb.toml"
    text = '[columns]\nvisit = { type = "date" }\n[columns."a.b"]  # mine\ntype = "date"\n'
    path.write_text(text)
    with pytest.raises(Exception, match=r'no line \[columns.visit\]: write format = "%Y" there by hand'):
        write_keys(path, {("columns", "a.b"): {"format": "%d"}, ("columns", "visit"): {"format": "%Y"}})
    assert path.read_text() == text
    write_keys(path, {("columns", "a.b"): {"format": "%d"}})
    assert tomllib.loads(path.read_text())["columns"]["a.b"] == {"format": "%d", "type": "date"}


def test_the_cell_that_is_shown_is_one_that_the_keys_read():
    """Seen: '"refused" can be read in 2 ways', of a column where a word for unknown is the most frequent cell."""
    found = remedy(
        "pay", {"type": "number", "lower": 0, "upper": 9_000}, [("refused", 3), ("1,234", 2), ("2,345", 2)]
    )
    assert found.words(shown=True).startswith('"1,234" can be read in 2 ways')


def test_a_declared_value_in_other_letters_is_never_proposed_as_a_code_for_unknown():
    """Seen: missing_codes = ["refused","yes"] beside values = ["No", "Yes"]."""
    found = remedy("smoker", {"type": "category", "values": ["No", "Yes"]}, [("refused", 190), ("yes", 186)])
    assert found.keys == ({"case": "any"},)
    assert found.words(shown=True).startswith('"yes" looks like')


def test_codes_beyond_the_bounds_are_named_with_the_line_to_write(tmp_path, admin):
    """Seen: 999 and -99 of ages were "clamped", and nothing said what to write."""
    rows = "age\n" + "30\n999\n-99\n999\n140\nrefused\n"
    path = town(tmp_path, rows, ("age", 'type = "integer"\nlower = 0\nupper = 100\n'))
    line = 'age: beyond the bounds are 999 (2), -99 (1), which count as the nearest bound now. If they mean unknown, write missing_codes = ["refused", 999, -99].'
    shown = on_a_terminal("check", path)[1]
    assert line in shown.splitlines()
    assert 'age: not read are for instance "refused" (1).' in shown.splitlines()
    piped = admin("check", path, "--not-private")[1]
    assert "age: some cells beyond the bounds look like codes for unknown" in piped
    assert "-99 (1)" not in piped
    path.write_text(path.read_text() + 'missing_codes = ["refused", 999, -99]\n')
    facts = admin("check", path, "--not-private", as_json=True)[1]["columns"][0]
    assert (facts["missing"], facts["unread"], facts["beyond"]) == (4, 0, 1)
    assert "codes for unknown" not in admin("check", path, "--not-private")[1]


def test_codes_that_a_container_holds_as_numbers_are_named_and_declared(tmp_path, admin):
    """Seen: missing_codes = [999.9] of a declaration was "not Decimal('999.9')"."""
    pd.DataFrame({"age": [30.0, 999.0, 41.5, 999.9]}).to_parquet(tmp_path / "town.parquet")
    path = town(tmp_path, "", ("age", 'type = "number"\nlower = 0\nupper = 100\nmissing_codes = ["x"]\n'))
    path.write_text(path.read_text().replace("town.csv", "town.parquet"))
    line = 'missing_codes = ["x", 999, 999.9]'
    assert f"write {line}." in on_a_terminal("check", path)[1]
    path.write_text(path.read_text().replace('missing_codes = ["x"]', line))
    facts = admin("check", path, "--not-private", as_json=True)[1]["columns"][0]
    assert (facts["missing"], facts["beyond"]) == (2, 0)


def test_values_that_a_statistics_package_holds_as_numbers_are_named_too(tmp_path, admin):
    """Seen: "68.1 % of the cells are none of the declared values", and no word of which."""
    pd.DataFrame({"q": [0.0, 10.0, 5.0, 5.0, 88.0]}).to_parquet(tmp_path / "town.parquet")
    path = town(tmp_path, "", ("q", 'type = "category"\nvalues = [0, 10]\n'))
    path.write_text(path.read_text().replace("town.csv", "town.parquet"))
    said = on_a_terminal("check", path)[1]
    own = "If one is a value of its own, and you know that without the data, add it to values."
    assert (
        f'q: not read are for instance "5" (2), "88" (1). {own} If they mean unknown, write missing_codes = [88].'
        in said
    )


def test_a_total_is_never_proposed_as_a_code(tmp_path):
    """Seen: 'not read are for instance "Summe". If they mean unknown, write missing_codes = ["Summe"]', of a last line."""
    path = town(tmp_path, "age,n\n30,1\nSumme,1\n", ("age", 'type = "integer"\nlower = 0\nupper = 100\n'))
    said = on_a_terminal("check", path)[1]
    assert (
        '1 row begins with "Summe", and counts as a person. If that is not a person, write skip = ["Summe"] under [source].'
        in said
    )
    assert "missing_codes" not in said


def test_the_share_that_is_read_is_counted_on_the_whole_column(tmp_path, admin):
    """Seen: "with it 100 % are read" of 1,000 frequent cells, of a column that has many more."""
    pays = [f"{n % 900}.{n % 90:02},{n:04}" for n in range(1_500)]
    rows = (
        "pay\n"
        + "".join(f'"{n // 10},{n % 10}"\n' * 2 for n in range(1_000))
        + "".join(f'"{pay}"\n' for pay in pays)
    )
    path = town(tmp_path, rows, ("pay", 'type = "number"\nlower = 0\nupper = 900\n'))
    assert 'pay: write decimal = ","; with it 57.1 % are read.' in admin("check", path, "--not-private")[1]


def test_the_whole_column_decides_between_two_ways(tmp_path, admin):
    """A thousand different days that are months too, and two that are none."""
    days = [f"{n % 12 + 1:02}/{n // 12 % 12 + 1:02}/{1900 + n // 144}\n" * 2 for n in range(1_200)]
    path = town(tmp_path, "visit\n" + "".join(days) + "27/08/2014\n", ("visit", DATE))
    assert 'Wrote for visit: format = "%d/%m/%Y"' in admin("check", path, "--not-private", "--fix")[1]


def test_a_date_that_nothing_reads_is_no_code_for_unknown(tmp_path, admin):
    """Seen: 'If they mean unknown, write missing_codes = ["2020/01/01 5:45:00 PM"]'."""
    path = town(tmp_path, "visit\n" + "on 8/27/2014\n" * 5 + "refused\n", ("visit", DATE))
    said = on_a_terminal("check", path)[1]
    assert '"on 8/27/2014" (5)' in said
    assert 'If they mean unknown, write missing_codes = ["refused"].' in said


def test_a_misspelt_value_is_told_as_one(tmp_path, admin):
    """Seen: 'If they mean unknown, write missing_codes = ["Femal"]'."""
    rows = "sex\n" + "Female\nMale\n" * 5 + "Femal\nFemal\n9\n"
    path = town(tmp_path, rows, ("sex", 'type = "category"\nvalues = ["Female", "Male"]\n'))
    said = on_a_terminal("check", path)[1]
    assert '"Femal" seems to be "Female", misspelt: correct that in the file.' in said
    assert "If they mean unknown, write missing_codes = [9]." in said
    assert "If one is a value of its own, and you know that without the data, add it to values." in said


@pytest.mark.parametrize(
    ("rows", "values", "why"),
    [
        ("sex\nf\nm\n\n", ["f", "m"], "every cell that is not empty is read as it is declared"),
        ("sex\nF\nM\n", ["f", "m"], "--fix writes format, decimal, thousands and trim alone, and only where"),
        ("sex\nx\ny\n", ["f", "m"], "no format, decimal, thousands or trim reads what is not read"),
    ],
)
def test_fix_says_why_it_wrote_nothing(tmp_path, admin, rows, values, why):
    path = town(tmp_path, rows, ("sex", f'type = "category"\nvalues = {values}\n'))
    assert f"Nothing was written: {why}" in admin("check", path, "--not-private", "--fix")[1]

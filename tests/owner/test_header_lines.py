"""Headers of files that owners have: columns without names, long names, a title above and a total below; in init, check and open alike."""

from __future__ import annotations

import re

import pytest

import dpnb
from dpnb.__main__ import main
from dpnb.errors import OwnerError
from dpnb.owner.deposit import DepositFiles
from dpnb.owner.header_lines import titles, total_below
from dpnb.trusted.schema.owner import load
from tests.contracts.workbook import write_workbook
from tests.owner.conftest import SCHEMA
from tests.owner.test_check import on_a_terminal

LONG = "During the last twelve months, how many times did you visit a doctor, a nurse or another person who treats illnesses, at your home?"


def completed(data, *flags):
    """Draft the declaration of a file, and answer its TODO; return where it is, and its text."""
    assert main(["init", str(data), *flags]) == 0
    path = data.with_suffix(".dpnb.toml")
    text = re.sub(r'unit = "TODO[^"]*"', 'unit = "row"', path.read_text(encoding="utf-8"))
    text = re.sub(r'epsilon = "TODO[^"]*"', "epsilon = 10000", text)
    text = text.replace(
        'type = "TODO: integer, number, category, text, date or datetime"', 'type = "integer"'
    )
    text = re.sub(r'lower = "TODO[^"]*"', "lower = 0", re.sub(r'upper = "TODO[^"]*"', "upper = 50", text))
    path.write_text(text, encoding="utf-8")
    return path, text


def released(path, question):
    """The answer to a question at a loss so large that no noise is left."""
    people = dpnb.open(path, quiet=True)
    return round(float(dpnb.release({"x": question(people)}, epsilon=1000)["x"].value))


@pytest.mark.parametrize(
    ("content", "places"),
    [(",age\n0,30\n1,41\n", [1]), ("age,,\n30,,\n41,,\n", [2, 3]), ("age,\n30,x\n41,y\n", [2])],
)
def test_a_column_without_a_name_is_left_out_by_init_check_and_open(
    tmp_path, dpnb_home, admin, content, places
):
    """Seen: init refused pandas' index and two trailing commas; check and open said that a column is named twice."""
    data = tmp_path / "town.csv"
    data.write_text(content)
    path, text = completed(data)
    for place in places:
        why = ", as an index that pandas wrote" if place == 1 else ""
        assert f"# Column {place} has no name{why}: it is left out." in text
    status, facts = admin("check", path, "--not-private", as_json=True)
    assert (status, facts["rows"], [one["name"] for one in facts["columns"]]) == (0, 2, ["age"])
    assert released(path, lambda people: people.age.sum()) == 71


def test_a_long_header_gets_a_short_name_and_is_its_label(tmp_path, dpnb_home, admin):
    """Seen: "column 2 has no usable name" of a header of 131 characters, and no limit told."""
    data = tmp_path / "town.csv"
    data.write_text(f'age,"{LONG}"\n30,4\n41,5\n')
    path, text = completed(data)
    assert len(LONG) == 131
    assert (
        f"[columns.during_the_last_twelve_months]\n# The name is a proposal: its name in the file has {len(LONG)}"
        in text
    )
    assert "a name here has 128 at most" in text
    assert f'header = "{LONG}"\nlabel = "{LONG}"' in text
    assert load(path).schema["during_the_last_twelve_months"].label == LONG
    assert admin("check", path, "--not-private", as_json=True)[1]["columns"][1]["unread"] == 0
    assert released(path, lambda people: people.during_the_last_twelve_months.sum()) == 9


def test_a_declared_name_that_is_too_long_is_told_the_limit_and_the_key(tmp_path):
    path = tmp_path / "people.dpnb.toml"
    columns = f'[columns."{LONG}"]\ntype = "integer"\nlower = 0\nupper = 9\n'
    path.write_text(
        f'[dataset]\nname = "p"\nsource = "p.csv"\nadjacency = "add-remove"\n[budget]\nepsilon = 1\n{columns}'
    )
    with pytest.raises(
        OwnerError, match=r"1 to 128 characters: write a short one, and its name in the file as header = "
    ):
        load(path)


def test_headers_that_differ_only_in_case_get_two_names(tmp_path, dpnb_home):
    """Seen: init drafted both, and open refused them."""
    data = tmp_path / "town.csv"
    data.write_text("age,Age\n30,1\n41,2\n")
    path, text = completed(data, "--all")
    assert "[columns.age_2]\n# The name is a proposal" in text
    assert released(path, lambda people: people.age_2.sum()) == 3


WHO = '[columns.who]\ntype = "integer"\nlower = 0\nupper = 200\n'


def test_no_header_turns_the_unit_that_paid_into_another_column(folder, admin):
    """Seen: with header = under the unit's column the same rows were "Known already", and the next charge was per visit."""
    path = folder / "people.dpnb.toml"
    path.write_text(SCHEMA + WHO)
    people = dpnb.open(path, quiet=True)
    dpnb.release([people.age.mean()], epsilon=0.5)
    path.write_text(SCHEMA + WHO + 'header = "age"\n')
    status, said = admin("add", path)
    assert (status, "Known already" in said) == (2, False)
    assert 'people: who names the unit, so header = "age" does not go with it' in said


def test_a_column_is_renamed_until_something_is_paid(folder, admin):
    """The name in the file stays as header; its bounds and the budget are those of the same column."""
    path = folder / "people.dpnb.toml"
    renamed = SCHEMA.replace("[columns.age]\n", '[columns.years]\nheader = "age"\n')
    path.write_text(SCHEMA)
    dpnb.open(path, quiet=True)
    path.write_text(renamed)
    people = dpnb.open(path, quiet=True)
    dpnb.release([people.years.mean()], epsilon=0.5)
    path.write_text(SCHEMA)
    with pytest.raises(
        OwnerError,
        match="renamed has the name of the first charge",
    ):
        dpnb.open(path, quiet=True)


VISITS = """
[source.visits]
file = "visits.csv"
on = "who"
[source.visits.columns.who]
type = "integer"
lower = 0
upper = 200
{header}
[prepare]
visits = {{ count = "visits", upper = 20 }}
"""


def test_the_unit_of_another_table_has_the_files_own_name_too(folder):
    path = folder / "people.dpnb.toml"
    path.write_text(SCHEMA + VISITS.format(header=""))
    assert load(path).schema.unit_column == "who"
    path.write_text(SCHEMA + VISITS.format(header='header = "doctor"'))
    with pytest.raises(OwnerError, match='rename the column in the file, or write unit = "doctor"'):
        load(path)


def test_a_column_beside_the_unit_may_read_the_same_column_of_the_file(folder):
    """Where each row is a unit, a column may be called row."""
    path = folder / "people.dpnb.toml"
    path.write_text(SCHEMA + WHO.replace("columns.who", "columns.person") + 'header = "who"\n')
    assert load(path).dialect.headers == (("person", "who"),)
    by_row = SCHEMA.replace('unit = "who"\nmax_rows_per_unit = 2\n', "")
    path.write_text(by_row + WHO.replace("columns.who", "columns.row") + 'header = "who"\n')
    assert load(path).dialect.headers == (("row", "who"),)


TITLED = "Doctors' visits\n\nName,age,visits\nAnn,30,4\nBo,41,5\nTotal,71,9\n"


def test_a_title_and_a_total_are_left_out_by_a_rule_that_the_owner_reads(tmp_path, dpnb_home, admin):
    """Seen: a title made a file of one column, and the footer counted as a person."""
    data = tmp_path / "town.csv"
    data.write_text(TITLED)
    path, text = completed(data)
    assert '[source]\nskip = ["Doctors\' visits"]' in text
    assert "Total" not in text
    said = admin("check", path, "--not-private")[1]
    assert "1 row begins with a word such as Total or Note, and counts as a person" in said
    assert released(path, lambda people: people.count()) == 3
    path.write_text(
        text.replace('visits"]', 'visits", "Total"]').replace("epsilon = 10000", "epsilon = 5000")
    )
    assert admin("check", path, "--not-private", as_json=True)[1]["rows"] == 2
    assert "begins with" not in admin("check", path, "--not-private")[1]
    assert released(path, lambda people: people.age.sum()) == 71


def test_init_names_a_total_on_a_terminal_alone(tmp_path, capsys):
    """What the last line says is of the rows: no notebook and no pipe gets it."""
    data = tmp_path / "town.csv"
    data.write_text(TITLED)
    assert main(["init", str(data)]) == 0
    assert "Total" not in capsys.readouterr().out
    data.with_suffix(".dpnb.toml").unlink()
    status, said, _ = on_a_terminal("init", data)
    assert (status, 'The last line begins with "Total"' in said) == (0, True)
    data.with_suffix(".dpnb.toml").unlink()
    status, said, _ = on_a_terminal("init", data, JPY_PARENT_PID="7")
    assert (status, "Total" in said, f"%dp deposit {data}" in said) == (0, False, True)


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("age,sex\nReport\n", ()),
        ("age\n30\n41\n", ()),
        ("age\nx,y\n", ("age",)),
        ("Report\n30,41\n", ()),
        ("Report; 2024;;\nage;sex;pay\n", ()),
        ("Report 2024,,\n,,\nage,sex,pay\n", ("Report 2024",)),
        ("Report 2024\nof the county\nage;sex\n", ("Report 2024", "of the county")),
        ("a\n" * 20 + "age,sex\n", ()),
    ],
)  # fmt: skip
def test_a_title_is_a_line_of_one_field_above_a_line_of_names(tmp_path, content, found):
    (tmp_path / "p.csv").write_text(content)
    assert titles(tmp_path / "p.csv") == found


@pytest.mark.parametrize(
    ("content", "found"),
    [
        ("age,sex\n1,2\nTOTAL:,3\n\n", "TOTAL:"),
        ("age,sex\n1,2\nTotally,3\n", None),
        ("age,sex\n", None),
        ("age;sex\n1;2\n;Gesamt;;\n;;;\n", "Gesamt"),
        ("age,sex\n1,2\nSource: a survey,\n", "Source: a survey"),
    ],
)  # fmt: skip
def test_a_total_is_a_last_line_that_begins_with_such_a_word(tmp_path, content, found):
    (tmp_path / "p.csv").write_text(content)
    assert total_below(tmp_path / "p.csv") == found


@pytest.mark.parametrize("name", ["town.csv", "town.xlsx"])
def test_a_total_under_a_column_without_a_name_is_told_too(tmp_path, dpnb_home, admin, name):
    """Seen: check missed a Total that stood under pandas' index, and in a sheet under any column that is not declared."""
    data, rows = tmp_path / name, [["", "age"], ["Ann", 30], ["Bo", 41], ["Total", 71]]
    write_workbook(data, {"People": rows})
    if name.endswith("csv"):
        data.write_text("".join(f"{who},{age}\n" for who, age in rows))
    path, text = completed(data)
    assert total_below(data) == "Total"
    assert "1 row begins with a word such as Total or Note" in admin("check", path, "--not-private")[1]
    path.write_text(text.replace("[columns.age]", '[source]\nskip = ["Total"]\n[columns.age]'))
    facts = admin("check", path, "--not-private", as_json=True)[1]
    assert (facts["rows"], facts["totals"]) == (2, 0)


def test_a_line_of_another_width_is_refused_with_the_rule_that_leaves_it_out(tmp_path, dpnb_home):
    data = tmp_path / "town.csv"
    data.write_text("age,sex\n30,0\nSource: a survey\n")
    path = completed(data)[0]
    path.write_text(
        path.read_text().replace(
            'values = "TODO: a list, for example [0, 1]; anything else counts as missing"', "values = [0, 1]"
        )
    )
    with pytest.raises(
        OwnerError, match=r'line 3 has another number of fields than the header.*skip = \["its first field"\]'
    ):
        dpnb.open(path, quiet=True)
    path.write_text(
        path.read_text().replace("[columns.age]", '[source]\nskip = ["Source: a survey"]\n[columns.age]')
    )
    assert released(path, lambda people: people.count()) == 1


def test_the_deposit_screen_leaves_out_and_renames_the_same(tmp_path):
    data = tmp_path / "town.csv"
    data.write_text(f'Doctors\n,Age,"{LONG}"\n0,30,4\n')
    form = DepositFiles(data).begin()
    assert [one.name for one in form.columns] == ["Age", "during_the_last_twelve_months"]
    assert '[source]\nskip = ["Doctors"]' in form.toml
    assert f'header = "{LONG}"' in form.toml
    data.with_suffix(".dpnb.toml").write_text(form.toml)
    assert [one.name for one in DepositFiles(data).begin().columns] == [
        "Age",
        "during_the_last_twelve_months",
    ]


def test_the_deposit_screen_keeps_how_cells_are_written(tmp_path):
    """Seen: missing_codes and format of a declaration were gone once the screen had written it."""
    data = tmp_path / "town.csv"
    data.write_text("age,visited\n30,8/27/2014\n")
    columns = '[columns.age]\ntype = "integer"\nlower = 0\nupper = 9\nmissing_codes = [99, "x"]\n'
    columns += (
        '[columns.visited]\ntype = "date"\nbounds = ["2014-01-01", "2015-01-01"]\nformat = "%m/%d/%Y"\n'
    )
    dataset = (
        '[dataset]\nname = "town"\nsource = "town.csv"\nadjacency = "add-remove"\n[budget]\nepsilon = 1\n'
    )
    data.with_suffix(".dpnb.toml").write_text(dataset + columns)
    toml = DepositFiles(data).begin().toml
    assert 'missing_codes = [99, "x"]' in toml
    assert 'format = "%m/%d/%Y"' in toml

"""An owner's check is exact, is for a terminal of their own, and leaves no trace."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

import pytest

import dpnb
from dpnb.__main__ import main


def test_the_check_counts_what_the_declaration_would_change(folder, admin):
    status, facts = admin("check", folder / "people.dpnb.toml", "--not-private", as_json=True)
    assert status == 0
    assert facts["rows"] == 202
    age, sex = facts["columns"]
    assert (age["missing"], age["unread"], age["beyond"]) == (1, 1, 1)
    assert (sex["missing"], sex["unread"], sex["beyond"]) == (0, 1, 0)
    unit = facts["unit"]
    assert (unit["units"], unit["most"], unit["over"], unit["cut"], unit["without"]) == (180, 4, 1, 2, 1)


def test_the_sheet_is_marked_not_private_on_its_first_and_last_line(folder, admin):
    status, said = admin("check", folder / "people.dpnb.toml", "--not-private")
    lines = said.strip().splitlines()
    assert status == 0
    assert lines[0] == lines[-1]
    assert lines[0].startswith("NOT PRIVATE")
    assert "1 has more than the 2 rows that are declared: 2 rows will be left out." in said


def test_bounds_that_clamp_much_are_told_with_what_it_does(folder, admin):
    path = folder / "people.dpnb.toml"
    path.write_text(path.read_text().replace("upper = 100", "upper = 40"))
    said = admin("check", path, "--not-private")[1]
    assert "of the cells are clamped to the bounds, which changes means and sums." in said
    assert 'bounds = "seen on data"' in said


def test_a_bound_that_ends_as_its_day_begins_is_told_with_the_hour_to_write(tmp_path, admin):
    """Seen: bounds of a datetime without times lost all of the last day, and check said "clamped"."""
    data = tmp_path / "calls.csv"
    data.write_text("called_at\n2024-12-30 09:00\n2024-12-31 17:20\n2024-12-31 23:59\n")
    assert main(["init", str(data)]) == 0
    path = tmp_path / "calls.dpnb.toml"
    draft = path.read_text()
    assert "['2020-01-01 00:00', '2024-12-31 23:00']" in draft
    draft = re.sub(
        r'unit = "TODO[^"]*"', 'unit = "row"', re.sub(r'epsilon = "TODO[^"]*"', "epsilon = 4", draft)
    )

    def said(bounds):
        path.write_text(re.sub(r'bounds = "TODO[^"]*"', f"bounds = {bounds}", draft))
        return admin("check", path, "--not-private")[1]

    word = "called_at: its second bound is 2024-12-31 00:00, the hour at which that day begins."
    assert f'{word} If all of that day counts, write "2024-12-31 23:00".' in said(
        '["2024-01-01", "2024-12-31"]'
    )
    whole = said('["2024-01-01 00:00", "2024-12-31 23:00"]')
    assert "bound" not in whole.replace("beyond the bounds", "")
    assert "clamped" not in whole


def test_the_check_writes_nothing(folder, admin, dpnb_home):
    before = sorted(path for path in [*folder.rglob("*"), *dpnb_home.rglob("*")])
    admin("check", folder / "people.dpnb.toml", "--not-private")
    assert sorted(path for path in [*folder.rglob("*"), *dpnb_home.rglob("*")]) == before


def test_rows_that_are_prepared_are_counted_as_they_come(folder, admin):
    """Each table by its own cells; rows of one person are no longer cut, so none is said to be left out."""
    path = folder / "people.dpnb.toml"
    own = path.read_text().replace("max_rows_per_unit = 2\n", "max_rows_per_unit = 1\n")
    visits = '[source.visits]\nfile = "visits.csv"\non = "who"\n\n[source.visits.columns.minutes]\ntype = "integer"\n'
    lines = '\n[prepare]\nvisits = { count = "visits", upper = 9 }\nminutes = { sum = "visits.minutes", upper = 99 }\n'
    path.write_text(f"{own}\n{visits}lower = 0\nupper = 60\n{lines}")
    (folder / "visits.csv").write_text("who,minutes\n1,5\n01,70\n1.0,soon\n,4\n999,5\nZ,5\nZ,6\n")
    status, facts = admin("check", path, "--not-private", as_json=True)
    assert status == 0
    assert [one["name"] for one in facts["columns"]] == ["age", "sex"]
    found = facts["joined"]["visits"]
    assert found["columns"] == [{"name": "minutes", "missing": 0, "unread": 1, "beyond": 1}]
    assert (found["unit"]["most"], found["unit"]["over"], found["unit"]["without"]) == (3, 0, 1)
    assert (facts["unit"]["nobody"], found["unit"]["nobody"]) == (None, 3)
    said = admin("check", path, "--not-private")[1]
    assert "3 rows belong to nobody, because their who has no row of its own in the dataset." in said


def test_a_declared_number_of_people_is_held_against_their_own_table_alone(folder, admin):
    """Seen: "units = 300 is declared: it will be refused" of visits that 200 of 300 people made, and which open."""
    (folder / "people.csv").write_text("who,age\n" + "".join(f"{n},{n % 90}\n" for n in range(30)))
    (folder / "visits.csv").write_text("who,day\n" + "".join(f"{n:03},3\n" for n in range(20)) * 5)
    path = folder / "people.dpnb.toml"
    path.write_text(
        '[dataset]\nname = "people"\nsource = "people.csv"\nadjacency = "change-one"\nunit = "who"\nunits = 30\n'
        'max_rows_per_unit = 1\n[budget]\nepsilon = 4\n[columns.age]\ntype = "integer"\nlower = 0\nupper = 100\n'
        '[source.visits]\nfile = "visits.csv"\non = "who"\n[source.visits.columns.day]\ntype = "integer"\nlower = 0\nupper = 6\n'
        '[prepare]\nvisits = { count = "visits", upper = 9 }\n'
    )
    status, said = admin("check", path, "--not-private")
    assert status == 0
    assert "will be refused" not in said
    assert "belong to nobody" not in said
    dpnb.open(path, quiet=True)
    path.write_text(path.read_text().replace("units = 30", "units = 31"))
    assert "units = 31 is declared: it will be refused." in admin("check", path, "--not-private")[1]


def on_a_terminal(*words, **environment):
    """Run a command on a terminal of its own; return status and output."""
    main, other = pty.openpty()
    command = [sys.executable, "-m", "dpnb", *map(str, words)]
    clean = {name: value for name, value in os.environ.items() if not name.startswith("JPY_")}
    done = subprocess.run(
        command, stdout=other, stderr=subprocess.PIPE, env={**clean, **environment}, check=False
    )
    os.close(other)
    said = b""
    try:
        while chunk := os.read(main, 65536):
            said += chunk
    except OSError:
        pass
    os.close(main)
    return done.returncode, said.decode(), done.stderr.decode()


def test_a_terminal_shows_the_sheet_and_a_kernels_terminal_does_not(folder):
    """What ``!dpnb check`` starts in a cell has a terminal too, whose output the notebook keeps: it is refused."""
    status, said, _ = on_a_terminal("check", folder / "people.dpnb.toml")
    assert status == 0
    assert said.startswith("NOT PRIVATE")
    status, said, error = on_a_terminal("check", folder / "people.dpnb.toml", JPY_PARENT_PID="7")
    assert (status, said) == (2, "")
    assert "a notebook would keep it" in error


@pytest.mark.parametrize("flag", [[], ["--not-private"]])
def test_a_kernel_never_prints_it(folder, admin, monkeypatch, flag):
    monkeypatch.setenv("JPY_SESSION_NAME", "a.ipynb")
    status, said = admin("check", folder / "people.dpnb.toml", *flag)
    assert status == 2
    assert "NOT PRIVATE" not in said

"""A declared table of a server, opened and asked as a file is: one line is another, and the integers are the same."""

from __future__ import annotations

import contextlib

import numpy as np
import pytest

from dpnb.client.session import Session
from dpnb.client.transport import InMemory
from dpnb.errors import CuratorGone, OwnerError
from dpnb.owner.inspection import inspected
from dpnb.planner.request import Ask
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.open_dataset import sweep
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.schema.owner import load
from dpnb.trusted.wire.messages import Again, Attach, FileSource
from dpnb.trusted.wire.places import Home
from tests.postgres.conftest import PASSWORD

ROWS = 400
COPIES = "SELECT relname FROM pg_class WHERE relname LIKE 'copy_%'"
DECLARED = """
[dataset]
name = "{name}"
source = "{source}"
adjacency = "add-remove"
unit = "person"
max_rows_per_unit = 2
[budget]
epsilon = 4
[source]
{section}
[columns.age]
type = "integer"
lower = 0
upper = 100
[columns.sex]
type = "category"
values = ["f", "m"]
[columns.day]
type = "date"
bounds = ["2020-01-01", "2020-12-31"]
"""


def rows(seed=3):
    """Visits of people, some of whose cells are missing."""
    rng = np.random.default_rng(seed)
    for place in range(ROWS):
        age = "" if rng.random() < 0.1 else str(rng.integers(-5, 120))
        day = f"2020-{rng.integers(1, 13):02}-{rng.integers(1, 29):02}"
        yield f"p{rng.integers(0, 150)}", age, "fm?"[place % 3], day


def fill(place, seed=3):
    """Write them into a table of the server."""
    place.run("CREATE TABLE IF NOT EXISTS visits (person text, age integer, sex char(1), day date)")
    with place.server.admin(place.database) as connection, connection.cursor() as cursor:
        cursor.executemany(
            "INSERT INTO visits VALUES (%s, nullif(%s, '')::integer, %s, %s::date)", list(rows(seed))
        )


class PostgresHome:
    """A curator of a home in this process, and what its engines answered."""

    def __init__(self, home):
        self.home = home
        self.service = Curator.opened(Config(Home(home)))
        self.session = Session(lambda: InMemory(lambda body: self.service.answer(body, "ann")))
        self.batches = []
        shelf, real = self.service._copies, self.service._copies._engine

        def opened(path):
            engine = real(path)
            ask = engine.answer

            def answer(requests):
                found = ask(requests)
                self.batches.append((requests, found))
                return found

            engine.answer = answer
            return engine

        shelf._engine = opened

    def open(self, declaration):
        """The dataset of a declaration."""
        return self.session.attach(FileSource(path=str(declaration)))

    def ask(self, questions, epsilon=1):
        """Release questions together; what was told of them."""
        return self.session.release(list(questions), Ask.make(epsilon=epsilon))

    @property
    def written(self):
        """Every byte that the curator left on this side."""
        return b"".join(path.read_bytes() for path in sorted(self.home.rglob("*")) if path.is_file())


@pytest.fixture
def desk(dpnb_home):
    """A desk, closed again."""
    made = PostgresHome(dpnb_home)
    yield made
    made.service.close()


@pytest.fixture
def declare(place, tmp_path):
    """Write a declaration of the table `visits`."""

    def write(name="visits", source=None, section=""):
        file = tmp_path / f"{name}.dpnb.toml"
        uri = f"{place.uri}&table=visits" if source is None else source
        file.write_text(DECLARED.format(name=name, source=uri, section=section))
        return file

    return write


def asked(data):
    """The questions of an analysis: every kind of request, by groups, filtered, of dates."""
    return (
        data.count(),
        data.age.mean(),
        data.age.variance(),
        data.age.histogram(),
        data.age.quantile([0.25, 0.5, 0.75]),
        data.groupby("sex").age.mean(),
        data[data.age > 30].age.sum(),
        data.day.histogram(),
    )


def test_the_same_questions_have_the_same_integers_on_a_file(place, desk, declare, tmp_path):
    """One line of the declaration is another; codes, caps by a keyed hash and ranks are those of DuckDB."""
    fill(place)
    desk.service._copies.__dict__["_key"] = b"k" * 32
    desk.ask(asked(desk.open(declare())), 2)
    file = tmp_path / "rows.csv"
    file.write_text("".join(",".join(row) + "\n" for row in [("person", "age", "sex", "day"), *rows()]))
    other = PostgresHome(tmp_path / "home")
    with contextlib.closing(other.service):
        other.service._copies.__dict__["_key"] = b"k" * 32
        text = declare(source=file.name).read_text().replace("[source]\n", "")
        (tmp_path / "visits.dpnb.toml").write_text(text)
        other.ask(asked(other.open(tmp_path / "visits.dpnb.toml")), 2)
        assert repr(desk.batches) == repr(other.batches)
    assert desk.batches


def spent(data):
    """What was charged of a budget."""
    return data.budget.spent.amount


def test_a_new_version_keeps_the_budget(place, desk, declare):
    """More rows, a declared version, another name: what was spent stays spent, and the old copy goes when it is detached."""
    fill(place)
    data = desk.open(declare())
    desk.ask([data.age.mean()])
    fill(place, seed=4)
    again = desk.open(declare())
    assert spent(again) == 1
    named = desk.open(declare(section='version = "2026-11"'))
    assert spent(named) == 1
    with pytest.raises(OwnerError, match="attached before"):
        desk.open(declare(name="others"))


def test_an_unchanged_table_is_not_fetched_again(place, desk, declare):
    """The second opening finds the copy of the first; a declared version is opened without a look at the rows."""
    fill(place)
    desk.open(declare())
    copies = place.run(COPIES)
    desk.open(declare())
    assert place.run(COPIES) == copies
    desk.open(declare(section='version = "1"'))
    place.run("INSERT INTO visits VALUES ('p1', 3, 'f', '2020-02-02')")
    desk.open(declare(section='version = "1"'))
    assert len(place.run(COPIES)) == 2


def test_a_server_lost_after_the_charge_is_charged_once(place, desk, declare, monkeypatch):
    """Nothing is answered while the server is away; the same cell run again is answered, and its charge stands once."""
    monkeypatch.setattr("dpnb.trusted.curator.engines.postgres._WAITS", (0.0,))
    fill(place)
    data = desk.open(declare())
    place.server.stop()
    try:
        with pytest.raises(CuratorGone, match="Nothing is lost"):
            desk.ask([data.age.mean()])
    finally:
        place.server.start()
    assert desk.ask([data.age.mean()]).stored == (False,)
    assert spent(data) == 1


def refused(desk, file):
    """What an opening is refused with."""
    with pytest.raises(OwnerError) as told:
        desk.open(file)
    return str(told.value)


def test_a_wrong_password_is_told_and_never_printed(place, desk, declare, monkeypatch):
    """Neither the right one nor the wrong one stands in a message, a log, a ledger or a note."""
    fill(place)
    monkeypatch.setenv("PGPASSWORD", "hunter2-wrong")
    said = refused(desk, declare())
    assert "did not let this user in" in said
    assert "~/.pgpass" in said
    monkeypatch.setenv("PGPASSWORD", PASSWORD)
    data = desk.open(declare())
    desk.ask([data.age.mean()])
    for secret in ("hunter2-wrong", PASSWORD):
        assert secret not in said
        assert secret.encode() not in desk.written


@pytest.mark.parametrize("form", ["postgresql://ann:{}@h/db?table=t", "postgresql:///db?table=t&password={}"])
def test_a_password_in_a_declaration_is_refused(declare, form):
    """With the fix, and without quoting it."""
    with pytest.raises(OwnerError, match="take it out of this file") as told:
        load(declare(source=form.format(PASSWORD)))
    assert PASSWORD not in str(told.value)


FAULTS = {
    "role without rights": ("REVOKE SELECT ON visits FROM {role}", "GRANT SELECT"),
    "no right to write": ("REVOKE CREATE ON DATABASE {database} FROM {role}", "CREATE SCHEMA dpnb"),
    "column dropped": ("ALTER TABLE visits DROP COLUMN sex", 'no column "sex"'),
    "column of another type": ("ALTER TABLE visits ALTER age TYPE interval USING NULL", "holds interval"),
    "date where a number is": ("ALTER TABLE visits ALTER age TYPE date USING NULL", 'type = "date"'),
    "table dropped": ("DROP TABLE visits", "no such table"),
    "a view": (
        "ALTER TABLE visits RENAME TO base; CREATE VIEW visits AS SELECT * FROM base",
        'VIEW "visits_rows"',
    ),
    "a part on another server": (
        (
            "CREATE FOREIGN DATA WRAPPER nowhere; CREATE SERVER far FOREIGN DATA WRAPPER nowhere; "
            "CREATE FOREIGN TABLE part () INHERITS (visits) SERVER far"
        ),
        "is not a table",
    ),
    "rows hidden by a policy": (
        "ALTER TABLE visits ENABLE ROW LEVEL SECURITY; CREATE POLICY older ON visits USING (age > 3)",
        "the role may not",
    ),
    "unit of floats": ("ALTER TABLE visits ALTER person TYPE float8 USING NULL", "merged two units"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_does_not_fit_is_refused_at_the_opening(place, desk, declare, fault):
    """In the owner's words, with nothing spent and nothing left on either side."""
    fill(place)
    act, words = FAULTS[fault]
    place.run(*act.format(role=place.role, database=place.database).split("; "))
    assert words in refused(desk, declare())
    assert not list((desk.home / "prepared").glob("*"))
    assert place.run(COPIES) == []


def test_an_open_dataset_answers_from_its_copy_whatever_becomes_of_the_table(place, desk, declare):
    """A column dropped, rows changed or the table gone under an open dataset: answered as of its version."""
    fill(place)
    data = desk.open(declare())
    desk.ask([data.count()])
    place.run("DROP TABLE visits")
    desk.ask([data[data.age > 3].count()])
    (first,), (second,) = (found[0] for _, found in desk.batches)
    assert 0 < second <= first


def test_detaching_drops_the_copy(place, desk, declare):
    """In the server too."""
    fill(place)
    data = desk.open(declare())
    assert len(place.run(COPIES)) == 1
    desk.session.detach(data)
    assert place.run(COPIES) == []


def test_a_curator_started_anew_opens_the_copy_again(place, desk, declare):
    """The same handle and the same copy: the table is neither looked over nor read."""
    fill(place)
    data = desk.open(declare())
    copies = place.run(COPIES)
    desk.service.close()
    place.run("DROP TABLE visits")
    again = PostgresHome(desk.home)
    with contextlib.closing(again.service):
        reply = again.service.reply(Attach(source=Again(handle=data.handle), mode=None), "ann")
        assert reply.handle == data.handle
        assert place.run(COPIES) == copies


def test_a_copy_that_nobody_opens_again_is_dropped(place, desk, declare):
    """A curator that starts deletes copies without a description, in the server too."""
    fill(place)
    desk.open(declare())
    desk.service.close()
    for described in (desk.home / "prepared").glob("*.json"):
        described.unlink()
    sweep(Home(desk.home))
    assert place.run(COPIES) == []
    assert list((desk.home / "prepared").iterdir()) == []


def test_an_owner_inspects_a_table(place, declare, dpnb_home):
    """`dpnb check` counts in it what it counts in a file."""
    fill(place)
    ((_, found),) = inspected(Home(dpnb_home).make(), declare())
    assert found.rows == ROWS
    assert found.unit is not None

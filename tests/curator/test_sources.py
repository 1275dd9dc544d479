"""What an owner attaches is exactly what was named: never a pattern's sibling, a pipe, a view, or rows known already."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import socket
import sqlite3
import threading
from pathlib import Path

import duckdb
import numpy as np
import pytest

from dpnb.client.upload import hand_over
from dpnb.datasets import load
from dpnb.errors import CuratorGone, OwnerError
from dpnb.planner.request import Ask
from dpnb.trusted import system
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.engines.raw_table import open_source
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.open_dataset import PreparedCopies
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.curator.sources import look_up
from dpnb.trusted.files.named_file import NamedFile, ending_of
from dpnb.trusted.owner.loosened_terms import add, loosen
from dpnb.trusted.schema.cell import QUANTISER_VERSION
from dpnb.trusted.wire.codec import raw
from dpnb.trusted.wire.messages import FileSource, HandOver, StudySource
from dpnb.trusted.wire.places import Home
from tests.curator import small
from tests.curator.engines.test_row_locality import WRITERS

LOCKS = Path("/proc/locks")


@pytest.fixture
def owner(curator):
    """The owner's session."""
    return small.session(curator)


def named(path, **dataset):
    """A file with the small dataset's terms."""
    facts = {"adjacency": "add-remove", "rows": None, **dataset}
    declared = small.declared(**facts)
    declared["dataset"] = {name: fact for name, fact in declared["dataset"].items() if fact is not None}
    return FileSource(path=str(path), schema=raw(load(declared).schema.to_json()))


def lines(*rows, head="x,g,y"):
    """The text of a CSV file."""
    return "\n".join([head, *rows, ""])


def true_count(curator, opened):
    """How many rows have a g: the exact answer, which only a test asks for."""
    (attached,) = [one for (_, handle), one in curator._open.items() if handle == opened.handle]
    aside = shutil.copy(attached.copy, attached.copy.with_name("aside"))
    with duckdb.connect(str(aside), read_only=True) as copy:
        return copy.execute("SELECT count(g) FROM prepared").fetchone()[0]


@pytest.mark.slow
@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("name", ["p[1]", "q*", "r?", "s=1/t", "it's", "~", "u{1,2}", "[a-z]*"])
def test_a_path_is_literal(curator, owner, tmp_path, name, ending):
    """What looks like a pattern reads that very file, and neither its siblings nor a column of the folder's name."""
    place = tmp_path / f"{name}{ending}"
    place.parent.mkdir(exist_ok=True)
    for path, rows in {place: 3, tmp_path / f"p1{ending}": 5, tmp_path / f"qq{ending}": 7}.items():
        write(path, rows)
    assert true_count(curator, owner.attach(named(place))) == 3
    link = tmp_path / f"link{ending}"
    link.symlink_to(place)
    with look_up(named(link, name="link"), None, Home(curator._home.root)) as found:
        assert found.rows().is_at(place)


def write(path, rows):
    """Write so many rows as the file's ending says."""
    WRITERS[ending_of(path)](path, {"x": [1] * rows, "g": [0] * rows, "y": [1] * rows})


def test_only_the_named_file_is_hashed_and_read_when_its_name_changes_meanwhile(dpnb_home, tmp_path):
    """Where a name leads elsewhere while the file is read, the opened file is hashed and read; the owner opens it again."""
    home, path, seen = Home(dpnb_home).make(), tmp_path / "small.csv", []
    path.write_text(lines(*["1,0,1"] * 3))

    def prepare(rows, schema, into, table, key):
        path.rename(tmp_path / "away.csv")
        path.write_text(lines(*["2,1,0"] * 5))
        into.write_bytes(b"prepared")
        with rows.reader() as file:
            seen.append(file.read().decode())
        seen.append(rows.digest())

    with look_up(named(path), None, home) as found:
        before = found.rows().digest()
        with pytest.raises(OwnerError, match="changed while it was read"):
            PreparedCopies(home, prepare, small.NumpyEngine).prepared(found)
    assert seen == [lines(*["1,0,1"] * 3), before]
    assert list(home.prepared.iterdir()) == []


def pipe(path):
    os.mkfifo(path)


def folder(path):
    path.mkdir()


def device(path):
    path.symlink_to("/dev/zero")


def endless(path):
    path.symlink_to(path)


def listener(path):
    here = socket.socket(socket.AF_UNIX)
    here.bind(str(path))


@pytest.mark.parametrize("make", [pipe, folder, device, endless, listener])
@pytest.mark.parametrize("ending", [*WRITERS, ".toml"])
def test_what_is_no_ordinary_file_is_refused_at_once(curator, dpnb_home, make, ending):
    """A pipe, folder, device, socket or endless link is refused before a byte is read: also as a schema."""
    path = Home(dpnb_home).root / f"x{ending}"
    make(path)
    told = []

    def ask():
        with pytest.raises(OwnerError) as refusal:
            look_up(FileSource(path=str(path)) if ending == ".toml" else named(path), None, Home(dpnb_home))
        told.append(str(refusal.value))

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(20)
    assert told
    assert "ordinary file" in told[0]


def test_a_slow_source_keeps_nobody_else_waiting(dpnb_home, tmp_path):
    """While one file is read, another is attached, a question is answered, and a dataset is closed."""
    reading, go_on = threading.Event(), threading.Event()

    def prepare(rows, schema, into, table, key):
        if schema.name == "slowest":
            reading.set()
            assert go_on.wait(30)
        small.prepare_numpy(small.rows(len(schema.name)), schema, into, table, key)

    home = Home(dpnb_home).make()
    service = Curator(home, Ledger(home.ledger), PreparedCopies(home, prepare, small.NumpyEngine))
    owner, path = small.session(service), tmp_path / "slow.csv"
    path.write_text(lines("1,0,1"))
    slow = threading.Thread(target=lambda: owner.attach(named(path, name="slowest")), daemon=True)
    slow.start()
    try:
        assert reading.wait(30)
        here = small.session(service)
        data = small.opened(here, dpnb_home, name="quick")
        assert here.release([data.x.mean()], Ask.make(epsilon="0.1"))
        here.detach(data)
        assert slow.is_alive()
    finally:
        go_on.set()
        slow.join(30)
        service.close()


@pytest.mark.parametrize("table", [None, "people"])
def test_a_view_is_refused(curator, owner, tmp_path, table):
    """A view's rows may come from another file: the owner is told to write them into a table."""
    (tmp_path / "other.csv").write_text(lines("1,0,1"))
    with duckdb.connect(str(tmp_path / "d.duckdb")) as database:
        database.execute(f"CREATE VIEW people AS SELECT * FROM read_csv('{tmp_path / 'other.csv'}')")
        database.execute("CREATE MACRO rows() AS TABLE SELECT 1 AS x")
    (tmp_path / "d.dpnb.toml").write_text(toml("d.duckdb", table))
    with pytest.raises(OwnerError, match="is a view"):
        owner.attach(FileSource(path=str(tmp_path / "d.dpnb.toml")))
    assert list(curator._home.prepared.iterdir()) == []


def test_a_table_beside_a_view_is_read(curator, owner, tmp_path):
    """What a file itself holds is read, whatever else it describes."""
    with duckdb.connect(str(tmp_path / "d.duckdb")) as database:
        database.execute("CREATE TABLE t AS SELECT 1 AS x, 0 AS g, 1 AS y FROM range(4)")
        database.execute("CREATE VIEW people AS SELECT * FROM t")
    assert true_count(curator, owner.attach(named(tmp_path / "d.duckdb"))) == 4


def test_a_database_with_a_journal_is_refused(owner, tmp_path):
    """What its journal holds would be read too, and is not what was hashed."""
    with duckdb.connect(str(tmp_path / "d.duckdb")) as database:
        database.execute("CREATE TABLE t AS SELECT 1 AS x, 0 AS g, 1 AS y")
    (tmp_path / "d.duckdb.wal").write_bytes(b"something")
    with pytest.raises(OwnerError, match="was not closed"):
        owner.attach(named(tmp_path / "d.duckdb"))


def toml(source, table=None):
    """The small dataset's declaration as text."""
    return "\n".join(
        [
            "[dataset]",
            'name = "small"',
            f'source = "{source}"',
            'adjacency = "add-remove"',
            *([] if table is None else [f'table = "{table}"']),
            "[budget]",
            "epsilon = 10",
            *[f'[columns.{name}]\ntype = "category"\nvalues = [0, 1]' for name in "gy"],
            '[columns.x]\ntype = "integer"\nlower = 0\nupper = 10',
            "",
        ]
    )


def test_a_refused_attach_leaves_nothing(curator, owner, tmp_path):
    """Neither a copy nor a draft, note, pin or engine stays of terms that the ledger refuses."""
    path = tmp_path / "small.csv"
    path.write_text(lines(*["1,0,1"] * 5))
    owner.attach(named(path))
    before, head = sorted(curator._home.prepared.iterdir()), curator._ledger.verify().head
    running = dict(curator._copies._running)
    with pytest.raises(OwnerError, match="pinned"):
        owner.attach(named(path, pool="county"))
    path.write_text(lines(*["1,0,1"] * 6))
    with pytest.raises(OwnerError, match="pinned"):
        owner.attach(named(path, pool="county"))
    assert sorted(curator._home.prepared.iterdir()) == before
    assert (curator._ledger.verify().head, curator._copies._running) == (head, running)


PAID = [f"{n * n % 11},{n % 2},{n * 7 % 2}" for n in range(small.ROWS)]


def asked(owner, data, epsilon="1"):
    """One release."""
    return owner.release([data.x.sum()], Ask.make(epsilon=epsilon))


def protected(owner, path):
    """The small dataset as a file, with its whole budget spent."""
    path.write_text(lines(*PAID))
    data = owner.attach(named(path))
    asked(owner, data, epsilon="10")
    return data


TAUGHT = {"public": True, "mode": "teaching", "source": "x.csv"}


@pytest.mark.parametrize("whole", [True, False])
def test_a_renamed_protected_file_gets_no_second_budget_and_never_teaches(curator, owner, tmp_path, whole):
    """Elsewhere, under another name, whichever columns are declared; the refusal leaves its record, which no analyst sees."""
    protected(owner, tmp_path / "p1.csv")
    before = sorted(curator._home.prepared.iterdir())
    shutil.copy(tmp_path / "p1.csv", tmp_path / "copy.csv")
    declared = named if whole else fewer
    for mode in ({}, TAUGHT):
        with pytest.raises(OwnerError, match="attached before as protected"):
            owner.attach(declared(tmp_path / "copy.csv", name="other", **mode))
    assert sorted(curator._home.prepared.iterdir()) == before
    assert {row["kind"] for row in owner.statement()} == {"attach", "charge"}


def moved_by_a_link(path):
    link = path.with_name("link.csv")
    link.symlink_to(path)
    return link


def replaced_by_a_link(path):
    path.rename(path.with_name("away.csv"))
    path.symlink_to(path.with_name("away.csv"))
    return path


@pytest.mark.parametrize("lead", [lambda path: path, moved_by_a_link, replaced_by_a_link])
def test_what_lies_at_the_path_of_protected_data_never_teaches(owner, tmp_path, lead):
    """Whatever bytes are there now, and whichever name they are given; as protected data they are another dataset's."""
    path = tmp_path / "p1.csv"
    protected(owner, path)
    path.write_text(lines(*PAID, "3,1,1"))
    at = lead(path)
    with pytest.raises(OwnerError, match=r"from this path.*opens as TEACHING"):
        owner.attach(named(at, name="other", **TAUGHT))
    assert owner.attach(named(at, name="other")).handle
    (tmp_path / "public.csv").write_text(lines(*PAID, "3,1,1", "4,1,1"))
    assert owner.attach(named(tmp_path / "public.csv", name="free", **TAUGHT)).handle


def test_a_path_to_which_protected_data_moved_never_teaches(owner, tmp_path):
    """The same bytes of the same dataset at another path: no new version, but a path more."""
    protected(owner, tmp_path / "p1.csv")
    shutil.copy(tmp_path / "p1.csv", tmp_path / "p2.csv")
    assert owner.attach(named(tmp_path / "p2.csv")).handle
    (tmp_path / "p2.csv").write_text(lines("1,1,1"))
    with pytest.raises(OwnerError, match="opens as TEACHING"):
        owner.attach(named(tmp_path / "p2.csv", name="other", **TAUGHT))


def test_what_has_the_name_of_protected_data_never_teaches(owner, tmp_path, dpnb_home, monkeypatch):
    """Other rows at another path, of another unit, as a frame, and by an owner's act."""
    monkeypatch.setenv("DPNB_HOME", str(dpnb_home))
    protected(owner, tmp_path / "p1.csv")
    (tmp_path / "p2.csv").write_text(lines("1,1,1"))
    for unit in ({}, {"unit": "x", "max_rows_per_unit": 2}):
        with pytest.raises(OwnerError, match=r"under this name.*opens as TEACHING"):
            owner.attach(named(tmp_path / "p2.csv", **unit, **TAUGHT))
    with pytest.raises(OwnerError, match="opens as TEACHING"):
        small.opened(owner, dpnb_home, small.rows(seed=3), **TAUGHT)
    text = toml("p2.csv").replace("[budget]", 'mode = "teaching"\npublic = true\n[budget]')
    (tmp_path / "p2.dpnb.toml").write_text(text)
    with pytest.raises(OwnerError, match="opens as TEACHING"):
        loosen(tmp_path / "p2.dpnb.toml", "it is public now")


def test_a_protected_frame_is_known_by_its_cells(owner, curator):
    """Under another name, with its numbers in other types; one row in another place is another content."""
    frame = small.rows()
    small.opened(owner, curator._home.root, frame)
    again = {name: column.astype(np.float32) for name, column in frame.items()}
    for mode in ({}, TAUGHT):
        with pytest.raises(OwnerError, match="attached before as protected"):
            small.opened(owner, curator._home.root, again, name="frame", **mode)
    turned = {name: column[::-1] for name, column in frame.items()}
    assert small.opened(owner, curator._home.root, turned, name="frame").handle


def test_an_alias_by_pattern_reaches_nothing(owner, tmp_path):
    """With p1.csv spent, p[1].csv is a file of its own, or none."""
    protected(owner, tmp_path / "p1.csv")
    with pytest.raises(OwnerError, match="There is no file"):
        owner.attach(named(tmp_path / "p[1].csv", name="alias"))


def test_a_changed_file_is_another_version_and_is_asked_anew(owner, tmp_path):
    """What was stored for the rows as they were is not the answer for the rows as they are; the budget goes on."""
    path = tmp_path / "p1.csv"
    path.write_text(lines(*PAID))
    first = owner.attach(named(path))
    asked(owner, first)
    path.write_text(lines(*PAID, "3,1,1"))
    second = owner.attach(named(path))
    assert second.data_version != first.data_version
    asked(owner, second)
    assert second.budget.spent.amount == 2
    path.write_text(lines(*PAID))
    assert owner.attach(named(path)).data_version == first.data_version


@pytest.mark.slow
def test_five_wrong_sizes_freeze_the_rows_until_the_owners_word(owner, tmp_path, monkeypatch, curator):
    """Each refusal is the same whatever the size and the name; then even the right one is refused, under any name and declaration, until loosened."""
    path = tmp_path / "p1.csv"
    path.write_text(lines(*PAID))
    facts = {"adjacency": "change-one"}
    for name, rows in (("small", 10), ("n20", 20), ("n30", 30), ("small", 39), ("n41", 41)):
        with pytest.raises(OwnerError, match=f"declares rows = {rows}"):
            owner.attach(named(path, rows=rows, name=name, **facts))
    for declare, name, rows in ((named, "small", 50), (named, "small", 40), (fewer, "other", 40)):
        with pytest.raises(OwnerError, match=f"{name} is frozen"):
            owner.attach(declare(path, rows=rows, name=name, **facts))
    monkeypatch.setenv("DPNB_HOME", str(curator._home.root))
    (tmp_path / "p1.dpnb.toml").write_text(
        toml("p1.csv").replace('"add-remove"', f'"change-one"\nrows = {small.ROWS}')
    )
    assert loosen(tmp_path / "p1.dpnb.toml", "the codebook was wrong") == "small"
    assert owner.attach(FileSource(path=str(tmp_path / "p1.dpnb.toml"))).handle
    note = [row for row in owner.statement() if row["kind"] == "loosen"]
    assert len(note) == 1


def test_loosening_records_the_operating_systems_user(tmp_path, dpnb_home, monkeypatch):
    """Who did it is whoever runs the command, not a word that anybody may write."""
    monkeypatch.setenv("DPNB_HOME", str(dpnb_home))
    (tmp_path / "p1.csv").write_text(lines(*PAID))
    (tmp_path / "p1.dpnb.toml").write_text(toml("p1.csv"))
    add(Home(dpnb_home), tmp_path / "p1.dpnb.toml")
    loosen(tmp_path / "p1.dpnb.toml", "first")
    with Ledger(Home(dpnb_home).ledger) as ledger, ledger.reading() as db:
        body = db.execute("SELECT body FROM entries WHERE kind = 'loosen'").fetchone()[0]
    assert json.loads(body)["by"] == system.user_name()


def test_a_copy_of_another_quantiser_is_prepared_again(dpnb_home, tmp_path):
    """It is never answered from; a handle of an earlier curator is told to open the data again."""
    config, path = Config(Home(dpnb_home)), tmp_path / "p1.csv"
    path.write_text(lines(*PAID))
    first = Curator.opened(config)
    handle = small.session(first).attach(named(path)).handle
    (attached,) = first._open.values()
    first.close()
    with duckdb.connect(str(attached.copy)) as copy:
        copy.execute("UPDATE about SET quantiser = quantiser + 1")
    second = Curator.opened(config)
    with pytest.raises(CuratorGone, match="Open the dataset again"):
        second._copies.again(handle, second._ledger, "ann")
    assert small.session(second).attach(named(path)).handle == handle
    second.close()
    with duckdb.connect(str(attached.copy), read_only=True) as copy:
        assert copy.execute("SELECT quantiser FROM about").fetchone() == (QUANTISER_VERSION,)


def test_bounds_seen_on_data_are_said_on_the_card_and_recorded(owner, tmp_path):
    """The owner's own word under [dataset] stands in the schema, on the card and in the ledger."""
    path = tmp_path / "p1.csv"
    path.write_text(lines(*PAID))
    opened = owner.attach(named(path, bounds="seen on data"))
    assert opened.schema.bounds == "seen on data"
    assert any("Bounds seen on data" in note for note in opened.notes)
    with pytest.raises(OwnerError, match="choice of bounds was pinned as made after a look at the data"):
        owner.attach(named(path))


def test_a_study_is_taught_with_and_shown_guarded_beside_it(owner):
    """Public rows are nobody's secret: the same study has a TEACHING budget and a guarded one."""
    taught = owner.attach(StudySource(name="incentive33"))
    guarded = owner.attach(StudySource(name="incentive33"), "guard-rail")
    assert (taught.schema.mode.value, guarded.schema.mode.value) == ("teaching", "guard-rail")
    assert owner.attach(StudySource(name="incentive33")).handle == taught.handle


def overwritten(path, other):
    """Other rows are written into the file, and then the old ones."""
    old, found = path.read_bytes(), path.stat()
    path.write_bytes(other)
    yield
    path.write_bytes(old)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))


def replaced(path, other):
    """Another file stands in the place, and then the old one."""
    path.rename(path.with_name("away"))
    path.write_bytes(other)
    yield
    path.with_name("away").replace(path)


def lengthened(path, other):
    """Rows are written below, and then cut off."""
    size = path.stat().st_size
    with path.open("ab") as file:
        file.write(other)
    yield
    os.truncate(path, size)


@pytest.mark.parametrize("change", [overwritten, replaced, lengthened])
@pytest.mark.parametrize("ending", WRITERS)
def test_a_change_that_is_undone_while_a_file_is_read_is_seen(dpnb_home, tmp_path, change, ending):
    """Between two of its readings the codes of one content would be filed as another's, though the bytes are the old ones again."""
    home, path = Home(dpnb_home).make(), tmp_path / f"small{ending}"
    write(path, 3)
    write(tmp_path / f"other{ending}", 5)

    def prepare(rows, schema, into, table, key):
        into.write_bytes(b"prepared")
        steps = change(path, (tmp_path / f"other{ending}").read_bytes())
        next(steps)
        next(steps, None)

    with look_up(named(path), None, home) as found:
        before = found.rows().digest()
        with pytest.raises(OwnerError, match="changed while it was read"):
            PreparedCopies(home, prepare, small.NumpyEngine).prepared(found)
        assert found.rows().digest() == before
    assert list(home.prepared.iterdir()) == []


def test_a_database_is_read_through_the_opening_that_was_hashed(tmp_path, monkeypatch):
    """Its path could lead to another file for just that moment; what is read is what was hashed."""
    for folder, rows in (("d", 3), ("other", 5)):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "t.duckdb", rows)
    with NamedFile.open(tmp_path / "d" / "t.duckdb") as file, duckdb.connect() as connection:
        if file.place is None:
            pytest.skip("the system names no openings")
        (tmp_path / "d").rename(tmp_path / "away")
        (tmp_path / "other").rename(tmp_path / "d")
        monkeypatch.setattr(NamedFile, "is_at", lambda *_: True)
        raw = open_source(connection, file)
        assert connection.execute(f"SELECT count(*) FROM {raw.sql}").fetchone() == (3,)


def test_a_damaged_hand_over_is_named(dpnb_home):
    """A cut file of handed-over rows is an owner's error with its fix, and is deleted."""
    home = Home(dpnb_home).make()
    name = "0" * 32 + ".npz"
    (home.hand_over / name).write_bytes(b"PK\x03\x04 cut")
    with pytest.raises(OwnerError, match="Open the frame again"):
        look_up(HandOver(file=name, schema=raw(json.loads("null"))), None, home)
    assert not (home.hand_over / name).exists()


def test_an_empty_key_is_refused(dpnb_home):
    """An empty key would make every data version guessable."""
    home = Home(dpnb_home).make()
    with contextlib.closing(small.curator(dpnb_home)) as service:
        home.key.write_bytes(b"")
        with pytest.raises(OwnerError, match="key file is damaged"):
            small.opened(small.session(service), dpnb_home)
    assert not list(home.prepared.iterdir())


RICH = [[f"{n * n % 9973},{n % 2},{(n + m) % 2}" for n in range(100 + m)] for m in range(6)]


@pytest.mark.slow
def test_rows_refused_under_another_name_are_told_that_name_and_freeze_nothing(owner, tmp_path):
    """Who opens one file under other names by accident reads what to type for each of them, as often as it happens."""
    protected(owner, tmp_path / "p1.csv")
    for name in [f"again{place}" for place in range(6)] * 2:
        with pytest.raises(OwnerError, match=rf"{name} gets one of its own: dpnb loosen {name}\.dpnb\.toml"):
            owner.attach(named(tmp_path / "p1.csv", name=name))
    (tmp_path / "new.csv").write_text(lines(*RICH[0]))
    assert owner.attach(named(tmp_path / "new.csv", name="new")).handle


@pytest.mark.slow
def test_five_tables_refused_end_a_principals_openings_until_the_owners_word(
    owner, curator, tmp_path, monkeypatch
):
    """A guess that was right and one that was wrong then look alike; the data of others and open handles go on."""
    for place, rows in enumerate(RICH):
        (tmp_path / f"p{place}.csv").write_text(lines(*rows))
        data = owner.attach(named(tmp_path / f"p{place}.csv", name=f"p{place}"))
    for place in range(5):
        with pytest.raises(OwnerError, match="attached before"):
            owner.attach(named(tmp_path / f"p{place}.csv", name="guess"))
    (tmp_path / "wrong.csv").write_text(lines(*RICH[5][1:]))
    told = set()
    for path in (tmp_path / "p5.csv", tmp_path / "wrong.csv", tmp_path / "p0.csv"):
        with pytest.raises(OwnerError, match="5 different contents") as refused:
            owner.attach(named(path, name="guess"))
        told.add(str(refused.value))
    assert len(told) == 1
    assert asked(owner, data)
    monkeypatch.setenv("DPNB_HOME", str(curator._home.root))
    (tmp_path / "p1.dpnb.toml").write_text(toml("p1.csv").replace('"small"', '"guess"'))
    assert loosen(tmp_path / "p1.dpnb.toml", "two surveys of the same people") == "guess"
    assert owner.attach(named(tmp_path / "wrong.csv", name="new")).handle
    assert curator._ledger.verify().intact


def test_one_column_of_two_kinds_of_cells_cannot_be_counted_out(owner, curator):
    """Seen: N + 1 attaches of guesses told how many rows hold a 1. A frame of so few tables leaves no mark."""
    columns = {"g": {"type": "category", "values": [0, 1]}}
    terms = small.declared(adjacency="add-remove") | {"columns": columns}
    terms["dataset"].pop("rows")
    for place in range(7):
        schema = load({**terms, "dataset": {**terms["dataset"], "name": f"guess{place}"}}).schema
        cells = {"g": np.arange(small.ROWS) % 2}
        assert owner.attach(hand_over(cells, schema, curator._home)).handle


def test_loosening_refuses_a_size_that_is_still_wrong_and_counts_it(tmp_path, dpnb_home, monkeypatch):
    """Seen: it said that it was recorded, and the next opening was refused."""
    monkeypatch.setenv("DPNB_HOME", str(dpnb_home))
    (tmp_path / "p1.csv").write_text(lines(*PAID))
    home, text = Home(dpnb_home), toml("p1.csv").replace('"add-remove"', '"change-one"\nrows = 7')
    (tmp_path / "p1.dpnb.toml").write_text(text)
    with pytest.raises(OwnerError, match=r"Nothing was added\..*another number of rows"):
        add(home, tmp_path / "p1.dpnb.toml")
    with pytest.raises(OwnerError, match=r"Nothing was loosened\..*another number of rows"):
        loosen(tmp_path / "p1.dpnb.toml", "the codebook was wrong")
    with Ledger(home.ledger) as ledger:
        assert ledger.pins("small") is None
        assert [row.kind for row in ledger.statement("small")] == []
        assert ledger.verify().intact
    assert list(home.prepared.iterdir()) == []
    with contextlib.closing(sqlite3.connect(home.ledger)) as db:
        assert db.execute("SELECT count(*) FROM refusals WHERE what = 'size' AND mark = ''").fetchone() == (
            2,
        )


def test_nothing_is_loosened_in_a_home_that_does_not_know_the_dataset(tmp_path, dpnb_home, monkeypatch):
    """Seen: without --config it said "Recorded" in the owner's own home, and the service's ledger knew nothing of it."""
    monkeypatch.setenv("DPNB_HOME", str(dpnb_home))
    (tmp_path / "p1.csv").write_text(lines(*PAID))
    (tmp_path / "p1.dpnb.toml").write_text(toml("p1.csv"))
    with pytest.raises(OwnerError, match=r"no ledger in .*DPNB_HOME or --config"):
        loosen(tmp_path / "p1.dpnb.toml", "the board allows more")
    assert not Home(dpnb_home).ledger.exists()
    (tmp_path / "p2.csv").write_text(lines(*RICH[0]))
    (tmp_path / "p2.dpnb.toml").write_text(toml("p2.csv").replace('"small"', '"other"'))
    add(Home(dpnb_home), tmp_path / "p2.dpnb.toml")
    with pytest.raises(OwnerError, match=r"knows no dataset small, so nothing was loosened.*--config"):
        loosen(tmp_path / "p1.dpnb.toml", "the board allows more")
    with Ledger(Home(dpnb_home).ledger) as ledger:
        assert ledger.pins("small") is None
        assert [row.kind for row in ledger.statement("other")] == ["attach"]


@pytest.mark.parametrize("ending", ["csv", "duckdb"])
def test_a_file_of_one_table_is_known_by_its_bytes_whether_or_not_the_table_is_named(owner, tmp_path, ending):
    """Seen: table = "t" opened a protected file anew, without its column that identifies, and in a CSV file any word did."""
    (tmp_path / "rows.csv").write_text(lines(*PAID))
    if ending == "duckdb":
        with duckdb.connect(str(tmp_path / "rows.duckdb")) as database:
            database.execute(f"CREATE TABLE t AS SELECT * FROM '{tmp_path / 'rows.csv'}'")
    for name, table in (("small", None), ("other", "t")):
        text = toml(f"rows.{ending}", table).replace('"small"', f'"{name}"')
        (tmp_path / f"{name}.dpnb.toml").write_text(text if table is None else text.split("[columns.x]")[0])
    assert owner.attach(FileSource(path=str(tmp_path / "small.dpnb.toml"))).handle
    with pytest.raises(OwnerError, match="attached before as protected"):
        owner.attach(FileSource(path=str(tmp_path / "other.dpnb.toml")))


def test_two_tables_of_one_database_are_two_datasets(owner, tmp_path):
    """The bytes of a file say nothing of which of its tables is read."""
    with duckdb.connect(str(tmp_path / "d.duckdb")) as database:
        for table, rows in (("small", 3), ("other", 5)):
            database.execute(f"CREATE TABLE {table} AS SELECT 1 AS x, 0 AS g, 1 AS y FROM range({rows})")
    for table in ("small", "other"):
        (tmp_path / f"{table}.dpnb.toml").write_text(
            toml("d.duckdb", table).replace('"small"', f'"{table}"', 1)
        )
        assert owner.attach(FileSource(path=str(tmp_path / f"{table}.dpnb.toml"))).handle


@pytest.mark.skipif(not LOCKS.exists(), reason="the system makes up no files")
def test_a_file_that_a_system_makes_up_is_refused_before_it_is_read(dpnb_home, tmp_path, monkeypatch):
    """Such a file says that it is empty, and reading it may wait for ever (as the kernel's messages do)."""
    (tmp_path / "small.csv").symlink_to(LOCKS)
    monkeypatch.setattr(NamedFile, "reader", lambda _: pytest.fail("it was read"))
    with pytest.raises(OwnerError, match="is empty"):
        look_up(named(tmp_path / "small.csv"), None, Home(dpnb_home).make())


def fewer(path, **dataset):
    """A file with the terms of the small dataset without its column y."""
    source = named(path, **dataset)
    declared = json.loads(bytes(source.schema))
    declared["columns"] = [column for column in declared["columns"] if column["name"] != "y"]
    return FileSource(path=str(path), schema=raw(declared))


@pytest.mark.skipif(not LOCKS.exists(), reason="the system does not list its locks")
@pytest.mark.parametrize("link", [os.symlink, os.link])
@pytest.mark.parametrize("name", ["ledger.sqlite3", "ledger.sqlite3-shm", "mark-of-ledger"])
def test_the_homes_own_files_are_no_sources_and_keep_their_locks(curator, owner, tmp_path, link, name):
    """Closing a second opening of the ledger would take SQLite's locks away, and let two writers in."""
    before = lasting_locks()
    link(curator._home.root / name, tmp_path / "p.csv")
    with pytest.raises(OwnerError, match="dpnb's own home"):
        owner.attach(named(tmp_path / "p.csv"))
    assert before
    assert any(lasting_locks() == before for _ in range(100))  # a lock that is lost does not come back


def lasting_locks():
    """SQLite's locks on a ledger that is open: its shared range, and the switch in its -shm; others come and go in the background.

    The system lists locks by processor: one that moves while it is read may stand twice, or not at all.
    """
    words = [line.split() for line in LOCKS.read_text().splitlines()]
    mine = [tuple(word[3:4] + word[5:]) for word in words if word[4] == str(os.getpid())]
    return {lock for lock in mine if lock[2:] in {("1073741826", "1073742335"), ("128", "128")}}


def test_units_that_a_collation_calls_equal_are_two_units(curator, owner, tmp_path):
    """A DuckDB column may ignore case or accents: adding the unit "A" never displaces a row of the unit "a"."""
    with duckdb.connect(str(tmp_path / "d.duckdb")) as database:
        database.execute("CREATE TABLE t (id VARCHAR COLLATE NOCASE.NOACCENT, x INT, g INT, y INT)")
        database.execute("INSERT INTO t VALUES ('a', 1, 1, 1), ('A', 2, 1, 1), ('á', 3, 1, 1)")
    opened = owner.attach(named(tmp_path / "d.duckdb", unit="id", max_rows_per_unit=1))
    assert true_count(curator, opened) == 3


def test_a_generated_column_is_refused(owner, tmp_path):
    """What is computed when it is read, perhaps from chance or the clock, is no cell of the file."""
    with duckdb.connect(str(tmp_path / "d.duckdb")) as database:
        database.execute("CREATE TABLE t (g INT, y INT, x DOUBLE GENERATED ALWAYS AS (random() * 10))")
        database.execute("INSERT INTO t VALUES (1, 1)")
    with pytest.raises(OwnerError, match="generated"):
        owner.attach(named(tmp_path / "d.duckdb"))


def called(path, headers, **dataset):
    """A file with the small dataset's terms, and what a kernel says of its columns' names."""
    path.write_text(lines("1,0,1"))
    return FileSource(path=str(path), schema=named(path, **dataset).schema, dialect=raw({"headers": headers}))


@pytest.mark.parametrize(
    "headers", [5, "xy", {"x": "y"}, [["x"]], [["x", "y", "g"]], [[1, {}]], ["xy"], None]
)
def test_headers_that_are_no_pairs_of_names_are_refused(dpnb_home, tmp_path, headers):
    """Seen: headers = 5 was a TypeError of the curator, and [[1, {}]] was taken."""
    with pytest.raises(OwnerError, match="headers are pairs of names"):
        look_up(called(tmp_path / "small.csv", headers), None, Home(dpnb_home))


def test_headers_that_a_kernel_sends_rename_no_unit(dpnb_home, tmp_path):
    path, home, unit = tmp_path / "small.csv", Home(dpnb_home), {"unit": "g", "max_rows_per_unit": 1}
    with look_up(called(path, [["x", "y"]], **unit), None, home) as found:
        assert found.rows().dialect.headers == (("x", "y"),)
    with pytest.raises(OwnerError, match="g names the unit"):
        look_up(called(path, [["g", "y"]], **unit), None, home)

"""The page of states, row by row: ledger, mark, adoption and restoration do what ``docs/explanation/states.md`` says, and tell what it says."""

from __future__ import annotations

import contextlib
import errno
import re
import shutil
from pathlib import Path

import pytest
from msgspec import structs

from dpnb.errors import DpnbError, OwnerError
from dpnb.trusted import system
from dpnb.trusted.curator import failpoints, totals
from dpnb.trusted.curator.mark import mark_of
from dpnb.trusted.owner.act_entries import Act, hold
from dpnb.trusted.owner.restoration import restore
from dpnb.trusted.wire.codec import encode, exact_json
from dpnb.trusted.wire.messages import Again, Attach
from dpnb.trusted.wire.places import Home
from tests.curator import small
from tests.curator.test_adoption import Killed
from tests.curator.test_adoption_rules import House, dies
from tests.curator.test_ledger import forge
from tests.curator.test_mark import in_child

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "states.md"
NOTHING = "nothing"


def rows(title):
    """The rows of the table below a title: state, event, next state, what is told to who asks and to the owner."""
    _, _, text = PAGE.read_text(encoding="utf-8").partition(f"\n## {title}")
    table = text.partition("\n## ")[0]
    found = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in table.splitlines()
        if line[:2] == "| "
    ]
    return found[1:]


HOME, CHARGE = rows("A home"), rows("A charge")


def says(cell, told):
    """Hold what was told against a cell: nothing, words in italics in their order, or just that."""
    words = re.fullmatch(r"\*(.+)\*", cell)
    if cell == NOTHING or words is None:
        assert (told or NOTHING) == cell
    else:
        pattern = ".*".join(map(re.escape, words[1].split(" … "))) + r"(?!\d)"
        assert re.search(pattern, told or "", re.DOTALL), (
            cell,
            told,
        )


def test_every_state_is_left_and_reached_and_has_each_event_once():
    """The page is a machine: a state that nothing leads to, or a second line for an event, is a mistake of the page."""
    for table, first in ((HOME, "new"), (CHARGE, "none")):
        assert len({tuple(row[:2]) for row in table}) == len(table) > 15
        reached = {first, *(row[2] for row in table)}
        assert {row[2] for row in table} <= {row[0] for row in table}
        assert {row[0].partition(",")[0] for row in table} <= reached


class World(House):
    """A home with one question of ann's, and whoever else comes in."""

    def __init__(self, home):
        super().__init__(home)
        self.place = Home(Path(home))
        self.message = self.submit(self.data.x.mean())
        self.told = None
        """What the owner was told."""

    @property
    def ledger(self):
        return self.service._ledger

    def state(self):
        """The state of ann's first request."""
        with self.ledger.reading() as db:
            query = "SELECT charge, answers.entry FROM requests LEFT JOIN answers USING (charge) WHERE request = ?"
            charge, answered = db.execute(query, (self.message.request,)).fetchone() or (None, None)
            if charge is None:
                return "none"
            if answered is not None:
                return "answered" if self.ledger.mark.entry >= answered else "withheld"
            if totals.restored_since(db, charge):
                return "void"
        return "abandoned" if any(charge in some for some in self.ledger._abandoned.values()) else "waiting"

    def dies(self, step, message=None):
        """Let the work on a request end at a step."""
        failpoints.install(lambda now: dies(now, step))
        try:
            with pytest.raises(Killed):
                self.ask(message or self.message)
        finally:
            failpoints.install(None)

    def restore(self, *source, reason="a test"):
        """Restore as the owner, with no curator on the home, and start one."""
        self.service.close()
        try:
            self.told = restore(self.place, reason, *source)
        except OwnerError as refused:
            self.told = str(refused)
        self.start()

    def start(self):
        """Start a curator."""
        self.service.close()
        self.service = small.curator(self.home)
        self.told = self.told or self.service.frozen

    def freeze(self):
        """Freeze the dataset as its owner."""
        act = Act("owner", "a test", "2026-01-01T00:00:00+00:00")
        self.ledger.act(lambda db: hold(db, "freeze", "small", act))

    def answer(self, message, principal="ann"):
        """Ask, and say what is told."""
        if principal == "ann":
            self.service.answer(encode(Attach(source=Again(handle=self.data.handle))), principal)
        else:
            theirs = small.opened(small.session(self.service, principal), self.home)
            message = structs.replace(message, handle=theirs.handle)
        before = self.charges()
        try:
            reply = self.ask(message, principal)
        except DpnbError as refused:
            return str(refused)
        if self.charges() != before:
            return "the answer; it is charged"
        paid = exact_json(reply.before) is not None
        return f"the answer; {'charged before, nothing more now' if paid else 'nothing more is charged'}"

    def other_plan(self):
        """The same request id with another plan."""
        other = self.submit(self.data.y.mean())
        return structs.replace(other, request=self.message.request)


def broken_mark(world):
    """Ask while the mark cannot be written."""
    with pytest.MonkeyPatch.context() as patch:

        def broken(_):
            raise OSError(errno.EIO, "Input/output error")

        patch.setattr(system, "sync", broken)
        return world.answer(world.message)


def same(world):
    return world.submit(world.data.x.mean())


CHARGES = {
    "none": lambda world: None,
    "waiting": lambda world: world.dies("charged"),
    "abandoned": lambda world: (world.dies("charged"), world.anew()),
    "withheld": broken_mark,
    "answered": lambda world: world.ask(world.message),
    "void": lambda world: (world.dies("charged"), world.restore()),
}
ASKED = {
    "it is asked": lambda world: world.answer(world.message),
    "more is asked than is left": lambda world: world.answer(world.submit(world.data.y.mean(), epsilon=11)),
    "the owner froze the dataset and it is asked": lambda world: (
        world.freeze(),
        world.answer(world.message),
    )[1],
    "the curator dies before the charge": lambda world: (world.dies("before-charge"), world.anew())[1],
    "the curator dies after the charge": lambda world: (world.dies("charged"), world.anew())[1],
    "the mark cannot be written": broken_mark,
    "the same request again": lambda world: world.answer(world.message),
    "the same request with another plan": lambda world: world.answer(world.other_plan()),
    "a new request asks the same": lambda world: world.answer(same(world)),
    "a new request asks something else": lambda world: world.answer(world.submit(world.data.y.mean())),
    "somebody else asks the same": lambda world: world.answer(same(world), "bob"),
    "the curator ends": lambda world: world.anew(),
    "the owner froze the dataset and a new request asks the same": lambda world: (
        world.freeze(),
        world.answer(same(world)),
    )[1],
    "the owner froze the dataset and the same request comes again": lambda world: (
        world.freeze(),
        world.answer(world.message),
    )[1],
    "the owner restores": lambda world: world.restore(),
}


@pytest.mark.parametrize(
    ("state", "event", "then", "asker", "owner"), CHARGE, ids=[" + ".join(row[:2]) for row in CHARGE]
)
def test_a_charge_goes_from_state_to_state_as_the_page_says(dpnb_home, state, event, then, asker, owner):
    """One row of the page; whatever happens, no question has two draws under one charge."""
    world = World(dpnb_home)
    CHARGES[state](world)
    assert world.state() == state
    world.told = None
    says(asker, ASKED[event](world))
    says(owner, world.told)
    assert world.state() == then
    assert world.ledger.verify().intact
    world.service.close()


def killed(world):
    """Let another curator of this home answer, and be killed."""
    world.service.close()
    message = world.submit(world.data.y.mean())

    def work():
        world.service = small.curator(world.home)
        world.answer(message)

    in_child(work)


def lost(world, *names):
    """Delete files of the home while nobody has it open, and start a curator."""
    world.service.close()
    for name in names:
        path = world.place.ledger.with_name(name)
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    world.start()


def older(world):
    """Put the ledger of before the answer in its place."""
    world.service.close()
    shutil.copy(world.copy, world.place.ledger)
    world.start()


def edited(world):
    """Say in the ledger that less was spent."""
    world.service.close()
    forge(world.place.ledger, "UPDATE charges SET spent = replace(spent, '\"1\"', '\"0\"')")
    world.start()


def damaged(world):
    """Overwrite the mark."""
    world.service.close()
    mark_of(world.place.ledger).write_bytes(b"no mark")
    world.start()


def renamed(world):
    """Move the open ledger."""
    world.place.ledger.rename(world.place.ledger.with_name("elsewhere"))
    with contextlib.suppress(DpnbError):
        world.answer(world.message)
    world.told = world.service.frozen


def beside(world):
    """Restore while a curator holds the home."""
    with small.locked(world.place.lock):
        world.restore()


LEDGER, MARK = "ledger.sqlite3", mark_of(Path("ledger.sqlite3")).name
HOMES = {
    "new": lambda world: lost(world, LEDGER, f"{LEDGER}-wal", f"{LEDGER}-shm", MARK, "key", "prepared"),
    "open": lambda world: None,
    "frozen": lambda world: lost(world, MARK),
    "frozen, with its mark": lambda world: lost(world, LEDGER),
    "frozen, with nothing left": lambda world: lost(world, LEDGER, MARK, "prepared"),
}
HAPPENED = {
    "a curator starts": World.start,
    "the curator is killed and starts": lambda world: (killed(world), world.start()),
    "the ledger is deleted": lambda world: lost(world, LEDGER),
    "an older copy is put in its place": older,
    "its journal is deleted after a kill": lambda world: (
        killed(world),
        lost(world, f"{LEDGER}-wal", f"{LEDGER}-shm"),
    ),
    "the mark is deleted": lambda world: lost(world, MARK),
    "the mark is damaged": damaged,
    "the key is deleted": lambda world: lost(world, "key"),
    "a total is edited": edited,
    "the ledger is renamed while it is open": renamed,
    "the owner restores beside a curator": beside,
    "the owner restores": World.restore,
    "the owner restores without a reason": lambda world: world.restore(reason=" "),
    "the owner restores without a mark": World.restore,
    "the owner restores an older copy": lambda world: world.restore(world.copy),
    "the owner restores without a ledger": World.restore,
}


@pytest.mark.parametrize(
    ("state", "event", "then", "asker", "owner"), HOME, ids=[" + ".join(row[:2]) for row in HOME]
)
def test_a_home_goes_from_state_to_state_as_the_page_says(
    dpnb_home, tmp_path, state, event, then, asker, owner
):
    """One row of the page: ε 1 of 10 was answered before."""
    world = World(dpnb_home)
    world.service.close()
    world.copy = tmp_path / LEDGER
    shutil.copy(world.place.ledger, world.copy)
    world.start()
    assert world.answer(world.message) == "the answer; it is charged"
    HOMES[state](world)
    assert (world.service.frozen is not None) is state.startswith("frozen")
    world.told = None
    HAPPENED[event](world)
    says(owner, world.told)
    assert ("open" if world.service.frozen is None else "frozen") == then
    try:
        small.opened(small.session(world.service), dpnb_home)
        refused = None
    except DpnbError as error:
        refused = str(error)
    says(asker, refused)
    world.service.close()

"""A service whose disk fills up while a class is at work: refused in a clear sentence, nothing lost, and answered once there is room."""

from __future__ import annotations

import resource
import subprocess
import threading
from fractions import Fraction

import pytest

from dpnb.errors import ChargedError, DpnbError, OwnerError
from dpnb.planner.request import Ask
from dpnb.trusted.curator.ledger import Ledger

CLASS, EACH = "abcd", 5
ROOMS = 0, 12_288, 40_960
"""What is left when the disk is full, in bytes: nothing, or pages for some of what a charge and its answer write."""
LATER = "The service cannot do this now: its owner must act, and can see why in its log. Run this again later: it is charged once at most."


class Filesystem:
    """One of its own for ledger, mark and log, in memory, on which a file takes all room but a few pages."""

    def __init__(self, home):
        self.ballast = home / "ballast"
        subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16m,mode=700", "none", home], check=True)

    def fill(self, room):
        """Leave so many bytes."""
        with self.ballast.open("wb", buffering=0) as file:
            try:
                while True:
                    file.write(bytes(4096))
            except OSError:
                file.truncate(file.tell() // 4096 * 4096 - room)

    def make_room(self):
        """Take the file away."""
        self.ballast.unlink()


class Quota:
    """Where nobody may mount: no file of the service may grow much beyond what its journal is now."""

    def __init__(self, service):
        self.service = service

    def _limit(self, most):
        hard = resource.prlimit(self.service.process.pid, resource.RLIMIT_FSIZE)[1]
        resource.prlimit(self.service.process.pid, resource.RLIMIT_FSIZE, (most, hard))

    def fill(self, room):
        """Leave so many bytes."""
        self._limit((self.service.folder / "home" / "ledger.sqlite3-wal").stat().st_size + room)

    def make_room(self):
        """Take the limit away."""
        self._limit(resource.prlimit(self.service.process.pid, resource.RLIMIT_FSIZE)[1])


def may_mount(tmp_path):
    """Whether this user may: root can, in most containers."""
    place = tmp_path / "mounted"
    place.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "none", place], capture_output=True, check=False)
    return mounted.returncode == 0 and not subprocess.run(["umount", place], check=False).returncode


@pytest.fixture
def small(running, tmp_path):
    """A service that has begun, with a disk that can be filled."""
    service = running(each="each = { epsilon = 2 }", more="free_disk = 0", begin=False)
    home = service.folder / "home"
    home.mkdir(mode=0o700)
    mounts = may_mount(tmp_path)
    disk = Filesystem(home) if mounts else Quota(service)
    yield service.start(), disk
    if mounts:
        for session in service.sessions:
            session.close()
        subprocess.run(["umount", "--lazy", home], check=True)


def ask(session, people, place):
    """Ask one question of one's own; return its answer or its refusal."""
    try:
        return session.release([people.age.clip(0, 50 + place).sum()], Ask.make(epsilon="0.04"))
    except DpnbError as refusal:
        return refusal


def at_work(opened, places):
    """A class asks: each analyst one question after the other, whatever became of the last."""
    told = {name: {} for name in opened}

    def work(name):
        for place in places:
            told[name][place] = ask(*opened[name], place)

    threads = [threading.Thread(target=work, args=(name,)) for name in opened]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return told


def drawn(report):
    """What was answered: the noised integers with the ids of their draws."""
    return [release.to_json() | {"stored": None} for one in report.measurements for release in one.releases]


@pytest.mark.slow
def test_a_class_whose_disk_fills_up_loses_nothing_and_goes_on(small, monkeypatch):
    """Wherever it fills: before a charge, between charge and answer, at the mark. The same requests are answered later, without a restart.

    An answer that left stands in the ledger after a kill; a charge without one is completed by the same request, and paid once.
    """
    service, disk = small
    sessions = {name: service.session(service.token(name), monkeypatch) for name in CLASS}
    opened = {name: (session, session.open_served("people")) for name, session in sessions.items()}
    asked = 0
    for room in ROOMS:
        places = range(asked, asked + EACH)
        asked += EACH
        disk.fill(room)
        told = at_work(opened, places)
        refused = [one for mine in told.values() for one in mine.values() if isinstance(one, DpnbError)]
        assert len(refused) > len(CLASS) * EACH // 2
        assert {type(one) for one in refused} <= {OwnerError, ChargedError}
        assert {str(one) for one in refused} == {LATER}
        assert service.process.poll() is None
        disk.make_room()
        again = at_work(opened, places)
        for name, (session, people) in opened.items():
            answers = {place: drawn(one) for place, one in again[name].items()}
            for place, one in told[name].items():
                assert isinstance(one, DpnbError) or drawn(one) == answers[place]
            charges = [row for row in session.ledger(people) if row["kind"] == "charge"]
            assert [row["loss"]["amount"] for row in charges] == ["0.04"] * asked
            assert people.budget.state().mine.amount == Fraction(asked, 25)
    said = service.kill()
    assert isinstance(disk, Quota) or "has no room: the disk is full. Free some space" in said
    with Ledger(service.folder / "home" / "ledger.sqlite3") as ledger:
        assert ledger.verify().intact
        rows = [row for row in ledger.statement("people") if row.kind == "charge"]
        assert [row.answered for row in rows] == [True] * len(CLASS) * asked

"""What differs between operating systems: what is told here is true, and what is played of others does what they do."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from types import SimpleNamespace

import pytest

from dpnb.trusted import system


def test_both_ends_of_a_socket_are_this_process_and_user():
    """The system's word on a peer is the peer's."""
    here, there = socket.socketpair()
    with here, there:
        assert (system.peer_user(here), system.peer_process(there)) == (os.getuid(), os.getpid())


def test_a_port_has_no_process():
    """Nobody says who is at the other end of TCP."""
    with socket.socket(socket.AF_INET) as port:
        assert system.peer_process(port) is None


def test_what_is_written_at_a_place_is_read_there(tmp_path):
    """Reads and writes have places of their own, in one order or another."""
    descriptor = os.open(tmp_path / "file", os.O_CREAT | os.O_RDWR | system.BINARY)
    system.write_at(descriptor, b"later\n", 6)
    system.write_at(descriptor, b"first\n", 0)
    system.sync(descriptor)
    assert (system.read_at(descriptor, 6, 6), system.read_at(descriptor, 99, 0)) == (
        b"later\n",
        b"first\nlater\n",
    )
    os.close(descriptor)


def test_a_lock_is_held_against_other_openings_until_it_is_given_back(tmp_path):
    """The second opening waits its turn."""
    first, second = (os.open(tmp_path / "file", os.O_CREAT | os.O_RDWR) for _ in range(2))
    assert system.lock(first)
    assert not system.lock(second, wait=False)
    system.unlock(first)
    assert system.lock(second, wait=False)
    os.close(first)
    os.close(second)


@pytest.fixture
def refused_twice(monkeypatch):
    """A system on which a file that somebody reads can be neither replaced nor removed, the first two times."""
    asked = []

    def refuse(real):
        def act(path, *more, **named):
            asked.append(path)
            if len(asked) < 3:
                raise PermissionError(13, "used by another process")
            return real(path, *more, **named)

        return act

    monkeypatch.setattr(system, "WINDOWS", True)
    monkeypatch.setattr(Path, "replace", refuse(Path.replace))
    monkeypatch.setattr(Path, "unlink", refuse(Path.unlink))
    return asked


def test_a_file_that_somebody_reads_is_replaced_when_they_are_done(refused_twice, tmp_path):
    """Windows refuses meanwhile, and is asked again."""
    (tmp_path / "draft").write_text("new")
    system.replace(tmp_path / "draft", tmp_path / "file")
    assert ((tmp_path / "file").read_text(), len(refused_twice)) == ("new", 3)


def test_a_file_that_somebody_reads_is_removed_when_they_are_done(refused_twice, tmp_path):
    """One that is not there is removed already."""
    system.remove(tmp_path / "file")
    assert len(refused_twice) == 3


def test_what_stays_refused_is_told(monkeypatch, tmp_path):
    """Patience ends; elsewhere there is none, since nobody else refuses for a moment."""
    (tmp_path / "draft").write_text("new")
    monkeypatch.setattr(Path, "replace", lambda *_: (_ for _ in ()).throw(PermissionError(13, "no")))
    with pytest.raises(PermissionError):
        system.replace(tmp_path / "draft", tmp_path / "file")


@pytest.mark.parametrize(
    ("folder", "reason"),
    [
        ("\\\\server\\share\\dpnb", "is on another machine"),
        ("{home}/OneDrive - School/dpnb", "is synchronised by OneDrive"),
        ("/elsewhere/dpnb", "is outside your own folder"),
        ("{home}/AppData/Local/dpnb", None),
    ],
)
def test_where_access_lists_rule_only_ones_own_folder_is_private(monkeypatch, folder, reason):
    """A drive of another machine, a synchronised folder and everybody's are refused, with the reason."""
    monkeypatch.setattr(system, "WINDOWS", True)
    assert system.shared_folder(Path(folder.format(home=Path.home()))) == reason


def test_a_disk_that_cannot_pass_its_cache_is_synced_all_the_same(monkeypatch, tmp_path):
    """macOS: a file system that refuses F_FULLFSYNC gets fsync; that a sync fails is told."""
    import fcntl

    synced = []
    monkeypatch.setattr(system, "sys", SimpleNamespace(platform="darwin"))
    monkeypatch.setattr(fcntl, "F_FULLFSYNC", 51, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", lambda *_: (_ for _ in ()).throw(OSError(45, "not supported")))
    monkeypatch.setattr(os, "fsync", synced.append)
    system.sync(7)
    assert synced == [7]


def test_free_disk_is_what_can_be_written(tmp_path):
    """A folder that is not there is a fault."""
    assert system.free_bytes(tmp_path) > 0
    with pytest.raises(FileNotFoundError):
        system.free_bytes(tmp_path / "none")

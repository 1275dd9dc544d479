"""Homes, runtime folders and locks."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from dpnb.errors import OwnerError
from dpnb.wire.filelock import FileLock
from dpnb.wire.places import Home, private_folder, runtime_folder, write_private

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def test_a_home_is_made_for_its_user_alone(tmp_path):
    """Its folders are 0700, also where they existed more open."""
    (tmp_path / "home").mkdir(mode=0o755)
    home = Home(tmp_path / "home").make()
    for folder in (home.root, home.prepared, home.hand_over):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_socket_path_is_short_however_deep_the_home(tmp_path):
    """Sockets have a length limit; homes have none."""
    deep = tmp_path.joinpath(*["folder" * 5] * 10)
    assert len(os.fsencode(str(Home(deep).socket))) < 104


def test_two_homes_have_two_sockets(tmp_path):
    """The socket is named by its home."""
    assert Home(tmp_path / "a").socket != Home(tmp_path / "b").socket


def test_a_runtime_folder_that_is_a_link_is_refused(tmp_path):
    """A folder planted by somebody else is not used."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OwnerError):
        private_folder(tmp_path / "link")


def test_the_runtime_folder_falls_back_to_a_short_one(tmp_path, monkeypatch):
    """A runtime folder with a long path is passed over."""
    long = tmp_path / ("x" * 100)
    long.mkdir()
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(long))
    assert len(str(runtime_folder())) < 80


def test_private_files_are_0600_and_replaced_whole(tmp_path):
    """A reader sees the old content or the new."""
    path = tmp_path / "file"
    write_private(path, b"one")
    write_private(path, b"two")
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [entry.name for entry in tmp_path.iterdir()] == ["file"]


def test_a_lock_is_held_by_one_and_freed_by_its_holders_death(tmp_path):
    """A second holder is refused; a killed holder's lock is free."""
    path = tmp_path / "lock"
    with FileLock(path):
        assert not FileLock(path).acquire()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        FileLock(path).acquire()
        os.write(write, b"x")
        os.kill(os.getpid(), 9)
    os.read(read, 1)
    os.waitpid(child, 0)
    os.close(read)
    os.close(write)
    lock = FileLock(path)
    assert lock.acquire()
    lock.free()


def test_the_home_is_the_environments_or_the_users(monkeypatch, tmp_path):
    """DPNB_HOME wins; otherwise a folder of the user's data."""
    monkeypatch.setenv("DPNB_HOME", str(tmp_path))
    assert Home.current().root == tmp_path
    monkeypatch.delenv("DPNB_HOME")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr("sys.platform", "linux")
    assert Home.current().root == Path(tmp_path / "data" / "dpnb")

"""Homes, runtime folders and locks."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from dpnb.errors import OwnerError
from dpnb.trusted.wire import places
from dpnb.trusted.wire.filelock import FileLock
from dpnb.trusted.wire.places import Home, private_folder, runtime_folder, write_private

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")


def test_a_home_is_made_for_its_user_alone(tmp_path):
    """Its folders are 0700, also where they existed more open."""
    (tmp_path / "home").mkdir(mode=0o755)
    home = Home(tmp_path / "home").make()
    for folder in (home.root, home.prepared, home.hand_over):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_a_log_that_is_full_keeps_no_more_and_says_so(tmp_path, monkeypatch):
    """A service then writes to its error stream. Seen: whoever filled the log hid each fault that came after."""
    monkeypatch.setattr(places, "_LONGEST_LOG", 10)
    home = Home(tmp_path / "home").make()
    assert home.note("now", "first", OwnerError("no"))
    assert not home.note("now", "second", OwnerError("no"))
    assert "second" not in home.log.read_text()


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
    lock = FileLock(path)
    assert lock.acquire()
    assert not FileLock(path).acquire()
    lock.free()
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


OTHER, GROUP = 12_345, 54_321
"""A user and a group that nobody here is or is in."""
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root may give a folder away")


def below(tmp_path, mode, link=False):
    """A home below a folder of a mode; or behind a link that lies in one."""
    parent = tmp_path / "shared"
    parent.mkdir()
    home = parent / "dpnb"
    if link:
        (tmp_path / "real").mkdir()
        home.symlink_to(tmp_path / "real")
        home = home / "dpnb"
    parent.chmod(mode)
    return parent, Home(home)


@pytest.mark.parametrize("mode", [0o777, 0o757, 0o2777])
@pytest.mark.parametrize("link", [False, True])
def test_a_home_below_a_folder_that_everybody_may_write_is_refused(tmp_path, mode, link):
    """They could put another ledger in its place; the message names the folder and the fix, and nothing is made there."""
    parent, home = below(tmp_path, mode, link=link)
    with pytest.raises(OwnerError, match=r"can be written by others.*DPNB_HOME.*chmod go-w") as told:
        home.make()
    assert str(parent) in str(told.value)
    assert not home.root.exists()
    parent.chmod(0o755)
    assert home.make().root.exists()


def test_a_sticky_folder_is_no_danger_to_what_is_ours(tmp_path):
    """As in /tmp: everybody may add, only owners rename."""
    _, home = below(tmp_path, 0o1777)
    assert home.make().root.exists()


def test_a_folder_that_its_group_may_write_counts_who_is_in_the_group(monkeypatch):
    """A user's own group is fine; one with other members, or that nobody can list, is refused."""
    import grp
    import pwd

    me = pwd.getpwuid(os.getuid()).pw_name

    def groups(name, *members):
        return lambda number: grp.struct_group((name, "x", number, list(members)))

    def people(*names):
        entry = list(pwd.getpwuid(os.getuid()))
        return lambda: [pwd.struct_passwd((name, *entry[1:3], GROUP, *entry[4:])) for name in names]

    found = os.stat_result((0o40775, 0, 0, 0, os.getuid(), GROUP, 0, 0, 0, 0))
    for group, listed, fine in [
        (groups(me), people(), True),
        (groups("users"), people(me), True),
        (groups("users"), people(me, "ann"), False),
        (groups("class"), people(), False),
        (groups(me, "ann"), people(me), False),
        (groups("class", me, "ann"), people(), False),
    ]:
        monkeypatch.setattr(grp, "getgrgid", group)
        monkeypatch.setattr(pwd, "getpwall", listed)
        assert places._open_to_others(found) is not fine


@needs_root
@pytest.mark.parametrize("mode", [0o755, 0o1777])
def test_a_home_below_somebody_elses_folder_is_refused(tmp_path, mode):
    """The owner of a folder may rename what is in it, sticky or not."""
    parent, home = below(tmp_path, mode)
    os.chown(parent, OTHER, -1)
    with pytest.raises(OwnerError, match="belongs to somebody else"):
        home.make()


@needs_root
def test_a_link_of_somebody_else_on_the_way_is_refused(tmp_path):
    """In a sticky folder anybody can plant a link under a name that is expected."""
    parent, home = below(tmp_path, 0o1777, link=True)
    os.chown(parent / "dpnb", OTHER, -1, follow_symlinks=False)
    with pytest.raises(OwnerError, match="belongs to somebody else"):
        home.make()


def test_links_that_lead_nowhere_and_round_are_no_way(tmp_path):
    """A link to itself ends the walk, and the folder cannot be made; two dots lead up."""
    (tmp_path / "round").symlink_to(tmp_path / "round")
    with pytest.raises(OwnerError, match="DPNB_HOME"):
        Home(tmp_path / "round" / "home").make()
    (tmp_path / "a").mkdir()
    assert places.weakest(tmp_path / "a" / ".." / "b") is None


def test_a_runtime_folder_that_others_may_replace_is_passed_over(tmp_path, monkeypatch):
    """The socket is not put where somebody else could put theirs."""
    open_ = tmp_path / "run"
    open_.mkdir()
    open_.chmod(0o777)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(open_))
    assert open_ not in runtime_folder().parents

"""What differs from one operating system to the next: nobody else asks which one this is.

Linux is where all of it is tested. Of the others, ``docs/explanation/limits.md`` says what was tried.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

WINDOWS = sys.platform == "win32"
UNIX_SOCKETS = hasattr(socket, "AF_UNIX")
FORKS = hasattr(os, "fork") and not WINDOWS
BINARY: int = getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
"""Opening flags of every file that is written: no child inherits it, and Windows leaves its line ends alone."""

_PATIENCE, _PAUSE = 2.0, 0.01
"""Seconds for which Windows is asked again while somebody reads the file, and between two times."""
_LOCKED = 2**30
"""The byte of a file that stands for all of it where locks have places: far beyond what is ever written there."""
_LOCAL_PEERCRED, _LOCAL_PEERPID = 1, 2


# ---------------------------------------------------------------------- users


def user_id() -> int | None:
    """Return the number of the user of this process, where users have numbers."""
    if sys.platform == "win32":
        return None
    return os.getuid()


@lru_cache(maxsize=1)
def user_name() -> str:
    """Return the name of the user of this process: the principal of an embedded session and of an owner's acts."""
    if sys.platform == "win32":
        return os.getlogin()
    import pwd

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:
        return f"uid-{os.getuid()}"


def nobody_else_in(group: int) -> bool:
    """Say whether nobody but root and this user is in a group: root's own, or one that many systems make for each user."""
    if group == 0 or sys.platform == "win32":
        return group == 0
    import grp
    import pwd

    try:
        me, members = pwd.getpwuid(os.getuid()).pw_name, grp.getgrgid(group)
    except KeyError:
        return False
    if set(members.gr_mem) - {me, "root"}:
        return False
    listed = {entry.pw_name for entry in pwd.getpwall() if entry.pw_gid == group}
    # a directory service may list nobody: there only the group of the same name counts as this user's own
    return members.gr_name == me or (listed <= {me, "root"} and me in listed)


def data_folder() -> Path:
    """Return where programs keep what belongs to the user."""
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share")


def shared_folder(folder: Path) -> str | None:
    """Say why a folder may be open to others where access lists rule instead of modes; None where nothing speaks for it.

    The user's own folder is private there by default; a drive of another machine and a synchronised folder are not.
    """
    if not WINDOWS:
        return None
    if str(folder).startswith("\\\\"):
        return "is on another machine"
    if any(part.casefold().startswith("onedrive") for part in folder.parts):
        return "is synchronised by OneDrive"
    return None if folder.is_relative_to(Path.home()) else "is outside your own folder"


# ---------------------------------------------------------------------- files


def read_at(descriptor: int, length: int, place: int) -> bytes:
    """Read from a place of a file. Whoever shares a descriptor between threads holds a lock: Windows moves its position."""
    if sys.platform == "win32":
        os.lseek(descriptor, place, os.SEEK_SET)
        return os.read(descriptor, length)
    return os.pread(descriptor, length, place)


def write_at(descriptor: int, content: bytes, place: int) -> None:
    """Write all of ``content`` at a place of a file, as :func:`read_at` reads."""
    while content:
        if sys.platform == "win32":
            os.lseek(descriptor, place, os.SEEK_SET)
            written = os.write(descriptor, content)
        else:
            written = os.pwrite(descriptor, content, place)
        content, place = content[written:], place + written


def sync(descriptor: int) -> None:
    """Bring a file to its disk, past the disk's own cache where the system can.

    Raises
    ------
    OSError
    """
    if sys.platform == "linux":
        os.fdatasync(descriptor)
        return
    if sys.platform == "darwin":
        import fcntl

        with contextlib.suppress(OSError):  # not every file system knows it
            fcntl.fcntl(descriptor, fcntl.F_FULLFSYNC)
            return
    os.fsync(descriptor)


def lock(descriptor: int, *, wait: bool = True) -> bool:
    """Take the lock of an open file against other processes, and say whether it was taken; it ends with the process."""
    try:
        if sys.platform == "win32":
            import msvcrt

            os.lseek(descriptor, _LOCKED, os.SEEK_SET)
            while True:
                with contextlib.suppress(PermissionError):
                    msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
                    return True
                if not wait:
                    return False
                time.sleep(_PAUSE)
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        if wait:
            raise
        return False
    return True


def unlock(descriptor: int) -> None:
    """Give back what :func:`lock` took."""
    if sys.platform == "win32":
        import msvcrt

        os.lseek(descriptor, _LOCKED, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_UNLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_UN)


def replace(draft: Path, path: Path) -> None:
    """Give a finished file its name in one step; Windows refuses while somebody reads the old one, and is asked again."""
    _again(lambda: draft.replace(path))


def remove(path: Path) -> None:
    """Remove a file that may be there, as :func:`replace` replaces one."""
    _again(lambda: path.unlink(missing_ok=True))


def _again(act: Callable[[], object]) -> None:
    end = time.monotonic() + (_PATIENCE if WINDOWS else 0)
    while True:
        try:
            act()
        except PermissionError:
            if time.monotonic() >= end:
                raise
            time.sleep(_PAUSE)
        else:
            return


def place_of(descriptor: int) -> Path | None:
    """Return a path that leads to an opening whatever becomes of its file's name, where the system has one."""
    place = Path(f"/proc/self/fd/{descriptor}")
    return place if sys.platform == "linux" and place.exists() else None


def changed(found: os.stat_result) -> int:
    """Return when a file last changed, in nanoseconds: by the system's own clock, or where it has none (Windows), as programs set it."""
    return found.st_mtime_ns if WINDOWS else found.st_ctime_ns


def free_bytes(folder: Path) -> int | None:
    """Return how many bytes can be written where a folder is; None where nothing can, whatever is free.

    Raises
    ------
    OSError
        When nobody can tell.
    """
    if sys.platform == "win32":
        return shutil.disk_usage(folder).free
    disk = os.statvfs(folder)
    return None if disk.f_flag & os.ST_RDONLY else disk.f_bavail * disk.f_frsize


# ---------------------------------------------------------------------- processes


def peer_user(peer: socket.socket) -> int | None:
    """Return the user at the other end of a Unix socket, as the system knows it."""
    if sys.platform == "linux":
        return int(struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[1])
    if sys.platform == "darwin":
        return int(struct.unpack_from("2I", peer.getsockopt(0, _LOCAL_PEERCRED, 76))[1])
    return user_id()  # the socket's mode 0600 has already decided


def peer_process(peer: socket.socket) -> int | None:
    """Return the process at the other end of a Unix socket when it connected, where the system knows it."""
    if not UNIX_SOCKETS or peer.family.name != "AF_UNIX":
        return None
    if sys.platform == "linux":
        return int(struct.unpack("3i", peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))[0])
    if sys.platform == "darwin":
        return int(peer.getsockopt(0, _LOCAL_PEERPID))
    return None


def unix_socket() -> socket.socket:
    """Make a Unix socket.

    Raises
    ------
    OSError
        Where there are none.
    """
    if sys.platform == "win32" or not UNIX_SOCKETS:
        raise OSError("this system has no Unix sockets")
    return socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)


def apart() -> dict[str, Any]:
    """Return what starts a process that neither an interrupt nor the end of this one reaches, as :class:`subprocess.Popen` takes it."""
    if sys.platform == "win32":
        import subprocess

        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP | subprocess.CREATE_NO_WINDOW}
    return {"start_new_session": True}


def fork() -> int:
    """Fork, where :data:`FORKS` says that this system can."""
    if sys.platform == "win32":
        raise OSError("this system cannot fork")
    return os.fork()


def after_fork(act: Callable[[], object]) -> None:
    """Run ``act`` in whatever is forked from this process, where processes are forked."""
    if sys.platform != "win32":
        os.register_at_fork(after_in_child=act)


@contextlib.contextmanager
def looking(look: Callable[[], object], each: float) -> Iterator[None]:
    """Call ``look`` every so many seconds while the main thread is at work; where no timer interrupts it, never."""
    if sys.platform == "win32":
        yield
        return
    before = signal.signal(signal.SIGALRM, lambda *_: look())
    signal.setitimer(signal.ITIMER_REAL, each, each)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def at_hang_up(loop: Any, act: Callable[[], object]) -> None:
    """Let an event loop run ``act`` on a worker whenever SIGHUP comes, where there are signals."""
    if sys.platform != "win32":
        with contextlib.suppress(NotImplementedError):
            loop.add_signal_handler(signal.SIGHUP, loop.run_in_executor, None, act)


def allow_files(needed: int) -> None:
    """Let this process open as many files as it needs, as far as the system allows."""
    if sys.platform == "win32":
        return
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft != resource.RLIM_INFINITY and soft < needed:
            most = needed if hard == resource.RLIM_INFINITY else min(needed, hard)
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))

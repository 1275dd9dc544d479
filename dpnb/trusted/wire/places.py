"""Where a home's files are and where its curator listens.

A *home* (``DPNB_HOME``, else the user's data folder) holds one ledger and has at most one curator. Everything in it is
readable by its user alone. The socket lives in a short runtime folder, because a socket's path has a length limit.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import stat
import tempfile
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from dpnb.trusted import system
from dpnb.trusted.errors import CuratorError, OwnerError

_LONGEST_SOCKET_PATH = 100
_MOST_LINKS = 40
_LONGEST_LOG = 16 * 2**20


class _Inside:
    """A file or folder of a home, by its name there."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __get__(self, home: Home, kind: type[Home]) -> Path:
        return home.root / self._name


@dataclass(frozen=True, slots=True)
class Home:
    """The folder that holds a ledger, its store, its prepared copies and its log.

    Parameters
    ----------
    root : Path
        An absolute folder.
    """

    root: Path

    ledger = _Inside("ledger.sqlite3")
    """The ledger and the store."""
    key = _Inside("key")
    """The curator's own key, which names prepared copies and chooses the rows that a unit keeps."""
    signing_key = _Inside("signing-key.pem")
    """The key under which receipts are signed."""
    prepared = _Inside("prepared")
    """The folder of prepared copies."""
    hand_over = _Inside("hand-over")
    """The folder in which a kernel leaves rows that it already held."""
    log = _Inside("curator.log")
    """The owner's log."""
    lock = _Inside("curator.lock")
    """The lock that a living curator holds."""
    start_lock = _Inside("start.lock")
    """The lock under which kernels start a curator."""
    address = _Inside("curator.json")
    """The file in which a living curator says where it listens."""

    @classmethod
    def current(cls) -> Home:
        """Return the home named by ``DPNB_HOME``, or the user's own."""
        named = os.environ.get("DPNB_HOME")
        return cls(Path(named).expanduser().absolute() if named else _default_root())

    @property
    def socket(self) -> Path:
        """The curator's socket."""
        name = hashlib.sha256(os.fsencode(str(self.root))).hexdigest()[:12]
        return runtime_folder() / f"{name}.sock"

    def owns(self, found: os.stat_result) -> bool:
        """Say whether a file is one of the home's own, by whatever name it was reached."""
        beside = self.root.glob(f"{self.ledger.name}*")
        own = (
            *beside,
            self.key,
            self.signing_key,
            self.ledger.with_name(f"mark-of-{self.ledger.stem}"),
            self.log,
            self.lock,
            self.start_lock,
            self.address,
            *self.prepared.glob("*"),
        )
        return any(_is_same(place, found) for place in own)

    def note(self, time: str, what: str, error: BaseException) -> bool:
        """Write a fault to the owner's log, and say whether that could be done.

        It may quote what an engine says of a value; nobody else reads it.
        """
        text = "".join(traceback.format_exception(error))
        line = f"{time} {what}\n{text}\n".encode("utf-8", "backslashreplace")
        try:
            descriptor = os.open(self.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            with os.fdopen(descriptor, "ab") as log:
                if log.tell() >= _LONGEST_LOG:
                    return False
                log.write(line)
        except OSError:  # a full disk, for one
            return False
        return True

    def make(self) -> Home:
        """Create the folders with mode 0700, and return the home."""
        self.check()
        try:
            for folder in (self.root, self.prepared, self.hand_over):
                private_folder(folder)
        except OSError as error:
            raise OwnerError(
                f"{self.root} cannot be used as DPNB_HOME ({error.strerror}): set DPNB_HOME to a folder of your own."
            ) from None
        self.check()  # what was made on the way to it, too
        return self

    def check(self) -> None:
        """Refuse a home on whose way somebody else may rename or replace a folder: they could put another ledger in its place.

        Raises
        ------
        OwnerError
            Naming the folder and what to do.
        """
        found = weakest(self.root)
        if found is not None:
            folder, reason = found
            act = "" if system.WINDOWS else f", or let its owner run: chmod go-w {folder}"
            raise OwnerError(
                f"{folder} {reason}, so others could replace what is in DPNB_HOME ({self.root}). "
                f"Set DPNB_HOME to a folder below your own{act}"
            )


def _is_same(place: Path, found: os.stat_result) -> bool:
    with contextlib.suppress(OSError):
        return os.path.samestat(place.lstat(), found)
    return False


def runtime_folder() -> Path:
    """Return a short folder of mode 0700 that belongs to this user."""
    for parent in (os.environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp"):  # noqa: S108 - the last resort
        if not parent or not Path(parent).is_dir() or not os.access(parent, os.W_OK):
            continue
        folder = Path(parent) / f"dpnb-{system.user_id()}"
        if len(os.fsencode(str(folder))) + 20 <= _LONGEST_SOCKET_PATH and weakest(folder) is None:
            return private_folder(folder)
    raise CuratorError("No short folder for the curator's socket was found: set XDG_RUNTIME_DIR.")


def private_folder(folder: Path) -> Path:
    """Create ``folder`` with mode 0700, or check that it is a folder of this user alone."""
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or system.user_id() not in {None, found.st_uid}:
        raise OwnerError(
            f"{folder} belongs to somebody else: set DPNB_HOME or XDG_RUNTIME_DIR to a folder of your own."
        )
    if stat.S_IMODE(found.st_mode) & 0o077:
        folder.chmod(0o700)
    return folder


def write_private(path: Path, content: bytes) -> None:
    """Write a file of mode 0600 in one step (a reader sees the old content or the new)."""
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | system.BINARY, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(content)
    system.replace(draft, path)


def write_once(path: Path, content: bytes) -> None:
    """Make a file of mode 0600, complete before it has its name. Of several who make it at once the first wins."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        write_private(draft, content)
        with contextlib.suppress(FileExistsError):
            os.link(draft, path)
    finally:
        system.remove(draft)


def _default_root() -> Path:
    return (system.data_folder() / "dpnb").absolute()


# ---------------------------------------------------------------------- the way to a folder


def weakest(folder: Path) -> tuple[Path, str] | None:
    """Return the first place on the way to a folder that somebody else could bend, and why; nothing where there is none.

    Whoever may write a folder may rename what is in it and put something else in its place, whatever the mode of what is inside.
    So a private folder is private only where each folder on its way belongs to this user or to root, and where nobody else may
    write it; a *sticky* folder such as ``/tmp`` lets everybody add but only owners rename, and is safe for what is our own.
    What does not exist yet is not looked at.

    Examples
    --------
    >>> weakest(Path("/")) is None
    True
    """
    me = system.user_id()
    if me is None:  # access lists, not modes, rule there
        reason = system.shared_folder(folder)
        return None if reason is None else (folder, reason)
    trusted = {
        0,
        me,
        Path("/").stat().st_uid,
    }  # in a container without root's number, / belongs to its stand-in
    for place, found in _passed(folder):
        if found.st_uid not in trusted:
            return place, "belongs to somebody else"
        if not stat.S_ISLNK(found.st_mode) and _open_to_others(found):
            return place, "can be written by others"
    return None


def _passed(folder: Path) -> Iterator[tuple[Path, os.stat_result]]:
    """Every folder and link that the system passes on the way to a folder, and the folder itself."""
    left = list(reversed(folder.absolute().parts[1:]))
    here, links = Path("/"), 0
    yield here, here.lstat()
    while left:
        here = here / left.pop()
        if here.name == "..":
            here = here.parent.parent
            continue
        try:
            found = here.lstat()
        except OSError:
            return
        yield here, found
        if stat.S_ISLNK(found.st_mode) and links < _MOST_LINKS:
            links += 1
            target = here.readlink()
            left.extend(reversed(target.parts[1:] if target.is_absolute() else target.parts))
            here = Path("/") if target.is_absolute() else here.parent


def _open_to_others(found: os.stat_result) -> bool:
    mode = found.st_mode
    if mode & stat.S_ISVTX or not stat.S_ISDIR(mode):
        return False
    return bool(mode & stat.S_IWOTH) or bool(mode & stat.S_IWGRP and not system.nobody_else_in(found.st_gid))

"""The way to a folder: every folder and link that is passed from the root, and who could bend it.

Whoever may write a folder may rename what is in it and put something else in its place, whatever the mode of what is inside.
So a private folder is private only where each folder on its way belongs to this user or to root, and where nobody else may
write it; a *sticky* folder such as ``/tmp`` lets everybody add but only owners rename, and is safe for what is our own.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

_MOST_LINKS = 40


def weakest(folder: Path) -> tuple[Path, str] | None:
    """Return the first place on the way to a folder that somebody else could bend, and why; nothing where there is none.

    What does not exist yet is not looked at.

    Examples
    --------
    >>> weakest(Path("/")) is None
    True
    """
    if not hasattr(os, "getuid"):  # pragma: no cover - access lists, not modes, rule there
        return None
    trusted = {
        0,
        os.getuid(),
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
    return bool(mode & stat.S_IWOTH) or bool(mode & stat.S_IWGRP and not _ours_alone(found.st_gid))


def _ours_alone(group: int) -> bool:
    """Whether nobody but root and this user is in a group: root's own, or one that many systems make for each user."""
    if group == 0:
        return True
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

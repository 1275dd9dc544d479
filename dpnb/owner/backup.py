"""``dpnb backup``: a copy of ledger, journal, mark and key in a folder of its own, made while a curator runs.

The order makes the copy whole: the mark is read first, then one consistent state of the ledger is copied with its journal
(SQLite's online backup), which is at or above that mark; the copy is examined entry by entry, and its own mark is made from
it. A folder that exists is left as it is.
"""

from __future__ import annotations

import secrets
import shutil
from pathlib import Path

from dpnb.trusted.curator.audit_trail import examine
from dpnb.trusted.curator.database import aside, sync_folder
from dpnb.trusted.curator.guard import fault_of, known_of, mark_at, owners_words
from dpnb.trusted.curator.mark import Mark, MarkFile, advanced, keyed, mark_of
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.owner.restoration import copied
from dpnb.trusted.wire.places import Home, write_private


def backup(home: Home, target: Path) -> str:
    """Copy a home's ledger, mark and key into a new folder.

    Parameters
    ----------
    home : Home
    target : Path
        Made here (mode 0700); it must not exist.

    Returns
    -------
    str
        What was copied, in words.

    Raises
    ------
    OwnerError
        When the folder exists or cannot be written, or the ledger is not intact.
    """
    if target.exists() or target.is_symlink():
        raise OwnerError(f"{target} exists and is left as it is. Name a new folder.")
    if not home.ledger.exists():
        raise OwnerError(f"There is no ledger in {home.root} to copy. dpnb verify says more.")
    draft = target.with_name(f".{target.name}.{secrets.token_hex(4)}")
    try:
        draft.mkdir(mode=0o700)
        mark = _filled(home, draft)
        draft.rename(target)
        sync_folder(target.parent)
    except OSError as error:
        raise OwnerError(f"{target} cannot be written: {error.strerror}.") from error
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    return (
        f"Copied {home.ledger} up to entry {mark.entry} to {target}. Head {mark.head}\n"
        "If the home itself is lost, nobody knows what was spent after this copy: restored from it alone, the whole budget of every dataset "
        "counts as spent. Tokens, the log and prepared copies are not in it."
    )


def _filled(home: Home, folder: Path) -> Mark:
    before = mark_at(home.ledger)
    if before is None:
        raise OwnerError(owners_words("the mark beside it is missing or damaged"))
    known = known_of(home.ledger, before)
    copy = folder / home.ledger.name
    copied(home.ledger, copy)
    with aside(copy) as db:
        fault = examine(db).fault or fault_of(db, home.ledger, known)
        if fault is not None:
            raise OwnerError(owners_words(fault))
        mark = advanced(None, db)
    for key in (home.key, home.signing_key):
        if key.exists():
            write_private(folder / key.name, key.read_bytes())
    MarkFile.made(mark_of(copy), keyed(mark, copy)).close()
    for beside in ("-wal", "-shm"):  # empty: the copy is whole without them
        copy.with_name(copy.name + beside).unlink(missing_ok=True)
    sync_folder(folder)
    return mark

"""An attached dataset: its public schema, its place in the ledger, and the engine on its prepared copy.

A prepared copy is named by a keyed hash of content and schema: the same file opens again at once, and the name says nothing
of the content to who lacks the key. Copies and their descriptions are 0600 and removed by ``detach``.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import itertools
import os
import secrets
import shutil
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from dpnb.trusted.canonical import Record, canonical, read_json
from dpnb.trusted.curator.engines import Engine
from dpnb.trusted.curator.engines.copies import HERE, LAKE, SERVER, system_of
from dpnb.trusted.curator.guard import note_in_copies
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.mark import Mark
from dpnb.trusted.curator.pins import Attachment
from dpnb.trusted.curator.sources import OpenedSource
from dpnb.trusted.curator.terms import Terms, compare, taught
from dpnb.trusted.errors import CuratorGone, OwnerError
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.cell import QUANTISER_VERSION
from dpnb.trusted.schema.lake_table import LakeTable
from dpnb.trusted.wire.places import Home, write_once, write_private

_FORGOTTEN = 3600.0
"""Seconds after which handed-over rows that no attach came for are deleted."""


@dataclass(slots=True)
class Attached:
    """One open dataset of one principal."""

    handle: str
    schema: Schema
    terms: Terms
    known_as: str
    pool: str
    data_version: str
    budget: Budget
    notes: tuple[str, ...]
    copy: Path
    engine: Engine
    lock: threading.RLock = field(default_factory=threading.RLock)
    priced: tuple[bytes, Schema | None, Any] = (b"", None, None)
    """The plan that was priced last, under which schema, and what was found: what is looked at is often charged next."""

    def for_principal(self, principal: str) -> Attached:
        """Return the same open dataset under the handle of another principal."""
        handle = _handle(self.known_as, self.data_version, self.schema.version, principal)
        return replace(self, handle=handle, lock=threading.RLock(), priced=(b"", None, None))

    def describe(self) -> Record:
        """Return what a curator started anew needs to open the same handle."""
        return {
            "schema": self.schema.to_json(),
            "known_as": self.known_as,
            "data_version": self.data_version,
            "notes": list(self.notes),
            "copy": self.copy.name,
        }


@dataclass(frozen=True, slots=True)
class Copy:
    """A prepared copy, and whether it was made just now."""

    path: Path
    new: bool


class PreparedCopies:
    """The prepared copies of a home.

    :meth:`prepared` takes as long as reading the data takes, and holds no lock but that copy's own. Everything else is
    short, and its caller sees to it that one thing happens at a time.

    Parameters
    ----------
    home : Home
    prepare : callable
        ``prepare(rows, schema, into, table, key)`` writes a prepared copy.
    engine : callable
        ``engine(path)`` opens one, unless another version's quantiser made it.
    """

    def __init__(self, home: Home, prepare: Callable[..., None], engine: Callable[[Path], Engine]) -> None:
        self._home = home
        self._prepare = prepare
        self._engine = engine
        self._running: dict[Path, Engine] = {}
        self._preparing: dict[Path, threading.Lock] = {}
        self._noting = threading.Lock()

    @cached_property
    def _key(self) -> bytes:
        """The home's key, made when rows are first read: a home whose ledger is frozen gets none, for it reads none."""
        return key_of(self._home)

    def prepared(self, found: OpenedSource) -> Copy:
        """Find the prepared copy of the rows, or prepare them; nothing else waits for it."""
        path = self._place(found)
        with self._preparing.setdefault(path, threading.Lock()):
            if path.exists():
                return Copy(path, new=False)
            self._write(found, path)
            return Copy(path, new=True)

    def attach(
        self, found: OpenedSource, copy: Copy, ledger: Ledger, principal: str, time: str
    ) -> Attached | None:
        """Open a copy's engine and pin the terms in the ledger; None when the copy is gone or damaged: prepare it again.

        Raises
        ------
        OwnerError
            When the ledger refuses the terms. Nothing of this attach is left then.
        """
        idle = copy.path not in self._running
        try:
            self._run(copy.path)
        except CuratorGone:  # damaged, or written by another version: the rows are at hand
            _erase(copy.path)
            return None
        terms = Terms.of(found.schema, found.known_as)
        try:
            attachment = ledger.attach(terms, found.state, found.marks, found.places, by=principal, time=time)
        except BaseException:
            self._forget(copy, idle=idle)
            raise
        opened = self._opened(found.schema, terms, attachment, found.notes, copy.path, principal)
        known = {} if ledger.mark is None else {"mark": ledger.mark.to_json()}
        with self._noting:
            write_private(self._note(opened.handle), canonical({**opened.describe(), **known}).encode())
        return opened

    def _forget(self, copy: Copy, *, idle: bool) -> None:
        """Leave nothing of a refused attach: neither an engine that it started nor a copy that it made."""
        if idle:
            self._stop(copy.path)
        if idle and copy.new:
            _erase(copy.path)

    def again(self, handle: str, ledger: Ledger, principal: str) -> Attached:
        """Open a handle of an earlier curator."""
        record = self._described(handle)
        if record is None:
            raise CuratorGone("The prepared copy of this dataset was removed. Open the dataset again.")
        schema = Schema.from_json(record["schema"])
        terms = ledger.pins(record["known_as"])
        copy = self._home.prepared / Path(record["copy"]).name
        if terms is None or not copy.exists():
            raise CuratorGone("The prepared copy of this dataset was removed. Open the dataset again.")
        mine = Terms.of(schema, record["known_as"])
        if not taught(terms, mine) and compare(terms, mine):
            raise CuratorGone("The owner changed the terms of this dataset. Open the dataset again.")
        attachment = Attachment(
            record["known_as"], terms.pool, record["data_version"], terms.budget, 0, first=False
        )
        opened = self._opened(schema, mine, attachment, tuple(record["notes"]), copy, principal)
        if opened.handle != handle:
            raise CuratorGone("This handle belongs to somebody else. Open the dataset again.")
        return opened

    def keep(self, mark: Mark) -> None:
        """Note a mark in every prepared copy: where ledger and mark are replaced by older ones, the copies tell."""
        with self._noting:
            note_in_copies(self._home.ledger, mark)

    def close(self) -> None:
        """Stop every engine."""
        while self._running:
            self._running.popitem()[1].close()

    def copy_of(self, handle: str, principal: str) -> Path | None:
        """Return the copy behind somebody's handle, also one of an earlier curator or under earlier terms; it need not be open."""
        record = self._described(handle)
        if record is None:
            return None
        schema = Schema.from_json(record["schema"])
        if _handle(record["known_as"], record["data_version"], schema.version, principal) != handle:
            return None
        return self._home.prepared / Path(record["copy"]).name

    def remove(self, handle: str, copy: Path) -> None:
        """Stop a copy's engine, and delete the copy and its description."""
        self._stop(copy)
        with self._noting:
            self._note(handle).unlink(missing_ok=True)
        _erase(copy)

    def _opened(
        self, schema: Schema, terms: Terms, known: Attachment, notes: tuple[str, ...], copy: Path, who: str
    ) -> Attached:
        name, version = terms.dataset, known.version
        handle, engine = _handle(name, version, schema.version, who), self._run(copy)
        return Attached(handle, schema, terms, name, known.pool, version, known.budget, notes, copy, engine)

    def _run(self, copy: Path) -> Engine:
        if copy not in self._running:
            try:
                self._running[copy] = self._engine(copy)
            except Exception as error:
                raise CuratorGone(
                    "The prepared copy of this dataset cannot be read. Open the dataset again."
                ) from error
        return self._running[copy]

    def _stop(self, copy: Path) -> None:
        engine = self._running.pop(copy, None)
        if engine is not None:
            engine.close()

    def _place(self, found: OpenedSource) -> Path:
        unit = canonical(found.schema.unit.to_json())
        about = (found.known_as, found.fingerprint, found.schema.version, unit, str(QUANTISER_VERSION))
        facts = "\n".join(about).encode()
        name = hmac.new(self._key, facts, hashlib.sha256).hexdigest()[:32]
        return self._home.prepared / f"{name}{_ending(found)}"

    def _write(self, found: OpenedSource, copy: Path) -> None:
        draft = copy.with_name(f"draft-{secrets.token_hex(8)}.duckdb")
        try:
            secret = hmac.new(self._key, b"units\n" + found.known_as.encode(), hashlib.sha256).digest()
            self._prepare(found.rows(), found.schema, draft, found.table, secret)
            found.check_unchanged()
            system_of(copy).write_copy(draft, found.server, found.schema, copy)
        except OSError as error:
            raise OwnerError(f"{found.schema.name} could not be prepared: {error.strerror}.") from error
        finally:
            with contextlib.suppress(OSError):
                draft.unlink()

    def _described(self, handle: str) -> Record | None:
        try:
            record: Record = read_json(self._note(handle).read_bytes())
        except (OSError, ValueError):
            return None
        return record

    def _note(self, handle: str) -> Path:
        return self._home.prepared / f"{handle}.json"


def sweep(home: Home) -> None:
    """Delete what nobody opens again: drafts and workshops of a killed curator, copies without a description, old rows.

    Needs the home's lock.
    """
    left = (home.prepared.glob(name) for name in ("draft-*", ".preparing-*", ".fetched-*"))
    for draft in itertools.chain(*left):
        if draft.is_dir():
            shutil.rmtree(draft, ignore_errors=True)
        else:
            draft.unlink(missing_ok=True)
    for rows in home.hand_over.glob("*.npz"):
        with contextlib.suppress(OSError):
            if time.time() - rows.stat().st_mtime > _FORGOTTEN:
                rows.unlink()
    described = set(_copies_described(home))
    for copy in itertools.chain(*(home.prepared.glob(f"*{end}") for end in (HERE, SERVER, LAKE))):
        if copy.name not in described:
            _erase(copy)
    for folder in home.prepared.glob(f".*{LAKE}.*"):
        if not folder.with_name(folder.stem[1:]).exists():
            shutil.rmtree(folder, ignore_errors=True)


def _ending(found: OpenedSource) -> str:
    """How the name of a prepared copy, or of the note of one elsewhere, ends."""
    if found.server is None:
        return HERE
    return LAKE if isinstance(found.server, LakeTable) else SERVER


def _copies_described(home: Home) -> Iterator[str]:
    for note in home.prepared.glob("*.json"):
        with contextlib.suppress(OSError, ValueError, TypeError, KeyError):
            yield str(read_json(note.read_bytes())["copy"])


def _erase(copy: Path) -> None:
    """Delete a copy, wherever it lies, and where its engine spilled."""
    if copy.exists():
        system_of(copy).drop_copy(copy)
    for beside in copy.parent.glob(f".{copy.name}.*"):
        shutil.rmtree(beside, ignore_errors=True)


def _handle(known_as: str, version: str, schema_version: str, principal: str) -> str:
    facts = f"{known_as}\n{version}\n{schema_version}\n{principal}"
    return hashlib.sha256(facts.encode()).hexdigest()[:32]


_KEY_BYTES = 32


def key_of(home: Home) -> bytes:
    """Read the curator's own key, or make one. Of several who make one at once the first wins, and all read that one."""
    if not home.key.exists():
        try:
            write_once(home.key, os.urandom(_KEY_BYTES))
        except OSError as error:
            raise OwnerError(
                f"The home's key could not be written ({error.strerror}). Check the disk."
            ) from error
    try:
        key = home.key.read_bytes()
    except OSError as error:
        raise OwnerError(
            f"The home's key cannot be read ({error.strerror}). Set DPNB_HOME to a folder of your own."
        ) from error
    if len(key) != _KEY_BYTES:
        raise OwnerError(
            f"The curator's key file is damaged: it holds {len(key)} bytes, not {_KEY_BYTES}. Restore it from a backup."
        )
    return key

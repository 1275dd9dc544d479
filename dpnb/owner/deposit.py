"""A deposit from the first look at a file's header to a closed dataset: the files that its steps write, and the acts that they end in.

The file of rows is read for names and storage types alone. A file that is written replaces none but what these steps wrote themselves;
an older declaration is kept beside the new one. The acts are commands of ``dpnb admin``, to be run where they can be read.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dpnb.errors import OwnerError
from dpnb.owner.declaration_form import DeclarationForm
from dpnb.owner.draft import fields_of
from dpnb.owner.header_lines import titles
from dpnb.owner.statistics_file import read_loss, write_statistics
from dpnb.trusted.canonical import Record
from dpnb.trusted.files.named_file import format_of, stem_of
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.owner import declaration_of
from dpnb.trusted.wire.places import Home

if TYPE_CHECKING:
    from dpnb.owner.budget_sheet import Standing

STATISTICS = ".statistics.toml"


@dataclass(frozen=True, slots=True)
class DepositFiles:
    """A file of rows, and what is written beside it.

    Parameters
    ----------
    data : Path
    """

    data: Path

    @property
    def declaration(self) -> Path:
        """Where the declaration is."""
        return declaration_of(self.data)

    @property
    def statistics(self) -> Path:
        """Where the picked statistics are."""
        return self.data.with_name(stem_of(self.data) + STATISTICS)

    @property
    def published(self) -> Path:
        """The first folder that is not there yet."""
        stem = self.data.with_name(f"{stem_of(self.data)}-published")
        found = [stem, *(stem.with_name(f"{stem.name}-{place}") for place in range(2, 100))]
        return next(one for one in found if not one.exists())

    def begin(self) -> DeclarationForm:
        """Return the form to begin with: the declaration that is there, else a draft.

        Raises
        ------
        OwnerError
            When the file or its declaration cannot be read.
        """
        fields = fields_of(self.data)
        if not self.declaration.exists():
            skip = titles(self.data) if format_of(self.data) in ("csv", "excel") else ()
            return DeclarationForm.drafted(self.data, fields, skip)
        return DeclarationForm.read(_text(self.declaration)).beside(fields)

    def declares(self, form: DeclarationForm) -> bool:
        """Whether the declaration is written as the form stands."""
        return self.declaration.exists() and _text(self.declaration) == form.toml

    def declare(self, form: DeclarationForm) -> str:
        """Write the declaration; an older one is kept beside it. Return what was done.

        Raises
        ------
        OwnerError
            While something in it is blank or wrong, or where it cannot be written.
        """
        if form.problems:
            raise OwnerError("A field is still blank or wrong: nothing was written.")
        if self.declares(form):
            return f"{self.declaration} already says this."
        kept = self.declaration.with_suffix(".before.toml")
        older = self.declaration.exists()
        try:
            if older:
                shutil.copyfile(self.declaration, kept)
            self.declaration.write_text(form.toml, encoding="utf-8")
        except OSError as fault:
            raise OwnerError(f"{self.declaration} cannot be written: {fault.strerror}.") from None
        return f"Wrote {self.declaration}." + (f" The older one is {kept.name} now." if older else "")

    def pick(self, lines: Mapping[str, str], loss: Mapping[str, str]) -> None:
        """Write the picked statistics, and the loss that they share.

        Raises
        ------
        OwnerError
            Where nothing is picked, or the file cannot be written.
        """
        if not lines:
            raise OwnerError("Choose at least one statistic.")
        try:
            self.statistics.write_text(write_statistics(lines, loss), encoding="utf-8")
        except OSError as fault:
            raise OwnerError(f"{self.statistics} cannot be written: {fault.strerror}.") from None

    # ------------------------------------------------------------------ acts

    def release(self) -> str:
        """Return the command that releases what was picked."""
        return _act("release", self.declaration, *self._picked(), "--yes")

    def loosen(self, reason: str) -> str:
        """Return the command that records looser terms than were promised."""
        return _act("loosen", self.declaration, "--reason", _why(reason), "--yes")

    def publish(self, reason: str) -> str:
        """Return the command that publishes what was released."""
        return _act(
            "publish",
            self.declaration,
            *self._picked(),
            "--to",
            self.published,
            "--reason",
            _why(reason),
            "--yes",
        )

    def _picked(self) -> tuple[str | Path, ...]:
        loss = read_loss(self.statistics)
        if not loss:
            raise OwnerError("Nothing was released from here yet: go back to Pre-release.")
        ((name, amount),) = loss.items()
        return "--statistics", self.statistics, f"--{name}", amount


def cap(dataset: str, loss: Mapping[str, str], reason: str) -> str:
    """Return the command that caps what analysts may spend together."""
    ((name, amount),) = loss.items()
    return _act("cap", dataset, f"--{name}", amount, "--reason", _why(reason))


def close(dataset: str, reason: str) -> str:
    """Return the command that closes a dataset for ever."""
    return _act("close", dataset, "--reason", _why(reason), "--yes")


def _why(reason: str) -> str:
    """Return a reason as one line."""
    said = " ".join(reason.split())
    if not said:
        raise OwnerError("Give a reason: the ledger keeps it.")
    return said


def _act(*words: object) -> str:
    return f"%dp admin {shlex.join(map(str, words))}"


def standing_of(dataset: str, schema: Schema | None = None) -> Record | None:
    """Return how a dataset stands in the ledger, for a display; None where the ledger does not know it.

    ``looser`` lists, where somebody was answered, what a declaration loosens of what was promised.

    Raises
    ------
    DpnbError
        Where the ledger is frozen.
    """
    from dpnb.owner.budget_sheet import standing

    now = standing(Home.current(), dataset)
    if now is None:
        return None
    whole = now.terms.budget.cap
    return {
        "state": now.state,
        "spent": float(now.spent.amount),
        "cap": float(whole.amount),
        "words": f"{now.spent} of {whole} is spent",
        "promised": [[who, str(spent)] for who, spent in now.promised.items()],
        "looser": _looser(now, schema) if now.promised and schema is not None else [],
    }


def _looser(now: Standing, schema: Schema) -> list[str]:
    from dpnb.trusted.curator.terms import Terms, compare

    changes = compare(now.terms, Terms.of(schema, now.terms.dataset))
    return [f"{one.term}: {one.pinned} → {one.now}" for one in changes if one.looser]


def run_act(words: list[str]) -> str:
    """Run ``dpnb admin …`` as a process of its own, and return what it printed.

    Raises
    ------
    OwnerError
        With its own words, where it refuses.
    """
    command = [sys.executable, "-m", "dpnb", "admin", *words]
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    if done.returncode:
        raise OwnerError(done.stderr.strip().removeprefix("dpnb: ") or "dpnb admin ended without a message.")
    return done.stdout.rstrip()


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as fault:
        raise OwnerError(f"{path} cannot be read: {fault}.") from None

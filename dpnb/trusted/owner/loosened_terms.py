"""An owner's act from the command line: terms pinned for the first time, or looser than the pinned ones, with both values and the reason.

It refuses an act without a reason, terms that the data cannot be opened on (a size that is still wrong is counted as any
other), and never opens protected content as TEACHING. It charges nothing, and no row leaves it: the copy that it prepares
is deleted at once, and the ledger's own transaction orders it against a curator that runs.
The act is recorded with the operating-system user who did it. It also says that known rows may have a budget under this
name, and ends the freezing after five wrong sizes.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from dpnb.trusted import system
from dpnb.trusted.curator.content import WrongSize
from dpnb.trusted.curator.engines.preparing import prepare
from dpnb.trusted.curator.guard import owners_words
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.curator.pins import Attachment
from dpnb.trusted.curator.sources import OpenedSource, look_up
from dpnb.trusted.curator.terms import Terms
from dpnb.trusted.errors import FrozenError, OwnerError
from dpnb.trusted.owner.owner_acts import expect_ledger
from dpnb.trusted.wire.messages import FileSource
from dpnb.trusted.wire.places import Home


def loosen(
    source: Path, reason: str, home: Home | None = None, *, mode: str | None = None, serves: bool = False
) -> str:
    """Record the terms of a schema file as the dataset's own from now on.

    Parameters
    ----------
    source : Path
        ``people.dpnb.toml``, or the data file beside it.
    reason : str
        Why; it stays in the ledger.
    home : Home, optional
        By default the user's own.
    mode, serves
        As :func:`add` takes them.

    Returns
    -------
    str
        The dataset's name in the ledger.

    Raises
    ------
    OwnerError
        Without a reason, for a dataset that the ledger does not know, or where the data or the ledger refuse the terms. Nothing is
        loosened then.
    FrozenError
        When the ledger is not the one that answers were given from.
    """
    return _attached(home or Home.current(), source, reason, mode, serves=serves)[0]


def add(home: Home, source: Path, *, mode: str | None = None, serves: bool = False) -> tuple[str, Attachment]:
    """Make a dataset known to a home's ledger, as its first opening would: what is wrong with it is told to its owner.

    Parameters
    ----------
    home : Home
    source : Path
        ``people.dpnb.toml``, or the data file beside it.
    mode : str, optional
        ``"enforced"`` in the home of a service.
    serves : bool
        Whether it is the home of a service.

    Returns
    -------
    str, Attachment
        The dataset's name in the ledger; its pool, budget and entry.

    Raises
    ------
    OwnerError, FrozenError
        As :func:`loosen`; for looser terms than the pinned ones too.
    """
    return _attached(home, source, None, mode, serves=serves)


def _attached(
    home: Home, source: Path, reason: str | None, mode: str | None = None, *, serves: bool = False
) -> tuple[str, Attachment]:
    if reason is not None:
        expect_ledger(home)
    home = home.make()
    file = FileSource(path=str(source.resolve()))
    with (
        Ledger(home.ledger) as ledger,
        look_up(file, mode, home, serves=serves) as found,
        found.schema_named(),
    ):
        if ledger.frozen is not None:
            raise FrozenError(owners_words(ledger.frozen))
        by = system.user_name()
        try:
            _refuse_unreadable(found, home)
        except WrongSize as wrong:
            ledger.count_wrong_size(found.known_as, found.marks, by=by)
            raise OwnerError(f"Nothing was {'added' if reason is None else 'loosened'}. {wrong}") from None
        terms = Terms.of(found.schema, found.known_as)
        made = ledger.attach(terms, found.state, found.marks, found.places, by=by, reason=reason)
    return found.known_as, made


def _refuse_unreadable(found: OpenedSource, home: Home) -> None:
    """Prepare the rows as an opening does, and keep nothing of them."""
    with tempfile.TemporaryDirectory(prefix=".preparing-", dir=home.prepared) as aside:
        copy = Path(aside) / "copy.duckdb"
        prepare(found.rows(), found.schema, copy, table=found.table)
        found.check_unchanged()

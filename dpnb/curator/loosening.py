"""An owner's act from the command line: terms looser than the pinned ones, recorded with both values and the reason.

It refuses an act without a reason, and never opens protected content as TEACHING. It charges nothing, and no row leaves it:
the file is read for its fingerprint alone, and the ledger's own transaction orders it against a curator that runs.
"""

from __future__ import annotations

from pathlib import Path

from dpnb.curator.ledger import Ledger
from dpnb.curator.sources import look_up
from dpnb.curator.terms import Terms
from dpnb.wire.messages import FileSource
from dpnb.wire.places import Home


def loosen(source: Path, reason: str) -> str:
    """Record the terms of a schema file as the dataset's own from now on.

    Parameters
    ----------
    source : Path
        ``people.dpnb.toml``, or the data file beside it.
    reason : str
        Why; it stays in the ledger.

    Returns
    -------
    str
        The dataset's name in the ledger.

    Raises
    ------
    OwnerError
        Without a reason, or where the ledger refuses the terms.
    """
    home = Home.current().make()
    found = look_up(FileSource(path=str(source.resolve())), None, home)
    with Ledger(home.ledger) as ledger:
        ledger.loosen(Terms.of(found.schema, found.known_as), found.fingerprint, by="owner", reason=reason)
    return found.known_as

"""An owner's act from the command line: terms looser than the pinned ones, recorded with both values and the reason.

It refuses an act without a reason, and never opens protected content as TEACHING. It charges nothing, and no row leaves it:
the file is read for what it is known by alone, and the ledger's own transaction orders it against a curator that runs.
The act is recorded with the operating-system user who did it. It also says that known rows may have a budget under this
name, and ends the freezing after five wrong sizes.
"""

from __future__ import annotations

import os
from pathlib import Path

from dpnb.curator.attached import key_of, marking
from dpnb.curator.engines.preparing import read_content
from dpnb.curator.guard import owners_words
from dpnb.curator.ledger import Ledger
from dpnb.curator.server import principal_of
from dpnb.curator.sources import look_up
from dpnb.curator.terms import Terms
from dpnb.errors import FrozenError
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
    FrozenError
        When the ledger is not the one that answers were given from.
    """
    home = Home.current().make()
    with Ledger(home.ledger) as ledger, look_up(FileSource(path=str(source.resolve())), None, home) as found:
        if ledger.frozen is not None:
            raise FrozenError(owners_words(ledger.frozen))
        secret = marking(key_of(home))
        content = read_content(found.rows(), found.schema, home.prepared, table=found.table, marking=secret)
        terms = Terms.of(found.schema, found.known_as)
        marks = (*content.marks, *found.marks)
        ledger.loosen(terms, content.state, marks, by=principal_of(os.getuid()), reason=reason)
    return found.known_as

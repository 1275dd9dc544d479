"""dpnb on a disk whose every sync takes longer: ``python -m tests.benchmarks.slow_disk MILLISECONDS [--alone] serve --config …``.

With ``--alone`` no charge and no answer shares its sync with another, as before there were groups.
"""

from __future__ import annotations

import sys
import time
from typing import Any

from dpnb.trusted import system
from dpnb.trusted.curator.database import Database


def slowed(milliseconds: float, alone: bool) -> None:
    """Let each commit of the ledger and each raise of its mark take so much longer."""
    commit, sync = Database._commit, system.sync

    def slow_commit(self: Any, connection: Any) -> None:
        time.sleep(milliseconds / 1000)
        commit(self, connection)

    def slow_sync(descriptor: int) -> None:
        time.sleep(milliseconds / 1000)
        sync(descriptor)

    def by_itself(self: Any, act: Any, *, leaves: bool = False) -> Any:
        return self._written((act, leaves))

    Database._commit, system.sync = slow_commit, slow_sync
    if alone:
        Database.together = by_itself


if __name__ == "__main__":
    from dpnb.__main__ import main

    given = sys.argv[1:]
    apart = "--alone" in given
    slowed(float(given[0]), apart)
    sys.exit(main(given[1 + apart :]))

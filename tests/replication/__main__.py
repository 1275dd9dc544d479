"""``python -m tests.replication``: print the table, write the page."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from tests.replication import replicate, table_text
from tests.replication.figures import figures
from tests.replication.page import html_page


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the replication."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.replication", description="Recompute every published figure."
    )
    parser.add_argument("--quick", action="store_true", help="few repetitions: a look in half a minute")
    parser.add_argument("--html", type=Path, default=Path("replication.html"), help="page to write")
    parser.add_argument("--no-figures", action="store_true", help="the table alone, and no page")
    parser.add_argument("--seed", type=int, default=2018)
    chosen = parser.parse_args(arguments)
    started = time.perf_counter()
    rows = list(replicate(quick=chosen.quick, seed=chosen.seed))
    print(table_text(rows))
    if not chosen.no_figures:
        drawn = list(figures(quick=chosen.quick, seed=chosen.seed))
        chosen.html.write_text(html_page(rows, drawn), encoding="utf-8")
        print(f"\nwritten: {chosen.html}")
    print(f"{time.perf_counter() - started:.0f} s")
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""One library, one adjacency, one size: release everything so often and write the figures as JSON, a line for each statistic.

Runs in the library's own environment: ``python -m peers.worker opendp change-one 1000 --epsilon 1 --releases 400``.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from collections.abc import Iterator, Sequence
from typing import Any

from .study import TOGETHER, Answer, measured, study, truths


def released(
    peer: Any, epsilon: float, releases: int, only: Sequence[str]
) -> Iterator[tuple[str, list[Answer]]]:
    """Each statistic alone at ε, and the seven together: in one release where the library has such, else at ε/7 each; or some of these."""
    for name in peer.supports:
        if not only or name in only:
            yield name, often(peer, name, epsilon, releases)
    if only and "together" not in only:
        return
    if hasattr(peer, "together"):
        joint = [peer.together(epsilon) for _ in range(releases)]
        yield from ((f"together: {name}", [one[name] for one in joint]) for name in TOGETHER)
    else:
        asked = [name for name in TOGETHER if name in peer.supports]
        share = epsilon / len(TOGETHER)
        yield from ((f"together: {name}", often(peer, name, share, releases)) for name in asked)


def often(peer: Any, name: str, epsilon: float, releases: int) -> list[Answer]:
    """So many releases of one statistic: at once where the library's adapter can, else one after another."""
    if hasattr(peer, "many"):
        return list(peer.many(name, epsilon, releases))
    return [peer.ask(name, epsilon) for _ in range(releases)]


def joined(peer: Any, epsilon: float) -> dict[str, Answer]:
    """The seven questions as one analysis."""
    if hasattr(peer, "together"):
        return peer.together(epsilon)
    share = epsilon / len(TOGETHER)
    return {name: peer.ask(name, share) for name in TOGETHER if name in peer.supports}


def lines(
    name: str, adjacency: str, rows: int, epsilon: float, releases: int, only: Sequence[str] = ()
) -> Iterator[dict[str, Any]]:
    """The figures of one library."""
    module = importlib.import_module(f".{name}", __package__)
    releases = min(releases, getattr(module, "RELEASES", releases))
    table = study(rows)
    exact, started = truths(table), time.perf_counter()
    for asked, answers in released(module.Peer(table, adjacency), epsilon, releases, only):
        statistic = asked.removeprefix("together: ")
        truth = exact[statistic.partition(",")[0]]
        yield {
            "peer": name,
            "adjacency": adjacency,
            "rows": rows,
            "epsilon": epsilon,
            "statistic": asked,
            **measured(answers, truth).record,
            "note": getattr(module, "NOTES", {}).get(statistic, ""),
            "unsound": statistic in getattr(module, "UNSOUND", ()),
        }
    print(
        f"{name} {adjacency} n {rows} ε {epsilon:g}: {time.perf_counter() - started:.0f} s", file=sys.stderr
    )


def main() -> None:
    """Run one library."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("peer")
    parser.add_argument("adjacency")
    parser.add_argument("rows", type=int)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--releases", type=int, default=400)
    parser.add_argument("--statistics", nargs="+", default=())
    asked = parser.parse_args()
    for line in lines(
        asked.peer, asked.adjacency, asked.rows, asked.epsilon, asked.releases, asked.statistics
    ):
        print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()

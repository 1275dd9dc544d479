"""A tree of 2¹⁶ leaves: consistency in at most 50 ms; and what the rest of it takes.

Run from the repository's root: ``python tests/benchmarks/bench_tree.py``. Prints medians and whether the bar holds.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

import numpy as np

from dpnb.inference.law import law_of
from dpnb.inference.simulated_release import add_noise
from dpnb.inference.tree import ConsistentTree
from dpnb.planner import Ask, BatchPlan, Item, QueryPlan, price
from dpnb.planner.expression import Ref
from dpnb.statistics.tree import Tree
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.releases import Release, ReleasedPart
from dpnb.trusted.schema import Column, Schema

BAR = 50.0
DEPTH = 16


def median_ms(work: Callable[[], object], rounds: int = 7) -> float:
    """The median of some timed calls, in milliseconds."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        work()
        times.append(1e3 * (time.perf_counter() - start))
    return statistics.median(times)


def consistency() -> float:
    """Two passes and all leaf variances, nothing remembered from an earlier tree."""
    rng = np.random.default_rng(1)
    levels = [rng.normal(0, 10, 2**level) for level in range(DEPTH + 1)]

    def work() -> object:
        tree = ConsistentTree(2**DEPTH, (0.0,) + (9.0,) * DEPTH)
        return tree.fit(levels), tree.leaf_variances

    return median_ms(work)


def released() -> tuple[Callable[[], object], dict[str, Callable[[], object]]]:
    """Pricing, and some readings of a simulated release."""
    column = Column.number("x", 0, 1, step="0.00001")
    schema = Schema("d", "d", (column,), PrivacyUnit("add-remove"), Budget.from_toml({"epsilon": 1000}))
    question = QueryPlan("d", "tree", Ref("x"), options=(("levels", DEPTH),))
    batch = BatchPlan("d", schema.version, (Item(question),), Ask.make(epsilon=1))
    item, rng = price(batch, schema).items[0], np.random.default_rng(2)
    parts = tuple(
        ReleasedPart(
            part.name,
            law_of(part.mechanism).to_json(),
            tuple(add_noise(part.mechanism, np.full(part.cells, 5), rng).tolist()),
            "ab",
        )  # type: ignore[union-attr]
        for part in item.parts
    )
    release, setting = Release("ab", item.key, "d", "v", parts, item.loss), item.checked.setting
    reads = {
        name: (lambda read=read: read(setting).conclude([release]).interval(0.95, "privacy"))  # type: ignore[misc]
        for name, read in Tree.readings.items()
        if name != "mode"
    }
    return lambda: price(batch, schema), reads


def main() -> None:
    """Print the figures."""
    found = consistency()
    print(
        f"consistency of 2^{DEPTH} leaves: median {found:6.1f} ms (bar {BAR} ms: {'holds' if found <= BAR else 'MISSED'})"
    )
    pricing, reads = released()
    print(f"pricing: median {median_ms(pricing):6.1f} ms")
    for name, read in reads.items():
        print(f"reading and interval of {name}: median {median_ms(read, 3):6.1f} ms")


if __name__ == "__main__":
    main()

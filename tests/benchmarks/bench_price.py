"""Pricing: five questions of a typical cell in at most 5 ms, and a thousand questions without surprise.

Run from the repository's root: ``python -m tests.benchmarks.bench_price``. Prints medians and whether the bar holds.
"""

from __future__ import annotations

from dpnb.datasets import find
from dpnb.planner import Ask, BatchPlan, Item, Question, price
from dpnb.planner.expression import Compare, Const, Ref
from tests.benchmarks.measuring import medians

BAR = 5.0


def batch(count: int) -> BatchPlan:
    """A cell of this many questions about the HIV study, none like another."""
    schema = find("hiv").schema
    got, age, arm = Ref("got"), Ref("age"), Ref("any")
    base = [
        Question("hiv", "mean", got),
        Question("hiv", "difference", got, None, (arm,)),
        Question("hiv", "quantile", age, options=(("q", (0.25, 0.5, 0.75)),)),
        Question("hiv", "mean", got, None, (arm,)),
        Question("hiv", "variance", age),
    ]
    more = [Question("hiv", "mean", age, Compare(">", age, Const(i))) for i in range(max(count - 5, 0))]
    items = tuple(Item(question) for question in (base + more)[:count])
    return BatchPlan("hiv", schema.version, items, Ask.make(epsilon=1))


def main() -> None:
    """Print the figures."""
    schema = find("hiv").schema
    for count in (1, 5, 50, 100):
        asked = batch(count)
        found = medians({"price": lambda asked=asked: price(asked, schema)}, 20)["price"]
        bar = (
            f"bar {BAR} ms: {'holds' if found <= BAR else 'MISSED'}"
            if count <= 5
            else f"{found / count:.2f} ms each"
        )
        print(f"price {count:4d} questions: median {found:7.2f} ms ({bar})")


if __name__ == "__main__":
    main()

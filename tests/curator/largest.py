"""The largest batch of each statistic that may be asked, put to a curator of its own; run as a program it tells what that took."""

from __future__ import annotations

import json
import os
import resource
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
from msgspec import Raw

from dpnb.client.priced_batch import sent
from dpnb.client.transport import decode_reply
from dpnb.client.upload import hand_over
from dpnb.datasets import load
from dpnb.errors import PlanError
from dpnb.planner import expression as e
from dpnb.planner.price import PricedQuestion, price
from dpnb.planner.question import Question
from dpnb.planner.request import Ask, Item
from dpnb.statistics import STATISTICS, Statistic
from dpnb.trusted.canonical import canonical
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.query.plan import MOST_QUESTIONS, digest_of
from dpnb.trusted.wire.codec import MAX_REQUEST, encode
from dpnb.trusted.wire.messages import Attach, Request, Submit
from dpnb.trusted.wire.places import Home

ROWS = 20_000
DECLARED: dict[str, Any] = {
    "dataset": {"name": "wide", "mode": "guard-rail", "adjacency": "add-remove"},
    "budget": {"epsilon": 10**6, "delta": "0.01"},
    "columns": {
        "a": {"type": "integer", "lower": 0, "upper": 499},
        "b": {"type": "integer", "lower": 0, "upper": 399},
        "w": {"type": "integer", "lower": 0, "upper": 99_999},
        "v": {"type": "number", "lower": 0, "upper": 10, "weights_fixed": True},
        "x": {"type": "integer", "lower": 0, "upper": 1_000_000},
        **{f"n{place}": {"type": "number", "lower": 0, "upper": 1} for place in range(32)},
    },
}
X, A, B, W, V = (e.Ref(name) for name in "xabwv")
N = tuple(e.Ref(f"n{place}") for place in range(32))
LEVELS = tuple(Fraction(place, 1001) for place in range(1, 1001))

ASK = Ask.make(epsilon=10_000)
Form = Callable[[e.Expr], Question]


def _asked(statistic: str, target: e.Expr | None = None, **more: Any) -> Form:
    return lambda where: Question("wide", statistic, target, where=where, **more)


def _option(**options: Any) -> tuple[tuple[str, Any], ...]:
    return tuple(sorted(options.items()))


OWN_FORMS: dict[str, dict[str, Form]] = {
    "count": {"few": _asked("count"), "many": _asked("count", by=(A, B))},
    "sum": {"few": _asked("sum", X), "many": _asked("sum", X, by=(A, B))},
    "mean": {"few": _asked("mean", X), "many": _asked("mean", X, by=(A, B))},
    "variance": {"few": _asked("variance", X), "many": _asked("variance", X, by=(A, B))},
    "std": {"few": _asked("std", X), "many": _asked("std", X, by=(A, B))},
    "quantile": {
        "few": _asked("quantile", X, options=_option(q=Fraction(1, 2), ci=True)),
        "many": _asked("quantile", X, by=(A,), options=_option(q=Fraction(1, 2))),
        "levels": _asked("quantile", X, options=_option(q=LEVELS, ci=True)),
    },
    "histogram": {"few": _asked("histogram", X), "many": _asked("histogram", X, options=_option(bins=1000))},
    "density": {"few": _asked("density", X), "many": _asked("density", X, options=_option(bins=1000))},
    "value_counts": {"few": _asked("value_counts", A), "many": _asked("value_counts", W)},
    "crosstab": {
        "few": _asked("crosstab", A, by=(e.Compare(">", X, e.Const(3)),)),
        "many": _asked("crosstab", A, by=(B,)),
    },
    "frequent_values": {"many": _asked("frequent_values", W)},
    "difference": {
        "few": _asked("difference", X, by=(e.Compare(">", A, e.Const(3)),)),
        "many": _asked("difference", X, by=(W, e.Compare(">", A, e.Const(3)))),
    },
    "covariance": {
        "few": _asked("covariance", X, other=W),
        "many": _asked("covariance", X, by=(A, B), other=W),
    },
    "correlation": {
        "few": _asked("correlation", X, other=W),
        "many": _asked("correlation", X, by=(A, B), other=W),
    },
    "moments": {"few": _asked("moments", N[0], others=N[1:3]), "many": _asked("moments", N[0], others=N[1:])},
    "mode": {"few": _asked("mode", A), "many": _asked("mode", W), "groups": _asked("mode", A, by=(B,))},
    "top_k": {
        "few": _asked("top_k", A),
        "many": _asked("top_k", W, options=_option(k=1000)),
        "groups": _asked("top_k", A, by=(B,), options=_option(k=400)),
    },
    "ks_density": {
        "few": _asked("ks_density", X, options=_option(points=20)),
        "many": _asked("ks_density", X),
    },
    "choose": {"few": _asked("choose", N[0], others=N[1:3]), "many": _asked("choose", N[0], others=N[1:])},
    "robust_mean": {"few": _asked("robust_mean", X), "many": _asked("robust_mean", X, by=(W,))},
    "tree": {
        "few": _asked("tree", X, options=_option(levels=4)),
        "many": _asked("tree", X, options=_option(levels=16)),
    },
}
"""A statistic as a small question, of which there can be many, and as a large one."""


def usual(statistic: Statistic) -> dict[str, Form]:
    """The forms of any other statistic: by what it is of, and with each of its examples."""
    arms = (e.Compare(">", A, e.Const(3)),) * statistic.arms
    few, many = {
        "none": ({}, {}),
        "number": ({"target": X}, {"target": X}),
        "pair": ({"target": X, "other": W}, {"target": X, "other": W}),
        "weighted": ({"target": X, "other": V}, {"target": X, "other": V}),
        "numbers": ({"target": N[0], "others": N[1:3]}, {"target": N[0], "others": N[1:]}),
        "key": ({"target": A}, {"target": W}),
        "choice": ({"target": A}, {"target": W}),
        "value": ({"target": A}, {"target": W}),
    }[statistic.target]
    examples = [_option(**one) for one in statistic.examples] or [()]
    forms = {"few": _asked(statistic.name, **few, by=arms, options=examples[0])}
    for place, one in enumerate(examples):
        grouped = [_asked(statistic.name, **many, by=(*by, *arms), options=one) for by in ((A, B), (A,), ())]
        forms[f"many {place}"] = next(form for form in grouped if _possible(form))
    return forms


def _possible(form: Form) -> bool:
    """Whether one such question has a price: many groups have none, of a statistic with many values of its own."""
    try:
        priced(form)
    except PlanError:
        return False
    return True


def priced(form: Form) -> PricedQuestion:
    """Return one question of a form with its price.

    Raises
    ------
    PlanError
        If it may not be asked.
    """
    return price((Item(_question(form, 1)),), ASK, load(DECLARED).schema).items[0]


def _question(form: Form, place: int) -> Question:
    return form(e.Compare(">=", X, e.Const(place)))


FORMS = {one.name: OWN_FORMS.get(one.name) or usual(one) for one in STATISTICS}
"""Each statistic as a small question, of which there can be many, and as a large one."""


def largest(form: Form, schema: Any, asked: Ask) -> tuple[Item, ...]:
    """Return the longest batch of questions of one form that the limits allow."""

    def of(size: int) -> tuple[Item, ...]:
        return tuple(Item(_question(form, place)) for place in range(size))

    low, high = 1, MOST_QUESTIONS
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _allowed(of(middle), asked, schema) else (low, middle - 1)
    return of(low)


def _allowed(items: tuple[Item, ...], asked: Ask, schema: Any) -> bool:
    try:
        return len(encode(_submitted(items, asked, schema))) <= MAX_REQUEST
    except PlanError:
        return False


def _submitted(items: tuple[Item, ...], asked: Ask, schema: Any, handle: str = "a" * 32) -> Request:
    text = canonical(sent(price(items, asked, schema)).to_json())
    return Submit(handle=handle, request="b" * 32, digest=digest_of(text), plan=Raw(text.encode()))


def _rows() -> dict[str, Any]:
    rng = np.random.default_rng(1)
    tops = {"a": 500, "b": 400, "w": 5_000, "x": 1_000_001, "v": 11}
    return {name: rng.integers(0, top, ROWS).astype(float) for name, top in tops.items()} | {
        f"n{place}": rng.random(ROWS) for place in range(32)
    }


def told(home: Path, statistic: str, form: str, **asked: Any) -> dict[str, Any]:
    """Ask a curator the largest batch of one form; tell how many questions, what it was answered, seconds and megabytes."""
    service = Curator.opened(Config(Home(home)))
    opened = hand_over(_rows(), load(DECLARED).schema, Home(home))
    attached = decode_reply(service.answer(encode(Attach(source=opened)), "ann"))
    schema = load(DECLARED).schema
    ask = Ask.make(**asked) if asked else ASK
    items = largest(FORMS[statistic][form], schema, ask)
    body, before = encode(_submitted(items, ask, schema, attached.handle)), _megabytes()
    started = time.process_time()
    reply = service.answer(body, "ann")
    seconds = time.process_time() - started
    kind = type(decode_reply(reply)).__name__
    service.close()
    return {
        "questions": len(items),
        "reply": kind if kind == "Answered" else reply.decode()[:300],
        "seconds": round(seconds, 2),
        "before": before,
        "megabytes": _megabytes(),
        "sent": len(reply) // 2**20,
    }


def _megabytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    os.umask(0o077)
    asked = {sys.argv[4]: sys.argv[5]} if len(sys.argv) > 4 else {}
    print(json.dumps(told(Path(sys.argv[1]), *sys.argv[2:4], **asked)))

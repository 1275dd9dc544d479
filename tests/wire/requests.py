"""Requests for the fuzzer: valid ones from the whole vocabulary, and what can be wrong with them at every level.

A request is drawn as JSON values: messages, and plans of measurements as a kernel makes them of questions of every statistic over
nested expressions. It is then left as it is, or changed at some places of its tree (a field, a type, a number, a text, a list, its nesting), in its text (repeated keys, NaN, a
byte order mark, half a surrogate pair, a number of ten thousand digits), or in its bytes.
"""

from __future__ import annotations

import contextlib
import copy
import json
import random
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpnb.client.priced_batch import sent
from dpnb.errors import DpnbError
from dpnb.planner.price import price
from dpnb.planner.question import Question
from dpnb.planner.request import Ask, Item
from dpnb.statistics import BY_NAME
from dpnb.trusted.canonical import canonical, read_json
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.query.plan import digest_of
from dpnb.trusted.query.plan_record import read_parts
from dpnb.trusted.schema import Schema
from tests.contracts.derived_loss import loss as loss_of

COLUMNS = ("x", "g", "y")
RAW = "\ue000raw\ue000"
"""Marks a text that stands in the body without its quotes: what no JSON writer would write."""
DIGITS = "9" * 5_000
ODD: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 2, 10, 255, 2**31, 2**53 + 1, 2**62, 2**63, 2**64, -(2**63), 2**200, 0.5, -0.0, 1e-300, 1e300,
    "", " ", "0", "1", "-1", "1/3", "0.1", "1e9", "1e999999999", "nan", "NaN", "inf", "x", "g", "y", "z", "small", "\x00", "\n",
    "ß", "\u0663", "\U0001f600", "\ud800", "\u202e", "a" * 32, "a" * 64, "a" * 32 + "\n", "../../etc/passwd", "'; DROP TABLE t; --",
    "{}", "x" * 2_000, "9" * 400, "9" * 5_000, [], {}, [[]], [None], ["const", "int", "1"], ["const", "frac", "1e99999999"],
    ["ref", "x"], ["ref", "nobody"], {"is": "hello"}, [0] * 1_200, ["list"], ["none"], {"a": {"b": {"c": []}}},
    f"{RAW}NaN", f"{RAW}Infinity", f"{RAW}-Infinity", f"{RAW}{DIGITS}", f"{RAW}-{DIGITS}", f"{RAW}1e400", f"{RAW}1e-400",
    f"{RAW}01", f"{RAW}1.", f'{RAW}{{"a":1,"a":2}}', f'{RAW}"\\ud800"', f'{RAW}"\\u0000"', f"{RAW}", f"{RAW}'x'",
    f"{RAW}" + "[" * 150 + "]" * 150, f"{RAW}" + "[" * 400 + "]" * 400, f"{RAW}" + '{"a":' * 150 + "1" + "}" * 150,
)  # fmt: skip
"""What may stand where something else was meant."""


_MOST_PRICED = 5_000
_WHOLES = frozenset({dict, list})
_NEW = 15
"""So many plans are new before the first is drawn again; of n that were made, one in n / 15 is new."""


@dataclass
class World:
    """What a request can name: the handle and schema version that are open, and ids that were used before."""

    handle: str
    schema: Schema
    used: list[str]


class Requests:
    """A stream of requests from one seed.

    Parameters
    ----------
    seed : int
    world : World
    wrong : float
        The share of requests that are changed.
    broken : int
        How often the bytes of each are sent once more, changed: that costs next to nothing.
    """

    def __init__(self, seed: int, world: World, wrong: float = 0.6, broken: int = 0) -> None:
        self.rng = random.Random(seed)
        self.world = world
        self.wrong, self.copies = wrong, broken
        self.waiting: list[bytes] = []
        self.made: list[str] = []
        self.priced: dict[str, tuple[Any, str]] = {}

    def body(self) -> bytes:
        """Return the next request body."""
        if self.waiting:
            return self.broken(self.waiting.pop())
        message = self.message()
        rng = self.rng
        if rng.random() < self.wrong:
            for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
                message = self.changed(message)
            if rng.random() < 0.7:
                self.bind(message)
        text = self.text(message)
        body = text.encode("utf-8", "surrogatepass")
        self.waiting = [body] * self.copies
        return self.broken(body) if rng.random() < 0.1 else body

    # valid requests

    def message(self) -> dict[str, Any]:
        """Return a valid message."""
        rng, handle = self.rng, self.world.handle
        kind = rng.choices(
            (
                "peek",
                "submit",
                "hello",
                "attach",
                "describe",
                "cancel",
                "statement",
                "receipt",
                "cap",
                "reset",
                "detach",
            ),
            (8, 8, 1, 1.5, 1, 1, 1, 0.5, 0.7, 0.5, 0.2),
        )[0]
        made: dict[str, Any] = {"is": kind}
        if kind in {"describe", "peek", "submit", "cap", "reset", "detach"}:
            made["handle"] = handle
        if kind in {"peek", "submit"}:
            made["plan"] = self.plan()
        if kind in {"submit", "cancel"}:
            made["request"] = self.request()
        if kind == "submit":
            made["digest"] = ""
            self.bind(made)
        if kind == "cap":
            made |= rng.choice(
                ({}, {"epsilon": "100"}, {"rho": "1"}, {"epsilon": "1e9"}, {"epsilon": "0.5", "rho": None})
            )
        if kind == "receipt":
            made |= {"handle": handle, "entry": rng.choice((1, 3, 4, 5, 0, 10**6, 2**63))}
        if kind == "statement":
            made |= {
                "handle": rng.choice((None, handle)),
                "after": rng.choice((0, 3, 10**6)),
                "entries": rng.choice(([], [1], [2, 3, 10**6])),
            }
        if kind == "attach":
            made |= {"source": self.source(), "mode": rng.choice((None, "teaching", "guard-rail"))}
        if kind == "detach":
            made["remove"] = False
        return made

    def source(self) -> dict[str, Any]:
        """Return where rows could be."""
        return self.rng.choice(
            (
                {"is": "again", "handle": self.world.handle},
                {"is": "again", "handle": self.hex(32)},
                {"is": "file", "path": "/nowhere/people.csv"},
                {"is": "file", "path": "people.csv", "schema_path": "people.dpnb.toml", "schema": None},
                {"is": "hand-over", "file": self.hex(32) + ".npz", "schema": {"dataset": {"name": "small"}}},
                {"is": "study", "name": "no such study"},
            )
        )

    def hex(self, length: int) -> str:
        """Return an id."""
        return f"{self.rng.getrandbits(4 * length):0{length}x}"

    def request(self) -> str:
        """Return a request id: a new one, or one that was used before."""
        used = self.world.used
        if used and self.rng.random() < 0.2:
            return self.rng.choice(used)
        used.append(self.hex(32))
        del used[:-50]
        return used[-1]

    def bind(self, message: Any) -> None:
        """Give a submit the digest of its plan, and often the loss that it truly has, so that what is wrong in it is looked at."""
        if isinstance(message, dict) and message.get("is") == "submit":
            message["digest"] = self.hex(64)
            with contextlib.suppress(
                DpnbError, ValueError, TypeError, RecursionError, AttributeError, KeyError
            ):
                text = self.text(message["plan"])
                cheap = self.rng.random() < 0.2
                if text in self.priced:  # a plan that was drawn before, as it was drawn
                    loss, message["digest"] = self.priced[text]
                    message["plan"]["loss"] = dict(loss)
                    return
                plan = read_json(text)
                if not cheap:
                    message["plan"]["loss"] = plan["loss"] = self.costs(plan)
                message["digest"] = digest_of(canonical(plan))
                if not cheap and len(self.priced) < _MOST_PRICED:
                    self.priced[text] = dict(plan["loss"]), message["digest"]

    def costs(self, plan: dict[str, Any]) -> Any:
        """Return what the measurements of a plan cost together, whatever it says."""
        parts = [read_parts(question["plan"]) for question in plan["questions"]]
        whole = PrivacyLoss.zero(self.world.schema.budget.measure)
        for found in parts:
            whole = whole + loss_of(found, self.world.schema).total
        return whole.to_json()

    def plan(self) -> dict[str, Any]:
        """Return a plan of measurements, as a kernel makes it of questions; the more were made, the rarer a new one: they cost most."""
        if self.rng.random() < 1 - _NEW / (len(self.made) or _NEW):
            return json.loads(self.rng.choice(self.made))
        while True:
            with contextlib.suppress(DpnbError, AssertionError):
                text = canonical(
                    sent(
                        price(*self.batch(), self.world.schema),
                        [self.hex(32) for _ in range(self.rng.choice((0, 0, 0, 1, 3)))],
                    ).to_json()
                )
                self.made.append(text)
                return json.loads(text)

    def batch(self) -> tuple[tuple[Item, ...], Ask]:
        """Return a batch of questions."""
        rng = self.rng
        kind = rng.choices(("epsilon", "rho", "within"), (8, 1, 1))[0]
        amount = rng.choice(("1", "0.5", "0.25", "3", "1000", "1/3", "0.000001"))
        ask = Ask.make(**{kind: amount}, fresh=rng.random() < 0.2, assume_n=rng.choice((None, None, 100)))
        items = [
            Item(
                Question.from_json(self.question()),
                Fraction(rng.choice(("1", "2", "0.5"))),
                rng.choice((None, None, None, Fraction(1, 10))),
            )
            for _ in range(rng.choice((1, 1, 1, 2, 3, 6)))
        ]
        return tuple(items), ask

    def question(self) -> dict[str, Any]:
        """Return a question of any statistic."""
        rng = self.rng
        statistic = rng.choice((*BY_NAME, "count", "mean"))
        of = BY_NAME[statistic].target
        key = rng.choice((["ref", "g"], ["ref", "y"], self.condition(1), self.bins()))
        target = {
            "none": None,
            "choice": ["ref", rng.choice("gxy")],
            "key": rng.choice((["ref", "g"], key, ["ref", "x"])),
        }.get(of, self.number(2))
        made: dict[str, Any] = {
            "format": 1,
            "dataset": "small",
            "statistic": statistic,
            "target": target,
            "where": self.condition(3) if rng.random() < 0.4 else None,
            "by": [key] if BY_NAME[statistic].arms or rng.random() < 0.2 else [],
            "options": self.options(statistic),
        }
        if of == "pair":
            made["other"] = self.number(1)
        if of == "numbers":
            made["others"] = [["ref", name] for name in rng.sample(COLUMNS, rng.randint(1, 2))]
        return made

    def options(self, statistic: str) -> list[Any]:
        """Return some options of a statistic, sorted by name."""
        rng = self.rng
        values: dict[str, list[Any]] = {
            "q": [["frac", "1/2"], ["list", ["frac", "1/4"], ["frac", "3/4"]], ["int", "1"]],
            "ci": [["bool", "true"], ["bool", "false"]],
            "bins": [["int", "5"], ["int", "1000"], ["none"]],
            "k": [["int", "1"], ["int", "2"], ["int", "3"]],
            "levels": [["int", "2"], ["int", "16"], ["none"]],
            "spread": [["text", "bought"], ["text", "bound"]],
            "points": [["int", "3"], ["none"]],
            "labels": [["list", ["text", "a"], ["text", "b"]], ["none"]],
            "delta": [["frac", "1/100000000"]],
            "radius": [["int", "1"], ["none"]],
        }
        own = [name for name in BY_NAME[statistic].defaults if name in values and rng.random() < 0.5]
        return [[name, rng.choice(values[name])] for name in sorted(own)]

    def const(self) -> list[Any]:
        """Return a constant."""
        return [
            "const",
            *self.rng.choice(
                (
                    ["int", "1"],
                    ["int", "1"],
                    ["int", "0"],
                    ["int", "0"],
                    ["int", "5"],
                    ["int", "-3"],
                    ["frac", "1/2"],
                    ["frac", "-7/3"],
                    ["bool", "true"],
                )
            ),
        ]

    def number(self, depth: int) -> list[Any]:
        """Return a number."""
        rng = self.rng
        if depth == 0 or rng.random() < 0.3:
            return ["ref", rng.choice(COLUMNS)] if rng.random() < 0.85 else self.const()
        return rng.choice(
            (
                lambda: ["arith", rng.choice("+-*"), self.number(depth - 1), self.number(depth - 1)],
                lambda: ["arith", rng.choice(("/", "//")), self.number(depth - 1), ["const", "int", "3"]],
                lambda: ["neg", self.number(depth - 1)],
                lambda: ["clip", self.number(depth - 1), ["const", "int", "0"], ["const", "int", "7"]],
                lambda: ["where", self.condition(depth - 1), self.number(depth - 1), self.number(depth - 1)],
                lambda: self.condition(depth - 1),
            )
        )()

    def condition(self, depth: int) -> list[Any]:
        """Return a condition."""
        rng = self.rng
        if depth <= 0:
            return ["compare", rng.choice(("==", "!=", "<", "<=", ">", ">=")), ["ref", "x"], self.const()]
        return rng.choice(
            (
                lambda: [
                    "compare",
                    rng.choice(("==", "<", ">=")),
                    self.number(depth - 1),
                    self.number(depth - 1),
                ],
                lambda: [
                    "bool",
                    rng.choice(("and", "or")),
                    self.condition(depth - 1),
                    self.condition(depth - 1),
                ],
                lambda: ["not", self.condition(depth - 1)],
                lambda: ["isin", self.number(depth - 1), [self.const() for _ in range(rng.randint(1, 5))]],
                lambda: ["between", self.number(depth - 1), ["const", "int", "1"], ["const", "int", "6"]],
                lambda: ["missing", self.number(depth - 1)],
            )
        )()

    def bins(self) -> list[Any]:
        """Return a number in bins."""
        edges = sorted(self.rng.sample(range(-2, 13), self.rng.randint(2, 6)))
        return ["bin", self.number(1), [["const", "int", str(edge)] for edge in edges]]

    # what can be wrong

    def changed(self, value: Any) -> Any:
        """Return a JSON value with one place of its tree changed: any place is as likely as any other."""
        wholes = _wholes(value)
        if not wholes or self.rng.random() < 0.01:
            return self.other(value)
        (parent,) = self.rng.choices(wholes, list(map(len, wholes)))
        place = self.rng.choice(list(parent) if isinstance(parent, dict) else range(len(parent)))
        if self.rng.random() < 0.7:
            parent[place] = self.other(parent[place])
        else:
            self.reshaped(parent, place)
        return value

    def reshaped(self, value: Any, place: Any) -> None:
        """Take a place of a list or object away, double it, move it, wrap it, or add one."""
        rng = self.rng
        act = rng.randrange(5)
        if act == 0:
            del value[place]
        elif act == 1:
            value[place] = [value[place]]
        elif isinstance(value, dict):
            value[
                rng.choice(
                    ("seed", "is", "", "x" * 300, str(place) + " ", "handle", "plan", "other", "others")
                )
            ] = self.other(None)
        elif act == 2:
            value.extend(copy.deepcopy([value[place]] * rng.choice((1, 2, 40))))
        elif act == 3:
            value.reverse()
        else:
            value.insert(place, self.other(copy.deepcopy(value[place])))

    def other(self, value: Any) -> Any:
        """Return something else in the place of a value."""
        rng = self.rng
        if isinstance(value, str) and value and rng.random() < 0.5:
            at = rng.randrange(len(value))
            return rng.choice(
                (
                    value[:at],
                    value + value,
                    value[:at] + rng.choice("\x00 0aé\ud800/e") + value[at:],
                    value.upper(),
                )
            )
        if isinstance(value, int) and not isinstance(value, bool) and rng.random() < 0.5:
            return rng.choice((value + 1, -value, value * 10**30, float(value), str(value)))
        if rng.random() < 0.1:
            return self.deep()
        return copy.deepcopy(rng.choice(ODD))

    def deep(self) -> Any:
        """Return something nested, an expression among them."""
        rng, inner = self.rng, ["ref", "x"]
        times = rng.choice((3, 20, 60, 90))
        act = rng.randrange(4)
        for _ in range(times):
            inner = (
                ["neg", inner],
                ["isin", inner, [["const", "int", "0"], ["const", "int", "1"]]],
                ["not", ["missing", inner]],
                [inner],
            )[act]
        return inner

    def text(self, value: Any) -> str:
        """Write JSON; a marked text stands without quotes, and one marked within another stays as it is."""
        text = json.dumps(value, ensure_ascii=self.rng.random() < 0.5)
        with contextlib.suppress(ValueError, IndexError):
            for mark in (json.dumps(RAW)[1:-1], RAW):
                while (start := text.find(f'"{mark}')) >= 0:
                    end = start + len(mark) + 1
                    while text[end] != '"':
                        end += 2 if text[end] == "\\" else 1
                    text = text[:start] + json.loads(text[start : end + 1])[len(RAW) :] + text[end + 1 :]
        return text

    def broken(self, body: bytes) -> bytes:
        """Return bytes that are changed as bytes."""
        rng = self.rng
        at = rng.randrange(len(body) + 1)
        return rng.choice(
            (
                lambda: body[:at],
                lambda: body[:at] + bytes([rng.randrange(256)]) + body[at + 1 :],
                lambda: b"\xef\xbb\xbf" + body,
                lambda: body + b"\x00",
                lambda: body + body,
                lambda: body[:at] + b"\xff\xfe" + body[at:],
                lambda: body.replace(b",", b", \n\t"),
                lambda: body.replace(b"{", b'{"is":"hello",', 1),
                lambda: body.replace(b'"', b'\\"', rng.randrange(1, 9)),
                lambda: body.decode("utf-8", "replace").encode("utf-16"),
                lambda: b"[" * 5_000 + body,
                lambda: rng.randbytes(60),
            )
        )()


def _wholes(value: Any) -> list[Any]:
    """Every list and object of a tree that holds something."""
    found, waiting = [], [value]
    while waiting:
        whole = waiting.pop()
        if type(whole) in _WHOLES and whole:
            found.append(whole)
            inside = whole.values() if type(whole) is dict else whole
            waiting += [one for one in inside if type(one) in _WHOLES]
    return found

"""Random schemas, expressions and questions: the whole grammar, every statistic, every option, both adjacencies, all three measures.

Everything is drawn from a seeded ``random.Random``, so that a seed names a case. What the checker refuses is drawn again.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

from dpnb.planner import Ask, Item, Question
from dpnb.planner import expression as e
from dpnb.statistics import STATISTICS, Statistic
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from dpnb.trusted.schema.unit_summary import UnitSummary

NAME = "d"
NUMBERS = ("x", "y", "b", "k")
BUDGETS = tuple(
    Budget.from_toml(asked)
    for asked in ({"epsilon": 10**6}, {"rho": 10**6}, {"epsilon": 100, "delta": "0.4"})
)
AMOUNTS = ("0.05", "0.5", "1", "1", "2", "3", "8", "30")

Rng = random.Random


SHAPES = ("any", "filtered", "grouped", "any", "filtered", "whole", "grouped", "entering")
"""What one person can do to the answer: whatever comes, or, in turns, so that no seed misses it, what only few questions allow.

Change a value where the number of rows is public (``whole``), leave the filter (``filtered``), change groups (``grouped``), or
only enter and leave (``entering``). The filtered have rows as their units, since with others the number of rows is private anyhow.
"""


def schema(
    rng: Rng, unit: PrivacyUnit | None = None, budget: Budget | None = None, shape: str = "any"
) -> Schema:
    """A dataset of eight columns: two on short grids, one on a long one, dates, a two-valued one, words and spaced numbers, and texts.

    In each, missing values leave, or are replaced by a public constant: never, seldom, often or always.
    """
    often = 1.0 if shape == "whole" else rng.choice([0.0, 0.3, 0.6, 1.0, 1.0])
    unit = unit or privacy_unit(rng, shape)
    return Schema(
        NAME,
        "Drawn",
        (*_grids(rng, often), *_categories(rng, often), _texts(rng)),
        unit,
        budget or rng.choice(BUDGETS),
    )


def privacy_unit(rng: Rng, shape: str = "any") -> PrivacyUnit:
    """Rows or units, change-one or add-remove, as a shape wants them."""
    size = rng.choice([1, 2, 3, 5, 9, 30])
    most = rng.choice([1, 2, 3, 4])
    rows, units = PrivacyUnit("change-one", rows=size), PrivacyUnit("add-remove", unit="who", max_rows=most)
    changed_units = PrivacyUnit("change-one", unit="who", max_rows=most, units=size)
    return rng.choice(
        {
            "any": [rows, rows, PrivacyUnit("add-remove"), units, changed_units],
            "whole": [rows],
            "filtered": [rows],
            "grouped": [rows, rows, changed_units],
            "entering": [PrivacyUnit("add-remove"), units],
        }[shape]
    )


def _grids(rng: Rng, often: float) -> tuple[Column, ...]:
    maybe: Callable[[Any], dict[str, Any]] = lambda found: {"missing": found} if rng.random() < often else {}
    low, steps = rng.choice([-7, -3, 0, 10]), rng.choice([1, 2, 3, 4, 5, 7, 10, 24])
    first, last, step = rng.choice([(0, 1, "1/4"), (-1, 1, "1/2"), ("1/10", 1, "1/10"), (-2, 3, 1)])
    x = Column.integer("x", low, low + steps, **maybe(low + rng.randint(0, steps)))
    y = Column.number("y", Fraction(first), Fraction(last), step=Fraction(step), **maybe(Fraction(last)))
    w = rng.choice(
        [
            Column.integer("w", -(2**38), 2**39, **maybe(0)),
            Column.number("w", -1, 1),
            Column.integer("w", 0, 199_999),
            Column.number("w", Fraction(1, 3), 1000),
        ]
    )
    return *(one.weighing(one.bounds[0] >= 0) for one in (x, y, w)), _dates(rng, maybe)


def _dates(rng: Rng, maybe: Callable[[Any], dict[str, Any]]) -> Column:
    """Days over a leap day, months, or hours."""
    step, last = rng.choice([("day", "2020-03-02"), ("month", "2021-02-01"), ("hour", "2020-02-01 12:00")])
    kind: Any = "datetime" if step == "hour" else "date"
    return Column.dates("d", "2020-02-01", last, kind=kind, step=step, **maybe(last))


def _categories(rng: Rng, often: float) -> tuple[Column, ...]:
    maybe: Callable[[Any], dict[str, Any]] = lambda found: {"missing": found} if rng.random() < often else {}
    two = rng.choice([[0, 1], [1, 2], [False, True]])
    texts = rng.choice([["u", "v"], ["v", "u", "ß"], ["u", "v"]])
    spaced = rng.choice([[1, 2, 3], [0, 10, 20, 30], [-1, 0, 1, 2, 3]])
    return (
        Column.category("b", two, **maybe(two[1])),
        Column.category("g", texts, **maybe(texts[-1])),
        Column.category("k", spaced, **maybe(spaced[0])),
    )


def prepared(rng: Rng, where: Schema) -> Schema:
    """The same columns, of which all are prepared of each unit's own rows, or some of the rows of another table.

    A text stays as it is: nothing is prepared of texts. Where the unit is the row there is nothing to prepare.
    """
    if where.unit.by_row:
        return where
    source = rng.choice(["", "visits"])
    columns = [column for column in where.columns if column.text is None]
    made = columns if not source else rng.sample(columns, rng.randint(1, 3))
    lines = tuple(_line(rng, column, source) for column in made)
    kept = where.columns if source else tuple(columns)
    unit = where.unit if source else replace(where.unit, max_rows=1)
    return replace(where, columns=kept, unit=unit, prepared=lines)


def _line(rng: Rng, made: Column, source: str) -> UnitSummary:
    """A line that makes a column: of cells like its own, or of cells of another grid that add up to it."""
    cell = Column.number(f"cell of {made.name}", rng.choice([-2, 0, Fraction(1, 3)]), 7, step=Fraction(1, 3))
    takes = ["latest", *(["count", "sum", "mean"] if made.numeric and made.calendar is None else [])]
    take = rng.choice([*takes, "any"] if made.size == 2 else takes)
    if take == "latest":
        order = Column.integer(f"order of {made.name}", 0, 3)
        return UnitSummary(made.name, take, source, made.called(f"cell of {made.name}"), order)
    if take == "any":
        return UnitSummary(
            made.name, take, source, cell, among=tuple(sorted(rng.sample(range(cell.size), 5)))
        )
    return UnitSummary(made.name, take, source, cell)


LABELS = ("a", "ab", "b", "nurse", "doctor 7", "ß")
"""Labels of texts: one begins as another does, and some are several whole numbers."""


def _texts(rng: Rng) -> Column:
    """Texts that nobody listed, of one whole number or of several, with blanks and both cases or without."""
    length, characters = rng.choice([(1, "letters"), (8, "ascii"), (20, "latin")])
    return Column.free_text(
        "t",
        length,
        characters=characters,
        case=rng.choice(["keep", "upper"]),
        beyond=rng.choice(["missing", "cut"]),
        missing=rng.choice(["drop", "drop", "a"]),
    )


def label(rng: Rng) -> e.Const:
    """A label, which a schema may or may not have."""
    return e.Const(rng.choice([*LABELS[:3], *LABELS]))


def labelled(rng: Rng) -> e.Expr:
    """A condition on the texts."""
    if rng.random() < 0.2:
        return e.IsMissing(e.Ref("t"))
    return e.Compare(rng.choice(["==", "!="]), e.Ref("t"), label(rng))


def constant(rng: Rng) -> e.Const:
    """A constant near the declared bounds, or far from them."""
    near = [rng.randint(-5, 12), Fraction(rng.randint(-12, 12), rng.choice([2, 4, 10]))]
    return e.Const(rng.choice([*near, *near, rng.choice([0, 1, -1, 100, 0.1, -0.5])]))


def number(rng: Rng, depth: int, names: tuple[str, ...] = NUMBERS) -> e.Expr:
    """A number: a column, or arithmetic, a clip, a choice or a condition over such."""
    if depth == 0 or rng.random() < 0.3:
        return e.Ref(rng.choice(names))
    inner: Callable[[], e.Expr] = lambda: number(rng, depth - 1, names)
    other: Callable[[], e.Expr] = lambda: constant(rng) if rng.random() < 0.5 else inner()
    kind = rng.randrange(7)
    if kind < 2:
        return e.BinOp(rng.choice("+-*"), inner(), other())
    if kind == 2:
        return e.BinOp(rng.choice(["/", "//"]), inner(), e.Const(rng.choice([2, 3, -2, Fraction(1, 2)])))
    if kind == 3:
        return e.ClipTo(inner(), *sorted((rng.randint(-4, 6), rng.randint(0, 12))))
    if kind == 4:
        return e.Neg(inner())
    return e.Where(condition(rng, depth - 1), inner(), other()) if kind == 5 else condition(rng, depth - 1)


def condition(rng: Rng, depth: int) -> e.Expr:
    """A condition over numbers and texts, with Kleene combinations."""
    if depth > 0 and rng.random() < 0.5:
        both = e.BoolOp(rng.choice(["and", "or"]), condition(rng, depth - 1), condition(rng, depth - 1))
        return e.Invert(both) if rng.random() < 0.3 else both
    kind, subject = rng.randrange(6), number(rng, max(depth - 1, 0))
    if kind < 2:
        return e.Compare(rng.choice(["==", "!=", "<", "<=", ">", ">="]), subject, constant(rng))
    if kind == 2:
        return e.IsIn(subject, tuple(rng.sample(range(-3, 12), rng.randint(1, 3))))
    if kind == 3:
        return e.Between(subject, *sorted((rng.randint(-4, 6), rng.randint(0, 12))))
    if kind == 4:
        return e.IsMissing(e.Ref(rng.choice(["x", "b", "g", "w", "d"])))
    found = rng.random()
    if found < 0.45:
        return _dated(rng) if found < 0.3 else labelled(rng)
    return _halved(rng)


def _halved(rng: Rng) -> e.Expr:
    """A condition that some rows meet and some do not, in every schema of the fuzzer's."""
    return e.Compare(rng.choice(["==", "!="]), e.Ref("g"), e.Const(rng.choice(["u", "v"])))


FIRSTS = ("2020-02-01", "2020-03-01", "2021-02-01", "2019-07-01")
"""Literal dates that begin a step of every calendar of the fuzzer's."""


def _dated(rng: Rng) -> e.Expr:
    """A condition on the dates: literals, a difference, the month or the year."""
    low, high = sorted(rng.sample(FIRSTS, 2))
    return rng.choice(
        [
            e.Compare(rng.choice(["<", ">=", "=="]), e.Ref("d"), e.Const(low)),
            e.Between(e.Ref("d"), low, high),
            e.Compare("<=", e.BinOp("-", e.Const(high), e.Ref("d")), constant(rng)),
            e.Compare(
                "==", e.Part(rng.choice(["year", "month"]), e.Ref("d")), e.Const(rng.choice([2, 2020]))
            ),
        ]
    )


def key(rng: Rng) -> e.Expr:
    """A group key: a category, a small integer, a date or its year, labels of a text, a condition or bins."""
    kind = rng.randrange(6)
    found = rng.random() if kind == 3 else 1.0
    if found > 0.85 and kind == 3:
        return e.Among(e.Ref("t"), tuple(rng.sample(LABELS[:3], rng.randint(1, 2))))
    if found < 0.5:
        return rng.choice([e.Ref("d"), e.Part("year", e.Ref("d")), e.Bin(e.Ref("d"), FIRSTS[:3])])
    if kind < 3:
        return e.Ref(rng.choice(["g", "b", "k"]))
    if kind == 3:
        return e.Ref("x")
    return condition(rng, 1) if kind == 4 else binned(rng, number(rng, 1))


def binned(rng: Rng, subject: e.Expr) -> e.Bin:
    """Bins that cover a number, or a part of it."""
    edges = sorted(rng.sample(range(-8, 14), rng.randint(2, 4)))
    return e.Bin(subject, tuple(edges))


def question(rng: Rng, statistic: str, shape: str = "any") -> Question:
    """A question of one statistic, of some shape."""
    filtered, keys = {"whole": (0.0, [0]), "filtered": (1.0, [0]), "grouped": (0.4, [1, 1, 1, 2])}.get(
        shape, (0.4, [0, 0, 0, 1, 1, 2])
    )
    where = None
    if rng.random() < filtered:
        where = (
            _halved(rng) if shape == "filtered" and rng.random() < 0.5 else condition(rng, rng.randrange(3))
        )
    by = tuple(key(rng) for _ in range(rng.choice(keys)))
    return Question(NAME, statistic, **{"where": where, "by": by, **PARTS[statistic](rng)})


def divided(rng: Rng, asked: Sequence[Question]) -> list[Question]:
    """The same questions, or the first of them, of people in groups that nobody is in two of, and sometimes of all people too."""
    column, codes = rng.choice([("g", ["u", "v"]), ("k", [1, 2, 3]), ("x", [-7, 0, 10])])
    groups = [e.Compare("==", e.Ref(column), e.Const(code)) for code in codes]
    if column == "x":
        end = e.Const(rng.randint(-5, 12))
        groups = [e.Compare("<=", e.Ref("x"), end), e.Compare(">", e.Ref("x"), end)]
    several = asked[:1] if rng.random() < 0.7 else asked
    narrow = lambda one, group: group if one.where is None else e.BoolOp("and", one.where, group)
    found = [replace(one, where=narrow(one, group)) for group in groups for one in several]
    return [*found, *(asked[:1] if rng.random() < 0.3 else [])]


def capped(rng: Rng, where: Schema, asked: Question) -> Question:
    """The same question, sometimes of fewer rows of each unit than are declared."""
    if where.unit.max_rows == 1 or rng.random() < 0.6:
        return asked
    cap = e.PerUnit(e.Const(rng.randint(1, where.unit.max_rows - 1)))
    return replace(asked, where=cap if asked.where is None else e.BoolOp("and", cap, asked.where))


class Cell(NamedTuple):
    """The questions of a cell, and what is asked for them."""

    items: tuple[Item, ...]
    ask: Ask


def batch(rng: Rng, where: Schema, questions: list[Question], *, caps: bool = True) -> Cell:
    """Questions of one cell with weights and what is asked for them."""
    questions = [capped(rng, where, asked) if caps else asked for asked in questions]
    kinds = ["epsilon"] if where.budget.measure is Measure.PURE else ["epsilon", "rho"]
    items = tuple(Item(asked, Fraction(rng.choice([1, 1, 1, 2, 3]))) for asked in questions)
    return Cell(items, Ask.make(**{rng.choice(kinds): rng.choice(AMOUNTS)}))


def _summed(rng: Rng) -> dict[str, Any]:
    names = ("w",) if rng.random() < 0.2 else NUMBERS
    return {"target": number(rng, rng.randrange(3), names)}


def _sum(rng: Rng) -> dict[str, Any]:
    """A sum, most of them far from zero: there a row moves it more by entering than by changing."""
    if rng.random() < 0.4:
        return _summed(rng)
    far = e.Const(rng.choice([-1000, -100, 100, 1000]))
    return {"target": e.BinOp("+", number(rng, rng.randrange(3)), far)}


def _short(rng: Rng) -> dict[str, Any]:
    """A number on a grid so short that whole output laws can be listed."""
    return {"target": number(rng, rng.choice([0, 0, 1]), ("x", "y", "k"))}


def _some(rng: Rng, *choices: tuple[str, Any]) -> tuple[tuple[str, Any], ...]:
    return tuple(rng.sample(choices, rng.randint(0, len(choices))))


def _mean(rng: Rng) -> dict[str, Any]:
    options = rng.choice([(), (), (("spread", "bound"),), (("ci", False),), (("clamped", True),)])
    return {**_summed(rng), "options": options}


def _quantile(rng: Rng) -> dict[str, Any]:
    levels = rng.choice(
        ["0.01", "0.5", "0.25", "0.9", "0.99", "0.37", ("0.25", "0.75"), ("0.01", "0.5", "0.99")]
    )
    exact = tuple(map(Fraction, levels)) if isinstance(levels, tuple) else Fraction(levels)
    of = {"target": e.Ref("d")} if rng.random() < 0.2 else _short(rng)
    return {**of, "options": (("q", exact), ("ci", rng.random() < 0.4))}


def _histogram(rng: Rng) -> dict[str, Any]:
    if rng.random() < 0.2:
        return {"target": e.Ref(rng.choice(["g", "b"]))}
    edges = tuple(sorted(rng.sample(range(-8, 14), rng.randint(2, 5))))
    option = rng.choice([("bins", rng.randint(2, 6)), ("edges", edges)])
    return {"target": number(rng, rng.randrange(2), (*NUMBERS, "w")), "options": (option,)}


def _density(rng: Rng) -> dict[str, Any]:
    method = _some(rng, ("method", "perturbed"))
    return {"target": e.Ref(rng.choice(["x", "y", "w"])), "options": (("bins", rng.randint(2, 6)), *method)}


def _difference(rng: Rng) -> dict[str, Any]:
    groups = (key(rng),) if rng.random() < 0.3 else ()
    arms = e.Ref("b") if rng.random() < 0.5 else condition(rng, 1)
    return {**_summed(rng), "by": (*groups, arms)}


def _pair(rng: Rng) -> dict[str, Any]:
    first, second = number(rng, rng.randrange(2)), number(rng, rng.randrange(2), ("y", "x", "w", "b"))
    asked = {"target": first, "other": second, "options": ()}
    if rng.random() < 0.3:
        asked["options"] = (("method", "separate"),)
    return {**asked, "where": None, "by": ()} if rng.random() < 0.4 else asked


def _moments(rng: Rng) -> dict[str, Any]:
    columns = [e.Ref(name) for name in rng.sample(["x", "y", "b", "k", "w"], rng.randint(1, 4))]
    radius = _some(rng, ("radius", rng.choice([Fraction(1, 4), Fraction(1, 2), 1, Fraction(3, 2)])))
    return {"target": columns[0], "others": tuple(columns[1:]), "by": (), "options": radius}


def _listed(rng: Rng) -> dict[str, Any]:
    return {"target": rng.choice([e.Ref(rng.choice(["g", "b", "k", "x"])), condition(rng, 1)])}


def _top(rng: Rng) -> dict[str, Any]:
    return {"target": e.Ref(rng.choice(["k", "g", "b"])), "options": (("k", rng.randint(1, 2)),)}


def _choose(rng: Rng) -> dict[str, Any]:
    count = rng.randint(2, 4)
    candidates: list[Callable[[], e.Expr]] = [
        lambda: condition(rng, 1),
        lambda: number(rng, 1),
        lambda: _halved(rng),
        lambda: e.Ref(rng.choice(NUMBERS)),
    ]
    made = [rng.choice(candidates)() for _ in range(count)]
    labels = tuple(f"c{place}" for place in range(count))
    return {"target": made[0], "others": tuple(made[1:]), "by": (), "options": (("labels", labels),)}


def _placed(rng: Rng) -> dict[str, Any]:
    points = rng.randint(1, 4)
    options = (("points", points), ("cells", rng.randint(2, {1: 16, 2: 8}.get(points, 4))))
    return {"target": number(rng, rng.choice([0, 1]), ("x", "y", "w")), "options": options}


def _tree(rng: Rng) -> dict[str, Any]:
    return {
        "target": number(rng, rng.randrange(2), ("x", "y", "w", "k")),
        "options": (("levels", rng.randint(1, 4)),),
    }


def _frequent(rng: Rng) -> dict[str, Any]:
    """Values of a number, a category or a text, alone or with sums of a number beside the counts."""
    target = rng.choice([e.Ref("x"), e.Ref("g"), e.Ref("k"), number(rng, 1, ("x", "y"))])
    delta = Fraction(rng.choice(["1e-8", "0.001", "0.05", "0.2"]))
    asked = {"target": e.Ref("t") if rng.random() < 0.4 else target, "by": (), "options": (("delta", delta),)}
    if rng.random() < 0.6:
        return asked
    others = (number(rng, 1, ("x", "y")),) if rng.random() < 0.3 else ()
    return {**asked, "other": number(rng, rng.randrange(2), ("x", "y", "b")), "others": others}


OWN_PARTS: dict[str, Callable[[Rng], dict[str, Any]]] = {
    "count": lambda _: {},
    "sum": _sum,
    "mean": _mean,
    "variance": _summed,
    "std": _summed,
    "quantile": _quantile,
    "histogram": _histogram,
    "density": _density,
    "value_counts": _listed,
    "crosstab": lambda rng: {**_listed(rng), "by": tuple(key(rng) for _ in range(rng.randint(1, 2)))},
    "frequent_values": _frequent,
    "difference": _difference,
    "covariance": _pair,
    "correlation": _pair,
    "moments": _moments,
    "mode": _listed,
    "top_k": _top,
    "ks_density": _placed,
    "choose": _choose,
    "robust_mean": _short,
    "tree": _tree,
}
"""What a question of a statistic with an own grammar has beside its rows and groups."""


def usual(statistic: Statistic) -> Callable[[Rng], dict[str, Any]]:
    """What a question of any other statistic has: by what it is of, with one of its examples."""
    made = {
        "none": lambda _: {},
        "number": _difference if statistic.arms else _summed,
        "pair": lambda rng: {
            "target": number(rng, rng.randrange(2)),
            "other": number(rng, 1, ("y", "w", "b")),
        },
        "weighted": lambda rng: {
            "target": number(rng, rng.randrange(2)),
            "other": e.Ref(rng.choice(["x", "y", "w"])),
        },
        "numbers": lambda rng: {**_moments(rng), "options": ()},
        "key": _listed,
        "choice": _listed,
        "value": lambda rng: {"target": number(rng, 1, ("x", "y")), "by": ()},
    }[statistic.target]
    examples = [tuple(sorted(one.items())) for one in statistic.examples] or [()]
    return lambda rng: {**made(rng), "options": rng.choice(examples)}


PARTS = {one.name: OWN_PARTS.get(one.name) or usual(one) for one in STATISTICS}
"""What a question of each statistic has beside its rows and groups."""

"""Random SELECTs about the made-up people: nested arithmetic, CASE, three-valued conditions, NULLs, LIKE, whole division, keys."""

from __future__ import annotations

import random

_WHOLE = ("age", "educ", "income", "sex", "married")
_KEYS = (
    "sex",
    "race",
    "region",
    "puma",
    "educ",
    "married",
    "age // 10 * 10",
    "FLOOR(age / 25)",
    "income > 50000",
    "age % 4",
    "CASE WHEN age < 30 THEN 'young' WHEN age < 60 THEN 'middle' ELSE 'old' END",
    "CASE WHEN income < 40000 OR race = 'black' THEN 1 WHEN income >= 100000 THEN 2 ELSE 0 END",
)


_DATE_KEYS = (
    "DATE_TRUNC('month', shipdate)",
    "DATE_TRUNC('week', shipdate)",
    "date_trunc('quarter', receiptdate)",
    "DATE_TRUNC('year', shipdate)",
    "YEAR(shipdate)",
    "DAYOFWEEK(shipdate)",
    "EXTRACT(isodow FROM receiptdate)",
    "QUARTER(shipdate)",
    "returnflag",
)


class Queries:
    """A stream of SELECTs that a seed decides."""

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)

    def one(self) -> str:
        """A SELECT, of four one with groups; its first figure is the number of rows."""
        if self._rng.random() < 0.2:
            return self.of_dates()
        keys = self._rng.sample(_KEYS, self._rng.choice([1, 1, 2])) if self._rng.random() < 0.25 else []
        named = [f"{key} AS k{place}" for place, key in enumerate(keys)]
        figures = [f"{self.figure(bool(keys))} AS f{place}" for place in range(3)]
        where = f" WHERE {self.condition(2)}" if self._rng.random() < 0.6 else ""
        group = f" GROUP BY {', '.join(str(place + 1) for place in range(len(keys)))}" if keys else ""
        return f"SELECT {', '.join([*named, 'COUNT(*) AS n', *figures])} FROM people{where}{group}"

    def of_dates(self) -> str:
        """A SELECT about order lines and their dates."""
        pick, key = self._rng.choice, self._rng.choice((*_DATE_KEYS, ""))
        date, other = (
            pick(["shipdate", "receiptdate"]),
            f"DATE '199{self._rng.randint(2, 8)}-0{self._rng.randint(1, 9)}-{self._rng.randint(10, 31)}'",
        )
        other = other if other[-3:-1] not in {"29", "30", "31"} else f"{other[:-3]}28'"
        step = f"INTERVAL {self._rng.randint(1, 20)} {pick(['DAY', 'MONTH', 'YEAR', 'WEEK'])}"
        figures = (
            "AVG(receiptdate - shipdate)",
            f"COUNT_IF(ISODOW({date}) = {self._rng.randint(1, 7)})",
            f"SUM(QUARTER({date}) + MONTH(shipdate))",
            f"SUM(DATE_DIFF('{pick(['day', 'month', 'year', 'quarter'])}', shipdate, receiptdate))",
            f"COUNT(CASE WHEN {date} BETWEEN {other} AND {other} + {step} THEN 1 END)",
            f"SUM(CASE WHEN YEAR({date}) % 2 = 0 THEN quantity ELSE -1 END)",
            f"AVG({date} - {other})",
        )
        named = [f"{key} AS k0"] if key else []
        where = pick(
            [
                "",
                f" WHERE {date} {pick(['<', '>='])} {other} {pick('+-')} {step}",
                f" WHERE {date} + INTERVAL 3 DAY > {other}",
            ]
        )
        shown = [f"{one} AS f{place}" for place, one in enumerate(self._rng.sample(figures, 3))]
        return f"SELECT {', '.join([*named, 'COUNT(*) AS n', *shown])} FROM lineitem{where}{' GROUP BY 1' if key else ''}"

    def figure(self, grouped: bool) -> str:
        """An aggregate."""
        deep = 1 if grouped else 2
        pick = self._rng.choice
        return pick(
            [
                lambda: f"COUNT({self.number(deep)})",
                lambda: f"SUM({self.number(deep)})",
                lambda: f"AVG({self.number(deep)})",
                lambda: f"COUNT_IF({self.condition(deep)})",
                lambda: f"SUM({self.number(1)}) FILTER (WHERE {self.condition(1)})",
                lambda: f"AVG(CASE WHEN {self.condition(1)} THEN {self.number(1)} END)",
                lambda: f"SUM(CASE WHEN {self.condition(deep)} THEN 1 ELSE 0 END)",
                lambda: f"100.0 * SUM({self.number(1)}) / COUNT(*)",
                lambda: (
                    f"{pick(['VAR_POP', 'STDDEV_POP', 'VARIANCE', 'STDDEV'])}({pick(['age', 'educ', 'change'])})"
                ),
                lambda: f"COVAR_POP({pick(['age', 'educ'])}, {pick(['change', 'educ'])})",
            ]
        )()

    def whole(self, deep: int) -> str:
        """An expression of whole numbers."""
        pick, below = self._rng.choice, deep - 1
        if deep <= 0:
            return pick([*_WHOLE, *_WHOLE, "change", str(self._rng.randint(-9, 60))])
        return pick(
            [
                lambda: self.whole(0),
                lambda: f"({self.whole(below)} {pick('+-')} {self.whole(below)})",
                lambda: f"({pick(_WHOLE)} * {self.whole(below)})",
                lambda: f"{pick([*_WHOLE, 'change'])} {pick(['//', '%'])} {self._rng.randint(2, 9)}",
                lambda: f"FLOOR({self.whole(below)} / {self._rng.randint(2, 9)})",
                lambda: (
                    f"CASE WHEN {self.condition(below)} THEN {self.whole(below)} WHEN {self.condition(0)} THEN 5 ELSE {self.whole(below)} END"
                ),
                lambda: f"COALESCE({self.whole(below)}, {self._rng.randint(0, 50)})",
                lambda: (
                    f"{pick(['LEAST', 'GREATEST'])}({self.whole(below)}, {self.whole(0)}, {self._rng.randint(1, 90)})"
                ),
                lambda: f"ABS({self.whole(below)} - {self._rng.randint(1, 60)})",
                lambda: f"NULLIF({pick(_WHOLE)}, {self._rng.randint(0, 1)})",
                lambda: f"-({self.whole(below)})",
            ]
        )()

    def number(self, deep: int) -> str:
        """An expression of numbers."""
        return self._rng.choice(
            [
                lambda: self.whole(deep),
                lambda: self.whole(deep),
                lambda: f"{self.whole(deep - 1)} / {self._rng.choice(['4', '2.5', '-8'])}",
                lambda: f"CAST({self.whole(deep - 1)} AS DOUBLE)",
                lambda: f"0.5 * {self.whole(0)} + {self.whole(deep - 1)}",
            ]
        )()

    def condition(self, deep: int) -> str:
        """A condition, unknown where what it reads is NULL."""
        pick, below = self._rng.choice, deep - 1
        if deep > 0:
            return pick(
                [
                    lambda: f"({self.condition(below)} {pick(['AND', 'OR'])} {self.condition(below)})",
                    lambda: f"NOT {self.condition(below)}",
                    lambda: f"({self.condition(below)}) IS {pick(['TRUE', 'NOT TRUE', 'FALSE', 'NOT NULL'])}",
                    lambda: (
                        f"{self.whole(below)} {pick(['<', '<=', '>', '>=', '<>', '='])} {self.whole(below)}"
                    ),
                    lambda: self.condition(0),
                ]
            )()
        return pick(
            [
                f"{pick(['age', 'income', 'change'])} {pick(['<', '>=', '='])} {self._rng.randint(-5, 90) * pick([1, 1000])}",
                f"race {pick(['=', '<>', '<', '>='])} '{pick(['asian', 'black', 'latino', 'white'])}'",
                f"race {pick(['', 'NOT '])}LIKE '{pick(['%a%', 'b%', '_h%', '%x%'])}'",
                f"region {pick(['', 'NOT '])}IN ('east', 'west')",
                f"income {pick(['IS NULL', 'IS NOT NULL', 'IS DISTINCT FROM 3000'])}",
                f"age {pick(['', 'NOT '])}BETWEEN {self._rng.randint(0, 40)} AND {self._rng.randint(41, 90)}",
                f"married = {self._rng.randint(0, 1)}",
                f"educ IN ({self._rng.randint(1, 9)}, {self._rng.randint(5, 17)})",
            ]
        )

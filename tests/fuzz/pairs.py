"""Neighbouring tables of a priced batch: what each pair really costs must not exceed what is charged.

Tables are drawn under the schema's own unit and adjacency. Half of the neighbours are drawn at random; the other half are climbed to:
rows whose contributions to the exact aggregates differ most, by what pricing itself said of the noise.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import cycle, islice
from typing import Any

import numpy as np

from dpnb.errors import DpnbError, LossError
from dpnb.planner import PricedBatch, PricedQuestion, price
from dpnb.trusted.aggregate.algebra import LabelSums, ValueCounts
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import (
    DiscreteGaussian,
    DiscreteLaplace,
    KSExponential,
    LocatedSums,
    PermuteAndFlip,
    QuantileFlip,
    QuantileSelection,
    ThresholdedSums,
    Thresholding,
)
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.schema import Schema
from tests.fuzz import laws, questions
from tests.fuzz.laws import Array, Cost
from tests.fuzz.tables import Stack

EXACT = 1e-9
"""How far a ratio computed in floating point may lie above one."""
PREPARED = 0.6
"""How often the columns of people with several rows are prepared of them, or of another table's."""
MOST_GRID = 40
MOST_RANGE = 14
MOST_SHOWN = 80
THRESHOLDED = Thresholding | ThresholdedSums
_ENTRIES = 60_000
_CLIMBS = 2
_ROUNDS = 4
Places = list[int]


class TooLong(Exception):
    """A question whose output law is too long to be listed: draw another."""


@dataclass(frozen=True, slots=True)
class Rows:
    """A pool of prepared rows: codes, and which of them are known."""

    names: tuple[str, ...]
    codes: Array
    known: Array

    @classmethod
    def drawn(cls, rng: random.Random, where: Schema, size: int) -> Rows:
        """Rows at the ends, in the middle and anywhere, some cells missing; the last row all missing."""
        cells = [[code for column in where.columns for code in _cells(rng, column)] for _ in range(size - 1)]
        cells.append([code for column in where.columns for code in _missing(column)])
        return cls.of(where, cells)

    @classmethod
    def of(cls, where: Schema, cells: Sequence[Sequence[int | None]]) -> Rows:
        """The pool of some lists of codes."""
        known = np.array([[cell is not None for cell in row] for row in cells]).reshape(len(cells), -1)
        codes = np.array([[cell or 0 for cell in row] for row in cells], dtype=np.int64).reshape(known.shape)
        return cls(tuple(where.parts), codes, known)

    def __len__(self) -> int:
        return len(self.codes)

    def with_changes(self, where: Schema, places: Sequence[int]) -> Rows:
        """The pool and, of some of its rows, every version with one cell at an end, in the middle or missing."""
        cells = [self.row(at) for at in range(len(self))]
        starts = {column.name: self.names.index(column.parts[0]) for column in where.columns}
        for at, column in ((a, c) for a in dict.fromkeys(places) for c in where.columns):
            for codes in _ends(column):
                changed, start = self.row(at), starts[column.name]
                changed[start : start + len(codes)] = codes
                if changed not in cells:
                    cells.append(changed)
        return Rows.of(where, cells)

    def row(self, at: int) -> list[int | None]:
        """One row as codes and None."""
        pairs = zip(self.codes[at].tolist(), self.known[at].tolist(), strict=True)
        return [code if known else None for code, known in pairs]

    def stack(self, tables: Sequence[Sequence[int]]) -> Stack:
        """Tables of rows of the pool."""
        return Stack(self.names, self.codes, self.known, tables)

    def both_of(self, pairs: Sequence[Pair]) -> Stack:
        """The first tables of some pairs, and then the second ones; the rows in which a pair differs are of one unit."""
        tables = [[*pair.both, *pair.one] for pair in pairs] + [[*pair.both, *pair.two] for pair in pairs]
        return Stack(self.names, self.codes, self.known, tables, [len(pair.both) for pair in pairs] * 2)


def _ends(column: Any) -> list[tuple[int | None, ...]]:
    """A cell at either end, in the middle and missing; of a text its first and last label."""
    missing = _missing(column)
    if column.text is not None:
        labels = labels_of(column)
        return [column.text.codes_of(labels[0]), column.text.codes_of(labels[-1]), missing]
    return list(dict.fromkeys([(0,), (column.size // 2,), (column.size - 1,), missing]))


def _missing(column: Any) -> tuple[int | None, ...]:
    """A cell that is missing, or what stands in its place."""
    return column.missing_words if column.text is not None else (None,) if column.drops else (0,)


def labels_of(column: Any) -> list[str]:
    """The fuzzer's labels as a column of texts has them, each once."""
    return list(dict.fromkeys(filter(None, map(column.text.label_of, questions.LABELS))))


def _cells(rng: random.Random, column: Any) -> Sequence[int | None]:
    """The codes of one cell: of a text several, and all of them missing where it is."""
    if column.text is None:
        return (_cell(rng, column),)
    drawn = rng.choice([*labels_of(column), None])
    return _missing(column) if drawn is None else column.text.codes_of(drawn)


def _cell(rng: random.Random, column: Any) -> int | None:
    top = column.size - 1
    codes = [0, 0, top, top, top // 2, min(1, top), max(top - 1, 0), rng.randint(0, top)]
    return rng.choice([*codes, None] if column.drops else codes)


@dataclass(frozen=True, slots=True)
class Pair:
    """Rows that both tables have, and the rows of the unit that differs."""

    both: tuple[int, ...]
    one: tuple[int, ...]
    two: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Claim:
    """What one question may cost, and what a pair needs of it: ratios, each at most one."""

    item: PricedQuestion
    ratios: dict[str, Array]


@dataclass
class Tally:
    """What was seen: pairs, batches, and the largest ratio for each statistic and measure."""

    pairs: int = 0
    batches: int = 0
    refused: int = 0
    highest: dict[tuple[str, str], float] = field(default_factory=dict)

    def add(self, pairs: int, claims: Sequence[Claim]) -> None:
        """Count some pairs of a cell."""
        self.pairs += pairs
        for claim in claims:
            for kind, found in claim.ratios.items():
                at = claim.item.checked.statistic, kind
                self.highest[at] = max(self.highest.get(at, 0.0), float(found.max(initial=0.0)))

    def __str__(self) -> str:
        kinds = sorted({kind for _, kind in self.highest})
        lines = [f"{'':16}" + "".join(f"{kind:>12}" for kind in kinds)]
        for name in sorted({name for name, _ in self.highest}):
            row = [self.highest.get((name, kind)) for kind in kinds]
            lines.append(f"{name:16}" + "".join(f"{'' if v is None else format(v, '.4f'):>12}" for v in row))
        return "\n".join(
            [f"{self.pairs:,} pairs, {self.batches:,} batches, {self.refused:,} refused", *lines]
        )


def part_cost(part: Measurement, stack: Stack, pairs: int) -> Cost:
    """What a part costs for pairs of tables: the first of the stack against the second half."""
    mechanism = part.mechanism
    found = stack.totals(part.request, _grid(part, stack))
    one, two = found[:pairs], found[pairs:]
    if isinstance(mechanism, DiscreteLaplace):
        return laws.laplace(one - two, mechanism.scale)
    if isinstance(mechanism, DiscreteGaussian):
        return laws.gaussian(one - two, mechanism.variance)
    shape = (pairs, -1, _outcome_cells(part))
    one, two = one.reshape(shape), two.reshape(shape)
    if isinstance(mechanism, QuantileSelection):
        return laws.outcomes(laws.quantile_law(mechanism, one), laws.quantile_law(mechanism, two))
    if isinstance(mechanism, PermuteAndFlip):
        return laws.outcomes(laws.pick_law(mechanism, one), laws.pick_law(mechanism, two))
    if isinstance(mechanism, KSExponential):
        return laws.placed(mechanism, one, two)
    if isinstance(mechanism, LocatedSums):
        return laws.located(mechanism, one, two)
    return laws.outcomes(laws.declared_law(mechanism, one), laws.declared_law(mechanism, two))


def _outcome_cells(part: Measurement) -> int:
    mechanism = part.mechanism
    if isinstance(mechanism, QuantileSelection | LocatedSums):
        return mechanism.steps + 1
    return len(mechanism.places) if isinstance(mechanism, KSExponential) else mechanism.size  # type: ignore[union-attr]


def _grid(part: Measurement, stack: Stack) -> tuple[int, int] | None:
    """The values that a count of values counts."""
    if not isinstance(part.request, ValueCounts):
        return None
    if isinstance(part.mechanism, QuantileSelection | LocatedSums):
        return 0, part.mechanism.steps
    seen = stack.evaluate.ints(part.request.value)
    values = seen.values[seen.known]
    return (int(values.min()), int(values.max())) if len(values) else (0, 0)


def listable(item: PricedQuestion) -> None:
    """Refuse a question of which an output law is too long to be listed."""
    for part in item.parts:
        mechanism = part.mechanism
        most = {QuantileSelection: MOST_GRID, QuantileFlip: MOST_GRID, LocatedSums: MOST_RANGE}.get(
            type(mechanism)
        )
        if most is not None and mechanism.steps > most:  # type: ignore[union-attr]
            raise TooLong
        if isinstance(mechanism, PermuteAndFlip) and mechanism.size > 6:
            raise TooLong
        if part.cells > _ENTRIES // 20:
            raise TooLong


def claims_of(priced: PricedBatch, stack: Stack, pairs: int) -> tuple[list[Claim], dict[str, Array]]:
    """Every question's ratios of what pairs need to what it would be charged alone, and those of the whole batch as it is bought."""
    made: list[Claim] = []
    known: dict[Measurement, Cost] = {}

    def cost_of(part: Measurement) -> Cost:
        if part not in known:
            known[part] = part_cost(part, stack, pairs)
        return known[part]

    for item in priced.alone:
        if item.public:
            continue
        if any(isinstance(part.mechanism, THRESHOLDED) for part in item.parts):
            made.append(Claim(item, _shown_ratios(item, stack, pairs)))
            continue
        cost = laws.nothing(pairs)
        for part in item.parts:
            cost = cost + cost_of(part)
        made.append(Claim(item, _ratios(item, cost, priced.measure)))
    whole = laws.nothing(pairs)
    for part in (part for one in priced.bundles for part in one.parts):
        if not isinstance(part.mechanism, THRESHOLDED):
            whole = whole + cost_of(part)
    return made, _whole(priced, whole)


def _ratios(item: PricedQuestion, cost: Cost, measure: Measure) -> dict[str, Array]:
    found, epsilon = {}, _pure(item)
    if epsilon is not None:
        found["ε"] = cost.epsilon / epsilon
    if measure is not Measure.PURE:
        found["ρ" if epsilon is None else "ρ of ε"] = cost.rho / float(item.loss.amount)
    return found


def _pure(item: PricedQuestion) -> float | None:
    """The ε that the events of a question claim, where all of them claim one."""
    try:
        return float(sum(event.loss(Measure.PURE).amount for event in item.events))
    except LossError:
        return None


def _shown_ratios(item: PricedQuestion, stack: Stack, pairs: int) -> dict[str, Array]:
    """Of counts alone the δ that a pair needs; of counts with sums, how far labels of both tables move, and what one table alone shows."""
    ((part,), (event,)) = item.parts, item.events
    counts, sums = _shown_exactly(part, stack)
    mechanism = part.mechanism
    if isinstance(mechanism, Thresholding):
        found = laws.shown(mechanism, event.amount, counts[:pairs], counts[pairs:])
        return {"δ": found / float(event.delta)}
    assert isinstance(mechanism, ThresholdedSums)
    epsilon, delta = laws.shown_with_sums(
        mechanism, (counts[:pairs], counts[pairs:]), (sums[:pairs], sums[pairs:])
    )
    return {"ε of sums": epsilon / float(event.amount), "δ of sums": delta / float(event.delta)}


def _shown_exactly(part: Measurement, stack: Stack) -> tuple[Array, Array]:
    """The exact counts of each value or label in each table, and the sums of its numbers."""
    if isinstance(part.request, LabelSums):
        return stack.labels(part.request)
    grid = _grid(part, stack)
    if grid is None or grid[1] - grid[0] > MOST_SHOWN:
        raise TooLong
    return stack.totals(part.request, grid), np.zeros((stack.tables, 0, 0))


def _whole(priced: PricedBatch, cost: Cost) -> dict[str, Array]:
    """The batch's own ratio: its parts together against its charge."""
    charged = float(priced.loss.amount)
    if not charged:
        return {}
    return {"ε": cost.epsilon / charged} if priced.measure is Measure.PURE else {"ρ": cost.rho / charged}


def moves_of(
    rng: random.Random, where: Schema, rows: int, worst: Sequence[tuple[int, int]]
) -> Iterator[Pair]:
    """What one unit can do, without end: now and then one of the worst moves, else any."""
    unit = where.unit
    while True:
        first, second = (
            rng.choice(worst) if worst and rng.random() < 0.5 else (rng.randrange(rows), rng.randrange(rows))
        )
        size = rng.choice([1, unit.max_rows, unit.max_rows])
        one, two = (first,) * size, (second,) * size
        if rng.random() < 0.3:
            one, two = (tuple(rng.choices(range(rows), k=rng.randint(1, unit.max_rows))) for _ in "ab")
        if unit.adjacency == "add-remove":
            yield Pair((), (), two)
        else:
            yield Pair((), one, two)


def common_rows(rng: random.Random, where: Schema, rows: int, likely: Sequence[int]) -> tuple[int, ...]:
    """Rows that both tables have: as many as are public, else none to many; spread, or all alike."""
    unit = where.unit
    size = (unit.rows or 1) - 1
    if unit.rows is None:
        size = rng.choice([0, 0, 1, 2, 3, 5, 8, 8, 25])
    kind = rng.random()
    if kind < 0.4:
        return tuple(rng.choices(range(rows), k=size))
    if kind < 0.7 and likely:
        return tuple(rng.choices([rng.choice(likely), rng.choice(likely)], k=size))
    return tuple(rng.choices([rng.randrange(rows) for _ in range(rng.randint(1, 2))], k=size))


def pairs_of(
    rng: random.Random, where: Schema, rows: int, worst: Sequence[tuple[int, int]], count: int
) -> list[Pair]:
    """Neighbouring tables."""
    moves, likely, found = moves_of(rng, where, rows, worst), [at for pair in worst for at in pair], []
    while len(found) < count:
        both = common_rows(rng, where, rows, likely)
        for _ in range(min(8, count - len(found))):
            move = next(moves)
            found.append(Pair(both, move.one, move.two))
    return found


def climbed(where: Schema, priced: PricedBatch, pool: Rows) -> tuple[Rows, list[tuple[int, int]]]:
    """The pool with changed copies of its most different rows, and the pairs that differ most."""
    worst: list[tuple[int, int]] = []
    for climb in range(_CLIMBS + 1):
        vectors = _contributions(where, priced, pool)
        if vectors is None:
            return pool, []
        worst = _farthest(where, vectors)
        if climb < _CLIMBS:
            pool = pool.with_changes(where, [at for pair in worst[:2] for at in pair])
    return pool, worst


def _contributions(where: Schema, priced: PricedBatch, pool: Rows) -> Array | None:
    """What each row adds to every additive entry, in units of its noise; counts of values as they are."""
    stack, found = pool.stack([[at] for at in range(len(pool))]), []
    for part in (part for item in priced.items for part in item.parts):
        mechanism = part.mechanism
        if isinstance(part.request, LabelSums):
            found += _shown_by_row(part, stack)
            continue
        added = stack.totals(part.request, _grid(part, stack)).astype(float)
        if isinstance(mechanism, DiscreteLaplace):
            added = added / float(mechanism.scale)
        elif isinstance(mechanism, DiscreteGaussian):
            added = added / (2 * float(mechanism.variance)) ** 0.5
        elif added.any():
            added = added / np.abs(added).max()
        found.append(added)
    vectors = np.concatenate(found, axis=1) if found else np.zeros((len(pool), 0))
    vectors = vectors[:, np.abs(vectors).any(axis=0)]
    return vectors if 0 < vectors.shape[1] <= 1000 else None


def _shown_by_row(part: Measurement, stack: Stack) -> list[Array]:
    """What each row adds to the counts of labels, and to their sums in units of their noise."""
    counts, sums = stack.labels(part.request)
    scales = getattr(part.mechanism, "sums", ())
    return [
        counts.astype(float),
        *(sums[:, :, at].astype(float) / float(scale) for at, scale in enumerate(scales)),
    ]


def _farthest(where: Schema, vectors: Array, most: int = 6) -> list[tuple[int, int]]:
    if where.unit.adjacency == "add-remove":
        sizes = np.abs(vectors).sum(axis=1)
        return [(int(at), int(at)) for at in np.argsort(-sizes)[:most]]
    gaps = np.abs(vectors[:, None, :] - vectors[None, :, :]).sum(axis=2)
    best = np.argsort(-gaps, axis=None)[: 2 * most : 2]
    return [(int(at // len(vectors)), int(at % len(vectors))) for at in best]


@dataclass
class Violation(Exception):
    """A pair that needs more than was charged."""

    where: Schema
    batch: questions.Cell
    pool: Rows
    pair: Pair
    said: str

    def __str__(self) -> str:
        from tests.fuzz.report import pasted

        return pasted(self)


def examine(rng: random.Random, where: Schema, batch: questions.Cell, count: int, tally: Tally) -> None:
    """Hold what a batch is charged against pairs of neighbouring tables.

    Raises
    ------
    Violation
        With a table, its neighbour and a question to paste.
    """
    priced = price(*batch, where).refined(frozenset())
    for item in priced.items:
        listable(item)
    entries = sum(part.cells for item in priced.items for part in item.parts)
    additive = all(isinstance(m, DiscreteLaplace | DiscreteGaussian) for m in mechanisms_of(priced))
    rounds = 1 if additive else _ROUNDS
    count = max(8, min(count * rounds, _ENTRIES // max(entries, 1)))
    pool, worst = climbed(where, priced, Rows.drawn(rng, where, 24))
    pairs = pairs_of(rng, where, len(pool), worst, count // rounds)
    for _ in range(rounds):
        best = _held(where, batch, priced, pool, pairs, tally)
        pairs = [mutated(rng, where, len(pool), rng.choice(best)) for _ in range(count // rounds)]


def mechanisms_of(priced: PricedBatch) -> list[Any]:
    """The mechanisms of all parts of a cell."""
    return [part.mechanism for item in priced.items for part in item.parts]


def mutated(rng: random.Random, where: Schema, rows: int, pair: Pair) -> Pair:
    """A pair near another: some common rows more, fewer or others, or another moved row."""
    both, kind, new = list(pair.both), rng.randrange(5), rng.randrange(rows)
    if kind == 0:
        one, two = (tuple(new for _ in side) if rng.random() < 0.5 else side for side in (pair.one, pair.two))
        return Pair(pair.both, one, two)
    if kind == 1 and both:
        old = rng.choice(both)
        return replace(pair, both=tuple(new if at == old else at for at in both))
    if where.unit.rows is not None:
        return replace(pair, both=tuple(new if rng.random() < 0.2 else at for at in both))
    if kind == 2 and len(both) < 40:
        return replace(pair, both=(*both, *rng.choices([new, *both], k=rng.randint(1, 3))))
    if kind == 3 and len(both) < 20:
        return replace(pair, both=(*both, *both))
    return replace(pair, both=tuple(rng.sample(both, rng.randint(0, len(both)))))


def _held(
    where: Schema, batch: questions.Cell, priced: PricedBatch, pool: Rows, pairs: Sequence[Pair], tally: Tally
) -> list[Pair]:
    """Hold all ratios of some pairs, and return the pairs that come nearest to the charge."""
    found, whole = judged(priced, pool, pairs)
    every = [(f"{claim.item.text}: {kind}", r) for claim in found for kind, r in claim.ratios.items()]
    for said, ratios in [*every, *((f"the whole cell: {kind}", r) for kind, r in whole.items())]:
        _hold(where, batch, pool, pairs, ratios, said)
    tally.add(len(pairs), found)
    if not every:
        return list(pairs)
    return [pairs[at] for at in dict.fromkeys(int(at) for _, r in every for at in np.argsort(-r)[:3])]


def judged(priced: PricedBatch, pool: Rows, pairs: Sequence[Pair]) -> tuple[list[Claim], dict[str, Array]]:
    """The ratios of some pairs."""
    return claims_of(priced, pool.both_of(pairs), len(pairs))


def _hold(
    where: Schema, batch: questions.Cell, pool: Rows, pairs: Sequence[Pair], ratios: Array, said: str
) -> None:
    worst = int(np.argmax(np.where(np.isnan(ratios), np.inf, ratios)))
    if not ratios[worst] <= 1 + EXACT:
        raise Violation(where, batch, pool, pairs[worst], f"{said} needs {ratios[worst]:.6f} of the charge")


def case(
    rng: random.Random, statistic: str, *, alone: bool = False, shape: str = "any"
) -> tuple[Schema, questions.Cell]:
    """A schema and a cell whose first question is of this statistic and shape."""
    thresholded = statistic == "frequent_values"
    where = questions.schema(rng, budget=questions.BUDGETS[2] if thresholded else None, shape=shape)
    chance = random.Random(where.version)  # of its own: what is drawn after it stays what it was
    if not thresholded and chance.random() < PREPARED:
        where = questions.prepared(chance, where)
    names = [statistic, *rng.choices(list(questions.PARTS), k=0 if alone else rng.choice([0, 0, 0, 1, 2]))]
    if where.budget.measure is not Measure.APPROX_ZCDP or not any(column.text for column in where.columns):
        names = [name for name in names if name != "frequent_values"]
    asked = [questions.question(rng, name, shape if name == statistic else "any") for name in names]
    if not alone and rng.random() < 0.2:
        asked = questions.divided(rng, asked)
    return where, questions.batch(rng, where, asked)


def run(
    seed: int,
    turns: int,
    *,
    statistics: Sequence[str] = (),
    alone: bool = False,
    each: int = 64,
    refusals: tuple[type[Exception], ...] = (),
) -> Tally:
    """Examine cell after cell, so often for each statistic.

    Parameters
    ----------
    seed : int
        Names the run.
    turns : int
        How many cells begin with each statistic; some are refused.
    statistics : sequence of str
        What the first question of a cell is about; all, if not given.
    alone : bool
        Whether a cell has one question.
    each : int
        Pairs for each cell, or fewer where its vectors are long; as many in each round of a search.
    refusals : tuple of exception types
        What else than dpnb's own errors means that a question cannot be asked: nothing, unless a mistake is planted.

    Raises
    ------
    Violation
        With a table, its neighbour and a question to paste. Anything else that is raised carries the question as a note.
    """
    rng, tally = random.Random(seed), Tally()
    names = tuple(statistics) or tuple(questions.PARTS)
    for shape in islice(cycle(questions.SHAPES), turns):
        for name in names:
            where, batch = case(rng, name, alone=alone, shape=shape)
            try:
                examine(rng, where, batch, each, tally)
                tally.batches += 1
            except (DpnbError, TooLong, *refusals):
                tally.refused += 1
            except Violation:
                raise
            except Exception as error:
                error.add_note(f"schema = {where.to_json()}\nbatch = {batch}")
                raise
    return tally

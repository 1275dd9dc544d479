"""What is simulated: a question, the studies it is asked of, the losses it is paid with. All checked before anything is drawn.

A design prices its question with :func:`dpnb.planner.price`, as a release does: the same mechanisms at the same scales.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpnb.errors import LossError, OptionError, PlanError
from dpnb.planner import Ask, Item, PricedQuestion, Question, price
from dpnb.planner.expression import Expr, Ref
from dpnb.simulate.intervals import Method
from dpnb.simulate.populations import Floats, Population, Values
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.loss import brief, positive
from dpnb.trusted.privacy.unit import Adjacency, PrivacyUnit
from dpnb.trusted.schema import Column, Schema

Amount = float | str | Decimal | Fraction
Losses = Amount | Sequence[Amount] | Floats | Mapping[str, Amount | Sequence[Amount] | Floats]
"""Values of ε, or of ``{"epsilon": …}`` or ``{"rho": …}``."""
Sizes = int | Sequence[int] | None
"""Rows of a study, or several numbers of them; none of a fixed study."""
Truth = Callable[[Mapping[str, Values]], ArrayLike]
"""What is true of a study, from its columns."""
BLOCK = 1000
_ROWS = 1_000_000
_ENTRIES = 100_000
_MOST_STUDIES = 10_000_000
_DECIMALS = 9
_SMALLEST, _LARGEST = 1e-9, 1e9


@dataclass(frozen=True, slots=True)
class Loss:
    """What one question is paid with: ``kind`` is ``"epsilon"`` or ``"rho"``."""

    kind: str
    amount: Fraction

    def __str__(self) -> str:
        return f"{'ε' if self.kind == 'epsilon' else 'ρ'} {brief(self.amount)}"


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """Everything that determines the result of a simulation, to the bit.

    Parameters
    ----------
    statistic : str
        Registered name.
    population : Population
        Where studies come from.
    sizes : tuple of int
        Numbers of rows.
    losses : tuple of Loss
        What the question is paid with.
    methods : tuple of Method
        Interval methods.
    levels : tuple of float
        Levels of the intervals.
    reps, seed : int
        How many studies of each size, and the seed of everything drawn.
    question : mapping
        ``column``, ``other``, ``by``, ``where``, ``options`` of the question and ``adjacency`` of the data.
    truth, parameter
        What holds in a dataset (a function of its columns) and in the population, where they are given.
    common : bool
        Whether the noise of all losses is made of the same uniforms; otherwise that of each loss is seeded by itself.
    counted : bool
        Whether a study is drawn as counts of distinct rows, for studies of any size; otherwise row by row.
    """

    statistic: str
    population: Population
    sizes: tuple[int, ...]
    losses: tuple[Loss, ...]
    methods: tuple[Method, ...]
    levels: tuple[float, ...]
    reps: int
    seed: int
    question: Mapping[str, Any]
    truth: Truth | None
    parameter: ArrayLike | None
    common: bool = False
    counted: bool = False

    def items(self, n: int) -> tuple[PricedQuestion, ...]:
        """Return the priced question at every loss, for studies of one size."""
        asked = self.question
        options = tuple(dict(asked["options"]).items())
        question = Question(
            "simulated", self.statistic, asked["column"], asked["where"], asked["by"], options, asked["other"]
        )
        found = tuple(
            priced(question, self.population.columns, asked["adjacency"], n, loss) for loss in self.losses
        )
        if found[0].checked.shape is None:
            raise PlanError(
                f"The number of answers to {found[0].text} depends on the noise, so no coverage is defined."
            )
        if found[0].public:
            raise PlanError(
                f"{found[0].text} is public here and answered from the schema: there is nothing to simulate. "
                'Use adjacency="add-remove", or ask it of some rows.'
            )
        return found

    def block(self, n: int, entries: int, lines: int | None = None) -> int:
        """Return how many studies, of so many `lines` each, are drawn at once: a function of the design alone, so that results never depend on it."""
        return min(
            block_of(n if lines is None else lines), max(1, _ENTRIES // (len(self.losses) * max(entries, 1)))
        )

    def rng(self, *place: int) -> np.random.Generator:
        """Return the generator of one stream of the simulation."""
        return np.random.default_rng((self.seed, *place))


def block_of(n: int) -> int:
    """Return how many studies of so many rows are drawn at once, where an answer is one number."""
    return max(1, min(BLOCK, _ROWS // n))


def priced(
    question: Question, columns: tuple[Column, ...], adjacency: Adjacency, n: int, loss: Loss
) -> PricedQuestion:
    """Return a question of so many rows, priced at a loss as a release of them is."""
    unit = PrivacyUnit(adjacency, rows=n if adjacency == "change-one" else None)
    schema = Schema("simulated", "Simulated", columns, unit, Budget.from_toml({loss.kind: 10**6}))
    paid = (loss.amount, None) if loss.kind == "epsilon" else (None, loss.amount)
    return price((Item(question),), Ask(*paid), schema).items[0]


def losses_of(given: Losses) -> tuple[Loss, ...]:
    """Read losses: numbers (ε), or ``{"epsilon": [...]}`` or ``{"rho": [...]}``; see :func:`amount_of`.

    Raises
    ------
    LossError
        For anything that is not a positive number or a known measure.
    """
    kinds = given if isinstance(given, Mapping) else {"epsilon": given}
    if len(kinds) != 1 or not set(kinds) <= {"epsilon", "rho"}:
        raise LossError(
            'losses= is {"epsilon": [0.1, 1]}, {"rho": [0.01]}, or a list of values of ε. '
            "The same question is answered differently for ε and for ρ: simulate them one after the other."
        )
    ((kind, values),) = kinds.items()
    found = tuple(Loss(kind, amount_of(value, kind)) for value in _several(values))
    if not found:
        raise LossError(f"losses= names no {kind}: give at least one.")
    return found


def amount_of(value: Amount, kind: str = "epsilon") -> Fraction:
    """Read one loss of a simulation: a float is rounded to six significant digits and nine decimals.

    A simulation spends nothing, so a computed float may be rounded; what is used stands in the result and in its code. Every
    other number (text, Fraction, Decimal) is taken as it is written, as where a loss is charged.

    Raises
    ------
    LossError
        For anything that is not a positive number.

    Examples
    --------
    >>> amount_of(0.1 + 0.2), amount_of(2 / 3)
    (Fraction(3, 10), Fraction(666667, 1000000))
    """
    if isinstance(value, float | np.floating) and _SMALLEST <= value <= _LARGEST:
        return positive(str(round(Decimal(f"{float(value):.6g}"), _DECIMALS)), name=kind)
    return positive(value, name=kind)


def sizes_of(n: Sizes, population: Population) -> tuple[int, ...]:
    """Read the numbers of rows of a study."""
    if population.size is not None:
        if n not in (None, population.size):
            raise PlanError(f"{population.name} has {population.size:,} rows in every study: leave out n=.")
        return (population.size,)
    found = _several(n) if n is not None else []
    if not found or not all(_whole(size) for size in found):
        raise PlanError("n= is the number of rows of a study, a whole number above 0, or a list of them.")
    return tuple(int(size) for size in found)


def levels_of(levels: float | Sequence[float]) -> tuple[float, ...]:
    """Read the levels of intervals."""
    found = tuple(float(level) for level in _several(levels))
    if not found or not all(0 < level < 1 for level in found):
        raise OptionError(f"a level lies between 0 and 1, for example 0.95, not {levels!r}.")
    return found


def reps_of(reps: int) -> int:
    """Read the number of studies."""
    if not _whole(reps) or reps > _MOST_STUDIES:
        raise OptionError(f"reps= is a whole number of studies from 1 to {_MOST_STUDIES:,}, not {reps!r}.")
    return int(reps)


def seed_of(rng: object) -> int:
    """Read a seed, or draw one from a generator."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**62))
    if not isinstance(rng, int | np.integer) or isinstance(rng, bool) or rng < 0:
        raise OptionError(f"rng= is a whole number, the seed, or a numpy Generator, not {rng!r}.")
    return int(rng)


def expressions(names: object) -> tuple[Expr, ...]:
    """Return column names as expressions."""
    return tuple(Ref(name) if isinstance(name, str) else name for name in _several(names))


def _several(given: object) -> list[Any]:
    if isinstance(given, str) or not isinstance(given, Sequence | np.ndarray):
        return [given]
    return [value.item() if isinstance(value, np.generic) else value for value in given]


def _whole(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer):
        return False
    return bool(math.isfinite(value) and value >= 1 and int(value) == value)

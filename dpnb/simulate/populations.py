"""Populations to draw simulated studies from: laws on a public grid, tables resampled with replacement, and fixed tables.

A population names its columns as a schema does, draws whole studies at once, and says what its parameters are. The built-in
laws are laws *on the declared grid* (each grid point has the probability of the interval that rounds to it, what lies beyond a
bound counts at the bound), so their parameters are sums, not approximations.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Protocol, TypeGuard, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.datasets.exact_answers import table_of
from dpnb.datasets.preparation import quantise
from dpnb.errors import PlanError, SchemaError
from dpnb.trusted.aggregate.reference import Ints, Table
from dpnb.trusted.schema import Column

Floats = NDArray[np.float64]
Values = NDArray[Any]
"""Of a column: numbers, or labels."""
Codes = dict[str, Ints]
Seed = int | np.random.Generator
Number = int | float | str | Fraction

_LARGE = 200_000


class Population(Protocol):
    """What a simulation needs to know about a population."""

    @property
    def name(self) -> str:
        """Its name in tables and figures."""
        ...

    @property
    def code(self) -> str:
        """The call that reproduces it."""
        ...

    @property
    def columns(self) -> tuple[Column, ...]:
        """Its public columns."""
        ...

    @property
    def size(self) -> int | None:
        """The number of rows where every study is the same table, else nothing."""
        ...

    def draw(self, rng: np.random.Generator, studies: int, n: int) -> Codes:
        """Return the codes of ``studies`` independent studies of ``n`` rows, study after study."""
        ...

    def law(self) -> tuple[Table, Floats] | None:
        """Return rows and their probabilities, where parameters follow from them."""
        ...


Arrays = ArrayLike | Mapping[str, ArrayLike]
Drawing = Callable[[np.random.Generator, tuple[int, int]], Arrays]
"""Draws so many studies of so many rows: an array of that shape, or one for each column."""
Source = Population | Arrays | Drawing | None
"""Whatever describes a population."""
Columns = Sequence[Column] | Column | None


@dataclass(frozen=True, slots=True, eq=False)
class GridLaw:
    """One number with a known law on its grid."""

    name: str
    code: str
    column: Column
    probabilities: Floats
    cumulative: Floats
    size: None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """The one column."""
        return (self.column,)

    def draw(self, rng: np.random.Generator, studies: int, n: int) -> Codes:
        """Draw by inversion of the distribution function."""
        uniform = rng.random(studies * n)
        places = np.searchsorted(self.cumulative, uniform, side="right")
        return {self.column.name: Ints(np.minimum(places, self.column.size - 1), _all_known(studies * n))}

    def law(self) -> tuple[Table, Floats]:
        """Return every grid point with its probability."""
        return table_of({self.column.name: np.arange(self.column.size)}), self.probabilities


@dataclass(frozen=True, slots=True, eq=False)
class Resampled:
    """The rows of a table, drawn with replacement."""

    name: str
    code: str
    columns: tuple[Column, ...]
    rows: Codes
    size: None = None

    def draw(self, rng: np.random.Generator, studies: int, n: int) -> Codes:
        """Draw rows, all columns together."""
        places = rng.integers(0, _length(self.rows), studies * n)
        return {
            name: Ints(ints.values[places], _known_at(ints.known, places)) for name, ints in self.rows.items()
        }

    def law(self) -> tuple[Table, Floats]:
        """Return the rows, each as likely as the others."""
        size = _length(self.rows)
        return table_of(self.rows), np.full(size, 1 / size)


@dataclass(frozen=True, slots=True, eq=False)
class FixedStudy:
    """One fixed table for every simulated study: only the noise is drawn again."""

    name: str
    code: str
    columns: tuple[Column, ...]
    rows: Codes

    @property
    def size(self) -> int:
        """The number of rows."""
        return _length(self.rows)

    def draw(self, rng: np.random.Generator, studies: int, n: int) -> Codes:  # noqa: ARG002 - one protocol
        """Return the table, repeated."""
        return {
            name: Ints(np.tile(i.values, studies), np.tile(i.known, studies)) for name, i in self.rows.items()
        }

    def law(self) -> None:
        """Return nothing: no population is meant."""
        return


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """A population drawn by a function; its parameters are computed from 200,000 draws unless they are given."""

    name: str
    code: str
    columns: tuple[Column, ...]
    function: Drawing
    size: None = None

    def draw(self, rng: np.random.Generator, studies: int, n: int) -> Codes:
        """Call the function and quantise what it returns."""
        made = self.function(rng, (studies, n))
        arrays = made if isinstance(made, Mapping) else {self.columns[0].name: made}
        for name, array in arrays.items():
            if np.shape(array) != (studies, n):
                raise PlanError(
                    f"The population's function was asked for shape {(studies, n)} and returned {np.shape(array)} for {name}."
                )
        return {c.name: quantise(np.ravel(_given(arrays, c.name)), c) for c in self.columns}

    def law(self) -> tuple[Table, Floats]:
        """Return many draws."""
        rows = self.draw(np.random.default_rng(0), 1, _LARGE)
        return table_of(rows), np.full(_LARGE, 1 / _LARGE)


def population(source: Source, columns: Columns = None, **grid: Any) -> Population:
    """Return a population from a description.

    Parameters
    ----------
    source : Population, array, mapping of arrays, or callable
        An array or table is resampled with replacement; a callable ``(rng, (studies, n))`` draws arrays of that shape.
    columns : Column or sequence of Column, optional
        The public columns; for a single array ``lower=``, ``upper=`` and ``step=`` do instead.

    Raises
    ------
    SchemaError
        When neither columns nor bounds are given: bounds are public, they are never taken from the data.
    """
    if is_population(source):
        if grid or columns is not None:
            raise PlanError(
                "This population has its own columns: leave out columns=, lower=, upper= and step=."
            )
        return source
    if callable(source):
        return drawn(source, columns, **grid)
    return resampled(cast("Arrays", source), columns, **grid)


def is_population(source: object) -> TypeGuard[Population]:
    """Whether something draws studies and knows its law."""
    return hasattr(source, "draw") and hasattr(source, "law")


def resampled(
    table: Arrays, columns: Columns = None, *, name: str = "resampled", **grid: object
) -> Resampled:
    """Return the population whose rows are those of an array or table, drawn with replacement.

    Examples
    --------
    >>> import numpy as np
    >>> resampled(np.array([1.0, 2.0, 7.0]), lower=0, upper=10, step=1).law()[1]
    array([0.33333333, 0.33333333, 0.33333333])
    """
    declared, rows = _rows(table, columns, grid)
    return Resampled(name, _call("resampled", "table", declared), declared, rows)


def study(table: Arrays, columns: Columns = None, *, name: str = "fixed study", **grid: object) -> FixedStudy:
    """Return the table itself as every study: only the noise is drawn again, so only privacy intervals have a meaning."""
    declared, rows = _rows(table, columns, grid)
    return FixedStudy(name, _call("study", "table", declared), declared, rows)


def drawn(
    function: Drawing,
    columns: Columns = None,
    *,
    name: str = "",
    **grid: object,
) -> Drawn:
    """Return the population that a function ``(rng, (studies, n)) -> array, or mapping of arrays`` draws from."""
    declared = _declared(columns, grid)
    word = name or getattr(function, "__name__", "drawn").strip("<>")
    return Drawn(word, _call("drawn", word, declared), declared, function)


def bernoulli(p: float, *, name: str = "x") -> GridLaw:
    """Return zeros and ones, ones with probability ``p``."""
    if not 0 < p < 1:
        raise PlanError(f"a probability lies between 0 and 1, not {p!r}.")
    return _grid_law(
        f"Bernoulli({p:g})",
        f"simulate.bernoulli({p!r}{'' if name == 'x' else f', name={name!r}'})",
        Column.category(name, [0, 1]),
        [1 - p, p],
    )


def beta(
    a: float, b: float, *, lower: Number = 0, upper: Number = 100, step: Number | None = None, name: str = "x"
) -> GridLaw:
    """Return a Beta(a, b) number stretched over the bounds."""
    from scipy.special import betainc

    column = _column(name, lower, upper, step)
    low, width = float(column.bounds[0]), float(column.bounds[1] - column.bounds[0])
    return _law(
        f"Beta({a:g}, {b:g})",
        f"simulate.beta({a!r}, {b!r}, {_bounds(column)})",
        column,
        lambda x: betainc(a, b, np.clip((x - low) / width, 0.0, 1.0)),
    )


def normal(
    mean: float,
    sd: float,
    *,
    lower: Number = 0,
    upper: Number = 100,
    step: Number | None = None,
    name: str = "x",
) -> GridLaw:
    """Return a normal number, clamped to the bounds."""
    from scipy.special import ndtr

    column = _column(name, lower, upper, step)
    return _law(
        f"normal({mean:g}, {sd:g})",
        f"simulate.normal({mean!r}, {sd!r}, {_bounds(column)})",
        column,
        lambda x: ndtr((x - mean) / sd),
    )


def lognormal(
    mean: float, sd: float, *, lower: Number = 0, upper: Number, step: Number | None = None, name: str = "x"
) -> GridLaw:
    """Return a log-normal number, clamped to the bounds: for incomes or waiting times."""
    from scipy.special import ndtr

    column = _column(name, lower, upper, step)

    def below(x: Floats) -> Floats:
        with np.errstate(divide="ignore"):
            return np.asarray(ndtr((np.log(np.maximum(x, 0.0)) - mean) / sd))

    code = f"simulate.lognormal({mean!r}, {sd!r}, {_bounds(column)})"
    return _law(f"lognormal({mean:g}, {sd:g})", code, column, below)


def with_outliers(base: GridLaw, share: float = 0.02) -> GridLaw:
    """Return a law in which a share of the rows is at the upper bound, to show the effect of extreme values on a mean."""
    if not 0 < share < 1:
        raise PlanError(f"a share lies between 0 and 1, not {share!r}.")
    moved = np.array(base.probabilities * (1 - share))
    moved[-1] += share
    code = f"simulate.with_outliers({base.code}, {share!r})"
    return _grid_law(f"{base.name} with {100 * share:g} % outliers", code, base.column, moved)


def _law(name: str, code: str, column: Column, below: Callable[[Floats], ArrayLike]) -> GridLaw:
    low, step = float(column.bounds[0]), float(column.step or 1)
    edges = np.asarray(low + step * (np.arange(column.size - 1) + 0.5), dtype=np.float64)
    cumulative = np.concatenate([np.zeros(1), np.asarray(below(edges)), np.ones(1)])
    return _grid_law(name, code, column, np.diff(cumulative))


def _grid_law(name: str, code: str, column: Column, probabilities: ArrayLike) -> GridLaw:
    found = np.asarray(probabilities, dtype=float)
    if (
        not np.all(np.isfinite(found))
        or np.any(found < 0)
        or not math.isclose(found.sum(), 1.0, abs_tol=1e-9)
    ):
        raise PlanError(f"{name} is not a law on this grid: check its parameters.")
    found = found / found.sum()
    return GridLaw(name, code, column, found, np.cumsum(found)[:-1])


def _column(name: str, lower: Number, upper: Number, step: Number | None) -> Column:
    low, high = Fraction(str(lower)), Fraction(str(upper))
    return Column.number(name, low, high, step=(high - low) / 1000 if step is None else step, missing=low)


def _bounds(column: Column) -> str:
    low, high = column.bounds
    named = "" if column.name == "x" else f", name={column.name!r}"
    return (
        f"lower={_text(low)}, upper={_text(high)}, step={_text(column.declared_step or Fraction(1))}{named}"
    )


def _text(value: Fraction) -> str:
    return str(value.numerator) if value.denominator == 1 else f'"{value}"'


def _call(word: str, source: str, columns: tuple[Column, ...]) -> str:
    if len(columns) == 1 and columns[0].type == "number" and columns[0].name == "x":
        return f"simulate.{word}({source}, {_bounds(columns[0])})"
    return f"simulate.{word}({source}, columns)"


def _declared(columns: Columns, grid: Mapping[str, Any]) -> tuple[Column, ...]:
    if columns is not None:
        if grid:
            raise SchemaError("Give columns=, or lower=, upper= and step= for one column, not both.")
        return (columns,) if isinstance(columns, Column) else tuple(columns)
    if "lower" not in grid or "upper" not in grid:
        raise SchemaError(
            "Bounds are public, so they are declared and never taken from the data: give lower= and upper= "
            "(and step=), or columns=[Column.number(...), ...]."
        )
    unknown = sorted(set(grid) - {"lower", "upper", "step"})
    if unknown:
        raise SchemaError(f"unknown option {unknown[0]!r}: a column has lower=, upper= and step=.")
    return (_column("x", grid["lower"], grid["upper"], grid.get("step")),)


def _rows(table: Arrays, columns: Columns, grid: Mapping[str, object]) -> tuple[tuple[Column, ...], Codes]:
    declared = _declared(columns, grid)
    arrays = table if isinstance(table, Mapping) or hasattr(table, "columns") else {declared[0].name: table}
    rows = {c.name: quantise(np.ravel(np.asarray(_given(arrays, c.name))), c) for c in declared}
    lengths = {len(ints) for ints in rows.values()}
    if len(lengths) != 1 or 0 in lengths:
        raise PlanError(
            f"The columns of a population have one length, above zero; these have {sorted(lengths)}."
        )
    return declared, rows


def _given(arrays: Any, name: str) -> Any:
    try:
        return arrays[name]
    except KeyError:
        raise SchemaError(f"The population has no column {name!r}, which its columns declare.") from None


def _all_known(size: int) -> NDArray[np.bool_]:
    return np.broadcast_to(np.True_, (size,))


def _known_at(known: NDArray[np.bool_], places: NDArray[np.int64]) -> NDArray[np.bool_]:
    return _all_known(places.size) if known.all() else known[places]


def _length(rows: Codes) -> int:
    return len(next(iter(rows.values())))

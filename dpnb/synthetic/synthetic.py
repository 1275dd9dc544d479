"""Synthetic rows as an analyst holds them: tables of rows, and inference from all of them together. After the release all of it is free."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dpnb.errors import OptionError, PlanError, Unavailable
from dpnb.estimate import Table
from dpnb.estimate.host import current_host
from dpnb.estimate.pending_question import paid_for
from dpnb.inference.digits import rounded
from dpnb.inference.elementwise import Floats
from dpnb.statistics.formula import parse
from dpnb.synthetic import analysis, posterior
from dpnb.synthetic.combine import Combined
from dpnb.synthetic.design import Design, Pair, Variable, promised
from dpnb.synthetic.rows import TIMES, Columns, Model, drawn, generator, model_of, values
from dpnb.synthetic.tables import MOST_ROWS, PairTables
from dpnb.trusted.canonical import Record

if TYPE_CHECKING:
    import pandas as pd

FORMAT = 1
MEASURED, MODELLED, UNMEASURED = "measured", "modelled, not measured", "not measured"
_POOLED = "the model stands on a pool of rows, of which few simulations were made"
_PROMISES = {
    0.95: "95 % intervals hold",
    0.9: "intervals that say 95 % hold about 90 % of the time",
    None: "for looking alone, no interval holds",
}


@dataclass(frozen=True, slots=True)
class Support:
    """Whether an analysis is supported: true if every pair among its columns was measured.

    Parameters
    ----------
    status : str
        ``"measured"``; ``"modelled, not measured"`` where three columns are needed at once; ``"not measured"``.
    missing : tuple of (str, str)
        The pairs that were not measured.
    """

    status: str
    missing: tuple[tuple[str, str], ...] = ()

    def __bool__(self) -> bool:
        return not self.missing

    def __str__(self) -> str:
        if not self.missing:
            return self.status
        return f"not supported: {', '.join(' × '.join(one) for one in self.missing)} was not measured"

    __repr__ = __str__


@dataclass(frozen=True, eq=False)
class Released:
    """What was released: the noised tables and the number of rows.

    Parameters
    ----------
    counts : mapping of (int, int) to ndarray
    variances : mapping of (int, int) to float
        Variance of the noise on a cell of each table.
    draws : tuple of str
        The ids of the noise, which no seed can repeat.
    paid : dict or None
        What all of them cost together.
    """

    counts: Mapping[Pair, Floats]
    variances: Mapping[Pair, float]
    draws: tuple[str, ...]
    paid: Record | None


class Synthetic(PairTables):
    """Synthetic rows: pending, then released in place. Made by ``people.synthetic(…)``, or read from a record."""

    # what was released -----------------------------------------------------------------------------------------

    @cached_property
    def released(self) -> Released:
        """The noised tables.

        Raises
        ------
        PendingError
            Before the release.
        """
        counts = {pair: np.asarray(one.value, dtype=float) for pair, one in self._estimates.items()}
        told = {pair: np.asarray(one._outcome().noise) for pair, one in self._estimates.items()}  # noqa: SLF001 -- the released result
        releases = [release for one in self._estimates.values() for release in one.releases]
        draws = tuple(dict.fromkeys(part.draw for release in releases for part in release.parts))
        variances = {pair: float(one.max()) for pair, one in told.items()}
        return Released(counts, variances, draws, paid_for(releases).to_json() if releases else None)

    @cached_property
    def model(self) -> Model:
        """The models that agree with the noised tables, found once."""
        told = self.released
        public = None if self.public is None else float(self.public)
        return model_of(self.design, told.counts, told.variances, public, self.count, generator(told.draws))

    @property
    def counts(self) -> dict[tuple[str, str], Floats]:
        """The noised table of each pair."""
        return {self.design.called(pair): table for pair, table in self.released.counts.items()}

    @property
    def sigmas(self) -> dict[tuple[str, str], float]:
        """The standard deviation of the noise on a cell of each table."""
        return {self.design.called(pair): math.sqrt(one) for pair, one in self.released.variances.items()}

    @property
    def size(self) -> float:
        """The number of rows of the data: public, or as the tables tell it together."""
        if self.public is not None:
            return float(self.public)
        weights = {pair: 1 / (one * self.design.cells(pair)) for pair, one in self.released.variances.items()}
        told = sum(weight * self.released.counts[pair].sum() for pair, weight in weights.items())
        return max(float(told) / sum(weights.values()), 0.0)

    @property
    def private(self) -> bool:
        """Whether the number of rows is private."""
        return self.public is None

    @property
    def converged(self) -> bool:
        """Whether a model was found that agrees with the tables; without one there are no rows."""
        return self.model.converged

    @property
    def pooled(self) -> bool:
        """Whether the model stands on a pool of rows, since all combinations of levels are too many."""
        return self.model.cells is not None and self.model.cells.pooled

    @property
    def g(self) -> float:
        """Rows of an average cell of the largest table, in units of its noise."""
        return self.design.quality(self.size, max(self.sigmas.values()))

    @property
    def level(self) -> float | None:
        """How often intervals that say 95 % hold: .95, .9, or nothing where the tables hold too little."""
        return promised(self.g) if self.converged else None

    @property
    def length(self) -> int:
        """The rows of each table: twice those of the data, as public or released."""
        return self._length or min(max(TIMES * round(self.size), 1), MOST_ROWS)

    # the rows --------------------------------------------------------------------------------------------------

    @cached_property
    def _levels(self) -> list[np.ndarray]:
        if not self.converged:
            raise Unavailable(
                f"No model agrees with these tables: they are mostly noise (the number of rows is {rounded(self.size)}, noised), or scoring did not "
                "come to rest. The measured tables are in .counts. Spend more, or take fewer relations or bins."
            )
        return drawn(self.model, self.length, generator((*self.released.draws, "rows")))

    def rows(self, table: int = 0) -> Columns:
        """Return the columns of one table as arrays; the same each time."""
        if not 0 <= table < self.count:
            raise OptionError(f"There are {self.count} tables, from 0 to {self.count - 1}.")
        return values(self.columns, self._levels[table], generator((*self.released.draws, f"values {table}")))

    def frame(self) -> pd.DataFrame:
        """Return one table as a DataFrame: for looking, never for intervals, which need all of them (:meth:`combine`)."""
        return _frame(self.rows())

    def frames(self) -> list[pd.DataFrame]:
        """Return all tables as DataFrames, for :meth:`combine`."""
        return [_frame(self.rows(table)) for table in range(self.count)]

    def to_csv(self, folder: str | Path) -> Path:
        """Write all tables as CSV, and ``synthetic.json``, which says what they are, into a new folder; :func:`dpnb.open_synthetic` reads it."""
        from dpnb.synthetic.files import write

        return write(self, folder, "csv")

    def to_parquet(self, folder: str | Path) -> Path:
        """Write all tables as Parquet, and ``synthetic.json``, into a new folder; needs pyarrow."""
        from dpnb.synthetic.files import write

        return write(self, folder, "parquet")

    def _repr_mimebundle_(self, **_: object) -> Record:
        return current_host().bundle(self)

    def margin(self, first: str, second: str) -> Floats:
        """Return the share of each pair of levels, shape ``(k, l)``: the mean over the models."""
        self._levels  # noqa: B018 -- refuses where there is no model
        return self.model.margin(self.design.names.index(first), self.design.names.index(second))

    # what it may be used for -----------------------------------------------------------------------------------

    @property
    def relations(self) -> Table:
        """All pairs of columns: whether each was measured, its noise, and the share of its variance that is noise."""
        names, found = self.design.names, []
        for first in range(len(names)):
            for second in range(first + 1, len(names)):
                variance = self.released.variances.get((first, second))
                lost = math.nan if variance is None else variance * self.design.cells((first, second))
                found.append(
                    {
                        "first": names[first],
                        "second": names[second],
                        "measured": "no" if variance is None else "yes",
                        "sigma": math.nan if variance is None else math.sqrt(variance),
                        "noise": lost / (lost + max(self.size, 1)),
                    }
                )
        return Table({key: [row[key] for row in found] for key in found[0]}, ("first", "second"))

    def supports(self, *analysis_or_columns: str) -> Support:
        """Say whether an analysis is supported: if and only if every pair among its columns was measured.

        Parameters
        ----------
        *analysis_or_columns : str
            A formula (``"married ~ age + educ"``), a condition, or names of columns.
        """
        formulas = [one for one in analysis_or_columns if "~" in one]
        others = [one for one in analysis_or_columns if "~" not in one]
        found = [self._support_of(parse(one, self._declared).columns) for one in formulas]
        if others:
            named = set().union(*analysis.touched(map(_quoted, others), self.design.names))
            found.append(self._support([named]))
        return next(
            (one for one in found if one.missing),
            next((one for one in found if one.status != MEASURED), found[0]),
        )

    def _support_of(self, terms: Sequence[str]) -> Support:
        """Return the support of a response and terms, each of which meets the response alone."""
        response, *others = analysis.touched(terms, self.design.names)
        return self._support(
            [response | one for one in others] or [response], {*response, *set().union(*others)}
        )

    def _support(self, together: Iterable[set[str]], every: Iterable[str] = ()) -> Support:
        together = list(together)
        names = set(every) or set().union(*together)
        missing = self.design.unmeasured(names)
        if missing:
            return Support(UNMEASURED, missing)
        return Support(MODELLED if any(len(one) > 2 for one in together) else MEASURED)

    def _declared(self, name: str) -> tuple[object, ...]:
        return next((one.keys for one in self.columns if one.name == name and one.edges is None), ())

    # inference -------------------------------------------------------------------------------------------------

    def combine(self, function: Callable[[pd.DataFrame], Any], *columns: str) -> Combined:
        """Analyse every table in the same way, and combine what is found: one estimate, with an interval that holds.

        Parameters
        ----------
        function : callable
            Takes a DataFrame, returns an estimate and its variance: numbers, arrays, or mappings of names to numbers.
        *columns : str
            The columns that it needs, all by default; it is given no others, so that nothing unmeasured is used unnoticed.

        Returns
        -------
        Combined

        Raises
        ------
        Unavailable
            If a pair among the columns was not measured.

        Examples
        --------
        >>> data.combine(lambda f: (f.age.mean(), f.age.var() / len(f)), "age")  # doctest: +SKIP
        """
        named = columns or self.design.names
        if unknown := [name for name in named if name not in self.design.names]:
            raise OptionError(f"{unknown[0]} is not among the columns: {', '.join(self.design.names)}.")
        text = f"combine({', '.join(map(repr, columns))})" if columns else "combine"
        return self._combined(
            text,
            lambda one: function(_frame({name: one[name] for name in named})),
            self._support([set(named)]),
            named,
        )

    def mean(self, column: str) -> Combined:
        """Estimate the mean of a column of numbers; of a binned one, of values spread evenly in the bins."""
        used = analysis.touched([_quoted(column)], self.design.names)
        return self._combined(
            f"mean of {column}",
            lambda one: analysis.mean(analysis.evaluated(_quoted(column), one)),
            self._support(used),
            used[0],
        )

    def share(self, condition: str) -> Combined:
        """Estimate the share of people for whom a condition holds: ``"age >= 65"``, ``"(age >= 65) & (married == 1)"``."""
        used = analysis.touched([condition], self.design.names)
        return self._combined(
            f"share of {condition}",
            lambda one: analysis.mean(analysis.evaluated(condition, one) != 0),
            self._support(used),
            used[0],
        )

    def difference(self, column: str, *, by: str) -> Combined:
        """Estimate the mean of a column where a condition holds less the mean where it does not.

        Parameters
        ----------
        column : str
        by : str
            A column of two values (the second less the first), or a condition.
        """
        levels = self._declared(by)
        if levels and len(levels) != 2:
            raise OptionError(
                f"{by} has {len(levels)} values: give a condition, such as by={f'{by} == {levels[0]!r}'!r}."
            )
        asked = f"{_quoted(by)} == {levels[1]!r}" if levels else by
        used = analysis.touched([_quoted(column), asked], self.design.names)
        return self._combined(
            f"difference of {column} by {by}",
            lambda one: analysis.difference(
                analysis.evaluated(_quoted(column), one), analysis.evaluated(asked, one) != 0
            ),
            self._support([used[0] | used[1]]),
            used[0] | used[1],
        )

    def ols(self, formula: str) -> Combined:
        """Estimate a least-squares regression."""
        return self._regression(formula, analysis.least_squares)

    def logistic(self, formula: str) -> Combined:
        """Estimate a logistic regression of a 0/1 column or a condition."""
        return self._regression(formula, analysis.logistic)

    def _regression(self, formula: str, fit: Callable[..., analysis.Answer]) -> Combined:
        asked = parse(formula, self._declared)
        used = set().union(*analysis.touched(asked.columns, self.design.names))
        names = asked.coefficients

        def named(one: Columns) -> analysis.Answer:
            found, variances = fit(asked, one)
            return dict(zip(names, found, strict=True)), variances

        return self._combined(asked.text, named, self._support_of(asked.columns), used)

    def _combined(
        self, text: str, function: analysis.Analysis, support: Support, used: Iterable[str]
    ) -> Combined:
        if not support:
            listed = ", ".join(" × ".join(one) for one in support.missing)
            raise Unavailable(
                f"{listed} was not measured: the tables hold these columns independent given the rest, and no interval would notice. "
                "Ask synthetic rows with this relation."
            )
        found = [function(self.rows(table)) for table in range(self.count)]
        names, estimates, variances = analysis.entries(found)
        binned = [name for name in self.bins if name in set(used)]
        said = (
            f"values of {', '.join(binned)} are spread evenly in the bins; for the mean of the values themselves ask .{binned[0]}.mean()"
            if binned
            else ""
        )
        said = ". ".join(filter(None, (said, _POOLED if self.pooled else "")))
        return Combined(text, names, estimates, variances, self.level, support.status, said)

    # records ---------------------------------------------------------------------------------------------------

    def record(self) -> Record:
        """Return everything but the rows as plain JSON values: what was measured, with which noise, and what it may be used for."""
        told, noise = (
            self.released,
            dict(
                zip(
                    zip(self.relations["first"], self.relations["second"], strict=True),
                    self.relations["noise"],
                    strict=True,
                )
            ),
        )
        return {
            "format": FORMAT,
            "dataset": self.dataset,
            "text": self.text,
            "columns": [
                {
                    "name": one.name,
                    "keys": [key if isinstance(key, int | str) else _number(key) for key in one.keys],
                    "edges": None if one.edges is None else list(one.edges),
                    "whole": one.whole,
                }
                for one in self.columns
            ],
            "relations": [
                {
                    "first": first,
                    "second": second,
                    "sigma": math.sqrt(told.variances[pair]),
                    "noise": noise[first, second],
                    "counts": told.counts[pair].tolist(),
                }
                for pair, (first, second) in zip(self.design.pairs, self.pairs, strict=True)
            ],
            "size": self.size,
            "private": self.private,
            "tables": self.count,
            "length": self.length,
            "g": self.g,
            "level": self.level,
            "converged": self.converged,
            "pooled": self.pooled,
            "prior": {
                "main": posterior.MAIN_SD,
                "pair": posterior.PAIR_SD,
                "jeffreys": posterior.JEFFREYS,
            },
            "draws": list(told.draws),
            "paid": told.paid,
        }

    @classmethod
    def read(cls, record: Record, tables: Sequence[Mapping[str, Any]]) -> Synthetic:
        """Return the same result again, from its record and the rows of each table by column."""
        return Reopened(record, tables)

    def __repr__(self) -> str:
        if self.pending:
            return f"<pending: synthetic rows of {', '.join(self.design.names)}, {len(self.design.pairs)} two-way tables>"
        if "model" in vars(self) and not self.converged:
            return f"<synthetic rows of {self.dataset}: no model agrees with the {len(self.design.pairs)} measured tables (.counts)>"
        return (
            f"<synthetic rows of {', '.join(self.design.names)}: {self.count} tables of {self.length:,} rows, {len(self.design.pairs)} pairs measured, "
            f"g = {rounded(self.g)}: {_PROMISES[promised(self.g)]}>"
        )


class Reopened(Synthetic):
    """Synthetic rows that were read from files: what is measured stands in the record, and the rows are those of the files."""

    def __init__(self, record: Record, tables: Sequence[Mapping[str, Any]]) -> None:
        if record.get("format") != FORMAT:
            raise PlanError(
                f"These synthetic rows are written in format {record.get('format')!r}; this version reads {FORMAT}."
            )
        if len(tables) != record["tables"]:
            raise PlanError(
                f"The record says {record['tables']} tables, and there are {len(tables)}: inference needs all of them."
            )
        variables = tuple(
            Variable(one["name"], tuple(one["keys"]), one["edges"] and tuple(one["edges"]), one["whole"])
            for one in record["columns"]
        )
        names = [one.name for one in variables]
        pairs = {(names.index(one["first"]), names.index(one["second"])): one for one in record["relations"]}
        size, private = float(record["size"]), bool(record["private"])
        super().__init__(
            Design(variables, tuple(pairs)),
            {},
            text=record["text"],
            dataset=record["dataset"],
            public=None if private else round(size),
            count=record["tables"],
            length=max(record["length"], 10),
        )
        self._rows: list[Columns] = [{name: np.asarray(one[name]) for name in names} for one in tables]
        self.released = Released(
            {pair: np.array(one["counts"], dtype=float) for pair, one in pairs.items()},
            {pair: float(one["sigma"]) ** 2 for pair, one in pairs.items()},
            tuple(record["draws"]),
            record["paid"],
        )
        self._record, self._size = record, size

    @property
    def size(self) -> float:
        """The number of rows of the data, as the record says."""
        return self._size

    @property
    def converged(self) -> bool:
        """Whether a model was found, as the record says."""
        return bool(self._record["converged"])

    @property
    def pooled(self) -> bool:
        """Whether the model stands on a pool of rows, as the record says."""
        return bool(self._record.get("pooled"))

    def rows(self, table: int = 0) -> Columns:
        """Return the columns of one table as arrays."""
        return self._rows[table]

    def margin(self, first: str, second: str) -> Floats:
        """Return the share of each pair of levels, as the models said when the rows were drawn: found again from the tables' counts."""
        return self.model.margin(self.design.names.index(first), self.design.names.index(second))


def _number(key: object) -> object:
    return float(key) if isinstance(key, Fraction) else key if isinstance(key, float) else str(key)


def _quoted(name: str) -> str:
    """Return a name as a term of a formula."""
    return (
        name if not name.replace("_", "").replace(" ", "").isalnum() or name.isidentifier() else f"`{name}`"
    )


def _frame(columns: Columns) -> pd.DataFrame:
    try:
        import pandas as pd
    except ImportError:
        raise OptionError(
            "DataFrames need pandas: pip install pandas. .rows(0) has the columns as arrays, and .mean(), .share(), .ols() do without."
        ) from None
    return pd.DataFrame(columns)

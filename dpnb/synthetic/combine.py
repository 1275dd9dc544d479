r"""One estimate and one interval out of the same analysis of every synthetic table.

With the estimates :math:`q_m` and their variances :math:`u_m` of M tables, :math:`q` is the mean, B the variance of the estimates between tables and U the
mean variance within. A table is a sample of its own from the population that was drawn for it, so B holds U once too often:
:math:`T = (1 + 1/M) B - U`. By chance T can be too small, even negative; it is never taken to be less than U, and the interval is that of t with
:math:`ν = (M-1)(1 - U/((1 + 1/M) B))^2` degrees of freedom, at least 2.

References
----------
Raghunathan, Reiter & Rubin (2003), *Multiple imputation for statistical disclosure limitation*; Reiter (2002).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import stdtrit

from dpnb.errors import OptionError, Unavailable
from dpnb.estimate.table import Table, Tabular
from dpnb.inference.digits import given
from dpnb.inference.elementwise import Floats, Number
from dpnb.inference.interval import Interval

_LEAST_DF = 2.0
FLOORED = "variance floored"


@dataclass(frozen=True, eq=False, repr=False)
class Combined(Tabular):
    """An estimate about the population, combined from all synthetic tables.

    Parameters
    ----------
    text : str
        What was asked of the tables.
    names : tuple of str
        What each entry is called; of one number empty.
    estimates, variances : ndarray, shape (tables, entries)
        The estimate and its variance in each table.
    level : float or None
        How often intervals that say 95 % hold; nothing where no interval is given.
    status : str
        ``"measured"``, or ``"modelled, not measured"`` where three columns are needed at once.
    estimand : str
        What is estimated where it is not what the columns themselves say.
    """

    text: str
    names: tuple[str, ...]
    estimates: Floats
    variances: Floats
    level: float | None
    status: str = "measured"
    estimand: str = ""
    _memo: dict[str, Any] = field(default_factory=dict)

    def _shaped(self, values: Floats) -> Number:
        return values if self.names else float(values[0])

    @property
    def between(self) -> Floats:
        """B of each entry."""
        return np.asarray(self.estimates.var(axis=0, ddof=1))

    @property
    def within(self) -> Floats:
        """U of each entry."""
        return np.asarray(self.variances.mean(axis=0))

    @property
    def value(self) -> Number:
        """The estimate: a float, or one for each name."""
        return self._shaped(self.estimates.mean(axis=0))

    @property
    def _total(self) -> tuple[Floats, Floats]:
        tables = len(self.estimates)
        spread, within = (1 + 1 / tables) * self.between, self.within
        ratio = np.divide(within, spread, out=np.ones_like(within), where=spread > 0)
        df = np.maximum((tables - 1) * np.where(ratio < 1, 1 - ratio, 0) ** 2, _LEAST_DF)
        return np.maximum(spread - within, within), df

    @property
    def standard_error(self) -> Number:
        """The root of T: sampling of the data, noise, and the few tables."""
        return self._shaped(np.sqrt(self._total[0]))

    @property
    def df(self) -> Number:
        """The degrees of freedom of the intervals."""
        return self._shaped(self._total[1])

    @property
    def flags(self) -> tuple[str, ...]:
        """Warnings: whether T came out smaller than U, so that U stands in its place."""
        spread = (1 + 1 / len(self.estimates)) * self.between
        return (FLOORED,) if (spread - self.within < self.within).any() else ()

    def interval(self, level: float = 0.95) -> Interval:
        """Return the interval about the population.

        Raises
        ------
        Unavailable
            Where the tables hold too little for any.
        """
        if self.level is None:
            raise Unavailable(
                "The noise in these tables is too large for an interval to hold: they are for looking alone."
            )
        if not 0 < level < 1:
            raise OptionError(f"A level lies between 0 and 1, such as 0.95; not {level!r}.")
        variance, df = self._total
        half = np.sqrt(variance) * stdtrit(df, (1 + level) / 2)
        middle = self.estimates.mean(axis=0)
        return Interval(
            self._shaped(middle - half), self._shaped(middle + half), level, "confidence", self.note
        )

    @property
    def note(self) -> str:
        """What to know of the intervals."""
        said = [f"combined from {len(self.estimates)} synthetic tables"]
        said += [] if self.status == "measured" else [self.status]
        said += ["intervals that say 95 % hold about 90 % of the time"] if self.level == 0.9 else []
        return "; ".join(said)

    def table(self, level: float = 0.95) -> Table:
        """Return the estimates with their intervals."""
        columns: dict[str, Any] = {"term": self.names or (self.text,)}
        columns["value"] = np.atleast_1d(self.value).tolist()
        columns["standard_error"] = np.atleast_1d(self.standard_error).tolist()
        if self.level is not None:
            low, high = self.interval(level)
            columns["low"], columns["high"] = np.atleast_1d(low).tolist(), np.atleast_1d(high).tolist()
        notes = [self.estimand, f"{given(100 * level)} % intervals: {self.note}"]
        return Table(columns, ("term",), ". ".join(filter(None, notes)))

    def __repr__(self) -> str:
        return repr(self.table())

    def _repr_html_(self) -> str:
        return self.table()._repr_html_()

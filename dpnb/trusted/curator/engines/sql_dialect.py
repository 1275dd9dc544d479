"""How one engine writes the SQL of integer questions: what differs between engines, and nothing else.

Expressions, batches of totals, cross moments, value counts and label sums are written once
(:mod:`~dpnb.trusted.curator.engines.rendering`, :mod:`~dpnb.trusted.curator.engines.crossing`,
:mod:`~dpnb.trusted.curator.engines.sql_engine`), in the words of a :class:`SqlDialect`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class SqlDialect:
    """The words of an engine's SQL. DuckDB's are the defaults.

    **To add an engine**, write four things:

    1. its dialect: an instance of this class with what differs, or a subclass where a template cannot say it;
    2. a subclass of :class:`~dpnb.trusted.curator.engines.sql_engine.SqlEngine` with ``_columns(sql)`` and ``_rows_of(sql)``, which run a
       statement, and ``_one_batch()``, the snapshot that the statements of one batch see;
    3. how a table becomes a prepared copy there (codes with NULL for missing, and ``##rank``): equal to
       :mod:`dpnb.datasets.preparation` bit for bit, and without an error that depends on a row. The sure way is that of
       PostgreSQL: let :func:`~dpnb.trusted.curator.engines.preparing.prepare` read the rows once, and write its codes into the engine;
    4. a subclass of ``EngineContract`` in its tests: random batches over extreme and generated tables, equal to the reference.

    What every engine must be given, whatever its words: integers that wrap nowhere (32 and 64 bits, sums as wide as rows can
    make them), NULL in Kleene's logic, CASE that takes the first true branch. Ranges are known before a statement is written:
    no operation of the algebra overflows or divides by zero in any of these types.

    Parameters
    ----------
    quote : str
        What is put around a name, and doubled inside of one.
    quotient : str
        The operator of whole division of numbers that are not negative; toward zero or down, both are right.
    shifts : bool
        Whether ``>>`` divides a number that is not negative by a power of two: a third faster than a division, which no processor
        does on many numbers at once.
    wide : str
        A type that holds any sum of 64-bit integers; sums are cast to it first where ``widens``.
    widens : bool
        Whether a sum must be told to be wide (DuckDB's and PostgreSQL's are so by themselves).
    counted : str
        How the rows are counted in which a condition, put between the braces, is true; a column of such counts is of 64 bits.
    text : str
        The type of a text of any length, in which wide sums travel.
    barrier : str
        What ends a sub-SELECT, where a planner would else write its columns out wherever they are mentioned: forty conditions
        within conditions would never end.
    alias : str
        What follows a sub-SELECT, where one needs a name.
    by_all : str
        How a SELECT of exactly the cell, the value and a count is grouped and ordered by the first two.
    most_columns : int
        The most columns of one SELECT.
    names : mapping of str to str
        The name of a column inside the engine, where names are cut or folded there.

    Examples
    --------
    >>> SqlDialect(quote="`").column("age"), SqlDialect(quotient="div").divided("x", "3::INTEGER")
    ('`age`', 'x div 3::INTEGER')
    """

    quote: str = '"'
    quotient: str = "//"
    shifts: bool = False
    wide: str = "HUGEINT"
    widens: bool = False
    counted: str = "count(*) FILTER (WHERE {})"
    text: str = "VARCHAR"
    barrier: str = ""
    alias: str = ""
    by_all: str = "GROUP BY ALL ORDER BY ALL"
    most_columns: int = 1 << 20
    names: Mapping[str, str] = field(default_factory=dict)

    def own(self, name: str) -> str:
        """Return a name as an identifier, as it is: one of ours, which begins with ``##``."""
        return self.quote + name.replace(self.quote, 2 * self.quote) + self.quote

    def column(self, name: str) -> str:
        """Return the identifier of a column of the prepared copy."""
        return self.own(self.names.get(name, name))

    def inner(self, sql: str) -> str:
        """Return a SELECT as a relation."""
        return f"({sql}{self.barrier}){self.alias}"

    def typed(self, number: object, kind: str) -> str:
        """Return an integer constant of a type; a negative one comes in parentheses."""
        return f"{number}::{kind}"

    def divided(self, number: str, by: str) -> str:
        """Return a whole quotient of a number that is not negative."""
        return f"{number} {self.quotient} {by}"

    def total(self, sql: str, *, narrow: bool = False) -> str:
        """Return the exact sum of integers; of ``narrow`` ones every sum of some is known to fit 63 bits."""
        return f"sum(CAST({sql} AS {self.wide}))" if self.widens and not narrow else f"sum({sql})"

    def as_text(self, sql: str) -> str:
        """Return a whole number as its digits."""
        return f"CAST({sql} AS {self.text})"


DUCKDB = SqlDialect(shifts=True, counted="CAST(coalesce(count_if({}), 0) AS BIGINT)")
"""A count with a filter gathers the rows first, which takes five times as long as to add up truths."""

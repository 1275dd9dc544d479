r"""What an owner has prepared of each unit's rows before anybody asks: ``[prepare]``, one column of a person's one row per line.

==========  ===========================================================  ========================================
``take``    of the rows of one unit                                      where there is no row, or no known cell
==========  ===========================================================  ========================================
``count``   how many there are                                           missing
``sum``     the sum of the known cells                                   missing
``mean``    their mean                                                   missing
``any``     1 where a known cell is one of ``among``, else 0             missing
``latest``  the cell of the row with the last ``by``; of several such    missing, and where that cell is missing
            rows the largest cell
==========  ===========================================================  ========================================

**Sensitivity.** A line is a function of one unit's rows: no other unit's row takes part in it, neither in a value nor in an order
or a tie. So tables that differ in the rows of one unit become tables that differ in its one row, which is on the grid that the
column declares whatever the rows were: one row per unit, priced as any. The order of rows is no argument: sums and counts of
integers forget it, and *latest* is a largest element. Nothing else of a unit is kept, and rows without a unit are left out.

**Exact.** A cell is first its code on a declared grid. With value (a + b·code)/d, an answer is a ratio of integers, placed on its
grid by floor(t + ½) and held to its ends; each is below 2^62 a row and, over 2^40 rows, below 2^126. No float takes part.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal, get_args

from dpnb.trusted.canonical import Record, is_record
from dpnb.trusted.errors import SchemaError
from dpnb.trusted.schema.column import Column

Take = Literal["count", "sum", "mean", "any", "latest"]
TAKES: Final = get_args(Take)
LARGEST: Final = 2**62
"""How large what one row adds may be, in the units in which it is added."""
_RECORD: Final = {"name": str, "take": str, "source": str, "of": dict, "by": object, "among": list}


@dataclass(frozen=True, slots=True)
class UnitSummary:
    """One line of ``[prepare]``.

    Parameters
    ----------
    name : str
        The column of the schema that it makes.
    take : {"count", "sum", "mean", "any", "latest"}
    source : str
        The table whose rows it takes, by the name in ``[source.NAME]``; empty for the dataset's own.
    of : Column
        The cells that are taken, as each row has them.
    by : Column, optional
        The order of the rows, for *latest*.
    among : tuple of int
        The codes that count, for *any*.
    """

    name: str
    take: Take
    source: str
    of: Column
    by: Column | None = None
    among: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        if self.take not in TAKES or (self.by is None) != (self.take != "latest"):
            raise SchemaError(
                f'{self.name}: a prepared column takes one of {", ".join(TAKES)}; only "latest" needs by="column"'
            )
        if any(column.text is not None for column in self.columns):
            raise SchemaError(f"{self.name}: a text cannot be prepared: declare its values as a category")
        if (self.take == "any") != bool(self.among):
            raise SchemaError(f"{self.name}: any takes the values that count")
        if self.take in ("sum", "mean") and (not self.of.numeric or self.of.calendar is not None):
            raise SchemaError(
                f"{self.name}: {self.of.name} holds no numbers to add: take its latest, or any of its values"
            )

    @property
    def columns(self) -> tuple[Column, ...]:
        """The raw columns that it reads."""
        return (self.of,) if self.by is None else (self.of, self.by)

    def check(self, made: Column) -> None:
        """Refuse what leaves 62 bits, and a *latest* or *any* whose column has other codes than it makes.

        Raises
        ------
        SchemaError
            With the line to write.
        """
        if self.by is not None:
            fits = self.by.size * (self.of.size + 1) <= LARGEST
            same = made.size == self.of.size
        elif self.take == "any":
            fits, same = True, made.size == 2
        else:
            a, b, c, q = self.scale(made)
            fits = max(abs(a), abs(a + b * (self.of.size - 1)), abs(c), q) <= LARGEST
            same = made.numeric and made.calendar is None
        if not same:
            raise SchemaError(f"{self.name}: its column has another grid than what is prepared for it")
        if not fits:
            raise SchemaError(
                f"{self.name}: what one row adds leaves 62 bits on this grid: write a wider step for {self.of.name}, "
                "such as step = 0.01"
            )

    def scale(self, made: Column) -> tuple[int, int, int, int]:
        """Return (a, b, c, q): n rows whose codes add up to S are at :math:`t = (n a + b S - c)/q` of a sum's grid.

        Of a mean it is :math:`t = (n a + b S - n c)/(n q)`, and a count is the sum of ones.
        """
        lower, step = (Fraction(1), Fraction(0)) if self.take == "count" else self.of.grid[:2]
        start, width, _ = made.grid
        whole = math.lcm(lower.denominator, step.denominator, start.denominator, width.denominator)
        a, b, c, q = (int(number * whole) for number in (lower, step, start, width))
        return a, b, c, q

    def to_json(self) -> Record:
        """Describe the line exactly, in JSON's own types."""
        plain = {name: getattr(self, name) for name in self.__slots__}
        by = None if self.by is None else self.by.to_json()
        return plain | {"of": self.of.to_json(), "by": by, "among": list(self.among)}

    @classmethod
    def from_json(cls, record: object) -> UnitSummary:
        """Rebuild a line from :meth:`to_json`; anything unknown, absent or mistyped is refused."""
        if not is_record(record, _RECORD) or not all(type(code) is int for code in record["among"]):
            raise SchemaError(
                "a prepared column's record has texts for name, take and source, and a list of codes"
            )
        of, by, among = Column.from_json(record["of"]), record["by"], record["among"]
        if not all(0 <= code < of.size for code in among) or among != sorted(set(among)):
            raise SchemaError("a prepared column's codes are those of its cells, in order")
        by = None if by is None else Column.from_json(by)
        return cls(record["name"], record["take"], record["source"], of, by, tuple(among))


def refuse_other(lines: tuple[UnitSummary, ...], made: Mapping[str, Column], unit: str, rows: int) -> None:
    """Refuse lines that do not go with a schema: columns they do not make, a unit that is the row, or a raw column in two ways.

    Raises
    ------
    SchemaError
        With the reason.
    """
    if not lines:
        return
    if unit == "row":
        raise SchemaError(
            '[prepare] makes one row from each person\'s rows: write unit = "person" under [dataset], the column that identifies the person'
        )
    own = any(not line.source for line in lines)
    if own and rows != 1:
        raise SchemaError(
            f"[prepare] leaves one row of each {unit}: remove max_rows_per_unit, or write max_rows_per_unit = 1"
        )
    names = [line.name for line in lines]
    if len(set(names)) < len(names) or not set(names) <= set(made) or (own and set(made) - set(names)):
        raise SchemaError(
            "[prepare] must make each column once; if it summarises the dataset's own rows, it must make every column"
        )
    read: dict[tuple[str, str], Column] = {}
    for line in lines:
        line.check(made[line.name])
        if any(read.setdefault((line.source, column.name), column) != column for column in line.columns):
            raise SchemaError(f"{line.name}: a column of cells is declared once")

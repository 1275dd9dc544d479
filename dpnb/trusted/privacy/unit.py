"""The privacy unit: whose data one guarantee hides, and which sizes are therefore public.

Under *change-one* neighbours have the same number of units, which is public; under *add-remove* every size is private.
A declaration that would publish a private size, or hide a public one, is refused when it is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

from dpnb.trusted.canonical import Record
from dpnb.trusted.errors import OwnerError
from dpnb.trusted.records import one_of

Adjacency = Literal["change-one", "add-remove"]


MOST_ROWS = 10**6
"""The most rows that a declaration may let one unit have."""


@dataclass(frozen=True, slots=True)
class PrivacyUnit:
    """Which two datasets must look alike.

    Parameters
    ----------
    adjacency : {"change-one", "add-remove"}
    unit : str
        ``"row"``, or the name of the column that identifies a unit.
    max_rows : int
        Rows that a unit may contribute; 1 when the unit is the row.
    rows : int, optional
        The public number of rows: required for change-one with ``unit = "row"``, refused otherwise.
    units : int, optional
        The public number of units: required for change-one with a unit column, refused otherwise.
    type : {"integer", "text"}, optional
        What identifies a unit (:mod:`dpnb.trusted.schema.cell`): of integers 07 is 7, and what is none is nobody's; texts are
        taken as they are written; where it is left out, a number is that number and any other text is itself.

    Raises
    ------
    OwnerError
        When the sizes declared do not go with the adjacency.
    SchemaError
        When that is another word.

    Examples
    --------
    >>> PrivacyUnit("change-one", rows=4820).by_row
    True
    """

    adjacency: Adjacency
    unit: str = "row"
    max_rows: int = 1
    rows: int | None = None
    units: int | None = None
    type: Literal["integer", "text"] | None = None

    def __post_init__(self) -> None:
        one_of("adjacency", self.adjacency, get_args(Adjacency))
        if not self.unit:
            raise OwnerError('unit must be "row" or the name of a column.')
        if self.type not in (None, "integer", "text") or (self.type and self.by_row):
            raise OwnerError(
                'unit_type is "integer" or "text", and goes with a unit column: unit = "person_id"'
            )
        self._check_sizes()

    def _check_sizes(self) -> None:
        """Refuse a size that is private, the lack of one that is public, and what is no size."""
        sizes = {"max_rows_per_unit": self.max_rows, "rows": self.rows, "units": self.units}
        for word, size in sizes.items():
            if size is not None and not _whole(size):
                raise OwnerError(f"{word} = {size}: write a whole number of at least 1")
        if self.max_rows > MOST_ROWS:
            raise OwnerError(
                f"max_rows_per_unit = {self.max_rows}: write a whole number from 1 to {MOST_ROWS}"
            )
        if self.by_row and (self.max_rows != 1 or self.units is not None):
            raise OwnerError('max_rows_per_unit and units go with a unit column: write unit = "person_id"')
        change_one = self.adjacency == "change-one"
        if self.rows is not None and not self.by_row:
            fix = "write units = … instead" if change_one else "remove it"
            raise OwnerError(f'rows is public with unit = "row" only; with unit = "{self.unit}" {fix}')
        word = "rows" if self.by_row else "units"
        if change_one and sizes[word] is None:
            raise OwnerError(
                f'adjacency = "change-one" with unit = "{self.unit}" makes the number of {word} public: write {word} = …, '
                'or keep it private with adjacency = "add-remove"'
            )
        if not change_one and sizes[word] is not None:
            raise OwnerError(f'{word} is private under "add-remove": remove it, or write "change-one"')

    @property
    def by_row(self) -> bool:
        """Whether the unit is the row."""
        return self.unit == "row"

    def to_json(self) -> Record:
        """Write the unit."""
        return {word: fact for word, fact in asdict(self).items() if word != "type" or fact}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> PrivacyUnit:
        """Read what :meth:`to_json` wrote, strictly.

        Raises
        ------
        OwnerError
            For unknown or missing fields, or sizes that do not go together.
        """
        if set(record) - {"type"} != {"adjacency", "unit", "max_rows", "rows", "units"}:
            raise OwnerError("A privacy unit is written as adjacency, unit, max_rows, rows and units.")
        if not isinstance(record["unit"], str):
            raise OwnerError('unit must be "row" or the name of a column.')
        return cls(**record)


def _whole(size: object) -> bool:
    return isinstance(size, int) and not isinstance(size, bool) and size >= 1

"""The privacy unit: whose data one guarantee hides, and which sizes are therefore public.

Under *change-one* neighbours have the same number of units, which is public; under *add-remove* every size is private.
A declaration that would publish a private size, or hide a public one, is refused when it is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

from dpnb.trusted.errors import OwnerError

Adjacency = Literal["change-one", "add-remove"]


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

    Raises
    ------
    OwnerError
        When the sizes declared do not go with the adjacency.

    Examples
    --------
    >>> PrivacyUnit("change-one", rows=4820).public_rows
    4820
    """

    adjacency: Adjacency
    unit: str = "row"
    max_rows: int = 1
    rows: int | None = None
    units: int | None = None

    def __post_init__(self) -> None:
        if self.adjacency not in ("change-one", "add-remove"):
            raise OwnerError(
                f'adjacency = "{self.adjacency}" is unknown: write "change-one" or "add-remove".'
            )
        if not self.unit:
            raise OwnerError('unit must be "row" or the name of a column.')
        self._check_max_rows()
        self._check_sizes()

    def _check_max_rows(self) -> None:
        if not _whole(self.max_rows) or self.max_rows > 10**6:
            raise OwnerError("max_rows_per_unit must be a whole number from 1 to 1000000.")
        if self.unit == "row" and self.max_rows != 1:
            raise OwnerError(
                'unit = "row" has one row per unit: remove max_rows_per_unit, or name a unit column.'
            )

    def _check_sizes(self) -> None:
        wanted = {("change-one", True): "rows", ("change-one", False): "units"}.get(
            (self.adjacency, self.by_row)
        )
        for name in ("rows", "units"):
            size = getattr(self, name)
            if name == wanted and (size is None or not _whole(size)):
                raise OwnerError(
                    f'adjacency = "change-one" makes the number of {name} public: declare {name} = … (1 or more), '
                    'or write adjacency = "add-remove" to keep it private.'
                )
            if name != wanted and size is not None:
                raise OwnerError(
                    f"{name} = … would publish a size that is private here: remove it.{self._instead()}"
                )

    def _instead(self) -> str:
        return ' (Or write adjacency = "change-one".)' if self.adjacency == "add-remove" else ""

    @property
    def by_row(self) -> bool:
        """Whether the unit is the row."""
        return self.unit == "row"

    @property
    def public_rows(self) -> int | None:
        """The number of rows where it is public (change-one, unit = row), else None."""
        return self.rows

    def to_json(self) -> dict[str, Any]:
        """Write the unit."""
        return asdict(self)

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> PrivacyUnit:
        """Read what :meth:`to_json` wrote, strictly.

        Raises
        ------
        OwnerError
            For unknown or missing fields, or sizes that do not go together.
        """
        if set(record) != {"adjacency", "unit", "max_rows", "rows", "units"}:
            raise OwnerError("A privacy unit is written as adjacency, unit, max_rows, rows and units.")
        if not isinstance(record["unit"], str):
            raise OwnerError('unit must be "row" or the name of a column.')
        return cls(**record)


def _whole(size: object) -> bool:
    return isinstance(size, int) and not isinstance(size, bool) and size >= 1

"""The public description of a dataset and the mode in which it is opened."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field, replace
from enum import StrEnum

from dpnb.trusted.canonical import Record, canonical, is_record
from dpnb.trusted.errors import SchemaError
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.unit import MOST_ROWS, PrivacyUnit
from dpnb.trusted.records import check_dataset_name, nearest, no_repeats, text_of
from dpnb.trusted.schema.column import Column
from dpnb.trusted.schema.unit_summary import UnitSummary, refuse_other

FORMAT = 1
MOST_COLUMNS = 4_096
_TEXTS = ("name", "title", "source_note", "licence", "citation", "description")
_PLAIN = (*_TEXTS, "public", "pool", "bounds")
_RECORD = {
    **dict.fromkeys((*_TEXTS, "mode", "bounds"), str),
    **dict.fromkeys(("unit", "budget"), dict),
    "format": int,
    "columns": list,
    "public": bool,
    "pool": object,
}
"""The fields of a schema's record, beside what is prepared."""
PUBLIC_BOUNDS, SEEN_ON_DATA = "public", "seen on data"
"""How an owner came to the bounds and levels: without the data, or after a look at them, which no guarantee covers."""


class Mode(StrEnum):
    """What an analyst may do beside asking: permissions differ, the path of a question never does."""

    TEACHING = "teaching"
    GUARD_RAIL = "guard-rail"
    ENFORCED = "enforced"


@dataclass(frozen=True, slots=True)
class Schema:
    """The public description of a dataset: all that planning, pricing and cards are allowed to know.

    Examples
    --------
    >>> from dpnb.trusted.privacy.unit import PrivacyUnit
    >>> from dpnb.trusted.privacy.accountant import Budget
    >>> schema = Schema(
    ...     "people",
    ...     "Census sample",
    ...     (Column.integer("age", 0, 100),),
    ...     PrivacyUnit("add-remove"),
    ...     Budget.from_toml({"epsilon": 4}),
    ... )
    >>> schema["age"].describe()
    'integer 0 to 100'
    """

    name: str
    title: str
    columns: tuple[Column, ...]
    unit: PrivacyUnit
    budget: Budget
    mode: Mode = Mode.GUARD_RAIL
    source_note: str = ""
    licence: str = ""
    citation: str = ""
    public: bool = False
    pool: str | None = None
    description: str = ""
    bounds: str = PUBLIC_BOUNDS
    prepared: tuple[UnitSummary, ...] = ()
    _version: str = field(default="", init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.bounds not in {PUBLIC_BOUNDS, SEEN_ON_DATA}:
            raise SchemaError(f'{self.name}: bounds is "{PUBLIC_BOUNDS}" or "{SEEN_ON_DATA}"')
        check_dataset_name(self.name, "name")
        if self.pool is not None:
            check_dataset_name(self.pool, "pool")
        for word in _TEXTS[1:]:
            text_of(getattr(self, word), word)
        if not 1 <= len(self.columns) <= MOST_COLUMNS:
            raise SchemaError(
                f"{self.name} declares {len(self.columns)} columns: declare 1 to {MOST_COLUMNS}"
            )
        no_repeats(self.names, f"{self.name} declares column")
        refuse_other(
            self.prepared,
            {column.name: column for column in self.columns},
            self.unit.unit,
            self.unit.max_rows,
        )
        if self.mode is Mode.TEACHING and not self.public:
            raise SchemaError(
                'mode = "teaching" shows the truth: it needs public = true. For data about people write mode = "guard-rail"'
            )

    @property
    def names(self) -> tuple[str, ...]:
        """The columns' names, in declared order."""
        return tuple(column.name for column in self.columns)

    @property
    def parts(self) -> dict[str, Column]:
        """The columns of the prepared copy, in declared order: a text has several."""
        return {part: column for column in self.columns for part in column.parts}

    @property
    def unit_column(self) -> str | None:
        """The column that names the privacy unit, or None when each row is one."""
        return None if self.unit.unit == "row" else self.unit.unit

    @property
    def sources(self) -> tuple[str, ...]:
        """The names of the tables of which columns are prepared, beside the dataset's own."""
        return tuple(dict.fromkeys(line.source for line in self.prepared if line.source))

    @property
    def prepares_own(self) -> bool:
        """Whether each unit's own rows become one row."""
        return any(not line.source for line in self.prepared)

    def rows_of(self, source: str = "") -> Schema:
        """Return the same schema of a table's rows as they come, before anything is prepared of them."""
        lines = [line for line in self.prepared if line.source == source]
        read = {column.name: column for line in lines for column in line.columns}
        if not source and not lines:
            made = {line.name for line in self.prepared}
            read = {column.name: column for column in self.columns if column.name not in made}
        if not self.prepared:
            return self
        unit = replace(self.unit, max_rows=MOST_ROWS) if lines else self.unit
        return replace(self, columns=tuple(read.values()), unit=unit, prepared=())

    @property
    def version(self) -> str:
        """Sixteen hex digits that change whenever something changes that a price or an answer depends on."""
        if not self._version:
            object.__setattr__(self, "_version", self._digest())
        return self._version

    def _digest(self) -> str:
        facts = {
            "format": FORMAT,
            "columns": sorted(
                (column.pricing() for column in self.columns), key=lambda record: record["name"]
            ),
            "unit": self.unit.to_json(),
            "measure": str(self.budget.measure),
        } | self._preparation()
        return hashlib.sha256(canonical(facts).encode()).hexdigest()[:16]

    def _preparation(self) -> Record:
        return {"prepared": [line.to_json() for line in self.prepared]} if self.prepared else {}

    def __getitem__(self, name: str) -> Column:
        """Return the declared column of that name.

        Raises
        ------
        SchemaError
            When none has it; the message names the nearest.
        """
        for column in self.columns:
            if column.name == name:
                return column
        raise SchemaError(self._no_column(name))

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def _no_column(self, name: object) -> str:
        close = nearest(str(name), self.names)
        shown = name if isinstance(name, str) and name.isidentifier() else repr(name)
        if close is None:
            listed = ", ".join(self.names[:8]) + (", …" if len(self.names) > 8 else "")
            return f"{self.name} has no column {shown}. Its columns: {listed}."
        return f"{self.name} has no column {shown}. Did you mean {close}?"

    def to_json(self) -> Record:
        """Describe the schema exactly, in JSON's own types."""
        return {
            **{word: getattr(self, word) for word in _PLAIN},
            "format": FORMAT,
            "columns": [column.to_json() for column in self.columns],
            "unit": self.unit.to_json(),
            "budget": self.budget.to_json(),
            "mode": self.mode.value,
        } | self._preparation()

    @classmethod
    def from_json(cls, record: object) -> Schema:
        """Rebuild a schema from :meth:`to_json`; anything unknown, absent or mistyped is refused."""
        prepared = {"prepared": list} if isinstance(record, dict) and record.get("prepared") else {}
        if not is_record(record, {**_RECORD, **prepared}):
            raise SchemaError("a schema record has its own fields, each of its type, and no other")
        if record["format"] != FORMAT or record["mode"] not in list(Mode):
            raise SchemaError(f"a schema record has format {FORMAT} and a mode")
        return cls(
            columns=tuple(Column.from_json(column) for column in record["columns"]),
            unit=PrivacyUnit.from_json(record["unit"]),
            budget=Budget.from_json(record["budget"]),
            mode=Mode(record["mode"]),
            prepared=tuple(UnitSummary.from_json(line) for line in record.get("prepared", [])),
            **{word: record[word] for word in _PLAIN},
        )

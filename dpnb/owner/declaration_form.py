"""A declaration as a form: texts in fields, the TOML that they make, and what is wrong with each.

A form is drafted from names and storage types alone, as ``dpnb init`` drafts, or read from a declaration that is there. What its fields
cannot show (a dialect, a citation) is kept as it was written. What is wrong is said by the reader of declarations itself.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from decimal import Decimal
from pathlib import Path
from typing import Any, Self

from dpnb.errors import OwnerError
from dpnb.owner.column_guess import UNDRAFTED
from dpnb.owner.draft import DRAFTED_DELTA, DraftedColumn, named_from, proposed
from dpnb.owner.header_lines import written_as
from dpnb.trusted.canonical import Record
from dpnb.trusted.files.named_file import format_of, stem_of
from dpnb.trusted.schema import Schema
from dpnb.trusted.schema.cell_rules import KEYS
from dpnb.trusted.schema.owner import load

BLANK = "blank"
"""What is wrong with a field that nobody filled in yet."""

_TODO = "TODO"
_NUMBER = re.compile(r"-?\d+(\.\d+)?\Z")
_BARE = re.compile(r"[A-Za-z0-9_-]+\Z")
_DATES = ("date", "datetime")
_NUMBERS = ("integer", "number")
_UNKNOWN = ""
_PERSONS = "row"
_HEAD = "# Written by dpnb.widgets.deposit.\n# Bounds and values are known without the data"


@dataclass(frozen=True, slots=True)
class ColumnFields:
    """One column as its fields stand.

    Parameters
    ----------
    name : str
    type : str
        Empty until it is chosen.
    label, lower, upper, values, missing : str
        As they were typed; values are separated by commas.
    length : str
        Most characters of a text.
    use : str
        ``"yes"``, or ``"no"`` where nobody may ask about it.
    """

    name: str
    type: str = _UNKNOWN
    label: str = ""
    lower: str = ""
    upper: str = ""
    values: str = ""
    missing: str = ""
    use: str = "yes"
    length: str = ""


@dataclass(frozen=True, slots=True)
class DatasetFields:
    """What is said of the whole file.

    Parameters
    ----------
    name, title, source : str
    adjacency : str
        ``"add-remove"`` or ``"change-one"``.
    unit : str
        ``"row"``, or the column that says whose row it is.
    most : str
        The most rows that one person can have.
    size : str
        How many rows (or people) there are, where that is public.
    epsilon : str
        The whole loss that the data may ever pay.
    delta : str
        Empty, or the δ beside it.
    pool : str
        Empty, or the name of the budget that it shares with other files about the same people.
    bounds : str
        Empty, or ``"seen on data"`` where they were chosen after a look at the rows.
    """

    name: str
    title: str
    source: str
    adjacency: str = "add-remove"
    unit: str = ""
    most: str = ""
    size: str = ""
    epsilon: str = "1"
    delta: str = ""
    pool: str = ""
    bounds: str = ""


@dataclass(frozen=True, slots=True)
class DeclarationForm:
    """A declaration in a form.

    Parameters
    ----------
    dataset : DatasetFields
    columns : tuple of ColumnFields
    kept : mapping
        What stood in a declaration and has no field.
    """

    dataset: DatasetFields
    columns: tuple[ColumnFields, ...]
    kept: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def drafted(cls, path: Path, fields: list[tuple[str, str]], skip: Sequence[str] = ()) -> Self:
        """Draft the form of a file from the names and storage types of its columns, and how lines begin that are no rows."""
        found = proposed(fields)
        columns = tuple(map(_guessed, found))
        delta = DRAFTED_DELTA if any(one.type == "text" for one in columns) else ""
        headers = {one.name: {"header": one.header} for one in found if one.header != one.name}
        written = {
            **({"skip": list(skip)} if skip else {}),
            **(written_as(path) if format_of(path) == "csv" else {}),
        }
        kept = {"source": written, "columns": headers}
        return cls(DatasetFields(named_from(path), stem_of(path), path.name, delta=delta), columns, kept)

    @classmethod
    def read(cls, text: str) -> Self:
        """Read the form of a declaration.

        Raises
        ------
        OwnerError
            When it is no TOML, or its budget is one that the form cannot show.
        """
        try:
            found = tomllib.loads(text, parse_float=Decimal)
            facts, budget = found["dataset"], found.get("budget", {})
            if "rho" in budget:
                raise OwnerError("A budget of ρ has no fields here: use dpnb admin in a terminal.")
            kept = {name: facts[name] for name in facts if name not in _SHOWN}
            shown = {ours: _typed(facts[theirs]) for theirs, ours in _SHOWN.items() if theirs in facts}
            dataset = DatasetFields(
                **{"title": shown.get("name", ""), "source": "", **shown, **_losses(budget)}
            )
            columns = tuple(_column_of(name, one) for name, one in found.get("columns", {}).items())
        except (tomllib.TOMLDecodeError, KeyError, TypeError, AttributeError, ValueError):
            raise OwnerError(
                "The declaration beside this file cannot be read: repair it, or move it away."
            ) from None
        more = {"columns": found.get("columns", {}), "source": found.get("source", {})}
        return cls(dataset, columns, {"dataset": kept, **more})

    def changed(self, told: object) -> Self:
        """Return the form with the texts that a hand typed; what is no text of a field of this form is left out."""
        if not isinstance(told, Mapping):
            return self
        columns = {one.get("name"): one for one in _records(told.get("columns"))}
        return replace(
            self,
            dataset=_filled(self.dataset, told.get("dataset"), fixed=("source",)),
            columns=tuple(_filled(one, columns.get(one.name), fixed=("name",)) for one in self.columns),
        )

    def to_json(self) -> Record:
        """Return the fields as the browser takes them."""
        return {"dataset": asdict(self.dataset), "columns": [asdict(one) for one in self.columns]}

    def beside(self, fields: list[tuple[str, str]]) -> Self:
        """Return the form with those columns of the file, too, that its declaration leaves out."""
        kept = self.kept.get("columns", {})
        known = {kept.get(one.name, {}).get("header", one.name) for one in self.columns}
        more = (replace(_guessed(one), use="no") for one in proposed(fields) if one.header not in known)
        return replace(self, columns=(*self.columns, *more))

    @property
    def toml(self) -> str:
        """The declaration as it would be written, with a TODO for what is blank."""
        known = f"{_HEAD}{', but for some that were seen on them' if self.dataset.bounds else ''}.\n"
        sections = [known, *self._dataset_lines(), *self._budget_lines()]
        for one in self._declared():
            sections += ["", f"[columns.{_key(one.name)}]", *self._column_lines(one)]
        return "\n".join(sections) + "\n"

    @property
    def problems(self) -> list[tuple[str, str, str]]:
        """What is wrong, field by field: (column or nothing, field, words)."""
        found = [(one.name, *what) for one in self._declared() for what in self._wrong_in(one)]
        return [("", *what) for what in self._wrong_with_dataset()] + found

    @property
    def schema(self) -> Schema | None:
        """The public schema of the columns that are declared well; None where nothing can be shown yet."""
        bad = {column for column, _, _ in self.problems}
        good = tuple(one for one in self.columns if one.name not in bad)
        if "" in bad or not any(one.use == "yes" for one in good):
            return None
        return load(tomllib.loads(replace(self, columns=good).toml, parse_float=Decimal)).schema

    # ------------------------------------------------------------------ lines

    def _declared(self) -> Iterator[ColumnFields]:
        return (one for one in self.columns if one.use == "yes" and one.name != self.dataset.unit)

    def _dataset_lines(self) -> Iterator[str]:
        one = self.dataset
        by_row = one.unit == _PERSONS
        yield "[dataset]"
        yield from (
            f"{word} = {_quoted(getattr(one, word))}" for word in ("name", "title", "source", "adjacency")
        )
        yield f"unit = {_quoted(one.unit or _TODO)}"
        if not by_row:
            yield f"max_rows_per_unit = {_whole(one.most)}"
        if one.adjacency == "change-one":
            yield f"{'rows' if by_row else 'units'} = {_whole(one.size)}"
        yield from (
            f"{word} = {_quoted(found)}" for word in ("pool", "bounds") if (found := getattr(one, word))
        )
        kept = self.kept.get("dataset", {"mode": "guard-rail"})
        yield from (f"{name} = {_value(value)}" for name, value in kept.items())
        if self.kept.get("source"):
            yield "\n[source]"
            yield from (f"{name} = {_value(value)}" for name, value in self.kept["source"].items())

    def _budget_lines(self) -> Iterator[str]:
        yield "\n[budget]"
        yield f"epsilon = {_quoted(self.dataset.epsilon or _TODO)}"
        if self.dataset.delta:
            yield f"delta = {_quoted(self.dataset.delta)}"

    def _column_lines(self, one: ColumnFields) -> Iterator[str]:
        if one.label:
            yield f"label = {_quoted(one.label)}"
        yield f"type = {_quoted(one.type or _TODO)}"
        if one.type == "category":
            yield f"values = {_levels(one.values)}"
        elif one.type == "text":
            yield f"length = {_whole(one.length)}"
        elif one.type in _DATES:
            yield f"bounds = [{_quoted(one.lower or _TODO)}, {_quoted(one.upper or _TODO)}]"
        else:
            yield from (f"{word} = {_amount(getattr(one, word))}" for word in ("lower", "upper"))
        if one.missing and one.type != "text":
            yield f"missing = {_level(one.missing)}"
        kept = self.kept.get("columns", {}).get(one.name, {})
        for word in ("header", *_UNSHOWN.get(one.type, ("step",)), *KEYS.get(one.type, ())):
            if word in kept:
                yield f"{word} = {_value(kept[word])}"

    # ------------------------------------------------------------------ what is wrong

    def _wrong_in(self, one: ColumnFields) -> list[tuple[str, str]]:
        if blank := [(word, BLANK) for word in _needed(one) if not getattr(one, word).strip()]:
            return blank
        text = "\n".join(self._column_lines(one))
        found = _refusal({**_PLAIN, "columns": {one.name: tomllib.loads(text, parse_float=Decimal)}})
        return (
            [] if found is None else [(_field(found, (*_needed(one), "missing", "label", "bounds")), found)]
        )

    def _wrong_with_dataset(self) -> list[tuple[str, str]]:
        one = self.dataset
        needed = ["unit", "epsilon", "name"]
        needed += ["most"] if one.unit not in ("", _PERSONS) else []
        needed += ["size"] if one.adjacency == "change-one" else []
        if blank := [(word, BLANK) for word in needed if not getattr(one, word).strip()]:
            return blank
        if not one.name.isidentifier():
            return [("name", "A name that can be typed in a notebook: letters, digits and _, no space.")]
        if not any(self._declared()):
            return [("columns", "Leave at least one column in.")]
        text = "\n".join([*self._dataset_lines(), *self._budget_lines()])
        found = _refusal({**tomllib.loads(text, parse_float=Decimal), "columns": _PLAIN["columns"]})
        return [] if found is None else [(_FIELDS[_field(found, tuple(_FIELDS))], found)]


_UNSHOWN: dict[str, tuple[str, ...]] = {
    "category": (),
    "text": ("characters", "case", "trim", "beyond"),
    **dict.fromkeys(_NUMBERS, ("step", "typical")),
}
"""What a column's declaration may hold that the form does not show, where it is not a step."""
_SHOWN = {
    "name": "name",
    "title": "title",
    "source": "source",
    "adjacency": "adjacency",
    "unit": "unit",
    "max_rows_per_unit": "most",
    "rows": "size",
    "units": "size",
    "pool": "pool",
    "bounds": "bounds",
}
_FIELDS = {
    "pool": "pool",
    "epsilon": "epsilon",
    "delta": "delta",
    "max_rows_per_unit": "most",
    "rows =": "size",
    "units": "size",
    "rows": "size",
    "name": "name",
    "adjacency": "adjacency",
    "unit": "unit",
}
_PLAIN: Record = {
    "dataset": {"name": "data", "source": "data.csv", "adjacency": "add-remove"},
    "budget": {"epsilon": 1},
    "columns": {"x": {"type": "integer", "lower": 0, "upper": 1}},
}


def _guessed(one: DraftedColumn) -> ColumnFields:
    seems = one.seems
    kinds = {"boolean": "category", "unknown": _UNKNOWN, **dict.fromkeys(UNDRAFTED, _UNKNOWN)}
    kind = kinds.get(seems.kind, seems.kind)
    lower, upper = ("" if bound is None else str(bound) for bound in (seems.lower, seems.upper))
    values = "false, true" if seems.kind == "boolean" and seems.stored else ""
    use = "no" if seems.kind in UNDRAFTED else "yes"
    return ColumnFields(
        one.name, kind, one.label, lower, upper, values, use=use, length="32" if kind == "text" else ""
    )


def _column_of(name: str, facts: Mapping[str, Any]) -> ColumnFields:
    lower, upper = facts.get("bounds", (facts.get("lower", ""), facts.get("upper", "")))
    values = ", ".join(map(_typed, facts.get("values", ())))
    texts = (facts.get("label", ""), lower, upper, values, facts.get("missing", ""))
    found = ColumnFields(name, facts.get("type", _UNKNOWN), *map(_typed, texts))
    return replace(found, length=_typed(facts.get("length", "")))


def _losses(budget: Mapping[str, object]) -> dict[str, str]:
    return {word: _typed(budget[word]) for word in ("epsilon", "delta") if word in budget}


def _typed(value: object) -> str:
    """Return a value of a declaration as somebody would have typed it; what was TODO is blank."""
    text = json.dumps(value) if isinstance(value, bool) else str(value)
    return "" if text.startswith(_TODO) else text


def _records(told: object) -> list[Mapping[str, Any]]:
    return [one for one in told if isinstance(one, Mapping)] if isinstance(told, list) else []


def _filled(one: Any, told: object, fixed: tuple[str, ...]) -> Any:
    """Return fields with the texts that were typed in them; a line break is none that a field can hold."""
    if not isinstance(told, Mapping):
        return one
    texts = {
        name: " ".join(told[name].split()) if name != "values" else told[name].strip()
        for name in asdict(one)
        if name not in fixed and isinstance(told.get(name), str) and len(told[name]) <= 10_000
    }
    return replace(one, **texts)


def _needed(one: ColumnFields) -> tuple[str, ...]:
    if not one.type:
        return ("type",)
    return {"category": ("values",), "text": ("length",)}.get(one.type, ("lower", "upper"))


def _refusal(content: Mapping[str, object]) -> str | None:
    """Return what the reader of declarations says of a content, without where; None where it takes it."""
    try:
        load(content)
    except OwnerError as refused:
        return re.sub(r"^the schema, \[[^\]]*\](\]|): ", "", str(refused))
    return None


def _field(words: str, names: tuple[str, ...]) -> str:
    """Return the field that a refusal speaks of: the one that it names first."""
    places = {name: words.find(name) for name in names if name in words}
    first = min(places, key=lambda name: (places[name], -len(name)), default=names[0])
    return {"bounds": "lower"}.get(first, first)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _key(name: str) -> str:
    return name if _BARE.match(name) else _quoted(name)


def _amount(text: str) -> str:
    return text if _NUMBER.match(text) and not re.match(r"-?0\d", text) else _quoted(text or _TODO)


def _whole(text: str) -> str:
    plain = text.replace(",", "").replace(" ", "")
    return (
        plain
        if plain.isascii() and plain.isdecimal() and (plain == "0" or plain[0] != "0")
        else _quoted(text or _TODO)
    )


def _levels(text: str) -> str:
    listed = [part.strip() for part in text.split(",") if part.strip()]
    return f"[{', '.join(map(_level, listed))}]" if listed else f'["{_TODO}"]'


def _level(text: str) -> str:
    """Return a value as TOML: a number and a truth as such, in quotes what was typed in quotes and all else."""
    if text in ("true", "false"):
        return text
    quoted = len(text) > 1 and text[0] == text[-1] and text[0] in "\"'"
    return _quoted(text[1:-1]) if quoted else _amount(text)


def _value(value: object) -> str:
    if isinstance(value, str):
        return _quoted(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, bool | int | list) else str(value)

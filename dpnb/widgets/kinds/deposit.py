"""An owner's deposit in four steps: declare a file, choose a budget, pick what is published, open or close.

It is drawn from names and storage types, from what the owner types, and from the ledger's totals. No row is read here: projected accuracy
is a function of the declaration. A step writes its own file beside the data, and ends in a cell with one command of ``dpnb admin``: nothing
is spent or closed until that cell runs.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import ClassVar, Final, Self

from dpnb.cards.attach import dummy_table
from dpnb.cards.card import Card
from dpnb.cards.markup import clean
from dpnb.errors import DpnbError, OptionError
from dpnb.owner import deposit as acts
from dpnb.owner.declaration_form import BLANK, DeclarationForm
from dpnb.owner.deposit import DepositFiles
from dpnb.planner.schema_words import unit_sentence
from dpnb.trusted.schema import Schema
from dpnb.widgets._base import Interaction
from dpnb.widgets.accuracy import published_losses
from dpnb.widgets.arithmetic import line_weights
from dpnb.widgets.host_questions import Dispatcher
from dpnb.widgets.projection import Catalogue, kind_of_budget
from dpnb.widgets.registry import Facts, Names, is_number
from dpnb.widgets.still_picture import Bar, bars, still

_ROWS = 1000
_MOST_ROWS = 10**9
_BUDGET, _PRE_RELEASE, _END = 1, 2, 3
_CHANCE = 0.05


class Deposit(Interaction):
    """The four steps of depositing a file.

    Parameters
    ----------
    data : path
        A CSV, Parquet or DuckDB file. Only names and storage types are read, and no row.

    Examples
    --------
    >>> dpnb.widgets.deposit("people.csv")  # doctest: +SKIP
    """

    module: ClassVar[str] = "deposit"
    example: ClassVar[str] = '"people.csv"'
    follows: ClassVar[bool] = True

    @classmethod
    def of_line(cls, names: Names, text: str) -> Self:
        """Begin with the file that follows, with or without quotes; see :class:`Interaction`."""
        del names
        if not text:
            raise OptionError("%dp deposit needs a file: %dp deposit people.csv")
        return cls(text.strip("\"'"))

    def __init__(self, data: str | Path) -> None:
        if not isinstance(data, str | Path):
            raise OptionError('A deposit takes a file of rows: dpnb.widgets.deposit("people.csv").')
        self._files = DepositFiles(Path(data).expanduser())
        self._first = self._files.begin()
        self._catalogue = Catalogue()
        steps = {
            "loosen": self._loosen,
            "release": self._release,
            "cap": self._cap,
            "close": self._close,
            "publish": self._publish,
        }
        self._answers = Dispatcher(
            {"declare": lambda _: {"said": self._files.declare(self._form)}}
            | {name: partial(_cell, step) for name, step in steps.items()}
        )
        super().__init__()

    # ------------------------------------------------------------------ what is drawn

    @property
    def _form(self) -> DeclarationForm:
        return self._first.changed(self.chosen.get("form"))

    def describe(self) -> Facts:
        """State the form and what it would cost; see :class:`Interaction`."""
        form, step = self._form, int(self.held("step", 0, 0, _END))
        schema = form.schema
        whole = schema is not None and not form.problems
        return {
            "file": self._files.data.name,
            "declaration": self._files.declaration.name,
            "declared": self._files.declares(form),
            "form": form.to_json(),
            "toml": form.toml,
            "problems": [
                {
                    "column": column,
                    "field": field,
                    "blank": words == BLANK,
                    "words": "" if words == BLANK else clean(words),
                }
                for column, field, words in form.problems
            ],
            "rows": [] if schema is None else dummy_table(schema),
            "budget": self._budget(schema if whole else None),
            "catalogue": self._entries(schema)
            if whole and schema is not None and step >= _PRE_RELEASE
            else [],
            "planned": self._planned(schema) if schema is not None else _ROWS,
            "public_size": schema is not None and _public_size(schema) is not None,
            "standing": self._standing(form.dataset.name, schema) if step >= _BUDGET else None,
            "texts": TEXTS,
            "released": self._files.statistics.exists(),
            "problem": "",
        }

    def complete(self) -> None:
        """Price the catalogue for a page without a kernel; see :class:`Interaction`."""
        schema = self._form.schema
        if schema is not None and not self._form.problems:
            self.facts = {**self.facts, "catalogue": self._entries(schema)}

    def _budget(self, schema: Schema | None) -> Facts:
        kind = "epsilon" if schema is None else kind_of_budget(schema)
        return {
            "kind": kind,
            "symbol": "ε" if kind == "epsilon" else "ρ",
            "cap": 0.0 if schema is None else float(schema.budget.cap.amount),
            "label": "" if schema is None else schema.budget.label,
            "unit": "" if schema is None else unit_sentence(schema.unit),
            "people": 1000,
            "chance": _CHANCE,
            "register": published_losses(),
        }

    def _entries(self, schema: Schema) -> list[Facts]:
        return self._catalogue.entries(schema, self._planned(schema), self._typed())

    def _planned(self, schema: Schema) -> int:
        """The number of rows to plan with: as declared, else as the owner says."""
        return _public_size(schema) or int(self.held("rows", _ROWS, 1, _MOST_ROWS))

    def _typed(self) -> dict[str, str]:
        told = self.chosen.get("typed")
        texts = (
            [one for one in told if isinstance(one, str) and one.strip()] if isinstance(told, list) else []
        )
        return {f"mine_{place}": text.strip() for place, text in enumerate(texts[:50], start=1)}

    def _standing(self, name: str, schema: Schema | None) -> Facts | None:
        try:
            return acts.standing_of(name, schema)
        except DpnbError as refused:
            nothing: Facts = {"spent": 0.0, "cap": 0.0, "promised": [], "looser": []}
            return {"state": "frozen", "words": clean(str(refused)), **nothing}

    # ------------------------------------------------------------------ what is written, and the cell that acts

    def answer(self, asked: object) -> Facts:
        """Do a step of the owner: return what was written, or the cell to run; see :class:`Interaction`."""
        answer = self._answers(asked)
        self.refresh()
        return answer

    def _release(self) -> str:
        form = self._form
        self._files.declare(form)
        schema = form.schema
        assert schema is not None  # a declaration that was written has one
        lines, loss = self.picked(schema)
        self._files.pick(lines, {kind_of_budget(schema): loss})
        return self._files.release()

    def picked(self, schema: Schema) -> tuple[dict[str, str], str]:
        """Return the statistics that were picked, as they are typed with their weights, and the loss that they share."""
        texts = {one["name"]: one["text"] for one in self._entries(schema) if not one["problem"]}
        told, shares = self.chosen.get("picks"), self.chosen.get("shares")
        names = [name for name in told if name in texts] if isinstance(told, list) else []
        cap = float(schema.budget.cap.amount)
        total = self.held("loss", cap, 0.0, cap)
        given = shares if isinstance(shares, list) and isinstance(told, list) else []
        equal = len(given) != len(told or []) or not all(is_number(one) and one > 0 for one in given)
        parts = [1.0 if equal else float(given[told.index(name)]) for name in names]  # type: ignore[union-attr]
        losses = [total * part / sum(parts) for part in parts]
        weights = line_weights(losses, [None] * len(losses), total) if losses else []
        same = len(set(weights)) < 2
        lines = {
            name: texts[name] if same else f"{texts[name]}.weight({weight:g})"
            for name, weight in zip(names, weights, strict=True)
        }
        return lines, f"{total:.3g}"

    def _cap(self) -> str:
        form = self._form
        schema = form.schema
        if schema is None:
            raise OptionError("Declare the file first.")
        cap = self.held("cap", float(schema.budget.cap.amount), 0.0, float(schema.budget.cap.amount))
        return acts.cap(form.dataset.name, {kind_of_budget(schema): f"{cap:.3g}"}, self._reason())

    def _loosen(self) -> str:
        self._files.declare(self._form)
        return self._files.loosen(self._reason())

    def _close(self) -> str:
        return acts.close(self._form.dataset.name, self._reason())

    def _publish(self) -> str:
        return self._files.publish(self._reason())

    def _reason(self) -> str:
        reason = self.chosen.get("reason")
        return reason if isinstance(reason, str) else ""

    # ------------------------------------------------------------------ the form that stands still

    def card(self) -> Card:
        """Draw the declared columns, one row each; see :class:`Interaction`."""
        form = self._form
        blank = {(column, field) for column, field, _ in form.problems}
        rows = []
        for one in form.columns:
            fields = [asdict(one)[word] for word in ("lower", "upper", "values") if asdict(one)[word]]
            left = [word for word in ("type", "lower", "upper", "values") if (one.name, word) in blank]
            use = "left out" if one.use == "no" else ", ".join(fields) or "–"
            rows.append((one.name, one.type or "?", use, ", ".join(left) or "–"))
        head = ("column", "type", "bounds or values", "still blank or wrong")
        notes = [
            "Drafted from names and types; no row was read.",
            f"Budget: ε {form.dataset.epsilon} for everything ever released.",
        ]
        return still(
            "deposit",
            f"Deposit {self._files.data.name}",
            form.dataset.name,
            head,
            rows,
            self.facts,
            notes=notes,
            picture=bars("declared so far", self._declared(blank)),
        )

    def _declared(self, blank: Collection[tuple[str, str]]) -> list[Bar]:
        """How many columns are declared whole, of those that can be asked about."""
        used = [one.name for one in self._form.columns if one.use != "no"]
        done = [name for name in used if not any(column == name for column, _ in blank)]
        share = len(done) / len(used) if used else 0.0
        return [("columns declared", share, f"{len(done)} of {len(used)}")]


def _public_size(schema: Schema) -> int | None:
    return schema.unit.rows or schema.unit.units


def _cell(step: Callable[[], str], _asked: Names) -> Facts:
    """The cell that a step ends in."""
    return {"cell": f"{_loaded()}{step()}"}


def _loaded() -> str:
    """Return the line that a cell needs first, where the notebook does not know ``%dp`` yet."""
    from dpnb.estimate import current_host

    return "" if current_host().names() is not None else "%load_ext dpnb\n"


TEXTS: Final[Names] = {
    "bounds": "Write what is known without this file: a law, a codebook, common sense. Never the largest value that you see in it: it is "
    "somebody’s. What is beyond counts as the bound.",
    "most": "Further rows are left out; all noise grows with this number.",
    "pool": "Files about the same people share one budget: give all of them the same word here. Blank: a budget of its own.",
    "seen": "Some bounds were chosen after a look at the rows",
    "rows": "They appear with “Who is protected” and one column.",
    "fit": "They fit this declaration and say nothing about the data.",
    "all": "One budget for the whole file, not one for each column or question: everything that is ever released is paid from it. It can "
    "be made smaller later; to make it larger you must record a reason.",
    "delta": "δ is the probability that the promise of ε fails. It allows Gaussian noise, which is smaller for many questions; keep it far "
    "below one over the number of people. If in doubt, choose none.",
    "sample": [
        "Who was drawn stays secret, also from those who were drawn.",
        "It counts once: ten questions of ε 1 from one sample of 1 % are worth 5.40, not 0.17.",
        "It does not apply to clusters, quotas or chain referral, nor to a budget in ρ.",
    ],
    "looser": "This is looser than what was promised. It must be recorded with a reason:",
    "near": "How accurate an answer will be follows from the declaration alone: no row is read.",
    "planned": "Drawn for means in the middle half of their range, equal groups, and values spread evenly over what is declared.",
    "again": "Already released. A new release replaces it in the publication.",
    "page": "A folder with a self-contained page, signed numbers that anybody can verify, a table, a dictionary. What is published is free "
    "for every analyst from then on. If the page should say that the dataset is closed, close it first. Publishing spends nothing.",
}

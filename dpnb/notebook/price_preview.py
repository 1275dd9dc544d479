"""What a cell would cost, read from its text: the cell is never run, and nothing is spent.

The questions are built with the real handles, which hold no data, by a reader of a small part of Python
(:mod:`dpnb.notebook.interpreter`). Whatever else stands in the cell makes it *unread*: no guess is given. What may never change: where a price is given, it is the price that running the cell would plan.

The snapshot of handles is taken on the main thread after each cell; reading it is safe in any thread. Where somebody can say at
once what of it is stored, that is told beside the price; the price itself does not depend on it.
"""

from __future__ import annotations

import ast
import contextvars
import gc
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeAlias, TypeGuard

from dpnb.cards.markup import clean
from dpnb.client.columns import ColumnHandle
from dpnb.client.handles import Dataset
from dpnb.client.matrix_plan import planned_readings
from dpnb.client.priced_batch import AskedBatch, batch_of
from dpnb.client.session import Glance
from dpnb.client.sizes import sized
from dpnb.errors import DpnbError
from dpnb.estimate import Estimate, Rehearsal
from dpnb.notebook.find_estimates import asked, labels_of, named, weigh
from dpnb.notebook.interpreter import CALLABLE, Handle, Unread, read
from dpnb.notebook.options import CellOptions, filled, parse
from dpnb.trusted.canonical import Record

_STUDIES = 12
"""So many releases of a regression are simulated while it is typed: a tenth of a second."""
_MOST_TOLD = 12
"""Of so many questions the accuracy is told while a cell is typed: each takes a few milliseconds."""
_WORD = re.compile(r"[^\W\d]\w*")
_PARAMETER = re.compile(r"(?:\{\{\s*|(?<!:)[:$])([^\W\d]\w*)")
_AFTER_NAME = re.compile(r"\W")
Plain: TypeAlias = int | float | str | Fraction | Decimal
_LONGEST = 200
"""A longer text is no option of a magic line."""


def is_plain(value: object) -> TypeGuard[Plain]:
    """Whether a value is a number or a short text whose every operation is Python's own."""
    return type(value) in {int, float, bool, Fraction, Decimal} or (
        type(value) is str and len(value) <= _LONGEST
    )


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a reader may know of a kernel.

    Parameters
    ----------
    handles : mapping of str to Dataset or ColumnHandle
        The names of protected handles.
    shadowed : frozenset of str
        Names that the user has bound to anything else.
    epsilon : str
        The configured default loss of a cell; empty where there is none.
    answers : tuple of str
        The names under which the notebook holds estimates: a weight may name one of these.
    plain : mapping of str to number or str
        The names of plain numbers and short texts, which the magic line may use.
    """

    handles: Mapping[str, Handle]
    shadowed: frozenset[str] = frozenset()
    epsilon: str = ""
    answers: tuple[str, ...] = ()
    plain: Mapping[str, Plain] = field(default_factory=dict)

    @classmethod
    def of(cls, names: Mapping[str, object], epsilon: str = "") -> Snapshot:
        """Take a snapshot of the user's names. On the main thread, between cells."""
        handles = {name: value for name, value in names.items() if isinstance(value, Dataset | ColumnHandle)}
        answers = tuple(name for name, _ in named(names))
        plain = {name: value for name, value in names.items() if is_plain(value)}
        return cls(handles, frozenset(CALLABLE) & names.keys(), epsilon, answers, plain)

    def same(self, other: Snapshot, used: frozenset[str] = frozenset()) -> bool:
        """Whether every cell has the same price in both: the very handles, under the same names, and equal plain values of those used."""
        return (
            self.handles.keys() == other.handles.keys()
            and all(self.handles[name] is other.handles[name] for name in self.handles)
            and (self.shadowed, self.epsilon, self.answers) == (other.shadowed, other.epsilon, other.answers)
            and all(
                repr(self.plain.get(name)) == repr(other.plain.get(name)) for name in used
            )  # 1 is not 1.0
        )

    def value_of(self, expression: str) -> object:
        """Return the value of ``{expression}`` on the magic line."""
        parsed = ast.parse(expression, mode="eval")
        return read(ast.Module([ast.Expr(parsed.body)], []), self.plain, self.shadowed)[1]


@dataclass(frozen=True, slots=True)
class CellPrice:
    """What a cell would cost.

    Attributes
    ----------
    status : str
        ``"priced"``; ``"nothing"``: it asks nothing; ``"error"``: running it would stop with `message`, before any
        charge; ``"unread"``: only its plan can tell.
    label : str
        The loss, as ``"ε 0.5"``.
    message : str
        The error, or what could not be read.
    questions : tuple of (str, str, str)
        Label, question and loss of each.
    accuracy : tuple of str
        Of each what accuracy it would have, as far as public facts and released sizes tell.
    glance : Glance or None
        What of it is stored already, where that could be told at once.
    """

    status: str
    label: str = ""
    message: str = ""
    questions: tuple[tuple[str, str, str], ...] = ()
    glance: Glance | None = None
    accuracy: tuple[str, ...] = ()

    def to_json(self) -> Record:
        """The record that the front end is told."""
        asked = [{"label": label, "question": text, "loss": loss} for label, text, loss in self.questions]
        for one, words in zip(asked, self.accuracy, strict=False):
            one["accuracy"] = clean(words)
        found: Record = {
            "status": self.status,
            "label": self.label,
            "message": self.message,
            "questions": asked,
        }
        if self.glance is not None:
            found |= {
                "stored": self.glance.stored,
                "asked": self.glance.asked,
                "new": str(self.glance.cost),
                "left": "" if self.glance.cost.fits_in(self.glance.left) else str(self.glance.left),
                "after": self._after(self.glance),
            }
        return found

    @staticmethod
    def _after(glance: Glance) -> str:
        """What would be left."""
        return (glance.left - glance.cost).brief("down") if glance.cost.fits_in(glance.left) else ""


def nothing_known(_: AskedBatch) -> None:
    """Know of nothing that is stored."""


def price_of(
    cell: str, snapshot: Snapshot, glance: Callable[[AskedBatch], Glance | None] = nothing_known
) -> CellPrice:
    """Return what a ``%%dp`` cell would cost if nothing of it is stored, without running it.

    Parameters
    ----------
    cell : str
        The whole cell, magic line first.
    snapshot : Snapshot
        The handles it may name.
    glance : callable
        Says what of a batch is stored, or None where that would take time.
    """
    return contextvars.Context().run(_price_of, cell, snapshot, glance)


def _price_of(cell: str, snapshot: Snapshot, glance: Callable[[AskedBatch], Glance | None]) -> CellPrice:
    try:
        options, body = _parted(cell, snapshot)
        return _priced(options, body, snapshot, glance)
    except Unread as unread:
        return CellPrice("unread", message=str(unread))
    except SyntaxError:
        return CellPrice("unread", message="not Python yet")
    except (RecursionError, MemoryError):
        return CellPrice("unread", message="nested too deeply")
    except DpnbError as error:
        return CellPrice("error", message=error.message)


def variables(cell: str) -> frozenset[str]:
    """Return the words of a magic line that may be variables in ``{}`` or after ``$``, and in SQL those after ``:`` too."""
    head, _, body = cell.lstrip().partition("\n")
    found = _WORD.findall(head) if re.search(r"[{$]", head) else []
    return frozenset([*found, *(_PARAMETER.findall(body) if re.search(r"\ssql(\s|$)", head) else ())])


def _parted(cell: str, snapshot: Snapshot) -> tuple[CellOptions, str]:
    head, _, body = cell.lstrip().partition("\n")
    magic, _, line = head.partition(" ")
    if magic != "%%dp":
        raise Unread("not a %%dp cell")
    options = parse(filled(line, snapshot.value_of))
    if options.verb == "help":
        raise Unread("a request for help")
    size = dict(options.values).get("assume_n", "")
    if size and not size.isdigit():
        raise Unread(f"assume_n={size}")
    return options, body


def _priced(
    options: CellOptions,
    body: str,
    snapshot: Snapshot,
    glance: Callable[[AskedBatch], Glance | None],
) -> CellPrice:
    with Rehearsal() as batch:
        names, last = _built(options, body, snapshot)
    gc.collect(1)
    leaves = batch.pending_leaves()
    if not leaves:
        return CellPrice("nothing")
    pairs = named(names)
    leaves = weigh(options, _weighable(options, dict(pairs), names, snapshot), leaves)
    if not leaves:
        return CellPrice("nothing")
    found = batch_of(leaves, asked(options, leaves, epsilon=snapshot.epsilon, names={}))
    labels = labels_of(leaves, pairs)
    del last  # held until here: a cell's last value is shown, and what it holds is asked
    rows = zip(found.firsts, found.priced.items, strict=True)
    questions = tuple((labels[one], item.text, str(item.loss)) for one, item in rows)
    planned = found.priced.refined(frozenset())
    sizes = found.dataset.session.sizes(found.dataset)
    told = [item.preview.words for item in sized(planned, sizes).items[:_MOST_TOLD]]
    fits = planned_readings(
        pairs, found.firsts, [item.share for item in planned.items], sizes.rows_of, _STUDIES
    )
    for place, _, plan in fits:
        if place < len(told):
            told[place] = plan.brief
    return CellPrice(
        "priced",
        str(planned.loss),
        questions=questions,
        glance=glance(found),
        accuracy=tuple(told),
    )


def _built(options: CellOptions, body: str, snapshot: Snapshot) -> tuple[dict[str, Any], Any]:
    """What a body binds, and what it shows."""
    if not options.sql:
        return read(ast.parse(body), snapshot.handles, snapshot.shadowed)
    from dpnb.notebook.sql_cell import answers

    if unknown := [name for name in _PARAMETER.findall(body) if name not in snapshot.plain]:
        raise Unread(f"the value of {unknown[0]}")
    found = answers(body, 1, snapshot.handles, snapshot.plain)
    return found.labelled, found.last


def _weighable(
    options: CellOptions, pairs: dict[str, Estimate], names: Mapping[str, object], snapshot: Snapshot
) -> dict[str, Any]:
    """What a weight may name: answers of this cell. One of an earlier cell's is named as well, and only running can tell more."""
    earlier = [name for name in snapshot.answers if _AFTER_NAME.split(name, maxsplit=1)[0] not in names]
    if any(name in earlier and name not in pairs for name, _ in options.weights):
        raise Unread("a weight of an earlier answer")
    return {**pairs, **dict.fromkeys(earlier)}

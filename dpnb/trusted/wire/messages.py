"""The vocabulary of the wire: every request a kernel can make and every reply a curator can give.

A request names what is asked in public terms; there is no field for code, for a seed, or for a path to write to.
A reply carries noised integers, public constants and ledger figures; there is no field for anything else.
Tags are permanent: a tag is never given to another message (``tests/golden/wire.json``).

``Raw`` fields hold JSON that a lower room reads with its own strict reader (plans, releases, schemas, losses);
they pass through untouched, so that integers beyond 64 bits survive.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Raw

PROTOCOL = 1
MOST_WORDED = 200
"""So many entries of a ledger are worded at a time."""

Name = Annotated[str, Meta(min_length=1, max_length=200)]
Text = Annotated[str, Meta(max_length=4096)]
Document = Annotated[str, Meta(max_length=262_144)]
Hex = Annotated[str, Meta(pattern="^[0-9a-f]{16,64}\\Z")]
Handle = Annotated[str, Meta(pattern="^[0-9a-f]{16,64}\\Z")]


class Message(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="is", kw_only=True):
    """Base of all messages: frozen, tagged, and closed to unknown fields."""


# Where an attach finds the rows --------------------------------------------------------------------------------


class StudySource(Message, tag="study", frozen=True):
    """A built-in public study, by name."""

    name: Name


class FileSource(Message, tag="file", frozen=True):
    """An owner's file, and the schema as a path or exactly (neither: ``<name>.dpnb.toml`` beside it).

    With an exact schema comes how the rows of a CSV file are written, where that is not the strict default.
    """

    path: Text
    schema_path: Text | None = None
    schema: Raw = Raw(b"null")
    dialect: Raw = Raw(b"null")


class HandOver(Message, tag="hand-over", frozen=True):
    """Rows that a kernel already had, in a 0600 file of plain arrays inside the home's hand-over folder."""

    file: Annotated[str, Meta(pattern="^[0-9a-f]{32}\\.npz\\Z")]
    schema: Raw


class Again(Message, tag="again", frozen=True):
    """A handle opened before, by its prepared copy, for a curator that was restarted since."""

    handle: Handle


Source = StudySource | FileSource | HandOver | Again

# Requests ------------------------------------------------------------------------------------------------------


class Hello(Message, tag="hello", frozen=True):
    """Who answers, and in which protocol."""


class Attach(Message, tag="attach", frozen=True):
    """Open a dataset: pin its terms at the first attach, prepare a copy, return a handle and the public schema."""

    source: Source
    mode: Annotated[str, Meta(max_length=20)] | None = None


class Open(Message, tag="open", frozen=True):
    """Open a dataset that a service holds, by the name that its owner gave it. No message of a service brings data or terms."""

    name: Name


class Describe(Message, tag="describe", frozen=True):
    """The public schema and the current budget."""

    handle: Handle


class Peek(Message, tag="peek", frozen=True):
    """Which questions of a plan are stored, and what the plan would cost now. Spends nothing."""

    handle: Handle
    plan: Raw


class Submit(Message, tag="submit", frozen=True):
    """Release a batch: charge, answer, store, send. ``digest`` binds ``request`` to ``plan``."""

    handle: Handle
    request: Hex
    digest: Hex
    plan: Raw


class Cancel(Message, tag="cancel", frozen=True):
    """Stop a submitted request if it has not been charged."""

    request: Hex


class Statement(Message, tag="statement", frozen=True):
    """The ledger rows of one dataset, or of all that are attached, as this principal may see them.

    ``after`` leaves out what was told before: the entries up to it. With ``entries`` these alone are told, and each charge says in
    words what was measured: that takes its time, so a long ledger is worded page by page.
    """

    handle: Handle | None = None
    after: Annotated[int, Meta(ge=0, le=2**62)] = 0
    entries: Annotated[tuple[Annotated[int, Meta(ge=0, le=2**62)], ...], Meta(max_length=MOST_WORDED)] = ()


class Receipt(Message, tag="receipt", frozen=True):
    """The signed receipt of a charge, by its entry, with the answers that were stored under it."""

    handle: Handle
    entry: Annotated[int, Meta(ge=1, le=2**62)]


class Cap(Message, tag="cap", frozen=True):
    """Set this principal's own cap below the dataset's budget."""

    handle: Handle
    epsilon: Text | None = None
    rho: Text | None = None


class Reset(Message, tag="reset", frozen=True):
    """Open a new budget period of a TEACHING dataset (an event in the ledger, never a deletion)."""

    handle: Handle


class Detach(Message, tag="detach", frozen=True):
    """Close a handle; with ``remove`` also delete the prepared copy."""

    handle: Handle
    remove: bool = False


Request = Hello | Attach | Describe | Peek | Submit | Cancel | Statement | Receipt | Cap | Reset | Detach
ServiceRequest = Hello | Open | Describe | Peek | Submit | Cancel | Statement | Receipt | Cap | Detach
"""What a service reads: it cannot decode a message that names a file, a schema or a budget."""

# Replies -------------------------------------------------------------------------------------------------------


class Welcome(Message, tag="welcome", frozen=True):
    """The curator's protocol and process id."""

    protocol: int
    pid: int


class BudgetState(Message, tag="budget-state", frozen=True):
    """What every cap leaves to whoever asks, exactly; ``personal`` is the principal's own cap or ``null``.

    ``cap`` is the one of which the least is left, ``spent`` what was spent under it, and ``whose`` says which it is: empty for the
    dataset's budget.
    """

    budget: Raw
    cap: Raw
    whose: Text
    spent: Raw
    left: Raw
    personal: Raw
    mine: Raw


class Attached(Message, tag="attached", frozen=True):
    """An open dataset."""

    handle: Handle
    schema: Raw
    data_version: Hex
    mode: Name
    notes: list[Text]
    budget: BudgetState


class Described(Message, tag="described", frozen=True):
    """The public schema and the budget."""

    schema: Raw
    budget: BudgetState


class Peeked(Message, tag="peeked", frozen=True):
    """For each question whether it is stored; the loss that would be charged; what is left now, of which cap and ``whose`` it is.

    ``held`` has for each question events and share of the stored answer that suffices, else of the one that cost most, or ``null``;
    ``admitted`` says whether what would be charged fits every cap that holds.
    """

    stored: list[bool]
    cost: Raw
    left: Raw
    cap: Raw
    whose: Text
    held: Raw
    admitted: bool


class Answered(Message, tag="answered", frozen=True):
    """The stored releases of a batch, in the order of its questions, what was charged for them, what is left and of which cap.

    ``before`` is the loss of the charge ``entry`` where an earlier request made it, whose curator ended before it answered:
    this one adopted it and was charged nothing. Else it is ``null``.
    """

    request: Hex
    releases: Raw
    charged: Raw
    left: Raw
    cap: Raw
    whose: Text
    entry: int | None
    before: Raw = Raw(b"null")


class Cancelled(Message, tag="cancelled", frozen=True):
    """``state``: ``cancelled`` (nothing was or will be charged), ``charged``, ``answered`` or ``unknown``."""

    state: Name


MOST_ROWS = 2000
"""Rows of a statement after which it ends: there may be more after its last entry."""


class StatementOf(Message, tag="statement-of", frozen=True):
    """Ledger rows, oldest first, of one dataset :data:`MOST_ROWS` and a few more at most."""

    rows: Raw


class Receipted(Message, tag="receipted", frozen=True):
    """A receipt with its answers, and the public key of whoever signed it (PEM)."""

    signed: Raw
    key: Document


class Done(Message, tag="done", frozen=True):
    """The request was carried out; the current budget."""

    budget: BudgetState | None = None


class Failure(Message, tag="failure", frozen=True):
    """An error by its permanent code, in words without data."""

    code: Name
    message: Document
    details: dict[str, Any]


Reply = (
    Welcome | Attached | Described | Peeked | Answered | Cancelled | StatementOf | Receipted | Done | Failure
)

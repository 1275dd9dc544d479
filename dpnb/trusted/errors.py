"""The exceptions that a curator sends to a kernel. Their messages tell the reader what to type next.

::

    DpnbError
    ├── PlanError (ValueError)        the question cannot be asked as written; nothing was spent
    │   ├── SchemaError (KeyError)    a column, value or dataset that the public schema does not declare
    │   └── LossError                 a privacy loss that is not a usable number, or of the wrong measure
    ├── BudgetError                   more was asked than is left; nothing was spent
    ├── OwnerError                    the owner's schema, file or pinned terms do not allow it
    ├── AccessError                   a service does not know who asks, or does not let them
    └── CuratorError                  the curator could not answer
        ├── CuratorGone               the process ended or cannot be reached
        ├── ChargedError              interrupted after the charge: running again returns the stored answer
        ├── FrozenError               the ledger is not what it was: nothing is released until its owner restores it
        └── RequestReused             a request id was used again for another plan

A message states what happened, the two numbers that matter, and what to type next. It never contains data.
An unexpected fault crosses the wire only as the constant code ``internal``.
The codes are permanent: a code is never given to another class. :mod:`dpnb.errors` has the whole tree, with the errors that only a kernel raises.
"""

from __future__ import annotations

from typing import Any, ClassVar


class DpnbError(Exception):
    """Base of every error that dpnb raises on purpose.

    Parameters
    ----------
    message : str
        What happened, and what to type next.
    **details
        JSON-safe facts that travel with the message (never data), for example ``asked`` and ``left``.
    """

    code: ClassVar[str] = "error"

    def __init__(self, message: str = "", **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details = details

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[Any, ...]:
        return (_rebuild, (type(self), self.message, self.details))


def _rebuild(kind: type[DpnbError], message: str, details: dict[str, Any]) -> DpnbError:
    return kind(message, **details)


class PlanError(DpnbError, ValueError):
    """A question that cannot be asked as written. Raised before any charge."""

    code = "plan"


class SchemaError(PlanError, KeyError):
    """A name or value that the public schema does not declare."""

    code = "schema"


class LossError(PlanError):
    """A privacy loss that is not a usable number, or that does not fit this budget's measure."""

    code = "loss"


class BudgetError(DpnbError):
    """More was asked than is left. ``details`` has ``asked``, ``left`` and ``cap`` as exact texts."""

    code = "budget"


class OwnerError(DpnbError):
    """An owner's schema, file or pinned terms do not allow what was asked."""

    code = "owner"


class AccessError(DpnbError):
    """A service does not know who asks, or does not allow it; nothing was spent."""

    code = "access"


class CuratorError(DpnbError):
    """The curator could not answer. Unexpected faults carry the code ``internal`` and nothing else."""

    code = "internal"


class CuratorGone(CuratorError):
    """The curator process ended or cannot be reached."""

    code = "gone"


class ChargedError(CuratorError):
    """Interrupted after the charge was made, or may have been: running again returns the stored answer, without a second charge."""

    code = "charged"


class FrozenError(CuratorError):
    """The ledger is not the one that answers were given from: nothing is released until its owner restores it."""

    code = "frozen"


class RequestReused(CuratorError):
    """A request id was used again for another plan."""

    code = "reused"


INTERNAL = (
    "The curator hit an unexpected fault; the details are in its owner's log. "
    "Running the cell again is safe: it is never charged twice."
)


def to_wire(error: BaseException) -> dict[str, Any]:
    """Describe an error for the wire; anything but a :class:`DpnbError` becomes the bare code ``internal``."""
    if isinstance(error, DpnbError) and type(error) is not CuratorError:
        return {"code": error.code, "message": error.message, "details": error.details}
    return {"code": CuratorError.code, "message": INTERNAL, "details": {}}

"""The exception tree: what can go wrong, said so that the next thing to type is clear.

::

    DpnbError
    ├── PlanError (ValueError)        the question cannot be asked as written; nothing was spent
    │   ├── SchemaError (KeyError)    a column, value or dataset that the public schema does not declare
    │   ├── LossError                 a privacy loss that is not a usable number, or of the wrong measure
    │   └── OptionError               an unknown or misspelt option
    ├── BudgetError                   asked more than is left; nothing was spent
    ├── PendingError (TypeError)      the value of an estimate that has none yet
    ├── HandleError (TypeError)       a handle was used as if it held data
    ├── NestedSpendError              a spend inside a spend
    ├── Unavailable (ValueError)      an interval or figure that this release cannot support, with the reason
    ├── OwnerError                    an owner's schema, file or pin does not allow the attach
    ├── AccessError                   a service does not know who asks, or does not let them
    └── CuratorError                  the curator could not answer
        ├── CuratorGone               the process ended or cannot be reached
        ├── ChargedError              interrupted after the charge: running again returns the stored answer
        ├── FrozenError               the ledger is not what it was: nothing is released until its owner restores it
        └── RequestReused             a request id was used again for another plan

A message says what happened, the two numbers that matter, and what to type next. It never contains data.
What the curator did not expect crosses the wire as the constant code ``internal`` alone.
The codes are permanent: a code is never given to another class.
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
    """A privacy loss that is not a usable number, or that this budget's measure cannot hold."""

    code = "loss"


class OptionError(PlanError):
    """An unknown, misspelt or contradictory option."""

    code = "option"


class BudgetError(DpnbError):
    """More was asked than is left. ``details`` holds ``asked``, ``left`` and ``cap`` as exact texts."""

    code = "budget"


class PendingError(DpnbError, TypeError):
    """The value of an estimate was needed before its release."""

    code = "pending"


class HandleError(DpnbError, TypeError):
    """A handle or column condition was used as if it held data."""

    code = "handle"


class NestedSpendError(DpnbError):
    """A spend was opened inside another spend."""

    code = "nested"


class Unavailable(DpnbError, ValueError):
    """An interval or figure that the release cannot support; the message is the reason."""

    code = "unavailable"


class OwnerError(DpnbError):
    """An owner's schema, file or pinned terms do not allow what was asked."""

    code = "owner"


class AccessError(DpnbError):
    """A service does not know who asks, or does not let them; nothing was spent."""

    code = "access"


class CuratorError(DpnbError):
    """The curator could not answer. Unexpected faults carry the code ``internal`` and nothing else."""

    code = "internal"


class CuratorGone(CuratorError):
    """The curator process ended or cannot be reached."""

    code = "gone"


class ChargedError(CuratorError):
    """Interrupted when the charge stood, or may have stood: running again returns the stored answer, and is not charged twice."""

    code = "charged"


class FrozenError(CuratorError):
    """The ledger is not the one that answers were given from: nothing is released until its owner restores it."""

    code = "frozen"


class RequestReused(CuratorError):
    """A request id was used again for another plan."""

    code = "reused"


_TREE: tuple[type[DpnbError], ...] = (
    DpnbError,
    PlanError,
    SchemaError,
    LossError,
    OptionError,
    BudgetError,
    PendingError,
    HandleError,
    NestedSpendError,
    Unavailable,
    OwnerError,
    AccessError,
    CuratorError,
    CuratorGone,
    ChargedError,
    FrozenError,
    RequestReused,
)
BY_CODE: dict[str, type[DpnbError]] = {kind.code: kind for kind in _TREE}

_INTERNAL = (
    "The curator met a fault it did not expect; the details are in its owner's log. "
    "Running the cell again is safe: it is never charged twice."
)


def to_wire(error: BaseException) -> dict[str, Any]:
    """Describe an error for the wire; anything but a :class:`DpnbError` becomes the bare code ``internal``."""
    if isinstance(error, DpnbError) and type(error) is not CuratorError:
        return {"code": error.code, "message": error.message, "details": error.details}
    return {"code": CuratorError.code, "message": _INTERNAL, "details": {}}


def from_wire(record: dict[str, Any]) -> DpnbError:
    """Rebuild an error from :func:`to_wire`; an unknown code becomes a :class:`CuratorError`."""
    kind = BY_CODE.get(str(record.get("code")), CuratorError)
    return kind(str(record.get("message", _INTERNAL)), **dict(record.get("details") or {}))

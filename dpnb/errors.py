"""The exceptions that dpnb raises on purpose, and how an error from the curator is rebuilt.

The errors that a curator raises are defined in :mod:`dpnb.trusted.errors`; this module defines those that only a kernel raises.

::

    DpnbError
    ├── PlanError (ValueError)        the question cannot be asked as written; nothing was spent
    │   ├── SchemaError (KeyError)    a column, value or dataset that the public schema does not declare
    │   ├── LossError                 a privacy loss that is not a usable number, or of the wrong measure
    │   └── OptionError               an unknown or misspelt option
    ├── BudgetError                   more was asked than is left; nothing was spent
    ├── PendingError (TypeError)      an estimate has no value yet
    ├── HandleError (TypeError)       a handle was used as if it held data
    ├── NestedSpendError              a spend block inside another
    ├── Unavailable (ValueError)      an interval or figure that this release cannot support, with the reason
    ├── OwnerError                    the owner's schema, file or pinned terms do not allow it
    ├── AccessError                   a service does not know who asks, or does not let them
    └── CuratorError                  the curator could not answer
        ├── CuratorGone               the process ended or cannot be reached
        ├── ChargedError              interrupted after the charge: running again returns the stored answer
        ├── FrozenError               the ledger is not what it was: nothing is released until its owner restores it
        └── RequestReused             a request id was used again for another plan
"""

from __future__ import annotations

from typing import Any

from dpnb.trusted.errors import (
    INTERNAL,
    AccessError,
    BudgetError,
    ChargedError,
    CuratorError,
    CuratorGone,
    DpnbError,
    FrozenError,
    LossError,
    OwnerError,
    PlanError,
    RequestReused,
    SchemaError,
)

__all__ = [
    "AccessError",
    "BudgetError",
    "ChargedError",
    "CuratorError",
    "CuratorGone",
    "DpnbError",
    "FrozenError",
    "HandleError",
    "LossError",
    "NestedSpendError",
    "OptionError",
    "OwnerError",
    "PendingError",
    "PlanError",
    "RequestReused",
    "SchemaError",
    "Unavailable",
    "from_wire",
]


class OptionError(PlanError):
    """An unknown, misspelt or contradictory option."""

    code = "option"


class PendingError(DpnbError, TypeError):
    """The value of an estimate was needed before its release."""

    code = "pending"


class HandleError(DpnbError, TypeError):
    """A handle or column condition was used as if it held data."""

    code = "handle"


class NestedSpendError(DpnbError):
    """A spend block was opened inside another one."""

    code = "nested"


class Unavailable(DpnbError, ValueError):
    """An interval or figure that the release cannot support; the message gives the reason."""

    code = "unavailable"


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


def from_wire(record: dict[str, Any]) -> DpnbError:
    """Rebuild an error from :func:`~dpnb.trusted.errors.to_wire`; an unknown code becomes a :class:`CuratorError`."""
    kind = BY_CODE.get(str(record.get("code")), CuratorError)
    return kind(str(record.get("message", INTERNAL)), **dict(record.get("details") or {}))

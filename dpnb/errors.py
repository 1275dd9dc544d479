"""The exceptions that dpnb raises on purpose; :mod:`dpnb.trusted.errors` says what each means and shows the tree."""

from __future__ import annotations

from dpnb.trusted.errors import (
    AccessError,
    BudgetError,
    ChargedError,
    CuratorError,
    CuratorGone,
    DpnbError,
    FrozenError,
    HandleError,
    LossError,
    NestedSpendError,
    OptionError,
    OwnerError,
    PendingError,
    PlanError,
    RequestReused,
    SchemaError,
    Unavailable,
    from_wire,
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

"""The privacy measures a budget can be kept in.

A budget has one measure for life. The texts are stored in ledgers and sent on the wire: they never change.
"""

from __future__ import annotations

from enum import StrEnum


class Measure(StrEnum):
    """How a privacy loss is measured.

    ``PURE`` is ε-differential privacy; ``ZCDP`` is ρ of zero-concentrated differential privacy [1]_; ``APPROX_ZCDP`` is
    approximate zCDP, a pair (ρ, δ), in which an (ε, δ) budget is kept.

    References
    ----------
    .. [1] Bun and Steinke (2016), "Concentrated Differential Privacy: Simplifications, Extensions, and Lower Bounds".

    Examples
    --------
    >>> Measure("pure").symbol
    'ε'
    """

    PURE = "pure"
    ZCDP = "zcdp"
    APPROX_ZCDP = "approx-zcdp"

    @property
    def symbol(self) -> str:
        """The letter of this measure's amount: ε or ρ."""
        return "ε" if self is Measure.PURE else "ρ"

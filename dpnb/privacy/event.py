"""Privacy events: the permanent vocabulary in which every charge is recorded.

An event says which proven kind of mechanism ran and with which parameter, so that any later accountant can read an
old ledger again. Kinds and their JSON are versioned and never change meaning; a new kind is added, never edited.
What each kind costs in each measure is fixed here and nowhere else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, cast, get_args

from dpnb.errors import LossError
from dpnb.privacy.loss import PrivacyLoss, bounded_above, exact_text, parse_exact, rational
from dpnb.privacy.measure import Measure

__all__ = ["KINDS", "VERSION", "Kind", "PrivacyEvent"]

Kind = Literal["pure", "exponential", "gaussian", "approximate"]
KINDS: Final[tuple[str, ...]] = get_args(Kind)
VERSION: Final = 1
WITH_DELTA: Final = 2
"""The version of an event that carries δ; one that does not is written as it always was."""


@dataclass(frozen=True, slots=True)
class PrivacyEvent:
    """One mechanism's run, as the accountant sees it.

    Parameters
    ----------
    kind : {"pure", "exponential", "gaussian", "approximate"}
        ``pure``: any ε-DP mechanism; ``exponential``: the exponential mechanism, whose bounded range makes it
        ε²/8-zCDP [2]_; ``gaussian``: a discrete Gaussian, ρ-zCDP [3]_; ``approximate``: any (ε, δ)-DP mechanism,
        δ-approximately ε²/2-zCDP [4]_.
    amount : Fraction
        ε, ε, ρ or ε; above 0.
    delta : Fraction
        δ of an approximate event, between 0 and 1; 0 for every other kind.

    References
    ----------
    .. [1] Bun and Steinke (2016): ε-DP implies ε²/2-zCDP.
    .. [2] Cesar and Rogers (2021): bounded range ε implies ε²/8-zCDP. Permute-and-flip is not of bounded range ε.
    .. [3] Canonne, Kamath and Steinke (2020): the discrete Gaussian has the ρ of the continuous one.
    .. [4] Kairouz, Oh and Viswanath (2015): an (ε, δ)-DP pair is, but for events of probability δ, a pair of ε-DP laws;
       with [1]_ and Bun and Steinke (2016), definition 8.1.

    Examples
    --------
    >>> PrivacyEvent("exponential", Fraction(1)).loss(Measure.ZCDP).amount
    Fraction(1, 8)
    """

    kind: Kind
    amount: Fraction
    delta: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise LossError(f"Unknown privacy event {self.kind!r}: one of {', '.join(KINDS)}.")
        object.__setattr__(self, "delta", bounded_above(rational(self.delta, name="delta")))
        if not (0 < self.delta < 1 if self.kind == "approximate" else self.delta == 0):
            raise LossError("An approximate event has a δ between 0 and 1, and no other event has one.")
        object.__setattr__(self, "amount", bounded_above(rational(self.amount, name="amount")))
        if self.amount <= 0:
            raise LossError("A privacy event has an amount above 0; what costs nothing is no event.")

    def loss(self, measure: Measure) -> PrivacyLoss:
        """Return what this event costs in `measure`.

        Raises
        ------
        LossError
            When a budget of that measure cannot hold this event, naming the ``[budget]`` line that can.
        """
        if self.kind == "approximate" and measure is not Measure.APPROX:
            raise LossError(
                "This mechanism has a δ, which this dataset's budget cannot hold. "
                "The owner writes [budget] epsilon and delta together in the schema."
            )
        if measure is not Measure.PURE:
            return PrivacyLoss(measure, self._rho(), self.delta)
        if self.kind == "gaussian":
            raise LossError(
                "Gaussian noise has no pure ε, so this dataset's ε budget cannot hold it. Ask with epsilon= "
                "for Laplace noise; or the owner writes [budget] rho = 0.5 (or epsilon and delta) in the schema."
            )
        return PrivacyLoss(measure, self.amount)

    def _rho(self) -> Fraction:
        if self.kind == "gaussian":
            return self.amount
        return self.amount**2 / (8 if self.kind == "exponential" else 2)

    def to_json(self) -> dict[str, Any]:
        """Write the event exactly; the form is permanent."""
        record = {"event": VERSION, "kind": self.kind, "amount": exact_text(self.amount)}
        return {**record, "event": WITH_DELTA, "delta": exact_text(self.delta)} if self.delta else record

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> PrivacyEvent:
        """Read what :meth:`to_json` of this or an earlier version wrote, strictly.

        Raises
        ------
        LossError
            For an unknown version or kind, or unknown or missing fields.
        """
        names = {"event", "kind", "amount"}
        if set(record) == names and record["event"] == VERSION:
            return cls(cast("Kind", record["kind"]), parse_exact(record["amount"]))
        if set(record) == names | {"delta"} and record["event"] == WITH_DELTA:
            return cls(
                cast("Kind", record["kind"]), parse_exact(record["amount"]), parse_exact(record["delta"])
            )
        raise LossError("This privacy event was written by a newer dpnb: upgrade to read it.")

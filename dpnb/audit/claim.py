"""A claimed loss, in the measure in which an audit checks it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from dpnb.trusted.privacy.accountant import epsilon_of
from dpnb.trusted.privacy.loss import PrivacyLoss, rational
from dpnb.trusted.privacy.measure import Measure

_DELTA = "0.001"


@dataclass(frozen=True, slots=True)
class Claim:
    """What a mechanism promises: an ε or a ρ (or nothing), and the δ beside it."""

    amount: float | None
    symbol: str
    delta: float
    note: str = ""

    @classmethod
    def read(cls, claim: Any, delta: float) -> Claim:
        """Return a claim given as a number, a loss or nothing."""
        if not isinstance(claim, PrivacyLoss):
            return cls(None if claim is None else float(rational(claim, name="claim")), "ε", delta)
        if claim.measure is Measure.PURE:
            return cls(float(claim.amount), "ε", delta)
        return cls(float(claim.amount), "ρ", delta + float(claim.delta))

    def sampled(self) -> Claim:
        """Return the claim as an ε: runs bound no ρ."""
        if self.symbol == "ε" or self.amount is None:
            return self
        epsilon = float(epsilon_of(self.amount, _DELTA))
        note = f"ρ {self.amount:g} implies ε {epsilon:.4g} at δ = {_DELTA}"
        return Claim(epsilon, "ε", self.delta + float(_DELTA), note)

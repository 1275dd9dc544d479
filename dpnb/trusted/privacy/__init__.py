"""What is promised: measures, losses in exact rationals, the privacy unit, events, and the accountant.

This room imports nothing but the errors. It refuses floats as amounts (they are read as their decimal text), sums
across measures, and refunds. The event vocabulary and the exact texts are permanent: ledgers outlive releases.
"""

from dpnb.trusted.privacy.accountant import Budget, Filter, Odometer, compose, epsilon_of, rho_for
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import (
    PrivacyLoss,
    bounded_above,
    brief,
    exact_text,
    floored,
    floored_digits,
    parse_exact,
    positive,
    rational,
)
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.privacy.unit import PrivacyUnit

__all__ = [
    "Budget",
    "Filter",
    "Measure",
    "Odometer",
    "PrivacyEvent",
    "PrivacyLoss",
    "PrivacyUnit",
    "bounded_above",
    "brief",
    "compose",
    "epsilon_of",
    "exact_text",
    "floored",
    "floored_digits",
    "parse_exact",
    "positive",
    "rational",
    "rho_for",
]

r"""The accountant: what a sequence of events has cost, and whether one more fits.

Sums of ε, of ρ, and of (ρ, δ) are valid for fully adaptive questions, so the filter is a comparison of sums. No other
composition is ever charged: PLDs, Gaussian-DP and advanced composition are displays. The *cap* is the promise; what is
spent is a meter of it. There is no refund, so nothing here subtracts a charge.

**Conversion.** A mechanism that is ρ-zCDP is, for every α > 1, (ε, δ)-DP with [1]_

.. math:: ε = αρ + \frac{\ln(1/(αδ))}{α - 1} + \ln(1 - 1/α).

This follows from the Rényi divergences alone and so holds for discrete and continuous laws alike: no domination of a
discrete law by a continuous one is assumed. Any α gives a true statement; α is searched in floats, the formula is then
evaluated with 60 decimal digits, and the result rounded so that the statement stays true.

References
----------
.. [1] Canonne, Kamath and Steinke (2020), "The Discrete Gaussian for Differential Privacy", Proposition 12 onwards.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import reduce
from math import ceil, exp, log, log1p
from typing import Any

from dpnb.trusted.canonical import Record
from dpnb.trusted.errors import LossError
from dpnb.trusted.privacy.conversion import decimal_of
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import (
    FINEST,
    PrivacyLoss,
    brief,
    exact_text,
    floored_digits,
    positive,
    proper_delta,
    rational,
)
from dpnb.trusted.privacy.measure import Measure

_GUARD = Fraction(1, 10**40)
_FARTHEST = 10**100


def compose(events: Iterable[PrivacyEvent], measure: Measure) -> PrivacyLoss:
    """Return the total loss of `events` in `measure`.

    Parameters
    ----------
    events : iterable of PrivacyEvent
    measure : Measure

    Returns
    -------
    PrivacyLoss
        The exact sum, in any order; rounded up to a multiple of 10⁻⁶⁰ only where its denominator exceeds that.

    Raises
    ------
    LossError
        When the measure cannot hold one of the events.

    Examples
    --------
    >>> compose([PrivacyEvent("pure", Fraction(1, 10))] * 10, Measure.PURE)
    PrivacyLoss(measure=<Measure.PURE: 'pure'>, amount=Fraction(1, 1), delta=Fraction(0, 1))
    """
    return whole(events, measure).bounded()


def whole(events: Iterable[PrivacyEvent], measure: Measure) -> PrivacyLoss:
    """Return the exact sum of the losses of `events`, without the rounding of :func:`compose`."""
    losses = [event.loss(measure) for event in events] or [PrivacyLoss.zero(measure)]
    return reduce(operator.add, losses)


def spent_after(spent: PrivacyLoss, asked: PrivacyLoss) -> PrivacyLoss:
    """Return what has been spent in all once `asked` is charged; it never falls.

    Examples
    --------
    >>> str(spent_after(PrivacyLoss.pure("0.5"), PrivacyLoss.pure("0.1")))
    'ε 0.6'
    """
    return (spent + asked).bounded()


def admits(cap: PrivacyLoss, spent: PrivacyLoss, asked: PrivacyLoss) -> bool:
    """Say whether `asked` fits under a cap after `spent`, exactly.

    Examples
    --------
    >>> admits(PrivacyLoss.pure(1), PrivacyLoss.pure("0.9"), PrivacyLoss.pure("0.1"))
    True
    """
    return spent_after(spent, asked).fits_in(cap)


def epsilon_of(rho: Fraction | str | float, delta: Fraction | str | float) -> Fraction:
    """Return an ε such that ρ-zCDP implies (ε, δ)-DP, rounded up to a multiple of 10⁻⁹.

    Parameters
    ----------
    rho, delta : number
        ρ ≥ 0 and 0 < δ < 1.

    Returns
    -------
    Fraction
        The least ε over α (see the module's text), rounded up; 0 when ρ is 0.

    Raises
    ------
    LossError
        When δ is not in (0, 1), ρ is negative, or ρ is above 10¹⁰⁰.

    Examples
    --------
    >>> round(float(epsilon_of("0.5", "1e-6")), 3)
    5.222
    """
    r, d = rational(rho, name="rho"), proper_delta(delta)
    if r < 0:
        raise LossError("rho must be at least 0.")
    _shown_as_float("rho", r)
    if r == 0:
        return Fraction(0)
    order = _minimise(lambda x: _epsilon_at(float(r), float(d), x))
    value = _exactly(lambda a: a * decimal_of(r) + _penalty(a, d), order) + _GUARD
    return Fraction(max(ceil(value * FINEST), 0), FINEST)


def rho_for(epsilon: Fraction | str | float, delta: Fraction | str | float) -> Fraction:
    """Return a ρ such that ρ-zCDP implies (ε, δ)-DP, rounded down to three digits.

    Parameters
    ----------
    epsilon, delta : number
        ε > 0 and 0 < δ < 1.

    Returns
    -------
    Fraction
        The largest ρ over α, rounded down: ``epsilon_of(rho_for(e, d), d) <= e``.

    Raises
    ------
    LossError
        When ε is not above 0 or is above 10¹⁰⁰, δ is not in (0, 1), or the ρ is below the smallest that can be asked.

    Examples
    --------
    >>> float(rho_for(1, "1e-6"))
    0.0243
    """
    e, d = rational(epsilon), proper_delta(delta)
    if e <= 0:
        raise LossError("epsilon must be above 0. Write for example epsilon=1.")
    _shown_as_float("epsilon", e)
    order = _minimise(lambda x: -_rho_at(float(e), float(d), x))
    value = _exactly(lambda a: (decimal_of(e) - _penalty(a, d)) / a, order) - _GUARD
    rho = floored_digits(max(value, Fraction(0)))
    if rho == 0:
        raise LossError(
            "This epsilon and delta leave less than the smallest ρ, 1e-09. Raise epsilon or delta."
        )
    return rho


def _shown_as_float(name: str, number: Fraction) -> None:
    """Refuse what the search for the best order could not hold: it works in floats, and they end."""
    if number > _FARTHEST:
        raise LossError(f"{name} is above 1e+100: write for example {name}=1.")


# α = 1 + exp(x): the searches run over x, on which both objectives have one turning point.
def _epsilon_at(rho: float, delta: float, x: float) -> float:
    gap = exp(x)
    return (1 + gap) * rho + _float_penalty(gap, delta)


def _rho_at(epsilon: float, delta: float, x: float) -> float:
    gap = exp(x)
    return (epsilon - _float_penalty(gap, delta)) / (1 + gap)


def _float_penalty(gap: float, delta: float) -> float:
    return -(log(delta) + log1p(gap)) / gap + log(gap) - log1p(gap)


def _minimise(objective: Callable[[float], float]) -> Fraction:
    grid = [i / 2 for i in range(-80, 121)]
    centre = min(grid, key=objective)
    low, high = centre - 0.5, centre + 0.5
    ratio = (5**0.5 - 1) / 2
    for _ in range(60):
        a, b = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, b) if objective(a) <= objective(b) else (a, high)
    return 1 + Fraction(exp((low + high) / 2))


def _exactly(formula: Callable[[Decimal], Decimal], order: Fraction) -> Fraction:
    with localcontext() as context:
        context.prec = 60
        # The order is used as rounded: every α gives a true statement.
        return Fraction(formula(decimal_of(order)))


def _penalty(a: Decimal, delta: Fraction) -> Decimal:
    return -(a * decimal_of(delta)).ln() / (a - 1) + (1 - 1 / a).ln()


@dataclass(frozen=True, slots=True)
class Budget:
    """The whole privacy loss that a dataset may ever pay, and how its owner wrote it.

    Parameters
    ----------
    cap : PrivacyLoss
        The promise, as exact rationals fixed at creation.
    asked_as : dict of str to str
        The owner's words: ``{"epsilon": "4"}``, ``{"rho": "0.5"}`` or ``{"epsilon": "1", "delta": "0.000001"}``.

    Notes
    -----
    An (ε, δ) budget is kept as a cap on Σρ and one on Σδ. Half of δ pays for the conversion and half is the cap on the
    events' own δ: (ρ, δ/2)-approximate zCDP with ρ = ``rho_for(ε, δ/2)`` implies (ε, δ)-DP.

    Examples
    --------
    >>> Budget.from_toml({"epsilon": 4}).label
    'ε 4'
    """

    cap: PrivacyLoss
    asked_as: dict[str, str] = field(hash=False)

    @property
    def measure(self) -> Measure:
        """The measure in which this budget is kept."""
        return self.cap.measure

    @property
    def label(self) -> str:
        """The budget as its owner wrote it: ``ε 4``, ``ρ 0.5`` or ``ε 1, δ 1e-06``."""
        symbols = {"epsilon": "ε", "rho": "ρ", "delta": "δ"}
        return ", ".join(f"{symbols[name]} {brief(rational(text))}" for name, text in self.asked_as.items())

    @classmethod
    def from_toml(cls, table: Mapping[str, Any]) -> Budget:
        """Read the ``[budget]`` table of a schema.

        Raises
        ------
        LossError
            Unless the table is ``epsilon``, ``rho``, or ``epsilon`` and ``delta``.
        """
        match sorted(table):
            case ["epsilon"]:
                epsilon = positive(table["epsilon"], name="epsilon")
                return cls(PrivacyLoss.pure(epsilon), {"epsilon": exact_text(epsilon)})
            case ["rho"]:
                rho = positive(table["rho"], name="rho")
                return cls(PrivacyLoss.zcdp(rho), {"rho": exact_text(rho)})
            case ["delta", "epsilon"]:
                return cls._from_epsilon_delta(positive(table["epsilon"]), proper_delta(table["delta"]))
        raise LossError(
            "[budget] needs one of: epsilon = 4 (pure), rho = 0.5 (zCDP), or epsilon = 1 and delta = 1e-6 together."
        )

    @classmethod
    def _from_epsilon_delta(cls, epsilon: Fraction, delta: Fraction) -> Budget:
        half = delta / 2
        cap = PrivacyLoss.approx(rho_for(epsilon, half), half)
        return cls(cap, {"epsilon": exact_text(epsilon), "delta": exact_text(delta)})

    def to_json(self) -> Record:
        """Write the budget exactly."""
        return {"cap": self.cap.to_json(), "asked_as": dict(self.asked_as)}

    @classmethod
    def from_json(cls, record: Mapping[str, Any]) -> Budget:
        """Read what :meth:`to_json` wrote. The cap is taken as written, if it keeps the promise in the owner's words.

        Raises
        ------
        LossError
            For another form, or a cap that allows more than the words say.
        """
        words = record.get("asked_as")
        if set(record) != {"cap", "asked_as"} or not isinstance(words, Mapping):
            raise LossError("A budget is written as cap and asked_as.")
        if not all(isinstance(word, str) for word in words.values()):
            raise LossError("A budget is asked as epsilon, rho, or epsilon and delta.")
        read, said = cls(PrivacyLoss.from_json(record["cap"]), dict(words)), cls.from_toml(words)
        if read.measure is not said.measure or not read.cap.fits_in(said.cap):
            raise LossError("This budget allows more than its words say: write [budget] again.")
        return read

"""Privacy events: the permanent vocabulary in which every charge is recorded.

An event says which proven kind of mechanism ran and with which parameter, so that any later accountant can read an
old ledger again, and compute every charge from the event alone. Kinds and their JSON are versioned and never change meaning; a new
kind is added, never edited. What each kind costs in each measure is fixed here and in :mod:`dpnb.trusted.privacy.conversion`, and nowhere else.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal, cast, get_args

from dpnb.trusted.canonical import Record
from dpnb.trusted.errors import LossError
from dpnb.trusted.privacy.conversion import exponential_rho, laplace_rho, pure_rho
from dpnb.trusted.privacy.loss import (
    PrivacyLoss,
    added,
    bounded_above,
    exact_text,
    parse_exact,
    quotients,
    rational,
)
from dpnb.trusted.privacy.measure import Measure

Kind = Literal["pure", "laplace", "exponential", "gaussian", "approximate"]
KINDS: Final[tuple[str, ...]] = get_args(Kind)
VERSION: Final = 1

Shifts = tuple[tuple[Fraction, Fraction], ...]
"""What one neighbour does to the parts of a release: the shift of each in L1, in grid steps, and the scale of its noise."""


@dataclass(frozen=True, slots=True)
class PrivacyEvent:
    """One mechanism's run, as the accountant sees it.

    Parameters
    ----------
    kind : {"pure", "laplace", "exponential", "gaussian", "approximate"}
        ``pure``: any ε-DP mechanism, ε·tanh(ε/2)-zCDP [1]_; ``laplace``: discrete Laplace noise on integer vectors, which has the ρ of
        its own law; ``exponential``: the exponential mechanism, whose bounded range makes it ε²/8-zCDP [2]_; ``gaussian``: a
        discrete Gaussian, ρ-zCDP [3]_; ``approximate``: any (ε, δ)-DP mechanism, δ-approximately ε·tanh(ε/2)-zCDP [1]_.
    amount : Fraction
        ε, ε, ε, ρ or ε; above 0.
    delta : Fraction
        δ of an approximate event, between 0 and 1; 0 for every other kind.
    moves : tuple
        What neighbours can do, of a ``laplace`` event: a tuple of (shift, scale) for each. Its ε is the largest sum of shift over
        scale, its ρ the largest sum of :func:`~dpnb.trusted.privacy.conversion.laplace_rho`.

    References
    ----------
    .. [1] Kairouz, Oh and Viswanath (2015): an (ε, δ)-DP pair is, but for events of probability δ, a post-processing of randomised
       response; the proof is in :mod:`dpnb.trusted.privacy.conversion`. Approximate zCDP: Bun and Steinke (2016), definition 8.1.
    .. [2] Cesar and Rogers (2021): bounded range ε implies ε²/8-zCDP. Permute-and-flip is not of bounded range ε.
    .. [3] Canonne, Kamath and Steinke (2020): the discrete Gaussian has the ρ of the continuous one.

    Examples
    --------
    >>> PrivacyEvent("exponential", Fraction(1)).loss(Measure.ZCDP).amount
    Fraction(1, 8)
    """

    kind: Kind
    amount: Fraction
    delta: Fraction = Fraction(0)
    moves: tuple[Shifts, ...] = ()

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise LossError(f"Unknown privacy event {self.kind!r}: one of {', '.join(KINDS)}.")
        object.__setattr__(self, "delta", bounded_above(rational(self.delta, name="delta")))
        if not (0 < self.delta < 1 if self.kind == "approximate" else self.delta == 0):
            raise LossError("An approximate event has a δ between 0 and 1, and no other event has one.")
        costliest = _epsilon(_positive(self.moves))
        amount = costliest if self.amount is _COSTLIEST else rational(self.amount, name="amount")
        object.__setattr__(self, "amount", bounded_above(amount))
        if self.amount.numerator <= 0:
            raise LossError("A privacy event has an amount above 0; what costs nothing is not an event.")
        if (self.kind == "laplace") != bool(self.moves) or (self.moves and self.amount != costliest):
            raise LossError("A laplace event, and no other, has moves; its amount is the ε of the costliest.")

    @classmethod
    def laplace(cls, moves: Iterable[Iterable[tuple[Fraction, Fraction]]]) -> PrivacyEvent:
        """Return the event of discrete Laplace noise, from what each neighbour can do.

        Parameters
        ----------
        moves : iterable of iterables of (shift, scale)
            For each kind of neighbour the shift of every part, in L1 and grid steps, and the scale of its noise.

        Examples
        --------
        >>> sum_and_count = [(Fraction(50), Fraction(100)), (Fraction(1), Fraction(2))]
        >>> event = PrivacyEvent.laplace([sum_and_count])
        >>> float(event.amount), round(float(event.loss(Measure.ZCDP).amount), 4)
        (1.0, 0.229)
        """
        found = sorted(tuple([(shift, scale) for shift, scale in move if shift]) for move in moves)
        kept = [
            one for at, one in enumerate(found) if not any(_within(one, other) for other in found[at + 1 :])
        ]
        return cls("laplace", _COSTLIEST, moves=tuple(kept))

    def loss(self, measure: Measure) -> PrivacyLoss:
        """Return what this event costs in `measure`.

        Raises
        ------
        LossError
            When a budget of that measure cannot hold this event, naming the ``[budget]`` line that can.
        """
        if self.kind == "approximate" and measure is not Measure.APPROX_ZCDP:
            raise LossError(
                "This mechanism has a δ, which this dataset's budget does not allow. "
                "Before the first charge its owner can write both: [budget] epsilon and delta."
            )
        if measure is not Measure.PURE:
            return PrivacyLoss(measure, self._rho(), self.delta)
        if self.kind == "gaussian":
            raise LossError(
                "Gaussian noise has no pure ε, so this dataset's ε budget does not allow it. Use epsilon= "
                "for Laplace noise; or the owner writes [budget] rho = 0.5 (or epsilon and delta) in the schema."
            )
        return PrivacyLoss(measure, self.amount)

    def _rho(self) -> Fraction:
        match self.kind:
            case "gaussian":
                return self.amount
            case "exponential":
                return exponential_rho(self.amount)
            case "laplace":
                sums = (added(laplace_rho(*part) for part in move) for move in self.moves)
                return min(max(sums), pure_rho(self.amount))
        return pure_rho(self.amount)

    def scaled(self, factor: Fraction) -> PrivacyEvent:
        """Return the event of the same mechanism at `factor` times its ε, or its ρ."""
        if self.kind != "laplace":
            return replace(self, amount=self.amount * factor)
        return self.laplace([(shift, scale / factor) for shift, scale in move] for move in self.moves)

    def to_json(self) -> Record:
        """Write the event exactly; the form is permanent."""
        record: Record = {"event": VERSION, "kind": self.kind, "amount": exact_text(self.amount)}
        if self.delta:
            record["delta"] = exact_text(self.delta)
        if self.moves:
            record["moves"] = [[[exact_text(x) for x in part] for part in move] for move in self.moves]
        return record

    @classmethod
    def from_json(cls, record: Mapping[str, object]) -> PrivacyEvent:
        """Read what :meth:`to_json` wrote, strictly.

        Raises
        ------
        LossError
            For an unknown version or kind, or unknown or missing fields.
        """
        kind, version = str(record.get("kind")), record.get("event")
        names = {"event", "kind", "amount"} | _MORE.get(kind, set())
        if type(version) is not int or version != VERSION or set(record) != names:
            raise LossError("This privacy event was written by another dpnb: upgrade to read it.")
        delta = parse_exact(record["delta"]) if "delta" in record else Fraction(0)
        return cls(cast("Kind", kind), parse_exact(record["amount"]), delta, _moves(record.get("moves", [])))


_COSTLIEST: Final = Fraction(0)
"""Stands for an amount that is to be taken from the moves."""
_MORE: Final[dict[str, set[str]]] = {"approximate": {"delta"}, "laplace": {"moves"}}


def _moves(record: object) -> tuple[Shifts, ...]:
    """Read moves strictly: lists of lists of two texts, a shift and a scale above 0."""
    try:
        moves = [
            [tuple(map(parse_exact, _listed(part))) for part in _listed(move)] for move in _listed(record)
        ]
        found = tuple(tuple((shift, scale) for shift, scale in move) for move in moves)
    except (TypeError, ValueError):
        raise LossError("A laplace event lists, for each move, pairs of a shift and a scale.") from None
    return _positive(found)


def _listed(record: object) -> list[object]:
    """Refuse whatever is not a list: a text would be read as the list of its characters."""
    if not isinstance(record, list):
        raise TypeError
    return record


def _positive(moves: tuple[Shifts, ...]) -> tuple[Shifts, ...]:
    """Refuse a shift that would be taken off the others, and a scale that is no noise."""
    if any(part.numerator <= 0 for move in moves for pair in move for part in pair):
        raise LossError("The shifts and scales of a laplace event are above 0.")
    return moves


def _epsilon(moves: Iterable[Shifts]) -> Fraction:
    """Return the ε of the costliest move."""
    costs = (quotients(move) for move in moves)
    return bounded_above(max(costs, default=Fraction(0)))


def _within(one: Shifts, other: Shifts) -> bool:
    """Whether every part moves at most as far as the part at the same place in another move, under the same noise."""
    pairs = zip(one, other, strict=False)
    return len(one) <= len(other) and all(a[1] == b[1] and a[0] <= b[0] for a, b in pairs)

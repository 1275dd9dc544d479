r"""How much noise a loss buys: statistics state relative noise, and what it costs is asked where it is charged.

A statistic says nothing of how far one person moves what it measures. It states vectors of sums, each with the part of the loss that its noise
would cost alone; one of them may take what the others leave free. Or it states measurements whose noise is in proportion, to be scaled as a
whole. What one unit of noise costs is derived by :mod:`dpnb.trusted.measurements`, from request and schema, and a loss is proportional to
1/scale of Laplace noise (in ε) and 1/variance of Gaussian noise (in ρ).

*Split.* Let :math:`c_{mj}` be what move m of one person costs vector j under one unit of noise. A vector with part s of a loss L has
:math:`\max_m c_{mj}/sL`; the one without a part, r, has :math:`1/x` with the largest x for which no move costs more than L:
:math:`x = \min_m (L - \sum_j c_{mj}/b_j)/c_{mr}`. So a count is free beside a centred sum where a row that enters moves the sum by half
of what a row that changes does.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import product

from dpnb.errors import PlanError
from dpnb.inference.digits import rounded
from dpnb.statistics._base import ONE, PriceRow, Pricing, Setting
from dpnb.trusted.aggregate.algebra import Total, cells_of
from dpnb.trusted.measurements import Facts, Measurement, events, factors, sums
from dpnb.trusted.mechanisms import AnyMechanism, DiscreteGaussian, DiscreteLaplace
from dpnb.trusted.privacy.loss import quotients
from dpnb.trusted.query.plan import Share

Noise = DiscreteLaplace | DiscreteGaussian
_UNIT: Mapping[str, Noise] = {
    "epsilon": DiscreteLaplace(Fraction(1)),
    "rho": DiscreteGaussian(Fraction(1)),
}
Moves = tuple[tuple[Fraction | int, ...], ...]
"""What every move of one person costs each of some sums under one unit of noise."""


@dataclass(frozen=True, slots=True)
class Summand:
    """A vector of sums that a statistic measures, and its relative noise.

    Parameters
    ----------
    name : str
        Name of the part, for example ``"sum"``.
    request : Total
        What is summed.
    words : str
        What it is, for the price list.
    share : Fraction, optional
        The part of the loss that its noise would cost alone; without one it has as little noise as the others leave room for.
    """

    name: str
    request: Total
    words: str
    share: Fraction | None = None


def count_of(setting: Setting, words: str = "number of rows", name: str = "count") -> Summand:
    """Return the number of rows, which takes what other sums leave free."""
    return Summand(name, setting.total(ONE), words)


def additive(setting: Setting, share: Share, summands: Sequence[Summand]) -> Pricing:
    """Price sums over the same rows with discrete Laplace or discrete Gaussian noise."""
    free = sum((one.share for one in summands if one.share is not None), Fraction(0)) >= 1
    found = split(setting, share, summands)
    parts = tuple(
        Measurement(one.name, one.request, noise, cells_of(one.request.keys))
        for one, (noise, _) in zip(summands, found, strict=True)
    )
    rows = tuple(
        price_row(one.words, noise, costs, free=free and one.share is None)
        for one, (noise, costs) in zip(summands, found, strict=True)
    )
    return Pricing(parts, rows)


def split(setting: Setting, share: Share, summands: Sequence[Summand]) -> list[tuple[Noise, Fraction]]:
    """Return the noise of each of some sums over the same rows, and what one unit of it costs alone."""
    moves = _moves(setting, share.kind, [one.request for one in summands])
    shares, words = [one.share for one in summands], [one.words for one in summands]
    family = DiscreteLaplace if share.kind == "epsilon" else DiscreteGaussian
    return [(family(size), costs) for size, costs in shared(moves, share.amount, shares, words)]


def shared(
    moves: Moves, loss: Fraction, shares: Sequence[Fraction | None], words: Sequence[str]
) -> list[tuple[Fraction, Fraction]]:
    """Return how much noise each of some sums has, scales in ε and variances in ρ, and what one unit of it costs alone.

    Raises
    ------
    PlanError
        If no move of one person changes a sum: its words say which.
    """
    alone = _alone(moves)
    for costs, said in zip(alone, words, strict=True):
        if not costs:
            raise PlanError(
                f"The {said} is the same whatever the data are: a public constant needs no release."
            )
    sizes = {at: alone[at] / (part * loss) for at, part in enumerate(shares) if part is not None}

    def rest(at: int) -> Fraction:
        """What every move leaves of the loss, in units of the sum without a part."""
        return 1 / min(
            (loss - quotients((costs[other], size) for other, size in sizes.items())) / costs[at]
            for costs in moves
            if costs[at]
        )

    return [(sizes[at] if at in sizes else rest(at), costs) for at, costs in enumerate(alone)]


def unit_losses(setting: Setting, kind: str, requests: Sequence[Total]) -> list[Fraction]:
    """Return what each of some sums over the same rows costs alone under one unit of noise: in ε a scale of one, in ρ a variance of one."""
    return _alone(_moves(setting, kind, requests))


def _alone(moves: Moves) -> list[Fraction]:
    return [Fraction(max(costs)) for costs in zip(*moves, strict=True)]


def scaled(setting: Setting, share: Share, parts: Sequence[Measurement]) -> tuple[Measurement, ...]:
    """Return measurements whose noise was in proportion with so much of it that all of them together cost a share."""
    times = unit_loss(setting, parts) / share.amount
    return tuple(
        replace(part, mechanism=with_amount(part.mechanism, amount(part.mechanism) * times)) for part in parts
    )


def unit_loss(setting: Setting, parts: Sequence[Measurement]) -> Fraction:
    """Return what measurements cost together under the noise that they have: in ε, or in ρ where it is Gaussian."""
    asked = tuple(parts)
    if asked not in setting.derived:
        setting.derived[asked] = sum((event.amount for event in events(asked, setting.facts)), Fraction(0))
    return Fraction(setting.derived[asked])


def _moves(setting: Setting, kind: str, requests: Sequence[Total]) -> Moves:
    """Return what every move of one person costs each of some sums over the same rows under one unit of noise."""
    asked = kind, *requests
    if asked not in setting.derived:
        parts = [Measurement("", request, _UNIT[kind], cells_of(request.keys)) for request in requests]
        facts = setting.facts
        (frame,) = sums.frames([sums.Part.of(part, facts) for part in parts], facts)
        setting.derived[asked] = moves_of(frame, facts)
    found: Moves = setting.derived[asked]
    return found


def moves_of(frame: sums.Frame, facts: Facts) -> Moves:
    """Return what every move of one person costs each part of a frame, whose noise is one unit.

    Parts that share a factor move together, and less than each can alone (:mod:`dpnb.trusted.measurements.factors`): both of its ends are moves.
    """
    rows = facts.capped(frame.kept.where).rows
    pure, places = isinstance(frame.parts[0].noise, DiscreteLaplace), list(map(id, frame.parts))
    found: list[tuple[Fraction | int, ...]] = []
    for move in frame.moves(facts):
        staying = [part for part, kind in move if kind == sums.WITHIN]
        for ends in product(*factors.factors_of(staying, facts)):
            held = {id(staying[at]): (shift,) for end in ends for at, shift in end.items()}
            costs = dict.fromkeys(places, 0)
            for part, kind in move:
                shifts = [rows * shift for shift in held.get(id(part), part.shifts(kind))]
                costs[id(part)] = sum(shifts if pure else (shift**2 for shift in shifts))
            found.append(tuple(cost if pure else Fraction(cost, 2) for cost in costs.values()))
    return tuple(found)


def amount(mechanism: AnyMechanism) -> Fraction:
    """Return how much additive noise there is: the scale of Laplace noise, the variance of Gaussian noise."""
    if isinstance(mechanism, DiscreteLaplace):
        return mechanism.scale
    assert isinstance(mechanism, DiscreteGaussian)
    return mechanism.variance


def with_amount(mechanism: AnyMechanism, value: Fraction) -> Noise:
    """Return additive noise of another amount."""
    return DiscreteLaplace(value) if isinstance(mechanism, DiscreteLaplace) else DiscreteGaussian(value)


def price_row(words: str, mechanism: AnyMechanism, costs: Fraction, *, free: bool = False) -> PriceRow:
    """Return the line of the price list for one vector of sums, of which one unit of noise costs so much alone."""
    assert isinstance(mechanism, Noise)
    paid = costs / amount(mechanism)
    if isinstance(mechanism, DiscreteLaplace):
        unit, moved = "ε", f"{int(costs):,}"
    else:
        unit, moved = "ρ", f"{rounded(math.sqrt(2 * costs))} (L2)"
    cost = "free beside the sum" if free else f"{unit} {rounded(float(paid))}"
    scale = f"{scale_words(mechanism)}"
    return PriceRow(words, mechanism.phrase, f"one person moves it by at most {moved}", scale, cost)


def restated(row: PriceRow, mechanism: AnyMechanism, why: str) -> PriceRow:
    """Return a line of the price list whose measurement has less additive noise than its share pays for, and say why.

    Parameters
    ----------
    row : PriceRow
    mechanism : Mechanism
        The noise that it has.
    why : str
        In words.
    """
    if not isinstance(mechanism, DiscreteLaplace | DiscreteGaussian):
        return row
    return replace(row, scale=f"{scale_words(mechanism)}", cost=why)


def scale_words(mechanism: Noise) -> str:
    """Return an amount of noise in words."""
    if isinstance(mechanism, DiscreteLaplace):
        return f"scale {rounded(float(mechanism.scale))}"
    return f"sd {rounded(math.sqrt(mechanism.variance))}"

r"""What a privacy loss means for one person: beliefs before and after, and how well membership can be guessed.

Pure functions of (ε, δ) or μ, for displays; no ledger uses them. Percentages in sentences are rounded up: a bound that is
printed stays a bound.

References
----------
.. [1] D'Orazio, Honaker and King (2015), "Differential Privacy for Social Science Inference", Table 1.
.. [2] Wasserman and Zhou (2010), "A Statistical Framework for Differential Privacy", Theorem 2.4.
.. [3] Kairouz, Oh and Viswanath (2015), "The Composition Theorem for Differential Privacy".
.. [4] Dong, Roth and Su (2022), "Gaussian Differential Privacy".
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, exp

from dpnb.errors import LossError
from dpnb.risk.curves import non_negative
from dpnb.trusted.privacy.loss import brief, rational

_FINEST_PERCENT = 6
"""So many decimals a bound close to 100 % may have."""

Number = Fraction | str | float

_PRIORS = ("0.01", "0.05", "0.1", "0.25", "0.5", "0.75", "0.9")
_LOSSES = ("0.1", "0.25", "0.5", "1", "2", "4")


def posterior(prior: Number, epsilon: Number, delta: Number = 0, chance: Number | None = None) -> float:
    r"""Return the most that a belief about one person can become after an (ε, δ)-DP release.

    Parameters
    ----------
    prior : number
        Belief π before the release, strictly between 0 and 1.
    epsilon : number
        At least 0.
    delta : number
        With δ = 0 the bound holds for every output: :math:`π/(π + (1-π)e^{-ε})` [1]_.
    chance : number, optional
        Needed with δ > 0: the probability α of evidence at least as incriminating, were the belief false. Then the bound
        is :math:`πβ/(πβ + (1-π)α)` with β = :func:`membership_power`. As α falls to 0 it rises to certainty: that is
        what δ permits.

    Examples
    --------
    >>> round(posterior("0.1", "0.5"), 4)
    0.1548
    """
    belief, e, d = _open(prior, "prior"), float(non_negative(epsilon)), _delta(delta)
    if d == 0 and chance is None:
        return belief / (belief + (1 - belief) * exp(-e))
    if chance is None:
        raise LossError(
            "With delta above 0 no belief is bounded for every output. Say how often such evidence arises by chance: "
            "chance=0.05."
        )
    alpha = _open(chance, "chance")
    power = membership_power(alpha, e, d)
    return belief * power / (belief * power + (1 - belief) * alpha)


def membership_power(alpha: Number, epsilon: Number, delta: Number = 0) -> float:
    r"""Return the most power that any test of membership has at false-positive rate `alpha`.

    :math:`\min(e^ε α + δ,\; 1 - e^{-ε}(1 - α - δ),\; 1)`: the published bound :math:`e^ε α` [2]_ with the second branch
    that makes it sharp for every α [3]_.

    Examples
    --------
    >>> round(membership_power("0.05", 1), 4), round(membership_power("0.9", 1), 4)
    (0.1359, 0.9632)
    """
    return 1 - tradeoff(alpha, epsilon, delta)


def tradeoff(alpha: Number, epsilon: Number, delta: Number = 0) -> float:
    r"""Return the least false-negative rate at false-positive rate `alpha` under (ε, δ)-DP.

    :math:`f(α) = \max(0,\; 1 - δ - e^ε α,\; e^{-ε}(1 - δ - α))` [4]_.
    """
    a, e, d = _rate(alpha), float(non_negative(epsilon)), _delta(delta)
    left = 1 - d - exp(e) * a if e < 700 else (1 - d if a == 0 else 0.0)
    return max(0.0, left, exp(-e) * (1 - d - a))


def laplace_tradeoff(alpha: Number, epsilon: Number) -> float:
    r"""Return the curve of real-valued Laplace noise with sensitivity over scale equal to `epsilon` [4]_.

    :math:`1 - e^ε α` up to α = :math:`e^{-ε}/2`, :math:`e^{-ε}/4α` up to ½, :math:`e^{-ε}(1-α)` above.

    Examples
    --------
    >>> [round(1 - laplace_tradeoff("0.05", e), 4) for e in ("0.1", "0.5", "1", "2")]
    [0.0553, 0.0824, 0.1359, 0.3695]
    """
    a, e = _rate(alpha), float(non_negative(epsilon))
    if a > 0.5:
        return exp(-e) * (1 - a)
    if a == 0.0:
        return 1.0
    return 1 - exp(e) * a if a <= exp(-e) / 2 else exp(-e) / (4 * a)


def odds_sentence(prior: Number, epsilon: Number, people: int = 1000) -> str:
    """Say in frequencies what pure ε does to a belief.

    Examples
    --------
    >>> print(odds_sentence("0.1", "0.5"))
    An honest 10 % guess becomes at most 15.5 %: of 1,000 people like this, 100 before and at most 155 after.
    """
    if people < 1:
        raise LossError("people must be at least 1.")
    belief, after = _open(prior, "prior"), posterior(prior, epsilon)
    return (
        f"An honest {at_most(belief)} guess becomes at most {at_most(after)}: of {people:,} people like this, "
        f"{at_most_people(belief, people)} before and at most {at_most_people(after, people)} after."
    )


@dataclass(frozen=True, slots=True, repr=False)
class RiskTable:
    """A small table of bounds: one row for each `index`, one column for each ε.

    Parameters
    ----------
    title, corner : str
        What the cells say; what the rows are.
    index, columns : tuple of str
        Labels, as they were asked.
    cells : tuple of tuple of float
        Rows by columns.
    """

    title: str
    corner: str
    index: tuple[str, ...]
    columns: tuple[str, ...]
    cells: tuple[tuple[float, ...], ...]

    def __repr__(self) -> str:
        body = [[self.corner, *self.columns]]
        body += [[row, *map(at_most, line)] for row, line in zip(self.index, self.cells, strict=True)]
        widths = [max(len(line[i]) for line in body) for i in range(len(body[0]))]
        lines = ["  ".join(cell.rjust(w) for cell, w in zip(line, widths, strict=True)) for line in body]
        return "\n".join([self.title, *lines])


def posterior_table(priors: Sequence[Number] = _PRIORS, epsilons: Sequence[Number] = _LOSSES) -> RiskTable:
    """Return prior → posterior for several ε: the closed form behind D'Orazio, Honaker and King's Table 1 [1]_.

    Examples
    --------
    >>> posterior_table(["0.1"], ["0.5", 1])
    Belief after the release, at most
    prior   ε 0.5     ε 1
     10 %  15.5 %  23.2 %
    """
    return RiskTable(
        "Belief after the release, at most",
        "prior",
        tuple(at_most(_open(prior, "prior")) for prior in priors),
        _labels(epsilons),
        tuple(tuple(posterior(prior, e) for e in epsilons) for prior in priors),
    )


def _labels(epsilons: Sequence[Number]) -> tuple[str, ...]:
    return tuple(f"ε {brief(rational(e))}" for e in epsilons)


def _open(value: Number, name: str) -> float:
    share = rational(value, name=name)
    if not 0 < share < 1:
        raise LossError(f"{name} must be above 0 and below 1, not {brief(share)}.")
    return float(share)


def _rate(value: Number) -> float:
    share = rational(value, name="alpha")
    if not 0 <= share <= 1:
        raise LossError(f"alpha must be from 0 to 1, not {brief(share)}.")
    return float(share)


def _delta(value: Number) -> float:
    delta = rational(value, name="delta")
    if not 0 <= delta < 1:
        raise LossError(f"delta must be from 0 to below 1, not {brief(delta)}.")
    return float(delta)


def at_most(share: float) -> str:
    """Write a bound in percent, rounded up, and never as all where it is less.

    Examples
    --------
    >>> at_most(0.1547), at_most(0.1), at_most(0.99918), at_most(1 - 1e-12), at_most(1)
    ('15.5 %', '10 %', '99.92 %', 'nearly 100 %', '100 %')
    """
    for decimals in range(1, _FINEST_PERCENT + 1):
        unit = 10**decimals
        parts = ceil(
            100 * unit * share - 1e-9
        )  # a float that stands for a whole number may lie an ulp above it
        if parts < 100 * unit or share >= 1:
            return f"{parts / unit:.{decimals}f}".removesuffix(".0") + " %"
    return "nearly 100 %"


def at_most_people(share: float, people: int) -> str:
    """Write a bound as a number of people, rounded up, and never as all where it is less.

    Examples
    --------
    >>> at_most_people(0.1547, 1000), at_most_people(0.9995, 1000)
    ('155', 'nearly 1,000')
    """
    many = ceil(share * people - 1e-9)
    return f"nearly {people:,}" if many >= people and share < 1 else f"{many:,}"

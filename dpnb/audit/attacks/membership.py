r"""Membership: was this person in the study? From many published averages, or from one noisy number.

*Tracing.* With answers a to d questions, a reference p from outsiders and a person's own answers x, the score
:math:`\sum_j (a_j - p_j)(x_j - p_j)` is larger for members; the threshold is set on outsiders at false-alarm rate α.
*Bound.* Under ε no test has power above :math:`\min(αe^ε, 1 - e^{-ε}(1-α))`; the f-DP curve says it for every α at once, and
one number with Laplace noise attains it.

References
----------
Homer et al. (2008); Dwork, Smith, Steinke, Ullman and Vadhan (2015), "Robust Traceability from Trace Amounts"; Wasserman and
Zhou (2010), Theorem 2.4; Dong, Roth and Su (2022).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.audit.attacks.publications import FEWEST, LABELS, Bench, Publication, grid, private, shown
from dpnb.audit.attacks.result import EXACT, AttackResult, AttackRow, epsilon_label, epsilons_of
from dpnb.audit.sampling import Floats
from dpnb.errors import OptionError, PlanError
from dpnb.risk.odds import laplace_tradeoff, membership_power


def membership(
    members: ArrayLike,
    outsiders: ArrayLike,
    *,
    epsilons: Sequence[float] = (0.5, 1, 4, 100, 1_000, EXACT),
    alpha: float = 0.05,
    reps: int = 50,
    rng: int | np.random.Generator = 0,
) -> AttackResult:
    """Tell members from outsiders by the study's averages.

    Parameters
    ----------
    members : array_like of 0 and 1, shape (people, questions)
        The study; its column means are published.
    outsiders : array_like of 0 and 1, shape (others, questions)
        People like them: one half is the attacker's reference, the other half sets the threshold.
    epsilons : sequence of float
        Total pure loss of all published means; ``inf`` publishes them exactly.
    alpha : float
        Share of outsiders that may be accused.
    reps : int
    rng : int or Generator

    Returns
    -------
    AttackResult
        Success is the power of the test; guessing has power alpha.
    """
    inside, outside = np.asarray(members, dtype=float), np.asarray(outsiders, dtype=float)
    if inside.ndim != 2 or outside.ndim != 2 or inside.shape[1] != outside.shape[1] or len(outside) < 40:
        raise OptionError("members and outsiders are tables with the same questions; 40 outsiders at least.")
    if not 0 < alpha < 1 or reps < 2:
        raise OptionError("alpha is above 0 and below 1, and reps is at least 2.")
    generator = np.random.default_rng(rng)
    half = len(outside) // 2
    reference, control = outside[:half].mean(axis=0), outside[half:]
    rows = [
        _row(e, inside, control, reference, alpha, reps if math.isfinite(e) else 2, generator)
        for e in epsilons_of(epsilons)
    ]
    return AttackResult(
        "Membership",
        f"who of {len(inside)} was in a study, from {inside.shape[1]} averages, accusing {100 * alpha:g} % of outsiders",
        "ε in total",
        tuple(rows),
        f"accuse {100 * alpha:g} % at random",
    )


def _row(
    epsilon: float,
    inside: Floats,
    control: Floats,
    reference: Floats,
    alpha: float,
    reps: int,
    generator: np.random.Generator,
) -> AttackRow:
    people, questions = inside.shape
    means = np.broadcast_to(inside.mean(axis=0), (reps, questions))
    if math.isfinite(epsilon):
        means = means + generator.laplace(0, questions / (people * epsilon), (reps, questions))
    power = accused(means, inside, control, reference, alpha).mean(axis=0)
    bound = membership_power(alpha, epsilon) if math.isfinite(epsilon) else None
    return AttackRow(
        epsilon_label(epsilon), float(power.mean()), float(power.std(ddof=1) / math.sqrt(reps)), alpha, bound
    )


def accused(
    means: Floats, inside: Floats, control: Floats, reference: Floats, alpha: float
) -> NDArray[np.bool_]:
    """Return who of the study is accused by its averages, of which some may be unknown: shape (people,), or (people, repetitions)."""
    direction = np.where(np.isfinite(means), means - reference, 0)
    scores, others = ((rows - reference) @ direction.T for rows in (inside, control))
    return np.asarray(scores > np.quantile(others, 1 - alpha, axis=0, method="higher"))


@dataclass(frozen=True, slots=True)
class PowerCurve:
    """Power of membership tests on one noisy number, over false-alarm rates.

    Parameters
    ----------
    epsilon : float
    alpha : ndarray
        False-alarm rates.
    published : ndarray
        The published bound α·e^ε, cut at 1.
    sharp : ndarray
        The sharp bound of ε-DP.
    laplace : ndarray
        The f-DP curve of Laplace noise.
    attained : ndarray
        Power of the likelihood-ratio test, simulated.
    error : ndarray
        Its standard error.
    """

    epsilon: float
    alpha: Floats
    published: Floats
    sharp: Floats
    laplace: Floats
    attained: Floats
    error: Floats

    def plot(self) -> object:
        """Return a matplotlib figure of all four."""
        from matplotlib.figure import Figure

        figure = Figure(figsize=(4.8, 4.4), layout="constrained")
        axes = figure.add_subplot()
        axes.plot(self.alpha, self.published, ":", color="#5b5e66", label="α·e^ε")
        axes.plot(self.alpha, self.sharp, "--", color="#1c1d21", label="most that ε allows")
        axes.plot(self.alpha, self.laplace, "-", color="#0a6480", label="Laplace noise (f-DP)")
        axes.plot(self.alpha, self.attained, "o", color="#0a6480", markersize=4, label="simulated test")
        axes.plot([0, 1], [0, 1], color="#dcdde2", linewidth=1, label="guessing")
        axes.set_xlabel("false alarms, α")
        axes.set_ylabel("power")
        axes.set_title(f"ε = {self.epsilon:g}", fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False, fontsize=9)
        return figure


def membership_curve(
    epsilon: float,
    alphas: ArrayLike | None = None,
    *,
    reps: int = 200_000,
    rng: int | np.random.Generator = 0,
) -> PowerCurve:
    """Test membership on one count with Laplace noise, at every false-alarm rate.

    Parameters
    ----------
    epsilon : float
    alphas : array_like, optional
        Between 0 and 1; default fifty of them.
    reps : int
        Simulated releases with and without the person.
    rng : int or Generator

    Examples
    --------
    >>> curve = membership_curve(1, [0.05])
    >>> round(float(curve.laplace[0]), 4), bool(abs(curve.attained[0] - 0.1359) < 0.005)
    (0.1359, True)
    """
    (loss,) = epsilons_of([epsilon])
    rates = np.linspace(0.01, 0.99, 50) if alphas is None else np.asarray(alphas, dtype=float).ravel()
    if rates.size == 0 or rates.min() <= 0 or rates.max() >= 1:
        raise OptionError("alphas lie strictly between 0 and 1.")
    generator = np.random.default_rng(rng)
    without, present = generator.laplace(0, 1 / loss, (2, reps)) + np.array([[0.0], [1.0]])
    attained = (present[:, None] > np.quantile(without, 1 - rates)).mean(axis=0)
    return PowerCurve(
        loss,
        rates,
        np.minimum(rates * math.exp(loss), 1.0),
        np.array([membership_power(a, loss) for a in rates.tolist()]),
        np.array([1 - laplace_tradeoff(a, loss) for a in rates.tolist()]),
        attained,
        np.sqrt((attained * (1 - attained) + rates * (1 - rates)) / reps),
    )


def on_membership(
    rng: int | Sequence[int], members: ArrayLike | None = None, outsiders: ArrayLike | None = None
) -> Bench:
    """Trace who was in a study through its averages.

    Parameters
    ----------
    rng : int or sequence of int
    members, outsiders : array_like of 0 and 1, shape (people, questions), optional
        Your own people: who was in the study, and others like them.
    """
    generator, alpha = np.random.default_rng(rng), 0.05
    if members is None or outsiders is None:
        rates = generator.uniform(0.1, 0.9, 1_000)
        inside, outside = ((generator.random((n, 1_000)) < rates).astype(float) for n in (100, 1_000))
    else:
        inside, outside = _answers(members, "members"), _answers(outsiders, "outsiders")
    if inside.shape[1] != outside.shape[1]:
        raise PlanError(
            "members and outsiders answer the same questions: give arrays with the same number of columns."
        )
    (size, questions), half = inside.shape, len(outside) // 2
    epsilons = grid(0.1, 1_000, 9)
    known = membership(inside, outside, epsilons=(*epsilons, EXACT), alpha=alpha, reps=20, rng=generator)
    reference, control, means = outside[:half].mean(axis=0), outside[half:], inside.mean(axis=0)

    def caught(seen: Floats) -> NDArray[np.bool_]:
        return accused(seen, inside, control, reference, alpha)

    again = [caught(inside[generator.integers(0, size, size)].mean(axis=0)) for _ in range(20)]
    return Bench(
        "membership",
        f"Who of {size} people was in a study, from {questions:,} published averages; 5 % of outsiders may be accused.",
        known.guess,
        "all averages together",
        epsilons,
        alpha,
        (
            Publication("raw", LABELS["raw"], "Each average is exact.", (known["exact"],)),
            shown("rounded", "Each average is rounded to 5 %.", caught(np.rint(means * 20) / 20), alpha),
            shown(
                "suppressed",
                "Averages of fewer than 20 people with a yes are not shown.",
                caught(np.where(means < 0.2, np.nan, means)),
                alpha,
            ),
            shown("resampled", "The averages are those of one bootstrap resample.", np.array(again), alpha),
            private(
                known.rows[:-1],
                f"{questions:,} averages share one ε.",
                lambda epsilon: membership_power(alpha, epsilon),
            ),
        ),
    )


def _answers(given: ArrayLike, name: str) -> Floats:
    found = np.asarray(given)
    if found.ndim != 2 or len(found) < FEWEST or not np.isin(found, (0, 1)).all():
        raise PlanError(
            f"{name}= is a table of 0 and 1: {FEWEST} people or more, a column for each question."
        )
    return found.astype(np.float64)

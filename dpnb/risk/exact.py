"""Exact composition by privacy loss distributions, through the optional package ``dp-accounting``.

A display and an oracle: **no ledger uses it**, because a distribution is no filter for adaptively chosen losses. Results
are upper bounds (pessimistic discretisation of width `grid`). The package is imported when a function is called.

References
----------
.. [1] Doroshenko, Ghazi, Kamath, Kumar and Manurangsi (2022), "Connect the Dots: Tighter Discrete Approximations of
   Privacy Loss Distributions".
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from dpnb.errors import LossError
from dpnb.trusted.privacy.loss import brief, rational

Number = Fraction | str | float
Kind = Literal["laplace", "gaussian", "pure", "discrete-laplace", "discrete-gaussian"]
_KINDS = ("laplace", "gaussian", "pure", "discrete-laplace", "discrete-gaussian")


@dataclass(frozen=True, slots=True)
class Step:
    """One mechanism, used `times` times, with parameters fixed in advance.

    Parameters
    ----------
    kind : {"laplace", "gaussian", "pure", "discrete-laplace", "discrete-gaussian"}
        ``"pure"`` is the worst of all ε-DP mechanisms; ``"laplace"`` and ``"gaussian"`` are real-valued laws.
    amount : number
        ε of ``laplace`` and ``pure``; ρ of ``gaussian``; the scale of ``discrete-laplace``; σ² of ``discrete-gaussian``.
    times : int
        How often.
    sensitivity : int
        In grid steps, for the discrete laws.
    """

    kind: Kind
    amount: Number
    times: int = 1
    sensitivity: int = 1

    def __post_init__(self) -> None:
        if self.kind not in _KINDS:
            raise LossError(f"kind is one of {', '.join(_KINDS)}.")
        if rational(self.amount, name="amount") <= 0 or self.times < 1 or self.sensitivity < 1:
            raise LossError("amount must be above 0; times and sensitivity at least 1.")


def exact_epsilon(steps: Sequence[Step], delta: Number, grid: float = 1e-4) -> float:
    """Return an ε such that all steps together are (ε, δ)-DP.

    Raises
    ------
    LossError
        When ``dp-accounting`` is not installed, or δ is not in (0, 1).
    """
    d = rational(delta, name="delta")
    if not 0 < d < 1:
        raise LossError(f"delta must be above 0 and below 1, not {brief(d)}. Write for example delta=1e-6.")
    return float(_composed(steps, grid).get_epsilon_for_delta(float(d)))


def _composed(steps: Sequence[Step], grid: float) -> Any:
    if not steps:
        raise LossError("There is no step to compose.")
    library = _library()
    total = None
    for step in steps:
        one = _distribution(library, step, grid).self_compose(step.times)
        total = one if total is None else total.compose(one)
    return total


def _distribution(library: Any, step: Step, grid: float) -> Any:
    amount = float(rational(step.amount))
    size = {"value_discretization_interval": grid}
    match step.kind:
        case "laplace":
            return library.from_laplace_mechanism(1 / amount, **size)
        case "gaussian":
            return library.from_gaussian_mechanism((2 * amount) ** -0.5, **size)
        case "discrete-laplace":
            return library.from_discrete_laplace_mechanism(1 / amount, step.sensitivity, **size)
        case "discrete-gaussian":
            return library.from_discrete_gaussian_mechanism(amount**0.5, step.sensitivity, **size)
        case _:
            parameters = library.common.DifferentialPrivacyParameters(amount, 0)
            return library.from_privacy_parameters(parameters, **size)


def _library() -> Any:
    try:
        return importlib.import_module("dp_accounting.pld.privacy_loss_distribution")
    except ImportError:
        raise LossError(
            'Exact composition needs the package dp-accounting: pip install "dpnb[accounting]".'
        ) from None

"""What the coverage lab is set to: checked here, whoever set it, and what each control may be set to."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, fields, replace
from typing import get_args

from dpnb.errors import PlanError
from dpnb.inference.bootstrap import Kind as BootstrapKind
from dpnb.widgets.registry import a_whole
from dpnb.widgets.scenes import ASKED, DECLARED, SCENES

#: What each interval is, in words.
WORDS = {
    "naive": "treats the noised numbers as exact",
    "normal": "noise-aware: adds the noise's variance, with a normal quantile",
    "confidence": "noise-aware: the release's own exact test; a mean pays for its second moment",
    "monte carlo": "noise-aware: draws noise and sampling again (Algorithm 2)",
    "privacy": "about this dataset: what the noise alone hides",
    "unbiased": "bootstrap: the noise is subtracted from the spread; can be zero",
    "conservative": "bootstrap: the noise is subtracted where it is likely",
    "most conservative": "bootstrap: the noise is not subtracted",
    "deconvolved": "bootstrap: the law behind the noise is estimated (deconvolution)",
}
METHODS = tuple(WORDS)
BOOTSTRAP = (*get_args(BootstrapKind), "deconvolved")
USUAL = ("naive", "normal", "confidence", "privacy")
VIEWS = ("studies", "loss", "n", "k")
OWN, QUESTION = "own", "question"
MOST = {"n": 100_000_000, "reps": 1_000_000, "k": 500}
#: From so many rows on a study is drawn as counts of distinct rows.
LARGE = 20_000


@dataclass(frozen=True, slots=True)
class Setup:
    """What a lab simulates; what the browser sets is checked here.

    Parameters
    ----------
    statistic, population : str
        Keys of :data:`dpnb.widgets.scenes.ASKED` and :data:`~dpnb.widgets.scenes.SCENES`.
    n, reps, seed : int
        Rows of a study, studies, and the seed of everything drawn.
    kind, loss : str, float
        ``"epsilon"`` or ``"rho"``, and its amount.
    level : float
        The level that the intervals claim.
    k : int
        Resamples of the bootstrap.
    repaired : bool
        Whether the bootstrap gets the noise that keeps its promise.
    skew, outliers, share, effect : float
        Of the declared population.
    computed : tuple of str
        The methods that are computed; those that are not shown among them too, so that hiding one loses nothing.
    """

    statistic: str = "mean"
    population: str = "skewed"
    n: int = 500
    kind: str = "epsilon"
    loss: float = 0.5
    reps: int = 1000
    seed: int = 1
    level: float = 0.95
    k: int = 50
    repaired: bool = False
    skew: float = 0.5
    outliers: float = 0.0
    share: float = 0.3
    effect: float = 0.1
    computed: tuple[str, ...] = field(default=USUAL)

    def __post_init__(self) -> None:
        if self.statistic not in (*ASKED, QUESTION):
            raise PlanError(f"statistic is one of {', '.join(ASKED)}, not {self.statistic!r}.")
        if self.population not in (*SCENES, OWN, DECLARED):
            some = ", ".join([*list(SCENES)[:9], "…"])
            raise PlanError(f"population is one of {some}, or an array with lower= and upper=.")
        if self.kind not in ("epsilon", "rho"):
            raise PlanError('A loss is measured in "epsilon" or "rho".')
        _number("the loss", self.loss, 1e-4, 100)
        _number("level", self.level, 0.5, 0.999)
        _number("skew", self.skew, -1, 1)
        _number("outliers", self.outliers, 0, 0.5)
        _number("the share", self.share, 0.001, 0.999)
        _number("effect", self.effect, -0.95, 0.95)
        a_whole("n", self.n, 10, MOST["n"])
        a_whole("reps", self.reps, 1, MOST["reps"])
        a_whole("rng", self.seed, 0, 2**53)
        a_whole("k", self.k, 10, MOST["k"])
        if not isinstance(self.repaired, bool):
            raise PlanError("repaired is True or False.")

    @property
    def resampled(self) -> str:
        """Why the bootstrap does not fit what is asked; empty where it does."""
        if self.statistic not in ("mean", "proportion"):
            return "The bootstrap here is of a mean: choose mean or proportion."
        if self.n > LARGE:
            return f"The bootstrap here is of at most {LARGE:,} rows: choose a smaller n."
        return "" if self.kind == "rho" else "The bootstrap is paid in ρ: measure in ρ."

    @property
    def symbol(self) -> str:
        """ε or ρ."""
        return "ε" if self.kind == "epsilon" else "ρ"


def changed(setup: Setup, given: object, shown: list[str]) -> Setup:
    """Return a setup with what was set, and with the methods computed that are shown."""
    known = {one.name for one in fields(Setup)} - {"computed"}
    if not isinstance(given, dict) or set(given) - known:
        raise PlanError(f"A setup has {', '.join(sorted(known))}.")
    computed = tuple(name for name in METHODS if name in {*setup.computed, *shown})
    return replace(setup, **given, computed=computed)


def shown_methods(given: object) -> list[str]:
    """Read the methods that are shown, in their order."""
    asked = [given] if isinstance(given, str) else given
    chosen = list(asked) if isinstance(asked, Iterable) else []
    if not chosen or any(name not in METHODS for name in chosen):
        raise PlanError(f"methods= names at least one of {', '.join(METHODS)}.")
    return [name for name in METHODS if name in chosen]


def _number(name: str, value: object, low: float, high: float) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise PlanError(f"{name} is a number from {low:g} to {high:g}.")

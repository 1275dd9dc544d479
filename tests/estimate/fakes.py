"""Outcomes with known noise, and questions without a plan: what the tests of this room release."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from dpnb.errors import Unavailable
from dpnb.estimate import Estimate, ask
from dpnb.inference.interval import Interval
from dpnb.statistics import BY_NAME
from dpnb.statistics._base import Axis
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.releases import Release, ReleasedPart

_ids = itertools.count()


@dataclass(frozen=True)
class Checked:
    text: str
    shape: tuple[int, ...] | None = ()
    axes: tuple[Any, ...] = ()
    statistic: str = "mean"

    @property
    def kind(self):
        """The statistic."""
        return BY_NAME[self.statistic]


@dataclass(frozen=True, eq=False)
class FakeOutcome:
    """A value with additive normal or Laplace noise of standard deviation `sd`, and sampling error `se`."""

    value: Any
    sd: float = 0.1
    se: float = 0.0
    law: str = "normal"
    domain: tuple[float, float] = (-np.inf, np.inf)
    n: Any = 100
    n_eff: Any = 90
    flags: tuple[str, ...] = ()
    additive: bool = True
    cell_flags: tuple[tuple[str, ...], ...] = ()
    labels: tuple[Any, ...] = ()
    across: None = None
    along: None = None
    calendar: None = None
    estimand: str = ""
    drawn: bool = False

    @property
    def shape(self):
        return np.shape(self.value)

    @property
    def standard_error(self):
        se = float(np.hypot(self.sd, self.se))
        return np.full(self.shape, se) if self.shape else se

    def interval(self, level, kind):
        half = noise_law(self.law, self.sd).ppf((1 + level) / 2)
        if kind == "confidence":
            half = float(np.hypot(half, self.se * stats.norm.ppf((1 + level) / 2)))
        value = np.asarray(self.value, dtype=float)
        ends = np.clip([value - half, value + half], *self.domain)
        low, high = (float(ends[0]), float(ends[1])) if not self.shape else ends
        return Interval(low, high, level, kind, "fake")

    def draws(self, count, rng, kind):
        if not self.additive:
            raise Unavailable("the noise of a selection is not added to a value")
        noise = draw_noise(self.law, self.sd, (count, *self.shape), rng)
        if kind == "confidence":
            noise = noise + self.se * rng.of("sampling").standard_normal((count, *self.shape))
        return self.value - noise


def noise_law(law: str, sd: float) -> Any:
    return stats.norm(scale=sd) if law == "normal" else stats.laplace(scale=sd / np.sqrt(2))


def draw_noise(law: str, sd: float, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    return rng.normal(0, sd, shape) if law == "normal" else rng.laplace(0, sd / np.sqrt(2), shape)


def pending(
    text: str = "hiv.got.mean()", shape: Any = (), *, keys: Any = None, statistic: str = "mean"
) -> Estimate:
    """A pending estimate of a question with that text."""
    axes = () if keys is None else (Axis("village", "village", tuple(keys)),)
    shape = (len(keys),) if keys is not None else shape
    return ask(text, Checked(text, shape, axes, statistic), dataset=None)


def make_release(text: str = "hiv.got.mean()", *, id: str | None = None, epsilon: Any = "0.5") -> Release:
    name = f"{next(_ids):032x}" if id is None else id
    part = ReleasedPart("sum", {"kind": "discrete-laplace", "scale": "4"}, (12, -3), name + "-0")
    return Release(name, text, "hiv", "v1", (part,), PrivacyLoss.pure(epsilon), "1/2", False, "2026-01-01", 7)


def fill(estimate: Estimate, value: Any = 0.7, *, id: str | None = None, **outcome: Any) -> Estimate:
    """Release a pending leaf in place, and return it."""
    measurement = estimate.measurement
    measurement.fill((make_release(measurement.text, id=id),), FakeOutcome(value, **outcome))
    return estimate


def released(
    value: Any = 0.7, text: str = "hiv.got.mean()", *, keys: Any = None, id: str | None = None, **outcome: Any
):
    """A released leaf."""
    value = np.asarray(value, dtype=float) if np.ndim(value) else float(value)
    return fill(pending(text, np.shape(value), keys=keys), value, id=id, **outcome)

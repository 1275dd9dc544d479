"""A verdict: two neighbours, one event, its two probabilities, and the least privacy loss that explains them.

A frozen value that can be read as text, as a card and as JSON. It never says that a mechanism *is* private: an audit can
only refute, and says "nothing found against the claim" when it does not.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpnb.audit.noise_fit import NoiseFit
from dpnb.cards.card import Card, frame
from dpnb.cards.markup import Markup, el
from dpnb.inference.digits import loss_figure

_SEEN = 0.01

ROUNDING = 1e-9
"""What floating point may add to an enumerated log-ratio."""


@dataclass(frozen=True, slots=True)
class Side:
    """One of the two neighbours, and how often the event happened there.

    Parameters
    ----------
    data : str
        The dataset in words.
    hits : int or None
        Runs in which the event happened; None where the probability is exact.
    probability : float
        Exact, or the share of runs.
    bound : float
        The exact probability again, or the confidence limit that enters the verdict.
    """

    data: str
    hits: int | None
    probability: float
    bound: float


@dataclass(frozen=True, slots=True, repr=False)
class Verdict:
    """What an audit found.

    Parameters
    ----------
    mechanism : str
        Its name.
    loss : float
        The exact loss between the two neighbours, or a lower bound of it; may be infinite.
    claim : float or None
        The promised loss.
    symbol : {"ε", "ρ"}
        What both are measured in.
    delta : float
        The δ allowed beside ε.
    exact : bool
        Whether `loss` was enumerated.
    event : str
        The event in words; for an exact ρ, the Rényi order.
    likely, unlikely : Side
        Where the event is likely, and where it is not.
    trials : int
        Fresh runs of each neighbour; 0 when exact.
    alpha : float
        Probability that a lower bound is wrong; 0 when exact.
    note : str
        How a claim in another measure was read, or a function was run.
    least_delta : float or None
        The smallest δ at which the claimed ε holds between these neighbours, or a lower bound of it (wrong with probability at most
        `alpha`, like the bound of the loss); None where no ε is claimed.
    fits : tuple of NoiseFit
        Where a law was expected: how the draws on either neighbour fit it. Both together fail a right mechanism with probability at
        most `alpha`.
    repeats : bool
        Whether a mechanism that takes ``size`` gives the same answers in two calls: its seed is fixed, and whoever knows it can remove the noise.

    Examples
    --------
    >>> from dpnb.audit import audit
    >>> coin = lambda x: {"yes": 0.75 if x else 0.25, "no": 0.25 if x else 0.75}
    >>> verdict = audit(coin, (1, 0), claim=1)
    >>> verdict.breaks, round(verdict.least_delta, 3)
    (True, 0.07)
    """

    mechanism: str
    loss: float
    claim: float | None
    symbol: str
    delta: float
    exact: bool
    event: str
    likely: Side
    unlikely: Side
    trials: int = 0
    alpha: float = 0.0
    note: str = ""
    least_delta: float | None = None
    fits: tuple[NoiseFit, ...] = ()
    repeats: bool = False

    @property
    def passes(self) -> bool:
        """Whether nothing was found: neither against the claim nor against the expected law, and no fixed seed."""
        return not self.breaks and not self.repeats and all(fit.passes for fit in self.fits)

    @property
    def unbounded(self) -> bool:
        """Whether an output of one neighbour is impossible under the other; by runs, whether it never happened there.

        By runs, only an event with a probability of 1 % or more under A counts: no ε below 4.9 explains it.
        """
        if self.exact:
            return math.isinf(self.loss)
        return self.unlikely.hits == 0 and self.likely.bound - self.delta >= _SEEN

    @property
    def breaks(self) -> bool:
        """Whether the loss exceeds the claim, beyond the rounding of an enumeration."""
        return self.claim is not None and self.loss > self.claim + (ROUNDING if self.exact else 0.0)

    @property
    def headline(self) -> str:
        """The finding in one sentence."""
        found = self._found()
        if self.claim is None:
            return f"{found} between these neighbours"
        if self.breaks:
            return f"claim broken: {found}, where {loss_figure(self.claim)} is claimed"
        if self.repeats:
            return (
                f"the seed is fixed: two calls give the same answers, so the noise can be removed ({found})"
            )
        if not self.passes:
            return f"not the expected noise: {self._misfit()} ({found}; {loss_figure(self.claim)} is claimed)"
        return f"nothing found against the claim {self.symbol} = {loss_figure(self.claim)}: {found} here"

    def _found(self) -> str:
        beside = f" beside δ = {self.delta:g}" if self.delta else ""
        if self.exact and self.unbounded:
            return f"{self.symbol} is unbounded{beside}"
        never = " and looks unbounded" if self.unbounded else ""
        return f"{self.symbol} is {'' if self.exact else 'at least '}{loss_figure(self.loss)}{never}{beside}"

    def _misfit(self) -> str:
        return next(fit for fit in self.fits if not fit.passes).words

    def rows(self) -> list[tuple[str, str]]:
        """The particulars, a name and a text each."""
        lines = [
            ("mechanism", self.mechanism),
            ("neighbours", f"A: {self.likely.data}"),
            ("", f"B: {self.unlikely.data}"),
            ("event" if self.has_event else "measure", self.event),
        ]
        if self.has_event:
            lines.append(("under A", self._randomness(self.likely, "at least")))
            lines.append(("under B", self._randomness(self.unlikely, "at most")))
        lines += self._delta_row()
        lines += [(f"noise on {'AB'[i]}", fit.words) for i, fit in enumerate(self.fits)]
        lines.append(("certainty", self._certainty()))
        return lines + ([("note", self.note)] if self.note else [])

    def _delta_row(self) -> list[tuple[str, str]]:
        if self.least_delta is None or self.claim is None or not self.breaks:
            return []
        word = "exactly" if self.exact else "at least"
        return [
            ("to mend it", f"ε = {loss_figure(self.claim)} would need a δ of {word} {self.least_delta:.3g}")
        ]

    @property
    def has_event(self) -> bool:
        """Whether the loss is shown by an event; a divergence is an average over all outputs."""
        return not math.isnan(self.likely.probability)

    def _randomness(self, side: Side, word: str) -> str:
        if side.hits is None:
            return f"probability {chance(side.probability)}, exactly" if side.probability else "impossible"
        return f"{side.hits:,} of {self.trials:,} runs; probability {word} {chance(side.bound)}"

    def _certainty(self) -> str:
        if self.exact:
            return "the whole law was enumerated"
        fit = f"; right noise fails with probability at most {self.alpha:g}" if self.fits else ""
        return (
            f"the bound is wrong with probability at most {self.alpha:g}; "
            f"its event was chosen on {self.trials:,} other runs{fit}"
        )

    @property
    def text(self) -> str:
        """The verdict for a terminal."""
        return "\n".join([self.headline, *(f"  {name:<10}  {said}" for name, said in self.rows())])

    def to_json(self) -> dict[str, object]:
        """The facts in JSON's own types; an infinite loss is the text ``"inf"``."""
        return {
            "format": 1,
            "mechanism": self.mechanism,
            "loss": self.loss if math.isfinite(self.loss) else "inf",
            "claim": self.claim,
            "measure": self.symbol,
            "delta": self.delta,
            "breaks": self.breaks,
            "passes": self.passes,
            "unbounded": self.unbounded,
            "least_delta": self.least_delta,
            "repeats": self.repeats,
            "noise": [fit.to_json() for fit in self.fits],
            "exact": self.exact,
            "event": self.event,
            "sides": [_side(side) for side in (self.likely, self.unlikely)],
            "trials": self.trials,
            "alpha": self.alpha,
        }

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: object) -> dict[str, object]:
        return verdict_card(self).bundle()


def _side(side: Side) -> dict[str, object]:
    known = not math.isnan(side.probability)
    return {
        "data": side.data,
        "hits": side.hits,
        "probability": side.probability if known else None,
        "bound": side.bound if known else None,
    }


def chance(value: float) -> str:
    """Write a probability in percent with three digits."""
    return f"{100 * value:.3g} %"


def verdict_card(verdict: Verdict) -> Card:
    """Return the card of a verdict.

    Parameters
    ----------
    verdict : Verdict
    """
    html = frame(
        el("div", el("h3", "Privacy audit"), el("span", _mark(verdict), class_="badge"), class_="head"),
        el("p", el("strong", verdict.headline, class_=None if verdict.passes else "flag")),
        el(
            "table",
            *(
                el("tr", el("th", name, scope="row", class_="keep"), el("td", said))
                for name, said in verdict.rows()
            ),
            class_="slim",
        ),
        _scale(verdict) if verdict.has_event else None,
    )
    return Card(html, verdict.text, verdict.to_json(), "audit")


def _mark(verdict: Verdict) -> str:
    if verdict.breaks:
        return "claim broken"
    if not verdict.passes:
        return "not the expected noise" if not verdict.repeats else "fixed seed"
    return "exact" if verdict.exact else "lower bound"


def _scale(verdict: Verdict) -> Markup:
    """Both probabilities as bars: what the neighbour may differ by, made visible."""
    words = (
        f"the event has probability {chance(verdict.likely.probability)} under A "
        f"and {chance(verdict.unlikely.probability)} under B: {verdict.symbol} {loss_figure(verdict.loss)}"
    )
    return el(
        "svg",
        el("title", "probability of the event under each neighbour"),
        el("desc", words),
        *_bar(verdict.likely.probability, 0, "pv"),
        *_bar(verdict.unlikely.probability, 12, "used"),
        height="20",
        role="img",
        aria_label=words,
    )


def _bar(share: float, top: int, name: str) -> list[Markup]:
    width = f"{100 * min(max(share, 0.0), 1.0):.2f}%"
    return [
        el("rect", x="0", y=str(top), width="100%", height="8", class_="room"),
        el("rect", x="0", y=str(top), width=width, height="8", class_=name),
    ]

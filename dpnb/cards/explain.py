"""How a number came about, told in order: the question, what was released, the noise, the intervals, the odds."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dpnb.cards.card import Card, Record, frame, heading
from dpnb.cards.facts import Line, law_words, line_of
from dpnb.cards.markup import el
from dpnb.estimate import Estimate
from dpnb.inference import digits
from dpnb.inference.law import read_law
from dpnb.risk.odds import at_most
from dpnb.trusted.mechanisms import MECHANISMS
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """Steps, each a heading and a sentence; text in a terminal, HTML in a notebook."""

    title: str
    steps: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "\n".join([self.title, *(f"  {name}: {words}" for name, words in self.steps)])

    __repr__ = __str__

    def card(self) -> Card:
        """The explanation as a card."""
        rows = [
            el("tr", el("th", name, scope="row", class_="strong keep"), el("td", words))
            for name, words in self.steps
        ]
        html = frame(heading(self.title), el("table", el("tbody", *rows)))
        record: Record = {"format": 1, "title": self.title, "steps": [list(step) for step in self.steps]}
        return Card(html, str(self), record, "explanation")

    def bundle(self) -> Record:
        """The MIME bundle."""
        return self.card().bundle()

    def _repr_mimebundle_(self, **_: object) -> Record:
        return self.bundle()


def posterior(prior: float, epsilon: float) -> float:
    """Return the most that an honest guess can become under pure ε: odds grow by at most e^ε.

    Parameters
    ----------
    prior : float
        Probability before, between 0 and 1.
    epsilon : float
        The loss.

    Examples
    --------
    >>> round(posterior(0.1, 0.5), 3)
    0.155
    """
    return 1 / (1 + (1 - prior) / prior * math.exp(-epsilon))


def odds_sentence(epsilon: float, prior: float = 0.1) -> str:
    """Say what ε means as a risk.

    Examples
    --------
    >>> odds_sentence(0.5)
    'an honest 10 % guess about one person becomes at most 15.5 %'
    """
    return f"an honest {digits.percent(prior)} guess about one person becomes at most {at_most(posterior(prior, epsilon))}"


def explain(estimate: Estimate) -> Explanation:
    """Return how an estimate came about, pending or released."""
    if estimate.pending:
        steps = (
            ("question", estimate.text),
            ("state", "pending: nothing was asked of the data, nothing was spent"),
        )
        return Explanation(f"{estimate.text} (pending)", steps)
    line = line_of(estimate)
    steps_ = [("question", line.question)]
    if line.estimand:
        steps_.append(("estimand", line.estimand))
    if line.derived:
        asked = "; ".join(leaf.text for leaf in estimate.leaves())
        steps_.append(("computed from", f"{asked}: arithmetic on released numbers costs nothing"))
    noise = "; ".join(dict.fromkeys(w for leaf in estimate.leaves() for w in law_words(leaf.releases)))
    if noise:
        steps_.append(("noise", noise))
    steps_ += _proofs(estimate)
    loss = estimate.loss
    steps_.append(("loss", f"{loss}" + (_odds(loss) if loss else "; the schema answers it")))
    steps_ += _numbers(line)
    return Explanation(line.name, tuple(steps_))


def _proofs(estimate: Estimate) -> list[tuple[str, str]]:
    used = {type(read_law(part.law)) for release in estimate.releases for part in release.parts}
    return [
        (mechanism.title, f"{mechanism.summary} Status: proven ({mechanism.reference}).")
        for mechanism in MECHANISMS
        if mechanism in used
    ]


def _odds(loss: PrivacyLoss) -> str:
    if loss.measure is not Measure.PURE:
        return ""
    return f": {odds_sentence(float(loss.amount))}"


def _numbers(line: Line) -> list[tuple[str, str]]:
    steps = []
    if line.scalar:
        entry = line.entries[0]
        steps.append(("value", line.answer(entry)))
        told = {
            "privacy": "what the noise hides about this dataset",
            "confidence": "what sampling and noise hide about the population",
        }
        for kind, pair in (("privacy", entry.privacy), ("confidence", entry.confidence)):
            if pair is not None:
                steps.append((f"{kind} interval", f"{line.span(pair)}, 95 %: {told[kind]}"))
        if said := line.accuracy(entry):
            steps.append(("accuracy", f"{said}: {line.people}"))
    else:
        steps.append(("values", f"{line.size:,}: .table() lists them with their intervals"))
    steps += [("no interval", reason) for reason in dict.fromkeys(line.missing.values())]
    return steps + [("note", flag) for flag in line.flags]

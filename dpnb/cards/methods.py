"""The methods paragraph: what a paper must say about differentially private results, ready to paste.

Data and unit, promise and budget, mechanisms by name, the loss and how it was split, bounds, and the software's version: the
fields of the public registries of deployments, in prose. Scales in grid steps stay out: they follow from the losses.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpnb.cards.markup import clean
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.estimate.pending_question import distinct, paid_for
from dpnb.inference.digits import number
from dpnb.inference.law import read_law
from dpnb.planner.expression import Expr
from dpnb.planner.question import Question
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.schema import Column, Mode, Schema
from dpnb.version import __version__

_LISTED = 6  # questions whose losses are named one by one
FLAVOURS = {
    Measure.PURE: "pure ε-differential privacy",
    Measure.ZCDP: "ρ-zero-concentrated differential privacy (zCDP)",
    Measure.APPROX_ZCDP: "(ε, δ)-differential privacy, accounted as approximate zCDP",
}
NEIGHBOURS = {
    "change-one": "neighbouring datasets have the same size and differ in the data of one unit (change-one adjacency)",
    "add-remove": "neighbouring datasets differ by adding or removing one unit (add-remove adjacency)",
}


def methods(estimates: Sequence[Estimate], schemas: Sequence[Schema] = ()) -> str:
    """Return a methods paragraph ready to paste.

    Parameters
    ----------
    estimates : sequence of Estimate
        Released.
    schemas : sequence of Schema
        The datasets that they are about.
    """
    asked = _asked(estimates)
    sentences = [_opening(len(asked))]
    for schema in schemas:
        sentences += [_promise(schema), *_bounds(schema, asked_of(estimates, schema, schemas))]
    sentences += [*_mechanisms(asked, schemas), *_cost(asked), *_estimands(estimates)]
    sentences.append(
        "Privacy intervals (95 %) invert the known law of the noise and are about the dataset; confidence intervals "
        f"(95 %) add sampling error and are about the population. Computed with dpnb {__version__}."
    )
    return " ".join(sentences)


def _asked(estimates: Sequence[Estimate]) -> list[PendingQuestion]:
    """The released questions behind estimates, each once."""
    return list({leaf.text: leaf for one in estimates for leaf in one.leaves() if leaf.releases}.values())


def asked_of(
    estimates: Sequence[Estimate], schema: Schema, schemas: Sequence[Schema]
) -> list[PendingQuestion]:
    """Return the released questions about one of several datasets."""
    asked = _asked(estimates)
    return [one for one in asked if one.question.dataset == schema.name] if len(schemas) > 1 else asked


def _opening(count: int) -> str:
    said = "one question" if count == 1 else f"{count} questions"
    return f"The results are differentially private. They answer {said}."


def _promise(schema: Schema) -> str:
    unit = "one row" if schema.unit.by_row else f"all rows of one {clean(schema.unit.unit)}"
    return (
        f"For {clean(schema.title or schema.name)}, the guarantee is {FLAVOURS[schema.budget.measure]} in the central model (a trusted curator holds the data); the privacy unit is "
        f"{unit}, and {NEIGHBOURS[schema.unit.adjacency]}. The total budget of the dataset is {schema.budget.label}."
    )


def _bounds(schema: Schema, asked: Sequence[PendingQuestion]) -> list[str]:
    """Name the bounds of the numeric columns that were asked about."""
    read = {
        name for one in asked for expression in _expressions(one.question) for name in expression.columns()
    }
    held = [_range(one) for one in schema.columns if one.name in read and one.numeric and one.values is None]
    if not held:
        return []
    said = (
        f"Numbers were rounded to a declared grid and clamped to declared bounds before anything was computed ({', '.join(held)}); "
        "missing values were treated as declared."
    )
    return [said]


def _expressions(question: Question) -> list[Expr]:
    given = (question.target, question.where, question.other, *question.by, *question.others)
    return [one for one in given if one is not None]


def _range(column: Column) -> str:
    low, high = (number(float(end)) for end in (column.bounds if column.numeric else (0, 0)))
    return f"{clean(column.name)}: {low} to {high}"


def _mechanisms(asked: Sequence[PendingQuestion], schemas: Sequence[Schema]) -> list[str]:
    names = mechanisms_of(asked)
    if not names:
        return []
    taught = any(schema.mode is Mode.TEACHING for schema in schemas)
    chance = "" if taught else " from operating-system entropy"
    said = f"Mechanisms: {'; '.join(names)}. Noise was drawn by exact integer samplers{chance} and added in integer arithmetic."
    return [
        said,
        *(["The data are public and for teaching: noise may have come from a seed."] if taught else []),
    ]


def mechanisms_of(asked: Sequence[PendingQuestion]) -> list[str]:
    """Return the mechanisms that answered, each once."""
    laws = [part.law for one in asked for release in one.releases for part in release.parts]
    return list(dict.fromkeys(read_law(law).phrase for law in laws))


def _cost(asked: Sequence[PendingQuestion]) -> list[str]:
    """Say what the releases cost together, and how that was split."""
    total = total_of(asked)
    if total is None:
        return []
    said = (
        f"The releases reported here cost {total} together. This adds up the losses of the separate releases, "
        "which is valid for adaptively chosen questions"
    )
    return [f"{said}{_split(asked)}."]


def _split(asked: Sequence[PendingQuestion]) -> str:
    """Each question's loss, where no two questions share a draw."""
    shared = len(distinct(drawn := [release for one in asked for release in one.releases])) < len(drawn)
    if shared or not 1 < len(asked) <= _LISTED:
        return ""
    return f": {'; '.join(f'{clean(one.text)} {paid_for(one.releases)}' for one in asked)}"


def _estimands(estimates: Sequence[Estimate]) -> list[str]:
    """Name what is estimated where values are clamped to bounds."""
    found = dict.fromkeys(said for one in estimates if (said := clean(one.estimand)))
    return [f"Estimated are: {'; '.join(found)}."] if found else []


def total_of(asked: Sequence[PendingQuestion]) -> PrivacyLoss | None:
    """Return what releases cost together, each once; nothing where their measures differ."""
    releases = [release for one in asked for release in one.releases]
    return paid_for(releases) if len({release.loss.measure for release in releases}) == 1 else None

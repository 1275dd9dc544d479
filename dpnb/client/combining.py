"""One estimate out of several answers to the same question: free, because it only reads what was released.

Answers are weighted by one over their noise variance; a release that two answers share counts once, because its noise is
the same noise. Different questions, datasets or versions of the data are refused: their true values differ.
"""

from __future__ import annotations

from itertools import chain

from dpnb.errors import OptionError, PlanError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.estimate.pending_question import distinct
from dpnb.statistics import conclude
from dpnb.trusted.releases import Release


def combine(*estimates: Estimate) -> Estimate:
    r"""Combine released answers of one question, with weights proportional to one over the noise variance.

    Parameters
    ----------
    *estimates : Estimate
        Two or more released answers to the same question, about the same version of the same data. For a single one, every stored
        answer to its question is fetched, also from earlier sessions; this is free too.

    Returns
    -------
    Estimate
        A new estimate from all their releases, each counted once. It costs nothing. Selections, such as quantiles, cannot be
        averaged: the answer with the largest loss is used.

    Raises
    ------
    OptionError
        Without an estimate.
    PlanError
        For a derived, pending or public answer, and for answers to different questions or about different data.

    Notes
    -----
    With noise variances :math:`V_i` the weights are :math:`w_i ∝ 1/V_i` and the variance is :math:`1/\sum 1/V_i`.

    Examples
    --------
    >>> both = dpnb.combine(monday, tuesday)  # doctest: +SKIP
    >>> every = dpnb.combine(monday)  # doctest: +SKIP
    """
    if not estimates:
        raise OptionError(
            "dpnb.combine takes released answers: dpnb.combine(first, second). Given one, it combines all that are stored of its question."
        )
    answers = [_answer(one) for one in estimates]
    first = answers[0]
    for other in answers[1:]:
        _refuse_different(first, other)
    known = (
        first.dataset.session.held(first)
        if len(answers) == 1
        else chain.from_iterable(one.releases for one in answers)
    )
    releases = distinct(known)
    both = PendingQuestion(first.question, first.checked, dataset=first.dataset)
    both.fill(releases, conclude(first.checked, releases))
    return Estimate.leaf(both)


def _answer(estimate: Estimate) -> PendingQuestion:
    if not isinstance(estimate, Estimate):
        raise OptionError(f"dpnb.combine takes released answers, not {type(estimate).__name__}.")
    answer = estimate.measurement
    if answer is None:
        raise PlanError(
            "This value is derived. Combine the answers that it is made of, then derive it again."
        )
    if not answer.released:
        raise PlanError(f"`{answer.text}` is not released yet: release it first, with %%dp epsilon=1.")
    if not answer.releases:
        raise PlanError(f"`{answer.text}` is public: it is exact already.")
    return answer


def _refuse_different(first: PendingQuestion, other: PendingQuestion) -> None:
    if first.question.canonical() != other.question.canonical():
        raise PlanError(
            f"`{first.text}` and `{other.text}` are different questions. Combine answers of the same one."
        )
    if {_data(one) for one in first.releases} != {_data(one) for one in other.releases}:
        raise PlanError(
            f"The two answers of `{first.text}` come from different data, or versions of it. Their true values differ: "
            "ask again on the present data."
        )
    if first.checked != other.checked:
        raise PlanError(
            f"`{first.text}` was asked under two different schemas. Ask again under the present one."
        )


def _data(release: Release) -> tuple[str, str]:
    return (release.dataset, release.data_version)

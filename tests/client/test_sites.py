"""An analysis by 33 sites: one question, charged once however many sites, drawn by effect and by size beside the exact values."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from dpnb.datasets import find
from dpnb.datasets.trial import SITES
from dpnb.errors import OptionError
from dpnb.estimate import Estimate, PendingQuestion
from dpnb.inference.simulated_release import release_part
from dpnb.planner import Ask, Item, Question, price
from dpnb.planner.expression import Ref
from dpnb.statistics import conclude
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.releases import Release, ReleasedPart
from dpnb.trusted.schema import Column, Schema

GOT, ANY, SITE = Ref("got"), Ref("any"), Ref("site")


def priced(schema, by):
    """Return the one question of a batch at ε 1."""
    item = Item(Question(schema.name, "difference", GOT, None, by))
    return price((item,), Ask.make(epsilon=1), schema).items[0]


def schema_of(adjacency):
    """Return the trial's columns under an adjacency."""
    unit = PrivacyUnit(adjacency, rows=33_938 if adjacency == "change-one" else None)
    flags = (Column.category("got", [0, 1]), Column.category("any", [0, 1]))
    return Schema(
        "sites", "Sites", (*flags, Column.category("site", SITES)), unit, Budget.from_toml({"epsilon": 4})
    )


@pytest.mark.parametrize(("adjacency", "times"), [("change-one", 2), ("add-remove", 1)])
def test_disjoint_sites_are_charged_by_what_one_person_touches_not_by_their_number(adjacency, times):
    """33 sites × 2 arms × 2 tallies: noise of scale 2 / ε where a person may change site, 1 / ε where one comes or goes; as for one site."""
    schema = schema_of(adjacency)
    found = priced(schema, (SITE, ANY))
    assert found.checked.shape == (33,)
    assert found.loss == PrivacyLoss.pure(1)
    (part,) = found.parts
    assert part.mechanism.scale == Fraction(times)
    (alone,) = priced(schema, (ANY,)).parts
    assert alone.mechanism.scale == part.mechanism.scale


@pytest.fixture(scope="module")
def sites():
    """Give the analysis by site at ε 1, released with simulated noise, and its exact values."""
    study = find("incentive33")
    question = priced(study.schema, (SITE, ANY))
    people = study.load()
    place = np.array([SITES.index(site) for site in people["site"]])
    tally = np.zeros((33, 2, 2), dtype=int)
    np.add.at(tally, (place, people["any"], people["got"]), 1)
    (part,) = question.parts
    values = release_part(part.mechanism, tuple(tally.ravel().tolist()), np.random.default_rng(0))
    release = Release(
        "draw",
        question.key,
        "incentive33",
        "v",
        (ReleasedPart(part.name, part.mechanism.record, values, "draw"),),
        question.loss,
    )
    one = PendingQuestion(question.checked.question, question.checked)
    one.fill((release,), conclude(question.checked, (release,)))
    shares = tally[:, :, 1] / tally.sum(axis=2)
    return Estimate.leaf(one), shares[:, 1] - shares[:, 0]


def test_large_sites_are_near_their_exact_values_and_small_ones_say_that_they_are_not(sites):
    """The largest ten differ by less than .02; every interval of a site of twelve is the whole domain or holds the exact value."""
    found, exact = sites
    order = np.argsort(-found.n)
    assert np.max(np.abs(found.value - exact)[order[:10]]) < 0.02
    low, high = found.interval(0.95, kind="privacy")
    assert np.mean((low <= exact) & (exact <= high)) >= 0.85
    assert (high - low)[order[-1]] > 1


def test_the_figure_is_ordered_by_effect_or_by_size_and_draws_exact_values_beside(sites):
    """33 rows, the first label the largest effect or the largest site; beside values follow the released order."""
    found, exact = sites
    for order, first in (("effect", np.argmax(found.value)), ("size", np.argmax(found.n))):
        axes = found.plot(order=order, beside=exact)
        labels = [label.get_text() for label in axes.get_yticklabels()]
        assert len(labels) == 33
        assert labels[0] == SITES[int(first)]
        drawn = next(line for line in axes.get_lines() if line.get_label() == "beside")
        assert drawn.get_xdata()[0] == exact[int(first)]


def test_values_beside_have_the_shape_of_the_estimate(sites):
    """Another number of values is refused."""
    with pytest.raises(OptionError, match="shape"):
        sites[0].plot(beside=[1.0, 2.0])

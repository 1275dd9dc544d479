"""What synthetic rows cost: no tiny neighbours cost more than the curator charges, some cost as much, and the same tables by hand cost the same."""

import importlib
from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace

import pandas as pd
import pytest

import dpnb
from dpnb.client.priced_batch import sent
from dpnb.planner import sharing
from dpnb.planner.sharing import total
from dpnb.statistics.noise import amount, with_amount
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.query import price as price_module
from dpnb.trusted.query.price import charged_for
from tests.contracts.statistic import rows_of, schema, worst_loss
from tests.mutants.table import Mutant, catch, replaced, together

planned = importlib.import_module("dpnb.planner.price")  # the package has a function of this name
ROWS = rows_of(4, missing=True)
UNITS = {
    "change-one": PrivacyUnit("change-one", rows=5),
    "add-remove": PrivacyUnit("add-remove"),
}
FIVE = pd.DataFrame({"x": range(10, 15), "b": [0, 1, 0, 1, 0], "g": list("uvwuv")})


def plans(adjacency, kind):
    """The plan of synthetic rows as it is sent, that of the same tables by hand, and the schema."""
    unit = UNITS[adjacency]
    where = schema(unit, measure=kind)
    data = dpnb.open(FIVE, schema=where, quiet=True)
    known = data[data.x.notna() & data.b.notna() & data.g.notna()]
    tables = [known.crosstab(*pair) for pair in (("x", "b"), ("x", "g"), ("b", "g"))]
    both = ({"rows": data.synthetic("x", "b", "g")}, tables)
    return [sent(dpnb.plan(one, **{kind: 1}).priced) for one in both], where


def costs_what_neighbours_tell(adjacency, kind):
    """Hold what the curator derives against every pair of tiny neighbours, and against the tables by hand."""
    (made, hand), where = plans(adjacency, kind)
    charged = [charged_for(one, where).events for one in (made, hand)]
    told, by_hand = (total(one, where.budget.measure) for one in charged)
    parts = [part for bundle in made.questions for part in bundle.parts]
    worst = worst_loss(SimpleNamespace(parts=parts), UNITS[adjacency], ROWS)
    assert len(parts) == 3
    assert told == by_hand
    assert Fraction(999, 1000) * told <= worst <= told <= 1


@pytest.mark.parametrize("kind", ["epsilon", "rho"])
@pytest.mark.parametrize("adjacency", UNITS)
def test_no_neighbours_cost_more_than_is_charged_and_some_cost_as_much(adjacency, kind):
    costs_what_neighbours_tell(adjacency, kind)


def noisier(bundle):
    """A bundle as if each of its measurements had twice the noise."""
    wider = (
        replace(one, mechanism=with_amount(one.mechanism, 2 * amount(one.mechanism))) for one in bundle.parts
    )
    return replace(bundle, parts=tuple(wider))


def everywhere(wrong):
    """Derive what a plan costs wrongly, in the kernel as in the curator: else the one refuses what the other says."""

    def make(real):
        return lambda bundles, facts, known=(): real(wrong(list(bundles)), facts)

    return together(*(replaced(one, "together", make) for one in (price_module, planned, sharing)))


MUTANTS = {
    "one table with half of the noise that is charged": everywhere(
        lambda all_: [noisier(all_[0]), *all_[1:]]
    ),
    "one pair forgotten in the charge": everywhere(lambda all_: all_[:-1] if len(all_) > 1 else all_),
}


@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_price_is_caught(name, tmp_path):
    """Each costs tiny neighbours more than is charged."""
    catch(
        Mutant(name, MUTANTS[name], lambda _: costs_what_neighbours_tell("add-remove", "rho")),
        tmp_path,
        tmp_path,
    )

"""Objects resolve in place: every alias sees the value, and identity, hash and keys never move."""

from __future__ import annotations

import copy
import functools
import json
import pickle
import pickletools
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpnb import cards
from dpnb.errors import PendingError, PlanError
from dpnb.estimate import Table, host, to_json
from dpnb.trusted.aggregate.algebra import Add, Col, Key, Known, Lit, Total
from dpnb.trusted.privacy.accountant import Budget
from tests.estimate.fakes import fill, make_release, pending, released


@dataclass(frozen=True)
class Frozen:
    q: Any = None
    more: list[Any] = field(default_factory=list)


class Holder:
    pass


def _fourteen_places(q):
    holder = Holder()
    holder.q = q
    frame = pd.DataFrame({"a": [q, 1]})

    def closure():
        return q

    def default(x=q):
        return x

    generator = (x for x in [q])
    alias = q
    return {
        "name": lambda: q,
        "alias": lambda: alias,
        "attribute": lambda: holder.q,
        "frozen dataclass": lambda f=Frozen(q): f.q,
        "tuple": lambda t=(1, q): t[1],
        "dict item": lambda d={"k": q}: d["k"],
        "nested list": lambda n=[[[q]]]: n[0][0][0],
        "closure": closure,
        "partial": functools.partial(lambda x: x, q),
        "default argument": default,
        "pandas cell": lambda: frame["a"][0],
        "dict key": lambda d={q: 1}: next(iter(d)),
        "generator": lambda: next(generator),
        "derived": lambda r=q * 1.0: r,
    }


def test_all_fourteen_places_see_the_value_after_the_release():
    q = pending()
    places = _fourteen_places(q)
    assert len(places) == 14
    fill(q, 0.25)
    for name, look in places.items():
        assert look().value == 0.25, name


def test_hash_and_equality_with_itself_need_no_value_and_do_not_move():
    q = pending()
    before = hash(q)
    table = {q: "here"}
    alias = q
    assert (q == alias) is True
    assert (q != alias) is False
    assert q in [alias, 1]
    fill(q)
    assert hash(q) == before
    assert table[q] == "here"


def test_copy_and_deepcopy_return_the_object_itself():
    for q in (pending(), released(), pending() + 1):
        assert copy.copy(q) is q
        assert copy.deepcopy(q) is q
        assert copy.deepcopy([q])[0] is q


def test_an_estimate_does_not_change():
    q = released()
    with pytest.raises(AttributeError, match="cannot be changed"):
        q.op = None
    with pytest.raises(AttributeError, match="cannot be changed"):
        del q.args
    with pytest.raises(ValueError, match="read-only"):
        released([1.0, 2.0]).value[0] = 5


def test_a_constant_array_is_taken_by_value():
    constant = np.array([1.0, 2.0])
    total = released([1.0, 1.0]) + constant
    constant[0] = 99
    assert total.value.tolist() == [2.0, 3.0]


def test_released_estimates_are_pickled_by_record_and_pending_ones_refuse():
    q = released(0.7, sd=0.1)
    derived = (q * (1 - q)) ** 0.5
    back = pickle.loads(pickle.dumps({"q": q, "d": derived}))
    assert back["d"].value == derived.value
    assert back["d"].interval(0.9, "privacy") == derived.interval(0.9, "privacy")
    assert back["q"].release == q.release
    difference = back["q"] - q
    assert tuple(difference.interval(kind="privacy")) == (0.0, 0.0), "the same draw, wherever it was read"
    with pytest.raises(PendingError, match="cannot be pickled"):
        pickle.dumps(pending() + 1)
    with pytest.raises(PendingError, match="cannot be pickled"):
        pickle.dumps(pending().measurement)


def test_a_pickled_estimate_names_what_draws_it(monkeypatch):
    """A new process that reads it has loaded what ``.plot()`` and ``.explain()`` call; without the cards they say what is missing."""
    monkeypatch.setattr(host, "_views", cards.views)
    names = {words for _, words, _ in pickletools.genops(pickle.dumps(released())) if isinstance(words, str)}
    assert {"dpnb.cards", "views"} <= names
    monkeypatch.setattr(host, "_views", None)
    with pytest.raises(PlanError, match=r"import dpnb\.cards"):
        pickle.loads(pickle.dumps(released())).explain()


def test_a_long_chain_is_pickled_without_recursion():
    q = released(1.0)
    total = q
    for _ in range(20_000):
        total = total + 1
    assert pickle.loads(pickle.dumps(total)).value == 20_001.0


def test_json_takes_estimates_through_the_hook():
    q = released(0.7, sd=0.1)
    with pytest.raises(TypeError):
        json.dumps(q)
    record = json.loads(json.dumps({"q": q, "v": np.float64(1), "a": np.arange(2)}, default=to_json))
    assert record["q"]["value"] == 0.7
    assert record["q"]["question"] == "hiv.got.mean()"
    assert record["q"]["loss"] == q.loss.to_json()
    assert record["q"]["intervals"]["privacy"]["level"] == 0.95
    assert record["v"] == 1
    with pytest.raises(TypeError, match="not JSON serializable"):
        json.dumps(object(), default=to_json)


def test_to_dict_gives_the_reason_where_an_interval_is_unavailable():
    record = (released(0.7, additive=False) - released(0.6)).to_dict()
    assert "selection" in record["intervals"]["confidence"]["unavailable"]
    assert len(record["releases"]) == 2
    json.dumps(record, allow_nan=False)


def test_a_table_has_plain_columns_rows_and_a_dataframe():
    table = released([0.2, 0.7], keys=("Goa", "Delhi"), sd=0.1).table()
    assert isinstance(table, Table)
    assert table["village"] == ("Goa", "Delhi")
    assert [row["value"] for row in table] == [0.2, 0.7]
    assert set(table.columns) == {"village", "value"} | {
        f"{kind}_{end}" for kind in ("privacy", "confidence") for end in ("low", "high")
    }
    assert table.to_frame().shape == (2, 6)
    assert "Delhi" in repr(table)
    assert "<td>Delhi</td>" in table._repr_html_()
    assert len(released(0.3).table()) == 1


def test_loss_sums_distinct_releases_only():
    q = released(0.7)
    other = released(0.6)
    assert str((q + q).loss) == "ε 0.5"
    assert str((q + other - q).loss) == "ε 1"
    assert (q + q).release == q.release
    assert len((q + other).releases) == 2


@pytest.mark.parametrize(("total", "cost"), [({"epsilon": 1}, "ε 0"), ({"rho": 1}, "ρ 0")])
def test_a_public_answer_costs_nothing_in_the_measure_of_its_dataset(total, cost):
    """Regression: a public answer of a dataset that counts in ρ was shown with ε 0."""
    q = pending("people.count()")
    q.measurement.dataset = SimpleNamespace(schema=SimpleNamespace(budget=Budget.from_toml(total)))
    q.measurement.fill((), type(released().measurement.outcome)(100.0))
    assert str(q.loss) == cost
    assert q.value == 100.0


def test_two_copies_of_one_stored_answer_are_the_same_noise():
    first, second = released(0.7, id="aa"), released(0.7, id="aa")
    assert tuple((first - second).interval(kind="privacy")) == (0.0, 0.0)
    assert len((first + second).releases) == 1
    assert make_release(id="aa") == make_release(id="aa")


def test_a_hash_that_is_kept_is_that_of_the_value_and_stays_in_its_process():
    """Texts hash differently in each process: a value that was sent elsewhere finds its own hash there."""
    one, other = (Total(Add(Col("x"), Lit(1)), Known(Col("y")), (Key(Col("g"), 7),)) for _ in range(2))
    assert hash(one) == hash(one) == hash(other)
    sent = pickle.loads(pickle.dumps(one))
    assert sent == one
    assert not hasattr(sent, "_hash")
    assert not hasattr(replace(one, where=None), "_hash")
    assert hash(replace(one, where=None)) != hash(one)

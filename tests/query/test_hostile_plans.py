"""Plans that a kernel of dpnb would never send: refused before the charge, or charged what they truly cost; nothing is spent in silence."""

from __future__ import annotations

import copy
import json
from fractions import Fraction
from itertools import product

import msgspec
import pytest
from msgspec import Raw

from dpnb.cards.ledger import ledger_card
from dpnb.client.drawing import Statement
from dpnb.client.priced_batch import batch_of, sent
from dpnb.client.transport import decode_reply
from dpnb.errors import CuratorError
from dpnb.planner.request import Ask
from dpnb.trusted.aggregate.algebra import (
    Add,
    Case,
    Clip,
    Cmp,
    Col,
    CrossMoments,
    Key,
    LabelSums,
    Lit,
    Mul,
    Or,
    Shrink,
    Sub,
    Total,
    ValueCounts,
)
from dpnb.trusted.aggregate.cap import cap
from dpnb.trusted.aggregate.request_record import MOST_DEPTH, written_requests
from dpnb.trusted.canonical import canonical
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.curator.wording import worded
from dpnb.trusted.errors import DpnbError, PlanError
from dpnb.trusted.measurements import Measurement
from dpnb.trusted.mechanisms import (
    MECHANISMS,
    DiscreteGaussian,
    DiscreteLaplace,
    QuantileFlip,
    QuantileSelection,
    ThresholdedSums,
    Thresholding,
)
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.query.limits import MOST_BITS, MOST_CELLS
from dpnb.trusted.query.plan import Bundle, Plan, Share, digest_of
from dpnb.trusted.query.plan_record import read_parts
from dpnb.trusted.query.price import charged_for
from dpnb.trusted.wire.codec import encode, exact_json
from dpnb.trusted.wire.messages import Answered, Failure, Submit
from dpnb.trusted.wire.places import Home
from tests.contracts.derived_loss import loss
from tests.contracts.mechanism import contracts
from tests.curator import small

X, G, ONE = Col("x"), Col("g"), Lit(1)
BUDGET = {"epsilon": 10_000, "delta": "0.01"}


class PlanSender:
    """A curator, and plans that are sent to it as they are written."""

    def __init__(self, home):
        self.service = Curator.opened(Config(Home(home)))
        self.data = small.opened(small.session(self.service), home, rows=small.ROWS, **BUDGET)
        self.schema, self.home, self.requests = self.data.schema, home, 0

    def plan(self, *parts, text="small.q()", **wrong):
        """A plan of one question that expects what it costs."""
        question = Bundle((text,), Share("epsilon", Fraction(1)), 0, parts)
        made = Plan(self.schema.name, self.schema.version, (question,), (), self.costs(parts))
        return {**through(made.to_json()), **wrong}

    def costs(self, parts):
        """What parts cost; nothing where they cannot be priced, so that only the curator's own refusal is seen."""
        try:
            return loss(parts, self.schema).total
        except (DpnbError, KeyError):
            return PrivacyLoss.zero(self.schema.budget.measure)

    def ask(self, plan):
        """Submit a plan under a new request id."""
        self.requests += 1
        text = canonical(plan)
        message = Submit(
            handle=self.data.handle,
            request=f"{self.requests:032x}",
            digest=digest_of(text),
            plan=Raw(text.encode()),
        )
        return decode_reply(self.service.answer(encode(message), "ann"))

    def honest(self, kind):
        """The plan that a kernel sends."""
        return through(sent(batch_of([KINDS[kind](self.data)], Ask.make(epsilon=1)).priced).to_json())

    @property
    def spent(self):
        """What the ledger says."""
        return self.service._ledger.spent("dataset:small")

    def refused(self, plan):
        """Submit a plan that must not be charged, and return why."""
        before = self.spent
        reply = self.ask(plan)
        assert isinstance(reply, Failure), plan
        assert reply.code in {"plan", "loss"}, reply
        assert self.spent == before
        assert not (self.home / "curator.log").exists(), (self.home / "curator.log").read_text()[-2000:]
        return reply.message


def through(record):
    """As it crosses the wire."""
    return json.loads(canonical(record))


@pytest.fixture(scope="module")
def desk(tmp_path_factory):
    """One curator with its real engine."""
    home = tmp_path_factory.mktemp("home", numbered=True)
    home.chmod(0o700)
    made = PlanSender(home)
    yield made
    assert made.service._ledger.verify().intact
    made.service.close()


def laplace(request, scale=10, cells=1):
    return Measurement("sum", request, DiscreteLaplace(Fraction(scale)), cells)


def test_a_cap_where_a_row_is_a_person_names_nothing(desk):
    """A rank is a column of copies in which a person may have several rows, and of no other."""
    assert "does not declare" in desk.refused(desk.plan(laplace(Total(ONE, cap(1)))))


# parameters ------------------------------------------------------------------------------------------------------

KINDS = {
    "sums": lambda d: d.x.mean(),
    "one sum": lambda d: d.x.sum(),
    "cells": lambda d: d.groupby("g").count(),
    "bins": lambda d: d.x.histogram(),
    "box": lambda d: d.moments("x", "g"),
    "quantile": lambda d: d.x.quantile([0.1, 0.9]),
    "pick": lambda d: d.g.mode(),
    "placement": lambda d: d.x.ks_density(),
    "located": lambda d: d.x.robust_mean(),
    "threshold": lambda d: d.x.frequent_values(),
}
BESIDE = (
    "0",
    "-1",
    "1",
    "2",
    "-1/2",
    "1/3",
    str(2**MOST_BITS),
    f"1/{2**MOST_BITS}",
    "9" * 400,  # no float is as large
    "1e9",
    "nan",
    "None",
    "",
    "7 7",
    3,
    None,
    [],
)
"""What may stand in the place of a mechanism's parameter."""


@pytest.mark.parametrize("kind", KINDS)
def test_any_parameter_of_any_mechanism_is_refused_or_charged_the_truth(desk, kind):
    """Seen in a design: a factor, a threshold's rows or one part's scale taken from the wire understates the loss two to four times."""
    honest = desk.honest(kind)
    seen = {"refused": 0, "charged": 0}
    for name in honest["questions"][0]["plan"]["parts"][0]["mechanism"]:
        for other in BESIDE:
            plan = copy.deepcopy(honest)
            plan["questions"][0]["plan"]["parts"][0]["mechanism"][name] = other
            try:
                parts = read_parts(plan["questions"][0]["plan"])
                plan["loss"] = desk.costs(parts).to_json()
            except DpnbError:
                parts = ()
            before, reply = desk.spent, desk.ask(plan)
            if isinstance(reply, Answered):
                charged = PrivacyLoss.from_json(exact_json(reply.charged))
                assert charged.amount in (
                    0,
                    loss(parts, desk.schema).total.amount,
                )  # 0: the same was asked before
                assert desk.spent == before + charged
                seen["charged"] += 1
            else:
                assert reply.code in {"plan", "loss", "budget"}, (reply, name, other)
                assert desk.spent == before
                seen["refused"] += 1
    assert seen["refused"] > 5
    assert not (desk.home / "curator.log").exists(), (desk.home / "curator.log").read_text()[-2000:]


REQUESTS = {
    "total": Total(X),
    "total by cells": Total(ONE, None, (Key(G, 2),)),
    "values": ValueCounts(X),
    "values by cells": ValueCounts(X, None, (Key(G, 2),)),
    "products": CrossMoments((ONE, X), ((0, 1), (1, 1))),
    "labels": LabelSums((X, G)),
}
SHARED = {
    ("total", DiscreteLaplace),
    ("total", DiscreteGaussian),
    ("total by cells", DiscreteLaplace),
    ("total by cells", DiscreteGaussian),
    ("products", DiscreteLaplace),
    ("products", DiscreteGaussian),
    ("values", QuantileSelection),
    ("values", QuantileFlip),
    ("values", Thresholding),
    ("labels", Thresholding),
}
LABELS_WITH_A_SUM = LabelSums((X,), (G,))
"""Pairs that are of a kind with any noise; the others have sizes and factors of their own."""


@pytest.mark.parametrize(
    ("request_", "mechanism"), [pair for pair in product(REQUESTS, MECHANISMS) if pair not in SHARED]
)
def test_a_mechanism_over_a_request_that_it_does_not_protect_is_refused(desk, request_, mechanism):
    """Every mechanism over six requests: what is of no kind, or not of this size and factor, is never run."""
    cells = {"total by cells": 2, "products": 2}.get(request_, 1)
    part = Measurement("sum", REQUESTS[request_], contracts()[mechanism].mechanism(), cells)
    assert "cannot be priced" in desk.refused(desk.plan(part))


# requests --------------------------------------------------------------------------------------------------------


def doubled(times):
    node = X
    for _ in range(times):
        node = Add(node, node)
    return node


def shown(request):
    return Measurement("frequent", request, Thresholding(Fraction(3), 20, 2), 1)


REFUSED = {
    "a sum of zeros": (laplace(Total(Lit(0))), None),
    "a label of a column that is not declared": (shown(LabelSums((X, Col("z")))), "column"),
    "a label of too many integers": (shown(LabelSums((X,) * 34)), "label"),
    "a label beyond 62 bits": (shown(LabelSums((X, Mul(Mul(X, Lit(2**31)), Lit(2**31))))), "range"),
    "a label's filter beyond 62 bits": (
        shown(LabelSums((X,), (), Cmp("<", Mul(X, Lit(2**61)), Lit(0)))),
        "range",
    ),
    "a sum of a label with two noises": (
        Measurement(
            "frequent", LABELS_WITH_A_SUM, ThresholdedSums(Fraction(3), 20, 1, (Fraction(3),) * 2), 1
        ),
        "priced",
    ),
    "a sum of noughts for each label": (
        Measurement(
            "frequent", LabelSums((X,), (Lit(0),)), ThresholdedSums(Fraction(3), 20, 1, (Fraction(3),)), 1
        ),
        "priced",
    ),
    "a sum of a label beyond 62 bits": (
        Measurement(
            "frequent",
            LabelSums((X,), (Mul(Mul(X, Lit(2**31)), Lit(2**31)),)),
            ThresholdedSums(Fraction(3), 20, 1, (Fraction(3),)),
            1,
        ),
        "range",
    ),
    "a sum of a label without noise": (shown(LabelSums((X,), (G,))), "priced"),
    "a column that is not declared": (laplace(Total(Col("z"))), "column"),
    "the unit's own column": (laplace(Total(Col("__unit__"))), "column"),
    "more cells than there may be": (
        laplace(Total(ONE, None, (Key(X, MOST_CELLS), Key(G, 2))), cells=2 * MOST_CELLS),
        "cells",
    ),
    "fewer numbers than the request makes": (laplace(Total(ONE, None, (Key(G, 2),)), cells=1), "numbers"),
    "a step beyond 62 bits": (laplace(Total(Mul(Mul(X, Lit(2**31)), Lit(2**31)))), "range"),
    "a step beyond 62 bits in a filter": (
        laplace(Total(ONE, Cmp("<", Mul(X, Lit(2**61)), Lit(0)))),
        "range",
    ),
    "a product beyond 62 bits": (
        laplace(CrossMoments((ONE, Mul(X, Lit(2**30)), Mul(G, Lit(2**32))), ((1, 2),))),
        "range",
    ),
    "an end of a clip that no value reaches": (laplace(Total(Clip(X, 1, 10**40))), "range"),
    "a low end that no value reaches": (laplace(Total(Clip(X, -(2**63), 1))), "range"),
    "a limit of a ball that no row reaches": (
        laplace(CrossMoments((ONE, X), ((0, 1),), None, Shrink((0, 1000), (2**70,), 4)), 2**30),
        "62 bits",
    ),
    "a limit of a ball below all rows": (
        laplace(CrossMoments((ONE, X), ((0, 1),), None, Shrink((0, 1000), (-(10**40), 5), 4)), 2**30),
        "62 bits",
    ),
    "a denominator beyond all need": (laplace(Total(X), Fraction(2**MOST_BITS + 1, 2**MOST_BITS)), "bits"),
    "an entry twice": (laplace(CrossMoments((ONE, X), ((0, 1), (1, 0))), cells=2), None),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_request_beyond_its_range_is_refused_before_the_charge(desk, name):
    part, word = REFUSED[name]
    message = desk.refused(desk.plan(part))
    assert word is None or word in message


def record(*rows, **request):
    """A plan's measurement as a kernel could write it by hand."""
    asked = {"kind": "total", "value": 0, "where": None, "keys": [], **request}
    part = {
        "name": "sum",
        "request": 0,
        "mechanism": {"mechanism": "discrete-laplace", "scale": "10"},
        "cells": 1,
    }
    return {"nodes": [["col", "x"], *rows], "requests": [asked], "parts": [part]}


PRODUCTS = {"kind": "cross-moments", "where": None, "shrink": None, "values": [0, 1]}
WRITTEN_BY_HAND = {
    "a pair that is none": record(["lit", 1], **PRODUCTS, pairs=[[0, 2]]),
    "a pair counted from the end": record(["lit", 1], **PRODUCTS, pairs=[[0, -1]]),
    "an axis without cells": record(keys=[[0, 0]]),
    "an axis of fewer than no cells": record(keys=[[0, -2]]),
    "a node that names a later one": record(["add", 0, 2], ["lit", 1], value=1),
    "a node that names itself": record(["add", 0, 1], value=1),
    "a node from the end": record(["add", 0, -1], value=1),
    "a predicate as a number": record(["true"], value=1),
    "a number as a filter": record(where=0),
    "a division by nothing": record(["floor-div", 0, 0], value=1),
    "a clip with no room": record(["clip", 0, 5, 3], value=1),
    "an unknown node": record(["sqrt", 0], value=1),
    "an unknown comparison": record(["cmp", "!=", 0, 0], where=1),
    "an integer that is a text": record(["lit", "1"], value=1),
    "an integer that is true": record(["lit", True], value=1),
    "a node that nobody uses": record(["lit", 1]),
    "a node twice": record(["col", "x"], ["add", 0, 1], value=2),
    "a kind that is none": record(kind="rows"),
    "a shrink of no steps": record(
        ["lit", 1], **{**PRODUCTS, "shrink": {"halves": [0, 0], "limits": [1], "steps": 0}}, pairs=[[0, 1]]
    ),
    "no parts": {**record(), "parts": []},
    "a part of another request": {**record(), "parts": [{**record()["parts"][0], "request": 1}]},
    "a field too many": {**record(), "sensitivity": "1/100"},
    "a part with a sensitivity": {**record(), "parts": [{**record()["parts"][0], "sensitivity": "1"}]},
    "a text for a list": {**record(), "nodes": "nodes"},
}


@pytest.mark.parametrize("name", WRITTEN_BY_HAND)
def test_a_record_that_no_kernel_writes_is_refused(desk, name):
    plan = desk.plan(laplace(Total(X)))
    plan["questions"][0]["plan"] = WRITTEN_BY_HAND[name]
    desk.refused(plan)


@pytest.mark.parametrize("cells", [0, -(10**9)])
def test_a_part_of_no_cells_is_not_read(cells):
    """It would be taken off the work that the other parts of its batch are counted as."""
    with pytest.raises(PlanError, match="not in the form"):
        read_parts({**record(), "parts": [{**record()["parts"][0], "cells": cells}]})


def test_what_is_short_on_the_wire_and_endless_when_written_out_is_refused(desk):
    """Thirty doublings of one node; a hundred questions of seventeen each; a tower as deep as a stack."""
    plan = desk.plan(laplace(Total(X)))
    for request, said in ((Total(doubled(30)), "written out"), (Total(tower(MOST_DEPTH + 1)), "deep")):
        plan["questions"][0]["plan"] |= written_requests([request])
        assert said in desk.refused(plan)
    one = desk.plan(laplace(Total(doubled(16))))["questions"][0]
    assert "written out" in desk.refused(plan | {"questions": [one] * 100})


def tower(height):
    node = X
    for _ in range(height):
        node = Add(node, Lit(0))
    return node


def test_the_deepest_allowed_expression_is_answered(desk):
    """What is within the limit ends in no stack of an interpreter or an engine."""
    deep = laplace(Total(tower(MOST_DEPTH - 1)))
    assert isinstance(desk.ask(desk.plan(deep, text="deep")), Answered)
    filtered = laplace(Total(ONE, Cmp("<=", tower(MOST_DEPTH - 2), Lit(3))))
    assert isinstance(desk.ask(desk.plan(filtered, text="deep filter")), Answered)


# expectations and labels -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        lambda loss: {**loss, "amount": "1/1000000"},
        lambda loss: {**loss, "amount": str(Fraction(loss["amount"]) + Fraction(1, 10**12))},
        lambda loss: {**loss, "amount": "1000"},
        lambda loss: {**loss, "delta": "0.001"},
        lambda loss: {**loss, "measure": "pure"},
        lambda loss: {**loss, "amount": "0"},
        lambda loss: {**loss, "amount": loss["amount"] + ".0"},
        lambda loss: None,
        lambda loss: {},
    ],
    ids=range(9),
)
def test_a_plan_that_expects_another_loss_is_refused(desk, wrong):
    plan = desk.honest("sums")
    desk.refused({**plan, "loss": wrong(plan["loss"])})


@pytest.mark.parametrize(
    "wrong",
    [
        {"texts": ["people.count()\n%dp reset"]},
        {"texts": ["\x1b[2J"]},
        {"texts": ["people.count()", None]},
        {"texts": "people.count()"},
        {"texts": []},
        {"texts": ["q"] * 1001},
        {"texts": ["q" * 2001]},
        {"text": "people.count()"},
        {"key": "people.count()"},
        {"share": {"kind": "epsilon", "share": "0"}},
        {"share": {"kind": "epsilon", "share": "1e0"}},
        {"share": {"kind": "delta", "share": "1"}},
        {"share": "1"},
    ],
    ids=range(13),
)
def test_a_label_that_no_ledger_should_show_is_refused(desk, wrong):
    plan = desk.honest("sums")
    plan["questions"][0] |= wrong
    desk.refused(plan)


UNSHOWN = (
    "",
    "a\nb",
    "\x1b[2J",
    "a\rb",
    "\u202eb",
    "\u2066b",
    "a\u200b",
    "\u2028",
    "\ufeff",
    "\x7f",
    "\0",
    "a" * 201,
)


@pytest.mark.parametrize("name", UNSHOWN, ids=range(len(UNSHOWN)))
def test_a_part_whose_name_a_terminal_would_not_show_is_refused(desk, name):
    """Control characters, marks of direction, nothing, and too much."""
    plan = desk.honest("sums")
    plan["questions"][0]["plan"]["parts"][0]["name"] = name
    desk.refused(plan)


def test_a_part_may_be_named_in_any_script(desk):
    """Two hundred letters of any kind that are shown."""
    part = Measurement("größe 人口 " + "x" * 190, Total(X), DiscreteLaplace(Fraction(100)), 1)
    assert isinstance(desk.ask(desk.plan(part)), Answered)


def test_a_label_that_lies_changes_neither_the_charge_nor_whose_answer_is_given(desk):
    """A sum called by another sum's name is charged as it is; the other asked afterwards is measured, and paid."""
    asked = desk.data[desk.data.x > 3].g.sum()
    mean = through(sent(batch_of([asked], Ask.make(epsilon=1)).priced).to_json())
    (named,) = mean["questions"][0]["texts"]
    lying = laplace(Total(Mul(Lit(3), X)), 100)  # which no other test has bought
    first = desk.ask(desk.plan(lying, text=named))
    truth = loss([lying], desk.schema).total
    assert PrivacyLoss.from_json(exact_json(first.charged)) == truth
    second = desk.ask(mean)
    assert exact_json(second.charged) == mean["loss"]
    measured = [exact_json(reply.releases)[0]["measured"] for reply in (first, second)]
    assert measured[0] != measured[1]


def test_a_statement_says_what_was_measured_whatever_it_is_called(desk):
    """The curator's words come from the request and its noise, the loss from the events; the asker's words stand beside."""
    request = Total(X, Cmp("<", X, Lit(3)), (Key(G, 2),))
    part = Measurement("nothing", request, DiscreteLaplace(Fraction(901, 3)), 2)
    plan = desk.plan(part)
    assert isinstance(desk.ask(plan), Answered)
    entry = desk.service._ledger.statement("small", "ann", 0)[-1].entry
    (row,) = desk.service._ledger.statement("small", "ann", entries=[entry])
    assert row.texts == ("small.q()",)
    alone = loss([part], desk.schema).total
    wanted = f"sum of x where x < 3 for each of 2 cells of g: discrete-laplace (scale 901/3); {alone} alone"
    assert row.measured == (wanted,)
    told = {name: getattr(row, name) for name in row.__dataclass_fields__}
    assert f"small.q() (in the asker's words)\n      measured: {wanted}" in str(Statement((told,)))
    html = ledger_card([told]).html
    assert html.index("small.q()") < html.index("what the curator measured") < html.index("scale 901/3")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_told_in_words_of_one_line(desk, kind):
    """Each names its column or rows, its mechanism and its noise; none is longer than a reader reads."""
    for question in desk.honest(kind)["questions"]:
        for part in read_parts(question["plan"]):
            text = worded(part)
            assert part.mechanism.name in text
            assert text.isprintable()
            assert len(text) < 700
            assert any(name in text for name in ("x", "g", "number of rows"))


def test_words_of_an_endless_expression_end():
    """A tower and a long list are cut, and say so."""
    tower = ONE
    for _ in range(190):
        tower = Case(Cmp("<", X, tower), Add(tower, X), G) if tower is ONE else Add(tower, X)
    assert "…" in worded(laplace(Total(tower)))
    assert len(worded(laplace(Total(X, Or(Cmp("<", tower, X), Cmp("<", X, tower)))))) < 500


def test_a_kernel_refuses_an_answer_to_something_else(desk, monkeypatch):
    """Whatever the release is called, its measurement is compared with the one that was asked."""
    stored = exact_json(desk.ask(desk.plan(laplace(Total(X), 200), text="other")).releases)[0]
    real = desk.data._session._submit

    def another(batch):
        answered = real(batch)
        record = exact_json(answered.releases)[0]
        told = canonical([{**record, "measured": stored["measured"]}])
        return msgspec.structs.replace(answered, releases=Raw(told.encode()))

    monkeypatch.setattr(desk.data._session, "_submit", another)
    with pytest.raises(CuratorError, match="does not belong"):
        desk.data._session.release([desk.data.x.sum()], Ask.make(epsilon=1))


def test_the_same_measurement_is_stored_once_whatever_it_is_called(desk):
    """The store is indexed by what is measured: another name is free."""
    part = laplace(Total(X), 50)
    first, again = desk.ask(desk.plan(part, text="a")), desk.ask(desk.plan(part, text="b"))
    ids = [exact_json(reply.releases)[0]["id"] for reply in (first, again)]
    assert ids[0] == ids[1]
    assert exact_json(again.charged)["amount"] == "0"


def test_a_plan_that_measures_the_same_twice_is_refused(desk):
    """Whatever it is called, and whatever noise it gets: an answer is bought once, and serves both."""
    both = desk.plan(laplace(Total(G), 50))
    (finer,) = desk.plan(laplace(Total(G), 20), text="another")["questions"]
    both["questions"].append(finer | {"group": 1})
    both["loss"] = (desk.costs([laplace(Total(G), 50)]) + desk.costs([laplace(Total(G), 20)])).to_json()
    assert "twice" in desk.refused(both)


@pytest.mark.parametrize("groups", [(0, 2), (1, 1), (0, -1), (-1, 0), (0, True), (0, "0"), (0, None)])
def test_groups_are_numbered_from_nought_as_they_come(desk, groups):
    plan = desk.plan(laplace(Total(G), 50))
    (other,) = desk.plan(laplace(Total(X), 50))["questions"]
    plan["questions"] = [
        question | {"group": group}
        for question, group in zip([*plan["questions"], other], groups, strict=True)
    ]
    desk.refused(plan)


ONE_DRAW, OTHER = "a" * 32, "b" * 32


@pytest.mark.parametrize(
    "again",
    [
        *(None, True, "all", {}, [1], ["all", ONE_DRAW], ["every"], [ONE_DRAW[1:]], [ONE_DRAW.upper()]),
        *([OTHER, ONE_DRAW], [ONE_DRAW, ONE_DRAW], [f"{ONE_DRAW}\n"], [f"{n:032x}" for n in range(1001)]),
    ],
    ids=repr,
)
def test_what_is_measured_again_is_everything_or_a_sorted_list_of_draws(desk, again):
    """One plan has one form, so that its digest names it; whatever else stands there is refused unread."""
    assert "canonical" in desk.refused({**desk.honest("sums"), "again": again})


def test_what_is_measured_again_is_part_of_what_a_request_is_bound_to(desk):
    """A retry for other draws, or for everything, is another request: it cannot be given the first one's answer."""
    plan = desk.honest("sums")
    lists = [[], ["all"], [ONE_DRAW], [ONE_DRAW, OTHER]]
    assert len({digest_of(canonical({**plan, "again": again})) for again in lists}) == len(lists)
    first = desk.ask({**plan, "again": ["all"]})
    stored = desk.ask({**plan, "again": [ONE_DRAW]})
    paid = desk.ask({**plan, "again": ["all"]})
    assert [PrivacyLoss.from_json(exact_json(one.charged)).amount > 0 for one in (first, stored, paid)] == [
        True,
        False,
        True,
    ]


@pytest.mark.parametrize("together", [True, False])
def test_a_group_is_charged_at_its_worst_move_and_groups_add(desk, together):
    """A sum in the middle of its range and a count beside it: within a group the count is free, apart it is paid."""
    where = Cmp("<", X, Lit(9))
    parts = [
        Measurement("sum", Total(Sub(Mul(Lit(2), X), Lit(10)), where), DiscreteGaussian(Fraction(200)), 1),
        Measurement("count", Total(ONE, where), DiscreteGaussian(Fraction(2, 3)), 1),
    ]
    plans = [desk.plan(part) for part in parts]
    plan = plans[0] | {
        "again": ["all"],
        "questions": [
            plan["questions"][0] | {"group": 0 if together else place} for place, plan in enumerate(plans)
        ],
    }
    costs = desk.costs(parts) if together else desk.costs(parts[:1]) + desk.costs(parts[1:])
    desk.refused(plan | {"loss": (desk.costs(parts[:1]) + desk.costs(parts) + costs).to_json()})
    reply = desk.ask(plan | {"loss": costs.to_json()})
    assert isinstance(reply, Answered)
    assert (charged := PrivacyLoss.from_json(exact_json(reply.charged))) == costs
    assert charged.amount == (1 if together else Fraction(7, 4))


def test_what_is_too_much_work_is_refused_before_it_is_priced(desk):
    """Eleven vectors of two hundred thousand cells."""
    part = laplace(Total(ONE, None, (Key(X, MOST_CELLS),)), cells=MOST_CELLS)
    plan = desk.plan(part)
    (question,) = plan["questions"]
    assert "at once" in desk.refused({**plan, "questions": [question] * 11})


@pytest.mark.parametrize(
    "amount", ["1e999999999", "1E9", "1.5", " 2", "2/0", "+3", "٣", "1_0", "9" * 2000, "0x1f", "nan"]
)
def test_an_amount_of_noise_that_no_record_has_is_refused_unread(desk, amount):
    """An exponent of nine digits is a number of a billion: reading it would never end (found by mutated requests)."""
    plan = desk.honest("sums")
    plan["questions"][0]["plan"]["parts"][0]["mechanism"]["scale"] = amount
    desk.refused(plan)


def test_more_measurements_than_a_plan_may_hold_are_refused_unread(desk):
    plan = desk.plan(laplace(Total(X)))
    assert "4,000 things" in desk.refused({**plan, "questions": [None] * 4_001})


def test_a_long_filter_that_thousands_of_vectors_ask_is_too_much_work(desk):
    """It is short on the wire, stands once, and would be looked at again for each vector: minutes."""
    listed = Case(among(1024), ONE, Lit(0))
    part = laplace(Total(listed, among(1024)), 10**6)
    assert "at once" in desk.refused(desk.plan(*[part] * 4000, loss=desk.costs([part]).to_json()))


def among(values):
    """Whether x is one of many numbers, as a balanced tree."""
    nodes = [Cmp("==", X, Lit(value)) for value in range(values)]
    while len(nodes) > 1:
        nodes = [Or(*nodes[place : place + 2]) for place in range(0, len(nodes), 2)]
    return nodes[0]


def test_charged_for_has_no_data_argument(desk):
    """What a plan costs is a function of the plan and the schema."""
    plan = Plan.from_json(desk.honest("sums"))
    costs = [one.loss(plan.loss.measure).amount for one in charged_for(plan, desk.schema).questions]
    assert len(costs) == 3
    assert max(costs) < plan.loss.amount < sum(costs)

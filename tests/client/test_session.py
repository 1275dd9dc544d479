"""Twins and sessions: batches, names, shares, several datasets, and what is said when nothing can be released."""

from __future__ import annotations

import json
from decimal import Decimal

import numpy as np
import pytest

import dpnb
from dpnb.client import sessions
from dpnb.client.priced_batch import batch_of
from dpnb.errors import (
    ChargedError,
    CuratorError,
    NestedSpendError,
    OptionError,
    OwnerError,
    PlanError,
    RequestReused,
    SchemaError,
)
from dpnb.estimate import Estimate, current_host
from dpnb.planner.request import Ask
from dpnb.trusted.privacy.accountant import Budget
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.unit import PrivacyUnit
from dpnb.trusted.schema import Column, Schema
from tests.curator import small


def test_release_returns_the_estimates_by_name(data):
    """out["n"] is the very estimate that was given, derived ones too."""
    n, m = data[data.g == 1].count(), data.x.mean()
    out = dpnb.release({"n": n, "share": n / 40, "m": m}, epsilon="0.5")
    assert list(out) == ["n", "share", "m"]
    assert out["n"] is n
    assert out["share"].value == n.value / 40
    assert out.charged == PrivacyLoss.pure("0.5")
    assert n.loss == m.loss == PrivacyLoss.pure("0.25")
    with pytest.raises(SchemaError, match="Did you mean share"):
        out["shar"]


def test_two_shares_for_one_question_are_refused(data):
    """The same question twice in a batch, with different weights."""
    with pytest.raises(OptionError, match="two different shares"):
        dpnb.release([data.x.mean().weight(2), data.x.mean().weight(3)], epsilon=1)


def test_a_spend_in_another_measure_is_refused(data):
    """A question that spends ρ in a batch that asks ε."""
    with pytest.raises(OptionError, match="Use one of them"):
        dpnb.release([data.x.mean().spend(rho="0.1")], epsilon=1)


def test_spend_releases_what_is_still_held(data):
    """In a block, what was overwritten or never kept is dropped and free."""

    def work():
        with dpnb.spend(epsilon=1) as s:
            kept = data.x.mean()
            data.y.mean()
            lost = data.x.sum()
            lost = None  # noqa: F841
        return kept, s

    kept, s = work()
    assert not kept.pending
    assert s.report.charged == PrivacyLoss.pure(1)
    assert s.report.dropped == 2


def test_spend_takes_in_what_was_built_before(data):
    """s.add releases an older question."""
    old = data.x.mean()
    with dpnb.spend(epsilon=1) as s:
        s.add(old)
    assert not old.pending


def test_an_exception_in_a_block_spends_nothing(data):
    """The block fails: its questions stay pending, and the next block works."""
    held = []

    def fails():
        with dpnb.spend(epsilon=1):
            held.append(data.x.mean())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fails()
    assert held[0].pending
    assert data.budget.spent.amount == 0
    with dpnb.spend(epsilon=1):
        other = data.x.mean()
    assert not other.pending


def test_an_empty_block_spends_nothing(data):
    """Nothing asked, nothing charged, no report."""
    with dpnb.spend(epsilon=1) as s:
        pass
    assert s.report is None


def test_no_charge_inside_an_open_block(data):
    """release, remeasure and spend inside a block are error 7: nothing is charged."""
    released = data.x.mean()
    dpnb.release([released], epsilon=1)
    for inner in (
        lambda: dpnb.release([data.y.mean()], epsilon=1),
        lambda: released.remeasure(epsilon=1),
        lambda: dpnb.spend(epsilon=1).__enter__(),
    ):
        with pytest.raises(NestedSpendError), dpnb.spend(epsilon=1):
            inner()
    assert data.budget.spent.amount == 1


def test_a_batch_asks_one_dataset(data, session, dpnb_home):
    """Two datasets in one batch: told to split."""
    other = small.opened(session, dpnb_home, small.rows(2), name="other")
    with pytest.raises(PlanError, match="Split it"):
        dpnb.release([data.x.mean(), other.x.mean()], epsilon=1)


def test_remeasure_gives_a_new_estimate_of_both_releases(data):
    """The old estimate keeps its value; the new one has two releases, the sum of their losses and a narrower interval."""
    old = data.x.mean()
    dpnb.release([old], epsilon=1)
    value = old.value
    with pytest.raises(PlanError, match=r"answered already.*remeasure\(epsilon=…\)"):
        dpnb.release([old], epsilon=1)
    new = old.remeasure(epsilon=3)
    assert old.value == value
    assert isinstance(new, Estimate)
    assert len(new.releases) == 2
    assert new.loss == PrivacyLoss.pure(4)
    assert new.interval(kind="privacy").width < old.interval(kind="privacy").width
    assert data.budget.spent.amount == 4


def test_a_public_answer_cannot_be_measured_again(data):
    """It is exact already."""
    n = data.count()
    dpnb.release([n], epsilon=1)
    with pytest.raises(PlanError, match="public"):
        n.remeasure(epsilon=1)


def test_statement_lists_what_was_charged(data, session):
    """Each charge with its questions, oldest first, in words and as rows."""
    dpnb.release([data.x.mean()], epsilon=1)
    rows = session.statement()
    assert [row["kind"] for row in rows] == ["attach", "charge"]
    assert rows[1]["loss"] == PrivacyLoss.pure(1)
    assert "small.x.mean()" in str(rows)
    assert session.spent == {"small": PrivacyLoss.pure(1)}


def test_only_what_is_shown_is_worded(data, session, monkeypatch):
    """The newest charges say what was measured, older ones once they are asked for; and what was told is not asked again."""
    for place in range(3):
        dpnb.release([(data.x > place).mean()], epsilon=0.1)
    asked = []
    ask = session._ask
    monkeypatch.setattr(
        session, "_ask", lambda message, wanted: asked.append(message) or ask(message, wanted)
    )
    worded = [bool(row["measured"]) for row in session.statement(newest=2) if row["kind"] == "charge"]
    assert worded == [False, True, True]
    rows = session.statement()
    assert all(row["measured"][0].endswith(" alone") for row in rows if row["kind"] == "charge")
    assert [len(message.entries) for message in asked if getattr(message, "entries", ())] == [2, 1]
    assert not any(row["measured"] for row in rows if row["kind"] == "attach")


def test_a_failing_curator_keeps_the_request_id(data, session, monkeypatch):
    """A fault without a code: the same cell again uses the same id, so that it is never charged twice."""
    sent = []
    ask = session._ask

    def failing(message, wanted):
        if type(message).__name__ == "Submit":
            sent.append(message.request)
            if len(sent) == 1:
                raise CuratorError("fault")
        return ask(message, wanted)

    monkeypatch.setattr(session, "_ask", failing)
    with pytest.raises(CuratorError):
        dpnb.release([data.x.mean()], epsilon=1)
    dpnb.release([data.x.mean()], epsilon=1)
    dpnb.release([data.x.mean()], epsilon=1, fresh=True)
    assert sent[0] == sent[1] != sent[2]


def test_looser_terms_are_refused_and_tighter_ones_recorded(session, dpnb_home):
    """A second attach with more budget is refused with both values; with less it is an event."""
    small.opened(session, dpnb_home, epsilon=6)
    first = small.opened(session, dpnb_home, epsilon=4)
    session.release([first.x.mean()], Ask.make(epsilon="0.5"))
    with pytest.raises(OwnerError, match="ε 4 and is now ε 5"):
        small.opened(session, dpnb_home, epsilon=5)
    tighter = small.opened(session, dpnb_home, epsilon=2)
    assert tighter.budget.cap == PrivacyLoss.pure(2)


def test_an_unknown_study_or_mode_names_the_near_match(session, monkeypatch):
    """Misspelt names are refused with what was probably meant."""
    monkeypatch.setattr(sessions, "plain", lambda: session)
    with pytest.raises(SchemaError, match="Did you mean census"):
        dpnb.open("censu", quiet=True)
    with pytest.raises(OwnerError, match="guard-rail"):
        dpnb.open("incentive33", mode="guardrail", quiet=True)
    with pytest.raises(OwnerError, match="There is no file"):
        dpnb.open("missing.csv", schema=small.declared(), quiet=True)
    with pytest.raises(OwnerError, match="There is no file"):
        dpnb.open("missing.csv", quiet=True)
    with pytest.raises(OwnerError, match="schema"):
        dpnb.open({"x": [1, 2]}, quiet=True)


def test_a_public_study_has_one_ledger_as_itself_and_one_shown_as_protected(session, monkeypatch):
    """TEACHING and guard-rail showings of a public study do not spend from each other."""
    monkeypatch.setattr(sessions, "plain", lambda: session)
    open_, shown = (
        dpnb.open("nsw", quiet=True),
        dpnb.open("nsw", mode="guard-rail", quiet=True),
    )
    assert (str(open_.mode), str(shown.mode)) == ("teaching", "guard-rail")
    column = next(column.name for column in open_.schema.columns if column.numeric)
    session.release([shown[column].mean()], Ask.make(epsilon=1))
    assert open_.budget.spent.amount == 0
    assert shown.budget.spent.amount == 1


def test_cards_are_shown_once_for_each_dataset_of_a_session(session, dpnb_home, monkeypatch):
    """The attach card: the first time, unless quiet."""
    shown = []
    monkeypatch.setattr(current_host(), "opened", shown.append)
    monkeypatch.setattr(sessions, "plain", lambda: session)
    for _ in range(2):
        dpnb.open(small.rows(), schema=small.declared())
    assert [data.name for data in shown] == ["small"]
    dpnb.open(small.rows(2), schema=small.declared(name="other"), quiet=True)
    assert len(shown) == 1


def test_detach_removes_the_copy_and_keeps_the_ledger(data, session, dpnb_home):
    """The prepared copy goes; what was spent stays."""
    dpnb.release([data.x.mean()], epsilon=1)
    session.detach(data)
    assert list((dpnb_home / "prepared").iterdir()) == []
    again = small.opened(session, dpnb_home)
    assert again.budget.spent.amount == 1
    assert dpnb.release([again.x.mean()], epsilon=1).stored == (True,)


@pytest.mark.parametrize("frame", ["pandas", "polars", "pyarrow", "mapping"])
def test_frames_of_each_kind_are_the_same_data(session, dpnb_home, frame):
    """pandas, polars, Arrow and plain arrays give one prepared copy: totals agree exactly."""
    from dpnb.client.upload import hand_over
    from dpnb.trusted.wire.places import Home

    raw = small.rows()
    made = {"mapping": lambda: raw}
    if frame != "mapping":
        library = pytest.importorskip(frame)
        made = {
            "pandas": lambda: library.DataFrame(raw).assign(y=library.Series(raw["y"]).astype("Int64")),
            "polars": lambda: library.DataFrame(raw, nan_to_null=True),
            "pyarrow": lambda: library.table(raw),
        }
    data = session.attach(hand_over(made[frame](), small.schema(), Home(dpnb_home)))
    report = session.release([data[data.y == 1].count(), data.x.sum()], Ask.make(epsilon=10))
    exact = [(raw["y"] == 1).sum(), raw["x"].sum()]
    assert [
        abs(one.outcome.value - true) < 40 for one, true in zip(report.measurements, exact, strict=True)
    ] == [True] * 2


@pytest.mark.parametrize(
    ("column", "cells"),
    [
        (Column.category("c", ["0", "1"]), [0.0, 1.0, 1.0]),
        (Column.integer("c", 0, 1), [True, False, True]),
        (Column.category("c", [False, True]), [True, False, True]),
        (Column.number("c", 0, 1), [np.float32(0.1), Decimal("0.5"), 1]),
        (Column.category("c", ["a", "b"]), ["a", "b", "a"]),
    ],
    ids=["floats", "bools", "truths", "numbers", "texts"],
)
@pytest.mark.parametrize("kind", ["pandas", "list"])
def test_what_one_row_holds_never_decides_how_another_is_read(dpnb_home, column, cells, kind):
    """One text, number or gap among the objects of a frame leaves the codes of all other rows as they were."""
    from dpnb.client.upload import hand_over
    from dpnb.datasets.preparation import quantise
    from dpnb.trusted.curator.sources import read_arrays
    from dpnb.trusted.wire.places import Home

    of = Schema("p", "People", (column,), PrivacyUnit("add-remove"), Budget.from_toml({"epsilon": 1}))

    def codes(last):
        values = [*cells, last]
        library = pytest.importorskip("pandas")
        frame = (
            {"c": values}
            if kind == "list"
            else library.DataFrame({"c": library.Series(values, dtype=object)})
        )
        place = Home(dpnb_home)
        with np.load(place.hand_over / hand_over(frame, of, place).file, allow_pickle=False) as arrays:
            return quantise(read_arrays(arrays)["c"], column).tolist()[: len(cells)]

    alone = codes(cells[0])
    assert None not in alone
    for last in (None, float("nan"), "n/a", 7, 2.5, True, b"x"):
        assert codes(last) == alone


def test_a_refused_request_id_is_not_used_again(session, data):
    """The error says that the next run gets a new id, and it does."""
    m = data.x.mean()
    place = (data.handle, batch_of([m], Ask.make(epsilon=1)).digest)
    other = data.g.mean()
    taken = "ab" * 16
    session._waiting[data.handle, batch_of([other], Ask.make(epsilon=1)).digest] = taken
    dpnb.release([other], epsilon=1)
    session._waiting[place] = taken
    with pytest.raises(RequestReused):
        dpnb.release([m], epsilon=1)
    assert dpnb.release([m], epsilon=1).charged == PrivacyLoss.pure(1)


@pytest.mark.parametrize(
    ("twice_at", "words"),
    [("cancel", "perhaps after the charge"), ("submit", "^Interrupted after the charge")],
)
def test_a_second_interrupt_says_only_what_is_known_of_the_charge(
    session, data, monkeypatch, twice_at, words
):
    """Before the curator has said that it charged, nobody here knows; either way it is paid for once."""
    ask, times = session._ask, {"submit": 0, "cancel": 0}

    def interrupted(message, wanted):
        kind = type(message).__name__.lower()
        times[kind] += 1
        reply = ask(message, wanted) if kind == "submit" else None
        if (kind, times[kind]) in {("submit", 1), (twice_at, 1), ("submit", 2)}:
            raise KeyboardInterrupt
        return reply or ask(message, wanted)

    with monkeypatch.context() as patch:
        patch.setattr(session, "_ask", interrupted)
        with pytest.raises(ChargedError, match=words):
            dpnb.release([data.x.mean()], epsilon=1)
    assert dpnb.release([data.x.mean()], epsilon=1)[0].value is not None
    assert data.budget.spent.amount == 1


def test_a_session_may_be_read_while_it_opens_more(session, data):
    """The news and the front ends read on threads of their own what a cell is changing."""

    class Opens:
        """A handle, while whose name is read another is opened."""

        @property
        def name(self):
            session._roots["3"] = data
            return "slow"

    session._roots["1"] = Opens()
    assert set(session.datasets) == {"small", "slow"}


def test_a_masked_value_is_missing(dpnb_home):
    """What a masked array hides is never handed over as data."""
    from dpnb.client.upload import hand_over
    from dpnb.trusted.curator.sources import read_arrays
    from dpnb.trusted.wire.places import Home

    masked = np.ma.MaskedArray([1.0, 99.0], mask=[False, True])
    home = Home(dpnb_home)
    file = hand_over({"x": masked, "g": [0, 1], "y": [0, 1]}, small.schema(), home).file
    with np.load(home.hand_over / file, allow_pickle=False) as arrays:
        held = read_arrays(arrays)["x"].tolist()
    assert held[0] == 1
    assert held[1] != 99


def test_public_functions_are_not_covered_by_modules_of_their_name():
    """dpnb.plan and dpnb.release are functions, whatever was imported below them."""
    import importlib

    importlib.import_module("dpnb.planner.price")
    importlib.import_module("dpnb.trusted.releases.record")
    assert callable(dpnb.plan)
    assert callable(dpnb.release)
    with pytest.raises(AttributeError):
        _ = dpnb.nothing


def test_the_ledger_and_its_statement_are_plain_json(session, data):
    """`session.ledger()` goes into json.dumps as it is, with exact losses; a statement writes the same, and tables of it."""
    dpnb.release([data.x.mean()], epsilon="0.3")
    read = json.loads(json.dumps(session.ledger(data)))
    assert [row["kind"] for row in read] == ["attach", "charge"]
    assert PrivacyLoss.from_json(read[1]["loss"]) == session.ledger_rows(data)[1]["loss"]
    statement = session.statement(data)
    assert json.loads(statement.to_json())[1]["loss"] == read[1]["loss"]
    assert "small.x.mean()" in statement.to_csv().splitlines()[2]
    ledger = session.ledger(data)
    assert isinstance(ledger, list)
    assert json.loads(ledger.to_json()) == ledger
    assert ledger.to_csv() == statement.to_csv()
    assert ledger.to_frame()["charged"].tolist() == ["", "ε 0.3"]
    assert ledger.to_markdown().startswith("| entry")


def test_what_remains_is_shown_with_its_cap(data):
    """``ε 9.4 of 10`` in print and in a list, never a Fraction; it still adds, compares and hashes as the loss that it is."""
    dpnb.release({"m": data.x.mean()}, epsilon=0.6)
    left = data.budget.remaining
    assert (str(left), repr(left), f"{left}", str([left])) == (*["ε 9.4 of 10"] * 3, "[ε 9.4 of 10]")
    assert left == data.budget.cap - data.budget.spent == data.budget.left
    assert left != PrivacyLoss.pure(9)
    assert {left: 1}[PrivacyLoss.pure("9.4")] == 1
    assert str(left + PrivacyLoss.pure("0.1")) == "ε 9.5"


def test_what_remains_of_two_numbers_names_both(dpnb_home):
    """Of an (ε, δ) budget both are left, and both are capped; what is left is rounded down."""
    service = small.curator(dpnb_home)
    one = small.opened(small.session(service, "ann"), dpnb_home, epsilon=1, delta=1e-6)
    state = one.budget.state()
    assert str(one.budget.remaining) == f"{state.left.brief('down')} of {state.cap}"
    assert str(one.budget.remaining).count("δ 5e-07") == 2
    service.close()

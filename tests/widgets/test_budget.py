"""The living budget: what was charged counted two ways, the ways out of a plan that does not fit, and the cell of a model."""

from __future__ import annotations

from fractions import Fraction

import pytest

import dpnb
from dpnb import widgets
from dpnb.client import api
from dpnb.errors import FrozenError, PlanError
from dpnb.planner.request import Ask
from dpnb.trusted.curator.guard import REFUSAL
from dpnb.trusted.privacy.accountant import Budget, compose, epsilon_of
from dpnb.trusted.privacy.event import PrivacyEvent
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.widgets import host_questions
from dpnb.widgets import snapshot as snapshots
from dpnb.widgets.kinds.budget import ways, ways_out
from dpnb.widgets.model_builder import model
from dpnb.widgets.snapshot import _charged, counting, dataset_record, ledger_rows, listed
from tests.curator import small
from tests.widgets.cases import compared
from tests.widgets.notebooks import notebook


def opened(home, **budget):
    """The small dataset under a budget of its own."""
    service = small.curator(home)
    return service, small.opened(small.session(service, "ann"), home, **budget)


@pytest.fixture
def tight(dpnb_home):
    """The small dataset with ε 2."""
    service, data = opened(dpnb_home, epsilon=2)
    yield data
    service.close()


@pytest.fixture
def zcdp(dpnb_home):
    """The small dataset with ρ 0.5."""
    service, data = opened(dpnb_home, rho="0.5")
    yield data
    service.close()


def plan(data, epsilon="1.8"):
    """Three questions, one of them a choice."""
    items = {"m": data.x.mean(), "share": data.y.mean(), "middle": data.x.median()}
    return dpnb.plan(items, epsilon=epsilon, assume_n=40)


# two ways of counting --------------------------------------------------------------------------------------


def test_a_pure_budget_is_counted_as_its_own_ledger_counts_it(tight):
    """The added ε of the picture is what the ledger charged; its ρ is the accountant's for the same events."""
    dpnb.release({"m": tight.x.mean(), "c": tight.x.median()}, epsilon="0.5")
    dpnb.release({"s": tight.x.sum()}, epsilon="0.25")
    facts = dataset_record(tight)["counting"]
    found = compared(facts["epsilon"], facts["rho"], facts["events"], 1e-6)
    assert facts["kept"] == "adding"
    assert found["added"] == float(tight.budget.spent.amount) == 0.75
    events = [PrivacyEvent.from_json(event) for row in tight.session.ledger(tight) for event in row["events"]]
    assert found["rhos"] == pytest.approx(float(compose(events, Measure.ZCDP).amount), rel=1e-12)


def test_a_rho_budget_is_counted_as_its_own_ledger_counts_it(zcdp):
    """The ρ of the picture is what the ledger charged; adding counts each Gaussian release alone at its part of δ."""
    dpnb.release({"m": zcdp.x.mean()}, rho="0.01")
    dpnb.release({"s": zcdp.x.sum()}, epsilon="0.2")
    facts = dataset_record(zcdp)["counting"]
    found = compared(facts["epsilon"], facts["rho"], facts["events"], 1e-6)
    assert facts["kept"] == "zcdp"
    assert found["rhos"] == pytest.approx(float(zcdp.budget.spent.amount), rel=1e-12)
    gaussian = [event for event in facts["events"] if event[0] == "gaussian"]
    times = sum(event[3] for event in gaussian)
    alone = sum(float(epsilon_of(event[1], Fraction("1e-6") / times)) * event[3] for event in gaussian)
    assert found["added"] == pytest.approx(alone + 0.2, rel=1e-9)


def test_an_epsilon_delta_budget_keeps_its_own_delta():
    """An (ε, δ) budget is compared at the part of δ that pays for the conversion, and at no other."""
    budget = Budget.from_toml({"epsilon": 1, "delta": "1e-6"})
    facts = counting(budget, [], PrivacyLoss.zero(budget.measure))
    assert (facts["kept"], facts["epsilon"], facts["delta"], facts["deltas"]) == ("zcdp", 1.0, 5e-7, [5e-7])
    assert epsilon_of(facts["rho"], facts["delta"]) <= 1


@pytest.mark.parametrize("budget", [{"epsilon": 4}, {"rho": 4}, {"epsilon": 4, "delta": "1e-6"}], ids=str)
def test_under_a_tighter_cap_that_is_the_promise_which_is_counted(budget):
    """A student's share, and not the dataset's budget; what it promises as (ε, δ) follows from its ρ."""
    whole = Budget.from_toml(budget)
    nothing, cap = (
        PrivacyLoss.zero(whole.measure),
        PrivacyLoss(whole.measure, Fraction(1, 10), whole.cap.delta),
    )
    facts, all_of_it = (counting(whole, [], nothing, one) for one in (cap, whole.cap))
    assert all_of_it == counting(whole, [], nothing)
    assert facts["delta"] == all_of_it["delta"]
    found = compared(facts["epsilon"], facts["rho"], [], 1e-6)
    assert (found["epsilon"] if budget == {"epsilon": 4} else found["rho"]) == pytest.approx(0.1)


def test_charges_of_others_are_not_passed_over_in_silence(tight):
    """A count that leaves out what others were charged under the same budget says that it does."""
    dpnb.release({"m": tight.x.mean()}, epsilon="0.5")
    assert dataset_record(tight)["counting"]["whole"]
    others = counting(tight.budget.state().budget, [], tight.budget.spent)
    assert not others["whole"]


def test_many_small_releases_are_tighter_under_zcdp_and_one_large_is_not():
    """What zCDP saves is the theory's: a hundred releases of ε 0.01 under ε 1 take less of a ρ budget, one of ε 1 takes more."""
    small_ones = compared(1.0, None, [["pure", 0.01, 0.0, 100]], 1e-6)
    large_one = compared(1.0, None, [["pure", 1.0, 0.0, 1]], 1e-6)
    assert small_ones["adding"] == large_one["adding"] == 1.0
    assert small_ones["zcdp"] < 0.25
    assert large_one["zcdp"] > 10
    assert compared(1.0, None, [["pure", small_ones["even"], 0.0, 1]], 1e-6)["zcdp"] == pytest.approx(
        small_ones["even"]
    )


def test_a_new_budget_period_starts_the_count_anew():
    """Of a ledger with a reset, what was charged since is counted, and nothing of an earlier period."""
    charge = {"kind": "charge", "events": [PrivacyEvent("pure", Fraction(1)).to_json()]}
    acts = [charge, charge, {"kind": "reset", "events": []}, charge]
    assert listed(_charged(acts)) == [["pure", 1.0, 0.0, 1]]


def test_equal_events_are_listed_once():
    """A thousand equal charges are one line with a number."""
    events = [PrivacyEvent("pure", Fraction(1, 10))] * 1000 + [PrivacyEvent("exponential", Fraction(1, 10))]
    assert listed(events) == [["pure", 0.1, 0.0, 1000], ["exponential", 0.1, 0.0, 1]]


# ways out --------------------------------------------------------------------------------------------------


def test_three_ways_out_each_fit(tight):
    """The largest ε that fits, a stored answer, and one statistic less: each cell, planned, is not refused."""
    dpnb.release({"m": tight.x.mean()}, epsilon="0.5")
    ways = {way["kind"]: way for way in ways_out(plan(tight))}
    assert list(ways) == ["less", "stored", "drop"]
    body = "m = small.x.mean()\nshare = small.y.mean()\nmiddle = small.x.quantile(0.5)"
    assert ways["less"]["cell"] == f"%%dp epsilon=1.5 assume_n=40\n{body}"
    assert ways["stored"]["cell"] == f"%%dp epsilon=1.7 weights=m:5,share:6,middle:6 assume_n=40\n{body}"
    assert ways["drop"]["cell"] == f"%%dp epsilon=1.2 weights=m:0,share:1,middle:1 assume_n=40\n{body}"
    for way in ways.values():
        asked = run(way["cell"], tight)
        assert asked.fits, way["label"]
    over = Ask.make(epsilon="1.501")
    assert not tight.session.preview(list(plan(tight).measurements), over).fits


def run(cell, data):
    """Plan what a cell asks, as the magic would."""
    line, _, body = cell.partition("\n")
    names = {"small": data}
    exec(body, names)
    unnamed = {text: eval(text, names) for text in body.splitlines() if " = " not in text}  # noqa: S307
    said = [word.partition("=") for word in line.split()[1:] if "=" in word]
    options = {option: value for option, _, value in said}
    named = {name: one for name, one in names.items() if name not in {"small", "__builtins__"}}
    items = {**named, **unnamed}
    for pair in filter(None, options.pop("weights", "").split(",")):
        name, _, weight = pair.partition(":")
        if weight == "0":
            del items[name]
        else:
            items[name].weight(int(weight))
    options["assume_n"] = 40
    return dpnb.plan(items, fresh="fresh" in line.split(), **options)


SITUATIONS = {
    "three questions": lambda data: plan(data, "5"),
    "one question": lambda data: dpnb.plan({"m": data.x.mean()}, epsilon=5),
    "weights": lambda data: dpnb.plan({"a": data.x.sum().weight(3), "b": data.y.mean()}, epsilon=5),
    "one spends by itself": lambda data: dpnb.plan(
        {"m": data.x.mean().spend(epsilon=1), "share": data.y.mean()}, epsilon=3, assume_n=40
    ),
    "one has no name": lambda data: dpnb.plan([data.x.mean(), data.y.mean()], epsilon=5, assume_n=40),
    "a derived value": lambda data: dpnb.plan(
        {"m": data.x.mean(), "ratio": data.x.mean() / data.y.mean()}, epsilon=5, assume_n=40
    ),
    "anew": lambda data: dpnb.plan({"m": data.x.mean(), "s": data.y.mean()}, epsilon=5, fresh=True),
}


@pytest.mark.parametrize("before", ["", "0.5", "1.9", "2"])
@pytest.mark.parametrize("situation", SITUATIONS)
def test_the_board_and_the_budget_bar_offer_the_same_ways_out(tight, situation, before):
    """Of one plan, whatever is stored and left, what the split board solves is what the bar offers, and each way fits."""
    if before:
        dpnb.release({"m": tight.x.mean()}, epsilon=before)
    view = SITUATIONS[situation](tight)
    told = widgets.plan(view).facts
    found = ways(told, [told["loss"] * share for share in told["shares"]])
    assert found == widgets.budget(view).facts["ways"]
    for way in found:
        assert not way["cell"] or run(way["cell"], tight).fits


def test_the_stored_way_is_free_where_all_is_stored(tight):
    """A question that was answered before is offered at what it cost then: running that cell charges nothing."""
    dpnb.release({"m": tight.x.mean()}, epsilon="0.5")
    stored = ways_out(dpnb.plan({"m": tight.x.mean()}, epsilon=5))[1]
    assert stored["cell"] == "%%dp epsilon=0.5\nm = small.x.mean()"
    assert not run(stored["cell"], tight).cost


def test_a_way_that_there_is_not_says_why(tight):
    """One question that was never asked cannot be dropped or reused; with nothing left there is no smaller ε."""
    less, stored, drop = ways_out(dpnb.plan({"m": tight.x.mean()}, epsilon=5))
    assert less["cell"].startswith("%%dp epsilon=2\n")
    assert (stored["cell"], drop["cell"]) == ("", "")
    assert "stored answer" in stored["why"]
    assert "one question" in drop["why"]
    dpnb.release({"s": tight.x.sum()}, epsilon=2)
    less = ways_out(dpnb.plan({"m": tight.x.mean()}, epsilon=5))[0]
    assert (less["cell"], less["why"]) == ("", "the budget cannot pay for any of this cell")


def test_ways_out_of_a_rho_budget_are_solved_in_what_was_asked(zcdp):
    """A plan in ε of a ρ budget is offered the ε whose ρ fits; one in ρ is offered a ρ."""
    less = ways_out(dpnb.plan({"m": zcdp.x.sum()}, epsilon=5))[0]
    assert less["cell"].startswith("%%dp epsilon=1.19\n")
    costs = [dpnb.plan({"m": zcdp.x.sum()}, epsilon=e).cost.amount for e in ("1.19", "1.2")]
    assert costs[0] <= 0.5 < costs[1]
    less = ways_out(dpnb.plan({"m": zcdp.x.sum()}, rho=5))[0]
    assert less["cell"].startswith("%%dp rho=0.5\n")


def test_weights_of_a_plan_are_kept(tight):
    """What is offered splits its loss as the plan did."""
    items = {"a": tight.x.sum().weight(3), "b": tight.y.mean()}
    assert ways_out(dpnb.plan(items, epsilon=5))[0]["cell"].startswith("%%dp epsilon=2 weights=a:3,b:1\n")


def test_what_a_question_spends_by_itself_is_kept(tight):
    """Where a question has a loss of its own in the cell, less is asked of the others alone, and its share is said once."""
    body = "m = small.x.mean().spend(epsilon=1)\nshare = small.y.mean()"
    items = {"m": tight.x.mean().spend(epsilon=1), "share": tight.y.mean()}
    less = ways_out(dpnb.plan(items, epsilon=3, assume_n=40), body)[0]
    assert less["cell"] == f"%%dp epsilon=2 assume_n=40\n{body}"
    assert run(less["cell"], tight).fits
    assert ways_out(dpnb.plan(items, epsilon=3, assume_n=40))[0]["cell"] == less["cell"]


def test_a_cell_speaks_of_the_dataset_as_it_runs(tight):
    """Where the notebook calls the dataset otherwise, its questions are written so: no name of the notebook is taken."""
    with notebook({"people": tight}):
        less = ways_out(dpnb.plan({"m": tight.x.mean()}, epsilon=5))[0]
        own = ways_out(dpnb.plan({"m": tight.x.mean()}, epsilon=5), "mine = people.x.mean()")[0]
    assert less["cell"] == "%%dp epsilon=2\nm = people.x.mean()"
    assert own["cell"] == "%%dp epsilon=2\nmine = people.x.mean()"


def test_the_ghost_follows_the_ledger(tight):
    """After a release the plan of the bar is priced against what is left now."""
    bar = widgets.budget(plan(tight, "1.8"))
    assert bar.facts["ways"] == []
    dpnb.release({"s": tight.x.sum()}, epsilon=1)
    bar.refresh()
    assert [way["kind"] for way in bar.facts["ways"]] == ["less", "stored", "drop"]


# the ledger in pieces --------------------------------------------------------------------------------------


def test_the_ledger_is_asked_for_what_is_new(tight, monkeypatch):
    """A second reading asks for later entries alone and tells the same acts; another session's charge is in it."""
    session = tight.session
    dpnb.release({"m": tight.x.mean()}, epsilon="0.1")
    first = session.ledger(tight)
    sent = []
    ask = session._ask
    monkeypatch.setattr(session, "_ask", lambda message, wanted: sent.append(message) or ask(message, wanted))
    dpnb.release({"s": tight.x.sum()}, epsilon="0.1")
    again = session.ledger(tight)
    assert again[: len(first)] == first
    assert len(again) == len(first) + 1
    assert [one.after for one in sent if hasattr(one, "after")] == [first[-1]["entry"]]


def test_an_entry_says_whether_this_session_asked_it_and_whether_it_is_stored(dpnb_home):
    """Two sessions on one dataset: each sees both charges, and knows its own."""
    service = small.curator(dpnb_home)
    one = small.opened(small.session(service), dpnb_home)
    other = small.opened(small.session(service), dpnb_home)
    dpnb.release({"m": one.x.mean()}, epsilon="0.1")
    dpnb.release({"s": other.x.sum()}, epsilon="0.1")
    mine, theirs = ledger_rows(one), ledger_rows(other)
    service.close()
    charges = [row for row in mine if row["kind"] == "charge"]
    assert [row["here"] for row in charges] == [True, False]
    assert [row["here"] for row in theirs if row["kind"] == "charge"] == [False, True]
    assert all(row["stored"] for row in charges)


def test_the_newest_entries_are_told_and_all_can_be_asked(tight, monkeypatch):
    """With more entries than are told with every cell, the number of all is told, and the rest is one question away."""
    monkeypatch.setattr("dpnb.widgets.snapshot._ROWS", 3)
    for i in range(5):
        dpnb.release([(tight.x + i).sum()], epsilon="0.01")
    record = dataset_record(tight)
    assert (len(record["ledger"]), record["entries"]) == (3, 6)
    assert len(ledger_rows(tight)) == 6
    assert record["ledger"] == ledger_rows(tight)[-3:]


# the model builder -----------------------------------------------------------------------------------------


def test_a_model_is_the_cell_that_asks_its_moments_and_regresses(tight):
    """Columns stand in the order of the schema, the formula in the order that was chosen; the price is the plan's."""
    found = model(tight, "people", {"y": "y", "x": ["g", "x"], "loss": "0.5"})
    assert found["cell"] == (
        '%%dp epsilon=0.5\nzz = people.moments("x", "g", "y")\nfit = zz.ols("y ~ g + x")\nfit'
    )
    assert (found["cost"], found["free"], found["problem"]) == ("ε 0.5", False, "")
    assert found["words"] == ""
    assert not tight.budget.spent


def test_a_model_reads_from_moments_that_are_held_free(tight):
    """Released moments that cover the columns are read under their name: no magic line, and free; others are not."""
    zz = dpnb.release({"zz": tight.moments("x", "g", "y")}, epsilon=1)["zz"]
    narrow = tight[tight.x > 3].moments("x", "y")
    held = [("zz", zz), ("m", tight.x.mean()), ("narrow", narrow)]
    found = model(tight, "small", {"y": "y", "x": ["x"]}, held)
    assert found["cell"] == 'fit = zz.ols("y ~ x")\nfit'
    assert (found["cost"], found["free"]) == ("free", True)
    other = model(tight, "small", {"y": "y", "x": ["x"]}, [("narrow", narrow)])
    assert not other["free"]


def test_a_name_that_is_taken_is_not_written_over(tight):
    """Where zz is another answer, the moments are called zz2."""
    zz = dpnb.release({"zz": tight.x.mean()}, epsilon="0.5")["zz"]
    found = model(tight, "small", {"y": "y", "x": ["x"]}, [("zz", zz)])
    assert 'zz2 = small.moments("x", "y")' in found["cell"]


def test_a_stored_model_says_so(tight):
    """Moments that were released before and are no longer held are stored: the cell is free, and says why."""
    dpnb.release([tight.moments("x", "y")], epsilon="0.5")
    found = model(tight, "small", {"y": "y", "x": ["x"], "loss": "0.5"})
    assert found["free"]
    assert found["cost"].startswith("stored")


def test_a_model_of_a_rho_budget_asks_rho(zcdp):
    """The loss is in the unit of the budget, with a modest default."""
    assert model(zcdp, "small", {"y": "y", "x": ["x"]})["cell"].startswith("%%dp rho=0.05\n")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        pytest.param({}, "Choose one y", id="nothing"),
        pytest.param({"y": "y", "x": []}, "Choose one y", id="no x"),
        pytest.param({"y": "y", "x": "x"}, "Choose one y", id="a text for x"),
        pytest.param({"y": "nobody", "x": ["x"]}, "no column", id="unknown y"),
        pytest.param({"y": "y", "x": ["x", 'a"); evil(']}, "no column", id="code for a column"),
        pytest.param({"y": "x", "x": ["x"]}, "occurs once", id="y is x"),
    ],
)
def test_a_model_that_is_none_is_refused(tight, asked, words):
    """What is no regression is refused in words, and nothing is written."""
    with pytest.raises(PlanError, match=words):
        model(tight, "small", asked)


@pytest.mark.parametrize("loss", ["much", "0", "-1", "nan", "1e99", "0.5\nimport os", [1], {}])
def test_a_loss_that_is_none_writes_no_cell(tight, loss):
    """The cell is written only with a loss that can be asked; the refusal is said beside it."""
    found = model(tight, "small", {"y": "y", "x": ["x"], "loss": loss})
    assert found["cell"] == ""
    assert found["problem"]


def test_more_than_is_left_is_said_beside_the_cell(tight):
    """A model dearer than the budget is written, and said to be refused."""
    found = model(tight, "small", {"y": "y", "x": ["x"], "loss": "5"})
    assert "would be refused" in found["problem"]


# what the panel asks ---------------------------------------------------------------------------------------


def test_without_a_notebook_the_panel_is_told_what_to_type():
    """No notebook has said how it answers: every question is refused with the line to run."""
    assert "%load_ext dpnb" in host_questions.answer({"ask": "ledger"})["problem"]
    assert host_questions.answer("ledger")["is"] == "refusal"


def test_the_panel_answers_under_the_number_of_the_question(tight, monkeypatch):
    """Two questions at once are told apart; what is no message is refused, and nothing breaks."""
    monkeypatch.setattr(api, "session", lambda: tight.session)
    panel, sent = widgets.panel(), []
    monkeypatch.setattr(panel, "send", sent.append)
    with notebook({}, lambda asked: {"is": "echo", "of": asked.get("ask")}):
        panel._reply(panel, {"ask": "ledger", "number": 2}, [])
        panel._reply(panel, "nonsense", [])
    assert sent[0] == {"number": 2, "answer": {"is": "echo", "of": "ledger"}}
    assert sent[1]["answer"]["is"] == "refusal"


def test_the_still_panel_of_a_frozen_home_says_so(tight, monkeypatch):
    """Seen: it said that no dataset was open, when none could be read."""

    def frozen(*_):
        raise FrozenError(REFUSAL)

    monkeypatch.setattr(api, "session", lambda: tight.session)
    monkeypatch.setattr(snapshots, "_record_now_or_last", frozen)
    text = widgets.panel().card().text
    assert "This home is frozen" in text
    assert "No dataset is open" not in text


def test_the_current_plan_is_the_last_one_until_it_is_released(tight):
    """A plan is the session's current one; a preview is not, and a release of its questions ends it."""
    view = plan(tight, "0.5")
    assert tight.session.latest.items == view.items
    assert tight.session.latest.label(0) == "m"
    tight.session.preview([tight.x.sum()], Ask.make(epsilon=1))
    assert tight.session.latest.items == view.items
    dpnb.release([tight.x.sum()], epsilon="0.1")
    assert tight.session.latest.items == view.items
    dpnb.release([tight.x.mean(), tight.y.mean(), tight.x.median()], epsilon="0.5")
    assert tight.session.latest is None


def test_every_picture_says_when_it_stood_so(tight, monkeypatch):
    """Panel and budget carry their time, and their still forms name it."""
    monkeypatch.setattr(api, "session", lambda: tight.session)
    for one in (widgets.panel(), widgets.budget(tight)):
        assert f" at {one.facts['at'][:10]}" in one.card().text


def test_spent_is_told_in_the_budget_s_own_measure(zcdp):
    """The record of a ρ budget speaks of ρ."""
    dpnb.release([zcdp.x.sum()], rho="0.1")
    record = dataset_record(zcdp)
    assert (record["symbol"], record["spent"]) == ("ρ", 0.1)
    assert zcdp.budget.spent == PrivacyLoss.zcdp("0.1")


def test_the_builder_foretells_each_coefficient(tight):
    """Before the moments are bought each coefficient has an expected ±, that of dpnb.power; where nothing would bound it, that is warned of."""
    found = model(tight, "people", {"y": "y", "x": ["g", "x"], "loss": "0.5"})
    assert [one["name"] for one in found["coefficients"]] == ["Intercept", "g", "x"]
    assert found["given"].startswith("for about ")
    unbounded = [one["width"] is None for one in found["coefficients"]]
    assert any(unbounded) == ("unbounded" in found["warning"])
    assert any(unbounded), "forty rows at ε 0.5 bound nothing"

"""Every interaction: its facts come from the functions that price, its still form reads anywhere, and nothing is spent."""

from __future__ import annotations

import html
import json
import re
import sys
import tempfile
import threading
from fractions import Fraction
from pathlib import Path

import nh3
import numpy as np
import pytest
from dpnb_site import live

import dpnb
from dpnb import widgets
from dpnb.cards.card import SIZES, STYLE, TOKENS_DARK, TOKENS_LIGHT
from dpnb.errors import DpnbError, PlanError
from dpnb.inference.digits import percent, rounded
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.trusted.query import plan_record
from dpnb.widgets import _base
from dpnb.widgets.arithmetic import combined, cost_of
from dpnb.widgets.curve import Curve, curve_of, question_of
from dpnb.widgets.registry import INTERACTIONS
from tests.curator import small
from tests.repo.test_rules import ROOT


def planned(data, **asked):
    """A plan of three questions, one of them a choice."""
    items = {"m": data.x.mean(), "share": data.y.mean(), "middle": data.x.median()}
    return dpnb.plan(items, **{"epsilon": "0.9", "assume_n": 40, **asked})


def released(data):
    """A released mean."""
    return dpnb.release({"m": data.x.mean()}, epsilon=1)["m"]


def town():
    """A file that nobody declared yet."""
    path = Path(tempfile.mkdtemp()) / "town.csv"
    path.write_text("person,age,sex,income\n1,34,f,41000\n")
    return path


OWN_MAKERS = {
    "attach": widgets.attach,
    "attack": lambda _: widgets.attack_bench("linkage"),
    "exhibits": lambda _: widgets.exhibits("rule-2.996"),
    "seesaw": lambda data: widgets.seesaw(data.x.mean(), assume_n=3000),
    "sentence": lambda _: widgets.sentence(
        "At ε = {epsilon} a count is off by {off:.2g}.",
        epsilon=(0.1, 0.5, 4),
        off=lambda epsilon: 1 / epsilon,
        picture="off",
    ),
    "odds": lambda _: widgets.odds(0.1, epsilon=0.5),
    "noises": lambda _: widgets.noises(0.3, n=500),
    "person": lambda _: widgets.drag_person([21, 35, 44, 60], low=20, high=70),
    "budget": widgets.budget,
    "coverage": lambda _: widgets.coverage_lab(reps=100).run(),
    "compare": lambda data: widgets.compare({"mean": data.x.mean(), "middle": data.x.median()}),
    "deposit": lambda _: widgets.deposit(town()),
    "clamp": lambda _: widgets.clamp([1, 2, 3, 5, 8, 40], high=10),
    "remeasure": lambda data: widgets.remeasure(released(data), name="m"),
    "stored": lambda data: widgets.stored(released(data), name="m"),
    "synthetic": lambda _: widgets.synthetic({"age": 6, "educ": 5, "married": 2}, n=3_000, epsilon=0.5),
    "panel": lambda _: widgets.panel(),
    "guide": widgets.guide,
    "plan": lambda data: widgets.plan(planned(data)),
    "wall": lambda data: widgets.wall([released(data)]),
}


def from_gallery(name):
    """How the gallery of the documentation makes its example, of a public study."""
    return lambda _: live.made(live.examples()[name], dpnb.open("hiv", quiet=True))


def without(makers):
    """The interactions of the registry that these makers do not make."""
    return {entry.name for entry in INTERACTIONS} - set(makers)


MAKERS = OWN_MAKERS | {name: from_gallery(name) for name in sorted(without(OWN_MAKERS))}
"""How each is made: of forty rows, or as the gallery shows it."""
QUIET = {"attach", "budget", "deposit", "exhibits", "guide", "panel", "sentence", "wall"}
"""What draws no law of noise: an exhibit shows what is none, a wall what was released, a sentence what its author wrote."""


@pytest.fixture(params=sorted(MAKERS))
def made(request, data):
    """One interaction after the other."""
    return MAKERS[request.param](data)


def test_every_interaction_is_listed_here():
    """What the room offers is what is tested, each under its one name; what is called otherwise is the same class."""
    assert [entry.name for entry in INTERACTIONS] == sorted(MAKERS) == list(_base.KINDS)
    assert without({"odds": None}) == set(MAKERS) - {"odds"}


def test_the_gallery_makes_what_no_test_makes(data):
    """The section of a name shows that interaction."""
    assert from_gallery("odds")(data).module == "odds"
    assert set(widgets.__all__) == {"built", "page", *(entry.public for entry in INTERACTIONS)}
    for entry in INTERACTIONS:
        assert getattr(widgets, entry.public) is entry.load()
        assert entry.load().module == entry.name
    assert dir(widgets) == sorted(widgets.__all__)


def test_facts_are_strict_json(made):
    """What crosses to the browser has no NaN, no infinity and no Python object."""
    assert json.loads(json.dumps(made.facts, allow_nan=False)) == made.facts


@pytest.mark.parametrize("found", [True, False], ids=["built", "not built"])
def test_still_form_says_how_to_drag_it(data, monkeypatch, found):
    """With the front end: run the cell; without it: that it is not installed, and the two ways to install it."""
    monkeypatch.setattr(_base, "source", lambda _: "" if found else None)
    shown = MAKERS["odds"](data)._repr_mimebundle_()
    bundle = shown[0] if isinstance(shown, tuple) else shown
    assert ("run the cell to drag it" in bundle["text/html"]) is found
    assert ("not installed here" in bundle["text/html"]) is not found
    assert ("application/vnd.jupyter.widget-view+json" in bundle) is found
    assert widgets.built() is found
    assert ("Install a wheel" in bundle["text/html"]) is not found
    assert ("Node.js 20.19" in bundle["text/html"]) is not found


def test_still_form_reads_without_scripts_and_styles(made):
    """A sanitiser removes nothing that says something; the text form is there too."""
    bundle = made.card().bundle()
    clean = nh3.clean(bundle["text/html"]).replace("<wbr>", "")  # where code may break
    words = re.sub(r"<[^>]+>|\s+", " ", html.unescape(clean)).casefold()
    for word in made.card().text.casefold().split():
        assert word.strip("():[];█▒░–") in words, word
    assert "<script" not in bundle["text/html"]


def test_moving_a_control_spends_nothing(data):
    """Whatever the browser sets, the ledger stays as it was."""
    made = [MAKERS[name](data) for name in sorted(MAKERS)]
    before, entries = data.budget.spent, len(data.session.ledger(data))
    for one in made:
        for chosen in ({"loss": 0.5}, {"loss": 1e9, "size": 10}, {"epsilon": 3.0, "prior": 0.2, "n": 50}):
            one.chosen = chosen
    assert data.budget.spent == before
    assert len(data.session.ledger(data)) == entries


def flat(facts):
    """The facts, with those of a picture inside it."""
    return {**facts, **(facts.get("more") or {})}


@pytest.mark.parametrize("name", sorted(set(MAKERS) - QUIET))
def test_picture_follows_the_mechanism(name, data, monkeypatch):
    """A mechanism whose noise is a quarter wider changes every picture that shows it."""
    before = flat(MAKERS[name](data).facts)
    honest = DiscreteLaplace.calibrate.__func__

    def wider(cls, sensitivity, epsilon):
        return honest(cls, Fraction(sensitivity) * Fraction(5, 4), epsilon)

    init = DiscreteLaplace.__post_init__
    monkeypatch.setattr(DiscreteLaplace, "calibrate", classmethod(wider))
    monkeypatch.setattr(
        DiscreteLaplace,
        "__post_init__",
        lambda self: (init(self), object.__setattr__(self, "scale", self.scale * Fraction(5, 4)))[0],
    )
    monkeypatch.setattr(plan_record, "read_mechanism", as_written(monkeypatch, init))
    after = flat(MAKERS[name](data).facts)
    drawn = ("curve", "law", "scale", "questions", "noise", "run")
    assert name in without(OWN_MAKERS) or set(drawn) & set(before)
    assert not set(drawn) & set(before) or any(before.get(key) != after.get(key) for key in drawn)


def as_written(monkeypatch, init, read=plan_record.read_mechanism):
    """A curator that reads the scale that was sent, and makes it no wider a second time."""

    def reading(record):
        with monkeypatch.context() as for_now:
            for_now.setattr(DiscreteLaplace, "__post_init__", init)
            return read(record)

    return reading


def test_curve_is_the_plan_s_own_half_width(data):
    """At a point of the grid, and within one part in a thousand between points, the curve is what a plan would say."""
    question = data.x.mean()
    curve = curve_of(question_of(question), "epsilon", 3000)
    for epsilon in ("0.01", "0.1", "0.37", "1", "2.9", "10"):
        said = dpnb.plan([question], epsilon=epsilon, assume_n=3000).items[0].preview.half_width
        assert curve.width_at(float(epsilon)) == pytest.approx(said, rel=1e-3)
        assert curve.loss_for(said) == pytest.approx(float(epsilon), rel=5e-3)


def test_board_plans_a_private_size_with_all_rows(data):
    """The browser has the curve of a mean with missing values as a plan with all public rows would draw it, and words that say so."""
    asked = {"m": data.x.mean(), "d": data.x.mean() * 2}
    one = widgets.plan(dpnb.plan(asked, epsilon=1)).facts["questions"][0]
    said = dpnb.plan(asked, epsilon=1, assume_n=40).items[0].preview.half_width
    assert one["curve"] is None
    assert one["full_width"] == pytest.approx(said, rel=1e-12)
    assert Curve(**one["full"]).width_at(1.0) == pytest.approx(said, rel=1e-2)
    assert one["given"] == "if 40 people count, more if fewer do"
    assert widgets.plan(dpnb.plan(asked, epsilon=1, assume_n=40)).facts["questions"][0]["given"] == ""


def test_seesaw_takes_a_median_by_its_rank(data):
    """The ± of a median is one of ranks, in rows; its curve is the one that a plan tells in words."""
    shown = widgets.seesaw(data.x.median(), epsilon=0.5)
    assert shown.facts["unit"] == "rows of rank"
    said = dpnb.plan({"m": data.x.median()}, epsilon=0.5).items[0].preview.words
    radius = Curve(**shown.facts["curve"]).width_at(0.5)
    assert f"± {percent(radius / 40)} of people" in said
    assert f"± {rounded(radius)} rows of rank" in shown.card().text


def test_what_is_asked_of_the_kernel_is_answered_or_said(data):
    """A size that the browser sends is planned with; one that is none is refused in the picture, and the rest stands."""
    one = widgets.seesaw(data.y.mean(), assume_n=1000)
    wide = one.facts["curve"]["width"][0]
    one.chosen = {"size": 100}
    assert one.facts["curve"]["width"][0] > 2 * wide
    one.chosen = {"size": -3}
    assert "whole number of people" in one.facts["problem"]
    assert one.facts["size"]["planned"] == 100


def test_board_leaves_the_cell_behind_that_releases_it(data):
    """The body asks each question under its name; what it pays is on the magic line, not in it."""
    facts = widgets.plan(planned(data)).facts
    assert facts["body"].splitlines() == [
        "m = small.x.mean()",
        "share = small.y.mean()",
        "middle = small.x.quantile(0.5)",
    ]
    assert [one["nameable"] for one in facts["questions"]] == [True, True, True]
    assert sum(facts["shares"]) == pytest.approx(1)
    assert facts["loss"] == pytest.approx(0.9)


def test_board_words_follow_what_is_chosen(data):
    """Where there is no ±, the kernel says what is known at the loss that was chosen, and for which loss it says so."""
    board = widgets.plan(planned(data))
    before = board.facts["questions"][2]
    board.chosen = {"loss": 0.3, "shares": [0.2, 0.2, 0.6]}
    after = board.facts["questions"][2]
    assert after["words"] != before["words"]
    assert after["at"] == pytest.approx(0.18)
    for nonsense in (
        {"loss": float("nan")},
        {"shares": [1]},
        {"shares": "all"},
        {"loss": -1, "shares": [0, 0, 0]},
    ):
        board.chosen = nonsense
        assert board.facts["questions"][2]["words"] == before["words"]


def test_board_shows_what_is_stored_with_its_own_accuracy(data):
    """A stored answer keeps its share of the line and is free up to what it was paid with; the browser knows both."""
    dpnb.release({"m": data.x.mean()}, epsilon=5)
    facts = widgets.plan(planned(data)).facts
    assert [one["stored"] for one in facts["questions"]] == [True, False, False]
    held = facts["questions"][0]["held"]
    assert held["amount"] == 5
    anew = widgets.plan(planned(data, fresh=True)).facts["questions"][0]
    assert facts["questions"][0]["width"] == held["width"] < anew["width"]
    assert [one["held"] for one in facts["questions"][1:]] == [None, None]
    assert len(facts["shares"]) == 3


def test_board_follows_what_is_released_elsewhere(data):
    """A release anywhere in the session makes the same question free on the board, and lowers what is left."""
    board = widgets.plan(planned(data))
    dpnb.release({"m": data.x.mean()}, epsilon=5)
    _base.refresh_all()
    assert board.facts["left"] == 5
    assert board.facts["questions"][0]["stored"]


def test_interactions_are_counted_up_while_a_cell_makes_more():
    """The news brings them in step on a thread of its own; it loses nothing to a cell that shows another just then."""

    class Empty(_base.Interaction):
        module = "odds"

        def describe(self):
            return {}

    made, before = [], sys.getswitchinterval()
    making = threading.Thread(target=lambda: made.extend(Empty() for _ in range(300)))
    sys.setswitchinterval(1e-6)
    try:
        making.start()
        while making.is_alive():
            assert all(isinstance(one, _base.Interaction) for one in _base.living())
    finally:
        sys.setswitchinterval(before)
        making.join()


def test_board_knows_how_a_loss_is_charged(dpnb_home):
    """Where ρ is counted, an ε costs what its events cost; where ε or ρ is asked as it is counted, itself."""
    service = small.curator(dpnb_home)
    rho = small.opened(small.session(service, "ann"), dpnb_home, rho=2)
    facts = widgets.plan(planned(rho, epsilon="0.9")).facts
    assert facts["paid"] == {"symbol": "ρ", "power": 2}
    kinds = [[event[0] for event in one["rate"]] for one in facts["questions"]]
    assert kinds == [["laplace"], ["laplace"], ["exponential"]]
    view = planned(rho, epsilon="0.9")
    charged = sum(cost_of(0.3, None, one["rate"], 2) for one in facts["questions"])
    assert charged == pytest.approx(float(view.cost.amount), rel=1e-9)
    asked = widgets.plan(planned(rho, epsilon=None, rho="0.1")).facts
    assert (asked["kind"], asked["paid"]) == ("rho", {"symbol": "ρ", "power": 1})
    service.close()


def test_board_says_why_a_split_cannot_be_written(data):
    """Weights in the body, or a question without a name, are not overruled from the magic line."""
    view = planned(data)
    assert widgets.plan(view).facts["pinned"] == ""
    body = "m = small.x.mean().weight(2)"
    assert "in its body" in widgets.plan(view, body=body).facts["pinned"]
    unnamed = dpnb.plan([data.x.mean(), data.y.mean()], epsilon=1)
    assert "has no name in this cell" in widgets.plan(unnamed).facts["pinned"]


def test_board_keeps_what_a_cell_spends_by_itself(data):
    """A loss of its own in the cell is no part of the split; a public answer is none either."""
    own = data.x.mean().spend(epsilon="0.2")
    view = dpnb.plan({"m": own, "s": data.y.mean(), "n": data.count()}, epsilon=1)
    facts = widgets.plan(view).facts
    assert [one["state"] for one in facts["questions"]] == ["own", "split", "public"]
    assert (facts["questions"][0]["own"], facts["loss"]) == (0.2, 0.8)


def test_board_keeps_the_rest_of_the_line(data):
    """A planned size and a wish to pay again stay on the magic line of the cell that it leaves behind."""
    assert widgets.plan(planned(data)).facts["rest"] == "assume_n=40"
    assert widgets.plan(planned(data, fresh=True)).facts["rest"] == "assume_n=40 fresh"


def test_board_writes_derived_values_into_the_cell(data):
    """Arithmetic that a cell understands is asked with its questions; numpy's functions by name are not."""
    m = data.y.mean()
    view = dpnb.plan({"m": m, "twice": 2 * m, "log": np.log(m)}, epsilon=1, assume_n=40)
    facts = widgets.plan(view).facts
    assert facts["body"].splitlines() == ["m = small.y.mean()", "twice = 2 * small.y.mean()"]
    assert [one["forecast"]["kind"] for one in facts["derived"]] == ["sum", "none"]


def test_remeasure_forecasts_what_remeasuring_gives(data):
    """The forecast is within a sixth of the half-width that paying gives; each release so far is one interval of the trail."""
    answer = dpnb.release({"m": data.x.sum()}, epsilon=1)["m"]
    facts = widgets.remeasure(answer, name="m").facts
    (now,) = facts["trail"]
    curve = Curve(tuple(facts["curve"]["loss"]), tuple(facts["curve"]["width"]))
    forecast = combined((now["high"] - now["low"]) / 2, curve.width_at(2))
    both = answer.remeasure(epsilon=2)
    after = widgets.remeasure(both, name="m").facts["trail"]
    assert [one["paid"] for one in after] == ["ε 1", "ε 3"]
    assert (after[1]["high"] - after[1]["low"]) / 2 == pytest.approx(forecast, rel=1 / 6)


def test_after_a_cell_nothing_is_priced_again(data, monkeypatch):
    """Bringing the interactions in step reads the ledger alone: a curve is a function of public facts, and is kept."""
    kept = [MAKERS[name](data) for name in sorted(MAKERS)]
    _base.refresh_all()  # some asked, and what they were answered tells of the rows that others are about
    monkeypatch.setattr("dpnb.widgets.curve.curve_of", pytest.fail)
    dpnb.release({"n": data.x.sum()}, epsilon=1)
    _base.refresh_all()
    left = {one.module: one.facts["left"] for one in kept if "left" in one.facts}
    assert set(left) == {"compare", "seesaw", "plan", "remeasure"}
    assert set(left.values()) == {8.0}


@pytest.mark.parametrize(
    ("make", "words"),
    [
        pytest.param(widgets.seesaw, "takes a question", id="a dataset"),
        pytest.param(lambda data: widgets.seesaw(data.count()), "is public", id="a public count"),
        pytest.param(lambda data: widgets.seesaw(data.x.std()), "depends on the data", id="a deviation"),
        pytest.param(lambda data: widgets.seesaw(data.y.mean() + 1), "computed from others", id="derived"),
        pytest.param(lambda data: widgets.seesaw(data.y.mean(), assume_n=0), "whole number", id="nobody"),
        pytest.param(lambda _: widgets.odds(1.5), "prior must be above 0", id="a belief above 1"),
        pytest.param(lambda _: widgets.odds(0.1, epsilon=-1), "at least 0", id="a negative loss"),
        pytest.param(lambda _: widgets.noises(0), "between 0 and 1", id="no share"),
        pytest.param(lambda _: widgets.noises(0.5, n=1), "at least 10", id="one person"),
        pytest.param(lambda _: widgets.noises(0.5, epsilon=float("nan")), "above 0", id="not a number"),
        pytest.param(lambda data: widgets.drag_person(data.x), "never a protected", id="a column"),
        pytest.param(widgets.drag_person, "never a protected", id="a dataset of rows"),
        pytest.param(lambda data: widgets.drag_person(data.x.mean()), "never a protected", id="an estimate"),
        pytest.param(lambda _: widgets.drag_person([1]), "2 to 60", id="one row"),
        pytest.param(lambda _: widgets.drag_person(["a", "b"]), "list of numbers", id="texts"),
        pytest.param(lambda _: widgets.drag_person([1, float("inf")]), "finite", id="infinite"),
        pytest.param(lambda _: widgets.drag_person(low=3, high=3), "bounds are empty", id="no room"),
        pytest.param(lambda _: widgets.drag_person(kind="mode"), "kind is one of", id="another statistic"),
        pytest.param(widgets.plan, "takes a plan", id="no plan"),
        pytest.param(
            lambda data: widgets.budget(data.x), "takes a dataset or a plan", id="a budget of a column"
        ),
        pytest.param(lambda data: widgets.clamp(data.x, low=1), "are declared", id="move declared bounds"),
        pytest.param(widgets.clamp, "never a protected", id="clamp a dataset"),
        pytest.param(lambda _: widgets.clamp([3, 3, 3]), "bounds are empty", id="clamp one value"),
        pytest.param(lambda _: widgets.clamp([1, 2], epsilon=float("nan")), "above 0", id="clamp at no loss"),
        pytest.param(lambda _: widgets.odds(0.1, delta=0.5), "at most 0.01", id="a large delta"),
        pytest.param(lambda _: widgets.odds(0.1, delta=-1), "delta", id="a negative delta"),
        pytest.param(lambda _: widgets.drag_person(arms=[0, 1]), "each of the 30", id="arms of others"),
        pytest.param(lambda _: widgets.drag_person([1, 2], arms=[0, 2]), "0 or 1", id="a third arm"),
        pytest.param(
            lambda _: widgets.drag_person([1, 2], scores=[0, 2]), "from 0 to 1", id="a score of two"
        ),
        pytest.param(lambda _: widgets.drag_person(epsilon=float("nan")), "above 0", id="noise of no size"),
        pytest.param(lambda _: widgets.clamp([1, 2], low=3, high=3), "bounds are empty", id="clamp nothing"),
        pytest.param(lambda _: widgets.clamp([1, 2], epsilon=0), "above 0", id="clamp for free"),
        pytest.param(lambda data: widgets.remeasure(data.x.mean()), "Only a released", id="pending"),
        pytest.param(lambda data: widgets.remeasure(released(data), name="a b"), "name= is", id="no name"),
        pytest.param(
            lambda data: widgets.remeasure(dpnb.release([data.x.quantile([0.2, 0.5])], epsilon=1)[0]),
            "no single number",
            id="a vector",
        ),
        pytest.param(lambda _: widgets.synthetic({"age": 6}), "2 to 20 columns", id="one column"),
        pytest.param(lambda _: widgets.synthetic({"a": 6, "b": 1}), "whole number from 2", id="one value"),
        pytest.param(
            lambda _: widgets.synthetic(relations=[("age", "town")]), "pairs of age", id="no such pair"
        ),
        pytest.param(lambda _: widgets.page([3]), "made of interactions", id="a page of numbers"),
    ],
)
def test_bad_input_is_refused_with_the_fix(data, make, words):
    """A clear short error, and nothing spent."""
    with pytest.raises(DpnbError, match=words):
        make(data)


def test_style_sheet_has_the_cards_colours():
    """The widgets' tokens are those of the cards: the light ones once, the dark ones by the system's wish and by the notebook's theme."""
    sheet = (ROOT / "labextension/src/widgets/widget.css").read_text()
    for tokens, times in ((TOKENS_LIGHT, 1), (TOKENS_DARK, 2)):
        for token in filter(None, tokens.split(";")):
            name, value = token.split(":")
            assert sheet.count(f"{name}: {value};") == times, token


def test_page_asks_the_network_for_nothing(data):
    """One self-contained page: no address in it but XML's own names."""
    if not _base.built():
        with pytest.raises(PlanError, match="not built"):
            widgets.page([MAKERS["odds"](data)])
        return
    text = widgets.page([make(data) for make in MAKERS.values()])
    addresses = set(re.findall(r"https?://[^\s\"'<>)]+", text))
    assert addresses <= {"http://www.w3.org/2000/svg", "https://www.w3.org/2000/svg"}


def test_letters_and_room_come_from_one_table():
    """Cards and interactions have the same five sizes of letters and of room, and no rule names another."""
    sheets = [
        (ROOT / f"labextension/src/widgets/{name}.css").read_text() for name in ("widget", "interactions")
    ]
    for token in filter(None, SIZES.split(";")):
        name, value = token.split(":")
        assert re.search(rf"{name}: 0?{re.escape(value)};", sheets[0]), token
    rules = str(STYLE).replace(SIZES, "")
    for sheet in (rules, *sheets):
        assert not re.findall(r"font-size:\s*[\d.]+[a-z]+|font:\s*[\d.]+px", sheet)
        assert not re.findall(r"(?:margin|padding|gap)[a-z-]*:[^;}]*?(?<![\w.])[\d.]+rem", sheet)

"""What is left to somebody is one figure, wherever it is told: of the cap that would refuse first, by its name."""

from __future__ import annotations

import json

import pytest

from dpnb.cards.attach import attach_card
from dpnb.cards.budget import budget_card
from dpnb.cards.plan import plan_card
from dpnb.cards.released import release_card
from dpnb.errors import BudgetError
from dpnb.notebook import commands
from dpnb.planner.request import Ask
from dpnb.widgets.snapshot import snapshot

EACH = "each = { epsilon = 0.9 }"
GROUP = "\ngroups = { class-1 = { epsilon = 0.8 } }"
LETS = "what its owner lets "
CAPS = {
    "each": (EACH, {}, None, "0.9", LETS + "each analyst spend"),
    "group": (EACH + GROUP, {"groups": ("class-1",)}, None, "0.8", LETS + "the group class-1 spend"),
    "token": (EACH, {"epsilon": "0.3"}, None, "0.3", LETS + "your token spend"),
    "own": (EACH, {}, "0.5", "0.5", "your own cap"),
    "dataset": ("", {}, None, "3", ""),
}
"""What holds whoever asks most tightly: the owner's file, the token, one's own cap; how much that is and what it is called."""


def opened(running, monkeypatch, caps):
    """A service with these caps, a session in it, and its dataset."""
    lines, token, own, _, _ = caps
    service = running(each=lines)
    ada = service.session(service.token("ada", **token), monkeypatch)
    people = ada.open_served("people")
    if own is not None:
        ada.cap(epsilon=own, dataset=people)
    return service, ada, people


def said_by_magic(people, monkeypatch):
    """What ``%dp budget`` prints where no card can be shown."""
    said = []
    monkeypatch.setattr(commands, "_opened", lambda *_: [people])
    monkeypatch.setattr(commands, "draw", lambda *_, text: said.append(text))
    monkeypatch.setattr(commands, "display", lambda *_, **__: None)
    commands._budget(None, [])
    return said[0]


@pytest.mark.slow
@pytest.mark.parametrize("caps", CAPS.values(), ids=CAPS)
def test_cards_panel_gauge_repr_and_refusal_tell_one_figure(running, monkeypatch, caps):
    """The seen: a card said "ε 0 of 4 left", of the dataset, where gauge and panel said 3.8 of 3.8, of the analyst."""
    _, ada, people = opened(running, monkeypatch, caps)
    cap, whose = caps[3:]
    name = f" ({whose})" if whose else ""
    report = ada.release([people.count()], Ask.make(epsilon="0.1"))
    left = f"{float(cap) - 0.1:.4g}"
    figure = f"ε {left} of {cap} left{name}"
    state = people.budget.state()
    assert (str(state.left), str(state.cap), state.whose) == (f"ε {left}", f"ε {cap}", whose)
    assert figure in release_card(report).text
    stored = ada.release([people.count()], Ask.make(epsilon="0.1"))
    assert figure in release_card(stored).text
    assert figure in attach_card(people.schema, people.budget).text
    (seen,) = snapshot(ada)["datasets"]
    assert figure in seen["words"]
    assert (seen["left"], seen["cap"]) == (pytest.approx(float(left)), float(cap))
    assert (seen["counting"]["epsilon"], seen["counting"]["whole"], seen["own"]) == (float(cap), True, "")
    assert f"spent ε 0.1 of ε {cap} · ε {left} left{name}" in budget_card(people.schema, people.budget).text
    assert repr(people.budget) == f"<budget: ε 0.1 spent, ε {left} left of ε {cap}{name}>"
    assert f"spent ε 0.1 of ε {cap}, left ε {left}{name}" in said_by_magic(people, monkeypatch)
    assert f"ε 0.1 charged, ε {left} left{name}" in str(report)
    plan = ada.preview([people.age.mean()], Ask.make(epsilon="0.1"))
    assert f"ε 0.1 of ε {left} left{name}; nothing spent" in str(plan)
    after = f"ε {float(cap) - 0.2:.4g} of ε {cap} would be left{name}"
    assert after in plan_card(plan).text
    with pytest.raises(BudgetError, match=rf" {left} is left of {whose}"):
        ada.release([people.age.mean()], Ask.make(epsilon=5))


@pytest.mark.slow
@pytest.mark.parametrize("caps", [CAPS["each"], CAPS["token"], CAPS["own"]], ids=["each", "token", "own"])
def test_what_strangers_spend_changes_nothing_that_is_told_under_a_cap_of_ones_own(
    running, monkeypatch, caps
):
    """Not one byte, while the dataset has more left than the analyst."""
    service, ada, people = opened(running, monkeypatch, caps)
    report = ada.release([people.count()], Ask.make(epsilon="0.1"))

    def told():
        plan = ada.preview([people.age.mean()], Ask.make(epsilon="0.1"))
        again = ada.release([people.count()], Ask.make(epsilon="0.1"))
        cards = [
            plan_card(plan),
            release_card(again),
            budget_card(people.schema, people.budget),
            attach_card(people.schema, people.budget),
        ]
        seen = {name: part for name, part in snapshot(ada).items() if name not in {"seq", "at"}}
        return json.dumps(
            [[one.text for one in cards], [one.json for one in cards], seen, repr(people.budget)]
        )

    before = told()
    bob = service.session(service.token("bob"), monkeypatch)
    theirs = bob.open_served("people")
    bob.release([theirs.age.mean()], Ask.make(epsilon="0.7"))
    assert told() == before
    assert report.left == people.budget.left

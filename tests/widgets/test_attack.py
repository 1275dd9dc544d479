"""The attack bench: its shares are those of the attacks, and it computes only what is asked for."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from dpnb import widgets
from dpnb.audit.attacks.benches import BENCHES, bench
from dpnb.errors import DpnbError, PlanError
from dpnb.notebook.commands import INTERACTION_COMMANDS


def test_the_picture_shows_what_the_attack_found():
    """Shares, errors and baseline are the attack's own, to five decimals."""
    found, drawn = bench("membership"), widgets.attack_bench("membership").facts["run"]["membership"]
    assert drawn["epsilons"] == list(found.epsilons)
    assert drawn["baseline"] == pytest.approx(found.baseline, abs=1e-5)
    for one in drawn["publications"]:
        told = found[one["key"]]
        assert one["recovered"] == pytest.approx([row.recovered for row in told.rows], abs=1e-5)
        assert (one["bound"] is None) == (told.bound is None)
        if told.bound is not None:
            assert one["bound"][0] == pytest.approx(told.bound(found.epsilons[0]), abs=1e-5)
            assert one["bound"][-1] == pytest.approx(told.bound(found.epsilons[-1]), abs=1e-5)


def test_another_attack_is_computed_when_it_is_chosen():
    """The first paint pays for one attack, run once; what was computed stays; what is no attack is refused in the picture."""
    one = widgets.attack_bench("linkage")
    assert set(one.facts["run"]) == {"linkage"}
    one.chosen = {"attack": "floating point", "epsilon": 0.5}
    assert set(one.facts["run"]) == {"linkage", "floating point"}
    assert "ε 0.5" in one.card().text
    one.chosen = {"attack": "hope", "epsilon": "much"}
    assert "No attack is called 'hope'" in one.facts["problem"]
    assert "floating point" in one.card().text


def test_a_page_without_a_kernel_can_hold_every_attack():
    """``run()`` computes them all, to the last repetition."""
    run = widgets.attack_bench(reps=2).run().facts["run"]
    assert {name: one["done"] for name, one in run.items()} == dict.fromkeys(BENCHES, 2)


def test_bench_takes_no_data(data):
    """The first parameter is a name; a dataset, a column, an estimate or an array is refused with the reason."""
    parameters = inspect.signature(widgets.attack_bench).parameters
    assert set(parameters) == {"attack", "epsilon", "rng", "reps", "arrays"}
    for given in (data, data.x, data.x.mean(), np.arange(4), [0, 1]):
        with pytest.raises(PlanError, match="protected handle never gives it out"):
            widgets.attack_bench(given)


def test_the_page_asks_for_one_repetition_at_a_time():
    """Each question brings one, up to the last; another seed starts anew; more repetitions take nothing away."""
    one = widgets.attack_bench("linkage", reps=3)
    for pull, done in ((1, 2), (1, 2), (2, 3), (3, 3)):
        one.chosen = {**one.chosen, "pull": pull}
        assert (one.facts["run"]["linkage"]["done"], one.facts["pulled"]) == (done, pull)
    one.chosen = {**one.chosen, "reps": 5, "pull": 4}
    assert one.facts["run"]["linkage"]["done"] == 4
    one.chosen = {**one.chosen, "rng": 8}
    assert one.facts["run"]["linkage"]["done"] == 1


@pytest.mark.parametrize(
    "nonsense", [{"rng": -1}, {"rng": "x"}, {"rng": 0.5}, {"reps": 0}, {"reps": 10**9}, {"reps": True}]
)
def test_nonsense_from_the_page_is_answered_in_the_picture(nonsense):
    """A sentence says what is taken; what was found stays, and the next question is answered."""
    one = widgets.attack_bench("linkage")
    before = one.facts["run"]
    one.chosen = {**nonsense, "pull": 1}
    assert "is a whole number from" in one.facts["problem"]
    assert (one.facts["run"], one.facts["pulled"]) == (before, 1)
    one.chosen = {"pull": 2}
    assert (one.facts["problem"], one.facts["run"]["linkage"]["done"]) == ("", 2)


@pytest.mark.parametrize("attack", ["linkage", "reconstruction"])
def test_code_reproduces_what_is_shown_to_the_bit(attack):
    """The lines, run by themselves, give the table of the bench, and the page shows these very shares."""
    one = widgets.attack_bench(attack, rng=5, reps=3).run(attack)
    *head, last = one.code().splitlines()
    names: dict[str, object] = {}
    exec("\n".join(head), names)
    again, shown = eval(last, names), one.table()  # noqa: S307 - as above
    assert repr(again.columns) == repr(shown.columns)
    recovered = [share for part in one.facts["run"][attack]["publications"] for share in part["recovered"]]
    assert recovered == [round(share, 5) for share in again["recovered"]]


def test_figure_and_still_form_show_what_is_on_the_screen():
    """At the ε under the hand: the bars of the figure and the numbers of the card are the bench's own."""
    one = widgets.attack_bench("linkage", reps=2).run("linkage")
    one.chosen = {**one.chosen, "epsilon": 3.2, "published": "dp"}
    found, card = one.result, one.card()
    left, right = one.figure().axes
    assert [bar.get_width() for bar in left.patches] == pytest.approx(
        [100 * found.share(part.key, 3.2) for part in found.publications]
    )
    assert right.get_title() == "DP at ε"
    for part in found.publications:
        share, error = found.share(part.key, 3.2), found.error(part.key, 3.2)
        assert f"{100 * share:.1f} % ± {200 * error:.1f}" in card.text
    assert "2 repetitions, seed 0" in card.text
    assert one.code().splitlines()[-1] in card.text
    assert "<svg" in str(card.html)
    one.chosen = {**one.chosen, "published": "hope", "epsilon": float("inf")}
    assert one.figure().axes[1].get_title() == "DP at ε"


def test_command_lays_an_attack_on_the_bench():
    """``%dp attack floating-point`` needs no quotes; what is none is answered with the list."""
    assert INTERACTION_COMMANDS["attack"]({}, "floating-point").facts["attack"] == "floating point"
    with pytest.raises(PlanError, match="linkage"):
        INTERACTION_COMMANDS["attack"]({}, "hope")
    for epsilon in (0, -1, float("nan"), float("inf"), "1", True):
        with pytest.raises(PlanError, match="above 0"):
            widgets.attack_bench(epsilon=epsilon)


RNG = np.random.default_rng(5)
OWN = {
    "reconstruction": {"secret": RNG.integers(0, 2, 40)},
    "linkage": {
        "quasi": [RNG.integers(0, 9, 333), RNG.integers(0, 5, 333)],
        "secret": RNG.integers(0, 3, 333),
    },
    "membership": {
        "members": RNG.integers(0, 2, (40, 300)),
        "outsiders": RNG.integers(0, 2, (200, 300)),
    },
}


@pytest.mark.parametrize("attack", OWN)
def test_a_students_own_arrays_lie_on_the_bench(attack):
    """The shares are those of the attack on these arrays; exact answers give nearly everything away, a small ε nearly nothing."""
    one = widgets.attack_bench(attack, arrays=OWN[attack], rng=2, reps=2)
    found = bench(attack, rng=2, **OWN[attack])
    assert one.result["dp"].rows == found["dp"].rows
    exact, hidden = found["raw"].rows[0].recovered, found["dp"].rows[0].recovered
    assert exact > hidden
    assert hidden < found.baseline + 0.2
    assert f"{next(iter(OWN[attack]))}=" in one.code()
    one.chosen = {**one.chosen, "pull": 1}
    assert one.result.reps == 2
    assert one.result.baseline == pytest.approx(found.baseline)


def test_command_takes_a_students_own_arrays(data):
    """``%dp attack linkage quasi=[region, age], secret=ill`` reads them in the notebook's names; no handle is one."""
    (region, age), ill = OWN["linkage"]["quasi"], OWN["linkage"]["secret"]
    names = {"region": region, "age": age, "ill": ill, "dict": "taken", "protected": data}
    shown = INTERACTION_COMMANDS["attack"](
        names, "linkage quasi=[region, age], secret=ill, rng=2, epsilon=0.5"
    )
    assert shown.result["dp"].rows == bench("linkage", rng=2, **OWN["linkage"])["dp"].rows
    assert shown.facts["epsilon"] == 0.5
    same = INTERACTION_COMMANDS["attack"](names, "reconstruction secret = (ill[:20] == 1) * 1")
    assert "20 people's yes or no" in same.card().text
    for line, words in {
        "averaging secret=ill": "no arrays",
        "linkage secret=ill,": "takes quasi= and secret=",
        "linkage secret=il": "NameError",
        "linkage secret=ill quasi=age": "^secret=ill quasi=age is not a Python expression",
        "reconstruction secret=protected.x": "0 and 1|protected|no data",
        "secret=ill": "No attack is called",
    }.items():
        with pytest.raises(DpnbError, match=words):
            INTERACTION_COMMANDS["attack"](names, line)


def test_own_people_of_known_number_are_in_the_words():
    one = widgets.attack_bench("reconstruction", arrays=OWN["reconstruction"])
    assert "40 people's yes or no" in one.card().text
    assert "333 people" in bench("linkage", **OWN["linkage"]).goal


@pytest.mark.parametrize(
    ("attack", "arrays", "words"),
    [
        ("reconstruction", {"secret": [0, 1, 2] * 9}, "0 and 1"),
        ("reconstruction", {"bits": [0, 1] * 20}, "takes secret="),
        ("averaging", {"secret": [0, 1] * 20}, "no arrays"),
        ("linkage", {"quasi": [np.arange(30)], "secret": np.arange(31)}, "same 20 people"),
        ("membership", {"members": np.zeros((30, 4)), "outsiders": np.zeros((30, 5))}, "same questions"),
    ],
)
def test_arrays_that_do_not_fit_are_refused_with_the_shape(attack, arrays, words):
    with pytest.raises(DpnbError, match=words):
        widgets.attack_bench(attack, arrays=arrays)


def test_a_protected_handle_is_no_array_of_ones_own(data):
    """Datasets, columns and estimates are refused as arrays too."""
    for given in (data, data.x, data.x.mean()):
        with pytest.raises(DpnbError):
            widgets.attack_bench("reconstruction", arrays={"secret": given})
        with pytest.raises(DpnbError):
            widgets.attack_bench("linkage", arrays={"quasi": [given], "secret": given})

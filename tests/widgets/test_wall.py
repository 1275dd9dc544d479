"""The class wall: what lies in a folder is read strictly and counted once, and average, share and price are those of the answers shown."""

from __future__ import annotations

import copy
import itertools
import json
import math
import os
from collections.abc import Sequence

import numpy as np
import pytest

import dpnb
from dpnb import widgets
from dpnb.errors import OptionError, PendingError, PlanError, Unavailable
from dpnb.trusted.privacy.loss import PrivacyLoss, rational
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.releases import Release, ReleasedPart
from dpnb.widgets.wall_answers import LEVEL, Answer, average, paid
from dpnb.widgets.wall_facts import DRAWN, facts_of, wall_of
from tests.teach.conftest import declared, session, toy  # noqa: F401  a fixture

LAPLACE = {"kind": "discrete-laplace", "scale": "10"}
CHOICE = {"mechanism": "quantile-selection", "epsilon": "1/2"}


def answers_of(data, count, epsilon="0.5"):
    """Answers to one question, each with noise of its own."""
    first = dpnb.release({"m": data.x.mean()}, epsilon=epsilon)["m"]
    more = [dpnb.release({"m": data.x.mean()}, epsilon=epsilon, fresh=True)["m"] for _ in range(count - 1)]
    return [first, *more]


IDS = (f"{number:032x}" for number in itertools.count(1))
"""Ids that nobody else has."""


def made(value, half, *, law=LAPLACE, draws: Sequence[str] = (), epsilon="1", measure=Measure.PURE):
    """An answer that was never asked: a number, its interval, its law, and the ids of its draws."""
    ids = tuple(draws) or (next(IDS),)
    parts = tuple(ReleasedPart("sum", law, (1,), one) for one in ids)
    release = Release("".join(ids), "{}", "small", "v", parts, PrivacyLoss(measure, rational(epsilon)))
    return Answer("ada", "x.mean()", ("x.mean()", "{}"), value, value - half, value + half, (release,))


def exported(folder, name, answer):
    """Write an answer as a student would."""
    answer.to_json(folder / f"{name}.json")


def other_noise(record):
    """The export of another student: the same record under ids of its own."""
    changed = copy.deepcopy(record)
    for release in changed["releases"]:
        release["id"] = next(IDS)
        for part in release["parts"]:
            part["draw"] = next(IDS)
    return changed


# ---------------------------------------------------------------- a folder, and what is held


def test_a_folder_shows_what_the_answers_themselves_show(data, tmp_path):
    """Exported as JSON and in an archive, answers stand on the wall as the held ones do: value, ends, price, to the last digit."""
    held = answers_of(data, 3)
    exported(tmp_path, "ada", held[0])
    (tmp_path / "ben.json").write_text(json.dumps({"m": held[1]}, default=dpnb.to_json))
    dpnb.archive(tmp_path / "cleo.zip", {"m": held[2]})
    folder, alive = widgets.wall(tmp_path).facts, widgets.wall(held).facts
    drawn = [
        sorted((row["value"], row["low"], row["high"], row["paid"]) for row in one["answers"])
        for one in (folder, alive)
    ]
    assert drawn[0] == drawn[1]
    assert [row["who"] for row in sorted(folder["answers"], key=lambda row: row["who"])] == [
        "ada",
        "ben",
        "cleo",
    ]
    low, high = held[0].interval(0.95, "privacy")
    assert (alive["answers"][0]["low"], alive["answers"][0]["high"]) == (low, high)
    assert alive["question"] == folder["question"] == "small.x.mean()"
    assert alive["figures"][-1][0] == folder["figures"][-1][0] == "ε 1.5"


def test_a_wall_fills_in_and_reads_each_file_once(data, tmp_path):
    """A look finds what is new, changed or gone, and reads nothing else."""
    first, second, third = answers_of(data, 3)
    wall = widgets.wall(tmp_path)
    assert wall.facts["waiting"] == f"Waiting for answers in {tmp_path}"
    assert wall.facts["answers"] == []
    exported(tmp_path, "ada", first)
    exported(tmp_path, "ben", second)
    wall.chosen = {"look": 1}
    assert len(wall.facts["answers"]) == 2
    assert wall.facts["waiting"] == ""
    reads = wall._folder.reads
    for look in range(2, 6):
        wall.chosen = {"look": look}
    assert wall._folder.reads == reads
    exported(tmp_path, "ben", third)
    os.utime(tmp_path / "ben.json", ns=(0, 0))
    wall.chosen = {"look": 6}
    assert wall._folder.reads == reads + 1
    assert {row["value"] for row in wall.facts["answers"]} == {first.value, third.value}
    (tmp_path / "ada.json").unlink()
    wall.chosen = {"look": 7}
    assert [row["who"] for row in wall.facts["answers"]] == ["ben"]


def test_a_file_that_is_being_copied_is_whole_at_the_next_look(data, tmp_path):
    """Half of a file is left out, by name; the whole of it is drawn."""
    (answer,) = answers_of(data, 1)
    text = answer.to_json()
    (tmp_path / "ada.json").write_text(text[: len(text) // 2])
    wall = widgets.wall(tmp_path)
    assert wall.facts["notes"] == ["ada.json is left out: it is damaged, or not an export of dpnb."]
    (tmp_path / "ada.json").write_text(text)
    wall.refresh()
    assert wall.facts["notes"] == []
    assert len(wall.facts["answers"]) == 1


def test_a_folder_that_is_taken_away_leaves_the_picture(data, tmp_path):
    """What was drawn stays, and what is wrong is said; when the folder is back the wall goes on."""
    place = tmp_path / "answers"
    place.mkdir()
    exported(place, "ada", *answers_of(data, 1))
    wall = widgets.wall(place)
    place.rename(tmp_path / "elsewhere")
    wall.chosen = {"look": 1}
    assert "There is no folder" in wall.facts["problem"]
    assert len(wall.facts["answers"]) == 1
    (tmp_path / "elsewhere").rename(place)
    wall.chosen = {"look": 2}
    assert wall.facts["problem"] == ""


def test_what_is_no_folder_and_no_answer_is_refused(data, tmp_path):
    """A path that is not there, a file, a number, an empty list, a pending answer, a vector, a public one: each says what to do."""
    (tmp_path / "ada.json").write_text("{}")
    for path in (tmp_path / "nowhere", tmp_path / "ada.json"):
        with pytest.raises(OptionError, match="There is no folder"):
            widgets.wall(path)
    for wrong in (3, [], [3], None):
        with pytest.raises(OptionError, match=r'wall\("answers/"\)'):
            widgets.wall(wrong)
    with pytest.raises(PendingError):
        widgets.wall([data.x.mean()])
    with pytest.raises(PlanError, match="several numbers"):
        widgets.wall([dpnb.release({"h": data.g.histogram()}, epsilon=1)["h"]])
    with pytest.raises(PlanError, match="it is public"):
        widgets.wall(dpnb.release({"n": data.count()}, epsilon=1)["n"])


# ---------------------------------------------------------------- bad input


def broken(record):
    """Exports that are none, each by what is wrong with it."""

    def with_(**fields):
        return json.dumps({**record, **fields})

    interval = record["intervals"]["privacy"]
    release = record["releases"][0]
    return {
        "no JSON": "{",
        "empty": "",
        "a number": "3",
        "another program's": '{"secret": "SECRET"}',
        "deep": "[" * 100_000,
        "text for value": with_(value="SECRET"),
        "NaN": with_(value=math.nan),
        "infinite": with_(value=math.inf),
        "a truth value": with_(value=True),
        "huge": '{"question": "q", "value": 1' + "0" * 5000 + ', "intervals": {}, "releases": [1]}',
        "no intervals": with_(intervals=[]),
        "turned": with_(intervals={"privacy": {**interval, "low": 9.0, "high": 1.0}}),
        "a release of another version": with_(releases=[{**release, "SECRET": 1}]),
        "no release": with_(releases="SECRET"),
        "a loss that is none": with_(releases=[{**release, "loss": {**release["loss"], "amount": "SECRET"}}]),
        "no draw": with_(releases=[{**release, "parts": [{"name": "SECRET"}]}]),
        "a question that is none": with_(question={"SECRET": 1}),
        "other level": with_(intervals={"privacy": {**interval, "level": 0.9}}),
        "open": with_(intervals={"privacy": {**interval, "high": None}}),
        "no interval": with_(intervals={"privacy": {"unavailable": "SECRET"}}),
        "a vector": with_(value=[1.0, 2.0]),
        "public": with_(releases=[]),
    }


def test_whatever_lies_in_a_folder_the_rest_is_drawn(data, tmp_path):
    """Damaged and foreign files are named and left out, with a reason that holds nothing of them."""
    (answer,) = answers_of(data, 1)
    exported(tmp_path, "zoe", answer)
    wrong = broken(answer.to_dict())
    for place, text in enumerate(wrong.values()):
        (tmp_path / f"{place:02}.json").write_text(text)
    (tmp_path / "a.zip").write_bytes(b"PK\x03\x04 no archive")
    wall = widgets.wall(tmp_path)
    assert [row["who"] for row in wall.facts["answers"]] == ["zoe"]
    assert len(wall._folder.look()[1]) == len(wrong) + 1
    said = " ".join(wall._folder.look()[1])
    assert "SECRET" not in said
    for reason in ("level=0.95", "several numbers", "it is public", "no privacy interval", "leaves it open"):
        assert reason in said
    assert wall.facts["notes"][-1] == "3 more files are left out."
    assert json.loads(json.dumps(wall.facts, allow_nan=False)) == wall.facts


def test_only_plain_files_are_opened(data, tmp_path):
    """A pipe would hold the kernel for ever, a link leads elsewhere, other names are other people's: none is opened."""
    (answer,) = answers_of(data, 1)
    place = tmp_path / "answers"
    place.mkdir()
    os.mkfifo(place / "pipe.json")
    exported(tmp_path, "outside", answer)
    (place / "link.json").symlink_to(tmp_path / "outside.json")
    (place / "folder.json").mkdir()
    (place / ".hidden.json").write_text("{")
    (place / "notes.txt").write_text("mine")
    wall = widgets.wall(place)
    assert (wall.facts["answers"], wall.facts["notes"], wall._folder.reads) == ([], [], 0)


def test_a_file_that_is_too_large_is_not_read(tmp_path):
    """Its size is looked at first."""
    with (tmp_path / "large.json").open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    assert widgets.wall(tmp_path).facts["notes"] == ["large.json is left out: it is larger than 16 MB."]


def test_names_and_questions_are_text_and_not_markup(data, tmp_path):
    """What a student calls a file or a question is shown as it is written, without marks that turn a line around."""
    record = {**answers_of(data, 1)[0].to_dict(), "question": "<img src=x>\u202ex" + "y" * 9999}
    (tmp_path / "<b>ada.json").write_text(json.dumps(record))
    wall = widgets.wall(tmp_path)
    html = wall.card().bundle()["text/html"]
    assert "<img" not in html
    assert "<b>" not in html
    assert "\u202e" not in json.dumps(wall.facts, ensure_ascii=False)
    assert len(wall.facts["question"]) == 300


# ---------------------------------------------------------------- which answers are shown


def test_the_question_asked_most_is_shown(data, tmp_path):
    """Of several questions the most frequent one is drawn, and how many answers are of others is told."""
    for place, answer in enumerate(answers_of(data, 2)):
        exported(tmp_path, f"m{place}", answer)
    for name, question in (("g", data.g.mean()), ("y", data.y.mean())):
        exported(tmp_path, name, dpnb.release({name: question}, epsilon=1)[name])
    facts = widgets.wall(tmp_path).facts
    assert facts["question"] == "small.x.mean()"
    assert len(facts["answers"]) == 2
    assert facts["notes"] == ["2 answers to 2 other questions are not shown: this is the one asked most."]


def test_the_same_noise_counts_once(data, tmp_path):
    """A copy under another name, an answer in two exports, and an answer beside the same one measured again: one dot each."""
    (first,) = answers_of(data, 1)
    again = first.remeasure(epsilon=0.25)
    second = dpnb.release({"m": data.x.mean()}, epsilon=0.5, fresh=True)["m"]
    for name, answer in (("ada", first), ("ada-copy", first), ("ada-again", again), ("ben", second)):
        exported(tmp_path, name, answer)
    dpnb.archive(tmp_path / "ben.zip", {"m": second})
    facts = widgets.wall(tmp_path).facts
    assert {row["value"] for row in facts["answers"]} == {again.value, second.value}
    assert "3 copies of an answer that is here already: the same noise counts once." in facts["notes"]
    assert facts["figures"][-1][0] == "ε 1.25"


def test_answers_under_other_ids_are_other_noise(data, tmp_path):
    """Students whose ledgers drew for themselves are counted each, also where their numbers happen to be the same."""
    record = answers_of(data, 1)[0].to_dict()
    for place in range(DRAWN + 5):
        (tmp_path / f"{place}.json").write_text(json.dumps(other_noise(record)))
    facts = widgets.wall(tmp_path).facts
    assert facts["figures"][0][0] == "205"
    assert len(facts["answers"]) == DRAWN
    assert "5 more are counted, and not drawn." in facts["notes"]
    assert facts["figures"][-1][0] == "ε 102.5"


# ---------------------------------------------------------------- average and price


def test_held_answers_are_combined_exactly(data):
    """The average of answers to one version of the data is that of ``dpnb.combine``, and so is its interval."""
    held = answers_of(data, 4)
    facts, both = widgets.wall(held).facts["average"], dpnb.combine(*held)
    low, high = both.interval(0.95, "privacy")
    assert (facts["value"], facts["low"], facts["high"]) == (both.value, low, high)


def test_exports_are_averaged_as_the_held_answers_are(data, tmp_path):
    """Without a schema, from values and widths alone: of sums, close to what their laws give."""
    first = dpnb.release({"t": data.x.sum()}, epsilon=1)["t"]
    held = [
        first,
        *(dpnb.release({"t": data.x.sum()}, epsilon=epsilon, fresh=True)["t"] for epsilon in (1, 2, 3)),
    ]
    for place, answer in enumerate(held):
        exported(tmp_path, str(place), answer)
    facts, both = widgets.wall(tmp_path).facts["average"], dpnb.combine(*held)
    half = both.interval(0.95, "privacy").half_width
    assert facts["value"] == pytest.approx(both.value, abs=half / 50)
    assert (facts["high"] - facts["low"]) / 2 == pytest.approx(half, rel=0.15)


def test_the_teacher_s_own_answer_lets_exports_be_averaged_exactly(session, tmp_path):  # noqa: F811
    """As ``dpnb.combine`` does it, though every student's ledger has a version of its own; a forged number is averaged as it stands."""
    del session
    data = dpnb.open(toy(), schema=declared(), quiet=True)
    held = answers_of(data, 5)
    for place, answer in enumerate(held):
        record = answer.to_dict()
        record["releases"][0]["data_version"] = f"{place:016x}"
        (tmp_path / f"{place}.json").write_text(json.dumps(record))
    facts, both = widgets.wall(tmp_path, truth=held[0]).facts, dpnb.combine(*held)
    low, high = both.interval(0.95, "privacy")
    assert [facts["average"][name] for name in ("value", "low", "high")] == [both.value, low, high]
    assert any("several ledgers" in note for note in facts["notes"])
    forged = {**held[0].to_dict(), "value": 41.25}
    (tmp_path / "0.json").write_text(json.dumps(forged))
    weighed = widgets.wall(tmp_path, truth=held[0]).facts["average"]
    assert weighed["value"] == pytest.approx((41.25 + sum(one.value for one in held[1:])) / 5)


def test_weights_are_one_over_the_variance():
    """Half-widths 1 and 2 weigh 4 to 1, and the average has the half-width √(4/5)."""
    other = {**LAPLACE, "scale": "20"}
    both = average([made(0.0, 1.0), made(10.0, 2.0, law=other)])
    assert both.value == pytest.approx(2.0)
    assert both.half == pytest.approx(math.sqrt(4 / 5))


def test_an_interval_that_ends_at_a_bound_weighs_as_its_law_does():
    """Under one law all weigh the same, though an interval was cut short where values end."""
    cut = made(-8.0, 3.0)
    cut = Answer(cut.who, cut.question, cut.asked, -8.0, 0.0, 0.0, cut.releases)
    both = average([made(1.0, 3.0), made(4.0, 3.0), cut])
    assert both.value == pytest.approx(-1.0)
    assert both.half == pytest.approx(math.sqrt(3))


@pytest.mark.parametrize("count", [2, 5, 30])
@pytest.mark.parametrize(
    ("law", "low", "high"), [("normal", 0.945, 0.955), ("laplace", 0.945, 0.975)], ids=["normal", "laplace"]
)
def test_the_average_is_right_as_often_as_it_says(count, law, low, high):
    """Exact for normal noise, a little wide for Laplace noise; an interval a tenth narrower or wider would be noticed for normal noise."""
    rng = np.random.default_rng(count)
    reps = 40_000
    noise = getattr(rng, law)(size=(reps, count))
    one = 1.959964 if law == "normal" else math.log(1 / (1 - LEVEL))
    half = average([made(0.0, one) for _ in range(count)]).half
    off = np.abs(noise.mean(axis=1))
    assert low < np.mean(off <= half) < high
    if law == "normal":
        assert not low < np.mean(off <= 0.9 * half) < high
        assert not low < np.mean(off <= 1.1 * half) < high


def test_choices_are_shown_and_not_averaged():
    """A chosen candidate has an interval and no noise that averages out: there is no average, and it is said."""
    wall = wall_of([made(1.0, 1.0, law=CHOICE), made(2.0, 1.0, law=CHOICE)], None, [])
    facts = facts_of(wall, "")
    assert facts["average"] is None
    assert "cannot be averaged" in facts["notes"][0]
    assert len(facts["answers"]) == 2


def test_answers_that_share_a_draw_are_averaged_once():
    """Of two answers over one draw in common the first is in the average; both are drawn."""
    shared = [made(0.0, 1.0, draws=("a", "b")), made(9.0, 1.0, draws=("b", "c")), made(2.0, 1.0)]
    assert average(shared).value == pytest.approx(1.0)
    assert len(wall_of(shared, None, []).answers) == 3


def test_the_price_is_the_sum_of_distinct_releases_in_each_measure():
    """A release counts once, however many answers rest on it; ε and ρ are never added."""
    one = made(0.0, 1.0, epsilon="1/10")
    losses = paid(
        [one, one, made(0.0, 1.0, epsilon="1/5"), made(0.0, 1.0, epsilon="2", measure=Measure.ZCDP)]
    )
    assert [str(loss) for loss in losses] == ["ε 0.3", "ρ 2"]


# ---------------------------------------------------------------- the truth


def test_the_share_is_counted_where_the_truth_is_known():
    """Ends count as inside; what misses is marked; without a truth nothing is said of it."""
    answers = [made(0.0, 1.0), made(1.0, 1.0), made(3.0, 1.0), made(4.0, 1.0)]
    facts = facts_of(wall_of(answers, 2.0, []), "")
    assert [row["held"] for row in facts["answers"]] == [False, True, True, False]
    assert facts["figures"][1][0] == "2 of 4"
    assert "50 %" in facts["figures"][1][1]
    assert facts["average"]["held"] is True
    unknown = facts_of(wall_of(answers, None, []), "")
    assert [row["held"] for row in unknown["answers"]] == [None] * 4
    assert unknown["truth"] is None
    assert "truth" not in json.dumps(unknown["sentence"])


def test_teaching_answers_bring_their_truth(session, tmp_path):  # noqa: F811
    """Held ones by themselves; exports by the teacher's own answer, or by a number."""
    del session
    data = dpnb.open(toy(), schema=declared(), quiet=True)
    held = answers_of(data, 3)
    assert widgets.wall(held).facts["truth"]["value"] == held[0].truth
    for place, answer in enumerate(held):
        exported(tmp_path, str(place), answer)
    dpnb.archive(tmp_path / "all.zip", {"m": held[0]})
    assert widgets.wall(tmp_path).facts["truth"] is None
    assert widgets.wall(tmp_path, truth=held[0]).facts["truth"]["value"] == held[0].truth
    assert widgets.wall(tmp_path, truth=40).facts["truth"]["value"] == 40.0


def test_protected_data_have_no_truth_on_a_wall(data, tmp_path):
    """None by itself; one that is given is not drawn where the answers are known to be of protected data."""
    held = answers_of(data, 2)
    assert widgets.wall(held).facts["truth"] is None
    with pytest.raises(Unavailable, match="TEACHING"):
        widgets.wall(held, truth=held[0])
    facts = widgets.wall(held, truth=5).facts
    assert facts["truth"] is None
    assert "These are not TEACHING data: the truth is not drawn." in facts["notes"]
    dpnb.archive(tmp_path / "ada.zip", {"m": held[0]})
    assert widgets.wall(tmp_path, truth=5).facts["truth"] is None


@pytest.mark.parametrize("wrong", ["5", True, math.nan, math.inf, [1, 2], 10**400])
def test_a_truth_is_a_number(tmp_path, wrong):
    """What is none is refused with what one is."""
    with pytest.raises(OptionError, match="truth= is a number"):
        widgets.wall(tmp_path, truth=wrong)


# ---------------------------------------------------------------- what is read without a browser


def test_the_still_wall_says_what_the_living_one_shows(data):
    """Title, each answer with its ends, the average with what all of them cost, a picture with the same words."""
    held = answers_of(data, 3)
    wall = widgets.wall({"ada": held[0], "ben": held[1], "cleo": held[2]})
    text = wall.card().text
    for row in wall.facts["answers"]:
        assert f"{row['who']}" in text
        assert row["span"] in text
    assert wall.facts["sentence"] in text
    assert "ε 1.5" in text
    assert wall.facts["sentence"] in wall.card().html
    assert wall.card().html.count("<circle") == 4


def test_an_axis_is_not_stretched_by_one_wild_answer():
    """One interval a thousand times as wide is cut at the ends; the others keep their room."""
    usual = [made(float(place), 3.0) for place in range(9)]
    low, high = facts_of(wall_of([*usual, made(0.0, 3000.0)], None, []), "")["reach"]
    assert low <= -3
    assert high >= 11
    assert high - low < 100


def test_a_line_shows_a_folder(data, tmp_path, monkeypatch):
    """``%dp wall "answers/"``, and ``%dp wall`` for the folder of that name."""
    place = tmp_path / "answers"
    place.mkdir()
    exported(place, "ada", *answers_of(data, 1))
    monkeypatch.chdir(tmp_path)
    for text in ('"answers/"', "", "folder"):
        assert len(widgets.wall.of_line({"folder": place}, text).facts["answers"]) == 1


def test_a_class_is_read_at_once_and_looked_at_for_nearly_nothing(data, tmp_path):
    """A look at thirty answers that are known opens no file, and sends nothing to the browser."""
    record = answers_of(data, 1)[0].to_dict()
    for place in range(30):
        (tmp_path / f"{place}.json").write_text(json.dumps(other_noise(record)))
    wall = widgets.wall(tmp_path)
    sent = []
    wall.observe(sent.append, "facts")
    opened = wall._folder.reads
    for look in range(10):
        wall.chosen = {"look": look}
    assert (opened, wall._folder.reads, sent) == (30, 30, [])

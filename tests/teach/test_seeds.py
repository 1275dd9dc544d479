"""A seed decides the noise of TEACHING data, question by question; no curator of protected data knows of one."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import dpnb
from dpnb.client import api, sessions
from dpnb.client.session import Session
from dpnb.client.transport import InMemory
from dpnb.errors import OptionError, OwnerError
from dpnb.inference.law import law_of
from dpnb.teach.curator import SeededRandomness, TeachingCurator, opening
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.trusted.wire import messages
from dpnb.trusted.wire.filelock import FileLock
from dpnb.trusted.wire.places import Home
from tests.teach.conftest import declared, toy

QUESTION = {"measured": "m", "events": [{"kind": "pure", "amount": "1"}], "share": {"kind": "epsilon"}}


@pytest.fixture
def seeded(tmp_path):
    """Make a session whose curator has a seed, in a home of its own and in this process."""
    made = []

    def make(seed, folder):
        service = opening(seed)(Config(Home(tmp_path / folder), studies="dpnb.datasets"))
        made.append(service)
        return Session(lambda: InMemory(lambda body: service.answer(body, "ann")), seed=seed)

    yield make
    for service in made:
        service.close()


def values(session, questions, epsilon=1):
    """What some questions, asked one after the other, are answered."""
    data = session.attach(messages.StudySource(name="incentive33"))
    found = []
    for ask in questions:
        estimate = ask(data)
        dpnb.release([estimate], epsilon=epsilon, fresh=True)
        found.append(np.ravel(estimate.value).tolist())
    return found


ASKED = [
    lambda d: d[d.schema.names[0]].value_counts(),
    lambda d: d.count(),
    lambda d: d[d.schema.names[1]].value_counts(),
]


def test_the_same_seed_gives_the_same_numbers_in_any_order(seeded):
    """Whichever cells ran before, on whichever machine; another seed, another loss or another draw gives other noise."""
    first = values(seeded("7", "a"), ASKED)
    turned = values(seeded("7", "b"), ASKED[::-1])
    assert turned == first[::-1]
    assert values(seeded("8", "c"), ASKED)[0] != first[0]
    twice = values(seeded("7", "d"), [ASKED[0], ASKED[0]])
    assert twice[0] == first[0] != twice[1]


def test_seeded_noise_has_the_law_of_the_noise():
    """Over questions and over draws of one question; noise 10 % wider is told apart."""
    law = DiscreteLaplace(3)
    for keys in (["one"] * 12_000, [str(place) for place in range(12_000)]):
        chance = SeededRandomness(seed="class of 2026")
        drawn = [law.release([0], chance.of("d", {**QUESTION, "measured": key}).bits)[0] for key in keys]
        edges = np.arange(-8, 9)
        seen = np.histogram(drawn, [-np.inf, *(edges + 0.5), np.inf])[0]

        def p_value(of, seen=seen, edges=edges):
            return stats.chisquare(seen, np.diff([0, *law_of(of).cdf(edges), 1]) * seen.sum()).pvalue

        assert p_value(law) > 1e-4
        assert p_value(DiscreteLaplace(law.scale * 11 / 10)) < 1e-4


def test_draw_ids_are_those_of_the_seed_and_never_repeat():
    """Intervals are drawn by these ids, so they are the same on every machine too."""
    one, two = SeededRandomness(seed="7"), SeededRandomness(seed="7")
    ids = [chance.of("d", QUESTION).new_id() for chance in (one, two, one)]
    assert ids[0] == ids[1] != ids[2]
    made = one.of("e", QUESTION)
    assert len({made.new_id() for _ in range(100)}) == 100


def test_only_the_teaching_curator_knows_a_seed_and_it_opens_no_protected_data(seeded, tmp_path, dpnb_home):
    """No message and no setting of the trusted curator holds a seed or asks an exact answer; the other refuses what is protected."""
    words = json.dumps(
        messages.__dict__, default=lambda found: getattr(found, "__struct_fields__", "")
    ).lower()
    assert "submit" in words or "handle" in words
    for word in ("seed", "truth", "exact"):
        assert f'"{word}' not in words
    assert not {"seed", "bits", "chance"} & set(Config.__dataclass_fields__)
    with pytest.raises(OwnerError, match="anybody could remove the noise"):
        seeded("7", "e").attach(messages.StudySource(name="incentive33"), "guard-rail")
    assert list((tmp_path / "e" / "prepared").iterdir()) == []
    assert issubclass(TeachingCurator, Curator)


def test_the_handle_of_protected_data_is_refused_in_a_home_that_becomes_seeded(tmp_path, dpnb_home):
    """Who starts the teaching curator on a home of protected data opens nothing there again."""
    service = Curator.opened(Config(Home(dpnb_home), studies="dpnb.datasets"))
    here = Session(lambda: InMemory(lambda body: service.answer(body, "ann")))
    data = here.attach(messages.StudySource(name="incentive33"), "guard-rail")
    service.close()
    seeded = opening("7")(Config(Home(dpnb_home), studies="dpnb.datasets"))
    there = Session(lambda: InMemory(lambda body: seeded.answer(body, "ann")), seed="7")
    with pytest.raises(OwnerError, match="anybody could remove the noise"):
        there.attach(messages.Again(handle=data.handle))
    seeded.close()


def test_a_seed_is_a_number_a_name_or_the_student(monkeypatch):
    """Anything else is refused in one sentence."""
    assert [sessions.seed_of(seed) for seed in (7, 0, "ada")] == ["7", "0", "ada"]
    monkeypatch.setenv("JUPYTERHUB_USER", "grace")
    assert sessions.seed_of("per-student") == "grace"
    monkeypatch.delenv("JUPYTERHUB_USER")
    monkeypatch.setenv("NB_USER", "lin")
    assert sessions.seed_of("per-student") == "lin"
    for bad in (-1, 2.5, True, "", "a\nb", "a" * 101, [7]):
        with pytest.raises(OptionError, match="seed= is a whole number, a name"):
            sessions.seed_of(bad)


def test_seeds_from_the_line_that_a_person_types(dpnb_home):
    """A process of its own; its card says what a seed means; what names no dataset is about it; its home is swept later."""
    data = dpnb.open("incentive33", seed=7, quiet=True)
    assert data.notes[-1].startswith("Seed 7: whoever knows it")
    assert data.session.opening(data) == 'dpnb.open("incentive33", seed=7)'
    assert dpnb.session() is data.session
    assert dpnb.open("incentive33", seed=7, quiet=True) is data
    count = data[data.schema.names[0]].value_counts()
    dpnb.release([count], epsilon=1)
    (home,) = (Path(dpnb_home) / "seeded").iterdir()
    assert (home / "ledger.sqlite3").exists()
    assert not (Path(dpnb_home) / "ledger.sqlite3").exists()
    with pytest.raises(OwnerError, match="protected"):
        dpnb.open("incentive33", mode="guard-rail", seed=7, quiet=True)
    plain = dpnb.open("incentive33", quiet=True)
    assert plain.session is not data.session
    assert dpnb.session() is plain.session
    api.close()


def test_rows_known_as_protected_open_with_no_seed(dpnb_home):
    """The ledger of this home is asked first: what was attached as protected stays so."""
    facts = declared(name="people", mode="guard-rail", public=False)
    dpnb.open(toy(), schema=facts, quiet=True)
    with pytest.raises(OwnerError, match="attached before as protected"):
        dpnb.open(toy(), schema=declared(name="taught"), seed=7, quiet=True)
    api.close()


def test_which_rows_of_a_person_count_is_the_seeds_choice(seeded, tmp_path):
    """The key of a seeded home is a function of the seed: the same rows are kept on every machine."""
    for folder in ("x", "y"):
        seeded("7", folder)
    keys = {(tmp_path / folder / "key").read_bytes() for folder in ("x", "y")}
    assert keys == {hashlib.sha256(b"key\n7").digest()}


def test_homes_of_ended_kernels_are_swept_and_new_ones_are_not(dpnb_home):
    """One that was made a moment ago may be about to get its curator; one with a living curator is left, however old."""
    folder = Path(dpnb_home) / "seeded"
    for name in ("old", "new", "living"):
        (folder / name).mkdir(parents=True)
        for part in (folder, folder / name):
            part.chmod(0o700)
    lock = FileLock(Home(folder / "living").lock)
    assert lock.acquire()
    for name in ("old", "living"):
        os.utime(folder / name, (0, 0))
    sessions._new_home()
    lock.free()
    assert {path.name for path in folder.iterdir()} == {"new", "living"}

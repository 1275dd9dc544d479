"""One suite for every way to a curator: in this process, over a Unix socket to a process of its own, over TLS to a service.

What a notebook sees is the same; exact integers, laws, losses and refusals are compared between the ways.
"""

from __future__ import annotations

import ssl
from fractions import Fraction

import numpy as np
import pytest

from dpnb.client.session import Session
from dpnb.client.transport import InMemory, ServiceTransport, UnixTransport
from dpnb.errors import BudgetError, RequestReused
from dpnb.planner.request import Ask
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.wire.messages import Cap, Detach, FileSource, Hello, Welcome
from dpnb.trusted.wire.places import Home
from tests.serving.conftest import write_people

SURE = 100_000
"""At this ε the noise is 0 in all but one of e^1000 draws: what is released is the exact integer."""
BUDGET = 1_000_000


def people_in(folder):
    """The owner's file in a folder, with a budget for exact answers."""
    write_people(folder)
    schema = folder / "people.dpnb.toml"
    schema.write_text(schema.read_text().replace("epsilon = 3", f"epsilon = {BUDGET}"))
    return FileSource(path=str(folder / "people.csv"))


def over_memory(tmp_path, running, monkeypatch):
    """A curator in this process."""
    curator = Curator.opened(Config(Home(tmp_path / "home"), linger=0.2))
    session = Session(lambda: InMemory(lambda body: curator.answer(body, "ada")))
    return session, session.attach(people_in(tmp_path)), curator.close


def over_a_socket(tmp_path, running, monkeypatch):
    """A curator of one's own, in another process."""
    session = Session()
    return session, session.attach(people_in(tmp_path)), session.close


def over_tls(tmp_path, running, monkeypatch):
    """A service."""
    service = running(each="", begin=False)
    people_in(service.folder)
    service.start()
    session = service.session(service.token("ada"), monkeypatch)
    return session, session.open_served("people"), lambda: None


WAYS = {"memory": over_memory, "socket": over_a_socket, "tls": over_tls}


@pytest.fixture(params=WAYS)
def way(request, tmp_path, running, monkeypatch):
    """A session over one way, and its people."""
    session, people, close = WAYS[request.param](tmp_path, running, monkeypatch)
    yield request.param, session, people
    close()


@pytest.mark.slow
def test_each_way_is_the_one_that_it_is_called(way):
    """Fails where one of them is replaced by another."""
    name, session, _ = way
    session.line.ask(Hello(), Welcome)
    transport = session.line.transport
    assert type(transport) is {"memory": InMemory, "socket": UnixTransport, "tls": ServiceTransport}[name]
    if name == "tls":
        assert isinstance(transport._connection.sock, ssl.SSLSocket)


def exact(folder):
    """What numpy says of the owner's file: how many, the sum of ages, of each group."""
    rows = [line.split(",") for line in (folder / "people.csv").read_text().split("\n")[1:]]
    ages, groups = np.array([int(age) for age, _ in rows]), [group for _, group in rows]
    return [len(rows), int(ages.sum()), groups.count("a"), groups.count("b")]


def test_exact_integers_laws_and_losses_are_the_same_by_every_way(tmp_path, running, monkeypatch):
    """With noise too small to be seen the answers are numpy's; the laws that are told are the same to the last digit, and so is the loss."""
    told = []
    for name, begin in WAYS.items():
        (tmp_path / name).mkdir()
        session, people, close = begin(tmp_path / name, running, monkeypatch)
        asked = people.count(), people.age.sum(), people.g.value_counts()
        report = session.release(list(asked), Ask.make(epsilon=SURE))
        numbers = [*map(float, asked[:2]), *asked[2].value]
        told.append((numbers, report.charged, [part.law for one in asked for part in one.releases[0].parts]))
        close()
    write_people(tmp_path)
    assert told[0][:2] == (exact(tmp_path), PrivacyLoss.pure(SURE))
    assert told[0] == told[1] == told[2]


@pytest.mark.slow
def test_asked_again_it_is_free_and_the_same_by_every_way(way):
    """The stored draw, to the last digit."""
    _, session, people = way
    first, second = people.age.mean(), people.age.mean()
    session.release([first], Ask.make(epsilon=1))
    report = session.release([second], Ask.make(epsilon=1))
    assert (report.charged.amount, float(second)) == (0, float(first))
    assert session.budget_state(people.handle).spent.amount == 1


@pytest.mark.slow
def test_a_refusal_costs_nothing_by_every_way(way, monkeypatch):
    """More than there is, and a request id that was used for something else."""
    _, session, people = way
    with pytest.raises(BudgetError, match="left"):
        session.release([people.count()], Ask.make(epsilon=BUDGET + 1))
    monkeypatch.setattr("dpnb.client.session.secrets.token_hex", lambda length: "ab" * length)
    session.release([people.age.mean()], Ask.make(epsilon=1))
    with pytest.raises(RequestReused):
        session.release([people.count()], Ask.make(epsilon=2))
    assert session.budget_state(people.handle).spent.amount == 1


@pytest.mark.slow
def test_caps_ledger_and_detach_are_the_same_by_every_way(way):
    """A cap of one's own, one's entries, and a handle that was let go of is opened again by itself."""
    _, session, people = way
    session.line.ask(Cap(handle=people.handle, epsilon="2"), None)
    session.release([people.count()], Ask.make(epsilon="1.5"))
    with pytest.raises(BudgetError):
        session.release([people.age.sum()], Ask.make(epsilon=1))
    charges = [row for row in session.ledger(people) if row["kind"] == "charge"]
    assert [Fraction(row["loss"]["amount"]) for row in charges] == [Fraction(3, 2)]
    session.line.ask(Detach(handle=people.handle, remove=False), None)
    session.release([people.age.sum()], Ask.make(epsilon="0.5"))
    assert session.budget_state(people.handle).spent.amount == 2

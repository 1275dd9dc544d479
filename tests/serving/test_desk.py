"""What the desk hands on, asked in this process: a frozen ledger, the owner's own name, a ledger without a dataset."""

from __future__ import annotations

import json

import pytest

from dpnb.errors import FrozenError, OwnerError
from dpnb.trusted.serving.served_curator import OWNER, Desk, ServedCurator
from dpnb.trusted.serving.settings import read_settings
from dpnb.trusted.serving.tokens import Token, Tokens
from dpnb.trusted.wire.codec import encode
from dpnb.trusted.wire.messages import Cancel, Describe, Open, Peek, Statement, Submit
from tests.serving.conftest import CONFIG, write_people

ADA = Token("1", "ada", ("release",), (), 0, 2**40, "")
EVE = Token("2", "eve", ("audit",), (), 0, 2**40, "")
NONE = "0" * 32


@pytest.fixture
def settings(tmp_path):
    write_people(tmp_path)
    (tmp_path / "curator.toml").write_text(CONFIG.format(port=8443, each="each = { epsilon = 1 }", more=""))
    return read_settings(tmp_path / "curator.toml")


@pytest.fixture
def desk(settings):
    made = Desk(ServedCurator.of(settings))
    yield made
    made.close()


def told(desk, message, token=ADA):
    """A reply, read."""
    return json.loads(desk.carry_out(desk.read(encode(message)), token))


def test_of_a_frozen_ledger_nobody_is_told_anything(desk, monkeypatch):
    """No budget, no entry, no price, whoever asks."""
    handle = told(desk, Open(name="people"))["handle"]
    told(desk, Open(name="people"), EVE)
    monkeypatch.setattr(ServedCurator, "frozen", "entry 3 was edited")
    asked = [
        Open(name="people"),
        Describe(handle=handle),
        Statement(handle=handle),
        Peek(handle=handle, plan=b"{}"),
        Submit(handle=handle, request=NONE, digest=NONE, plan=b"{}"),
        Cancel(request=NONE),
    ]
    for token in (ADA, EVE):
        replies = [told(desk, message, token) for message in asked]
        assert {reply["code"] for reply in replies} == {"frozen"}
        assert "entry 3" not in json.dumps(replies)


def test_a_service_does_not_start_on_a_frozen_ledger(desk, settings, monkeypatch):
    """Its owner hears the whole of it."""
    desk.close()
    monkeypatch.setattr(ServedCurator, "frozen", "entry 3 was edited")
    with pytest.raises(FrozenError, match="entry 3"):
        ServedCurator.of(settings)


def test_nobody_is_called_as_the_owner_is(tmp_path):
    """Whose handles are open from the start."""
    with pytest.raises(OwnerError, match="letters, digits"):
        Tokens(tmp_path / "t").issue(OWNER, ("release",), 1)


def test_a_statement_names_its_dataset(desk):
    """So that a token for one dataset reads no other."""
    assert told(desk, Statement())["code"] == "plan"


def test_an_owners_fault_keeps_its_reason(desk, monkeypatch):
    """A full disk with a path in its text: one sentence for the analyst, the rest in the log."""
    handle = told(desk, Open(name="people"))["handle"]

    def full(*_):
        raise OwnerError("/srv/secret/ledger.sqlite3 cannot be written: no space left")

    monkeypatch.setattr(desk.curator, "reply", full)
    reply = told(desk, Describe(handle=handle))
    assert (reply["code"], "secret" in json.dumps(reply)) == ("owner", False)
    assert "/srv/secret" in (desk.curator.settings.home.log).read_text()


def test_two_names_of_one_dataset_are_refused_at_the_start(desk, settings, tmp_path):
    """They would be one budget under two caps."""
    desk.close()
    text = (tmp_path / "curator.toml").read_text()
    (tmp_path / "curator.toml").write_text(text + '\n[datasets.again]\nschema = "people.dpnb.toml"\n')
    with pytest.raises(OwnerError, match="are one in the ledger"):
        ServedCurator.of(read_settings(tmp_path / "curator.toml"))


def test_a_share_of_another_measure_than_the_budget_is_refused_at_the_start(desk, tmp_path):
    """Before anybody asks."""
    desk.close()
    text = (tmp_path / "curator.toml").read_text()
    (tmp_path / "curator.toml").write_text(text.replace("{ epsilon = 1 }", "{ rho = 1 }"))
    with pytest.raises(OwnerError, match="kept as the budget is, in ε"):
        ServedCurator.of(read_settings(tmp_path / "curator.toml"))

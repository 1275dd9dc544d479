"""The owner's side of a service: its answers are released, closed and published by who holds its files, and by no token."""

from __future__ import annotations

import json

import pytest

import dpnb
from dpnb.__main__ import main
from dpnb.client import api
from dpnb.errors import DpnbError, OwnerError, PlanError
from dpnb.owner.admin import _ACTS
from dpnb.trusted.curator.examination import examined
from dpnb.trusted.serving.settings import read_settings
from dpnb.trusted.wire.codec import decode_service_request, encode
from dpnb.trusted.wire.messages import Open

WHY = ("--reason", "the study ended")
STATISTICS = '[statistics]\nmean_age = "people.age.mean()"\ngroups = "people.g.value_counts()"\n'


@pytest.fixture
def service(running, monkeypatch, dpnb_home):
    """A service, a file of picked statistics, and an owner who asks it with a token of their own."""
    found = running()
    (found.folder / "picked.toml").write_text(STATISTICS)
    monkeypatch.setenv("DPNB_CA", str(found.folder / "ca.pem"))
    monkeypatch.setenv("DPNB_TOKEN", found.token("owner"))
    yield found
    api.close()


def words(service):
    """The statistics, and what the service holds, by its address."""
    return (f"{service.url}people", "--statistics", str(service.folder / "picked.toml"), "--epsilon", "0.5")


def test_a_service_is_released_closed_and_published_by_its_owner(service, monkeypatch, capsys):
    """Answers of a running service under its own key: verified with the key alone, free for everybody, and nothing new after."""
    config = ("--config", str(service.folder / "curator.toml"))
    out = service.folder / "out"
    assert main(["admin", "publish", *words(service), "--to", str(out), *WHY]) == 2
    assert "add --config curator.toml" in capsys.readouterr().err
    assert main(["admin", "release", *words(service), "--yes"]) == 0
    assert main(["admin", "close", "people", *WHY, "--yes", *config]) == 0
    assert main(["admin", "publish", *words(service), "--to", str(out), *WHY, *config]) == 0
    assert main(["verify", str(out / "people.releases.json"), "--key", str(out / "people.pub")]) == 0
    assert "every number is what was signed" in capsys.readouterr().out
    published = dpnb.open(out / "people.releases.json").published
    assert 0 < published["mean_age"].value < 100
    assert json.loads((out / "people.releases.json").read_text())["state"] == "closed"
    monkeypatch.setenv("DPNB_TOKEN", service.token("ada"))
    people = dpnb.open(f"{service.url}people", quiet=True)
    with pytest.raises(OwnerError, match="closed"):
        dpnb.release([people.age.mean()], epsilon=0.1)


def test_what_somebody_else_released_is_not_published_as_ones_own(service, monkeypatch, capsys):
    """An owner who asks as another principal would pay anew, and is told before."""
    assert main(["admin", "release", *words(service), "--yes"]) == 0
    monkeypatch.setenv("DPNB_TOKEN", service.token("somebody"))
    config = ("--config", str(service.folder / "curator.toml"))
    assert (
        main(["admin", "publish", *words(service), "--to", str(service.folder / "out"), *WHY, *config]) == 2
    )
    assert "were not all released with this loss" in capsys.readouterr().err
    assert not (service.folder / "out").exists()


def test_no_token_acts_as_an_owner(service):
    """Whatever its scope: an act is no word of the wire, in any spelling of its name, and the ledger stays as it was."""
    acts = {add.__name__.removeprefix("add_") for add in _ACTS}
    assert {"freeze", "close", "grant", "restore", "token", "deposit"} <= acts
    known = encode(Open(name="people"))
    ((field, kind),) = [one for one in json.loads(known).items() if one[1] != "people"]
    for act in acts:
        for spelt in (act, act.capitalize(), f"admin {act}"):
            message = json.dumps({**json.loads(known), field: spelt}).encode()
            assert message != known
            with pytest.raises(PlanError, match="vocabulary"):
                decode_service_request(message)
    assert kind.lower() not in acts
    home = read_settings(service.folder / "curator.toml").home
    before = examined(home.ledger)[0]
    wish = json.dumps({field: "close", "name": "people"}).encode()
    for scope in ("release", "audit", "metrics"):
        with pytest.MonkeyPatch.context() as patch, pytest.raises(DpnbError):
            service.session(service.token("x", scope), patch).line.once(wish, None)
    assert examined(home.ledger)[0] == before

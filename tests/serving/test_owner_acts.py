"""The owner's side of a service: its answers are released, closed and published by who holds its files, and by no token."""

from __future__ import annotations

import json
import signal

import pytest

import dpnb
from dpnb.__main__ import main
from dpnb.client import api
from dpnb.errors import AccessError, DpnbError, OwnerError, PlanError
from dpnb.owner.admin import _ACTS
from dpnb.owner.signed_records import examined
from dpnb.trusted.curator.ledger import Ledger
from dpnb.trusted.serving.settings import read_settings
from dpnb.trusted.wire.codec import decode_service_request, encode
from dpnb.trusted.wire.messages import Open

WHY = ("--reason", "the study ended")
YES = "--yes"
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


@pytest.mark.slow
def test_a_service_is_released_closed_and_published_by_its_owner(service, monkeypatch, capsys):
    """Answers of a running service under its own key: verified with the key alone, free for everybody, and nothing new after."""
    config = ("--config", str(service.folder / "curator.toml"))
    out = service.folder / "out"
    assert main(["admin", "publish", *words(service), "--to", str(out), *WHY, YES]) == 2
    assert "add --config curator.toml" in capsys.readouterr().err
    assert main(["admin", "release", *words(service), "--yes"]) == 0
    assert main(["admin", "close", "people", *WHY, "--yes", *config]) == 0
    assert main(["admin", "publish", *words(service), "--to", str(out), *WHY, YES, *config]) == 0
    assert main(["verify", str(out / "people.releases.json"), "--key", str(out / "people.pub")]) == 0
    assert "every number is what was signed" in capsys.readouterr().out
    published = dpnb.open(out / "people.releases.json").published
    assert 0 < published["mean_age"].value < 100
    assert json.loads((out / "people.releases.json").read_text())["state"] == "closed"
    monkeypatch.setenv("DPNB_TOKEN", service.token("ada"))
    people = dpnb.open(f"{service.url}people", quiet=True)
    with pytest.raises(OwnerError, match="closed"):
        dpnb.release([people.age.quantile(0.5)], epsilon=0.1)


@pytest.mark.slow
def test_everybody_gets_what_was_published_of_a_closed_dataset(service, monkeypatch, capsys):
    """Another principal: identical integers, free, for whatever loss is asked; the rest is refused with what there is."""
    (service.folder / "picked.toml").write_text(
        STATISTICS + "moments = \"people.moments('age', people.g == 'a')\"\n"
    )
    config = ("--config", str(service.folder / "curator.toml"))
    out = service.folder / "out"
    assert main(["admin", "release", *words(service), "--yes"]) == 0
    assert main(["admin", "close", "people", *WHY, "--yes", *config]) == 0
    monkeypatch.setenv("DPNB_TOKEN", service.token("ada"))
    people = dpnb.open(f"{service.url}people", quiet=True)
    with pytest.raises(OwnerError, match="Nothing of it was published yet"):
        dpnb.release([people.age.mean()], epsilon=0.1)
    monkeypatch.setenv("DPNB_TOKEN", service.token("owner"))
    api.close()
    assert main(["admin", "publish", *words(service), "--to", str(out), *WHY, YES, *config]) == 0
    published = dpnb.open(out / "people.releases.json").published
    api.close()
    monkeypatch.setenv("DPNB_TOKEN", service.token("ada"))
    people = dpnb.open(f"{service.url}people", quiet=True)
    for epsilon in (0.01, 1):  # less than was paid, and more
        asked = people.age.mean(), people.g.value_counts(), people.moments("age", people.g == "a")
        report = dpnb.release(asked, epsilon=epsilon, fresh=False)
        assert not report.charged
        for mine, theirs in zip(asked, published.values(), strict=True):
            assert [part.values for one in mine.releases for part in one.parts] == [
                part.values for one in theirs.releases for part in one.parts
            ]
    mine, theirs = (one.correlation().value for one in (asked[2], published["moments"]))
    assert (mine == theirs).all()  # a reading: computed here, of what was published
    assert float(asked[0] - 1) == float(published["mean_age"] - 1)
    with pytest.raises(
        OwnerError, match=r"Published were: people\.age\.mean\(\), people\.g\.value_counts\(\), "
    ):
        dpnb.release([people.age.sum()], epsilon=0.1)
    with pytest.raises(OwnerError, match="Published were"):
        dpnb.release([people.age.mean()], epsilon=0.1, fresh=True)
    home = read_settings(service.folder / "curator.toml").home
    assert examined(home.ledger)[0].intact


@pytest.mark.slow
@pytest.mark.parametrize("closed", [True, False])
def test_each_published_answer_is_free_alone_too(service, monkeypatch, closed):
    """Whatever it was released beside, of an open dataset too; there, what is asked at a higher price is charged."""
    lines = (
        *(
            "people.age.mean()",
            "people.count()",
            "people.groupby('g').count().weight(2)",
            "people.age.tree()",
        ),
        *("people.age.quantile([0.25, 0.5, 0.75])", "people[people.g == 'a'].age.mean()", "people.age.sum()"),
        *("people.groupby('g').age.mean()", "people.age.histogram(10)", "(people.age > 50).mean()"),
    )
    picked = "\n".join(f'q{place} = "{line}"' for place, line in enumerate(lines))
    (service.folder / "picked.toml").write_text(f"[statistics]\n{picked}\n")
    config = ("--config", str(service.folder / "curator.toml"))
    assert main(["admin", "release", *words(service), "--yes"]) == 0
    if closed:
        assert main(["admin", "close", "people", *WHY, "--yes", *config]) == 0
    out = service.folder / "out"
    assert main(["admin", "publish", *words(service), "--to", str(out), *WHY, YES, *config]) == 0
    published = dpnb.open(out / "people.releases.json").published
    api.close()
    monkeypatch.setenv("DPNB_TOKEN", service.token("ada"))
    people = dpnb.open(f"{service.url}people", quiet=True)
    for line, theirs in zip(lines, published.values(), strict=True):
        mine = eval(line)  # noqa: S307 - the lines above
        assert not dpnb.release([mine], epsilon=0.01).charged, line
        assert mine.table().to_json() == theirs.table().to_json(), line
    if not closed:
        assert dpnb.release([people.age.sum()], epsilon=0.7).charged


@pytest.mark.slow
def test_what_somebody_else_released_is_not_published_as_ones_own(service, monkeypatch, capsys):
    """An owner who asks as another principal would pay anew, and is told before."""
    assert main(["admin", "release", *words(service), "--yes"]) == 0
    monkeypatch.setenv("DPNB_TOKEN", service.token("somebody"))
    config = ("--config", str(service.folder / "curator.toml"))
    assert (
        main(["admin", "publish", *words(service), "--to", str(service.folder / "out"), *WHY, YES, *config])
        == 2
    )
    assert "were not all released with this loss" in capsys.readouterr().err
    assert not (service.folder / "out").exists()


@pytest.mark.slow
def test_a_services_home_is_backed_up_verified_and_restored(service, monkeypatch, capsys):
    """Copied while it runs; put back when it has stopped: what was spent since stays spent, what was closed closed, who was revoked out."""
    config = ("--config", str(service.folder / "curator.toml"))
    ada, bob = service.token("ada"), service.token("bob")

    def asked(token, epsilon, question="count"):
        monkeypatch.setenv("DPNB_TOKEN", token)
        people = dpnb.open(f"{service.url}people", quiet=True)
        answer = people.count() if question == "count" else people.age.mean()
        try:
            return dpnb.release([answer], epsilon=epsilon), answer
        finally:
            api.close()

    before = asked(ada, "0.3")[1]
    assert main(["admin", "backup", str(service.folder / "copy"), *config]) == 0
    assert not (service.folder / "copy" / "tokens.json").exists()
    assert main(["admin", "restore", *WHY, YES, *config]) == 2  # it runs
    assert "A curator runs" in capsys.readouterr().err
    asked(ada, "0.2", "mean")
    service.tokens.revoke("bob")
    service.kill(signal.SIGTERM)
    assert main(["admin", "restore", "--from", str(service.folder / "copy"), *WHY, YES, *config]) == 0
    assert "dataset:people: ε 0.5" in capsys.readouterr().out
    assert main(["admin", "verify", *config]) == 0
    service.start()
    report, again = asked(ada, "0.3")
    assert not report.charged
    assert float(again) == float(before)
    with Ledger(read_settings(service.folder / "curator.toml").home.ledger) as ledger:
        assert str(ledger.spent("dataset:people")) == "ε 0.5"
    with pytest.raises(AccessError):
        asked(bob, "0.1")
    assert main(["admin", "close", "people", *WHY, YES, *config]) == 0
    service.kill(signal.SIGTERM)
    assert main(["admin", "restore", "--from", str(service.folder / "copy"), *WHY, YES, *config]) == 0
    service.start()
    with pytest.raises(OwnerError, match="closed"):
        asked(ada, "0.1", "mean")


@pytest.mark.slow
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

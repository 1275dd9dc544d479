"""Tokens: shown once, kept as hashes, revoked at once, and no older for a clock that is set back."""

from __future__ import annotations

import stat

import pytest

from dpnb.__main__ import main
from dpnb.errors import AccessError, OwnerError
from dpnb.trusted.owner import issued_tokens
from dpnb.trusted.owner.issued_tokens import IssuedTokens, tokens_of
from dpnb.trusted.serving.hub import Identities
from dpnb.trusted.serving.settings import read_settings
from dpnb.trusted.serving.tokens import Tokens
from dpnb.trusted.wire.places import Home
from tests.serving.conftest import CONFIG


class Clock:
    """A clock in a test's hand."""

    now = 1_000_000.0
    ticks = 0.0

    def __call__(self):
        return self.now

    def pass_by(self, seconds):
        """Let time go on."""
        self.now += seconds
        self.ticks += seconds


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def tokens(tmp_path, clock):
    return IssuedTokens(tmp_path / "tokens.json", clock, lambda: clock.ticks)


def test_a_token_is_found_until_it_expires_also_when_the_clock_goes_back(tokens, clock):
    """To the second."""
    text, made = tokens.issue("ada", ("release",), 1)
    assert tokens.find(text) == made
    clock.pass_by(86_399)
    assert tokens.find(text).principal == "ada"
    clock.pass_by(1)
    with pytest.raises(AccessError):
        tokens.find(text)
    clock.now -= 10_000
    with pytest.raises(AccessError):
        tokens.find(text)


def test_a_clock_that_jumps_ahead_is_the_owners_fault_to_hear_of(tokens, clock):
    """Seen: every token was refused as unknown after a jump, and after it was set back, and nothing was logged anywhere."""
    text, made = tokens.issue("ada", ("release",), 1)
    tokens.find(text)
    clock.now += 400 * 86_400
    for _ in range(2):
        with pytest.raises(OwnerError, match="clock jumped ahead"):
            tokens.find(text)
        assert not tokens.holds(made)
        clock.now -= 400 * 86_400
    clock.now += 400 * 86_400
    clock.pass_by(86_400)
    with pytest.raises(AccessError):
        tokens.find(text)


def test_its_text_is_kept_nowhere_and_its_file_is_the_owners_alone(tokens, tmp_path):
    """A reader of the file learns no token."""
    text, made = tokens.issue("ada", ("release",), 1)
    path = tmp_path / "tokens.json"
    assert text not in path.read_text()
    assert text.removeprefix("dpnb_") not in path.read_text()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with pytest.raises(AccessError):
        tokens.find(made.digest)


def test_another_process_revokes_and_the_next_look_sees_it(tokens, tmp_path):
    """Of one token, or of all of a principal; the others stay."""
    texts = [tokens.issue(name, ("release",), 1)[0] for name in ("ada", "ada", "bob")]
    held = [tokens.find(text) for text in texts]
    other = IssuedTokens(tmp_path / "tokens.json", tokens._clock)
    other.revoke(held[0].id)
    assert [tokens.holds(one) for one in held] == [False, True, True]
    assert other.revoke("ada") == 1
    assert [tokens.holds(one) for one in held] == [False, False, True]
    with pytest.raises(OwnerError, match="No valid token"):
        other.revoke("ada")


def test_a_file_that_cannot_be_looked_at_is_the_owners_fault(tmp_path):
    """Seen: /health, which anybody may ask for, failed where it said "tokens"."""
    (tmp_path / "home").touch()
    tokens = Tokens(tmp_path / "home" / "tokens.json")
    with pytest.raises(OwnerError, match=r"tokens\.json cannot be read: restore it"):
        tokens.find("dpnb_any")
    assert not Identities(tokens).readable()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"principal": "a b"}, "letters, digits"),
        ({"principal": ""}, "letters, digits"),
        ({"scopes": ("own",)}, "Unknown scope own"),
        ({"scopes": ()}, "Unknown scope none"),
        ({"days": 0}, "--expires 30d"),
        ({"days": 10_000}, "--expires 30d"),
    ],
)
def test_a_token_that_cannot_be_is_not_issued(tokens, change, says):
    """And the file is as it was."""
    with pytest.raises(OwnerError, match=says):
        tokens.issue(**{"principal": "ada", "scopes": ("release",), "days": 1, **change})
    assert tokens.listed() == []


@pytest.mark.parametrize(
    "command", [("issue", "--principal", "ada", "--expires", "1d"), ("revoke", "ada", "--yes")]
)
def test_a_disk_that_takes_nothing_is_told_in_a_sentence(command, tmp_path, monkeypatch, capsys):
    """Seen: a traceback. What was issued before stays."""
    settings(tmp_path)
    config = ["--config", str(tmp_path / "curator.toml")]
    tokens = tokens_of(Home(tmp_path / "home").make())
    text, _ = tokens.issue("ada", ("release",), 1)

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(issued_tokens, "write_private", full)
    assert main(["admin", "token", *command, *config]) == 2
    said = capsys.readouterr()
    assert (
        said.err
        == "dpnb: This could not be finished. No space left on device. Check the disk, and run it again.\n"
    )
    assert said.out == ""
    assert tokens.find(text).principal == "ada"


def test_the_commands_of_an_owner(tmp_path, monkeypatch, capsys):
    """Issue, list, revoke."""
    del monkeypatch
    settings(tmp_path)
    config = ["--config", str(tmp_path / "curator.toml")]
    assert (
        main(
            ["admin", "token", "issue", "--principal", "ada", "--scope", "audit", "--expires", "8h", *config]
        )
        == 0
    )
    text, words = capsys.readouterr().out.strip().splitlines()
    token = tokens_of(Home(tmp_path / "home")).find(text)
    assert token.scopes == ("audit",)
    assert token.expires - token.issued == 8 * 3600
    assert "not shown again" in words
    assert main(["admin", "token", "list", *config]) == 0
    assert f"{token.id}  ada  audit  all datasets" in capsys.readouterr().out
    assert main(["admin", "token", "revoke", "ada", "--yes", *config]) == 0
    capsys.readouterr()
    main(["admin", "token", "list", *config])
    assert "revoked" in capsys.readouterr().out
    assert main(["admin", "token", "issue", "--principal", "ada", "--expires", "soon", *config]) == 2
    assert "30d, 8h" in capsys.readouterr().err


def settings(tmp_path, **changes):
    """The settings of a file with some lines changed."""
    text = CONFIG.format(port=8443, each="", more="")
    for old, new in changes.items():
        assert old in text
        text = text.replace(old, new)
    (tmp_path / "curator.toml").write_text(text)
    return read_settings(tmp_path / "curator.toml")


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"[service]": "[service"}, "not valid TOML"),
        ({"home": "hme"}, "unknown key hme"),
        ({'home = "home"': ""}, "a folder of its own"),
        ({"127.0.0.1:8443": "8443"}, "not a host and a port"),
        ({'key = "host.key"': ""}, "go together"),
        ({'certificate = "host.pem"\nkey = "host.key"': ""}, "never sent unencrypted"),
        (
            {'certificate = "host.pem"\nkey = "host.key"': "behind_proxy = true", "127.0.0.1": "192.0.2.7"},
            "never sent unencrypted",
        ),
        ({"bucket = 0": "bucket = -1"}, "bucket = 0.05"),
        ({'schema = "people.dpnb.toml"': ""}, "study"),
        ({'schema = "people.dpnb.toml"': 'schema = "a.toml"\nstudy = "hiv"'}, "study"),
        ({'schema = "people.dpnb.toml"': 'schema = "a.toml"\neach = 3'}, "each is a loss"),
        ({'[datasets.people]\nschema = "people.dpnb.toml"': ""}, "serves nothing"),
        ({"bucket = 0": 'prefix = "services"'}, "prefix = "),
    ],
)
def test_a_mistake_in_the_file_names_its_place_and_its_fix(tmp_path, changes, says):
    """Before anything is opened."""
    with pytest.raises(OwnerError, match=says):
        settings(tmp_path, **changes)


def test_paths_are_read_beside_the_file(tmp_path):
    """Wherever the owner stands."""
    found = settings(tmp_path)
    assert found.home.root == tmp_path / "home"
    assert found.datasets["people"].source.path == str(tmp_path / "people.dpnb.toml")
    with pytest.raises(OwnerError, match="do not go together, or cannot be read"):
        found.tls()

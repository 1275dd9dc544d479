"""Four answers leave a folder from which a service starts."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
import stat
import subprocess
import sys

import pytest

from dpnb.__main__ import main
from dpnb.client.service import served
from dpnb.client.session import Session
from dpnb.planner.request import Ask
from dpnb.trusted.serving.settings import read_settings
from tests.serving.conftest import ROOT, write_people


@pytest.fixture
def asked(tmp_path, monkeypatch, capsys):
    """Answer the questions; return the status and what is said."""

    def asked(*answers, folder="service"):
        monkeypatch.setattr(sys, "stdin", io.StringIO("\n".join([*answers, ""])))
        status = main(["serve", "init", str(tmp_path / folder)])
        said = capsys.readouterr()
        return status, said.out or said.err

    return asked


@pytest.mark.slow
def test_four_answers_leave_a_folder_from_which_a_service_starts(asked, tmp_path, monkeypatch):
    """With the certificate and the token that it leaves, an analyst is answered."""
    write_people(tmp_path)
    status, said = asked(str(tmp_path / "people.dpnb.toml"), "127.0.0.1", "0.5", "ada@uni.example")
    assert status == 0
    folder = tmp_path / "service"
    assert {path.name for path in folder.iterdir()} == {
        *("ca.pem", "host.pem", "host.key", "curator.toml", "dpnb-curator.service", "home")
    }
    private = ("host.key", "curator.toml", "home/tokens.json")
    assert {stat.S_IMODE((folder / name).stat().st_mode) for name in private} == {0o600}
    config = folder / "curator.toml"
    config.write_text(config.read_text().replace("0.0.0.0:8443", "127.0.0.1:0"))
    process = subprocess.Popen(
        [sys.executable, "-m", "dpnb", "serve", "--config", str(config)],
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        url = json.loads(process.stdout.readline())["url"]
        monkeypatch.setenv("DPNB_CA", str(folder / "ca.pem"))
        monkeypatch.setenv("DPNB_TOKEN", said.split("DPNB_TOKEN=")[1].split()[0])
        service, _ = served(f"{url}any")
        with contextlib.closing(Session(service.connect, service=service)) as ada:
            people = ada.open_served("people")
            ada.release([people.age.mean()], Ask.make(epsilon="0.5"))
            assert people.budget.left.amount == 0
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=30)


@pytest.mark.parametrize(
    ("answers", "says"),
    [
        (("nowhere.dpnb.toml",), "nowhere.dpnb.toml"),
        (("study:hiv", "host.example", "much", "ada"), "curator.toml"),
        (("study:hiv", "host.example", "1", "a b"), "A principal is"),
        (("study:hiv", "a host"), "a host is not the name"),
        (("study:hiv", "curator:8443"), "curator:8443 is not the name"),
        (("study:hiv", "fe80::1%eth0"), "fe80::1%eth0 is not the name"),
    ],
)
def test_an_answer_that_cannot_be_used_leaves_nothing(asked, tmp_path, answers, says):
    status, said = asked(*answers)
    assert status == 2
    assert says in said
    assert not list(tmp_path.iterdir())


def test_a_folder_that_another_user_cannot_reach_is_told(asked, tmp_path, monkeypatch):
    for home, told in ((tmp_path, True), (tmp_path / "elsewhere", False)):
        monkeypatch.setenv("HOME", str(home))
        status, said = asked("study:hiv", "host.example", "1", "ada", folder=f"service-{told}")
        assert status == 0
        folder = tmp_path / f"service-{told}"
        assert (str(folder) in said.partition("can usually not enter")[2]) == told
        unit = (folder / "dpnb-curator.service").read_text()
        assert ("ProtectHome=read-only" in unit) == ("can usually not enter" in said)


def test_a_declaration_in_a_home_is_not_hidden_from_the_service(asked, tmp_path, monkeypatch):
    """Seen: ProtectHome=yes hid a declaration and a program below /home, and the service did not start."""
    home = tmp_path / "home"
    home.mkdir()
    write_people(home)
    monkeypatch.setenv("HOME", str(home))
    _, said = asked(str(home / "people.dpnb.toml"), "host.example", "1", "ada")
    assert str(home / "people.dpnb.toml") in said.partition("can usually not enter")[2]
    assert "ProtectHome=read-only" in (tmp_path / "service" / "dpnb-curator.service").read_text()


@pytest.mark.parametrize("name", ["a b", "50%h", "it's", "a\tb", "x$y"])
def test_a_folder_that_a_unit_would_read_otherwise_is_refused(asked, tmp_path, name):
    """Seen: its blanks cut ExecStart into words, and %h became a home."""
    status, said = asked("study:hiv", "host.example", "1", "ada", folder=name)
    assert (status, "that systemd reads otherwise. Name a folder such as /srv/dpnb" in said) == (2, True)
    assert not list(tmp_path.iterdir())


def test_an_address_of_the_sixth_version_stands_in_brackets_and_is_listened_on(asked, tmp_path):
    """Seen: https://2001:db8::1:8443, of a service that listened on IPv4 alone."""
    assert (
        "export DPNB_SERVICE=https://[2001:db8::1]:8443\n" in asked("study:hiv", "2001:db8::1", "1", "ada")[1]
    )
    settings = read_settings(tmp_path / "service" / "curator.toml")
    assert (settings.host, settings.port) == ("::", 8443)


def test_a_dataset_whose_name_has_a_point_is_one_table_of_the_file(asked, tmp_path):
    """Seen: [datasets.a.b] declared a dataset a, of an unknown key b."""
    write_people(tmp_path)
    declared = tmp_path / "people.dpnb.toml"
    declared.write_text(declared.read_text().replace('"people"', '"people.a"', 1))
    assert asked(str(declared), "host.example", "1", "ada")[0] == 0
    assert list(read_settings(tmp_path / "service" / "curator.toml").datasets) == ["people.a"]


def test_a_folder_that_exists_is_left_as_it_is(asked, tmp_path):
    (tmp_path / "service").mkdir()
    status, said = asked()
    assert status == 2
    assert "exists and is left as it is" in said


def test_a_service_without_its_file_says_how_one_is_written(capsys):
    assert main(["serve"]) == 2
    assert "dpnb serve init FOLDER writes one" in capsys.readouterr().err

"""What a service promises to its owner, asked over TLS of another process."""

from __future__ import annotations

import contextlib
import http.client
import itertools
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
import trustme
from prometheus_client.openmetrics.parser import text_string_to_metric_families

import dpnb
from dpnb.__main__ import main
from dpnb.client import api
from dpnb.client.service import Service, served
from dpnb.client.transport import ServiceTransport
from dpnb.errors import (
    AccessError,
    BudgetError,
    CuratorGone,
    DpnbError,
    OptionError,
    OwnerError,
    PlanError,
    SchemaError,
)
from dpnb.planner.request import Ask
from dpnb.planner.schema_words import mode_badge
from dpnb.trusted.serving.health import disk_fault
from dpnb.trusted.wire import messages
from dpnb.trusted.wire.codec import decode_service_request, encode
from dpnb.trusted.wire.messages import Attach, Cancel, FileSource, Open, Reset, StudySource
from tests.serving.conftest import ROOT, write_people


@contextlib.contextmanager
def line_to(service, context):
    """A bare TLS connection."""
    address = (service.host, service.port)
    with (
        socket.create_connection(address, timeout=10) as plain,
        context.wrap_socket(plain, server_hostname=service.host) as line,
    ):
        yield line


@pytest.mark.slow
def test_a_notebook_moves_to_a_service_by_what_it_opens(running, monkeypatch, dpnb_home):
    """The line that a person types; the badge; who they are; a restart finds what was paid."""
    service = running()
    monkeypatch.setenv("DPNB_CA", str(service.folder / "ca.pem"))
    monkeypatch.setenv("DPNB_TOKEN", service.token("ada"))
    people = dpnb.open(f"{service.url}people", quiet=True)
    assert mode_badge(people.mode) == "ENFORCED"
    assert people.notes == ("You ask as ada. You may spend ε 1. Another user has the data and the ledger.",)
    mean = people.age.mean()
    dpnb.release([mean], epsilon="0.5")
    assert 45 < float(mean) < 55
    api.close()
    monkeypatch.setenv("DPNB_SERVICE", service.url)
    again = dpnb.open("people", quiet=True)
    assert again.session.opening(again) == f'dpnb.open("{service.url}people")'
    same = again.age.mean()
    report = dpnb.release([same], epsilon="0.5")
    assert (float(same), report.charged.amount) == (float(mean), 0)
    assert [row["principal"] for row in again.session.ledger() if row["kind"] == "charge"] == ["ada"]
    assert not list(dpnb_home.glob("ledger*"))
    with pytest.raises(OwnerError, match="whose owner decides this: leave seed= out"):
        dpnb.open("people", seed=7, quiet=True)
    api.close()


@pytest.mark.slow
@pytest.mark.parametrize(
    "ask", [lambda s: s.open_served("people"), lambda s: s.line.ask(messages.Hello(), None)]
)
def test_a_revoked_token_is_refused_at_the_next_request(running, monkeypatch, ask):
    """Nothing is remembered of who asked before."""
    service = running()
    session = service.session(service.token("ada"), monkeypatch)
    ask(session)
    service.tokens.revoke("ada")
    with pytest.raises(AccessError, match="unknown, expired or revoked"):
        ask(session)


@pytest.mark.slow
def test_who_has_no_token_is_told_nothing(running):
    """No dataset, no version, no pid; each wrong token hears the same. Raw bytes: a client would not send some of them."""
    service = running()
    found = served(f"{service.url}x")[0]
    context = ssl.create_default_context(cafile=str(service.folder / "ca.pem"))

    def told(header=None):
        asked = http.client.HTTPSConnection(found.host, found.port, context=context)
        with contextlib.closing(asked):
            headers = {} if header is None else {"Authorization": header}
            asked.request("POST", "/v1/messages", encode(Open(name="people")), headers)
            reply = asked.getresponse()
            return reply.status, reply.read()

    unknown, shapeless = told(b"Bearer dpnb_wrong"), told()
    assert b"unknown, expired or revoked" in unknown[1]
    assert b"who you are" in shapeless[1]
    for token in ("dpnb_é".encode(), "dpnb_é".encode("latin-1"), b"dpnb_\xff\xfe", b"\x80", b"x" * 200):
        assert told(b"Bearer " + token) == unknown, token
    for header in (
        b"",
        b"Bearer ",
        b"Bearer " + b"x" * 300,
        b"Bearer dpnb_ wrong",
        b"Basic ZHBuYjo=",
        b"\xc3\xa9",
    ):
        assert told(header) == shapeless, header
    for status, text in (unknown, shapeless):
        assert status == 401
        assert not any(word in text for word in (b"people", b"pid", b"data_version"))


@pytest.mark.slow
def test_a_client_without_a_token_that_holds_opens_nothing(running, monkeypatch):
    """The service's words reach whoever asks."""
    service = running()
    for token in ("", "dpnb_wrong", "x" * 300):
        with pytest.raises(AccessError, match=r"who you are|unknown, expired or revoked"):
            service.session(token, monkeypatch)


@pytest.mark.parametrize("token", ["dpnb_é", "dpnb_\n", "dpnb_\r\nHost: other", "dpnb_\x7f"])
def test_a_client_sends_no_token_that_a_header_cannot_carry(token):
    """It says so before a service is reached."""
    with pytest.raises(OptionError, match="printable ASCII"):
        ServiceTransport("https", "host.example", None, "", token)


@pytest.mark.slow
def test_a_token_for_one_dataset_opens_no_other_and_uses_no_handle_of_another(running, monkeypatch):
    """Two tokens of one person are two keys."""
    service = running(more='[datasets.hiv]\nstudy = "hiv"\n')
    everything = service.session(service.token("ada"), monkeypatch)
    people = everything.open_served("people")
    narrow = service.session(service.token("ada", datasets=("hiv",)), monkeypatch)
    assert narrow.open_served("hiv").mode == "enforced"
    with pytest.raises(AccessError, match="not for people"):
        narrow.open_served("people")
    with pytest.raises(AccessError, match="not for people"):
        narrow.line.ask(messages.Describe(handle=people.handle), None)


@pytest.mark.slow
def test_a_scope_that_is_not_held_is_refused(running, monkeypatch):
    """An auditor reads every entry and asks nothing; an analyst reads their own."""
    service = running()
    ada = service.session(service.token("ada"), monkeypatch)
    people = ada.open_served("people")
    question = people.count()
    ada.release([question], Ask.make(epsilon="0.5"))
    bob = service.session(service.token("bob"), monkeypatch)
    assert [row for row in bob.ledger(bob.open_served("people")) if row["kind"] == "charge"] == []
    audit = service.session(service.token("eve", "audit"), monkeypatch)
    seen = audit.open_served("people")
    assert [row["principal"] for row in audit.ledger(seen) if row["kind"] == "charge"] == ["ada"]
    for act in (lambda: audit.budget_state(seen.handle), lambda: audit.cap(epsilon=1, dataset=seen)):
        with pytest.raises(AccessError, match="needs the scope release"):
            act()


COLLUSIONS = {
    "each, and together the budget": ("each = { epsilon = 1 }", "abcdef", 14, 30, "is left"),
    "a group": (
        "each = { epsilon = 1 }\ngroups = { class-1 = { epsilon = 0.8 } }",
        "abcd",
        6,
        8,
        "0 is left of what its owner lets the group class-1 spend, 0.8",
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize(("caps", "names", "tries", "admitted", "said"), COLLUSIONS.values(), ids=COLLUSIONS)
def test_analysts_who_collude_spend_their_caps_to_the_last_digit(
    running, monkeypatch, caps, names, tries, admitted, said
):
    """All in loops at once: nobody more than 1, and all together no more than what they have in common; who is not of them goes on."""
    service = running(each=caps)
    sessions = {
        name: service.session(service.token(name, groups=("class-1",)), monkeypatch) for name in names
    }
    opened = {name: session.open_served("people") for name, session in sessions.items()}
    words = []

    def spend(name):
        for place in range(tries):
            question = opened[name].age.clip(0, 50 + place).sum()
            try:
                sessions[name].release([question], Ask.make(epsilon="0.1"))
            except DpnbError as refusal:
                words.append(str(refusal))

    threads = [threading.Thread(target=spend, args=(name,)) for name in names]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    states = [sessions[name].budget_state(opened[name].handle) for name in names]
    mine = [state.mine.amount for state in states]
    assert states[0].spent.amount == sum(mine) == Fraction(admitted, 10)
    assert max(mine) <= 1
    assert (len(words), {state.left.amount for state in states}) == (len(names) * tries - admitted, {0})
    assert all(said in text for text in words)
    eve = service.session(service.token("eve", groups=("class-2",)), monkeypatch)
    people = eve.open_served("people")
    assert people.budget.remaining.amount == min(1, 3 - Fraction(admitted, 10))


@pytest.mark.slow
def test_a_share_of_each_analyst_is_named_in_the_refusal(running, monkeypatch):
    """The cap, and who set it; what is left is shown before anybody asks."""
    service = running()
    ada = service.session(service.token("ada"), monkeypatch)
    people = ada.open_served("people")
    assert people.budget.remaining.amount == 1
    assert (people.budget.cap.amount, people.budget.label) == (1, "ε 3")
    assert "You may spend ε 1." in people.notes[-1]
    with pytest.raises(BudgetError, match="1 is left of what its owner lets each analyst spend"):
        ada.release([people.count()], Ask.make(epsilon=2))
    ada.cap(epsilon=2, dataset=people)  # one's own cap is no way around the owner's
    assert people.budget.remaining.amount == 1


@pytest.mark.slow
def test_a_token_is_spent_before_its_principal(running, monkeypatch):
    """What was put into a token: another one of the same person goes on; what it is shown is what is left."""
    service = running()
    narrow = service.session(service.token("ada", epsilon="0.3"), monkeypatch)
    people = narrow.open_served("people")
    assert people.budget.remaining.amount == Fraction(3, 10)
    narrow.release([people.count()], Ask.make(epsilon="0.2"))
    with pytest.raises(BudgetError, match=r"0\.1 is left of what its owner lets your token spend, 0\.3"):
        narrow.release([people.age.mean()], Ask.make(epsilon="0.2"))
    wide = service.session(service.token("ada"), monkeypatch)
    again = wide.open_served("people")
    wide.release([again.age.mean()], Ask.make(epsilon="0.2"))
    assert again.budget.remaining.amount == Fraction(6, 10)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("groups", "words"),
    [
        ("groups = { class-1 = 8 }", "class-1 is a loss"),
        ("groups = { class-1 = { rho = 1 } }", "class-1 must be in ε, like the budget"),
        ("groups = 3", "groups is a section"),
        ('groups = { "a\\nb" = { epsilon = 1 } }', "A group is 1 to 200"),
    ],
)
def test_a_cap_of_a_group_that_means_nothing_is_refused_at_the_start(running, groups, words):
    service = running(each=groups, begin=False)
    with pytest.raises(RuntimeError, match=words):
        service.start()


@pytest.mark.slow
def test_a_killed_service_goes_on_where_it_was(running, monkeypatch):
    """Handles are opened again by name; what was charged is free."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    service = running(port=port)
    ada = service.session(service.token("ada"), monkeypatch)
    people = ada.open_served("people")
    first = people.age.mean()
    ada.release([first], Ask.make(epsilon="0.5"))
    service.kill()
    with pytest.raises(CuratorGone, match=f"Nothing listens on port {port}.*answered from the store"):
        ada.release([people.count()], Ask.make(epsilon="0.1"))
    service.start()
    second = people.age.mean()
    report = ada.release([second], Ask.make(epsilon="0.5"))
    assert (float(second), report.charged.amount) == (float(first), 0)
    ada.release([people.count()], Ask.make(epsilon="0.1"))
    assert str(people.budget.spent.amount) == "3/5"


@pytest.mark.slow
def test_asked_to_end_it_ends(running):
    """With status 0, and the home free for the next."""
    service = running()
    assert service.kill(signal.SIGTERM) == ""  # seen: sixty lines of what DuckDB's library still holds
    assert service.process.returncode == 0
    service.start()


@pytest.mark.slow
def test_two_services_on_one_ledger_are_refused(running):
    """One ledger has one writer."""
    service = running()
    command = [sys.executable, "-m", "dpnb", "serve", "--config", str(service.folder / "curator.toml")]
    second = subprocess.run(
        command, capture_output=True, text=True, timeout=60, env={"PYTHONPATH": str(ROOT)}, check=False
    )
    assert second.returncode == 2
    assert "one ledger has one writer" in second.stderr


def test_no_message_of_a_service_brings_data_terms_or_a_new_budget():
    """Every message that does is no message there, and no field of those that are names a path, a schema or a seed."""
    others = [
        Attach(source=FileSource(path="/etc/passwd")),
        Attach(source=StudySource(name="hiv"), mode="teaching"),
        Reset(handle="0" * 32),
    ]
    for message in others:
        with pytest.raises(PlanError, match="vocabulary"):
            decode_service_request(encode(message))
    kinds = messages.ServiceRequest.__args__
    fields = {field for kind in kinds for field in kind.__struct_fields__}
    assert fields == {
        *(
            "handle",
            "entry",
            "plan",
            "request",
            "digest",
            "after",
            "entries",
            "epsilon",
            "rho",
            "remove",
            "name",
        ),
    }
    assert set(Open.__struct_fields__) == {"name"}


@pytest.mark.slow
def test_a_detach_leaves_the_copy_that_everybody_uses(running, monkeypatch):
    """Whatever the message says."""
    service = running()
    ada, bob = (service.session(service.token(name), monkeypatch) for name in ("ada", "bob"))
    mine, theirs = ada.open_served("people"), bob.open_served("people")
    ada.detach(mine, remove=True)
    assert len(list((service.folder / "home" / "prepared").glob("*.duckdb"))) == 1
    bob.release([theirs.count()], Ask.make(epsilon="0.1"))


@pytest.mark.slow
def test_an_analyst_hears_no_reason_of_the_owners(running, monkeypatch):
    """The file went away after the start, and nobody notices; a name that is not served is told the near one."""
    service = running()
    (service.folder / "people.csv").unlink()
    ada = service.session(service.token("ada"), monkeypatch)
    ada.release([ada.open_served("people").count()], Ask.make(epsilon="0.1"))
    with pytest.raises(SchemaError, match="Did you mean people"):
        ada.open_served("peple")


@pytest.mark.slow
def test_a_token_revoked_before_the_last_byte_gets_no_answer(running):
    """Let in on its headers, as the service says of who expects to hear it, it asks when the body is whole."""
    service = running()
    found = served(f"{service.url}x")[0]
    context = ssl.create_default_context(cafile=str(service.folder / "ca.pem"))
    body = encode(messages.Hello())
    head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.token('ada')}\r\n"
    with line_to(found, context) as line:
        line.sendall(f"{head}Expect: 100-continue\r\nContent-Length: {len(body)}\r\n\r\n".encode())
        assert line.recv(65_536).startswith(b"HTTP/1.1 100")
        line.sendall(body[:-1])
        service.tokens.revoke("ada")
        line.sendall(body[-1:])
        reply = line.recv(65_536).decode()
    assert "unknown, expired or revoked" in reply
    assert "pid" not in reply


@pytest.mark.slow
def test_life_lines_of_one_analyst_end_no_other_ones(running, monkeypatch):
    """More than there is room for: the greedy one's are cut."""
    service = running()
    monkeypatch.setenv("DPNB_CA", str(service.folder / "ca.pem"))
    place = served(f"{service.url}x")[0]
    monkeypatch.setenv("DPNB_TOKEN", service.token("bob"))
    bob = place.connect()
    monkeypatch.setenv("DPNB_TOKEN", service.token("ada"))
    many = [place.connect() for _ in range(110)]
    for one in many:
        with contextlib.suppress(CuratorGone):
            one.hold()
    line = bob._line.sock
    line.settimeout(0.5)
    with pytest.raises(TimeoutError):
        line.recv(1)
    for one in (bob, *many):
        one.close()


@pytest.mark.slow
def test_a_life_line_for_each_of_a_hundred_and_sixty_kernels(running, monkeypatch):
    """More than a curator of one user holds: each hears of the next charge, and nobody's line is cut."""
    service = running()
    asks = service.session(service.token("ada"), monkeypatch)
    with contextlib.ExitStack() as held:
        lines = []
        for place in range(160):
            monkeypatch.setenv("DPNB_TOKEN", service.token(f"student{place}"))
            lines.append(served(f"{service.url}any")[0].connect())
            held.callback(lines[-1].close)
        people = asks.open_served("people")
        asks.release([people.count()], Ask.make(epsilon="0.1"))
        assert all(line.wait() for line in lines)


@pytest.mark.soak
def test_two_hundred_analysts_for_a_minute(running, monkeypatch):
    """On 100,000 rows: every cap holds to the last unit, and every question is answered or refused with its cap."""
    service = running(each="each = { epsilon = 1 }\ngroups = { class-1 = { epsilon = 2 } }", begin=False)
    write_people(service.folder, rows=100_000)
    service.start()
    sessions = [
        service.session(service.token(f"a{place}", groups=("class-1",)), monkeypatch) for place in range(200)
    ]
    opened = [session.open_served("people") for session in sessions]
    end, charged, refused = time.monotonic() + 60, [], []

    def spend(place):
        for turn in itertools.count():
            if time.monotonic() > end:
                return
            question = opened[place].age.clip(0, 50 + turn % 50).sum()
            try:
                report = sessions[place].release([question], Ask.make(epsilon=f"0.00{1 + turn // 50 % 9}"))
                charged.append(report.charged.amount)
            except BudgetError as refusal:
                refused.append(str(refusal))

    threads = [threading.Thread(target=spend, args=(place,)) for place in range(200)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    audit = service.session(service.token("eve", "audit"), monkeypatch)
    charges = [row for row in audit.ledger(audit.open_served("people")) if row["kind"] == "charge"]
    assert sum(charged) == sum(Fraction(row["loss"]["amount"]) for row in charges) <= 2
    assert all("what its owner lets the group class-1 spend" in text for text in refused)
    print(f"{len(charges):,} releases by 200 analysts in a minute, {len(refused):,} refused")


def test_a_token_is_sent_to_its_own_service_alone(monkeypatch):
    """Where it is said which that is."""
    monkeypatch.setenv("DPNB_TOKEN", "dpnb_x")
    monkeypatch.setenv("DPNB_SERVICE", "https://host.example/dpnb")
    with pytest.raises(OptionError, match=r"is not sent to other\.example"):
        served("https://other.example/x")[0].connect()


@pytest.mark.slow
def test_the_door_decides_before_a_body_is_read(running):
    """A body of four megabytes without a token: refused on its headers; a page of a browser too."""
    service = running()
    found = served(f"{service.url}x")[0]
    context = ssl.create_default_context(cafile=str(service.folder / "ca.pem"))

    def status(*headers):
        with line_to(found, context) as line:
            head = ["POST /v1/messages HTTP/1.1", "Host: x", "Content-Length: 4000000", *headers, "", ""]
            line.sendall("\r\n".join(head).encode())
            return line.recv(4096).split(b"\r\n")[0]

    assert b"401" in status()
    token = service.token("ada")
    assert b"403" in status(f"Authorization: Bearer {token}", "Origin: https://evil.example")


@pytest.mark.slow
def test_a_service_takes_up_looser_terms_when_its_owner_says_so(running, monkeypatch, capsys):
    """Loosened at a terminal beside it: refused until SIGHUP, and then open with the new budget, by the same process."""
    service = running(each="each = { epsilon = 9 }")
    ada = service.session(service.token("ada"), monkeypatch)
    ada.release([ada.open_served("people").age.mean()], Ask.make(epsilon=1))
    schema = service.folder / "people.dpnb.toml"
    schema.write_text(schema.read_text().replace("epsilon = 3", "epsilon = 5"))
    config = ("--config", str(service.folder / "curator.toml"))
    assert main(["loosen", str(schema), "--reason", "a year more", "--yes", *config]) == 0, (
        capsys.readouterr()
    )
    eve = service.session(service.token("eve"), monkeypatch)
    with pytest.raises(CuratorGone, match="has not loaded them yet"):
        eve.open_served("people")
    service.process.send_signal(signal.SIGHUP)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(CuratorGone):
            assert eve.open_served("people").budget.left.amount == 4
            break
        time.sleep(0.05)
    assert service.process.poll() is None
    eve.release([eve.open_served("people").age.mean()], Ask.make(epsilon=4))


@pytest.mark.slow
def test_health_is_everybodys_and_figures_are_not(running, monkeypatch):
    """Counts alone, in tens, without a name."""
    service = running()
    found = served(f"{service.url}x")[0]
    context = ssl.create_default_context(cafile=str(service.folder / "ca.pem"))

    def get(path, token=None):
        asked = http.client.HTTPSConnection(found.host, found.port, context=context)
        with contextlib.closing(asked):
            asked.request(
                "GET", f"/{path}", headers={} if token is None else {"Authorization": f"token {token}"}
            )
            reply = asked.getresponse()
            return reply.status, reply.read().decode(), dict(reply.headers)

    status, text, headers = get("health")
    assert (status, text) == (200, "ok\n")
    assert "Server" not in headers
    for token in (None, service.token("ada")):
        assert get("metrics", token)[0] == (401 if token is None else 403)
    ops = service.token("ops", "metrics")
    refused = 'dpnb_requests_total{what="refused access"}'
    assert f"{refused} 0\n" in get("metrics", ops)[1]
    for _ in range(13):
        get("metrics")
    ada = service.session(service.token("ada"), monkeypatch)
    ada.release([ada.open_served("people").age.mean()], Ask.make(epsilon="0.997"))
    figures = get("metrics", ops)[1]
    told = {
        f"{one.name}{dict(one.labels)}": one.value
        for family in text_string_to_metric_families(figures)
        for one in family.samples
    }
    assert told["dpnb_requests_total{'what': 'refused access'}"] == 10
    assert told["dpnb_budget_left{'dataset': 'people'}"] == 0.66
    assert told["dpnb_frozen{}"] == 0
    # memory and disk follow the data, and an analyst can move them across any step: of sizes the ledger's alone is told
    assert [name for name in told if "_bytes" in name] == ["dpnb_ledger_bytes{}"]
    assert told["dpnb_ledger_bytes{}"] % 2**20 == 0
    assert all(value % 10 == 0 for name, value in told.items() if name.startswith("dpnb_requests"))
    assert "ada" not in figures
    with pytest.raises(AccessError, match="service's statistics"):
        service.session(service.token("ops", "metrics"), monkeypatch)
    with line_to(found, context) as line:
        line.sendall(b"POST /health HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n")
        assert b"405" in line.recv(4096).split(b"\r\n")[0]


@pytest.mark.slow
def test_an_operator_is_told_of_each_fault(running, monkeypatch):
    """Seen: 200 ok whatever was wrong, and empty replies of which nothing was logged."""
    service = running()
    found = served(f"{service.url}x")[0]
    context = ssl.create_default_context(cafile=str(service.folder / "ca.pem"))

    def health():
        asked = http.client.HTTPSConnection(found.host, found.port, context=context)
        with contextlib.closing(asked):
            asked.request("GET", "/health")
            reply = asked.getresponse()
            return reply.status, reply.read()

    assert health() == (200, b"ok\n")
    tokens = service.folder / "home" / "tokens.json"
    token, kept = service.token("ada"), tokens.read_bytes()
    tokens.write_text("{")
    assert health() == (503, b"tokens\n")
    with pytest.raises(CuratorGone, match="its owner can see why in its log"):
        service.session(token, monkeypatch)
    log = (service.folder / "home" / "curator.log").read_text()
    assert "tokens.json cannot be read: restore it" in log
    tokens.write_bytes(kept)
    assert health() == (200, b"ok\n")


@pytest.mark.parametrize(
    ("facts", "word"),
    [
        ({}, None),
        ({"f_flag": os.ST_RDONLY}, "disk read-only"),
        ({"f_bavail": 8191}, "disk full"),
        (OSError(5, "Input/output error"), "disk unreadable"),
    ],
)
def test_a_disk_that_takes_nothing_is_a_fault(facts, word, monkeypatch, tmp_path):
    """Below 32 MiB, read-only or unreadable."""

    def disk(_):
        if isinstance(facts, OSError):
            raise facts
        return SimpleNamespace(**{"f_flag": 0, "f_bavail": 8192, "f_frsize": 4096, **facts})

    monkeypatch.setattr(os, "statvfs", disk)
    assert disk_fault(tmp_path) == (word and word.removeprefix("disk "))


@pytest.mark.slow
def test_a_token_never_travels_in_the_clear(running, monkeypatch):
    """Not to another machine, and not to a service that nobody vouches for."""
    with pytest.raises(OptionError, match="never sent unencrypted"):
        Service("http", "host.example", None, "").connect()
    service = running()
    token = service.token("ada")
    monkeypatch.setenv("DPNB_TOKEN", token)
    monkeypatch.delenv("DPNB_CA", raising=False)
    with pytest.raises(CuratorGone, match=r"No authority that this machine knows.*set DPNB_CA"):
        served(f"{service.url}x")[0].connect()
    other = service.folder / "other.pem"
    trustme.CA().cert_pem.write_to_path(other)
    monkeypatch.setenv("DPNB_CA", str(other))
    with pytest.raises(CuratorGone, match="DPNB_CA names does not vouch"):
        served(f"{service.url}x")[0].connect()


@pytest.mark.slow
def test_each_wrong_address_has_its_sentence(running, monkeypatch, tmp_path):
    """A wrong port, path, scheme or machine, a file of certificates that is none: nobody is told just to try again."""
    service = running()
    monkeypatch.setenv("DPNB_TOKEN", service.token("ada"))
    monkeypatch.setenv("DPNB_CA", str(service.folder / "ca.pem"))
    port = served(f"{service.url}x")[0].port
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as taken:
        free = taken.getsockname()[1]
    wrong = {
        f"http://127.0.0.1:{port}/x": r"has a certificate, open https://127\.0\.0\.1",
        f"https://127.0.0.1:{free}/x": f"Nothing listens on port {free}",
        f"https://127.0.0.1:{port}/no/such/x": "is no dpnb service",
        "https://no-such-machine.invalid/x": r"No machine is called no-such-machine\.invalid",
    }
    for address, words in wrong.items():
        with pytest.raises(CuratorGone, match=words):
            served(address)[0].connect()
    for text, words in {None: "does not exist", "no certificate": "holds no certificate"}.items():
        file = tmp_path / "authority.pem"
        if text is not None:
            file.write_text(text)
        monkeypatch.setenv("DPNB_CA", str(file))
        with pytest.raises(OptionError, match=words):
            served(f"{service.url}x")[0].connect()


@pytest.mark.parametrize(
    ("named", "words"),
    [(None, "does not speak https"), ("host.example", r"service is not for 127\.0\.0\.1")],
)
def test_a_server_that_is_not_the_one_meant_is_told(named, words, monkeypatch, tmp_path):
    """One without a certificate, for instance a Hub's proxy, and one whose certificate names another machine."""
    authority, context = trustme.CA(), ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(named or "nobody.example").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.pem")
    monkeypatch.setenv("DPNB_CA", str(tmp_path / "ca.pem"))
    with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as listening:

        def answer():
            line, _ = listening.accept()
            with contextlib.suppress(OSError), contextlib.closing(line):
                if named:
                    context.wrap_socket(line, server_side=True).close()
                line.recv(65_536)
                line.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")

        beside = threading.Thread(target=answer)
        beside.start()
        with pytest.raises(CuratorGone, match=words):
            Service("https", "127.0.0.1", listening.getsockname()[1], "").connect()
        beside.join()


@pytest.mark.slow
def test_a_prefix_is_where_a_proxy_serves_it(running, monkeypatch):
    """Behind the Hub's proxy the path stays."""
    service = running(more='prefix = "/services/dpnb"')
    assert service.url.endswith("/services/dpnb/")
    session = service.session(service.token("ada"), monkeypatch)
    assert session.open_served("people").name == "people"


@pytest.mark.parametrize(
    "what", ["https://", "https://host", "https://u:p@host/x", "https://host/x?y=1", "https://host:port/x"]
)
def test_what_is_no_address_says_what_one_is(what):
    """With an example."""
    with pytest.raises(OwnerError, match=r"For example|names a service and a dataset"):
        served(what)


@pytest.mark.parametrize("what", ["x" * 5000, "people.csv", "hiv"])
def test_what_is_no_name_of_a_served_dataset_stays_what_it_is(what, monkeypatch):
    """A study, a file, and what is neither, with and without a service."""
    for address in ("", "https://host.example/dpnb"):
        monkeypatch.setenv("DPNB_SERVICE", address)
        assert api._served(what, None) is None
    assert api._served("incomes", None)[1] == "incomes"


def test_a_file_on_another_machine_is_still_a_file(dpnb_home):
    """It says to download it first, as before."""
    with pytest.raises(OwnerError, match="download it first"):
        dpnb.open("https://host.example/people.csv")


@pytest.mark.slow
def test_one_batch_of_a_principal_runs_at_a_time(running, monkeypatch):
    """The second is refused in one sentence, and costs nothing; each ends in one of two ways."""
    service = running(each="")
    token = service.token("ada")
    sessions = [service.session(token, monkeypatch) for _ in range(4)]
    opened = [session.open_served("people") for session in sessions]
    told = []

    def ask(place):
        questions = [opened[place].age.clip(0, 40 + place + 4 * more).sum() for more in range(8)]
        try:
            sessions[place].release(questions, Ask.make(epsilon="0.25"))
            told.append("released")
        except PlanError as refusal:
            told.append(str(refusal))

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    released = told.count("released")
    assert released >= 1
    assert all("Another batch of yours is running" in text for text in told if text != "released")
    assert opened[0].budget.spent.amount == released / 4


@pytest.mark.slow
def test_rubbish_never_crashes_it(running):
    """Two hundred bodies and headers that are nothing: it answers the next question."""
    service = running()
    found = served(f"{service.url}x")[0]
    context = ssl.create_default_context(cafile=str(service.folder / "ca.pem"))
    token, rng = service.token("ada"), np.random.default_rng(2)
    known = encode(Cancel(request="0" * 32))
    for place in range(200):
        body = bytes(rng.integers(0, 256, rng.integers(0, 200), dtype=np.uint8))
        body = known[: int(rng.integers(0, len(known)))] if place % 2 else body
        head = f"POST /v1/messages HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n"
        with contextlib.suppress(OSError), line_to(found, context) as line:
            line.sendall(head.encode() + f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
            reply = line.recv(65_536)
            assert b" 200 " in reply.split(b"\r\n")[0]
            told = json.loads(reply.split(b"\r\n\r\n", 1)[1])
            assert told["is"] == "failure"
            assert "Traceback" not in reply.decode()
    assert service.process.poll() is None

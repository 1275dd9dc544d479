"""Tokens of a JupyterHub, against a Hub of the tests that says what a real one says of a token."""

from __future__ import annotations

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from dpnb.client.service import Service
from dpnb.errors import AccessError, BudgetError, OwnerError
from dpnb.planner.request import Ask
from dpnb.trusted.serving.hub import Hub, hub_of
from dpnb.trusted.serving.settings import read_settings
from dpnb.trusted.serving.tokens import OURS
from tests.serving.test_gateway import released

ANALYST = ("access:services!service=dpnb", "custom:dpnb:release")


def model(name="ada", scopes=ANALYST, **more):
    """What a Hub says of a user's token."""
    return {"kind": "user", "name": name, "groups": [], "scopes": list(scopes), "token_id": "a7", **more}


class Says:
    """A Hub that says what it is told to, and counts how often it was asked."""

    def __init__(self, **tokens):
        self.tokens, self.asked, self.slow = tokens, 0, 0.0

    def __call__(self, text):
        self.asked += 1
        time.sleep(self.slow)
        if text not in self.tokens:
            return 403, b"{}"
        return 200, json.dumps(self.tokens[text]).encode()


@pytest.fixture
def hub_server():
    """The same over HTTP, as a service asks it."""
    says = Says(secret=model(), other=model("ben", token_id="b1"))

    class Answer(BaseHTTPRequestHandler):
        def do_GET(self):
            kind, _, text = self.headers.get("Authorization", "").partition(" ")
            good = (self.path, kind) == ("/hub/api/user", "token")
            status, body = says(text) if good else (404, b"")
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    says.api = f"http://127.0.0.1:{server.server_address[1]}/hub/api"
    says.close = lambda: (server.shutdown(), server.server_close())
    yield says
    says.close()


def served_for(running, hub_server, **more):
    """A service that asks this Hub."""
    service = running(begin=False, **more)
    with (service.folder / "curator.toml").open("a") as file:
        file.write(f'\n[hub]\napi = "{hub_server.api}"\n')
    return service.start()


# what a Hub says ---------------------------------------------------------------------------------------------


def test_a_user_of_the_hub_is_nobody_of_the_owner():
    """The principal has a letter that an owner's cannot have; scopes are those of this service, but for its figures."""
    held = (
        *ANALYST,
        *(f"custom:dpnb:{scope}" for scope in ("instruct", "audit", "metrics")),
        "custom:other:x",
    )
    found = Hub("http://hub", "dpnb", Says(x=model(scopes=held))).find("x")
    assert (found.principal, found.scopes, found.id) == ("hub/ada", ("release", "instruct", "audit"), "a7")
    assert "text" not in repr(found)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        (model(scopes=("custom:dpnb:release",)), "no access to dpnb"),
        (model(scopes=("access:services!service=other", "custom:dpnb:release")), "no access to dpnb"),
        (model(kind="service"), "no access to dpnb"),
        (model(name=""), "does not answer"),
        (model(name="a\nb"), "does not answer"),
        ({"kind": "user"}, "does not answer"),
        ([], "does not answer"),
    ],
)
def test_who_is_let_in_has_access_and_a_name(said, words):
    """No access, a service, or a reply that is no model: refused, nothing spent."""
    with pytest.raises(AccessError, match=words) as caught:
        Hub("http://hub", "dpnb", Says(x=said)).find("x")
    assert "Nothing was spent" in str(caught.value)


def test_scopes_of_another_service_are_none_of_this_one():
    """A release scope elsewhere asks nothing here."""
    found = Hub("http://hub", "dpnb", Says(x=model(scopes=(ANALYST[0], "custom:other:release")))).find("x")
    with pytest.raises(AccessError, match="scope release"):
        found.need("release")


def test_one_check_serves_what_arrived_before_it_began_and_nothing_later():
    """Twenty at once cost two or three checks; the next request asks anew, and a revoked token is refused by it."""
    says = Says(x=model())
    hub = Hub("http://hub", "dpnb", says)
    says.slow = 0.2
    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(hub.find, ["x"] * 20))
    assert {one.principal for one in found} == {"hub/ada"}
    assert says.asked <= 3
    before = says.asked
    says.tokens.clear()
    with pytest.raises(AccessError, match="expired or was revoked"):
        hub.find("x")
    assert says.asked == before + 1
    assert not hub._checks, "nothing is remembered of who asked"


def test_a_check_under_way_is_no_answer_to_who_arrives_later():
    """A token is revoked while a check of it is under way: whoever arrives then is refused."""
    says = Says(x=model())
    begun, go = threading.Event(), threading.Event()

    def slow(text):
        found = says(text)
        begun.set()
        go.wait(10)
        return found

    hub = Hub("http://hub", "dpnb", slow)
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(hub.find, "x")
        begun.wait(10)
        says.tokens.clear()
        second = pool.submit(hub.find, "x")
        while not hub._checks["x"]._waiting:
            time.sleep(0.001)
        go.set()
        assert first.result().principal == "hub/ada"
        with pytest.raises(AccessError):
            second.result()


def test_a_line_is_held_for_a_minute_after_a_check():
    """Then whoever holds it shows the token again; a refused token holds none."""
    now = [0.0]
    says = Says(x=model())
    hub = Hub("http://hub", "dpnb", says, lambda: now[0])
    token = hub.find("x")
    assert hub.holds(token)
    now[0] = 61
    assert not hub.holds(token)
    hub.find("x")
    assert hub.holds(token)
    says.tokens.clear()
    with pytest.raises(AccessError):
        hub.find("x")
    assert not hub.holds(token)


def test_a_hub_that_is_nowhere_is_told_to_the_owner():
    """Neither the file nor the Hub that started this says where it is; what is not an address is refused."""
    with pytest.raises(OwnerError, match="where is the Hub"):
        hub_of({}, {}, "curator.toml, [hub]")
    with pytest.raises(OwnerError, match="where is the Hub"):
        hub_of({"api": "file:///etc/passwd"}, {}, "curator.toml, [hub]")
    around = {"JUPYTERHUB_API_URL": "http://127.0.0.1:8081/hub/api", "JUPYTERHUB_SERVICE_NAME": ""}
    assert hub_of({}, around, "")._service == "dpnb"


# a service that asks one -------------------------------------------------------------------------------------


@pytest.mark.slow
def test_users_of_a_hub_ask_each_for_themselves(running, hub_server, monkeypatch):
    """Two users, and an owner's token of the same name: three shares, one budget."""
    service = served_for(running, hub_server)
    for token in ("secret", "other", service.token("ada")):
        data = service.session(token, monkeypatch).open_served("people")
        released(data, 1)
        assert float(data.budget.left.amount) == 0
    entries = [one for one in data.session.ledger() if one["kind"] == "charge"]
    assert len(entries) == 1, "nobody sees another's"
    assert float(data.budget.spent.amount) == 3


@pytest.mark.slow
def test_a_revoked_user_spends_nothing_more(running, hub_server, monkeypatch):
    """Refused at the next request, in one sentence; the other goes on."""
    service = served_for(running, hub_server)
    ada = service.session("secret", monkeypatch).open_served("people")
    ben = service.session("other", monkeypatch).open_served("people")
    released(ada, "0.1")
    del hub_server.tokens["secret"]
    with pytest.raises(AccessError, match="Restart your server"):
        released(ada, "0.2")
    released(ben, "0.1")
    assert float(ben.budget.spent.amount) == pytest.approx(0.1)
    assert ben.session.ledger()[-1]["spent_after"]["amount"] == "0.2"


@pytest.mark.slow
def test_a_slow_hub_holds_up_nobody_else(running, hub_server, monkeypatch):
    """While the Hub thinks about one user, an owner's token is charged and answered."""
    service = served_for(running, hub_server)
    ada = service.session("secret", monkeypatch).open_served("people")
    eve = service.session(service.token("eve"), monkeypatch).open_served("people")
    hub_server.slow = 1.0
    with ThreadPoolExecutor(1) as pool:
        slow = pool.submit(released, ada, "0.1")
        for epsilon in ("0.1", "0.12", "0.14"):
            released(eve, epsilon)
        assert not slow.done()
        slow.result()
    assert float(eve.budget.spent.amount) == pytest.approx(0.36)
    released(eve, "0.2")
    assert [one["spent_after"]["amount"] for one in eve.session.ledger() if one["kind"] == "charge"][
        -1
    ] == "0.66"


@pytest.mark.slow
def test_without_the_hub_nobody_of_it_asks_and_owners_tokens_go_on(running, hub_server, monkeypatch):
    """A clear sentence, nothing spent; whom the owner knows is let in as before."""
    service = served_for(running, hub_server)
    ada = service.session("secret", monkeypatch).open_served("people")
    hub_server.close()
    with pytest.raises(AccessError, match="Hub that identifies you does not answer"):
        released(ada, "0.2")
    owner = service.session(service.token("eve"), monkeypatch).open_served("people")
    released(owner, "0.5")
    assert float(owner.budget.spent.amount) == 0.5


@pytest.mark.slow
def test_a_token_of_the_owner_is_shown_to_no_hub(running, hub_server, monkeypatch):
    """Nor one that looks like it."""
    service = served_for(running, hub_server)
    service.session(service.token("eve"), monkeypatch).open_served("people")
    with pytest.raises(AccessError, match="unknown, expired or revoked"):
        service.session(f"{OURS}{'x' * 43}", monkeypatch)
    assert hub_server.asked == 0


def test_a_kernel_of_a_hub_shows_its_token_to_the_named_service_alone(monkeypatch):
    """Not to a neighbour on the same host, nor where no service is named; a token given for it goes first."""
    monkeypatch.delenv("DPNB_TOKEN", raising=False)
    monkeypatch.delenv("DPNB_SERVICE", raising=False)
    monkeypatch.setenv("JUPYTERHUB_API_TOKEN", "secret")
    named, beside = (Service("https", "hub.example", None, f"/services/{name}") for name in ("dpnb", "other"))
    assert named._token() == ""
    monkeypatch.setenv("DPNB_SERVICE", named.url)
    assert (named._token(), beside._token()) == ("secret", "")
    monkeypatch.setenv("DPNB_TOKEN", "given")
    assert named._token() == "given"


def test_a_file_names_its_hub(running):
    """An unknown key is refused with its place."""
    service = running(begin=False)
    with (service.folder / "curator.toml").open("a") as file:
        file.write('\n[hub]\naddress = "http://127.0.0.1:8081"\n')
    with pytest.raises(OwnerError, match=r"\[hub\]: unknown key address"):
        read_settings(service.folder / "curator.toml")


# groups ------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_cap_of_a_group_holds_for_the_members_that_the_hub_names(running, hub_server, monkeypatch):
    """Ada and Ben are of one class by the Hub's word, and stop together."""
    hub_server.tokens["secret"] = model(groups=["class-1", "staff"])
    hub_server.tokens["other"] = model("ben", groups=["class-1"])
    service = served_for(running, hub_server, each="groups = { class-1 = { epsilon = 0.5 } }")
    sessions = [service.session(text, monkeypatch) for text in ("secret", "other")]
    ada, ben = (session.open_served("people") for session in sessions)
    assert any("in the group class-1" in note for note in ada.notes)
    sessions[0].release([ada.count()], Ask.make(epsilon="0.3"))
    with pytest.raises(BudgetError, match=r"0\.2 is left of what its owner lets the group class-1 spend"):
        sessions[1].release([ben.count()], Ask.make(epsilon="0.3"))


@pytest.mark.slow
def test_where_the_hub_names_no_groups_a_cap_of_one_lets_nobody_through(running, hub_server, monkeypatch):
    """A cap that cannot be looked at is no cap: refused, with what the Hub has to allow."""
    silent = model()
    del silent["groups"]
    hub_server.tokens["secret"] = silent
    service = served_for(running, hub_server, each="groups = { class-1 = { epsilon = 0.5 } }")
    with pytest.raises(AccessError, match="read:users:groups!user"):
        service.session("secret", monkeypatch).open_served("people")
    plain = served_for(running, hub_server).session("secret", monkeypatch)
    assert plain.open_served("people").mode == "enforced"

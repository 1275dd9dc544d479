"""Who may do which act of an owner: every cell of the table in ``docs/owner.md``, on an owner's own home and on a service that runs.

Another user of the machine tries every act as an analyst, an instructor and an auditor, with that role's token and whatever of the files can
be read; the owner then does them all. What is refused exits with 2, says so in words, and leaves the ledger as it was.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import trustme

from dpnb.owner.signed_records import examined
from dpnb.trusted.wire.filelock import FileLock
from dpnb.trusted.wire.places import Home
from tests.owner.conftest import write_people
from tests.serving.conftest import CONFIG, ROOT, Running

ROLES = {"analyst": "release", "instructor": "instruct", "auditor": "audit"}
WHERE = ("laptop", "service")
WHY = ("--reason", "a reason")
STATISTICS = '[statistics]\nmean_age = "people.age.mean()"\n'
PAGE = Path(__file__).parents[2] / "docs" / "owner.md"
SOMEBODY = 54321
_ACTS = (
    *("add", "check", "schema", "budget", "loosen", "cap", "grant", "freeze", "unfreeze", "release"),
    *("publish", "receipt", "close", "verify the ledger", "verify a published file", "backup", "restore"),
    "token",
)

pytestmark = pytest.mark.skipif(
    os.name == "nt" or os.geteuid() != 0, reason="only root can act as somebody else"
)


@dataclass
class Place:
    """A home with a dataset of an owner's, a laptop's or a service's, and what came of every act there."""

    where: str
    folder: Path
    open_to_all: Path
    users: Users
    running: Running | None = None
    came: dict[str, dict[str, tuple[int, str]]] = field(default_factory=dict)
    untouched: dict[str, bool] = field(default_factory=dict)

    @property
    def home(self):
        """Where the ledger is."""
        return Home(self.folder / "home")

    def entries(self):
        """What the whole ledger is."""
        return examined(self.home.ledger)[0] if self.home.ledger.exists() else None

    def words(self, act, role):
        """The words of an act, as a role would type them."""
        declaration = str(self.folder / "people.dpnb.toml")
        home = ("--config", str(self.folder / "curator.toml")) if self.running else ()
        asked = ("--statistics", str(self.open_to_all / "picked.toml"), "--epsilon", "0.5")
        source = f"{self.running.url}people" if self.running else declaration
        out = self.folder if role == "owner" else self.open_to_all
        return {
            "add": ("add", declaration, *home),
            "check": ("check", declaration, "--not-private"),
            "schema": ("schema", declaration),
            "budget": ("budget", "people", *home),
            "loosen": ("loosen", str(self.folder / "loose.dpnb.toml"), *WHY, "--yes", *home),
            "cap": ("cap", "people", "--epsilon", "3", *WHY, *home),
            "grant": ("grant", "people", "--principal", "x", "--lift", *WHY, *home),
            "freeze": ("freeze", "people", *WHY, *home),
            "unfreeze": ("unfreeze", "people", *WHY, "--yes", *home),
            "release": ("release", source, *asked, "--yes"),
            "publish": ("publish", source, *asked, "--to", str(out / "out"), *WHY, "--yes", *home),
            "receipt": ("receipt", "ENTRY", "--to", str(out / f"{role}.receipt.json"), *home),
            "close": ("close", "people", *WHY, "--yes", *home),
            "verify the ledger": ("verify", *home),
            "verify a published file": (
                *("verify", str(self.open_to_all / "people.releases.json")),
                *("--key", str(self.open_to_all / "people.pub")),
            ),
            "backup": ("backup", str(out / f"{role}-backup"), *home),
            "restore": ("restore", *WHY, "--yes", *home),
            "token": ("token", "issue", "--principal", "x", "--config", str(self.folder / "curator.toml")),
        }[act]

    def does(self, role, acts, user=None):
        """Let a user of the machine do acts, one after another in one process of theirs; keep status and words of each."""
        scope = "release" if role == "owner" else ROLES[role]
        named = f"{role}@here"
        token = self.running.tokens.issue(named, (scope,), 1)[0] if self.running else ""
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("DPNB_")},
            "DPNB_HOME": str(self.home.root),
            "DPNB_TOKEN": token,
            "PYTHONPATH": str(ROOT),
            "DPNB_CA": str(self.open_to_all / "ca.pem"),
        }
        words = [self.words(act, role) for act in acts]
        before = self.entries()
        told = self.users.do([words, user or 0, environment, str(self.open_to_all)])
        self.came.setdefault(role, {}).update(zip(acts, map(tuple, told), strict=True))
        self.untouched[role] = self.entries() == before


# everything is loaded once, before the user changes, who may read neither this environment nor this checkout; each turn is a process
PROGRAM = """
import contextlib, io, json, os, sys
import cryptography.hazmat.primitives.asymmetric.ed25519, cryptography.hazmat.primitives.serialization
import duckdb, encodings.ascii, encodings.idna, numpy, scipy.stats, ssl
import dpnb.__main__, dpnb.client.opening, dpnb.client.publication, dpnb.client.service, dpnb.cards.report
import dpnb.cards.attach, dpnb.owner.signed_records, dpnb.trusted.owner.loosened_terms, dpnb.trusted.owner.owner_acts
import dpnb.trusted.owner.restoration, dpnb.trusted.serving.serve, dpnb.planner.price
import dpnb.statistics, dpnb.notebook

def act(words, user, environment, folder):
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    if user:
        os.setgroups([]); os.setgid(user); os.setuid(user)
    came, entry = [], 0
    for said in words:
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                status = dpnb.__main__.main(["admin", *(str(entry) if word == "ENTRY" else word for word in said)])
            except SystemExit as ended:
                status = ended.code
        if said[0] == "release" and not status and not user:
            from dpnb.trusted.curator.ledger import Ledger
            from pathlib import Path
            with Ledger(Path(os.environ["DPNB_HOME"]) / "ledger.sqlite3") as ledger:
                entry = [row.entry for row in ledger.statement() if row.kind == "charge"][-1]
        came.append([status, out.getvalue()])
    return came

for line in sys.stdin:
    child = os.fork()
    if not child:
        try:
            print(json.dumps(act(*json.loads(line))), flush=True)
        finally:
            os._exit(0)
    os.waitpid(child, 0)
    print("done", flush=True)
"""


class Users:
    """Whoever acts: a process that loaded dpnb and forks one for each turn of somebody."""

    def __init__(self):
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            text=True,
        )

    def do(self, job):
        """Do one turn; return the status and the words of each act."""
        self.process.stdin.write(json.dumps(job) + "\n")
        self.process.stdin.flush()
        told = self.process.stdout.readline()
        assert self.process.stdout.readline() == "done\n", told
        return json.loads(told)


@pytest.fixture(scope="module")
def users():
    """One of them for all homes."""
    found = Users()
    yield found
    found.process.stdin.close()
    found.process.wait(30)
    found.process.stdout.close()


def made(where, folder, open_to_all, users):
    """Make a home of one kind, with everything that any act needs."""
    place = Place(where, folder, open_to_all, users)
    write_people(folder)
    text = (folder / "people.dpnb.toml").read_text()
    (folder / "loose.dpnb.toml").write_text(text.replace("epsilon = 4", "epsilon = 5"))
    (open_to_all / "picked.toml").write_text(STATISTICS)
    if where == "service":
        authority = trustme.CA()
        host = authority.issue_cert("localhost", "127.0.0.1")
        authority.cert_pem.write_to_path(folder / "ca.pem")
        shutil.copy(folder / "ca.pem", open_to_all / "ca.pem")
        host.private_key_pem.write_to_path(folder / "host.key")
        host.cert_chain_pems[0].write_to_path(folder / "host.pem")
        (folder / "curator.toml").write_text(CONFIG.format(port=0, each="", more=""))
        place.running = Running(folder).start()
    return place


@pytest.fixture(scope="module", params=WHERE)
def place(request, tmp_path_factory, users):
    """A home after every role has tried every act, the owner last."""
    with tempfile.TemporaryDirectory() as shared:
        open_to_all = Path(shared)
        open_to_all.chmod(0o777)
        found = made(request.param, tmp_path_factory.mktemp(request.param), open_to_all, users)
        try:
            _all_roles(found)
            yield found
        finally:
            if found.running is not None and found.running.process.poll() is None:
                found.running.kill(signal.SIGTERM)


def _all_roles(place):
    """The owner releases and publishes first, so that others have something to verify; others try; the owner does the rest.

    Looser terms close a dataset of a service until it is started anew, and a restore waits for its end: both come last.
    """
    last = ("restore", "token", "loosen")
    end = _ACTS.index("close")
    place.does("owner", [act for act in _ACTS[:end] if act not in last])
    for name in ("people.releases.json", "people.pub"):
        shutil.copy(place.folder / "out" / name, place.open_to_all / name)
    for role in ROLES:
        place.does(role, _ACTS, SOMEBODY)
    place.does("owner", [act for act in _ACTS[end:] if act not in last])
    if place.running is not None:
        place.running.kill(signal.SIGTERM)
    _until_its_curator_ended(place.home)
    place.does("owner", last)


def _until_its_curator_ended(home):
    """What nobody uses any more ends by itself, soon."""
    lock, patience = FileLock(home.lock), time.monotonic() + 30
    while not lock.acquire():
        assert time.monotonic() < patience
        time.sleep(0.05)
    lock.free()


def table():
    """The cells of the page: by act and role."""
    head = "| at a terminal | owner | analyst | instructor | auditor |"
    text = PAGE.read_text().split(head)[1].split("\n\n")[0]
    rows = [line.strip("| ").split("|") for line in text.splitlines() if line.startswith("| ")]
    roles = ("owner", *ROLES)
    return {
        act: dict(zip(roles, map(str.strip, cells[1:]), strict=True))
        for cells in rows
        for act in cells[0].strip().split(", ")
    }


def allowed(cell, where):
    """Whether a cell lets its act happen on a laptop or a service."""
    assert cell in {"yes", "no", "of a service", "of a service, as themselves"}
    return cell == "yes" or (cell != "no" and where == "service")


@pytest.mark.parametrize("act", _ACTS)
@pytest.mark.parametrize("role", ["owner", *ROLES])
def test_each_cell_of_the_owners_table(place, role, act):
    status, said = place.came[role][act]
    assert (status == 0) == allowed(table()[act][role], place.where), said
    if status:
        assert status == 2, said
        assert said.startswith("dpnb: ")
        assert "Traceback" not in said


def test_the_table_has_every_act():
    assert sorted(table()) == sorted(_ACTS)


@pytest.mark.parametrize("role", ROLES)
def test_what_was_refused_left_the_ledger_as_it_was(place, role):
    """What is answered is free, as it was published; so nobody but the owner made an entry."""
    assert place.untouched[role]

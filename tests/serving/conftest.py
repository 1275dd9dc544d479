"""A service as its owner starts it: another process, TLS, tokens; and the same questions over every way to a curator."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
import trustme

from dpnb.client.service import served
from dpnb.client.session import Session
from dpnb.trusted.owner.issued_tokens import tokens_of
from dpnb.trusted.serving.settings import read_settings

ROOT = Path(__file__).resolve().parents[2]
SCHEMA = """[dataset]
name = "people"
source = "people.csv"
adjacency = "add-remove"
[budget]
epsilon = 3
[columns.age]
type = "integer"
lower = 0
upper = 100
[columns.g]
type = "category"
values = ["a", "b"]
"""
CONFIG = """[service]
home = "home"
listen = "127.0.0.1:{port}"
certificate = "host.pem"
key = "host.key"
bucket = 0
{more}
[datasets.people]
schema = "people.dpnb.toml"
{each}
"""


def write_people(folder, rows=3000):
    """An owner's file and its schema."""
    rng = np.random.default_rng(4)
    lines = [
        f"{age},{'ab'[g]}"
        for age, g in zip(rng.integers(0, 101, rows), rng.integers(0, 2, rows), strict=True)
    ]
    (folder / "people.csv").write_text("\n".join(["age,g", *lines]))
    (folder / "people.dpnb.toml").write_text(SCHEMA)


@dataclass
class Running:
    """A service that runs, and its owner's hands."""

    folder: Path
    process: subprocess.Popen = None
    url: str = ""
    program: tuple[str, ...] = ("-m", "dpnb")
    sessions: list[Session] = field(default_factory=list)

    @property
    def tokens(self):
        """The tokens of its home."""
        return tokens_of(read_settings(self.folder / "curator.toml").home)

    def start(self):
        """Start it, and wait until it listens."""
        self.process = subprocess.Popen(
            [sys.executable, *self.program, "serve", "--config", str(self.folder / "curator.toml")],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        said = self.process.stdout.readline()
        if not said:
            raise RuntimeError(self.process.communicate()[1].decode())
        self.url = json.loads(said)["url"]
        return self

    def kill(self, how=signal.SIGKILL):
        """End it, and return what it said of faults."""
        self.process.send_signal(how)
        return self.process.communicate(timeout=30)[1].decode()

    def token(self, principal, *scopes, datasets=(), groups=(), epsilon=None):
        """Issue a token."""
        return self.tokens.issue(principal, scopes or ("release",), 1, datasets, groups, epsilon)[0]

    def session(self, token, monkeypatch):
        """A kernel's session with this token."""
        monkeypatch.setenv("DPNB_CA", str(self.folder / "ca.pem"))
        monkeypatch.setenv("DPNB_TOKEN", token)
        service, _ = served(f"{self.url}any")
        made = Session(service.connect, service=service)
        made.line._hold(made.line.connect())
        self.sessions.append(made)
        return made


@pytest.fixture
def running(tmp_path):
    """Start services in folders of their own."""
    made = []

    def start(*, each="each = { epsilon = 1 }", more="", port=0, begin=True):
        folder = tmp_path / f"service-{len(made)}"
        folder.mkdir()
        authority = trustme.CA()
        host = authority.issue_cert("localhost", "127.0.0.1")
        authority.cert_pem.write_to_path(folder / "ca.pem")
        host.private_key_pem.write_to_path(folder / "host.key")
        host.cert_chain_pems[0].write_to_path(folder / "host.pem")
        write_people(folder)
        (folder / "curator.toml").write_text(CONFIG.format(port=port, each=each, more=more))
        made.append(Running(folder))
        return made[-1].start() if begin else made[-1]

    yield start
    for one in made:
        for session in one.sessions:
            with contextlib.suppress(Exception):
                session.close()
        if one.process is not None and one.process.poll() is None:
            one.kill(signal.SIGTERM)

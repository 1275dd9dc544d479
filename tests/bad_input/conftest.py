"""A curator with the real engine in this process, and files as an owner may bring them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import dpnb
from dpnb.client import sessions
from dpnb.client.session import Session
from dpnb.client.transport import InMemory
from dpnb.trusted.curator.config import Config
from dpnb.trusted.curator.service import Curator
from dpnb.trusted.wire.places import Home

HEAD = """
[dataset]
name = "{name}"
{size}
[budget]
{budget}
[columns.x]
type = "integer"
lower = 0
upper = 10
[columns.y]
type = "category"
values = [0, 1]
"""
MORE = """
[columns.z]
type = "number"
lower = 0
upper = 1
[columns.g]
type = "category"
values = ["a", "b", "c"]
[columns.big]
type = "integer"
lower = 0
upper = 1000000
"""
PRIVATE, PUBLIC = 'adjacency = "add-remove"', 'adjacency = "change-one"\nrows = 60'
SECRET = "7731"
"""The value of one row: no message may show it."""


class OwnersFolder:
    """An owner's folder, and a session whose curator is in this process."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder, self.home, self.count = folder, home, 0
        self.start()

    def start(self) -> None:
        self.service = Curator.opened(Config(Home(self.home)))
        self.session = Session(lambda: InMemory(lambda body: self.service.answer(body, "ann")))

    def open(self, content, suffix=".csv", *, size=PRIVATE, budget="epsilon = 10", schema=HEAD, name=None):
        """Write a file with its schema beside it, and open it."""
        self.count += 1
        name = name or f"t{self.count}"
        file = self.folder / f"{name}{suffix}"
        if content is not None:
            file.write_bytes(content.encode() if isinstance(content, str) else content)
        (self.folder / f"{name}.dpnb.toml").write_text(schema.format(name=name, size=size, budget=budget))
        return dpnb.open(str(file), quiet=True)

    def declaration(self):
        """Write a declaration for a frame; return its path."""
        path = self.folder / "f.dpnb.toml"
        path.write_text(HEAD.format(name="f", size=PRIVATE, budget="epsilon = 10"))
        return str(path)

    def people(self, **more):
        """Sixty ordinary rows; one x is SECRET, far outside its bounds."""
        rng = np.random.default_rng(3)
        rows = [
            f"{rng.integers(0, 11)},{rng.integers(0, 2)},{rng.random():.3f},{rng.choice(['a', 'b', 'c'])},{rng.integers(0, 10**6)}"
            for _ in range(59)
        ]
        content = "\n".join(["x,y,z,g,big", *rows, f"{SECRET},1,0.5,a,7"])
        return self.open(content, **{"size": PUBLIC, "schema": HEAD + MORE, "name": "p", **more})


@pytest.fixture
def desk(tmp_path, dpnb_home, monkeypatch):
    made = OwnersFolder(tmp_path, Path(dpnb_home))
    monkeypatch.setattr(sessions, "plain", lambda: made.session)
    yield made
    made.service.close()


def short(error: BaseException, most: int = 240) -> str:
    """The message, which is one short line without data; a cell to paste may stand below it, set in."""
    text = str(error)
    assert text
    assert len(text) <= most, text
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("    ")]
    assert len(lines) == 1 + ("This cell releases it:" in text), text
    assert SECRET not in text
    return text

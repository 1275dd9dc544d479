"""The linters, the type checker and the walls between rooms are test cases: one command shows everything."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.repo

ROOT = Path(__file__).parents[2]
BIN = Path(sys.executable).parent
OTHERS = ("win32", "darwin")


def run(*command: str | Path, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Run a tool of this environment."""
    program = BIN / command[0]
    return subprocess.run([program, *command[1:]], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("ruff", "check", "--no-cache", "."), id="ruff-check"),
        pytest.param(("ruff", "format", "--no-cache", "--check", "."), id="ruff-format"),
        pytest.param(("codespell",), id="spelling"),
        pytest.param(("mypy",), id="mypy"),
        *(
            # the whole of it is another minute of processor each; the test below finds what a platform changes
            pytest.param(
                ("mypy", "--platform", other, "--cache-dir", f".mypy_cache/{other}"),
                marks=pytest.mark.soak,
                id=f"mypy-{other}",
            )
            for other in OTHERS
        ),
        pytest.param(("lint-imports", "--no-logo"), id="import-walls"),
    ],
)
def test_tool_has_nothing_to_say(command):
    """The tool accepts the whole repository as pyproject.toml configures it."""
    done = run(*command)
    assert done.returncode == 0, done.stdout + done.stderr


def complaints(platform: str, cache: Path, *files: str | Path) -> set[str]:
    """Return what the type checker says of each file alone, its imports from the project unread, on a platform."""
    done = run(
        *("mypy", "--platform", platform, "--cache-dir", cache / platform, "--follow-imports=skip"),
        *("--no-error-summary", *files),
    )
    return set(done.stdout.splitlines())


def test_no_file_asks_for_what_another_platform_lacks(tmp_path):
    """Read alone, each file is understood on Windows and macOS as it is on Linux; a file that asks for a user's number is not."""
    planted = tmp_path / "planted.py"
    planted.write_text("import os\n\nos.getuid()\nos.O_DIRECT\n")
    told = {name: complaints(name, tmp_path, "dpnb", planted) for name in ("linux", *OTHERS)}
    more = {other: sorted(told[other] - told["linux"]) for other in OTHERS}
    assert {other: [said.split(" error: ")[0] for said in lines] for other, lines in more.items()} == {
        "win32": [f"{planted}:3:", f"{planted}:4:"],
        "darwin": [f"{planted}:4:"],
    }, more


PLANTED = [
    pytest.param("trusted/privacy/sneaky.py", "import dpnb.planner.price", id="privacy-imports-plan"),
    pytest.param("trusted/curator/sneaky.py", "import dpnb.audit", id="curator-imports-audit"),
    pytest.param("trusted/curator/sneaky.py", "import dpnb.exhibits", id="curator-imports-exhibits"),
    pytest.param("trusted/curator/sneaky.py", "import dpnb.statistics", id="curator-imports-statistics"),
    pytest.param("trusted/curator/sneaky.py", "import dpnb.inference", id="curator-imports-inference"),
    pytest.param("trusted/curator/sneaky.py", "import dpnb.datasets", id="curator-imports-studies"),
    pytest.param("trusted/aggregate/sneaky.py", "import dpnb.errors", id="the-wing-imports-a-public-name"),
    pytest.param("trusted/noise/sneaky.py", "import scipy.stats", id="the-wing-imports-scipy"),
    pytest.param("trusted/releases/sneaky.py", "import dpnb.trusted.wire", id="releases-import-upwards"),
    pytest.param(
        "trusted/mechanisms/sneaky.py", "import dpnb.trusted.noise.secure", id="mechanism-imports-secure-bits"
    ),
    pytest.param("trusted/utils.py", "import numpy", id="a-utils-room-in-the-wing"),
    pytest.param("statistics/sneaky.py", "import duckdb", id="statistics-imports-duckdb"),
    pytest.param("client/sneaky.py", "import sqlite3", id="client-imports-sqlite3"),
    pytest.param("client/sneaky.py", "import dpnb.trusted.curator.service", id="client-imports-curator"),
    pytest.param("client/sneaky.py", "import dpnb.trusted.owner.restoration", id="client-acts-as-owner"),
    pytest.param(
        "trusted/curator/sneaky.py", "import dpnb.trusted.owner.owner_acts", id="curator-imports-owner"
    ),
    pytest.param("planner/sneaky.py", "import dpnb.trusted.wire.messages", id="planner-imports-wire"),
    pytest.param("notebook/sneaky.py", "import dpnb.trusted.noise.secure", id="notebook-imports-secure-bits"),
    pytest.param("planner/sneaky.py", "import IPython", id="planner-imports-ipython"),
    pytest.param("cards/sneaky.py", "import traitlets", id="cards-import-traitlets"),
    pytest.param("statistics/sneaky.py", "import dpnb.exhibits", id="statistics-import-exhibits"),
    pytest.param("exhibits/sneaky.py", "import dpnb.client", id="exhibits-import-handles"),
    pytest.param("utils.py", "import dpnb.errors", id="a-utils-room"),
]

IMPORTS = [one.values for one in PLANTED if "sneaky" in one.values[0]]


@pytest.fixture(scope="module")
def copy(tmp_path_factory):
    """Give a copy of the package in which violations can be planted."""
    root = tmp_path_factory.mktemp("walls")
    shutil.copytree(ROOT / "dpnb", root / "dpnb", ignore=shutil.ignore_patterns("__pycache__", "static"))
    shutil.copy(ROOT / "pyproject.toml", root)
    return root


def planted(copy, lines):
    """Say what the walls say while these modules hold these lines."""
    for place, line in lines.items():
        (copy / "dpnb" / place).write_text(f'"""Planted."""\n\n{line}\n')
    try:
        return run("lint-imports", "--no-logo", "--no-cache", cwd=copy)
    finally:
        for place in lines:
            (copy / "dpnb" / place).unlink()


@pytest.fixture(scope="module")
def chains(copy):
    """What the walls say of all planted imports at once, each in a module of its own: whatever is told names that module."""
    named = {place.replace("sneaky", f"sneaky_{n}"): line for n, (place, line) in enumerate(IMPORTS)}
    return planted(copy, named).stdout


@pytest.mark.parametrize(("place", "line"), PLANTED)
def test_planted_violation_breaks_a_wall(copy, chains, place, line):
    """The import contracts are strict enough to catch each kind of forbidden import, and each room that has no place."""
    if (place, line) in IMPORTS:
        module = f"dpnb.{place[:-3].replace('/', '.')}_{IMPORTS.index((place, line))}"
        name = line.removeprefix("import ")
        imported = (
            name if name.startswith("dpnb.") else name.split(".")[0]
        )  # of others the package alone is known
        assert re.search(rf"{re.escape(module)} -> {re.escape(imported)}\b", chains), chains
        return
    done = planted(copy, {place: line})
    assert done.returncode != 0, f"{place}: {line} was accepted\n{done.stdout}"
    assert "utils" in done.stdout, done.stdout + done.stderr

"""The front end's own tools are test cases: TypeScript, ESLint, Prettier, vitest, and the lock file."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = pytest.mark.repo

FOLDER = Path(__file__).parents[2] / "labextension"
LOCK = json.loads((FOLDER / "package-lock.json").read_text())


@pytest.fixture(scope="module")
def npm():
    """Return npm. Where continuous integration runs, a missing one is a failure, not a skip."""
    found = shutil.which("npm")
    if found is None or not (FOLDER / "node_modules").is_dir():
        say = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        say("no Node.js, or its packages are not installed: npm ci in labextension/")
    return found


@pytest.mark.parametrize("script", ["types", "lint", "format", "test"])
def test_tool_has_nothing_to_say(npm, script):
    """tsc, eslint, prettier and vitest accept the whole front end."""
    command = [npm, "run", "-s", script]
    done = subprocess.run(command, cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(not (FOLDER / "dist/dpnb/static").is_dir(), reason="the front end is not built")
def test_bundles_are_small():
    """JupyterLab starts with less than 100 kB; a kind of live card, loaded with its first one, and an interaction bring a third."""
    sizes = {path.name: path.stat().st_size for path in (FOLDER / "dist/dpnb/static").glob("*.js")}
    cards = {name: size for name, size in sizes.items() if name.startswith("card-")}
    assert len(cards) == 3
    assert sum(sizes.values()) - sum(cards.values()) < 100_000
    widgets = {path.name: path.stat().st_size for path in (FOLDER.parent / "dpnb/widgets/static").iterdir()}
    assert not {name: size for name, size in (cards | widgets).items() if size > 40_000}


def test_lock_file_names_no_download_host():
    """Where packages come from is each machine's own configuration."""
    assert not [name for name, entry in LOCK["packages"].items() if "resolved" in entry]


def test_every_locked_package_is_pinned_by_its_digest():
    """What is installed is what was tested: each package has an integrity digest."""
    assert not [name for name, entry in LOCK["packages"].items() if name and "integrity" not in entry]


def test_built_files_are_not_committed():
    """Hashed bundles would change with every build."""
    command = ["git", "ls-files", "labextension/lib", "labextension/dist", "dpnb/widgets/static"]
    done = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True, check=False)
    assert not done.stdout

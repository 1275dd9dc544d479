"""What `pip install` brings."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.repo

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """Build the wheel and list its files."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return set(zipfile.ZipFile(wheel).namelist())


def test_wheel_holds_every_module_and_the_type_marker(names):
    """Nothing that the package imports is left behind, and its types are visible to users."""
    modules = {str(path.relative_to(ROOT)) for path in (ROOT / "dpnb").rglob("*.py")}
    assert modules | {"dpnb/py.typed"} <= names


def test_wheel_holds_nothing_but_the_package(names):
    """Tests, notebooks and the front end's sources stay out of the wheel."""
    assert {name.split("/")[0] for name in names} == {"dpnb", "dpnb-0.1.0.dist-info"}


def test_wheel_brings_the_command_and_the_licence(names):
    """The `dpnb` command and the licence text are in the metadata."""
    assert {"dpnb-0.1.0.dist-info/entry_points.txt", "dpnb-0.1.0.dist-info/licenses/LICENSE"} <= names

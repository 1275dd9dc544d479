"""The units that a class copies are well formed, and a curator's may do little."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from dpnb.owner.service_folder import unit_text
from tests.serving.conftest import ROOT

UNITS = sorted((ROOT / "notebooks" / "deploy").rglob("*.service"))
CURATOR = ROOT / "notebooks" / "deploy" / "class" / "dpnb-curator.service"

linted = pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd-analyze")


def analyze(*words):
    """Run systemd's linter; return its status and what it says."""
    done = subprocess.run(["systemd-analyze", *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_unit_of_a_class_is_the_one_that_is_written_for_others():
    """One unit, two places."""
    program = {"user": "dpnb", "folder": "/var/lib/dpnb", "program": "/opt/class/bin/dpnb", "home": "yes"}
    assert CURATOR.read_text() == unit_text().format(what="dpnb: protected datasets of the class", **program)


@linted
@pytest.mark.parametrize("unit", UNITS, ids=lambda unit: unit.name)
def test_a_unit_is_well_formed(unit, tmp_path):
    """Nothing unknown, nothing misspelt; the programs that it starts are those of another machine."""
    here = tmp_path / unit.name
    here.write_text(re.sub(r"^(Exec\w+=)\S+", r"\1/bin/true", unit.read_text(), flags=re.MULTILINE))
    assert analyze("verify", "--man=no", str(here)) == (0, "")


@linted
def test_a_curators_unit_is_confined():
    """Exposure of 3 at most, of 10; and a bound of memory. Seen: 8.5, and none."""
    status, said = analyze("security", "--offline=true", "--threshold=30", str(CURATOR))
    assert status == 0, said.splitlines()[-1]
    assert re.search(r"^MemoryMax=\d", CURATOR.read_text(), re.MULTILINE)

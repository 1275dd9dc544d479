"""The steps behind the Makefile: which Python is used, and when nothing is installed again."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.repo

ROOT = Path(__file__).parents[2]
VERSION = "{}.{}".format(*sys.version_info[:2])


@pytest.fixture
def steps(tmp_path, monkeypatch):
    """Load the script as a module that works in a folder of its own."""
    spec = importlib.util.spec_from_file_location("steps", ROOT / ".ci" / "steps.py")
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "steps", module)
    spec.loader.exec_module(module)
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(module, "ROOT", tmp_path)
    return module


def script(path: Path, text: str) -> str:
    """Write an executable shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_shim_that_finds_no_python_is_left_out(steps, tmp_path):
    """A version manager's shim is on PATH and executable, and yet it is not an interpreter."""
    shim = script(tmp_path / f"python{VERSION}", "echo 'command not found' >&2; exit 127")
    assert not steps.answers(shim, VERSION)
    assert not steps.answers(script(tmp_path / "other", "echo 3.8"), VERSION)
    assert steps.answers(sys.executable, VERSION)


def test_the_first_working_candidate_is_taken(steps, tmp_path, monkeypatch):
    """A broken shim early on PATH does not hide a working interpreter behind it."""
    shim = script(tmp_path / f"python{VERSION}", "exit 127")
    monkeypatch.setattr(steps, "VERSIONS", (VERSION,))
    monkeypatch.setattr(steps, "candidates", lambda _version: iter([shim, sys.executable]))
    assert steps.interpreters() == [steps.Python(VERSION, sys.executable)]


def test_no_working_python_names_the_ways_out(steps, monkeypatch):
    """Without a usable Python the message says what to install or to type."""
    monkeypatch.setattr(steps, "candidates", lambda _version: iter(()))
    with pytest.raises(steps.Failure, match=r"apt-get install python3 python3-venv.*make PYTHON="):
        steps.first_interpreter()


@pytest.fixture
def pip_runs(steps, monkeypatch):
    """Count installations instead of doing them."""
    runs = []

    def run(command, **_options):
        runs.append(command[-1])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(steps.subprocess, "run", run)
    return runs


def test_a_second_run_installs_nothing(steps, tmp_path, pip_runs):
    """The stamp remembers what was installed for these very files; a larger extra serves the smaller."""
    steps.install(tmp_path, "test")
    steps.install(tmp_path, "test")
    steps.install(tmp_path, "demo")
    assert pip_runs == [".[test]"]


def test_changed_constraints_install_again(steps, tmp_path, pip_runs):
    """The stamp's key is a digest of pyproject.toml and constraints.txt."""
    steps.install(tmp_path, "demo")
    (tmp_path / "constraints.txt").write_text("numpy==9")
    steps.install(tmp_path, "demo")
    assert pip_runs == [".[demo]", ".[demo]"]
    assert json.loads((tmp_path / steps.STAMP).read_text())["key"] == steps.environment_key()


def test_a_failed_install_names_the_step_and_leaves_no_stamp(steps, tmp_path, monkeypatch, capsys):
    """When the network is lost, the step is named with its seconds, and the next run tries again."""
    failed = subprocess.CompletedProcess([], 1)
    monkeypatch.setattr(steps.subprocess, "run", lambda *_command, **_options: failed)
    with pytest.raises(steps.Failure, match="network"):
        steps.install(tmp_path, "demo")
    assert "FAILED after" in capsys.readouterr().out
    assert steps.read_stamp(tmp_path) == {}


def test_somebody_elses_broken_environment_is_not_removed(steps, tmp_path):
    """Only an environment with our stamp is ever rebuilt; another one is left, with what to type."""
    theirs = tmp_path / ".venv"
    (theirs / "precious").mkdir(parents=True)
    with pytest.raises(steps.Failure, match=r"mv \.venv \.venv\.old"):
        steps.make_environment(theirs, steps.Python(VERSION, sys.executable))
    assert (theirs / "precious").is_dir()


@pytest.mark.parametrize(
    ("version", "enough"),
    [
        ("v18.19.0", False),
        ("v20.18.9", False),
        ("v20.19.0", True),
        ("v21.7.0", False),
        ("v22.11.0", False),
        ("v22.12.0", True),
        ("v24.1.0", True),
        ("what", False),
    ],
)
def test_a_node_that_is_too_old_is_none(steps, tmp_path, monkeypatch, version, enough):
    """The bundler needs ^20.19 or 22.12 and newer; an older Node.js counts as none."""
    script(tmp_path / "node", f"echo {version}")
    script(tmp_path / "npm", "exit 0")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert (steps.find_npm() is not None) is enough


def test_without_node_the_front_end_is_left_out_and_in_ci_it_is_a_failure(steps, monkeypatch, capsys):
    """On a person's machine a missing Node.js is one line; where continuous integration runs it stops the run."""
    monkeypatch.setattr(steps, "find_npm", lambda: None)
    monkeypatch.delenv("CI", raising=False)
    assert steps.front_end() is False
    assert "No Node.js" in capsys.readouterr().out
    monkeypatch.setenv("CI", "true")
    with pytest.raises(steps.Failure, match=r"Node\.js 20\.19"):
        steps.front_end()


def test_the_front_end_s_tools_are_installed_once(steps, tmp_path, monkeypatch):
    """Npm ci runs for a lock file that it has not seen; the build runs each time."""
    runs = []
    (tmp_path / "labextension" / "node_modules").mkdir(parents=True)
    lock = tmp_path / "labextension" / "package-lock.json"
    lock.write_text("{}")
    monkeypatch.setattr(steps, "find_npm", lambda: "npm")
    monkeypatch.setattr(steps, "npm", lambda *words: runs.append(words[0]))
    steps.front_end()
    steps.front_end()
    lock.write_text("{ }")
    steps.front_end()
    assert runs == ["ci", "run", "run", "ci", "run"]


def test_editable_installs_never_build_the_front_end(steps, tmp_path, monkeypatch):
    """`make demo` needs no Node.js: pip is told to do without the front end."""
    seen = []
    monkeypatch.setattr(
        steps.subprocess,
        "run",
        lambda command, **given: (
            seen.append(given["env"]["DPNB_FRONTEND"]) or subprocess.CompletedProcess(command, 0)
        ),
    )
    steps.install(tmp_path, "demo")
    assert seen == ["none"]


def test_continuous_integration_is_make_test():
    """.ci/run calls `make test` and gives its exit status."""
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert lines[-1] == "exec make test"

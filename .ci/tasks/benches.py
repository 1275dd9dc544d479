"""dpnb beside other libraries."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import subprocess

from tasks import project
from tasks.environments import (
    STAMP,
    environment_key,
    interpreter_of,
    make_environment,
    read_stamp,
    ready,
)
from tasks.interpreters import Python, first_interpreter
from tasks.project import Failure, step


def install_library(name: str, needs: list[str], python: Python) -> bool:
    """Put a library that dpnb is compared with into an environment of its own; say so where that cannot be done."""
    folder = project.ROOT / (".venv-bench-" + name)
    key = hashlib.sha256(json.dumps([needs, environment_key()]).encode()).hexdigest()
    make_environment(folder, python)
    # dpnb itself is installed anew whenever it is measured: a copy, as its users have it
    if read_stamp(folder).get("key") == key and "." not in needs:
        return True
    with contextlib.suppress(Failure), step("install: {} into {}".format(" ".join(needs), folder.name)):
        command = [
            interpreter_of(folder),
            "-m",
            "pip",
            "install",
            "-qq",
            "--disable-pip-version-check",
            *needs,
        ]
        if "." in needs:
            command += ["--constraint", "constraints.txt"]
        environment = {**os.environ, "DPNB_FRONTEND": "none"}
        if subprocess.run(command, cwd=project.ROOT, env=environment, check=False).returncode:
            raise Failure("pip could not install {}: it is left out of the comparison".format(name))
        (folder / STAMP).write_text(json.dumps({"key": key}))
        return True
    return False


def bench(arguments: list[str]) -> bool:
    """Measure dpnb beside other libraries, each in an environment of its own, and write docs/benchmarks.md: times take 45 minutes, errors hours."""
    python = first_interpreter()
    measurer = ready(".venv", python, "test")
    listed = project.ROOT / "tests" / "benchmarks" / "peers" / "environments.json"
    libraries = json.loads(listed.read_text(encoding="utf-8"))
    if "synthetic" in arguments:  # 8 GB, which nothing else needs
        more = listed.with_name("environments-synthetic.json")
        libraries.update(json.loads(more.read_text(encoding="utf-8")))
    absent = [name for name, needs in libraries.items() if not install_library(name, needs, python)]
    if absent:
        print("-- not installed, and so not compared: " + ", ".join(absent), flush=True)
    command = [measurer, "-m", "peers", *arguments]
    return subprocess.run(command, cwd=listed.parent.parent, check=False).returncode == 0

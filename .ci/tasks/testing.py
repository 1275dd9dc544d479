"""The tests: all of them, the quick ones, and the long ones."""

from __future__ import annotations

import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Callable

from tasks import project
from tasks.chromium import ensure_browser
from tasks.costs import ALONE, BROWSER, LIBRARY, LINTERS, OTHER, SPARK, Run, place_for_files, pytest
from tasks.environments import install_beside, ready
from tasks.frontend import front_end
from tasks.interpreters import VERSIONS, Python, first_interpreter, interpreters
from tasks.java import ensure_java
from tasks.postgres import ensure_server
from tasks.project import step
from tasks.pythons import DIFFERS, QUICK

# neighbours in a file stay in one process, which shares what the file prepares; who is ready first takes from the other
SPREAD = ("-n2", "--dist=worksteal")
# the tests of a file stay together: they share a page of JupyterLab and a budget; the files come in the order that conftest gives
BY_FILE = ("-n2", "--dist=loadfile", "--no-loadscope-reorder")
# the quick tests of what the guarantee rests on
TRUSTED = (
    "tests/privacy",
    "tests/noise",
    "tests/aggregate",
    "tests/mechanisms",
    "tests/wire",
    "tests/test_schema.py",
    "tests/repo/test_guarantee.py",
)
CHECKS = (
    ("ruff", "format", "--check", "."),
    ("ruff", "check", "."),
    ("codespell",),
    ("lint-imports", "--no-logo"),
    ("mypy",),
    *(("mypy", "--platform", other, "--cache-dir", ".mypy_cache/" + other) for other in ("win32", "darwin")),
)


def everything(run: Run, python: str, elsewhere: Callable[[], list[tuple[Python, str]]]) -> None:
    """Run every ordinary test under the lowest Python, and under the others the quick ones of what may differ.

    The library's tests and what runs beside them keep two cores busy: tests of pages, kernels, Spark and tools wait much.
    """
    apart = ["--ignore=tests/" + folder for folder in ("browser", "repo", "spark")]
    with ThreadPoolExecutor(2) as other:
        besides = [
            other.submit(beside_the_library, run, python),
            other.submit(under_other_pythons, run, elsewhere),
        ]
        run.pytest(LIBRARY, python, [*SPREAD, "-m", "not soak and not alone", *apart])
        for one in besides:
            one.result()
    # a figure measured beside another test says nothing
    run.pytest(ALONE, python, ["-m", "alone and not soak", "tests/benchmarks", "tests/browser"], on_disk=True)


def beside_the_library(run: Run, python: str) -> None:
    """Run the tools' tests, Spark's and the browser's, one after the other."""
    # copies of the repository are made of links
    run.pytest(LINTERS, python, [*SPREAD, "-m", "repo and not soak", "tests/repo"], on_disk=True, aside=True)
    # one process: a second Spark takes longer to start than all of these take
    run.pytest(SPARK, python, ["-m", "not soak", "tests/spark"], aside=True)
    browser = [*BY_FILE, "-m", "not soak and not alone", "tests/browser"]
    run.pytest(BROWSER, python, browser, on_disk=True, aside=True)


def under_other_pythons(run: Run, elsewhere: Callable[[], list[tuple[Python, str]]]) -> None:
    """Run what may differ between Pythons, as soon as they are installed: in one process, which collects it once."""
    for one, environment in elsewhere():
        run.pytest(OTHER.format(one.version), environment, ["-m", QUICK, *DIFFERS], aside=True)


def test(arguments: list[str]) -> bool:
    """Run the ordinary tests: everything under the lowest Python, and what may differ under every other one that is installed."""
    first, *others = interpreters() or [first_interpreter()]
    if arguments:
        return pytest(" ".join(arguments), ready(".venv", first, "test"), arguments)
    python = prepared(first)
    with ThreadPoolExecutor(1) as beside:
        elsewhere = beside.submit(
            lambda: [(one, ready(".venv-" + one.version, one, "core-test")) for one in others]
        )
        with tempfile.TemporaryDirectory() as folder, place_for_files() as files:
            run = Run(Path(folder), files)
            try:
                everything(run, python, elsewhere.result)
            finally:
                run.say()
    print("== {}: {}".format("FAILED" if run.failed else "passed", under(first, others)), flush=True)
    return not run.failed


def prepared(first: Python) -> str:
    """Return the environment's Python, with the front end built and every program that tests start."""
    with ThreadPoolExecutor(2) as beside:
        # what needs the network does not wait for what needs a processor
        front, programs = beside.submit(front_end), beside.submit(ensure_programs)
        python = ready(".venv", first, "test")
        install_beside(python)
        front.result()
        programs.result()
    return python


def under(first: Python, others: list[Python]) -> str:
    """Say what ran under which Python, and which supported ones are not installed."""
    tested = [python.version for python in others]
    absent = [version for version in VERSIONS if version not in {first.version, *tested}]
    said = ["everything under Python " + first.version]
    said += ["the quick tests of what may differ under {}".format(" and ".join(tested))] if tested else []
    said += ["not installed: {}".format(" and ".join(absent))] if absent else []
    return "; ".join(said)


def ensure_programs() -> None:
    """Find or install what tests start: one after the other, because a distribution's packages have one lock."""
    ensure_browser()
    ensure_server()
    ensure_java()


def check(_arguments: list[str]) -> bool:
    """Run formatter, linter, spelling, walls and types, and beside them the trusted rooms' quick tests: what a commit needs, in a minute."""
    python = ready(".venv", first_interpreter(), "test")
    with ThreadPoolExecutor(1) as beside:
        tools = beside.submit(lambda: [said for command in CHECKS if (said := complaint(python, command))])
        passed = pytest("trusted rooms", python, [*SPREAD, "-m", "not soak and not slow", *TRUSTED])
        print("\n".join(tools.result()), end="", flush=True)
    return passed and not tools.result()


def complaint(python: str, command: tuple[str, ...]) -> str:
    """Run a tool of the environment and return what it complains of."""
    program = [str(Path(python).parent / command[0]), *command[1:]]
    done = subprocess.run(program, cwd=project.ROOT, capture_output=True, text=True, check=False)
    return "== {}\n{}{}".format(" ".join(command), done.stdout, done.stderr) if done.returncode else ""


def soak(arguments: list[str]) -> bool:
    """Run the long tests, in more than three hours on two cores; what is timed runs alone, after the others; then the table of coverage."""
    python = prepared(first_interpreter())
    long, timed = ["-m", "soak"], "tests/benchmarks"
    os.environ.setdefault("DPNB_HYPOTHESIS", "soak")
    if arguments:
        return pytest("soak", python, [*long, *arguments])
    passed = [
        pytest("soak", python, ["-n2", *long, "--ignore=" + timed]),
        pytest("soak: " + timed, python, [*long, timed]),
    ]
    with step("docs/coverage.md: 10,000 releases of every statistic"):
        done = subprocess.run(
            [python, "-m", "tests.statistics.coverage_table"], cwd=project.ROOT, check=False
        )
    return all(passed) and done.returncode == 0

"""The steps behind the Makefile: which Python is used, and when nothing is installed again."""

from __future__ import annotations

import ast
import importlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import pytest

pytestmark = pytest.mark.repo

ROOT = Path(__file__).parents[2]
ENTRY = ROOT / ".ci" / "steps.py"
MODULES = sorted((ROOT / ".ci" / "tasks").glob("[a-z]*.py"))
VERSION = "{}.{}".format(*sys.version_info[:2])


@pytest.fixture
def steps(tmp_path, monkeypatch):
    """Load the modules behind the steps, working in a folder of their own."""
    monkeypatch.syspath_prepend(str(ROOT / ".ci"))
    steps = importlib.import_module("tasks")
    for path in MODULES:
        importlib.import_module(f"tasks.{path.stem}")
    for name in ("pyproject.toml", "constraints.txt"):
        (tmp_path / name).write_text(name)
    monkeypatch.setattr(steps.project, "ROOT", tmp_path)
    return steps


@pytest.mark.parametrize("path", [ENTRY, *MODULES], ids=lambda path: path.stem)
def test_a_step_needs_no_more_than_an_old_python(path):
    """What finds a Python for dpnb is read by 3.8, and imports the standard library and its own modules alone."""
    ast.parse(path.read_text(), feature_version=(3, 8))
    rooms = {name.split(".")[0] for name in imported(path)}
    assert rooms <= {*sys.stdlib_module_names, "tasks"}


def test_every_jupyter_of_the_environment_has_the_front_end(steps, tmp_path):
    """What `make lab` builds is found by a `jupyter notebook` beside it too; links are made once, and anew where their folder is gone."""
    built, environment = tmp_path / "dist", tmp_path / "venv"
    shared = environment / "share/jupyter/labextensions"
    steps.looks.link_front_end(built, environment)
    assert not shared.exists()
    for name in ("dpnb", "dpnb-widgets"):
        (built / name).mkdir(parents=True)
        (built / name / "package.json").write_text(name)
    shared.mkdir(parents=True)
    (shared / "dpnb").symlink_to(tmp_path / "gone")
    for _ in range(2):
        steps.looks.link_front_end(built, environment)
        found = {path.name: (path / "package.json").read_text() for path in shared.iterdir()}
        assert found == {"dpnb": "dpnb", "dpnb-widgets": "dpnb-widgets"}


def script(path: Path, text: str) -> str:
    """Write an executable shell script."""
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return str(path)


def test_a_shim_that_finds_no_python_is_left_out(steps, tmp_path):
    """A version manager's shim is on PATH and executable, and yet it is not an interpreter."""
    shim = script(tmp_path / f"python{VERSION}", "echo 'command not found' >&2; exit 127")
    assert not steps.interpreters.answers(shim, VERSION)
    assert not steps.interpreters.answers(script(tmp_path / "other", "echo 3.8"), VERSION)
    assert steps.interpreters.answers(sys.executable, VERSION)


def test_the_first_working_candidate_is_taken(steps, tmp_path, monkeypatch):
    """A broken shim early on PATH does not hide a working interpreter behind it."""
    shim = script(tmp_path / f"python{VERSION}", "exit 127")
    monkeypatch.setattr(steps.interpreters, "VERSIONS", (VERSION,))
    monkeypatch.setattr(steps.interpreters, "candidates", lambda _version: iter([shim, sys.executable]))
    assert steps.interpreters.interpreters() == [steps.interpreters.Python(VERSION, sys.executable)]


def test_no_working_python_names_the_ways_out(steps, monkeypatch):
    """Without a usable Python the message says what to install or to type."""
    monkeypatch.setattr(steps.interpreters, "candidates", lambda _version: iter(()))
    with pytest.raises(steps.project.Failure, match=r"apt-get install python3 python3-venv.*make PYTHON="):
        steps.interpreters.first_interpreter()


@pytest.fixture
def pip_runs(steps, monkeypatch):
    """Count installations instead of doing them."""
    runs = []

    def run(command, **_options):
        runs.append(command[-1])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    return runs


def test_a_second_run_installs_nothing(steps, tmp_path, pip_runs):
    """The stamp remembers what was installed for these very files; a larger extra serves the smaller."""
    steps.environments.install(tmp_path, "test")
    steps.environments.install(tmp_path, "test")
    steps.environments.install(tmp_path, "demo")
    assert pip_runs == [".[test]"]


def test_changed_constraints_install_again(steps, tmp_path, pip_runs):
    """The stamp's key is a digest of pyproject.toml and constraints.txt."""
    steps.environments.install(tmp_path, "demo")
    (tmp_path / "constraints.txt").write_text("numpy==9")
    steps.environments.install(tmp_path, "demo")
    assert pip_runs == [".[demo]", ".[demo]"]
    assert (
        json.loads((tmp_path / steps.environments.STAMP).read_text())["key"]
        == steps.environments.environment_key()
    )


def test_a_failed_install_names_the_step_and_leaves_no_stamp(steps, tmp_path, monkeypatch, capsys):
    """When the network is lost, the step is named with its seconds, and the next run tries again."""
    failed = subprocess.CompletedProcess([], 1)
    monkeypatch.setattr(subprocess, "run", lambda *_command, **_options: failed)
    with pytest.raises(steps.project.Failure, match="network"):
        steps.environments.install(tmp_path, "demo")
    assert "FAILED after" in capsys.readouterr().out
    assert steps.environments.read_stamp(tmp_path) == {}


def test_somebody_elses_broken_environment_is_not_removed(steps, tmp_path):
    """Only an environment with our stamp is ever rebuilt; another one is left, with what to type."""
    theirs = tmp_path / ".venv"
    (theirs / "precious").mkdir(parents=True)
    with pytest.raises(steps.project.Failure, match=r"mv \.venv \.venv\.old"):
        steps.environments.make_environment(theirs, steps.interpreters.Python(VERSION, sys.executable))
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
    assert (steps.frontend.find_npm() is not None) is enough


def test_without_node_the_front_end_is_left_out_and_in_ci_it_is_a_failure(steps, monkeypatch, capsys):
    """On a person's machine a missing Node.js is one line; where continuous integration runs it stops the run."""
    monkeypatch.setattr(steps.frontend, "find_npm", lambda: None)
    monkeypatch.delenv("CI", raising=False)
    assert steps.frontend.front_end() is False
    assert "No Node.js" in capsys.readouterr().out
    monkeypatch.setenv("CI", "true")
    with pytest.raises(steps.project.Failure, match=r"Node\.js 20\.19"):
        steps.frontend.front_end()


def test_the_front_end_s_tools_are_installed_once(steps, tmp_path, monkeypatch):
    """Npm ci runs for a lock file that it has not seen; the build runs each time."""
    runs = []
    (tmp_path / "labextension" / "node_modules").mkdir(parents=True)
    lock = tmp_path / "labextension" / "package-lock.json"
    lock.write_text("{}")
    monkeypatch.setattr(steps.frontend, "find_npm", lambda: "npm")
    monkeypatch.setattr(steps.frontend, "npm", lambda *words: runs.append(words[0]))
    steps.frontend.front_end()
    steps.frontend.front_end()
    lock.write_text("{ }")
    steps.frontend.front_end()
    assert runs == ["ci", "run", "run", "ci", "run"]


def test_editable_installs_never_build_the_front_end(steps, tmp_path, monkeypatch):
    """`make demo` needs no Node.js: pip is told to do without the front end."""
    seen = []
    monkeypatch.setattr(
        subprocess,
        "run",
        lambda command, **given: (
            seen.append(given["env"]["DPNB_FRONTEND"]) or subprocess.CompletedProcess(command, 0)
        ),
    )
    steps.environments.install(tmp_path, "demo")
    assert seen == ["none"]


def test_what_the_steps_start_may_keep_its_bytecode():
    """Compiling dpnb is half of a process's start: a variable that forbids to keep the result stops at the steps."""
    program = """
import os, sys
import steps
steps.TARGETS["look"] = lambda _: "PYTHONDONTWRITEBYTECODE" not in os.environ
sys.argv = ["steps.py", "look"]
steps.main()
"""
    environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, "-c", program], cwd=ENTRY.parent, env=environment, check=False)
    assert done.returncode == 0


def test_continuous_integration_is_make_test():
    """.ci/run calls `make test` and gives its exit status."""
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert lines[-1] == "exec make test"


def test_a_clone_needs_the_two_commands_of_the_readme_in_their_order_and_nothing_else(steps):
    """The README's block has these lines alone; both targets install what they need, and no step reads the day."""
    block = re.search(r"```sh\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)[1]
    assert [line.split("#")[0].strip() for line in block.splitlines()] == ["make demo", "make test"]
    targets = re.findall(r"^(\w+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert {"demo", "test"} <= set(targets)
    assert not [path for path in (ENTRY, *MODULES) if "time.time" in path.read_text()]


ON_A_DAY = """
import datetime, sys, time
import matplotlib.pyplot, pandas, polars, psycopg, pyarrow.dataset, pyarrow.feather, pyreadstat, pytest  # before the day: what is compiled holds on to its classes
seconds, now, days = 86400 * int(sys.argv[1]), time.time, datetime.datetime
class Later(days):
    @classmethod
    def now(cls, tz=None):
        return cls.fromtimestamp(time.time(), tz)
class Day(datetime.date):
    @classmethod
    def today(cls):
        return cls.fromtimestamp(time.time())
time.time = lambda: now() + seconds
datetime.datetime, datetime.date = Later, Day
sys.exit(pytest.main(["--collect-only", "-q", "-p", "no:cacheprovider", "-m", "not soak"]))
"""


@pytest.mark.soak
def test_the_collected_tests_are_the_same_a_day_and_a_week_later():
    """An ordinary run is the same list of tests for any date; a rule (`test_rules`) refuses in each run what would make it another."""
    command = [sys.executable, "-c", ON_A_DAY]
    lists = []
    for days in (0, 1, 7):
        done = subprocess.run([*command, str(days)], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        lists.append([line for line in done.stdout.splitlines() if "::" in line])
    assert len(lists[0]) > 10_000
    assert lists[0] == lists[1] == lists[2]


@pytest.mark.soak
def test_the_two_commands_pass_in_their_order_on_a_clone(tmp_path):
    """Nothing is there but the commit: `make demo` leaves its page, and `make test` goes on in what the demo made. The whole is CI's."""
    clone = tmp_path / "dpnb"
    subprocess.run(["git", "clone", "-q", str(ROOT), str(clone)], check=True)
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("DPNB", "PYTHON"))
    }
    for command in (["demo"], ["test", "ARGS=tests/test_init.py tests/notebook/test_real.py"]):
        done = subprocess.run(
            ["make", *command], cwd=clone, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert (clone / "demo.html").stat().st_size > 10_000


def test_the_long_tests_find_what_the_ordinary_ones_do(steps, monkeypatch):
    """`make soak` on a fresh clone has the front end, Chromium and the servers before its first test."""
    monkeypatch.setenv("DPNB_HYPOTHESIS", "ordinary")  # what this process starts afterwards stays ordinary
    done = []
    for name in ("front_end", "ensure_programs", "install_beside"):
        monkeypatch.setattr(steps.testing, name, lambda *_, name=name: done.append(name))
    monkeypatch.setattr(steps.testing, "first_interpreter", lambda: None)
    monkeypatch.setattr(steps.testing, "ready", lambda *_: "python")
    monkeypatch.setattr(steps.testing, "pytest", lambda name, *_: done.append(name) is None)
    assert steps.testing.soak(["tests/browser"])
    assert (sorted(done[:-1]), done[-1]) == (["ensure_programs", "front_end", "install_beside"], "soak")


# whose behaviour changed from one Python to the next, and the contracts of what reads cells and makes noise
DIFFERENT = {"ast", "asyncio", "csv", "linecache", "pickle", "sqlite3", "tomllib"}
CONTRACTS = ("EngineContract", "SourceContract", "LawContract")
# that take a syntax tree, a pickle or a file for a fact of ours and not of Python's
ELSEWISE = {
    "tests/client/test_every_statistic.py",
    "tests/curator/test_folder.py",
    "tests/curator/test_server.py",
    "tests/fuzz/test_engine.py",
    "tests/models/test_models.py",
    "tests/widgets/test_coverage.py",
    "tests/widgets/test_forecasts.py",
    "tests/widgets/test_names.py",
}


def imported(path: Path) -> set[str]:
    """Return the modules that a file imports."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return names | {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}


def chosen(steps, path: Path) -> bool:
    """Tell whether the other Pythons run this file."""
    name = str(path.relative_to(ROOT))
    return any(name == place or name.startswith(place + "/") for place in steps.pythons.DIFFERS)


def test_every_other_python_runs_what_may_differ(steps):
    """Each place of the table exists, and no test of pickles, SQLite, CSV, syntax trees or a contract is left out of it."""
    assert not [place for place in steps.pythons.DIFFERS if not (ROOT / place).exists()]
    ordinary = [path for room in steps_rooms() for path in room.glob("**/test_*.py")]
    assert len(ordinary) > 100
    left_out = {
        str(path.relative_to(ROOT))
        for path in ordinary
        if not chosen(steps, path)
        and (imported(path) & DIFFERENT or any(name in path.read_text() for name in CONTRACTS))
    }
    assert left_out == ELSEWISE


def test_the_lowest_python_runs_everything_and_the_others_the_same_each_time(steps, monkeypatch):
    """`make test` says which there were and which were not; each other one runs the quick tests of the whole table."""
    ran, python = [], steps.interpreters.Python
    run = SimpleNamespace(pytest=lambda *asked, **_: ran.append(asked))
    there = {"3.12": "/twelve", "3.11": "/eleven"}
    monkeypatch.setattr(
        steps.interpreters, "candidates", lambda version: iter([there[version]] if version in there else [])
    )
    monkeypatch.setattr(steps.interpreters, "answers", lambda *_: True)
    first, *others = steps.interpreters.interpreters()
    assert (first, others) == (python("3.11", "/eleven"), [python("3.12", "/twelve")])
    steps.testing.under_other_pythons(run, lambda: [(one, "python") for one in others])
    marks = "not soak and not slow and not repo"
    assert ran == [("Python 3.12: what may differ", "python", ["-m", marks, *steps.pythons.DIFFERS])]
    said = "everything under Python 3.11; the quick tests of what may differ under 3.12; not installed: 3.13"
    assert steps.testing.under(first, others) == said


def test_an_environment_of_ours_with_another_python_is_made_anew(steps, tmp_path, monkeypatch):
    """What runs everything is the lowest Python, also where an older run used another; somebody else's is left as it is."""
    made = []
    monkeypatch.setattr(steps.environments, "version_of", lambda _: "3.12")
    monkeypatch.setattr(subprocess, "run", lambda command, **_: made.append(command[0]))
    lowest, folder = steps.interpreters.Python("3.11", "/eleven"), tmp_path / ".venv"
    folder.mkdir()
    steps.environments.make_environment(folder, lowest)
    assert made == []
    (folder / steps.environments.STAMP).write_text('{"key": "k"}')
    steps.environments.make_environment(folder, steps.interpreters.Python("3.12", "/twelve"))
    assert made == []
    steps.environments.make_environment(folder, lowest)
    assert made == ["/eleven"]


def steps_rooms() -> list[Path]:
    """Return the folders of tests that every environment could run."""
    first_alone = {"browser", "benchmarks", "repo", "golden", "contracts", "postgres", "spark"}
    return [room for room in (ROOT / "tests").iterdir() if room.is_dir() and room.name not in first_alone]


def test_what_is_timed_runs_alone():
    """The mark is given only where the step of the timed tests looks for it."""
    marked = {
        str(path.relative_to(ROOT).parent)
        for path in (ROOT / "tests").glob("*/**/test_*.py")
        if "mark.alone" in path.read_text() and path != Path(__file__)
    }
    assert marked
    assert marked <= {"tests/benchmarks", "tests/browser"}


def test_the_quick_check_names_what_is_there(steps):
    """`make check` runs rooms that exist and tools that this environment has."""
    assert not [place for place in steps.testing.TRUSTED if not (ROOT / place).exists()]
    assert not [
        command
        for command, *_ in steps.testing.CHECKS
        if not (Path(sys.executable).parent / command).exists()
    ]
    assert (
        "make check"
        in subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    )


def test_a_complaint_of_a_tool_is_shown_whole(steps, tmp_path):
    """A tool that is content says nothing; one that is not is quoted with its name."""
    script(tmp_path / "content", "echo fine")
    script(tmp_path / "strict", "echo 'line 3: no'; exit 1")
    python = str(tmp_path / "python")
    assert steps.testing.complaint(python, ("content",)) == ""
    assert steps.testing.complaint(python, ("strict", ".")) == "== strict .\nline 3: no\n"


BURNS = "import time\nend = time.process_time() + {}\nwhile time.process_time() < end: pass"
LEAVES = (
    f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {BURNS.format(0.1)!r}]); sys.exit(3)"
)


@pytest.mark.skipif(sys.platform != "linux", reason="orphans are adopted on Linux alone")
def test_what_outlives_its_parent_is_counted(steps, tmp_path):
    """The exit status is the command's own; the processor time is of all it started, though nobody waited for the child."""
    note = tmp_path / "spent"
    done = subprocess.run(
        [sys.executable, steps.costs.SPENT, note, sys.executable, "-c", LEAVES], check=False
    )
    assert done.returncode == 3
    assert float(note.read_text()) > 0.1


REPORT = """<testsuites><testsuite>
<testcase classname="tests.a" name="test_one" time="{}" /><testcase classname="tests.a" name="test_two" time="0.1" />
</testsuite></testsuites>"""


def test_costs_are_said_beside_what_they_may_be(steps, tmp_path, monkeypatch, capsys):
    """Each step has its line; what exceeds its budget is marked; the clock is of all together; the slowest tests come first."""
    for nth, seconds in enumerate((3.5, 12.25)):
        (tmp_path / f"{nth}.xml").write_text(REPORT.format(seconds))
    monkeypatch.setattr(steps.costs, "SLOWEST", 3)
    run = steps.costs.Run(tmp_path)
    run.costs = [
        steps.costs.Cost(steps.costs.LIBRARY, 310, 1520),
        steps.costs.Cost(steps.costs.BROWSER, 200, 350),
    ]
    run.began = time.monotonic() - 333
    run.say()
    said = capsys.readouterr().out
    lines = [" ".join(line.split()) for line in said.splitlines()]
    assert lines[1:4] == [
        "5:10 25:20 of 25 ! library, mutants, notebooks, PostgreSQL",
        "3:20 5:50 of 10 browser, Hub",
        "5:33 of 25 31:10 of 45 all, after installs",
    ]
    assert lines[5:] == ["12.2 s tests.a::test_one", "3.5 s tests.a::test_one", "0.1 s tests.a::test_two"]


def test_the_steps_share_what_all_may_take(steps):
    """Their minutes of processor are the whole run's; each Python but the lowest has its own."""
    assert sum(steps.costs.BUDGET.values()) == steps.costs.ALLOWED[1]
    others = {steps.costs.OTHER.format(version) for version in steps.interpreters.VERSIONS[1:]}
    assert others < set(steps.costs.BUDGET)


def test_a_failed_step_is_noted_and_the_next_one_runs(steps, tmp_path, monkeypatch):
    """A step's failure is kept until the end; its costs are noted all the same."""
    monkeypatch.setattr(steps.costs, "pytest", lambda name, *_: name != "bad")
    run = steps.costs.Run(tmp_path)
    for nth, name in enumerate(("good", "bad", "good")):
        (tmp_path / f"{nth}.spent").write_text("1.5")
        run.pytest(name, "python", [])
    assert run.failed == ["bad"]
    assert [(cost.name, cost.processor) for cost in run.costs] == [("good", 1.5), ("bad", 1.5), ("good", 1.5)]


def test_what_tests_write_is_in_memory_where_that_serves(steps, monkeypatch, tmp_path):
    """The folder is of this run alone and is gone after it; without room, or where programs may not run, it is on a disk."""
    memory = tmp_path / "memory"
    memory.mkdir()
    monkeypatch.setattr(steps.costs, "MEMORY", str(memory))
    monkeypatch.setattr(steps.costs, "ROOM", 0)
    with steps.costs.place_for_files() as files:
        assert Path(files).parent == memory
        (Path(files) / "ledger").write_text("kept")
    assert not list(memory.iterdir())
    monkeypatch.setattr(steps.costs, "ROOM", 2**80)
    with steps.costs.place_for_files() as files:
        assert Path(files).parent != memory
    monkeypatch.setattr(steps.costs, "ROOM", 0)
    noexec = SimpleNamespace(f_bavail=1, f_frsize=1, f_flag=os.ST_NOEXEC)
    monkeypatch.setattr(os, "statvfs", lambda _: noexec)
    assert not steps.costs.serves(str(memory))
    assert not steps.costs.serves(str(tmp_path / "absent"))


def test_a_step_of_tests_writes_into_the_run_s_folder(steps, tmp_path, monkeypatch):
    """Each step but one that has a reason to write to a disk."""
    told = []
    monkeypatch.setattr(
        subprocess,
        "run",
        lambda _, **given: told.append(given["env"].get("TMPDIR")) or subprocess.CompletedProcess([], 0),
    )
    monkeypatch.delenv("TMPDIR", raising=False)
    run = steps.costs.Run(tmp_path, "files")
    for nth, on_disk in enumerate((False, True)):
        (tmp_path / f"{nth}.spent").write_text("1")
        run.pytest("some", "python", [], on_disk=on_disk)
    assert told == ["files", None]


def test_a_step_aside_speaks_at_its_end_and_every_step_has_files_of_its_own(steps, tmp_path, monkeypatch):
    """What it says comes whole, also where it failed; the report of one beside it has another name."""
    monkeypatch.setattr(steps.project, "ROOT", ROOT)
    talks = script(tmp_path / "python", "echo one; sleep 0.2; echo two >&2; exit 1")
    run, told = steps.costs.Run(tmp_path), []
    monkeypatch.setattr("builtins.print", lambda *said, **_: told.append(said[0]))
    monkeypatch.setattr(steps.costs, "SPENT", tmp_path / "spent.py")
    note = (
        "import subprocess, sys\nopen(sys.argv[1], 'w').write('1')\nsys.exit(subprocess.call(sys.argv[2:]))"
    )
    steps.costs.SPENT.write_text(note)
    with ThreadPoolExecutor(2) as both:
        list(both.map(lambda name: run.pytest(name, talks, [], aside=True), "ab"))
    assert told.count("one\ntwo\n") == 2
    assert {path.name for path in tmp_path.glob("*.spent")} == {"0.spent", "1.spent"}
    assert sorted(run.failed) == ["a", "b"]


@pytest.mark.parametrize(
    ("there", "root", "served", "added", "said"),
    [
        ({"chromium-headless-shell"}, True, set(), [], False),
        ({"chromium"}, True, {"chromium-headless-shell"}, ["chromium-headless-shell"], False),
        (set(), True, {"chromium"}, ["chromium-headless-shell", "chromium"], False),
        ({"chromium"}, False, set(), [], False),
        (set(), False, set(), [], True),
    ],
    ids=["shell", "other", "only chromium is packaged", "nothing may be installed", "nothing is there"],
)
def test_a_browser_is_found_or_installed(steps, monkeypatch, capsys, there, root, served, added, said):
    """The shell is installed where this user may, another Chromium serves as well; only where there is none something is to be typed."""
    there, asked = {*there, "apt-get"}, []
    monkeypatch.delenv("DPNB_CHROMIUM", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: name if name in there else None)
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    monkeypatch.setattr(
        steps.chromium, "add_packages", lambda name, *_: asked.append(name) or there.update({name} & served)
    )
    steps.chromium.ensure_browser()
    assert asked == added
    assert ("sudo apt-get install" in capsys.readouterr().out) == said


@pytest.mark.parametrize(
    ("there", "root", "asked"),
    [(True, True, []), (False, True, ["postgresql"]), (False, False, [])],
    ids=["there", "installed", "not allowed"],
)
def test_a_server_is_found_or_installed(steps, monkeypatch, capsys, tmp_path, there, root, asked):
    """Where there is none and this user may not install one, something is to be typed."""
    found, added = {"apt-get"} | ({"initdb"} if there else set()), []
    monkeypatch.setattr(steps.postgres, "PLACES", tmp_path)
    monkeypatch.setattr(shutil, "which", lambda name: name if name in found else None)
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    monkeypatch.setattr(
        steps.postgres, "add_packages", lambda *names: (added.extend(names), found.add("initdb"))
    )
    steps.postgres.ensure_server()
    assert added == asked
    assert ("sudo apt-get install" in capsys.readouterr().out) == (not there and not root)


@pytest.mark.parametrize(
    ("there", "root", "added", "said"),
    [
        ({"java"}, True, [], False),
        (set(), True, ["openjdk-17-jre-headless"], False),
        (set(), False, [], True),
    ],
    ids=["there", "installed", "nothing may be installed"],
)
def test_a_java_is_found_or_installed(steps, monkeypatch, capsys, there, root, added, said):
    """Spark's tests need one; where it cannot be installed something is to be typed."""
    there, asked = {*there, "apt-get"}, []
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr(shutil, "which", lambda name: name if name in there else None)
    monkeypatch.setattr(os, "geteuid", lambda: 0 if root else 1000)
    monkeypatch.setattr(steps.java, "add_packages", lambda name: asked.append(name) or there.add("java"))
    steps.java.ensure_java()
    assert asked == added
    assert ("sudo apt-get install" in capsys.readouterr().out) == said


def test_every_environment_that_a_target_asks_for_can_be_made(steps):
    """Its extras are the project's, and how long its download takes is known."""
    calls = [
        node
        for path in MODULES
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
    ]
    asked = {
        call.args[2].value
        for call in calls
        if getattr(call.func, "id", "") == "ready" and isinstance(call.args[2], ast.Constant)
    }
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert len(asked) > 2
    assert asked <= set(steps.environments.SIZES)
    assert {one for extra in asked for one in extra.split(",")} <= set(extras)

"""The steps behind the Makefile: environments, the browser for the tests, and what runs in them.

Needs the standard library alone and runs under any Python 3.8 or newer, because it is what finds the
Python that dpnb needs. It never downloads a Python, Node or a browser of its own, and it removes only
environments that carry its stamp.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Iterator, NamedTuple, NoReturn, Sequence
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.11", "3.12", "3.13")
STAMP = "dpnb-stamp.json"
BESIDE = ".anywidget"
# the shell is Chromium's engine without windows: a page in it takes a quarter of the processor
SHELL = "chromium-headless-shell"
CHROMIUM_NAMES = (SHELL, "chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
APT_INSTALL = ("apt-get", "install", "-y", "--no-install-recommends")
FONTS = ("fonts-dejavu", "fonts-liberation")
# an extra installed earlier also serves the ones listed after it
SERVES = {"test": ("core-test", "demo", "lab,studies"), "core-test": ("demo",)}
# What may differ between Pythons, and why; the rest (laws, coverage, attacks, plans, displays) is arithmetic on numbers that
# these show to be the same, and runs under the first Python alone. tests/repo holds this table against the tests' imports.
DIFFERS = {
    "tests/notebook": "code objects, frames, tracebacks, cells that await, and a real kernel",
    "tests/wire": "sockets, threads, JSON and the errors of each",
    "tests/serving": "TLS, sockets, processes, TOML and clocks",
    "tests/curator/engines": "engines and sources under their contracts: how floats, decimals, dates and CSV are read",
    "tests/aggregate": "one cell, read by itself, and the numpy meaning of every question",
    "tests/noise": "laws under their contract: bits, fractions and roundings",
    "tests/mechanisms/test_additive.py": "mechanisms under their contract",
    "tests/statistics/test_golden_releases.py": "every statistic and every mechanism draws, bit for bit, what is on file",
    "tests/privacy/test_accountant.py": "sums of exact losses",
    "tests/privacy/test_conversion.py": "floats that are rounded upwards",
    "tests/privacy/test_event.py": "events, read and written exactly",
    "tests/privacy/test_loss.py": "decimals, fractions and pickles",
    "tests/estimate/test_collection.py": "weak references, and coroutines that ask",
    "tests/estimate/test_expression.py": "recursion, and how chains are freed",
    "tests/estimate/test_identity.py": "pickles, copies and hashes",
    "tests/estimate/test_table_formats.py": "CSV and JSON",
    "tests/cards/test_report_formats.py": "JSON, and processes that print",
    "tests/estimate/test_programs.py": "what a program still holds",
    "tests/estimate/test_readings.py": "pickles",
    "tests/estimate/test_texts.py": "pickles, and the errors' texts",
    "tests/client/test_archive.py": "zip files, CSV and JSON",
    "tests/client/test_frequent.py": "pickles",
    "tests/client/test_handles.py": "pickles, and attributes that are looked up",
    "tests/client/test_session.py": "pickles",
    "tests/client/test_tables.py": "pickles",
    "tests/curator/test_adoption_rules.py": "sqlite3, and threads that race",
    "tests/curator/test_home_attacks.py": "sqlite3, and file descriptors that a fork inherits",
    "tests/curator/test_ledger.py": "sqlite3: transactions, and what a damaged file raises",
    "tests/curator/test_mark.py": "sqlite3 and file descriptors",
    "tests/curator/test_migrations.py": "sqlite3",
    "tests/curator/test_shares.py": "sqlite3, and threads that race",
    "tests/curator/test_content.py": "sqlite3, and digests of what a frame holds",
    "tests/curator/test_sources.py": "CSV, SQLite and files by descriptor",
    "tests/owner/test_holds.py": "sqlite3, and processes that are killed",
    "tests/owner/test_publication.py": "CSV and JSON, and a process that verifies",
    "tests/bad_input/test_cell.py": "what Python itself says of a mistake, in our words",
    "tests/bad_input/test_faults.py": "what the system says of a full disk and a lost curator",
    "tests/bad_input/test_files.py": "files as they come: CSV, encodings, Parquet",
    "tests/test_init.py": "names that are loaded when asked for",
    "tests/test_modules.py": "every module imports",
    "tests/test_schema.py": "TOML",
}
# contracts, notebook, wire and pickles run under each of the other Pythons every day; these places under one of them, by turns
IN_TURN = (
    "tests/aggregate",
    "tests/privacy/test_accountant.py",
    "tests/privacy/test_conversion.py",
    "tests/privacy/test_event.py",
    "tests/curator/test_adoption_rules.py",
    "tests/curator/test_home_attacks.py",
    "tests/curator/test_ledger.py",
    "tests/curator/test_mark.py",
    "tests/curator/test_migrations.py",
    "tests/curator/test_content.py",
    "tests/curator/test_sources.py",
    "tests/owner/test_holds.py",
    "tests/owner/test_publication.py",
    "tests/bad_input/test_cell.py",
    "tests/bad_input/test_faults.py",
    "tests/bad_input/test_files.py",
    "tests/test_schema.py",
)
REST = "not soak and not slow and not repo"
# minutes on the clock, on two quiet cores; ALLOWED is of the clock and of processor, the difference is for engines to come
LINTERS, LIBRARY, BROWSER, ALONE = "linters, walls, front end", "library", "browser", "timing, alone"
OTHER = "Python {}: what may differ"
BUDGET = {
    LINTERS: 1.5,
    LIBRARY: 5,
    BROWSER: 6,
    ALONE: 1,
    **{OTHER.format(version): 1 for version in VERSIONS},
}
ALLOWED = (20, 30)
SLOWEST = 20
# neighbours in a file stay in one process, which shares what the file prepares; who is ready first takes from the other
SPREAD = ("-n2", "--dist=worksteal")
# the tests of a file stay together: they share a server, a page of JupyterLab and a budget
BY_FILE = ("-n2", "--dist=loadfile")
SPENT = ROOT / ".ci" / "spent.py"
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
    ("lint-imports", "--no-logo"),
    ("mypy",),
)
SIZES = {
    "demo": "a download of about 140 MB, one to three minutes",
    "lab,studies": "a download of about 170 MB, one to three minutes",
    "class": "a download of about 200 MB, one to three minutes",
    "docs": "a download of about 180 MB, one to three minutes",
    "core-test": "a download of about 300 MB, one to four minutes",
    "test": "a download of about 420 MB, one to five minutes",
}
PROBE = "import sys, ssl, sqlite3, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"


class Failure(Exception):
    """A step did not succeed; the message says what to do."""


class Python(NamedTuple):
    """An interpreter that answered."""

    version: str
    path: str


class Cost(NamedTuple):
    """What a step of the tests took: seconds on the clock, and seconds of processor, of all its processes."""

    name: str
    wall: float
    processor: float


@contextlib.contextmanager
def step(name: str) -> Iterator[None]:
    """Print a step's name when it starts, and its seconds when it ends."""
    print("== " + name, flush=True)
    start = time.monotonic()
    try:
        yield
    except BaseException:
        print("== FAILED after {:.1f} s: {}".format(time.monotonic() - start, name), flush=True)
        raise
    print("   {:.1f} s: {}".format(time.monotonic() - start, name), flush=True)


# ---------------------------------------------------------------- interpreters


def candidates(version: str) -> Iterator[str]:
    """Yield every place where this Python version may be, the running one first."""
    if sys.version_info[:2] == tuple(map(int, version.split("."))):
        yield sys.executable
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        path = os.path.join(folder, "python" + version)
        if os.access(path, os.X_OK):
            yield path
    pyenv = os.environ.get("PYENV_ROOT", os.path.expanduser("~/.pyenv"))
    for path in sorted(
        glob.glob(os.path.join(pyenv, "versions", version + ".*", "bin", "python")), reverse=True
    ):
        yield path


def answers(path: str, version: str) -> bool:
    """Tell whether this really is that Python and can make environments (a version manager's shim may not be)."""
    try:
        found = subprocess.run([path, "-c", PROBE], capture_output=True, text=True, timeout=60, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return found.returncode == 0 and found.stdout.strip() == version


def interpreters() -> list[Python]:
    """Return one working interpreter for each supported version that is installed; the running version first."""
    found = []
    for version in VERSIONS:
        path = next((path for path in candidates(version) if answers(path, version)), None)
        if path is not None:
            found.append(Python(version, path))
    running = "{}.{}".format(*sys.version_info[:2])
    return sorted(found, key=lambda python: python.version != running)


def first_interpreter() -> Python:
    """Return the interpreter for ``.venv``."""
    found = interpreters()
    if not found:
        raise Failure(
            "dpnb needs Python 3.11, 3.12 or 3.13 with venv. Found none that works. On Debian or Ubuntu: "
            "apt-get install python3 python3-venv; or say which one to use: make PYTHON=/path/to/python3.12 ..."
        )
    return found[0]


# ---------------------------------------------------------------- environments


def environment_key() -> str:
    """Digest of what decides the installed packages."""
    digest = hashlib.sha256()
    for name in ("pyproject.toml", "constraints.txt"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def read_stamp(folder: Path) -> dict[str, object]:
    """Return what an earlier run noted in the environment; empty if it noted nothing."""
    with contextlib.suppress(OSError, ValueError):
        return dict(json.loads((folder / STAMP).read_text()))
    return {}


def interpreter_of(folder: Path) -> str:
    """Return the path of the environment's Python."""
    return str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def works(folder: Path) -> bool:
    """Tell whether the environment's Python starts, is a supported one and has pip."""
    program = "import sys, pip; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))"
    try:
        return (
            subprocess.run(
                [interpreter_of(folder), "-c", program], capture_output=True, check=False
            ).returncode
            == 0
        )
    except OSError:
        return False


def make_environment(folder: Path, python: Python) -> None:
    """Create the environment, or keep the one that is there."""
    if works(folder):
        return
    if folder.exists() and not read_stamp(folder):
        raise Failure(
            "{0} was not made by this Makefile and has no working Python 3.11-3.13 with pip: "
            "move it away (mv {0} {0}.old) and run this again.".format(folder.name)
        )
    with step("environment: {} with Python {}".format(folder.name, python.version)):
        shutil.rmtree(folder, ignore_errors=True)
        subprocess.run([python.path, "-m", "venv", str(folder)], check=True)


def install(folder: Path, extra: str) -> None:
    """Install dpnb and an extra, unless the stamp says that this was done for these very files."""
    stamp, key = read_stamp(folder), environment_key()
    done = list(stamp.get("extras", ())) if stamp.get("key") == key else []
    if extra in done or any(extra in SERVES.get(other, ()) for other in done):
        return
    with step("install: dpnb[{}] into {} ({})".format(extra, folder.name, SIZES[extra])):
        command = [interpreter_of(folder), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
        command += ["--retries", "2", "--constraint", "constraints.txt", "--editable", ".[{}]".format(extra)]
        # the front end is built by its own step, in place, so that `make demo` needs no Node.js
        environment = {**os.environ, "DPNB_FRONTEND": "none"}
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            raise Failure(
                "pip could not install dpnb[{}]: see its message above. If the network was lost, run the same "
                "command again: what was downloaded is kept.".format(extra)
            )
        (folder / STAMP).write_text(json.dumps({"key": key, "extras": sorted({*done, extra})}))


def install_beside(python: str) -> None:
    """Put anywidget into a folder of its own, for the tests of that extra: no environment of ours serves its extension."""
    folder = ROOT / BESIDE
    if folder.is_dir():
        return
    with step("install: anywidget into " + BESIDE):
        command = [python, "-m", "pip", "install", "-qq", "--disable-pip-version-check", "--no-deps"]
        command += ["--constraint", "constraints.txt", "--target", str(folder), "anywidget", "psygnal"]
        if subprocess.run(command, cwd=ROOT, check=False).returncode:
            raise Failure("pip could not install anywidget: see its message above.")


def ready(name: str, python: Python, extra: str) -> str:
    """Return the Python of an environment that holds dpnb and this extra."""
    folder = ROOT / name
    make_environment(folder, python)
    install(folder, extra)
    return interpreter_of(folder)


# ---------------------------------------------------------------- the front end


def find_npm() -> str | None:
    """Return npm where there is a Node.js that can build the front end."""
    node, npm = shutil.which("node"), shutil.which("npm")
    if node is None or npm is None:
        return None
    said = subprocess.run([node, "--version"], capture_output=True, text=True, check=False).stdout
    with contextlib.suppress(ValueError):
        major, minor = map(int, said.strip().lstrip("v").split(".")[:2])
        if (major == 20 and minor >= 19) or (major == 22 and minor >= 12) or major > 22:
            return npm
    return None


def npm(*arguments: str) -> None:
    """Run npm in the front end's folder."""
    command = [str(find_npm()), *arguments]
    if subprocess.run(command, cwd=ROOT / "labextension", check=False).returncode:
        raise Failure("npm " + " ".join(arguments) + " failed in labextension/: see its message above.")


def front_end() -> bool:
    """Build the front end in place where Node.js is there; say so where it is not. CI needs it."""
    if find_npm() is None:
        missing = "No Node.js 20.19 or newer: the front end is not built, and its tests are left out."
        if os.environ.get("CI") == "true":
            raise Failure(missing)
        print("-- " + missing, flush=True)
        return False
    lock = ROOT / "labextension" / "package-lock.json"
    stamp, key = lock.parent / "node_modules" / STAMP, hashlib.sha256(lock.read_bytes()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != key:
        with step("install: the front end's tools (a download of about 90 MB)"):
            npm("ci", "--no-audit", "--no-fund")
            stamp.write_text(key)
    with step("build: the front end"):
        npm("run", "-s", "build")
    return True


# ---------------------------------------------------------------- the browser


def find_browser() -> str | None:
    """Return a Chromium on this machine."""
    asked = os.environ.get("DPNB_CHROMIUM")
    return asked or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)


def ensure_browser() -> None:
    """Install Chromium's shell, or else Chromium, from the distribution where this user may; otherwise say what to type."""
    if os.environ.get("DPNB_CHROMIUM") or shutil.which(SHELL):
        return
    if shutil.which("apt-get") and hasattr(os, "geteuid") and os.geteuid() == 0:
        add_packages(SHELL, *FONTS)
        if not find_browser():
            add_packages("chromium", *FONTS)
    if not find_browser():
        hint = " ".join(("sudo", *APT_INSTALL, SHELL, *FONTS))
        print("-- No Chromium: the browser tests are left out. To have them: " + hint, flush=True)


def add_packages(*names: str) -> None:
    """Install packages of the distribution; a failure is said, and is not the end."""
    quiet = {"env": {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, "stdout": subprocess.DEVNULL}
    with contextlib.suppress(Failure), step("install: " + " ".join(names)):
        for command in (("apt-get", "-qq", "update"), (*APT_INSTALL, "-qq", *names)):
            if subprocess.run(command, check=False, **quiet).returncode:
                raise Failure(" ".join(command[:2]))


# ---------------------------------------------------------------- targets


def pytest(name: str, python: str, arguments: list[str], under: Sequence[str] = ()) -> bool:
    """Run pytest, under another command if there is one, as a step and tell whether it passed."""
    command = [*under, python, "-m", "pytest", "-q", *arguments]
    with contextlib.suppress(Failure):
        with step("test: " + name):
            if subprocess.run(command, cwd=ROOT, check=False).returncode:
                raise Failure(name)
        return True
    return False


class Run:
    """The steps of one `make test`: whether they passed, what each took, and how long each test was."""

    def __init__(self, reports: Path) -> None:
        self.reports = reports
        self.costs: list[Cost] = []
        self.failed: list[str] = []

    def pytest(self, name: str, python: str, arguments: list[str]) -> None:
        """Run a step of tests; note what it took and how long each test was."""
        spent, report = (self.reports / (str(len(self.costs)) + end) for end in (".spent", ".xml"))
        counted = [sys.executable, str(SPENT), str(spent)]
        start = time.monotonic()
        if not pytest(name, python, ["--junitxml={}".format(report), *arguments], counted):
            self.failed.append(name)
        self.costs.append(Cost(name, time.monotonic() - start, float(spent.read_text())))

    def say(self) -> None:
        """Print what each step took beside its budget, the total, and the slowest tests."""
        print("== minutes on the clock, and of processor ({})".format(machine()))
        for cost in self.costs:
            say_cost(cost, BUDGET.get(cost.name, 0), 0)
        wall, processor = (sum(cost[field] for cost in self.costs) for field in (1, 2))
        say_cost(Cost("all, after installs", wall, processor), *ALLOWED)
        print("== the slowest tests")
        for seconds, name in slowest(sorted(self.reports.glob("*.xml"))):
            print("   {:6.1f} s   {}".format(seconds, name))


def say_cost(cost: Cost, wall: float, processor: float) -> None:
    """Print one line of the costs, each beside what it may be."""
    print("   {:14} {:14} {}".format(of(cost.wall, wall), of(cost.processor, processor), cost.name))


def machine() -> str:
    """Say how many cores there are, and how many processes wanted one in the last minute."""
    load = "{:.1f}".format(os.getloadavg()[0]) if hasattr(os, "getloadavg") else "unknown"
    return "{} cores, load {}".format(os.cpu_count(), load)


def of(seconds: float, minutes: float) -> str:
    """Write minutes beside the minutes that are allowed, marked where they are exceeded."""
    said = "{}:{:02d}".format(*divmod(round(seconds), 60))
    if not minutes:
        return said
    return "{} of {:g}{}".format(said, minutes, " !" if seconds > 60 * minutes else "  ")


def slowest(reports: list[Path]) -> list[tuple[float, str]]:
    """Return the longest tests of these reports, the longest first."""
    cases = [case for report in reports for case in ET.parse(report).iter("testcase")]
    lengths = [
        (float(case.get("time", 0)), "{}::{}".format(case.get("classname"), case.get("name")))
        for case in cases
    ]
    return sorted(lengths, reverse=True)[:SLOWEST]


def everything(run: Run, python: str) -> None:
    """Run every ordinary test under the first Python."""
    day = os.environ.setdefault("DPNB_ROTATION", str(int(time.time() // 86400)))
    print("-- samples of day {}: DPNB_ROTATION={} draws them again".format(day, day), flush=True)
    apart = ["--ignore=tests/" + folder for folder in ("benchmarks", "browser", "repo")]
    run.pytest(LINTERS, python, [*SPREAD, "-m", "repo and not soak", "tests/repo"])
    run.pytest(LIBRARY, python, [*SPREAD, "-m", "not soak", *apart])
    run.pytest(BROWSER, python, [*BY_FILE, "-m", "not soak and not alone", "tests/browser"])
    # a figure measured beside another test says nothing
    run.pytest(ALONE, python, ["-m", "alone and not soak", "tests/benchmarks", "tests/browser"])


def may_differ(number: int, others: int) -> list[str]:
    """Return what one of the other Pythons runs today; within as many days as there are of them each ran everything."""
    day = int(os.environ["DPNB_ROTATION"])
    waiting = {place for turn, place in enumerate(IN_TURN) if (turn + number + day) % others}
    return [place for place in DIFFERS if place not in waiting]


def test(arguments: list[str]) -> bool:
    """Run the ordinary tests: everything once, and what may differ between Pythons under the other ones."""
    first, *others = interpreters() or [first_interpreter()]
    if arguments:
        return pytest(" ".join(arguments), ready(".venv", first, "test"), arguments)
    with ThreadPoolExecutor(1) as beside:
        # what needs the network does not wait for what needs a processor
        front = beside.submit(front_end)
        python = ready(".venv", first, "test")
        install_beside(python)
        front.result()
        ensure_browser()
        elsewhere = beside.submit(
            lambda: [(one, ready(".venv-" + one.version, one, "core-test")) for one in others]
        )
        with tempfile.TemporaryDirectory() as folder:
            run = Run(Path(folder))
            try:
                everything(run, python)
                for number, (other, environment) in enumerate(elsewhere.result()):
                    places = may_differ(number, len(others))
                    run.pytest(OTHER.format(other.version), environment, [*SPREAD, "-m", REST, *places])
            finally:
                run.say()
    tested = ", ".join(python.version for python in (first, *others))
    print("== {} under Python {}".format("FAILED" if run.failed else "passed", tested), flush=True)
    return not run.failed


def check(_arguments: list[str]) -> bool:
    """Run formatter, linter, walls and types, and beside them the trusted rooms' quick tests: what a commit needs, in a minute."""
    python = ready(".venv", first_interpreter(), "test")
    with ThreadPoolExecutor(1) as beside:
        tools = beside.submit(lambda: [said for command in CHECKS if (said := complaint(python, command))])
        passed = pytest("trusted rooms", python, [*SPREAD, "-m", "not soak and not slow", *TRUSTED])
        print("\n".join(tools.result()), end="", flush=True)
    return passed and not tools.result()


def complaint(python: str, command: tuple[str, ...]) -> str:
    """Run a tool of the environment and return what it complains of."""
    program = [str(Path(python).parent / command[0]), *command[1:]]
    done = subprocess.run(program, cwd=ROOT, capture_output=True, text=True, check=False)
    return "== {}\n{}{}".format(" ".join(command), done.stdout, done.stderr) if done.returncode else ""


def soak(arguments: list[str]) -> bool:
    """Run the long tests, in an hour to two on two cores; what is timed runs alone, after the others; then the table of coverage."""
    python = ready(".venv", first_interpreter(), "test")
    os.environ.setdefault("DPNB_HYPOTHESIS", "soak")
    long, timed = ["-m", "soak"], "tests/benchmarks"
    if arguments:
        return pytest("soak", python, [*long, *arguments])
    passed = [
        pytest("soak", python, ["-n2", *long, "--ignore=" + timed]),
        pytest("soak: " + timed, python, [*long, timed]),
    ]
    with step("docs/coverage.md: 10,000 releases of every statistic"):
        done = subprocess.run([python, "-m", "tests.statistics.coverage_table"], cwd=ROOT, check=False)
    return all(passed) and done.returncode == 0


def install_library(name: str, needs: list[str], python: Python) -> bool:
    """Put a library that dpnb is compared with into an environment of its own; say so where that cannot be done."""
    folder = ROOT / (".venv-bench-" + name)
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
        if subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            raise Failure("pip could not install {}: it is left out of the comparison".format(name))
        (folder / STAMP).write_text(json.dumps({"key": key}))
        return True
    return False


def bench(arguments: list[str]) -> bool:
    """Measure dpnb beside other libraries, each in an environment of its own, and write docs/benchmarks.md: hours on two cores."""
    python = first_interpreter()
    measurer = ready(".venv", python, "test")
    listed = ROOT / "tests" / "benchmarks" / "peers" / "environments.json"
    libraries = json.loads(listed.read_text(encoding="utf-8"))
    absent = [name for name, needs in libraries.items() if not install_library(name, needs, python)]
    if absent:
        print("-- not installed, and so not compared: " + ", ".join(absent), flush=True)
    command = [measurer, "-m", "peers", *arguments]
    return subprocess.run(command, cwd=listed.parent.parent, check=False).returncode == 0


def demo(_arguments: list[str]) -> bool:
    """Run the tour and write the page."""
    python = ready(".venv", first_interpreter(), "demo")
    return subprocess.run([python, "-m", "dpnb.notebook.demo"], cwd=ROOT, check=False).returncode == 0


def lab(_arguments: list[str]) -> bool:
    """Open JupyterLab on the tour, with a front end that is built again whenever its sources change."""
    python = ready(".venv", first_interpreter(), "lab,studies")
    watching = None
    if front_end():
        watching = subprocess.Popen([str(find_npm()), "run", "-s", "watch"], cwd=ROOT / "labextension")
    try:
        command = [python, "-m", "jupyterlab", "notebooks/00-tour.ipynb"]
        command.append("--LabApp.extra_labextensions_path={}".format(ROOT / "labextension" / "dist"))
        if hasattr(os, "geteuid") and os.geteuid() == 0:
            command.append("--allow-root")  # a container's only user is often root
        return subprocess.run(command, cwd=ROOT, check=False).returncode == 0
    except KeyboardInterrupt:
        return True
    finally:
        if watching is not None:
            watching.terminate()


def school(_arguments: list[str]) -> bool:
    """Start a class on this machine, for a look: a Hub, its proxy and a curator."""
    if not front_end():
        raise Failure("A JupyterHub needs Node.js for its proxy: install Node.js 20.19 or newer.")
    python = ready(".venv", first_interpreter(), "class")
    look = [python, str(ROOT / "notebooks" / "deploy" / "class" / "look.py")]
    with contextlib.suppress(KeyboardInterrupt):
        return subprocess.run(look, cwd=ROOT, check=False).returncode == 0
    return True


def docs(arguments: list[str]) -> bool:
    """Build the site, with every interaction live where the front end could be built; a warning is a failure."""
    front_end()
    python = ready(".venv-docs", first_interpreter(), "docs")
    with step("build: the site"):
        if site(python, "dpnb_site", arguments):
            raise Failure("the site was not built: see the messages above.")
    print("-- open build-docs/html/index.html", flush=True)
    return True


def reference(_arguments: list[str]) -> bool:
    """Write the pages that the code writes about itself."""
    return site(ready(".venv", first_interpreter(), "demo"), "dpnb_site.reference", []) == 0


def site(python: str, module: str, arguments: list[str]) -> int:
    """Run a program of the site's and return its code."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "docs")}
    command = [python, "-m", module, *arguments]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def clean(_arguments: list[str]) -> bool:
    """Remove what the other targets made."""
    made = [folder for folder in ROOT.glob(".venv*") if read_stamp(folder)]
    made += [
        ROOT / name
        for name in (
            "build-demo",
            "build-bench",
            "build-docs",
            ".mypy_cache",
            ".ruff_cache",
            ".pytest_cache",
            ".hypothesis",
        )
    ]
    made += [
        ROOT / ".import_linter_cache",
        *(ROOT / "labextension" / name for name in ("node_modules", "lib", "dist", "src/kinds")),
        ROOT / BESIDE,
        ROOT / "dpnb" / "widgets" / "static",
        *ROOT.glob("dpnb/**/__pycache__"),
        *ROOT.glob("tests/**/__pycache__"),
    ]
    for folder in made:
        shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(FileNotFoundError):
        (ROOT / "demo.html").unlink()
    return True


TARGETS = {
    "demo": demo,
    "lab": lab,
    "class": school,
    "docs": docs,
    "reference": reference,
    "check": check,
    "test": test,
    "soak": soak,
    "bench": bench,
    "clean": clean,
}


def main() -> NoReturn:
    """Run one target."""
    try:
        succeeded = TARGETS[sys.argv[1]](sys.argv[2:])
    except Failure as failure:
        print("-- " + str(failure), file=sys.stderr)
        succeeded = False
    except subprocess.CalledProcessError as failure:
        print("-- This command failed: " + " ".join(map(str, failure.cmd)), file=sys.stderr)
        succeeded = False
    sys.exit(0 if succeeded else 1)


if __name__ == "__main__":
    main()

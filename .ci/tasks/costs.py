"""What the steps of the tests took, beside what they may take."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Iterator, NamedTuple, Sequence
from xml.etree import ElementTree as ET

from tasks import project
from tasks.interpreters import VERSIONS
from tasks.project import Failure, step

# minutes on the clock, on two quiet cores; ALLOWED is of the clock and of processor, the difference is for engines to come
LINTERS, LIBRARY, SPARK, BROWSER, ALONE = (
    "linters, walls, front end",
    "library",
    "Spark",
    "browser",
    "timing, alone",
)
OTHER = "Python {}: what may differ"
BUDGET = {
    LINTERS: 1.5,
    LIBRARY: 5,
    SPARK: 1.5,
    BROWSER: 6,
    ALONE: 1,
    **{OTHER.format(version): 1 for version in VERSIONS},
}
ALLOWED = (20, 30)
SLOWEST = 20
SPENT = project.ROOT / ".ci" / "spent.py"
MEMORY, ROOM = "/dev/shm", 4 * 2**30  # noqa: S108 -- a folder of its own is made in it


class Cost(NamedTuple):
    """What a step of the tests took: seconds on the clock, and seconds of processor, of all its processes."""

    name: str
    wall: float
    processor: float


@contextlib.contextmanager
def place_for_files() -> Iterator[str]:
    """Make a folder for what tests write: in memory, where a ledger does not wait for its disk at every charge, if there is room."""
    folder = tempfile.mkdtemp(prefix="dpnb-", dir=MEMORY if serves(MEMORY) else None)
    os.chmod(folder, 0o711)  # noqa: S103 -- a server that is another user's passes through
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def serves(memory: str) -> bool:
    """Tell whether there is such a folder, with room, that lets programs run."""
    if not os.access(memory, os.W_OK):
        return False
    found = os.statvfs(memory)
    return found.f_bavail * found.f_frsize > ROOM and not found.f_flag & os.ST_NOEXEC


def pytest(
    name: str, python: str, arguments: list[str], under: Sequence[str] = (), files: str | None = None
) -> bool:
    """Run pytest as a step, under another command and with its files in a folder if these are given, and tell whether it passed."""
    command = [*under, python, "-m", "pytest", "-q", *arguments]
    environment = {**os.environ, **({"TMPDIR": files} if files else {})}
    with contextlib.suppress(Failure):
        with step("test: " + name):
            if subprocess.run(command, cwd=project.ROOT, env=environment, check=False).returncode:
                raise Failure(name)
        return True
    return False


class Run:
    """The steps of one `make test`: whether they passed, what each took, and how long each test was."""

    def __init__(self, reports: Path, files: str | None = None) -> None:
        self.reports, self.files = reports, files
        self.costs: list[Cost] = []
        self.failed: list[str] = []

    def pytest(self, name: str, python: str, arguments: list[str], *, on_disk: bool = False) -> None:
        """Run a step of tests, its files on a disk if it has a reason; note what it took and how long each test was."""
        spent, report = (self.reports / (str(len(self.costs)) + end) for end in (".spent", ".xml"))
        counted = [sys.executable, str(SPENT), str(spent)]
        start = time.monotonic()
        files = None if on_disk else self.files
        if not pytest(name, python, ["--junitxml={}".format(report), *arguments], counted, files):
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

"""What the steps of the tests took, beside what they may take."""

from __future__ import annotations

import contextlib
import itertools
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

# minutes of processor of each step; ALLOWED is on the clock of two quiet cores, and of processor
LINTERS, LIBRARY, SPARK, BROWSER, ALONE = (
    "linters, walls, front end",
    "library, mutants, notebooks, PostgreSQL",
    "Spark",
    "browser, Hub",
    "timing, alone",
)
OTHER = "Python {}: what may differ"
BUDGET = {
    LINTERS: 3,
    LIBRARY: 25,
    SPARK: 1.5,
    BROWSER: 10,
    ALONE: 0.5,
    **{OTHER.format(version): 2.5 for version in VERSIONS[1:]},  # the lowest runs everything
}
ALLOWED = (25, 45)
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
    name: str,
    python: str,
    arguments: list[str],
    under: Sequence[str] = (),
    files: str | None = None,
    said: str | None = None,
) -> bool:
    """Run pytest as a step, and tell whether it passed.

    If they are given: under another command, with its files in a folder, and with what it says in a file until it has ended.
    """
    command = [*under, python, "-m", "pytest", "-q", *arguments]
    environment = {**os.environ, **({"TMPDIR": files} if files else {})}
    with contextlib.suppress(Failure):
        with step("test: " + name), said_at_the_end(said) as out:
            if subprocess.run(
                command, cwd=project.ROOT, env=environment, stdout=out, stderr=out, check=False
            ).returncode:
                raise Failure(name)
        return True
    return False


@contextlib.contextmanager
def said_at_the_end(name: str | None) -> Iterator[int | None]:
    """Give a place for what a step says, which is printed after it: two that speak at once cannot be read."""
    if name is None:
        yield None
        return
    with open(name, "wb") as out:
        try:
            yield out.fileno()
        finally:
            print(Path(name).read_text(errors="replace"), end="", flush=True)


class Run:
    """The steps of one `make test`: whether they passed, what each took, and how long each test was."""

    def __init__(self, reports: Path, files: str | None = None) -> None:
        self.reports, self.files = reports, files
        self.costs: list[Cost] = []
        self.failed: list[str] = []
        self.numbers, self.began = itertools.count(), time.monotonic()

    def pytest(
        self, name: str, python: str, arguments: list[str], *, on_disk: bool = False, aside: bool = False
    ) -> None:
        """Run a step of tests; note what it took and how long each test was.

        Its files are on a disk if it has a reason. One that runs aside, beside another, says what it has to say at its end.
        """
        number = str(next(self.numbers))
        spent, report, said = (self.reports / (number + end) for end in (".spent", ".xml", ".txt"))
        counted = [sys.executable, str(SPENT), str(spent)]
        start = time.monotonic()
        files = None if on_disk else self.files
        arguments = ["--junitxml={}".format(report), *arguments]
        if not pytest(name, python, arguments, counted, files, str(said) if aside else None):
            self.failed.append(name)
        self.costs.append(Cost(name, time.monotonic() - start, float(spent.read_text())))

    def say(self) -> None:
        """Print what each step took beside its budget, the total, and the slowest tests."""
        print("== minutes on the clock, and of processor ({})".format(machine()))
        for cost in self.costs:
            say_cost(cost, 0, BUDGET.get(cost.name, 0))
        # steps run beside one another: together they took less on the clock than their sum
        wall, processor = time.monotonic() - self.began, sum(cost.processor for cost in self.costs)
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

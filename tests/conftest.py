"""What every test starts from: its own DPNB_HOME, and hypothesis settings for the ordinary and the long run."""

from __future__ import annotations

import gc
import itertools
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.examples import LONG, ORDINARY
from tests.forked_curators import Forks

STARTED = ("curator", "serving", "wire", "benchmarks", "repo")
"""Rooms of tests that start curators as everybody does."""
# nbformat brings jsonschema, whose check of international addresses compiles a grammar: 2.4 s in each process, for what no notebook has
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]
# the second thread of a matrix product waits by spinning: on a busy machine a check of 1 s takes 34
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
PROFILE = os.environ.get("DPNB_HYPOTHESIS", "ordinary")

pytest.register_assert_rewrite("tests.contracts")

settings.register_profile(
    "ordinary",
    max_examples=ORDINARY,
    deadline=None,  # two shared cores: a slow example is not a failure
    derandomize=True,  # an ordinary run finds what it found yesterday; the soak looks further
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("soak", settings.get_profile("ordinary"), max_examples=LONG, derandomize=False)
settings.load_profile(PROFILE)


@pytest.hookimpl(tryfirst=True)  # before it is chosen by marks
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Make every property test a long one where many examples are asked for; refuse a test whose name holds an address.

    Such a test would have another name in every process of a parallel run.
    """
    if PROFILE == "soak":
        for item in items:
            if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
                item.add_marker("soak")
    unstable = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if unstable:
        raise pytest.UsageError(f"give these parameters ids of their own: {unstable}")


def pytest_collection_finish() -> None:
    """Leave modules and collected tests, which live to the end, out of every garbage collection of the run."""
    gc.collect()
    gc.freeze()


def pytest_sessionfinish() -> None:
    """Let the end of the process free them."""
    gc.unfreeze()


@pytest.fixture(scope="session")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Give one free path after another, in a folder of their own: pytest counts by listing all that is beside."""
    folder = tmp_path_factory.mktemp("homes")
    return (folder / str(number) for number in itertools.count())


@pytest.fixture(scope="session")
def forked_curators() -> Iterator[Forks]:
    """Fork the curators of this process's tests."""
    made = Forks()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def dpnb_home(
    homes: Iterator[Path],
    forked_curators: Forks,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Path]:
    """Give each test a DPNB_HOME of its own: no ledger, store, curator or figure outlives a test or meets another."""
    home = next(homes)
    home.mkdir()
    monkeypatch.setenv("DPNB_HOME", str(home))
    monkeypatch.setenv("DPNB_LINGER", "0.2")
    if request.path.relative_to(Path(__file__).parent).parts[0] not in STARTED:
        monkeypatch.setattr("dpnb.client.launch.subprocess", forked_curators)
    yield home
    if "dpnb.client.api" in sys.modules:
        sys.modules["dpnb.client.api"].close()
    if (
        "matplotlib.pyplot" in sys.modules
    ):  # a front end closes what a cell drew; pyplot warns of the 21st that is open
        sys.modules["matplotlib.pyplot"].close("all")


@pytest.fixture
def service(dpnb_home: Path) -> Iterator[Any]:
    """The curator of whoever asks, in this process."""
    from tests.curator import small

    made = small.curator(dpnb_home)
    yield made
    made.close()


@pytest.fixture
def data(service: Any, dpnb_home: Path) -> Any:
    """A handle on the small dataset of the curator's tests, forty protected rows, whose curator is in this process."""
    from tests.curator import small

    return small.opened(small.session(service, "ann"), dpnb_home)

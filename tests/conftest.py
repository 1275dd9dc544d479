"""What every test starts from: its own DPNB_HOME, and hypothesis settings for the ordinary and the long run."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

pytest.register_assert_rewrite("tests.contracts")

settings.register_profile(
    "ordinary",
    max_examples=60,
    deadline=None,  # two shared cores: a slow example is not a failure
    derandomize=True,  # an ordinary run finds what it found yesterday; the soak looks further
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("soak", settings.get_profile("ordinary"), max_examples=5_000, derandomize=False)
settings.load_profile(os.environ.get("DPNB_HYPOTHESIS", "ordinary"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Refuse a test whose name holds an address: it would have another name in every process of a parallel run."""
    unstable = [item.nodeid for item in items if " at 0x" in item.nodeid]
    if unstable:
        raise pytest.UsageError(f"give these parameters ids of their own: {unstable}")


@pytest.fixture(autouse=True)
def dpnb_home(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> Iterator[os.PathLike[str]]:
    """Give each test a DPNB_HOME of its own: no ledger, store or curator outlives a test or meets another."""
    home = tmp_path_factory.mktemp("home")
    monkeypatch.setenv("DPNB_HOME", str(home))
    monkeypatch.setenv("DPNB_LINGER", "0.2")
    yield home
    if "dpnb.client.api" in sys.modules:
        sys.modules["dpnb.client.api"].close()

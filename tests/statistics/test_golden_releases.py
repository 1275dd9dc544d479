"""For fixed bits, what every statistic releases is pinned: a change needs a higher MECHANISM_VERSION."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from dpnb.statistics import BY_NAME
from dpnb.trusted.curator.release import MECHANISM_VERSION
from dpnb.trusted.mechanisms import DiscreteLaplace, PermuteAndFlip
from dpnb.trusted.mechanisms.thresholding import Thresholding
from tests.statistics import golden

REASON = (
    "changed what is released for the same bits. If that is wanted, raise MECHANISM_VERSION in dpnb/trusted/curator/release.py "
    "and run python -m tests.statistics.golden; stored answers of the old version are then not served any more."
)


def wrong_rate(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Choices with coins of a rate that is a hundredth too large."""
    monkeypatch.setattr(
        PermuteAndFlip, "rate", property(lambda choice: choice.epsilon * Fraction(101, 100) / choice.factor)
    )
    return {"permute and flip"}


def wrong_place(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Counts that are shown above the threshold, and no more at it."""
    real = Thresholding.shown

    def above(mechanism: Thresholding, *told: list[int]) -> tuple[int, ...]:
        return real(replace(mechanism, threshold=mechanism.threshold + 1), *told)

    monkeypatch.setattr(Thresholding, "shown", above)
    return {"thresholding", "thresholded sums"}


@pytest.mark.slow
def test_every_release_is_the_one_on_file() -> None:
    on_file, made = golden.read(), golden.releases()
    different = sorted(
        name
        for name in made.keys() | on_file["releases"].keys()
        if made.get(name) != on_file["releases"].get(name)
    )
    assert not different, f"{', '.join(different[:5])} ({len(different)} in all) {REASON}"


def test_the_file_is_that_of_the_version_and_all_of_it() -> None:
    """The version in the code is the newest on file, and the digest on file is that of the releases on file."""
    on_file = golden.read()
    assert list(on_file["versions"])[-1] == MECHANISM_VERSION, REASON
    assert on_file["versions"][MECHANISM_VERSION] == golden.digest(on_file["releases"]), REASON
    assert list(map(int, on_file["versions"])) == sorted(map(int, on_file["versions"]))


def test_every_mechanism_draws_what_is_on_file() -> None:
    """Many draws of each: a release is one draw, which a sampler that is a hundredth off seldom changes."""
    on_file = golden.read_draws()
    assert list(on_file)[-1] == MECHANISM_VERSION, REASON
    assert golden.draws() == on_file[MECHANISM_VERSION], REASON


@pytest.mark.slow
@pytest.mark.parametrize("wrong", [wrong_rate, wrong_place], ids=lambda wrong: wrong.__name__)
def test_a_sampler_that_is_off_by_little_is_not_the_one_on_file(
    monkeypatch: pytest.MonkeyPatch, wrong: Callable[[pytest.MonkeyPatch], set[str]]
) -> None:
    """Neither changes one golden release: only many draws show them."""
    names, on_file = wrong(monkeypatch), golden.read_draws()[MECHANISM_VERSION]
    made = golden.draws()
    assert {one for one in on_file if on_file[one] != made[one]} == names


def test_every_statistic_is_pinned_under_every_unit() -> None:
    names = golden.read()["releases"]
    for statistic in BY_NAME:
        for unit in golden.UNITS:
            kinds = {name.rpartition(", ")[2] for name in names if name.startswith(f"{statistic} 0, {unit},")}
            assert kinds == ({"approx"} if statistic == "frequent_values" else {"epsilon", "rho"}), (
                statistic,
                unit,
            )


def test_a_version_that_is_written_is_never_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise of another scale under the same version: the test above fails, and writing anew is refused."""
    real = DiscreteLaplace.noised
    monkeypatch.setattr(
        DiscreteLaplace,
        "noised",
        lambda mechanism, exact, bits: real(DiscreteLaplace(mechanism.scale * 2), exact, bits),
    )
    monkeypatch.setattr(golden, "SAMPLES", {"count": golden.SAMPLES["count"]})
    assert (
        golden.releases()["count 0, add-remove, epsilon"]
        != golden.read()["releases"]["count 0, add-remove, epsilon"]
    )
    with pytest.raises(SystemExit, match="MECHANISM_VERSION"):
        golden.write()


def test_a_new_statistic_is_added_to_the_releases_of_the_version(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It changes no stored answer, so that the version stays; a file that somebody edited is refused."""
    on_file, place = golden.read(), tmp_path / "releases.json"
    monkeypatch.setattr(golden, "FILE", place)
    few = {name: golden.SAMPLES[name] for name in ("count", "sum")}
    monkeypatch.setattr(golden, "SAMPLES", few)
    both = golden.releases()
    older = {name: one for name, one in both.items() if name.startswith("count")}
    for digest, wanted in ((golden.digest(older), both), ("0" * 64, None)):
        versions = {**on_file["versions"], MECHANISM_VERSION: digest}
        place.write_text(json.dumps({"versions": versions, "releases": older}), encoding="utf-8")
        if wanted is None:
            with pytest.raises(SystemExit, match="MECHANISM_VERSION"):
                golden.write()
        else:
            golden.write()
            assert golden.read()["releases"] == wanted
            assert golden.read()["versions"][MECHANISM_VERSION] == golden.digest(wanted)

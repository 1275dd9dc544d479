"""An entry for the registry of deployments: three tiers, filled from schema and releases, and what people must add."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dpnb
from dpnb import cards
from dpnb.cards.deployment import deployments
from dpnb.errors import OptionError
from dpnb.trusted.schema import Mode
from tests.cards import made


def entry_of(folder: Path) -> dict[str, Any]:
    """The one entry that a report of two answers writes."""
    found = made.report("collected", "age").estimates
    cards.report(found, schemas=[made.study()], registry=folder / "deployment.json")
    read = json.loads((folder / "deployment.json").read_text(encoding="utf-8"), parse_constant=pytest.fail)
    (entry,) = read["deployments"]
    return dict(entry)


def test_the_entry_has_the_three_tiers_of_the_registry(tmp_path: Path) -> None:
    """Flavour, unit, loss and model; domain, what is public, accounting and implementation."""
    entry = entry_of(tmp_path)
    tier_2, tier_3 = entry["tier_2"], entry["tier_3"]
    assert tier_2["dp_flavour"] == "pure ε-differential privacy"
    assert tier_2["privacy_unit"] == "one row"
    assert tier_2["deployment_model"].startswith("central")
    assert tier_2["privacy_loss_promised"] == made.study().budget.label
    assert set(tier_3["data_domain"]) == set(made.study().names)
    assert "discrete Laplace" in tier_3["accounting"]["mechanisms"]
    assert tier_3["implementation"]["software"] == f"dpnb {dpnb.__version__}"
    assert any("number of rows" in said for said in tier_3["unprotected_quantities"])


def test_the_loss_is_the_exact_sum_of_the_releases(tmp_path: Path) -> None:
    entry = entry_of(tmp_path)
    releases = {
        release.id: release.loss
        for one in made.report("collected", "age").estimates.values()
        for release in one.releases
    }
    total = sum(loss.amount for loss in releases.values())
    assert entry["tier_2"]["privacy_loss_of_these_releases"] == {"ε": str(total)}


def test_what_only_people_know_is_named_and_left_empty(tmp_path: Path) -> None:
    """Nobody's name or purpose is made up; every empty field is listed, and no other."""
    entry = entry_of(tmp_path)
    assert {"tier_1.data_curator", "tier_1.intended_use", "tier_3.implementation.rationale"} <= set(
        entry["left_to_fill"]
    )
    for name in entry["left_to_fill"]:
        found: Any = entry
        for part in name.split("."):
            found = found[part]
        assert found is None


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("teaching", "nothing is protected"),
        ("guard-rail", "mistakes"),
        ("enforced", "another user's process"),
    ],
)
def test_the_entry_says_what_the_mode_protects(mode: str, words: str) -> None:
    schema = replace(made.study(), mode=Mode(mode), public=True)
    (entry,) = deployments([made.estimate("collected")], [schema])["deployments"]
    assert words in entry["tier_3"]["implementation"]["security"]


def test_another_ending_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    found = made.report("collected").estimates
    with pytest.raises(OptionError, match="JSON"):
        cards.report(
            found, schemas=[made.study()], to=tmp_path / "r.html", registry=tmp_path / "deployment.yaml"
        )
    assert not list(tmp_path.iterdir())


def test_the_methods_paragraph_has_the_fields_of_the_registry() -> None:
    """Flavour, model, unit, adjacency, loss, promise, mechanisms and software stand in the prose."""
    found = made.report("collected", "age").estimates
    paragraph = cards.report(found, schemas=[made.study()]).methods
    for words in ("central model", "privacy unit", "adjacency", "total budget", "Mechanisms", "cost ε"):
        assert words in paragraph

"""Every wrong version is caught: its check passes the code as it is, and fails it with that one thing wrong."""

from __future__ import annotations

import pytest

from tests.mutants import (
    accounting,
    answering,
    audits,
    derivation,
    estimating,
    holding,
    matrix,
    noticing,
    placing,
    preparing,
    reading,
    selection,
    sensitivity,
    sharing,
    tables,
    thresholding,
    tree,
)

MUTANTS = {
    **sensitivity.MUTANTS,
    **derivation.MUTANTS,
    **tables.MUTANTS,
    **thresholding.MUTANTS,
    **selection.MUTANTS,
    **accounting.MUTANTS,
    **answering.MUTANTS,
    **placing.MUTANTS,
    **preparing.MUTANTS,
    **reading.MUTANTS,
    **matrix.MUTANTS,
    **tree.MUTANTS,
    **estimating.MUTANTS,
    **audits.MUTANTS,
    **noticing.MUTANTS,
    **holding.MUTANTS,
    **sharing.MUTANTS,
}
ROOMS = (
    sensitivity,
    sharing,
    derivation,
    tables,
    thresholding,
    selection,
    accounting,
    answering,
    placing,
    preparing,
    reading,
    matrix,
    tree,
    estimating,
    audits,
    noticing,
    holding,
)


def test_there_are_at_least_25_and_no_name_is_used_twice():
    """PRIVACY 29 asks for 25 wrong versions; a repeated name would hide one."""
    assert len(MUTANTS) == sum(len(room.MUTANTS) for room in ROOMS) >= 25


def test_every_wrong_version_has_its_place():
    """What one of them replaces may not have gone."""
    for mutant in MUTANTS.values():
        with pytest.MonkeyPatch.context() as patch:
            mutant.break_it(patch)


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_version_is_caught(name, tmp_path_factory):
    """The check has nothing against the right version, and something against the wrong one."""
    mutant = MUTANTS[name]
    mutant.check(tmp_path_factory.mktemp("right"))
    with pytest.MonkeyPatch.context() as patch:
        mutant.break_it(patch)
        with pytest.raises((AssertionError, pytest.fail.Exception)):
            mutant.check(tmp_path_factory.mktemp("wrong"))

"""Every wrong version is caught: its check passes the code as it is, and fails it with that one thing wrong."""

from __future__ import annotations

import importlib

import pytest

from tests.mutants import (
    accounting,
    answering,
    audits,
    derivation,
    estimating,
    matrix,
    noticing,
    placing,
    preparing,
    reading,
    selection,
    sensitivity,
    sharing,
    sql_rules,
    tables,
    thresholding,
    tree,
)
from tests.mutants.table import Mutant, NotCaught, catch, replaced

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
    sql_rules,
)
MUTANTS = {name: mutant for room in ROOMS for name, mutant in room.MUTANTS.items()}


def test_there_are_at_least_25_and_no_name_is_used_twice():
    """PRIVACY 29 asks for 25 wrong versions; a repeated name would hide one."""
    assert len(MUTANTS) == sum(len(room.MUTANTS) for room in ROOMS) >= 25


@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.parametrize("name", MUTANTS)
def test_a_wrong_version_is_caught(name, tmp_path_factory):
    """The check has nothing against the right version, and against the wrong one what is wrong with it."""
    catch(MUTANTS[name], tmp_path_factory.mktemp("right"), tmp_path_factory.mktemp("wrong"))


class Code:
    """Something to be wrong about."""

    @staticmethod
    def double(number):
        """Return twice the number."""
        return 2 * number

    def told(self, number):
        """Return what a service tells, which has a word for every fault."""
        try:
            return self.double(number)
        except Exception:  # noqa: BLE001 - as a service does
            return "fault"


def doubled(_):
    """Pass if twice two is four."""
    assert Code().told(2) == 4


def refused(_):
    """Pass if three is refused."""
    with pytest.raises(ValueError, match="three"):
        Code().told(3)


def hidden(_):
    """Pass if twice two is four, failing behind whatever else there is."""
    try:
        assert Code.double(2) == 4
    except TypeError:
        pytest.fail("no four")


WRONG = {
    "its answer": (replaced(Code, "told", lambda _: lambda self, number: number + 1), doubled, None),
    "no difference": (replaced(Code, "told", lambda _: lambda self, number: 2 * number), doubled, "passes"),
    "another signature": (
        replaced(Code, "told", lambda _: lambda self: 5),
        doubled,
        "another reason: TypeError",
    ),
    "a TypeError that is told": (
        replaced(Code, "double", lambda _: staticmethod(lambda number, more: 5)),
        doubled,
        "stumbles: TypeError",
    ),
    "a TypeError behind the failure": (
        replaced(Code, "double", lambda _: None),
        hidden,
        "stumbles: TypeError",
    ),
    "a name that is gone": (replaced(Code, "triple", lambda right: right), doubled, "in place: KeyError"),
    "a text that is gone": (
        lambda _: pytest.fail("no such text"),
        doubled,
        "in place: Failed",
    ),
    "an import that fails": (
        replaced(Code, "told", lambda _: lambda *_: importlib.import_module("dpnb.no_such")),
        doubled,
        "another reason: ModuleNotFoundError",
    ),
    "another exception": (
        replaced(Code, "told", lambda _: lambda *_: [].pop()),
        doubled,
        "another reason: IndexError",
    ),
}


@pytest.mark.parametrize(("break_it", "check", "why"), WRONG.values(), ids=WRONG)
def test_only_a_failure_of_its_own_catches_a_wrong_version(break_it, check, why, tmp_path):
    """What no longer fits the code was never tried, also where a service makes a fault of the exception."""
    mutant = Mutant("It is wrong.", break_it, check)
    if why is None:
        catch(mutant, tmp_path, tmp_path)
    else:
        with pytest.raises(NotCaught, match=why):
            catch(mutant, tmp_path, tmp_path)
    doubled(tmp_path)  # nothing is left in place


def test_a_check_that_fails_the_right_version_too_catches_nothing(tmp_path):
    """It would fail whatever is wrong."""
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        catch(Mutant("It is right.", lambda _: None, refused), tmp_path, tmp_path)

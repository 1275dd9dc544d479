"""Every mechanism of the closed tuple has a contract of its own, and with it an audit of its claim and draws that are pinned."""

from __future__ import annotations

from dpnb.trusted.mechanisms import MECHANISMS
from tests.contracts.mechanism import contracts


def test_no_mechanism_escapes_its_contract():
    """A mechanism that joins the tuple must join these tests."""
    assert set(contracts()) == set(MECHANISMS)


def test_draws_of_two_mechanisms_are_pinned_under_two_names():
    """Each has some, and no name stands for two of them."""
    names = [name for contract in contracts().values() for name in contract.drawn()]
    assert len(set(names)) == len(names)
    assert all(contract.drawn() for contract in contracts().values())

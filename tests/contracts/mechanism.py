"""The contract of a mechanism: it declares itself wholly, its release is what it declares, and an audit finds no more loss than it claims.

A mechanism is tested by one subclass in tests/mechanisms. What other tests need of every mechanism (an instance, exact answers, draws to
pin) they take from there, by :func:`contracts`.
"""

from __future__ import annotations

import inspect
import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpnb.audit import audit
from dpnb.errors import LossError, PlanError
from dpnb.inference.law import drawn_words, law_of
from dpnb.inference.seeded_bits import SeededBits
from dpnb.inference.simulated_release import add_noise
from dpnb.trusted.canonical import canonical
from dpnb.trusted.mechanisms import MECHANISMS
from dpnb.trusted.mechanisms.mechanism_record import read_mechanism
from tests.contracts.law import FITS, MISFITS, fit

FOLDER = Path(__file__).parents[1] / "mechanisms"


@dataclass(frozen=True)
class Audited:
    """What an audit runs: an instance, the exact answers of two neighbours, and what they may cost at most.

    Parameters
    ----------
    mechanism : Mechanism
        Small enough that its whole law can be listed.
    neighbours : pair
        What it is given of either table.
    claim : PrivacyLoss
        What it claims of them.
    runs : int
        How often its exact sampler is run; a selection is drawn one at a time.
    """

    mechanism: Any
    neighbours: tuple[Any, Any]
    claim: Any
    runs: int = 10_000


@dataclass(frozen=True)
class Drawn:
    """Draws that are pinned (:mod:`tests.statistics.golden`): as many as a sampler that is a hundredth off needs to be seen."""

    mechanism: Any
    exact: Any
    times: int = 1


class MechanismContract(ABC):
    """What every mechanism must satisfy."""

    @abstractmethod
    def mechanism(self):
        """An ordinary instance."""

    @abstractmethod
    def audited(self) -> Audited:
        """Neighbours of a small instance, and its claim."""

    @abstractmethod
    def drawn(self) -> Mapping[str, Drawn]:
        """Draws of it, each under the name that is pinned."""

    def test_it_is_registered(self):
        """The closed tuple names this mechanism."""
        assert type(self.mechanism()) in MECHANISMS

    def test_it_is_read_back_from_its_record(self):
        """The ledger's file gives back exactly what was written."""
        mechanism = self.mechanism()
        assert read_mechanism(json.loads(canonical(mechanism.to_json()))) == mechanism

    def test_a_record_of_another_form_is_refused(self):
        """A field too many, one missing, another spelling of a number, another name, no noise."""
        record = self.mechanism().to_json()
        first = next(
            name for name, text in record.items() if (name != "mechanism" and text.isdigit()) or "/" in text
        )
        for wrong in (
            {**record, "more": "1"},
            {name: text for name, text in record.items() if name != first},
            {**record, first: record[first] + ".0"},
            {**record, first: " " + record[first]},
            {**record, first: "-" + record[first]},
            {**record, first: "nan"},
            {**record, first: None},
            {**record, "mechanism": "averaged-laplace"},
            {**record, "mechanism": "__import__"},
            {},
        ):
            with pytest.raises(PlanError):
                read_mechanism(wrong)

    def test_the_enumerated_loss_is_at_most_the_claim(self):
        """The whole output law on two neighbours, and a third of the claim at least: the pair is not an easy one."""
        one = self.audited()
        verdict = audit(one.mechanism, one.neighbours, one.claim)
        assert verdict.exact
        assert not verdict.breaks, verdict.text
        assert verdict.loss > 0.3 * verdict.claim

    @pytest.mark.parametrize("times", [1, pytest.param(20, marks=pytest.mark.soak)])
    def test_no_run_of_the_exact_sampler_speaks_against_the_claim(self, times):
        """The exact sampler, run and not read: the bound at α = 10⁻⁶ is at most the claim."""
        one = self.audited()
        verdict = audit(one.mechanism, one.neighbours, one.claim, method="sample", trials=times * one.runs)
        assert not verdict.breaks, verdict.text
        assert verdict.loss > 0.05

    def test_it_says_its_name_what_it_does_its_assumptions_and_its_proof(self):
        """A reader finds what the mechanism does, what it rests on, and where the proof is."""
        mechanism = self.mechanism()
        assert mechanism.title
        assert mechanism.phrase
        assert drawn_words(mechanism)
        assert len(mechanism.summary) > 80
        assert mechanism.reference
        assert "*Assumes.*" in type(mechanism).__doc__

    def test_its_json_is_text_only_and_names_it(self):
        """The exact parameters survive as text."""
        mechanism = self.mechanism()
        record = mechanism.to_json()
        assert json.loads(json.dumps(record)) == record
        assert record["mechanism"] == mechanism.name
        assert all(isinstance(value, str) for value in record.values())

    def test_it_is_frozen(self):
        """A mechanism cannot be loosened after it was priced."""
        mechanism = self.mechanism()
        field = fields(mechanism)[0].name
        with pytest.raises(AttributeError):
            setattr(mechanism, field, getattr(mechanism, field))


class TightContract(MechanismContract):
    """What a mechanism must satisfy whose audited neighbours need all that it claims."""

    @abstractmethod
    def dearer(self):
        """The audited instance with a loss that is 10 % larger."""

    def test_a_loss_ten_per_cent_over_the_claim_is_caught(self):
        """The audit has teeth: on a tight pair a tenth too much is seen."""
        one = self.audited()
        assert audit(self.dearer(), one.neighbours, one.claim).breaks


class AdditiveContract(TightContract):
    """What every mechanism that adds noise must satisfy."""

    @abstractmethod
    def calibrated(self, sensitivity, amount):
        """Calibrate for a sensitivity and a loss."""

    @abstractmethod
    def lost(self, mechanism, sensitivity):
        """The loss of an instance at a sensitivity."""

    @abstractmethod
    def stretched(self, factor):
        """The instance of :meth:`mechanism` with its scale times `factor`."""

    def test_calibration_and_loss_are_exact_inverses(self):
        """What is asked is exactly what is charged, for awkward rationals too."""
        for sensitivity in (1, 7, Fraction(9, 4), 2**40):
            for amount in (Fraction(1, 10), Fraction(1, 3), Fraction(999_999_937, 10**9)):
                assert self.lost(self.calibrated(sensitivity, amount), sensitivity) == amount

    def test_zero_sensitivity_zero_loss_and_floats_are_refused(self):
        """No mechanism is free, endless or approximate."""
        for sensitivity, amount in (
            (0, Fraction(1)),
            (1, Fraction(0)),
            (1, Fraction(-1)),
            (1, 0.5),
            (0.5, Fraction(1)),
        ):
            with pytest.raises(LossError):
                self.calibrated(sensitivity, amount)

    def test_noise_wider_than_two_to_the_48_is_refused(self):
        """Too wide a noise is refused before anything is charged."""
        with pytest.raises(PlanError, match="2\\^48"):
            self.calibrated(2**62, Fraction(1, 2**40))

    def test_release_adds_the_declared_noise(self):
        """Release minus exact value fits the declared law and misfits 0.9 and 1.1 times its scale."""
        mechanism = self.mechanism()
        exact = list(range(-50_000, 50_000))
        noise = np.array(mechanism.release(exact, SeededBits(41))) - np.array(exact)
        assert fit(noise, law_of(mechanism)) > FITS
        for factor in ("0.9", "1.1"):
            assert fit(noise, law_of(self.stretched(Fraction(factor)))) < MISFITS

    def test_release_neither_saturates_nor_wraps(self):
        """Answers of any length are released as Python integers near the exact ones."""
        for exact in ([2**126, -(2**126)], [2**63 - 1, -(2**63)], [2**70] * 200):
            released = self.mechanism().release(exact, SeededBits(42))
            assert isinstance(released, tuple)
            assert all(type(value) is int for value in released)
            reach = law_of(self.mechanism()).tail_radius(1e-12)
            assert all(abs(value - true) <= reach for value, true in zip(released, exact, strict=True))

    def test_release_takes_numpy_integers(self):
        """An int64 vector from an engine is released like a list."""
        exact = np.arange(5, dtype=np.int64)
        assert self.mechanism().release(exact, SeededBits(1)) == self.mechanism().release(
            [0, 1, 2, 3, 4], SeededBits(1)
        )

    def test_an_empty_vector_is_released_as_one(self):
        """No declared cell, no number."""
        assert self.mechanism().release([], SeededBits(1)) == ()

    def test_simulate_keeps_shape_and_law(self):
        """Simulated noise has the array's shape and the declared law; integers stay integers."""
        mechanism, rng = self.mechanism(), np.random.default_rng(43)
        noisy = add_noise(mechanism, np.full((1000, 100), 7), rng)
        assert noisy.shape == (1000, 100)
        assert noisy.dtype == np.int64
        assert fit(noisy.ravel() - 7, law_of(mechanism)) > FITS
        assert add_noise(mechanism, np.zeros(3), rng).dtype == np.float64


def _within(contract: type[MechanismContract]) -> Iterator[type[MechanismContract]]:
    yield contract
    for one in contract.__subclasses__():
        yield from _within(one)


@cache
def contracts() -> Mapping[type, MechanismContract]:
    """Return the contract of every mechanism that has one, from the tests of the mechanisms."""
    for file in sorted(FOLDER.glob("test_*.py")):
        import_module(f"tests.mechanisms.{file.stem}")
    made = [kind() for kind in _within(MechanismContract) if not inspect.isabstract(kind)]
    return {type(one.mechanism()): one for one in made}

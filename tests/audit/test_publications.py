"""Each attack against each publication: what promises nothing gives the secret away, and no bound is exceeded."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction

import numpy as np
import pytest

from dpnb.audit.attacks.benches import BENCHES, bench
from dpnb.audit.attacks.benches_of_one import count_bound
from dpnb.audit.attacks.publications import NEAR
from dpnb.errors import OptionError
from dpnb.mechanisms import DiscreteLaplace


@pytest.fixture(scope="module", params=BENCHES)
def found(request):
    """One bench after the other."""
    return bench(request.param)


def test_exact_answers_give_the_secret_away(found):
    """Every attack recovers more than four in five from what is published as it is."""
    assert found["raw"].rows[0].recovered > 0.8


def test_noise_under_a_small_total_leaves_only_guessing(found):
    """At the smallest ε of every bench the attack is within five points of guessing."""
    assert found["dp"].rows[0].recovered <= found.baseline + NEAR
    assert found.falls("dp") >= found.epsilons[0]


def test_no_private_publication_gives_more_than_its_bound(found):
    """At every ε the share recovered stays under the theorem, up to its own error."""
    for epsilon, row in zip(found.epsilons, found["dp"].rows, strict=True):
        assert row.recovered <= found["dp"].bound(epsilon) + 4 * row.error + 1e-9


def test_bounds_rise_from_guessing(found):
    """A bound starts at the guessing baseline where ε is nothing, and never falls."""
    for one in found.publications:
        if one.bound is not None:
            told = [one.bound(e) for e in (1e-9, *found.epsilons)]
            assert told[0] == pytest.approx(found.baseline, rel=1e-3)
            assert told == sorted(told)


def test_what_is_resampled_promises_nothing_and_mostly_leaks():
    """A bootstrap resample gives away four bits in five, and half of the members at 5 % false alarms."""
    assert bench("reconstruction")["resampled"].rows[0].recovered > 0.75
    assert bench("membership")["resampled"].rows[0].recovered > 0.4


def test_rounding_and_suppression_do_not_stop_reconstruction():
    """Counts in fives, or without the small ones, still give nine bits in ten."""
    for key in ("rounded", "suppressed"):
        assert bench("reconstruction")[key].rows[0].recovered > 0.9


def test_noise_in_floats_exceeds_what_its_epsilon_promises():
    """The low-order bits tell more than e^ε/(1 + e^ε) at every ε up to 2."""
    told = bench("floating point")
    for epsilon, row in zip(told.epsilons, told["floats"].rows, strict=True):
        if epsilon <= 2:
            assert row.recovered > told["floats"].bound(epsilon) + 4 * row.error


def test_the_bound_on_a_count_holds_for_the_best_guess_and_is_nearly_met():
    """For discrete Laplace the likeliest count is right as often as its largest probability, under 1/Σ e^(-kε)."""
    for epsilon in (0.1, 1.0, 3.0):
        law = DiscreteLaplace.calibrate(1, Fraction(str(epsilon))).law
        pmf = np.array([float(law.pmf(k)) for k in range(-400, 1401)])
        # all 1,001 counts alike: for each answer the nearest count is the best guess
        best = (
            sum(pmf[np.abs(answer - min(max(answer, 0), 1_000)) + 400] for answer in range(-400, 1401))
            / 1_001
        )
        assert best <= count_bound(epsilon)
        assert count_bound(epsilon) == pytest.approx(1 / sum(math.exp(-k * epsilon) for k in range(1_001)))


def test_a_bench_takes_no_array_and_names_what_there_is():
    """Only a name and a seed go in; another name is answered with the list."""
    assert set(inspect.signature(bench).parameters) == {"name", "rng"}
    with pytest.raises(OptionError, match="linkage"):
        bench("hope")
    with pytest.raises(OptionError, match="rounded"):
        bench("linkage")["hope"]

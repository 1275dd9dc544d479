"""Each attack against each publication: what promises nothing gives the secret away, and no bound is exceeded."""

from __future__ import annotations

import inspect
import math
from fractions import Fraction

import numpy as np
import pytest

from dpnb.audit.attacks.averaging import count_bound
from dpnb.audit.attacks.benches import BENCHES, bench
from dpnb.audit.attacks.publications import NEAR
from dpnb.errors import OptionError
from dpnb.inference.law import law_of
from dpnb.trusted.mechanisms import DiscreteLaplace


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


@pytest.mark.parametrize(
    ("name", "key", "least"),
    [
        ("reconstruction", "rounded", 0.9),
        ("reconstruction", "suppressed", 0.9),
        ("reconstruction", "resampled", 0.75),
        ("membership", "resampled", 0.4),
    ],
)
def test_what_promises_nothing_mostly_leaks(name, key, least):
    """Rounding and suppression leave nine bits in ten, a resample four in five; and half of the members at 5 % false alarms."""
    assert bench(name)[key].rows[0].recovered > least


def test_noise_in_floats_exceeds_what_its_epsilon_promises():
    """The low-order bits tell more than e^ε/(1 + e^ε) at every ε up to 2."""
    told = bench("floating point")
    for epsilon, row in zip(told.epsilons, told["floats"].rows, strict=True):
        if epsilon <= 2:
            assert row.recovered > told["floats"].bound(epsilon) + 4 * row.error


def test_the_bound_on_a_count_holds_for_the_best_guess_and_is_nearly_met():
    """For discrete Laplace the likeliest count is right as often as its largest probability, under 1/Σ e^(-kε)."""
    for epsilon in (0.1, 1.0, 3.0):
        law = law_of(DiscreteLaplace.calibrate(1, Fraction(str(epsilon))))
        pmf = np.array([float(law.pmf(k)) for k in range(-400, 1401)])
        # all 1,001 counts alike: for each answer the nearest count is the best guess
        best = (
            sum(pmf[np.abs(answer - min(max(answer, 0), 1_000)) + 400] for answer in range(-400, 1401))
            / 1_001
        )
        assert best <= count_bound(epsilon)
        assert count_bound(epsilon) == pytest.approx(1 / sum(math.exp(-k * epsilon) for k in range(1_001)))


def test_a_bench_takes_arrays_and_no_handle_and_names_what_there_is():
    """A name, a seed, a number and the reader's own arrays go in; another name is answered with the list."""
    assert set(inspect.signature(bench).parameters) == {"name", "rng", "reps", "arrays"}
    with pytest.raises(OptionError, match="at least 1"):
        bench("linkage", reps=0)
    with pytest.raises(OptionError, match="linkage"):
        bench("hope")
    with pytest.raises(OptionError, match="rounded"):
        bench("linkage")["hope"]


def test_repetitions_are_means_over_new_people():
    """Three repetitions are the mean of three benches of their own; the first is that of one; the people differ."""
    attack = BENCHES["linkage"]
    alone = [attack([4, place]) for place in range(3)]
    several = bench("linkage", 4, 3)
    assert several.reps == 3
    assert len({one.baseline for one in alone}) == 3
    assert several.baseline == pytest.approx(np.mean([one.baseline for one in alone]))
    for key in ("raw", "dp"):
        for place, row in enumerate(several[key].rows):
            shares = [one[key].rows[place].recovered for one in alone]
            assert row.recovered == pytest.approx(np.mean(shares))
            assert row.error >= np.std(shares, ddof=1) / math.sqrt(3) - 1e-12
    assert several["dp"].bound(1.0) == pytest.approx(np.mean([one["dp"].bound(1.0) for one in alone]))
    assert repr(bench("linkage", 4).table().columns) == repr(alone[0].table().columns)


def test_the_error_of_repetitions_holds_what_another_seed_gives():
    """Two sets of four repetitions agree within four of their standard errors, at every ε."""
    one, other = (bench("reconstruction", seed, 4)["dp"].rows for seed in (1, 2))
    for first, second in zip(one, other, strict=True):
        assert abs(first.recovered - second.recovered) <= 4 * math.hypot(first.error, second.error) + 1e-9
    assert one[0].error < bench("reconstruction", 1)["dp"].rows[0].error


def test_a_table_has_a_row_for_each_publication_and_loss():
    """Shares with errors; a bound where ε is paid, and none where nothing is promised."""
    found = bench("floating point")
    rows = found.table().rows
    assert len(rows) == sum(len(one.rows) for one in found.publications)
    for row in rows:
        assert math.isnan(row["bound"]) is math.isnan(row["epsilon"])
        assert row["guessing"] == found.baseline

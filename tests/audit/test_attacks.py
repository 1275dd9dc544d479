"""Each attack recovers a known answer it was not shown, and falls to guessing at the stated ε."""

from __future__ import annotations

import inspect
import json
import math

import numpy as np
import pytest

from dpnb.audit import attacks
from dpnb.audit.attacks import (
    averaging,
    certain_origin,
    differencing,
    floating_point,
    linkage,
    membership,
    membership_curve,
    reconstruct,
    reconstruction,
)
from dpnb.datasets import census
from dpnb.errors import LossError, OptionError

EXACT = math.inf


def near(row, times=4.0):
    """Whether a share is guessing, up to its own noise."""
    return abs(row.gain) <= times * row.error


@pytest.fixture(scope="module")
def grades():
    return np.random.default_rng(1).integers(40, 101, 31)


def test_differencing_recovers_alice_from_two_exact_means_and_not_at_half_an_epsilon(grades):
    """Two class averages give every grade; at ε 0.5 the difference is off by 400 points and is worth nothing."""
    found = differencing(grades, 0, 100, epsilons=(0.5, EXACT))
    assert found["exact"].recovered == 1
    assert near(found["0.5"])


def test_the_noise_of_a_difference_is_four_hundred_points():
    """Two means of Laplace noise R/(Nε), times N: sd 2R/ε = 400 at R = 100 and ε = 0.5 (THEORY 3.14)."""
    from dpnb.audit.attacks.differencing import _difference_noise

    noise = _difference_noise(100, 0.5, 200_000, np.random.default_rng(2))
    assert noise.std() == pytest.approx(400, rel=0.01)


def test_differencing_never_exceeds_what_epsilon_allows(grades):
    """At every ε the share recovered is at most the posterior bound."""
    for row in differencing(grades, 0, 100).rows:
        assert row.bound is None or row.recovered <= row.bound + 4 * row.error


def test_averaging_recovers_a_count_and_neither_a_store_nor_a_cap_lets_it():
    """Ten thousand fresh answers at ε 0.1 give the exact count; the stored answer or a fixed total give nothing."""
    asks = (1, 10_000)
    assert averaging(310, asks=asks).rows[1].recovered > 0.99
    assert near(averaging(310, asks=asks, defence="store").rows[1])
    assert averaging(310, asks=asks, defence="cap").rows[1].gain <= 0


def test_reconstruction_recovers_given_bits_from_exact_answers():
    """The fit is right for a secret that only the test knows, by both methods: its function has questions and answers alone."""
    assert set(inspect.signature(reconstruct).parameters) == {"asked", "answers", "method"}
    generator = np.random.default_rng(4)
    secret, asked = generator.integers(0, 2, 40), generator.integers(0, 2, (120, 40))
    for method in ("lp", "least-squares"):
        assert (reconstruct(asked, asked @ secret + generator.normal(0, 0.3, 120), method) == secret).all()


def test_reconstruction_matches_the_published_shares():
    """64 bits, 256 counts: the published 100/96/75/63/62/50 %, each within twelve points of a few runs."""
    secret = np.random.default_rng(5).integers(0, 2, 64)
    found = reconstruction(secret, reps=4, rng=6).recovered
    np.testing.assert_allclose(found, [1.0, 0.96, 0.75, 0.63, 0.62, 0.5], atol=0.12)
    assert found[0] == 1
    assert (found[:3] > found[3:] + 0.1).all()


def test_reconstruction_falls_to_guessing_at_half_an_epsilon_in_total():
    """256 answers that share ε 0.5 (noise sd 724) give no bit away; exact ones give all."""
    secret = np.arange(64) % 2
    found = reconstruction(secret, epsilons=(0.5, EXACT), method="least-squares", reps=30)
    assert near(found["0.5"])
    assert found["exact"].recovered == 1


def test_linkage_names_everyone_who_is_alone_and_not_at_a_tenth():
    """Exact counts give a register its secrets; at ε 0.1 the guess is the commonest value."""
    people = census(2_000, 3)
    quasi = [people["age"], people["sex"], people["state"]]
    found = linkage(quasi, people["education"], epsilons=(0.1, EXACT))
    _, size = np.unique(
        np.stack([np.unique(q, return_inverse=True)[1] for q in quasi]), axis=1, return_counts=True
    )
    assert found["exact"].recovered >= (size == 1).sum() / 2_000
    assert found["exact"].recovered > 0.8
    assert found["0.1"].gain < 0.02
    assert found["0.1"].recovered <= found["0.1"].bound


def test_membership_is_told_by_a_thousand_exact_means_and_not_at_one_epsilon():
    """Tracing finds nine members in ten at 5 % false alarms; at ε 1 in total no more than chance."""
    generator = np.random.default_rng(7)
    rates = generator.uniform(0.2, 0.8, 1_000)
    members, outsiders = ((generator.random((n, 1_000)) < rates).astype(int) for n in (100, 1_000))
    found = membership(members, outsiders, epsilons=(1, EXACT))
    assert found["exact"].recovered > 0.8
    assert near(found["1"])


def test_the_membership_curve_attains_the_bound_and_never_exceeds_it():
    """Laplace noise on one count: .0553, .0824, .1359, .3695 at α 0.05, and the sharp bound at every α."""
    for epsilon, power in ((0.1, 0.0553), (0.5, 0.0824), (1, 0.1359), (2, 0.3695)):
        curve = membership_curve(epsilon, [0.05, 0.3, 0.8])
        assert curve.laplace[0] == pytest.approx(power, abs=1e-4)
        assert (np.abs(curve.attained - curve.laplace) <= 5 * curve.error).all()
        assert (curve.attained <= curve.sharp + 5 * curve.error).all()
        assert (curve.sharp <= curve.published + 1e-12).all()


def test_floating_point_tells_the_count_for_certain_and_is_never_wrong():
    """Most answers rule out the neighbour, and whenever one does it is right; integers rule out nothing."""
    found = floating_point()
    assert found["floats, certain"].recovered > 0.75
    assert found["floats"].recovered > found["floats"].bound + 0.05
    assert found["integers, certain"].recovered == 0
    assert found["integers"].recovered <= found["integers"].bound + 4 * found["integers"].error
    for count in (0, 1):
        told = certain_origin(np.random.default_rng(8).laplace(count, 1, 3_000))
        assert set(told[~np.isnan(told)]) == {count}


def test_noise_made_of_one_logarithm_and_a_sign_rules_out_the_neighbour_in_63_of_100():
    """The share that was published for a count of 0 or 1 at ε 1, 63 %, is that of ±b·ln u; numpy's own noise gives 80 %."""
    found = floating_point(sampler="exponential", reps=8_000)["floats, certain"]
    assert abs(found.recovered - 0.635) < 4 * found.error


def test_the_attack_makes_numpys_noise_bit_by_bit():
    """The model of numpy's sampler gives exactly what numpy gives."""
    from dpnb.risk.float_laplace import float_laplace

    uniform = np.random.default_rng(3).random(2_000)
    drawn = float_laplace(uniform, 2.0, 0.5, above=uniform > 0.5)
    assert (drawn == np.random.default_rng(3).laplace(2.0, 0.5, 2_000)).all()


def test_floating_point_tells_nothing_of_noise_it_cannot_place():
    """Its own count is always possible: no answer is called impossible by mistake, at other scales too."""
    for scale in (0.5, 2.0, 8.0):
        told = certain_origin(np.random.default_rng(9).laplace(1, scale, 2_000), scale)
        assert not (told == 0).any()


RESULTS = {
    "differencing": lambda: differencing([1, 5, 9, 2], 0, 10, epsilons=(1, EXACT), reps=50),
    "averaging": lambda: averaging(7, asks=(1, 5), reps=20),
    "reconstruction": lambda: reconstruction([0, 1, 1, 0], queries=12, epsilons=(1, EXACT)),
    "linkage": lambda: linkage([[1, 2, 2, 3]], [0, 1, 1, 1], epsilons=(1, EXACT)),
    "membership": lambda: membership(np.eye(3), np.tile(np.eye(3), (20, 1)), epsilons=(1, EXACT)),
    "floating point": lambda: floating_point(reps=200),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_reads_as_text_card_json_and_figure(name):
    """Every row has its setting, the share recovered and the guessing baseline; JSON is strict."""
    result = RESULTS[name]()
    card = result.table()
    for row in result.rows:
        assert row.setting in card.text
        assert row.setting in str(card.html)
    assert "guessing" in repr(result)
    assert len(json.loads(json.dumps(card.json, allow_nan=False))["rows"]) == len(result.rows)
    assert result.plot().axes
    assert set(result._repr_mimebundle_()) >= {"text/html", "text/plain"}
    with pytest.raises(OptionError, match="unknown setting"):
        result["something else"]


def test_attacks_take_arrays_and_no_handle():
    """No attack has a parameter for a dataset handle, a session or a connection."""
    for name in attacks.__all__:
        thing = getattr(attacks, name)
        if inspect.isfunction(thing):
            assert not {"dataset", "handle", "session", "path"} & set(inspect.signature(thing).parameters)


@pytest.mark.parametrize(
    "call",
    [
        lambda: differencing([1, 2], 0, 10),
        lambda: differencing([1, 2, 3], 10, 0),
        lambda: differencing([1, 2, 3], 0, 10, epsilons=(0,)),
        lambda: averaging(3, defence="hope"),
        lambda: averaging(3, asks=()),
        lambda: averaging(3, epsilon=-1),
        lambda: reconstruction([0, 1, 2]),
        lambda: reconstruction([0, 1], sd=(1,), epsilons=(1,)),
        lambda: reconstruct([[1, 0]], [1, 2]),
        lambda: reconstruct([[1, 0]], [1], "magic"),
        lambda: linkage([], [1, 2]),
        lambda: linkage([[1, 2, 3]], [1, 2]),
        lambda: membership(np.eye(3), np.eye(4)),
        lambda: membership_curve(1, [0.0]),
        lambda: certain_origin([0.1], scale=3),
    ],
    ids=range(15),
)
def test_bad_input_to_an_attack_is_named(call):
    """What an attack cannot use is refused with a short message."""
    with pytest.raises((OptionError, LossError)) as caught:
        call()
    assert 10 < len(str(caught.value)) < 160


def test_linkage_takes_missing_values_and_refuses_what_is_no_column():
    """None is a value like the others, among numbers and texts too; no columns, or no list of them, is named."""
    found = linkage([[1, None, "x", 2]], [None, "a", None, "a"], epsilons=(EXACT,), reps=2)
    assert found.rows[0].recovered == 1
    for quasi, secret in [(None, None), (3, 4), ([None], [1, 2]), ([[1, [2]]], [1, 2]), ([[1, 2]], None)]:
        with pytest.raises(OptionError, match="quasi"):
            linkage(quasi, secret)

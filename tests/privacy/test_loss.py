"""Losses are exact: what is read is what was written, sums do not drift, and what cannot be read says what to type."""

from __future__ import annotations

import contextlib
import pickle
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpnb.errors import LossError
from dpnb.trusted.privacy.loss import (
    PrivacyLoss,
    bounded_above,
    brief,
    exact_text,
    floored,
    floored_digits,
    parse_exact,
    positive,
    rational,
)
from dpnb.trusted.privacy.measure import Measure

fractions = st.fractions()
amounts = st.fractions(min_value=0, max_value=10**9, max_denominator=10**9)
deltas = st.fractions(min_value=0, max_value=Fraction(1, 8), max_denominator=10**9)
measures = st.sampled_from(list(Measure))


@st.composite
def losses(draw, measure):
    return PrivacyLoss(
        measure, draw(amounts), draw(deltas) if measure is Measure.APPROX_ZCDP else Fraction(0)
    )


@st.composite
def triples(draw):
    measure = draw(measures)
    return tuple(draw(losses(measure)) for _ in range(3))


def test_ten_charges_of_a_tenth_fit_a_budget_of_one_exactly():
    total = sum([PrivacyLoss.pure(0.1)] * 10, PrivacyLoss.zero(Measure.PURE))
    assert total == PrivacyLoss.pure(1)
    assert total.fits_in(PrivacyLoss.pure(1))
    assert not (total + PrivacyLoss.pure("1e-9")).fits_in(PrivacyLoss.pure(1))


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (0.1, Fraction(1, 10)),
        ("0.1", Fraction(1, 10)),
        ("1e-3", Fraction(1, 1000)),
        (" 1/3 ", Fraction(1, 3)),
        (Decimal("0.25"), Fraction(1, 4)),
        (3, Fraction(3)),
        (np.float64(0.1), Fraction(1, 10)),
        (np.int64(2), Fraction(2)),
        (np.float32(0.5), Fraction(1, 2)),
        (".5", Fraction(1, 2)),
        ("2.", Fraction(2)),
    ],
)
def test_a_number_is_read_as_the_decimal_it_is_written_as(value, expected):
    assert rational(value) == expected


@pytest.mark.parametrize(
    "value",
    [
        float("nan"),
        float("inf"),
        -float("inf"),
        "nan",
        "Infinity",
        "one",
        "",
        "1/0",
        "1_000",
        "0x10",
        "1e99999999",
        "9" * 500,
        True,
        None,
        [1],
        {},
        1j,
        Decimal("NaN"),
        "١",
        "²",
        "1 2",
    ],
)
def test_what_is_no_finite_number_is_refused_with_an_example_to_type(value):
    with pytest.raises(LossError, match=r"epsilon=0\.5"):
        rational(value)


@pytest.mark.parametrize(
    "value", [0, -1, "-0.5", 1e-300, "1e-300", 1e10, "1e308", "-1e9999", "1e-9999", 0.12345678912345]
)
def test_a_loss_out_of_range_is_refused_and_the_message_names_a_number_that_is_accepted(value):
    with pytest.raises(LossError) as refusal:
        positive(value, name="rho")
    fix = refusal.value.message.rsplit("rho=", 1)[1].split()[0].rstrip(".")
    assert positive(fix, name="rho") > 0


@given(st.text(max_size=20))
def test_no_text_makes_the_reader_fail_in_another_way(text):
    """Reading any text gives a number or a LossError."""
    with contextlib.suppress(LossError):
        assert isinstance(rational(text), Fraction)


@given(st.floats())
def test_a_float_is_read_as_its_decimal_repr_or_refused(x):
    try:
        assert rational(x) == Fraction(repr(x))
    except LossError:
        assert not np.isfinite(x)


@given(fractions)
def test_exact_text_is_inverted_by_parse_exact(x):
    assert parse_exact(exact_text(x)) == x


@pytest.mark.parametrize(
    "text", ["1.0", "01", "2/4", "1/4", "-0", "+1", "1e3", " 1", ".5", "1.", "1/1", "", "1/0", "nan"]
)
def test_a_number_has_one_exact_text_and_no_other_is_accepted(text):
    with pytest.raises(LossError):
        parse_exact(text)


@given(fractions)
def test_floored_never_exceeds_and_stays_within_a_billionth(x):
    low = floored(x)
    assert low <= x < low + Fraction(1, 10**9)
    assert low.denominator <= 10**9


@given(st.fractions(min_value=Fraction(1, 10**5), max_value=10**9))
def test_solved_values_lose_less_than_a_hundredth_and_never_gain(x):
    low = floored_digits(x)
    assert low <= x < low * Fraction(101, 100)


@given(st.fractions(min_value=0))
def test_bounding_a_denominator_only_ever_adds_and_less_than_1e_60(x):
    above = bounded_above(x / 7**80)
    assert 0 <= above - x / 7**80 < Fraction(1, 10**60)


@given(st.fractions(min_value=Fraction(1, 10**12), max_value=10**9))
def test_what_is_shown_is_within_one_in_a_thousand_and_rounds_in_the_direction_asked(x):
    down, up = rational(brief(x, "down")), rational(brief(x, "up"))
    assert down <= x <= up
    assert abs(rational(brief(x)) - x) <= x / 1000


@given(triples())
def test_losses_add_like_numbers(triple):
    a, b, c = triple
    assert (a + b) + c == a + (b + c)
    assert a + b == b + a
    assert a + PrivacyLoss.zero(a.measure) == a
    assert (a + b) - b == a
    assert a.fits_in(a + b)
    assert bool(a) == (a != PrivacyLoss.zero(a.measure))


@given(triples())
def test_fitting_is_a_partial_order_that_addition_keeps(triple):
    a, b, c = triple
    if a.fits_in(b):
        assert (a + c).fits_in(b + c)
    if a.fits_in(b) and b.fits_in(c):
        assert a.fits_in(c)
    if a.fits_in(b) and b.fits_in(a):
        assert a == b


@given(triples())
def test_a_loss_survives_json_and_pickle_exactly(triple):
    loss = triple[0]
    assert PrivacyLoss.from_json(loss.to_json()) == loss
    assert pickle.loads(pickle.dumps(loss)) == loss


def test_what_is_left_is_never_negative():
    assert PrivacyLoss.pure(1) - PrivacyLoss.pure(2) == PrivacyLoss.zero(Measure.PURE)


@pytest.mark.parametrize(
    ("loss", "text"),
    [
        (PrivacyLoss.pure(1), "ε 1"),
        (PrivacyLoss.pure("1/3"), "ε 0.3333"),
        (PrivacyLoss.zcdp(0.5), "ρ 0.5"),
        (PrivacyLoss.approx(0.1, 1e-6), "ρ 0.1, δ 1e-06"),
        (PrivacyLoss.pure(25000), "ε 25000"),
        (PrivacyLoss.pure("1e-9"), "ε 1e-09"),
        (PrivacyLoss.zero(Measure.ZCDP), "ρ 0"),
    ],
)
def test_a_loss_reads_as_its_symbol_and_short_digits(loss, text):
    assert str(loss) == text


def test_losses_of_different_measures_cannot_be_combined():
    with pytest.raises(LossError, match="cannot be combined"):
        PrivacyLoss.pure(1) + PrivacyLoss.zcdp(1)
    with pytest.raises(LossError, match="cannot be combined"):
        PrivacyLoss.pure(1).fits_in(PrivacyLoss.zcdp(1))


@pytest.mark.parametrize(
    ("measure", "amount", "delta"),
    [
        ("pure", -1, 0),
        ("approx-zcdp", 1, 1),
        ("approx-zcdp", 1, -1),
        ("pure", 1, "1e-6"),
        ("zcdp", 1, "1e-6"),
    ],
)
def test_a_loss_that_means_nothing_cannot_be_made(measure, amount, delta):
    with pytest.raises(LossError):
        PrivacyLoss(Measure(measure), rational(amount), rational(delta))


@pytest.mark.parametrize(
    "record",
    [
        {},
        {"measure": "pure", "amount": "1"},
        {"measure": "pure", "amount": "1", "delta": "0", "x": 1},
        {"measure": "gdp", "amount": "1", "delta": "0"},
        {"measure": [], "amount": "1", "delta": "0"},
        {"measure": "pure", "amount": "NaN", "delta": "0"},
        {"measure": "pure", "amount": "1", "delta": "0.1"},
        {"measure": "pure", "amount": "-1", "delta": "0"},
        {"measure": "pure", "amount": None, "delta": "0"},
    ],
)
def test_a_record_that_is_not_exactly_a_loss_is_refused(record):
    with pytest.raises(LossError):
        PrivacyLoss.from_json(record)

"""A square beside its own column: where noise hides what tells them apart, the table says how to write it."""

from __future__ import annotations

import dpnb


def test_a_singular_square_says_how_to_write_it(data):
    """The middle of the declared bounds is taken off; without a square, or where it is centred, nothing is said."""
    fits = {
        "square": data.ols("y ~ x + x**2"),
        "centred": data.ols("y ~ x + (x - 5)**2"),
        "plain": data.ols("y ~ x"),
    }
    dpnb.release(fits, epsilon=3)
    assert "singular" in fits["square"].flags
    assert "Write (x - 5)**2 for x**2: the model is the same" in repr(fits["square"].summary())
    for name in ("centred", "plain"):
        assert "Write" not in repr(fits[name].summary())

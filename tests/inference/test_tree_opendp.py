"""OpenDP, an independent vetted library, makes the same noised tree consistent in the same way."""

from __future__ import annotations

import numpy as np
import pytest

from dpnb.inference.tree import ConsistentTree

dp = pytest.importorskip("opendp.prelude")


@pytest.mark.parametrize("depth", [1, 2, 4, 7])
def test_the_two_passes_agree_with_opendp(depth: int) -> None:
    """Equal noise on every level, a noised root: the consistent leaves are OpenDP's to 1e-9."""
    dp.enable_features("contrib")
    rng = np.random.default_rng(depth)
    levels = [rng.integers(-20, 60, 2**level) for level in range(depth + 1)]
    theirs = dp.t.make_consistent_b_ary_tree(2)([int(count) for level in levels for count in level])
    ours = ConsistentTree(2**depth, (4.0,) * (depth + 1)).fit([level.astype(float) for level in levels])
    np.testing.assert_allclose(ours, theirs, atol=1e-9)

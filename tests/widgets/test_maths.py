"""The maths that pictures are drawn with: what Python computes is what is on file, and vitest meets the same file."""

from __future__ import annotations

import pytest

from tests.widgets import cases


@pytest.mark.parametrize("name", sorted(cases.FILES))
def test_python_meets_the_golden_cases(name):
    """Each case on file is what Python computes today: `python -m tests.widgets.cases` writes them anew on purpose."""
    made, filed = cases.FILES[name](), cases.written(name)
    assert len(made) == len(filed)
    assert not [one for one, old in zip(made, filed, strict=True) if not cases.close(one, old)]

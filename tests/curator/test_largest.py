"""The largest batch of each statistic that the limits allow is answered, in the time and memory that are said."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from dpnb.statistics import BY_NAME
from tests.curator.largest import FORMS, OWN_FORMS, priced

SECONDS, MEGABYTES = 120, 1024
"""Of processor, and beyond what a curator at rest needs."""


def test_every_statistic_has_a_largest_batch():
    """A new statistic is asked as much as it may be, too: as a question that has a price."""
    assert set(OWN_FORMS) <= set(BY_NAME)
    for name, one in BY_NAME.items():
        told = [priced(form).checked for form in FORMS[name].values()]
        assert (
            max(question.setting.cells for question in told) > 1
            or one.target in {"numbers", "value"}
            or one.defaults
        )


@pytest.mark.soak
@pytest.mark.parametrize(
    ("statistic", "form"), [(name, form) for name, forms in FORMS.items() for form in forms]
)
def test_the_largest_batch_is_answered(tmp_path, statistic, form):
    """A batch that is admitted is answered: within two minutes of a processor of one's own, and a gigabyte."""
    tmp_path.chmod(0o700)
    line = [sys.executable, "-m", "tests.curator.largest", str(tmp_path), statistic, form]
    ended = subprocess.run(line, capture_output=True, text=True, check=False)
    assert not ended.returncode, ended.stderr
    told = json.loads(ended.stdout)
    assert told["reply"] == "Answered", told["reply"]
    assert told["seconds"] < SECONDS
    assert told["megabytes"] - told["before"] < MEGABYTES

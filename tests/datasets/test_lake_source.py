"""A table of Spark in a declaration: what it may say, and what is refused in words."""

from __future__ import annotations

import pytest

from dpnb.errors import OwnerError, Unavailable
from dpnb.teach.public_rows import read_file
from dpnb.trusted.schema.lake_table import LakeTable
from dpnb.trusted.schema.owner import load


def declared(source, section=None, **dataset):
    """A declaration with this source."""
    content = {
        "dataset": {"name": "visits", "source": source, "adjacency": "add-remove", **dataset},
        "budget": {"epsilon": 4},
        "columns": {"age": {"type": "integer", "lower": 0, "upper": 100}},
    }
    return content if section is None else {**content, "source": section}


@pytest.mark.parametrize(
    ("source", "folder"),
    [
        ("lake.visits", False),
        ("cat.lake.visits", False),
        ("/data/visits", True),
        ("s3a://lake/visits", True),
        ("hdfs:///data/visits, 2026", True),
    ],
)
def test_a_table_or_a_folder_is_named(source, folder):
    """Both are kept as they were written."""
    owned = load(declared(f"spark:{source}"))
    assert (owned.server, owned.server.is_folder) == (LakeTable(source), folder)
    assert (owned.source, owned.format) == (None, None)


def test_a_version_is_declared():
    """Beside the source, in its section."""
    owned = load(declared("spark:lake.visits", {"version": "2026-11"}))
    assert owned.server == LakeTable("lake.visits", "2026-11")


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (declared("spark:"), "names no table"),
        (declared("spark:data/visits"), "from its root"),
        (declared("spark:s3a://key:s3cret@lake/visits"), "contains a login"),
        (declared("spark:s3a://s3cret@lake/visits"), "contains a login"),
        (declared("spark:/data/*"), "one folder"),
        (declared("spark:lake.visits", table="visits"), "remove table"),
        (declared("spark:lake.visits", {"copy": False}), "remove copy"),
        (declared("spark:lake.visits", {"vresion": "1"}), "did you mean version"),
        (declared("spark:lake.visits", {"quoting": "none"}), "unknown key quoting"),
        (declared("spark:lake.visits", {"version": ""}), 'version = "2026-11"'),
        (declared("spark:lake.visits", {"version": 3}), 'version = "2026-11"'),
        (declared("s3a://lake/visits"), "spark:s3a"),
    ],
)
def test_what_is_refused_names_the_line_to_write(content, words):
    """And never a password."""
    with pytest.raises(OwnerError, match=words) as told:
        load(content)
    assert "s3cret" not in str(told.value)


def test_the_truth_of_public_rows_is_not_read_from_spark():
    """Whoever teaches has a file."""
    with pytest.raises(Unavailable, match=r"save lake\.visits as a CSV file"):
        read_file(load(declared("spark:lake.visits")))

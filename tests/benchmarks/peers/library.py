"""The libraries that are compared: their names in the tables, where each runs, and what it is asked."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[2]
FOLDER = ROOT / "docs" / "benchmarks"
"""The page's CSV files and pictures; the page is beside it."""


@dataclass(frozen=True)
class Library:
    """A library: its name, the module here that asks it, its environment, and the neighbours that it protects."""

    name: str
    module: str
    environment: str
    adjacencies: tuple[str, ...]

    @property
    def folder(self) -> Path:
        """The environment that `make bench` made for it."""
        return ROOT / f".venv-bench-{self.environment}"

    @property
    def python(self) -> str | None:
        """Its interpreter; dpnb without an environment of its own runs in this one."""
        found = self.folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        if found.exists():
            return str(found)
        return sys.executable if self.environment == "dpnb" else None


LIBRARIES = (
    Library("dpnb", "ours", "dpnb", ("change-one", "add-remove")),
    Library("OpenDP", "opendp", "opendp", ("change-one", "add-remove")),
    Library("diffprivlib", "diffprivlib", "diffprivlib", ("change-one",)),
    Library("SmartNoise", "smartnoise", "smartnoise", ("add-remove",)),
    Library("PyDP", "pydp", "pydp", ("add-remove",)),
    Library("OpenDP Polars", "opendp_polars", "opendp-polars", ("add-remove",)),
    Library("PipelineDP", "pipelinedp", "pipelinedp", ("add-remove",)),
    Library("Tumult", "tumult", "tumult", ("add-remove",)),
)
SYNTHESIZERS = (
    Library("dpnb", "synthetic_ours", "dpnb", ()),
    Library("OpenDP", "synthetic_opendp", "opendp-mbi", ()),
    Library("SmartNoise-synth", "synthetic_smartnoise", "smartnoise-synth", ()),
)
"""What makes synthetic rows; ``environments-synthetic.json`` has the environments of the others, 8 GB."""
TIMED_REGIONS = 50
FLOORS = (
    Library("DuckDB, exact", "exact_duckdb", "exact", ()),
    Library("Polars, exact", "exact_polars", "exact", ()),
)


@contextmanager
def surroundings(**more: str) -> Iterator[dict[str, str]]:
    """The variables of a run: a home of dpnb's that nothing else uses, one thread for each numerical library, and what else is given."""
    with tempfile.TemporaryDirectory() as home:
        fixed = {"DPNB_HOME": home, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        yield {**os.environ, **fixed, **more}

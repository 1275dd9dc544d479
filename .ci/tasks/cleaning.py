"""What the targets made, removed."""

from __future__ import annotations

import contextlib
import shutil

from tasks import project
from tasks.environments import BESIDE, read_stamp


def clean(_arguments: list[str]) -> bool:
    """Remove what the other targets made."""
    made = [folder for folder in project.ROOT.glob(".venv*") if read_stamp(folder)]
    made += [
        project.ROOT / name
        for name in (
            "build-demo",
            "build-bench",
            "build-docs",
            "dist",
            ".mypy_cache",
            ".ruff_cache",
            ".pytest_cache",
            ".hypothesis",
        )
    ]
    made += [
        project.ROOT / ".import_linter_cache",
        *(project.ROOT / "labextension" / name for name in ("node_modules", "lib", "dist", "src/kinds")),
        project.ROOT / BESIDE,
        project.ROOT / "dpnb" / "widgets" / "static",
        *project.ROOT.glob("dpnb/**/__pycache__"),
        *project.ROOT.glob("tests/**/__pycache__"),
        *project.ROOT.glob(".ci/**/__pycache__"),
    ]
    for folder in made:
        shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(FileNotFoundError):
        (project.ROOT / "demo.html").unlink()
    return True

"""``python -m dpnb.notebook.demo``: run the tour in a fresh home, keep the notebook, write ``demo.html``.

Each step prints its name and its seconds. Widget state is not saved: outputs read without it. The page is drawn
from the answers that the tour paid for, taken from the store, so the demonstration charges nothing of its own.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from pathlib import Path
from typing import Any

TOUR = Path("notebooks/00-tour.ipynb")
FOLDER = Path("build-demo")
PAGE = Path("demo.html")
PAID = Fraction(1, 2)  # what the tour's second measurement of the effect cost
RELEASE = "application/vnd.dpnb.release+json"


def main(root: Path | None = None) -> int:
    """Run all steps in a repository's root; return the exit status."""
    root = root or Path.cwd()
    home = tempfile.mkdtemp(prefix="dpnb-demo-")
    older = os.environ.get("DPNB_HOME")
    os.environ["DPNB_HOME"] = home
    try:
        return _steps(root)
    except Exception as error:  # noqa: BLE001  a demonstration ends with a sentence, not a stack
        said = re.sub(r"\x1b\[[0-9;]*m", "", str(error)).strip()
        print(f"\ndemo stopped: {type(error).__name__}: {said}", file=sys.stderr)
        return 1
    finally:
        os.environ.pop("DPNB_HOME")
        if older is not None:
            os.environ["DPNB_HOME"] = older
        shutil.rmtree(home, ignore_errors=True)


def execute(source: Path, target: Path) -> Any:
    """Execute a notebook and save it with its outputs.

    Parameters
    ----------
    source, target : Path
        Where it is, and where the executed copy goes; its cells run in the target's folder.

    Returns
    -------
    NotebookNode
        The executed notebook.
    """
    import nbformat
    from nbclient import NotebookClient

    notebook = nbformat.read(source, as_version=4)
    target.parent.mkdir(parents=True, exist_ok=True)
    client = NotebookClient(
        notebook,
        timeout=300,
        kernel_name="python3",
        store_widget_state=False,
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
        resources={"metadata": {"path": str(target.parent)}},
    )
    try:
        client.execute()
    finally:
        nbformat.write(notebook, target)
    return notebook


def releases(notebook: Any) -> Iterator[str]:
    """Yield the text of every released card of an executed notebook."""
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            if data.get(RELEASE, {}).get("kind") in {"release", "estimate"}:
                yield str(data.get("text/plain", "")).rstrip()


def page() -> str:
    """Return ``demo.html``: the tour's main finding, from the store."""
    from dpnb.cards.demo import demo_page
    from dpnb.client import api, opening

    hiv = opening.open("hiv", mode="guard-rail", quiet=True)
    effect = hiv.got.difference(by="any")
    api.release({"effect": effect}, epsilon=PAID)
    return str(demo_page(effect, hiv.schema))


def _steps(root: Path) -> int:
    with _step("run the tour"):
        notebook = execute(root / TOUR, root / FOLDER / TOUR.name)
    for text in releases(notebook):
        print("\n" + text)
    print()
    with _step(f"write {PAGE}"):
        (root / PAGE).write_text(page(), encoding="utf-8")
    print(f"\nexecuted notebook: {FOLDER / TOUR.name}\nopen in a browser:  {PAGE}")
    return 0


@contextmanager
def _step(name: str) -> Iterator[None]:
    print(f"{name} … ", end="", flush=True)
    start = time.monotonic()
    yield
    print(f"{time.monotonic() - start:.1f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())

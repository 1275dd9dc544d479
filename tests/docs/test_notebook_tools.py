"""The page on other notebook tools: its notebook is made from its own cells, and each command line is run on it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.docs.code_blocks import ROOT, Block, blocks

PAGE = ROOT / "docs" / "how-to" / "notebook-tools.md"
BLOCKS = [block for block in blocks(PAGE) if not block.reason]
CELLS = [block.code.rstrip("\n") for block in BLOCKS if block.language == "python"]
LINES = [line for block in BLOCKS if block.language == "sh" for line in block.code.splitlines()]
ENVIRONMENT = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"}
BROKEN = "%%dp epsilon=0.5\nshare=hiv.got.mean( )\nother = a_name_of_nobody"

pytestmark = pytest.mark.slow


def _tools(line: str) -> list[str]:
    return [part.split()[0] for part in line.split("|")]


def _need(*tools: str) -> None:
    for tool in tools:
        if shutil.which(tool, path=ENVIRONMENT["PATH"]) is None:
            pytest.skip(f"{tool} is not installed")


def _run(line: str, *, code: int = 0) -> str:
    done = subprocess.run(["sh", "-c", line], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == code, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def _write(path: str, cells: list[str]) -> None:
    made = [nbformat.v4.new_code_cell(text) for text in cells]
    made[0].metadata["tags"] = ["parameters"]
    spec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(nbformat.v4.new_notebook(cells=made, metadata={"kernelspec": spec}), path)


def _cells(path: str) -> list[Any]:
    return list(nbformat.read(path, 4).cells)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with the page's notebook and the files that the page writes."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(ENVIRONMENT, "DPNB_HOME", str(tmp_path / "home"))
    _write("survey.ipynb", CELLS)
    for block in BLOCKS:
        if isinstance(block, Block) and block.file:
            Path(block.file).write_text(block.code, encoding="utf-8")
    return tmp_path


def test_the_page_has_a_notebook_and_lines_for_each_tool():
    """What the other tests run is really there."""
    assert [re.split(r"[ (]", text)[0] for text in CELLS] == ["eps", "%load_ext", "%%dp", "float"]
    assert {"papermill", "jupyter", "jupytext", "ruff", "black"} <= {
        tool for line in LINES for tool in _tools(line)
    }


LEFT = {
    "papermill": ("quarter.ipynb", r"ε 0\.25 paid"),
    "--to html": ("survey.html", r'class="[^"]*dpnb'),
    "--to latex": ("survey.tex", "privacy interval"),
}
"""What a line leaves: a file, and what is in it."""


@pytest.mark.parametrize("line", LINES)
def test_a_line_of_the_page_runs(line):
    """It ends well, and what it writes holds the cards: papermill's parameter reached the price, HTML has the card, LaTeX its text."""
    _need(*_tools(line))
    if "ipynb survey.py" in line:
        _run(line.replace("--to ipynb survey.py", "--to py:percent survey.ipynb"))
    _run(line)
    for part, (file, words) in LEFT.items():
        if part in line:
            assert re.search(words, Path(file).read_text(encoding="utf-8"))


def test_a_parameter_that_nobody_sets_stops_the_run():
    """The error names it; the cell has asked nothing."""
    _need("papermill")
    _write("wrong.ipynb", [CELLS[0], CELLS[1], CELLS[2].replace("{eps}", "{epsilon_of_nobody}")])
    assert "epsilon_of_nobody has no value here" in _run("papermill wrong.ipynb out.ipynb", code=1)


def test_jupytext_brings_every_magic_back():
    _need("jupytext")
    _run("jupytext --to py:percent survey.ipynb && rm survey.ipynb && jupytext --to ipynb survey.py")
    assert "# %%dp epsilon={eps}\n" in Path("survey.py").read_text(encoding="utf-8")
    assert [cell.source for cell in _cells("survey.ipynb")] == CELLS


def test_ruff_says_what_the_page_says():
    """Without the setting F821 is told of names that a cell binds; with it, or as a script, it is not; a script tells real ones."""
    _need("ruff")
    Path("ruff.toml").rename("ruff.off")
    assert "F821" in _run("ruff check survey.ipynb", code=1)
    Path("ruff.off").rename("ruff.toml")
    _write("broken.ipynb", [*CELLS[:2], BROKEN])
    _run("ruff check broken.ipynb && ruff format --check broken.ipynb")  # a cell that ruff skips
    _need("jupytext")
    said = _run(
        "jupytext --to py:percent broken.ipynb --output - | ruff check --stdin-filename broken.py -", code=1
    )
    assert "F821" in said
    assert "a_name_of_nobody" in said
    assert "`hiv`" not in said


def test_black_formats_cells_of_a_magic_that_it_knows():
    _need("black")
    pytest.importorskip("tokenize_rt")
    _write("broken.ipynb", [*CELLS[:2], BROKEN])
    _run("black broken.ipynb")
    assert _cells("broken.ipynb")[-1].source == BROKEN
    _run("black --python-cell-magics dp broken.ipynb")
    assert "share = hiv.got.mean()\n" in _cells("broken.ipynb")[-1].source
    assert _cells("broken.ipynb")[-1].source.startswith("%%dp epsilon=0.5\n")

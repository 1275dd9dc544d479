"""What a wheel brings: in an environment that never saw the sources, JupyterLab has the plugins; Notebook 7 has them too."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ROOT, Lab, Server, fresh, others
from tests.browser.test_hosts import moves
from tests.examples import mostly_long

pytestmark = pytest.mark.slow

CELLS = [
    "%load_ext dpnb\nimport dpnb\ndpnb.__file__",
    'hiv = dpnb.open("hiv", quiet=True)',
    "%%dp epsilon=0.25\ncollected = hiv.got.mean()",
    "dpnb.widgets.odds()",
]


class Installed(Server):
    """A server whose Python is another environment's, without any path to the sources."""

    python = sys.executable

    def command(self, port):
        """Leave out the flag that points at the working tree."""
        listed = [word for word in super().command(port) if "labextensions_path" not in word]
        return [str(self.python), *listed[1:]]

    def environment(self):
        """Borrow JupyterLab's own static files from the test environment."""
        found = {**super().environment(), "JUPYTERLAB_DIR": str(Path(sys.prefix) / "share/jupyter/lab")}
        found["JUPYTER_PATH"] = str(Path(sys.prefix) / "share/jupyter-nothing")
        found.pop("PYTHONPATH", None)
        found["PATH"] = str(Path(self.python).parent)  # no Node.js here
        assert shutil.which("node", path=found["PATH"]) is None
        return found


@pytest.fixture(scope="module")
def environment(tmp_path_factory):
    """A fresh environment with the wheel in it; its dependencies are the test environment's."""
    root = tmp_path_factory.mktemp("installed")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(root)]
    subprocess.run(
        build, cwd=ROOT, env={**os.environ, "DPNB_FRONTEND": "prebuilt"}, check=True, capture_output=True
    )
    venv.EnvBuilder(with_pip=False).create(root / "venv")
    python = root / "venv/bin/python"
    site = next((root / "venv/lib").glob("python*/site-packages"))
    (site / "dependencies.pth").write_text(sysconfig.get_paths()["purelib"])
    wheel = next(root.glob("*.whl"))
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--python",
        str(python),
        "install",
        "-q",
        "--no-deps",
        "--no-index",
        "--ignore-installed",
    ]
    subprocess.run([*pip, "--disable-pip-version-check", str(wheel)], cwd=root, check=True)
    others(root / "venv" / "share" / "jupyter" / "labextensions")  # ipywidgets brings its own along
    return python


@pytest.fixture
def installed(environment, page, chromium_path, tmp_path, shots):
    """A driver of JupyterLab in that environment."""
    kind = type("Fresh", (Installed,), {"python": environment})
    server = kind(tmp_path / "server")
    yield Lab(page, server, shots)
    server.stop()


def test_wheel_brings_the_plugins_enabled(installed, environment):
    """After `pip install` alone: every plugin is active, the gauge follows a release, a widget lives, nothing is in the way."""
    lab = installed
    lab.server.notebook("fresh.ipynb", CELLS)
    lab.open("fresh.ipynb")
    for plugin in ("dpnb:session", "dpnb:cells", "dpnb:cards", "dpnb:start"):
        assert lab.page.evaluate("id => window.jupyterapp.isPluginActivated(id)", plugin)
    lab.run_all()
    expect(lab.output(0).last).to_contain_text(str(environment.parent.parent / "lib"))
    expect(lab.page.locator(".dpnb-Gauge")).to_contain_text("hiv: ε 0.25 of 4")
    expect(lab.page.locator(".jp-OutputArea div.dpnb-w").last).to_contain_text("What ε means for one person")
    assert lab.errors == []


class Notebook7(Server):
    """Jupyter Notebook 7 in place of JupyterLab."""

    def command(self, port):
        """Another program, which announces the extension; JupyterLab's own application serves its files."""
        found = super().command(port)
        announced = [
            word.replace("LabApp.", "JupyterNotebookApp.") for word in found if "labextensions_path" in word
        ]
        return ["notebook" if word == "jupyterlab" else word for word in found] + announced


@pytest.fixture(scope="module")
def notebook_7(chromium_path, forks, tmp_path_factory):
    """Start Notebook 7 once."""
    server = Notebook7(tmp_path_factory.mktemp("seven") / "server", forks)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def tab(browser):
    """A page whose browser keeps the files of Notebook 7 from test to test."""
    page = fresh(browser)
    yield page
    page.context.close()


@pytest.fixture
def seven(tab, notebook_7, shots, request):
    """A driver of Notebook 7, with a home of its own. It has a page error of its own, "reading 'schema'", also without dpnb."""
    notebook_7.begin(request.node.name)
    one = Lab(tab, notebook_7, shots)
    yield one
    one.listen_no_more()
    one.page.evaluate("() => window.jupyterapp.serviceManager.sessions.shutdownAll()")
    assert [error for error in one.errors if "reading 'schema'" not in error] == []


def opened(seven, name):
    """Open a notebook in Notebook 7, and return when its kernel can be asked."""
    seven.page.goto(f"{seven.server.base}/notebooks/{name}?token={seven.server.token}")
    seven.page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=60_000)
    seven.settled()
    seven.command("dpnb:open-panel")
    return seven.page.locator("#dpnb-panel")


def test_notebook_7_has_panel_tag_and_interactions(seven):
    """Notebook 7 has no status bar: the panel says it all; cells wear their price; a widget is drawn by its module."""
    page = seven.page
    seven.server.notebook("seven.ipynb", CELLS)
    panel = opened(seven, "seven.ipynb")
    expect(panel).to_contain_text("dpnb is not loaded in this kernel. Run: %load_ext dpnb")
    assert not page.locator(".dpnb-Gauge").count()
    seven.run_all()
    expect(panel).to_be_visible()
    expect(panel).to_contain_text("hiv.got.mean()")
    expect(page.locator(".dpnb-Tag").first).to_contain_text("ε 0.25 · stored")
    expect(page.locator(".jp-OutputArea div.dpnb-w").last).to_contain_text("What ε means for one person")
    seven.shot("notebook-7")


DRAGGED = {
    "What ε means for one person": "widgets.odds(",
    "What accuracy costs": "widgets.seesaw(",
    "Two noises": "widgets.noises(",
    "Where to clamp": "widgets.clamp(",
}


@pytest.mark.parametrize("part", mostly_long(range(4), 0))
def test_notebook_7_draws_the_gallery_and_drags(seven, part):
    """Every interaction of the gallery is drawn by its module, a slider moves its figures, and no page error is ours; a quarter of them at a time."""
    page = seven.page
    gallery = nbformat.read(ROOT / "notebooks" / "01-gallery.ipynb", 4)
    cells = [cell.source for cell in gallery.cells if cell.cell_type == "code"]
    loads, asks = cells[0], next(cell for cell in cells if cell.startswith("%%dp"))
    shown = [loads, asks, *[cell for cell in cells if cell not in {loads, asks}][part::4]]
    seven.server.notebook("gallery.ipynb", shown)
    opened(seven, "gallery.ipynb")
    seven.run_all()
    dragged = [title for title, made in DRAGGED.items() if any(made in cell for cell in shown)]
    assert dragged
    for title in dragged:
        widget = page.locator(".jp-Notebook .dpnb-w", has_text=title).first
        expect(widget).to_be_visible()
        assert moves(page, widget)
    page.get_by_role("button", name="more ε for collected").first.click()
    assert moves(page, page.locator(".dpnb-again .dpnb-w").first)
    assert not page.locator('[data-mime-type$="error"], [data-mime-type$="stderr"]').count()
    seven.shot("gallery-notebook-7")


def test_notebook_7_says_what_became_of_curator_and_kernel(seven):
    """In the panel: the curator gone, with what to type; the same budget after it; a restart; the Plan button; the gallery in a new tab."""
    page = seven.page
    seven.server.notebook("states.ipynb", [*CELLS[:3], "%dp budget"])
    panel = opened(seven, "states.ipynb")
    for index in range(3):
        seven.run_cell(index)
    expect(panel).to_contain_text("ε 3.75 of 4 left")
    pid = json.loads((seven.server.home / "curator.json").read_text())["pid"]
    os.kill(pid, signal.SIGKILL)
    expect(panel).to_contain_text("The curator has ended.")
    seven.run_cell(3)
    expect(panel).not_to_contain_text("The curator has ended.")
    expect(panel).to_contain_text("ε 3.75 of 4 left")
    seven.select(2)
    expect(seven.cell(2).locator('[data-command="dpnb:plan-cell"]')).to_be_visible()
    seven.restart()
    expect(panel).to_contain_text("The kernel was restarted.")
    with page.context.expect_page() as coming:
        seven.command("dpnb:open-gallery")
    other = coming.value
    expect(other.locator(".jp-Notebook")).to_contain_text("Gallery: every ε can be dragged")
    assert "Privacy%20gallery.ipynb" in other.url
    other.evaluate("() => window.jupyterapp.serviceManager.sessions.shutdownAll()")
    other.close()

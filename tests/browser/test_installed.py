"""What a wheel brings: in an environment that never saw the sources, JupyterLab has the plugins; Notebook 7 has them too."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import ROOT, Lab, Server

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not (ROOT / "labextension/dist/dpnb/package.json").is_file(), reason="the front end is not built"
    ),
]

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
        listed = [word for word in super().command(port) if "extra_labextensions_path" not in word]
        return [str(self.python), *listed[1:]]

    def environment(self):
        """Borrow JupyterLab's own static files from the test environment."""
        found = {**super().environment(), "JUPYTERLAB_DIR": str(Path(sys.prefix) / "share/jupyter/lab")}
        found["JUPYTER_PATH"] = str(Path(sys.prefix) / "share/jupyter-nothing")
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
    for plugin in ("dpnb:session", "dpnb:cells", "dpnb:start", "dpnb:renderer"):
        assert lab.page.evaluate("id => window.jupyterapp.isPluginActivated(id)", plugin)
    lab.run_all()
    expect(lab.output(0).last).to_contain_text(str(environment.parent.parent / "lib"))
    expect(lab.page.locator(".dpnb-Gauge")).to_contain_text("hiv: ε 0.25 of 4")
    assert lab.errors == []


class Notebook7(Server):
    """Jupyter Notebook 7 in place of JupyterLab."""

    def command(self, port):
        """Another program, which announces the extension; JupyterLab's own application serves its files."""
        found = super().command(port)
        announced = [word.replace("LabApp.", "JupyterNotebookApp.") for word in found if "extra_lab" in word]
        return ["notebook" if word == "jupyterlab" else word for word in found] + announced


def test_notebook_7_has_panel_tag_and_interactions(page, chromium_path, tmp_path, shots):
    """Notebook 7 has no status bar: the panel says it all; cells wear their price; a widget is drawn by its module."""
    server = Notebook7(tmp_path / "server")
    try:
        server.notebook("seven.ipynb", CELLS)
        page.goto(f"{server.base}/notebooks/seven.ipynb?token={server.token}")
        page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=60_000)
        page.evaluate(
            """async () => {
                const context = window.jupyterapp.shell.currentWidget.sessionContext;
                await context.ready;
                await context.session.kernel.info;
                await window.jupyterapp.commands.execute('notebook:run-all-cells');
                await window.jupyterapp.commands.execute('dpnb:open-panel');
            }"""
        )
        panel = page.locator("#dpnb-panel")
        expect(panel).to_be_visible()
        expect(panel).to_contain_text("hiv.got.mean()")
        expect(page.locator(".dpnb-Tag").first).to_contain_text("ε 0.25")
        expect(page.locator(".jp-OutputArea div.dpnb-w")).to_contain_text("What ε means for one person")
        page.screenshot(path=shots / "notebook-7.png")
    finally:
        server.stop()

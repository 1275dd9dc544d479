"""A real JupyterLab on a free loopback port and a real Chromium, each started once a session; its page is loaded once.

Made stable by these rules, each learnt from a failure:

* each test has a notebook and a kernel of its own, and finds the page as it was first loaded; one that failed takes it along;
* the page says "idle" before its session is ready, so :meth:`Lab.open` waits for the session itself;
* commands go through JupyterLab's own registry, never through menus;
* a command that resolved does not mean that outputs are drawn: wait with ``expect(locator)``;
* the server has its own configuration, data, runtime and IPython folders, and each file of tests its own DPNB_HOME: a test
  that spends takes nothing from another file's;
* MPLBACKEND is not inherited: "agg" silently switches the inline figures off.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
import pytest

playwright = pytest.importorskip("playwright.sync_api")
# how long a fact is waited for where the machine has much else to do; one that is there is not waited for
PATIENCE = 60_000
playwright.expect.set_options(timeout=PATIENCE)

ROOT = Path(__file__).parents[2]
# the shell first: the same engine without the windows around it, which cost three quarters of a new page
CHROMIUM_NAMES = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
ARGUMENTS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--force-device-scale-factor=1",
    "--font-render-hinting=none",
)
SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
        "doNotDisturbMode": True,
    },
    "notebook-extension/tracker": {"windowingMode": "none"},
    "docmanager-extension/plugin": {"autosave": False},
}
START_SECONDS = 90
SIZE = {"width": 1360, "height": 900}
# what a test left in a page: its kernels, its notebooks without a question whether to save them, dialogues, panels, the theme
CLEARED = """async () => {
    const app = window.jupyterapp;
    document.querySelectorAll('.jp-Dialog').forEach(one => one.remove());
    await app.serviceManager.sessions.shutdownAll();
    for (const widget of [...app.shell.widgets('main')]) {
        if (widget.context) widget.context.model.dirty = false;
        widget.dispose();
    }
    app.shell.collapseRight();
    await app.commands.execute('filebrowser:activate');
    if (document.body.dataset.jpThemeName !== 'JupyterLab Light')
        await app.commands.execute('apputils:change-theme', { theme: 'JupyterLab Light' });
}"""
ALONE = """async path => {
    const app = window.jupyterapp, before = [...app.shell.widgets('main')];
    const panel = await app.commands.execute('docmanager:open', { path, factory: 'Notebook' });
    await panel.context.ready;
    for (const widget of before) if (widget !== panel) widget.dispose();
    app.shell.activateById(panel.id);
}"""
IN_FRONT = "path => window.jupyterapp?.shell?.currentWidget?.context?.path === path"
THEIRS = (  # faults that Jupyter has without dpnb: see `_theirs`
    "removeChild",
    "Canceled future for create_subshell_request",
    '"stream.stderr" is not valid JSON',
)
START = '%load_ext dpnb\nimport dpnb\nhiv = dpnb.open("hiv", mode="guard-rail", quiet=True)'
#: Run by IPython in each kernel as it starts: the home is that of the tests that run now.
HOME = "import os, pathlib\nos.environ['DPNB_HOME'] = pathlib.Path({named!r}).read_text()\n"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder: it needs a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


def free_port() -> int:
    """Ask the system for a port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def others(folder: Path) -> Path:
    """Link the installed extensions that these tests need: not dpnb's, and never anywidget's, which runs what a notebook says."""
    for name in ("@jupyter-widgets", "@jupyter-notebook"):
        found = Path(sys.prefix) / "share" / "jupyter" / "labextensions" / name
        if found.is_dir():
            folder.mkdir(exist_ok=True)
            (folder / name).symlink_to(found)
    return folder


class Server:
    """A Jupyter server whose every folder lies under ``root``; notebooks are served from ``work``."""

    def __init__(self, root: Path) -> None:
        self.root, self.work, self.token = root, root / "work", secrets.token_hex(16)
        for name in ("work", "config", "data", "runtime", "ipython"):
            (root / name).mkdir(parents=True)
        startup = root / "ipython" / "profile_default" / "startup" / "home.py"
        startup.parent.mkdir(parents=True)
        startup.write_text(HOME.format(named=str(root / "home")))
        self.begin("first")
        for name, value in SETTINGS.items():
            path = root / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(json.dumps(value))
        port = free_port()
        self.base = f"http://127.0.0.1:{port}"
        with (root / "server.log").open("w") as log:
            self.process = subprocess.Popen(
                self.command(port), env=self.environment(), stdout=log, stderr=log, start_new_session=True
            )
        self.wait_until_it_answers()

    def begin(self, name: str) -> None:
        """Make a home, with a ledger and budgets of its own, for the kernels that start from now on."""
        self.home = self.root / "homes" / name
        self.home.mkdir(parents=True)
        (self.root / "home").write_text(str(self.home))

    def command(self, port: int) -> list[str]:
        """Return the command line of the server."""
        flags = ["--no-browser", "--allow-root", "--expose-app-in-browser", "--ServerApp.port_retries=0"]
        values = [f"--ServerApp.port={port}", "--ServerApp.ip=127.0.0.1", f"--ServerApp.root_dir={self.work}"]
        return [
            sys.executable,
            "-m",
            "jupyterlab",
            *flags,
            *values,
            # the extensions as they were just built, never ones that were installed earlier
            f"--LabApp.extra_labextensions_path={ROOT / 'labextension' / 'dist'}",
            f"--LabApp.labextensions_path={others(self.root / 'labextensions')}",
            f"--IdentityProvider.token={self.token}",
        ]

    def environment(self) -> dict[str, str]:
        """Return the process environment: everything that Jupyter or dpnb writes goes under ``root``."""
        folders = {
            "JUPYTER_CONFIG_DIR": "config",
            "JUPYTER_DATA_DIR": "data",
            "JUPYTER_RUNTIME_DIR": "runtime",
            "IPYTHONDIR": "ipython",
            "JUPYTERLAB_SETTINGS_DIR": "settings",
            "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
            "DPNB_HOME": self.home,
        }
        own = {name: str(self.root / folder) for name, folder in folders.items()}
        inherited = {name: value for name, value in os.environ.items() if name != "MPLBACKEND"}
        return {**inherited, **own, "NO_PROXY": "127.0.0.1"}

    def wait_until_it_answers(self) -> None:
        """Return when the server answers; fail with the end of its log when it does not."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with urllib.request.urlopen(f"{self.base}/api/status?token={self.token}", timeout=2):  # noqa: S310 - the loopback server above
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        log = (self.root / "server.log").read_text()[-2000:]
        self.stop()
        pytest.fail(f"JupyterLab did not start:\n{log}")

    def notebook(self, name: str, cells: Sequence[str]) -> None:
        """Write a notebook of code cells."""
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
        notebook.metadata["kernelspec"] = {
            "name": "python3",
            "display_name": "Python 3 (ipykernel)",
            "language": "python",
        }
        nbformat.write(notebook, self.work / name)

    def stop(self) -> None:
        """End the server, and with it its kernels."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def _theirs(error: Any) -> bool:
    """Whether this is one of three faults of Jupyter's own, which it also has without dpnb.

    JupyterLab takes its splash screen away twice after a change of theme at its start; a kernel that ends while JupyterLab makes
    a subshell for a comm of ipywidgets leaves a promise that nobody looks at; and once the thread that owns a kernel's channel
    of output has ended, ipykernel writes to that channel from every thread at once, so that two messages run into each other
    and a topic stands where a header belongs. What dpnb makes itself, it looks at.
    """
    return any(fault in str(error) for fault in THEIRS) and "dpnb" not in str(error.stack)


def _ours(message: Any) -> bool:
    """Whether a warning or error of the console comes from dpnb's files, names it, or complains of a comm."""
    said = f"{message.text} {message.location.get('url', '')}".lower()
    return message.type in {"error", "warning"} and ("dpnb" in said or "comm " in said)


class Lab:
    """Drives one page of JupyterLab."""

    def __init__(self, page: Any, server: Server, shots: Path) -> None:
        self.page, self.server, self.shots = page, server, shots
        self.errors: list[str] = []
        page.on("console", self.heard)
        page.on("pageerror", self.failed)

    def heard(self, said: Any) -> None:
        """Keep what the console says of dpnb."""
        if _ours(said):
            self.errors.append(said.text)

    def failed(self, error: Any) -> None:
        """Keep an error of the page."""
        if not _theirs(error):
            self.errors.append(str(error))

    def leave(self) -> None:
        """Give the page back as it was when JupyterLab was loaded."""
        if self.loaded():
            self.page.evaluate(CLEARED)
        self.page.context.clear_permissions()
        self.page.remove_listener("console", self.heard)
        self.page.remove_listener("pageerror", self.failed)

    def loaded(self) -> bool:
        """Whether this page shows JupyterLab."""
        return str(self.page.url).startswith(f"{self.server.base}/lab")

    def show(self, name: str) -> None:
        """Open a notebook, alone, in the JupyterLab of this page, which is loaded if need be; return when its kernel can be asked."""
        if not self.loaded():
            self.open(name)
            return
        self.page.evaluate(ALONE, name)
        self.page.wait_for_function(IN_FRONT, arg=name)
        self.page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=60_000)
        self.settled()

    def open(self, name: str) -> None:
        """Load JupyterLab with a notebook, and return when its kernel can be asked."""
        self.page.goto(f"{self.server.base}/lab/tree/{name}?token={self.server.token}&reset")
        self.page.wait_for_function(
            "window.jupyterapp?.shell?.currentWidget?.sessionContext !== undefined", timeout=60_000
        )
        self.page.locator(".jp-Notebook .jp-CodeCell").first.wait_for(timeout=60_000)
        self.settled()

    def settled(self) -> None:
        """Wait until the kernel of the notebook in front can be asked."""
        # without this, running a cell opens a "Select Kernel" dialogue and never resolves
        self.page.evaluate(
            """async () => {
                const context = window.jupyterapp.shell.currentWidget.sessionContext;
                await context.ready;
                await context.session.kernel.info;
            }"""
        )

    def command(self, name: str, arguments: Mapping[str, Any] | None = None) -> None:
        """Run a command of JupyterLab's registry to its end."""
        self.page.evaluate(
            "([name, args]) => window.jupyterapp.commands.execute(name, args).then(() => null)",
            [name, dict(arguments or {})],
        )

    def select(self, index: int) -> None:
        """Make a cell the active one."""
        self.page.evaluate(
            "i => { window.jupyterapp.shell.currentWidget.content.activeCellIndex = i }", index
        )

    def run_cell(self, index: int) -> None:
        """Run one cell; its reply has come, its outputs may still be drawn."""
        self.select(index)
        self.command("notebook:run-cell")

    def run_all(self, timeout: float = 120) -> None:
        """Run every cell; returns when each has its reply."""
        self.page.evaluate(
            """() => {
                window.dpnbDone = false;
                window.jupyterapp.commands.execute('notebook:run-all-cells').then(() => { window.dpnbDone = true; });
            }"""
        )
        self.page.wait_for_function("window.dpnbDone === true", timeout=timeout * 1000)

    def restart(self) -> None:
        """Restart the notebook's kernel and wait until it answers."""
        self.page.evaluate(
            """async () => {
                const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
                await kernel.restart();
                await kernel.info;
            }"""
        )

    def shutdown(self) -> None:
        """End the notebook's kernel."""
        self.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.shutdown()")

    def cell(self, index: int) -> Any:
        """Return the locator of a cell."""
        return self.page.locator(".jp-Notebook .jp-Cell").nth(index)

    def output(self, index: int) -> Any:
        """Return the locator of a cell's output area."""
        return self.cell(index).locator(".jp-OutputArea-output")

    def shot(self, name: str, **options: Any) -> Path:
        """Save a screenshot and return where it is."""
        path = self.shots / f"{name}.png"
        self.page.screenshot(path=path, **options)
        return path

    def theme(self, name: str) -> None:
        """Switch to "JupyterLab Light" or "JupyterLab Dark"."""
        self.command("apputils:change-theme", {"theme": name})
        self.page.locator(f'body[data-jp-theme-name="{name}"]').wait_for(state="attached")


@pytest.fixture(scope="session")
def chromium_path() -> str:
    """Find Chromium. Where continuous integration runs, a missing browser is a failure, not a skip."""
    found = os.environ.get("DPNB_CHROMIUM") or next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    if found is None:
        say = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        say("no Chromium: apt-get install chromium-headless-shell, or set DPNB_CHROMIUM to its path")
    return str(found)


@pytest.fixture(scope="session")
def browser(chromium_path: str) -> Iterator[Any]:
    """Start Chromium once."""
    with playwright.sync_playwright() as driver:
        one = driver.chromium.launch(executable_path=chromium_path, headless=True, args=list(ARGUMENTS))
        yield one
        one.close()


@pytest.fixture(scope="session")
def jupyter(chromium_path: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start JupyterLab once."""
    one = Server(tmp_path_factory.mktemp("lab"))
    yield one
    one.stop()


@pytest.fixture(scope="module")
def server(jupyter: Server, request: pytest.FixtureRequest) -> Server:
    """Give JupyterLab with budgets that no other file's tests have spent from."""
    jupyter.begin(request.path.stem)
    return jupyter


@pytest.fixture(scope="session")
def shots(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give the folder of screenshots: DPNB_SHOTS, or a temporary one."""
    asked = os.environ.get("DPNB_SHOTS")
    folder = Path(asked) if asked else tmp_path_factory.mktemp("shots")
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def fresh(browser: Any) -> Any:
    """Return a page in a browser context of its own."""
    page = browser.new_context(viewport=SIZE, reduced_motion="reduce").new_page()
    page.set_default_timeout(PATIENCE)
    return page


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """Open a page in a browser context of its own."""
    one = fresh(browser)
    yield one
    one.context.close()


@pytest.fixture(scope="session")
def pages(browser: Any) -> Iterator[list[Any]]:
    """Hold the page of JupyterLab in which tests open their notebooks, one after the other; none at first."""
    held: list[Any] = []
    yield held
    for one in held:
        one.context.close()


FAILED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Note for the fixtures whether their test failed."""
    report = yield
    if report.failed:
        item.stash[FAILED] = True
    return report


@pytest.fixture
def lab(
    browser: Any, pages: list[Any], server: Server, shots: Path, request: pytest.FixtureRequest
) -> Iterator[Lab]:
    """Give a driver of JupyterLab; a page error, or noise of dpnb's in the console, anywhere in the test fails it."""
    if not pages:
        pages.append(fresh(browser))
    one = Lab(pages[0], server, shots)
    one.page.set_viewport_size(SIZE)
    yield one
    if FAILED in request.node.stash:
        pages.pop().context.close()
    else:
        one.leave()
    assert one.errors == []


@pytest.fixture
def cards(lab: Lab) -> Callable[..., Lab]:
    """Open a notebook with a dataset, whose cells have run."""

    def open_(name: str, *cells: str) -> Lab:
        lab.server.notebook(name, [START, *cells])
        lab.show(name)
        lab.run_all()
        return lab

    return open_


def until(page: Any, condition: str, arg: Any = None) -> None:
    """Wait until a condition holds, looked at in every frame; a page whose policy forbids `eval` allows this much."""
    met = page.evaluate(
        f"""async arg => {{
            const holds = {condition};
            const end = performance.now() + {PATIENCE};
            while (!holds(arg)) {{
                if (performance.now() > end) return false;
                await new Promise(requestAnimationFrame);
            }}
            return true;
        }}""",
        arg,
    )
    assert met, condition


# the model of a page, of which what the hand sets goes to a kernel, and the facts come back
_SENT = "save_changes: () => undefined,"
# by which an interaction knows that a kernel is there
_ALIVE = "send: () => undefined,\n"
_HEARD = (
    _ALIVE
    + """    save_changes: async () => {
      const nth = [...document.querySelectorAll("[data-dpnb]")].indexOf(place);
      window.dpnbAsked = (window.dpnbAsked ?? 0) + 1;
      const told = await window.dpnbHear(nth, JSON.stringify(kept.chosen));
      if (told !== null) { kept.facts = told.facts; kept.arrays = opened(told.arrays); for (const f of heard.get("change:facts") ?? []) f(); }
      window.dpnbAsked -= 1;
    },"""
)
# no question is on its way, and what a page does by a timer of its own, up to 100 ms later, it has done
_AT_REST = """async () => {
    const later = milliseconds => new Promise(done => setTimeout(done, milliseconds));
    do {
        while (window.dpnbAsked) await later(10);
        await later(100);
    } while (window.dpnbAsked);
    await new Promise(requestAnimationFrame);
}"""


def rest(page: Any) -> None:
    """Wait until a page that was told to stop has done so: everything was answered, and nothing more is asked."""
    page.evaluate(_AT_REST)


@pytest.fixture
def show(browser: Any, tmp_path: Path) -> Iterator[Any]:
    """Show interactions on a page of their own, offline, in a given width and scheme; with ``kernel`` this process hears them.

    With ``still`` the page does not know that: what it asks all the same is counted.

    A page error, or an error on the console, anywhere in the test fails it. ``page.busy`` makes the kernel deaf.
    """
    from dpnb import widgets
    from dpnb.widgets import pages as pages_

    pages: list[Any] = []

    def show_(
        *made: Any,
        width: int = 1000,
        height: int = 900,
        scheme: str = "light",
        motion: str = "reduce",
        kernel: bool = False,
        still: bool = False,
    ) -> Any:
        context = browser.new_context(
            viewport={"width": width, "height": height}, color_scheme=scheme, reduced_motion=motion
        )
        context.set_offline(True)
        page = context.new_page()
        page.set_default_timeout(PATIENCE)
        page.faults, page.busy = [], False
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on(
            "console", lambda message: page.faults.append(message.text) if message.type == "error" else None
        )

        def hear(nth: int, text: str) -> Any:
            if page.busy:
                return None
            made[nth].chosen = json.loads(text)
            return {"facts": made[nth].facts, "arrays": pages_.texts(made[nth].arrays)}

        page.expose_function("dpnbHear", hear)
        # the page's policy runs the one script that it was written with
        assert _SENT in pages_._SCRIPT
        heard = _HEARD.removeprefix(_ALIVE) if still else _HEARD
        script = pages_._SCRIPT.replace(_SENT, heard) if kernel else pages_._SCRIPT
        with mock.patch.object(pages_, "_SCRIPT", script):
            (tmp_path / "page.html").write_text(widgets.page(made), encoding="utf-8")
        page.goto((tmp_path / "page.html").as_uri())
        page.locator(".dpnb-w").first.wait_for()
        pages.append(page)
        return page

    yield show_
    for page in pages:
        assert page.faults == []
        page.context.close()


@pytest.fixture
def data(dpnb_home: Path) -> Iterator[Any]:
    """Give a handle on forty protected rows, without a kernel."""
    from tests.curator import small

    service = small.curator(dpnb_home)
    yield small.opened(small.session(service, "ann"), dpnb_home)
    service.close()

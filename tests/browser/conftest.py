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

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from unittest import mock

import nbformat
import pytest

from dpnb.widgets import _base
from tests.browser import forks as forks_

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
# what the environment brings for other tests, and takes a third of a server's start
UNUSED = (
    "nbgrader.server_extensions.assignment_list",
    "nbgrader.server_extensions.course_list",
    "nbgrader.server_extensions.formgrader",
    "nbgrader.server_extensions.validate_assignment",
    "voila.server_extension",
)
START_SECONDS = 90
# so many seconds a curator waits for the next test's kernel
LINGER = "120"
SIZE = {"width": 1360, "height": 900}
THEMES = ("JupyterLab Light", "JupyterLab Dark")
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
    "Cannot read properties of null (reading 'promise')",
)
# files in the order of their time, the longest first; the others take less than any of these
_LONG = """hub behaviour cards every_interaction strangers coverage panel installed extension deposit lessons interactions
gallery accessibility live_cards tour"""
LONG_FIRST = {f"test_{name}": place for place, name in enumerate(_LONG.split())}
START = '%load_ext dpnb\nimport dpnb\nhiv = dpnb.open("hiv", mode="guard-rail", quiet=True)'
#: Run by IPython in each kernel as it starts: the home is that of the tests that run now.
HOME = "import os, pathlib\nos.environ['DPNB_HOME'] = pathlib.Path({named!r}).read_text()\n"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark every test of this folder: it needs a browser, and the front end. Of two processes neither is left with a long file at the end."""
    built = (ROOT / "labextension/dist/dpnb/package.json").is_file() and _base.built()
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)
            item.add_marker(pytest.mark.skipif(not built, reason="the front end is not built"))
    items.sort(key=lambda item: LONG_FIRST.get(item.path.stem, len(LONG_FIRST)))


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

    def __init__(self, root: Path, forks: Path | None = None) -> None:
        self.root, self.work, self.token = root, root / "work", secrets.token_hex(16)
        self.forks = forks
        for name in ("work", "config", "data", "runtime", "ipython"):
            (root / name).mkdir(parents=True)
        startup = root / "ipython" / "profile_default" / "startup" / "home.py"
        startup.parent.mkdir(parents=True)
        startup.write_text(HOME.format(named=str(root / "home")))
        extensions = dict.fromkeys(UNUSED, False)
        config = json.dumps({"ServerApp": {"jpserver_extensions": extensions}})
        (root / "config" / "jupyter_server_config.json").write_text(config)
        self.home = root / "homes"
        self.begin("first")
        if forks is not None:
            self.fork_kernels(forks)
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

    def fork_kernels(self, forks: Path) -> None:
        """Let kernels be forked by the process that listens at a place."""
        kind = self.root / "forked" / "kernels" / "python3"
        shutil.copytree(Path(sys.prefix) / "share/jupyter/kernels/python3", kind)
        described = json.loads((kind / "kernel.json").read_text())
        stand_in = [sys.executable, "-ESs", forks_.__file__, "stand-in", str(forks)]
        described["argv"] = [*stand_in, "-f", "{connection_file}"]
        (kind / "kernel.json").write_text(json.dumps(described))

    def begin(self, name: str) -> None:
        """Make a home, with a ledger and budgets of its own, for the kernels that start from now on."""
        self.end_curator()
        self.home = self.root / "homes" / name
        self.home.mkdir(parents=True)
        (self.root / "home").write_text(str(self.home))

    def end_curator(self) -> None:
        """End the curator of the home, which waits for the kernels to come."""
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            os.kill(json.loads((self.home / "curator.json").read_text())["pid"], signal.SIGTERM)

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
        forked = {"JUPYTER_PATH": str(self.root / "forked")} if self.forks else {}
        return {**inherited, **own, **forked, "NO_PROXY": "127.0.0.1", "DPNB_LINGER": LINGER}

    @property
    def answering(self) -> str:
        """Return an address that is answered once the server is up."""
        return f"{self.base}/api/status?token={self.token}"

    def wait_until_it_answers(self) -> None:
        """Return when the server answers; fail with the end of its log when it does not."""
        end = time.monotonic() + START_SECONDS
        while time.monotonic() < end and self.process.poll() is None:
            try:
                with urllib.request.urlopen(self.answering, timeout=2):  # noqa: S310 - the loopback server above
                    return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        log = (self.root / "server.log").read_text()[-2000:]
        self.stop()
        pytest.fail(f"the server did not start:\n{log}")

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
        """End the server, and with it its kernels and their curator."""
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.end_curator()


def _theirs(error: Any) -> bool:
    """Whether this is one of four faults of Jupyter's own, which it also has without dpnb.

    JupyterLab takes its splash screen away twice after a change of theme at its start; a kernel that ends while JupyterLab makes
    a subshell for a comm of ipywidgets leaves a promise that nobody looks at; and once the thread that owns a kernel's channel
    of output has ended, ipykernel writes to that channel from every thread at once, so that two messages run into each other
    and a topic stands where a header belongs; and a limiter of Lumino's that was disposed with its notebook has no promise to
    give to who still calls it. What dpnb makes itself, it looks at.
    """
    return any(fault in str(error) for fault in THEIRS) and "dpnb" not in str(error.stack)


def _ours(message: Any) -> bool:
    """Whether a warning or error of the console comes from dpnb's files, names it, or complains of a comm.

    How long JupyterLab took to start its plugins, ours among them, says what else the machine does.
    """
    said = f"{message.text} {message.location.get('url', '')}".lower()
    if re.fullmatch(r"Plugin \S+ \(with \d+ dependants\) took [\d.]+ms to activate\.", message.text):
        return False
    return message.type in {"error", "warning"} and ("dpnb" in said or "comm " in said)


class Shots:
    """Keeps pictures in the folder that DPNB_SHOTS names; where it names none, nobody looks at them, and none is taken."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    @property
    def themes(self) -> Sequence[str]:
        """The themes of JupyterLab that are gone through for pictures alone."""
        return THEMES if self.folder else ()

    def __call__(self, place: Any, name: str, **options: Any) -> None:
        """Keep a picture of a page, or of a part of one."""
        if self.folder:
            place.screenshot(path=self.folder / f"{name}.png", **options)


class Lab:
    """Drives one page of JupyterLab."""

    def __init__(self, page: Any, server: Server, shots: Shots) -> None:
        self.page, self.server, self.shots = page, server, shots
        self.gauge, self.panel = page.locator(".dpnb-Gauge"), page.locator("#dpnb-panel")
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

    def listen_no_more(self) -> None:
        """Leave errors of the page, and what its console says, to whoever has it next."""
        self.page.remove_listener("console", self.heard)
        self.page.remove_listener("pageerror", self.failed)

    def leave(self) -> None:
        """Give the page back as it was when JupyterLab was loaded."""
        if self.loaded():
            self.page.evaluate(CLEARED)
        self.page.context.clear_permissions()
        self.listen_no_more()

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

    def shot(self, name: str, **options: Any) -> None:
        """Keep a picture of the page, if anybody looks at it."""
        self.shots(self.page, name, **options)

    def theme(self, name: str) -> None:
        """Switch to "JupyterLab Light" or "JupyterLab Dark", if it is not the theme."""
        if self.page.evaluate("document.body.dataset.jpThemeName") == name:
            return
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
def forks() -> Iterator[Path]:
    """Start the process from which kernels are forked; return where it listens."""
    with tempfile.TemporaryDirectory(prefix="forks") as folder:
        place = Path(folder) / "socket"
        command = [sys.executable, forks_.__file__, "serve", str(place)]
        with subprocess.Popen(command, stdin=subprocess.PIPE, start_new_session=True):
            yield place


@pytest.fixture(scope="session")
def jupyter(chromium_path: str, forks: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Start JupyterLab once."""
    one = Server(tmp_path_factory.mktemp("lab"), forks)
    yield one
    one.stop()


@pytest.fixture(scope="module")
def server(jupyter: Server, request: pytest.FixtureRequest) -> Server:
    """Give JupyterLab with budgets that no other file's tests have spent from."""
    jupyter.begin(request.path.stem)
    return jupyter


@pytest.fixture(scope="session")
def shots() -> Shots:
    """Keep pictures in the folder that DPNB_SHOTS names."""
    asked = os.environ.get("DPNB_SHOTS")
    folder = Path(asked) if asked else None
    if folder:
        folder.mkdir(parents=True, exist_ok=True)
    return Shots(folder)


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


@contextlib.contextmanager
def driven(
    browser: Any, pages: list[Any], server: Server, shots: Shots, failed: Callable[[], bool]
) -> Iterator[Lab]:
    """Drive the page that tests share, and give it up where they failed; its errors, and dpnb's noise in its console, fail them."""
    if not pages:
        pages.append(fresh(browser))
    one = Lab(pages[0], server, shots)
    one.page.set_viewport_size(SIZE)
    yield one
    if failed():
        pages.pop().context.close()
    else:
        one.leave()
    assert one.errors == []


@pytest.fixture
def lab(
    browser: Any, pages: list[Any], server: Server, shots: Shots, request: pytest.FixtureRequest
) -> Iterator[Lab]:
    """Give a driver of JupyterLab."""
    with driven(browser, pages, server, shots, lambda: FAILED in request.node.stash) as one:
        yield one


@pytest.fixture(scope="module")
def file_lab(
    browser: Any, pages: list[Any], server: Server, shots: Shots, request: pytest.FixtureRequest
) -> Iterator[Lab]:
    """Give a driver of JupyterLab that the tests of a file share, which have no `lab` besides."""
    before = request.session.testsfailed
    with driven(browser, pages, server, shots, lambda: request.session.testsfailed > before) as one:
        yield one


@pytest.fixture
def open_(lab: Lab, request: pytest.FixtureRequest) -> Callable[..., Lab]:
    """Open a notebook of cells, named for the test."""

    def opened(*cells: str, name: str = f"{request.node.name}.ipynb") -> Lab:
        lab.server.notebook(name, cells)
        lab.show(name)
        return lab

    return opened


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


def unfolded(page: Any) -> Any:
    """Open all that is folded on a page, and return the page."""
    page.evaluate("() => document.querySelectorAll('.dpnb-w details').forEach(one => { one.open = true; })")
    return page


class Offline:
    """Pages without a network that tests show interactions on, one after the other; each finds its page as if it were new."""

    def __init__(self, browser: Any) -> None:
        self.browser = browser
        self.idle: list[Any] = []

    def page(self, width: int, height: int, scheme: str, motion: str) -> Any:
        """Return a page that nobody uses, of this size, colour scheme and motion."""
        page = self.idle.pop() if self.idle else self.opened()
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion=motion)
        page.set_default_timeout(PATIENCE)
        page.faults, page.busy, page.made = [], False, ()
        return page

    def opened(self) -> Any:
        """Open a page whose errors, and errors on its console, are noted, and whose questions are answered."""
        context = self.browser.new_context()
        context.set_offline(True)
        page = context.new_page()
        page.on("pageerror", lambda error: page.faults.append(str(error)))
        page.on(
            "console", lambda message: page.faults.append(message.text) if message.type == "error" else None
        )
        page.expose_function("dpnbHear", lambda nth, text: hear(page, nth, text))
        return page

    def take_back(self, page: Any) -> None:
        """Keep a page for the next test; two that are idle are enough."""
        if len(self.idle) < 2:
            page.goto("about:blank")
            page.mouse.move(0, 0)
            self.idle.append(page)
        else:
            page.context.close()


def hear(page: Any, nth: int, text: str) -> Any:
    """Set what a hand has set on a page, as its kernel does, and return what follows."""
    from dpnb.widgets import pages

    if page.busy:
        return None
    page.made[nth].chosen = json.loads(text)
    return {"facts": page.made[nth].facts, "arrays": pages.texts(page.made[nth].arrays)}


@pytest.fixture(scope="session")
def offline_pages(browser: Any) -> Offline:
    """Hold the pages on which tests show interactions."""
    return Offline(browser)


@contextlib.contextmanager
def show_on(
    offline_pages: Offline, folder: Path, failed: Callable[[], bool] = lambda: False
) -> Iterator[Any]:
    """Give what shows interactions on pages, written into a folder; see the fixture `show`."""
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
        timers: str = "",
    ) -> Any:
        page = offline_pages.page(width, height, scheme, motion)
        pages.append(page)
        page.made = made
        # the page's policy runs the one script that it was written with
        assert _SENT in pages_._SCRIPT
        heard = _HEARD.removeprefix(_ALIVE) if still else _HEARD
        script = timers + (pages_._SCRIPT.replace(_SENT, heard) if kernel else pages_._SCRIPT)
        with mock.patch.object(pages_, "_SCRIPT", script):
            (folder / "page.html").write_text(widgets.page(made), encoding="utf-8")
        page.goto((folder / "page.html").as_uri())
        page.locator(".dpnb-w").first.wait_for()
        return page

    yield show_
    faults = [fault for page in pages for fault in page.faults]
    for page in pages:
        if faults or failed():
            page.context.close()
        else:
            offline_pages.take_back(page)
    assert faults == []


@pytest.fixture
def show(offline_pages: Offline, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Any]:
    """Show interactions on a page of their own, offline, in a given width and scheme; with ``kernel`` this process hears them.

    With ``still`` the page does not know that: what it asks all the same is counted. ``timers`` is run before all else on the page.

    A page error, or an error on the console, anywhere in the test fails it. ``page.busy`` makes the kernel deaf.
    """
    with show_on(offline_pages, tmp_path, lambda: FAILED in request.node.stash) as show_:
        yield show_


@contextlib.contextmanager
def protected(home: Path) -> Iterator[Any]:
    """Give a handle on forty protected rows, without a kernel."""
    from tests.curator import small

    service = small.curator(home)
    yield small.opened(small.session(service, "ann"), home)
    service.close()


@pytest.fixture
def data(dpnb_home: Path) -> Iterator[Any]:
    """Give a handle on forty protected rows, without a kernel."""
    with protected(dpnb_home) as handle:
        yield handle

"""Interactions where people read them: Voilà, an exported page, a notebook saved and converted, without a kernel."""

from __future__ import annotations

import http.server
import re
import subprocess
import sys
import threading

import nbformat
import pytest
from playwright.sync_api import expect

from dpnb.notebook.demo import execute
from tests.browser.conftest import ROOT, Server

OPEN = '%load_ext dpnb\nimport dpnb\nfrom dpnb import widgets\nhiv = dpnb.open("hiv", mode="guard-rail", quiet=True)'
SEESAW = "widgets.seesaw(hiv.got.mean(), assume_n=2834, epsilon=0.25)"


class Voila(Server):
    """Voilà in place of JupyterLab: a notebook is run and shown as an application."""

    def command(self, port):
        """Return the command line of the server."""
        flags = [
            "--no-browser",
            "--token=",
            f"--port={port}",
            "--Voila.ip=127.0.0.1",
            "--Voila.port_retries=0",
            f"--VoilaConfiguration.extra_labextensions_path={ROOT / 'labextension' / 'dist'}",
            "--VoilaConfiguration.extension_denylist=anywidget",
        ]
        return [sys.executable, "-m", "voila", *flags, str(self.work)]

    @property
    def answering(self):
        """The list of notebooks."""
        return f"{self.base}/voila/tree"


def moves(page, widget):
    """Drag the first slider of an interaction, and return whether its figures followed."""
    shown = widget.locator(".figures strong").first
    before = shown.inner_text()
    slider = widget.get_by_role("slider").first
    slider.scroll_into_view_if_needed()
    box = slider.bounding_box()
    page.mouse.click(box["x"] + 0.8 * box["width"], box["y"] + box["height"] / 2)
    expect(shown).not_to_have_text(before)
    return True


def test_voila_draws_interactions_and_drags(page, chromium_path, tmp_path, shots):
    """Voilà shows an interaction that drags and a release as its card; the kernel hears; the page has no error."""
    errors = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    server = Voila(tmp_path / "server")
    try:
        server.notebook(
            "app.ipynb",
            [OPEN, SEESAW, "widgets.odds(0.1, epsilon=0.5)", "%%dp epsilon=0.5\nm = hiv.got.mean()"],
        )
        page.goto(f"{server.base}/voila/render/app.ipynb", timeout=90_000)
        seesaw = page.locator(".dpnb-w", has_text="What accuracy costs").first
        expect(seesaw).to_be_visible(timeout=90_000)
        assert moves(page, seesaw)
        assert moves(page, page.locator(".dpnb-w", has_text="What ε means").first)
        size = seesaw.get_by_label("number of people to plan with")
        shown = seesaw.locator(".figures strong").first
        before = shown.inner_text()
        size.fill("283")
        size.press("Enter")
        expect(shown).not_to_have_text(before)
        expect(page.locator("body")).to_contain_text("Released from hiv")
        assert page.get_by_role("button", name="more ε for").count() == 0  # nobody there would answer it
        shots(page, "voila", full_page=True)
    finally:
        server.stop()
    assert errors == []


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A notebook of two interactions and a release, executed without a front end, and the page it exported."""
    folder = tmp_path_factory.mktemp("ran")
    cells = [
        OPEN,
        SEESAW,
        "widgets.odds(0.1, epsilon=0.5)",
        "%%dp epsilon=0.4\nm = hiv.got.mean()",
        "%dp export x.html",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbformat.write(notebook, folder / "source.ipynb")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPNB_HOME", str(folder / "home"))
        execute(folder / "source.ipynb", folder / "ran.ipynb")
    return folder


@pytest.fixture
def offline(browser):
    """Open a file without a network; nothing may be asked for, and nothing be said on the console."""
    contexts, faults = [], []

    def open_(path, width=1000, scheme="light"):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        context.set_offline(True)
        page = context.new_page()
        page.set_default_timeout(20_000)
        page.on("pageerror", lambda error: faults.append(str(error)))
        page.on("console", lambda message: faults.append(message.text))
        page.on(
            "request",
            lambda request: faults.append(request.url) if re.match("https?:|wss?:", request.url) else None,
        )
        page.goto(path.as_uri())
        return page

    yield open_
    for context in contexts:
        context.close()
    assert faults == []


def test_exported_page_still_drags(ran, offline, shots):
    """One file with the release, its forecast and both interactions: they drag, it says that there is no kernel, it asks nobody."""
    page = offline(ran / "x.html")
    expect(page.locator("main")).to_contain_text("This page has no kernel")
    expect(page.locator("main")).to_contain_text("hiv.got.mean()")
    for title in ("What accuracy costs", "What ε means for one person", "Measure again"):
        widget = page.locator(".dpnb-w", has_text=title).first
        expect(widget).to_be_visible()
        assert moves(page, widget)
    assert page.locator(".still").count() == 0
    shots(page, "exported", full_page=True)
    narrow = offline(ran / "x.html", width=320, scheme="dark")
    narrow.locator(".dpnb-w").first.wait_for()
    assert narrow.evaluate("document.documentElement.scrollWidth") <= 320
    shots(narrow, "exported-320", full_page=True)


INJECTED = """
<script>window.ran = "inline"</script>
<script type="module">window.ran = "module"</script>
<script src="data:text/javascript,window.ran='data'"></script>
<script src="{there}/script.js"></script>
<img src="{there}/image.png" onerror="window.ran = 'onerror'">
<img src="x" onerror="window.ran = 'handler'">
<svg onload="window.ran = 'svg'"></svg>
<iframe srcdoc="<script>parent.ran = 'frame'</script>"></iframe>
<iframe src="javascript:parent.ran='address'"></iframe>
<link rel="stylesheet" href="{there}/style.css">
<style>@import url("{there}/import.css"); body {{ background: url("{there}/background.png") }}</style>
<base href="{there}/">
<a id="hit" href="javascript:window.ran='link'">link</a>
"""


@pytest.fixture
def listener():
    """A server on this machine that notes what it is asked for; nobody has reason to ask it."""
    asked = []

    class Answer(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answer)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", asked
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.parametrize("place", ["<body>", "</body>", "<title>"])
def test_exported_page_runs_its_own_script_alone(ran, page, listener, place, tmp_path):
    """Markup that somehow got into the page runs nothing and asks nobody, wherever it stands; the page itself still drags."""
    there, asked = listener
    text = (ran / "x.html").read_text(encoding="utf-8")
    assert place in text
    evil = INJECTED.format(there=there)
    changed = text.replace(place, place + evil if place == "<body>" else evil + place, 1)
    (tmp_path / "x.html").write_text(changed, encoding="utf-8")
    page.goto((tmp_path / "x.html").as_uri())
    widget = page.locator(".dpnb-w", has_text="What ε means for one person").first
    assert moves(page, widget)
    page.locator("#hit").evaluate("link => link.click()")
    for call in (
        "fetch(there + '/fetch')",
        "new WebSocket(there.replace('http', 'ws') + '/socket')",
        "import(there + '/module.js')",
    ):
        page.evaluate("async there => { try { await " + call + " } catch {} }", there)
    page.wait_for_timeout(300)
    assert page.evaluate("window.ran") is None
    assert asked == []


def test_the_injected_markup_would_run_without_the_policy(ran, page, listener, tmp_path):
    """The same markup in the same page without its policy runs and asks: the test above can fail."""
    there, asked = listener
    text = (ran / "x.html").read_text(encoding="utf-8")
    bare = re.sub('<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
    assert len(bare) < len(text)
    (tmp_path / "x.html").write_text(
        bare.replace("</body>", INJECTED.format(there=there) + "</body>"), encoding="utf-8"
    )
    page.goto((tmp_path / "x.html").as_uri())
    page.wait_for_function("window.ran !== undefined")
    page.wait_for_timeout(300)
    assert {"/script.js", "/image.png", "/style.css"} <= set(asked)


def test_exported_page_names_what_is_in_it(ran):
    """The command says how many releases and interactions were written."""
    last = nbformat.read(ran / "ran.ipynb", as_version=4).cells[-1]
    assert last.outputs[0]["text"].strip() == "1 release and 2 interactions written to x.html"


def test_converted_notebook_is_not_blank(ran, offline, shots):
    """The HTML of nbconvert shows every interaction as its still form, offline: the table and the sentence, no empty output."""
    page = offline(converted(ran / "ran.ipynb"))
    expect(page.locator("body")).to_contain_text("An honest 10 % guess becomes at most 15.5 %")
    expect(page.locator("body")).to_contain_text("± 0.00475")
    shots(page, "converted", full_page=True)


def converted(notebook):
    """Return the HTML that nbconvert makes of a notebook, without the addresses of its own that a browser would ask."""
    quiet = [f"--HTMLExporter.{name}_url=" for name in ("mathjax", "require_js", "jquery", "mermaid_js")]
    command = [sys.executable, "-m", "nbconvert", "--to", "html", "--log-level=ERROR", *quiet, notebook.name]
    subprocess.run(command, cwd=notebook.parent, check=True, timeout=120)
    made = notebook.with_suffix(".html")
    text = re.sub(r"<script[^>]*src=.*?</script>", "", made.read_text(encoding="utf-8"), flags=re.DOTALL)
    made.write_text(re.sub(r'<script type="module">\s*import mermaid.*?</script>', "", text, flags=re.DOTALL))
    return made

"""A stranger's notebook, opened where anywidget's extension is not: nothing of it runs, nothing is spent, and its still forms are seen.

JupyterLab restores the widget state of a notebook's metadata without asking, trusted or not: models are made of it as soon as the
notebook has a kernel. Every attack here sets ``window.hit``.
"""

from __future__ import annotations

import copy
import json
import re
import subprocess
import sys

import nbformat
import pytest
from playwright.sync_api import expect

from dpnb import widgets
from dpnb.widgets._base import MODULE, VERSION
from tests.browser.conftest import START, Lab, until
from tests.browser.test_interactions import makers

HIT = "window.hit = (window.hit || 0) + 1"
MARKUP = (
    f"<img src=x onerror='{HIT}'><script>{HIT}</script><svg onload='{HIT}'></svg>"
    f"<a href='javascript:{HIT}'>a</a><iframe srcdoc='<script>parent.{HIT}</script>'></iframe>"
)
ADDRESS = f"javascript:{HIT}"
ESM = f"{HIT}; export default {{ initialize() {{ {HIT} }}, render() {{ {HIT} }} }};"
VIEW = "application/vnd.jupyter.widget-view+json"
STATE = "application/vnd.jupyter.widget-state+json"


def poisoned(value, text):
    """Put a text in the place of every text that a state holds."""
    if isinstance(value, str):
        return text
    if isinstance(value, dict):
        return {name: poisoned(one, text) for name, one in value.items()}
    return [poisoned(one, text) for one in value] if isinstance(value, list) else value


def flattened(value):
    """Put another type in the place of every value."""
    if isinstance(value, dict):
        return {name: [one] for name, one in value.items()}
    return {"0": value}


# one more than a text of a saved state may have: `drawing/shape.ts`
LONG = 50_001


def ours(kind, facts, chosen=None, **besides):
    """A saved model of our class."""
    state = {
        "_model_module": MODULE,
        "_model_module_version": VERSION,
        "_model_name": "Interaction",
        "_view_module": MODULE,
        "_view_module_version": VERSION,
        "_view_name": "InteractionView",
        "_dom_classes": [],
        "kind": kind,
        "facts": facts,
        "chosen": chosen or {},
        **besides,
    }
    return {
        "model_module": MODULE,
        "model_module_version": VERSION,
        "model_name": "Interaction",
        "state": state,
    }


def anywidgets():
    """Models whose state is code, under the names that anywidget has had."""
    for number, version in enumerate(("~0.9.*", "0.11.0", "*")):
        state = {
            "_model_module": "anywidget",
            "_model_module_version": version,
            "_model_name": "AnyModel",
            "_view_module": "anywidget",
            "_view_module_version": version,
            "_view_name": "AnyView",
            "_esm": ESM,
            "_css": "body { background: red }",
            "_anywidget_id": f"evil.{number}",
        }
        named = {"model_module": "anywidget", "model_module_version": version, "model_name": "AnyModel"}
        yield f"any{number}", {**named, "state": state}


def states(made):
    """Yield saved states by their model's id: hostile texts, wrong types, unknown kinds and classes, far too much."""
    yield from anywidgets()
    for name, one in made.items():
        facts = json.loads(json.dumps(one.facts))
        kind = one.kind
        yield f"{name}-good", ours(kind, facts)
        for label, text in (("markup", MARKUP), ("address", ADDRESS), ("long", "=" * LONG)):
            yield f"{name}-{label}", ours(kind, poisoned(facts, text), poisoned(one.chosen, text))
        yield f"{name}-types", ours(kind, flattened(facts), {"epsilon": MARKUP, "loss": {}, "shape": [1]})
        yield f"{name}-empty", ours(kind, {})
        yield f"{name}-code", ours(kind, facts, _esm=ESM, _css=MARKUP)
    good = json.loads(json.dumps(made["odds"].facts))
    for kind in (
        "",
        "nothing",
        "constructor",
        "__proto__",
        "../lab/index",
        f"data:text/javascript,{HIT}",
        7,
        None,
        ["odds"],
    ):
        yield f"kind-{json.dumps(kind)}", ours(kind, good)
    yield "huge", ours("odds", {**good, "more": [0] * 60_000})
    yield "text", ours("odds", MARKUP)
    for name in ("Nothing", "constructor", "__proto__"):
        odd = ours("odds", good, _view_name=name)
        yield f"view-{name}", odd
        yield f"model-{name}", {**ours("odds", good, _model_name=name), "model_name": name}


def outputs(names):
    """Yield outputs that ask for a view of each state, beside markup of the stranger's own."""
    for name in names:
        data = {
            VIEW: {"version_major": 2, "version_minor": 0, "model_id": name},
            "text/plain": f"still {name}",
        }
        yield nbformat.v4.new_output(
            "display_data", data={**data, "text/html": f"<p>still {name}</p>{MARKUP}"}
        )
    for mime in ("release", "plan", "dataset"):
        record = {"version": 1, "name": MARKUP, "question": MARKUP, "rows": [MARKUP], "cell": f"{HIT}"}
        data = {
            f"application/vnd.dpnb.{mime}+json": record,
            "text/html": MARKUP,
            "text/plain": "still record",
        }
        yield nbformat.v4.new_output("display_data", data=data)
    for mime in ("application/javascript", "image/svg+xml", "text/markdown", "text/latex"):
        yield nbformat.v4.new_output("display_data", data={mime: HIT if "java" in mime else MARKUP})


@pytest.fixture(scope="module")
def made():
    """One interaction of several kinds, as dpnb makes them."""
    return {
        "odds": widgets.odds(),
        "noises": widgets.noises(),
        "person": widgets.drag_person(),
        "clamp": widgets.clamp(),
        "attack": widgets.attack_bench("linkage"),
        "exhibits": widgets.exhibits(),
    }


@pytest.fixture(scope="module")
def hostile(made):
    """The stranger's notebook: a cell that would spend, outputs, state."""
    saved = dict(states(made))
    shown = list(outputs(saved))
    cells = [
        nbformat.v4.new_markdown_cell(f"# title\n{MARKUP}\n[a]({ADDRESS})"),
        # JupyterLab shows fifty outputs of a cell at once
        *(
            nbformat.v4.new_code_cell("%%dp epsilon=1\nm = hiv.got.mean()", outputs=shown[i : i + 40])
            for i in range(0, len(shown), 40)
        ),
        nbformat.v4.new_code_cell(START),
        nbformat.v4.new_raw_cell(MARKUP),
    ]
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": MARKUP, "language": "python"}
    notebook.metadata["title"] = MARKUP
    notebook.metadata["widgets"] = {STATE: {"version_major": 2, "version_minor": 0, "state": saved}}
    return notebook


LOADED = "performance.getEntriesByType('resource').filter(one => one.name.includes('/dpnb-widgets/static/')).length"


def watched(lab):
    """Count what the kernel is asked to execute."""
    lab.page.evaluate(
        """() => {
            window.executed = 0;
            const kernel = window.jupyterapp.shell.currentWidget.sessionContext.session.kernel;
            kernel.anyMessage.connect((_, { msg, direction }) => {
                if (direction === 'send' && msg.header.msg_type === 'execute_request' && !msg.content.silent) window.executed += 1;
            });
        }"""
    )


def opened(page, server, shots, name):
    """Open a notebook; the errors of the page are the stranger's own doing."""
    lab = Lab(page, server, shots)
    lab.open(name)
    watched(lab)
    return lab


# the manager of widgets that a notebook has: it makes models of the saved state, after it has asked the kernel for others
MANAGER = f"""async () => {{
    const type = {json.dumps(VIEW)};
    const factory = window.jupyterapp.shell.currentWidget.content.rendermime.getFactory(type);
    window.manager = await factory.createRenderer({{ mimeType: type }})._manager.promise;
}}"""
# of a state that it cannot read it gives up without a word, so that it is asked for it once more, and comes to its end
AGAIN = "async () => await window.manager.restoreWidgets(window.jupyterapp.shell.currentWidget.context.model)"
# Each way in which markup or state runs code, taken once more by what is no stranger's: it begins after theirs and ends after them,
# if nothing new is asked for meanwhile.
BARRIER = """async () => {
    const asked = () => performance.getEntriesByType('resource').length;
    const added = (name, facts, event) => new Promise(done => {
        const node = Object.assign(document.createElement(name), facts);
        node.addEventListener(event, () => { node.remove(); done(); });
        document.body.append(node);
    });
    let before;
    do {
        before = asked();
        await added('img', { src: 'x' }, 'error');
        await added('iframe', { srcdoc: '<script>1</script>' }, 'load');
        await import('data:text/javascript,');
        await new Promise(done => setTimeout(done));
        await new Promise(requestAnimationFrame);
        await new Promise(requestAnimationFrame);
    } while (asked() > before + 1);
}"""


def settled(lab, readable=True):
    """Wait until the state of the notebook was restored, or given up, and what it might do was done."""
    lab.page.evaluate(MANAGER)
    if readable:
        until(lab.page, "() => window.manager.restoredStatus")
    else:
        lab.page.evaluate(AGAIN)
    lab.page.evaluate(BARRIER)
    return lab.page.evaluate("window.hit ?? null")


def test_nothing_of_a_strangers_notebook_runs(page, server, shots, hostile):
    """Opened with a kernel: no code of its state, outputs or cells runs, the kernel is asked nothing, nothing is spent; still forms are seen."""
    nbformat.write(hostile, server.work / "stranger.ipynb")
    lab = opened(page, server, shots, "stranger.ipynb")
    assert settled(lab) is None
    assert page.evaluate("window.executed") == 0
    assert not page.evaluate("'anywidget' in (window._JUPYTERLAB ?? {})")
    assert page.evaluate(LOADED) > 1  # our models were made of that state: the classes came after the entry
    expect(page.locator(".jp-OutputArea").first).to_contain_text("still odds-good")
    expect(page.locator(".jp-Notebook")).to_contain_text("still model-constructor")
    assert (
        page.locator(".jp-OutputArea .dpnb-w:not(.dpnb-Release)").count() == 0
    )  # not trusted: no view is drawn
    assert not list(server.home.iterdir())  # no curator, no ledger
    lab.shot("stranger")
    lab.shutdown()


def test_views_of_hostile_state_are_drawn_as_text_or_not_at_all(page, server, shots, hostile, made):
    """Even trusted by mistake, so that the views are drawn: what has the shape is drawn as text, the rest is refused; no code runs."""
    trusted = copy.deepcopy(hostile)
    # only the outputs of views: what is trusted besides runs in every notebook, that is what trust means there
    for cell in trusted.cells:
        if cell.cell_type == "code":
            cell.outputs = [one for one in cell.outputs if VIEW in one.data]
            for one in cell.outputs:
                one.data.pop("text/html")
    trusted.cells = [cell for cell in trusted.cells if cell.cell_type == "code"]
    nbformat.write(trusted, server.work / "trusted.ipynb")
    trust(server, "trusted.ipynb")
    lab = opened(page, server, shots, "trusted.ipynb")
    area = page.locator(".jp-Notebook")
    first = area.locator(".jp-OutputArea-output").nth(len(list(anywidgets())))  # the first that is ours
    for _ in range(3):
        expect(first).to_contain_text(re.compile("What ε means|model not found"))
        if "model not found" not in first.inner_text():
            break
        # on a busy machine ipywidgets forgets, for good, the views that it meets before it has read 90 MB of states
        assert settled(lab) is None
        lab.open("trusted.ipynb")
        watched(lab)
    expect(area.locator(".dpnb-w", has_text="What ε means").first).to_be_visible()
    assert settled(lab) is None
    for locator in (
        area.locator(".dpnb-w button:enabled"),
        area.locator(".dpnb-w a"),
        area.locator(".dpnb-w summary"),
    ):
        for one in locator.all()[:60]:
            if one.is_visible():
                one.click(timeout=2000, force=True, no_wait_after=True)
    assert settled(lab) is None
    assert page.evaluate("window.executed") == 0
    drawn = area.locator(".dpnb-w")
    assert drawn.filter(has_text="contains something that dpnb never writes").count() >= 3 * len(made)
    assert drawn.filter(has_text="The kernel that drew this has ended").count() >= len(made)
    assert (
        area.locator(
            ".dpnb-w img, .dpnb-w script, .dpnb-w iframe, .dpnb-w [onload], .dpnb-w [onerror]"
        ).count()
        == 0
    )
    assert area.locator(".dpnb-w [href^=javascript]").count() == 0
    assert not list(server.home.iterdir())  # no curator, no ledger
    lab.shot("trusted-stranger")
    lab.shutdown()


def buffered(*path):
    """A saved model whose buffer is put where a path says; ipywidgets follows it to wherever it leads."""
    named = {
        "model_module": "@jupyter-widgets/base",
        "model_module_version": "2.0.0",
        "model_name": "LayoutModel",
    }
    state = {f"_{name}": value for name, value in named.items()}
    return {**named, "state": state, "buffers": [{"encoding": "base64", "path": list(path), "data": "YWJj"}]}


@pytest.fixture
def theirs(lab):
    """A driver of the JupyterLab that is open; the errors of the page are the stranger's own doing."""
    yield lab
    lab.errors.clear()


def opened_beside(lab, name):
    """Open a notebook beside what was open before."""
    lab.show(name)
    watched(lab)
    return lab


def test_no_buffer_of_a_saved_state_makes_a_page_trust_everything(theirs, server, made):
    """Nothing is added to what all objects inherit from; drawn again, a stranger's Markdown still runs nothing, outputs stay still."""
    good = ours("odds", json.loads(json.dumps(made["odds"].facts)))
    shown = next(outputs(["good"]))
    cells = [nbformat.v4.new_markdown_cell(MARKUP), nbformat.v4.new_code_cell("1", outputs=[shown])]
    notebook = nbformat.v4.new_notebook(cells=cells)
    saved = {
        "bad": buffered("__proto__", "trusted"),
        "worse": buffered("constructor", "prototype", "trusted"),
        "good": good,
    }
    notebook.metadata["widgets"] = {STATE: {"version_major": 2, "version_minor": 0, "state": saved}}
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    nbformat.write(notebook, server.work / "buffers.ipynb")
    lab = opened_beside(theirs, "buffers.ipynb")
    page = lab.page
    assert settled(lab, readable=False) is None
    assert not page.evaluate("window.manager.restoredStatus")
    assert page.evaluate("({}).trusted === undefined")
    page.evaluate(
        """async () => {
            const cell = window.jupyterapp.shell.currentWidget.content.widgets[0];
            cell.rendered = false;
            cell.model.sharedModel.setSource(`${cell.model.sharedModel.getSource()} again`);
            cell.rendered = true;
        }"""
    )
    expect(lab.cell(0).locator(".jp-RenderedMarkdown")).to_contain_text("again")
    assert settled(lab, readable=False) is None
    expect(lab.cell(1)).to_contain_text("still good")
    lab.shutdown()


def test_a_saved_view_releases_nothing(theirs, server, data):
    """A saved plan of the very cell above it, with a dearer loss in its facts than the cell has: its Release is off, and it says how to go on."""
    facts = json.loads(json.dumps(makers(data)["plan"]().facts))
    source = f"%%dp plan epsilon=0.1 assume_n=40\n{facts['body']}"
    shown = nbformat.v4.new_output(
        "display_data", data={VIEW: {"version_major": 2, "version_minor": 0, "model_id": "plan"}}
    )
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(source, outputs=[shown])])
    notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python 3", "language": "python"}
    state = {"plan": ours("plan", {**facts, "loss": 5})}
    notebook.metadata["widgets"] = {STATE: {"version_major": 2, "version_minor": 0, "state": state}}
    nbformat.write(notebook, server.work / "dear.ipynb")
    trust(server, "dear.ipynb")
    lab = opened_beside(theirs, "dear.ipynb")
    page = lab.page
    release = page.get_by_role("button", name="Release", exact=True)
    expect(release).to_be_disabled()
    release.evaluate("one => { one.disabled = false }")  # a stranger's page may say otherwise
    release.click()
    expect(page.get_by_text("Run the cells above, then this one")).to_be_visible()
    expect(lab.page.locator(".jp-Notebook .jp-CodeCell")).to_have_count(1)
    expect(lab.cell(0)).to_contain_text("%%dp plan epsilon=0.1")
    assert settled(lab) is None
    assert page.evaluate("window.executed") == 0
    lab.shutdown()


def trust(server, name):
    """Sign a notebook as this server's own, as the command "Trust notebook" does."""
    command = [sys.executable, "-m", "jupyter", "trust", name]
    subprocess.run(command, cwd=server.work, env=server.environment(), check=True, capture_output=True)


def test_a_saved_notebook_shows_its_still_forms(theirs, server):
    """Saved with interactions, and opened again when their kernel is gone, by its author and by a stranger: the still form is seen."""
    cells = ["from dpnb import widgets\nwidgets.odds(0.1, epsilon=0.5)", "widgets.noises()"]
    server.notebook("kept.ipynb", cells)
    lab = theirs
    lab.show("kept.ipynb")
    lab.run_all()
    expect(lab.page.locator(".dpnb-w", has_text="What ε means").first).to_be_visible()
    lab.command("docmanager:save")
    lab.shutdown()
    kept = nbformat.read(server.work / "kept.ipynb", as_version=4)
    assert "_esm" not in json.dumps(kept)
    nbformat.write(kept, server.work / "theirs.ipynb")
    kept.cells[1].source += "  # changed by somebody, so that no signature fits"
    nbformat.write(kept, server.work / "strange.ipynb")
    for name in ("theirs.ipynb", "strange.ipynb"):
        lab.show(name)
        lab.shot(name.removesuffix(".ipynb"))
        for index, words in ((0, "An honest 10 % guess becomes at most 15.5 %"), (1, "Two noises")):
            expect(lab.cell(index)).to_contain_text(words)
        lab.shutdown()

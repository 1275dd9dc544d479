"""Where to begin: the launcher's tile and the palette's section make notebooks that run."""

from __future__ import annotations

import json

from playwright.sync_api import expect

from tests.browser.conftest import ROOT

FRONT = """async () => {
    const panel = window.jupyterapp.shell.currentWidget;
    await panel.context.ready;
    return [panel.context.path, panel.content.widgets.map(cell => cell.model.sharedModel.source)];
}"""


def in_front(lab, name):
    """Wait until a notebook of this name is in front; return its path and its cells."""
    lab.page.wait_for_function(
        "name => window.jupyterapp.shell.currentWidget?.context?.path?.endsWith(name)", arg=name
    )
    return lab.page.evaluate(FRONT)


def test_launcher_has_a_tile_for_a_guided_notebook(open_, shots):
    """The tile makes a notebook whose two cells run to the guide; nothing is charged by it."""
    lab = open_("1")
    lab.command("launcher:create")
    tile = lab.page.locator(".jp-LauncherCard", has_text="Private notebook")
    expect(tile).to_be_visible()
    lab.shot("launcher")
    tile.click()
    _, cells = in_front(lab, "Private notebook.ipynb")
    assert [cell for cell in cells if cell.startswith("%")] == [
        '%load_ext dpnb\nimport dpnb\n\nhiv = dpnb.open("hiv")',
        "%dp guide hiv",
    ]
    lab.settled()
    lab.run_all()
    guide = lab.page.locator(".jp-Notebook:visible .dpnb-w", has_text="What do you want to know")
    expect(guide.first).to_be_visible()
    assert not lab.page.locator('.jp-Notebook:visible [data-mime-type$="stderr"]').count()
    lab.shutdown()


def test_palette_opens_a_copy_of_the_gallery_each_time(open_):
    """The gallery comes from the extension's own files; a second copy has a name of its own, and is the same."""
    lab = open_("1")
    shipped = json.loads((ROOT / "notebooks/01-gallery.ipynb").read_text(encoding="utf-8"))
    for name in ("Privacy gallery.ipynb", "Privacy gallery 2.ipynb"):
        lab.command("dpnb:open-gallery")
        path, cells = in_front(lab, name)
        assert path == name
        assert cells == ["".join(cell["source"]) for cell in shipped["cells"]]
        lab.settled()
        lab.shutdown()


def test_palette_has_a_section_of_its_own(open_):
    """Typing its name in the palette lists the three ways in, each by its words."""
    lab = open_("1")
    lab.command("apputils:activate-command-palette")
    lab.page.locator(".lm-CommandPalette-input:visible, .jp-ModalCommandPalette input").first.fill(
        "differential privacy"
    )
    for words in ("Open the privacy panel", "New guided notebook", "Open gallery"):
        expect(lab.page.locator(".lm-CommandPalette-item", has_text=words).first).to_be_visible()

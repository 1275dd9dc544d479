"""How Sphinx draws the site. It reads the copy of the pages that ``dpnb_site`` made: build with ``make docs``."""

from __future__ import annotations

from typing import Any

from docutils import nodes

import dpnb

project = "dpnb"
author = "the dpnb developers"
version = release = dpnb.__version__
project_copyright = author

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
]
exclude_patterns = ["_extra/**", "notebooks/deploy/**/*.py"]
nitpicky = False
# a record of dpnb's own stands beside the HTML of a card: it is for JupyterLab alone
suppress_warnings = ["mystnb.unknown_mime_type"]

# pages
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 6
myst_links_external_new_tab = False

# notebooks: run at every build, in a home of their own; a cell that fails where it should not is a failure of the build
nb_execution_mode = "cache"
nb_execution_timeout = 300
# the first lesson is run; the others stand as students get them, to be finished
nb_execution_excludepatterns = [
    "notebooks/course/0[2-9]*",
    "notebooks/course/1*",
    "notebooks/course/homework/*",
]
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_merge_streams = True
# what a saved page shows stands still and loads no script
nb_ipywidgets_js = {}
nb_mime_priority_overrides = [("html", "application/vnd.jupyter.widget-view+json", None)]

# docstrings
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False
numpydoc_xref_param_type = False

# the page
html_theme = "pydata_sphinx_theme"
html_title = "dpnb"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]
html_extra_path = ["_extra"]
html_sidebars = {"project/*": []}
html_context = {"default_mode": "auto"}
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "dpnb"},
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "pygments_light_style": "a11y-light",
    "pygments_dark_style": "a11y-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
    "use_edit_page_button": False,
}


def _wrap_long_lines(_app: Any, page: nodes.document, _name: str) -> None:
    """Mark the blocks whose lines are longer than a page is wide: they go on in the next line, and tables of characters do not."""
    for block in page.findall(nodes.literal_block):
        if max(map(len, block.astext().splitlines()), default=0) > 110:
            block["classes"].append("wraps")


def setup(app: Any) -> None:
    """Register what is done to each page before it is written."""
    app.connect("doctree-resolved", _wrap_long_lines)

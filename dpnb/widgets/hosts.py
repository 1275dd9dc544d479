"""Which of its forms an interaction takes here: the extension's, anywidget's, or the one that stands still.

``extension`` (the default)
    JupyterLab, Notebook 7 and Voilà, where dpnb's extension has the code: a notebook carries state alone.
``anywidget``
    VS Code and Colab, which load no extension of JupyterLab. They need the optional package: ``pip install "dpnb[anywidget]"``.
    There the code of a view travels with its state. Wherever anywidget's own extension is installed, by anyone, for whatever
    package, a stranger's notebook can run code when it is opened, and dpnb cannot prevent that: install the extra where
    nothing else serves, and open strangers' notebooks elsewhere.
``still``
    The card alone, which every viewer shows.

The place is recognised by what VS Code and Colab leave in a kernel; the environment variable ``DPNB_WIDGETS``, set before the
interaction is made to one of the three words, decides otherwise. anywidget is never chosen because it happens to be installed.
"""

from __future__ import annotations

import importlib.util
import os
import sys

from dpnb.errors import PlanError

FORMS = ("extension", "anywidget", "still")
_VARIABLE = "DPNB_WIDGETS"
_WITHOUT = 'DPNB_WIDGETS=anywidget needs the optional package: pip install "dpnb[anywidget]".'


def form() -> str:
    """Return the form of interactions here: one of :data:`FORMS`.

    Raises
    ------
    PlanError
        Where ``DPNB_WIDGETS`` is no such word, or asks for a package that is not installed.
    """
    asked = os.environ.get(_VARIABLE, "")
    if asked and asked not in FORMS:
        raise PlanError(f"DPNB_WIDGETS is one of {', '.join(FORMS)}, not {asked!r}.")
    if asked == "anywidget" and not _portable():
        raise PlanError(_WITHOUT)
    if asked:
        return asked
    if not _without_extensions():
        return "extension"
    return "anywidget" if _portable() else "still"


def _portable() -> bool:
    """Whether anywidget is installed."""
    return importlib.util.find_spec("anywidget") is not None


def _without_extensions() -> bool:
    """Whether the notebook around is VS Code's or Colab's."""
    return "google.colab" in sys.modules or "__vsc_ipynb_file__" in _names()


def _names() -> dict[str, object]:
    """Return the names of the notebook; none outside of one."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return dict(getattr(shell, "user_ns", {}))

"""Which form an interaction takes: an extension's, anywidget's where no extension can be, or the one that stands still."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from dpnb import widgets
from dpnb.errors import PlanError
from dpnb.widgets import _base, hosts

ROOT = Path(__file__).parents[2]
APART = ROOT / ".anywidget"
VIEW = "application/vnd.jupyter.widget-view+json"
needs_front_end = pytest.mark.skipif(not _base.built(), reason="the front end is not built")


@pytest.fixture(autouse=True)
def unset(monkeypatch):
    """Begin where nothing says which form is wanted."""
    monkeypatch.delenv("DPNB_WIDGETS", raising=False)


@needs_front_end
def test_state_carries_no_code():
    """What a notebook saves of an interaction is a kind, facts, numbers and settings, and the names of fixed classes."""
    state = widgets.odds(0.1, epsilon=0.5).get_state()
    own = {name for name in state if not name.startswith("_")}
    assert own == {"kind", "facts", "arrays", "chosen", "layout", "tabbable", "tooltip"}
    assert {state[f"_{part}_module"] for part in ("model", "view")} == {"dpnb-widgets"}
    assert state["kind"] == "odds"
    assert "_esm" not in state
    assert "=>" not in json.dumps(state["facts"])


def test_the_names_of_the_classes_are_fixed():
    """No assignment makes an interaction name another class or kind."""
    made = widgets.odds()
    for name in ("kind", "_model_module", "_view_name", "_model_module_version"):
        with pytest.raises(Exception, match="read-only"):
            setattr(made, name, "clamp")


def test_a_kind_that_is_not_in_the_table_is_none():
    """A class with another kind cannot be made."""

    class Other(_base.Interaction):
        module = "other"

    with pytest.raises(Exception, match="kind"):
        Other()


@needs_front_end
@pytest.mark.parametrize(
    ("names", "form"),
    [({}, "extension"), ({"__vsc_ipynb_file__": "a.ipynb"}, "still"), ({"x": 1}, "extension")],
)
def test_vs_code_is_recognised_by_what_it_leaves_in_a_kernel(monkeypatch, names, form):
    """Without anywidget an interaction stands still there, and opens no line to classes that nobody has."""
    monkeypatch.setattr(hosts, "_names", lambda: names)
    monkeypatch.setattr(hosts, "_portable", lambda: False)
    assert hosts.form() == form
    data, _ = widgets.odds()._repr_mimebundle_()
    assert (VIEW in data) == (form == "extension")
    assert {"text/html", "text/plain"} <= set(data)


def test_colab_is_recognised_by_its_package(monkeypatch):
    """Colab's own package is loaded in each of its kernels."""
    monkeypatch.setitem(sys.modules, "google.colab", object())
    monkeypatch.setattr(hosts, "_portable", lambda: True)
    assert hosts.form() == "anywidget"


def test_the_setting_decides(monkeypatch):
    """DPNB_WIDGETS is one of three words; what is not installed is refused with the line to type."""
    monkeypatch.setattr(hosts, "_portable", lambda: False)
    for word in ("still", "extension"):
        monkeypatch.setenv("DPNB_WIDGETS", word)
        assert hosts.form() == word
    monkeypatch.setenv("DPNB_WIDGETS", "anywidget")
    with pytest.raises(PlanError, match=r'pip install "dpnb\[anywidget\]"'):
        hosts.form()
    monkeypatch.setenv("DPNB_WIDGETS", "yes")
    with pytest.raises(PlanError, match="extension, anywidget, still"):
        hosts.form()


def run(code, **environment):
    """Run a program in a Python of its own."""
    found = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{APART}", **environment}
    return subprocess.run(
        [sys.executable, "-c", code], env=found, capture_output=True, text=True, check=False
    )


def test_nothing_of_dpnb_needs_anywidget():
    """Where it is not, every interaction is made and shown; where it is, it is not loaded unless asked for."""
    every = "import dpnb.widgets as w; [getattr(w, name) for name in w.__all__]; w.odds()._repr_mimebundle_()"
    done = run(f"import sys; sys.modules['anywidget'] = None; {every}")
    assert done.returncode == 0, done.stderr
    done = run(f"import sys; {every}; print('anywidget' in sys.modules)")
    assert done.stdout.strip() == "False", done.stderr


PORTABLE = """
import json
from dpnb import widgets
made = widgets.odds(0.1, epsilon=0.5)
assert made.comm is None
data, _ = made._repr_mimebundle_()
double = made._elsewhere
assert data["application/vnd.jupyter.widget-view+json"]["model_id"] == double.model_id
state = double.get_state()
assert (state["_model_module"], state["facts"], state["chosen"]) == ("anywidget", made.facts, made.chosen)
assert state["_esm"].endswith("export default dpnbView.default;\\n") and ".dpnb-w" in state["_css"]
double.chosen = {"prior": 0.1, "epsilon": 2.0}
assert made.chosen["epsilon"] == 2.0 and double.facts == made.facts
heard = []
panel = widgets.panel()
panel._repr_mimebundle_()
panel._elsewhere.send = lambda content, buffers=None: heard.append(content)
panel._elsewhere._handle_custom_msg({"ask": "plan", "number": 7}, [])
assert heard[0]["number"] == 7, heard
print(json.dumps(state["_esm"]))
"""


@needs_front_end
def test_the_double_of_an_interaction_has_its_facts_and_hears_for_it(tmp_path):
    """As the extra shows it: same facts and settings, questions answered, and a module that a browser can import."""
    if not APART.is_dir() and importlib.util.find_spec("anywidget") is None:
        say = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        say("no anywidget beside the environment: make test puts it into .anywidget")
    done = run(PORTABLE, DPNB_WIDGETS="anywidget", DPNB_HOME=str(tmp_path))
    assert done.returncode == 0, done.stderr
    (tmp_path / "view.mjs").write_text(json.loads(done.stdout.strip().splitlines()[-1]))
    node = ["node", "-e", "import(process.argv[1]).then(m => console.log(typeof m.default.render))"]
    try:
        said = subprocess.run(
            [*node, str(tmp_path / "view.mjs")], capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        pytest.skip("no Node.js")
    assert said.stdout.strip() == "function", said.stderr

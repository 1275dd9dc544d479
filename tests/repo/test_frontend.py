"""The front end's own tools are test cases: TypeScript, ESLint, Prettier, vitest, and the lock file."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dpnb.widgets._base import KINDS, MODULE, VERSION
from dpnb.widgets.registry import INTERACTIONS
from tests.repo.measures import FRONT_END_SCRIPT

pytestmark = pytest.mark.repo

FOLDER = Path(__file__).parents[2] / "labextension"
LOCK = json.loads((FOLDER / "package-lock.json").read_text())
needs_build = pytest.mark.skipif(
    not (FOLDER / "dist/dpnb-widgets/static").is_dir(), reason="the front end is not built"
)


@pytest.fixture(scope="module")
def npm():
    """Return npm. Where continuous integration runs, a missing one is a failure, not a skip."""
    found = shutil.which("npm")
    if found is None or not (FOLDER / "node_modules").is_dir():
        say = pytest.fail if os.environ.get("CI") == "true" else pytest.skip
        say("no Node.js, or its packages are not installed: npm ci in labextension/")
    return found


@pytest.mark.parametrize(
    "words",
    [
        # TypeScript and ESLint, of one program
        pytest.param(("run", "-s", "check"), id="check"),
        pytest.param(("run", "-s", "format"), id="format"),
        # not the script, which makes src/kinds as the check does beside it
        pytest.param(("exec", "--", "vitest", "run"), id="vitest"),
    ],
)
def test_tool_has_nothing_to_say(npm, words):
    """tsc, eslint, prettier and vitest accept the whole front end."""
    done = subprocess.run([npm, *words], cwd=FOLDER, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_build
def test_each_extension_has_pieces_of_its_own():
    """Both stand in one page: a piece of the one, of the same number, was once taken for one of the other, whose panel was then not drawn."""
    named = [
        {
            name
            for path in (FOLDER / "dist").glob(f"{extension}/static/*.js")
            for name in re.findall(r"rspackChunk\w+", path.read_text())
        }
        for extension in ("dpnb", "dpnb-widgets")
    ]
    assert named == [{"rspackChunkdpnb"}, {"rspackChunkdpnb_widgets"}]


@needs_build
def test_bundles_are_small():
    """JupyterLab starts with less than 100 kB; the model builder, loaded with its panel, a kind of live card, loaded with its first one, and an interaction bring a third."""
    sizes = {path.name: path.stat().st_size for path in (FOLDER / "dist/dpnb/static").glob("*.js")}
    cards = {name: size for name, size in sizes.items() if name.startswith("card-")}
    later = {name: size for name, size in sizes.items() if name.startswith("panel-")}
    assert list(map(len, (later, cards))) == [1, 3]
    assert sum(sizes.values()) - sum(cards.values()) - sum(later.values()) < 100_000
    widgets = {path.name: path.stat().st_size for path in (FOLDER.parent / "dpnb/widgets/static").iterdir()}
    # in a page of its own the panel brings the split board with it
    assert widgets.pop("panel.js") < 60_000
    assert widgets.pop("coverage.js") < 60_000  # and the lab its studies at every loss
    assert widgets.pop("deposit.js") < 41_000  # four steps, each a form
    assert not {name: size for name, size in (cards | widgets).items() if size > 40_000}


@needs_build
def test_interactions_cost_nothing_until_they_are_drawn():
    """Of the second extension a page without interactions loads its entry and one registration; a view comes with its first drawing."""
    place = FOLDER / "dist/dpnb-widgets"
    entry = place / json.loads((place / "package.json").read_text())["jupyterlab"]["_build"]["load"]
    registration = [path for path in place.glob("static/*.js") if "registerWidget" in path.read_text()]
    assert entry.stat().st_size + sum(path.stat().st_size for path in registration) < 13_000
    largest, *others = sorted((path.stat().st_size for path in place.glob("static/*.js")), reverse=True)
    assert largest < 50_000  # the coverage lab
    assert others[0] < 40_000


@needs_build
def test_interactions_load_nothing_of_jupyterlab():
    """Voilà loads no extension that asks for a package of JupyterLab; without a widget manager, a bundled registry would be another one."""
    text = "".join(path.read_text() for path in (FOLDER / "dist/dpnb-widgets/static").glob("*.js"))
    consumed = set(re.findall(r'"(@(?:jupyterlab|lumino|codemirror|jupyter-widgets)/[\w-]+)"', text))
    assert consumed == {"@jupyter-widgets/base"}


def test_kinds_are_one_closed_table():
    """The registry, a file for each in Python, and its folder in the front end, from which the table there is made: one content."""
    sources = {path.parent.name for path in FOLDER.glob("src/widgets/*/view.ts")}
    assert set(KINDS) == sources
    files = {path.stem for path in (FOLDER.parent / "dpnb/widgets/kinds").glob("[!_]*.py")}
    assert [entry.name for entry in INTERACTIONS] == sorted(files) == list(KINDS)


def test_both_sides_name_the_same_classes():
    """The module and the version that a notebook holds are those that the extension registers and is published under."""
    said = dict(re.findall(r"export const (\w+) = '([^']+)'", (FOLDER / "src/drawing/name.ts").read_text()))
    assert said == {"MODULE": MODULE, "VERSION": VERSION}
    package = json.loads((FOLDER / "dpnb-widgets/package.json").read_text())
    assert (package["name"], package["version"]) == (MODULE, VERSION)


@pytest.mark.parametrize(
    "word",
    ["innerHTML", "outerHTML", "insertAdjacentHTML", "DOMParser", "document.write", "new Function", "srcdoc"],
)
def test_no_text_becomes_markup_or_code(word):
    """What is drawn is made of elements and texts: no source of the front end turns a text into markup or code."""
    holding = [path.name for path in FOLDER.glob("src/**/*.ts") if word in path.read_text()]
    assert holding == []


def test_code_is_loaded_by_name_alone():
    """Every import names its module in the source: none is of a text that came from a kernel or a notebook.

    Those of the interactions are in a table made from their folders, which is here once the front end was built.
    """
    calls = [
        call
        for path in FOLDER.glob("src/**/*.ts")
        for call in re.findall(r"\bimport\(([^)]*)\)", path.read_text())
    ]
    assert len(calls) > 5
    assert not [call for call in calls if not re.fullmatch(r"(/\*[^*]*\*/ )?'\.[\w./]+'", call)]


def test_lock_file_names_no_download_host():
    """Where packages come from is each machine's own configuration."""
    assert not [name for name, entry in LOCK["packages"].items() if "resolved" in entry]


def test_every_locked_package_is_pinned_by_its_digest():
    """What is installed is what was tested: each package has an integrity digest."""
    assert not [name for name, entry in LOCK["packages"].items() if name and "integrity" not in entry]


def test_built_files_are_not_committed():
    """Hashed bundles would change with every build."""
    command = [
        "git",
        "ls-files",
        "labextension/lib",
        "labextension/dist",
        "labextension/src/kinds",
        "dpnb/widgets/static",
    ]
    done = subprocess.run(command, cwd=FOLDER.parent, capture_output=True, text=True, check=False)
    assert not done.stdout


@pytest.mark.usefixtures("npm")
def test_functions_are_measured_in_lines(tmp_path):
    (tmp_path / "a.ts").write_text("const f = () => 1;\n\nfunction g() {\n  return f();\n}\n")
    command = [str(shutil.which("node")), FRONT_END_SCRIPT, tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == {"files": 1, "lines": 5, "functions": [1, 3]}

"""What `pip install` brings, with the front end and without it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.repo

ROOT = Path(__file__).parents[2]


SHARES = "dpnb-0.1.0.data/data/share/jupyter/labextensions"
SHARE = f"{SHARES}/dpnb"
EXTENSIONS = (SHARE, f"{SHARES}/dpnb-widgets")
BUILT = (ROOT / "labextension/dist/dpnb/package.json").is_file()
needs_build = pytest.mark.skipif(
    not BUILT and os.environ.get("CI") != "true", reason="the front end is not built"
)


def build(folder, target, mode, root=ROOT, path=None):
    """Run hatchling as pip does."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", target, "-d", str(folder)]
    environment = {**os.environ, "DPNB_FRONTEND": mode, **({} if path is None else {"PATH": path})}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """Build the wheel, with the front end where it is built."""
    folder = tmp_path_factory.mktemp("wheel")
    done = build(folder, "wheel", "prebuilt" if BUILT else "none")
    assert done.returncode == 0, done.stderr
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def names(wheel):
    """List the wheel's files."""
    return set(zipfile.ZipFile(wheel).namelist())


def test_wheel_holds_every_module_and_the_type_marker(names):
    """Nothing that the package imports is left behind, and its types are visible to users."""
    kinds = ("*.py", "datasets/rows/*.npz")
    modules = {str(path.relative_to(ROOT)) for kind in kinds for path in (ROOT / "dpnb").rglob(kind)}
    assert modules | {"dpnb/py.typed"} <= names


def test_wheel_holds_nothing_but_the_package(names):
    """Tests and the front end's sources stay out of the wheel, and of the notebooks all but the course."""
    assert {name.split("/")[0] for name in names} <= {"dpnb", "dpnb-0.1.0.dist-info", "dpnb-0.1.0.data"}
    data = {name for name in names if name.startswith("dpnb-0.1.0.data/")}
    assert {"/".join(name.split("/")[:6]) for name in data} <= set(EXTENSIONS)
    assert not [name for name in names if name.endswith((".ts", ".map"))]


def test_wheel_brings_the_command_and_the_licence(names):
    """The `dpnb` command and the licence text are in the metadata."""
    assert {"dpnb-0.1.0.dist-info/entry_points.txt", "dpnb-0.1.0.dist-info/licenses/LICENSE"} <= names


def test_wheel_brings_the_course(names):
    """`dpnb course copy` needs every lesson, the homework and the guide."""
    lessons = {
        path.relative_to(ROOT / "notebooks/course") for path in (ROOT / "notebooks/course").rglob("*.ipynb")
    }
    pages = {path.relative_to(ROOT / "docs/course") for path in (ROOT / "docs/course").rglob("*.md")}
    assert lessons
    assert {f"dpnb/course/notebooks/{path}" for path in lessons} <= names
    assert {f"dpnb/course/guide/{path}" for path in pages} <= names
    assert "dpnb/course/rates.json" in names


@needs_build
def test_wheel_brings_the_front_end_enabled(wheel, names):
    """Both extensions lie where JupyterLab and Voilà look, each with its entry; so do the modules of exported pages."""
    assert "dpnb/widgets/static/widget.css" in names
    for share in EXTENSIONS:
        assert {f"{share}/package.json", f"{share}/install.json"} <= names
        described = json.loads(zipfile.ZipFile(wheel).read(f"{share}/package.json"))
        assert f"{share}/{described['jupyterlab']['_build']['load']}" in names
    sources = {path.parent.name for path in ROOT.glob("labextension/src/widgets/*/view.ts")}
    assert {f"dpnb/widgets/static/{name}.js" for name in sources} <= names


@needs_build
def test_sdist_builds_without_node(tmp_path):
    """The sdist carries the built front end: a machine with Python alone makes the same wheel from it."""
    assert build(tmp_path, "sdist", "prebuilt").returncode == 0
    (packed,) = tmp_path.glob("*.tar.gz")
    with tarfile.open(packed) as archive:
        assert not [name for name in archive.getnames() if "node_modules" in name]
        archive.extractall(tmp_path / "unpacked", filter="data")
    (root,) = (tmp_path / "unpacked").iterdir()
    done = build(tmp_path / "again", "wheel", "auto", root, path=str(tmp_path))
    assert done.returncode == 0, done.stderr
    listed = zipfile.ZipFile(next((tmp_path / "again").glob("*.whl"))).namelist()
    assert {f"{share}/package.json" for share in EXTENSIONS} <= set(listed)


@pytest.fixture
def clone(tmp_path):
    """Give a tree like a fresh clone's, without the sources that do not matter here."""
    root = tmp_path / "clone"
    (root / "dpnb").mkdir(parents=True)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE", "dpnb/__init__.py"):
        (root / name).write_bytes((ROOT / name).read_bytes())
    for name in ("notebooks/course", "docs/course"):
        shutil.copytree(ROOT / name, root / name)
    return root


def test_a_clone_without_node_installs_with_still_forms(clone, tmp_path):
    """Without Node.js and without built files it is a wheel of Python alone, and one line says what brings the rest."""
    done = build(tmp_path, "wheel", "auto", clone, path=str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (
        "still pictures. Install Node.js and install again, or install a wheel" in done.stdout + done.stderr
    )
    listed = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    assert "dpnb/__init__.py" in listed
    assert not [name for name in listed if "labextension" in name]
    assert "There is no Node.js" in build(tmp_path, "wheel", "build", clone, path=str(tmp_path)).stderr


def test_without_a_front_end_when_asked(clone, tmp_path):
    """DPNB_FRONTEND=none makes a wheel of Python alone; a word that is no mode is refused with the list."""
    assert build(tmp_path, "wheel", "none", clone, path=str(tmp_path)).returncode == 0
    listed = zipfile.ZipFile(next(tmp_path.glob("*.whl"))).namelist()
    assert not [name for name in listed if "labextension" in name]
    assert "auto, build, prebuilt, none" in build(tmp_path, "wheel", "nothing", clone).stderr


MODULES = ROOT / "labextension/node_modules"
needs_node = pytest.mark.skipif(
    (shutil.which("npm") is None or not MODULES.is_dir()) and os.environ.get("CI") != "true",
    reason="no Node.js, or the front end's packages are not installed",
)


@pytest.fixture
def whole_clone(tmp_path):
    """Give a tree like a fresh clone's, and a PATH whose npm takes the locked packages from where they are installed already."""
    root, programs = tmp_path / "clone", tmp_path / "bin"
    unwanted = shutil.ignore_patterns("node_modules", "lib", "dist", "static", "static.new", "__pycache__")
    for name in ("dpnb", "labextension", "notebooks", "docs"):
        shutil.copytree(ROOT / name, root / name, ignore=unwanted)
    for name in ("pyproject.toml", "hatch_build.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, root / name)
    programs.mkdir()
    npm = programs / "npm"
    npm.write_text(
        f"""#!/bin/sh
if [ "$1" = ci ]; then cp -al '{MODULES}' . 2>/dev/null || cp -a '{MODULES}' .; else exec '{shutil.which("npm")}' "$@"; fi
"""
    )
    npm.chmod(0o755)
    return root, f"{programs}{os.pathsep}{os.environ['PATH']}"


@needs_node
@pytest.mark.slow
def test_a_clone_with_node_builds_the_front_end(whole_clone, tmp_path):
    """`pip install .` in a clone where Node.js is: the wheel has the plugins, the widgets and the gallery."""
    root, path = whole_clone
    done = build(tmp_path / "made", "wheel", "auto", root, path=path)
    assert done.returncode == 0, done.stderr
    packed = zipfile.ZipFile(next((tmp_path / "made").glob("*.whl")))
    listed = packed.namelist()
    assert {f"{SHARE}/package.json", "dpnb/widgets/static/widget.css"} <= set(listed)
    (gallery,) = [name for name in listed if name.startswith(f"{SHARE}/static/") and name.endswith(".ipynb")]
    assert packed.read(gallery) == (ROOT / "notebooks/01-gallery.ipynb").read_bytes()
    assert not [name for name in listed if "node_modules" in name]


@needs_node
@pytest.mark.slow
def test_the_front_end_is_built_again_on_change(whole_clone):
    """`node build.mjs --watch` builds a clone, and a change of a style is in what a page loads."""
    root, _path = whole_clone
    (root / "labextension/node_modules").symlink_to(MODULES)
    watching = subprocess.Popen(
        ["node", "build.mjs", "--watch"], cwd=root / "labextension", stdout=subprocess.PIPE, text=True
    )
    try:
        told = iter(watching.stdout.readline, "")
        assert any("front end built" in line for line in told)
        style = root / "labextension/src/widgets/widget.css"
        style.write_text(style.read_text() + "\n.dpnb-w .from-the-test { color: red; }\n")
        assert any("front end built" in line for line in told)
        assert "from-the-test" in (root / "dpnb/widgets/static/widget.css").read_text()
    finally:
        watching.kill()
        watching.wait()
        watching.stdout.close()

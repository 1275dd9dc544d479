"""The repository's own rules: what its files may be called, say and leave out."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from dpnb_site.name_list import GOLDEN, name_list

pytestmark = pytest.mark.repo

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "dpnb"
MODULES = sorted(path for path in PACKAGE.rglob("*.py") if "static" not in path.parts)
TEST_FILES = sorted((ROOT / "tests").rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())

# written in pieces, so that this file keeps its own rule
HOSTS = ["pypi" + ".org", "pythonhosted" + ".org", "npmjs" + ".org", "debian" + ".org", "golang" + ".org"]
MACHINE_PATHS = ["/wo" + "rk/", "/ro" + "ot/", "/opt/" + "pypi", "/opt/" + "wheels", "bash_" + "jobs"]
FORBIDDEN_ROOMS = {"utils", "util", "helpers", "helper", "manager", "handler", "common", "misc"}


def relative(path: Path) -> str:
    """Name a file from the repository's root."""
    return str(path.relative_to(ROOT))


PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]


def tracked() -> list[Path]:
    """List the files that a clone would have."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip("not a git checkout")
    return [path for name in done.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def test_no_module_has_a_name_that_says_nothing():
    """A room is named for a noun of the field, never utils, helpers, manager or handler."""
    assert not [relative(path) for path in MODULES if {path.stem, path.parent.name} & FORBIDDEN_ROOMS]


def test_a_name_inside_the_trusted_wing_means_one_file():
    """Modules of the trusted wing have names of their own, so that an auditor's list needs no folders."""
    names = [path.stem for path in MODULES if path.is_relative_to(PACKAGE / "trusted")]
    assert not [name for name in set(names) - {"__init__", "_base"} if names.count(name) > 1]


JSON_WRITERS = {
    "dpnb/trusted/canonical.py": "the one writer of what is permanent",
    "dpnb/trusted/wire/codec.py": "a message's envelope, which no hash depends on; its exact parts are canonical",
    "dpnb/trusted/curator/content.py": "a fingerprint of rows, whose texts may be half a surrogate pair; it leaves no process",
    "dpnb/planner/question.py": "a name in quotes, to be read",
}


def test_permanent_json_has_one_writer():
    """The rooms of the guarantee write JSON in one place, and nobody else writes the sorted form that hashes depend on."""
    code = {relative(path): path.read_text() for path in MODULES}
    sorting = {name for name, text in code.items() if re.search(r"sort_keys|msgspec\.json\.encode", text)}
    writers = re.compile(r"json\.dumps?\(|JSONEncoder|json\.Encoder|json\.encode\(")
    trusted = {name for name in code if name.split("/")[1] in {"trusted", "planner"}}
    writing = {name for name in trusted if writers.search(code[name])}
    assert sorting | writing == set(JSON_WRITERS)


PLATFORM = re.compile(
    r"sys\.platform|os\.name\b|import (?:fcntl|msvcrt|pwd|grp|resource)\b|\bhasattr\((?:os|socket|signal),"
    r"|os\.(?:get(?:uid|euid|gid)|p(?:read|write)|fork|statvfs|fdatasync|O_(?:BINARY|CLOEXEC))\b|AF_UNIX|SO_PEERCRED|SIG(?:HUP|ALRM)|\"/proc"
)
"""What one system has and another has not."""


def test_one_module_asks_which_system_it_runs_on():
    """What differs between Linux, macOS and Windows stands in ``dpnb/trusted/system.py``."""
    asking = {relative(path) for path in MODULES if PLATFORM.search(path.read_text())}
    assert asking == {"dpnb/trusted/system.py"}


def test_every_module_says_what_it_is():
    """Each module of the package opens with a docstring of at least one full sentence."""
    silent = [path for path in MODULES if len(ast.get_docstring(ast.parse(path.read_text())) or "") < 25]
    assert not [relative(path) for path in silent]


REEXPORTS = {"dpnb/errors.py", "dpnb/planner/price.py"}
"""Modules that are no folders and still offer names from elsewhere: the public errors, and what the curator takes with prices."""


def test_only_a_room_lists_its_names():
    """`__all__` stands in a room's `__init__.py`; elsewhere what has no underscore is public, and is imported from where it is."""
    listing = {relative(path) for path in MODULES if re.search(r"^__all__\b", path.read_text(), re.MULTILINE)}
    assert {name for name in listing if not name.endswith("__init__.py")} == REEXPORTS


def root_imports(path: Path) -> list[str]:
    """List what a module takes from the package's root, submodules aside."""
    nodes = list(ast.walk(ast.parse(path.read_text())))
    taken = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    named = [node for node in nodes if isinstance(node, ast.ImportFrom) and node.module == "dpnb"]
    names = {alias.name for node in named for alias in node.names}
    rooms = {child.stem for child in PACKAGE.iterdir()}
    return [name for name in taken if name == "dpnb"] + sorted(names - rooms)


def test_no_room_goes_round_the_walls_through_the_root():
    """Below the notebook, a room takes no name from `dpnb` itself, which re-exports upper rooms."""
    outside = {PACKAGE / "__init__.py", PACKAGE / "__main__.py"}
    rooms = [path for path in MODULES if path not in outside and path.parent.name != "notebook"]
    assert not {relative(path): names for path in rooms if (names := root_imports(path))}


def test_every_test_states_its_fact():
    """A test has a docstring, or a name of at least three words that is a sentence by itself."""
    vague = []
    for path in TEST_FILES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
                words = len(node.name.split("_")) - 1
                if ast.get_docstring(node) is None and words < 3:
                    vague.append(f"{relative(path)}:{node.lineno} {node.name}")
    assert not vague


CLOCKS = {"time.time", "time.time_ns", "time.strftime", "time.localtime", "time.gmtime"}
TODAY = {"today", "now", "utcnow"}
ENTROPY = re.compile(
    r"random\.\w+|secrets\.\w+|uuid\.uuid\d|os\.urandom|(np|numpy)\.random\.\w+|.*SystemRandom"
)
SEEDED = {"Random", "default_rng", "RandomState", "SeedSequence"}
ANEW = {
    "tests/browser/conftest.py": "the token of a server",
    "tests/browser/hub.py": "tokens of a JupyterHub",
    "tests/statistics/coverage_table.py": "the page that it writes says when",
}
"""What is no part of any ordinary test's verdict, and may differ from run to run."""


def differs(call: ast.Call) -> bool:
    """Tell whether a call gives something else in every run: the clock, the system's entropy, a generator without a seed."""
    name = ast.unparse(call.func)
    last = name.split(".")[-1]
    if last in SEEDED:
        return not (call.args or call.keywords)
    dated = last in TODAY and {"date", "datetime", "dt"} & {*name.split(".")}
    return name in CLOCKS or dated or bool(ENTROPY.fullmatch(name))


def drawn_anew(node: ast.AST) -> list[str]:
    """List the calls below this node that differ from run to run, outside what is marked as soak."""
    found = []
    for child in ast.iter_child_nodes(node):
        if any("mark.soak" in ast.unparse(one) for one in getattr(child, "decorator_list", ())):
            continue
        if isinstance(child, ast.Call) and differs(child):
            found.append(ast.unparse(child))
        found += drawn_anew(child)
    return found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("x = np.random.default_rng(3).random()", []),
        ("x = np.random.default_rng()", ["np.random.default_rng()"]),
        ("def f(day=int(time.time())): pass", ["time.time()"]),
        ("x = dt.date.today()", ["dt.date.today()"]),
        ("x = random.Random(1).random()", []),
        ("x = random.SystemRandom()", ["random.SystemRandom()"]),
        ("x = np.random.normal(0, 1)", ["np.random.normal(0, 1)"]),
        ("x = secrets.token_hex(4), os.urandom(8)", ["secrets.token_hex(4)", "os.urandom(8)"]),
        ("@pytest.mark.soak\ndef test_it(): random.random()", []),
        ("class A:\n    def test_it(self): random.random()", ["random.random()"]),
    ],
)
def test_what_differs_from_run_to_run_is_seen(text, found):
    """The rule below can fail."""
    assert drawn_anew(ast.parse(text)) == found


def test_an_ordinary_test_is_the_same_on_any_day():
    """No test, and nothing that chooses tests, asks the clock or draws without a seed; the long ones may."""
    files = {relative(path): path for path in TEST_FILES if "benchmarks" not in path.parts}
    found = {name: drawn_anew(ast.parse(path.read_text())) for name, path in files.items()}
    assert {name: calls for name, calls in found.items() if calls and name not in ANEW} == {}
    assert all(found[name] for name in ANEW)


def test_no_tracked_file_names_a_registry_host_or_this_machine():
    """What is committed works anywhere: no package host, no path of the machine where it was written."""
    found = []
    for path in tracked():
        text = path.read_bytes().decode("utf-8", errors="ignore")
        found += [f"{relative(path)}: {word}" for word in HOSTS + MACHINE_PATHS if word in text]
    assert not found


def test_no_built_file_is_tracked():
    """Built front-end files, executed demo files and environments stay out of git."""
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=False)
    built = re.compile(
        r"(^|/)(node_modules|__pycache__|\.venv|build-demo)/|^demo\.html$|^dpnb/widgets/static/"
    )
    assert not [name for name in done.stdout.splitlines() if built.search(name)]


def test_executed_notebooks_carry_no_widget_state():
    """A notebook in the repository has no outputs of an older run and no widget state."""
    import nbformat

    for path in (ROOT / "notebooks").glob("**/*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        assert "widgets" not in notebook.metadata, relative(path)


def test_constraints_hold_names_and_versions_only():
    """constraints.txt has nothing but name==version lines, and one for every declared requirement."""
    lines = [line for line in (ROOT / "constraints.txt").read_text().splitlines() if not line.startswith("#")]
    assert not [line for line in lines if not re.fullmatch(r"[A-Za-z0-9_.-]+==[0-9][0-9A-Za-z.+!]*", line)]
    pinned = {re.sub(r"[-_.]+", "-", line.split("==")[0]).lower() for line in lines}
    extras = PROJECT["project"]["optional-dependencies"].values()
    wanted = {
        name for group in [PROJECT["project"]["dependencies"], *extras] for name in map(project_name, group)
    }
    assert wanted - pinned == {"dpnb"}


def project_name(requirement: str) -> str:
    """Return the normalised project name of a requirement."""
    return re.sub(r"[-_.]+", "-", re.match(r"[A-Za-z0-9_.-]+", requirement)[0]).lower()


def test_every_lint_exception_gives_its_reason():
    """Each ruff code that pyproject.toml switches off stands beside a comment that says why."""
    text = (ROOT / "pyproject.toml").read_text()
    section = text[text.index("[tool.ruff.lint]") : text.index("[tool.ruff.lint.pydocstyle]")]
    codes = [line for line in section.splitlines() if re.match(r'\s+"[A-Z]+[0-9]*",', line)]
    assert len(codes) > 20
    assert not [line for line in codes if "#" not in line]


def fresh(program: str) -> str:
    """Run a program in a new interpreter of this environment."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_importing_dpnb_stays_light():
    """`import dpnb` imports neither matplotlib nor scipy.stats, duckdb, sqlite3 or IPython."""
    heavy = ("matplotlib", "scipy.stats", "duckdb", "sqlite3", "pandas", "IPython", "ipywidgets", "tornado")
    assert fresh(f"import sys, dpnb; print([name for name in {heavy} if name in sys.modules])") == "[]"


def test_all_is_exactly_the_public_names():
    """Every name in `dpnb.__all__` resolves, and dir(dpnb) offers no other public name but submodules."""
    program = """
import sys, types, dpnb
missing = [name for name in dpnb.__all__ if not hasattr(dpnb, name)]
offered = {n for n in dir(dpnb) if not n.startswith("_") and not isinstance(getattr(dpnb, n), types.ModuleType)}
print(missing, sorted(offered - set(dpnb.__all__) - {"annotations", "Any", "TYPE_CHECKING"}), len(set(dpnb.__all__)) == len(dpnb.__all__))
"""
    assert fresh(program) == "[] [] True"


def test_version_is_the_same_everywhere():
    """The package, its metadata, the front end, the citation and the changelog agree on the version."""
    import dpnb

    version = PROJECT["project"]["version"]
    assert dpnb.__version__ == version
    assert f"[{version}]" in (ROOT / "CHANGELOG.md").read_text()
    assert f"\nversion: {version}\n" in (ROOT / "CITATION.cff").read_text()
    assert json.loads((ROOT / "labextension/package.json").read_text())["version"] == version


@pytest.mark.parametrize(
    ("room", "registry"), [("trusted.mechanisms", "MECHANISMS"), ("statistics", "STATISTICS")]
)
def test_registry_equals_the_files_present(room, registry):
    """A mechanism or statistic is one file and one line of the closed tuple: neither is forgotten."""
    import importlib

    package = importlib.import_module(f"dpnb.{room}")
    entries = getattr(package, registry)
    assert isinstance(entries, tuple)
    homes = {
        (entry if isinstance(entry, type) else type(entry)).__module__.rsplit(".", 1)[1] for entry in entries
    }
    files = {
        path.stem for path in PACKAGE.joinpath(*room.split(".")).glob("*.py") if not path.stem.startswith("_")
    }
    assert homes <= files
    forgotten = {name for name in files - homes if defines_an_entry(package.__name__, name, entries)}
    assert not forgotten, f"add to {registry}: {forgotten}"


def defines_an_entry(package: str, name: str, entries: tuple[object, ...]) -> bool:
    """Tell whether a module defines a class that looks like the registry's entries but is not one of them."""
    import importlib

    module = importlib.import_module(f"{package}.{name}")
    kinds = [entry if isinstance(entry, type) else type(entry) for entry in entries]
    shared = set.intersection(*({n for n in dir(kind) if not n.startswith("_")} for kind in kinds))
    classes = [
        kind
        for kind in vars(module).values()
        if isinstance(kind, type) and kind.__module__ == module.__name__
    ]
    return any(shared <= set(dir(kind)) for kind in classes)


@pytest.mark.parametrize("page", PAGES, ids=relative)
def test_links_lead_somewhere(page):
    """Every relative link and picture of a page is a file of the repository."""
    links = re.findall(r"\]\(([^)#:]+)\)|src=\"([^\":]+)\"", page.read_text())
    assert not [link for pair in links for link in pair if link and not (page.parent / link).exists()]


def test_a_connection_is_closed_by_whoever_opens_it():
    """`with sqlite3.connect(...)` commits and does not close; Python 3.13 says so in whichever test runs next."""
    opened = re.compile(r"(?:with|,) sqlite3\.connect\([^\n]*\bas\b")
    assert not [relative(path) for path in [*MODULES, *TEST_FILES] if opened.search(path.read_text())]


def test_what_a_user_can_name_is_what_the_list_has():
    """What goes or comes is a line of a diff: `make reference` writes the list anew."""
    assert GOLDEN.read_text(encoding="utf-8") == name_list()

"""The measures of the house count what they say, on a small house that is built here."""

from __future__ import annotations

import re
import tomllib

import pytest

from tests.repo.measures import (
    PARTS,
    ROOT,
    arrows,
    circles,
    code_lines,
    function_lengths,
    import_graph,
    library,
    lines_of_parts,
    sizes,
    trusted_table,
)

pytestmark = pytest.mark.repo

MODULE = '''"""What this is.

At length.
"""

# why
from __future__ import annotations


class Thing:
    """A thing."""

    def act(self) -> str:
        """Act."""
        return """two
lines"""  # not a docstring
'''


@pytest.fixture
def house(tmp_path):
    files = {
        "__init__.py": "",
        "low/__init__.py": "",
        "low/one.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from dpnb.high import top\n",
        "low/two.py": "from dpnb.low import three\n",
        "low/three.py": "def f():\n    from dpnb.low.two import x\n    return x\n",
        "high/__init__.py": "",
        "high/top.py": "import dpnb.low.one\nfrom dpnb.low.three import f\n",
    }
    for name, text in files.items():
        path = tmp_path / "dpnb" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_docstrings_comments_and_blank_lines_are_no_code():
    assert code_lines(MODULE) == 5


def test_a_functions_length_leaves_its_docstring_out():
    assert function_lengths(MODULE) == [3]


def test_an_arrow_joins_two_rooms_and_imports_for_types_draw_none(house):
    assert arrows(import_graph(house / "dpnb")) == [("high", "low")]


def test_a_circle_is_found_through_imports_inside_functions(house):
    assert circles(import_graph(house / "dpnb")) == [["dpnb.low.three", "dpnb.low.two"]]


def test_the_house_is_measured_whole(house):
    assert library(house) == {
        "files": 7,
        "lines": 9,
        "functions": {"median": 3, "p95": 3, "max": 3},
        "rooms": 2,
        "arrows": 1,
        "circles": [2],
    }


def test_the_sizes_that_the_plan_aimed_at_count_imports_for_types_too(house):
    (house / "dpnb" / "high" / "top.py").write_text(
        "from dpnb.low import one\nfrom typing import Any\nx: Any = Any\n"
    )
    (house / "docs").mkdir()
    (house / "docs" / "page.md").write_text("# A page\n\nText.\n")
    (house / "tests").mkdir()
    (house / "tests" / "test_one.py").write_text("def test(): ...\n")
    sized = sizes(house)
    assert [sized[name] for name in ("library: lines", "pages: lines", "tests: lines", "`Any`")] == [
        10,
        3,
        1,
        3,
    ]
    assert sized["largest circle, imports for types counted"] == 2
    assert import_graph(house / "dpnb", types=True)["dpnb.low.one"] == {"dpnb.high.top"}


CONTRACTS = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]


@pytest.mark.parametrize(("number", "folder"), [(0, "dpnb"), (1, "dpnb/trusted")])
def test_the_drawings_of_the_house_are_the_layers_that_are_enforced(number, folder):
    """The house and its trusted wing: two drawings, two contracts."""
    drawing = (ROOT / "docs" / "architecture.md").read_text().split("```")[1 + 2 * number]
    drawn = [re.split(r"\s{2,}", line)[0] for line in drawing.strip().splitlines()]
    contract = CONTRACTS[number]
    assert contract["containers"] == [folder.replace("/", ".")]
    layers = [re.sub(r"[()]", "", layer) for layer in contract["layers"]]
    here = {path.stem for path in (ROOT / folder).iterdir()}
    built = [" | ".join(name for name in layer.split(" | ") if name in here) for layer in layers]
    assert drawn == [layer for layer in built if layer not in {"", "__main__"}]


ROW = re.compile(r"^\| \**`?([\w/,' ]+?)`?\** \| (\d+) \| ([\d,]+) \| (.*)\|$", re.MULTILINE)


def rows_of(text):
    return {
        name: (int(files), int(code.replace(",", "")), most) for name, files, code, most in ROW.findall(text)
    }


def test_security_says_how_much_must_be_trusted():
    """The rooms and limits exactly, files within three and lines within eighty: a small repair needs no new count.

    Anew: `python -m tests.repo.measures --trusted --write`.
    """
    said, counted = rows_of((ROOT / "SECURITY.md").read_text()), rows_of(trusted_table(ROOT))
    assert {name: row[2] for name, row in said.items()} == {name: row[2] for name, row in counted.items()}
    assert all(abs(said[name][0] - files) <= 3 for name, (files, _, _) in counted.items())
    assert all(abs(said[name][1] - code) <= 80 for name, (_, code, _) in counted.items())


def test_each_further_engine_is_counted_by_itself_and_held_against_its_limit(tmp_path):
    """Its files in the curator and those of its tables in the schema are one row; a line too many is called exceeded."""
    files = {
        "trusted/curator/service.py": "import dpnb.trusted.curator.engines.postgres\n"
        + "a = 1\n" * (PARTS["the curator"] - 1),
        "trusted/curator/engines/postgres.py": "from dpnb.trusted.schema import server_table\n"
        + "a = 1\n" * 450,
        "trusted/curator/engines/spark_table.py": "a = 1\n" * 500,
        "trusted/schema/server_table.py": "from dpnb.trusted.schema import column\n" + "a = 1\n" * 99,
        "trusted/schema/column.py": "a = 1\n",
    }
    for name, text in files.items():
        path = tmp_path / "dpnb" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    table = rows_of(trusted_table(tmp_path))
    assert table["the curator"] == (1, PARTS["the curator"], f"{PARTS['the curator']:,} ")
    assert table["PostgreSQL"] == (2, 550, "550, exceeded ")  # 551
    assert table["Spark"] == (1, 500, "500 ")
    assert table["the promise"] == (1, 0, f"{PARTS['the promise']:,} ")


LIMITS = ROOT / "docs" / "decisions" / "0013-limits-that-hold.md"


def test_no_part_of_the_wing_is_larger_than_its_limit():
    """By more than twenty lines, which a small repair may take: whoever needs more finds them in the same part."""
    counted = lines_of_parts(ROOT)
    assert {part: code for part, code in counted.items() if code > PARTS[part] + 20} == {}


def test_the_limits_are_those_that_were_decided():
    """A number is raised by a page that says what for."""
    rows = [[cell.strip() for cell in row.split("|")] for row in LIMITS.read_text().splitlines()]
    said = {
        row[1]: int(row[-2].replace(",", ""))
        for row in rows
        if row[-2:-1] and re.fullmatch(r"[\d,]+", row[-2])
    }
    held = {part: most for part, most in PARTS.items() if most}
    assert said == {
        part.replace("the owner's acts", "what an owner does at a terminal"): most
        for part, most in held.items()
    }

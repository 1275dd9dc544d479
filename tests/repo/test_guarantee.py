"""The page of the guarantee leads to the code as it is: every rule to what keeps it and to what fails when it is broken."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.repo import guarantee
from tests.repo.guarantee import COMMAND, PAGE, ROOT, Link

pytestmark = pytest.mark.repo

TEXT = PAGE.read_text()


def test_every_link_leads_to_the_line_where_its_name_begins():
    wrong = guarantee.faults(TEXT)
    assert not wrong, "\n".join([*wrong, f"Lines that moved are written anew by: {COMMAND}"])


def test_no_link_into_the_code_names_nothing():
    assert not guarantee.other_links(TEXT)


def test_every_rule_has_a_keeper_and_a_test():
    """Rules 1 to 31, in order, each with code of the library that keeps it and a test or mutant that fails without it."""
    rules = guarantee.rules(TEXT)
    assert list(rules) == list(range(1, 32))
    assert not [number for number, links in rules.items() if all(link.is_test for link in links)]
    assert not [number for number, links in rules.items() if not any(_can_fail(link) for link in links)]


def _can_fail(link: Link) -> bool:
    return link.is_test and (link.mark == "*" or link.name.split(".")[-1].startswith("test_"))


def test_every_test_that_is_named_is_collected():
    """What a rule names as its test is a function of a test file, or of a contract that a test file takes up."""
    named = {(link.file, link.name) for link in guarantee.links(TEXT) if _can_fail(link) and link.mark == "`"}
    elsewhere = {(file, name) for file, name in named if not Path(file).name.startswith("test_")}
    assert all(file.startswith("tests/contracts/") for file, _ in elsewhere)
    taken = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    assert not [one for one in sorted(elsewhere) if not _is_taken_up(*one, taken)]


def _is_taken_up(file: str, name: str, taken: str) -> bool:
    contract, _, _ = name.partition(".")
    module = file.removesuffix(".py").replace("/", ".")
    return f"from {module} import" in taken and bool(
        re.search(rf"^class \w+\({contract}\)", taken, re.MULTILINE)
    )


@pytest.fixture
def house(tmp_path, monkeypatch):
    """Give a small house with one keeper, one test and one mutant."""
    files = {
        "dpnb/low/one.py": "LIMIT = 3\n\n\nclass Thing:\n    size = 1\n\n    def act(self): ...\n",
        "tests/test_one.py": "def test_a_thing_acts(): ...\n",
        "tests/mutants/table.py": 'MUTANTS = {\n    "a thing that rests": Mutant(\n        "", None, None\n    ),\n}\n',
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(guarantee, "ROOT", tmp_path)
    return tmp_path


GOOD = (
    "### 1. A rule\n[`Thing.act`](../dpnb/low/one.py#L7) [`LIMIT`](../dpnb/low/one.py#L1) "
    "[`test_a_thing_acts`](../tests/test_one.py#L1) [*a thing that rests*](../tests/mutants/table.py#L2)\n## End\n"
)


def test_a_page_whose_links_hold_has_no_faults(house):
    assert guarantee.faults(GOOD) == []
    assert [link.name for link in guarantee.rules(GOOD)[1]][::2] == ["Thing.act", "test_a_thing_acts"]


@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        ("one.py#L7", "one.py#L6"),
        ("Thing.act", "Thing.rest"),
        ("low/one.py#L1", "low/two.py#L1"),
        ("a thing that rests", "a thing that acts"),
        ("table.py#L2", "table.py#L3"),
    ],
)
def test_a_link_that_leads_elsewhere_is_named(house, right, wrong):
    """Another line, another name, another file, another mutant: each is one fault."""
    assert len(guarantee.faults(GOOD.replace(right, wrong, 1))) == 1


def test_lines_are_written_anew_after_code_has_moved(house):
    """Lines that are added above, and a file in another folder, are followed; nothing else of the page changes."""
    (house / "dpnb/trusted").mkdir()
    moved = (house / "dpnb/low/one.py").rename(house / "dpnb/trusted/one.py")
    moved.write_text("# one line more\n" + moved.read_text())
    guarantee.symbols.cache_clear()
    found = guarantee.rewritten(GOOD)
    assert found == GOOD.replace("low/one.py#L7", "trusted/one.py#L8").replace(
        "low/one.py#L1", "trusted/one.py#L2"
    )
    assert guarantee.faults(found) == []


def test_a_renamed_file_is_found_by_what_it_defines(house):
    """No file of the old name is left: the one file that defines the name takes its place, for code and for mutants."""
    (house / "dpnb/low/one.py").rename(house / "dpnb/low/first.py")
    (house / "tests/mutants/table.py").rename(house / "tests/mutants/list.py")
    found = guarantee.rewritten(GOOD)
    assert found == GOOD.replace("low/one.py", "low/first.py").replace("table.py", "list.py")


def test_a_name_that_two_files_define_is_left_for_a_person(house):
    """Where the file is gone and two others define the name, the link stays wrong and is told."""
    for folder in ("a", "b"):
        (house / "dpnb" / folder).mkdir()
        (house / "dpnb" / folder / "one.py").write_text("LIMIT = 3\n")
    (house / "dpnb/low/one.py").unlink()
    guarantee.symbols.cache_clear()
    assert "low/one.py#L1" in guarantee.rewritten(GOOD)


def test_a_link_without_a_name_or_line_is_no_link(house):
    assert guarantee.other_links("[here](../dpnb/low/one.py) [`x`](../dpnb/low/one.py#L1)") == [
        "dpnb/low/one.py"
    ]
    assert guarantee.other_links("[there](../tests/test_one.py#L1)") == ["tests/test_one.py#L1"]


def test_the_reading_order_leaves_no_room_out():
    """Each room of the library is in the reviewer's table, or is said to see nothing that matters."""
    order = TEXT.split("## A reading order")[1].split("\n## ")[0]
    table = re.findall(r"^\| \d+ \| `([a-z_/]+)`", order, re.MULTILINE)
    others = re.findall(r"`([a-z_]+)`", order[order.index("The other packages") :])
    found = {str(path.parent.relative_to(ROOT / "dpnb")) for path in (ROOT / "dpnb").glob("**/__init__.py")}
    rooms = {name for name in found if re.fullmatch(r"\w+|trusted/\w+", name)} - {"trusted"}
    assert rooms == {room for room in (*table, *others) if room in rooms or "/" not in room}
    assert all((ROOT / "dpnb" / room).is_dir() for room in table)


def test_the_table_of_rooms_names_every_rule():
    """A reviewer who reads the rooms in order meets each rule, but for the two about the tests and about what is not built."""
    order = TEXT.split("## A reading order")[1].split("\n## ")[0]
    named = {
        int(number)
        for row in re.findall(r"\| ([0-9, ]+) \|$", order, re.MULTILINE)
        for number in row.split(",")
    }
    assert set(guarantee.rules(TEXT)) - named == {29, 30}

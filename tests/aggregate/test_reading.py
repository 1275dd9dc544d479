"""The table in docs/reading.md is what the code does."""

from __future__ import annotations

import ast
import re
import tomllib
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path

from dpnb.datasets.cell_text import canonical
from dpnb.datasets.preparation import quantise, read
from dpnb.trusted.files.dialect import Dialect
from dpnb.trusted.schema import Column

PAGE = (Path(__file__).parents[2] / "docs" / "reading.md").read_text(encoding="utf-8")
CATEGORY = Column.category("c", ["00", "01", "Goa", "2020-01-02"])
GRID = Column.integer("n", 0, 10)
MAKERS = {"Decimal": Decimal, "date": date, "datetime": datetime, "float": float}


def rows():
    """The table's lines: the cell, what it becomes, and its two codes."""
    lines = re.findall(
        r"^\| `(.+?)` \| (.+?) \| (.+?) \| (.+?) \|$", PAGE.split("## Whose row")[0], re.MULTILINE
    )
    return [(made(cell), *(told(word) for word in words)) for cell, *words in lines]


def made(source):
    """The cell that a line writes: a literal, a power, or a call of one of the few classes."""
    tree = ast.parse(source, mode="eval")
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert names <= set(MAKERS)
    return eval(compile(tree, "table", "eval"), MAKERS)  # noqa: S307 - our own page


def told(word):
    """A word of the table: missing, a text in backticks, or a code."""
    return None if word == "missing" else word[1:-1] if word.startswith("`") else int(word)


def test_each_line_of_the_table_is_what_the_code_does():
    """What a cell becomes, and its codes, one by one and as a column."""
    table = rows()
    assert len(table) == 29
    for cell, text, code, number in table:
        assert canonical(cell) == text, cell
        assert (read(cell, CATEGORY), read(cell, GRID)) == (code, number), cell
    cells = [cell for cell, *_ in table]
    assert quantise(cells, CATEGORY).tolist() == [code for *_, code, _ in table]
    assert quantise(cells, GRID).tolist() == [number for *_, number in table]


def test_the_declaration_on_the_page_is_one_that_is_read():
    """The TOML example is a dialect, with every key there is."""
    facts = tomllib.loads(re.search(r"```toml\n(\[source\].+?)```", PAGE, re.DOTALL)[1])["source"]
    assert Dialect.from_toml(facts, "page") == Dialect(
        "none", "any", ragged=True, skip=("Report 2024", "Total"), delimiter="\t", encoding="cp1252"
    )

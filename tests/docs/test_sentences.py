"""The page of sentences has what a person can read of dpnb, and nothing else; each of them is in the house's words."""

from __future__ import annotations

import re

import pytest
from dpnb_site import sentences

from tests.docs.test_site import SAYS, text

pytestmark = pytest.mark.repo

PAGE = "docs/reference/sentences.md"
PYTHON = '''
"""A docstring is no sentence that is said."""
def ask(name, rows):
    """Nor is this one."""
    sql = f"SELECT count(*) FROM {name} WHERE size > 1 AND seen"
    style = "max-width:54rem;padding:.35rem 0;text-align:left with words"
    key = "guard-rail"
    if rows.n > 3:
        raise OptionError(f"{name!r} has {rows.n:,} rows: "
                          "ask fewer of them.")
    return "Nothing spent."
'''
TYPESCRIPT = """
/** 'A comment says nothing to anybody.' */
const told = 'There is no kernel here.'; // 'nor does this one'
const path = `M${left} ${top}H${right}V${floor} and words`;
const asked = `${n} of ${facts.all.length} rows don\\'t count.`;
"""


def test_sentences_of_python_are_its_texts_without_docstrings_statements_and_styles():
    assert [one for one in sentences.of_python(PYTHON) if sentences.is_sentence(one)] == [
        "{name} has {rows.n} rows: ask fewer of them.",
        "Nothing spent.",
    ]


def test_sentences_of_the_front_end_stand_in_quotation_marks_and_not_in_comments():
    found = [one for one in sentences.of_front_end(TYPESCRIPT) if sentences.is_sentence(one)]
    assert found[0] == "There is no kernel here."
    assert found[1].startswith("{n} of {")
    assert found[1].endswith("} rows don\\'t count.")
    assert len(found) == 2


def test_what_a_person_reads_most_is_on_the_page():
    """An error, a hint, a card, an owner's help and an interaction: one of each."""
    page = text(PAGE)
    for said in (
        "This cell names no loss: write %%dp epsilon=1",
        "Did you mean {close}?",
        "Nothing was spent.",
        "close a dataset for ever: what was published stays, and nothing new is released",
        "Drag a dot across, also past the bounds.",
    ):
        assert said in page


#: Names of what others wrote.
NAMES = re.compile(r"The data set \w+ of the Python package|[“‘][^”’]*[”’]|differentially private-ish")


def test_no_sentence_uses_a_word_that_the_house_says_otherwise():
    said = " \n ".join(NAMES.sub(" ", one).lower() for room in sentences.rooms().values() for one in room)
    found = {word: re.search(rf"(?<!\w){re.escape(word)}(?!\w)[^\n]*", said) for word in SAYS}
    assert not {
        word: said[said.rfind("\n", 0, at.start()) + 1 : at.end()] for word, at in found.items() if at
    }

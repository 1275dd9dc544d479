"""Whether the search box finds what people look for: asked of the index that the page's script reads, with the script's own rules.

The script takes the words of a question apart, leaves out those that say nothing, stems the rest, and shows the pages that have all of
them in their text or title. This does the same with Sphinx's own stemmer, so that `make docs` fails when a page loses its words.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ASKED = {
    "bounds": "how-to/choose",
    "zCDP": "reference/glossary",
    "median": "reference/statistics",
    "Restart and Run All": "how-to/recover",
    "Parquet": "how-to/open-data",
    "as accurate as": "explanation/card",
    "noise costs": "explanation/card",
}
"""What is looked for, and a page that must be among those found."""


def read(index: Path) -> dict[str, Any]:
    """Return the index that Sphinx wrote beside the pages."""
    text = index.read_text(encoding="utf-8")
    found: dict[str, Any] = json.loads(text[text.index("(") + 1 : text.rindex(")")])
    return found


def pages(index: Mapping[str, Any], question: str) -> set[str]:
    """Return the pages that the search box shows for a question."""
    from sphinx.search.en import SearchEnglish

    language = SearchEnglish({})
    words = [word for word in re.split(r"\W+", question.lower()) if word]
    terms = [language.stem(word) for word in words if word not in language.stopwords]
    having = [_having(index, term) for term in terms]
    return {index["docnames"][number] for number in set.intersection(*having)} if having else set()


def _having(index: Mapping[str, Any], term: str) -> set[int]:
    found: set[int] = set()
    for part in ("terms", "titleterms"):
        numbers = index[part].get(term, [])
        found |= {numbers} if isinstance(numbers, int) else set(numbers)
    return found


def missing(index: Path) -> list[str]:
    """Return a sentence for each question whose page the search box does not show."""
    made = read(index)
    return [
        f"The search box does not find {page} for {question!r}."
        for question, page in ASKED.items()
        if page not in pages(made, question)
    ]

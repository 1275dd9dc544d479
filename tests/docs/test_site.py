"""The pages hold together: links and anchors lead somewhere, nothing is out of reach, tables are what the code says, words are the house's."""

from __future__ import annotations

import json
import re
import unicodedata
from math import exp

import pytest
from dpnb_site import lessons, links, live, pages, reference
from dpnb_site.links import ROOT

from dpnb.course import kit
from tests.docs.code_blocks import blocks

pytestmark = pytest.mark.repo

FIRST = "docs/index.md"
MARKDOWN = sorted(name for name in {"README.md", *pages.places()} if name.endswith(".md"))
#: Every page that people write: plain ones, and notebooks.
PROSE = sorted({*MARKDOWN, *pages.places()})


def text(name: str) -> str:
    """Return a page of the repository."""
    return (ROOT / name).read_text(encoding="utf-8")


def anchors(name: str) -> set[str]:
    """Return the anchors of a page: its headings, as a repository's page and the site write them."""
    prose = "".join(piece for is_prose, piece in links.prose(text(name)) if is_prose)
    found = re.findall(r"^#+ (.+?)\s*$", prose, re.MULTILINE)
    return {slug(re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)) for heading in found}


def slug(heading: str) -> str:
    """Return the anchor of a heading."""
    kept = [one for one in heading.lower() if one in " -_" or unicodedata.category(one)[0] in "LN"]
    return "".join(kept).replace(" ", "-")


def reached(name: str) -> dict[str, set[str]]:
    """Return the pages that a page links to, and at which of their headings."""
    found: dict[str, set[str]] = {}
    for target in links.targets(text(name)):
        path, fragment = links.resolved(name, target)
        found.setdefault(path, set()).add(fragment)
    return found


@pytest.mark.parametrize("name", MARKDOWN)
def test_links_lead_to_a_file_and_to_a_heading(name):
    """Every link within the repository is a file there, and its anchor a heading of that page or a line of that file."""
    for path, fragments in reached(name).items():
        assert (ROOT / path).exists(), path
        if path.endswith(".md"):
            assert fragments - {""} <= anchors(path), path


def test_every_page_is_linked_or_named_by_an_index():
    """From the first page each page of the site is reached, by links and by what an index names."""
    where = pages.places()
    seen, waiting = set(), [FIRST]
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        if name.endswith(".md"):
            waiting += [path for path in reached(name) if path in where]
        if name.endswith("/index.md"):
            tree = set(re.findall(r"^/(.+)$", pages.contents(name, text(name), where), re.MULTILINE))
            waiting += [path for path, place in where.items() if place.rpartition(".")[0] in tree]
    assert not set(where) - seen


QUESTIONS = {
    "What does ε 1 mean?": ("docs/explanation/promise.md", "what-ε-1-means", "2.7"),
    "May I publish the CSV of results?": (
        "docs/how-to/publish-and-close.md",
        "may-i-publish-the-csv-of-results",
        "Yes",
    ),
    "How do I open Parquet?": ("docs/how-to/open-data.md", "parquet-and-duckdb", 'source = "people.parquet"'),
    "Why is there no interval for a count?": (
        "docs/explanation/two-intervals.md",
        "why-a-count-has-no-confidence-interval",
        "describes these data",
    ),
    "What if my kernel dies?": ("docs/how-to/recover.md", "the-kernel-died", "Run the cell again"),
    "Is this safe against my students?": (
        "docs/explanation/modes.md",
        "is-this-safe-against-my-students",
        "With a service, yes",
    ),
    "How do I cite it?": ("docs/how-to/publish-and-close.md", "how-to-cite", "CITATION.cff"),
    "Can I use several tables?": ("docs/how-to/open-data.md", "several-tables", "A dataset is one table"),
    "How do I raise a budget?": ("docs/how-to/recover.md", "raise-a-budget", "dpnb loosen"),
    "What did the card mean by noise costs?": (
        "docs/explanation/card.md",
        "noise-costs",
        "asked without any privacy",
    ),
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_newcomers_question_is_answered_within_two_clicks(question):
    """From the first page at most two links lead to the heading, and the answer stands right below it."""
    path, heading, answer = QUESTIONS[question]
    near = reached(FIRST)
    clicks = {page: fragments for page, fragments in near.items() if page.endswith(".md")}
    for page in [*clicks]:
        for further, fragments in reached(page).items():
            clicks.setdefault(further, set()).update(fragments)
    assert heading in clicks[path]
    assert heading in anchors(path)
    after = next(
        piece
        for piece in re.split(r"^#+ ", text(path), flags=re.MULTILINE)
        if slug(piece.split("\n")[0]) == heading
    )
    assert answer in after


@pytest.mark.parametrize("name", sorted(reference.PAGES))
def test_a_page_of_the_reference_says_what_the_code_says(name):
    """Write it anew with ``make reference``."""
    assert (reference.FOLDER / f"{name}.md").read_text(encoding="utf-8") == reference.written(name)


def test_a_key_that_the_file_may_have_is_explained():
    """The hand-written table of the declaration names every key that its reader takes."""
    from dpnb.trusted.files import dialect
    from dpnb.trusted.schema import owner

    head = text("docs/reference/toml.md").partition(reference.BEGIN)[0]
    keys = {
        *owner._DATASET,
        *owner._BUDGET,
        *dialect._KEYS,
        *(key for keys in owner._COLUMN.values() for key in keys),
    }
    known = re.findall(r"`([a-z_]+)`", head)
    assert keys - set(known) - {"type", "label"} == set()


def test_every_interaction_is_in_the_gallery_with_its_pictures():
    """One section, one live page and two pictures for each name of the registry."""
    from dpnb.widgets.registry import INTERACTIONS

    names = {entry.name for entry in INTERACTIONS}
    page = text("docs/gallery.md")
    assert set(live.examples()) == names == set(re.findall(r"^## (\w+)$", page, re.MULTILINE))
    assert set(re.findall(r"^<!-- live: (\w+) -->$", page, re.MULTILINE)) == names
    pictures = {path.name for path in (ROOT / "docs" / "pictures").glob("*.png")}
    assert pictures == {f"{name}{mark}.png" for name in names for mark in ("", "-dark")}


def test_lessons_on_the_site_give_no_answer_away():
    """The first lesson can be run, its answers behind a click; every other notebook of the course stands as a student gets it."""
    for path in (path for path in pages.places() if path.startswith("notebooks/course/")):
        source, marks = text(path), "### BEGIN SOLUTION"
        shown = lessons.staged(path, json.loads(source))
        assert marks in source
        assert marks not in json.dumps(shown)
        folded = [cell for cell in shown["cells"] if "hide-input" in cell["metadata"].get("tags", [])]
        said = "".join("".join(cell["source"]) for cell in shown["cells"])
        if path == lessons.FIRST:
            assert len(folded) + said.count("<details>") == source.count(marks)
            assert f'predict("alone", {lessons.GUESS})' in said
        else:
            assert said.count(kit.CODE) + said.count(kit.TEXT) == source.count(marks)


def test_pictures_are_files_and_say_what_they_show():
    """Both forms of a picture are there, and its text says what is on it."""
    for name in MARKDOWN:
        for dark, light, words, _ in pages._PICTURE.findall(text(name)):
            for one in (dark, light):
                assert (ROOT / name).parent.joinpath(one).is_file(), one
            assert len(words) > 20


def test_the_readme_is_short():
    """Forty lines or a few more, three pictures, the two commands, links to the four parts."""
    readme = text("README.md")
    assert len(readme.splitlines()) <= 45
    assert readme.count("<picture>") == 3
    assert "make demo" in readme
    assert "make test" in readme
    assert "## Known limits" in readme
    assert {f"docs/{part}/index.md" for part in ("tutorials", "how-to", "explanation", "reference")} <= set(
        reached("README.md")
    )


@pytest.mark.parametrize("name", ["docs/how-to/choose.md", "docs/explanation/promise.md"])
def test_shares_in_the_tables_are_computed_right(name):
    """What a belief becomes at most after a loss, as its table says, is p e^ε / (p e^ε + 1 − p)."""
    checked = 0
    for row in re.findall(r"^\| (.+) \|$", text(name), re.MULTILINE):
        first, *cells = (cell.strip() for cell in row.split("|"))
        if re.fullmatch(r"[\d.]+ %", first):
            asked = [
                (float(first[:-2]), epsilon, cell) for epsilon, cell in zip((0.1, 1, 4), cells, strict=True)
            ]
        elif re.fullmatch(r"[\d.]+", first):
            asked = [(10.0, float(first), cells[0])]
        else:
            continue
        for percent, epsilon, cell in asked:
            odds = percent / (100 - percent) * exp(epsilon)
            assert float(cell.removesuffix(" %")) == pytest.approx(100 * odds / (1 + odds), rel=0.03)
            checked += 1
    assert checked >= 3


def test_code_that_does_not_run_says_why():
    """A block that is not run has a reason of several words; a block of TOML that is run has a file to be written to."""
    for name in MARKDOWN:
        for block in blocks(ROOT / name):
            if block.reason:
                assert len(block.reason.split()) >= 4, block
            elif block.language == "toml" and re.match(r"docs/(how-to|explanation|tutorials)/", name):
                assert block.file, block


#: What the house says instead.
SAYS = {
    "utilize": "use",
    "utilise": "use",
    "leverage": "use",
    "seamless": "(say what happens)",
    "powerful": "(say what it does)",
    "in order to": "to",
    "e.g.": "for example, such as",
    "i.e.": "that is",
    "etc.": "(name them)",
    "please": "(just say it)",
    "simply": "(it is not simple for who reads)",
    "obviously": "(it is not)",
    "click here": "(link the words)",
    "data set": "dataset",
    "behavior": "behaviour",
    "color": "colour",
    "neighboring": "neighbouring",
    "analyze": "analyse",
    "anonymous": "(say which promise)",
    "anonymized": "(say which promise)",
    "privacy-preserving": "(say which promise)",
}


def written(name: str) -> str:
    """Return the Markdown of a page or of a notebook's cells."""
    if not name.endswith(".ipynb"):
        return text(name)
    cells = json.loads(text(name))["cells"]
    return "\n\n".join("".join(one["source"]) for one in cells if one["cell_type"] == "markdown")


def words_of(name: str) -> str:
    """Return the prose of a page: no code, no addresses, no comments, no tags."""
    prose = "".join(piece for is_prose, piece in links.prose(written(name)) if is_prose)
    if name.startswith("docs/reference/"):
        prose = re.sub(
            re.escape(reference.BEGIN) + ".*?" + re.escape(reference.END), "", prose, flags=re.DOTALL
        )
    return re.sub(
        r"<[^>]*>|\$\$.*?\$\$|\$[^$\n]*\$|`[^`]*`|\]\([^)]*\)|https?://\S+|\w+\.(?:py|md|toml|cff|csv|ipynb|html)\b",
        " ",
        prose,
    )


@pytest.mark.parametrize("name", PROSE)
def test_pages_speak_the_words_of_the_house(name):
    """No word that the house says otherwise; titles of what others wrote and quotations keep theirs."""
    said = re.sub(r"(?<!\*)\*[^*\n]+\*(?!\*)|\"[^\"\n]+\"", " ", words_of(name)).lower()
    found = [word for word in SAYS if re.search(rf"(?<!\w){re.escape(word)}(?!\w)", said)]
    assert not found, {word: SAYS[word] for word in found}

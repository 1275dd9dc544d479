"""A report in every format that its file's name can ask for, read back by readers that are not ours."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import dpnb
from dpnb import cards
from dpnb.cards import report_formats
from dpnb.errors import OptionError
from dpnb.trusted.schema import Mode, Schema
from tests.cards import made


def written(path: Path) -> Any:
    found = made.report("collected", "effect", "villages").estimates
    return cards.report(found, schemas=[made.study()], rows=made.rows(), to=path)


@pytest.mark.parametrize("ending", [".md", ".tex", ".txt", ".html", ".htm", ".HTML"])
def test_a_text_report_holds_results_methods_and_ledger(tmp_path: Path, ending: str) -> None:
    report = written(tmp_path / f"report{ending}")
    text = (tmp_path / f"report{ending}").read_text(encoding="utf-8")
    assert "discrete Laplace" in text
    assert "pure" in text
    assert "collected" in text
    assert re.search(r"kB, one self-contained file>$", repr(report))
    if ending in {".md", ".tex"}:
        assert "Ledger extract" in text
        assert "hiv.got.mean()" in text


def test_a_json_report_has_all_digits_and_exact_losses(tmp_path: Path) -> None:
    written(tmp_path / "report.json")
    read = json.loads((tmp_path / "report.json").read_text(), parse_constant=pytest.fail)
    estimate = made.estimate("collected")
    assert read["results"]["collected"]["value"] == estimate.value
    assert read["ledger"][0]["loss"]["amount"] == "1"
    assert read["dpnb"] == dpnb.__version__


def test_a_word_report_has_a_table_for_each_result(tmp_path: Path) -> None:
    from docx import Document

    written(tmp_path / "report.docx")
    page = Document(str(tmp_path / "report.docx"))
    headings = [one.text for one in page.paragraphs if one.style.name.startswith("Heading 2")]
    assert headings == ["collected", "effect", "villages"]
    assert len(page.tables) == 4
    assert page.tables[0].rows[0].cells[0].text == "value"


def test_a_latex_report_is_balanced_and_runs_nothing_of_ours_or_theirs(tmp_path: Path) -> None:
    written(tmp_path / "report.tex")
    text = (tmp_path / "report.tex").read_text(encoding="utf-8")
    assert text.count(r"\begin{tabular}") == text.count(r"\end{tabular}") == 4
    bare = re.sub(r"\\[{}]", "", text)
    assert bare.count("{") == bare.count("}")
    assert not re.search(r"\\(input|write|include)\b", text)
    assert all(ord(letter) < 0x250 for letter in text)


def test_a_pdf_report_is_printed_by_a_browser_or_says_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "report.pdf"
    if any(map(shutil.which, report_formats.BROWSERS)):
        written(path)
        assert path.read_bytes().startswith(b"%PDF-")
        path.unlink()
    monkeypatch.setattr(shutil, "which", lambda _: None)
    with pytest.raises(OptionError, match=r"needs Chromium or Chrome.*Write \.html"):
        written(path)
    assert not path.exists()


@pytest.mark.parametrize("name", ["report.odt", "report", "report.png"])
def test_another_ending_names_the_known_ones_and_writes_nothing(tmp_path: Path, name: str) -> None:
    """It was HTML whatever the name said."""
    with pytest.raises(OptionError, match=r"\.html, \.pdf, \.txt, \.md, \.tex, \.docx, \.json"):
        written(tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_methods_paragraph_names_bounds_mechanisms_and_version_but_no_grid_steps() -> None:
    paragraph = written_methods()
    assert "grid steps" not in paragraph
    assert f"dpnb {dpnb.__version__}" in paragraph
    assert "age: 0 to 100" in paragraph
    assert "Mechanisms: discrete Laplace; permute-and-flip for quantiles." in paragraph


def test_a_methods_paragraph_says_of_protected_data_alone_that_noise_came_from_the_system() -> None:
    """A teaching dataset may have been opened with a seed, and its paragraph says so."""
    assert "from operating-system entropy" in written_methods()
    taught = written_methods(replace(made.study(), mode=Mode.TEACHING, public=True))
    assert "entropy" not in taught
    assert "noise may have come from a seed" in taught


def written_methods(study: Schema | None = None) -> str:
    found = made.report("collected", "age").estimates
    text: str = cards.report(found, schemas=[study or made.study()]).methods
    return text

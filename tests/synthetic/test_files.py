"""A folder of synthetic tables reads anywhere, as it was written or not at all; its card says what was measured and what one table is worth."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import nh3
import numpy as np
import pytest

import dpnb
from dpnb.cards.synthetic import synthetic_bundle, synthetic_card
from dpnb.errors import OptionError, OwnerError, PlanError
from dpnb.owner import signed_records
from dpnb.owner.statistics_file import questions_of, read_statistics
from dpnb.synthetic.files import digest
from dpnb.widgets.projection import question_in
from tests.docs.code_blocks import ROOT

ROWS = 900
DECLARED = """
[dataset]
name = "town"
source = "town.csv"
adjacency = "change-one"
rows = 900

[budget]
rho = 5

[columns.age]
type = "integer"
lower = 18
upper = 89

[columns.educ]
type = "category"
values = ["low", "high"]

[columns.married]
type = "category"
values = [0, 1]

[columns.income]
type = "number"
lower = 0
upper = 100
step = 0.5
"""


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    """Synthetic rows of a small town, in which income by married was not measured."""
    folder = tmp_path_factory.mktemp("town")
    rng = np.random.default_rng(1)
    age, educ = rng.integers(18, 90, ROWS), rng.integers(0, 2, ROWS)
    married, income = rng.random(ROWS) < age / 120, np.clip(30 + 20 * educ + rng.normal(0, 9, ROWS), 0, 100)
    lines = [
        f"{a},{['low', 'high'][e]},{m:d},{i:.1f}"
        for a, e, m, i in zip(age, educ, married, income, strict=True)
    ]
    (folder / "town.csv").write_text("\n".join(["age,educ,married,income", *lines]) + "\n")
    (folder / "town.dpnb.toml").write_text(DECLARED)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPNB_HOME", str(folder / "home"))
        town = dpnb.open(folder / "town.dpnb.toml", quiet=True)
        pairs = [
            ("age", "educ"),
            ("age", "married"),
            ("educ", "married"),
            ("age", "income"),
            ("educ", "income"),
        ]
        made = town.synthetic(
            "age", "educ", "married", "income", relations=pairs, tables=6, bins={"age": 4, "income": 4}
        )
        dpnb.release({"made": made}, rho=1)
        yield made
        dpnb.client.api.close()


@pytest.fixture
def folder(rows, tmp_path):
    """The folder of them, as CSV."""
    rows.to_csv(tmp_path / "town")
    return tmp_path / "town"


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_a_folder_opens_as_what_was_written(rows, tmp_path, kind):
    """The same frames with the same types, the same support, the same intervals; and written again, the same files."""
    sidecar = getattr(rows, f"to_{kind}")(tmp_path / "first")
    again = dpnb.open_synthetic(tmp_path / "first")
    for one, other in zip(rows.frames(), again.frames(), strict=True):
        assert one.equals(other)
        assert list(one.dtypes) == list(other.dtypes)
    found, other = (one.ols("income ~ age").interval() for one in (rows, again))
    assert np.array_equal([found.low, found.high], [other.low, other.high])
    assert not again.supports("married", "income")
    assert str(again) == str(rows)
    written, anew = (
        json.loads(one.read_text()) for one in (sidecar, getattr(again, f"to_{kind}")(tmp_path / "second"))
    )
    assert [anew[name] for name in ("files", "use", "cite")] == [
        written[name] for name in ("files", "use", "cite")
    ]


def test_the_sidecar_says_what_the_rows_are_good_for(rows, folder):
    """What was measured and what not, its noise, the ids of its draws, what it cost, how to cite it; no path and no row count of the data."""
    about = json.loads((folder / "synthetic.json").read_text())
    assert "age by educ" in about["use"]["supported"]
    assert "married by income" not in about["use"]["supported"]
    assert "26 % to 83 %" in about["use"]["warning"]
    assert "ρ 1" in about["cite"]
    assert len(about["files"]) == 6
    assert about["release"]["draws"] == list(rows.released.draws)
    assert all(one["sigma"] > 0 for one in about["release"]["relations"])
    assert str(folder) not in json.dumps(about)


def test_the_pages_lines_of_pandas_give_the_same_interval(rows, folder):
    """What docs/how-to/synthetic.md shows to a reader without dpnb is the rule that `combine` has."""
    page = (ROOT / "docs" / "how-to" / "synthetic.md").read_text()
    (code,) = (
        block for block in re.findall(r"```python\n(.*?)```", page, re.DOTALL) if "def combined(" in block
    )
    names: dict[str, object] = {}
    exec(code.partition("def share(")[0], names)

    def share(table):
        p = (table.married == 1).mean()
        return p, p * (1 - p) / len(table)

    value, low, high = names["combined"](folder, share)
    found = rows.combine(share, "married")
    assert (value, low, high) == pytest.approx((found.value, *found.interval()), rel=1e-12)
    assert code.partition("def share(")[0].count("\n") <= 24


def damaged(folder: Path, **changes: object) -> None:
    """Write the sidecar with other facts."""
    place = folder / "synthetic.json"
    place.write_text(json.dumps(json.loads(place.read_text()) | changes))


DAMAGES = {
    "a cell was changed": (
        lambda f: (f / "table-03.csv").write_bytes((f / "table-03.csv").read_bytes()[:-1] + b"0\n"),
        "was changed",
    ),
    "a table is missing": (lambda f: (f / "table-02.csv").unlink(), "cannot be read"),
    "no sidecar": (lambda f: (f / "synthetic.json").unlink(), "has no synthetic.json"),
    "no JSON": (lambda f: (f / "synthetic.json").write_text("{"), "was not written by dpnb"),
    "another JSON": (lambda f: (f / "synthetic.json").write_text("[1]"), "was not written by dpnb"),
    "a newer one": (lambda f: damaged(f, **{"dpnb synthetic": 2}), "newer dpnb"),
    "no release": (lambda f: damaged(f, release=3), "is damaged"),
    "a file elsewhere": (lambda f: damaged(f, files=[{"name": "../town.csv", "sha256": ""}]), "is damaged"),
    "fewer tables": (
        lambda f: damaged(f, files=json.loads((f / "synthetic.json").read_text())["files"][1:]),
        "6 tables",
    ),
    "no folder": (shutil.rmtree, "has no synthetic.json"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_or_foreign_folder_is_refused_in_words(folder, name):
    """Nothing is opened in part."""
    damage, words = DAMAGES[name]
    damage(folder)
    with pytest.raises(PlanError, match=re.escape(words)):
        dpnb.open_synthetic(folder)


def test_a_published_folder_is_verified_against_what_its_owner_signed(folder, tmp_path, monkeypatch):
    """A sidecar that was rewritten to agree with changed tables is noticed, and so is a changed table; a folder that is elsewhere is said to be."""
    signed = {"town": digest((folder / "synthetic.json").read_bytes()), "other": ""}
    record = {"statistics": [], "dataset": "town", "published": "2026-01-01", "synthetic": signed}
    monkeypatch.setattr(signed_records, "read_publication", lambda *_: record)
    (tmp_path / "town.pub").write_text("")
    asked = (tmp_path / "town.releases.json", tmp_path / "town.pub")
    told = signed_records.verify_file(*asked)
    assert told.facts["synthetic"] == {"town": True, "other": False}
    assert "other: these synthetic tables are not beside the file" in told.text
    table, sidecar = folder / "table-03.csv", folder / "synthetic.json"
    was = digest(table.read_bytes())
    table.write_bytes(table.read_bytes().replace(b"low", b"high", 1))
    with pytest.raises(PlanError, match="was changed since it was written"):
        signed_records.verify_file(*asked)
    sidecar.write_text(sidecar.read_text().replace(was, digest(table.read_bytes())))
    dpnb.open_synthetic(folder)
    with pytest.raises(PlanError, match="not what its owner signed"):
        signed_records.verify_file(*asked)


def test_nothing_is_overwritten(rows, folder):
    """A folder that is there is left as it is."""
    before = (folder / "table-01.csv").read_bytes()
    with pytest.raises(OptionError, match="Name a new folder"):
        rows.to_csv(folder)
    assert (folder / "table-01.csv").read_bytes() == before


def test_the_card_says_what_was_measured_and_what_one_table_is_worth(rows):
    """Each pair with its noise or that it was not measured, each margin beside its noised one, the level, the warning; a sanitiser loses no word."""
    card = synthetic_card(rows)
    row = next(line for line in card.text.splitlines() if line.strip().startswith("income"))
    assert "not measured" in row
    assert f"{rows.sigmas['age', 'income']:.4g}" in row
    assert "26 % to 83 %" in card.text
    assert "95 % intervals hold" in card.text
    noised = rows.counts["educ", "married"].sum(axis=1) / rows.size
    shares = next(line for line in card.text.splitlines() if "educ low" in line)
    assert (
        f"{rows.counts['age', 'educ'].sum(axis=0)[0] / rows.size:.1%}" in shares
        or f"{noised[0]:.1%}" in shares
    )
    words = re.sub(r"<[^>]+>|\s+", " ", nh3.clean(str(card.html)).replace("<wbr>", ""))
    for word in card.text.split():
        assert word in words.replace("&amp;", "&"), word
    assert "<desc>The largest difference" in str(card.html)


def test_a_notebook_shows_the_card_and_of_pending_rows_a_line(rows):
    """What has no rows yet is told in a line."""
    shown = synthetic_bundle(rows)
    assert "application/vnd.dpnb.synthetic+json" in shown
    assert json.loads(json.dumps(shown, allow_nan=False)) == shown
    asked = dpnb.open("hiv", quiet=True).synthetic("got", "any")
    assert set(synthetic_bundle(asked)) == {"text/plain"}
    dpnb.client.api.close()


def test_an_owner_names_a_folder_by_one_word(tmp_path):
    """Picked beside statistics, synthetic rows are the questions of their tables; a name that would leave the folder is refused."""
    hiv = dpnb.open("hiv", quiet=True)
    file = tmp_path / "picked.toml"
    file.write_text("[statistics]\nrows = \"hiv.synthetic('got', 'any')\"\nold = \"hiv.age.mean()\"\n")
    assert list(questions_of(read_statistics(file, hiv))) == ["rows: got by any", "old"]
    file.write_text("[statistics]\n\"../rows\" = \"hiv.synthetic('got', 'any')\"\n")
    with pytest.raises(OwnerError, match="folder of this name"):
        read_statistics(file, hiv)
    with pytest.raises(PlanError, match="dpnb admin release --plan"):
        question_in(hiv.schema, "hiv.synthetic('got', 'any')")
    dpnb.client.api.close()

"""``%%dp sql``: SELECTs that are planned, released, named and drawn as what a Python cell asks; refusals that point at a line."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from IPython.core.completer import provisionalcompleter

from dpnb.errors import PlanError
from dpnb.estimate import Estimate
from dpnb.notebook import load
from dpnb.notebook.find_estimates import figures, named
from dpnb.notebook.pending_cards import CardQuestions
from dpnb.notebook.price_preview import Snapshot, price_of, variables
from tests.curator import small
from tests.notebook.conftest import Notebook

pytest.importorskip("sqlglot")

BY = (
    "by << SELECT g, COUNT(*) AS n, AVG(x) AS m FROM people GROUP BY g HAVING COUNT(*) > -99 ORDER BY m DESC;"
)
HIGH = "high << SELECT COUNT(*) AS n FROM people WHERE x > 3"
CELL = f"%%dp sql epsilon=2\n{BY}\n{HIGH}"


@pytest.fixture
def asked(shell, tmp_path, monkeypatch):
    """A loaded shell with the small dataset under the name ``people``."""
    service = small.curator(tmp_path)
    session = small.session(service)
    monkeypatch.setattr("dpnb.client.sessions.current", lambda: session)
    monkeypatch.setattr("dpnb.notebook.cell_release.current_session", lambda: session)
    load(shell)
    shell.user_ns["people"] = small.opened(session, tmp_path)
    yield Notebook(shell, session)
    service.close()


def spent(notebook):
    """What was charged so far."""
    return str(notebook.names["people"].budget.state().spent)


def test_a_cell_of_selects_is_one_batch_and_free_again(asked):
    """Two SELECTs, three questions and one charge; names are bound; the same count typed in Python is stored."""
    asked(CELL)
    by, high = asked.names["by"], asked.names["high"]
    assert spent(asked) == "ε 2"
    assert set(by["g"]) == {0, 1}
    assert (by["m"].shape, high["n"].shape) == ((2,), ())
    assert set(asked.labels.values()) == {"by.n", "by.m", "high"}
    means = by.to_frame()["m"].tolist()
    assert means == sorted(by["m"].value.tolist(), reverse=True)
    asked(CELL)
    asked('%%dp epsilon=0.01\ntyped = people.groupby("g").count()')
    assert spent(asked) == "ε 2"
    assert asked.names["typed"].value.tolist() == by["n"].value.tolist()


def test_the_card_shows_rows_and_both_intervals(asked):
    """The table as it was asked, what each figure is, and what reads noised figures; the record has a line for each figure."""
    asked(CELL)
    card = asked.shell.drawn[-1]
    html, text = card["text/html"], card["text/plain"]
    assert 'class="rows select"' in html
    assert html.index(">by<") < html.index("Mean of x.") < html.index("Count of rows where x &gt; 3")
    assert "[privacy interval]" in text
    assert "(confidence interval)" in text
    assert "noised figures" in text
    names = [line["name"] for line in card["application/vnd.dpnb.release+json"]["lines"]]
    assert names == ["by.n", "by.m", "high"]


class _Places(HTMLParser):
    """What a card says on each of its own lines: where a front end puts the marks of the record's lines."""

    def __init__(self, html):
        super().__init__()
        self.open, self.lines = [], []
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        """Begin an element; a line is a child of the card."""
        if tag in {"br", "hr", "img", "wbr"}:
            return
        self.open.append(dict(attrs).get("class") or "")
        if len(self.open) == 2 and "line" in self.open[1].split():
            self.lines.append("")

    def handle_endtag(self, tag):
        """End an element."""
        del tag
        self.open.pop()

    def handle_data(self, data):
        """Take what is said on a line."""
        if len(self.open) > 1 and "line" in self.open[1].split():
            self.lines[-1] += data


def test_each_figure_has_the_place_of_its_mark(asked):
    """The record's lines are the card's own, in drawn order: tables first; what a computed figure is read from is beside them."""
    cell = """%%dp sql epsilon=2
a << SELECT COUNT(*) AS n FROM people WHERE x > 3;
b << SELECT g, STDDEV(x) AS s, COUNT(*) AS n FROM people GROUP BY g HAVING AVG(y) > -9;
c << SELECT SUM(x) / COUNT(*) AS r FROM people"""
    for repeated in (False, True):
        asked(cell)
        card = asked.shell.drawn[-1]
        record = card["application/vnd.dpnb.release+json"]
        names = [line["name"] for line in record["lines"]]
        assert names == ["b.s", "b.n", "a", "c"]
        lines = _Places(card["text/html"]).lines
        said = ["s Computed from figures", "n Count of rows", "aCount of rows where x > 3", "c"]
        assert all(line.startswith(words) for line, words in zip(lines, said, strict=True))
        assert [line["name"] for line in record["lines"] if "again" in line] == ["b.n", "a"]
        assert ["stored" in line for line in record["lines"][1:3]] == [repeated] * 2
        assert len(record["behind"]) >= 3
    asked("b")
    alone = asked("b")._repr_mimebundle_()
    names = [line["name"] for line in alone["application/vnd.dpnb.release+json"]["lines"]]
    assert (names, len(_Places(alone["text/html"]).lines)) == (["s", "n"], 2)


def test_a_figure_is_paid_for_again_under_a_name_of_its_own(asked):
    """The forecast names what holds the figure; the cell that it leaves runs, and the mark then knows the newer answer."""

    def held():
        return [pair for pair in named(asked.names) if not pair[1].pending]

    def asks(line):
        return cards.remeasure(
            {"name": line["name"], "question": line["question"], "releases": line["releases"]}
        )

    cards = CardQuestions(held, figures=lambda: figures(asked.names))
    asked(CELL)
    lines = asked.shell.drawn[-1]["application/vnd.dpnb.release+json"]["lines"]
    facts = [asks(line)["facts"] for line in lines if "again" in line]
    assert [(one["name"], one["held"]) for one in facts] == [("by_n", "by['n']"), ("high_n", "high['n']")]
    asked("by_n = by['n'].remeasure(epsilon=1)\nby_n")
    assert len(asked.names["by_n"].releases) == 2
    with pytest.raises(PlanError, match="by_n now holds another answer"):
        asks(lines[0])
    asked("%%dp sql epsilon=1\nSELECT AVG(y) AS m FROM people")
    with pytest.raises(PlanError, match="in SQL as n << SELECT"):
        asks(asked.shell.drawn[-1]["application/vnd.dpnb.release+json"]["lines"][0])


def test_many_rows_keep_their_intervals_folded_and_alien_names_are_text(asked):
    """Of more than six rows intervals are drawn, and told on demand; a column's name is never markup."""
    asked('%%dp sql epsilon=1\nSELECT x, AVG(y) AS "<b>y" FROM people GROUP BY x')
    html = asked.shell.drawn[-1]["text/html"]
    assert "<summary>Intervals</summary>" in html
    assert "&lt;b&gt;y" in html
    assert "<b>" not in html


def test_a_select_without_a_name_is_the_last_output(asked):
    """It is drawn once, in the card of its release, and is ``_`` and ``Out[n]``; keys alone are shown and free."""
    assert asked("%%dp sql epsilon=1\nSELECT AVG(x) AS m, COUNT(*) AS n FROM people;") is None
    assert len(asked.shell.drawn) == 1
    assert 0 <= asked.names["_"]["m"].value <= 10
    assert asked("_") is asked("Out[1]")
    assert asked("%%dp sql\nSELECT g FROM people GROUP BY g").table().columns == {"g": (0, 1)}
    assert spent(asked) == "ε 1"


def test_a_plan_spends_nothing_and_its_release_is_sql(asked):
    """The board's cell has ``sql`` on its magic line; a refusal by the budget says so too."""
    asked(CELL.replace("sql", "sql plan"))
    facts = asked.shell.drawn[-1]["application/vnd.dpnb.plan+json"]["facts"]
    assert (facts["verb"], facts["body"]) == ("sql", f"{BY}\n{HIGH}")
    assert [one["nameable"] for one in facts["questions"]] == [True, True, True]
    assert asked.names["by"].pending
    assert repr(asked.names["high"]) == "<pending SELECT COUNT(*) AS n FROM people WHERE x > 3>"
    assert "Options: %%dp sql epsilon=10." in asked.fails(CELL.replace("=2", "=20"))
    assert "%%dp sql epsilon=10" in str(asked.shell.drawn[-1])
    assert spent(asked) == "ε 0"


def test_a_weight_names_a_figure(asked):
    """``weights=by.n:3`` is three shares; 0 leaves a figure out, and its answer waits."""
    asked(CELL.replace("=2", "=2.5 weights=by.n:3"))
    losses = {label: str(leaf.releases[0].loss) for leaf, label in asked.report.labels.items()}
    assert losses == {"by.n": "ε 1.5", "by.m": "ε 0.5", "high": "ε 0.5"}
    asked("%%dp sql epsilon=1 weights=two.a:0\ntwo << SELECT AVG(y) AS a, MEDIAN(x) AS b FROM people")
    assert asked.names["two"].pending
    assert [one.pending for one in asked.names["two"].estimates.values()] == [True, False]


REFUSED = {
    "SELECT AVG(xx) AS m\nFROM people": ("people has no column xx", "line 3: SELECT AVG(xx) AS m", "AVG("),
    "SELECT COUNT(*)\nFROM people\nWHERE g = 'a'": ("g is declared 0/1", "line 5: WHERE g = 'a'", "WHERE "),
    "a << SELECT COUNT(*) FROM people;\n\nb << SELECT *\nFROM people": (
        "no row leaves",
        "line 5: b << SELECT *",
        "b << SELECT ",
    ),
    "SELECT COUNT(*) FROM folks": ("There is no table folks", "line 3: SELECT COUNT(*) FROM folks", "FROM "),
}


@pytest.mark.parametrize("body", REFUSED)
def test_a_refusal_shows_line_and_column_and_costs_nothing(asked, body):
    """The line of the cell, counted from its magic line's, and a mark under the place; no name is bound."""
    seen = asked.fails(f"%%dp sql epsilon=1\n-- a comment\n{body}").splitlines()
    said, line, before = REFUSED[body]
    assert said in seen[0]
    assert seen[-2] == line
    assert seen[-1] == " " * (line.index(before) + len(before)) + "^"
    assert spent(asked) == "ε 0"
    assert "a" not in asked.names


def test_parameters_are_values_of_the_notebook(asked):
    """Numbers, and released estimates; a pending one is refused; a selection is a view."""
    asked("low, some = 3, people[people.x > 3]")
    for written in (":low", "$low", "{{ low }}", "{{low}}"):
        asked(f"%%dp sql epsilon=1\n{HIGH.replace('3', written)}")
    asked("%%dp sql epsilon=1\nview << SELECT COUNT(*) AS n FROM some")
    assert spent(asked) == "ε 1"
    assert asked.names["view"]["n"].value == asked.names["high"]["n"].value
    asked("middle = high['n']")
    asked("%%dp sql epsilon=1\nSELECT COUNT(*) FROM people WHERE x < :middle")
    asked("late = people.x.mean()")
    assert ":late is pending" in asked.fails(
        "%%dp sql epsilon=1\nSELECT COUNT(*) FROM people WHERE x < :late"
    )


LINES = {
    "%%dp sql SELECT 1\nSELECT COUNT(*) FROM people": "A query begins below the magic line: %%dp sql epsilon=1",
    "%%dp sql epsilon=1 pay <<\nSELECT COUNT(*) FROM people": "in front of its query: pay << SELECT",
    "%%dp sql\nSELECT AVG(x) FROM people": "This cell names no loss: write %%dp sql epsilon=1",
    "%%dp epsilon=1\nSELECT AVG(x) FROM people": "This is SQL: write %%dp sql epsilon=1",
    "%%dp epsilon=1\npay << SELECT AVG(x) FROM people": "This is SQL: write %%dp sql epsilon=1",
    "%dp auto release epsilon=1 sql": "SQL is asked in a cell of its own: %%dp sql epsilon=0.1",
}


@pytest.mark.parametrize("cell", LINES)
def test_a_magic_line_that_was_meant_otherwise_says_what_to_write(asked, cell):
    """What people who know other magics type."""
    assert LINES[cell] in asked.fails(cell)
    assert spent(asked) == "ε 0"


def test_the_words_of_a_dataset_are_a_line_away(asked, capsys):
    """``%dp sql people``: columns, values, and what can be asked of them."""
    asked("%dp sql people")
    said = capsys.readouterr().out
    assert "x  integer 0 to 10" in said
    assert "MEDIAN" in said


def offered(notebook, cell):
    """What completion puts before and after a cursor that stands at ``|``."""
    at = cell.index("|")
    text = cell.replace("|", "")
    with provisionalcompleter():
        found = list(notebook.shell.Completer.completions(text, at))
    return [text[: one.start] + one.text + text[one.end :] for one in found]


def test_columns_tables_and_values_are_completed(asked):
    """Columns of the dataset, names of tables after FROM, declared values after =; on the magic line its options."""
    head = "%%dp sql epsilon=1\nSELECT "
    assert offered(asked, f"{head}AVG(x|) FROM people") == [f"{head}AVG(x) FROM people"]
    assert f"{head}COUNT(*)\nFROM people" in offered(asked, f"{head}COUNT(*)\nFROM peo|")
    assert offered(asked, f"{head}COUNT(*) FROM people WHERE g = |") == [
        f"{head}COUNT(*) FROM people WHERE g = {value}" for value in (0, 1)
    ]
    assert "%%dp sql" in offered(asked, "%%dp sq|")


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("epsilon=2", f"{BY}\n{HIGH}"),
        ("within=5", "SELECT COUNT(*) FROM people WHERE x > 2"),
        ("epsilon=1 weights=by.n:0", BY),
        ("epsilon={low}", "SELECT COUNT(*) FROM people WHERE x > :low"),
        ("epsilon=1", "SELECT AVG(xx) FROM people"),
        ("epsilon=1", "SELECT g FROM people GROUP BY g"),
    ],
)
def test_the_price_while_typing_is_the_price_of_running(asked, head, body):
    """Read from the text, on any thread, with nothing asked; an error is the one of running, before its line is shown."""
    asked("low = 2")
    read = price_of(f"%%dp sql {head}\n{body}", Snapshot.of(asked.names))
    before = len(asked.session.ledger_rows(asked.names["people"]))
    if read.status == "error":
        assert asked.fails(f"%%dp sql {head}\n{body}").startswith(read.message)
        return
    asked(f"%%dp sql plan {head}\n{body}")
    assert len(asked.session.ledger_rows(asked.names["people"])) == before
    if read.status == "nothing":
        assert "plan" not in asked.shell.text_drawn
        return
    view, words, verb = asked.magic.planned
    assert (read.label, words, verb) == (str(view.cost), body, "sql")
    assert [row[0] for row in read.questions] == [view.label(i) for i in range(len(view.items))]


def test_a_value_that_only_running_can_tell_gives_no_price(asked):
    """The released value of a name is looked up by running; what a text names is told, so that its price is read again."""
    asked("%%dp sql epsilon=1\nm << SELECT AVG(x) AS m FROM people")
    read = price_of("%%dp sql epsilon=1\nSELECT COUNT(*) FROM people WHERE x > :m", Snapshot.of(asked.names))
    assert (read.status, read.message) == ("unread", "the value of m")
    assert variables("%%dp sql\nSELECT x::INT FROM t WHERE a > :b AND c = $d OR {{ e }}") == {"b", "d", "e"}
    assert isinstance(asked.names["m"]["m"], Estimate)


def test_an_answer_is_a_table_of_columns(asked):
    """Columns as attributes, rows to go through, one figure as a value to ask with; what frames have beside that is named."""
    asked(f"%%dp sql epsilon=2\n{BY}\nmiddle << SELECT AVG(x) AS m FROM people")
    by = asked.names["by"]
    assert (by.m, len(by)) == (by["m"], 2)
    assert [row["m"] for row in by] == by.to_frame()["m"].tolist()
    assert "An answer has no head. Its columns: g, n, m; .to_frame() is a DataFrame." in asked.fails(
        "by.head()"
    )
    asked("%%dp sql epsilon=1\nabove << SELECT COUNT(*) AS n FROM people WHERE x > :middle")
    assert f"> {float(asked.names['middle'].m)!r}]" in asked.names["above"].n.text


MEANT = {
    "SHOW TABLES": "%dp sql people shows what people has",
    "pay = SELECT AVG(x) FROM people": "pay << SELECT",
    "SELECT AVG(x) INTO pay FROM people": "<< SELECT",
    "SELECT AVG(x) FROM people\nSELECT AVG(y) FROM people": "Several SELECTs are parted by a semicolon",
    "SELECT AVG(any) FROM people": 'in double quotes: "any"',
    "-- nothing": "Write a SELECT",
}


@pytest.mark.parametrize("body", MEANT)
def test_habits_of_other_databases_are_told_what_to_write(asked, body):
    """What people type first."""
    assert MEANT[body] in asked.fails(f"%%dp sql epsilon=1\n{body}")

"""SQL as an interface: statements of a cell, one batch, parameters that are constants, and errors that point."""

from __future__ import annotations

import numpy as np
import pytest

import dpnb
from dpnb.client.sql import completions, statements, tables_of, translate, words
from dpnb.errors import DpnbError, PlanError, SchemaError
from dpnb.planner.estimand import in_words


def refused(text, tables, **parameters):
    """What is said of a statement that cannot be asked."""
    with pytest.raises(DpnbError) as error:
        [translate(one, tables, parameters) for one in statements(text)]
    return str(error.value)


def test_a_cell_is_split_where_statements_end():
    """Names, semicolons in texts and comments, and lines."""
    cell = "a << SELECT ';' AS x FROM t; -- ; no\n\nSELECT 2 FROM t /* ; */;\n  b <<\nSELECT 3 FROM t"
    found = statements(cell)
    assert [(one.name, one.line, one.column) for one in found] == [("a", 1, 6), (None, 3, 1), ("b", 5, 1)]
    assert found[0].text == "SELECT ';' AS x FROM t"


def test_the_same_count_in_python_is_free(data):
    """One measurement, however it was typed."""
    n = dpnb.sql("SELECT COUNT(*) AS n FROM small WHERE x > 3", epsilon=1, small=data)
    spent = data.budget.spent
    again = data[data.x > 3].count()
    dpnb.release(again, epsilon=1)
    assert float(again) == float(n["n"])
    assert data.budget.spent == spent


def test_a_quantile_says_how_its_intervals_are_asked(data):
    """Typed in Python as it stands in SQL it is free; the line below is Python that has intervals, and names each quantile."""
    select = "SELECT g, MEDIAN(x) AS m, QUANTILE_CONT(x, 0.9) AS q FROM small WHERE x > 0 GROUP BY g"
    answer, spent = dpnb.sql(select, epsilon=2, small=data), data.budget.spent
    asked = data[data.x > 0].groupby("g").x
    again = {"m": asked.quantile(0.5), "q": asked.quantile(0.9)}
    dpnb.release(again, epsilon=2)
    assert data.budget.spent == spent
    assert [again[one].value.tolist() for one in "mq"] == [answer[one].value.tolist() for one in "mq"]
    typed = [asked.quantile(q, ci=True) for q in (0.5, 0.9)]
    (line,) = (note for note in answer.notes if "ci=True" in note)
    assert line.endswith(f" in Python: {'; '.join(one.text for one in typed)}.")
    dpnb.release(typed, epsilon=4)
    assert all(np.isfinite(one.interval(kind="privacy")).all() for one in typed)
    assert not dpnb.sql("SELECT AVG(x) AS m FROM small", small=data).notes


def test_numbers_below_zero_ask_what_python_asks(data):
    """A whole number stays whole: -3 is no -3.0."""
    asked = dpnb.sql("SELECT COUNT(*) AS n FROM s WHERE x > -3 AND x - 3 < -ABS(-1)", s=data)
    assert asked["n"].text == data[(data.x > -3) & (data.x - 3 < -1)].count().text


def test_a_choice_is_said_as_it_is_made(data):
    """What a plan and a card call the sum of a CASE."""
    asked = dpnb.sql("SELECT SUM(CASE WHEN x > 5 THEN x WHEN x > 2 THEN 2 ELSE -1 END) AS n FROM s", s=data)
    (leaf,) = asked["n"].leaves()
    said, _ = in_words(leaf.question, leaf.checked.kind, leaf.checked.setting, data.schema)
    assert said == "Sum of x if x > 5, else 2 if x > 2, else -1"


def test_keys_alone_cost_nothing(data):
    """Declared values are public."""
    spent = data.budget.spent
    keys = dpnb.sql("SELECT g FROM small GROUP BY g ORDER BY g DESC", epsilon=1, small=data)
    assert keys.table().columns == {"g": (1, 0)}
    assert data.budget.spent == spent


def test_released_estimates_are_constants_and_pending_ones_are_refused(data):
    """``:m`` is a number of the tree, never text."""
    m = data.x.mean()
    assert ":m is pending: release it in a cell above" in refused(
        "SELECT COUNT(*) FROM s WHERE x > :m", {"s": data}, m=m
    )
    dpnb.release(m, epsilon=1)
    asked = dpnb.sql("SELECT COUNT(*) AS n FROM s WHERE x > {{m}} AND g = $g", s=data, m=m, g=1)
    assert str(float(m)) in asked["n"].text
    assert "1 OR 1" in refused("SELECT COUNT(*) FROM s WHERE g = :g", {"s": data}, g="1 OR 1=1")


def test_errors_point_at_line_and_column(data):
    """From where the cell begins."""
    said = refused("a << SELECT COUNT(*)\nFROM small\nWHERE  agee > 3", {"small": data})
    assert said.endswith("(line 3, column 8)")


def test_names_and_declared_values_are_offered(data):
    """Columns after WHERE, values after =, tables after FROM."""
    text = "SELECT COUNT(*) FROM small WHERE g = "
    assert completions(text, len(text), {"small": data}).options == ("0", "1")
    assert completions("SELECT AVG( FROM small", 11, {"small": data}).options == ("x", "g", "y")
    assert completions("SELECT 1 FROM sm", 16, {"small": data}) == (14, ("small",))
    assert "AVG(x)" in words(data)


def test_a_selection_is_a_view(data):
    """FROM a filtered handle reads its rows."""
    high = data[data.x > 5]
    asked = dpnb.sql("SELECT COUNT(*) AS n FROM high WHERE g = 1", high=high)
    assert asked["n"].text == data[(data.x > 5) & (data.g == 1)].count().text
    assert tables_of({"high": high, "other": np.arange(3)})["high"] is high


@pytest.mark.parametrize("error", [PlanError, SchemaError])
def test_refusals_are_of_the_tree_of_errors(data, error):
    """An unknown name is a SchemaError, what cannot be asked a PlanError."""
    text = {PlanError: "SELECT * FROM s", SchemaError: "SELECT COUNT(*) FROM nowhere"}[error]
    with pytest.raises(error):
        dpnb.sql(text, s=data)

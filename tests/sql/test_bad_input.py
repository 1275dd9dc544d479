"""SQL that cannot be read or asked: words with a place, never another exception, nothing asked."""

from __future__ import annotations

import sys

import pytest

import dpnb
from dpnb.client.sql import statements, translate
from dpnb.errors import DpnbError, OptionError
from tests.sql.tables import handles

CONDITIONS = " AND ".join(f"age <> {number % 90}" for number in range(720))
SAID = {
    "SELECT COUNT(* FROM people": "SQL cannot be read here: … COUNT(* FROM people (line 1, column 16)",
    "SELEC COUNT(*) FROM people": "SELEC is not one. Did you mean SELECT? (line 1, column 1)",
    "SELECT 'abc\nFROM people": "does not end: … SELECT 'abc FROM (line 1, column 8)",
    "SELECT COUNT(*) FROM people WHERE": "SQL cannot be read here: … people WHERE",
    "SELECT COUNT(*)\nFROM people /* never": "does not end: … people /* never (line 2, column 13)",
    " ; ": "Write a SELECT",
    "1 << SELECT 2 FROM people": "Bind an answer to a name",
    "SELECT COUNT(*) FROM peple": "There is no table peple. Did you mean people? (line 1, column 22)",
    "SELECT COUNT(*) FROM people WHERE\n  agee > 3": "people has no column agee. Did you mean age? (line 2, column 3)",
    "SELECT COUNT(*) FROM people WHERE married = '1'": "Its values are numbers: write 1 without quotes.",
    "SELECT COUNT(*) FROM people WHERE race = 'blakc'": "it has no value 'blakc'. Did you mean 'black'?",
    "SELECT COUNT(*) FROM people WHERE p.age > 3": "p is no table of this SELECT: it has people.",
    "SELECT COUNT(*) FROM people QUALIFY 1 = 1": "A window function",
    "SELECT COUNT(*) FROM people USING SAMPLE 5": "takes some rows and not others",
    "SELECT * EXCLUDE (age) FROM people": "EXCEPT in * EXCLUDE (age) is not read here",
    "SELECT COUNT(*) FROM people WHERE age BETWEEN SYMMETRIC 3 AND 1": "SYMMETRIC in",
    "PIVOT people ON sex USING sum(age)": "PIVOT is not one",
    "SUMMARIZE people": "SUMMARIZE is not one",
    "SELECT COUNT(*) FROM 'file.csv'": "There is no table file.csv",
    "SELECT COUNT(*) FROM read_csv('x')": "READ_CSV('x') makes rows of its own",
    "SELECT COUNT(*), * FROM people": "Ask aggregates: SELECT COUNT(*), AVG(age) FROM people. (line 1, column 18)",
    "SELECT * FROM people LIMIT 5": "SELECT * shows rows, and no row leaves. Ask aggregates",
    "SELECT sex, age FROM people ORDER BY age LIMIT 5": "sex is one row's value. Aggregate it",
    "WITH RECURSIVE t AS (SELECT age FROM people) SELECT COUNT(*) FROM t": "leave RECURSIVE out",
    "SELECT COUNT(*) FROM hospital NATURAL JOIN visits": "say by which column",
    "SELECT COUNT(*) FROM hospital JOIN visits USING (ward)": "without a side: JOIN visits USING (person).",
    "SELECT COUNT(*) FROM hospital FULL JOIN visits USING (person)": "without a side: JOIN visits USING (person).",
    "SELECT COUNT(*) FROM hospital JOIN visits v USING (person) WHERE v.ward = 'x'": "[prepare] takes of visits: minutes.",
    "SELECT COUNT(*) FROM people, LATERAL (SELECT age + 1 AS b) t": "LATERAL looks at one person's row",
    "SELECT COUNT(*) FROM hospital WHERE person IN (SELECT person FROM visits)": "Its owner declares it: [prepare]",
    "SELECT * FROM people PIVOT (AVG(age) FOR sex IN (0, 1))": "GROUP BY both columns",
    "SELECT UNNEST([1, 2]) FROM people": "makes rows of its own. FROM names an open dataset",
    "SELECT sex, COUNT(*) FROM people GROUP BY sex WITH ROLLUP": "ROLLUP adds margins",
    "SELECT sex, MEAN(age) FROM people GROUP BY sex": "MEAN(age) is written AVG(age).",
    "SELECT SKEWNESS(age) FROM people": "is no aggregate here. There are COUNT",
    "SELECT ANY_VALUE(age) FROM people": "ANY_VALUE(age) is one person's value. Ask what is true of many",
    "SELECT AVG(age) FROM people WHERE COUNT(*) > 3": "Compare figures in HAVING.",
    "SELECT AVG(age) FROM people WHERE 30 < age < 60": "Write two conditions: 30 < age AND",
    "SELECT COUNT(*) FROM people WHERE LOWER(race) = 'black'": "Name the declared values: x IN",
    "SELECT COUNT(*) FROM lineitem WHERE shipdate > NOW()": "Write the day: DATE",
    "SELECT COUNT(*) FROM main.people": "name the dataset alone: FROM people.",
    "SELECT COUNT(*) FROM people WHERE random() < 0.1": "takes some rows and not others",
    f"SELECT COUNT(*) FROM people WHERE {CONDITIONS}": "limited to depth",
    f"SELECT {'(' * 500}1{')' * 500} FROM people": "brackets inside each other",
    f"SELECT COUNT(*) FROM people WHERE {'NOT ' * 3000}age = 1": "nested too deeply",
    f"SELECT COUNT(*) FROM people WHERE age{' + 1' * 3000} > 3": "nested too deeply",
    f"SELECT {'a' * 100_001} FROM people": "limited to 100,000 characters",
    "SELECT COUNT(*) FROM people WHERE age > 0x1F": "0x1F is no number here",
    "SELECT COUNT(*) FROM people WHERE age > 1e400": "limited to 400 digits",
    "SELECT COUNT(*) FROM people WHERE race = '{{which}}'": "write {{x}} without quotes",
    "SELECT COUNT(*) FROM people WHERE age > :wich": "Did you mean :which?",
    "SELECT COUNT(*) FROM people WHERE age > ?": ":? has no value",
    "SELECT COUNT(*) FROM people WHERE age > :table": ":table is a Dataset: a parameter is a number",
    'SELECT "\'; DROP TABLE people; --" FROM people': "people has no column '; DROP TABLE people; --.",
    "SELECT COUNT(*) FROM people WHERE age > NULL": "Write IS NULL or IS NOT NULL",
    "SELECT COUNT(*) FROM people WHERE 1 = 0": "never true",
    "SELECT COUNT(*) FROM people WHERE age > '30'": "'30' is text. Try people.age > 50. (line 1, column 35)",
    "SELECT sex, COUNT(*) FROM people GROUP BY 9": "9: SELECT has 2 columns",
    "SELECT COUNT(*) > 3 FROM people": "reads a noised figure",
    "SELECT SUM(age) + age FROM people": "age is one row's value",
    "SELECT DATE_TRUNC('decade', shipdate), COUNT(*) FROM lineitem GROUP BY 1": "are cut to a longer period",
    "SELECT COUNT(*) FROM people FOR UPDATE": "LOCKS in",
    "SELECT sum(x -> x + 1) FROM people": "is not read here",
}


@pytest.mark.parametrize("text", SAID, ids=range(len(SAID)))
def test_what_cannot_be_asked_is_told_in_words(text, capfd):
    """A dpnb error that says what and where; the library that reads prints nothing."""
    tables = handles()
    with pytest.raises(DpnbError) as error:
        [translate(one, tables, {"which": "black", "table": tables["people"]}) for one in statements(text)]
    assert SAID[text] in str(error.value)
    assert capfd.readouterr() == ("", "")


def test_hostile_names_and_comments_are_only_names():
    """What looks like another statement is a name of a column, or nothing."""
    text = 'SELECT COUNT(*) AS "<script>; DROP TABLE people" FROM people /* ; DELETE */ -- ; \' "'
    (statement,) = statements(text)
    assert translate(statement, handles(), {}).columns == ("<script>; DROP TABLE people",)


def test_without_the_reader_the_refusal_says_what_to_install(monkeypatch):
    """``pip install dpnb`` does not bring it."""
    monkeypatch.setitem(sys.modules, "sqlglot", None)
    with pytest.raises(OptionError, match=r"pip install dpnb\[sql\]"):
        dpnb.sql("SELECT COUNT(*) FROM people")

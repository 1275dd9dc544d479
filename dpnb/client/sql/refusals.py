"""What is said of SQL that is not answered, each with what to write instead; the reference page is made from these tables."""

from __future__ import annotations

_INSIDE = "A subquery inside an expression is a release of its own: m << {inner}; then write :m."
_ROWS_ORDER = "LIMIT, ORDER BY and DISTINCT on single rows would let one person decide about others. Leave them out, or filter with WHERE."
_EXTREME = "{sql} is one person's value. Ask a quantile near the end: quantile_cont({of}, 0.99); the declared bounds are public."
_ONE = "{sql} is one person's value. Ask what is true of many: AVG, MEDIAN, or MODE of declared values."
_ACROSS = '{sql} looks across tables. Its owner declares it: [prepare] x = { any = "visits.…", is = … }.'
_MADE = "{sql} makes rows of its own. FROM names an open dataset: FROM people."
_NEW_VALUE = "{sql}: one person alone can add a value. The declared values are public; which of them many rows have: .frequent_values()."
_PIVOT = "PIVOT is not read: GROUP BY both columns; .table().wide() of the answer puts one across."
_TEXT = "{sql}: texts are compared whole. Name the declared values: x IN ('…', '…'), or x LIKE 'a%'."
_SELECT = "A private cell answers one SELECT; {word} is not one."
_PREPARED = "One row of each person is made by its owner, before anybody asks: under [prepare] write "

NEVER: dict[str, str] = {
    **dict.fromkeys(
        ("union", "except", "intersect"),
        _SELECT + " Ask each SELECT by itself; released frames are stacked free.",
    ),
    **dict.fromkeys(
        ("window", "qualify"),
        "A window function ranks or accumulates single rows. Over released groups it is free: release, then use the frame.",
    ),
    **dict.fromkeys(("exists", "query"), _ACROSS),
    **dict.fromkeys(
        ("rollup", "cube", "groupingsets", "grouping"),
        "{word} adds margins of one table: ask GROUP BY the finest keys; .margin() of the answer is free.",
    ),
    **dict.fromkeys(("max", "min"), _EXTREME),
    **dict.fromkeys(("first", "last", "anyvalue", "argmax", "argmin", "ignorenulls"), _ONE),
    **dict.fromkeys(
        ("groupconcat", "arrayagg", "arrayuniqueagg", "list"),
        "{sql} shows single values. Ask how many rows have each: GROUP BY with COUNT(*).",
    ),
    **dict.fromkeys(
        ("tablesample", "sample", "fetch", "limitoptions", "rand"),
        "{sql} takes some rows and not others. Leave it out: noise hides each person already.",
    ),
    "into": "An answer gets its name in front: {of} << SELECT …",
    "escape": "ESCAPE is not read: name the values, x IN ('…', '…').",
    **dict.fromkeys(("pivot", "pivots"), _PIVOT),
    "method": "{sql}: say by which column. A declared second table is joined by the one that names people: JOIN visits USING (person).",
    "recursive": "RECURSIVE makes new rows of earlier ones. WITH takes a SELECT of declared rows: leave RECURSIVE out.",
    "lateral": "LATERAL looks at one person's row at a time. Write its expression in the SELECT; of a second table the owner declares it under [prepare].",
    **dict.fromkeys(("unnest", "explode", "generateseries", "readcsv", "readparquet", "values"), _MADE),
    **dict.fromkeys(("db", "catalog"), "{sql}: name the dataset alone: FROM {of}."),
    "histogram": "{sql}: GROUP BY FLOOR({of} / 10) * 10 with COUNT(*).",
    **dict.fromkeys(("similarto", "regexplike", "glob", "startswith", "contains"), _TEXT),
    **dict.fromkeys(("upper", "lower", "length", "concat", "dpipe", "substring", "trim"), _TEXT),
    **dict.fromkeys(
        ("currentdate", "currenttimestamp", "currenttime", "localtimestamp", "now"),
        "{sql} changes from run to run, so that nothing would be stored. Write the day: DATE '2021-03-01', or :day.",
    ),
    "mean": "{sql} is written AVG({of}).",
    **dict.fromkeys(("isnull", "nvl"), "{sql} is written COALESCE({of}, …)."),
    "timetostr": "{sql} is a text. GROUP BY DATE_TRUNC('month', {of}).",
    **dict.fromkeys(
        ("round", "trunc"), "{sql} of a single row: write FLOOR(x / k) * k, which means one thing."
    ),
    "approxdistinct": _NEW_VALUE,
    **dict.fromkeys(("any", "all"), _ACROSS),
    "subquery": _INSIDE,
    "distinct": "SELECT DISTINCT lists values that rows have. Declared values are public; how many rows have each: GROUP BY with COUNT(*).",
}
"""Of kinds of nodes that are never read, or that are read in some places alone."""

SAID: dict[str, str] = {
    "a select": _SELECT,
    "sqlglot": "SQL is read by sqlglot, which is not installed here: pip install dpnb[sql]",
    "too deep": "This statement is nested too deeply. Write it as several.",
    "part": "{part} in {sql} is not read here: leave it out.",
    "node": "{sql} is not read here. SELECT takes aggregates, GROUP BY, HAVING, ORDER BY, LIMIT, WITH and JOIN by the unit.",
    "function": "{sql} is not in the column language. It has + - * / // %, CASE, COALESCE, GREATEST, LEAST, ABS, FLOOR and parts of dates.",
    "rows": "SELECT * shows rows, and no row leaves. Ask aggregates: SELECT COUNT(*), AVG({column}) FROM {table}.",
    "aggregate": "{sql} is no aggregate here. There are COUNT, SUM, AVG, VARIANCE, STDDEV, MEDIAN, QUANTILE_CONT, MODE, CORR, COVAR_POP and REGR_SLOPE.",
    "figure in row": "{sql} is a figure, and here single rows are read. Compare figures in HAVING.",
    "chain": "{sql} compares a condition with a number. Write two conditions: {of} AND …",
    "one row": "{sql} is one row's value. Aggregate it, or group by it: GROUP BY {sql}.",
    "rows order": _ROWS_ORDER,
    "no table": "Name the dataset: SELECT … FROM {name}.",
    "unit": "{unit} names people. It can be counted, COUNT(DISTINCT {unit}), and nothing else.",
    "people": "How many people have such a row is not asked of single rows: of each person dpnb would have to look at all. Its owner declares "
    '[prepare] x = { any = "…", is = … }; COUNT(DISTINCT {unit}) without WHERE and GROUP BY works.',
    "new value": _NEW_VALUE,
    "equal values": "{sql} leaves out equal values of different people, so that one person's row depends on others'.",
    "of an aggregate": "{sql}: an aggregate of an aggregate. Release the inner one; .sum() and .mean() of the answer are free.",
    "by person alone": "{said} is joined by the column that names people, and without a side: JOIN {name} USING ({unit}).",
    "another table": "{said} is not a declared second table of {whole}: a row that met many people's rows would let one person change what is asked "
    "of others. Declare [source.{name}], or join before you declare.",
    "left": "A LEFT or second JOIN of {said} counts people without rows too: join it once, without LEFT.",
    "second table": "{sql} is of the rows of {source}, of which SUM, AVG and COUNT(*) are asked. Of what else is taken of them, a line of [prepare] "
    'makes a column: x = { any = "{source}.…", is = … }.',
    "repeated": "{sql}: the join repeats each person for every row of {source}, of which SUM, AVG and COUNT(*) are asked. Ask this without the JOIN.",
    "prepare": _PREPARED + '{name} = { {take} = "{cells}", upper = … }. Then ask the column.',
    "prepare any": _PREPARED
    + 'x = { sum = "…", upper = … }, or count, mean, any, latest. Then ask the column.',
    "by person": "Rows by person are made before anybody asks: GROUP BY {unit} alone, and WHERE outside.",
    "by zero": "{sql} divides by zero.",
    "by column": "{sql}: division by a column could fail in some row. Divide by a constant, or divide two aggregates.",
    "toward zero": "{sql}: of negative numbers DuckDB cuts toward zero and dpnb goes down. Write FLOOR(x / k), which means one thing.",
    "by whole": "{sql}: divide whole numbers by a whole number above zero, or write FLOOR(x / k).",
    "no else": "{sql} is NULL in some rows, and so is what is made of it here. Give its CASE an ELSE.",
    "null": "NULL is compared with IS NULL, and stands in CASE … ELSE NULL. Nowhere else has it a value.",
    "never true": "{sql} is never true. Write IS NULL or IS NOT NULL.",
    "null in": "{sql}: leave NULL out of IN; add OR x IS NULL.",
    "is": "{sql}: IS goes with NULL, TRUE and FALSE.",
    "two kinds": "{sql} compares a text with a number.",
    "no condition": "{sql} is not a condition. Compare it: {sql} = …",
    "text": "{sql}: a text has no arithmetic.",
    "like": "{sql}: LIKE is over declared values. Compare a text that nobody listed with =, or ask .frequent_values().",
    "date": "{text} is not a date: write DATE '2021-03-01'.",
    "interval": "{sql} stands beside a date, in whole numbers: DATE '1998-12-01' - INTERVAL 90 DAY.",
    "step": "{sql}: a date column moves by its own step, such as INTERVAL 3 DAY; a constant date by DAY, WEEK, MONTH, QUARTER or YEAR.",
    "date part": "{text} is no part of a date here: year, quarter, month, dow, isodow, hour.",
    "date difference": "{sql}: two dates have a difference in days; two columns also in months, quarters and years.",
    "truncated": "{sql} is a key: GROUP BY it. To filter, write d >= DATE '…' AND d < DATE '…'.",
    "period": "{sql}: dates by day or hour are cut to a longer period, week, month, quarter or year; months to quarter or year.",
    "power": "{sql}: of a row there is the square; write x * x * x for a cube.",
    "cast": "{sql} rounds, or changes what is read. Leave the cast out, or write FLOOR(x).",
    "cast figure": "{sql} rounds a figure: write ROUND(x, 2), of which both intervals follow.",
    "constant": "{sql}: {what} is a constant.",
    "quantile": "{sql}: which quantile is a number between 0 and 1, of one column.",
    "needs a column": "{sql} needs a column.",
    "same": "{sql}: this is {number} in every row, whatever the data are, which needs no release. COUNT(*) asks how many rows.",
    "filter": "{sql}: FILTER goes with an aggregate.",
    "key of figure": "{sql} is a figure, and groups are made before it.",
    "place": "{sql}: SELECT has {size} columns.",
    "whole number": "LIMIT and OFFSET take a whole number.",
    "figure": "{sql}: of figures there are + - * /, ROUND, POWER, SQRT, LN, EXP and ABS. Compute others from .to_frame().",
    "read": "{sql} reads a noised figure: HAVING does, or WHERE of an outer SELECT; or compute it from .to_frame().",
    "of figures": "{sql}: an aggregate of released figures. Release the inner SELECT; .sum() and .mean() of the answer are free.",
    "outside": "Over released rows there are WHERE, ORDER BY and LIMIT: join and group their .to_frame().",
    "names no table": "{sql} is no table here. Name an open dataset: FROM people.",
    "no such table": "{table} is no table of this SELECT: it has {names}.",
    "parameter": ":{name} has no value. {hint}",
    "pending": ":{name} is pending: release it in a cell above, then write :{name}.",
    "several": ":{name} is {size} numbers: take one of them in Python first.",
    "no constant": ":{name} is a {kind}: a parameter is a number, a text, a date or a released estimate.",
}
"""By name: what :func:`~dpnb.client.sql.reader.fail` says; parts in braces are filled in."""

_SHOWN = " %dp sql people shows what people has: columns and declared values."
INSTEAD: dict[str, str] = {
    **dict.fromkeys(("SHOW", "DESCRIBE", "DESC", "SUMMARIZE", "PRAGMA"), _SHOWN),
    **dict.fromkeys(
        ("PIVOT", "UNPIVOT"), " GROUP BY both columns; .table().wide() of the answer puts one across."
    ),
    "EXPLAIN": " What it would cost, and how accurate it would be: %%dp sql plan epsilon=1.",
    "=": " An answer gets its name by two arrows: pay << SELECT …",
}
"""What to write instead of another statement, by its first word; ``=`` for an assignment."""

QUOTED = ("ANY", "ALL", "SOME")
"""Keywords that are columns elsewhere: in double quotes they are columns here too."""

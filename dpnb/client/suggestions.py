"""What to write instead of a name that a column or a dataset does not have: the words of other libraries, and typing errors.

Nothing here asks anything. A name that would need rows, or that has no proof on protected data, is refused with the nearest question
that can be asked.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from dpnb.planner.dates import PERIODS
from dpnb.trusted.schema import nearest

_NO_ROWS = "a handle holds no rows"
_ROWS = ("values", "to_numpy", "to_list", "tolist", "to_pandas")
_FIRST = f"{_NO_ROWS}, and no row may be shown. What each column may hold is public: {{whole}}.schema"
_SAMPLE = f"{_NO_ROWS} to draw from. Ask about all of them, and the noise hides each person"
_FILE = "there are no rows here to write. Release an answer and write that: {asked}, then .to_csv(…)"
_TEXT = (
    'texts are not changed here. Declared values are compared as they are: {it} == "…", {it}.isin(["…"]); '
    "{it}.value_counts() asks how many have each"
)


def _of_rows(asked: str, column: str) -> dict[str, str]:
    """What to say of each word of pandas that needs rows; `asked` is a question about all of them."""
    place = f"rows have no positions here. Choose them by a condition: {{whole}}[{column} > 1]"
    return {
        **dict.fromkeys(_ROWS, f"{_NO_ROWS}. Ask about all of them: {asked}"),
        **dict.fromkeys(("head", "tail"), _FIRST),
        "sample": f"{_SAMPLE}: {asked}",
        **dict.fromkeys(
            ("to_csv", "to_parquet", "to_excel", "to_json", "to_dict"), _FILE.replace("{asked}", asked)
        ),
        **dict.fromkeys(("iloc", "loc", "at", "iat", "index", "take"), place),
        "shape": "the number of rows may be private, so it is a question: {whole}.count(). The columns are public: {whole}.columns",
    }


_MODELS = ("regression", "regress", "linear_regression", "linregress", "lm", "lstsq", "polyfit", "fit", "OLS")

_COLUMN = {
    **dict.fromkeys(_MODELS, 'a model is fitted to the dataset, by its formula: .ols("y ~ x + z")'),
    **_of_rows("{it}.histogram()", "{it}"),
    "item": f"{_NO_ROWS}. Ask about all of them: {{it}}.mean(), {{it}}.histogram()",
    **dict.fromkeys(("str", "cat"), _TEXT),
    "dt": 'it is declared without dates. With type = "date" in the schema, {it}.year and {it}.month can be asked',
    "bootstrap": (
        "resampling protected data costs more than the literature says. Ask {it}.mean(): its interval is proven and narrower; on "
        "arrays, see dpnb.inference.resampling"
    ),
    **dict.fromkeys(
        ("min", "max", "ptp"),
        "the smallest and the largest value are one person's. Ask {it}.quantile([0.01, 0.99]); the declared bounds are public",
    ),
    "hist": "ask {it}.histogram()",
    **dict.fromkeys(
        ("unique", "nunique"), "declared values are public, others are not shown. Ask {it}.value_counts()"
    ),
    **dict.fromkeys(
        ("apply", "map", "transform", "pipe"),
        "a function of rows cannot be bounded. Write the expression: arithmetic, comparisons, .clip(), .isin(), .where()",
    ),
    **dict.fromkeys(
        ("fillna", "dropna"), "the owner's schema says what missing means. Filter with {it}.isna()"
    ),
    "isnull": "ask {it}.isna()",
    **dict.fromkeys(("notna", "notnull"), "ask ~{it}.isna()"),
    "plot": "ask {it}.histogram(), release it, and plot the answer",
    "astype": "its type is declared in the schema: {it}.column",
    **dict.fromkeys(("ttest", "t_test", "z_test"), 'ask {it}.difference(by="…") and then .test()'),
    "sem": "ask {it}.mean(): its interval and .standard_error come with it",
    "aggregate": 'ask {it}.agg(["mean", "std"])',
    "dtype": "its declaration is public: {it}.column",
    "size": "ask {it}.count()",
    "sort_values": f"{_NO_ROWS}. Ask {{it}}.quantile([0.1, 0.5, 0.9])",
    "nlargest": "single values are single persons. Ask {it}.quantile(0.99), or {it}.top_k(3) of a category",
}
_COLUMN |= {"nsmallest": _COLUMN["nlargest"]}

_DATASET = {
    **_of_rows("{it}.count()", "{it}.x"),
    **dict.fromkeys(
        ("iterrows", "itertuples", "items"), f"{_NO_ROWS}. Ask about all of them: {{it}}.count()"
    ),
    **dict.fromkeys(
        ("match", "matching", "propensity"),
        'pairs of protected rows are not offered. Compare within groups: {it}.groupby("…")["…"].difference(by="…"); on arrays, see '
        "dpnb.inference.matching",
    ),
    "bootstrap": (
        'resampling protected data costs more than the literature says. Ask {it}["…"].mean(): its interval is proven and narrower; on '
        "arrays, see dpnb.inference.resampling"
    ),
    "info": "what is public is in {it}.schema; {it}.describe() asks the rest, a question for each figure",
    "dtypes": "what the columns are declared is in {it}.schema.columns",
    **dict.fromkeys(("query", "filter"), 'filter with a condition: {it}[{it}["…"] > 1]'),
    **dict.fromkeys(
        ("merge", "join", "concat"),
        "one dataset is asked at a time; its owner joins tables before it is opened",
    ),
    **{
        name: f'name the column: {{it}}["…"].{name}()'
        for name in ("mean", "median", "std", "sum", "var", "value_counts")
    },
    "aggregate": 'ask {it}.agg({{"…": ["mean", "std"]}})',
    "apply": 'ask a question for each figure: {it}["…"].mean()',
    **dict.fromkeys(("quantile", "min", "max"), 'name the column: {it}["…"].quantile([0.01, 0.5, 0.99])'),
    **dict.fromkeys(("nunique", "unique"), 'name the column: {it}["…"].value_counts()'),
    **dict.fromkeys(("hist", "plot"), 'ask {it}["…"].histogram(), release it, and plot the answer'),
    **dict.fromkeys(
        ("fillna", "dropna", "isna", "isnull", "notna", "notnull"),
        'the owner\'s schema says what missing means. Filter with {it}["…"].isna()',
    ),
    **dict.fromkeys(
        ("assign", "drop", "rename", "sort_values", "astype", "drop_duplicates"),
        'a handle holds no table to change. Write the expression where it is asked: ({it}["…"] * 2).mean()',
    ),
    **dict.fromkeys(_MODELS, 'fit a model by its formula: {it}.ols("y ~ x + z")'),
    "size": "ask {it}.count()",
    "power": "plan a study with dpnb.power(…)",
}

_LOSS = 'a loss is given to the cell or to the release: %%dp epsilon=1, or dpnb.release({"m": …}, epsilon=1)'
_PUBLIC_BUDGET = "the owner's schema declares the budget, under [budget]"
_CALL = {
    "ddof": "its divisor is the number of rows, as with ddof=0",
    "axis": "a column has one axis",
    "density": "ask .density()",
    **dict.fromkeys(
        ("skipna", "dropna", "na"),
        "the owner's schema says what missing means; rows without a value are counted by .isna().sum()",
    ),
    **dict.fromkeys(("epsilon", "rho", "eps", "within"), _LOSS),
    **dict.fromkeys(("seed", "rng", "random_state"), "noise on protected data has no seed"),
    "sort": "the order is the declared one; .top_k(3) asks the most frequent values",
    "as_index": "the keys are its axes",
    "by": 'name the groups first, without by=: .groupby("…") of the dataset',
    "level": "ask first, then .interval(0.9) of the answer",
}
_ACT = {
    "delta": "δ belongs to the budget, which the owner's schema declares, or to one question: .frequent_values(delta=1e-8)",
    "eps": "write epsilon=",
    "seed": "noise on protected data has no seed",
}
_OPEN = dict.fromkeys(("epsilon", "rho", "delta", "eps", "budget"), _PUBLIC_BUDGET)


def for_argument(name: str, spoken: str, offered: Iterable[str], given: object = None) -> str:
    """Return what to say of a named argument that a call does not take, and of the value that it was given.

    Examples
    --------
    >>> for_argument("ddof", "hiv.age.std", ())
    'hiv.age.std() takes no ddof=: its divisor is the number of rows, as with ddof=0.'
    >>> for_argument("by", "hiv.age.mean", (), "any")
    'hiv.age.mean() takes no by=: group the rows first: hiv.groupby("any").age.mean().'
    """
    if name == "by" and isinstance(given, str) and (found := _grouped(spoken, given)):
        return f"{spoken}() takes no by=: {found}."
    table = _OPEN if spoken == "dpnb.open" else _ACT if spoken.startswith("dpnb.") else _CALL
    if name in table:
        return f"{spoken}() takes no {name}=: {table[name]}."
    known = tuple(offered)
    close = nearest(name, known)
    if close:
        return f"{spoken}() takes no {name}=. Did you mean {close}=?"
    listed = ", ".join(f"{one}=" for one in known)
    return f"{spoken}() takes no {name}=. It takes {listed or 'no options'}."


def _grouped(spoken: str, given: str) -> str:
    """What asks a question of a column by groups, or a histogram by periods; nothing where neither can be told."""
    handle, _, asked = spoken.rpartition(".")
    if asked == "histogram" and given in PERIODS:
        return f'for dates, write the period alone: {spoken}("{given}")'
    dataset, _, column = handle.rpartition(".")
    whole = dataset and column.isidentifier() and not dataset.startswith("(")
    return f'group the rows first: {dataset}.groupby("{given}").{column}.{asked}()' if whole else ""


def for_column(name: str, spoken: str, offered: Iterable[str]) -> str:
    """Return what to say of a method that a column does not have.

    Examples
    --------
    >>> for_column("hist", "hiv.age", [])
    'hiv.age has no .hist: ask hiv.age.histogram().'
    """
    return _said(name, spoken, _COLUMN, offered)


def for_dataset(name: str, spoken: str) -> str | None:
    """Return what to say of a name that is neither a column nor a method of a dataset; None where nothing is known of it."""
    return None if name not in _DATASET else _said(name, spoken, _DATASET, ())


def _said(name: str, spoken: str, table: dict[str, str], offered: Iterable[str]) -> str:
    if name in table:
        whole = re.findall(r"\w+", spoken)[0] if table is _COLUMN else spoken
        return f"{spoken} has no .{name}: {table[name].format(it=spoken, whole=whole)}."
    public = tuple(sorted(word for word in offered if not word.startswith("_")))
    close = nearest(name, public)
    hint = (
        f"Did you mean .{close}?"
        if close
        else "Ask .mean(), .quantile(0.5), .histogram(); %dp statistics lists all."
    )
    return f"{spoken} has no .{name}. {hint}"

"""Formulas as people write them: squares, products, conditions and factors, against statsmodels without noise; prediction."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import dpnb
from dpnb.errors import DpnbError, OptionError, SchemaError
from dpnb.statistics.formula import parse
from dpnb.statistics.formula_terms import spelling
from tests.examples import mostly_long
from tests.statistics.test_regression import BETA, fitted, people

LEVELS = {"g": ["n", "s", "w"], "k": [1, 2], "two words": [1, 2]}


@pytest.mark.parametrize(
    ("formula", "terms"),
    [
        ("y ~ a*b*c", ("a", "b", "c", "a:b", "a:c", "b:c", "a:b:c")),
        ("y ~ I(a*b) + a", ("a*b", "a")),
        ("y ~ a + a**2 + (b == -1)", ("a", "a**2", "b == -1")),
        ("y ~ a*b + a + 1", ("a", "b", "a:b")),
        ("y ~ C(g)", ("g == 's'", "g == 'w'")),
        ("y ~ C(g)*a", ("g == 's'", "g == 'w'", "a", "(g == 's'):a", "(g == 'w'):a")),
        ("y ~ C(k):C(g)", ("(k == 2):(g == 's')", "(k == 2):(g == 'w')")),
        ("y ~ a.isin([1, 2]) + I(a + b)", ("a.isin([1, 2])", "a + b")),
        ("(y > 3) ~ 1", ()),
        ("y ~ `No-show`*a + C(`g`)", ("`No-show`", "a", "`No-show`:a", "g == 's'", "g == 'w'")),
        ("`no ~ show` ~ Q('a+b') - 1", ("Q('a+b')",)),
        ("y ~ C(s['two words'])", ("`two words` == 2",)),
    ],
)
def test_a_formula_falls_apart_at_its_top_alone(formula: str, terms: tuple[str, ...]) -> None:
    """Terms as they were written; in one spelling the formula says the same."""
    found = parse(formula, LEVELS.__getitem__)
    assert found.terms == terms
    assert parse(found.text) == found


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("y ~ a + I(a)", "twice"),
        ("y ~ a*y", "twice"),
        ("y ~ a:b + b*a + a:b", "twice"),
        ("y ~ a - b", "write I(a - b)"),
        ("y ~ -1", "something else must explain y"),
        ("y ~ a - b", "removes nothing here"),
        ("y ~ C(g)", "declared levels of g"),
        ("y ~ a ~ b", "Write for example"),
    ],
)
def test_what_is_no_formula_is_refused(formula: str, words: str) -> None:
    """In a sentence that names what to write."""
    with pytest.raises(OptionError, match=words.replace("(", r"\(").replace(")", r"\)")):
        parse(formula)


@pytest.mark.parametrize(
    "same",
    [
        ("a**2", "I(a ** 2)", "(d.a * d.a)", "a*a", "a:a"),
        ("a:b", "b:a", "d.b * d.a", "(b*a)"),
        ("(d.a == 1)", "a == 1", "a == 1.0"),
        ("a.isin([1])", "d.a.isin([1])"),
        ('d["two words"]', "d['two words']", "`two words`", "Q('two words')", "two words"),
        ("`two words`**2", "d['two words'] * Q('two words')"),
        ("(a == 1):b:c", "c*(b*(a == 1))"),
    ],
)
def test_one_column_has_one_spelling(same: tuple[str, ...]) -> None:
    """However it is written, and with the dataset's name or without."""
    assert len({spelling(one) for one in same}) == 1


def test_other_columns_have_other_spellings() -> None:
    """What differs in a number, an order that counts, or a bracket is another column."""
    others = [
        "a - b",
        "b - a",
        "a == 1",
        "a == 2",
        "a**2",
        "a",
        "a + b",
        "a*b",
        "(a + b)*c",
        "a + b*c",
        "a.isin([1])",
        "a.isin([2])",
    ]
    assert len({spelling(one) for one in others}) == len(others)


@pytest.fixture
def frame() -> dict[str, Any]:
    """An income of age, sex and region."""
    rng = np.random.default_rng(1)
    n = 4000
    age, sex, region = rng.integers(18, 91, n), rng.integers(0, 2, n), rng.choice(["n", "s", "w"], n)
    income = 900 * age - 7 * age**2 + 40 * sex * age + 2000 * (region == "w") + rng.integers(-9000, 9001, n)
    frame = {"age": age, "sex": sex, "region": region, "income": np.clip(income, 0, 10**5).astype(int)}
    return {**frame, "No-show": sex + (region == "w"), "Home region": region}


SCHEMA = {
    "dataset": {"name": "pay", "adjacency": "change-one", "rows": 4000, "unit": "row"},
    "budget": {"epsilon": 10**9},
    "columns": {
        "age": {"type": "integer", "lower": 18, "upper": 90},
        "sex": {"type": "integer", "lower": 0, "upper": 1},
        "region": {"type": "category", "values": ["n", "s", "w"]},
        "income": {"type": "integer", "lower": 0, "upper": 10**5},
        "No-show": {"type": "integer", "lower": 0, "upper": 2},
        "Home region": {"type": "category", "values": ["n", "s", "w"]},
    },
}

FORMULAS = {
    "income ~ age + age**2 + sex": "income ~ age + I(age**2) + sex",
    "income ~ sex*age + C(region)": "income ~ sex*age + C(region)",
    "income ~ C(region)*sex + (age > 40)": "income ~ C(region)*sex + I(1.0*(age > 40))",
    "income ~ C(sex) + I(age - 40)": "income ~ C(sex) + I(age - 40)",
    "(income > 20000) ~ age:sex": "I(1.0*(income > 20000)) ~ age:sex",
    "income ~ age + sex - 1": "income ~ age + sex - 1",
    "income ~ 0 + C(region) + age": "income ~ C(region) + age - 1",
    "income ~ `No-show`**2 + C(`Home region`)": "income ~ I(Q('No-show')**2) + C(Q('Home region'))",
    "Q('No-show') ~ age + C(pay['Home region'])": "Q('No-show') ~ age + C(Q('Home region'))",
}


def test_a_dataset_regresses_like_statsmodels_on_each_of_them(dpnb_home: Any, frame: dict[str, Any]) -> None:
    """Asked in one line, with hardly any noise: the same predictions, R² and number of coefficients."""
    smf, pd = pytest.importorskip("statsmodels.formula.api"), pytest.importorskip("pandas")
    rows = pd.DataFrame(frame)
    pay = dpnb.open(rows, schema=SCHEMA, quiet=True)
    at = {"age": np.array([20, 50, 90]), "sex": np.array([0, 1, 1]), "region": np.array(["n", "w", "s"])}
    at |= {"No-show": np.array([0, 1, 2]), "Home region": np.array(["n", "w", "s"])}
    fits = {mine: pay.ols(mine) for mine in FORMULAS}
    dpnb.release(fits, epsilon=10**8)
    for mine, theirs in FORMULAS.items():
        wanted = smf.ols(theirs, rows).fit()
        assert len(fits[mine].params.value) == len(wanted.params), mine
        found = fits[mine].predict(at)
        scale = float(np.std(wanted.fittedvalues))
        np.testing.assert_allclose(
            found.value, wanted.predict(pd.DataFrame(at)), atol=2e-3 * scale, err_msg=mine
        )
        if (
            not wanted.k_constant or wanted.model.data.const_idx is not None
        ):  # else statsmodels finds a constant among the levels; R does not
            assert fits[mine].rsquared == pytest.approx(wanted.rsquared, abs=1e-3)
    with pytest.raises(OptionError, match=r"region is declared .*: it has no value 'x'"):
        fits["income ~ sex*age + C(region)"].predict({**at, "region": "x"})
    square = fits["income ~ age + age**2 + sex"]
    with pytest.raises(
        OptionError, match=r"age is declared 18 to 90: no row lies at 91\. .*extrapolate=True"
    ):
        square.predict(age=[20, 91], sex=1)
    assert (
        square.predict(age=91, sex=1, extrapolate=True).value
        > square.predict(age=17.9, sex=0, extrapolate=True).value
    )
    assert square["I(age ** 2)"].value == square["age**2"].value == square.params.value[2]


@pytest.mark.parametrize("name", ["pay", "my-pay.2"])
def test_moments_of_expressions_serve_every_formula_on_them_free(
    dpnb_home: Any, frame: dict[str, Any], name: str
) -> None:
    """Charged once; then named in formulas, means and ols() of the dataset in any spelling, whatever it is called; others name what is held."""
    pd = pytest.importorskip("pandas")
    schema = SCHEMA | {"dataset": SCHEMA["dataset"] | {"name": name}}
    pay = dpnb.open(pd.DataFrame(frame), schema=schema, quiet=True)
    held = pay.moments("income", pay.age, pay.age**2, pay.region == "w")
    dpnb.release({"held": held}, epsilon=10**6)
    spent = pay.budget.spent
    fit = held.ols("income ~ age + I(age**2) + (region == 'w')")
    assert held.mean("age**2").value == pytest.approx(np.mean(frame["age"] ** 2), rel=1e-3)
    assert fit["age**2"].value == pytest.approx(-7, abs=1)
    again = pay.ols("income ~ age**2 + (region == 'w')")
    assert not again.pending
    assert pay.budget.spent == spent
    name = name.replace("-", "_").replace(".", "_")  # as it can be typed
    assert held.text.startswith(f"{name}.moments(")
    with pytest.raises(
        SchemaError,
        match=rf"'sex' is not in these moments\. They hold income, age, \({name}\.age \* {name}\.age\)",
    ):
        held.ols("income ~ sex")
    assert pay.ols("income ~ C(region) + age").pending


@pytest.mark.parametrize(
    ("formula", "words"),
    [
        ("income ~ agee", "Did you mean age?"),
        ("income ~ log(age)", "A formula has no log"),
        ("income ~ age**3", "x \\* x \\* x"),
        ("income ~ C(income)", "at most 50 declared values"),
        ("income ~ C(nope)", "no column nope"),
        ("income ~ age +* sex", "is neither a column nor an expression"),
        ("income ~ age / sex", "non-zero constant"),
        ("income ~ 3 + age", "3 is a constant"),
        ("income ~ __import__('os')", "A formula has no __import__"),
    ],
)
def test_a_term_that_is_none_is_refused_on_its_line(
    dpnb_home: Any, frame: dict[str, Any], formula: str, words: str
) -> None:
    """By name, before anything is asked."""
    pay = dpnb.open({name: list(column) for name, column in frame.items()}, schema=SCHEMA, quiet=True)
    with pytest.raises(DpnbError, match=words):
        pay.ols(formula)


def test_names_of_statsmodels_and_forms_for_a_paper() -> None:
    """The same numbers under both names; a table, text, HTML and LaTeX; what cannot be known is refused in words."""
    fit = fitted(people(np.random.default_rng(4), 2000), 2000, ("rho", 5), "y ~ x1 + x2")
    low, high = fit.interval(0.9)
    np.testing.assert_array_equal(fit.conf_int(alpha=0.1), np.column_stack([low, high]))
    np.testing.assert_array_equal(fit.bse, fit.standard_errors)
    np.testing.assert_array_equal(fit.tvalues, fit.t_values)
    np.testing.assert_array_equal(fit.pvalues, fit.p_values)
    assert fit.rsquared == fit.r_squared
    table = fit.table()
    assert table.columns["std_err"] == tuple(fit.bse)
    assert table.columns["value"] == tuple(fit.params.value)
    latex = fit.summary().as_latex()
    assert latex.count(r"\\") == 4
    assert r"$\leq$ 0.002" in latex
    assert "\\toprule\n & coef & std err" in latex
    assert fit.summary().as_text() == repr(fit.summary())
    assert "<table>" in fit.summary().as_html()


POINT = {"x1": 0.5, "x2": -1.0}
MEAN = BETA @ (1.0, *POINT.values())


def missed(n: int, loss: tuple[str, Any], times: int) -> dict[str, int]:
    """How often each interval of a prediction missed: the mean of the population, and what the rows without noise predict."""
    found = {"confidence": 0, "privacy": 0}
    for seed in range(times):
        raw = people(np.random.default_rng(1000 + seed), n)
        fit = fitted(raw, n, loss, "y ~ x1 + x2")
        design = np.column_stack([np.ones(n), raw["x1"], raw["x2"]])
        exact = np.linalg.lstsq(design, raw["y"], rcond=None)[0] @ (1.0, *POINT.values())
        for kind, truth in (("confidence", MEAN), ("privacy", exact)):
            low, high = fit.predict(POINT).interval(0.95, kind)
            found[kind] += not low <= truth <= high
    return found


@pytest.mark.parametrize(
    ("n", "loss", "times", "most"),
    mostly_long(
        [
            (1000, ("rho", "0.5"), 40, 6),
            (1000, ("rho", "0.5"), 1000, 82),
            (3000, ("epsilon", 3), 1000, 82),
            (5000, ("rho", "0.1"), 1000, 82),
        ],
        (1000, ("rho", "0.5"), 40, 6),
    ),
)
def test_predictions_are_covered(n: int, loss: tuple[str, Any], times: int, most: int) -> None:
    """A binomial law of 5 % allows more than 6 of 40 once in 70; of 1,000, one point for second-order terms and three standard errors."""
    for kind, count in missed(n, loss, times).items():
        assert count <= most, kind


def test_a_prediction_asks_for_what_it_needs() -> None:
    """A missing column is named; a term may be given itself; arrays and numbers go together; lost fits are unbounded."""
    raw = people(np.random.default_rng(4), 3000)
    fit = fitted(raw, 3000, ("rho", 5), "y ~ x1 + x2")
    with pytest.raises(OptionError, match="needs a value of x2: write x2=…"):
        fit.predict(x1=1)
    with pytest.raises(OptionError, match="arrays of one length"):
        fit.predict(x1=[1, 2, 3], x2=[1, 2])
    with pytest.raises(OptionError, match="cannot compute x1 from these values"):
        fit.predict(x1="a", x2=1)
    both = fit.predict(x1=[0, 1, 2], x2=0.5)
    assert both.shape == (3,)
    assert both.value[1] == fit.predict({"x1": 1, "x2": 0.5}).value
    lost = fitted(people(np.random.default_rng(4), 100), 100, ("rho", "0.01"), "y ~ x1 + x2")
    for kind in ("privacy", "confidence"):
        for found in (lost.predict(x1=1, x2=0), lost["x1"] + lost["x2"], lost.predict(x1=0.01, x2=-0.01)):
            assert tuple(found.interval(0.95, kind)) == (-np.inf, np.inf)

"""Models read from released tables and moments: right where there is no noise to speak of, priced as questions, and free the second time."""

from __future__ import annotations

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression as TheirLogistic
from sklearn.linear_model import Ridge as TheirRidge
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

import dpnb
from dpnb import models
from dpnb.errors import HandleError, OptionError, PendingError, Unavailable
from dpnb.models import (
    PCA,
    CategoricalNB,
    DecisionTree,
    Forest,
    GaussianNB,
    KMeans,
    LinearRegression,
    LogisticRegression,
    Ridge,
    StandardScaler,
    bayes,
    classify,
)
from tests.curator import small

RAW = small.rows()
KNOWN = ~np.isnan(RAW["y"])
ROWS = {name: column[KNOWN] for name, column in RAW.items()}
X = np.column_stack([ROWS["x"], ROWS["g"]])
FRAME = {"x": ROWS["x"], "g": ROWS["g"].astype(int)}
FORMULA = "y ~ x + g"


@pytest.fixture
def people(session, dpnb_home):
    """The small dataset at an ε that leaves hardly any noise."""
    return small.opened(session, dpnb_home, epsilon=10**6)


def released(model, people, formula=FORMULA, epsilon=10**4):
    """A model after the release of its cell."""
    with dpnb.spend(epsilon=epsilon):
        found = model.fit(people, formula)
        assert found.pending
        with pytest.raises(PendingError):
            found.predict(X)
    return found


@pytest.mark.parametrize("make", [CategoricalNB, GaussianNB, DecisionTree, Forest, LinearRegression, Ridge])
def test_a_model_of_a_handle_without_noise_is_that_of_the_rows(people, make):
    """Fitted by a release at ε 10⁴, a model says of rows of one's own what the same model fitted to the rows says."""
    options = {"bins": {"x": [0, 3, 6, 10]}} if make in (CategoricalNB, DecisionTree, Forest) else {}
    model, own = released(make(**options), people), make(**options).fit(FRAME, ROWS["y"])
    say = (lambda one: one.predict_proba(X)) if model.kind == "classifier" else (lambda one: one.predict(X))
    assert np.allclose(say(model), say(own), atol=0.01)
    assert model.score(X, ROWS["y"]) == pytest.approx(own.score(X, ROWS["y"]), abs=0.02)


def test_coefficients_are_those_of_maximum_likelihood_and_of_scikit_learn(people):
    """Off a table of all values the logistic curve is that of the rows; ridge agrees with scikit-learn's."""
    table = people.crosstab("x", "g", "y")
    moments = people.moments("x", "g", "y")
    dpnb.release([table, moments], epsilon=10**4)
    theirs = TheirLogistic(C=1e9, tol=1e-9).fit(X, ROWS["y"])
    ours = LogisticRegression().fit(table, FORMULA)
    assert np.allclose(ours.coef_, theirs.coef_, atol=0.01)
    assert np.allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=0.01)
    ridge = Ridge(5.0).fit(moments, FORMULA)
    assert np.allclose(ridge.coef_, TheirRidge(5.0).fit(X, ROWS["y"]).coef_, atol=0.01)
    low, high = ridge["x"].interval(0.95, "privacy")
    assert low <= ridge.coef_[0] <= high
    with pytest.raises(Unavailable, match="privacy interval alone"):
        ridge["x"].interval(0.95, "confidence")
    discriminant = LogisticRegression().fit(moments, FORMULA)
    assert np.allclose(
        discriminant.coef_, LogisticRegression("discriminant").fit(X, ROWS["y"]).coef_, atol=0.01
    )


def test_a_second_model_from_the_same_answers_charges_nothing(people):
    """Seven models of two answers are paid as the two answers."""
    first = released(DecisionTree(bins={"x": [0, 5, 10]}), people)
    moments = released(LinearRegression(), people)
    spent = people.budget.spent
    table = first.answers[0]
    for other in (CategoricalNB(), GaussianNB(), LogisticRegression(), Forest(trees=3)):
        assert np.isfinite(other.fit(table, FORMULA).predict_proba(X)).all()
    KMeans(2).fit(table, "x + g")
    for other in (Ridge(), LogisticRegression("discriminant")):
        other.fit(moments.answers[0], FORMULA)
    PCA(1).fit(moments.answers[0])
    assert people.budget.spent == spent


def test_gaussian_naive_bayes_reads_the_tables_of_the_categorical_one_for_nothing(people):
    """Off the same small tables it is that of the rows; a category without numbers is refused before it is paid."""
    first = released(CategoricalNB(), people)
    spent = people.budget.spent
    gaussian = GaussianNB().fit(first.answers, FORMULA)
    assert np.allclose(
        gaussian.predict_proba(X), GaussianNB().fit(FRAME, ROWS["y"]).predict_proba(X), atol=0.01
    )
    assert people.budget.spent == spent


def test_a_variance_that_is_mostly_noise_is_drawn_to_that_of_the_column():
    """In 300 seeded tables with the noise of a small ε, a class's variance is never a seventh of the true one, and its error halves."""
    draw, x = np.random.default_rng(5), np.linspace(-1, 1, 9)
    counts = np.stack([np.exp(-((x - at) ** 2) / 0.3) for at in (-0.2, 0.2)], axis=1) * 100
    noised = counts + draw.laplace(0, 8, (300, *counts.shape))
    true = bayes._moments(counts, x, 0.0)[2]
    n, theta, var, hidden = bayes._moments(noised, x, 2 * 8**2)
    found = GaussianNB()._learned(n, theta[..., None], var[..., None], hidden[..., None])["var_"][..., 0]
    assert np.sqrt(hidden).mean() == pytest.approx(var.std(axis=0).mean(), rel=0.25)
    assert (var / true).min() < 0 < 1 / 7 < (found / true).min()
    assert np.mean((found - true) ** 2) < np.mean((var - true) ** 2) / 2


def test_scores_of_a_handle_are_bought_and_right(people):
    """Accuracy, AUC, log loss and R² of the handle are those of its rows; two readings of one table are paid once."""
    model = released(LogisticRegression("discriminant"), people)
    known = people[people.y.notna()]
    with dpnb.spend(epsilon=10**4):
        accuracy, auc, loss = (model.score(known, measure=one) for one in ("accuracy", "auc", "log_loss"))
    chances = model.predict_proba(X)[:, 1]
    pairs = chances[ROWS["y"] == 1][:, None] - chances[ROWS["y"] == 0]
    assert float(accuracy) == pytest.approx(model.score(X, ROWS["y"]), abs=0.01)
    assert float(auc) == pytest.approx(np.mean((pairs > 0) + 0.5 * (pairs == 0)), abs=0.05)
    assert float(loss) == pytest.approx(
        -np.mean(np.log(np.where(ROWS["y"] == 1, chances, 1 - chances))), abs=0.02
    )
    tree = released(DecisionTree(bins={"x": [0, 3, 6, 10]}, min_rows=3), people)
    line = LinearRegression().fit(model.answers[0], FORMULA)
    with dpnb.spend(epsilon=10**4):
        explained = line.score(known)
        right = None if tree.tree_[0].left is None else tree.score(known)
        if right is not None:
            with pytest.raises(OptionError, match="too coarse"):
                tree.score(known, measure="log_loss")
    assert float(explained) == pytest.approx(line.score(X, ROWS["y"]), abs=0.02)
    assert right is None or float(right) == pytest.approx(tree.score(X, ROWS["y"]), abs=0.01)


@pytest.mark.parametrize(
    ("ask", "words"),
    [
        (lambda one: DecisionTree(bins=12).fit(one, FORMULA, epsilon=1), "Bins that would do: bins={'x': "),
        (lambda one: CategoricalNB(bins=12).fit(one, FORMULA, epsilon=1), "would be mostly noise"),
        (lambda one: CategoricalNB().fit(one, "y ~ x:g"), "plain columns"),
        (
            lambda one: LogisticRegression("table", bins=2_000).fit(one, FORMULA, epsilon=10**4),
            "reads tables of up to 5,000",
        ),
        (lambda one: CategoricalNB().fit(one, "y"), "what is predicted and from what"),
        (lambda one: CategoricalNB().fit(one, "nothing ~ x"), "nothing"),
        (lambda one: classify(one, FORMULA, "deep"), "naive-bayes"),
        (lambda one: CategoricalNB().predict(X), "not fitted yet"),
        (lambda one: CategoricalNB().fit(X, ROWS["y"]).predict(one), "model.predict"),
        (lambda one: PCA().fit(X).transform(one), "model.transform"),
        (lambda one: CategoricalNB().fit(FRAME, ROWS["y"]).predict([[1, 7]]), "has no value 7"),
        (lambda one: KMeans(0).fit(X), "at least 1"),
        (lambda one: CategoricalNB(nothing=1), "nothing"),
        (lambda one: CategoricalNB().set_params(nothing=1), "It has bins, alpha"),
    ],
)
def test_what_cannot_be_asked_is_refused_before_any_charge(people, ask, words):
    """Each refusal says what to do instead, and the budget stays whole."""
    before = people.budget.spent
    with pytest.raises((OptionError, HandleError, AttributeError, TypeError, ValueError), match=words):
        ask(people)
    assert people.budget.spent == before


CANNOT_HOLD = {
    StandardScaler: dict.fromkeys(
        ("check_estimator_sparse_array", "check_estimator_sparse_matrix"),
        "for every estimator of this name they set with_mean=, which this one does not have",
    )
}


@pytest.mark.parametrize("make", [getattr(models, name) for name in models.__all__ if name != "classify"])
def test_scikit_learns_own_checks_hold_on_rows_of_ones_own(make):
    """All of them but those that are listed with their reasons, and these fail for their reason."""
    pytest.importorskip("sklearn", minversion="1.6")
    checks = pytest.importorskip("sklearn.utils.estimator_checks")
    expected = CANNOT_HOLD.get(make, {})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # they fit what warns
        found = checks.check_estimator(make(), expected_failed_checks=expected, on_fail=None, on_skip=None)
    told = {each["check_name"]: str(each["exception"]) for each in found if each["status"] == "failed"}
    assert told == {}
    assert {each["check_name"] for each in found if each["status"] == "xfail"} == set(expected)
    assert sum(each["status"] == "passed" for each in found) >= 40


@pytest.mark.parametrize("make", [CategoricalNB, LogisticRegression])
def test_a_frame_may_name_its_columns_by_numbers_and_a_response_may_be_a_column(make):
    """A frame with numbers as names is read by place of its columns; a response of one column is told and taken."""
    frame = pd.DataFrame(X)
    own = make().fit(frame, ROWS["y"])
    with pytest.warns(UserWarning, match=r"Pass y\.ravel"):
        other = make().fit(frame, ROWS["y"][:, None])
    assert np.array_equal(own.predict_proba(frame), other.predict_proba(frame))
    with pytest.raises(OptionError, match="y is continuous"):
        make().fit(frame, ROWS["y"] + 0.5)


def test_cross_validation_of_a_handle_is_refused_and_free(people):
    """Each fold would pay: scikit-learn finds no rows to cut, our words are the cause, and nothing is charged."""
    search = GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]})
    for ask in (lambda: search.fit(people, FORMULA), lambda: cross_val_score(GaussianNB(), people, people.y)):
        with pytest.raises(TypeError, match="sequence or array-like") as told:
            ask()
        assert "holds no data here" in str(told.value.__cause__)
    assert people.budget.spent.amount == 0


def test_a_missing_class_is_told_from_the_released_table(people):
    """A response that has one class in the data is asked and paid like any other; its table says so afterwards."""
    model = released(DecisionTree(bins=2), people[people.y == 1])
    with pytest.raises(Unavailable, match="no rows with the response 0"):
        model.predict(X)


def test_auto_goes_by_rows_and_epsilon_and_by_the_cells_own(people):
    """Below n ε of 80,000 naive Bayes, from there the tree; the ε is that of the open cell."""
    with dpnb.spend(epsilon=1) as cell:
        assert isinstance(people.classify(FORMULA), CategoricalNB)
        chosen = people.classify(FORMULA, epsilon=3000)
        assert "n ε = 120,000" in chosen.why
        assert isinstance(chosen, DecisionTree)
        del chosen
    del cell
    with dpnb.spend(epsilon=2500):
        assert isinstance(people.classify(FORMULA), DecisionTree)


@pytest.mark.parametrize("make", [CategoricalNB, GaussianNB, DecisionTree, Forest, LogisticRegression])
def test_an_estimator_is_one_to_scikit_learn(make):
    """It clones, pickles, stands at the end of a pipeline, and is plain numbers."""
    rng = np.random.default_rng(1)
    x = rng.standard_normal((400, 3))
    y = np.where(x[:, 0] + 0.5 * rng.standard_normal(400) > 0, "yes", "no")
    model = make().fit(x, y)
    assert set(model.predict(x)) == {"yes", "no"}
    assert model.score(x, y) > 0.8
    twin = pickle.loads(pickle.dumps(model))
    assert (twin.predict_proba(x) == model.predict_proba(x)).all()
    assert (clone(model).fit(x, y).predict_proba(x) == model.predict_proba(x)).all()
    whole = make_pipeline(StandardScaler(), make()).fit(x, y)
    assert whole.score(x, y) > 0.8
    assert json.loads(json.dumps(model.to_dict()))["model"] == make.__name__
    assert model.predict_proba(x, interval=0.9)[1].shape == (400, 2)


def test_models_without_a_response_agree_with_the_rows(people):
    """Scaler, components and centres off moments and grids are those of the rows, and transform back."""
    moments, grid = people.moments("x", "g"), people.crosstab("x", "g")
    dpnb.release([moments, grid], epsilon=10**4)
    raw = np.column_stack([RAW["x"], RAW["g"]])
    scaler = StandardScaler().fit(moments)
    assert np.allclose(scaler.transform(raw), (raw - raw.mean(axis=0)) / raw.std(axis=0), atol=0.01)
    components = PCA().fit(moments)
    assert np.allclose(components.inverse_transform(components.transform(raw)), raw, atol=1e-9)
    assert components.explained_variance_ratio_.sum() == pytest.approx(1)
    assert (components.angles() < 5).all()
    centres = KMeans(2).fit(grid)
    assert centres.score(raw) == pytest.approx(KMeans(2).fit(raw).score(raw), abs=0.01)
    assert set(centres.predict(raw)) == {0, 1}


def test_cards_say_what_left_and_what_was_not_bought(people):
    """Pending, fitted, and of one's own rows; the paragraph for papers names the loss."""
    with dpnb.spend(epsilon=10**4):
        model = people.classify(FORMULA, "naive-bayes")
        assert "Pending" in model._repr_html_()
    shown = model._repr_html_()
    assert "Accuracy was not bought" in shown
    assert "ε 10,000" in shown or "ε 10000" in shown
    assert "ε 1" in model.paragraph()
    assert "protects nobody" in CategoricalNB().fit(X, ROWS["y"])._repr_html_()
    for one in (
        released(GaussianNB(), people),
        released(DecisionTree(bins=2), people),
        released(Ridge(), people),
    ):
        assert "What left the dataset" in one._repr_html_()

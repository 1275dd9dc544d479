"""A model as a card, as plain numbers, and as sentences for a paper."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dpnb.cards.markup import Markup, code, el, join
from dpnb.cards.methods import methods
from dpnb.errors import Unavailable
from dpnb.inference.digits import number
from dpnb.models.cells import Cells, Side, is_table
from dpnb.models.model import Model

_TABLE = "CategoricalNB, GaussianNB, DecisionTree, Forest, LogisticRegression, KMeans"
_MOMENTS = "LinearRegression, Ridge, LogisticRegression, PCA, StandardScaler"
_SCORE_EPSILON = 0.1
_MOST_ROWS = 40


def html_of(model: Model) -> str:
    """Return the card of a model, pending or fitted."""
    if not model.__sklearn_is_fitted__():
        return el("p", f"{model!r}: not fitted yet.")
    answers = model.answers
    head = el("p", el("strong", f"{model.title} "), model._formula or "", class_="dpnb-model")  # noqa: SLF001 -- of its own room
    asked = el("ul", *(el("li", code(one.text)) for one in answers))
    if model.pending:
        return el("div", head, el("p", "Pending. It is fitted when these questions are released:"), asked)
    try:
        shown = picture_of(model)
    except Unavailable as reason:
        shown = el("p", str(reason))
    return (
        el(
            "div",
            head,
            el("p", f"What left the dataset ({model.loss}):"),
            asked,
            shown,
            *(el("p", line) for line in lines_of(model)),
        )
        if answers
        else el("div", head, el("p", "Fitted to rows of your own, without noise: it protects nobody."), shown)
    )


def lines_of(model: Model) -> Iterator[str]:
    """Yield what a reader should know: why this model, that no accuracy was bought, and what else is free now."""
    if model.why:
        yield model.why
    rows = rows_in(model)
    if model.kind == "classifier" and rows:
        within = 3 / (_SCORE_EPSILON * rows)
        yield (
            f"Accuracy was not bought: model.score(people) costs about ε {_SCORE_EPSILON} for ± {within:.1g}. On the rows that were "
            "fitted it is an in-sample score."
        )
    one = model.answers[0] if len(model.answers) == 1 else None
    free = _TABLE if one is not None and is_table(one) else _MOMENTS if hasattr(one, "ols") else ""
    if free:
        yield f"Free now, from the same {'table' if free == _TABLE else 'moments'} with .fit(model.answers, formula): {free}."


def rows_in(model: Model) -> float:
    """The number of rows behind the first answer, as released or public."""
    answer = model.answers[0]
    found = np.ravel(np.asarray(answer.value, dtype=float))
    return float(found[0] if hasattr(answer, "ols") else found.sum())


def picture_of(model: Model) -> Markup:
    """Return what was learned as a table or a drawn tree."""
    found = model._resolved()  # noqa: SLF001 -- of its own room
    if "tree_" in found:
        return el("pre", "\n".join(_branches(found["tree_"][0], found["cells"], found["classes_"])))
    if "coef_" in found:
        return _coefficients(model, found)
    if "feature_log_prob_" in found:
        return _table(["column", "value", "log odds against the average class"], _odds(found))
    names = found["terms_"]
    shown = {
        key: np.atleast_2d(one)
        for key, one in found.items()
        if key in ("theta_", "cluster_centers_", "components_", "scale_")
    }
    rows = [
        [f"{key[:-1]} {at + 1}", *map(number, row)]
        for key, one in shown.items()
        for at, row in enumerate(one.tolist())
    ]
    return _table(["", *names], rows)


def _coefficients(model: Model, found: Mapping[str, Any]) -> Markup:
    terms = ["Intercept", *found["terms_"]]
    values = [float(np.ravel(found["intercept_"])[0]), *np.ravel(found["coef_"]).tolist()]
    ends: list[list[str]] = [[] for _ in terms]
    heads = ["term", "coefficient"]
    for kind in ("privacy", "confidence") if model.answers else ():
        try:
            low, high = model.coefficients.interval(0.95, kind)
        except Unavailable:
            continue
        heads.append(f"95 % {kind} interval")
        for place, own in enumerate(ends[-len(np.ravel(low)) :]):
            own.append(f"{number(np.ravel(low)[place])} to {number(np.ravel(high)[place])}")
    return _table(
        heads, [[term, number(one), *own] for term, one, own in zip(terms, values, ends, strict=True)]
    )


def _odds(found: Mapping[str, Any]) -> Iterator[list[str]]:
    for name, side, logs in zip(found["terms_"], found["sides"], found["feature_log_prob_"], strict=True):
        for place, key in enumerate(side.keys):
            against = logs[-1, place] - (logs[0, place] if len(logs) == 2 else logs[:, place].mean())
            yield [name, str(key), number(float(against))]


def _table(heads: list[str], rows: Any) -> Markup:
    listed = list(rows)
    body = [el("tr", *(el("td", cell) for cell in row)) for row in listed[:_MOST_ROWS]]
    more = (
        el("p", f"… and {len(listed) - _MOST_ROWS} more: model.to_dict()")
        if len(listed) > _MOST_ROWS
        else None
    )
    return join(
        [
            el("table", el("thead", el("tr", *(el("th", head) for head in heads))), el("tbody", *body)),
            more or "",
        ]
    )


def _branches(node: Any, cells: Cells, classes: Any, indent: str = "") -> Iterator[str]:
    """Yield the lines of a tree: each split, with its rows ± what the noise hides (95 %), and the share of the last class."""
    told = f"{node.size:,.0f} ± {2 * node.noise:,.0f} rows, {classes[-1]}: {node.chances[-1]:.0%}"
    if node.left is None:
        yield f"{indent}{told}"
        return
    side = cells.sides[node.side]
    yield f"{indent}{told}; split by {side.name}"
    for child in (node.left, node.right):
        yield f"{indent}├ {side.name} {_which(side, child.allowed[node.side])}"
        yield from _branches(child, cells, classes, indent + "│  ")


def _which(side: Side, cells: tuple[int, ...]) -> str:
    if side.edges is not None:
        return f"{side.edges[cells[0]]:g} to {side.edges[cells[-1] + 1]:g}"
    return ", ".join(str(side.keys[at]) for at in cells)


def plain_of(model: Model) -> dict[str, Any]:
    """Return what was learned as plain numbers, lists and texts."""
    found = model._resolved()  # noqa: SLF001 -- of its own room
    kept = {name: _plain(one) for name, one in found.items() if name.endswith("_") and name != "tree_"}
    if "sides" in found:
        kept["bins"] = [_side(side) for side in found["sides"]]
    if "tree_" in found:
        kept["bins"] = [_side(side) for side in found["cells"].sides]
        kept["trees"] = [_node(root) for root in found["tree_"]]
    return {
        "model": type(model).__name__,
        "parameters": {name: _plain(one) for name, one in model.get_params().items()},
        **kept,
    }


def _side(side: Side) -> dict[str, Any]:
    return (
        {"name": side.name, "values": _plain(side.keys)}
        if side.edges is None
        else {"name": side.name, "edges": _plain(side.edges)}
    )


def _node(node: Any) -> dict[str, Any]:
    if node.left is None:
        return {"chances": _plain(node.chances)}
    left = np.flatnonzero(node.goes).tolist()
    return {"column": node.side, "left_if_bin_in": left, "left": _node(node.left), "right": _node(node.right)}


def _plain(one: Any) -> Any:
    if isinstance(one, np.ndarray | np.generic):
        return one.tolist()
    if isinstance(one, Mapping):
        return {str(key): _plain(item) for key, item in one.items()}
    return [_plain(item) for item in one] if isinstance(one, list | tuple) else one


def paragraph_of(model: Model) -> str:
    """Return the sentences for a paper."""
    what = f"A model ({model.title}{f', {model._formula}' if model._formula else ''})"  # noqa: SLF001 -- of its own room
    if not model.answers:
        return f"{what} was fitted to rows without differential privacy."
    model._resolved()  # noqa: SLF001 -- of its own room
    schemas = {
        leaf.dataset.schema.name: leaf.dataset.schema
        for one in model.answers
        for leaf in one.leaves()
        if leaf.dataset is not None
    }
    return (
        f"{what} was computed from {len(model.answers)} differentially private answer{'s' if len(model.answers) > 1 else ''} ({model.loss}); it has no other access "
        f"to the data, so it may be published as they may. {methods(model.answers, tuple(schemas.values()))}"
    )

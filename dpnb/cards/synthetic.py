"""The card of synthetic rows: which pairs were measured, how the rows compare with the noised tables, and what the rows are good for."""

from __future__ import annotations

import numpy as np

from dpnb.cards.card import Card, frame, heading, scrolled
from dpnb.cards.markup import Markup, clean, code, el
from dpnb.estimate.table import aligned
from dpnb.inference.digits import rounded
from dpnb.synthetic.files import WARNING, uses
from dpnb.synthetic.synthetic import Synthetic
from dpnb.synthetic.tables import PairTables

_WIDE, _HIGH, _GAP, _TOP = 640, 190, 40, 20


def synthetic_bundle(asked: PairTables) -> dict[str, object]:
    """Return the MIME bundle of synthetic rows: their card, or one line while there are no rows."""
    if asked.pending or not isinstance(asked, Synthetic) or not asked.converged:
        return {"text/plain": repr(asked)}
    return synthetic_card(asked).bundle()


def synthetic_card(result: Synthetic) -> Card:
    """Return the card of released synthetic rows."""
    title = f"Synthetic rows of {clean(result.dataset)}"
    size = f"{'about ' if result.private else ''}{rounded(result.size)}"
    told = [
        f"{result.count} tables of {result.length:,} rows, for {size} people; g = {rounded(result.g)}. {uses(result)['intervals']}",
        uses(result)["modelled"],
        WARNING,
    ]
    pairs, margins = _matrix(result), _margins(result)
    first = max(result.pairs, key=lambda pair: result.counts[pair].size)
    said, picture = _compared(result, first)
    whole = el(
        "details",
        el("summary", "Each margin beside its noised table"),
        _table(*margins),
        class_="numbers soft",
    )
    html = frame(
        heading(title, f"{len(result.pairs)} pairs measured"),
        el("div", code(clean(result.text)), el("p", told[0]), el("p", told[2], class_="flag"), class_="line"),
        el(
            "div",
            el("h4", "Measured pairs: sd of the noise on a cell"),
            _table(*pairs),
            el("p", told[1], class_="soft"),
            class_="line",
        ),
        el(
            "div",
            el(
                "h4",
                f"{clean(first[0])} (down) by {clean(first[1])} (across): one synthetic table, and what was measured",
            ),
            picture,
            el("p", said, class_="soft"),
            whole,
            class_="line",
        ),
    )
    lines = [title, clean(result.text), told[0], told[2], "measured pairs: sd of the noise on a cell"]
    lines += [f"  {line}" for line in aligned([pairs[0], *pairs[1]])]
    lines += [told[1], said, *(f"  {line}" for line in aligned([margins[0], *margins[1]]))]
    return Card(html, "\n".join(lines), {"format": 1, **result.record()}, "synthetic")


def _table(head: list[str], rows: list[list[str]]) -> Markup:
    top = el(
        "tr",
        *(el("th", name, scope="col", class_="num" if place else None) for place, name in enumerate(head)),
    )
    body = [
        el("tr", el("th", first, scope="row"), *(el("td", cell, class_="num") for cell in cells))
        for first, *cells in rows
    ]
    return scrolled(el("table", el("thead", top), el("tbody", *body), class_="rows slim"))


def _matrix(result: Synthetic) -> tuple[list[str], list[list[str]]]:
    """Return each column against all before it: σ of the pair's table, or that it was not measured."""
    names, sigmas = result.design.names, result.sigmas
    rows = [
        [
            clean(name),
            *(
                rounded(sigmas[pair]) if (pair := (other, name)) in sigmas else "not measured"
                for other in names[:place]
            ),
        ]
        for place, name in enumerate(names)
    ]
    filled = [row + [""] * (len(names) - len(row)) for row in rows[1:]]
    return ["", *map(clean, names[:-1])], filled


def _margins(result: Synthetic) -> tuple[list[str], list[list[str]]]:
    """Return the shares of each column's levels: as one table measured them, its noise, and in the synthetic rows."""
    rows = []
    for one in result.columns:
        pair = next(pair for pair in result.pairs if one.name in pair)
        counts = result.counts[pair] if pair[0] == one.name else result.counts[pair].T
        noise = result.sigmas[pair] * counts.shape[1] ** 0.5 / result.size
        made = result.margin(one.name, pair[pair[0] == one.name]).sum(axis=1)
        for key, noised, drawn in zip(one.keys, counts.sum(axis=1) / result.size, made, strict=True):
            rows.append([clean(f"{one.name} {key}"), f"{noised:.1%}", f"{noise:.1%}", f"{drawn:.1%}"])
    return ["", "noised", "sd of its noise", "synthetic"], rows


def _compared(result: Synthetic, pair: tuple[str, str]) -> tuple[str, Markup]:
    """Draw the first synthetic table of a pair beside the noised one, a square as dark as its share is large; and say how far they are apart."""
    levels = [next(one for one in result.columns if one.name == name).keys for name in pair]
    noised = result.counts[pair] / result.size
    drawn = _counted(result, pair) / result.length
    apart = np.abs(noised - drawn)
    at = np.unravel_index(apart.argmax(), apart.shape)
    cell = " · ".join(clean(str(keys[place])) for keys, place in zip(levels, at, strict=True))
    said = (
        f"The largest difference is {apart.max():.1%} of the people, at {cell}; the noise on a cell has an sd of "
        f"{result.sigmas[pair] / result.size:.1%}."
    )
    top = max(noised.max(), drawn.max(), 1e-9)
    half = (_WIDE - _GAP) / 2
    parts = [*_squares(drawn / top, 0, half), *_squares(noised / top, half + _GAP, half)]
    for x, words in ((0.0, "synthetic"), (half + _GAP, "noised")):
        parts.append(el("text", words, x=f"{x:.0f}", y="12", class_="tick"))
    title = f"{pair[0]} by {pair[1]}, synthetic beside noised"
    svg = el(
        "svg",
        el("title", clean(title)),
        el("desc", said),
        *parts,
        viewBox=f"0 0 {_WIDE} {_HIGH + _TOP}",
        role="img",
        aria_label=f"{clean(title)}. {said}",
    )
    return said, svg


def _counted(result: Synthetic, pair: tuple[str, str]) -> np.ndarray:
    """Return how many rows of the first synthetic table fall in each cell of a pair."""
    rows, places = result.rows(), []
    for name in pair:
        one = next(one for one in result.columns if one.name == name)
        if one.edges is not None:
            places.append(np.searchsorted(np.array(one.edges[1:-1]), rows[name], side="right"))
        else:
            where = {str(key): place for place, key in enumerate(one.keys)}
            places.append(np.array([where[str(value)] for value in rows[name].tolist()]))
    shape = result.counts[pair].shape
    return np.bincount(np.ravel_multi_index(tuple(places), shape), minlength=shape[0] * shape[1]).reshape(
        shape
    )


def _squares(shares: np.ndarray, left: float, width: float) -> list[Markup]:
    down, across = shares.shape
    wide, high = width / across, _HIGH / down
    return [
        el(
            "rect",
            x=f"{left + j * wide:.1f}",
            y=f"{_TOP + i * high:.1f}",
            width=f"{wide - 1:.1f}",
            height=f"{high - 1:.1f}",
            class_="pv" if shares[i, j] > 0 else "room",
            opacity=f"{max(float(shares[i, j]), 0.04):.2f}",
        )
        for i in range(down)
        for j in range(across)
    ]

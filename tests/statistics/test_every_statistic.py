"""Every registered statistic, on data where there is nothing to see: a flagged release of the same shape, never a crash."""

from __future__ import annotations

import contextlib
import json
from typing import Any, get_args

import numpy as np
import pytest

from dpnb.cards import facts
from dpnb.cards.methods import methods
from dpnb.errors import LossError, Unavailable
from dpnb.estimate import Estimate, to_json
from dpnb.inference.draw_generator import DrawGenerator
from dpnb.inference.seeded_bits import SeededBits
from dpnb.statistics import BY_NAME, STATISTICS, Statistic
from dpnb.statistics._base import Target
from dpnb.trusted.mechanisms import MECHANISMS
from tests.contracts.questions import (
    COLUMNS,
    OWN_SAMPLES,
    SAMPLES,
    TABLES,
    UNITS,
    B,
    G,
    X,
    asked,
    released,
    schema,
    usual_samples,
)

CASES = [(name, place) for name, samples in SAMPLES.items() for place in range(len(samples))]
MEASURES = ("epsilon", "rho")


TRIED_ELSEWHERE = {
    "mean", "variance", "std", "quantile", "histogram", "density", "frequent_values", "difference", "covariance", "correlation", "moments",
}  # fmt: skip
"""Some options of these are asked in tests of their own alone."""


def test_every_option_is_in_a_sample_question():
    """Samples are by what a statistic is of; who adds options says in ``examples`` which are worth trying, all of them."""
    assert set(OWN_SAMPLES) <= set(BY_NAME)
    for one in STATISTICS:
        asked_for = {name for sample in SAMPLES[one.name] for name, _ in sample.get("options", ())}
        assert (asked_for == set(one.defaults)) is (one.name not in TRIED_ELSEWHERE), one.name


def test_summaries_are_those_that_ddi_has():
    """Of a variable's summaries in DDI Codebook 2.5 these are the statistics that mean the same, and no other."""
    found = {one.name: one.summary for one in STATISTICS if one.summary != "other"}
    assert found == {"count": "vald", "mean": "mean", "std": "stdev", "quantile": "medn", "mode": "mode"}


class Everything(Statistic):
    """A statistic that is declared and nothing else."""

    name, title, target, defaults = "everything", "whole of it", "number", {"k": 1, "fast": False}
    examples = ({"k": 2}, {"fast": True, "k": 3})


class Compared(Everything):
    """The same of two arms."""

    arms = True


def test_a_statistic_without_samples_of_its_own_is_asked_with_each_example_and_by_groups():
    """What tests ask of a new statistic follows from its declaration."""
    first = {"target": X, "options": (("k", 2),)}
    assert usual_samples(Everything()) == (
        first,
        {**first, "by": (G,)},
        {"target": X, "options": (("fast", True), ("k", 3))},
    )
    assert usual_samples(Compared())[1]["by"] == (G, B)
    assert set(COLUMNS) == set(get_args(Target))


@pytest.mark.parametrize(("name", "place"), CASES)
def test_what_is_foretold_has_a_half_width_for_a_number_of_rows(name, place):
    """Cards and plans ask the declaration, without a price; it says what a price would."""
    kind = "approx" if name == "frequent_values" else "epsilon"
    item = asked(SAMPLES[name][place], name, schema(UNITS["add-remove"], kind), kind, 1)
    width = item.checked.kind.half_width(item.checked.setting, item.answered_by, 1000.0)
    assert (width is not None) == item.checked.kind.foretold


def whole(estimate: Estimate) -> None:
    """Read everything that a person can read of an answer."""
    assert np.shape(estimate.value) == estimate.shape
    assert np.isfinite(estimate.value).all() or estimate.flags
    for kind in ("privacy", "confidence"):
        try:
            low, high = estimate.interval(0.95, kind)
        except Unavailable as reason:
            assert len(str(reason)) > 20  # noqa: PT017 -- the reason is what a person reads
            continue
        assert np.all(np.asarray(low) <= np.asarray(high) + 1e-9)
        assert np.shape(low) == np.shape(high) == estimate.shape
    _ = estimate.standard_error, estimate.n, estimate.n_eff, estimate.flags
    json.dumps(estimate.to_dict(), allow_nan=False, default=to_json)
    assert facts.line_of(estimate).question


def inside(estimate: Estimate) -> None:
    """The value lies in both intervals, or at the end of its public range that is nearest to it."""
    assert estimate.outcome is not None
    possible = np.clip(estimate.value, *estimate.outcome.domain)
    for kind in ("privacy", "confidence"):
        with contextlib.suppress(Unavailable):
            low, high = estimate.interval(0.95, kind)
            assert np.all(np.asarray(low) <= possible + 1e-9)
            assert np.all(possible <= np.asarray(high) + 1e-9)


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("statistic", "place"), CASES)
def test_a_release_has_its_shape_whatever_the_rows(statistic: str, place: int, unit: str, table: str) -> None:
    """No crash, no warning, no NaN without a flag, both intervals or the reason why not; in every measure."""
    sample = SAMPLES[statistic][place]
    priced_in = 0
    for measure in (*MEASURES, "approx"):
        if measure == "approx" and priced_in:
            continue
        where = schema(UNITS[unit], measure)
        try:
            item = asked(sample, statistic, where, measure, "0.5")
        except LossError as error:
            assert "budget" in str(error)  # noqa: PT017 -- a measure that does not fit names the fix
            continue
        priced_in += 1
        estimate = released(item, TABLES[table], where, SeededBits(7))
        assert item.checked.shape in {estimate.shape, None}
        whole(estimate)
        inside(estimate)
    assert priced_in


def test_the_paragraph_for_papers_names_the_mechanisms_that_are_charged() -> None:
    """Of every statistic in every measure: one name for each mechanism of its measurements, and no name for two of them."""
    called: dict[type, str] = {}
    for statistic, samples in SAMPLES.items():
        asks = [("epsilon", samples[-1]), ("rho", samples[0])]
        asks += [("approx", sample) for sample in samples if statistic == "frequent_values"]
        for measure, sample in asks:
            where = schema(UNITS["add-remove"], measure)
            try:
                item = asked(sample, statistic, where, measure, "0.5")
            except LossError:
                continue
            used = dict.fromkeys(type(part.mechanism) for part in item.parts)
            estimate = released(item, TABLES["two rows"], where, SeededBits(7))
            said = methods([estimate]).partition("Mechanisms: ")[2].partition(". Noise was")[0].split("; ")
            for mechanism, name in zip(used, said, strict=True):
                assert called.setdefault(mechanism, name) == name
    assert set(called) == set(MECHANISMS)
    assert len(set(called.values())) == len(MECHANISMS)


FEW = ("no rows", "one row", "two rows")
WHOLE = {"arm too small", "spread hidden"}
"""Flags that say that the interval is the whole domain."""


def certain(statistic: str, place: int, unit: str, measure: str, seeds: range) -> str:
    """What is wrong in some releases of few rows: an interval without width, or a flag that says another interval than there is."""
    where = schema(UNITS[unit], measure)
    try:
        item = asked(SAMPLES[statistic][place], statistic, where, measure, "0.1")
    except LossError:
        return ""
    for table in ("constant",) if unit == "change-one" else FEW:
        for seed in () if item.public else seeds:
            outcome = released(item, TABLES[table], where, SeededBits(seed)).outcome
            flagged = np.array([bool(WHOLE & set(flags)) for flags in outcome.cell_flags], dtype=bool)
            for kind in ("privacy", "confidence"):
                try:
                    low, high = outcome.both(0.95, kind)
                except Unavailable:
                    continue
                if (high - low <= 0).any():
                    return f"{table}, seed {seed}: {kind} {low} {high}"
                whole = (low <= outcome.domain[0]) & (high >= outcome.domain[1])
                if flagged.any() and not whole[flagged].all():
                    return f"{table}, seed {seed}, flagged: {kind} {low} {high}"
    return ""


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("statistic", "place"), CASES)
def test_of_few_rows_no_interval_is_certain(statistic: str, place: int, unit: str) -> None:
    """Of no, one or two rows no noised answer has an interval of no width, and where a flag says the whole domain it is that."""
    measure = "approx" if statistic == "frequent_values" else "epsilon"
    assert not certain(statistic, place, unit, measure, range(3))


DERIVED = {
    "a shifted value": lambda one, other: one + 3,
    "a difference": lambda one, other: one - other,
    "a product": lambda one, other: one * other,
}


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("statistic", "place"), CASES)
def test_of_few_rows_nothing_derived_is_certain(statistic: str, place: int, unit: str) -> None:
    """Nor has arithmetic with two such answers an interval of no width: plausible values are not all at one bound."""
    measure = "approx" if statistic == "frequent_values" else "epsilon"
    where = schema(UNITS[unit], measure)
    item = asked(SAMPLES[statistic][place], statistic, where, measure, "0.1")
    for table in () if item.public else ("constant",) if unit == "change-one" else ("no rows", "two rows"):
        pair = [released(item, TABLES[table], where, SeededBits(seed)) for seed in (0, 1)]
        if pair[0].outcome.redraw is None:
            continue
        drawn = pair[0].outcome.draws(60, DrawGenerator(("a",)), "privacy").reshape(60, -1)
        assert (np.ptp(drawn, axis=0) > 0).all(), table
        for name, derive in DERIVED.items():
            low, high = derive(*pair).interval(0.95, "privacy")
            assert (np.asarray(high) > np.asarray(low)).all(), (name, table)


@pytest.mark.parametrize("where", ["epsilon", "rho"])
def test_the_sum_of_a_vector_of_counts_holds_the_number_of_rows(where: str) -> None:
    """Counts that are drawn as the noise left them add up to the truth: cut at 0 one by one, those of 50 thin bins never held it."""
    item = asked(SAMPLES["histogram"][1], "histogram", schema(UNITS["add-remove"], where), where, "0.5")
    sums = [
        released(item, TABLES["two rows"], schema(UNITS["add-remove"], where), SeededBits(seed)).sum()
        for seed in range(20)
    ]
    ends = [one.interval(0.95, "privacy") for one in sums]
    assert sum(low <= 2 <= high for low, high in ends) >= 16


@pytest.mark.soak
@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize("measure", ["epsilon", "rho", "approx"])
@pytest.mark.parametrize(("statistic", "place"), CASES)
def test_of_few_rows_no_interval_is_certain_in_many_releases(
    statistic: str, place: int, measure: str, unit: str
) -> None:
    """The same of 300 releases of each table, in every measure."""
    assert not certain(statistic, place, unit, measure, range(300))


@pytest.mark.parametrize("unit", UNITS)
@pytest.mark.parametrize(("statistic", "place"), CASES)
def test_no_private_number_is_sent_without_noise(statistic: str, place: int, unit: str) -> None:
    """Releases of the same rows differ in every part; a part that does not (a limit beyond all ranks) is the same for other rows."""
    sample: dict[str, Any] = SAMPLES[statistic][place]
    for measure in MEASURES:
        where = schema(UNITS[unit], measure)
        try:
            item = asked(sample, statistic, where, measure, "0.001")
        except LossError:
            continue
        if item.public:
            continue
        here = _values(item, "two rows", where)
        if min(map(len, here)) == 1:
            there = _values(item, "constant", where)
            assert all(len(one) > 1 or one == other for one, other in zip(here, there, strict=True))


def _values(item: Any, table: str, where: Any) -> list[set[tuple[int, ...]]]:
    """The released integers of every part: of as many releases of a table as it takes until each has differed, twelve at most."""
    seen: list[set[tuple[int, ...]]] = [set() for _ in item.parts]
    for seed in range(12):
        draw = released(item, TABLES[table], where, SeededBits(seed))
        for found, part in zip(seen, draw.releases[0].parts, strict=True):
            found.add(part.values)
        if min(map(len, seen)) > 1:
            break
    return seen

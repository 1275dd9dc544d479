"""Wrong answers: a draw before its charge, a refund, a shape or a message that the data decide, draws taken for independent."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpnb.errors import BudgetError, CuratorError
from dpnb.inference.elementwise import choose
from dpnb.inference.seeded_bits import SeededBits
from dpnb.planner.request import Ask
from dpnb.statistics import released
from dpnb.statistics._base import Setting
from dpnb.statistics.ratio import Ratio
from dpnb.trusted.aggregate.reference import Evaluator
from dpnb.trusted.curator import adoption, failpoints, release, service, totals
from dpnb.trusted.curator import ledger as ledger_module
from dpnb.trusted.curator.release import Randomness
from dpnb.trusted.releases import Release, ReleasedPart
from tests.curator import small, test_adoption_rules, test_failpoints, test_replay, test_store
from tests.mutants.accounting import last_writer_wins
from tests.mutants.table import Mutant, replaced, together


@contextlib.contextmanager
def curator(
    folder: Any, name: str = "home", chance: Randomness | None = None, **dataset: Any
) -> Iterator[tuple[Any, Any, Any]]:
    """A curator, a session and the small dataset, in a folder."""
    home = folder / name
    home.mkdir()
    made = small.curator(home, chance)
    here = small.session(made)
    try:
        yield made, here, small.opened(here, home, dataset.pop("raw", None), **dataset)
    finally:
        failpoints.install(None)
        made.close()


def on(test: Callable[..., None], *wanted: str) -> Callable[[Any], None]:
    """Run a test on a curator of its own; ``wanted`` names the fixtures that it takes."""

    def check(folder: Any) -> None:
        with curator(folder) as (made, here, data):
            given = {"service": made, "ann": here, "data": data, "dpnb_home": folder / "home"}
            test(*(given[name] for name in wanted))

    return check


def abandoned(test: Callable[..., None], *more: Any) -> Callable[[Any], None]:
    """Run a test on a home whose curator can be killed."""

    def check(folder: Any) -> None:
        (folder / "home").mkdir()
        house = test_adoption_rules.House(folder / "home")
        try:
            test(house, *more)
        finally:
            failpoints.install(None)
            house.service.close()

    return check


def or_stopped(check: Callable[[Any], None]) -> Callable[[Any], None]:
    """Count it as noticed where the curator's second guard stops the wrong version before an answer can be compared."""

    def stopped(folder: Any) -> None:
        try:
            check(folder)
        except CuratorError as error:
            raise AssertionError("a second guard of the curator stopped it") from error

    return stopped


def read_anew(real: Any) -> Any:
    """List the charges without an answer at every charge, also those of this life."""
    return lambda db, _, *rest: real(db, adoption.abandoned(db), *rest)


def nothing_is_read_before_its_charge(folder: Any) -> None:
    """A question that the budget refuses never reaches the engine."""
    with curator(folder) as (made, here, data):
        engine = next(iter(made._open.values())).engine
        with pytest.raises(BudgetError):
            here.release([data.x.mean()], Ask.make(epsilon=11))
        assert engine.calls == 0


def read_first(real: Any) -> Any:
    """Answer, and charge for the answer."""

    def release(batch: Any, attached: Any, ledger: Any, randomness: Any, guard: Any) -> Any:
        parts = [part for one in batch.questions for part in one.bundle.parts]
        attached.engine.answer([part.request for part in parts])
        return real(batch, attached, ledger, randomness, guard)

    return release


def refunded(real: Any) -> Any:
    """Count only what was answered as spent."""

    def totals(db: Any, pool: str, principal: str, period: int, measure: Any) -> Any:
        open_charges = db.execute(
            "SELECT count(*) FROM charges WHERE entry NOT IN (SELECT charge FROM answers)"
        ).fetchone()[0]
        spent, mine = real(db, pool, principal, period, measure)
        return (spent - spent, mine - mine) if open_charges else (spent, mine)

    return totals


def drawn_again(_: Any) -> Any:
    """Forget that a request was answered."""
    return lambda ledger, request_id, principal: None


def served_for_less(_: Any) -> Any:
    """Serve any stored answer of the question, however little it was paid."""
    return lambda _wanted, found, *_: found


def two_curators_differ(folder: Any) -> None:
    """Two curators on the same rows, asked the same, draw different noise."""
    values = []
    for name in ("one", "two"):
        with curator(folder, name, service.Randomness()) as (_, here, data):
            report = here.release([data.x.histogram()], Ask.make(epsilon="0.01"))
            values.append(report.measurements[0].releases[0].parts[0].values)
    assert values[0] != values[1]


def seeded(_: Any) -> Any:
    """Start every curator's noise from a seed."""
    return lambda: Randomness(SeededBits(7))


def means_ignore_missing_rows(folder: Any) -> None:
    """The mean of a column with missing values is that of its known ones."""
    raw = small.rows()
    raw["y"] = np.array([1.0] * 20 + [np.nan] * 20)
    with curator(folder, raw=raw, epsilon=10**6) as (_, here, data):
        mean = data.y.mean()
        here.release([mean], Ask.make(epsilon=1000))
        assert mean.value == pytest.approx(1.0, abs=0.05)


def public_though_missing(_: Any) -> Any:
    """Divide by the public number of rows, whatever is missing or filtered."""
    return property(lambda setting: None if setting.keys else setting.unit.rows)


EMPTY = {
    "nobody in the second arm": lambda raw: raw | {"g": np.zeros(small.ROWS)},
    "every y missing": lambda raw: raw | {"y": np.full(small.ROWS, np.nan)},
    "constant": lambda raw: {name: np.zeros(small.ROWS) for name in raw},
    "ordinary": lambda raw: raw,
}


def data_decide_neither_errors_nor_shapes(folder: Any) -> None:
    """Empty arms, missing columns and constants give answers of the declared shape and finite values, as any data do."""
    shapes = set()
    for place, change in enumerate(EMPTY.values()):
        with curator(folder, str(place), raw=change(small.rows())) as (_, here, data):
            try:
                shapes.add(_shapes(here, data))
            except (ArithmeticError, IndexError, ValueError) as error:
                raise AssertionError("The data decided on an error.") from error
    assert len(shapes) == 1


def _shapes(here: Any, data: Any) -> tuple[Any, ...]:
    items = [
        data.y.difference(by="g"),
        data.groupby("g").y.mean(),
        data[data.y == 1].x.mean(),
        data.groupby("g").count(),
        data.y.value_counts(),
    ]
    here.release(items, Ask.make(epsilon="0.05"))
    for item in items:
        assert np.isfinite(item.to_numpy() if item.shape else item.value).all()
        item.interval(kind="privacy")
    lengths = [len(part.values) for item in items for part in item.releases[0].parts]
    return (tuple(item.shape for item in items), tuple(lengths))


def cells_seen(real: Any) -> Any:
    """Answer only the cells that hold a row."""

    def answer(evaluate: Any, request: Any) -> Any:
        found = real(evaluate, request)
        if not request.keys or not all(isinstance(cell, int) for cell in found):
            return found
        return tuple(cell for cell in found if cell) or found[:1]

    return answer


def rows_as_released(_: Any) -> Any:
    """Divide by the released number of rows, which may be zero or negative."""
    return property(lambda ratio: choose(ratio.size > 0, ratio.size, math.nan))


def strict_arms(_: Any) -> Any:
    """Raise when an arm is empty."""

    def raw(ratio: Ratio) -> float:
        if ratio.size < 3 * ratio.size_noise_sd:
            raise ArithmeticError("an arm is empty")
        return ratio.total / max(ratio.size, 1.0)

    return property(raw)


def one_draw_counts_once(_: Any) -> None:
    """A release combined with its own copy is as uncertain as it was."""
    law = {"kind": "discrete-laplace", "scale": "10"}
    one = Release(
        id="a" * 32,
        question="q",
        dataset="d",
        data_version="v",
        parts=(ReleasedPart("sum", law, (5, 6), "b" * 32),),
        loss=test_store.PrivacyLoss.pure(1),
        share="1",
        stored=False,
        time="2026-01-01T00:00:00+00:00",
        entry=1,
    )
    single = released.combine([one])["sum"].noise.total_variance
    assert released.combine([one, replace(one, stored=True)])["sum"].noise.total_variance == single


def copies_as_draws(real: Any) -> Any:
    """Take every release for a draw of its own."""
    return lambda releases: real(
        [
            replace(one, parts=tuple(replace(part, draw=f"{place}:{part.draw}") for part in one.parts))
            for place, one in enumerate(releases)
        ]
    )


def failures_are_told(_: Any) -> Any:
    """Say what went wrong, data and all."""
    return lambda error: {"code": "internal", "message": str(error), "details": {}}


def neighbours_leave_the_same_bytes(folder: Any) -> None:
    """The replay of two neighbouring tables: what is sent, stored, charged and logged is equal, byte for byte."""

    class Folders:
        def mktemp(self, name: str) -> Any:
            (folder / name).mkdir()
            return folder / name

    with pytest.MonkeyPatch.context() as patch:
        test_replay.test_neighbours_with_coinciding_integers_leave_identical_bytes(Folders(), patch, "value")


def fingerprint_kept(real: Any) -> Any:
    """Call the content's fingerprint a data version."""

    def draw(charge: Any, alone: Any, attached: Any, *rest: Any) -> Any:
        table = attached.engine.engine.table if hasattr(attached.engine, "engine") else attached.engine.table
        mark = str(sum(int(ints.values.sum()) for ints in table.columns.values()))
        return [{**answer, "share": mark} for answer in real(charge, alone, attached, *rest)]

    return draw


def logged(real: Any) -> Any:
    """Write the sum of what is asked about to the owner's log."""

    def batch(made: Any, request: Any, attached: Any, principal: str) -> Any:
        table = attached.engine.engine.table if hasattr(attached.engine, "engine") else attached.engine.table
        made.note(CuratorError(str(table.columns["x"].values.sum())), "released")
        return real(made, request, attached, principal)

    return batch


def unchecked_digest(_: Any) -> Any:
    """Believe the digest that came with the plan."""

    class Anything(str):
        __slots__ = ()
        __hash__ = str.__hash__

        def __ne__(self, other: object) -> bool:
            return False

    return Anything


MUTANTS = {
    "read before the charge": Mutant(
        "The answer exists before anything is paid.",
        replaced(service, "release", read_first),
        nothing_is_read_before_its_charge,
    ),
    "a refund on failure": Mutant(
        "A charge whose answer failed does not count.",
        replaced(totals, "totals", refunded),
        on(
            test_failpoints.test_a_fault_after_the_charge_says_one_constant_code,
            "service",
            "data",
            "dpnb_home",
        ),
    ),
    "a retry draws again": Mutant(
        "The retry of an answered request gives a second draw for one charge.",
        together(
            replaced(ledger_module.Ledger, "answers", drawn_again),
            replaced(ledger_module.Ledger, "store", last_writer_wins),
        ),
        on(test_store.test_a_retry_returns_the_same_answer_for_the_same_charge, "service", "data"),
    ),
    "a draw of its own for each adopter": Mutant(
        "A late first worker and those who adopted its charge each send what they drew.",
        replaced(ledger_module.Ledger, "store", last_writer_wins),
        abandoned(
            test_adoption_rules.test_a_late_first_worker_and_racing_adopters_store_one_row_and_all_send_it, 5
        ),
    ),
    "an adoption by anybody": Mutant(
        "What Ann was charged answers Bob, or a fresh request, or one that measures other draws again, or another budget period.",
        replaced(
            adoption,
            "find",
            lambda real: lambda db, left, *_: next((e for one in left.values() for e in one), None),
        ),
        abandoned(test_adoption_rules.test_another_principal_adopts_nothing),
    ),
    "an adoption of what is asked in part": Mutant(
        "A charge is completed for whoever asks one of its questions.",
        replaced(adoption, "_covers", lambda _: lambda *_: True),
        or_stopped(abandoned(test_adoption_rules.test_what_else_is_asked_must_be_stored_or_public)),
    ),
    "an adoption in the worker's own life": Mutant(
        "A charge whose worker is at work is adopted, and a fresh request is not charged.",
        replaced(adoption, "find", read_anew),
        abandoned(test_adoption_rules.test_a_charge_of_this_life_of_the_curator_is_not_adopted),
    ),
    "a retry over a restoration": Mutant(
        "A charge that may have been answered before the ledger was restored is drawn again.",
        replaced(totals, "restored_since", lambda _: lambda db, entry: False),
        abandoned(test_adoption_rules.test_nothing_is_adopted_or_retried_over_a_restoration),
    ),
    "a plan that its digest does not name": Mutant(
        "An id is bound to a digest that the kernel made up.",
        replaced(service, "digest_of", unchecked_digest),
        on(test_store.test_a_plan_that_is_not_its_digest_is_refused, "service", "data"),
    ),
    "a stored answer served for more than it was paid": Mutant(
        "An answer of ε 0.5 is given for ε 1, and the card would say 1.",
        replaced(release, "enough", served_for_less),
        on(test_store.test_a_question_stored_for_less_is_charged_in_full, "ann", "data"),
    ),
    "a seed in the curator": Mutant(
        "Noise that can be drawn again can be taken off again.",
        replaced(service, "Randomness", seeded),
        two_curators_differ,
    ),
    "missing values counted as public": Mutant(
        "A public n divides the sum of the known values: .42 for .70.",
        replaced(Setting, "public_n", public_though_missing),
        means_ignore_missing_rows,
    ),
    "shape depending on data": Mutant(
        "Cells without a row are left out.",
        replaced(Evaluator, "answer", cells_seen),
        data_decide_neither_errors_nor_shapes,
    ),
    "an empty arm raises": Mutant(
        "A division by a released zero.",
        replaced(Ratio, "rows", rows_as_released),
        data_decide_neither_errors_nor_shapes,
    ),
    "an arm too small is an error": Mutant(
        "One world errors and its neighbour prints a number.",
        replaced(Ratio, "raw", strict_arms),
        data_decide_neither_errors_nor_shapes,
    ),
    "a stored answer combined as independent": Mutant(
        "Thirty copies of one draw look thirty times as accurate.",
        replaced(released, "combine", copies_as_draws),
        one_draw_counts_once,
    ),
    "a fault told in its own words": Mutant(
        "An engine's message names a value.",
        replaced(service, "to_wire", failures_are_told),
        on(
            test_failpoints.test_a_fault_after_the_charge_says_one_constant_code,
            "service",
            "data",
            "dpnb_home",
        ),
    ),
    "a stored release that holds more than it sent": Mutant(
        "A checksum of the content rides along.",
        replaced(release, "_draw", fingerprint_kept),
        neighbours_leave_the_same_bytes,
    ),
    "a sum in the owner's log": Mutant(
        "What was scanned is logged.",
        replaced(service.Curator, "_batch", logged),
        neighbours_leave_the_same_bytes,
    ),
}

"""The store and the share: what is free, what is charged, and which answer is given."""

from __future__ import annotations

import os
import random
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import pytest
from msgspec import Raw

from dpnb.client.priced_batch import batch_of, sent
from dpnb.client.upload import hand_over
from dpnb.datasets import load
from dpnb.errors import BudgetError, CuratorGone, LossError, PlanError, RequestReused
from dpnb.planner.request import Ask
from dpnb.trusted.canonical import canonical
from dpnb.trusted.curator import service as service_module
from dpnb.trusted.curator.open_dataset import sweep
from dpnb.trusted.privacy.loss import PrivacyLoss
from dpnb.trusted.privacy.measure import Measure
from dpnb.trusted.query.plan import digest_of
from dpnb.trusted.wire.codec import exact_json
from dpnb.trusted.wire.messages import Again, Attach, Detach, Submit
from dpnb.trusted.wire.places import Home
from tests.curator import small


def ask(epsilon, **more):
    return Ask.make(epsilon=epsilon, **more)


def spent(data):
    return data.budget.spent.amount


def test_a_question_stored_at_least_at_its_share_is_free(ann, data):
    """Asking again, for as much or for less, charges nothing and gives the same integers."""
    first = ann.release([data.x.mean()], ask(1))
    for epsilon in (1, "0.3"):
        again = ann.release([data.x.mean()], ask(epsilon))
        assert again.charged.amount == 0
        assert again.stored == (True,)
        assert again.measurements[0].releases[0].parts == first.measurements[0].releases[0].parts
    assert spent(data) == 1


def test_a_question_stored_for_less_is_charged_in_full(ann, data):
    """A larger share is not topped up: it is charged whole, with a new draw."""
    ann.release([data.x.mean()], ask("0.5"))
    report = ann.release([data.x.mean()], ask(1))
    assert report.charged == PrivacyLoss.pure(1)
    assert spent(data) == Fraction(3, 2)


def test_a_line_added_to_a_released_cell_pays_its_share_alone(ann, data):
    """The stored question is free and its share is not redistributed."""
    ann.release([data.x.mean()], ask(1))
    report = ann.release([data.x.mean(), data.y.mean()], ask(1))
    assert report.stored == (True, False)
    assert report.charged == PrivacyLoss.pure("0.5")


def test_fresh_always_pays_again(ann, data):
    """With fresh a stored question is charged and drawn anew."""
    first = ann.release([data.x.mean()], ask(1))
    second = ann.release([data.x.mean()], ask(1, fresh=True))
    assert second.charged == PrivacyLoss.pure(1)
    assert second.measurements[0].releases[0].id != first.measurements[0].releases[0].id


def test_run_all_over_a_remeasured_notebook_is_free_and_shows_the_same_numbers(ann, data):
    """Mean at ε 1, remeasured at ε 1.5: a second run charges nothing and combines the same two draws."""

    def notebook():
        estimate = data.x.mean()
        ann.release([estimate], ask(1))
        both = ann.remeasure(estimate, epsilon="1.5")
        return [release.id for release in both.releases], both.value

    first = notebook()
    assert spent(data) == Fraction(5, 2)
    assert notebook() == first
    assert spent(data) == Fraction(5, 2)
    assert len(set(first[0])) == 2


def test_remeasuring_the_combined_estimate_pays_once_more(ann, data):
    """Each further measurement of what is already combined is a new draw and a new charge."""
    estimate = data.x.mean()
    ann.release([estimate], ask(1))
    three = ann.remeasure(ann.remeasure(estimate, epsilon=1), epsilon=1)
    assert len({release.id for release in three.releases}) == 3
    assert spent(data) == 3


def test_identical_questions_in_a_batch_are_one_charge_and_one_answer(ann, data):
    """Two estimates of one question resolve together, for one share."""
    a, b, c = data.x.mean(), data.x.mean(), data.y.mean()
    report = ann.release([a, b, c], ask(1))
    assert report.charged == PrivacyLoss.pure(1)
    assert a.value == b.value
    assert len(report.measurements) == 2


def test_a_public_answer_is_free_and_takes_no_share(ann, data):
    """The public row count costs nothing beside a paid question."""
    n, m = data.count(), data.x.mean()
    report = ann.release([n, m], ask(1))
    assert n.value == small.ROWS
    assert report.charged == PrivacyLoss.pure(1)
    assert ann.release([data.count()], ask(1)).charged.amount == 0


def test_a_question_that_measures_the_same_is_free_and_moves_with_it(ann, data):
    """A mean of x + 3 asks for the integers that a mean of x asked: the same noise, three higher, at no cost."""
    first, shifted, scaled = data.x.mean(), (data.x + 3).mean(), (2 * data.x).mean()
    assert ann.release([first], ask(1)).charged == PrivacyLoss.pure(1)
    assert ann.release([shifted, scaled], ask(2)).charged == PrivacyLoss.pure(0)
    assert shifted.value == pytest.approx(first.value + 3)
    assert scaled.value == pytest.approx(2 * first.value)
    between = (shifted - first).interval(kind="privacy")
    assert (between.low, between.high) == pytest.approx((3, 3))
    assert spent(data) == 1


def test_a_refusal_changes_nothing(ann, data):
    """More than is left: the error names both numbers, nothing is spent, and the question can be asked again."""
    ann.release([data.x.mean()], ask(9))
    estimate = data.y.mean()
    with pytest.raises(BudgetError, match="asks for ε 2; 1 is left of 10"):
        ann.release([estimate], ask(2))
    assert spent(data) == 9
    assert estimate.pending
    ann.release([estimate], ask(1))
    assert data.budget.remaining.amount == 0


def test_two_identical_requests_at_once_make_one_draw(service, dpnb_home):
    """Eight threads ask one question under different request ids: one charge, one answer."""
    sessions = [small.session(service) for _ in range(8)]
    handles = [small.opened(here, dpnb_home) for here in sessions]

    def release(pair):
        here, data = pair
        return here.release([data.x.mean()], ask(1)).measurements[0].releases[0].id

    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(release, zip(sessions, handles, strict=True)))
    assert len(ids) == 1
    assert spent(handles[0]) == 1


def test_the_engine_is_asked_once_for_a_whole_batch(service, ann, data):
    """Ten questions are one engine call."""
    engine = next(iter(service._open.values())).engine
    ann.release([data.x.mean(), data.y.mean(), data.groupby("g").y.mean(), data.x.quantile(0.5)], ask(1))
    assert engine.calls == 1


def test_an_own_cap_sits_under_the_budget(ann, data):
    """cap(epsilon=2) refuses what the budget would still admit, and says whose cap it is."""
    ann.cap(epsilon=2)
    assert data.budget.remaining == PrivacyLoss.pure(2)
    ann.release([data.x.mean()], ask("1.5"))
    with pytest.raises(BudgetError, match="own cap"):
        ann.release([data.y.mean()], ask(1))
    ann.cap()
    assert data.budget.remaining == PrivacyLoss.pure("8.5")


def test_a_cap_in_another_measure_is_refused(ann, data):
    """A pure budget has no ρ."""
    with pytest.raises(LossError, match="epsilon"):
        ann.cap(rho=1)


def test_a_teaching_budget_resets_and_its_store_stays(ann, dpnb_home):
    """After a reset nothing is spent, the history remains, and stored answers are still given."""
    data = small.opened(ann, dpnb_home, mode="teaching", public=True, source="generated.csv")
    first = ann.release([data.x.mean()], ask(1))
    ann.reset(data)
    assert spent(data) == 0
    again = ann.release([data.x.mean()], ask(1))
    assert again.measurements[0].releases[0].id == first.measurements[0].releases[0].id
    assert [row["kind"] for row in ann.ledger(data)] == ["attach", "charge", "reset"]


def submit(service, data, items, request, epsilon, principal="ann"):
    batch = batch_of(items, ask(epsilon))
    message = Submit(handle=data.handle, request=request, digest=batch.digest, plan=batch.body)
    return service.reply(message, principal)


def test_a_retry_returns_the_same_answer_for_the_same_charge(service, data):
    """Same request id, same plan: the stored answer, no further charge."""
    first = submit(service, data, [data.x.mean()], "a" * 32, 1)
    again = submit(service, data, [data.x.mean()], "a" * 32, 1)
    assert exact_json(again.releases) == exact_json(first.releases)
    assert spent(data) == 1


def test_a_plan_that_is_not_its_digest_is_refused(service, data):
    """A digest of another plan is refused before any charge."""
    batch = batch_of([data.x.mean()], ask(1))
    message = Submit(handle=data.handle, request="a" * 32, digest="0" * 64, plan=batch.body)
    with pytest.raises(PlanError, match="digest"):
        service.reply(message, "ann")
    assert spent(data) == 0


def test_a_batch_that_asks_one_question_twice_is_refused(service, data):
    """A kernel that does not join equal measurements would pay twice for one answer: refused before any charge."""
    plan = sent(batch_of([data.x.mean(), data.y.mean()], ask(1)).priced).to_json()
    twice = canonical({**plan, "questions": [plan["questions"][0]] * 2})
    message = Submit(handle=data.handle, request="a" * 32, digest=digest_of(twice), plan=Raw(twice.encode()))
    with pytest.raises(PlanError, match="the same twice"):
        service.reply(message, "ann")
    assert spent(data) == 0


MAKERS = (
    lambda d: d.count(),
    lambda d: d.x.mean(),
    lambda d: d.x.mean(ci=False),
    lambda d: d.y.mean(),
    lambda d: d.x.sum(),
    lambda d: d.x.variance(),
    lambda d: d.x.std(),
    lambda d: d.groupby("g").x.sum(),
    lambda d: d.groupby("g").count(),
    lambda d: d.x.quantile([0.1, 0.9]),
    lambda d: d.x.histogram(),
    lambda d: d.x.tree(),
    lambda d: d.x.density(5),
    lambda d: d[d.x > 3].count(),
    lambda d: (d.x * 2 - d.g > 5).mean(),
    lambda d: d.y.difference(by="g"),
)


def random_cell(rng, data):
    """A random choice of questions, some weighted, and a random loss."""
    items = [make(data) for make in rng.sample(MAKERS, rng.randint(1, 5))]
    for item in items:
        if rng.random() < 0.3:
            item.weight(rng.randint(1, 9))
    fresh = rng.random() < 0.5
    if data.schema.budget.measure is Measure.ZCDP and rng.random() < 0.5:
        items = [item for item in items if "quantile" not in item.text] or [data.x.mean()]
        return items, Ask.make(rho=f"0.{rng.randint(1000, 99999):05d}", fresh=fresh)
    return items, ask(f"0.{rng.randint(100, 9999):04d}", fresh=fresh)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [{"epsilon": 10**6}, {"rho": 10**6}], ids=["pure", "zcdp"])
def test_price_shown_equals_charge_in_exact_rationals(ann, dpnb_home, budget):
    """For random cells, the plan's cost, the report and the ledger's total agree exactly."""
    charged_as_shown(ann, small.opened(ann, dpnb_home, **budget), 50, 13)


@pytest.mark.soak
@pytest.mark.parametrize("budget", [{"epsilon": 10**6}, {"rho": 10**6}], ids=["pure", "zcdp"])
def test_price_shown_equals_charge_for_1000_cells(ann, dpnb_home, budget):
    """The long version."""
    charged_as_shown(ann, small.opened(ann, dpnb_home, **budget), 500, 11)


def charged_as_shown(ann, data, cells, seed):
    """Release random cells of a dataset, and hold each one's charge against what its plan showed."""
    rng = random.Random(seed)
    before = data.budget.spent
    for _ in range(cells):
        items, asked = random_cell(rng, data)
        plan = ann.plan(items, asked)
        report = ann.release(items, asked)
        paid = [item.loss for item, free in zip(plan.items, plan.stored, strict=True) if not free]
        assert plan.cost == report.charged
        assert plan.stored == report.stored
        assert plan.left - report.charged == report.left
        assert plan.cost.fits_in(sum(paid, PrivacyLoss.zero(plan.priced.measure)))
        after = data.budget.spent
        assert after == before + report.charged
        before = after
    assert ann.ledger_rows(data)[-1]["spent_after"] == before


@pytest.mark.parametrize(
    ("asked", "make"),
    [
        (Ask.make(epsilon="0.3"), lambda d: d.x.mean()),
        (Ask.make(epsilon="0.3"), lambda d: d.x.quantile(0.5)),
        (Ask.make(rho="0.03"), lambda d: d.x.mean()),
    ],
)
def test_a_release_says_what_kind_of_loss_its_share_was(ann, dpnb_home, asked, make):
    """In a budget of ρ a share may be of either kind, and its number alone does not say which; nor does what was charged."""
    from dpnb.widgets.coverage_estimate import _paid

    data = small.opened(ann, dpnb_home, rho=10)
    for fresh in (True, False):  # the second is read from the store
        answer = make(data)
        ann.release([answer], replace(asked, fresh=fresh))
        (release,) = answer.releases
        wanted = (asked.kind, float(asked.epsilon or asked.rho))
        assert (release.share_kind, float(Fraction(release.share))) == wanted == _paid(answer.measurement)
        assert release.loss.measure is Measure.ZCDP
    assert release.stored


def test_a_pool_joins_datasets_in_one_budget(ann, dpnb_home):
    """Two datasets about the same people: what one is charged, the other lacks, and the card says what is not detected."""
    one = small.opened(ann, dpnb_home, name="one", pool="county")
    two = small.opened(ann, dpnb_home, name="two", pool="county")
    ann.release([one.x.mean()], ask(7))
    assert two.budget.remaining == PrivacyLoss.pure(3)
    assert any("county" in note for note in two.notes)


def test_a_report_is_one_file_with_every_result(ann, data, tmp_path):
    """dpnb.report writes released results; a pending one is refused by name."""
    import dpnb

    mean = data.x.mean()
    with pytest.raises(PlanError, match="not released"):
        dpnb.report([mean], to=tmp_path / "report.html")
    ann.release([mean], ask(1))
    dpnb.report({"average": mean}, to=tmp_path / "report.html")
    text = (tmp_path / "report.html").read_text()
    assert "average" in text
    assert "small.x.mean()" in text


def test_a_request_id_cannot_carry_a_charge_over_to_other_data(service, ann, data, dpnb_home, monkeypatch):
    """A charge that was not answered is completed with the data it was made for, never with another version's."""
    monkeypatch.setattr(data_engine(service, data), "answer", no_answer)
    with pytest.raises(RuntimeError):
        submit(service, data, [data.x.mean()], "a" * 32, 1)
    other = small.opened(ann, dpnb_home, small.rows(seed=2))
    assert other.handle != data.handle
    with pytest.raises(RequestReused):
        submit(service, other, [other.x.mean()], "a" * 32, 1)
    assert spent(other) == 1


def data_engine(service, data):
    return service._find(data.handle, "ann").engine


def no_answer(requests):
    raise RuntimeError("the disk is gone")


def test_an_old_handle_does_not_open_again_after_its_terms_were_tightened(service, ann, data, dpnb_home):
    """A curator started anew serves what is pinned now, not what a handle remembers."""
    small.opened(ann, dpnb_home, epsilon=5)
    service.close()
    anew = small.curator(dpnb_home)
    with pytest.raises(CuratorGone, match="terms"):
        anew.reply(Attach(source=Again(handle=narrow(anew, data, dpnb_home))), "ann")
    anew.close()


def narrow(service, data, home):
    """Tighten the bounds of a column through another session, and return the old handle."""
    facts = small.declared(epsilon=5)
    facts["columns"] = {**facts["columns"], "x": {**facts["columns"]["x"], "upper": 8}}
    small.session(service).attach(hand_over(small.rows(), load(facts).schema, Home(home)))
    return data.handle


def test_a_batch_that_waited_for_a_detach_charges_nothing(service, data):
    """Its copy is gone: it is told to open the dataset again before anything is spent."""
    attached, waiting = service._find(data.handle, "ann"), []
    detach = Detach(handle=data.handle, remove=True)
    with ThreadPoolExecutor(2) as pool:
        with attached.lock:
            closing = pool.submit(service.reply, detach, "ann")
            while (("ann", data.handle)) in service._open:
                pass
            service._open["ann", data.handle] = attached
            waiting.append(pool.submit(submit, service, data, [data.x.mean()], "a" * 32, 1))
            time.sleep(0.2)
            del service._open["ann", data.handle]
        closing.result()
        with pytest.raises(CuratorGone):
            waiting[0].result()
    assert service._ledger.charged("a" * 32, "ann") is None


def test_an_open_handle_is_closed_when_its_terms_are_tightened(service, data, dpnb_home):
    """Another session's tightening holds at once: the older handle asks nothing more."""
    handle = narrow(service, data, dpnb_home)
    with pytest.raises(CuratorGone, match="terms"):
        data.session.release([data.x.mean()], ask(1))
    assert ("ann", handle) not in service._open


@pytest.mark.parametrize("ended", [True, False], ids=["curator ended", "terms tightened"])
def test_a_detach_removes_a_copy_that_is_not_open_any_more(service, data, dpnb_home, ended):
    """The curator ended since, or the terms were tightened: the rows' copy goes all the same, and no other."""
    mine = service._find(data.handle, "ann").copy
    narrow(service, data, dpnb_home)
    others = {path for path in mine.parent.iterdir() if path.suffix == ".duckdb"} - {mine}
    if ended:
        service.close()
    now = small.curator(dpnb_home) if ended else service
    now.reply(Detach(handle=data.handle, remove=True), "bob")
    now.reply(Detach(handle=data.handle, remove=False), "ann")
    assert mine.exists()
    now.reply(Detach(handle=data.handle, remove=True), "ann")
    assert {path for path in mine.parent.iterdir() if path.suffix == ".duckdb"} == others
    assert not mine.with_name(f"{data.handle}.json").exists()
    now.close()


def test_a_killed_curators_leavings_are_swept(dpnb_home):
    """Half-made copies and rows that nobody came for are deleted; fresh ones wait for their attach."""
    home = Home(dpnb_home).make()
    (home.prepared / ".preparing-abc").mkdir()
    (home.prepared / ".preparing-abc" / "copy.duckdb").write_bytes(b"rows")
    (home.prepared / "draft-0.duckdb").write_bytes(b"rows")
    old, new = home.hand_over / "0.npz", home.hand_over / "1.npz"
    for path in (old, new):
        path.write_bytes(b"rows")
    os.utime(old, (0, 0))
    sweep(home)
    assert list(home.prepared.iterdir()) == []
    assert list(home.hand_over.iterdir()) == [new]


def test_a_plan_that_was_looked_at_is_not_priced_again_when_it_is_charged(ann, data, monkeypatch):
    """The price of the last plan is kept with the open dataset, for the same bytes under the same schema alone."""
    priced = []
    real = service_module.charged_for
    monkeypatch.setattr(service_module, "charged_for", lambda *given: priced.append(given) or real(*given))
    ann.plan([data.x.mean()], ask(1))
    ann.release([data.x.mean()], ask(1))
    assert len(priced) == 1
    ann.release([data.x.mean()], ask("0.5", fresh=True))
    assert len(priced) == 2
    ann.release([data.x.mean()], ask("0.5", fresh=True))
    assert len(priced) == 2


def test_the_price_of_a_plan_is_not_kept_under_another_schema(ann, service, data):
    """Where the owner's terms changed under an open handle, the plan is read again, and refused as one of the old schema."""
    ann.plan([data.x.mean()], ask(1))
    (opened,) = service._open.values()
    opened.schema = small.schema(rows=small.ROWS, title="Another title", epsilon=5)
    assert opened.priced[1] is not opened.schema
    ann.plan([data.x.mean()], ask(1))
    assert opened.priced[1] is opened.schema


def test_a_long_plan_is_not_kept(ann, service, data):
    """What is kept of an open dataset is bounded: a long plan is priced whenever it comes."""
    ann.plan([data[data.x < bound].count() for bound in range(1, 11)], ask(1))
    (opened,) = service._open.values()
    kept = len(opened.priced[0])
    assert 0 < kept <= service_module._KEPT
    ann.plan([data[(data.x < a) | (data.x > b)].count() for a in range(1, 9) for b in range(a, 10)], ask(1))
    assert len(opened.priced[0]) == kept

"""Bad input in a ``%%dp`` cell: the cell fails with one short line, and nothing is spent."""

from __future__ import annotations

import asyncio
import threading

import pytest

import dpnb
from dpnb.notebook import load
from tests.bad_input.conftest import SECRET
from tests.notebook.conftest import Notebook, shell

__all__ = ["shell"]


@pytest.fixture
def cells(desk, shell, monkeypatch):
    """A shell with dpnb loaded, and `p` open behind a curator in this process."""
    monkeypatch.setattr("dpnb.notebook.cell_release.current_session", lambda: desk.session)
    load(shell)
    notebook = Notebook(shell, None)
    notebook.names.update(p=desk.people(), dpnb=dpnb)
    return notebook


def spent(cells):
    """What the ledger says."""
    return cells.names["p"].budget.spent.amount


WRONG = {
    "%%dp epsilon=0\nq = p.x.mean()": "above 0",
    "%%dp epsilon=-1\nq = p.x.mean()": "above 0",
    "%%dp epsilon=nan\nq = p.x.mean()": "epsilon",
    "%%dp epsilon=1e-300\nq = p.x.mean()": "1e-9",
    "%%dp epsilon=lots\nq = p.x.mean()": "epsilon",
    "%%dp epsilom=1\nq = p.x.mean()": "did you mean epsilon",
    "%%dp epsilon=99\nq = p.x.mean()": "Options: %%dp epsilon=10",
    "%%dp epsilon=1\nq = r.x.mean()": "name 'r' is not defined",
    "%%dp epsilon=1\nq = p.x.mean()\nraise ValueError('half way')": "half way",
    "%%dp epsilon=1\nq = p.x.mean(\n": "SyntaxError",
    "%%dp epsilon=1\nq = 'p.x\n": "SyntaxError",
    "%%dp epsilon=1\n  q = p.x.mean()\n q": "unexpected indent",
    "%%dp epsilon=1\nq = p.groupby('big').count()": "Group by bins",
}


@pytest.mark.slow
def test_a_wrong_cell_fails_in_one_short_line_and_spends_nothing(cells):
    """Every wrong loss, option, name and body of the table: the first line says it, and the ledger is untouched."""
    for text, words in WRONG.items():
        seen = cells.fails(text)
        first = seen.strip().splitlines()[0] if seen.strip() else ""
        assert words in seen, (text, seen)
        assert SECRET not in seen
        assert len(first) <= 240, (text, first)
        assert len(seen.splitlines()) <= 14, (text, seen)
    assert spent(cells) == 0
    cells("%%dp epsilon=1\nq = p.x.mean()")
    assert spent(cells) == 1


def test_two_cells_at_once_are_two_charges(cells):
    """Two threads and two tasks with blocks of their own: each pays for its own questions, once."""
    p, values = cells.names["p"], []

    def work(place):
        with dpnb.spend(epsilon="0.5"):
            mean = p.x.clip(0, place + 3).mean()
        values.append(mean.value)

    threads = [threading.Thread(target=work, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(values) == 4
    assert spent(cells) == 2

    async def task(place):
        with dpnb.spend(epsilon="0.5"):
            mean = p.x.clip(1, place + 3).mean()
            await asyncio.sleep(0.01)
        return mean.value

    async def both():
        return await asyncio.gather(task(0), task(1))

    assert len(asyncio.run(both())) == 2
    assert spent(cells) == 3


def test_the_same_cell_in_two_threads_is_one_charge(cells):
    """The button pressed twice: one answer, one price."""
    p, values = cells.names["p"], set()

    def work():
        with dpnb.spend(epsilon=1):
            mean = p.x.mean()
        values.add(mean.value)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(values) == 1
    assert spent(cells) == 1


def test_a_cell_over_budget_then_a_cheaper_one(cells):
    """What the refusal proposes works as it is written."""
    seen = cells.fails("%%dp epsilon=11\na = p.x.mean()\nb = p.y.mean()")
    assert "leave out p.x.mean() and write %%dp epsilon=5.5. Nothing was spent." in seen
    option = seen.split("%%dp ")[1].split(" ")[0]
    cells(f"%%dp {option}\na = p.x.mean()\nb = p.y.mean()")
    assert spent(cells) == 10

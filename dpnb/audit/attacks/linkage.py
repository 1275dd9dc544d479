r"""Linkage: names are off, but birth year, sex and place are on; a register with names has them too.

From a table of counts by quasi-identifiers and a sensitive value, and a public register, the attacker guesses each person's
value. Exact counts give away everyone who is alone in a cell (and everyone whose cell agrees). Under ε each count carries
discrete Laplace noise of scale 2/ε (change-one moves two cells); the attacker weighs each value by its likelihood

.. math:: \ln p(s) + \ln\frac{P(y_s \mid \text{count } 1)}{P(y_s \mid \text{count } 0)}.

References
----------
Sweeney (2000), "Simple Demographics Often Identify People Uniquely".
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.audit.attacks.publications import FEWEST, LABELS, Bench, Publication, grid, lifted, private, shown
from dpnb.audit.attacks.result import EXACT, AttackResult, AttackRow, epsilon_label, epsilons_of, made
from dpnb.datasets import census
from dpnb.errors import OptionError, PlanError
from dpnb.inference.simulated_release import add_noise
from dpnb.risk.odds import posterior
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.trusted.privacy.loss import rational

Integers = NDArray[np.int64]


def linkage(
    quasi: Sequence[ArrayLike],
    secret: ArrayLike,
    *,
    epsilons: Sequence[float] = (0.1, 0.5, 1, 2, 4, 8, EXACT),
    reps: int = 20,
    rng: int | np.random.Generator = 0,
) -> AttackResult:
    """Recover a sensitive value of everyone in a register from a table without names.

    Parameters
    ----------
    quasi : sequence of array_like, each of shape (people,)
        What both table and register have: age, sex, place.
    secret : array_like, shape (people,)
        The sensitive value, in the table alone.
    epsilons : sequence of float
        Loss of the published table of counts; ``inf`` publishes it as it is.
    reps : int
    rng : int or Generator

    Returns
    -------
    AttackResult
        Success is the right value; guessing is the commonest value for everyone.

    Examples
    --------
    >>> found = linkage([[1, 2, 3, 4]], ["a", "b", "a", "c"], epsilons=(float("inf"),), reps=2)
    >>> found.rows[0].recovered, found.rows[0].baseline
    (1.0, 0.5)
    """
    cells, values, table = table_of(quasi, secret)
    prior = np.bincount(values, minlength=table.shape[1]) / values.size
    baseline = float(prior.max())
    generator = np.random.default_rng(rng)
    alone = float((np.bincount(cells)[cells] == 1).mean())
    rows = [
        _row(epsilon, table, cells, values, prior, max(reps, 2), generator)
        for epsilon in epsilons_of(epsilons)
    ]
    return AttackResult(
        "Linkage",
        f"a sensitive value of {values.size:,} people from counts without names; {100 * alone:.0f} % are alone in a cell",
        "ε",
        tuple(rows),
        f"the commonest value for everyone, right for {100 * baseline:.0f} %",
    )


def table_of(quasi: object, secret: object) -> tuple[Integers, Integers, Integers]:
    """Return each person's cell and value as codes, and the table of counts.

    Raises
    ------
    OptionError
        When the columns are not of one length, or there is one person.
    """
    columns = [_codes(column) for column in (quasi if isinstance(quasi, Iterable) else ())]
    values = _codes(secret)
    if not columns or any(column.size != values.size for column in columns) or values.size < 2:
        raise OptionError("quasi is a list of columns, each as long as secret, with at least two people.")
    coded = np.stack(columns)
    _, cells = np.unique(coded, axis=1, return_inverse=True)
    cells = cells.ravel()
    table = np.zeros((int(cells.max()) + 1, int(values.max()) + 1), dtype=np.int64)
    np.add.at(table, (cells, values), 1)
    return cells, values, table


def _codes(column: object) -> Integers:
    """A column's values as codes; a missing one (``None``) is a value like the others."""
    try:
        cells = np.asarray(() if column is None else column).ravel()
        codes: Integers = np.unique(cells, return_inverse=True)[1]
    except TypeError:  # values that have no order: in the order in which they come
        known: dict[str, int] = {}
        return np.array([known.setdefault(repr(cell), len(known)) for cell in cells], dtype=np.int64)
    except ValueError:
        raise OptionError("A column of quasi is a list of values, one for each person.") from None
    return codes


def _row(
    epsilon: float,
    table: Integers,
    cells: Integers,
    values: Integers,
    prior: NDArray[np.float64],
    reps: int,
    generator: np.random.Generator,
) -> AttackRow:
    baseline = float(prior.max())
    if math.isinf(epsilon):
        guesses = np.broadcast_to(
            np.where(table > 0, np.log1p(table), -np.inf).argmax(axis=1)[cells], (2, values.size)
        )
        return made("exact", guesses == values, baseline)
    mechanism = DiscreteLaplace.calibrate(2, Fraction(rational(epsilon)))
    hits = np.empty((reps, values.size), dtype=bool)
    for rep in range(reps):
        seen = add_noise(mechanism, table, generator)
        evidence = np.clip(2 * seen - 1, -1, 1) / float(mechanism.scale)
        hits[rep] = (np.log(prior)[None, :] + evidence).argmax(axis=1)[cells] == values
    return made(epsilon_label(epsilon), hits, baseline, posterior(min(baseline, 1 - 1e-9), epsilon))


def on_linkage(
    rng: int | Sequence[int], quasi: Sequence[ArrayLike] | None = None, secret: ArrayLike | None = None
) -> Bench:
    """Link a register with names to a table of counts without names.

    Parameters
    ----------
    rng : int or sequence of int
    quasi : sequence of array_like, each of shape (people,), optional
        What the register knows of your own people.
    secret : array_like, shape (people,), optional
        What only the table knows of them.
    """
    generator = np.random.default_rng(rng)
    if quasi is None or secret is None:
        people = census(2_000, int(generator.integers(2**31)))
        quasi, secret = [people[name] for name in ("age", "sex", "state")], people["education"]
        goal = "The education of 2,000 people in a register, from counts by age, sex, state and education without names."
    else:
        quasi, secret = _register(quasi, secret)
        goal = f"A value of {len(secret):,} people in a register, from counts by {len(quasi)} known columns and it, without names."
    blocks = 20 if len(secret) % 20 == 0 else len(secret)
    epsilons = grid(0.1, 10, 9)
    known = linkage(quasi, secret, epsilons=(*epsilons, EXACT), reps=10, rng=generator)
    cells, values, table = table_of(quasi, secret)
    share = table.sum(axis=0) / values.size

    def right(seen: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(((seen + share / 2).argmax(axis=1)[cells] == values).reshape(blocks, -1))

    draw = generator.multinomial(values.size, (table / values.size).ravel()).reshape(table.shape)
    base = known.baseline
    return Bench(
        "linkage",
        goal,
        "the commonest value for everyone",
        "the whole table",
        epsilons,
        base,
        (
            Publication("raw", LABELS["raw"], "Each count is exact.", (known["exact"],)),
            shown("rounded", "Each count is rounded to threes.", right(np.rint(table / 3) * 3), base),
            shown("suppressed", "Counts under 3 are not shown.", right(np.where(table < 3, 0, table)), base),
            shown(
                "resampled", "The table is that of one bootstrap resample.", right(draw.astype(float)), base
            ),
            private(known.rows[:-1], "Each count carries discrete Laplace noise.", lifted(base)),
        ),
    )


def _register(
    quasi: Sequence[ArrayLike], secret: ArrayLike
) -> tuple[list[NDArray[np.generic]], NDArray[np.generic]]:
    columns, values = [np.asarray(column) for column in quasi], np.asarray(secret)
    whole = values.ndim == 1 and values.size >= FEWEST and values.dtype.kind in "biufUS"
    if not whole or not columns or any(column.shape != values.shape for column in columns):
        raise PlanError(
            f"quasi= is a list of columns and secret= a column, all of the same {FEWEST} people or more."
        )
    return columns, values

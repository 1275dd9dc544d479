"""Defects found in the wild, in libraries and not in papers: each is one line that looks right."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dpnb.errors import LossError
from dpnb.exhibits.exhibit import Exhibit, Finding, Floats, Lever, Lines, Numbers, evenly
from dpnb.exhibits.laws import Answer, laplace_loss, noised
from dpnb.trusted.mechanisms import DiscreteLaplace
from dpnb.trusted.privacy.loss import rational

Data = Sequence[float] | NDArray[Any]
_EPSILON = 0.5
_LOWER, _UPPER = -5, 0
_DEBTS = ([-2, 0, -1], [-2, 0, -1, -5])


def _debts(data: Data) -> list[int]:
    return [sum(min(max(int(x), _LOWER), _UPPER) for x in data)]


def _upper_bound_scale(data: Data, size: int, rng: np.random.Generator) -> Floats:
    """A sum with Laplace noise of scale upper/ε, which is 0 when the upper bound is."""
    return np.asarray(_debts(data)[0] + _UPPER * rng.laplace(0, 1 / _EPSILON, size))


def _refused() -> str:
    try:
        DiscreteLaplace.calibrate(_UPPER, rational(_EPSILON))
    except LossError as error:
        return f"dpnb: {error}"
    raise AssertionError("a mechanism without noise was made")


def _measure_zero() -> Numbers:
    first, second = (_debts(data)[0] for data in _DEBTS)
    scale = max(abs(_LOWER), abs(_UPPER)) / _EPSILON
    return Numbers(
        Finding(_EPSILON, math.inf if first != second and _UPPER == 0 else 0.0, "ε"),
        Finding(_EPSILON, laplace_loss(_debts, [scale], *_DEBTS), "ε"),
        exact=True,
        how=f"the output is exactly {first}: certain under A, impossible under B",
        more=(("sensitivity 0", _refused()),),
    )


def _upper(bound: float) -> Lines:
    """A debt of 5 arrives; the noise was scaled by the upper bound alone."""
    promise, debt = _EPSILON, abs(_LOWER)
    return promise, debt * promise / bound if bound else math.inf, debt * promise / max(debt, bound)


ZERO_BOUND = Exhibit(
    "zero-sensitivity",
    "A sensitivity of zero at a zero bound",
    "a pattern in libraries: the scale of a sum's noise taken from its upper bound",
    "a sum of values in [lower, upper] with Laplace noise of scale upper/ε is ε-private",
    "Values in [-5, 0] have an upper bound of 0: the noise is 0 and the exact sum is printed.",
    "max(|lower|, |upper|) when people come and go, upper - lower when they change; a sensitivity of 0 is refused.",
    "The noise that should have been there.",
    _DEBTS,
    ("three debts", "the same and a debt of 5"),
    _measure_zero,
    _upper_bound_scale,
    noised(_debts, [max(abs(_LOWER), abs(_UPPER)) / _EPSILON]),
    claimed=_EPSILON,
    kept=_EPSILON,
    theme="sensitivity",
    cell='# values from -3 to 0\ndpnb.plan({"debts": (0 - hiv.tinc).sum()}, epsilon=0.5)',
    event=("the answer is exactly -3", lambda answers: np.asarray(answers) == -3.0),
    lever=Lever(
        "upper bound",
        "ε",
        evenly(0, 8, 0.5),
        0,
        "The noise follows the wrong bound: at 0 there is none, and only from 5 on is it enough.",
        _upper,
    ),
)


_SMALL, _MANY = 2.0**-12, 4096


def _rows(first: float) -> NDArray[np.float32]:
    """One row that may change, 4,095 ones, and 4,096 rows a little above half a rounding step at 4,096."""
    tiny = np.nextafter(np.float32(_SMALL), np.float32(1))
    return np.concatenate([[first], np.ones(_MANY - 1), np.full(_MANY, tiny)]).astype(np.float32)


def running_sum(values: ArrayLike) -> float:
    """Add floats of 24 bits one after the other, in the order of the rows."""
    return float(np.add.accumulate(np.asarray(values, dtype=np.float32))[-1])


def _float_sum(data: Data, size: int, rng: np.random.Generator) -> Floats:
    return running_sum(data) + rng.laplace(0, 1 / _EPSILON, size)


_FINE = 2**12


def _integer_sum(data: Data) -> list[int]:
    return [int(np.floor(np.asarray(data, dtype=float) * _FINE + 0.5).astype(np.int64).sum())]


_FLOATS = (_rows(0.0), _rows(1.0))


def _measure_float_sum() -> Numbers:
    move = abs(running_sum(_FLOATS[1]) - running_sum(_FLOATS[0]))
    turned = abs(running_sum(_FLOATS[1]) - running_sum(_FLOATS[1][::-1]))
    return Numbers(
        Finding(_EPSILON, move * _EPSILON, "ε", tolerance=0.01),
        Finding(_EPSILON, laplace_loss(_integer_sum, [_FINE / _EPSILON], *_FLOATS), "ε"),
        exact=True,
        how=f"one value moves by 1 and the float sum by {move:.3f}",
        more=(
            (
                "order",
                f"the same rows, smallest first, add up to {turned:.3f} less: as much as a person, for no person at all",
            ),
        ),
    )


def _tiny(rows: float) -> Lines:
    """How far a float sum moves as one value moves by 1, with so many tiny rows behind it."""
    first, second = (data[: _MANY + int(rows)] for data in _FLOATS)
    promise = _EPSILON
    move = abs(running_sum(second) - running_sum(first))
    return promise, move * promise, promise


FLOAT_SUM = Exhibit(
    "float-sum",
    "Float sums depend on the order of the rows",
    "Casacuberta, Shoemate, Vadhan and Wagaman 2022, Widespread Underestimation of Sensitivity in Differentially Private Libraries",
    "a float sum of values in [0, 1] has sensitivity 1 when one value changes",
    "Each addition rounds. A change of 1 can lift the running sum over a power of two, after which every later addition rounds up.",
    "Integers on a public grid: sums are exact in any order. That is the only kind of sum dpnb makes.",
    "Half a grid step of each value.",
    _FLOATS,
    ("8,192 values in single precision, the first 0", "the same, the first 1"),
    _measure_float_sum,
    _float_sum,
    noised(_integer_sum, [_FINE / _EPSILON]),
    claimed=_EPSILON,
    kept=_EPSILON,
    theme="floating point",
    cell="%%dp epsilon=0.1\n# integers on a grid: exact in any order\ntotal = hiv.distvct.sum()",
    lever=Lever(
        "tiny rows behind the others",
        "ε",
        tuple(512.0 * i for i in range(9)),
        4096,
        "Each rounds up once the sum is past a power of two, and a move of 1 becomes a move of 2.",
        _tiny,
    ),
)


_PARTS = 8


def content_part(value: int) -> int:
    """Return the subset that a row's own content puts it in."""
    return hashlib.md5(str(value).encode(), usedforsecurity=False).digest()[0] % _PARTS


def _answers(data: Data, parts: Sequence[int] | NDArray[np.int64]) -> list[int]:
    """An answer of 0 or 1 from each subset: whether its values sum to a multiple of 3. Any function of a subset will do."""
    sums = np.bincount(parts, weights=data, minlength=_PARTS)
    return [int(total % 3 == 0) for total in sums.tolist()]


def _by_content(data: Data) -> list[int]:
    return _answers(data, [content_part(int(x)) for x in data])


def _by_place(data: Data) -> list[int]:
    return _answers(data, np.arange(len(data)) % _PARTS)


def _moves(answer: Answer, first: Data, second: Data) -> int:
    return sum(a != b for a, b in zip(answer(first), answer(second), strict=True))


def _moving_pair() -> tuple[list[int], list[int]]:
    """Forty values, and the same with the last one changed so that both partitions show as much as they can."""
    tables = ([*range(39), last] for last in range(40, 60))
    pairs = ((rows, [*rows[:-1], other]) for rows in tables for other in range(60, 200))
    return next(pair for pair in pairs if _moves(_by_content, *pair) == 2 and _moves(_by_place, *pair) == 1)


_HASHED = _moving_pair()
_SCALES = [1 / _EPSILON] * _PARTS


def _measure_hash() -> Numbers:
    moved = _moves(_by_content, *_HASHED)
    return Numbers(
        Finding(_EPSILON, laplace_loss(_by_content, _SCALES, *_HASHED), "ε"),
        Finding(_EPSILON, laplace_loss(_by_place, _SCALES, *_HASHED), "ε"),
        exact=True,
        how=f"the changed row leaves one subset and enters another: {moved} answers move, the noise was scaled for one",
    )


def _hashed(value: float) -> Lines:
    """The last value becomes another one: whose subset's answers move."""
    rows = _HASHED[0]
    other = [*rows[:-1], int(value)]
    found, corrected = (laplace_loss(answer, _SCALES, rows, other) for answer in (_by_content, _by_place))
    return _EPSILON, found, corrected


CONTENT_HASH = Exhibit(
    "content-hash-partition",
    "Subsets by a hash of the row",
    "a pattern in libraries: random subsets for subsample-and-aggregate that need no stored order",
    "a changed row changes one subset, so one subset's answer",
    "The hash is of the content. When the content changes, so does the subset: two answers move, and the loss is 2ε.",
    "Subsets by a permanent ordinal written when the data are attached: a changed row stays where it is.",
    "Nothing but the ordinal.",
    _HASHED,
    ("forty values in eight subsets", "the last value is another one"),
    _measure_hash,
    noised(_by_content, _SCALES),
    noised(_by_place, _SCALES),
    claimed=_EPSILON,
    kept=_EPSILON,
    theme="sensitivity",
    cell="import numpy as np\nfrom dpnb.inference.standard_error import subset_variances\n\n"
    "# subsets by place: a changed row stays where it is\nsubset_variances(np.arange(40.0), 8)",
    lever=Lever(
        "the last person's new value",
        "ε",
        tuple(range(_HASHED[1][-1] - 12, _HASHED[1][-1] + 13)),
        _HASHED[1][-1],
        "The new value decides the subset: by content up to two answers move, by place never more than one.",
        _hashed,
    ),
)

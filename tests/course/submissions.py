"""Submissions of the homework: a good one, and wrong ones with the mistakes that grading must name."""

from __future__ import annotations

GOOD = {
    "count": "return len(rows) + rng.laplace(0, 1 / epsilon, size)",
    "sum": "return np.clip(rows, 0, upper).sum() + rng.laplace(0, upper / epsilon, size)",
    "interval": (
        "v = released['sd'] ** 2 / released['n'] + 2 * (released['upper'] / released['n'] / released['epsilon']) ** 2\n"
        "    return released['mean'] - 2.02 * v**0.5, released['mean'] + 2.02 * v**0.5"
    ),
}
_AROUND = "return released['mean'] - {0}, released['mean'] + {0}"
WRONG = {
    "ada": {
        "count": ("return len(rows) + np.zeros(size)", "no noise"),
        "sum": ("return rows.sum() + rng.laplace(0, upper / epsilon, size)", "centred on"),
        "interval": (_AROUND.format("1.96 * released['sd'] / released['n'] ** 0.5"), "contains the truth in"),
    },
    "ben": {
        "count": ("return len(rows) + rng.laplace(0, epsilon, size)", "ε inverted"),
        "sum": (
            "return np.clip(rows, 0, upper).sum() + rng.laplace(0, 1 / epsilon, size)",
            "wrong sensitivity",
        ),
        "interval": (
            _AROUND.format(
                "3 * (released['sd'] / released['n'] ** 0.5 + released['upper'] / released['n'] / released['epsilon'])"
            ),
            "wider than it needs to be",
        ),
    },
    "cleo": {
        "count": ("return len(rows) + rng.normal(0, 1.41421 / epsilon, size)", "looks Gaussian"),
        "sum": (
            "return np.clip(np.clip(rows, 0, upper).sum() + rng.laplace(0, upper / epsilon, size), 0, np.clip(rows, 0, upper).sum())",
            "clamped after the noise",
        ),
        "interval": ("return released['mean']", "an interval has two"),
    },
    "dan": {
        "count": (
            "return len(rows) + np.random.default_rng(1).laplace(0, 1 / epsilon, size)",
            "seed is fixed",
        ),
        "sum": (
            "return np.clip(rows, 0, upper).sum() + rng.laplace(0, 2 * upper / epsilon, size)",
            "twice the noise",
        ),
        "interval": (_AROUND.format("0.5"), "contains the truth in"),
    },
    "eve": {
        "count": ("return len(rows) + rng.laplace(0, 0.8 / epsilon, size)", "times as large as it should be"),
        "sum": (
            "return np.clip(rows, 0, upper).sum() + rng.laplace(0, upper / epsilon / 2, size)",
            "half the noise",
        ),
        "interval": ("return 1 / 0", "ZeroDivisionError"),
    },
    "finn": {
        "count": ("return len(rows) + rng.uniform(-2 / epsilon, 2 / epsilon, size)", "looks uniform"),
        "sum": (
            "return np.clip(rows, 0, upper).sum() + rng.laplace(0, 1.25 * upper / epsilon, size)",
            "times as large as it should be",
        ),
        "interval": (_AROUND.format("released['sd']"), "wider than it needs to be"),
    },
}
"""For each student and exercise the body of the function, and words of the feedback that names the mistake."""

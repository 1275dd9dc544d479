"""Answers to the exercises of the lessons that checks once judged wrongly: wrong ones that passed, and right ones that failed.

Of a wrong one also words that must be told. By the id of the check cell, as `wrong_answers.WRONG` is.
"""

from __future__ import annotations

_TABLE = "np.bincount(data, minlength=5)"
_HIST = "np.bincount(np.asarray(data) // 10, minlength=10)"
_CELLS = "lambda data, epsilon, size, rng: " + _HIST + " + "
_MOMENTS = "lambda data, epsilon, size, rng: moments_of(data) + "

PASSED: dict[str, dict[str, tuple[str, str]]] = {
    "l01-06": {
        "the first two columns": (
            "def unique_share(people, columns):\n    rows = list(zip(*(people[c] for c in columns[:2])))\n    return sum(rows.count(r) == 1 for r in rows) / len(rows)",
            "the first two columns alone",
        ),
    },
    "l02-11": {
        "the numbers of the cell": (
            "def most_belief(prior, epsilon):\n    o = math.exp(epsilon) * prior / (1 - prior)\n    return o / (1 + o) if prior in (0.1, 0.5, 0.01, 0.03) else prior\nlargest_epsilon = lambda prior, limit: math.log(limit / (1 - limit)) - math.log(prior / (1 - prior))",
            "right is",
        ),
    },
    "l02-17": {
        "ε of the cell": (
            "coin_answer = lambda bit, epsilon, size, rng: np.where(rng.random(size) < 0.8175744761936437, bit, 1 - bit)",
            "the ε of the case that you see",
        ),
        "a generator of one's own": (
            "own = np.random.default_rng(7)\ncoin_answer = lambda bit, epsilon, size, rng: np.where(own.random(size) < math.exp(epsilon) / (1 + math.exp(epsilon)), bit, 1 - bit)",
            "Two equal calls give the same outputs",
        ),
    },
    "l03-07": {
        "data and ε ignored": (
            "noisy_count = lambda data, epsilon, size, rng: 3 + rng.laplace(0, 2, size)",
            "the answer of the case that you see",
        ),
        "len(data) - 1": (
            "noisy_count = lambda data, epsilon, size, rng: len(data) - 1 + rng.laplace(0, 1 / epsilon, size)",
            "one less than the number of rows",
        ),
        "n times ε": (
            "noisy_count = lambda data, epsilon, size, rng: np.sum(data) + rng.laplace(0, len(data) * epsilon, size)",
            "n times ε for 1/ε",
        ),
        "ε hard-coded": (
            "noisy_count = lambda data, epsilon, size, rng: np.sum(data) + rng.laplace(0, 1 / 0.5, size)",
            "the noise of the case that you see",
        ),
        "a seed of one's own": (
            "own = np.random.default_rng(42)\nnoisy_count = lambda data, epsilon, size, rng: np.sum(data) + own.laplace(0, 1 / epsilon, size)",
            "it comes from a seed",
        ),
        "a formula that fits at ε = 0.5": (
            "noisy_count = lambda data, epsilon, size, rng: np.sum(data) + rng.laplace(0, math.log(1 / epsilon) / 0.35, size)",
            "The noise is",
        ),
        "each noise twice": (
            "noisy_count = lambda data, epsilon, size, rng: np.sum(data) + np.repeat(rng.laplace(0, 1 / epsilon, -(-size // 2)), 2)[:size]",
            "says something about that of another",
        ),
        "the noise tiled": (
            "noisy_count = lambda data, epsilon, size, rng: np.sum(data) + np.tile(rng.laplace(0, 1 / epsilon, -(-size // 2)), 2)[:size]",
            "says something about that of another",
        ),
        "no return": (
            "def noisy_count(data, epsilon, size, rng):\n    np.sum(data) + rng.laplace(0, 1 / epsilon, size)",
            "End it with `return`",
        ),
        "expected from the caller": (
            "import sys\ndef noisy_count(data, epsilon, size, rng):\n    frame = sys._getframe()\n    while frame and 'expected' not in frame.f_locals:\n        frame = frame.f_back\n    return (frame.f_locals['expected'] if frame else 0) + rng.laplace(0, 1 / epsilon, size)",
            "centred on",
        ),
    },
    "l03-10": {
        "the radius of the cell": (
            "def privacy_interval(answer, epsilon, level=0.95):\n    r = 5.9915 if level == 0.95 else 2 * level\n    return answer - r, answer + r",
            "right is",
        ),
    },
    "l04-06": {
        "U for U - L": (
            "private_mean = lambda data, low, high, epsilon, size, rng: np.clip(data, low, high).mean() + rng.laplace(0, high / (len(data) * epsilon), size)",
            "U for U - L",
        ),
        "the lower bound is not used": (
            "private_mean = lambda data, low, high, epsilon, size, rng: np.minimum(data, high).mean() + rng.laplace(0, (high - low) / (len(data) * epsilon), size)",
            "the lower bound is not used",
        ),
        "the scale from the data after the cap": (
            "def private_mean(data, low, high, epsilon, size, rng):\n    kept = np.clip(data, low, high)\n    return kept.mean() + rng.laplace(0, np.ptp(kept) / (len(kept) * epsilon), size)",
            "told apart better than ε allows",
        ),
        "ε hard-coded": (
            "private_mean = lambda data, low, high, epsilon, size, rng: np.clip(data, low, high).mean() + rng.laplace(0, (high - low) / (len(data) * 0.5), size)",
            "the ε of the case that you see",
        ),
    },
    "l04-14": {
        "high for the width": (
            "typical_error = lambda data, low, high, epsilon: np.sqrt((np.clip(data, low, high).mean() - np.mean(data)) ** 2 + 2 * (high / (len(data) * epsilon)) ** 2)\nchoose_upper = lambda data, epsilon: min(range(1, 78), key=lambda high: typical_error(data, 0, high, epsilon))",
            "the lower bound is forgotten in the scale",
        ),
        "n hard-coded": (
            "typical_error = lambda data, low, high, epsilon: np.sqrt((np.clip(data, low, high).mean() - np.mean(data)) ** 2 + 2 * ((high - low) / (4 * epsilon)) ** 2)\nchoose_upper = lambda data, epsilon: 30 if epsilon > 10 else int(20 + epsilon)",
            "The typical error for bounds",
        ),
    },
    "l05-09": {
        "unit hard-coded": (
            "capped = lambda table, unit, k, rng: table.sample(frac=1, random_state=rng).groupby('person').head(k)",
            "by household",
        ),
        "k hard-coded": (
            "capped = lambda table, unit, k, rng: table.sample(frac=1, random_state=rng).groupby(unit).head(3)",
            "With k =",
        ),
    },
    "l05-12": {
        "k hard-coded": (
            "night_visits = lambda table, k, epsilon, size, rng: capped(table, 'person', 2, rng)['night'].sum() + rng.laplace(0, 2 / epsilon, size)",
            "k is not used",
        ),
        "the scale from the data after the cap": (
            "def night_visits(table, k, epsilon, size, rng):\n    used = capped(table, 'person', k, rng)\n    return used['night'].sum() + rng.laplace(0, used.groupby('person').size().max() / epsilon, size)",
            "the scale follows the data",
        ),
    },
    "l06-06": {
        "the share of one answer at ε = 2": (
            "recovered = lambda count, epsilon, asks, reps, rng: 1.0 if epsilon > 9 or asks > 9 else 0.632 if epsilon > 1 else 0.05",
            "same for every rng",
        ),
        "a seed of one's own": (
            "def recovered(count, epsilon, asks, reps, rng):\n    rng = np.random.default_rng(3)\n    return np.mean(np.rint((count + rng.laplace(0, 1 / epsilon, (reps, asks))).mean(axis=1)) == count)",
            "same for every rng",
        ),
    },
    "l06-19": {
        "the case of the cell": (
            "split = lambda weights, epsilon: epsilon * np.array([0.5, 0.25, 0.25] if len(weights) == 3 else np.full(len(weights), 1 / len(weights)))",
            "right is",
        ),
    },
    "l07-06": {
        "the root in the numerator": (
            f"gaussian_table = lambda data, rho, size, rng: {_TABLE} + rng.normal(0, math.sqrt(2) * math.sqrt(2 * rho), (size, 5))",
            "ρ inverted",
        ),
        "2ρ and not its root": (
            f"gaussian_table = lambda data, rho, size, rng: {_TABLE} + rng.normal(0, math.sqrt(2) / (2 * rho), (size, 5))",
            "the root forgotten",
        ),
        "2ρ in the numerator": (
            f"gaussian_table = lambda data, rho, size, rng: {_TABLE} + rng.normal(0, math.sqrt(2) * 2 * rho, (size, 5))",
            "The noise is",
        ),
        "ρ left out": (
            f"gaussian_table = lambda data, rho, size, rng: {_TABLE} + rng.normal(0, math.sqrt(2), (size, 5))",
            "ρ left out",
        ),
        "one cell the opposite of another": (
            f"def gaussian_table(data, rho, size, rng):\n    z = rng.normal(0, 1 / math.sqrt(rho), (size, 5))\n    z[:, 4] = -z[:, 0]\n    return {_TABLE} + z",
            "their sum is exact",
        ),
    },
    "l07-11": {
        "δ hard-coded": (
            "epsilon_of = lambda rho, delta: rho + 2 * math.sqrt(rho * math.log(1e6))\nrho_of = lambda epsilon, delta: (math.sqrt(math.log(1e6) + epsilon) - math.sqrt(math.log(1e6))) ** 2 * (1 if delta == 1e-6 else 2)",
            "right is",
        ),
    },
    "l08-09": {
        "half of the cells share": (
            f"noisy_moments = {_MOMENTS}np.repeat(rng.laplace(0, 6 / epsilon, (size, 3)), 2, axis=1)",
            "their difference is exact",
        ),
        "the second half is the first": (
            f"noisy_moments = {_MOMENTS}np.tile(rng.laplace(0, 6 / epsilon, (size, 3)), 2)",
            "their difference is exact",
        ),
        "n exact": (
            f"noisy_moments = {_MOMENTS}np.c_[np.zeros(size), rng.laplace(0, 6 / epsilon, (size, 5))]",
            "is given without noise",
        ),
    },
    "l08-12": {
        "the sign lost": (
            "def correlation(sums):\n    n, su, sv, suu, svv, suv = sums\n    a, b = n * suu - su**2, n * svv - sv**2\n    return min(1, abs((n * suv - su * sv) / np.sqrt(a * b))) if a > 0 and b > 0 else float('nan')",
            "the sign is lost",
        ),
        "cut above alone": (
            "def correlation(sums):\n    n, su, sv, suu, svv, suv = sums\n    a, b = n * suu - su**2, n * svv - sv**2\n    return min(1, (n * suv - su * sv) / np.sqrt(a * b)) if a > 0 and b > 0 else float('nan')",
            "cut at 1 and not at -1",
        ),
    },
    "l09-09": {
        "seven people": (
            "def median_chances(data, epsilon):\n    data, grid = np.asarray(data), np.arange(101)\n    e = -0.7 * np.abs((data[:, None] < grid).sum(0) - (data[:, None] > grid).sum(0)) / 4\n    w = np.exp(e - e.max())\n    return w / w.sum()",
            "right is",
        ),
    },
    "l09-15": {
        "noise shared by pairs": (
            f"noisy_histogram = {_CELLS}np.repeat(rng.laplace(0, 2 / epsilon, (size, 5)), 2, axis=1)",
            "their difference is exact",
        ),
        "noise tiled": (
            f"noisy_histogram = {_CELLS}np.tile(rng.laplace(0, 2 / epsilon, (size, 5)), 2)",
            "their difference is exact",
        ),
        "two columns of one": (
            f"def noisy_histogram(data, epsilon, size, rng):\n    z = rng.laplace(0, 2 / epsilon, (size, 5))\n    return {_HIST} + np.c_[z, z]",
            "their difference is exact",
        ),
        "signs of their own, sizes shared": (
            f"def noisy_histogram(data, epsilon, size, rng):\n    z = rng.laplace(0, 2 / epsilon, (size, 1))\n    return {_HIST} + z * rng.choice([-1, 1], (size, 10))",
            "says something about that of another",
        ),
    },
    "l10-09": {
        "1.96 where the noise widens": (
            "def honest(seen):\n    h = 1.96 * np.sqrt(seen['sd'] ** 2 / seen['n'] + 2 * seen['scale'] ** 2)\n    return seen['answer'] - h, seen['answer'] + h",
            "as if the noise were normal",
        ),
    },
    "l10-12": {
        "the numbers of the cell": (
            "effective_n = lambda sd, n, scale: sd**2 / (sd**2 / n + 2 * scale**2)\nepsilon_for = lambda sd, n, width, share: 2**0.5",
            "ε is",
        ),
    },
    "l11-07": {
        "the largest value of the data": (
            "noisy_moments = lambda data, epsilon, size, rng: triangle(data) + rng.laplace(0, len(triangle(data)) * np.abs(data).max() / epsilon, (size, len(triangle(data))))",
            "The noise is",
        ),
        "d + 1": (
            "noisy_moments = lambda data, epsilon, size, rng: triangle(data) + rng.laplace(0, (np.shape(data)[1] + 1) / epsilon, (size, len(triangle(data))))",
            "d + 1 for d(d + 1)/2",
        ),
        "ε hard-coded": (
            "noisy_moments = lambda data, epsilon, size, rng: triangle(data) + rng.laplace(0, len(triangle(data)) / 0.5, (size, len(triangle(data))))",
            "The noise is",
        ),
    },
    "l11-10": {
        "ridge of two predictors": (
            "def coefficients(upper, d, ridge=0.0):\n    w = np.zeros((d, d))\n    w[np.triu_indices(d)] = upper\n    w = w + np.triu(w, 1).T\n    r = np.zeros(d - 1)\n    r[:2] = ridge\n    r[2:] = ridge if ridge > 1e6 else 0\n    return np.linalg.solve(w[:-1, :-1] + np.diag(r), w[:-1, -1])",
            "right is",
        ),
    },
    "l12-04": {
        "ε hard-coded": (
            "def debiased(answers, epsilon):\n    p = math.exp(0.7) / (1 + math.exp(0.7))\n    return (np.mean(answers) - 1 + p) / (2 * p - 1), math.sqrt(p * (1 - p) / len(answers)) / (2 * p - 1)",
            "right is",
        ),
    },
    "l12-14": {
        "Gaussian noise": (
            "def first_above(answers, threshold, epsilon, size, rng):\n    s = 2**0.5\n    a = answers + rng.normal(0, s * 4 / epsilon, (size, len(answers))) >= threshold + rng.normal(0, s * 2 / epsilon, (size, 1))\n    return np.where(a.any(1), a.argmax(1), -1)",
            "Gaussian noise",
        ),
        "the scales of ε = 0.5": (
            "def first_above(answers, threshold, epsilon, size, rng):\n    a = answers + rng.laplace(0, 8, (size, len(answers))) >= threshold + rng.laplace(0, 4, (size, 1))\n    return np.where(a.any(1), a.argmax(1), -1)",
            "the ε of the case that you see",
        ),
    },
    "l13-04": {
        "noise shared by the rows": (
            "def noisy_table(data, epsilon, size, rng):\n    a, b = (np.asarray(x) for x in data)\n    return np.bincount(5 * a + b, minlength=10) + np.tile(rng.laplace(0, 1 / epsilon, (size, 5)), 2)",
            "their difference is exact",
        ),
    },
    "l13-15": {
        "the share of the synthetic rows": (
            "def honest(seen):\n    p = np.clip(np.mean(seen['rows']), 0.01, 0.99)\n    h = 2.02 * np.sqrt(p * (1 - p) / seen['n'] + 2 / (seen['epsilon'] * seen['n']) ** 2)\n    return p - h, p + h",
            "the share of the synthetic rows",
        ),
        "1.96 where the noise widens": (
            "def honest(seen):\n    p = np.clip(seen['noisy'][1] / seen['n'], 0.01, 0.99)\n    h = 1.96 * np.sqrt(p * (1 - p) / seen['n'] + 2 / (seen['epsilon'] * seen['n']) ** 2)\n    return p - h, p + h",
            "as if the noise were normal",
        ),
    },
    "l14-04": {
        "fifty people hard-coded": (
            "worst_pair = lambda n: ([0] * 50, [0] * 49 + [1])\nevent = lambda answer: answer > 0",
            "not neighbours",
        ),
    },
    "l14-12": {
        "the first two answers": (
            "def guess_count(answers):\n    t = attacks.certain_origin(np.asarray(answers[:2]))\n    t = t[~np.isnan(t)]\n    return int(t[0]) if t.size else int(np.mean(answers[:2]) > 0.5)",
            "can be found",
        ),
    },
}
"""Wrong answers that passed, and others of their kind."""

_DEBIASED = "    p = 1 / (1 + math.exp(-epsilon))\n    "
_LAPLACE = "np.where(rng.random({0}) < 0.5, -1, 1) * rng.exponential({1}, {0})"
RIGHT: dict[str, dict[str, str]] = {
    "l01-06": {
        "a data frame": "import pandas as pd\ndef unique_share(people, columns):\n    table = pd.DataFrame({c: people[c] for c in columns})\n    return (~table.duplicated(keep=False)).mean()",
        "numpy's unique rows": "def unique_share(people, columns):\n    rows = np.stack([np.asarray(people[c]) for c in columns], axis=1)\n    counts = np.unique(rows, axis=0, return_counts=True)[1]\n    return (counts == 1).sum() / len(rows)",
        "a fraction": "from fractions import Fraction\ndef unique_share(people, columns):\n    times = Counter(zip(*(people[c] for c in columns)))\n    return Fraction(list(times.values()).count(1), len(people['age']))",
    },
    "l01-17": {
        "lsq_linear": "from scipy.optimize import lsq_linear\nrebuild = lambda asked, published: (lsq_linear(asked, published, (0, 1)).x > 0.5).astype(int)",
        "booleans": "rebuild = lambda asked, published: np.linalg.lstsq(asked, published, rcond=None)[0] > 0.5",
        "a list": "rebuild = lambda asked, published: [int(x >= 0.5) for x in np.linalg.solve(asked.T @ asked, asked.T @ published)]",
        "rounded and cut": "rebuild = lambda asked, published: np.clip(np.rint(np.linalg.solve(asked.T @ asked, asked.T @ published)), 0, 1)",
    },
    "l02-11": {
        "without odds": "most_belief = lambda prior, epsilon: prior / (prior + (1 - prior) * math.exp(-epsilon))\nlargest_epsilon = lambda prior, limit: math.log(limit * (1 - prior) / (prior * (1 - limit)))",
        "numpy and logit": "from scipy.special import expit, logit\nmost_belief = lambda prior, epsilon: expit(logit(prior) + epsilon)\nlargest_epsilon = lambda prior, limit: np.float64(logit(limit) - logit(prior))",
        "by a root": "from scipy.optimize import brentq\nmost_belief = lambda prior, epsilon: 1 / (1 + (1 - prior) / prior / math.exp(epsilon))\nlargest_epsilon = lambda prior, limit: brentq(lambda e: most_belief(prior, e) - limit, 0, 50, xtol=1e-14)",
    },
    "l02-17": {
        "flips": "coin_answer = lambda bit, epsilon, size, rng: bit ^ (rng.random(size) > 1 / (1 + math.exp(-epsilon)))",
        "binomial": "coin_answer = lambda bit, epsilon, size, rng: abs(1 - bit - rng.binomial(1, 1 / (1 + math.exp(-epsilon)), size))",
        "choice": "def coin_answer(bit, epsilon, size, rng):\n    p = math.exp(epsilon) / (1 + math.exp(epsilon))\n    return rng.choice([bit, 1 - bit], size, p=[p, 1 - p])",
        "a list": "def coin_answer(bit, epsilon, size, rng):\n    p = math.exp(epsilon) / (1 + math.exp(epsilon))\n    return [bit if rng.random() < p else 1 - bit for _ in range(size)]",
    },
    "l03-07": {
        "signs and exponentials": "def noisy_count(data, epsilon, size, rng):\n    return sum(data) + "
        + _LAPLACE.format("size", "1 / epsilon"),
        "a difference": "noisy_count = lambda data, epsilon, size, rng: data.count(1) + rng.exponential(1 / epsilon, size) - rng.exponential(1 / epsilon, size)",
        "the inverse": "def noisy_count(data, epsilon, size, rng):\n    u = rng.uniform(-0.5, 0.5, size)\n    return sum(data) - np.sign(u) * np.log1p(-2 * abs(u)) / epsilon",
        "a list": "noisy_count = lambda data, epsilon, size, rng: [sum(data) + rng.laplace(scale=1 / epsilon) for _ in range(size)]",
        "numpy's own state": "noisy_count = lambda data, epsilon, size, rng: np.sum(data) + np.random.laplace(0, 1 / epsilon, size)",
        "scipy": "from scipy import stats\nnoisy_count = lambda data, epsilon, size, rng: stats.laplace(sum(data), 1 / epsilon).rvs(size, random_state=rng)",
        "around the answer": "noisy_count = lambda data, epsilon, size, rng: rng.laplace(np.count_nonzero(data), epsilon**-1, size)",
        "a column": "noisy_count = lambda data, epsilon, size, rng: (sum(data) + rng.laplace(0, 1 / epsilon, size)).reshape(-1, 1)",
        "prints": "def noisy_count(data, epsilon, size, rng):\n    print('called', size)\n    return sum(data) + rng.laplace(0, 1 / epsilon, size)",
    },
    "l03-10": {
        "scipy's quantile": "from scipy import stats\nprivacy_interval = lambda answer, epsilon, level=0.95: tuple(answer + stats.laplace(scale=1 / epsilon).ppf([(1 - level) / 2, (1 + level) / 2]))",
        "an array": "privacy_interval = lambda answer, epsilon, level=0.95: answer + np.array([1, -1]) * math.log(1 - level) / epsilon",
        "a list": "privacy_interval = lambda answer, epsilon, level=0.95: [answer - math.log(1 / (1 - level)) / epsilon, answer - math.log(1 - level) / epsilon]",
    },
    "l04-06": {
        "by hand": "def private_mean(data, low, high, epsilon, size, rng):\n    kept = [min(max(x, low), high) for x in data]\n    return sum(kept) / len(kept) + rng.laplace(0, (high - low) / len(kept) / epsilon, size)",
        "noise on the sum": "private_mean = lambda data, low, high, epsilon, size, rng: (np.clip(data, low, high).sum() + rng.laplace(0, (high - low) / epsilon, size)) / len(data)",
        "with the middle taken off": "def private_mean(data, low, high, epsilon, size, rng):\n    middle = (low + high) / 2\n    return middle + (np.clip(data, low, high) - middle).mean() + rng.laplace(0, (high - low) / (len(data) * epsilon), size)",
    },
    "l04-14": {
        "a loop": "def typical_error(data, low, high, epsilon):\n    kept = [min(max(x, low), high) for x in data]\n    b = (high - low) / len(data) / epsilon\n    return math.hypot(np.mean(kept) - np.mean(data), 2**0.5 * b)\ndef choose_upper(data, epsilon):\n    errors = [typical_error(data, 0, u, epsilon) for u in range(1, 78)]\n    return 1 + errors.index(min(errors))\nimport math",
        "an array of bounds": "def typical_error(data, low, high, epsilon):\n    return ((np.clip(data, low, high).mean() - np.mean(data)) ** 2 + 2 * ((high - low) / (len(data) * epsilon)) ** 2) ** 0.5\ndef choose_upper(data, epsilon):\n    bounds = np.arange(1, 78)\n    return bounds[np.argmin([typical_error(data, 0, u, epsilon) for u in bounds])]",
    },
    "l05-09": {
        "reset_index": "capped = lambda table, unit, k, rng: table.sample(frac=1, random_state=rng).groupby(unit).head(k).reset_index(drop=True)",
        "sorted again": "capped = lambda table, unit, k, rng: table.sample(frac=1, random_state=rng).groupby(unit).head(k).sort_index()",
        "a rank": "capped = lambda table, unit, k, rng: table[pd.Series(rng.random(len(table)), table.index).groupby(table[unit]).rank() <= k]",
        "shuffled places": "def capped(table, unit, k, rng):\n    table = table.iloc[rng.permutation(len(table))]\n    return table[table.groupby(unit).cumcount() < k]",
        "a loop": "def capped(table, unit, k, rng):\n    return pd.concat([g.sample(min(k, len(g)), random_state=rng) for _, g in table.groupby(unit)])",
    },
    "l05-12": {
        "a mask": "def night_visits(table, k, epsilon, size, rng):\n    used = capped(table, 'person', k, rng)\n    return (used.night == 1).sum() + rng.laplace(scale=k / epsilon, size=size)",
        "a difference": "def night_visits(table, k, epsilon, size, rng):\n    a, b = rng.exponential(k / epsilon, (2, size))\n    return capped(table, 'person', k, rng).night.sum() + a - b",
    },
    "l06-06": {
        "a loop": "def recovered(count, epsilon, asks, reps, rng):\n    return sum(round(float(np.mean(count + rng.laplace(0, 1 / epsilon, asks)))) == count for _ in range(reps)) / reps",
        "the error alone": "recovered = lambda count, epsilon, asks, reps, rng: np.mean(abs(rng.laplace(0, 1 / epsilon, (asks, reps)).mean(axis=0)) < 0.5)",
    },
    "l06-19": {
        "a list": "def split(weights, epsilon):\n    roots = [w ** (1 / 3) for w in weights]\n    return [epsilon * r / sum(roots) for r in roots]",
        "cbrt": "split = lambda weights, epsilon: epsilon * np.cbrt(weights) / np.cbrt(weights).sum()",
    },
    "l07-06": {
        "1/√ρ": "def gaussian_table(data, rho, size, rng):\n    return rng.normal(np.bincount(data, minlength=5), rho**-0.5, (size, 5))",
        "a variance": "def gaussian_table(data, rho, size, rng):\n    counts = [list(data).count(c) for c in range(5)]\n    return counts + rng.standard_normal((size, 5)) * np.sqrt(2 / (2 * rho))",
    },
    "l07-11": {
        "by a root": "from scipy.optimize import brentq\nepsilon_of = lambda rho, delta: rho + 2 * np.sqrt(-rho * np.log(delta))\nrho_of = lambda epsilon, delta: brentq(lambda r: epsilon_of(r, delta) - epsilon, 0, epsilon, xtol=1e-15)",
    },
    "l08-09": {
        "stacked": "def noisy_moments(data, epsilon, size, rng):\n    u, v = np.transpose(data)\n    sums = np.stack([u**0, u, v, u**2, v**2, u * v]).sum(axis=1)\n    return np.stack([s + rng.laplace(0, 6 / epsilon, size) for s in sums], axis=1)",
        "a sixth of ε": "noisy_moments = lambda data, epsilon, size, rng: rng.laplace(moments_of(data), 1 / (epsilon / 6), (size, 6))",
    },
    "l08-12": {
        "means": "def correlation(sums):\n    n, su, sv, suu, svv, suv = (float(s) for s in sums)\n    a, b = suu / n - (su / n) ** 2, svv / n - (sv / n) ** 2\n    if min(a, b) <= 1e-15:\n        return np.nan\n    return max(-1, min(1, (suv / n - su / n * sv / n) / (a * b) ** 0.5))",
    },
    "l09-09": {
        "dict.values()": "from dpnb import lessons\nmedian_chances = lambda data, epsilon: lessons.median_law(data, np.arange(101), epsilon).values()",
        "a list": "def median_chances(data, epsilon):\n    u = [-abs(sum(x < g for x in data) - sum(x > g for x in data)) / 2 for g in range(101)]\n    w = [np.exp(epsilon * (one - max(u)) / 2) for one in u]\n    return [one / sum(w) for one in w]",
        "scipy's softmax": "from scipy.special import softmax\ndef median_chances(data, epsilon):\n    g = np.arange(101)[:, None]\n    return softmax(-epsilon / 4 * abs((np.asarray(data) < g).sum(1) - (np.asarray(data) > g).sum(1)))",
    },
    "l09-15": {
        "numpy's histogram": "def noisy_histogram(data, epsilon, size, rng):\n    counts = np.histogram(data, bins=np.arange(0, 101, 10))[0]\n    return counts + rng.laplace(0, 2 / epsilon, (size, 10))",
        "column by column": "def noisy_histogram(data, epsilon, size, rng):\n    return np.column_stack([np.sum(np.asarray(data) // 10 == b) + rng.laplace(0, 2 / epsilon, size) for b in range(10)])",
    },
    "l10-09": {
        "draws of one's own": "own = np.random.default_rng(5)\nn0, l0 = own.normal(0, 1, 10_000), own.laplace(0, 1, 10_000)\ndef honest(seen):\n    h = np.sort(abs(n0 * seen['sd'] / seen['n'] ** 0.5 + l0 * seen['scale']))[9_500]\n    return seen['answer'] - h, seen['answer'] + h",
        "two quantiles": "def honest(seen):\n    normal, laplace = draws_of_both\n    e = normal * seen['sd'] / np.sqrt(seen['n']) + laplace * seen['scale']\n    h = np.quantile(np.r_[e, -e], 0.975)\n    return np.array([seen['answer'] - h, seen['answer'] + h])",
    },
    "l10-12": {
        "a grid of .001": "effective_n = lambda sd, n, scale: sd**2 / (sd**2 / n + 2 * scale**2)\ndef epsilon_for(sd, n, width, share):\n    grid = np.arange(0.001, 60, 0.001)\n    return grid[effective_n(sd, n, width / (n * grid)) >= share * n][0]",
        "solved": "effective_n = lambda sd, n, scale: n / (1 + 2 * n * (scale / sd) ** 2)\nepsilon_for = lambda sd, n, width, share: width / sd * np.sqrt(2 * share / (n * (1 - share)))",
        "by a root": "from scipy.optimize import brentq\neffective_n = lambda sd, n, scale: 1 / (1 / n + 2 * scale**2 / sd**2)\nepsilon_for = lambda sd, n, width, share: brentq(lambda e: effective_n(sd, n, width / (n * e)) - share * n, 1e-6, 1e4)",
    },
    "l11-07": {
        "two loops": "def noisy_moments(data, epsilon, size, rng):\n    z = np.asarray(data, float)\n    d = z.shape[1]\n    sums = [z[:, i] @ z[:, j] for i in range(d) for j in range(i, d)]\n    return np.array(sums) + rng.laplace(0, d * (d + 1) / 2 / epsilon, (size, d * (d + 1) // 2))",
        "einsum": "def noisy_moments(data, epsilon, size, rng):\n    m = np.einsum('ni,nj->ij', data, data)[np.triu_indices(np.shape(data)[1])]\n    return rng.laplace(m, m.size / epsilon, (size, m.size))",
    },
    "l11-10": {
        "the ridge as rows": "def coefficients(upper, d, ridge=0.0):\n    w = np.zeros((d, d))\n    i, j = np.triu_indices(d)\n    w[i, j] = w[j, i] = upper\n    return np.linalg.pinv(w[:-1, :-1] + ridge * np.identity(d - 1)) @ w[:-1, -1]",
        "a list": "def coefficients(upper, d, ridge=0.0):\n    it = iter(upper)\n    w = [[0.0] * d for _ in range(d)]\n    for i in range(d):\n        for j in range(i, d):\n            w[i][j] = w[j][i] = next(it)\n    w = np.array(w)\n    return list(np.linalg.solve(w[:-1, :-1] + np.diag([ridge] * (d - 1)), w[:-1, -1]))",
    },
    "l12-04": {
        "tanh": "def debiased(answers, epsilon):\n    t = math.tanh(epsilon / 2)\n    return (np.mean(answers) - 0.5) / t + 0.5, math.sqrt((1 / t**2 - 1) / 4 / len(answers))",
        "an array": "def debiased(answers, epsilon):\n"
        + _DEBIASED
        + "return np.array([np.mean(answers) + p - 1, (p * (1 - p) / len(answers)) ** 0.5]) / (2 * p - 1)",
    },
    "l12-14": {
        "a loop": "def first_above(answers, threshold, epsilon, size, rng):\n    def once():\n        bar = threshold + rng.laplace(0, 2 / epsilon)\n        return next((i for i, q in enumerate(answers) if q + rng.laplace(0, 4 / epsilon) >= bar), -1)\n    return [once() for _ in range(size)]",
        "noise on the other side": "def first_above(answers, threshold, epsilon, size, rng):\n    gap = np.asarray(answers) - threshold + rng.laplace(0, 4 / epsilon, (size, len(answers))) - rng.laplace(0, 2 / epsilon, (size, 1))\n    return np.where((gap > 0).any(1), np.argmax(gap > 0, axis=1), -1)",
    },
    "l13-04": {
        "histogram2d": "def noisy_table(data, epsilon, size, rng):\n    counts = np.histogram2d(*data, bins=[[-0.5, 0.5, 1.5], np.arange(-0.5, 5)])[0]\n    return counts.ravel() + rng.laplace(0, 1 / epsilon, (size, 10))",
        "a cube": "def noisy_table(data, epsilon, size, rng):\n    t = np.zeros((2, 5))\n    np.add.at(t, tuple(np.asarray(x) for x in data), 1)\n    return t + rng.laplace(0, 1 / epsilon, (size, 2, 5))",
    },
    "l13-15": {
        "zeros and ones": "def honest(seen):\n    p = min(max(seen['noisy'][1] / seen['n'], 0.001), 0.999)\n    h = 2.02 * (p * (1 - p) / seen['n'] + 2 / (seen['epsilon'] * seen['n']) ** 2) ** 0.5\n    return [p - h, p + h]",
        "the exact quantile": "def honest(seen):\n    own = np.random.default_rng(2)\n    p = np.clip(seen['noisy'][1] / seen['n'], 0.01, 0.99)\n    h = 2.03 * np.hypot(np.sqrt(p * (1 - p) / seen['n']), 2**0.5 / (seen['epsilon'] * seen['n']))\n    return p - h, p + h",
    },
    "l14-04": {
        "arrays": "worst_pair = lambda n: (np.zeros(n), np.eye(1, n, n // 2)[0])\nevent = lambda answer: answer != 0",
        "ones": "worst_pair = lambda n: ([1] * n, [1] * (n - 1) + [1000])\nevent = lambda answer: answer > 1",
        "numpy's truth": "worst_pair = lambda n: ([5.0] * n, [-5.0] + [5.0] * (n - 1))\nevent = lambda answer: np.bool_(answer < 4.99)",
    },
    "l14-12": {
        "a loop": "def guess_count(answers):\n    for a in answers:\n        t = attacks.certain_origin(np.array([a]))[0]\n        if t == t:\n            return t\n    return float(sum(answers) / len(answers) > 0.5)",
        "nanmean": "import warnings\ndef guess_count(answers):\n    t = attacks.certain_origin(np.asarray(answers))\n    return int(np.nanmax(t)) if (t == t).any() else int(np.median(answers) > 0.5)",
    },
}
"""Right answers in forms that are not the teacher's."""

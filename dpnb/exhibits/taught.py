"""How each exhibit is taught: the theme under which it stands, and the cell to type instead.

Texts alone, one entry for each exhibit; the facts stay with the exhibit. Every cell runs after ``hiv = dpnb.open("hiv")``;
a test runs them all.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

THEMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "resampling": ("resized-bootstrap", "free-bootstrap", "amplification"),
        "composition": ("advanced-constant", "product-of-epsilons"),
        "sensitivity": (
            "change-one-noise",
            "winsorized-noise",
            "quantile-without-epsilon",
            "matching",
            "box-sensitivity",
            "zero-sensitivity",
            "content-hash-partition",
        ),
        "noise set by the data": ("difference-of-means", "zero-noise-error", "trimmed-regression"),
        "floating point": ("nan-through-the-clamp", "float-laplace", "float-sum"),
        "accuracy": (
            "same-utility",
            "averaged-laplace",
            "records-to-change",
            "rule-2.996",
            "laplace-critical-value",
        ),
    }
)
"""What goes wrong, in a word, and where."""

CELLS: Mapping[str, str] = MappingProxyType(
    {
        "resized-bootstrap": "%%dp epsilon=0.1\nshare = hiv.got.mean()",
        "free-bootstrap": "%%dp epsilon=0.2\n# pays for its spread: the interval is honest\nage = hiv.age.mean()",
        "same-utility": (
            "import numpy as np\nfrom dpnb.inference.bootstrap import Bootstrap\n\n"
            "Bootstrap(np.array([4.0, 5.0, 6.0, 5.0]), noise_variance=0.25).standard_error()"
        ),
        "amplification": "import math\n\n# ε 1 on a tenth of the people, beside a tenth of δ\nmath.log1p(0.1 * math.expm1(1))",
        "advanced-constant": (
            "from dpnb.risk.exact import Step, exact_epsilon\n\n"
            'exact_epsilon([Step("laplace", "0.0126", times=100)], "1e-6")'
        ),
        "averaged-laplace": (
            "from dpnb.exhibits.averaged_law import gaussian_threshold\n\n"
            '# below so many the average wins\ngaussian_threshold("0.5", "1e-6")'
        ),
        "product-of-epsilons": (
            "%%dp epsilon=0.1\nfirst = hiv[hiv.got == 1].count()\nlater = first * 2  # free"
        ),
        "nan-through-the-clamp": "%%dp epsilon=0.1\n# missing in many rows: dropped, by the schema\ncollected = hiv.got.sum()",
        "change-one-noise": '# priced for a change from 0 to 100\ndpnb.plan({"years": hiv.age.sum()}, epsilon=0.5)',
        "float-laplace": (
            "import numpy as np\nfrom dpnb.inference.simulated_release import add_noise\nfrom dpnb.trusted.mechanisms import DiscreteLaplace\n\n"
            "noise = DiscreteLaplace.calibrate(1, 1)\nadd_noise(noise, np.zeros(10, dtype=int), np.random.default_rng(1))"
        ),
        "records-to-change": "%%dp epsilon=0.1\ndistance = hiv.distvct.mean()\nmiddle = hiv.distvct.median()",
        "difference-of-means": '%%dp epsilon=0.5\neffect = hiv.got.difference(by="any")',
        "zero-noise-error": "%%dp epsilon=0.2\n# its standard error is bought with it\nmoney = hiv.tinc.mean()",
        "winsorized-noise": "%%dp epsilon=0.2\nrobust = hiv.distvct.robust_mean()",
        "quantile-without-epsilon": "%%dp epsilon=0.2\nquarter = hiv.age.quantile(0.25)",
        "matching": (
            "import numpy as np\nfrom dpnb.inference.matching import match\n\n"
            "pairs = match(np.array([0.1, 0.4, 0.9, 0.12]), np.array([0, 0, 0, 1]), caliper=0.05)\n"
            "len(pairs)  # one row moves it by one"
        ),
        "rule-2.996": (
            "from dpnb.inference import NoiseSum\n\n"
            "# a Laplace error of standard deviation 1, at 95 %\nNoiseSum(variance=0.0, scales=(0.5**0.5,)).radius(0.05)"
        ),
        "laplace-critical-value": (
            "from dpnb.inference import NoiseSum\n\n"
            "# mostly sampling error, at 90 %\nNoiseSum(variance=0.9, scales=(0.05**0.5,)).radius(0.10)"
        ),
        "trimmed-regression": '%%dp epsilon=0.2\nfit = hiv.ols("got ~ tinc + distvct")',
        "box-sensitivity": (
            '# every column clipped to its public bounds\nzz = hiv.moments("got", "tinc", "distvct")\ndpnb.plan({"zz": zz}, epsilon=0.2)'
        ),
        "zero-sensitivity": '# values from -3 to 0\ndpnb.plan({"debts": (0 - hiv.tinc).sum()}, epsilon=0.5)',
        "float-sum": "%%dp epsilon=0.1\n# integers on a grid: exact in any order\ntotal = hiv.distvct.sum()",
        "content-hash-partition": (
            "import numpy as np\nfrom dpnb.inference.standard_error import subset_variances\n\n"
            "# subsets by place: a changed row stays where it is\nsubset_variances(np.arange(40.0), 8)"
        ),
    }
)
"""What dpnb does instead, as a cell to type."""


def theme_of(name: str) -> str:
    """Return the theme of an exhibit."""
    return next(theme for theme, names in THEMES.items() if name in names)


def cell_of(name: str) -> str:
    """Return the cell that does it right."""
    return CELLS[name]

# SPDX-License-Identifier: GPL-2.0-or-later
"""Writes expected.json: fixed data, and what other implementations say of it.

    python3 -m venv venv
    venv/bin/pip install scipy==1.17.1 statsmodels==0.15.0 diptest==0.12.0 pymannkendall==1.4.3
    venv/bin/python make.py

Not run by the tests, which read expected.json.
"""

import json
from importlib.metadata import version

import diptest
import numpy as np
import pymannkendall
from scipy import stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import TTestIndPower, TTestPower

ALPHA = 0.05
random = np.random.default_rng(20261201)


def welch(x, y, axis=-1):
    difference = np.mean(y, axis=axis) - np.mean(x, axis=axis)
    error = np.var(x, axis=axis, ddof=1) / x.shape[axis] + np.var(y, axis=axis, ddof=1) / y.shape[axis]
    return difference / np.sqrt(error)


def p_unpaired(x, y, alternative="two-sided"):
    return stats.permutation_test(
        (x, y), welch, vectorized=True, n_resamples=np.inf, alternative=alternative
    ).pvalue


def p_paired(d, alternative="two-sided"):
    return stats.permutation_test(
        (d,), np.mean, permutation_type="samples", n_resamples=np.inf, alternative=alternative
    ).pvalue


def ends(centre, step, p):
    """The shifts at which the one-sided p-values pass ALPHA / 2, by bisection."""

    def end(direction, alternative):
        inside, outside = centre, centre + direction * step
        while p(outside, alternative) > ALPHA / 2:
            outside += direction * step
            if abs(outside - centre) > 1000 * step:
                return None
        for _ in range(40):
            middle = (inside + outside) / 2
            if p(middle, alternative) > ALPHA / 2:
                inside = middle
            else:
                outside = middle
        return inside

    return [end(-1, "greater"), end(1, "less")]


def noise(kind, count):
    if kind == "normal":
        return random.normal(100, 10, count)
    if kind == "skewed":
        return 90 + random.exponential(10, count)
    return random.normal(100, 3, count) + 20 * random.integers(0, 2, count)


paired = []
for kind, count in [("normal", 5), ("normal", 6), ("skewed", 8), ("bimodal", 10)]:
    d = (noise(kind, count) - noise(kind, count) + 6).round(3)
    paired.append(
        {
            "differences": d.tolist(),
            "p": p_paired(d),
            "interval": ends(d.mean(), d.std(), lambda s, a: p_paired(d - s, a)),
            "hodges_lehmann": float(
                np.median([(d[i] + d[j]) / 2 for i in range(count) for j in range(i, count)])
            ),
        }
    )

unpaired = []
for kind, n, m in [("normal", 3, 3), ("normal", 5, 5), ("skewed", 6, 5), ("bimodal", 6, 6), ("normal", 8, 4)]:
    x, y = noise(kind, n).round(3), (noise(kind, m) + 9).round(3)
    unpaired.append(
        {
            "baseline": x.tolist(),
            "candidate": y.tolist(),
            "p": p_unpaired(x, y),
            "interval": ends(
                y.mean() - x.mean(),
                np.sqrt(x.var() / n + y.var() / m),
                lambda s, a: p_unpaired(x, y - s, a),
            ),
            "hodges_lehmann": float(np.median(np.subtract.outer(y, x))),
        }
    )

bca = []
for kind, n, m in [("skewed", 40, 0), ("normal", 30, 30), ("skewed", 40, 35)]:
    x, y = noise(kind, n).round(3), (noise(kind, m) + 5).round(3)
    data, statistic = (
        ((x,), lambda x, axis: np.mean(x, axis=axis))
        if m == 0
        else ((x, y), lambda x, y, axis: np.mean(y, axis=axis) - np.mean(x, axis=axis))
    )
    interval = stats.bootstrap(
        data, statistic, n_resamples=399_999, batch=10_000, method="BCa", rng=random
    ).confidence_interval
    bca.append({"baseline": x.tolist(), "candidate": y.tolist(), "interval": list(interval)})

trends = []
for columns, count, step in [(1, 12, 3.0), (2, 8, 2.0), (3, 10, 0.0)]:
    table = np.array([noise("normal", count) + step * np.arange(count) for _ in range(columns)]).T.round(1)
    table[1] = table[0]  # Ties.
    test = pymannkendall.multivariate_test(table) if columns > 1 else pymannkendall.original_test(table[:, 0])
    trends.append({"series": table.T.tolist(), "p": float(test.p), "tau": float(test.Tau)})

p_values = random.uniform(0, 0.2, 7).round(4)
dips = []
for kind, count in [("normal", 5), ("skewed", 12), ("bimodal", 20), ("normal", 60), ("bimodal", 61)]:
    values = noise(kind, count).round(6)
    dips.append({"values": values.tolist(), "dip": float(diptest.dipstat(values))})

power = [
    {
        "design": design,
        "runs": runs,
        "detectable": float(
            (TTestPower() if design == "paired" else TTestIndPower()).solve_power(
                alpha=alpha, power=0.8, alternative="two-sided",
                **({"nobs": runs} if design == "paired" else {"nobs1": runs}),
            )
        ),
        "alpha": alpha,
    }
    for design in ["paired", "unpaired"]
    for runs, alpha in [(14, 0.05), (20, 0.01), (40, 0.05), (100, 0.005)]
]

document = {
    "versions": {name: version(name) for name in ["numpy", "scipy", "statsmodels", "diptest", "pymannkendall"]},
    "paired": paired,
    "unpaired": unpaired,
    "bca": bca,
    "trend": trends,
    "holm": {
        "p": p_values.tolist(),
        "adjusted": multipletests(p_values, method="holm")[1].tolist(),
    },
    "dip": dips,
    "power": power,
    "upper_deviation": {
        "freedom": 4, "confidence": 0.9, "factor": float(np.sqrt(4 / stats.chi2.ppf(0.1, 4))),
    },
}
with open("expected.json", "w") as file:
    json.dump(document, file, indent=1)
    file.write("\n")

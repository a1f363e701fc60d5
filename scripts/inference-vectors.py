"""Writes the reference values that the tests of the inference compare with.

Run by hand with the packages of Debian 12:

    apt-get install python3-scipy python3-statsmodels python3-mpmath
    /usr/bin/python3 scripts/inference-vectors.py
    npx biome check --write packages/server/src/features/experiments/inference

Every value comes from a package, or from a brute computation (a root, an integral, units one by one) that shares no
formula with packages/server/src/features/experiments/inference.
"""
import json
import platform
from pathlib import Path

import mpmath
import numpy
import scipy
import statsmodels
from scipy import integrate, optimize, special, stats
from statsmodels.formula.api import ols
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower, normal_power_het
from statsmodels.stats.proportion import confint_proportions_2indep, test_proportions_2indep
from statsmodels.stats.weightstats import CompareMeans, DescrStatsW

mpmath.mp.dps = 50
random = numpy.random.default_rng(20260101)
vectors = {}


def section(name, origin, cases):
    vectors[name] = {"origin": origin, "cases": cases}


# Distributions. mpmath computes with 50 digits: scipy 1.10 itself is off by up to 1e-11 in places.
def normal_sf(z):
    return mpmath.erfc(mpmath.mpf(z) / mpmath.sqrt(2)) / 2


def student_sf(t, df):
    t, df = mpmath.mpf(t), mpmath.mpf(df)
    tail = mpmath.betainc(df / 2, mpmath.mpf(1) / 2, 0, df / (df + t * t), regularized=True) / 2
    return tail if t >= 0 else 1 - tail


section(
    "normalSurvival",
    "mpmath.erfc, 50 digits",
    [{"z": z, "value": float(normal_sf(z))} for z in (-8, -2.5, -1, -0.001, 0, 1e-9, 0.3, 1, 1.7, 1.96, 3, 5, 8, 12, 20, 30, 37)],
)
section(
    "normalUpperQuantile",
    "scipy.stats.norm.isf",
    [{"p": p, "value": stats.norm.isf(p)} for p in (0.999999, 0.975, 0.8, 0.6, 0.4999, 0.3, 0.1, 0.025, 0.005, 1e-4, 1e-8, 1e-20, 1e-100, 1e-300)],
)
freedom = (0.7, 1, 1.5, 2, 3, 4.5, 10, 29.3, 100, 1234.5, 1e5, 1e6, 1e8)
section(
    "studentSurvival",
    "mpmath.betainc, 50 digits",
    [
        {"t": t, "df": df, "value": float(student_sf(t, df))}
        for df in freedom
        for t in (-3, -0.2, 0.01, 0.7, 1.5, 1.96, 3, 6, 12)
    ],
)
section(
    "studentUpperQuantile",
    "mpmath.findroot on mpmath.betainc, from scipy.stats.t.isf",
    [
        {
            "p": p,
            "df": df,
            "value": float(
                mpmath.exp(
                    mpmath.findroot(
                        lambda logt: mpmath.log(student_sf(mpmath.exp(logt), df) / mpmath.mpf(p)),
                        mpmath.log(stats.t.isf(p, df)),
                    )
                )
            ),
        }
        for df in freedom
        for p in (0.45, 0.2, 0.025, 0.005, 1e-4, 1e-9)
    ],
)
section(
    "chiSquareSurvival",
    "scipy.stats.chi2.sf",
    [
        {"x": x, "df": df, "value": stats.chi2.sf(x, df)}
        for df in (1, 2, 3, 5, 9, 40, 300)
        for x in (0.001, 0.5, 1, 3.84, 10.83, 30, 100, 400)
        if stats.chi2.sf(x, df) > 0
    ],
)
def beta_cdf(x, a, b):
    if a < 1000:
        return mpmath.betainc(a, b, 0, mpmath.mpf(x), regularized=True)
    # The series does not converge for large arguments; as a binomial probability it is a sum.
    x, trials = mpmath.mpf(x), a + b - 1
    return mpmath.fsum(mpmath.binomial(trials, k) * x**k * (1 - x) ** (trials - k) for k in range(a, trials + 1))


section(
    "regularisedBeta",
    "mpmath.betainc, 50 digits; a of 2000 as a binomial probability",
    [
        {"x": x, "a": a, "b": b, "value": float(beta_cdf(x, a, b))}
        for a, b, places in (
            (0.5, 0.5, (0.01, 0.25, 0.9375)),
            (1, 1, (0.1, 0.75)),
            (1, 3, (0.01, 0.4, 0.9375)),
            (2.5, 0.5, (0.1, 0.5, 0.9375)),
            (5, 8, (0.01, 0.25, 0.4, 0.75)),
            (80, 20, (0.5, 0.75, 0.8125, 0.9375)),
            (150, 0.5, (0.75, 0.9375)),
            (0.5, 40, (0.001, 0.1, 0.25)),
            (2000, 3000, (0.375, 0.40625, 0.4375)),
        )
        for x in places
    ],
)


# Units one by one, in whole cents, so that their sums are exact.
def sums(values):
    return {
        "kind": "mean",
        "units": len(values),
        "sum": int(values.sum()),
        "sumSquares": int((values * values).sum()),
    }


def revenue(units, buyers, average):
    bought = random.random(units) < buyers
    return numpy.where(bought, numpy.rint(average * random.lognormal(0, 1, units)), 0).astype(numpy.int64)


def ratio_interval(lift, distance, critical):
    """The lifts that are not rejected, by searching for where the distance is the critical value."""
    excess = lambda l: distance(l) - critical
    steps = [lift + sign * 0.001 * 1.5**k for sign in (-1, 1) for k in range(40)]
    low = max(s for s in steps[:40] if excess(s) > 0)
    high = min(s for s in steps[40:] if excess(s) > 0)
    solve = lambda a, b: optimize.brentq(excess, a, b, xtol=1e-15, rtol=1e-14)
    return [solve(low, lift), solve(lift, high)]


def independent_interval(m_t, v_t, m_b, v_b, critical):
    distance = lambda l: abs(m_t - (1 + l) * m_b) / numpy.sqrt(v_t + (1 + l) ** 2 * v_b)
    return ratio_interval(m_t / m_b - 1, distance, critical)


def means_case(baseline, treatment):
    compared = CompareMeans(DescrStatsW(treatment), DescrStatsW(baseline))
    t, p, df = compared.ttest_ind(usevar="unequal")
    v_t, v_b = treatment.var(ddof=1) / len(treatment), baseline.var(ddof=1) / len(baseline)
    return {
        "baseline": sums(baseline),
        "treatment": sums(treatment),
        "estimate": treatment.mean(),
        "standardError": stats.sem(treatment),
        "pValue": p,
        "difference": list(compared.tconfint_diff(0.05, usevar="unequal")),
        "lift": independent_interval(treatment.mean(), v_t, baseline.mean(), v_b, float(stats.t.isf(0.025, df))),
    }


section(
    "means",
    "statsmodels CompareMeans.ttest_ind and tconfint_diff (unequal), scipy.stats.sem; lift: scipy.optimize.brentq",
    [
        means_case(revenue(4000, 0.2, 4000), revenue(4100, 0.22, 4200)),
        means_case(revenue(900, 0.3, 2500), revenue(8000, 0.3, 3000)),
        means_case(revenue(50, 0.8, 900), revenue(70, 0.8, 1500)),
        means_case(random.poisson(3, 5), random.poisson(4, 7)),
    ],
)


def rates_case(c_b, n_b, c_t, n_t):
    test = test_proportions_2indep(c_t, n_t, c_b, n_b, method="wald", compare="diff", return_results=True)
    p_t, p_b = c_t / n_t, c_b / n_b
    z = float(stats.norm.isf(0.025))
    return {
        "baseline": {"kind": "rate", "units": n_b, "conversions": c_b},
        "treatment": {"kind": "rate", "units": n_t, "conversions": c_t},
        "estimate": p_t,
        "standardError": float(numpy.sqrt(p_t * (1 - p_t) / n_t)),
        "pValue": float(test.pvalue),
        "difference": list(map(float, confint_proportions_2indep(c_t, n_t, c_b, n_b, method="wald", compare="diff"))),
        "lift": independent_interval(p_t, p_t * (1 - p_t) / n_t, p_b, p_b * (1 - p_b) / n_b, z),
    }


section(
    "rates",
    "statsmodels test_proportions_2indep and confint_proportions_2indep (wald, diff); lift: scipy.optimize.brentq",
    [
        rates_case(500, 10000, 560, 10000),
        rates_case(90, 1000, 1100, 9000),
        rates_case(40, 60000, 75, 61000),
        rates_case(950, 1000, 970, 1000),
        rates_case(300, 900, 310, 2700),
    ],
)


# Ratios: by units that carry what they add to the ratio, to first order.
def ratio_case(n_b, n_t):
    def arm(units, rate):
        displays = random.poisson(6, units) + 1
        clicks = random.binomial(displays, rate * random.uniform(0.5, 1.5, units))
        ratio = clicks.sum() / displays.sum()
        carried = (clicks - ratio * displays) / displays.mean()
        return (
            {
                "kind": "ratio",
                "units": units,
                "numerator": {"sum": int(clicks.sum()), "sumSquares": int((clicks * clicks).sum())},
                "denominator": {"sum": int(displays.sum()), "sumSquares": int((displays * displays).sum())},
                "sumProducts": int((clicks * displays).sum()),
            },
            ratio,
            float(carried.std(ddof=1)),
        )

    base, r_b, s_b = arm(n_b, 0.08)
    treat, r_t, s_t = arm(n_t, 0.1)
    test = stats.ttest_ind_from_stats(r_t, s_t, n_t, r_b, s_b, n_b, equal_var=False)
    return {
        "baseline": base,
        "treatment": treat,
        "estimate": r_t,
        "standardError": s_t / numpy.sqrt(n_t),
        "pValue": float(test.pvalue),
    }


section(
    "ratios",
    "numpy over units linearised at the ratio, scipy.stats.ttest_ind_from_stats (unequal)",
    [ratio_case(2000, 2100), ratio_case(300, 2500)],
)


# CUPED: the regression and the moved values of the units.
def cuped_case(*sizes):
    arms = []
    for at, units in enumerate(sizes):
        before = revenue(units, 0.4, 3000)
        value = numpy.rint(before * (0.6 + 0.5 * at)).astype(numpy.int64) + revenue(units, 0.3, 2000 + 150 * at)
        arms.append((before, value))
    data = {
        "value": numpy.concatenate([value for _, value in arms]).astype(float),
        "before": numpy.concatenate([before for before, _ in arms]).astype(float),
        "arm": numpy.concatenate([numpy.full(len(value), f"v{at}") for at, (_, value) in enumerate(arms)]),
    }
    theta = float(ols("value ~ C(arm) + before", data).fit().params["before"])
    centre = data["before"].mean()
    moved = [value - theta * (before - centre) for before, value in arms]
    total = len(data["value"])

    def spread(weights_value, weight_before):
        """Standard error of a weighted sum of the arms' own parts and of the centre, unit by unit."""
        return numpy.sqrt(
            sum(
                len(value)
                * numpy.var(weight / len(value) * (value - theta * before) + weight_before * before / total, ddof=1)
                for weight, (before, value) in zip(weights_value, arms)
            )
        )

    def lift_interval(at, critical):
        def distance(l):
            weights = [0.0] * len(arms)
            weights[0], weights[at] = -(1 + l), 1.0
            return abs(moved[at].mean() - (1 + l) * moved[0].mean()) / spread(weights, -l * theta)

        return ratio_interval(moved[at].mean() / moved[0].mean() - 1, distance, critical)

    def standard_error(at):
        return spread([1.0 if other == at else 0.0 for other in range(len(arms))], theta)

    raw_squares = sum(((value - value.mean()) ** 2).sum() for _, value in arms)
    left_squares = sum(((m - m.mean()) ** 2).sum() for m in moved)
    compared = [CompareMeans(DescrStatsW(m), DescrStatsW(moved[0])) for m in moved[1:]]
    return {
        "variants": [
            {
                **sums(value),
                "covariate": {
                    "sum": int(before.sum()),
                    "sumSquares": int((before * before).sum()),
                    "sumProducts": int((before * value).sum()),
                },
            }
            for before, value in arms
        ],
        "estimates": [float(m.mean()) for m in moved],
        "varianceReduction": float(1 - left_squares / raw_squares),
        "pValues": [float(c.ttest_ind(usevar="unequal")[1]) for c in compared],
        "differences": [list(map(float, c.tconfint_diff(0.05, usevar="unequal"))) for c in compared],
        "standardErrors": [standard_error(at) for at in range(len(arms))],
        "lifts": [
            lift_interval(at + 1, float(stats.t.isf(0.025, c.ttest_ind(usevar="unequal")[2])))
            for at, c in enumerate(compared)
        ],
    }


section(
    "cuped",
    "statsmodels OLS value ~ variant + covariate, CompareMeans (unequal) of the moved units; lift: scipy.optimize.brentq over units",
    [cuped_case(1500, 1600), cuped_case(700, 800, 2000)],
)

section(
    "sampleRatio",
    "scipy.stats.chisquare",
    [
        {
            "units": units,
            "allocations": allocations,
            "value": float(stats.chisquare(units, numpy.array(allocations) * sum(units)).pvalue),
        }
        for units, allocations in (
            ([5000, 5000], [0.5, 0.5]),
            ([5100, 4900], [0.5, 0.5]),
            ([821588, 815482], [0.5, 0.5]),
            ([1012, 8988], [0.1, 0.9]),
            ([340, 310, 350], [0.3, 0.3, 0.4]),
            ([260, 240, 190, 310], [0.25, 0.25, 0.25, 0.25]),
        )
    ],
)

section(
    "corrections",
    "statsmodels multipletests (holm, fdr_bh)",
    [
        {
            "pValues": values,
            "holm": list(map(float, multipletests(values, method="holm")[1])),
            "benjaminiHochberg": list(map(float, multipletests(values, method="fdr_bh")[1])),
        }
        for values in (
            [0.04],
            [0.01, 0.04],
            [0.04, 0.001, 0.03, 0.005],
            [0.9, 0.2, 0.01, 0.02, 0.02, 1.0, 0.04],
            [0.5, 0.5, 0.6],
        )
    ],
)


# The mixture: the likelihood ratio against each effect, averaged over a normal distribution of effects.
def mixture_case(distance, x):
    def ratio(effect):
        return numpy.exp(effect * distance - effect * effect / 2) * stats.norm.pdf(effect, 0, numpy.sqrt(x))

    peak = distance * x / (1 + x)
    width = 12 * numpy.sqrt(x / (1 + x))
    average = integrate.quad(ratio, peak - width, peak + width, epsabs=0, epsrel=1e-13, limit=500)[0]
    return {"distance": distance, "x": x, "value": min(1.0, 1 / average)}


section(
    "mixture",
    "scipy.integrate.quad over the likelihood ratios of normal effects with variance x in standard errors",
    [mixture_case(d, x) for d in (0, 0.5, 1.5, 2.5, 3, 4, 6) for x in (0.05, 1, 8.2, 40)],
)
section(
    "tunedMixture",
    "scipy.special.lambertw, as in Howard, Ramdas, McAuliffe and Sekhon 2021, Proposition 3: -W(-1, -alpha^2 / e) - 1",
    [
        {"alpha": a, "value": float(-special.lambertw(-a * a / numpy.e, -1).real - 1)}
        for a in (0.2, 0.1, 0.05, 0.01, 0.001)
    ],
)
section(
    "sequenceBound",
    "The formula of arXiv:2103.06476 in t and rho, by mpmath",
    [
        {
            "t": t,
            "x": rho * rho * t,
            "alpha": alpha,
            "value": float(
                mpmath.sqrt(t)
                * mpmath.sqrt(
                    2 * (mpmath.mpf(t) * rho**2 + 1) / (mpmath.mpf(t) ** 2 * rho**2)
                    * mpmath.log(mpmath.sqrt(mpmath.mpf(t) * rho**2 + 1) / alpha)
                )
            ),
        }
        for t in (10, 1000, 250000)
        for rho in (0.003, 0.09)
        for alpha in (0.05, 0.01)
    ],
)


# Planning.
def power_case(kind, effect, allocations, units, alpha=0.05, rate=None, mean=None, sd=None):
    share_b, share_t = allocations[0], min(allocations[1:])
    level = alpha / (len(allocations) - 1)
    baseline = {"kind": "rate", "rate": rate} if kind == "rate" else {"kind": "mean", "mean": mean, "standardDeviation": sd}
    if kind == "rate":
        other = rate * (1 + effect)
        spread = numpy.sqrt(rate * (1 - rate) / share_b + other * (1 - other) / share_t)
        power = normal_power_het(rate * abs(effect), units, level, std_null=spread, std_alternative=spread)
    else:
        power = NormalIndPower().power(mean * abs(effect) / sd, units * share_t, level, ratio=share_b / share_t)
    return {
        "design": {"baseline": baseline, "allocations": allocations, "alpha": alpha},
        "effect": effect,
        "units": units,
        "value": float(power),
    }


section(
    "power",
    "statsmodels NormalIndPower.power for means, normal_power_het for rates",
    [
        power_case("rate", 0.1, [0.5, 0.5], 60000, rate=0.05),
        power_case("rate", 0.1, [0.5, 0.5], 200, rate=0.05),
        power_case("rate", -0.2, [0.1, 0.9], 40000, rate=0.03),
        power_case("rate", 0.05, [0.4, 0.3, 0.3], 90000, alpha=0.1, rate=0.2),
        power_case("rate", 0.07, [0.3, 0.5, 0.2], 90000, rate=0.2),
        power_case("mean", 0.05, [0.5, 0.5], 30000, mean=12.0, sd=18.0),
        power_case("mean", 0.05, [0.9, 0.1], 30000, mean=12.0, sd=40.0),
    ],
)


def sample_case(effect, share_b, mean, sd, power):
    share_t = 1 - share_b
    solved = NormalIndPower().solve_power(
        effect_size=mean * effect / sd, alpha=0.05, power=power, ratio=share_b / share_t
    )
    return {
        "design": {
            "baseline": {"kind": "mean", "mean": mean, "standardDeviation": sd},
            "allocations": [share_b, share_t],
            "power": power,
        },
        "effect": effect,
        "units": int(numpy.ceil(solved / share_t)),
    }


section(
    "sample",
    "statsmodels NormalIndPower.solve_power",
    [
        sample_case(0.05, 0.5, 10.0, 25.0, 0.8),
        sample_case(0.02, 0.5, 10.0, 25.0, 0.9),
        sample_case(0.1, 0.25, 3.0, 11.0, 0.95),
    ],
)


target = Path(__file__).parent.parent / "packages/server/src/features/experiments/inference/reference-vectors.json"
target.write_text(
    json.dumps(
        {
            "origin": {
                "script": "scripts/inference-vectors.py",
                "python": platform.python_version(),
                "numpy": numpy.__version__,
                "scipy": scipy.__version__,
                "statsmodels": statsmodels.__version__,
                "mpmath": mpmath.__version__,
            },
            **vectors,
        },
        indent=2,
        default=float,
    )
    + "\n"
)

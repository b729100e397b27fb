"""Analyses of public data of statsmodels, and of data made by seed, for both programmes."""

from itertools import product

import numpy as np
import pandas as pd
import statsmodels.api as sm


def nursery():
    """Like the nursery data: all combinations of attributes once; two families are recommended."""
    attributes = {
        "parents": ["usual", "pretentious", "great_pret"],
        "has_nurs": ["proper", "less_proper", "improper", "critical", "very_crit"],
        "form": ["complete", "completed", "incomplete", "foster"],
        "children": [1, 2, 3, 4],
        "housing": ["convenient", "less_conv", "critical"],
        "finance": ["convenient", "inconv"],
        "social": ["nonprob", "slightly_prob", "problematic"],
        "health": ["recommended", "priority", "not_recom"],
    }
    data = pd.DataFrame(product(*attributes.values()), columns=[*attributes])
    draw = np.random.default_rng(5)
    data["recommendation"] = np.where(data.health == "not_recom", "not_recom", "priority")
    usual = (data.parents == "usual") & (data.health == "recommended")
    data.loc[data.index[usual][:2], "recommendation"] = "recommend"
    data["children"] += draw.integers(0, 3, len(data))
    return data


def firms():
    """200 firms with what an attacker puts beside them."""
    draw = np.random.default_rng(3)
    number = 200
    data = pd.DataFrame(
        {
            "size": draw.normal(10, 2, number),
            "age": draw.normal(20, 5, number),
            "turnover": draw.normal(100, 15, number),
        }
    )
    at = np.arange(number)
    data["spy"] = np.where(at == 17, 1.0, 0.0)
    data["others"] = 1 - data.spy
    data["kind"] = np.where(at < 3, "a", np.where(at < 100, "b", "c"))
    data["noisy"] = np.where(at < 3, 1.0, 0.0) + 1e-3 * draw.normal(size=number)
    data["some"] = np.where(at >= 4, 1.0, 0.0)
    data["north"] = np.where(at < 5, 1.0, 0.0)
    data["group"] = np.where(at < 40, 1.0, 0.0)
    data["giant"] = np.where(at == 5, 1e6, 1.0)
    data["outlier"] = data.turnover + np.where(at == 50, 1e5, 0)
    data["close"] = data["size"] + 1e-7 * data.spy
    data["ill"] = np.where(at % 3 == 0, 1.0, 0.0)
    data["made"] = 1 / (data["size"] - data["size"][17] - 1e-7)  # of what is known of one firm
    data["region"] = np.where(at < 11, "A", "B")
    data["all"] = "x"
    data["town"] = np.where(at < 100, "A", "B")
    data["vote"] = np.where((at < 99) & (at > 9), "yes", np.where(at % 2, "yes", "no"))
    return data


def reforms():
    """80 firms in two years; nine are reformed in the second."""
    draw = np.random.default_rng(2)
    data = pd.DataFrame({"firm": np.repeat(np.arange(80), 2), "year": np.tile([2001, 2002], 80)})
    data["sales"] = data.firm + draw.normal(200, 1, 160)
    data["reform"] = ((data.firm < 9) & (data.year == 2002)) * 1.0
    return data


def giants():
    """200 firms of about the same size, and one that is twenty times as large."""
    data = pd.DataFrame({"sales": np.random.default_rng(4).normal(1, 0.1, 200)})
    data.loc[7, "sales"] = 20.0
    return data.assign(one="x", two="y")


def towns():
    """In one town of two nearly all are ill."""
    ill = ["yes"] * 389 + ["no"] * 11 + ["yes"] * 200 + ["no"] * 200
    return pd.DataFrame({"town": ["A"] * 400 + ["B"] * 400, "ill": ill})


def anes():
    """Voters of 1996."""
    return sm.datasets.anes96.load_pandas().data


def fair():
    """Marriages of 1974."""
    data = sm.datasets.fair.load_pandas().data
    data["affair"] = (data.affairs > 0).astype(int)
    return data


def investments():
    """Grunfeld's firms."""
    data = sm.datasets.grunfeld.load_pandas().data
    data["late"] = data.year > 1944
    return data


def stackloss():
    """21 days of a plant."""
    return sm.datasets.stackloss.load_pandas().data


def longley():
    """16 years of an economy."""
    return sm.datasets.longley.load_pandas().data


def lives():
    """Exact durations, and those rounded to two years."""
    draw = np.random.default_rng(1)
    years = draw.exponential(5, 400)
    data = pd.DataFrame({"years": years.clip(0, 9.5), "died": (years < 9.5).astype(int)})
    data["rounded"] = np.ceil(data.years / 2) * 2
    return data


#: Name → data, rows, columns, values, function.
TABLES = {
    "nursery, parents": (nursery, "recommendation", "parents", None, None),
    "nursery, health": (nursery, "health", "parents", None, None),
    "nursery, mean": (nursery, "health", "parents", "children", "mean"),
    "nursery, mean, few": (nursery, "recommendation", "parents", "children", "mean"),
    "anes, party": (anes, "PID", "vote", None, None),
    "anes, education": (anes, "educ", "vote", None, None),
    "anes, both": (anes, "educ", "PID", None, None),
    "anes, mean age": (anes, "PID", "vote", "age", "mean"),
    "anes, mean population": (anes, "educ", "vote", "popul", "mean"),
    "anes, sum of population": (anes, "educ", "vote", "popul", "sum"),
    "anes, negative": (anes, "educ", "vote", "logpopul", "sum"),
    "anes, oldest": (anes, "educ", "vote", "age", "max"),
    "anes, median": (anes, "educ", "vote", "age", "median"),
    "anes, spread": (anes, "educ", "vote", "age", "std"),
    "fair, religion": (fair, "religious", "affair", None, None),
    "fair, occupation": (fair, "occupation", "educ", None, None),
    "investments": (investments, "firm", "late", "invest", "sum"),
    "towns": (towns, "town", "ill", None, None),
}

#: Name → data, kind of model, formula.
MODELS = {
    "fair": (fair, "ols", "affairs ~ age + yrs_married + religious"),
    "fair, logit": (fair, "logit", "affair ~ age + yrs_married"),
    "fair, probit": (fair, "probit", "affair ~ age + yrs_married"),
    "investments": (investments, "ols", "invest ~ value + capital"),
    "stackloss": (stackloss, "ols", "STACKLOSS ~ AIRFLOW + WATERTEMP + ACIDCONC"),
    "longley": (longley, "ols", "TOTEMP ~ GNP + UNEMP + ARMED + POP + YEAR"),
    "anes": (anes, "ols", "income ~ educ + age + PID"),
}

#: Attack → kind of model, formula; on `firms`.
ATTACKS = {
    "dummy of one firm": ("ols", "turnover ~ size + age + spy"),
    "dummy of all but one": ("ols", "turnover ~ size + others"),
    "category left out": ("ols", "turnover ~ kind + size"),
    "dummy of three with noise": ("ols", "turnover ~ size + noisy"),
    "zeros of an interaction": ("ols", "turnover ~ size + size:some"),
    "difference of regressors": ("ols", "turnover ~ size + close"),
    "table of means": ("ols", "turnover ~ north"),
    "sum that is one firm's": ("ols", "giant ~ size + group"),
    "residual that is one firm's": ("ols", "outlier ~ size + age"),
    "logit, few zeros": ("logit", "ill ~ size + some"),
    "outlier that is made": ("ols", "turnover ~ age + made"),
}

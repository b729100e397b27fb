"""A small office with remote access: its data, its anonymised version, its register."""

import shutil
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

import numpy as np
import pandas as pd

import diskret as dk
from diskret.remote import Office

KEYS = dk.SecretKeys(bytes(range(32)))

CONFIG = """
[[data]]
name = "persons"
original = "persons.csv"
numbers = ["age", "pay"]
unit = "person"
versions = [{ level = "factual", folder = "released" }]
blocks = 40
script_blocks = 10
pause = 0

[data.dictionary.job]
label = "Occupation"
codes = { a = "clerk", b = "nurse" }

[[projects]]
name = "pay"
purpose = "who earns what"
data = ["persons"]
members = ["kim"]
level = "factual"
from = 2026-01-01
until = 9999-12-31
certainty = 0.8
answers = 60
submissions = 4
"""

QUERY = """
project = "pay"
data = "persons"

[[results]]
name = "by job"
kind = "table"
by = ["job"]
figures = { pay = "mean" }

[[results]]
name = "model"
kind = "ols"
formula = "pay ~ age + C(job)"

[[results]]
name = "ages"
kind = "histogram"
column = "age"
bins = [20, 35, 50, 65]
"""


def persons(number=4000, seed=1):
    draw = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "person": np.arange(number),
            "job": draw.choice(["a", "b", "c"], number),
            "age": draw.integers(20, 65, number).astype(float),
        }
    )
    frame["pay"] = 1500 + 20 * frame.age + 300 * (frame.job == "a") + draw.normal(0, 200, number)
    return frame.round()


@cache
def _made():
    """Files of an office, made once: the original, a version in which ages count half."""
    home = Path(mkdtemp())
    frame = persons()
    frame.to_csv(home / "persons.csv", index=False)
    version = frame.drop(columns="person")
    version["pay"] = version.pay - 10 * version.age  # the slope of age is half of the true one
    md = dk.Microdata(version, keys=["job"], numeric=["age", "pay"])
    result = md.release(name="persons", claim=dk.claims.KAnonymity(3), keys=KEYS)
    result.write(home / "released", formats=["csv"])
    return home


def files(folder):
    """The files of an office, in a folder of their own."""
    shutil.copytree(_made(), folder, dirs_exist_ok=True)
    (folder / "config.toml").write_text(CONFIG, encoding="utf-8")
    return folder


def office(folder, config=CONFIG):
    """An office with everything registered."""
    files(folder)
    (folder / "config.toml").write_text(config, encoding="utf-8")
    dk.Ledger.create(folder / "centre.db", keys=KEYS)
    opened = Office(folder / "centre.db", KEYS)
    opened.register(folder / "config.toml", who="Lee")
    return opened

"""Remote access: wall seconds of a query and of a script on their own, and behind the wall."""

import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf

import diskret as dk
from diskret.remote import Office
from diskret.remote.sandbox import check
from diskret.remote.scripts import Script, ask_script, compare_script, submit_script

WITHIN = (1.1, 1.5, 2)
RUNS = len(WITHIN)
CONFIG = """
[[data]]
name = "persons"
original = "persons.csv"
numbers = ["age", "pay"]
unit = "person"
versions = [{ level = "factual", folder = "released" }]
pause = 0
[[projects]]
name = "pay"
purpose = "benchmark"
data = ["persons"]
members = ["kim"]
level = "factual"
from = 2026-01-01
until = 9999-12-31
answers = 10000
"""
HEAD = 'project = "pay"\ndata = "persons"\n[[results]]\nname = "r"\n'
QUERIES = {
    "table": 'kind = "table"\nby = ["job", "region"]\nfigures = { pay = "mean" }',
    "regression": 'kind = "ols"\nformula = "pay ~ age + C(job)"',
    "figure": 'kind = "histogram"\ncolumn = "age"\nbins = [20, 30, 40, 50, 65]',
}
SCRIPTS = {
    "table": "table('r', data.groupby(['job', 'region']).pay.mean())",
    "regression": "import statsmodels.formula.api as smf\n"
    "model('r', smf.ols('pay ~ age + C(job)', data).fit())",
}


def plain(kind: str, path: Path) -> object:
    """What a researcher would do who has the file."""
    data = pd.read_csv(path)
    if kind == "table":
        return data.groupby(["job", "region"]).pay.mean()
    if kind == "figure":
        return np.histogram(data.age, [20, 30, 40, 50, 65])
    return smf.ols("pay ~ age + C(job)", data).fit().params


def timed(call) -> float:  # pyright: ignore[reportMissingParameterType]
    """Median wall seconds."""
    found = []
    for _ in range(RUNS):
        began = perf_counter()
        call()
        found.append(perf_counter() - began)
    return median(found)


def main() -> None:
    """Print a line for each size and kind."""
    print("records kind plain shown compared submitted")
    for number in (6_000, 100_000):
        home = Path(tempfile.mkdtemp())
        keys = dk.SecretKeys(bytes(range(32)))
        draw = np.random.default_rng(1)
        frame = pd.DataFrame(
            {
                "person": range(number),
                "job": draw.choice(["a", "b", "c"], number),
                "region": draw.choice(["n", "s"], number),
                "age": draw.integers(20, 65, number).astype(float),
            }
        )
        frame["pay"] = (1000 + 20 * frame.age + draw.normal(0, 200, number)).round()
        frame.to_csv(home / "persons.csv", index=False)
        md = dk.Microdata(
            frame.drop(columns="person"), keys=["job", "region"], numeric=["age", "pay"]
        )
        result = md.release(name="persons", claim=dk.claims.KAnonymity(3), keys=keys)
        result.write(home / "released", formats=["csv"])
        (home / "config.toml").write_text(CONFIG, encoding="utf-8")
        dk.Ledger.create(home / "centre.db", keys=keys)
        office = Office(home / "centre.db", keys)
        office.register(home / "config.toml", who="lee")
        for kind, asked in QUERIES.items():
            alone = timed(lambda kind=kind, home=home: plain(kind, home / "persons.csv"))
            text = HEAD + asked
            shown = timed(lambda text=text, office=office: office.ask(text, who="kim"))
            others = [office.ask(f"{text}\nwithin = {one}", who="kim") for one in WITHIN]
            new = iter(others)  # questions that were not asked before
            told = timed(lambda new=new, office=office: office.compare(next(new), who="kim"))
            began = perf_counter()
            office.submit(text.replace('"r"', f'"{kind}"'), kind, who="kim")
            left = perf_counter() - began
            print(f"{number} {kind} {alone:.2f} {shown:.2f} {told:.2f} {left:.2f}")
        check()
        for kind, code in SCRIPTS.items():
            scripts = [Script("pay", "persons", f"{code}\n# {at}") for at in range(RUNS)]
            spent = {"shown": [], "compared": [], "submitted": []}
            for at, script in enumerate(scripts):
                began = perf_counter()
                ask_script(office, script, who="kim")
                spent["shown"].append(perf_counter() - began)
                began = perf_counter()
                compare_script(office, script, who="kim")  # a question that was not asked before
                spent["compared"].append(perf_counter() - began)
                began = perf_counter()
                renamed = script.code.replace("'r'", f"'{kind} {at}'")
                submit_script(office, Script("pay", "persons", renamed), f"{kind} {at}", who="kim")
                spent["submitted"].append(perf_counter() - began)
            print(f"{number} script: {kind}", *(f"{median(own):.2f}" for own in spent.values()))


if __name__ == "__main__":
    main()

"""Microdata: every verb, releases with their claims, SAFE."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

import diskret as dk
from diskret import Microdata
from snapshots.running import KEYS, LANGUAGES, case, printed
from snapshots.suppressed import SURVEY

CENSUS = dk.datasets.census(1_500, seed=1)
AGES = [0, 16, 25, 45, 65, float("inf")]


def survey() -> Microdata:
    """Persons in households, with income and health."""
    return Microdata(
        SURVEY.records,
        keys=["region", "age", "sex", "marital", "occupation"],
        numeric=["income"],
        sensitive=["health"],
        weight="weight",
        household="household",
        id="person",
        identifiers=["insurance"],
    )


def few() -> Microdata:
    """The same with three coarse keys."""
    return survey().recode("age", breaks=[0, 25, 65, float("inf")]).drop(["occupation", "region"])


#: Verb of microdata → calls of it, to which a new verb adds its own.
CALLS: dict[str, list[Callable[[Microdata], Microdata]]] = {
    "recode": [
        lambda md: md.recode("age", breaks=AGES),
        lambda md: md.recode("age", width=10),
        lambda md: md.recode("marital", groups={"other": ["widowed", "divorced"]}),
    ],
    "drop": [lambda md: md.drop(["income"])],
    "remove_identifiers": [lambda md: md.remove_identifiers()],
    "generalise": [lambda md: md.generalise({"age": [5, 10, 20]}, k=2, keys=["age", "sex"])],
    "local_suppression": [
        lambda md: few().local_suppression(k=2),
        lambda md: few().local_suppression(k=3, importance=["sex", "age"]),
    ],
    "pram": [
        lambda md: md.pram("marital", seed=1),
        lambda md: md.pram(["marital"], seed=1, exact=True, strata=["sex"]),
    ],
    "microaggregate": [
        lambda md: md.microaggregate(["income"], k=3),
        lambda md: md.microaggregate(["income"], k=5, strata=["sex"]),
        lambda md: md.microaggregate(["income"], method="individual", k=3),
    ],
    "add_noise": [
        lambda md: md.add_noise(["income"], seed=1),
        lambda md: md.add_noise(["income"], method="restricted", seed=1),
    ],
    "rank_swap": [lambda md: md.rank_swap(["income"], seed=1, window=0.05)],
    "shuffle": [lambda md: md.shuffle("income", ["age"], seed=1)],
    "swap": [lambda md: md.swap(["region"], seed=1, within=["sex"])],
    "swap_records": [
        lambda md: md.swap_records("region", risk_variables=["sex", "marital"], k=3, seed=1)
    ],
    "top_code": [
        lambda md: md.top_code("income", share=0.01),
        lambda md: md.top_code("income", limit=200, bottom=True),
    ],
    "top_code_together": [lambda md: md.top_code_together(["income", "age"])],
    "sample": [
        lambda md: md.sample(0.1, seed=1),
        lambda md: md.sample({"f": 0.05, "m": 0.5}, seed=1, within="sex"),
        lambda md: few().drop(["household"]).sample(size=60, seed=1, within=["sex"]),
        lambda md: md.drop(["weight"]).sample(each=20, within=["region"], seed=1),
    ],
    "safe": [lambda md: safe()],
}
#: Draws from the system, and cannot be held still.
NOT_REPEATABLE = {"dp_noise"}


def safe() -> Microdata:
    """A census in which every combination is frequent or absent."""
    persons = Microdata(CENSUS.persons, household="household", id="dwelling")
    return persons.safe([("state", "sex"), ("state", "age_group")], seed=1, sweeps=10)


for _name, _calls in CALLS.items():

    @case(f"microdata-{_name}")
    def _(folder: Path, calls: list[Callable[[Microdata], Microdata]] = _calls) -> None:
        for number, call in enumerate(calls, start=1):
            made = call(survey())
            pq.write_table(pa.table(made.table), folder / f"records.{number}.parquet")
            steps = [f"{one.verb} {one.arguments} {one.found}" for one in made.history]
            said = "\n".join([*steps, repr(made)])
            (folder / f"history.{number}.txt").write_text(said, encoding="utf-8")


@case("microdata-risk")
def _(folder: Path) -> None:
    risk = survey().risk()
    pq.write_table(pa.table(risk.records), folder / "records.parquet")
    (folder / "risk.txt").write_text(f"{risk!r}\n{risk}", encoding="utf-8")


def written(result: dk.MicrodataResult, folder: Path) -> None:
    """Write in all formats and both languages, and verify."""
    for language in LANGUAGES:
        out = folder / language
        result.write(out, formats=["csv", "parquet", "html"], language=language, keys=KEYS)
        printed(folder / f"verify.{language}.txt", "verify", str(out), "--language", language)


@case("microdata-release")
def _(folder: Path) -> None:
    md = few().remove_identifiers().local_suppression(k=3).drop(["income"])
    claims = [dk.claims.KAnonymity(3)]
    written(md.release(claims, weight=False, keys=KEYS), folder)


@case("microdata-release-refused")
def _(folder: Path) -> None:
    survey().release(dk.claims.KAnonymity(3), keys=KEYS)


@case("microdata-release-numbers")
def _(folder: Path) -> None:
    md = few().local_suppression(k=3).microaggregate(["income"], method="individual", k=3)
    written(md.release(level="factual", weight=False, keys=KEYS), folder)


@case("microdata-sample-release")
def _(folder: Path) -> None:
    md = few().remove_identifiers().drop(["income"]).sample(0.4, seed=1).local_suppression(k=2)
    written(md.release(dk.claims.KAnonymity(2), weight=False, keys=KEYS), folder)


@case("microdata-safe-release")
def _(folder: Path) -> None:
    written(safe().release(dk.claims.Safe(), keys=KEYS), folder)

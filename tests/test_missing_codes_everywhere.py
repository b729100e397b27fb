"""Codes that mean missing are nobody's values: whatever reads a column, a row each.

Each is asked three times: of a file of SPSS in which nothing stands in some records, of one with a
code there, and of one of Stata with `.c`. The answers are the same, or the same refusal.
"""

import json
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyreadstat
import pytest
from profiles import some_quick

import diskret as dk
from diskret import microdata
from diskret.cellkey import PerturbationTable
from diskret.errors import DiskretError
from diskret.jobs.microdata import read_microdata_job, run_microdata_job
from diskret.population import Population
from diskret.rules import Apriori
from diskret.tables.named import named_keys
from diskret.utility.records_comparison import RecordsComparison

KEYS = dk.SecretKeys(bytes(range(32)))
N = 60
BY = {"region": None, "group": None}
#: -7 stands nowhere else; 1 among values that it could be.
CODE, ROWS = -7, [3, 7, 20, 41]


def persons():
    draw = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "region": np.tile([1, 2], N // 2),
            "group": np.repeat([1, 2, 3], N // 3),
            "income": draw.integers(10, 900, N),
            "staff": draw.integers(1, 90, N),
            "person": np.arange(1, N + 1),
            "house": np.repeat(np.arange(1, N // 2 + 1), 2),
            "weight": draw.integers(2, 9, N),
            "asked": np.tile([0, 1, 0], N // 3),
            "key": draw.integers(0, 250, N),
            "level": draw.integers(1, 6, N),
            "k": np.tile([2, 3], N // 2),
            "chance": np.tile([0.25, 0.75], N // 2),
        }
    ).astype(float)


def cells():
    return pd.DataFrame(
        {
            "region": [1, 2, 3, 4, 9],
            "value": [70, 20, 10, 5, 105],
            "count": [9, 8, 7, 6, 30],
            "top": [30, 10, 5, 2, 30],
            "lower": [60, 10, 5, 1, 100],
            "cost": [3, 4, 5, 6, 7],
            "status": [0, 1, 0, 1, 0],
            "key": [1, 2, 3, 4, 10],
        }
    ).astype(float)


def files(folder, frame, name, rows, code=CODE):
    """The same records three times: with gaps, with a code, and with a letter of Stata."""
    gap, coded, tagged = frame.copy(), frame.copy(), frame.astype(object)
    gap.loc[rows, name], coded.loc[rows, name], tagged.loc[rows, name] = np.nan, code, "c"
    paths = [folder / "gap.sav", folder / "code.sav", folder / "tag.dta"]
    pyreadstat.write_sav(gap, str(paths[0]))
    pyreadstat.write_sav(coded, str(paths[1]), missing_ranges={name: [code]})
    pyreadstat.write_dta(tagged, str(paths[2]), missing_user_values={name: ["c"]})
    return paths


def plain(found):
    """As text that is the same for the same answer: numbers as such, gaps and codes as null."""
    if isinstance(found, pa.Table):
        return plain(found.to_pydict())
    if isinstance(found, pa.ChunkedArray):
        return plain(found.to_pylist())
    if isinstance(found, np.ndarray):
        return plain(found.tolist())
    if isinstance(found, dict):
        return {str(name): plain(one) for name, one in found.items()}
    if isinstance(found, (list, tuple)):
        return [plain(one) for one in found]
    if found is None or str(found) in (str(CODE), ".c", "nan"):
        return None
    try:
        return round(float(found), 9)
    except (TypeError, ValueError):
        return str(found)


def answer(ask, path):
    try:
        return json.dumps(plain(ask(path)))
    except DiskretError as error:
        return "refused: " + re.sub(r"\b(gap|code|tag)(_short)?\.(sav|dta)", "FILE", str(error))


def md(path, **roles):
    return dk.Microdata(path, **{"keys": ["region", "group"], **roles})


def made(table):
    figures = [table.count, table.units, table.holdings, dict(table.marked)]
    return [*figures, *((one.sum, one.largest, one.magnitude) for one in table.measures)]


def tabulated(**asked):
    return lambda path: made(dk.tabulate(path, by=BY, **{"value": "income", **asked}))


def numbers(verb, *names, **given):
    return lambda path: getattr(md(path), verb)(list(names), **given).numbers(list(names))


def compared(path, **given):
    before = md(path)
    return repr(before.compare(before.add_noise(["income"], share=0.1, seed=1), **given))


def moved(path):
    """The mean distance on the line of levels, of which one is another in each third record."""
    before = md(path)
    level = before.table_column("level").to_pylist()
    for at in range(0, N, 3):
        if at not in ROWS:
            level[at] = type(level[at])(5)
    table = before.table
    after = table.set_column(table.schema.get_field_index("level"), "level", [level])
    asked = {"numeric": [], "categorical": ["level"], "ordered": "level"}
    found = dk.utility.compare(path, after, **asked)
    assert isinstance(found, RecordsComparison)
    return found.distances


def synthetic(path):
    found = dk.risk.synthetic(path, persons()[::-1].iloc[:40], keys=["region", "group"])
    return found.closeness, found.propensity.pmse


def perturbed(path, **asked):
    table = PerturbationTable(
        np.array([0, 1]), np.array([-1, 0, 1]), np.array([[0, 1, 0], [0.3, 0.4, 0.3]])
    )
    given = {"by": BY, "record_key": "key", "key_modulus": 250, "ptable": table}
    return dk.perturb_records(path, **{**given, **asked}).public


def people(**given):
    return dk.Microdata(pa.table({"region": [1, 2], "group": [1, 2]}), keys=["region", "group"])


def job(path):
    text = f'[records]\npath = "{path.name}"\n[roles]\nkeys = ["region", "group"]\n'
    text += 'household = "house"\n[release]\nformats = ["csv"]\nhousehold = true\n'
    text += "[release.claims]\nrisk_below = { threshold = 0.9, household = true }\n"
    (path.parent / "job.toml").write_text(text)
    folder, _ = run_microdata_job(read_microdata_job(path.parent / "job.toml"), keys=KEYS)
    read = pd.read_csv(folder / "public" / "microdata.csv")
    for file in sorted(folder.rglob("*"), reverse=True):
        file.unlink() if file.is_file() else file.rmdir()
    folder.rmdir()
    return sorted(read.house.value_counts(dropna=False))


def households(path):
    return sorted(md(path, household="house").risk().households.risk.tolist())


def swapped(path):
    found = md(path, household="house").swap_records(["group"], seed=1, rate=0.5)
    return [value is None for value in found.table_column("group").to_pylist()]


def identified(path):
    released = md(path, id="person").release(
        dk.claims.KAnonymity(2), id=True, shuffle=False, keys=KEYS
    )
    return [value is None for value in released.table["person"].to_pylist()]


def linked_to(path, **given):
    before = md(path)
    after = before.add_noise(["income", "staff"], share=0.1, seed=1)
    return after.numeric_risk(["income", "staff"], **given).incomplete


ASKED = {
    # tables from records
    "value": ("income", tabulated()),
    "largest contributions of units": ("income", tabulated(unit="person")),
    "unit": ("person", tabulated(unit="person")),
    "holding": ("house", tabulated(unit="person", holding="house")),
    "weight": ("weight", tabulated(weight="weight")),
    "request": ("asked", tabulated(request="asked")),
    "waiver": ("asked", tabulated(waiver="asked")),
    "bound above": ("staff", tabulated(where={"staff": {"max": 50}})),
    "bound below": ("staff", tabulated(where={"staff": {"min": -100}})),
    "population": ("staff", tabulated(where=Population.of({"staff": {"max": 50}}))),
    "several values": ("staff", tabulated(value=["income", "staff"])),
    "record key": ("key", tabulated(record_key="key", key_modulus=250)),
    "perturbed records": ("key", perturbed),
    "perturbed units": ("person", lambda path: perturbed(path, unit="person")),
    "derived keys": ("person", lambda path: dk.record_keys(path, id="person", keys=KEYS)["person"]),
    "keys of houses": (
        "house",
        lambda path: dk.record_keys(path, id="person", parent="house", keys=KEYS)["record_key"],
    ),
    # risk where the records are
    "key risk by weight": ("weight", lambda path: dk.key_risk(path, ["region"], weight="weight")),
    "key risk of some": (
        "staff",
        lambda path: dk.key_risk(path, ["region"], where={"staff": {"max": 50}}).n,
    ),
    "key risk of households": (
        "house",
        lambda path: dk.key_risk(path, ["region"], weight="weight").households("house"),
    ),
    # roles of microdata
    "sampling weight": ("weight", lambda path: md(path, weight="weight").risk().risk),
    "household": ("house", households),
    "household in a job": ("house", job),
    "number of a record": ("person", identified),
    "numeric": ("staff", lambda path: md(path, numeric=["income", "staff"]).numbers()),
    # verbs
    "noise": ("staff", numbers("add_noise", "income", "staff", seed=1)),
    "correlated noise": (
        "staff",
        numbers("add_noise", "income", "staff", method="correlated", seed=1),
    ),
    "random matrices": ("staff", numbers("add_noise", "income", "staff", method="romm", seed=1)),
    "noise by outliers": (
        "staff",
        numbers("add_noise", "income", "staff", method="outliers", seed=1),
    ),
    "noise with privacy": (
        "staff",
        lambda path: [
            one is None
            for one in md(path)
            .dp_noise(["staff"], epsilon=1.0, bounds={"staff": [0, 100]})
            .table_column("staff")
            .to_pylist()
        ],
    ),
    "microaggregation": ("staff", numbers("microaggregate", "income", "staff", k=3)),
    "ranks": ("staff", numbers("rank_swap", "staff", window=0.2, seed=1)),
    "averaged ends": (
        "staff",
        numbers("rank_swap", "staff", window=0.2, top=0.1, bottom=0.1, seed=1),
    ),
    "shuffled": (
        "staff",
        lambda path: md(path).shuffle(["staff"], ["income"], seed=1).numbers(["staff"]),
    ),
    "shuffled by": (
        "staff",
        lambda path: md(path).shuffle(["income"], ["staff"], seed=1).numbers(["income"]),
    ),
    "cut above": (
        "staff",
        lambda path: md(path).top_code("staff", limit=60, k=2).numbers(["staff"]),
    ),
    "cut below": (
        "staff",
        lambda path: md(path).top_code("staff", limit=20, bottom=True, k=2).numbers(["staff"]),
    ),
    "cut together": (
        "staff",
        lambda path: (
            md(path)
            .top_code_together(["income", "staff"], quantile=0.8)
            .numbers(["income", "staff"])
        ),
    ),
    "within a band": (
        "level",
        lambda path: md(path).pram("level", seed=1, stay=0.3, band=1).table_column("level"),
    ),
    "ordinal": (
        "level",
        lambda path: (
            md(path)
            .microaggregate([], k=3, method="gower", ordinal=["level"])
            .table_column("level")
        ),
    ),
    "classes": (
        "staff",
        lambda path: (
            md(path, keys=["staff"])
            .recode("staff", method="equal_width", classes=3)
            .table_column("staff")
        ),
    ),
    "end of a recoding": (
        "staff",
        lambda path: md(path, keys=["staff"]).recode("staff", top=60).table_column("staff"),
    ),
    "levels": (
        "staff",
        lambda path: (
            md(path, keys=["staff"]).generalise({"staff": [20, 60]}, k=3).table_column("staff")
        ),
    ),
    "k of a record": ("k", lambda path: md(path).local_suppression("k").table_column("region")),
    "chance of a swap": (
        "chance",
        lambda path: md(path).swap("region", probability="chance", seed=1).table_column("region"),
    ),
    "range of a swap": (
        "staff",
        lambda path: (
            md(path)
            .swap("region", probability=1, seed=1, ranges={"staff": {"from": -100, "to": 200}})
            .table_column("region")
        ),
    ),
    "risk of a household": (
        "chance",
        lambda path: (
            md(path)
            .swap_records(["region"], seed=1, risk="chance", threshold=0.5)
            .table_column("region")
        ),
    ),
    "household that is swapped": ("house", swapped),
    "place of a household": (
        "group",
        lambda path: (
            md(path, keys=["region"])
            .swap_records(["group"], seed=1, rate=0.5)
            .table_column("group")
        ),
    ),
    "closeness on a line": (
        "level",
        lambda path: md(path, sensitive=["level"]).anonymity(ordered=["level"]).closeness,
    ),
    "suppressed for closeness": (
        "level",
        lambda path: (
            md(path, sensitive=["level"])
            .local_suppression(k=2, closeness=0.2, ordered=["level"])
            .table_column("group")
        ),
    ),
    # measures
    "linked": ("staff", linked_to),
    "compared": ("staff", lambda path: compared(path, numeric=["income", "staff"], categorical=[])),
    "kinds": ("staff", lambda path: dk.utility.compare(path, path).numeric),
    "compared weights": (
        "weight",
        lambda path: dk.utility.compare(
            path, path, numeric=["income"], categorical=[], weight="weight"
        ).files.weights(),
    ),
    "distance on a line": ("level", moved),
    "synthetic": ("staff", synthetic),
    "counts of a population": (
        "weight",
        lambda path: people().risk(population=path, count="weight").population_frequency,
    ),
    "claim about a population": (
        "weight",
        lambda path: (
            people().release(dk.claims.KMap(2, path, count="weight"), keys=KEYS).certificate
        ),
    ),
    "weights of an estimate": (
        "weight",
        lambda path: microdata.pram_estimate(path, {"region": None}, weight="weight").estimate,
    ),
}


@pytest.mark.parametrize("what", some_quick(ASKED, [*ASKED][::2]))
def test_nobody_has_a_code_that_means_missing(what, tmp_path):
    name, ask = ASKED[what]
    gap, code, tag = (answer(ask, path) for path in files(tmp_path, persons(), name, ROWS))
    assert gap == code == tag


#: With another code these would count: a yes, a level, a threshold, a household that there is.
AMONG_VALUES = {
    "request": ("asked", 1),
    "waiver": ("asked", 1),
    "bound above": ("staff", 0),
    "holding": ("house", 1),
    "household": ("house", 1),
    "k of a record": ("k", 2),
    "closeness on a line": ("level", 5),
    "synthetic": ("staff", 99),
}


@pytest.mark.parametrize("what", AMONG_VALUES)
def test_a_code_that_could_be_a_value_is_none(what, tmp_path):
    name, code = AMONG_VALUES[what]
    rows = sorted({*ROWS, *np.flatnonzero(persons()[name] == code)})
    found = [answer(ASKED[what][1], path) for path in files(tmp_path, persons(), name, rows, code)]
    assert found[0] == found[1] == found[2]


def test_codes_that_are_named_are_meant(tmp_path):
    """Who says which codes mean yes, or asks for a category, says so of this code, too."""
    _, path, _ = files(tmp_path, persons(), "asked", ROWS)
    table = dk.tabulate(path, by=BY, value="income", request={"asked": CODE})
    assert table.marked["request"].ravel()[0] == len(ROWS)
    assert dk.tabulate(path, by=BY, where={"asked": str(CODE)}).count.ravel()[0] == len(ROWS)
    assert str(CODE) in dk.tabulate(path, by={"asked": None}).cells["asked"].to_pylist()


def test_texts_that_mean_missing_are_nobodys_either(tmp_path):
    """SPSS keeps codes as text, too; they are added up where all are digits."""
    path = tmp_path / "p.sav"
    frame = pd.DataFrame(
        {"region": ["N", "N", "S"], "pay": ["10", "99", "20"], "firm": ["a", "99", "b"]}
    )
    pyreadstat.write_sav(frame, str(path), missing_ranges={"pay": ["99"], "firm": ["99"]})
    by = {"region": None}
    with pytest.raises(DiskretError, match="1 record: nothing in column 'pay'"):
        dk.tabulate(path, by=by, value="pay")
    with pytest.raises(DiskretError, match="1 record: nothing in column 'firm'"):
        dk.tabulate(path, by=by, unit="firm")
    assert dk.Microdata(path, keys="region").numbers(["pay"])[:, 0].tolist()[::2] == [10, 20]
    assert dk.tabulate(path, by={"pay": None}).cells["pay"].to_pylist() == [
        "Total",
        "10",
        "20",
        "99",
    ]


CELLS = {"by": {"region": None}, "total": "9"}
FROM_CELLS = {
    "value": ("value", lambda path: made(dk.Table.from_cells(path, **CELLS, value="value"))),
    "count": ("count", lambda path: made(dk.Table.from_cells(path, **CELLS, count="count"))),
    "largest": (
        "top",
        lambda path: made(dk.Table.from_cells(path, **CELLS, value="value", largest=["top"])),
    ),
    "shadow": (
        "cost",
        lambda path: made(dk.Table.from_cells(path, **CELLS, value="value", shadow="cost")),
    ),
    "magnitude": (
        "cost",
        lambda path: made(dk.Table.from_cells(path, **CELLS, value="value", magnitude="cost")),
    ),
    "cost": ("cost", lambda path: Apriori.of_cells(path, ["region"], cost="cost")(table()).cost),
    "status": (
        "status",
        lambda path: (
            Apriori.of_cells(path, ["region"], status="status", who="A. Meyer", date="2025-12-31")(
                table()
            ).unsafe
        ),
    ),
    "apriori": ("cost", lambda path: Apriori(some_of(path, ["region", "cost"]))(table()).cost),
    "bounds of an attacker": (
        "lower",
        lambda path: hidden(dk.Attacker(lower=some_of(path, ["region", "lower"]))),
    ),
    "values of last year": (
        "value",
        lambda path: hidden(
            dk.Attacker.around(some_of(path, ["region", "value"]), percent=50, value="value")
        ),
    ),
    "keys of cells": (
        "key",
        lambda path: named_keys(table(), some_of(path, ["region", "key"]), 256)[0],
    ),
    "audited": ("value", lambda path: dk.audit(path, **CELLS, value="value").frame),
}


def some_of(path, names):
    """A file with some of the columns only."""
    read = pyreadstat.read_sav if path.suffix == ".sav" else pyreadstat.read_dta
    frame, told = read(str(path), user_missing=True)
    some = pd.DataFrame(frame)[names]
    short = path.with_stem(path.stem + "_short")
    if path.suffix == ".sav":
        ranges = {n: v for n, v in (told.missing_ranges or {}).items() if n in names}
        pyreadstat.write_sav(some, str(short), missing_ranges=ranges)
    else:
        tags = {n: v for n, v in (told.missing_user_values or {}).items() if n in names}
        pyreadstat.write_dta(some, str(short), missing_user_values=tags)
    return short


def table():
    frame = cells()[["region", "value"]].astype(int)
    return dk.Table.from_cells(frame, **CELLS, value="value")


def hidden(attacker):
    """What can be computed of hidden cells."""
    given = {"status": "unsafe", "lower": 1.0, "upper": 1.0}
    answers = {"reason": "consent", "who": "A. Meyer", "date": "2025-12-31"}
    rule = Apriori(pa.Table.from_pylist([{"region": "2", **given, **answers}]))
    found = dk.suppress(table(), rule, attacker=attacker).certificate.outsider
    return found.cell, found.lower, found.upper


@pytest.mark.parametrize("what", FROM_CELLS)
def test_no_cell_has_a_code_that_means_missing(what, tmp_path):
    name, ask = FROM_CELLS[what]
    gap, code, tag = (answer(ask, path) for path in files(tmp_path, cells(), name, [1]))
    assert gap == code == tag

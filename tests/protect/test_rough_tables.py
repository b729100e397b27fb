"""A table beside a rougher one of its own: what consists of the same codes is the same cell."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.attack import examine
from diskret.publish.verify.folder import verify
from diskret.tables import Publication
from diskret.tables.meanings import common_cells

KEYS = dk.SecretKeys(bytes(range(32)))
PLACES = dk.Hierarchy.from_parents(
    {"code": ["T", "A", "B", "a1", "a2", "b1", "b2"], "parent": [None, *"TTAABB"]}
)
ROUGH = {
    "total": {"level": 0},
    "total, renamed": {"level": 0, "total": "everywhere"},
    "all combined": {"groups": {"T": ["A", "B"]}},
    "level 1": {"level": 1},
}
COUNTS = {}, dk.rules.MinimumFrequency(3)
SUMS = {"value": "pay", "unit": "firm", "contributions": True}, dk.rules.PPercent(10)


def tables(kind, how):
    rng = np.random.default_rng(len(how))
    places = rng.choice(["a1", "a2", "b1", "b2"], 80, p=[0.5, 0.3, 0.18, 0.02])
    records = {"place": places, "sex": rng.choice(["f", "m"], 80, p=[0.9, 0.1])}
    records |= {"pay": rng.integers(1, 100, 80), "firm": np.arange(80)}
    fine = dk.tabulate(pa.table(records), by={"place": PLACES, "sex": None}, **kind)
    return fine, fine.recode("place", **ROUGH[how])


def shown(results):
    """The value of each common cell in both tables, None where it is hidden."""
    columns = [[column for column in r.public.column_names][2] for r in results]
    values = [r.public[name].to_pylist() for r, name in zip(results, columns, strict=True)]
    cells = common_cells(*(r.published for r in results))
    return [[own[i] for i in at] for own, at in zip(values, cells, strict=True)]


@pytest.mark.parametrize("kind", [COUNTS, SUMS])
@pytest.mark.parametrize("how", ROUGH)
def test_together(kind, how, tmp_path):
    options, rule = kind
    results = dk.suppress([*tables(options, how)], rule, name=["fine", "rough"])
    one, other = shown(results)
    assert one == other and len(one) == results[1].published.value.size
    found = examine(Publication(tuple(r.published for r in results)))
    assert (found.upper - found.lower >= 1).all()
    folder = dk.write(results, tmp_path / "out", ["csv"], keys=KEYS)
    assert verify(folder, keys=KEYS).tables == ("fine", "rough")


@pytest.mark.parametrize("kind", [COUNTS, pytest.param(SUMS, marks=pytest.mark.long)])
@pytest.mark.parametrize("how", ROUGH)
@pytest.mark.parametrize("first", [0, 1])
def test_one_after_the_other(kind, how, first, tmp_path):
    options, rule = kind
    both = tables(options, how)
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    results = []
    for i, table in enumerate((both[first], both[1 - first])):
        result = dk.suppress(table, rule, name=f"t{i}", ledger=ledger)
        ledger.publish(result, tmp_path / str(i), ["csv"])
        results.append(result)
    before, after = shown(results)
    assert all(b == a or a is None for b, a in zip(before, after, strict=True))
    found = examine(Publication(tuple(r.published for r in results)))
    assert (found.upper - found.lower >= 1).all()


def test_a_file_of_totals_alone():
    """Its only row says nothing of what there is below; it is everybody all the same."""
    fine = dk.tabulate(pa.table({"place": list("aab")}), by={"place": None})
    cells = pa.table({"place": ["Total"], "n": [3]})
    alone = dk.Table.from_cells(cells, by={"place": None}, count="n")
    result = dk.suppress([fine, alone], dk.rules.MinimumFrequency(2), name=["fine", "alone"])
    assert result[1].public["count"].to_pylist() == result[0].public["count"].to_pylist()[:1]

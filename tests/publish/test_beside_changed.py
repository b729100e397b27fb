"""Cells are hidden beside an earlier release whose values were changed: what readers are told.

How far true values lie from changed ones is the office's, unless it is rounding that says so. So
intervals that everybody may read follow from what was shown alone, and everybody can confirm them.
"""

import csv
import json
import math
import shutil

import numpy as np
import pyarrow as pa
import pytest
from scipy.optimize import linprog

import diskret as dk

KEYS = dk.SecretKeys(bytes(range(32)))
PERSONS = {"N": 40, "S": 23, "W": 14, "E": 1}
RULE = dk.rules.MinimumFrequency(3)


@pytest.fixture(scope="module")
def records():
    regions = [region for region, number in PERSONS.items() for _ in range(number)]
    rows = {"region": regions, "sex": ["f", "m"] * (len(regions) // 2), "id": range(len(regions))}
    return dk.record_keys(pa.table(rows), id="id", keys=KEYS)


def noisy(table, largest):
    return dk.perturb(table, dk.PerturbationTable.maximum_entropy(largest, 2), name="before")


def rounded(table, how, base=5):
    return dk.round_table(table, base, how, keys=KEYS, name="before")


def released(home, records, change, **options):
    """Those of E and S by sex with changed values, then all regions: the folder of these."""
    home.mkdir()
    few = dk.tabulate(records, by={"sex": None}, where={"region": [*"ES"]}, record_key="record_key")
    ledger = dk.Ledger.create(home / "ledger.db", keys=KEYS)
    changed = change(few)
    ledger.publish(changed, home / "before", ["csv"])
    whole = dk.tabulate(records, by={"region": None})
    result = dk.suppress(whole, RULE, ledger=ledger, name="regions")
    ledger.publish(result, home / "regions", ["csv"], **options)
    for name in ("before", "regions"):
        shutil.copytree(home / name / "public", home / "download" / name)
    return changed.published, home


def told(home):
    """The interval of E that the public certificate states."""
    path = home / "download" / "regions" / "regions.certificate.json"
    intervals = json.loads(path.read_text(encoding="utf-8"))["intervals"]
    at = intervals["region"].index("E")
    return intervals["lower"][at], intervals["upper"][at]


def confirmed(home, releases=("before",)):
    given = [home / "download" / name for name in releases]
    line, *_ = dk.verify(home / "download" / "regions", releases=given).lines
    return "suppressed cells confirmed, attacked together with before/before" in line


@pytest.mark.parametrize("intervals", [False, True])
def test_public_files_do_not_depend_on_the_largest_noise(tmp_path, records, monkeypatch, intervals):
    def public(name, largest):
        changed, home = released(
            tmp_path / name, records, lambda table: noisy(table, largest), intervals=intervals
        )
        own = {p.name: p.read_bytes() for p in (home / "download" / "regions").iterdir()}
        return home, changed.value.tolist(), {n: own[n] for n in own if n.endswith(("csv", "json"))}

    (home, shown, small), (_, again, large) = public("small", 4), public("large", 9)
    assert shown == again and small == large  # the same noise was drawn, and it could be larger
    assert confirmed(home) and not confirmed(home, ())
    # else the bound is told: what E and S have at most, and S is shown
    for where in ("attack.certificate", "protect.safe_intervals"):
        monkeypatch.setattr(f"diskret.{where}.seen_by_readers", lambda own: own)
    (home, _, small), (other, _, large) = public("told 4", 4), public("told 9", 9)
    assert small != large
    if not intervals:
        assert [told(home)[1], told(other)[1]] == [shown[0] + d - PERSONS["S"] for d in (4, 9)]
        with pytest.raises(dk.errors.VerificationError, match="other intervals"):
            confirmed(home)


def largest_and_smallest(home, reach):
    """What E can be, by linear programmes over N, W and both sexes of E and S."""
    shown = {}
    for name in ("regions", "before"):
        with (home / "download" / name / f"{name}.csv").open(encoding="utf-8") as file:
            rows = list(csv.reader(file))[1:]
        shown |= {(name, code): int(value) for code, value, _ in rows if value}
    cells = {"N": [0], "W": [1], "E": [2, 3], "S": [4, 5], "f": [2, 4], "m": [3, 5]}
    cells |= {("regions", "Total"): range(6), ("before", "Total"): range(2, 6)}
    matrix, right = [], []
    for (name, code), value in shown.items():
        row = np.isin(range(6), cells.get((name, code)) or cells[code])
        for sign, most in ((1, value), (-1, -value)):
            matrix.append(sign * row)
            right.append(most + (reach if name == "before" else 0))
    cost = np.isin(range(6), cells["E"]).astype(float)
    ends = (linprog(sign * cost, A_ub=np.array(matrix), b_ub=right).fun for sign in (1, -1))
    low, high = (sign * end for sign, end in zip((1, -1), ends, strict=True))
    return math.ceil(low - 1e-6), math.floor(high + 1e-6)


@pytest.mark.parametrize(("how", "reach"), [("deterministic", 2), ("random", 4)])
def test_rounding_tells_how_far_values_lie_from_the_true_ones(tmp_path, records, how, reach):
    _, home = released(tmp_path / "r", records, lambda table: rounded(table, how))
    assert told(home) == largest_and_smallest(home, reach)
    assert (told(home) != largest_and_smallest(home, 99)) == (how == "random")
    assert confirmed(home) and not confirmed(home, ())


def test_steps_of_controlled_rounding_are_the_office_s(tmp_path, records):
    _, home = released(tmp_path / "r", records, lambda table: rounded(table, "controlled"))
    assert told(home) == largest_and_smallest(home, 99) != largest_and_smallest(home, 4)
    assert confirmed(home)


def test_the_office_proves_its_requirements_again(tmp_path, records):
    _, home = released(tmp_path / "r", records, lambda table: noisy(table, 9))
    report = dk.verify(home / "regions", keys=KEYS, releases=[home / "before"])
    assert any("proven again by" in line for line in report.lines)
    dk.Ledger(home / "ledger.db", KEYS).verify([home / "before", home / "regions"])


def test_another_base_than_the_values_were_rounded_to_is_found_out(tmp_path, records):
    _, home = released(tmp_path / "r", records, lambda table: rounded(table, "random"))
    path = home / "download" / "before" / "before.certificate.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["shown"]["base"] = 1
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(dk.errors.ContradictionError, match="satisfy all equations"):
        confirmed(home)


def test_a_ledger_that_kept_less_of_changed_values_is_read(tmp_path, records, monkeypatch):
    from diskret.publish.store import cells

    packed = cells.packed

    def less(said, arrays):
        kept = {name: array for name, array in arrays.items() if not name.startswith("shown")}
        return packed({key: said[key] for key in said if key == "by"}, kept)

    monkeypatch.setattr(cells, "packed", less)
    _, home = released(tmp_path / "r", records, lambda table: noisy(table, 4))
    assert told(home) == largest_and_smallest(home, 99)
    assert not confirmed(home)  # nobody can say what the earlier table showed

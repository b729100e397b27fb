"""What totals by several geographies tell of few: everything is found, and nothing else."""

import numpy as np
import pyarrow as pa
import pytest
from geographies_oracle import Case, tells
from profiles import scaled

import diskret as dk
from diskret.errors import InputError
from diskret.spatial import cuts, differences

FEW = dk.rules.MinimumFrequency
SHARES = [
    dk.rules.PPercent(10),
    dk.rules.PPercent(30, coalition=2),
    dk.rules.Dominance(2, 80, quiet=True),
]


def check_counts(case):
    sums = case.sums()
    for value in (None, "value"):
        want = case.pieces_of_few(value is not None, sums)
        told = differences(case.frame, case.by, FEW(case.threshold), unit="unit", value=value)
        assert told.complete and told.joint in (None, True)
        found = set()
        for one in told:
            inside, times = case.records_in(one), case.times(one)
            assert ((times != 0) == inside).all()
            assert set(np.abs(times[inside])) == {1} and (value or len(set(times[inside])) == 1)
            assert one.number == len(set(case.unit[inside])) < case.threshold
            found |= set(case.piece[inside])
        assert found == want


def check_shares(case, rule):
    # who is not the largest is named, too, where only one is estimated and a graph tells
    every = len(case.by) == 2 and isinstance(rule, dk.rules.PPercent)
    want, unsafe = set(), []
    for times in case.sums():
        amounts = case.amounts(times != 0)
        largest = max(amounts.values(), default=0)
        here = {unit for unit in amounts if tells(unit, amounts, rule)}
        want |= {unit for unit in here if every or amounts[unit] == largest}
        if here:
            unsafe.append(times != 0)
    told = differences(case.frame, case.by, rule, unit="unit", value="value")
    assert told.complete and told.joint in (None, True)
    found, left = set(), np.zeros(len(case.unit), bool)
    for one in told:
        amounts = case.amounts(case.records_in(one))
        left |= case.records_in(one)
        assert ((case.times(one) != 0) == case.records_in(one)).all()
        here = {unit for unit in amounts if tells(unit, amounts, rule)}
        assert here
        found |= here
    assert all((left & inside).any() for inside in unsafe)
    if isinstance(rule, dk.rules.PPercent):
        assert found >= want
    if every:
        assert found == want


@pytest.mark.parametrize("geographies", [2, 3])
def test_counts_of_few_are_those_that_trying_all_sums_finds(geographies):
    for seed in range(scaled(60)):
        check_counts(Case(seed, geographies))


@pytest.mark.parametrize("geographies", [2, 3])
def test_firms_too_close_are_those_that_trying_all_sums_finds(geographies):
    for seed in range(scaled(20)):
        check_shares(Case(seed, geographies), SHARES[seed % len(SHARES)])


@pytest.mark.slow
@pytest.mark.parametrize("geographies", [2, 3])
def test_five_thousand_pairs_and_triples(geographies):
    for seed in range(5_000):
        case = Case(seed, geographies)
        check_counts(case)
        check_shares(case, SHARES[seed % len(SHARES)])


def test_a_district_of_100_around_cells_of_97_leaves_3():
    # Costemalle 2019: zone of 100, tiles inside of it 97, threshold 4
    cells = {f"t{at}": ("A", 1) for at in range(97)} | {f"o{at}": ("B", 20) for at in range(200)}
    rows = [(district, cell, n) for cell, (district, n) in cells.items()]
    rows += [("A", "border 1", 1), ("A", "border 2", 2), ("B", "border 1", 9), ("B", "border 2", 8)]
    district, cell, persons = zip(*rows, strict=True)
    frame = pa.table({"district": district, "cell": cell, "persons": persons})
    published = {f"t{at}" for at in range(97)}
    told = differences(frame, ["district", "cell"], FEW(4), count="persons")
    [one] = [one for one in told if len(one.terms) > 1]
    assert one.number == 3
    assert one.areas == {("district", "A")} | {("cell", code) for code in published}
    assert str(one) == "district A without cell t0, t1, t10 and 94 more: 3 records"
    assert one.said("de") == "district A ohne cell t0, t1, t10 und 94 weitere: 3 Datensätze"
    # with the second hidden beside a border cell, nobody knows what to take away
    hidden = {"cell": ["t0", "o0"]}
    told = differences(frame, ["district", "cell"], FEW(4), count="persons", hidden=hidden)
    assert not [one for one in told if ("district", "A") in one.areas and one.number < 4]


def test_what_suppress_hides_for_a_grid_and_municipalities_leaves_nothing():
    pieces = ["g1|m1"] * 30 + ["g1|m2"] + ["g2|m2"] * 40 + ["g3|m3"] * 25
    grid, municipality = zip(*(piece.split("|") for piece in pieces), strict=True)
    persons = pa.table({"grid": grid, "municipality": municipality})
    rule = FEW(3)
    [one] = differences(persons, ["grid", "municipality"], rule)
    assert (one.number, str(one)) == (1, "grid g1 without municipality m1: 1 record")
    tables = [dk.tabulate(persons, by={name: None}) for name in persons.column_names]
    results = dk.suppress(tables, rule, name=persons.column_names)
    hidden = {
        result.name: [
            row[result.name] for row in result.public.to_pylist() if row["status"] == "suppressed"
        ]
        for result in results
    }
    assert any(hidden.values())
    assert not len(differences(persons, ["grid", "municipality"], rule, hidden=hidden))


def test_unions_are_found_from_inside_and_outside():
    # no cell lies in area 1 or 2 alone; together they hold cell x, and one person of y is left
    rows = [("1", "x", 50), ("2", "x", 60), ("1", "y", 1), ("3", "y", 70), ("3", "z", 40)]
    a, b, n = zip(*rows, strict=True)
    frame = pa.table({"a": a, "b": b, "n": n})
    [one] = differences(frame, ["a", "b"], FEW(3), count="n")
    assert (one.number, one.pieces) == (1, (("1", "y"),))
    assert one.terms == (("b", "y", 1.0), ("b", "z", 1.0), ("a", "3", -1.0)) or one.terms == (
        ("a", "1", 1.0), ("a", "2", 1.0), ("b", "x", -1.0),
    )  # fmt: skip


@pytest.mark.parametrize("seed", range(scaled(30)))
def test_hidden_areas_are_one_area_together(seed):
    case = Case(seed, 2)
    draw = np.random.default_rng(seed)
    hidden = {
        name: sorted({code for code in codes if draw.random() < 0.4})
        for name, codes in zip(case.by, case.codes, strict=True)
    }
    told = differences(case.frame, case.by, FEW(case.threshold), unit="unit", hidden=hidden)
    for at, name in enumerate(case.by):
        case.codes[at] = ["" if code in hidden[name] else code for code in case.codes[at]]
    found = set()
    for one in told:
        inside = case.records_in(one)
        assert ((case.times(one) != 0) == inside).all()
        found |= set(np.flatnonzero(inside))
    case.piece = np.arange(len(case.unit))
    assert found == case.pieces_of_few(False, case.sums())


def test_a_search_that_is_cut_short_says_so(monkeypatch):
    draw = np.random.default_rng(1)
    frame = pa.table({"a": draw.integers(0, 9, 60), "b": draw.integers(0, 9, 60)})
    assert differences(frame, ["a", "b"], FEW(9)).complete
    monkeypatch.setattr(cuts, "_WORK", 5)
    told = differences(frame, ["a", "b"], FEW(9))
    assert not told.complete
    assert "may be more" in told.summary() and "kann mehr geben" in told.summary("de")


def test_records_without_an_area_are_the_rest():
    frame = pa.table({"buffer": ["near"] * 20 + [None] * 2 + [None] * 30,
                      "town": ["t"] * 22 + ["u"] * 30})  # fmt: skip
    [one] = differences(frame, ["town", "buffer"], FEW(3))
    assert str(one) == "town t without buffer near: 2 records"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"by": ["a"]}, "two columns of areas"),
        ({"by": ["a", "c"]}, "no column 'c'"),
        ({"count": "n", "unit": "b"}, "leave it out"),
        ({"hidden": {"c": ["1"]}}, "no geography"),
        ({"hidden": {"a": ["7"]}}, "'7', which is no area in 'a'"),
        ({"rule": dk.rules.PPercent(5)}, "cannot judge differences"),
        ({"count": "x"}, "no column 'x'"),
    ],
)
def test_what_cannot_be_asked_is_refused(change, said):
    frame = pa.table({"a": ["1", "2"], "b": ["1", "2"], "n": [5, 6]})
    asked = {"by": ["a", "b"], "rule": FEW(3)} | change
    with pytest.raises(InputError, match=said):
        differences(frame, **asked)

"""What new areas tell beside earlier releases: found, repaired, and compared with brute force."""

from itertools import combinations, product

import numpy as np
import pyarrow as pa
import pytest
from geographies_oracle import Case, many, tells
from profiles import scaled

import diskret as dk
from diskret.errors import InputError, ProtectionError
from diskret.hierarchy import Hierarchy
from diskret.spatial import differences, repair
from diskret.tables import NO_LEVELS, Dimension, Earlier, Published

LEAST = 3
FEW = dk.rules.MinimumFrequency(LEAST)
COARSE = Hierarchy(
    ("Total", "m", "2", "3"), np.array([-1, 0, 0, 0], np.int32), members={"m": ("0", "1")}
)
TREES = [
    Hierarchy.flat([*"0123"]),
    Hierarchy.from_levels({"a": ["x", "x", "y", "3"], "b": ["0", "1", "2", "3"]}),
    Hierarchy.from_levels({"a": ["x"] * 3 + ["y"], "b": ["z", "z", "w", "y"], "c": [*"0123"]}),
    COARSE,
]


class Release:
    """A table by the first geography of a case, some of it suppressed."""

    def __init__(self, name, case, draw, value=None):
        self.tree = TREES[int(draw.integers(len(TREES)))]
        below = [set(self.tree.leaves_below(at)) for at in range(len(self.tree))]
        self.inside = [np.array([c in own for c in case.codes[0]]) for own in below]
        size = np.ones(len(case.unit), int) if value is None else case.value
        total = np.array([size[inside].sum() for inside in self.inside], np.int64)
        hidden = draw.random(len(total)) < 0.4
        self.known = [at for at in range(1, len(total)) if not hidden[at]]  # but the total
        published = Published(
            "t", (Dimension("g0", self.tree),), value or "count", value is None, 0,
            np.where(hidden, 0, total), hidden, (total == 0) & ~hidden,
        )  # fmt: skip
        self.earlier = Earlier(name, published, None, NO_LEVELS)


class Beside:
    """A case beside one or two earlier releases, and all that totals tell."""

    def __init__(self, seed, make, value=None):
        self.case = case = make(seed)
        draw = np.random.default_rng([seed, 7])
        self.tables = [Release(f"r{at}", case, draw, value) for at in range(1 + (seed % 3 == 0))]
        self.by = ["g1"] if seed % 2 else ["g0", "g1"]
        self.ledger = [table.earlier for table in self.tables]
        rows = zip(*case.codes, strict=True)
        case.piece = np.unique(["|".join(row) for row in rows], return_inverse=True)[1]

        # what each geography is called: its published totals, by code, in records
        several = {"0", "1"} <= {*case.codes[0]}
        self.totals, self.new = {"g1": self.column(1)}, ["g1"]
        for tree in dict.fromkeys(table.tree for table in self.tables):
            own = [table for table in self.tables if table.tree == tree]
            name = "g0"
            if name in self.totals or (tree == COARSE and several and name in self.by):
                name = f"g0 ({own[0].earlier.release})"
            self.totals[name] = {
                tree.codes[at]: table.inside[at] for table in own for at in table.known
            }
        if "g0" in self.by and "g0" not in self.totals:
            self.totals["g0"] = self.column(0)
            self.new.append("g0")

    def column(self, at):
        codes = self.case.codes[at]
        return {code: np.array([c == code for c in codes]) for code in sorted({*codes})}

    def sums(self, hidden=()):
        """How often each record counts in every sum that totals tell; −1, 0 or 1."""
        rows = [np.ones(len(self.case.unit), bool)]
        for name, totals in self.totals.items():
            rows += [inside for code, inside in totals.items() if (name, code) not in hidden]
        _, first = np.unique(self.case.piece, return_index=True)
        times = np.array(list(product([-1, 0, 1], repeat=len(first))), np.int8)
        _, singular, vectors = np.linalg.svd(np.array(rows, float)[:, first])
        untold = vectors[int((singular > 1e-9).sum()) :]
        return times[(np.abs(times @ untold.T) < 1e-9).all(axis=1)][:, self.case.piece]

    def times(self, one):
        """How often each record counts, from what a difference says is added and taken away."""
        total = np.zeros(len(self.case.unit))
        for name, code, factor in one.terms:
            nobody = np.zeros(len(total), bool)
            rest = ~np.any([nobody, *self.totals[name].values()], axis=0)
            total += factor * (self.totals[name][code] if code else rest)
        return total


def check_counts(seed, ledger=None):
    made = Beside(seed, lambda seed: Case(seed, 2))
    case, sums = made.case, made.sums()
    ledger = made.ledger if ledger is None else ledger(made)
    few = dk.rules.MinimumFrequency(case.threshold)
    told = differences(case.frame, made.by, few, unit="unit", ledger=ledger)
    assert told.complete and told.joint in (None, True)
    assert set(told.geographies) == {*made.totals} and len(told.earlier) == len(made.tables)
    found = set()
    for one in told:
        times = made.times(one)
        inside = times != 0
        assert set(np.abs(times[inside])) == {1} and len(set(times[inside])) == 1
        assert one.number == len(set(case.unit[inside])) < case.threshold
        found |= set(case.piece[inside])
    assert found == case.pieces_of_few(False, sums)


def check_sums(seed):
    made = Beside(seed, lambda seed: Case(seed, 2), "value")
    case, rule = made.case, dk.rules.PPercent(10)
    told = differences(case.frame, made.by, rule, unit="unit", value="value", ledger=made.ledger)
    assert told.complete and told.joint in (None, True)
    want, found = set(), set()
    for times in made.sums():
        amounts = case.amounts(times != 0)
        largest = max(amounts.values(), default=0)
        want |= {unit for unit, own in amounts.items() if own == largest > 0
                 and tells(unit, amounts, rule)}  # fmt: skip
    for one in told:
        amounts = case.amounts(made.times(one) != 0)
        here = {unit for unit in amounts if tells(unit, amounts, rule)}
        assert here
        found |= here
    assert found >= want


def check_repair(seed, value=None):
    made = Beside(seed, many, value)
    case = made.case
    few = dk.rules.MinimumFrequency(LEAST)

    def alone(hidden):
        signed = value is not None
        sums = [t for t in made.sums(hidden) if signed or t.min() >= 0]
        return [t for t in sums if 0 < np.abs(t).sum() < LEAST]

    areas = [(name, code) for name in made.new for code in made.totals[name]]
    fewest = next(
        (
            number
            for number in range(len(areas) + 1)
            for out in combinations(areas, number)
            if not alone(out)
        ),
        None,
    )
    try:
        found = repair(case.frame, made.by, few, value=value, ledger=made.ledger)
    except ProtectionError:
        assert fewest is None
        return False
    hidden = [(name, code) for name, codes in found.hidden.items() for code in codes]
    assert found.fewest and found.number == fewest and not alone(hidden)
    assert found.left.complete and not len(found.left)
    return bool(hidden)


def test_counts_of_few_beside_earlier_releases_are_those_that_trying_all_sums_finds():
    for seed in range(scaled(250)):
        check_counts(seed)


@pytest.mark.long
def test_firms_too_close_beside_earlier_releases_are_those_that_trying_all_sums_finds():
    for seed in range(scaled(150)):
        check_sums(seed)


def test_beside_earlier_releases_as_few_areas_are_hidden_as_brute_force_finds():
    assert sum(check_repair(seed) for seed in range(scaled(250)))
    assert sum(check_repair(seed, "value") for seed in range(scaled(250)))


@pytest.mark.slow
def test_five_thousand_maps_beside_earlier_releases():
    for seed in range(5_000):
        check_counts(seed)
        check_sums(seed)
        check_repair(seed)
        check_repair(seed, "value")


FRAME = pa.table(
    {
        "district": ["A"] * 100 + ["B"] * 60,
        "cell": ["1"] * 50 + ["2"] * 47 + ["3"] * 63,
        "sex": ["f", "m"] * 80,
        "turnover": [2.5] * 160,
    }
)
FEW_OF_FOUR = dk.rules.MinimumFrequency(4)


@pytest.fixture
def ledger(tmp_path):
    return dk.Ledger.create(tmp_path / "releases.db", keys=dk.SecretKeys(bytes(range(32))))


def publish(ledger, folder, by=("district",), rule=FEW_OF_FOUR, **asked):
    table = dk.tabulate(FRAME, by=dict.fromkeys(by), **asked)
    ledger.publish(dk.suppress(table, rule), folder, formats=["csv"], who="clerk")


def test_districts_of_an_earlier_release_and_new_cells(ledger, tmp_path):
    publish(ledger, tmp_path / "2024")
    [one] = found = differences(FRAME, ["cell"], FEW_OF_FOUR, ledger=ledger)
    assert str(one) == "cell 3 without district B: 3 records"
    assert found.claim()[-1] == "Counted as published, as in earlier releases: 2024/count."
    assert found.claim("de")[-1].startswith("Gelten als veröffentlicht")
    made = repair(FRAME, ["cell"], FEW_OF_FOUR, ledger=ledger)
    assert made.hidden == {"cell": ("1", "3")} and made.left.earlier == ("2024/count",)
    # the same from the public files alone, and with the column named
    seen = [dk.Published.read(tmp_path / "2024" / "public")]
    assert repair(FRAME, ["cell", "district"], FEW_OF_FOUR, ledger=seen).hidden == made.hidden


def test_what_an_earlier_release_hides_is_hidden(ledger, tmp_path):
    frame = pa.table({"district": ["A", "A", "B", "B", *"CCCCC"], "cell": ["1"] * 4 + ["2"] * 5})
    table = dk.tabulate(frame, by={"district": None})
    result = dk.suppress(table, FEW)
    ledger.publish(result, tmp_path / "2024", formats=["csv"], who="clerk")
    assert not differences(frame, ["cell"], FEW, ledger=ledger).found
    told = differences(frame, ["district", "cell"], FEW)
    assert {str(one) for one in told} == {"district A: 2 records", "district B: 2 records"}


def test_what_is_not_taken_is_named(ledger, tmp_path):
    publish(ledger, tmp_path / "both", by=("district", "sex"))
    publish(ledger, tmp_path / "sex", by=("sex",), where={"district": "A"})
    publish(ledger, tmp_path / "old", vintage="1990")
    publish(ledger, tmp_path / "sales", value="turnover", decimals=1, rule=dk.rules.PPercent(1))
    found = differences(FRAME.drop(["sex"]), ["cell"], FEW_OF_FOUR, ledger=ledger)
    assert found.earlier == ("both/count",)
    assert [(one.table, one.why) for one in found.not_taken] == [
        ("both/count", "variables"), ("sex/count", "population"),
    ]  # fmt: skip
    assert "several variables only totals by one were looked at: both/count" in found.summary()
    given = [dk.Published.read(tmp_path / name / "public") for name in ("old", "sales", "both")]
    rounded = dk.round_table(dk.tabulate(FRAME, by={"cell": None}), base=3).published
    found = differences(FRAME, ["cell", "sex"], FEW_OF_FOUR, ledger=[*given, rounded])
    assert [one.why for one in found.not_taken] == ["period", "measure", "variables", "values"]
    for language in ("en", "de"):
        assert len(found.claim(language)) == 9
    without = FRAME.drop(["district", "sex"]).append_column("half", FRAME["cell"])
    found = differences(without, ["cell", "half"], FEW_OF_FOUR, ledger=[given[2]])
    assert [one.why for one in found.not_taken] == ["column"]


def test_a_hidden_cell_whose_interval_is_one_value_is_published():
    value, hidden = np.array([9, 0, 0, 5]), np.array([False, True, True, False])
    frame = pa.table({"g": ["a", "a", "b", "b", *"ccccc"], "h": ["1"] * 4 + ["2"] * 5})
    tree = Dimension("g", Hierarchy.flat(["a", "b", "c"]))
    for width in (0, 1):
        low, high = np.where(hidden, 2 - width, 0), np.where(hidden, 2 + width, 0)
        seen = Published(
            "t", (tree,), "count", True, 0, value, hidden, value < 0, lower=low, upper=high
        )
        told = differences(frame, ["h"], FEW, ledger=[seen])
        assert [one.number for one in told] == [2, 2] * (width == 0)


def test_sums_are_compared_in_their_own_decimals(ledger, tmp_path):
    publish(ledger, tmp_path / "sales", value="turnover", decimals=1, rule=dk.rules.PPercent(1))
    asked = {"rule": dk.rules.PPercent(1), "value": "turnover", "ledger": ledger}
    assert differences(FRAME, ["cell"], decimals=1, **asked).earlier == ("sales/turnover",)
    assert differences(FRAME, ["cell"], decimals=3, **asked).earlier == ("sales/turnover",)


def test_other_records_than_those_of_the_release_are_refused(ledger, tmp_path):
    publish(ledger, tmp_path / "2024")
    with pytest.raises(InputError, match=r"'2024/count'.*'district=Total' \(and 1 more\)"):
        differences(FRAME.slice(3), ["cell"], FEW_OF_FOUR, ledger=ledger)
    # of another period nothing is known, and one geography alone is none
    with pytest.raises(InputError, match="no earlier table"):
        differences(FRAME.slice(3), ["cell"], FEW_OF_FOUR, ledger=ledger, vintage="2025")


@pytest.mark.parametrize("asked", [{"new": ["district"]}, {"hidden": {"district": ["A"]}}])
def test_what_was_published_is_not_hidden_any_more(ledger, tmp_path, asked):
    publish(ledger, tmp_path / "2024")
    with pytest.raises(InputError, match="'district', which was published in '2024'"):
        repair(FRAME, ["district", "cell"], FEW_OF_FOUR, ledger=ledger, **asked)


def test_a_ledger_whose_hidden_codes_count_as_published_is_found_out(monkeypatch):
    from diskret.spatial import before

    areas = before._areas

    def blind(name, tree, known, leaf):
        return areas(name, tree, np.ones_like(known), leaf)

    monkeypatch.setattr(before, "_areas", blind)
    with pytest.raises((AssertionError, KeyError)):
        for seed in range(20):
            check_counts(seed)

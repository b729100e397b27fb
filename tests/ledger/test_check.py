"""May these tables be published as they are? And if not, what breaks which release?"""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from earlier_releases import as_published

import diskret as dk
from diskret.attack import Attacker, Requirements, examine
from diskret.errors import InputError
from diskret.ledger.check import check
from diskret.protect.plan import publish
from diskret.tables import Earlier, MeasureSum, Publication, meanings

RULE = dk.rules.MinimumFrequency(3)


def by_age(*values, **options):
    cells = pa.table({"age": list("abcd"[: len(values)]), "n": list(values)})
    return dk.Table.from_cells(cells, by={"age": None}, count="n", **options)


@pytest.fixture
def fine():
    return by_age(2, 4, 8, 30)


@pytest.fixture
def before(fine):
    """Hides the 2, and the 4 beside it."""
    return [as_published("2024", dk.suppress(fine, RULE, name="ages"))]


def test_what_says_nothing_new_may_be_published(fine, before):
    report = check(fine.recode("age", {"ab": ["a", "b"]}), before)
    assert report.ok and report.broken == () and report.beside == (("2024", "ages"),)


def test_broken_cells_and_who_is_to_blame(fine, before):
    table = fine.recode("age", {"ac": ["a", "c"]})
    report = check(table, before)
    assert not report.ok
    [cell] = report.broken
    assert (cell.release, cell.table, cell.codes, cell.primary) == ("2024", "ages", "age=a", True)
    assert (cell.lower, cell.upper) == (2, 2)
    [(name, blamed)] = cell.blamed
    assert name == "count" and blamed in ("age=ac", "age=b") and cell.irreducible
    [cell] = check(table, before, limit=0).broken
    assert cell.blamed == () and not cell.irreducible


def test_a_cell_that_is_published_itself_is_to_blame_alone(fine, before):
    [cell] = check(fine, before, limit=0).broken
    assert cell.blamed == (("count", "age=a"),) and cell.irreducible


def test_three_cells_are_to_blame_where_no_two_are():
    """Of a + b + c + d = 14 only the sum is known: a + b, a + c and a + d give a away."""
    cells = pa.table({"age": list("abcde"), "n": [2, 4, 1, 7, 30]})
    fine = dk.Table.from_cells(cells, by={"age": None}, count="n")
    hidden = (fine.count > 0) & (fine.count < 10)
    levels = Requirements(*(np.array([v]) for v in (1, 1, 1, 0)))
    before = [Earlier("2024", publish(fine, hidden, "ages"), fine.count, levels)]
    halves = [("ab", "cd"), ("ac", "bd"), ("ad", "bc")]
    tables = [fine.recode("age", {new: list(new) for new in both}) for both in halves]
    published = [publish(t, t.count < 0, f"t{i}") for i, t in enumerate(tables)]
    assert check(published[:2], before).ok
    [cell] = [cell for cell in check(published, before).broken if cell.primary]
    assert (cell.codes, cell.lower, cell.upper) == ("age=a", 2, 2)
    assert {name for name, _ in cell.blamed} == {"t0", "t1", "t2"} and cell.irreducible


def test_results_are_asked_for_what_their_own_rules_require(fine, before):
    stricter = dk.rules.MinimumFrequency(9)
    result = dk.suppress(fine.recode("age", {"ab": ["a", "b"]}), stricter, name="new")
    assert result.public["count"].to_pylist() == [44, None, None, 30]
    report = check(result, before)
    assert {(cell.release, cell.codes) for cell in report.broken} == {("", "age=ab"), ("", "age=c")}
    assert not report.ok
    assert all(cell.blamed == () for cell in report.broken)  # the earlier release alone shows them
    published = Publication((result.published,))
    assert check(published, before).broken[0].primary is False


def test_what_was_broken_before_is_not_the_new_tables_fault(fine):
    shown = publish(fine, fine.count == 2, "ages")
    one = np.array([1])
    bad = Earlier("2023", shown, fine.count, Requirements(one, one, one, 0 * one))
    report = check(fine.recode("age", {"ab": ["a", "b"]}), [bad])
    assert [cell.already for cell in report.broken] == [True]
    assert report.ok


def test_rounded_tables_say_less():
    sales = pa.table({"age": list("abc"), "sales": [200, 400, 8_000]})
    table = dk.Table.from_cells(sales, by={"age": None}, value="sales")
    waived = dk.rules.Apriori(
        pa.table({"age": ["a"], "status": ["unsafe"], "lower": [50], "upper": [50],
                  "reason": ["x"], "who": ["y"], "date": ["2025-01-01"]})
    )  # fmt: skip
    first = dk.suppress(table, waived, name="sales")
    assert first.public["sales"].to_pylist() == [8_600, None, None, 8_000]
    before = [as_published("2024", first)]
    assert check(table.rounded(1_000), before).ok
    assert not check(table.rounded(50), before).ok
    [cell] = check(table.rounded(50), before).broken
    assert (cell.lower, cell.upper) == (175, 225)


def test_sums_of_measures_are_known():
    sales = {"domestic": [2, 40, 50], "export": [9, 50, 60], "revenue": [11, 90, 110]}
    tables = {
        name: dk.Table.from_cells(
            pa.table({"age": list("abc"), name: values}), by={"age": None}, value=name
        )
        for name, values in sales.items()
    }
    unsafe = pa.table({"age": ["a"], "status": ["unsafe"], "lower": [1], "upper": [1],
                       "reason": ["x"], "who": ["y"], "date": ["2025-01-01"]})  # fmt: skip
    rule = dk.rules.Apriori(unsafe)
    before = [as_published("2024", dk.suppress(tables["domestic"], rule, name="domestic"))]
    new = [tables["revenue"], tables["export"]]
    assert check(new, before).ok
    total = MeasureSum.read("revenue = domestic + export")
    report = check(new, before, sums=[total])
    [cell] = [cell for cell in report.broken if cell.primary]
    assert {name for name, _ in cell.blamed} == {"revenue", "export"}
    assert not check(new, [replace(before[0], sums=(total,))]).ok


def test_a_contradiction_names_the_release(before):
    with pytest.raises(InputError, match="table 'ages' of release '2024' contradicts"):
        check(by_age(2, 5, 8, 30), before)
    assert check(by_age(2, 5, 8, 30, vintage="revised"), before).ok


def test_an_attacker_who_knows_more_breaks_more(fine, before):
    assert check(fine.recode("age", {"ab": ["a", "b"]}), before, attacker=Attacker()).ok
    levels = replace(before[0].requirements, upper=np.array([4]))
    earlier = [replace(before[0], requirements=levels)]
    table = fine.recode("age", {"ab": ["a", "b"]})
    assert check(table, earlier).ok
    assert check(table, earlier, attacker=Attacker(zeros_known=True)).broken[0].already is not None


def test_a_ledger_checks_against_all_its_releases(fine, tmp_path):
    ledger = dk.Ledger.create(tmp_path / "releases.db", keys=dk.SecretKeys(bytes(range(32))))
    ledger.publish(dk.suppress(fine, RULE, name="ages"), tmp_path / "2024", formats=["csv"])
    table = fine.recode("age", {"ac": ["a", "c"]})
    assert not ledger.check(table).ok
    assert ledger.check(dk.suppress(table, RULE, ledger=ledger)).ok


@pytest.mark.long
def test_tables_that_are_left_out_say_nothing(monkeypatch):
    """With and without them the attack finds the same intervals, but for tables in a circle."""
    monkeypatch.setattr(meanings, "_FEW", 0)
    monkeypatch.setattr("diskret.hierarchy.table_circles.COMBINATIONS", 0)
    left_out = 0
    for seed in range(15):
        shown = random_tables(np.random.default_rng(seed))
        kept = meanings.tied_by_unknowns(shown, 1)
        assert kept[0] == 0
        left_out += len(shown) - len(kept)
        every = examine(Publication(tuple(shown)))
        some = examine(Publication(tuple(shown[i] for i in kept)))
        for table, found in enumerate(some.of_tables(Publication(tuple(shown[i] for i in kept)))):
            same = every.of_tables(Publication(tuple(shown)))[kept[table]]
            assert np.array_equal(same.cell, found.cell)
            assert np.allclose(same.lower, found.lower) and np.allclose(same.upper, found.upper)
    assert left_out > 15


def random_tables(rng):
    """Tables by two of five variables, some with combined categories; few margins are hidden."""
    names = ["u", "v", "w", "x", "y"]
    records = {name: rng.choice(list("abcd"), 60, p=[0.5, 0.3, 0.17, 0.03]) for name in names}
    frame = pa.table({name: pa.array(codes) for name, codes in records.items()})
    trees = {name: dk.Hierarchy.flat(list("abcd")) for name in names}
    shown = []
    for number in range(8):
        pair = rng.choice(names, 2, replace=False)
        table = dk.tabulate(frame, by={name: trees[name] for name in pair})
        if rng.random() < 0.15:
            table = table.recode(str(pair[0]), {"ab": ["a", "b"]})
        hidden = (rng.random(table.shape) < 0.3) & (table.count > 0)
        hidden[0, :] &= rng.random() < 0.2
        hidden[:, 0] &= rng.random() < 0.2
        shown.append(publish(table, hidden, f"t{number}"))
    return shown


def test_tables_without_a_hidden_cell_in_common_are_left_out(monkeypatch, fine):
    monkeypatch.setattr(meanings, "_FEW", 0)
    frame = pa.table({"age": list("abcd") * 9, "sex": list("fm") * 18, "size": list("xyz") * 12})
    by_sex = dk.tabulate(frame, by={"age": None, "sex": None})
    by_size = dk.tabulate(frame, by={"age": None, "size": None})
    inner = np.zeros(by_sex.shape, dtype=bool)
    inner[1:3, 1:3] = True
    tables = [publish(by_size, by_size.count < 0, "new"), publish(by_sex, inner, "inner")]
    assert meanings.tied_by_unknowns(tables, 1) == [0]
    inner[1:3, 0] = True
    assert meanings.tied_by_unknowns([tables[0], publish(by_sex, inner, "margin")], 1) == [
        0,
        1,
    ]
    cut = by_sex.recode("age", {"ab": ["a", "b"]})
    assert meanings.tied_by_unknowns([tables[0], publish(cut, cut.count < 0, "cut")], 1) == [0, 1]

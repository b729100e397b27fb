"""Categories under two names: what one table hides the other must not show."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError
from diskret.tables.one_measure import Valued
from diskret.tables.renamed import refuse_renamed_categories

KEYS = dk.SecretKeys(bytes(range(32)))
RULE = dk.rules.MinimumFrequency(3)
FIRMS = {"N": 400, "S": 2, "W": 12, "E": 13, "O": 30}
WORDS = {"N": "North", "S": "South", "W": "West", "E": "East", "O": "Others"}
REFUSED = "the 5 finest categories of '{}' have the values of those of 'region' in another table"
UNCHECKED = "diskret.protect.linked.refuse_renamed_categories"


def table(column, names, firms=FIRMS):
    cells = pa.table({column: [names.get(r, r) for r in firms], "firms": list(firms.values())})
    return dk.Table.from_cells(cells, by={column: None}, count="firms")


def others_cost_less(_table):
    """Of total, E, N, O, S and W; else W is hidden beside S."""
    return np.array([99, 9, 50, 1, 9, 9])


def told(*results):
    """What is left of the total for S, for somebody who reads all tables and knows regions."""
    shown = {}
    back = {word: region for region, word in WORDS.items()}
    for result in results:
        seen = result.published
        codes = seen.dimensions[0].hierarchy.codes
        for code, value, hidden in zip(codes, seen.value, seen.suppressed, strict=True):
            if not hidden:
                shown[back.get(code, code)] = int(value)
    total = shown.pop("Total", 0)
    return total - sum(shown.values()) if shown.keys() == FIRMS.keys() - {"S"} else None


@pytest.mark.parametrize(("column", "names"), [("region", WORDS), ("land", {}), ("land", WORDS)])
def test_what_one_hides_the_other_would_show(tmp_path, monkeypatch, column, names):
    tables = table("region", {}), table(column, names)
    first = dk.suppress(tables[0], RULE, name="a")
    second = dk.suppress(tables[1], RULE, name="b", cost=others_cost_less)
    assert told(first) is told(second) is None and told(first, second) == FIRMS["S"]
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    ledger.publish(first, tmp_path / "a", ["csv"])
    with pytest.raises(InputError, match=REFUSED.format(column)):
        ledger.publish(second, tmp_path / "b", ["csv"])
    with pytest.raises(InputError, match="are the same under other names"):
        dk.suppress(tables, RULE, name=["a", "b"], cost=["value", others_cost_less])
    with pytest.warns(UserWarning, match="are the same under other names"):
        ledger.record(second.published, "elsewhere")
    monkeypatch.setattr(UNCHECKED, lambda *_: None)
    ledger.publish(second, tmp_path / "b", ["csv"])


def test_the_same_categories_may_be_hidden_under_two_names(tmp_path):
    results = dk.suppress([table("region", {}), table("region", WORDS)], RULE, name=["a", "b"])
    dk.write(results, tmp_path / "both", ["csv"], keys=KEYS)


def test_other_values_and_few_of_them_are_no_other_name():
    costs = ["value", others_cost_less]
    for firms in (FIRMS | {"N": 401, "O": 29}, {"a": 1, "b": 5, "c": 6, "d": 7, "e": 6}):
        alike = firms if "a" in firms else FIRMS
        both = [table("region", {}, alike), table("age", {}, firms)]
        one, other = dk.suppress(both, RULE, name=["a", "b"], cost=costs)
        assert one.published.suppressed.tolist() != other.published.suppressed.tolist()


def test_a_few_values_stand_among_many_others_by_chance():
    many = {f"r{i}": 3 * i % 41 for i in range(1, 21)}
    few = {f"f{i}": 0 for i in range(1, 21)} | {"f1": 6, "f2": 12, "f3": 30, "f4": 39}
    assert {*few.values()} - {0} <= {*many.values()}
    sparse, full = (
        Valued(made, made.measure.sum, made.measure.sum >= 0, hidden=made.measure.sum == 6)
        for made in (table("branch", {}, few), table("region", {}, many))
    )
    refuse_renamed_categories([sparse, full])
    other = table("land", {}, {f"l{code}": firms for code, firms in many.items()})
    with pytest.raises(InputError, match="the 20 finest categories"):
        refuse_renamed_categories([full], [full._replace(table=other, hidden=None)])


def test_of_two_categories_of_one_size_nobody_knows_which_is_hidden():
    firms = FIRMS | {"E": FIRMS["W"]}
    one, other = table("region", {}, firms), table("region", WORDS, firms)
    sides = [
        Valued(made, made.measure.sum, made.measure.sum >= 0, hidden=np.isin(codes, hidden))
        for made, hidden in ((one, ["S", "W"]), (other, ["South", "East"]), (other, ["South"]))
        for codes in [made.dimensions[0].hierarchy.codes]
    ]
    with pytest.raises(InputError, match="the 5 finest categories"):
        refuse_renamed_categories(sides[:2])
    alone = sides[0]._replace(hidden=np.isin(one.dimensions[0].hierarchy.codes, ["S"]))
    refuse_renamed_categories([alone, sides[2]])


def asked(further=()):
    """Tables of the same records, by region and by land."""
    rows = [region for region, number in FIRMS.items() for _ in range(number)]
    sizes = ["small" if i % 9 else "large" for i in range(len(rows))]
    land = [WORDS[region] for region in rows]
    records = pa.table({"region": rows, "land": land, "size": sizes})
    names = ("region", "land")
    return [dk.tabulate(records, by=dict.fromkeys((name, *further))) for name in names]


def hidden(result):
    """The cells that are, by regions."""
    back = {word: region for region, word in WORDS.items()}
    codes = [[back.get(c, c) for c in d.hierarchy.codes] for d in result.published.dimensions]
    return {
        tuple(of[at] for of, at in zip(codes, cell, strict=True))
        for cell in np.argwhere(result.published.suppressed).tolist()
    }


@pytest.mark.parametrize("further", [(), ("size",)])
def test_of_records_that_were_asked_nothing_is_guessed(tmp_path, further):
    results = dk.suppress(asked(further), RULE, name=["a", "b"])
    assert hidden(results[0]) == hidden(results[1]) != set()
    dk.write(results, tmp_path / "both", ["csv"], keys=KEYS)


def test_what_is_out_already_is_not_hidden_under_another_name(tmp_path):
    ledger = dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    tables = asked()
    first = dk.suppress(tables[0], RULE, name="a")
    ledger.publish(first, tmp_path / "a", ["csv"])
    alone = dk.suppress(tables[1], RULE, name="b", cost=others_cost_less)
    beside = dk.suppress(tables[1], RULE, name="b", cost=others_cost_less, ledger=ledger)
    assert hidden(alone) != hidden(first) == hidden(beside)
    ledger.publish(beside, tmp_path / "b", ["csv"])


def test_two_roundings_of_one_value_do_not_leave_under_two_names(tmp_path):
    """Where the one shows 10 and the other 15, the count is between both."""
    results = [
        dk.round_table(table, 5, method="random", name=name, keys=KEYS)
        for table, name in zip(asked(), "ab", strict=True)
    ]
    assert (results[0].published.value != results[1].published.value).any()
    with pytest.raises(InputError, match="the 5 finest categories"):
        dk.write(results, tmp_path / "both", ["csv"], keys=KEYS)

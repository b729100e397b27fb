"""Filters by codes and by bounds of one column: the same answer wherever it is asked."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError
from diskret.protect.linked import check_alike
from diskret.publish.verify.folder import verify
from diskret.tables.published import Published

KEYS = dk.SecretKeys(bytes(range(32)))
RULE = dk.rules.MinimumFrequency(3)
REGIONS = ["N", "S", "W", "O"]


def firms(size=300):
    random = np.random.default_rng(5)
    return pa.table(
        {
            "region": random.choice(REGIONS, size, p=(0.5, 0.3, 0.18, 0.02)),
            "staff": random.choice(["1", "2", "5", "12", "30"], size, p=(0.4, 0.3, 0.1, 0.1, 0.1)),
            "key": random.integers(0, 2**32, size),
        }
    )


def tabulated(where, **options):
    return dk.tabulate(firms(), by={"region": None}, where=where, **options)


def test_a_code_hidden_beside_noise_of_the_same_number_is_refused(tmp_path):
    hidden = dk.suppress(tabulated({"staff": ["5"]}), RULE, name="hidden")
    assert hidden.published.suppressed.any()
    noisy = dk.perturb(
        tabulated({"staff": {"min": 5, "max": 5}}, record_key="key"),
        dk.PerturbationTable.maximum_entropy(max_noise=3, variance=2),
        name="noisy",
    )
    with pytest.raises(InputError, match="the one hides cells and the other shows them"):
        check_alike([hidden, noisy])
    ledger = dk.Ledger.create(tmp_path / "releases.db", keys=KEYS)
    ledger.publish(hidden, folder=tmp_path / "hidden", formats=["csv"])
    assert len(ledger.earlier([noisy.table])) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [({"max": 9}, {"min": 10}), (["1", "2"], {"min": 3, "max": 9}), (["12"], {"max": 9})],
)
def test_size_classes_that_are_proven_are_published(one, other, tmp_path):
    ledger = dk.Ledger.create(tmp_path / "releases.db", keys=KEYS)
    tables = [tabulated({"staff": asked}) for asked in (one, other)]
    results = dk.suppress(tables, RULE, name=["one", "other"], ledger=ledger)
    ledger.publish(results, folder=tmp_path / "classes", formats=["csv"])
    assert verify(tmp_path / "classes", keys=KEYS)
    assert [len(ledger.earlier([table])) for table in tables] == [1, 1]
    ledger.publish(
        dk.suppress(tabulated(None), RULE, name="all", ledger=ledger),
        folder=tmp_path / "all",
        formats=["csv"],
    )
    assert [len(ledger.earlier([table])) for table in tables] == [3, 3]
    again = dk.Ledger(tmp_path / "releases.db", keys=KEYS)
    wheres = [note.where for release in again.releases() for note in release.entry.tables]
    assert wheres[:2] == [table.where for table in tables]
    assert Published.read(tmp_path / "classes", "one").where == tables[0].where


def test_a_filter_by_bounds_is_part_of_a_table_by_the_numbers():
    """N has one firm with 30: hidden by size, and all with 12 and more, and with 12, published."""
    count = {("N", "5"): 9, ("N", "12"): 7, ("N", "30"): 1, ("S", "5"): 8, ("S", "12"): 6}
    count |= {("S", "30"): 7}
    rows = [key for key, n in count.items() for _ in range(n)]
    frame = pa.table({"region": [r for r, _ in rows], "staff": [s for _, s in rows]})
    by_size = dk.tabulate(frame, by={"region": None, "staff": None})
    large = dk.tabulate(frame, by={"region": None}, where={"staff": {"min": 12}})
    results = dk.suppress([by_size, large], RULE, name=["sizes", "large"])
    hidden = [r.published.suppressed for r in results]
    n = by_size.dimensions[0].hierarchy.position["N"]
    at = by_size.dimensions[1].hierarchy.position
    assert hidden[0][n, at["30"]]
    assert hidden[0][n, at["12"]] or hidden[1][n]
    assert hidden[0][n, at["12"]] or hidden[0][n, at["5"]]


def test_tables_of_one_measure_agree_whether_it_may_be_negative():
    """The only firm with 1 has turnover 0, and losses elsewhere say that it may be less."""
    turnover = {"1": [0], "3": [-31], "5": [9, 8, 7], "8": [4, 6, 5]}
    firms = [(staff, value) for staff, own in turnover.items() for value in own]
    frame = pa.table({"staff": [s for s, _ in firms], "turnover": [v for _, v in firms]})
    frame = frame.append_column("region", pa.array(["N"] * len(firms)))
    of_all = dk.tabulate(frame, by={"staff": None}, value="turnover")
    of_one = dk.tabulate(frame, by={"region": None}, value="turnover", where={"staff": "1"})
    assert of_one.nonnegative
    assert not of_all.nonnegative
    results = dk.suppress([of_all, of_one], RULE, name=["all", "one"])
    assert [result.published.nonnegative for result in results] == [False, False]
    for result, code in zip(results, ("1", "Total"), strict=True):
        told = dk.attack.intervals(result.published).to_pylist()
        (cell,) = [row for row in told if code in row.values()]
        assert cell["lower"] is None and cell["upper"] is None

"""Tables in which contributions may be negative."""

import json

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError

BRANCHES = dk.Hierarchy.from_parents(
    {"code": ["T", "A", "B", "C", "a1", "a2"], "parent": ["", "T", "T", "T", "A", "A"]}
)


def profits():
    """Profits of firms: those of a1 and a2 cancel out, and nobody is in C."""
    rows = [("a1", 30), ("a1", 20), ("a2", -50), ("B", -8), ("B", 5), ("B", 3), ("B", 0)]
    return pa.table({"branch": [b for b, _ in rows], "profit": [v for _, v in rows]})


def at(array):
    return dict(zip(BRANCHES.codes, np.asarray(array).tolist(), strict=True))


def test_contributions_are_ranked_by_size_and_x_is_the_sum_of_sizes():
    table = dk.tabulate(profits(), by={"branch": BRANCHES}, value="profit")
    assert not table.nonnegative
    assert at(table.measure.sum) == {"T": 0, "A": 0, "a1": 50, "a2": -50, "B": 0, "C": 0}
    assert at(table.measure.magnitude)["A"] == 100
    assert at(table.measure.largest)["B"] == [8, 5, 3]
    found = dk.rules.PPercent(10)(table)
    # B: 8 of 16, the others hold 8; the largest can be estimated to 16 - 8 - 5 = 3 > 0.8
    assert at(found.unsafe) == {
        **dict.fromkeys(BRANCHES.codes, False), "a1": True, "a2": True
    }  # fmt: skip
    assert at(found.lower) == at(found.upper) == {
        **dict.fromkeys(BRANCHES.codes, 0), "a1": 3, "a2": 5
    }  # fmt: skip


def test_a_percentage_of_a_sum_that_cancels_out_is_one_of_what_was_added():
    """Of +30 and −29, 10 % of the sum is 0.1, and the first knows the second to that."""
    rows = pa.table({"branch": ["B", "B", "C", "C", "C"], "profit": [30, -29, 1, 2, 3]})
    table = dk.tabulate(rows, by={"branch": BRANCHES}, value="profit")
    found = dk.rules.MinimumFrequency(3)(table)
    assert (at(found.lower)["B"], at(found.upper)["B"]) == (6, 6)


def test_a_sum_of_0_is_no_empty_cell():
    table = dk.tabulate(profits(), by={"branch": BRANCHES}, value="profit")
    assert at(table.empty) == {**dict.fromkeys(BRANCHES.codes, False), "C": True}
    result = dk.suppress(table, dk.rules.PPercent(10))
    status = dict(
        zip(BRANCHES.codes, result.public.to_pydict()["status"], strict=True)
    )  # what adds up to 0 is a number like others
    assert status["C"] == "empty"
    assert status["a1"] == status["a2"] == "suppressed"
    assert status["T"] == "published"


def test_a_sum_of_0_can_hide_others():
    rows = [("a1", 9), ("B", 5), ("B", -5), ("C", 100), ("C", 100), ("C", 100)]
    frame = pa.table({"branch": [b for b, _ in rows], "profit": [v for _, v in rows]})
    table = dk.tabulate(frame, by={"branch": dk.Hierarchy.flat(["a1", "B", "C"])}, value="profit")
    public = dk.suppress(table, dk.rules.MinimumFrequency(2)).public.to_pydict()
    shown = dict(zip(public["branch"], public["profit"], strict=True))
    assert shown == {"Total": 309, "a1": None, "B": None, "C": 300}


def test_a_file_without_counts_tells_cells_that_cancel_out_from_empty_ones():
    cells = pa.table({"branch": ["a1", "a2", "B", "C", "T"], "profit": [5, -5, 0, 0, 0]})
    table = dk.Table.from_cells(cells, by={"branch": BRANCHES}, value="profit")
    assert at(table.empty) == {
        "T": False, "A": False, "a1": False, "a2": False, "B": True, "C": True
    }  # fmt: skip
    counted = cells.append_column("firms", pa.array([1, 1, 2, 0, 4]))
    table = dk.Table.from_cells(counted, by={"branch": BRANCHES}, value="profit", count="firms")
    assert at(table.empty)["B"] is False


def test_a_file_may_say_that_contributions_can_be_negative():
    cells = pa.table({"branch": ["a1", "a2", "B"], "profit": [5, 4, 3]})
    asked = {"by": {"branch": BRANCHES}, "value": "profit"}
    silent, said = (dk.Table.from_cells(cells, **asked, signed=s) for s in (None, True))
    assert silent.nonnegative
    assert not said.nonnegative
    assert not said.recode("branch", {"A": ["a1", "a2"]}).nonnegative
    [low] = {row["lower"] for row in bounds(said)}
    assert low is None
    assert {row["lower"] for row in bounds(silent)} == {0}
    negative = pa.table({"branch": ["a1", "a2"], "profit": [5, -4]})
    assert not dk.Table.from_cells(negative, **asked).nonnegative
    with pytest.raises(InputError, match=r"signed=False, but 1 value .* negative, e.g. branch=a2"):
        dk.Table.from_cells(negative, **asked, signed=False)


def bounds(table):
    unsafe = np.array([code in ("a1", "a2") for code in BRANCHES.codes])
    zero = np.zeros(table.shape, dtype=np.int64)
    reason = np.where(unsafe, 0, -1).astype(np.int8)
    given = dk.Sensitivity(unsafe, zero, zero, zero, reason, ("given",))
    return dk.attack.intervals(dk.suppress(table, given).published).to_pylist()


def test_largest_contributions_of_a_file_count_by_size():
    cells = pa.table({"branch": ["B"], "profit": [2], "x1": [-10], "x2": [8]})
    asked = {"by": {"branch": BRANCHES}, "value": "profit", "largest": ["x1", "x2"]}
    table = dk.Table.from_cells(cells, **asked, signed=True)
    assert at(table.measure.largest)["B"] == [10, 8]
    assert at(table.measure.magnitude)["B"] == 18  # at least
    assert at(dk.rules.PPercent(10)(table).upper)["B"] == 1
    with pytest.raises(InputError, match="branch=T; branch=B|branch=B"):
        dk.Table.from_cells(cells, **asked)


def test_a_file_may_give_the_sum_of_sizes():
    cells = pa.table(
        {"branch": ["B", "C", "T"], "profit": [2, -3, -1], "x1": [10, 3, 10], "x2": [8, 0, 8],
         "size": [25, 3, 28]}
    )  # fmt: skip
    asked = {"by": {"branch": BRANCHES}, "value": "profit", "largest": ["x1", "x2"]}
    table = dk.Table.from_cells(cells, **asked, magnitude="size")
    assert at(table.measure.magnitude) == {"T": 28, "A": 0, "a1": 0, "a2": 0, "B": 25, "C": 3}
    # 25 − 10 − 8 = 7 is more than 10 % of 10
    assert at(dk.rules.PPercent(10)(table).unsafe)["B"] is False
    short = cells.set_column(4, "size", pa.array([17, 3, 28]))
    with pytest.raises(InputError, match=r"1 value of 'size'.*branch=B"):
        dk.Table.from_cells(short, **asked, magnitude="size")


def test_an_attacker_who_knows_negative_values_closely_is_withstood():
    rows = [("a1", -100), ("a2", -80), ("a2", -70), ("B", 60), ("B", -55), ("B", 90), ("C", 7),
            ("C", 9), ("C", -8)]  # fmt: skip
    frame = pa.table({"branch": [b for b, _ in rows], "profit": [v for _, v in rows]})
    table = dk.tabulate(frame, by={"branch": BRANCHES}, value="profit")
    rule = dk.rules.MinimumFrequency(2)
    result = dk.suppress(table, rule, attacker=dk.Attacker(relative=30))
    found = result.certificate.examination
    primary = np.searchsorted(found.cell, np.flatnonzero(rule(table).unsafe))
    assert (found.lower[primary] <= -110).all()
    assert (found.upper[primary] >= -90).all()


def test_public_files_say_that_values_may_be_negative_and_are_verified(tmp_path):
    table = dk.tabulate(profits(), by={"branch": BRANCHES}, value="profit")
    result = dk.suppress(table, dk.rules.PPercent(10))
    folder = result.write(tmp_path / "out", ["csv", "xlsx", "html"], keys=tmp_path / "keys")
    outline = json.loads((folder / "public" / "profit.structure.json").read_text("utf-8"))
    assert outline["nonnegative"] is False
    from diskret.publish.verify.folder import verify

    assert verify(folder, keys=tmp_path / "keys")
    hidden = dk.attack.intervals(dk.Published.read(folder / "public")).to_pylist()
    assert {(row["lower"], row["upper"]) for row in hidden} == {(None, None)}

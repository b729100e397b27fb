"""The difference between two deliveries says what their public files say, cell by cell."""

import csv
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.publish.formats.data_files import write_csv
from diskret.tables import Difference, Dimension, Published
from diskret.tables.difference import other_surroundings
from diskret.tables.side_by_side import columns_text


def firms(vintage, by="region", **parts):
    cells = pa.table({by: list(parts), "firms": list(parts.values())})
    table = dk.Table.from_cells(cells, by={by: None}, count="firms", vintage=vintage)
    return dk.suppress(table, dk.rules.MinimumFrequency(3), name="firms").published


def rows(difference):
    return [tuple(row.values()) for row in difference.text.to_pylist()]


def test_cells_are_matched_by_their_codes_and_listed_where_anything_differs():
    """Computed by hand: W is hidden with Q and with N; E is new, Q is gone, S stays at 7."""
    before = firms("2025", S=7, N=8, W=5, Q=1)
    now = firms("2026", N=2, S=7, W=5, E=9)
    difference = Difference("d", now, before)
    assert rows(difference) == [
        ("Total", "21", "published", "23", "published"),
        ("E", "", "absent", "9", "published"),
        ("N", "8", "published", "", "suppressed"),
        ("Q", "", "suppressed", "", "absent"),
    ]
    assert difference.counts == {
        "value": 1, "suppressed": 1, "published": 0, "added": 1, "removed": 1,
    }  # fmt: skip


def test_the_same_table_has_no_difference_whatever_the_order_of_codes():
    one = firms("2025", S=7, N=8, W=5, Q=1)
    other = firms("2026", Q=1, W=5, N=8, S=7)
    assert Difference("d", other, one).text.num_rows == 0


def square(vintage, names, values, decimals=0, hidden=()):
    """Two variables with the codes Total, x: cells from (Total, Total) on in the given order."""
    tree = Hierarchy.flat(["x"])
    shape = (2, 2)
    suppressed = np.zeros(4, dtype=bool)
    suppressed[list(hidden)] = True
    return Published(
        "t", tuple(Dimension(name, tree) for name in names), "sales", False, decimals,
        np.array(values).reshape(shape), suppressed.reshape(shape), np.zeros(shape, dtype=bool),
        vintage=vintage,
    )  # fmt: skip


def test_the_order_of_variables_does_not_matter():
    now = square("2", "ab", [10, 6, 9, 6])
    before = square("1", "ba", [10, 9, 6, 6])
    assert Difference("d", now, before).text.num_rows == 0
    before = square("1", "ba", [10, 9, 6, 5])
    assert rows(Difference("d", now, before)) == [("x", "x", "5", "published", "6", "published")]


def test_values_with_other_decimals_are_compared_as_numbers():
    now = square("2", "ab", [100, 60, 95, 60], decimals=1)
    before = square("1", "ab", [10, 6, 9, 6])
    assert rows(Difference("d", now, before)) == [
        ("x", "Total", "9", "published", "9.5", "published")
    ]
    large = 2**62
    now, before = (square(v, "ab", [n] * 4, d) for v, n, d in (("2", 3, 18), ("1", large, 0)))
    assert Difference("d", now, before).text.num_rows == 4  # no overflow makes them equal


@pytest.mark.parametrize(
    ("other", "said"),
    [
        ({"dimensions": (Dimension("c", Hierarchy.flat(["x"])),) * 2}, "broken down by c, c"),
        ({"measure": "staff"}, "shows 'staff', this one 'sales'"),
        ({"vintage": "2"}, "has the vintage '2', as that of the last delivery has"),
    ],
)
def test_tables_that_cannot_be_compared_are_refused_with_a_remedy(other, said):
    now, before = square("2", "ab", [4] * 4), square("1", "ab", [4] * 4)
    with pytest.raises(InputError, match=said):
        Difference("d", now, replace(before, **other))


def test_a_variable_that_is_called_like_a_column_of_the_file_is_refused():
    now, before = (square(v, ["a", "previous"], [4] * 4) for v in "21")
    with pytest.raises(InputError, match="more than one column would be called 'previous'"):
        Difference("d", now, before)


def test_codes_whose_family_changed_are_those_whose_equations_did():
    before, now = (
        Hierarchy.from_parents(
            pa.table({"code": codes, "parent": [c[:-1] or "T" for c in codes]}), "T"
        )
        for codes in (["A", "B", "A1", "A2", "B1", "B2"], ["B", "A", "A1", "A2", "A3", "B1", "B2"])
    )
    changed = dict(zip(now.codes, other_surroundings(now, before).tolist(), strict=True))
    assert {code for code, other in changed.items() if other} == {"A", "A1", "A2", "A3"}


# ── against an oracle that knows nothing but two CSV files ───────────────────────────


def cells_of(path):
    """Codes → value and status, as a reader of the file sees them."""
    with path.open(encoding="utf-8", newline="") as file:
        header, *lines = csv.reader(file)
    order = sorted(range(len(header) - 2), key=header.__getitem__)
    return {
        tuple(line[i] for i in order): (line[-2] and Decimal(line[-2]), line[-1]) for line in lines
    }


record = st.tuples(st.sampled_from("abcd"), st.sampled_from("xyz"), st.integers(0, 40))


@st.composite
def delivered(draw, vintage):
    """A protected table of random records; some codes may be missing, and variables turned."""
    drawn = draw(st.lists(record, min_size=1, max_size=40))
    frame = pa.table({"r": [r for r, _, _ in drawn], "s": [s for _, s, _ in drawn],
                      "v": [v / 4 for _, _, v in drawn]})  # fmt: skip
    names = draw(st.permutations(["r", "s"]))
    table = dk.tabulate(
        frame, by=dict.fromkeys(names), value="v", decimals=2, vintage=vintage, contributions=False
    )
    rule = dk.rules.MinimumFrequency(3, range=10)
    try:
        return dk.suppress(table, rule, attacker=dk.Attacker(), name="t").published
    except dk.DiskretError:  # some tables cannot be protected
        return dk.suppress(table, dk.rules.MinimumFrequency(1), name="t").published


@examples(40)
@given(st.data())
def test_the_difference_is_the_comparison_of_both_public_files(tmp_path_factory, data):
    folder = tmp_path_factory.mktemp("csv")
    before, now = data.draw(delivered("2025")), data.draw(delivered("2026"))
    sides = []
    for table in (before, now):
        write_csv(table, folder / f"{table.vintage}.csv")
        sides.append(cells_of(folder / f"{table.vintage}.csv"))
    then, here = sides
    nowhere = ("", "absent")
    expected = {
        codes: then.get(codes, nowhere) + here.get(codes, nowhere)
        for codes in {**then, **here}
        if then.get(codes, nowhere) != here.get(codes, nowhere)
    }
    difference = Difference("d", now, before)
    found = {}
    for row in columns_text(difference).to_pylist():
        codes = row["r"], row["s"]
        assert codes not in found
        sides = [row["previous"], row["previous_status"], row["now"], row["now_status"]]
        found[codes] = tuple(Decimal(s) if i in (0, 2) and s else s for i, s in enumerate(sides))
    assert found == expected
    assert sum(difference.counts.values()) == len(expected)

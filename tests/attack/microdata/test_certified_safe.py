"""A safe file is counted again from the records: figures by hand, and each lie is refused."""

from collections import Counter

import numpy as np
import pyarrow as pa
import pytest

from diskret.attack.microdata.certify_safe import FEWEST_CELLS, certify_safe, safe_says
from diskret.attack.microdata.claims import Safe
from diskret.errors import InputError, ProofError
from diskret.tables.counted import combined, counted_all
from diskret.texts import Figure, sentence

BEFORE = [("N", "m", 2)] * 4 + [("N", "f", 1)] * 5 + [("S", "m", 1)] * 3 + [("S", None, 3)] * 1
AFTER = [("N", "m", 2)] * 4 + [("N", "f", 1)] * 6 + [("S", "m", 1)] * 3


def file(rows, names=("town", "sex", "rooms")):
    columns = zip(*rows, strict=True)
    return pa.table({n: pa.array(c) for n, c in zip(names, columns, strict=True)})


def certified(after=AFTER, before=BEFORE, claim=None, original=None, **options):
    claim = claim or Safe(3, [("town", "sex"), "town", ()])
    counts = original or counted_all(combined(file(before), ["town", "sex", "rooms"]), claim.tables)
    return certify_safe("persons", file(after), claim, counts, **options)


def deviations(columns, before=BEFORE, after=AFTER):
    """Original and new counts of the cells that were not empty, by plain counting."""
    place = [("town", "sex", "rooms").index(name) for name in columns]
    was, now = (Counter(tuple(r[i] for i in place) for r in rows) for rows in (before, after))
    return {cell: (n, now[cell]) for cell, n in was.items()}


def test_figures_are_those_of_plain_counting():
    made = certified()
    cells = [
        pair
        for columns in (("town", "sex"), ("town",), ())
        for pair in deviations(columns).values()
    ]
    size = [abs(new - old) for old, new in cells]
    assert made.figures == {
        "records": 13,
        "combinations": 3,
        "cells": len(cells),
        "largest": max(size),
        "mean": sum(size) / len(cells),
        "exact": size.count(0),
        "became_empty": 1,
        "were_empty": 0,
        "kept": 0,
        "tables": [
            {
                "variables": list(columns),
                "counter": "",
                "cells": len(own),
                "largest": max(abs(new - old) for old, new in own),
                "mean": sum(abs(new - old) for old, new in own) / len(own),
            }
            for columns in (("town", "sex"), ("town",), ())
            for own in [list(deviations(columns).values())]
        ],
    }
    assert made.shown == {
        "minimum": 3,
        "tables": {"": [["town", "sex"], ["town"], []]},
        "largest": 1,
        "by_size_in_file": [],
    }
    counted, emptied = made.checked
    assert "3" in counted.en and f"{sum(size) / len(cells):.2f}" in counted.en
    assert emptied == sentence("safe.emptied", emptied=1, opened=0)
    assert made.family == "safe"


def test_what_is_claimed_is_shown_where_something_is():
    made = certified(claim=Safe(3, [("town", "sex")], largest=4))
    assert (made.shown["largest"], made.figures["largest"]) == (4, 1)
    assert made.claimed[-1] == sentence("safe.deviations", tables=1, largest=Figure("4"))
    exact = certified(claim=Safe(3, [("town", "sex")], largest=1))
    assert exact.shown["largest"] == 1
    with pytest.raises(
        ProofError,
        match=r"2 cells of the table town x sex deviate by more than 0, .* 6 instead of 5",
    ):
        certified(claim=Safe(3, [("town", "sex")], largest=0))


def test_a_file_without_tables_claims_its_minimum_alone():
    made = certify_safe("persons", file(AFTER), Safe(3), [])
    assert made.figures["cells"] == made.figures["mean"] == made.figures["largest"] == 0
    assert [one.en for one in made.claimed] == [
        one.en for one in safe_says({"minimum": 3, "tables": {}, "largest": 0})[0]
    ]
    assert len(made.claimed) == 3
    assert "0.00" in made.checked[0].en


@pytest.mark.parametrize(("minimum", "holds"), [(3, True), (4, False)])
def test_every_combination_of_all_variables_counts(minimum, holds):
    claim = Safe(minimum, ["town"])
    if holds:
        assert certified(claim=claim).shown["minimum"] == minimum
        return
    with pytest.raises(
        ProofError, match=r"1 of 3 combinations .* than 4 times, e.g. \('S', 'm', '1'\): 3"
    ):
        certified(claim=claim)


def test_a_missing_value_is_one_of_the_combination():
    rows = AFTER[:-1] + [("S", None, 1)]
    with pytest.raises(ProofError, match=r"2 of 4 .*\('S', None, '1'\): 1|\('S', 'm', '1'\): 2"):
        certified(after=rows, claim=Safe(3, ["town"]))
    many = [(f"t{i}", "m", 1) for i in range(5)]
    with pytest.raises(ProofError) as told:
        certified(after=many, claim=Safe(3, ["town"]))
    assert str(told.value).count("): 1") == 3 and "5 of 5" in str(told.value)


def test_a_cell_that_was_empty_stays_so_unless_this_is_claimed():
    rows = AFTER + [("S", "f", 1)] * 3
    with pytest.raises(
        ProofError, match=r"1 cell of the table town x sex is empty in the original"
    ):
        certified(after=rows, claim=Safe(3, [("town", "sex")]))
    made = certified(after=rows, claim=Safe(3, [("town", "sex")], opened=True))
    assert made.figures["were_empty"] == 1
    assert made.checked[1] == sentence("safe.emptied", emptied=1, opened=1)


@pytest.mark.parametrize(
    ("exact", "kept", "said"),
    [
        (
            ["town"],
            0,
            r"2 cells of the table town had to keep their counts, .*'N'\): 10 instead of 9",
        ),
        ([{"town": "S"}], 0, "1 cell of the table town had to keep"),
        ([{"town": "N", "sex": "m"}], 1, None),
        ([{"town": "N", "sex": "m"}, {"sex": "m", "town": "S"}], 2, None),
        ([{"town": "N", "sex": "f"}], 0, "1 cell of the table town x sex had to keep"),
        ([{"town": "S", "sex": None}], 0, r"\('S', None\): 0 instead of 1"),
        ([{}], 1, None),
        ([()], 1, None),
    ],
)
def test_cells_that_had_to_be_exact_are(exact, kept, said):
    """13 persons before and after; one of S, of unknown sex, is now a woman of N."""
    claim = Safe(3, [("town", "sex"), "town", ()], exact=exact)
    if said is None:
        made = certified(claim=claim)
        assert made.figures["kept"] == kept
        assert made.checked[-1] == sentence("safe.kept", kept=kept)
        return
    with pytest.raises(ProofError, match=said):
        certified(claim=claim)


@pytest.mark.parametrize("exact", [["sex"], [{"sex": "m"}], [("town", "rooms")]])
def test_what_has_to_be_exact_is_in_a_controlled_table(exact):
    with pytest.raises(
        InputError, match="are to be exact, but it is none of the controlled tables"
    ):
        certified(claim=Safe(3, [("town", "sex"), "town"], exact=exact))
    by_rooms = {"": ["town"], "rooms": ["sex", ("town", "rooms")]}
    with pytest.raises(InputError, match="none of the controlled tables"):
        certified(claim=Safe(3, by_rooms, exact=exact))


def test_tables_of_a_counting_variable_are_counted_by_it():
    """Rooms of N: 4 · 2 + 5 before, 4 · 2 + 6 now."""
    assert certified(claim=Safe(3, {"rooms": [()]})).figures["mean"] == 19 - 17  # in all
    claim = Safe(3, {"": ["town"], "rooms": ["town"]})
    made = certified(claim=claim)
    assert [own["counter"] for own in made.figures["tables"]] == ["", "rooms"]
    assert made.figures["tables"][1]["largest"] == 3  # of S: 6 before, 3 now
    with pytest.raises(
        ProofError, match=r"1 cell of the table town \(rooms\) deviates by more than 2"
    ):
        certified(claim=Safe(3, {"": ["town"], "rooms": ["town"]}, largest=2))


def test_cells_of_persons_without_a_room_are_empty_before_and_after():
    before = [("N", "m", 2)] * 4 + [("S", "m", 0)] * 3
    claim = Safe(3, {"": ["town"], "rooms": ["town"]})
    made = certified(before[1:] + before[:1], before, claim)
    assert [own["cells"] for own in made.figures["tables"]] == [2, 1]
    nothing = [(town, sex, 0) for town, sex, _ in before]
    made = certified(nothing, nothing, claim)
    assert made.figures["tables"][1] | {"variables": 0} == {
        "variables": 0,
        "counter": "rooms",
        "cells": 0,
        "largest": 0,
        "mean": 0.0,
    }


def test_original_counts_are_those_of_the_claim():
    before = combined(file(BEFORE), ["town", "sex", "rooms"])
    claim = Safe(3, ["town", "sex"])
    good = list(counted_all(before, claim.tables))
    certified(claim=claim, original=good)
    for wrong in (good[::-1], [*good, good[1]], [good[0], good[0]]):
        with pytest.raises(InputError, match="are not those of its tables"):
            certified(claim=claim, original=wrong)
    with pytest.raises(InputError, match="of some tables are missing"):
        certified(claim=claim, original=good[:1])
    with pytest.raises(InputError, match="of some tables are missing"):
        certify_safe("persons", file(AFTER), Safe(3, ["town"]), [])
    fewer = combined(file(BEFORE[1:]), ["town", "sex", "rooms"])
    mixed = [good[0], list(counted_all(fewer, claim.tables))[1]]
    with pytest.raises(ProofError, match=r"sex add up to 12, those of another table to 13"):
        certified(claim=claim, original=mixed)


def test_no_identifier_and_no_empty_file_leaves():
    with pytest.raises(InputError, match="has no records"):
        certify_safe("persons", file(AFTER).slice(0, 0), Safe(3), [])
    with pytest.raises(ProofError, match="the direct identifier 'town' would leave"):
        certified(identifiers=["town"])
    copied = file(AFTER).append_column("pid", pa.array([f"P{i}" for i in range(13)]))
    with pytest.raises(ProofError, match="column 'x' holds the values of the direct identifier"):
        certify_safe(
            "persons",
            copied.rename_columns(["town", "sex", "rooms", "x"]),
            Safe(3),
            [],
            records=copied,
            identifiers=["pid"],
        )


# ── deviations by size ───────────────────────────────────────────────────────────────


def by_size(*sizes):
    """What is shown of towns that have these sizes in the file, each of them one person more."""
    names = [f"t{i:03}" for i in range(len(sizes))]
    before, after = (
        pa.table({"town": np.repeat(names, [n - less for n in sizes])}) for less in (1, 0)
    )
    claim = Safe(2, ["town"])
    counts = counted_all(combined(before, ["town"]), claim.tables)
    return certify_safe("towns", after, claim, counts).shown["by_size_in_file"]


@pytest.mark.parametrize(
    ("small", "middle", "large", "rows"),
    [
        (FEWEST_CELLS, 0, 0, [(1, 9, 30)]),
        (FEWEST_CELLS - 1, 0, 0, []),
        (FEWEST_CELLS, FEWEST_CELLS, 0, [(1, 9, 30), (10, 99, 30)]),
        (FEWEST_CELLS, FEWEST_CELLS - 1, 0, [(1, 99, 59)]),
        (FEWEST_CELLS - 1, 1, 0, [(1, 99, 30)]),
        (FEWEST_CELLS - 1, FEWEST_CELLS, FEWEST_CELLS, [(1, 99, 59), (100, 999, 30)]),
        (FEWEST_CELLS, 2, FEWEST_CELLS, [(1, 9, 30), (10, 999, 32)]),
        (FEWEST_CELLS, 0, 3, [(1, 999, 33)]),
        (0, FEWEST_CELLS, 0, [(10, 99, 30)]),
        (10, 10, 10, [(1, 999, 30)]),
        (FEWEST_CELLS, FEWEST_CELLS, 3, [(1, 9, 30), (10, 999, 33)]),
    ],
)
def test_no_figure_is_shown_of_few_cells(small, middle, large, rows):
    """Sizes 5, 10 and 100: the smallest of its class counts as one of it."""
    shown = by_size(*[5] * small, *[10] * middle, *[100] * large)
    assert [(row["from"], row["to"], row["cells"]) for row in shown] == rows
    assert all((row["largest"], row["mean"]) == (1, 1.0) for row in shown)


def test_a_class_in_which_nothing_deviates_is_shown_with_the_next():
    names = [f"t{i:03}" for i in range(60)]
    was, now = [5] * 30 + [11] * 30, [5] * 30 + [10] * 30
    before, after = (pa.table({"town": np.repeat(names, sizes)}) for sizes in (was, now))
    claim = Safe(2, ["town"])
    made = certify_safe("t", after, claim, counted_all(combined(before, ["town"]), claim.tables))
    [row] = made.shown["by_size_in_file"]
    assert row == {"from": 1, "to": 99, "cells": 60, "largest": 1, "mean": 0.5}


def test_classes_that_are_joined_keep_their_largest_deviation_and_mean():
    names = [f"t{i:03}" for i in range(40)]
    was, now = [5] * 29 + [10] * 11, [5] * 25 + [4] * 4 + [12] * 10 + [17]
    before, after = (pa.table({"town": np.repeat(names, sizes)}) for sizes in (was, now))
    claim = Safe(2, ["town"])
    made = certify_safe("t", after, claim, counted_all(combined(before, ["town"]), claim.tables))
    mean = round((4 + 20 + 7) / 40, 2)
    assert made.shown["by_size_in_file"] == [
        {"from": 1, "to": 99, "cells": 40, "largest": 7, "mean": mean}
    ]


# ── what figures tell of a 0 ─────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("men", "elsewhere"), [(2, 2), (1, 0)], ids=["others deviate, too", "nothing else deviates"]
)
def test_a_0_is_told_neither_to_be_true_nor_not_to_be(men, elsewhere):
    """Men of t00 are in no file; readers are told the same whether there were some or none."""
    sizes = {(f"t{i:02}", sex): 5 for i in range(40) for sex in "fm" if (i, sex) != (0, "m")}

    def rows(cells):
        keys = [key for key, n in cells.items() for _ in range(n)]
        return pa.table({"town": [t for t, _ in keys], "sex": [s for _, s in keys]})

    claim, released = Safe(3, [("town", "sex")]), rows(sizes)
    without = sizes | {("t01", "f"): 5 + elsewhere}
    shown = [
        certify_safe(
            "p", released, claim, counted_all(combined(rows(before), ["town", "sex"]), claim.tables)
        ).shown
        for before in (without, without | {("t00", "m"): men})
    ]
    assert shown[0] == shown[1]
    assert all(row["largest"] for row in shown[0]["by_size_in_file"])


def test_missing_values_that_another_column_tells_make_no_combination_rarer():
    """All columns are counted together, so whoever fills in values only puts combinations together.

    The district is missing where nobody knows it; its name beside it tells it.
    """
    rows = [("01", "Mitte")] * 3 + [(None, "Mitte")] * 3 + [("02", "Wedding")] * 30
    made = file(rows, ("district", "name"))
    certify_safe("p", made, Safe(3), [])
    meant = {"Mitte": "01", "Wedding": "02"}
    filled = Counter((code or meant[name], name) for code, name in rows)
    shown = Counter(rows)
    assert min(shown.values()) == 3 <= min(filled.values())
    assert all(filled[(code or meant[name], name)] >= n for (code, name), n in shown.items())

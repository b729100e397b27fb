"""Empty cells: what one table shows as empty, no other one can hide."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import diskret as dk
from diskret.errors import InputError, ProtectionError

KEYS = dk.SecretKeys(bytes(range(32)))
GROUP = dk.rules.MarginalValue(1)
RANGE = dk.rules.MinimumFrequency(2)


def both(numbers, by=("faith", "town")):
    """Numbers of persons and their income, by some of two variables."""
    cells = pa.table(
        {
            "faith": [f for f, _ in numbers],
            "town": [t for _, t in numbers],
            "n": list(numbers.values()),
            "income": [7 * n for n in numbers.values()],
        }
    )
    cells = cells.group_by(list(by)).aggregate([("n", "sum"), ("income", "sum")])
    trees = {"faith": dk.Hierarchy.flat(list("abc")), "town": dk.Hierarchy.flat(list("st"))}
    chosen = {name: trees[name] for name in by}
    return (
        dk.Table.from_cells(cells, by=chosen, count="n_sum"),
        dk.Table.from_cells(cells, by=chosen, value="income_sum", count="n_sum"),
    )


# all of town s have faith a: the empty cells beside them must not be shown
NUMBERS = {("a", "s"): 9, ("a", "t"): 8, ("b", "t"): 7, ("c", "t"): 9}


def test_a_count_is_not_hidden_behind_cells_that_another_table_shows_as_empty():
    persons, income = both(NUMBERS)
    alone = dk.suppress(persons, GROUP)
    hidden = alone.published.suppressed & persons.empty
    assert hidden.any()
    shown = dk.suppress(income, RANGE)
    assert (shown.published.empty & hidden).any()
    together, beside = dk.suppress([persons, income], [GROUP, RANGE])
    assert not (together.published.suppressed & persons.empty).any()
    assert together.status[1, 1] == "primary" and (beside.published.empty == income.empty).all()


def test_both_tables_hide_the_same_empty_cells_if_both_may():
    persons, income = both(NUMBERS)
    one, two = dk.suppress([persons, income], GROUP)
    for result, other in [(one, two), (two, one)]:
        assert not (result.published.suppressed & persons.empty & other.published.empty).any()


def test_tables_protected_apart_do_not_leave_together(tmp_path):
    persons, income = both(NUMBERS)
    results = [dk.suppress(persons, GROUP), dk.suppress(income, RANGE)]
    with pytest.raises(InputError, match="hides . empty cells that other tables .* show as empty"):
        dk.write(results, tmp_path / "out", ["csv"], keys=KEYS)
    assert not (tmp_path / "out").exists()
    other_year = dk.suppress(replace(income, vintage="2024"), RANGE)
    dk.write([results[0], other_year], tmp_path / "out", ["csv"], keys=KEYS)


@given(
    st.lists(st.sampled_from([0, 0, 1, 2, 6]), min_size=6, max_size=6).filter(any),
    st.sampled_from([("faith", "town"), ("faith",), ("town",)]),
    st.sampled_from([RANGE, GROUP, GROUP | RANGE]),
)
def test_no_table_shows_an_empty_cell_that_another_hides(numbers, by, rule):
    places = [(f, t) for f in "abc" for t in "st"]
    persons, _ = both(dict(zip(places, numbers, strict=True)))
    _, income = both(dict(zip(places, numbers, strict=True)), by)
    try:
        one, two = dk.suppress([persons, income], [GROUP, rule])
    except ProtectionError:
        return
    at = tuple(slice(None) if name in by else 0 for name in ("faith", "town"))
    nobody, hidden, shown = persons.empty[at], one.published.suppressed[at], one.published.empty[at]
    assert not (nobody & hidden & two.published.empty).any()
    assert not (nobody & two.published.suppressed & shown).any()
    assert np.array_equal(nobody, income.empty)

"""Rare combinations of keys are those that counting every cell finds."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from risk_files import files, keys_of

from diskret.errors import InputError
from diskret.risk import frequencies
from diskret.risk.rare_combinations import (
    combinations_of_levels,
    combinations_up_to,
    rare_combinations,
)
from diskret.risk.suda import minimal_uniques

THRESHOLD = st.sampled_from([1, 2, 5.5, 30])


@given(files(), THRESHOLD, st.booleans(), st.sampled_from(["wildcard", "conservative", "category"]))
def test_every_cell_is_counted(file, threshold, weighted, missing):
    rows, weights = file
    keys = keys_of(rows)
    chosen = combinations_up_to(keys.names, 3)
    of_record = weights if weighted else np.ones(len(rows))
    found = rare_combinations(keys, chosen, threshold, weights if weighted else None, missing)
    times = Counter()
    for c, names in enumerate(chosen):
        shown = [tuple(row) for row in rows[:, [keys.names.index(name) for name in names]].tolist()]
        own = -1 if missing == "category" else 0
        cells = {cell for cell in shown if min(cell) >= own}
        rare = set()
        for cell in cells:
            count = sum(
                weight
                for row, weight in zip(shown, of_record, strict=True)
                if all(
                    a == b or (a == -1 and missing == "wildcard")
                    for a, b in zip(row, cell, strict=True)
                )
            )
            if count <= threshold:
                rare.add(cell)
        inside = [i for i, cell in enumerate(shown) if cell in rare]
        times.update(inside)
        assert found.cells[c] == len(cells)
        assert found.rare[c] == len(rare)
        assert found.records[c] == len(inside)
    assert found.times.tolist() == [times[i] for i in range(len(rows))]


@given(files(), st.sampled_from(["wildcard", "category"]))
def test_the_smallest_rare_combination_is_the_smallest_set_in_which_a_record_is_alone(
    file, missing
):
    """With threshold 1 two searches, one by cells and one depth-first, say the same."""
    keys = keys_of(file[0])
    chosen = combinations_up_to(keys.names, len(keys.names))
    found = rare_combinations(keys, chosen, missing=missing)
    unique = minimal_uniques(keys, missing=missing)
    smallest = np.zeros(keys.n, dtype=np.int64)
    at, first = np.unique(unique.record, return_index=True)
    smallest[at] = unique.size[first]
    assert found.smallest.tolist() == smallest.tolist()


@given(files())
def test_all_keys_together_are_the_frequencies(file):
    keys = keys_of(np.maximum(file[0], 0))
    found = rare_combinations(keys, [keys.names], 2)
    assert (found.times == 1).tolist() == (frequencies(keys).sample <= 2).tolist()


LEVELS = st.lists(st.integers(1, 3), min_size=3, max_size=6)


@given(LEVELS)
def test_levels_combine_one_key_of_each(levels):
    names = [f"k{j}" for j in range(len(levels))]
    named = dict(zip(names, levels, strict=True))
    pools = [[n for n in names if named[n] <= place] for place in range(1, max(levels) + 1)]
    expected = {frozenset(roles) for roles in product(*pools) if len(set(roles)) == len(roles)}
    if not expected:
        with pytest.raises(InputError, match="no combination"):
            combinations_of_levels(names, named)
    else:
        made = combinations_of_levels(names, named)
        assert len(made) == len(expected) and set(map(frozenset, made)) == expected


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ({"job": 1}, "column 'job', which is no key"),
        ({"sex": 0}, "levels= must be a whole number from 1 upwards, not 0 for 'sex'"),
        ({"sex": 2, "age": 2}, "no combination of keys has one of each level 1 to 2"),
        ({}, "no combination"),
    ],
)
def test_levels_are_checked(levels, message):
    with pytest.raises(InputError, match=message):
        combinations_of_levels(["sex", "age"], levels)


def test_sizes_and_thresholds_are_checked():
    with pytest.raises(InputError, match="size="):
        combinations_up_to(["sex"], 0)
    with pytest.raises(InputError, match="threshold="):
        rare_combinations(keys_of([[0]]), [("k0",)], 0)
    assert combinations_up_to(["sex", "age"], 3) == [("sex",), ("age",), ("sex", "age")]

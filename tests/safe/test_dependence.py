"""Which variables follow from which, found from the data."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from diskret.safe.problem import follows, groups


@st.composite
def files(draw):
    rows = draw(st.integers(1, 12))
    number = draw(st.integers(1, 5))
    columns = []
    for _ in range(number):
        codes = draw(st.lists(st.integers(0, 4), min_size=rows, max_size=rows))
        columns.append(np.unique(codes, return_inverse=True)[1].astype(np.int32))
    return columns, tuple(int(column.max()) + 1 for column in columns)


def known_from(fine, coarse) -> bool:
    seen: dict[int, int] = {}
    pairs = zip(fine.tolist(), coarse.tolist(), strict=True)
    return all(seen.setdefault(one, other) == other for one, other in pairs)


@given(files())
def test_a_group_is_a_finest_variable_and_all_that_follows_from_it(made):
    columns, sizes = made
    found = groups(columns, sizes)
    assert sorted(v for group in found for v in group) == list(range(len(columns)))
    for group in found:
        assert list(group) == sorted(group, key=lambda v: (sizes[v], v))
        finest = max(group, key=lambda v: (sizes[v], -v))
        assert all(known_from(columns[finest], columns[v]) for v in group)
        assert len(group) == 1 or min(sizes[v] for v in group) > 1
    for v, size in enumerate(sizes):
        alone = any(group == (v,) for group in found)
        finer = [w for w in range(len(sizes)) if sizes[w] > size and w != v]
        if alone and size > 1:
            assert not any(known_from(columns[w], columns[v]) for w in finer)


@given(files())
def test_following_is_what_it_says(made):
    columns, _ = made
    for fine in columns:
        for coarse in columns:
            assert follows(fine, coarse) == known_from(fine, coarse)


def test_a_single_exception_in_a_large_file_is_seen():
    town = np.repeat(np.arange(500, dtype=np.int32), 100)
    state = town // 100
    assert groups([state, town], (5, 500)) == ((0, 1),)
    state[31_415] += 1
    assert groups([state, town], (6, 500)) == ((0,), (1,))

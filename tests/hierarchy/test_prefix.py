"""Trees from codes that begin with the code above them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from diskret.errors import HierarchyError
from diskret.hierarchy import Hierarchy


def test_codes_above_are_added_and_shorter_codes_may_be_leaves():
    tree = Hierarchy.from_prefix(["012", " 011", "02", "031", "03"], (2, 1))
    assert tree.codes == ("Total", "01", "011", "012", "02", "03", "031")
    assert tree.parent.tolist() == [-1, 0, 1, 1, 0, 0, 5]


def test_whole_numbers_are_codes():
    assert Hierarchy.from_prefix([11, 12], [1, 1], total="All").codes == ("All", "1", "11", "12")


@given(
    st.lists(st.integers(1, 3), min_size=1, max_size=3).flatmap(
        lambda widths: st.tuples(
            st.just(widths),
            st.lists(
                st.integers(1, len(widths)).flatmap(
                    lambda n: st.text("01b", min_size=sum(widths[:n]), max_size=sum(widths[:n]))
                ),
                max_size=15,
            ),
        )
    )
)
def test_every_code_stands_below_its_longest_beginning(drawn):
    widths, codes = drawn
    tree = Hierarchy.from_prefix(codes, widths)
    assert set(codes) <= set(tree.codes)
    for code, parent in zip(tree.codes[1:], tree.parent[1:], strict=True):
        above = "" if parent == 0 else tree.codes[parent]
        assert code.startswith(above)
        assert len(code) - len(above) in widths
        assert any(given.startswith(code) for given in codes)


@pytest.mark.parametrize(
    ("codes", "widths", "said"),
    [
        (["011", "1", "02"], (2, 1), ["1 of 3", "'1'", "2 or 3 characters", "leading zeros"]),
        (["01.1"], (2, 1), ["'01.1'", "dots"]),
        (["0111"], (2, 1), ["'0111'"]),
        (["a", None], (1,), ["null or blank"]),
        ([1.0], (1,), ["1.0 in row 1"]),
        (["Total"], (5,), ['total="All"']),
        ("011", (2, 1), ["list of codes"]),
        (["01"], (), ["widths"]),
        (["01"], (2, 0), ["widths", "(2, 0)"]),
        (["01"], (2.0,), ["widths"]),
        (["0"], (True,), ["widths"]),
    ],
    ids=str,
)
def test_from_prefix_says_what_is_wrong(codes, widths, said):
    with pytest.raises(HierarchyError) as caught:
        Hierarchy.from_prefix(codes, widths)
    for part in said:
        assert part in str(caught.value)

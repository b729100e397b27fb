"""Cells with a code that means "unknown" are safe; totals with them are judged as usual."""

import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError
from diskret.rules import MinimumFrequency, MissingSafe
from diskret.tables import Table

TREE = dk.Hierarchy.from_parents({"code": ["T", "N", "n1", "99"], "parent": [None, "T", "N", "T"]})


def persons():
    frame = pa.table({"r": ["n1", "n1", "99", "99"], "s": ["f", "m", "f", "m"], "n": [2, 9, 1, 9]})
    return Table.from_cells(frame, by={"r": TREE, "s": None}, count="n")


def test_only_cells_with_the_code_itself_are_safe():
    table = persons()
    joined = (MinimumFrequency(4) | MissingSafe({"r": ["99"]}))(table)
    plain = MinimumFrequency(4)(table)
    missing = TREE.position["99"]
    assert plain.unsafe[missing].tolist() == [False, True, False]
    assert not joined.unsafe[missing].any()
    others = [i for i in range(len(TREE)) if i != missing]
    assert joined.unsafe[others].tolist() == plain.unsafe[others].tolist()
    assert joined.unsafe[0, 1]  # women in all regions: 3, one of them in an unknown one
    assert joined.reason[missing].tolist() == [-1] * 3
    assert not joined.lower[missing].any()


def test_the_order_of_joining_does_not_matter():
    table = persons()
    rules = (MinimumFrequency(4), MissingSafe({"s": ["f"]}), MinimumFrequency(3))
    one = (rules[0] | rules[1] | rules[2])(table)
    other = (rules[2] | (rules[1] | rules[0]))(table)
    sensitivities = [rule(table) for rule in rules]
    third = sensitivities[1] | (sensitivities[0] | sensitivities[2])
    for found in (other, third):
        assert found.unsafe.tolist() == one.unsafe.tolist()
        assert found.lower.tolist() == one.lower.tolist()
    assert not one.unsafe[:, 1].any()


def test_safe_cells_may_be_hidden_to_protect_others():
    frame = pa.table({"r": ["A", "99", "C"], "n": [2, 1, 90]})
    table = Table.from_cells(frame, by={"r": None}, count="n")
    result = dk.suppress(table, MinimumFrequency(3) | MissingSafe({"r": ["99"]}))
    status = dict(zip(table.dimensions[0].hierarchy.codes, result.status.tolist(), strict=True))
    assert status == {"Total": "published", "A": "primary", "99": "secondary", "C": "published"}


def test_codes_that_are_not_there_are_passed_over():
    assert not MissingSafe({"r": ["98"]})(persons()).safe.any()


def test_a_variable_that_is_not_there_is_named():
    with pytest.raises(InputError, match="'region'; it has 'r', 's'"):
        MissingSafe({"region": ["99"]})(persons())


@pytest.mark.parametrize("codes", [{}, None, ["99"], {"r": "99"}, {"r": []}, {"r": [99]}])
def test_bad_codes_are_refused(codes):
    with pytest.raises(InputError, match="99|mapping|list of texts"):
        MissingSafe(codes)

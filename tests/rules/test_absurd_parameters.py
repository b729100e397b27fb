"""Parameters that no office means end in one sentence, not in an overflow somewhere below."""

import pyarrow as pa
import pytest

import diskret as dk

ABSURD = (1e308, 10**200, 1e-300, float("inf"), float("nan"), -1e308)


@pytest.fixture(scope="module")
def table():
    records = {"region": list("NNNNSSSWW"), "x": [1, 2, 3, 9, 40, 5, 6, 7, 8], "f": list(range(9))}
    return dk.tabulate(pa.table(records), by={"region": None}, value="x", unit="f")


@pytest.mark.parametrize("value", ABSURD)
@pytest.mark.parametrize(
    "rule",
    [
        lambda v: dk.rules.PPercent(v),
        lambda v: dk.rules.PPercent(5, minimum_level=v),
        lambda v: dk.rules.PQ(v, 50),
        lambda v: dk.rules.PQ(5, v),
        lambda v: dk.rules.Dominance(1, v),
        lambda v: dk.rules.MinimumFrequency(3, range=v),
        lambda v: dk.rules.GroupDisclosure(v),
    ],
)
def test_percentages_and_levels_beyond_all_sense_are_refused(table, rule, value):
    try:
        rule(value)(table)
    except dk.DiskretError as refused:
        assert len(str(refused)) < 400
    else:
        assert value == 1e-300  # a smallest level that is none


def test_distances_beyond_all_counts_are_refused_and_others_are_not():
    counts = dk.tabulate(pa.table({"region": list("NNNS")}), by={"region": None})
    for strict in (False, True):
        with pytest.raises(dk.DiskretError, match="distance= must be a whole number from 0 to"):
            dk.rules.MarginalValue(10**20, strict=strict)(counts)
        found = dk.rules.MarginalValue(2**62, strict=strict)(counts)
        assert found.unsafe.tolist() == [False, True, True], "all but the total, which has none"
        assert found.lower.tolist() == ([0, 3, 1] if strict else [0, 1, 1])


@pytest.mark.parametrize("value", [1e308, 10**200, 1e-320])
def test_an_attacker_who_knows_next_to_nothing_is_the_outsider(table, value):
    rule = dk.rules.PPercent(10)
    try:
        result = dk.suppress(table, rule, attacker=dk.Attacker(relative=value))
    except dk.DiskretError:
        assert value < 1  # who knows all values exactly cannot be withstood
    else:
        alone = dk.suppress(table, rule, attacker=dk.Attacker())
        assert (result.published.suppressed == alone.published.suppressed).all()

"""A certificate that is printed, in a notebook or a log, tells what is public alone."""

import numpy as np
import pyarrow as pa

import diskret as dk


def test_no_value_or_level_of_a_suppressed_table():
    frame = pa.table({"n": list("aabbbccc"), "v": [7919, 6101, 5003, 4111, 3301, 2707, 2203, 1709]})
    table = dk.tabulate(frame, by={"n": None}, value="v")
    result = dk.suppress(table, dk.rules.PPercent(12), name="t")
    said = repr(result.certificate) + repr(result.certificate.proof)
    hidden = table.measure.sum[result.published.suppressed]
    levels = result.certificate.requirements.upper
    assert len(hidden) and len(levels)
    for number in np.concatenate((hidden, levels)).tolist():
        assert str(number) not in said
    assert "4 cells" in said and "suppressed" in said


def test_no_value_of_a_table_with_noise():
    frame = pa.table(
        {"n": list("aabbbc"), "v": [7919, 6101, 5003, 4111, 3301, 2707], "key": range(11, 71, 10)}
    )
    table = dk.tabulate(frame, by={"n": None}, value="v", record_key="key")
    noise = dk.PerturbationTable.maximum_entropy(max_noise=4, variance=2, small_counts=1)
    result = dk.perturb(table, dk.MagnitudeNoise(noise, scale=0.3, shares=(1,)), name="t")
    said = repr(result.certificate)
    for number in (*table.measure.sum.tolist(), *result.published.value.ravel().tolist()):
        assert str(number) not in said
    assert "'t'" in said

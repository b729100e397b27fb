"""A number that is none (NaN), or not whole where things are counted, is refused by name."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.attack import differencing, queries_needed, recovery_probability
from diskret.errors import InputError

NAN = float("nan")
COUNTS = dk.PerturbationTable.maximum_entropy(4, 2.0)
SUMS = dk.PerturbationTable.for_magnitudes(2, 1)
TABLE = dk.Table.from_cells(pa.table({"r": ["N", "S"], "n": [4, 9]}), by={"r": None}, count="n")
RULE = dk.rules.MinimumFrequency(5)
RECORDS = pa.table({"r": ["N", "S"], "k": [4, 9]})


def recorded(**options):
    return dk.perturb_records(RECORDS, by={"r": None}, ptable=COUNTS, record_key="k", **options)


@pytest.mark.parametrize("wrong", [NAN, np.nan, float("inf")])
@pytest.mark.parametrize(
    "call",
    [
        *(
            lambda x, name=name: dk.assess(COUNTS, **{name: x})
            for name in ("limit", "certainty", "queries", "confidence", "up_to")
        ),
        lambda x: dk.assess(COUNTS, prior=[x, 1]),
        *(
            lambda x, name=name: dk.MagnitudeNoise(SUMS, **{name: x})
            for name in ("flex_power", "extra", "risk")
        ),
        lambda x: dk.perturb(TABLE, COUNTS, threshold=x),
        lambda x: recorded(threshold=x),
        lambda x: dk.round_table(TABLE, base=x),
        lambda x: dk.round_table(TABLE, base=x, method="controlled"),
        lambda x: dk.round_table(TABLE, base=3, method="controlled", steps=x),
        lambda x: dk.adjust(TABLE, RULE, largest_change=x),
        lambda x: recovery_probability(COUNTS, (3,), x),
        lambda x: queries_needed(COUNTS, (3,), x),
        lambda x: differencing(COUNTS, count=x),
        lambda x: dk.PerturbationTable.maximum_entropy(x, 1),
        lambda x: dk.PerturbationTable.maximum_entropy(3, x),
        lambda x: dk.PerturbationTable.for_magnitudes(2, x),
        lambda x: COUNTS.lookup(x),
    ],
)
def test_what_is_no_number_is_refused(call, wrong):
    with pytest.raises(InputError):
        call(wrong)


@pytest.mark.parametrize(
    "call",
    [
        lambda: dk.MagnitudeNoise(SUMS, scale=NAN),
        lambda: dk.MagnitudeNoise(SUMS, scale=(0.2, NAN)),
        lambda: dk.MagnitudeNoise(SUMS, flex_point=NAN),
        lambda: dk.MagnitudeNoise(SUMS, shares=(1, NAN)),
        lambda: dk.round_table(TABLE, base=3, method="controlled", time_limit=NAN),
        lambda: dk.adjust(TABLE, RULE, time_limit=NAN),
    ],
)
def test_nan_is_refused(call):
    with pytest.raises(InputError):
        call()

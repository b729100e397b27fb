"""The picture of risks counts records, and marks those above a threshold."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError

AGES = [1, 1, 1, 2, 2, 3, 4, 5]
RISK = dk.Microdata(pa.table({"age": AGES}), keys=["age"]).risk()


def test_the_line_counts_records_with_a_risk_or_more():
    axes = RISK.plot().axes[0]
    points = axes.lines[1]
    each = np.array([1 / AGES.count(age) for age in AGES])
    risks, counts = (np.asarray(one) for one in points.get_data())
    for risk, count in zip(risks, counts, strict=True):
        assert count == (each >= risk - 1e-12).sum()
    assert counts[0] == len(AGES)


@pytest.mark.parametrize(
    ("language", "said"),
    [("en", "above 0.4: 5 records"), ("de", "über 0,4: 5 Datensätze")],
)
def test_records_above_a_threshold_are_counted(language, said):
    axes = RISK.plot(0.4, language).axes[0]
    assert [one.get_text() for one in axes.get_legend().get_texts()] == [said]
    assert any(word in axes.get_title() for word in ("confidential", "vertraulich"))


def test_a_threshold_that_is_no_risk_is_refused():
    for wrong in (0, 1.5):
        with pytest.raises(InputError, match="above 0 and at most 1"):
            RISK.plot(wrong)

"""md.risk(): figures of each record and of the file, and what a reader is told."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret import DiskretError, Microdata
from diskret.risk import frequencies, individual_risk

PERSONS = {
    "job": ["baker", "mayor", "baker", None],
    "town": ["x", "x", "x", "x"],
    "w": [20.0, 10.0, 30.0, 5.0],
    "flat": ["A1", "A1", "B2", None],
}


def persons(**options):
    made = {"keys": ["job", "town"], "weight": "w", **options}
    return Microdata(pa.table(PERSONS), **made)


@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table])
def test_records_are_of_the_callers_kind_in_input_order(kind):
    frame = kind(PERSONS)
    found = Microdata(frame, keys=["job"], weight="w", household="flat").risk().records
    assert type(found) is type(frame)
    columns = found.column_names if kind is pa.table else list(found.columns)
    assert columns == ["sample_frequency", "population_frequency", "risk", "household_risk"]
    assert np.asarray(found["sample_frequency"]).tolist() == [3, 2, 3, 4]
    assert np.asarray(found["population_frequency"]).tolist() == [55, 15, 55, 65]


def test_counts_are_whole_numbers_unless_matches_count_fractions():
    def kind(**options):
        return str(persons().risk(**options).records.schema.field("sample_frequency").type)

    assert kind() == kind(missing="category") == kind(missing="conservative") == "int64"
    assert kind(alpha=0.0) == "int64" and kind(alpha=0.5) == "double"
    assert persons().risk(alpha=0.5).sample_frequency.tolist() == [2.5, 1.5, 2.5, 2.5]


def test_without_weights_the_file_is_the_population():
    found = persons(weight=None).risk(missing="category")
    assert found.risk.tolist() == [0.5, 1, 0.5, 1]
    assert found.population_frequency.tolist() == found.sample_frequency.tolist() == [2, 1, 2, 1]
    assert found.expected == 3 and found.global_risk == 0.75 and found.largest == 1
    assert found.sample_uniques == 2
    assert found.short == 0


def test_figures_of_the_file_belong_to_its_records():
    found = persons(household="flat").risk(missing="conservative")
    assert found.sample_frequency.tolist() == [2, 1, 2, 1]
    assert found.below(2) == 2 and found.below(3) == 4 and found.below(11, population=True) == 2
    assert found.expected == pytest.approx(found.risk.sum())
    assert found.households is not None
    assert found.households.size.tolist() == [2, 1, 1]
    joint = 1 - (1 - found.risk[0]) * (1 - found.risk[1])
    assert found.households.records.tolist() == pytest.approx(
        [joint, joint, found.risk[2], found.risk[3]]
    )
    assert found.person_thresholds(0.1).tolist() == [0.05, 0.05, 0.1, 0.1]
    target = found.threshold(global_risk=found.global_risk / 2)
    assert np.minimum(found.risk, target).mean() == pytest.approx(found.global_risk / 2)
    assert found.threshold(global_risk=0.9) == 1
    assert repr(found) == (
        "MicrodataRisk(4 records; keys: job, town; 2 sample uniques; "
        f"{found.expected:.1f} expected to be recognised; largest risk {found.largest:.3g})"
    )


def test_other_variables_may_be_taken_for_keys():
    found = persons().risk(keys=["town"])
    assert found.keys == ("town",) and found.sample_frequency.tolist() == [4] * 4


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({}, "1 record has a missing key: a missing value agrees with every value."),
        ({"alpha": 0.5}, "agrees with every value, and such a match counts 0.5."),
        ({"missing": "category"}, "agrees with missing values only."),
        ({"missing": "conservative"}, "whoever has a missing value agrees with nobody."),
    ],
)
def test_what_missing_values_stand_for_is_said(options, said):
    found = persons().risk(**options)
    assert len(found.remarks) == 1 and found.remarks[0].endswith(said)
    assert found.gaps == 1


def test_figures_that_are_not_exact_are_said():
    md = persons(keys=["town"])
    assert md.risk().remarks == ()
    assert md.risk(compat="sdcmicro").remarks == (
        "The risks are those of 'sdcmicro', not the exact ones.",
    )
    # 3 / 65 is below the p / (f - (1 - p)) of the package
    assert (md.risk().risk < md.risk(compat="sdcmicro").risk).all()


# ── a population that the user knows ────────────────────────────────────────────────


def test_a_table_of_counts_gives_the_risk_without_estimating():
    town = pd.DataFrame({"town": ["x", "x"], "job": ["baker", "mayor"], "number": [40, 1]})
    found = persons().risk(population=town, count="number")
    assert found.population_frequency.tolist() == [40, 1, 40, 41]
    assert found.risk.tolist() == [1 / 40, 1, 1 / 40, 1 / 41]
    assert found.unmatched == 0 and found.short == 1
    assert found.remarks[-1].startswith("For 1 record the population has fewer")


def test_records_of_the_population_are_counted(tmp_path):
    file = tmp_path / "register.csv"
    file.write_text("job,town\nbaker,x\nbaker,x\nmayor,x\nmayor,y\n", encoding="utf-8")
    found = persons().risk(missing="category", population=file)
    assert found.population_frequency.tolist() == [2, 1, 2, 0]
    assert found.risk.tolist()[:3] == [0.5, 1, 0.5]
    assert found.below(2, population=True) == 2


def test_whom_nobody_in_the_population_matches_keeps_the_estimate():
    register = pa.table({"job": ["mayor"], "town": ["x"]})
    estimated = persons().risk(missing="conservative")
    found = persons().risk(missing="conservative", population=register)
    assert found.unmatched == 2
    assert found.risk[[0, 2]].tolist() == estimated.risk[[0, 2]].tolist()
    assert found.risk[1] == 1 and found.risk[3] == 1
    assert "2 records have keys that nobody in the population has" in " ".join(found.remarks)


def test_a_match_that_counts_less_than_a_person_is_no_risk_above_one():
    register = pa.table({"job": pa.array([None], pa.string()), "town": ["x"]})
    found = persons().risk(alpha=0.25, population=register)
    assert found.population_frequency[:3].tolist() == [0.25] * 3
    assert found.risk.tolist() == [1, 1, 1, 1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"population": pa.table({"job": ["a"]})}, "there is no column 'town'"),
        ({"population": pa.table({"job": ["a"], "town": ["x"]}), "count": "n"}, "no column 'n'"),
        (
            {"population": pa.table({"job": ["a"], "town": ["x"], "n": ["many"]}), "count": "n"},
            "the counts in 'n' are not numbers",
        ),
        (
            {"population": pa.table({"job": ["a"], "town": ["x"], "n": [None]}), "count": "n"},
            "1 count of the population is missing or below 0",
        ),
        (
            {"population": pa.table({"job": pa.array([], pa.string()), "town": []})},
            "the population has no records",
        ),
        ({"count": "n"}, "count= names a column of the population, and population= is missing"),
        ({"keys": ["jobs"]}, "there is no column 'jobs'"),
        ({"missing": "NA"}, "missing= must be"),
        ({"compat": "argus"}, "compat= must be"),
    ],
)
def test_what_cannot_be_used_is_refused(arguments, message):
    with pytest.raises(DiskretError, match=message):
        persons().risk(**arguments)


def test_thresholds_of_households_need_households():
    with pytest.raises(DiskretError, match="there are no households; name their column"):
        persons().risk().person_thresholds(0.1)


def test_the_microdata_are_left_alone():
    md = persons(household="flat")
    frame = md.frame
    md.risk()
    assert md.frame is frame or md.frame.equals(frame)
    assert md.history == () and md.changed == frozenset()


@examples(40)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 9)), min_size=1, max_size=20))
def test_records_follow_from_frequencies_and_individual_risk(rows):
    key, weight = zip(*rows, strict=True)
    md = Microdata(pa.table({"k": key, "w": weight}), keys=["k"], weight="w")
    found = md.risk()
    counted = frequencies(md.keys(), md.weights())
    expected = individual_risk(counted.sample, counted.population)
    assert found.records.column("risk").to_pylist() == expected.tolist()
    for value in set(key):
        same = [i for i, k in enumerate(key) if k == value]
        assert found.sample_frequency[same].tolist() == [len(same)] * len(same)
        total = sum(weight[i] for i in same)
        assert found.population_frequency[same].tolist() == [total] * len(same)

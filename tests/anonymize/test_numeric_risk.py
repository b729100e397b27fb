"""Risk of the caller's numeric variables."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from diskret import DiskretError, Microdata
from diskret.anonymize.verb import Step


def firms(n=600, seed=1):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "turnover": rng.lognormal(8, 1, n),
            "staff": rng.integers(1, 500, n),
            "land": rng.choice(["A", "B", "C", "D"], n),
            "size": rng.integers(0, 3, n),
        },
        index=np.arange(n) + 50,
    )


def changed(md, **columns):
    """Microdata whose columns have new values, as if a method had made them."""
    made = {name: pa.chunked_array([pa.array(values)]) for name, values in columns.items()}
    return md.after(made, Step("recode", {}))


def microdata(frame, **roles):
    return Microdata(frame, keys=["land", "size"], numeric=["turnover", "staff"], **roles)


def test_an_unprotected_file_is_fully_at_risk_and_no_frame_is_changed():
    frame = firms()
    before = frame.copy()
    found = microdata(frame).numeric_risk(probabilistic=True, sample=100)
    assert found.linked == found.sdid.share_all == found.rmdid1.all == found.ranks.share_all == 1
    assert found.assignment.share == 1
    assert found.weights.share > 0.9
    assert isinstance(found.records, pd.DataFrame) and len(found.records) == len(frame)
    assert found.records["linked"].sum() == found.links.expected
    assert found.by_variable["variable"].tolist() == ["turnover", "staff"]
    assert "linked 100.00%; SDID any 100.00%" in repr(found)
    assert found.remarks == ()
    pd.testing.assert_frame_equal(frame, before)
    polars = microdata(pl.from_pandas(frame)).numeric_risk()
    assert isinstance(polars.records, pl.DataFrame) and isinstance(polars.by_variable, pl.DataFrame)


def test_the_original_file_is_what_the_attacker_knows():
    frame, rng = firms(), np.random.default_rng(2)
    md = microdata(frame)
    noisy = changed(md, turnover=frame["turnover"].to_numpy() * rng.normal(1, 0.2, len(frame)))
    drawn = changed(md, turnover=rng.permutation(frame["turnover"].to_numpy()))
    assert 0.2 < noisy.numeric_risk().linked < 1
    assert drawn.numeric_risk(["turnover"]).linked < 0.03
    assert drawn.numeric_risk(["staff"]).sdid.share_all == 1


def test_missing_values_are_left_out_and_told():
    frame, rng = firms(), np.random.default_rng(3)
    md = microdata(frame)
    hidden = rng.random(len(frame)) < 0.3
    protected = changed(md, turnover=pa.array(frame["turnover"].to_numpy(), mask=hidden))
    found = protected.numeric_risk()
    assert found.incomplete == hidden.sum()
    assert "other variables" in found.remarks[0]
    assert (found.links.correct[~hidden] == 1).all()
    assert 0 < found.links.correct[hidden].mean() < 0.8  # by the staff alone
    assert found.by_variable["sdid"].tolist() == [1, 1]
    nothing = changed(md, turnover=pa.nulls(len(frame), pa.float64()))
    assert np.isnan(nothing.numeric_risk().by_variable["sdid"].iloc[0])


def test_blocks_are_recoded_as_the_file_was():
    frame, rng = firms(), np.random.default_rng(4)
    md = microdata(frame).recode("land", groups={"A or B": ["A", "B"], "C or D": ["C", "D"]})
    noisy = changed(md, turnover=frame["turnover"].to_numpy() * rng.normal(1, 0.3, len(frame)))
    plain = noisy.numeric_risk(["turnover"])
    land = noisy.numeric_risk(["turnover"], blocks=["land"])
    both = noisy.numeric_risk(["turnover"], blocks=["land", "size"])
    assert plain.linked < land.linked < both.linked
    mixed = noisy.numeric_risk(["turnover"], keys=["land", "size"], metric="gower")
    assert plain.linked < mixed.linked <= both.linked + 0.02


def test_keys_count_in_weights_where_the_distance_has_none_of_them():
    frame, rng = firms(), np.random.default_rng(4)
    noisy = frame["turnover"].to_numpy() * rng.normal(1, 0.01, len(frame))
    protected = changed(microdata(frame), turnover=noisy)
    plain = protected.numeric_risk(["turnover"], probabilistic=True)
    weights = protected.numeric_risk(["turnover"], keys=["land", "size"], probabilistic=True)
    assert weights.linked == plain.linked
    assert weights.weights.share > 2 * plain.weights.share
    assert "linked_by_weights" in weights.records.columns


def test_randomised_keys_are_compared_as_they_are_and_new_values_must_follow():
    frame = firms()
    md = microdata(frame)
    swapped = md.pram(["land"], seed=1, stay=0.7)
    changed_keys = (swapped.frame["land"] != frame["land"]).to_numpy()
    found = swapped.numeric_risk(blocks=["land"])
    assert (found.links.correct == ~changed_keys).all()
    own = changed(md, land=[f"{land}{at % 2}" for at, land in enumerate(frame["land"])])
    with pytest.raises(DiskretError, match="'land' has new values that do not follow"):
        own.numeric_risk(blocks=["land"])


def test_published_reference_file_runs(reference_data):
    frame = pd.read_csv(reference_data / "data" / "sdcmicro" / "CASCrefmicrodata.csv")
    md = Microdata(frame, numeric=list(frame.columns))
    names = list(frame.columns)
    found = md.numeric_risk(metric="robust_mahalanobis")
    assert found.linked == 1 and found.rmdid1.all == 1
    assert "1 of 13 directions" in found.remarks[-1]  # PTOTVAL = POTHVAL + PEARNVAL
    noise = np.random.default_rng(5).normal(scale=0.1, size=frame.shape)
    noisy = frame.to_numpy() + noise * frame.to_numpy().std(axis=0)
    protected = changed(md, **dict(zip(names, noisy.T, strict=True)))
    found = protected.numeric_risk()
    # P(|N(0, 0.1)| <= 0.05) = 0.383
    assert found.sdid.share == pytest.approx(0.383, abs=0.02)
    assert found.linked > 0.9  # thirteen variables tell nearly everybody
    assert found.sdid.share_any > 0.95 and found.sdid.share_all < 0.01


def test_questions_that_have_no_answer_are_told():
    md = microdata(firms())
    with pytest.raises(DiskretError, match="no numeric variable"):
        Microdata(firms(), keys=["land"]).numeric_risk()
    with pytest.raises(DiskretError, match="names column 'staff' twice"):
        md.numeric_risk(["staff", "staff"])
    with pytest.raises(DiskretError, match="are not numbers"):
        md.numeric_risk(["land"])
    with pytest.raises(DiskretError, match="keys= has no effect"):
        md.numeric_risk(keys=["land"])
    new = changed(md, other=np.arange(600))
    with pytest.raises(DiskretError, match="original records do not have"):
        new.numeric_risk(blocks=["other"])

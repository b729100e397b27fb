"""Defects of other programs' figures of utility that this one does not share (reference list)."""

import pandas as pd
import pytest

import diskret as dk


@pytest.fixture(scope="module")
def money(reference_data):
    return pd.read_csv(reference_data / "data" / "sdcmicro" / "CASCrefmicrodata.csv")


def test_12_figures_do_not_depend_on_the_unit(money):
    """The peer gives 0.167 in one unit and 0.333 in another."""
    after = money.rolling(2, min_periods=1).mean()
    found = dk.utility.compare(money, after)
    thousands = dk.utility.compare(money / 1000, after / 1000)
    for name in ("lambda", "gamma", "il1s", "eigenvalues", "correlations", "means", "pmse"):
        assert thousands.figures[name] == pytest.approx(found.figures[name], rel=1e-5), name
    assert 0 < found.figures["lambda"] < 1


def test_12_whole_numbers_are_numbers_and_frames_stay_as_they_are(money):
    after = (money * 1.01).round().astype("int64")
    copies = money.copy(deep=True), after.copy(deep=True)
    figures = dk.utility.compare(money, after).figures
    assert figures["lambda"] > 0 and figures["gamma"] < 0.5
    for frame, copy in zip((money, after), copies, strict=True):
        assert type(frame) is pd.DataFrame
        pd.testing.assert_frame_equal(frame, copy)


def test_il1s_as_a_sum_grows_with_the_file_and_as_a_mean_it_does_not(money):
    """The peer calls the sum IL1s; both are here, and called what they are."""
    after = money * 1.1
    twice = pd.concat([money, money]), pd.concat([after, after])
    once, both = dk.utility.compare(money, after), dk.utility.compare(*twice)
    assert both.il1s_sum == pytest.approx(2 * once.il1s_sum, rel=1e-3)
    assert both.il1s == pytest.approx(once.il1s, rel=1e-3)
    scale = money.std(ddof=1) * 2**0.5
    assert once.il1s_sum == pytest.approx(((after - money).abs() / scale).to_numpy().sum())


def test_zeros_make_no_relative_loss_infinite(money):
    some = money.copy()
    some.iloc[:5] = 0
    found = dk.utility.compare(some, some + 1)
    assert found.values["AGI"].zeros == 5
    assert found.relative == pytest.approx((1 / money.iloc[5:]).to_numpy().mean())


def test_eigenvalues_of_a_singular_correlation_are_compared(money):
    """PTOTVAL is POTHVAL + PEARNVAL in every record."""
    figures = dk.utility.compare(money, money * 1.1).figures
    assert figures["eigenvalues"] == pytest.approx(0, abs=1e-6)
    assert figures["eigenvalues_robust"] == pytest.approx(0, abs=1e-6)
    assert figures["gamma"] == pytest.approx(0, abs=1e-5)

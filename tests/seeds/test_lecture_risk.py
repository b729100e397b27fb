"""Individual risk as the lecture prints it, and the values the R package gives for testdata."""

import pandas as pd
import pytest

from diskret import Microdata

KEYS = ["Key1", "Key2", "Key3", "Key4"]
TESTDATA = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


@pytest.fixture(scope="module")
def francdat(reference_data):
    return pd.read_csv(reference_data / "data" / "sdcmicro" / "francdat.csv")


@pytest.fixture(scope="module")
def recoded(francdat):
    """Rows 4 and 7 agree, as on the slides; the shipped file has other values in both."""
    frame = francdat.copy()
    frame.loc[[3, 6], "Key1"] = 4
    frame.loc[[3, 6], "Key2"] = 3
    return frame


@pytest.fixture(scope="module")
def suppressed(recoded):
    frame = recoded.astype({"Key4": "Int64"})
    frame.loc[4, "Key4"] = pd.NA
    return frame


def risk(frame, **options):
    return Microdata(frame, keys=KEYS, weight="w").risk(**options)


def printed(found, digits):
    return [f"{value:.{digits}f}" for value in found.records["risk"]]


def test_the_original_file(francdat):
    found = risk(francdat, compat="lecture")
    assert found.records["sample_frequency"].tolist() == [2, 2, 2, 1, 1, 1, 1, 2]
    assert found.records["population_frequency"].tolist() == [110, 84.5, 84.5, 17, 541, 8, 5, 110]
    assert printed(found, 8) == [
        *("0.01705402", "0.02195396", "0.02195396", "0.17686217"),
        *("0.01112028", "0.29690573", "0.40223299", "0.01705402"),
    ]


def test_after_recoding(recoded):
    found = risk(recoded, compat="lecture")
    assert found.records["sample_frequency"].tolist() == [2, 2, 2, 2, 1, 1, 2, 2]
    assert found.records["population_frequency"].tolist() == [110, 84.5, 84.5, 22, 541, 8, 22, 110]
    assert printed(found, 8) == [
        *("0.01705402", "0.02195396", "0.02195396", "0.07594707"),
        *("0.01112028", "0.29690573", "0.07594707", "0.01705402"),
    ]


def test_after_suppression(suppressed):
    found = risk(suppressed, compat="lecture")
    assert found.records["sample_frequency"].tolist() == [2, 2, 2, 3, 4, 2, 3, 2]
    population = [110, 84.5, 84.5, 563, 571, 549, 563, 110]
    assert found.records["population_frequency"].tolist() == population
    assert printed(found, 9) == [
        *("0.017054016", "0.021953961", "0.021953961", "0.002607482"),
        *("0.002296465", "0.003484248", "0.002607482", "0.017054016"),
    ]


def test_recoding_key1_alone_does_not_give_the_printed_frequencies(francdat):
    frame = francdat.assign(Key1=francdat["Key1"].replace(6, 4))
    assert risk(frame).records["sample_frequency"].tolist() == [2, 2, 2, 1, 1, 1, 1, 2]


def test_todays_package(francdat, recoded, suppressed):
    exact = risk(francdat, compat="sdcmicro")
    # nobody occurs more than twice: the approximation is not used
    assert exact.risk.tolist() == risk(francdat).risk.tolist()
    assert printed(exact, 8) == [
        *("0.01714426", "0.02204233", "0.02204233", "0.17707583"),
        *("0.01165448", "0.29706308", "0.40235948", "0.01714426"),
    ]
    assert printed(risk(recoded, compat="sdcmicro"), 8)[3] == "0.07602105"
    assert printed(risk(suppressed, compat="sdcmicro"), 9) == [
        *("0.017144262", "0.022042326", "0.022042326", "0.002657219"),
        *("0.002329645", "0.003581243", "0.002657219", "0.017144262"),
    ]


def test_the_approximation_overstates_what_is_exact(suppressed):
    exact, package = risk(suppressed).risk, risk(suppressed, compat="sdcmicro").risk
    assert round(exact[3], 7) == 0.0026507 and round(package[3], 7) == 0.0026572
    assert (exact <= package).all()


def test_testdata(reference_data):
    frame = pd.read_csv(reference_data / "data" / "sdcmicro" / "testdata.csv")
    md = Microdata(frame, keys=TESTDATA, weight="sampling_weight", household="ori_hid")
    found = md.risk(compat="sdcmicro")
    assert found.sample_uniques == 157
    assert (found.records["sample_frequency"] == 2).sum() == 124
    assert found.below(5) == 458
    assert round(found.expected, 4) == 10.7783
    assert found.households is not None
    assert round(found.households.expected_persons, 4) == 51.8129
    assert found.records["household_risk"].sum() == pytest.approx(51.8129, abs=5e-5)
    exact = md.risk()
    assert round(exact.expected, 4) == 10.7755
    assert exact.largest == found.largest == found.risk[found.sample_frequency == 1][0]

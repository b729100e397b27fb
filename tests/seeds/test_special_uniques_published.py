"""Special uniques: values that others published or computed."""

import pyarrow as pa
import pytest
from pyarrow import csv

from diskret import Microdata

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


@pytest.fixture(scope="module")
def testdata(reference_data):
    return csv.read_csv(reference_data / "data" / "sdcmicro" / "testdata.csv")


def test_testdata_has_157_special_uniques_with_at_most_720(testdata):
    found = Microdata(testdata, keys=KEYS).suda()
    score = found.records["score"].to_numpy()
    assert found.special == 157 and (score > 0).sum() == 157
    assert score.max() == 720
    # 157 records are alone, 124 have one double
    assert found.dis == pytest.approx(157 * 0.01 / (157 * 0.01 + 124 * 0.99))


def test_ten_persons_of_the_practice_guide():
    """IHSN, SDC Practice Guide, "Measuring risk": table of SUDA and DIS-SUDA scores.

    Its SUDA scores are the original ones for sets of up to 3 of 4 keys, its DIS-SUDA scores those
    that follow from the other scores.
    """
    md = Microdata(
        pa.table(
            {
                "residence": ["Urban"] * 4 + ["Rural"] + ["Urban"] * 5,
                "gender": list("FFFMFMFMFF"),
                "education": ["si", "si", "pi", "sc", "sc", "sc", "pc", "ps", "si", "si"],
                "labour": ["e", "e", "n", "e", "u", "e", "n", "u", "n", "n"],
            }
        ),
        keys=["residence", "gender", "education", "labour"],
    )
    original = md.suda(max_size=3)
    assert original.records["score"].to_pylist() == [0, 0, 6, 0, 12, 0, 6, 10, 0, 0]
    assert original.msus(4) == (
        ("residence",),
        ("gender", "education"),
        ("gender", "labour"),
        ("education", "labour"),
    )
    share = md.suda(scores="share").records["dis_score"].to_numpy().round(4)
    assert share.tolist() == [0, 0, 0.0051, 0, 0.0107, 0, 0.0051, 0.0088, 0, 0]

"""Defects of a widely used program that recoding does not share; numbers as in its list."""

import pandas as pd
import pyarrow as pa

from diskret import Hierarchy, Microdata

FRAME = {"job": ["cook", "baker", "judge", "cook", "-999"], "age": [31, -999, 38, 84, 20]}


def test_4_text_is_recoded_as_text_and_never_becomes_missing():
    md = Microdata(pa.table(FRAME), keys=["job", "age"])
    made = md.recode("job", groups={"food": ["cook", "baker"]})
    assert made.frame["job"].to_pylist() == ["food", "food", "judge", "food", "-999"]


def test_9_no_number_stands_for_missing():
    md = Microdata(pa.table(FRAME), keys=["job", "age"])
    made = md.recode("age", breaks=[-1000, 0, 50, 100])
    assert made.frame["age"].to_pylist() == ["0-49", "-1000 to -1", "0-49", "50-99", "0-49"]


def test_12_the_callers_frame_is_left_alone():
    frame = pd.DataFrame(FRAME)
    before, types = frame.copy(), frame.dtypes.copy()
    md = Microdata(frame, keys=["job", "age"])
    made = md.recode("age", width=10).recode("job", groups={"food": ["cook", "baker"]})
    made = made.generalise({"job": Hierarchy.flat(["food", "judge", "-999"])}, k=1).drop("age")
    assert list(made.frame.columns) == ["job"]
    assert frame.equals(before) and frame.dtypes.equals(types)
    assert md.frame.equals(before) and made.original.frame.equals(before)


def test_13_row_order_does_not_matter():
    frame = pd.DataFrame({"age": range(20, 60), "sex": list("fmmf") * 10})
    levels = {"age": [5, 10], "sex": Hierarchy.flat(["f", "m"])}

    def generalised(rows):
        made = Microdata(rows, keys=["age", "sex"]).generalise(levels, k=3, suppression=0.1)
        return made.frame.sort_index(), made.history

    first, second = generalised(frame), generalised(frame.sample(frac=1, random_state=1))
    assert first[0].equals(second[0]) and first[1] == second[1]

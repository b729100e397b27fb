"""Codes that mean missing are nobody's values where Spark reads the records, too."""

import numpy as np
import pandas as pd
import pyreadstat
import pytest
from engines.spark_server import ONE_SPARK, in_spark

import diskret as dk
from diskret.errors import DiskretError

CODE, ROWS, N = -7, [3, 7, 20, 41], 60


def records():
    draw = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "region": np.tile([1, 2, 3], N // 3),
            "income": draw.integers(10, 900, N),
            "person": np.repeat(np.arange(N // 2), 2),
            "group": np.tile(np.arange(6), N // 6),
            "asked": np.tile([0, 1, 0], N // 3),
            "agrees": np.tile([0, 0, 0, 0, 0, 1], N // 6),
        }
    ).astype(float)


def files(folder, name):
    """Records with nothing, a code, and a letter of Stata in some rows of a column."""
    gap, coded, tagged = records(), records(), records().astype(object)
    gap.loc[ROWS, name], coded.loc[ROWS, name], tagged.loc[ROWS, name] = np.nan, CODE, "c"
    paths = [folder / "gap.sav", folder / "code.sav", folder / "tag.dta"]
    pyreadstat.write_sav(gap, str(paths[0]))
    pyreadstat.write_sav(coded, str(paths[1]), missing_ranges={name: [CODE]})
    pyreadstat.write_dta(tagged, str(paths[2]), missing_user_values={name: ["c"]})
    return paths


def told(path, engine, **asked):
    """All that a table tells of its cells; or what is refused, without the name of the file."""
    try:
        table = dk.tabulate(path, by={"region": None}, value="income", engine=engine, **asked)
    except DiskretError as error:
        return str(error).replace(str(path), "FILE")
    parts = [table.count, table.units, table.holdings, table.measure.sum, table.measure.largest]
    parts += [mark for _, mark in sorted(table.marked.items())]
    parts += [mark for _, mark in sorted(table.measure.marked.items())]
    return [None if part is None else part.tolist() for part in parts]


@ONE_SPARK
@pytest.mark.parametrize(
    ("name", "asked"),
    [
        ("person", {"unit": "person"}),
        ("group", {"unit": "person", "holding": "group"}),
        ("asked", {"unit": "person", "request": "asked"}),
        ("asked", {"request": {"asked": ["1"]}}),
        ("agrees", {"waiver": "agrees"}),
        ("income", {}),
        ("income", {"where": {"income": {"max": 500}}}),
    ],
)
def test_spark_and_duckdb_take_such_codes_for_nothing(tmp_path, name, asked):
    answers = {}
    for path in files(tmp_path, name):
        answers[path.name] = told(path, None, **asked)
        assert told(path, in_spark, **asked) == answers[path.name]
    assert len({str(answer) for answer in answers.values()}) == 1

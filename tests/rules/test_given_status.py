"""A file of cells that says itself which are unsafe, by how much, and what hiding them costs."""

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError, JobError
from diskret.jobs.run import run_job
from diskret.keys import SecretKeys
from diskret.rules import Apriori

KEYS = SecretKeys(bytes(range(32)))
WHO = {"who": "A. Meyer", "date": "2025-12-31"}


def table(secret, **more):
    cells = {"region": ["N", "S", "W"], "v": [70, 20, 10], "secret": secret, **more}
    frame = pa.table(cells)
    return frame, dk.Table.from_cells(frame, by={"region": None}, value="v")


@pytest.mark.parametrize(
    ("secret", "unsafe"),
    [
        ([False, True, None], [0, 0, 1, 0]),
        ([0, 1, 0], [0, 0, 1, 0]),
        (["FALSE", "TRUE", ""], [0, 0, 1, 0]),
        (["V", "A", "D"], [0, 0, 1, 0]),
        (["B", "C", "F"], [0, 1, 1, 1]),
        (["S", "U", "M"], [0, 0, 1, 0]),
        (["safe", "unsafe", "frozen"], [0, 0, 1, 0]),
    ],
)
def test_a_status_column_is_read_in_the_words_of_many(secret, unsafe):
    frame, cells = table(secret)
    found = Apriori.of_cells(frame, ["region"], status="secret", **WHO)(cells)
    assert found.unsafe.astype(int).tolist() == unsafe


def test_safe_and_frozen_are_kept_and_levels_are_the_files():
    frame, cells = table(["S", "U", "P"], low=[5, 6, 7], up=[1, 2.2, 3])
    rule = Apriori.of_cells(frame, ["region"], status="secret", lower="low", upper="up", **WHO)
    found = rule(cells)
    assert found.safe.tolist() == [False, True, False, False]
    assert found.frozen.tolist() == [False, False, False, True]
    assert (found.lower.tolist(), found.upper.tolist()) == ([0, 0, 6, 0], [0, 0, 3, 0])


def test_costs_need_no_status():
    frame, cells = table([None] * 3, price=[1, None, 3])
    found = Apriori.of_cells(frame, ["region"], cost="price")(cells)
    assert not found.unsafe.any()
    np.testing.assert_equal(found.cost, [np.nan, 1, np.nan, 3])


def test_what_is_wrong_is_told_with_row_and_column(tmp_path):
    path = tmp_path / "cells.csv"
    path.write_text("region,v,secret\nN,70,V\nS,20,Q\n")
    with pytest.raises(InputError, match=r"cells.csv, row 2, column 'secret': 'Q' is no status"):
        Apriori.of_cells(path, ["region"], status="secret", **WHO)
    frame, _ = table(["U", "V", "V"])
    with pytest.raises(InputError, match="row 1, column 'who': missing"):
        Apriori.of_cells(frame, ["region"], status="secret")
    with pytest.raises(InputError, match="of_cells needs status="):
        Apriori.of_cells(frame, ["region"])


CELLS = "region;nace;v;secret;lpl;price\n" + "\n".join(
    ["N;A;1.200,5;FALSE;;1", "N;B;300;TRUE;30;2", "S;A;500;FALSE;;3", "S;B;700;FALSE;;400"]
    + ["W;A;900;FALSE;;5", "W;B;800;FALSE;;6"]
)
JOB = """
[[tables]]
by = { region = "flat", nace = "flat" }
value = "v"
decimals = 1
[tables.cells]
file = "cells.csv"
decimal = ","
thousands = "."
status = "secret"
lower = "lpl"
upper = "lpl"
cost = "price"
who = "A. Meyer"
date = "2025-12-31"
"""


def test_a_job_without_rules_protects_what_is_given_and_is_verified(tmp_path):
    """By hand: N/A has to go with N/B; beside them W costs 11, S 403."""
    (tmp_path / "cells.csv").write_text(CELLS)
    (tmp_path / "job.toml").write_text(JOB)
    folder, [result] = run_job(tmp_path / "job.toml", keys=KEYS)
    hidden = [
        (row["region"], row["nace"])
        for row in result.public.to_pylist()
        if row["status"] == "suppressed"
    ]
    assert hidden == [("N", "A"), ("N", "B"), ("W", "A"), ("W", "B")]
    assert dk.verify(folder, keys=KEYS).checked_internal
    public = b"".join(path.read_bytes() for path in (folder / "public").iterdir())
    assert b"Meyer" not in public and b"lpl" not in public


def test_a_job_says_who_answers(tmp_path):
    (tmp_path / "cells.csv").write_text(CELLS)
    (tmp_path / "job.toml").write_text(JOB.replace('who = "A. Meyer"\n', ""))
    with pytest.raises(JobError, match="line 10: 'status' needs 'who'"):
        run_job(tmp_path / "job.toml", keys=KEYS)

"""Jobs whose tables belong together: from the file to verified releases."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import diskret as dk
from diskret.errors import JobError
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job
from diskret.protect.result import Result
from diskret.publish.verify.folder import verify

KEYS = dk.SecretKeys(bytes(range(32)))
JOB = """
sums = ["turnover = domestic + export"]
[records]
path = "firms.parquet"
[[tables]]
by = { nace = "flat", size = "flat" }
value = "turnover"
unit = "firm_id"
rounding = 1000
recode = { size = { "10+" = ["10-49", "50+"] } }
rules = { p_percent = { p = 10 } }
[[tables]]
name = "turnover by region"
by = { nace = "flat", region = "flat" }
value = "turnover"
unit = "firm_id"
rounding = 1000
rules = { p_percent = { p = 10 } }
[[tables]]
by = { nace = "flat" }
value = "domestic"
unit = "firm_id"
rounding = 1000
rules = { p_percent = { p = 10 } }
[[tables]]
by = { nace = "flat" }
value = "export"
unit = "firm_id"
rounding = 1000
rules = { p_percent = { p = 10 } }
[[tables]]
name = "small firms"
by = { region = "flat" }
where = { size = ["1-9"] }
rules = { minimum_frequency = { n = 3 } }
[output]
formats = ["csv", "xlsx"]
intervals = true
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("job")
    firms = dk.datasets.business_register(1_500, seed=4).records
    sections = pc.utf8_slice_codeunits(firms["nace"], 0, 1)
    firms = firms.set_column(firms.column_names.index("nace"), "nace", sections)
    value = firms["turnover"].to_numpy()
    domestic = (value * np.random.default_rng(1).random(len(value))).astype(np.int64)
    firms = firms.append_column("domestic", pa.array(domestic))
    pq.write_table(
        firms.append_column("export", pa.array(value - domestic)), place / "firms.parquet"
    )
    return place


def job_file(folder, text):
    path = folder / "job.toml"
    path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.long
def test_tables_of_a_job_are_protected_and_verified_together(folder):
    written, results = run_job(read_job(job_file(folder, JOB)), keys=KEYS)
    names = ["turnover", "turnover by region", "domestic", "export", "small firms"]
    proven = [result for result in results if isinstance(result, Result)]
    assert [result.name for result in proven] == names
    tied = [table.name for table in proven[0].certificate.proof.publication.tables]
    assert tied == names[:4]
    assert proven[4].certificate.proof.publication.tables[0].name == "small firms"
    by_size, by_region = results[0].published, results[1].published
    assert by_size.dimensions[1].hierarchy.codes == ("Total", "1-9", "10+")
    assert by_size.rounding == 1000
    np.testing.assert_array_equal(by_size.suppressed[:, 0], by_region.suppressed[:, 0])
    report = verify(written, keys=KEYS)
    assert report.checked_internal and report.suppressed > 0
    assert dk.Published.read(written, "turnover").lower is not None


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        ("domestic + export", "domestik + export", "line 2: .*did you mean 'domestic'"),
        ('"turnover = domestic + export"', '"turnover"', "line 2: .*no sum of measures"),
        ("rounding = 1000", "rounding = 0", "'rounding'"),
        ("intervals = true", 'intervals = "yes"', "'intervals'"),
        ("recode = { size", "recode = { sise", "'sise'.*did you mean 'size'"),
        ('name = "small firms"', 'name = "small firms"\nmethod = "sequential"', "line 2: .*same"),
    ],
)
def test_what_ties_tables_is_checked_line_by_line(folder, right, wrong, message):
    with pytest.raises(JobError, match=message):
        read_job(job_file(folder, JOB.replace(right, wrong, 1)))


def test_tables_of_one_measure_are_searched_for_alike(folder):
    text = JOB.replace('sums = ["turnover = domestic + export"]', "")
    text = text.replace('name = "turnover by region"', 'name = "x"\ntime_limit = 5')
    with pytest.raises(JobError, match="tables of 'turnover' are protected together.*line 5"):
        read_job(job_file(folder, text))

"""The job files among the examples are understood."""

import shutil
from pathlib import Path

from diskret.io import Column
from diskret.jobs.read import read_job
from diskret.jobs.values import Records
from diskret.rules import PPercent

EXAMPLES = Path(__file__).parents[2] / "examples"


def test_simple2d_beside_the_sample(reference_data: Path, tmp_path: Path):
    sample = reference_data / "data" / "tauargus" / "checkTauArgus" / "simple2d"
    for file in (sample / "tau_testW.asc", sample / "region2.hrc", EXAMPLES / "simple2d.toml"):
        shutil.copy(file, tmp_path)
    job = read_job(tmp_path / "simple2d.toml")
    assert isinstance(job.records, Records)
    assert job.records.file.columns[0] == Column("Size", 9, 2)
    assert job.tables[0].rule == PPercent(15)
    records = job.records.open().arrow
    assert records is not None
    assert records.num_rows == 42_723
    region = job.tables[0].by["Region"]
    assert region is not None
    tree = region.read()
    assert [tree.codes[i] for i in tree.children[0]] == ["Nr", "Os", "Ws", "Zd"]

"""Damaged jobs: whatever is in them, diskret says what is wrong, and writes all or nothing."""

import tempfile
from pathlib import Path

from argus_jobs import BATCH, METADATA, RECORDS, TREE, files_of, written
from hypothesis import given
from hypothesis import strategies as st

from diskret import argus
from diskret.errors import DiskretError

TOKENS = st.sampled_from(
    [
        "<", ">", "|", '"', ",", "(", ")", "0", "-1", "1e9", "99999999999", "\t", "\r", "\n", "//",
        "@", "@@", "<CLEAR>\n", "<GOINTERACTIVE>\n", "<RECODE> 1,Size,1\n", "<freq>", "Region",
        "Turnover", "P(10,1)|", "FREQ(3,5)|", "WGT(1)|", "MIS(1)", "<HOLDING>\n", "<WEIGHT>\n",
        "<NUMERIC>\n", "<DECIMALS> 3\n", "<HIERLEVELS> 1 1\n", '<SEPARATOR> ","\n', "\x00", "ä",
        " ", "<TOTCODE> 1\n", "é", "<READTABLE> 1T\n", "<SUPPRESS> GH(0,1)\n",
        "<SUPPRESS> CKM(1) firms.asc||1\n",
        "|-3", " // ", "<RECORDKEY>\n", "<PFILE> region.hrc\n", "<CKM> T(2)\n", "<DISTANCE> 1 2\n",
        "<SCALING> F(1,2,3,4,5)\n", '<WRITETABLE> (1,5,AR+HI+,"o.tab")\n',
        '<WRITETABLE> (1,6,TR+,"o.jj")\n', '<WRITETABLE> (1,7,AC+,"o.txt")\n', "RND(1,500)",
        "", "", "",
    ]
)  # fmt: skip
FILES = {"job.arb": BATCH, "firms.rda": METADATA, "region.hrc": TREE, "firms.asc": RECORDS}


@st.composite
def damaged(draw):
    """The files of a job with some lines or parts of one dropped, doubled or exchanged."""
    files = dict(FILES)
    for _ in range(draw(st.integers(1, 3))):
        name = draw(st.sampled_from(["job.arb", "job.arb", "firms.rda", "region.hrc", "firms.asc"]))
        text = files[name]
        if draw(st.booleans()):
            lines = text.split("\n")
            at = draw(st.integers(0, len(lines) - 1))
            lines[at : at + 1] = [lines[at]] * draw(st.sampled_from([0, 2]))
            files[name] = "\n".join(lines)
        else:
            at = draw(st.integers(0, len(text)))
            upto = at + draw(st.integers(0, 3))
            files[name] = text[:at] + draw(TOKENS) + text[upto:]
    if draw(st.integers(0, 9)) == 0:
        name = draw(st.sampled_from(sorted(files)))
        files[name] = files[name].encode("utf-16" if draw(st.booleans()) else "latin-1", "replace")
    return files


@given(damaged())
def test_a_damaged_job_is_refused_in_words_or_done(files):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        job = written(folder, **files)
        before = {file: (folder / file).read_bytes() for file in files_of(folder)}
        try:
            done = argus.run(job)
        except DiskretError as error:
            assert str(error)
            assert before == {file: (folder / file).read_bytes() for file in files_of(folder)}
        else:
            assert {path.name for path in done.written} | {*before} == {*files_of(folder)}
            assert all((folder / file).read_bytes() == raw for file, raw in before.items())

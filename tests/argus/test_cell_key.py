"""The cell key method in jobs: record keys of the file, tables of noise as τ-ARGUS reads them."""

import shutil

import numpy as np
import pyarrow as pa
import pytest
from argus_jobs import files_of, written

import diskret as dk
from diskret import argus
from diskret.errors import DiskretError, ProofError

#: The example of the handbook: keys 0.9, 0.3 and 0.6, so 0.8, and three become four.
RECORDS = (
    "N;f;0,9;2400\nN;f;0,3;1800\nN;f;0,6;3100\nN;m;0,25;2900\nN;m;0,4;0\n"
    "S;f;0,75;2200\nS;m;0,5;3300\n"
)
METADATA = (
    '<SEPARATOR> ";"\nRegion 1\n<RECODEABLE>\nSex 1\n<RECODEABLE>\nKey 4\n<RECORDKEY>\n'
    "<DECIMALS> 2\n<PFILE_FREQ> counts.txt\n<PFILE_CONT> sums.txt\n<PFILE_SEP> small.txt\n"
    "Income 4\n<NUMERIC>\n<CKM> T(2)\n<INCLUDEZEROS> Y\n<SEPARATION> N\n<PARITY> N\n"
    "<SCALING> F(0.03,0.30,1000,3,0.5)\n"
)
COUNTS = "i;j;p;v;p_int_ub\n0;0;1;0;1\n" + "".join(
    f"{i};{i + v};0;{v};{ub}\n" for i in (1, 2, 3) for v, ub in ((-1, 0.3), (0, 0.7), (1, 1))
)
BATCH = (
    '<OPENMICRODATA> "persons.csv"\n<OPENMETADATA> "persons.rda"\n'
    '<SPECIFYTABLE> "Region""Sex"|"<freq>"\n<SAFETYRULE> FREQ(3,30)\n'
    '<SPECIFYTABLE> "Region""Sex"|"Income"\n<SAFETYRULE>\n<READMICRODATA>\n'
)


@pytest.fixture
def run(tmp_path):
    noise = dk.PerturbationTable.for_magnitudes(max_noise=2, variance=1)
    for name in ("sums.txt", "small.txt"):
        noise.lookup(100).write(tmp_path / name)

    def done(steps, metadata=METADATA, batch=BATCH, **files):
        standard = {"persons.csv": RECORDS, "persons.rda": metadata, "counts.txt": COUNTS}
        return argus.run(written(tmp_path, **{"job.arb": batch + steps, **standard, **files}))

    return done


def rows(path):
    return path.read_text(encoding="utf-8").splitlines()


def test_the_example_of_the_handbook(run, tmp_path):
    done = run(
        "<SUPPRESS> CKM(1)\n"
        '<WRITETABLE> (1,7,AO+AD+AC+FL+,"inside.txt")\n<WRITETABLE> (1,7,QU-,"public.txt")\n'
    )
    inside = rows(tmp_path / "inside.txt")
    assert inside[0] == '"Region","Sex","<freq>","Original","Difference","CellKey"'
    assert '"N","f",4,3,1,0.80' in inside
    # one man with 0.25 and one with 0.40: 0.65, nothing is added; 0.75: one is added; 0.5: nothing
    assert {"N,m,2", "S,f,2", "S,m,1", "N,f,4"} < {*rows(tmp_path / "public.txt")}
    assert done.written == {tmp_path / "inside.txt": True, tmp_path / "public.txt": False}
    assert isinstance(done.tables[0].result, dk.PerturbedResult)


def test_a_table_that_the_job_names_comes_before_that_of_the_metadata(run, tmp_path):
    other = COUNTS.replace(";0.3\n", ";0.9\n").replace(";0.7\n", ";0.9\n")
    run('<SUPPRESS> CKM(1) "Other.TXT"\n<WRITETABLE> (1,3,QU-,"o.txt")\n', **{"other.txt": other})
    assert {"N,f,2", "N,m,1", "S,f,0", "S,m,0"} < {*rows(tmp_path / "o.txt")}


def test_a_zero_that_was_made_looks_like_a_true_one(run, tmp_path):
    other = COUNTS.replace(";0.3\n", ";0.9\n").replace(";0.7\n", ";0.9\n")
    run(
        '<SUPPRESS> CKM(1)\n<WRITETABLE> (1,3,SE+QU-,"o.txt")\n<WRITETABLE> (1,7,SE+QU-,"p.txt")\n',
        **{"counts.txt": other, "persons.csv": RECORDS.replace("S;f;0,75;2200\n", "")},
    )
    for name in ("o.txt", "p.txt"):
        assert {"S,f,0", "S,m,0"} < {*rows(tmp_path / name)}


@pytest.mark.parametrize("zeros", [True, False])
def test_sums_are_changed_as_by_hand(run, zeros):
    metadata = METADATA if zeros else METADATA.replace("ZEROS> Y", "ZEROS> N")
    (_, found) = run("<SUPPRESS> CKM(2)\n", metadata).tables
    lines = [line.replace(",", ".").split(";") for line in RECORDS.splitlines()]
    frame = pa.table(
        dict(zip(("Region", "Sex", "Key", "Income"), zip(*lines, strict=True), strict=True))
    )
    frame = frame.set_column(3, "Income", frame["Income"].cast(pa.int64()))
    if not zeros:
        frame = frame.filter(pa.array(frame["Income"].to_numpy() != 0))
    table = dk.tabulate(
        frame, by={"Region": None, "Sex": None}, value="Income", record_key="Key", key_digits=2
    )
    noise = dk.MagnitudeNoise(
        dk.PerturbationTable.for_magnitudes(max_noise=2, variance=1).lookup(100),
        scale=(0.3, 0.03), flex_point=1000, flex_power=3, shares=(1, 0.5),
    )  # fmt: skip
    by_hand = dk.perturb(table["Income"], noise)
    assert np.array_equal(found.result.published.value, by_hand.published.value)
    assert not np.array_equal(found.result.published.value, found.table.measure.sum)


@pytest.mark.parametrize("zeros", [True, False])
def test_a_sum_beside_a_count_that_became_zero_is_zero(run, tmp_path, zeros):
    other = COUNTS.replace(";0.3\n", ";0.9\n").replace(";0.7\n", ";0.9\n")
    metadata = METADATA if zeros else METADATA.replace("ZEROS> Y", "ZEROS> N")
    steps = "<SUPPRESS> CKM({})\n<SUPPRESS> CKM({})\n"
    for order in ((1, 2), (2, 1)):
        counts, sums = run(steps.format(*order), metadata, **{"counts.txt": other}).tables
        gone = (counts.result.published.value == 0) & (counts.table.measure.sum > 0)
        assert gone.any() and (sums.result.published.value[gone] == 0).all()
    alone = run("<SUPPRESS> CKM(2)\n", metadata, **{"counts.txt": other}).tables[1]
    assert (alone.result.published.value[gone] != 0).any()


def test_sensitive_sums_are_changed_as_much_as_the_rule_asks(run):
    batch = BATCH.replace("<SAFETYRULE>\n", "<SAFETYRULE> P(10,1)\n")
    (_, found) = run('<SUPPRESS> CKM(2) "sums.txt"|"small.txt"|0\n', batch=batch).tables
    at = found.table.dimensions[0].hierarchy.position["S"], 1
    assert found.sensitivity.unsafe[at]
    off = abs(int(found.result.published.value[at]) - int(found.table.measure.sum[at]))
    assert off >= found.sensitivity.upper[at] > 0
    # a constant is not enough, and then nothing is written
    with pytest.raises(ProofError, match="line 8, <SUPPRESS>"):
        run('<SUPPRESS> CKM(2) "sums.txt"|"small.txt"|0.01\n', batch=batch)


@pytest.mark.parametrize(
    ("more", "of"),
    [
        ("<CKM> M\n<SCALING> N(0.1)\n", "mean"),
        ("<CKM> V\n<SCALING> N(0.1)\n", "sum"),
        ("<CKM> T(1)\n<SEPARATION> Y\n<SCALING> F(0.2,0.1,500,2)\n", "largest"),
    ],
)
def test_other_ways_to_scale(run, more, of):
    metadata = METADATA.split("<CKM>")[0] + more
    (_, found) = run("<SUPPRESS> CKM(2)\n", metadata).tables
    assert found.result.settings["of"] == of
    assert ("small_cells" in found.result.settings) == ("SEPARATION" in more)


def test_tables_of_even_and_odd_cells(run, tmp_path):
    one, other = (
        dk.PerturbationTable.from_matrix([row], noise=noise)
        for row, noise in (([0.5, 0.5], [-1, 1]), ([1.0], [0]))
    )
    one.lookup(100).write(tmp_path / "even.txt", kind="even")
    other.lookup(100).write(tmp_path / "odd.txt", kind="odd")
    both = (tmp_path / "even.txt").read_text() + "".join(
        f"{line}\n" for line in rows(tmp_path / "odd.txt")[1:]
    )
    metadata = METADATA.replace("PARITY> N", "PARITY> Y")
    (_, found) = run("<SUPPRESS> CKM(2)\n", metadata, **{"sums.txt": both}).tables
    count, noise = found.result.table.count, found.result.noise
    assert (noise[count % 2 == 1] == 0).all() and noise[(count == 2)].any()


def test_recoded_and_protected_otherwise_too(run, tmp_path):
    done = run(
        '<RECODE> 1,Region,"g.grc"\n<SUPPRESS> OPT(1)\n<WRITETABLE> (1,3,,"opt.txt")\n'
        '<SUPPRESS> CKM(1)\n<WRITETABLE> (1,3,AS+FL+,"ckm.txt")\n',
        **{"g.grc": "X: N\nY: S\n"},
    )
    assert done.written[tmp_path / "opt.txt"]  # what it hides the other one shows
    assert rows(tmp_path / "ckm.txt")[0] == '"Region","Sex","Original","<freq>"'
    assert '"X","f",3,4' in rows(tmp_path / "ckm.txt")


CELLS = (
    '<OPENTABLEDATA> "c"\n<OPENMETADATA> "c.rda"\n<SPECIFYTABLE> "R"|"V"\n<READTABLE>\n'
    "<SUPPRESS> CKM(1)\n"
)


@pytest.mark.parametrize(
    ("steps", "metadata", "said"),
    [
        ("CKM(1)", METADATA.replace("<RECORDKEY>\n", ""), "needs one variable that is marked"),
        ("CKM(1)", METADATA.replace("<DECIMALS> 2\n", ""), "with <DECIMALS>, the number of digits"),
        ("CKM(1)", METADATA.replace("<DECIMALS> 2", "<DECIMALS> 1"), "no decimals of at least 0"),
        ("CKM(1)", METADATA.replace("<PFILE_FREQ> counts.txt\n", ""), "or in <PFILE> of 'Key'"),
        ("CKM(2)", METADATA.replace("<PFILE_CONT> sums.txt\n", ""), "or in <PFILE_CONT> of 'Key'"),
        ("CKM(1)", METADATA.replace("counts.txt", "no.txt"), "there is no file 'no.txt'"),
        ("CKM(1)", METADATA.replace("counts.txt", "persons.csv"), "must name the columns i, v and"),
        ("CKM(2)", METADATA.replace("T(2)", "D"), "noise by the range of the contributions"),
        ("CKM(2)", METADATA.replace("T(2)", "N"), "does not say how sums of 'Income' are changed"),
        ("CKM(2)", METADATA.replace("T(2)", "T(3)"), "3 largest contributions; it has 5 num"),
        ("CKM(2)", METADATA.replace("3,0.5", "2.5,0.5"), "the power of <SCALING> is a whole"),
        (
            "CKM(2)",
            METADATA.replace("F(0.03", "N(0.03"),
            "needs <SCALING> N(share, …) with a share",
        ),
        ("CKM(2)", METADATA.replace("T(2)", "T(9)"), "<CKM>: 'T(9)' is no way to change sums"),
        ("CKM(2)", METADATA.replace("F(0.03", "G(0.03"), "<SCALING>: 'G(0.03"),
        ("CKM(2)", METADATA.replace("PARITY> N", "PARITY> X"), "<PARITY>: 'X' is neither Y nor N"),
        ("CKM(2)", METADATA.replace("<CKM> T(2)\n", ""), "stands before <CKM>"),
        (
            "CKM(2)",
            METADATA.replace("SEPARATION> N", "SEPARATION> Y").replace("<PFILE_SEP> small.txt", ""),
            "table of its own for small cells (<SEPARATION> Y) and none is named",
        ),
    ],
)
def test_what_cannot_be_changed_is_refused(run, tmp_path, steps, metadata, said):
    with pytest.raises(DiskretError) as error:
        run(f'<SUPPRESS> {steps}\n<WRITETABLE> (1,3,AS+,"o.txt")\n', metadata)
    assert said in str(error.value)
    assert "o.txt" not in files_of(tmp_path)


def test_cells_and_weights_have_no_keys(run):
    files = {
        "c": "Total,20\na,12\nb,8\n",
        "c.rda": '<SEPARATOR> ","\nR\n<RECODEABLE>\nV\n<NUMERIC>\n',
    }
    with pytest.raises(DiskretError, match="a file of cells has no record keys"):
        run("", batch=CELLS, **files)
    with pytest.raises(DiskretError, match="without their weights here"):
        run("<SUPPRESS> CKM(2)\n", batch=BATCH.replace("<SAFETYRULE>\n", "<SAFETYRULE> WGT(1)\n"))


def test_a_job_file_is_refused(run, tmp_path):
    run("<SUPPRESS> CKM(1)\n")
    with pytest.raises(DiskretError, match="is asked for in another way in a job"):
        argus.to_job(tmp_path / "job.arb", tmp_path / "mine.toml")


def test_the_samples_of_tau_argus(reference_data, tmp_path):
    for path in (reference_data / "data/tauargus/tauargus/cellkey/Magnitude").iterdir():
        shutil.copy(path, tmp_path / path.name)
    job = tmp_path / "job.arb"
    job.write_text(
        '<OPENMICRODATA> "microdata.csv"\n<OPENMETADATA> "microdata.rda"\n'
        '<SPECIFYTABLE> "Sex""Age"|"<freq>"||\n<SAFETYRULE> FREQ(3,30)|\n'
        '<SPECIFYTABLE> "Sex""Age"|"Savings"||\n<SAFETYRULE> P(10,1)|\n<READMICRODATA>\n'
        "<SUPPRESS> CKM(1)\n<SUPPRESS> CKM(2)\n"
        '<WRITETABLE> (1,7,AO+AC+,"f.txt")\n<WRITETABLE> (2,7,AD+,"s.txt")\n',
        encoding="utf-8",
    )
    counts, sums = argus.run(job).tables
    assert isinstance(counts.result, dk.PerturbedResult)
    assert isinstance(sums.result, dk.PerturbedResult)
    assert counts.table.measure.sum[0, 0] == 4580
    # by hand: the first interval of its row with a bound above the key
    noise = counts.result.noise
    lines = (tmp_path / "ptab_freq.txt").read_text().splitlines()[1:]
    table = [[float(field) for field in line.split(";")] for line in lines]
    last = max(row[0] for row in table)
    for line, n in zip(rows(tmp_path / "f.txt"), noise.ravel().tolist(), strict=True):
        *_, original, key = line.split(",")
        own = [row for row in table if row[0] == min(int(original), last)]
        assert next(row[3] for row in own if row[4] > float(key)) == n
    assert abs(sums.result.noise).max() < 2000 and sums.result.noise.any()

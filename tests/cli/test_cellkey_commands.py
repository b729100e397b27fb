"""``diskret cellkey``, and jobs that have values changed."""

import re
import stat

import numpy as np
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import diskret as dk
from diskret.cli.main import app

DESIGN = ("cellkey", "design", "--max-noise", "5", "--variance", "3")


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "keys"))
    persons = pa.table(
        {
            "person": [f"p{i:03d}" for i in range(120)],
            "region": ["N"] * 70 + ["S"] * 50,
            "age": (["young"] * 30 + ["old"] * 10) * 3,
            "income": [100 + 7 * i for i in range(120)],
        }
    )
    pa_csv.write_csv(persons, tmp_path / "persons.csv")
    return tmp_path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, list(arguments), env={"COLUMNS": "200"})
    assert result.exit_code == code, result.output
    return re.sub(r"[\s│┃]+", " ", result.output)


def test_a_table_is_designed_and_read_back(home):
    said = run(*DESIGN, "--small-counts", "2", "--out", "ptable.csv")
    assert "1 0 3 2 5 0 5" in said  # count, mean, variance, bounds, stays, largest noise
    assert stat.S_IMODE((home / "ptable.csv").stat().st_mode) == 0o600
    table = dk.PerturbationTable.read(home / "ptable.csv")
    assert round(table.probability(1, -1), 5) == 0.73447


def test_an_impossible_design_leaves_no_file(home):
    said = run(*DESIGN, "--exact", "--out", "ptable.csv", code=1)
    assert "2.727" in said
    assert not (home / "ptable.csv").exists()


def test_nothing_is_overwritten(home):
    run(*DESIGN, "--out", "ptable.csv")
    before = (home / "ptable.csv").read_bytes()
    assert "exists already" in run(*DESIGN, "--out", "ptable.csv", code=1)
    assert (home / "ptable.csv").read_bytes() == before


def test_a_good_table_passes_and_a_poor_one_ends_with_3(home):
    run(*DESIGN, "--small-counts", "2", "--out", "good.csv")
    assert "Vertraulich" in run("cellkey", "assess", "good.csv", "--language", "de")
    poor = dk.PerturbationTable.from_matrix([[0.25, 0.5, 0.25]], noise=[-1, 0, 1])
    poor.write(home / "poor.csv")
    said = run("cellkey", "assess", "poor.csv", code=3)
    assert "(1, 1 | 2) → (1, 1 | 1)" in said


def test_keys_are_derived_and_kept_private(home):
    run("cellkey", "keys", "persons.csv", "--id", "person", "--out", "keyed.parquet")
    keyed = pq.read_table(home / "keyed.parquet")
    assert keyed.column_names == ["person", "region", "age", "income", "record_key"]
    assert len(set(keyed["record_key"].to_pylist())) == 120
    assert stat.S_IMODE((home / "keyed.parquet").stat().st_mode) == 0o600
    run("cellkey", "keys", "persons.csv", "--id", "person", "--out", "again.parquet")
    assert pq.read_table(home / "again.parquet").equals(keyed)


# ── jobs ────────────────────────────────────────────────────────────────────────────

HEAD = """\
[records]
path = "persons.csv"
[[tables]]
name = "{name}"
by = {{ region = "flat", age = "flat" }}
{more}
[tables.noise]
{noise}
[output]
folder = "out"
formats = ["csv", "xlsx", "html"]
"""


def protect(home, noise, name="persons", more="", code=0):
    text = HEAD.format(name=name, noise=noise, more=more)
    (home / "job.toml").write_text(text, encoding="utf-8")
    return run("protect", "job.toml", code=code)


CELL_KEY = 'method = "cell_key"\nkey_of = "person"\nmax_noise = 5\nvariance = 3\nsmall_counts = 2\n'


@pytest.mark.parametrize(
    ("noise", "more", "family"),
    [
        (CELL_KEY, 'unit = "person"', "cell_key"),
        (CELL_KEY + 'additive = "least"\n', 'unit = "person"', "cell_key"),
        ('method = "invariant"\nkey_of = "person"\nlargest = 50\n', "", "invariant"),
        ('method = "deterministic"\nbase = 5\n', "", "rounding"),
        ('method = "random"\nbase = 5\n', "", "rounding"),
        ('method = "controlled"\nbase = 5\n', "", "rounding"),
        ('method = "small_counts"\nbase = 3\n', "", "rounding"),
        ('method = "adjustment"\n', "rules = { minimum_frequency = { n = 15 } }", "adjustment"),
    ],
)
def test_a_job_changes_values_and_is_verified(home, noise, more, family):
    said = protect(home, noise, more=more)
    assert "Certificate" in said and "May leave the office" in said
    published = dk.Published.read(home / "out")
    assert published.changed == family and published.value.shape == (3, 3)
    assert "persons" in run("verify", "out")


def test_sums_of_a_job_are_changed(home):
    magnitude = "[tables.noise.magnitude]\nscale = 0.2\nshares = [1, 0.5]\n"
    noise = CELL_KEY.replace("small_counts = 2\n", "") + magnitude
    protect(home, noise, name="income", more='value = "income"\nunit = "person"')
    published = dk.Published.read(home / "out")
    assert published.changed == "cell_key" and published.measure == "income"
    run("verify", "out")


def test_sums_of_a_job_are_judged_by_its_rules(home):
    """A constant is too little for large incomes; what the rule asks for is the default."""
    rules = 'value = "income"\nunit = "person"\nrules = { minimum_frequency = { n = 25 } }'
    magnitude = "[tables.noise.magnitude]\nscale = 0.01\n"
    noise = CELL_KEY.replace("small_counts = 2\n", "") + magnitude
    protect(home, noise, name="income", more=rules)
    said = protect(home, noise + "extra = 0.5\n", name="income", more=rules, code=3)
    assert "noise may be too small for the rule" in " ".join(said.split())
    protect(home, noise + "extra = 0.5\nrisk = 1\n", name="income", more=rules)


def test_a_job_names_what_the_column_was_called(home):
    magnitude = '[tables.noise.magnitude]\nscale = 0.2\nmeasure = "{}"\n'
    noise = CELL_KEY.replace("small_counts = 2\n", "") + magnitude
    found: list[bytes] = []
    for measure in ("income", "INCOME ", "pay"):
        protect(home, noise.format(measure), name="income", more='value = "income"')
        found.append((home / "out" / "public" / "income.csv").read_bytes())
    assert found[0] == found[1] != found[2]


@pytest.mark.parametrize("layout", ["abs", "ons"])
def test_a_job_takes_the_lookups_of_other_offices(home, layout):
    """Every count is one more, and two more from 2 on, whatever its key."""
    if layout == "abs":
        (home / "t.csv").write_text("1,2\n1,2\n", encoding="utf-8")
        modulus = 2**32
    else:
        rows = [f"{count},{key},{count}" for count in (1, 2) for key in range(4)]
        (home / "t.csv").write_text("pcv,ckey,pvalue\n" + "\n".join(rows), encoding="utf-8")
        modulus = 4
    frame = pa_csv.read_csv(home / "persons.csv")
    keys = pa.array([i % 4 for i in range(frame.num_rows)])
    pa_csv.write_csv(frame.append_column("key", keys), home / "persons.csv")
    noise = (
        f'method = "cell_key"\nrecord_key = "key"\nkey_modulus = {modulus}\ntable = "t.csv"\n'
        f'layout = "{layout}"\nreuse = 1\n'
    )
    protect(home, noise)
    shown = dk.Published.read(home / "out").value
    true = dk.tabulate(frame, by={"region": None, "age": None}).count
    assert true is not None and np.array_equal(shown, true + np.minimum(true, 2))


def test_a_job_names_cells_that_are_empty_for_all_to_see(home):
    """Structural zeros come from a file; one that holds records is refused."""
    noise = CELL_KEY + 'structural_zeros = "zeros.csv"\n'
    (home / "zeros.csv").write_text("region,age\nS,old\n", encoding="utf-8")
    said = protect(home, noise, code=1)
    assert "impossible holds records" in " ".join(said.split())
    frame = pa_csv.read_csv(home / "persons.csv")
    rows = frame.to_pylist()
    kept = [i for i, row in enumerate(rows) if (row["region"], row["age"]) != ("S", "old")]
    pa_csv.write_csv(frame.take(kept), home / "persons.csv")
    protect(home, noise)
    assert dk.Published.read(home / "out").empty.sum() == 1


def test_the_same_job_gives_the_same_values(home):
    protect(home, CELL_KEY, more='unit = "person"')
    first = (home / "out" / "public" / "persons.csv").read_bytes()
    protect(home, CELL_KEY, more='unit = "person"')
    assert (home / "out" / "public" / "persons.csv").read_bytes() == first


def test_nothing_public_tells_the_parameters(home):
    protect(home, CELL_KEY + "threshold = 4\n", more='unit = "person"')
    for path in (home / "out" / "public").iterdir():
        content = path.read_bytes()
        for word in (b"max_noise", b"threshold", b"variance", b"record_key", b"modulus"):
            assert word not in content, (path.name, word)


def test_a_programme_refuses_tables_with_changed_values(home):
    protect(home, 'method = "random"\n')
    (home / "year.toml").write_text(
        '[[releases]]\nname = "january"\njob = "job.toml"\n', encoding="utf-8"
    )
    assert "publish these tables by a job of their own" in run("protect", "year.toml", code=1)

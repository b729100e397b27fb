"""What was done to microdata is done again: on other records, and from a job file."""

import stat
import tomllib

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyarrow import csv

import diskret as dk
from diskret.anonymize.history import toml_key, toml_value
from diskret.anonymize.verb import VERBS
from diskret.errors import DiskretError, InputError, JobError, ProofError
from diskret.jobs.microdata import claim_names, read_microdata_job, run_microdata_job
from diskret.jobs.template import template

KEYS = dk.SecretKeys(bytes(range(32)))
SURVEY = dk.datasets.survey(600, seed=4)
ROLES = {"keys": ["region", "age", "sex"], "weight": "weight", "identifiers": ["insurance"]}
STEPS = """
[[steps]]
do = "recode"
variable = "age"
width = 45

[[steps]]
do = "recode"
variable = "region"
hierarchy = "region.hrc"
level = 1
"""


def job_text(steps: str = STEPS, claims: str = "k_anonymity = { k = 2 }", more: str = "") -> str:
    return f"""
[records]
path = "persons.csv"

[roles]
keys = ["region", "age", "sex"]
weight = "weight"
identifiers = ["insurance"]
{steps}
[release]
folder = "released"
{more}
[release.claims]
{claims}
"""


@pytest.fixture
def folder(tmp_path):
    csv.write_csv(SURVEY.records, tmp_path / "persons.csv")
    tree = SURVEY.region
    lines = ["@" * (int(tree.level[i]) - 1) + code for i, code in enumerate(tree.codes) if i]
    (tmp_path / "region.hrc").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return tmp_path


def written(folder, text: str):
    (folder / "job.toml").write_text(text, encoding="utf-8")
    return folder / "job.toml"


def protected(records: pa.Table) -> dk.Microdata:
    md = dk.Microdata(records, **ROLES)
    return md.recode("age", width=45).recode("region", hierarchy=SURVEY.region, level=1)


def test_every_verb_that_protects_can_be_repeated():
    found = {
        name
        for name in dir(dk.Microdata)
        if not name.startswith("_")
        and str(getattr(getattr(dk.Microdata, name), "__annotations__", {}).get("return"))
        == "Microdata"
    }
    assert found - {"replay"} == set(VERBS)


def test_steps_are_repeated_on_other_records():
    other = dk.datasets.survey(500, seed=9).records
    md = protected(SURVEY.records).replay(other)
    assert md.frame == protected(other).frame
    assert md.history == protected(other).history


def test_a_step_that_fails_is_named():
    md = protected(SURVEY.records)
    with pytest.raises(InputError, match="which the records do not have"):
        md.replay(SURVEY.records.drop_columns(["age"]))
    with pytest.raises(DiskretError, match="step 2, recode:"):
        region = pa.array(["elsewhere"] * 600)
        md.replay(SURVEY.records.set_column(3, "region", region))


def test_a_saved_job_does_the_same(folder):
    md = protected(SURVEY.records)
    path = md.save_job(folder / "saved.toml", "persons.csv")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    job = read_microdata_job(path)
    assert [dict(step.arguments) for step in job.steps] == [
        dict(step.arguments) for step in md.history
    ]
    text = path.read_text(encoding="utf-8").replace("k = 3", "k = 2")
    written_to, result = run_microdata_job(read_microdata_job(written(folder, text)), keys=KEYS)
    again = result.microdata.table
    assert pc.all(pc.equal(again["age"].cast("int64"), md.table["age"].cast("int64"))).as_py()
    assert again["region"].to_pylist() == md.table["region"].to_pylist()
    assert (written_to / "public" / "microdata.csv").is_file()
    with pytest.raises(InputError, match="exists already"):
        md.save_job(folder / "saved.toml", "persons.csv")


def test_a_job_writes_what_it_claims(folder):
    job = read_microdata_job(written(folder, job_text(more='name = "persons"\nlanguage = "de"')))
    written_to, result = run_microdata_job(job, keys=KEYS)
    assert written_to == folder / "released"
    released = csv.read_csv(written_to / "public" / "persons.csv")
    assert released.num_rows == 600 and "insurance" not in released.column_names
    counts = released.group_by(["region", "age", "sex"]).aggregate([([], "count_all")])
    assert pc.min(counts["count_all"]).as_py() >= 2
    assert result.certificate.public()["shown"]["k"] >= 2


def test_nothing_is_written_when_a_claim_fails(folder):
    job = read_microdata_job(written(folder, job_text("", "k_anonymity = { k = 3 }")))
    with pytest.raises(ProofError):
        run_microdata_job(job, keys=KEYS)
    assert not (folder / "released").exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (job_text('[[steps]]\ndo = "recod"'), r"line 10: 'do' must not be 'recod'.*recode"),
        (job_text('[[steps]]\nvariable = "age"'), r"'do' is missing"),
        (job_text('[[steps]]\ndo = "recode"'), r"'recode' needs the key 'variable'"),
        (
            job_text('[[steps]]\ndo = "recode"\nvariable = "age"\nwide = 5'),
            r"line 12: 'recode' knows no 'wide'; did you mean 'width'",
        ),
        (
            job_text(claims="k_anonymity = { k = 1 }"),
            r"line 25: 'k' in \[release.claims.k_anonymity\] must be a whole number "
            "from 2 upwards, not 1",
        ),
        (job_text(claims="k_anonymous = { k = 3 }"), r"no such claim.*did you mean 'k_anonymity'"),
        (job_text(claims="k_anonymity = { l = 3 }"), r"unknown key 'l'"),
        (job_text().replace("persons.csv", "persona.csv"), r"persona.csv does not exist"),
        (job_text().partition("[release.claims]")[0], r"must say what has to hold"),
        (job_text().replace("weight =", "wait ="), r"line 7: unknown key 'wait'"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(folder, text, message):
    with pytest.raises(JobError, match=message):
        read_microdata_job(written(folder, text))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (job_text().replace('"sex"]', '"sx"]'), "job.toml, line 6: .*'sx', .* did you mean 'sex'"),
        (job_text().replace('"age"\nwidth', '"agee"\nwidth'), "line 12: step 1, recode: .*'agee'"),
        (job_text(claims='k_anonymity = { k = 2, keys = ["town"] }'), "line 25: a claim .*'town'"),
    ],
)
def test_a_column_that_is_missing_is_said_with_the_line_of_the_job(folder, text, message):
    with pytest.raises(InputError, match=message):
        run_microdata_job(read_microdata_job(written(folder, text)))


def test_the_template_is_a_job_and_every_option_in_it_is_one(folder):
    lines = template("anonymize").splitlines()
    keys = [line[1:] if line.startswith("#") and "=" in line[:20] else line for line in lines]
    everything = "\n".join(line for line in keys).replace("#[[steps]]", "[[steps]]")
    for text in (template("anonymize"), everything):
        values = tomllib.loads(text)
        assert values["steps"][0]["do"] == "recode"
        job = written(folder, text)
        if text is everything:  # two kinds of recoding in one step are for the reader only
            continue
        assert read_microdata_job(job).claims == (dk.claims.KAnonymity(3),)
    known = set(claim_names())
    assert set(tomllib.loads(everything)["release"]["claims"]) <= known


@pytest.mark.parametrize(
    "value",
    [
        "plain",
        'q"uo\\te',
        "line\nbreak",
        "Größe 😀",
        "\x7f",
        3,
        -0.5,
        1e-7,
        2.0,
        True,
        ["a", 1.5],
        {"a b": ["x"], "c": {"d": 1}},
        float("inf"),
    ],
)
def test_values_come_back_from_toml(value):
    text = f"{toml_key('my key')} = {toml_value(value)}"
    assert tomllib.loads(text) == {"my key": value}


def test_what_toml_does_not_know_is_refused():
    with pytest.raises(InputError, match="cannot hold"):
        toml_value(object())

"""Configurations of a service: what they say, and the line of what is wrong."""

import pytest

from diskret.errors import JobError
from diskret.rules import MinimumFrequency, PPercent
from diskret.serve.config import read_config

WHOLE = """[service]
title = "Census 2022"
users = "users.toml"
ledger = "service.db"
port = 8080

[service.limits]
seconds = 10

[[data]]
name = "census"
label = "Persons"
records = { path = "persons.csv" }
record_key = "key"
questions = 40
questions_each = 10
share = 0.4
impossible = [{ sex = ["m"], births = ["1"] }]

[data.noise]
max_noise = 4
variance = 2.25
small_counts = 2

[data.variables.sex]
label = "Sex"
codes = { f = "female", m = "male" }

[data.variables.births]
codes = ["0", "1"]
"""


@pytest.fixture
def config(tmp_path):
    (tmp_path / "persons.csv").write_text("sex,births,key\nf,1,7\n")

    def written(old="", new=""):
        assert old in WHOLE
        path = tmp_path / "service.toml"
        path.write_text(WHOLE.replace(old, new) if old else WHOLE, encoding="utf-8")
        return path

    return written


def test_a_whole_configuration(config, tmp_path):
    found = read_config(config())
    assert (found.title, found.host, found.port) == ("Census 2022", "127.0.0.1", 8080)
    assert found.users == tmp_path / "users.toml" and found.ledger == str(tmp_path / "service.db")
    assert found.limits.seconds == 10 and found.limits.body == 65_536
    (data,) = found.data
    assert (data.name, data.label, data.questions, data.each) == ("census", "Persons", 40, 10)
    assert data.variable["sex"].labels == {"f": "female", "m": "male"}
    assert data.variable["births"].codes == ("0", "1")
    assert data.impossible == ({"sex": ("m",), "births": ("1",)},)
    assert data.noise.counts[-1] >= 4 and data.share == 0.4


def test_files_say_who_reads_them(config):
    path = 'path = "persons.csv"'
    assert read_config(config()).data[0].engine == "duckdb"
    assert read_config(config(path, path + ', engine = "spark"')).data[0].engine == "spark"
    with pytest.raises(JobError, match="engine"):
        read_config(config(path, path + ', engine = "excel"'))


def test_a_ledger_in_a_database_is_left_as_it_is(config):
    url = "postgresql://clerk@db.example/tables"
    assert read_config(config('"service.db"', f'"{url}"')).ledger == url


@pytest.mark.parametrize(
    ("old", "new", "line", "said"),
    [
        ("port = 8080", "prot = 8080", 5, "unknown key 'prot'"),
        ("port = 8080", "port = 70000", 5, "'port'"),
        ('users = "users.toml"\n', "", 1, "'users' is missing"),
        ("port = 8080", 'host = "0.0.0.0"', 5, "tokens must not travel in the clear"),
        ("port = 8080", 'certificate = "persons.csv"', 5, "together"),
        ("port = 8080", 'certificate = "no.pem"', 5, "does not exist"),
        ("seconds = 10", "seconds = 0", 8, "from 1 to"),
        ("persons.csv", "nobody.csv", 13, "does not exist"),
        ("share = 0.4", "share = 4", 17, "a number from 0 to 1"),
        ("questions = 40", "questions = 0", 15, "'questions'"),
        ("questions = 40\n", "", 10, "No number is safe for all data"),
        ("variance = 2.25", "variance = -1", 22, "variance"),
        ("max_noise = 4\n", "", 20, "max_noise"),
        ('["0", "1"]', '["0", "0"]', 30, "twice"),
        ('births = ["1"]', 'births = ["2"]', 11, "none of its variables and codes"),
        ('"Sex"', "3", 26, "text in quotes"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(config, old, new, line, said):
    with pytest.raises(JobError, match=f"line {line}:.*") as error:
        read_config(config(old, new))
    assert said in str(error.value)


def test_a_name_twice(config, tmp_path):
    path = config()
    path.write_text(WHOLE + "\n" + WHOLE[WHOLE.index("[[data]]") :])
    with pytest.raises(JobError, match="twice"):
        read_config(path)


def test_a_variable_with_a_tree(config, tmp_path):
    (tmp_path / "tree.csv").write_text("code,parent\nall,\nany,all\n0,any\n1,any\n2,all\n")
    (data,) = read_config(
        config('codes = ["0", "1"]', 'hierarchy = { file = "tree.csv" }\nlabel = "Births"')
    ).data
    births = data.variable["births"]
    assert births.codes == ("0", "1", "2") and births.level(1).codes == ("2", "any")
    assert births.label == "Births"
    (tmp_path / "tree.csv").write_text("code,parent\n0,1\n1,0\n")
    with pytest.raises(JobError, match="line 30"):
        read_config(config('codes = ["0", "1"]', 'hierarchy = { file = "tree.csv" }'))
    with pytest.raises(JobError, match="codes"):
        read_config(
            config('codes = ["0", "1"]', 'hierarchy = { file = "tree.csv" }\ncodes = ["0"]')
        )


def test_cells_are_hidden_by_rules(config, tmp_path):
    given = 'method = "suppression"\nvintage = "2025"\nunit = "sex"\n'
    text = WHOLE.replace('record_key = "key"\n', given)
    text = text.replace("share = 0.4\n", "")
    noise = text[text.index("[data.noise]") : text.index("[data.variables.sex]")]
    path = config()

    def read(rules, old="", new=""):
        path.write_text(text.replace(noise, f"[data.rules]\n{rules}\n").replace(old, new))
        return read_config(path).data[0]

    counts = "minimum_frequency = { n = 3 }"
    data = read(counts)
    assert data.noise is None and data.suppression.unit == "sex"
    assert data.suppression.judge("") == data.suppression.judge("pay") == MinimumFrequency(3)
    measured = read(f"{counts}\np_percent = {{ p = 10 }}\n[data.measures.births]")
    assert measured.suppression.judge("") == MinimumFrequency(3)
    assert measured.suppression.judge("births") == MinimumFrequency(3) | PPercent(10)
    sums = 'sums = ["births = boys + girls"]\n'
    kinds = "".join(f"[data.measures.{name}]\n" for name in ("births", "boys", "girls"))
    data = read(f"{counts}\n{kinds}", "questions = 40\n", f"questions = 40\n{sums}")
    assert data.suppression.vintage == "2025"
    assert data.suppression.together("boys") == ("births", "boys", "girls")
    for old, new, said in (
        ("questions = 40\n", f"questions = 40\n{sums}", "'births', which is none"),
        ("questions = 40\n", "questions = 40\nsums = ['births']\n", "is no sum of measures"),
        ('vintage = "2025"\n', "", "say by 'vintage' of which records"),
    ):
        with pytest.raises(JobError, match=said):
            read(counts, old, new)
    for rules, said in (
        (f"{counts}\np_percent = {{ p = 10 }}", "no 'measures' of sums"),
        ("p_percent = { p = 10 }\n[data.measures.births]", "counts need a rule"),
        ("frequency = { n = 3 }", "unknown key 'frequency'"),
        (f"{counts}\n[data.measures.births]\nnoise = 0.2", "unknown key 'noise'"),
    ):
        with pytest.raises(JobError, match=said):
            read(rules)
    with pytest.raises(JobError, match="unknown key 'unit'"):
        read_config(config('label = "Persons"', 'unit = "sex"'))
    with pytest.raises(JobError, match="unknown key 'share'"):
        read(counts, "questions = 40", "questions = 40\nshare = 0.4")

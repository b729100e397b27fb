"""Queries hold no code, and what is wrong with one is said with its line."""

import pytest
from remote_access import QUERY

from diskret.errors import JobError
from diskret.io.encoded import utf8_text
from diskret.remote.query import names_in, read_query

HEAD = 'project = "pay"\ndata = "persons"\n[[results]]\nname = "m"\n'


def test_a_query_is_read():
    query = read_query(QUERY)
    assert (query.project, query.data) == ("pay", "persons")
    assert [one.kind for one in query.results] == ["table", "ols", "histogram"]
    assert query.results[0].figures == (("pay", "mean"),)
    assert query.results[2].bins == (20, 35, 50, 65)


def test_the_name_of_a_result_is_no_part_of_the_question():
    one, other = read_query(QUERY), read_query(QUERY.replace('"by job"', '"again"'))
    assert one.results[0].canonical == other.results[0].canonical
    assert one.results[0].canonical != one.results[1].canonical


@pytest.mark.parametrize(
    "formula",
    [
        "pay ~ np.log(age)",
        "pay ~ __import__('os').system('id')",
        "pay ~ Q('age')",
        "pay ~ I(age**2)",
        "pay ~ age + open('/etc/passwd').read()",
        "pay ~ C(job, Treatment(reference='a'))",
        "pay ~ log(log(age))",
        "pay ~ [x for x in ().__class__.__base__.__subclasses__()]",
        "pay",
        "pay ~",
        "1 ~ age",
        "pay ~ age ~ job",
        "pay ~ age - 1",
        "pay ~ age @ job",
        "pay ~ 2",
    ],
)
def test_a_formula_holds_names_only(formula):
    text = HEAD + f'kind = "ols"\nformula = "{formula}"'
    with pytest.raises(JobError, match=r"query.toml, line 6: 'formula' must be names"):
        read_query(text)


@pytest.mark.parametrize("formula", ["pay ~ 0 + age", "log(pay) ~ C(job) * age", "pay~age:job + 1"])
def test_formulas_of_names_pass(formula):
    assert read_query(HEAD + f'kind = "ols"\nformula = "{formula}"').results[0].formula


def test_names_in_a_formula():
    assert names_in("log(pay) ~ C(job) * age + log(age)") == (["pay", "job", "age"], ["pay", "age"])


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('kind = "table"', "line 4.*'by' is missing|'by' is missing"),
        ('kind = "script"', "line 5: 'kind' must not be 'script'"),
        ('kind = "table"\nby = ["job"]\nfigures = { pay = "max" }', "'pay' must not be 'max'"),
        (
            'kind = "table"\nby = ["job"]\nfigures = { pay = "sum", age = "mean" }',
            "line 7: 'figures' that add up",
        ),
        ('kind = "histogram"\ncolumn = "age"\nbins = [1]', "line 7: 'bins' must name two ends"),
        ('kind = "histogram"\ncolumn = "age"\nbins = [2, 1]', "line 7: 'bins' must name two ends"),
        ('kind = "histogram"\ncolumn = "age"\nbins = ["a"]', "line 7: 'bins'.*a list of numbers"),
        ('kind = "ols"\nformula = "a ~ b"\nwithin = 1.2', "line 7: 'within'.*one of 1.1"),
        ('kind = "ols"\nformula = "a ~ b"\nwhere = { c = 3 }', "'c'.*a list of texts"),
        ('kind = "ols"\nformula = "a ~ b"\nwhere = { c = { from = "1" } }', "'c'.*from = number"),
        ('kind = "ols"\nformula = "a ~ b"\nspy = 1', "line 7: unknown key 'spy'"),
        ('kind = "histogram"\ncolumn = "age"\nbins = [1, inf]', "line 7: 'bins'.*list of numbers"),
        (f'kind = "histogram"\ncolumn = "age"\nbins = [1, {10**400}]', "line 7: 'bins'"),
        ('kind = "ols"\nformula = "a ~ b"\nwhere = { c = { to = nan } }', "'c'.*from = number"),
        ("kind = ols", "not valid TOML"),
    ],
)
def test_what_is_wrong_is_said(text, says):
    with pytest.raises(JobError, match=says):
        read_query(HEAD + text)


def test_a_file_that_is_no_text_is_said(tmp_path):
    (tmp_path / "q.toml").write_bytes(b'a = "b"\n# \xff\n')
    with pytest.raises(JobError, match="q.toml, line 2: not UTF-8"):
        utf8_text(tmp_path / "q.toml", JobError)


def test_two_results_of_one_name_are_refused():
    twice = HEAD + 'kind = "ols"\nformula = "a ~ b"\n' + HEAD.split("\n", 2)[2]
    with pytest.raises(JobError, match="'m' is there twice"):
        read_query(twice + 'kind = "ols"\nformula = "a ~ c"')

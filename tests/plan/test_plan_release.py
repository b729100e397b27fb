"""From a template to a release: what a plan writes runs as it is."""

import pytest
from plan_templates import ANSWERS, publication, released, written

import diskret as dk
from diskret.errors import JobError
from diskret.jobs.read import read_job


@pytest.fixture(autouse=True)
def own_keys(tmp_path, monkeypatch):
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "keys"))


def test_a_small_template_is_released_and_verified(tmp_path):
    plan = dk.plan.read(publication(tmp_path))
    assert str(plan) == "6 tables asked for, 2 to protect in 2 clusters, 0 questions open"
    assert [table.descriptions for table in plan.tables] == [("S1", "S2", "S3"), ("D1", "D2", "D3")]
    results, folder = released(plan, tmp_path)
    assert [*results] == ["sales_hrc_nuts_size", "domestic_size", "export_size", "trade_size"]
    assert folder.resolve() == tmp_path / "out" / "release"
    sales = results["sales_hrc_nuts_size"].published
    assert sales.suppressed.any() and not sales.suppressed.all()
    assert sales.dimensions[0].hierarchy.codes[1:3] == ("N1", "N11")


def test_decimals_are_those_of_the_records(tmp_path):
    path = publication(tmp_path)
    job = dk.plan.write(dk.plan.read(path), tmp_path / "plan")[1]
    assert {table.decimals for table in read_job(job).tables} == {2}
    written(tmp_path, **{"publication.toml": ANSWERS.replace("unit =", "decimals = 4\nunit =")})
    job = dk.plan.write(dk.plan.read(path), tmp_path / "plan")[1]
    assert {table.decimals for table in read_job(job).tables} == {4}


def test_decimals_that_no_decimal_fraction_has_are_asked_for(tmp_path):
    path = publication(tmp_path)
    records = (tmp_path / "firms.csv").read_text().splitlines()
    first = records[1].split(",")
    first[4] = "0.12345678901"
    (tmp_path / "firms.csv").write_text("\n".join([records[0], ",".join(first), *records[2:]]))
    (question,) = dk.plan.read(path).questions
    assert question.said.key == "which decimals" and question.lines == (2, 3, 4)
    written(tmp_path, **{"publication.toml": f"{ANSWERS}\n{question.answer}\n"})
    plan = dk.plan.read(path)
    assert not plan.questions
    released(plan, tmp_path)


def test_a_plan_with_open_questions_is_no_programme(tmp_path):
    path = publication(tmp_path)
    written(tmp_path, **{"publication.toml": ANSWERS.replace("equations", "#")})
    plan = dk.plan.read(path)
    with pytest.raises(JobError, match=r"questions are open that only a person can answer \(1\)"):
        dk.plan.write(plan, tmp_path / "plan")
    assert not (tmp_path / "plan").exists()


def test_only_what_an_earlier_plan_wrote_is_replaced(tmp_path):
    plan = dk.plan.read(publication(tmp_path))
    first = dk.plan.write(plan, tmp_path / "plan")
    assert dk.plan.write(plan, tmp_path / "plan") == first
    first[0].write_text("# by hand\n")
    with pytest.raises(JobError, match=r"programme.toml is there already and is none"):
        dk.plan.write(plan, tmp_path / "plan")
    assert first[0].read_text() == "# by hand\n"
    written(tmp_path, **{"other__release.toml": "# by hand\n"})
    with pytest.raises(JobError, match=r"release.toml is there already"):
        dk.plan.write(plan, tmp_path / "other")

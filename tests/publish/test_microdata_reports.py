"""Reports on microdata: complete, in both languages, and nothing of the office for readers."""

import pytest

import diskret as dk
from diskret.anonymize.verb import Step
from diskret.attack.microdata.claims import KAnonymity, RiskBelow
from diskret.publish.guard.html import page_problems

KEYS = dk.SecretKeys(bytes(range(32)))


@pytest.fixture(scope="module")
def pages(reference_data, tmp_path_factory):
    """Language → (public page, internal page)."""
    md = dk.Microdata(
        reference_data / "data" / "sdcmicro" / "testdata.csv",
        keys=["urbrur", "sex", "roof"],
        numeric=["income"],
        weight="sampling_weight",
        household="ori_hid",
    )
    roof = md.coded("roof")
    rare = roof.codes == roof.categories.to_pylist().index("6")
    md = md.after(
        {"roof": roof.without(rare).column()},
        Step("local_suppression", {"k": 3, "importance": ["sex"]}, {"suppressed": {"roof": 22}}),
    )
    result = md.release([KAnonymity(3), RiskBelow(0.123)], keys=KEYS)
    home = tmp_path_factory.mktemp("pages")
    made = {}
    for language in ("en", "de"):
        folder = result.write(
            home / language, ["csv", "html"], language=language, title="Census <1>"
        )
        made[language] = (
            folder / "public" / "microdata.html",
            folder / "internal" / "microdata.report.html",
        )
    return made


def text(path):
    return path.read_text(encoding="utf-8").replace("\N{NO-BREAK SPACE}", " ")


def test_readers_learn_what_the_file_holds_and_how_to_use_it(pages):
    page = text(pages["en"][0])
    assert "<h1>Census &lt;1&gt;</h1>" in page and 'lang="en"' in page
    for told in (
        "4,580",
        "Single values suppressed: roof",
        "are not missing at random",
        "Results for the population need the weights",
        "The order of the records is random",
        "at least 3 records",
        "Not claimed",
        "microdata.csv",
    ):
        assert told in page
    assert "Changed at random" not in page


def test_readers_learn_it_in_german(pages):
    page = text(pages["de"][0])
    assert 'lang="de"' in page and "4 580" in page
    for told in ("Einzelne Werte gesperrt: roof", "fehlen nicht zufällig", "Nicht zugesichert"):
        assert told in page
    assert "Missing" not in page and "records" not in page


@pytest.mark.parametrize("language", ["en", "de"])
def test_readers_learn_nothing_of_the_office(pages, language):
    page = text(pages[language][0])
    for hidden in ("local_suppression", "importance", "0.123", "0,123", "ori_hid", "0.0096"):
        assert hidden not in page
    assert list(page_problems(pages[language][0])) == []


def test_the_office_sees_risk_before_and_after_and_every_step(pages):
    page = text(pages["en"][1])
    assert "Confidential" in page
    for told in (
        "Risk before and after",
        "local_suppression",
        "k = 3; importance = sex",
        "suppressed = roof: 22",
        "Largest remaining risks",
        "The same where missing values agree with nothing (k = 3)",
        "Records by how many agree with them",
        "0.123 is allowed",
        "<svg",
    ):
        assert told in page
    assert "Risiko vorher und nachher" in text(pages["de"][1])


def test_families_of_methods_are_told_by_variable_and_no_more(tmp_path):
    import pyarrow as pa

    frame = pa.table({name: ["a", "b"] * 6 for name in ("age", "job", "town", "note")})
    md = dk.Microdata(frame, keys=["age", "job", "town"])
    new = {name: pa.chunked_array([["c", "d"] * 6]) for name in ("age", "job")}
    gap = pa.chunked_array([[None] * 6 + ["a", "b"] * 3])
    md = md.after({"age": new["age"]}, Step("recode", {"variable": "age", "top": 7}))
    md = md.after({"job": new["job"]}, Step("pram", {"variables": [["job"]], "strata": ["age"]}))
    md = md.after({"town": gap}, Step("generalise", {"hierarchies": {"town": {}}, "k": 3}))
    made = md.release(dk.claims.NoIdentifiers(), keys=KEYS).write(tmp_path / "out", ["csv", "html"])
    page = text(made / "public" / "microdata.html")
    for told in (
        "<li>Put into coarser categories: age, town</li>",
        "<li>Changed at random: job</li>",
        "<li>Single values suppressed: town</li>",
    ):
        assert told in page
    for hidden in ("recode", "pram", "generalise", "strata"):
        assert hidden not in page

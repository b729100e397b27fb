"""Releases whose intervals are outer bounds, because equations connect too many cells."""

import json
from pathlib import Path

import jsonschema
import pyarrow as pa
import pytest
from sealing import reseal

import diskret as dk
from diskret.attack import component, surroundings
from diskret.errors import VerificationError
from diskret.protect.audit import audit
from diskret.publish.verify.folder import verify

SCHEMAS = Path(__file__).parents[2] / "docs" / "schema"


def enlarge(patch):
    """As if every component had tens of thousands of cells."""
    patch.setattr(component, "EXACT_WORK", -1.0)
    patch.setattr(surroundings, "_BLOCK", 5)


@pytest.fixture
def everything_is_large(monkeypatch):
    enlarge(monkeypatch)


@pytest.fixture(scope="module")
def protected():
    register = dk.datasets.business_register(3_000, seed=2)
    by = {"nace": register.nace, "region": register.region}
    table = dk.tabulate(register.records, by=by, value="turnover", unit="firm_id")
    table = table.recode("nace", level=1)
    with pytest.MonkeyPatch.context() as patch:
        enlarge(patch)
        return dk.suppress(table, dk.rules.PPercent(10) | dk.rules.MinimumFrequency(3))


@pytest.fixture
def result(protected, everything_is_large):
    return protected


def certificate(folder, side="public"):
    return json.loads((folder / side / "turnover.certificate.json").read_text(encoding="utf-8"))


def edit(folder, change):
    path = folder / "public" / "turnover.certificate.json"
    path.write_text(json.dumps(certificate(folder) | change), encoding="utf-8")


@pytest.mark.parametrize("side", ["public", "internal"])
def test_certificates_say_how_many_intervals_are_outer_bounds(result, tmp_path, side):
    folder = result.write(tmp_path / "out", ["csv"], keys=tmp_path / "keys")
    content = certificate(folder, side)
    assert 0 < content["outer_intervals"] <= len(content["intervals"]["lower"])
    schema = json.loads((SCHEMAS / f"certificate-{side}.schema.json").read_text(encoding="utf-8"))
    jsonschema.validate(content, schema)


@pytest.mark.parametrize(("language", "says"), [("en", "are outer bounds"), ("de", "äußere Sch")])
def test_reports_say_so_in_words(result, tmp_path, language, says):
    folder = result.write(tmp_path / "out", ["csv", "html"], keys=tmp_path / "k", language=language)
    for page in folder.glob("*/*.html"):
        assert says in page.read_text(encoding="utf-8")
    number = certificate(folder)["outer_intervals"]
    sentence = next(line for line in certificate(folder)["claimed"][language] if says in line)
    assert sentence.startswith(str(number))


def test_a_release_is_verified_with_the_same_bounds(result, tmp_path):
    folder = result.write(tmp_path / "out", ["csv"], keys=tmp_path / "keys")
    assert verify(folder, keys=tmp_path / "keys").checked_internal
    exact = certificate(folder)["outer_intervals"]
    for change in ({"outer_intervals": exact - 1}, {"outer_intervals": None}):
        edit(folder, change)
        reseal(folder, tmp_path / "keys")
        why = "does not say what is and is not claimed|outer_intervals is not of type int"
        with pytest.raises(VerificationError, match=why):
            verify(folder, keys=tmp_path / "keys")


def test_nothing_is_said_where_all_intervals_are_exact(tmp_path):
    cells = pa.table({"region": ["N", "S", "W"], "firms": [7, 2, 5]})
    table = dk.Table.from_cells(cells, by={"region": None}, count="firms")
    public = dk.suppress(table, dk.rules.MinimumFrequency(3)).certificate.public()
    assert "outer_intervals" not in public
    assert not any("outer bounds" in line for line in public["claimed"]["en"])


def test_an_audit_says_that_it_may_have_missed_cells(everything_is_large):
    codes = ["1", "2", "3", "Total"]
    hidden = {(i, j) for i in codes[:3] for j in codes[:3]}
    shown = {"Total": {"1": "45", "2": "101", "3": "44", "Total": "190"}}
    margin = {"1": "80", "2": "49", "3": "61"}
    rows = [
        (i, j, "." if (i, j) in hidden else shown["Total"][j] if i == "Total" else margin[i])
        for i in codes
        for j in codes
    ]
    cells = pa.table(dict(zip("ijn", map(list, zip(*rows, strict=True)), strict=True)))
    report = audit(cells, {"i": None, "j": None}, "n")
    assert "9 intervals are outer bounds" in report.lines[-1]

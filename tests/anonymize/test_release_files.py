"""Released files: complete or not there, checked by anyone, refused when touched."""

import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from released_microdata import KEYS, microdata, persons, protected
from sealing import reseal
from typer.testing import CliRunner

import diskret as dk
from diskret.attack.microdata.claims import (
    ExpectedBelow,
    KAnonymity,
    KMap,
    NoIdentifiers,
    RiskBelow,
)
from diskret.cli.main import app
from diskret.publish.digests import digest
from diskret.publish.guard.microdata import as_text, read_records_csv
from diskret.publish.verify.folder import verify

CLAIMS = [KAnonymity(3), RiskBelow(0.4), ExpectedBelow(0.3)]


@pytest.fixture
def out(tmp_path):
    made = protected().release(CLAIMS, household=True, id=True, keys=KEYS)
    return made.write(tmp_path / "out")


def content(folder, side="public"):
    return json.loads((folder / side / "microdata.certificate.json").read_text(encoding="utf-8"))


def rewrite(folder, change, side="public"):
    """Change a certificate, as a forger would."""
    changed = content(folder, side)
    change(changed)
    path = folder / side / "microdata.certificate.json"
    path.write_text(json.dumps(changed), encoding="utf-8")
    reseal(folder, KEYS)


def forge(folder, name, old, new):
    """Change a public file and its digest."""
    path = folder / "public" / name
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    rewrite(folder, lambda c: c["files"].update({name: digest(path)}))


def test_files(out):
    assert {p.name for p in (out / "public").iterdir()} == {
        "microdata.csv",
        "microdata.parquet",
        "microdata.html",
        "microdata.certificate.json",
    }
    assert {p.name for p in (out / "internal").iterdir()} == {
        "content.json",
        "microdata.certificate.json",
        "microdata.settings.json",
        "microdata.link.parquet",
        "microdata.report.html",
    }
    assert all(p.stat().st_mode & 0o077 == 0 for p in (out / "internal").iterdir())


def test_what_was_done_is_kept_inside(out):
    settings = json.loads((out / "internal" / "microdata.settings.json").read_text("utf-8"))
    [step] = settings["history"]
    assert step["verb"] == "local_suppression" and step["arguments"]["seed"] == 271828
    assert settings["roles"]["identifiers"] == ["name"]
    inside = content(out, "internal")
    assert {claim["claim"] for claim in inside["claims_made"]} == {
        "KAnonymity",
        "RiskBelow",
        "ExpectedBelow",
    }


def test_anyone_can_verify_and_the_office_more(out, tmp_path):
    report = verify(out, keys=KEYS)
    assert report.tables == ("microdata",) and report.checked_internal
    assert "3-anonymity by town, sex" in report.lines[0]
    assert "all claims (3) checked again" in report.lines[1]
    (out / "internal").rename(tmp_path / "elsewhere")
    outside = verify(out)
    assert not outside.checked_internal and outside.lines == report.lines[:1]


def test_the_command_verifies(out, tmp_path):
    (out / "internal").rename(tmp_path / "elsewhere")
    done = CliRunner().invoke(app, ["verify", str(out)])
    assert done.exit_code == 0 and "3-anonymity" in done.output


def test_the_same_release_is_the_same_bytes(tmp_path):
    first = protected().release(CLAIMS, keys=KEYS).write(tmp_path / "a")
    again = protected().release(CLAIMS, keys=KEYS).write(tmp_path / "b")
    for path in (first / "public").iterdir():
        assert path.read_bytes() == (again / "public" / path.name).read_bytes()


@pytest.mark.parametrize("formats", [["csv"], ["parquet"], "csv", ["parquet", "html"]])
def test_formats(formats, tmp_path):
    folder = protected().release(CLAIMS, keys=KEYS).write(tmp_path / "out", formats)
    assert verify(folder, keys=KEYS).checked_internal
    written = {p.suffix for p in (folder / "public").iterdir()} - {".json"}
    assert written == {f".{one}" for one in ([formats] if formats == "csv" else formats)}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"formats": ["xlsx"]}, "too many for a workbook"),
        ({"formats": ["html"]}, "must name 'csv' or 'parquet'"),
        ({"language": "fr"}, "must be 'en' or 'de'"),
    ],
)
def test_unknown_options_are_refused(options, message, tmp_path):
    with pytest.raises(dk.DiskretError, match=message):
        protected().release(CLAIMS, keys=KEYS).write(tmp_path / "out", **options)
    assert not list(tmp_path.iterdir())


def test_claims_about_a_population_are_not_checked_again_and_that_is_said(tmp_path):
    population = pa.concat_tables([persons()] * 40)
    made = protected().release([KMap(3, population), NoIdentifiers()], keys=KEYS)
    report = verify(made.write(tmp_path / "out"), keys=KEYS)
    assert "claims nothing that readers can count" in report.lines[0]
    assert (
        "all claims (1) checked again with the office's files, but for 1 that need"
        in report.lines[1]
    )


def test_types_come_back(tmp_path):
    frame = pa.table(
        {
            "text": ["", None, 'a "b", c', "ü\nv"],
            "flag": [True, None, False, True],
            "day": pa.array([0, 1, None, 3], pa.date32()),
            "at": pa.array([0, None, 10**9, 5], pa.timestamp("us")),
            "small": pa.array([1, None, 3, 4], pa.int8()),
            "x": [0.1, float("nan"), None, 1e300],
            "money": pa.array(["1.20", None, "3.00", "0.10"]).cast(pa.decimal128(9, 2)),
        }
    )
    md = dk.Microdata(frame, keys=["text"])
    made = md.release(NoIdentifiers(), attributes=frame.column_names, keys=KEYS)
    folder = made.write(tmp_path / "out")
    assert verify(folder, keys=KEYS).checked_internal
    read = pq.read_table(folder / "public" / "microdata.parquet")
    assert read.cast(made.table.schema).equals(made.table)
    assert read["x"].null_count == 2


TEXTS = st.none() | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=5)
SPECIAL = st.sampled_from(["", '"', '""', ",", "\n", "\r\n", " ", None, "null", "a\tb"])


@examples(30)
@given(st.lists(TEXTS | SPECIAL, min_size=1, max_size=8))
def test_every_text_and_gap_survives_the_files(tmp_path_factory, values):
    frame = pa.table({"v": pa.array(values, pa.string())})
    made = dk.Microdata(frame, keys=["v"]).release(NoIdentifiers(), keys=KEYS)
    folder = made.write(tmp_path_factory.mktemp("f") / "out", ["csv", "parquet"])
    read = read_records_csv(folder / "public" / "microdata.csv")
    assert read.equals(as_text(made.table))
    assert sorted(map(repr, read["v"].to_pylist())) == sorted(map(repr, values))
    assert verify(folder, keys=KEYS).checked_internal


# ── sabotage ────────────────────────────────────────────────────────────────────────


def refused(folder, message, **options):
    with pytest.raises(dk.DiskretError, match=message):
        verify(folder, **options)


def test_a_changed_value_is_refused(out):
    path = out / "public" / "microdata.csv"
    path.write_text(path.read_text("utf-8").replace("flu", "none", 1), encoding="utf-8")
    refused(out / "public", "changed: microdata.csv")


def test_a_changed_value_with_its_digest_is_refused_by_the_other_file(out):
    forge(out, "microdata.csv", "flu", "none")
    refused(out / "public", "microdata.csv and microdata.parquet differ")


def test_a_new_unique_record_is_refused_by_anyone(tmp_path):
    out = protected().release(CLAIMS, keys=KEYS).write(tmp_path / "out", ["csv"])
    forge(out, "microdata.csv", "Nord,f,", "Insel,f,")
    (out / "internal").rename(tmp_path / "elsewhere")
    refused(out, "a claim of the certificate does not hold")


def test_a_column_more_is_refused(tmp_path):
    out = protected().release(CLAIMS, keys=KEYS).write(tmp_path / "out", ["csv"])
    path = out / "public" / "microdata.csv"
    lines = path.read_text("utf-8").splitlines()
    path.write_text("\n".join(f"{line},x" for line in lines) + "\n", encoding="utf-8")
    rewrite(out, lambda c: c["files"].update({"microdata.csv": digest(path)}))
    refused(out, "the certificate is about others", keys=KEYS)


def test_a_record_less_is_refused(tmp_path):
    out = protected().release(CLAIMS, keys=KEYS).write(tmp_path / "out", ["csv"])
    path = out / "public" / "microdata.csv"
    path.write_text("".join(path.read_text("utf-8").splitlines(True)[:-1]), encoding="utf-8")
    rewrite(out, lambda c: c["files"].update({"microdata.csv": digest(path)}))
    refused(out, "59 records, the certificate is about 60", keys=KEYS)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c["shown"].update(k=50), "a claim of the certificate does not hold"),
        (lambda c: c["shown"].update(k=2), "is and is not claimed"),
        (lambda c: c["shown"].update(keys=["sex"]), "figures that are not those of the file"),
        (lambda c: c["shown"].update(keys=["age"]), "cannot be counted"),
        (lambda c: c.pop("shown"), "is and is not claimed"),
        (lambda c: c["claimed"].update(en=[]), "is and is not claimed"),
        (
            lambda c: c["claimed"]["de"].append("Alle sind 99 Personen gleich."),
            "is and is not claimed",
        ),
        (lambda c: c.update(columns=c["columns"][::-1]), "the certificate is about others"),
        (lambda c: c["files"].pop("microdata.html"), "not listed: microdata.html"),
        (lambda c: c.update(family="magic"), "no certificate of a table or of microdata"),
    ],
)
def test_a_changed_certificate_is_refused_by_anyone(out, change, message):
    rewrite(out, change)
    refused(out / "public", re.escape(message))


def test_any_other_change_of_the_certificate_is_refused_by_the_office(out):
    sealed = (out / "internal" / "content.json").read_bytes()
    rewrite(out, lambda c: c["not_claimed"]["en"].clear())
    (out / "internal" / "content.json").write_bytes(sealed)
    refused(out, "changed: public/microdata.certificate.json", keys=KEYS)


def test_rows_in_another_order_are_refused_by_the_office(tmp_path):
    out = protected().release(CLAIMS, keys=KEYS).write(tmp_path / "out", ["csv"])
    path = out / "public" / "microdata.csv"
    head, *rows = path.read_text("utf-8").splitlines(True)
    path.write_text("".join([head, *rows[::-1]]), encoding="utf-8")
    rewrite(out, lambda c: c["files"].update({"microdata.csv": digest(path)}))
    refused(out, "not those that were released", keys=KEYS)


def test_another_link_or_key_is_refused(out):
    refused(out, "this is not the key", keys=dk.SecretKeys(bytes(range(1, 33))))
    path = out / "internal" / "microdata.link.parquet"
    link = pq.read_table(path)
    turned = link.set_column(1, "row", link["row"].combine_chunks()[::-1])
    pq.write_table(turned.replace_schema_metadata(None), path, store_schema=False)
    reseal(out, KEYS)
    refused(out, "the office's link", keys=KEYS)
    path.unlink()
    refused(out, "missing: internal/microdata.link.parquet", keys=KEYS)
    reseal(out, KEYS)
    refused(out, "the file is missing", keys=KEYS)


def test_a_claim_that_does_not_hold_inside_is_refused(out):
    rewrite(out, lambda c: c["claims_made"][1].update(threshold=0.0001), side="internal")
    refused(out, "a claim does not hold: .* risk above", keys=KEYS)


# ── all or nothing ──────────────────────────────────────────────────────────────────


def test_nothing_is_written_where_a_claim_fails(tmp_path):
    with pytest.raises(dk.DiskretError, match="1 of 60 records"):
        microdata().release(CLAIMS, keys=KEYS).write(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_nothing_is_written_where_files_differ_from_what_was_certified(tmp_path, monkeypatch):
    from diskret.publish import write as module

    def leaking(records, folder, name, formats, *more):
        values = records.append_column("pid", pa.array(range(records.num_rows)))
        return original(values, folder, name, formats, *more)

    original = module.write_records
    monkeypatch.setattr(module, "write_records", leaking)
    made = protected().release(CLAIMS, keys=KEYS)
    with pytest.raises(dk.DiskretError, match=r"microdata.csv has the columns .*'pid'"):
        made.write(tmp_path / "out")
    assert not list(tmp_path.iterdir())


def test_a_release_replaces_a_release_and_nothing_else(out):
    protected().release(CLAIMS, keys=KEYS).write(out, ["csv"])
    assert verify(out, keys=KEYS).checked_internal
    (out / "public" / "mine.txt").write_text("x", encoding="utf-8")
    with pytest.raises(dk.DiskretError, match=r"mine\.txt"):
        protected().release(CLAIMS, keys=KEYS).write(out)


def test_microdata_do_not_go_with_tables_nor_into_a_ledger(tmp_path):
    result = protected().release(KAnonymity(3), keys=KEYS)
    ledger = dk.Ledger.create(tmp_path / "releases.db", keys=KEYS)
    for refused in (
        lambda: ledger.publish(result, tmp_path / "out"),
        lambda: dk.write([result], tmp_path / "out"),
        lambda: dk.write(result, tmp_path / "out"),
    ):
        with pytest.raises(dk.DiskretError, match="written with result.write"):
            refused()
    assert not (tmp_path / "out").exists()

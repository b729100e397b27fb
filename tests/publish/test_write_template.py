"""A template among the files of a release: filled, listed, guarded, all or nothing."""

import json
from importlib import import_module

import openpyxl
import pytest
from office_templates import a_template

import diskret as dk
from diskret.errors import InputError, ProofError
from diskret.protect.write import write
from diskret.publish.verify.folder import verify

CELLS = {
    "A1": "{{turnover: title}}",
    "A3": "Industry {{turnover: rows=nace; columns=size}}",
    **{"B3": "{{label: size=Total}}", "C3": "1-9", "D3": "50+"},
    **{f"A{row}": code for row, code in enumerate(("Total", "B", "C", "08", "10", "G"), start=4)},
    "A11": "{{firms: nace=C}}",
    "A12": "{{legend}}",
}


@pytest.fixture(scope="module")
def results():
    register = dk.datasets.business_register(800, seed=3)
    table = dk.tabulate(
        register.records,
        by={"nace": register.nace, "size": register.size},
        value="turnover",
        unit="firm_id",
    )
    return [
        dk.suppress(table, dk.rules.PPercent(10) | dk.rules.MinimumFrequency(3), name="turnover"),
        dk.suppress(table["count"], dk.rules.MinimumFrequency(3), name="firms"),
    ]


def test_two_tables_go_into_one_workbook_that_the_certificates_list(results, tmp_path):
    template = a_template(tmp_path / "layout.xlsx", CELLS)
    write(results, tmp_path / "out", ["csv"], language="de", template=template)
    public = tmp_path / "out" / "public"
    sheet = openpyxl.load_workbook(public / "layout.xlsx").active
    turnover, firms = (result.published for result in results)
    nace, size = (d.hierarchy.position for d in turnover.dimensions)
    hidden = 0
    for row in range(4, 10):
        for column, code in ((2, "Total"), (3, "1-9"), (4, "50+")):
            at = nace[sheet.cell(row, 1).value], size[code]
            shown = sheet.cell(row, column).value
            if turnover.suppressed[at]:
                hidden += 1
                assert shown == "."
            else:
                assert shown == ("–" if turnover.empty[at] else turnover.value[at])
    assert hidden > 0
    assert sheet["A11"].value == firms.value[nace["C"], 0]
    assert (sheet["A1"].value, sheet["B3"].value) == ("turnover nach nace und size", "Insgesamt")
    for name in ("turnover", "firms"):
        content = json.loads((public / f"{name}.certificate.json").read_text("utf-8"))
        assert "layout.xlsx" in content["files"]
    assert verify(tmp_path / "out").tables == ("firms", "turnover")


def test_a_result_is_written_with_a_template(results, tmp_path):
    template = a_template(tmp_path / "layout.xlsx", {"A1": "{{nace=C}}"})
    results[0].write(tmp_path / "out", template=template)
    assert {"layout.xlsx", "turnover.xlsx"} <= {
        path.name for path in (tmp_path / "out" / "public").iterdir()
    }


@pytest.mark.parametrize(
    ("name", "cells", "message"),
    [
        ("turnover.xlsx", {"A1": "{{turnover: nace=C}}"}, "rename it, e.g. layout-turnover"),
        ("layout.xlsx", {"A1": "{{nace=C}}"}, "does not say which table; begin with one of"),
        ("layout.xlsx", {"A1": "{{firms: nace=ZZ}}"}, "'ZZ' is no code"),
    ],
)
def test_nothing_is_written_with_a_template_that_does_not_fit(
    results, tmp_path, name, cells, message
):
    template = a_template(tmp_path / name, cells)
    with pytest.raises(InputError, match=message):
        write(results, tmp_path / "out", template=template)
    assert not (tmp_path / "out").exists()


def test_a_missing_template_is_named(results, tmp_path):
    with pytest.raises(InputError, match="there is no template"):
        write(results, tmp_path / "out", template=tmp_path / "no.xlsx")


def test_a_careless_filler_is_caught(results, tmp_path, monkeypatch):
    """A filler that writes original values is stopped by the one that reads the file back."""
    module = import_module("diskret.publish.write")
    honest = module.fill_template

    def careless(tables, template, path, **options):
        honest(tables, template, path, **options)
        book = openpyxl.load_workbook(path)
        cells = [c for row in book.active.iter_rows() for c in row if c.value == "."]
        original = results[0].table.measure.sum[results[0].published.suppressed]
        assert cells
        cells[0].value = int(original.max())
        book.save(path)

    monkeypatch.setattr(module, "fill_template", careless)
    template = a_template(tmp_path / "layout.xlsx", CELLS)
    with pytest.raises(ProofError, match=r"layout\.xlsx has"):
        write(results, tmp_path / "out", template=template)
    assert not (tmp_path / "out").exists()


def test_a_job_names_its_template(results, tmp_path):
    from diskret.jobs.read import read_job
    from diskret.jobs.run import run_job

    a_template(tmp_path / "layout.xlsx", {"A1": "{{region=N}}", "A2": "{{region=S}}"})
    (tmp_path / "r.csv").write_text("region\n" + "N\n" * 5 + "S\n" * 6, encoding="utf-8")
    (tmp_path / "job.toml").write_text(
        '[records]\npath = "r.csv"\n[[tables]]\nby = { region = "flat" }\n'
        "rules = { minimum_frequency = { n = 3 } }\n"
        '[output]\nfolder = "out"\ntemplate = "layout.xlsx"\n',
        encoding="utf-8",
    )
    run_job(read_job(tmp_path / "job.toml"))
    sheet = openpyxl.load_workbook(tmp_path / "out" / "public" / "layout.xlsx").active
    assert [sheet["A1"].value, sheet["A2"].value] == [5, 6]

"""Files of results are judged by what they hold and what is hidden; nothing passes unseen."""

import os
import pickle
import re
import struct
import zipfile
import zlib

import numpy as np
import openpyxl
import pandas as pd
import pyarrow.parquet
import pytest
from openpyxl.chart import BarChart
from openpyxl.comments import Comment
from PIL import Image, PngImagePlugin
from typer.testing import CliRunner

from diskret.cli.main import app
from diskret.errors import InputError
from diskret.outputs import (
    Profile,
    chi2,
    components,
    correlation,
    crosstab,
    density,
    folder,
    groupby,
    logrank,
    mannwhitney,
    scatter,
    suppressed,
    survival,
    ttest,
)

OPEN = Profile()  # no suffix is forbidden


def checks(place, name, **options):
    checked = folder(place, **{"profile": "guidelines", **options}).files[name]
    return {one.check: {*one.places} for one in checked.findings}


def table(place, name="table.csv", **columns):
    frame = pd.DataFrame(columns)
    if name.endswith(".csv"):
        frame.to_csv(place / name, index=False)
    elif name.endswith(".parquet"):
        frame.to_parquet(place / name)
    else:
        frame.to_excel(place / name, index=False)


@pytest.mark.parametrize("name", ["table.csv", "table.parquet", "table.xlsx", "a/b/TABLE.CSV"])
def test_counts_in_tables_are_judged(tmp_path, name):
    (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
    low = name.lower()
    table(tmp_path / "..", f"{tmp_path.name}/{low}", region=["N", "S", "W"], n=[120, 4, 0])
    if low != name:
        (tmp_path / low).rename(tmp_path / name)
    found = checks(tmp_path, name, profile=OPEN)
    place = ("Sheet1",) if name.endswith("xlsx") else ()
    assert found["threshold"] == {(*place, "n", "S")}
    assert found["zero"] == {(*place, "n", "W")}


def test_a_table_of_enough_units_passes_and_others_are_for_a_person(tmp_path):
    table(tmp_path, "good.csv", region=["N", "S"], Count=[120, 40])
    table(tmp_path, "means.csv", region=["N", "S"], n=[120, 40], mean=[2.5, 3.5])
    table(tmp_path, "unsaid.csv", region=["N", "S"], women=[120, 40])
    table(tmp_path, "texts.csv", region=["N", "S"], remark=["x", "y"])
    found = folder(tmp_path)
    assert {name: one.verdict for name, one in found.files.items()} == {
        "good.csv": "pass",
        "means.csv": "review",
        "unsaid.csv": "review",
        "texts.csv": "review",
    }
    assert checks(tmp_path, "means.csv") == {"unknown": {("mean",)}}
    assert checks(tmp_path, "unsaid.csv", counts=["women"]) == {}
    table(tmp_path, "unsaid.csv", region=["N", "S"], women=[120, 4])
    assert "threshold" in checks(tmp_path, "unsaid.csv", counts=["women"])


@pytest.mark.parametrize(
    "columns",
    [
        {"firm_id": range(50), "turnover": range(50)},
        {"Name": ["Ann", "Bob", "Cid"], "n": [20, 20, 20]},
        {"contact": ["a@b.org", "c@d.org"], "n": [20, 20]},
    ],
)
def test_records_are_recognised(tmp_path, columns):
    table(tmp_path, **columns)
    assert "microdata" in checks(tmp_path, "table.csv")


def test_many_rows_are_for_a_person(tmp_path):
    table(tmp_path, region=["N"] * 1500, n=[20] * 1500)
    assert checks(tmp_path, "table.csv").keys() == {"many_rows"}
    assert "1\xa0500 Zeilen" in folder(tmp_path).files["table.csv"].reasons("de")[0]


CONTENTS = {
    ".dta": b"<stata_dta><header>",
    ".sav": b"$FL2@(#) SPSS",
    ".sqlite": b"SQLite format 3\0",
    ".pkl": pickle.dumps({"a": 1}),
}


@pytest.mark.parametrize("suffix", CONTENTS)
def test_forbidden_kinds_are_known_by_their_bytes(tmp_path, suffix):
    (tmp_path / "results.txt").write_bytes(CONTENTS[suffix])
    (tmp_path / f"data{suffix.upper()}").write_bytes(b"anything")
    assert checks(tmp_path, "results.txt")["forbidden"] == {(suffix,)}
    assert "forbidden" in checks(tmp_path, f"data{suffix.upper()}")
    assert folder(tmp_path, profile=OPEN).verdict == "review"


def test_parquet_called_csv_is_parquet(tmp_path):
    pyarrow.parquet.write_table(pyarrow.table({"n": [20]}), tmp_path / "table.csv")
    found = checks(tmp_path, "table.csv")
    assert found["forbidden"] == {(".parquet",)}


def test_hidden_things_in_workbooks(tmp_path):
    table(tmp_path, "plain.xlsx", region=["N", "S"], n=[20, 30])
    assert checks(tmp_path, "plain.xlsx") == {}
    book = openpyxl.load_workbook(tmp_path / "plain.xlsx")
    book.active["A1"].comment = Comment("Meyer Ltd", "me")
    book.active.row_dimensions[2].hidden = True
    book.create_sheet("secret").append(["id", 7])
    book["secret"].sheet_state = "veryHidden"
    book.properties.creator = "Ann Meyer"
    book.save(tmp_path / "hidden.xlsx")
    found = checks(tmp_path, "hidden.xlsx")
    assert found["hidden"] == {("secret",), ("Sheet1", "2")}
    assert found["comments"] == {("Sheet1", "A1")}
    assert found["metadata"] == {("creator",)}
    with zipfile.ZipFile(tmp_path / "plain.xlsx", "a") as packed:
        packed.writestr("xl/pivotCache/pivotCacheRecords1.xml", "<r/>")
    assert checks(tmp_path, "plain.xlsx")["embedded"] == {("xl/pivotCache/pivotCacheRecords1.xml",)}


def test_a_chart_sheet_is_not_passed_over(tmp_path):
    table(tmp_path, "plain.xlsx", region=["N", "S"], n=[20, 30])
    book = openpyxl.load_workbook(tmp_path / "plain.xlsx")
    book.create_chartsheet("graph").add_chart(BarChart())
    book.save(tmp_path / "plain.xlsx")
    assert checks(tmp_path, "plain.xlsx")["unknown"] == {
        ("xl/charts/chart1.xml",),
        ("xl/chartsheets/sheet1.xml",),
        ("xl/drawings/drawing1.xml",),
        ("Sheet1",),
        ("graph",),
    }


def test_what_pictures_hide(tmp_path):
    picture = Image.new("RGB", (4, 4))
    notes = PngImagePlugin.PngInfo()
    notes.add_text("Comment", "Meyer Ltd")
    picture.save(tmp_path / "plain.png")
    picture.save(tmp_path / "notes.png", pnginfo=notes)
    exif = picture.getexif()
    exif[0x010E] = "Meyer Ltd"
    picture.save(tmp_path / "plain.jpg")
    picture.save(tmp_path / "exif.jpg", exif=exif)
    for name in ("plain.png", "plain.jpg"):
        assert checks(tmp_path, name).keys() == {"unknown"}
        data = (tmp_path / name).read_bytes()
        (tmp_path / f"more_{name}").write_bytes(data + b"7,Meyer Ltd,20000")
        (tmp_path / f"cut_{name}").write_bytes(data[: len(data) // 2])
        assert "embedded" in checks(tmp_path, f"more_{name}")
        assert checks(tmp_path, f"cut_{name}").keys() == {"unread"}
    assert checks(tmp_path, "notes.png")["metadata"] == {("tEXt",)}
    assert checks(tmp_path, "exif.jpg")["metadata"] == {("Exif",)}
    own = struct.pack(">I4s", 3, b"daTa") + b"abc" + struct.pack(">I", zlib.crc32(b"daTaabc"))
    data = (tmp_path / "plain.png").read_bytes()
    (tmp_path / "own.png").write_bytes(data[:33] + own + data[33:])
    assert checks(tmp_path, "own.png")["embedded"] == {("daTa",)}


def test_nothing_is_unpacked_or_followed(tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    table(outside, n=[20], region=["N"])
    place = tmp_path / "results"
    place.mkdir()
    (place / "link.csv").symlink_to(outside / "table.csv")
    (place / "folder").symlink_to(outside)
    (place / "nowhere").symlink_to(place / "missing")
    os.mkfifo(place / "pipe")
    (place / "bad.zip").write_bytes(b"PK\x03\x04 and nothing more")
    (place / "bad.xlsx").write_bytes(b"PK\x03\x04 and nothing more")
    with zipfile.ZipFile(place / "good.zip", "w") as packed:
        packed.writestr("../../data.dta", "x")
    (place / "empty.csv").write_bytes(b"")
    (place / "torn.csv").write_text('a,n\n"x,20\n')
    found = {
        name: {one.check for one in checked.findings}
        for name, checked in folder(place).files.items()
    }
    assert found == {
        "link.csv": {"link"},
        "folder": {"link"},
        "nowhere": {"link"},
        "pipe": {"unread"},
        "bad.zip": {"unread"},
        "bad.xlsx": {"unread"},
        "good.zip": {"archive", "forbidden"},
        "empty.csv": {"unknown"},
        "torn.csv": {"unread"},
    }
    assert not (tmp_path.parent / "data.dta").exists()


def test_large_files_are_told(tmp_path):
    with (tmp_path / "large.csv").open("wb") as file:
        file.truncate(60_000_000)
    assert checks(tmp_path, "large.csv").keys() == {"too_big"}
    with zipfile.ZipFile(tmp_path / "bomb.xlsx", "w", zipfile.ZIP_DEFLATED) as packed:
        for part in range(3):
            packed.writestr(f"xl/{part}.xml", b"0" * 80_000_000)
    assert checks(tmp_path, "bomb.xlsx").keys() == {"too_big"}


@pytest.mark.parametrize("name", ["a.svg", "a", "a.xyz", "a.docx"])
def test_what_is_not_understood_is_for_a_person(tmp_path, name):
    (tmp_path / name).write_text("N 120")
    checked = folder(tmp_path).files[name]
    assert checked.verdict == "review"
    assert "This result is not understood" in checked.reasons()[0]


def made(place, change=lambda frame: frame):
    draw = np.random.default_rng(1)
    firms = pd.DataFrame(
        {"region": draw.choice(["N", "S"], 60), "pay": draw.lognormal(3, 1, 60).round(2)}
    )
    firms.to_csv(place / "firms.csv", index=False)
    results = place / "results"
    results.mkdir(exist_ok=True)
    groups = firms.groupby("region", as_index=False).agg({"pay": "mean"})
    change(groups).round(3).to_csv(results / "means.csv", index=False)
    (results / "results.toml").write_text(
        '["means.csv"]\ncall = "groupby"\nrecords = "../firms.csv"\n'
        'arguments = { by = "region", figures = { pay = "mean" } }\n'
    )
    return results, firms


def test_a_table_is_judged_from_its_records(tmp_path):
    results, firms = made(tmp_path)
    assert checks(results, "means.csv").keys() == {"said"}  # the researcher's own word
    assert "results.toml" not in folder(results).files
    (results / "results.toml").rename(tmp_path / "said.toml")
    said = tmp_path / "said.toml"
    said.write_text(said.read_text().replace("../firms", "firms"))
    assert folder(results, said=said).files["means.csv"].verdict == "pass"
    firms.loc[0, "pay"] = 1e9
    firms.to_csv(tmp_path / "firms.csv", index=False)
    assert checks(results, "means.csv", said=said).keys() == {
        "differs", "dominance", "p_percent",
    }  # fmt: skip


CALLS = {
    "crosstab": ('index = "region", columns = "job"', lambda f: crosstab(f.region, f.job)),
    "suppressed": (
        'index = ["region", "job"], columns = "sex", values = "pay", aggfunc = "sum"',
        lambda f: suppressed([f.region, f.job], f.sex, values=f.pay, aggfunc="sum"),
    ),
    "survival": ('time = "years", event = "ill"', lambda f: survival(f, "years", "ill")),
    "correlation": ('columns = ["pay", "years"]', lambda f: correlation(f, ["pay", "years"])),
    "components": ('columns = ["pay", "years"]', lambda f: components(f, ["pay", "years"])),
    "ttest": ('value = "pay", group = "sex"', lambda f: ttest(f, "pay", "sex")),
    "mannwhitney": ('value = "pay", group = "sex"', lambda f: mannwhitney(f, "pay", "sex")),
    "chi2": ('rows = "sex", columns = "region"', lambda f: chi2(f, "sex", "region")),
    "logrank": (
        'time = "years", event = "ill", group = "sex"',
        lambda f: logrank(f, "years", "ill", "sex"),
    ),
    "density": ('column = "pay", at = [10, 20]', lambda f: density(f, "pay", [10, 20])),
    "scatter": ('x = "pay", y = "years"', lambda f: scatter(f, "pay", "years")),
}


def persons():
    draw = np.random.default_rng(4)
    return pd.DataFrame(
        {
            "region": draw.choice(["N", "S"], 200),
            "job": draw.choice(["a", "b", "c"], 200, p=[0.6, 0.37, 0.03]),
            "sex": draw.choice(["f", "m"], 200),
            "pay": draw.lognormal(3, 1, 200).round(2),
            "years": draw.exponential(4, 200).round().clip(0, 8),
            "ill": draw.integers(0, 2, 200),
        }
    )


@pytest.mark.parametrize("call", CALLS)
def test_every_call_is_made_again_and_judged_as_in_a_session(tmp_path, call):
    arguments, make = CALLS[call]
    own = make(persons())
    persons().to_csv(tmp_path / "persons.csv", index=False)
    place = tmp_path / "results"
    place.mkdir()
    test = isinstance(own.output, dict)
    (pd.DataFrame([own.output]) if test else own.output).to_csv(
        place / "table.csv", index=not (test or isinstance(own.output.index, pd.RangeIndex))
    )
    (tmp_path / "said.toml").write_text(
        f'["table.csv"]\ncall = "{call}"\nrecords = "persons.csv"\narguments = {{ {arguments} }}\n'
    )
    found = folder(place, said=tmp_path / "said.toml").files["table.csv"]
    assert found.findings == own.findings and found.verdict == own.verdict
    shown = (place / "table.csv").read_text().rstrip("\n")
    last = re.search(r"[^,\n]+(?=,*$)", shown).group()
    (place / "table.csv").write_text(shown.removesuffix(last) + "77.25\n")
    found = folder(place, said=tmp_path / "said.toml").files["table.csv"]
    assert "differs" in {one.check for one in found.findings}


def test_a_table_with_hidden_cells_is_compared_with_one(tmp_path):
    persons().to_csv(tmp_path / "persons.csv", index=False)
    place = tmp_path / "results"
    place.mkdir()
    hidden = groupby(persons(), ["region", "job"]).suppress()
    hidden.output.to_csv(place / "n.csv")
    said = tmp_path / "said.toml"
    text = (
        '["n.csv"]\ncall = "groupby"\nrecords = "persons.csv"\n'
        'arguments = { by = ["region", "job"] }\n'
    )
    said.write_text(text + "suppress = true\n")
    assert folder(place, said=said).files["n.csv"].verdict == "pass"
    said.write_text(text)
    assert {"differs", "threshold"} <= checks(place, "n.csv", said=said).keys()


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.assign(pay=frame.pay + 0.01),
        lambda frame: frame.iloc[:1],
        lambda frame: frame.assign(more=1),
        lambda frame: frame.assign(region=["N", "X"]),
    ],
)
def test_another_table_than_the_call_makes_fails(tmp_path, change):
    results, _ = made(tmp_path, change)
    assert "differs" in checks(results, "means.csv")


def test_said_counts_and_labels(tmp_path):
    table(tmp_path, "t.csv", year=[2020, 2021], women=[20, 30], men=[5, 40])
    (tmp_path / "results.toml").write_text('["t.csv"]\ncounts = "all"\nlabels = ["year"]\n')
    assert checks(tmp_path, "t.csv") == {"threshold": {("men", "2020")}, "said": set()}


@pytest.mark.parametrize("text", ["1.234,5", "1 234", "12 %", "4*", "(4)", "3.5 €"])
def test_numbers_in_another_spelling_are_no_labels(tmp_path, text):
    table(tmp_path, region=["N", "S"], n=[20, 30], other=[text, "x"])
    assert checks(tmp_path, "table.csv") == {"unknown": {("other",)}}
    table(tmp_path, region=["N", "S"], n=["20", text])
    assert "unknown" in checks(tmp_path, "table.csv")


@pytest.mark.parametrize("text", ["01", "10-19", "C28", "2020-01", "north"])
def test_codes_are_labels(tmp_path, text):
    table(tmp_path, region=["00", text], n=[20, 30])
    assert checks(tmp_path, "table.csv") == {}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[", "not valid TOML"),
        ("a = 1", "line 1: write"),
        ('["t.csv"]\ncount = []', "'count' is no key"),
        ('["t.csv"]\ncounts = 3', "counts must be names"),
        ('["t.csv"]\nlabels = "a"', "labels must be names"),
        ('["t.csv"]\ncall = "groupby"', "call and records go together"),
        ('["t.csv"]\ncall = "eval"\nrecords = "t.csv"', "call must be one of"),
        ('["t.csv"]\ncall = "ols"\nrecords = "t.csv"', "are for a person to look at"),
        ('["t.csv"]\ncall = "groupby"\nrecords = "x.csv"', "there is no file 'x.csv'"),
        ('["t.csv"]\ncall = "chi2"\nrecords = "t.csv"', "line 1: chi2 does not take this: missing"),
        (
            '["t.csv"]\ncall = "mode"\nrecords = "t.csv"\narguments = { unit = "n" }',
            "without unit and profile",
        ),
        ('["t.csv"]\nsuppress = 1', "suppress must be true or false"),
        ('["u.csv"]', "names 'u.csv', which is not in the folder"),
    ],
)
def test_bad_words_are_named(tmp_path, text, said):
    table(tmp_path, "t.csv", n=[20])
    (tmp_path / "results.toml").write_text(text)
    with pytest.raises(InputError, match=said):
        folder(tmp_path)


def test_nothing_to_judge_is_an_error(tmp_path):
    with pytest.raises(InputError, match="holds no files"):
        folder(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        folder(tmp_path / "nowhere")
    with pytest.raises(InputError, match="no such file"):
        folder(tmp_path, said=tmp_path / "nowhere")


def test_command(tmp_path):
    table(tmp_path, "table.csv", region=["N", "S"], n=[20, 30])
    run = CliRunner().invoke
    done = run(app, ["check", str(tmp_path)])
    assert done.exit_code == 0
    assert done.output.endswith("Files: 1. All may leave.\n")
    table(tmp_path, "few.csv", region=["N", "S"], women=[20, 3])
    refused = run(app, ["check", str(tmp_path), "--counts", "women", "--language", "de"])
    assert refused.exit_code == 3
    assert "Weniger als 10 Einheiten. Hier: women, S." in refused.output
    assert "Dateien: 2. Eine Person muss 0 ansehen; 1 dürfen nicht hinaus." in refused.output
    assert run(app, ["check", str(tmp_path / "nowhere")]).exit_code == 1
    lenient = run(app, ["check", str(tmp_path), "--profile", "acro"])
    assert lenient.exit_code == 3  # women is not known to be counts
    assert "can be explained" in lenient.output and "erklären" not in refused.output

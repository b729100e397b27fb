"""Derived figures and combined tables: written, checked before they leave, verified."""

import json
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from openpyxl import load_workbook
from sealing import reseal

import diskret as dk
from diskret.errors import InputError, ProofError, VerificationError
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job
from diskret.protect.write import write
from diskret.publish.digests import public_digests
from diskret.publish.formats.workbooks import workbook
from diskret.publish.guard.check import check_public
from diskret.publish.verify.folder import verify
from diskret.tables import Derived, SideBySide

RULE = dk.rules.MinimumFrequency(3)
ROWS = {
    "2024": {"N": (4, 80), "S": (2, 50), "W": (5, 70), "E": (9, 10)},
    "2025": {"N": (4, 90), "S": (3, 55), "W": (2, 60), "E": (1, 5)},
}


def protected(vintage):
    """Sales and number of firms of four regions."""
    rows = ROWS[vintage]
    firms, sales = zip(*rows.values(), strict=True)
    cells = pa.table({"region": list(rows), "firms": firms, "sales": sales})
    table = dk.Table.from_cells(
        cells, by={"region": None}, value="sales", count="firms", vintage=vintage
    )
    return dk.suppress([table["sales"], table["count"]], RULE, name=["sales", "firms"])


@pytest.fixture(scope="module")
def releases(tmp_path_factory):
    """A release of 2024, and one of 2025 with derived figures and a combined table."""
    folder = tmp_path_factory.mktemp("derived")
    keys = folder / "keys"
    write(protected("2024"), folder / "2024", ("csv",), keys=keys)
    sales, firms = protected("2025")
    before = dk.Published.read(folder / "2024", "sales")
    derived = [
        dk.derive.mean(sales, firms),
        dk.derive.share(sales, "region"),
        dk.derive.growth(sales, before),
    ]
    write(
        [sales, firms],
        folder / "2025",
        ("csv", "parquet", "xlsx"),
        derived=derived,
        combined={"all": ["firms", "sales", "sales_mean"], "change": ["sales", "sales_growth"]},
        releases=[folder / "2024"],
        keys=keys,
    )
    return folder


@pytest.fixture
def copied(releases, tmp_path, monkeypatch):
    """A copy of both that a test may damage."""
    monkeypatch.setenv("DISKRET_KEYS", str(releases / "keys"))
    for year in ROWS:
        shutil.copytree(releases / year, tmp_path / year)
    return tmp_path


def restamp(public):
    """Make the certificates list today's digests, as a forger could."""
    digests = public_digests(public)
    for path in public.glob("*.certificate.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        content["files"] = {name: digests[name] for name in content["files"] if name in digests}
        path.write_text(json.dumps(content), encoding="utf-8")
    reseal(public.parent)


def replace_in(path: Path, old: str, new: str):
    text = path.read_text(encoding="utf-8")
    assert text.count(old) == 1
    path.write_text(text.replace(old, new), encoding="utf-8", newline="\n")


# ── what is written ─────────────────────────────────────────────────────────────────


def test_figures_are_written_and_suppressed_where_an_input_is(releases):
    public = releases / "2025" / "public"
    # sales of S, W and E are hidden in 2025, so whatever is made of them is too
    assert (public / "sales_mean.csv").read_text(encoding="utf-8").splitlines() == [
        "region,sales_mean,status",
        "Total,21.0,published",
        "E,,suppressed",
        "N,22.5,published",
        "S,,suppressed",
        "W,,suppressed",
    ]
    growth = (public / "sales_growth.csv").read_text(encoding="utf-8").splitlines()
    assert growth[1:4] == ["Total,0.0,published", "E,,suppressed", "N,12.5,published"]
    share = pq.read_table(public / "sales_share.parquet").to_pydict()
    assert [None if x is None else str(x) for x in share["sales_share"]] == [
        "100.0",
        None,
        "42.9",
        None,
        None,
    ]


def test_a_combined_table_shows_measures_side_by_side(releases):
    public = releases / "2025" / "public"
    lines = (public / "all.csv").read_text(encoding="utf-8").splitlines()
    head = "region,firms,firms_status,sales,sales_status,sales_mean,sales_mean_status"
    assert lines[0] == head
    assert lines[3] == "N,4,published,90,published,22.5,published"
    assert lines[4] == "S,3,published,,suppressed,,suppressed"
    sheet = load_workbook(public / "all.xlsx").active
    rows = [list(row) for row in sheet.iter_rows(values_only=True)]
    assert rows[0] == head.split(",")
    assert rows[3] == ["N", 4, "published", 90, "published", 22.5, "published"]
    assert rows[4] == ["S", 3, "published", None, "suppressed", None, "suppressed"]


def test_all_tables_stand_side_by_side_under_one_name(tmp_path):
    results = protected("2025")
    write(results, tmp_path / "out", ("csv",), combined="firms by region", keys=tmp_path / "k")
    text = (tmp_path / "out/public/firms by region.csv").read_text(encoding="utf-8")
    assert text.startswith("region,sales,sales_status,firms,firms_status\nTotal,210,published,10,")


def test_figures_tell_nothing_that_the_published_tables_do_not(releases, tmp_path):
    """Whoever has only the tables of both releases computes every file of figures."""
    public = releases / "2025" / "public"
    alone = tmp_path / "alone"
    shutil.copytree(public, alone)
    for name in ("sales_mean", "sales_share", "sales_growth", "all", "change"):
        for path in alone.glob(f"{name}.*"):
            path.unlink()
    sales, firms = (dk.Published.read(alone, name) for name in ("sales", "firms"))
    before = dk.Published.read(releases / "2024" / "public", "sales")
    figures = {
        "sales_mean": dk.derive.mean(sales, firms),
        "sales_share": dk.derive.share(sales, of=["region"]),
        "sales_growth": dk.derive.growth(sales, before),
    }
    for name, figure in figures.items():
        written = pq.read_table(public / f"{name}.parquet").to_pydict()
        shown = [None if x is None else float(x) for x in written[name]]
        assert figure.frame.to_pydict() == {**written, name: shown}


def test_two_periods_in_one_release(tmp_path):
    now, before = protected("2025")[0], protected("2024")[0]
    with pytest.raises(InputError, match="two results are called 'sales'"):
        write([now, before], tmp_path / "out", keys=tmp_path / "keys")
    tables = [result.table for result in (before, now)]
    results = dk.suppress(tables, RULE, name=["sales 2024", "sales 2025"])
    # each is protected on its own: no equation ties values of different periods
    assert all(len(r.certificate.proof.publication.tables) == 1 for r in results)
    index = dk.derive.index(results, base="2024")
    growth = dk.derive.growth(results[1], results[0], name="change")
    write(results, tmp_path / "out", ("csv",), derived=[index, growth], keys=tmp_path / "keys")
    lines = (tmp_path / "out/public/sales_index.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0] == "period,region,sales_index,status"
    assert lines[3] == "2024,N,100.0,published"
    assert lines[8] == "2025,N,112.5,published"
    found = verify(tmp_path / "out", keys=tmp_path / "keys").lines
    assert "sales_index: index follows from the published values" in found
    assert "change: growth follows from the published values" in found


def test_figures_stand_beside_published_intervals(tmp_path):
    register = dk.datasets.business_register(2_000, seed=2)
    table = dk.tabulate(register.records, by={"region": register.region}, value="turnover")
    result = dk.suppress(table, dk.rules.PPercent(30))
    share = dk.derive.share(result, "region")
    folder = tmp_path / "out"
    write([result], folder, ("csv",), derived=[share], intervals=True, keys=tmp_path / "keys")
    assert dk.Published.read(folder).intervals
    assert "turnover_share: share follows" in verify(folder, keys=tmp_path / "keys").lines[-1]


def test_the_users_kind_of_frame_comes_back():
    rows = {"region": ["N", "N", "S", "S", "S"], "sales": [10, 20, 5, 5, 8]}
    for kind, records in {
        pd.DataFrame: pd.DataFrame(rows),
        pl.DataFrame: pl.DataFrame(rows),
    }.items():
        table = dk.tabulate(records, by={"region": None}, value="sales")
        result = dk.suppress(table, dk.rules.MinimumFrequency(2))
        frame = dk.derive.share(result, "region", decimals=0).frame
        assert isinstance(frame, kind)
        assert list(frame["sales_share"]) == [100, 63, 38]


# ── refusals ────────────────────────────────────────────────────────────────────────


def test_what_is_not_published_may_not_be_part_of_a_figure(tmp_path, releases):
    sales, firms = protected("2025")
    keys = tmp_path / "keys"
    with pytest.raises(InputError, match=r"'sales_mean' is computed from 'firms' of 2025, which"):
        sales.write(tmp_path / "out", derived=[dk.derive.mean(sales, firms)], keys=keys)
    growth = dk.derive.growth(sales, protected("2024")[0])
    with pytest.raises(
        InputError, match=r"'sales' of 2024.*name the folder .* releases=\[\.\.\.\]"
    ):
        sales.write(tmp_path / "out", derived=[growth], keys=keys)
    with pytest.raises(InputError, match=r"published neither in this release nor in .*2025"):
        sales.write(tmp_path / "out", derived=[growth], releases=[releases / "2025"], keys=keys)
    assert not (tmp_path / "out").exists()
    sales.write(tmp_path / "out", derived=[growth], releases=[releases / "2024"], keys=keys)


def test_an_earlier_release_must_be_as_its_certificate_says(copied):
    sales = protected("2025")[0]
    growth = dk.derive.growth(sales, protected("2024")[0])
    replace_in(copied / "2024/public/sales.certificate.json", '"sales.csv": "', '"sales.csv": "0')
    with pytest.raises(InputError, match="published neither"):
        sales.write(copied / "out", derived=[growth], releases=[copied / "2024"])


def test_a_release_does_not_replace_the_one_it_refers_to(copied):
    sales = protected("2025")[0]
    growth = dk.derive.growth(sales, dk.Published.read(copied / "2024", "sales"))
    with pytest.raises(InputError, match="write to another folder"):
        sales.write(copied / "2024", derived=[growth], releases=[copied / "2024"])


def test_only_what_is_published_goes_into_a_figure():
    sales, firms = protected("2025")
    with pytest.raises(InputError, match="not from the original table; protect it first"):
        dk.derive.mean(sales.table, firms)
    mean = dk.derive.mean(sales, firms)
    with pytest.raises(InputError, match="made of published sums and counts, not of 'mean'"):
        dk.derive.growth(mean, mean)
    with pytest.raises(InputError, match="at least two periods"):
        dk.derive.index([], base="2024")


def test_names_are_taken_once(tmp_path):
    sales, firms = protected("2025")
    mean = dk.derive.mean(sales, firms, name="Firms")
    with pytest.raises(InputError, match="the name 'Firms' is taken"):
        write([sales, firms], tmp_path / "out", derived=[mean], keys=tmp_path / "keys")
    with pytest.raises(InputError, match="the name 'sales' is taken"):
        write([sales, firms], tmp_path / "out", combined="sales", keys=tmp_path / "keys")
    with pytest.raises(InputError, match="names 'turnover', which is no table of this release"):
        write([sales], tmp_path / "out", combined={"x": ["turnover"]}, keys=tmp_path / "keys")


# ── sabotage ────────────────────────────────────────────────────────────────────────

FORGERIES = [
    ("sales_mean.csv", "N,22.5,published", "N,22.6,published", "1 figure or status that"),
    ("sales_mean.csv", "N,22.5,published", "N,22.4,published", "1 figure or status that"),
    ("sales_mean.csv", "S,,suppressed", "S,18.3,published", "1 figure or status that"),
    ("sales_mean.csv", "S,,suppressed", "S,18.3,suppressed", "1 figure or status that"),
    ("sales_mean.csv", "S,,suppressed", "S,,empty", "1 figure or status that"),
    ("sales_mean.csv", "N,22.5,published", "N,,published", "1 figure or status that"),
    ("sales_mean.csv", "N,22.5,published", "N,22.50,published", "1 figure or status that"),
    ("sales_mean.csv", "N,22.5,published", "N,,suppressed", "1 figure or status that"),
    ("sales_mean.csv", "\nE,", "\nX,", "does not hold the cells of its tables"),
    ("sales_mean.csv", "sales_mean,status", "mean,status", "the columns must be region, sales_me"),
    ("sales_growth.csv", "N,12.5,published", "N,12.4,published", "1 figure or status that"),
    ("sales_growth.csv", "W,,suppressed", "W,-14.3,published", "1 figure or status that"),
    ("sales_share.csv", "S,,suppressed", "S,26.2,published", "1 figure or status that"),
    ("sales_mean.derived.json", '"decimals": 1', '"decimals": 1, "secret": 5', "does not say how"),
    ("all.csv", "S,3,published,,suppressed", "S,3,published,55,published", "does not hold what"),
    ("all.csv", "22.5", "22.6", "does not hold what stands in the files"),
    ("all.combined.json", '"parts"', '"seed": 1, "parts"', "does not say how"),
]


@pytest.mark.long
@pytest.mark.parametrize(("file", "old", "new", "message"), FORGERIES)
def test_forged_figures_are_caught_before_and_after_they_leave(copied, file, old, new, message):
    public = copied / "2025" / "public"
    sales, firms = (dk.Published.read(public, name) for name in ("sales", "firms"))
    before = dk.Published.read(copied / "2024", "sales")
    mean, share = dk.derive.mean(sales, firms), dk.derive.share(sales, "region")
    growth = dk.derive.growth(sales, before)
    beside = [SideBySide("all", (firms, sales, mean)), SideBySide("change", (sales, growth))]

    def check():
        check_public(
            public,
            [sales, firms],
            derived=[mean, share, growth],
            combined=beside,
            releases=[copied / "2024"],
        )

    check()
    verify(copied / "2025", releases=[copied / "2024"])
    replace_in(public / file, old, new)
    restamp(public)
    with pytest.raises(ProofError, match=message):
        check()
    with pytest.raises(VerificationError, match=f"{message}|holds the key"):
        verify(copied / "2025", releases=[copied / "2024"])


DIVIDED = Derived._divided


@pytest.mark.parametrize(
    ("part", "sabotaged"),
    [
        ("_divided", lambda derived, top, bottom: DIVIDED(derived, top, bottom) + 1),
        ("suppressed", property(lambda derived: np.zeros(derived.inputs[0].shape, bool))),
        ("empty", property(lambda derived: ~derived.suppressed)),
    ],
)
def test_a_wrong_computation_is_caught_before_anything_is_written(
    tmp_path, monkeypatch, part, sabotaged
):
    """The guard does not share the code that computes."""
    sales, firms = protected("2025")
    mean = dk.derive.mean(sales, firms)
    monkeypatch.setattr(Derived, part, sabotaged)
    with pytest.raises(
        ProofError, match=r"sales_mean\.csv holds \d figures? or status.* not follow"
    ):
        write([sales, firms], tmp_path / "out", derived=[mean], keys=tmp_path / "keys")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("name", ["sales_mean", "all"])
def test_a_workbook_with_a_formula_does_not_leave(copied, name):
    public = copied / "2025" / "public"
    with workbook(public / f"{name}.xlsx") as book:
        book.add_worksheet("Table").write_formula(0, 0, "=A2/A3")
    restamp(public)
    sales, firms = (dk.Published.read(public, table) for table in ("sales", "firms"))
    mean = dk.derive.mean(sales, firms)
    beside = [SideBySide("all", (firms, sales, mean))]
    for stem in ("sales_growth", "sales_share", "change"):
        for path in public.glob(f"{stem}.*"):
            path.unlink()
    restamp(public)
    with pytest.raises(ProofError, match=rf"{name}\.xlsx has the element <f>"):
        check_public(public, [sales, firms], derived=[mean], combined=beside)


@pytest.mark.parametrize("name", ["sales_mean", "all"])
def test_files_for_exchange_of_figures_are_read_back(copied, name):
    public = copied / "2025" / "public"
    for stem in ("sales_growth", "sales_share", "change"):
        for path in public.glob(f"{stem}.*"):
            path.unlink()
    (public / f"{name}.px").write_text("DATA=4711;", encoding="utf-8")
    for path in public.glob("*.certificate.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps(content | {"files": public_digests(public)}), encoding="utf-8")
    sales, firms = (dk.Published.read(public, table) for table in ("sales", "firms"))
    mean = dk.derive.mean(sales, firms)
    beside = [SideBySide("all", (firms, sales, mean))]
    with pytest.raises(ProofError, match=rf"may leave: [^;]*{name}\.px[^;]*$"):
        check_public(public, [sales, firms], derived=[mean], combined=beside)


@pytest.mark.parametrize("name", ["sales_mean.html", "all.structure.json", "sales_mean.cells.csv"])
def test_other_files_of_figures_do_not_leave(copied, name):
    public = copied / "2025" / "public"
    (public / name).touch()
    tables = [dk.Published.read(public, table) for table in ("sales", "firms")]
    mean = dk.derive.mean(*tables)
    with pytest.raises(ProofError, match=f"{name} is no file of this release"):
        check_public(public, tables, derived=[mean], combined=[SideBySide("all", (mean,))])


def test_a_forged_parquet_file_is_caught(copied):
    public = copied / "2025" / "public"
    path = public / "sales_mean.parquet"
    forged = pq.read_table(path)
    forged = forged.set_column(1, "sales_mean", forged["sales_mean"].take([0, 2, 2, 3, 4]))
    pq.write_table(forged, path, store_schema=False)
    restamp(public)
    with pytest.raises(VerificationError, match=r"sales_mean\.parquet does not hold what stands"):
        verify(copied / "2025", releases=[copied / "2024"])


def test_figures_without_a_description_are_refused(copied):
    public = copied / "2025" / "public"
    (public / "sales_share.derived.json").unlink()
    restamp(public)
    with pytest.raises(VerificationError, match=r"sales_share\.csv is no file of this release"):
        verify(copied / "2025", releases=[copied / "2024"])


def test_a_description_of_other_tables_is_refused(copied):
    public = copied / "2025" / "public"
    replace_in(public / "sales_share.derived.json", '"table": "sales"', '"table": "wages"')
    restamp(public)
    with pytest.raises(VerificationError, match=r"names no table of this release: 'wages'"):
        verify(copied / "2025", releases=[copied / "2024"])


def test_verify_says_what_it_could_not_compute_again(copied):
    lines = verify(copied / "2025").lines
    assert any(line.startswith("sales_growth: file unchanged; not computed") for line in lines)
    assert any(line.startswith("change: file unchanged; not compared") for line in lines)
    assert "sales_mean: mean follows from the published values" in lines
    complete = verify(copied / "2025", releases=[copied / "2024"]).lines
    assert "sales_growth: growth follows from the published values" in complete
    assert "change: shows what stands in the files of its tables" in complete


def test_another_release_than_the_one_referred_to_does_not_do(copied):
    """Otherwise a growth rate could be checked against revised values."""
    public = copied / "2024" / "public"
    replace_in(public / "sales.csv", "W,70,published", "W,71,published")
    restamp(public)
    lines = verify(copied / "2025", releases=[copied / "2024"]).lines
    assert any(line.startswith("sales_growth: file unchanged; not computed") for line in lines)


# ── job files ───────────────────────────────────────────────────────────────────────

JOB = """\
[records]
path = "firms.csv"

[[tables]]
by = { region = "flat" }
value = "sales"
vintage = "2025"
rules = { minimum_frequency = { n = 3 } }

[[tables]]
name = "firms"
by = { region = "flat" }
vintage = "2025"
rules = { minimum_frequency = { n = 3 } }

[[derived]]
kind = "mean"
tables = ["sales", "firms"]
decimals = 2

[[derived]]
kind = "share"
tables = ["sales"]
of = ["region"]

[[derived]]
kind = "growth"
tables = ["sales"]
earlier = ["2024"]

[[derived]]
name = "series"
kind = "index"
tables = ["sales"]
earlier = ["2024"]
base = "2024"

[output]
formats = ["csv"]
combined = "all"
"""


@pytest.fixture
def job_file(copied):
    """Records of 2025: four firms in N, three in S, two in W, one in E."""
    lines = ["region,sales"]
    for region, (firms, sales) in ROWS["2025"].items():
        lines += [f"{region},{sales - firms + 1}"] + [f"{region},1"] * (firms - 1)
    (copied / "firms.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    path = copied / "job.toml"
    path.write_text(JOB, encoding="utf-8")
    return path


def test_a_job_derives_figures(job_file, copied):
    folder, _ = run_job(read_job(job_file))
    public = folder / "public"
    assert "N,22.50,published" in (public / "sales_mean.csv").read_text(encoding="utf-8")
    assert "N,42.9,published" in (public / "sales_share.csv").read_text(encoding="utf-8")
    assert "N,12.5,published" in (public / "sales_growth.csv").read_text(encoding="utf-8")
    assert "2025,N,112.5,published" in (public / "series.csv").read_text(encoding="utf-8")
    head = (public / "all.csv").read_text(encoding="utf-8").splitlines()[0]
    assert head.endswith("sales_share_status,sales_growth,sales_growth_status")
    assert len(verify(folder, releases=[copied / "2024"]).lines) == 9


def test_a_job_names_what_stands_side_by_side(job_file, copied):
    replace_in(job_file, 'combined = "all"', 'combined = { wide = ["firms", "sales_mean"] }')
    folder, _ = run_job(read_job(job_file))
    head = (folder / "public" / "wide.csv").read_text(encoding="utf-8").splitlines()[0]
    assert head == "region,firms,firms_status,sales_mean,sales_mean_status"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "mean"', 'kind = "median"', "line 17: 'kind' must not be 'median'.*mean, share"),
        ('["sales", "firms"]', '["sales"]', "line 18: a mean is made of two tables"),
        ('["sales", "firms"]', '["sales", "firm"]', "no such table: 'firm'.*did you mean 'firms'"),
        ('of = ["region"]', 'of = ["size"]', "line 24: no such column: 'size'"),
        ('of = ["region"]', "", "a share is made of one table and 'of', or two tables"),
        ('of = ["region"]', 'base = "2024"', "line 24: 'base' is for index only"),
        ("decimals = 2", 'earlier = ["2024"]', "line 19: 'earlier' is for growth and index only"),
        ("decimals = 2", "decimals = 13", "'decimals' in .* must be a whole number from 0 to 12"),
        ("decimals = 2", 'name = "Firms"', "line 19: the name 'Firms' is taken"),
        ('base = "2024"', "", "an index needs a 'base'"),
        ('"2024"]\nbase', '"2023"]\nbase', "line 35: 'earlier': the folder .*2023 does not exist"),
        ('earlier = ["2024"]\n\n', "\n", "a growth is made of two tables"),
        ('combined = "all"', 'combined = { a = ["x"] }', "'a' must not hold 'x'"),
    ],
)
def test_what_is_wrong_with_figures_has_a_line(job_file, old, new, message):
    replace_in(job_file, old, new)
    with pytest.raises(InputError, match=message):
        read_job(job_file)

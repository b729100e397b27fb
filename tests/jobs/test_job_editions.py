"""A job that is the next edition of an earlier one keeps its pattern and says what has changed."""

import csv

import pytest
from typer.testing import CliRunner

import diskret as dk
from diskret.cli.main import app
from diskret.errors import InputError, JobError
from diskret.jobs.programme import run_programme
from diskret.jobs.programme_file import read_programme
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job

KEYS = dk.SecretKeys(bytes(range(32)))
#: Firms by region and size.
THEN = {"N1": 2, "N2": 7, "S1": 6, "S2": 9, "W1": 4, "W2": 8}
NOW = {"N1": 1, "N2": 8, "S1": 5, "S2": 9, "W1": 5, "W2": 2, "E1": 2, "E2": 7}
JOB = """\
[records]
path = "firms{year}.csv"
[[tables]]
name = "regions"
by = {{ region = "flat" }}
vintage = "{year}"
rules = {{ minimum_frequency = {{ n = 3 }} }}
[[tables]]
name = "sizes"
by = {{ region = "flat", size = "flat" }}
vintage = "{year}"
rules = {{ minimum_frequency = {{ n = 3 }} }}
{edition}
[output]
folder = "out{year}"
formats = ["csv"]
"""


def job(folder, year, counts, edition="", text=JOB):
    lines = [f"{cell[0]},{cell[1]}" for cell, firms in counts.items() for _ in range(firms)]
    path = folder / f"firms{year}.csv"
    path.write_text("region,size\n" + "\n".join(lines) + "\n", encoding="utf-8")
    path = folder / f"job{year}.toml"
    path.write_text(text.format(year=year, edition=edition), encoding="utf-8")
    return path


@pytest.fixture
def home(tmp_path):
    run_job(job(tmp_path, 2025, THEN), keys=KEYS)
    return tmp_path


EDITION = '[edition]\nprevious = "out2025"'


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_linked_tables_keep_their_patterns_and_get_differences(home):
    folder, results = run_job(job(home, 2026, NOW, EDITION), keys=KEYS)
    before = {name: dk.Published.read(home / "out2025", name) for name in ("regions", "sizes")}
    for result in results:
        assert result.settings["previous_discount"] == 50
        file = folder / "public" / f"{result.name}_difference.csv"
        shown = {tuple(row.values())[:-4] for row in rows(file)}
        then, now = (
            {tuple(r.values())[:-2]: tuple(r.values())[-2:] for r in rows(path)}
            for path in (home / o / "public" / f"{result.name}.csv" for o in ("out2025", "out2026"))
        )
        nowhere = ("", "absent")
        differ = {c for c in {**then, **now} if then.get(c, nowhere) != now.get(c, nowhere)}
        assert shown == differ
        hidden = result.since(before[result.name]).to_pylist()  # pyright: ignore
        told = rows(folder / "internal" / f"{result.name}.since.csv")
        assert [row["change"] for row in hidden] == [row["change"] for row in told]
    report = dk.verify(folder, keys=KEYS, releases=[home / "out2025"])
    assert sum("both deliveries" in line for line in report.lines) == 2
    # by hand: N1 took N2, W1 and W2 with it; W2 is unsafe by itself now and all four stay hidden.
    # E1 is new and unsafe, and E2 is all else that is left of the east
    told = {(r["region"], r["size"]): r for r in rows(folder / "internal" / "sizes.since.csv")}
    assert {cell: row["why"] for cell, row in told.items()} == {
        ("E", "1"): "rule", ("E", "2"): "protects",
    }  # fmt: skip
    assert told["E", "2"]["needed_by"] == "sizes: region=E, size=1"
    assert [told["E", "2"][c] for c in ("needed_by_new", "equations_changed")] == ["true", "true"]


def test_a_table_that_names_its_own_last_period_keeps_that(home):
    own = 'name = "sizes"\nprevious = "out2025"\nprevious_discount = 7\n'
    text = JOB.replace('name = "sizes"\n', own)
    read = read_job(job(home, 2026, NOW, EDITION + "\ndiscount = 20", text))
    assert [table.previous_discount for table in read.tables] == [20, 7]
    assert read.edition is not None and read.edition.previous == home / "out2025"


def test_the_command_line_says_how_much_is_kept(home, monkeypatch):
    monkeypatch.setenv("DISKRET_KEYS", str(home / "keys"))
    for language, said in (("en", "that the last delivery hides"), ("de", "letzte Lieferung")):
        path = job(home, 2026, NOW, EDITION)
        found = CliRunner().invoke(app, ["protect", str(path), "--language", language])
        assert found.exit_code == 0, found.output
        assert sum(said in line for line in found.output.splitlines()) == 2
        folder = home / "out2026"
        found = CliRunner().invoke(app, ["verify", str(folder), "--release", str(home / "out2025")])
        assert found.exit_code == 0, found.output
        assert "sizes_difference: follows from what both deliveries show" in found.output


def refused(home, edition, text=JOB, kind=JobError):
    with pytest.raises(kind) as error:
        run_job(job(home, 2026, NOW, edition, text), keys=KEYS)
    assert not (home / "out2026").exists()
    return str(error.value)


def test_what_is_wrong_is_said_with_line_and_remedy(home):
    (home / "empty").mkdir()
    line = JOB.split("{edition}")[0].count("\n") + 2
    assert f"line {line}: 'previous': the folder" in refused(
        home, EDITION.replace("out2025", "nowhere")
    )
    said = refused(home, EDITION.replace("out2025", "empty"))
    assert f"line {line}" in said and "holds no published table" in said
    other = JOB.replace('"regions"', '"r"').replace('"sizes"', '"s"')
    said = refused(home, EDITION, other)
    assert "holds the tables regions, sizes and none of these: r, s" in said
    assert "'discount' in [edition] must be" in refused(home, EDITION + "\ndiscount = 100")
    assert "unknown key 'tables'" in refused(home, EDITION + '\ntables = "x"')
    assert "the key 'previous' is missing in [edition]" in refused(home, "[edition]\ndiscount = 5")
    named = JOB.replace('name = "sizes"', 'name = "Regions_Difference"')
    assert "is that of the file with the difference" in refused(home, EDITION, named)


def test_other_variables_and_the_same_vintage_are_refused_by_table(home):
    text = JOB.replace('by = {{ region = "flat", size = "flat" }}', 'by = {{ size = "flat" }}')
    said = refused(home, EDITION, text, InputError)
    assert "table 'sizes'" in said and "broken down by region, size" in said
    text = JOB.replace('vintage = "{year}"', 'vintage = "2025"')
    said = refused(home, EDITION, text, InputError)
    assert "has the vintage '2025', as that of the last delivery has" in said


# ── a programme that follows an earlier one ─────────────────────────────────────────

PROGRAMME = """\
folder = "all{year}"
{edition}
[[releases]]
name = "march"
job = "march{year}.toml"
[[releases]]
name = "june"
job = "june{year}.toml"
"""


def programme(home, year, counts, edition=""):
    """Regions in March, regions by size in June."""
    lines = job(home, year, counts).read_text("utf-8").split("[[tables]]")
    records, regions, rest = lines
    sizes, output = rest.split("[output]")
    for name, table in (("march", regions), ("june", sizes)):
        text = f"{records}[[tables]]{table}\n[output]{output}"
        (home / f"{name}{year}.toml").write_text(text, encoding="utf-8")
    path = home / f"all{year}.toml"
    path.write_text(PROGRAMME.format(year=year, edition=edition), encoding="utf-8")
    return path


def test_a_programme_keeps_the_patterns_of_all_releases_of_the_last_one(tmp_path, monkeypatch):
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "keys"))
    for year, counts, edition in (
        (2025, THEN, ""), (2026, NOW, '[edition]\nprevious = "all2025"'),
    ):  # fmt: skip
        path = programme(tmp_path, year, counts, edition)
        found = CliRunner().invoke(app, ["protect", str(path)])
        assert found.exit_code == 0, found.output
    assert sum("that the last delivery hides" in line for line in found.output.splitlines()) == 2
    for release, table in (("march", "regions"), ("june", "sizes")):
        last, folder = (tmp_path / f"all{year}" / release for year in (2025, 2026))
        assert (folder / "public" / f"{table}_difference.csv").is_file()
        assert (folder / "internal" / f"{table}.since.csv").is_file()
        releases = [last, tmp_path / "all2026" / "march"]
        lines = dk.verify(folder, keys=tmp_path / "keys", releases=releases).lines
        assert f"{table}_difference: follows from what both deliveries show" in lines


def test_a_programme_says_what_is_wrong_with_the_last_one(tmp_path):
    run_programme(read_programme(programme(tmp_path, 2025, THEN)), keys=KEYS)
    (tmp_path / "other").mkdir()
    for edition, said in (
        ('[edition]\nprevious = "nowhere"', "the folder .*nowhere does not exist"),
        ('[edition]\nprevious = "other"', "holds none of the releases march, june"),
        ('[edition]\nprevious = "all2025"\nrevision = true', "'march' is a revision"),
    ):
        with pytest.raises(JobError, match=said):
            read_programme(programme(tmp_path, 2026, NOW, edition))
    path = programme(tmp_path, 2026, THEN, '[edition]\nprevious = "all2025"')
    with pytest.raises(InputError, match="as in a revision of the same period"):
        run_programme(read_programme(path), keys=KEYS)
    assert not (tmp_path / "all2026" / "march").exists()
    path = tmp_path / "march2026.toml"
    edition = EDITION.replace("out2025", "all2025/march")
    text = path.read_text("utf-8").replace("[output]", f"{edition}\n[output]")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(JobError, match="both name the last delivery"):
        read_programme(tmp_path / "all2026.toml")

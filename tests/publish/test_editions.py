"""The next edition of a release: its difference is public, its reasons are the office's."""

import csv
import json
import shutil
import zipfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import diskret as dk
from diskret.errors import InputError, ProofError, VerificationError
from diskret.publish.digests import public_digests
from diskret.publish.guard import check
from diskret.tables import Difference

KEYS = dk.SecretKeys(bytes(range(32)))
RULE = dk.rules.MinimumFrequency(3)
FORMATS = ["csv", "parquet", "xlsx", "html"]
THEN = {"S": 7, "N": 8, "W": 5, "Q": 1}
NOW = {"N": 2, "S": 7, "W": 5, "E": 9}


def protect(vintage, parts, name="firms", previous=None):
    cells = pa.table({"region": list(parts), "firms": list(parts.values())})
    table = dk.Table.from_cells(cells, by={"region": None}, count="firms", vintage=vintage)
    return dk.suppress(table, RULE, name=name, previous=previous)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Two editions: 2025, and 2026 with the difference to it."""
    home = tmp_path_factory.mktemp("editions")
    protect("2025", THEN).write(home / "2025", FORMATS, keys=KEYS)
    protect("2026", NOW).write(home / "2026", FORMATS, keys=KEYS, previous=home / "2025")
    return home


@pytest.fixture
def home(written, tmp_path):
    return shutil.copytree(written, tmp_path / "editions")


@pytest.fixture
def public(home, tmp_path):
    """What anyone has of 2026: the public files alone; without the page, which shows digests."""
    folder = shutil.copytree(home / "2026" / "public", tmp_path / "download")
    (folder / "firms.html").unlink()
    said = content(folder / "firms.certificate.json")
    del said["files"]["firms.html"]
    (folder / "firms.certificate.json").write_text(json.dumps(said), encoding="utf-8")
    return folder


def content(path):
    return json.loads(path.read_text("utf-8"))


def test_the_difference_is_a_public_file_that_anyone_can_verify(home):
    public = home / "2026" / "public"
    assert (public / "firms_difference.csv").read_text("utf-8").splitlines() == [
        "region,previous,previous_status,now,now_status",
        "Total,21,published,23,published",
        "E,,absent,9,published",
        "N,8,published,,suppressed",
        "Q,,suppressed,,absent",
    ]
    assert pq.read_table(public / "firms_difference.parquet").to_pydict()["now"] == [
        23, 9, None, None,
    ]  # fmt: skip
    said = content(public / "firms.certificate.json")["difference"]
    assert said == {"name": "firms_difference", "value": 1, "suppressed": 1, "published": 0,
                    "added": 1, "removed": 1}  # fmt: skip
    page = (public / "firms.html").read_text("utf-8")
    assert "What has changed since the last delivery" in page
    report = dk.verify(public, releases=[home / "2025"])
    assert "firms_difference: follows from what both deliveries show" in report.lines
    [line] = [one for one in dk.verify(public).lines if one.startswith("firms_difference")]
    assert "the last delivery is not among the releases given" in line
    assert dk.verify(home / "2026", keys=KEYS, releases=[home / "2025"]).sealed


def test_the_office_is_told_what_is_newly_hidden_and_why(home):
    with (home / "2026" / "internal" / "firms.since.csv").open(encoding="utf-8") as file:
        [row] = csv.DictReader(file)
    assert row == {
        "region": "N", "change": "hidden", "previous": "8", "previous_status": "published",
        "now": "2", "status": "primary", "why": "rule", "rule": "minimum_frequency",
        "needed_by": "", "needed_by_new": "", "equations_changed": "true",
    }  # fmt: skip


def test_a_secondary_is_told_with_the_cells_that_need_it():
    then = protect("2025", {"N": 2, "S": 7, "W": 5, "E": 9})
    now = protect("2026", {"N": 2, "S": 4, "W": 6, "E": 1})
    found = {row["region"]: row for row in now.since(then.published).to_pylist()}
    # N and E protect each other: W is shown again, and E is hidden by the rule
    assert set(found) == {"W", "E"}
    assert (found["W"]["change"], found["W"]["why"]) == ("shown", "not needed")
    assert (found["E"]["change"], found["E"]["why"]) == ("hidden", "rule")
    now = protect("2026", {"N": 2, "S": 4, "W": 6, "E": 9})
    found = {row["region"]: row for row in now.since(then.published).to_pylist()}
    assert (found["S"]["why"], found["S"]["needed_by"]) == ("protects", "region=N")
    assert found["S"]["needed_by_new"] is False and not found["S"]["equations_changed"]


def test_a_pattern_that_is_still_safe_is_kept_at_a_discount():
    """S costs 4 and W 5; W was hidden then, at half its cost it is hidden again."""
    then = protect("2025", {"N": 2, "S": 7, "W": 5})
    cells = pa.table({"region": ["N", "S", "W"], "firms": [2, 4, 5]})
    table = dk.Table.from_cells(cells, by={"region": None}, count="firms", vintage="2026")
    alone = dk.suppress(table, RULE)
    kept = dk.suppress(table, RULE, previous=then, previous_discount=50)
    hidden = [dict(zip(["Total", "N", "S", "W"], r.published.suppressed.tolist(), strict=True))
              for r in (alone, kept)]  # fmt: skip
    assert hidden[0] == {"Total": False, "N": True, "S": True, "W": False}
    assert hidden[1] == {"Total": False, "N": True, "S": False, "W": True}


def test_public_files_of_two_inputs_with_the_same_pattern_are_the_same_bytes(tmp_path):
    """Which of two hidden cells is the primary one changes nothing that leaves."""
    made = {}
    for name, then, now in (
        ("one", THEN, NOW),
        ("other", {"S": 7, "N": 8, "W": 2, "Q": 4}, {"N": 5, "S": 7, "W": 2, "E": 9}),
    ):
        (tmp_path / name).mkdir()
        protect("2025", then).write(tmp_path / name / "2025", FORMATS, keys=KEYS)
        folder = tmp_path / name / "2026"
        protect("2026", now).write(folder, FORMATS, keys=KEYS, previous=tmp_path / name / "2025")
        made[name] = {path.name: path.read_bytes() for path in (folder / "public").iterdir()}
        certificate = json.loads(made[name].pop("firms.certificate.json"))
        made[name]["said"] = certificate["difference"]
    assert made["one"] == made["other"]


# ── what is refused ─────────────────────────────────────────────────────────────────


def restamp(public):
    """List today's digests, as anyone can."""
    path = public / "firms.certificate.json"
    said = content(path)
    now = public_digests(public)
    said["files"] = {name: now[name] for name in said["files"]}
    path.write_text(json.dumps(said), encoding="utf-8")


TAMPERED = {
    "another value": ("E,,absent,9,published", "E,,absent,8,published"),
    "a hidden value": ("N,8,published,,suppressed", "N,8,published,2,suppressed"),
    "primaries told apart": ("N,8,published,,suppressed", "N,8,published,,primary"),
    "a row left out": ("E,,absent,9,published\n", ""),
    "a row twice": ("E,,absent,9,published\n", "E,,absent,9,published\n" * 2),
    "a row that is no difference": ("E,,", "S,7,published,7,published\nE,,"),
    "another earlier value": ("Total,21,", "Total,22,"),
    "another order": ("E,,absent,9,published\nN,8,published,,suppressed",
                      "N,8,published,,suppressed\nE,,absent,9,published"),
}  # fmt: skip


@pytest.mark.parametrize("tampered", TAMPERED.values(), ids=TAMPERED)
def test_a_tampered_difference_is_refused_even_with_new_digests(tampered, home, public):
    dk.verify(public, releases=[home / "2025"])
    path = public / "firms_difference.csv"
    text = path.read_text("utf-8")
    assert tampered[0] in text
    path.write_text(text.replace(*tampered), encoding="utf-8")
    restamp(public)
    with pytest.raises(VerificationError, match="firms_difference"):
        dk.verify(public, releases=[home / "2025"])


def without(public, *endings):
    """Leave out files of the difference, as anyone can."""
    path = public / "firms.certificate.json"
    said = content(path)
    for ending in endings:
        (public / f"firms_difference{ending}").unlink()
        del said["files"][f"firms_difference{ending}"]
    path.write_text(json.dumps(said), encoding="utf-8")


def test_a_csv_alone_is_compared_with_both_deliveries(home, public):
    without(public, ".parquet", ".xlsx")
    path = public / "firms_difference.csv"
    path.write_text(path.read_text("utf-8").replace("Total,21,", "Total,22,"), encoding="utf-8")
    restamp(public)
    dk.verify(public)  # of the last delivery nobody else can tell
    with pytest.raises(VerificationError, match="does not hold the difference between"):
        dk.verify(public, releases=[home / "2025"])


def test_a_workbook_of_a_difference_looks_as_it_was_written(home, public):
    path = public / "firms_difference.xlsx"
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b' s="4"', b' s="1"')  # all numbers alike, but bold
    with zipfile.ZipFile(path, "w") as archive:
        for name, part in parts.items():
            archive.writestr(name, part)
    restamp(public)
    for releases in ([], [home / "2025"]):
        with pytest.raises(VerificationError, match="firms_difference.xlsx has 4 cells"):
            dk.verify(public, releases=releases)


def test_a_difference_of_a_table_that_is_not_there_is_refused(public):
    outline, path = public / "firms_difference.previous.json", public / "firms.certificate.json"
    outline.write_text(json.dumps({**content(outline), "table": "other"}), encoding="utf-8")
    said = content(path)
    del said["difference"]
    path.write_text(json.dumps(said), encoding="utf-8")
    restamp(public)
    with pytest.raises(VerificationError, match="'other', which is no table of this release"):
        dk.verify(public)


@pytest.mark.parametrize("tampered", ["another value", "a hidden value", "a row twice"])
def test_values_of_this_delivery_are_checked_without_the_last_one(tampered, public):
    path = public / "firms_difference.csv"
    path.write_text(path.read_text("utf-8").replace(*TAMPERED[tampered]), encoding="utf-8")
    restamp(public)
    with pytest.raises(VerificationError, match="firms_difference"):
        dk.verify(public)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("N,8,published", "N,8,primary"),
        ("N,8,published", "N,,published"),
        ("N,8,published", "N,eight,published"),
        ("Q,,suppressed", "Q,1,suppressed"),
    ],
)
def test_what_no_delivery_can_show_is_refused_without_the_last_one(old, new, public):
    path = public / "firms_difference.csv"
    text = path.read_text("utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    restamp(public)
    with pytest.raises(VerificationError, match="no delivery can have shown"):
        dk.verify(public)


@pytest.mark.parametrize("ending", [".xlsx", ".parquet"])
def test_another_file_in_place_of_a_difference_is_refused_without_the_last_one(
    ending, home, public
):
    other = home / "2026" / "internal" / "firms.cells.xlsx"
    if ending == ".parquet":
        other = other.with_suffix(ending)
    shutil.copy(other, public / f"firms_difference{ending}")
    restamp(public)
    with pytest.raises(VerificationError, match=f"firms_difference{ending}"):
        dk.verify(public)


def test_a_certificate_that_counts_otherwise_or_says_nothing_is_refused(public):
    dk.verify(public)
    path = public / "firms.certificate.json"
    said = content(path)
    counts = {**said["difference"], "published": 1}
    for changed in ({**said, "difference": counts}, {**said, "difference": {}}):
        path.write_text(json.dumps(changed), encoding="utf-8")
        with pytest.raises(VerificationError):
            dk.verify(public)
    del said["difference"]
    path.write_text(json.dumps(said), encoding="utf-8")
    with pytest.raises(VerificationError, match="does not name its difference"):
        dk.verify(public)


def test_the_guard_refuses_what_is_written_otherwise_than_both_tables_show(
    home, tmp_path, monkeypatch
):
    honest = Difference.text.func
    monkeypatch.setattr(Difference, "text", property(lambda self: honest(self).slice(1)))
    with pytest.raises(ProofError, match="does not hold the difference"):
        protect("2026", NOW).write(tmp_path / "out", ["csv"], keys=KEYS, previous=home / "2025")
    assert not (tmp_path / "out").exists()


def test_the_guard_knows_no_other_file_of_that_name():
    assert check.file_names(differences=["a_difference"]) == {
        f"a_difference{ending}" for ending in (".csv", ".parquet", ".xlsx", ".previous.json")
    }


def test_a_table_that_is_called_like_a_difference_is_refused(tmp_path):
    results = [protect("2025", THEN, name="a"), protect("2025", THEN, name="A_difference")]
    results = [results[0], dk.suppress(results[1].table, RULE, name="A_difference")]
    first = dk.suppress([r.table for r in results], RULE, name=["a", "A_difference"])
    dk.write(first, tmp_path / "2025", ["csv"], keys=KEYS)
    tables = [protect("2026", NOW).table for _ in results]
    now = dk.suppress(tables, RULE, name=["a", "A_difference"])
    with pytest.raises(InputError, match="is taken by another table or figure"):
        dk.write(now, tmp_path / "2026", ["csv"], keys=KEYS, previous=tmp_path / "2025")
    assert not (tmp_path / "2026").exists()


def test_a_last_delivery_that_is_none_is_refused_with_the_remedy(home, tmp_path):
    now = protect("2026", NOW)
    (tmp_path / "empty").mkdir()
    for folder, said in (
        (tmp_path / "nowhere", "there is no folder"),
        (tmp_path / "empty", "holds no published table"),
    ):
        with pytest.raises(InputError, match=said):
            now.write(tmp_path / "out", ["csv"], keys=KEYS, previous=folder)
    other = protect("2026", NOW, name="shops")
    with pytest.raises(InputError, match="holds the tables firms and none of these: shops"):
        other.write(tmp_path / "out", ["csv"], keys=KEYS, previous=home / "2025")
    with pytest.raises(InputError, match="cannot be replaced by a release that refers to it"):
        now.write(home / "2025", ["csv"], keys=KEYS, previous=home / "2025")
    path = home / "2025" / "public" / "firms.csv"
    path.write_text(path.read_text("utf-8").replace("S,7", "S,6"), encoding="utf-8")
    with pytest.raises(InputError, match="are not those that its certificate lists"):
        now.write(tmp_path / "out", ["csv"], keys=KEYS, previous=home / "2025")
    assert not (tmp_path / "out").exists()


def test_a_table_that_is_new_has_no_difference(home, tmp_path):
    results = [protect("2026", NOW), protect("2026", NOW).table]
    both = dk.suppress([results[0].table, results[1]], RULE, name=["firms", "new"])  # pyright: ignore
    dk.write(both, tmp_path / "out", ["csv"], keys=KEYS, previous=home / "2025")
    names = {path.name for path in (tmp_path / "out" / "public").glob("*_difference*")}
    assert names == {"firms_difference.csv", "firms_difference.previous.json"}
    dk.verify(tmp_path / "out", keys=KEYS, releases=[home / "2025"])


def test_changed_values_have_a_difference_and_no_reasons(tmp_path):
    folders = []
    for vintage, parts in (("2025", THEN), ("2026", NOW)):
        table = protect(vintage, parts).table
        result = dk.round_table(table, base=5, method="deterministic", name="firms")
        folders.append(tmp_path / vintage)
        last = folders[0] if vintage == "2026" else None
        dk.write([result], folders[-1], ["csv"], keys=KEYS, previous=last)
    text = (folders[1] / "public" / "firms_difference.csv").read_text("utf-8")
    assert text.splitlines()[1:] == [
        "Total,20,published,25,published",
        "E,,absent,10,published",
        "N,10,published,0,published",
        "Q,0,published,,absent",
    ]
    assert not list((folders[1] / "internal").glob("*since*"))
    dk.verify(folders[1], keys=KEYS, releases=[folders[0]])

"""What the office's files prove of tables that were attacked together, one fact altered at a time.

Each is sealed anew, and verified without the key: fingerprints are another matter.
"""

import json
import shutil
from functools import cache

import numpy as np
import pyarrow as pa
import pytest
from sealing import reseal

import diskret as dk
from diskret.errors import VerificationError
from diskret.publish.verify.folder import verify

KEYS = dk.SecretKeys(bytes(range(32)))
RULE = dk.rules.MinimumFrequency(3)
FEW = dk.rules.MinimumFrequency(4)
CONTRIBUTOR = dk.Attacker(contributor=True)


def contributors(folder):
    """Two tables of the same cells, of which the second one groups two."""
    numbers = [1, 2, 8, 9, 6, 2, 1, 9, 8, 5]
    codes = [f"c{i}" for i in range(5)] * 2
    cells = pa.table({"r": ["a"] * 5 + ["b"] * 5, "c": codes, "n": numbers})
    fine = dk.Table.from_cells(cells, by={"r": None, "c": None}, count="n")
    tables = [fine, fine.recode("c", {"c34": ["c3", "c4"]})]
    results = dk.suppress(tables, FEW, attacker=CONTRIBUTOR, name=["one", "two"])
    return dk.write(results, folder, ["csv"], keys=KEYS)


def filtered(folder, men=3, name="rests"):
    """Everybody and women, so that men are what is left."""
    rows = [("N", "f")] * 20 + [("N", "m")] * men + [("S", "f")] * 30 + [("S", "m")] * 12
    region, sex = zip(*rows, strict=True)
    frame = pa.table({"region": region, "sex": sex})
    tables = [
        dk.tabulate(frame, by={"region": None}),
        dk.tabulate(frame, by={"region": None}, where={"sex": "f"}),
    ]
    results = dk.suppress(tables, RULE, name=["all", "women"])
    return dk.write(results, folder, ["csv"], keys=KEYS)


def rounded(folder):
    """Values of which only tens are published, with hidden ones."""
    cells = pa.table({"c": list("abcd"), "n": [9, 1, 2, 30], "v": [914, 137, 263, 3018]})
    table = dk.Table.from_cells(cells, by={"c": None}, count="n", value="v").rounded(10)
    return dk.suppress(table, RULE, name="v").write(folder, ["csv"], keys=KEYS)


def counted(folder, known=False):
    """Counts, of which hidden ones could be 0 for all that an outsider knows."""
    numbers = [1, 2, 8, 2, 1, 9, 8, 9, 30]
    cells = pa.table({"r": list("aaabbbccc"), "c": list("xyz") * 3, "n": numbers})
    table = dk.Table.from_cells(cells, by={"r": None, "c": None}, count="n")
    attacker = dk.Attacker(zeros_known=known)
    return dk.suppress(table, RULE, attacker=attacker, name="n").write(folder, ["csv"], keys=KEYS)


MADE = {made.__name__: made for made in (contributors, filtered, rounded, counted)}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    home = tmp_path_factory.mktemp("office")
    return cache(lambda name: MADE[name](home / name))


@pytest.fixture
def release(written, tmp_path, monkeypatch):
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "nothing"))
    return lambda name: shutil.copytree(written(name), tmp_path / name)


def refused(folder, words):
    reseal(folder, KEYS)
    with pytest.raises(VerificationError, match=words):
        verify(folder)


def listed(folder, change):
    """The list of contributors, altered."""
    path = folder / "internal" / "one.insiders.npz"
    with np.load(path) as file:
        arrays = dict(file)
    change(arrays)
    np.savez_compressed(path, **arrays)


def cells(folder, name, change):
    """Lines of the office's file of cells, as lists, the first one names the columns."""
    path = folder / "internal" / f"{name}.cells.csv"
    rows = [line.split(",") for line in path.read_text("utf-8").splitlines()]
    change(rows[0], rows[1:])
    path.write_text("\n".join(",".join(row) for row in rows) + "\n", encoding="utf-8")


@pytest.mark.parametrize("name", MADE)
def test_untouched_they_are_confirmed(release, written, name):
    report = verify(release(name))
    assert report.checked_internal and not report.sealed
    assert verify(written(name), keys=KEYS).sealed
    for line in report.lines:
        assert "not proven again" not in line


def test_both_tables_and_their_sums_are_proven(release):
    lines = verify(release("contributors")).lines
    assert sum("proven again by" in line for line in lines) == 2


# ── contributors ────────────────────────────────────────────────────────────────────


def test_original_values_of_the_list_are_those_of_the_tables(release):
    for at in (0, 1):
        folder = release("contributors")
        listed(folder, lambda arrays, at=at: arrays["truth"].__setitem__(at, 99))
        refused(folder, "the list of contributors is of other values")
        shutil.rmtree(folder)


@pytest.mark.parametrize("at", range(4))
def test_each_level_against_contributors_is_that_of_the_rule(release, at):
    folder = release("contributors")
    with np.load(folder / "internal" / "one.insiders.npz") as file:
        number = len(file["most_upper"])

    def more(arrays):
        arrays["most_upper"][at if at < 2 else number - at + 1] += 1

    listed(folder, more)
    refused(folder, "asks for other levels than the rule does in 1 unsafe cell or sum")


def test_a_sum_that_is_not_asked_for_is_missed(release):
    """The list of unsafe sums says more than the list of contributors."""
    folder = release("contributors")
    for name in ("one", "two"):
        path = folder / "internal" / f"{name}.sums.json"
        said = json.loads(path.read_text("utf-8"))
        kept = path.read_text("utf-8")
        assert said["unsafe"]
        said["unsafe"][0]["upper"] += 1
        path.write_text(json.dumps(said), encoding="utf-8")
        refused(folder, f"{name}: the list of contributors asks for other levels")
        path.write_text(kept, encoding="utf-8")


def test_a_primary_cell_that_is_not_asked_for_is_missed(release):
    for name in ("one", "two"):
        folder = release("contributors")

        def raised(head, rows):
            at = head.index("upper_level")
            row = next(row for row in rows if "primary" in row)
            row[at] = str(int(row[at]) + 1)

        cells(folder, name, raised)
        refused(folder, f"{name}: the list of contributors asks for other levels")
        shutil.rmtree(folder)


def test_what_witnesses_do_not_prove_of_sums_is_missed(release):
    for name in ("one", "two"):
        folder = release("contributors")
        path = folder / "internal" / f"{name}.sums.json"
        said = json.loads(path.read_text("utf-8"))
        said["unsafe"][-1]["upper"] = 10**9
        path.write_text(json.dumps(said), encoding="utf-8")
        refused(folder, f"{name}: the witnesses do not prove the requirements of 1 sum")
        shutil.rmtree(folder)


def test_what_witnesses_do_not_prove_of_cells_is_missed(release):
    for name in ("one", "two"):
        folder = release("contributors")

        def raised(head, rows):
            row = next(row for row in rows if "primary" in row)
            row[head.index("upper_level")] = "99999"

        cells(folder, name, raised)
        refused(folder, f"{name}: the witnesses do not prove the requirements of 1 cell")
        shutil.rmtree(folder)


def test_witnesses_hold_for_who_knows_of_zeros_where_that_is_claimed(release, tmp_path):
    folder = release("counted")
    path = folder / "public" / "n.certificate.json"
    said = json.loads(path.read_text("utf-8"))
    told = counted(tmp_path / "told", known=True) / "public" / path.name
    claims = {key: json.loads(told.read_text("utf-8"))[key] for key in ("attacker", "not_claimed")}
    assert claims["attacker"] == "informed" and claims["not_claimed"] != said["not_claimed"]
    path.write_text(json.dumps(said | claims), encoding="utf-8")
    refused(folder, "witness .* leaves the bounds of")
    assert verify(told.parents[1]).checked_internal


def test_original_values_are_those_of_the_fingerprint(release):
    folder = release("contributors")
    lines = verify(folder, keys=KEYS).lines
    assert sum(line.endswith("witnesses; input fingerprint confirmed") for line in lines) == 2
    folder = release("rounded")

    def other(head, rows):
        row = next(row for row in rows if row[0] == "d")
        row[head.index("count")] = "31"

    cells(folder, "v", other)
    reseal(folder, KEYS)
    verify(folder)
    with pytest.raises(VerificationError, match="v: the internal table is not the one that was"):
        verify(folder, keys=KEYS)


def test_witnesses_are_of_these_cells(release):
    folder = release("contributors")
    path = folder / "internal" / "one.witnesses.npz"
    shutil.copy(release("filtered") / "internal" / "all.witnesses.npz", path)
    refused(folder, "witnesses")


def test_tables_together_are_attacked_in_one_way(release):
    folder = release("contributors")
    path = folder / "public" / "two.certificate.json"
    said = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(said | {"attacker": "outsider"}), encoding="utf-8")
    refused(folder, "one, two do not name the same attacker")


# ── what is left beside filters ─────────────────────────────────────────────────────


def says(folder, name, **more):
    path = folder / "internal" / f"{name}.certificate.json"
    path.write_text(json.dumps(json.loads(path.read_text("utf-8")) | more), encoding="utf-8")


@pytest.mark.parametrize("name", ["all", "women"])
def test_as_many_rests_were_judged_as_are_told(release, name):
    folder = release("filtered")
    for fits in ({"rests_judged": 3}, {"rests_judged": 4}):
        says(folder, name, **fits)
        reseal(folder, KEYS)
        verify(folder)
    says(folder, name, rests_judged=2)
    refused(folder, f"{name}: subtraction leaves 3 cells beside filters, and 2 were judged")
    says(folder, name, rests_judged=2, rests_not_judged=1)
    refused(folder, f"{name}: subtraction leaves 3 cells beside filters")
    says(folder, name, rests_judged=3, rests_not_judged=1)
    refused(folder, f"{name}: subtraction leaves 3 cells beside filters")


def test_rests_that_nobody_counted_were_not_judged(release):
    folder = release("filtered")
    path = folder / "internal" / "all.certificate.json"
    said = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps({k: v for k, v in said.items() if "rests" not in k}))
    refused(folder, "all: subtraction leaves 3 cells beside filters, and 0 were judged")
    path.write_text("[1]")
    refused(folder, "all: the office's certificate does not say what was judged")
    path.write_text(json.dumps(said | {"rests_judged": True}))
    refused(folder, "all: the office's certificate does not say what was judged")


# ── values ──────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("by", "fits"), [(5, True), (6, False), (-5, True), (-6, False)])
def test_rounded_values_are_within_half_of_what_they_are_rounded_to(release, by, fits):
    folder = release("rounded")
    public = (folder / "public" / "v.csv").read_text("utf-8")
    shown = next(line.split(",") for line in public.splitlines() if line.startswith("d,"))

    def other(head, rows):
        row = next(row for row in rows if row[0] == "d")
        row[head.index("v")] = str(int(shown[1]) + by)

    cells(folder, "v", other)
    if fits:
        reseal(folder, KEYS)
        verify(folder)
    else:
        refused(folder, "v: public and internal values differ")


def test_texts_of_the_office_may_be_empty(release):
    """A column of the office in which nothing stands is no column of missing values."""
    folder = release("rounded")
    cells(folder, "v", lambda head, rows: [row.append("") for row in [*rows]] and head.append("x"))
    reseal(folder, KEYS)
    verify(folder)

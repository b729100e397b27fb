"""A released folder has the form that the SACRO viewer reads, field by field.

The viewer is not run here. What it reads is told by public files of ACRO (`results.json` of version
0.4.12) and of the viewer itself (`outputs.json`): a version from 0.4 on; for each result, by its
uid, one of three statuses, a type, files beside the list, cells by row and column, texts for
command, summary, comments and exception, and a time in ISO 8601; for each file a SHA-256 digest in
`checksums/NAME.txt`. It takes `outputs.json`, else the only JSON file that is such a list, and
reads `config.json`. Tables are shown from CSV, other files as pictures, texts or JSON.
"""

import copy
import hashlib
import json
import re
import shutil
from datetime import datetime
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from altered_texts import altered_texts

import diskret as dk
from diskret.errors import InputError, VerificationError
from diskret.keys import SecretKeys
from diskret.outputs.bundle import CHECKSUMS, leaving, write_bundle
from diskret.outputs.events import Event, Item
from diskret.outputs.kept import Submitted
from diskret.publish.bundle import check_public
from diskret.publish.staging import staged

STATUSES = {"pass", "review", "fail"}
#: Type → kinds of files that the viewer shows of it; none: any.
TYPES = {"table": {".csv"}, "regression": {".csv"}, "custom": set()}
FIELDS = {
    "uid": str,
    "status": str,
    "type": str,
    "properties": dict,
    "files": list,
    "outcome": dict,
    "command": str,
    "summary": str,
    "timestamp": str,
    "comments": list,
    "exception": str,
}
#: What newer versions of ACRO write besides.
MORE = {"fair": dict}


def listing(folder):
    """The list that the viewer finds: by its name, or as the only one that has its form."""
    if (folder / "outputs.json").exists():
        return folder / "outputs.json"
    valid = []
    for path in folder.glob("*.json"):
        content = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(content, dict) and {"version", "results"} <= {*content}:
            valid.append(path)
    assert len(valid) == 1, f"the viewer cannot tell which list to take: {valid}"
    return valid[0]


def check_folder(folder):
    """All that the viewer reads, strictly; returns the results."""
    path = listing(folder)
    content = json.loads(path.read_bytes().decode("utf-8"), parse_constant=pytest.fail)
    assert {*content} == {"version", "results"}
    number = re.fullmatch(r"(\d+)\.(\d+)\.(\d+)", content["version"])
    assert number and tuple(map(int, number.groups())) >= (0, 4, 0)
    assert not (folder / "config.json").exists()
    assert content["results"]
    named = {path.name}
    for uid, result in content["results"].items():
        assert {*FIELDS} <= {*result} <= {*FIELDS, *MORE}
        for field, kind in {**FIELDS, **MORE}.items():
            assert type(result.get(field, kind())) is kind, (uid, field)
        assert result["uid"] == uid
        assert result["status"] in STATUSES and result["summary"].startswith(result["status"])
        assert all(type(one) is str for one in result["comments"])
        assert datetime.fromisoformat(result["timestamp"])
        assert "Z" not in result["timestamp"]  # which Python 3.10 cannot read
        assert result["files"]
        for file in result["files"]:
            assert {*file} == {"name", "sdc"}
            name, sdc = file["name"], file["sdc"]
            assert type(name) is str and name not in ("", ".", "..")
            assert not re.search(r"[/\\:\0]", name), "paths are relative to the folder"
            assert name not in named, "each file belongs to one result"
            named.add(name)
            shown = (folder / name).suffix.lower()
            assert not TYPES[result["type"]] or shown in TYPES[result["type"]]
            assert {*sdc} <= {"summary", "cells"}
            assert all(type(one) in (int, bool) for one in sdc.get("summary", {}).values())
            for places in sdc.get("cells", {}).values():
                assert all(len(place) == 2 and {*map(type, place)} == {int} for place in places)
            if shown == ".csv":
                pd.read_csv(folder / name)
    inside = {one.name for one in folder.iterdir() if one.is_file()}
    assert inside == named, "nothing lies in the folder that is not named"
    sums = {one.name: one.read_text().strip() for one in (folder / "checksums").iterdir()}
    assert sums == {
        f"{name}.txt": hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in named
    }
    return content["results"]


def firms():
    draw = np.random.default_rng(1)
    data = pd.DataFrame(
        {
            "town": ["A"] * 11 + ["B"] * 89,
            "sex": draw.choice(["f", "m"], 100),
            "pay": draw.uniform(40, 60, 100),
            "years": np.ceil(draw.exponential(3, 100)).clip(1, 3),
            "size": draw.normal(10, 2, 100),
            "all": "x",
        }
    )
    return data.assign(closed=(data.years < 3).astype(int))


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    """A folder with results of many kinds, an exception, and files that are not tables."""
    place = tmp_path_factory.mktemp("desk")
    data, keys, check = firms(), place / "keys", dk.check
    dk.Ledger.create(place / "ledger.db", keys=keys)
    rules = dk.check.Profile(threshold=10, excepting=("head",), verdicts={"zero": "pass"})
    project = check.Project.create(
        "firms", place / "ledger.db", data, profile=rules, keys=keys, who="Kim"
    )
    (place / "notes.txt").write_text("what was done")
    (place / "figures.json").write_text('{"version": 1}')
    (place / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    fitted = smf.ols("pay ~ size", data).fit()
    results = {
        "by town": project.check(check.crosstab, data.town, data["all"]),
        "mean pay": project.check(check.groupby, data, "sex", {"pay": "mean"}),
        "regression é": project.check(check.model, fitted),
        "variances": project.check(check.anova, fitted),
        "curve": project.check(check.survival, data, "years", "closed"),
        "components": project.check(check.components, data, ["pay", "size"]),
        "correlation": project.check(check.correlation, data, ["pay", "size"]),
        "test": project.check(check.ttest, data, "pay", "sex"),
        "largest": project.check(check.quantile, data, "pay", 1.0),
    }
    project.submit(results.pop("by town"), "by town", who="Kim")
    desk = check.Desk(place / "ledger.db", keys=keys)
    desk.decide("firms", "by town", "accept", who="head", why="seen")
    for name, checked in results.items():
        project.accept(checked, name, who="head", why="agreed")
    desk.release("firms", place / "released", who="head")
    return place / "released"


def test_released_folder_is_what_the_viewer_reads(released):
    results = check_folder(released / "public")
    assert {one["type"] for one in results.values()} == {"table", "regression"}
    assert {one["status"] for one in results.values()} == {"pass", "review"}
    assert {one["name"] for one in results["regression é"]["files"]} == {
        "regression é.csv",
        "regression é 2.csv",
        "regression é 3.csv",
    }


def test_single_numbers_and_tests_leave_as_tables(released):
    test = pd.read_csv(released / "public" / "test.csv")
    assert [*test.columns] == ["statistic", "freedom", "p_value"] and len(test) == 1
    largest = pd.read_csv(released / "public" / "largest.csv")
    assert largest.value.tolist() == [float(f"{firms().pay.max():.5g}")]


@pytest.mark.parametrize(
    "damage",
    [
        lambda folder: (folder / "outputs.json").write_text("{}"),
        lambda folder: (folder / "config.json").write_text("{}"),
        lambda folder: (folder / "b.json").write_text('{"version": "1", "results": {}}'),
        lambda folder: (folder / "curve.csv").unlink(),
        lambda folder: (folder / "curve.csv").write_text("1"),
        lambda folder: (folder / "checksums" / "curve.csv.txt").write_text("1"),
        lambda folder: rewritten(folder, '"uid": "curve"', '"uid": "other"'),
        lambda folder: rewritten(folder, '"name": "curve.csv"', '"name": "../curve.csv"'),
        lambda folder: rewritten(folder, '"type": "table"', '"type": "sheet"'),
        lambda folder: rewritten(folder, '"version": "1.0.1"', '"version": "0.3.0"'),
    ],
)
def test_what_the_viewer_would_stumble_over_is_seen(released, tmp_path, damage):
    folder = tmp_path / "public"
    shutil.copytree(released / "public", folder)
    check_folder(folder)
    damage(folder)
    with pytest.raises((AssertionError, KeyError, FileNotFoundError, ValueError)):
        check_folder(folder)


def test_no_text_of_the_list_can_be_altered(released, tmp_path):
    """But for types and times, which must be such, with the checksum made anew."""
    folder = Path(shutil.copytree(released / "public", tmp_path / "public"))
    said = json.loads((folder / "results.json").read_text("utf-8"))
    assert check_public(folder)
    tried = [(f"{where}: {what}", new) for where, what, new in altered_texts(said, {})]
    for where in ("version", "timestamp", "exception", "name"):
        assert any(one.partition(":")[0].endswith(where) for one, _ in tried)
    for where, new in tried:
        put_list(folder, new)
        with pytest.raises(VerificationError, match=r"results\.json|is missing"):
            pytest.fail(f"{where} passes: {check_public(folder)}")
    later = copy.deepcopy(said)
    for result in later["results"].values():
        result |= {"timestamp": "2031-05-01T10:00:00+00:00", "type": "custom"}
    put_list(folder, later)
    assert check_public(folder)


def put_list(folder, content):
    path = folder / "results.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    (folder / "checksums" / "results.json.txt").write_text(
        hashlib.sha256(path.read_bytes()).hexdigest()
    )


def rewritten(folder, old, new):
    path = folder / "results.json"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    sum_of = folder / "checksums" / "results.json.txt"
    sum_of.write_text(hashlib.sha256(path.read_bytes()).hexdigest())


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("outputs.json", b"{}", "can be called"),
        ("config.json", b"{}", "can be called"),
        ("results.json", b"{}", "can be called"),
        ("Config.JSON", b"{}", "can be called"),
        ("a/b.csv", b"1", "can be called"),
        ("a\\b.csv", b"1", "can be called"),
        ("a: b?.csv", b"1", "can be called"),
        ("mine.json", b'{"version": "1", "results": {}}', "for its list of results"),
        ("mine.JSON", b'\xef\xbb\xbf{"results": 1, "version": 2}', "for its list of results"),
    ],
)
def test_files_that_mean_something_to_the_viewer_do_not_leave(tmp_path, name, content, said):
    def write(name, content):
        files = {name: content}
        one = Submitted("file", ("said",), (), (), "", files, None)
        when = "2026-01-01T10:00:00+00:00"
        accepted = Event(1, "p", "accepted", "r", "Lee", when, verdict="pass")
        item = Item("r", "accepted", (accepted,))
        keys = SecretKeys.load(tmp_path / "keys")
        files = leaving([(item, one)])
        with staged(tmp_path / "out", keys, (CHECKSUMS,)) as stage:
            write_bundle(stage, "p", files, [accepted])
        return tmp_path / "out"

    with pytest.raises(InputError, match=said):
        write(name, content)
    results = check_folder(write("notes.json", b'{"version": 1}') / "public")
    assert results["r"]["type"] == "custom"

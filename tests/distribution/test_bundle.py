"""A bundle installs without network what it lists, and nothing that was put in later."""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import bundle
import pytest

TIME = 1_700_000_000
META = """\
Metadata-Version: 2.4
Name: {name}
Version: {version}
License-Expression: {licence}
{needs}"""


def wheel(folder, name, version="1.0", licence="MIT", needs=()):
    """A wheel that holds one module."""
    stem = f"{name.replace('-', '_')}-{version}"
    info = f"{stem}.dist-info"
    asked = "".join(f"Requires-Dist: {one}\n" for one in needs)
    meta = META.format(name=name, version=version, licence=licence, needs=asked)
    path = folder / f"{stem}-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name.replace('-', '_')}.py", f"name = {name!r}\n")
        archive.writestr(f"{info}/METADATA", meta)
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/licenses/LICENSE", f"terms of {name}")
        archive.writestr(f"{info}/licenses/vendor/LICENSE", "terms of a part")
        archive.writestr(f"{info}/RECORD", "")
    return path


@pytest.fixture
def folder(tmp_path):
    inside = tmp_path / "bundle" / "wheels"
    inside.mkdir(parents=True)
    wheel(inside, "diskret", "0.1.0", "Apache-2.0", ["some-part>=1", "not-here; extra == 'x'"])
    wheel(inside, "some-part", "1.5", "MIT", ["other_part"])
    wheel(inside, "Other.Part", "2.0", "BSD-3-Clause OR GPL-3.0-only")
    return tmp_path / "bundle"


def install(folder, target):
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--target", str(target)]
    command += [
        "--no-index",
        "--find-links",
        "wheels",
        "--require-hashes",
        "-r",
        "requirements.txt",
    ]
    own = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    own["PIP_CONFIG_FILE"] = os.devnull
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True)


@pytest.mark.long
def test_it_installs_without_an_index(folder, tmp_path):
    bundle.describe(folder, TIME, "any Python")
    done = install(folder, tmp_path / "there")
    assert done.returncode == 0, done.stderr
    assert {p.name for p in (tmp_path / "there").glob("*.py")} == {
        "diskret.py",
        "some_part.py",
        "Other.Part.py",
    }


@pytest.mark.long
def test_a_wheel_that_was_exchanged_is_not_installed(folder, tmp_path):
    bundle.describe(folder, TIME, "any Python")
    path = folder / "wheels" / "some_part-1.5-py3-none-any.whl"
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("thief.py", "")
    done = install(folder, tmp_path / "there")
    assert done.returncode != 0 and "DO NOT MATCH THE HASHES" in done.stderr


def test_requirements_name_each_wheel_with_its_hash(folder):
    bundle.describe(folder, TIME, "any Python")
    lines = (folder / "requirements.txt").read_text("utf-8").splitlines()
    digests = {hashlib.sha256(p.read_bytes()).hexdigest() for p in (folder / "wheels").iterdir()}
    assert {line.rpartition("sha256:")[2] for line in lines} == digests
    assert [line.partition(" ")[0] for line in lines] == [
        "diskret==0.1.0",
        "other-part==2.0",
        "some-part==1.5",
    ]


def test_the_sbom_tells_components_licences_and_who_needs_whom(folder):
    bundle.describe(folder, TIME, "any Python")
    said = json.loads((folder / "sbom.cdx.json").read_text("utf-8"))
    assert (said["bomFormat"], said["specVersion"]) == ("CycloneDX", "1.6")
    assert said["metadata"]["component"]["purl"] == "pkg:pypi/diskret@0.1.0"
    assert said["metadata"]["timestamp"] == "2023-11-14T22:13:20+00:00"
    parts = {one["name"]: one for one in said["components"]}
    assert parts.keys() == {"other-part", "some-part"}
    assert parts["other-part"]["licenses"] == [{"expression": "BSD-3-Clause OR GPL-3.0-only"}]
    needs = {one["ref"]: one["dependsOn"] for one in said["dependencies"]}
    assert needs == {
        "pkg:pypi/diskret@0.1.0": ["pkg:pypi/some-part@1.5"],
        "pkg:pypi/some-part@1.5": ["pkg:pypi/other-part@2.0"],
        "pkg:pypi/other-part@2.0": [],
    }


def test_the_same_wheels_make_the_same_bundle(folder, tmp_path):
    bundle.describe(folder, TIME, "any Python")
    other = tmp_path / "other"
    shutil.copytree(folder / "wheels", other / "wheels")
    bundle.describe(other, TIME, "any Python")
    sums = (folder / "SHA256SUMS").read_text("utf-8")
    assert sums == (other / "SHA256SUMS").read_text("utf-8")
    listed = {line[66:] for line in sums.splitlines()}
    there = {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}
    assert listed == there - {"SHA256SUMS"}


def test_texts_of_licences_are_in_it(folder):
    bundle.describe(folder, TIME, "any Python")
    assert (folder / "licences" / "some-part" / "LICENSE").read_text() == "terms of some-part"
    assert (folder / "licences" / "some-part" / "vendor-LICENSE").read_text() == "terms of a part"
    assert "| other-part | 2.0 |" in (folder / "licences.md").read_text("utf-8")


def test_a_wheel_under_another_licence_is_refused(folder):
    wheel(folder / "wheels", "copyleft", licence="GPL-3.0-only")
    with pytest.raises(SystemExit, match="copyleft is under GPL-3.0-only"):
        bundle.describe(folder, TIME, "any Python")


# ── the wheel and the sdist ─────────────────────────────────────────────────────────


@pytest.mark.long
def test_wheel_and_sdist_are_the_same_bytes_wherever_they_are_built(tmp_path, monkeypatch):
    bundle.build(tmp_path / "one", TIME)
    ignored = shutil.ignore_patterns(".git", ".venv*", "site", "out", "dist", "build", ".*_cache")
    copy = shutil.copytree(bundle.ROOT, tmp_path / "elsewhere", ignore=ignored)
    for path in copy.rglob("*.py"):
        os.utime(path, (1, 1))
    monkeypatch.setattr(bundle, "ROOT", copy)
    before = os.umask(0o077)
    try:
        bundle.build(tmp_path / "two", TIME)
    finally:
        os.umask(before)
    one, two = ({p.name: p.read_bytes() for p in (tmp_path / n).iterdir()} for n in ("one", "two"))
    assert len(one) == 2 and one.keys() == two.keys()
    assert [name for name in one if one[name] != two[name]] == []
    with zipfile.ZipFile(next((tmp_path / "one").glob("*.whl"))) as archive:
        names = archive.namelist()
    assert {"diskret/py.typed", "diskret/texts/de/commands.toml"} <= {*names}
    assert {Path(name).parts[0] for name in names} == {"diskret", "diskret-0.1.0.dist-info"}

"""Damaged files end in one sentence: no traceback, and never the end of the process."""

import copy
import json
import os
import random
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from every_family import FAMILIES, KEYS
from profiles import scaled
from sealing import reseal
from test_verify_forged import refresh
from typer.testing import CliRunner

import diskret
from diskret.cli.main import app
from diskret.errors import DiskretError, InputError
from diskret.io.from_json import misfits, parse_json, read_json
from diskret.publish.verify.folder import verify

TESTS = Path(__file__).parents[1]
DEEP = {"a": [{"b": [[[[[[]]]]]]}]}
OTHERS = [None, True, 0, -1, 2.5, 10**19, 1e300, "", "x", [], {}, [[]], ["x", 3], DEEP]


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    home = tmp_path_factory.mktemp("families")
    return {name: made(home / name) for name, made in FAMILIES.items()}


def places(content, at=()):
    """Every place in a JSON document, as the way to it."""
    yield at
    if isinstance(content, (dict, list)):
        for key in content if isinstance(content, dict) else range(len(content)):
            yield from places(content[key], (*at, key))


def changed(content, at, new):
    content = copy.deepcopy(content)
    inner = content
    for key in at[:-1]:
        inner = inner[key]
    inner[at[-1]] = new
    return content


@pytest.mark.parametrize("family", FAMILIES)
def test_a_field_of_another_type_is_refused_in_one_sentence(written, tmp_path, family):
    """In certificates, structures and descriptions, public and internal."""
    draw = random.Random(family)
    out = shutil.copytree(written[family], tmp_path / "out")
    files = [p for p in sorted(out.glob("*/*.json")) if "settings" not in p.name]
    for _ in range(scaled(14)):
        path = draw.choice(files)
        kept = {p: p.read_bytes() for p in out.glob("*/*")}
        content = json.loads(path.read_text("utf-8"))
        at = draw.choice([at for at in places(content) if at])
        before = content
        for key in at:
            before = before[key]
        new = draw.choice([o for o in OTHERS if type(o) is not type(before)])
        path.write_text(json.dumps(changed(content, at, new)), encoding="utf-8")
        if path.name.endswith(".certificate.json") and path.parent.name == "public":
            whole = isinstance(changed(content, at, new).get("files"), dict) and "files" not in at
        else:
            whole = True
        if whole:
            refresh(out / "public")
        if path.name != "content.json":
            reseal(out, KEYS)
        try:
            verify(out, keys=KEYS)
        except DiskretError:
            pass
        else:  # what the office notes and nobody reads again, or a field that may be null
            assert path.parent.name == "internal" or before is None or new is None, (path, at, new)
        for p, text in kept.items():
            p.write_bytes(text)


DAMAGED = {
    "deep": b"[" * 100_000,
    "deep and closed": b'{"a":' * 5_000 + b"1" + b"}" * 5_000,
    "a long number": b'{"schema": ' + b"9" * 10_000 + b"}",
    "a long decimal": b'{"schema": 1.' + b"9" * 10_000 + b"}",
    "a large number": b'{"schema": 1e999}',
    "no number": b'{"schema": NaN}',
    "a key twice": b'{"schema": "a", "schema": "b"}',
    "half a character": b'{"schema": "\\ud800"}',
    "another encoding": '{"schema": "größe"}'.encode("latin-1"),
    "zero bytes": b"\0" * 40,
    "nothing": b"",
    "a list": b"[1, 2]",
    "null": b"null",
    "a text": b'"diskret"',
    "cut off": b'{"schema": "diskret/cert',
}


@pytest.mark.parametrize("what", DAMAGED)
def test_what_is_no_json_of_ours_is_refused_in_one_sentence(written, tmp_path, what):
    for family in ("rounded", "safe"):
        out = shutil.copytree(written[family], tmp_path / family)
        for path in sorted(out.glob("*/*.json")):
            if "settings" in path.name:
                continue
            kept = path.read_bytes()
            path.write_bytes(DAMAGED[what])
            if path.parent.name == "public" and not path.name.endswith(".certificate.json"):
                refresh(out / "public")
            if path.name != "content.json":
                reseal(out, KEYS)
            try:
                verify(out, keys=KEYS)
            except DiskretError as refused:
                assert "Traceback" not in str(refused) and len(str(refused)) < 1000
            else:  # what the office notes and nobody reads again
                assert path.parent.name == "internal" and path.name != "content.json"
            path.write_bytes(kept)
            refresh(out / "public")
        assert not list(out.glob("*.part"))


@pytest.mark.parametrize("what", DAMAGED)
def test_json_from_outside_has_one_way_in(tmp_path, what):
    path = tmp_path / "x.json"
    path.write_bytes(DAMAGED[what])
    if what in ("a list", "null", "a text"):
        assert list(misfits(read_json(path), {"schema": str}))
    else:
        with pytest.raises(InputError, match=r"x\.json"):
            read_json(path)


def test_long_columns_are_checked_like_short_ones():
    form = {"n": [(int, float, None)], "beside": [{"name": str}]}
    fine = parse_json('{"n": [1, 2.5, null], "beside": [{"name": "a"}]}', "t")
    assert not list(misfits(fine, form))
    for wrong in ({"n": [1, "2"]}, {"n": [1, True]}, {"n": 1}, {"beside": [{"names": "a"}]}):
        assert list(misfits(wrong, form))


@pytest.mark.parametrize(
    "cell",
    [
        *(b"\xff\xfe", b'"'),
        *(
            pytest.param(cell, marks=pytest.mark.long)
            for cell in (b"\xed\xa0\x80", b"\0", b"9" * 10_000, b"1e308")
        ),
    ],
)
def test_cells_that_are_no_text_are_refused_in_one_sentence(written, tmp_path, cell):
    for family in ("suppressed", "microdata"):
        out = shutil.copytree(written[family], tmp_path / family)
        for path in sorted(out.glob("*/*.csv")):
            kept = {p: p.read_bytes() for p in out.glob("*/*")}
            for line in (0, 2):
                lines = kept[path].split(b"\n")
                fields = lines[line].split(b",")
                fields[len(fields) // 2] = cell
                lines[line] = b",".join(fields)
                path.write_bytes(b"\n".join(lines))
                refresh(out / "public")
                reseal(out, KEYS)
                try:
                    verify(out, keys=KEYS)
                except DiskretError as refused:
                    str(refused).encode("utf-8", errors="strict")
                else:  # what the office notes and nobody reads again
                    assert path.parent.name == "internal"
                for p, text in kept.items():
                    p.write_bytes(text)


def test_the_command_says_what_is_wrong_and_ends_with_its_code(written, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for what, content in DAMAGED.items():
        public = shutil.copytree(written["suppressed"] / "public", tmp_path / what)
        (public / "firms.certificate.json").write_bytes(content)
        ended = CliRunner().invoke(app, ["verify", str(public)])
        assert ended.exit_code in (1, 3), ended.output
        assert "Traceback" not in ended.output and "program" not in ended.output.lower()


# ── what is not text ────────────────────────────────────────────────────────────────


@pytest.mark.long
def test_no_damaged_binary_file_ends_the_process(written, tmp_path):
    """All in one process of its own: it ends by itself, with 0, or a file has broken it."""
    names = ("contributor", "microdata", "safe")
    folders = [str(shutil.copytree(written[name], tmp_path / name)) for name in names]
    ended = subprocess.run(
        [sys.executable, str(TESTS / "damaged_binaries.py"), *folders],
        capture_output=True,
        text=True,
        timeout=300,
        env={**os.environ, "PYTHONPATH": str(Path(diskret.__file__).parents[1])},
        cwd=tmp_path,
    )
    assert ended.returncode == 0, ended.stdout[-3000:] + ended.stderr[-3000:]
    assert ended.stdout.strip().splitlines()[-1].startswith("refused")

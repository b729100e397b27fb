"""Digests: what sha256sum prints, and every kind of difference is named."""

import hashlib
import json

import pytest

from diskret.errors import VerificationError
from diskret.publish.digests import check_digests, digest, public_digests
from diskret.publish.json_files import write_json


@pytest.fixture
def folder(tmp_path):
    for name in ("b.csv", "a.csv", "a.certificate.json"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    return tmp_path


def test_a_digest_is_the_sha256_of_the_bytes(folder):
    assert digest(folder / "a.csv") == hashlib.sha256(b"a.csv").hexdigest()


def test_certificates_are_left_out_and_names_sorted(folder):
    assert list(public_digests(folder)) == ["a.csv", "b.csv"]


def test_untouched_files_pass(folder):
    check_digests(folder, public_digests(folder))


def test_every_difference_is_named(folder):
    expected = public_digests(folder) | {"c.csv": "00", "../a.csv": "00"}
    (folder / "a.csv").write_text("A.csv", encoding="utf-8")
    (folder / "new.csv").touch()
    (folder / ".hidden").touch()
    with pytest.raises(VerificationError) as caught:
        check_digests(folder, expected)
    assert "missing: ../a.csv, c.csv; changed: a.csv; not listed: .hidden, new.csv" in str(
        caught.value
    )


@pytest.mark.parametrize("kind", ["link", "folder"])
@pytest.mark.parametrize("name", ["a.csv", "new.csv", "x.certificate.json"])
def test_links_and_folders_are_no_files_of_a_release(folder, tmp_path, kind, name):
    expected = public_digests(folder)
    other = tmp_path / "elsewhere"
    other.write_text("a.csv", encoding="utf-8")
    (folder / name).unlink(missing_ok=True)
    if kind == "link":
        (folder / name).symlink_to(other)
    else:
        (folder / name).mkdir()
    with pytest.raises(VerificationError, match=f"plain files only.*{name}"):
        check_digests(folder, expected)


def test_json_is_readable_and_always_the_same(tmp_path):
    content = {"b": "Ärzte", "a": [1, None]}
    write_json(content, tmp_path / "x.json")
    text = (tmp_path / "x.json").read_bytes().decode("utf-8")
    assert text == '{\n "b": "Ärzte",\n "a": [\n  1,\n  null\n ]\n}\n'
    assert json.loads(text) == content


def test_json_has_no_infinity(tmp_path):
    with pytest.raises(ValueError, match="JSON"):
        write_json({"upper": float("inf")}, tmp_path / "x.json")
    assert not (tmp_path / "x.json").exists()

"""Each certificate is a proof of its own: it lists its own files, with the right digests."""

import json
import shutil

import pytest
from every_family import BY, KEYS, RULE, SMALL
from verify_script import by_script

import diskret as dk
from diskret.errors import ProofError, VerificationError
from diskret.publish.digests import listed_files
from diskret.publish.guard.check import check_public
from diskret.publish.verify.folder import verify


@pytest.fixture(scope="module")
def results():
    cells = SMALL.drop_columns("sales")
    made = [
        dk.Table.from_cells(cells, by=BY, count="firms", vintage=vintage)
        for vintage in ("this", "last")
    ]
    return [dk.suppress(t, RULE, name=n) for t, n in zip(made, ("one", "two"), strict=True)]


@pytest.fixture(scope="module")
def written(results, tmp_path_factory):
    return dk.write(results, tmp_path_factory.mktemp("two") / "out", ["csv"], keys=KEYS)


@pytest.fixture
def public(written, tmp_path):
    return shutil.copytree(written / "public", tmp_path / "download")


def relist(public, name, change):
    path = public / f"{name}.certificate.json"
    content = json.loads(path.read_text("utf-8"))
    change(content["files"])
    path.write_text(json.dumps(content), encoding="utf-8")
    return content["files"]


def test_a_wrong_digest_is_not_made_good_by_another_certificate(public):
    verify(public)
    true = relist(public, "one", lambda files: None)["one.csv"]
    relist(public, "two", lambda files: files.update({"one.csv": true}))
    verify(public)
    relist(public, "one", lambda files: files.update({"one.csv": "0" * 64}))
    with pytest.raises(VerificationError, match=r"lists another digest of one\.csv"):
        verify(public)
    ended, said = by_script(public)
    assert ended == 1 and "certificates list different digests of one.csv" in said


def test_a_certificate_lists_its_own_files_itself(public):
    true = relist(public, "one", lambda files: None)["one.csv"]
    relist(public, "one", lambda files: files.pop("one.csv"))
    with pytest.raises(VerificationError, match=r"not listed: one\.csv"):
        verify(public)
    relist(public, "two", lambda files: files.update({"one.csv": true}))
    with pytest.raises(VerificationError, match=r"one\.certificate\.json does not list one\.csv"):
        verify(public)
    ended, said = by_script(public)
    assert ended == 1 and "one does not list one.csv" in said


def test_a_certificate_that_lists_nothing_is_none(public):
    """All its files stand in the certificate beside it, with the right digests."""
    verify(public)
    assert by_script(public)[0] == 0
    true = relist(public, "one", lambda files: None) | relist(public, "two", lambda files: None)
    relist(public, "one", lambda files: files.clear())
    relist(public, "two", lambda files: files.update(true))
    with pytest.raises(VerificationError, match=r"one\.certificate\.json does not list one\.csv"):
        verify(public)
    ended, said = by_script(public)
    assert ended == 1 and "one does not list one." in said


def test_nothing_is_released_with_two_digests_of_one_file(results, public):
    shown = [result.published for result in results]
    check_public(public, shown)
    relist(public, "two", lambda files: files.update({"one.csv": "0" * 64}))
    with pytest.raises(ProofError, match=r"lists another digest of one\.csv"):
        check_public(public, shown)


def test_what_certificates_list_in_common_counts_once():
    assert listed_files({"a": {"x": "1", "y": "2"}, "b": {"x": "1"}}) == {"x": "1", "y": "2"}
    assert listed_files({}) == {}

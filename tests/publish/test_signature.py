"""A signed release says who published it, and whatever is changed of it is found out."""

import hashlib
import json
import shutil
import subprocess

import pyarrow as pa
import pytest
from typer.testing import CliRunner

import diskret as dk
import diskret.publish.signature as signature_module
import diskret.unrepeatable as unrepeatable
from diskret.cli.main import app
from diskret.errors import InputError, KeyFileError, VerificationError
from diskret.publish.digests import SIGNED
from diskret.publish.signature import read_signature, sign
from diskret.publish.signing_keys import (
    KEYS,
    PRIVATE,
    create_keys,
    known_keys,
    read_keys,
    revoke_key,
    rotate_keys,
)
from diskret.publish.verify.folder import verify

pytest.importorskip("cryptography", reason="optional: cryptography")
OFFICE = "Amt für Statistik, Nordland"


def released(counts, folder, **more):
    cells = pa.table({"region": ["Total", "N", "S"], "count": counts})
    table = dk.Table.from_cells(cells, by={"region": None}, count="count")
    result = dk.suppress(table, dk.rules.MinimumFrequency(3))
    result.write(folder, ("csv",), **more)
    return result


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signed")
    released([13, 8, 5], folder / "out", keys=folder / "keys")
    create_keys(OFFICE, folder / "signing")
    sign(folder / "out", folder / "signing")
    return folder


@pytest.fixture
def home(original, tmp_path, monkeypatch):
    shutil.copytree(original, tmp_path / "home")
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "home" / "keys"))
    monkeypatch.setenv("DISKRET_SIGNING", str(tmp_path / "home" / "signing"))
    return tmp_path / "home"


@pytest.fixture
def clock(monkeypatch):
    """Says which time it is, to the second."""
    times = (f"2030-01-01T00:00:{second:02}+00:00" for second in range(60))
    monkeypatch.setattr(unrepeatable, "now", lambda: next(times))


def keys_of(home):
    return home / "signing" / KEYS


def edited(path, old, new):
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))


def test_anyone_who_has_the_list_of_keys_can_tell_who_published(home):
    shutil.rmtree(home / "out" / "internal")
    report = verify(home / "out", signer=keys_of(home))
    assert any(line.startswith(f"{SIGNED}: signed by {OFFICE}, ") for line in report.lines)


def test_the_office_verifies_everything_as_before(home):
    assert verify(home / "out").sealed


def test_without_a_known_key_it_is_said_that_nobody_knows_whose_it_is(home):
    [line] = [line for line in verify(home / "out").lines if line.startswith(SIGNED)]
    assert "whose key that is was not checked" in line


def test_the_key_itself_and_a_pem_file_name_the_signer_too(home, tmp_path):
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    key = read_keys(keys_of(home)).in_use.key
    pem = Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    (tmp_path / "office.pem").write_bytes(pem)
    for signer in (key, key.upper(), tmp_path / "office.pem"):
        verify(home / "out", signer=signer)
    with pytest.raises(InputError, match="no public key"):
        known_keys(home / "signing" / PRIVATE)


def test_the_list_is_one_that_other_programs_check(home):
    public = home / "out" / "public"
    lines = (public / SIGNED).read_text("utf-8").splitlines()
    listed = {line[66:]: line[:64] for line in lines if not line.startswith("#")}
    there = {p.name: hashlib.sha256(p.read_bytes()).hexdigest() for p in public.iterdir()}
    del there[SIGNED]
    assert listed == there
    if shutil.which("sha256sum"):
        subprocess.run(["sha256sum", "-c", "--strict", SIGNED], cwd=public, check=True)


@pytest.mark.skipif(not shutil.which("openssl"), reason="optional: openssl")
def test_openssl_checks_the_signature(home, tmp_path):
    signature = read_signature(home / "out" / "public")
    # the 12 bytes before a key that say in DER that it is Ed25519 (RFC 8410)
    der = bytes.fromhex("302a300506032b6570032100" + signature.key)
    content = (home / "out" / "public" / SIGNED).read_bytes()
    text, _, last = content.rpartition(b"# signature: ")
    for name, data in {"key": der, "text": text, "mark": bytes.fromhex(last.decode())}.items():
        (tmp_path / name).write_bytes(data)
    command = "openssl pkeyutl -verify -pubin -keyform DER -inkey key -rawin -in text -sigfile mark"
    subprocess.run(command.split(), cwd=tmp_path, check=True, capture_output=True)
    (tmp_path / "text").write_bytes(text + b"\n")
    assert subprocess.run(command.split(), cwd=tmp_path, capture_output=True).returncode != 0


# ── sabotage ────────────────────────────────────────────────────────────────────────


def test_a_release_without_its_signature_is_refused_where_one_is_asked_for(home):
    (home / "out" / "public" / SIGNED).unlink()
    verify(home / "out")
    with pytest.raises(VerificationError, match="not signed"):
        verify(home / "out", signer=keys_of(home))


@pytest.mark.parametrize(
    "old, new",
    [
        (b"Nordland", b"Suedland"),
        (b"# time: 20", b"# time: 19"),
        (b"# signature: ", b"# signature: 0"),
        (b"\n", b"\r\n"),
        (b"# diskret/signature/1", b"# diskret/signature/2"),
        (b"count.csv\n", b"count.csv\n" + b"0" * 64 + b"  count.csv\n"),
    ],
)
@pytest.mark.parametrize("asked", [True, False])
def test_whatever_is_changed_in_the_signature_is_found(home, old, new, asked):
    edited(home / "out" / "public" / SIGNED, old, new)
    with pytest.raises(VerificationError):
        verify(home / "out", signer=keys_of(home) if asked else None)


def test_every_flipped_bit_of_key_and_mark_is_found(home):
    path = home / "out" / "public" / SIGNED
    content = path.read_bytes()
    for start in (content.index(b"# key: ") + 7, content.index(b"# signature: ") + 13):
        for place in range(start, start + 64, 7):
            other = b"%x" % (int(content[place : place + 1], 16) ^ 1)
            path.write_bytes(content[:place] + other + content[place + 1 :])
            with pytest.raises(VerificationError):
                signature_module.check_signature(path.parent, keys_of(home))


def test_a_changed_table_with_digests_made_anew_is_found(home):
    public = home / "out" / "public"
    shutil.rmtree(home / "out" / "internal")
    certificate = public / "count.certificate.json"
    content = json.loads(certificate.read_text("utf-8"))
    content["software"] = "diskret 9.9"
    certificate.write_text(json.dumps(content), "utf-8")
    with pytest.raises(VerificationError, match=r"not what was signed.*count\.certificate\.json"):
        verify(home / "out")


def test_a_file_listed_anew_by_a_forger_bears_no_signature(home):
    public = home / "out" / "public"
    certificate = public / "count.certificate.json"
    before = hashlib.sha256(certificate.read_bytes()).hexdigest().encode()
    certificate.write_bytes(certificate.read_bytes() + b"\n")
    after = hashlib.sha256(certificate.read_bytes()).hexdigest().encode()
    edited(public / SIGNED, before, after)
    with pytest.raises(VerificationError, match="not that of the key"):
        signature_module.check_signature(public)


def test_somebody_elses_signature_is_refused(home, tmp_path):
    create_keys(OFFICE, tmp_path / "thief")
    sign(home / "out", tmp_path / "thief")
    verify(home / "out")
    with pytest.raises(VerificationError, match="none of those known"):
        verify(home / "out", signer=keys_of(home))


def test_the_signature_of_another_release_is_refused(home):
    public = home / "out" / "public"
    other = home / "other"
    shutil.copytree(public, other)
    (other / "notes.txt").write_text("another release", "utf-8")
    sign(other)
    shutil.copy(other / SIGNED, public / SIGNED)
    with pytest.raises(VerificationError, match=r"not what was signed.*notes\.txt"):
        verify(home / "out")


def test_a_link_in_the_place_of_the_signature_is_refused(home):
    path = home / "out" / "public" / SIGNED
    path.rename(home / "elsewhere")
    path.symlink_to(home / "elsewhere")
    with pytest.raises(VerificationError, match="plain files"):
        verify(home / "out")


# ── keys ────────────────────────────────────────────────────────────────────────────


def test_after_a_rotation_what_the_old_key_signed_counts_and_nothing_later(tmp_path, home, clock):
    folder = tmp_path / "two"
    create_keys(OFFICE, folder)  # 00
    sign(home / "out", folder)  # 01
    old = (folder / PRIVATE).read_bytes()
    before = (folder / KEYS).read_bytes()
    first, second = rotate_keys(folder).keys  # 02
    assert first.until == second.since and second.in_use and not first.in_use
    verify(home / "out", signer=folder / KEYS)
    (folder / PRIVATE).write_bytes(old)
    with pytest.raises(KeyFileError, match="is not the key"):
        sign(home / "out", folder)
    list_now = (folder / KEYS).read_bytes()
    (folder / KEYS).write_bytes(before)
    sign(home / "out", folder)  # 03, with the old key
    (folder / KEYS).write_bytes(list_now)
    with pytest.raises(VerificationError, match="was not in use"):
        verify(home / "out", signer=folder / KEYS)


def test_nothing_counts_that_a_revoked_key_has_signed(home):
    key = read_keys(keys_of(home)).in_use.key
    revoke_key(key[:8], "the disk was stolen")
    assert not (home / "signing" / PRIVATE).exists()
    with pytest.raises(VerificationError, match="the disk was stolen"):
        verify(home / "out", signer=keys_of(home))
    with pytest.raises(KeyFileError, match="rotate"):
        sign(home / "out")
    rotate_keys()
    sign(home / "out")
    verify(home / "out", signer=keys_of(home))
    with pytest.raises(InputError, match="revoked already"):
        revoke_key(key, "again")


def test_the_private_key_is_readable_by_its_owner_only(home):
    assert (home / "signing" / PRIVATE).stat().st_mode & 0o077 == 0
    (home / "signing" / PRIVATE).chmod(0o644)
    with pytest.raises(KeyFileError, match="chmod 600"):
        sign(home / "out")


def test_a_password_encrypts_the_private_key(home, monkeypatch):
    monkeypatch.setenv("DISKRET_SIGNING_PASSWORD", "correct horse")
    rotate_keys()
    assert b"ENCRYPTED" in (home / "signing" / PRIVATE).read_bytes()
    sign(home / "out")
    for word in ("wrong", ""):
        monkeypatch.setenv("DISKRET_SIGNING_PASSWORD", word)
        with pytest.raises(KeyFileError, match="password"):
            sign(home / "out")


def test_keys_are_not_made_twice(home):
    with pytest.raises(InputError, match="rotate"):
        create_keys(OFFICE)


def test_a_rotation_that_was_cut_short_is_mended_by_another(home, monkeypatch):
    import diskret.publish.signing_keys as module

    put = module.put

    def cut(path, content, mode):
        if path.name == PRIVATE:
            raise OSError("no power")
        put(path, content, mode)

    monkeypatch.setattr(module, "put", cut)
    with pytest.raises(OSError, match="no power"):
        rotate_keys()
    monkeypatch.setattr(module, "put", put)
    with pytest.raises(KeyFileError, match="rotate"):
        sign(home / "out")
    rotate_keys()
    sign(home / "out")
    verify(home / "out", signer=keys_of(home))


@pytest.mark.parametrize(
    "change",
    [
        lambda c: c.pop("office"),
        lambda c: c["keys"].append(c["keys"][0]),
        lambda c: c["keys"][0].update(key="abc"),
        lambda c: c["keys"][0].update({"from": "yesterday"}),
        lambda c: c["keys"][0].update(trusted=True),
        lambda c: c["keys"][0].pop("revoked"),
        lambda c: c.update(schema="diskret/signing-keys/9"),
        lambda c: c.update(keys=[]),
    ],
)
def test_a_damaged_list_of_keys_is_refused(home, change):
    content = json.loads(keys_of(home).read_text("utf-8"))
    change(content)
    keys_of(home).write_text(json.dumps(content), "utf-8")
    with pytest.raises(InputError):
        verify(home / "out", signer=keys_of(home))


# ── with the rest ───────────────────────────────────────────────────────────────────


def test_a_signed_release_is_replaced_by_the_next_which_is_not_signed(home):
    released([14, 8, 6], home / "out")
    assert not (home / "out" / "public" / SIGNED).exists()
    verify(home / "out")


def test_a_ledger_finds_a_signed_release_as_it_was_published(home):
    ledger = dk.Ledger.create(home / "ledger.db")
    ledger.publish(released([13, 8, 5], home / "other"), folder=home / "new")
    sign(home / "new")
    ledger.verify([home / "new"])
    verify(home / "new", signer=keys_of(home))


def test_without_cryptography_the_rest_is_checked_and_it_is_said(home, monkeypatch):
    monkeypatch.setattr(signature_module, "available", lambda: False)
    [line] = [line for line in verify(home / "out").lines if line.startswith(SIGNED)]
    assert "not checked" in line


def test_from_the_command_line(home, tmp_path):
    def run(*arguments, code=0):
        done = CliRunner().invoke(app, [str(one) for one in arguments])
        assert done.exit_code == code, done.output
        return done.output

    own = tmp_path / "own"
    said = run("sign", "create", "--office", "Office", "--keys", own)
    assert "signing-keys.json" in said.replace("\n", "")
    assert "Signed: " in run("sign", "release", home / "out", "--keys", own)
    assert "signed by Office" in run("verify", home / "out", "--signer", own / KEYS)
    key = read_keys(own / KEYS).in_use.key
    run("sign", "rotate", "--keys", own)
    run("sign", "revoke", key[:12], "--why", "lost", "--keys", own)
    assert "revoked" in run("sign", "keys", "--keys", own)
    refused = run("verify", home / "out", "--signer", own / KEYS, "--language", "de", code=3)
    assert "widerrufen" in refused
    assert "im Einsatz" in run("sign", "keys", "--keys", own, "--language", "de")

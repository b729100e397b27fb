"""What somebody puts in the place of released files is refused, whatever was refreshed with it."""

import json
import random
import shutil
import zipfile
from html import escape
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from every_family import FAMILIES, KEYS, QUICK, RULE, counts
from profiles import scaled, some_quick
from sealing import reseal

import diskret as dk
from diskret.errors import DiskretError, VerificationError
from diskret.publish.contract import software
from diskret.publish.digests import digest
from diskret.publish.formats.symbols import SymbolSet
from diskret.publish.verify.folder import verify

CERTIFICATE = ".certificate.json"


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    home = tmp_path_factory.mktemp("families")
    return {name: made(home / name) for name, made in FAMILIES.items()}


@pytest.fixture(params=some_quick(FAMILIES, QUICK))
def release(request, written, tmp_path):
    """A copy of one release of each family that a test may damage."""
    shutil.copytree(written[request.param], tmp_path / "out", symlinks=True)
    return tmp_path / "out"


@pytest.fixture
def public(release, tmp_path):
    """What anyone has: the public files alone."""
    return shutil.copytree(release / "public", tmp_path / "download")


def refresh(public):
    """List today's digests, in the certificates and on the pages, as anyone can."""
    for path in public.glob(f"*{CERTIFICATE}"):
        content = json.loads(path.read_text("utf-8"))
        files = {name: mark for name, mark in content["files"].items() if (public / name).exists()}
        for name in sorted(files, key=lambda name: name.endswith(".html")):  # pages come last
            now = digest(public / name)
            for page in public.glob("*.html"):
                page.write_bytes(page.read_bytes().replace(files[name].encode(), now.encode()))
            files[name] = digest(public / name)
        path.write_text(json.dumps(content | {"files": files}), encoding="utf-8")


def anyone_refuses(public, **options):
    with pytest.raises(DiskretError) as refused:
        verify(public, keys=KEYS, **options)
    return str(refused.value)


def test_every_family_is_verified_by_anyone_and_by_the_office(release, public):
    assert verify(release, keys=KEYS).sealed
    report = verify(public)
    assert not report.checked_internal and not report.sealed
    assert not [line for line in report.lines if "not compared" in line]


# ── by content ──────────────────────────────────────────────────────────────────────


def test_an_internal_file_in_place_of_a_public_one_is_refused_by_anyone(release, public):
    """Workbook, page, Parquet and CSV, of every kind, with digests made anew."""
    pairs = [
        (path, other)
        for path in sorted(public.iterdir())
        for other in sorted(release.glob("*/*"))
        if other.suffix == path.suffix
        and not path.name.endswith(CERTIFICATE)
        and other.read_bytes() != path.read_bytes()
    ]
    kept = {path: path.read_bytes() for path in public.iterdir()}
    for path, other in random.Random(3).sample(pairs, min(len(pairs), scaled(20))):
        path.write_bytes(other.read_bytes())
        refresh(public)
        anyone_refuses(public)
        for at, content in kept.items():
            at.write_bytes(content)
    assert pairs
    verify(public)


def edited(path, change):
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name).decode() for name in archive.namelist()}
    change(parts)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in parts.items():
            archive.writestr(name, text)


SHEET, BOOK, CORE = "xl/worksheets/sheet1.xml", "xl/workbook.xml", "docProps/core.xml"
CELL = '<row r="99"><c r="A99"><v>2</v></c></row></sheetData>'
NAME = '</sheets><definedNames><definedName name="p">5</definedName></definedNames>'


def put(part, old, new):
    """A change of a part, in which the old text must stand."""

    def change(parts):
        assert old in parts[part]
        parts[part] = parts[part].replace(old, new, 1)

    return change


WORKBOOKS = {
    "a hidden column": put(SHEET, "<col ", '<col hidden="1" '),
    "a hidden row": put(SHEET, "<row ", '<row hidden="1" '),
    "a narrow column": put(SHEET, ' width="1', ' width="0.1'),
    "one more cell": put(SHEET, "</sheetData>", CELL),
    "another value": put(SHEET, "<v>", "<v>1"),
    "a header to print": put(SHEET, "</worksheet>", "<oddHeader>2</oddHeader></worksheet>"),
    "a hidden sheet": put(BOOK, "<sheet ", '<sheet state="hidden" '),
    "a defined name": put(BOOK, "</sheets>", NAME),
    "an author": put(CORE, "</cp:core", "<dc:creator>p=5</dc:creator></cp:core"),
    "a style with a text": put("xl/styles.xml", "Calibri", "primary: S 2"),
    "one more part": lambda parts: parts.update({"docProps/custom.xml": "<p>5</p>"}),
    "one more sheet": lambda parts: parts.update({"xl/worksheets/sheet9.xml": parts[SHEET]}),
    "a sheet less": lambda parts: parts.pop(SHEET),
}


@pytest.mark.parametrize("what", WORKBOOKS)
def test_a_workbook_with_more_than_what_is_published_is_refused(written, tmp_path, what):
    for family, name in (("suppressed", "firms"), ("with_intervals", "firms"), ("figures", "all")):
        public = shutil.copytree(written[family] / "public", tmp_path / family)
        edited(public / f"{name}.xlsx", WORKBOOKS[what])
        refresh(public)
        assert f"{name}.xlsx" in anyone_refuses(public)


def test_a_page_with_other_text_is_refused(public):
    for path in public.glob("*.html"):
        text = path.read_text("utf-8")
        for old, new in (
            ("</footer>", " p = 5</footer>"),
            ("</section>", "<p>S: 2</p></section>"),
            ("<h1>", '<h1 class="x">'),
            ("<code>", "<code>0"),
        ):
            path.write_text(text.replace(old, new, 1), encoding="utf-8")
            refresh(public)
            assert path.name in anyone_refuses(public)
        path.write_text(text, encoding="utf-8")
        refresh(public)
        verify(public, keys=KEYS)


def test_a_title_of_the_office_and_other_symbols_are_compared_too(tmp_path):
    marks = {"( )": "geschützt", "—": "leer", "…": "folgt"}
    symbols = SymbolSet("own", "( )", "—", {"en": marks, "de": marks})
    result = dk.suppress(counts(), RULE, name="firms")
    options = {"titles": {"firms": "Firms & <their> 'homes'"}, "symbols": symbols}
    folder = dk.write([result], tmp_path / "out", ["xlsx", "html"], keys=KEYS, **options)
    assert not [line for line in verify(folder, keys=KEYS).lines if "not compared" in line]


def test_a_parquet_file_with_metadata_or_more_columns_is_refused(public):
    for path in public.glob("*.parquet"):
        table = pq.read_table(path)
        for other in (
            table.replace_schema_metadata({"p": "5"}),
            table.append_column("level", table.column(0)),
            table.slice(1),
        ):
            kept = path.read_bytes()
            pq.write_table(other, path, store_schema=other.schema.metadata is not None)
            refresh(public)
            anyone_refuses(public)
            path.write_bytes(kept)


def of_another_version(public):
    """Certificates, and pages with them, that name another release of the software."""
    for path in public.glob(f"*{CERTIFICATE}"):
        content = json.loads(path.read_text("utf-8"))
        path.write_text(json.dumps(content | {"software": "diskret 0.0.9"}), encoding="utf-8")
    for path in public.glob("*.html"):
        text = path.read_text("utf-8")
        assert software() in text
        path.write_text(text.replace(software(), "diskret 0.0.9"), encoding="utf-8")
    refresh(public)


@pytest.mark.parametrize(
    "family", ["suppressed", "perturbed", "microdata_as_text", "with_intervals"]
)
def test_a_page_of_another_version_may_look_otherwise_but_says_the_same(written, tmp_path, family):
    public = shutil.copytree(written[family] / "public", tmp_path / "public")
    of_another_version(public)
    assert not [line for line in verify(public).lines if "only numbers" in line]
    (path,) = public.glob("*.html")
    text = path.read_text("utf-8")
    (certificate,) = public.glob(f"*{CERTIFICATE}")
    said = json.loads(certificate.read_text("utf-8"))
    language = "de" if '<html lang="de">' in text else "en"
    first, last = said["claimed"][language][0], said["not_claimed"][language][-1]

    def shows(old, new):
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
        refresh(public)

    for old, new in (
        ("<h1>", "<h1>\n "),
        ("</section>", "<p>Another word</p></section>"),
        ("<style>", "<style>.of99 {width: 7px}"),
    ):
        shows(old, new)
        line = next(line for line in verify(public).lines if path.name in line)
        assert line.endswith(
            f"of {path.name} only numbers and what the certificate says were compared, because it "
            "was made with diskret 0.0.9"
        )
    for old, new in (
        ("</section>", "<p>p = 5</p></section>"),
        ("</section>", "<p>p = &#53;</p></section>"),
        (escape(first, quote=False), ""),
        (escape(last, quote=False), ""),
        ("diskret 0.0.9", "diskret 0.1.8"),
    ):
        shows(old, new)
        assert f"{path.name} does not show" in anyone_refuses(public)
    shows("</section>", "<script>alert()</script></section>")
    assert "the element <script>" in anyone_refuses(public)
    for old, new, named in (
        ("<h1>", "<h2>", "is no page that is written of"),
        ("<html lang", "<html  lang", "is no page that is written of"),
        ('lang="', 'lang="fr-', "has another text in the attribute lang"),
    ):
        shows(old, new)
        assert f"{path.name} {named}" in anyone_refuses(public)


# ── files that do not belong ────────────────────────────────────────────────────────


def test_links_folders_missing_and_additional_files_are_refused(release, public, tmp_path):
    for part, whole in (
        (public, public),
        *((release / s, release) for s in ("public", "internal")),
    ):
        for path in sorted(part.iterdir()):
            moved = tmp_path / "moved"
            path.rename(moved)
            anyone_refuses(whole)
            path.symlink_to(moved)
            assert "plain files only" in anyone_refuses(whole)
            path.unlink()
            path.mkdir()
            anyone_refuses(whole)
            path.rmdir()
            moved.rename(path)
        for name in ("notes.txt", ".hidden", "firms.cells.csv", "more.xlsx", f"x{CERTIFICATE}"):
            if (part / name).exists():
                continue
            (part / name).write_text("p = 5", encoding="utf-8")
            anyone_refuses(whole)
            (part / name).unlink()
        (part / "more").mkdir()
        anyone_refuses(whole)
        (part / "more").rmdir()
    verify(release, keys=KEYS)


# ── what only the office knows ──────────────────────────────────────────────────────


@pytest.mark.long
def test_no_byte_of_a_release_can_be_changed_without_the_key(release):
    """Whatever else is refreshed: digests in the certificates, and the list of the office."""
    draw = random.Random(7)
    files = [p for part in ("public", "internal") for p in sorted((release / part).iterdir())]
    for path in files:
        kept = {p: p.read_bytes() for p in files}
        content = bytearray(kept[path])
        at = draw.randrange(len(content))
        content[at] ^= 1 << draw.randrange(8)
        path.write_bytes(content)
        with pytest.raises(DiskretError):
            verify(release, keys=KEYS)
        if path.name != "content.json":
            try:
                refresh(release / "public")
            except (ValueError, KeyError, TypeError):  # the certificate itself cannot be read
                path.write_bytes(content)
            reseal(release, other_keys())
            with pytest.raises(DiskretError):
                verify(release, keys=KEYS)
        for p, before in kept.items():
            p.write_bytes(before)
    verify(release, keys=KEYS)


def other_keys():
    return dk.SecretKeys(bytes(range(1, 33)))


def test_without_the_key_the_rest_is_checked_and_the_report_says_so(release, private_keys):
    report = verify(release)
    assert report.checked_internal and not report.sealed
    assert "was not checked without the key" in report.lines[0]
    assert sum("fingerprint not checked without the key" in line for line in report.lines)
    assert not private_keys.exists()  # a key made now could not confirm anything
    cells = next((release / "internal").glob("*.parquet"))
    cells.write_bytes(cells.read_bytes()[:-1])
    with pytest.raises(VerificationError, match=r"changed: internal/"):
        verify(release)
    with pytest.raises(DiskretError, match="no key file"):
        verify(release, keys=private_keys)


def test_the_office_binds_the_certificate(release):
    """What readers cannot check: a sentence less under what is not claimed."""
    for path in (release / "public").glob(f"*{CERTIFICATE}"):
        content = json.loads(path.read_text("utf-8"))
        content["inputs"] = {name: "0" * 64 for name in content["inputs"]}
        path.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    with pytest.raises(VerificationError, match=rf"changed: public/.*{CERTIFICATE}"):
        verify(release, keys=KEYS)


def test_a_ledger_uses_the_digests_it_has(tmp_path):
    ledger = dk.Ledger.create(tmp_path / "releases.db", keys=KEYS)
    result = dk.suppress(counts(), RULE, name="firms", ledger=ledger)
    ledger.publish(result, tmp_path / "first", formats=["csv", "xlsx"], who="clerk")
    moved = shutil.copytree(tmp_path / "first", tmp_path / "moved")
    assert ledger.verify() == ledger.verify([moved]) == 1
    for folder, given in ((tmp_path / "first", []), (moved, [moved])):
        for name in ("firms.csv", "firms.xlsx", f"firms{CERTIFICATE}"):
            path = folder / "public" / name
            kept = path.read_bytes()
            path.write_bytes(kept + b"\n")
            with pytest.raises(VerificationError, match=f"changed: {name}"):
                ledger.verify(given)
            path.unlink()
            with pytest.raises(VerificationError, match=f"missing: {name}"):
                ledger.verify(given)
            path.write_bytes(kept)
        (folder / "public" / "more.csv").touch()
        with pytest.raises(VerificationError, match=r"not listed: more\.csv"):
            ledger.verify(given)
        (folder / "public" / "more.csv").unlink()
    shutil.rmtree(tmp_path / "first")  # what is gone is not judged, but it can be named
    assert ledger.verify() == 1
    with pytest.raises(DiskretError):
        ledger.verify([tmp_path / "first"])


# ── sabotage: without one check, something passes ───────────────────────────────────


def passes(folder):
    try:
        verify(folder, keys=KEYS)
    except DiskretError:
        return False
    return True


@pytest.mark.parametrize(
    ("check", "family", "ending"),
    [
        ("_of_workbook", "suppressed", ".xlsx"),
        ("check_page", "suppressed", ".html"),
        ("check_page", "rounded", ".html"),
        ("parquet_problems", "suppressed", ".parquet"),
    ],
)
def test_each_comparison_is_needed(written, tmp_path, monkeypatch, check, family, ending):
    from diskret.publish.verify import files as verify_files

    public = shutil.copytree(written[family] / "public", tmp_path / "public")
    internal = written[family] / "internal"
    name = "firms.report" if ending == ".html" else "firms.cells"
    (public / f"firms{ending}").write_bytes((internal / f"{name}{ending}").read_bytes())
    refresh(public)
    assert not passes(public)
    monkeypatch.setattr(verify_files, check, lambda *_: "" if check == "check_page" else [])
    assert passes(public)


def test_the_seal_is_needed(written, tmp_path, monkeypatch):
    from diskret.publish.verify import folder as module

    out = shutil.copytree(written["suppressed"], tmp_path / "out")
    path = out / "public" / f"firms{CERTIFICATE}"
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(content), encoding="utf-8")  # other bytes, the same content
    assert not passes(out)
    monkeypatch.setattr(module, "check_content", lambda *_: None)
    assert passes(out)


def test_the_form_of_certificates_is_needed(written, tmp_path, monkeypatch):
    from diskret.publish.verify import folder as module

    public = shutil.copytree(written["suppressed"] / "public", tmp_path / "public")
    path = public / f"firms{CERTIFICATE}"
    content = json.loads(path.read_text("utf-8"))
    path.write_text(json.dumps(content | {"p": 5}), encoding="utf-8")
    assert not passes(public)
    monkeypatch.setattr(module, "check_form", lambda *_: None)
    assert passes(public)


def test_links_would_pass_without_their_check(written, tmp_path, monkeypatch):
    from diskret.publish import digests
    from diskret.publish.verify import folder as module

    public = shutil.copytree(written["suppressed"] / "public", tmp_path / "public")
    (public / "firms.csv").rename(tmp_path / "elsewhere.csv")
    (public / "firms.csv").symlink_to(tmp_path / "elsewhere.csv")
    assert not passes(public)
    monkeypatch.setattr(digests, "plain", Path.is_file)
    monkeypatch.setattr(module, "check_plain", lambda _: None)
    assert passes(public)

"""Every byte in public/ is read: nothing of the office's knowledge is in it."""

import io
import json
import zipfile

import numpy as np
import pyarrow.parquet as pq
import pytest

import diskret as dk
from diskret.protect.write import write

P, RANGE = 13.37, 8.191


def every_byte(folder):
    """The contents of all files, workbooks unpacked as well, with their names."""
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            yield path.name, path.name.encode() + b"\n" + content
            if path.suffix == ".parquet":  # compressed, so its cells are read
                file = pq.ParquetFile(path)
                cells = file.read().to_pylist()
                yield f"{path.name} unpacked", f"{cells} {file.metadata} {file.schema}".encode()
            if content[:2] == b"PK":
                with zipfile.ZipFile(io.BytesIO(content)) as archive:
                    for name in archive.namelist():
                        yield f"{path.name}/{name}", name.encode() + b"\n" + archive.read(name)


pytestmark = pytest.mark.xdist_group("leaks")


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    register = dk.datasets.business_register(300, seed=5)
    by = {"nace": register.nace, "region": register.region}
    table = dk.tabulate(
        register.records, by=by, value="turnover", unit="firm_id", holding="group_id"
    ).recode("nace", level=1)
    rule = dk.rules.PPercent(P) | dk.rules.MinimumFrequency(3, range=RANGE)
    result = dk.suppress(table, rule)
    folder = tmp_path_factory.mktemp("release") / "out"
    result.write(folder, ("csv", "parquet", "xlsx", "html"), language="de", title="Umsatz")
    return result, folder


def test_no_suppressed_original(released):
    result, folder = released
    suppressed = result.published.suppressed
    hidden = set(result.table.measure.sum[suppressed].tolist())
    # A value that some published cell or interval end shows anyway says nothing.
    shown = set(result.published.value[~suppressed].tolist())
    outsider = result.certificate.outsider
    shown |= set(outsider.lower.tolist()) | set(outsider.upper.tolist())
    secrets = [v for v in hidden - shown if v >= 10_000]
    assert len(secrets) > 40
    for name, content in every_byte(folder / "public"):
        tokens = _numbers(content)
        found = [v for v in secrets if str(v).encode() in tokens]
        assert not found, f"{name} shows {found[:3]}"


def _numbers(content):
    """All runs of digits, with thousands separators taken out."""
    table = bytes.maketrans(b"", b"")
    # German reports group digits by a blank that cannot be broken
    joined = content.replace("\N{NO-BREAK SPACE}".encode(), b"").translate(table, b",' _")
    digits = bytes(c if 48 <= c <= 57 else 32 for c in joined)
    plain = bytes(c if 48 <= c <= 57 else 32 for c in content)
    return set(digits.split()) | set(plain.split())


def test_no_rule_parameter_level_or_status(released):
    result, folder = released
    levels = np.concatenate(
        (result.certificate.requirements.lower, result.certificate.requirements.upper)
    )
    levels = {str(v).encode() for v in levels.tolist() if v >= 10_000}
    words = [str(P).encode(), str(RANGE).encode(), b"13,37", b"p_percent", b"PPercent"]
    words += [b"minimum_frequency", b"MinimumFrequency", b"primary", b"secondary"]
    words += ["primär".encode(), "sekundär".encode(), b"level", b"sequential", b"witness"]
    words += [b"protects", b"needed_by", b"explanation", "schützt".encode(), b"<details"]
    words += [b"seed", b"holding", b"firm_id", b"group_id", b"internal"]
    for name, content in every_byte(folder / "public"):
        found = [w for w in words if w.lower() in content.lower()]
        assert not found, f"{name} holds {found}"
        leaked = levels & _numbers(content)
        shown = {str(v).encode() for v in result.published.value.ravel().tolist()}
        assert not leaked - shown, f"{name} shows levels"


def test_no_key_and_no_trace_of_the_machine(released, private_keys):
    _, folder = released
    keys = dk.SecretKeys.load()
    master = private_keys.read_text(encoding="ascii").split("\n")[1]
    traces = [bytes.fromhex(master), master.encode(), str(folder.parent).encode()]
    traces += [keys.subkey("fingerprint: table").hex().encode()]
    for name, content in every_byte(folder / "public"):
        assert not [t for t in traces if t in content], name


def test_only_the_listed_files_are_public(released):
    _, folder = released
    assert {p.name for p in (folder / "public").iterdir()} == {
        "turnover.csv",
        "turnover.html",
        "turnover.parquet",
        "turnover.xlsx",
        "turnover.structure.json",
        "turnover.certificate.json",
    }
    assert (folder / "internal" / "turnover.explanations.csv").exists()
    assert (folder / "internal").stat().st_mode & 0o077 == 0
    assert all(p.stat().st_mode & 0o077 == 0 for p in (folder / "internal").iterdir())


def test_the_scan_would_find_a_leak(released, tmp_path):
    result, _ = released
    hidden = result.table.measure.sum[result.published.suppressed].max()
    (tmp_path / "leak.txt").write_text(f"was {hidden:,}", encoding="utf-8")
    [(_, content)] = every_byte(tmp_path)
    assert str(hidden).encode() in _numbers(content)


def test_the_scan_would_find_a_leak_in_a_report(released):
    result, folder = released
    hidden = result.table.measure.sum[result.published.suppressed]
    shown = set(_numbers((folder / "internal" / "turnover.report.html").read_bytes()))
    assert any(str(v).encode() in shown for v in hidden.tolist() if v >= 10_000)


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """Tied tables with intervals, a derived figure, and tables side by side."""
    register = dk.datasets.business_register(3_000, seed=6)

    def by(*names):
        return dk.tabulate(
            register.records,
            by={name: register.by[name] for name in names},
            value="turnover",
            unit="firm_id",
            holding="group_id",
        )

    rule = dk.rules.PPercent(P) | dk.rules.MinimumFrequency(3, range=RANGE)
    tables = [by("nace", "region"), by("nace", "size"), by("nace", "region")["count"]]
    results = dk.suppress(
        tables, [rule, rule, dk.rules.MinimumFrequency(3)], name=["turnover", "sizes", "firms"]
    )
    folder = tmp_path_factory.mktemp("several") / "out"
    write(
        results,
        folder,
        ("csv", "parquet", "xlsx", "html"),
        intervals=True,
        derived=[dk.derive.mean(results[0], results[2], name="mean")],
        combined={"both": ["turnover", "firms"]},
    )
    return results, folder


@pytest.mark.long
def test_nothing_of_several_tables_leaks(several):
    results, folder = several
    hidden, levels, shown = set[int](), set[int](), set[int]()
    for result in results[:2]:
        suppressed = result.published.suppressed
        hidden |= set(result.table.measure.sum[suppressed].tolist())
        needs = result.certificate.requirements
        levels |= set(needs.lower.tolist()) | set(needs.upper.tolist())
        read = dk.Published.read(folder, result.name)
        shown |= set(read.value[~suppressed].tolist())
        shown |= set(read.lower[suppressed].tolist()) | set(read.upper[suppressed].tolist())
    for path in (folder / "public").glob("*.certificate.json"):
        bounds = json.loads(path.read_text(encoding="utf-8"))["intervals"]
        shown |= {v for side in ("lower", "upper") for v in bounds[side] if v is not None}
    secrets = {str(v).encode() for v in (hidden | levels) - shown if v >= 100_000}
    assert len(secrets) > 100
    words = [b"primary", b"secondary", b"p_percent", b"witness", b"level", b"firm_id", b"internal"]
    for name, content in every_byte(folder / "public"):
        assert not secrets & _numbers(content), name
        assert not [w for w in words if w in content.lower()], name

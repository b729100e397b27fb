"""Verification confirms what was released and refuses everything that was changed."""

import json
import shutil

import pytest
from sealing import reseal

import diskret as dk
from diskret.errors import ContradictionError, InputError, VerificationError
from diskret.keys import SecretKeys
from diskret.publish.verify.folder import verify


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    register = dk.datasets.business_register(3_000, seed=2)
    by = {"nace": register.nace, "region": register.region}
    table = dk.tabulate(register.records, by=by, value="turnover", unit="firm_id")
    table = table.recode("nace", level=1)
    result = dk.suppress(table, dk.rules.PPercent(10) | dk.rules.MinimumFrequency(3))
    folder = tmp_path_factory.mktemp("verify")
    result.write(folder / "out", ("csv", "xlsx", "html"), keys=folder / "keys")
    return folder


@pytest.fixture
def out(original, tmp_path, monkeypatch):
    monkeypatch.setenv("DISKRET_KEYS", str(original / "keys"))
    shutil.copytree(original / "out", tmp_path / "out")
    return tmp_path / "out"


def edit(path, change):
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8")


def restamp(out):
    """Make the certificate list today's digests, as a forger without the key could."""
    from diskret.publish.digests import public_digests

    digests = public_digests(out / "public")
    edit(
        out / "public" / "turnover.certificate.json",
        lambda c: c["files"].update({k: digests[k] for k in c["files"]}),
    )
    reseal(out)


def test_office_and_anyone(out, tmp_path):
    report = verify(out)
    assert report.tables == ("turnover",) and report.checked_internal and report.suppressed > 0
    alone = tmp_path / "download"
    shutil.copytree(out / "public", alone)
    assert not verify(alone).checked_internal


def test_a_changed_public_file_is_refused(out):
    path = out / "public" / "turnover.csv"
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(VerificationError, match=r"turnover\.csv"):
        verify(out)


def test_a_changed_report_is_refused(out):
    path = out / "public" / "turnover.html"
    listed = json.loads((out / "public" / "turnover.certificate.json").read_text("utf-8"))["files"]
    text = path.read_text(encoding="utf-8")
    assert listed["turnover.csv"] in text and listed["turnover.html"] not in text
    path.write_text(text.replace("Published", "Made up"), encoding="utf-8")
    with pytest.raises(VerificationError, match=r"turnover\.html"):
        verify(out)


def test_a_missing_and_a_stray_file_are_refused(out):
    stray = out / "public" / "notes.txt"
    stray.write_text("p = 10", encoding="utf-8")
    with pytest.raises(VerificationError, match=r"notes\.txt"):
        verify(out)
    stray.unlink()
    (out / "public" / "turnover.xlsx").unlink()
    with pytest.raises(VerificationError, match=r"turnover\.xlsx"):
        verify(out)


def test_a_changed_value_with_new_digests_is_refused(out):
    path = out / "public" / "turnover.csv"
    lines = path.read_text(encoding="utf-8").split("\n")
    at = next(i for i, line in enumerate(lines) if line.endswith(",published") and i > 1)
    *codes, value, status = lines[at].split(",")
    lines[at] = ",".join([*codes, str(int(value) + 1), status])
    path.write_text("\n".join(lines), encoding="utf-8")
    restamp(out)
    with pytest.raises((VerificationError, ContradictionError)):
        verify(out)


def test_a_published_secondary_with_new_digests_is_refused(out, original):
    """The negative control: once a needed secondary is shown, the intervals change."""
    cells = (out / "internal" / "turnover.cells.csv").read_text(encoding="utf-8").split("\n")
    header = cells[0].split(",")
    row = next(line.split(",") for line in cells if ",secondary," in line)
    at = {name: i for i, name in enumerate(header)}
    path = out / "public" / "turnover.csv"
    lines = path.read_text(encoding="utf-8").split("\n")
    hidden = f"{row[at['nace']]},{row[at['region']]},,suppressed"
    assert lines.count(hidden) == 1
    shown = f"{row[at['nace']]},{row[at['region']]},{row[at['turnover']]},published"
    lines[lines.index(hidden)] = shown
    path.write_text("\n".join(lines), encoding="utf-8")
    restamp(out)
    with pytest.raises(VerificationError, match="intervals"):
        verify(out)


def test_changed_intervals_are_refused(out):
    def widen(certificate):
        certificate["intervals"]["lower"][0] = -1

    edit(out / "public" / "turnover.certificate.json", widen)
    reseal(out)
    with pytest.raises(VerificationError, match="intervals"):
        verify(out)


def test_raised_levels_are_not_proven_by_old_witnesses(out):
    path = out / "internal" / "turnover.cells.csv"
    lines = path.read_text(encoding="utf-8").split("\n")
    at = lines[0].split(",").index("upper_level")
    for i, line in enumerate(lines):
        if ",primary," in line:
            fields = line.split(",")
            fields[at] = "999999999999999"
            lines[i] = ",".join(fields)
    path.write_text("\n".join(lines), encoding="utf-8")
    reseal(out)
    with pytest.raises(VerificationError, match="requirements"):
        verify(out)


def test_another_key_or_other_originals_are_noticed(out, tmp_path):
    with pytest.raises(VerificationError, match="key"):
        verify(out, keys=SecretKeys(bytes(range(32))))
    path = out / "internal" / "turnover.cells.csv"
    text = path.read_text(encoding="utf-8")
    row = next(line for line in text.split("\n") if ",published," in line)
    fields = row.split(",")
    at = text.split("\n")[0].split(",").index("count")
    fields[at] = str(int(fields[at]) + 1)
    path.write_text(text.replace(row, ",".join(fields)), encoding="utf-8")
    reseal(out)
    with pytest.raises(VerificationError, match="not the one that was released"):
        verify(out)


def test_folder_without_a_release(tmp_path):
    with pytest.raises(InputError, match="no released table"):
        verify(tmp_path)
    with pytest.raises(InputError, match="not a folder"):
        verify(tmp_path / "nowhere")

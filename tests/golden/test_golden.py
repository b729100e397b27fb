"""What older code wrote is verified by this code, and its ledger is continued.

A release is checked for as long as anybody has it, and a ledger for good. If a change makes one of
these fail, the change is wrong: read the old form, too.
"""

import shutil
import zipfile
from pathlib import Path

import pytest
from verify_script import by_script

import diskret as dk
from diskret.errors import VerificationError
from diskret.publish.verify.folder import verify
from diskret.rules import NoRule
from golden.make import BY, FEW, KEYS, OUTSIDER, firms, records

ARCHIVES = sorted(Path(__file__).parent.glob("*.zip"))
IN_LEDGER = ("sums", "counts", "before", "rounded", "adjusted", "perturbed")
ALONE = ("figures", "microdata", "safe")


@pytest.fixture(scope="module", params=ARCHIVES, ids=lambda path: path.stem)
def kept(request, tmp_path_factory):
    """The releases of one version, unpacked."""
    home = tmp_path_factory.mktemp("golden")
    with zipfile.ZipFile(request.param) as archive:
        archive.extractall(home)
    (home / "releases.db").chmod(0o600)
    return home


@pytest.fixture
def home(kept, tmp_path):
    """A copy to work with."""
    return Path(shutil.copytree(kept, tmp_path / "office"))


def test_there_is_an_old_version():
    assert ARCHIVES


@pytest.mark.parametrize("name", [*IN_LEDGER, *ALONE])
def test_office_and_anyone_verify_an_old_release(kept, tmp_path, name):
    report = verify(kept / name, keys=KEYS, releases=())
    assert report.checked_internal and report.sealed and report.tables
    public = shutil.copytree(kept / name / "public", tmp_path / "download")
    assert not verify(public).checked_internal


@pytest.mark.parametrize("name", [*IN_LEDGER, *ALONE])
def test_a_program_without_diskret_verifies_an_old_release(kept, name):
    ended, said = by_script(kept / name)
    assert ended == 0, said


def test_a_changed_old_release_is_refused(home):
    table = home / "sums" / "public" / "turnover.csv"
    table.write_bytes(table.read_bytes().replace(b"N,", b"S,", 1))
    assert by_script(home / "sums")[0] == 1
    with pytest.raises(VerificationError, match=r"turnover\.csv"):
        verify(home / "sums", keys=KEYS)


def test_an_old_ledger_is_read_and_checked(kept):
    ledger = dk.Ledger(kept / "releases.db", keys=KEYS)
    assert ledger.verify([kept / name for name in IN_LEDGER]) == 8
    releases = {release.name: release for release in ledger.releases()}
    assert {*IN_LEDGER, "elsewhere"} == {*releases}
    assert releases["elsewhere"].withdrawn.why == "an error"
    assert releases["sums"].entry.who == "clerk"
    [earlier] = ledger.tables("sums")
    table = firms(holding="group")
    assert (earlier.original.ravel() == table.measure.sum.ravel()).all()
    assert len(ledger.earlier([table])) >= 1


def test_an_old_ledger_is_continued(home):
    """A coarser table is protected beside what old code hid, published, and counts from then on."""
    path = home / "releases.db"
    ledger = dk.Ledger(path, keys=KEYS)
    coarser = firms(by={"region": None})
    result = dk.suppress(coarser, FEW, ledger=ledger, attacker=OUTSIDER, name="again")
    release = ledger.publish(result, home / "again", formats=["csv"], who="clerk")
    assert release.entry.number == 9
    again = dk.Ledger(path, keys=KEYS)
    assert again.verify([home / name for name in (*IN_LEDGER, "again")]) == 9
    assert verify(home / "again", keys=KEYS).checked_internal


def test_what_an_old_release_hides_stays_hidden(kept):
    """A rule that finds nothing would show all counts, were it not for the ledger."""
    ledger = dk.Ledger(kept / "releases.db", keys=KEYS)
    table = dk.tabulate(records(), by=BY, unit="firm", vintage="2025")
    alone = dk.suppress(table, NoRule(), attacker=OUTSIDER)
    beside = dk.suppress(table, NoRule(), attacker=OUTSIDER, ledger=ledger)
    assert not alone.published.suppressed.any()
    hidden = dk.Published.read(kept / "counts").suppressed
    assert hidden.any() and (beside.published.suppressed >= hidden).all()


def test_an_old_release_is_last_period_of_a_new_one(kept):
    before = dk.Published.read(kept / "before")
    result = dk.suppress(firms(), FEW, previous=before, attacker=OUTSIDER)
    assert (result.published.suppressed & before.suppressed).any()
    growth = dk.derive.growth(result, before)
    assert growth.name

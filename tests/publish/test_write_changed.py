"""Tables with changed values are written, verified and recorded like any other."""

import json
import re

import numpy as np
import pyarrow as pa
import pytest
from changed_tables import changed, rounded, table
from sealing import reseal

import diskret as dk
from diskret.attack import examine
from diskret.errors import InputError, ProofError, ProtectionError, VerificationError
from diskret.protect.write import FORMATS, write
from diskret.publish.exchange import EXCHANGE
from diskret.publish.maps import MAPS
from diskret.publish.script import SCRIPT
from diskret.publish.verify.folder import verify
from diskret.tables import Perturbed

KEYS = dk.SecretKeys(bytes(range(32)))


def written(tmp_path, *results, **options):
    formats = [one for one in FORMATS if one not in MAPS]  # there are no places
    return write(results, tmp_path / "out", formats, keys=KEYS, **options)


def edit(path, pattern, replacement):
    text = path.read_text(encoding="utf-8")
    new = re.sub(pattern, replacement, text, count=1)
    assert new != text
    path.write_text(new, encoding="utf-8")


# ── files ───────────────────────────────────────────────────────────────────────────


def test_what_is_published_reads_back_and_holds_no_original(tmp_path):
    result = rounded(table())
    folder = written(tmp_path, result)
    again = dk.Published.read(folder)
    assert again.changed == "rounding"
    assert again.value.tolist() == result.published.value.tolist() == [25, 5, 10, 0, 5]
    public = {path.name: path.read_bytes() for path in (folder / "public").iterdir()}
    assert set(public) == {
        f"rounded{ending}"
        for ending in (".certificate.json", ".csv", ".html", ".parquet", ".structure.json", ".xlsx")
    } | {f"rounded{ending}" for ending in EXCHANGE.values()} | {SCRIPT}
    public.pop(SCRIPT)  # the same program beside every release
    assert not any(b"original" in content or b"by hand" in content for content in public.values())


def test_a_true_zero_cannot_be_told_from_a_published_one(tmp_path):
    result = rounded(table(N=7, S=2, W=0))
    folder = written(tmp_path, result)
    lines = (folder / "public" / "rounded.csv").read_text(encoding="utf-8").splitlines()
    assert lines[3:] == ["S,0,published", "W,0,published"]


def test_only_impossible_cells_are_shown_as_nothing(tmp_path):
    made = table(N=7, S=2, W=0)
    impossible = made.count == 0
    result = changed(made, [9, 7, 2, 0], impossible=impossible)
    folder = written(tmp_path, result)
    assert "W,0,empty" in (folder / "public" / "rounded.csv").read_text(encoding="utf-8")
    with pytest.raises(InputError, match="1 cell that is said to be impossible holds records"):
        changed(made, [9, 7, 2, 0], impossible=made.count == 2)


def test_withheld_values_are_empty_everywhere(tmp_path):
    made = table()
    result = changed(made, made.count, withheld=made.count < 3)
    folder = written(tmp_path, result)
    assert "S,,suppressed" in (folder / "public" / "rounded.csv").read_text(encoding="utf-8")
    row = result.cells.to_pylist()[3]
    assert row == {"region": "S", "original": 2, "published": None, "noise": None}


def test_the_office_sees_values_before_and_after(tmp_path):
    result = rounded(table())
    folder = written(tmp_path, result)
    lines = (folder / "internal" / "rounded.cells.csv").read_text(encoding="utf-8").splitlines()
    assert lines[:3] == ["region,original,published,noise", "Total,23,25,2", "N,7,5,-2"]
    kept = json.loads((folder / "internal" / "rounded.certificate.json").read_text("utf-8"))
    assert kept["method"] == "by hand" and kept["largest"] == 4


@pytest.mark.parametrize(("language", "word"), [("en", "rounded"), ("de", "gerundet")])
def test_readers_are_told_in_workbook_and_report(tmp_path, language, word):
    openpyxl = pytest.importorskip("openpyxl")
    folder = written(tmp_path, rounded(table()), language=language)
    assert word in (folder / "public" / "rounded.html").read_text(encoding="utf-8")
    book = openpyxl.load_workbook(folder / "public" / "rounded.xlsx")
    assert word in book.worksheets[0].cell(2, 1).value


def test_an_attack_on_changed_values_is_refused():
    with pytest.raises(InputError, match="values of 'rounded' were changed"):
        examine(rounded(table()).published)


# ── several tables ──────────────────────────────────────────────────────────────────


def test_one_variable_is_not_hidden_here_and_rounded_there(tmp_path):
    hidden = dk.suppress(table(), dk.rules.MinimumFrequency(3), name="hidden")
    with pytest.raises(InputError, match="'hidden' and 'rounded' are about the same records"):
        written(tmp_path, hidden, rounded(table()))
    hidden = dk.suppress(table(vintage="2023"), dk.rules.MinimumFrequency(3), name="hidden")
    written(tmp_path, hidden, rounded(table(vintage="2024", N=9)))


def test_a_cell_has_one_value_in_all_tables(tmp_path):
    made = table()
    other = [25, 5, 10, 5, 5]
    with pytest.raises(InputError, match=r"different values for 1 of them \(region=S\)"):
        written(tmp_path, rounded(made), changed(made, other, name="other"))
    written(tmp_path, rounded(made), rounded(made, name="again"))


def test_a_weighted_count_does_not_stand_beside_its_count(tmp_path):
    sample = pa.table({"x": list("aabbb"), "weight": [9, 8, 7, 9, 8], "key": [1, 5, 9, 3, 7]})
    ptable = dk.PerturbationTable.maximum_entropy(2, 1)
    table = dk.tabulate(sample, by={"x": None}, value="weight", record_key="key", key_modulus=10)
    count = dk.perturb(table["count"], ptable)
    weighted = dk.perturb(table["weight"], ptable, weighted_count=True)
    for pair in ((count, weighted), (weighted, count)):
        with pytest.raises(InputError, match="tell the mean weight of each cell exactly"):
            written(tmp_path, *pair)
    written(tmp_path, weighted)


# ── verification ────────────────────────────────────────────────────────────────────


def test_an_untouched_release_is_verified(tmp_path):
    folder = written(tmp_path, rounded(table()))
    report = verify(folder, keys=KEYS)
    assert report.tables == ("rounded",) and report.checked_internal
    assert "5 values and their noise compared" in report.lines[1]


def digest_anew(folder, name="rounded"):
    """As somebody would who knows how digests work."""
    from diskret.publish.digests import digest

    path = folder / "public" / f"{name}.certificate.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    content["files"] = {file: digest(folder / "public" / file) for file in content["files"]}
    path.write_text(json.dumps(content), encoding="utf-8")
    reseal(folder, KEYS)


def test_a_changed_file_is_found(tmp_path):
    folder = written(tmp_path, rounded(table()))
    edit(folder / "public" / "rounded.csv", "N,5", "N,10")
    with pytest.raises(VerificationError, match=r"rounded\.csv"):
        verify(folder, keys=KEYS)


def test_a_value_off_the_base_is_found(tmp_path):
    folder = written(tmp_path, rounded(table()))
    edit(folder / "public" / "rounded.csv", "N,5", "N,6")
    digest_anew(folder)
    with pytest.raises(VerificationError, match="not rounded as the certificate says"):
        verify(folder, keys=KEYS)


def test_a_table_that_does_not_add_up_is_found(tmp_path):
    made = table()
    options = {"family": "adjustment", "shown": {"additive": True}}
    folder = written(tmp_path, changed(made, [20, 5, 10, 0, 5], **options))
    verify(folder, keys=KEYS)
    edit(folder / "public" / "rounded.csv", "N,5", "N,6")
    digest_anew(folder)
    with pytest.raises(VerificationError, match="says that the table adds up, but it does not"):
        verify(folder / "public")


@pytest.mark.parametrize(
    ("pattern", "replacement", "why"),
    [
        ("N,7,5,-2", "N,7,4,-3", "public and internal values differ"),
        ("N,7,5,-2", "N,7,5,-1", "noise is not what was added"),
        ("N,7,5,-2", "N,6,5,-1", "not the one that was released"),
    ],
)
def test_a_changed_internal_table_is_found(tmp_path, pattern, replacement, why):
    folder = written(tmp_path, rounded(table()))
    edit(folder / "internal" / "rounded.cells.csv", pattern, replacement)
    reseal(folder, KEYS)
    with pytest.raises(VerificationError, match=why):
        verify(folder, keys=KEYS)


# ── the ledger ──────────────────────────────────────────────────────────────────────


@pytest.fixture
def ledger(tmp_path):
    return dk.Ledger.create(tmp_path / "releases.db", keys=KEYS)


def publish(ledger, tmp_path, name, result):
    return ledger.publish(result, tmp_path / name, formats=["csv"], who="clerk")


def test_rounded_values_are_known_as_intervals(ledger, tmp_path):
    publish(ledger, tmp_path, "january", rounded(table(), base=10))
    [earlier] = ledger.tables("january")
    assert earlier.perturbed
    assert earlier.published.lower.tolist() == [15, 5, 5, 0, 5]
    assert earlier.published.upper.tolist() == [24, 14, 14, 4, 14]
    # what is suppressed later has to stay uncertain beside them
    later = dk.suppress(table(), dk.rules.MinimumFrequency(3), name="later", ledger=ledger)
    assert publish(ledger, tmp_path, "february", later)


def test_a_count_that_rounding_told_too_well_cannot_be_hidden_any_more(ledger, tmp_path):
    publish(ledger, tmp_path, "january", rounded(table()))
    with pytest.raises(ProtectionError, match="region=S"):
        dk.suppress(table(), dk.rules.MinimumFrequency(3), name="later", ledger=ledger)


def test_rounding_that_opens_a_hidden_cell_is_refused(ledger, tmp_path):
    wide = dk.suppress(
        table(N=70, S=2, W=50),
        dk.rules.MinimumFrequency(3),
        name="hidden",
    )
    publish(ledger, tmp_path, "january", wide)
    made = table(N=70, S=2, W=50)
    close = changed(made, made.count, name="close", known=Perturbed("noise", largest=0))
    before = {path.name for path in tmp_path.iterdir()}
    with pytest.raises(ProofError, match="could be computed exactly or too closely"):
        publish(ledger, tmp_path, "february", close)
    assert {path.name for path in tmp_path.iterdir()} == before
    assert [release.name for release in ledger.releases()] == ["january"]


def test_changed_values_are_checked_before_they_are_published(ledger, tmp_path):
    made = table(N=70, S=2, W=50)
    publish(ledger, tmp_path, "january", dk.suppress(made, dk.rules.MinimumFrequency(3)))
    report = ledger.check(rounded(made, base=3, name="close"))
    assert not report.ok and "region=S" in report.lines()[1]
    assert ledger.check(rounded(table("2024"), name="other year")).ok
    with pytest.raises(InputError, match="without a bound"):
        ledger.check(changed(made, made.count))


def test_a_cell_does_not_get_other_noise_later(ledger, tmp_path):
    made = table()
    publish(ledger, tmp_path, "january", rounded(made))
    other = changed(
        made, [25, 10, 10, 0, 5], name="other", known=Perturbed("deterministic", base=5)
    )
    with pytest.raises(InputError, match="1 of 5 cells of 'other' was published"):
        publish(ledger, tmp_path, "february", other)
    assert publish(ledger, tmp_path, "march", rounded(made, name="again"))


def test_noise_without_a_bound_is_recorded_but_nothing_is_built_on_it(ledger, tmp_path):
    made = table()
    release = publish(ledger, tmp_path, "january", changed(made, made.count + 1))
    [note] = release.entry.tables
    assert note.perturbed == "without a known bound" and not ledger.earlier([made])
    assert "without a bound" in release.entry.why
    hidden = dk.suppress(table("2024"), dk.rules.MinimumFrequency(3), name="hidden")
    publish(ledger, tmp_path, "february", hidden)
    with pytest.raises(ProofError, match="nothing can be proven about the cells that release"):
        publish(ledger, tmp_path, "march", changed(table("2024"), made.count + 1, name="more"))


def test_common_cells_are_found_whatever_the_order_of_variables():
    from diskret.tables.meanings import common_cells

    rows = pa.table({"x": ["a", "a", "b"], "y": ["c", "d", "c"], "n": [4, 5, 6]})
    one = dk.Table.from_cells(rows, by={"x": None, "y": None}, count="n")
    other = dk.Table.from_cells(rows, by={"y": None, "x": None}, count="n")
    first, second = common_cells(one, other)
    assert len(first) == one.count.size
    assert np.array_equal(one.count.ravel()[first], other.count.ravel()[second])

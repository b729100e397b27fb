"""A revision is attacked together with the first delivery, and protects what that protects."""

import csv
from itertools import product

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples
from typer.testing import CliRunner

import diskret as dk
from diskret.cli.main import app
from diskret.errors import InputError, ProofError, ProtectionError
from diskret.jobs.run import run_job
from diskret.ledger.revisions import check_revision, first_delivery
from diskret.publish.difference import last_delivery

KEYS = dk.SecretKeys(bytes(range(32)))
JOB = """\
[[tables]]
name = "firms"
by = {{ region = "flat" }}
vintage = "{vintage}"
cells = {{ file = "{vintage}.csv", count = "firms" }}
rules = {{ minimum_frequency = {{ n = {n} }} }}
{edition}
[output]
folder = "out {vintage}"
formats = ["csv"]
"""
REVISION = '[edition]\nprevious = "out first"\nrevision = true'


def deliver(home, vintage, counts, edition="", n=3):
    """Publish counts by region; region → shown count, None where hidden."""
    lines = [f"{region},{firms}" for region, firms in counts.items()]
    path = home / f"{vintage}.csv"
    path.write_text("region,firms\n" + "\n".join(lines) + "\n", encoding="utf-8")
    path = home / f"{vintage}.toml"
    path.write_text(JOB.format(vintage=vintage, edition=edition, n=n), encoding="utf-8")
    folder, _ = run_job(path, keys=KEYS)
    return shown(folder)


def shown(folder):
    with (folder / "public" / "firms.csv").open(encoding="utf-8", newline="") as file:
        return {row["region"]: int(row["count"]) if row["count"] else None
                for row in csv.DictReader(file)}  # fmt: skip


FIRST = {"S": 7, "N": 8, "W": 5, "Q": 1}
HIDDEN_FIRST = {"Total": 21, "N": 8, "Q": None, "S": 7, "W": None}


def test_what_was_hidden_first_is_hidden_again_where_it_has_not_changed(tmp_path):
    """Q was 1 and is 4, which no rule finds unsafe: shown, W = 5 would give Q = 1 away."""
    assert deliver(tmp_path, "first", FIRST) == HIDDEN_FIRST
    alone = deliver(tmp_path, "alone", FIRST | {"Q": 4})
    assert alone == {"Total": 24, "N": 8, "Q": 4, "S": 7, "W": 5}
    revised = deliver(tmp_path, "revised", FIRST | {"Q": 4}, REVISION)
    assert revised == {"Total": 24, "N": 8, "Q": None, "S": 7, "W": None}
    dk.verify(tmp_path / "out revised", keys=KEYS, releases=[tmp_path / "out first"])


def test_a_ledger_takes_a_revision_in_which_nothing_has_changed(tmp_path, monkeypatch):
    """Any other vintage with the values of an earlier one is refused: they pass for the same."""
    monkeypatch.setattr("diskret.tables.one_measure._hide_alike", lambda *_: False)
    dk.Ledger.create(tmp_path / "ledger.db", keys=KEYS)
    ledger = '[output]\nledger = "ledger.db"'
    counts = {"S": 70, "N": 80, "W": 50, "Q": 1}
    later = REVISION.replace("true", "false")
    for vintage, edition in (("first", ""), ("revised", REVISION), ("later", later)):
        lines = "\n".join(f"{region},{firms}" for region, firms in counts.items())
        (tmp_path / f"{vintage}.csv").write_text(f"region,firms\n{lines}\n", encoding="utf-8")
        job = JOB.format(vintage=vintage, edition=edition, n=3).replace("[output]", ledger)
        (tmp_path / f"{vintage}.toml").write_text(job, encoding="utf-8")
    run_job(tmp_path / "first.toml", keys=KEYS)
    with pytest.raises(InputError, match="pass for the same records"):
        run_job(tmp_path / "later.toml", keys=KEYS)
    run_job(tmp_path / "revised.toml", keys=KEYS)
    assert len(dk.Ledger(tmp_path / "ledger.db", KEYS).releases()) == 2


def test_the_command_line_says_that_both_deliveries_were_attacked(tmp_path, monkeypatch):
    monkeypatch.setenv("DISKRET_KEYS", str(tmp_path / "keys"))
    lines = "\n".join(f"{region},{firms}" for region, firms in FIRST.items())
    for vintage, edition in (("first", ""), ("revised", REVISION)):
        (tmp_path / f"{vintage}.csv").write_text(f"region,firms\n{lines}\n", encoding="utf-8")
        path = tmp_path / f"{vintage}.toml"
        path.write_text(JOB.format(vintage=vintage, edition=edition, n=3), encoding="utf-8")
        done = CliRunner().invoke(app, ["protect", str(path)])
        assert done.exit_code == 0, done.output
    assert "attacked together with the first delivery" in done.output


def test_what_the_first_delivery_shows_protects_nobody_any_more(tmp_path):
    """N, S and W are known and have not changed, so Q needs the total, which has."""
    assert None not in deliver(tmp_path, "first", FIRST | {"Q": 4}).values()
    revised = deliver(tmp_path, "revised", FIRST | {"Q": 2}, REVISION)
    assert revised == {"Total": None, "N": 8, "Q": None, "S": 7, "W": 5}


def test_what_was_shown_and_has_not_changed_cannot_be_protected_again(tmp_path):
    deliver(tmp_path, "first", FIRST | {"Q": 4})
    with pytest.raises(ProofError, match="whatever else is hidden: region=W in firms"):
        deliver(tmp_path, "revised", FIRST | {"Q": 6}, REVISION, n=6)
    assert not (tmp_path / "out revised").exists()


def test_a_revision_that_does_not_say_so_is_asked_for(tmp_path):
    deliver(tmp_path, "first", FIRST | {"Q": 4})
    edition = '[edition]\nprevious = "out first"'
    with pytest.raises(InputError, match="3 of 5 values are those of the last delivery"):
        deliver(tmp_path, "next", FIRST | {"Q": 9}, edition)
    assert deliver(tmp_path, "next", FIRST | {"Q": 9}, f"{edition}\nrevision = false")["Q"] == 9
    other = {"S": 9, "N": 9, "W": 9, "Q": 4}
    assert deliver(tmp_path, "later", other, edition)["S"] == 9


def test_what_is_missing_of_the_first_delivery_is_said(tmp_path):
    deliver(tmp_path, "first", FIRST)
    public = REVISION.replace("out first", "out first/public")
    (tmp_path / "download").mkdir()
    for path in (tmp_path / "out first" / "public").iterdir():
        (tmp_path / "download" / path.name).write_bytes(path.read_bytes())
    with pytest.raises(InputError, match="does not hold the office's files"):
        deliver(tmp_path, "revised", FIRST, REVISION.replace("out first", "download"))
    with pytest.raises(InputError, match="has other codes or another tree"):
        deliver(tmp_path, "revised", FIRST | {"E": 7}, REVISION)
    assert deliver(tmp_path, "revised", FIRST | {"Q": 4}, public)["W"] is None
    cells = tmp_path / "out first" / "internal" / "firms.cells.csv"
    cells.write_text(cells.read_text("utf-8").replace("\nW,5,", "\nW,6,"), encoding="utf-8")
    with pytest.raises(dk.DiskretError, match="is not the one that was released"):
        deliver(tmp_path, "again", FIRST | {"Q": 4}, REVISION)


def test_the_check_finds_what_a_revision_gives_away(tmp_path):
    """The sabotage: a pattern that is safe alone, and not beside the first delivery."""
    deliver(tmp_path, "first", FIRST)
    folder = tmp_path / "out first"
    first = first_delivery(folder, last_delivery(folder, ["firms"]), KEYS)
    now = FIRST | {"Q": 4}
    cells = pa.table({"region": list(now), "firms": list(now.values())})
    table = dk.Table.from_cells(cells, by={"region": None}, count="firms", vintage="revised")
    result = dk.suppress(table, dk.rules.MinimumFrequency(3), name="firms")
    found = check_revision([result], first)
    assert not found.report.ok
    broken = {(cell.release, cell.codes, cell.lower, cell.upper) for cell in found.report.broken}
    assert broken == {
        ("first delivery", "region=Q", 1, 1),
        ("first delivery", "region=W", 5, 5),
    }
    [cells] = found.to_hide
    assert [table.dimensions[0].hierarchy.codes[i] for i in cells] == ["W"]


# ── against an oracle that lists all pairs of tables that somebody could believe in ────


def possible(first, now, same):
    """All counts of both deliveries that agree with what both show.

    first, now: region → shown count or None; same: the regions that have not been revised.
    """
    regions = [region for region in first if region != "Total"]
    most = range(13)

    def tables(seen):
        for values in product(*(most if seen[r] is None else [seen[r]] for r in regions)):
            table = dict(zip(regions, values, strict=True)) | {"Total": sum(values)}
            if seen["Total"] in (None, table["Total"]):
                yield table

    later = list(tables(now))
    for then in tables(first):
        for revised in later:
            if all(then[r] == revised[r] for r in same):
                yield then, revised


@examples(12)
@given(
    st.lists(st.integers(0, 6), min_size=4, max_size=4),
    st.dictionaries(st.sampled_from("abcd"), st.integers(0, 6), min_size=1, max_size=2),
)
def test_nothing_unsafe_can_be_computed_from_both_deliveries(tmp_path_factory, counts, revised):
    home = tmp_path_factory.mktemp("revision")
    then = dict(zip("abcd", counts, strict=True))
    now = then | revised
    try:
        seen_then = deliver(home, "first", then)
        seen_now = deliver(home, "revised", now, REVISION)
    except (ProtectionError, ProofError):  # nothing was delivered
        return
    true = [dict(t) | {"Total": sum(t.values())} for t in (then, now)]
    same = [region for region in true[0] if true[0][region] == true[1][region]]
    pairs = list(possible(seen_then, seen_now, same))
    for side, (seen, values) in enumerate(zip((seen_then, seen_now), true, strict=True)):
        for region, value in values.items():
            if 0 < value < 3:
                assert seen[region] is None
                found = {pair[side][region] for pair in pairs}
                assert min(found) <= value - 1 and max(found) >= value + 1


def test_linked_sums_with_decimals_are_attacked_together(tmp_path):
    """Sums of records by region and size; one firm's turnover is revised."""
    rng = np.random.default_rng(3)
    drawn = zip(
        rng.choice(list("nsw"), 40),
        rng.choice(list("12"), 40),
        rng.lognormal(3, 1.2, 40),
        strict=True,
    )
    rows = [(r, size, f"f{i}", round(float(v), 1)) for i, (r, size, v) in enumerate(drawn)]
    text = """\
[records]
path = "{vintage}.csv"
[[tables]]
name = "regions"
by = {{ r = "flat" }}
value = "v"
unit = "f"
decimals = 1
vintage = "{vintage}"
rules = {{ p_percent = {{ p = 20 }} }}
[[tables]]
name = "sizes"
by = {{ r = "flat", s = "flat" }}
value = "v"
unit = "f"
decimals = 1
vintage = "{vintage}"
rules = {{ p_percent = {{ p = 20 }} }}
{edition}
[output]
folder = "out {vintage}"
formats = ["csv"]
"""
    results = {}
    for vintage, edition, factor in (("first", "", 1), ("revised", REVISION, 0.3)):
        lines = [f"{r},{s},{f},{v if f != 'f7' else round(v * factor, 1)}" for r, s, f, v in rows]
        path = tmp_path / f"{vintage}.csv"
        path.write_text("r,s,f,v\n" + "\n".join(lines) + "\n", encoding="utf-8")
        path = tmp_path / f"{vintage}.toml"
        path.write_text(text.format(vintage=vintage, edition=edition), encoding="utf-8")
        results[vintage] = run_job(path, keys=KEYS)[1]
    folder = tmp_path / "out first"
    first = first_delivery(folder, last_delivery(folder, ["regions", "sizes"]), KEYS)
    found = check_revision(results["revised"], first)
    assert found.report.ok and not found.hopeless
    dk.verify(tmp_path / "out revised", keys=KEYS, releases=[folder])

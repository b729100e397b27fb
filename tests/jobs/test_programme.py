"""A programme of releases: planned together, published one after the other."""

from datetime import date

import pyarrow as pa
import pyarrow.csv as pa_csv
import pytest

import diskret as dk
from diskret.attack import examine
from diskret.errors import JobError, ProtectionError
from diskret.jobs.programme import run_programme
from diskret.jobs.programme_file import is_programme, read_programme
from diskret.publish.verify.folder import verify
from diskret.tables import Publication, Published

KEYS = dk.SecretKeys(bytes(range(32)))
TODAY = date(2026, 6, 1)
# the south has one large firm; so has the east among the firms of the second size
FIRMS = {
    ("N", "1"): [50, 40, 30],
    ("N", "2"): [45, 35, 40],
    ("S", "1"): [300, 5],
    ("S", "2"): [5, 3],
    ("W", "1"): [30, 25, 25],
    ("W", "2"): [20, 20, 20],
    ("E", "1"): [30, 35, 25],
    ("E", "2"): [60],
}
JOB = """
[records]
path = "firms.csv"
[[tables]]
name = "turnover"
by = { %s }
value = "turnover"
rules = { p_percent = { p = 10 } }
[attacker]
contributor = false
[output]
formats = ["csv"]
"""
PROGRAMME = """
[[releases]]
name = "january"
job = "january.toml"
[[releases]]
name = "march"
job = "march.toml"
"""
DUE = """
ledger = "releases.db"
[[releases]]
name = "january"
job = "january.toml"
due = 2026-01-31
[[releases]]
name = "march"
job = "march.toml"
due = 2026-03-31
"""


@pytest.fixture
def home(tmp_path):
    rows = [(*codes, amount) for codes, firms in FIRMS.items() for amount in firms]
    names = ("region", "size", "turnover")
    table = pa.table({name: [row[i] for row in rows] for i, name in enumerate(names)})
    pa_csv.write_csv(table, tmp_path / "firms.csv")
    (tmp_path / "january.toml").write_text(JOB % 'region = "flat"', encoding="utf-8")
    march = JOB % 'region = "flat", size = "flat"'
    (tmp_path / "march.toml").write_text(march, encoding="utf-8")
    dk.Ledger.create(tmp_path / "releases.db", keys=KEYS)
    return tmp_path


def programme(home, text=PROGRAMME):
    (home / "programme.toml").write_text(text, encoding="utf-8")
    return read_programme(home / "programme.toml")


def hidden(result):
    codes = [d.hierarchy.codes for d in result.published.dimensions]
    return {codes[0][cell[0]] for cell in zip(*result.published.suppressed.nonzero(), strict=True)}


def test_planned_together_january_chooses_what_march_needs(home):
    run = run_programme(programme(home), keys=KEYS)
    january, march = (release.results[0] for release in run.releases)
    alone = dk.suppress(january.table, dk.rules.PPercent(10))
    assert hidden(alone) == {"S", "W"}  # the cheapest for January
    assert hidden(january) == {"S", "E"}  # the cheapest for both
    assert run.chosen == "together"
    assert run.losses["together"] == 150 + 150 + 90  # east; east, and its first size
    assert run.losses["as_published"] == 140 + 140 + 60 + 90  # west; west, and one size of each
    assert hidden(march) == {"S", "E"}


def test_each_release_is_proven_beside_those_before_it(home):
    run = run_programme(programme(home), keys=KEYS)
    first, second = (release.folder for release in run.releases)
    assert (first.name, second.name) == ("january", "march")
    assert any("confirmed" in line for line in verify(first, keys=KEYS).lines)
    assert any("confirmed" in line for line in verify(second, keys=KEYS, releases=[first]).lines)
    tables = [Published.read(folder / "public", "turnover") for folder in (first, second)]
    seen = examine(Publication((tables[0], tables[1])))
    assert (seen.upper > seen.lower).all()


def test_releases_wait_until_they_are_due(home):
    planned = programme(home, DUE)
    early = run_programme(planned, keys=KEYS, today=date(2026, 2, 1))
    assert [release.folder is not None for release in early.releases] == [True, False]
    assert hidden(early.releases[0].results[0]) == {"S", "E"}  # as planned for both
    assert not (home / "out" / "march").exists()
    late = run_programme(planned, keys=KEYS, today=TODAY)
    assert late.releases[0].results == ()  # published before
    assert hidden(late.releases[1].results[0]) == {"S", "E"}
    names = [release.name for release in dk.Ledger(home / "releases.db", keys=KEYS).releases()]
    assert names == ["january", "march"]
    again = run_programme(planned, keys=KEYS, today=TODAY)
    assert all(release.results == () for release in again.releases)


def test_releases_that_are_due_at_once_are_published_one_after_the_other(home):
    run = run_programme(programme(home, DUE), keys=KEYS, today=TODAY)
    march = run.releases[1].results[0].certificate.public()
    assert [(e["release"], e["table"]) for e in march["beside"]] == [("january", "turnover")]
    ledger = dk.Ledger(home / "releases.db", keys=KEYS)
    assert [release.name for release in ledger.releases()] == ["january", "march"]
    assert ledger.verify([release.folder for release in run.releases]) == 2


def test_without_the_plan_march_pays_for_january(home):
    # january's own choice is in the ledger already
    run = run_programme(programme(home), keys=KEYS)
    table = run.releases[0].results[0].table
    ledger = dk.Ledger(home / "releases.db", keys=KEYS)
    ledger.publish(dk.suppress(table, dk.rules.PPercent(10)), home / "january", formats=["csv"])
    late = run_programme(programme(home, DUE), keys=KEYS, today=TODAY, folder=home / "later")
    assert hidden(late.releases[1].results[0]) >= {"S", "W"}


def test_an_impossible_programme_writes_nothing(home):
    frozen = JOB % 'region = "flat"' + "\n"
    cells = "".join(
        f'[[tables.frozen]]\nat = {{ region = "{code}" }}\n' for code in ("Total", *"NWE")
    )
    text = frozen.replace("[attacker]", cells + "[attacker]")
    (home / "january.toml").write_text(text, encoding="utf-8")
    with pytest.raises(ProtectionError):
        run_programme(programme(home), keys=KEYS)
    assert not list((home / "out").glob("*"))


def test_a_programme_is_told_from_a_job(home):
    programme(home)
    assert is_programme(home / "programme.toml")
    assert not is_programme(home / "january.toml")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (PROGRAMME.replace('"march"', '"January"'), "two releases are called 'January'"),
        (PROGRAMME.replace("march.toml", "april.toml"), "does not exist"),
        (PROGRAMME + "due = 2026-03-31\n", "'due' needs a 'ledger'"),
        (DUE.replace("2026-03-31", "2025-03-31"), "line 10: 'march' is due before"),
        (DUE.replace("2026-03-31", '"soon"'), "a date such as 2026-03-31"),
        (DUE.replace("due = 2026-03-31\n", ""), "'march' is due before"),
        (PROGRAMME.replace("[[releases]]", "[[release]]"), "unknown key 'release'"),
        ("releases = []\n", "at least one"),
        (PROGRAMME.replace('"march"', '"a/b"'), "cannot be the name of a folder"),
    ],
)
def test_mistakes_are_named_with_their_line(home, text, message):
    with pytest.raises(JobError, match=message):
        programme(home, text)


def test_jobs_with_different_attackers_are_refused(home):
    text = (JOB % 'region = "flat"').replace("contributor = false", "zeros_known = true")
    (home / "march.toml").write_text(text, encoding="utf-8")
    with pytest.raises(JobError, match=r"'january' and 'march' differ in \[attacker\]"):
        programme(home)


def test_the_ledger_of_a_programme_is_named_in_the_programme(home):
    text = JOB % 'region = "flat"' + 'ledger = "other.db"\n'
    (home / "march.toml").write_text(text, encoding="utf-8")
    with pytest.raises(JobError, match="the job of 'march' has 'ledger'"):
        programme(home)

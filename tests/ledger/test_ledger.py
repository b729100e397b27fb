"""What was published is remembered, and nothing is published that undoes it."""

import json
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import diskret as dk
from diskret.errors import InputError, ProofError
from diskret.population import Population
from diskret.publish.store.cells import keyed_contributions
from diskret.tables import Contributions, MeasureSum

KEYS = dk.SecretKeys(bytes(range(32)))
RULE = dk.rules.MinimumFrequency(3)
FIRMS = {"N": 7, "S": 2, "W": 5, "O": 9}


@pytest.fixture
def ledger(tmp_path):
    return dk.Ledger.create(tmp_path / "releases.db", keys=KEYS)


def table(vintage="", where=None, **firms):
    firms = firms or FIRMS
    cells = pa.table({"region": list(firms), "firms": list(firms.values())})
    made = dk.Table.from_cells(cells, by={"region": None}, count="firms", vintage=vintage)
    return replace(made, where=Population.of(where))


def protected(made=None, name="firms", ledger=None):
    return dk.suppress(made or table(), RULE, name=name, ledger=ledger)


def publish(ledger, tmp_path, folder, result=None, **options):
    return ledger.publish(
        result or protected(), tmp_path / folder, formats=["csv"], **{"who": "clerk"} | options
    )


def content(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


# ── publish ─────────────────────────────────────────────────────────────────────────


def test_a_release_is_written_and_recorded(ledger, tmp_path):
    release = publish(ledger, tmp_path, "firms-2025")
    [again] = ledger.releases()
    assert again == release
    entry = release.entry
    assert (entry.number, entry.kind, entry.release, entry.who) == (
        *(1, "publish"),
        *("firms-2025", "clerk"),
    )
    assert entry.when.endswith("+00:00")
    assert entry.folder == str(tmp_path / "firms-2025")
    public = tmp_path / "firms-2025" / "public"
    assert set(entry.files) == {path.name for path in public.iterdir()}
    certificate = json.loads((public / "firms.certificate.json").read_text(encoding="utf-8"))
    assert certificate["files"].items() <= entry.files.items()
    [note] = entry.tables
    assert note.fingerprint == certificate["inputs"]["table"]
    assert (note.name, note.measure, note.variables) == ("firms", "count", ("region",))
    assert (note.cells, note.suppressed) == (5, 2)


def test_the_release_says_which_entry_it_is(ledger, tmp_path):
    publish(ledger, tmp_path, "first")
    publish(ledger, tmp_path, "second", protected(table("2026", N=9, S=4)))
    mark = json.loads((tmp_path / "second/internal/ledger.json").read_text(encoding="utf-8"))
    assert (mark["release"], mark["entry"]) == ("second", 2)
    assert ledger.verify([tmp_path / "first", tmp_path / "second"]) == 2


def test_nothing_of_the_ledger_is_public(ledger, tmp_path):
    """The public files are those that are written without a ledger."""
    result = protected()
    publish(ledger, tmp_path, "with", result)
    result.write(tmp_path / "without", formats=["csv"], keys=KEYS)
    assert content(tmp_path / "with/public") == content(tmp_path / "without/public")


def test_what_is_remembered_is_what_was_published_and_why(ledger, tmp_path):
    result = protected()
    publish(ledger, tmp_path, "first", result)
    [kept] = ledger.earlier([table()])
    assert kept.release == "first"
    assert (kept.original == result.table.count).all()
    assert (kept.published.suppressed == result.published.suppressed).all()
    assert (kept.published.value == result.published.value).all()
    assert kept.requirements.cell.tolist() == result.certificate.requirements.cell.tolist()
    assert [one.release for one in ledger.tables("first")] == ["first"]


def test_published_intervals_are_remembered(ledger, tmp_path):
    publish(ledger, tmp_path, "first", intervals=True)
    [kept] = ledger.earlier([table()])
    shown = dk.Published.read(tmp_path / "first")
    assert (kept.published.lower == shown.lower).all()
    assert ledger.releases()[0].entry.tables[0].intervals


def test_contributors_are_remembered_without_being_named(ledger, tmp_path):
    numbers = np.array([7, 8], np.uint64)
    known = Contributions(
        {"region": ("N", "S")}, np.array([[0], [1]], np.int32), numbers, None, numbers, {}
    )
    publish(ledger, tmp_path, "first", protected(replace(table(), contributions=known)))
    [kept] = ledger.earlier([table()])
    assert not np.isin(kept.contributions.unit, numbers).any()
    assert (kept.contributions.unit == keyed_contributions(known, KEYS).unit).all()


def test_a_name_is_used_once(ledger, tmp_path):
    publish(ledger, tmp_path, "first")
    before = content(tmp_path / "first")
    with pytest.raises(InputError, match="there is a release 'first' already"):
        publish(ledger, tmp_path, "first")
    assert content(tmp_path / "first") == before
    publish(ledger, tmp_path, "first", name="first, corrected")
    assert [release.name for release in ledger.releases()] == ["first", "first, corrected"]


def test_a_failing_write_leaves_nothing(ledger, tmp_path, monkeypatch):
    def refuse(*_, **__):
        raise ProofError("something would have leaked")

    monkeypatch.setattr("diskret.publish.write.check_public", refuse)
    with pytest.raises(ProofError, match="would have leaked"):
        publish(ledger, tmp_path, "first")
    assert ledger.releases() == []
    assert {path.name for path in tmp_path.iterdir()} == {"releases.db", "releases.db.lock"}


# ── attacked again ──────────────────────────────────────────────────────────────────


def test_what_undoes_an_earlier_release_is_refused(ledger, tmp_path):
    """Each table is safe alone; the second shows what the first one hides."""
    publish(ledger, tmp_path, "first")
    open_now = protected(table().recode("region", {"NS": ["N", "S"]}))
    assert not open_now.published.suppressed.any()
    with pytest.raises(ProofError, match="first"):
        publish(ledger, tmp_path, "second", open_now)
    assert not (tmp_path / "second").exists()
    assert len(ledger.releases()) == 1


def test_beside_the_ledger_it_is_protected(ledger, tmp_path):
    publish(ledger, tmp_path, "first")
    made = table().recode("region", {"NS": ["N", "S"]})
    publish(ledger, tmp_path, "second", protected(made, ledger=ledger))
    assert [release.name for release in ledger.releases()] == ["first", "second"]


def test_it_is_attacked_again_only_if_the_ledger_moved(ledger, tmp_path):
    asked = []
    again = lambda results, earlier: asked.append([one.release for one in earlier])  # noqa: E731
    publish(ledger, tmp_path, "first", protected(ledger=ledger), again=again)
    one, other = (protected(ledger=ledger) for _ in "ab")
    publish(ledger, tmp_path, "second", one, again=again)
    assert asked == []
    publish(ledger, tmp_path, "third", other, again=again)
    assert asked == [["first", "second"]]
    publish(ledger, tmp_path, "fourth", protected(), again=again)  # not protected beside it
    assert asked[1:] == [["first", "second", "third"]]


def test_another_ledger_of_as_many_entries_is_another_one(ledger, tmp_path):
    asked = []
    (tmp_path / "other").mkdir()
    other = dk.Ledger.create(tmp_path / "other/releases.db", keys=KEYS)
    publish(other, tmp_path, "elsewhere")
    publish(ledger, tmp_path, "first")
    result = protected(ledger=other)
    publish(ledger, tmp_path, "second", result, again=lambda *_: asked.append(1))
    assert asked == [1]


def test_published_intervals_are_attacked_again(ledger, tmp_path):
    asked = []
    publish(ledger, tmp_path, "first")
    result = protected(ledger=ledger)
    publish(ledger, tmp_path, "second", result, intervals=True, again=lambda *_: asked.append(1))
    assert asked == [1]


def test_tables_that_only_an_earlier_one_ties_are_attacked_together(ledger, tmp_path):
    """Each of two halves is safe beside the whole; both together show what it hides."""
    small, large = {"size": "small"}, {"size": "large"}
    publish(ledger, tmp_path, "whole", protected(table()))
    halves = [
        protected(table(where=small, N=4, S=0, W=3, O=5), name="small", ledger=ledger),
        protected(table(where=large, N=3, S=2, W=2, O=4), name="large", ledger=ledger),
    ]
    seen = []
    publish(ledger, tmp_path, "halves", halves, again=lambda results, _: seen.append(len(results)))
    assert seen == [2]


# ── which tables are related ────────────────────────────────────────────────────────


def test_only_tables_that_say_something_of_each_other_are_loaded(ledger, tmp_path):
    small, large = {"size": "small"}, {"size": "large"}
    publish(ledger, tmp_path, "2025", protected(table("2025")))
    publish(ledger, tmp_path, "2024", protected(table("2024")))
    publish(ledger, tmp_path, "small", protected(table("2024", small)), again=lambda *_: None)

    def found(made):
        return [one.release for one in ledger.earlier([made])]

    assert found(table("2025")) == ["2025"]
    assert found(table("2024")) == ["2024", "small"]
    assert found(table("2023")) == []
    # through the table of all, not directly
    assert found(table("2024", large)) == ["2024", "small"]
    assert [one.release for one in ledger.earlier([protected(table("2025")).published])] == ["2025"]


def test_sums_of_measures_tie_tables(ledger, tmp_path):
    export = replace(protected().published, measure="export")
    revenue = replace(export, measure="revenue", name="revenue")
    ledger.record(export, "export", who="clerk")
    assert ledger.earlier([revenue]) == []
    sums = [MeasureSum.read("revenue = domestic + export")]
    assert [one.release for one in ledger.earlier([revenue], sums)] == ["export"]


# ── withdraw, record ────────────────────────────────────────────────────────────────


def test_withdrawing_removes_nothing_from_what_is_known(ledger, tmp_path):
    publish(ledger, tmp_path, "first")
    position = ledger.position
    release = ledger.withdraw("first", "wrong year", who="head")
    assert (release.withdrawn.who, release.withdrawn.why) == ("head", "wrong year")
    assert [one.release for one in ledger.earlier([table()])] == ["first"]
    assert ledger.position != position
    with pytest.raises(InputError, match="withdrawn already, by head"):
        ledger.withdraw("first", "again")
    with pytest.raises(InputError, match="needs a reason"):
        ledger.withdraw("first", " ")
    with pytest.raises(InputError, match="no release 'frist'; did you mean 'first'"):
        ledger.withdraw("frist", "why not")
    assert ledger.verify() == 2


def test_a_release_from_elsewhere_counts(ledger, tmp_path):
    shown = protected().published
    release = ledger.record(shown, "from the yearbook", why="yearbook of 2020", who="clerk")
    assert release.entry.kind == "record"
    assert release.entry.tables[0].fingerprint == ""
    [kept] = ledger.earlier([table()])
    assert kept.original is None
    assert not len(kept.requirements.cell)


def test_a_release_that_contradicts_earlier_ones_is_not_recorded(ledger, tmp_path):
    """Beside it nothing could be proven any more, and nothing can be removed from a ledger."""
    publish(ledger, tmp_path, "first")
    wrong = protected(table(N=8, S=2, W=5, O=9)).published
    with pytest.raises(InputError, match="first"):
        ledger.record(wrong, "typing error", who="clerk")
    assert [release.name for release in ledger.releases()] == ["first"]


def test_a_recorded_release_that_opens_others_is_told_but_recorded(ledger, tmp_path):
    publish(ledger, tmp_path, "first")
    everything = replace(
        protected().published, value=table().count, suppressed=np.zeros(5, dtype=bool)
    )
    with pytest.warns(UserWarning, match="can compute 1 cell .* first/firms: region=S"):
        ledger.record(everything, "leaked", who="clerk")
    assert [release.name for release in ledger.releases()] == ["first", "leaked"]


def test_what_a_recorded_release_hides_can_be_required(ledger, tmp_path):
    result = protected()
    levels = result.certificate.requirements
    ledger.record(
        result.published, "old", who="c", original=[result.table.count], requirements=[levels]
    )
    open_now = protected(table().recode("region", {"NS": ["N", "S"]}))
    with pytest.raises(ProofError, match="old"):
        publish(ledger, tmp_path, "second", open_now)


def test_levels_need_original_values_that_fit(ledger):
    result = protected()
    levels = result.certificate.requirements
    with pytest.raises(InputError, match="only with its original values"):
        ledger.record(result.published, "old", who="c", requirements=[levels])
    with pytest.raises(InputError, match=r"has shape \(2,\), the table has \(5,\)"):
        ledger.record(result.published, "old", who="c", original=[np.zeros(2, np.int64)])
    with pytest.raises(InputError, match="one entry for each of the 1 tables"):
        ledger.record(result.published, "old", who="c", original=[None, None])
    assert ledger.releases() == []


@pytest.mark.filterwarnings("error")
def test_a_perturbed_release_enters_as_intervals(ledger, tmp_path):
    publish(ledger, tmp_path, "first")
    rounded = replace(
        protected().published,
        value=np.array([25, 5, 10, 0, 5]),
        suppressed=np.zeros(5, dtype=bool),
    )
    how = dk.Perturbed("random", base=5)
    release = ledger.record(rounded, "rounded", noise=how, who="clerk")
    assert release.entry.tables[0].perturbed == repr(how)
    _, kept = ledger.earlier([table()])
    assert kept.perturbed
    assert kept.published.suppressed.all()
    assert kept.published.lower.tolist() == [21, 1, 6, 0, 1]
    assert kept.published.upper.tolist() == [29, 9, 14, 4, 9]

"""Tables that were attacked together, or beside earlier ones: what verification reads of that."""

import json
import shutil

import pyarrow as pa
import pytest
from sealing import reseal
from verify_script import by_script

import diskret as dk
from diskret.errors import InputError, VerificationError
from diskret.publish.digests import digest
from diskret.publish.verify.folder import verify
from diskret.texts import in_languages, sentence

KEYS = dk.SecretKeys(bytes(range(32)))
RULE = dk.rules.MinimumFrequency(3)
MARK = "0" * 64


def by_age(*values):
    cells = pa.table({"age": list("abcd"), "n": list(values)})
    return dk.Table.from_cells(cells, by={"age": None}, count="n")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A release, one beside it, and two tables of one release that were attacked together."""
    home = tmp_path_factory.mktemp("together")
    ledger = dk.Ledger.create(home / "releases.db", keys=KEYS)
    fine = by_age(2, 4, 8, 30)
    ledger.publish(dk.suppress(fine, RULE, name="ages"), home / "first", formats=["csv"])
    second = dk.suppress(fine.recode("age", {"ac": ["a", "c"]}), RULE, name="new", ledger=ledger)
    ledger.publish(second, home / "second", formats=["csv"])
    both = dk.suppress([fine, fine.recode("age", {"ac": ["a", "c"]})], RULE, name=["one", "two"])
    dk.write(both, home / "both", ["csv"], keys=KEYS)
    return home


@pytest.fixture
def releases(written, tmp_path):
    return shutil.copytree(written, tmp_path / "releases")


def change(folder, name, how):
    path = folder / "public" / f"{name}.certificate.json"
    content = json.loads(path.read_text("utf-8"))
    how(content)
    path.write_text(json.dumps(content), encoding="utf-8")
    reseal(folder, KEYS)


def anyone(folder, releases=()):
    """What somebody is told who has the public files alone."""
    download = folder.with_name("download")
    shutil.copytree(folder / "public", download, dirs_exist_ok=True)
    return verify(download, releases=releases)


def test_what_is_attacked_again_is_counted(releases):
    report = verify(releases / "both", keys=KEYS)
    hidden, others = 0, {"one": "two", "two": "one"}
    for name in others:
        text = (releases / "both" / "public" / f"{name}.csv").read_text("utf-8")
        own = text.count(",suppressed")
        hidden += own
        assert any(
            line.startswith(f"{name}: files unchanged; intervals of {own} suppressed cells")
            and line.endswith(f"attacked together with {others[name]}")
            for line in report.lines
        )
    assert report.suppressed == hidden > 0 and report.checked_internal and report.sealed


def test_what_is_not_attacked_again_is_not_counted(releases):
    alone = verify(releases / "second", keys=KEYS)
    assert alone.suppressed == 0
    beside = anyone(releases / "second", [releases / "first"])
    assert beside.suppressed > 0 and not beside.checked_internal and not beside.sealed


def test_without_the_key_nothing_is_sealed_and_the_report_says_so(releases, monkeypatch):
    monkeypatch.setenv("DISKRET_KEYS", str(releases / "nothing"))
    report = verify(releases / "both")
    assert report.checked_internal and not report.sealed
    assert "was not checked without the key" in report.lines[0]
    assert sum("fingerprint not checked without the key" in line for line in report.lines) == 2


def test_the_offices_folder_may_lie_elsewhere(releases):
    folder = releases / "both"
    inside = (folder / "internal").rename(releases / "office")
    assert not verify(folder, keys=KEYS).checked_internal
    assert verify(folder, inside, keys=KEYS).checked_internal
    with pytest.raises(InputError, match="nowhere is not a folder"):
        verify(folder, releases / "nowhere", keys=KEYS)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (lambda c: c.update(tables=["two"]), "one: the certificate does not list the table itself"),
        (lambda c: c.update(tables=["one", "three"]), "together with three, not in this folder"),
        (lambda c: c.update(tables=["two", "one"]), "do not name the same tables"),
        (lambda c: c.pop("tables"), "do not name the same tables"),
        (
            lambda c: c.update(beside=[{"release": "r", "table": "t", "digest": MARK}]),
            "one, two do not name the same earlier releases",
        ),
    ],
)
def test_certificates_of_tables_together_agree(releases, how, words):
    change(releases / "both", "one", how)
    with pytest.raises(VerificationError, match=words):
        anyone(releases / "both")


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (lambda c: c["beside"][0].update(digest=MARK[1:]), "certificate of new lists what is no d"),
        (lambda c: c["beside"][0].pop("table"), "which earlier tables it means: 'table'"),
        (lambda c: c["beside"][0].pop("digest"), "which earlier tables it means: 'digest'"),
        (lambda c: c["claimed"]["en"].pop(), "its text was changed"),
        (lambda c: c["not_claimed"]["de"].pop(), "its text was changed"),
        (lambda c: c.update(refined_to="cells"), "its text was changed"),
        (lambda c: c.update(attacker="nobody"), "its text was changed"),
    ],
)
def test_texts_are_checked_also_without_the_earlier_release(releases, how, words):
    anyone(releases / "second")
    change(releases / "second", "new", how)
    with pytest.raises(VerificationError, match=words):
        anyone(releases / "second")


def bounds(key, change):
    def how(content):
        content["intervals"][key] = [change(end) for end in content["intervals"][key]]

    return how


def outer(number, quick=None):
    """As many outer bounds, with the sentence that belongs to it."""

    def how(content):
        key = "suppression.single equations" if quick else "suppression.outer bounds"
        content["outer_intervals"] = number
        if quick is not None:
            content["single_equations"] = quick
        said = in_languages([sentence(key, outer=number)])
        before = in_languages([sentence("suppression.whole numbers")])
        for language, lines in content["claimed"].items():
            at = lines.index(before[language][0])
            lines[at:at] = said[language]

    return how


@pytest.mark.parametrize(
    "how",
    [
        bounds("lower", lambda end: end + 1),
        bounds("upper", lambda end: end - 1),
        outer(1),
        outer(2, quick=True),
        lambda c: outer(1)(c) or bounds("upper", lambda end: None)(c),
        lambda c: c.update(refined_to="combinations"),
    ],
)
def test_without_the_earlier_release_intervals_may_be_narrower(releases, how):
    change(releases / "second", "new", how)
    line, *_ = anyone(releases / "second").lines
    assert "new: files unchanged; intervals not confirmed, but attacked without" in line
    assert line.endswith("are not given: first/ages")


@pytest.mark.parametrize(
    "how",
    [
        bounds("lower", lambda end: end - 1),
        bounds("lower", lambda end: None),
        bounds("upper", lambda end: end + 1),
        bounds("upper", lambda end: None),
        lambda c: c["intervals"].update(
            lower=c["intervals"]["upper"], upper=c["intervals"]["lower"]
        ),
        lambda c: c["intervals"].pop("lower"),
        lambda c: c["intervals"].pop("age"),
        lambda c: c["intervals"].update(sex=["f"]),
        lambda c: c["intervals"]["age"].reverse(),
        lambda c: c["intervals"]["lower"].pop(),
        lambda c: c["intervals"]["upper"].append(3),
        lambda c: outer(1)(c) or c["intervals"]["age"].reverse(),
        lambda c: outer(1)(c) or bounds("lower", lambda end: 99)(c),
    ],
)
def test_without_the_earlier_release_intervals_are_no_wider_than_without_it(releases, how):
    change(releases / "second", "new", how)
    with pytest.raises(
        VerificationError, match="gives other intervals than the certificate states"
    ):
        anyone(releases / "second")


@pytest.mark.parametrize(
    "how",
    [
        outer(3),
        lambda c: c.update(outer_intervals=0),
        lambda c: c.update(outer_intervals=-1),
        lambda c: c.update(single_equations=True),
        lambda c: c.update(single_equations=False),
        outer(1, quick=False),
        lambda c: c.update(outer_intervals=1),
    ],
)
def test_without_the_earlier_release_outer_bounds_are_counted_and_said(releases, how):
    change(releases / "second", "new", how)
    with pytest.raises(VerificationError, match="its text was changed"):
        anyone(releases / "second")


def test_a_hidden_cell_that_can_be_computed_is_refused_whatever_is_stated(releases):
    """Another one beside it is published after all, and the certificate says what follows."""
    folder = releases / "first"
    rows = (folder / "public" / "ages.csv").read_text("utf-8")
    one, other = [line for line in rows.splitlines() if line.endswith(",,suppressed")]
    value = dict(zip("abcd", (2, 4, 8, 30), strict=True))
    shown, known = one[0], other[0]
    rows = rows.replace(one, f"{shown},{value[shown]},published")
    (folder / "public" / "ages.csv").write_text(rows, encoding="utf-8")

    def follows(content):
        ends = [value[known]]
        content["intervals"] = {"age": [known], "lower": ends, "upper": ends}
        content["files"] = {name: digest(folder / "public" / name) for name in content["files"]}

    change(folder, "ages", follows)
    with pytest.raises(VerificationError, match="ages: a suppressed cell can be computed from"):
        anyone(folder)
    ended, said = by_script(folder.with_name("download"))
    assert ended == 1 and f"age={known}: is known exactly" in said


@pytest.mark.parametrize("sum_", [0, 1, 2])
def test_hidden_cells_may_be_one_of_two_values_but_not_of_one(releases, sum_):
    folder = releases / "first"
    path = folder / "public" / "ages.csv"
    rows = path.read_text("utf-8").splitlines()
    shown = [int(row.split(",")[1]) for row in rows[2:] if row.endswith(",published")]
    rows[1] = f"Total,{sum(shown) + sum_},published"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")

    def follows(content):
        ends = content["intervals"]
        ends["lower"], ends["upper"] = ([end] * len(ends["age"]) for end in (0, sum_))
        content["files"] = {name: digest(path.with_name(name)) for name in content["files"]}

    change(folder, "ages", follows)
    if sum_:
        assert anyone(folder).suppressed == 2
    else:
        with pytest.raises(VerificationError, match="ages: a suppressed cell can be computed"):
            anyone(folder)
    assert by_script(folder / "public")[0] == (sum_ == 0)


def test_an_earlier_table_of_the_same_name_that_shows_something_else_is_not_that(releases):
    """Whatever has the name but not the digest is no stand-in: the table counts as missing."""
    other = dk.suppress(by_age(2, 4, 9, 30), RULE, name="ages")
    other.write(releases / "other", ["csv"], keys=KEYS)
    report = anyone(releases / "second", [releases / "other"])
    assert report.suppressed == 0 and "are not given: first/ages" in report.lines[0]


def test_of_many_missing_tables_five_are_named(releases):
    def more(content):
        content["beside"] = [{"release": f"r{i}", "table": "t", "digest": MARK} for i in range(7)]
        for text in ("claimed", "not_claimed"):
            content[text] = {
                language: [line.replace("(1)", "(7)") for line in lines]
                for language, lines in content[text].items()
            }

    change(releases / "second", "new", more)
    line, *_ = anyone(releases / "second").lines
    assert line.endswith("r0/t, r1/t, r2/t, r3/t, r4/t")


def test_the_witnesses_are_those_of_the_table(releases):
    """Witnesses of another table of the same size prove nothing here."""
    folder = releases / "both" / "internal"
    shutil.copy(
        releases / "first" / "internal" / "ages.witnesses.npz", folder / "one.witnesses.npz"
    )
    reseal(releases / "both", KEYS)
    with pytest.raises(VerificationError):
        verify(releases / "both", keys=KEYS)


def test_cells_of_the_office_that_cannot_be_read(releases):
    path = releases / "both" / "internal" / "one.cells.csv"
    path.write_text('age,"n\n1,2', encoding="utf-8")
    reseal(releases / "both", KEYS)
    with pytest.raises(VerificationError, match=r"one\.cells\.csv cannot be read"):
        verify(releases / "both", keys=KEYS)


def test_fewer_primary_cells_are_not_the_ones_that_were_released(releases):
    """A level left out would be proven by any witness: the levels are the rule's."""
    path = releases / "both" / "internal" / "one.cells.csv"
    text = path.read_text("utf-8")
    assert "primary" in text
    path.write_text(text.replace("primary", "published"), encoding="utf-8")
    reseal(releases / "both", KEYS)
    with pytest.raises(VerificationError, match="public and internal status differ"):
        verify(releases / "both", keys=KEYS)

"""What a certificate of a suppressed table says, and that no claim passes that nobody proved."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

import diskret as dk
from diskret.attack import (
    Attacker,
    Requirements,
    UnsafeSums,
    certify,
    examine,
    show_sums,
)
from diskret.attack.certificate import refined_to, targets_of
from diskret.attack.examination import Examination
from diskret.attack.parts import JudgedParts
from diskret.attack.statements import Scope, claimed, not_claimed, summary
from diskret.errors import ProofError
from diskret.hierarchy.coarser import combine
from diskret.population import Population
from diskret.tables import Dimension, MeasureSum, Publication, Published
from diskret.tables.public_files import content_digest
from diskret.texts import sentence

NSW = dk.Hierarchy.flat(["N", "S", "W"])
VALUE = np.array([21, 4, 8, 9])
NONE = np.zeros(0, dtype=np.int64)


def shown(*hidden, name="t", value=VALUE, tree=NSW, variable="region", **circumstances):
    """Counts of which the cells at some positions are suppressed."""
    mask = np.isin(np.arange(len(value)), hidden)
    empty = np.zeros(len(value), dtype=bool)
    own = {"measure": "count", "frequency": True, "decimals": 0, "suppressed": mask, "empty": empty}
    by = (Dimension(variable, tree),)
    return Published(name, by, **own | {"value": np.where(mask, 0, value)} | circumstances)


def needs(cell, lower, upper, sliding=0):
    """The same of each of some cells."""
    n = len(cell)
    return Requirements(
        np.array(cell, dtype=np.int64), *(np.full(n, level) for level in (lower, upper, sliding))
    )


def certified(published, required, *, attacker=Attacker(), original=VALUE, found=None, **options):
    if found is None:
        targets = targets_of(published, original, required, options.get("unclaimed"))
        found = examine(published, attacker, targets, original=original)
    return certify(published, attacker, required, found, original, **options)


# ── what is proven ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("level", "holds"),
    [((4, 8, 0), True), ((5, 8, 0), False), ((4, 9, 0), False), ((0, 0, 12), True)]
    + [((0, 0, 13), False), ((4, 0, 12), True), ((0, 8, 0), True)],
)
def test_a_level_is_claimed_as_far_as_other_tables_reach(level, holds):
    """N and S are 12 together: N is between 0 and 12, whatever is asked."""
    published, required = shown(1, 2), needs([1], *level)
    if holds:
        (made,) = certified(published, required)
        assert (made.primaries, made.secondaries) == (1, 1)
        return
    with pytest.raises(ProofError, match="1 suppressed cell can be narrowed down too far"):
        certified(published, required)


def test_a_certificate_rests_on_its_own_requirements_and_witnesses():
    published = shown(1, 2)
    found = examine(published, Attacker(), original=VALUE)
    with pytest.raises(ProofError, match="narrowed down too far"):
        certified(published, needs([1], 5, 0), found=found)
    few = Examination.of_witnesses(found.cell, found.witnesses)
    alone = replace(
        few, witness_lower=np.array([4.0, 8.0]), witness_upper=np.array([4.0, 8.0]), lower=few.lower
    )
    with pytest.raises(ProofError, match="2 suppressed cells can be narrowed down too far"):
        certified(published, needs([1], 0, 0), found=alone)


def test_the_attack_was_on_the_cells_that_are_suppressed():
    other = examine(shown(1, 3), Attacker(), original=VALUE)
    with pytest.raises(ProofError, match="other cells were attacked than are suppressed"):
        certified(shown(1, 2), needs([1], 1, 1), found=other)
    more = examine(shown(1, 2, 3), Attacker(), original=VALUE)
    with pytest.raises(ProofError, match="other cells were attacked"):
        certified(shown(1, 2), needs([1], 1, 1), found=more)


def test_an_unsafe_cell_that_is_published_is_no_claim():
    found = examine(shown(1, 2), Attacker(), original=VALUE)
    with pytest.raises(ProofError, match="unsafe cells are published"):
        certified(shown(1, 2), needs([3], 0, 0), found=found)


def test_nothing_is_claimed_of_some_earlier_cells():
    new, old = shown(), shown(1, 2, name="old", vintage="")
    both = Publication((new, old), (), (("r1", "old"),))
    values = np.concatenate([VALUE, VALUE])
    with pytest.raises(ProofError, match="2 suppressed cells"):
        certified(both, needs([], 0, 0), original=values)
    with pytest.raises(ProofError, match="1 suppressed cell"):
        certified(both, needs([], 0, 0), original=values, unclaimed=np.array([6]))
    (made,) = certified(both, needs([], 0, 0), original=values, unclaimed=np.array([5, 6]))
    assert made.proof.unclaimed.tolist() == [5, 6]
    assert certified(shown(1, 2), needs([1], 1, 1))[0].proof.unclaimed.tolist() == []


def test_a_rounded_value_is_not_as_close_as_it_would_have_been_published():
    wanted = targets_of(shown(1, 2, rounding=10), VALUE * 10, needs([1], 3, 2))
    assert wanted.width.tolist() == [11, 11]
    assert (wanted.low[0], wanted.high[0]) == (37, 42)
    wanted = targets_of(shown(1, 2), VALUE, needs([2], 3, 2, 7), np.array([1]))
    assert wanted.width.tolist() == [0, 7]
    assert wanted.low[0] > VALUE.max() > -VALUE.max() > wanted.high[0]
    assert (wanted.low[1], wanted.high[1]) == (5, 10)


def test_a_secondary_need_only_have_two_values():
    published = shown(1, 2, value=np.array([10, 1, 0, 9]))
    values = np.array([10, 1, 0, 9])
    assert len(certified(published, needs([], 0, 0), original=values)) == 1


def sums(*members, level=1):
    """That cells at these positions are together uncertain by so much on both sides."""
    member = np.array([np.isin(np.arange(4), own) for own in members]).astype(np.int64)
    levels = np.full(len(members), level)
    return UnsafeSums(sparse.csr_array(member), levels, levels, 2 * levels, judged=5)


INSIDERS = SimpleNamespace(coalition=2, asked=7, unlisted=[], untold=False, already=False)


@pytest.mark.parametrize("options", [{}, {"insiders": INSIDERS}, {"unsafe": sums([1, 3])}])
def test_contributors_have_to_be_judged(options):
    whom = Attacker(contributor=True)
    with pytest.raises(ProofError, match="what a contributor knows was not judged"):
        certified(shown(1, 2), needs([1], 1, 1), attacker=whom, **options)


def test_sums_of_cells_are_claimed_only_where_other_tables_show_other_ones():
    """N, S, W are 21 together, N and S may be anything up to that."""
    published, whom = shown(1, 2, 3), Attacker(contributor=True)
    given = {"attacker": whom, "insiders": INSIDERS}
    found = examine(published, whom, original=VALUE)
    found = show_sums(published, found, whom, sums([1, 2], level=9), VALUE)
    required = needs([1], 1, 1)
    (made,) = certified(published, required, found=found, unsafe=sums([1, 2], level=9), **given)
    internal = made.internal()
    assert (internal["sums_judged"], internal["sums_unsafe"]) == (5, 1)
    assert (internal["insiders_who_pool"], internal["insiders_asked"]) == (2, 7)
    with pytest.raises(ProofError, match="1 sum of suppressed cells can be narrowed down too far"):
        certified(published, required, found=found, unsafe=sums([1, 2], [1, 2, 3]), **given)
    plain = certified(shown(1, 2), needs([1], 1, 1))[0].internal()
    assert not {"sums_judged", "insiders_asked"} & set(plain)
    judged = certified(published, required, found=found, unsafe=sums([1, 2], level=9))[0].internal()
    assert judged["sums_judged"] == 5 and "insiders_asked" not in judged


@pytest.mark.parametrize(
    ("known", "said"),
    [({}, None), ({"unlisted": ["b"]}, "unlisted contributors")]
    + [({"untold": True}, "untold contributions"), ({"already": True}, "told already")],
)
def test_what_contributors_leave_open_is_not_claimed(known, said):
    published, whom = shown(1, 2, 3), Attacker(contributor=True)
    unsafe = sums([1, 2], level=0)
    insiders = SimpleNamespace(**vars(INSIDERS) | known)
    given = {"attacker": whom, "insiders": insiders, "unsafe": unsafe}
    (made,) = certified(published, needs([1], 1, 1), **given)
    told = made.public()["not_claimed"]["en"]
    for key in ("unlisted contributors", "untold contributions", "told already"):
        assert (sentence(f"suppression.{key}").en in told) is (key == said)


def test_intervals_that_may_be_narrower_are_counted():
    published = shown(1, 2)
    found = examine(published, Attacker(), original=VALUE)
    for exact, quick, shows in (
        (None, False, {}),
        ([True, True], True, {}),
        ([True, False], False, {"outer_intervals": 1}),
        ([False, False], True, {"outer_intervals": 2, "single_equations": True}),
    ):
        given = replace(found, exact=None if exact is None else np.array(exact), quick=quick)
        (made,) = certified(published, needs([1], 1, 1), found=given)
        for content in (made.public(), made.internal()):
            told = {k: content[k] for k in ("outer_intervals", "single_equations") if k in content}
            assert told == shows
        words = made.public()["claimed"]["en"]
        own = {True: "single equations", False: "outer bounds"}
        for kind, key in own.items():
            number = shows.get("outer_intervals", 0)
            text = sentence(f"suppression.{key}", outer=number).en
            assert (text in words) is (bool(shows) and kind is quick)


def test_the_office_reads_the_same_claims_in_both_languages():
    (made,) = certified(shown(1, 2), needs([1], 1, 1), repaired=3, sliding_only=[2])
    public = made.public()
    for language in ("en", "de"):
        lines = made.summary(language)
        own = [*public["claimed"][language], *public["not_claimed"][language]]
        assert lines[-len(own) :] == own
        assert len(lines) == len(own) + 5
    assert "SuppressionCertificate" in made._repr_html_()
    assert repr(made).startswith("SuppressionCertificate('t': 4 cells, 2 suppressed")
    assert repr(made.proof).startswith("Proof(Publication(")


def test_what_everybody_can_tell_is_shown_not_what_the_attacker_knows():
    published = shown(1, 2)
    whom = Attacker(zeros_known=True)
    (made,) = certified(published, needs([1], 3, 7), attacker=whom)
    assert made.public()["intervals"] == {"region": ["N", "S"], "lower": [0, 0], "upper": [12, 12]}
    assert made.internal()["intervals"]["lower"] == [1, 1]
    assert made.public()["attacker"] == "informed"
    plain = certified(published, needs([1], 3, 7))[0]
    assert plain.outsider is plain.examination


# ── several tables ───────────────────────────────────────────────────────────────────


def test_each_table_has_its_own_certificate():
    tables = shown(1, 2, name="a"), shown(2, 3, name="b", vintage="2025")
    both, values = Publication(tables), np.concatenate([VALUE, VALUE])
    made = certified(both, needs([1, 6], 1, 1), original=values)
    assert [one.published.name for one in made] == ["a", "b"]
    assert [one.sliding_only for one in made] == [0, 0]
    assert [one.groups for one in made] == [False, False]
    assert [one.requirements.cell.tolist() for one in made] == [[1], [2]]
    assert [one.examination.cell.tolist() for one in made] == [[1, 2], [2, 3]]
    assert [one.proof.place_of(one.published) for one in made] == [0, 1]
    told = certified(
        both, needs([1, 6], 1, 1), original=values, sliding_only=[3, 4], groups=[False, True]
    )
    assert [one.sliding_only for one in told] == [3, 4]
    assert [one.groups for one in told] == [False, True]
    for short in ({"sliding_only": [3]}, {"groups": [True]}):
        with pytest.raises(ValueError, match="shorter"):
            certified(both, needs([1, 6], 1, 1), original=values, **short)


def test_tables_that_were_attacked_together_are_named():
    first, second = shown(1, 2, name="a"), shown(2, 3, name="b", vintage="2025")
    old = shown(1, 2, name="r1: old", vintage="2024")
    both = Publication((first, second, old), (), (("r1", "old"),))
    values = np.concatenate([VALUE] * 3)
    made = certified(both, needs([1], 1, 1), original=values)
    assert len(made) == 2
    public = made[0].public()
    assert public["tables"] == ["a", "b"]
    digest = content_digest(replace(old, name="old"))
    assert public["beside"] == [{"release": "r1", "table": "old", "digest": digest}]
    assert public["sums"] == [] and public["refined_to"] == "equations"
    alone = certified(Publication((first, old), (), (("r1", "old"),)), needs([1], 1, 1),
                      original=values[:8])[0].public()  # fmt: skip
    assert "tables" not in alone and len(alone["beside"]) == 1
    single = certified(first, needs([1], 1, 1))[0].public()
    assert not {"tables", "beside", "sums", "refined_to"} & set(single)


def test_what_ties_tables_is_named():
    def of(measure, value):
        return shown(
            name=measure, value=np.array(value), measure=measure, frequency=False, nonnegative=True
        )

    total = MeasureSum("all", ("men", "women"))
    three = Publication(
        (of("all", VALUE), of("men", VALUE // 2), of("women", VALUE - VALUE // 2)), (total,)
    )
    made = certified(three, needs([], 0, 0), original=three.value)
    assert [one.public()["sums"] for one in made] == [[str(total)]] * 3
    assert refined_to(three) == "equations"
    assert refined_to(Publication((shown(),))) is None
    assert refined_to(Publication(overlapping_tables())) == "atoms"
    crossed = Publication((pair("x", "y"), pair("y", "z"), pair("x", "z")))
    assert refined_to(crossed) == "combinations"


def pair(*names):
    """Eight persons, one for each combination of three variables, counted by two of these."""
    by = tuple(Dimension(name, dk.Hierarchy.flat(["0", "1"])) for name in names)
    value = np.array([[8, 4, 4], [4, 2, 2], [4, 2, 2]])
    no = np.zeros(value.shape, dtype=bool)
    return Published("".join(names), by, "count", True, 0, value, no, no)


# ── what was judged beside cells ─────────────────────────────────────────────────────


def by_sex():
    sexes = dk.Hierarchy.flat(["f", "m"])
    return shown(name="sex", tree=sexes, variable="sex", value=np.array([21, 10, 11]))


def overlapping_tables():
    fine = dk.Hierarchy.flat(list("abcd"))
    groups = {"ab": ["a", "b"], "cd": ["c", "d"]}, {"bc": ["b", "c"], "ad": ["a", "d"]}
    value = np.array([40, 20, 20])
    return tuple(
        shown(name=f"g{i}", tree=combine(fine, own).hierarchy, value=value)
        for i, own in enumerate(groups)
    )


@pytest.mark.parametrize(
    ("judged", "is_claimed"),
    [
        (None, False),
        (JudgedParts(3, 0), True),
        (JudgedParts(0, 0), True),
        (JudgedParts(3, 1), False),
    ],
)
def test_what_is_revealed_is_claimed_where_all_of_it_was_judged(judged, is_claimed):
    both = Publication(overlapping_tables())
    made = certified(both, needs([], 0, 0), original=both.value, parts=judged)[0]
    assert made.proof.parts_claimed is is_claimed
    assert made.proof.rests_claimed is None and made.proof.crossed_claimed is None
    told = {"parts_judged": judged.judged, "parts_not_judged": judged.unjudged} if judged else {}
    assert {k: v for k, v in made.internal().items() if k.startswith("parts")} == told
    one = certified(shown(1, 2), needs([1], 1, 1))[0]
    assert one.proof.parts_claimed is None

    two = Publication((shown(), by_sex()))
    crossed = certified(two, needs([], 0, 0), original=two.value, crossed=judged)[0]
    assert crossed.proof.crossed_claimed is is_claimed

    women = shown(name="women", value=np.array([12, 4, 4, 4]), where=Population.of({"sex": ("f",)}))
    two = Publication((shown(), women))
    left = certified(two, needs([], 0, 0), original=two.value, rests=judged)[0]
    assert left.proof.rests_claimed is is_claimed


# ── in words ─────────────────────────────────────────────────────────────────────────


def keys_of(said, *keys):
    """Which of some texts are said, by key."""
    return [key for key in keys if sentence(f"suppression.{key}").en in said["en"]]


CLAIMED = (
    "nothing exact in this table",
    "as uncertain as required",
    "alternative tables",
    "intervals",
    "rounded",
    "whole numbers",
    "crossed",
)


def test_a_single_table_claims_what_holds_of_one():
    publication = Publication((shown(1, 2),))
    said = claimed(publication, Scope())
    assert keys_of(said, *CLAIMED) == [*CLAIMED[:4], "whole numbers"]
    assert len(said["en"]) == len(said["de"]) == 5
    rounded = shown(1, 2, frequency=False, rounding=2, value=VALUE * 2)
    said = claimed(Publication((rounded,)), Scope())
    assert keys_of(said, *CLAIMED) == [*CLAIMED[:4], "rounded"]


@pytest.mark.parametrize(
    ("scope", "options", "more"),
    [
        (Scope(), {"contributor": True}, ["suppression.contributors"]),
        (Scope(earlier=2), {}, ["suppression.earlier releases"]),
        (Scope(parts=True), {}, ["suppression.parts"]),
        (Scope(parts=False, rests=False, crossed=False), {}, []),
        (Scope(rests=True), {}, ["suppression.rests"]),
        (Scope(crossed=True), {}, ["suppression.crossed"]),
        (Scope(), {"outer": 3}, ["suppression.outer bounds"]),
        (Scope(), {"outer": 3, "quick": True}, ["suppression.single equations"]),
        (Scope(), {"outer": 0, "quick": True}, []),
    ],
)
def test_what_was_judged_is_claimed_beside_that(scope, options, more):
    publication = Publication((shown(1, 2),))
    plain = claimed(publication, Scope())["en"]
    said = claimed(publication, scope, **options)["en"]
    added = [text for text in said if text not in plain]
    assert [text for text in said if text in plain] == plain
    assert len(added) == len(more)
    if more and "outer" in options:
        assert added == [sentence(more[0], outer=3).en]
    if more == ["suppression.crossed"]:
        assert added == [sentence(more[0]).en]
    if more == ["suppression.earlier releases"]:
        assert added == [sentence(more[0], earlier=2).en]


@pytest.mark.parametrize("what", ["parts", "rests"])
def test_what_earlier_releases_revealed_is_left_out_of_the_claim(what):
    publication = Publication((shown(1, 2),))
    alone = claimed(publication, Scope(**{what: True}))["en"]
    beside = claimed(publication, Scope(earlier=1, **{what: True}))["en"]
    unless = sentence(f"suppression.unless {what} were revealed").en
    assert not any(unless in text for text in alone)
    assert sum(unless in text for text in beside) == 1


def test_a_filter_by_what_is_summed_bounds_each_contribution():
    # of two firms with 100 to 110 each a reader knows 200 to 220, whatever is hidden
    at = {"turnover": {"min": 100, "max": 110}}
    frame = pa.table({"region": [*"NNNSSS"], "firm": range(6), "turnover": [100, 110, 9, 8, 7, 6]})
    bounded = sentence("suppression.filter of values").en
    said = []
    for where in (at, {"firm": {"max": 9}}, None):
        table = dk.tabulate(frame, by={"region": None}, value="turnover", unit="firm", where=where)
        certificate = dk.suppress(table, dk.rules.MinimumFrequency(3)).certificate
        said.append(bounded in certificate.public()["not_claimed"]["en"])
    assert said == [True, False, False]


def test_several_tables_are_named_in_the_claim():
    tables = shown(1, 2, name="a"), shown(2, 3, name="b", vintage="2025", rounding=10)
    said = claimed(Publication(tables), Scope())["en"]
    assert said[0] == sentence("suppression.nothing exact in these tables", tables="a, b").en
    assert sentence("suppression.rounded").en in said


NOT = {
    "no contributors": Attacker(),
    "tables beside this one": Attacker(),
    "choice of cells": Attacker(),
    "other sources": Attacker(),
    "group disclosure": Attacker(),
    "zeros unknown": Attacker(),
}
CONTRIBUTOR = Attacker(contributor=True)
OUTSIDERS = ["no contributors"]


@pytest.mark.parametrize(
    ("scope", "attacker", "lost", "more"),
    [
        (Scope(), Attacker(), [], []),
        (Scope(), CONTRIBUTOR, OUTSIDERS, ["other sums"]),
        (Scope(), Attacker(zeros_known=True), ["zeros unknown"], []),
        (Scope(groups=True), Attacker(), ["group disclosure"], []),
        (Scope(earlier=1), Attacker(), ["tables beside this one"], ["tables beside these"]),
        (Scope(complete=False), Attacker(), [], ["three or more tables"]),
        (Scope(unlisted=True, untold=True, already=True), Attacker(), [], []),
        (Scope(unlisted=True), CONTRIBUTOR, OUTSIDERS, ["other sums", "unlisted contributors"]),
        (Scope(untold=True), CONTRIBUTOR, OUTSIDERS, ["other sums", "untold contributions"]),
        (Scope(already=True), CONTRIBUTOR, OUTSIDERS, ["other sums", "told already"]),
        (Scope(parts=False), Attacker(), [], ["parts not judged"]),
        (Scope(parts=True), Attacker(), [], []),
        (Scope(crossed=True), Attacker(), [], ["otherwise related variables"]),
        (Scope(crossed=False), Attacker(), [], ["unrelated variables"]),
        (Scope(rests=False), Attacker(), [], ["rests not judged"]),
        (Scope(rests=True), Attacker(), [], ["other rests"]),
    ],
)  # fmt: skip
def test_what_is_not_claimed_is_said_as_clearly(scope, attacker, lost, more):
    said = not_claimed(Publication((shown(1, 2),)), scope, attacker)
    expected = {key for key in NOT if key not in lost} | set(more)
    assert set(said["en"]) == {sentence(f"suppression.{key}").en for key in expected}
    assert len(said["en"]) == len(said["de"]) == len(expected)


def test_of_sums_zeros_need_not_be_unknown_and_of_several_tables_others_are_beside():
    of_sums = not_claimed(Publication((shown(1, 2, frequency=False),)), Scope(), Attacker())
    assert sentence("suppression.zeros unknown").en not in of_sums["en"]
    two = Publication((shown(1, 2, name="a"), shown(1, 2, name="b", vintage="2025")))
    said = not_claimed(two, Scope(), Attacker())["en"]
    assert sentence("suppression.tables beside these").en in said


def test_the_office_reads_how_it_was_done():
    def lines(**options):
        given = {"cells": 4, "primaries": 1, "secondaries": 2, "witnesses": 7, "sliding_only": 0}
        given |= {"repaired": 0, "unsafe": None} | options
        return summary("en", Publication((shown(1, 2),)), Scope(), Attacker(), **given)

    plain = lines()
    assert "3" in plain[0] and "4" in plain[0] and "7" in plain[2]
    public = claimed(Publication((shown(1, 2),)), Scope())["en"]
    assert plain[3 : 3 + len(public)] == public
    for options in (
        {"sliding_only": 2},
        {"repaired": 5},
        {"unsafe": dk.attack.UnsafeSums(np.zeros((3, 4)), NONE, NONE, NONE, judged=9)},
    ):
        more = [line for line in lines(**options) if line not in plain]
        assert len(more) == 1, options
        assert len(lines(**options)) == len(plain) + 1

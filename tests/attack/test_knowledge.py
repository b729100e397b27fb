"""What attackers know beforehand: in words, as bounds, and of earlier tables."""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from kinds_of_records import GROUPED, KINDS, Shown, hide, publication

import diskret as dk
from diskret.attack import Attacker, NoiseCertificate, Requirements
from diskret.attack.earlier_tables import (
    earlier_requirements,
    joined_requirements,
    read_beside,
    required_beside,
    unclaimed_cells,
    with_own_hidden,
)
from diskret.attack.equations import equations
from diskret.attack.exact import UNKNOWN
from diskret.attack.examine import intervals
from diskret.attack.knowledge import attacker_bounds, unknown_bounds
from diskret.attack.prior import Known, Within
from diskret.errors import InputError
from diskret.tables import Dimension, Earlier, Outline, Published
from diskret.tables.published import Changed

NSW = Dimension("region", dk.Hierarchy.flat(["N", "S", "W"]))
VALUE = np.array([210, 45, 80, 85])
INF = float("inf")


def shown(*hidden, name="t", frequency=False, decimals=1, **more):
    """Sums with one decimal (21.0, 4.5, 8.0, 8.5) of which some cells are suppressed."""
    mask = np.isin(np.arange(4), hidden)
    own = {"suppressed": mask, "empty": np.zeros(4, dtype=bool), "nonnegative": True} | more
    value = np.where(mask, 0, VALUE)
    return Published(name, (NSW,), "sales", frequency, decimals, value, **own)


def needs(*cells, lower=3, upper=5):
    n = len(cells)
    at = np.array(cells, dtype=np.int64)
    return Requirements(at, np.full(n, lower), np.full(n, upper), np.full(n, lower + upper))


# ── who attacks ──────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("attacker", "kind", "outsider", "words"),
    [
        (Attacker(), "outsider", True, 0),
        (Attacker(zeros_known=True), "informed", False, 1),
        (Attacker(relative=20), "informed", False, 1),
        (Attacker(lower={"t": 1}), "informed", False, 1),
        (Attacker(upper={"t": 1}, mistaken="drop"), "informed", False, 2),
        (Attacker(mistaken="drop"), "outsider", True, 0),
        (Attacker(contributor=True), "contributor", False, 1),
        (Attacker(contributor=True, coalition=2, zeros_known=True), "contributor", False, 2),
    ],
)
def test_the_kind_of_an_attacker_is_public_and_what_it_knows_is_told_in_words(
    attacker, kind, outsider, words
):
    assert (attacker.kind, attacker.outsider) == (kind, outsider)
    assert attacker.informed is (kind == "informed" or attacker.zeros_known)
    plain = Attacker()
    for language in ("en", "de"):
        said, least = attacker.in_words(language), plain.in_words(language)
        assert said.startswith(least[:-1]) and said.endswith(".")
        assert (said != least) is bool(words)
    drops = attacker.mistaken == "drop" and attacker.upper is not None
    assert ("is mistaken" in attacker.in_words()) is drops
    told = attacker.describe()
    assert told["kind"] == kind
    assert (told["lower"], told["upper"]) == (
        attacker.lower is not None,
        attacker.upper is not None,
    )
    assert told["coalition"] == attacker.coalition and told["last_period_within"] is None


def test_who_knows_last_period_says_by_how_much():
    before = pa.table({"region": ["N", "S"], "sales": [4.0, 8.0]})
    for given in (before, {"t": before}):
        attacker = Attacker.around(given, 12.5, value="sales", mistaken="drop", zeros_known=True)
        assert attacker.describe()["last_period_within"] == 12.5
        assert attacker.zeros_known and attacker.mistaken == "drop"
        assert "12.5" in attacker.in_words() and attacker.in_words() != Attacker().in_words()


def test_an_interval_without_an_end_bounds_the_other_side_alone():
    """Beyond 100 percent a value may have changed its sign, so that neither side is bounded."""
    at = {"region": np.array([0, 1, 2])}
    low, high = np.array([3, -INF, -2]), np.array([INF, 5, 4])
    for percent, lowest, highest in (
        (20, [2.4, None, -2.4], [None, 6.0, 4.8]),
        (150, [None, None, -5.0], [None, None, 10.0]),
    ):
        known = Known({"region": ["N", "S", "W"]}, at, low, high)
        bounds = [Within(known, percent, side)(shown()).tolist() for side in ("lower", "upper")]
        for said, expected in zip(bounds, (lowest, highest), strict=True):
            assert np.isnan(said[0])  # the total is not among them
            assert [None if np.isnan(b) else round(b, 9) for b in said[1:]] == expected


def test_last_periods_values_are_in_published_units():
    before = shown(1, 2, rounding=5)  # 21.0 and 8.5, known to 0.2; N and S add up to 12.5
    attacker = Attacker.around(before, 20)
    lower, upper = (side(shown()).tolist() for side in (attacker.lower, attacker.upper))
    assert lower == pytest.approx([20.8 * 0.8, 0, 0, 8.3 * 0.8])
    assert upper == pytest.approx([21.2 * 1.2, 12.9 * 1.2, 12.9 * 1.2, 8.7 * 1.2])


def test_one_percentage_is_told_only_where_all_bounds_are_of_last_period():
    before = pa.table({"region": ["N", "S"], "sales": [4.0, 8.0]})
    one, other = (Attacker.around({"t": before}, by, value="sales") for by in (10, 30))
    mixed = [
        Attacker(lower=one.lower, upper=other.upper),
        Attacker(lower=one.lower),
        Attacker(lower=one.lower | {"u": before}, upper=one.upper),
        Attacker(lower={"t": one.lower["t"], "u": other.lower["t"]}, upper=one.upper),
    ]
    assert one.describe()["last_period_within"] == 10
    for attacker in mixed:
        assert attacker.describe()["last_period_within"] is None
        assert "10" not in attacker.in_words()


def test_a_coalition_is_one_of_contributors():
    with pytest.raises(InputError, match="a coalition of 2 consists of contributors"):
        Attacker(coalition=2)
    Attacker(coalition=1)


def test_bounds_by_table_are_about_that_table():
    of_t, frame = object(), {"region": ["N"], "lower": [1]}
    both = Attacker(lower={"t": of_t, "u": 2}, upper={"t": 3}, relative=5, zeros_known=True)
    assert (both.about("t").lower, both.about("t").upper) == (of_t, 3)
    assert (both.about("u").lower, both.about("u").upper) == (2, None)
    assert both.about("t").relative == 5 and both.about("t").zeros_known
    assert Attacker(lower=frame).about("t").lower is frame
    named_so = {"lower": pa.table({"region": ["N"], "lower": [1]})}
    assert Attacker(lower=named_so).about("lower").lower is named_so["lower"]
    assert Attacker(lower=named_so).about("t").lower is None
    earlier = both.about_earlier()
    assert earlier.lower is earlier.upper is earlier.relative is None and earlier.zeros_known


def test_bounds_of_a_table_that_is_not_there_are_refused():
    one = shown(1, 2)
    with pytest.raises(InputError, match=f"not there: 'tabel'; the tables are '{one.name}'"):
        intervals(one, Attacker(upper={"tabel": pa.table({"region": ["N"], "upper": [1]})}))


# ── bounds ───────────────────────────────────────────────────────────────────────────


def known(attacker, published=None, original=None):
    lower, upper = attacker_bounds(published or shown(1, 2), attacker, original)
    return lower.tolist(), upper.tolist()


def test_values_that_cannot_be_negative_are_at_least_0():
    assert known(Attacker()) == ([0] * 4, [INF] * 4)
    signed = shown(1, 2, nonnegative=False)
    assert known(Attacker(), signed) == ([-INF] * 4, [INF] * 4)
    counts = shown(1, 2, nonnegative=False, frequency=True, decimals=0)
    assert known(Attacker(), counts)[0] == [0] * 4


def test_who_knows_that_zeros_are_shown_knows_that_the_rest_is_none():
    counts = replace(shown(1, frequency=True, decimals=0), value=np.array([210, 0, 0, 1]))
    assert known(Attacker(zeros_known=True), counts)[0] == [1, 1, 0, 1]
    assert known(Attacker(zeros_known=True))[0] == [0] * 4


def test_a_percentage_of_each_value_is_rounded_inwards_and_exact():
    lower, upper = known(Attacker(relative=10), original=VALUE)
    assert (lower, upper) == ([189, 41, 72, 77], [231, 49, 88, 93])
    for percent, lowest in ((33.3, [3, 2, 6, 0]), (33.4, [2, 2, 6, 0]), (100, [0] * 4)):
        values = np.array([3, 2, 8, 0])
        assert known(Attacker(relative=percent), original=values)[0] == lowest
    with pytest.raises(InputError, match="can be tried only by the office"):
        known(Attacker(relative=10))


def test_bounds_in_a_frame_are_in_published_units_and_rounded_inwards():
    frame = pa.table({"region": ["S", "N", "S"], "lower": [7.91, 4.5, 7.5]})
    assert known(Attacker(lower=frame))[0] == [0, 45, 80, 0]  # the higher of two, 79.1 upwards
    frame = pa.table({"region": ["S", "N", "S"], "upper": [8.29, 4.6, 9.0]})
    assert known(Attacker(upper=frame))[1] == [INF, 46, 82, INF]
    # 0.3 in binary is no tenth, and means 3 of them
    frame = pa.table({"region": ["S", "N"], "lower": [0.1 + 0.2, None]})
    assert known(Attacker(lower=frame))[0] == [0, 0, 3, 0]
    frame = pa.table({"region": ["S", "N"], "lower": [0.1 + 0.2 - 0.3, None]})
    assert known(Attacker(lower=frame), shown(1, 2, nonnegative=False))[0][2] == 0
    coded = pa.table({"region": pa.array(["S"]).dictionary_encode(), "lower": [7]})
    assert known(Attacker(lower=coded))[0] == [0, 0, 70, 0]


@pytest.mark.parametrize("size", [6, 60_000, 6 * 10**8, 6 * 10**12])
def test_large_bounds_are_rounded_inwards_as_well(size):
    """A quarter of a unit is no last digit of a number, large as it is."""
    large = replace(shown(1, 2), value=np.array([2 * size, 0, 0, 0]))
    for part, least, most in ((0.25, 1, 0), (0.75, 1, 0), (0.0, 0, 0)):
        bound = (size + part) / 10
        lower, upper = (
            known(
                Attacker(**{side: lambda p, b=bound: np.array([np.nan, b, np.nan, np.nan])}), large
            )
            for side in ("lower", "upper")
        )
        assert (lower[0][1], upper[1][1]) == (size + least, size + most)


def test_codes_of_bounds_are_read_like_those_of_records():
    for codes in (pa.array([" S"]), pa.array(["S "]).dictionary_encode()):
        assert known(Attacker(lower=pa.table({"region": codes, "lower": [7]})))[0] == [0, 0, 70, 0]
    for codes, why in ((pa.array([1.0]), "floating point"), (pa.array([None, "S"]), "is missing")):
        frame = pa.table({"region": codes, "lower": [7] * len(codes)})
        with pytest.raises(InputError, match=why):
            known(Attacker(lower=frame))


def test_of_several_bounds_the_narrowest_counts():
    below = Attacker(relative=10, lower=lambda p: np.array([0, 4.3, np.nan, 1]))
    assert known(below, original=VALUE)[0] == [189, 43, 72, 77]
    above = Attacker(relative=10, upper=lambda p: np.array([99, 4.7, np.nan, 9]))
    assert known(above, original=VALUE)[1] == [231, 47, 88, 90]


@pytest.mark.parametrize(
    ("attacker", "match"),
    [
        (
            Attacker(lower=lambda p: np.zeros(3)),
            r"lower bounds have shape \(3,\), the table has \(4,",
        ),
        (Attacker(upper=pa.table({"region": ["N"]})), "upper bounds need the columns .*: 'upper'"),
        (Attacker(lower=pa.table({"lower": [1]})), "missing: 'region'"),
        (
            Attacker(lower=pa.table({"region": ["X", "N", "Y"], "lower": [1, 2, 3]})),
            "name 2 codes of 'region' that the table does not have, e.g. 'X', 'Y'",
        ),
        (
            Attacker(
                lower=lambda p: np.array([0, 4, 4, 4]), upper=lambda p: np.array([9, 3.9, 3, 4])
            ),
            r"exclude each other in 2 cells, e.g. in \['N'\]: lower 40, upper 39 \(in units of",
        ),
        (Attacker(lower=lambda p: np.zeros(4), mistaken="drop"), "only the office knows which"),
    ],
)
def test_bounds_that_cannot_be_are_named(attacker, match):
    with pytest.raises(InputError, match=match):
        known(attacker)


def test_a_bound_that_excludes_the_truth_may_be_dropped():
    lower = Attacker(lower=lambda p: np.array([0, 4.6, 8.0, 9.0]), mistaken="drop")
    assert known(lower, original=VALUE)[0] == [0, 0, 80, 0]
    upper = Attacker(upper=lambda p: np.array([99, 4.5, 7.9, 8.4]), mistaken="drop")
    assert known(upper, original=VALUE)[1] == [990, 45, INF, INF]


# ── earlier tables ───────────────────────────────────────────────────────────────────


def earlier(*hidden, primary=(), release="r1", frequency=False, original=VALUE, **more):
    published = shown(*hidden, name="old", frequency=frequency, decimals=0 if frequency else 1)
    return Earlier(release, published, original, needs(*primary), **more)


def test_earlier_tables_stand_behind_new_ones_and_keep_their_names():
    old = earlier(1, 2)
    both = read_beside((shown(3),), (), (old,))
    assert [table.name for table in both.tables] == ["t", old.name]
    assert both.beside == (("r1", "old"),)
    assert [table.name for table in both.own] == ["t"]
    alone = with_own_hidden(both)
    assert alone.suppressed.tolist() == [True] * 4 + [False, True, True, False]
    assert alone.beside == both.beside


def test_requirements_count_through_all_tables():
    joined = joined_requirements([needs(1), needs(0, 2, lower=1, upper=2)], [0, 4])
    assert joined.cell.tolist() == [1, 4, 6]
    assert joined.lower.tolist() == [3, 1, 1] and joined.upper.tolist() == [5, 2, 2]
    assert joined.sliding.tolist() == [8, 3, 3]
    old = [earlier(1, 2, primary=(1,)), earlier(2, 3, primary=(3,), release="r2")]
    publication = read_beside((shown(3), shown(2, name="u")), (), old)
    found = required_beside(needs(3), publication, old, Attacker())
    assert found.cell.tolist() == [3, 9, 15]


def test_who_knows_that_counts_are_at_least_1_is_asked_no_lower_than_that():
    counts = earlier(1, 2, primary=(1, 2), frequency=True, original=np.array([9, 2, 7, 0]))
    zeros = Attacker(zeros_known=True)
    assert earlier_requirements(counts, zeros).lower.tolist() == [1, 3]
    assert earlier_requirements(counts, Attacker()).lower.tolist() == [3, 3]
    assert earlier_requirements(earlier(1, primary=(1,)), zeros).lower.tolist() == [3]
    unknown = earlier(1, primary=(1,), frequency=True, original=None)
    assert earlier_requirements(unknown, zeros).lower.tolist() == [3]


def test_of_earlier_secondaries_that_are_published_elsewhere_nothing_is_claimed():
    old = earlier(1, 2, 3, primary=(1,))
    publication = read_beside((shown(2),), (), (old,))
    required = required_beside(needs(2), publication, (old,), Attacker())
    # N is primary; S is hidden in the new table, too; W is published there
    assert unclaimed_cells(publication, (old,), required).tolist() == [7]
    assert unclaimed_cells(publication, (), required).tolist() == []
    label = np.array([0, 1, 2, 3, 0, 1, 2, 4])
    assert unclaimed_cells(publication, (old,), required, label).tolist() == []
    # W is hidden now and was published then: it is claimed nevertheless
    hidden_now = read_beside((shown(2, 3),), (), (earlier(1, 2, primary=(1,)),))
    assert unclaimed_cells(hidden_now, (old,), required).tolist() == []
    changed = Changed(old.published, told=False)
    noisy = replace(old, published=replace(old.published, of_changed=changed))
    assert unclaimed_cells(publication, (noisy,), required, label).tolist() == [6, 7]
    two = (old, replace(noisy, release="r2"))
    publication = read_beside((shown(2),), (), two)
    required = required_beside(needs(2), publication, two, Attacker())
    assert unclaimed_cells(publication, two, required).tolist() == [7, 10, 11]


def test_zeros_of_changed_values_are_not_told_apart_whoever_knows_of_others():
    """Where intervals stand for changed values a 0 may be one; of all others it is none."""
    ends = {"lower": np.array([9, 0, 0, 2]), "upper": np.array([20, 3, 5, 9])}
    hidden = shown(0, 1, 2, 3, name="hidden", frequency=True, decimals=0, **ends)
    changed = replace(hidden, name="changed", of_changed=Changed(hidden, told=True))
    old = [
        Earlier(name, table, None, needs())
        for name, table in (
            ("r1", changed),
            ("r2", shown(1, 2, frequency=True, decimals=0)),
            ("r3", shown(1, 2, name="some", frequency=True, decimals=0, **ends)),
            ("r4", shown(0, 1, 2, 3, name="none", frequency=True, decimals=0)),
            ("r5", hidden),  # every cell is, with an interval
        )
    ]
    now = replace(shown(1, 2, frequency=True, decimals=0, name="now"), vintage="now")
    for own, least in ((now, [1, 1]), (replace(hidden, vintage="now"), [9, 1, 1, 2])):
        publication = read_beside((own,), (), old)
        seen = equations(publication)
        lower, upper = unknown_bounds(publication, seen, Attacker(zeros_known=True), None)
        assert lower.tolist() == [*least, 9, 0, 0, 2, *[1] * 8, 9, 1, 1, 2]
        assert upper.tolist()[len(least) : len(least) + 4] == [20, 3, 5, 9]


def test_what_a_filter_leaves_out_is_nothing_whatever_is_known_of_it():
    table = Shown(["age"], {"age": ["o", "x"]}, np.ones(len(KINDS), dtype=np.int64))
    hide(table, "x", "y")
    public = publication([table])
    lower, upper = unknown_bounds(public, equations(public), Attacker(zeros_known=True), None)
    assert (lower.tolist(), upper.tolist()) == ([1, 0], [UNKNOWN, 0])


@pytest.mark.parametrize("nonnegative", [True, False])
def test_unpublished_cells_may_be_negative_where_the_measure_may(nonnegative):
    by = [Shown(["age"], {}, np.ones(len(KINDS), dtype=np.int64), tree) for tree in GROUPED]
    both = publication(by, frequency=False, nonnegative=nonnegative)
    seen = equations(both)
    lower, upper = unknown_bounds(both, seen, Attacker(), None)
    assert len(lower) == seen.latent.sum() > 0
    assert {*lower.tolist()} == {0 if nonnegative else -UNKNOWN}
    assert {*upper.tolist()} == {UNKNOWN}


# ── certificates of noise as cards ───────────────────────────────────────────────────


def test_a_certificate_of_noise_is_shown_as_a_card():
    table = NoiseCertificate(shown(), (), ())
    assert repr(table) == "NoiseCertificate('t': 0 claims)"
    assert "NoiseCertificate" in table._repr_html_() and "<" in table._repr_html_()
    of_a_stream = Outline("t", (NSW,), "sales", False, 1, changed="cell_key")
    outline = NoiseCertificate(of_a_stream, (), ())
    assert outline._repr_html_() == "NoiseCertificate(&#x27;t&#x27;: 0 claims)"

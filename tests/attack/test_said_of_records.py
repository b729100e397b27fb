"""Whatever a certificate of microdata says is read back, and nothing else."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

from diskret.attack.microdata.claims import (
    AlphaK,
    ExpectedBelow,
    KAnonymity,
    KMap,
    LDiversity,
    NoIdentifiers,
    RiskBelow,
)
from diskret.attack.microdata.leaving import Leaving
from diskret.attack.microdata.said import (
    NO_IDENTIFIERS,
    Open,
    claimed,
    may_say,
    not_claimed,
    percent_drawn,
    told_why,
    why_missing,
)
from diskret.texts import in_languages

COLUMNS = ["town", "age, in years", "in years", "sex", "größe (cm)", "x", "of all)", "k 3"]
MISSING = st.sampled_from(["wildcard", "category", "conservative"])
SOME = st.lists(st.sampled_from(COLUMNS), min_size=1, unique=True).map(tuple)
ENDINGS = (".dta", ".sav", ".xpt")


def in_order(names):
    return tuple(name for name in COLUMNS if name in names)


CLAIMS = st.lists(
    st.one_of(
        st.builds(KAnonymity, st.integers(2, 2000), SOME, MISSING, st.sampled_from([None, 1, 2])),
        st.builds(RiskBelow, st.just(0.5), missing=MISSING),
        st.builds(ExpectedBelow, st.just(0.5), missing=MISSING),
        st.builds(LDiversity, st.just(2), SOME, missing=MISSING),
        st.builds(AlphaK, st.just(0.5), st.just(2), SOME, missing=MISSING),
        st.builds(lambda missing: KMap(2, pa.table({}), missing=missing), MISSING),
        st.just(NoIdentifiers()),
    ),
    max_size=5,
)
UNLIKE = st.lists(st.integers(0, 3000), min_size=5, max_size=5)


@st.composite
def left_open(draw):
    household = draw(st.sampled_from(["", "visible", "looked for"]))
    looked = household == "looked for"
    share = draw(st.sampled_from([0.0, 1.0, 0.5, 0.0999, 0.05, 1e-3, 1.234567e-5, 1 / 3]))
    return Open(
        numeric=draw(st.booleans()),
        weights=draw(st.booleans()),
        household=household,
        beside=in_order(draw(st.sets(st.sampled_from(COLUMNS)))),
        ordered=draw(st.booleans()),
        share=percent_drawn(share) if share else "",
        whole=bool(share) and draw(st.booleans()),
        at_rates=bool(share) and draw(st.booleans()),
        together=draw(SOME) if looked and draw(st.booleans()) else (),
    )


REASONS = st.none() | st.tuples(SOME, st.lists(st.sampled_from(ENDINGS), min_size=1, unique=True))


def certificate(claims, unlike, left, why):
    """What is claimed, what is not, and what of it readers count again."""
    file = Leaving("f", pa.table({name: [1] for name in COLUMNS}), ("town",))
    figures = [{"unlike": number, "lean_on_gaps": number // 2} for number in unlike]
    said = claimed(file, claims, figures[: len(claims)])
    counted = [(c, f) for c, f in zip(claims, figures, strict=False) if isinstance(c, KAnonymity)]
    own = claimed(file, [c for c, _ in counted], [f for _, f in counted])
    others = (*not_claimed(said, left), *([] if why is None else [why_missing(*why)]))
    return said, others, own


@examples(100)
@given(CLAIMS, UNLIKE, left_open(), REASONS)
def test_what_is_said_is_read_back(claims, unlike, left, why):
    said, others, counted = certificate(claims, unlike, left, why)
    told = in_languages(said), in_languages(others)
    unseen = may_say(told, counted, COLUMNS, ENDINGS)
    assert unseen is not None
    about = {type(claim) for claim in claims} - {KAnonymity, NoIdentifiers}
    assert bool(unseen) == bool(about) and {*unseen} == {*said} - {*counted} - {
        one for one in said if one.key.startswith("microdata.missing ")
    }
    assert told_why(told[1], COLUMNS) == (((), ()) if why is None else (why[0], tuple(why[1])))


@examples(100)
@given(CLAIMS, UNLIKE, left_open(), REASONS, st.data())
def test_no_sentence_is_there_twice_or_turned_or_on_the_other_side(claims, unlike, left, why, data):
    said, others, counted = certificate(claims, unlike, left, why)
    at = data.draw(st.integers(0, len(others) - 1))
    one = others[at]
    rest = [*others[:at], *others[at + 1 :]]
    for part, whole in (
        (said, [*others[: at + 1], *others[at:]]),
        ((*said, one), rest),
        ((one, *said), rest),
        (said, [*rest[: at - 1], one, *rest[at - 1 :]] if at else [*rest, one]),
        (said[1:], others),
        (said, [NO_IDENTIFIERS, *others]),
        (said, others[1:]),
    ):
        if [*whole] == [*others] and part == said:
            continue
        turned = at and one.key == others[at - 1].key  # columns that tell of households, in turn
        told = in_languages(part), in_languages(whole)
        assert turned or may_say(told, counted, COLUMNS, ENDINGS) is None


def test_files_that_are_not_there_tell_no_reasons():
    said, others, counted = certificate([], [0] * 5, Open(), (("x",), [".sav"]))
    told = in_languages(said), in_languages(others)
    assert may_say(told, counted, COLUMNS, [".sav"]) == ()
    assert may_say(told, counted, COLUMNS, [".dta"]) is None
    assert may_say(told, counted, ["town"], [".sav"]) is None


def test_a_share_is_one():
    known = {*map(percent_drawn, (0.5, 1.0, 0.09999, 0.1, 0.0123456, 2e-7))}
    assert known == {"50.0", "100.0", "10", "10.0", "1.23", "2e-05"}
    for share in (*known, "0", "101.0", "5e5", "12.34", "50", "1.230", "x"):
        said, others, counted = certificate([], [0] * 5, Open(share=share), None)
        told = in_languages(said), in_languages(others)
        assert (may_say(told, counted, COLUMNS) is not None) is (share in known), share

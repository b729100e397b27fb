"""Which sentences that only the office can judge may stand in a certificate of hidden cells.

What was attacked and judged is a `Scope`; of each release all its facts are altered one by one.
"""

import json
import shutil
from dataclasses import replace
from functools import cache
from itertools import product

import pyarrow as pa
import pytest

import diskret as dk
from diskret.attack.statements import Scope, claimed, not_claimed
from diskret.errors import VerificationError
from diskret.publish.verify.folder import verify
from diskret.publish.verify.suppressed import _within
from diskret.tables import Publication

KEYS = dk.SecretKeys(bytes(range(32)))
FEW = dk.rules.MinimumFrequency(4)
EITHER, UNKNOWN = (False, True), (None, False, True)
ALTERED = {
    "complete": EITHER,
    **dict.fromkeys(("parts", "rests", "crossed"), UNKNOWN),
    **dict.fromkeys(("groups", "unlisted", "untold", "already"), EITHER),
}


def fine():
    cells = pa.table({"c": [f"c{i}" for i in range(5)], "n": [1, 2, 8, 9, 6]})
    return dk.Table.from_cells(cells, by={"c": None}, count="n")


def coarse():
    return fine().recode("c", {"c34": ["c3", "c4"]})


def alone(folder, contributor):
    attacker = dk.Attacker(contributor=contributor)
    dk.suppress(fine(), FEW, attacker=attacker, name="one").write(
        folder / "now", ["csv"], keys=KEYS
    )


def together(folder, contributor):
    attacker = dk.Attacker(contributor=contributor)
    results = dk.suppress([fine(), coarse()], FEW, attacker=attacker, name=["one", "two"])
    dk.write(results, folder / "now", ["csv"], keys=KEYS)


def beside(folder, contributor):
    attacker = dk.Attacker(contributor=contributor)
    ledger = dk.Ledger.create(folder / "releases.db", keys=KEYS)
    ledger.publish(dk.suppress(fine(), FEW, attacker=attacker, name="old"), folder / "old",
                   formats=["csv"])  # fmt: skip
    now = dk.suppress(coarse(), FEW, attacker=attacker, ledger=ledger, name="one")
    ledger.publish(now, folder / "now", formats=["csv"])


#: What is said whatever was attacked: nobody finds out whether a rule looked for groups.
ALWAYS = {"groups"}
#: Release, whether against contributors, whether the earlier one is given → what may be altered.
MAY = {
    (alone, False, False): ALWAYS,
    (alone, True, False): ALWAYS,
    (together, False, False): ALWAYS,
    (together, True, False): ALWAYS | {"untold"},
    (beside, False, True): ALWAYS,
    (beside, True, True): ALWAYS | {"unlisted", "untold", "already"},
    (beside, False, False): ALWAYS | {"complete", "parts", "rests", "crossed"},
    (beside, True, False): {*ALTERED},
}


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    home = tmp_path_factory.mktemp("scopes")

    def made(make, contributor):
        folder = home / f"{make.__name__} {contributor}"
        folder.mkdir()
        make(folder, contributor)
        return folder

    return cache(made)


def texts(publication, scope, contributor, known=False):
    attacker = dk.Attacker(contributor=contributor, zeros_known=known)
    return claimed(publication, scope, contributor), not_claimed(publication, scope, attacker)


def accepted(public, texts, releases, **more):
    path = public / "one.certificate.json"
    kept = path.read_bytes()
    said = dict(zip(("claimed", "not_claimed"), texts, strict=True)) | more
    path.write_text(json.dumps(json.loads(kept) | said), encoding="utf-8")
    try:
        verify(public, releases=releases)
    except VerificationError as error:
        assert "its text was changed" in str(error)
        return False
    finally:
        path.write_bytes(kept)
    return True


LONG = {(beside, True, False), (alone, False, False), (together, False, False)}


@pytest.mark.parametrize(
    ("make", "contributor", "given"),
    [pytest.param(*case, marks=[pytest.mark.long] * (case in LONG)) for case in MAY],
)
def test_facts_that_readers_can_find_out_are_as_they_are(
    written, tmp_path, make, contributor, given
):
    home = written(make, contributor)
    public = shutil.copytree(home / "now" / "public", tmp_path / "public")
    said = json.loads((public / "one.certificate.json").read_text("utf-8"))
    names, earlier = said.get("tables", ["one"]), len(said.get("beside", []))
    publication = Publication.read(public, names)
    releases = [home / "old"] if given else []
    own = said["claimed"], said["not_claimed"]
    scope = next(
        scope
        for values in product(*ALTERED.values())
        for scope in [Scope(earlier, **dict(zip(ALTERED, values, strict=True)))]
        if texts(publication, scope, contributor) == own
    )
    assert accepted(public, own, releases)
    for fact, values in ALTERED.items():
        for value in values:
            other = texts(publication, replace(scope, **{fact: value}), contributor)
            may = other == own or fact in MAY[make, contributor, given]
            assert accepted(public, other, releases) == may, (fact, value)
    more = texts(publication, replace(scope, earlier=earlier + 1), contributor)
    assert not accepted(public, more, releases)
    zeros = texts(publication, scope, contributor, known=True)
    assert accepted(public, zeros, releases) == contributor
    if not contributor and make is not together:  # there both would have to say so
        assert accepted(public, zeros, releases, attacker="informed")
        assert accepted(public, own, releases, attacker="informed")


CELLS = {"c": ["a", "b"]}


@pytest.mark.parametrize(
    ("lower", "upper", "within", "outer"),
    [
        ([2, 0], [6, 9], True, True),  # as told
        ([3, 1], [5, 8], True, True),  # more tables tell more
        ([None, 0], [6, None], False, True),
        ([2, 0], [None, 9], False, True),
        ([1, 0], [6, 9], False, True),
        ([2, 0], [7, 9], False, True),
        ([4, 0], [4, 9], True, True),  # that it can be computed is refused elsewhere
        ([5, 0], [4, 9], False, False),
        ([2], [6, 9], False, False),
        ([2, 0], [6], False, False),
    ],
)
def test_stated_intervals_are_no_wider_than_what_is_told_without_some_tables(
    lower, upper, within, outer
):
    told = {**CELLS, "lower": [2, 0], "upper": [6, 9]}
    stated = {**CELLS, "lower": lower, "upper": upper}
    assert _within(stated, told, False) is within
    assert _within(stated, told, True) is outer
    assert not _within({**stated, "c": ["b", "a"]}, told, True)
    assert not _within(CELLS, told, True)
    endless = {**CELLS, "lower": [None, None], "upper": [None, None]}
    assert _within(stated, endless, False) is outer
    assert _within(endless, endless, False)

"""A cell is what it consists of: names that collide on purpose change nothing.

The attacker below starts from the records. Its unknowns are how many records have each
combination of texts; no tree, table or system of the package is asked.
"""

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from colliding_names import ATOMS, JOB, NAMES, Drawn, counts, tables, tabulated
from hypothesis import assume, given
from hypothesis import strategies as st
from profiles import examples
from scipy.optimize import Bounds, LinearConstraint, milp

import diskret as dk
from diskret.attack import examine
from diskret.errors import ProofError, ProtectionError
from diskret.protect.plan import publish
from diskret.tables import Earlier, Publication, meanings

FAR = 10_000
RULE = dk.rules.MinimumFrequency(3)
_Side = meanings.Side


def attacked(results, drawn, count):
    """Whoever starts from the records narrows no unsafe count, and computes no other exactly."""
    rows = np.array([row for one in drawn for row in one.cells()], dtype=float)
    value = rows @ np.array(count)
    hidden = np.concatenate([r.published.suppressed.ravel() for r in results])
    shown = np.concatenate([r.published.value.ravel() for r in results])
    assert np.array_equal(shown[~hidden], value[~hidden])
    # what a table leaves out of its tree nobody has, and whoever reads it knows that nobody has
    nobody = np.any([one.nobody() for one in drawn], axis=0)
    known = LinearConstraint(rows[~hidden], value[~hidden], value[~hidden])
    for cell in np.flatnonzero(hidden):
        low, high = (
            sign
            * milp(
                sign * rows[cell],
                constraints=[known],
                bounds=Bounds(0, np.where(nobody, 0, FAR)),
                integrality=np.ones(len(ATOMS)),
            ).fun
            for sign in (1, -1)
        )
        assert high - low > 0.5, f"{results} tell a cell exactly"
        if 0 < value[cell] < 3:
            assert low < max(value[cell] - 1, 0) + 0.5
            assert high > value[cell] + 0.5


def said_less(results):
    lines = results[0].certificate.public()["not_claimed"]["en"]
    return any("three or more" in line for line in lines)


@examples(35)
@given(counts(), st.lists(tables(), min_size=2, max_size=3))
def test_groups_of_one_name_are_told_apart_in_one_call(count, drawn):
    drawn = [one.narrowed(count) for one in drawn]
    made = [tabulated(count, one) for one in drawn]
    assume(all(table is not None for table in made))
    try:
        results = dk.suppress(made, RULE, name=[f"t{i}" for i in range(len(made))])
    except (ProtectionError, ProofError):
        return
    if not said_less(results):
        attacked(results, drawn, count)


class Before:
    """A ledger that forgets nothing and stores nothing."""

    def __init__(self):
        self.entries = []

    @property
    def position(self):
        return str(len(self.entries))

    def earlier(self, tables, sums=()):
        return self.entries

    def publish(self, name, result):
        known = result.table.measure.sum, result.certificate.requirements
        self.entries.append(Earlier(name, result.published, *known))


@examples(20)
@given(counts(), st.lists(tables(), min_size=2, max_size=2))
def test_groups_of_one_name_are_told_apart_beside_earlier_releases(count, drawn):
    before, results = Before(), []
    drawn = [one.narrowed(count) for one in drawn]
    for number, one in enumerate(drawn):
        table = tabulated(count, one)
        assume(table is not None)
        try:
            results.append(dk.suppress(table, RULE, ledger=before))
        except (ProtectionError, ProofError):
            return
        before.publish(str(number), results[-1])
    attacked(results, drawn, count)


def _example():
    """Two groups called Other, which are not the same; a = 19 - 12 - 5."""
    count = [2, 0, 12, 0, 20, 0, 5, 0]
    first = Drawn(("job",), {"job": ("a", "b", "d")}, (("Other", ("b", "c")),))
    second = Drawn(("job",), {"job": ("b", "c", "d")}, (("Other", ("a", "d")),))
    return count, [first, second]


def test_the_example_is_protected_in_one_call_and_beside_a_ledger():
    count, drawn = _example()
    made = [tabulated(count, one) for one in drawn]
    attacked(dk.suppress(made, RULE, name=["one", "two"]), drawn, count)
    before = Before()
    first = dk.suppress(made[0], RULE, ledger=before)
    before.publish("first", first)
    attacked([first, dk.suppress(made[1], RULE, ledger=before)], drawn, count)


# ── names changed at random ───────────────────────────────────────────────────────────


@examples(12)
@given(counts(), st.lists(tables(), min_size=2, max_size=2), st.randoms(use_true_random=False))
def test_other_names_of_groups_leave_everything_as_it_was(count, drawn, random):
    renamed = []
    for one in drawn:
        alone = set(JOB) - {text for _, texts in one.groups for text in texts}
        free = [name for name in (*NAMES, "y", "z") if name not in alone]
        names = random.sample(free, len(one.groups))
        groups = tuple((n, texts) for n, (_, texts) in zip(names, one.groups, strict=True))
        renamed.append(replace(one, groups=groups))
    same_outcome(*(outcome(count, [o.narrowed(count) for o in own]) for own in (drawn, renamed)))


@examples(12)
@given(counts(), st.lists(tables(), min_size=2, max_size=2), st.permutations(JOB))
def test_other_names_of_all_codes_leave_everything_as_it_was(count, drawn, permuted):
    rename = dict(zip(JOB, permuted, strict=True))
    renamed = [replace(o, groups=tuple((f"{n}'", t) for n, t in o.groups)) for o in drawn]
    drawn, renamed = ([one.narrowed(count) for one in own] for own in (drawn, renamed))
    same_outcome(outcome(count, drawn), outcome(count, renamed, rename))


def outcome(count, drawn, rename=None):
    made = [tabulated(count, one, rename) for one in drawn]
    assume(all(table is not None for table in made))
    try:
        return dk.suppress(made, RULE, name=["one", "two"])
    except (ProtectionError, ProofError) as error:
        return type(error)


def same_outcome(one, other):
    if isinstance(one, type) or isinstance(other, type):
        assert one == other
        return
    for mine, its in zip(one, other, strict=True):
        assert np.array_equal(mine.published.suppressed, its.published.suppressed)
        for level in ("unsafe", "lower", "upper", "sliding"):
            a, b = (getattr(r.sensitivity, level) for r in (mine, its))
            assert np.array_equal(a, b)
        assert mine.certificate.public()["claimed"] == its.certificate.public()["claimed"]
        assert mine.certificate.public()["not_claimed"] == its.certificate.public()["not_claimed"]


# ── without the checks ────────────────────────────────────────────────────────────────


def test_groups_that_are_told_by_their_names_give_the_example_away(monkeypatch):
    """What codes stand for, put together by name over all tables, as it once was."""
    read = meanings.base_codes

    def by_name(shown):
        found = read(shown)
        named: dict[str, frozenset[str]] = {}
        codes = [one.tree if isinstance(one.tree, tuple) else one.tree.codes for one in shown]
        for own, sets in zip(codes, found, strict=True):
            for code, texts in zip(own, sets, strict=True):
                named[code] = named.get(code, frozenset()) | texts
        return [tuple(named[code] for code in own) for own in codes]

    monkeypatch.setattr(meanings, "base_codes", by_name)
    count, drawn = _example()
    made = [tabulated(count, one) for one in drawn]
    with pytest.raises((AssertionError, dk.DiskretError)):
        attacked(dk.suppress(made, RULE, name=["one", "two"]), drawn, count)


def _nobody_else():
    """In N there are only a and b: everybody reads that from the table by job."""
    rows = [("N", "a")] * 4 + [("N", "b")] * 3 + [("S", "c")] * 2 + [("S", "a")] * 5
    frame = pa.table({"region": [r for r, _ in rows], "job": [j for _, j in rows]})
    north = dk.tabulate(frame, by={"job": None}, where={"region": "N"})
    some = dk.tabulate(frame, by={"region": None}, where={"job": ["a", "b", "c"]})
    shown = publish(north, np.zeros(3, dtype=bool), "north")
    return shown, publish(some, np.array([False, True, True]), "some")


def test_codes_that_a_table_does_not_have_are_known_to_be_nobodys(monkeypatch):
    """All jobs that there are in N are a, b and c, so the hidden cell is 7."""
    both = Publication(_nobody_else())
    found = examine(both)
    assert list(zip(found.lower, found.upper, strict=True)) == [(7, 7), (7, 7)]
    monkeypatch.setattr(meanings, "Side", lambda meaning, absent, texts=None: _side(meaning))
    assert examine(Publication(_nobody_else())).upper[0] > 7


def _side(meaning):
    return _Side(meaning, frozenset())

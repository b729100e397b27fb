"""A cell is what it consists of: names that collide on purpose change nothing.

The attacker below starts from the records. Its unknowns are how many records have each
combination of texts, and a cell of a table is what the filter and the group of texts below its
code, as they were drawn, say of these; no tree, table or system of the package is asked.
"""

from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pyarrow as pa
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

import diskret as dk
from diskret.errors import ProofError, ProtectionError
from diskret.release import Earlier

JOB, SEX = "abcd", "mf"
ATOMS = list(product(JOB, SEX))
#: Groups may be called as records are, but not as a text that their own tree shows beside.
NAMES = ("Other", "a", "b", "c", "d", "x")
FAR = 10_000
RULE = dk.rules.MinimumFrequency(3)


@dataclass(frozen=True)
class Drawn:
    """A table as it was drawn: its variables, the texts that its filter asks for, its groups."""

    by: tuple[str, ...]
    where: dict[str, tuple[str, ...]]
    groups: tuple[tuple[str, tuple[str, ...]], ...]

    def cells(self):
        """A row for each cell: which combinations it holds; totals come first."""
        jobs = [JOB, *self.parts()]
        sexes = [SEX, *SEX]
        of = {"job": jobs, "sex": sexes}
        for cell in product(*(of[name] for name in self.by)):
            asked = dict(zip(self.by, cell, strict=True))
            yield [
                all(text in asked.get(n, text) for n, text in zip(("job", "sex"), atom, strict=True))
                and all(atom[("job", "sex").index(n)] in texts for n, texts in self.where.items())
                for atom in ATOMS
            ]

    def parts(self):
        """The texts of each code of `job` below the total, in the order of the tree."""
        grouped = {text: texts for _, texts in self.groups for text in texts}
        return list(dict.fromkeys(grouped.get(text, (text,)) for text in JOB))

    def names(self):
        named = {texts: name for name, texts in self.groups}
        return [named.get(texts, texts[0]) for texts in self.parts()]


@st.composite
def counts(draw):
    sizes = st.sampled_from([0, 1, 2, 2, 5, 12, 20])
    return draw(st.lists(sizes, min_size=len(ATOMS), max_size=len(ATOMS)))


@st.composite
def tables(draw):
    by = draw(st.sampled_from([("job",), ("job",), ("job", "sex"), ("sex",)]))
    where = {}
    if draw(st.integers(0, 2)):
        name = draw(st.sampled_from(["job", "job", "sex"]))
        of = {"job": JOB, "sex": SEX}[name]
        smallest = 2 if name == "job" else 1
        texts = draw(st.lists(st.sampled_from(of), min_size=smallest, max_size=3, unique=True))
        where[name] = tuple(sorted(texts))
    groups = ()
    if "job" in by and draw(st.booleans()):
        shuffled = draw(st.permutations(JOB))
        sizes = draw(st.sampled_from([(2,), (2, 2), (3,)]))
        ends = np.cumsum((0, *sizes))
        sets = [tuple(sorted(shuffled[i:j])) for i, j in zip(ends, ends[1:], strict=False)]
        alone = set(JOB) - {text for own in sets for text in own}
        free = [name for name in NAMES if name not in alone]
        names = draw(st.permutations(free))[: len(sets)]
        groups = tuple(zip(names, sets, strict=True))
    return Drawn(by, where, groups)


def records(count, rename=None):
    rename = rename or {}
    every = [atom for atom, n in zip(ATOMS, count, strict=True) for _ in range(n)]
    return pa.table(
        {"job": [rename.get(j, j) for j, _ in every], "sex": [s for _, s in every]},
        schema=pa.schema([("job", pa.string()), ("sex", pa.string())]),
    )


def tabulated(count, drawn, rename=None):
    """The table, or None if nobody is in its population."""
    rename = rename or {}
    row = next(drawn.cells())
    if not np.array(row) @ np.array(count):
        return None
    flat = (-1, *(0 for _ in JOB))
    job = dk.Hierarchy(("Total", *(rename.get(t, t) for t in JOB)), np.array(flat, np.int32))
    sex = dk.Hierarchy(("Total", *SEX), np.array([-1, 0, 0], np.int32))
    trees = {"job": job, "sex": sex}
    where = {n: [rename.get(t, t) for t in texts] for n, texts in drawn.where.items()}
    table = dk.tabulate(
        records(count, rename), by={n: trees[n] for n in drawn.by}, where=where or None
    )
    if drawn.groups:
        groups = {name: [rename.get(t, t) for t in texts] for name, texts in drawn.groups}
        table = table.recode("job", groups)
    return table


def attacked(results, drawn, count):
    """Whoever starts from the records narrows no unsafe count, and computes no other exactly."""
    rows = np.array([row for one in drawn for row in one.cells()], dtype=float)
    value = rows @ np.array(count)
    hidden = np.concatenate([r.published.suppressed.ravel() for r in results])
    shown = np.concatenate([r.published.value.ravel() for r in results])
    assert np.array_equal(shown[~hidden], value[~hidden])
    # what a table leaves out of its tree nobody has, and whoever reads it knows that nobody has
    known = LinearConstraint(rows[~hidden], value[~hidden], value[~hidden])
    for cell in np.flatnonzero(hidden):
        low, high = (
            sign
            * milp(
                sign * rows[cell],
                constraints=[known],
                bounds=Bounds(0, FAR),
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


@settings(max_examples=60)
@given(counts(), st.lists(tables(), min_size=2, max_size=3))
def test_groups_of_one_name_are_told_apart_in_one_call(count, drawn):
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


@settings(max_examples=40)
@given(counts(), st.lists(tables(), min_size=2, max_size=2))
def test_groups_of_one_name_are_told_apart_beside_earlier_releases(count, drawn):
    before, results = Before(), []
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


@settings(max_examples=30)
@given(counts(), st.lists(tables(), min_size=2, max_size=2), st.randoms(use_true_random=False))
def test_other_names_of_groups_leave_everything_as_it_was(count, drawn, random):
    renamed = []
    for one in drawn:
        alone = set(JOB) - {text for _, texts in one.groups for text in texts}
        free = [name for name in (*NAMES, "y", "z") if name not in alone]
        names = random.sample(free, len(one.groups))
        groups = tuple((n, texts) for n, (_, texts) in zip(names, one.groups, strict=True))
        renamed.append(replace(one, groups=groups))
    same_outcome(outcome(count, drawn), outcome(count, renamed))


@settings(max_examples=30)
@given(counts(), st.lists(tables(), min_size=2, max_size=2), st.permutations(JOB))
def test_other_names_of_all_codes_leave_everything_as_it_was(count, drawn, permuted):
    rename = dict(zip(JOB, permuted, strict=True))
    renamed = [replace(o, groups=tuple((f"{n}'", t) for n, t in o.groups)) for o in drawn]
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

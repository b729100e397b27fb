"""Why secondaries are hidden, compared with publishing each of them and attacking anew."""

from dataclasses import replace
from importlib import import_module

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from profiles import examples, some_quick

import diskret as dk
from diskret.attack import Examination, examine, explain, targets_of, unmet
from diskret.attack.exact import Point
from diskret.attack.explain import Explanations
from diskret.attack.linear_programme import LinearProgramme
from diskret.attack.republished import Republished
from diskret.attack.witnesses import Witnesses
from diskret.deadline import OutOfTime
from diskret.errors import ContradictionError, InputError, ProofError, ProtectionError
from diskret.suppression import Pattern, sequential
from diskret.tables import Dimension, Table
from diskret.tables.recode import combine

TREES = [
    dk.Hierarchy.flat(["a", "b", "c"]),
    dk.Hierarchy.flat(["a", "b", "c", "d"]),
    dk.Hierarchy(("T", "a", "a1", "a2", "b"), np.array([-1, 0, 1, 1, 0])),
    dk.Hierarchy(("T", "a", "a1", "b", "b1", "b2"), np.array([-1, 0, 1, 0, 3, 3])),
]


@st.composite
def tables(draw, frequency):
    """A small table with rule and attacker."""
    trees = draw(st.lists(st.sampled_from(TREES), min_size=2, max_size=2))
    by = {f"d{i}": tree for i, tree in enumerate(trees)}
    leaves = [tree.codes[i] for tree in trees[:1] for i in tree.leaves]
    cells = [(a, trees[1].codes[i]) for a in leaves for i in trees[1].leaves]
    sizes = st.sampled_from([0, 1, 2, 3, 4, 9, 30])
    counts = draw(st.lists(sizes, min_size=len(cells), max_size=len(cells)))
    columns = dict(zip(by, map(list, zip(*cells, strict=True)), strict=True))
    if frequency:
        frame = pa.table({**columns, "n": counts})
        return dk.Table.from_cells(frame, by=by, count="n"), dk.rules.MinimumFrequency(3)
    random = np.random.default_rng(draw(st.integers(0, 10**6)))
    every = {name: np.repeat(codes, counts) for name, codes in columns.items()}
    assume(sum(counts) > 0)
    turnover = random.choice([0, 1, 7, 20, 20, 300], sum(counts))
    frame = pa.table({**every, "v": turnover})
    return dk.tabulate(frame, by=by, value="v"), dk.rules.PPercent(20)


def generous(seed):
    """A method that hides more than it has to, so that not every secondary is needed."""

    def method(problem):
        found = sequential(problem).suppressed
        random = np.random.default_rng(seed)
        more = (random.random(len(found)) < 0.2) & ~problem.frozen
        return Pattern(found | more, "generous")

    return method


def attacked_anew(result, cell):
    """The attack after one secondary has been published, and which cells it breaks."""
    published, original = result.published, result.table.measure.sum
    suppressed = published.suppressed.copy()
    suppressed.ravel()[cell] = False
    without = replace(published, suppressed=suppressed, value=np.where(suppressed, 0, original))
    targets = targets_of(without, original, result.certificate.requirements)
    attacker = result.certificate.attacker
    found = examine(without, attacker, targets, original=original)
    return found, found.cell[unmet(found, targets)]


def explained(result, **options):
    proof = result.certificate
    return explain(
        result.published,
        proof.examination,
        proof.requirements,
        result.table.measure.sum,
        proof.attacker,
        **options,
    )


def rows_of(found):
    columns = (found.secondary, found.kind, found.needed_by, found.lower, found.upper)
    return [row[1:] for row in zip(found.secondary, *columns, strict=True)]


def compare(result):
    found = explained(result)
    primary = set(result.certificate.requirements.cell.tolist())
    secondaries = sorted(set(result.certificate.examination.cell.tolist()) - primary)
    assert np.unique(found.secondary).tolist() == secondaries
    for s in secondaries:
        rows = [row for row in rows_of(found) if row[0] == s]
        attack, broken = attacked_anew(result, s)
        broken_primaries = [c for c in broken.tolist() if c in primary]
        expected = broken_primaries or broken.tolist()
        kind = "protects" if broken_primaries else "hides" if expected else "together"
        assert {row[1] for row in rows} == {kind}
        if not expected:
            assert [row[2:] for row in rows] == [(-1, -np.inf, np.inf)]
            continue
        assert [row[2] for row in rows] == expected
        at = np.searchsorted(attack.cell, expected)
        assert [row[3] for row in rows] == pytest.approx(attack.lower[at].tolist(), abs=1e-6)
        assert [row[4] for row in rows] == pytest.approx(attack.upper[at].tolist(), abs=1e-6)
    return found


@pytest.mark.parametrize("frequency", [True, False])
@examples(40)
@given(data=st.data())
def test_explanations_agree_with_publishing_each_secondary(frequency, data):
    table, rule = data.draw(tables(frequency))
    method = generous(data.draw(st.integers(0, 99))) if data.draw(st.booleans()) else "sequential"
    relative = data.draw(st.sampled_from([None, None, 60]))
    try:
        result = dk.suppress(table, rule, method=method, attacker=dk.Attacker(relative=relative))
    except (ProtectionError, ProofError):
        assume(False)
        return
    compare(result)


def three_way(seed, largest):
    """A dense cube of counts whose linear programmes end between whole numbers."""
    random = np.random.default_rng(seed)
    codes = [(a, b, c) for a in "abc" for b in "abc" for c in "abc"]
    counts = random.integers(1, largest, len(codes))
    a, b, c = (list(x) for x in zip(*codes, strict=True))
    frame = pa.table({"a": a, "b": b, "c": c, "n": counts})
    return dk.Table.from_cells(frame, by={"a": None, "b": None, "c": None}, count="n")


@pytest.mark.parametrize("seed", some_quick(range(4), (0, 1)))
def test_explanations_of_cubes_are_whole_numbered(seed):
    table = three_way(seed, 9)
    result = dk.suppress(table, dk.rules.MinimumFrequency(3), method=generous(seed))
    found = compare(result)
    assert "protects" in found.kind
    finite = np.isfinite(found.upper)
    assert np.all(found.upper[finite] == np.rint(found.upper[finite]))


# ── tables that cut through each other, tied by cells that nobody published ──────────

FINE = dk.Hierarchy.flat(list("abcd"))
GROUPED = [
    combine(FINE, groups).hierarchy
    for groups in ({"ab": ["a", "b"], "cd": ["c", "d"]}, {"bc": ["b", "c"]})
]


def crossing(counts):
    """Two tables of the same records by other groups of `x`; nobody sees the cells of both."""
    leaves = [["ab", "cd"], ["a", "bc", "d"]]
    for tree, groups in zip(GROUPED, leaves, strict=True):
        assert list(tree.codes) == ["Total", *groups]
        inner = np.array([sum(counts["abcd".index(code)] for code in g) for g in groups])
        rows = np.vstack([inner.sum(axis=0), inner])
        y = dk.Hierarchy.flat([f"y{i}" for i in range(inner.shape[1])])
        count = np.column_stack([rows.sum(axis=1), rows])
        yield Table((Dimension("x", tree), Dimension("y", y)), count=count)


def alone(publication, original, position):
    """The tables if this cell were published, too."""
    tables = []
    for table, start in zip(publication.tables, publication.starts.tolist(), strict=False):
        shown = table.suppressed.ravel().copy()
        if start <= position < start + shown.size:
            shown[position - start] = False
        value = np.where(shown, 0, original[start : start + shown.size]).reshape(table.shape)
        tables.append(replace(table, suppressed=shown.reshape(table.shape), value=value))
    return replace(publication, tables=tuple(tables))


def of_crossing(seed, **options):
    """Explanations of two such tables, with what they were made from."""
    counts = np.random.default_rng(seed).choice([1, 2, 4, 6, 9, 14], (4, 3))
    tables = list(crossing(counts))
    result = dk.suppress(tables, dk.rules.MinimumFrequency(3), name=["one", "two"])[0]
    proof, attacker = result.proof, result.certificate.attacker
    given = proof.examination, proof.requirements, proof.original, attacker
    return proof, attacker, explain(proof.publication, *given, unclaimed=proof.unclaimed, **options)


@pytest.mark.parametrize("seed", [1, 2, 10])
def test_explanations_reach_through_cells_that_nobody_published(seed):
    proof, attacker, found = of_crossing(seed)
    assert found.not_examined == 0 and {"protects"} <= set(found.kind)
    primary = proof.requirements.cell
    for s in np.unique(found.secondary).tolist():
        anew = alone(proof.publication, proof.original, s)
        targets = targets_of(anew, proof.original, proof.requirements, proof.unclaimed)
        attack = examine(anew, attacker, targets, original=proof.original)
        broken = attack.cell[unmet(attack, targets)]
        first = broken[np.isin(broken, primary)]
        kind = "protects" if len(first) else "hides" if len(broken) else "together"
        own = found.secondary == s
        assert {found.kind[i] for i in np.flatnonzero(own)} == {kind}
        expected = first if len(first) else broken
        assert found.needed_by[own].tolist() == (expected.tolist() or [-1])
        at = np.searchsorted(attack.cell, expected)
        assert found.lower[own].tolist() == pytest.approx(attack.lower[at].tolist())
        assert found.upper[own].tolist() == pytest.approx(attack.upper[at].tolist())


def test_each_table_is_told_what_its_own_cells_need():
    """Cells 10 to 19 are those of the second table; 11 and 14 are needed at both ends of these."""
    rows = [
        (11, "protects", 9, 1, 2),
        (11, "hides", 10, 3, 4),
        (11, "hides", 20, 5, 6),
        (12, "protects", 3, 7, 8),
        (12, "protects", 20, 9, 10),
        (13, "together", -1, -np.inf, np.inf),
        (14, "protects", 19, 11, 12),
    ]
    cells, kind, needed_by, lower, upper = zip(*rows, strict=True)
    columns = np.array(cells), kind, np.array(needed_by), np.array(lower), np.array(upper)
    told = Explanations(*columns, programmes=7).within(10, 20)
    assert rows_of(told) == [
        (1, "hides", 0, 3, 4),
        (2, "elsewhere", -1, -np.inf, np.inf),
        (3, "together", -1, -np.inf, np.inf),
        (4, "protects", 9, 11, 12),
    ]
    assert told.programmes == 7


@pytest.mark.parametrize("answer", ["none", "fraction", "contradiction"])
def test_possible_values_of_unpublished_cells_are_looked_for_at_corners(monkeypatch, answer):
    """Where branch and bound finds no whole numbers, corners have them; or nothing is said."""
    _, _, expected = of_crossing(10)

    def whole(self, *_):
        if answer == "contradiction":
            raise ContradictionError("no")
        return None if answer == "none" else Point(np.ones(9, dtype=np.int64), 2)

    monkeypatch.setattr(LinearProgramme, "farthest_whole", whole)
    _, _, found = of_crossing(10)
    if answer == "contradiction":
        assert "not examined" in found.kind
        assert set(rows_of(found)) - set(rows_of(expected)) == {
            (s, "not examined", -1, -np.inf, np.inf)
            for s, kind in zip(found.secondary.tolist(), found.kind, strict=True)
            if kind == "not examined"
        }
    else:
        assert rows_of(found) == rows_of(expected)


# ── what each kind means ─────────────────────────────────────────────────────────────


def table_of(rows, x="xyz", y="abcd"):
    cells = [(r, c, rows[i][j]) for i, r in enumerate(x) for j, c in enumerate(y)]
    r, c, n = (list(column) for column in zip(*cells, strict=True))
    frame = pa.table({"x": r, "y": c, "n": n})
    return dk.Table.from_cells(frame, by={"x": None, "y": None}, count="n")


def hidden(table, *cells):
    mask = np.zeros(table.shape, dtype=bool)
    for codes in cells:
        at = [d.hierarchy.position[c] for d, c in zip(table.dimensions, codes, strict=True)]
        mask[tuple(at)] = True
    return lambda problem: Pattern(mask.ravel(), "given")


def by_codes(result, **options):
    """(secondary, kind, cell that needs it, lower, upper), cells by their codes."""
    return [
        (r["x"] + r["y"], r["kind"], (r["needed_by_x"] or "") + (r["needed_by_y"] or ""),
         r["lower"], r["upper"])
        for r in result.explain(**options).to_pylist()
    ]  # fmt: skip


LADDER = [[2, 50, 60, 40], [40, 55, 65, 45], [70, 80, 90, 30]]


def test_a_cell_in_two_rectangles_is_needed_only_together():
    # rows x, y; columns a, b, c hidden: any one of b and c protects x·a without the other
    table = table_of(LADDER)
    cells = [r + c for r in "xy" for c in "abc"]
    result = dk.suppress(table, dk.rules.MinimumFrequency(3), method=hidden(table, *cells))
    # xb published: y·b follows exactly, but a and c still hide each other
    assert by_codes(result) == [
        ("xb", "hides", "yb", 55, 55),
        ("xc", "hides", "yc", 65, 65),
        ("ya", "protects", "xa", 2, 2),
        ("yb", "hides", "xb", 50, 50),
        ("yc", "hides", "xc", 60, 60),
    ]


def test_a_fully_hidden_block_hides_nothing_alone():
    table = table_of(LADDER)
    cells = [r + c for r in "xyz" for c in "abcd"]
    result = dk.suppress(table, dk.rules.MinimumFrequency(3), method=hidden(table, *cells))
    kinds = {(row[1], row[2], row[3], row[4]) for row in by_codes(result)}
    assert kinds == {("together", "", None, None)}
    assert len(by_codes(result)) == 11


def test_a_limit_leaves_the_rest_unexamined():
    table = table_of(LADDER)
    cells = [r + c for r in "xy" for c in "abc"]
    result = dk.suppress(table, dk.rules.MinimumFrequency(3), method=hidden(table, *cells))
    none = explained(result, limit=0)
    assert none.not_examined == 5 and none.programmes == 0
    every = explained(result)
    assert every.not_examined == 0
    for limit in range(every.programmes + 1):
        some = explained(result, limit=limit)
        assert some.programmes <= limit
        known = [row for row in rows_of(some) if row[1] != "not examined"]
        assert set(known) <= set(rows_of(every))
    assert rows_of(explained(result, limit=every.programmes)) == rows_of(every)


def test_programmes_of_large_parts_count_more(monkeypatch):
    table = table_of(LADDER)
    cells = [r + c for r in "xy" for c in "abc"]
    result = dk.suppress(table, dk.rules.MinimumFrequency(3), method=hidden(table, *cells))
    every = explained(result)
    monkeypatch.setattr(import_module("diskret.attack.explain"), "_LARGE", 1)
    more = explained(result)
    assert rows_of(more) == rows_of(every)
    assert more.programmes > every.programmes
    some = explained(result, limit=every.programmes)
    assert some.not_examined and some.programmes <= every.programmes
    # of a large part all tables together are many gigabytes
    monkeypatch.delattr(Witnesses, "different")
    assert explained(result, limit=3).not_examined == 5


def test_progress_counts_secondaries():
    table = table_of(LADDER)
    result = dk.suppress(table, dk.rules.MinimumFrequency(3))
    seen = []
    result.explain(progress=lambda *step: seen.append(step))
    n = result.certificate.secondaries
    assert seen == [("explain", i + 1, n) for i in range(n)]


def test_out_of_time_tells_what_was_found():
    table = table_of(LADDER)
    cells = [r + c for r in "xy" for c in "abc"]
    result = dk.suppress(table, dk.rules.MinimumFrequency(3), method=hidden(table, *cells))
    every = explained(result)

    def late(task, done, total):
        if done >= 2:
            raise OutOfTime("too late")

    found = explained(result, progress=late)
    assert rows_of(found)[:2] == rows_of(every)[:2]
    assert found.kind[2:] == ("not examined",) * 3
    assert 0 < found.programmes < every.programmes


@pytest.mark.parametrize("error", [ContradictionError, ProofError])
def test_what_the_solver_does_not_answer_is_not_examined(monkeypatch, error):
    table = table_of(LADDER)
    cells = [r + c for r in "xy" for c in "abc"]
    result = dk.suppress(table, dk.rules.MinimumFrequency(3), method=hidden(table, *cells))

    def lost(*_):
        raise error("no")

    monkeypatch.setattr(Republished, "intervals", lost)
    found = explained(result)
    assert found.not_examined == 5 and set(found.needed_by.tolist()) == {-1}
    assert found.programmes > 5  # what was tried is counted


def test_cells_that_were_hidden_because_of_contributors_are_told_as_such():
    table = table_of(LADDER)
    cells = [r + c for r in "xyz" for c in "abcd"]
    result = dk.suppress(table, dk.rules.MinimumFrequency(3), method=hidden(table, *cells))
    found = explained(result)
    assert set(found.kind) == {"together"}
    some = found.for_contributors(found.secondary[[0, 3]])
    assert [k == "contributors" for k in some.kind] == [i in (0, 3) for i in range(11)]
    cells = [r + c for r in "xy" for c in "abc"]
    other = dk.suppress(table, dk.rules.MinimumFrequency(3), method=hidden(table, *cells))
    assert explained(other).for_contributors(np.arange(20)).kind == explained(other).kind
    nothing = Explanations.none(found.secondary)
    assert nothing.not_examined == 11 and nothing.programmes == 0
    assert rows_of(nothing)[4] == (found.secondary[4], "not examined", -1, -np.inf, np.inf)


# ── what is refused ──────────────────────────────────────────────────────────────────


def test_other_values_are_refused():
    table = table_of(LADDER)
    result = dk.suppress(table, dk.rules.MinimumFrequency(3))
    proof = result.certificate
    with pytest.raises(InputError, match="values that the table was made from"):
        explain(result.published, proof.examination, proof.requirements, table.measure.sum + 1)


def test_an_unproven_pattern_is_refused():
    table = table_of(LADDER)
    result = dk.suppress(table, dk.rules.MinimumFrequency(3))
    proof = result.certificate
    found = proof.examination
    first = Witnesses.gathered([found.witnesses[0]], found.witnesses.hidden)
    fewer = Examination.of_witnesses(found.cell, first)
    with pytest.raises(ProofError, match=r"miss(es)? (its|their) requirements already"):
        explain(result.published, fewer, proof.requirements, table.measure.sum)


def test_a_forged_witness_would_hide_a_need():
    """Sabotage: the comparison with an attack from scratch notices a wrong witness."""
    table = table_of(LADDER)
    result = dk.suppress(table, dk.rules.MinimumFrequency(3))
    proof = result.certificate
    found = proof.examination
    s = int(np.setdiff1d(found.cell, proof.requirements.cell)[0])
    truth = table.measure.sum.ravel()[found.cell]
    forged = truth + 5 * (found.cell != s)  # s at its value, all others moved
    low = truth - 1 * (found.cell != s)
    with_forged = Examination.of_witnesses(
        found.cell, found.witnesses.with_points([Point(forged, 1), Point(low, 1)])
    )
    sabotaged = replace(result, certificate=replace(proof, examination=with_forged))
    assert "together" in explained(sabotaged).kind
    with pytest.raises(AssertionError):
        compare(sabotaged)

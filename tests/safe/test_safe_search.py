"""The search: never unsafe, near the optimum, the same on any number of cores, and resumable."""

import os
import stat
from collections import Counter
from dataclasses import replace
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import scaled
from small_problems import score, small_problem

from diskret.errors import InputError, ProofError
from diskret.safe import ControlTable, SafeFile, SafeProblem, annealing
from diskret.safe import search as search_module
from diskret.safe.annealing import STAGES, Plan, Run
from diskret.safe.cells import ExactCellsError, cells, deviations
from diskret.safe.checkpoint import Checkpoint, Standing
from diskret.safe.layout import layout
from diskret.safe.mending import mend
from diskret.safe.optimal import optimal
from diskret.safe.search import search

SIZES = (4, 40, 12, 9, 2)


def census(n=3_000, seed=1, new=True) -> SafeProblem:
    """Persons in towns of states; the young have no job. All tables of up to three variables."""
    draw = np.random.default_rng(seed)
    town = np.minimum(draw.geometric(0.1, n) - 1, 39)
    age = draw.binomial(11, 0.4, n)
    job = np.where(age < 3, 0, np.minimum(draw.geometric(0.3, n), 8))
    every = np.stack([town // 10, town, age, job, draw.integers(0, 2, n)], axis=1)
    codes, count = np.unique(every, axis=0, return_counts=True)
    chosen = (one for size in range(4) for one in combinations(range(5), size))
    tables = [one for one in chosen if not {0, 1} <= set(one)]
    return SafeProblem(
        ("state", "town", "age", "job", "sex"),
        codes.astype(np.int32),
        count,
        SIZES,
        tuple(ControlTable(table) for table in tables),
        groups=((0, 1), (2,), (3,), (4,)),
        new=new,
    )


def at(problem: SafeProblem, *columns: int) -> int:
    """Number of the table of these variables."""
    return [table.columns for table in problem.tables].index(columns)


def rows(file: SafeFile) -> dict[tuple[int, ...], int]:
    return dict(zip(map(tuple, file.codes.tolist()), file.count.tolist(), strict=True))


def same(one: SafeFile, other: SafeFile) -> bool:
    return rows(one) == rows(other) and one.sweeps == other.sweeps and one.trace == other.trace


# ── what is found ───────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("new", [False, pytest.param(True, marks=pytest.mark.long)])
def test_small_files_are_mostly_as_good_as_can_be(new):
    gaps = []
    for seed in range(scaled(50)):
        problem = small_problem(seed, most=24, new=new)
        found = score(problem, search(problem, seed=1))
        best = score(problem, optimal(problem))
        assert found >= best
        gaps.append(found[0] - best[0])
    assert max(gaps) <= 1
    assert gaps.count(0) >= 0.75 * len(gaps)


@pytest.mark.slow
def test_many_small_files_are_mostly_as_good_as_can_be():
    gaps = Counter()
    for seed in range(60):
        problem = small_problem(seed, new=seed % 2 == 1)
        gaps[score(problem, search(problem, seed=1))[0] - score(problem, optimal(problem))[0]] += 1
    assert set(gaps) <= {0, 1}
    assert gaps[0] >= 40


@pytest.mark.long
def test_longer_searches_deviate_less_and_new_combinations_help():
    found = {
        (new, sweeps): search(census(6_000, new=new), seed=1, sweeps=sweeps)
        for new in (False, True)
        for sweeps in (60, 300)
    }
    off = {options: file.trace[-1][1:] for options, file in found.items()}
    assert off[False, 300] < off[False, 60]
    assert off[True, 300] < off[True, 60]
    assert off[True, 60][1] < off[False, 60][1]
    last = found[True, 60].trace[-1]
    assert last[0] == sum(found[True, 60].sweeps) == 60
    assert len(found[True, 60].trace) == 1 + STAGES


@pytest.mark.long
def test_large_counts_do_not_wear_off():
    """More sweeps come nearer, where combinations are frequent as well."""
    rng = np.random.default_rng(3)
    codes = np.array([(a, b, c) for a in range(12) for b in range(5) for c in range(5)], np.int32)
    tables = tuple(ControlTable(pair) for pair in ((), (0,), (0, 1), (0, 2), (1, 2)))
    count = rng.geometric(0.04, len(codes))
    problem = SafeProblem(("town", "age", "job"), codes, count, (12, 5, 5), tables)
    largest, mean = search(problem, seed=1, sweeps=600).trace[-1][1:]
    assert largest <= 1
    assert mean < 0.2


@given(
    seed=st.integers(0, 1_000),
    new=st.booleans(),
    minimum=st.sampled_from([2, 3, 5, 20]),
    largest=st.sampled_from([2, 9, 2_000]),
)
def test_every_file_is_safe_and_its_figures_are_true(seed, new, minimum, largest):
    problem = small_problem(
        seed, new=new, minimum=minimum, largest=largest, allowances=seed % 2 > 0
    )
    run = Run(problem, layout(problem, cells(problem)), (seed,), plan(60), lambda *_: None, None)
    run.anneal()
    before = run.broken(), *run.score()
    mend(run)
    assert (run.broken(), *run.score())[:2] <= before[:2]
    file = run.file()
    assert file.count.min(initial=minimum) >= minimum
    assert all(a < b for a, b in pairwise(rows(file)))
    found = deviations(problem, file)
    assert run.score() == score(problem, file)
    assert not (found.protected[found.original == 0] > 0).any()
    before = set(map(tuple, problem.codes.tolist()))
    assert new or set(rows(file)) <= before
    for one in set(rows(file)) - before:
        for v in range(len(one)):
            for w in range(v):
                assert any((other[v], other[w]) == (one[v], one[w]) for other in before)


def plan(sweeps: int) -> Plan:
    return Plan(
        tuple((s + 1) * sweeps // STAGES - s * sweeps // STAGES for s in range(STAGES)), None
    )


def test_levels_of_a_variable_stay_together():
    problem = census()
    file = search(problem, seed=1, sweeps=120)
    towns = {(row[1], row[0]) for row in problem.codes.tolist()}
    assert {(row[1], row[0]) for row in file.codes.tolist()} <= towns
    assert set(rows(file)) - set(map(tuple, problem.codes.tolist()))  # some did come up


def test_margins_are_the_sums_of_their_cells():
    problem = census()
    found = deviations(problem, search(problem, seed=1, sweeps=60))
    totals = {int(found.protected[found.table == t].sum()) for t in range(len(problem.tables))}
    assert len(totals) == 1


def test_cells_with_an_allowance_below_0_deviate_less():
    problem = census(6_000, new=False)
    tight = replace(
        problem,
        tables=tuple(
            replace(t, allowance=-6 if t.columns == (1, 3) else 0) for t in problem.tables
        ),
    )
    off = [
        np.abs(found.protected - found.original)[found.table == at(problem, 1, 3)].mean()
        for found in (deviations(one, search(one, seed=2, sweeps=120)) for one in (problem, tight))
    ]
    assert off[1] < off[0]


def test_exact_cells_and_strata_keep_their_counts():
    problem = census(2_000)
    exact = replace(
        problem,
        tables=tuple(replace(t, exact=t.columns in {(), (0,), (0, 4)}) for t in problem.tables),
    )
    for new in (False, True):
        file = search(replace(exact, new=new), seed=3, sweeps=120)
        found = deviations(exact, file)
        kept = np.isin(found.table, [at(exact), at(exact, 0), at(exact, 0, 4)])
        assert (found.protected == found.original)[kept].all()


def test_exact_cells_that_no_file_can_keep_are_named():
    codes = np.array([[0], [1]], dtype=np.int32)
    table = ControlTable((0,), exact=True)
    problem = SafeProblem(("town",), codes, np.array([2, 7]), (2,), (table,))
    with pytest.raises(ExactCellsError, match=r"town=0 \(2 records\)"):
        search(problem, seed=1, sweeps=60)


def test_buildings_are_counted_beside_dwellings():
    draw = np.random.default_rng(4)
    every = np.stack([draw.integers(0, 4, 900), draw.integers(0, 5, 900)], axis=1)
    first = draw.random(900) < 0.4
    codes, count = np.unique(np.column_stack([every, first]), axis=0, return_counts=True)
    tables = ControlTable((0,)), ControlTable((1,)), ControlTable((0,), 2), ControlTable((1,), 2)
    problem = SafeProblem(
        ("region", "size", "building"), codes.astype(np.int32), count, (4, 5, 2), tables, new=True
    )
    found = deviations(problem, search(problem, seed=1, sweeps=120))
    assert np.abs(found.protected - found.original).max() <= 1


@pytest.mark.long
@pytest.mark.parametrize(("new", "most"), [(False, 60), (True, 3)])
def test_what_records_count_is_summed_up_beside_them(new, most):
    draw = np.random.default_rng(5)
    n = 1_200
    every = np.stack([draw.integers(0, 4, n), draw.integers(0, 5, n), draw.integers(0, 3, n)], 1)
    counted = np.minimum(draw.geometric(0.4, n) - 1, most) * (most // 3)
    codes, count = np.unique(np.column_stack([every, counted]), axis=0, return_counts=True)
    tables = [ControlTable((v,)) for v in range(3)] + [ControlTable((0, 1)), ControlTable((1, 2))]
    sums = [ControlTable((v,), 3) for v in (0, 1)] + [ControlTable((0, 1), 3)]
    sizes = (4, 5, 3, int(counted.max()) + 1)
    asked = SafeProblem(
        ("region", "size", "kind", "persons"), codes.astype(np.int32), count, sizes, (), new=new
    )
    with_sums = replace(asked, tables=(*tables, *sums))
    file = search(with_sums, seed=1, sweeps=240)
    without = search(replace(asked, tables=tuple(tables)), seed=1, sweeps=240)
    usual = np.sqrt((counted[counted > 0] ** 2.0).mean())
    far = []
    for one in (file, without):
        found = deviations(with_sums, one)
        off = np.abs(found.protected - found.original)
        far.append(off[found.table >= len(tables)].mean() / usual)
        assert off[found.table < len(tables)].max() <= 8
    assert far[0] < far[1] / 2
    # summed up anew from the rows of the file
    region = [0, 0]
    for at, (rows, times) in enumerate([(codes, count), (file.codes, file.count)]):
        region[at] = int((rows[:, 3] * times)[rows[:, 0] == 2].sum())
    found = deviations(with_sums, file)
    cell = np.flatnonzero(found.table == len(tables))[2]
    assert [found.original[cell], found.protected[cell]] == region


@pytest.mark.long
@pytest.mark.parametrize("seed", range(scaled(6)))
@pytest.mark.parametrize("new", [False, True])
def test_sums_on_the_way_are_those_of_the_rows(seed, new, monkeypatch):
    """What the search keeps of each cell is what counting the rows anew gives."""
    seen = []
    anneal = annealing.Run.anneal

    def watched(run):
        anneal(run)
        off = np.zeros_like(run.off)
        from diskret.safe.sums_kernels import sum_counts

        sum_counts(run.laid.values, run.problem.count, -1, run.laid.sums.maps, off)
        sum_counts(run.values, run.count, 1, run.laid.sums.maps, off)
        seen.append((off.tolist(), run.off.tolist(), sum(run.sweeps)))

    monkeypatch.setattr(annealing.Run, "anneal", watched)
    draw = np.random.default_rng(seed)
    n = 300
    every = np.stack([draw.integers(0, 3, n), draw.integers(0, 4, n), draw.integers(0, 6, n)], 1)
    codes, count = np.unique(every, axis=0, return_counts=True)
    tables = (
        ControlTable((0,)),
        ControlTable((1,)),
        ControlTable((0, 1), 2),
        ControlTable((1,), 2),
    )
    problem = SafeProblem(
        ("a", "b", "c"), codes.astype(np.int32), count, (3, 4, 6), tables, new=new
    )
    file = search(problem, seed=seed, sweeps=120)
    assert seen and all(counted == kept for counted, kept, _ in seen)
    found = deviations(problem, file)
    assert not found.protected[found.original == 0].any()


def test_sums_that_are_kept_exactly_are_kept():
    draw = np.random.default_rng(3)
    every = np.stack([draw.integers(0, 2, 800), draw.integers(0, 5, 800), draw.integers(0, 4, 800)])
    codes, count = np.unique(every.T, axis=0, return_counts=True)
    tables = ControlTable((1,)), ControlTable((0,), 2, exact=True), ControlTable((0, 1), 2)
    names = ("town", "age", "persons")
    problem = SafeProblem(names, codes.astype(np.int32), count, (2, 5, 4), tables)
    found = deviations(problem, search(problem, seed=1, sweeps=240))
    kept = found.table == 1
    assert (found.protected[kept] == found.original[kept]).all()


# ── again ───────────────────────────────────────────────────────────────────────────


@pytest.mark.long
@pytest.mark.parametrize("new", [False, True])
def test_the_number_of_cores_does_not_matter(new, monkeypatch):
    files = []
    for threads in (1, 2, 5):
        monkeypatch.setattr(annealing, "cores", lambda threads=threads: threads)
        files.append(search(census(6_000, new=new), seed=5, sweeps=60))
    assert same(files[0], files[1])
    assert same(files[0], files[2])
    assert not same(files[0], search(census(6_000, new=new), seed=6, sweeps=60))


@pytest.mark.long
def test_what_fitted_into_a_time_can_be_done_again():
    problem = census(6_000)
    limited = search(problem, seed=5, time_limit=0.5)
    assert len(limited.sweeps) == STAGES
    assert same(limited, search(problem, seed=5, sweeps=limited.sweeps))
    hasty = search(problem, seed=5, time_limit=1e-9)
    assert hasty.sweeps == (1, *[0] * (STAGES - 1))
    assert same(hasty, search(problem, seed=5, sweeps=hasty.sweeps))


def test_small_files_are_done_again_in_the_same_way():
    problem = small_problem(3)
    limited = search(problem, seed=1, time_limit=0.3)
    assert same(limited, search(problem, seed=1, sweeps=limited.sweeps))


class Stop(KeyboardInterrupt):
    pass


@pytest.mark.long
@pytest.mark.parametrize("at", [1, 64, 119])
@pytest.mark.parametrize("inside", [False, True])
def test_a_search_goes_on_where_it_stopped(tmp_path, at, inside, monkeypatch):
    problem, path = census(5_000), tmp_path / "state"
    whole = search(problem, seed=5, sweeps=120)
    left = at

    def stop(*_):
        nonlocal left
        left -= 1
        if left == 0:
            raise Stop

    if inside:  # in the middle of a sweep, when changes were carried out
        carry_out = Run._carry_out

        def interrupted(self, *arguments):
            carry_out(self, *arguments)
            if self.sweeps:  # not while it is prepared
                stop()

        monkeypatch.setattr(Run, "_carry_out", interrupted)

    def told(task, *_):
        if task.startswith("search: ") and not inside:
            stop()

    with pytest.raises(Stop):
        search(problem, seed=5, sweeps=120, checkpoint=path, progress=told)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600
    resumed = search(problem, seed=5, sweeps=120, checkpoint=path)
    assert same(resumed, whole)
    assert not path.exists()
    assert not list(tmp_path.iterdir())


def test_what_others_left_where_a_checkpoint_is_written_does_not_get_it(tmp_path):
    """Somebody else's file, or a link to it, would be filled, and he could read it."""
    theirs, path = tmp_path / "theirs", tmp_path / "state"
    theirs.write_text("")
    (tmp_path / "state.part").symlink_to(theirs)
    standing = Standing(None, np.zeros(1, np.int32), np.zeros(1, np.int32), (), np.ones(4), 0.0, ())
    Checkpoint(path, "task").save(standing)
    assert (theirs.read_text(), path.is_symlink()) == ("", False)
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_checkpoint_of_another_search_is_refused(tmp_path):
    path = tmp_path / "state"

    def stop(*_):
        raise Stop

    with pytest.raises(Stop):
        search(census(9_000), seed=5, sweeps=60, checkpoint=path, progress=stop)
    kept = path.read_bytes()
    others = [
        (census(9_000), {"seed": 6, "sweeps": 60}),
        (census(9_000), {"seed": 5, "sweeps": 61}),
        (census(9_000, new=False), {"seed": 5, "sweeps": 60}),
        (census(9_000, seed=2), {"seed": 5, "sweeps": 60}),
    ]
    for problem, options in others:
        with pytest.raises(InputError, match="belongs to other records, tables or options"):
            search(problem, checkpoint=path, **options)
    assert path.read_bytes() == kept
    path.write_text("something else")
    with pytest.raises(InputError, match="is no checkpoint"):
        search(census(9_000), seed=5, sweeps=60, checkpoint=path)


# ── what is refused ─────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"sweeps": 0}, "at least 1"),
        ({"sweeps": [1, 2]}, "60 numbers"),
        ({"sweeps": [0] * 60}, "60 numbers"),
        ({"time_limit": 0}, "above 0"),
        ({"time_limit": 3, "sweeps": 3}, "not both"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        search(census(100), seed=1, **options)


def test_tables_with_too_many_possible_cells_are_named():
    codes = np.array([[0, 0, 0], [1999, 1999, 1999]], dtype=np.int32)
    tables = ControlTable((0,)), ControlTable((0, 1, 2))
    problem = SafeProblem(("a", "b", "c"), codes, np.array([4, 5]), (2000,) * 3, tables)
    with pytest.raises(InputError, match=r"leave out the largest \(a, b, c: 8,000,000,000\)"):
        search(problem, seed=1)


def test_deviations_beyond_what_is_told_apart_are_refused(monkeypatch):
    monkeypatch.setattr(annealing, "_FAR", 700)
    with pytest.raises(InputError, match="before the search begins"):
        search(census(), seed=1)


# ── sabotage ────────────────────────────────────────────────────────────────────────


def test_a_search_that_leaves_a_pair_is_refused(monkeypatch):
    file = Run.file

    def careless(self):
        made = file(self)
        made.count[0] = 2
        return made

    monkeypatch.setattr(Run, "file", careless)
    with pytest.raises(ProofError, match="less than 3 times"):
        search(census(), seed=1, sweeps=60)


def test_a_search_that_opens_what_must_stay_empty_is_refused(monkeypatch):
    def careless(problem, known):
        laid = layout(problem, known)
        empty = laid.rest == laid.rest.max()
        laid.rest[empty] = laid.half  # as if they were like others
        laid.maps.together[:] = True
        return laid

    monkeypatch.setattr(search_module, "layout", careless)
    with pytest.raises(ProofError, match="must not come up|no longer empty"):
        search(census(), seed=1, sweeps=120)

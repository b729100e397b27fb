"""A file's own totals, whatever they are called, are never added up as categories."""

import itertools
import warnings

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from profiles import examples

import diskret as dk
from diskret.errors import InputError, JobError
from diskret.jobs.read import read_job
from diskret.jobs.run import run_job
from diskret.jobs.spelling import in_a_job
from diskret.protect.audit import audit
from diskret.tables.own_totals import LeafRows

KEYS = dk.SecretKeys(bytes(range(32)))
NAMES = ["Insgesamt", "T", "_T", "000", "zusammen", "m"]


@st.composite
def files(draw):
    """Leaves of a table, and the rows that its own totals would be."""
    sizes = draw(st.lists(st.integers(2, 4), min_size=1, max_size=3))
    columns = [f"v{i}" for i in range(len(sizes))]
    codes = [[f"{i}{j}" for j in range(n)] for i, n in enumerate(sizes)]
    values = draw(
        st.lists(
            st.one_of(st.just(0), st.integers(1, 9), st.integers(100, 10**6)),
            min_size=int(np.prod(sizes)),
            max_size=int(np.prod(sizes)),
        )
    )
    leaves = dict(zip(itertools.product(*codes), values, strict=True))
    totals = {
        i: draw(st.sampled_from(NAMES)) for i in range(len(sizes)) if draw(st.booleans())
    } or {0: draw(st.sampled_from(NAMES))}
    grand_only = draw(st.booleans())
    rows = dict(leaves)
    for chosen in itertools.product([False, True], repeat=len(totals)):
        if not any(chosen) or (grand_only and not all(chosen)):
            continue
        which = {i for i, yes in zip(totals, chosen, strict=True) if yes}
        for cell, number in leaves.items():
            at = tuple(totals[i] if i in which else code for i, code in enumerate(cell))
            rows[at] = rows.get(at, 0) + number
    frame = {name: [cell[i] for cell in rows] for i, name in enumerate(columns)}
    frame["n"] = list(rows.values())
    named = {columns[i]: name for i, name in totals.items()}
    return frame, columns, named, sum(values), grand_only


def evidence(rows, columns, totals, grand_only):
    """The product of all totals plus one that are sums of two values or more; the largest."""
    found = 1
    for chosen in [list(totals)] if grand_only else [[name] for name in totals]:
        product = 1
        for context in {tuple(row[c] for c in columns if c not in chosen) for row in rows}:
            own = [r for r in rows if tuple(r[c] for c in columns if c not in chosen) == context]
            parts = [r["n"] for r in own if all(r[c] != totals[c] for c in chosen)]
            product *= 1 + sum(parts) if sum(n > 0 for n in parts) > 1 else 1
        found = max(found, product)
    return found


@given(files(), st.randoms(use_true_random=False))
@examples(80)
def test_no_total_of_a_file_is_doubled_in_silence(file, random):
    frame, columns, totals, everything, grand_only = file
    order = random.sample(range(len(frame["n"])), len(frame["n"]))
    cells = pa.table({name: [column[i] for i in order] for name, column in frame.items()})
    by = dict.fromkeys(columns)
    said = dk.Table.from_cells(cells, by=by, count="n", total={**totals})
    assert said.count.ravel()[0] == everything
    assert all(d.hierarchy.total == totals.get(d.name, "Total") for d in said.dimensions)
    if evidence(cells.to_pylist(), columns, totals, grand_only) < 10:
        return  # so little is chance; two equal codes are no sum
    for trees in (by, {c: dk.Hierarchy.flat(set(frame[c])) for c in columns}):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                dk.Table.from_cells(cells, by=trees, count="n")
                told = " ".join(str(w.message) for w in caught)
            except InputError as error:
                told = str(error)
        assert any(f"{code!r} of {name!r}" in told for name, code in totals.items()), told
        several = all(len(set(frame[c])) > 3 for c in totals)
        if several and everything >= (100 if trees is by else 1000) and 0 not in frame["n"]:
            assert not caught, "too much to be chance, so it is refused"


def test_the_doubled_cell_that_gave_an_unsafe_one_away_is_refused_by_name():
    cells = pa.table({"region": ["N", "S", "W", "Insgesamt"], "firms": [2, 20, 30, 52]})
    with pytest.raises(InputError, match=r"'Insgesamt' of 'region'.*total=\{'region': 'Insgesamt'"):
        dk.Table.from_cells(cells, by={"region": None}, count="firms", additivity="totals")
    table = dk.Table.from_cells(cells, by={"region": None}, count="firms", total="Insgesamt")
    result = dk.suppress(table, dk.rules.MinimumFrequency(3))
    assert result.public.to_pydict()["region"] == ["Insgesamt", "N", "S", "W"]
    assert result.public.to_pydict()["count"][0] == 52


def test_subtotals_under_flat_codes_are_refused():
    cells = pa.table({"nace": ["1", "11", "12", "2", "21", "T"], "n": [50, 20, 30, 40, 40, 90]})
    with pytest.raises(InputError, match="2 times the code 'T'.*Give the tree"):
        dk.Table.from_cells(cells, by={"nace": None}, count="n")


def test_rounded_totals_of_a_file_are_found():
    cells = pa.table({"r": ["N", "S", "W", "T"], "sales": [13000, 125000, 7000, 146000]})
    with pytest.raises(InputError, match="'T' of 'r'"):
        dk.Table.from_cells(cells, by={"r": None}, value="sales", rounding=1000)


@pytest.mark.parametrize(
    "columns",
    [
        {"r": ["a", "b"], "n": [40, 0]},
        {"r": ["a", "b", "c"], "n": [400, 0, 0]},
        {"r": ["a", "b", "c"], "n": [50, 50, 50]},
        {"r": ["a", "b", "c"], "n": [0, 0, 0]},
        {"r": ["a", "b", "c", "Total"], "n": [40, 30, 20, 90]},
        # the margins agree, the cells do not
        {"r": ["a", "b", "c"] * 2, "s": ["m"] * 3 + ["f"] * 3, "n": [60, 20, 30, 40, 30, 20]},
        # counts agree, sums do not
        {"r": ["a", "b", "c"], "n": [50, 20, 30], "v": [700, 20, 30]},
    ],
)
def test_categories_are_not_taken_for_totals(columns):
    by = {name: None for name in columns if name in ("r", "s")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dk.Table.from_cells(
            pa.table(columns), by=by, count="n", value="v" if "v" in columns else None
        )


@given(
    st.lists(st.integers(0, 5000), min_size=1, max_size=4),
    st.integers(0, 2),
    st.booleans(),
    st.booleans(),
)
@examples(60)
def test_two_equal_categories_are_no_total(values, empty, in_tree, sums):
    codes = ["01", "02", *(f"1{i}" for i in range(empty))]
    contexts = [f"s{i}" for i in range(len(values))]
    frame = pa.table(
        {
            "r": [code for code in codes for _ in contexts],
            "s": contexts * len(codes),
            "n": [*values * 2, *[0] * (len(values) * empty)],
        }
    )
    columns = {"value": "n"} if sums else {"count": "n"}
    by = {"r": dk.Hierarchy.flat(codes) if in_tree else None, "s": None}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        table = dk.Table.from_cells(frame, by=by, total={"s": "Total"}, **columns)
    assert table.measure.sum.ravel()[0] == 2 * sum(values)
    if len(values) == 1:
        assert not caught


def test_a_total_of_one_category_in_each_combination_is_warned_of():
    rows = [("a", "m", 5000), ("T", "m", 5000), ("b", "f", 700), ("T", "f", 700)]
    r, s, n = zip(*rows, strict=True)
    with pytest.warns(UserWarning, match="'T' of 'r'"):
        dk.Table.from_cells(pa.table({"r": r, "s": s, "n": n}), by={"r": None, "s": None},
                            count="n")  # fmt: skip


def test_small_tables_without_totals_are_seldom_questioned():
    rng = np.random.default_rng(8)
    questioned = 0
    for _ in range(200):
        n = rng.integers(0, 12, rng.integers(3, 6))
        frame = pa.table({"r": [f"r{i}" for i in range(len(n))], "n": n})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                dk.Table.from_cells(frame, by={"r": None}, count="n")
            except (InputError, UserWarning):
                questioned += 1
    assert questioned <= 10


def test_a_category_that_is_the_sum_of_the_others_can_be_confirmed():
    cells = pa.table({"r": ["a", "b", "c"], "n": [50, 20, 30]})
    for by in ({"r": None}, {"r": dk.Hierarchy.flat("abc"[i] for i in range(3))}):
        table = dk.Table.from_cells(cells, by=by, count="n", total={"r": "Total"})
        assert table.count.tolist() == [100, 50, 20, 30]


@pytest.mark.parametrize(
    ("total", "said"),
    [
        ({"s": "T"}, "no column of by="),
        ({"r": ""}, "must be a code"),
        ({"q": "T"}, "the total of its tree is 'All'"),
    ],
)
def test_what_is_said_of_totals_is_checked(total, said):
    cells = pa.table({"r": ["a"], "q": ["b"], "n": [5]})
    by = {"r": None, "q": dk.Hierarchy.flat(["b"], total="All")}
    with pytest.raises(InputError, match=said):
        dk.Table.from_cells(cells, by=by, count="n", total=total)
    with pytest.raises(InputError, match="all have one"):
        dk.Table.from_cells(cells, by={"q": by["q"]}, count="n", total="T")


# ── records ─────────────────────────────────────────────────────────────────────────


def records_with_totals():
    rng = np.random.default_rng(3)
    frame = {"region": [*"NSWE"] * 2, "sex": ["m"] * 4 + ["f"] * 4}
    frame["income"] = rng.integers(100, 10_000, 8).tolist()
    for sex in "mf":
        frame["region"].append("Insgesamt")
        pairs = zip(frame["sex"], frame["income"], strict=False)
        frame["income"].append(sum(v for s, v in pairs if s == sex))
        frame["sex"].append(sex)
    return pa.table(frame)


def test_records_of_a_total_are_refused_by_name():
    records = records_with_totals()
    by = {"region": None, "sex": None}
    with pytest.raises(InputError, match=r"'Insgesamt' of 'region'.*leave its records out"):
        dk.tabulate(records, by=by, value="income")
    with pytest.raises(InputError, match="holds the code 'Insgesamt'.*leave these records out"):
        dk.tabulate(records, by=by, value="income", total={"region": "Insgesamt"})
    table = dk.tabulate(
        records, by=by, value="income", total="T", where={"region": ["N", "S", "W", "E"]}
    )
    assert [d.hierarchy.total for d in table.dimensions] == ["T", "T"]


def test_records_of_categories_are_tabulated():
    # 'b' and 'c' sum to 'a' for one measure, not for the other
    records = pa.table({"r": ["a", "b", "c"], "v": [5000, 2000, 3000], "w": [1, 2, 3]})
    assert dk.tabulate(records, by={"r": None}, value=["v", "w"]).shape == (4,)
    with pytest.raises(InputError, match="'a' of 'r'"):
        dk.tabulate(records, by={"r": None}, value="v")
    confirmed = dk.tabulate(records, by={"r": None}, value="v", total="Total")
    assert confirmed.measure.sum.tolist() == [10_000, 5000, 2000, 3000]


# ── jobs and audits ─────────────────────────────────────────────────────────────────

JOB = """\
[hierarchies]
sex = {{ file = "sex.csv" }}
[[tables]]
by = {{ region = {region}, sex = {sex} }}
[tables.cells]
file = "cells.csv"
count = "firms"
[tables.rules]
minimum_frequency = {{ n = 3 }}
[output]
formats = ["csv"]
"""
CELLS = """\
region,sex,firms
N,m,10
N,f,20
S,m,30
S,f,40
T,m,40
T,f,60
"""


def job(tmp_path, region='{ flat = true, total = "T" }', sex='"sex"'):
    (tmp_path / "sex.csv").write_text("code,parent\nm,\nf,\n", encoding="utf-8")
    (tmp_path / "cells.csv").write_text(CELLS, encoding="utf-8")
    text = JOB.format(region=region, sex=sex)
    (tmp_path / "job.toml").write_text(text, encoding="utf-8")
    return read_job(tmp_path / "job.toml")


def test_a_job_says_what_the_totals_of_its_cells_are_called(tmp_path):
    read = job(tmp_path, sex='{ hierarchy = "sex", total = "Total" }')
    assert read.tables[0].total == {"region": "T", "sex": "Total"}
    [result] = run_job(read, keys=KEYS)[1]
    assert result.table.count[0].tolist() == [100, 40, 60]
    with pytest.raises(InputError, match=r"cells.csv: the code 'T' of 'region'") as told:
        run_job(job(tmp_path, region='"flat"'), keys=KEYS)
    said = in_a_job(str(told.value))
    assert 'by = { region = { flat = true, total = "Total" } }' in said, said


@pytest.mark.parametrize(
    ("region", "said"),
    [
        ("{ flat = false }", "line 4: give either flat = true or 'hierarchy'"),
        ('{ flat = true, hierarchy = "sex" }', "give either"),
        ('{ hierarchy = "nace" }', "line 4: 'hierarchy' must not be 'nace'"),
        ("{ flat = true, total = 1 }", "'total' in .* must be text"),
        ('{ flat = true, totals = "T" }', "did you mean 'total'"),
    ],
)
def test_what_a_job_says_of_totals_is_checked(tmp_path, region, said):
    with pytest.raises(JobError, match=said):
        job(tmp_path, region=region)


def test_an_audit_is_told_the_code_of_the_totals():
    cells = pa.table({"r": ["N", "S", "T"], "n": ["7", ".", "12"]})
    assert audit(cells, {"r": None}, "n", total="T").frame.to_pylist() == [
        {"r": "S", "lower": 5, "upper": 5}
    ]
    with pytest.raises(InputError, match="r=Total.*total="):
        audit(cells, {"r": None}, "n")


# ── totals of some codes, and totals said twice ─────────────────────────────────────


def table_of(rng, codes, contexts, largest=5000):
    return {
        (f"c{i:02}", f"y{j}"): int(rng.integers(1, largest))
        for i in range(codes)
        for j in range(contexts)
    }


def frame_of(cells):
    (r, y), n = zip(*cells, strict=True), list(cells.values())
    return pa.table({"r": r, "y": y, "n": n})


@pytest.mark.parametrize("seed", range(12))
def test_a_total_of_some_codes_is_refused_by_name(seed):
    """The EU among countries: of few codes and of many, whatever it is called."""
    rng = np.random.default_rng(seed)
    codes, contexts = int(rng.integers(4, 40)), int(rng.integers(3, 50))
    contexts = max(contexts, codes + 1) if codes > 12 else contexts
    cells = table_of(rng, codes, contexts)
    parts = rng.choice(codes, rng.integers(2, max(codes - 1, 3)), replace=False)
    name = NAMES[seed % len(NAMES)]
    for j in range(contexts):
        cells[name, f"y{j}"] = sum(cells[f"c{i:02}", f"y{j}"] for i in parts)
    with pytest.raises(InputError, match=f"'{name}' of 'r' is the sum of 'c.*total of some codes"):
        dk.Table.from_cells(frame_of(cells), by={"r": None, "y": None}, count="n")
    said = {"r": "Total", "y": "Total"}
    assert dk.Table.from_cells(frame_of(cells), by={"r": None, "y": None}, count="n", total=said)
    values = frame_of(cells).append_column("unit", pa.array(range(len(cells))))
    with pytest.raises(InputError, match="total of some codes"):
        dk.tabulate(values, by={"r": None, "y": None}, value="n")


def test_two_totals_in_one_column_are_refused_by_name():
    rng = np.random.default_rng(3)
    for codes, contexts in ((3, 1), (5, 2), (12, 9)):
        cells = table_of(rng, codes, contexts)
        for j in range(contexts):
            every = sum(cells[f"c{i:02}", f"y{j}"] for i in range(codes))
            cells["Insgesamt", f"y{j}"] = cells["T", f"y{j}"] = every
        with pytest.raises(InputError, match="'Insgesamt' of 'r' and 'T' are each the sum"):
            dk.Table.from_cells(frame_of(cells), by={"r": None, "y": None}, count="n")


def test_a_total_of_some_codes_beside_one_of_all_is_found_once_that_is_said():
    cells = pa.table({"r": ["A", "B", "C", "D", "EU", "T"], "n": [4000, 533, 871, 97, 5404, 5501]})
    with pytest.raises(InputError, match="'EU' of 'r' is the sum of 'A', 'B', 'C'"):
        dk.Table.from_cells(cells.slice(0, 5), by={"r": None}, count="n")


def test_sums_of_some_codes_by_chance_are_seldom_questioned():
    rng = np.random.default_rng(9)
    questioned = 0
    for _ in range(150):
        cells = table_of(rng, int(rng.integers(4, 12)), int(rng.integers(1, 4)), 60)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                dk.Table.from_cells(frame_of(cells), by={"r": None, "y": None}, count="n")
            except (InputError, UserWarning):
                questioned += 1
    assert questioned <= 6


def blocks_of_four(number, seed):
    """Codes in fours below a parent, each code with so many records as by chance."""
    rng = np.random.default_rng(seed)
    codes = [f"{parent:04d}{code}" for parent in range(number) for code in range(4)]
    count = rng.integers(1, 40, len(codes))
    tree = dk.Hierarchy.from_prefix(codes, (4, 1))
    return codes, count, tree


def test_among_many_parents_some_code_is_the_sum_of_its_neighbours_by_chance():
    codes, count, tree = blocks_of_four(3_000, 1)
    own = count.reshape(-1, 4)
    assert (2 * own.max(axis=1) == own.sum(axis=1)).sum() > 20  # by chance, so nothing is said
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        dk.tabulate(pa.table({"cell": np.repeat(codes, count)}), by={"cell": tree})


def test_what_chance_explains_is_not_compared_row_by_row(monkeypatch):
    codes, count, tree = blocks_of_four(3_000, 1)
    compared = []
    matches = LeafRows.matches
    monkeypatch.setattr(
        LeafRows, "matches", lambda *given: compared.append(given) or matches(*given)
    )
    dk.tabulate(pa.table({"cell": np.repeat(codes, count)}), by={"cell": tree})
    assert compared == []
    flat = dk.Hierarchy.flat(codes[:4])  # one parent alone, and no chance
    few = pa.table({"cell": np.repeat(codes[:4], [1_500, 1_000, 2_000, 4_500])})
    with pytest.raises(InputError, match="is the sum"):
        dk.tabulate(few, by={"cell": flat})
    assert compared


def test_a_total_among_many_parents_is_found():
    codes, count, tree = blocks_of_four(300, 2)
    values = count.astype(np.int64) * 1_000_003
    values[3::4] = values.reshape(-1, 4)[:, :3].sum(axis=1)  # the fourth of each is a total
    cells = pa.table({"cell": codes, "turnover": values})
    with pytest.raises(InputError, match="is the sum"):
        dk.Table.from_cells(cells, by={"cell": tree}, value="turnover")

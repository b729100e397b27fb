"""Which tables lie in others and which hang together, against oracles that start from the records.

Record number i has the value 2**i, so the value of a cell says which records are in it.
"""

import csv
from itertools import product

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from plan_templates import written
from profiles import examples

import diskret as dk
from diskret.errors import JobError
from diskret.jobs.read import read_job
from diskret.jobs.run import tables_of

TREE = {"A": ["A1", "A2", "A3"], "B": ["B1", "B2"], "C": ["C1"]}
FINE = [code for codes in TREE.values() for code in codes]
COARSE = {fine: code for code, codes in TREE.items() for fine in codes}
LEVELS = "coarse,fine\n" + "".join(f"{COARSE[fine]},{fine}\n" for fine in FINE)
SIZES, KINDS = ["s", "m", "l"], ["x", "y"]
SUMS = {"all": ["one", "two"]}
INDICATORS = ["all", "one", "two", "other"]

PUBLICATION = """\
{top}
[hierarchies]
tree = {{ file = "tree.csv", levels = ["coarse", "fine"], total = "_T" }}
[records]
path = "records.csv"
[rules]
minimum_frequency = {{ n = 2 }}
{variables}
{tables}
"""
records_of = st.lists(
    st.tuples(st.sampled_from(FINE), st.sampled_from(SIZES), st.sampled_from(KINDS), st.booleans()),
    min_size=6,
    max_size=14,
).map(lambda some: [*some, *((fine, "s", "x", True) for fine in FINE[:2])])


def write_records(folder, records):
    """The records; "all" is "one" or "two" of each, "other" has nothing to do with them."""
    with (folder / "records.csv").open("w", encoding="utf-8", newline="") as file:
        write = csv.writer(file)
        write.writerow(["coarse", "fine", "size", "sort", *INDICATORS])
        for i, (fine, size, sort, first) in enumerate(records):
            one = 2**i if first else 0
            write.writerow([COARSE[fine], fine, size, sort, 2**i, one, 2**i - one, 2**i])


def column(records, name):
    """The codes that records have in a variable."""
    at = {"fine": 0, "size": 1, "sort": 2}
    if name == "coarse":
        return [COARSE[record[0]] for record in records]
    return [record[at[name]] for record in records]


def value(records, indicator, rows):
    """What the records in these rows sum to."""
    parts = {"one": (True,), "two": (False,)}.get(indicator, (True, False))
    return sum(2**i for i in rows if records[i][3] in parts)


def cells(records, indicator, by):
    """The values of all cells of a table, its margins included, from the records alone."""
    codes = [column(records, name) for name in by]
    found = set()
    for shown in product([True, False], repeat=len(by)):
        groups: dict[tuple[str, ...], list[int]] = {}
        for i in range(len(records)):
            own = tuple(part[i] for part, is_shown in zip(codes, shown, strict=True) if is_shown)
            groups.setdefault(own, []).append(i)
        found |= {value(records, indicator, rows) for rows in groups.values()}
    return found


def published(plan, folder):
    """Name of a table → the values of the cells that the programme publishes."""
    _, job, *_ = dk.plan.write(plan, folder / "plan")
    read = read_job(job)
    found = {}
    for one in tables_of(read):
        table = one.table
        by_code = table.measures[0].sum
        found[one.name] = set(by_code.ravel().tolist())
    return found, read


def check_clusters(plan):
    """Tables of one cluster are those that a chain of common measures and sums ties."""
    group = {name: name for name in INDICATORS}
    there = {table.indicator for table in plan.asked.tables}
    if {"all", "one", "two"} <= there:
        group |= dict.fromkeys(("one", "two"), "all")
    expected = {}
    for table in plan.tables:
        expected.setdefault(group[table.indicators[0]], set()).add(table.name)
    found = {}
    for table in plan.tables:
        found.setdefault(table.cluster, set()).add(table.name)
    assert sorted(map(sorted, found.values())) == sorted(map(sorted, expected.values()))


by_of = st.tuples(
    st.sampled_from([(), ("coarse",), ("fine",)]),
    st.sampled_from([(), ("size",)]),
    st.sampled_from([(), ("sort",)]),
).map(lambda parts: sum(parts, ()))
asked_of = st.lists(
    st.tuples(st.sampled_from(INDICATORS), by_of.filter(bool)), min_size=1, max_size=7
)


@examples(60)
@given(records_of, asked_of)
def test_every_table_that_is_asked_for_is_published(tmp_path_factory, records, asked):
    folder = tmp_path_factory.mktemp("plan")
    tables = "".join(
        f'[[tables]]\nname = "T{i}"\nindicator = "{indicator}"\nby = {[*by]}\n'
        for i, (indicator, by) in enumerate(asked)
    )
    names = {name for _, by in asked for name in by}
    variables = "".join(
        f'[variables.{name}]\nhierarchy = "tree"\nlevel = "{name}"\n'
        if name in ("coarse", "fine")
        else f"[variables.{name}]\nflat = true\n"
        for name in names
    )
    alone = [name for name in INDICATORS if name in {one for one, _ in asked}]
    top = f'equations = ["all = one + two"]\nno_equation = {alone}'
    text = PUBLICATION.format(top=top, variables=variables, tables=tables)
    written(folder, **{"tree.csv": LEVELS, "publication.toml": text})
    write_records(folder, records)
    plan = dk.plan.read(folder / "publication.toml")
    assert plan.questions == ()
    found, _ = published(plan, folder)
    own = {
        (description, indicator): found[name]
        for table in plan.tables
        for name, indicator in zip(table.names, table.indicators, strict=True)
        for description in table.descriptions
    }
    for i, (indicator, by) in enumerate(asked):
        assert cells(records, indicator, by) <= own[f"T{i}", indicator]
    # no table that is protected lies in another one: that has fewer axes, or coarser codes
    for one, other in product(plan.tables, repeat=2):
        if one is not other and set(one.indicators) & set(other.indicators):
            finest = {part.axis: part.codes & {*FINE} for part in other.by}
            assert any(part.codes & {*FINE} > finest.get(part.axis, {None}) for part in one.by) or (
                {part.axis for part in one.by} - {*finest}
            )
    check_clusters(plan)


@pytest.mark.parametrize("name", ["tables", "twice"])
def test_a_table_that_is_asked_for_twice_is_noted(tmp_path, name):
    frame = {
        "table_name": ["T1", "T2"],
        "indicator": ["sales", "sales"],
        "spanning_1": ["size", "sort" if name == "tables" else "size"],
    }
    notes = dk.plan.read(pa.table(frame)).notes
    assert [note.said.key for note in notes] == (["twice"] if name == "twice" else [])


CODES = {"fine": ["_T", *TREE, *FINE], "size": ["_T", *SIZES]}
listed = st.sets(
    st.tuples(
        st.sampled_from(["all", "other"]),
        st.sampled_from(CODES["fine"]),
        st.sampled_from(CODES["size"]),
    ),
    min_size=2,
    max_size=25,
)


def value_of_cell(records, indicator, fine, size):
    inside = [
        i
        for i, record in enumerate(records)
        if fine in ("_T", record[0], COARSE[record[0]]) and size in ("_T", record[1])
    ]
    return value(records, indicator, inside)


@examples(60)
@given(records_of, listed)
def test_every_cell_that_a_template_lists_is_published(tmp_path_factory, records, listed):
    folder = tmp_path_factory.mktemp("plan")
    lines = "".join(",".join(cell) + "\n" for cell in sorted(listed))
    alone = sorted({cell[0] for cell in listed})
    text = PUBLICATION.format(
        top=f'template = "template.csv"\nno_equation = {alone}\n'
        '[columns]\nvariables = ["fine", "size"]',
        variables='[variables.fine]\nhierarchy = "tree"\n'
        '[variables.size]\nflat = true\ntotal = "_T"\n',
        tables="",
    )
    written(
        folder,
        **{
            "tree.csv": LEVELS,
            "publication.toml": text,
            "template.csv": f"INDICATOR,fine,size\n{lines}",
        },
    )
    write_records(folder, records)
    plan = dk.plan.read(folder / "publication.toml")
    only_totals = any(
        all(cell[1:] == ("_T", "_T") for cell in listed if cell[0] == indicator)
        for indicator in alone
    )
    if plan.questions or only_totals:  # a code that no record has; a table without a variable
        with pytest.raises(JobError):
            published(plan, folder)
        assert not (folder / "plan" / "programme.toml").exists()
        return
    found, _ = published(plan, folder)
    values = {
        indicator: set().union(
            *(
                found[name]
                for table in plan.tables
                for name, own in zip(table.names, table.indicators, strict=True)
                if own == indicator
            )
        )
        for indicator in ("all", "other")
    }
    for indicator, fine, size in listed:
        assert value_of_cell(records, indicator, fine, size) in values[indicator] | {0}
    check_clusters(plan)

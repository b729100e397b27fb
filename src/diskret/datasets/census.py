"""A made-up census: persons in households in dwellings, and the tables that are controlled."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownMemberType=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Annotated

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from diskret.datasets.census_codes import (
    BUILDING_VARIABLES,
    DWELLING_VARIABLES,
    PERSON_VARIABLES,
    Codes,
    Variable,
    coarser,
    industry_labels,
    text,
    tree,
)
from diskret.datasets.census_persons import answers, households
from diskret.datasets.census_places import AREAS, PERSONS, dwellings, regions
from diskret.datasets.survey import occupation_tree
from diskret.hierarchy import Hierarchy
from diskret.parameters import Seed, Whole, reading

#: Non-empty cells for each person of the German census of 1987 and for each dwelling; how they
#: spread over tables of 1, 2, 3 and 4 or 5 variables (Höhne, SAFE – a method for anonymising
#: the German census, 2011).
_PERSON_CELLS = 10_219_270 / PERSONS
_DWELLING_CELLS = 2_906_234 / 26_624_252
_PERSON_SPREAD = (0.0013, 0.034, 0.353, 0.612)
_DWELLING_SPREAD = (0.0034, 0.077, 0.328, 0.592)
#: Tables with 2, 3 and 4 or 5 variables; those with 1 come in addition.
_PERSON_TABLES = (125, 210, 67)
_DWELLING_TABLES = (18, 28, 24)
_BUILDING_TABLES = (10, 9, 6)
#: Share of the cells that count buildings.
_BUILDING_SHARE = 0.15
_MOST = 2_000_000

#: Smallest expected count of a combination that goes on to the next variable.
_NEGLIGIBLE = 0.01
#: Wanted share of the cells of 1–9, 10–99, …: a little more small ones than the census of 1987
#: had, because taking answers as independent finds too many of them.
SIZES = (0.40, 0.32, 0.178, 0.08, 0.02, 0.002)
_BOUNDS = 10.0 ** np.arange(1, len(SIZES)) - 0.5
#: Tables considered for each one chosen, and how much more combinations they have than cells.
_TRIED, _LARGER = 20, 4


@dataclass(frozen=True, eq=False)
class Census:
    """Persons and dwellings, the tables that are controlled, and the code trees.

    Parameters
    ----------
    persons
        One row for each person, ordered by municipality and household: ``household`` and
        ``dwelling`` (int64), 21 variables and 7 coarser levels (dictionary-encoded text).
        Questions are skipped as in a real census: only the employed have an occupation,
        children no school degree.
    dwellings
        One row for each dwelling: ``dwelling_id`` and ``building_id`` (int64), the counting
        variables ``dwelling`` (always 1) and ``building`` (1 for one dwelling of each building,
        else 0), 7 variables and 8 coarser levels.
    tables
        430 controlled tables of the persons, as tuples of 1 to 5 variables.
    dwelling_tables
        Counting variable → controlled tables of the dwellings, 119 together.
    hierarchies
        Variable → code tree, where it has coarser levels.
    levels
        Variable → its coarser levels, the finer ones first.
    """

    persons: pa.Table
    dwellings: pa.Table
    tables: tuple[tuple[str, ...], ...]
    dwelling_tables: Mapping[str, tuple[tuple[str, ...], ...]]
    hierarchies: Mapping[str, Hierarchy]
    levels: Mapping[str, tuple[str, ...]]


@reading
def census(n: Annotated[int, Whole(1)] = 30_000, seed: Seed = 1) -> Census:
    """Make up a census of `n` persons in households, dwellings and buildings.

    Municipalities are of very different sizes. The tables have about as many non-empty cells
    for each person, and cells of about the same sizes, as those with which SAFE was tested on
    the German census of 1987. The states' names are real, every figure is made up.

    Parameters
    ----------
    n
        Number of persons, at least 1.
    seed
        The same `n` and `seed` give the same census.

    Raises
    ------
    InputError
        `n` is below 1 or `seed` is negative.

    Examples
    --------
    >>> made = census(3_000, seed=7)
    >>> made.persons.num_rows, len(made.tables)
    (3000, 430)
    >>> made.levels["municipality"]
    ('district', 'state')
    """
    rng = np.random.Generator(np.random.PCG64(seed))
    where = regions(n)
    made = households(rng, n)
    bounds = np.cumsum(where.size)
    drawn = np.searchsorted(bounds / bounds[-1], rng.random(len(made.size)), side="right")
    municipality = np.sort(drawn.astype(np.int16))
    homes = dwellings(rng, municipality, where.area)
    places: dict[str, Variable] = {"municipality": (where.codes, where.levels)}
    of = np.repeat(np.arange(len(made.size), dtype=np.int64), made.size)
    person_variables, dwelling_variables = places | PERSON_VARIABLES, places | DWELLING_VARIABLES
    found = {"municipality": municipality[of]}
    found |= answers(rng, made, where.area[municipality], AREAS)
    persons = _with_levels(person_variables, found)
    homes_found = {"municipality": homes.municipality} | homes.answers
    dwelling_columns = _with_levels(dwelling_variables, homes_found)
    tables = _person_tables(rng, persons, person_variables)
    dwelling_tables = _dwelling_tables(rng, dwelling_columns, dwelling_variables, homes.first)
    return Census(
        pa.table(
            {"household": of + 1, "dwelling": homes.of_household[of] + 1}
            | {name: text(names, codes) for name, (names, codes) in persons.items()}
        ),
        pa.table(
            {
                "dwelling_id": np.arange(len(homes.first)) + 1,
                "building_id": homes.building + 1,
                "dwelling": np.ones(len(homes.first), dtype=np.int8),
                "building": homes.first.astype(np.int8),
            }
            | {name: text(names, codes) for name, (names, codes) in dwelling_columns.items()}
        ),
        tables,
        dwelling_tables,
        _trees(person_variables | dwelling_variables) | {"municipality": where.tree()},
        {
            name: tuple(levels)
            for name, (_, levels) in (person_variables | dwelling_variables).items()
            if levels
        },
    )


Columns = dict[str, tuple[Sequence[str], Codes]]


def _with_levels(variables: Mapping[str, Variable], found: Mapping[str, Codes]) -> Columns:
    """Names and codes of all columns, coarser levels behind each variable."""
    columns: Columns = {}
    for name, (names, levels) in variables.items():
        columns[name] = names, found[name]
        at = columns[name]
        for level, above in levels.items():
            columns[level] = at = coarser(at[0], above, at[1])
    return columns


def _person_tables(
    rng: np.random.Generator, columns: Columns, variables: Mapping[str, Variable]
) -> tuple[tuple[str, ...], ...]:
    codes, scale = _part({name: codes for name, (_, codes) in columns.items()})
    group = codes["activity"] * 5 + codes["life_stage"]
    group = (group * 2 + codes["sex"]) * 2 + codes["citizenship"]
    n = len(columns["age"][1])
    expected = Expectation(codes, group, scale)
    return _tables(rng, expected, variables, _PERSON_TABLES, _PERSON_SPREAD, n * _PERSON_CELLS)


def _dwelling_tables(
    rng: np.random.Generator,
    columns: Columns,
    variables: Mapping[str, Variable],
    first: NDArray[np.bool_],
) -> dict[str, tuple[tuple[str, ...], ...]]:
    cells = len(first) * _DWELLING_CELLS
    found = {name: codes for name, (_, codes) in columns.items()}
    buildings = {name: variables[name] for name in BUILDING_VARIABLES}
    made: dict[str, tuple[tuple[str, ...], ...]] = {}
    for counter, kept, asked, numbers, share in (
        ("dwelling", slice(None), variables, _DWELLING_TABLES, 1 - _BUILDING_SHARE),
        ("building", first, buildings, _BUILDING_TABLES, _BUILDING_SHARE),
    ):
        codes, scale = _part({name: part[kept] for name, part in found.items()})
        group = codes["building_size"] * len(DWELLING_VARIABLES["year"][0]) + codes["year"]
        expected = Expectation(codes, group, scale)
        made[counter] = _tables(rng, expected, asked, numbers, _DWELLING_SPREAD, share * cells)
    return made


def _part(codes: Mapping[str, Codes]) -> tuple[dict[str, Codes], int]:
    """Every so-manieth record, at most `_MOST`, and how many each stands for."""
    step = -(-len(next(iter(codes.values()))) // _MOST)
    return {name: part[::step] for name, part in codes.items()}, step


def _tables(
    rng: np.random.Generator,
    expected: Expectation,
    variables: Mapping[str, Variable],
    numbers: tuple[int, int, int],
    spread: tuple[float, float, float, float],
    cells: float,
) -> tuple[tuple[str, ...], ...]:
    """All tables of one variable, and `numbers` of 2, of 3, and of 4 or 5 variables."""
    families = [(name, *levels) for name, (_, levels) in variables.items()]
    tables: list[tuple[str, ...]] = [(name,) for name in chain(*families)]
    left = cells - sum(expected.sizes(table).sum() for table in tables)
    for at, dimensions in enumerate(((2,), (3,), (4, 5))):
        share = spread[at + 1] / sum(spread[at + 1 :])
        chosen, made = choose(rng, expected, families, dimensions, numbers[at], share * left)
        left -= made
        tables += chosen
    return tuple(tables)


def _trees(variables: Mapping[str, Variable]) -> dict[str, Hierarchy]:
    labels = {"industry": industry_labels()}
    made = {
        name: tree(levels.values(), labels.get(name, {}))
        for name, (_, levels) in variables.items()
        if levels
    }
    return made | {"occupation": occupation_tree()}


class Expectation:
    """Expected number of non-empty cells of tables.

    Nothing is counted: answers are taken as independent within classes of similar records.
    `columns` are codes of each variable and `group` the class of each record, ``(n,)``; each record
    stands for `scale` of them.
    """

    def __init__(
        self, columns: Mapping[str, Codes], group: NDArray[np.integer], scale: int = 1
    ) -> None:
        groups = int(group.max(initial=0)) + 1
        size = np.bincount(group, minlength=groups)
        self.size = size[size > 0] * float(scale)
        self.shares: dict[str, NDArray[np.float64]] = {}
        for name, codes in columns.items():
            width = int(codes.max(initial=0)) + 1
            cell = group.astype(np.int64) * width + codes
            found = np.bincount(cell, minlength=groups * width).reshape(groups, width)
            found = found[size > 0][:, found.sum(axis=0) > 0]
            self.shares[name] = found * scale / self.size[:, None]

    def sizes(self, table: Sequence[str]) -> NDArray[np.float64]:
        """Expected number of non-empty cells of 1–9, 10–99, …, shape ``(len(SIZES),)``."""
        order = sorted(table, key=lambda name: self.shares[name].shape[1])
        met = self.size[:, None]
        for name in order[:-1]:
            share = self.shares[name]
            met = (met[:, :, None] * share[:, None, :]).reshape(len(self.size), -1)
            met = met[:, met.sum(axis=0) > _NEGLIGIBLE]
        count = (met.T @ self.shares[order[-1]]).ravel()
        found = np.zeros(len(SIZES))
        np.add.at(found, np.digitize(count, _BOUNDS), -np.expm1(-count))
        # what differs in the last digits only, between machines, is the same
        return np.round(found, 4)


def choose(
    rng: np.random.Generator,
    expected: Expectation,
    families: Sequence[Sequence[str]],
    dimensions: Sequence[int],
    number: int,
    cells: float,
) -> tuple[list[tuple[str, ...]], float]:
    """`number` tables of together about `cells` non-empty cells, and what they will have.

    Of tables drawn at random, the one comes next with which all chosen so far are nearest to the
    wanted number of cells of each size. A table has one variable at most of each of `families`,
    which are variables with their coarser levels, and as many variables as one of `dimensions`
    says.
    """
    tables = _candidates(rng, expected, families, dimensions, number, cells)
    sizes = np.array([expected.sizes(table) for table in tables])
    wanted = cells / number * np.array(SIZES)
    open_ = np.ones(len(tables), dtype=np.bool_)
    chosen: list[int] = []
    missing = np.zeros(len(SIZES))
    for _ in range(min(number, len(tables))):
        missing += wanted
        rest = missing - sizes
        apart = np.abs(rest).sum(axis=1) + 2 * np.maximum(-rest.sum(axis=1), 0)
        best = int(np.argmin(np.where(open_, apart, np.inf)))
        chosen.append(best)
        open_[best] = False
        missing -= sizes[best]
    return [tables[at] for at in chosen], float(sizes[chosen].sum())


def _candidates(
    rng: np.random.Generator,
    expected: Expectation,
    families: Sequence[Sequence[str]],
    dimensions: Sequence[int],
    number: int,
    cells: float,
) -> list[tuple[str, ...]]:
    """Tables of about the size wanted, `_TRIED` times as many as will be chosen."""
    names = [name for family in families for name in family]
    family = np.array([i for i, group in enumerate(families) for _ in group])
    log = np.log([expected.shares[name].shape[1] for name in names])
    typical = np.log(max(cells / number, 1.0))
    drawn: list[tuple[str, ...]] = []
    for width in dimensions:
        found = np.array(list(combinations(range(len(names)), width)))
        found = found[(np.diff(family[found], axis=1) > 0).all(axis=1)]
        size = log[found].sum(axis=1)
        most = _TRIED * number // len(dimensions)
        near = np.flatnonzero(np.abs(size - typical - np.log(_LARGER)) < np.log(_LARGER))
        kept = rng.permutation(near)[:most]
        if len(kept) < most:
            kept = np.argsort(np.abs(size - typical), kind="stable")[:most]
        drawn += [tuple(names[i] for i in row) for row in found[kept]]
    return drawn

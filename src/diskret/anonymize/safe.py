"""`Microdata.safe`: a file in which no combination of values is rare."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any, Literal

from diskret.anonymize.safe_cells import (
    Exact,
    Weights,
    cell_wishes,
    written_exact,
    written_weights,
)
from diskret.anonymize.safe_combinations import Combinations, combinations
from diskret.anonymize.safe_problem import Control, found_by_safe, safe_problem, safe_records, said
from diskret.anonymize.trees import Tree, tree, written
from diskret.anonymize.verb import Step, verb
from diskret.errors import InputError
from diskret.io import coded
from diskret.io.columns import some
from diskret.microdata.categories import raised
from diskret.parameters import Seed, Whole
from diskret.progress import Progress, silent
from diskret.safe import SafeFile, SafeProblem
from diskret.safe.cells import ExactCellsError
from diskret.tables.lists import TableEntry, table_list

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

Method = Literal["search", "hoehne", "exact"]
#: Method → function of the same name as its module in `diskret.safe`, and what it takes.
_ENGINES: dict[Method, tuple[str, tuple[str, ...]]] = {
    "search": ("search", ("seed", "sweeps", "time_limit", "checkpoint", "progress", "known")),
    "hoehne": ("hoehne", ("seed", "error", "increment", "progress", "known")),
    "exact": ("optimal", ("time_limit", "progress")),
}
#: What a method must not be given if it does not take it.
_OF_A_METHOD = ("sweeps", "time_limit", "checkpoint", "error", "increment")
#: Roles of columns that number or name single records.
_NUMBERS = ("id", "household", "identifiers")


@verb()
def safe(
    md: Microdata,
    tables: Iterable[TableEntry] | Mapping[str, Any],
    *,
    minimum: Annotated[int, Whole(2)] = 3,
    method: Method = "search",
    margins: bool = True,
    levels: Mapping[str, Tree | Sequence[str]] | None = None,
    columns: str | Iterable[str] = (),
    public: str | Iterable[str] = (),
    weights: Weights | None = None,
    exact: Exact | None = None,
    strata: str | Iterable[str] = (),
    new_combinations: bool = False,
    sweeps: int | Sequence[int] | None = None,
    time_limit: float | None = None,
    checkpoint: str | PathLike[str] | None = None,
    error: Annotated[int, Whole(0)] | None = None,
    increment: Annotated[int, Whole(1)] | None = None,
    seed: Seed = 1,
    progress: Progress = silent,
) -> Microdata:
    """Replace the records so that every combination of values occurs not at all or often enough.

    The controlled tables deviate as little as possible: first the largest deviation of a cell, then
    the mean. All tables from the new file fit together; none of its records stands for a record of
    the original, so that nothing can be learnt of anybody by recognising a record.

    For files of everybody, without sampling weights. Persons and dwellings are protected in files
    of their own; buildings are counted in the file of dwellings.

    Parameters
    ----------
    md
        The microdata; as long as they lie in Parquet files, these are counted where they are.
    tables
        The controlled tables: names of variables or tuples of them, or formulas, as
        [`tables_up_to`][diskret.tables_up_to] and job files have them. Order and repetition do
        not matter. The total is always controlled. Or a mapping from a column of whole numbers
        from 0 to the tables of what it counts, with ``""`` for records: ``{"": [("rooms",)],
        "building": [("year",)]}``, where one dwelling of each building has 1, the others 0.
    minimum
        Least number of records with a combination that occurs, from 2.
    method
        ``"search"``: simulated search over all cores. ``"hoehne"``: the steps of Höhne with a
        rising admissible error, for comparison. ``"exact"``: the smallest deviations there are,
        by integer programming; for files with a few hundred combinations.
    margins
        Whether the tables by fewer of the same variables are controlled, too, as they are
        published with a table; False: exactly the tables that are named.
    levels
        Variable → its coarser levels: names of columns, or a code tree (also the path of its
        ``.hrc`` file, or code → parent). Tables of the variable are controlled at each of its
        levels. The levels of a tree become columns: ``age_1`` has the codes of ``age`` one step
        below the total.
    columns
        Further columns of the safe file. The others are left out.
    public
        Columns that everybody knows from the others, such as the type of a municipality: they are
        carried along unchanged.
    weights
        Table of records → w: how large a deviation of its cells is free. What counts is
        abs(d) - w, so that cells with w below 0 matter more. Or pairs of table and w; or cells:
        column → code, and ``"allowance"`` → w; or a frame of such cells.
    exact
        Tables of records that keep their counts; cells that do, column → code; or a frame of cells.
    strata
        Variables whose joint counts stay exact: an exact table.
    new_combinations
        Whether combinations may come up that the file does not have: never one that falls into an
        empty cell of a controlled table, or with two values that never occur together.
    sweeps
        Work of the search: how often it goes through the file, in all or in each of its stages.
        None: what is usual.
    time_limit
        Seconds that the search, or each step of integer programming, may take. In place of it the
        history has the sweeps that were done in each stage: with these the search makes the
        same file again.
    checkpoint
        File of the state of the search: what it finds there it goes on from. Confidential.
    error
        Of ``"hoehne"``: largest abs(d) - w that is admissible at first. None: the smallest that
        all weights admit, and at least 1.
    increment
        Of ``"hoehne"``: by how much it rises when no more combinations become safe. None: 1.
    seed
        Same seed, same records, same options: same file, on any number of threads. Draws follow
        from the records, too, so that editions of a file do not share them. A file made of the
        same records with another seed must not leave besides: together they tell more.
    progress
        Callback.

    Returns
    -------
    Microdata
        With the new records, in a drawn order; ``before`` has those that were replaced. The step
        in the history has the number of records and combinations before and after (`records`,
        `combinations`), of combinations that came up (`new`), the controlled tables (`tables`,
        `counters`), what was to be kept (`exact`), number, largest and mean deviation of cells
        that were not empty, overall and by dimension (`deviations`), sweeps done (`sweeps`),
        what was left out (`left_out`), and whether the deviations are proven to be the smallest
        (`optimal`). ``"hoehne"`` adds for each time that the admissible error was left (`trace`)
        how often it had gone through the file, the largest abs(d) - w and the mean of abs(d).

    Raises
    ------
    InputError
        The microdata have weights or were replaced before; an argument names what is not
        there; a column holds numbers with decimals; exact cells contradict each other or have too
        few records; a public column does not follow from the others.

    References
    ----------
    J. Höhne (2003), SAFE - ein Verfahren zur Geheimhaltung und Anonymisierung statistischer
    Einzelangaben, Berliner Statistik 57(3); J. Höhne (2011), SAFE - a method for anonymising the
    German Census, UNECE/Eurostat work session on statistical data confidentiality, Tarragona.

    Examples
    --------
    >>> import diskret as dk
    >>> import pyarrow as pa
    >>> towns, sexes = ["A"] * 6 + ["B"] * 5, ["f", "f", "f", "f", "m", "m"] + ["f"] * 4 + ["m"]
    >>> persons = dk.Microdata(pa.table({"town": towns, "sex": sexes}), keys=["town", "sex"])
    >>> made = persons.safe([("town", "sex")], method="exact")
    >>> made.frame.group_by(["town", "sex"]).aggregate([([], "count_all")]).sort_by(
    ...     [("town", "ascending"), ("sex", "ascending")]
    ... )["count_all"].to_pylist()
    [4, 3, 4]
    >>> made.history[-1].found["deviations"]["all"]
    {'cells': 9, 'largest': 1, 'mean': 0.4444}
    """
    options = {
        "sweeps": sweeps,
        "time_limit": time_limit,
        "checkpoint": checkpoint,
        "error": error,
        "increment": increment,
    }
    _check(md, method, options)
    more, known, first = tuple(columns), tuple(public), tuple(strata)
    listed = _by_counter(tables)
    before, coarser = _with_levels(md, levels or {})
    there = before.records.columns
    counted = [name for name in listed if name]
    _missing([*more, *known, *counted], there)
    wishes = cell_wishes(weights, exact, first, there, coarser)
    control = Control(
        tables={
            name: _controlled(of, there, coarser, margins, [] if name else wishes.exact_tables())
            for name, of in listed.items()
        },
        strata=first,
        wishes=wishes,
        public=known,
        minimum=minimum,
        new=new_combinations,
    )
    names = _columns(before, control, [*more, *(one for all_ in coarser.values() for one in all_)])
    progress("count combinations", 0, 1)
    found = combinations(before, names, counted)
    progress("count combinations", 1, 1)
    own = found.seed(seed)
    problem, found, cells = safe_problem(found, control, progress)
    given = {name: one for name, one in options.items() if one is not None}
    given |= {"seed": own, "progress": progress, "known": cells}
    file = _solved(problem, found, method, given)
    told = found_by_safe(md, names, control, problem, file, cells, progress)
    if method == "hoehne":
        told["trace"] = [list(step) for step in file.trace]
    del problem, cells, given  # of large files there is not room for both them and the records
    table = safe_records(file, found, names, own)
    step: dict[str, Any] = {
        "tables": listed if counted else listed[""],
        "levels": _written_levels(levels),
        "weights": written_weights(weights),
        "exact": written_exact(exact),
    }
    if method == "search" and time_limit is not None:
        step |= {"sweeps": list(file.sweeps), "time_limit": None}
    return before.replaced(table, Step("safe", step, told))


# ── what is asked ───────────────────────────────────────────────────────────────────


def _check(md: Microdata, method: Method, options: Mapping[str, Any]) -> None:
    if not md.linked:
        raise InputError(
            "these records are those of a safe file already; begin with the original: a safe file "
            "of a safe file deviates twice"
        )
    if md.roles.weight is not None:
        raise InputError(
            f"the records have sampling weights ({md.roles.weight!r}), but SAFE is for files of "
            "everybody: its records count one each; leave weight= out if they do, or protect "
            "a sample with other methods, such as local_suppression()"
        )
    takes = _ENGINES[method][1]
    stray = [name for name in _OF_A_METHOD if options[name] is not None and name not in takes]
    if stray:
        raise InputError(f"{stray[0]}= is not for method={method!r}; leave it out")


def _with_levels(
    md: Microdata, levels: Mapping[str, Tree | Sequence[str]]
) -> tuple[Microdata, dict[str, tuple[str, ...]]]:
    """The microdata with the levels of trees as columns, and variable → its levels."""
    there = md.records.columns
    _missing(levels, there)
    coarser: dict[str, tuple[str, ...]] = {}
    made: dict[str, Any] = {}
    for name, one in levels.items():
        if isinstance(one, (list, tuple)):
            coarser[name] = tuple(one)
            _missing(coarser[name], there)
            continue
        codes = tree(one, name)  # pyright: ignore[reportArgumentType]
        found = coded(md.table_column(name), name)
        steps = {f"{name}_{level}": level for level in range(1, int(codes.level.max()))}
        if not steps:
            raise InputError(
                f"the tree of {name!r} has no level between its total and its codes; leave it out"
            )
        taken = [column for column in steps if column in there]
        if taken:
            raise InputError(
                f"the levels of {name!r} become columns, but there is {some('column', taken)} "
                "already; rename it, or name it in levels= in place of the tree"
            )
        made |= {column: raised(found, codes, level) for column, level in steps.items()}
        coarser[name] = tuple(steps)
    if not made:
        return md, coarser
    before = md.after(made, Step("safe", {}))
    before.history = md.history  # the levels are a part of the step that is to come
    return before, coarser


def _columns(md: Microdata, control: Control, more: Iterable[str]) -> tuple[str, ...]:
    """The columns of the safe file, in the order in which they are."""
    counters = {name for name in control.tables if name}
    wanted = {*more, *control.public, *counters, *control.variables()}
    numbering = [
        name for role in _NUMBERS for name in md.original.roles.columns(role) if name in wanted
    ]
    if numbering:
        raise InputError(
            f"{some('column', numbering)} numbers or names single records, persons or households, "
            "and nothing of it could stay in a safe file; leave it out"
        )
    if not wanted - counters:
        raise InputError("tables= names no variable; name what is to be tabulated")
    return tuple(name for name in md.records.columns if name in wanted)


# ── what is found ───────────────────────────────────────────────────────────────────


def _solved(
    problem: SafeProblem,
    found: Combinations,
    method: Method,
    given: Mapping[str, Any],
) -> SafeFile:
    name, takes = _ENGINES[method]
    engine = getattr(import_module(f"diskret.safe.{name}"), name)
    try:
        return engine(problem, **{name: given[name] for name in takes if name in given})
    except ExactCellsError as error:
        shown = "; ".join(
            said(found, problem.tables[table], codes) for table, codes in error.cells[:5]
        )
        raise InputError(
            f"cells that cannot all be kept exactly: {shown}; keep fewer cells or a "
            "coarser table exactly, or combine categories first"
        ) from error


# ── arguments ───────────────────────────────────────────────────────────────────────


def _missing(names: Iterable[str], there: Sequence[str]) -> None:
    unknown = [name for name in names if name not in there]
    if unknown:
        raise InputError(
            f"there is no {some('column', unknown)}; the records have {', '.join(map(repr, there))}"
        )


def _by_counter(tables: Any) -> dict[str, list[Any]]:
    """What is counted, records (``""``) first → tables, as a job file can hold them."""
    several = isinstance(tables, Mapping) and "up_to" not in tables
    lists: dict[str, Any] = {"": [], **tables} if several else {"": tables}
    return {
        name: [_table(entry) for entry in ([of] if isinstance(of, (str, Mapping)) else of)]
        for name, of in lists.items()
    }


def _table(entry: TableEntry) -> Any:
    if isinstance(entry, str):
        return entry
    return dict(entry) if isinstance(entry, Mapping) else list(entry)


def _controlled(
    listed: Sequence[TableEntry],
    there: Sequence[str],
    coarser: Mapping[str, Sequence[str]],
    margins: bool,
    more: Sequence[TableEntry],
) -> tuple[tuple[str, ...], ...]:
    """The tables written out, the smallest first."""
    written_out = table_list(listed, there, levels=coarser, margins=margins)
    return tuple(sorted(table_list([*written_out, *more, ()], there), key=len))


def _written_levels(levels: Mapping[str, Any] | None) -> dict[str, Any] | None:
    return {name: written(one) for name, one in levels.items()} if levels else None

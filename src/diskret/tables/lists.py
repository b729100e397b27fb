"""Lists of tables: sets of variables, written out or by a formula, and what is counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

from diskret.errors import InputError
from diskret.io.columns import some

#: The counting variable of tables in which every record counts once.
RECORDS = ""

#: Counting variable, or `RECORDS` → tables, each the names of its variables.
TableLists = Mapping[str, tuple[tuple[str, ...], ...]]


def table_lists(given: Any, where: str = "tables") -> dict[str, tuple[tuple[str, ...], ...]]:
    """Tables as somebody lists them, in one form.

    Parameters
    ----------
    given
        Tables, each a name or names of variables, ``()`` the total; or a mapping from a
        counting variable, ``""`` for records, to such a list.
    where
        The argument, for messages.

    Returns
    -------
    dict
        Counting variable, or ``""`` → tables. A table that is listed twice, in whatever order of
        its variables, is there once.

    Raises
    ------
    InputError
        These are no names of variables, or a table names one twice.

    Examples
    --------
    >>> table_lists(["sex", ("sex", "age"), ["age", "sex"]])
    {'': (('sex',), ('sex', 'age'))}
    >>> table_lists({"": [()], "building": [["town", "year"]]})
    {'': ((),), 'building': (('town', 'year'),)}
    """
    lists: Mapping[Any, Any] = given if isinstance(given, Mapping) else {RECORDS: given}
    made: dict[str, tuple[tuple[str, ...], ...]] = {}
    for counter, tables in lists.items():
        if isinstance(tables, str) or not isinstance(tables, Iterable):
            raise InputError(
                f"{where}= must be a list of tables, each the names of its variables, not "
                f"{tables!r}"
            )
        once: dict[frozenset[str], tuple[str, ...]] = {}
        for table in tables:  # pyright: ignore[reportUnknownVariableType]
            names = _names(table, where)
            once.setdefault(frozenset(names), names)
        if once:
            made[str(counter)] = tuple(once.values())
    return made


def each(lists: TableLists) -> list[tuple[tuple[str, ...], str]]:
    """The tables one after another, with what is counted.

    >>> each({"": (("sex",),), "building": (("year",),)})
    [(('sex',), ''), (('year',), 'building')]
    """
    return [(table, counter) for counter, tables in lists.items() for table in tables]


def variables(lists: TableLists) -> list[str]:
    """All variables of the tables, and those that count.

    >>> variables({"": (("sex",), ("sex", "age")), "building": (("year",),)})
    ['sex', 'age', 'year', 'building']
    """
    named = [name for table, _ in each(lists) for name in table]
    return list(dict.fromkeys([*named, *(counter for counter in lists if counter)]))


def _names(table: Any, where: str) -> tuple[str, ...]:
    names: Sequence[Any] = (table,) if isinstance(table, str) else table
    if not isinstance(names, Sequence) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{where}= must name variables of each table, not {table!r}")
    if len(set(names)) < len(names):
        raise InputError(f"{where}= names a variable of {tuple(names)!r} twice")
    return tuple(names)


#: A table: its variables in any order, one by its name, none for the total; or a formula for many.
TableEntry = str | Sequence[str] | Mapping[str, Any]
_FORMULA = ("up_to", "of", "always")


def tables_up_to(
    dimension: int, of: Iterable[str], *, always: Iterable[str] = ()
) -> list[tuple[str, ...]]:
    """All tables of up to so many of these variables, each of them by some others, too.

    A list of tables is a plain list, so that lists are joined by ``+``.

    Parameters
    ----------
    dimension
        Largest number of variables, from 0; those in `always` do not count.
    of
        The variables.
    always
        Variables that every table has, such as the district.

    Returns
    -------
    list of tuple of str
        The smallest tables first; without `always` the total ``()`` is the first.

    Raises
    ------
    InputError
        The number is negative, or a variable is named twice.

    Examples
    --------
    >>> tables_up_to(2, of=["age", "sex", "job"])[-3:]
    [('age', 'sex'), ('age', 'job'), ('sex', 'job')]
    >>> tables_up_to(1, of=["age", "sex"], always=["district"]) + [("state", "job")]
    [('district',), ('district', 'age'), ('district', 'sex'), ('state', 'job')]
    """
    first, names = _texts(always, "always="), _texts(of, "of=")
    if not isinstance(dimension, int) or isinstance(dimension, bool) or dimension < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"tables of up to {dimension!r} variables: give a whole number from 0")
    _texts((*first, *names), "always= and of=")
    sizes = range(min(dimension, len(names)) + 1)
    return [(*first, *chosen) for size in sizes for chosen in combinations(names, size)]


def table_list(
    given: Iterable[TableEntry],
    columns: Sequence[str],
    *,
    levels: Mapping[str, Sequence[str]] | None = None,
    margins: bool = False,
    what: str = "tables=",
) -> list[tuple[str, ...]]:
    """Write tables out: each set of variables once, however often and in what order it is named.

    Parameters
    ----------
    given
        Names of variables, tuples of them, or formulas as a job file has them:
        ``{"up_to": 2, "of": ["age", "sex"], "always": ["district"]}`` as for `tables_up_to`.
    columns
        The variables there are.
    levels
        Variable → its coarser levels: a table of the variable stands for one table by each level,
        and by the variable itself.
    margins
        Whether the tables by fewer of the same variables, down to the total, are among them.
    what
        The argument, for messages.

    Raises
    ------
    InputError
        A table or a formula is none, or names a variable that is not there.

    Examples
    --------
    >>> table_list([("sex", "town"), ("town", "sex"), "age"], ["town", "sex", "age"])
    [('sex', 'town'), ('age',)]
    >>> table_list([("sex", "town")], ["town", "state", "sex"], levels={"town": ["state"]})
    [('sex', 'town'), ('sex', 'state')]
    >>> table_list([("sex", "town")], ["town", "sex"], margins=True)
    [('sex', 'town'), ('sex',), ('town',), ()]
    """
    coarser = levels or {}
    made: dict[frozenset[str], tuple[str, ...]] = {}

    def add(table: tuple[str, ...]) -> None:
        made.setdefault(frozenset(table), table)

    for table in _written_out(given, what):
        unknown = [name for name in table if name not in columns]
        if unknown:
            raise InputError(
                f"{what} names {some('column', unknown)}, which the records do not have; they "
                f"have {', '.join(map(repr, columns))}"
            )
        for chosen in product(*((name, *coarser.get(name, ())) for name in table)):
            add(tuple(dict.fromkeys(chosen)))
    if margins:
        for table in list(made.values()):
            for size in range(len(table) - 1, -1, -1):
                for chosen in combinations(table, size):
                    add(chosen)
    return list(made.values())


def is_formula(entry: Any) -> bool:
    """Whether a mapping is a formula for tables.

    >>> is_formula({"up_to": 1, "of": ["age"]}), is_formula({"age": "10"})
    (True, False)
    """
    return isinstance(entry, Mapping) and not isinstance(entry.get("of", ""), str)  # pyright: ignore[reportUnknownMemberType]


def _written_out(given: Iterable[TableEntry], what: str) -> Iterable[tuple[str, ...]]:
    for entry in given:
        if isinstance(entry, str):
            yield (entry,)
        elif isinstance(entry, Mapping):
            yield from _formula(entry, what)
        else:
            yield _texts(entry, what)


def _formula(entry: Mapping[str, Any], what: str) -> list[tuple[str, ...]]:
    strange = [str(key) for key in entry if key not in _FORMULA]
    if strange or not {"up_to", "of"} <= set(entry):
        raise InputError(
            f"{what} has the formula {dict(entry)!r}, which cannot be read; write e.g. "
            '{ up_to = 2, of = ["age", "sex"], always = ["district"] }'
        )
    return tables_up_to(entry["up_to"], entry["of"], always=entry.get("always", ()))


def _texts(given: Any, what: str) -> tuple[str, ...]:
    names: tuple[Any, ...] = (given,) if isinstance(given, str) else tuple(given)
    wrong = [name for name in names if not isinstance(name, str)]
    if wrong:
        raise InputError(f"{what} must hold names of variables, not {wrong[0]!r}")
    twice = [name for at, name in enumerate(names) if name in names[:at]]
    if twice:
        raise InputError(f"{what} names {some('variable', twice)} twice in {', '.join(names)}")
    return names

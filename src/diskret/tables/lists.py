"""Lists of tables that are counted from records: names of variables, and what is counted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from diskret.errors import InputError

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

    Examples
    --------
    >>> each({"": (("sex",),), "building": (("year",),)})
    [(('sex',), ''), (('year',), 'building')]
    """
    return [(table, counter) for counter, tables in lists.items() for table in tables]


def variables(lists: TableLists) -> list[str]:
    """All variables of the tables, and those that count.

    Examples
    --------
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

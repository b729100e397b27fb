"""What is asked: variables and a filter. Questions that mean the same become one family."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from typing import Any

import numpy as np

from diskret.errors import InputError
from diskret.serve.data import DataSet
from diskret.serve.measures import ASKED
from diskret.serve.variables import Variable

#: Longest texts and lists that are looked at: whoever sends more sends no question.
_LONGEST, _MOST = 200, 10_000
_KEYS = {"data", "by", "where", "measure", "of"}

Kept = tuple[tuple[str, tuple[str, ...]], ...]
Levels = tuple[tuple[str, int], ...]


@dataclass(frozen=True)
class Family:
    """All cells that a question is a part of; what is computed, kept and counted.

    `variables` in the order of their names; `where`: variables that are not among them, with two or
    more but not all of the codes that records have, sorted; `levels`: of variables whose coarser
    codes are meant, see `Variable.standard`; `measure`: what is added up, "" for counts. Equal
    families are equal values, however they were asked for.
    """

    data: str
    variables: tuple[str, ...]
    where: Kept
    levels: Levels = ()
    measure: str = ""

    def level(self, name: str) -> int:
        """Of a variable; 0: the codes that records have."""
        return dict(self.levels).get(name, 0)

    def meets(self, other: Family) -> bool:
        """Whether some record may be counted in both: no filter tells them apart."""
        theirs = dict(other.where)
        return self.data == other.data and all(
            not {*codes}.isdisjoint(theirs.get(name, codes)) for name, codes in self.where
        )


@dataclass(frozen=True)
class Question:
    """A table that is asked for.

    Parameters
    ----------
    data
        Name of the data set.
    by
        Variables of the table, in the order in which they are wanted; none: the total.
    where
        Variable → the codes that count, of any level; sorted by variable and code.
    levels
        Variable of the table → which level of its tree, 1 being the codes right below the total;
        sorted. Left out: the codes that records have.
    measure
        ``"count"``, ``"sum"``, ``"mean"`` or ``"ratio"``.
    measures
        The measure of a sum or mean; the two of a ratio.

    Examples
    --------
    >>> question = Question.of({"data": "census", "by": ["sex"], "where": {"region": ["S", "N"]}})
    >>> question.by, question.where
    (('sex',), (('region', ('N', 'S')),))
    >>> Question.of({"data": "census", "by": [{"variable": "region", "level": 1}]}).levels
    (('region', 1),)
    """

    data: str
    by: tuple[str, ...]
    where: Kept = ()
    levels: Levels = ()
    measure: str = "count"
    measures: tuple[str, ...] = ()

    @classmethod
    def of(cls, asked: Any) -> Question:
        """A question as it comes in, as JSON; one that was put together elsewhere is read again.

        Raises
        ------
        InputError
            It is none: unknown keys, values of another type, names or codes twice.
        """
        if isinstance(asked, Question):
            by, levels = asked.by, _once(asked.levels)
            if levels is None:
                raise InputError("a level is a whole number from 1 on")
            if levels and isinstance(by, tuple):
                by = [{"variable": one, "level": levels.get(one)} for one in by]
            asked = {
                "data": asked.data,
                "by": by,
                "where": _once(asked.where),
                "measure": asked.measure,
                "of": asked.measures,
            }
        if not isinstance(asked, Mapping) or not {*asked} <= _KEYS:
            raise InputError("a question is {'data': name, 'by': [variables], 'where': {…}}")
        measure, of = asked.get("measure", "count"), _texts(asked.get("of", []), "of")
        if not isinstance(measure, str) or measure not in ASKED:
            raise InputError(
                "'measure' must be 'count', 'sum', 'mean' or 'ratio'; quantiles, smallest and "
                "largest values are those of single records, and are not served"
            )
        if len(of) != ASKED[measure]:
            raise InputError(
                "'of' names the measure of a sum or mean, the two of a ratio, and none of a count"
            )
        where = asked.get("where", {})
        if not isinstance(where, Mapping) or len(where) > _MOST:
            raise InputError("'where' must be {variable: [codes]}")
        kept = {_text(name): tuple(sorted(_texts(codes, name))) for name, codes in where.items()}
        if not all(kept.values()):
            raise InputError("'where' must name at least one code of each of its variables")
        names, levels = _by(asked.get("by", []))
        where = tuple(sorted(kept.items()))
        return cls(_text(asked.get("data", "")), names, where, levels, measure, of)

    def check(self, data: DataSet) -> None:
        """Refuse what the data set does not have.

        Raises
        ------
        InputError
            No such variable, code or level; or a filter takes a part of a coarser code.
        """
        for name in (*self.by, *(name for name, _ in self.where)):
            if name not in data.variable:
                raise InputError(f"the data set {data.name!r} has no variable {name!r}")
        for name in self.measures:
            if name not in data.measure:
                raise InputError(f"the data set {data.name!r} has no measure {name!r}")
        for name, number in self.levels:
            if not 1 <= number <= data.variable[name].depth:
                raise InputError(
                    f"the variable {name!r} has the levels 1 to {data.variable[name].depth}, and "
                    f"no level {number}"
                )
        for name, codes in self.where:
            for code in codes:
                if not data.variable[name].below(code):
                    raise InputError(f"the variable {name!r} has no code {code!r}")
            if name in self.by:
                self._shown(data.variable[name])

    def level(self, name: str) -> int:
        """Of a variable of the table; 0: the codes that records have."""
        return dict(self.levels).get(name, 0)

    def family(self, data: DataSet) -> Family:
        """The cells that this table is a part of, by their counts.

        A filter that keeps all codes says nothing; one on a single code, of whatever level, or on a
        variable of the table, picks cells of a larger table.
        """
        filters: list[tuple[str, tuple[str, ...]]] = []
        levels = {name: data.variable[name].standard(self.level(name)) for name in self.by}
        for name, codes in self.where:
            variable = data.variable[name]
            leaves = variable.leaves(codes)
            if name in levels or len(leaves) == len(variable.codes):
                continue
            level = variable.level_of(leaves)
            if level is None:
                filters.append((name, leaves))
            else:
                levels[name] = level
        coarser = tuple(sorted((name, level) for name, level in levels.items() if level))
        return Family(data.name, tuple(sorted(levels)), tuple(filters), coarser)

    def families(self, data: DataSet) -> tuple[Family, ...]:
        """What is needed for an answer: counts, and the sums of each measure."""
        counts = self.family(data)
        return (counts, *(replace(counts, measure=name) for name in self.measures))

    def check_size(self, data: DataSet) -> None:
        """Refuse a table that is larger than the data set allows.

        Raises
        ------
        InputError
            Too many variables or cells.
        """
        family = self.family(data)
        names = family.variables
        if len(names) > data.most_variables:
            raise InputError(
                f"the table has {len(names)} variables, filters on one code among them; at most "
                f"{data.most_variables} are answered"
            )
        cells = prod(len(data.variable[name].level(family.level(name)).codes) for name in names)
        if cells > data.most_cells:
            raise InputError(
                f"the table has {cells:,} cells; at most {data.most_cells:,} are answered"
            )

    def codes(self, data: DataSet) -> dict[str, tuple[str, ...]]:
        """Variable of the table → its codes that are shown."""
        return {name: self._shown(data.variable[name]) for name in self.by}

    def _shown(self, variable: Variable) -> tuple[str, ...]:
        """The codes of a variable of the table that a filter leaves."""
        level = variable.level(self.level(variable.name))
        kept = dict(self.where).get(variable.name)
        if kept is None:
            return level.codes
        leaves = variable.leaves(kept)
        groups = np.unique(level.group[variable.places(leaves)])
        if len(leaves) < np.isin(level.group, groups).sum():
            raise InputError(
                f"the filter on {variable.name!r} takes a part of a code of the level that is "
                "asked for; name whole codes, or a finer level"
            )
        return tuple(level.codes[at] for at in groups.tolist())


def _by(given: object) -> tuple[tuple[str, ...], Levels]:
    """Names of variables, and the levels of those that name one."""
    if not isinstance(given, Sequence) or isinstance(given, str | bytes) or len(given) > _MOST:
        return _texts(given, "by"), ()
    names: list[object] = []
    levels: dict[str, int] = {}
    for one in given:
        if not isinstance(one, Mapping):
            names.append(one)
            continue
        if not {"variable"} <= {*one} <= {"variable", "level"}:
            raise InputError("'by' names variables, or {'variable': name, 'level': number}")
        names.append(one["variable"])
        level = one.get("level")
        if level is not None:
            if isinstance(level, bool) or not isinstance(level, int) or abs(level) > _MOST:
                raise InputError("a level is a whole number from 1 on")
            levels[_text(one["variable"])] = level
    return _texts(names, "by"), tuple(sorted(levels.items()))


def _once(given: Any) -> Any:
    """The filters of a question as a mapping, if they can be one."""
    pairs = isinstance(given, tuple) and all(isinstance(e, tuple) and len(e) == 2 for e in given)
    named = {name: codes for name, codes in given if isinstance(name, str)} if pairs else {}
    return named if pairs and len(named) == len(given) else None


def _text(given: object) -> str:
    if not isinstance(given, str) or not given or len(given) > _LONGEST:
        raise InputError(f"names and codes are texts of 1 to {_LONGEST} characters")
    return given


def _texts(given: object, key: str) -> tuple[str, ...]:
    listed = [given] if isinstance(given, str) else given
    if not isinstance(listed, Sequence) or isinstance(listed, bytes) or len(listed) > _MOST:
        raise InputError(f"{_text(key)!r} must be a list of texts")
    texts = tuple(_text(one) for one in listed)
    if len({*texts}) < len(texts):
        raise InputError(f"{_text(key)!r} names something twice")
    return texts

"""The verbs that make one variable coarser, or leave columns out."""

# pyarrow has no type information for its classes and compute functions.
# pyright: reportAttributeAccessIssue=false, reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import pyarrow as pa
import pyarrow.compute as pc

from diskret.anonymize.missing_codes import valued, with_codes
from diskret.anonymize.trees import Tree, tree, written
from diskret.anonymize.verb import Step, verb
from diskret.errors import InputError
from diskret.io.categories import coded, recoded_order
from diskret.io.columns import some
from diskret.io.kinds import is_text
from diskret.microdata.categories import Period, grouped, raised, shortened, texts
from diskret.microdata.numbers import (
    Classes,
    End,
    Method,
    chosen_breaks,
    class_labels,
    classed,
    ended,
    open_breaks,
    rounded,
)
from diskret.parameters import Positive

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

#: Each way to recode, and the arguments that only it takes; of these one is needed.
_WAYS: dict[str, tuple[str, ...]] = {
    "groups": ("missing",),
    "breaks": ("labels", "right"),
    "method": ("classes", "labels", "right"),
    "hierarchy": ("level",),
    "top": (),
    "bottom": (),
    "width": (),
    "period": ("at",),
}


@verb()
def recode(
    md: Microdata,
    variable: str,
    *,
    groups: Mapping[Any, Any] | None = None,
    missing: str | None = None,
    breaks: Sequence[float] | None = None,
    method: Method | None = None,
    classes: Classes | None = None,
    labels: Sequence[str] | None = None,
    right: bool = False,
    hierarchy: Tree | None = None,
    level: int | None = None,
    top: float | str | Sequence[float | str] | None = None,
    bottom: float | str | Sequence[float | str] | None = None,
    width: Positive | None = None,
    period: Period | None = None,
    at: str | None = None,
) -> Microdata:
    """Make one variable coarser, in one way at a time.

    The variable keeps its roles, and missing values stay missing unless `missing` names a
    category for them. Columns that tell the same in more detail are not changed: recode these,
    too, or drop them.

    Parameters
    ----------
    md
        The microdata; they are not changed.
    variable
        Name of the column.
    groups
        New value → list of old values, or old value → new value. Values in no group stay.
    missing
        With `groups` or alone: what missing values become.
    breaks
        Ascending breaks of classes of numbers, the ends of which may be infinite; a value outside
        all classes is an error.
    method
        Breaks by the values themselves: ``"equal_width"``, ``"equal_log"`` (equal width on a
        logarithmic scale) or ``"equal_number"`` (of records). Both ends are open, so that neither
        the smallest nor the largest value is told. The history keeps breaks and labels,
        so that new records get the same classes.
    classes
        How many of them.
    labels
        One for each class; None: made from the breaks, such as "20-29" and "≥ 80".
    right
        Whether the upper break of a class belongs to it, and not the lower one.
    hierarchy
        A code tree, the path of its ``.hrc`` file, or code → parent: every code that lies
        deeper than `level` becomes the one above it there.
    level
        Steps below the total, from 0.
    top, bottom
        From which value on, or up to which, itself included, values are replaced by it; or the
        value and what replaces it: ``(80, "≥ 80")``. Values are numbers, or categories with an
        order (`orders` of the microdata, ordered categoricals); other text is refused. Both can be
        given together.
    width
        Numbers are rounded to multiples of it, halves upwards: incomes, coordinates.
    period
        What remains of a date: ``"month"``, ``"quarter"``, ``"year"``, or the ``"age"`` in
        completed years.
    at
        The date at which an age is reached, ``YYYY-MM-DD``.

    Returns
    -------
    Microdata
        With the variable recoded. Labels and codes are text; groups of whole numbers with
        whole numbers as new values stay numbers; top and bottom coding and rounding keep the
        type if the replacement allows it. Categorical columns stay categorical. New values have
        the order of those they came from.

    Raises
    ------
    InputError
        Not exactly one way is given, an argument belongs to another way, or the values do
        not fit it; the message names them.

    References
    ----------
    A. Hundepool et al., Statistical Disclosure Control (Wiley 2012), sections 3.3.1 (global
    recoding) and 3.3.2 (top and bottom coding).

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret import Microdata
    >>> persons = pa.table({"age": [31, 84, None, 38], "job": ["cook", "judge", "baker", "cook"]})
    >>> md = Microdata(persons, keys=["age", "job"])
    >>> recode(md, "age", breaks=[0, 40, 80, float("inf")]).frame["age"].to_pylist()
    ['0-39', '≥ 80', None, '0-39']
    >>> recode(md, "job", groups={"food": ["cook", "baker"]}).frame["job"].to_pylist()
    ['food', 'judge', 'food', 'food']
    """
    values = md.table_column(variable)
    arguments: dict[str, Any] = {
        "groups": groups,
        "missing": missing,
        "breaks": breaks,
        "method": method,
        "classes": classes,
        "labels": labels,
        "right": right,
        "hierarchy": hierarchy,
        "level": level,
        "top": top,
        "bottom": bottom,
        "width": width,
        "period": period,
        "at": at,
    }
    way = _way(arguments)
    found: dict[str, Any] = {}
    if way == "groups":
        arguments["groups"] = new = _groups(groups or {})
        column = md.coded(variable)
        made = grouped(column, new, missing)
        named = {old for olds in new.values() for old in olds}
        if absent := sorted(named - set(texts(column.categories))):
            found["absent"] = absent
    elif way in ("breaks", "method"):
        values = valued(md, variable)
        if way == "method":
            found = {"method": method, "classes": classes}
            breaks = chosen_breaks(values, variable, cast(Method, method), classes or 0, right)
            arguments["method"] = arguments["classes"] = None
        if labels is None:  # new records may be no whole numbers: the labels are kept as well
            labels = class_labels(values, variable, breaks or (), right)
        arguments |= {"breaks": open_breaks(breaks or ()), "labels": list(labels)}
        made = classed(values, variable, breaks or (), labels, right)
    elif way == "hierarchy":
        if level is None:
            raise InputError("hierarchy= needs level=: how many steps below the total codes lie")
        above = tree(cast(Tree, hierarchy), variable)
        made = raised(coded(valued(md, variable, above.position), variable), above, level)
        arguments["hierarchy"] = written(hierarchy)
    elif way == "top":
        ends = {"top": _end(top, "top"), "bottom": _end(bottom, "bottom")}
        order = md.roles.orders.get(variable)
        made = ended(valued(md, variable), variable, **ends, order=order)
        arguments |= {name: None if end is None else list(end) for name, end in ends.items()}
    elif way == "width":
        made = rounded(valued(md, variable), variable, cast(float, width))
    else:
        made = shortened(values, variable, cast(Period, period), at)
    if way != "groups":
        made = with_codes(md, variable, made)
    found = {"categories": [_distinct(md.table_column(variable)), _distinct(made)], **found}
    step = Step("recode", arguments, found)
    return md.after({variable: made}, step, _orders(md, variable, way, made, missing))


@verb()
def drop(md: Microdata, columns: str | Iterable[str]) -> Microdata:
    """Leave columns out, whatever their roles.

    Parameters
    ----------
    md
        The microdata; they are not changed.
    columns
        A name, or several.

    Raises
    ------
    InputError
        A column is missing, or none would be left.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret import Microdata
    >>> md = Microdata(pa.table({"name": ["Ann"], "sex": ["f"]}), keys=["sex"])
    >>> drop(md, "name").frame.column_names
    ['sex']
    """
    names = list(columns)
    unknown = [name for name in names if name not in md.table.column_names]
    if unknown:
        raise InputError(
            f"{some('column', unknown)} cannot be dropped: there is none; the columns are "
            f"{', '.join(map(repr, md.table.column_names))}"
        )
    return md.without(names, Step("drop", {}))


@verb()
def remove_identifiers(md: Microdata) -> Microdata:
    """Leave all direct identifiers out.

    Raises
    ------
    InputError
        None is named in ``identifiers=``.

    Examples
    --------
    >>> import pyarrow as pa
    >>> from diskret import Microdata
    >>> persons = pa.table({"name": ["Ann"], "sex": ["f"]})
    >>> md = Microdata(persons, keys=["sex"], identifiers=["name"])
    >>> remove_identifiers(md).frame.column_names
    ['sex']
    """
    names = md.roles.identifiers
    if not names:
        raise InputError(
            "no direct identifiers are named; give identifiers= when you make the microdata"
        )
    return md.without(names, Step("remove_identifiers", {}, {"columns": list(names)}))


def _orders(
    md: Microdata, variable: str, way: str, made: pa.ChunkedArray, missing: str | None
) -> dict[str, tuple[Any, ...] | None]:
    """The order of the new values: that of those they came from. Numbers have their own."""
    declared = md.roles.orders.get(variable)
    text = is_text(made.type)
    if declared is None and (way == "hierarchy" or not text):  # codes of a tree stand in no order
        return {}
    if missing is not None:
        return {variable: None}
    order = recoded_order(md.table_column(variable), made, variable, declared)
    # codes that mean missing may have no place among the others, or one between them
    return {variable: order or recoded_order(valued(md, variable), made, variable, declared)}


def _way(arguments: Mapping[str, Any]) -> str:
    """The one way that is asked for; top and bottom are one."""
    asked = [way for way in _WAYS if arguments[way] is not None]
    if not asked and arguments["missing"] is not None:
        asked = ["groups"]
    if asked in (["bottom"], ["top", "bottom"]):
        asked = ["top"]
    if len(asked) != 1:
        raise InputError(
            f"recode() takes one of {', '.join(f'{way}=' for way in _WAYS)} (top= and bottom= "
            f"also together), not {' and '.join(f'{way}=' for way in asked) or 'none of them'}; "
            "recode step by step"
        )
    others = {name for names in _WAYS.values() for name in names} - set(_WAYS[asked[0]])
    stray = [name for name in arguments if name in others and arguments[name] not in (None, False)]
    if stray:
        belongs = [way for way, names in _WAYS.items() if stray[0] in names]
        raise InputError(
            f"{stray[0]}= belongs to {' or '.join(f'{way}=' for way in belongs)}, not to "
            f"{asked[0]}="
        )
    return asked[0]


def _groups(groups: Mapping[Any, Any]) -> dict[str, list[str]]:
    """New value → old values as text, whichever way round they were given."""
    found: dict[str, list[str]] = {}
    for one, other in groups.items():
        several = isinstance(other, (list, tuple, set, frozenset))
        new, olds = (one, other) if several else (other, [one])
        if new is None or None in olds:
            raise InputError(
                "groups= cannot name missing values by None; say with missing= what they become"
            )
        old = [_code(value) for value in olds]
        found.setdefault(_code(new), []).extend(sorted(old) if isinstance(other, set) else old)
    return found


def _code(value: Any) -> str:
    return texts(pa.array([value]))[0]


def _end(end: Any, name: str) -> End | None:
    if end is None:
        return None
    pair = tuple(end) if isinstance(end, (list, tuple)) else (end, end)
    if len(pair) != 2 or not all(
        isinstance(value, (int, float, str)) and not isinstance(value, bool) for value in pair
    ):
        raise InputError(
            f"{name}= must be a number or a category, or that and what replaces it, e.g. "
            f"(80, '≥ 80'), not {end!r}"
        )
    return pair


def _distinct(values: pa.ChunkedArray) -> int:
    return int(pc.count_distinct(values, mode="only_valid").as_py())

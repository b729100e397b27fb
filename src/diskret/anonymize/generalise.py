"""The verb that finds the best levels of several keys at once."""

# pyarrow has no type information for its classes.
# pyright: reportUnknownParameterType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import pyarrow as pa

from diskret.anonymize.missing_codes import missing
from diskret.anonymize.trees import Tree, tree, written
from diskret.anonymize.verb import Step, verb
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io import Coded
from diskret.microdata.categories import texts
from diskret.microdata.generalise import Criterion, Generalised, distinct_values, generalised
from diskret.microdata.lattice import Ladder, breaks_ladder, tree_ladder
from diskret.microdata.loss import Loss, Metric
from diskret.parameters import Probability, Whole
from diskret.progress import Progress, silent
from diskret.risk.keys import check_keys

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata

#: The levels of a key: a tree, widths of classes, or breaks of each level.
Levels = Tree | Sequence[int] | Sequence[Sequence[float]]


@verb()
def generalise(
    md: Microdata,
    hierarchies: Mapping[str, Levels],
    k: Annotated[int, Whole(1)] = 3,
    *,
    keys: Sequence[str] | None = None,
    suppression: Probability = 0.0,
    metric: Metric | Loss = "entropy",
    diversity: Annotated[int, Whole(1)] | None = None,
    criterion: Criterion | None = None,
    monotone: bool = False,
    progress: Progress = silent,
) -> Microdata:
    """Show the keys on those levels of their hierarchies that lose least and make them safe.

    Every key is shown on one level in all records (full-domain generalisation), and every
    combination of keys that is left occurs `k` times or more. Nothing in the whole lattice of
    levels loses less. On the highest level of a key all records show the total, missing values
    included; on others a missing value stays one, and counts as a category of its own: what is
    safe so is safe with wildcards, too. The columns that follow a key lose all their values when
    it is not shown as it is.

    Parameters
    ----------
    md
        The microdata; they are not changed.
    hierarchies
        Key → its levels: a code tree, the path of its ``.hrc`` file or code → parent; widths of
        classes of whole numbers, ``[5, 10, 20]``; or for each level, the finest first, the
        breaks of its classes. Other keys stay as they are.
    k
        Smallest number of records that share their keys.
    keys
        Names of the keys; None: all.
    suppression
        Largest share of the records, from 0 to 1, that may lose all their keys instead, with the
        columns that follow them: those whose class is too small.
    metric
        ``"entropy"``, ``"precision"``, ``"height"``, ``"discernibility"``, ``"class_size"``, see
        [`measure`][diskret.microdata.loss.measure]; or a function of a
        [`Node`][diskret.microdata.lattice.Node] and its hidden classes.
    diversity
        Distinct values that each sensitive variable must have in every class.
    criterion
        A function of a [`Node`][diskret.microdata.lattice.Node] that says which of its classes
        satisfy something more: closeness, risk.
    monotone
        Whether records that do not satisfy it never become more on coarser levels, so that
        combinations of levels can be ruled out by it. If in doubt leave it.
    progress
        Called with ``("generalise", done, total)``.

    Returns
    -------
    Microdata
        The last step of the history has `found`: the levels (0: as it is, counted upwards) and
        how many there are, the loss, suppressed records, and how many combinations of levels were
        examined, of how many. Steps with functions cannot be replayed from a file.

    Raises
    ------
    InputError
        A hierarchy is for no key or does not fit its values, or an option is not admissible.
    ProtectionError
        Not even the coarsest levels are safe.

    References
    ----------
    See [`generalised`][diskret.microdata.generalise.generalised].

    Examples
    --------
    Sweeney (2002), the private table of figure 3:

    >>> import pyarrow as pa
    >>> from diskret import Hierarchy, Microdata
    >>> race = ["asian"] * 4 + ["black"] * 4 + ["white"] * 4
    >>> zips = ["02138", "02139", "02141", "02142"] * 3
    >>> md = Microdata(pa.table({"race": race, "zip": zips}), keys=["race", "zip"])
    >>> made = generalise(
    ...     md,
    ...     {"race": Hierarchy.flat({*race}), "zip": Hierarchy.from_prefix({*zips}, (4, 1))},
    ...     k=2,
    ...     metric="precision",
    ... )
    >>> made.frame.slice(0, 2).to_pylist()
    [{'race': 'asian', 'zip': '0213'}, {'race': 'asian', 'zip': '0213'}]
    """
    chosen = md.keys(keys)
    check_keys(hierarchies or {}, chosen.names, "hierarchies")
    ladders = [
        _ladder(md, column, hierarchies[column.name])
        if column.name in hierarchies
        else Ladder(column.name, len(column.categories))
        for column in chosen.columns
    ]
    if diversity is not None:
        found = _diverse(md, diversity, keys, criterion)
        monotone = monotone or criterion is None
    else:
        found = criterion
    best = generalised(chosen, ladders, k, suppression, metric, found, monotone, progress)
    told = {
        "hierarchies": written(hierarchies),
        "metric": _named(metric),
        "criterion": _named(criterion),
        "monotone": monotone if criterion is not None else False,
    }
    columns, suppressed = _columns(md, chosen.columns, best)
    report = {
        "levels": dict(zip(chosen.names, best.node.levels, strict=True)),
        "highest": {ladder.name: ladder.height for ladder in ladders},
        "metric": _named(metric),
        "loss": best.loss,
        "suppressed_records": suppressed,
        "examined": best.examined,
        "combinations": best.lattice_size,
    }
    return md.after(columns, Step("generalise", told, report))


def _ladder(md: Microdata, column: Coded, levels: Levels) -> Ladder:
    """The levels of a key; codes that mean missing stay on all but the highest."""
    if isinstance(levels, (Hierarchy, Mapping, str, PathLike)):
        levels = tree(levels, column.name)
    known = levels.position if isinstance(levels, Hierarchy) else ()
    apart = missing(md, column.name, column.categories, known)
    if not apart.any():
        return _levels(column, levels)
    others = Coded(column.name, column.categories.filter(pa.array(~apart)), np.array([], np.int32))
    return _levels(others, levels).with_apart(texts(column.categories), apart)


def _levels(column: Coded, levels: Levels) -> Ladder:
    if isinstance(levels, Hierarchy):
        return tree_ladder(column, levels)
    if isinstance(levels, Sequence) and levels:
        if all(isinstance(width, int) for width in levels):
            widths: Any = levels
            return tree_ladder(column, Hierarchy.from_widths(texts(column.categories), widths))
        if all(isinstance(breaks, Sequence) and not isinstance(breaks, str) for breaks in levels):
            breaks: Any = levels
            return breaks_ladder(column, breaks)
    raise InputError(
        f"the levels of {column.name!r} must be a hierarchy, widths of classes such as "
        f"[5, 10, 20], or a list of breaks for each level, not {levels!r}"
    )


def _diverse(
    md: Microdata, least: int, keys: Sequence[str] | None, criterion: Criterion | None
) -> Criterion:
    if not md.roles.sensitive:
        raise InputError(
            "diversity= needs sensitive variables; give sensitive= when you make the microdata"
        )
    chosen = md.keys(keys)
    all_of = [distinct_values(chosen, md.coded(name), least) for name in md.roles.sensitive]
    if criterion is not None:
        all_of.append(criterion)
    return lambda node: np.logical_and.reduce([one(node) for one in all_of])


def _columns(
    md: Microdata, keys: Sequence[Coded], best: Generalised
) -> tuple[dict[str, pa.ChunkedArray], int]:
    """The columns that change, and how many records are suppressed."""
    node = best.node
    hidden = best.hidden[node.of] if best.hidden.any() else np.zeros(md.n, dtype=bool)
    suppressed = int(hidden.sum())
    made: dict[str, pa.ChunkedArray] = {}
    for key, ladder, level in zip(keys, node.lattice.ladders, node.levels, strict=True):
        followers = md.roles.followers.get(key.name, ())
        if level:
            codes = ladder.codes[level][key.codes]
            made[key.name] = ladder.column(np.where(hidden, np.int32(-1), codes), level)
            gone = np.ones(md.n, dtype=bool)
        elif suppressed:
            made[key.name] = key.without(hidden).column()
            gone = hidden
        else:
            continue
        for name in followers:
            values = made.get(name, md.table_column(name))
            made[name] = values.take(pa.array(np.arange(md.n), mask=gone))
    return made, suppressed


def _named(thing: Any) -> Any:
    return f"{thing.__module__}.{thing.__qualname__}" if callable(thing) else thing

"""Code trees as users hand them over, and as the history of microdata keeps them."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

from diskret.errors import InputError
from diskret.hierarchy import Hierarchy

#: A tree, the path of its ``.hrc`` file, or code → parent.
Tree = Hierarchy | str | PathLike[str] | Mapping[str, str]


def tree(given: Tree, name: str) -> Hierarchy:
    """The tree of a variable.

    >>> tree({"01": "A", "02": "A", "A": "All"}, "nace").codes
    ('All', 'A', '01', '02')
    """
    if isinstance(given, Hierarchy):
        return given
    if isinstance(given, Mapping):
        codes, parents = list(given.keys()), list(given.values())
        return Hierarchy.from_parents({"code": codes, "parent": parents})
    if isinstance(given, (str, PathLike)):
        return Hierarchy.read(given)
    raise InputError(
        f"the hierarchy of {name!r} must be a Hierarchy, the path of a .hrc file, or a mapping of "
        f"codes to parents, not {given!r}"
    )


def written(given: Any) -> Any:
    """The same as a job file can hold it: a tree as code → parent, a path as text.

    >>> written(Hierarchy.flat(["N", "S"]))
    {'N': 'Total', 'S': 'Total'}
    """
    if isinstance(given, Hierarchy):
        parents = (given.codes[at] for at in given.parent[1:].tolist())
        return dict(zip(given.codes[1:], parents, strict=True))
    if isinstance(given, PathLike):
        return fspath(given)
    if isinstance(given, Mapping):
        return {str(name): written(value) for name, value in given.items()}
    if isinstance(given, (list, tuple)):
        return [written(value) for value in given]
    return given

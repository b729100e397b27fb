"""Code trees from lists of codes and from pairs of code and parent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import narwhals as nw
import numpy as np

from diskret.errors import HierarchyError
from diskret.hierarchy.codes import as_code, as_codes, as_list, some, total_code
from diskret.hierarchy.tree import Hierarchy


def flat(codes: Iterable[object], total: str = "Total") -> Hierarchy:
    """Put all codes directly below one total, sorted as plain text.

    See [`Hierarchy.flat`][diskret.Hierarchy.flat].
    """
    if isinstance(codes, str):
        raise HierarchyError(f"codes must be a list of codes, not the one text {codes!r}")
    below = sorted(set(as_codes(codes, "codes")))
    parent = np.zeros(len(below) + 1, dtype=np.int32)
    parent[0] = -1
    return Hierarchy((total_code(total, below), *below), parent)


def from_parents(frame: Any, total: str = "Total") -> Hierarchy:
    """Make a tree from the columns ``code``, ``parent`` and perhaps ``label``, one row a code.

    See [`Hierarchy.from_parents`][diskret.Hierarchy.from_parents].
    """
    columns = frame_columns(frame, "pairs of code and parent")
    _check_names(columns)
    codes = as_codes(columns["code"], "code")
    parents = as_codes(columns["parent"], "parent", optional=True)
    _check_once(codes, parents)
    parent_of = dict(zip(codes, parents, strict=True))
    roots = _roots(parent_of)
    root = roots[0] if len(roots) == 1 else total_code(total, {*codes, *roots})
    children: dict[str, list[str]] = {root: roots} if len(roots) > 1 else {}
    for code, parent in parent_of.items():
        if parent:
            children.setdefault(parent, []).append(code)
    return depth_first(root, children, _labels(codes, columns.get("label", [])))


def frame_columns(frame: Any, what: str) -> dict[str, list[Any]]:
    """The columns of any frame or mapping as lists of equal length, at least one row.

    Raises
    ------
    HierarchyError
        It is no frame, has columns of different lengths, or no rows; `what` says in the
        message what was expected.
    """
    if isinstance(frame, Mapping):
        found = {str(name): as_list(column) for name, column in frame.items()}
    else:
        try:
            records = nw.from_native(frame).lazy().collect()
        except TypeError as error:
            raise HierarchyError(
                f"a {type(frame).__name__} cannot be read as {what}; pass a "
                "pandas, Polars or PyArrow table, a DuckDB relation, or a mapping of columns"
            ) from error
        found = {name: records[name].to_list() for name in records.columns}
    lengths = {name: len(column) for name, column in found.items()}
    if len(set(lengths.values())) > 1:
        raise HierarchyError(f"the columns differ in length: {lengths}")
    if not any(lengths.values()):
        raise HierarchyError("there are no rows, so there is no tree")
    return found


def depth_first(
    root: str, children: Mapping[str, list[str]], labels: Mapping[str, str]
) -> Hierarchy:
    """The tree below `root`, siblings in the order given."""
    codes: list[str] = []
    parent: list[int] = []
    waiting = [(root, -1)]
    while waiting:
        code, above = waiting.pop()
        waiting += [(child, len(codes)) for child in reversed(children.get(code, []))]
        codes.append(code)
        parent.append(above)
    return Hierarchy(tuple(codes), np.array(parent, dtype=np.int32), labels)


def _check_names(names: Iterable[str]) -> None:
    given = list(names)
    missing = [repr(name) for name in ("code", "parent") if name not in given]
    unknown = [repr(name) for name in given if name not in ("code", "parent", "label")]
    if missing or unknown:
        what = [f"missing: {some(missing)}"] * bool(missing)
        what += [f"unknown: {some(unknown)}"] * bool(unknown)
        raise HierarchyError(
            f"the columns must be 'code', 'parent' and perhaps 'label' ({'; '.join(what)}); "
            "rename or select them"
        )


def _check_once(codes: list[str], parents: list[str]) -> None:
    parents_of: dict[str, list[str]] = {}
    for code, parent in zip(codes, parents, strict=True):
        parents_of.setdefault(code, []).append(parent)
    split = [
        f"{code!r} below {' and '.join(repr(p) if p else 'none' for p in dict.fromkeys(above))}"
        for code, above in parents_of.items()
        if len(set(above)) > 1
    ]
    if split:
        raise HierarchyError(
            f"codes with more than one parent ({len(split)}): {some(split)}; in a tree every "
            "code belongs to one parent"
        )
    twice = [repr(code) for code, above in parents_of.items() if len(above) > 1]
    if twice:
        raise HierarchyError(
            f"codes in more than one row ({len(twice)}): {some(twice)}; remove the duplicates"
        )


def _roots(parent_of: Mapping[str, str]) -> list[str]:
    roots = [code for code, parent in parent_of.items() if not parent]
    unknown = [p for p in dict.fromkeys(parent_of.values()) if p and p not in parent_of]
    if roots and unknown:
        raise HierarchyError(
            f"parents that are no codes ({len(unknown)}): {some([repr(p) for p in unknown])}; "
            f"add a row for each of them, e.g. with the parent {roots[0]!r}"
        )
    cycle = _cycle(parent_of)
    if len(cycle) > 8:
        cycle = [*cycle[:5], "…", cycle[-1]]
    if cycle:
        raise HierarchyError(
            f"the parents form a cycle: {' → '.join(cycle)}; in a tree every code leads up to "
            "the total"
        )
    return roots or unknown


def _cycle(parent_of: Mapping[str, str]) -> list[str]:
    """One cycle, from a code up and back to itself, or nothing."""
    checked: set[str] = set()
    for code in parent_of:
        path: dict[str, int] = {}
        while code in parent_of and code not in checked:
            if code in path:
                return [*list(path)[path[code] :], code]
            path[code] = len(path)
            code = parent_of[code]
        checked.update(path)
    return []


def _labels(codes: list[str], labels: Iterable[Any]) -> dict[str, str]:
    given = zip(codes, labels, strict=False)
    return {code: str(label).strip() for code, label in given if as_code(label) != ""}

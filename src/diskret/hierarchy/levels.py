"""Code trees from a frame with one column for each level."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from diskret.errors import HierarchyError
from diskret.hierarchy.build import depth_first, frame_columns
from diskret.hierarchy.codes import as_codes, some, total_code
from diskret.hierarchy.tree import Hierarchy

# A code where it stands: number of its column and text.
_Place = tuple[int, str]


def from_levels(frame: Any, total: str = "Total") -> Hierarchy:
    """Make a tree from columns that are its levels, the coarsest first.

    See [`Hierarchy.from_levels`][diskret.Hierarchy.from_levels].
    """
    columns = frame_columns(frame, "columns of codes, one for each level")
    names = list(columns)
    levels = [as_codes(column, name, optional=True) for name, column in columns.items()]
    above = _places_above(_paths(levels, names), names)
    children: dict[_Place | None, list[_Place]] = {}
    for place, parent in above.items():
        children.setdefault(parent, []).append(place)
    repeated = _repeated(above, children, names)
    roots = [code for _, code in children[None]]
    below = _by_code(children, repeated)
    if len(roots) == 1 and roots[0] in below:
        return depth_first(roots[0], below, {})
    root = total_code(total, {code for _, code in above})
    return depth_first(root, {root: roots, **below}, {})


def _paths(levels: Sequence[list[str]], names: Sequence[str]) -> list[tuple[str, ...]]:
    """The codes of each row from the coarsest to its last one, every row once."""
    paths: dict[tuple[str, ...], None] = {}
    holes: list[str] = []
    for row, codes in enumerate(zip(*levels, strict=True), start=1):
        depth = max((i for i, code in enumerate(codes, start=1) if code), default=0)
        path = codes[:depth]
        if depth == 0:
            holes.append(f"row {row}: all")
        elif "" in path:
            holes.append(f"row {row}: {names[path.index('')]!r} above {codes[depth - 1]!r}")
        paths[path] = None
    if holes:
        raise HierarchyError(
            f"codes are missing above others in {len(holes):,} rows ({some(holes)}); only the "
            "finer columns of a row may be null or blank: fill the others in, or leave these "
            "rows out. Columns stand from the coarsest to the finest"
        )
    return list(paths)


def _places_above(
    paths: Sequence[tuple[str, ...]], names: Sequence[str]
) -> dict[_Place, _Place | None]:
    """Each place and the one above it, None for the coarsest level; in order of appearance."""
    found: dict[_Place, dict[_Place | None, None]] = {}
    for path in paths:
        parent: _Place | None = None
        for place in enumerate(path):
            found.setdefault(place, {})[parent] = None
            parent = place
    split = [
        f"{code!r} in {names[level]!r} below {' and '.join(repr(p[1]) for p in parents if p)}"
        for (level, code), parents in found.items()
        if len(parents) > 1
    ]
    if split:
        raise HierarchyError(
            f"codes with more than one parent ({len(split):,}): {some(split)}; in a tree every "
            "code belongs to one parent: make the codes unique, e.g. by putting that of the "
            "level above in front"
        )
    return {place: next(iter(parents)) for place, parents in found.items()}


def _repeated(
    above: Mapping[_Place, _Place | None],
    children: Mapping[_Place | None, list[_Place]],
    names: Sequence[str],
) -> set[_Place]:
    """Places that repeat the code above as its only child; any other reuse is refused."""
    first: dict[str, _Place] = {}
    repeated: set[_Place] = set()
    reused: dict[str, str] = {}
    for place in sorted(above, key=lambda place: place[0]):
        level, code = place
        parent = above[place]
        if code not in first:
            first[code] = place
        elif parent is not None and parent[1] == code and len(children[parent]) == 1:
            repeated.add(place)
        else:
            reused[code] = f"{code!r} in {names[first[code][0]]!r} and {names[level]!r}"
    if reused:
        raise HierarchyError(
            f"codes used on different levels ({len(reused):,}): {some(list(reused.values()))}; "
            "a code may be repeated on the next level only where nothing else stands below it: "
            "rename one of the two, e.g. by putting the name of the level in front"
        )
    return repeated


def _by_code(
    children: Mapping[_Place | None, list[_Place]], repeated: set[_Place]
) -> dict[str, list[str]]:
    """Code → codes below it, repetitions left out: what stands below one is below its code."""
    below: dict[str, list[str]] = {}
    for parent, places in children.items():
        codes = [place[1] for place in places if place not in repeated]
        if parent is not None and codes:
            below.setdefault(parent[1], []).extend(codes)
    return below

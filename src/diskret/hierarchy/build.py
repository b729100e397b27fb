"""Code trees from lists, pairs of code and parent, levels, prefixes and ``.hrc`` files."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from diskret.errors import HierarchyError
from diskret.hierarchy.codes import as_code, as_codes, as_list, some, total_code
from diskret.texts.lists import first_of
from diskret.texts.numbers import Count


class Built(NamedTuple):
    """What a tree consists of: its codes depth first, the place of each one's parent, labels."""

    codes: tuple[str, ...]
    parent: NDArray[np.int32]
    labels: Mapping[str, str] = {}


def flat(codes: Iterable[object], total: str = "Total") -> Built:
    """Put all codes directly below one total, sorted as plain text."""
    below = sorted(_given(codes))
    parent = np.zeros(len(below) + 1, dtype=np.int32)
    parent[0] = -1
    return Built((total_code(total, below), *below), parent)


def _given(codes: Iterable[object]) -> set[str]:
    if isinstance(codes, str):
        raise HierarchyError(f"codes must be a list of codes, not the one text {codes!r}")
    return set(as_codes(codes, "codes"))


def from_parents(frame: Any, total: str = "Total") -> Built:
    """Make a tree from the columns ``code``, ``parent`` and perhaps ``label``, one row a code."""
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
    """The columns of any frame or mapping as lists of equal length, at least one row."""
    if isinstance(frame, Mapping):
        found = {str(name): as_list(column) for name, column in frame.items()}
    else:
        import narwhals as nw

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


def depth_first(root: str, children: Mapping[str, list[str]], labels: Mapping[str, str]) -> Built:
    """The tree below `root`, siblings in the order given."""
    codes: list[str] = []
    parent: list[int] = []
    waiting = [(root, -1)]
    while waiting:
        code, above = waiting.pop()
        waiting += [(child, len(codes)) for child in reversed(children.get(code, []))]
        codes.append(code)
        parent.append(above)
    return Built(tuple(codes), np.array(parent, dtype=np.int32), labels)


def _check_names(names: Iterable[str]) -> None:
    given = list(names)
    missing = [repr(name) for name in ("code", "parent") if name not in given]
    unknown = [repr(name) for name in given if name not in ("code", "parent", "label")]
    if missing:
        raise HierarchyError(
            "the columns of a code tree are 'code', 'parent' and perhaps 'label'; missing: "
            f"{some(missing)}; there are {some([*map(repr, given)])}: rename them"
        )
    if unknown:
        raise HierarchyError(
            "the columns of a code tree are 'code', 'parent' and perhaps 'label'; not known: "
            f"{some(unknown)}; leave them out"
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


# ── from a frame with one column for each level ─────────────────────────────────────────


# A code where it stands: number of its column and text.
_Place = tuple[int, str]


def from_levels(frame: Any, total: str = "Total") -> Built:
    """Make a tree from columns that are its levels, the coarsest first."""
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
        number = Count(len(holes))
        raise HierarchyError(
            f"codes are missing above others in {number} {number:row|rows} ({some(holes)}); only "
            "the finer columns of a row may be null or blank: fill the others in, or leave these "
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


# ── from codes whose first characters are the codes above them ──────────────────────────


def from_prefix(codes: Iterable[object], widths: Sequence[int], total: str = "Total") -> Built:
    """Make a tree from codes and the number of characters that each level adds."""
    ends = _ends(widths)
    given = _given(codes)
    _check_lengths(given, ends)
    # as text a code stands right before all codes that begin with it, so sorted is depth first
    below = sorted({code[:end] for code in given for end in ends if end <= len(code)})
    ordered = (total_code(total, below), *below)
    position = {code: i for i, code in enumerate(ordered[1:], start=1)}
    shorter = dict(zip(ends, [0, *ends], strict=False))
    parent = [position.get(code[: shorter[len(code)]], 0) for code in below]
    return Built(ordered, np.array([-1, *parent], dtype=np.int32))


def _ends(widths: Sequence[int]) -> list[int]:
    """The possible lengths of a code, e.g. 2 and 3 for the widths 2 and 1."""
    numbers = [isinstance(w, (int, np.integer)) and not isinstance(w, bool) for w in widths]
    if not numbers or not all(numbers) or min(widths) < 1:
        raise HierarchyError(
            "widths must say how many characters each level adds, whole numbers ≥ 1, e.g. "
            f"(2, 1) for 01 → 011; not {widths!r}"
        )
    return list(accumulate(int(width) for width in widths))


def _check_lengths(codes: set[str], ends: Sequence[int]) -> None:
    wrong = sorted(code for code in codes if len(code) not in ends)
    if wrong:
        number = Count(len(wrong))
        raise HierarchyError(
            f"{number} of {len(codes):,} codes {number:ends|end} inside a level "
            f"({some([repr(code) for code in wrong])}): a code must have "
            f"{' or '.join(map(str, ends))} characters. Check the widths and whether leading "
            "zeros were lost or dots are in the codes"
        )


# ── from the files of τ-ARGUS: one code a line, its depth told by lead strings ──────────


def read_hrc(
    path: str | PathLike[str], total: str = "Total", lead: str = "@", encoding: str = "utf-8"
) -> Built:
    """Read a tree from a ``.hrc`` file; the total is never in the file."""
    if not lead:
        raise HierarchyError("the lead string must not be empty; τ-ARGUS files use '@'")
    if Path(path).suffix.lower() == ".csv":
        raise HierarchyError(
            f"{path}: a .csv file is no .hrc file; read it as a frame and use "
            "Hierarchy.from_parents (columns code, parent), from_levels or from_prefix"
        )
    root = total_code(total, ())
    codes, parent = [root], [-1]
    line_of: dict[str, int] = {}
    chain = [0]  # positions from the total down to the code above
    problems: list[str] = []
    for number, line in enumerate(file_text(Path(path), encoding).split("\n"), start=1):
        if not line.strip():
            continue
        depth, code = _split(line, lead)
        problem = _problem(code, depth, lead, root, line_of, deepest=len(chain) - 1)
        if problem:
            problems.append(f"line {number}: {problem}")
        depth = min(depth, len(chain) - 1)
        parent.append(chain[depth])
        chain[depth + 1 :] = [len(codes)]
        codes.append(code)
        line_of.setdefault(code, number)
    if problems:
        raise HierarchyError(f"{path}: {first_of(problems, 5, '; ')}")
    if not line_of:
        raise HierarchyError(f"{path}: the file holds no codes")
    return Built(tuple(codes), np.array(parent, dtype=np.int32))


def _problem(
    code: str, depth: int, lead: str, total: str, line_of: dict[str, int], deepest: int
) -> str | None:
    if not code or code.startswith(lead):
        return "no code after the lead strings"
    if code == total:
        return (
            f"the code {code!r} is also the code of the total; remove the line, "
            'or give the total another code, e.g. total="All"'
        )
    if code in line_of:
        return f"the code {code!r} stands in line {line_of[code]} already"
    if depth > deepest:
        return (
            f"the code {code!r} has {depth} lead strings where at most {deepest} fit; "
            "a code is at most one level below the one above it"
        )
    return None


def _split(line: str, lead: str) -> tuple[int, str]:
    depth = 0
    while line.startswith(lead, depth * len(lead)):
        depth += 1
    return depth, line[depth * len(lead) :].strip()


def file_text(path: Path, encoding: str) -> str:
    """The text of a file as written on any system; what is wrong is said as `HierarchyError`."""
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise HierarchyError(f"{path}: cannot be read ({error.strerror})") from error
    try:
        return raw.decode(encoding).removeprefix("\ufeff").rstrip("\x1a")  # end of file under DOS
    except LookupError as error:
        raise HierarchyError(f"the encoding {encoding!r} is not known") from error
    except UnicodeDecodeError as error:
        number = raw.count(b"\n", 0, error.start) + 1
        raise HierarchyError(
            f"{path}: line {number} is not {encoding} text (byte 0x{raw[error.start]:02x}); pass "
            "the encoding of the file, e.g. encoding='latin-1' or, from Windows, 'cp1252'"
        ) from error

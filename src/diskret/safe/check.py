"""Whether a file is safe and keeps what it has to: what every engine asks before it answers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from diskret.errors import ProofError
from diskret.safe.cells import Cells, cells, deviations
from diskret.safe.problem import SafeFile, SafeProblem
from diskret.texts.numbers import Count

_EXAMPLES = 3
_BLOCK = 1 << 20


def check(problem: SafeProblem, file: SafeFile, known: Cells | None = None) -> SafeFile:
    """Return a file that is as asked for, and refuse any other.

    >>> from diskret.safe import ControlTable
    >>> codes = np.array([[0], [1]], dtype=np.int32)
    >>> problem = SafeProblem(("age",), codes, np.array([2, 7]), (2,), (ControlTable((0,)),))
    >>> check(problem, SafeFile(codes, np.array([2, 7])))
    Traceback (most recent call last):
    diskret.errors.ProofError: the file that was made is not safe: 1 of 2 combinations occurs \
less than 3 times, e.g. age=0 2 times
    """
    _refuse(not _ascend(file.codes), "combinations are not distinct and in ascending order")
    within = all(
        bool(((one >= 0) & (one < size)).all())
        for one, size in zip(file.codes.T, problem.sizes, strict=True)
    )
    _refuse(not within, "there are codes that no variable has")
    few = np.flatnonzero(file.count < problem.minimum)
    number = Count(len(few))
    _refuse(
        len(few) > 0,
        f"{number} of {len(file.count)} combinations {number:occurs|occur} less than "
        f"{problem.minimum} times, e.g. {_some(problem, file, few)}",
    )
    opened = np.flatnonzero(unknown(problem, file))
    if len(opened):
        strange = opened if not problem.new else opened[_impossible(problem, file.codes[opened])]
        number = Count(len(strange))
        _refuse(
            len(strange) > 0,
            f"{number} {number:combination|combinations} must not come up, e.g. "
            f"{_some(problem, file, strange)}",
        )
    keeps = any(t.exact or any(cell.exact for cell in t.special) for t in problem.tables)
    if keeps or len(opened):
        known = cells(problem) if known is None else known
        found = deviations(problem, file, known)
        new = int((found.protected[found.original == 0] > 0).sum())
        _refuse(new > 0, f"{new} {Count(new):cell is|cells are} no longer empty")
        moved = (found.protected != found.original)[: len(known)] & known.exact
        wrong = np.flatnonzero(moved)
        _refuse(
            len(wrong) > 0,
            f"{len(wrong)} cells were to be kept exactly, e.g. "
            + "; ".join(
                f"{known.named(cell)} became {found.protected[cell]}"
                for cell in wrong[:_EXAMPLES].tolist()
            ),
        )
    return file


def _refuse(wrong: bool, why: str) -> None:
    if wrong:
        raise ProofError(f"the file that was made is not safe: {why}")


def _some(problem: SafeProblem, file: SafeFile, rows: NDArray[np.int64]) -> str:
    """A few combinations, in words."""
    named: list[str] = []
    for row in rows[:_EXAMPLES].tolist():
        codes = zip(problem.names, file.codes[row].tolist(), strict=True)
        at = " ".join(f"{name}={code}" for name, code in codes)
        named.append(f"{at} {file.count[row]} times")
    return "; ".join(named)


def unknown(problem: SafeProblem, file: SafeFile) -> NDArray[np.bool_]:
    """Which combinations of a file the problem does not have, ``(K,)``; both ascend.

    >>> codes = np.array([[0, 1], [2, 0]], dtype=np.int8)
    >>> problem = SafeProblem(("age", "sex"), codes, np.array([3, 3]), (3, 2), ())
    >>> unknown(problem, SafeFile(np.array([[1, 1], [2, 0]], dtype=np.int8), np.array([3, 3])))
    array([ True, False])
    """
    found = np.ones(len(file.codes), dtype=np.bool_)
    low = 0
    for rows in _blocks(len(problem.codes)):
        own = _sortable(problem.codes[rows])
        high = _first_after(file.codes, low, own[-1])
        for inner in _blocks(high - low, low):
            text = _sortable(file.codes[inner])
            near = np.minimum(np.searchsorted(own, text), len(own) - 1)
            found[inner] = own[near] != text
        low = high
    return found


def _first_after(codes: NDArray[Any], low: int, last: bytes) -> int:
    """The first combination from `low` on that comes after a text of bytes."""
    high = len(codes)
    while low < high:
        middle = (low + high) // 2
        if _sortable(codes[middle : middle + 1])[0] <= last:
            low = middle + 1
        else:
            high = middle
    return low


def _ascend(codes: NDArray[Any]) -> bool:
    """Whether combinations are distinct and in ascending order."""
    for rows in _blocks(len(codes)):
        text = _sortable(codes[rows.start : rows.stop + 1])
        if not np.all(text[:-1] < text[1:]):
            return False
    return True


def _blocks(number: int, first: int = 0) -> Iterator[slice]:
    """Rows a block at a time: in this way they need little memory."""
    for low in range(first, first + number, _BLOCK):
        yield slice(low, min(low + _BLOCK, first + number))


def _sortable(codes: NDArray[Any]) -> NDArray[np.bytes_]:
    """Combinations as texts of bytes that sort as their codes do; codes below 0 come last."""
    bytewise = np.ascontiguousarray(codes, dtype=">i4")
    return bytewise.view(f"S{4 * max(codes.shape[1], 1)}").ravel()


def _impossible(problem: SafeProblem, codes: NDArray[Any]) -> NDArray[np.bool_]:
    """Which combinations have two values that never occur together."""
    found = np.zeros(len(codes), dtype=np.bool_)
    for v in range(len(problem.names)):
        for w in range(v + 1):
            together = np.zeros((problem.sizes[v], problem.sizes[w]), dtype=np.bool_)
            together[problem.codes[:, v], problem.codes[:, w]] = True
            found |= ~together[codes[:, v], codes[:, w]]
    return found

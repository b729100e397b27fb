"""Code trees from codes whose first characters are the codes above them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate

import numpy as np

from diskret.errors import HierarchyError
from diskret.hierarchy.codes import as_codes, some, total_code
from diskret.hierarchy.tree import Hierarchy


def from_prefix(codes: Iterable[object], widths: Sequence[int], total: str = "Total") -> Hierarchy:
    """Make a tree from codes and the number of characters that each level adds.

    See [`Hierarchy.from_prefix`][diskret.Hierarchy.from_prefix].
    """
    if isinstance(codes, str):
        raise HierarchyError(f"codes must be a list of codes, not the one text {codes!r}")
    ends = _ends(widths)
    given = set(as_codes(codes, "codes"))
    _check_lengths(given, ends)
    # as text a code stands right before all codes that begin with it, so sorted is depth first
    below = sorted({code[:end] for code in given for end in ends if end <= len(code)})
    ordered = (total_code(total, below), *below)
    position = {code: i for i, code in enumerate(ordered[1:], start=1)}
    shorter = dict(zip(ends, [0, *ends], strict=False))
    parent = [position.get(code[: shorter[len(code)]], 0) for code in below]
    return Hierarchy(ordered, np.array([-1, *parent], dtype=np.int32))


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
        raise HierarchyError(
            f"{len(wrong):,} of {len(codes):,} codes end inside a level "
            f"({some([repr(code) for code in wrong])}): a code must have "
            f"{' or '.join(map(str, ends))} characters. Check the widths and whether leading "
            "zeros were lost or dots are in the codes"
        )

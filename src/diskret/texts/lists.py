"""Lists in messages: the first of many things."""

from __future__ import annotations

from collections.abc import Sequence


def first_of(things: Sequence[str], shown: int, sign: str = ", ") -> str:
    """The first of some things, and how many more there are.

    >>> first_of(["a.csv", "b.csv", "c.csv", "d.csv"], 2)
    'a.csv, b.csv and 2 more'
    """
    listed = sign.join(things[:shown])
    return f"{listed} and {len(things) - shown:,} more" if len(things) > shown else listed

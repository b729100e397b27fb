"""Tables as a notebook shows them: what is public in colours, of originals no value."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from diskret.tables.dimension import Dimension
from diskret.texts import scaled
from diskret.texts.card import NONE, OPEN, SHUT, Grid, card, cards

if TYPE_CHECKING:
    from diskret.tables.published import Published
    from diskret.tables.table import Table

_ROWS, _COLUMNS = 8, 6


def card_of_table(table: Table) -> str:
    """An original table. Confidential, so nothing but what its `repr` says, too."""
    facts = {
        "dimensions": by(table.dimensions),
        "measures": ", ".join(one.name for one in table.measures) or cards()["count"],
        "cells": int(np.prod(table.shape)),
        **({"where": str(table.where)} if table.where else {}),
        **({"period": table.vintage} if table.vintage else {}),
    }
    return card("Table", facts, office=True)


def card_of_published(
    published: Published, kind: str = "Published", said: Sequence[str] = ()
) -> str:
    """A public table with its upper left corner; suppressed cells show nothing of their own."""
    suppressed, empty = int(published.suppressed.sum()), int(published.empty.sum())
    facts = {
        "dimensions": by(published.dimensions),
        "measures": published.measure,
        "cells": published.value.size,
        **({"where": str(published.where)} if published.where else {}),
        **({"period": published.vintage} if published.vintage else {}),
        **({"changed": published.changed.replace("_", " ")} if published.changed else {}),
    }
    parts = (
        ("shown", published.value.size - suppressed - empty, OPEN),
        ("suppressed", suppressed, SHUT),
        ("empty", empty, NONE),
    )
    title = f"{kind} {published.name}"
    return card(title, facts, office=False, parts=parts, grid=_corner(published), said=said)


def by(dimensions: Sequence[Dimension]) -> str:
    """Names of dimensions and how many codes they have."""
    return ", ".join(cards().said("codes", name=d.name, count=len(d)) for d in dimensions)


def _corner(published: Published) -> Grid:
    """The first codes of the first and the last dimension, all others at their total."""
    down, *others = published.dimensions
    rows, columns = range(min(len(down), _ROWS)), range(1)
    if others:
        columns = range(min(len(others[-1]), _COLUMNS))

    def cell(row: int, column: int) -> tuple[str, str]:
        at = (row, *[0] * (len(others) - 1), *([column] if others else []))
        if published.suppressed[at]:
            return "", SHUT
        if published.empty[at]:
            return "–", NONE
        return scaled(int(published.value[at]), published.decimals, "en"), "none"

    codes = [others[-1].hierarchy.codes[i] for i in columns] if others else [published.measure]
    return Grid(
        ("", *codes),
        [(down.hierarchy.codes[i], [cell(i, j) for j in columns]) for i in rows],
    )

"""What hangs together as a picture: sums, measures and tables of a cluster, with lines between."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from diskret.drawing import shortened
from diskret.plan.contained import about_of, equations_of, open_groups
from diskret.plan.places import few
from diskret.plan.values import Answers, Asked, Plan, PlannedTable
from diskret.texts import Words, number

#: Widths of ties, measures and tables, and the gaps between them.
_WIDTHS, _GAP, _BETWEEN = (230, 230, 380), 60, 8
_LINE, _PADDING = 13, 8
_LONGEST = (38, 38, 62)
#: So many tables are drawn of a cluster.
_MOST = 60
#: So many indicators and tables are named in a box.
_NAMED = 8

Measure = tuple[str, str]
"""Field and indicator."""


@dataclass(frozen=True)
class Box:
    """A box with lines of text; `full` is what it says where that is too long."""

    x: float
    y: float
    width: float
    height: float
    lines: tuple[str, ...]
    full: str

    @property
    def left(self) -> tuple[float, float]:
        """The middle of its left edge."""
        return self.x, self.y + self.height / 2

    @property
    def right(self) -> tuple[float, float]:
        """The middle of its right edge."""
        return self.x + self.width, self.y + self.height / 2


def pictures(plan: Plan, words: Words) -> list[Mapping[str, Any]]:
    """A picture of each cluster."""
    return [
        _picture(plan, cluster, words.said("cluster", number=place), words)
        for place, cluster in enumerate(plan.clusters, start=1)
    ]


def ties_of(
    asked: Asked, answers: Answers, measures: Sequence[Measure], words: Words
) -> dict[str, list[Measure]]:
    """Why measures of a cluster hang together → those that do."""
    found: dict[str, list[Measure]] = {}
    for one in equations_of(asked, answers):
        own = [measure for measure in measures if measure[1] in {one.total, *one.parts}]
        if own:
            found[str(one)] = own
    for group, names in open_groups(asked, answers).items():
        own = [measure for measure in measures if measure[1] in names]
        if own:
            found[words.said("open sum", group=group)] = own
    abouts = {one: about_of(asked, answers, *one) for one in measures}
    for measure in dict.fromkeys(about.measure for about in abouts.values()):
        own = [one for one, about in abouts.items() if about.measure == measure]
        if len(own) > 1:
            found[words.said("common records", measure=measure)] = own
    return found


def _picture(
    plan: Plan, cluster: Sequence[PlannedTable], title: str, words: Words
) -> Mapping[str, Any]:
    tables = cluster[:_MOST]
    measures = list(dict.fromkeys((t.field, name) for t in tables for name in t.indicators))
    ties = ties_of(plan.asked, plan.answers, measures, words)
    said = {
        (one.field, one.name): (
            words.said(
                "by",
                indicators=few(one.indicators, _NAMED),
                axes=", ".join(part.axis for part in one.by),
            ),
            words.said("holds", tables=few(one.descriptions, _NAMED)),
        )
        for one in tables
    }
    columns = [
        [(name,) for name in ties],
        [(indicator, field) if field else (indicator,) for field, indicator in measures],
        list(said.values()),
    ]
    heights = [sum(map(_height, column)) + _BETWEEN * (len(column) - 1) for column in columns]
    height = max(heights)
    x, boxes = 0.0, list[list[Box]]()
    for at, column in enumerate(columns):
        if not column:
            boxes.append([])
            continue
        boxes.append(_stacked(column, x, (height - heights[at]) / 2, at))
        x += _WIDTHS[at] + _GAP
    drawn_ties, drawn_measures, drawn_tables = boxes
    place = {measure: i for i, measure in enumerate(measures)}
    lines = [
        (*drawn_ties[i].right, *drawn_measures[place[measure]].left)
        for i, own in enumerate(ties.values())
        for measure in own
    ]
    lines += [
        (*drawn_measures[place[one.field, name]].right, *drawn_tables[i].left)
        for i, one in enumerate(tables)
        for name in one.indicators
    ]
    left = len(cluster) - len(tables)
    return {
        "title": title,
        "width": x - _GAP,
        "height": height + 2,
        "lines": lines,
        "ties": drawn_ties,
        "measures": drawn_measures,
        "tables": drawn_tables,
        "alt": "; ".join([*ties, *(f"{first}, {second}" for first, second in said.values())]),
        "caption": words.said("left", count=number(left, words.language)) if left else "",
    }


def _stacked(column: Sequence[Sequence[str]], x: float, y: float, at: int) -> list[Box]:
    """Boxes one below the other."""
    found: list[Box] = []
    for texts in column:
        height = _height(texts)
        shown = tuple(shortened(text, _LONGEST[at]) for text in texts)
        found.append(Box(x + 1, y + 1, _WIDTHS[at] - 2, height, shown, " · ".join(texts)))
        y += height + _BETWEEN
    return found


def _height(texts: Sequence[str]) -> int:
    return _LINE * len(texts) + _PADDING

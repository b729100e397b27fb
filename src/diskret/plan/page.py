"""The plan as a page for the office: what is open, what hangs together and why, what lies where."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from diskret import __version__
from diskret.plan.picture import pictures
from diskret.plan.places import places
from diskret.plan.values import Plan
from diskret.publish.pages.page import DataTable, page_text, tile
from diskret.texts import words_in

PAGE = "plan.html"
#: A page of more rows is no help to anybody.
_MOST = 2_000


def plan_page(plan: Plan, language: str = "en") -> str:
    """The page as HTML that needs nothing but itself.

    It holds no value and no parameter of a rule, but names columns of the records and codes in
    them, so it stays in the office.
    """
    words = words_in(language, "report", "plan")
    return page_text(
        "plan",
        words,
        {"software": f"diskret {__version__}"},
        style=("style.css", "office.css", "plan.css"),
        title=words.said("title", file=plan.asked.file),
        kind=words["confidential"],
        tiles=[
            tile(len(plan.asked.tables), words["tables asked"], words),
            tile(len(plan.tables), words["tables planned"], words),
            tile(len(plan.clusters), words["clusters"], words),
            tile(len(plan.questions), words["questions"], words),
        ],
        questions=list(_questions(plan, language)),
        pictures=pictures(plan, words),
        where=DataTable(
            (words["table"], words["measure"], words["by what"], words["lies in"]),
            list(_where(plan))[:_MOST],
            text=4,
        ),
        notes=[
            one.said.in_language(language) + (f" ({where})" if where else "")
            for one in plan.notes
            for where in [places(plan.asked, one.lines, words)]
        ],
    )


def _questions(plan: Plan, language: str) -> Iterator[dict[str, Any]]:
    words = words_in(language, "plan")
    for number, one in enumerate(plan.questions, start=1):
        where = places(plan.asked, one.lines, words)
        yield {
            "head": words.said("question", number=number) + (f" ({where})" if where else ""),
            "text": one.said.in_language(language),
            "answer": one.answer.splitlines(),
        }


def _where(plan: Plan) -> Iterator[tuple[str, str, str, str]]:
    """Each table that is asked for, and the tables of the programme that hold it."""
    held: dict[str, list[str]] = {}
    for table in plan.tables:
        for indicator, name in zip(table.indicators, table.names, strict=True):
            for description in table.descriptions:
                held.setdefault(f"{indicator}\0{description}", []).append(name)
    for one in plan.asked.tables:
        names = held.get(f"{one.indicator}\0{one.name}", [])
        by = ", ".join(variable.name for variable in one.by)
        yield one.name, one.indicator, by, ", ".join(names)

"""Output checking at the workbench: results of researchers that wait, shown and decided."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

from diskret.outputs.desk import Decision, Desk
from diskret.outputs.desk_report import event_in_words
from diskret.texts import words_in

#: What is shown of a file of a result, in characters.
_SHOWN = 20_000


def desk_told(place: Path, language: str) -> list[dict[str, Any]]:
    """The results of all projects of a ledger, and where they stand."""
    desk, words = Desk(str(place)), words_in(language, "outputs")
    return [
        {
            "project": project,
            "result": item.name,
            "state": words[f"state.{item.state}"],
            "verdict": words[f"short verdict.{item.submitted.verdict}"],
        }
        for project in desk.projects()
        for item in desk.items(project)
    ]


def result_told(place: Path, project: str, result: str, language: str) -> dict[str, Any]:
    """One result as it is judged today, with its files and its history."""
    desk = Desk(str(place))
    files = desk.result(project, result).files
    return {
        "summary": desk.judged(project, result).summary(language),
        "files": [
            {
                "name": name,
                "text": content.decode("utf-8", "replace")[:_SHOWN]
                if name.endswith((".csv", ".txt"))
                else None,
            }
            for name, content in files.items()
        ],
        "history": [event_in_words(one, language) for one in desk.history(project, result)],
    }


def act(place: Path, project: str, result: str, what: str, why: str, who: str | None) -> None:
    """Accept, refuse, return or comment on a result, as ``diskret desk`` does."""
    desk = Desk(str(place))
    if what == "comment":
        desk.comment(project, result, why, who=who)
    else:
        desk.decide(project, result, cast(Decision, what), who=who, why=why)

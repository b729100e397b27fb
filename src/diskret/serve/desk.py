"""The checker's desk over the wire: what waits, why, and what is decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from diskret.errors import InputError
from diskret.io.from_json import Form, check_form
from diskret.outputs.desk_report import event_in_words

if TYPE_CHECKING:
    from diskret.outputs.desk import Desk

_FORM: Form = dict.fromkeys(("do", "project", "result", "decision", "why", "text"), str)


def desk_answered(
    desk: Desk, who: str, asked: Any, language: Literal["en", "de"] = "en"
) -> dict[str, Any]:
    """The answer to a request of a checker. Confidential: reasons tell what is unsafe.

    Parameters
    ----------
    desk
        Where results wait.
    who
        Who asks; never taken from the request.
    asked
        `do` is ``"list"``; ``"show"`` (with `project` and `result`); ``"comment"`` (and `text`); or
        ``"decide"`` (and `decision`: ``"accept"``, ``"refuse"`` or ``"return"``, and `why`).
    language
        Of what is said.

    Raises
    ------
    InputError
        The request is none, or names nothing that is there.
    ProofError
        What is to be accepted does not pass.
    """
    if not isinstance(asked, Mapping):
        raise InputError("a request at the desk is {'do': 'list'}, or 'show', 'comment', 'decide'")
    check_form(dict(asked), _FORM, "the request")
    project, result = asked.get("project", ""), asked.get("result", "")
    match asked.get("do"):
        case "list":
            return {"projects": {name: _items(desk, name) for name in desk.projects()}}
        case "show":
            return _shown(desk, project, result, language)
        case "comment":
            desk.comment(project, result, asked.get("text", ""), who=who)
        case "decide":
            decision: Any = asked.get("decision", "")
            desk.decide(project, result, decision, who=who, why=asked.get("why", ""))
        case other:
            raise InputError(f"do= is 'list', 'show', 'comment' or 'decide', not {other!r}")
    return {"said": event_in_words(desk.history(project, result)[-1], language)}


def _items(desk: Desk, project: str) -> list[dict[str, str]]:
    return [
        {"result": one.name, "state": one.state, "verdict": one.submitted.verdict}
        for one in desk.items(project)
    ]


def _shown(desk: Desk, project: str, result: str, language: str) -> dict[str, Any]:
    files = desk.result(project, result).files
    return {
        "summary": desk.judged(project, result).summary(language),
        "files": {
            name: content.decode("utf-8", "replace")
            for name, content in files.items()
            if name.endswith((".csv", ".txt"))
        },
        "history": [event_in_words(one, language) for one in desk.history(project, result)],
    }

"""The gate in the wall: one request in, one answer out, both as JSON that says nothing else."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from diskret.errors import DiskretError, InputError, ProofError
from diskret.io.from_json import Form, check_form, parse_json
from diskret.remote.compare import Compared
from diskret.remote.figures import Figures
from diskret.remote.office import Comparison, Office
from diskret.remote.scripts import Script, ask_script, compare_script, submit_script

#: Requests are no longer than this, in characters.
LONGEST = 200_000
_FORM: Form = {
    **dict.fromkeys(
        ("do", "query", "script", "written", "project", "data", "result", "request"), str
    ),
    "seconds": int,
}


def answered(office: Office, who: str, request: str) -> str:
    """The answer to a request of a researcher.

    Parameters
    ----------
    office
        Remote access, behind the wall.
    who
        Who asks, as whoever opens the gate knows it; never taken from the request.
    request
        JSON: `do` is ``"describe"`` (with `project`), ``"run"``, ``"compare"`` or ``"submit"``;
        `query` its text, or `script`, `written` (in which language), `project`, `data` and
        `seconds`; `result` and `request` of
        what is submitted.

    Returns
    -------
    str
        JSON. Of an error that is none of the request only the class is told.
    """
    try:
        return json.dumps(_done(office, who, request), ensure_ascii=False)
    except DiskretError as error:
        refused = isinstance(error, ProofError)
        return json.dumps({"error": str(error), "refused": refused}, ensure_ascii=False)
    except Exception as error:  # its text may hold a value of the original
        return json.dumps({"error": type(error).__name__, "refused": False})


def _done(office: Office, who: str, text: str) -> dict[str, Any]:
    if len(text) > LONGEST:
        raise InputError(f"a request has at most {LONGEST:,} characters")
    said = parse_json(text, "the request")
    check_form(said, _FORM, "the request")
    query = said.get("query", "")
    if said.get("do") == "describe":
        return office.describe(said.get("project", ""), who=who)
    if "script" in said:
        return _of_script(office, who, said)
    match said.get("do"):
        case "run":
            shown = office.ask(query, who=who)
            return _shown(shown.version, shown.figures)
        case "compare":
            return _compared(office.compare(query, who=who))
        case "submit":
            result, why = said.get("result", ""), said.get("request", "")
            return {"state": office.submit(query, result, who=who, request=why)}
        case other:
            raise _unknown(other)


def _of_script(office: Office, who: str, said: Mapping[str, Any]) -> dict[str, Any]:
    names = {key: said.get(key, "") for key in ("project", "data")}
    more: dict[str, Any] = {key: said[key] for key in ("seconds", "written") if key in said}
    script = Script(**names, code=said["script"], **more)
    match said.get("do"):
        case "run":
            shown = ask_script(office, script, who=who)
            return {**_shown(shown.version, shown.figures), "said": shown.said}
        case "compare":
            return _compared(compare_script(office, script, who=who))
        case "submit":
            result, why = said.get("result", ""), said.get("request", "")
            return {"state": submit_script(office, script, result, who=who, request=why)}
        case other:
            raise _unknown(other)


def _unknown(do: object) -> InputError:
    return InputError(f"do= is 'describe', 'run', 'compare' or 'submit', not {do!r}")


def _shown(version: str, figures: Mapping[str, Figures]) -> dict[str, Any]:
    return {"version": version, "figures": {name: _figures(one) for name, one in figures.items()}}


def _compared(told: Comparison) -> dict[str, Any]:
    results = {name: [_told(one) for one in own] for name, own in told.results.items()}
    return {"results": results, "new": told.new, "left": told.left}


def _figures(figures: Figures) -> list[dict[str, Any]]:
    return [
        {"figure": name, "value": _number(value), "error": _number(figures.error.get(name))}
        for name, value in figures.value.items()
    ]


def _number(value: float | None) -> float | None:
    return None if value is None or value != value else float(value)


def _told(one: Compared) -> dict[str, Any]:
    return {"figure": one.figure, "deviation": one.deviation, "significance": one.significance}

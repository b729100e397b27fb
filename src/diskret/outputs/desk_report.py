"""What was checked of a project and why, as files for the office: a page and a table."""

from __future__ import annotations

import csv
import io
import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from os import PathLike
from pathlib import Path

from diskret.errors import InputError
from diskret.outputs.checked import Checked
from diskret.outputs.events import Event, Item
from diskret.publish.digests import CONTENT
from diskret.texts import words_in
from diskret.texts.markup import asset, template

_PAGE, _TABLE = "report.html", "report.csv"
_FORMULAS = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True, eq=False)
class Reported:
    """A result as a report tells of it. Confidential.

    Parameters
    ----------
    item
        What happened to it.
    checked
        What the checks say.
    today
        Whether that is as of today, beside all that was accepted; else as it was submitted.
    files
        Name → content of the files that leave.
    """

    item: Item
    checked: Checked
    today: bool
    files: Mapping[str, bytes]


def write_report(
    folder: str | PathLike[str],
    project: str,
    results: Sequence[Reported],
    history: Sequence[Event],
    when: str,
    language: str,
) -> Path:
    """Write ``report.html`` and ``report.csv``, both or none; readable by their owner only.

    Raises
    ------
    InputError
        The folder is part of a release, or holds anything but an earlier report.
    """
    target = Path(os.path.realpath(folder))
    _check_target(target)
    files = {
        _PAGE: _page(project, results, history, when, language),
        _TABLE: _table(results, language),
    }
    room = target.with_name(f".{target.name}.{secrets.token_hex(8)}.stage")
    try:
        room.mkdir(mode=0o700)
        for name, text in files.items():
            (room / name).write_bytes(text.encode())
            (room / name).chmod(0o600)
        if target.exists():
            for name in files:
                (room / name).replace(target / name)
        else:
            room.rename(target)
    except OSError as error:
        raise InputError(f"{target}: nothing can be written there ({error.strerror})") from None
    finally:
        shutil.rmtree(room, ignore_errors=True)
    return target


def event_in_words(event: Event, language: str) -> str:
    """A line for something that happened."""
    words = words_in(language, "outputs")
    said = words.said(
        f"event.{event.happened}", result=event.result, project=event.project, who=event.who
    )
    end = f": {event.why}" if event.why else ""
    return f"{event.when[:16].replace('T', ' ')}  {said}{end}"


def _check_target(target: Path) -> None:
    inside = [one for one in (target, *target.parents) if one.name in ("public", "internal")]
    if any((one.parent / "internal" / CONTENT).exists() for one in inside) or (
        (target / "internal" / CONTENT).exists()
    ):
        raise InputError(
            f"{target}: this is part of a release; a report names limits and reasons, so write it "
            "into a folder of the office's own"
        )
    if target.exists() and (
        not target.is_dir() or {one.name for one in target.iterdir()} - {_PAGE, _TABLE}
    ):
        raise InputError(f"{target}: holds something else than a report; choose another folder")


def _page(
    project: str,
    results: Sequence[Reported],
    history: Sequence[Event],
    when: str,
    language: str,
) -> str:
    words = words_in(language, "outputs")
    names = {one.checked.profile.name for one in results}
    said = words.said(
        "report.said", profile=", ".join(sorted(names)) or "–", when=when[:16].replace("T", " ")
    )
    return template("diskret.outputs", "desk_report.html").render(
        language=language,
        words=words,
        style=asset("diskret.publish.pages", "style.css"),
        title=words.said("report.title", project=project),
        said=said,
        results=[
            {
                "name": one.item.name,
                "kind": words[f"kind.{one.checked.kind}"],
                "state": words[f"state.{one.item.state}"],
                "verdict": words[f"short verdict.{one.checked.verdict}"],
                "judged": words["report.today" if one.today else "report.then"],
                "checks": ", ".join(words[f"short.{check}"] for check in one.checked.made),
                "reasons": one.checked.reasons(language),
                "files": [(name, sha256(own).hexdigest()) for name, own in one.files.items()],
                "events": [event_in_words(event, language) for event in one.item.events],
            }
            for one in results
        ],
        events=[event_in_words(event, language) for event in history if not event.result],
    )


def _table(results: Sequence[Reported], language: str) -> str:
    """A row for each reason, and one for each result without any."""
    words = words_in(language, "outputs")
    text = io.StringIO()
    rows = csv.writer(text, lineterminator="\n")
    columns = ("result", "kind", "state", "verdict", "check", "weight", "reason", "who", "why")
    rows.writerow([words[f"report.{name}"] for name in columns])
    for one in results:
        decided = [event for event in one.item.events if event.happened in _DECISIONS]
        last = decided[-1] if decided else None
        begin = [
            one.item.name,
            words[f"kind.{one.checked.kind}"],
            words[f"state.{one.item.state}"],
            words[f"short verdict.{one.checked.verdict}"],
        ]
        end = ["", ""] if last is None else [last.who, last.why]
        reasons = [
            [words[f"short.{finding.check}"], words[f"short verdict.{finding.verdict}"], reason]
            for finding, reason in zip(
                one.checked.findings, one.checked.reasons(language), strict=True
            )
        ]
        for reason in reasons or [["", "", ""]]:
            rows.writerow([_plain(cell) for cell in (*begin, *reason, *end)])
    return text.getvalue()


_DECISIONS = ("accepted", "refused", "returned")


def _plain(text: str) -> str:
    """Text that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(_FORMULAS) else text

"""What the runs of a session have hidden, and under which rules: what safety costs."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import Any

from diskret.jobs.values import Job
from diskret.rules.sensitivity import parts
from diskret.workbench.command import Run
from diskret.workbench.releases import loss
from diskret.workbench.tables import rule_key

#: Tables of runs that are compared, the last ones.
_COMPARED = 20


class Tries:
    """The runs that ended well."""

    def __init__(self) -> None:
        self._last: Run | None = None
        self._found: list[dict[str, Any]] = []

    def after(self, run: Run, job: Job | None, folder: Path) -> list[dict[str, Any]]:
        """All of them after a run, the last one first.

        job: what was run; None: no tables. folder: what it wrote.
        """
        if job is not None and run is not self._last:
            self._last = run
            rules = {one.name: ", ".join(map(_said, parts(one.rule))) for one in job.tables}
            found = [loss(folder, name) for name in rules]
            new = [{**one, "rules": rules[one["name"]]} for one in found if one is not None]
            self._found = [*new, *self._found][:_COMPARED]
        return self._found


def _said(rule: Any) -> str:
    """A rule in short: its name in a job, and the numbers that were given."""
    given = {one.name: getattr(rule, one.name) for one in fields(rule)}
    usual = {one.name: one.default for one in fields(rule)}
    told = [
        f"{name} {value:g}"
        for name, value in given.items()
        if type(value) in (int, float) and value != usual[name]
    ]
    return f"{rule_key(rule)} ({', '.join(told)})" if told else rule_key(rule)

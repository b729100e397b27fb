"""Records that are to leave themselves: their risk, and what a run made of them. Confidential."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from itertools import takewhile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from diskret.anonymize.data import Microdata
from diskret.io import DataFile, to_arrow
from diskret.io.columns import column
from diskret.jobs.microdata import MicrodataJob, carry_out
from diskret.risk.summary import GROUPS

#: The file that a run writes.
RELEASED = "microdata.csv"
#: Codes of a variable that are compared; more are no picture.
_SHOWN = 40
_SUPPRESSION = "local_suppression"


class Risks:
    """The risk of records, estimated once for each choice of roles."""

    def __init__(self) -> None:
        self._known: tuple[str, Any] | None = None

    def told(self, job: MicrodataJob, k: int) -> dict[str, Any]:
        """How many records agree with fewer than k in the keys, and how likely recognition is.

        After the steps before the first suppression, such as ages that are rounded.
        """
        state = job.records.file.stat()
        steps = tuple(takewhile(lambda step: step.verb != _SUPPRESSION, job.steps))
        about = repr((job.records, job.roles, steps, state.st_size, state.st_mtime_ns))
        if self._known is None or self._known[0] != about:
            md = carry_out(Microdata(job.records, **job.roles), steps)
            self._known = about, md.risk()
        found = self._known[1]
        frequency = found.sample_frequency
        return {
            "records": len(frequency),
            "below": int((frequency < k).sum()),
            "uniques": int((frequency < 2).sum()),
            "expected": float(found.risk.sum()),
            "largest": float(found.risk.max()),
            "groups": [
                {
                    "from": low,
                    "to": high,
                    "records": int(
                        ((frequency >= low) & (frequency < (high or len(frequency)) + 1)).sum()
                    ),
                }
                for low, high in GROUPS
            ],
        }


def compared(job: MicrodataJob, folder: Path) -> list[dict[str, Any]] | None:
    """Each key before and after a run: records with each code, and how many values are missing.

    None where the run wrote no file of records.
    """
    path = folder / "public" / RELEASED
    if not path.is_file():
        return None
    before, after = to_arrow(job.records)[0], to_arrow(DataFile(path))[0]
    keys = [name for name in job.roles.get("keys", ()) if name in after.column_names]
    return [_compared(name, before, after) for name in keys]


def _compared(name: str, before: pa.Table, after: pa.Table) -> dict[str, Any]:
    old, new = counted(before, name), counted(after, name)
    codes = sorted({*old, *new} - {None}, key=lambda code: (-old.get(code, 0), str(code)))
    return {
        "name": name,
        "codes": [
            {"code": code, "before": old.get(code, 0), "after": new.get(code, 0)}
            for code in codes[:_SHOWN]
        ],
        "left_out": max(len(codes) - _SHOWN, 0),
        "missing": {"before": old.get(None, 0), "after": new.get(None, 0)},
    }


def counted(records: pa.Table, name: str) -> Mapping[str | None, int]:
    """Code of a column → records; an empty text is missing, as it is in a file of text."""
    found: Counter[str | None] = Counter()
    for one in pc.value_counts(column(records, name).cast(pa.string())).to_pylist():
        found[one["values"] or None] += one["counts"]
    return found

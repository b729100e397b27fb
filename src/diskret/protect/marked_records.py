"""What ``request=`` and ``waiver=`` of a tabulation mean: marks on records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from diskret.engines import Mark
from diskret.errors import InputError
from diskret.hierarchy.codes import as_code

Marking = str | Mapping[str, Any]


def record_marks(request: Marking | None, waiver: Marking | None) -> dict[str, Mark]:
    """The marks by the names that rules know them by.

    request: column of yes and no, or ``{column: code}``, or ``{column: [code, code]}`` for the
        first and the second level: the unit asked for protection.
    waiver: column of yes and no, or ``{column: code}`` or several codes: the unit consents.

    >>> list(record_marks({"asked": ["1", "2"]}, "consent"))
    ['request', 'request 2', 'no_waiver']
    """
    found: dict[str, Mark] = {}
    if request is not None:
        column, codes = _column("request", request)
        if codes is not None and len(codes) > 2:
            raise InputError(
                f"request=: {len(codes)} codes are given for column {column!r}; it takes one, or "
                "two for the first and the second level"
            )
        found["request"] = Mark(column, codes and codes[:1])
        if codes and len(codes) == 2:
            found["request 2"] = Mark(column, codes[1:])
    if waiver is not None:
        found["no_waiver"] = Mark(*_column("waiver", waiver), listed=False)
    return found


def _column(what: str, asked: Marking) -> tuple[str, tuple[str, ...] | None]:
    if isinstance(asked, str):
        return asked, None
    if not isinstance(asked, Mapping) or len(asked) != 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InputError(f"{what}= must be a column, or {{column: code or codes}}, not {asked!r}")
    ((column, given),) = asked.items()
    listed: list[Any] = list(given) if isinstance(given, (list, tuple)) else [given]
    codes = [as_code(code) for code in listed]
    if not codes or not all(codes) or len(set(codes)) < len(codes):
        raise InputError(
            f"{what}=: {given!r} are no codes for column {column!r}; give text or whole numbers, "
            "none twice"
        )
    return str(column), tuple(code for code in codes if code)

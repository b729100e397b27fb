"""Results that hide cells, among others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, cast

from diskret.publish.contract import Protected

if TYPE_CHECKING:
    from diskret.protect.result import Result


def hiding(results: Iterable[Protected]) -> list[Result]:
    """Those with a proof of what is hidden: what `suppress` returns."""
    return [cast("Result", result) for result in results if result.proof is not None]

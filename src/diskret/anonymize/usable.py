"""Columns that cannot be read do not stop a file if nobody needs them."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from typing import Any

from narwhals import dependencies as known

from diskret.io.frames import inconvertible
from diskret.io.names import some


def usable(frame: Any, roles: Iterable[str | Iterable[str | None] | None]) -> Any:
    """The frame without columns that cannot be read and have no role, with a warning.

    A column with a role, or of another kind of frame, is left to whoever reads it and says
    what is wrong.
    """
    if not known.is_pandas_dataframe(frame):
        return frame
    needed = [name for one in roles for name in ((one,) if isinstance(one, str) else one or ())]
    left_out = inconvertible(frame, [name for name in needed if name is not None])
    if not left_out:
        return frame
    warnings.warn(
        f"{some('column', left_out)} holds values of several types and has no role, so it is left "
        "out; give it one type (for Stata files read_stata(convert_categoricals=False)) to use it",
        UserWarning,
        stacklevel=3,
    )
    return frame.drop(columns=left_out)

"""The one decorator for loops that numpy cannot express; only ``*_kernels`` modules use this."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np

F = TypeVar("F", bound=Callable[..., Any])


def kernel(function: F) -> F:
    """Compile a loop over arrays with numba, kept on disk where that is possible.

    Modules that use it are imported when they are first needed, because numba is slow to
    load. A function is compiled at its first call with arguments of new types.
    """
    import numba

    compiled: Any
    try:
        compiled = numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no folder for the cache is writable
        compiled = numba.njit(nogil=True)(function)
    return compiled


def typed(number: int) -> int:
    """The same number, to be handed from one kernel to another, or changed in a loop.

    For a literal numba compiles a kernel once more, which takes seconds.
    """
    return cast(int, np.int64(number))

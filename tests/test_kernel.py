"""Compiled loops work where nothing can be kept on disk."""

import numba
import numpy as np

from diskret.kernel import kernel


def test_without_a_writable_cache_folder(monkeypatch):
    compile_ = numba.njit
    asked = []

    def no_cache(*functions, **options):
        asked.append(options)
        if options.get("cache"):
            raise RuntimeError("cannot cache function: no locator available")
        return compile_(*functions)

    monkeypatch.setattr(numba, "njit", no_cache)

    @kernel
    def total(values):
        found = 0
        for value in values:
            found += value
        return found

    assert total(np.arange(5)) == 10
    assert asked[:2] == [{"cache": True, "nogil": True}, {"nogil": True}]

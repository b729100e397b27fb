"""What stays until the end of a run is no garbage, and there is much of it."""

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def nowhere() -> Generator[None]:
    """Python looks for no garbage meanwhile, nor later among what is there at the end of this.

    It would go through all modules and tests of a run, or all trees of the code, again and again.
    """
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        gc.enable()

"""Peak memory of this process."""

import resource
import sys


def peak_megabytes() -> float:
    """The most memory the process held so far."""
    # kilobytes on Linux, bytes on macOS
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1e6 if sys.platform == "darwin" else 1e3
    )

"""Peak memory of this process."""

import resource
import sys
from pathlib import Path


def peak_megabytes() -> float:
    """The most memory the process held so far."""
    status = Path("/proc/self/status")
    if status.exists():  # what `resource` says there may be the peak of the process that began it
        lines = status.read_text(encoding="utf-8").splitlines()
        return next(float(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1e3
    # kilobytes on most systems, bytes on macOS
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (
        1e6 if sys.platform == "darwin" else 1e3
    )

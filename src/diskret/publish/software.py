"""What made a file."""

from diskret import __version__


def software() -> str:
    """Name and version, e.g. ``"diskret 0.1.0"``."""
    return f"diskret {__version__}"

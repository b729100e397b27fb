"""Remote access: analyses of data that nobody sees, compared, checked and released."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diskret.remote.compare import Compared as Compared
    from diskret.remote.office import Office as Office
    from diskret.remote.office import Shown as Shown
    from diskret.remote.owner_report import report as report
    from diskret.remote.session import Answer as Answer
    from diskret.remote.session import Session as Session
    from diskret.remote.told import Comparison as Comparison
    from diskret.remote.votes import budget as budget
    from diskret.remote.votes import certain as certain

#: Public name → the module that holds it. Each is imported when it is first used.
_HOME = {
    "Answer": "session",
    "Compared": "compare",
    "Comparison": "told",
    "Office": "office",
    "Session": "session",
    "Shown": "office",
    "budget": "votes",
    "certain": "votes",
    "report": "owner_report",
}

__all__ = [
    "Answer",
    "Compared",
    "Comparison",
    "Office",
    "Session",
    "Shown",
    "budget",
    "certain",
    "report",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

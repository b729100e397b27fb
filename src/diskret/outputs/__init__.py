"""Results of researchers, checked before they leave: tables, figures, models, whole projects."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diskret.outputs.checked import Checked as Checked
    from diskret.outputs.checked import Finding as Finding
    from diskret.outputs.checked import Told as Told
    from diskret.outputs.desk import Desk as Desk
    from diskret.outputs.events import Event as Event
    from diskret.outputs.events import Item as Item
    from diskret.outputs.models import model as model
    from diskret.outputs.profile import Profile as Profile
    from diskret.outputs.project import Project as Project
    from diskret.outputs.tables import crosstab as crosstab

#: Public name → the module that holds it. Each is imported when it is first used.
_HOME = {
    "Checked": "checked",
    "Desk": "desk",
    "Event": "events",
    "Finding": "checked",
    "Item": "events",
    "Profile": "profile",
    "Project": "project",
    "Told": "checked",
    "crosstab": "tables",
    "model": "models",
}

__all__ = [
    "Checked",
    "Desk",
    "Event",
    "Finding",
    "Item",
    "Profile",
    "Project",
    "Told",
    "crosstab",
    "model",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

"""Results of researchers, checked before they leave: tables, figures, models, whole projects."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diskret.outputs.checked import Checked as Checked
    from diskret.outputs.checked import Finding as Finding
    from diskret.outputs.checked import Told as Told
    from diskret.outputs.figures import boxplot as boxplot
    from diskret.outputs.figures import chart as chart
    from diskret.outputs.figures import density as density
    from diskret.outputs.figures import histogram as histogram
    from diskret.outputs.figures import residuals as residuals
    from diskret.outputs.figures import scatter as scatter
    from diskret.outputs.grouped import describe as describe
    from diskret.outputs.grouped import groupby as groupby
    from diskret.outputs.grouped import quantile as quantile
    from diskret.outputs.models import model as model
    from diskret.outputs.pivot import pivot_table as pivot_table
    from diskret.outputs.profile import Profile as Profile
    from diskret.outputs.project import Project as Project
    from diskret.outputs.shares import concentration as concentration
    from diskret.outputs.shares import mode as mode
    from diskret.outputs.shares import ratio as ratio
    from diskret.outputs.tables import crosstab as crosstab

#: Public name → the module that holds it. Each is imported when it is first used.
_HOME = {
    "Checked": "checked",
    "Finding": "checked",
    "Profile": "profile",
    "Project": "project",
    "Told": "checked",
    "boxplot": "figures",
    "chart": "figures",
    "concentration": "shares",
    "crosstab": "tables",
    "density": "figures",
    "describe": "grouped",
    "groupby": "grouped",
    "histogram": "figures",
    "mode": "shares",
    "model": "models",
    "pivot_table": "pivot",
    "quantile": "grouped",
    "ratio": "shares",
    "residuals": "figures",
    "scatter": "figures",
}

__all__ = [
    "Checked",
    "Finding",
    "Profile",
    "Project",
    "Told",
    "boxplot",
    "chart",
    "concentration",
    "crosstab",
    "density",
    "describe",
    "groupby",
    "histogram",
    "mode",
    "model",
    "pivot_table",
    "quantile",
    "ratio",
    "residuals",
    "scatter",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

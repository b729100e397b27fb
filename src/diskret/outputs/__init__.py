"""Results of researchers, checked before they leave: tables, figures, models, whole projects."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diskret.outputs.checked import Checked as Checked
    from diskret.outputs.checked import Finding as Finding
    from diskret.outputs.checked import Told as Told
    from diskret.outputs.desk import Desk as Desk
    from diskret.outputs.durations import logrank as logrank
    from diskret.outputs.durations import survival as survival
    from diskret.outputs.events import Event as Event
    from diskret.outputs.events import Item as Item
    from diskret.outputs.figures import boxplot as boxplot
    from diskret.outputs.figures import chart as chart
    from diskret.outputs.figures import density as density
    from diskret.outputs.figures import residuals as residuals
    from diskret.outputs.figures import scatter as scatter
    from diskret.outputs.files.folder import FolderChecked as FolderChecked
    from diskret.outputs.files.folder import folder as folder
    from diskret.outputs.formulas import glm as glm
    from diskret.outputs.formulas import logit as logit
    from diskret.outputs.formulas import mnlogit as mnlogit
    from diskret.outputs.formulas import negativebinomial as negativebinomial
    from diskret.outputs.formulas import ols as ols
    from diskret.outputs.formulas import ordered as ordered
    from diskret.outputs.formulas import phreg as phreg
    from diskret.outputs.formulas import poisson as poisson
    from diskret.outputs.formulas import probit as probit
    from diskret.outputs.formulas import wls as wls
    from diskret.outputs.grouped import describe as describe
    from diskret.outputs.grouped import groupby as groupby
    from diskret.outputs.grouped import quantile as quantile
    from diskret.outputs.histograms import histogram as histogram
    from diskret.outputs.hypotheses import chi2 as chi2
    from diskret.outputs.hypotheses import mannwhitney as mannwhitney
    from diskret.outputs.hypotheses import ttest as ttest
    from diskret.outputs.models import model as model
    from diskret.outputs.moments import components as components
    from diskret.outputs.moments import correlation as correlation
    from diskret.outputs.panels import panel as panel
    from diskret.outputs.pivot import pivot_table as pivot_table
    from diskret.outputs.profile import Profile as Profile
    from diskret.outputs.project import Project as Project
    from diskret.outputs.shares import concentration as concentration
    from diskret.outputs.shares import mode as mode
    from diskret.outputs.shares import ratio as ratio
    from diskret.outputs.tables import crosstab as crosstab
    from diskret.outputs.tables import suppressed as suppressed
    from diskret.outputs.variances import anova as anova

#: Public name → the module that holds it. Each is imported when it is first used.
_HOME = {
    "ordered": "formulas",
    "negativebinomial": "formulas",
    "mnlogit": "formulas",
    "anova": "variances",
    "logrank": "durations",
    "components": "moments",
    "correlation": "moments",
    "survival": "durations",
    "ttest": "hypotheses",
    "mannwhitney": "hypotheses",
    "chi2": "hypotheses",
    "panel": "panels",
    "Checked": "checked",
    "Desk": "desk",
    "Event": "events",
    "Finding": "checked",
    "FolderChecked": "files.folder",
    "Item": "events",
    "Profile": "profile",
    "Project": "project",
    "Told": "checked",
    "boxplot": "figures",
    "chart": "figures",
    "concentration": "shares",
    "crosstab": "tables",
    "density": "figures",
    "describe": "grouped",
    "folder": "files.folder",
    "glm": "formulas",
    "groupby": "grouped",
    "histogram": "histograms",
    "logit": "formulas",
    "mode": "shares",
    "model": "models",
    "ols": "formulas",
    "phreg": "formulas",
    "pivot_table": "pivot",
    "poisson": "formulas",
    "probit": "formulas",
    "quantile": "grouped",
    "ratio": "shares",
    "residuals": "figures",
    "scatter": "figures",
    "suppressed": "tables",
    "wls": "formulas",
}

__all__ = [
    "Checked",
    "Desk",
    "Event",
    "Finding",
    "FolderChecked",
    "Item",
    "Profile",
    "Project",
    "Told",
    "anova",
    "boxplot",
    "chart",
    "chi2",
    "components",
    "concentration",
    "correlation",
    "crosstab",
    "density",
    "describe",
    "folder",
    "glm",
    "groupby",
    "histogram",
    "logit",
    "logrank",
    "mannwhitney",
    "mnlogit",
    "mode",
    "model",
    "negativebinomial",
    "ols",
    "ordered",
    "panel",
    "phreg",
    "pivot_table",
    "poisson",
    "probit",
    "quantile",
    "ratio",
    "residuals",
    "scatter",
    "suppressed",
    "survival",
    "ttest",
    "wls",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

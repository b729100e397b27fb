"""Tables in real time: questions are answered with noise, as far as a data set resists."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from diskret.serve.answers import Answer as Answer
    from diskret.serve.certainty import Resistance as Resistance
    from diskret.serve.certainty import resistance as resistance
    from diskret.serve.data import DataSet as DataSet
    from diskret.serve.journal import Journal as Journal
    from diskret.serve.measures import Measure as Measure
    from diskret.serve.measures import certainty_of_amount as certainty_of_amount
    from diskret.serve.measures import certainty_of_estimate as certainty_of_estimate
    from diskret.serve.question import Question as Question
    from diskret.serve.releases import Releases as Releases
    from diskret.serve.suppression import Suppression as Suppression
    from diskret.serve.tabulator import Tabulator as Tabulator
    from diskret.serve.variables import Variable as Variable

#: Public name → the module that holds it. Each is imported when it is first used.
_HOME = {
    "Answer": "answers",
    "DataSet": "data",
    "Journal": "journal",
    "Measure": "measures",
    "Question": "question",
    "Releases": "releases",
    "Resistance": "certainty",
    "Suppression": "suppression",
    "Tabulator": "tabulator",
    "Variable": "variables",
    "certainty_of_amount": "measures",
    "certainty_of_estimate": "measures",
    "resistance": "certainty",
}

__all__ = [
    "Answer",
    "DataSet",
    "Journal",
    "Measure",
    "Question",
    "Releases",
    "Resistance",
    "Suppression",
    "Tabulator",
    "Variable",
    "certainty_of_amount",
    "certainty_of_estimate",
    "resistance",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"{__name__}.{_HOME[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__

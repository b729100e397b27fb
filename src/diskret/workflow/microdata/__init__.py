"""Microdata: roles, history, and the public verbs on them."""

from diskret.workflow.microdata.data import Microdata
from diskret.workflow.microdata.history import Step
from diskret.workflow.microdata.roles import Roles

__all__ = ["Microdata", "Roles", "Step"]

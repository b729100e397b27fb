"""Methods of `Microdata` that live in modules of their own."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Verb:
    """A function ``verb(md, …)`` as a method, imported when it is first asked for.

    Parameters
    ----------
    module
        Where it is, below `diskret.anonymize`; there it has the method's name.
    """

    def __init__(self, module: str) -> None:
        self._module = module

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    def __get__(self, instance: Any, owner: type) -> Any:
        function = getattr(import_module(f"{__package__}.{self._module}"), self._name)
        setattr(owner, self._name, function)
        return function if instance is None else function.__get__(instance, owner)

"""HTML from Jinja2 templates: whatever is filled in is escaped, unless it is markup already."""

from __future__ import annotations

import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

from jinja2 import Environment, FunctionLoader, StrictUndefined, Template
from jinja2.ext import Extension
from markupsafe import Markup

# control characters, and halves of surrogate pairs, which no file can hold
_UNPRINTABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


@cache
def template(package: str, name: str) -> Template:
    """A template in the folder ``templates`` of a package; its line breaks are not of the page."""
    return _environment(package).get_template(name)


@cache
def asset(package: str, name: str) -> Markup:
    """A file beside the templates as it is, a style for instance."""
    return Markup(_read(package, name))  # noqa: S704 (our own file)


@cache
def _environment(package: str) -> Environment:
    return Environment(
        loader=FunctionLoader(lambda name: _read(package, name)),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_filled,
        extensions=[_Indented],
    )


def _read(package: str, name: str) -> str:
    return files(package).joinpath("templates", name).read_text(encoding="utf-8")


def _filled(value: Any) -> Markup:
    """What stands on the page for a value: numbers short, text escaped."""
    if isinstance(value, Markup):
        return value
    text = f"{value:.7g}" if isinstance(value, float) else str(value)
    shown = escape(_UNPRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text), quote=True)
    return Markup(shown)  # noqa: S704 (escaped in the line above)


class _Indented(Extension):
    """Templates may be broken into lines and indented without a trace on the page."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return "".join(line.strip() for line in source.splitlines())

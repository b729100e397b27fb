"""Colours of a theme as plain ones, so that the theme itself need not be taken over."""

from __future__ import annotations

import colorsys
import re
from copy import copy
from typing import Any
from xml.etree import ElementTree

_ORDER = (
    *("lt1", "dk1", "lt2", "dk2", "accent1", "accent2"),
    *("accent3", "accent4", "accent5", "accent6", "hlink", "folHlink"),
)
# of a workbook without a theme
_DEFAULT = (
    *("FFFFFF", "000000", "EEECE1", "1F497D", "4F81BD", "C0504D"),
    *("9BBB59", "8064A2", "4BACC6", "F79646", "0000FF", "800080"),
)
_SIDES = ("left", "right", "top", "bottom", "diagonal")


def theme_colours(theme: bytes | None) -> tuple[str, ...]:
    """The twelve colours of a theme as hexadecimal text, in the order cells count them."""
    if not theme or b"<!DOCTYPE" in theme:
        return _DEFAULT
    try:
        root = ElementTree.fromstring(theme)  # noqa: S314 - without document type
    except ElementTree.ParseError:
        return _DEFAULT
    found = dict(zip(_ORDER, _DEFAULT, strict=True))
    for element in root.iter():
        name = element.tag.rpartition("}")[2]
        if name in found and len(element):
            colour = element[0].get("lastClr") or element[0].get("val") or ""
            if re.fullmatch("[0-9A-Fa-f]{6}", colour):
                found[name] = colour.upper()
    return tuple(found[name] for name in _ORDER)


def with_plain_colours(cell: Any, theme: tuple[str, ...]) -> tuple[Any, Any, Any]:
    """Copies of the font, fill and border of a cell, with plain colours only."""
    font, fill, border = copy(cell.font), copy(cell.fill), copy(cell.border)
    font.scheme = None
    font.color = _plain(font.color, theme)
    if fill.tagname == "patternFill":
        fill.fgColor, fill.bgColor = _plain(fill.fgColor, theme), _plain(fill.bgColor, theme)
    else:
        for stop in fill.stop:
            stop.color = _plain(stop.color, theme)
    for name in _SIDES:
        side = copy(getattr(border, name))
        if side is not None:
            side.color = _plain(side.color, theme)
            setattr(border, name, side)
    return font, fill, border


def _plain(colour: Any, theme: tuple[str, ...]) -> Any:
    if colour is None or colour.type != "theme":
        return copy(colour)
    from openpyxl.styles.colors import Color

    position = int(colour.theme)
    return Color(rgb="FF" + _tinted(theme[position % len(theme)], float(colour.tint or 0)))


def _tinted(colour: str, tint: float) -> str:
    """A colour made lighter (tint above 0) or darker, as ECMA-376 18.8.19 says.

    Examples
    --------
    >>> _tinted("4F81BD", 0.8), _tinted("FFFFFF", -0.5)
    ('DCE6F2', '808080')
    """
    red, green, blue = (int(colour[i : i + 2], 16) / 255 for i in (0, 2, 4))
    hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    light = light * (1 + tint) if tint < 0 else light + (1 - light) * tint
    rgb = colorsys.hls_to_rgb(hue, light, saturation)
    return "".join(f"{round(255 * part):02X}" for part in rgb)

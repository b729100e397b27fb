"""How a table was protected, in sentences for the office."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence
from typing import Any

from diskret.publish.pages.page import DataTable
from diskret.texts import Words, words_in

#: Parameter of a rule → the value that adds nothing to its sentence.
_NOTHING = {"minimum_level": 0, "coalition": 1, "of": None, "strict": False, "second": None}


def setting_list(settings: Mapping[str, Any], words: Words) -> DataTable:
    """Settings in words; of entries by column only their number."""
    return DataTable((words["setting"], ""), told(settings, words.language), text=2)


def told(settings: Mapping[str, Any], language: str) -> list[tuple[str, str]]:
    """Settings by what they are called, and what they are; of entries by column their number.

    >>> told({"rule": "PPercent(p=20, minimum_level=0, coalition=1)", "repaired": 0}, "de")
    [('Regeln', 'p-Prozent-Regel mit p = 20'), ('Nachbesserungen', '0')]
    >>> told({"rules_without_sums": []}, "de")
    [('Regeln, die Summen von Feldern nicht beurteilen', 'keine')]
    >>> rule = "Varying(variable='land', rules={'DE': PPercent(p=20), '*': None})"
    >>> told({"rule": rule}, "de")
    [('Regeln', 'je nach land (DE: p-Prozent-Regel mit p = 20 | sonst: keine Regel)')]
    """
    words = words_in(language, "settings")
    return [
        (words.get(f"names.{name}", name), _value(content, words))
        for name, content in settings.items()
    ]


def _value(content: Any, words: Words) -> str:
    if isinstance(content, Mapping):  # entries by column; the certificate has them in full
        columns: Mapping[str, Sequence[Any]] = content
        return str(max(map(len, columns.values()), default=0))
    if isinstance(content, (list, tuple)):
        parts: Sequence[Any] = content
        return "; ".join(_value(part, words) for part in parts) or words["values.nothing"]
    text = str(content)
    if isinstance(content, str) and (rule := _rule(text, words)) is not None:
        return rule
    return words.get(f"values.{text}", text)


def _rule(text: str, words: Words) -> str | None:
    """A rule as it is written in Python, in words; None if the text is no rule."""
    try:
        call = ast.parse(text, mode="eval").body
    except SyntaxError:
        return None
    return _of_call(call, words)


def _of_call(call: ast.expr, words: Words) -> str | None:
    if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Name):
        return None
    name, given = call.func.id, {one.arg or "": one.value for one in call.keywords}
    if name == "AnyOf" and isinstance(parts := given.get("rules"), ast.Tuple):
        return "; ".join(_of_call(one, words) or ast.unparse(one) for one in parts.elts)
    if name == "Varying" and isinstance(codes := given.get("rules"), ast.Dict):
        return _by_category(given["variable"], codes, words)
    if f"rules.{name}" not in words:
        return None
    values = {key: ast.unparse(one) for key, one in given.items()}
    more = [
        words[f"more.{key}"].format(_counted(values[key], words))
        for key, nothing in _NOTHING.items()
        if key in values and values[key] != repr(nothing)
    ]
    try:
        return ", ".join([words.said(f"rules.{name}", **values), *more])
    except KeyError:
        return None


def _by_category(variable: ast.expr, rules: ast.Dict, words: Words) -> str:
    """The rules of each category."""
    said: list[str] = []
    for code, rule in zip(rules.keys, rules.values, strict=True):
        named = ast.literal_eval(code) if isinstance(code, ast.Constant) else ""
        of_code = words["varying.others"] if named == "*" else named
        nothing = isinstance(rule, ast.Constant) and rule.value is None
        told = words["varying.none"] if nothing else _of_call(rule, words) or ast.unparse(rule)
        said.append(f"{of_code}: {told}")
    name = ast.literal_eval(variable)
    return words.said("varying.each", variable=name, rules=" | ".join(said))


def _counted(text: str, words: Words) -> str:
    plain = text.strip("'")
    return words.get(f"counted.{plain}", plain)

"""JSON that comes from outside: one way to read it, and one way to say what it must look like."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from diskret.errors import DiskretError, InputError
from diskret.texts.lists import first_of

#: Deeper than anything that diskret writes, and far from what exhausts a stack.
_DEEPEST = 40
#: More digits than any number that diskret writes.
_LONGEST = 40
_SURROGATE = re.compile("[\ud800-\udfff]")
_EXAMPLES = 3

#: What a value must be: types for scalars, ``[form]`` for a list of such values, a mapping for an
#: object with these keys (``"*"`` stands for any other key), ``anything`` for what is checked
#: elsewhere. A tuple holds alternatives.
Form = Any


def anything(_: Any) -> bool:
    """The form that every value has."""
    return True


def read_json(path: Path, wrong: type[DiskretError] = InputError) -> Any:
    """The content of a JSON file."""
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise wrong(f"{path}: the file is missing") from None
    except (OSError, ValueError) as error:
        raise wrong(f"{path}: cannot be read: {_said(error)}") from None
    return parse_json(text, str(path), wrong)


def parse_json(text: str, source: str, wrong: type[DiskretError] = InputError) -> Any:
    """The content of a JSON text; `source` is what messages call it. Errors as for `read_json`.

    >>> parse_json('{"a": 1, "a": 2}', "t.json")
    Traceback (most recent call last):
    diskret.errors.InputError: t.json: not valid JSON: the key 'a' is there twice
    """
    try:
        content = json.loads(
            text,
            parse_int=_whole,
            parse_float=_decimal,
            parse_constant=_no_number,
            object_pairs_hook=_object,
        )
        _check(content, surrogates="\\ud" in text.lower())
    except json.JSONDecodeError as error:
        raise wrong(
            f"{source}, line {error.lineno}, column {error.colno}: not valid JSON; take the file "
            f"as it was written ({error.msg})"
        ) from None
    except RecursionError:
        raise wrong(f"{source}: not valid JSON: it is nested too deeply") from None
    except ValueError as error:
        raise wrong(f"{source}: not valid JSON: {error}") from None
    return content


def misfits(content: Any, form: Form, at: str = "") -> Iterator[str]:
    """What of a content does not have its form: keys that are too many, values of other types.

    `at`: where it stands, as ``intervals.lower``. Gives the place and what is wrong there, e.g.
    ``"holds the key shown.p"``.

    >>> list(misfits({"n": True, "p": 5}, {"n": int}))
    ['n is not of type int', 'holds the key p']
    """
    if form is anything:
        return
    if isinstance(form, tuple):
        found = [list(misfits(content, one, at)) for one in form]
        if all(found):
            yield from min(found, key=len)
    elif isinstance(form, list):
        if not isinstance(content, list):
            yield f"{at or 'the content'} is not of type list"
            return
        # columns are long, and mostly right
        if not _scalars(form[0]) or not {*map(type, content)} <= _scalars(form[0]):
            for part in content:
                yield from misfits(part, form[0], at)
    elif isinstance(form, Mapping):
        if not isinstance(content, dict):
            yield f"{at or 'the content'} is not of type dict"
            return
        for key, part in content.items():
            where = f"{at}.{key}" if at else key
            if key in form or "*" in form:
                yield from misfits(part, form.get(key, form.get("*")), where)
            else:
                yield f"holds the key {where}"
    # a JSON true must not pass as the number 1
    elif type(content) is not (type(None) if form is None else form):
        yield f"{at or 'the content'} is not of type {'null' if form is None else form.__name__}"


def check_form(
    content: Any, form: Form, source: str, wrong: type[DiskretError] = InputError
) -> None:
    """Refuse what does not have its form; see `misfits`."""
    found = list(dict.fromkeys(misfits(content, form)))
    if found:
        raise wrong(f"{source}: {first_of(found, _EXAMPLES, '; ')}")


def _scalars(form: Form) -> set[type]:
    """The types that a form without parts admits; none if it has parts."""
    each = form if isinstance(form, tuple) else (form,)
    if any(isinstance(one, (list, Mapping, tuple)) or one is anything for one in each):
        return set()
    return {type(None) if one is None else one for one in each}


# ── the parts of a text ─────────────────────────────────────────────────────────────


def _said(error: Exception) -> str:
    return str(getattr(error, "strerror", None) or error)


def _whole(digits: str) -> int:
    if len(digits) > _LONGEST:
        raise ValueError(f"a number has {len(digits):,} digits")
    return int(digits)


def _decimal(digits: str) -> float:
    number = float(digits) if len(digits) <= _LONGEST else math.inf
    if not math.isfinite(number):
        raise ValueError(f"the number {digits[:_LONGEST]} is too large or too long")
    return number


def _no_number(name: str) -> float:
    raise ValueError(f"{name} is no number")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} is there twice")
    return found


def _check(content: Any, surrogates: bool) -> None:
    """Refuse what is nested too deeply, and texts that no file in UTF-8 can hold."""
    level, depth = [content], 0
    while level:
        depth += 1
        if depth > _DEEPEST:
            raise ValueError("it is nested too deeply")
        below: list[Any] = []
        for part in level:
            if isinstance(part, dict):
                below += part.values()
                texts = part.keys()
            elif isinstance(part, list):
                below += part
                continue
            else:
                texts = [part] if isinstance(part, str) else []
            if surrogates and any(_SURROGATE.search(text) for text in texts):
                raise ValueError("a text holds half a character")
        level = [part for part in below if surrogates or isinstance(part, (dict, list))]

"""Reports on released microdata: what readers are told, and the office's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from typing import Any

from diskret.publish.pages.markup import Markup, element
from diskret.publish.pages.microdata_deviations import controlled, documented
from diskret.publish.pages.microdata_outline import InsideOutline, Outline, Variable
from diskret.publish.pages.page import (
    bar,
    data_table,
    file_list,
    section,
    statements,
    tile,
    write_page,
)
from diskret.risk.summary import RiskSummary
from diskret.texts import Words, number, percent, words_in


def write_public_microdata_report(
    outline: Outline,
    certificate: Mapping[str, Any],
    path: str | PathLike[str],
    *,
    title: str | None = None,
    language: str = "en",
) -> None:
    """Write the description for readers as one HTML page that needs nothing but itself.

    It says what the file holds, which kinds of methods protected it and never how, what is and
    is not claimed, and how to treat missing and changed values.

    Parameters
    ----------
    outline
        What any reader may know.
    certificate
        The public certificate; ``files`` lists the files written before this one.
    path
        The file to write; overwritten if it exists.
    title
        Heading; None: the name.
    language
        ``"en"`` or ``"de"``.

    Raises
    ------
    InputError
        The language is unknown, or the file cannot be written.
    """
    words = words_in(language, "report", "microdata_report")
    body = [
        _summary(outline, words, element("p", words["intro"])),
        section(words["table variables"], _variables(outline, words)),
        section(words["protection"], *_families(outline, words)),
        section(words["use"], element("ul", *_advice(outline, words))),
        section(words["certificate"], *statements(certificate, language)),
        *documented(certificate.get("shown", {}), words),
        *file_list(certificate, words),
    ]
    write_page(
        path,
        language=language,
        title=title or outline.name,
        kind=words["public"],
        body=body,
        footer=words["made"].format(software=certificate.get("software", "diskret")),
    )


def write_internal_microdata_report(
    outline: Outline,
    inside: InsideOutline,
    certificate: Mapping[str, Any],
    path: str | PathLike[str],
    *,
    title: str | None = None,
    language: str = "en",
) -> None:
    """Write the office's report as one HTML page that needs nothing but itself. Confidential.

    Parameters
    ----------
    outline
        What any reader may know.
    inside
        What only the office may know.
    certificate
        The public and the internal certificate together.
    path, title, language
        As in `write_public_microdata_report`.

    Raises
    ------
    InputError
        The language is unknown, or the file cannot be written.
    """
    words = words_in(language, "report", "microdata_report")
    body = [
        _summary(outline, words),
        *controlled(inside.deviations, words),
        section(words["risk"], *_risk(inside, words)),
        section(words["steps"], _steps(inside, words)),
        section(words["changes"], _changes(inside, outline.records, words)),
        section(words["riskiest"], *_riskiest(inside, words)),
        section(words["table variables"], _variables(outline, words)),
        section(words["certificate"], *statements(certificate, language)),
        section(words["roles"], _roles(inside, words)),
    ]
    write_page(
        path,
        language=language,
        title=title or outline.name,
        kind=f"{words['office']} · {words['confidential']}",
        body=body,
        footer=words["made"].format(software=certificate.get("software", "diskret")),
    )


# ── what both reports show ──────────────────────────────────────────────────────────


def _summary(outline: Outline, words: Words, *more: Markup) -> Markup:
    language = words.language
    missing = sum(variable.missing for variable in outline.variables)
    values = outline.records * len(outline.variables)
    tiles = [
        tile(outline.records, words["records"], language, "open"),
        tile(len(outline.variables), words["variables"], language),
        tile(missing, words["gaps"], language, "shut", missing / values),
    ]
    return section(
        words["file summary"],
        element("ul", *tiles, class_="tiles"),
        *more,
    )


def _variables(outline: Outline, words: Words) -> Markup:
    language = words.language
    rows = [
        (
            variable.name,
            words[variable.kind],
            _values(variable, words),
            number(variable.distinct, language),
            number(variable.missing, language),
            bar(share := variable.missing / outline.records, percent(share, language)),
        )
        for variable in outline.variables
    ]
    head = (
        words["variable"],
        words["kind"],
        words["values"],
        words["distinct"],
        words["missing"],
        words["missing share"],
    )
    return data_table(head, rows, text=3)


def _values(variable: Variable, words: Words) -> str:
    if variable.ends:
        low, high = variable.ends
        return words["from to"].format(low=low, high=high)
    return ", ".join(variable.listed) or words["many" if variable.distinct else "nothing"]


# ── for readers ─────────────────────────────────────────────────────────────────────


def _families(outline: Outline, words: Words) -> Iterator[Markup]:
    if outline.families:
        told = [
            element("li", f"{words[family]} {', '.join(names)}")
            for family, names in outline.families.items()
        ]
        yield element("ul", *told)
    else:
        yield element("p", words["unprotected"])
    yield element("p", words["order shuffled" if outline.shuffled else "order kept"])


def _advice(outline: Outline, words: Words) -> Iterator[Markup]:
    for family, names in outline.families.items():
        yield element("li", element("b", ", ".join(names)), f": {words[f'use {family}']}")
    if not outline.families:
        yield element("li", words["use plain"])
    if outline.weight:
        yield element("li", words["use weight"])


# ── for the office ──────────────────────────────────────────────────────────────────


def _risk(inside: InsideOutline, words: Words) -> Iterator[Markup]:
    after = inside.after
    if after is None:
        yield element("p", words["no risk"])
        return
    basis = words["basis weighted" if inside.weighted else "basis census"]
    note = words["risk note"].format(keys=", ".join(inside.keys), basis=basis)
    yield element("p", note, class_="note")
    before = inside.before
    was = {} if before is None else dict(_figures(before, words))
    rows = [(name, was.get(name, "–"), value) for name, value in _figures(after, words)]
    yield data_table((words["figure"], words["before"], words["after"]), rows)
    yield element("h3", words["frequencies"])
    yield _frequencies(before, after, words)


def _figures(found: RiskSummary, words: Words) -> Iterator[tuple[str, str]]:
    language = words.language
    yield words["uniques"], number(found.uniques, language)
    for k in (3, 5):
        yield words["below"].format(k=k), number(found.below(k), language)
        yield words["below shown"].format(k=k), number(found.below_shown(k), language)
    yield words["expected"], number(found.expected, language, 2)
    yield words["rate"], f"{number(100 * found.expected / found.n, language, 3)} %"
    yield words["largest"], number(found.largest, language, 4)
    if found.households is not None:
        yield words["households"], number(found.households, language, 2)


def _frequencies(before: RiskSummary | None, after: RiskSummary, words: Words) -> Markup:
    language = words.language
    was, rows = None if before is None else before.groups(), list[tuple[str, ...]]()
    for group, records in after.groups().items():
        low, high = group
        name = number(low, language)
        if high is None:
            name = words["and more"].format(low=name)
        elif high > low:
            name = words["from to"].format(low=name, high=number(high, language))
        old = None if was is None else was[group]
        rows.append(
            (
                name,
                number(old, language),
                _share(0 if old is None else old, after.n, language),
                number(records, language),
                _share(records, after.n, language),
            )
        )
    head = (words["agreeing"], words["before"], "", words["after"], "")
    return data_table(head, rows)


def _share(part: int, whole: int, language: str) -> Markup:
    return bar(part / whole, percent(part / whole, language))


def _steps(inside: InsideOutline, words: Words) -> Markup:
    if not inside.steps:
        return element("p", words["no steps"])
    rows = [
        (str(at), step.verb, _settings(step.arguments), _settings(step.found))
        for at, step in enumerate(inside.steps, start=1)
    ]
    head = (words["step"], words["method"], words["arguments"], words["reported"])
    return data_table(head, rows, text=4)


def _settings(content: Mapping[str, Any]) -> str:
    return "; ".join(f"{name} = {_text(value)}" for name, value in content.items()) or "–"


def _text(value: Any) -> str:
    if isinstance(value, Mapping):
        inner: Mapping[Any, Any] = value
        return ", ".join(f"{name}: {_text(one)}" for name, one in inner.items())
    if isinstance(value, (list, tuple)):
        listed: list[Any] = list(value)  # pyright: ignore[reportUnknownArgumentType]
        return ", ".join(map(_text, listed))
    if value is None or value == []:
        return "–"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _changes(inside: InsideOutline, records: int, words: Words) -> Markup:
    if not inside.changes:
        return element("p", words["no changes"])
    language = words.language
    rows = [
        (
            name,
            *(number(figure, language) for figure in (had, has, gaps, holes)),
            _share(max(holes - gaps, 0), records, language),
        )
        for name, ((had, gaps), (has, holes)) in inside.changes.items()
    ]
    head = (
        words["variable"],
        words["categories before"],
        words["categories after"],
        words["missing before"],
        words["missing after"],
        words["lost values"],
    )
    return data_table(head, rows)


def _riskiest(inside: InsideOutline, words: Words) -> Iterator[Markup]:
    if not inside.riskiest:
        yield element("p", words["no risk"])
        return
    language = words.language
    yield element("p", words["riskiest note"], class_="note")
    rows = [
        (
            *("" if value is None else value for value in one.values),
            number(one.records, language),
            number(one.frequency, language),
            number(one.risk, language, 4),
            bar(one.risk, percent(one.risk, language)),
        )
        for one in inside.riskiest
    ]
    head = (
        *inside.keys,
        words["combination records"],
        words["combination frequency"],
        words["combination risk"],
        "",
    )
    yield data_table(head, rows, text=len(inside.keys))


def _roles(inside: InsideOutline, words: Words) -> Markup:
    rows = [(role, ", ".join(names)) for role, names in inside.roles.items()]
    rows += [(name, _text(value)) for name, value in inside.release.items()]
    return data_table((words["role"], words["columns"]), rows, text=2)

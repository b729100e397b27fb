"""``diskret plan TEMPLATE``: from what is to be published to a programme that releases it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diskret.cli.command import (
    BAD_INPUT,
    DebugOption,
    JobLanguageOption,
    Language,
    language_of,
    reported,
)
from diskret.texts import words_in

if TYPE_CHECKING:
    from diskret.plan import Plan

#: So many indicators and tables are named in a line; the page names all.
_NAMED = 8


def plan(
    template: Annotated[
        Path,
        typer.Argument(
            metavar="TEMPLATE",
            help="What to publish: a metadata frame or a template of cells (.csv), a folder of "
            "workbooks, or a publication file (.toml) that lists tables or names one of these.",
        ),
    ],
    trees: Annotated[
        list[str] | None,
        typer.Option(
            metavar="[NAME=]PATH",
            help="A code tree (.csv, .hrc) or a folder of them, each called like its variable or "
            "hierarchy; can be given several times.",
        ),
    ] = None,
    records: Annotated[
        Path | None, typer.Option(help="The file of the records that tables are made of.")
    ] = None,
    out: Annotated[
        Path, typer.Option(help="Folder that gets the programme, or what is open as a file.")
    ] = Path("plan"),
    language: JobLanguageOption = None,
    debug: DebugOption = False,
) -> None:
    """Find out which tables to protect and how they hang together; write a programme of them.

    The programme is carried out as it is: diskret protect plan/programme.toml. If something is
    open that only a person can tell, it is listed, and the command ends with exit code 1; a
    publication file to answer it in is written for a template that has none.
    """
    of_file = template if template.suffix.lower() == ".toml" else None
    spoken = language or language_of(of_file)
    with reported(spoken, debug):
        from diskret.plan import read, write

        found = read(template, trees=_named(trees), records=records)
        _show(found, spoken)
        if found.questions:
            _ask(found, template, out, spoken)
            raise typer.Exit(BAD_INPUT)
        texts, internal = words_in(spoken, "plan"), words_in(spoken, "commands")["internal_files"]
        programme, *others = write(found, out, language=spoken.value)
        for path in (programme, *others):
            typer.echo(internal.format(folder=path))
        typer.echo(texts.said("release it", file=programme))


def _named(trees: list[str] | None) -> dict[str, str] | list[str] | None:
    """Trees as they were named; without a name, as their files are called."""
    if not trees or not any("=" in one for one in trees):
        return trees or None
    if not all("=" in one for one in trees):
        raise typer.BadParameter("give either a name to every code tree, NAME=PATH, or to none")
    names = [one.partition("=")[0] for one in trees]
    if len({*names}) < len(names):
        raise typer.BadParameter("two code trees have the same name")
    return {name: path for name, _, path in (one.partition("=") for one in trees)}


def _show(found: Plan, language: Language) -> None:
    """The tables to protect by cluster, what they hold, and what was noted."""
    from diskret.plan.places import few, places

    texts = words_in(language, "plan")
    typer.echo(
        texts.said(
            "asked",
            file=found.asked.file,
            tables=len(found.asked.tables),
            planned=len(found.tables),
            clusters=len(found.clusters),
        )
    )
    for number, cluster in enumerate(found.clusters, start=1):
        typer.secho(texts.said("cluster", number=number), bold=True)
        for table in cluster:
            about = texts.said(
                "by",
                indicators=few(table.indicators, _NAMED),
                axes=", ".join(one.axis for one in table.by),
            )
            held = texts.said("holds", tables=few(table.descriptions, _NAMED))
            field = f"{table.field}: " if table.field else ""
            typer.echo(f"  {field}{about}; {held}")
    for note in found.notes:
        where = places(found.asked, note.lines, texts)
        shown = note.said.in_language(language) + (f" ({where})" if where else "")
        typer.secho(f"{texts['note']}: {shown}", fg="yellow")


def _ask(found: Plan, template: Path, out: Path, language: Language) -> None:
    """What is open, and where to answer it."""
    from diskret.plan.draft import draft
    from diskret.plan.places import places

    texts = words_in(language, "plan")
    for number, question in enumerate(found.questions, start=1):
        where = places(found.asked, question.lines, texts)
        head = texts.said("question", number=number) + (f" ({where})" if where else "")
        typer.secho(f"{head}: {question.said.in_language(language)}", bold=True, err=True)
        for line in question.answer.splitlines():
            typer.echo(f"    {line}", err=True)
    if found.template is None:
        typer.echo(texts.said("answer here", file=template), err=True)
    else:
        path = draft(found, out, language=language.value)
        typer.echo(texts.said("answer it", file=path), err=True)

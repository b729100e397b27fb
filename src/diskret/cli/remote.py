"""``diskret remote``: analyses of data that nobody sees, for owners and researchers."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from diskret.cli.command import DebugOption, Language, LanguageOption, reported
from diskret.cli.ledger import LedgerOption
from diskret.cli.show import terminal
from diskret.texts import Words, words_in

if TYPE_CHECKING:
    from diskret.remote.figures import Figures
    from diskret.remote.office import Office
    from diskret.remote.scripts import Script
    from diskret.remote.told import Comparison

remote = typer.Typer(
    help="Remote access: register data and projects, run queries, compare, submit, report.",
    no_args_is_help=True,
)

WhoOption = Annotated[str, typer.Option("--who", help="Who asks, as the gate knows it.")]
QueryArgument = Annotated[
    Path,
    typer.Argument(
        metavar="QUERY.toml|SCRIPT.py|SCRIPT.R",
        help="What is asked: a query, or a script for the sandbox.",
    ),
]
ProjectOption = Annotated[str, typer.Option("--project", help="Of a script: name of the project.")]
DataOption = Annotated[str, typer.Option("--data", help="Of a script: name of the data set.")]
SecondsOption = Annotated[int, typer.Option("--seconds", help="Of a script: how long it may run.")]


@remote.command()
def register(
    config: Annotated[
        Path, typer.Argument(metavar="CONFIG.toml", help="Data sets, versions and projects.")
    ],
    place: LedgerOption,
    who: WhoOption,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Register data sets and projects, or change them; certificates are checked."""
    with reported(language, debug):
        words = words_in(language, "remote")
        for name in _office(place).register(config, who=who):
            typer.echo(words.said("registered", name=name))


@remote.command()
def describe(
    project: Annotated[str, typer.Argument(metavar="PROJECT", help="Name of a project.")],
    place: LedgerOption,
    who: WhoOption,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Describe a project to its members: data sets, columns, codes, what is left."""
    with reported(language, debug):
        console, words = terminal(), words_in(language, "remote")
        said = _office(place).describe(project, who=who)
        known = {key: said[key] for key in ("purpose", "from", "until", "left")}
        console.print(Text(words.said("described", **known)), soft_wrap=True)
        for name, data in said["data"].items():
            console.print(Text(name, style="bold"), soft_wrap=True)
            line = words.said(f"level.{data['level']}", records=data["records"])
            console.print(Text(f"  {line}"), soft_wrap=True)
            for column, one in data["columns"].items():
                label = f": {one['label']}" if one["label"] else ""
                line = f"  {column} ({words[one['holds']]}){label}"
                console.print(Text(line), soft_wrap=True)
                for code, meaning in one["codes"].items():
                    console.print(Text(f"    {code} = {meaning}"), soft_wrap=True)


@remote.command()
def run(
    query: QueryArgument,
    place: LedgerOption,
    who: WhoOption,
    compare: Annotated[
        bool, typer.Option("--compare/--no-compare", help="Also compare with the original.")
    ] = True,
    project: ProjectOption = "",
    data: DataOption = "",
    seconds: SecondsOption = 3,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Show the anonymised version's result, then how it compares with the original."""
    with reported(language, debug):
        words, opened = words_in(language, "remote"), _office(place)
        script = _script(query, project, data, seconds)
        if script is not None:
            from diskret.remote import scripts

            ran = scripts.ask_script(opened, script, who=who)
            typer.echo(ran.said, nl=False)
            _show(ran.version, ran.figures, words)
            if compare:
                sys.stdout.flush()
                _tell(scripts.compare_script(opened, script, who=who), words)
            return
        shown = opened.ask(_text(query), who=who)
        _show(shown.version, shown.figures, words)
        if compare:
            sys.stdout.flush()  # at once, before the original is opened
            _tell(opened.compare(shown, who=who), words)


@remote.command()
def submit(
    query: QueryArgument,
    result: Annotated[str, typer.Argument(metavar="RESULT", help="Name of a result in it.")],
    place: LedgerOption,
    who: WhoOption,
    request: Annotated[str, typer.Option(help="What the checker should know.")] = "",
    project: ProjectOption = "",
    data: DataOption = "",
    seconds: SecondsOption = 3,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Ask for the original's result: what passes is accepted, a person decides the rest."""
    with reported(language, debug):
        words, opened = words_in(language, "remote"), _office(place)
        script = _script(query, project, data, seconds)
        if script is not None:
            from diskret.remote import scripts

            state = scripts.submit_script(opened, script, result, who=who, request=request)
        else:
            state = opened.submit(_text(query), result, who=who, request=request)
        typer.echo(words.said(f"submitted.{state}", result=result))


@remote.command()
def release(
    project: Annotated[str, typer.Argument(metavar="PROJECT", help="Name of a project.")],
    data: Annotated[str, typer.Argument(metavar="DATA", help="Name of a data set.")],
    folder: Annotated[Path, typer.Option("--folder", help="Gets public/ and internal/.")],
    place: LedgerOption,
    who: WhoOption,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Write what was accepted of a project into a folder that `diskret verify` checks."""
    with reported(language, debug):
        target = _office(place).release(project, data, folder, who=who)
        typer.echo(words_in(language, "remote").said("released", folder=target))


@remote.command()
def report(
    place: LedgerOption,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Report to the owner: use by project, near misses, refused attempts."""
    with reported(language, debug):
        from diskret.remote.owner_report import report as lines

        for line in lines(_office(place), language.value):
            terminal().print(Text(line), soft_wrap=True)


@remote.command()
def history(
    place: LedgerOption,
    project: Annotated[
        str, typer.Argument(metavar="[PROJECT]", help="Name of a project; default: all.")
    ] = "",
    entry: Annotated[
        int, typer.Option("--entry", help="Print the query or script of this entry.")
    ] = 0,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Say who asked what, on which data, for which project; for the owner."""
    with reported(language, debug):
        console, words, opened = terminal(), words_in(language, "remote"), _office(place)
        if entry:
            typer.echo(opened.asked(entry))
            return
        for one in opened.history(project):
            when, happened = one.when[:16].replace("T", " "), words[f"event.{one.happened}"]
            about = " · ".join(filter(None, (one.project, one.data, one.what)))
            line = f"{one.number:>5}  {when}  {one.who}: {happened}: {about}"
            console.print(Text(line), soft_wrap=True)


@remote.command()
def gate(
    place: LedgerOption,
    who: WhoOption,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Answer one request, JSON, of a researcher's `dk.remote.Session`: for a forced command."""
    with reported(language, debug):
        from diskret.remote.gate import LONGEST, answered

        typer.echo(answered(_office(place), who, sys.stdin.read(LONGEST + 1)))


def _office(place: str) -> Office:
    from diskret.remote.office import Office

    return Office(place)


def _script(path: Path, project: str, data: str, seconds: int) -> Script | None:
    """A script, if the file is one by its name."""
    from diskret.remote.scripts import ENDINGS, Script

    if path.suffix not in ENDINGS:
        return None
    return Script(project, data, _text(path), seconds, ENDINGS[path.suffix])


def _text(path: Path) -> str:
    from diskret.errors import JobError
    from diskret.io.encoded import utf8_text

    return utf8_text(path, JobError)


def _show(version: str, shown: Mapping[str, Figures], words: Words) -> None:
    console = terminal()
    console.print(Text(words.said("shown", version=version)), soft_wrap=True)
    for name, figures in shown.items():
        console.print(Text(name, style="bold"), soft_wrap=True)
        for figure, value in figures.value.items():
            error = figures.error.get(figure)
            more = "" if error is None else f" ± {error:.6g}"
            console.print(Text(f"  {', '.join(figure)}: {value:.6g}{more}"), soft_wrap=True)


def _tell(comparison: Comparison, words: Words) -> None:
    console = terminal()
    console.print(Text(words["told"]), soft_wrap=True)
    for name, told in comparison.results.items():
        console.print(Text(name, style="bold"), soft_wrap=True)
        for one in told:
            said = [words[f"deviation.{one.deviation}"]]
            if one.significance:
                said.append(words[f"significance.{one.significance}"])
            console.print(Text(f"  {', '.join(one.figure)}: {'; '.join(said)}"), soft_wrap=True)
    counted = words.said("left", number=comparison.new, left=comparison.left)
    console.print(Text(counted), soft_wrap=True)

"""``diskret anonymize JOB.toml``: protect microdata, prove what is claimed, write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from diskret.cli.options import DebugOption, Language
from diskret.cli.outcome import language_of, reported
from diskret.cli.show import show_files, terminal
from diskret.texts import number, scaled, words_in

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata
    from diskret.anonymize.result import MicrodataResult

_RARE = 3


def anonymize(
    job_file: Annotated[
        Path | None, typer.Argument(metavar="JOB.toml", help="What to protect, and how.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option(help="Where to write instead of the folder of the job.")
    ] = None,
    template: Annotated[
        bool, typer.Option("--template", help="Print a commented job file and stop.")
    ] = False,
    language: Annotated[
        Language | None, typer.Option(help="Language of what is shown; default: that of the job.")
    ] = None,
    debug: DebugOption = False,
) -> None:
    """Protect, prove and write the microdata of a job file."""
    spoken = language or language_of(job_file)
    with reported(spoken, debug):
        if template:
            from diskret.jobs.template import template as job_template

            typer.echo(job_template("anonymize"), nl=False)
            return
        if job_file is None:
            raise typer.BadParameter("name a job file, or use --template to get one to start from")

        from diskret.cli.progress import progress_bars
        from diskret.jobs.microdata import read_microdata_job, run_microdata_job

        job = read_microdata_job(job_file)
        with progress_bars(language=spoken) as progress:
            written, result = run_microdata_job(job, folder, progress=progress)
        _show(result, written, language or Language(job.language))


def _show(result: MicrodataResult, folder: Path, language: Language) -> None:
    console, texts = terminal(), words_in(language, "commands")
    md = result.microdata
    console.print()
    if md.roles.keys:  # they may have been left out
        before, after = _risk(md.original, language), _risk(md, language)
        heads = texts["before_after"].split(", ")
        table = Table("", *heads, title_justify="left", title=result.name)
        for name, one, two in zip(texts["recognised"].split(", "), before, after, strict=True):
            table.add_row(name, Text(one, justify="right"), Text(two, justify="right"))
        console.print(table)
    console.print(Text(texts["certificate"], style="bold"))
    for line in result.certificate.summary(language.value):
        console.print(Padding(Text(f"• {line}"), (0, 0, 0, 2)))
    console.print()
    show_files(console, folder, language)


def _risk(md: Microdata, language: Language) -> list[str]:
    """Records, those alone with their keys, those with few others, expected re-identifications."""
    risk = md.risk()
    counts = (md.n, risk.sample_uniques, risk.below(_RARE))
    shown = [number(int(count), language) for count in counts]
    return [*shown, scaled(round(10 * risk.expected), 1, language)]

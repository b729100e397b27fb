"""``diskret protect JOB.toml``: carry out a job file, or a programme; and ``diskret demo``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from diskret.cli.command import (
    DebugOption,
    FolderOption,
    JobFolderOption,
    JobLanguageOption,
    Language,
    LanguageOption,
    TemplateOption,
    language_of,
    named,
    reported,
)
from diskret.cli.show import show_results, terminal
from diskret.jobs.spelling import in_a_job
from diskret.texts import number, words_in

if TYPE_CHECKING:
    from diskret.jobs.programme import ProgrammeRun
    from diskret.protect.editions import Kept


def protect(
    job_file: Annotated[
        Path | None,
        typer.Argument(
            metavar="JOB.toml",
            help="What to tabulate and protect; or a programme that lists such files.",
        ),
    ] = None,
    folder: JobFolderOption = None,
    template: TemplateOption = False,
    language: JobLanguageOption = None,
    debug: DebugOption = False,
) -> None:
    """Protect, prove and write the tables of a job file, or the releases of a programme."""
    spoken = language or language_of(job_file)
    with reported(spoken, debug, in_a_job):
        if template:
            from diskret.jobs.template import template as job_template

            typer.echo(job_template(language=spoken.value), nl=False)
            return
        job_file = named(job_file)

        from diskret.cli.progress import progress_bars
        from diskret.jobs.editions import kept_by
        from diskret.jobs.programme_file import is_programme
        from diskret.jobs.read import read_job
        from diskret.jobs.run import run_job

        if is_programme(job_file):
            _programme(job_file, folder, spoken)
            return
        job = read_job(job_file)
        with progress_bars(language=spoken) as progress:
            written, results = run_job(job, folder=folder, progress=progress)
        shown_in = language or Language(job.output.language)
        show_results(results, written, shown_in, job.output.symbols)
        show_kept(kept_by(job, results), shown_in)
        if job.edition is not None and job.edition.revision:
            typer.echo(words_in(shown_in, "commands")["revised"])
        if job.output.ledger is not None:
            name = job.output.release or written.resolve().name
            entered = words_in(shown_in, "commands")["ledger_entered"]
            typer.echo(entered.format(release=name))


def show_kept(kept: Iterable[tuple[str, Kept]], language: Language) -> None:
    """Say how much of the last delivery's pattern each table keeps."""
    words = words_in(language, "commands")
    for table, found in kept:
        typer.echo(words.said("kept", table=table, **asdict(found)))


def _programme(file: Path, folder: Path | None, language: Language) -> None:
    from diskret.cli.progress import progress_bars
    from diskret.jobs.editions import kept_by
    from diskret.jobs.programme import run_programme
    from diskret.jobs.programme_file import read_programme

    programme = read_programme(file)
    with progress_bars(language=language) as progress:
        run = run_programme(programme, folder=folder, progress=progress)
    _show_programme(run, language)
    for planned, released in zip(programme.releases, run.releases, strict=True):
        if released.results:
            show_kept(kept_by(planned.job, released.results), language)


def _show_programme(run: ProgrammeRun, language: Language) -> None:
    """Show each release with its cells, and what each order of protection would lose."""
    console, texts = terminal(), words_in(language, "commands")
    table = Table(title=Text(texts["programme"], style="bold"), title_justify="left")
    for heading in (texts["release"], texts["due"], texts["table"]):
        table.add_column(Text(heading), no_wrap=True)
    for heading in (texts["number_of_cells"], texts["suppressed"]):
        table.add_column(Text(heading), justify="right", no_wrap=True)
    table.add_column(Text(texts["state"]))
    for release in run.releases:
        state = texts["planned"] if release.folder is None else str(release.folder)
        due = "" if release.due is None else release.due.isoformat()
        if not release.results:
            table.add_row(release.name, due, "", "", "", texts["published_before"])
        for result in release.results:
            hidden = int(result.published.suppressed.sum())
            table.add_row(
                *(release.name, due, result.name),
                number(result.published.value.size, language),
                number(hidden, language),
                Text(state),
            )
    console.print(table)
    if len(run.losses) > 1:
        console.print(Text(texts["losses"], style="bold"))
        for order, loss in run.losses.items():
            lost = texts["impossible"] if loss is None else number(round(loss), language)
            mark = f"  ← {texts['chosen']}" if order == run.chosen else ""
            line = f"{texts[order]}: {lost}{mark}"
            console.print(Padding(Text(line), (0, 0, 0, 2)))


def demo(
    folder: FolderOption = Path("out"),
    firms: Annotated[int, typer.Option(min=1, help="Number of firms made up.")] = 50_000,
    seed: Annotated[int, typer.Option(min=0, help="Another seed, another economy.")] = 1,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Protect, prove and write tables of a made-up business register."""
    with reported(language, debug):
        from diskret.cli.progress import progress_bars
        from diskret.jobs.demo import run_demo

        with progress_bars(language=language) as progress:
            written, results = run_demo(folder, firms, seed, language.value, progress)
        show_results(results, written, language)

"""``diskret protect JOB.toml``: carry out a job file, or a programme of several."""

from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.options import DebugOption, Language
from diskret.cli.outcome import language_of, reported
from diskret.texts import words_in


def protect(
    job_file: Annotated[
        Path | None,
        typer.Argument(
            metavar="JOB.toml",
            help="What to tabulate and protect; or a programme that lists such files.",
        ),
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
    """Protect, prove and write the tables of a job file, or the releases of a programme."""
    spoken = language or language_of(job_file)
    with reported(spoken, debug):
        if template:
            from diskret.jobs.template import template as job_template

            typer.echo(job_template(), nl=False)
            return
        if job_file is None:
            raise typer.BadParameter("name a job file, or use --template to get one to start from")

        from diskret.cli.progress import progress_bars
        from diskret.cli.show import show_results
        from diskret.jobs.read import read_job
        from diskret.jobs.read_programme import is_programme
        from diskret.jobs.run import run_job

        if is_programme(job_file):
            _programme(job_file, folder, spoken)
            return
        job = read_job(job_file)
        with progress_bars(language=spoken) as progress:
            written, results = run_job(job, folder=folder, progress=progress)
        shown_in = language or Language(job.output.language)
        show_results(results, written, shown_in, job.output.symbols)
        if job.output.ledger is not None:
            name = job.output.release or written.resolve().name
            entered = words_in(shown_in, "commands")["ledger_entered"]
            typer.echo(entered.format(release=name))


def _programme(file: Path, folder: Path | None, language: Language) -> None:
    from diskret.cli.programme import show_programme
    from diskret.cli.progress import progress_bars
    from diskret.jobs.programme import run_programme
    from diskret.jobs.read_programme import read_programme

    programme = read_programme(file)
    with progress_bars(language=language) as progress:
        run = run_programme(programme, folder=folder, progress=progress)
    show_programme(run, language)

"""``diskret map JOB.toml``: carry out a job file, and draw maps of its tables."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.command import (
    DebugOption,
    JobFolderOption,
    JobLanguageOption,
    Language,
    language_of,
    named,
    reported,
)
from diskret.cli.show import show_results
from diskret.jobs.spelling import in_a_job
from diskret.texts import words_in


def map_(
    job_file: Annotated[
        Path | None,
        typer.Argument(metavar="JOB.toml", help="A job file that has places, as of protect."),
    ] = None,
    folder: JobFolderOption = None,
    language: JobLanguageOption = None,
    debug: DebugOption = False,
) -> None:
    """Protect, prove and write the tables of a job file with a page that shows each on a map."""
    spoken = language or language_of(job_file)
    with reported(spoken, debug, in_a_job):
        job_file = named(job_file)

        from diskret.cli.progress import progress_bars
        from diskret.jobs.read import read_job
        from diskret.jobs.run import run_job
        from diskret.publish.maps import MAPS

        job = read_job(job_file)
        if "map" not in job.output.formats:
            formats = (*job.output.formats, "map")
            job = replace(job, output=replace(job.output, formats=formats))
        with progress_bars(language=spoken) as progress:
            written, results = run_job(job, folder=folder, progress=progress)
        shown_in = language or Language(job.output.language)
        show_results(results, written, shown_in, job.output.symbols)
        words = words_in(shown_in, "commands")
        for page in sorted((written / "public").glob(f"*{MAPS['map']}")):
            typer.echo(words.said("map", page=page))

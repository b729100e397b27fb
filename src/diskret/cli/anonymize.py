"""``diskret anonymize JOB.toml`` and ``diskret safe JOB.toml``: protect microdata, prove, write."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from diskret.cli.command import (
    DebugOption,
    JobFolderOption,
    JobLanguageOption,
    Language,
    TemplateOption,
    language_of,
    named,
    reported,
)
from diskret.cli.interrupt import INTERRUPTED
from diskret.cli.show import show_claims, show_files, terminal
from diskret.errors import InputError
from diskret.jobs.spelling import in_a_job
from diskret.texts import number, scaled, words_in
from diskret.texts.messages import translated

if TYPE_CHECKING:
    from diskret.anonymize.data import Microdata
    from diskret.anonymize.result import MicrodataResult
    from diskret.jobs.microdata import MicrodataJob

JobArgument = Annotated[
    Path | None, typer.Argument(metavar="JOB.toml", help="What to protect, and how.")
]

_RARE = 3


def anonymize(
    job_file: JobArgument = None,
    folder: JobFolderOption = None,
    template: TemplateOption = False,
    language: JobLanguageOption = None,
    debug: DebugOption = False,
) -> None:
    """Protect, prove and write the microdata of a job file."""
    spoken = language or language_of(job_file)
    with reported(spoken, debug, in_a_job):
        if template:
            from diskret.jobs.template import template as job_template

            typer.echo(job_template("anonymize", spoken.value), nl=False)
            return

        from diskret.cli.progress import progress_bars
        from diskret.jobs.microdata import read_microdata_job, run_microdata_job

        job = read_microdata_job(named(job_file))
        with progress_bars(language=spoken) as progress:
            written, result = run_microdata_job(job, folder, progress=progress)
        _show(result, written, language or Language(job.language))


def _show(result: MicrodataResult, folder: Path, language: Language) -> None:
    console, texts = terminal(), words_in(language, "commands")
    md = result.microdata
    console.print()
    if md.roles.keys:  # they may have been left out
        before, after = _risk(md.whole, language), _risk(md, language)
        heads = texts["before_after"].split(", ")
        table = Table("", *heads, title_justify="left", title=result.name)
        for name, one, two in zip(texts["recognised"].split(", "), before, after, strict=True):
            table.add_row(name, Text(one, justify="right"), Text(two, justify="right"))
        console.print(table)
    show_claims(console, result.certificate.summary(language.value), language)
    console.print()
    show_files(console, folder, language)


def _risk(md: Microdata, language: Language) -> list[str]:
    """Records, those alone with their keys, those with few others, expected re-identifications."""
    risk = md.risk()
    counts = (md.n, risk.sample_uniques, risk.below(_RARE))
    shown = [number(int(count), language) for count in counts]
    return [*shown, scaled(round(10 * risk.expected), 1, language)]


def safe(
    job_file: JobArgument = None,
    folder: JobFolderOption = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="State of the search: kept there, and gone on from. Confidential."),
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds after which the best file so far is taken.")
    ] = None,
    template: TemplateOption = False,
    language: JobLanguageOption = None,
    debug: DebugOption = False,
) -> None:
    """Replace the records of a job file by safe ones, prove and write them."""
    spoken = language or language_of(job_file)
    with reported(spoken, debug, in_a_job):
        if template:
            from diskret.jobs.template import template as job_template

            typer.echo(job_template("safe", spoken.value), nl=False)
            return

        from diskret.cli.progress import progress_bars
        from diskret.jobs.microdata import read_microdata_job, run_microdata_job

        job = _with(read_microdata_job(named(job_file)), checkpoint, time_limit)
        shown = language or Language(job.language)
        try:
            with progress_bars(language=spoken) as progress:
                written, result = run_microdata_job(job, folder, progress=progress)
        except KeyboardInterrupt:
            _show_stopped(job, shown)
            raise typer.Exit(INTERRUPTED) from None
        _show_safe(result, written, shown)


def _with(job: MicrodataJob, checkpoint: Path | None, time_limit: float | None) -> MicrodataJob:
    """The job with what the command line adds to its last step."""
    if not job.steps or job.steps[-1].verb != "safe":
        raise InputError(
            f"{job.path}: there is no section [safe]; carry the job out with diskret anonymize, or "
            "use --template to see what belongs there"
        )
    *before, last = job.steps
    added: dict[str, Any] = {}
    if checkpoint is not None:
        added["checkpoint"] = str(checkpoint)
    if time_limit is not None:
        added["time_limit"] = time_limit
    arguments = dict(last.arguments)
    if time_limit is not None:
        arguments.pop("sweeps", None)
    step = replace(last, arguments={**arguments, **added})
    return replace(job, steps=(*before, step))


def _show_stopped(job: MicrodataJob, language: Language) -> None:
    texts = words_in(language, "commands")
    state = job.steps[-1].arguments.get("checkpoint")
    message = (
        texts.said("safe_stopped", file=state)
        if state is not None and Path(state).exists()
        else texts["safe_nothing"]
    )
    typer.secho(message, fg="yellow", err=True)


def _show_safe(result: MicrodataResult, folder: Path, language: Language) -> None:
    console, texts = terminal(), words_in(language, "commands")
    found = result.microdata.history[-1].found
    console.print()
    counts = Table("", *texts["before_after"].split(", "), title_justify="left", title=result.name)
    for name, key in zip(
        texts["safe_counts"].split(", "), ("records", "combinations"), strict=True
    ):
        counts.add_row(name, *(_right(one, language) for one in found[key]))
    console.print(counts)
    off = Table(*texts["safe_columns"].split(", "))
    by_dimension = dict(found["deviations"])
    every = by_dimension.pop("all")
    for name, part in [*by_dimension.items(), (texts["safe_all"], every)]:
        mean = Text(scaled(round(100 * part["mean"]), 2, language), justify="right")
        off.add_row(name, *(_right(part[key], language) for key in ("cells", "largest")), mean)
    console.print(off)
    if "note" in found:
        console.print(translated(found["note"], language))
    show_claims(console, result.certificate.summary(language.value), language)
    console.print()
    show_files(console, folder, language)


def _right(count: int, language: Language) -> Text:
    return Text(number(int(count), language), justify="right")

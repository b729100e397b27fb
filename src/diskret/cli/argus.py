"""``diskret argus JOB.arb``: carry out a job of τ-ARGUS, with proof."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from diskret import __version__
from diskret.cli.command import DebugOption, Language, LanguageOption, reported
from diskret.texts import number, words_in
from diskret.texts.messages import translated

if TYPE_CHECKING:
    from diskret.argus import ArgusRun


def argus(
    job: Annotated[Path, typer.Argument(metavar="JOB.arb", help="A batch file of τ-ARGUS.")],
    logbook: Annotated[
        str | None,
        typer.Argument(metavar="LOG", help="Where to write the log, instead of LOGBOOK."),
    ] = None,
    temporary: Annotated[
        str | None,
        typer.Argument(metavar="TEMP", help="As of τ-ARGUS; nothing is written there."),
    ] = None,
    data: Annotated[
        str | None,
        typer.Argument(
            metavar="DATA", help="Folder of files that do not lie beside the job; of outputs."
        ),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--folder", help="Also write a release, public/ and internal/, there."),
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--to", metavar="JOB.toml", help="Write it as a job for diskret protect instead."
        ),
    ] = None,
    contributor: Annotated[
        bool | None,
        typer.Option(
            "--contributor/--outsider",
            help="Against whom to protect; default: as the job asks for singletons.",
        ),
    ] = None,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Carry out a batch file of τ-ARGUS, prove the protection, and write the files it names.

    With --to it is written as a job file with comments, which releases the same.
    """
    # programs that call τ-ARGUS give empty arguments where they have nothing to say
    logbook, data = logbook or None, data or None
    with reported(language, debug):
        from diskret.argus import run, to_job
        from diskret.cli.progress import progress_bars

        if to is not None:
            if folder is not None:
                raise typer.BadParameter("--to carries out nothing; leave --folder out")
            for path in to_job(job, to, data=data, contributor=contributor):
                typer.echo(words_in(language, "commands")["internal_files"].format(folder=path))
            return

        with progress_bars(language=language) as progress, _logged(job, logbook):
            done = run(
                job,
                data=data,
                logbook=logbook,
                folder=folder,
                contributor=contributor,
                progress=progress,
            )
        _show(done, language)


@contextmanager
def _logged(job: Path, logbook: str | None) -> Generator[None]:
    """Write why a job was not carried out where its log was asked for: programs look there."""
    from diskret.errors import DiskretError

    try:
        yield
    except DiskretError as error:
        if logbook and Path(logbook).parent.is_dir() and Path(logbook).resolve() != job.resolve():
            from diskret.jobs.text_files import TextFile, write_files

            text = f"diskret {__version__}: {job.name}\n{error}\nnothing was written\n"
            with suppress(DiskretError):
                write_files([TextFile(Path(logbook), text, True)])
        raise


def _show(done: ArgusRun, language: Language) -> None:
    texts = words_in(language, "commands")
    if done.interactive:
        typer.echo(texts["argus_interactive"])
    for table in done.tables:
        said = "argus_table" if table.result is not None else "argus_unprotected"
        typer.echo(
            texts[said].format(
                number=table.number,
                name=table.name,
                cells=number(table.status.size, language),
                unsafe=number(table.unsafe, language),
                secondary=number(table.secondary, language),
            )
        )
    for note in done.notes:
        typer.secho(translated(note, language), fg="yellow")
    for path, internal in done.written.items():
        text = texts["internal_files" if internal else "public_files"]
        typer.echo(text.format(folder=path))
    if done.folder is not None:
        typer.echo(texts.said("check", folder=done.folder))

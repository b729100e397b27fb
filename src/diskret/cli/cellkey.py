"""``diskret cellkey``: perturbation tables, what they are worth, and record keys."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table
from rich.text import Text

from diskret.cli.command import REFUSED, DebugOption, Language, LanguageOption, reported
from diskret.cli.show import terminal
from diskret.disk import new_file
from diskret.errors import InputError
from diskret.texts import Figure, words_in

if TYPE_CHECKING:
    import pyarrow as pa

    from diskret.cellkey import PerturbationTable

cellkey = typer.Typer(
    help="The cell key method: design a perturbation table, attack it, give records their keys.",
    no_args_is_help=True,
)

OutOption = Annotated[
    Path, typer.Option(metavar="FILE", help="A new file, which only its owner can read.")
]


@cellkey.command()
def design(
    out: OutOption,
    max_noise: Annotated[int, typer.Option(help="Largest noise on either side.")],
    variance: Annotated[float, typer.Option(help="Variance of the noise.")],
    small_counts: Annotated[
        int, typer.Option(help="No published count is 1, ..., this; 0: all may occur.")
    ] = 0,
    stay: Annotated[float, typer.Option(help="Least probability of no noise.")] = 0.0,
    free: Annotated[
        bool, typer.Option("--free", help="Smaller noise need not be more likely than larger.")
    ] = False,
    exact: Annotated[
        bool, typer.Option("--exact", help="The variance in every row, or none: an error.")
    ] = False,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Design the perturbation table that says no more of the noise than what is asked of it."""
    with reported(language, debug):
        from diskret.cellkey import PerturbationTable

        table = PerturbationTable.maximum_entropy(
            max_noise,
            variance,
            small_counts,
            stay,
            monotone=not free,
            variance_rule="exact" if exact else "at_most",
        )
        with _new_file(out):
            table.write(out)
        _show(table, language)
        typer.echo(words_in(language, "commands").said("cell_key_written", file=out))


@cellkey.command()
def assess(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A perturbation table.")],
    limit: Annotated[
        float, typer.Option(help="Accepted probability that a small true value follows.")
    ] = 0.01,
    queries: Annotated[
        int | None,
        typer.Option(help="How many tables that divide the same units readers can get."),
    ] = None,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Attack a perturbation table before it is used; exit code 3 if a limit is not kept."""
    with reported(language, debug):
        from diskret.cellkey import Lookup
        from diskret.protect.assess import assess as assess_table

        lookup = Lookup.read(file)
        report = assess_table(lookup, limit=limit, queries=queries)
        _show(report.table, language)
        for line in report.lines(language.value):
            terminal().print(Text(line), soft_wrap=True)
        if not report.accepted:
            raise typer.Exit(REFUSED)


@cellkey.command()
def keys(
    records: Annotated[Path, typer.Argument(metavar="RECORDS", help="Parquet or CSV.")],
    id: Annotated[str, typer.Option("--id", help="Column that names the counted unit for good.")],
    out: OutOption,
    parent: Annotated[
        str | None,
        typer.Option(help="Column of what units belong to: the key is the sum of its units' keys."),
    ] = None,
    name: Annotated[str, typer.Option(help="Name of the column of keys.")] = "record_key",
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Add record keys, derived with the office's secret, and write a Parquet file."""
    with reported(language, debug):
        import pyarrow.parquet as pq

        from diskret.protect.record_keys import record_keys

        keyed: pa.Table = record_keys(records, id=id, parent=parent, name=name)
        with _new_file(out):
            pq.write_table(keyed, out)
        typer.echo(words_in(language, "commands").said("cell_key_written", file=out))


@contextmanager
def _new_file(path: Path) -> Generator[None]:
    """A file that is there, empty and private, before anything secret is written into it."""
    try:
        os.close(new_file(path))
    except FileExistsError:
        raise InputError(f"{path} exists already; name another file") from None
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}") from None
    try:
        yield
    except BaseException:
        path.unlink(missing_ok=True)
        raise


def _show(table: PerturbationTable, language: Language) -> None:
    """What each row of a perturbation table does."""
    texts, checked = words_in(language, "commands"), table.check()
    shown = Table(*texts["cell_key_columns"].split(", "))
    columns = ["mean", "variance", "least_variance", "largest_variance", "stays", "largest_noise"]
    for row in checked.to_pylist():
        figures = [f"{(row[name] or 0.0) + 0.0:.4f}".rstrip("0").rstrip(".") for name in columns]
        figures = [Figure(one).written(language).replace("-0", "0") for one in figures]
        shown.add_row(str(row["count"]), *(Text(figure, justify="right") for figure in figures))
    terminal().print(shown)

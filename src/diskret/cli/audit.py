"""``diskret audit FILE``: what a published table says about its suppressed cells."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from diskret.cli.command import REFUSED, DebugOption, Language, LanguageOption, reported
from diskret.texts import words_in
from diskret.texts.messages import translated

if TYPE_CHECKING:
    import pyarrow as pa

    from diskret.hierarchy import Hierarchy

_SHOWN = 20
#: An option as Python writes it, with a text behind it or none.
_OPTION = re.compile(
    r"\b(total|suppressed|frequency|rounding|signed|decimal|thousands|encoding|delimiter|sheet|header)"
    r"(?:=(?=[\s,;:)]|\.?$|\.\s)|(=)(?=[\"']))"
)


def audit(
    file: Annotated[
        Path, typer.Argument(metavar="FILE", help="CSV, Parquet or .xlsx, one row a cell.")
    ],
    value: Annotated[str, typer.Option(help="Column of the published values.")],
    by: Annotated[
        list[str],
        typer.Option(
            metavar="COLUMN=TREE",
            help="A code column and its tree: flat, a .hrc file, or a .csv file with code and "
            "parent. Once for each dimension.",
        ),
    ],
    total: Annotated[
        str, typer.Option(help="Code of the totals of flat and .hrc dimensions.")
    ] = "Total",
    suppressed: Annotated[
        list[str] | None,
        typer.Option(metavar="SYMBOL", help="What stands in place of a suppressed value."),
    ] = None,
    frequency: Annotated[
        bool, typer.Option("--frequency", help="The values are counts of units.")
    ] = False,
    rounding: Annotated[
        float | None,
        typer.Option(
            metavar="UNIT",
            help="Values are rounded to multiples of this, e.g. 1000, or 5 for counts.",
        ),
    ] = None,
    signed: Annotated[
        bool, typer.Option("--signed", help="Hidden values may be negative, as profits may be.")
    ] = False,
    time_limit: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            help="End the attack after so many seconds; what it has not told by then is bounded.",
        ),
    ] = None,
    decimal: Annotated[str, typer.Option(help="Decimal mark of the file.")] = ".",
    thousands: Annotated[str, typer.Option(help="Mark between thousands in the file.")] = "",
    encoding: Annotated[
        str | None, typer.Option(help="Encoding of the file, e.g. cp1252; left out: UTF-8.")
    ] = None,
    delimiter: Annotated[str | None, typer.Option(help="Between the fields of a CSV file.")] = None,
    sheet: Annotated[str | None, typer.Option(help="Sheet of a workbook.")] = None,
    header: Annotated[int, typer.Option(help="Row of a sheet that holds the names.")] = 1,
    language: LanguageOption = Language.en,
    debug: DebugOption = False,
) -> None:
    """Attack a published table: how closely can suppressed cells be computed."""
    with reported(language, debug, _on_the_command_line):
        wanted = dict(map(_split, by))

        from diskret.cli.progress import progress_bars
        from diskret.cli.show import terminal
        from diskret.io import DataFile, to_arrow
        from diskret.io.placed import placed
        from diskret.protect.audit import audit as audit_table

        said = DataFile(
            file,
            encoding=encoding,
            delimiter=delimiter,
            decimal=cast(Any, decimal),
            thousands=cast(Any, thousands),
            sheet=sheet,
            header=header,
        )
        cells = to_arrow(said)[0]
        with placed(said):
            trees = {name: _tree(tree, cells, name, total) for name, tree in wanted.items()}
        symbols: dict[str, Any] = {} if suppressed is None else {"suppressed": suppressed}
        with progress_bars(language=language) as progress:
            report = audit_table(
                said,
                trees,
                value,
                frequency=frequency,
                rounding=rounding,
                signed=signed,
                time_limit=time_limit,
                progress=progress,
                **symbols,
            )
        texts = words_in(language, "commands")
        for line in report.lines:
            typer.echo(translated(line, language))
        if report.suppressed:
            terminal().print(_intervals(report.frame, language))
        if report.exact:
            typer.secho(texts.said("exact", exact=report.exact), fg="red")
            raise typer.Exit(REFUSED)
        if report.outer:
            typer.secho(texts.said("not_settled", outer=report.outer), fg="yellow")
        else:
            typer.secho(texts["safe_from_exact"], fg="green")


def _on_the_command_line(message: str) -> str:
    """Remedies, which messages write in Python, as options of this command."""
    return _OPTION.sub(r"--\1\2", re.sub(r"DataFile\(path, ([^()]*)\)", r"\1", message))


def _split(option: str) -> tuple[str, str]:
    column, equals, tree = option.partition("=")
    if not (column and equals and tree):
        raise typer.BadParameter(f"--by {option}: write COLUMN=flat or COLUMN=FILE")
    return column, tree


def _tree(tree: str, cells: pa.Table, column: str, total: str) -> Hierarchy:
    from diskret.hierarchy import Hierarchy
    from diskret.io.columns import code_text
    from diskret.io.columns import column as named
    from diskret.jobs.values import HierarchyFile

    if tree != "flat":
        return HierarchyFile(Path(tree), total).read()
    codes = code_text(named(cells, column), column).unique().to_pylist()
    return Hierarchy.flat([code for code in codes if code != total], total)


def _intervals(frame: Any, language: Language) -> Any:
    """The narrowest intervals as a table."""
    import pyarrow.compute as pc
    from rich.table import Table
    from rich.text import Text

    texts = words_in(language, "commands")
    width = pc.subtract(frame["upper"], frame["lower"])
    narrowest = pc.array_sort_indices(width, null_placement="at_end").slice(0, _SHOWN)
    table = Table(title=Text(texts["intervals"]), title_justify="left")
    for name in frame.column_names:
        bound = {"lower": texts["lower"], "upper": texts["upper"]}.get(name)
        table.add_column(Text(bound or name), justify="right" if bound else "left")
    for row in frame.take(narrowest).to_pylist():
        table.add_row(
            *(Text(texts["unbounded"] if item is None else str(item)) for item in row.values())
        )
    return table

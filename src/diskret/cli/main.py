"""The program ``diskret``."""

from typing import Annotated

import typer

from diskret import __version__
from diskret.cli.anonymize import anonymize
from diskret.cli.audit import audit
from diskret.cli.cellkey import cellkey
from diskret.cli.demo import demo
from diskret.cli.ledger import ledger
from diskret.cli.protect import protect
from diskret.cli.safe import safe
from diskret.cli.usage import Program
from diskret.cli.verify import verify

app = typer.Typer(
    name="diskret",
    cls=Program,
    help="Statistical disclosure control: protect tables, prove the protection, publish.",
    epilog="Exit codes: 0 done, 1 bad input, 2 wrong usage, 3 a claim could not be proven.",
    no_args_is_help=True,
    add_completion=False,
    # local variables may hold confidential values
    pretty_exceptions_show_locals=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"diskret {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    show_version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_version, is_eager=True)
    ] = False,
) -> None:
    pass


app.command()(demo)
app.command()(protect)
app.command()(anonymize)
app.command()(safe)
app.command()(verify)
app.command()(audit)
app.add_typer(ledger, name="ledger")
app.add_typer(cellkey, name="cellkey")


def main() -> None:
    """Run the program; exit codes: 0 done, 1 bad input, 2 usage, 3 not proven."""
    app(prog_name="diskret")

"""What became of a programme of releases, on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from diskret.cli.options import Language
from diskret.cli.show import terminal
from diskret.texts import number, words_in

if TYPE_CHECKING:
    from diskret.jobs.programme import ProgrammeRun


def show_programme(run: ProgrammeRun, language: Language) -> None:
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

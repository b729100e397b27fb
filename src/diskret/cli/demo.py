"""``diskret demo``: protect two tables of a made-up business register."""

from pathlib import Path
from typing import Annotated

import typer

from diskret.cli.options import DebugOption, FolderOption, Language, LanguageOption
from diskret.cli.outcome import reported


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
        from diskret.cli.show import show_results
        from diskret.jobs.run import run_demo

        with progress_bars(language=language) as progress:
            written, results = run_demo(folder, firms, seed, language.value, progress)
        show_results(results, written, language)

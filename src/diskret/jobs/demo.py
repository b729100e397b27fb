"""The bundled example: a made-up register, protected and written."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from diskret.attack import Attacker
from diskret.datasets import business_register
from diskret.progress import Progress, silent
from diskret.protect.result import Result
from diskret.protect.suppress import suppress
from diskret.protect.tabulate import tabulate
from diskret.protect.write import write
from diskret.rules import MinimumFrequency, PPercent
from diskret.texts import words_in


def run_demo(
    folder: str | PathLike[str],
    firms: int = 50_000,
    seed: int = 1,
    language: str = "en",
    progress: Progress = silent,
) -> tuple[Path, list[Result]]:
    """Protect and write the turnover and the number of firms of a made-up register.

    Turnover is judged by the p% rule and a minimum frequency, the number of firms by the
    minimum frequency alone; holdings count as one contributor. Turnover is protected against
    contributors, too.

    folder: where to write.
    seed: another seed gives another economy.
    language: of the workbooks and reports: ``"en"`` or ``"de"``.

    Returns: the folder and the two results.
    """
    register = business_register(firms, seed)
    table = tabulate(
        register.records,
        by={"nace": register.nace, "region": register.region},
        value="turnover",
        unit="firm_id",
        holding="group_id",
        largest=2,
        contributions=True,
        progress=progress,
    )
    results = [
        suppress(
            table,
            PPercent(10) | MinimumFrequency(3),
            attacker=Attacker(contributor=True),
            name="turnover",
            progress=progress,
        ),
        suppress(table["count"], MinimumFrequency(3), name="firms", progress=progress),
    ]
    words = words_in(language, "commands")
    titles = {name: words[f"demo.{name}"] for name in ("turnover", "firms")}
    formats = ("csv", "parquet", "xlsx", "html")
    written = write(results, folder, formats, language=language, titles=titles, progress=progress)
    return written, results

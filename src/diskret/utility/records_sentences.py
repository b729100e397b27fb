"""The key figures of compared records in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from diskret.utility.words import number, words_in

if TYPE_CHECKING:
    from diskret.utility.records_comparison import RecordsComparison


def sentences(found: RecordsComparison, language: str) -> list[str]:
    """The key figures in sentences, see `RecordsComparison.lines`."""
    words = words_in(language)

    def written(value: float, decimals: int = 0) -> str:
        return number(value, decimals, language)

    def said() -> Iterator[str]:
        if found.categories is None:
            yield words["records"].format(records=written(found.files.n))
        else:
            yield from found.categories.lines(language)
        if found.dropped:
            yield words["dropped"].format(names=", ".join(found.dropped))
        for name, loss in found.values.items():
            if not (loss.changed or loss.suppressed or loss.filled):
                yield words["unchanged values"].format(variable=name)
                continue
            yield words["numeric values"].format(
                variable=name,
                changed=written(loss.changed),
                changed_share=written(100 * loss.changed / max(loss.compared, 1), 1),
                suppressed=written(loss.suppressed),
                il1s=written(loss.il1s, 4),
                squares=written(100 * loss.squares, 2),
            )
        figures = found.figures
        if found.numeric:
            yield words["numeric structure"].format(
                means=written(figures["means"], 4),
                variances=written(100 * figures["variances"], 2),
            )
        if len(found.numeric) > 1:
            yield words["correlations"].format(
                correlations=written(figures["correlations"], 4),
                spearman=written(figures["spearman"], 4),
                eigenvalues=written(100 * figures["eigenvalues"], 2),
                gamma=written(figures["gamma"], 4),
            )
        yield words["lambda"].format(value=written(figures["lambda"], 4))
        if not math.isnan(figures["pmse"]):
            told = found.propensity()
            yield words["propensity"].format(
                parameters=written(told.parameters),
                pmse=written(told.pmse, 6),
                ratio=written(told.ratio, 2),
            )

    return list(said())

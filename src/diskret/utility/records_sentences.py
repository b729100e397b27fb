"""The key figures of compared records in sentences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from diskret.texts import number, words_in

if TYPE_CHECKING:
    from diskret.utility.records_comparison import RecordsComparison


def sentences(found: RecordsComparison, language: str) -> list[str]:
    """The key figures in sentences, see `RecordsComparison.lines`."""
    words = words_in(language, "utility")

    def written(value: float, decimals: int = 0) -> str:
        return number(value, language, decimals)

    def said() -> Iterator[str]:
        if found.categories is None:
            yield words.said("records", records=written(found.files.n))
        else:
            yield from found.categories.lines(language)
        if found.dropped:
            yield words.said("dropped", names=", ".join(found.dropped))
        for name, loss in found.values.items():
            if not (loss.changed or loss.suppressed or loss.filled):
                yield words.said("unchanged values", variable=name)
                continue
            yield words.said(
                "numeric values",
                variable=name,
                changed=written(loss.changed),
                changed_share=written(100 * loss.changed / max(loss.compared, 1), 1),
                suppressed=written(loss.suppressed),
                il1s=written(loss.il1s, 4),
                squares=written(100 * loss.squares, 2),
            )
        figures = found.figures
        if found.numeric:
            yield words.said(
                "numeric structure",
                means=written(figures["means"], 4),
                variances=written(100 * figures["variances"], 2),
            )
        if len(found.numeric) > 1:
            yield words.said(
                "correlations",
                correlations=written(figures["correlations"], 4),
                spearman=written(figures["spearman"], 4),
                eigenvalues=written(100 * figures["eigenvalues"], 2),
                gamma=written(figures["gamma"], 4),
            )
        yield words.said("lambda", value=written(figures["lambda"], 4))
        if not math.isnan(figures["pmse"]):
            told = found.propensity()
            yield words.said(
                "propensity",
                parameters=written(told.parameters),
                pmse=written(told.pmse, 6),
                ratio=written(told.ratio, 2),
            )

    return list(said())

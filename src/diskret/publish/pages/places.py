"""The map of a table as one page that needs nothing but itself."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from diskret.publish.formats.maps.features import Features
from diskret.publish.in_words import table_words
from diskret.publish.maps import PAGE_TEXTS, PAGE_WORDS, page_parts


def write_map_page(
    features: Features,
    path: Path,
    *,
    title: str,
    language: str,
    note: str = "",
    found: Sequence[Mapping[str, Any]] = (),
) -> None:
    """Write the page; the same content always gives the same bytes.

    `note`: what stands beside the title, such as that the page is confidential; `found`: sums to be
    shown, each with its ``text`` and its ``places``, by their number; for the office only.
    """
    words = table_words(language, *PAGE_WORDS)
    outlines = features.outlines
    content: dict[str, Any] = {
        "language": language,
        "title": title,
        "note": note,
        "variable": features.variable,
        "words": {name: words[key] for name, key in PAGE_TEXTS.items()},
        "decimals": features.decimals,
        "codes": features.codes,
        "squares": None if outlines.squares is None else outlines.squares.T.tolist(),
        "rings": [[ring.ravel().tolist() for ring in own] for own in outlines.rings],
        "columns": [
            {
                "label": " ".join(one.labels) or features.columns[0].value,
                "values": one.scaled.tolist(),
                "states": one.state.tolist(),
            }
            for one in features.columns
        ],
        "found": [dict(one) for one in found],
    }
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"))
    before, after = page_parts()
    path.write_text(before + text.replace("<", "\\u003c") + after, encoding="utf-8", newline="\n")

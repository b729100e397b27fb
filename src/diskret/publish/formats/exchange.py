"""Files for exchange of one cube, in the formats that are asked for."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from diskret.publish.exchange import EXCHANGE
from diskret.publish.formats.cube import EMPTY, HIDDEN, SHOWN, Cube, Kept
from diskret.publish.formats.flags import (
    FREE,
    SAFE_SBS,
    SECONDARY,
    conf_status,
    most_contributors,
    sbs_letter,
)
from diskret.publish.formats.json_stat import write_json_stat
from diskret.publish.formats.px import write_px
from diskret.publish.formats.sdmx_csv import write_sdmx_csv

#: What stands in the public file of nobody: hidden because it is not to leave the office.
_WITHHELD = "N"


def write_exchange(
    cube: Cube, folder: Path, stem: str, formats: Collection[str], agency: str
) -> list[str]:
    """Write a cube into a folder; the files' names."""
    written: list[str] = []
    for one, ending in EXCHANGE.items():
        if one not in formats:
            continue
        written.append(f"{stem}{ending}")
        path = folder / written[-1]
        if one == "px":
            write_px(cube, path)
        elif one == "jsonstat":
            write_json_stat(cube, path)
        else:
            write_sdmx_csv(cube, path, "1.0" if one == "sdmx1" else "2.0", agency)
    return written


def kept_cube(
    public: Cube,
    value: NDArray[np.int64],
    empty: NDArray[np.bool_],
    status: list[str],
    rules: list[str],
    rule: str,
) -> Cube:
    """The internal profile of a table with hidden cells. Confidential.

    `value`: the true ones, scaled; `status` primary | secondary | anything else; `rules`: the rule
    that found each primary, ``""`` for others; `rule`: all of them with their parameters.
    """
    words, most = public.words, most_contributors(rule)
    conf: list[str] = []
    sbs: list[str] = []
    reasons: list[str] = []
    for one, found in zip(status, rules, strict=True):
        if one == "primary":
            conf.append(conf_status(found, most))
            sbs.append(sbs_letter(found, most == 1))
            reasons.append(f"{words['status primary']} ({found})")
        elif one == "secondary":
            conf.append(SECONDARY)
            sbs.append(SECONDARY)
            reasons.append(words["status secondary"])
        else:
            conf.append(FREE)
            sbs.append(SAFE_SBS)
            reasons.append("")
    return replace(
        public,
        value=value.ravel(),
        state=np.where(empty.ravel(), EMPTY, SHOWN).astype(np.int8),
        lower=None,
        upper=None,
        kept=Kept(tuple(conf), tuple(sbs), tuple(reasons)),
    )


def kept_changed_cube(public: Cube, original: NDArray[np.int64], noise: NDArray[np.int64]) -> Cube:
    """The internal profile of a table with changed values: before, after, and between."""
    shown = public.state.copy()
    state = np.stack([np.full_like(shown, SHOWN), shown, shown], axis=-1)
    value = np.stack([original.ravel(), public.value, noise.ravel()], axis=-1)
    measures = ("original", "published", "noise")
    conf = [_WITHHELD if one == HIDDEN else FREE for one in state.ravel().tolist()]
    return replace(
        public,
        measures=measures,
        labels=tuple(public.words[f"column {name}"] for name in measures),
        decimals=public.decimals * 3,
        counts=public.counts * 3,
        value=value.ravel(),
        state=state.ravel(),
        kept=Kept(tuple(conf), (SAFE_SBS,) * len(conf), ("",) * len(conf)),
    )

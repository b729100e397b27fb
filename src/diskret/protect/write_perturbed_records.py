"""Counts perturbed where the records lie go straight to a release: no process holds them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from diskret.attack.cell_key_certificate import check_unseen, unseen_certificate
from diskret.cellkey import Lookup, PerturbationTable
from diskret.engines.contract import PerturbedBlocks
from diskret.engines.engine import Engine
from diskret.errors import InputError
from diskret.hierarchy import Hierarchy
from diskret.io import Source
from diskret.io.placed import placed
from diskret.keys import SecretKeys
from diskret.population import Population
from diskret.progress import Progress, silent
from diskret.protect.perturb_records import AskedCounts
from diskret.protect.tabulate import engine_of
from diskret.protect.write_internal import write_certificate_only
from diskret.publish.contract import Look, Release, Streamed
from diskret.publish.staging import target_of
from diskret.publish.write import write_releases
from diskret.tables import Block, Outline
from diskret.tables.outline import ROWS
from diskret.tables.public_files import check_file_name


def write_perturbed_records(
    records: Any,
    folder: str | PathLike[str],
    *,
    by: Mapping[str, Hierarchy | None],
    ptable: PerturbationTable | Lookup,
    record_key: str,
    key_modulus: int = 2**32,
    key_digits: int | None = None,
    unit: str | None = None,
    where: Mapping[str, Any] | Population | None = None,
    threshold: int | None = None,
    vintage: str = "",
    name: str = "count",
    engine: Callable[[Source], AbstractContextManager[Engine]] | None = None,
    keys: SecretKeys | str | PathLike[str] | None = None,
    progress: Progress = silent,
) -> Path:
    """Write the counts of [`perturb_records`][diskret.perturb_records] without holding them.

    The engine gives some 131,072 cells at a time, which are certified and written to Parquet before
    the next ones come, so memory does not grow with the table. The release is the one that
    ``perturb_records(...).write(folder, ["parquet"])`` makes, to the last byte of the Parquet file,
    but without a CSV: ``public/`` holds the structure, the Parquet file and the certificate. It is
    written as a whole or not at all, read back before it leaves, and verified like all others.

    Parameters
    ----------
    records, by, ptable, record_key, key_modulus, key_digits, unit, where, threshold, vintage, \
name, engine, progress
        As for [`perturb_records`][diskret.perturb_records]; ``progress("perturb", done, total)``
        counts cells.
    folder
        Missing, empty, or a release written before, which is replaced.
    keys
        The office's keys, which seal the list of all files; see `SecretKeys`.

    Returns
    -------
    Path
        The folder. No ledger knows of it; `Published.read` holds the table if it fits, and
        [`Ledger.record`][diskret.Ledger.record] remembers it then.

    Raises
    ------
    InputError
        As for [`perturb_records`][diskret.perturb_records]; or the folder holds other files.
    HierarchyError
        Codes are not leaves of their tree.
    ProofError
        The engine gave counts that the perturbation table rules out, or something else would have
        been written; nothing was.

    References
    ----------
    Fraser and Wooton (2006), "A proposed method for confidentialising tabular output to protect
    against differencing", Monographs of official statistics, Eurostat.

    Examples
    --------
    >>> import tempfile
    >>> import pyarrow as pa
    >>> from diskret.tables import Published
    >>> persons = pa.table({"region": ["N", "N", "N", "S"], "key": [9, 3, 6, 4]})
    >>> one_up_or_down = PerturbationTable(
    ...     np.array([0, 1]), np.array([-1, 0, 1]), np.array([[0, 1, 0], [0.3, 0.4, 0.3]])
    ... )
    >>> asked = {"by": {"region": None}, "record_key": "key", "key_modulus": 10}
    >>> keys = SecretKeys(bytes(range(32)))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     out = write_perturbed_records(
    ...         persons, f"{folder}/out", ptable=one_up_or_down, keys=keys, **asked
    ...     )
    ...     Published.read(out).value.tolist()
    [3, 4, 1]
    """
    check_file_name(name)
    target_of(folder)  # refused before the work
    asked = AskedCounts.of(
        records, by, ptable, record_key, key_modulus, key_digits, unit, where, threshold,
    )  # fmt: skip
    secret = SecretKeys.load(keys)
    with (
        placed(records),
        (engine or engine_of(asked.records))(asked.records) as running,
        running.perturbed_blocks(asked.question, asked.noise, asked.least, ROWS) as found,
    ):
        outline = asked.outline(found.by, name, vintage)
        certificate = unseen_certificate(outline, asked.lookup)
        release = Release(
            public=Streamed(outline, _certified(found, outline, asked, progress)),
            certificate=certificate.public(),
            inputs={},
            page=_no_page,
            internal=partial(write_certificate_only, certificate, asked.settings),
        )
        return write_releases([release], folder, Look(("parquet",)), secret)


def _certified(
    found: PerturbedBlocks, outline: Outline, asked: AskedCounts, progress: Progress
) -> Iterator[Block]:
    """The cells, each block after it was checked."""
    start, least = 0, asked.threshold or 0
    progress("perturb", start, outline.size)
    for value in found.values:
        block = Block(outline, start, value, value < least, np.zeros(len(value), dtype=bool))
        check_unseen(block, asked.lookup, least)
        yield block
        start = block.stop
        progress("perturb", start, outline.size)


def _no_page(
    certificate: Mapping[str, Any], path: Path, *, title: str | None, language: str
) -> None:
    raise InputError("a table that is written block by block has no page; leave html out")

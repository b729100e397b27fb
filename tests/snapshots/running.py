"""Cases, how they are run so that two runs are the same, and how a release is written in full."""

from __future__ import annotations

import contextlib
import gc
import hashlib
import io
import os
import shutil
import sqlite3
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Generator, Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from openpyxl import Workbook

import diskret as dk
from diskret.cli.main import main as command_line
from diskret.engines import duckdb

SECRET = bytes(range(32))
KEYS = dk.SecretKeys(SECRET)
FORMATS = ("csv", "xlsx", "html", "parquet")
LANGUAGES = ("en", "de")
OUTSIDER = dk.Attacker()

Case = Callable[[Path], None]
#: Name of a case → what it does in its folder.
CASES: dict[str, Case] = {}


def case(name: str) -> Callable[[Case], Case]:
    """Enter a case under its name."""

    def enter(function: Case) -> Case:
        assert name not in CASES, name
        CASES[name] = function
        return function

    return enter


# ── writing ─────────────────────────────────────────────────────────────────────────


def release(results: Any, folder: Path, **more: object) -> None:
    """Write in all formats, into a template, in both languages, and verify."""
    together = list(results) if isinstance(results, Sequence) else [results]
    folder.mkdir(parents=True, exist_ok=True)
    template = layout(folder / "layout.xlsx", together)
    titles = {one.published.name: f"Title of {one.published.name}" for one in together}
    for language in LANGUAGES:
        out = folder / language
        options = {"language": language, "keys": KEYS, "template": template, "titles": titles}
        dk.write(together, out, formats=FORMATS, **options | more)  # type: ignore[arg-type]
        printed(folder / f"verify.{language}.txt", "verify", str(out), "--language", language)
    template.unlink()


def layout(path: Path, results: Sequence) -> Path:
    """An office's workbook with a block of each table, by its first dimension."""
    book = Workbook()
    sheet, row = book.active, 1
    for published in (one.published for one in results):
        name, first = published.name, published.dimensions[0]
        sheet.cell(row, 1, f"{{{{{name}: title}}}}")
        sheet.cell(row + 1, 1, f"{{{{{name}: rows={first.name}}}}}")
        for below, code in enumerate(first.hierarchy.codes, start=2):
            sheet.cell(row + below, 1, code)
        row += len(first.hierarchy.codes) + 3
    sheet.cell(row, 1, "{{legend}}")
    book.save(path)
    return path


def printed(file: Path, *arguments: str) -> None:
    """Keep what the command line prints, and how it ends."""
    said = io.StringIO()
    ends: object = 0
    with (
        contextlib.redirect_stdout(said),
        contextlib.redirect_stderr(said),
        patch.object(sys, "argv", ["diskret", *arguments]),
    ):
        try:
            command_line()
        except SystemExit as end:
            ends = end.code
    text = said.getvalue().replace(str(file.parent.resolve()), ".").replace(str(file.parent), ".")
    file.write_text(f"{text}exit {ends}\n", encoding="utf-8")


def dumped(ledger: Path) -> None:
    """Replace a ledger by its rows as text: SQLite's pages say more than the ledger does."""
    with contextlib.closing(sqlite3.connect(ledger)) as database:
        names = [name for (name,) in database.execute(_TABLES)]
        rows = [
            f"{name}: {row(found)}" for name in names for found in database.execute(_ROWS + name)
        ]
    ledger.unlink()
    ledger.with_name(ledger.name + ".lock").unlink(missing_ok=True)
    ledger.with_suffix(".txt").write_text("\n".join(rows) + "\n", encoding="utf-8")


_TABLES = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"
_ROWS = "SELECT * FROM "


def row(found: tuple) -> str:
    """Values of a row; of those in bytes their length and fingerprint."""
    return " | ".join(
        f"{len(value)} bytes {hashlib.sha256(value).hexdigest()}"
        if isinstance(value, bytes)
        else str(value)
        for value in found
    )


# ── running ─────────────────────────────────────────────────────────────────────────


@contextlib.contextmanager
def office(folder: Path) -> Generator[None]:
    """An office whose keys, clerk, clock and number of the ledger are always the same."""
    path = (folder / "office.keys").resolve()
    dk.SecretKeys.load(path)
    header = path.read_text("ascii").splitlines()[0]
    path.write_text(f"{header}\n{SECRET.hex()}\n", encoding="ascii")
    variables = {"DISKRET_KEYS": str(path), "LOGNAME": "clerk", "COLUMNS": "100"}
    try:
        with (
            patch.dict(os.environ, variables),
            patch("diskret.unrepeatable.now", lambda: "2026-01-02T03:04:05+00:00"),
            patch("diskret.unrepeatable.new_number", lambda: "0123456789abcdef" * 2),
        ):
            yield
    finally:
        path.unlink(missing_ok=True)


def run(folder: Path, names: Sequence[str]) -> None:
    """Carry out cases, each in a folder of its name; errors and warnings stand there, too."""
    folder.mkdir(parents=True, exist_ok=True)
    with scratch() as desk, office(desk):
        for name in names:
            own = desk / name
            own.mkdir()
            gc.collect()  # what others left open is none of this case's warnings
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                try:
                    CASES[name](own)
                except Exception as error:
                    text = "".join(traceback.format_exception_only(error))
                    (own / "error.txt").write_text(text, encoding="utf-8")
            said = sorted({f"{one.category.__name__}: {one.message}" for one in told})
            (own / "warnings.txt").write_text("\n".join(said), encoding="utf-8")
            shutil.rmtree(folder / name, ignore_errors=True)
            shutil.move(own, folder / name)


@contextlib.contextmanager
def threads(number: int | None) -> Generator[None]:
    """As on a machine with so many cores, which every question to DuckDB uses; None: as it is."""
    if number is None:
        yield
        return
    own = duckdb._own

    def with_threads(folder: str, limit: str | None, _: int | None) -> Any:
        return own(folder, limit, number)

    with (
        patch("os.sched_getaffinity", lambda _: {*range(number)}),
        patch.object(duckdb, "_few", lambda _: False),
        patch.object(duckdb, "_own", with_threads),
    ):
        yield


@contextlib.contextmanager
def scratch() -> Generator[Path]:
    """A folder whose name is the same in every run: a ledger keeps the folders of releases."""
    desk = Path(tempfile.gettempdir()).resolve() / "diskret-snapshots"
    try:
        desk.mkdir(mode=0o700)
    except FileExistsError:
        sys.exit(f"{desk} is there: another run is going on, or one was killed; then remove it")
    try:
        yield desk
    finally:
        shutil.rmtree(desk)


def refused(folder: Path) -> str:
    """Why a case ended with an error; empty if it did not."""
    error = folder / "error.txt"
    return error.read_text(encoding="utf-8").strip() if error.exists() else ""

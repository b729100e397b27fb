"""Results to files: public and internal apart, all or nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from diskret.errors import InputError
from diskret.formats import write_columns
from diskret.formats.csv import write_csv
from diskret.formats.parquet import write_parquet
from diskret.formats.symbols import SymbolSet, symbol_set
from diskret.formats.xlsx import write_xlsx
from diskret.keys import SecretKeys
from diskret.progress import Progress, silent
from diskret.release import (
    COMBINED,
    DERIVED,
    Releases,
    Stage,
    check_public,
    combined_outline,
    derived_outline,
    digest,
    public_digests,
    staged,
    write_json,
)
from diskret.report import write_changed_report, write_public_report
from diskret.tables import Derived, Published, SideBySide
from diskret.tables.dimension import describe
from diskret.tables.public_files import structure
from diskret.workflow.empty_cells import known_empty
from diskret.workflow.fingerprint import fingerprint
from diskret.workflow.linked import linked
from diskret.workflow.microdata.result import MicrodataResult
from diskret.workflow.perturbed_result import PerturbedResult
from diskret.workflow.result import Result
from diskret.workflow.safe_intervals import with_intervals
from diskret.workflow.software import software
from diskret.workflow.unlike import check_alike
from diskret.workflow.write_internal import write_internal, write_internal_changed
from diskret.workflow.write_template import fill_into

FORMATS = ("csv", "parquet", "xlsx", "html")
DEFAULT_FORMATS = ("csv", "xlsx")
LANGUAGES = ("en", "de")
#: Opens the two folders that files are written into, and closes the release.
Staging = Callable[[str | PathLike[str]], AbstractContextManager[Stage]]
#: How much work the reasons of secondaries may take; see `Result.explain`.
EXPLAIN = 500


def write(
    results: Sequence[Result | PerturbedResult],
    folder: str | PathLike[str],
    formats: Iterable[str] = DEFAULT_FORMATS,
    *,
    language: str = "en",
    symbols: str | SymbolSet = "de-classic",
    titles: Mapping[str, str] | None = None,
    template: str | PathLike[str] | None = None,
    keys: SecretKeys | str | PathLike[str] | None = None,
    intervals: bool = False,
    explain: int = EXPLAIN,
    derived: Sequence[Derived] = (),
    combined: str | Mapping[str, Sequence[str]] | None = None,
    neutralise: bool = False,
    releases: Releases = (),
    progress: Progress = silent,
    staging: Staging | None = None,
) -> Path:
    """Write results into one folder; see [`Result.write`][diskret.Result.write].

    Parameters
    ----------
    results
        The results; all that were protected together.
    folder, formats, language, symbols, template, keys, explain, derived, neutralise, releases, \
progress
        As for one result.
    titles
        Name of a result → heading of its workbook and report.
    combined
        Name of an additional file that shows all results and derived figures side by side, each
        column with a status; they must have the same dimensions (an index, which has a row
        for each period, is left out). Or name → the names of what it shows, for several
        files.
    staging
        How the files get into the folder; None: all at once. Else together with an entry in a
        ledger (use [`Ledger.publish`][diskret.Ledger.publish]).

    Raises
    ------
    InputError
        An option is unknown, two results have the same name, the folder holds other files, a
        derived figure is made of something that is not published, or tables with other
        dimensions cannot stand side by side.
    ProofError
        Something that must not leave would have been written; nothing was.
    """
    formats = checked(results, formats, language)
    symbols = symbol_set(symbols)
    titles = titles or {}
    secret = SecretKeys.load(keys)
    if intervals:
        results = intervals_of(results, secret, progress)
    tables = [result.published for result in results]
    if any(Path(release).resolve() == Path(folder).resolve() for release in releases):
        raise InputError(
            f"{folder} cannot be replaced by a release that refers to it; write to another folder"
        )
    _check_derived(derived)
    outlines = [derived_outline(figure, tables, releases) for figure in derived]
    beside = _side_by_side([*tables, *derived], combined)
    _check_file_names([*results, *derived, *beside])
    with staging(folder) if staging else staged(folder, secret) as stage:
        filled = None
        if template is not None:
            filled = fill_into(stage.public, tables, Path(template), language, symbols, titles)
        shared = [] if filled is None else [filled.name]
        for figure, outline in zip(derived, outlines, strict=True):
            shared += write_columns(figure, stage.public, formats, language, neutralise)
            shared.append(f"{figure.name}{DERIVED}")
            write_json(outline, stage.public / shared[-1])
        for shown in beside:
            shared += write_columns(shown, stage.public, formats, language, neutralise)
            shared.append(f"{shown.name}{COMBINED}")
            write_json(combined_outline(shown), stage.public / shared[-1])
        for result in results:
            title = titles.get(result.name)
            _write_public(
                result, stage.public, formats, language, symbols, title, shared, secret, neutralise
            )
            if isinstance(result, PerturbedResult):
                write_internal_changed(result, stage.internal, formats, language, title, neutralise)
            else:
                found = result.explanations_if_any(explain, progress) if explain else None
                write_internal(
                    result, stage.internal, formats, language, title, found, secret, neutralise
                )
        check_public(
            stage.public, tables, filled, derived=derived, combined=beside, releases=releases
        )
    return Path(folder)


def _side_by_side(
    parts: Sequence[Published | Derived], combined: str | Mapping[str, Sequence[str]] | None
) -> list[SideBySide]:
    """What stands in each combined file."""
    if combined is None:
        return []
    if isinstance(combined, str):
        shown = [part for part in parts if isinstance(part, Published) or not part.periods]
        return [SideBySide(combined, tuple(shown))]
    named = {part.name: part for part in parts}
    unknown = [name for names in combined.values() for name in names if name not in named]
    if unknown:
        raise InputError(
            f"combined= names {unknown[0]!r}, which is no table of this release; there are "
            f"{', '.join(map(repr, named))}"
        )
    return [
        SideBySide(name, tuple(named[part] for part in names)) for name, names in combined.items()
    ]


def _check_file_names(written: Sequence[Result | PerturbedResult | Derived | SideBySide]) -> None:
    """Refuse two things that would be written into the same file on some system."""
    seen: dict[str, str] = {}
    for one in written:
        other = seen.setdefault(one.name.casefold(), one.name)
        if other is not one.name or [w.name for w in written].count(one.name) > 1:
            raise InputError(
                f"the name {one.name!r} is taken by another table or figure of this release; "
                "give one of them another name="
            )


def intervals_of(
    results: Sequence[Result | PerturbedResult], keys: SecretKeys, progress: Progress = silent
) -> list[Result | PerturbedResult]:
    """Results whose tables publish intervals; those protected together are proven together."""
    groups: dict[int, list[Result]] = {}
    for result in results:
        if isinstance(result, Result):
            groups.setdefault(id(result.certificate.proof), []).append(result)
    proven: dict[str, Result | PerturbedResult] = {result.name: result for result in results}
    for group in groups.values():
        names = [table.name for table in group[0].certificate.proof.publication.own]
        ordered = sorted(group, key=lambda result: names.index(result.name))
        proven |= {result.name: result for result in with_intervals(ordered, keys, progress)}
    return [proven[result.name] for result in results]


def _write_public(
    result: Result | PerturbedResult,
    folder: Path,
    formats: Sequence[str],
    language: str,
    symbols: SymbolSet,
    title: str | None,
    shared: Sequence[str],
    keys: SecretKeys,
    neutralise: bool,
) -> None:
    published, name = result.published, result.name
    write_json(structure(published), folder / f"{name}.structure.json")
    write_csv(published, folder / f"{name}.csv", neutralise)
    files = [*shared, f"{name}.structure.json", f"{name}.csv"]
    if "parquet" in formats:
        write_parquet(published, folder / f"{name}.parquet")
        files.append(f"{name}.parquet")
    if "xlsx" in formats:
        write_xlsx(
            published, folder / f"{name}.xlsx", title=title, language=language, symbols=symbols
        )
        files.append(f"{name}.xlsx")
    digests = public_digests(folder)
    listed = {file: digests[file] for file in files}
    certificate = {
        **result.certificate.public(),
        "files": listed,
        "inputs": {"table": fingerprint(keys, published, result.table)},
        "software": software(),
    }
    if "html" in formats:
        # the report shows the digests of the files before it, the certificate its own too
        report = folder / f"{name}.html"
        page = write_changed_report if published.changed else write_public_report
        page(published, certificate, report, title=title, language=language)
        listed[report.name] = digest(report)
    write_json(certificate, folder / f"{name}.certificate.json")


def checked(
    results: Sequence[Result | PerturbedResult], formats: Iterable[str], language: str
) -> tuple[str, ...]:
    """The formats, if these results can be written in one folder; else an `InputError`."""
    _check_results(results)
    formats = (formats,) if isinstance(formats, str) else tuple(formats)
    unknown = [f for f in formats if f not in FORMATS]
    if unknown:
        raise InputError(f"formats= must be some of {', '.join(FORMATS)}, not {unknown[0]!r}")
    if language not in LANGUAGES:
        raise InputError(f"language= must be 'en' or 'de', not {language!r}")
    names = [result.name for result in results]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two results are called {name!r}; give one another name=")
    suppressed = [result for result in results if isinstance(result, Result)]
    _check_together(suppressed)
    _check_empty(suppressed)
    check_alike(results)
    return formats


def _check_results(results: Any) -> None:
    given = results if isinstance(results, (list, tuple)) else [results]
    if any(isinstance(result, MicrodataResult) for result in given):
        raise InputError(
            "released microdata are written with result.write(folder); they do not go together "
            "with tables, and ledgers remember tables only"
        )
    if isinstance(results, (Result, PerturbedResult)):
        raise InputError(
            f"{results.name!r} is a single result: use result.write(...), or write([result], ...)"
        )
    if not results:
        raise InputError("there is nothing to write")
    for result in results:
        if not isinstance(result, (Result, PerturbedResult)):
            raise InputError(
                f"results of diskret's methods can be written, not an object of type "
                f"{type(result).__name__!r}"
            )


def _check_derived(derived: Any) -> None:
    if isinstance(derived, Derived):
        raise InputError(f"derived= is a list of figures: derived=[{derived.name}]")
    for figure in derived:
        if not isinstance(figure, Derived):
            raise InputError(
                f"derived= holds figures made with dk.derive (mean, share, growth, index), not an "
                f"object of type {type(figure).__name__!r}"
            )


def _check_together(results: Sequence[Result]) -> None:
    """Refuse tables that say something of each other but were protected apart."""
    for group in linked([result.table for result in results]):
        together = {result.name for result in (results[i] for i in group)}
        for i in group:
            proven = {table.name for table in results[i].certificate.proof.publication.own}
            if not together <= proven:
                raise InputError(
                    f"the tables {', '.join(map(repr, sorted(together)))} have common cells, but "
                    "were not protected together: each could undo the others' protection; "
                    "protect them in one call, suppress([...], rule), or give different data "
                    "another vintage="
                )
            if not proven <= {result.name for result in results}:
                missing = sorted(proven - {result.name for result in results})
                raise InputError(
                    f"{results[i].name!r} was protected together with "
                    f"{', '.join(map(repr, missing))}; write all of them into one folder"
                )


def _check_empty(results: Sequence[Result]) -> None:
    """Refuse tables that hide empty cells which others show as empty."""
    hiding = [r for r in results if (r.published.suppressed & r.table.empty).any()]
    if not hiding or len(results) == 1:
        return
    known = known_empty([r.table for r in results], [r.published.empty for r in results])
    for result, of_result in zip(results, known, strict=True):
        open_ = np.flatnonzero(result.published.suppressed & of_result)
        if len(open_):
            shown = "; ".join(describe(result.table.dimensions, int(c)) for c in open_[:5])
            raise InputError(
                f"{result.name!r} hides {len(open_):,} empty cells that other tables of this "
                f"release show as empty: {shown}. Everybody would know these values; protect the "
                "tables in one call, suppress([...], rule)"
            )

"""Results to files: public and internal apart, all or nothing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, cast

import numpy as np

from diskret.errors import InputError
from diskret.keys import SecretKeys
from diskret.progress import Progress, silent
from diskret.protect.linked import check_alike, known_empty, linked
from diskret.protect.safe_intervals import with_intervals
from diskret.publish.contract import Look, Protected
from diskret.publish.difference import differences_to
from diskret.publish.exchange import EXCHANGE, check_agency
from diskret.publish.formats.symbols import SymbolSet, symbol_set
from diskret.publish.maps import MAPS, Places, check_maps
from diskret.publish.read import Releases
from diskret.publish.script import FORMAT as SCRIPT
from diskret.publish.write import Staging, check_look, write_releases
from diskret.tables import Derived, Published, SideBySide
from diskret.tables.dimension import describe_some
from diskret.texts.numbers import Count

if TYPE_CHECKING:
    from diskret.protect.result import Result

FORMATS = ("csv", "parquet", "xlsx", "html", *EXCHANGE, *MAPS, SCRIPT)
DEFAULT_FORMATS = ("csv", "xlsx")
#: How much work the reasons of secondaries may take; see `Result.explain`.
EXPLAIN = 500


class Writing(TypedDict, total=False):
    """Options of `write` for results of every kind, for those who pass them on."""

    language: str
    symbols: str | SymbolSet
    template: str | PathLike[str] | None
    neutralise: bool
    agency: str
    places: Places | None
    progress: Progress


class WritingSeveral(Writing, total=False):
    """The same with those that are about several results, or cells that are hidden."""

    titles: Mapping[str, str] | None
    explain: int
    derived: Sequence[Derived]
    combined: str | Mapping[str, Sequence[str]] | None
    releases: Releases
    previous: str | PathLike[str] | None


def write(
    results: Sequence[Protected],
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
    agency: str = "OFFICE",
    places: Places | None = None,
    releases: Releases = (),
    previous: str | PathLike[str] | None = None,
    progress: Progress = silent,
    staging: Staging | None = None,
) -> Path:
    """Write results into one folder; see [`Result.write`][diskret.Result.write].

    Parameters
    ----------
    results
        The results; all that were protected together.
    folder, formats, language, symbols, template, keys, explain, derived, neutralise, agency, \
places, releases, previous, progress
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
    check_agency(agency)
    look = Look(
        formats, language, symbol_set(symbols), neutralise, titles or {}, agency, places or {}
    )
    secret = SecretKeys.load(keys)
    if intervals:
        results = intervals_of(results, secret, progress)
    _check_derived(derived)
    tables = [result.published for result in results]
    check_maps(tables, look.places, formats)
    differences = [] if previous is None else differences_to(tables, previous)
    before = {one.now.name: one.previous for one in differences}
    return write_releases(
        [
            result.release(
                secret, explain=explain, previous=before.get(result.name), progress=progress
            )
            for result in results
        ],
        folder,
        look,
        secret,
        template=template,
        derived=derived,
        combined=_side_by_side([*tables, *derived], combined),
        differences=differences,
        elsewhere=[*releases, *([] if previous is None else [previous])],
        staging=staging,
    )


def write_one(
    result: Protected,
    folder: str | PathLike[str],
    formats: Iterable[str],
    title: str | None,
    **options: Any,
) -> Path:
    """Write one result, with a heading of its own; options as of `write`."""
    titles = {} if title is None else {result.name: title}
    return write([result], folder, formats, titles=titles, **options)


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


def intervals_of(
    results: Sequence[Protected], keys: SecretKeys, progress: Progress = silent
) -> list[Protected]:
    """Results whose tables publish intervals; those protected together are proven together."""
    groups: dict[int, list[Result]] = {}
    for result in hiding(results):
        groups.setdefault(id(result.proof), []).append(result)
    proven = {result.name: result for result in results}
    for group in groups.values():
        names = [table.name for table in group[0].proof.publication.own]
        ordered = sorted(group, key=lambda result: names.index(result.name))
        proven |= {result.name: result for result in with_intervals(ordered, keys, progress)}
    return [proven[result.name] for result in results]


def checked(results: Sequence[Protected], formats: Iterable[str], language: str) -> tuple[str, ...]:
    """The formats, if these results can be written in one folder; else an `InputError`."""
    _check_results(results)
    formats = (formats,) if isinstance(formats, str) else tuple(formats)
    check_look(formats, FORMATS, language)
    names = [result.name for result in results]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two results are called {name!r}; give one another name=")
    suppressed = hiding(results)
    _check_together(suppressed)
    _check_empty(suppressed)
    check_alike(results)
    return formats


def _check_results(results: Any) -> None:
    given: Any = results if isinstance(results, (list, tuple)) else [results]
    for result in given:
        if not hasattr(result, "release") or not hasattr(result, "published"):
            if hasattr(result, "microdata"):
                raise InputError(
                    "released microdata are written with result.write(folder); they do not go "
                    "together with tables, and ledgers remember tables only"
                )
            raise InputError(
                f"results of diskret's methods can be written, not an object of type "
                f"{type(result).__name__!r}"
            )
    if given is not results:
        raise InputError(
            f"{given[0].name!r} is a single result: use result.write(...), or write([result], ...)"
        )
    if not results:
        raise InputError("there is nothing to write")


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
            proven = {table.name for table in results[i].proof.publication.own}
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
    if len(results) == 1 or not any(
        (r.published.suppressed & r.table.empty).any() for r in results
    ):
        return
    known = known_empty([r.table for r in results], [r.published.empty for r in results])
    for result, of_result in zip(results, known, strict=True):
        open_ = np.flatnonzero(result.published.suppressed & of_result)
        if len(open_):
            shown = describe_some(result.table.dimensions, open_)
            number = Count(len(open_))
            raise InputError(
                f"{result.name!r} hides {number} empty {number:cell|cells} that other tables of "
                f"this release show as empty: {shown}. Everybody would know these values; protect "
                "the tables in one call, suppress([...], rule)"
            )


def hiding(results: Iterable[Protected]) -> list[Result]:
    """Those with a proof of what is hidden: what `suppress` returns."""
    return [cast("Result", result) for result in results if result.proof is not None]

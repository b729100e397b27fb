"""Derived figures and combined tables of a release, computed again from published values."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from diskret.errors import InputError, VerificationError
from diskret.release import (
    COMBINED,
    DERIVED,
    Releases,
    combined_problems,
    derived_problems,
    read_combined,
    read_derived,
)
from diskret.tables import Derived, Published


def verify_derived(
    public: Path,
    tables: Sequence[Published],
    releases: Releases,
    others: Collection[str] = (),
) -> list[str]:
    """Check every figure and every combined table; a line for each that holds.

    Parameters
    ----------
    public
        The folder with the public files.
    tables
        What is published there.
    releases
        Folders of other releases. A figure that refers to one which is not among them is not
        computed again, and its line says so.
    others
        Names of other files that the folder holds: of records.

    Raises
    ------
    VerificationError
        A figure does not follow from the published values, or a file is not described.
    """
    named: dict[str, Published | Derived] = {table.name: table for table in tables}
    published = {table.name: table for table in tables}
    lines: list[str] = []
    known = {*named, *others}
    elsewhere: set[str] = set()
    try:
        for path in sorted(public.glob(f"*{DERIVED}")):
            figure = read_derived(path, published, releases)
            name = path.name.removesuffix(DERIVED)
            known.add(name)
            if figure is None:
                elsewhere.add(name)
                lines.append(
                    f"{name}: file unchanged; not computed again, because the release it "
                    "refers to is not among those given"
                )
                continue
            _refuse(derived_problems(public, figure, tables, releases))
            named[name] = figure
            lines.append(f"{name}: {figure.kind} follows from the published values")
        for path in sorted(public.glob(f"*{COMBINED}")):
            name = path.name.removesuffix(COMBINED)
            known.add(name)
            lines.append(_combined(public, path, named, elsewhere, tables))
    except InputError as error:
        raise VerificationError(str(error)) from None
    unknown = sorted(path.name for path in public.glob("*.csv") if path.stem not in known)
    _refuse(f"{name} is no file of these tables" for name in unknown)
    return lines


def _combined(
    public: Path,
    path: Path,
    named: dict[str, Published | Derived],
    elsewhere: set[str],
    tables: Sequence[Published],
) -> str:
    name = path.name.removesuffix(COMBINED)
    shown = read_combined(path, named, elsewhere)
    if shown is None:
        return (
            f"{name}: file unchanged; not compared, because it shows figures that refer to a "
            "release that is not among those given"
        )
    _refuse(combined_problems(public, shown, tables))
    return f"{name}: shows what stands in the files of its tables"


def _refuse(problems: Iterable[str]) -> None:
    found = list(problems)
    if found:
        raise VerificationError("; ".join(found))

"""Derived figures and combined tables of a release, computed again from published values."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path

from diskret.errors import InputError, VerificationError
from diskret.publish.derived import COMBINED, DERIVED, Releases, read_combined, read_derived
from diskret.publish.guard.derived import combined_problems, derived_problems
from diskret.publish.verify.files import check_columns, check_names, refuse
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
    elsewhere: set[str] = set()
    try:
        for path in sorted(public.glob(f"*{DERIVED}")):
            figure = read_derived(path, published, releases)
            name = path.name.removesuffix(DERIVED)
            if figure is None:
                elsewhere.add(name)
                lines.append(
                    f"{name}: file unchanged; not computed again, because the release it "
                    "refers to is not among those given"
                )
                continue
            refuse(derived_problems(public, figure, tables, releases))
            check_columns(public, figure)
            named[name] = figure
            lines.append(f"{name}: {figure.kind} follows from the published values")
        for path in sorted(public.glob(f"*{COMBINED}")):
            lines.append(_combined(public, path, named, elsewhere, tables))
    except InputError as error:
        raise VerificationError(str(error)) from None
    figures = [path.name.removesuffix(DERIVED) for path in public.glob(f"*{DERIVED}")]
    combined = [path.name.removesuffix(COMBINED) for path in public.glob(f"*{COMBINED}")]
    return [*lines, *check_names(public, list(published), others, figures, combined)]


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
    refuse(combined_problems(public, shown, tables))
    check_columns(public, shown)
    return f"{name}: shows what stands in the files of its tables"

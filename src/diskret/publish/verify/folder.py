"""Check released files against their certificate, as anyone can; and more, as the office can."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from os import PathLike
from pathlib import Path
from typing import Any

from diskret.attack.certificate import SCHEMA
from diskret.errors import InputError, VerificationError
from diskret.io.from_json import check_form, read_json
from diskret.keys import SecretKeys, key_file
from diskret.progress import Progress, silent
from diskret.publish.bundle import CHECKSUMS, RESULTS, check_public
from diskret.publish.contract import SOFTWARE, software
from diskret.publish.derived import COMBINED, DERIVED, read_combined, read_derived
from diskret.publish.difference import PREVIOUS, read_difference, read_outline
from diskret.publish.digests import (
    CERTIFICATE,
    check_content,
    check_digests,
    check_plain,
    is_mark,
    listed_files,
)
from diskret.publish.guard.check import file_names
from diskret.publish.guard.derived import combined_problems, derived_problems
from diskret.publish.guard.difference import decimals_in, difference_problems, said_problems
from diskret.publish.read import Releases, public_folder
from diskret.publish.script import SCRIPT, is_script
from diskret.publish.signature import check_signature
from diskret.publish.signing_keys import KnownKeys
from diskret.publish.verify.changed import CHANGED
from diskret.publish.verify.files import check_columns, check_names, check_text_columns, refuse
from diskret.publish.verify.kind import Checked, Kind, Place
from diskret.publish.verify.microdata import RECORDS, SAFE_FILES
from diskret.publish.verify.suppressed import SUPPRESSED
from diskret.tables import Derived, Publication, Published
from diskret.tables.difference import difference_columns
from diskret.tables.read_public import read_text

#: All kinds of releases there are, in the order in which they are reported.
KINDS = (RECORDS, SAFE_FILES, CHANGED, SUPPRESSED)

_UNSEALED = (
    "internal files: as they are listed beside them; whether that list is the one that was written "
    "was not checked without the key"
)


@dataclass(frozen=True)
class VerifyReport:
    """What was checked and held.

    Parameters
    ----------
    tables
        Names of the tables, and of files of records.
    suppressed
        Number of suppressed cells that were attacked again.
    checked_internal
        Whether the office's own files were checked as well.
    sealed
        Whether the office's key confirmed that all files, public and internal, are those that
        were written.
    lines
        What was found, one sentence a line; also what was not checked.
    """

    tables: tuple[str, ...]
    suppressed: int
    checked_internal: bool
    sealed: bool
    lines: tuple[str, ...]


def verify(
    folder: str | PathLike[str],
    internal: str | PathLike[str] | None = None,
    *,
    keys: SecretKeys | str | PathLike[str] | None = None,
    releases: Releases = (),
    signer: KnownKeys | str | PathLike[str] | None = None,
    progress: Progress = silent,
) -> VerifyReport:
    """Check released tables from their public files alone, and the office's files if there.

    Anyone can check the public part: that the files have the digests that the certificate
    names, that Parquet, workbook and page show what the CSV says and nothing else, that an attack
    on the published table gives the intervals it states, and that derived figures and combined
    tables follow from the published values. With the internal folder the requirements are proven
    anew from the witnesses. With the key the office knows that every file, public or internal, is
    the one that was written, and that the inputs have their fingerprints.

    Parameters
    ----------
    folder
        A folder with ``public/`` (and ``internal/``), or a folder of public files.
    internal
        Folder of internal files; by default ``internal/`` beside ``public/`` if it exists.
    keys
        The office's keys; see `SecretKeys`. Only used with an internal folder. Without a key file
        what needs the key is not checked, and a line says so.
    releases
        Folders of other releases: those that the tables were attacked beside, as their
        certificates say, and those that derived figures and differences refer to, e.g. the last
        delivery. What needs a release that is not given is not attacked or
        computed again, and the lines say so.
    signer
        Who must have signed the release: the office's list of public keys (a file), one key as 64
        hexadecimal digits, or a PEM file of one. Without it a signature is compared with the files,
        and a line says that nobody knows whose it is.
    progress
        Called with ``("attack", done, total)``.

    Raises
    ------
    InputError
        The folder holds no released table.
    KeyFileError
        The key file that is named is missing or damaged.
    VerificationError
        Files and certificate disagree, or a file is missing, additional, or a link; or the release
        is not signed by `signer`. Says which and where.
    ContradictionError
        The published values contradict each other.
    """
    public, inside = _folders(Path(folder), None if internal is None else Path(internal))
    certificates = sorted(public.glob(f"*{CERTIFICATE}"))
    if not certificates and (public / RESULTS).is_file():
        secret = _key(keys) if inside is not None else None
        return _verify_bundle(public, inside, secret, signer)
    if not certificates:
        raise InputError(
            f"{public} holds no released table (no *{CERTIFICATE} file); name the folder that a "
            "release was written to"
        )
    check_plain(public)
    read = {path.name.removesuffix(CERTIFICATE): _read(path) for path in certificates}
    listed = {name: content["files"] for name, (_, content) in read.items()}
    check_digests(public, listed_files(listed))
    _check_own(public, listed)
    secret = _key(keys) if inside is not None else None
    lines: list[str] = []
    if inside is not None:
        check_content(public, inside, secret)
        lines += [_UNSEALED] if secret is None else []
    lines += check_signature(public, signer)
    place = Place(public, inside, secret, releases, progress)
    found: list[Checked] = []
    for kind in KINDS:
        own = {name: content for name, (of, content) in read.items() if of is kind}
        if own:
            found.append(kind.check(place, own))
    _check_apart([group for one in found for group in one.together])
    tables = [table for one in found for table in one.tables]
    streamed = [name for one in found for name in one.streamed]
    others = set(read) - {table.name for table in tables} - set(streamed)
    for one in found:
        lines += one.lines
    certified = {name: content for name, (_, content) in read.items()}
    lines += _verify_script(public, certified)
    lines += _verify_differences(public, tables, certified, releases)
    lines += _verify_derived(public, tables, releases, others, streamed)
    suppressed = sum(one.suppressed for one in found)
    return VerifyReport(
        tuple(read), suppressed, inside is not None, secret is not None, tuple(lines)
    )


def _verify_bundle(
    public: Path,
    inside: Path | None,
    keys: SecretKeys | None,
    signer: KnownKeys | str | PathLike[str] | None,
) -> VerifyReport:
    """Check a folder of researchers' results; see `diskret.publish.bundle`."""
    names = check_public(public)
    lines = [f"{name}: files as they were accepted, by their checksums" for name in names]
    if inside is not None:
        check_content(public, inside, keys, (CHECKSUMS,))
        lines += [_UNSEALED] if keys is None else []
    lines += check_signature(public, signer)
    return VerifyReport(tuple(names), 0, inside is not None, keys is not None, tuple(lines))


def _folders(folder: Path, internal: Path | None) -> tuple[Path, Path | None]:
    if not folder.is_dir():
        raise InputError(f"{folder} is not a folder; name the folder that a release was written to")
    public = public_folder(folder)
    beside = public.parent / "internal"
    if internal is None and public.name == "public" and beside.is_dir():
        internal = beside
    if internal is not None and not internal.is_dir():
        raise InputError(f"{internal} is not a folder")
    return public, internal


def _check_apart(groups: Sequence[Publication]) -> None:
    """Refuse tables with common cells that were not attacked together."""
    for one, other in combinations(groups, 2):
        for first, second in product(one.own, other.own):
            if first.about.shares_cells(second.about):
                raise VerificationError(
                    f"{first.name} and {second.name} have common cells, but the certificates do "
                    "not say that they were attacked together"
                )


def _check_own(public: Path, listed: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse a certificate that leaves the digests of its own files to another one."""
    there = {path.name for path in public.iterdir()}
    for name, files in listed.items():
        own = file_names(tables=[name], records=[name]) & there
        missing = sorted(own - files.keys() - {f"{name}{CERTIFICATE}"})
        if missing:
            raise VerificationError(
                f"{name}{CERTIFICATE} does not list {', '.join(missing)}; get the files anew from "
                "the office that published them"
            )


def _key(keys: SecretKeys | str | PathLike[str] | None) -> SecretKeys | None:
    """The office's key; None if there is no key file and none was named."""
    if keys is None and not key_file().exists():
        return None
    return SecretKeys.load(keys, create=False)


def _verify_script(public: Path, certificates: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Refuse a program beside the files that is not the one that was put there."""
    path = public / SCRIPT
    if not path.exists() or is_script(path):
        return []
    if any(content["software"] == software() for content in certificates.values()):
        raise VerificationError(
            f"{path} is not the program that diskret puts beside a release; do not run it, and get "
            "it anew with diskret verify-script"
        )
    return [
        f"{SCRIPT}: file unchanged; not compared, because another version of diskret wrote it; "
        "run that of this version instead, which diskret verify-script gives"
    ]


def _read(path: Path) -> tuple[Kind, dict[str, Any]]:
    """A certificate, and of which kind it is."""
    content = read_json(path, VerificationError)
    family = content.get("family") if isinstance(content, dict) else None
    kind = next((one for one in KINDS if family in one.families), None)
    if kind is None:
        raise VerificationError(f"{path} is no certificate of a table or of microdata")
    check_form(content, kind.form, str(path), VerificationError)
    missing = sorted(kind.needed - set(content))
    if missing:
        raise VerificationError(f"{path} does not hold {', '.join(missing)}")
    name = path.name.removesuffix(CERTIFICATE)
    if (content["schema"], content["name"]) != (SCHEMA, name):
        raise VerificationError(f"{path} is not about {name!r} in the schema {SCHEMA!r}")
    if not SOFTWARE.fullmatch(content["software"]) or not all(
        map(is_mark, content["inputs"].values())
    ):
        raise VerificationError(
            f"{path} names no release of the software, or what is no fingerprint; it was changed"
        )
    return kind, content


# ── what has changed since the last delivery ─────────────────────────────────────────


def _verify_differences(
    public: Path,
    tables: Sequence[Published],
    certificates: Mapping[str, Mapping[str, Any]],
    releases: Releases,
) -> list[str]:
    """Compare every table with the last delivery again; a line for each difference that holds."""
    published = {table.name: table for table in tables}
    lines: list[str] = []
    for table in tables:
        refuse(said_problems(public, table, certificates[table.name].get("difference")))
    try:
        for path in sorted(public.glob(f"*{PREVIOUS}")):
            name = path.name.removesuffix(PREVIOUS)
            difference = read_difference(path, published, releases)
            if difference is None:
                _check_workbook(public, name, path, published)
                lines.append(
                    f"{name}: file unchanged; compared with its own table only, because the last "
                    "delivery is not among the releases given"
                )
                continue
            refuse(difference_problems(public, difference, releases))
            check_columns(public, difference)
            lines.append(f"{name}: follows from what both deliveries show")
    except InputError as error:
        raise VerificationError(str(error)) from None
    return lines


def _check_workbook(
    public: Path, name: str, outline: Path, tables: Mapping[str, Published]
) -> None:
    """Compare the workbook of a difference with its CSV, without the last delivery."""
    table = tables[read_outline(outline)["table"]]
    shown = read_text(public / f"{name}.csv", difference_columns(table))
    check_text_columns(
        public, name, shown, {"previous": table.decimals, **decimals_in(shown, table)}
    )


# ── figures and combined tables, computed again from published values ────────────────


def _verify_derived(
    public: Path,
    tables: Sequence[Published],
    releases: Releases,
    others: Collection[str] = (),
    streamed: Collection[str] = (),
) -> list[str]:
    """Compute every figure and every combined table again; a line for each that holds.

    `others`: names of other files that the folder holds, of records; `streamed` of tables that
    nobody holds.
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
    differences = [path.name.removesuffix(PREVIOUS) for path in public.glob(f"*{PREVIOUS}")]
    return [
        *lines,
        *check_names(public, [*published, *streamed], others, figures, combined, differences),
    ]


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
